/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/console_lines.h"

#include <string.h>

/* 'line' is complete.  Leave a line that contains a 0 octet to OpenSM: we would lose
 * the text after it. */
static bool is_triad_line(const char *line, size_t size)
{
	static const char name[] = "triad";

	if (strlen(line) != size)
		return false;
	line += strspn(line, " \t");
	return strncmp(line, name, sizeof(name) - 1) == 0 &&
		strchr(" \t\r\n", line[sizeof(name) - 1]);
}

enum triad_console_line triad_console_lines_take(
	struct triad_console_lines *lines, char octet)
{
	bool is_end = octet == '\n', was_long = lines->is_long;

	if (lines->is_over)
		lines->used = 0;
	lines->line[lines->used++] = octet;
	lines->is_over = is_end || lines->used == sizeof(lines->line) - 1;
	if (!lines->is_over)
		return TRIAD_CONSOLE_MORE;
	lines->line[lines->used] = '\0';
	lines->is_long = !is_end;
	if (!is_end || was_long || !is_triad_line(lines->line, lines->used))
		return TRIAD_CONSOLE_PASS;
	lines->line[strcspn(lines->line, "\r\n")] = '\0';
	return TRIAD_CONSOLE_OURS;
}

bool triad_console_lines_end(struct triad_console_lines *lines)
{
	if (lines->is_over)
		lines->used = 0;
	lines->is_over = true;
	return lines->used;
}

/* Whether the octet behind a backslash loses it; within single quotes none is special. */
static bool is_escaped(char quote, char next)
{
	return quote == '"' ? next == '"' || next == '\\' : !quote && next;
}

/* Reads the word at '*line', which has room for it, into 'word'.  Returns false if a quote does
 * not end. */
static bool read_word(char **line, char *word)
{
	char *at = *line, quote = '\0';

	for (; *at && (quote || !strchr(" \t", *at)); at++)
		if (*at == '\\' && is_escaped(quote, at[1]))
			*word++ = *++at;
		else if (quote ? *at == quote : *at == '"' || *at == '\'')
			quote = quote ? '\0' : *at;
		else
			*word++ = *at;
	*line = *at ? at + 1 : at;
	*word = '\0';
	return !quote;
}

int triad_console_split(
	char *line, const char *words[], unsigned most, const char **why)
{
	unsigned n = 0;

	while (*(line += strspn(line, " \t"))) {
		char *word = line;

		if (!read_word(&line, word)) {
			*why = "a quote (' or \") does not end";
			return -1;
		}
		if (n == most) {
			*why = "too many words";
			return -1;
		}
		words[n++] = word;
	}
	return (int)n;
}
