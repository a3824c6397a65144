/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/plan.h"

#include <errno.h>

#include "tests/unit/portmgr/plan_fixture.h"
#include "tests/unit/mentions.h"
#include "tests/unit/scarce_memory.h"

#define OWN 0x100

static struct triad_expected *expected;
static struct triad_placed *placed;
static struct triad_history *history;
static struct triad_plan *plan;
static struct triad_plan_input input;
static struct triad_plan_override overrides[4];
static uint64_t sms[4], n_records;

/* The SM's host at leaf-01 (0x201) port 1, host-0001 to host-0003 at ports 2 to 4 of
 * it; leaf-02 (0x202) with host-0004 at port 2; spine-01 (0x301).  Each leaf has two
 * links to the spine, from ports 7 and 8 to ports 1 and 2, or 3 and 4. */
static void begin(void)
{
	static const char *const names[] = {
		"host-0001", "host-0002", "host-0003", "host-0004"};

	fixture_begin();
	fixture_add(OWN, TRIAD_NODE_CA, "host-own", 1);
	for (unsigned i = 0; i < 4; i++)
		fixture_add(0x110 + 0x10 * i, TRIAD_NODE_CA, names[i], 2);
	fixture_add(0x201, TRIAD_NODE_SWITCH, "leaf-01", 8);
	fixture_add(0x202, TRIAD_NODE_SWITCH, "leaf-02", 8);
	fixture_add(0x301, TRIAD_NODE_SWITCH, "spine-01", 200);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(0x110, 1, 0x201, 2);
	fixture_link(0x120, 1, 0x201, 3);
	fixture_link(0x130, 1, 0x201, 4);
	fixture_link(0x140, 1, 0x202, 2);
	fixture_link(0x201, 7, 0x301, 1);
	fixture_link(0x201, 8, 0x301, 2);
	fixture_link(0x202, 7, 0x301, 3);
	fixture_link(0x202, 8, 0x301, 4);
	expected = NULL;
	placed = NULL;
	plan = NULL;
	history = triad_history_new();
	input = (struct triad_plan_input){
		.history = history, .overrides = overrides, .sm_guids = sms};
	n_records = 0;
}

static void end(void)
{
	triad_plan_free(plan);
	triad_history_free(history);
	triad_placed_free(placed);
	triad_expected_free(expected);
	triad_fabric_unref(fabric);
}

static void expect(const char *rows)
{
	static struct triad_diags mistakes;
	char *text = g_strconcat("generation 9\n", rows, NULL);

	triad_placed_free(placed);
	triad_expected_free(expected);
	triad_diags_init(&mistakes, "");
	ck_assert_int_eq(
		triad_expected_parse(text, strlen(text), &mistakes, &expected), 0);
	ck_assert_int_eq(
		triad_placed_build(expected, fabric, &mistakes, NULL, &placed), 0);
	g_free(text);
}

static const char *words = "as it was recorded";

/* Sets the text of the next record that the test adds to the history. */
static void remember_words(const char *text)
{
	words = text;
}

static void remember(uint64_t node_guid, uint8_t port, uint64_t remote_guid,
	enum triad_port_action action, enum triad_outcome outcome,
	enum triad_port_reason reason)
{
	struct triad_record record = {
		.term = 1,
		.number = ++n_records,
		.node_guid = node_guid,
		.port = port,
		.remote_guid = remote_guid,
		.action = (uint8_t)action,
		.outcome = (uint8_t)outcome,
		.reason = (uint8_t)reason,
	};

	snprintf(record.text, sizeof(record.text), "%s", words);

	ck_assert_int_eq(triad_history_merge(history, &record), 0);
}

static void set_disabled(uint64_t guid, unsigned number)
{
	struct triad_fabric_port *port = &fabric->ports[port_at(guid, number)];

	port->phys_state = PHYS_DISABLED;
	port->state = TRIAD_PORT_DOWN;
	if (port->remote == TRIAD_FABRIC_NONE)
		return;
	fabric->ports[port->remote].remote = TRIAD_FABRIC_NONE;
	fabric->ports[port->remote].state = TRIAD_PORT_DOWN;
	port->remote = TRIAD_FABRIC_NONE;
}

static const struct triad_plan *make(void)
{
	input.fabric = fabric;
	input.expected = expected;
	input.placed = placed;
	triad_plan_free(plan);
	ck_assert_int_eq(triad_plan_build(&input, &plan), 0);
	return plan;
}

static void add_item(GString *text, const struct triad_plan_item *item)
{
	g_string_append_printf(text, "%" PRIx64 "/%u %s", item->node_guid, item->number,
		triad_plan_kind_name(item->kind));
	if (item->reason && item->reason != TRIAD_REASON_EXPECTED)
		g_string_append_printf(
			text, " %s", triad_port_reason_name(item->reason));
	if (item->note)
		g_string_append_printf(text, " %s", triad_plan_note_name(item->note));
	if (item->guard)
		g_string_append_printf(text, " !%s", triad_guard_word(item->guard));
	g_string_append(text, item->is_overridden ? " overridden" : "");
	g_string_append(text, item->is_active ? " active" : "");
	g_string_append(text, item->may_be_name ? " name" : "");
	g_string_append(text, item->was_ours ? " ours" : "");
	g_string_append(text, "\n");
}

/* The items of the plan, one per line. */
static const char *planned(void)
{
	static GString *text;

	make();
	if (!text)
		text = g_string_new(NULL);
	g_string_truncate(text, 0);
	for (uint32_t i = 0; i < plan->n_items; i++)
		add_item(text, &plan->items[i]);
	return text->str;
}

static const char *describe(uint64_t guid, uint8_t number)
{
	static char text[512];
	const struct triad_plan_item *item = triad_plan_find(plan, guid, number);

	ck_assert_ptr_nonnull(item);
	triad_plan_describe(&input, item, text, sizeof(text));
	return text;
}

/* --- the table --- */

START_TEST(test_plan_ports_as_expected_nothing)
{
	fixture_build(OWN + 1);
	set_disabled(0x201, 5);
	expect("leaf-01,2,enabled,name=host-0001;port=1,4x,EDR\n0x201,5,disabled\n"
	       "leaf-01,6,enabled,name=host-0009\n0x201,3,enabled\n");
	ck_assert_str_eq(planned(), "");
	ck_assert_uint_eq(plan->generation, 9);
	ck_assert_uint_eq(plan->n_rows, 4);
	ck_assert_uint_eq(plan->n_guarded, 0);
	ck_assert_uint_eq(triad_plan_n_open(plan), 0);
	ck_assert_ptr_null(triad_plan_find(plan, 0x201, 2));
}
END_TEST

/* Row: E9 */
START_TEST(test_plan_expected_disabled_is_disabled)
{
	fixture_build(OWN + 1);
	set_state(0x201, 3, TRIAD_PORT_INIT);
	expect("leaf-01,2,disabled\nleaf-01,3,disabled\nleaf-01,6,disabled\n");
	ck_assert_str_eq(
		planned(), "201/2 disable active\n201/3 disable\n201/6 disable\n");
	assert_mentions(describe(0x201, 2), "expected disabled link active phased out");
	ck_assert_str_eq(describe(0x201, 6), "expected disabled");
	ck_assert_uint_eq(triad_plan_n_open(plan), 3);
	ck_assert_uint_eq(plan->n_of_kind[TRIAD_PLAN_DISABLE], 3);
	ck_assert_uint_eq(triad_plan_find(plan, 0x201, 2)->remote_guid, 0x111);
	ck_assert_uint_eq(triad_plan_find(plan, 0x201, 6)->remote_guid, 0);
}
END_TEST

/* Row: E9 */
START_TEST(test_plan_disabled_by_whomever_is_enabled)
{
	fixture_build(OWN + 1);
	for (unsigned i = 2; i <= 6; i++)
		set_disabled(0x201, i);
	expect("leaf-01,2,enabled\nleaf-01,3,test\nleaf-01,4,enabled\n"
	       "leaf-01,5,enabled\nleaf-01,6,test\n");
	remember(0x201, 3, 0x121, TRIAD_ACTION_DISABLE, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_EXPECTED);
	remember(0x201, 4, 0x131, TRIAD_ACTION_DISABLE, TRIAD_OUTCOME_REFUSED,
		TRIAD_REASON_EXPECTED);
	remember(0x201, 5, 0, TRIAD_ACTION_DISABLE, TRIAD_OUTCOME_DROPPED,
		TRIAD_REASON_MISWIRED);
	remember(0x201, 6, 0, TRIAD_ACTION_BOUNCE, TRIAD_OUTCOME_INTENDED,
		TRIAD_REASON_EXPECTED);
	ck_assert_str_eq(planned(),
		"201/2 enable\n201/3 enable ours\n201/4 enable\n201/5 enable\n"
		"201/6 enable ours\n");
	assert_mentions(describe(0x201, 2), "expected enabled disabled somebody");
	assert_mentions(describe(0x201, 3), "expected test disabled port manager");
	ck_assert_uint_eq(plan->n_of_kind[TRIAD_PLAN_ENABLE], 5);
}
END_TEST

/* Row: E9 */
START_TEST(test_plan_disabled_as_failed_noted)
{
	fixture_build(OWN + 1);
	for (unsigned i = 2; i <= 5; i++)
		set_disabled(0x201, i);
	expect("leaf-01,2,enabled\nleaf-01,3,test\nleaf-01,4,test\n"
	       "leaf-01,5,enabled\n");
	remember(0x201, 2, 0, TRIAD_ACTION_DISABLE, TRIAD_OUTCOME_UNANSWERED,
		TRIAD_REASON_MISWIRED);
	remember(0x201, 3, 0, TRIAD_ACTION_FAIL, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_QUALITY);
	remember(0x201, 4, 0, TRIAD_ACTION_DISABLE, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_TIMER);
	remember(0x201, 5, 0, TRIAD_ACTION_DISABLE, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_BY_HAND);
	ck_assert_str_eq(planned(),
		"201/2 note miswired failed ours\n201/3 note quality failed\n"
		"201/4 note timer failed ours\n201/5 note by-hand failed ours\n");
	assert_mentions(describe(0x201, 2),
		"disabled port manager failed as it was recorded 'port release'");
	assert_mentions(describe(0x201, 3),
		"disabled failed as it was recorded 'port release'");
	ck_assert_uint_eq(triad_plan_n_open(plan), 0);
	remember(0x201, 3, 0, TRIAD_ACTION_RELEASE, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_BY_HAND);
	ck_assert_ptr_nonnull(strstr(planned(), "201/3 enable ours\n"));
}
END_TEST

/* Row: E9 */
START_TEST(test_plan_other_far_end_miswired)
{
	fixture_build(OWN + 1);
	expect("leaf-01,2,enabled,node_guid=0x110\nleaf-01,3,enabled,node_guid=0x110\n"
	       "leaf-01,4,enabled,port=2;name=host-0003\n");
	ck_assert_str_eq(planned(),
		"201/3 disable miswired active\n201/4 disable miswired active\n");
	assert_mentions(describe(0x201, 3),
		"miswired leaf-01 port 3 host-0002 0x0000000000000120 port 1 node_guid=0x0000000000000110");
}
END_TEST

START_TEST(test_plan_other_name_alone_distinguished)
{
	fixture_build(OWN + 1);
	expect("leaf-01,2,enabled,name=host-0002\n"
	       "leaf-01,3,enabled,name=host-0001;node_guid=0x110\n");
	ck_assert_str_eq(planned(),
		"201/2 disable miswired active name\n201/3 disable miswired active\n");
	assert_mentions(describe(0x201, 2),
		"miswired leaf-01 port 2 host-0001 0x0000000000000110 port 1 name=host-0002");
}
END_TEST

/* Row: E9 */
START_TEST(test_plan_under_test_tested_until_admitted)
{
	fixture_build(OWN + 1);
	set_state(0x201, 3, TRIAD_PORT_INIT);
	expect("leaf-01,2,test\nleaf-01,3,test\nleaf-01,6,test\n");
	/* The active link must go down before its test; port 6 has no link to test. */
	ck_assert_str_eq(planned(), "201/2 test active\n201/3 test\n");
	assert_mentions(describe(0x201, 2), "expected tested link active down");
	ck_assert_str_eq(describe(0x201, 3), "expected to be tested");
	remember(0x201, 2, 0x111, TRIAD_ACTION_ADMIT, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_EXPECTED);
	remember(0x201, 3, 0x121, TRIAD_ACTION_ADMIT, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_EXPECTED);
	/* Port 2 was admitted; port 3 went down after its admission. */
	ck_assert_str_eq(planned(), "201/3 test\n");
	set_state(0x201, 3, TRIAD_PORT_ARMED);
	ck_assert_str_eq(planned(), "");
	/* The record is about another component than the one that is plugged in. */
	remember(0x201, 2, 0x112, TRIAD_ACTION_ADMIT, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_EXPECTED);
	ck_assert_str_eq(planned(), "201/2 test active\n");
	remember(0x201, 2, 0, TRIAD_ACTION_RELEASE, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_BY_HAND);
	ck_assert_str_eq(planned(), "201/2 test active\n");
	ck_assert_uint_eq(plan->n_of_kind[TRIAD_PLAN_TEST], 1);
}
END_TEST

START_TEST(test_plan_admitted_elsewhere_than_expected_miswired)
{
	fixture_build(OWN + 1);
	expect("leaf-01,2,test,node_guid=0x120\n");
	ck_assert_str_eq(planned(), "201/2 test active\n");
	remember(0x201, 2, 0x111, TRIAD_ACTION_ADMIT, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_EXPECTED);
	ck_assert_str_eq(planned(), "201/2 disable miswired active\n");
}
END_TEST

START_TEST(test_plan_failed_test_disabled_with_its_reason)
{
	fixture_build(OWN + 1);
	set_state(0x201, 2, TRIAD_PORT_INIT);
	set_state(0x201, 3, TRIAD_PORT_INIT);
	expect("leaf-01,2,test\nleaf-01,3,test,name=host-0002\nleaf-01,6,test\n"
	       "leaf-01,4,test\n");
	remember(0x201, 2, 0x111, TRIAD_ACTION_FAIL, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_QUALITY);
	remember(0x201, 3, 0x121, TRIAD_ACTION_DISABLE, TRIAD_OUTCOME_REFUSED,
		TRIAD_REASON_MISWIRED);
	/* The record has the text that an earlier plan gave. */
	remember_words("it failed: it failed: there was nothing");
	remember(0x201, 6, 0, TRIAD_ACTION_FAIL, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_PRESENCE);
	remember_words("as it was recorded");
	remember(0x201, 4, 0x131, TRIAD_ACTION_DISABLE, TRIAD_OUTCOME_DROPPED,
		TRIAD_REASON_QUALITY);
	ck_assert_str_eq(planned(),
		"201/2 disable quality\n201/3 disable miswired\n201/4 test active\n"
		"201/6 disable presence\n");
	ck_assert_str_eq(describe(0x201, 2), "it failed: as it was recorded");
	ck_assert_str_eq(describe(0x201, 6), "it failed: there was nothing");
	/* The port matches now; the text still gives the recorded result. */
	ck_assert_str_eq(describe(0x201, 3), "it failed: as it was recorded");
}
END_TEST

START_TEST(test_plan_width_and_speed_noted)
{
	fixture_build(OWN + 1);
	expect("leaf-01,2,enabled,,1x,EDR\nleaf-01,3,enabled,,4x,HDR\n"
	       "leaf-01,6,enabled,,4x,HDR\nleaf-01,4,test,,,SDR\n");
	remember(0x201, 4, 0x131, TRIAD_ACTION_ADMIT, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_EXPECTED);
	ck_assert_str_eq(planned(),
		"201/2 note width active\n201/3 note speed active\n"
		"201/4 note speed active\n");
	assert_mentions(describe(0x201, 2), "link 4x 1x");
	assert_mentions(describe(0x201, 3), "link EDR HDR");
	ck_assert_uint_eq(plan->n_of_kind[TRIAD_PLAN_NOTE], 3);
	ck_assert_uint_eq(triad_plan_n_open(plan), 0);
}
END_TEST

START_TEST(test_plan_unknown_switch_noted_mistake_left_out)
{
	fixture_build(OWN + 1);
	expect("leaf-09,1,enabled\nleaf-01,9,enabled\nhost-0001,1,enabled\n"
	       "leaf-01,6,disabled\n0x999,3,disabled\n");
	ck_assert_str_eq(
		planned(), "201/6 disable\n0/1 note no_switch\n999/3 note no_switch\n");
	ck_assert_uint_eq(plan->items[1].row, 0);
	ck_assert_uint_eq(plan->items[2].row, 4);
	ck_assert_ptr_nonnull(triad_plan_find(plan, 0x201, 6));
	ck_assert_ptr_null(triad_plan_find(plan, 0x999, 3));
	ck_assert_ptr_null(triad_plan_find(plan, 0, 1));
}
END_TEST

START_TEST(test_plan_unknown_switch_described)
{
	char text[128], cut[9];

	fixture_build(OWN + 1);
	expect("leaf-09,1,enabled\n");
	make();
	triad_plan_describe(&input, &plan->items[0], text, sizeof(text));
	assert_mentions(text, "line 2 port fabric");
	triad_plan_describe(&input, &plan->items[0], cut, sizeof(cut));
	ck_assert_str_eq(cut, "line 2: ");
}
END_TEST

/* --- guards --- */

START_TEST(test_plan_links_of_sms_guarded)
{
	fixture_build(OWN + 1);
	input.n_sm_guids = 1;
	sms[0] = 0x111;
	expect("leaf-01,1,disabled\nleaf-01,2,test\nleaf-01,3,disabled\n");
	ck_assert_str_eq(planned(),
		"201/1 disable !own_way active\n201/2 test !sm_way active\n"
		"201/3 disable active\n");
	ck_assert_uint_eq(plan->n_guarded, 2);
	ck_assert_uint_eq(triad_plan_n_open(plan), 1);
	assert_mentions(describe(0x201, 1), "expected disabled not done SM's own link");
	assert_mentions(describe(0x201, 2),
		"expected tested not done host-0001 0x0000000000000110 another SM 'port approve NODE PORT'");
}
END_TEST

START_TEST(test_port_without_link_waits_while_something_is_missing)
{
	fixture_build(OWN + 1);
	expect("leaf-01,1,disabled\nleaf-01,5,disabled\nleaf-01,6,test\n");
	remember(0x201, 6, 0x111, TRIAD_ACTION_FAIL, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_TIMER);
	input.missing = "leaf-03 (0x203)";
	ck_assert_str_eq(planned(),
		"201/1 disable !own_way active\n201/5 note missing\n"
		"201/6 note timer missing\n");
	assert_mentions(describe(0x201, 5), "not disabled no link leaf-03 (0x203)");
	input.missing = "";
	ck_assert_str_eq(planned(),
		"201/1 disable !own_way active\n201/5 disable\n201/6 disable timer\n");
	input.missing = NULL;
}
END_TEST

START_TEST(test_plan_port_of_sm_unknown_guarded)
{
	fixture_build(0x999);
	expect("leaf-01,2,disabled\nleaf-01,6,disabled\n");
	ck_assert_str_eq(planned(), "201/2 disable !unknown active\n201/6 disable\n");
	assert_mentions(describe(0x201, 2),
		"expected disabled not done SM's own port 'port approve NODE PORT'");
}
END_TEST

START_TEST(test_plan_second_of_two_links_guarded)
{
	fixture_build(OWN + 1);
	expect("spine-01,3,disabled\nleaf-02,2,enabled\n");
	ck_assert_str_eq(planned(), "301/3 disable active\n");
	expect("spine-01,3,disabled\nspine-01,4,disabled\nleaf-02,2,enabled\n");
	ck_assert_str_eq(
		planned(), "301/3 disable active\n301/4 disable !split active\n");
	ck_assert_uint_eq(triad_plan_find(plan, 0x301, 4)->lost.n, 2);
	assert_mentions(describe(0x301, 4),
		"expected disabled not done leaf-02 0x0000000000000202 host-0004 0x0000000000000140 reached 'port approve NODE PORT'");
	/* The guard also protects nodes that no row names. */
	expect("spine-01,3,disabled\nspine-01,4,disabled\n");
	ck_assert_str_eq(
		planned(), "301/3 disable active\n301/4 disable !split active\n");
}
END_TEST

START_TEST(test_plan_links_tested_one_after_the_other)
{
	fixture_build(OWN + 1);
	expect("leaf-02,7,test\nleaf-02,8,test\n");
	ck_assert_str_eq(planned(), "202/7 test active\n202/8 test !split active\n");
	/* The first link stays in INIT while it is tested. */
	set_state(0x202, 7, TRIAD_PORT_INIT);
	ck_assert_str_eq(planned(), "202/7 test\n202/8 test !split active\n");
	remember(0x202, 7, 0x301, TRIAD_ACTION_ADMIT, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_EXPECTED);
	set_state(0x202, 7, TRIAD_PORT_ACTIVE);
	ck_assert_str_eq(planned(), "202/8 test active\n");
}
END_TEST

START_TEST(test_plan_guard_overridden_by_hand)
{
	fixture_build(OWN + 1);
	input.n_overrides = 2;
	overrides[0] = (struct triad_plan_override){0x201, 0, 1};
	overrides[1] = (struct triad_plan_override){0x301, 0, 4};
	expect("spine-01,3,disabled\nspine-01,4,disabled\nleaf-02,2,enabled\n"
	       "leaf-01,1,disabled\n");
	make();
	ck_assert(!triad_plan_find(plan, 0x301, 4)->is_overridden);
	overrides[1].fingerprint = triad_plan_find(plan, 0x301, 4)->lost.fingerprint;
	ck_assert_str_eq(planned(),
		"201/1 disable !own_way active\n301/3 disable active\n"
		"301/4 disable !split overridden active\n");
	ck_assert_uint_eq(plan->n_guarded, 1);
	ck_assert_uint_eq(triad_plan_n_open(plan), 2);
	assert_mentions(describe(0x301, 4),
		"expected disabled approved leaf-02 0x0000000000000202 host-0004 0x0000000000000140");
	/* As many nodes would be lost, but another one in place of one of them. */
	fabric->nodes[triad_fabric_find_node(fabric, 0x140)].guid++;
	make();
	ck_assert_uint_eq(triad_plan_find(plan, 0x301, 4)->lost.n, 2);
	ck_assert(!triad_plan_find(plan, 0x301, 4)->is_overridden);
}
END_TEST

START_TEST(test_plan_both_ends_disabled_at_the_nearer_one)
{
	fixture_build(OWN + 1);
	expect("leaf-01,8,disabled\nspine-01,2,disabled\nleaf-02,7,disabled\n"
	       "spine-01,3,disabled\n");
	ck_assert_str_eq(planned(),
		"201/8 disable active\n202/7 note other_end active\n"
		"301/2 note other_end active\n301/3 disable active\n");
	assert_mentions(describe(0x202, 7), "other end disabled");
	ck_assert_uint_eq(triad_plan_n_open(plan), 2);
	/* A test at one end doesn't replace the disabling of the other end. */
	expect("leaf-02,7,disabled\nspine-01,3,test\n");
	ck_assert_str_eq(planned(), "202/7 disable active\n301/3 test active\n");
}
END_TEST

START_TEST(test_plan_loops_disabled_at_one_end)
{
	fixture_link(0x201, 5, 0x201, 6);
	fixture_link(0x202, 5, 0x202, 5);
	fixture_build(OWN + 1);
	expect("leaf-01,5,disabled\nleaf-01,6,disabled\nleaf-02,5,disabled\n");
	ck_assert_str_eq(planned(),
		"201/5 disable active\n201/6 note other_end active\n"
		"202/5 disable active\n");
}
END_TEST

START_TEST(test_plan_alien_switch_cut_off_unless_it_leads_somewhere)
{
	fixture_add(0x401, TRIAD_NODE_SWITCH, "alien", 4);
	fixture_add(0x150, TRIAD_NODE_CA, "host-0005", 1);
	fixture_link(0x202, 4, 0x401, 1);
	fixture_link(0x401, 2, 0x150, 1);
	fixture_build(OWN + 1);
	expect("leaf-02,4,enabled,name=host-0006\n");
	ck_assert_str_eq(planned(), "202/4 disable miswired !split active name\n");
	ck_assert_uint_eq(
		triad_plan_find(plan, 0x202, 4)->lost.nodes[0], node_at(0x150));
	set_disabled(0x401, 2);
	ck_assert_str_eq(planned(), "202/4 disable miswired active name\n");
	expect("leaf-02,4,enabled,name=host-0006\nleaf-02,5,enabled,name=alien\n");
	ck_assert_str_eq(planned(), "202/4 disable miswired !split active name\n");
}
END_TEST

START_TEST(test_plan_swapped_cables_of_switches_guarded)
{
	fixture_add(0x203, TRIAD_NODE_SWITCH, "leaf-03", 4);
	fixture_add(0x204, TRIAD_NODE_SWITCH, "leaf-04", 4);
	fixture_add(0x205, TRIAD_NODE_SWITCH, "leaf-05", 4);
	fixture_link(0x203, 1, 0x301, 11);
	fixture_link(0x204, 1, 0x301, 12);
	fixture_link(0x205, 1, 0x301, 13);
	fixture_build(OWN + 1);
	expect("spine-01,11,enabled,node_guid=0x204\n"
	       "spine-01,12,enabled,port_guid=0x205\n"
	       "spine-01,13,enabled,name=leaf-03;vendor=0x2c9;port=2\n");
	ck_assert_str_eq(planned(),
		"301/11 disable miswired !split active\n"
		"301/12 disable miswired !split active\n"
		"301/13 disable miswired !split active\n");
	expect("spine-01,11,enabled,name=leaf-0?;port=2\n"
	       "spine-01,12,disabled,node_guid=0x205\n"
	       "spine-01,13,enabled,node_guid=0x203\n");
	ck_assert_str_eq(planned(),
		"301/11 disable miswired !split active\n301/12 disable !split active\n"
		"301/13 disable miswired active\n");
}
END_TEST

START_TEST(test_plan_more_links_than_walks_later)
{
	GString *text = g_string_new("leaf-01,2,disabled\n");
	uint32_t n = 0;

	for (unsigned i = 0; i < 2 * TRIAD_PLAN_MAX_WALKS; i++) {
		fixture_add(0x500 + i, TRIAD_NODE_SWITCH, "alien", 1);
		fixture_link(0x500 + i, 1, 0x301, (uint8_t)(10 + i));
		g_string_append_printf(
			text, "spine-01,%u,enabled,node_guid=0x999\n", 10 + i);
	}
	fixture_build(OWN + 1);
	expect(text->str);
	g_string_free(text, TRUE);
	/* Links that the guard protects use up no walks. */
	input.n_sm_guids = 2;
	sms[0] = 0x500;
	sms[1] = 0x500 + 2 * TRIAD_PLAN_MAX_WALKS - 1;
	make();
	for (uint32_t i = 0; i < plan->n_items; i++)
		n += plan->items[i].note == TRIAD_NOTE_LATER;
	ck_assert_uint_eq(n, TRIAD_PLAN_MAX_WALKS - 2);
	ck_assert_uint_eq(plan->n_guarded, 2);
	/* A host's link uses up no walk either. */
	ck_assert_uint_eq(triad_plan_n_open(plan), TRIAD_PLAN_MAX_WALKS + 1);
	ck_assert_uint_eq(plan->items[1].guard, TRIAD_GUARD_SM_PATH);
	ck_assert_uint_eq(plan->items[1 + TRIAD_PLAN_MAX_WALKS].note, TRIAD_NOTE_NONE);
	ck_assert_uint_eq(plan->items[2 + TRIAD_PLAN_MAX_WALKS].note, TRIAD_NOTE_LATER);
	assert_mentions(
		describe(
			0x301, (uint8_t)(plan->items[2 + TRIAD_PLAN_MAX_WALKS].number)),
		"64 links down next");
}
END_TEST

START_TEST(test_plan_host_cut_off_guards_nothing_else)
{
	fixture_build(OWN + 1);
	expect("leaf-01,2,test\nspine-01,3,disabled\n");
	remember(0x201, 2, 0x111, TRIAD_ACTION_FAIL, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_QUALITY);
	ck_assert_str_eq(
		planned(), "201/2 disable quality active\n301/3 disable active\n");
}
END_TEST

START_TEST(test_plan_memory_short_no_plan)
{
	struct triad_plan *made;
	unsigned n = 0;
	int error;

	fixture_build(OWN + 1);
	/* The table has a name that is found at another port, and there is another
	 * SM. */
	expect("leaf-01,2,disabled\nleaf-01,3,enabled,name=host-0004;port=2\n");
	input.n_sm_guids = 1;
	sms[0] = 0x141;
	make();
	do {
		made = NULL;
		refuse(++n);
		error = triad_plan_build(&input, &made);
		ck_assert_int_eq(error, refused() ? ENOMEM : 0);
		ck_assert_int_eq(made == NULL, error != 0);
		triad_plan_free(made);
	} while (error);
	ck_assert_uint_gt(n, 10);
}
END_TEST

START_TEST(test_plan_names_all_known)
{
	fixture_build(OWN + 1);
	ck_assert_str_eq(triad_plan_kind_name(TRIAD_PLAN_NOTE), "note");
	ck_assert_str_eq(triad_plan_kind_name(TRIAD_PLAN_N_KINDS), "?");
	ck_assert_str_eq(triad_plan_note_name(TRIAD_NOTE_NONE), "");
	ck_assert_str_eq(triad_plan_note_name(TRIAD_NOTE_LATER), "later");
	ck_assert_str_eq(triad_plan_note_name(TRIAD_PLAN_N_NOTES), "?");
	ck_assert(!triad_plan_is_admitted(NULL, 1));
	ck_assert(!triad_plan_has_failed(NULL));
	triad_plan_free(NULL);
	triad_guard_free(NULL);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("plan");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_plan_ports_as_expected_nothing);
	tcase_add_test(cases, test_plan_expected_disabled_is_disabled);
	tcase_add_test(cases, test_plan_disabled_by_whomever_is_enabled);
	tcase_add_test(cases, test_plan_disabled_as_failed_noted);
	tcase_add_test(cases, test_plan_other_far_end_miswired);
	tcase_add_test(cases, test_plan_other_name_alone_distinguished);
	tcase_add_test(cases, test_plan_under_test_tested_until_admitted);
	tcase_add_test(cases, test_plan_admitted_elsewhere_than_expected_miswired);
	tcase_add_test(cases, test_plan_failed_test_disabled_with_its_reason);
	tcase_add_test(cases, test_plan_width_and_speed_noted);
	tcase_add_test(cases, test_plan_unknown_switch_noted_mistake_left_out);
	tcase_add_test(cases, test_plan_unknown_switch_described);
	tcase_add_test(cases, test_plan_links_of_sms_guarded);
	tcase_add_test(cases, test_port_without_link_waits_while_something_is_missing);
	tcase_add_test(cases, test_plan_port_of_sm_unknown_guarded);
	tcase_add_test(cases, test_plan_second_of_two_links_guarded);
	tcase_add_test(cases, test_plan_links_tested_one_after_the_other);
	tcase_add_test(cases, test_plan_guard_overridden_by_hand);
	tcase_add_test(cases, test_plan_both_ends_disabled_at_the_nearer_one);
	tcase_add_test(cases, test_plan_loops_disabled_at_one_end);
	tcase_add_test(cases, test_plan_alien_switch_cut_off_unless_it_leads_somewhere);
	tcase_add_test(cases, test_plan_swapped_cables_of_switches_guarded);
	tcase_add_test(cases, test_plan_more_links_than_walks_later);
	tcase_add_test(cases, test_plan_host_cut_off_guards_nothing_else);
	tcase_add_test(cases, test_plan_memory_short_no_plan);
	tcase_add_test(cases, test_plan_names_all_known);
	return run_cases(cases);
}
