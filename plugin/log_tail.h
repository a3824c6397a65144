/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lines that another part of the process, or another process, adds to a file.
 *
 * Model: begins near the end of what is there.  A file that was replaced or cut is read from
 * its beginning.  What was added faster than it can be read is skipped, and counted.
 *
 * Bounds: TRIAD_LOG_TAIL_SIZE octets are read at one time, and a longer line is cut.
 *
 * Thread-safety: none.  Blocks as the file's disk does. */
#ifndef TRIAD_PLUGIN_LOG_TAIL_H
#define TRIAD_PLUGIN_LOG_TAIL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TRIAD_LOG_TAIL_SIZE (64 * 1024)
#define TRIAD_LOG_TAIL_LINE 1024

struct triad_log_tail {
	char path[512];
	int fd; /* -1: not open */
	dev_t device;
	ino_t inode;
	off_t offset;
	bool has_begun;     /* an earlier file was read */
	bool skips;         /* up to the end of a line */
	uint64_t n_skipped; /* octets */
	char line[TRIAD_LOG_TAIL_LINE];
	size_t n; /* octets of a line whose end has not been written */
};

/* 'path' NULL, or too long: there is nothing to read. */
void triad_log_tail_init(struct triad_log_tail *tail, const char *path);
void triad_log_tail_clear(struct triad_log_tail *tail);

/* Whether the file can be read. */
bool triad_log_tail_is_open(const struct triad_log_tail *tail);

/* Calls 'take' with each line that was added, without its end.  Returns whether more is
 * there than was read now. */
bool triad_log_tail_read(struct triad_log_tail *tail,
	void (*take)(void *context, const char *line), void *context);

#endif
