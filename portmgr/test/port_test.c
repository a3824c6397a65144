/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/test/port_test.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "portmgr/expected/remote.h"
#include "triad/clock.h"

/* The time between two requests to a far end that is not ready yet, and between the two
 * readings of its counters. */
#define AGAIN_US TRIAD_US_PER_S
#define NOT_READ UINT64_MAX

const char *triad_test_step_name(unsigned step)
{
	static const char *const names[] = {
		[TRIAD_TEST_PRESENCE] = "presence",
		[TRIAD_TEST_MISWIRE] = "miswire",
		[TRIAD_TEST_QUALITY] = "quality",
		[TRIAD_TEST_APPLICATION] = "application",
		[TRIAD_TEST_ADMISSION] = "admission",
	};

	return step < TRIAD_TEST_N_STEPS ? names[step] : "?";
}

/* A device may report an unknown value. */
static const char *width_name(unsigned width)
{
	const char *name = triad_link_width_name(width);

	return *name ? name : "?";
}

static const char *speed_name(unsigned speed)
{
	const char *name = triad_link_speed_name((enum triad_link_speed)speed);

	return *name ? name : "?";
}

__attribute__((format(printf, 2, 3))) static void set_text(
	struct triad_port_test *test, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(test->text, sizeof(test->text), format, args);
	va_end(args);
	triad_text_clean(test->text);
}

static uint64_t add_time(uint64_t time_us, uint64_t by_us)
{
	return time_us + by_us < time_us ? UINT64_MAX : time_us + by_us;
}

static uint64_t deadline(const struct triad_port_test *test)
{
	return add_time(test->begun_us, test->conf.timeout_us);
}

/* Whether there is a verdict; this also gives that of a timeout. */
static bool is_test_over(struct triad_port_test *test, uint64_t now_us)
{
	char waited_for[sizeof(test->text)];
	uint64_t tenths = test->conf.timeout_us / (TRIAD_US_PER_S / 10);

	if (test->state != TRIAD_TEST_RUNNING)
		return true;
	if (now_us < deadline(test))
		return false;
	test->state = TRIAD_TEST_FAILED;
	test->is_timed_out = true;
	/* A copy, because set_text() writes into the text that it quotes here. */
	memcpy(waited_for, test->text, sizeof(waited_for));
	set_text(test, "%s: no result within %" PRIu64 ".%u s: %.120s",
		triad_test_step_name(test->step), tenths / 10, (unsigned)(tenths % 10),
		waited_for);
	if (test->n_restarts)
		triad_text_append(test->text, sizeof(test->text),
			"; began anew %" PRIu32 " times", test->n_restarts);
	return true;
}

static void enter_step(
	struct triad_port_test *test, enum triad_test_step step, uint64_t now_us)
{
	test->step = step;
	test->step_us = now_us;
	test->next_us = 0;
}

static bool has_fit_name(const struct triad_port_test *test)
{
	return !*test->expected.name ||
		(*test->name && triad_name_fits(test->expected.name, test->name));
}

static void forget_packets(struct triad_port_test *test, uint64_t now_us)
{
	test->n_sent = test->n_answered = test->n_lost = 0;
	test->near_before = test->far_before = NOT_READ;
	test->has_pong = false;
	/* An answer that is under way is about the old link: ignore it. */
	test->is_stale = test->awaited != TRIAD_TEST_WAIT;
	test->name[0] = '\0';
	enter_step(test, TRIAD_TEST_PRESENCE, now_us);
}

void triad_port_test_begin(struct triad_port_test *test,
	const struct triad_test_conf *conf, const struct triad_test_expected *expected,
	uint64_t now_us)
{
	*test = (struct triad_port_test){
		.conf = *conf, .expected = *expected, .begun_us = now_us};
	forget_packets(test, now_us);
	set_text(test, "no sweep has seen the port yet");
}

/* --- the steps' ends --- */

static void pass(struct triad_port_test *test)
{
	test->state = TRIAD_TEST_PASSED;
	set_text(test, "passed: %s %s, SMPs lost %" PRIu32 " of %" PRIu32 "%s%s",
		width_name(test->width), speed_name(test->speed), test->n_lost,
		test->n_sent, *test->name ? ", far end " : "", test->name);
}

static void set_step_text(struct triad_port_test *test)
{
	if (test->step == TRIAD_TEST_QUALITY)
		set_text(test, "waits for the near end's error counters");
	if (test->step == TRIAD_TEST_APPLICATION)
		set_text(test, "waits for a NodeDescription like %s",
			test->expected.name);
	if (test->step == TRIAD_TEST_ADMISSION)
		set_text(test, "waits for the port to become active");
}

static void leave(struct triad_port_test *test, uint64_t now_us)
{
	enter_step(test, test->step + 1, now_us);
	/* The SMPs of the quality step have read the name already. */
	if (test->step == TRIAD_TEST_APPLICATION && has_fit_name(test))
		enter_step(test, TRIAD_TEST_ADMISSION, now_us);
	set_step_text(test);
}

/* --- results of sweeps --- */

static bool is_as_expected(const struct triad_port_test *test)
{
	return (!test->expected.width || test->width == test->expected.width) &&
		(!test->expected.speed || test->speed == test->expected.speed);
}

static void restart(struct triad_port_test *test, uint64_t now_us)
{
	test->n_restarts++;
	forget_packets(test, now_us);
}

/* Whether width, speed and state stayed the same while SMPs are sent; fails the test if
 * not. */
static bool is_steady(struct triad_port_test *test, const struct triad_test_seen *seen)
{
	if (seen->width == test->width && seen->speed == test->speed &&
		seen->is_active == test->is_active)
		return true;
	test->state = TRIAD_TEST_FAILED;
	set_text(test,
		"quality: the link changed under test: it was %s %s and %s, and is now "
		"%s %s and %s",
		width_name(test->width), speed_name(test->speed),
		test->is_active ? "active" : "not active", width_name(seen->width),
		speed_name(seen->speed), seen->is_active ? "active" : "not active");
	return false;
}

static void report_presence(struct triad_port_test *test)
{
	const struct triad_test_expected *expected = &test->expected;

	if (!test->is_linked)
		set_text(test, "the link is down");
	else
		set_text(test, "the link is %s %s, expected is %s %s",
			width_name(test->width), speed_name(test->speed),
			expected->width ? width_name(expected->width) : "any width",
			expected->speed ? speed_name(expected->speed) : "any speed");
}

/* Whether the link is present as desired.  Restarts the test if the link was lost since
 * the last sweep. */
static bool look_at_presence(
	struct triad_port_test *test, bool was_linked, uint64_t now_us)
{
	bool is_present = test->is_linked && is_as_expected(test);

	if (!is_present) {
		if (was_linked && test->step > TRIAD_TEST_PRESENCE)
			restart(test, now_us);
		report_presence(test);
	} else if (test->step == TRIAD_TEST_PRESENCE) {
		leave(test, now_us);
	} else if (!was_linked) {
		set_step_text(test);
	}
	return is_present;
}

/* Fails the test if another component is at the far end.  If only its name is wrong,
 * waits: the name may change while the far end's system starts. */
static void look_at_wiring(struct triad_port_test *test,
	const struct triad_test_seen *seen, uint64_t now_us)
{
	const char *why = seen->why ? seen->why : "something else is at the far end";

	if (!seen->is_miswired) {
		if (test->step == TRIAD_TEST_MISWIRE)
			leave(test, now_us);
		return;
	}
	if (!seen->is_only_name) {
		enter_step(test, TRIAD_TEST_MISWIRE, now_us);
		test->state = TRIAD_TEST_FAILED;
		set_text(test, "miswire: %s", why);
		return;
	}
	if (test->step > TRIAD_TEST_MISWIRE) {
		restart(test, now_us);
		test->step = TRIAD_TEST_MISWIRE;
	}
	set_text(test, "%s", why);
}

/* Restarts the test for another far end.  It may change between two sweeps that both
 * find the link up. */
static void look_at_far_end(struct triad_port_test *test,
	const struct triad_test_seen *seen, uint64_t now_us)
{
	uint64_t before = test->remote_guid;

	test->remote_guid = seen->remote_guid;
	if (seen->remote_guid && before && seen->remote_guid != before)
		restart(test, now_us);
	/* The far end did not answer this time: keep the old GUID for the next
	 * comparison. */
	if (seen->is_linked && !seen->remote_guid)
		test->remote_guid = before;
}

void triad_port_test_look(struct triad_port_test *test,
	const struct triad_test_seen *seen, uint64_t now_us)
{
	bool was_linked = test->is_linked;

	if (is_test_over(test, now_us))
		return;
	look_at_far_end(test, seen, now_us);
	if (test->near_before != NOT_READ && test->step == TRIAD_TEST_QUALITY &&
		seen->is_linked && !is_steady(test, seen))
		return;
	test->is_linked = seen->is_linked;
	test->is_active = seen->is_linked && seen->is_active;
	test->width = seen->width;
	test->speed = seen->speed;
	if (look_at_presence(test, was_linked, now_us))
		look_at_wiring(test, seen, now_us);
}

/* --- answers --- */

/* Whether the test waits for an answer to 'request' now. */
static bool is_awaited(
	struct triad_port_test *test, enum triad_test_request request, uint64_t now_us)
{
	bool is_stale = test->is_stale;

	if (is_test_over(test, now_us) || test->awaited != request)
		return false;
	test->awaited = TRIAD_TEST_WAIT;
	test->is_stale = test->is_not_known = false;
	return !is_stale;
}

static void count_smp(struct triad_port_test *test, bool is_answered)
{
	test->n_answered += is_answered;
	test->n_lost += !is_answered;
	if (test->n_lost <= test->conf.max_lost)
		return;
	test->state = TRIAD_TEST_FAILED;
	set_text(test,
		"quality: %" PRIu32 " of %" PRIu32 " SMPs through the link were lost, "
		"at most %" PRIu32 " may be",
		test->n_lost, test->n_sent, test->conf.max_lost);
}

void triad_port_test_smp(
	struct triad_port_test *test, const char *name, uint64_t now_us)
{
	if (!is_awaited(test, TRIAD_TEST_SEND_SMP, now_us))
		return;
	if (name) {
		snprintf(test->name, sizeof(test->name), "%s", name);
		triad_text_clean(test->name);
	}
	if (test->step == TRIAD_TEST_QUALITY) {
		count_smp(test, name);
	} else if (has_fit_name(test)) {
		leave(test, now_us);
	} else if (name) {
		set_text(test, "the far end calls itself \"%s\", expected is %s",
			test->name, test->expected.name);
	} else {
		set_text(test,
			"no answer to an SMP for a NodeDescription, expected is %s",
			test->expected.name);
	}
}

/* Checks the errors of one end since 'before'; a smaller number means a reset. */
static bool is_within(struct triad_port_test *test, const char *end, uint64_t before,
	uint64_t n_errors)
{
	uint64_t n = n_errors >= before ? n_errors - before : n_errors;

	if (n <= test->conf.max_errors)
		return true;
	test->state = TRIAD_TEST_FAILED;
	set_text(test,
		"%s: the %s end counted %" PRIu64 " errors, at most %" PRIu64 " may be",
		triad_test_step_name(test->step), end, n, test->conf.max_errors);
	return false;
}

static bool is_read(struct triad_port_test *test, const char *end, uint64_t n_errors,
	uint64_t now_us)
{
	if (n_errors != NOT_READ)
		return true;
	test->is_not_known = true;
	test->resume_us = add_time(now_us, AGAIN_US);
	set_text(test,
		"waits for the error counters of the %s end, which could not be read",
		end);
	return false;
}

void triad_port_test_unknown(struct triad_port_test *test, uint64_t now_us)
{
	if (!is_awaited(test, TRIAD_TEST_SEND_SMP, now_us))
		return;
	test->is_not_known = true;
	test->resume_us = add_time(now_us, AGAIN_US);
	/* It is not one of those that were lost or answered. */
	if (test->step == TRIAD_TEST_QUALITY)
		test->n_sent--;
}

void triad_port_test_near(
	struct triad_port_test *test, uint64_t n_errors, uint64_t now_us)
{
	if (!is_awaited(test, TRIAD_TEST_READ_NEAR, now_us) ||
		!is_read(test, "near", n_errors, now_us))
		return;
	/* The first reading begins the time in which SMPs are sent, the second one ends
	 * the step. */
	if (test->near_before == NOT_READ) {
		test->near_before = n_errors;
		test->step_us = now_us;
		test->next_us = 0;
		set_text(test, "sends SMPs through the link");
	} else if (is_within(test, "near", test->near_before, n_errors)) {
		leave(test, now_us);
	}
}

void triad_port_test_far(
	struct triad_port_test *test, uint64_t n_errors, uint64_t now_us)
{
	if (!is_awaited(test, TRIAD_TEST_READ_FAR, now_us) ||
		!is_read(test, "far", n_errors, now_us))
		return;
	if (test->far_before == NOT_READ) {
		test->far_before = n_errors;
		test->step_us = now_us;
		test->next_us = 0;
		set_text(test, "watches the far end's error counters");
	} else if (is_within(test, "far", test->far_before, n_errors)) {
		pass(test);
	}
}

void triad_port_test_pong(
	struct triad_port_test *test, bool is_answered, uint64_t now_us)
{
	if (!is_awaited(test, TRIAD_TEST_SEND_PING, now_us))
		return;
	test->has_pong = is_answered;
	if (is_answered)
		set_text(test,
			"the far end answered a ping; watches its error counters");
	else
		set_text(test, "no answer to a ping; is ibping -S running there?");
}

/* --- requests --- */

static enum triad_test_request make_request(struct triad_port_test *test,
	enum triad_test_request request, uint64_t now_us, uint64_t again_us)
{
	test->awaited = request;
	test->next_us = add_time(now_us, again_us);
	return request;
}

static enum triad_test_request wait_until(uint64_t at_us, uint64_t *until_us)
{
	*until_us = triad_clock_earlier(*until_us, at_us);
	return TRIAD_TEST_WAIT;
}

static enum triad_test_request request_quality(
	struct triad_port_test *test, uint64_t now_us, uint64_t *until_us)
{
	uint64_t end_us = add_time(test->step_us, test->conf.quality_us);

	/* Send at least one SMP, however short the time is. */
	if (test->near_before == NOT_READ || (test->n_sent && now_us >= end_us))
		return make_request(test, TRIAD_TEST_READ_NEAR, now_us, 0);
	if (now_us < test->next_us)
		return wait_until(
			test->next_us < end_us ? test->next_us : end_us, until_us);
	test->n_sent++;
	return make_request(
		test, TRIAD_TEST_SEND_SMP, now_us, test->conf.smp_interval_us);
}

static enum triad_test_request request_name(
	struct triad_port_test *test, uint64_t now_us, uint64_t *until_us)
{
	if (now_us < test->next_us)
		return wait_until(test->next_us, until_us);
	return make_request(test, TRIAD_TEST_SEND_SMP, now_us, AGAIN_US);
}

static enum triad_test_request request_admission(
	struct triad_port_test *test, uint64_t now_us, uint64_t *until_us)
{
	uint64_t end_us = add_time(test->step_us, AGAIN_US);

	/* No answer follows: a later sweep shows the port active. */
	if (!test->is_active)
		return TRIAD_TEST_ADMIT;
	if (test->far_before == NOT_READ)
		return make_request(test, TRIAD_TEST_READ_FAR, now_us, 0);
	if (!test->expected.ping || test->has_pong) {
		if (now_us < end_us)
			return wait_until(end_us, until_us);
		return make_request(test, TRIAD_TEST_READ_FAR, now_us, 0);
	}
	if (now_us < test->next_us)
		return wait_until(test->next_us, until_us);
	return make_request(test, TRIAD_TEST_SEND_PING, now_us, AGAIN_US);
}

enum triad_test_request triad_port_test_request(
	struct triad_port_test *test, uint64_t now_us, uint64_t *until_us)
{
	*until_us = UINT64_MAX;
	if (is_test_over(test, now_us))
		return TRIAD_TEST_WAIT;
	/* Make one request at a time, and none through a link that is down. */
	*until_us = deadline(test);
	if (test->awaited != TRIAD_TEST_WAIT || !test->is_linked)
		return TRIAD_TEST_WAIT;
	if (now_us < test->resume_us)
		return wait_until(test->resume_us, until_us);
	switch (test->step) {
	case TRIAD_TEST_QUALITY:
		return request_quality(test, now_us, until_us);
	case TRIAD_TEST_APPLICATION:
		return request_name(test, now_us, until_us);
	case TRIAD_TEST_ADMISSION:
		return request_admission(test, now_us, until_us);
	default:
		return TRIAD_TEST_WAIT;
	}
}
