/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files to which lines are appended for years: alerts, the trace of an election.
 *
 * Model: the file is opened when a line is written, and anew when its path leads to
 * another file or to none (logrotate renamed it).  Before a line that would make it
 * larger than allowed, it is renamed to PATH.1, the one that has that name to PATH.2
 * and so on; the oldest is overwritten.  A line of which the disk takes only a part is
 * cut off again.
 *
 * No link is followed, see triad/file.h: renaming doesn't either.
 *
 * Thread-safety: one thread at a time.  Memory: none but the structure. */
#ifndef TRIAD_LINE_FILE_H
#define TRIAD_LINE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "triad/conf.h"

struct triad_line_file_params {
	char path[TRIAD_CONF_PATH_SIZE]; /* "": nothing is written */
	mode_t mode;
	uint64_t max_octets; /* 0: it is not renamed */
	unsigned keep;       /* numbered files to keep, at least 1 */
};

struct triad_line_file {
	struct triad_line_file_params params;
	int fd;          /* -1: none */
	const char *why; /* why a line was not written, for people */
};

void triad_line_file_init(struct triad_line_file *file);
void triad_line_file_close(struct triad_line_file *file);

/* Sets the parameters; closes a file that is open under another path. */
void triad_line_file_configure(
	struct triad_line_file *file, const struct triad_line_file_params *params);

/* Opens the file, if it isn't.  Returns 0 or an errno; then 'why' says it. */
int triad_line_file_open(struct triad_line_file *file);

/* Appends a line, of 'size' octets with its newline.  Returns 0 or an errno; then 'why'
 * says it. */
int triad_line_file_write(struct triad_line_file *file, const char *line, size_t size);

#endif
