/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Alerts about routes: one of each kind, at a place that it keeps. */
#include <string.h>

#include "perfmgr/watch/alert_text.h"
#include "tests/unit/perfmgr/alert_fixture.h"

static struct triad_watch_routes wrong[TRIAD_ALERT_N_ROUTES];

static void read_routes(
	void *context, struct triad_watch_routes routes[TRIAD_ALERT_N_ROUTES])
{
	(void)context;
	memcpy(routes, wrong, sizeof(wrong));
}

static void begin(void)
{
	memset(wrong, 0, sizeof(wrong));
	set_up_alerts();
	triad_watch_set_routes(triad_collector_watch(collector), read_routes, NULL);
}

static void end(void)
{
	triad_conf_unref(conf);
	tear_down();
}

static struct triad_watch_routes at(uint64_t guid, uint8_t port, uint32_t n)
{
	return (struct triad_watch_routes){.node_guid = guid, .port = port, .n = n};
}

START_TEST(test_credit_loop_is_an_alert_until_it_is_over)
{
	const struct triad_alert *alert = &seen[0].alert;
	char text[TRIAD_ALERT_TEXT_SIZE];

	wrong[TRIAD_ALERT_CREDIT_LOOPS] = at(0x201, 2, 3);
	sweep(1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_ROUTES);
	ck_assert_uint_eq(alert->ends[0].node_guid, 0x201);
	ck_assert_uint_eq(alert->ends[0].port, 2);
	triad_alert_finding_format(alert, &alert->findings[0], text, sizeof(text));
	ck_assert_str_eq(text, "routes: 3 credit loop(s), one of them here");
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
	wrong[TRIAD_ALERT_CREDIT_LOOPS] = at(0x201, 2, 3);
	sweep(1);
	wrong[TRIAD_ALERT_CREDIT_LOOPS] = at(0x201, 1, 5);
	sweep(3);
	ck_assert_uint_eq(n_seen, 1);
	ck_assert_uint_eq(n_active(), 1);
}
END_TEST

START_TEST(test_each_kind_is_an_alert)
{
	wrong[TRIAD_ALERT_CREDIT_LOOPS] = at(0x201, 2, 1);
	wrong[TRIAD_ALERT_UNREACHABLE_PAIRS] = at(0x201, 1, 7);
	/* In the place of another one, which counts. */
	wrong[TRIAD_ALERT_TURNS] = at(0x201, 1, 9);
	sweep(1);
	ck_assert_uint_eq(n_active(), 2);
	ck_assert_int_eq(triad_alert_severity(&seen[1].alert),
		seen[1].alert.findings[0].routes == TRIAD_ALERT_CREDIT_LOOPS
			? TRIAD_WARNING
			: TRIAD_CRITICAL);
}
END_TEST

START_TEST(test_place_that_is_not_there_is_none)
{
	wrong[TRIAD_ALERT_CREDIT_LOOPS] = at(0x999, 2, 1);
	sweep(2);
	ck_assert_uint_eq(n_seen, 0);
	wrong[TRIAD_ALERT_CREDIT_LOOPS] = at(0x201, 2, 1);
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
	tcase_add_test(cases, test_place_that_is_not_there_is_none);
	return run_cases(cases);
}
