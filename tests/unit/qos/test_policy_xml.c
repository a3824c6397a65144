/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Policies in the RFC's syntax. */
#include "config.h"

#include "tests/unit/qos/policy_fixture.h"

#include "triad/fabric.h"

#define LEVEL "<qos-level><name>default</name><sl>0</sl></qos-level>"
#define LEVELS "<qos-levels>" LEVEL "</qos-levels>"

/* --- the RFC's example ------------------------------------------------- */

/* Errors in the RFC's printed example, and their corrections in ours. */
static const struct slip {
	const char *printed, *mended, *mistake;
} slips[] = {
	{"<group>Part1</group>", "<group>Partition 1</group>",
		"p:34:25: group 'Part1'"},
	{"12,13,14</sl2vl-table>", "12,13,14,0</sl2vl-table>",
		"p:35:19: sl2vl-table 15 16"},
	{"1,1,1,1,1,1,1</sl2vl-table>", "1,1,1,1,1,1,1,1</sl2vl-table>",
		"p:40:19: sl2vl-table 15 16"},
	{"  <sl2vl-tables>\n  <!--", "  </sl2vl-tables>\n  <!--",
		"p:42:3: <sl2vl-tables> 31 </sl2vl-tables>"},
	{"<sl>16</sl>", "<sl>15</sl>", "p:60:9: sl 16 0 15"},
	{"<mtu_limit>1</mtl_limit>", "<mtu_limit>1</mtu_limit>",
		"p:68:48: </mtl_limit> </mtu_limit> 68"},
	{"<name>default</name>", "<name>default</name>", NULL},
	{"<name>no default</name>", "<name>default</name>",
		"p: default 'default' <name> <use> qos.default_level --default-level"},
};

#define N_SLIPS (sizeof(slips) / sizeof(slips[0]))

/* Replaces a correction in 'text' by the printed error; frees 'text'. */
static char *put_back(char *text, const struct slip *slip)
{
	char **pieces = g_strsplit(text, slip->mended, 2), *whole;

	ck_assert_msg(pieces[1] != NULL, "'%s' is not in the example", slip->mended);
	whole = g_strjoinv(slip->printed, pieces);
	g_strfreev(pieces);
	g_free(text);
	return whole;
}

/* Row: Q1 */
START_TEST(test_example_mended_read)
{
	char *text = read_source("contrib/qos/qos-policy.xml");
	const struct triad_policy_group *group;
	const struct triad_policy_level *level;
	const struct triad_policy_rule *rule;

	accept(text);
	g_free(text);
	ck_assert_uint_eq(policy->n_groups, 4);
	check_ranges(&policy->groups[0].guids, "1000000000000001-1000000000000002");
	ck_assert_str_eq(policy->groups[0].use, "our SRP storage targets");
	group = &policy->groups[triad_policy_find_group(policy, "Virtual Servers")];
	ck_assert_uint_eq(group->n_port_names, 3);
	ck_assert_str_eq(group->port_names[2].node, "vs3 HCA-2");
	ck_assert(group->port_names[2].words);
	ck_assert_uint_eq(group->port_names[2].number, 1);
	ck_assert_str_eq(policy->groups[2].partitions[0], "Part1");
	ck_assert_uint_eq(policy->groups[3].node_types, 1 << TRIAD_NODE_ROUTER);
	ck_assert_uint_eq(policy->n_sl2vl, 2);
	ck_assert_uint_eq(policy->sl2vl[1].scope.across.items[0], 0);
	ck_assert(policy->sl2vl[1].scope.from_any && !policy->sl2vl[1].scope.to_any);
	ck_assert_uint_eq(policy->sl2vl[1].scope.to[0], 1 << 1);
	ck_assert_uint_eq(policy->sl2vl[0].vl[14], 14);
	ck_assert_uint_eq(policy->vlarb[0].n_high, 8);
	ck_assert_uint_eq(policy->vlarb[0].low[6].vl, 14);
	ck_assert_uint_eq(policy->vlarb[0].high_limit, 10);
	level = &policy->levels[triad_policy_find_level(policy, "3")];
	ck_assert_str_eq(level->name, "3");
	ck_assert_uint_eq(level->tclass, 32);
	ck_assert_uint_eq(level->mtu_limit, 1);
	ck_assert_uint_eq(level->rate_limit, 2);
	check_ranges(&level->path_bits, "0-1");
	rule = &policy->rules[1];
	check_ranges(&rule->service_ids, "16-16,126f-126f");
	ck_assert_uint_eq(rule->destinations.items[0], 0);
	ck_assert_ptr_eq(&policy->levels[rule->level], level);
	check_ranges(&policy->rules[0].tclasses, "7-9,b-b");
	ck_assert_str_eq(policy->levels[policy->default_level].name, "default");
	ck_assert_str_eq(policy->partition_levels[0].partition, "Part1");
}
END_TEST

START_TEST(test_example_slip_reported)
{
	const struct slip *slip = &slips[_i];
	char *text = put_back(read_source("contrib/qos/qos-policy.xml"), slip);

	if (slip->mistake)
		refuse(text, slip->mistake);
	else
		accept(text);
	g_free(text);
}
END_TEST

/* Row: Q1 */
START_TEST(test_example_as_printed_all_reported)
{
	char *text = read_source("contrib/qos/qos-policy.xml");
	GString *expected = g_string_new(NULL);

	for (size_t i = 0; i < N_SLIPS; i++) {
		if (!slips[i].mistake)
			continue;
		text = put_back(text, &slips[i]);
		g_string_append_printf(
			expected, "%s%s", i ? "\n" : "", slips[i].mistake);
	}
	refuse(text, expected->str);
	g_string_free(expected, TRUE);
	g_free(text);
}
END_TEST

/* --- both syntaxes ----------------------------------------------------- */

#define SAME(member) ck_assert_uint_eq(a->member, b->member)

static void same_ranges(const struct triad_ranges *a, const struct triad_ranges *b)
{
	SAME(n);
	if (a->n)
		ck_assert_mem_eq(a->items, b->items, a->n * sizeof(*a->items));
}

static void same_list(
	const struct triad_group_list *a, const struct triad_group_list *b)
{
	SAME(n);
	if (a->n)
		ck_assert_mem_eq(a->items, b->items, a->n * sizeof(*a->items));
}

static void same_group(
	const struct triad_policy_group *a, const struct triad_policy_group *b)
{
	ck_assert_str_eq(a->name, b->name);
	ck_assert_str_eq(a->use, b->use);
	same_ranges(&a->guids, &b->guids);
	same_ranges(&a->pkeys, &b->pkeys);
	SAME(node_types);
	SAME(self);
	SAME(n_partitions);
	for (uint32_t i = 0; i < a->n_partitions; i++)
		ck_assert_str_eq(a->partitions[i], b->partitions[i]);
	SAME(n_port_names);
	for (uint32_t i = 0; i < a->n_port_names; i++) {
		ck_assert_str_eq(a->port_names[i].node, b->port_names[i].node);
		SAME(port_names[i].number);
		SAME(port_names[i].words);
	}
}

static void same_level(
	const struct triad_policy_level *a, const struct triad_policy_level *b)
{
	ck_assert_str_eq(a->name, b->name);
	SAME(has_sl);
	SAME(has_mtu_limit);
	SAME(has_rate_limit);
	SAME(has_packet_life);
	SAME(has_tclass);
	SAME(sl);
	SAME(mtu_limit);
	SAME(rate_limit);
	SAME(packet_life);
	SAME(tclass);
	same_ranges(&a->path_bits, &b->path_bits);
	same_ranges(&a->pkeys, &b->pkeys);
}

static void same_rule(
	const struct triad_policy_rule *a, const struct triad_policy_rule *b)
{
	same_list(&a->sources, &b->sources);
	same_list(&a->destinations, &b->destinations);
	same_ranges(&a->service_ids, &b->service_ids);
	same_ranges(&a->tclasses, &b->tclasses);
	same_ranges(&a->qos_classes, &b->qos_classes);
	same_ranges(&a->pkeys, &b->pkeys);
	same_ranges(&a->sls, &b->sls);
	SAME(level);
}

static void same_scope(
	const struct triad_policy_scope *a, const struct triad_policy_scope *b)
{
	same_list(&a->groups, &b->groups);
	same_list(&a->across, &b->across);
	same_list(&a->across_from, &b->across_from);
	same_list(&a->across_to, &b->across_to);
	ck_assert_mem_eq(a->from, b->from, sizeof(a->from));
	ck_assert_mem_eq(a->to, b->to, sizeof(a->to));
	SAME(from_any);
	SAME(to_any);
}

static void same_vlarb(
	const struct triad_policy_vlarb *a, const struct triad_policy_vlarb *b)
{
	same_scope(&a->scope, &b->scope);
	SAME(n_high);
	SAME(n_low);
	ck_assert_mem_eq(a->high, b->high, sizeof(a->high));
	ck_assert_mem_eq(a->low, b->low, sizeof(a->low));
	SAME(has_high);
	SAME(has_low);
	SAME(has_high_limit);
	SAME(high_limit);
}

static void same_policy(const struct triad_policy *a, const struct triad_policy *b)
{
	SAME(n_groups);
	for (uint32_t i = 0; i < a->n_groups; i++)
		same_group(&a->groups[i], &b->groups[i]);
	SAME(n_levels);
	for (uint32_t i = 0; i < a->n_levels; i++)
		same_level(&a->levels[i], &b->levels[i]);
	SAME(n_rules);
	for (uint32_t i = 0; i < a->n_rules; i++)
		same_rule(&a->rules[i], &b->rules[i]);
	SAME(n_partition_levels);
	for (uint32_t i = 0; i < a->n_partition_levels; i++) {
		SAME(partition_levels[i].level);
		same_ranges(
			&a->partition_levels[i].pkeys, &b->partition_levels[i].pkeys);
	}
	SAME(n_sl2vl);
	for (uint32_t i = 0; i < a->n_sl2vl; i++) {
		same_scope(&a->sl2vl[i].scope, &b->sl2vl[i].scope);
		ck_assert_mem_eq(a->sl2vl[i].vl, b->sl2vl[i].vl, TRIAD_POLICY_N_VLS);
	}
	SAME(n_vlarb);
	for (uint32_t i = 0; i < a->n_vlarb; i++)
		same_vlarb(&a->vlarb[i], &b->vlarb[i]);
	SAME(default_level);
}

/* Writes the text of one syntax in the other, line by line. */
static char *to_xml(const char *text)
{
	GString *xml = g_string_new("<qos-policy>\n");
	char **lines = g_strsplit(text, "\n", 0);

	for (char **line = lines; *line; line++) {
		char *colon = strchr(*line, ':');

		if (!**line)
			continue;
		if (colon)
			g_string_append_printf(xml, "<%.*s>%s</%.*s>\n",
				(int)(colon - *line), *line, colon + 1,
				(int)(colon - *line), *line);
		else if (!strncmp(*line, "end-", 4))
			g_string_append_printf(xml, "</%s>\n", *line + 4);
		else
			g_string_append_printf(xml, "<%s>\n", *line);
	}
	g_strfreev(lines);
	g_string_append(xml, "</qos-policy>\n");
	return g_string_free(xml, FALSE);
}

/* Row: Q1 */
START_TEST(test_policy_in_both_syntaxes_same)
{
	const char *text =
		"port-groups\nport-group\nname: A\nuse: of all kinds\n"
		"port-guid: 0x1, 0x3-0x9\nport-guid:2\nport-name: vs1 HCA-1/P1, a/P2\n"
		"partition: p1, p2\npkey: 0x8001, 7-9\nnode-type: CA, SELF\n"
		"end-port-group\nport-group\nname: B b\nend-port-group\n"
		"end-port-groups\nqos-setup\nsl2vl-tables\nsl2vl-scope\n"
		"group: A\nacross: B b,A\nacross-from: A\nacross-to: B b\n"
		"from: 1-3,254\nto: *\n"
		"sl2vl-table: 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
		"end-sl2vl-scope\nend-sl2vl-tables\nvlarb-tables\nvlarb-scope\n"
		"group: A\nacross: B b\nto: 7\nvlarb-high: 0:255, 1:1\n"
		"vlarb-low: 14:0\nvl-high-limit: 255\nend-vlarb-scope\n"
		"end-vlarb-tables\nend-qos-setup\nqos-levels\nqos-level\n"
		"name: Default\nsl: 0\nend-qos-level\nqos-level\nname: l\nsl: 3\n"
		"mtu-limit: 5\npacket-life: 63\npath-bits: 0,2-4\ntclass: 255\n"
		"pkey: 0x7fff\nend-qos-level\nend-qos-levels\nqos-match-rules\n"
		"qos-match-rule\nuse: u\nsource: A, B b\ndestination: A\n"
		"service-id: 0-0xffffffffffffffff\ntclass: 7-9,11\n"
		"qos-class: 4095\npkey: 1\nsl: 1-3\nqos-level-name: L\n"
		"end-qos-match-rule\nend-qos-match-rules\npartition-levels\n"
		"partition-level\npkey: 1\nqos-level-name: l\nend-partition-level\n"
		"end-partition-levels\n";
	char *xml = to_xml(text);
	struct triad_policy *first;

	accept(text);
	first = triad_policy_ref(policy);
	accept(xml);
	same_policy(first, policy);
	triad_policy_unref(first);
	g_free(xml);
}
END_TEST

/* --- values ------------------------------------------------------------ */

static const struct triad_policy_level *level_with(const char *elements)
{
	char text[512];

	snprintf(text, sizeof(text),
		"<qos_policy><qos_levels><qos_level><sn>1</sn><name>default</name>%s"
		"</qos_level></qos_levels></qos_policy>",
		elements);
	accept(text);
	return &policy->levels[0];
}

/* Row: Q8 */
START_TEST(test_rate_limit_is_bandwidth)
{
	/* Multiples of 2.5 Gb/s, and their codes in PathRecord. */
	static const unsigned rates[][2] = {{1, 2}, {2, 5}, {3, 5}, {4, 3}, {5, 3},
		{6, 11}, {8, 6}, {10, 15}, {12, 4}, {16, 7}, {20, 20}, {24, 8}, {32, 9},
		{40, 16}, {48, 10}, {80, 17}, {120, 18}, {160, 21}, {240, 22},
		{320, 23}, {480, 24}, {1000, 24}};

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		char elements[64];

		snprintf(elements, sizeof(elements),
			"<sl>0</sl><rate_limit>%u</rate_limit>", rates[i][0]);
		ck_assert_uint_eq(level_with(elements)->rate_limit, rates[i][1]);
	}
	refuse("<qos-policy><qos-levels><qos-level><name>default</name><sl>0</sl>"
	       "<rate-limit>0</rate-limit></qos-level></qos-levels></qos-policy>",
		"p:1:78: rate-limit 0 1 1000 2.5 Gb/s");
}
END_TEST

START_TEST(test_texts_pieced_together)
{
	ck_assert_uint_eq(level_with("<sl>1<!-- 3 -->2</sl>")->sl, 12);
	ck_assert_uint_eq(level_with("<sl><![CDATA[ 7 ]]></sl>")->sl, 7);
	ck_assert_uint_eq(level_with("<sl>&#49;</sl>")->sl, 1);
	ck_assert_str_eq(level_with("<sl>1</sl><use> a &lt;b&gt;\n  \"c\" </use>")->use,
		"a <b> \"c\"");
	refuse("<qos-policy><qos-levels>\n<qos-level><name>default</name>\n"
	       "<sl>\n <!-- x -->16</sl></qos-level></qos-levels></qos-policy>",
		"p:4:2: sl 16 0 15");
}
END_TEST

START_TEST(test_level_known_by_name_and_number)
{
	level_with("<sl>1</sl>");
	ck_assert_str_eq(policy->levels[0].name, "default");
	ck_assert_uint_eq(triad_policy_find_level(policy, "1"), 0);
	refuse("<qos-policy><qos-levels>" LEVEL
	       "\n<qos-level><sn>Default</sn><sl>1</sl></qos-level>"
	       "</qos-levels></qos-policy>",
		"p:2:1: level 'Default' 1");
}
END_TEST

START_TEST(test_default_level_by_use)
{
	accept("<qos-policy><qos-levels><qos-level><sn>1</sn><sl>1</sl></qos-level>"
	       "<qos-level><sn>2</sn><use>Default</use><sl>1</sl></qos-level>"
	       "</qos-levels></qos-policy>");
	ck_assert_uint_eq(policy->default_level, 1);
}
END_TEST

START_TEST(test_port_names_in_both_forms)
{
	accept("<qos-policy><port-groups><port-group><name>g</name>"
	       "<port-name>vs1/HCA-1/P1, a b/P2,x/y z/p0x3</port-name></port-group>"
	       "</port-groups>" LEVELS "</qos-policy>");
	ck_assert_uint_eq(policy->groups[0].n_port_names, 3);
	ck_assert(policy->groups[0].port_names[0].words);
	ck_assert_str_eq(policy->groups[0].port_names[1].node, "a b");
	ck_assert(!policy->groups[0].port_names[1].words);
	ck_assert_str_eq(policy->groups[0].port_names[2].node, "x/y z");
	ck_assert_uint_eq(policy->groups[0].port_names[2].number, 3);
}
END_TEST

START_TEST(test_latin1_read)
{
	accept("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><qos-policy>" LEVELS
	       "<port-groups><port-group><name>\xc4rger</name></port-group>"
	       "</port-groups></qos-policy>");
	ck_assert_str_eq(policy->groups[0].name, "\xc3\x84rger");
	refuse("<?xml version=\"1.0\" encoding=\"EBCDIC\"?><qos-policy>" LEVELS
	       "</qos-policy>",
		"p:1:1: EBCDIC UTF-8 ISO-8859-1");
	refuse("<qos-policy>" LEVELS "<!-- \xff --></qos-policy>",
		"p:1:96: 0xff UTF-8 1");
}
END_TEST

/* --- mistakes ---------------------------------------------------------- */

START_TEST(test_elements_wrong_reported)
{
	refuse("<qos-policy>\n<qos-level>\n<name>default</name><sl>1</sl>\n"
	       "</qos-level></qos-policy>",
		"p:2:1: <qos-level> <qos-levels>");
	refuse("<qos-policy>" LEVELS "\n<port-group-s><name>a</name></port-group-s>"
	       "<qos-ulps></qos-ulps></qos-policy>",
		"p:2:1: unknown 'port-group-s' <qos-policy> 'port-groups'\n"
		"p:2:44: unknown 'qos-ulps' <qos-policy>");
	refuse("<policy/>", "p:1:1: <policy> <qos-policy>");
	refuse("<qos-policy>" LEVELS "\nhello\n there</qos-policy>",
		"p:2:1: 'hello' text");
	refuse("<qos-policy x=\"1\">" LEVELS "</qos-policy>",
		"p:1:1: <qos-policy> attributes");
	refuse("<qos-policy>" LEVELS "<port-groups><port-group><name>a</name>\n"
	       "</port_group></port-groups></qos-policy>",
		"p:2:1: XML end");
}
END_TEST

START_TEST(test_wrong_items_have_their_locations)
{
	refuse("<qos-policy>" LEVELS "<qos-match-rules><qos-match-rule>\n"
	       "<tclass>1,\n 2, 256 ,3</tclass><source>a, b</source>\n"
	       "<match-level>default</match-level>"
	       "</qos-match-rule></qos-match-rules></qos-policy>",
		"p:3:5: tclass 256 0 255\n"
		"p:3:28: group 'a'\n"
		"p:3:31: group 'b'");
}
END_TEST

START_TEST(test_ends_missing_reported)
{
	refuse("<qos-policy>" LEVELS "\n<port-groups>\n<port-group><name>a</name>",
		"p:3:27: </port-group> missing port-group 3\n"
		"p:3:27: </port-groups> missing port-groups 2\n"
		"p:3:27: </qos-policy> missing qos-policy 1");
	refuse("<qos-policy>" LEVELS "<port-groups>\n<port-group><name>a</port-group>\n"
	       "<port-group><name>b</name></port-group></port-groups></qos-policy>",
		"p:2:1: <port-group> needs 'name'\n"
		"p:2:20: </name> missing </port-group> <name> 2");
	refuse("<qos-policy>" LEVELS "<port-groups>\n<port-group><name>a</name>\n"
	       "<port-group><name>b</name></port-group></port-groups></qos-policy>",
		"p:3:1: <port-group> <port-group> 2 </port-group> missing");
	refuse_with("<qos-policy>" LEVELS "<port-groups>\n<port-group><name>a",
		"</name> missing <name> 2");
}
END_TEST

/* --- refused documents ------------------------------------------------- */

START_TEST(test_document_type_refused)
{
	refuse("<?xml version=\"1.0\"?><!DOCTYPE q [<!ENTITY a SYSTEM "
	       "\"file:///etc/passwd\">]><qos-policy>&a;</qos-policy>",
		"p:1:22: <!DOCTYPE>");
	refuse("<!DOCTYPE q SYSTEM \"http://localhost/q.dtd\"><qos-policy/>",
		"p:1:1: <!DOCTYPE>");
	refuse("<!DOCTYPE q [<!ENTITY % x SYSTEM \"file:///etc/passwd\"> %x;]>"
	       "<qos-policy/>",
		"p:1:1: <!DOCTYPE>");
	refuse("<!DOCTYPE q [<!ENTITY a \"aaaaaaaaaa\">"
	       "<!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">"
	       "<!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\">"
	       "<!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;\">]>"
	       "<qos-policy>&d;</qos-policy>",
		"p:1:1: <!DOCTYPE>");
}
END_TEST

START_TEST(test_inclusions_refused)
{
	refuse("<qos-policy>" LEVELS "\n<xi:include "
	       "xmlns:xi=\"http://www.w3.org/2001/XInclude\" href=\"/etc/passwd\"/>\n"
	       "<?xml-stylesheet href=\"a\"?>\n"
	       "<qos-setup xmlns=\"urn:x\"/>\n&foo;</qos-policy>",
		"p:2:1: <xi:include> namespace\n"
		"p:3:1: <?xml-stylesheet?>\n"
		"p:4:1: <qos-setup> namespace\n"
		"p:5:6: XML");
}
END_TEST

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
	const char *name = "<qos-policy>" LEVELS "<port-groups><port-group><name>";

	ck_assert_int_eq(parse_many(name, "x", 255,
				 "</name></port-group></port-groups></qos-policy>"),
		0);
	ck_assert_int_eq(parse_many(name, "x", 15 << 20,
				 "</name></port-group></port-groups></qos-policy>"),
		EINVAL);
	assert_line_with(mistakes(), "name 255");
	ck_assert_int_eq(parse_many("<qos-policy>" LEVELS, "<a>", 1 << 20, ""), EINVAL);
	ck_assert_int_eq(
		parse_many("<qos-policy>" LEVELS, "<port-groups>", 1 << 20, ""),
		EINVAL);
	ck_assert_int_eq(parse_many("<qos-policy ", "a='1' ", 1 << 20, "/>"), EINVAL);
	ck_assert_int_eq(parse_many("<qos-policy a='", "x", 12 << 20, "'/>"), EINVAL);
	ck_assert_int_eq(parse_many("<qos-policy>" LEVELS
				    "<port-groups><port-group><name>g</name>",
				 "<port-guid>3,1,7-9</port-guid>", 200000,
				 "</port-group></port-groups></qos-policy>"),
		0);
	check_ranges(&policy->groups[0].guids, "1-1,3-3,7-9");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("policy_xml");

	tcase_add_checked_fixture(cases, NULL, forget_policy);
	tcase_add_test(cases, test_example_mended_read);
	tcase_add_loop_test(cases, test_example_slip_reported, 0, (int)N_SLIPS);
	tcase_add_test(cases, test_example_as_printed_all_reported);
	tcase_add_test(cases, test_policy_in_both_syntaxes_same);
	tcase_add_test(cases, test_rate_limit_is_bandwidth);
	tcase_add_test(cases, test_texts_pieced_together);
	tcase_add_test(cases, test_level_known_by_name_and_number);
	tcase_add_test(cases, test_default_level_by_use);
	tcase_add_test(cases, test_port_names_in_both_forms);
	tcase_add_test(cases, test_latin1_read);
	tcase_add_test(cases, test_elements_wrong_reported);
	tcase_add_test(cases, test_wrong_items_have_their_locations);
	tcase_add_test(cases, test_ends_missing_reported);
	tcase_add_test(cases, test_document_type_refused);
	tcase_add_test(cases, test_inclusions_refused);
	tcase_add_test(cases, test_amounts_have_limits);
	return run_cases(cases);
}
