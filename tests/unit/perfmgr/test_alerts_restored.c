/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What another process knew, and this one goes on from. */
#include "tests/unit/perfmgr/alert_fixture.h"

#define MAX_KNOWN 16

static struct triad_view *past;
static struct triad_alert known[MAX_KNOWN];
static struct triad_link *links;
static uint32_t n_known, n_links;

static void begin(void)
{
	set_up_alerts();
	past = NULL;
	links = NULL;
}

static void end(void)
{
	triad_view_unref(past);
	free(links);
	tear_down();
}

static struct triad_watch *watch(void)
{
	return triad_collector_watch(collector);
}

/* The present process ends, and leaves what it knows. */
static void leave(void)
{
	uint32_t cursor = 0;

	past = triad_collector_view(collector);
	n_known = 0;
	while (triad_watch_next_alert(watch(), &cursor, &known[n_known]))
		n_known++;
	links = triad_watch_copy_links(watch(), &n_links);
}

/* Another one begins, with the fabric (taken over). */
static void begin_anew(struct triad_fabric *now)
{
	uint64_t now_us = agents->now_us;

	tear_down();
	set_up();
	agents->now_us = now_us + 30 * S;
	configure();
	change_fabric(now);
	n_seen = 0;
}

static void restore(void)
{
	ck_assert_int_eq(triad_watch_restore(watch(), past, known, n_known, links,
				 n_links, agents->now_us),
		0);
}

static const struct seen *find_seen(
	enum triad_alert_change change, uint64_t guid, uint8_t port)
{
	for (unsigned i = 0; i < n_seen; i++)
		if (seen[i].change == change &&
			seen[i].alert.ends[0].node_guid == guid &&
			seen[i].alert.ends[0].port == port)
			return &seen[i];
	return NULL;
}

/* Before it has a fabric, and after a first sweep. */
START_TEST(test_loss_is_known_to_the_next_process)
{
	struct triad_fabric *whole = triad_fabric_ref(fabric), *two_lost;
	const struct seen *restored;
	uint64_t since_us;
	struct triad_link link;

	change_fabric(fabric_without(whole, NULL, 0, 0x201, 11));
	sweep(1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_LINK_DOWN);
	since_us = seen[0].alert.raised_us;
	leave();
	/* While no process looked, another link went down. */
	two_lost = fabric_without(fabric, NULL, 0, 0x202, 3);
	begin_anew(two_lost);
	if (_i)
		sweep(2);
	restore();
	restored = &seen[0];
	ck_assert_int_eq(restored->change, TRIAD_ALERT_RESTORED);
	ck_assert_uint_eq(restored->alert.id, 1);
	ck_assert_uint_eq(restored->alert.raised_us, since_us);
	sweep(1);
	ck_assert_uint_eq(n_active(), 2);
	ck_assert_ptr_nonnull(find_seen(TRIAD_ALERT_RAISED, 0x10000 + 2 * 256 + 3, 1)
			? find_seen(TRIAD_ALERT_RAISED, 0x10000 + 2 * 256 + 3, 1)
			: find_seen(TRIAD_ALERT_RAISED, 0x202, 3));
	ck_assert_uint_eq(triad_watch_status(watch()).links.n_down, 2);
	ck_assert(triad_watch_find_link(watch(), 0x201, 11, &link));
	ck_assert_uint_eq(triad_link_n_downs(&link), 1);
	/* All is well again. */
	change_fabric(whole);
	sweep(3);
	ck_assert_uint_eq(n_active(), 0);
	ck_assert_uint_eq(triad_watch_status(watch()).links.n_down, 0);
}
END_TEST

/* What was known comes late: an alert of this process has a number by then. */
START_TEST(test_no_two_alerts_have_one_number)
{
	uint32_t cursor = 0;
	uint64_t ids = 0;
	struct triad_alert alert;

	change_fabric(fabric_without(fabric, NULL, 0, 0x201, 11));
	sweep(1);
	leave();
	begin_anew(triad_fabric_ref(past->fabric));
	sweep(1);
	agents->raw[find_port(0x202, 3)][TRIAD_SYMBOL_ERROR_COUNTER] += 1000;
	sweep(1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_SYMBOL_ERROR_COUNTER);
	ck_assert_uint_eq(seen[0].alert.id, known[0].id);
	restore();
	ck_assert_uint_eq(n_active(), 2);
	while (triad_watch_next_alert(watch(), &cursor, &alert)) {
		ck_assert_uint_lt(alert.id, 64);
		ck_assert(!(ids >> alert.id & 1));
		ids |= UINT64_C(1) << alert.id;
	}
}
END_TEST

START_TEST(test_counter_over_its_threshold_ends_by_sweeps)
{
	agents->raw[find_port(0x201, 3)][TRIAD_SYMBOL_ERROR_COUNTER] += 1000;
	sweep(1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_SYMBOL_ERROR_COUNTER);
	leave();
	begin_anew(triad_fabric_ref(fabric));
	restore();
	ck_assert_uint_eq(n_active(), 1);
	sweep(5);
	ck_assert_uint_eq(n_active(), 0);
	ck_assert_int_eq(seen[n_seen - 1].change, TRIAD_ALERT_ENDED);
}
END_TEST

/* The wall clock was set back meanwhile. */
START_TEST(test_times_to_come_are_now)
{
	change_fabric(fabric_without(fabric, NULL, 0, 0x201, 11));
	sweep(1);
	leave();
	known[0].raised_us += 3600 * S;
	known[0].findings[0].since_us += 3600 * S;
	links[0].down_us += 3600 * S;
	begin_anew(triad_fabric_ref(fabric));
	restore();
	sweep(2);
	ck_assert_uint_eq(n_active(), 1);
	ck_assert_uint_eq(triad_watch_status(watch()).links.n_down, 1);
	ck_assert_uint_lt(seen[0].alert.raised_us, agents->now_us);
}
END_TEST

START_TEST(test_what_is_found_again_is_not_restored)
{
	static const uint8_t causes[] = {
		TRIAD_ALERT_ROUTES, TRIAD_ALERT_BER, TRIAD_ALERT_MODULE};

	sweep(1);
	leave();
	n_known = 0;
	for (unsigned i = 0; i < 3; i++)
		known[n_known++] = (struct triad_alert){.id = 7 + i,
			.state = TRIAD_ALERT_ACTIVE,
			.n_ends = 1,
			.n_findings = 1,
			.ends = {{.node_guid = 0x201, .port = (uint8_t)(1 + i)}},
			.findings = {{.cause = causes[i], .raised = true}}};
	known[n_known] = known[0];
	known[n_known].state = TRIAD_ALERT_CLEARED;
	known[n_known++].findings[0].cause = TRIAD_SYMBOL_ERROR_COUNTER;
	restore();
	ck_assert_uint_eq(n_active(), 0);
	ck_assert_uint_eq(n_seen, 0);
}
END_TEST

START_TEST(test_present_alert_of_a_place_counts)
{
	agents->raw[find_port(0x201, 3)][TRIAD_SYMBOL_ERROR_COUNTER] += 1000;
	sweep(1);
	leave();
	restore();
	ck_assert_uint_eq(n_active(), 1);
	ck_assert_uint_eq(n_seen, 1);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("alerts restored");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_loop_test(cases, test_loss_is_known_to_the_next_process, 0, 2);
	tcase_add_test(cases, test_no_two_alerts_have_one_number);
	tcase_add_test(cases, test_counter_over_its_threshold_ends_by_sweeps);
	tcase_add_test(cases, test_times_to_come_are_now);
	tcase_add_test(cases, test_what_is_found_again_is_not_restored);
	tcase_add_test(cases, test_present_alert_of_a_place_counts);
	return run_cases(cases);
}
