/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/course.h"

#include <stdlib.h>

#include "tests/unit/run.h"
#include "triad/clock.h"

#define MINUTE (60 * TRIAD_US_PER_S)
#define DAY (24 * 60 * MINUTE)

static const struct triad_course_conf conf = {
	.out_us = 10 * MINUTE, .probation_us = 60 * MINUTE, .max_taken = 3};
static struct triad_course course;
static struct triad_course_facts facts;
static uint64_t now_us, until_us;

static void set_up(void)
{
	now_us = 1000 * MINUTE;
	facts = (struct triad_course_facts){.is_held = true,
		.is_up = true,
		.may_take = true,
		.may_test_again = true};
	triad_course_begin(&course, &conf, 1, now_us);
}

static enum triad_course_act step(void)
{
	return triad_course_step(&course, &facts, now_us, &until_us);
}

static void did(enum triad_course_act act, bool worked)
{
	triad_course_did(&course, act, worked, now_us);
}

/* From where it is moving to where its test has the verdict. */
static void bring_to_test(enum triad_course_verdict verdict)
{
	facts.is_out = true;
	facts.test = TRIAD_COURSE_NO_VERDICT;
	ck_assert_int_eq(step(), TRIAD_COURSE_BOUNCE);
	did(TRIAD_COURSE_BOUNCE, true);
	ck_assert_int_eq(step(), TRIAD_COURSE_TEST);
	facts.test = verdict;
}

static void bring_back(void)
{
	bring_to_test(TRIAD_COURSE_GOOD);
	step();
	ck_assert_int_eq(course.state, TRIAD_COURSE_RESTING);
	now_us = until_us;
	ck_assert_int_eq(step(), TRIAD_COURSE_RETURN);
	did(TRIAD_COURSE_RETURN, true);
	ck_assert_int_eq(course.state, TRIAD_COURSE_PROBATION);
	facts.is_held = facts.is_out = false;
	facts.back = TRIAD_COURSE_GOOD;
}

START_TEST(test_link_is_not_taken_down_while_tables_may_have_it)
{
	now_us += 60 * MINUTE;
	ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
	ck_assert_int_eq(course.state, TRIAD_COURSE_MOVING);
	facts.is_out = true;
	ck_assert_int_eq(step(), TRIAD_COURSE_BOUNCE);
}
END_TEST

START_TEST(test_good_link_returns_when_its_time_is_over_and_is_forgotten)
{
	uint64_t taken_us = now_us;

	bring_back();
	ck_assert_uint_eq(now_us, taken_us + 10 * MINUTE);
	now_us += 59 * MINUTE;
	ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
	ck_assert_int_eq(course.state, TRIAD_COURSE_PROBATION);
	now_us = until_us;
	ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
	ck_assert_int_eq(course.state, TRIAD_COURSE_ENDED);
}
END_TEST

START_TEST(test_what_is_not_known_of_a_link_is_no_probation)
{
	bring_back();
	facts.back = TRIAD_COURSE_NO_VERDICT;
	now_us += 600 * MINUTE;
	step();
	ck_assert_int_eq(course.state, TRIAD_COURSE_PROBATION);
	facts.back = TRIAD_COURSE_GOOD;
	now_us += 59 * MINUTE;
	step();
	ck_assert_int_eq(course.state, TRIAD_COURSE_PROBATION);
	now_us += MINUTE;
	step();
	ck_assert_int_eq(course.state, TRIAD_COURSE_ENDED);
}
END_TEST

START_TEST(test_link_that_is_bad_again_is_out_for_longer_and_then_for_good)
{
	bring_back();
	facts.back = TRIAD_COURSE_BAD;
	ck_assert_int_eq(step(), TRIAD_COURSE_TAKE);
	did(TRIAD_COURSE_TAKE, true);
	facts.is_held = true;
	uint64_t taken_us = now_us;
	ck_assert_int_eq(course.state, TRIAD_COURSE_MOVING);
	bring_back();
	ck_assert_uint_eq(now_us, taken_us + 20 * MINUTE);
	facts.back = TRIAD_COURSE_BAD;
	ck_assert_int_eq(step(), TRIAD_COURSE_TAKE);
	did(TRIAD_COURSE_TAKE, true);
	facts.is_held = facts.is_out = true;
	now_us += 100000 * MINUTE;
	ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
	ck_assert_int_eq(course.state, TRIAD_COURSE_STAYS_OUT);
	ck_assert(course.why);
}
END_TEST

START_TEST(test_link_that_may_not_be_taken_again_waits_until_it_may)
{
	bring_back();
	facts.back = TRIAD_COURSE_BAD;
	facts.may_take = false;
	now_us += 600 * MINUTE;
	ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
	ck_assert(course.is_bad_again);
	ck_assert_int_eq(course.state, TRIAD_COURSE_PROBATION);
	facts.may_take = true;
	ck_assert_int_eq(step(), TRIAD_COURSE_TAKE);
}
END_TEST

START_TEST(test_bad_tests_end_in_staying_out)
{
	for (unsigned i = 0; i < TRIAD_COURSE_MAX_RETRAINS; i++) {
		bring_to_test(TRIAD_COURSE_BAD);
		step();
	}
	ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
	ck_assert_int_eq(course.state, TRIAD_COURSE_STAYS_OUT);
	/* Somebody mended it, and let it go. */
	facts.is_held = false;
	step();
	ck_assert_int_eq(course.state, TRIAD_COURSE_ENDED);
}
END_TEST

START_TEST(test_link_that_is_better_than_none_returns_anyway)
{
	course.conf.returns_anyway = true;
	for (unsigned i = 0; i < TRIAD_COURSE_MAX_RETRAINS; i++) {
		bring_to_test(TRIAD_COURSE_BAD);
		if (i + 1 < TRIAD_COURSE_MAX_RETRAINS)
			ck_assert_int_eq(step(), TRIAD_COURSE_BOUNCE);
	}
	/* One that is down is not. */
	facts.is_up = false;
	ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
	ck_assert_int_eq(course.state, TRIAD_COURSE_STAYS_OUT);
	facts.is_up = true;
	ck_assert_int_eq(step(), TRIAD_COURSE_RETURN);
	did(TRIAD_COURSE_RETURN, true);
	ck_assert_int_eq(course.state, TRIAD_COURSE_ENDED);
	ck_assert(!course.is_let_go);
	ck_assert(course.why);
}
END_TEST

static void bring_to_stay_out(void)
{
	for (unsigned i = 0; i < TRIAD_COURSE_MAX_RETRAINS; i++) {
		bring_to_test(TRIAD_COURSE_BAD);
		step();
	}
	ck_assert_int_eq(course.state, TRIAD_COURSE_STAYS_OUT);
}

static enum triad_course_act go_down_for(uint64_t us)
{
	facts.is_up = false;
	ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
	now_us += us;
	ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
	facts.is_up = true;
	return step();
}

/* Lives until 'end_us'.  Returns how often it was bounced, each time with this verdict. */
static unsigned count_bounces(uint64_t end_us, enum triad_course_verdict verdict)
{
	unsigned n = 0;

	for (;;) {
		enum triad_course_act act = step();

		if (act == TRIAD_COURSE_BOUNCE) {
			did(act, true);
			facts.test = verdict;
			n++;
		} else if (act == TRIAD_COURSE_WAIT &&
			course.state == TRIAD_COURSE_STAYS_OUT) {
			if (until_us >= end_us)
				break;
			now_us = until_us;
		} else if (act == TRIAD_COURSE_RETURN ||
			course.state == TRIAD_COURSE_RESTING) {
			break;
		}
	}
	return n;
}

START_TEST(test_link_whose_tests_were_bad_is_tested_again_ever_more_rarely)
{
	static const uint64_t waits_us[] = {10 * MINUTE, 20 * MINUTE, 40 * MINUTE};

	bring_to_stay_out();
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
		ck_assert_uint_eq(until_us, now_us + waits_us[i]);
		ck_assert_uint_eq(triad_course_until_us(&course), until_us);
		now_us = until_us - 1;
		ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
		now_us++;
		bring_to_test(TRIAD_COURSE_BAD);
		step();
		ck_assert_int_eq(course.state, TRIAD_COURSE_STAYS_OUT);
		ck_assert(course.why);
	}
}
END_TEST

/* What course.h promises, for the shortest time out, the default, and the longest. */
/* Retrainings of the time before do not count. */
START_TEST(test_link_that_is_taken_again_is_retrained_as_often_as_at_first)
{
	bring_back();
	facts.back = TRIAD_COURSE_BAD;
	ck_assert_int_eq(step(), TRIAD_COURSE_TAKE);
	did(TRIAD_COURSE_TAKE, true);
	facts.is_held = true;
	for (unsigned i = 0; i < TRIAD_COURSE_MAX_RETRAINS; i++) {
		ck_assert_int_ne(course.state, TRIAD_COURSE_STAYS_OUT);
		bring_to_test(TRIAD_COURSE_BAD);
		step();
	}
	ck_assert_int_eq(course.state, TRIAD_COURSE_STAYS_OUT);
}
END_TEST

START_TEST(test_link_that_stays_out_is_not_bounced_often)
{
	static const struct {
		uint64_t out_us;
		unsigned first_day, month; /* 30 days */
	} most[] = {{0, 17, 17 + 29}, {10 * MINUTE, 10, 10 + 29}, {7 * DAY, 3, 3 + 4}};
	struct triad_course_conf this_one = conf;
	uint64_t begun_us = now_us;

	this_one.out_us = most[_i].out_us;
	triad_course_begin(&course, &this_one, 1, now_us);
	facts.is_out = true;
	ck_assert_uint_eq(
		count_bounces(begun_us + DAY, TRIAD_COURSE_BAD), most[_i].first_day);
	ck_assert_uint_le(most[_i].first_day +
			count_bounces(begun_us + 30 * DAY, TRIAD_COURSE_BAD),
		most[_i].month);
	/* Nor more rarely than once a day, or when it would return anyway. */
	ck_assert_uint_ge(
		count_bounces(begun_us + 60 * DAY, TRIAD_COURSE_BAD), _i < 2 ? 29 : 4);
}
END_TEST

START_TEST(test_link_that_is_tested_again_and_good_rests_and_returns)
{
	bring_to_stay_out();
	step();
	now_us = until_us;
	facts.is_out = true;
	ck_assert_uint_eq(count_bounces(UINT64_MAX, TRIAD_COURSE_GOOD), 1);
	ck_assert_int_eq(course.state, TRIAD_COURSE_RESTING);
	ck_assert(!course.why);
	ck_assert_uint_eq(until_us, now_us + 10 * MINUTE);
	now_us = until_us;
	ck_assert_int_eq(step(), TRIAD_COURSE_RETURN);
	did(TRIAD_COURSE_RETURN, true);
	ck_assert_int_eq(course.state, TRIAD_COURSE_PROBATION);
}
END_TEST

START_TEST(test_link_is_not_tested_again_while_others_are_or_tables_have_it)
{
	bring_to_stay_out();
	step();
	now_us = until_us + MINUTE;
	facts.may_test_again = facts.is_out = false;
	ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
	ck_assert_int_eq(course.state, TRIAD_COURSE_STAYS_OUT);
	facts.may_test_again = true;
	ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
	ck_assert_int_eq(course.state, TRIAD_COURSE_MOVING);
	facts.is_out = true;
	ck_assert_int_eq(step(), TRIAD_COURSE_BOUNCE);
}
END_TEST

START_TEST(test_link_that_was_bad_again_too_often_is_not_tested_again)
{
	triad_course_begin(&course, &conf, conf.max_taken, now_us);
	facts.is_out = true;
	ck_assert_uint_eq(count_bounces(now_us + 1000 * DAY, TRIAD_COURSE_GOOD), 0);
	ck_assert_uint_eq(triad_course_until_us(&course), 0);
}
END_TEST

START_TEST(test_link_that_was_mended_waits_as_at_first)
{
	bring_to_stay_out();
	ck_assert_uint_ge(count_bounces(now_us + DAY, TRIAD_COURSE_BAD), 5);
	ck_assert_int_eq(go_down_for(MINUTE), TRIAD_COURSE_BOUNCE);
	did(TRIAD_COURSE_BOUNCE, true);
	ck_assert_uint_eq(count_bounces(now_us + MINUTE, TRIAD_COURSE_BAD),
		TRIAD_COURSE_MAX_RETRAINS - 1);
	ck_assert_uint_eq(until_us, now_us + 10 * MINUTE);
}
END_TEST

/* That a test brings a link up that was down is no work of anybody. */
START_TEST(test_link_that_its_test_brought_up_was_not_mended)
{
	bring_to_stay_out();
	facts.is_up = false;
	facts.is_out = true;
	step();
	now_us = until_us;
	ck_assert_int_eq(step(), TRIAD_COURSE_BOUNCE);
	did(TRIAD_COURSE_BOUNCE, true);
	facts.is_up = true;
	facts.test = TRIAD_COURSE_BAD;
	ck_assert_uint_eq(count_bounces(now_us + MINUTE, TRIAD_COURSE_BAD), 0);
	ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
	ck_assert_int_eq(course.state, TRIAD_COURSE_STAYS_OUT);
	ck_assert_uint_eq(until_us, now_us + 20 * MINUTE);
}
END_TEST

static void begin_held(uint32_t n_taken, uint32_t n_retrained, uint64_t ago_us)
{
	triad_course_begin_held(&course, &conf, n_taken, n_retrained, ago_us, now_us);
	facts.is_out = true;
}

START_TEST(test_link_of_another_sm_that_stayed_out_waits_on)
{
	begin_held(1, TRIAD_COURSE_MAX_RETRAINS + 1, 5 * MINUTE);
	ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
	ck_assert_int_eq(course.state, TRIAD_COURSE_STAYS_OUT);
	ck_assert(course.why);
	ck_assert_uint_eq(until_us, now_us + 15 * MINUTE);
	now_us = until_us;
	ck_assert_uint_eq(count_bounces(now_us + MINUTE, TRIAD_COURSE_BAD), 1);
	ck_assert_uint_eq(until_us, now_us + 40 * MINUTE);
	/* Its time was over while there was no SM: not all of these at once. */
	begin_held(1, TRIAD_COURSE_MAX_RETRAINS, DAY);
	facts.may_test_again = false;
	ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
	facts.may_test_again = true;
	ck_assert_int_eq(step(), TRIAD_COURSE_BOUNCE);
}
END_TEST

START_TEST(test_link_of_another_sm_is_bounced_as_often_as_by_one)
{
	for (uint32_t n = 0; n < TRIAD_COURSE_MAX_RETRAINS; n++) {
		begin_held(1, n, MINUTE);
		ck_assert_int_eq(course.state, TRIAD_COURSE_MOVING);
		ck_assert_uint_eq(count_bounces(now_us + MINUTE, TRIAD_COURSE_BAD),
			TRIAD_COURSE_MAX_RETRAINS - n);
	}
	begin_held(conf.max_taken, TRIAD_COURSE_MAX_RETRAINS, MINUTE);
	ck_assert_uint_eq(count_bounces(now_us + 30 * DAY, TRIAD_COURSE_BAD), 0);
}
END_TEST

START_TEST(test_link_that_stays_out_and_was_mended_is_tested_again)
{
	bring_to_stay_out();
	facts.may_test_again = false;
	now_us += 5000 * MINUTE;
	ck_assert_int_eq(go_down_for(MINUTE), TRIAD_COURSE_BOUNCE);
	ck_assert(!course.why);
	did(TRIAD_COURSE_BOUNCE, true);
	facts.test = TRIAD_COURSE_GOOD;
	ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
	ck_assert_int_eq(course.state, TRIAD_COURSE_RESTING);
	/* Up without a break for as long as one that was taken. */
	ck_assert_uint_eq(until_us, now_us + 10 * MINUTE);
	now_us = until_us;
	ck_assert_int_eq(step(), TRIAD_COURSE_RETURN);
}
END_TEST

START_TEST(test_link_that_only_retrained_or_was_mended_badly_stays_out)
{
	bring_to_stay_out();
	facts.may_test_again = false;
	ck_assert_int_eq(go_down_for(MINUTE / 4), TRIAD_COURSE_WAIT);
	now_us += 5000 * MINUTE;
	ck_assert_int_eq(go_down_for(MINUTE / 4), TRIAD_COURSE_WAIT);
	ck_assert_int_eq(course.state, TRIAD_COURSE_STAYS_OUT);
	ck_assert_int_eq(go_down_for(MINUTE), TRIAD_COURSE_BOUNCE);
	bring_to_stay_out();
}
END_TEST

START_TEST(test_link_that_was_taken_too_often_has_one_more_chance_when_mended)
{
	triad_course_begin(&course, &conf, conf.max_taken, now_us);
	step();
	ck_assert_int_eq(course.state, TRIAD_COURSE_STAYS_OUT);
	facts.is_out = true;
	ck_assert_int_eq(go_down_for(MINUTE), TRIAD_COURSE_BOUNCE);
	bring_back();
	facts.back = TRIAD_COURSE_BAD;
	ck_assert_int_eq(step(), TRIAD_COURSE_TAKE);
	did(TRIAD_COURSE_TAKE, true);
	ck_assert_int_eq(course.state, TRIAD_COURSE_STAYS_OUT);
}
END_TEST

START_TEST(test_link_that_goes_down_after_its_test_is_retrained)
{
	bring_to_test(TRIAD_COURSE_GOOD);
	step();
	ck_assert_int_eq(course.state, TRIAD_COURSE_RESTING);
	facts.is_up = false;
	ck_assert_int_eq(step(), TRIAD_COURSE_BOUNCE);
}
END_TEST

START_TEST(test_switch_that_refuses_is_asked_some_times)
{
	unsigned n = 0;

	facts.is_out = true;
	for (; n < 100 && course.state != TRIAD_COURSE_STAYS_OUT; n++) {
		ck_assert_int_eq(step(), TRIAD_COURSE_BOUNCE);
		did(TRIAD_COURSE_BOUNCE, false);
		ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
		if (course.state != TRIAD_COURSE_STAYS_OUT)
			now_us = until_us;
	}
	ck_assert_uint_lt(n, 10);
	/* Later once each time, ever more rarely, until it can be. */
	for (unsigned i = 1; i < 4; i++) {
		ck_assert_uint_eq(until_us, now_us + (5 * MINUTE << i));
		now_us = until_us;
		ck_assert_int_eq(step(), TRIAD_COURSE_BOUNCE);
		did(TRIAD_COURSE_BOUNCE, false);
		ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
		ck_assert_int_eq(course.state, TRIAD_COURSE_STAYS_OUT);
	}
	ck_assert_uint_eq(count_bounces(UINT64_MAX, TRIAD_COURSE_GOOD), 1);
	ck_assert_int_eq(course.state, TRIAD_COURSE_RESTING);
}
END_TEST

START_TEST(test_return_that_could_not_be_recorded_is_tried_again)
{
	bring_to_test(TRIAD_COURSE_GOOD);
	step();
	now_us = until_us;
	for (unsigned i = 0; i < 20; i++) {
		ck_assert_int_eq(step(), TRIAD_COURSE_RETURN);
		did(TRIAD_COURSE_RETURN, false);
		ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
		ck_assert_int_eq(course.state, TRIAD_COURSE_RESTING);
		now_us = until_us;
	}
}
END_TEST

START_TEST(test_link_that_others_let_go_is_left_alone)
{
	static const enum triad_course_state last = TRIAD_COURSE_RESTING;

	for (int state = TRIAD_COURSE_MOVING; state <= (int)last; state++) {
		set_up();
		if (state > TRIAD_COURSE_MOVING)
			facts.is_out = true;
		if (state > TRIAD_COURSE_RETRAINING)
			bring_to_test(state > TRIAD_COURSE_TESTING
					? TRIAD_COURSE_GOOD
					: TRIAD_COURSE_NO_VERDICT);
		step();
		ck_assert_int_eq(course.state, state);
		facts.is_held = false;
		ck_assert_int_eq(step(), TRIAD_COURSE_WAIT);
		ck_assert_int_eq(course.state, TRIAD_COURSE_ENDED);
		ck_assert(course.is_let_go);
	}
}
END_TEST

/* Whatever happens: nothing is done to a link that is not held, and a link whose test was not
 * good does not return. */
START_TEST(test_any_order_of_facts_keeps_the_rules)
{
	srand((unsigned)_i);
	set_up();
	for (unsigned i = 0; i < 3000; i++) {
		enum triad_course_act act;
		uint8_t before = course.state;
		uint32_t n_taken = course.n_taken;

		facts.is_out = rand() % 2;
		facts.is_up = rand() % 8;
		facts.test = (enum triad_course_verdict)(rand() % 3);
		facts.back = (enum triad_course_verdict)(rand() % 3);
		facts.may_take = rand() % 2;
		facts.may_test_again = rand() % 2;
		facts.is_held = course.state != TRIAD_COURSE_PROBATION && rand() % 64;
		act = step();
		if (act == TRIAD_COURSE_BOUNCE || act == TRIAD_COURSE_TEST)
			ck_assert(facts.is_held);
		if (act == TRIAD_COURSE_RETURN)
			ck_assert(facts.is_held && facts.is_up &&
				(before == TRIAD_COURSE_RESTING ||
					(before == TRIAD_COURSE_TESTING &&
						facts.test == TRIAD_COURSE_GOOD)));
		if (act == TRIAD_COURSE_TAKE)
			ck_assert(facts.may_take && facts.back == TRIAD_COURSE_BAD);
		if (act != TRIAD_COURSE_WAIT && act != TRIAD_COURSE_TEST)
			did(act, rand() % 4);
		ck_assert_uint_le(course.n_taken, conf.max_taken);
		if (before != TRIAD_COURSE_STAYS_OUT) /* nor was mended */
			ck_assert_uint_ge(course.n_taken, n_taken);
		now_us += (uint64_t)(rand() % 30) * MINUTE;
		if (course.state == TRIAD_COURSE_ENDED)
			triad_course_begin(&course, &conf, 1, now_us);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("course");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_link_is_not_taken_down_while_tables_may_have_it);
	tcase_add_test(
		cases, test_good_link_returns_when_its_time_is_over_and_is_forgotten);
	tcase_add_test(cases, test_what_is_not_known_of_a_link_is_no_probation);
	tcase_add_test(
		cases, test_link_that_is_bad_again_is_out_for_longer_and_then_for_good);
	tcase_add_test(cases, test_link_that_may_not_be_taken_again_waits_until_it_may);
	tcase_add_test(cases, test_bad_tests_end_in_staying_out);
	tcase_add_test(
		cases, test_link_whose_tests_were_bad_is_tested_again_ever_more_rarely);
	tcase_add_test(
		cases, test_link_that_is_taken_again_is_retrained_as_often_as_at_first);
	tcase_add_loop_test(cases, test_link_that_stays_out_is_not_bounced_often, 0, 3);
	tcase_add_test(
		cases, test_link_that_is_tested_again_and_good_rests_and_returns);
	tcase_add_test(cases,
		test_link_is_not_tested_again_while_others_are_or_tables_have_it);
	tcase_add_test(
		cases, test_link_that_was_bad_again_too_often_is_not_tested_again);
	tcase_add_test(cases, test_link_that_was_mended_waits_as_at_first);
	tcase_add_test(cases, test_link_that_its_test_brought_up_was_not_mended);
	tcase_add_test(cases, test_link_of_another_sm_that_stayed_out_waits_on);
	tcase_add_test(cases, test_link_of_another_sm_is_bounced_as_often_as_by_one);
	tcase_add_test(cases, test_link_that_is_better_than_none_returns_anyway);
	tcase_add_test(cases, test_link_that_stays_out_and_was_mended_is_tested_again);
	tcase_add_test(
		cases, test_link_that_only_retrained_or_was_mended_badly_stays_out);
	tcase_add_test(cases,
		test_link_that_was_taken_too_often_has_one_more_chance_when_mended);
	tcase_add_test(cases, test_link_that_goes_down_after_its_test_is_retrained);
	tcase_add_test(cases, test_switch_that_refuses_is_asked_some_times);
	tcase_add_test(cases, test_return_that_could_not_be_recorded_is_tried_again);
	tcase_add_test(cases, test_link_that_others_let_go_is_left_alone);
	tcase_add_loop_test(cases, test_any_order_of_facts_keeps_the_rules, 0, 20);
	return run_cases(cases);
}
