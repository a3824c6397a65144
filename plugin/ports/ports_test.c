/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plugin/ports/ports_parts.h"

/* Short, so that a link under test does not delay the others. */
#define SMP_TIMEOUT_MS 100u
/* When to retry a record that the journal or a majority did not take. */
#define RECORD_AGAIN_US (10 * TRIAD_US_PER_S)

const struct ports_test *ports_find_test(
	const struct ports_tests *tests, uint64_t node_guid, uint8_t number)
{
	for (uint32_t i = 0; i < tests->n; i++)
		if (tests->all[i].node_guid == node_guid &&
			tests->all[i].number == number)
			return &tests->all[i];
	return NULL;
}

static void remove_test(struct ports_tests *tests, uint32_t i)
{
	tests->all[i] = tests->all[--tests->n];
}

void ports_end_tests(struct triad_ports *ports)
{
	ports->tests.n = 0;
}

/* The port in the fabric, or TRIAD_FABRIC_NONE. */
static uint32_t find_tested_port(
	const struct triad_ports *ports, const struct ports_test *test)
{
	if (!ports->fabric)
		return TRIAD_FABRIC_NONE;
	return triad_fabric_port_at(ports->fabric, test->node_guid, test->number);
}

/* --- results of sweeps --- */

static void look_at_port(struct triad_ports *ports, struct ports_test *test,
	uint32_t at, const struct triad_expected_port *row, uint64_t now_us)
{
	const struct triad_fabric *fabric = ports->fabric;
	const struct triad_fabric_port *port = &fabric->ports[at];
	char why[256] = "";
	struct triad_test_seen seen = {
		.is_linked = port->remote != TRIAD_FABRIC_NONE &&
			port->phys_state == TRIAD_PHYS_LINK_UP,
		.is_active = port->state == TRIAD_PORT_ACTIVE,
		.width = port->width,
		.speed = (uint8_t)triad_link_speed(port->speed, port->speed_ext),
		.why = why,
	};
	enum triad_remote_match match = triad_remote_compare(
		fabric, at, ports->source.expected, &row->remote, why, sizeof(why));

	seen.is_miswired =
		match == TRIAD_REMOTE_DIFFERS || match == TRIAD_REMOTE_NAME_DIFFERS;
	seen.is_only_name = match == TRIAD_REMOTE_NAME_DIFFERS;
	if (port->remote != TRIAD_FABRIC_NONE)
		seen.remote_guid = fabric->ports[port->remote].guid;
	triad_port_test_look(&test->test, &seen, now_us);
}

/* --- beginning --- */

struct triad_test_conf ports_test_conf(const struct triad_ports *ports)
{
	const struct triad_conf *conf = ports->conf;

	return (struct triad_test_conf){
		.timeout_us = conf->port.test_timeout_s * TRIAD_US_PER_S,
		.quality_us = conf->port.test_time_s * TRIAD_US_PER_S,
		/* Each test gets an equal share. */
		.smp_interval_us =
			TRIAD_US_PER_S * PORTS_MAX_TESTS / PORTS_TEST_SMPS_PER_S,
		.max_lost = conf->port.test_max_lost,
		.max_errors = conf->port.test_max_errors,
	};
}

static struct triad_test_expected expected_of(
	const struct triad_ports *ports, const struct triad_plan_item *item)
{
	const struct triad_expected *expected = ports->source.expected;
	const struct triad_expected_port *row = &expected->ports[item->row];
	struct triad_test_expected expected_row = {
		.width = row->width, .speed = row->speed, .ping = row->check_ping};

	snprintf(expected_row.name, sizeof(expected_row.name), "%s",
		triad_expected_text(expected, row->check_name));
	return expected_row;
}

static int record_test(struct triad_ports *ports, uint64_t node_guid, uint8_t number,
	struct triad_record *record)
{
	record->node_guid = node_guid;
	record->port = number;
	triad_log_write(ports->log,
		record->action == TRIAD_ACTION_FAIL ? TRIAD_LOG_ERROR : TRIAD_LOG_INFO,
		"ports: %s (0x%016" PRIx64 ") port %u: %s%s%s",
		ports_node_name(ports, node_guid), node_guid, number,
		triad_port_action_name(record->action), *record->text ? ": " : "",
		record->text);
	return ports_commit(ports, record);
}

bool ports_has_room_for_test(const struct triad_ports *ports)
{
	return ports->tests.n < PORTS_MAX_TESTS;
}

bool ports_begin_test(struct triad_ports *ports, const struct triad_plan_item *item)
{
	struct triad_record record = {.action = TRIAD_ACTION_TEST,
		.outcome = TRIAD_OUTCOME_INTENDED,
		.reason = TRIAD_REASON_EXPECTED,
		.remote_guid = item->remote_guid};
	struct triad_test_expected expected_row;
	struct triad_test_conf conf;
	struct ports_test *test;

	if (ports_find_test(&ports->tests, item->node_guid, item->number))
		return true;
	if (!ports_has_room_for_test(ports))
		return false;
	/* Only a link in INIT can be held (hold.h), so bounce one that is active. */
	if (item->is_active &&
		ports_bounce(ports, item->node_guid, item->number, item->remote_guid,
			TRIAD_REASON_EXPECTED, "its link was active before its test"))
		return false;
	/* The record makes the next holder of the lease hold the port, too. */
	if (record_test(ports, item->node_guid, item->number, &record))
		return false;
	test = &ports->tests.all[ports->tests.n++];
	*test = (struct ports_test){
		.node_guid = item->node_guid, .number = item->number};
	conf = ports_test_conf(ports);
	expected_row = expected_of(ports, item);
	triad_port_test_begin(&test->test, &conf, &expected_row, triad_clock_boot_us());
	/* A sweep follows a bounce and shows the link anew.  For any other link use
	 * this fabric, as no sweep may come. */
	if (!item->is_active)
		look_at_port(ports, test, item->port,
			&ports->source.expected->ports[item->row],
			triad_clock_boot_us());
	ports_publish_hold(ports);
	return true;
}

/* --- after each sweep --- */

/* Whether a guard stops the test that has begun: meanwhile other links went down.
 * The port is held no longer then (ports_look.c). */
static bool is_test_stopped(
	const struct triad_ports *ports, const struct ports_test *test)
{
	const struct triad_plan_item *item =
		triad_plan_find(ports->plan, test->node_guid, test->number);
	char lost[256];

	if (!item || item->kind != TRIAD_PLAN_TEST || triad_plan_is_open(item))
		return false;
	triad_plan_describe_lost(ports->fabric, &item->lost, 2, lost, sizeof(lost));
	triad_log_write(ports->log, TRIAD_LOG_WARNING,
		"ports: %s (0x%016" PRIx64
		") port %u: its test is stopped, and the port released: its link has "
		"become the only way to %s",
		ports_node_name(ports, test->node_guid), test->node_guid, test->number,
		lost);
	return true;
}

void ports_look_at_tests(struct triad_ports *ports, uint64_t now_us)
{
	uint32_t i = 0;

	while (i < ports->tests.n) {
		struct ports_test *test = &ports->tests.all[i];
		uint32_t at = find_tested_port(ports, test);
		uint32_t place = at == TRIAD_FABRIC_NONE || !ports->placed
			? TRIAD_PLACED_NONE
			: ports->placed->row_of[at];
		const struct triad_expected_port *row = place == TRIAD_PLACED_NONE
			? NULL
			: &ports->source.expected->ports[place];

		/* The port is gone, the operator no longer wants it tested, or its
		 * link has become the only way to something.  The last test takes its
		 * place in the list, so 'i' stays. */
		if (!row || row->state != TRIAD_EXPECTED_TEST ||
			is_test_stopped(ports, test)) {
			remove_test(&ports->tests, i);
			continue;
		}
		look_at_port(ports, test, at, row, now_us);
		i++;
	}
}

/* --- requests of tests --- */

/* Whether the switch answers an SMP.  The SM's way to it may have died since the last
 * sweep. */
static bool answers(
	struct triad_ports *ports, const struct ports_test *test, unsigned n_tries)
{
	const struct triad_smp_request request = {
		.attribute = TRIAD_SMP_NODE_INFO, .timeout_ms = SMP_TIMEOUT_MS};
	uint8_t data[TRIAD_SMP_DATA_SIZE];
	struct triad_smp_route route;
	uint16_t status;

	for (unsigned i = 0; i < n_tries; i++) {
		memset(data, 0, sizeof(data));
		if (!ports_find_route(ports, test->node_guid, test->number, &route) &&
			!ports_ask(ports, &route, &request, data, &status))
			return true;
	}
	return false;
}

/* An SMP that is lost counts against the link only if the switch before it answers. */
static void send_smp(struct triad_ports *ports, struct ports_test *test)
{
	const struct triad_smp_request request = {
		.attribute = TRIAD_SMP_NODE_DESCRIPTION, .timeout_ms = SMP_TIMEOUT_MS};
	uint8_t data[TRIAD_SMP_DATA_SIZE] = {0};
	char name[TRIAD_NODE_NAME_SIZE];
	struct triad_smp_route route;
	uint16_t status;
	int error = ports_find_route(ports, test->node_guid, test->number, &route);

	if (!error)
		error = triad_smp_add_hop(&route, test->number);
	if (!error)
		error = ports_ask(ports, &route, &request, data, &status);
	if (error && !answers(ports, test, 2)) {
		triad_port_test_unknown(&test->test, triad_clock_boot_us());
		return;
	}
	triad_fabric_clean_name(name, (const char *)data);
	triad_port_test_smp(&test->test, error ? NULL : name, triad_clock_boot_us());
}

static uint64_t read_errors(
	struct triad_ports *ports, uint16_t lid, uint8_t sl, uint8_t number)
{
	struct triad_smp_counts counts;

	for (unsigned i = 0; i < 3; i++)
		if (!ports_read_counters(
			    ports, lid, sl, number, SMP_TIMEOUT_MS, &counts))
			return counts.n_errors;
	return UINT64_MAX;
}

static void read_near(struct triad_ports *ports, struct ports_test *test)
{
	struct triad_smp_route route;
	uint64_t n_errors = UINT64_MAX;

	if (!ports_find_route(ports, test->node_guid, 0, &route))
		n_errors = read_errors(ports, route.lid, route.sl, test->number);
	triad_port_test_near(&test->test, n_errors, triad_clock_boot_us());
}

static const struct triad_fabric_port *far_end(
	const struct triad_ports *ports, const struct ports_test *test)
{
	uint32_t at = find_tested_port(ports, test);

	if (at == TRIAD_FABRIC_NONE ||
		ports->fabric->ports[at].remote == TRIAD_FABRIC_NONE)
		return NULL;
	return &ports->fabric->ports[ports->fabric->ports[at].remote];
}

static void read_far(struct triad_ports *ports, struct ports_test *test)
{
	const struct triad_fabric_port *far = far_end(ports, test);
	uint64_t n_errors = UINT64_MAX;

	if (far)
		n_errors = read_errors(ports, far->lid, far->sl, far->number);
	triad_port_test_far(&test->test, n_errors, triad_clock_boot_us());
}

static void ping(struct triad_ports *ports, struct ports_test *test)
{
	const struct triad_fabric_port *far = far_end(ports, test);
	bool is_answered = far && !ports_ping(ports, far->lid, far->sl, SMP_TIMEOUT_MS);

	triad_port_test_pong(&test->test, is_answered, triad_clock_boot_us());
}

static void admit(struct triad_ports *ports, struct ports_test *test)
{
	struct triad_record record = {.action = TRIAD_ACTION_ADMIT,
		.outcome = TRIAD_OUTCOME_INTENDED,
		.reason = TRIAD_REASON_EXPECTED,
		.remote_guid = test->test.remote_guid};

	if (test->is_admitted || triad_clock_boot_us() < test->again_us)
		return;
	snprintf(record.text, sizeof(record.text), "%s", "it passed its test");
	if (record_test(ports, test->node_guid, test->number, &record)) {
		test->again_us = triad_clock_boot_us() + RECORD_AGAIN_US;
		return;
	}
	/* First stop holding the port, then ask for a sweep, which activates it. */
	test->is_admitted = true;
	ports_publish_hold(ports);
	ports_ask_for_sweep(ports);
}

/* --- the end --- */

static enum triad_port_reason reason_of(const struct triad_port_test *test)
{
	static const uint8_t reasons[TRIAD_TEST_N_STEPS] = {
		[TRIAD_TEST_PRESENCE] = TRIAD_REASON_PRESENCE,
		[TRIAD_TEST_MISWIRE] = TRIAD_REASON_MISWIRED,
		[TRIAD_TEST_QUALITY] = TRIAD_REASON_QUALITY,
		[TRIAD_TEST_APPLICATION] = TRIAD_REASON_APPLICATION,
		[TRIAD_TEST_ADMISSION] = TRIAD_REASON_APPLICATION,
	};

	return test->is_timed_out ? TRIAD_REASON_TIMER
				  : (enum triad_port_reason)reasons[test->step];
}

static bool has_ended(struct triad_ports *ports, struct ports_test *test)
{
	bool has_passed = test->test.state == TRIAD_TEST_PASSED;
	struct triad_record record = {
		.action = has_passed ? TRIAD_ACTION_ADMIT : TRIAD_ACTION_FAIL,
		.outcome = TRIAD_OUTCOME_DONE,
		.reason = has_passed ? TRIAD_REASON_EXPECTED : reason_of(&test->test),
		.remote_guid = test->test.remote_guid};

	if (test->test.state == TRIAD_TEST_RUNNING ||
		triad_clock_boot_us() < test->again_us)
		return false;
	snprintf(record.text, sizeof(record.text), "%s", test->test.text);
	/* A verdict counts only with its record: the test stays until that is
	 * written. */
	if (record_test(ports, test->node_guid, test->number, &record)) {
		test->again_us = triad_clock_boot_us() + RECORD_AGAIN_US;
		return false;
	}
	ports->must_plan = true;
	return true;
}

enum triad_test_request ports_ask_for_test(
	struct triad_ports *ports, struct ports_test *test, uint64_t *until_us)
{
	enum triad_test_request request =
		triad_port_test_request(&test->test, triad_clock_boot_us(), until_us);

	switch (request) {
	case TRIAD_TEST_SEND_SMP:
		send_smp(ports, test);
		break;
	case TRIAD_TEST_READ_NEAR:
		read_near(ports, test);
		break;
	case TRIAD_TEST_READ_FAR:
		read_far(ports, test);
		break;
	case TRIAD_TEST_SEND_PING:
		ping(ports, test);
		break;
	case TRIAD_TEST_ADMIT:
	case TRIAD_TEST_WAIT:
		break;
	}
	return request;
}

/* Does what the test asks for next; false when it has to wait. */
static bool carry_out(
	struct triad_ports *ports, struct ports_test *test, uint64_t *until_us)
{
	uint64_t next_us = UINT64_MAX;
	enum triad_test_request request = ports_ask_for_test(ports, test, &next_us);

	if (request == TRIAD_TEST_ADMIT) {
		admit(ports, test);
		/* The test asks again until a sweep shows the port active. */
		next_us = triad_clock_boot_us() + TRIAD_US_PER_S;
	}
	*until_us = triad_clock_earlier(*until_us, next_us);
	return request != TRIAD_TEST_ADMIT && request != TRIAD_TEST_WAIT &&
		test->test.state == TRIAD_TEST_RUNNING;
}

uint64_t ports_run_tests(struct triad_ports *ports, uint64_t now_us)
{
	uint64_t until_us = now_us + TRIAD_US_PER_S;
	uint32_t i = 0;

	/* Tests belong to the term: the next holder of the lease begins them anew. */
	if (!ports_may_act(ports))
		ports_end_tests(ports);
	while (i < ports->tests.n && !ports_is_ending(ports)) {
		struct ports_test *test = &ports->tests.all[i];

		/* One request of each test in turn, so that a link that does not answer
		 * does not stop the other tests. */
		if (carry_out(ports, test, &until_us))
			until_us = now_us; /* the test may ask for more */
		ports_pump(ports);
		if (has_ended(ports, test))
			remove_test(&ports->tests, i);
		else
			i++;
	}
	return until_us;
}
