/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Policies in OpenSM's syntax. */
#include "config.h"

#include "tests/unit/qos/policy_fixture.h"

#include "triad/fabric.h"
#include "triad/lists.h"

#define DEFAULT "qos-ulps\ndefault:0\nend-qos-ulps\n"

/* --- whole files ------------------------------------------------------- */

/* Row: Q1 */
START_TEST(test_example_installed_read)
{
	char *text = read_source("contrib/qos/qos-policy.conf");
	const struct triad_policy_group *group;
	const struct triad_policy_level *level;
	const struct triad_policy_rule *rule;

	accept(text);
	g_free(text);
	ck_assert_uint_eq(policy->n_groups, 5);
	group = &policy->groups[triad_policy_find_group(policy, "storage")];
	check_ranges(&group->guids,
		"1000000000000001-1000000000000001,1000000000000010-100000000000001f");
	group = &policy->groups[triad_policy_find_group(policy, "Login")];
	ck_assert_uint_eq(group->n_port_names, 2);
	ck_assert_str_eq(group->port_names[1].node, "login2 HCA-1");
	ck_assert_uint_eq(group->port_names[1].number, 1);
	ck_assert(!group->port_names[1].words);
	group = &policy->groups[triad_policy_find_group(policy, "Backup")];
	ck_assert_uint_eq(group->n_partitions, 2);
	ck_assert_str_eq(group->partitions[1], "archive");
	check_ranges(&group->pkeys, "10-1f");
	group = &policy->groups[triad_policy_find_group(policy, "Routers and the SM")];
	ck_assert_uint_eq(group->node_types, 1 << TRIAD_NODE_ROUTER);
	ck_assert(group->self);
	level = &policy->levels[triad_policy_find_level(policy, "bulk")];
	ck_assert_uint_eq(level->sl, 3);
	ck_assert_uint_eq(level->rate_limit, 7);
	check_ranges(&level->path_bits, "1-1");
	ck_assert_str_eq(policy->levels[policy->default_level].name, "DEFAULT");
	rule = &policy->rules[0];
	check_ranges(&rule->tclasses, "7-9,b-b");
	ck_assert_str_eq(policy->levels[rule->level].name, "Latency");
	ck_assert_uint_eq(policy->n_partition_levels, 1);
	ck_assert_str_eq(policy->partition_levels[0].partition, "archive");
	ck_assert_uint_eq(policy->n_sl2vl, 2);
	ck_assert(policy->sl2vl[0].scope.from_any && policy->sl2vl[0].scope.to_any);
	ck_assert_uint_eq(policy->sl2vl[0].scope.groups.n, 2);
	ck_assert_uint_eq(policy->sl2vl[1].scope.across_to.n, 1);
	ck_assert(policy->sl2vl[1].scope.from_any && policy->sl2vl[1].scope.to_any);
	ck_assert_uint_eq(policy->vlarb[0].n_high, 2);
	ck_assert_uint_eq(policy->vlarb[0].high[1].weight, 32);
}
END_TEST

START_TEST(test_file_shortest_read)
{
	accept("qos-levels\nqos-level\nname: Default\nsl: 3\nend-qos-level\n"
	       "end-qos-levels\n");
	ck_assert_uint_eq(policy->levels[policy->default_level].sl, 3);
	accept(DEFAULT);
	ck_assert_uint_eq(policy->levels[policy->default_level].sl, 0);
}
END_TEST

START_TEST(test_file_empty_needs_default_level)
{
	const char *expected =
		"p: default 'default : SL' qos-ulps qos.default_level --default-level";

	refuse("", expected);
	refuse("# nothing\n\n", expected);
}
END_TEST

START_TEST(test_default_level_asked_for_taken)
{
	const char *text = "qos-levels\nqos-level\nname: Gold\nsl: 3\nend-qos-level\n"
			   "end-qos-levels\n" DEFAULT;

	ck_assert_int_eq(parse_with(text, "gold"), 0);
	ck_assert_str_eq(policy->levels[policy->default_level].name, "Gold");
	ck_assert_int_eq(parse_with(text, "glod"), EINVAL);
	assert_mentions(mistakes(), "p: level 'glod' 'Gold'");
}
END_TEST

/* --- how lines are written --------------------------------------------- */

static const struct triad_policy_group *group_with(const char *lines)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"port-groups\nport-group\nname: g\n%s\nend-port-group\n"
		"end-port-groups\n" DEFAULT,
		lines);
	accept(text);
	return &policy->groups[0];
}

START_TEST(test_lines_as_opensm_reads_them)
{
	check_ranges(&group_with("port-guid  :  0x1 ,\t2 - 4")->guids, "1-4");
	check_ranges(
		&group_with("port-guid:1\r\n\r\nport-guid: 7\r")->guids, "1-1,7-7");
	check_ranges(&group_with("port-guid: 5-3 # backwards")->guids, "3-5");
	check_ranges(&group_with("port-guid: 1,\n# not yet\n 3")->guids, "1-1,3-3");
	check_ranges(&group_with("port-guid: 1\n , 3")->guids, "1-1,3-3");
	check_ranges(&group_with("port-guid:\n 5")->guids, "5-5");
	check_ranges(&group_with("port-guid: 010")->guids, "8-8");
	check_ranges(&group_with("port_guid: 1")->guids, "1-1");
	ck_assert_str_eq(
		group_with("use: 19\" rack, it's 7-9 # x")->use, "19\" rack, it's 7-9");
	ck_assert_str_eq(group_with("use: \"a # b\" c")->use, "a # b c");
	ck_assert_str_eq(group_with("use:")->use, "");
	ck_assert_str_eq(group_with("")->use, "");
	ck_assert_str_eq(group_with("partition: \"a, b\",c")->partitions[0], "a, b");
	ck_assert_str_eq(
		group_with("port-name: \"a/b c/P2\"")->port_names[0].node, "a/b c");
	/* The RFC's form of names exists only in XML. */
	ck_assert(!group_with("port-name: vs1/HCA-1/P1")->port_names[0].words);
	ck_assert_str_eq(policy->groups[0].port_names[0].node, "vs1/HCA-1");
	ck_assert_uint_eq(group_with("node-type: hca, all")->node_types, 0xe);
}
END_TEST

START_TEST(test_keywords_on_one_line_read)
{
	accept("qos-levels qos-level\nname: default\nsl:1\n"
	       "end-qos-level end-qos-levels");
	ck_assert_uint_eq(policy->n_levels, 1);
}
END_TEST

START_TEST(test_names_blanks_and_case_ignored)
{
	accept("port-groups\nport-group\nname: Virtual  Servers\nend-port-group\n"
	       "end-port-groups\nqos-levels\nqos-level\nname: default\nsl:1\n"
	       "end-qos-level\nend-qos-levels\nqos-match-rules\nqos-match-rule\n"
	       "source: virtualservers\nqos-level-name: DEFAULT\n"
	       "end-qos-match-rule\nend-qos-match-rules\n");
	ck_assert_str_eq(policy->groups[0].name, "Virtual Servers");
	ck_assert_uint_eq(policy->rules[0].sources.n, 1);
	ck_assert_uint_eq(triad_policy_find_group(policy, "VIRTUAL SERVERS"), 0);
	ck_assert_uint_eq(
		triad_policy_find_group(policy, "Virtual"), TRIAD_POLICY_NONE);
}
END_TEST

START_TEST(test_group_declared_behind_rule_found)
{
	accept("qos-match-rules\nqos-match-rule\nsource: g\nqos-level-name: l\n"
	       "end-qos-match-rule\nend-qos-match-rules\n"
	       "qos-levels\nqos-level\nname: l\nsl:1\nend-qos-level\nend-qos-levels\n"
	       "port-groups\nport-group\nname: g\nend-port-group\nend-port-groups\n" DEFAULT);
	ck_assert_uint_eq(policy->rules[0].sources.items[0], 0);
}
END_TEST

/* --- qos-ulps ---------------------------------------------------------- */

static const struct triad_policy_rule *ulp(const char *line)
{
	char text[256];

	snprintf(text, sizeof(text), "qos-ulps\ndefault: 1\n%s\nend-qos-ulps", line);
	accept(text);
	ck_assert_uint_eq(policy->n_rules, 1);
	return &policy->rules[0];
}

/* Row: Q11 */
START_TEST(test_ulps_services_have_their_ids)
{
	check_ranges(&ulp("sdp : 2")->service_ids, "10000-1ffff");
	check_ranges(&ulp("SDP,port-num 30000:2")->service_ids, "17530-17530");
	check_ranges(&ulp("sdp , port-num 1-2,4 : 2")->service_ids,
		"10001-10002,10004-10004");
	check_ranges(&ulp("rds : 2")->service_ids, "10648ca-10648ca");
	check_ranges(&ulp("rds, port-num 1 : 2")->service_ids, "1060001-1060001");
	check_ranges(&ulp("iser : 2")->service_ids, "1060cbc-1060cbc");
	check_ranges(&ulp("iser, port-num 900 : 2")->service_ids, "1060384-1060384");
	check_ranges(
		&ulp("any, service-id 0x6234,\n 7 : 2")->service_ids, "7-7,6234-6234");
	ck_assert_uint_eq(policy->levels[policy->rules[0].level].sl, 2);
	ck_assert_str_eq(policy->rules[0].use, "any, service-id 0x6234, 7");
	check_ranges(
		&ulp("any, service-id rdma-tcp : 2")->service_ids, "1060000-106ffff");
	check_ranges(&ulp("any, service-id RDMA-UDP 7-0x9,rdma-ib 1, rdma-ipoib 0 : 2")
			      ->service_ids,
		"20000-20000,1110007-1110009,13f0001-13f0001");
}
END_TEST

START_TEST(test_ulps_partitions_have_their_pkeys)
{
	check_ranges(&ulp("ipoib : 2")->pkeys, "7fff-7fff");
	check_ranges(&ulp("ipoib, pkey 0x8001 : 2")->pkeys, "1-1");
	check_ranges(&ulp("any, pkey 0-0xabc : 2")->pkeys, "1-abc");
}
END_TEST

/* Row: Q11 */
START_TEST(test_ulps_guids_make_a_group)
{
	const struct triad_policy_rule *rule =
		ulp("any, target-port-guid 0x0ABC-0xFFFFFFFFFFFFFFFF : 6");

	ck_assert_uint_eq(rule->destinations.n, 1);
	ck_assert_uint_eq(rule->sources.n, 0);
	check_ranges(&policy->groups[0].guids, "abc-ffffffffffffffff");
	ck_assert_str_eq(policy->groups[0].name, "target-port-guid of line 3");
	ck_assert_uint_eq(triad_policy_find_group(policy, policy->groups[0].name),
		TRIAD_POLICY_NONE);
	rule = ulp("srp, target-port-guid 1 : 6");
	ck_assert_uint_eq(rule->destinations.n, 1);
	rule = ulp("any, source-port-guid 1 : 6");
	ck_assert_uint_eq(rule->sources.n, 1);
	ck_assert_uint_eq(rule->destinations.n, 0);
	rule = ulp("any, source-target-port-guid 1 : 6");
	ck_assert_uint_eq(rule->sources.n, 1);
	ck_assert_uint_eq(rule->destinations.n, 1);
}
END_TEST

START_TEST(test_ulps_before_rules_come_behind)
{
	accept("qos-ulps\nany, pkey 1 : 5\ndefault : 1\nend-qos-ulps\n"
	       "qos-levels\nqos-level\nname: l\nsl:1\nend-qos-level\nend-qos-levels\n"
	       "qos-match-rules\nqos-match-rule\npkey: 2\nqos-level-name: l\n"
	       "end-qos-match-rule\nend-qos-match-rules\n");
	ck_assert_uint_eq(policy->n_rules, 2);
	check_ranges(&policy->rules[0].pkeys, "2-2");
	check_ranges(&policy->rules[1].pkeys, "1-1");
	ck_assert_uint_eq(policy->levels[policy->rules[1].level].sl, 5);
	/* A level named "default" is preferred to the default of qos-ulps. */
	ck_assert_uint_eq(policy->levels[policy->default_level].sl, 1);
}
END_TEST

START_TEST(test_ulps_wrong_reported)
{
	refuse("qos-ulps\ndefault: 0\nsdp : 16\nsdp, port-num 70000 : 1\n"
	       "ftp : 1\nany : 1\nrds\nend-qos-ulps\n",
		"p:3:7: SL 16 0 15\n"
		"p:4:15: port-num 70000 0 65535\n"
		"p:5:1: 'ftp : 1' qos-ulps ','\n"
		"p:6:1: 'any : 1' qos-ulps ','\n"
		"p:7:1: ':' SL missing");
	refuse("qos-ulps\ndefault: 0\nany, service-id rdma-tcp4420 : 1\n"
	       "any, service-id rdma-udp 1-65536 : 1\nend-qos-ulps\n",
		"p:3:17: service-id rdma-tcp4420 64 rdma-tcp rdma-udp rdma-ib rdma-ipoib range\n"
		"p:4:17: service-id rdma-udp 1-65536 64 rdma-tcp rdma-udp rdma-ib rdma-ipoib range");
}
END_TEST

/* --- mistakes ---------------------------------------------------------- */

/* Checks that a line of a level, the third line of the file, is refused. */
static void refuse_level(const char *line, const char *expected)
{
	char text[512], all[512];

	snprintf(text, sizeof(text),
		"qos-levels\nqos-level\n%s\nname: default\nend-qos-level\n"
		"end-qos-levels\n",
		line);
	snprintf(all, sizeof(all), "p:2:1: 'qos-level' needs 'sl'\np:3:%s", expected);
	refuse(text, strncmp(line, "sl:", 3) ? all : strchr(all, '\n') + 1);
}

START_TEST(test_values_out_of_range_reported)
{
	refuse_level("sl: 16", "5: sl 16 0 15");
	refuse_level("sl: -1", "5: sl -1 0 15");
	refuse_level("sl: 1 2", "5: sl 1 2 0 15");
	refuse_level("sl:", "4: sl missing 0 15");
	refuse_level("mtu-limit: 0", "12: mtu-limit 0 1 5 PathRecord's 256 4,096");
	refuse_level("mtu-limit: 6", "12: mtu-limit 6 1 5 PathRecord's 256 4,096");
	refuse_level("rate-limit: 1", "13: rate-limit 1 PathRecord's 2 24");
	refuse_level("rate-limit: 25", "13: rate-limit 25 PathRecord's 2 24");
	refuse_level("packet-life: 64", "14: packet-life 64 0 63");
	refuse_level("path-bits: 1,127-128", "14: path-bits 127-128 0 127");
	refuse_level("tclass: 256", "9: tclass 256 0 255");
	refuse_level("pkey: 0x10000", "7: pkey 0x10000 0x0001 0x7fff 0x8000");
	refuse_level("pkey: 0x8000", "7: pkey 0x8000 0x0001 0x7fff 0x8000");
	refuse_level("path-bits: 1,,2", "14: path-bits missing 0 127");
	refuse_level("path-bits: 09", "12: path-bits 09 0 127");
}
END_TEST

START_TEST(test_keys_wrong_reported)
{
	refuse_level(
		"mtu_limits: 1", "1: unknown 'mtu_limits' 'qos-level' 'mtu-limit'");
	refuse_level("MTU-limit: 1", "1: unknown 'MTU-limit' 'qos-level' 'mtu-limit'");
	refuse_level("tclass 1", "1: ':' 'tclass'");
	refuse_level("?", "1: keyword");
	refuse(DEFAULT "qos-levels\nqos-level\nname: a\nsl: 1\nsl: 2\nend-qos-level\n"
		       "end-qos-levels\n",
		"p:8:1: 'sl' 7 'qos-level'");
}
END_TEST

START_TEST(test_tables_wrong_reported)
{
	refuse(DEFAULT
		"port-groups\nport-group\nname: g\nend-port-group\nend-port-groups\n"
		"qos-setup\nsl2vl-tables\nsl2vl-scope\ngroup: g\n"
		"sl2vl-table: 0,1,2,3,4,5,6,7,8,9,10,11,12,13,16\n"
		"to: 255\nend-sl2vl-scope\nsl2vl-scope\nend-sl2vl-scope\n"
		"end-sl2vl-tables\n"
		"vlarb-tables\nvlarb-scope\nacross: hosts\nvlarb-high: 15:1,1:256,1\n"
		"vl-high-limit: 256\nend-vlarb-scope\nend-vlarb-tables\n"
		"end-qos-setup\n",
		"p:13:14: sl2vl-table 15 needs 16 VL SL\n"
		"p:13:46: sl2vl-table 16 0 15\n"
		"p:14:5: 255 '*' 0 254\n"
		"p:16:1: 'sl2vl-scope' needs 'group' 'across' 'across-from' 'across-to'\n"
		"p:16:1: 'sl2vl-scope' needs 'sl2vl-table'\n"
		"p:21:9: group 'hosts'\n"
		"p:22:13: vlarb-high 15:1 VL:WEIGHT VL 0 14 0 255\n"
		"p:22:18: vlarb-high 1:256 VL:WEIGHT VL 0 14 0 255\n"
		"p:22:24: vlarb-high 1 VL:WEIGHT VL 0 14 0 255\n"
		"p:23:16: vl-high-limit 256 0 255");
}
END_TEST

START_TEST(test_vlarb_too_long_reported)
{
	char text[1024] = DEFAULT
		"port-groups\nport-group\nname: g\nend-port-group\nend-port-groups\n"
		"qos-setup\nvlarb-tables\nvlarb-scope\ngroup: g\nvlarb-low: 0:1";

	for (int i = 0; i < 64; i++)
		strcat(text, ",0:1");
	strcat(text, "\nend-vlarb-scope\nend-vlarb-tables\nend-qos-setup\n");
	refuse(text, "p:13:268: vlarb-low 64");
}
END_TEST

START_TEST(test_names_wrong_reported)
{
	refuse(DEFAULT "port-groups\nport-group\nname: Storage\nend-port-group\n"
		       "port-group\nname: STO rage\nend-port-group\n"
		       "port-group\nend-port-group\n"
		       "port-group\nname: a,b\nport-name: x/1\nend-port-group\n"
		       "end-port-groups\nqos-match-rules\nqos-match-rule\n"
		       "source: Storag\nqos-level-name: x\nend-qos-match-rule\n"
		       "qos-match-rule\nend-qos-match-rule\nend-qos-match-rules\n",
		"p:8:1: group 'STO rage' 5\n"
		"p:11:1: 'port-group' needs 'name'\n"
		"p:14:7: a,b\n"
		"p:15:12: port-name x/1 '/P' 0 254\n"
		"p:20:9: group 'Storag' 'Storage'\n"
		"p:21:17: 'x'\n"
		"p:23:1: 'qos-match-rule' needs 'qos-level-name' 'match-level'");
}
END_TEST

/* Row: Q1 */
START_TEST(test_blocks_wrong_reported)
{
	refuse(DEFAULT "qos-levels\nqos-level\nname: a\nsl: 1\nqos-level\n"
		       "name: b\nsl: 2\nend-qos-levels\n",
		"p:8:1: 'qos-level' 'qos-level' 5 'end-qos-level' missing\n"
		"p:11:1: 'end-qos-level' missing 'end-qos-levels' qos-level 8");
	refuse(DEFAULT "port-groups\nport-group\nname: a\n",
		"p:7:1: 'end-port-group' missing port-group 5\n"
		"p:7:1: 'end-port-groups' missing port-groups 4");
	refuse(DEFAULT "end-port-group\n", "p:4:1: 'end-port-group' 'port-group'");
	refuse(DEFAULT "qos-level\nname: a\nsl: 1\nend-qos-level\n",
		"p:4:1: 'qos-level' 'qos-levels'");
	refuse(DEFAULT "port-groups\nport-groups\n",
		"p:5:1: 'port-groups' 4 'end-port-groups'");
	refuse(DEFAULT "qos-level-s\n", "p:4:1: unknown 'qos-level-s' 'qos-levels'");
	refuse(DEFAULT "name: a\n", "p:4:1: unknown 'name'");
}
END_TEST

/* --- octets and amounts ------------------------------------------------ */

START_TEST(test_octets_that_are_no_text_reported)
{
	static char nuls[1 << 16];

	ck_assert_int_eq(
		triad_policy_parse(nuls, sizeof(nuls), "p", NULL, &policy, &diags),
		EINVAL);
	assert_line_with(mistakes(), "p:1:1: 0x00 UTF-8 65536");
	refuse("\xef\xbb\xbf" DEFAULT "# \xff and \x01\n", "p:4:3: 0xff UTF-8 2");
	accept("\xef\xbb\xbf" DEFAULT);
	refuse_with("\xff\xfe x", "p:1:1: UTF-16 UTF-8");
}
END_TEST

/* Parses 'n' copies of 'piece' between 'before' and 'after'. */
static int parse_many(
	const char *before, const char *piece, unsigned n, const char *after)
{
	GString *text = g_string_new(before);
	int error;

	while (n--)
		g_string_append(text, piece);
	g_string_append(text, after);
	error = parse_with(text->str, NULL);
	g_string_free(text, TRUE);
	return error;
}

START_TEST(test_amounts_have_limits)
{
	const char *group = DEFAULT "port-groups\nport-group\nname: g\nport-guid: 1";

	ck_assert_int_eq(parse_many(group, ",0x7", TRIAD_POLICY_MAX_ITEMS - 2,
				 "\nend-port-group\nend-port-groups\n"),
		0);
	check_ranges(&policy->groups[0].guids, "1-1,7-7");
	ck_assert_int_eq(parse_many(group, ",0x7", TRIAD_POLICY_MAX_ITEMS + 9,
				 "\nend-port-group\nend-port-groups\n"),
		EINVAL);
	assert_mentions(mistakes(), "p:7:4194314: 1048576");
	ck_assert_int_eq(
		parse_many(DEFAULT "qos-match-rules\nqos-match-rule\nsource: a", ",a",
			2 * TRIAD_POLICY_MAX_ITEMS, "\n"),
		EINVAL);
	assert_mentions(mistakes(), "p:6:2097161: 1048576");
	ck_assert_int_eq(parse_many(DEFAULT, "0123456789abcdef", 1 << 20, ""), EFBIG);
	assert_mentions(mistakes(), "p: 16777216");
	ck_assert_int_eq(
		parse_many(DEFAULT "qos-levels\n", "qos-level\nend-qos-level\n", 5000,
			"end-qos-levels\n"),
		EINVAL);
	ck_assert_uint_eq(diags.n, TRIAD_DIAG_MAX);
	ck_assert_uint_eq(diags.n_total, 2 * 4095 + 1);
	ck_assert_int_eq(parse_many(DEFAULT, "x\n", 1 << 20, ""), EINVAL);
	ck_assert_uint_eq(diags.n_total, 1 << 20);
}
END_TEST

START_TEST(test_groups_many_found_fast)
{
	GString *text = g_string_new(DEFAULT "port-groups\n");

	for (unsigned i = 0; i < TRIAD_POLICY_MAX_GROUPS; i++)
		g_string_append_printf(text,
			"port-group\nname: group %u\nport-guid: %u\nend-port-group\n",
			i, i);
	g_string_append(text, "end-port-groups\n");
	accept(text->str);
	ck_assert_uint_eq(triad_policy_find_group(policy, "Group 65535"), 65535);
	g_string_append(text,
		"port-groups\nport-group\nname: x\nend-port-group\n"
		"end-port-groups\n");
	refuse(text->str, "p:262151:1: many 65536");
	g_string_free(text, TRUE);
}
END_TEST

START_TEST(test_policy_shared_lives_on)
{
	struct triad_policy *other;

	accept(DEFAULT);
	other = triad_policy_ref(policy);
	forget_policy();
	ck_assert_uint_eq(other->n_levels, 1);
	ck_assert_str_eq(other->source, "p");
	triad_policy_unref(other);
	triad_policy_unref(NULL);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("policy_text");

	tcase_add_checked_fixture(cases, NULL, forget_policy);
	tcase_add_test(cases, test_example_installed_read);
	tcase_add_test(cases, test_file_shortest_read);
	tcase_add_test(cases, test_file_empty_needs_default_level);
	tcase_add_test(cases, test_default_level_asked_for_taken);
	tcase_add_test(cases, test_lines_as_opensm_reads_them);
	tcase_add_test(cases, test_keywords_on_one_line_read);
	tcase_add_test(cases, test_names_blanks_and_case_ignored);
	tcase_add_test(cases, test_group_declared_behind_rule_found);
	tcase_add_test(cases, test_ulps_services_have_their_ids);
	tcase_add_test(cases, test_ulps_partitions_have_their_pkeys);
	tcase_add_test(cases, test_ulps_guids_make_a_group);
	tcase_add_test(cases, test_ulps_before_rules_come_behind);
	tcase_add_test(cases, test_ulps_wrong_reported);
	tcase_add_test(cases, test_values_out_of_range_reported);
	tcase_add_test(cases, test_keys_wrong_reported);
	tcase_add_test(cases, test_tables_wrong_reported);
	tcase_add_test(cases, test_vlarb_too_long_reported);
	tcase_add_test(cases, test_names_wrong_reported);
	tcase_add_test(cases, test_blocks_wrong_reported);
	tcase_add_test(cases, test_octets_that_are_no_text_reported);
	tcase_add_test(cases, test_amounts_have_limits);
	tcase_add_test(cases, test_groups_many_found_fast);
	tcase_add_test(cases, test_policy_shared_lives_on);
	return run_cases(cases);
}
