/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The file of a recorder: a line for each event, appended.  Now and then the recorder
 * writes it anew, so that it doesn't grow for ever.
 *
 * The file is checked for trust and locked (flock) while it is open, so that a second
 * program with the same file is refused.  A write that fails leaves the file as it was,
 * or with a torn line at its end; the next line begins behind that.  When somebody has
 * moved the file away, it is written anew.
 *
 * The program touches a file that it has not written for some time
 * (triad_recorder_file_touch()): so the file's time shows when the program was last
 * alive.
 *
 * Thread-safety: one thread; calls may wait for the disk.
 * Memory: none but the structure. */
#ifndef TRIAD_SERVICE_RECORDER_FILE_H
#define TRIAD_SERVICE_RECORDER_FILE_H

#include <limits.h>

#include "perfmgr/timeline/timeline.h"

#define TRIAD_RECORDER_REASON_SIZE 384

struct triad_recorder_file {
	char path[PATH_MAX - 8];
	int fd; /* -1: not open */
	uint64_t size;
	bool is_torn; /* the last line has no end */
	uint64_t n_lines;
	uint64_t n_bad; /* lines that could not be read */
	int new_fd;     /* of the new file beside it; -1: none */
	uint64_t new_size, n_new_lines;
	char reason
		[TRIAD_RECORDER_REASON_SIZE]; /* why the last call failed, what to do */
};

/* Named by service/state_path.h; a name that is too long becomes "", which opening it
 * refuses. */
void triad_recorder_file_init(struct triad_recorder_file *file, const char *dir,
	const char *program, uint64_t port_guid);
void triad_recorder_file_close(struct triad_recorder_file *file);

/* Opens the file and reads it into 'older'; makes the file (0600) and its folder when
 * missing.  '*alive_us' is when the file was written or touched last (wall clock); 0:
 * it is new.  Returns 0 or an errno, with a reason. */
int triad_recorder_file_open(struct triad_recorder_file *file,
	struct triad_timeline *older, uint64_t *alive_us);

/* Appends 'n_lines' whole lines and flushes them to the disk.  Returns 0; ESTALE (the
 * file was moved away: write it anew); or another errno, with a reason: then none of
 * them is written. */
int triad_recorder_file_append(struct triad_recorder_file *file, const char *lines,
	size_t size, uint64_t n_lines);

void triad_recorder_file_touch(struct triad_recorder_file *file);

/* Write a new file beside the old one: begin, then lines; end replaces the old one.
 * Each returns 0 or an errno, with a reason; after an error the old file is still
 * there, and the new one is gone. */
int triad_recorder_file_new_begin(struct triad_recorder_file *file);
int triad_recorder_file_new_append(struct triad_recorder_file *file, const char *lines,
	size_t size, uint64_t n_lines);
int triad_recorder_file_new_end(struct triad_recorder_file *file);

#endif
