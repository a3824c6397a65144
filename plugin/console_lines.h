/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a user types at OpenSM's console, put together to lines.
 *
 * A line that begins with "triad" is ours; any other is OpenSM's, octet for octet.  A
 * line with a 0 in it, or longer than the buffer, is OpenSM's (the latter in pieces),
 * whatever it begins with.
 *
 * Thread-safety: none.  Memory: a line. */
#ifndef TRIAD_PLUGIN_CONSOLE_LINES_H
#define TRIAD_PLUGIN_CONSOLE_LINES_H

#include <stdbool.h>
#include <stddef.h>

#define TRIAD_CONSOLE_LINE_SIZE 1024 /* with its end, and a 0 */

enum triad_console_line {
	TRIAD_CONSOLE_MORE, /* it goes on */
	TRIAD_CONSOLE_OURS, /* 'line' is a command, without its end */
	TRIAD_CONSOLE_PASS, /* 'used' octets of 'line' are OpenSM's */
};

struct triad_console_lines {
	char line[TRIAD_CONSOLE_LINE_SIZE];
	size_t used;
	bool is_long; /* the rest of a line too long for us comes */
	bool is_over; /* what is in 'line' was given out */
};

/* Takes the next octet.  What it gives out is there until the next call. */
enum triad_console_line triad_console_lines_take(
	struct triad_console_lines *lines, char octet);

/* No more comes: whether the last line, which has no end, is in 'line'; it is
 * OpenSM's. */
bool triad_console_lines_end(struct triad_console_lines *lines);

#endif
