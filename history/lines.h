/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes lines of a profile to an output:
 *
 *     line = triad_history_line(&out);
 *     triad_history_add(&out, render(line));
 *
 * and octets as comment lines: hexadecimal digits, in as many lines as needed:
 *
 *     triad_history_lines_begin(&lines, &out, "# triad-octets ");
 *     triad_history_lines_put(&lines, octets, size);      any number of times
 *     triad_history_lines_end(&lines);
 *
 * Thread-safety: none.  Memory: none but the line's. */
#ifndef TRIAD_HISTORY_LINES_H
#define TRIAD_HISTORY_LINES_H

#include "history/record.h"
#include "perfmgr/formats/profile.h"
#include "triad/output.h"

/* What has 'failed' drops further lines. */
struct triad_history_out {
	struct triad_output *to;
	char line[TRIAD_PROFILE_LINE_SIZE];
};

/* Room for a line, TRIAD_PROFILE_LINE_SIZE octets, until the next call. */
static inline char *triad_history_line(struct triad_history_out *out)
{
	return out->line;
}

/* Adds the line written there, of 'length' octets, its newline included. */
static inline void triad_history_add(struct triad_history_out *out, size_t length)
{
	triad_output_put(out->to, out->line, length);
}

struct triad_history_lines {
	struct triad_history_out *out;
	const char *name; /* each line begins with it */
	uint32_t n;       /* of the next line */
	uint8_t octets[TRIAD_HISTORY_DIGITS / 2];
};

/* 'name' is borrowed. */
void triad_history_lines_begin(struct triad_history_lines *lines,
	struct triad_history_out *out, const char *name);
void triad_history_lines_put(
	struct triad_history_lines *lines, const void *octets, size_t size);
void triad_history_lines_end(struct triad_history_lines *lines);

#endif
