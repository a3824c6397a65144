/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/plan_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/search.h"

struct build {
	const struct triad_plan_input *input;
	struct triad_plan *plan;
	struct triad_guard *guard;
	bool *is_wanted; /* by node of the fabric: expected to be up */
	uint32_t n_walks;
};

/* --- records --- */

bool triad_plan_is_admitted(const struct triad_record *record, uint64_t remote_guid)
{
	return record && record->action == TRIAD_ACTION_ADMIT && remote_guid &&
		record->remote_guid == remote_guid;
}

bool triad_plan_has_failed(const struct triad_record *record)
{
	if (!record)
		return false;
	return record->action == TRIAD_ACTION_FAIL ||
		(record->action == TRIAD_ACTION_DISABLE &&
			record->reason != TRIAD_REASON_EXPECTED &&
			record->outcome != TRIAD_OUTCOME_DROPPED);
}

/* Whether we have disabled the port: by a DISABLE, or by a bounce that was not
 * finished.  A released port was disabled by us, too. */
static bool was_ours(const struct triad_record *record)
{
	if (!record || record->outcome == TRIAD_OUTCOME_DROPPED)
		return false;
	return (record->action == TRIAD_ACTION_BOUNCE &&
		       record->outcome != TRIAD_OUTCOME_DONE) ||
		record->action == TRIAD_ACTION_RELEASE ||
		(record->action == TRIAD_ACTION_DISABLE &&
			record->outcome != TRIAD_OUTCOME_REFUSED);
}

/* --- one row --- */

/* The guards can't judge a port without a link.  Such a port may be the only way to what is
 * missing, so it is not disabled. */
static void keep(struct build *build, struct triad_plan_item *item, unsigned kind,
	unsigned reason, unsigned note)
{
	const struct triad_plan_input *input = build->input;
	struct triad_plan *plan = build->plan;

	if (kind == TRIAD_PLAN_DISABLE && !item->remote_guid && input->missing &&
		*input->missing) {
		kind = TRIAD_PLAN_NOTE;
		note = TRIAD_NOTE_MISSING;
	}
	item->kind = (uint8_t)kind;
	item->reason = (uint8_t)reason;
	item->note = (uint8_t)note;
	plan->items[plan->n_items++] = *item;
}

static bool is_between_switches(
	const struct triad_fabric *fabric, const struct triad_plan_item *item)
{
	uint32_t far = fabric->ports[item->port].remote;

	return far != TRIAD_FABRIC_NONE &&
		fabric->nodes[fabric->ports[far].node].type == TRIAD_NODE_SWITCH;
}

static void look_at_test(struct build *build, struct triad_plan_item *item,
	const struct triad_record *record)
{
	if (triad_plan_has_failed(record))
		keep(build, item, TRIAD_PLAN_DISABLE, record->reason, TRIAD_NOTE_NONE);
	else if (item->remote_guid && build->input->routes_by_file &&
		is_between_switches(build->input->fabric, item))
		keep(build, item, TRIAD_PLAN_NOTE, 0, TRIAD_NOTE_ENGINE);
	else if (item->remote_guid)
		keep(build, item, TRIAD_PLAN_TEST, TRIAD_REASON_EXPECTED,
			TRIAD_NOTE_NONE);
}

static void look_at_link(struct build *build, struct triad_plan_item *item,
	const struct triad_expected_port *row)
{
	const struct triad_plan_input *input = build->input;
	const struct triad_fabric_port *port = &input->fabric->ports[item->port];
	enum triad_remote_match match = triad_remote_compare(
		input->fabric, item->port, input->expected, &row->remote, NULL, 0);

	item->may_be_name = match == TRIAD_REMOTE_NAME_DIFFERS;
	if (match == TRIAD_REMOTE_DIFFERS || match == TRIAD_REMOTE_NAME_DIFFERS)
		keep(build, item, TRIAD_PLAN_DISABLE, TRIAD_REASON_MISWIRED,
			TRIAD_NOTE_NONE);
	else if (row->width && item->remote_guid && port->width != row->width)
		keep(build, item, TRIAD_PLAN_NOTE, 0, TRIAD_NOTE_WIDTH);
	else if (row->speed && item->remote_guid &&
		triad_link_speed(port->speed, port->speed_ext) != row->speed)
		keep(build, item, TRIAD_PLAN_NOTE, 0, TRIAD_NOTE_SPEED);
}

static void look_at_port(struct build *build, struct triad_plan_item *item,
	const struct triad_expected_port *row)
{
	const struct triad_fabric_port *port = &build->input->fabric->ports[item->port];
	const struct triad_record *record = triad_history_find(
		build->input->history, item->node_guid, item->number);
	bool is_disabled = port->phys_state == TRIAD_PHYS_DISABLED;

	/* An admitted port that is not active has been down since: test it anew. */
	item->is_active = port->state >= TRIAD_PORT_ARMED;
	if (row->state == TRIAD_EXPECTED_DISABLED) {
		if (!is_disabled)
			keep(build, item, TRIAD_PLAN_DISABLE, TRIAD_REASON_EXPECTED,
				TRIAD_NOTE_NONE);
	} else if (is_disabled && triad_plan_has_failed(record)) {
		item->was_ours = was_ours(record);
		keep(build, item, TRIAD_PLAN_NOTE, record->reason, TRIAD_NOTE_FAILED);
	} else if (is_disabled) {
		item->was_ours = was_ours(record);
		keep(build, item, TRIAD_PLAN_ENABLE, TRIAD_REASON_EXPECTED,
			TRIAD_NOTE_NONE);
	} else if (row->state == TRIAD_EXPECTED_TEST &&
		!(item->is_active &&
			triad_plan_is_admitted(record, item->remote_guid))) {
		look_at_test(build, item, record);
	} else {
		look_at_link(build, item, row);
	}
}

/* Looks at the rows in the order of the fabric's ports, so that the items are sorted
 * and find_plan_item() can search them. */
static void look_at_rows(struct build *build)
{
	const struct triad_plan_input *input = build->input;
	const struct triad_fabric *fabric = input->fabric;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];
		struct triad_plan_item item = {
			.row = input->placed->row_of[i],
			.port = i,
			.node_guid = fabric->nodes[port->node].guid,
			.number = port->number,
		};

		if (item.row == TRIAD_PLACED_NONE)
			continue;
		if (port->remote != TRIAD_FABRIC_NONE)
			item.remote_guid = fabric->ports[port->remote].guid;
		look_at_port(build, &item, &input->expected->ports[item.row]);
	}
}

static void note_unknown_switches(struct build *build)
{
	const struct triad_placed *placed = build->input->placed;

	for (uint32_t i = 0; i < placed->n_unknown; i++) {
		const struct triad_expected_port *row =
			&build->input->expected->ports[placed->unknown[i]];
		struct triad_plan_item item = {
			.row = placed->unknown[i],
			.port = TRIAD_FABRIC_NONE,
			.node_guid = row->node_guid,
			.number = row->port,
		};

		keep(build, &item, TRIAD_PLAN_NOTE, 0, TRIAD_NOTE_NO_SWITCH);
	}
}

/* --- guards --- */

/* A test counts, too: a link under test carries no traffic. */
static bool takes_link_down(const struct triad_plan_item *item)
{
	return item->remote_guid &&
		(item->kind == TRIAD_PLAN_DISABLE || item->kind == TRIAD_PLAN_TEST);
}

/* Whether an operator has overridden the guard.  Impossible for this SM's own link, the
 * only path to its switch. */
static bool is_overridden(
	const struct triad_plan_input *input, const struct triad_plan_item *item)
{
	if (item->guard == TRIAD_GUARD_OWN_PATH)
		return false;
	for (uint32_t i = 0; i < input->n_overrides; i++)
		if (input->overrides[i].node_guid == item->node_guid &&
			input->overrides[i].port == item->number)
			return item->lost.fingerprint ==
				input->overrides[i].fingerprint;
	return false;
}

static void judge_item(struct build *build, struct triad_plan_item *item)
{
	const struct triad_fabric *fabric = build->input->fabric;
	uint32_t far = fabric->ports[fabric->ports[item->port].remote].node;
	/* A component in a wrong place may be cut off, unless it is expected to be up
	 * somewhere. */
	bool is_spared =
		item->reason == TRIAD_REASON_MISWIRED && !build->is_wanted[far];

	item->guard = (uint8_t)triad_guard_judge(build->guard, item->port,
		is_spared ? far : TRIAD_FABRIC_NONE, &item->lost);
	item->is_overridden = item->guard && is_overridden(build->input, item);
	if (item->guard && !item->is_overridden)
		return;
	/* Each removed link costs a walk for the links after it.  Beyond the limit,
	 * leave the link up; the next plan judges it. */
	if (is_between_switches(fabric, item) &&
		build->n_walks++ >= TRIAD_PLAN_MAX_WALKS) {
		item->kind = TRIAD_PLAN_NOTE;
		item->note = TRIAD_NOTE_LATER;
		item->guard = TRIAD_GUARD_FREE;
		item->is_overridden = false;
		item->lost = (struct triad_guard_lost){0};
		return;
	}
	/* Remove the link even for a test: it may stay down. */
	triad_guard_remove(build->guard, item->port);
}

static struct triad_plan_item *find_plan_item(
	struct triad_plan *plan, uint64_t node_guid, uint8_t number)
{
	struct triad_plan_item *items = plan->items;
	uint32_t at;

	TRIAD_SEARCH(at, 0, plan->n_items,
		items[at].port != TRIAD_FABRIC_NONE &&
			triad_port_order(items[at].node_guid, items[at].number,
				node_guid, number) < 0);
	return at < plan->n_items && items[at].port != TRIAD_FABRIC_NONE &&
			items[at].node_guid == node_guid && items[at].number == number
		? &items[at]
		: NULL;
}

/* If both ends of a link should be disabled, leaves the end farther from the SM
 * unchanged. */
static bool is_left_to_other_end(struct build *build, struct triad_plan_item *item)
{
	const struct triad_fabric *fabric = build->input->fabric;
	uint32_t far = fabric->ports[item->port].remote, here, there;
	struct triad_plan_item *other;

	if (item->kind != TRIAD_PLAN_DISABLE || !is_between_switches(fabric, item))
		return false;
	other = find_plan_item(build->plan, fabric->nodes[fabric->ports[far].node].guid,
		fabric->ports[far].number);
	if (!other || other->kind != TRIAD_PLAN_DISABLE)
		return false;
	here = triad_guard_distance(build->guard, fabric->ports[item->port].node);
	there = triad_guard_distance(build->guard, fabric->ports[far].node);
	return here > there || (here == there && item->port > far);
}

static void judge_items(struct build *build)
{
	struct triad_plan *plan = build->plan;

	/* First choose one end of each link, so that no link is judged twice. */
	for (uint32_t i = 0; i < plan->n_items; i++) {
		struct triad_plan_item *item = &plan->items[i];

		if (!takes_link_down(item))
			continue;
		if (is_left_to_other_end(build, item)) {
			item->kind = TRIAD_PLAN_NOTE;
			item->note = TRIAD_NOTE_OTHER_END;
		}
	}
	for (uint32_t i = 0; i < plan->n_items; i++)
		if (takes_link_down(&plan->items[i]))
			judge_item(build, &plan->items[i]);
}

/* --- the plan --- */

static bool needs_guard(const struct triad_plan *plan)
{
	for (uint32_t i = 0; i < plan->n_items; i++)
		if (takes_link_down(&plan->items[i]))
			return true;
	return false;
}

static int guard_items(struct build *build)
{
	const struct triad_plan_input *input = build->input;
	int error;

	/* Most plans take nothing down and need no guard, which walks the whole
	 * fabric. */
	if (!needs_guard(build->plan))
		return 0;
	build->is_wanted =
		calloc(input->fabric->n_nodes + 1, sizeof(*build->is_wanted));
	if (!build->is_wanted)
		return ENOMEM;
	error = triad_plan_find_desired(input, build->is_wanted);
	if (!error)
		error = triad_guard_new(input->fabric, input->sm_guids,
			input->n_sm_guids, &build->guard);
	if (!error)
		judge_items(build);
	triad_guard_free(build->guard);
	free(build->is_wanted);
	return error;
}

int triad_plan_build(const struct triad_plan_input *input, struct triad_plan **made)
{
	struct triad_plan *plan = calloc(1, sizeof(*plan));
	struct build build = {.input = input, .plan = plan};
	int error;

	if (!plan)
		return ENOMEM;
	plan->generation = input->expected->generation;
	plan->fabric = input->fabric->generation;
	plan->n_rows = input->expected->n_ports;
	/* A row has at most one item. */
	plan->items = calloc(plan->n_rows + 1, sizeof(*plan->items));
	if (!plan->items) {
		triad_plan_free(plan);
		return ENOMEM;
	}
	look_at_rows(&build);
	note_unknown_switches(&build);
	error = guard_items(&build);
	if (error) {
		triad_plan_free(plan);
		return error;
	}
	for (uint32_t i = 0; i < plan->n_items; i++) {
		const struct triad_plan_item *item = &plan->items[i];

		plan->n_of_kind[item->kind]++;
		plan->n_guarded += item->guard && !item->is_overridden;
	}
	*made = plan;
	return 0;
}

void triad_plan_free(struct triad_plan *plan)
{
	if (!plan)
		return;
	free(plan->items);
	free(plan);
}

const struct triad_plan_item *triad_plan_find(
	const struct triad_plan *plan, uint64_t node_guid, uint8_t port)
{
	return find_plan_item((struct triad_plan *)plan, node_guid, port);
}

uint32_t triad_plan_n_open(const struct triad_plan *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_items; i++)
		n += triad_plan_is_open(&plan->items[i]);
	return n;
}
