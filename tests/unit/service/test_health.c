/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/health.h"

#include <stdio.h>

#include "tests/unit/run.h"
#include "triad/clock.h"

static struct triad_health health;

static void set_up(void)
{
	health = (struct triad_health){.verdict = TRIAD_OK};
}

static void add(enum triad_severity severity, uint32_t weight, const char *at)
{
	struct triad_health_finding finding = {.severity = severity, .weight = weight};

	snprintf(finding.at, sizeof(finding.at), "%s", at);
	triad_health_add(&health, &finding);
}

static void add_over(uint32_t weight, const char *at)
{
	struct triad_health_finding finding = {
		.severity = TRIAD_WARNING, .weight = weight, .is_over = true};

	snprintf(finding.at, sizeof(finding.at), "%s", at);
	triad_health_add(&health, &finding);
}

static bool would_keep(enum triad_severity severity, uint32_t weight)
{
	struct triad_health_finding finding = {.severity = severity, .weight = weight};

	return triad_health_would_keep(&health, &finding);
}

START_TEST(test_health_without_findings_is_ok)
{
	triad_health_line(&health, "sweep", "Sweep", TRIAD_OK, "%d s ago", 3);
	ck_assert_int_eq(health.verdict, TRIAD_OK);
	ck_assert_uint_eq(health.n_findings, 0);
	ck_assert_str_eq(health.lines[0].text, "3 s ago");
}
END_TEST

/* An unknown state is worse than a warning, and a critical one is worse than both. */
START_TEST(test_health_verdict_is_the_worst)
{
	add(TRIAD_WARNING, 0, "a");
	ck_assert_int_eq(health.verdict, TRIAD_WARNING);
	add(TRIAD_UNKNOWN, 0, "b");
	ck_assert_int_eq(health.verdict, TRIAD_UNKNOWN);
	add(TRIAD_CRITICAL, 0, "c");
	ck_assert_int_eq(health.verdict, TRIAD_CRITICAL);
	add(TRIAD_UNKNOWN, 0, "d");
	ck_assert_int_eq(health.verdict, TRIAD_CRITICAL);
	ck_assert_str_eq(health.findings[0].at, "c");
	ck_assert_str_eq(health.findings[3].at, "a");
}
END_TEST

/* However many nodes it concerned. */
START_TEST(test_health_what_is_over_comes_after_what_is_wrong)
{
	add_over(100, "over");
	add(TRIAD_WARNING, 1, "a");
	ck_assert_str_eq(health.findings[0].at, "a");
	for (uint32_t i = 0; i < TRIAD_HEALTH_MAX_FINDINGS; i++)
		add(TRIAD_WARNING, 0, "b");
	ck_assert_str_eq(health.findings[TRIAD_HEALTH_MAX_FINDINGS - 1].at, "b");
	add_over(100, "over");
	ck_assert_str_eq(health.findings[TRIAD_HEALTH_MAX_FINDINGS - 1].at, "b");
	ck_assert_uint_eq(health.n_of[TRIAD_WARNING], TRIAD_HEALTH_MAX_FINDINGS + 3);
}
END_TEST

/* What no command lists is kept, but not when it would push out what is wrong. */
START_TEST(test_health_of_many_what_is_over_goes_first)
{
	for (uint32_t i = 0; i < TRIAD_HEALTH_MAX_FINDINGS; i++)
		add_over(1, "over");
	triad_health_add_trouble(&health, TRIAD_WARNING, "sweep", "late", "");
	add(TRIAD_WARNING, 1, "alert");
	ck_assert_str_eq(health.findings[0].at, "alert");
	ck_assert_str_eq(health.findings[1].at, "sweep");
	ck_assert_str_eq(health.findings[2].at, "over");
}
END_TEST

START_TEST(test_health_of_many_the_worst_are_kept_and_all_are_counted)
{
	char at[16];

	for (uint32_t i = 1; i <= 30; i++) {
		snprintf(at, sizeof(at), "%u", i);
		add(i % 10 ? TRIAD_WARNING : TRIAD_CRITICAL, i, at);
	}
	ck_assert_uint_eq(health.n_findings, TRIAD_HEALTH_MAX_FINDINGS);
	ck_assert_uint_eq(health.n_of[TRIAD_CRITICAL], 3);
	ck_assert_uint_eq(health.n_of[TRIAD_WARNING], 27);
	ck_assert_str_eq(health.findings[0].at, "30");
	ck_assert_str_eq(health.findings[2].at, "10");
	ck_assert_str_eq(health.findings[3].at, "29");
	ck_assert_str_eq(health.findings[9].at, "23");
	ck_assert(!would_keep(TRIAD_WARNING, 22));
	ck_assert(would_keep(TRIAD_WARNING, 24));
	ck_assert(would_keep(TRIAD_CRITICAL, 1));
}
END_TEST

/* 'alerts' lists alerts; what parts say is nowhere else. */
START_TEST(test_health_of_many_what_no_command_lists_is_kept)
{
	triad_health_add_trouble(&health, TRIAD_WARNING, "sweep", "late", "");
	for (uint32_t i = 1; i <= 30; i++)
		add(TRIAD_WARNING, i, "alert");
	triad_health_add_trouble(&health, TRIAD_WARNING, "web", "off", "");
	ck_assert_uint_eq(health.n_findings, TRIAD_HEALTH_MAX_FINDINGS);
	ck_assert_str_eq(health.findings[7].at, "alert");
	ck_assert_str_eq(health.findings[8].at, "sweep");
	ck_assert_str_eq(health.findings[9].at, "web");
	/* Not before what is worse. */
	for (uint32_t i = 1; i <= 10; i++)
		add(TRIAD_CRITICAL, i, "alert");
	ck_assert_str_eq(health.findings[9].at, "alert");
	ck_assert_uint_eq(health.n_of[TRIAD_WARNING], 32);
}
END_TEST

START_TEST(test_health_lines_beyond_the_most_do_no_harm)
{
	for (unsigned i = 0; i < TRIAD_HEALTH_MAX_LINES + 5; i++)
		triad_health_line_off(&health, "x", "X", "off");
	ck_assert_uint_eq(health.n_lines, TRIAD_HEALTH_MAX_LINES);
	ck_assert(health.lines[0].is_off);
}
END_TEST

START_TEST(test_clock_length_in_its_two_largest_units)
{
	static const struct {
		uint64_t s;
		const char *text;
	} cases[] = {{0, "0 s"}, {59, "59 s"}, {60, "1 min"}, {185, "3 min 5 s"},
		{3600, "1 h"}, {3605, "1 h"}, {7380, "2 h 3 min"}, {86400, "1 d"},
		{190000, "2 d 4 h"}};
	char text[TRIAD_CLOCK_TEXT_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		triad_clock_format_length(cases[i].s * TRIAD_US_PER_S, text);
		ck_assert_str_eq(text, cases[i].text);
	}
	triad_clock_format_length(UINT64_MAX, text);
	ck_assert_str_eq(text, "213503982 d 8 h");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("health");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_health_without_findings_is_ok);
	tcase_add_test(cases, test_health_verdict_is_the_worst);
	tcase_add_test(cases, test_health_what_is_over_comes_after_what_is_wrong);
	tcase_add_test(cases, test_health_of_many_what_is_over_goes_first);
	tcase_add_test(
		cases, test_health_of_many_the_worst_are_kept_and_all_are_counted);
	tcase_add_test(cases, test_health_of_many_what_no_command_lists_is_kept);
	tcase_add_test(cases, test_health_lines_beyond_the_most_do_no_harm);
	tcase_add_test(cases, test_clock_length_in_its_two_largest_units);
	return run_cases(cases);
}
