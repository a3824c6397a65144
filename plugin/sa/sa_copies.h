/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The SA's records copied from the master to standbys, so that a new master's SA begins
 * with them: runs the copier (portmgr/sa/sa_copier.h) over the election's transport.
 *
 * Model: the thread triad-sa-copies looks at the SM's state some times a second.  While
 * the SM works as master it reads the SA (sa_snapshot.h) and gives what it has; as standby
 * it has a copy.  What is complete is written to a file in election.state_dir, which OpenSM
 * is given (sa_restore.h) to be restored in its first sweep as master.
 *
 * The file is always what the last master had:
 * - a master's own records, because a master that another one hands over to begins anew,
 *   too; but not where another one became master later (portmgr/sa/sa_role.h);
 * - none from when an SM becomes standby until it has a complete copy;
 * - none when no master has said for TRIAD_SA_COPIES_LEASE_US that they are as they were.
 * A copy that lacks a quarter of the members that the file has is written after a while: a
 * master that was cut off from a part of the fabric loses its members just before another
 * one takes over there.
 *
 * Thread-safety: any thread, except where said.  Its thread alone waits for a disk and for
 * OpenSM's lock. */
#ifndef TRIAD_PLUGIN_SA_COPIES_H
#define TRIAD_PLUGIN_SA_COPIES_H

#include "portmgr/sa/sa_copier.h"
#include "triad/clock.h"
#include "triad/conf.h"
#include "triad/log.h"

#define TRIAD_SA_COPIES_LEASE_US (120 * TRIAD_US_PER_S)
/* A standby that has no complete copy for that long is in trouble. */
#define TRIAD_SA_COPIES_PATIENCE_US (10 * TRIAD_US_PER_S)

struct osm_opensm;
struct triad_elector;
struct triad_sa_copies;

struct triad_sa_copies_status {
	bool is_on;
	const char *trouble; /* why nothing is copied, and what to do; NULL: it is */
	struct triad_sa_copier_status copier;
	uint64_t now_us;
	uint64_t incomplete_us; /* for how long a standby has no complete copy */
	bool is_given;          /* OpenSM has a file */
	bool is_current;        /* and all records are in it */
	int error;              /* of the last try to write it; 0: it was */
	char error_text[192];
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
/* Before the elector.  Returns false when its thread hangs in a write: then it is left,
 * with its memory.  Accepts NULL. */
bool triad_sa_copies_free(struct triad_sa_copies *copies);

/* Puts election.replicate_sa into force. */
void triad_sa_copies_configure(
	struct triad_sa_copies *copies, const struct triad_conf *conf);

/* From report(): never blocks. */
void triad_sa_copies_note_up(struct triad_sa_copies *copies);

void triad_sa_copies_status(
	struct triad_sa_copies *copies, struct triad_sa_copies_status *status);

#endif
