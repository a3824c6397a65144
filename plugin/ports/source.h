/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where the expected configuration comes from, and which one is in force.
 *
 * There are three: the operator's file (port.expected_file), what another member has
 * sent, and the copy of the last one that was in force, kept in election.state_dir so
 * that it outlives a restart and a file that has gone bad.  Whichever is newest is in
 * force.  One with mistakes, or with a generation that is not higher, changes nothing,
 * and the reason is kept until the next attempt.  While the copy can't be written, the
 * configuration would not outlive a restart: the owner confirms it to nobody.
 *
 * The thread looks at the operator's file once a second.  It reads a file that has
 * changed, once it did not change again between two looks. One that changes while it is
 * read is read again.
 *
 * Thread-safety: one thread calls, with the owner's lock, which is released while a
 * file is read or written; others read 'expected' with that lock.
 * Memory: files are capped (portmgr/expected/expected.h). */
#ifndef TRIAD_PLUGIN_PORTS_SOURCE_H
#define TRIAD_PLUGIN_PORTS_SOURCE_H

#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "portmgr/expected/expected.h"
#include "triad/log.h"

#define TRIAD_SOURCE_PATH_SIZE 1024

struct triad_source {
	pthread_mutex_t *lock; /* the owner's */
	struct triad_log *log;
	char path[TRIAD_SOURCE_PATH_SIZE]; /* the operator's file; "": none */
	char copy[TRIAD_SOURCE_PATH_SIZE]; /* "": none is kept */
	struct triad_expected *expected;   /* in force; NULL: none */
	char *octets;                      /* the same, as it was written */
	size_t size;
	struct stat seen;    /* of the file when it was read last */
	struct stat changed; /* of the last look that found a change */
	bool has_seen;
	uint64_t next_look_us;
	struct triad_diags mistakes; /* of the last attempt; none: it is in force */
	char copy_trouble[256];      /* why the copy could not be written; "": it was */
	uint64_t copy_again_us;
};

void triad_source_init(
	struct triad_source *source, pthread_mutex_t *lock, struct triad_log *log);
void triad_source_clear(struct triad_source *source);

/* All but triad_source_retry_copy() return true when another configuration is in force
 * than before; the lock was not released since. */

/* Where the copy is; reads it when that is another place. */
bool triad_source_set_copy(struct triad_source *source, const char *copy);

/* Where the operator's file is; reads it. */
bool triad_source_set_file(struct triad_source *source, const char *path);

/* Whether the copy of the configuration in force, which could not be written before, was
 * written now; tried each few seconds. */
bool triad_source_retry_copy(struct triad_source *source, uint64_t now_us);

/* Looks at the file when it is time to. */
bool triad_source_look(struct triad_source *source, uint64_t now_us);

/* What another member has sent; 'octets' are taken over. */
bool triad_source_take(struct triad_source *source, char *octets, size_t size);

#endif
