/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/fabric.h"

#include <errno.h>
#include <string.h>

#include "tests/heap.h"
#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"

START_TEST(test_build_row_links_both_ways)
{
	struct triad_fabric *fabric = fabric_row(3, 4);
	unsigned n_links = 0;

	ck_assert_uint_eq(fabric->n_nodes, 3 + 12);
	ck_assert_uint_eq(fabric->n_ports, 3 * 7 + 12);
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t remote = fabric->ports[i].remote;

		if (remote == TRIAD_FABRIC_NONE)
			continue;
		n_links++;
		ck_assert_uint_eq(fabric->ports[remote].remote, i);
	}
	ck_assert_uint_eq(n_links, 2 * (12 + 2));
	triad_fabric_unref(fabric);
}
END_TEST

START_TEST(test_lid_is_found_with_those_that_lmc_adds)
{
	struct triad_fabric *fabric = fabric_row(2, 1);
	uint32_t last = fabric->n_ports - 1;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].lid = 0;
	fabric->ports[last].lid = 0xbffc;
	fabric->ports[last].lmc = 2;
	ck_assert_uint_eq(triad_fabric_find_lid(fabric, 0xbffb), TRIAD_FABRIC_NONE);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(
			triad_fabric_find_lid(fabric, (uint16_t)(0xbffc + i)), last);
	ck_assert_uint_eq(triad_fabric_find_lid(fabric, 0xc000), TRIAD_FABRIC_NONE);
	/* Nobody has this one, whatever ports have no LID. */
	ck_assert_uint_eq(triad_fabric_find_lid(fabric, 0), TRIAD_FABRIC_NONE);
	triad_fabric_unref(fabric);
}
END_TEST

/* A builder allocates room for millions of items in advance.  A process that takes a
 * snapshot after each sweep must not keep that memory in its heap. */
START_TEST(test_build_again_and_again_heap_stays_small)
{
	struct triad_fabric *fabric = NULL;

	for (unsigned i = 0; i < 20; i++) {
		struct triad_fabric_builder *builder = triad_fabric_builder_new(fabric);
		const struct triad_fabric_node node = {
			.guid = i + 1, .type = TRIAD_NODE_CA};
		const struct triad_fabric_port port = {.number = 1, .guid = i + 2};
		struct triad_fabric *last = fabric;

		triad_fabric_builder_add_node(builder, &node, "", NULL, 0);
		triad_fabric_builder_prepare(builder);
		triad_fabric_builder_add_port(builder, &port, 0, 0);
		ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
		triad_fabric_builder_free(builder);
		triad_fabric_unref(last);
		ck_assert_uint_eq(fabric->nodes[0].guid, i + 1);
		ck_assert_uint_eq(fabric->ports[0].guid, i + 2);
		ck_assert_uint_lt(heap_size(), 4 << 20);
	}
	triad_fabric_unref(fabric);
}
END_TEST

START_TEST(test_build_any_order_sorted_by_guid)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	const uint64_t guids[] = {7, 3, 9, 1};
	struct triad_fabric *fabric;

	for (unsigned i = 0; i < 4; i++) {
		struct triad_fabric_node node = {
			.guid = guids[i], .type = TRIAD_NODE_CA};
		struct triad_fabric_port port = {.number = 1, .guid = guids[i] * 10};
		uint16_t pkeys[] = {0xffff, (uint16_t)guids[i]};

		/* Sometimes prepare the builder, as a snapshot does. */
		if (i % 2)
			triad_fabric_builder_prepare(builder);
		triad_fabric_builder_add_node(builder, &node, "", NULL, 0);
		/* 7-3 and 9-1 */
		triad_fabric_builder_add_port(builder, &port,
			guids[i] == 7           ? 3
				: guids[i] == 3 ? 7
				: guids[i] == 9 ? 1
						: 9,
			1);
		triad_fabric_builder_add_pkeys(builder, pkeys, 2);
	}
	ck_assert_int_eq(triad_fabric_build(builder, 90, &fabric), 0);
	triad_fabric_builder_free(builder);
	for (uint32_t i = 0; i < 4; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];

		ck_assert_uint_eq(port->node, i);
		ck_assert_uint_eq(port->guid, fabric->nodes[i].guid * 10);
		ck_assert_uint_eq(
			fabric->pkeys[port->pkeys.at + 1], fabric->nodes[i].guid);
		ck_assert_uint_eq(fabric->nodes[i].first_port, i);
	}
	ck_assert_uint_eq(fabric->nodes[0].guid, 1);
	ck_assert_uint_eq(fabric->ports[0].remote, 3);
	ck_assert_uint_eq(fabric->ports[1].remote, 2);
	ck_assert_uint_eq(fabric->sm_port, 3);
	triad_fabric_unref(fabric);
}
END_TEST

/* A node copied from another fabric doesn't bring its multicast tables with it. */
START_TEST(test_build_multicast_tables_stay_with_their_switch)
{
	static const uint16_t masks[3][4] = {
		{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *fabric;

	for (unsigned i = 0; i < 3; i++) {
		struct triad_fabric_node node = {.guid = 10 - i,
			.type = TRIAD_NODE_SWITCH,
			.mft = {.n = 77, .at = 99},
			.mft_width = 7,
			.mft_is_cut = true};

		triad_fabric_builder_add_node(builder, &node, "", NULL, 0);
		triad_fabric_builder_prepare(builder);
		if (i)
			triad_fabric_builder_add_mft(builder, masks[i], 4, 2, i == 2);
	}
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
	triad_fabric_builder_free(builder);
	for (unsigned i = 0; i < 3; i++) {
		const struct triad_fabric_node *node = &fabric->nodes[2 - i];

		ck_assert_uint_eq(node->guid, 10 - i);
		ck_assert_uint_eq(node->mft.n, i ? 4 : 0);
		ck_assert_uint_eq(node->mft_width, i ? 2 : 0);
		ck_assert(node->mft_is_cut == (i == 2));
		if (i)
			ck_assert_mem_eq(
				&fabric->mft[node->mft.at], masks[i], sizeof(masks[i]));
	}
	ck_assert_uint_ge(triad_fabric_octets(fabric), 8 * sizeof(uint16_t));
	triad_fabric_unref(fabric);
}
END_TEST

START_TEST(test_build_one_sided_link_dropped)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric_node a = {.guid = 1}, b = {.guid = 2};
	struct triad_fabric_port port = {.number = 1};
	struct triad_fabric *fabric;

	triad_fabric_builder_add_node(builder, &a, "a", NULL, 0);
	triad_fabric_builder_add_port(builder, &port, 2, 1);
	triad_fabric_builder_add_node(builder, &b, "b", NULL, 0);
	triad_fabric_builder_add_port(builder, &port, 0, 0);
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
	ck_assert_uint_eq(fabric->ports[0].remote, TRIAD_FABRIC_NONE);
	triad_fabric_builder_free(builder);
	triad_fabric_unref(fabric);
}
END_TEST

/* GUID 0 as the far end means that there is no link. */
START_TEST(test_build_link_of_node_without_guid_dropped)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric_node a = {.guid = 0}, b = {.guid = 2};
	struct triad_fabric_port port = {.number = 1};
	struct triad_fabric *fabric;

	triad_fabric_builder_add_node(builder, &a, "a", NULL, 0);
	triad_fabric_builder_add_port(builder, &port, 2, 1);
	triad_fabric_builder_add_node(builder, &b, "b", NULL, 0);
	triad_fabric_builder_add_port(builder, &port, 0, 1);
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
	ck_assert_uint_eq(fabric->ports[0].remote, TRIAD_FABRIC_NONE);
	ck_assert_uint_eq(fabric->ports[1].remote, TRIAD_FABRIC_NONE);
	triad_fabric_builder_free(builder);
	triad_fabric_unref(fabric);
}
END_TEST

START_TEST(test_build_guid_twice_refused)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric_node node = {.guid = 1};
	struct triad_fabric *fabric = NULL;

	triad_fabric_builder_add_node(builder, &node, "a", NULL, 0);
	triad_fabric_builder_add_node(builder, &node, "b", NULL, 0);
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), EINVAL);
	triad_fabric_builder_free(builder);
}
END_TEST

START_TEST(test_build_ports_out_of_order_refused)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric_node node = {.guid = 1};
	struct triad_fabric_port port = {.number = 2};
	struct triad_fabric *fabric = NULL;

	triad_fabric_builder_add_node(builder, &node, "a", NULL, 0);
	triad_fabric_builder_add_port(builder, &port, 0, 0);
	port.number = 1;
	triad_fabric_builder_add_port(builder, &port, 0, 0);
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), EINVAL);
	triad_fabric_builder_free(builder);
}
END_TEST

START_TEST(test_build_empty_fabric_works)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *fabric;

	ck_assert_int_eq(triad_fabric_build(builder, 5, &fabric), 0);
	ck_assert_uint_eq(fabric->sm_port, TRIAD_FABRIC_NONE);
	triad_fabric_builder_free(builder);
	triad_fabric_unref(fabric);
}
END_TEST

START_TEST(test_name_not_printable_replaced)
{
	static const struct {
		const char *given, *kept;
	} names[] = {
		{"Mellanox HCA-1", "Mellanox HCA-1"},
		{"a\tb\x1b[31m\x7f", "a?b?[31m?"},
		{"a\u202eb\u2066c\u2028\ufeff", "a???b???c??????"},
		{"caf\xc3\xa9", "caf\xc3\xa9"},
		{"\xc3(", "?("},
		{"\xed\xa0\x80x", "???x"},
		{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
		{"\xc2\x85", "??"},
		{"cut\xe2\x82", "cut??"},
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
		struct triad_fabric_node node = {.guid = 1};
		struct triad_fabric *fabric;

		triad_fabric_builder_add_node(builder, &node, names[i].given, NULL, 0);
		ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
		ck_assert_str_eq(fabric->nodes[0].name, names[i].kept);
		triad_fabric_builder_free(builder);
		triad_fabric_unref(fabric);
	}
}
END_TEST

START_TEST(test_name_too_long_cut)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric_node node = {.guid = 1};
	struct triad_fabric *fabric;
	char name[200];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	triad_fabric_builder_add_node(builder, &node, name, NULL, 0);
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
	ck_assert_uint_eq(strlen(fabric->nodes[0].name), 64);
	triad_fabric_builder_free(builder);
	triad_fabric_unref(fabric);
}
END_TEST

START_TEST(test_find_present_found_absent_none)
{
	struct triad_fabric *fabric = fabric_row(2, 2);
	uint32_t node = triad_fabric_find_node(fabric, 0x201);

	ck_assert_uint_ne(node, TRIAD_FABRIC_NONE);
	ck_assert_str_eq(fabric->nodes[node].name, "switch-1");
	ck_assert_uint_eq(
		fabric->ports[triad_fabric_find_port(fabric, node, 4)].number, 4);
	ck_assert_uint_eq(triad_fabric_find_port(fabric, node, 5), TRIAD_FABRIC_NONE);
	ck_assert_uint_eq(triad_fabric_find_node(fabric, 0x2ff), TRIAD_FABRIC_NONE);
	triad_fabric_unref(fabric);
}
END_TEST

/* Row: A14 */
START_TEST(test_pkey_match_cases)
{
	static const struct {
		uint16_t ours[4], theirs[4];
		int index;
	} cases[] = {
		{{0xffff}, {0xffff}, 0}, {{0x7fff}, {0xffff}, 0},
		{{0xffff}, {0x7fff}, 0}, {{0x7fff}, {0x7fff}, -1}, /* both limited */
		{{0x8001, 0xffff}, {0xffff, 0x8001}, 1}, /* the default one first */
		{{0x8001, 0x8002}, {0x8002}, 1}, {{0x8001}, {0x8002}, -1},
		{{0, 0x8005}, {0, 5}, 1},
		{{0x8000}, {0x8000}, -1}, /* partition 0 is invalid */
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_int_eq(triad_pkey_match(cases[i].ours, 4, cases[i].theirs, 4),
			cases[i].index);
}
END_TEST

/* Rates of a 4x link in Gb/s [IBA 14.2.5.6]. */
static const struct {
	uint8_t speed, speed_ext;
	double data, signal;
} rates[] = {
	{1, 0, 8, 10},
	{2, 0, 16, 20},
	{4, 0, 32, 40},
	{4, 1, 54.544, 56.25},
	{4, 2, 100, 103.125},
	{4, 4, 200, 212.5},
	{4, 8, 400, 425},
	{4, 32, 800, 850},
	{4, 16, 0, 0},
	{0, 0, 0, 0},
	{8, 0, 0, 0},
	{0, 64, 0, 0},
};

START_TEST(test_port_rates_of_each_speed)
{
	struct triad_fabric_port port = {
		.width = 2, .speed = rates[_i].speed, .speed_ext = rates[_i].speed_ext};

	ck_assert_double_eq((double)triad_fabric_port_bps(&port), rates[_i].data * 1e9);
	ck_assert_double_eq(
		(double)triad_fabric_port_signal_bps(&port), rates[_i].signal * 1e9);
	port.width = 3;
	ck_assert_uint_eq(triad_fabric_port_bps(&port), 0);
	ck_assert_uint_eq(triad_fabric_port_signal_bps(&port), 0);
}
END_TEST

/* Row: M15 */
START_TEST(test_hops_of_a_row_count_its_links)
{
	struct triad_fabric *fabric = fabric_row(4, 2);
	uint32_t hops[4 + 8], queue[4 + 8];
	uint32_t host = triad_fabric_find_node(fabric, 0x10000 + 256 + 1);
	uint32_t port = triad_fabric_find_port(fabric, host, 1);

	triad_fabric_hops(fabric, port, hops, queue);
	ck_assert_uint_eq(hops[host], 0);
	for (unsigned i = 0; i < 4; i++) {
		uint32_t node = triad_fabric_find_node(fabric, 0x200 + i);
		unsigned switches = i > 1 ? i - 1 : 1 - i;

		ck_assert_uint_eq(hops[node], 1 + switches);
		node = triad_fabric_find_node(fabric, 0x10000 + i * 256 + 2);
		ck_assert_uint_eq(hops[node], 2 + switches);
	}
	triad_fabric_unref(fabric);
}
END_TEST

/* A host is the only connection between two switches. */
START_TEST(test_hops_do_not_lead_through_a_host)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric_node host = {.guid = 1, .type = TRIAD_NODE_CA},
				 near = {.guid = 2, .type = TRIAD_NODE_SWITCH},
				 far = {.guid = 3, .type = TRIAD_NODE_SWITCH};
	struct triad_fabric_port one = {.number = 1}, two = {.number = 2};
	uint32_t hops[3], queue[3];
	struct triad_fabric *fabric;

	triad_fabric_builder_add_node(builder, &host, "host", NULL, 0);
	triad_fabric_builder_add_port(builder, &one, 2, 1);
	triad_fabric_builder_add_port(builder, &two, 3, 1);
	triad_fabric_builder_add_node(builder, &near, "near", NULL, 0);
	triad_fabric_builder_add_port(builder, &one, 1, 1);
	triad_fabric_builder_add_node(builder, &far, "far", NULL, 0);
	triad_fabric_builder_add_port(builder, &one, 1, 2);
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
	triad_fabric_builder_free(builder);
	triad_fabric_hops(fabric, 0, hops, queue);
	ck_assert_uint_eq(hops[1], 1);
	ck_assert_uint_eq(hops[2], TRIAD_FABRIC_NONE);
	triad_fabric_hops(fabric, 2, hops, queue);
	ck_assert_uint_eq(hops[0], 1);
	ck_assert_uint_eq(hops[2], TRIAD_FABRIC_NONE);
	triad_fabric_unref(fabric);
}
END_TEST

START_TEST(test_count_of_a_row)
{
	struct triad_fabric *fabric = fabric_row(3, 4);
	struct triad_fabric_counts counts = triad_fabric_count(fabric);

	ck_assert_uint_eq(counts.n_nodes, 15);
	ck_assert_uint_eq(counts.n_switches, 3);
	ck_assert_uint_eq(counts.n_ports, 3 * 7 + 12);
	ck_assert_uint_eq(counts.n_links, 12 + 2);
	triad_fabric_unref(fabric);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("fabric");

	tcase_add_test(cases, test_build_row_links_both_ways);
	tcase_add_test(cases, test_lid_is_found_with_those_that_lmc_adds);
	tcase_add_test(cases, test_build_again_and_again_heap_stays_small);
	tcase_add_test(cases, test_build_any_order_sorted_by_guid);
	tcase_add_test(cases, test_build_multicast_tables_stay_with_their_switch);
	tcase_add_test(cases, test_build_one_sided_link_dropped);
	tcase_add_test(cases, test_build_link_of_node_without_guid_dropped);
	tcase_add_test(cases, test_build_guid_twice_refused);
	tcase_add_test(cases, test_build_ports_out_of_order_refused);
	tcase_add_test(cases, test_build_empty_fabric_works);
	tcase_add_test(cases, test_name_not_printable_replaced);
	tcase_add_test(cases, test_name_too_long_cut);
	tcase_add_test(cases, test_find_present_found_absent_none);
	tcase_add_test(cases, test_pkey_match_cases);
	tcase_add_loop_test(cases, test_port_rates_of_each_speed, 0,
		(int)(sizeof(rates) / sizeof(rates[0])));
	tcase_add_test(cases, test_hops_of_a_row_count_its_links);
	tcase_add_test(cases, test_hops_do_not_lead_through_a_host);
	tcase_add_test(cases, test_count_of_a_row);
	return run_cases(cases);
}
