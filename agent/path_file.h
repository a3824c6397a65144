/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agent's file of paths, for ibacm (collect.paths_file).
 *
 * Model: while the agent's table is valid (service/path_exchange.h), the file is there and
 * has it (ib/path_table.h has its form); when it is not, the file is removed: that works
 * with a full disk, too, and ibacm, which reads the file when it starts a port, goes on
 * without it and asks the SA.  A file that an earlier start left is removed at once.  One
 * that somebody removed is written again within a second; one that another program put in
 * its place is left alone, and is an error (EEXIST), until it is gone.
 *
 * A thread of its own writes and removes it, from the first file's name on: a disk may
 * hang.  It looks at the clock itself, so that a file goes also when nothing comes.
 *
 * Thread-safety: any thread, for all but new and free. */
#ifndef TRIAD_AGENT_PATH_FILE_H
#define TRIAD_AGENT_PATH_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "service/path_exchange.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_path_file;

struct triad_path_file_status {
	char path[TRIAD_CONF_PATH_SIZE]; /* "": none is wanted */
	bool is_there;                   /* written, and not removed */
	int error;                       /* of the last attempt; 0: none */
	uint32_t n_paths;                /* in it */
	uint64_t n_written, n_removed;
};

/* NULL: memory is short. */
struct triad_path_file *triad_path_file_new(struct triad_log *log);
/* Removes the file.  Returns false when the thread hangs in a write; it keeps what it
 * reads.  Accepts NULL. */
bool triad_path_file_free(struct triad_path_file *file);

/* Whose table it is; before the first configuration.  NULL: nobody's any more, before that
 * one ends; the file is removed. */
void triad_path_file_connect(
	struct triad_path_file *file, struct triad_path_exchange *exchange);
/* "": no file. */
void triad_path_file_configure(struct triad_path_file *file, const char *path);
/* The table, or whether it is valid, is another; never blocks. */
void triad_path_file_look(void *file);

struct triad_path_file_status triad_path_file_status(struct triad_path_file *file);

/* Of an error in the status, in words. */
const char *triad_path_file_reason(int error);

#endif
