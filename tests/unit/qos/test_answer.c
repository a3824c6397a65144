/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Complete answers: their ends, pairs and LIDs, and the order of records. */
#include "qos/answer.h"

#include "tests/unit/qos/path_fixture.h"

#define PREFIX UINT64_C(0xfe80000000000000)
#define GUID(node) (UINT64_C(0x1000) * (1 + (node)) + ((node) > 1))
#define ROOM 300

static struct triad_path_request request;
static struct triad_answer answer;
static struct triad_path_record records[ROOM];
static uint16_t requester;

static void set_up(void)
{
	plan_two_switches(0);
	build();
	requester = 3; /* host 2 */
	answer.records = records;
	answer.room = ROOM;
}

static struct triad_path_engine engine;

static void ask(void)
{
	const struct triad_answer_snapshot snapshot = {
		.paths = paths, .classifier = classifier, .engine = engine};

	triad_answer_path(&snapshot, &request, requester, &answer);
}

static unsigned lid_of(unsigned node)
{
	return plan_port(plan, node, node > 1)->port.lid;
}

/* Begins a request by GIDs; tests add to it. */
static void by_gids(uint64_t source, uint64_t destination)
{
	request = (struct triad_path_request){.has = TRIAD_HAS_SGID | TRIAD_HAS_DGID,
		.n_sources = 1,
		.n_destinations = 1,
		.gids = {{PREFIX, source}, {PREFIX, destination}}};
}

static void by_lids(unsigned source, unsigned destination)
{
	request = (struct triad_path_request){.has = TRIAD_HAS_SLID | TRIAD_HAS_DLID,
		.slid = (uint16_t)source,
		.dlid = (uint16_t)destination};
}

static void check_n(unsigned n)
{
	ask();
	ck_assert_int_eq(answer.kind, TRIAD_ANSWER_RECORDS);
	ck_assert_uint_eq(answer.n, n);
}

static void check_pass(enum triad_fallback fallback)
{
	ask();
	ck_assert_int_eq(answer.kind, TRIAD_ANSWER_FALL_BACK);
	ck_assert_int_eq(answer.fallback, fallback);
}

static void check_status(enum triad_sa_status status)
{
	ask();
	ck_assert_int_eq(answer.kind, TRIAD_ANSWER_STATUS);
	ck_assert_int_eq(answer.status, status);
}

#define LEVELS(lines)                                                                  \
	"qos-levels\nqos-level\nname: DEFAULT\nsl: 0\nend-qos-level\n"                 \
	"qos-level\nname: L\n" lines "end-qos-level\nend-qos-levels\n"

#define GROUPS                                                                         \
	"port-groups\nport-group\nname: two\nport-guid: 0x3001\nend-port-group\n"      \
	"port-group\nname: four\nport-guid: 0x5001\nend-port-group\nend-port-groups\n"

#define RULE(lines)                                                                    \
	"qos-match-rules\nqos-match-rule\n" lines                                      \
	"qos-level-name: L\nend-qos-match-rule\nend-qos-match-rules\n"

/* --- ends --- */

START_TEST(test_path_by_gids_complete)
{
	by_gids(GUID(2), GUID(4));
	check_n(1);
	ck_assert_uint_eq(records[0].sgid.guid, GUID(2));
	ck_assert_uint_eq(records[0].dgid.guid, GUID(4));
	ck_assert_uint_eq(records[0].dgid.prefix, PREFIX);
	ck_assert_uint_eq(records[0].slid, 3);
	ck_assert_uint_eq(records[0].dlid, 5);
	ck_assert_uint_eq(records[0].pkey, 0xffff);
	ck_assert_uint_eq(records[0].mtu, 5);
	ck_assert_uint_eq(records[0].rate, 16);
	ck_assert_uint_eq(records[0].life, 18);
	ck_assert_uint_eq(records[0].links, 3);
	ck_assert_uint_eq(records[0].preference, 0);
	ck_assert(records[0].reversible);
	ck_assert_uint_eq(answer.source, port_of(2, 1));
	ck_assert_uint_eq(answer.destination, port_of(4, 1));
	ck_assert_uint_eq(answer.level, TRIAD_POLICY_NONE);
}
END_TEST

START_TEST(test_path_by_lids_and_mixed)
{
	by_lids(3, 5);
	check_n(1);
	ck_assert_uint_eq(records[0].sgid.guid, GUID(2));
	ck_assert_uint_eq(records[0].dgid.guid, GUID(4));
	by_gids(GUID(2), 0);
	request.has = TRIAD_HAS_SGID | TRIAD_HAS_DLID;
	request.dlid = 5;
	check_n(1);
	by_lids(1, 2);
	check_n(1);
	ck_assert_uint_eq(records[0].dgid.guid, GUID(1));
	by_lids(3, 3);
	check_n(1);
	ck_assert_uint_eq(records[0].life, 0);
}
END_TEST

START_TEST(test_ends_unknown_no_records)
{
	/* Unknown GUIDs may be aliases newer than the snapshot. */
	by_gids(0x9999, GUID(4));
	check_pass(TRIAD_FALLBACK_UNKNOWN);
	by_gids(GUID(2), 0x9999);
	check_pass(TRIAD_FALLBACK_UNKNOWN);
	by_lids(3, 40);
	check_n(0);
	by_lids(0xffff, 5);
	check_n(0);
	by_lids(3, 0);
	check_n(0);
}
END_TEST

START_TEST(test_gid_and_lid_that_disagree_refused)
{
	by_gids(GUID(2), GUID(4));
	request.has |= TRIAD_HAS_DLID;
	request.dlid = 5;
	check_n(1);
	request.dlid = 6;
	check_status(TRIAD_SA_REQUEST_INVALID);
	by_gids(GUID(2), GUID(4));
	request.has |= TRIAD_HAS_SLID;
	request.slid = 4;
	check_status(TRIAD_SA_REQUEST_INVALID);
	request.slid = 3;
	check_n(1);
}
END_TEST

START_TEST(test_prefix_local_and_foreign)
{
	plan->sa.subnet_prefix = UINT64_C(0x1234567800000000);
	build();
	by_gids(GUID(2), GUID(4));
	check_n(1);
	/* The answer repeats the source GID of the request; the destination GID has
	 * this subnet's prefix. */
	ck_assert_uint_eq(records[0].sgid.prefix, PREFIX);
	ck_assert_uint_eq(records[0].dgid.prefix, UINT64_C(0x1234567800000000));
	request.gids[0].prefix = request.gids[1].prefix = UINT64_C(0x1234567800000000);
	check_n(1);
	request.gids[0].prefix = UINT64_C(0x1234567800000001);
	check_n(0);
	request.gids[0].prefix = PREFIX;
	request.gids[1].prefix = UINT64_C(0x1234567800000001);
	check_pass(TRIAD_FALLBACK_ENDS);
}
END_TEST

/* OpenSM's map compares the last octet on the wire first: 0x...01 comes before 0x...02,
 * whatever the octets before that are. */
START_TEST(test_aliases_by_lid_in_the_order_of_opensms_map)
{
	plan_add_alias(plan, UINT64_C(0x0900000000000000), GUID(4));
	plan_add_alias(plan, UINT64_C(0x0100000000000002), GUID(4));
	plan_add_alias(plan, UINT64_C(0x0000000000000300), GUID(2));
	build();
	by_lids(3, 5);
	check_n(6);
	ck_assert_uint_eq(records[0].sgid.guid, 0x300);
	ck_assert_uint_eq(records[0].dgid.guid, UINT64_C(0x0900000000000000));
	ck_assert_uint_eq(records[1].sgid.guid, 0x300);
	ck_assert_uint_eq(records[1].dgid.guid, GUID(4));
	ck_assert_uint_eq(records[2].dgid.guid, UINT64_C(0x0100000000000002));
	ck_assert_uint_eq(records[3].sgid.guid, GUID(2));
	request.one = true;
	check_n(1);
	ck_assert_uint_eq(records[0].sgid.guid, 0x300);
	by_gids(0x300, UINT64_C(0x0100000000000002));
	check_n(1);
	ck_assert_uint_eq(records[0].sgid.guid, 0x300);
	ck_assert_uint_eq(records[0].dgid.guid, UINT64_C(0x0100000000000002));
}
END_TEST

/* --- requests left to OpenSM --- */

START_TEST(test_pass_each_reason)
{
	by_gids(GUID(2), GUID(4));
	request.has = TRIAD_HAS_SGID;
	check_pass(TRIAD_FALLBACK_ENDS);
	request.has = TRIAD_HAS_DLID;
	check_pass(TRIAD_FALLBACK_ENDS);
	request.has = 0;
	check_pass(TRIAD_FALLBACK_ENDS);
	by_gids(GUID(2), GUID(4));
	request.gids[1].prefix = UINT64_C(0xff12401bffff0000);
	check_pass(TRIAD_FALLBACK_MULTICAST);
	request.has &= ~TRIAD_HAS_SGID;
	check_pass(TRIAD_FALLBACK_MULTICAST);
	by_gids(GUID(2), GUID(4));
	request.raw = true;
	check_n(1);
	request.has |= TRIAD_HAS_RAW;
	check_pass(TRIAD_FALLBACK_RAW);
	request.raw = false;
	check_n(1);
	requester = 40;
	check_pass(TRIAD_FALLBACK_REQUESTER);
	requester = 0xffff;
	check_pass(TRIAD_FALLBACK_REQUESTER);
	requester = 3;
	answer.room = 0;
	check_pass(TRIAD_FALLBACK_TOO_MANY);
}
END_TEST

START_TEST(test_pass_changed_for_each_port_and_route)
{
	by_gids(GUID(2), GUID(4));
	requester = 4; /* host 3 */
	for (unsigned node = 2; node < 6; node++) {
		build();
		triad_paths_mark_port(paths, GUID(node));
		if (node < 5)
			check_pass(TRIAD_FALLBACK_CHANGED);
		else
			check_n(1);
	}
	build();
	triad_paths_mark_route(paths, plan->nodes[1].node.guid, 0);
	check_pass(TRIAD_FALLBACK_CHANGED);
	build();
	triad_paths_mark_all(paths);
	check_pass(TRIAD_FALLBACK_CHANGED);
	build();
	request.multi = true;
	triad_paths_mark_port(paths, GUID(4));
	check_pass(TRIAD_FALLBACK_CHANGED);
}
END_TEST

START_TEST(test_level_of_what_is_passed_on_is_its_ends)
{
	use_policy(GROUPS LEVELS("sl: 5\n") RULE("source: two\ndestination: four\n"));
	by_gids(GUID(2), GUID(4));
	triad_paths_mark_all(paths);
	check_pass(TRIAD_FALLBACK_CHANGED);
	ck_assert_uint_eq(answer.source, port_of(2, 1));
	ck_assert_uint_eq(answer.destination, port_of(4, 1));
	by_lids(3, 5);
	check_pass(TRIAD_FALLBACK_CHANGED);
	ck_assert_uint_eq(answer.source, port_of(2, 1));
	ck_assert_uint_eq(answer.destination, port_of(4, 1));
	request.has = TRIAD_HAS_SLID;
	requester = 40;
	check_pass(TRIAD_FALLBACK_REQUESTER);
	ck_assert_uint_eq(answer.source, port_of(2, 1));
	ck_assert_uint_eq(answer.destination, TRIAD_FABRIC_NONE);
}
END_TEST

START_TEST(test_port_without_a_lid_gets_no_path)
{
	plan_port(plan, 4, 1)->port.lid = 0;
	build();
	by_gids(GUID(2), GUID(4));
	check_n(0);
	by_gids(GUID(4), GUID(4));
	check_n(0);
	request.multi = true;
	check_pass(TRIAD_FALLBACK_CHANGED);
	by_gids(GUID(2), GUID(4));
	request.multi = true;
	check_pass(TRIAD_FALLBACK_CHANGED);
	by_gids(GUID(4), GUID(2));
	request.multi = true;
	check_pass(TRIAD_FALLBACK_CHANGED);
}
END_TEST

static uint8_t say_9(void *context, uint8_t sl, uint16_t slid, uint16_t dlid)
{
	(void)context;
	(void)sl;
	(void)slid;
	(void)dlid;
	return 9;
}

START_TEST(test_pass_engine_unless_it_can_be_asked)
{
	plan->sa.engine_has_sl = true;
	build();
	by_gids(GUID(2), GUID(4));
	check_pass(TRIAD_FALLBACK_ENGINE);
	engine.sl = say_9;
	check_n(1);
	ck_assert_uint_eq(records[0].sl, 9);
	engine.sl = NULL;
	request.multi = true;
	check_n(1);
}
END_TEST

START_TEST(test_pass_names_all_there)
{
	for (int i = 0; i < TRIAD_N_FALLBACKS; i++)
		ck_assert_uint_gt(strlen(triad_fallback_name(i)), 2);
	ck_assert_str_eq(triad_fallback_name(TRIAD_N_FALLBACKS), "unknown");
}
END_TEST

/* --- P_Keys of the requester and the ends --- */

static void set_pkey(unsigned node, uint16_t pkey)
{
	plan_set_pkeys(plan_port(plan, node, 1), &pkey, 1);
}

START_TEST(test_requester_that_shares_no_pkey_gets_none)
{
	by_gids(GUID(2), GUID(4));
	requester = 4; /* host 3 */
	check_n(1);
	set_pkey(3, 0x8001);
	build();
	check_n(0);
	/* A limited member shares the partition with full members, not with other
	 * limited ones. */
	set_pkey(3, 0x7fff);
	build();
	check_n(1);
	set_pkey(2, 0x7fff);
	build();
	check_n(0);
	set_pkey(3, 0xffff);
	set_pkey(4, 0x7fff);
	build();
	check_n(0);
	request.multi = true;
	check_n(0);
}
END_TEST

START_TEST(test_requester_must_share_a_pkey_with_each_end)
{
	static const uint16_t both[] = {0x8001, 0x8002};

	set_pkey(2, 0x8001);
	plan_set_pkeys(plan_port(plan, 4, 1), both, 2);
	set_pkey(3, 0x8002);
	build();
	requester = 4;
	by_gids(GUID(2), GUID(4));
	check_n(0);
	by_gids(GUID(4), GUID(2));
	check_n(0);
	set_pkey(3, 0x8001);
	build();
	check_n(1);
}
END_TEST

/* Without a common P_Key there is no path, even if routes changed since the
 * snapshot. */
START_TEST(test_ends_that_share_no_pkey_get_none_whatever_the_path)
{
	static const uint16_t both[] = {0x8001, 0x8002};

	set_pkey(2, 0x8001);
	set_pkey(4, 0x8002);
	plan_set_pkeys(plan_port(plan, 3, 1), both, 2);
	plan->nodes[0].lft[5] = PLAN_NO_ROUTE;
	build();
	requester = 4;
	by_gids(GUID(2), GUID(4));
	check_n(0);
	request.multi = true;
	check_n(0);
	by_gids(GUID(3), GUID(4));
	check_pass(TRIAD_FALLBACK_CHANGED);
}
END_TEST

/* --- LIDs --- */

/* Checks the i-th record; LIDs are given as offsets from the ends' base LIDs. */
static void check_lids(
	unsigned i, unsigned source, unsigned destination, unsigned preference)
{
	ck_assert_msg(records[i].slid == lid_of(2) + source &&
			records[i].dlid == lid_of(4) + destination &&
			records[i].preference == preference,
		"%u: %u to %u, preference %u", i, records[i].slid - lid_of(2),
		records[i].dlid - lid_of(4), records[i].preference);
}

START_TEST(test_paths_that_share_no_lid_first)
{
	plan_two_switches(1);
	build();
	requester = (uint16_t)lid_of(2);
	by_gids(GUID(2), GUID(4));
	check_n(4);
	check_lids(0, 0, 0, 0);
	check_lids(1, 1, 1, 0);
	check_lids(2, 0, 1, 2);
	check_lids(3, 1, 0, 2);
	plan_two_switches(2);
	build();
	requester = (uint16_t)lid_of(2);
	check_n(16);
	for (unsigned i = 0; i < 4; i++)
		check_lids(i, i, i, 0);
	check_lids(4, 0, 1, 2);
	check_lids(7, 1, 0, 2);
	check_lids(15, 3, 2, 2);
}
END_TEST

START_TEST(test_paths_as_many_as_asked_for)
{
	plan_two_switches(2);
	build();
	requester = (uint16_t)lid_of(2);
	by_gids(GUID(2), GUID(4));
	request.has |= TRIAD_HAS_N_PATHS;
	for (unsigned n = 0; n < 20; n++) {
		request.n_paths = (uint8_t)n;
		request.multi = false;
		check_n(n < 16 ? n : 16);
		request.multi = true;
		if (n)
			check_n(n < 16 ? n : 16);
	}
	request.multi = false;
	request.one = true;
	check_n(1);
	request.n_paths = 0;
	check_n(1);
	request.has &= ~TRIAD_HAS_N_PATHS;
	check_n(1);
}
END_TEST

START_TEST(test_paths_with_a_lid_asked_for_end_there)
{
	plan_two_switches(2);
	build();
	requester = (uint16_t)lid_of(2);
	by_gids(GUID(2), GUID(4));
	request.has |= TRIAD_HAS_DLID;
	request.dlid = (uint16_t)(lid_of(4) + 2);
	check_n(4);
	check_lids(0, 0, 2, 0);
	check_lids(1, 1, 2, 2);
	check_lids(3, 3, 2, 2);
	request.has |= TRIAD_HAS_SLID;
	request.slid = (uint16_t)(lid_of(2) + 3);
	check_n(1);
	check_lids(0, 3, 2, 0);
}
END_TEST

START_TEST(test_room_too_small_left_to_opensm)
{
	plan_two_switches(1);
	build();
	requester = (uint16_t)lid_of(2);
	by_gids(GUID(2), GUID(4));
	answer.room = 4;
	check_n(4);
	answer.room = 3;
	memset(&records[3], 0xee, sizeof(records[3]));
	check_pass(TRIAD_FALLBACK_TOO_MANY);
	ck_assert_uint_eq(records[3].slid, 0xeeee);
	answer.room = 1;
	request.one = true;
	check_n(1);
}
END_TEST

/* --- a policy --- */

START_TEST(test_rule_of_one_direction_holds_for_the_return_path)
{
	plan->sa.qos = true;
	plan_set_sls(plan_port(plan, 2, 1), 0, 0x0002);
	plan_set_sls(plan_port(plan, 4, 1), 0, 0x0002);
	build();
	use_policy(GROUPS LEVELS("sl: 1\n") RULE("source: two\ndestination: four\n"));
	by_gids(GUID(2), GUID(4));
	request.has |= TRIAD_HAS_REVERSIBLE;
	request.reversible = true;
	/* With the default level the return path would be on VL15. */
	check_n(1);
	ck_assert(records[0].reversible);
	ck_assert_uint_eq(records[0].sl, 1);
	ck_assert_uint_eq(answer.rule, 0);
	ck_assert_str_eq(policy->levels[answer.level].name, "L");
	by_gids(GUID(4), GUID(2));
	check_n(0);
	ck_assert_uint_eq(answer.rule, TRIAD_POLICY_NONE);
	ck_assert_uint_eq(answer.level, policy->default_level);
}
END_TEST

/* Row: Q4 */
START_TEST(test_rule_by_each_field_of_the_request)
{
	static const struct {
		const char *condition;
		unsigned has;
	} cases[] = {{"service-id: 0x77\n", TRIAD_HAS_SERVICE_ID},
		{"tclass: 7\n", TRIAD_HAS_TCLASS},
		{"qos-class: 7\n", TRIAD_HAS_QOS_CLASS},
		{"pkey: 0x7fff\n", TRIAD_HAS_PKEY}, {"sl: 1\n", TRIAD_HAS_SL}};
	char text[1024];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text),
			LEVELS("sl: 1\nmtu-limit: 2\n") RULE("use: x\n%s"),
			cases[i].condition);
		use_policy(text);
		by_gids(GUID(2), GUID(4));
		request.service_id = 0x77;
		request.tclass = 7;
		request.qos_class = 7;
		request.pkey = 0xffff;
		request.sl = 1;
		check_n(1);
		ck_assert_msg(records[0].mtu == 5, "case %u", i);
		request.has |= cases[i].has;
		check_n(1);
		ck_assert_msg(records[0].mtu == 2, "case %u", i);
	}
}
END_TEST

/* Row: Q8 */
START_TEST(test_tclass_of_level_else_the_one_asked_for)
{
	by_gids(GUID(2), GUID(4));
	request.tclass = 77;
	check_n(1);
	ck_assert_uint_eq(records[0].tclass, 0);
	request.has |= TRIAD_HAS_TCLASS;
	check_n(1);
	ck_assert_uint_eq(records[0].tclass, 0);
	use_policy("qos-ulps\ndefault: 0\nend-qos-ulps\n");
	check_n(1);
	ck_assert_uint_eq(records[0].tclass, 77);
	request.has &= ~TRIAD_HAS_TCLASS;
	check_n(1);
	ck_assert_uint_eq(records[0].tclass, 0);
	use_policy(LEVELS("sl: 0\ntclass: 32\n") RULE("tclass: 77\n"));
	request.has |= TRIAD_HAS_TCLASS;
	check_n(1);
	ck_assert_uint_eq(records[0].tclass, 32);
}
END_TEST

#define PARTITION_LEVEL                                                                \
	"partition-levels\npartition-level\npkey: 1\nqos-level-name: L\n"              \
	"end-partition-level\nend-partition-levels\n"

/* Row: Q5 */
START_TEST(test_partition_level_where_no_rule_matches)
{
	static const uint16_t pkeys[] = {0x8001, 0xffff};

	plan_set_pkeys(plan_port(plan, 2, 1), pkeys, 2);
	plan_set_pkeys(plan_port(plan, 4, 1), pkeys, 2);
	build();
	use_policy(GROUPS LEVELS("sl: 5\n") PARTITION_LEVEL);
	/* The partition's level follows from the P_Key of the path, unless the request
	 * names another. */
	by_gids(GUID(2), GUID(4));
	check_n(1);
	ck_assert_uint_eq(records[0].pkey, 0x8001);
	ck_assert_uint_eq(records[0].sl, 5);
	ck_assert_uint_eq(answer.rule, TRIAD_POLICY_NONE);
	request.has |= TRIAD_HAS_PKEY;
	request.pkey = 0xffff;
	check_n(1);
	ck_assert_uint_eq(records[0].sl, 0);
	request.pkey = 0x0001;
	check_n(1);
	ck_assert_uint_eq(records[0].sl, 5);
	by_gids(GUID(2), GUID(5));
	check_n(1);
	ck_assert_uint_eq(records[0].sl, 0);
}
END_TEST

START_TEST(test_level_of_ends_that_are_not_known)
{
	struct triad_answer_snapshot snapshot = {.paths = paths};
	uint32_t rule = 0;

	by_gids(GUID(2), GUID(4));
	ck_assert_uint_eq(triad_answer_level(&snapshot, &request, TRIAD_FABRIC_NONE,
				  TRIAD_FABRIC_NONE, &rule),
		TRIAD_POLICY_NONE);
	ck_assert_uint_eq(rule, TRIAD_POLICY_NONE);
	use_policy(GROUPS LEVELS("sl: 5\n") RULE("source: two\n"));
	snapshot.classifier = classifier;
	ck_assert_uint_eq(triad_answer_level(&snapshot, &request, port_of(2, 1),
				  TRIAD_FABRIC_NONE, &rule),
		policy->rules[0].level);
	ck_assert_uint_eq(rule, 0);
	ck_assert_uint_eq(triad_answer_level(&snapshot, &request, TRIAD_FABRIC_NONE,
				  port_of(2, 1), &rule),
		policy->default_level);
}
END_TEST

/* Row: Q8 */
START_TEST(test_path_bits_choose_destination_lids)
{
	static const unsigned n[] = {1, 2, 4, 8};

	for (unsigned lmc = 0; lmc < 4; lmc++) {
		plan_two_switches(lmc);
		build();
		use_policy(GROUPS LEVELS("sl: 0\npath-bits: 5\n")
				RULE("destination: four\n"));
		requester = (uint16_t)lid_of(2);
		by_gids(GUID(2), GUID(4));
		/* There is a record for each source LID, all to one destination LID. */
		check_n(n[lmc]);
		for (unsigned i = 0; i < answer.n; i++)
			ck_assert_uint_eq(
				records[i].dlid, lid_of(4) + (5 & (n[lmc] - 1)));
		request.has |= TRIAD_HAS_DLID;
		request.dlid = (uint16_t)lid_of(4);
		check_n(lmc == 0);
		request.dlid = (uint16_t)(lid_of(4) + (5 & (n[lmc] - 1)));
		check_n(n[lmc]);
		by_gids(GUID(4), GUID(2));
		check_n(n[lmc] * n[lmc]);
	}
}
END_TEST

/* --- MultiPathRecord --- */

static void by_lists(unsigned n_sources, unsigned n_destinations, const uint64_t *guids)
{
	request = (struct triad_path_request){.multi = true,
		.n_sources = (uint8_t)n_sources,
		.n_destinations = (uint8_t)n_destinations};
	for (unsigned i = 0; i < n_sources + n_destinations; i++)
		request.gids[i] = (struct triad_gid){PREFIX, guids[i]};
}

static void check_ends(unsigned i, unsigned source, unsigned destination)
{
	ck_assert_uint_eq(records[i].sgid.guid, GUID(source));
	ck_assert_uint_eq(records[i].dgid.guid, GUID(destination));
}

START_TEST(test_multi_each_source_with_each_destination)
{
	static const uint64_t guids[] = {GUID(2), GUID(3), GUID(4), GUID(5), GUID(2)};

	by_lists(2, 3, guids);
	check_n(6);
	check_ends(0, 2, 4);
	check_ends(1, 2, 5);
	check_ends(2, 2, 2);
	check_ends(3, 3, 4);
	check_ends(5, 3, 2);
	request.has = TRIAD_HAS_N_PATHS;
	request.n_paths = 4;
	check_n(4);
	check_ends(3, 3, 4);
}
END_TEST

START_TEST(test_multi_at_most_127_unless_asked_otherwise)
{
	static const uint64_t guids[] = {GUID(2), GUID(3), GUID(4), GUID(5)};

	plan_two_switches(3);
	build();
	requester = (uint16_t)lid_of(2);
	by_lists(2, 2, guids);
	check_n(127);
}
END_TEST

START_TEST(test_multi_pair_that_may_not_talk_left_out)
{
	static const uint64_t guids[] = {GUID(2), GUID(4), GUID(5)};

	set_pkey(4, 0x8001);
	build();
	by_lists(1, 2, guids);
	check_n(1);
	check_ends(0, 2, 5);
}
END_TEST

START_TEST(test_multi_lists_that_are_wrong_refused)
{
	static const uint64_t guids[] = {GUID(2), GUID(4), 0x9999};

	by_lists(1, 2, guids);
	check_pass(TRIAD_FALLBACK_UNKNOWN);
	by_lists(1, 1, guids);
	request.gids[1].prefix = UINT64_C(0x1234567800000001);
	check_status(TRIAD_SA_INVALID_GID);
	by_lists(2, 0, guids);
	check_status(TRIAD_SA_REQUEST_INVALID);
	by_lists(0, 2, guids);
	check_status(TRIAD_SA_REQUEST_INVALID);
	by_lists(0, 0, guids);
	check_status(TRIAD_SA_REQUEST_INVALID);
	by_lists(1, 1, guids);
	request.has = TRIAD_HAS_RAW;
	request.raw = true;
	check_pass(TRIAD_FALLBACK_RAW);
}
END_TEST

/* The records are in the order of GUIDs, whatever the order in the request. */
START_TEST(test_migration_two_paths_that_share_no_end)
{
	static const uint64_t orders[][4] = {{GUID(2), GUID(3), GUID(4), GUID(5)},
		{GUID(3), GUID(2), GUID(4), GUID(5)},
		{GUID(3), GUID(2), GUID(5), GUID(4)}};

	for (unsigned i = 0; i < 3; i++) {
		by_lists(2, 2, orders[i]);
		request.n_paths = 2;
		check_n(2);
		check_ends(0, 2, 4);
		check_ends(1, 3, 5);
	}
}
END_TEST

/* Hosts 2 and 5 share a switch, and so do hosts 3 and 4. */
START_TEST(test_migration_the_shorter_diagonal)
{
	static const uint64_t guids[] = {GUID(2), GUID(3), GUID(4), GUID(5)};

	plan_two_switches(0);
	plan_link(plan, 0, 2, 5, 1);
	plan_link(plan, 1, 2, 3, 1);
	plan_route(plan);
	build();
	by_lists(2, 2, guids);
	request.n_paths = 2;
	check_n(2);
	check_ends(0, 2, 5);
	check_ends(1, 3, 4);
	ck_assert_uint_eq(records[0].links, 2);
}
END_TEST

START_TEST(test_migration_one_pair_without_a_path)
{
	static const uint64_t guids[] = {GUID(2), GUID(3), GUID(4), GUID(5)};

	use_policy(GROUPS LEVELS("sl: 0\nmtu-limit: 1\n")
			RULE("source: two\ndestination: four\n"));
	by_lists(2, 2, guids);
	request.n_paths = 2;
	request.has = TRIAD_HAS_MTU;
	request.mtu_selector = TRIAD_SELECT_GREATER;
	request.mtu = 2;
	/* There is no path from 2 to 4, so that diagonal has only the path from 3 to
	 * 5. */
	check_n(1);
	check_ends(0, 3, 5);
}
END_TEST

/* OpenSM hashes the ends' LIDs, byte-swapped and without the 3 LMC bits.  LIDs 8 and 24
 * give 256 and 768; 256 * 16 | 768 = 4864, and 4864 mod 103 = 23. */
START_TEST(test_migration_lids_follow_from_the_first_ends)
{
	static const uint64_t guids[] = {GUID(2), GUID(3), GUID(4), GUID(5)};

	plan_two_switches(3);
	build();
	requester = (uint16_t)lid_of(2);
	ck_assert_uint_eq(lid_of(2), 8);
	ck_assert_uint_eq(lid_of(4), 24);
	by_lists(2, 2, guids);
	request.n_paths = 2;
	check_n(2);
	check_lids(0, 23 % 8, 23 % 8, 0);
	ck_assert_uint_eq(records[1].slid, lid_of(3) + 24 % 8);
	ck_assert_uint_eq(records[1].dlid, lid_of(5) + 24 % 8);
	/* If the level forbids those LIDs, OpenSM takes the next ones. */
	use_policy("qos-levels\nqos-level\nname: DEFAULT\nsl: 0\npath-bits: 1\n"
		   "end-qos-level\nend-qos-levels\n");
	check_n(2);
	check_lids(0, 1, 1, 0);
	ck_assert_uint_eq(records[1].dlid, lid_of(5) + 1);
}
END_TEST

START_TEST(test_multi_prefix_of_this_subnet_reported)
{
	static const uint64_t guids[] = {GUID(2), GUID(4)};

	plan->sa.subnet_prefix = UINT64_C(0x1234567800000000);
	build();
	by_lists(1, 1, guids);
	check_n(1);
	ck_assert_uint_eq(records[0].sgid.prefix, UINT64_C(0x1234567800000000));
	ck_assert_uint_eq(records[0].dgid.prefix, UINT64_C(0x1234567800000000));
}
END_TEST

static void add_tests(TCase *cases)
{
	tcase_add_test(cases, test_path_by_gids_complete);
	tcase_add_test(cases, test_path_by_lids_and_mixed);
	tcase_add_test(cases, test_ends_unknown_no_records);
	tcase_add_test(cases, test_gid_and_lid_that_disagree_refused);
	tcase_add_test(cases, test_prefix_local_and_foreign);
	tcase_add_test(cases, test_aliases_by_lid_in_the_order_of_opensms_map);
	tcase_add_test(cases, test_pass_each_reason);
	tcase_add_test(cases, test_pass_changed_for_each_port_and_route);
	tcase_add_test(cases, test_level_of_what_is_passed_on_is_its_ends);
	tcase_add_test(cases, test_port_without_a_lid_gets_no_path);
	tcase_add_test(cases, test_pass_engine_unless_it_can_be_asked);
	tcase_add_test(cases, test_pass_names_all_there);
	tcase_add_test(cases, test_requester_that_shares_no_pkey_gets_none);
	tcase_add_test(cases, test_requester_must_share_a_pkey_with_each_end);
	tcase_add_test(cases, test_paths_that_share_no_lid_first);
	tcase_add_test(cases, test_paths_as_many_as_asked_for);
	tcase_add_test(cases, test_paths_with_a_lid_asked_for_end_there);
	tcase_add_test(cases, test_room_too_small_left_to_opensm);
	tcase_add_test(cases, test_rule_of_one_direction_holds_for_the_return_path);
	tcase_add_test(cases, test_rule_by_each_field_of_the_request);
	tcase_add_test(cases, test_tclass_of_level_else_the_one_asked_for);
	tcase_add_test(cases, test_partition_level_where_no_rule_matches);
	tcase_add_test(cases, test_level_of_ends_that_are_not_known);
	tcase_add_test(cases, test_path_bits_choose_destination_lids);
	tcase_add_test(cases, test_multi_each_source_with_each_destination);
	tcase_add_test(cases, test_multi_at_most_127_unless_asked_otherwise);
	tcase_add_test(cases, test_multi_pair_that_may_not_talk_left_out);
	tcase_add_test(cases, test_multi_lists_that_are_wrong_refused);
	tcase_add_test(cases, test_migration_two_paths_that_share_no_end);
	tcase_add_test(cases, test_migration_the_shorter_diagonal);
	tcase_add_test(cases, test_migration_one_pair_without_a_path);
	tcase_add_test(cases, test_migration_lids_follow_from_the_first_ends);
	tcase_add_test(cases, test_multi_prefix_of_this_subnet_reported);
	tcase_add_test(cases, test_ends_that_share_no_pkey_get_none_whatever_the_path);
}

int main(void)
{
	TCase *cases = tcase_create("answer");

	tcase_add_checked_fixture(cases, set_up, drop_all);
	add_tests(cases);
	return run_cases(cases);
}
