/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/seen_sms.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/run.h"

#define HOUR_US ((int64_t)3600 * (int64_t)TRIAD_US_PER_S)
#define NOW_US (UINT64_C(100) * TRIAD_US_PER_S) /* shortly after the host's start */
#define WALL_US (UINT64_C(1800000000) * TRIAD_US_PER_S)

static struct triad_seen_sms sms, again;

static void add(uint64_t guid, int64_t age_us)
{
	triad_seen_sms_add(&sms, guid, (int64_t)NOW_US - age_us, NOW_US);
}

static int write_and_read(uint64_t now_us, uint64_t wall_us)
{
	char text[TRIAD_SEEN_SMS_SIZE];
	size_t size = triad_seen_sms_format(&sms, NOW_US, WALL_US, text);

	ck_assert_uint_eq(size, strlen(text));
	return triad_seen_sms_parse(text, size, now_us, wall_us, &again);
}

START_TEST(test_sm_is_known_for_a_day)
{
	sms.n = 0;
	add(0, 0);
	add(5, 24 * HOUR_US);
	ck_assert_uint_eq(sms.n, 0);
	add(5, 24 * HOUR_US - 1);
	add(6, 0);
	ck_assert_uint_eq(sms.n, 2);
	ck_assert(triad_seen_sms_has(&sms, 5) && triad_seen_sms_has(&sms, 6));
	ck_assert(!triad_seen_sms_has(&sms, 7));
	/* The later time counts. */
	add(5, HOUR_US);
	add(5, 2 * HOUR_US);
	ck_assert_uint_eq(sms.n, 2);
	ck_assert_int_eq(sms.at_us[0], (int64_t)NOW_US - HOUR_US);
}
END_TEST

START_TEST(test_sms_too_many_the_first_ones_stay)
{
	sms.n = 0;
	for (uint64_t guid = 1; guid <= TRIAD_SEEN_SMS_MAX + 2; guid++)
		add(guid, 0);
	ck_assert_uint_eq(sms.n, TRIAD_SEEN_SMS_MAX);
	ck_assert(!triad_seen_sms_has(&sms, TRIAD_SEEN_SMS_MAX + 1));
	add(TRIAD_SEEN_SMS_MAX, -1);
	ck_assert_int_eq(sms.at_us[TRIAD_SEEN_SMS_MAX - 1], (int64_t)NOW_US + 1);
	ck_assert_int_eq(write_and_read(NOW_US, WALL_US), 0);
	ck_assert_uint_eq(again.n, TRIAD_SEEN_SMS_MAX);
}
END_TEST

/* Two hours later, and the host was started anew: its clock begins at 0. */
START_TEST(test_sms_read_after_a_restart_are_as_old_as_they_are)
{
	sms.n = 0;
	add(5, HOUR_US);
	add(UINT64_MAX, 23 * HOUR_US);
	ck_assert_int_eq(write_and_read(7, WALL_US + 2 * (uint64_t)HOUR_US), 0);
	ck_assert_uint_eq(again.n, 1);
	ck_assert_uint_eq(again.guids[0], 5);
	ck_assert_int_eq(again.at_us[0], 7 - 3 * HOUR_US);
}
END_TEST

START_TEST(test_sms_of_a_time_to_come_are_known_for_a_day_from_now)
{
	sms.n = 0;
	add(5, HOUR_US);
	ck_assert_int_eq(write_and_read(NOW_US, WALL_US - 48 * (uint64_t)HOUR_US), 0);
	ck_assert_uint_eq(again.n, 1);
	ck_assert_int_eq(again.at_us[0], NOW_US);
	/* A clock that was not set. */
	ck_assert_int_eq(write_and_read(NOW_US, 0), 0);
	ck_assert_int_eq(again.at_us[0], NOW_US);
}
END_TEST

START_TEST(test_sms_are_written_when_others_are_known_and_once_an_hour)
{
	struct triad_seen_sms written = {.n = 0};

	sms.n = 0;
	ck_assert(!triad_seen_sms_must_write(&sms, &written));
	add(5, HOUR_US);
	ck_assert(triad_seen_sms_must_write(&sms, &written));
	written = sms;
	add(5, 1);
	ck_assert(!triad_seen_sms_must_write(&sms, &written));
	add(5, 0);
	ck_assert(triad_seen_sms_must_write(&sms, &written));
	written = sms;
	sms.guids[0] = 6;
	ck_assert(triad_seen_sms_must_write(&sms, &written));
	sms.n = 0;
	ck_assert(triad_seen_sms_must_write(&sms, &written));
}
END_TEST

/* A later release reads what this one wrote. */
START_TEST(test_text_is_known)
{
	const char *text = "# Triad's SMs, version 1; written by itself\n"
			   "0x0200000100000051 2027-01-15T08:00:00.000000Z 4cf8d77e\n";
	char written[TRIAD_SEEN_SMS_SIZE];

	sms.n = 0;
	add(UINT64_C(0x0200000100000051), 0);
	triad_seen_sms_format(&sms, NOW_US, WALL_US, written);
	ck_assert_str_eq(written, text);
	ck_assert_int_eq(write_and_read(NOW_US, WALL_US), 0);
	ck_assert_mem_eq(&again.guids[0], &sms.guids[0], sizeof(*sms.guids));
}
END_TEST

START_TEST(test_line_that_is_no_sms_is_left_out)
{
	char text[2 * TRIAD_SEEN_SMS_SIZE];
	char *line;
	size_t size;

	sms.n = 0;
	add(5, 0);
	add(6, 0);
	size = triad_seen_sms_format(&sms, NOW_US, WALL_US, text);
	line = strstr(text, "0x");
	line[10]++;
	ck_assert_int_eq(
		triad_seen_sms_parse(text, size, NOW_US, WALL_US, &again), EINVAL);
	ck_assert_uint_eq(again.n, 1);
	ck_assert_uint_eq(again.guids[0], 6);
	/* Cut off. */
	ck_assert_int_eq(
		triad_seen_sms_parse(text, size - 3, NOW_US, WALL_US, &again), EINVAL);
	ck_assert_uint_eq(again.n, 0);
	/* Empty, too long, of a later Triad. */
	ck_assert_int_eq(triad_seen_sms_parse(text, 0, NOW_US, WALL_US, &again), 0);
	memset(text + size, 'x', sizeof(text) - size);
	ck_assert_int_eq(
		triad_seen_sms_parse(text, sizeof(text), NOW_US, WALL_US, &again),
		EINVAL);
	ck_assert_uint_eq(again.n, 1);
	*(strstr(text, "version 1") + strlen("version ")) = '2';
	ck_assert_int_eq(triad_seen_sms_parse(text, size, NOW_US, WALL_US, &again),
		EPROTONOSUPPORT);
	ck_assert_uint_eq(again.n, 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("seen SMs");

	tcase_add_test(cases, test_sm_is_known_for_a_day);
	tcase_add_test(cases, test_sms_too_many_the_first_ones_stay);
	tcase_add_test(cases, test_sms_read_after_a_restart_are_as_old_as_they_are);
	tcase_add_test(cases, test_sms_of_a_time_to_come_are_known_for_a_day_from_now);
	tcase_add_test(
		cases, test_sms_are_written_when_others_are_known_and_once_an_hour);
	tcase_add_test(cases, test_text_is_known);
	tcase_add_test(cases, test_line_that_is_no_sms_is_left_out);
	return run_cases(cases);
}
