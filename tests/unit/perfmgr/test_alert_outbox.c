/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/alert_outbox.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/random.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

#define S TRIAD_US_PER_S
#define BEGIN (1000 * S)
#define REPEAT (60 * S)
#define WALL (INT64_C(1700000000) * (int64_t)S) /* wall clock minus monotonic one */
#define ROOM 64u

static struct triad_alert_outbox *outbox;
static struct triad_outgoing_alert batch[ROOM];

static void set_up(void)
{
	outbox = triad_alert_outbox_new();
	ck_assert_ptr_nonnull(outbox);
	triad_alert_outbox_begin(outbox, REPEAT);
}

static void tear_down(void)
{
	triad_alert_outbox_free(outbox);
}

/* An alert about errors at a switch's port, raised at BEGIN. */
static struct triad_alert make_alert(uint64_t id)
{
	struct triad_alert alert = {
		.id = id,
		.state = TRIAD_ALERT_ACTIVE,
		.n_ends = 1,
		.n_findings = 1,
		.raised_us = BEGIN,
		.ends = {{.node_guid = id,
			.node_type = TRIAD_NODE_SWITCH,
			.port = 1,
			.node_name = "leaf"}},
		.findings = {{.cause = TRIAD_SYMBOL_ERROR_COUNTER, .since_us = BEGIN}},
	};

	return alert;
}

static void take(enum triad_alert_change change, const struct triad_alert *alert)
{
	triad_alert_outbox_add(outbox, change, alert, BEGIN, WALL);
}

static void raise_alert(uint64_t id)
{
	struct triad_alert alert = make_alert(id);

	take(TRIAD_ALERT_RAISED, &alert);
}

static void clear_alert(uint64_t id, uint64_t now_us)
{
	struct triad_alert alert = make_alert(id);

	alert.state = TRIAD_ALERT_CLEARED;
	alert.cleared_us = now_us;
	take(TRIAD_ALERT_ENDED, &alert);
}

static size_t send_batch(enum triad_outbox_outcome outcome, uint64_t now_us)
{
	size_t n = triad_alert_outbox_batch(outbox, now_us, batch, ROOM);

	triad_alert_outbox_done(outbox, outcome, now_us);
	return n;
}

static uint64_t due(void)
{
	return triad_alert_outbox_due_us(outbox);
}

static uint64_t wall(uint64_t at_us)
{
	return at_us + (uint64_t)WALL;
}

START_TEST(test_alert_reported_at_once_and_each_repeat)
{
	raise_alert(1);
	ck_assert_uint_le(due(), BEGIN);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN), 1);
	ck_assert_uint_eq(batch[0].began_wall_us, wall(BEGIN));
	ck_assert_uint_eq(batch[0].ended_wall_us, 0);
	ck_assert_uint_eq(due(), BEGIN + REPEAT);
	ck_assert_uint_eq(
		triad_alert_outbox_batch(outbox, BEGIN + REPEAT - 1, batch, ROOM), 0);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + REPEAT), 1);
	ck_assert_uint_eq(triad_alert_outbox_status(outbox).n_taken, 2);
}
END_TEST

START_TEST(test_end_reported_once_with_its_time)
{
	raise_alert(1);
	send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN);
	clear_alert(1, BEGIN + 5 * S);
	ck_assert_uint_le(due(), BEGIN + 5 * S);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + 6 * S), 1);
	ck_assert_uint_eq(batch[0].ended_wall_us, wall(BEGIN + 5 * S));
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + 2 * REPEAT), 0);
	ck_assert_uint_eq(triad_alert_outbox_status(outbox).n_active, 0);
}
END_TEST

START_TEST(test_without_alerts_an_empty_batch_each_repeat)
{
	ck_assert_uint_le(due(), BEGIN);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN), 0);
	ck_assert_uint_eq(due(), BEGIN + REPEAT);
}
END_TEST

/* The receiver may have lost its state.  Alerts that ended meanwhile must not stay
 * active there. */
START_TEST(test_after_failures_all_is_reported_again)
{
	raise_alert(1);
	raise_alert(2);
	send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN);
	clear_alert(2, BEGIN + S);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_FAILED, BEGIN + S), 1);
	raise_alert(3);
	ck_assert_uint_eq(triad_alert_outbox_status(outbox).n_waiting, 3);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + 2 * S), 3);
	ck_assert_uint_eq(batch[0].ended_wall_us, 0);
	ck_assert_uint_eq(batch[1].ended_wall_us, wall(BEGIN + S));
	ck_assert_uint_eq(batch[2].alert.id, 3);
	ck_assert_uint_eq(due(), BEGIN + 2 * S + REPEAT);
}
END_TEST

START_TEST(test_pauses_after_failures_double_up_to_a_minute)
{
	static const uint64_t pauses_s[] = {1, 2, 4, 8, 16, 32, 60, 60};
	uint64_t now_us = BEGIN;

	raise_alert(1);
	for (unsigned i = 0; i < sizeof(pauses_s) / sizeof(*pauses_s); i++) {
		ck_assert_uint_ge(send_batch(TRIAD_OUTBOX_FAILED, now_us), 1);
		/* A new alert doesn't shorten the pause. */
		raise_alert(2 + i);
		ck_assert_uint_eq(due(), now_us + pauses_s[i] * S);
		ck_assert_uint_eq(
			triad_alert_outbox_batch(outbox, due() - 1, batch, ROOM), 0);
		now_us = due();
	}
}
END_TEST

START_TEST(test_success_ends_the_pauses)
{
	raise_alert(1);
	for (unsigned i = 0; i < 5; i++)
		send_batch(TRIAD_OUTBOX_FAILED, BEGIN + i * 100 * S);
	send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + 600 * S);
	raise_alert(2);
	send_batch(TRIAD_OUTBOX_FAILED, BEGIN + 601 * S);
	ck_assert_uint_eq(due(), BEGIN + 602 * S);
}
END_TEST

/* A message that the receiver refuses must not block all others for ever. */
START_TEST(test_refused_end_is_given_up_and_active_waits)
{
	raise_alert(1);
	raise_alert(2);
	clear_alert(1, BEGIN);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_REFUSED, BEGIN), 2);
	ck_assert_uint_eq(due(), BEGIN + REPEAT);
	ck_assert_uint_eq(triad_alert_outbox_status(outbox).n_refused, 2);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + REPEAT), 1);
	ck_assert_uint_eq(batch[0].alert.id, 2);
}
END_TEST

START_TEST(test_change_while_a_batch_is_sent_is_reported_afterwards)
{
	raise_alert(1);
	ck_assert_uint_eq(triad_alert_outbox_batch(outbox, BEGIN, batch, ROOM), 1);
	clear_alert(1, BEGIN + S);
	triad_alert_outbox_done(outbox, TRIAD_OUTBOX_ACCEPTED, BEGIN + S);
	ck_assert_uint_le(due(), BEGIN + S);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + S), 1);
	ck_assert_uint_ne(batch[0].ended_wall_us, 0);
}
END_TEST

/* Another finding, at the other end, is first now.  The receiver must still recognize
 * the alert. */
START_TEST(test_joined_finding_changes_no_identity)
{
	struct triad_alert alert = make_alert(1);

	take(TRIAD_ALERT_RAISED, &alert);
	send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN);
	alert.findings[0].cause = TRIAD_ALERT_LINK_DOWN;
	alert.ends[0].node_guid = 77;
	alert.n_findings = 2;
	take(TRIAD_ALERT_JOINED, &alert);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + S), 1);
	ck_assert_uint_eq(batch[0].ends[0].node_guid, 1);
	ck_assert_uint_eq(batch[0].cause, TRIAD_SYMBOL_ERROR_COUNTER);
	ck_assert_int_eq(batch[0].kind, TRIAD_ALERT_KIND_COUNTER);
	ck_assert_uint_eq(batch[0].began_wall_us, wall(BEGIN));
	ck_assert_uint_eq(batch[0].alert.n_findings, 2);
}
END_TEST

START_TEST(test_worse_severity_ends_one_and_begins_another)
{
	struct triad_alert alert = make_alert(1);

	take(TRIAD_ALERT_RAISED, &alert);
	send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN);
	alert.findings[0].cause = TRIAD_ALERT_NODE_GONE;
	alert.findings[0].since_us = BEGIN + 3 * S;
	take(TRIAD_ALERT_JOINED, &alert);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + 4 * S), 2);
	ck_assert_int_eq(batch[0].severity, TRIAD_WARNING);
	ck_assert_uint_eq(batch[0].ended_wall_us, wall(BEGIN + 3 * S));
	ck_assert_int_eq(batch[1].severity, TRIAD_CRITICAL);
	ck_assert_uint_eq(batch[1].ended_wall_us, 0);
	ck_assert_uint_eq(batch[1].began_wall_us, wall(BEGIN + 3 * S));
	alert.cleared_us = BEGIN + 9 * S;
	take(TRIAD_ALERT_ENDED, &alert);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + 9 * S), 1);
	ck_assert_int_eq(batch[0].severity, TRIAD_CRITICAL);
	ck_assert_uint_eq(batch[0].ended_wall_us, wall(BEGIN + 9 * S));
}
END_TEST

START_TEST(test_wall_clock_set_back_ends_after_begin)
{
	struct triad_alert alert = make_alert(1);

	take(TRIAD_ALERT_RAISED, &alert);
	alert.cleared_us = BEGIN + S;
	triad_alert_outbox_add(
		outbox, TRIAD_ALERT_ENDED, &alert, BEGIN, WALL - 3600 * (int64_t)S);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + S), 1);
	ck_assert_uint_gt(batch[0].ended_wall_us, batch[0].began_wall_us);
}
END_TEST

/* While reports are off, the outbox keeps only active alerts, to report them later. */
START_TEST(test_paused_remembers_active_alone)
{
	raise_alert(1);
	raise_alert(2);
	send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN);
	clear_alert(2, BEGIN + S);
	triad_alert_outbox_stop(outbox);
	triad_alert_outbox_begin(outbox, REPEAT);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + S), 1);
	ck_assert_uint_eq(batch[0].alert.id, 1);
	triad_alert_outbox_stop(outbox);
	ck_assert_uint_eq(due(), UINT64_MAX);
	clear_alert(1, BEGIN + S);
	raise_alert(3);
	ck_assert_uint_eq(triad_alert_outbox_batch(outbox, BEGIN + S, batch, ROOM), 0);
	triad_alert_outbox_begin(outbox, REPEAT);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + 2 * S), 1);
	ck_assert_uint_eq(batch[0].alert.id, 3);
}
END_TEST

START_TEST(test_more_than_a_batch_goes_in_several)
{
	for (uint64_t id = 1; id <= ROOM + 3; id++)
		raise_alert(id);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN), ROOM);
	ck_assert_uint_eq(batch[0].alert.id, 1);
	ck_assert_uint_le(due(), BEGIN);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN), 3);
	ck_assert_uint_eq(batch[2].alert.id, ROOM + 3);
}
END_TEST

/* A full outbox drops an ended alert for a new one, but never an active alert. */
START_TEST(test_too_many_are_counted)
{
	for (uint64_t id = 1; id <= TRIAD_ALERT_OUTBOX_MAX; id++)
		raise_alert(id);
	ck_assert_uint_eq(triad_alert_outbox_status(outbox).n_dropped, 0);
	raise_alert(TRIAD_ALERT_OUTBOX_MAX + 1);
	ck_assert_uint_eq(triad_alert_outbox_status(outbox).n_dropped, 1);
	ck_assert_uint_eq(
		triad_alert_outbox_status(outbox).n_active, TRIAD_ALERT_OUTBOX_MAX);
	clear_alert(7, BEGIN + S);
	raise_alert(TRIAD_ALERT_OUTBOX_MAX + 2);
	ck_assert_uint_eq(triad_alert_outbox_status(outbox).n_dropped, 2);
	ck_assert_uint_eq(
		triad_alert_outbox_status(outbox).n_active, TRIAD_ALERT_OUTBOX_MAX);
}
END_TEST

/* The receiver keeps the last state of each alert.  It sometimes fails, perhaps after
 * it took a batch, or loses all state.  In the end it has exactly the active alerts. */
START_TEST(test_random_faults_leave_the_receiver_right)
{
	bool active[40] = {false}, known[40] = {false};
	uint64_t now_us = BEGIN, ids[40] = {0}, id = 0;
	uint64_t seed = triad_clock_now_us(), random = seed;

	printf("# seed %" PRIu64 "\n", seed);
	for (unsigned step = 0; step < 20000; step++) {
		unsigned place = random_below(&random, 40);
		bool is_end = step > 19000;
		bool fails = !is_end && !random_below(&random, 3);
		bool gets_it = !fails || random_below(&random, 2);
		size_t n;

		now_us += random_below(&random, 20) * S;
		if (!is_end && active[place])
			clear_alert(ids[place], now_us);
		else if (!is_end)
			raise_alert(ids[place] = ++id);
		active[place] ^= !is_end;
		n = triad_alert_outbox_batch(outbox, now_us, batch, 8);
		if (now_us < due() && !n)
			continue;
		for (size_t i = 0; gets_it && i < n; i++)
			for (unsigned k = 0; k < 40; k++)
				if (ids[k] == batch[i].alert.id)
					known[k] = !batch[i].ended_wall_us;
		if (fails && !random_below(&random, 4))
			memset(known, 0, sizeof(known));
		triad_alert_outbox_done(outbox,
			fails ? TRIAD_OUTBOX_FAILED : TRIAD_OUTBOX_ACCEPTED, now_us);
	}
	for (unsigned k = 0; k < 40; k++)
		ck_assert_msg(
			active[k] == known[k], "place %u, seed %" PRIu64, k, seed);
}
END_TEST

START_TEST(test_outcome_by_status)
{
	ck_assert_int_eq(triad_outbox_outcome(200), TRIAD_OUTBOX_ACCEPTED);
	ck_assert_int_eq(triad_outbox_outcome(204), TRIAD_OUTBOX_ACCEPTED);
	ck_assert_int_eq(triad_outbox_outcome(400), TRIAD_OUTBOX_REFUSED);
	ck_assert_int_eq(triad_outbox_outcome(0), TRIAD_OUTBOX_FAILED);
	ck_assert_int_eq(triad_outbox_outcome(301), TRIAD_OUTBOX_FAILED);
	ck_assert_int_eq(triad_outbox_outcome(401), TRIAD_OUTBOX_FAILED);
	ck_assert_int_eq(triad_outbox_outcome(503), TRIAD_OUTBOX_FAILED);
}
END_TEST

START_TEST(test_silenced_alert_is_over_until_it_is_not_silenced)
{
	struct triad_alert alert = make_alert(1);

	take(TRIAD_ALERT_RAISED, &alert);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN), 1);
	alert.silence = 7;
	triad_alert_outbox_add(
		outbox, TRIAD_ALERT_SILENCED, &alert, BEGIN + 5 * S, WALL);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + 5 * S), 1);
	ck_assert_uint_eq(batch[0].ended_wall_us, wall(BEGIN + 5 * S));
	take(TRIAD_ALERT_JOINED, &alert);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + 6 * S), 0);
	alert.silence = 0;
	triad_alert_outbox_add(
		outbox, TRIAD_ALERT_UNSILENCED, &alert, BEGIN + 9 * S, WALL);
	ck_assert_uint_eq(send_batch(TRIAD_OUTBOX_ACCEPTED, BEGIN + 9 * S), 1);
	ck_assert_uint_eq(batch[0].ended_wall_us, 0);
	ck_assert_uint_eq(batch[0].began_wall_us, wall(BEGIN + 9 * S));
}
END_TEST

START_TEST(test_alert_that_is_raised_silenced_is_not_reported)
{
	struct triad_alert alert = make_alert(1);

	alert.silence = 7;
	take(TRIAD_ALERT_RAISED, &alert);
	clear_alert(1, BEGIN + S);
	ck_assert_uint_eq(triad_alert_outbox_status(outbox).n_waiting, 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("alert_outbox");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_alert_reported_at_once_and_each_repeat);
	tcase_add_test(cases, test_end_reported_once_with_its_time);
	tcase_add_test(cases, test_without_alerts_an_empty_batch_each_repeat);
	tcase_add_test(cases, test_after_failures_all_is_reported_again);
	tcase_add_test(cases, test_pauses_after_failures_double_up_to_a_minute);
	tcase_add_test(cases, test_success_ends_the_pauses);
	tcase_add_test(cases, test_refused_end_is_given_up_and_active_waits);
	tcase_add_test(cases, test_change_while_a_batch_is_sent_is_reported_afterwards);
	tcase_add_test(cases, test_joined_finding_changes_no_identity);
	tcase_add_test(cases, test_worse_severity_ends_one_and_begins_another);
	tcase_add_test(cases, test_wall_clock_set_back_ends_after_begin);
	tcase_add_test(cases, test_paused_remembers_active_alone);
	tcase_add_test(cases, test_more_than_a_batch_goes_in_several);
	tcase_add_test(cases, test_too_many_are_counted);
	tcase_add_test(cases, test_random_faults_leave_the_receiver_right);
	tcase_add_test(cases, test_outcome_by_status);
	tcase_add_test(cases, test_silenced_alert_is_over_until_it_is_not_silenced);
	tcase_add_test(cases, test_alert_that_is_raised_silenced_is_not_reported);
	return run_cases(cases);
}
