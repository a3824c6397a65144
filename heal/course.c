/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/course.h"

#include "lib/backoff.h"
#include "triad/clock.h"

#define DAY_US (24 * 3600 * TRIAD_US_PER_S)
#define OUT_MAX_US (7 * DAY_US)
#define AGAIN_US (5 * TRIAD_US_PER_S)
#define MOST_AGAIN_US (300 * TRIAD_US_PER_S)
/* Bounces that could not be done, in a row: the switch refuses them, or does not answer. */
#define MAX_FAILED 5u
/* A link that stays out and is down for so long, then up: somebody has worked at it. */
#define WORK_US (30 * TRIAD_US_PER_S)

static uint64_t back_off(uint32_t n, uint64_t first_us, uint64_t most_us)
{
	return triad_backoff(n, first_us, first_us > most_us ? first_us : most_us);
}

uint64_t triad_course_out_us(const struct triad_course_conf *conf, uint32_t n_taken)
{
	return back_off(n_taken, conf->out_us, OUT_MAX_US);
}

static void enter(
	struct triad_course *course, enum triad_course_state state, uint64_t now_us)
{
	course->state = (uint8_t)state;
	course->since_us = course->next_us = now_us;
	course->n_failed = 0;
}

static void end_as(struct triad_course *course, enum triad_course_state state,
	const char *why, uint64_t now_us)
{
	enter(course, state, now_us);
	course->why = why;
}

static void stay_out(struct triad_course *course, const char *why, uint64_t now_us)
{
	end_as(course, TRIAD_COURSE_STAYS_OUT, why, now_us);
	course->next_us = UINT64_MAX;
}

/* It has been retrained as often as it is at first. */
static void wait_for_test(struct triad_course *course, const char *why, uint64_t now_us)
{
	uint64_t out_us = course->conf.out_us;
	uint32_t n_waits = course->n_retrained - TRIAD_COURSE_MAX_RETRAINS + 1;

	stay_out(course, why, now_us);
	course->next_us = now_us +
		back_off(course->n_taken - 1 + n_waits,
			out_us > AGAIN_US ? out_us : AGAIN_US, DAY_US);
}

static void take(struct triad_course *course, uint64_t now_us)
{
	course->taken_us = now_us;
	course->n_retrained = 0;
	course->is_bad_again = false;
	if (course->n_taken >= course->conf.max_taken)
		stay_out(course, "it was bad again too often", now_us);
	else
		enter(course, TRIAD_COURSE_MOVING, now_us);
}

void triad_course_begin(struct triad_course *course,
	const struct triad_course_conf *conf, uint32_t n_taken, uint64_t now_us)
{
	*course = (struct triad_course){.conf = *conf, .n_taken = n_taken};
	take(course, now_us);
}

void triad_course_begin_held(struct triad_course *course,
	const struct triad_course_conf *conf, uint32_t n_taken, uint32_t n_retrained,
	uint64_t ago_us, uint64_t now_us)
{
	uint64_t wait_us;

	triad_course_begin(course, conf, n_taken, now_us);
	course->n_retrained = n_retrained;
	if (course->state == TRIAD_COURSE_STAYS_OUT ||
		n_retrained < TRIAD_COURSE_MAX_RETRAINS)
		return;
	wait_for_test(course, "what its last test said is not known here", now_us);
	wait_us = course->next_us - now_us;
	course->next_us -= ago_us < wait_us ? ago_us : wait_us;
}

void triad_course_begin_back(struct triad_course *course,
	const struct triad_course_conf *conf, uint32_t n_taken, uint64_t now_us)
{
	*course = (struct triad_course){.conf = *conf, .n_taken = n_taken};
	enter(course, TRIAD_COURSE_PROBATION, now_us);
}

/* --- what is to be done --- */

static void judge_test(
	struct triad_course *course, enum triad_course_verdict verdict, uint64_t now_us)
{
	if (verdict == TRIAD_COURSE_GOOD)
		enter(course, TRIAD_COURSE_RESTING, now_us);
	else if (verdict == TRIAD_COURSE_BAD &&
		course->n_retrained < TRIAD_COURSE_MAX_RETRAINS)
		enter(course, TRIAD_COURSE_RETRAINING, now_us);
	else if (verdict == TRIAD_COURSE_BAD)
		wait_for_test(course, "its tests were bad", now_us);
}

/* Its tests were bad, but it is up, and better than none. */
static void give_up(struct triad_course *course, const struct triad_course_facts *facts,
	uint64_t now_us)
{
	if (course->state != TRIAD_COURSE_STAYS_OUT || !course->conf.returns_anyway ||
		!facts->is_up)
		return;
	end_as(course, TRIAD_COURSE_RESTING, "its retraining changed nothing", now_us);
	course->is_given_up = true;
}

/* It is tested once more, and then rests as one that was just taken. */
static void test_again(struct triad_course *course, uint64_t now_us)
{
	course->taken_us = now_us;
	course->down_us = 0;
	end_as(course, TRIAD_COURSE_MOVING, NULL, now_us);
}

/* Whether a link that stays out was down for long enough, and is up. */
static bool was_mended(struct triad_course *course,
	const struct triad_course_facts *facts, uint64_t now_us)
{
	uint64_t down_us = course->down_us;

	if (facts->is_up)
		course->down_us = 0;
	else if (!down_us)
		course->down_us = now_us;
	return facts->is_up && down_us && now_us >= down_us + WORK_US;
}

/* One that somebody has worked at has one more chance, and all its retrainings. */
static void leave_stays_out(struct triad_course *course,
	const struct triad_course_facts *facts, uint64_t now_us)
{
	if (was_mended(course, facts, now_us)) {
		course->n_retrained = 0;
		if (course->n_taken >= course->conf.max_taken)
			course->n_taken = course->conf.max_taken - 1;
		test_again(course, now_us);
	} else if (facts->may_test_again && now_us >= course->next_us) {
		test_again(course, now_us);
	}
}

/* Moves on as far as facts and time allow. */
static void advance(struct triad_course *course, const struct triad_course_facts *facts,
	uint64_t now_us)
{
	if (course->state == TRIAD_COURSE_STAYS_OUT)
		leave_stays_out(course, facts, now_us);
	switch (course->state) {
	case TRIAD_COURSE_MOVING:
		if (facts->is_out)
			enter(course, TRIAD_COURSE_RETRAINING, now_us);
		break;
	case TRIAD_COURSE_TESTING:
		judge_test(course, facts->test, now_us);
		break;
	case TRIAD_COURSE_PROBATION:
		course->is_bad_again = facts->back == TRIAD_COURSE_BAD;
		course->is_not_known = facts->back == TRIAD_COURSE_NO_VERDICT;
		/* What is not known is not good. */
		if (facts->back != TRIAD_COURSE_GOOD)
			course->since_us = now_us;
		else if (now_us >= course->since_us + course->conf.probation_us)
			end_as(course, TRIAD_COURSE_ENDED, "it has been good", now_us);
		break;
	default:
		break;
	}
	/* What was tested is a link that has stayed up since. */
	if (course->state == TRIAD_COURSE_RESTING && !facts->is_up)
		judge_test(course, TRIAD_COURSE_BAD, now_us);
	give_up(course, facts, now_us);
}

uint64_t triad_course_until_us(const struct triad_course *course)
{
	switch (course->state) {
	case TRIAD_COURSE_RESTING:
		return course->is_given_up ? 0
					   : course->taken_us +
				triad_course_out_us(&course->conf, course->n_taken);
	case TRIAD_COURSE_PROBATION:
		return course->is_bad_again || course->is_not_known
			? 0
			: course->since_us + course->conf.probation_us;
	case TRIAD_COURSE_STAYS_OUT:
		return course->next_us == UINT64_MAX ? 0 : course->next_us;
	default:
		return 0;
	}
}

/* When an act, or the next test of one that stays out, is due. */
static uint64_t due_us(const struct triad_course *course)
{
	uint64_t until_us = triad_course_until_us(course);

	switch (course->state) {
	case TRIAD_COURSE_RESTING:
		return course->next_us > until_us ? course->next_us : until_us;
	case TRIAD_COURSE_PROBATION:
		return course->is_bad_again
			? course->next_us
			: course->since_us + course->conf.probation_us;
	case TRIAD_COURSE_RETRAINING:
	case TRIAD_COURSE_STAYS_OUT:
		return course->next_us;
	default:
		return UINT64_MAX;
	}
}

enum triad_course_act triad_course_step(struct triad_course *course,
	const struct triad_course_facts *facts, uint64_t now_us, uint64_t *until_us)
{
	bool must_be_held = course->state != TRIAD_COURSE_PROBATION &&
		course->state != TRIAD_COURSE_ENDED;

	if (must_be_held && !facts->is_held) {
		end_as(course, TRIAD_COURSE_ENDED, "it was let go by others", now_us);
		course->is_let_go = true;
	}
	advance(course, facts, now_us);
	*until_us = due_us(course);
	if (course->state == TRIAD_COURSE_TESTING)
		return TRIAD_COURSE_TEST;
	if (now_us < *until_us)
		return TRIAD_COURSE_WAIT;
	switch (course->state) {
	case TRIAD_COURSE_RETRAINING:
		return TRIAD_COURSE_BOUNCE;
	case TRIAD_COURSE_RESTING:
		return TRIAD_COURSE_RETURN;
	default: /* of a probation; or one that stays out and may not be tested yet */
		*until_us = UINT64_MAX;
		return course->is_bad_again && facts->may_take ? TRIAD_COURSE_TAKE
							       : TRIAD_COURSE_WAIT;
	}
}

/* --- what came of it --- */

/* One that is tested again is tried once. */
static void fail_to_retrain(struct triad_course *course, uint64_t now_us)
{
	if (course->n_retrained >= TRIAD_COURSE_MAX_RETRAINS)
		course->n_retrained++;
	else if (course->n_failed == MAX_FAILED)
		course->n_retrained = TRIAD_COURSE_MAX_RETRAINS;
	else
		return;
	wait_for_test(course, "it can't be retrained", now_us);
}

void triad_course_did(struct triad_course *course, enum triad_course_act act,
	bool worked, uint64_t now_us)
{
	if (!worked) {
		course->n_failed++;
		course->next_us = now_us +
			triad_backoff(course->n_failed, AGAIN_US, MOST_AGAIN_US);
		if (act == TRIAD_COURSE_BOUNCE)
			fail_to_retrain(course, now_us);
		return;
	}
	switch (act) {
	case TRIAD_COURSE_TAKE:
		course->n_taken++;
		take(course, now_us);
		break;
	case TRIAD_COURSE_BOUNCE:
		course->n_retrained++;
		enter(course, TRIAD_COURSE_TESTING, now_us);
		break;
	case TRIAD_COURSE_RETURN:
		enter(course,
			course->is_given_up ? TRIAD_COURSE_ENDED
					    : TRIAD_COURSE_PROBATION,
			now_us);
		break;
	default:
		break;
	}
}

const char *triad_course_state_name(unsigned state)
{
	static const char *const names[TRIAD_COURSE_N_STATES] = {
		[TRIAD_COURSE_MOVING] = "moving",
		[TRIAD_COURSE_RETRAINING] = "retraining",
		[TRIAD_COURSE_TESTING] = "testing",
		[TRIAD_COURSE_RESTING] = "resting",
		[TRIAD_COURSE_PROBATION] = "probation",
		[TRIAD_COURSE_STAYS_OUT] = "stays out",
		[TRIAD_COURSE_ENDED] = "ended",
	};

	return state < TRIAD_COURSE_N_STATES ? names[state] : "?";
}
