/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "plugin/election/elector.h"
#include "plugin/ports/ports_parts.h"
#include "triad/thread.h"

/* --- status --- */

static bool is_failed(const struct triad_ports *ports, uint32_t at)
{
	const struct triad_fabric_port *port = &ports->fabric->ports[at];

	return port->phys_state == TRIAD_PHYS_DISABLED &&
		triad_plan_has_failed(triad_history_find(ports->records.history,
			ports->fabric->nodes[port->node].guid, port->number));
}

static void describe_plan(
	const struct triad_ports *ports, struct triad_ports_status *status)
{
	const struct triad_plan *plan = ports->plan;

	status->has_plan = true;
	memcpy(status->n_of_kind, plan->n_of_kind, sizeof(status->n_of_kind));
	status->n_guarded = plan->n_guarded;
	status->plan_us = ports->plan_us;
	for (uint32_t i = 0; i < plan->n_items; i++)
		status->n_failed += plan->items[i].kind == TRIAD_PLAN_NOTE &&
			plan->items[i].note == TRIAD_NOTE_FAILED;
}

static void describe_expected(
	const struct triad_ports *ports, struct triad_ports_status *status)
{
	const struct triad_expected *expected = ports->source.expected;
	const struct triad_diags *mistakes = &ports->source.mistakes;

	if (expected) {
		status->generation = expected->generation;
		status->hash = expected->hash;
		status->n_rows = expected->n_ports;
	}
	status->n_mistakes = mistakes->n_total;
	if (mistakes->n)
		triad_diags_format(
			mistakes, 0, status->mistake, sizeof(status->mistake));
}

static void describe_trouble(
	const struct triad_ports *ports, struct triad_ports_status *status)
{
	bool wants_to = status->is_enforcing && status->permission.is_given;

	if (*ports->records.trouble)
		snprintf(status->trouble, sizeof(status->trouble), "%s",
			ports->records.trouble);
	else if (wants_to && ports->sms.without_cluster)
		snprintf(status->trouble, sizeof(status->trouble),
			"election.cluster is none, but there is another SM, on port "
			"0x%016" PRIx64
			": without a cluster a single SM alone may enforce",
			ports->sms.seen.guids[0]);
	else if (wants_to && *ports->source.copy_trouble)
		snprintf(status->trouble, sizeof(status->trouble), "%s",
			ports->source.copy_trouble);
	else if (wants_to && !ports->is_announced)
		snprintf(status->trouble, sizeof(status->trouble),
			"a majority of the SMs has not this generation yet: is "
			"port.enabled true on all of them?");
	else if (wants_to && ports->term.is_outlived)
		snprintf(status->trouble, sizeof(status->trouble),
			"journals have records of later terms than the election's: was "
			"its state removed? Remove ports-*.journal in "
			"election.state_dir on all hosts, too");
	else if (wants_to && !ports->term.is_synced)
		snprintf(status->trouble, sizeof(status->trouble),
			"a majority of the SMs has not said yet that it knows the same "
			"of ports: is port.enabled true on all of them?");
}

static void describe_manager(
	struct triad_ports *ports, struct triad_ports_status *status)
{
	memset(status, 0, sizeof(*status));
	status->is_enabled = ports->conf->port.enabled;
	status->is_enforcing =
		status->is_enabled && ports->conf->port.mode == TRIAD_PORT_ENFORCE;
	status->permission = triad_elector_permission(ports->elector);
	status->is_ready = ports_is_ready(ports);
	describe_expected(ports, status);
	describe_trouble(ports, status);
	if (ports->plan)
		describe_plan(ports, status);
	triad_agenda_status(ports->agenda, &status->agenda);
	status->n_tests = ports->tests.n;
	status->n_sets = ports->acts.n_sets;
	status->n_set_failed = ports->acts.n_set_failed;
	status->n_dropped = ports->acts.n_unpermitted;
	status->journal_bad = ports->records.journal
		? triad_journal_n_bad(ports->records.journal)
		: 0;
	triad_replica_status(ports->records.replica, &status->replica);
	status->heal_waits = ports_heal_waits(ports);
	for (uint32_t i = 0; i < ports->heal.n; i++) {
		uint8_t state = ports->heal.all[i].course.state;

		status->n_heal_on_probation += state == TRIAD_COURSE_PROBATION;
		status->n_heal_out += state != TRIAD_COURSE_PROBATION;
		status->n_heal_stay_out += state == TRIAD_COURSE_STAYS_OUT;
	}
}

void ports_publish_status(struct triad_ports *ports)
{
	struct triad_ports_status status;

	/* 'status_lock' is held only to copy, so that 'status' and metrics never wait
	 * for a step. */
	describe_manager(ports, &status);
	pthread_mutex_lock(&ports->status_lock);
	ports->status = status;
	pthread_mutex_unlock(&ports->status_lock);
}

/* Returns the state at the end of the last step, because a step may wait long for
 * switches and for the disk.  Only permission is evaluated now. */
void triad_ports_status(struct triad_ports *ports, struct triad_ports_status *status)
{
	*status = TRIAD_LOCKED(&ports->status_lock, ports->status);
	status->permission = triad_elector_permission(ports->elector);
	status->may_act = status->is_ready && status->permission.is_given;
	status->n_held = triad_hold_n_held(ports->hold);
	status->hold_us = triad_hold_longest_us(ports->hold);
	status->n_inbox_dropped =
		TRIAD_LOCKED(&ports->inbox.lock, ports->inbox.payloads.n_dropped);
}

struct triad_fabric *triad_ports_fabric(struct triad_ports *ports)
{
	return TRIAD_LOCKED(
		&ports->lock, ports->fabric ? triad_fabric_ref(ports->fabric) : NULL);
}

/* --- rows --- */

static void fill_item(struct triad_ports *ports, const struct triad_plan_item *item,
	struct triad_port_row *row)
{
	const struct triad_plan_input input = ports_plan_input(ports);
	const struct triad_agenda_entry *entry =
		triad_agenda_find(ports->agenda, item->node_guid, item->number);

	row->has_item = true;
	row->kind = item->kind;
	row->reason = item->reason;
	row->note = item->note;
	row->guard = item->guard;
	row->is_overridden = item->is_overridden;
	row->n_lost = item->lost.n;
	row->agenda = entry ? entry->state : 0;
	row->is_approved = entry && entry->is_approved;
	triad_plan_describe(&input, item, row->text, sizeof(row->text));
}

static void fill_place(
	struct triad_ports *ports, uint32_t at, struct triad_port_row *row)
{
	const struct triad_fabric_port *port = &ports->fabric->ports[at];
	const struct triad_fabric_node *node = &ports->fabric->nodes[port->node];
	const struct triad_record *record =
		triad_history_find(ports->records.history, node->guid, port->number);
	const struct ports_test *test =
		ports_find_test(&ports->tests, node->guid, port->number);
	uint64_t remote = port->remote == TRIAD_FABRIC_NONE
		? 0
		: ports->fabric->ports[port->remote].guid;

	row->node_guid = node->guid;
	snprintf(row->node, sizeof(row->node), "%s", node->name);
	row->state = port->state;
	row->phys_state = port->phys_state;
	row->is_held = triad_hold_is_held(ports->hold, node->guid, port->number);
	row->is_failed = is_failed(ports, at);
	row->is_admitted = triad_plan_is_admitted(record, remote);
	if (!test)
		return;
	row->is_tested = true;
	row->step = test->test.step;
	snprintf(row->text, sizeof(row->text), "under test, %s: %s",
		triad_test_step_name(test->test.step), test->test.text);
}

/* Writes the plan's note about a row without a port; a row without a GUID can't be
 * looked up in the plan. */
static void fill_unplaced(
	const struct triad_expected_port *desired, struct triad_port_row *row)
{
	row->has_item = true;
	row->kind = TRIAD_PLAN_NOTE;
	row->note = TRIAD_NOTE_NO_SWITCH;
	snprintf(row->text, sizeof(row->text),
		"line %u: there is no such port in the fabric", desired->line);
}

static void fill_row(struct triad_ports *ports, uint32_t i, struct triad_port_row *row)
{
	const struct triad_expected *expected = ports->source.expected;
	const struct triad_expected_port *desired = &expected->ports[i];
	uint32_t at = ports->placed->port_of[i];
	const struct triad_plan_item *item = NULL;

	/* First the configuration's row, then the facts of the fabric, where a row by
	 * name gets its GUID. */
	memset(row, 0, sizeof(*row));
	row->node_guid = desired->node_guid;
	row->number = desired->port;
	row->expected = desired->state;
	snprintf(row->node, sizeof(row->node), "%s",
		triad_expected_text(expected, desired->node_name));
	triad_remote_describe(
		expected, &desired->remote, row->remote, sizeof(row->remote));
	if (at != TRIAD_PLACED_NONE)
		fill_place(ports, at, row);
	if (at != TRIAD_PLACED_NONE)
		item = triad_plan_find(ports->plan, row->node_guid, row->number);
	/* Prefer a running test to the item that began it: it has more detail. */
	if (item && !row->is_tested)
		fill_item(ports, item, row);
	else if (at == TRIAD_PLACED_NONE)
		fill_unplaced(desired, row);
}

static bool is_meant(struct triad_ports *ports, enum triad_ports_which which,
	uint64_t node_guid, int number, uint32_t i)
{
	const struct triad_expected_port *desired = &ports->source.expected->ports[i];
	uint32_t at = ports->placed->port_of[i];
	uint64_t guid = at == TRIAD_PLACED_NONE
		? desired->node_guid
		: ports->fabric->nodes[ports->fabric->ports[at].node].guid;

	if ((node_guid && guid != node_guid) ||
		(number >= 0 && desired->port != number))
		return false;
	if (which == TRIAD_PORTS_FAILED)
		return at != TRIAD_PLACED_NONE && is_failed(ports, at);
	return which == TRIAD_PORTS_ALL || at == TRIAD_PLACED_NONE ||
		triad_plan_find(ports->plan, guid, desired->port) ||
		ports_find_test(&ports->tests, guid, desired->port);
}

static void fill_rows(struct triad_ports *ports, enum triad_ports_which which,
	uint64_t node_guid, int number, uint32_t max, struct triad_port_row *rows,
	uint32_t *n, uint32_t *n_all)
{
	*n = *n_all = 0;
	for (uint32_t i = 0; i < ports->source.expected->n_ports; i++) {
		if (!is_meant(ports, which, node_guid, number, i))
			continue;
		if (*n < max)
			fill_row(ports, i, &rows[(*n)++]);
		(*n_all)++;
	}
}

/* 0 when rows can be made; ENOENT: no configuration; EAGAIN: no plan yet.  The caller
 * holds the lock. */
static int look_for_rows(const struct triad_ports *ports)
{
	if (!ports->source.expected)
		return ENOENT;
	return !ports->plan || !ports->fabric || !ports->placed ? EAGAIN : 0;
}

int triad_ports_rows(struct triad_ports *ports, enum triad_ports_which which,
	uint64_t node_guid, int number, uint32_t max, struct triad_port_row **rows,
	uint32_t *n, uint32_t *n_all)
{
	int error;

	pthread_mutex_lock(&ports->lock);
	error = look_for_rows(ports);
	/* Limit 'max', which the client chose, before it sizes an allocation. */
	if (!error && max > ports->source.expected->n_ports)
		max = ports->source.expected->n_ports;
	*rows = error ? NULL : calloc((size_t)max + 1, sizeof(**rows));
	if (!error && !*rows)
		error = ENOMEM;
	if (!error)
		fill_rows(ports, which, node_guid, number, max, *rows, n, n_all);
	pthread_mutex_unlock(&ports->lock);
	return error;
}

int triad_ports_rows_piece(struct triad_ports *ports, uint32_t first,
	struct triad_port_row *rows, uint32_t *n, uint64_t *version)
{
	uint32_t n_given = 0, n_all;
	int error;

	pthread_mutex_lock(&ports->lock);
	error = look_for_rows(ports);
	if (!error) {
		n_all = ports->source.expected->n_ports;
		while (n_given < *n && first + n_given < n_all) {
			fill_row(ports, first + n_given, &rows[n_given]);
			n_given++;
		}
		*version = triad_hash_word(
			ports->source.expected->hash, ports->plan->fabric);
	}
	pthread_mutex_unlock(&ports->lock);
	*n = n_given;
	return error;
}

int triad_ports_history(struct triad_ports *ports, uint64_t node_guid, int number,
	uint32_t max, struct triad_record **records, uint32_t *n)
{
	const struct triad_record *record;

	*n = 0;
	if (max > TRIAD_HISTORY_N_LATEST)
		max = TRIAD_HISTORY_N_LATEST;
	*records = calloc((size_t)max + 1, sizeof(**records));
	if (!*records)
		return ENOMEM;
	pthread_mutex_lock(&ports->lock);
	for (uint32_t i = 0; *n < max &&
		(record = triad_history_latest(ports->records.history, i)) != NULL;
		i++)
		if ((!node_guid || record->node_guid == node_guid) &&
			(number < 0 || record->port == number))
			(*records)[(*n)++] = *record;
	pthread_mutex_unlock(&ports->lock);
	return 0;
}

/* --- ports that the port manager took down --- */

/* A test counts only for a time: if its SM died, the history has no end of it. */
static bool is_test_recent(
	const struct triad_ports *ports, const struct triad_record *record)
{
	uint64_t long_us = 2 * ports->conf->port.test_timeout_s * TRIAD_US_PER_S;

	return triad_clock_wall_us() < record->at_us + long_us;
}

bool triad_ports_took_down(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number, bool is_disabled)
{
	const struct triad_record *record;
	bool is_ours = false;

	pthread_mutex_lock(&ports->lock);
	record = triad_history_find(ports->records.history, node_guid, number);
	if (record && record->outcome <= TRIAD_OUTCOME_DONE)
		is_ours = record->action == TRIAD_ACTION_BOUNCE ||
				record->action == TRIAD_ACTION_TEST
			? is_test_recent(ports, record)
			: is_disabled &&
				(record->action == TRIAD_ACTION_DISABLE ||
					record->action == TRIAD_ACTION_FAIL);
	pthread_mutex_unlock(&ports->lock);
	return is_ours;
}

/* --- by hand --- */

static enum triad_ports_answer may_obey(struct triad_ports *ports)
{
	if (!ports->conf->port.enabled)
		return TRIAD_PORTS_OFF;
	if (ports->conf->port.mode != TRIAD_PORT_ENFORCE)
		return TRIAD_PORTS_OBSERVES;
	if (!ports->term.is_synced || !ports_may_act(ports))
		return TRIAD_PORTS_NOT_PERMITTED;
	return TRIAD_PORTS_OK;
}

static enum triad_ports_answer release(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number)
{
	struct triad_record record = {
		.node_guid = node_guid,
		.port = number,
		.action = TRIAD_ACTION_RELEASE,
		.outcome = TRIAD_OUTCOME_DONE,
		.reason = TRIAD_REASON_BY_HAND,
		.text = "released by hand",
	};

	if (!triad_plan_has_failed(
		    triad_history_find(ports->records.history, node_guid, number)))
		return ports_release_healed(ports, node_guid, number, false);
	/* Without a majority the next holder of the lease might still see the
	 * failure. */
	if (ports_commit(ports, &record))
		return TRIAD_PORTS_NOT_WRITTEN;
	ports->must_plan = true;
	return TRIAD_PORTS_OK;
}

/* Describes what the approved action cuts off; "" when nothing. */
static void describe_cut(const struct triad_ports *ports,
	const struct triad_plan_item *item, char *text, size_t size)
{
	if (item->guard == TRIAD_GUARD_UNKNOWN)
		snprintf(text, size, "nobody knows what: this SM is not in its fabric");
	else
		triad_plan_describe_lost(
			ports->fabric, &item->lost, TRIAD_GUARD_MAX_LOST, text, size);
}

/* The agenda lacks items that a guard stops.  So add the override, make a new plan,
 * which puts the item on the agenda, and approve that. */
static enum triad_ports_answer approve(
	struct triad_ports *ports, struct ports_request *request)
{
	const struct triad_plan_item *item = ports->plan
		? triad_plan_find(ports->plan, request->node_guid, request->number)
		: NULL;

	if (!item || item->kind == TRIAD_PLAN_NOTE)
		return TRIAD_PORTS_NOTHING;
	if (item->guard == TRIAD_GUARD_OWN_PATH)
		return TRIAD_PORTS_OWN_PATH;
	describe_cut(ports, item, request->text, sizeof(request->text));
	if (item->guard && !item->is_overridden) {
		triad_overrides_add(&ports->overrides, item);
		ports_plan(ports, triad_clock_boot_us());
	}
	return triad_agenda_approve(ports->agenda, request->node_guid, request->number)
		? TRIAD_PORTS_OK
		: TRIAD_PORTS_NOTHING;
}

void ports_answer_request(struct triad_ports *ports)
{
	struct ports_request request;

	if (!ports_next_request(ports, &request))
		return;
	if (request.kind == PORTS_READ)
		ports_take_conf(ports);
	request.answer = request.kind == PORTS_READ ? TRIAD_PORTS_OK : may_obey(ports);
	if (request.answer == TRIAD_PORTS_OK)
		switch (request.kind) {
		case PORTS_RELEASE:
			request.answer =
				release(ports, request.node_guid, request.number);
			break;
		case PORTS_APPROVE:
			request.answer = approve(ports, &request);
			break;
		case PORTS_APPROVE_ALL:
			request.n_approved = triad_agenda_approve_all(ports->agenda);
			break;
		case PORTS_KEEP_OUT:
			request.answer = ports_keep_out(
				ports, request.node_guid, request.number);
			break;
		case PORTS_LET_GO:
			request.answer = ports_release_healed(
				ports, request.node_guid, request.number, true);
			break;
		case PORTS_TAKE:
			request.answer = ports_take_by_hand(
				ports, request.node_guid, request.number, request.text);
			break;
		case PORTS_READ:
			break;
		}
	ports_end_request(ports, &request);
}

bool triad_ports_read(struct triad_ports *ports, struct triad_diags *mistakes)
{
	struct ports_request request = {.kind = PORTS_READ};
	bool is_read;

	ports_request(ports, &request);
	is_read = request.answer == TRIAD_PORTS_OK;
	pthread_mutex_lock(&ports->lock);
	if (is_read && ports->conf->port.enabled)
		*mistakes = ports->source.mistakes;
	else
		triad_diags_init(mistakes, "");
	pthread_mutex_unlock(&ports->lock);
	return mistakes->n == 0;
}

static enum triad_ports_answer ask_of_port(struct triad_ports *ports,
	enum ports_request_kind kind, uint64_t node_guid, uint8_t number)
{
	struct ports_request request = {
		.kind = kind, .node_guid = node_guid, .number = number};

	ports_request(ports, &request);
	return request.answer;
}

enum triad_ports_answer triad_ports_release(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number)
{
	return ask_of_port(ports, PORTS_RELEASE, node_guid, number);
}

enum triad_ports_answer triad_ports_keep_out(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number)
{
	return ask_of_port(ports, PORTS_KEEP_OUT, node_guid, number);
}

enum triad_ports_answer triad_ports_let_go(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number)
{
	return ask_of_port(ports, PORTS_LET_GO, node_guid, number);
}

enum triad_ports_answer triad_ports_take(struct triad_ports *ports, uint64_t node_guid,
	uint8_t number, char why[TRIAD_PORTS_TEXT_SIZE])
{
	struct ports_request request = {
		.kind = PORTS_TAKE, .node_guid = node_guid, .number = number};

	ports_request(ports, &request);
	memcpy(why, request.text, sizeof(request.text));
	return request.answer;
}

enum triad_ports_answer triad_ports_approve(struct triad_ports *ports,
	uint64_t node_guid, uint8_t number, char cut[TRIAD_PORTS_TEXT_SIZE])
{
	struct ports_request request = {
		.kind = PORTS_APPROVE, .node_guid = node_guid, .number = number};

	ports_request(ports, &request);
	memcpy(cut, request.text, sizeof(request.text));
	return request.answer;
}

enum triad_ports_answer triad_ports_approve_all(
	struct triad_ports *ports, uint32_t *n_approved)
{
	struct ports_request request = {.kind = PORTS_APPROVE_ALL};

	ports_request(ports, &request);
	*n_approved = request.n_approved;
	return request.answer;
}
