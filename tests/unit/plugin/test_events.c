/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The ring between OpenSM's report() and the worker. */
#include "plugin/events.h"

#include "tests/unit/run.h"

static struct triad_events *events;

static void set_up(void)
{
	events = triad_events_new();
}

static void tear_down(void)
{
	triad_events_free(events);
}

static void check_next(enum triad_event_kind kind, uint64_t at_us)
{
	struct triad_event event;

	ck_assert(triad_events_take(events, 0, &event));
	ck_assert_uint_eq(event.kind, kind);
	ck_assert_uint_eq(event.at_us, at_us);
}

static void check_empty(void)
{
	struct triad_event event;

	ck_assert(!triad_events_take(events, 0, &event));
}

START_TEST(test_take_oldest_first)
{
	triad_events_put(events, TRIAD_EVENT_SWEEP_START, 1);
	triad_events_put(events, TRIAD_EVENT_ROUTING_DONE, 2);
	triad_events_put(events, TRIAD_EVENT_SUBNET_UP, 3);
	check_next(TRIAD_EVENT_SWEEP_START, 1);
	check_next(TRIAD_EVENT_ROUTING_DONE, 2);
	check_next(TRIAD_EVENT_SUBNET_UP, 3);
	check_empty();
}
END_TEST

/* There is a trap for each of many new ports, then an event of another kind, which must
 * not be lost. */
START_TEST(test_many_of_a_kind_next_kind_kept)
{
	triad_events_put(events, TRIAD_EVENT_SWEEP_DONE, 1);
	for (uint64_t i = 2; i <= 10000; i++)
		triad_events_put(events, TRIAD_EVENT_TRAP, i);
	triad_events_put(events, TRIAD_EVENT_SUBNET_UP, 10001);
	check_next(TRIAD_EVENT_SWEEP_DONE, 1);
	check_next(TRIAD_EVENT_TRAP, 10000);
	check_next(TRIAD_EVENT_SUBNET_UP, 10001);
	check_empty();
	ck_assert_uint_eq(triad_events_counts(events).dropped, 0);
	ck_assert_uint_eq(triad_events_counts(events).reported[TRIAD_EVENT_TRAP], 9999);
}
END_TEST

START_TEST(test_ring_full_dropped_and_counted)
{
	for (unsigned i = 0; i < 1000; i++)
		triad_events_put(
			events, i % 2 ? TRIAD_EVENT_TRAP : TRIAD_EVENT_STATE_CHANGE, i);
	check_next(TRIAD_EVENT_STATE_CHANGE, 0);
	ck_assert_uint_gt(triad_events_counts(events).dropped, 0);
}
END_TEST

START_TEST(test_stopped_nothing_taken)
{
	triad_events_put(events, TRIAD_EVENT_TRAP, 1);
	triad_events_stop(events);
	check_empty();
	ck_assert(triad_events_are_stopped(events));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("events");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_take_oldest_first);
	tcase_add_test(cases, test_many_of_a_kind_next_kind_kept);
	tcase_add_test(cases, test_ring_full_dropped_and_counted);
	tcase_add_test(cases, test_stopped_nothing_taken);
	return run_cases(cases);
}
