/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Copies the SA's records from the master to standbys, so that a new master's SA begins
 * with them.  Runs the copier (portmgr/sa/sa_copier.h) over the election's transport.
 *
 * Model: the thread triad-sa-copies checks the SM's state several times a second.
 * While the SM works as master, the thread reads the SA (sa_snapshot.h) and sends its
 * records; while it is standby, the thread keeps a copy.  It writes a complete set to a
 * file in election.state_dir and names the file to OpenSM (sa_restore.h), which
 * restores it in its first sweep as master.
 *
 * The file has the records of the last master, as far as they are known here:
 * - While this SM is master, its own records: a master to which another one hands over also
 *   starts its SA anew.  Not if another SM became master later (portmgr/sa/sa_role.h).
 * - When it becomes standby these stay until it has a complete copy: it may be cut off from
 *   the other SMs, and be master again before.  Records of some seconds ago are better than
 *   none.
 * - No file when for TRIAD_SA_COPIES_LEASE_US no master has confirmed the records.
 * - It outlives the process: an SM that is restarted before others elect, or alone, begins
 *   with it.
 *
 * If a copy lacks a quarter of the group members that the file has, it is written only
 * after a delay: a master that is cut off from a part of the fabric loses the members
 * there just before another SM takes over that part.
 *
 * Thread-safety: any thread, except where said.  Only its thread waits for the disk and
 * for OpenSM's lock. */
#ifndef TRIAD_PLUGIN_SA_COPIES_H
#define TRIAD_PLUGIN_SA_COPIES_H

#include "portmgr/sa/sa_copier.h"
#include "triad/clock.h"
#include "triad/conf.h"
#include "triad/file.h"
#include "triad/log.h"

#define TRIAD_SA_COPIES_LEASE_US (120 * TRIAD_US_PER_S)
/* A standby without a complete copy for this time reports trouble. */
#define TRIAD_SA_COPIES_PATIENCE_US (10 * TRIAD_US_PER_S)

struct osm_opensm;
struct triad_elector;
struct triad_sa_copies;

struct triad_sa_copies_status {
	bool is_on;
	const char *trouble; /* why nothing is copied, and what to do; NULL: no
			      * trouble */
	struct triad_sa_copier_status copier;
	uint64_t now_us;
	uint64_t incomplete_us; /* for how long a standby has no complete copy */
	bool is_given;          /* OpenSM has a file */
	bool is_current;        /* and the file has all present records */
	int error;              /* of the last attempt to write the file; 0: success */
	char error_text[TRIAD_FILE_REASON_SIZE];
	uint32_t n_unwritable; /* records that OpenSM could not read back */
	uint32_t n_written;    /* files */
	uint64_t n_dropped;    /* payloads that found the inbox full */
	/* Of the last look at the SA. */
	uint64_t hold_us, took_us;
	uint64_t write_us; /* of the last file */
};

/* NULL when memory is short.  What it is given outlives it. */
struct triad_sa_copies *triad_sa_copies_new(struct osm_opensm *osm, uint64_t port_guid,
	struct triad_elector *elector, struct triad_log *log);
/* Call it before the elector is freed.  Returns false when its thread hangs in a write:
 * then it leaves the thread and its memory.  Accepts NULL. */
bool triad_sa_copies_free(struct triad_sa_copies *copies);

/* Applies election.replicate_sa. */
void triad_sa_copies_configure(
	struct triad_sa_copies *copies, const struct triad_conf *conf);

/* From report(): never blocks. */
void triad_sa_copies_note_up(struct triad_sa_copies *copies);

void triad_sa_copies_status(
	struct triad_sa_copies *copies, struct triad_sa_copies_status *status);

#endif
