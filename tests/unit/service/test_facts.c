/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/command/report.h"
#include "service/own_metrics.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/run.h"

struct door {
	uint64_t n_opened, open_us;
	uint32_t n_locked;
	uint16_t n_jammed;
	bool is_open;
	uint64_t last_us;
	int error;
	char keeper[8];
	uint32_t n_jams;
};

#define STATUS struct door
static const struct triad_fact facts[] = {
	{"opened", "times opened", TRIAD_FACT(UINT, n_opened),
		TRIAD_COUNTER("door_opened", "Times that it opened.")},
	{"refused", "refused", TRIAD_FACT(UINT, n_locked),
		TRIAD_FACT_PLUS(TRIAD_FACT_MEMBER(UINT, n_jammed))},
	{"open_ms", "open for", TRIAD_FACT(MS, open_us),
		TRIAD_GAUGE("door_open_seconds", "How long it was open.")},
	{TRIAD_FACT(UINT, is_open), TRIAD_GAUGE("door_is_open", "1 while it is.")},
	{"last", "last opened", TRIAD_FACT(WHEN, last_us),
		TRIAD_GAUGE("door_last_timestamp_seconds", "When it opened last.")},
	{"error", "last error", TRIAD_FACT(ERROR, error)},
	{"keeper", "keeper", TRIAD_FACT(TEXT, keeper)},
	{"jams", "jams", TRIAD_FACT(UINT, n_jams), .is_trouble = true},
	TRIAD_FACTS_END,
};
#undef STATUS

static const struct door door = {.n_opened = 7,
	.open_us = 2500000,
	.n_locked = 2,
	.n_jammed = 3,
	.is_open = true,
	.error = ENOENT,
	.keeper = "anna"};

static char text[1 << 12];
static size_t used;

static bool collect(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	memcpy(text + used, data, size);
	used += size;
	text[used] = 0;
	return true;
}

static const char *report_door(const struct door *status, bool as_json)
{
	struct triad_output output;
	struct triad_report report = {.output = &output, .as_json = as_json};

	used = 0;
	triad_output_init(&output, collect, NULL);
	triad_json_init(&report.json, &output);
	if (as_json)
		triad_json_object_begin(&report.json, NULL);
	triad_report_facts(&report, facts, status);
	if (as_json)
		triad_json_object_end(&report.json);
	triad_output_flush(&output);
	return text;
}

START_TEST(test_report_has_the_facts_with_a_name)
{
	ck_assert_str_eq(report_door(&door, false),
		"  times opened           7\n"
		"  refused                5\n"
		"  open for               2500 ms\n"
		"  last opened            -\n"
		"  last error             No such file or directory\n"
		"  keeper                 anna\n");
	ck_assert_str_eq(report_door(&door, true),
		"{\"opened\":7,\"refused\":5,\"open_ms\":2500,\"last\":null,"
		"\"error\":\"No such file or directory\",\"keeper\":\"anna\",\"jams\":0}");
}
END_TEST

START_TEST(test_people_see_trouble_when_there_is_some)
{
	struct door jammed = door;

	jammed.n_jams = 2;
	ck_assert_ptr_nonnull(
		strstr(report_door(&jammed, false), "\n  jams                   2\n"));
}
END_TEST

START_TEST(test_metrics_are_the_facts_with_one)
{
	struct triad_metric room[8];
	struct triad_own_metrics list = {.room = room, .most = 8};

	triad_own_facts(&list, facts, &door);
	ck_assert_uint_eq(list.n, 3);
	ck_assert_str_eq(room[0].name, "door_opened");
	ck_assert_double_eq(room[0].value, 7);
	ck_assert_double_eq(room[1].value, 2.5);
	ck_assert_double_eq(room[2].value, 1);
}
END_TEST

START_TEST(test_time_is_a_metric_once_it_was)
{
	struct door opened = door;
	struct triad_metric room[8];
	struct triad_own_metrics list = {.room = room, .most = 8};
	double now_s = (double)triad_clock_wall_us() / 1e6;

	opened.last_us = triad_clock_now_us();
	triad_own_facts(&list, facts, &opened);
	ck_assert_uint_eq(list.n, 4);
	ck_assert_double_eq_tol(room[3].value, now_s, 60);
}
END_TEST

START_TEST(test_metrics_without_room_are_counted)
{
	struct triad_metric room[2];
	struct triad_own_metrics list = {.room = room, .most = 2};

	triad_own_facts(&list, facts, &door);
	ck_assert_uint_eq(list.n, 2);
	ck_assert_uint_eq(list.n_dropped, 1);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("facts");

	tcase_add_test(cases, test_report_has_the_facts_with_a_name);
	tcase_add_test(cases, test_people_see_trouble_when_there_is_some);
	tcase_add_test(cases, test_metrics_are_the_facts_with_one);
	tcase_add_test(cases, test_time_is_a_metric_once_it_was);
	tcase_add_test(cases, test_metrics_without_room_are_counted);
	return run_cases(cases);
}
