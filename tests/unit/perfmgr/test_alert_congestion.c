/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Alerts about congestion: each root raises one; a port that waits because of a root
 * raises none as long as a root explains it.  And a master that reads no counters. */
#include <string.h>

#include "perfmgr/watch/alert_text.h"
#include "tests/unit/perfmgr/alert_fixture.h"

#define ROOT_GUID UINT64_C(0x202)
#define ROOT_PORT 4u

/* What the simulated finder of roots reports. */
static struct {
	bool looks;
	uint64_t until_us;
	uint32_t n_roots;
	uint8_t ports[4]; /* of the root's switch */
	uint32_t n_explained;
	uint64_t guids[4];
	uint8_t numbers[4];
	uint64_t since_us;
} finds;

static uint32_t waiting; /* a port */

static void read_congestion(void *context, struct triad_found *found)
{
	(void)context;
	if (!finds.looks)
		return;
	triad_found_explain_until(found, finds.until_us);
	for (uint32_t i = 0; i < finds.n_roots; i++) {
		const struct triad_alert_finding finding = {
			.cause = TRIAD_ALERT_CONGESTION,
			.value = 3,
			.since_us = finds.since_us,
			.congestion = {TRIAD_CONGESTION_SLOW_HOST,
				TRIAD_CONGESTION_NO_VL, 2.5e9f}};

		triad_found_add(found, ROOT_GUID, finds.ports[i],
			ROOT_GUID << 8 | finds.ports[i], &finding);
	}
	for (uint32_t i = 0; i < finds.n_explained; i++)
		triad_found_explain(found, finds.guids[i], finds.numbers[i]);
}

static void begin(void)
{
	static const struct triad_finder finder = {.read = read_congestion};

	memset(&finds, 0, sizeof(finds));
	set_up_alerts();
	triad_watch_add_finder(triad_collector_watch(collector), &finder);
	waiting = find_port(0x201, 3);
	fabric->ports[waiting].width = 2;
	fabric->ports[waiting].speed = 1;
	triad_collector_set_fabric(collector, fabric);
	finds.looks = true;
	finds.since_us = 1;
	finds.guids[0] = 0x201;
	finds.numbers[0] = 3;
}

static void end(void)
{
	triad_conf_unref(conf);
	tear_down();
}

static struct triad_watch *watch(void)
{
	return triad_collector_watch(collector);
}

/* Sweeps 'n' times; in each, the port waits for 26 % of the time. */
static void sweep_waiting(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		agents->raw[waiting][TRIAD_PORT_XMIT_WAIT] +=
			(uint64_t)(2.6 * 8e9 / 32); /* of 10 s at 4x SDR */
		sweep(1);
	}
}

/* The finder reports its results about the last sweep. */
static void judge(uint32_t n_roots, uint32_t n_explained)
{
	finds.until_us = triad_collector_status(collector).ended_us;
	finds.n_roots = n_roots;
	finds.ports[0] = ROOT_PORT;
	finds.n_explained = n_explained;
	triad_watch_look_at_finders(watch(), agents->now_us);
}

static uint32_t n_explained(void)
{
	return triad_watch_status(watch()).alerts.n_explained;
}

/* Row: N8 */
START_TEST(test_root_is_one_alert_and_what_waits_for_it_none)
{
	const struct triad_alert *alert = &seen[0].alert;
	char text[TRIAD_ALERT_TEXT_SIZE];

	sweep_waiting(1);
	/* The watch doesn't know yet whether a root explains it. */
	ck_assert_uint_eq(n_seen, 0);
	judge(1, 1);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_CONGESTION);
	ck_assert_uint_eq(alert->ends[0].node_guid, ROOT_GUID);
	ck_assert_uint_eq(alert->ends[0].port, ROOT_PORT);
	ck_assert_uint_eq(alert->findings[0].since_us, 1);
	triad_alert_finding_format(alert, &alert->findings[0], text, sizeof(text));
	ck_assert_str_eq(text, "congestion: slow host, 3 ports wait, 2.5 Gb/s lost");
	ck_assert_ptr_nonnull(strstr(triad_alert_advice(alert), "PCIe"));
	ck_assert_int_eq(triad_alert_kind(alert), TRIAD_ALERT_KIND_CONGESTION);
	ck_assert_uint_eq(n_explained(), 1);
	for (unsigned i = 0; i < 3; i++) {
		sweep_waiting(1);
		judge(1, 1);
	}
	ck_assert_uint_eq(n_seen, 1);
	ck_assert_uint_eq(n_explained(), 1);
}
END_TEST

START_TEST(test_port_that_waits_when_the_root_has_ended_is_an_alert)
{
	uint64_t since_us;

	sweep_waiting(1);
	since_us = triad_collector_status(collector).ended_us;
	judge(1, 1);
	sweep_waiting(1);
	judge(0, 0);
	ck_assert_uint_eq(n_seen, 3);
	/* The end and the new alert come in either order. */
	ck_assert_uint_eq(n_active(), 1);
	for (unsigned i = 1; i < 3; i++)
		if (seen[i].change == TRIAD_ALERT_RAISED) {
			expect(i, TRIAD_ALERT_RAISED, TRIAD_PORT_XMIT_WAIT);
			ck_assert_uint_eq(seen[i].alert.findings[0].since_us, since_us);
		} else {
			expect(i, TRIAD_ALERT_ENDED, TRIAD_ALERT_CONGESTION);
		}
	ck_assert_uint_eq(n_explained(), 0);
}
END_TEST

START_TEST(test_port_that_no_root_explains_is_an_alert_once_it_is_judged)
{
	sweep_waiting(1);
	ck_assert_uint_eq(n_seen, 0);
	judge(0, 0);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_PORT_XMIT_WAIT);
}
END_TEST

START_TEST(test_port_waits_two_sweeps_at_most_for_who_looks_for_roots)
{
	sweep_waiting(2);
	ck_assert_uint_eq(n_seen, 0);
	sweep_waiting(1);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_PORT_XMIT_WAIT);
}
END_TEST

/* The finder's results are one sweep late, as after a pause: no port raises an
 * alert. */
START_TEST(test_late_finder_raises_no_alert_for_waiting_ports)
{
	sweep_waiting(1);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t until_us = triad_collector_status(collector).ended_us;

		sweep_waiting(1);
		judge(1, 1);
		finds.until_us = until_us;
		triad_watch_look_at_finders(watch(), agents->now_us);
	}
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_CONGESTION);
}
END_TEST

/* After a sweep of the SM, ports have other indices in the new fabric. */
START_TEST(test_new_fabric_raises_no_alert_for_explained_ports)
{
	sweep_waiting(1);
	judge(1, 1);
	triad_fabric_unref(fabric);
	fabric = fabric_row(5, 10);
	triad_collector_set_fabric(collector, fabric);
	triad_collector_adopt(collector);
	triad_watch_settle(watch(), agents->now_us);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_CONGESTION);
}
END_TEST

START_TEST(test_stopped_finder_hides_no_alert)
{
	sweep_waiting(1);
	judge(1, 1);
	sweep_waiting(2);
	ck_assert_uint_eq(n_seen, 1);
	sweep_waiting(1); /* the finder's last results are three sweeps old now */
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_RAISED, TRIAD_PORT_XMIT_WAIT);
}
END_TEST

START_TEST(test_port_is_an_alert_at_once_without_a_finder)
{
	finds.looks = false;
	sweep_waiting(1);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_PORT_XMIT_WAIT);
}
END_TEST

START_TEST(test_alert_of_a_port_ends_when_a_root_explains_it)
{
	char text[TRIAD_ALERT_TEXT_SIZE];

	sweep_waiting(1);
	judge(0, 0);
	sweep_waiting(1);
	judge(1, 1);
	ck_assert_uint_eq(n_seen, 3);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_PORT_XMIT_WAIT);
	ck_assert(seen[1].alert.explained);
	triad_alert_format(TRIAD_ALERT_ENDED, &seen[1].alert, 0, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "a root of congestion explains it"));
	expect(2, TRIAD_ALERT_RAISED, TRIAD_ALERT_CONGESTION);
	for (unsigned i = 0; i < 2; i++) {
		sweep_waiting(1);
		judge(1, 1);
	}
	ck_assert_uint_eq(n_seen, 3);
}
END_TEST

/* Errors of the link raise an alert as usual.  The alert ends although the port still
 * waits. */
START_TEST(test_other_findings_of_a_port_that_waits_come_and_go)
{
	agents->raw[waiting][TRIAD_SYMBOL_ERROR_COUNTER] += 20;
	sweep_waiting(1);
	judge(1, 1);
	ck_assert_uint_eq(n_seen, 2);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_SYMBOL_ERROR_COUNTER);
	expect(1, TRIAD_ALERT_RAISED, TRIAD_ALERT_CONGESTION);
	for (unsigned i = 0; i < 4; i++) {
		sweep_waiting(1);
		judge(1, 1);
	}
	ck_assert_uint_eq(n_seen, 3);
	expect(2, TRIAD_ALERT_ENDED, TRIAD_SYMBOL_ERROR_COUNTER);
	sweep_waiting(1);
	judge(1, 1);
	ck_assert_uint_eq(n_explained(), 1);
	ck_assert_uint_eq(n_seen, 3);
}
END_TEST

START_TEST(test_root_that_moves_is_an_alert_where_it_is)
{
	judge(1, 0);
	finds.ports[0] = ROOT_PORT + 1;
	triad_watch_look_at_finders(watch(), agents->now_us);
	ck_assert_uint_eq(n_seen, 3);
	ck_assert_uint_eq(n_active(), 1);
	for (unsigned i = 1; i < 3; i++)
		ck_assert_uint_eq(seen[i].alert.ends[0].port,
			seen[i].change == TRIAD_ALERT_RAISED ? ROOT_PORT + 1
							     : ROOT_PORT);
}
END_TEST

START_TEST(test_several_roots_are_several_alerts)
{
	finds.ports[1] = ROOT_PORT + 1;
	judge(2, 0);
	ck_assert_uint_eq(n_active(), 2);
	judge(1, 0);
	ck_assert_uint_eq(n_active(), 1);
}
END_TEST

/* Another SM reads counters from now on. */
START_TEST(test_idle_master_ends_findings_of_counters_and_keeps_the_rest)
{
	agents->raw[waiting][TRIAD_SYMBOL_ERROR_COUNTER] += 20;
	sweep(1);
	judge(1, 0);
	ck_assert_uint_eq(n_active(), 2);
	triad_watch_set_idle(watch(), true, agents->now_us);
	ck_assert_uint_eq(n_active(), 1);
	expect(2, TRIAD_ALERT_ENDED, TRIAD_SYMBOL_ERROR_COUNTER);
	/* The new fabric lacks a switch: only the SM that sweeps reports that. */
	triad_fabric_unref(fabric);
	fabric = fabric_row(3, 10);
	triad_collector_set_fabric(collector, fabric);
	triad_collector_adopt(collector);
	ck_assert_uint_eq(n_seen, 3);
	judge(0, 0);
	ck_assert_uint_eq(n_active(), 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("alert congestion");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_root_is_one_alert_and_what_waits_for_it_none);
	tcase_add_test(cases, test_port_that_waits_when_the_root_has_ended_is_an_alert);
	tcase_add_test(
		cases, test_port_that_no_root_explains_is_an_alert_once_it_is_judged);
	tcase_add_test(
		cases, test_port_waits_two_sweeps_at_most_for_who_looks_for_roots);
	tcase_add_test(cases, test_late_finder_raises_no_alert_for_waiting_ports);
	tcase_add_test(cases, test_new_fabric_raises_no_alert_for_explained_ports);
	tcase_add_test(cases, test_stopped_finder_hides_no_alert);
	tcase_add_test(cases, test_port_is_an_alert_at_once_without_a_finder);
	tcase_add_test(cases, test_alert_of_a_port_ends_when_a_root_explains_it);
	tcase_add_test(cases, test_other_findings_of_a_port_that_waits_come_and_go);
	tcase_add_test(cases, test_root_that_moves_is_an_alert_where_it_is);
	tcase_add_test(cases, test_several_roots_are_several_alerts);
	tcase_add_test(
		cases, test_idle_master_ends_findings_of_counters_and_keeps_the_rest);
	return run_cases(cases);
}
