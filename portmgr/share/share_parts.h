/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the parts of a share have in common: share.c has digests and records,
 * share_config.c configurations. */
#ifndef TRIAD_PORTMGR_SHARE_PARTS_H
#define TRIAD_PORTMGR_SHARE_PARTS_H

#include "portmgr/share/share_message.h"
#include "triad/clock.h"

/* The transport's queue has room for 64 payloads, and the election's are in it, too. */
#define SHARE_BUDGET 24u
#define SHARE_REFILL_US (10 * TRIAD_US_PER_MS)
#define SHARE_MAX_SAID 64u /* own records that wait to be said */
#define SHARE_MAX_NEWS 256u
#define SHARE_MAX_RANGES TRIAD_CLUSTER_MAX_MEMBERS

/* Another member of the present view. */
struct share_member {
	uint64_t id;
	bool has_digest; /* what is below was heard */
	uint64_t heard_us;
	struct triad_memory_digest digest;
	struct triad_share_config config;
	uint64_t answered; /* of both digests, when this one's was said in answer */
};

/* A configuration on its way here. */
struct share_fetch {
	struct triad_share_config config; /* generation 0: none */
	uint8_t *octets;
	bool *has; /* pieces */
	uint64_t n_pieces, n_have;
	uint64_t missing; /* all before it are here */
	uint64_t source;  /* who is asked */
	uint64_t first;   /* what was asked for last, by whomever: pieces */
	uint32_t n;
	bool is_asked;
	bool is_due;     /* to be said now */
	uint64_t ask_us; /* then it is asked for, or asked for again */
	unsigned n_tries;
};

/* Pieces that somebody wants. */
struct share_range {
	uint64_t first, at, end;
};

struct triad_share {
	struct triad_share_conf conf;
	struct triad_memory *memory;
	struct triad_share_status status;
	uint64_t now_us;
	bool has_view;
	uint32_t n_members, rank; /* how many of them have lower ids */
	struct share_member members[TRIAD_CLUSTER_MAX_MEMBERS];
	unsigned budget; /* payloads until the next filling */
	uint64_t refill_us;

	uint64_t digest_us, said_digest_us;
	struct triad_record said[SHARE_MAX_SAID];
	uint32_t said_at, n_said;
	struct triad_record news[SHARE_MAX_NEWS];
	uint32_t news_at, n_news;
	uint64_t answer_us, answer_latest_us; /* UINT64_MAX: none is needed */
	uint64_t pass, passed_us;             /* buckets that are being said */
	uint32_t pass_at;

	struct triad_share_config own, ready;
	uint8_t *own_octets, *ready_octets;
	uint64_t taken; /* the newest generation that was handed out */
	struct triad_share_config shunned;
	uint64_t shunned_until_us;
	struct share_fetch fetch;
	struct share_range ranges[SHARE_MAX_RANGES];
	uint32_t n_ranges;
	struct share_range given; /* the last one that was said to its end, */
	uint64_t given_us;        /* and when */
};

/* --- share.c --- */
/* The digest is said at 'at_us', or a little later when it was said just now. */
void share_send_digest(struct triad_share *share, uint64_t at_us);

/* --- share_config.c --- */
void share_config_heard(struct triad_share *share, const struct share_member *member);
void share_config_want(
	struct triad_share *share, const struct triad_share_message *message);
void share_config_part(
	struct triad_share *share, const struct triad_share_message *message);
void share_config_run(struct triad_share *share);
uint64_t share_config_next_us(const struct triad_share *share);
/* Of a question, or a piece; 0: none. */
size_t share_config_take_want(
	struct triad_share *share, uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE]);
size_t share_config_take_part(
	struct triad_share *share, uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE]);
void share_config_free(struct triad_share *share);

#endif
