/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/explain.h"

#include "ib/rates.h"
#include "tests/unit/mentions.h"
#include "tests/unit/qos/path_fixture.h"

static struct triad_path_request request;
static struct triad_explanation explained;

static void set_up(void)
{
	memset(&request, 0, sizeof(request));
	plan_two_switches(1);
	build();
}

static void explain(unsigned from, unsigned to)
{
	const struct triad_answer_snapshot snapshot = {
		.paths = paths, .classifier = classifier};

	memset(&explained, 0xee, sizeof(explained));
	triad_explain(&snapshot, &request, port_of(from, from > 1), port_of(to, to > 1),
		&explained);
}

/* --- ends --- */

static void check_end(const char *text, unsigned node, unsigned number)
{
	char reason[256] = "";

	ck_assert_msg(triad_explain_find_end(paths, text, reason, sizeof(reason)) ==
			port_of(node, number),
		"%s: %s", text, reason);
}

static void check_no_end(const char *text, const char *words)
{
	char reason[256] = "";

	ck_assert_uint_eq(triad_explain_find_end(paths, text, reason, sizeof(reason)),
		TRIAD_FABRIC_NONE);
	assert_mentions(reason, words);
}

START_TEST(test_end_by_lid)
{
	check_end("1", 0, 0);
	check_end("2", 1, 0);
	check_end("4", 2, 1);
	check_end("5", 2, 1);
	check_no_end("3", "node '3' LID");
	check_no_end("0", "node '0'");
	check_no_end("49152", "node '49152'");
}
END_TEST

START_TEST(test_end_by_guid_of_port_alias_or_node)
{
	plan_add_alias(plan, UINT64_C(0xa0000000000000bc), 0x3001);
	build();
	check_end("0x3001", 2, 1);
	check_end("0xa0000000000000bc", 2, 1);
	check_end("0x3000", 2, 1);
	check_end("0x1000", 0, 0);
	check_no_end("0x77", "GUID 0x0000000000000077");
}
END_TEST

START_TEST(test_end_by_name_and_number)
{
	check_end("host-4", 4, 1);
	check_end("host-4/P1", 4, 1);
	check_end("switch-1", 1, 0);
	check_end("switch-1/P0", 1, 0);
	check_end("host-4:1", 4, 1);
	check_end("0x5000:1", 4, 1);
	check_no_end("host-4/P2", "host-4 port LID");
	check_no_end("switch-1/P1", "switch-1 port LID");
	check_no_end("ghost/P1", "node 'ghost'");
	check_no_end("hots-4", "node 'hots-4' 'host-4' 'host-2' 'host-3'");
	check_no_end("", "the name is empty");
}
END_TEST

START_TEST(test_end_of_node_with_several_ports_needs_a_number)
{
	unsigned host = plan_add_host(plan, 3);

	plan_give_lids(plan, 0);
	plan_port(plan, host, 3)->port.lid = 0;
	build();
	check_end("host-6/P1", host, 1);
	check_end("host-6/P2", host, 2);
	check_no_end("host-6/P3", "host-6 port LID");
	check_no_end("host-6", "host-6 2 ports host-6/P1 GUID");
	check_no_end("0x7000", "host-6 2 ports host-6/P1 GUID");
	plan_port(plan, host, 1)->port.lid = 0;
	build();
	check_end("host-6", host, 2);
	check_end("0x7000", host, 2);
}
END_TEST

/* The name of a port in the form of XML policies. */
START_TEST(test_end_by_host_hca_and_number)
{
	strcpy(plan->nodes[3].name, "vs1 HCA-1 firmware 7");
	build();
	check_end("vs1/HCA-1/P1", 3, 1);
	check_end("vs1/HCA-1", 3, 1);
	check_end("vs1 HCA-1 firmware 7/P1", 3, 1);
	check_no_end("vs1/HCA-2/P1", "node 'vs1/HCA-2'");
	strcpy(plan->nodes[4].name, "vs1/HCA-1"); /* an exact name is preferred */
	build();
	check_end("vs1/HCA-1/P1", 4, 1);
}
END_TEST

START_TEST(test_end_by_name_of_several_nodes_reported)
{
	snprintf(plan->nodes[3].name, sizeof(plan->nodes[3].name), "host-2");
	build();
	check_no_end("host-2",
		"2 'host-2' GUID\n"
		"0x0000000000003000 host-2\n"
		"0x0000000000004000 host-2");
	check_no_end("host-2/P1",
		"2 'host-2' GUID\n"
		"0x0000000000003000 host-2\n"
		"0x0000000000004000 host-2");
}
END_TEST

START_TEST(test_end_reason_cut_where_room_ends)
{
	char reason[8];

	memset(reason, 'x', sizeof(reason));
	ck_assert_uint_eq(
		triad_explain_find_end(paths, "host-9", reason, 4), TRIAD_FABRIC_NONE);
	ck_assert_str_eq(reason, "no ");
	ck_assert_int_eq(reason[4], 'x');
}
END_TEST

/* --- rules --- */

#define HEAD                                                                           \
	"port-groups\nport-group\nname: two\nport-guid: 0x3001\nend-port-group\n"      \
	"port-group\nname: four\nport-guid: 0x5001\nend-port-group\nend-port-groups\n" \
	"qos-levels\nqos-level\nname: DEFAULT\nsl: 0\nend-qos-level\n"                 \
	"qos-level\nname: L\nsl: 1\nmtu-limit: 2\nend-qos-level\nend-qos-levels\n"     \
	"qos-match-rules\n"
#define RULE(lines) "qos-match-rule\n" lines "qos-level-name: L\nend-qos-match-rule\n"
#define TAIL "end-qos-match-rules\n"

/* Row: X2 */
START_TEST(test_near_misses_before_the_rule_that_matched)
{
	use_policy(HEAD RULE("source: four\n") RULE("source: two\nservice-id: 7\n")
			RULE("source: four\nservice-id: 7\n") RULE(
				"tclass: 6\nqos-class: 1\n") RULE("destination: four\n")
				RULE("source: four\n") TAIL);
	request.has = TRIAD_HAS_TCLASS | TRIAD_HAS_QOS_CLASS;
	request.tclass = 5;
	request.qos_class = 1;
	explain(2, 4);
	ck_assert_uint_eq(explained.rule, 4);
	ck_assert_str_eq(policy->levels[explained.level].name, "L");
	ck_assert_uint_eq(explained.n_near, 3);
	ck_assert_uint_eq(explained.n_more_near, 0);
	ck_assert_uint_eq(explained.near[0].rule, 1);
	ck_assert_uint_eq(
		explained.near[0].mismatch.failed, 1u << TRIAD_CLASS_SERVICE_ID);
	ck_assert_uint_eq(
		explained.near[0].mismatch.missing, 1u << TRIAD_CLASS_SERVICE_ID);
	ck_assert_uint_eq(explained.near[1].rule, 3);
	ck_assert_uint_eq(explained.near[1].mismatch.failed, 1u << TRIAD_CLASS_TCLASS);
	ck_assert_uint_eq(explained.near[1].mismatch.missing, 0);
	/* None of this rule's conditions holds. */
	ck_assert_uint_eq(explained.near[2].rule, 0);
	ck_assert_uint_eq(explained.near[2].mismatch.failed, 1u << TRIAD_CLASS_SOURCE);
	ck_assert_uint_eq(explained.near[2].mismatch.missing, 0);
}
END_TEST

START_TEST(test_near_misses_of_each_field_of_the_request)
{
	use_policy(HEAD RULE("source: two\nservice-id: 7\ntclass: 7\nqos-class: 7\n"
			     "pkey: 0x7fff\nsl: 1\ndestination: two\n") TAIL);
	request.has = TRIAD_HAS_SERVICE_ID | TRIAD_HAS_TCLASS | TRIAD_HAS_QOS_CLASS |
		TRIAD_HAS_PKEY | TRIAD_HAS_SL;
	request.service_id = request.tclass = request.sl = 7;
	request.qos_class = 7;
	request.pkey = 0xffff;
	request.sl = 1;
	explain(2, 4);
	ck_assert_uint_eq(explained.rule, TRIAD_POLICY_NONE);
	ck_assert_uint_eq(explained.n_near, 1);
	ck_assert_uint_eq(
		explained.near[0].mismatch.failed, 1u << TRIAD_CLASS_DESTINATION);
	explain(2, 2);
	ck_assert_uint_eq(explained.rule, 0);
	ck_assert_uint_eq(explained.n_near, 0);
}
END_TEST

START_TEST(test_near_misses_more_than_fit_counted)
{
	use_policy(HEAD RULE("source: four\n") RULE("source: four\n") RULE(
		"source: four\n") RULE("source: four\n") RULE("source: four\n")
			RULE("source: four\n") RULE("source: four\n")
				RULE("source: four\n") RULE("source: four\n")
					RULE("source: four\n") TAIL);
	explain(2, 4);
	ck_assert_uint_eq(explained.n_near, TRIAD_EXPLAIN_MAX_NEAR);
	ck_assert_uint_eq(explained.n_more_near, 2);
	ck_assert_uint_eq(explained.near[7].rule, 7);
}
END_TEST

/* --- routes --- */

/* Row: X2 */
START_TEST(test_hops_in_both_directions_and_the_answer)
{
	explain(2, 4);
	ck_assert_uint_eq(explained.rule, TRIAD_POLICY_NONE);
	ck_assert_uint_eq(explained.level, TRIAD_POLICY_NONE);
	ck_assert_int_eq(explained.answer.kind, TRIAD_ANSWER_RECORDS);
	ck_assert_uint_eq(explained.answer.n, 1);
	ck_assert_ptr_eq(explained.answer.records, &explained.record);
	ck_assert_uint_eq(explained.slid, 4);
	ck_assert_uint_eq(explained.dlid, 8);
	ck_assert_uint_eq(explained.record.dlid, 8);
	ck_assert_int_eq(explained.decision.refusal, TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(explained.there.n_hops, 3);
	ck_assert_uint_eq(explained.there.hops[0].port, port_of(2, 1));
	ck_assert_uint_eq(
		explained.there.hops[1].port, port_of(0, plan->nodes[0].lft[8]));
	ck_assert_uint_eq(explained.there.hops[2].port, port_of(1, 1));
	ck_assert_uint_eq(explained.there.hops[1].in_port, 1);
	ck_assert_uint_eq(explained.back.n_hops, 3);
	ck_assert_uint_eq(explained.back.hops[0].port, port_of(4, 1));
	ck_assert_uint_eq(explained.back.hops[2].port, port_of(0, 1));
}
END_TEST

START_TEST(test_lids_of_the_request_and_path_bits_shown)
{
	request.has = TRIAD_HAS_SLID;
	request.slid = 5;
	explain(2, 4);
	ck_assert_uint_eq(explained.slid, 5);
	ck_assert_uint_eq(explained.dlid, 8);
	request.has = 0;
	use_policy("qos-levels\nqos-level\nname: DEFAULT\nsl: 0\npath-bits: 1\n"
		   "end-qos-level\nend-qos-levels\n");
	explain(2, 4);
	ck_assert_uint_eq(explained.answer.n, 1);
	ck_assert_uint_eq(explained.dlid, 9);
	ck_assert_int_eq(explained.there.end, TRIAD_WALK_ARRIVED);
}
END_TEST

/* Row: X2 */
START_TEST(test_vl15_shown_where_it_is)
{
	plan->sa.qos = true;
	for (unsigned in = 0; in < 7; in++)
		plan_set_sls(plan_port(plan, 1, 1), in, 0xfffd);
	build();
	use_policy(HEAD RULE("destination: four\n") TAIL);
	explain(2, 4);
	ck_assert_uint_eq(explained.answer.n, 0);
	ck_assert_int_eq(explained.answer.kind, TRIAD_ANSWER_RECORDS);
	ck_assert_int_eq(explained.decision.refusal, TRIAD_REFUSAL_LEVEL_SL);
	ck_assert_uint_eq(explained.sl, 1);
	ck_assert_int_eq(explained.there.end, TRIAD_WALK_ARRIVED);
	ck_assert_uint_eq(explained.there.n_hops, 3);
	ck_assert_uint_eq(explained.there.hops[1].sls, 0xffff);
	ck_assert_uint_eq(explained.there.hops[2].sls, 0xfffd);
	ck_assert_uint_eq(triad_paths_vl(paths, explained.there.hops[2].port,
				  explained.there.hops[2].in_port, explained.sl),
		15);
}
END_TEST

/* Without a path, VLs are looked up by the level's SL, else the one requested, else
 * that of the partition. */
START_TEST(test_sl_shown_without_a_path)
{
	plan_add_partition(plan, 0x7fff, 6, "Default");
	build();
	request.has = TRIAD_HAS_MTU;
	request.mtu_selector = TRIAD_SELECT_GREATER;
	request.mtu = 5;
	request.sl = 9;
	explain(2, 4);
	ck_assert_int_eq(explained.decision.refusal, TRIAD_REFUSAL_MTU);
	ck_assert_uint_eq(explained.sl, 6);
	request.has |= TRIAD_HAS_SL;
	explain(2, 4);
	ck_assert_uint_eq(explained.sl, 9);
	use_policy(HEAD TAIL);
	explain(2, 4);
	ck_assert_uint_eq(explained.sl, 0);
	request.has = 0;
	explain(2, 4);
	ck_assert_int_eq(explained.decision.refusal, TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(explained.sl, explained.decision.sl);
}
END_TEST

START_TEST(test_sl_of_the_path_shown_when_there_is_one)
{
	static const uint16_t pkeys[] = {0xffff, 0x8105};

	plan_set_pkeys(plan_port(plan, 2, 1), pkeys, 2);
	plan_set_pkeys(plan_port(plan, 4, 1), pkeys, 2);
	plan_add_partition(plan, 0x7fff, 6, "Default");
	plan_add_partition(plan, 0x0105, 4, "other");
	build();
	request.has = TRIAD_HAS_PKEY;
	request.pkey = 0xffff;
	explain(2, 4);
	ck_assert_uint_eq(explained.sl, 6);
	request.pkey = 0x8105;
	explain(2, 4);
	ck_assert_uint_eq(explained.sl, 4);
}
END_TEST

START_TEST(test_route_that_does_not_arrive_shown_as_far_as_it_goes)
{
	plan->nodes[1].lft[8] = 40;
	plan_port(plan, 1, 4)->is_there = false;
	build();
	explain(2, 4);
	ck_assert_int_eq(explained.there.end, TRIAD_WALK_NO_ROUTE);
	ck_assert_uint_eq(explained.there.n_hops, 2);
	plan->nodes[1].lft[8] = 4;
	build();
	explain(2, 4);
	ck_assert_int_eq(explained.answer.kind, TRIAD_ANSWER_FALL_BACK);
	ck_assert_int_eq(explained.there.end, TRIAD_WALK_NO_ROUTE);
	ck_assert_uint_eq(explained.there.n_hops, 2);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("explain");

	tcase_add_checked_fixture(cases, set_up, drop_all);
	tcase_add_test(cases, test_end_by_lid);
	tcase_add_test(cases, test_end_by_guid_of_port_alias_or_node);
	tcase_add_test(cases, test_end_by_name_and_number);
	tcase_add_test(cases, test_end_of_node_with_several_ports_needs_a_number);
	tcase_add_test(cases, test_end_by_host_hca_and_number);
	tcase_add_test(cases, test_end_by_name_of_several_nodes_reported);
	tcase_add_test(cases, test_end_reason_cut_where_room_ends);
	tcase_add_test(cases, test_near_misses_before_the_rule_that_matched);
	tcase_add_test(cases, test_near_misses_of_each_field_of_the_request);
	tcase_add_test(cases, test_near_misses_more_than_fit_counted);
	tcase_add_test(cases, test_hops_in_both_directions_and_the_answer);
	tcase_add_test(cases, test_lids_of_the_request_and_path_bits_shown);
	tcase_add_test(cases, test_vl15_shown_where_it_is);
	tcase_add_test(cases, test_sl_shown_without_a_path);
	tcase_add_test(cases, test_sl_of_the_path_shown_when_there_is_one);
	tcase_add_test(cases, test_route_that_does_not_arrive_shown_as_far_as_it_goes);
	return run_cases(cases);
}
