/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes octets as comment lines of a profile: hexadecimal digits, in as many lines as
 * needed.
 *
 *     triad_history_lines_begin(&lines, writer, "# triad-octets ");
 *     triad_history_lines_put(&lines, octets, size);      any number of times
 *     triad_history_lines_end(&lines);
 *
 * Thread-safety: none.  Memory: none but the line's. */
#ifndef TRIAD_HISTORY_LINES_H
#define TRIAD_HISTORY_LINES_H

#include "history/record.h"
#include "perfmgr/export/frame_writer.h"

struct triad_history_lines {
	struct triad_frame_writer *out;
	const char *name; /* each line begins with it */
	uint32_t n;       /* of the next line */
	uint8_t octets[TRIAD_HISTORY_DIGITS / 2];
};

/* 'name' is borrowed. */
void triad_history_lines_begin(struct triad_history_lines *lines,
	struct triad_frame_writer *out, const char *name);
void triad_history_lines_put(
	struct triad_history_lines *lines, const void *octets, size_t size);
void triad_history_lines_end(struct triad_history_lines *lines);

#endif
