/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A claims machine, the messages that it sends, and messages of other agents to it. */
#ifndef TRIAD_TESTS_UNIT_COLLECT_CLAIMS_FIXTURE_H
#define TRIAD_TESTS_UNIT_COLLECT_CLAIMS_FIXTURE_H

#include "collect/claims.h"

#include <string.h>

#include "tests/unit/run.h"
#include "triad/clock.h"

#define MS TRIAD_US_PER_MS
#define LIVENESS (5000 * MS)
#define BACKOFF (200 * MS)
#define START (1000 * MS)
#define MAX_NODES 10000u
#define MAX_SENT 64u
#define SELF 50u
#define OTHER 60u

/* --- a machine, and the messages that it sends --- */

struct outgoing {
	uint64_t to;
	struct triad_collect_owner owner;
	struct triad_collect_claim first; /* entry */
};

struct fixture {
	struct triad_claims *claims;
	uint64_t now_us;
	unsigned n_outgoing, n_entries, n_asked_all, n_asked, n_asked_nodes;
	uint64_t asked; /* the last agent that was asked for a list */
	struct outgoing outgoing[MAX_SENT];
	uint8_t true_hops; /* the distance of every agent from every node */
	uint64_t unknown;  /* an agent that is not in the fabric */
};

static uint64_t guids[MAX_NODES];
static uint8_t all_at[MAX_NODES];

static inline void note_owner(void *context, uint64_t to,
	const struct triad_collect_owner *owner,
	const struct triad_collect_claim *claims)
{
	struct fixture *fixture = context;

	ck_assert_uint_le(owner->n, 4096);
	ck_assert_uint_eq(owner->number == 0, to != TRIAD_CLAIMS_NO_AGENT);
	fixture->n_entries += owner->n;
	ck_assert_uint_lt(fixture->n_outgoing, MAX_SENT);
	fixture->outgoing[fixture->n_outgoing].to = to;
	fixture->outgoing[fixture->n_outgoing].owner = *owner;
	if (owner->n)
		fixture->outgoing[fixture->n_outgoing].first = claims[0];
	fixture->n_outgoing++;
}

static inline void note_ask(void *context, uint64_t to)
{
	struct fixture *fixture = context;

	fixture->n_asked_all += to == TRIAD_CLAIMS_NO_AGENT;
	fixture->n_asked += to != TRIAD_CLAIMS_NO_AGENT;
	fixture->asked = to;
}

static inline void note_ask_nodes(void *context, const uint64_t *asked, uint32_t n)
{
	struct fixture *fixture = context;

	ck_assert_uint_gt(n, 0);
	ck_assert_uint_ge(asked[0], 1000);
	fixture->n_asked_nodes += n;
}

static inline uint8_t true_hops(void *context, uint64_t agent, uint32_t node)
{
	struct fixture *fixture = context;

	(void)node;
	return agent == fixture->unknown ? TRIAD_CLAIMS_UNREACHABLE
					 : fixture->true_hops;
}

static inline const struct fixture *turn(struct fixture *fixture)
{
	triad_claims_step(fixture->claims, fixture->now_us);
	return fixture;
}

/* Advances the time like a caller that steps the machine when it asks for that. */
static inline void run(struct fixture *fixture, uint64_t us)
{
	uint64_t end_us = fixture->now_us + us;

	while (fixture->now_us < end_us) {
		uint64_t next_us = triad_claims_step(fixture->claims, fixture->now_us);

		ck_assert_uint_gt(next_us, fixture->now_us);
		ck_assert_uint_le(next_us, fixture->now_us + LIVENESS);
		fixture->now_us = next_us < end_us ? next_us : end_us;
	}
	turn(fixture);
}

static inline void forget_reported(struct fixture *fixture)
{
	fixture->n_outgoing = fixture->n_entries = fixture->n_asked_all =
		fixture->n_asked = 0;
	fixture->n_asked_nodes = 0;
}

/* Sets 'n' nodes 1000, 1010, ..., each at a distance of 'hops'. */
static inline void set_nodes(struct fixture *fixture, uint32_t n, uint8_t hops)
{
	for (uint32_t i = 0; i < n; i++) {
		guids[i] = 1000 + 10 * (uint64_t)i;
		all_at[i] = hops;
	}
	ck_assert_int_eq(triad_claims_set_nodes(
				 fixture->claims, guids, all_at, n, fixture->now_us),
		0);
}

static uint32_t fixture_max_nodes; /* the maximum that a machine may own; 0: none */

static inline void set_up_as(struct fixture *fixture, uint64_t self, bool is_strict)
{
	const struct triad_claims_sink sink = {.context = fixture,
		.send_owner = note_owner,
		.ask_list = note_ask,
		.ask_nodes = note_ask_nodes};
	const struct triad_claims_params params = {.self = self,
		.incarnation = 7,
		.liveness_us = LIVENESS,
		.backoff_us = BACKOFF,
		.max_nodes = fixture_max_nodes,
		.seed = 1,
		.true_hops = is_strict ? true_hops : NULL,
		.context = fixture};

	*fixture = (struct fixture){.now_us = START};
	fixture->claims = triad_claims_new(&params, &sink);
	ck_assert_ptr_nonnull(fixture->claims);
}

/* A machine that just started, with 'n' nodes 2 hops away. */
static inline void set_up(struct fixture *fixture, uint32_t n)
{
	set_up_as(fixture, SELF, false);
	set_nodes(fixture, n, 2);
}

/* A machine that owns all 'n' nodes. */
static inline void set_up_owner(struct fixture *fixture, uint32_t n)
{
	set_up(fixture, n);
	run(fixture, 5 * BACKOFF);
	ck_assert_uint_eq(triad_claims_owner(fixture->claims, n - 1, NULL), SELF);
	forget_reported(fixture);
}

/* --- messages of other agents --- */

static inline struct triad_collect_head head_of(uint64_t id)
{
	return (struct triad_collect_head){.sender = id, .incarnation = 7};
}

static inline void receive_alive(
	struct fixture *fixture, uint64_t id, uint32_t n_announced)
{
	const struct triad_collect_head head = head_of(id);
	const struct triad_collect_alive alive = {.n_announced = n_announced};

	triad_claims_receive_alive(fixture->claims, &head, &alive, fixture->now_us);
}

static inline void receive_from(struct fixture *fixture, uint64_t id,
	const struct triad_collect_owner *owner,
	const struct triad_collect_claim *entries)
{
	const struct triad_collect_head head = head_of(id);

	triad_claims_receive_owner(
		fixture->claims, &head, owner, entries, fixture->now_us);
}

/* An announcement of one node. */
static inline void receive_claim(struct fixture *fixture, uint64_t id, uint32_t number,
	uint32_t node, uint8_t hops, uint8_t load)
{
	const struct triad_collect_owner owner = {.number = number, .n = 1};
	const struct triad_collect_claim claim = {
		.node_guid = 1000 + 10 * (uint64_t)node, .hops = hops, .load = load};

	receive_from(fixture, id, &owner, &claim);
}

/* A part of a list: nodes 'first' to under 'end'. */
static inline void receive_list(struct fixture *fixture, uint64_t id, uint32_t as_of,
	unsigned part, unsigned n_parts, uint32_t first, uint32_t end)
{
	const struct triad_collect_owner owner = {.as_of = as_of,
		.is_list = true,
		.part = (uint16_t)part,
		.n_parts = (uint16_t)n_parts,
		.n = end - first};
	struct triad_collect_claim claims[16];

	for (uint32_t i = first; i < end; i++)
		claims[i - first] = (struct triad_collect_claim){
			.node_guid = 1000 + 10 * (uint64_t)i, .hops = 1};
	receive_from(fixture, id, &owner, claims);
}

static inline uint64_t owner_of(const struct fixture *fixture, uint32_t node)
{
	return triad_claims_owner(fixture->claims, node, NULL);
}

static inline struct triad_claims_agent look(const struct fixture *fixture, uint64_t id)
{
	struct triad_claims_agent agent;

	for (unsigned i = 0; triad_claims_agent(fixture->claims, i, &agent); i++)
		if (agent.id == id)
			return agent;
	ck_abort_msg("there is no agent %u", (unsigned)id);
	return agent;
}

#endif
