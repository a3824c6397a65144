/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The messages of the election.
 *
 * Model: three kinds, as in [election-patent, "election messages"]: STATUS gives the
 * sender's state, TAKEOVER tells the receiver to become master, CEDE to yield.  Each
 * kind carries the sender's full state, so all that receive any of them know it.
 * TAKEOVER and CEDE answer a STATUS, and have their receiver's id.
 *
 * A claim asks for the lease of the configuration manager; an answer grants it or not.
 *
 * Octets, big-endian; a message of another version is refused as a whole.  Within a
 * version, a receiver ignores flags that it does not know, and octets at the end:
 *
 *     at    size
 *     0     4     magic "TrEl"
 *     4     1     version, 2
 *     5     1     kind
 *     6     1     state
 *     7     1     flags
 *     8     8     from, a port GUID
 *     16    8     to; 0: all
 *     24    4     priority (priority.h)
 *     28    4     entries of the blacklist, n
 *     32    8     round
 *     40    8     answers the receiver's round
 *     48    8     term, the highest that the sender knows
 *     56    8     claim
 *     64    8     grant
 *     72    8     generation of the expected configuration
 *     80    8     its hash
 *     88    8     the newest generation that the sender knows of
 *     96    4     the sender's lease, ms
 *     100   8     the newest term that was held, as far as the sender knows
 *     108   n x 13  id (8), version (4), listed (1)
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_PORTMGR_MESSAGE_H
#define TRIAD_PORTMGR_MESSAGE_H

#include "portmgr/election/blacklist.h"

#define TRIAD_ELECTION_MAGIC 0x5472456cu
#define TRIAD_ELECTION_VERSION 2u
/* Of generations and terms: leaves higher values, so that a wrong one can be
 * exceeded. */
#define TRIAD_ELECTION_MAX_GENERATION (UINT64_C(1) << 63)
#define TRIAD_ELECTION_MAX_LEASE_MS 60000u
#define TRIAD_ELECTION_MESSAGE_SIZE (108u + TRIAD_BLACKLIST_MAX * 13u)

enum triad_election_kind {
	TRIAD_ELECTION_STATUS = 1,
	TRIAD_ELECTION_TAKEOVER,
	TRIAD_ELECTION_CEDE,
};

enum triad_election_state {
	TRIAD_ELECTION_ELECTING = 1,
	TRIAD_ELECTION_STANDBY,
	TRIAD_ELECTION_MASTER,
};

/* The sender considers itself able to be the configuration manager. */
#define TRIAD_ELECTION_IS_ABLE 0x01u
/* The sender only votes. */
#define TRIAD_ELECTION_IS_WITNESS 0x02u
/* The sender's SM is the fabric's master, whatever the election says. */
#define TRIAD_ELECTION_SM_IS_MASTER 0x04u

struct triad_election_message {
	enum triad_election_kind kind;
	enum triad_election_state state;
	uint8_t flags;
	uint64_t from, to;
	uint32_t priority;
	uint64_t round;   /* of the sender's claim */
	uint64_t answers; /* a TAKEOVER or CEDE: the round that it answers */
	uint64_t term;
	uint64_t claim; /* the term that the sender holds or asks for; 0: none */
	uint64_t grant; /* the receiver's claim, granted; 0: not */
	uint64_t generation, hash, newest;
	uint32_t lease_ms; /* of the sender; must be the same at all members */
	uint64_t held;     /* the newest term that was held, as far as known */
	struct triad_blacklist blacklist;
};

/* Returns the octets written. */
size_t triad_election_message_encode(const struct triad_election_message *message,
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE]);

/* Returns 0, EINVAL (not one), or EPROTONOSUPPORT (of another version); 'message' is
 * undefined then. */
int triad_election_message_decode(
	struct triad_election_message *message, const void *octets, size_t size);

const char *triad_election_state_name(enum triad_election_state state);

#endif
