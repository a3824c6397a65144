/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plugin/ports/ports_heal_parts.h"

enum triad_past ports_heal_recall(const struct triad_ports *ports,
	const struct triad_damp_ends *ends, uint32_t *n_taken)
{
	return triad_past_of(
		ports->records.history, ends, triad_clock_wall_us(), n_taken);
}

/* --- the list --- */

struct triad_course_conf ports_heal_conf(const struct triad_ports *ports)
{
	return (struct triad_course_conf){
		.out_us = ports->conf->heal.out_s * TRIAD_US_PER_S,
		.probation_us = ports->conf->heal.probation_s * TRIAD_US_PER_S,
		.max_taken = ports->conf->heal.max_taken,
	};
}

void ports_heal_take_conf(const struct triad_ports *ports, struct triad_course *course)
{
	bool returns_anyway = course->conf.returns_anyway;

	course->conf = ports_heal_conf(ports);
	course->conf.returns_anyway = returns_anyway;
}

struct ports_healed *ports_heal_find(
	struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	for (uint32_t i = 0; i < ports->heal.n; i++)
		if (triad_damp_is_same(&ports->heal.all[i].ends, ends))
			return &ports->heal.all[i];
	return NULL;
}

struct ports_healed *ports_heal_add(
	struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	struct ports_heal *heal = &ports->heal;

	if (heal->n == PORTS_MAX_HEALED)
		return NULL;
	heal->all[heal->n] = (struct ports_healed){.ends = *ends};
	return &heal->all[heal->n++];
}

void ports_heal_remove(struct triad_ports *ports, struct ports_healed *healed)
{
	ports_heal_end_data(ports, healed);
	*healed = ports->heal.all[--ports->heal.n];
}

const struct triad_ports_judged *ports_heal_find_judged(
	const struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	const struct triad_ports_verdicts *verdicts = &ports->heal.verdicts;

	for (uint32_t i = 0; i < verdicts->n; i++)
		if (triad_damp_is_same(&verdicts->links[i].ends, ends))
			return &verdicts->links[i];
	return NULL;
}

/* --- the damper, which waits for its own locks --- */

struct triad_damp_link ports_heal_find_damped(
	struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	struct triad_damp_link link = {0};

	ports_begin_wait(ports);
	(void)triad_damper_find(ports->heal.damper, ends, &link);
	ports_end_wait(ports);
	link.is_held &= triad_damper_acts(ports->heal.damper);
	return link;
}

uint32_t ports_heal_copy_ours(
	struct triad_ports *ports, struct triad_damp_ends ours[PORTS_MAX_HELD])
{
	struct triad_damp_link links[PORTS_MAX_HELD];
	uint32_t n_ours = 0;
	size_t n;

	ports_begin_wait(ports);
	n = triad_damper_links(ports->heal.damper, links, PORTS_MAX_HELD);
	ports_end_wait(ports);
	for (size_t i = 0; i < n; i++)
		if (links[i].is_held && links[i].is_by_heal)
			ours[n_ours++] = links[i].ends;
	return n_ours;
}

const char *ports_heal_hold(struct triad_ports *ports, uint32_t port)
{
	const char *why = "it has no link";
	int error;

	ports_begin_wait(ports);
	error = triad_damper_pin(ports->heal.damper, ports->fabric, port, true,
		"held out of routing: statistics call it bad", &why);
	ports_end_wait(ports);
	if (error == ENOMEM)
		return "memory is short";
	return error ? why : NULL;
}

bool ports_heal_may_hold(struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	uint32_t port = triad_damp_linked_port(ports->fabric, ends);
	const char *why;
	int error;

	if (port == TRIAD_FABRIC_NONE)
		return false;
	ports_begin_wait(ports);
	error = triad_damper_would_pin(ports->heal.damper, ports->fabric, port, &why);
	ports_end_wait(ports);
	return !error;
}

void ports_heal_let_go(struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	ports_begin_wait(ports);
	triad_damper_release_healed(
		ports->heal.damper, ends, "no longer held: it was tested, or released");
	ports_end_wait(ports);
}

/* --- records --- */

static void say(struct triad_ports *ports, const struct triad_record *record)
{
	triad_log_write(ports->log, TRIAD_LOG_WARNING,
		"ports: %s (0x%016" PRIx64 ") port %u: %s: %s",
		ports_node_name(ports, record->node_guid), record->node_guid,
		record->port, triad_port_action_name(record->action), record->text);
}

uint64_t ports_heal_port_guid(const struct triad_ports *ports, uint64_t node_guid)
{
	uint32_t port = triad_fabric_port_at(ports->fabric, node_guid, 0);

	return port == TRIAD_FABRIC_NONE ? 0 : ports->fabric->ports[port].guid;
}

static struct triad_record record_of(const struct triad_ports *ports,
	const struct triad_damp_ends *ends, enum triad_port_action action,
	enum triad_port_reason reason, const char *text)
{
	struct triad_record record = {
		.node_guid = ends->guid,
		.port = ends->number,
		.remote_guid = ports_heal_port_guid(ports, ends->far_guid),
		.action = (uint8_t)action,
		.outcome = TRIAD_OUTCOME_INTENDED,
		.reason = (uint8_t)reason,
	};

	snprintf(record.text, sizeof(record.text), "%s", text);
	return record;
}

/* Writes how it went.  If that fails, the next holder of the lease finds the intent, and looks
 * whether the link is held. */
static void conclude(
	struct triad_ports *ports, struct triad_record *record, const char *refused)
{
	record->outcome = refused ? TRIAD_OUTCOME_DROPPED : TRIAD_OUTCOME_DONE;
	if (refused)
		snprintf(record->text + strlen(record->text),
			sizeof(record->text) - strlen(record->text), " -- %s", refused);
	say(ports, record);
	(void)ports_record(ports, record);
}

/* --- acts --- */

bool ports_heal_is_plan_new(const struct triad_ports *ports)
{
	return ports->heal.verdicts.generation == ports->fabric->generation &&
		triad_last_act_is_seen(&ports->acts.last, ports->fabric);
}

bool ports_heal_take(struct triad_ports *ports, const struct triad_ports_judged *judged,
	uint64_t *taken_us)
{
	struct triad_record record = record_of(ports, &judged->ends, TRIAD_ACTION_TAKE,
		TRIAD_REASON_HEAL, judged->text);
	uint32_t port = triad_damp_linked_port(ports->fabric, &judged->ends);
	const char *why;

	if (port == TRIAD_FABRIC_NONE || ports_commit(ports, &record))
		return false;
	*taken_us = triad_clock_boot_us();
	triad_last_act_note(&ports->acts.last, *taken_us);
	why = ports_heal_hold(ports, port);
	conclude(ports, &record, why);
	return !why;
}

bool ports_heal_give_back(struct triad_ports *ports, const struct triad_damp_ends *ends,
	enum triad_port_action action, enum triad_port_reason reason, const char *text)
{
	struct triad_record record = record_of(ports, ends, action, reason, text);

	if (ports_commit(ports, &record))
		return false;
	ports_heal_let_go(ports, ends);
	conclude(ports, &record, NULL);
	return true;
}

bool ports_heal_leave_out(struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	struct triad_record record = record_of(
		ports, ends, TRIAD_ACTION_TAKE, TRIAD_REASON_BY_HAND, "held by hand");

	if (ports_commit(ports, &record))
		return false;
	conclude(ports, &record, NULL);
	return true;
}

bool ports_heal_begin(
	struct triad_ports *ports, const struct triad_ports_judged *judged)
{
	const struct triad_course_conf conf = ports_heal_conf(ports);
	struct ports_healed *healed;
	uint64_t taken_us;
	uint32_t n_taken;

	if (!ports_heal_take(ports, judged, &taken_us))
		return false;
	healed = ports_heal_add(ports, &judged->ends);
	(void)ports_heal_recall(ports, &judged->ends, &n_taken);
	if (!n_taken)
		n_taken = 1;
	/* Who has it taken by hand wants it tested, however often it was bad. */
	if (!judged->is_bad && n_taken >= conf.max_taken)
		n_taken = conf.max_taken - 1;
	triad_course_begin(&healed->course, &conf, n_taken, triad_clock_now_us());
	healed->changed_us = taken_us;
	healed->wanted = judged->wanted;
	healed->course.conf.returns_anyway = judged->wanted.width;
	return true;
}
