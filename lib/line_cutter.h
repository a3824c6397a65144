/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Cuts a text that comes in pieces into lines.
 *
 * Thread-safety: none; an instance for each thread.
 * Memory: none but the owner's buffer, for a line that began in an earlier piece. */
#ifndef TRIAD_LIB_LINE_CUTTER_H
#define TRIAD_LIB_LINE_CUTTER_H

#include <stdbool.h>
#include <stddef.h>

/* Gets a line without its newline.  False: no more lines are wanted. */
typedef bool triad_line_take(void *context, const char *line, size_t length);

struct triad_line_cutter {
	/* One that is longer than the room may come in parts, each as a line. */
	triad_line_take *take;
	void *context;
	char *buffer;
	size_t room;
	size_t used; /* octets of a line that is not complete yet */
};

/* False as soon as 'take' returned false: the rest of the piece is dropped. */
bool triad_line_cutter_put(
	struct triad_line_cutter *cutter, const char *piece, size_t size);

#endif
