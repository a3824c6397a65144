/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plugin/damp/damper.h"
#include "plugin/ports/ports_parts.h"
#include "plugin/sm_recover.h"

#define SMP_TIMEOUT_MS 200u
#define N_TRIES 3u
/* When to request a sweep again that was not through.  In a large fabric with errors
 * one takes some seconds. */
#define VIEW_AGAIN_US (10 * TRIAD_US_PER_S)

_Static_assert(sizeof(ib_port_info_t) == TRIAD_SMP_DATA_SIZE, "PortInfo fills an SMP");

/* One port that is being changed. */
struct action {
	struct triad_ports *ports;
	struct triad_smp_route route;
	struct triad_record record;
	ib_port_info_t info;      /* as the switch has it */
	uint16_t status;          /* of the last answer */
	bool is_sent;             /* a Set was sent, answered or not */
	bool has_lost_permission; /* permission ended between two tries */
	bool had_failed;          /* the port had failed before, by the history */
};

void ports_ask_for_sweep(struct triad_ports *ports)
{
	ports->acts.wants_sweep = false;
	(void)triad_sm_sweep_as_master(ports->osm);
}

/* --- sending --- */

/* Repeats a Get without checking permission, because a Get changes nothing. */
static int get_attribute(struct action *action, const struct triad_smp_route *route,
	enum triad_smp_attribute attribute, uint32_t modifier,
	uint8_t data[TRIAD_SMP_DATA_SIZE])
{
	const struct triad_smp_request request = {.attribute = attribute,
		.modifier = modifier,
		.timeout_ms = SMP_TIMEOUT_MS};
	int error = ECANCELED; /* unless it is sent: OpenSM ends */

	for (unsigned i = 0; i < N_TRIES && (!i || error == ETIMEDOUT) &&
		!ports_is_ending(action->ports);
		i++) {
		memset(data, 0, TRIAD_SMP_DATA_SIZE);
		error = ports_ask(
			action->ports, route, &request, data, &action->status);
	}
	return error;
}

/* The route is as old as the last sweep: check that it still leads to this switch. */
static int check_switch(struct action *action)
{
	uint8_t data[TRIAD_SMP_DATA_SIZE];
	const ib_node_info_t *info = (const void *)data;
	int error = get_attribute(action, &action->route, TRIAD_SMP_NODE_INFO, 0, data);

	if (error)
		return error;
	return cl_ntoh64(info->node_guid) == action->record.node_guid ? 0 : ESTALE;
}

static unsigned phys_state(const struct action *action)
{
	return ib_port_info_get_port_phys_state(&action->info);
}

static int get_port(struct action *action)
{
	return get_attribute(action, &action->route, TRIAD_SMP_PORT_INFO,
		action->record.port, (uint8_t *)&action->info);
}

static bool is_held_out(struct triad_ports *ports, const struct triad_record *record)
{
	bool is_held;

	ports_begin_wait(ports);
	is_held = ports->heal.damper &&
		triad_damper_holds(ports->heal.damper, record->node_guid, record->port);
	ports_end_wait(ports);
	return is_held;
}

/* Guards and plan used the link as the last sweep saw it.  If another port is at its
 * far end now, or one where there was none, plan the port anew (ESTALE).  Go on if a
 * known far end does not answer: that may be what is wrong with the port. */
static int check_far_end(struct action *action)
{
	uint8_t data[TRIAD_SMP_DATA_SIZE];
	const ib_node_info_t *info = (const void *)data;
	struct triad_smp_route route = action->route;

	/* The view has no far end of a link that is held out of routing, which cuts nobody
	 * off. */
	if (phys_state(action) != TRIAD_PHYS_LINK_UP ||
		(!action->record.remote_guid &&
			is_held_out(action->ports, &action->record)))
		return 0;
	if (triad_smp_add_hop(&route, action->record.port) ||
		get_attribute(action, &route, TRIAD_SMP_NODE_INFO, 0, data))
		return action->record.remote_guid ? 0 : ESTALE;
	return cl_ntoh64(info->port_guid) == action->record.remote_guid ? 0 : ESTALE;
}

/* Checks permission before each try.  If it ends between two tries, the switch may have
 * done the first Set: the outcome is "unanswered", not "dropped". */
static int send_set(struct action *action, unsigned state, unsigned desired)
{
	struct triad_ports *ports = action->ports;
	const struct triad_smp_request request = {.is_set = true,
		.attribute = TRIAD_SMP_PORT_INFO,
		.modifier = action->record.port,
		.timeout_ms = SMP_TIMEOUT_MS};
	ib_port_info_t info;
	int error = ECANCELED; /* unless it is sent: OpenSM ends */

	for (unsigned i = 0; i < N_TRIES && (!i || error == ETIMEDOUT) &&
		!ports_is_ending(action->ports);
		i++) {
		/* All of PortInfo is written back as it was read; only the states
		 * differ. */
		info = action->info;
		ib_port_info_set_port_state(&info, (uint8_t)state);
		ib_port_info_set_port_phys_state((uint8_t)desired, &info);
		if (!ports_may_act(ports)) {
			action->has_lost_permission = true;
			return i ? ETIMEDOUT : EPERM;
		}
		ports->acts.n_sets++;
		action->is_sent = true;
		error = ports_ask(ports, &action->route, &request, (uint8_t *)&info,
			&action->status);
		/* OpenSM's view has nothing of the port of a test. */
		if (desired)
			triad_last_act_note(&ports->acts.last, triad_clock_boot_us());
	}
	if (!error)
		action->info = info;
	return error;
}

/* Some switches confirm a Set and do nothing, so the port is read again. */
static int set_phys_state(struct action *action, unsigned desired)
{
	bool must_be_disabled = desired == TRIAD_PHYS_DISABLED;
	int error = send_set(action, IB_LINK_NO_CHANGE, desired);

	if (error)
		return error;
	error = get_port(action);
	if (error)
		return error;
	return (phys_state(action) == TRIAD_PHYS_DISABLED) == must_be_disabled
		? 0
		: ENOTSUP;
}

static int change(struct action *action)
{
	bool is_disabled;
	int error = check_switch(action);

	if (!error)
		error = get_port(action);
	/* A port that is enabled cuts nobody off. */
	if (!error && action->record.action != TRIAD_ACTION_ENABLE)
		error = check_far_end(action);
	if (error)
		return error;
	is_disabled = phys_state(action) == TRIAD_PHYS_DISABLED;
	switch (action->record.action) {
	case TRIAD_ACTION_DISABLE:
		return is_disabled ? 0 : set_phys_state(action, TRIAD_PHYS_DISABLED);
	case TRIAD_ACTION_ENABLE:
		return is_disabled ? set_phys_state(action, TRIAD_PHYS_POLLING) : 0;
	default: /* a bounce: down, and up again */
		error = is_disabled ? 0 : set_phys_state(action, TRIAD_PHYS_DISABLED);
		return error ? error : set_phys_state(action, TRIAD_PHYS_POLLING);
	}
}

/* --- outcomes --- */

/* Once a Set was sent, the switch may have done it: "unanswered", not "dropped". */
static enum triad_outcome outcome_of(const struct action *action, int error)
{
	switch (error) {
	case 0:
		return TRIAD_OUTCOME_DONE;
	case EPROTO:
	case ENOTSUP:
		return TRIAD_OUTCOME_REFUSED;
	case ETIMEDOUT:
		return TRIAD_OUTCOME_UNANSWERED;
	default:
		return action->is_sent ? TRIAD_OUTCOME_UNANSWERED
				       : TRIAD_OUTCOME_DROPPED;
	}
}

static void explain_error(
	const struct action *action, int error, char *text, size_t size)
{
	switch (error) {
	case EPROTO:
		snprintf(text, size, "the switch refused it, with status 0x%04x",
			action->status);
		break;
	case ENOTSUP:
		snprintf(text, size, "the switch took it and did nothing");
		break;
	case ETIMEDOUT:
		snprintf(text, size, "the switch did not answer%s",
			action->has_lost_permission
				? ", and permission ended before the next try"
				: "");
		break;
	case EPERM:
		snprintf(text, size, "permission ended: %s",
			action->is_sent ? "the port is left disabled"
					: "nothing was sent");
		break;
	case ESTALE:
		snprintf(text, size,
			"the fabric is not as it was when this was planned: nothing "
			"was sent");
		break;
	case ENOENT:
		snprintf(text, size,
			"the switch is not in the fabric: nothing was sent");
		break;
	case EHOSTUNREACH:
		snprintf(text, size,
			"there is no way to the switch but over this link: nothing "
			"was sent");
		break;
	default:
		snprintf(text, size, "it could not be sent: %s", strerror(error));
	}
}

static void log_outcome(struct action *action, int error)
{
	const struct triad_record *record = &action->record;
	char text[TRIAD_RECORD_TEXT_SIZE] = "";

	if (error)
		explain_error(action, error, text, sizeof(text));
	triad_log_write(action->ports->log, error ? TRIAD_LOG_ERROR : TRIAD_LOG_INFO,
		"ports: %s (0x%016" PRIx64 ") port %u: %s: %s%s%s",
		ports_node_name(action->ports, record->node_guid), record->node_guid,
		record->port, triad_port_action_name(record->action), record->text,
		error ? " -- " : "", text);
}

static void conclude(struct action *action, int error)
{
	struct triad_ports *ports = action->ports;
	struct triad_record outcome = action->record;
	char text[96];
	int room;

	outcome.outcome = outcome_of(action, error);
	if (error) {
		/* The text is reason and result.  Cut the reason if both do not fit:
		 * the result matters more. */
		explain_error(action, error, text, sizeof(text));
		room = (int)(sizeof(outcome.text) - strlen(text) - sizeof(" -- "));
		snprintf(outcome.text, sizeof(outcome.text), "%.*s -- %s",
			room > 0 ? room : 0, action->record.text, text);
	}
	/* A port that had failed stays failed when no Set was sent. */
	if (outcome.outcome == TRIAD_OUTCOME_DROPPED && action->had_failed)
		outcome.action = TRIAD_ACTION_FAIL;
	ports->acts.n_set_failed += outcome.outcome == TRIAD_OUTCOME_REFUSED ||
		outcome.outcome == TRIAD_OUTCOME_UNANSWERED;
	ports->acts.n_unpermitted += error == EPERM || action->has_lost_permission;
	log_outcome(action, error);
	/* If this fails, the next holder of the lease finds an intent without an
	 * outcome and looks at the port itself. */
	(void)ports_record(ports, &outcome);
	/* A sweep shows the effect of a Set, or the new far end. */
	if (outcome.outcome != TRIAD_OUTCOME_DROPPED || error == ESTALE)
		ports->acts.wants_sweep = true;
}

/* Records the intent at a majority of the members, does the action, records the
 * outcome. */
static int do_action(struct triad_ports *ports, const struct triad_record *intent)
{
	struct action action = {.ports = ports, .record = *intent};
	int error;

	action.had_failed = triad_plan_has_failed(triad_history_find(
		ports->records.history, intent->node_guid, intent->port));
	action.record.outcome = TRIAD_OUTCOME_INTENDED;
	error = ports_commit(ports, &action.record);
	ports->acts.n_unpermitted += error == EPERM;
	if (error) {
		triad_log_write(ports->log, TRIAD_LOG_ERROR,
			"ports: %s port %u: %s: not done: %s",
			ports_node_name(ports, intent->node_guid), intent->port,
			triad_port_action_name(intent->action),
			error == ETIMEDOUT
				? "no majority of the SMs has it in its history"
				: error == EPERM ? "permission ended"
						 : strerror(error));
		return error;
	}
	error = ports_find_route(ports, intent->node_guid, intent->port, &action.route);
	if (!error)
		error = change(&action);
	conclude(&action, error);
	return error;
}

int ports_bounce(struct triad_ports *ports, uint64_t node_guid, uint8_t number,
	uint64_t remote_guid, enum triad_port_reason reason, const char *why)
{
	struct triad_record intent = {
		.node_guid = node_guid,
		.port = number,
		.remote_guid = remote_guid,
		.action = TRIAD_ACTION_BOUNCE,
		.reason = (uint8_t)reason,
	};

	snprintf(intent.text, sizeof(intent.text), "%s", why);
	return do_action(ports, &intent);
}

int ports_set_state(struct triad_ports *ports, uint64_t node_guid, uint8_t number,
	uint64_t remote_guid, unsigned state)
{
	struct action action = {.ports = ports,
		.record = {.node_guid = node_guid,
			.port = number,
			.remote_guid = remote_guid}};
	int error = ports_find_route(ports, node_guid, number, &action.route);

	if (!error)
		error = check_switch(&action);
	if (!error)
		error = get_port(&action);
	if (!error)
		error = check_far_end(&action);
	if (error || ib_port_info_get_port_state(&action.info) >= state)
		return error;
	error = send_set(&action, state, 0 /* no change */);
	if (!error)
		error = get_port(&action);
	/* Some confirm a Set and do nothing. */
	return !error && ib_port_info_get_port_state(&action.info) < state ? ENOTSUP
									   : error;
}

/* --- the agenda --- */

static void warn(
	struct triad_ports *ports, const struct triad_plan_item *item, uint64_t now_us)
{
	triad_log_write(ports->log, TRIAD_LOG_INFO,
		"ports: %s (0x%016" PRIx64
		") port %u: going to be disabled in %u s: expected disabled, and its "
		"link is active",
		ports_node_name(ports, item->node_guid), item->node_guid, item->number,
		ports->conf->port.grace_s);
	triad_agenda_warned(ports->agenda, item->node_guid, item->number, now_us);
}

/* Octets in a second, both directions together; UINT64_MAX: unknown. */
static uint64_t measure_traffic(
	struct triad_ports *ports, const struct triad_plan_item *item)
{
	struct triad_smp_counts before, after;
	struct triad_smp_route route;
	uint64_t begun_us, took_us;

	if (ports_find_route(ports, item->node_guid, 0, &route) ||
		ports_read_counters(ports, route.lid, route.sl, item->number,
			SMP_TIMEOUT_MS, &before))
		return UINT64_MAX;
	/* Wait half a second.  Handle members' messages meanwhile, so that the inbox
	 * does not overflow. */
	begun_us = triad_clock_boot_us();
	while (triad_clock_boot_us() < begun_us + TRIAD_US_PER_S / 2) {
		if (!ports_wait_for_members(ports, begun_us + TRIAD_US_PER_S / 2))
			return UINT64_MAX;
		ports_pump(ports);
	}
	if (ports_read_counters(
		    ports, route.lid, route.sl, item->number, SMP_TIMEOUT_MS, &after))
		return UINT64_MAX;
	took_us = triad_clock_boot_us() - begun_us;
	/* The agent lacks the counters, or somebody reset them between the readings. */
	if (after.octets == UINT64_MAX || before.octets == UINT64_MAX ||
		after.octets < before.octets)
		return UINT64_MAX;
	return (after.octets - before.octets) * TRIAD_US_PER_S / took_us;
}

static void look_at_traffic(
	struct triad_ports *ports, const struct triad_plan_item *item)
{
	uint64_t rate = measure_traffic(ports, item);

	if (rate != UINT64_MAX)
		triad_log_write(ports->log, TRIAD_LOG_INFO,
			"ports: %s port %u: %" PRIu64 " octets/s before it is disabled",
			ports_node_name(ports, item->node_guid), item->number, rate);
	triad_agenda_traffic(ports->agenda, item->node_guid, item->number, rate,
		triad_clock_boot_us());
}

static int carry_out(struct triad_ports *ports, const struct triad_plan_item *item)
{
	struct triad_plan_input input = ports_plan_input(ports);
	struct triad_record intent = {
		.node_guid = item->node_guid,
		.port = item->number,
		.remote_guid = item->remote_guid,
		.action = item->kind == TRIAD_PLAN_DISABLE ? TRIAD_ACTION_DISABLE
							   : TRIAD_ACTION_ENABLE,
		.reason = item->reason,
	};

	if (item->kind == TRIAD_PLAN_TEST)
		return ports_begin_test(ports, item) ? 0 : EAGAIN;
	triad_plan_describe(&input, item, intent.text, sizeof(intent.text));
	return do_action(ports, &intent);
}

/* Returns when to call again. */
static uint64_t act_on(struct triad_ports *ports,
	const struct triad_agenda_entry *entry, enum triad_agenda_kind kind,
	uint64_t now_us)
{
	const struct triad_plan_item *item =
		triad_plan_find(ports->plan, entry->node_guid, entry->number);
	uint64_t n_sets = ports->acts.n_sets;
	int error;

	/* The agenda belongs to the previous plan: memory was short for the present
	 * one. */
	if (!item) {
		ports->must_plan = true;
		return now_us + TRIAD_US_PER_S;
	}
	if (kind == TRIAD_AGENDA_WARN) {
		warn(ports, item, now_us);
	} else if (kind == TRIAD_AGENDA_TRAFFIC) {
		look_at_traffic(ports, item);
	} else {
		error = carry_out(ports, item);
		/* An approval counts for one try, whether it worked or not. */
		triad_overrides_remove(
			&ports->overrides, item->node_guid, item->number);
		triad_agenda_done(ports->agenda, item->node_guid, item->number, !error,
			ports->acts.n_sets != n_sets, triad_clock_boot_us());
	}
	return now_us;
}

static void report_stop(struct triad_ports *ports)
{
	struct triad_agenda_status status;

	triad_agenda_status(ports->agenda, &status);
	if (status.is_stopped && !ports->acts.was_stopped)
		triad_log_write(ports->log, TRIAD_LOG_ERROR,
			"ports: STOPPED: %u ports would be changed at once, "
			"port.max_actions is %u: none is, until 'triadctl port "
			"approve'; 'triadctl port plan' shows them",
			status.n_open, ports->conf->port.max_actions);
	ports->acts.was_stopped = status.is_stopped;
}

uint64_t ports_wait_for_view(struct triad_ports *ports, uint64_t now_us)
{
	struct ports_acts *acts = &ports->acts;

	if (acts->asked_for_us != acts->last.at_us ||
		now_us > acts->asked_at_us + VIEW_AGAIN_US) {
		acts->asked_for_us = acts->last.at_us;
		acts->asked_at_us = now_us;
		ports_ask_for_sweep(ports);
	}
	return UINT64_MAX;
}

uint64_t ports_act(struct triad_ports *ports, uint64_t now_us)
{
	const struct triad_agenda_entry *entry;
	enum triad_agenda_kind kind = TRIAD_AGENDA_WAIT;
	uint64_t until_us = UINT64_MAX;

	/* Do one item in each step: the next one is done with up-to-date permission,
	 * members and fabric. */
	report_stop(ports);
	triad_agenda_hold_tests(ports->agenda, !ports_has_room_for_test(ports));
	if (!ports_is_ending(ports) && ports_may_act(ports))
		kind = triad_agenda_next(ports->agenda, now_us, &entry, &until_us);
	if (kind != TRIAD_AGENDA_WAIT && !ports->plan_may_act)
		return ports_wait_for_view(ports, now_us);
	if (kind != TRIAD_AGENDA_WAIT)
		return act_on(ports, entry, kind, now_us);
	/* Ask for one sweep after all actions of this plan, when nothing more is
	 * due. */
	if (ports->acts.wants_sweep)
		ports_ask_for_sweep(ports);
	return until_us;
}
