/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/test/port_test.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/random.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

#define BEGIN_US UINT64_C(1000000)

static const struct triad_test_conf usual = {.timeout_us = 60 * TRIAD_US_PER_S,
	.quality_us = 100000,
	.smp_interval_us = 10000,
	.max_lost = 1,
	.max_errors = 5};
static const struct triad_test_expected wanted = {
	.width = 2, .speed = 5, .ping = true, .name = "host-*"};
static const struct triad_test_seen as_expected = {
	.is_linked = true, .width = 2, .speed = 5, .remote_guid = 7};

static struct triad_port_test test;
static uint64_t now_us;

static void begin_with(const struct triad_test_expected *expected)
{
	now_us = BEGIN_US;
	triad_port_test_begin(&test, &usual, expected, now_us);
}

static void begin(void)
{
	begin_with(&wanted);
}

static enum triad_test_request request(void)
{
	uint64_t until_us;
	enum triad_test_request what =
		triad_port_test_request(&test, now_us, &until_us);

	if (what == TRIAD_TEST_WAIT)
		ck_assert_uint_gt(until_us, now_us);
	return what;
}

static void look(struct triad_test_seen seen)
{
	triad_port_test_look(&test, &seen, now_us);
}

static struct triad_test_seen active(void)
{
	struct triad_test_seen seen = as_expected;

	seen.is_active = true;
	return seen;
}

static void check_state(enum triad_test_state state, enum triad_test_step step)
{
	ck_assert_msg(test.state == state && test.step == step, "%u in %s: %s",
		test.state, triad_test_step_name(test.step), test.text);
}

/* Checks that the text contains both words. */
static void check_text(const char *a, const char *b)
{
	ck_assert_msg(strstr(test.text, a) && strstr(test.text, b), "%s", test.text);
}

/* Advances the time until the test requests something. */
static enum triad_test_request next_request(void)
{
	uint64_t until_us;
	enum triad_test_request what;

	while ((what = triad_port_test_request(&test, now_us, &until_us)) ==
		TRIAD_TEST_WAIT) {
		ck_assert_uint_ne(until_us, UINT64_MAX);
		now_us = until_us;
	}
	return what;
}

/* Answers SMPs with the node description 'name' until the test requests something
 * else. */
static enum triad_test_request answer_smps(const char *name)
{
	enum triad_test_request what;

	while ((what = next_request()) == TRIAD_TEST_SEND_SMP) {
		now_us += 1000;
		triad_port_test_smp(&test, name, now_us);
	}
	return what;
}

static void begin_quality(void)
{
	look(as_expected);
	ck_assert_int_eq(request(), TRIAD_TEST_READ_NEAR);
	triad_port_test_near(&test, 10, now_us);
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_QUALITY);
}

/* From the begin on, up to the end of the quality step; the far end gives that name. */
static void pass_quality(const char *name)
{
	begin_quality();
	ck_assert_int_eq(answer_smps(name), TRIAD_TEST_READ_NEAR);
	triad_port_test_near(&test, 10, now_us);
}

/* Begins an admission, up to the request to read the far end's counters. */
static void begin_admission(void)
{
	begin();
	pass_quality("host-0001");
	ck_assert_int_eq(request(), TRIAD_TEST_ADMIT);
	ck_assert_int_eq(request(), TRIAD_TEST_ADMIT);
	look(active());
	ck_assert_int_eq(request(), TRIAD_TEST_READ_FAR);
	ck_assert_int_eq(request(), TRIAD_TEST_WAIT);
}

/* Row: E10 */
START_TEST(test_port_good_in_all_steps_passes)
{
	begin();
	begin_quality();
	ck_assert_int_eq(answer_smps("host-0001 mlx5_0"), TRIAD_TEST_READ_NEAR);
	ck_assert_uint_ge(test.n_answered, 9);
	ck_assert_uint_le(test.n_answered, 11);
	triad_port_test_near(&test, 15, now_us);
	/* The name is known already. */
	ck_assert_int_eq(request(), TRIAD_TEST_ADMIT);
	look(active());
	ck_assert_int_eq(request(), TRIAD_TEST_READ_FAR);
	triad_port_test_far(&test, 3, now_us);
	ck_assert_int_eq(request(), TRIAD_TEST_SEND_PING);
	triad_port_test_pong(&test, true, now_us);
	ck_assert_int_eq(next_request(), TRIAD_TEST_READ_FAR);
	triad_port_test_far(&test, 8, now_us);
	check_state(TRIAD_TEST_PASSED, TRIAD_TEST_ADMISSION);
	check_text("4x EDR", "host-0001");
	ck_assert_int_eq(request(), TRIAD_TEST_WAIT);
}
END_TEST

START_TEST(test_port_passed_changes_no_more)
{
	struct triad_port_test before;

	begin_admission();
	test.expected.ping = false;
	triad_port_test_far(&test, 0, now_us);
	ck_assert_int_eq(next_request(), TRIAD_TEST_READ_FAR);
	triad_port_test_far(&test, 0, now_us);
	check_state(TRIAD_TEST_PASSED, TRIAD_TEST_ADMISSION);
	before = test;
	look((struct triad_test_seen){.is_linked = false});
	triad_port_test_smp(&test, NULL, now_us);
	now_us += usual.timeout_us;
	ck_assert_int_eq(request(), TRIAD_TEST_WAIT);
	ck_assert(!memcmp(&before, &test, sizeof(test)));
}
END_TEST

/* --- presence --- */

/* Row: E10 */
START_TEST(test_presence_link_down_or_slower_waits_until_timer)
{
	struct triad_test_seen seen = as_expected;

	begin();
	look((struct triad_test_seen){.is_linked = false});
	check_text("down", "");
	seen.speed = 4;
	look(seen);
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_PRESENCE);
	check_text("4x FDR", "expected is 4x EDR");
	now_us = BEGIN_US + usual.timeout_us - 1;
	ck_assert_int_eq(request(), TRIAD_TEST_WAIT);
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_PRESENCE);
	now_us++;
	triad_port_test_request(&test, now_us, &(uint64_t){0});
	check_state(TRIAD_TEST_FAILED, TRIAD_TEST_PRESENCE);
	ck_assert(test.is_timed_out);
	check_text("presence: no result within 60.0 s", "expected is 4x EDR");
}
END_TEST

START_TEST(test_presence_look_after_time_is_up_fails)
{
	begin();
	now_us = BEGIN_US + usual.timeout_us;
	look(active());
	check_state(TRIAD_TEST_FAILED, TRIAD_TEST_PRESENCE);
}
END_TEST

START_TEST(test_presence_width_of_any_kind_is_not_compared)
{
	struct triad_test_seen seen = as_expected;
	struct triad_test_expected any = {.width = 0};

	seen.width = 1;
	begin_with(&any);
	look(seen);
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_QUALITY);
}
END_TEST

/* --- miswire --- */

/* Row: E10 */
START_TEST(test_miswire_fails_at_once)
{
	struct triad_test_seen seen = as_expected;

	begin();
	seen.is_miswired = true;
	seen.why = "spine-02 is there, expected is host-0001";
	look(seen);
	check_state(TRIAD_TEST_FAILED, TRIAD_TEST_MISWIRE);
	ck_assert(!test.is_timed_out);
	check_text("miswire: spine-02", "host-0001");
}
END_TEST

START_TEST(test_miswire_of_name_alone_waits_for_it)
{
	struct triad_test_seen seen = as_expected;

	begin();
	seen.is_miswired = seen.is_only_name = true;
	seen.why = "MT4119 is there, expected is host-0001";
	look(seen);
	ck_assert_int_eq(request(), TRIAD_TEST_WAIT);
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_MISWIRE);
	look(as_expected);
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_QUALITY);
	/* The name differs again. */
	look(seen);
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_MISWIRE);
	now_us = BEGIN_US + usual.timeout_us;
	look(seen);
	check_state(TRIAD_TEST_FAILED, TRIAD_TEST_MISWIRE);
	check_text("no result within", "MT4119");
}
END_TEST

/* --- tests that begin anew --- */

START_TEST(test_link_gone_in_quality_begins_anew_timer_goes_on)
{
	begin();
	begin_quality();
	ck_assert_int_eq(request(), TRIAD_TEST_SEND_SMP);
	now_us += 1000;
	look((struct triad_test_seen){.is_linked = false});
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_PRESENCE);
	look(as_expected);
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_QUALITY);
	/* An answer to an SMP sent before the link went down doesn't count. */
	ck_assert_int_eq(request(), TRIAD_TEST_WAIT);
	triad_port_test_smp(&test, NULL, now_us);
	ck_assert_uint_eq(test.n_lost, 0);
	ck_assert_int_eq(request(), TRIAD_TEST_READ_NEAR);
	ck_assert_uint_eq(test.n_restarts, 1);
	now_us = BEGIN_US + usual.timeout_us;
	triad_port_test_near(&test, 0, now_us);
	check_state(TRIAD_TEST_FAILED, TRIAD_TEST_QUALITY);
	check_text("began anew 1 times", "no result");
}
END_TEST

START_TEST(test_far_end_changed_begins_anew)
{
	struct triad_test_seen other = active();

	begin();
	pass_quality("MT4119");
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_APPLICATION);
	ck_assert_int_eq(request(), TRIAD_TEST_SEND_SMP);
	triad_port_test_smp(&test, "host-0001", now_us);
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_ADMISSION);
	other.remote_guid = 8;
	look(other);
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_QUALITY);
	ck_assert_str_eq(test.name, "");
	ck_assert_uint_eq(test.n_restarts, 1);
}
END_TEST

/* --- quality --- */

START_TEST(test_quality_more_lost_than_allowed_fails)
{
	begin();
	begin_quality();
	for (int i = 0; i < 2; i++) {
		check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_QUALITY);
		ck_assert_int_eq(next_request(), TRIAD_TEST_SEND_SMP);
		ck_assert_int_eq(request(), TRIAD_TEST_WAIT);
		triad_port_test_smp(&test, NULL, now_us);
	}
	check_state(TRIAD_TEST_FAILED, TRIAD_TEST_QUALITY);
	check_text("2 of 2 SMPs", "at most 1");
}
END_TEST

START_TEST(test_quality_link_changed_fails)
{
	struct triad_test_seen seen = as_expected;

	begin();
	begin_quality();
	look(as_expected);
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_QUALITY);
	if (_i == 0)
		seen.width = 1;
	else if (_i == 1)
		seen.speed = 4;
	else
		seen.is_active = true;
	look(seen);
	check_state(TRIAD_TEST_FAILED, TRIAD_TEST_QUALITY);
	check_text("4x EDR and not active", "is now");
}
END_TEST

/* The near end's counters before and after, and the result. */
static const struct {
	uint64_t before, after;
	bool is_good;
	const char *text;
} counted[] = {
	{10, 15, true, "SMP"},
	{10, 16, false, "near end counted 6 errors, at most 5"},
	{10, 5, true, "SMP"}, /* another tool reset the counters */
	{10, 6, false, "counted 6 errors"},
};

START_TEST(test_quality_near_counters_are_compared)
{
	begin();
	look(as_expected);
	ck_assert_int_eq(request(), TRIAD_TEST_READ_NEAR);
	triad_port_test_near(&test, counted[_i].before, now_us);
	ck_assert_int_eq(answer_smps("host-0001"), TRIAD_TEST_READ_NEAR);
	triad_port_test_near(&test, counted[_i].after, now_us);
	if (counted[_i].is_good) {
		check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_ADMISSION);
		return;
	}
	check_state(TRIAD_TEST_FAILED, TRIAD_TEST_QUALITY);
	check_text(counted[_i].text, "quality: ");
}
END_TEST

/* Counters that can't be read, at first or in the end, are read again. */
START_TEST(test_quality_counters_not_read_are_read_again)
{
	begin();
	look(as_expected);
	ck_assert_int_eq(request(), TRIAD_TEST_READ_NEAR);
	if (_i) {
		triad_port_test_near(&test, 10, now_us);
		ck_assert_int_eq(answer_smps("host-0001"), TRIAD_TEST_READ_NEAR);
	}
	triad_port_test_near(&test, UINT64_MAX, now_us);
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_QUALITY);
	ck_assert_int_eq(request(), TRIAD_TEST_WAIT);
	ck_assert_int_eq(next_request(), TRIAD_TEST_READ_NEAR);
	triad_port_test_near(&test, 12, now_us);
	check_state(TRIAD_TEST_RUNNING, _i ? TRIAD_TEST_ADMISSION : TRIAD_TEST_QUALITY);
}
END_TEST

START_TEST(test_quality_counters_never_read_fail_by_the_timer)
{
	begin();
	look(as_expected);
	for (; test.state == TRIAD_TEST_RUNNING; now_us += TRIAD_US_PER_S / 4)
		if (request() == TRIAD_TEST_READ_NEAR)
			triad_port_test_near(&test, UINT64_MAX, now_us);
	ck_assert_uint_ge(now_us, BEGIN_US + usual.timeout_us);
	check_state(TRIAD_TEST_FAILED, TRIAD_TEST_QUALITY);
	check_text("near", "could not be read");
	ck_assert(test.is_not_known);
}
END_TEST

START_TEST(test_quality_smp_of_unknown_result_counts_neither_way)
{
	begin();
	begin_quality();
	ck_assert_int_eq(request(), TRIAD_TEST_SEND_SMP);
	triad_port_test_unknown(&test, now_us);
	ck_assert_int_eq(request(), TRIAD_TEST_WAIT);
	ck_assert_int_eq(next_request(), TRIAD_TEST_SEND_SMP);
	triad_port_test_smp(&test, "host-0001", now_us);
	ck_assert_uint_eq(test.n_sent, 1);
	ck_assert_uint_eq(test.n_lost, 0);
}
END_TEST

START_TEST(test_quality_of_no_time_sends_one_smp)
{
	struct triad_test_conf conf = usual;

	conf.quality_us = 0;
	now_us = BEGIN_US;
	triad_port_test_begin(&test, &conf, &wanted, now_us);
	begin_quality();
	ck_assert_int_eq(request(), TRIAD_TEST_SEND_SMP);
	triad_port_test_smp(&test, "host-0001", now_us);
	ck_assert_int_eq(request(), TRIAD_TEST_READ_NEAR);
}
END_TEST

START_TEST(test_quality_answer_not_asked_for_does_not_count)
{
	begin();
	begin_quality();
	triad_port_test_smp(&test, NULL, now_us);
	triad_port_test_smp(&test, NULL, now_us);
	triad_port_test_far(&test, UINT64_MAX, now_us);
	triad_port_test_near(&test, UINT64_MAX, now_us);
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_QUALITY);
	ck_assert_uint_eq(test.n_lost, 0);
}
END_TEST

/* --- application --- */

START_TEST(test_application_asks_each_second_until_name_fits)
{
	begin();
	pass_quality("");
	ck_assert_int_eq(request(), TRIAD_TEST_SEND_SMP);
	triad_port_test_smp(&test, "MT4119\n", now_us);
	check_text("\"MT4119?\"", "expected is host-*");
	ck_assert_int_eq(request(), TRIAD_TEST_WAIT);
	now_us += TRIAD_US_PER_S;
	ck_assert_int_eq(request(), TRIAD_TEST_SEND_SMP);
	triad_port_test_smp(&test, NULL, now_us);
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_APPLICATION);
	ck_assert_int_eq(next_request(), TRIAD_TEST_SEND_SMP);
	triad_port_test_smp(&test, "host-0001", now_us);
	check_state(TRIAD_TEST_RUNNING, TRIAD_TEST_ADMISSION);
}
END_TEST

/* Row: E10 */
START_TEST(test_application_name_never_comes_fails_by_timer)
{
	begin();
	pass_quality("");
	while (test.state == TRIAD_TEST_RUNNING) {
		uint64_t until_us;

		if (triad_port_test_request(&test, now_us, &until_us) !=
			TRIAD_TEST_WAIT)
			triad_port_test_smp(&test, "hos", now_us);
		now_us += 100000;
	}
	check_state(TRIAD_TEST_FAILED, TRIAD_TEST_APPLICATION);
	check_text("application: no result within 60.0 s", "\"hos\"");
}
END_TEST

static const struct {
	const char *pattern, *name;
	bool fits;
} names[] = {
	{"host-?*", "host-1", true},
	{"host-?*", "host-", false},
	{"*a*b", "xaabb", true},
	{"*a*b", "xaabbc", false},
	{"**", "x", true},
	{"[h]", "h", false},
	{"host", "hosts", false},
	{"Host", "host", false},
};

START_TEST(test_application_pattern_fits_as_it_should)
{
	struct triad_test_expected other = {.name = ""};

	snprintf(other.name, sizeof(other.name), "%s", names[_i].pattern);
	begin_with(&other);
	pass_quality("");
	ck_assert_int_eq(request(), TRIAD_TEST_SEND_SMP);
	triad_port_test_smp(&test, names[_i].name, now_us);
	ck_assert_int_eq(test.step == TRIAD_TEST_ADMISSION, names[_i].fits);
}
END_TEST

/* --- admission --- */

START_TEST(test_admission_ping_unanswered_is_sent_again)
{
	begin_admission();
	triad_port_test_far(&test, 0, now_us);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(request(), TRIAD_TEST_SEND_PING);
		triad_port_test_pong(&test, false, now_us);
		check_text("no answer to a ping", "ibping");
		ck_assert_int_eq(request(), TRIAD_TEST_WAIT);
		now_us += TRIAD_US_PER_S;
	}
	now_us = BEGIN_US + usual.timeout_us;
	triad_port_test_request(&test, now_us, &(uint64_t){0});
	check_state(TRIAD_TEST_FAILED, TRIAD_TEST_ADMISSION);
	check_text("admission: no result", "no answer to a ping");
}
END_TEST

START_TEST(test_admission_without_ping_compares_far_counters)
{
	begin_admission();
	test.expected.ping = false;
	triad_port_test_far(&test, counted[_i].before, now_us);
	ck_assert_int_eq(request(), TRIAD_TEST_WAIT);
	ck_assert_int_eq(next_request(), TRIAD_TEST_READ_FAR);
	triad_port_test_far(&test, counted[_i].after, now_us);
	check_state(counted[_i].is_good ? TRIAD_TEST_PASSED : TRIAD_TEST_FAILED,
		TRIAD_TEST_ADMISSION);
	if (!counted[_i].is_good)
		check_text("admission: ", "far end");
}
END_TEST

START_TEST(test_admission_port_no_longer_active_is_admitted_again)
{
	begin_admission();
	triad_port_test_far(&test, 0, now_us);
	look(as_expected);
	ck_assert_int_eq(request(), TRIAD_TEST_ADMIT);
	look(active());
	ck_assert_int_eq(request(), TRIAD_TEST_SEND_PING);
}
END_TEST

/* --- all together --- */

static uint64_t state;

static uint64_t pick(uint64_t n)
{
	return random_next(&state) % n;
}

static void look_at_random(void)
{
	look((struct triad_test_seen){.is_linked = pick(20),
		.is_active = test.step == TRIAD_TEST_ADMISSION && pick(4),
		.width = pick(30) ? 2 : 1,
		.speed = 5,
		.is_miswired = !pick(30),
		.is_only_name = pick(3),
		.remote_guid = pick(40) ? 7 : 8});
}

static void answer_at_random(enum triad_test_request what)
{
	uint64_t n_errors = pick(40) ? pick(8) : UINT64_MAX;

	if (what == TRIAD_TEST_SEND_SMP)
		triad_port_test_smp(&test,
			pick(20)          ? "host-0001"
				: pick(2) ? "MT4119"
					  : NULL,
			now_us);
	if (what == TRIAD_TEST_READ_NEAR)
		triad_port_test_near(&test, n_errors, now_us);
	if (what == TRIAD_TEST_READ_FAR)
		triad_port_test_far(&test, n_errors, now_us);
	if (what == TRIAD_TEST_SEND_PING)
		triad_port_test_pong(&test, pick(2), now_us);
}

/* The test has at most one request open at a time, and ends in time and with a
 * reason. */
static bool run_at_random(void)
{
	enum triad_test_request awaited = TRIAD_TEST_WAIT, what;

	begin();
	while (test.state == TRIAD_TEST_RUNNING) {
		what = triad_port_test_request(&test, now_us, &(uint64_t){0});
		ck_assert(what == TRIAD_TEST_WAIT || awaited == TRIAD_TEST_WAIT);
		if (what != TRIAD_TEST_WAIT && what != TRIAD_TEST_ADMIT)
			awaited = what;
		if (pick(8) == 0)
			look_at_random();
		if (awaited != TRIAD_TEST_WAIT && pick(2)) {
			answer_at_random(awaited);
			awaited = TRIAD_TEST_WAIT;
		}
		ck_assert_uint_le(now_us, BEGIN_US + usual.timeout_us);
		now_us += pick(20000);
		if (now_us > BEGIN_US + usual.timeout_us)
			now_us = BEGIN_US + usual.timeout_us;
	}
	ck_assert_uint_gt(strlen(test.text), 0);
	return test.state == TRIAD_TEST_PASSED;
}

START_TEST(test_port_with_random_facts_ends_with_reason)
{
	const char *text = getenv("TRIAD_SEED");
	unsigned n_passed = 0;

	state = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
	printf("# TRIAD_SEED=%llu\n", (unsigned long long)state);
	fflush(stdout);
	for (int i = 0; i < 2000; i++)
		n_passed += run_at_random();
	ck_assert_uint_gt(n_passed, 20);
	ck_assert_uint_lt(n_passed, 1980);
}
END_TEST

static void add_quality_and_application(TCase *cases)
{
	tcase_add_test(cases, test_quality_more_lost_than_allowed_fails);
	tcase_add_loop_test(cases, test_quality_link_changed_fails, 0, 3);
	tcase_add_loop_test(cases, test_quality_near_counters_are_compared, 0,
		sizeof(counted) / sizeof(*counted));
	tcase_add_loop_test(cases, test_quality_counters_not_read_are_read_again, 0, 2);
	tcase_add_test(cases, test_quality_counters_never_read_fail_by_the_timer);
	tcase_add_test(cases, test_quality_smp_of_unknown_result_counts_neither_way);
	tcase_add_test(cases, test_quality_of_no_time_sends_one_smp);
	tcase_add_test(cases, test_quality_answer_not_asked_for_does_not_count);
	tcase_add_test(cases, test_application_asks_each_second_until_name_fits);
	tcase_add_test(cases, test_application_name_never_comes_fails_by_timer);
	tcase_add_loop_test(cases, test_application_pattern_fits_as_it_should, 0,
		sizeof(names) / sizeof(*names));
}

int main(void)
{
	TCase *cases = tcase_create("port_test");

	tcase_add_test(cases, test_port_good_in_all_steps_passes);
	tcase_add_test(cases, test_port_passed_changes_no_more);
	tcase_add_test(cases, test_presence_link_down_or_slower_waits_until_timer);
	tcase_add_test(cases, test_presence_look_after_time_is_up_fails);
	tcase_add_test(cases, test_presence_width_of_any_kind_is_not_compared);
	tcase_add_test(cases, test_miswire_fails_at_once);
	tcase_add_test(cases, test_miswire_of_name_alone_waits_for_it);
	tcase_add_test(cases, test_link_gone_in_quality_begins_anew_timer_goes_on);
	tcase_add_test(cases, test_far_end_changed_begins_anew);
	add_quality_and_application(cases);
	tcase_add_test(cases, test_admission_ping_unanswered_is_sent_again);
	tcase_add_loop_test(cases, test_admission_without_ping_compares_far_counters, 0,
		sizeof(counted) / sizeof(*counted));
	tcase_add_test(cases, test_admission_port_no_longer_active_is_admitted_again);
	tcase_add_test(cases, test_port_with_random_facts_ends_with_reason);
	return run_cases(cases);
}
