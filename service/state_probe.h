/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tries whether a file of state could be written, before it must be.
 *
 * The election's state is written when a vote is given or a term begun, which is rare: on a
 * disk that became full or read-only since then, nobody could have the lease when the master
 * dies.  So are files in state.dir, on a fabric where nothing happens.
 *
 * Model: each TRIAD_PROBE_US the thread triad-probe begins, writes a file beside the state, as
 * the state is written, removes it, and ends; it logs when that begins to fail and when it
 * works again.  triad_state_probe_fails() begins it, so somebody has to call that.
 *
 * Thread-safety: any thread; only triad_state_probe_free() waits for a disk, for half a
 * second. */
#ifndef TRIAD_SERVICE_STATE_PROBE_H
#define TRIAD_SERVICE_STATE_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "triad/clock.h"
#include "triad/log.h"

#define TRIAD_PROBE_US (20 * TRIAD_US_PER_S)

struct triad_state_probe;

struct triad_state_probe_params {
	const char *part;        /* of Triad, for the log */
	const char *consequence; /* for the log: what will not be */
	size_t size;             /* octets to write: there must be room for them */
};

/* Without a file.  What 'params' point to must stay.  NULL when memory is short. */
struct triad_state_probe *triad_state_probe_new(
	const struct triad_state_probe_params *params, struct triad_log *log);
/* Accepts NULL.  Returns false when the disk hangs: then it leaves the thread and its
 * memory. */
bool triad_state_probe_free(struct triad_state_probe *probe);

/* Sets the file of the state; "": there is none.  Tries at once. */
void triad_state_probe_set(struct triad_state_probe *probe, const char *path);

/* Whether the last try failed, or has hung for TRIAD_DISK_HUNG_US; then 'why' says it.
 * Begins the next one when it is due. */
bool triad_state_probe_fails(struct triad_state_probe *probe, char *why, size_t size);

#endif
