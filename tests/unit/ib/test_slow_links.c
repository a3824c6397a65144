/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/slow_links.h"

#include <stdlib.h>

#include "tests/unit/run.h"

#define N_LEAVES 4u
#define N_HOSTS 4u /* at each leaf */
#define N_SPINES 3u
#define N_CABLES 2u /* between each leaf and each spine */

#define N_LINKS (N_LEAVES * (N_HOSTS + N_SPINES * N_CABLES) + N_SPINES)

#define LEAF(i) (UINT64_C(0x100) + (i))
#define SPINE(i) (UINT64_C(0x200) + (i))
#define HOST(leaf, i) (UINT64_C(0x1000) + 0x100 * (leaf) + (i))

#define W_1X 1u
#define W_4X 2u

static struct triad_fabric *fabric;
static struct triad_slow_links *slow;

/* Of a port that runs at 4x EDR and supports no more. */
static void add_port(struct triad_fabric_builder *builder, unsigned number,
	uint64_t far_guid, unsigned far_number)
{
	struct triad_fabric_port port = {.guid = 1,
		.number = (uint8_t)number,
		.state = TRIAD_PORT_ACTIVE,
		.phys_state = TRIAD_PHYS_LINK_UP,
		.width = W_4X,
		.speed = 4,
		.speed_ext = 2,
		.width_supported = W_1X | W_4X,
		.speed_supported = 7,
		.speed_ext_supported = 3};

	triad_fabric_builder_add_port(builder, &port, far_guid, (uint8_t)far_number);
}

static void add_node(struct triad_fabric_builder *builder, uint64_t guid, unsigned type,
	const char *name)
{
	const struct triad_fabric_node node = {.guid = guid, .type = (uint8_t)type};

	triad_fabric_builder_add_node(builder, &node, name, NULL, 0);
}

/* Leaf i has hosts on ports 1 to 4, spines on ports 5 to 10; each spine has an aggregation
 * node behind its leaves. */
static void set_up(void)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);

	for (unsigned i = 0; i < N_LEAVES; i++) {
		add_node(builder, LEAF(i), TRIAD_NODE_SWITCH, "leaf");
		for (unsigned k = 0; k < N_HOSTS; k++)
			add_port(builder, 1 + k, HOST(i, k), 1);
		for (unsigned k = 0; k < N_SPINES * N_CABLES; k++)
			add_port(builder, 1 + N_HOSTS + k, SPINE(k / N_CABLES),
				1 + i * N_CABLES + k % N_CABLES);
		for (unsigned k = 0; k < N_HOSTS; k++) {
			add_node(builder, HOST(i, k), TRIAD_NODE_CA, "host");
			add_port(builder, 1, LEAF(i), 1 + k);
		}
	}
	for (unsigned i = 0; i < N_SPINES; i++) {
		add_node(builder, SPINE(i), TRIAD_NODE_SWITCH, "spine");
		for (unsigned k = 0; k < N_LEAVES * N_CABLES; k++)
			add_port(builder, 1 + k, LEAF(k / N_CABLES),
				1 + N_HOSTS + i * N_CABLES + k % N_CABLES);
		add_port(builder, 1 + N_LEAVES * N_CABLES, HOST(9, i), 1);
		add_node(builder, HOST(9, i), TRIAD_NODE_CA, "Aggregation Node");
		add_port(builder, 1, SPINE(i), 1 + N_LEAVES * N_CABLES);
	}
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
	triad_fabric_builder_free(builder);
	slow = NULL;
}

static void tear_down(void)
{
	free(slow);
	triad_fabric_unref(fabric);
}

static struct triad_fabric_port *port_of(uint64_t guid, unsigned number)
{
	uint32_t port = triad_fabric_find_port(
		fabric, triad_fabric_find_node(fabric, guid), number);

	ck_assert_uint_ne(port, TRIAD_FABRIC_NONE);
	return &fabric->ports[port];
}

/* Has the link at the port run at that width and speed (QDR or slower). */
static void run_at(uint64_t guid, unsigned number, unsigned width, unsigned speed)
{
	struct triad_fabric_port *port = port_of(guid, number);

	for (unsigned i = 0; i < 2; i++) {
		port->width = (uint8_t)width;
		port->speed = (uint8_t)speed;
		port->speed_ext = 0;
		port = &fabric->ports[port->remote];
	}
}

static void supports(struct triad_fabric_port *port, unsigned width, unsigned speed,
	unsigned speed_ext)
{
	port->width_supported = (uint8_t)width;
	port->speed_supported = (uint8_t)speed;
	port->speed_ext_supported = (uint8_t)speed_ext;
}

static void find(uint32_t n, uint32_t n_notes)
{
	free(slow);
	slow = triad_slow_links_find(fabric);
	ck_assert_ptr_nonnull(slow);
	ck_assert_uint_eq(slow->n, n);
	ck_assert_uint_eq(slow->n_notes, n_notes);
}

static void expect(
	uint32_t i, uint64_t guid, unsigned number, unsigned kind, bool is_note)
{
	const struct triad_slow_link *link = &slow->links[i];
	const struct triad_fabric_port *port = port_of(guid, number);
	uint32_t at = (uint32_t)(port - fabric->ports);

	ck_assert_uint_eq(link->port, port->remote < at ? port->remote : at);
	ck_assert_str_eq(
		triad_slow_link_kind_name(link->kind), triad_slow_link_kind_name(kind));
	ck_assert(link->is_note == is_note);
}

START_TEST(test_links_that_are_alike_are_not_slow)
{
	find(0, 0);
	/* Nor where all are below what their ends can. */
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].width_supported |= 8;
	find(N_LINKS, N_LINKS);
}
END_TEST

START_TEST(test_narrow_uplink_is_below_its_parallel_link)
{
	run_at(LEAF(1), 5, W_1X, 4);
	find(1, 0);
	expect(0, LEAF(1), 5, TRIAD_SLOW_BELOW_PARALLEL, false);
	ck_assert_double_eq_tol(slow->links[0].ratio, 8.0 / 100, 1e-9);
	ck_assert_int_eq(slow->links[0].expected.speed, TRIAD_SPEED_EDR);
	/* Also where the ends do not tell what they can. */
	supports(port_of(LEAF(1), 5), 0, 0, 0);
	find(1, 0);
}
END_TEST

START_TEST(test_bundle_of_slow_uplinks_is_below_those_elsewhere)
{
	run_at(LEAF(1), 5, W_4X, 4);
	run_at(LEAF(1), 6, W_4X, 4);
	/* The ports say that they can't more, but their switches' others do. */
	for (unsigned i = 5; i <= 6; i++)
		supports(port_of(LEAF(1), i), W_4X, 7, 0);
	find(2, 0);
	expect(0, LEAF(1), 5, TRIAD_SLOW_BELOW_ALIKE, false);
	expect(1, LEAF(1), 6, TRIAD_SLOW_BELOW_ALIKE, false);
}
END_TEST

START_TEST(test_old_spine_is_a_note)
{
	for (unsigned k = 1; k <= N_LEAVES * N_CABLES; k++) {
		run_at(SPINE(1), k, W_4X, 4);
		supports(port_of(SPINE(1), k), W_4X, 7, 0);
	}
	find(N_LEAVES * N_CABLES, N_LEAVES * N_CABLES);
	/* But not what is slower than it. */
	run_at(SPINE(1), 1, W_1X, 4);
	find(N_LEAVES * N_CABLES, N_LEAVES * N_CABLES - 1);
	expect(0, SPINE(1), 1, TRIAD_SLOW_BELOW_PARALLEL, false);
}
END_TEST

START_TEST(test_slow_host_is_a_fault_unless_its_port_cannot_do_better)
{
	run_at(HOST(2, 0), 1, W_4X, 4);
	find(1, 0);
	expect(0, HOST(2, 0), 1, TRIAD_SLOW_BELOW_ALIKE, false);
	supports(port_of(HOST(2, 0), 1), W_4X, 7, 0);
	find(1, 1);
	expect(0, HOST(2, 0), 1, TRIAD_SLOW_BELOW_ALIKE, true);
	/* What its port can is not known: neither is that it can't. */
	supports(port_of(HOST(2, 0), 1), 0, 0, 0);
	find(1, 0);
}
END_TEST

START_TEST(test_old_leaf_is_no_fault_but_its_slowest_host_is)
{
	for (unsigned k = 0; k < N_HOSTS; k++) {
		run_at(HOST(3, k), 1, W_4X, 4);
		supports(port_of(HOST(3, k), 1), W_4X | W_1X, 7, 0);
	}
	find(0, 0);
	run_at(HOST(3, 1), 1, W_1X, 4);
	find(1, 0);
	expect(0, HOST(3, 1), 1, TRIAD_SLOW_BELOW_ALIKE, false);
}
END_TEST

START_TEST(test_half_of_hosts_below_their_ends_are_faults)
{
	for (unsigned k = 0; k < N_HOSTS; k++) {
		run_at(HOST(0, k), 1, W_4X, 4);
		run_at(HOST(1, k), 1, W_4X, 4);
	}
	find(2 * N_HOSTS, 0);
	expect(0, HOST(0, 0), 1, TRIAD_SLOW_BELOW_ENDS, false);
}
END_TEST

START_TEST(test_aggregation_node_is_compared_with_its_ends_alone)
{
	struct triad_fabric_port *port = port_of(HOST(9, 0), 1);

	run_at(HOST(9, 0), 1, W_4X, 4);
	supports(port, W_4X, 7, 0);
	find(0, 0);
	supports(port, W_4X, 7, 2);
	find(1, 0);
	expect(0, HOST(9, 0), 1, TRIAD_SLOW_BELOW_ENDS, false);
}
END_TEST

START_TEST(test_rate_that_is_not_known_is_counted_and_not_judged)
{
	run_at(HOST(0, 0), 1, 0, 0);
	find(0, 0);
	ck_assert_uint_eq(slow->n_unknown, 1);
}
END_TEST

static void enables(struct triad_fabric_port *port, unsigned width, unsigned speed,
	unsigned speed_ext)
{
	port->width_enabled = (uint8_t)width;
	port->speed_enabled = (uint8_t)speed;
	port->speed_ext_enabled = (uint8_t)speed_ext;
}

START_TEST(test_link_that_is_set_to_no_more_is_a_note)
{
	struct triad_fabric_port *port = port_of(LEAF(2), 5);

	run_at(LEAF(2), 5, W_1X, 4);
	find(1, 0);
	ck_assert(!slow->links[0].is_limited);
	supports(port, W_4X | W_1X, 7, 7);
	enables(port, W_4X | W_1X, 7, 7);
	find(1, 0);
	/* Lanes that failed below what is enabled are a fault. */
	enables(port, W_1X, 7, 7);
	find(1, 0);
	enables(port, W_1X, 7, 0);
	find(1, 1);
	ck_assert(slow->links[0].is_limited);
	/* Nobody limited it: it supports no more. */
	supports(port, W_1X, 7, 0);
	find(1, 0);
	ck_assert(!slow->links[0].is_limited);
}
END_TEST

START_TEST(test_slow_links_are_sorted_by_ratio_and_notes_come_last)
{
	run_at(HOST(0, 0), 1, W_4X, 1);
	supports(port_of(HOST(0, 0), 1), W_4X, 1, 0);
	run_at(HOST(1, 1), 1, W_4X, 4);
	run_at(LEAF(2), 5, W_1X, 4);
	find(3, 1);
	expect(0, LEAF(2), 5, TRIAD_SLOW_BELOW_PARALLEL, false);
	expect(1, HOST(1, 1), 1, TRIAD_SLOW_BELOW_ALIKE, false);
	expect(2, HOST(0, 0), 1, TRIAD_SLOW_BELOW_ALIKE, true);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("slow_links");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_links_that_are_alike_are_not_slow);
	tcase_add_test(cases, test_narrow_uplink_is_below_its_parallel_link);
	tcase_add_test(cases, test_bundle_of_slow_uplinks_is_below_those_elsewhere);
	tcase_add_test(cases, test_old_spine_is_a_note);
	tcase_add_test(
		cases, test_slow_host_is_a_fault_unless_its_port_cannot_do_better);
	tcase_add_test(cases, test_old_leaf_is_no_fault_but_its_slowest_host_is);
	tcase_add_test(cases, test_half_of_hosts_below_their_ends_are_faults);
	tcase_add_test(cases, test_aggregation_node_is_compared_with_its_ends_alone);
	tcase_add_test(cases, test_rate_that_is_not_known_is_counted_and_not_judged);
	tcase_add_test(cases, test_link_that_is_set_to_no_more_is_a_note);
	tcase_add_test(cases, test_slow_links_are_sorted_by_ratio_and_notes_come_last);
	return run_cases(cases);
}
