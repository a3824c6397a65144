/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/losses.h"

#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"

#define MAX_LOSSES 64

static struct triad_fabric *old;
static struct triad_loss losses[MAX_LOSSES];
static unsigned n_losses;

static void set_up(void)
{
	old = fabric_row(4, 10);
	n_losses = 0;
}

static void tear_down(void)
{
	triad_fabric_unref(old);
}

static void take(void *context, const struct triad_loss *loss)
{
	ck_assert_uint_lt(n_losses, MAX_LOSSES);
	losses[n_losses++] = *loss;
}

/* Finds the losses between 'old' and 'new', and releases 'new'. */
static void find(struct triad_fabric *new)
{
	uint32_t new_port[4096];

	triad_losses_match_ports(old, new, new_port);
	ck_assert_int_eq(triad_losses_find(old, new, new_port, take, NULL), 0);
	triad_fabric_unref(new);
}

static void check_port(uint32_t port, uint64_t guid, unsigned number)
{
	ck_assert_uint_eq(old->nodes[old->ports[port].node].guid, guid);
	ck_assert_uint_eq(old->ports[port].number, number);
}

START_TEST(test_same_fabric_lost_nothing)
{
	find(fabric_row(4, 10));
	ck_assert_uint_eq(n_losses, 0);
}
END_TEST

START_TEST(test_cut_host_is_one_loss_at_its_switch)
{
	uint64_t gone = 0x10000 + 256 + 3;

	find(fabric_without(old, &gone, 1, 0, 0));
	ck_assert_uint_eq(n_losses, 1);
	ck_assert(losses[0].nodes_gone);
	ck_assert_uint_eq(losses[0].n_nodes, 1);
	ck_assert_uint_eq(losses[0].n_links, 1);
	check_port(losses[0].near, 0x201, 3);
	check_port(losses[0].far, gone, 1);
}
END_TEST

/* Without the cable between switches 1 and 2 half of the fabric is lost. */
START_TEST(test_cut_row_is_one_loss)
{
	uint64_t gone[22];
	unsigned n = fabric_row_guids(2, 4, 10, gone);

	find(fabric_without(old, gone, n, 0, 0));
	ck_assert_uint_eq(n_losses, 1);
	ck_assert_uint_eq(losses[0].n_nodes, 22);
	ck_assert_uint_eq(losses[0].n_links, 1);
	check_port(losses[0].near, 0x201, 11);
	check_port(losses[0].far, 0x202, 12);
}
END_TEST

/* A switch dies, but its hosts stay in the fabric.  All its links together are one
 * loss. */
START_TEST(test_dead_switch_with_many_links_is_one_loss)
{
	uint64_t gone = 0x201;

	find(fabric_without(old, &gone, 1, 0, 0));
	ck_assert_uint_eq(n_losses, 1);
	ck_assert_uint_eq(losses[0].n_nodes, 1);
	ck_assert_uint_eq(losses[0].n_links, 12);
}
END_TEST

START_TEST(test_two_parts_are_two_losses)
{
	uint64_t gone[] = {0x10000 + 1, 0x10000 + 3 * 256 + 2};

	find(fabric_without(old, gone, 2, 0, 0));
	ck_assert_uint_eq(n_losses, 2);
}
END_TEST

START_TEST(test_cut_link_with_both_nodes_there_is_one_loss)
{
	find(fabric_without(old, NULL, 0, 0x201, 11));
	ck_assert_uint_eq(n_losses, 1);
	ck_assert(!losses[0].nodes_gone);
	ck_assert_uint_eq(losses[0].n_links, 1);
}
END_TEST

/* The SA may lack a node although the port that leads to it is up. */
static struct triad_fabric *hide(struct triad_fabric *new, uint64_t guid, unsigned port)
{
	uint32_t node = triad_fabric_find_node(new, guid);
	uint32_t at = triad_fabric_find_port(new, node, port);

	for (uint32_t i = 0; i < new->n_ports; i++)
		if (new->ports[i].remote == TRIAD_FABRIC_NONE)
			new->ports[i].state = TRIAD_PORT_DOWN;
	new->ports[at].state = TRIAD_PORT_ACTIVE;
	new->n_hidden = 1;
	return new;
}

START_TEST(test_what_became_invisible_is_no_loss)
{
	uint64_t gone[22], hidden = 0x10000 + 256 + 3;
	unsigned n = fabric_row_guids(2, 4, 10, gone);

	find(hide(fabric_without(old, &hidden, 1, 0, 0), 0x201, 3));
	ck_assert_uint_eq(n_losses, 0);
	find(hide(fabric_without(old, gone, n, 0, 0), 0x201, 11));
	ck_assert_uint_eq(n_losses, 0);
	find(hide(fabric_without(old, NULL, 0, 0x201, 11), 0x201, 11));
	ck_assert_uint_eq(n_losses, 0);
}
END_TEST

START_TEST(test_what_is_gone_is_a_loss_where_other_things_are_invisible)
{
	uint64_t gone[] = {0x10000 + 256 + 3, 0x10000 + 5};

	find(hide(fabric_without(old, gone, 2, 0, 0), 0x201, 3));
	ck_assert_uint_eq(n_losses, 1);
	check_port(losses[0].near, 0x200, 5);
}
END_TEST

START_TEST(test_part_without_links_to_what_stayed_may_be_invisible)
{
	uint64_t gone[44];
	unsigned n = fabric_row_guids(0, 4, 10, gone);
	struct triad_fabric *new = fabric_without(old, gone, n, 0, 0);

	new->n_hidden = 1;
	find(new);
	ck_assert_uint_eq(n_losses, 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("losses");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_same_fabric_lost_nothing);
	tcase_add_test(cases, test_cut_host_is_one_loss_at_its_switch);
	tcase_add_test(cases, test_cut_row_is_one_loss);
	tcase_add_test(cases, test_dead_switch_with_many_links_is_one_loss);
	tcase_add_test(cases, test_two_parts_are_two_losses);
	tcase_add_test(cases, test_cut_link_with_both_nodes_there_is_one_loss);
	tcase_add_test(cases, test_what_became_invisible_is_no_loss);
	tcase_add_test(
		cases, test_what_is_gone_is_a_loss_where_other_things_are_invisible);
	tcase_add_test(cases, test_part_without_links_to_what_stayed_may_be_invisible);
	return run_cases(cases);
}
