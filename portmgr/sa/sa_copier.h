/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How standbys get a copy of what the master's SA knows.
 *
 * Model: a machine without threads, sockets and OpenSM.  Payloads come in, payloads to all
 * members go out; they may be lost, doubled or late.
 *
 *     gives   the master: it has the SA's records, says their digests each second and
 *             after a change, and sends the buckets that changed
 *     takes   a standby: it has a copy, and follows one member that gives, the master of
 *             its own OpenSM before any other.  Where digests differ it asks for those of
 *             buckets, and for buckets, until all are equal
 *     rests   neither: while SMs look for a master.  The copy stays
 *
 * Two members may give at once, for a while: one that was stopped and does not know yet
 * that another one took over.  The one that became master later has the higher era.
 *
 * A copy has no history: whatever it was before, it becomes what the master has, so a
 * master that was replaced, begins again or returns needs no rule of its own.  What a new
 * master has is mostly what the old one had, and is not sent again.
 *
 * A copy is 'complete' at the moments when the digests that the master said last are its
 * own.
 *
 * Wire: sa_message.h.  What is malformed, of another version or not of the followed
 * member is dropped; the first two are counted.
 *
 * Bounds: a set of records (sa_set.h), one bucket on its way; out goes no more than
 * conf.rate_octets_s.  What several standbys ask for is sent once.
 *
 * Thread-safety: one thread.  Time: any monotonic clock in us, as an argument; 'wall_us'
 * is since 1970. */
#ifndef TRIAD_PORTMGR_SA_COPIER_H
#define TRIAD_PORTMGR_SA_COPIER_H

#include "portmgr/sa/sa_message.h"

enum triad_sa_role {
	TRIAD_SA_RESTS,
	TRIAD_SA_GIVES,
	TRIAD_SA_TAKES,
};

struct triad_sa_copier;

struct triad_sa_copier_conf {
	uint64_t id; /* of this member */
	uint32_t rate_octets_s;
};

struct triad_sa_copier_status {
	enum triad_sa_role role;
	uint64_t source;   /* who is followed, or was last; 0: nobody yet */
	bool is_complete;  /* the last digests of 'source' are those of the copy */
	uint64_t equal_us; /* when they were; 0: never, or not since this one gave */
	uint64_t heard_us; /* when 'source' said its digests; 0: never */
	int64_t ahead_us;  /* its wall clock before ours */
	uint64_t era;      /* its */
	bool is_outdated; /* this one gives, and another one that became master later */
	uint32_t n_left_out; /* records of the master that are not copied */
	struct triad_sa_counts counts;
	uint64_t n_given_octets, n_taken_octets;
	uint64_t n_malformed, n_versions; /* payloads */
	uint64_t n_refused;               /* buckets: too large, or no memory */
};

/* NULL: memory is short. */
struct triad_sa_copier *triad_sa_copier_new(const struct triad_sa_copier_conf *conf);
/* Accepts NULL. */
void triad_sa_copier_free(struct triad_sa_copier *copier);

/* --- in --- */
/* What this member is to do; 'preferred' is whom to follow where it takes, if that one
 * gives. */
void triad_sa_copier_set_role(
	struct triad_sa_copier *copier, enum triad_sa_role role, uint64_t preferred);
/* Where it gives: what the SA has now, whole records.  Returns 0 or ENOMEM. */
int triad_sa_copier_set_records(
	struct triad_sa_copier *copier, const uint8_t *octets, size_t size);
/* There are other members than before. */
void triad_sa_copier_note_view(struct triad_sa_copier *copier);
void triad_sa_copier_payload(struct triad_sa_copier *copier, uint64_t sender,
	const void *payload, size_t size);
/* Time passes: to be called before what follows, and before payloads. */
void triad_sa_copier_run(
	struct triad_sa_copier *copier, uint64_t now_us, uint64_t wall_us);

/* --- out --- */
/* When run is to be called again, at the latest. */
uint64_t triad_sa_copier_next_us(const struct triad_sa_copier *copier);
/* The next payload to be sent to all; returns its size, 0: none now. */
size_t triad_sa_copier_take_payload(
	struct triad_sa_copier *copier, uint8_t payload[TRIAD_SA_PAYLOAD_SIZE]);

/* The records, here or of the master; borrowed until the next call. */
const struct triad_sa_set *triad_sa_copier_set(const struct triad_sa_copier *copier);
/* One number for all of them; another one for others. */
uint64_t triad_sa_copier_digest(const struct triad_sa_copier *copier);
void triad_sa_copier_status(
	const struct triad_sa_copier *copier, struct triad_sa_copier_status *status);

#endif
