/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/expected/placed.h"

#include <errno.h>
#include <glib.h>
#include <string.h>

#include "tests/unit/mentions.h"

static struct triad_diags mistakes, warnings;
static struct triad_fabric *fabric;
static struct triad_expected *expected;
static struct triad_placed *placed;

static void add(struct triad_fabric_builder *builder, uint64_t guid, const char *name,
	uint8_t type, unsigned n_ports)
{
	struct triad_fabric_node node = {
		.guid = guid, .type = type, .vendor_id = 0x2c9};

	triad_fabric_builder_add_node(builder, &node, name, NULL, 0);
	for (unsigned i = type != TRIAD_NODE_SWITCH; i <= n_ports; i++) {
		struct triad_fabric_port port = {
			.guid = guid + 0x10, .number = (uint8_t)i};

		triad_fabric_builder_add_port(builder, &port, 0, 0);
	}
}

/* Four switches with ports 0 to 4: 0x201 "leaf-01", 0x202 "leaf-02", 0x203 "twin" and
 * 0x204 "twin"; and a host. */
static void begin(void)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);

	add(builder, 0x204, "twin", TRIAD_NODE_SWITCH, 4);
	add(builder, 0x202, "leaf-02", TRIAD_NODE_SWITCH, 4);
	add(builder, 0x100, "host-0001", TRIAD_NODE_CA, 1);
	add(builder, 0x203, "twin", TRIAD_NODE_SWITCH, 4);
	add(builder, 0x201, "leaf-01", TRIAD_NODE_SWITCH, 4);
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
	triad_fabric_builder_free(builder);
	placed = NULL;
	expected = NULL;
}

static void end(void)
{
	triad_placed_free(placed);
	triad_expected_free(expected);
	triad_fabric_unref(fabric);
}

static void place(const char *rows)
{
	char *text = g_strconcat("generation 1\n", rows, NULL);

	triad_diags_init(&mistakes, "");
	triad_diags_init(&warnings, "");
	ck_assert_int_eq(
		triad_expected_parse(text, strlen(text), &mistakes, &expected), 0);
	ck_assert_int_eq(
		triad_placed_build(expected, fabric, &mistakes, &warnings, &placed), 0);
	g_free(text);
}

static uint32_t port_at(uint64_t guid, unsigned number)
{
	return triad_fabric_find_port(
		fabric, triad_fabric_find_node(fabric, guid), number);
}

static char *all_of(const struct triad_diags *diags)
{
	static char text[TRIAD_DIAG_MAX * TRIAD_DIAG_TEXT_SIZE * 2];
	char line[TRIAD_DIAG_TEXT_SIZE * 2];

	text[0] = '\0';
	for (size_t i = 0; i < diags->n; i++) {
		triad_diags_format(diags, i, line, sizeof(line));
		g_strlcat(text, line + 1, sizeof(text));
		g_strlcat(text, "\n", sizeof(text));
	}
	return text;
}

/* Checks that 'port_of' and 'row_of' are inverse to each other. */
static void check_inverse(void)
{
	for (uint32_t i = 0; i < placed->n_rows; i++)
		ck_assert(placed->port_of[i] == TRIAD_PLACED_NONE ||
			placed->row_of[placed->port_of[i]] == i);
	for (uint32_t i = 0; i < placed->n_ports; i++)
		ck_assert(placed->row_of[i] == TRIAD_PLACED_NONE ||
			placed->port_of[placed->row_of[i]] == i);
}

START_TEST(test_rows_by_guid_and_name_placed)
{
	place("leaf-02,4,enabled\n0x201,1,test\nleaf-01,2,disabled\n0x203,3,enabled\n");
	ck_assert_str_eq(all_of(&mistakes), "");
	ck_assert_str_eq(all_of(&warnings), "");
	ck_assert_uint_eq(placed->n_rows, 4);
	ck_assert_uint_eq(placed->n_ports, fabric->n_ports);
	ck_assert_uint_eq(placed->port_of[0], port_at(0x202, 4));
	ck_assert_uint_eq(placed->port_of[1], port_at(0x201, 1));
	ck_assert_uint_eq(placed->port_of[2], port_at(0x201, 2));
	ck_assert_uint_eq(placed->port_of[3], port_at(0x203, 3));
	ck_assert_uint_eq(placed->row_of[port_at(0x201, 3)], TRIAD_PLACED_NONE);
	ck_assert_uint_eq(placed->n_unknown, 0);
	check_inverse();
}
END_TEST

START_TEST(test_node_not_there_warned_once)
{
	place("leaf-09,1,enabled\nleaf-01,1,enabled\nleaf-09,2,enabled\n"
	      "0x999,1,enabled\n");
	ck_assert_str_eq(all_of(&mistakes), "");
	assert_mentions(all_of(&warnings),
		"2: leaf-09 fabric 2 lines\n"
		"5: 0x0000000000000999 fabric\n");
	ck_assert_uint_eq(placed->n_unknown, 3);
	ck_assert_uint_eq(placed->unknown[0], 0);
	ck_assert_uint_eq(placed->unknown[1], 2);
	ck_assert_uint_eq(placed->unknown[2], 3);
	ck_assert_uint_eq(placed->port_of[1], port_at(0x201, 1));
	check_inverse();
}
END_TEST

START_TEST(test_node_no_switch_or_several_or_no_port_refused)
{
	place("host-0001,1,enabled\n0x100,1,enabled\ntwin,1,enabled\ntwin,2,enabled\n"
	      "leaf-01,5,enabled\nleaf-01,4,enabled\n");
	assert_mentions(all_of(&mistakes),
		"2: host-0001 switch\n"
		"3: 0x0000000000000100 switch\n"
		"4: twin GUID 2 lines\n"
		"6: leaf-01 port 5 4\n");
	ck_assert_str_eq(all_of(&warnings), "");
	for (unsigned i = 0; i < 5; i++)
		ck_assert_uint_eq(placed->port_of[i], TRIAD_PLACED_NONE);
	ck_assert_uint_eq(placed->port_of[5], port_at(0x201, 4));
	ck_assert_uint_eq(placed->n_unknown, 0);
	check_inverse();
}
END_TEST

START_TEST(test_port_by_guid_and_by_name_refused)
{
	place("leaf-01,1,enabled\n0x201,1,enabled\nleaf-01,2,enabled\n");
	assert_mentions(all_of(&mistakes), "3: same line 2\n");
	ck_assert_uint_eq(placed->port_of[0], TRIAD_PLACED_NONE);
	ck_assert_uint_eq(placed->port_of[1], TRIAD_PLACED_NONE);
	ck_assert_uint_eq(placed->port_of[2], port_at(0x201, 2));
	check_inverse();
}
END_TEST

START_TEST(test_link_ends_named_in_two_ways_contradict_refused)
{
	place("leaf-01,1,enabled,node_guid=0x202;port=1\nleaf-02,1,disabled\n"
	      "leaf-01,2,enabled,name=leaf-02;port=2\n"
	      "0x202,2,enabled,node_guid=0x203;port=1\n"
	      "leaf-01,3,enabled,name=leaf-02;port=3\n"
	      "0x202,3,enabled,node_guid=0x201;port=3;vendor=0x2c9\n"
	      "leaf-01,4,enabled,name=leaf-02;port=4\n"
	      "0x202,4,enabled,vendor=0x111\n");
	ck_assert_str_eq(all_of(&mistakes),
		"2: leaf-01 port 1: leaf-02 port 1 is to be at its far end, and is "
		"disabled in line 3\n"
		"4: leaf-01 port 2: 0x0000000000000202 port 2 is to be at its far end, "
		"and line 5 has node_guid=0x0000000000000203;port=1 at the other end of "
		"that\n"
		"8: leaf-01 port 4: 0x0000000000000202 port 4 is to be at its far end, "
		"and line 9 has vendor=0x000111 at the other end of that\n");
	for (unsigned i = 0; i < 8; i++)
		ck_assert_int_eq(
			placed->port_of[i] != TRIAD_PLACED_NONE, i == 4 || i == 5);
	check_inverse();
}
END_TEST

START_TEST(test_plug_that_leads_back_by_other_name_placed)
{
	place("leaf-01,1,enabled,node_guid=0x201;port=1\n");
	ck_assert_str_eq(all_of(&mistakes), "");
	ck_assert_uint_eq(placed->port_of[0], port_at(0x201, 1));
}
END_TEST

START_TEST(test_findings_without_lists_dropped_the_same)
{
	triad_diags_init(&mistakes, "");
	ck_assert_int_eq(
		triad_expected_parse("generation 1\nhost-0001,1,test\nx,1,test",
			strlen("generation 1\nhost-0001,1,test\nx,1,test"), &mistakes,
			&expected),
		0);
	ck_assert_int_eq(triad_placed_build(expected, fabric, NULL, NULL, &placed), 0);
	ck_assert_uint_eq(placed->port_of[0], TRIAD_PLACED_NONE);
	ck_assert_uint_eq(placed->n_unknown, 1);
}
END_TEST

START_TEST(test_no_rows_placed)
{
	place("");
	ck_assert_uint_eq(placed->n_rows, 0);
	ck_assert_uint_eq(placed->row_of[0], TRIAD_PLACED_NONE);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("placed");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_rows_by_guid_and_name_placed);
	tcase_add_test(cases, test_node_not_there_warned_once);
	tcase_add_test(cases, test_node_no_switch_or_several_or_no_port_refused);
	tcase_add_test(cases, test_port_by_guid_and_by_name_refused);
	tcase_add_test(cases, test_link_ends_named_in_two_ways_contradict_refused);
	tcase_add_test(cases, test_plug_that_leads_back_by_other_name_placed);
	tcase_add_test(cases, test_findings_without_lists_dropped_the_same);
	tcase_add_test(cases, test_no_rows_placed);
	return run_cases(cases);
}
