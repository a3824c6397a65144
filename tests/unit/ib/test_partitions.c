/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The P_Keys that queries use: for one pair of tables at a time, and in sweeps of
 * simulated agents. */
#include "ib/partitions.h"

#include <stdlib.h>

#include "tests/random.h"
#include "tests/unit/perfmgr/fixture.h"

/* --- the choice --- */

static bool naive_meet(uint16_t a, uint16_t b)
{
	return (a & 0x7fff) && (a & 0x7fff) == (b & 0x7fff) && (a > b ? a : b) > 0x7fff;
}

/* Our first P_Key that matches one of theirs; preferably one of the default
 * partition. */
static uint16_t naive_choice(const uint16_t *ours, unsigned n_ours,
	const uint16_t *theirs, unsigned n_theirs)
{
	for (unsigned by_default = 2; by_default-- > 0;)
		for (unsigned i = 0; i < n_ours; i++)
			for (unsigned j = 0; j < n_theirs; j++)
				if (naive_meet(ours[i], theirs[j]) &&
					(!by_default || (ours[i] & 0x7fff) == 0x7fff))
					return (uint16_t)i;
	return TRIAD_PKEY_NONE;
}

START_TEST(test_choice_is_that_of_each_pair_of_tables_alone)
{
	uint64_t random = (uint64_t)time(NULL);
	uint64_t first = random;

	for (unsigned run = 0; run < 50; run++) {
		struct triad_fabric *one = fabric_partitioned(200, 12, ++random);
		uint16_t *indexes = calloc(one->n_ports, sizeof(*indexes));
		uint16_t ours[5];

		for (unsigned i = 0; i < 5; i++)
			ours[i] = (uint16_t)((random_next(&random) & 0x8000) |
				(i ? random_below(&random, 14) : 0x7fff));
		(void)triad_partitions_choose(one, ours, 5, indexes);
		for (uint32_t i = 0; i < one->n_ports; i++) {
			const struct triad_fabric_node *node =
				&one->nodes[one->ports[i].node];
			struct triad_fabric_slice table = one->ports[i].pkeys;

			if (node->type == TRIAD_NODE_SWITCH)
				continue; /* below */
			ck_assert_msg(indexes[i] ==
					naive_choice(ours, 5, one->pkeys + table.at,
						table.n),
				"seed %lu, run %u, port %u", (unsigned long)first, run,
				i);
		}
		free(indexes);
		triad_fabric_unref(one);
	}
}
END_TEST

START_TEST(test_node_is_apart_when_none_of_its_ports_can_be_asked)
{
	uint64_t random = (uint64_t)time(NULL);
	uint64_t first = random;

	for (unsigned run = 0; run < 50; run++) {
		struct triad_fabric *one = fabric_partitioned(200, 12, ++random);
		uint16_t ours[] = {0x8001, (uint16_t)random_below(&random, 14), 3};
		uint16_t *indexes = calloc(one->n_ports, sizeof(*indexes));
		bool *asked = calloc(one->n_nodes, 1),
		     *counts = calloc(one->n_nodes, 1);
		bool *marked = calloc(one->n_nodes, 1);
		uint32_t n = 0;

		for (uint32_t i = 0; i < one->n_ports; i++)
			one->ports[i].has_pma = random_below(&random, 4);
		(void)triad_partitions_choose(one, ours, 3, indexes);
		for (uint32_t i = 0; i < one->n_ports; i++) {
			counts[one->ports[i].node] |= one->ports[i].has_pma;
			asked[one->ports[i].node] |=
				one->ports[i].has_pma && indexes[i] != TRIAD_PKEY_NONE;
		}
		for (uint32_t i = 0; i < one->n_nodes; i++) {
			marked[i] = i % 8;
			n += i % 8 && counts[i] && !asked[i];
		}
		ck_assert_msg(n, "seed %lu", (unsigned long)first);
		ck_assert_uint_eq(
			triad_partitions_retain_apart(one, ours, 3, marked), n);
		for (uint32_t i = 0; i < one->n_nodes; i++)
			ck_assert_msg(marked[i] == (i % 8 && counts[i] && !asked[i]),
				"seed %lu, run %u, node %u", (unsigned long)first, run,
				i);
		free(indexes);
		free(asked);
		free(counts);
		free(marked);
		triad_fabric_unref(one);
	}
}
END_TEST

static struct triad_fabric *one_node(
	unsigned type, unsigned first, const uint16_t *pkeys, uint32_t n)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric_node node = {.guid = 9, .type = (uint8_t)type};
	struct triad_fabric *made;

	triad_fabric_builder_add_node(builder, &node, "", NULL, 0);
	for (unsigned i = first; i < 3; i++) {
		struct triad_fabric_port port = {
			.guid = 9, .number = (uint8_t)i, .lid = 1, .has_pma = i > 0};

		triad_fabric_builder_add_port(builder, &port, 0, 0);
		if (i == first && n)
			triad_fabric_builder_add_pkeys(builder, pkeys, n);
	}
	ck_assert_int_eq(triad_fabric_build(builder, 0, &made), 0);
	triad_fabric_builder_free(builder);
	return made;
}

static void check_one(struct triad_fabric *one, uint16_t first, uint16_t second,
	uint32_t n_apart, uint32_t n_guessed)
{
	static const uint16_t ours[] = {0x8005, 0x7fff};
	uint16_t indexes[3];
	struct triad_partitions_counts counts =
		triad_partitions_choose(one, ours, 2, indexes);

	ck_assert_uint_eq(indexes[one->n_ports - 2], first);
	ck_assert_uint_eq(indexes[one->n_ports - 1], second);
	ck_assert_uint_eq(counts.n_apart, n_apart);
	ck_assert_uint_eq(counts.n_guessed, n_guessed);
	triad_fabric_unref(one);
}

START_TEST(test_switch_is_asked_by_the_table_of_its_port_0)
{
	static const uint16_t in_five[] = {0x7fff, 5}, limited[] = {0x7fff};

	check_one(one_node(TRIAD_NODE_SWITCH, 0, in_five, 2), 0, 0, 0, 0);
	check_one(one_node(TRIAD_NODE_SWITCH, 0, limited, 1), TRIAD_PKEY_NONE,
		TRIAD_PKEY_NONE, 2, 0);
}
END_TEST

START_TEST(test_table_that_is_not_known_is_taken_for_the_default_partition)
{
	static const uint16_t limited[] = {0x7fff};

	check_one(one_node(TRIAD_NODE_SWITCH, 0, NULL, 0), 1, 1, 0, 2);
	/* tables of a switch's external ports don't apply to its port 0 */
	check_one(one_node(TRIAD_NODE_SWITCH, 1, limited, 1), 1, 1, 0, 2);
	check_one(one_node(TRIAD_NODE_CA, 1, limited, 1), TRIAD_PKEY_NONE, 1, 1, 1);
}
END_TEST

/* --- sweeps --- */

/* Our port's table, as the transport reports it, and for each LID the P_Key indexes of
 * the queries to it: bit i for index i. */
static uint16_t own[4];
static size_t n_own;
static uint8_t asked_with[65536];
static struct triad_mad_transport transport;

static size_t give_own(void *context, uint16_t *pkeys, size_t most)
{
	memcpy(pkeys, own, n_own * sizeof(*own));
	return n_own;
}

static int note_and_send(void *context, const struct triad_mad_address *to,
	const uint8_t *mad, unsigned timeout_ms)
{
	asked_with[to->lid] |= (uint8_t)(1u << to->pkey_index);
	return agents->transport.send(context, to, mad, timeout_ms);
}

/* Hosts are full members of the default partition and limited members of partition
 * 1. */
static struct triad_fabric *limit_hosts(void)
{
	struct triad_fabric *row = fabric_row(4, 10);

	for (uint32_t i = 0; i < row->n_ports; i++)
		if (row->ports[i].pkeys.n)
			row->pkeys[row->ports[i].pkeys.at + 1] = 0x0001;
	return row;
}

static void set_up_own(const uint16_t *pkeys, size_t n)
{
	set_up();
	transport = agents->transport;
	transport.send = note_and_send;
	transport.pkeys = give_own;
	triad_collector_set_transport(collector, &transport);
	memcpy(own, pkeys, n * sizeof(*own));
	n_own = n;
	memset(asked_with, 0, sizeof(asked_with));
	change_fabric(limit_hosts());
}

START_TEST(test_sweep_asks_each_port_by_both_tables)
{
	static const uint16_t pkeys[] = {0x8001, 0x7fff};

	set_up_own(pkeys, 2);
	sweep(1);
	check_totals();
	/* For hosts the default partition is preferred; switches' tables are
	 * unknown. */
	ck_assert_uint_eq(asked_with[1001], 1 << 1);
	ck_assert_uint_eq(asked_with[1], 1 << 1);
	tear_down();
}
END_TEST

START_TEST(test_ports_without_a_shared_partition_are_not_asked_until_there_is_one)
{
	static const uint16_t apart[] = {0x7fff, 0x0001}, meets[] = {0x7fff, 0x8001};
	struct triad_collector_status status;
	struct triad_view *view;

	set_up_own(apart, 2);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].pkeys.n)
			fabric->pkeys[fabric->ports[i].pkeys.at] = 0x7fff;
	status = sweep(3);
	ck_assert_uint_eq(status.partitions.n_apart, 40);
	ck_assert_uint_eq(status.last.n_ports, n_ports_with_pma() - 40);
	ck_assert_uint_eq(status.last.n_unanswered, 0);
	ck_assert_uint_eq(asked_with[1001], 0);
	view = triad_collector_view(collector);
	ck_assert(triad_view_is_apart(view, find_port(0x10001, 1)));
	ck_assert(!triad_view_is_asked(view, find_port(0x10001, 1)));
	triad_view_unref(view);

	memcpy(own, meets, sizeof(meets));
	triad_collector_set_fabric(collector, fabric);
	status = sweep(1);
	ck_assert_uint_eq(status.partitions.n_apart, 0);
	ck_assert_uint_eq(status.last.n_answered, n_ports_with_pma());
	ck_assert_uint_eq(asked_with[1001], 1 << 1);
	tear_down();
}
END_TEST

START_TEST(test_silent_agent_is_asked_at_once_when_the_partition_is_another)
{
	static const uint16_t before[] = {0xffff}, after[] = {0x8005, 0xffff};

	set_up_own(before, 1);
	agents->silent_lid = 1001;
	sweep(12); /* most sweeps leave the agent out by now */
	agents->silent_lid = 0;
	memset(asked_with, 0, sizeof(asked_with));
	memcpy(own, after, sizeof(after));
	n_own = 2;
	triad_collector_set_fabric(collector, fabric);
	sweep(1);
	ck_assert_uint_eq(asked_with[1001], 1 << 1);
	tear_down();
}
END_TEST

START_TEST(test_who_does_not_read_needs_no_partition)
{
	static const uint16_t apart[] = {0x0005};
	struct triad_view *view;

	set_up_own(apart, 1);
	triad_collector_adopt(collector);
	view = triad_collector_view(collector);
	ck_assert(triad_view_is_asked(view, find_port(0x10001, 1)));
	triad_view_unref(view);
	tear_down();
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("partitions");

	tcase_add_test(cases, test_choice_is_that_of_each_pair_of_tables_alone);
	tcase_add_test(cases, test_node_is_apart_when_none_of_its_ports_can_be_asked);
	tcase_add_test(cases, test_switch_is_asked_by_the_table_of_its_port_0);
	tcase_add_test(
		cases, test_table_that_is_not_known_is_taken_for_the_default_partition);
	tcase_add_test(cases, test_sweep_asks_each_port_by_both_tables);
	tcase_add_test(cases,
		test_ports_without_a_shared_partition_are_not_asked_until_there_is_one);
	tcase_add_test(cases,
		test_silent_agent_is_asked_at_once_when_the_partition_is_another);
	tcase_add_test(cases, test_who_does_not_read_needs_no_partition);
	return run_cases(cases);
}
