/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/sm_watch.h"

#include <inttypes.h>
#include <stdio.h>

#include "triad/clock.h"

#define TWO_MASTERS_US (10 * TRIAD_US_PER_S)
#define NO_ANSWERS_US (30 * TRIAD_US_PER_S)
#define HELP_US (60 * TRIAD_US_PER_S)
#define MIN_SWEEP_US (60 * TRIAD_US_PER_S)
#define MAX_SWEEP_US (600 * TRIAD_US_PER_S)
#define LONGEST_SWEEPS 3
#define SWEEPS_OFTEN 2                        /* a second */
#define SWEEPS_OFTEN_US (20 * TRIAD_US_PER_S) /* after the first count */
#define COUNT_US (10 * TRIAD_US_PER_S)
/* Looks are closer than this; a longer gap means that the process was stopped. */
#define MAX_STEP_US TRIAD_US_PER_S

static uint64_t limit_us(
	const struct triad_sm_watch *watch, enum triad_sm_trouble trouble)
{
	uint64_t sweep_us = LONGEST_SWEEPS * watch->longest_sweep_us;

	if (trouble == TRIAD_SM_TWO_MASTERS)
		return TWO_MASTERS_US;
	if (trouble == TRIAD_SM_NO_ANSWERS)
		return NO_ANSWERS_US;
	if (trouble == TRIAD_SM_SWEEPS_OFTEN)
		return SWEEPS_OFTEN_US;
	if (sweep_us < MIN_SWEEP_US)
		return MIN_SWEEP_US;
	return sweep_us < MAX_SWEEP_US ? sweep_us : MAX_SWEEP_US;
}

static bool is_so(const struct triad_sm_watch *watch,
	const struct triad_sm_sight *sight, enum triad_sm_trouble trouble)
{
	if (trouble == TRIAD_SM_NO_ANSWERS)
		return sight->n_outstanding;
	if (trouble == TRIAD_SM_SWEEPS_OFTEN)
		return watch->sweeps_10s >= 10 * SWEEPS_OFTEN;
	if (!sight->is_master)
		return false;
	return trouble == TRIAD_SM_TWO_MASTERS ? sight->other_master
					       : sight->is_sweeping;
}

/* Whether the trouble has lasted since the last look, without a break. */
static bool goes_on(const struct triad_sm_watch *watch, enum triad_sm_trouble trouble,
	const struct triad_sm_sight *sight)
{
	return is_so(watch, &watch->last, trouble) &&
		(trouble != TRIAD_SM_NO_ANSWERS || watch->last.n_smps == sight->n_smps);
}

static bool look_at_trouble(struct triad_sm_watch *watch, enum triad_sm_trouble trouble,
	const struct triad_sm_sight *sight)
{
	bool was_so = goes_on(watch, trouble, sight), is = is_so(watch, sight, trouble);
	uint64_t *lasted_us = &watch->lasted_us[trouble];
	uint64_t step_us = sight->now_us - watch->last.now_us;

	/* Count at most this step: a process that was stopped did not see the rest. */
	if (step_us > MAX_STEP_US)
		step_us = MAX_STEP_US;
	if (is && !was_so)
		*lasted_us = 0;
	else if (was_so)
		*lasted_us += step_us;
	/* The longest finished sweep sets the limit for later ones.  Ignore a sweep
	 * that ended because mastership ended. */
	if (trouble == TRIAD_SM_SWEEP_UNENDED && was_so && !is && sight->is_master &&
		*lasted_us > watch->longest_sweep_us)
		watch->longest_sweep_us = *lasted_us;
	return is && *lasted_us >= limit_us(watch, trouble);
}

/* 'sweeps_10s' stays until the next count. */
static void count_sweeps(
	struct triad_sm_watch *watch, const struct triad_sm_sight *sight)
{
	uint64_t step_us = sight->now_us - watch->counted_us;
	uint32_t n = sight->n_sweeps - watch->counted_n;

	if (watch->counted_us && step_us < COUNT_US)
		return;
	if (watch->counted_us)
		watch->sweeps_10s = (uint32_t)(n * (10 * TRIAD_US_PER_S) / step_us);
	watch->counted_us = sight->now_us;
	watch->counted_n = sight->n_sweeps;
}

uint32_t triad_sm_watch_look(
	struct triad_sm_watch *watch, const struct triad_sm_sight *sight)
{
	uint32_t changed = 0;

	count_sweeps(watch, sight);
	for (unsigned i = 0; i < TRIAD_SM_N_TROUBLES; i++) {
		bool is_raised = look_at_trouble(watch, i, sight);

		changed |= (uint32_t)(is_raised != watch->is_raised[i]) << i;
		watch->is_raised[i] = is_raised;
		if (!is_raised)
			watch->helped_us[i] = 0;
	}
	watch->last = *sight;
	return changed;
}

bool triad_sm_watch_is_due(struct triad_sm_watch *watch, enum triad_sm_trouble trouble)
{
	uint64_t *helped_us = &watch->helped_us[trouble];

	if (!watch->is_raised[trouble] ||
		(*helped_us && watch->last.now_us - *helped_us < HELP_US))
		return false;
	*helped_us = watch->last.now_us;
	return true;
}

/* --- texts --- */

static uint64_t lasted_s(
	const struct triad_sm_watch *watch, enum triad_sm_trouble trouble)
{
	return watch->lasted_us[trouble] / TRIAD_US_PER_S;
}

static void two_masters_text(
	const struct triad_sm_watch *watch, char *text, size_t size)
{
	uint64_t s = lasted_s(watch, TRIAD_SM_TWO_MASTERS);

	if (!watch->is_raised[TRIAD_SM_TWO_MASTERS])
		snprintf(text, size,
			"this SM is the only master again, or none, after %" PRIu64
			" s",
			s);
	else
		snprintf(text, size,
			"the SM at port 0x%016" PRIx64 " is master, too, since %" PRIu64
			" s%s: ports that come up may stay in INIT; compare 'sminfo LID' "
			"of both, and end one of the two opensms if it stays so",
			watch->last.other_master, s,
			watch->last.waits ? ", and this one waits for it to hand over"
					  : "");
}

static void sweep_text(const struct triad_sm_watch *watch, char *text, size_t size)
{
	uint64_t s = lasted_s(watch, TRIAD_SM_SWEEP_UNENDED);

	if (!watch->is_raised[TRIAD_SM_SWEEP_UNENDED])
		snprintf(text, size,
			"this SM's heavy sweep is through, or it is master no more, after "
			"%" PRIu64 " s",
			s);
	else
		snprintf(text, size,
			"this SM's heavy sweep is not through after %" PRIu64
			" s; the longest before took %" PRIu64
			" s: ports that come up stay in INIT; OpenSM's log may say why, "
			"'triadctl health' tells when it is over",
			s, watch->longest_sweep_us / TRIAD_US_PER_S);
}

static void no_answers_text(const struct triad_sm_watch *watch, char *text, size_t size)
{
	uint64_t s = lasted_s(watch, TRIAD_SM_NO_ANSWERS);

	if (!watch->is_raised[TRIAD_SM_NO_ANSWERS])
		snprintf(text, size,
			"OpenSM's SMPs move again, or none is waited for, after %" PRIu64
			" s",
			s);
	else
		snprintf(text, size,
			"OpenSM waits for %" PRIu32
			" SMPs, and has sent and received none for %" PRIu64
			" s: it doesn't sweep, nor hand over; 'sm.recover = true' wakes "
			"what sends them, and if that doesn't help restart opensm",
			watch->last.n_outstanding, s);
}

static void sweeps_often_text(
	const struct triad_sm_watch *watch, char *text, size_t size)
{
	uint64_t s = lasted_s(watch, TRIAD_SM_SWEEPS_OFTEN);

	if (!watch->is_raised[TRIAD_SM_SWEEPS_OFTEN])
		snprintf(text, size,
			"OpenSM sweeps heavily less often again, after %" PRIu64 " s",
			s);
	else
		snprintf(text, size,
			"OpenSM has swept heavily %" PRIu32 ".%" PRIu32
			" times a second for %" PRIu64
			" s, which keeps switches and SM busy: OpenSM's log tells what traps "
			"it receives, often of a link that comes and goes",
			watch->sweeps_10s / 10, watch->sweeps_10s % 10, s);
}

void triad_sm_watch_text(const struct triad_sm_watch *watch,
	enum triad_sm_trouble trouble, char *text, size_t size)
{
	static void (*const texts[TRIAD_SM_N_TROUBLES])(
		const struct triad_sm_watch *watch, char *text, size_t size) = {
		[TRIAD_SM_TWO_MASTERS] = two_masters_text,
		[TRIAD_SM_SWEEP_UNENDED] = sweep_text,
		[TRIAD_SM_NO_ANSWERS] = no_answers_text,
		[TRIAD_SM_SWEEPS_OFTEN] = sweeps_often_text,
	};

	texts[trouble](watch, text, size);
}

void triad_sm_watch_summary(const struct triad_sm_watch *watch, char *text, size_t size)
{
	char whats[TRIAD_SM_N_TROUBLES][64];
	size_t n = 0;

	snprintf(whats[TRIAD_SM_TWO_MASTERS], sizeof(whats[0]),
		"0x%016" PRIx64 " is master, too,", watch->last.other_master);
	snprintf(whats[TRIAD_SM_SWEEP_UNENDED], sizeof(whats[0]),
		"no heavy sweep is through");
	snprintf(whats[TRIAD_SM_NO_ANSWERS], sizeof(whats[0]), "no SMP is answered");
	snprintf(whats[TRIAD_SM_SWEEPS_OFTEN], sizeof(whats[0]),
		"heavy sweeps several times a second");
	*text = '\0';
	for (unsigned i = 0; i < TRIAD_SM_N_TROUBLES && n < size; i++)
		if (watch->is_raised[i])
			n += (size_t)snprintf(text + n, size - n,
				"%s%s since %" PRIu64 " s", n ? "; " : "", whats[i],
				lasted_s(watch, i));
}
