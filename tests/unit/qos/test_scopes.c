/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which scopes fit which ports, one rule per test; also classes and kinds of in-ports,
 * and limits. */
#include "tests/unit/qos/setup_fixture.h"

#include "tests/sim/policies.h"

#define NONE TRIAD_SCOPE_NONE

/* Ports with these GUIDs are in these groups. */
#define GROUPS                                                                         \
	GROUP("a", "<port-guid>0xa,0xab</port-guid>")                                  \
	GROUP("b", "<port-guid>0xb,0xab</port-guid>")                                  \
	GROUP("c", "<port-guid>0xc</port-guid>")

static void tear_down(void)
{
	drop_setup();
}

static uint32_t class_of(uint64_t guid)
{
	struct triad_scopes_port port = {
		.guid = guid, .node_name = "", .node_type = TRIAD_NODE_SWITCH};
	uint32_t class = triad_scopes_class(scopes, &port);

	ck_assert_int_eq(triad_scopes_error(scopes), 0);
	return class;
}

/* A port with GUID 'own', linked to a port with GUID 'remote'; 0: in no group, or no
 * link. */
static struct triad_scopes_end end(uint64_t own, uint64_t remote, unsigned number)
{
	return (struct triad_scopes_end){.own = class_of(own),
		.remote = class_of(remote),
		.number = (uint8_t)number};
}

static uint16_t vlarb(uint64_t own, uint64_t remote, unsigned number)
{
	struct triad_scopes_end out = end(own, remote, number);

	return triad_scopes_vlarb(scopes, &out);
}

static uint16_t endport(uint64_t own, uint64_t remote, unsigned number)
{
	struct triad_scopes_end port = end(own, remote, number);

	return triad_scopes_endport_sl2vl(scopes, &port);
}

/* The SL2VL scope of a switch with GUID 'own', from one of its ports to another. */
static uint16_t sl2vl(uint64_t own, uint64_t in_remote, unsigned in_number,
	uint64_t out_remote, unsigned out_number)
{
	struct triad_scopes_end ports[] = {
		end(own, in_remote, in_number), end(own, out_remote, out_number)};
	struct triad_scopes_switch kinds;
	uint16_t row[2] = {1234, 1234};

	triad_scopes_sort_ports(scopes, ports, 2, &kinds);
	ck_assert_uint_ge(kinds.n_kinds, 1);
	triad_scopes_sl2vl_row(scopes, ports, &kinds, &ports[1], row);
	return row[kinds.kind[0]];
}

/* --- which scope --- */

START_TEST(test_vlarb_scope_group_is_of_port_itself)
{
	use(GROUPS, "", VLARB("<group>a,c</group>"));
	ck_assert_uint_eq(vlarb(0xa, 0, 1), 0);
	ck_assert_uint_eq(vlarb(0xc, 0xb, 1), 0);
	ck_assert_uint_eq(vlarb(0xab, 0, 1), 0);
	ck_assert_uint_eq(vlarb(0xb, 0xa, 1), NONE);
	ck_assert_uint_eq(vlarb(0, 0xa, 1), NONE);
}
END_TEST

/* Row: Q7 */
START_TEST(test_vlarb_scope_across_is_of_port_at_other_end)
{
	use(GROUPS, "", VLARB("<across>a,c</across>"));
	ck_assert_uint_eq(vlarb(0xa, 0, 1), NONE);
	ck_assert_uint_eq(vlarb(0xb, 0xc, 1), 0);
	ck_assert_uint_eq(vlarb(0, 0xab, 1), 0);
	ck_assert_uint_eq(vlarb(0xa, 0xb, 1), NONE);
}
END_TEST

START_TEST(test_vlarb_scope_either_of_group_and_across_is_enough)
{
	use(GROUPS, "", VLARB("<group>a</group><across>b</across>"));
	ck_assert_uint_eq(vlarb(0xa, 0, 1), 0);
	ck_assert_uint_eq(vlarb(0, 0xb, 1), 0);
	ck_assert_uint_eq(vlarb(0xb, 0xa, 1), NONE);
}
END_TEST

START_TEST(test_vlarb_scope_to_is_number_of_port)
{
	use(GROUPS, "",
		VLARB("<group>a</group><to>0,64,254</to>")
			VLARB("<group>b</group><to>*</to>"));
	ck_assert_uint_eq(vlarb(0xa, 0, 0), 0);
	ck_assert_uint_eq(vlarb(0xa, 0, 64), 0);
	ck_assert_uint_eq(vlarb(0xa, 0, 254), 0);
	ck_assert_uint_eq(vlarb(0xa, 0, 1), NONE);
	ck_assert_uint_eq(vlarb(0xa, 0, 255), NONE);
	ck_assert_uint_eq(vlarb(0xb, 0, 255), 1);
	ck_assert_uint_eq(vlarb(0xb, 0, 0), 1);
}
END_TEST

/* Row: Q7 */
START_TEST(test_vlarb_last_scope_that_fits_applies_alone)
{
	uint8_t limit;

	use(GROUPS, "",
		VLARB("<group>a</group>") VLARB_OF(
			"<vlarb-high>0:1</vlarb-high>", "<group>a</group><to>1-2</to>")
			VLARB("<group>a</group><to>2</to>"));
	ck_assert_uint_eq(vlarb(0xa, 0, 3), 0);
	ck_assert_uint_eq(vlarb(0xa, 0, 1), 1);
	ck_assert_uint_eq(vlarb(0xa, 0, 2), 2);
	ck_assert(!triad_setup_high_limit(setup, 1, &limit));
}
END_TEST

START_TEST(test_endport_scope_from_has_no_effect)
{
	use(GROUPS,
		SL2VL("<group>a</group><from>7</from>")
			SL2VL("<group>b</group><to>2</to>"),
		"");
	ck_assert_uint_eq(endport(0xa, 0, 1), 0);
	ck_assert_uint_eq(endport(0xab, 0, 1), 0);
	ck_assert_uint_eq(endport(0xab, 0, 2), 1);
	ck_assert_uint_eq(endport(0xc, 0, 2), NONE);
}
END_TEST

START_TEST(test_endport_scope_across_from_never_fits)
{
	use(GROUPS,
		SL2VL("<group>a</group>")
			SL2VL("<group>a</group><across-from>b</across-from>")
				SL2VL("<across-from>b</across-from>")
					SL2VL("<across-to>c</across-to>"),
		"");
	ck_assert_uint_eq(endport(0xa, 0xb, 1), 0);
	ck_assert_uint_eq(endport(0xb, 0xb, 1), NONE);
	ck_assert_uint_eq(endport(0xa, 0xc, 1), 3);
}
END_TEST

/* Row: Q7 */
START_TEST(test_sl2vl_scope_across_and_across_to_are_of_out_port)
{
	use(GROUPS,
		SL2VL("<across>a</across>") SL2VL("<across-to>b</across-to>")
			SL2VL("<across>c</across><across-to>a</across-to>"),
		"");
	ck_assert_uint_eq(sl2vl(0, 0, 1, 0xa, 2), 2);
	ck_assert_uint_eq(sl2vl(0, 0, 1, 0xc, 2), 2);
	ck_assert_uint_eq(sl2vl(0, 0, 1, 0xb, 2), 1);
	/* The in-port's group, and that of its far end, have no effect. */
	ck_assert_uint_eq(sl2vl(0, 0xa, 1, 0, 2), NONE);
	ck_assert_uint_eq(sl2vl(0xa, 0xb, 1, 0, 2), NONE);
}
END_TEST

START_TEST(test_sl2vl_scope_across_from_is_of_in_port)
{
	use(GROUPS, SL2VL("<across-from>a</across-from>"), "");
	/* The scope applies to any out-port. */
	ck_assert_uint_eq(sl2vl(0, 0xa, 1, 0, 2), 0);
	ck_assert_uint_eq(sl2vl(0xc, 0xab, 1, 0xb, 2), 0);
	ck_assert_uint_eq(sl2vl(0xa, 0, 1, 0xa, 2), NONE);
	use(GROUPS, SL2VL("<across-from>a</across-from><across-to>b</across-to>"), "");
	ck_assert_uint_eq(sl2vl(0, 0xa, 1, 0xb, 2), 0);
	ck_assert_uint_eq(sl2vl(0, 0xa, 1, 0, 2), NONE);
	ck_assert_uint_eq(sl2vl(0, 0, 1, 0xb, 2), NONE);
	use(GROUPS, SL2VL("<group>c</group><across-from>a</across-from>"), "");
	ck_assert_uint_eq(sl2vl(0xc, 0xa, 1, 0, 2), 0);
	ck_assert_uint_eq(sl2vl(0xb, 0xa, 1, 0, 2), NONE);
	ck_assert_uint_eq(sl2vl(0xc, 0xb, 1, 0, 2), NONE);
}
END_TEST

START_TEST(test_sl2vl_scope_from_and_to_are_numbers)
{
	use(GROUPS,
		SL2VL("<group>a</group><from>0-2</from>")
			SL2VL("<group>a</group><from>2-3</from><to>5</to>"),
		"");
	ck_assert_uint_eq(sl2vl(0xa, 0, 0, 0, 5), 0);
	ck_assert_uint_eq(sl2vl(0xa, 0, 2, 0, 5), 1);
	ck_assert_uint_eq(sl2vl(0xa, 0, 2, 0, 6), 0);
	ck_assert_uint_eq(sl2vl(0xa, 0, 3, 0, 5), 1);
	ck_assert_uint_eq(sl2vl(0xa, 0, 3, 0, 2), NONE);
	ck_assert_uint_eq(sl2vl(0xa, 0, 255, 0, 5), NONE);
}
END_TEST

/* Sets of scopes and groups are larger than one word; each scope has one group. */
START_TEST(test_scopes_many_are_distinguished)
{
	GString *groups = g_string_new(""), *sl2vls = g_string_new(""),
		*vlarbs = g_string_new("");

	for (unsigned i = 0; i < 200; i++) {
		g_string_append_printf(
			groups, GROUP("g%u", "<port-guid>%u</port-guid>"), i, i + 1);
		g_string_append_printf(sl2vls, SL2VL("<across>g%u</across>"), i);
		g_string_append_printf(vlarbs, VLARB("<group>g%u</group>"), 199 - i);
	}
	use(groups->str, sl2vls->str, vlarbs->str);
	for (unsigned i = 0; i < 200; i++) {
		ck_assert_uint_eq(vlarb(i + 1, 0, 1), 199 - i);
		ck_assert_uint_eq(endport(0, i + 1, 1), i);
		ck_assert_uint_eq(sl2vl(0, i, 1, i + 1, 2), i);
	}
	ck_assert_uint_eq(vlarb(201, 201, 1), NONE);
	g_string_free(groups, TRUE);
	g_string_free(sl2vls, TRUE);
	g_string_free(vlarbs, TRUE);
}
END_TEST

START_TEST(test_scopes_none_nothing_fits)
{
	use(GROUPS, "", "");
	ck_assert_uint_eq(class_of(0xa), TRIAD_SCOPES_NO_CLASS);
	ck_assert_uint_eq(vlarb(0xa, 0xb, 1), NONE);
	ck_assert_uint_eq(endport(0xa, 0xb, 1), NONE);
	ck_assert_uint_eq(sl2vl(0xa, 0xb, 1, 0xc, 2), NONE);
}
END_TEST

/* --- kinds of in-ports --- */

START_TEST(test_kinds_ports_that_scopes_distinguish)
{
	struct triad_scopes_switch kinds;
	struct triad_scopes_end ports[6];
	uint16_t row[6];

	use(GROUPS,
		SL2VL("<group>a</group>")
			SL2VL("<across-from>b</across-from><from>2-3,5</from>")
				SL2VL("<across-to>c</across-to><from>5</from>"),
		"");
	ports[0] = end(0xa, 0, 0);
	ports[1] = end(0xa, 0xb, 1);
	ports[2] = end(0xa, 0xb, 2);
	ports[3] = end(0xa, 0xab, 3);
	ports[4] = end(0xa, 0xc, 4);
	ports[5] = end(0xa, 0, 5);
	triad_scopes_sort_ports(scopes, ports, 6, &kinds);
	ck_assert_uint_eq(kinds.n_kinds, 3);
	ck_assert_int_eq(memcmp(kinds.kind, "\0\0\1\1\0\2", 6), 0);
	ck_assert_int_eq(memcmp(kinds.first, "\0\2\5", 3), 0);
	triad_scopes_sl2vl_row(scopes, ports, &kinds, &ports[1], row);
	ck_assert(row[0] == 0 && row[1] == 1 && row[2] == 0);
	triad_scopes_sl2vl_row(scopes, ports, &kinds, &ports[4], row);
	ck_assert(row[0] == 0 && row[1] == 1 && row[2] == 2);
	triad_scopes_sort_ports(scopes, ports, 0, &kinds);
	ck_assert_uint_eq(kinds.n_kinds, 0);
}
END_TEST

START_TEST(test_kinds_as_many_as_ports)
{
	struct triad_scopes_switch kinds;
	struct triad_scopes_end ports[TRIAD_SCOPES_MAX_PORTS];
	uint16_t row[TRIAD_SCOPES_MAX_PORTS];
	GString *sl2vls = g_string_new("");

	for (unsigned i = 0; i < 255; i++)
		g_string_append_printf(
			sl2vls, SL2VL("<group>a</group><from>%u</from>"), i);
	use(GROUPS, sl2vls->str, "");
	for (unsigned i = 0; i < TRIAD_SCOPES_MAX_PORTS; i++)
		ports[i] = end(0xa, 0, i);
	triad_scopes_sort_ports(scopes, ports, TRIAD_SCOPES_MAX_PORTS, &kinds);
	ck_assert_uint_eq(kinds.n_kinds, TRIAD_SCOPES_MAX_PORTS);
	triad_scopes_sl2vl_row(scopes, ports, &kinds, &ports[7], row);
	for (unsigned i = 0; i < TRIAD_SCOPES_MAX_PORTS; i++) {
		ck_assert_uint_eq(kinds.kind[i], i);
		ck_assert_uint_eq(kinds.first[i], i);
		ck_assert_uint_eq(row[i], i < 255 ? i : NONE);
	}
	g_string_free(sl2vls, TRUE);
}
END_TEST

/* --- classes --- */

START_TEST(test_classes_same_groups_same_class)
{
	uint32_t a, b, both;

	use(GROUPS, "", VLARB("<group>a</group>") VLARB("<across>b</across>"));
	a = class_of(0xa);
	b = class_of(0xb);
	both = class_of(0xab);
	ck_assert(a != b && a != both && b != both);
	ck_assert(a != TRIAD_SCOPES_NO_CLASS && b != TRIAD_SCOPES_NO_CLASS &&
		both != TRIAD_SCOPES_NO_CLASS);
	ck_assert(class_of(0xa) == a && class_of(0xb) == b && class_of(0xab) == both);
	ck_assert_uint_eq(class_of(0x99), TRIAD_SCOPES_NO_CLASS);
	/* No scope refers to group c. */
	ck_assert_uint_eq(class_of(0xc), TRIAD_SCOPES_NO_CLASS);
}
END_TEST

/* The class of a port in the partitions with P_Key i + 1, for each bit i in 'bits'. */
static uint32_t class_of_bits(uint32_t bits)
{
	struct triad_scopes_port port = {.node_name = "", .node_type = TRIAD_NODE_CA};
	uint16_t pkeys[17];

	port.pkeys = pkeys;
	for (unsigned i = 0; i < 17; i++)
		if (bits >> i & 1)
			pkeys[port.n_pkeys++] = (uint16_t)(i + 1);
	return triad_scopes_class(scopes, &port);
}

static void use_17_groups(void)
{
	GString *groups = g_string_new(""), *vlarbs = g_string_new("");

	for (unsigned i = 0; i < 17; i++) {
		g_string_append_printf(
			groups, GROUP("g%u", "<pkey>%u</pkey>"), i, i + 1);
		g_string_append_printf(vlarbs, VLARB("<group>g%u</group>"), i);
	}
	g_string_append(groups, GROUP("p", "<partition>p</partition>"));
	g_string_append(vlarbs, VLARB("<across>p</across>"));
	use(groups->str, "", vlarbs->str);
	g_string_free(groups, TRUE);
	g_string_free(vlarbs, TRUE);
}

START_TEST(test_classes_too_many_are_reported)
{
	uint32_t class, last;

	use_17_groups();
	for (uint32_t i = 0; i < TRIAD_SCOPES_MAX_CLASSES; i++)
		if (class_of_bits(i) != i)
			ck_abort_msg("class %u is %u", i, class_of_bits(i));
	ck_assert_int_eq(triad_scopes_error(scopes), 0);
	class = class_of_bits(TRIAD_SCOPES_MAX_CLASSES);
	ck_assert_uint_eq(class, TRIAD_SCOPES_NO_CLASS);
	ck_assert_int_eq(triad_scopes_error(scopes), EOVERFLOW);
	/* The other classes stay until new partitions are set. */
	last = class_of_bits(TRIAD_SCOPES_MAX_CLASSES - 1);
	ck_assert_uint_eq(last, TRIAD_SCOPES_MAX_CLASSES - 1);
	ck_assert_int_eq(triad_scopes_error(scopes), EOVERFLOW);
	ck_assert_int_eq(triad_scopes_set_partitions(scopes, NULL, 0), 0);
	ck_assert_int_eq(triad_scopes_error(scopes), 0);
	class = class_of_bits(TRIAD_SCOPES_MAX_CLASSES);
	ck_assert_uint_ne(class, TRIAD_SCOPES_NO_CLASS);
	ck_assert_uint_eq(vlarb(0, 0, 1), NONE);
	ck_assert_uint_eq(
		triad_scopes_vlarb(scopes, &(struct triad_scopes_end){.own = class}),
		16);
}
END_TEST

START_TEST(test_classes_stay_while_partitions_do)
{
	struct triad_fabric_partition some[] = {
		{.pkey = 2, .name = "p"}, {.pkey = 20, .name = "other"}};
	uint32_t one, other;

	use_17_groups();
	one = class_of_bits(5);
	ck_assert_int_eq(triad_scopes_set_partitions(scopes, some, 2), 0);
	other = class_of_bits(2);
	ck_assert_int_eq(triad_scopes_set_partitions(scopes, some, 1), 0);
	one = class_of_bits(5);
	ck_assert(one != other && class_of_bits(2) == other);
	some[0].pkey = 3;
	ck_assert_int_eq(triad_scopes_set_partitions(scopes, some, 1), 0);
	/* Former numbers of classes count as no class. */
	ck_assert_uint_eq(
		triad_scopes_vlarb(scopes,
			&(struct triad_scopes_end){.own = one, .remote = UINT32_MAX}),
		NONE);
	ck_assert_uint_eq(
		triad_scopes_vlarb(
			scopes, &(struct triad_scopes_end){.remote = class_of_bits(4)}),
		17);
}
END_TEST

/* --- caps --- */

START_TEST(test_compile_too_many_scopes_refused)
{
	struct triad_policy *made = policy_sized(1, 1, 0, 0);

	made->n_vlarb = TRIAD_POLICY_MAX_SCOPES;
	made->vlarb = calloc(made->n_vlarb + 1, sizeof(*made->vlarb));
	ck_assert_int_eq(triad_setup_compile(made, &setup), 0);
	drop_setup();
	made->n_vlarb++;
	ck_assert_int_eq(triad_setup_compile(made, &setup), EOVERFLOW);
	ck_assert_ptr_null(setup);
	policy_free(made);
}
END_TEST

/* Group i has the values from i to the same distance from the end, so the value in the
 * middle is in all groups. */
static struct triad_policy *nested_policy(unsigned n, bool has_pkeys)
{
	struct triad_policy *made = policy_sized(n, 1, 0, 0);

	made->n_vlarb = 1;
	made->vlarb = calloc(1, sizeof(*made->vlarb));
	for (unsigned i = 0; i < n; i++) {
		struct triad_ranges *ranges =
			has_pkeys ? &made->groups[i].pkeys : &made->groups[i].guids;

		policy_add_range(ranges, 1 + i, 2 * n - i);
		policy_add_group(&made->vlarb[0].scope.groups, i);
	}
	return made;
}

static void nested_policy_free(struct triad_policy *made)
{
	free(made->vlarb[0].scope.groups.items);
	policy_free(made);
}

START_TEST(test_compile_ranges_that_overlap_too_much_refused)
{
	for (unsigned has_pkeys = 0; has_pkeys < 2; has_pkeys++) {
		struct triad_policy *made = nested_policy(2000, has_pkeys);

		/* The ranges make 1 + 2 + ... + 2 + 1 = n * n members. */
		ck_assert_int_eq(triad_setup_compile(made, &setup), 0);
		drop_setup();
		nested_policy_free(made);
		made = nested_policy(2100, has_pkeys);
		ck_assert_int_eq(triad_setup_compile(made, &setup), EOVERFLOW);
		ck_assert_ptr_null(setup);
		nested_policy_free(made);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("scopes");

	tcase_add_checked_fixture(cases, NULL, tear_down);
	tcase_add_test(cases, test_vlarb_scope_group_is_of_port_itself);
	tcase_add_test(cases, test_vlarb_scope_across_is_of_port_at_other_end);
	tcase_add_test(cases, test_vlarb_scope_either_of_group_and_across_is_enough);
	tcase_add_test(cases, test_vlarb_scope_to_is_number_of_port);
	tcase_add_test(cases, test_vlarb_last_scope_that_fits_applies_alone);
	tcase_add_test(cases, test_endport_scope_from_has_no_effect);
	tcase_add_test(cases, test_endport_scope_across_from_never_fits);
	tcase_add_test(cases, test_sl2vl_scope_across_and_across_to_are_of_out_port);
	tcase_add_test(cases, test_sl2vl_scope_across_from_is_of_in_port);
	tcase_add_test(cases, test_sl2vl_scope_from_and_to_are_numbers);
	tcase_add_test(cases, test_scopes_many_are_distinguished);
	tcase_add_test(cases, test_scopes_none_nothing_fits);
	tcase_add_test(cases, test_kinds_ports_that_scopes_distinguish);
	tcase_add_test(cases, test_kinds_as_many_as_ports);
	tcase_add_test(cases, test_classes_same_groups_same_class);
	tcase_add_test(cases, test_classes_too_many_are_reported);
	tcase_add_test(cases, test_classes_stay_while_partitions_do);
	tcase_add_test(cases, test_compile_too_many_scopes_refused);
	tcase_add_test(cases, test_compile_ranges_that_overlap_too_much_refused);
	return run_cases(cases);
}
