/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Assembles what a user types at OpenSM's console into lines.
 *
 * A line that begins with "triad" is ours; any other is OpenSM's, octet for octet.  A
 * line with a 0 octet, or longer than the buffer, is always OpenSM's; a long one is
 * passed on in pieces.
 *
 * Thread-safety: none.  Memory: a line. */
#ifndef TRIAD_PLUGIN_CONSOLE_LINES_H
#define TRIAD_PLUGIN_CONSOLE_LINES_H

#include <stdbool.h>
#include <stddef.h>

#define TRIAD_CONSOLE_LINE_SIZE 1024 /* with its end, and a 0 */

enum triad_console_line {
	TRIAD_CONSOLE_MORE, /* the line is not complete yet */
	TRIAD_CONSOLE_OURS, /* 'line' is a command, without its end */
	TRIAD_CONSOLE_PASS, /* 'used' octets of 'line' are OpenSM's */
};

struct triad_console_lines {
	char line[TRIAD_CONSOLE_LINE_SIZE];
	size_t used;
	bool is_long; /* the octets to come are the rest of a line that is too long
		       * for us */
	bool is_over; /* the caller has had 'line': begin a new one */
};

/* Takes the next octet.  'line' and 'used' stay valid until the next call. */
enum triad_console_line triad_console_lines_take(
	struct triad_console_lines *lines, char octet);

/* Ends the input.  Returns whether 'line' holds a last line without an end; it is
 * OpenSM's. */
bool triad_console_lines_end(struct triad_console_lines *lines);

/* Splits a line into words at blanks, in place, as a shell does with quotes of both kinds and
 * backslashes.  Returns how many of 'words' it has; -1 for a quote that does not end, or more
 * than 'most' words; '*why' then says which. */
int triad_console_split(
	char *line, const char *words[], unsigned most, const char **why);

#endif
