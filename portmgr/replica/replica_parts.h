/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of a replica, for its own files alone: replica.c has digests and records,
 * replica_config.c configurations. */
#ifndef TRIAD_PORTMGR_REPLICA_PARTS_H
#define TRIAD_PORTMGR_REPLICA_PARTS_H

#include "lib/pieces.h"
#include "lib/ring.h"
#include "portmgr/replica/replica_message.h"
#include "triad/clock.h"

/* The most payloads at once: the transport's queue has room for 64, and the election's
 * payloads need room in it, too. */
#define REPLICA_BUDGET 24u
#define REPLICA_REFILL_US (10 * TRIAD_US_PER_MS)
#define REPLICA_MAX_OUTGOING 64u /* own records to be sent */
#define REPLICA_MAX_NEWS 256u
#define REPLICA_MAX_RANGES TRIAD_CLUSTER_MAX_MEMBERS

/* Another member of the present view. */
struct replica_member {
	uint64_t id;
	bool has_digest; /* the members below were received */
	uint64_t received_us;
	struct triad_history_digest digest;
	struct triad_replica_config config;
	uint64_t answered; /* a hash of both digests, when ours was sent in answer */
	bool has_latest;
	struct triad_history_digest latest;
	bool has_terms;
	uint64_t heard_term;
	/* Latest records are sent for it from this time on, and again after the gap. */
	uint64_t latest_us, latest_gap_us;
};

/* A configuration that is being fetched. */
struct replica_fetch {
	struct triad_replica_config config; /* generation 0: none */
	struct triad_pieces pieces;
	uint64_t source; /* who is asked */
	uint64_t first;  /* the pieces requested last, by any member */
	uint32_t n;
	bool is_asked;
	bool is_due;     /* send the request now */
	uint64_t ask_us; /* when to ask, or ask again */
	unsigned n_tries;
};

/* Pieces that a member requested. */
struct replica_range {
	uint64_t first, at, end;
};

struct triad_replica {
	struct triad_replica_conf conf;
	struct triad_history *history;
	struct triad_replica_status status;
	uint64_t now_us;
	bool has_view;
	uint32_t n_members, rank; /* number of members; of those with lower ids */
	struct replica_member members[TRIAD_CLUSTER_MAX_MEMBERS];
	unsigned budget; /* payloads until the next refill */
	uint64_t refill_us;

	uint64_t term, heard_term; /* as in a DIGEST */
	uint64_t digest_us, digest_sent_us;
	struct triad_record outgoing[REPLICA_MAX_OUTGOING];
	struct triad_ring outgoing_ring;
	struct triad_replica_news news[REPLICA_MAX_NEWS];
	struct triad_ring news_ring;
	uint64_t answer_us, answer_latest_us; /* UINT64_MAX: none is needed */
	bool answers_last;        /* the answer is of last records, not of the latest */
	uint64_t pass, passed_us; /* buckets that are being sent */
	uint32_t pass_at;
	uint64_t latest_pass; /* buckets of latest records that are being sent */
	uint32_t latest_at;

	struct triad_replica_config own, ready;
	uint8_t *own_octets, *ready_octets;
	uint64_t taken; /* the newest generation that was taken */
	struct triad_replica_config shunned;
	uint64_t shunned_until_us;
	struct replica_fetch fetch;
	struct replica_range ranges[REPLICA_MAX_RANGES];
	uint32_t n_ranges;
	struct replica_range given; /* the last one that was sent completely, */
	uint64_t given_us;          /* and when */
};

/* --- replica.c --- */
/* Sends the digest at 'at_us', or a little later if it was sent just before. */
void replica_send_digest(struct triad_replica *replica, uint64_t at_us);

/* --- replica_config.c --- */
void replica_config_received(
	struct triad_replica *replica, const struct replica_member *member);
void replica_config_want(
	struct triad_replica *replica, const struct triad_replica_message *message);
void replica_config_part(
	struct triad_replica *replica, const struct triad_replica_message *message);
void replica_config_run(struct triad_replica *replica);
uint64_t replica_config_next_us(const struct triad_replica *replica);
/* The size of a request, or of a piece; 0: none. */
size_t replica_config_take_want(
	struct triad_replica *replica, uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE]);
size_t replica_config_take_part(
	struct triad_replica *replica, uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE]);
void replica_config_free(struct triad_replica *replica);

#endif
