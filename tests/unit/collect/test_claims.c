/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/claims.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/run.h"
#include "tests/unit/scarce_memory.h"
#include "triad/clock.h"

#define MS TRIAD_US_PER_MS
#define LIVENESS (5000 * MS)
#define SLOT (200 * MS)
#define START (1000 * MS)
#define MAX_NODES 10000u
#define MAX_SAID 64u
#define SELF 50u
#define OTHER 60u

/* --- a machine, and what it says --- */

struct said {
	uint64_t to;
	struct triad_collect_owner owner;
	struct triad_collect_claim first; /* entry */
};

struct bed {
	struct triad_claims *claims;
	uint64_t now_us;
	unsigned n_said, n_entries, n_asked_all, n_asked, n_asked_nodes;
	uint64_t asked; /* the last one asked for a list */
	struct said said[MAX_SAID];
	uint8_t true_hops; /* of everybody, everywhere */
	uint64_t unknown;  /* an agent that is not in the fabric */
};

static uint64_t guids[MAX_NODES];
static uint8_t all_at[MAX_NODES];

static void note_owner(void *context, uint64_t to,
	const struct triad_collect_owner *owner,
	const struct triad_collect_claim *claims)
{
	struct bed *bed = context;

	ck_assert_uint_le(owner->n, 4096);
	ck_assert_uint_eq(owner->number == 0, to != TRIAD_CLAIMS_NOBODY);
	bed->n_entries += owner->n;
	ck_assert_uint_lt(bed->n_said, MAX_SAID);
	bed->said[bed->n_said].to = to;
	bed->said[bed->n_said].owner = *owner;
	if (owner->n)
		bed->said[bed->n_said].first = claims[0];
	bed->n_said++;
}

static void note_ask(void *context, uint64_t to)
{
	struct bed *bed = context;

	bed->n_asked_all += to == TRIAD_CLAIMS_NOBODY;
	bed->n_asked += to != TRIAD_CLAIMS_NOBODY;
	bed->asked = to;
}

static void note_ask_nodes(void *context, const uint64_t *asked, uint32_t n)
{
	struct bed *bed = context;

	ck_assert_uint_gt(n, 0);
	ck_assert_uint_ge(asked[0], 1000);
	bed->n_asked_nodes += n;
}

static uint8_t true_hops(void *context, uint64_t agent, uint32_t node)
{
	struct bed *bed = context;

	(void)node;
	return agent == bed->unknown ? TRIAD_CLAIMS_UNREACHABLE : bed->true_hops;
}

static const struct bed *turn(struct bed *bed)
{
	triad_claims_turn(bed->claims, bed->now_us);
	return bed;
}

/* Time passes as for a caller who keeps to what turn() wants. */
static void run(struct bed *bed, uint64_t us)
{
	uint64_t end_us = bed->now_us + us;

	while (bed->now_us < end_us) {
		uint64_t next_us = triad_claims_turn(bed->claims, bed->now_us);

		ck_assert_uint_gt(next_us, bed->now_us);
		ck_assert_uint_le(next_us, bed->now_us + LIVENESS);
		bed->now_us = next_us < end_us ? next_us : end_us;
	}
	turn(bed);
}

static void forget_said(struct bed *bed)
{
	bed->n_said = bed->n_entries = bed->n_asked_all = bed->n_asked = 0;
	bed->n_asked_nodes = 0;
}

/* Nodes 1000, 1010, ..., 'n' of them, all 'hops' from here. */
static void set_nodes(struct bed *bed, uint32_t n, uint8_t hops)
{
	for (uint32_t i = 0; i < n; i++) {
		guids[i] = 1000 + 10 * (uint64_t)i;
		all_at[i] = hops;
	}
	ck_assert_int_eq(
		triad_claims_set_nodes(bed->claims, guids, all_at, n, bed->now_us), 0);
}

static void set_up_as(struct bed *bed, uint64_t self, bool is_strict)
{
	const struct triad_claims_sink sink = {.context = bed,
		.say_owner = note_owner,
		.ask_list = note_ask,
		.ask_nodes = note_ask_nodes};
	const struct triad_claims_params params = {.self = self,
		.incarnation = 7,
		.liveness_us = LIVENESS,
		.slot_us = SLOT,
		.seed = 1,
		.true_hops = is_strict ? true_hops : NULL,
		.context = bed};

	*bed = (struct bed){.now_us = START};
	bed->claims = triad_claims_new(&params, &sink);
	ck_assert_ptr_nonnull(bed->claims);
}

/* A machine that just started, with 'n' nodes 2 hops away. */
static void set_up(struct bed *bed, uint32_t n)
{
	set_up_as(bed, SELF, false);
	set_nodes(bed, n, 2);
}

/* One that owns them all. */
static void set_up_owner(struct bed *bed, uint32_t n)
{
	set_up(bed, n);
	run(bed, 5 * SLOT);
	ck_assert_uint_eq(triad_claims_owner(bed->claims, n - 1, NULL), SELF);
	forget_said(bed);
}

/* --- what others say --- */

static struct triad_collect_head head_of(uint64_t id)
{
	return (struct triad_collect_head){.sender = id, .incarnation = 7};
}

static void hear_alive(struct bed *bed, uint64_t id, uint32_t n_announced)
{
	const struct triad_collect_head head = head_of(id);
	const struct triad_collect_alive alive = {.n_announced = n_announced};

	triad_claims_hear_alive(bed->claims, &head, &alive, bed->now_us);
}

static void hear(struct bed *bed, uint64_t id, const struct triad_collect_owner *owner,
	const struct triad_collect_claim *entries)
{
	const struct triad_collect_head head = head_of(id);

	triad_claims_hear_owner(bed->claims, &head, owner, entries, bed->now_us);
}

/* An announcement of one node. */
static void hear_claim(struct bed *bed, uint64_t id, uint32_t number, uint32_t node,
	uint8_t hops, uint8_t load)
{
	const struct triad_collect_owner owner = {.number = number, .n = 1};
	const struct triad_collect_claim claim = {
		.node_guid = 1000 + 10 * (uint64_t)node, .hops = hops, .load = load};

	hear(bed, id, &owner, &claim);
}

/* A part of a list: nodes 'first' to under 'end'. */
static void hear_list(struct bed *bed, uint64_t id, uint32_t as_of, unsigned part,
	unsigned n_parts, uint32_t first, uint32_t end)
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
	hear(bed, id, &owner, claims);
}

static uint64_t owner_of(const struct bed *bed, uint32_t node)
{
	return triad_claims_owner(bed->claims, node, NULL);
}

static struct triad_claims_agent look(const struct bed *bed, uint64_t id)
{
	struct triad_claims_agent agent;

	for (unsigned i = 0; triad_claims_agent(bed->claims, i, &agent); i++)
		if (agent.id == id)
			return agent;
	ck_abort_msg("there is no agent %u", (unsigned)id);
	return agent;
}

/* --- waves --- */

START_TEST(test_load_of_nodes_doubles_each_step)
{
	ck_assert_uint_eq(triad_claims_load(0), 0);
	ck_assert_uint_eq(triad_claims_load(15), 0);
	ck_assert_uint_eq(triad_claims_load(16), 1);
	ck_assert_uint_eq(triad_claims_load(31), 1);
	ck_assert_uint_eq(triad_claims_load(32), 2);
	ck_assert_uint_eq(triad_claims_load(512), 6);
	ck_assert_uint_eq(triad_claims_load(1024), 7);
	ck_assert_uint_eq(triad_claims_load(UINT32_MAX), 28);
}
END_TEST

START_TEST(test_start_asks_all_and_says_that_it_owns_nothing)
{
	struct bed bed;

	set_up(&bed, 3);
	ck_assert_uint_eq(bed.n_asked_all, 1);
	ck_assert_uint_eq(bed.n_said, 1);
	ck_assert_uint_eq(bed.said[0].owner.number, 1);
	ck_assert(bed.said[0].owner.is_list);
	ck_assert_uint_eq(bed.said[0].owner.n_parts, 0);
	ck_assert_uint_eq(bed.said[0].owner.n, 0);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_wave_alone_claims_hop_by_hop)
{
	const uint64_t nodes[] = {1000, 1010, 1020, 1030};
	const uint8_t hops[] = {3, 0, TRIAD_CLAIMS_UNREACHABLE, 1};
	struct bed bed;
	uint8_t stated = 99;

	set_up_as(&bed, SELF, false);
	triad_claims_set_nodes(bed.claims, nodes, hops, 4, bed.now_us);
	run(&bed, 2 * SLOT - 1);
	ck_assert_uint_eq(owner_of(&bed, 1), TRIAD_CLAIMS_NOBODY);
	run(&bed, 1);
	ck_assert_uint_eq(owner_of(&bed, 1), SELF);
	run(&bed, SLOT - 1);
	ck_assert_uint_eq(owner_of(&bed, 3), TRIAD_CLAIMS_NOBODY);
	run(&bed, 1);
	ck_assert_uint_eq(owner_of(&bed, 3), SELF);
	run(&bed, 2 * SLOT - 1);
	ck_assert_uint_eq(owner_of(&bed, 0), TRIAD_CLAIMS_NOBODY);
	run(&bed, 1);
	ck_assert_uint_eq(triad_claims_owner(bed.claims, 0, &stated), SELF);
	ck_assert_uint_eq(stated, 3);
	run(&bed, 10 * SLOT);
	ck_assert_uint_eq(owner_of(&bed, 2), TRIAD_CLAIMS_NOBODY);
	ck_assert_uint_eq(triad_claims_n_nobodys(bed.claims), 0);
	ck_assert_uint_eq(bed.n_entries, 3);
	ck_assert_uint_eq(triad_claims_counts(bed.claims).n_claimed, 3);
	ck_assert_uint_eq(triad_claims_changes(bed.claims), 3);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_wave_stops_where_somebody_claimed)
{
	struct bed bed;

	set_up(&bed, 2);
	hear_claim(&bed, OTHER, 1, 0, 2, 0);
	run(&bed, 4 * SLOT);
	ck_assert_uint_eq(owner_of(&bed, 0), OTHER);
	ck_assert_uint_eq(owner_of(&bed, 1), SELF);
	ck_assert_uint_eq(look(&bed, OTHER).n_nodes, 1);
	triad_claims_free(bed.claims);
}
END_TEST

/* Among two who are as near, one claims at once, the other would a quarter of a slot
 * later; the same one by the conflict's rule. */
START_TEST(test_wave_of_equals_goes_by_lot)
{
	struct bed bed;
	unsigned n_first = 0;

	set_up(&bed, 1000);
	hear_alive(&bed, OTHER, 0);
	run(&bed, 4 * SLOT);
	for (uint32_t i = 0; i < 1000; i++)
		n_first += owner_of(&bed, i) == SELF;
	ck_assert_uint_gt(n_first, 430);
	ck_assert_uint_lt(n_first, 570);
	for (uint32_t i = 0; i < 1000; i++)
		if (owner_of(&bed, i) == TRIAD_CLAIMS_NOBODY)
			hear_claim(&bed, OTHER, i + 1, i, 2, 0);
	run(&bed, SLOT);
	ck_assert_uint_eq(look(&bed, SELF).n_nodes, n_first);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_wave_nearer_takes_over)
{
	struct bed bed;

	set_up(&bed, 2);
	hear_claim(&bed, OTHER, 1, 0, 3, 0);
	hear_claim(&bed, OTHER, 2, 1, 1, 0);
	run(&bed, 5 * SLOT);
	ck_assert_uint_eq(owner_of(&bed, 0), SELF);
	ck_assert_uint_eq(owner_of(&bed, 1), OTHER);
	triad_claims_free(bed.claims);
}
END_TEST

/* New fabrics, one after the other, don't keep a node from being claimed. */
START_TEST(test_wave_goes_on_while_the_fabric_changes)
{
	struct bed bed;

	set_up(&bed, 4);
	for (unsigned i = 0; i < 10; i++) {
		run(&bed, SLOT / 2);
		set_nodes(&bed, 4 + i % 2, 2);
	}
	turn(&bed);
	ck_assert_uint_eq(owner_of(&bed, 3), SELF);
	triad_claims_free(bed.claims);
}
END_TEST

/* --- who wins --- */

static const struct {
	bool is_draining; /* the claimant */
	uint8_t hops, load;
	bool wins; /* against 2 hops, load 3 */
} claims_for_lower_load[] = {
	{false, 1, 9, true},
	{false, 3, 0, false},
	{false, 2, 2, true},
	{false, 2, 4, false},
	{true, 1, 0, false},
	{true, 2, 0, false},
};

START_TEST(test_claim_against_one_that_stands_wins_by_rule)
{
	struct triad_collect_owner owner = {.number = 1,
		.n = 1,
		.is_draining = claims_for_lower_load[_i].is_draining};
	const struct triad_collect_claim claim = {.node_guid = 1000,
		.hops = claims_for_lower_load[_i].hops,
		.load = claims_for_lower_load[_i].load};
	struct bed bed;

	set_up_as(&bed, 0, false);
	set_nodes(&bed, 1, TRIAD_CLAIMS_UNREACHABLE);
	hear_claim(&bed, OTHER, 1, 0, 2, 3);
	hear(&bed, OTHER + 1, &owner, &claim);
	ck_assert_uint_eq(owner_of(&bed, 0), OTHER + claims_for_lower_load[_i].wins);
	ck_assert_uint_eq(triad_claims_counts(bed.claims).n_conflicts,
		!claims_for_lower_load[_i].wins);
	triad_claims_free(bed.claims);
}
END_TEST

/* Whoever is heard first; and each agent wins some. */
START_TEST(test_claim_of_equals_has_one_winner_in_any_order)
{
	struct bed one, two;
	unsigned n_other = 0;

	set_up_as(&one, 0, false);
	set_nodes(&one, 100, 1);
	set_up_as(&two, 0, false);
	set_nodes(&two, 100, 1);
	for (uint32_t i = 0; i < 100; i++) {
		hear_claim(&one, OTHER, i + 1, i, 2, 0);
		hear_claim(&one, OTHER + 1, i + 1, i, 2, 0);
		hear_claim(&two, OTHER + 1, i + 1, i, 2, 0);
		hear_claim(&two, OTHER, i + 1, i, 2, 0);
		ck_assert_uint_eq(owner_of(&one, i), owner_of(&two, i));
		n_other += owner_of(&one, i) == OTHER;
	}
	ck_assert_uint_gt(n_other, 25);
	ck_assert_uint_lt(n_other, 75);
	triad_claims_free(one.claims);
	triad_claims_free(two.claims);
}
END_TEST

START_TEST(test_claim_stated_anew_takes_the_old_ones_place)
{
	struct bed bed;
	uint8_t hops;

	set_up_as(&bed, 0, false);
	set_nodes(&bed, 1, 1);
	hear_claim(&bed, OTHER, 1, 0, 2, 0);
	hear_claim(&bed, OTHER, 2, 0, 5, 0);
	ck_assert_uint_eq(triad_claims_owner(bed.claims, 0, &hops), OTHER);
	ck_assert_uint_eq(hops, 5);
	hear_claim(&bed, OTHER + 1, 1, 0, 4, 0);
	ck_assert_uint_eq(owner_of(&bed, 0), OTHER + 1);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_claim_worse_than_own_has_own_repeated_seldom)
{
	struct bed bed;
	uint32_t number = 0;

	set_up_owner(&bed, 3);
	for (unsigned i = 0; i < 100; i++) {
		hear_claim(&bed, OTHER, ++number, 1, 3, 0);
		run(&bed, LIVENESS / 100);
	}
	ck_assert_uint_ge(bed.n_entries, 3);
	ck_assert_uint_le(bed.n_entries, 5);
	ck_assert_uint_eq(bed.said[0].first.node_guid, 1010);
	ck_assert_uint_eq(owner_of(&bed, 1), SELF);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_claim_better_than_own_is_given_way_to)
{
	struct bed bed;
	struct triad_collect_alive alive;

	set_up_owner(&bed, 3);
	hear_claim(&bed, OTHER, 1, 1, 1, 0);
	run(&bed, LIVENESS / 2);
	ck_assert_uint_eq(owner_of(&bed, 1), OTHER);
	ck_assert_uint_eq(bed.n_said, 0);
	ck_assert_uint_eq(triad_claims_counts(bed.claims).n_lost, 1);
	triad_claims_fill_alive(bed.claims, &alive);
	ck_assert_uint_eq(alive.n_nodes, 2);
	ck_assert_uint_eq(alive.n_announced, 2);
	triad_claims_free(bed.claims);
}
END_TEST

/* --- loads --- */

START_TEST(test_balance_takes_some_of_who_owns_much_more)
{
	struct triad_collect_claim entries[200];
	const struct triad_collect_owner owner = {.number = 1, .n = 200};
	struct bed bed;
	uint32_t n_before;

	for (unsigned i = 0; i < 200; i++)
		entries[i] = (struct triad_collect_claim){.node_guid = 1000 + 10 * i,
			.hops = 2,
			.load = triad_claims_load(i)};
	set_up(&bed, 200);
	hear(&bed, OTHER, &owner, entries);
	run(&bed, 4 * SLOT);
	ck_assert_uint_eq(look(&bed, SELF).n_nodes, 0);
	for (unsigned i = 0; i < 40; i++) {
		n_before = look(&bed, SELF).n_nodes;
		hear_alive(&bed, OTHER, 1);
		run(&bed, LIVENESS / 4);
		ck_assert_uint_le(look(&bed, SELF).n_nodes, n_before + 30);
	}
	/* One step apart is near enough. */
	ck_assert_uint_ge(look(&bed, SELF).n_nodes, 60);
	ck_assert_uint_le(look(&bed, SELF).n_nodes, 100);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_balance_leaves_those_nearer_to_their_owner)
{
	struct bed bed;

	set_up(&bed, 100);
	for (uint32_t i = 0; i < 100; i++)
		hear_claim(&bed, OTHER, i + 1, i, 1, 9);
	for (unsigned i = 0; i < 10; i++) {
		hear_alive(&bed, OTHER, 100);
		run(&bed, LIVENESS / 4);
	}
	ck_assert_uint_eq(look(&bed, OTHER).n_nodes, 100);
	triad_claims_free(bed.claims);
}
END_TEST

/* --- life and death --- */

START_TEST(test_agent_silent_for_a_liveness_time_is_dead_and_inherited)
{
	struct bed bed;

	set_up(&bed, 1);
	hear_claim(&bed, OTHER, 1, 0, 1, 0);
	run(&bed, LIVENESS);
	ck_assert_uint_eq(owner_of(&bed, 0), OTHER);
	ck_assert(triad_claims_is_alive(bed.claims, OTHER));
	run(&bed, 1);
	ck_assert_uint_eq(owner_of(&bed, 0), TRIAD_CLAIMS_NOBODY);
	ck_assert(!triad_claims_is_alive(bed.claims, OTHER));
	ck_assert_uint_eq(triad_claims_n_nobodys(bed.claims), 1);
	ck_assert_int_eq(look(&bed, OTHER).state, TRIAD_CLAIMS_DEAD);
	ck_assert_uint_eq(triad_claims_counts(bed.claims).n_deaths, 1);
	run(&bed, 2 * SLOT);
	ck_assert_uint_eq(owner_of(&bed, 0), SELF);
	triad_claims_free(bed.claims);
}
END_TEST

/* What it owned was given away in between: it is asked. */
START_TEST(test_agent_that_comes_back_is_asked_for_its_list)
{
	struct bed bed;

	set_up(&bed, 1);
	run(&bed, LIVENESS);
	hear_claim(&bed, OTHER, 1, 0, 1, 0);
	run(&bed, LIVENESS + 1);
	forget_said(&bed);
	hear_alive(&bed, OTHER, 1);
	ck_assert(look(&bed, OTHER).is_behind);
	run(&bed, SLOT);
	ck_assert_uint_eq(bed.n_asked, 1);
	ck_assert_uint_eq(bed.asked, OTHER);
	hear_list(&bed, OTHER, 1, 0, 1, 0, 1);
	ck_assert_uint_eq(owner_of(&bed, 0), OTHER);
	ck_assert(!look(&bed, OTHER).is_behind);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_incarnation_old_is_not_heard_and_new_owns_nothing)
{
	struct triad_collect_head head = head_of(OTHER);
	const struct triad_collect_alive alive = {.n_nodes = 0};
	const struct triad_collect_owner owner = {.number = 1, .n = 1};
	const struct triad_collect_claim claim = {.node_guid = 1000, .hops = 1};
	struct bed bed;

	set_up(&bed, 1);
	hear_claim(&bed, OTHER, 1, 0, 1, 0);
	head.incarnation = 8;
	triad_claims_hear_alive(bed.claims, &head, &alive, bed.now_us);
	ck_assert_uint_eq(owner_of(&bed, 0), TRIAD_CLAIMS_NOBODY);
	ck_assert_uint_eq(look(&bed, OTHER).incarnation, 8);
	hear_claim(&bed, OTHER, 2, 0, 1, 0);
	ck_assert_uint_eq(owner_of(&bed, 0), TRIAD_CLAIMS_NOBODY);
	triad_claims_hear_owner(bed.claims, &head, &owner, &claim, bed.now_us);
	ck_assert_uint_eq(owner_of(&bed, 0), OTHER);
	triad_claims_free(bed.claims);
}
END_TEST

static void wake_by_turn(struct bed *bed)
{
	turn(bed);
}

static void wake_by_alive(struct bed *bed)
{
	hear_alive(bed, OTHER, 0);
}

static void wake_by_question(struct bed *bed)
{
	const struct triad_collect_head head = head_of(OTHER);
	const struct triad_collect_who_owns who = {.wants_list = true};

	triad_claims_hear_who_owns(bed->claims, &head, &who, NULL, bed->now_us);
}

static void wake_by_fabric(struct bed *bed)
{
	set_nodes(bed, 4, 3);
}

static void wake_by_drain(struct bed *bed)
{
	triad_claims_drain(bed->claims, true, bed->now_us);
}

static void (*const wakes[])(struct bed *) = {
	wake_by_turn, wake_by_alive, wake_by_question, wake_by_fabric, wake_by_drain};

/* Whatever it hears of first, nothing is said of what it owned. */
START_TEST(test_nap_longer_than_liveness_begins_as_if_just_started)
{
	struct bed bed;

	set_up_owner(&bed, 3);
	bed.now_us += LIVENESS + 1;
	wakes[_i](&bed);
	turn(&bed);
	ck_assert_uint_eq(triad_claims_counts(bed.claims).n_naps, 1);
	ck_assert_uint_eq(look(&bed, SELF).n_nodes, 0);
	ck_assert_uint_eq(bed.n_entries, 0);
	ck_assert_uint_eq(bed.n_asked_all, 1);
	ck_assert_uint_ge(bed.n_said, 1);
	ck_assert(bed.said[0].owner.is_list);
	ck_assert_uint_eq(bed.said[0].owner.number, 3);
	ck_assert_uint_eq(bed.said[0].owner.n_nodes, 0);
	triad_claims_drain(bed.claims, false, bed.now_us);
	run(&bed, 6 * SLOT);
	ck_assert_uint_ge(look(&bed, SELF).n_nodes, 3);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_nap_as_long_as_liveness_is_none)
{
	struct bed bed;

	set_up_owner(&bed, 3);
	bed.now_us += LIVENESS;
	turn(&bed);
	ck_assert_uint_eq(triad_claims_counts(bed.claims).n_naps, 0);
	ck_assert_uint_eq(look(&bed, SELF).n_nodes, 3);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_drain_keeps_until_others_take_and_claims_nothing)
{
	struct bed bed;

	set_up_owner(&bed, 2);
	triad_claims_drain(bed.claims, true, bed.now_us);
	ck_assert_uint_eq(bed.n_said, 1);
	ck_assert(bed.said[0].owner.is_draining);
	ck_assert(!bed.said[0].owner.is_list);
	ck_assert_uint_eq(look(&bed, SELF).n_nodes, 2);
	hear_claim(&bed, OTHER, 1, 0, 9, 9);
	ck_assert_uint_eq(owner_of(&bed, 0), OTHER);
	set_nodes(&bed, 3, 2);
	run(&bed, 6 * SLOT);
	ck_assert_uint_eq(look(&bed, SELF).n_nodes, 1);
	ck_assert_uint_eq(owner_of(&bed, 2), TRIAD_CLAIMS_NOBODY);
	ck_assert_int_eq(look(&bed, SELF).state, TRIAD_CLAIMS_DRAINING);
	triad_claims_drain(bed.claims, false, bed.now_us);
	run(&bed, 3 * SLOT);
	ck_assert_uint_eq(look(&bed, SELF).n_nodes, 3);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_drain_of_another_lets_its_nodes_be_claimed)
{
	const struct triad_collect_head head = head_of(OTHER);
	const struct triad_collect_alive alive = {
		.is_draining = true, .n_announced = 1};
	struct bed bed;

	set_up(&bed, 1);
	hear_claim(&bed, OTHER, 1, 0, 1, 0);
	run(&bed, 6 * SLOT);
	ck_assert_uint_eq(owner_of(&bed, 0), OTHER);
	triad_claims_hear_alive(bed.claims, &head, &alive, bed.now_us);
	ck_assert_int_eq(look(&bed, OTHER).state, TRIAD_CLAIMS_DRAINING);
	run(&bed, 3 * SLOT);
	ck_assert_uint_eq(owner_of(&bed, 0), SELF);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_leave_says_that_nothing_is_owned)
{
	struct bed bed;

	set_up_owner(&bed, 2);
	triad_claims_leave(bed.claims, bed.now_us);
	ck_assert_uint_eq(bed.n_said, 1);
	ck_assert(bed.said[0].owner.is_list);
	ck_assert_uint_eq(bed.said[0].owner.n_nodes, 0);
	ck_assert_uint_eq(triad_claims_counts(bed.claims).n_given_up, 2);
	run(&bed, 10 * SLOT);
	ck_assert_uint_eq(look(&bed, SELF).n_nodes, 0);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_leave_of_another_frees_all_that_it_owned)
{
	const struct triad_collect_owner nothing = {.number = 3, .is_list = true};
	struct bed bed;

	set_up_as(&bed, 0, false);
	set_nodes(&bed, 2, 1);
	hear_claim(&bed, OTHER, 1, 0, 1, 0);
	hear_claim(&bed, OTHER, 2, 1, 1, 0);
	hear(&bed, OTHER, &nothing, NULL);
	ck_assert_uint_eq(triad_claims_n_nobodys(bed.claims), 2);
	ck_assert(!look(&bed, OTHER).is_behind);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_observer_claims_nothing_and_sees_all)
{
	struct bed bed;

	set_up_as(&bed, 0, false);
	set_nodes(&bed, 2, 0);
	hear_claim(&bed, OTHER, 1, 0, 1, 0);
	run(&bed, LIVENESS);
	ck_assert_uint_eq(owner_of(&bed, 0), OTHER);
	ck_assert_uint_eq(owner_of(&bed, 1), TRIAD_CLAIMS_NOBODY);
	ck_assert_uint_eq(bed.n_said, 0);
	ck_assert_uint_eq(bed.n_asked_all, 1);
	run(&bed, 1);
	ck_assert_uint_eq(owner_of(&bed, 0), TRIAD_CLAIMS_NOBODY);
	triad_claims_free(bed.claims);
}
END_TEST

/* --- what is missing --- */

START_TEST(test_gap_asks_for_the_list_and_not_too_often)
{
	struct bed bed;

	set_up(&bed, 2);
	run(&bed, LIVENESS);
	forget_said(&bed);
	hear_claim(&bed, OTHER, 1, 0, 1, 0);
	hear_claim(&bed, OTHER, 3, 1, 1, 0);
	ck_assert_uint_eq(owner_of(&bed, 1), OTHER);
	ck_assert_uint_eq(bed.n_asked, 0);
	run(&bed, SLOT);
	ck_assert_uint_eq(bed.n_asked, 1);
	for (unsigned i = 0; i < 10; i++) {
		hear_alive(&bed, OTHER, 4);
		run(&bed, LIVENESS / 40);
	}
	ck_assert_uint_le(bed.n_asked, 2);
	hear_list(&bed, OTHER, 4, 0, 1, 0, 1);
	ck_assert_uint_eq(owner_of(&bed, 0), OTHER);
	ck_assert_uint_eq(owner_of(&bed, 1), TRIAD_CLAIMS_NOBODY);
	forget_said(&bed);
	hear_alive(&bed, OTHER, 4);
	run(&bed, LIVENESS / 2);
	ck_assert_uint_eq(bed.n_asked, 0);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_gap_closed_by_a_late_message_asks_nobody)
{
	struct bed bed;

	set_up(&bed, 2);
	run(&bed, LIVENESS);
	hear_claim(&bed, OTHER, 1, 0, 1, 0);
	hear_alive(&bed, OTHER, 2);
	ck_assert(look(&bed, OTHER).is_behind);
	turn(&bed);
	hear_claim(&bed, OTHER, 2, 1, 1, 0);
	ck_assert(!look(&bed, OTHER).is_behind);
	run(&bed, LIVENESS / 2);
	ck_assert_uint_eq(bed.n_asked, 0);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_announcement_heard_twice_or_late_is_left)
{
	struct bed bed;

	set_up_as(&bed, 0, false);
	set_nodes(&bed, 1, 1);
	hear_claim(&bed, OTHER, 1, 0, 1, 0);
	hear_claim(&bed, OTHER, 2, 0, TRIAD_COLLECT_HOPS_GIVEN_UP, 0);
	ck_assert_uint_eq(owner_of(&bed, 0), TRIAD_CLAIMS_NOBODY);
	hear_claim(&bed, OTHER, 1, 0, 1, 0);
	ck_assert_uint_eq(owner_of(&bed, 0), TRIAD_CLAIMS_NOBODY);
	ck_assert(!look(&bed, OTHER).is_behind);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_list_in_parts_counts_when_all_are_here)
{
	struct bed bed;

	set_up(&bed, 6);
	run(&bed, LIVENESS);
	hear_claim(&bed, OTHER, 1, 5, 1, 0);
	hear_alive(&bed, OTHER, 3);
	turn(&bed);
	run(&bed, SLOT);
	ck_assert_uint_eq(bed.n_asked, 1);
	hear_list(&bed, OTHER, 3, 1, 2, 2, 4);
	hear_list(&bed, OTHER, 3, 1, 2, 2, 4);
	ck_assert(look(&bed, OTHER).is_behind);
	ck_assert_uint_eq(owner_of(&bed, 5), OTHER);
	hear_list(&bed, OTHER, 3, 0, 2, 0, 2);
	ck_assert(!look(&bed, OTHER).is_behind);
	ck_assert_uint_eq(owner_of(&bed, 5), TRIAD_CLAIMS_NOBODY);
	ck_assert_uint_eq(look(&bed, OTHER).n_nodes, 4);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_list_with_a_missing_part_is_asked_for_again)
{
	struct bed bed;

	set_up(&bed, 6);
	run(&bed, LIVENESS);
	hear_alive(&bed, OTHER, 3);
	run(&bed, SLOT);
	ck_assert_uint_eq(bed.n_asked, 1);
	hear_list(&bed, OTHER, 3, 0, 2, 0, 2);
	run(&bed, LIVENESS / 4);
	ck_assert_uint_eq(bed.n_asked, 2);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_list_that_nobody_asked_for_is_left)
{
	struct bed bed;

	set_up(&bed, 6);
	run(&bed, LIVENESS);
	hear_alive(&bed, OTHER, 0);
	hear_list(&bed, OTHER, 0, 0, 1, 0, 2);
	hear_list(&bed, OTHER, 9, 0, 0, 0, 0);
	ck_assert_uint_eq(look(&bed, OTHER).n_nodes, 0);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_list_with_hostile_parts_is_left)
{
	struct bed bed;

	set_up(&bed, 6);
	hear_list(&bed, OTHER, 0, 2, 2, 0, 2);
	hear_list(&bed, OTHER, 0, 0, 65, 0, 2);
	hear_list(&bed, OTHER, 0, 64, 65535, 0, 2);
	ck_assert_uint_eq(look(&bed, OTHER).n_nodes, 0);
	hear_list(&bed, OTHER, 0, 63, 64, 0, 2);
	ck_assert_uint_eq(look(&bed, OTHER).n_nodes, 2);
	triad_claims_free(bed.claims);
}
END_TEST

static void hear_digest(struct bed *bed, uint32_t n_announced, uint64_t digest)
{
	const struct triad_collect_head head = head_of(OTHER);
	const struct triad_collect_alive alive = {
		.n_announced = n_announced, .claims = digest};

	triad_claims_hear_alive(bed->claims, &head, &alive, bed->now_us);
}

START_TEST(test_digest_that_differs_for_long_asks_for_the_list_once)
{
	struct bed bed;

	set_up(&bed, 2);
	run(&bed, LIVENESS);
	hear_digest(&bed, 0, 77);
	run(&bed, LIVENESS / 4);
	ck_assert_uint_eq(bed.n_asked, 0);
	hear_digest(&bed, 0, 77);
	run(&bed, LIVENESS / 4);
	ck_assert_uint_eq(bed.n_asked, 1);
	hear_list(&bed, OTHER, 0, 0, 1, 0, 1);
	ck_assert_uint_eq(owner_of(&bed, 0), OTHER);
	for (unsigned i = 0; i < 12; i++) {
		hear_digest(&bed, 0, 77);
		run(&bed, LIVENESS / 4);
	}
	ck_assert_uint_eq(bed.n_asked, 1);
	set_nodes(&bed, 3, 2);
	for (unsigned i = 0; i < 2; i++) {
		hear_digest(&bed, 0, 77);
		run(&bed, LIVENESS / 4);
	}
	ck_assert_uint_eq(bed.n_asked, 2);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_digest_is_that_of_the_owner)
{
	struct triad_collect_alive alive;
	struct bed bed, watcher;

	set_up_owner(&bed, 3);
	set_up_as(&watcher, 0, false);
	set_nodes(&watcher, 3, 1);
	run(&watcher, LIVENESS);
	for (uint32_t i = 0; i < 3; i++)
		hear_claim(&watcher, OTHER, i + 1, i, 2, 0);
	triad_claims_fill_alive(bed.claims, &alive);
	ck_assert_uint_ne(alive.claims, 0);
	for (unsigned i = 0; i < 3; i++) {
		hear_digest(&watcher, 3, alive.claims);
		run(&watcher, LIVENESS / 4);
	}
	ck_assert_uint_eq(watcher.n_asked, 0);
	triad_claims_free(bed.claims);
	triad_claims_free(watcher.claims);
}
END_TEST

/* --- answers --- */

static void ask(struct bed *bed, const struct triad_collect_head *head,
	const uint64_t *asked, uint32_t n)
{
	const struct triad_collect_who_owns who = {.wants_list = !n, .n = n};

	triad_claims_hear_who_owns(bed->claims, head, &who, asked, bed->now_us);
}

START_TEST(test_who_owns_list_is_given_in_parts)
{
	const struct triad_collect_head head = head_of(OTHER);
	struct bed bed;

	set_up_owner(&bed, 9000);
	ask(&bed, &head, NULL, 0);
	ck_assert_uint_eq(bed.n_said, 3);
	ck_assert_uint_eq(bed.n_entries, 9000);
	for (unsigned i = 0; i < 3; i++) {
		const struct triad_collect_owner *owner = &bed.said[i].owner;

		ck_assert_uint_eq(bed.said[i].to, OTHER);
		ck_assert(owner->is_list);
		ck_assert_uint_eq(owner->part, i);
		ck_assert_uint_eq(owner->n_parts, 3);
		ck_assert_uint_eq(owner->n_nodes, 9000);
		ck_assert_uint_eq(owner->as_of, 4);
		ck_assert_uint_eq(owner->load, triad_claims_load(9000));
	}
	ck_assert_uint_eq(bed.said[2].owner.n, 9000 - 2 * 4096);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_who_owns_nodes_gives_own_ones_alone)
{
	const struct triad_collect_head head = head_of(OTHER);
	const uint64_t asked[] = {1010, 5, 1000, 1020, 9999};
	const uint64_t unknown[] = {1, 2};
	struct bed bed;

	set_up_owner(&bed, 3);
	hear_claim(&bed, OTHER, 1, 0, 1, 0);
	ask(&bed, &head, asked, 5);
	ck_assert_uint_eq(bed.n_said, 1);
	ck_assert_uint_eq(bed.n_entries, 2);
	ck_assert_uint_eq(bed.said[0].first.node_guid, 1010);
	ck_assert_uint_eq(bed.said[0].first.hops, 2);
	ck_assert(!bed.said[0].owner.is_list);
	ask(&bed, &head, unknown, 2);
	ck_assert_uint_eq(bed.n_said, 1);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_who_owns_of_oneself_or_without_end_is_not_answered)
{
	struct triad_collect_head head = head_of(SELF);
	const uint64_t asked[] = {1000};
	struct bed bed;

	set_up_owner(&bed, 1);
	ask(&bed, &head, asked, 1);
	ck_assert_uint_eq(bed.n_said, 0);
	/* The manager on the same host. */
	head.incarnation = 1;
	ask(&bed, &head, asked, 1);
	ck_assert_uint_eq(bed.n_said, 1);
	head.sender = 0;
	ask(&bed, &head, asked, 1);
	ck_assert_uint_eq(bed.n_said, 1);
	head.sender = OTHER;
	for (unsigned i = 0; i < 5000; i++) {
		bed.n_said = 0;
		ask(&bed, &head, asked, 1);
	}
	ck_assert_uint_eq(bed.n_entries, 512);
	run(&bed, LIVENESS / 4);
	ask(&bed, &head, asked, 1);
	ck_assert_uint_eq(bed.n_entries, 513);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_answer_to_a_question_is_a_claim_that_does_not_count)
{
	const struct triad_collect_owner answer = {.as_of = 1, .n = 1};
	const struct triad_collect_claim claim = {.node_guid = 1000, .hops = 1};
	struct bed bed;

	set_up(&bed, 1);
	hear_claim(&bed, OTHER, 1, 0, TRIAD_COLLECT_HOPS_GIVEN_UP, 0);
	hear(&bed, OTHER, &answer, &claim);
	ck_assert_uint_eq(owner_of(&bed, 0), OTHER);
	hear_claim(&bed, OTHER, 2, 0, TRIAD_COLLECT_HOPS_GIVEN_UP, 0);
	ck_assert_uint_eq(owner_of(&bed, 0), TRIAD_CLAIMS_NOBODY);
	/* From before it was given up. */
	hear(&bed, OTHER, &answer, &claim);
	ck_assert_uint_eq(owner_of(&bed, 0), TRIAD_CLAIMS_NOBODY);
	triad_claims_free(bed.claims);
}
END_TEST

/* --- fabrics --- */

START_TEST(test_fabric_new_keeps_owners_and_asks_for_what_came)
{
	struct bed bed;

	set_up(&bed, 4);
	hear_claim(&bed, OTHER, 1, 1, 2, 0);
	run(&bed, 6 * SLOT);
	forget_said(&bed);
	set_nodes(&bed, 7, 2);
	ck_assert_uint_eq(bed.n_asked_nodes, 3);
	ck_assert_uint_eq(bed.n_asked_all, 0);
	ck_assert_uint_eq(owner_of(&bed, 1), OTHER);
	ck_assert_uint_eq(owner_of(&bed, 3), SELF);
	ck_assert_uint_eq(owner_of(&bed, 4), TRIAD_CLAIMS_NOBODY);
	set_nodes(&bed, 1, 2);
	ck_assert_uint_eq(look(&bed, OTHER).n_nodes, 0);
	ck_assert_uint_eq(look(&bed, SELF).n_nodes, 1);
	set_nodes(&bed, 6000, 2);
	ck_assert_uint_eq(bed.n_asked_all, 1);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_fabric_with_other_distances_has_own_stated_anew)
{
	const uint64_t nodes[] = {1000, 1010, 1020};
	const uint8_t hops[] = {2, 4, TRIAD_CLAIMS_UNREACHABLE};
	struct bed bed;
	uint8_t stated;

	set_up_owner(&bed, 3);
	triad_claims_set_nodes(bed.claims, nodes, hops, 3, bed.now_us);
	ck_assert_uint_eq(bed.n_said, 1);
	ck_assert_uint_eq(bed.n_entries, 2);
	ck_assert_uint_eq(bed.said[0].first.node_guid, 1010);
	ck_assert_uint_eq(bed.said[0].first.hops, 4);
	triad_claims_owner(bed.claims, 1, &stated);
	ck_assert_uint_eq(stated, 4);
	ck_assert_uint_eq(owner_of(&bed, 2), TRIAD_CLAIMS_NOBODY);
	ck_assert_uint_eq(triad_claims_counts(bed.claims).n_given_up, 1);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_fabric_for_which_memory_is_short_changes_nothing)
{
	struct bed bed;

	set_up_owner(&bed, 3);
	for (unsigned i = 1;; i++) {
		int error;

		refuse(i);
		error = triad_claims_set_nodes(
			bed.claims, guids, all_at, 2, bed.now_us);
		if (!refused())
			break;
		ck_assert_int_eq(error, ENOMEM);
		ck_assert_uint_eq(look(&bed, SELF).n_nodes, 3);
	}
	ck_assert_uint_eq(look(&bed, SELF).n_nodes, 2);
	ck_assert_int_eq(triad_claims_set_nodes(
				 bed.claims, guids, all_at, UINT32_MAX, bed.now_us),
		ENOMEM);
	triad_claims_free(bed.claims);
}
END_TEST

/* --- hostile --- */

START_TEST(test_claim_nearer_than_the_fabric_allows_is_refused)
{
	struct bed bed;

	set_up_as(&bed, 0, true);
	bed.true_hops = 3;
	bed.unknown = 66;
	set_nodes(&bed, 1, 2);
	hear_claim(&bed, OTHER, 1, 0, 2, 0);
	ck_assert_uint_eq(owner_of(&bed, 0), TRIAD_CLAIMS_NOBODY);
	hear_claim(&bed, 66, 1, 0, 9, 0);
	ck_assert_uint_eq(owner_of(&bed, 0), TRIAD_CLAIMS_NOBODY);
	ck_assert_uint_eq(triad_claims_counts(bed.claims).n_refused, 2);
	hear_claim(&bed, OTHER, 2, 0, 3, 0);
	ck_assert_uint_eq(owner_of(&bed, 0), OTHER);
	triad_claims_free(bed.claims);
}
END_TEST

/* The fabric may have been the old one. */
START_TEST(test_agent_refused_is_asked_when_the_fabric_is_another)
{
	struct bed bed;

	set_up_as(&bed, SELF, true);
	bed.true_hops = 3;
	set_nodes(&bed, 1, 4);
	run(&bed, LIVENESS);
	hear_claim(&bed, OTHER, 1, 0, 2, 0);
	bed.true_hops = 2;
	set_nodes(&bed, 1, 3);
	run(&bed, SLOT);
	ck_assert_uint_eq(bed.n_asked, 1);
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_agent_beyond_the_cap_takes_a_dead_ones_place)
{
	struct triad_claims_agent agent;
	struct bed bed;
	unsigned n = 0;

	set_up(&bed, 1);
	for (uint64_t id = 100; id < 500; id++)
		hear_alive(&bed, id, 0);
	while (triad_claims_agent(bed.claims, n, &agent))
		n++;
	ck_assert_uint_eq(n, TRIAD_CLAIMS_MAX_AGENTS);
	ck_assert_uint_eq(triad_claims_counts(bed.claims).n_refused, 145);
	run(&bed, LIVENESS - MS);
	for (uint64_t id = 101; id < 300; id++)
		hear_alive(&bed, id, 0);
	run(&bed, 2 * MS);
	ck_assert(!triad_claims_is_alive(bed.claims, 100));
	hear_alive(&bed, 5, 0);
	ck_assert(triad_claims_is_alive(bed.claims, 5));
	ck_assert(triad_claims_agent(bed.claims, 0, &agent));
	ck_assert_uint_eq(agent.id, 5);
	for (unsigned i = 1; triad_claims_agent(bed.claims, i, &agent); i++) {
		uint64_t before = agent.id;

		if (triad_claims_agent(bed.claims, i + 1, &agent))
			ck_assert_uint_lt(before, agent.id);
	}
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_words_of_ones_own_or_a_manager_are_left)
{
	const struct triad_collect_head head = head_of(OTHER);
	const struct triad_collect_alive manager = {.is_manager = true};
	struct triad_claims_agent agent;
	struct bed bed;

	set_up(&bed, 1);
	hear_claim(&bed, SELF, 1, 0, 0, 0);
	hear_claim(&bed, 0, 1, 0, 0, 0);
	triad_claims_hear_alive(bed.claims, &head, &manager, bed.now_us);
	ck_assert_uint_eq(owner_of(&bed, 0), TRIAD_CLAIMS_NOBODY);
	ck_assert(triad_claims_agent(bed.claims, 0, &agent));
	ck_assert_uint_eq(agent.id, SELF);
	ck_assert(!triad_claims_agent(bed.claims, 1, &agent));
	triad_claims_free(bed.claims);
}
END_TEST

START_TEST(test_claims_octets_are_few)
{
	struct bed bed;
	size_t empty;

	set_up_as(&bed, SELF, false);
	empty = triad_claims_octets(bed.claims);
	ck_assert_uint_le(empty, 160 * 1024);
	set_nodes(&bed, 10000, 1);
	ck_assert_uint_le(triad_claims_octets(bed.claims) - empty, 24 * 10000);
	triad_claims_free(bed.claims);
}
END_TEST

static void add_waves(TCase *cases)
{
	tcase_add_test(cases, test_load_of_nodes_doubles_each_step);
	tcase_add_test(cases, test_start_asks_all_and_says_that_it_owns_nothing);
	tcase_add_test(cases, test_wave_alone_claims_hop_by_hop);
	tcase_add_test(cases, test_wave_stops_where_somebody_claimed);
	tcase_add_test(cases, test_wave_of_equals_goes_by_lot);
	tcase_add_test(cases, test_wave_nearer_takes_over);
	tcase_add_test(cases, test_wave_goes_on_while_the_fabric_changes);
	tcase_add_loop_test(cases, test_claim_against_one_that_stands_wins_by_rule, 0,
		sizeof(claims_for_lower_load) / sizeof(*claims_for_lower_load));
	tcase_add_test(cases, test_claim_of_equals_has_one_winner_in_any_order);
	tcase_add_test(cases, test_claim_stated_anew_takes_the_old_ones_place);
	tcase_add_test(cases, test_claim_worse_than_own_has_own_repeated_seldom);
	tcase_add_test(cases, test_claim_better_than_own_is_given_way_to);
	tcase_add_test(cases, test_balance_takes_some_of_who_owns_much_more);
	tcase_add_test(cases, test_balance_leaves_those_nearer_to_their_owner);
}

static void add_lives(TCase *cases)
{
	tcase_add_test(
		cases, test_agent_silent_for_a_liveness_time_is_dead_and_inherited);
	tcase_add_test(cases, test_agent_that_comes_back_is_asked_for_its_list);
	tcase_add_test(cases, test_incarnation_old_is_not_heard_and_new_owns_nothing);
	tcase_add_loop_test(cases,
		test_nap_longer_than_liveness_begins_as_if_just_started, 0,
		sizeof(wakes) / sizeof(*wakes));
	tcase_add_test(cases, test_nap_as_long_as_liveness_is_none);
	tcase_add_test(cases, test_drain_keeps_until_others_take_and_claims_nothing);
	tcase_add_test(cases, test_drain_of_another_lets_its_nodes_be_claimed);
	tcase_add_test(cases, test_leave_says_that_nothing_is_owned);
	tcase_add_test(cases, test_leave_of_another_frees_all_that_it_owned);
	tcase_add_test(cases, test_observer_claims_nothing_and_sees_all);
}

static void add_messages(TCase *cases)
{
	tcase_add_test(cases, test_gap_asks_for_the_list_and_not_too_often);
	tcase_add_test(cases, test_gap_closed_by_a_late_message_asks_nobody);
	tcase_add_test(cases, test_announcement_heard_twice_or_late_is_left);
	tcase_add_test(cases, test_list_in_parts_counts_when_all_are_here);
	tcase_add_test(cases, test_list_with_a_missing_part_is_asked_for_again);
	tcase_add_test(cases, test_list_that_nobody_asked_for_is_left);
	tcase_add_test(cases, test_list_with_hostile_parts_is_left);
	tcase_add_test(cases, test_digest_that_differs_for_long_asks_for_the_list_once);
	tcase_add_test(cases, test_digest_is_that_of_the_owner);
	tcase_add_test(cases, test_who_owns_list_is_given_in_parts);
	tcase_add_test(cases, test_who_owns_nodes_gives_own_ones_alone);
	tcase_add_test(cases, test_who_owns_of_oneself_or_without_end_is_not_answered);
	tcase_add_test(cases, test_answer_to_a_question_is_a_claim_that_does_not_count);
}

static void add_fabrics(TCase *cases)
{
	tcase_add_test(cases, test_fabric_new_keeps_owners_and_asks_for_what_came);
	tcase_add_test(cases, test_fabric_with_other_distances_has_own_stated_anew);
	tcase_add_test(cases, test_fabric_for_which_memory_is_short_changes_nothing);
	tcase_add_test(cases, test_claim_nearer_than_the_fabric_allows_is_refused);
	tcase_add_test(cases, test_agent_refused_is_asked_when_the_fabric_is_another);
	tcase_add_test(cases, test_agent_beyond_the_cap_takes_a_dead_ones_place);
	tcase_add_test(cases, test_words_of_ones_own_or_a_manager_are_left);
	tcase_add_test(cases, test_claims_octets_are_few);
}

int main(void)
{
	TCase *cases = tcase_create("claims");

	add_waves(cases);
	add_lives(cases);
	add_messages(cases);
	add_fabrics(cases);
	return run_cases(cases);
}
