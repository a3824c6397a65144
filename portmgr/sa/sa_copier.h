/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Copies the records of the master's SA to standbys.
 *
 * Model: a machine without threads, sockets or OpenSM. Payloads come in, payloads to
 * all members go out; they may be lost, doubled or late.  A member has one of three
 * roles:
 *
 *     gives   the master: it has the SA's records, sends their digests each second and
 *             after a change, and sends the buckets that changed
 *     takes   a standby: it has a copy, and follows one member that gives, preferably the
 *             master that its own OpenSM follows.  Where digests differ it requests those
 *             of buckets, then buckets, until all are equal
 *     rests   neither, while SMs look for a master; the copy stays
 *
 * Two members may give at once, for a while: one of them was stopped, and does not know
 * yet that another one took over.  The one that became master later has the higher era.
 *
 * A copy has no history: it becomes equal to the master's records, whatever it was
 * before.  So no special rule is needed when a master is replaced, restarts or returns.
 * A new master has mostly the records of the old one, which are not sent again.
 *
 * A copy is 'complete' while its digests equal the last ones received from the master.
 *
 * Wire: sa_message.h.  Malformed messages, messages of another version, and those not
 * from the followed member are dropped; the first two are counted.
 *
 * Bounds: a set of records (sa_set.h), and one bucket being received; it sends at most
 * conf.rate_octets_s.  A bucket that several standbys request is sent once.
 *
 * Thread-safety: one thread.  Time: any monotonic clock in us, as an argument;
 * 'wall_us' is since 1970. */
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
	uint64_t source;   /* the member that is followed, or was last; 0: none yet */
	bool is_complete;  /* the last digests of 'source' equal those of the copy */
	uint64_t equal_us; /* when they last did; 0: never, or not since this member
			    * gave */
	uint64_t received_us; /* last digests of 'source'; 0: never */
	int64_t ahead_us;     /* how far its wall clock is ahead of ours */
	uint64_t era;         /* era of 'source' */
	bool is_outdated; /* this member gives, but another giver became master later */
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
/* Sets this member's role.  If it takes, it follows 'preferred' if that member
 * gives. */
void triad_sa_copier_set_role(
	struct triad_sa_copier *copier, enum triad_sa_role role, uint64_t preferred);
/* If it gives: sets the SA's present records, complete ones.  Returns 0 or ENOMEM. */
int triad_sa_copier_set_records(
	struct triad_sa_copier *copier, const uint8_t *octets, size_t size);
/* The members have changed. */
void triad_sa_copier_note_view(struct triad_sa_copier *copier);
void triad_sa_copier_payload(struct triad_sa_copier *copier, uint64_t sender,
	const void *payload, size_t size);
/* Advances the time.  Call it before the functions below, and before payloads. */
void triad_sa_copier_run(
	struct triad_sa_copier *copier, uint64_t now_us, uint64_t wall_us);

/* --- out --- */
/* When to call run again, at the latest. */
uint64_t triad_sa_copier_next_us(const struct triad_sa_copier *copier);
/* Takes the next payload for all members; returns its size, 0: none now. */
size_t triad_sa_copier_take_payload(
	struct triad_sa_copier *copier, uint8_t payload[TRIAD_SA_PAYLOAD_SIZE]);

/* The SA's records, or the copy; borrowed until the next call. */
const struct triad_sa_set *triad_sa_copier_set(const struct triad_sa_copier *copier);
/* A digest of all records; it differs for other records. */
uint64_t triad_sa_copier_digest(const struct triad_sa_copier *copier);
void triad_sa_copier_status(
	const struct triad_sa_copier *copier, struct triad_sa_copier_status *status);

#endif
