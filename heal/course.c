/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/course.h"

#include "lib/backoff.h"
#include "triad/clock.h"

#define OUT_MAX_US (7 * 24 * 3600 * TRIAD_US_PER_S)
#define AGAIN_US (5 * TRIAD_US_PER_S)
#define MOST_AGAIN_US (300 * TRIAD_US_PER_S)
/* Bounces that could not be done, in a row: the switch refuses them, or does not answer. */
#define MAX_FAILED 5u
/* A link that stays out and is down for so long, then up: somebody has worked at it. */
#define WORK_US (30 * TRIAD_US_PER_S)

uint64_t triad_course_out_us(const struct triad_course_conf *conf, uint32_t n_taken)
{
	return triad_backoff(n_taken, conf->out_us,
		conf->out_us > OUT_MAX_US ? conf->out_us : OUT_MAX_US);
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

static void take(struct triad_course *course, uint64_t now_us)
{
	course->taken_us = now_us;
	course->n_retrained = 0;
	course->is_bad_again = false;
	if (course->n_taken >= course->conf.max_taken)
		end_as(course, TRIAD_COURSE_STAYS_OUT, "it was bad again too often",
			now_us);
	else
		enter(course, TRIAD_COURSE_MOVING, now_us);
}

void triad_course_begin(struct triad_course *course,
	const struct triad_course_conf *conf, uint32_t n_taken, uint64_t now_us)
{
	*course = (struct triad_course){.conf = *conf, .n_taken = n_taken};
	take(course, now_us);
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
		end_as(course, TRIAD_COURSE_STAYS_OUT, "its tests were bad", now_us);
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

/* Retrains and tests a link that stays out and that somebody has worked at, and gives it one more
 * chance. */
static void look_for_work(struct triad_course *course,
	const struct triad_course_facts *facts, uint64_t now_us)
{
	uint64_t down_us = course->down_us;

	if (!facts->is_up && !down_us)
		course->down_us = now_us;
	if (!facts->is_up)
		return;
	course->down_us = 0;
	if (!down_us || now_us < down_us + WORK_US)
		return;
	course->taken_us = now_us;
	course->n_retrained = 0;
	if (course->n_taken >= course->conf.max_taken)
		course->n_taken = course->conf.max_taken - 1;
	end_as(course, TRIAD_COURSE_RETRAINING, NULL, now_us);
}

/* Moves on as far as facts and time allow. */
static void advance(struct triad_course *course, const struct triad_course_facts *facts,
	uint64_t now_us)
{
	switch (course->state) {
	case TRIAD_COURSE_MOVING:
		if (facts->is_out)
			enter(course, TRIAD_COURSE_RETRAINING, now_us);
		break;
	case TRIAD_COURSE_TESTING:
		judge_test(course, facts->test, now_us);
		break;
	case TRIAD_COURSE_STAYS_OUT:
		look_for_work(course, facts, now_us);
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

static uint64_t due_us(const struct triad_course *course)
{
	uint64_t at_us;

	switch (course->state) {
	case TRIAD_COURSE_RESTING:
		at_us = course->is_given_up ? 0
					    : course->taken_us +
				triad_course_out_us(&course->conf, course->n_taken);
		return course->next_us > at_us ? course->next_us : at_us;
	case TRIAD_COURSE_PROBATION:
		return course->is_bad_again
			? course->next_us
			: course->since_us + course->conf.probation_us;
	case TRIAD_COURSE_RETRAINING:
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
	default: /* of a probation */
		*until_us = UINT64_MAX;
		return course->is_bad_again && facts->may_take ? TRIAD_COURSE_TAKE
							       : TRIAD_COURSE_WAIT;
	}
}

/* --- what came of it --- */

void triad_course_did(struct triad_course *course, enum triad_course_act act,
	bool worked, uint64_t now_us)
{
	if (!worked) {
		course->n_failed++;
		course->next_us = now_us +
			triad_backoff(course->n_failed, AGAIN_US, MOST_AGAIN_US);
		if (act == TRIAD_COURSE_BOUNCE && course->n_failed == MAX_FAILED)
			end_as(course, TRIAD_COURSE_STAYS_OUT, "it can't be retrained",
				now_us);
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
