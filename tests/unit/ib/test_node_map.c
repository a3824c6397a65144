/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/node_map.h"

#include <string.h>

#include "ib/node_label.h"
#include "tests/unit/mentions.h"

static struct triad_fabric *fabric;
static struct triad_node_map_result result;

/* Two switches of one description, and a host. */
static void set_up(void)
{
	static const char *const names[] = {"Quantum", "Quantum", "host-1 HCA-1"};
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);

	for (unsigned i = 0; i < 3; i++)
		triad_fabric_builder_add_node(builder,
			&(struct triad_fabric_node){.guid = 0x10 + i,
				.type = i < 2 ? TRIAD_NODE_SWITCH : TRIAD_NODE_CA},
			names[i], NULL, 0);
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
	triad_fabric_builder_free(builder);
}

static void tear_down(void)
{
	triad_fabric_unref(fabric);
}

static void apply(const char *text)
{
	ck_assert_int_eq(triad_node_map_apply(fabric, text, strlen(text), &result), 0);
}

#define ASSERT_NAMES(a, b, c)                                                          \
	do {                                                                           \
		ck_assert_str_eq(triad_node_label(&fabric->nodes[0]).text, a);         \
		ck_assert_str_eq(triad_node_label(&fabric->nodes[1]).text, b);         \
		ck_assert_str_eq(triad_node_label(&fabric->nodes[2]).text, c);         \
	} while (0)

START_TEST(test_map_names_nodes_and_their_labels_follow)
{
	ASSERT_NAMES("Quantum#000010", "Quantum#000011", "host-1 HCA-1");
	apply("# leaves\n\n0x10 \"leaf-01\" # rack 1\n0x99 \"none\"\n");
	ASSERT_NAMES("leaf-01", "Quantum", "host-1 HCA-1");
	ck_assert_uint_eq(result.n_lines, 2);
	ck_assert_uint_eq(result.n_named, 1);
	ck_assert_uint_eq(result.wrong_line, 0);
}
END_TEST

START_TEST(test_map_may_give_two_nodes_one_name)
{
	apply("0x10 \"leaf\"\n0x11 leaf # without quotes\n0x12 \"a b#c\"");
	ASSERT_NAMES("leaf#000010", "leaf#000011", "a b");
	apply("0x12\t\"  host 7  \"\r\n");
	ck_assert_str_eq(fabric->nodes[2].name, "host 7");
}
END_TEST

START_TEST(test_map_first_line_of_a_guid_counts)
{
	apply("0x10 \"one\"\n0x10 \"two\"\n");
	ck_assert_str_eq(fabric->nodes[0].name, "one");
}
END_TEST

START_TEST(test_map_lines_that_cannot_be_read_are_skipped)
{
	apply("0x10 \"one\"\nleaf-02 0x11\n0x11\n0x11 \"\"\n0x11 \"two\"\n-1 \"x\"\n");
	ck_assert_uint_eq(result.wrong_line, 2);
	ASSERT_NAMES("one", "two", "host-1 HCA-1");
}
END_TEST

START_TEST(test_map_name_is_cut_and_clean)
{
	char line[200] = "0x10 \"";

	memset(line + 6, 'x', 100);
	apply(line);
	ck_assert_uint_eq(strlen(fabric->nodes[0].name), TRIAD_NODE_NAME_SIZE - 1);
	apply("0x10 \"a\x01\xff\"\n");
	ck_assert_str_eq(fabric->nodes[0].name, "a??");
}
END_TEST

START_TEST(test_map_that_is_empty_names_nothing)
{
	apply("");
	ASSERT_NAMES("Quantum#000010", "Quantum#000011", "host-1 HCA-1");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("node_map");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_map_names_nodes_and_their_labels_follow);
	tcase_add_test(cases, test_map_may_give_two_nodes_one_name);
	tcase_add_test(cases, test_map_first_line_of_a_guid_counts);
	tcase_add_test(cases, test_map_lines_that_cannot_be_read_are_skipped);
	tcase_add_test(cases, test_map_name_is_cut_and_clean);
	tcase_add_test(cases, test_map_that_is_empty_names_nothing);
	return run_cases(cases);
}
