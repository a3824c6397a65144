/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agent's file of paths, for ibacm (collect.paths_file).
 *
 * Model: while the agent's table is valid (service/path_exchange.h), the file contains
 * it, in the form of ib/path_table.h.  Otherwise the file is removed, which works with
 * a full disk, too.  ibacm reads the file when it starts a port; without it, ibacm asks
 * the SA.  A file that an earlier start left is removed at once.  A file that somebody
 * removed is written again within a second.  A file that another program put in its
 * place is left alone, and is an error (EEXIST) until it is gone.
 *
 * A thread of its own, started with the first file name, writes and removes the file: a
 * disk may hang.  It watches the table's expiry itself, so that the file goes even when
 * no messages come.
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
	char path[TRIAD_CONF_PATH_SIZE]; /* "": no file */
	bool is_there;                   /* written, and not removed */
	int error;                       /* of the last attempt; 0: none */
	uint32_t n_paths;                /* in it */
	uint64_t n_written, n_removed;
};

/* NULL: memory is short. */
struct triad_path_file *triad_path_file_new(struct triad_log *log);
/* Removes the file.  Returns false when the thread hangs in a write; then what it reads
 * must stay.  Accepts NULL. */
bool triad_path_file_free(struct triad_path_file *file);

/* Sets the source of the table, before the first configuration; NULL, before the
 * exchange ends: no source, the file is removed. */
void triad_path_file_connect(
	struct triad_path_file *file, struct triad_path_exchange *exchange);
/* "": no file. */
void triad_path_file_configure(struct triad_path_file *file, const char *path);
/* The exchange's listener: the table, or whether it is valid, has changed.  Never
 * blocks. */
void triad_path_file_wake(void *file);

struct triad_path_file_status triad_path_file_status(struct triad_path_file *file);

/* An error of the status in words. */
const char *triad_path_file_reason(int error);

#endif
