/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/node_label.h"

#include <string.h>

#include "ib/node_choice.h"
#include "tests/unit/mentions.h"

static const struct {
	const char *name;
	uint64_t guid;
} nodes[] = {
	{"Quantum-2 Mellanox Technologies", 0x0002c9f17809a500},
	{"Quantum-2 Mellanox Technologies", 0x0002c9f17809a540},
	{"Quantum-2 Mellanox Technologies", 0x0002c96b70f111c0},
	{"cn01 HCA-1", 0x10000000000001},
	{"cn01 HCA-1", 0x20000000000001}, /* the same last digits */
	{"cn01 HCA-1", 0x300000000000f1},
	{"", 0xabcdef},
	{" cn02 HCA-1 ", 0x40},
	{"cn03 HCA-1", 0x41},
};
#define N (sizeof(nodes) / sizeof(*nodes))

static struct triad_fabric *fabric;

static void set_up(void)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);

	for (unsigned i = 0; i < N; i++) {
		struct triad_fabric_node node = {
			.guid = nodes[i].guid, .type = TRIAD_NODE_CA};
		struct triad_fabric_port port = {.number = 1,
			.guid = nodes[i].guid + 0x100,
			.lid = (uint16_t)(i + 1)};

		triad_fabric_builder_add_node(builder, &node, nodes[i].name, NULL, 0);
		triad_fabric_builder_add_port(builder, &port, 0, 0);
	}
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
	triad_fabric_builder_free(builder);
}

static void tear_down(void)
{
	triad_fabric_unref(fabric);
}

static struct triad_node_label label_at(uint64_t guid)
{
	return triad_node_label(&fabric->nodes[triad_fabric_find_node(fabric, guid)]);
}

START_TEST(test_label_of_a_name_that_is_not_unique_ends_with_the_guid)
{
	ck_assert_str_eq(
		label_at(nodes[0].guid).text, "Quantum-2 Mellanox Technologies#09a500");
	ck_assert_str_eq(
		label_at(nodes[1].guid).text, "Quantum-2 Mellanox Technologies#09a540");
	ck_assert_str_eq(
		label_at(nodes[2].guid).text, "Quantum-2 Mellanox Technologies#f111c0");
}
END_TEST

START_TEST(test_label_of_a_unique_name_is_the_name)
{
	ck_assert_str_eq(label_at(0x41).text, "cn03 HCA-1");
}
END_TEST

START_TEST(test_label_has_all_digits_where_six_are_not_enough)
{
	ck_assert_str_eq(label_at(nodes[3].guid).text, "cn01 HCA-1#0010000000000001");
	ck_assert_str_eq(label_at(nodes[4].guid).text, "cn01 HCA-1#0020000000000001");
	ck_assert_str_eq(label_at(nodes[5].guid).text, "cn01 HCA-1#0000f1");
}
END_TEST

START_TEST(test_label_of_no_name_is_digits)
{
	ck_assert_str_eq(label_at(0xabcdef).text, "#abcdef");
}
END_TEST

START_TEST(test_name_has_no_blanks_at_its_ends)
{
	ck_assert_str_eq(label_at(0x40).text, "cn02 HCA-1");
	ck_assert_uint_eq(triad_node_choice_make("cn02 HCA-1", fabric, 0).guid, 0x40);
}
END_TEST

START_TEST(test_label_of_a_node_that_left_is_marked_if_its_name_is_there)
{
	ck_assert_str_eq(triad_node_label_of(fabric, 0x55, "cn03 HCA-1").text,
		"cn03 HCA-1#000055");
	ck_assert_str_eq(
		triad_node_label_of(fabric, 0x55, "cn04 HCA-1").text, "cn04 HCA-1");
	ck_assert_str_eq(
		triad_node_label_of(NULL, 0x55, "cn03 HCA-1").text, "cn03 HCA-1");
	ck_assert_str_eq(
		triad_node_label_of(fabric, 0x41, "cn03 HCA-1").text, "cn03 HCA-1");
	/* The digits of one that is there would not tell them apart. */
	ck_assert_str_eq(
		triad_node_label_of(fabric, 0x7000000000041, "cn03 HCA-1").text,
		"cn03 HCA-1#0007000000000041");
}
END_TEST

START_TEST(test_each_label_can_be_typed)
{
	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		struct triad_node_label label = triad_node_label(&fabric->nodes[i]);
		struct triad_node_choice choice =
			triad_node_choice_make(label.text, fabric, 0);

		ck_assert_msg(choice.n == 1 && choice.first == i, "%s", label.text);
		ck_assert_uint_eq(choice.guid, fabric->nodes[i].guid);
	}
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		struct triad_port_label label = triad_port_label(fabric, i);
		struct triad_node_choice choice =
			triad_node_choice_make(label.text, fabric, 0);

		ck_assert_msg(choice.n == 1 && choice.port == 1 &&
				choice.first == fabric->ports[i].node,
			"%s", label.text);
	}
}
END_TEST

START_TEST(test_label_of_a_node_that_left_chooses_it_in_the_past)
{
	struct triad_node_choice choice =
		triad_node_choice_make("cn03 HCA-1#000055", fabric, 0);

	ck_assert_uint_eq(choice.n, 0);
	ck_assert(triad_node_choice_has(&choice, "cn03 HCA-1", 0x55));
	ck_assert(!triad_node_choice_has(&choice, "cn03 HCA-1", 0x41));
	ck_assert(!triad_node_choice_has(&choice, "cn05 HCA-1", 0x55));
}
END_TEST

START_TEST(test_label_with_too_few_or_shared_digits_chooses_none)
{
	ck_assert_uint_eq(triad_node_choice_make("cn01 HCA-1#0f1", fabric, 0).n, 0);
	ck_assert_uint_eq(triad_node_choice_make("cn01 HCA-1#00f1", fabric, 0).n, 1);
	ck_assert_uint_eq(triad_node_choice_make("cn01 HCA-1#000001", fabric, 0).n, 0);
	ck_assert_uint_eq(triad_node_choice_make(
				  "Quantum-2 Mellanox Technologies#09A540", fabric, 0)
				  .n,
		1);
}
END_TEST

START_TEST(test_choice_of_several_lists_their_labels)
{
	struct triad_node_choice choice =
		triad_node_choice_make("Quantum-2 Mellanox Technologies", fabric, 0);
	char reason[1000];

	ck_assert_uint_eq(choice.n, 3);
	triad_node_choice_explain(&choice, fabric, reason, sizeof(reason));
	assert_line_with(reason, "GUID");
	ck_assert_ptr_nonnull(strstr(reason, "Technologies#f111c0"));
	ck_assert_ptr_nonnull(strstr(reason, "Technologies#09a500"));
	ck_assert_ptr_nonnull(strstr(reason, "Technologies#09a540"));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("node_label");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(
		cases, test_label_of_a_name_that_is_not_unique_ends_with_the_guid);
	tcase_add_test(cases, test_label_of_a_unique_name_is_the_name);
	tcase_add_test(cases, test_label_has_all_digits_where_six_are_not_enough);
	tcase_add_test(cases, test_label_of_no_name_is_digits);
	tcase_add_test(cases, test_name_has_no_blanks_at_its_ends);
	tcase_add_test(
		cases, test_label_of_a_node_that_left_is_marked_if_its_name_is_there);
	tcase_add_test(cases, test_each_label_can_be_typed);
	tcase_add_test(cases, test_label_of_a_node_that_left_chooses_it_in_the_past);
	tcase_add_test(cases, test_label_with_too_few_or_shared_digits_chooses_none);
	tcase_add_test(cases, test_choice_of_several_lists_their_labels);
	return run_cases(cases);
}
