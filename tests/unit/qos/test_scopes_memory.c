/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A policy's scopes when memory is short: the test refuses each allocation in turn. */
#include "tests/unit/qos/setup_fixture.h"
#include "tests/unit/scarce_memory.h"

static const struct triad_fabric_partition partitions[] = {
	{.pkey = 1, .name = "p"}, {.pkey = 2, .name = "q"}};

static void parse_all_sorts(void)
{
	parse(GROUP("a", "<port-guid>1-9</port-guid><port-name>x/P1</port-name>")
			GROUP("b", "<port-name>x/y/P1</port-name><pkey>7</pkey>")
				GROUP("p", "<partition>p</partition>"),
		SL2VL("<group>a</group>") SL2VL("<across>b</across>"),
		VLARB("<group>p</group>"));
}

static void tear_down(void)
{
	drop_setup();
}

START_TEST(test_compile_without_memory_refused)
{
	unsigned n = 0;
	int error;

	parse_all_sorts();
	do {
		refuse(++n);
		error = triad_setup_compile(policy, &setup);
		if (!refused())
			break;
		ck_assert_int_eq(error, ENOMEM);
		ck_assert_ptr_null(setup);
		ck_assert_uint_eq(policy->n_references, 1);
	} while (true);
	ck_assert_int_eq(error, 0);
	ck_assert_uint_gt(n, 15);
}
END_TEST

START_TEST(test_scopes_without_memory_refused)
{
	unsigned n = 0;

	parse_all_sorts();
	ck_assert_int_eq(triad_setup_compile(policy, &setup), 0);
	do {
		refuse(++n);
		scopes = triad_scopes_new(setup);
		if (!refused())
			break;
		ck_assert_ptr_null(scopes);
	} while (true);
	ck_assert_ptr_nonnull(scopes);
	ck_assert_uint_gt(n, 10);
}
END_TEST

static uint32_t class_of(uint16_t pkey)
{
	struct triad_scopes_port port = {.node_name = "", .n_pkeys = 1};

	port.pkeys = &pkey;
	return triad_scopes_class(scopes, &port);
}

START_TEST(test_partitions_without_memory_stay)
{
	unsigned n = 0;
	int error;

	parse_all_sorts();
	ck_assert_int_eq(triad_setup_compile(policy, &setup), 0);
	scopes = triad_scopes_new(setup);
	ck_assert_int_eq(triad_scopes_set_partitions(scopes, partitions, 2), 0);
	ck_assert_uint_ne(class_of(1), TRIAD_SCOPES_NO_CLASS);
	do {
		refuse(++n);
		error = triad_scopes_set_partitions(scopes, NULL, 0);
		if (!refused())
			break;
		ck_assert_int_eq(error, ENOMEM);
		ck_assert_uint_ne(class_of(1), TRIAD_SCOPES_NO_CLASS);
	} while (true);
	ck_assert_int_eq(error, 0);
	ck_assert_uint_eq(class_of(1), TRIAD_SCOPES_NO_CLASS);
	ck_assert_uint_gt(n, 5);
}
END_TEST

/* Makes 'n' groups for the P_Keys 1 to 'n', each with a scope. */
static void use_pkeys(unsigned n)
{
	GString *groups = g_string_new(""), *vlarbs = g_string_new("");

	for (unsigned i = 0; i < n; i++) {
		g_string_append_printf(
			groups, GROUP("g%u", "<pkey>%u</pkey>"), i, i + 1);
		g_string_append_printf(vlarbs, VLARB("<group>g%u</group>"), i);
	}
	use(groups->str, "", vlarbs->str);
	g_string_free(groups, TRUE);
	g_string_free(vlarbs, TRUE);
}

/* Some classes fit into memory allocated before.  For each other one the failure is
 * reported, and the class can be made later. */
START_TEST(test_classes_without_memory_are_reported)
{
	unsigned n_refused = 0;

	use_pkeys(100);
	for (unsigned pkey = 1; pkey <= 100; pkey++) {
		uint32_t class;

		for (unsigned n = 1; n <= 2; n++) {
			refuse(n);
			class = class_of((uint16_t)pkey);
			if (!refused())
				break;
			n_refused++;
			ck_assert_uint_eq(class, TRIAD_SCOPES_NO_CLASS);
			ck_assert_int_eq(triad_scopes_error(scopes), ENOMEM);
			ck_assert_int_eq(
				triad_scopes_set_partitions(scopes, NULL, 0), 0);
			ck_assert_int_eq(triad_scopes_error(scopes), 0);
			for (unsigned other = 1; other < pkey; other++)
				ck_assert_uint_eq(class_of((uint16_t)other), other);
		}
		ck_assert_uint_eq(class_of((uint16_t)pkey), pkey);
	}
	ck_assert_uint_ge(n_refused, 4);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("scopes_memory");

	tcase_add_checked_fixture(cases, NULL, tear_down);
	tcase_add_test(cases, test_compile_without_memory_refused);
	tcase_add_test(cases, test_scopes_without_memory_refused);
	tcase_add_test(cases, test_partitions_without_memory_stay);
	tcase_add_test(cases, test_classes_without_memory_are_reported);
	return run_cases(cases);
}
