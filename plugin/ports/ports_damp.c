/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ports that are disabled because their links go down again and again.
 *
 * Model: the damper says which ports those are, all of them each time; the history says which
 * are disabled for that, after a restart and in another SM, too.  A pass does what is between
 * the two, one port in a step, as the agenda does its items: recorded before and after, with
 * permission for each MAD.  Passes follow when the list is new, and at times, for what
 * failed.  When OpenSM ends they stay disabled, since its permission ends first: the next SM
 * goes on with them. */
#include "plugin/opensm.h"

#include <stdio.h>
#include <string.h>

#include "plugin/ports/ports_parts.h"
#include "triad/thread.h"

#define AGAIN_US (10 * TRIAD_US_PER_S)

static bool is_listed(const struct triad_ports_flapping *list, uint32_t n,
	uint64_t node_guid, uint8_t number)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i].node_guid == node_guid && list[i].number == number)
			return true;
	return false;
}

/* --- other threads --- */

void triad_ports_set_flapping(
	struct triad_ports *ports, const struct triad_ports_flapping *list, uint32_t n)
{
	struct ports_inbox *inbox = &ports->inbox;
	bool is_new;

	pthread_mutex_lock(&inbox->lock);
	is_new = !inbox->has_flapping || inbox->n_flapping != n;
	for (uint32_t i = 0; i < n && !is_new; i++)
		is_new = !is_listed(inbox->flapping, inbox->n_flapping,
			list[i].node_guid, list[i].number);
	if (is_new) {
		if (n)
			memcpy(inbox->flapping, list, n * sizeof(*list));
		inbox->n_flapping = n;
		inbox->has_flapping = inbox->is_flapping_new = true;
		triad_task_wake(&ports->task);
	}
	pthread_mutex_unlock(&inbox->lock);
}

bool triad_ports_is_damped(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number)
{
	return TRIAD_LOCKED(&ports->inbox.lock,
		is_listed(
			ports->inbox.damped, ports->inbox.n_damped, node_guid, number));
}

/* --- the thread --- */

/* Copies what the history has, for triad_ports_is_damped(). */
static void publish_damped(struct triad_ports *ports)
{
	struct triad_ports_flapping damped[TRIAD_PORTS_MAX_FLAPPING];
	const struct triad_record *record;
	uint32_t n = 0;

	for (unsigned bucket = 0; bucket < TRIAD_HISTORY_N_BUCKETS; bucket++)
		for (uint32_t i = 0; n < TRIAD_PORTS_MAX_FLAPPING &&
			(record = triad_history_at(ports->records.history, bucket, i));
			i++)
			if (triad_plan_is_damped(record))
				damped[n++] = (struct triad_ports_flapping){
					.node_guid = record->node_guid,
					.remote_guid = record->remote_guid,
					.number = record->port};
	pthread_mutex_lock(&ports->inbox.lock);
	memcpy(ports->inbox.damped, damped, n * sizeof(*damped));
	ports->inbox.n_damped = n;
	pthread_mutex_unlock(&ports->inbox.lock);
}

static void add_item(struct triad_ports *ports, const struct triad_ports_flapping *port,
	bool is_to_enable)
{
	ports->damping.items[ports->damping.n++] =
		(struct ports_damp_item){*port, is_to_enable};
}

/* Returns false: nobody has said yet which ports flap. */
static bool begin_pass(struct triad_ports *ports)
{
	struct ports_inbox *inbox = &ports->inbox;
	bool has_list;

	publish_damped(ports);
	pthread_mutex_lock(&inbox->lock);
	has_list = inbox->has_flapping;
	inbox->is_flapping_new = false;
	ports->damping.n = ports->damping.at = 0;
	for (uint32_t i = 0; has_list && i < inbox->n_damped; i++)
		if (!is_listed(inbox->flapping, inbox->n_flapping,
			    inbox->damped[i].node_guid, inbox->damped[i].number))
			add_item(ports, &inbox->damped[i], true);
	for (uint32_t i = 0; has_list && i < inbox->n_flapping; i++)
		add_item(ports, &inbox->flapping[i], false);
	pthread_mutex_unlock(&inbox->lock);
	return has_list;
}

/* Whether the port manager has the port disabled for a reason of its own. */
static bool is_to_be_disabled(const struct triad_ports *ports, uint32_t at)
{
	uint32_t row = ports->placed ? ports->placed->row_of[at] : TRIAD_PLACED_NONE;

	return row != TRIAD_PLACED_NONE &&
		ports->source.expected->ports[row].state == TRIAD_EXPECTED_DISABLED;
}

/* Whether other acts than those of damping are in the fabric by which links were judged. */
static bool is_judged(const struct triad_ports *ports)
{
	return ports->acts.last.at_us == ports->damping.acted_us ||
		triad_last_act_is_seen(&ports->acts.last, ports->fabric);
}

static bool may_disable(const struct triad_ports *ports,
	const struct triad_ports_flapping *port, uint32_t at,
	const struct triad_record *last)
{
	const struct triad_plan_item *item = ports->plan
		? triad_plan_find(ports->plan, port->node_guid, port->number)
		: NULL;

	/* A Set that was not answered is sent again; one that worked never is: who
	 * enabled the port since wants it so. */
	if (triad_plan_is_damped(last))
		return last->outcome != TRIAD_OUTCOME_DONE;
	return ports->fabric->ports[at].phys_state != TRIAD_PHYS_DISABLED &&
		!triad_plan_has_failed(last) && !(item && triad_plan_is_open(item)) &&
		!ports_find_test(&ports->tests, port->node_guid, port->number) &&
		is_judged(ports);
}

/* Returns whether something was tried. */
static bool do_item(struct triad_ports *ports, const struct ports_damp_item *item)
{
	const struct triad_ports_flapping *port = &item->port;
	uint32_t at =
		triad_fabric_port_at(ports->fabric, port->node_guid, port->number);
	struct triad_record intent = {.node_guid = port->node_guid,
		.port = port->number,
		.remote_guid = port->remote_guid,
		.action =
			item->is_to_enable ? TRIAD_ACTION_ENABLE : TRIAD_ACTION_DISABLE,
		.reason = TRIAD_REASON_FLAPS};
	bool was_last = ports->acts.last.at_us == ports->damping.acted_us;

	if (at == TRIAD_FABRIC_NONE || is_to_be_disabled(ports, at) ||
		(!item->is_to_enable &&
			!may_disable(ports, port, at,
				triad_history_find(ports->records.history,
					port->node_guid, port->number))))
		return false;
	snprintf(intent.text, sizeof(intent.text),
		item->is_to_enable ? "its link is tried"
				   : "its link goes down again and again");
	was_last |= triad_last_act_is_seen(&ports->acts.last, ports->fabric);
	(void)ports_do_action(ports, &intent);
	if (was_last)
		ports->damping.acted_us = ports->acts.last.at_us;
	/* The plan was made with this link. */
	ports->plan_may_act &= item->is_to_enable;
	publish_damped(ports);
	return true;
}

uint64_t ports_damp(struct triad_ports *ports, uint64_t now_us)
{
	struct ports_damping *damping = &ports->damping;
	bool is_new;

	if (!ports->fabric || !ports_is_ready(ports) || !ports_may_act(ports))
		return UINT64_MAX;
	is_new = TRIAD_LOCKED(&ports->inbox.lock, ports->inbox.is_flapping_new);
	if (is_new || (damping->at == damping->n && now_us >= damping->again_us)) {
		damping->again_us = now_us + AGAIN_US;
		if (!begin_pass(ports))
			return UINT64_MAX;
	}
	while (damping->at < damping->n)
		if (do_item(ports, &damping->items[damping->at++]))
			return now_us;
	return damping->again_us;
}
