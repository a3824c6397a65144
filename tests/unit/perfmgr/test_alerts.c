/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Alerts, through a collector on simulated agents. */
#include "perfmgr/watch/alert_findings.h"
#include "perfmgr/watch/alert_text.h"
#include "tests/unit/mentions.h"
#include "tests/unit/perfmgr/alert_fixture.h"

/* Whether the advice for the alert contains the words; no advice contains none. */
static bool advises(const struct triad_alert *alert, const char *words)
{
	const char *advice = triad_alert_advice(alert);

	return advice && strstr(advice, words);
}

/* Row: M2, M16, A8 */
START_TEST(test_counter_at_threshold_is_raised_with_both_ends)
{
	uint32_t port = find_port(0x201, 3);
	const struct triad_alert *alert = &seen[0].alert;

	agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] += 10;
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_SYMBOL_ERROR_COUNTER);
	ck_assert_uint_eq(alert->id, 1);
	ck_assert_uint_eq(alert->n_ends, 2);
	ck_assert_uint_eq(alert->ends[0].node_guid, 0x201);
	ck_assert_uint_eq(alert->ends[0].port, 3);
	ck_assert_str_eq(alert->ends[0].node_name, "switch-1");
	ck_assert_uint_eq(alert->ends[1].node_guid, 0x10000 + 256 + 3);
	ck_assert_uint_eq(alert->ends[1].port, 1);
	ck_assert_float_eq(alert->findings[0].value, 10);
	ck_assert_double_eq(alert->findings[0].threshold.value, 10);
	ck_assert_uint_eq(alert->raised_us, alert->findings[0].since_us);
	ck_assert_uint_eq(n_active(), 1);
}
END_TEST

START_TEST(test_all_digits_of_large_counts_are_said)
{
	char text[256];

	agents->raw[find_port(0x201, 3)][TRIAD_SYMBOL_ERROR_COUNTER] += 65432;
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	triad_alert_findings_format(&seen[0].alert, text, sizeof(text));
	ck_assert_msg(strstr(text, "65432/sweep"), "%s", text);
}
END_TEST

/* Row: A8 */
START_TEST(test_counter_under_threshold_is_no_alert)
{
	agents->raw[find_port(0x201, 3)][TRIAD_SYMBOL_ERROR_COUNTER] += 9;
	sweep(1);
	ck_assert_uint_eq(n_seen, 0);
}
END_TEST

/* 9 is below the threshold but above half of it: it neither raises nor clears the
 * alert. */
START_TEST(test_alert_clears_under_half_for_clear_after)
{
	uint32_t port = find_port(0x201, 3);

	agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] += 20;
	sweep(1);
	for (unsigned i = 0; i < 5; i++) {
		agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] += 9;
		sweep(1);
	}
	ck_assert_uint_eq(n_seen, 1);
	agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] += 4;
	sweep(2); /* below for 10 s */
	ck_assert_uint_eq(n_seen, 1);
	sweep(1); /* 20 s: more than 15 */
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_SYMBOL_ERROR_COUNTER);
	ck_assert_uint_eq(seen[1].alert.id, 1);
	ck_assert_float_eq(seen[1].alert.findings[0].worst, 20);
	ck_assert(!seen[1].alert.forgotten);
	ck_assert_uint_eq(n_active(), 0);
}
END_TEST

START_TEST(test_alert_that_flaps_is_one_alert)
{
	uint32_t port = find_port(0x201, 3);

	for (unsigned i = 0; i < 10; i++) {
		agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] += i % 2 ? 0 : 50;
		sweep(1);
	}
	ck_assert_uint_eq(n_seen, 1);
}
END_TEST

START_TEST(test_alert_is_raised_when_it_lasted)
{
	uint32_t port = find_port(0x201, 3);

	set("alerts.raise_after", "25");
	agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] += 10;
	sweep(1);
	agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] += 10;
	sweep(1);
	sweep(1); /* the errors stopped before 25 s had passed */
	ck_assert_uint_eq(n_seen, 0);
	for (unsigned i = 0; i < 4; i++) {
		agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] += 10;
		sweep(1);
		ck_assert_uint_eq(n_seen, i == 3);
	}
	ck_assert_uint_ge(
		seen[0].alert.raised_us - seen[0].alert.findings[0].since_us, 25 * S);
}
END_TEST

/* All errors at the two ends of a cable are one alert; the most significant finding is
 * first. */
START_TEST(test_all_errors_of_a_link_are_one_alert)
{
	uint32_t port = find_port(0x201, 3), far = fabric->ports[port].remote;

	agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] += 200;
	agents->raw[port][TRIAD_PORT_RCV_ERRORS] += 100;
	agents->raw[far][TRIAD_SYMBOL_ERROR_COUNTER] += 300;
	agents->raw[far][TRIAD_LINK_DOWNED_COUNTER] += 1;
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_LINK_DOWNED_COUNTER);
	ck_assert_uint_eq(seen[0].alert.ends[0].node_guid, 0x10000 + 256 + 3);
	ck_assert_uint_eq(seen[0].alert.findings[0].end, 0);
	ck_assert_uint_eq(seen[0].alert.ends[1].node_guid, 0x201);
	ck_assert_uint_eq(seen[0].alert.n_findings, 4);
}
END_TEST

static void add_to(uint32_t port, const unsigned *counters, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		agents->raw[port][counters[i]] += 100;
}

/* The alert keeps the six most significant findings, whatever order they came in, and
 * names the others. */
START_TEST(test_nothing_is_hidden_by_what_matters_less)
{
	static const unsigned small[] = {TRIAD_PORT_RCV_ERRORS,
		TRIAD_PORT_XMIT_DISCARDS, TRIAD_PORT_RCV_CONSTRAINT_ERRORS};
	static const unsigned great[] = {TRIAD_SYMBOL_ERROR_COUNTER,
		TRIAD_LINK_ERROR_RECOVERY_COUNTER, TRIAD_LINK_DOWNED_COUNTER};
	uint32_t port = find_port(0x201, 3), far = fabric->ports[port].remote;
	const struct triad_alert *alert;
	char text[TRIAD_ALERT_TEXT_SIZE];

	add_to(port, small, 3);
	add_to(far, small, 3);
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	ck_assert_uint_eq(seen[0].alert.n_findings, TRIAD_ALERT_MAX_FINDINGS);
	ck_assert_uint_eq(triad_alert_n_more(&seen[0].alert), 0);
	add_to(port, small, 3);
	add_to(far, small, 3);
	add_to(port, great, 3);
	add_to(far, great, 3);
	sweep(1);
	alert = &seen[n_seen - 1].alert;
	expect(n_seen - 1, TRIAD_ALERT_JOINED, TRIAD_LINK_DOWNED_COUNTER);
	for (unsigned i = 0; i < TRIAD_ALERT_MAX_FINDINGS; i++)
		for (unsigned j = 0; j < 3; j++)
			ck_assert_uint_ne(alert->findings[i].cause, small[j]);
	ck_assert_uint_eq(triad_alert_n_more(alert), 6);
	triad_alert_format(TRIAD_ALERT_JOINED, alert, 0, text, sizeof(text));
	ck_assert_msg(
		strstr(text, "besides PortRcvErrors, PortXmitDiscards, "), "%s", text);
	/* The alert names the others no longer than they last. */
	sweep(4);
	alert = &seen[n_seen - 1].alert;
	ck_assert_int_eq(seen[n_seen - 1].change, TRIAD_ALERT_ENDED);
	ck_assert_uint_eq(triad_alert_n_more(alert), 0);
}
END_TEST

/* Errors of all kinds occur at both ends; then the cable fails, with five nodes behind
 * it. */
START_TEST(test_loss_is_reported_though_six_counters_are_over)
{
	static const unsigned counters[] = {TRIAD_SYMBOL_ERROR_COUNTER,
		TRIAD_PORT_RCV_ERRORS, TRIAD_LINK_ERROR_RECOVERY_COUNTER};
	uint32_t port = find_port(0x201, 11), far = fabric->ports[port].remote;
	uint64_t gone[22];
	unsigned n = fabric_row_guids(2, 4, 10, gone);

	add_to(port, counters, 3);
	add_to(far, counters, 3);
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	ck_assert_uint_eq(seen[0].alert.n_findings, TRIAD_ALERT_MAX_FINDINGS);
	change_fabric(fabric_without(fabric, gone, n, 0, 0));
	sweep(1);
	expect(1, TRIAD_ALERT_JOINED, TRIAD_ALERT_NODE_GONE);
	ck_assert_uint_eq(seen[1].alert.n_nodes, 22);
	sweep(6);
	ck_assert_uint_eq(n_active(), 1);
}
END_TEST

START_TEST(test_later_error_joins)
{
	uint32_t port = find_port(0x201, 3), far = fabric->ports[port].remote;

	agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] += 200;
	sweep(1);
	agents->raw[far][TRIAD_LINK_DOWNED_COUNTER] += 1;
	sweep(1);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_JOINED, TRIAD_LINK_DOWNED_COUNTER);
	ck_assert_uint_eq(seen[1].alert.id, 1);
	ck_assert_uint_eq(n_active(), 1);
}
END_TEST

/* The host's cable dies: first the switch counts errors, then the SM removes the
 * host. */
START_TEST(test_dead_cable_is_one_alert)
{
	uint32_t port = find_port(0x201, 3);
	uint64_t gone = 0x10000 + 256 + 3;
	struct triad_fabric *whole = triad_fabric_ref(fabric);

	agents->raw[port][TRIAD_LINK_DOWNED_COUNTER] += 1;
	agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] += 100;
	sweep(1);
	change_fabric(fabric_without(whole, &gone, 1, 0, 0));
	sweep(1);
	ck_assert_uint_eq(n_seen, 2);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_LINK_DOWNED_COUNTER);
	expect(1, TRIAD_ALERT_JOINED, TRIAD_ALERT_NODE_GONE);
	ck_assert_uint_eq(seen[1].alert.ends[0].node_guid, gone);
	ck_assert_uint_eq(seen[1].alert.n_nodes, 1);
	change_fabric(whole);
	sweep(3);
	ck_assert_uint_eq(n_seen, 3);
	expect(2, TRIAD_ALERT_ENDED, TRIAD_ALERT_NODE_GONE);
}
END_TEST

static bool was_reported;

static bool took_down(
	void *context, uint64_t node_guid, uint8_t number, bool is_disabled)
{
	const uint64_t *meant = context;

	was_reported |= is_disabled;
	return *meant == node_guid && number;
}

/* The port manager took down either end of the link; a port of another node doesn't
 * count. */
START_TEST(test_lost_rack_that_was_taken_down_is_no_alert)
{
	static const uint64_t meant[] = {0x201, 0x202, 0x203};
	const struct triad_alerts_intent intent = {
		.took_down = took_down, .context = (void *)&meant[_i]};
	uint64_t gone[22];
	unsigned n = fabric_row_guids(2, 4, 10, gone);

	triad_watch_set_intent(triad_collector_watch(collector), &intent);
	change_fabric(fabric_without(fabric, gone, n, 0, 0));
	sweep(1);
	ck_assert(!was_reported);
	ck_assert_uint_eq(n_active(), _i == 2);
}
END_TEST

/* 22 nodes are lost with one cable; errors at the remaining port join the alert. */
START_TEST(test_lost_rack_is_one_alert)
{
	uint64_t gone[22];
	unsigned n = fabric_row_guids(2, 4, 10, gone);

	change_fabric(fabric_without(fabric, gone, n, 0, 0));
	agents->raw[find_port(0x201, 11)][TRIAD_LINK_DOWNED_COUNTER] += 1;
	sweep(1);
	ck_assert_uint_eq(n_seen, 2);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_NODE_GONE);
	ck_assert_uint_eq(seen[0].alert.n_nodes, 22);
	ck_assert_uint_eq(seen[0].alert.n_links, 1);
	ck_assert_uint_eq(seen[0].alert.ends[0].node_guid, 0x202);
	ck_assert_uint_eq(seen[0].alert.ends[1].node_guid, 0x201);
	expect(1, TRIAD_ALERT_JOINED, TRIAD_ALERT_NODE_GONE);
	ck_assert_uint_eq(n_active(), 1);
}
END_TEST

/* Row: A12 */
START_TEST(test_link_down_is_raised_and_cleared)
{
	struct triad_fabric *whole = triad_fabric_ref(fabric);

	triad_watch_note_sm(triad_collector_watch(collector), 0, 0, 0, agents->now_us);
	change_fabric(fabric_without(whole, NULL, 0, 0x201, 11));
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_LINK_DOWN);
	ck_assert_int_eq(seen[0].alert.sm.kind, TRIAD_ALERT_SM_SWEEP);
	change_fabric(whole);
	sweep(3);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_ALERT_LINK_DOWN);
}
END_TEST

/* A host is gone, and its switch's port says why. */
static const struct {
	uint8_t state, phys_state;
	const char *finding, *advice; /* words of these */
} left_ports[] = {
	{TRIAD_PORT_DOWN, TRIAD_PHYS_POLLING, "left", "power cable"},
	{TRIAD_PORT_DOWN, TRIAD_PHYS_DISABLED, "left disabled", "disabled enable"},
	{TRIAD_PORT_DOWN, TRIAD_PHYS_TRAINING, "left trains", "cable speed"},
	{TRIAD_PORT_INIT, TRIAD_PHYS_LINK_UP, "left up answers", "driver restart"},
};

START_TEST(test_advice_about_a_host_is_that_of_its_switch_port)
{
	uint64_t gone = 0x10000 + 256 + 3;
	struct triad_fabric *without = fabric_without(fabric, &gone, 1, 0, 0);
	const struct triad_alert *alert = &seen[0].alert;
	char text[TRIAD_ALERT_TEXT_SIZE];
	uint32_t port = triad_fabric_find_port(
		without, triad_fabric_find_node(without, 0x201), 3);

	without->ports[port].state = left_ports[_i].state;
	without->ports[port].phys_state = left_ports[_i].phys_state;
	change_fabric(without);
	sweep(1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_NODE_GONE);
	triad_alert_finding_format(alert, &alert->findings[0], text, sizeof(text));
	assert_mentions(text, left_ports[_i].finding);
	assert_mentions(triad_alert_advice(alert), left_ports[_i].advice);
	ck_assert(_i == 0 || !advises(alert, "power and the cable"));
}
END_TEST

/* A port that is disabled later: the alert that there is says so. */
START_TEST(test_link_that_is_down_follows_the_state_of_its_ports)
{
	struct triad_fabric *without = fabric_without(fabric, NULL, 0, 0x201, 11),
			    *later;
	struct triad_alert alert;
	char text[TRIAD_ALERT_TEXT_SIZE];
	uint32_t cursor = 0, port;

	later = fabric_without(without, NULL, 0, 0, 0);
	change_fabric(without);
	sweep(1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_LINK_DOWN);
	port = triad_fabric_find_port(later, triad_fabric_find_node(later, 0x201), 11);
	later->ports[port].phys_state = TRIAD_PHYS_DISABLED;
	change_fabric(later);
	sweep(1);
	ck_assert(triad_watch_next_alert(
		triad_collector_watch(collector), &cursor, &alert));
	triad_alert_finding_format(&alert, &alert.findings[0], text, sizeof(text));
	assert_mentions(text, "down disabled switch-1:11");
	assert_mentions(triad_alert_advice(&alert), "enable");
}
END_TEST

START_TEST(test_links_false_loss_is_no_alert)
{
	set("alerts.links", "false");
	change_fabric(fabric_without(fabric, NULL, 0, 0x201, 11));
	sweep(1);
	ck_assert_uint_eq(n_seen, 0);
}
END_TEST

START_TEST(test_part_of_a_fabric_loss_is_no_alert)
{
	params.is_part = true;
	triad_collector_set_params(collector, &params);
	configure();
	change_fabric(fabric_without(fabric, NULL, 0, 0x201, 11));
	sweep(1);
	ck_assert_uint_eq(n_seen, 0);
}
END_TEST

START_TEST(test_node_gone_for_a_day_is_forgotten)
{
	uint64_t gone = 0x10000 + 256 + 3;

	change_fabric(fabric_without(fabric, &gone, 1, 0, 0));
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	params.period_us = 3600 * S;
	triad_collector_set_params(collector, &params);
	sweep(25);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_ALERT_NODE_GONE);
	ck_assert(seen[1].alert.forgotten);
}
END_TEST

START_TEST(test_silent_node_is_one_alert_for_all_its_ports)
{
	agents->silent_lid = fabric->ports[find_port(0x202, 1)].lid;
	sweep(1);
	ck_assert_uint_eq(n_seen, 0); /* one lost answer raises no alert */
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_UNANSWERED);
	ck_assert_uint_eq(seen[0].alert.ends[0].node_guid, 0x202);
	ck_assert_uint_eq(seen[0].alert.ends[0].port, TRIAD_ALERT_NO_PORT);
	ck_assert_float_eq(seen[0].alert.findings[0].value, 12);
	agents->silent_lid = 0;
	/* Triad queries it again after a while; then it must answer for 15 s. */
	for (unsigned i = 0; i < 40 && n_seen == 1; i++)
		sweep(1);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_ALERT_UNANSWERED);
}
END_TEST

/* A switch that dies first stops answering, then leaves the fabric: one alert in
 * all. */
START_TEST(test_silent_node_that_is_gone_is_one_alert)
{
	uint64_t gone[22];
	unsigned n = fabric_row_guids(2, 4, 10, gone);
	struct triad_fabric *whole = triad_fabric_ref(fabric);

	agents->silent_lid = fabric->ports[find_port(0x202, 1)].lid;
	sweep(2);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_UNANSWERED);
	change_fabric(fabric_without(whole, gone, n, 0, 0));
	sweep(3);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_JOINED, TRIAD_ALERT_NODE_GONE);
	ck_assert_uint_eq(seen[1].alert.ends[0].node_guid, 0x202);
	ck_assert_uint_eq(seen[1].alert.ends[1].node_guid, 0x201);
	ck_assert_uint_eq(seen[1].alert.n_nodes, 22);
	ck_assert_uint_eq(n_active(), 1);
	agents->silent_lid = 0;
	change_fabric(whole);
	for (unsigned i = 0; i < 40 && n_seen == 2; i++)
		sweep(1);
	ck_assert_uint_eq(n_seen, 3);
	expect(2, TRIAD_ALERT_ENDED, TRIAD_ALERT_NODE_GONE);
	ck_assert_uint_eq(n_active(), 0);
}
END_TEST

/* The switch comes back but still doesn't answer. */
START_TEST(test_silent_node_that_was_gone_is_silent_again_in_one_alert)
{
	uint64_t gone[22];
	unsigned n = fabric_row_guids(2, 4, 10, gone);
	struct triad_fabric *whole = triad_fabric_ref(fabric);

	agents->silent_lid = fabric->ports[find_port(0x202, 1)].lid;
	sweep(2);
	change_fabric(fabric_without(whole, gone, n, 0, 0));
	sweep(1);
	change_fabric(whole);
	sweep(40);
	ck_assert_uint_eq(n_active(), 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_UNANSWERED);
	for (unsigned i = 1; i < n_seen; i++)
		ck_assert_uint_eq(seen[i].alert.id, seen[0].alert.id);
	agents->silent_lid = 0;
	for (unsigned i = 0; i < 40 && n_active(); i++)
		sweep(1);
	ck_assert_uint_eq(n_active(), 0);
}
END_TEST

static float worst_of(const struct triad_alert *alert, unsigned cause)
{
	for (unsigned i = 0; i < alert->n_findings; i++)
		if (alert->findings[i].cause == cause)
			return alert->findings[i].worst;
	return -1;
}

/* Row: A15 */
START_TEST(test_wait_as_share_of_time)
{
	uint32_t port = find_port(0x201, 3);
	uint64_t words = 10 * UINT64_C(8000000000) / 32; /* in 10 s at 4x SDR */

	fabric->ports[port].width = 2;
	fabric->ports[port].speed = 1;
	triad_collector_set_fabric(collector, fabric);
	agents->raw[port][TRIAD_PORT_XMIT_WAIT] += words * 24 / 100;
	sweep(1);
	ck_assert_uint_eq(n_seen, 0);
	agents->raw[port][TRIAD_PORT_XMIT_WAIT] += words * 30 / 100;
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_PORT_XMIT_WAIT);
	ck_assert_float_eq_tol(seen[0].alert.findings[0].value, 30, 0.5);
	/* No port waits for more than 100 % of the time, though a device's ticks may be
	 * shorter. */
	agents->raw[port][TRIAD_PORT_XMIT_WAIT] += words * 141 / 100;
	sweep(1);
	agents->raw[port][TRIAD_LINK_DOWNED_COUNTER] += 1;
	sweep(1);
	ck_assert_uint_eq(n_seen, 2);
	ck_assert_float_eq_tol(
		worst_of(&seen[1].alert, TRIAD_PORT_XMIT_WAIT), 100, 0.01);
}
END_TEST

/* The counter is full, and 2^32 ticks are so much of 10 s: of a link of 100 Gb/s 13.7 %. */
static void sweep_full(uint32_t port, uint8_t width, uint8_t speed_ext, unsigned n)
{
	fabric->ports[port].width = width;
	fabric->ports[port].speed_ext = speed_ext;
	triad_collector_set_fabric(collector, fabric);
	for (unsigned i = 0; i < n; i++) {
		agents->raw[port][TRIAD_PORT_XMIT_WAIT] = UINT32_MAX;
		sweep(1);
	}
}

/* What a lower bound below the threshold means is not known. */
START_TEST(test_wait_of_a_small_lower_bound_is_no_alert)
{
	params.sweep.reset_near_full = true;
	triad_collector_set_params(collector, &params);
	sweep_full(find_port(0x201, 3), 2, 2, 5);
	ck_assert_uint_eq(n_seen, 0);
	ck_assert_uint_eq(n_active(), 0);
}
END_TEST

/* A pending finding may not become an alert by it. */
START_TEST(test_wait_of_a_small_lower_bound_raises_no_pending_finding)
{
	params.sweep.reset_near_full = true;
	triad_collector_set_params(collector, &params);
	set("alerts.raise_after", "25");
	sweep_full(find_port(0x201, 3), 1, 2, 1);
	sweep_full(find_port(0x201, 3), 2, 2, 5);
	ck_assert_uint_eq(n_seen, 0);
}
END_TEST

/* A lower bound of the threshold or more is an alert, says "at least", and stays while the
 * counter stops, whatever it shows.  _i: sweeps reset the counter. */
START_TEST(test_wait_of_a_large_lower_bound_is_an_alert_until_it_is_known)
{
	uint32_t port = find_port(0x201, 3);

	params.sweep.reset_near_full = _i;
	triad_collector_set_params(collector, &params);
	sweep_full(port, 1, 2, 1);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_PORT_XMIT_WAIT);
	ck_assert(seen[0].alert.findings[0].at_least);
	ck_assert_float_eq_tol(seen[0].alert.findings[0].value, 55, 1);
	sweep_full(port, 2, 4, 20);
	ck_assert_uint_eq(n_seen, 1);
	if (_i) {
		sweep(20);
		ck_assert_uint_eq(n_seen, 2);
		expect(1, TRIAD_ALERT_ENDED, TRIAD_PORT_XMIT_WAIT);
	}
}
END_TEST

/* Row: M2, A8 */
START_TEST(test_group_and_type_have_thresholds_of_their_own)
{
	strcpy(conf->groups[0].name, "quiet");
	strcpy(conf->groups[0].nodes, "switch-1");
	conf->n_groups = 1;
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		conf->thresholds[TRIAD_CONF_N_TYPES].counter[i].unit =
			TRIAD_THRESHOLD_INHERIT;
	set("alerts.quiet.SymbolErrorCounter", "1000/sweep");
	set("alerts.ca.SymbolErrorCounter", "0.2/s");
	sweep(1);
	agents->raw[find_port(0x201, 3)][TRIAD_SYMBOL_ERROR_COUNTER] += 500;
	agents->raw[find_port(0x10000 + 256 + 4, 1)][TRIAD_SYMBOL_ERROR_COUNTER] += 2;
	agents->raw[find_port(0x202, 4)][TRIAD_SYMBOL_ERROR_COUNTER] += 3;
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	ck_assert_uint_eq(seen[0].alert.ends[0].node_guid, 0x10000 + 256 + 4);
	ck_assert_float_eq_tol(seen[0].alert.findings[0].value, 0.2, 0.01);
}
END_TEST

START_TEST(test_threshold_switched_off_clears)
{
	uint32_t port = find_port(0x201, 3);

	agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] += 20;
	sweep(1);
	set("alerts.SymbolErrorCounter", "off");
	for (unsigned i = 0; i < 4; i++) {
		agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] += 20;
		sweep(1);
	}
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_SYMBOL_ERROR_COUNTER);
}
END_TEST

START_TEST(test_alerts_switched_off_clears_at_once)
{
	agents->raw[find_port(0x201, 3)][TRIAD_SYMBOL_ERROR_COUNTER] += 20;
	sweep(1);
	set("alerts.enabled", "false");
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_SYMBOL_ERROR_COUNTER);
	ck_assert_uint_eq(n_active(), 0);
}
END_TEST

/* Row: A12 */
START_TEST(test_trap_of_the_port_is_noted)
{
	uint32_t port = find_port(0x201, 3);
	struct triad_watch *watch = triad_collector_watch(collector);

	triad_watch_note_sm(watch, 0, 0, 0, agents->now_us);
	triad_watch_note_sm(watch, 129, fabric->ports[port].lid, 4, agents->now_us);
	triad_watch_note_sm(watch, 129, fabric->ports[port].lid, 3, agents->now_us);
	agents->raw[port][TRIAD_LOCAL_LINK_INTEGRITY_ERRORS] += 5;
	agents->raw[find_port(0x202, 5)][TRIAD_SYMBOL_ERROR_COUNTER] += 50;
	sweep(1);
	ck_assert_uint_eq(n_seen, 2);
	ck_assert_int_eq(seen[0].alert.sm.kind, TRIAD_ALERT_SM_TRAP);
	ck_assert_uint_eq(seen[0].alert.sm.trap, 129);
	ck_assert_int_eq(seen[1].alert.sm.kind, TRIAD_ALERT_SM_NOTHING);
}
END_TEST

START_TEST(test_counter_at_its_maximum_is_reported_as_at_least)
{
	agents->raw[find_port(0x201, 3)][TRIAD_LOCAL_LINK_INTEGRITY_ERRORS] = 15;
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	ck_assert(seen[0].alert.findings[0].at_least);
}
END_TEST

START_TEST(test_active_and_cleared_are_listed)
{
	struct triad_watch *watch = triad_collector_watch(collector);
	uint32_t cursor = 0, n[3] = {0};
	struct triad_alert alert;

	agents->raw[find_port(0x201, 3)][TRIAD_SYMBOL_ERROR_COUNTER] += 20;
	sweep(1);
	for (unsigned i = 0; i < 4; i++) {
		agents->raw[find_port(0x202, 3)][TRIAD_SYMBOL_ERROR_COUNTER] += 20;
		sweep(1);
	}
	while (triad_watch_next_alert(watch, &cursor, &alert))
		n[alert.state]++;
	ck_assert_uint_eq(n[TRIAD_ALERT_PENDING], 0);
	ck_assert_uint_eq(n[TRIAD_ALERT_ACTIVE], 1);
	ck_assert_uint_eq(n[TRIAD_ALERT_CLEARED], 1);
}
END_TEST

/* 100,000 ports fail in one sweep.  The watch reports and silences alerts in slices.
 * This test needs only the number of ports, so it uses no collector. */
START_TEST(test_more_alerts_than_fit_are_counted)
{
	static const struct triad_alerts_sink sink = {.take = take};
	struct triad_alerts_params alert_params = {.enabled = true, .clear_below = 0.5};
	struct triad_engine_changes changes = {
		.fresh = 1u << TRIAD_SYMBOL_ERROR_COUNTER,
		.changed = 1u << TRIAD_SYMBOL_ERROR_COUNTER,
	};
	struct triad_fabric *large = fabric_row(400, 250);
	struct triad_groups *groups = triad_groups_new(conf);
	struct triad_engine *engine = triad_engine_new();
	struct triad_view *view = triad_view_new(engine, large, groups);
	struct triad_silences *silences = calloc(1, sizeof(*silences));
	struct triad_alerts *alerts = triad_alerts_new(&sink, silences);
	const struct triad_silence all = {
		.until_us = S, .choice = triad_node_choice_make("*", NULL, 0)};
	uint32_t cursor = 0;

	changes.interval_us[TRIAD_READ_ERRORS] = 10e6f;
	changes.change[TRIAD_SYMBOL_ERROR_COUNTER] = 100;
	triad_alerts_configure(alerts, &alert_params, conf, S);
	ck_assert_int_eq(triad_alerts_adopt(alerts, view, S), 0);
	for (uint32_t i = 0; i < large->n_ports; i++)
		if (large->nodes[large->ports[i].node].type == TRIAD_NODE_CA)
			triad_alerts_look(alerts, i, &changes, 2 * S);
	triad_alerts_end_sweep(alerts, false, 2 * S);
	ck_assert(triad_alerts_settle(alerts, 2 * S, &cursor, 100));
	ck_assert_uint_eq(triad_alerts_counts(alerts).n_active, 100);
	ck_assert(!triad_alerts_settle(alerts, 2 * S, &cursor, UINT32_MAX));
	ck_assert_uint_eq(triad_alerts_counts(alerts).n_active, TRIAD_ALERTS_MAX);
	ck_assert_uint_eq(
		triad_alerts_counts(alerts).n_not_kept, 100000 - TRIAD_ALERTS_MAX);
	ck_assert_uint_eq(n_seen, TRIAD_ALERTS_MAX);
	ck_assert_uint_le(triad_alerts_octets(alerts), 64u << 20);
	triad_silences_add(silences, &all);
	cursor = 0;
	ck_assert(triad_alerts_silence(alerts, &cursor, 100));
	ck_assert_uint_eq(triad_alerts_counts(alerts).n_silenced, 100);
	ck_assert(!triad_alerts_silence(alerts, &cursor, UINT32_MAX));
	ck_assert_uint_eq(triad_alerts_counts(alerts).n_silenced, TRIAD_ALERTS_MAX);
	changes.changed = 0;
	for (uint32_t i = 0; i < large->n_ports; i++)
		triad_alerts_look(alerts, i, &changes, 3 * S);
	triad_alerts_end_sweep(alerts, false, 4 * S);
	cursor = 0;
	ck_assert(!triad_alerts_settle(alerts, 4 * S, &cursor, UINT32_MAX));
	ck_assert_uint_eq(triad_alerts_counts(alerts).n_active, 0);
	triad_alerts_free(alerts);
	free(silences);
	triad_view_unref(view);
	triad_engine_free(engine);
	triad_groups_unref(groups);
	triad_fabric_unref(large);
}
END_TEST

/* Port 0 has no plug, whatever it counts. */
START_TEST(test_advice_at_port_0_names_no_cable_and_no_far_end)
{
	struct triad_alert alert = {
		.n_ends = 1,
		.ends = {{.node_type = TRIAD_NODE_SWITCH, .port = 0}},
	};

	for (unsigned cause = 0; cause < TRIAD_N_COUNTERS; cause++) {
		alert.findings[0].cause = (uint8_t)cause;
		ck_assert_msg(!advises(&alert, "cable") && !advises(&alert, "far end"),
			"%s: %s", triad_alert_cause_name(cause),
			triad_alert_advice(&alert));
	}
	alert.findings[0].cause = TRIAD_PORT_XMIT_WAIT;
	ck_assert(advises(&alert, "management port"));
	alert.ends[0].port = 1;
	ck_assert(advises(&alert, "far end"));
}
END_TEST

/* Advice for a node that left: one with one cable, one with several, and a router,
 * which leads to other nodes. */
START_TEST(test_advice_for_what_left_fits_what_it_is)
{
	struct triad_alert alert = {
		.n_ends = 2,
		.n_nodes = 1,
		.n_links = 1,
		.ends = {{.node_type = TRIAD_NODE_CA}},
		.findings = {{.cause = TRIAD_ALERT_NODE_GONE}},
	};

	assert_mentions(triad_alert_advice(&alert), "power cable");
	alert.n_links = 3;
	alert.ends[0].node_type = TRIAD_NODE_SWITCH;
	assert_mentions(triad_alert_advice(&alert), "power cables");
	alert.ends[0].node_type = TRIAD_NODE_ROUTER;
	assert_mentions(triad_alert_advice(&alert), "power cables subnets");
	ck_assert_int_eq(triad_alert_severity(&alert), TRIAD_CRITICAL);
}
END_TEST

START_TEST(test_advice_names_cable_only_where_there_is_one)
{
	struct triad_alert alert = {
		.n_ends = 1,
		.ends = {{.node_type = TRIAD_NODE_SWITCH, .port = 1}},
		.findings = {{.cause = TRIAD_SYMBOL_ERROR_COUNTER}},
	};

	ck_assert_ptr_nonnull(strstr(triad_alert_advice(&alert), "cable"));
	/* A switch's own management port. */
	alert.ends[0].port = 0;
	ck_assert_ptr_null(strstr(triad_alert_advice(&alert), "cable"));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("alerts");

	tcase_add_checked_fixture(cases, set_up_alerts, tear_down);
	tcase_add_test(cases, test_counter_at_threshold_is_raised_with_both_ends);
	tcase_add_test(cases, test_all_digits_of_large_counts_are_said);
	tcase_add_test(cases, test_counter_under_threshold_is_no_alert);
	tcase_add_test(cases, test_alert_clears_under_half_for_clear_after);
	tcase_add_test(cases, test_alert_that_flaps_is_one_alert);
	tcase_add_test(cases, test_alert_is_raised_when_it_lasted);
	tcase_add_test(cases, test_all_errors_of_a_link_are_one_alert);
	tcase_add_test(cases, test_nothing_is_hidden_by_what_matters_less);
	tcase_add_test(cases, test_loss_is_reported_though_six_counters_are_over);
	tcase_add_test(cases, test_later_error_joins);
	tcase_add_test(cases, test_dead_cable_is_one_alert);
	tcase_add_test(cases, test_advice_names_cable_only_where_there_is_one);
	tcase_add_test(cases, test_advice_at_port_0_names_no_cable_and_no_far_end);
	tcase_add_test(cases, test_advice_for_what_left_fits_what_it_is);
	tcase_add_loop_test(
		cases, test_lost_rack_that_was_taken_down_is_no_alert, 0, 3);
	tcase_add_test(cases, test_lost_rack_is_one_alert);
	tcase_add_test(cases, test_link_down_is_raised_and_cleared);
	tcase_add_loop_test(cases, test_advice_about_a_host_is_that_of_its_switch_port,
		0, sizeof(left_ports) / sizeof(left_ports[0]));
	tcase_add_test(cases, test_link_that_is_down_follows_the_state_of_its_ports);
	tcase_add_test(cases, test_links_false_loss_is_no_alert);
	tcase_add_test(cases, test_part_of_a_fabric_loss_is_no_alert);
	tcase_add_test(cases, test_node_gone_for_a_day_is_forgotten);
	tcase_add_test(cases, test_silent_node_is_one_alert_for_all_its_ports);
	tcase_add_test(cases, test_silent_node_that_is_gone_is_one_alert);
	tcase_add_test(
		cases, test_silent_node_that_was_gone_is_silent_again_in_one_alert);
	tcase_add_test(cases, test_wait_as_share_of_time);
	tcase_add_test(cases, test_wait_of_a_small_lower_bound_is_no_alert);
	tcase_add_test(
		cases, test_wait_of_a_small_lower_bound_raises_no_pending_finding);
	tcase_add_loop_test(cases,
		test_wait_of_a_large_lower_bound_is_an_alert_until_it_is_known, 0, 2);
	tcase_add_test(cases, test_group_and_type_have_thresholds_of_their_own);
	tcase_add_test(cases, test_threshold_switched_off_clears);
	tcase_add_test(cases, test_alerts_switched_off_clears_at_once);
	tcase_add_test(cases, test_trap_of_the_port_is_noted);
	tcase_add_test(cases, test_counter_at_its_maximum_is_reported_as_at_least);
	tcase_add_test(cases, test_active_and_cleared_are_listed);
	tcase_add_test(cases, test_more_alerts_than_fit_are_counted);
	return run_cases(cases);
}
