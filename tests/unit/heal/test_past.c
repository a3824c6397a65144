/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/past.h"

#include "tests/unit/run.h"

#define HOUR (3600 * TRIAD_US_PER_S)

static const struct triad_damp_ends ends = {0x10, 0x20, 5, 1};
static struct triad_history *history;
static uint64_t now_us, number;
static uint32_t n_taken;

static void set_up(void)
{
	history = triad_history_new();
	ck_assert_ptr_nonnull(history);
	now_us = 1000 * HOUR;
	number = 0;
}

static void tear_down(void)
{
	triad_history_free(history);
}

static void note_at(uint64_t node_guid, uint8_t port, unsigned action, unsigned outcome,
	unsigned reason)
{
	struct triad_record record = {.term = 1,
		.number = ++number,
		.at_us = now_us,
		.node_guid = node_guid,
		.port = port,
		.action = (uint8_t)action,
		.outcome = (uint8_t)outcome,
		.reason = (uint8_t)reason};

	ck_assert_int_eq(triad_history_merge(history, &record), 0);
}

static void note(unsigned action, unsigned outcome, unsigned reason)
{
	note_at(ends.guid, ends.number, action, outcome, reason);
}

static enum triad_past past(void)
{
	return triad_past_of(history, &ends, now_us, &n_taken);
}

START_TEST(test_link_without_records_has_no_past)
{
	note_at(ends.guid, 6, TRIAD_ACTION_TAKE, TRIAD_OUTCOME_DONE, TRIAD_REASON_HEAL);
	note(TRIAD_ACTION_DISABLE, TRIAD_OUTCOME_DONE, TRIAD_REASON_MISWIRED);
	ck_assert_int_eq(past(), TRIAD_PAST_NOTHING);
	ck_assert_uint_eq(n_taken, 0);
}
END_TEST

START_TEST(test_link_is_out_from_its_taking_until_it_is_back)
{
	note(TRIAD_ACTION_TAKE, TRIAD_OUTCOME_INTENDED, TRIAD_REASON_HEAL);
	ck_assert_int_eq(past(), TRIAD_PAST_OUT);
	ck_assert_uint_eq(n_taken, 0);
	note(TRIAD_ACTION_TAKE, TRIAD_OUTCOME_DONE, TRIAD_REASON_HEAL);
	/* Its other end. */
	note_at(ends.far_guid, ends.far_number, TRIAD_ACTION_BOUNCE, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_HEAL);
	note(TRIAD_ACTION_RETURN, TRIAD_OUTCOME_INTENDED, TRIAD_REASON_HEAL);
	ck_assert_int_eq(past(), TRIAD_PAST_OUT);
	ck_assert_uint_eq(n_taken, 1);
	note(TRIAD_ACTION_RETURN, TRIAD_OUTCOME_DONE, TRIAD_REASON_HEAL);
	ck_assert_int_eq(past(), TRIAD_PAST_BACK);
	note(TRIAD_ACTION_TAKE, TRIAD_OUTCOME_INTENDED, TRIAD_REASON_HEAL);
	note(TRIAD_ACTION_TAKE, TRIAD_OUTCOME_DROPPED, TRIAD_REASON_HEAL);
	ck_assert_int_eq(past(), TRIAD_PAST_BACK);
	ck_assert_uint_eq(n_taken, 1);
}
END_TEST

START_TEST(test_person_s_release_is_respected_for_a_day_and_takings_count_anew)
{
	note(TRIAD_ACTION_TAKE, TRIAD_OUTCOME_DONE, TRIAD_REASON_HEAL);
	note(TRIAD_ACTION_RELEASE, TRIAD_OUTCOME_DONE, TRIAD_REASON_BY_HAND);
	now_us += 24 * HOUR - 1;
	ck_assert_int_eq(past(), TRIAD_PAST_LEFT_ALONE);
	ck_assert_uint_eq(n_taken, 0);
	now_us += 1;
	ck_assert_int_eq(past(), TRIAD_PAST_NOTHING);
	note(TRIAD_ACTION_TAKE, TRIAD_OUTCOME_DONE, TRIAD_REASON_HEAL);
	ck_assert_int_eq(past(), TRIAD_PAST_OUT);
	ck_assert_uint_eq(n_taken, 1);
}
END_TEST

START_TEST(test_link_that_a_person_holds_is_kept_out)
{
	note(TRIAD_ACTION_TAKE, TRIAD_OUTCOME_DONE, TRIAD_REASON_HEAL);
	note(TRIAD_ACTION_TAKE, TRIAD_OUTCOME_DONE, TRIAD_REASON_BY_HAND);
	ck_assert_int_eq(past(), TRIAD_PAST_KEPT_OUT);
	ck_assert_uint_eq(n_taken, 0);
}
END_TEST

START_TEST(test_takings_of_a_week_ago_are_not_counted)
{
	note(TRIAD_ACTION_TAKE, TRIAD_OUTCOME_DONE, TRIAD_REASON_HEAL);
	now_us += TRIAD_PAST_REMEMBERED_US;
	ck_assert_int_eq(past(), TRIAD_PAST_OUT);
	ck_assert_uint_eq(n_taken, 1);
	now_us += 1;
	ck_assert_int_eq(past(), TRIAD_PAST_OUT);
	ck_assert_uint_eq(n_taken, 0);
}
END_TEST

START_TEST(test_retrainings_count_since_the_link_was_taken)
{
	uint64_t ago_us;

	note(TRIAD_ACTION_TAKE, TRIAD_OUTCOME_DONE, TRIAD_REASON_HEAL);
	note(TRIAD_ACTION_BOUNCE, TRIAD_OUTCOME_DONE, TRIAD_REASON_HEAL);
	note(TRIAD_ACTION_TAKE, TRIAD_OUTCOME_DONE, TRIAD_REASON_HEAL);
	ck_assert_uint_eq(triad_past_retrained(history, &ends, now_us, &ago_us), 0);
	ck_assert_uint_eq(ago_us, 0);
	note(TRIAD_ACTION_BOUNCE, TRIAD_OUTCOME_INTENDED, TRIAD_REASON_HEAL);
	note(TRIAD_ACTION_BOUNCE, TRIAD_OUTCOME_DONE, TRIAD_REASON_HEAL);
	now_us += HOUR;
	note_at(ends.far_guid, ends.far_number, TRIAD_ACTION_BOUNCE, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_HEAL);
	note_at(ends.guid, 6, TRIAD_ACTION_BOUNCE, TRIAD_OUTCOME_DONE,
		TRIAD_REASON_HEAL);
	now_us += HOUR;
	ck_assert_uint_eq(triad_past_retrained(history, &ends, now_us, &ago_us), 2);
	ck_assert_uint_eq(ago_us, HOUR);
	now_us += TRIAD_PAST_REMEMBERED_US;
	ck_assert_uint_eq(triad_past_retrained(history, &ends, now_us, &ago_us), 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("past");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_link_without_records_has_no_past);
	tcase_add_test(cases, test_link_is_out_from_its_taking_until_it_is_back);
	tcase_add_test(cases,
		test_person_s_release_is_respected_for_a_day_and_takings_count_anew);
	tcase_add_test(cases, test_link_that_a_person_holds_is_kept_out);
	tcase_add_test(cases, test_takings_of_a_week_ago_are_not_counted);
	tcase_add_test(cases, test_retrainings_count_since_the_link_was_taken);
	return run_cases(cases);
}
