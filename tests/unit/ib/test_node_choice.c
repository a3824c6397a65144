/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/node_choice.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/mentions.h"

/* Hosts have ports 1 and 2, switches ports 0 to 2.  In the order of the names, node
 * GUIDs are 0x1000 and so on.  A host's port GUID is the node GUID plus the port
 * number, a switch's the node GUID.  Port 1 has the LIDs 16, 20 and so on, port 2 the
 * LID of port 1 plus 2. */
struct planned {
	const char *name;
	unsigned type;
};

static struct triad_fabric *fabric;

static void add_node(
	struct triad_fabric_builder *builder, const struct planned *plan, unsigned i)
{
	bool is_switch = plan->type == TRIAD_NODE_SWITCH;
	uint64_t guid = 0x1000u * (i + 1);
	struct triad_fabric_node node = {.guid = guid, .type = (uint8_t)plan->type};

	triad_fabric_builder_add_node(builder, &node, plan->name, NULL, 0);
	for (unsigned number = !is_switch; number <= 2; number++) {
		struct triad_fabric_port port = {.number = (uint8_t)number,
			.guid = is_switch ? number ? 0 : guid : guid + number,
			.lmc = 1,
			.has_pma = true,
			.lid = (uint16_t)(16 + 4 * i +
				(is_switch ? 0 : 2 * (number - 1)))};

		triad_fabric_builder_add_port(builder, &port, 0, 0);
	}
}

static void build(const struct planned *plan, unsigned n)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);

	for (unsigned i = 0; i < n; i++)
		add_node(builder, &plan[i], i);
	triad_fabric_builder_add_alias(builder, 0xabcdef, 0x1002);
	triad_fabric_unref(fabric);
	ck_assert_int_eq(triad_fabric_build(builder, 0x1001, &fabric), 0);
	triad_fabric_builder_free(builder);
}

static const struct planned standard[] = {
	{"host-0001 HCA-1", TRIAD_NODE_CA},
	{"host-0002 HCA-1", TRIAD_NODE_CA},
	{"host-0002 HCA-2", TRIAD_NODE_CA},
	{"leaf-01", TRIAD_NODE_SWITCH},
	{"leaf-02", TRIAD_NODE_SWITCH},
	{"leaf-01 old", TRIAD_NODE_SWITCH},
	{"27", TRIAD_NODE_CA},
	{"a/b:3", TRIAD_NODE_CA},
	{"leaf-*", TRIAD_NODE_ROUTER},
};

static void set_up(void)
{
	build(standard, sizeof(standard) / sizeof(*standard));
}

static void tear_down(void)
{
	triad_fabric_unref(fabric);
	fabric = NULL;
}

static struct triad_node_choice choice;

/* Checks that 'text' chooses 'n' nodes by 'rule', with 'first' as the first, and a port
 * (-1: all ports). */
#define ASSERT_CHOICE(text, rule_, n_, first_, port_)                                  \
	do {                                                                           \
		choice = triad_node_choice_make(text, fabric, 0);                      \
		ck_assert_msg(choice.rule == (rule_) && choice.n == (n_) &&            \
				choice.first == (first_) && choice.port == (port_),    \
			"%s: rule %u, %u nodes, first %u, port %d", text, choice.rule, \
			choice.n, choice.first, choice.port);                          \
	} while (0)

#define EXACT TRIAD_NODE_RULE_EXACT
#define GUID TRIAD_NODE_RULE_GUID
#define PREFIX TRIAD_NODE_RULE_PREFIX
#define PATTERN TRIAD_NODE_RULE_PATTERN
#define NONE TRIAD_FABRIC_NONE

START_TEST(test_choice_by_name)
{
	ASSERT_CHOICE("host-0001 HCA-1", EXACT, 1, 0, -1);
	ASSERT_CHOICE("host-0001", PREFIX, 1, 0, -1);
	ASSERT_CHOICE("host-0002", PREFIX, 2, 1, -1);
	ASSERT_CHOICE("host-0002/HCA-2", PREFIX, 1, 2, -1);
	ASSERT_CHOICE("host-000", TRIAD_NODE_RULE_NONE, 0, NONE, -1);
	ASSERT_CHOICE("host-*", PATTERN, 3, 0, -1);
	ASSERT_CHOICE("host-000[12]*1", PATTERN, 2, 0, -1);
	ASSERT_CHOICE("*", PATTERN, 9, 0, -1);
	ASSERT_CHOICE("Leaf-01", TRIAD_NODE_RULE_NONE, 0, NONE, -1);
	ASSERT_CHOICE("", TRIAD_NODE_RULE_ALL, 0, NONE, -1);
}
END_TEST

/* "leaf-01" is also the beginning of "leaf-01 old", and one node is called "leaf-*". */
START_TEST(test_choice_exact_name_wins)
{
	ASSERT_CHOICE("leaf-01", EXACT, 1, 3, -1);
	ASSERT_CHOICE("leaf-*", EXACT, 1, 8, -1);
	ASSERT_CHOICE("leaf-0?", PATTERN, 2, 3, -1);
	ASSERT_CHOICE("27", EXACT, 1, 6, -1); /* which is a LID, too */
	ASSERT_CHOICE("a/b:3", EXACT, 1, 7, -1);
	ck_assert(!triad_node_choice_has(&choice, "a/b", 1));
}
END_TEST

START_TEST(test_choice_by_guid)
{
	ASSERT_CHOICE("0x1000", GUID, 1, 0, -1);
	ASSERT_CHOICE("0x0000000000001000", GUID, 1, 0, -1);
	ASSERT_CHOICE("0000000000001000", GUID, 1, 0, -1);
	ASSERT_CHOICE("0000:0000:0000:1000", GUID, 1, 0, -1);
	ASSERT_CHOICE("0x1002", GUID, 1, 0, 2);
	ck_assert_uint_eq(choice.end_port, 1);
	ASSERT_CHOICE("0xabcdef", GUID, 1, 0, 2);
	ASSERT_CHOICE("0x4000", GUID, 1, 3, -1); /* a switch, and its port 0 */
	ck_assert_uint_eq(fabric->ports[choice.end_port].number, 0);
	ASSERT_CHOICE("0x77777", GUID, 0, NONE, -1);
	ck_assert(triad_node_choice_has(&choice, "gone", 0x77777));
	ck_assert(!triad_node_choice_has(&choice, "gone", 0x77778));
}
END_TEST

START_TEST(test_choice_by_lid)
{
	ASSERT_CHOICE("16", GUID, 1, 0, 1);
	ASSERT_CHOICE("17", GUID, 1, 0, 1);
	ASSERT_CHOICE("18", GUID, 1, 0, 2);
	ASSERT_CHOICE("20", GUID, 1, 1, 1);
	ASSERT_CHOICE("28", GUID, 1, 3, -1);
	ASSERT_CHOICE("0x1c", GUID, 1, 3, -1);
	ASSERT_CHOICE("0x001c", GUID, 1, 3, -1);
	ASSERT_CHOICE("0x0001c", GUID, 0, NONE, -1);
	ASSERT_CHOICE("15", TRIAD_NODE_RULE_NONE, 0, NONE, -1);
	ASSERT_CHOICE("0", TRIAD_NODE_RULE_NONE, 0, NONE, -1);
	ASSERT_CHOICE("65536", TRIAD_NODE_RULE_NONE, 0, NONE, -1);
	ASSERT_CHOICE("28:2", GUID, 1, 3, 2);
}
END_TEST

START_TEST(test_choice_with_port)
{
	static const char *const ways[] = {"host-0001:2", "host-0001/P2",
		"host-0001/p2", "host-0001/2", "host-0001 HCA-1:2",
		"host-0001/HCA-1/P2", "0x1000:2", "0x1000/P2", "host-0001*:2"};

	for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		choice = triad_node_choice_make(ways[i], fabric, 0);
		ck_assert_msg(choice.n == 1 && !choice.first && choice.port == 2, "%s",
			ways[i]);
		ck_assert(triad_node_choice_has_port(&choice, fabric, 1));
		ck_assert(!triad_node_choice_has_port(&choice, fabric, 0));
		ck_assert(!triad_node_choice_has_port(&choice, fabric, 3));
	}
	ASSERT_CHOICE("host-*:1", PATTERN, 3, 0, 1);
	ASSERT_CHOICE("a/b:3:1", EXACT, 1, 7, 1);
	ASSERT_CHOICE("host-0001:255", TRIAD_NODE_RULE_NONE, 0, NONE, -1);
	ASSERT_CHOICE("nobody:7", TRIAD_NODE_RULE_NONE, 0, NONE, 7);
	ck_assert(triad_node_text_has_port("x/P0"));
	ck_assert(!triad_node_text_has_port("x/P"));
	ck_assert(!triad_node_text_has_port(":2"));
}
END_TEST

START_TEST(test_choice_among_nodes_of_a_type)
{
	choice = triad_node_choice_make("*", fabric, TRIAD_NODE_SWITCH);
	ck_assert_uint_eq(choice.n, 3);
	ck_assert_uint_eq(choice.first, 3);
	ck_assert(!triad_node_choice_has_port(&choice, fabric, 0));
	ck_assert(triad_node_choice_has_port(
		&choice, fabric, fabric->nodes[3].first_port));
	choice = triad_node_choice_make("leaf-*", fabric, TRIAD_NODE_SWITCH);
	ck_assert_uint_eq(choice.n, 3);
	choice = triad_node_choice_make("host-0001", fabric, TRIAD_NODE_SWITCH);
	ck_assert_uint_eq(choice.n, 0);
	choice = triad_node_choice_make("0x1000", fabric, TRIAD_NODE_SWITCH);
	ck_assert_uint_eq(choice.n, 0);
}
END_TEST

/* The history and alerts contain nodes that have left the fabric. */
START_TEST(test_choice_of_what_is_gone_fits_by_any_rule)
{
	choice = triad_node_choice_make("gone-1", fabric, 0);
	ck_assert(triad_node_choice_has(&choice, "gone-1", 5));
	ck_assert(triad_node_choice_has(&choice, "gone-1 HCA-1", 5));
	ck_assert(!triad_node_choice_has(&choice, "gone-11", 5));
	choice = triad_node_choice_make("gone-*", NULL, 0);
	ck_assert(triad_node_choice_has(&choice, "gone-11", 5));
	choice = triad_node_choice_make("0x5:2", NULL, 0);
	ck_assert_int_eq(choice.port, 2);
	ck_assert(triad_node_choice_has(&choice, "", 5));
	choice = triad_node_choice_make("leaf-01", fabric, 0);
	ck_assert(!triad_node_choice_has(&choice, "leaf-01 gone", 5));
	choice = triad_node_choice_make("", NULL, 0);
	ck_assert(triad_node_choice_has(&choice, "x", 5));
}
END_TEST

/* --- reasons for no match --- */

static char reason[1024];

#define ASSERT_REASON(text, type, words)                                               \
	do {                                                                           \
		choice = triad_node_choice_make(text, fabric, type);                   \
		triad_node_choice_explain(&choice, fabric, reason, sizeof(reason));    \
		assert_mentions(reason, words);                                        \
	} while (0)

/* A host that boots has another name for a while; so has one whose HCA was replaced. */
START_TEST(test_choice_of_one_node_fits_it_under_another_name)
{
	choice = triad_node_choice_make("host-0001/P1", fabric, 0);

	ck_assert(triad_node_choice_has(&choice, "MT4129 ConnectX7", 0x1000));
	ck_assert(triad_node_choice_has(&choice, "host-0001 HCA-1", 0x77777));
	ck_assert(!triad_node_choice_has(&choice, "MT4129 ConnectX7", 0x2000));
	choice = triad_node_choice_make("host-0002", fabric, 0);
	ck_assert_uint_eq(choice.n, 2);
	ck_assert(!triad_node_choice_has(&choice, "MT4129 ConnectX7", 0x2000));
	choice = triad_node_choice_make("*-0001 *", fabric, 0);
	ck_assert(!triad_node_choice_has(&choice, "MT4129 ConnectX7", 0x1000));
}
END_TEST

START_TEST(test_explain_none_gives_near_names)
{
	ASSERT_REASON("host-001", 0, "node 'host-001' 'host-0001' 'host-0002'");
	ASSERT_REASON(
		"lefa-02:3", TRIAD_NODE_SWITCH, "switch 'lefa-02' 'leaf-02' 'leaf-01'");
	ASSERT_REASON("zzz", 0, "node 'zzz'");
	ASSERT_REASON("0x77777", 0, "GUID 0x0000000000077777");
	ASSERT_REASON("400", 0, "node '400' LID");
}
END_TEST

START_TEST(test_explain_several_lists_ten)
{
	static const struct planned same = {"same", TRIAD_NODE_CA};
	struct planned many[13];

	ASSERT_REASON("host-0002", 0,
		"2 'host-0002' GUID\n"
		"0x0000000000002000 host-0002 HCA-1\n"
		"0x0000000000003000 host-0002 HCA-2");
	/* The port is of none of their names. */
	ASSERT_REASON("host-0002:1", 0,
		"2 'host-0002' GUID\n"
		"0x0000000000002000 host-0002 HCA-1\n"
		"0x0000000000003000 host-0002 HCA-2");
	for (unsigned i = 0; i < 13; i++)
		many[i] = same;
	build(many, 13);
	choice = triad_node_choice_make("same", fabric, 0);
	triad_node_choice_explain(&choice, fabric, reason, sizeof(reason));
	ck_assert_ptr_nonnull(
		strstr(reason, "0x000000000000a000  same#00a000\n  and 3 more"));
	ck_assert_ptr_null(strstr(reason, "b000"));
}
END_TEST

START_TEST(test_text_checked)
{
	char longest[TRIAD_NODE_TEXT_SIZE + 1];

	ck_assert(triad_node_text_check("leaf-01:3", reason, sizeof(reason)));
	ck_assert(triad_node_text_check("0x12/P3", reason, sizeof(reason)));
	ck_assert(!triad_node_text_check("0x12g", reason, sizeof(reason)));
	assert_mentions(reason, "GUID 16 hexadecimal");
	ck_assert(!triad_node_text_check("", reason, sizeof(reason)));
	memset(longest, 'x', sizeof(longest));
	longest[TRIAD_NODE_TEXT_SIZE] = '\0';
	ck_assert(!triad_node_text_check(longest, reason, sizeof(reason)));
	assert_mentions(reason, "name 127 128");
	longest[TRIAD_NODE_TEXT_SIZE - 1] = '\0';
	ck_assert(triad_node_text_check(longest, reason, sizeof(reason)));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("node_choice");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_choice_by_name);
	tcase_add_test(cases, test_choice_exact_name_wins);
	tcase_add_test(cases, test_choice_by_guid);
	tcase_add_test(cases, test_choice_by_lid);
	tcase_add_test(cases, test_choice_with_port);
	tcase_add_test(cases, test_choice_among_nodes_of_a_type);
	tcase_add_test(cases, test_choice_of_what_is_gone_fits_by_any_rule);
	tcase_add_test(cases, test_choice_of_one_node_fits_it_under_another_name);
	tcase_add_test(cases, test_explain_none_gives_near_names);
	tcase_add_test(cases, test_explain_several_lists_ten);
	tcase_add_test(cases, test_text_checked);
	return run_cases(cases);
}
