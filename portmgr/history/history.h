/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The history of actions on ports: the last record of each port and that of its link, and the
 * latest records of all ports.
 *
 * Records may come in any order, more than once, from the journal and from other
 * members.  Of each port the newest record stays, of its link the newest TAKE or RETURN,
 * which say nothing of the port's own state, and of all records the newest
 * TRIAD_HISTORY_N_LATEST do, by triad_record_compare().  So what stays follows from what
 * was received alone: members that have received the same records have the same history,
 * and so have members of which each has received what the others have kept.  An older
 * record that arrives late is put among the latest, or is left out if it is older than
 * all of them; it never changes a port's last record.
 *
 * Members compare their histories by two digests, of the last records and of the latest.
 * A digest has a number for each of TRIAD_HISTORY_N_BUCKETS buckets, of ports or of
 * records, computed from the records' lines (record.h), so that it is the same on all
 * machines.
 *
 * What a port's last record means:
 *     disabled by us      DISABLE: intended, done or unanswered
 *     failed              FAIL, or DISABLE with a reason other than EXPECTED
 *     admitted            ADMIT, as long as the same component is at the far end
 *     nothing             RELEASE, or no record
 *
 * Thread-safety: one thread.  Memory: bounded by the caps; checked. */
#ifndef TRIAD_PORTMGR_HISTORY_H
#define TRIAD_PORTMGR_HISTORY_H

#include "portmgr/history/record.h"

#define TRIAD_HISTORY_N_BUCKETS 64u
#define TRIAD_HISTORY_MAX_PORTS (1u << 18) /* and links */
#define TRIAD_HISTORY_N_LATEST 4096u       /* records of all ports that are kept */

struct triad_history;

struct triad_history_digest {
	uint64_t buckets[TRIAD_HISTORY_N_BUCKETS]; /* all 0: there are no records */
};

struct triad_history *triad_history_new(void);
/* Accepts NULL. */
void triad_history_free(struct triad_history *history);

/* Returns 0 (it is now the last record of the port or of its link), ESTALE (there is a newer
 * one: it was put among the latest alone), EALREADY (nothing changed), ENOMEM or ENOSPC (the cap).
 * An outcome is a record of its own, with a higher number. */
int triad_history_merge(
	struct triad_history *history, const struct triad_record *record);

/* A port's last record that is not about its link, or NULL; valid until the next merge. */
const struct triad_record *triad_history_find(
	const struct triad_history *history, uint64_t node_guid, uint8_t port);
/* Whether the record is the last one of its port, or of its port's link. */
bool triad_history_is_last(
	const struct triad_history *history, const struct triad_record *record);

/* Record 'i' of the last records of ports and links in a bucket; their order is stable until the
 * next merge.  NULL after the last. */
const struct triad_record *triad_history_at(
	const struct triad_history *history, unsigned bucket, uint32_t i);
uint32_t triad_history_n(const struct triad_history *history);

/* The newest (term, number) of all records; 0, 0 when there are none. */
void triad_history_newest(
	const struct triad_history *history, uint64_t *term, uint64_t *number);

void triad_history_digest(
	const struct triad_history *history, struct triad_history_digest *digest);
/* Of the latest records; its numbers have 32 bits. */
void triad_history_latest_digest(
	const struct triad_history *history, struct triad_history_digest *digest);

/* The latest records, the newest first: record 'i' from 0, or NULL. */
const struct triad_record *triad_history_latest(
	const struct triad_history *history, uint32_t i);
/* The first of the latest records from '*i' on that is in the bucket; '*i' moves behind
 * it.  NULL after the last. */
const struct triad_record *triad_history_latest_in(
	const struct triad_history *history, unsigned bucket, uint32_t *i);
/* Whether a last record is still among the latest. */
bool triad_history_is_in_latest(
	const struct triad_history *history, const struct triad_record *record);

#endif
