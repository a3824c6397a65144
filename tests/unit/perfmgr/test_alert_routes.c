/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Alerts about routes: one of each kind, whose location doesn't change. */
#include <string.h>

#include "perfmgr/watch/alert_text.h"
#include "tests/unit/mentions.h"
#include "tests/unit/perfmgr/alert_fixture.h"

static struct {
	uint64_t guid;
	uint32_t n;
	uint8_t port;
} wrong[TRIAD_ALERT_N_ROUTES];

static void read_routes(void *context, struct triad_found *found)
{
	(void)context;
	for (unsigned i = 0; i < TRIAD_ALERT_N_ROUTES; i++) {
		const struct triad_alert_finding finding = {.cause = TRIAD_ALERT_ROUTES,
			.value = (float)wrong[i].n,
			.routes = (uint8_t)i};

		if (wrong[i].n)
			triad_found_add(
				found, wrong[i].guid, wrong[i].port, i, &finding);
	}
}

static void begin(void)
{
	static const struct triad_finder finder = {.read = read_routes};

	memset(wrong, 0, sizeof(wrong));
	set_up_alerts();
	triad_watch_add_finder(triad_collector_watch(collector), &finder);
}

static void end(void)
{
	triad_conf_unref(conf);
	tear_down();
}

static void put(enum triad_alert_routes kind, uint64_t guid, uint8_t port, uint32_t n)
{
	wrong[kind].guid = guid;
	wrong[kind].port = port;
	wrong[kind].n = n;
}

START_TEST(test_credit_loop_is_an_alert_until_it_is_over)
{
	const struct triad_alert *alert = &seen[0].alert;
	char text[TRIAD_ALERT_TEXT_SIZE];

	put(TRIAD_ALERT_CREDIT_LOOPS, 0x201, 2, 3);
	sweep(1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_ROUTES);
	ck_assert_uint_eq(alert->ends[0].node_guid, 0x201);
	ck_assert_uint_eq(alert->ends[0].port, 2);
	triad_alert_finding_format(alert, &alert->findings[0], text, sizeof(text));
	assert_mentions(text, "3 credit loops");
	ck_assert_ptr_nonnull(strstr(triad_alert_advice(alert), "lash"));
	ck_assert_int_eq(triad_alert_severity(alert), TRIAD_WARNING);
	ck_assert_int_eq(triad_alert_kind(alert), TRIAD_ALERT_KIND_ROUTES);
	sweep(3);
	ck_assert_uint_eq(n_seen, 1);
	wrong[TRIAD_ALERT_CREDIT_LOOPS].n = 0;
	sweep(3);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_ALERT_ROUTES);
	ck_assert_uint_eq(n_active(), 0);
}
END_TEST

START_TEST(test_other_example_is_the_same_alert)
{
	put(TRIAD_ALERT_CREDIT_LOOPS, 0x201, 2, 3);
	sweep(1);
	put(TRIAD_ALERT_CREDIT_LOOPS, 0x201, 1, 5);
	sweep(3);
	ck_assert_uint_eq(n_seen, 1);
	ck_assert_uint_eq(n_active(), 1);
}
END_TEST

START_TEST(test_each_kind_is_an_alert)
{
	put(TRIAD_ALERT_CREDIT_LOOPS, 0x201, 2, 1);
	put(TRIAD_ALERT_UNREACHABLE_PAIRS, 0x201, 1, 7);
	/* Of two kinds at one location, only the more important raises an alert. */
	put(TRIAD_ALERT_TURNS, 0x201, 1, 9);
	sweep(1);
	ck_assert_uint_eq(n_active(), 2);
	ck_assert_int_eq(triad_alert_severity(&seen[1].alert),
		seen[1].alert.findings[0].routes == TRIAD_ALERT_CREDIT_LOOPS
			? TRIAD_WARNING
			: TRIAD_CRITICAL);
}
END_TEST

START_TEST(test_location_that_does_not_exist_is_no_alert)
{
	put(TRIAD_ALERT_CREDIT_LOOPS, 0x999, 2, 1);
	sweep(2);
	ck_assert_uint_eq(n_seen, 0);
	put(TRIAD_ALERT_CREDIT_LOOPS, 0x201, 2, 1);
	sweep(1);
	ck_assert_uint_eq(n_active(), 1);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("alert routes");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_credit_loop_is_an_alert_until_it_is_over);
	tcase_add_test(cases, test_other_example_is_the_same_alert);
	tcase_add_test(cases, test_each_kind_is_an_alert);
	tcase_add_test(cases, test_location_that_does_not_exist_is_no_alert);
	return run_cases(cases);
}
