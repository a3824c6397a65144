/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which scope applies to which tables, one rule per test, and the resulting tables. */
#include "tests/unit/qos/setup_fixture.h"

#include "tests/sim/policies.h"

static void tear_down(void)
{
	drop_setup();
}

/* --- tables of a scope --- */

START_TEST(test_setup_wanted_when_policy_has_scopes)
{
	parse(GROUP("a", ""), "", "");
	ck_assert(!triad_setup_has_scopes(policy));
	parse(GROUP("a", ""), SL2VL("<group>a</group>"), "");
	ck_assert(triad_setup_has_scopes(policy));
	parse(GROUP("a", ""), "", VLARB("<group>a</group>"));
	ck_assert(triad_setup_has_scopes(policy));
}
END_TEST

START_TEST(test_setup_last_reference_frees_policy)
{
	use(GROUP("a", ""), SL2VL("<group>a</group>"), "");
	ck_assert_uint_eq(policy->n_references, 2);
	ck_assert_ptr_eq(triad_setup_policy(setup), policy);
	ck_assert_ptr_eq(triad_scopes_setup(scopes), setup);
	ck_assert_ptr_eq(triad_setup_ref(setup), setup);
	triad_setup_unref(setup);
	triad_setup_unref(setup);
	setup = NULL;
	ck_assert_uint_eq(policy->n_references, 2);
	triad_scopes_free(scopes);
	scopes = NULL;
	ck_assert_uint_eq(policy->n_references, 1);
	triad_scopes_free(NULL);
	triad_setup_unref(NULL);
}
END_TEST

static void check_sl2vl(uint16_t scope, uint8_t op_vls, const char *expected)
{
	const struct triad_sl2vl *table = triad_setup_sl2vl(setup, scope, op_vls);
	char text[2 * sizeof(table->vl) + 1];

	ck_assert_ptr_nonnull(table);
	for (unsigned i = 0; i < sizeof(table->vl); i++)
		snprintf(text + 2 * i, 3, "%02x", table->vl[i]);
	ck_assert_str_eq(text, expected);
}

/* Row: Q6 */
START_TEST(test_sl2vl_vl_that_port_lacks_becomes_15)
{
	use(GROUP("a", ""),
		SL2VL("<group>a</group>") SL2VL_OF(
			"15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0", "<group>a</group>"),
		"");
	check_sl2vl(0, 5, "0123456789abcdef");
	check_sl2vl(0, 4, "01234567ffffffff");
	check_sl2vl(0, 3, "0123ffffffffffff");
	check_sl2vl(0, 2, "01ffffffffffffff");
	check_sl2vl(0, 1, "0fffffffffffffff");
	check_sl2vl(1, 5, "fedcba9876543210");
	check_sl2vl(1, 3, "ffffffffffff3210");
	/* Invalid codes of OperationalVLs. */
	check_sl2vl(1, 0, "fffffffffffffff0");
	check_sl2vl(1, 6, "fffffffffffffff0");
	check_sl2vl(1, 255, "fffffffffffffff0");
	ck_assert_ptr_null(triad_setup_sl2vl(setup, 2, 5));
	ck_assert_ptr_null(triad_setup_sl2vl(setup, TRIAD_SCOPE_NONE, 5));
}
END_TEST

/* The table for a port with that cap; "": OpenSM's default applies. */
static const char *vlarb(uint16_t scope, bool high, uint8_t op_vls, uint8_t cap)
{
	static char text[TRIAD_VLARB_MAX * 8];
	struct triad_vlarb_entry entries[TRIAD_VLARB_MAX + 1];
	size_t n = 0;

	memset(entries, 0xee, sizeof(entries));
	text[0] = '\0';
	if (!triad_setup_vlarb(setup, scope, high, op_vls, cap, entries)) {
		ck_assert_uint_eq(entries[0].vl, 0xee);
		return text;
	}
	for (unsigned i = 0; i < cap; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u:%u",
			i ? "," : "", entries[i].vl, entries[i].weight);
	ck_assert_uint_eq(entries[cap].vl, 0xee);
	return text;
}

#define HIGH "<vlarb-high>0:10,14:20</vlarb-high>"
#define LOW "<vlarb-low>1:1,3:2,4:3</vlarb-low>"

START_TEST(test_vlarb_fills_port_s_table)
{
	use(GROUP("a", ""), "",
		VLARB_OF(HIGH, "<group>a</group>")
			VLARB_OF(HIGH LOW, "<group>a</group>"));
	ck_assert_str_eq(vlarb(0, true, 5, 2), "0:10,14:20");
	ck_assert_str_eq(vlarb(0, true, 5, 4), "0:10,14:20,0:0,0:0");
	ck_assert_str_eq(vlarb(0, true, 5, 1), ""); /* too long for the port */
	ck_assert_str_eq(vlarb(0, true, 5, 0), "");
	ck_assert_str_eq(vlarb(0, false, 5, 8), ""); /* the scope has no low table */
	ck_assert_str_eq(vlarb(1, true, 5, 2), "0:10,14:20");
	ck_assert_str_eq(vlarb(1, false, 5, 3), "1:1,3:2,4:3");
	ck_assert_str_eq(vlarb(2, true, 5, 8), "");
	ck_assert_str_eq(vlarb(TRIAD_SCOPE_NONE, true, 5, 8), "");
	ck_assert_str_eq(vlarb(1, false, 4, 3), "1:1,3:2,4:3");
}
END_TEST

START_TEST(test_vlarb_vl_that_port_lacks_is_skipped)
{
	use(GROUP("a", ""), "", VLARB_OF(HIGH LOW, "<group>a</group>"));
	ck_assert_str_eq(vlarb(0, true, 5, 2), "0:10,14:20");
	ck_assert_str_eq(vlarb(0, true, 4, 2), "0:10,0:0");
	ck_assert_str_eq(vlarb(0, false, 3, 4), "1:1,3:2,0:0,0:0");
	ck_assert_str_eq(vlarb(0, false, 2, 4), "1:1,0:0,0:0,0:0");
	ck_assert_str_eq(vlarb(0, false, 1, 4), "0:0,0:0,0:0,0:0");
	ck_assert_str_eq(vlarb(0, false, 0, 4), "0:0,0:0,0:0,0:0");
}
END_TEST

START_TEST(test_high_limit_only_when_requested)
{
	uint8_t limit = 77;

	use(GROUP("a", ""), "",
		VLARB_OF(HIGH, "<group>a</group>") VLARB_OF(
			"<vl-high-limit>0</vl-high-limit>", "<group>a</group>"));
	ck_assert(!triad_setup_high_limit(setup, 0, &limit));
	ck_assert(!triad_setup_high_limit(setup, 2, &limit));
	ck_assert(!triad_setup_high_limit(setup, TRIAD_SCOPE_NONE, &limit));
	ck_assert_uint_eq(limit, 77);
	ck_assert(triad_setup_high_limit(setup, 1, &limit));
	ck_assert_uint_eq(limit, 0);
}
END_TEST

/* --- groups --- */

/* A host's port that is in no group, for tests to change. */
static const struct triad_scopes_port host = {
	.guid = 0x5000, .node_name = "nobody", .node_type = TRIAD_NODE_CA, .number = 1};

/* Whether the port is in the group "a". */
static bool is_in(struct triad_scopes_port port)
{
	struct triad_scopes_end end = {.own = triad_scopes_class(scopes, &port)};

	ck_assert_int_eq(triad_scopes_error(scopes), 0);
	return triad_scopes_vlarb(scopes, &end) == 0;
}

static void use_group(const char *keys)
{
	char *group = g_strdup_printf(GROUP("a", "%s"), keys);

	use(group, "", VLARB("<group>a</group>"));
	g_free(group);
}

static bool has_guid(uint64_t guid)
{
	struct triad_scopes_port port = host;

	port.guid = guid;
	return is_in(port);
}

START_TEST(test_group_guid_ends_of_ranges_included)
{
	use_group("<port-guid>0x10-0x1f,0x30,0xffffffffffffff00-0xffffffffffffffff"
		  "</port-guid>");
	ck_assert(!has_guid(0) && !has_guid(0xf) && has_guid(0x10) && has_guid(0x1f) &&
		!has_guid(0x20));
	ck_assert(!has_guid(0x2f) && has_guid(0x30) && !has_guid(0x31));
	ck_assert(has_guid(UINT64_MAX) && has_guid(UINT64_MAX - 255) &&
		!has_guid(UINT64_MAX - 256));
	use_group("<port-guid>0-1</port-guid>");
	ck_assert(has_guid(0) && has_guid(1) && !has_guid(2));
}
END_TEST

static bool has_type(unsigned type, bool is_self)
{
	struct triad_scopes_port port = host;

	port.node_type = (uint8_t)type;
	port.is_self = is_self;
	return is_in(port);
}

START_TEST(test_group_node_types_and_self_compared)
{
	use_group("<node-type>CA</node-type>");
	ck_assert(has_type(TRIAD_NODE_CA, false) && !has_type(TRIAD_NODE_SWITCH, true));
	ck_assert(!has_type(TRIAD_NODE_ROUTER, false));
	use_group("<node-type>SWITCH,ROUTER</node-type>");
	ck_assert(has_type(TRIAD_NODE_SWITCH, false) &&
		has_type(TRIAD_NODE_ROUTER, false) && !has_type(TRIAD_NODE_CA, true));
	use_group("<node-type>ALL</node-type>");
	ck_assert(!has_type(0, false) && !has_type(4, false) && !has_type(255, false));
	use_group("<node-type>SELF</node-type>");
	ck_assert(has_type(TRIAD_NODE_CA, true) && !has_type(TRIAD_NODE_CA, false));
	ck_assert(has_type(TRIAD_NODE_SWITCH, true) && has_type(0, true));
}
END_TEST

static bool has_pkey(uint16_t pkey)
{
	/* The P_Key is after an empty entry; there are more entries than the scopes
	 * object keeps of the last port. */
	uint16_t pkeys[200] = {0, 0x8000, [150] = pkey};
	struct triad_scopes_port port = host;
	bool found[3];

	port.pkeys = pkeys;
	port.n_pkeys = 200;
	found[0] = is_in(port);
	pkeys[1] = pkey;
	port.n_pkeys = 2;
	found[1] = is_in(port);
	found[2] = is_in(port);
	ck_assert(found[0] == found[1] && found[1] == found[2]);
	port.n_pkeys = 1;
	ck_assert(!is_in(port));
	return found[0];
}

START_TEST(test_group_pkeys_membership_bit_ignored)
{
	use_group("<pkey>0x10-0x12,0x8020,0x7fff</pkey>");
	ck_assert(!has_pkey(0xf) && has_pkey(0x10) && has_pkey(0x8012) &&
		!has_pkey(0x8013));
	ck_assert(has_pkey(0x20) && has_pkey(0x8020) && !has_pkey(0x21));
	ck_assert(has_pkey(0xffff) && has_pkey(0x7fff) && !has_pkey(0x7ffe));
	ck_assert(!has_pkey(0) && !has_pkey(0x8000));
	use_group("<pkey>0x10</pkey><port-guid>0x5000</port-guid>");
	ck_assert(is_in(host));
}
END_TEST

static void set_partitions(const struct triad_fabric_partition *partitions, unsigned n)
{
	ck_assert_int_eq(triad_scopes_set_partitions(scopes, partitions, n), 0);
}

START_TEST(test_group_partition_case_only_when_there_is_no_other)
{
	static const struct triad_fabric_partition some[] = {
		{.pkey = 1, .name = "PARTA"}, {.pkey = 2, .name = "parta"},
		{.pkey = 3, .name = "PartA"}, {.pkey = 4, .name = "PartA"},
		{.pkey = 5, .name = ""}};

	use_group("<partition>PartA</partition>");
	ck_assert(!has_pkey(1) && !has_pkey(3)); /* not set up yet */
	set_partitions(some, 5);
	ck_assert(!has_pkey(1) && !has_pkey(2) && has_pkey(3) && !has_pkey(4));
	set_partitions(some, 2);
	ck_assert(has_pkey(1) && has_pkey(0x8001) && !has_pkey(2) && !has_pkey(3));
	set_partitions(some + 1, 1);
	ck_assert(!has_pkey(1) && has_pkey(2));
	set_partitions(some + 4, 1);
	ck_assert(!has_pkey(2) && !has_pkey(5));
	set_partitions(NULL, 0);
	ck_assert(!has_pkey(2) && !has_pkey(0));
}
END_TEST

static bool has_name(unsigned type, const char *name, unsigned number)
{
	struct triad_scopes_port port = host;

	port.node_type = (uint8_t)type;
	port.node_name = name;
	port.number = (uint8_t)number;
	return is_in(port);
}

#define HOST_HAS(name, number) has_name(TRIAD_NODE_CA, name, number)
#define SWITCH_HAS(name, number) has_name(TRIAD_NODE_SWITCH, name, number)

START_TEST(test_group_name_of_host_needs_number)
{
	use_group("<port-name>vs1 HCA-1/P1,vs2 HCA-1/P0</port-name>");
	ck_assert(HOST_HAS("vs1 HCA-1", 1) && !HOST_HAS("vs1 HCA-1", 2));
	ck_assert(!HOST_HAS("vs1 HCA-1 mlx5_0", 1) && !HOST_HAS("vs1  HCA-1", 1));
	ck_assert(!HOST_HAS("vs1 HCA-", 1) && !HOST_HAS("", 1));
	ck_assert(!HOST_HAS("vs2 HCA-1", 1) && HOST_HAS("vs2 HCA-1", 0));
	ck_assert(!has_name(TRIAD_NODE_ROUTER, "vs2 HCA-1", 1));
	ck_assert(has_name(TRIAD_NODE_ROUTER, "vs1 HCA-1", 1));
}
END_TEST

START_TEST(test_group_name_of_switch_with_0_is_all_ports)
{
	use_group("<port-name>s1/P0,s2/P3,s2/P254</port-name>");
	ck_assert(SWITCH_HAS("s1", 0) && SWITCH_HAS("s1", 1) && SWITCH_HAS("s1", 255));
	ck_assert(SWITCH_HAS("s2", 3) && SWITCH_HAS("s2", 254));
	ck_assert(!SWITCH_HAS("s2", 0) && !SWITCH_HAS("s2", 4) && !SWITCH_HAS("s3", 3));
}
END_TEST

START_TEST(test_group_name_first_two_words_compared)
{
	char longest[TRIAD_NODE_NAME_SIZE], keys[200];

	use_group("<port-name>vs1/HCA-1/P1</port-name>");
	ck_assert(HOST_HAS("vs1 HCA-1", 1) && HOST_HAS("vs1 HCA-1 mlx5_0 x", 1));
	ck_assert(HOST_HAS(" vs1   HCA-1  mlx5_0", 1) && HOST_HAS("vs1 HCA-1 ", 1));
	ck_assert(!HOST_HAS("vs1 HCA-1", 2) && !HOST_HAS("vs1", 1));
	ck_assert(!HOST_HAS("vs1 HCA-2", 1) && !HOST_HAS("x vs1 HCA-1", 1));
	/* Not the RFC's form: the slash is part of the node's name. */
	use_group("<port-name>vs1 HCA-1/mlx5_0/P1</port-name>");
	ck_assert(!HOST_HAS("vs1 HCA-1 mlx5_0", 1) && !HOST_HAS("vs1 HCA-1", 1));
	ck_assert(HOST_HAS("vs1 HCA-1/mlx5_0", 1));
	/* The node's name has the maximal length; then the policy's name is longer
	 * still. */
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	snprintf(keys, sizeof(keys), "<port-name>%s/P1</port-name>", longest);
	use_group(keys);
	ck_assert(HOST_HAS(longest, 1) && !HOST_HAS(longest + 1, 1));
	snprintf(keys, sizeof(keys), "<port-name>%sy/P1</port-name>", longest);
	use_group(keys);
	ck_assert(!HOST_HAS(longest, 1));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("setup");

	tcase_add_checked_fixture(cases, NULL, tear_down);
	tcase_add_test(cases, test_setup_wanted_when_policy_has_scopes);
	tcase_add_test(cases, test_setup_last_reference_frees_policy);
	tcase_add_test(cases, test_sl2vl_vl_that_port_lacks_becomes_15);
	tcase_add_test(cases, test_vlarb_fills_port_s_table);
	tcase_add_test(cases, test_vlarb_vl_that_port_lacks_is_skipped);
	tcase_add_test(cases, test_high_limit_only_when_requested);
	tcase_add_test(cases, test_group_guid_ends_of_ranges_included);
	tcase_add_test(cases, test_group_node_types_and_self_compared);
	tcase_add_test(cases, test_group_pkeys_membership_bit_ignored);
	tcase_add_test(cases, test_group_partition_case_only_when_there_is_no_other);
	tcase_add_test(cases, test_group_name_of_host_needs_number);
	tcase_add_test(cases, test_group_name_of_switch_with_0_is_all_ports);
	tcase_add_test(cases, test_group_name_first_two_words_compared);
	return run_cases(cases);
}
