/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/changes.h"

#include <string.h>

#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"

/* Switch 0 and its host 3, and switch 2 at the end of the row: see
 * tests/sim/fabrics.h. */
#define SWITCH 0x200
#define LAST_SWITCH 0x202
#define HOST (0x10000 + 3)
#define N_HOSTS 4
#define MAX_TOLD 64

struct reported {
	enum triad_change change;
	uint64_t guid, far_guid;
	int port; /* -1: the node as a whole */
};

static struct triad_fabric *whole;
static struct reported reported[MAX_TOLD];
static unsigned n_reported;

static void take(void *context, enum triad_change change,
	const struct triad_fabric *fabric, uint32_t node, uint32_t port, uint64_t count)
{
	struct reported *at = &reported[n_reported++];
	uint32_t far = port == TRIAD_FABRIC_NONE ? port : fabric->ports[port].remote;

	ck_assert_uint_lt(n_reported, MAX_TOLD);
	*at = (struct reported){.change = change,
		.guid = fabric->nodes[node].guid,
		.port = port == TRIAD_FABRIC_NONE ? -1 : fabric->ports[port].number};
	if (far != TRIAD_FABRIC_NONE)
		at->far_guid = fabric->nodes[fabric->ports[far].node].guid;
}

static void compare(const struct triad_fabric *old, const struct triad_fabric *new)
{
	const struct triad_changes_sink sink = {.take = take};

	n_reported = 0;
	ck_assert_int_eq(triad_changes_report(old, new, &sink), 0);
}

static bool is_reported(enum triad_change change, uint64_t guid, int port, uint64_t far)
{
	for (unsigned i = 0; i < n_reported; i++)
		if (reported[i].change == change && reported[i].guid == guid &&
			reported[i].port == port && reported[i].far_guid == far)
			return true;
	return false;
}

static void set_up(void)
{
	whole = fabric_row(3, N_HOSTS);
}

static void tear_down(void)
{
	triad_fabric_unref(whole);
}

START_TEST(test_changes_same_fabric_nothing_reported)
{
	compare(whole, whole);
	ck_assert_uint_eq(n_reported, 0);
}
END_TEST

START_TEST(test_changes_cable_goes_and_comes_reported_once_each)
{
	struct triad_fabric *cut = fabric_without(whole, NULL, 0, SWITCH, 3);

	compare(whole, cut);
	ck_assert_uint_eq(n_reported, 1);
	ck_assert(is_reported(TRIAD_CHANGE_LINK_DOWN, SWITCH, 3, HOST));
	compare(cut, whole);
	ck_assert_uint_eq(n_reported, 1);
	ck_assert(is_reported(TRIAD_CHANGE_LINK_UP, SWITCH, 3, HOST));
	triad_fabric_unref(cut);
}
END_TEST

START_TEST(test_changes_host_reported_with_its_link_alone)
{
	const uint64_t gone = HOST;
	struct triad_fabric *without = fabric_without(whole, &gone, 1, 0, 0);

	compare(whole, without);
	ck_assert_uint_eq(n_reported, 1);
	ck_assert(is_reported(TRIAD_CHANGE_NODE_LEFT, HOST, 1, SWITCH));
	compare(without, whole);
	ck_assert_uint_eq(n_reported, 1);
	ck_assert(is_reported(TRIAD_CHANGE_NODE_CAME, HOST, 1, SWITCH));
	triad_fabric_unref(without);
}
END_TEST

/* When the last switch leaves with its hosts, each node is reported, and the one link
 * to the rest of the fabric. */
START_TEST(test_changes_switch_reported_with_links_to_what_stayed)
{
	uint64_t gone[N_HOSTS + 1];
	unsigned n = fabric_row_guids(2, 3, N_HOSTS, gone);
	struct triad_fabric *without = fabric_without(whole, gone, n, 0, 0);

	compare(whole, without);
	ck_assert_uint_eq(n_reported, n + 1);
	ck_assert(is_reported(TRIAD_CHANGE_NODE_LEFT, LAST_SWITCH, -1, 0));
	ck_assert(is_reported(
		TRIAD_CHANGE_LINK_DOWN, SWITCH + 1, N_HOSTS + 1, LAST_SWITCH));
	for (unsigned i = 0; i < n; i++)
		ck_assert(gone[i] == LAST_SWITCH ||
			is_reported(TRIAD_CHANGE_NODE_LEFT, gone[i], 1, LAST_SWITCH));
	compare(without, whole);
	ck_assert_uint_eq(n_reported, n + 1);
	ck_assert(is_reported(TRIAD_CHANGE_NODE_CAME, LAST_SWITCH, -1, 0));
	ck_assert(is_reported(
		TRIAD_CHANGE_LINK_UP, SWITCH + 1, N_HOSTS + 1, LAST_SWITCH));
	triad_fabric_unref(without);
}
END_TEST

/* Two switches are lost behind a dead cable; the link between them isn't reported. */
START_TEST(test_changes_part_reported_without_its_inner_links)
{
	uint64_t gone[2 * (N_HOSTS + 1)];
	unsigned n = fabric_row_guids(1, 3, N_HOSTS, gone);
	struct triad_fabric *without = fabric_without(whole, gone, n, 0, 0);

	compare(whole, without);
	ck_assert_uint_eq(n_reported, n + 1);
	compare(without, whole);
	ck_assert_uint_eq(n_reported, n + 1);
	ck_assert(is_reported(TRIAD_CHANGE_NODE_CAME, LAST_SWITCH, -1, 0));
	ck_assert(is_reported(TRIAD_CHANGE_LINK_UP, SWITCH, N_HOSTS + 1, SWITCH + 1));
	triad_fabric_unref(without);
}
END_TEST

/* Exchanges the far ends of two cables: hosts a and b of switch 0. */
static struct triad_fabric *exchange(uint8_t a, uint8_t b)
{
	struct triad_fabric *moved = fabric_row(3, N_HOSTS);
	uint32_t node = triad_fabric_find_node(moved, SWITCH);
	uint32_t port_a = triad_fabric_find_port(moved, node, a);
	uint32_t port_b = triad_fabric_find_port(moved, node, b);
	uint32_t far_a = moved->ports[port_a].remote;
	uint32_t far_b = moved->ports[port_b].remote;

	moved->ports[port_a].remote = far_b;
	moved->ports[far_b].remote = port_a;
	moved->ports[port_b].remote = far_a;
	moved->ports[far_a].remote = port_b;
	return moved;
}

START_TEST(test_changes_cables_exchanged_old_links_down_new_ones_up)
{
	struct triad_fabric *moved = exchange(2, 3);

	compare(whole, moved);
	ck_assert_uint_eq(n_reported, 4);
	ck_assert(is_reported(TRIAD_CHANGE_LINK_DOWN, SWITCH, 3, HOST));
	ck_assert(is_reported(TRIAD_CHANGE_LINK_DOWN, SWITCH, 2, HOST - 1));
	ck_assert(is_reported(TRIAD_CHANGE_LINK_UP, SWITCH, 2, HOST));
	ck_assert(is_reported(TRIAD_CHANGE_LINK_UP, SWITCH, 3, HOST - 1));
	triad_fabric_unref(moved);
}
END_TEST

/* The SA lacked a link of this port before; that it shows it now doesn't mean that the
 * link came up. */
START_TEST(test_changes_link_hidden_before_not_reported)
{
	struct triad_fabric *hidden = fabric_without(whole, NULL, 0, SWITCH, 3);
	uint32_t port = triad_fabric_find_port(
		hidden, triad_fabric_find_node(hidden, SWITCH), 3);

	hidden->n_hidden = 1;
	hidden->ports[port].state = TRIAD_PORT_ACTIVE;
	compare(hidden, whole);
	ck_assert_uint_eq(n_reported, 0);
	compare(whole, hidden);
	ck_assert_uint_eq(n_reported, 0);
	triad_fabric_unref(hidden);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("changes");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_changes_same_fabric_nothing_reported);
	tcase_add_test(tcase, test_changes_cable_goes_and_comes_reported_once_each);
	tcase_add_test(tcase, test_changes_host_reported_with_its_link_alone);
	tcase_add_test(tcase, test_changes_switch_reported_with_links_to_what_stayed);
	tcase_add_test(tcase, test_changes_part_reported_without_its_inner_links);
	tcase_add_test(tcase, test_changes_cables_exchanged_old_links_down_new_ones_up);
	tcase_add_test(tcase, test_changes_link_hidden_before_not_reported);
	return run_cases(tcase);
}
