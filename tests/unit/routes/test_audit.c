/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/audit.h"

#include <string.h>

#include "tests/random.h"
#include "tests/sim/routed.h"
#include "tests/unit/run.h"

#define MAX_FOUND 4096u

static struct routed routed;
static struct triad_fabric *fabric;
static struct triad_audit_entry found[MAX_FOUND];
static unsigned n_found;

static void add(void *context, const struct triad_audit_entry *entry)
{
	(void)context;
	ck_assert_uint_lt(n_found, MAX_FOUND);
	found[n_found++] = *entry;
}

/* Leaves 0 to 3, each with two hosts, and with spines 4 and 5. */
static void set_up(void)
{
	uint64_t seed = 1;

	routed_init(&routed, 6);
	for (unsigned leaf = 0; leaf < 4; leaf++)
		for (unsigned spine = 4; spine < 6; spine++)
			routed_link(&routed, leaf, spine);
	for (unsigned host = 0; host < 8; host++)
		routed_add_host(&routed, host / 2);
	routed_route(&routed, &seed);
	fabric = routed_fabric(&routed);
	n_found = 0;
}

static void tear_down(void)
{
	triad_fabric_unref(fabric);
}

static uint32_t node_of(unsigned sw)
{
	return triad_fabric_find_node(fabric, 0x1000 + 16 * sw);
}

/* Compares the tables of 'devices' block by block. */
static void audit_all(const struct routed *devices)
{
	uint8_t block[TRIAD_LFT_BLOCK_SIZE];

	for (unsigned sw = 0; sw < devices->n_switches; sw++)
		for (uint32_t i = 0; i < triad_audit_n_blocks(fabric, node_of(sw));
			i++) {
			memcpy(block, devices->lft[sw] + i * sizeof(block),
				sizeof(block));
			triad_audit_block(fabric, node_of(sw), i, block, add, NULL);
		}
}

START_TEST(test_tables_as_they_are_wanted_have_no_entry)
{
	audit_all(&routed);
	ck_assert_uint_eq(n_found, 0);
}
END_TEST

START_TEST(test_each_entry_that_differs_is_found)
{
	uint64_t seed = 20261128;

	for (unsigned round = 0; round < 200; round++) {
		struct routed devices = routed;
		unsigned n_flips = 0, n = 1 + random_below(&seed, 40);

		n_found = 0;
		for (unsigned i = 0; i < n; i++) {
			uint8_t *entry = &devices.lft[random_below(&seed, 6)]
						     [1 + random_below(&seed, 90)];

			*entry = (uint8_t)random_next(&seed);
		}
		audit_all(&devices);
		for (unsigned sw = 0; sw < 6; sw++)
			for (unsigned lid = 1; lid < fabric->nodes[node_of(sw)].lft.n;
				lid++)
				n_flips += devices.lft[sw][lid] != routed.lft[sw][lid];
		ck_assert_uint_eq(n_found, n_flips);
		for (unsigned i = 0; i < n_found; i++) {
			unsigned sw =
				(unsigned)(fabric->nodes[found[i].node].guid - 0x1000) /
				16;

			ck_assert_uint_eq(
				found[i].wanted, routed.lft[sw][found[i].lid]);
			ck_assert_uint_eq(
				found[i].found, devices.lft[sw][found[i].lid]);
		}
	}
}
END_TEST

START_TEST(test_what_the_sm_has_not_made_is_not_compared)
{
	struct routed devices = routed;
	uint32_t n = fabric->nodes[node_of(0)].lft.n;

	/* LID 0, and LIDs above the highest one: whatever is there. */
	devices.lft[0][0] = 77;
	if (n < ROUTED_LIDS)
		devices.lft[0][n] = 77;
	audit_all(&devices);
	ck_assert_uint_eq(n_found, 0);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[i].type != TRIAD_NODE_SWITCH)
			ck_assert_uint_eq(triad_audit_n_blocks(fabric, i), 0);
}
END_TEST

START_TEST(test_hosts_are_those_whose_route_leaves_by_the_switch)
{
	struct triad_routes_layout *layout;

	ck_assert_int_eq(triad_routes_layout_make(fabric, &layout), 0);
	for (unsigned to = 0; to < 8; to++)
		for (unsigned sw = 0; sw < 6; sw++) {
			unsigned n = 0;

			for (unsigned from = 0; from < 8; from++) {
				struct routed_walk walk;
				bool crosses = false;

				if (from == to)
					continue;
				walk = routed_walk(&routed, routed.host_switch[from],
					routed.host_port[from], routed_host_lid(to));
				for (unsigned i = 0; i < walk.n; i++)
					crosses |= walk.sw[i] == sw;
				n += crosses;
			}
			ck_assert_uint_eq(triad_audit_n_hosts(layout, node_of(sw),
						  (uint16_t)routed_host_lid(to)),
				n);
		}
	/* Nobody has this LID. */
	ck_assert_uint_eq(triad_audit_n_hosts(layout, node_of(0), 63), 0);
	triad_routes_layout_free(layout);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("audit");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_tables_as_they_are_wanted_have_no_entry);
	tcase_add_test(cases, test_each_entry_that_differs_is_found);
	tcase_add_test(cases, test_what_the_sm_has_not_made_is_not_compared);
	tcase_add_test(cases, test_hosts_are_those_whose_route_leaves_by_the_switch);
	return run_cases(cases);
}
