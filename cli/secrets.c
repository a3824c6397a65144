/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/secrets.h"

#include <ctype.h>
#include <string.h>

static bool is_key_character(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether the word names a secret, not the file or the number of one. */
static bool names_secret(const char *word, size_t size)
{
	static const char *const names[] = {"m_key", "mkey", "sm_key", "smkey",
		"sa_key", "key", "secret", "password", "passwd", "passphrase", "token",
		"cc_key", "vs_key", "n2n_key"};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (strlen(names[i]) == size &&
			!g_ascii_strncasecmp(word, names[i], size))
			return true;
	return false;
}

/* Behind "://": how many octets user and password are, with the '@'; 0: there are none. */
static size_t length_of_user(const char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size && !strchr(" \t\r\n\";>", text[i]); i++)
		if (text[i] == '@')
			n = i + 1;
	return n;
}

/* How many octets stand between a secret's name and its value; 0: no value follows. */
static size_t length_of_gap(const char *text, size_t size, bool is_conf)
{
	size_t n = 0;

	while (n < size && strchr(" \t=:\"'", text[n]) && text[n])
		n++;
	/* In a sentence, "key" is a word as others; "key 0x..." has a value. */
	if (!is_conf && n < size && memchr(text, '=', n) == NULL &&
		memchr(text, ':', n) == NULL && strncmp(text + n, "0x", 2) != 0)
		return 0;
	return n < size && text[n] != '\n' && text[n] != '#' ? n : 0;
}

static size_t length_of_value(const char *text, size_t size, bool is_conf)
{
	size_t n = 0;

	while (n < size && text[n] &&
		!strchr(is_conf ? "\r\n" : " \t\r\n,;\"')", text[n]))
		n++;
	return n;
}

/* Takes a word; of a secret's name, its value, too.  Returns how many octets. */
static size_t take_word_of_line(
	const char *text, size_t size, bool is_conf, GString *to)
{
	size_t n = 0, gap;

	while (n < size && is_key_character(text[n]))
		n++;
	g_string_append_len(to, text, (gssize)n);
	if (!names_secret(text, n))
		return n;
	gap = length_of_gap(text + n, size - n, is_conf);
	if (!gap)
		return n;
	g_string_append_len(to, text + n, (gssize)gap);
	g_string_append(to, TRIAD_SECRETS_REMOVED);
	n += gap;
	return n + length_of_value(text + n, size - n, is_conf);
}

void triad_secrets_remove(const char *line, size_t size, bool is_conf, GString *to)
{
	size_t first = 0;

	/* In a configuration the first word is a key, unless the line is a comment. */
	while (first < size && (line[first] == ' ' || line[first] == '\t'))
		first++;
	for (size_t at = 0, n; at < size; at += n) {
		n = 1;
		if (is_key_character(line[at]))
			n = take_word_of_line(
				line + at, size - at, is_conf && at == first, to);
		else
			g_string_append_c(to, line[at]);
		if (at + n >= 3 && !strncmp(line + at + n - 3, "://", 3) &&
			length_of_user(line + at + n, size - at - n)) {
			g_string_append(to, TRIAD_SECRETS_REMOVED "@");
			n += length_of_user(line + at + n, size - at - n);
		}
	}
}
