/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Alerts when events overlap: the fabric or the configuration changes in mid-sweep, or
 * before the last alert has ended. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/perfmgr/alert_fixture.h"

/* Checks that the case didn't cause a storm of alerts. */
static void tear_down_alerts(void)
{
	ck_assert_uint_le(n_seen, 64);
	tear_down();
}

/* The only active alert. */
static struct triad_alert the_alert(void)
{
	struct triad_alert alert;
	uint32_t cursor = 0;

	ck_assert_uint_eq(n_active(), 1);
	ck_assert(triad_watch_next_alert(
		triad_collector_watch(collector), &cursor, &alert));
	return alert;
}

static void sweep_and_count(uint32_t port, unsigned counter, uint64_t more)
{
	agents->raw[port][counter] += more;
	sweep(1);
}

/* Configures a group with the ports 'ports' of the nodes 'nodes'. */
static void add_group(const char *nodes, const char *ports)
{
	strcpy(conf->groups[0].name, "some");
	strcpy(conf->groups[0].nodes, nodes);
	strcpy(conf->groups[0].ports, ports);
	conf->n_groups = 1;
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		conf->thresholds[TRIAD_CONF_N_TYPES].counter[i].unit =
			TRIAD_THRESHOLD_INHERIT;
}

/* --- changed fabrics --- */

struct end {
	uint64_t guid;
	unsigned port;
};

/* Changes to make to a copy of a fabric; all 0: none. */
struct make_over {
	struct end without;        /* a port to leave out */
	struct end plug_a, plug_b; /* to connect; their former far ends become free */
	struct triad_fabric_node more; /* a node to add, with so many ports */
	uint16_t more_lid;
	bool each_has_a_lid; /* the added ports have consecutive LIDs from 'more_lid' */
};

static bool is_end(const struct triad_fabric *of, uint32_t port, const struct end *end)
{
	return port != TRIAD_FABRIC_NONE &&
		of->nodes[of->ports[port].node].guid == end->guid &&
		of->ports[port].number == end->port;
}

static void copy_port(struct triad_fabric_builder *builder,
	const struct triad_fabric *from, uint32_t at, const struct make_over *over)
{
	const struct triad_fabric_port *port = &from->ports[at];
	uint32_t far = port->remote;
	struct end end = {0};

	if (is_end(from, at, &over->without))
		return;
	if (is_end(from, at, &over->plug_a))
		end = over->plug_b;
	else if (is_end(from, at, &over->plug_b))
		end = over->plug_a;
	else if (far != TRIAD_FABRIC_NONE && !is_end(from, far, &over->plug_a) &&
		!is_end(from, far, &over->plug_b) && !is_end(from, far, &over->without))
		end = (struct end){from->nodes[from->ports[far].node].guid,
			from->ports[far].number};
	triad_fabric_builder_add_port(builder, port, end.guid, (uint8_t)end.port);
}

static void add_more(struct triad_fabric_builder *builder, const struct make_over *over)
{
	triad_fabric_builder_add_node(builder, &over->more, "more", NULL, 0);
	for (unsigned i = 1; i <= over->more.n_ports; i++) {
		struct triad_fabric_port port = {
			.guid = over->more.guid,
			.lid = (uint16_t)(over->more_lid +
				(over->each_has_a_lid ? i - 1 : 0)),
			.number = (uint8_t)i,
			.state = TRIAD_PORT_ACTIVE,
			.has_pma = true,
		};

		triad_fabric_builder_add_port(builder, &port, 0, 0);
	}
}

static struct triad_fabric *made_over(
	const struct triad_fabric *from, struct make_over over)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *made = NULL;

	for (uint32_t i = 0; i < from->n_nodes; i++) {
		const struct triad_fabric_node *node = &from->nodes[i];

		triad_fabric_builder_add_node(builder, node, node->name, NULL, 0);
		for (uint32_t p = 0; p < node->n_ports; p++)
			copy_port(builder, from, node->first_port + p, &over);
	}
	if (over.more.guid)
		add_more(builder, &over);
	ck_assert_int_eq(triad_fabric_build(builder, from->sm_port_guid, &made), 0);
	triad_fabric_builder_free(builder);
	return made;
}

/* --- losses --- */

/* OpenSM drops a port of a node that it reaches through another port. */
START_TEST(test_link_down_with_its_port_is_raised_and_cleared)
{
	struct triad_fabric *whole = triad_fabric_ref(fabric);

	change_fabric(made_over(whole, (struct make_over){.without = {0x202, 12}}));
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_LINK_DOWN);
	change_fabric(whole);
	sweep(3);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_ALERT_LINK_DOWN);
}
END_TEST

/* Triad reads the SA's tables one after the other, so a node may be in only one. */
START_TEST(test_node_without_ports_goes_is_no_alert)
{
	struct triad_fabric *whole = triad_fabric_ref(fabric);

	change_fabric(made_over(whole,
		(struct make_over){.more = {.guid = 0xfffff, .type = TRIAD_NODE_CA}}));
	sweep(1);
	change_fabric(whole);
	sweep(1);
	ck_assert_uint_eq(n_seen, 0);
}
END_TEST

/* Another cable is plugged into a port that has an alert; then the node behind it
 * leaves. */
START_TEST(test_node_gone_behind_port_with_older_alert_is_raised)
{
	uint64_t gone = 0x10000 + 256 + 4;
	struct triad_fabric *other;

	sweep_and_count(find_port(0x201, 3), TRIAD_SYMBOL_ERROR_COUNTER, 100);
	other = made_over(
		fabric, (struct make_over){.plug_a = {0x201, 3}, .plug_b = {gone, 1}});
	change_fabric(other);
	sweep(1);
	change_fabric(fabric_without(other, &gone, 1, 0, 0));
	sweep(1);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_RAISED, TRIAD_ALERT_NODE_GONE);
	ck_assert_uint_eq(seen[1].alert.ends[0].node_guid, gone);
}
END_TEST

/* A switch comes back, and one of its links dies before the alert has ended. */
START_TEST(test_link_down_after_switch_came_back_is_raised)
{
	struct triad_fabric *whole = triad_fabric_ref(fabric);
	uint64_t gone[11];

	for (unsigned j = 0; j <= 10; j++)
		gone[j] = j ? 0x10000 + 256 + j : 0x201;
	change_fabric(fabric_without(whole, gone, 11, 0, 0));
	sweep(1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_NODE_GONE);
	ck_assert_uint_eq(seen[0].alert.n_links, 2);
	change_fabric(triad_fabric_ref(whole));
	sweep(1);
	change_fabric(fabric_without(whole, NULL, 0, 0x200, 11));
	sweep(4);
	ck_assert_uint_eq(n_seen, 3);
	expect(1, TRIAD_ALERT_RAISED, TRIAD_ALERT_LINK_DOWN);
	expect(2, TRIAD_ALERT_ENDED, TRIAD_ALERT_NODE_GONE);
	change_fabric(whole);
	sweep(3);
	ck_assert_uint_eq(n_seen, 4);
	expect(3, TRIAD_ALERT_ENDED, TRIAD_ALERT_LINK_DOWN);
}
END_TEST

START_TEST(test_node_gone_twice_is_one_node)
{
	struct triad_fabric *whole = triad_fabric_ref(fabric);
	uint64_t gone = 0x10000 + 256 + 3, begun_us = 0;
	char text[TRIAD_ALERT_TEXT_SIZE];
	struct triad_alert alert;

	for (unsigned i = 0; i < 3; i++) {
		change_fabric(fabric_without(whole, &gone, 1, 0, 0));
		sweep(1);
		if (!i)
			begun_us = the_alert().findings[0].since_us;
		if (i < 2)
			change_fabric(triad_fabric_ref(whole));
		sweep(1);
	}
	ck_assert_uint_eq(n_seen, 1);
	ck_assert_uint_eq(the_alert().n_nodes, 1);
	ck_assert_uint_eq(the_alert().n_links, 1);
	/* It goes on from its beginning, and says how often. */
	alert = the_alert();
	ck_assert_uint_eq(alert.findings[0].since_us, begun_us);
	ck_assert_float_eq(alert.findings[0].value, 3);
	triad_alert_finding_format(&alert, &alert.findings[0], text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "3 times"));
	triad_fabric_unref(whole);
}
END_TEST

/* The node was down for a day in total, but is up now. */
START_TEST(test_node_that_is_back_after_a_day_is_not_forgotten)
{
	struct triad_fabric *whole = triad_fabric_ref(fabric);
	uint64_t gone = 0x10000 + 256 + 3;

	change_fabric(fabric_without(whole, &gone, 1, 0, 0));
	params.period_us = 3600 * S;
	triad_collector_set_params(collector, &params);
	sweep(23);
	ck_assert_uint_eq(n_seen, 1);
	set("alerts.clear_after", "7000");
	change_fabric(whole);
	sweep(4);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_ALERT_NODE_GONE);
	ck_assert(!seen[1].alert.forgotten);
}
END_TEST

/* The node is down for more than a day, but was up for a moment in between. */
START_TEST(test_node_that_flaps_for_a_day_is_not_forgotten)
{
	struct triad_fabric *whole = triad_fabric_ref(fabric);
	uint64_t gone = 0x10000 + 256 + 3;

	set("alerts.clear_after", "7000");
	params.period_us = 3600 * S;
	triad_collector_set_params(collector, &params);
	change_fabric(fabric_without(whole, &gone, 1, 0, 0));
	sweep(13);
	change_fabric(triad_fabric_ref(whole));
	sweep(1);
	change_fabric(fabric_without(whole, &gone, 1, 0, 0));
	sweep(13);
	ck_assert_uint_eq(n_seen, 1);
	sweep(13);
	ck_assert_uint_eq(n_seen, 2);
	ck_assert(seen[1].alert.forgotten);
	triad_fabric_unref(whole);
}
END_TEST

START_TEST(test_links_switched_off_clears_losses)
{
	change_fabric(fabric_without(fabric, NULL, 0, 0x201, 11));
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	set("alerts.links", "false");
	sweep(3);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_ALERT_LINK_DOWN);
}
END_TEST

/* --- findings --- */

/* When the first finding of an alert ends, the alert's first end is that of the next
 * finding. */
START_TEST(test_heading_over_next_finding_is_reported_at_its_end)
{
	uint32_t port = find_port(0x201, 3), far = fabric->ports[port].remote;
	struct triad_alert alert;

	agents->raw[port][TRIAD_LINK_DOWNED_COUNTER] += 1;
	for (unsigned i = 0; i < 4; i++)
		sweep_and_count(far, TRIAD_SYMBOL_ERROR_COUNTER, 100);
	alert = the_alert();
	ck_assert_uint_eq(alert.n_findings, 1);
	ck_assert_uint_eq(alert.findings[0].cause, TRIAD_SYMBOL_ERROR_COUNTER);
	ck_assert_uint_eq(alert.findings[0].end, 0);
	ck_assert_uint_eq(alert.ends[0].node_guid, 0x10000 + 256 + 3);
	ck_assert_uint_eq(alert.ends[1].node_guid, 0x201);
}
END_TEST

/* The finding that raised the alert ends while another is pending; that one ends
 * without having been raised. */
START_TEST(test_pending_finding_that_ends_unraised_leaves_the_alert_as_it_was)
{
	uint32_t port = find_port(0x201, 3);

	set("alerts.raise_after", "15");
	for (unsigned i = 0; i < 3; i++)
		sweep_and_count(port, TRIAD_SYMBOL_ERROR_COUNTER, 100);
	ck_assert_uint_eq(n_seen, 1);
	sweep(2);
	sweep_and_count(port, TRIAD_PORT_RCV_ERRORS, 1000);
	sweep(2);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_SYMBOL_ERROR_COUNTER);
}
END_TEST

/* An alert's first finding is the raised one, not one that is still pending. */
START_TEST(test_pending_finding_is_reported_last)
{
	uint32_t port = find_port(0x201, 3);

	set("alerts.raise_after", "15");
	for (unsigned i = 0; i < 2; i++)
		sweep_and_count(port, TRIAD_SYMBOL_ERROR_COUNTER, 100);
	agents->raw[port][TRIAD_LINK_DOWNED_COUNTER] += 1;
	sweep_and_count(port, TRIAD_SYMBOL_ERROR_COUNTER, 100);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_SYMBOL_ERROR_COUNTER);
}
END_TEST

/* --- groups --- */

/* Without this, a port that Triad no longer queries would keep its alert for ever. */
START_TEST(test_group_skipped_clears_its_alerts)
{
	add_group("switch-1", "3");
	configure();
	sweep_and_count(find_port(0x201, 3), TRIAD_SYMBOL_ERROR_COUNTER, 100);
	ck_assert_uint_eq(n_seen, 1);
	conf->groups[0].skip = true;
	configure();
	sweep(3);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_SYMBOL_ERROR_COUNTER);
}
END_TEST

START_TEST(test_group_skipped_clears_its_silence)
{
	add_group("switch-1", "");
	configure();
	agents->silent_lid = 2;
	sweep(2);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_UNANSWERED);
	conf->groups[0].skip = true;
	configure();
	sweep(3);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_ALERT_UNANSWERED);
}
END_TEST

/* Triad often queries the first port of an HCA, which answers; the second never
 * answers. */
START_TEST(test_group_sweep_answered_does_not_hide_silent_port)
{
	change_fabric(made_over(fabric,
		(struct make_over){
			.more = {.guid = 0x300, .type = TRIAD_NODE_CA, .n_ports = 2},
			.more_lid = 600,
			.each_has_a_lid = true}));
	add_group("more", "1");
	conf->groups[0].sweep_period_s = 3;
	configure();
	agents->silent_lid = 601;
	sweep(4);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_UNANSWERED);
	sweep(5);
	ck_assert_uint_eq(n_seen, 1);
	agents->silent_lid = 0;
	for (unsigned i = 0; i < 40 && n_seen == 1; i++)
		sweep(1);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_ALERT_UNANSWERED);
}
END_TEST

static void turn_until_sweeping(void)
{
	while (triad_collector_status(collector).sweeping)
		agents->now_us += triad_collector_step(collector);
	for (unsigned turns = 0; !triad_collector_status(collector).sweeping; turns++) {
		agents->now_us += triad_collector_step(collector);
		ck_assert_uint_lt(turns, 1000);
	}
}

/* A group's sweep leaves out the ports of an agent that never answered; one more of its
 * ports appears in mid-sweep. */
START_TEST(test_group_sweep_first_port_of_unknown_agent_comes_sweep_ends)
{
	struct triad_fabric *whole = triad_fabric_ref(fabric);
	unsigned n = 0;

	add_group("switch-*", "1");
	conf->groups[0].sweep_period_s = 3;
	configure();
	change_fabric(made_over(whole, (struct make_over){.without = {0x201, 1}}));
	agents->silent_lid = 2;
	sweep(2);
	agents->latency_us = agents->jitter_us = 10 * MS;
	while (!n) {
		uint64_t started_us = triad_collector_status(collector).started_us;

		turn_until_sweeping();
		n = triad_collector_status(collector).started_us == started_us;
	}
	change_fabric(whole);
	sweep(2);
}
END_TEST

/* --- silence --- */

/* A port appears in mid-sweep, at an agent that the sweep leaves out.  The former
 * fabric had no port with its number. */
START_TEST(test_port_of_silent_agent_comes_in_mid_sweep)
{
	struct triad_fabric *whole = triad_fabric_ref(fabric);
	struct make_over over = {
		.more = {.guid = 0xf0000, .type = TRIAD_NODE_SWITCH, .n_ports = 2},
		.more_lid = 500};

	agents->silent_lid = 500;
	for (unsigned i = 0; i < 12; i++) {
		over.more.n_ports = 2 + i % 2 * 60;
		turn_until_sweeping();
		change_fabric(made_over(whole, over));
	}
	sweep(2);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_UNANSWERED);
	ck_assert_uint_eq(seen[0].alert.ends[0].node_guid, 0xf0000);
	triad_fabric_unref(whole);
}
END_TEST

/* Runs until a query of the current sweep has timed out while others are still due. */
static void turn_until_unanswered(void)
{
	struct triad_collector_status status;

	agents->latency_us = 20 * MS;
	params.sweep.window = 4;
	params.sweep.retries = 0;
	triad_collector_set_params(collector, &params);
	turn_until_sweeping();
	do {
		agents->now_us += triad_collector_step(collector);
		status = triad_collector_status(collector);
		ck_assert(status.sweeping);
	} while (!status.progress.n_unanswered);
}

/* A silent node loses its ports in mid-sweep, and with them its only addresses. */
START_TEST(test_ports_of_silent_node_go_in_mid_sweep_is_no_alert)
{
	struct triad_fabric *whole = triad_fabric_ref(fabric);
	struct make_over over = {
		.more = {.guid = 0x1, .type = TRIAD_NODE_SWITCH, .n_ports = 2},
		.more_lid = 500};

	set("alerts.unanswered", "1");
	change_fabric(made_over(whole, over));
	agents->silent_lid = 500;
	turn_until_unanswered();
	over.more.n_ports = 0;
	change_fabric(made_over(whole, over));
	sweep(2);
	ck_assert_uint_eq(n_seen, 0);
	triad_fabric_unref(whole);
}
END_TEST

START_TEST(test_group_skipped_in_mid_sweep_is_not_silent)
{
	add_group("switch-1", "");
	configure();
	agents->silent_lid = 2;
	sweep(1);
	turn_until_unanswered();
	conf->groups[0].skip = true;
	configure();
	sweep(4);
	ck_assert_uint_eq(n_seen, 0);
}
END_TEST

START_TEST(test_silence_while_alerts_are_off_is_not_counted)
{
	set("alerts.unanswered", "1");
	set("alerts.enabled", "false");
	agents->silent_lid = 2;
	sweep(5);
	agents->silent_lid = 0;
	sweep(20); /* Triad queries it again after a while */
	set("alerts.enabled", "true");
	sweep(2);
	ck_assert_uint_eq(n_seen, 0);
	agents->silent_lid = 2;
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	ck_assert_float_eq(seen[0].alert.findings[0].value, 12);
}
END_TEST

/* Results of an aborted sweep don't count. */
START_TEST(test_sweep_broken_off_misses_are_not_counted_twice)
{
	set("alerts.unanswered", "1");
	agents->silent_lid = 2;
	turn_until_unanswered();
	triad_collector_drain(collector, S);
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	ck_assert_float_eq(seen[0].alert.findings[0].value, 12);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("alert_hard_cases");

	tcase_add_checked_fixture(cases, set_up_alerts, tear_down_alerts);
	tcase_add_test(cases, test_link_down_with_its_port_is_raised_and_cleared);
	tcase_add_test(cases, test_node_without_ports_goes_is_no_alert);
	tcase_add_test(cases, test_node_gone_behind_port_with_older_alert_is_raised);
	tcase_add_test(cases, test_link_down_after_switch_came_back_is_raised);
	tcase_add_test(cases, test_node_gone_twice_is_one_node);
	tcase_add_test(cases, test_node_that_is_back_after_a_day_is_not_forgotten);
	tcase_add_test(cases, test_node_that_flaps_for_a_day_is_not_forgotten);
	tcase_add_test(cases, test_links_switched_off_clears_losses);
	tcase_add_test(cases, test_heading_over_next_finding_is_reported_at_its_end);
	tcase_add_test(cases,
		test_pending_finding_that_ends_unraised_leaves_the_alert_as_it_was);
	tcase_add_test(cases, test_pending_finding_is_reported_last);
	tcase_add_test(cases, test_group_skipped_clears_its_alerts);
	tcase_add_test(cases, test_group_skipped_clears_its_silence);
	tcase_add_test(cases, test_group_sweep_answered_does_not_hide_silent_port);
	tcase_add_test(
		cases, test_group_sweep_first_port_of_unknown_agent_comes_sweep_ends);
	tcase_add_test(cases, test_port_of_silent_agent_comes_in_mid_sweep);
	tcase_add_test(cases, test_ports_of_silent_node_go_in_mid_sweep_is_no_alert);
	tcase_add_test(cases, test_group_skipped_in_mid_sweep_is_not_silent);
	tcase_add_test(cases, test_silence_while_alerts_are_off_is_not_counted);
	tcase_add_test(cases, test_sweep_broken_off_misses_are_not_counted_twice);
	return run_cases(cases);
}
