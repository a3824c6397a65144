/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/ports/ports_parts.h"
#include "plugin/sm_state.h"

const char *ports_node_name(const struct triad_ports *ports, uint64_t node_guid)
{
	const struct triad_fabric_node *node =
		triad_fabric_node_by_guid(ports->fabric, node_guid);

	return node ? node->name : "?";
}

/* --- ports that may be held --- */

/* Whether the port's last record says that a test has begun and was not passed.  A port
 * that failed stays failed until it is released, tested anew and admitted, even if the
 * Set that should have disabled it was not sent or did not work. */
static bool is_begun(const struct triad_record *record)
{
	if (!record)
		return false;
	switch (record->action) {
	case TRIAD_ACTION_TEST:
	case TRIAD_ACTION_BOUNCE:
	case TRIAD_ACTION_FAIL:
	case TRIAD_ACTION_RELEASE:
		return true;
	case TRIAD_ACTION_DISABLE:
		return record->reason != TRIAD_REASON_EXPECTED;
	default:
		return false;
	}
}

static struct triad_hold_port hold_port(
	const struct triad_ports *ports, uint64_t node_guid, uint8_t number)
{
	const struct ports_test *test =
		ports_find_test(&ports->tests, node_guid, number);
	struct triad_hold_port port = {
		.node_guid = node_guid,
		.number = number,
		.is_remembered = is_begun(
			triad_history_find(ports->records.history, node_guid, number)),
	};

	if (test && test->is_admitted)
		port.admitted = test->test.remote_guid;
	return port;
}

/* A port whose link is the only way to something is not held, whether the guard stops
 * its test or, when it has failed, that it is disabled. */
static bool is_guarded(
	const struct triad_ports *ports, uint64_t node_guid, uint8_t number)
{
	const struct triad_plan_item *item =
		ports->plan ? triad_plan_find(ports->plan, node_guid, number) : NULL;

	if (item && item->kind == TRIAD_PLAN_NOTE)
		return item->note == TRIAD_NOTE_ENGINE;
	return item && !triad_plan_is_open(item);
}

/* Before the first sweep only rows by GUID can be listed; rows by name need a
 * fabric. */
static uint32_t list_rows(const struct triad_ports *ports, struct triad_hold_port *list)
{
	const struct triad_expected *expected = ports->source.expected;
	uint32_t n = 0;

	for (uint32_t i = 0; i < expected->n_ports; i++) {
		const struct triad_expected_port *row = &expected->ports[i];
		uint32_t at =
			ports->placed ? ports->placed->port_of[i] : TRIAD_PLACED_NONE;
		uint64_t guid = row->node_guid;

		if (at != TRIAD_PLACED_NONE)
			guid = ports->fabric->nodes[ports->fabric->ports[at].node].guid;
		if (row->state == TRIAD_EXPECTED_TEST && guid &&
			!is_guarded(ports, guid, row->port))
			list[n++] = hold_port(ports, guid, row->port);
	}
	return n;
}

/* Without a fabric, rows by name have no GUID.  So list the ports whose test has begun
 * by the history. */
static uint32_t list_remembered(const struct triad_ports *ports,
	struct triad_hold_port *list, uint32_t n_rows, uint32_t room)
{
	uint32_t n = n_rows;

	for (unsigned bucket = 0; bucket < TRIAD_HISTORY_N_BUCKETS; bucket++) {
		const struct triad_record *record;

		for (uint32_t i = 0; n < room &&
			(record = triad_history_at(ports->records.history, bucket, i));
			i++) {
			struct triad_hold_port port =
				hold_port(ports, record->node_guid, record->port);

			if (is_begun(record) &&
				!bsearch(&port, list, n_rows, sizeof(port),
					triad_hold_compare))
				list[n++] = port;
		}
	}
	return n;
}

static void publish_hold(struct triad_ports *ports)
{
	const struct triad_expected *expected = ports->source.expected;
	struct triad_hold_port *list;
	uint32_t n, room;

	if (!expected || !atomic_load(&ports->may_hold)) {
		(void)triad_hold_publish(ports->hold, NULL, 0);
		return;
	}
	room = expected->n_ports +
		(ports->placed ? 0 : triad_history_n(ports->records.history));
	list = calloc((size_t)room + 1, sizeof(*list));
	if (!list)
		return; /* the ports that were published stay */
	/* Sort the rows first, because list_remembered() searches them; then sort
	 * all. */
	n = list_rows(ports, list);
	qsort(list, n, sizeof(*list), triad_hold_compare);
	if (!ports->placed)
		n = list_remembered(ports, list, n, room);
	qsort(list, n, sizeof(*list), triad_hold_compare);
	(void)triad_hold_publish(ports->hold, list, n);
	free(list);
}

/* A port that is no longer held becomes active in the next heavy sweep.  Asks for one,
 * which may not come soon otherwise. */
void ports_publish_hold(struct triad_ports *ports)
{
	uint32_t n_before = triad_hold_n_held(ports->hold);

	publish_hold(ports);
	if (triad_hold_n_held(ports->hold) < n_before)
		ports_ask_for_sweep(ports);
}

struct triad_plan_input ports_plan_input(const struct triad_ports *ports)
{
	return (struct triad_plan_input){
		.fabric = ports->fabric,
		.expected = ports->source.expected,
		.placed = ports->placed,
		.history = ports->records.history,
		.sm_guids = ports->sms.seen.guids,
		.n_sm_guids = ports->sms.seen.n,
		.overrides = ports->overrides.all,
		.n_overrides = ports->overrides.n,
		.routes_by_file = triad_sm_routes_by_file(ports->osm),
		.missing = ports->seen.missing,
	};
}

/* --- the plan --- */

static void forget_plan(struct triad_ports *ports)
{
	triad_plan_free(ports->plan);
	triad_placed_free(ports->placed);
	ports->plan = NULL;
	ports->placed = NULL;
}

/* Finds the fabric's port for each row.  Reports rows that can't be right in this
 * fabric once; plans leave them out. */
static void place(struct triad_ports *ports)
{
	const struct triad_expected *expected = ports->source.expected;
	struct triad_diags *mistakes = malloc(sizeof(*mistakes));
	char text[TRIAD_DIAG_TEXT_SIZE * 2 + 64];
	bool is_placed;

	/* If memory for mistakes is short, place the rows without reporting. */
	if (mistakes)
		triad_diags_init(mistakes, "expected configuration");
	is_placed = !triad_placed_build(
		expected, ports->fabric, mistakes, NULL, &ports->placed);
	if (!is_placed)
		ports->placed = NULL;
	/* Report once: a file mostly has the same mistakes in each new fabric. */
	if (is_placed && mistakes &&
		(ports->reported_generation != expected->generation ||
			ports->n_misplaced != mistakes->n_total)) {
		ports->reported_generation = expected->generation;
		ports->n_misplaced = mistakes->n_total;
		for (size_t i = 0; i < mistakes->n; i++) {
			triad_diags_format(mistakes, i, text, sizeof(text));
			triad_log_write(ports->log, TRIAD_LOG_ERROR, "ports: %s", text);
		}
	}
	free(mistakes);
}

void ports_plan(struct triad_ports *ports, uint64_t now_us)
{
	uint64_t begun_us = triad_clock_now_us();
	struct triad_plan_input input;
	struct triad_plan *plan = NULL;

	ports->must_plan = false;
	if (!ports->conf->port.enabled)
		return;
	/* A standby that becomes master has no fabric yet.  Its first sweep must
	 * already hold the ports that it knows from the members' records. */
	if (!ports->fabric || !ports->source.expected) {
		ports_publish_hold(ports);
		return;
	}
	/* Rows keep their places until fabric or configuration change. */
	if (!ports->placed)
		place(ports);
	if (!ports->placed)
		return;
	input = ports_plan_input(ports);
	ports_find_missing(ports, &input);
	/* If memory is short, keep the last plan: it is for this fabric. */
	if (triad_plan_build(&input, &plan))
		return;
	triad_plan_free(ports->plan);
	ports->plan = plan;
	ports->plan_may_act = triad_last_act_is_seen(&ports->acts.last, ports->fabric);
	ports->plan_us = triad_clock_now_us() - begun_us;
	triad_overrides_keep_used(&ports->overrides, plan);
	/* If memory is short, the agenda keeps its entries; act_on() skips those that
	 * the plan lacks. */
	(void)triad_agenda_look(ports->agenda, plan, now_us);
	ports_look_at_tests(ports, now_us);
	ports_publish_hold(ports);
}

/* --- new input --- */

void ports_take_fabric(struct triad_ports *ports, struct triad_fabric *fabric)
{
	forget_plan(ports);
	ports_see_fabric(ports, fabric);
	triad_fabric_unref(ports->fabric);
	ports->fabric = fabric;
	/* NULL: this SM is no longer master.  Otherwise tests go on and look at the new
	 * fabric when the plan is made. */
	if (!fabric)
		ports_end_tests(ports);
	ports->must_plan = true;
}

void ports_take_expected(struct triad_ports *ports)
{
	forget_plan(ports);
	ports_end_tests(ports);
	ports->overrides.n = 0;
	ports->must_plan = true;
}
