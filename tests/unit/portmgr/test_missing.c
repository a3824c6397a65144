/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/missing.h"

#include <errno.h>

#include "tests/unit/portmgr/plan_fixture.h"
#include "tests/unit/mentions.h"
#include "tests/unit/scarce_memory.h"
#include "triad/clock.h"

#define HOUR_US (3600 * TRIAD_US_PER_S)
#define NOW_US (100 * HOUR_US)

static struct triad_seen_switches seen;
static char who[TRIAD_MISSING_SIZE];

static void begin(void)
{
	seen = (struct triad_seen_switches){0};
}

static void end(void)
{
	triad_seen_switches_free(&seen);
}

/* A fabric of a host with the SM and these switches is seen. */
static void look(uint64_t first, uint64_t n, uint64_t now_us)
{
	fixture_begin();
	fixture_add(0x100, TRIAD_NODE_CA, "host-own", 1);
	for (uint64_t i = 0; i < n; i++)
		fixture_add(first + i, TRIAD_NODE_SWITCH, "leaf", 4);
	fixture_build(0x101);
	ck_assert_int_eq(triad_seen_switches_look(&seen, fabric, now_us), 0);
	triad_fabric_unref(fabric);
}

static const char *missing(const char *rows, const uint64_t *sms, uint32_t n_sms)
{
	struct triad_diags diags;
	struct triad_expected *expected;
	struct triad_placed *placed;
	char *text = g_strconcat("generation 9\n", rows, NULL);
	struct triad_plan_input input = {.sm_guids = sms, .n_sm_guids = n_sms};

	fixture_begin();
	fixture_add(0x100, TRIAD_NODE_CA, "host-own", 1);
	fixture_add(0x201, TRIAD_NODE_SWITCH, "leaf-01", 4);
	fixture_add(0x202, TRIAD_NODE_SWITCH, "leaf-02", 4);
	fixture_build(0x101);
	triad_diags_init(&diags, "");
	ck_assert_int_eq(
		triad_expected_parse(text, strlen(text), &diags, &expected), 0);
	ck_assert_int_eq(
		triad_placed_build(expected, fabric, &diags, NULL, &placed), 0);
	input.fabric = fabric;
	input.expected = expected;
	input.placed = placed;
	triad_missing_find(&input, &seen, who);
	triad_placed_free(placed);
	triad_expected_free(expected);
	triad_fabric_unref(fabric);
	g_free(text);
	return who;
}

START_TEST(test_switch_of_last_day_is_missing)
{
	look(0x201, 3, NOW_US);
	look(0x201, 2, NOW_US + HOUR_US);
	assert_mentions(missing("", NULL, 0), "leaf (0x0000000000000203)");
	look(0x201, 2, NOW_US + 24 * HOUR_US - 1);
	ck_assert_str_ne(missing("", NULL, 0), "");
	look(0x201, 2, NOW_US + 24 * HOUR_US);
	ck_assert_str_eq(missing("", NULL, 0), "");
}
END_TEST

START_TEST(test_others_are_counted)
{
	look(0x1fe, 7, NOW_US);
	assert_mentions(missing("", NULL, 0), "0x00000000000001fe 4 more");
}
END_TEST

START_TEST(test_sm_and_switch_of_configuration_are_missing)
{
	static const uint64_t sms[] = {0x101, 0x999};

	ck_assert_str_eq(missing("leaf-01,1,disabled\n", sms, 1), "");
	assert_mentions(missing("", sms, 2), "SM 0x0000000000000999");
	assert_mentions(
		missing("leaf-01,1,disabled\nleaf-09,1,disabled\n", sms, 1), "line 3");
}
END_TEST

START_TEST(test_latest_stay_when_too_many_are_missing)
{
	look(0x1000, 100, NOW_US);
	look(0x2000, TRIAD_MISSING_MAX, NOW_US + HOUR_US);
	look(0x201, 1, NOW_US + 2 * HOUR_US);
	ck_assert_uint_eq(seen.n, TRIAD_MISSING_MAX + 1);
	assert_mentions(missing("", NULL, 0), "0x0000000000002000");
}
END_TEST

START_TEST(test_nothing_is_forgotten_when_memory_is_short)
{
	look(0x201, 3, NOW_US);
	fixture_begin();
	fixture_add(0x100, TRIAD_NODE_CA, "host-own", 1);
	fixture_build(0x101);
	for (unsigned n = 1; n <= 2; n++) {
		refuse(n);
		ck_assert_int_eq(
			triad_seen_switches_look(&seen, fabric, NOW_US), ENOMEM);
		ck_assert(refused());
		ck_assert_uint_eq(seen.n, 3);
	}
	triad_fabric_unref(fabric);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("missing");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_switch_of_last_day_is_missing);
	tcase_add_test(cases, test_others_are_counted);
	tcase_add_test(cases, test_sm_and_switch_of_configuration_are_missing);
	tcase_add_test(cases, test_latest_stay_when_too_many_are_missing);
	tcase_add_test(cases, test_nothing_is_forgotten_when_memory_is_short);
	return run_cases(cases);
}
