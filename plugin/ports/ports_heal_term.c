/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/ports/ports_heal_parts.h"

/* How often links are looked for that are held to be healed and that nobody heals, or that are held
 * no more. */
#define ADOPT_US TRIAD_US_PER_S
/* How long a new master may need until it holds what the last one held. */
#define RESUME_US (30 * TRIAD_US_PER_S)

/* Begins the probation of a link that is in routing again.  One that was taken, and that nobody came
 * to hold, is recorded as back. */
static void begin_probation(struct triad_ports *ports,
	const struct triad_damp_ends *ends, enum triad_past past, uint32_t n_taken)
{
	const struct triad_course_conf conf = ports_heal_conf(ports);
	struct ports_healed *healed;

	if (past == TRIAD_PAST_OUT)
		(void)ports_heal_give_back(ports, ends, TRIAD_ACTION_RETURN,
			TRIAD_REASON_HEAL, "it is not held any longer: on probation");
	healed = ports_heal_add(ports, ends);
	if (!healed)
		return;
	triad_course_begin_back(&healed->course, &conf, n_taken, triad_clock_now_us());
	healed->changed_us = triad_clock_now_us();
}

/* A link that is held for us, and that nobody heals here: the last holder of the lease took it, or
 * this SM before it was restarted.  One that is back by the records was let go in vain, and was not
 * on probation yet. */
static void adopt_link(struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	const struct triad_course_conf conf = ports_heal_conf(ports);
	struct ports_healed *healed = ports_heal_find(ports, ends);
	uint32_t n_taken, n_retrained;
	uint64_t ago_us;
	enum triad_past past = ports_heal_recall(ports, ends, &n_taken);

	if ((healed && healed->course.state != TRIAD_COURSE_PROBATION) ||
		past == TRIAD_PAST_KEPT_OUT)
		return;
	if (healed || past == TRIAD_PAST_BACK || past == TRIAD_PAST_LEFT_ALONE) {
		ports_heal_let_go(ports, ends);
		if (!healed && past == TRIAD_PAST_BACK)
			begin_probation(ports, ends, past, n_taken);
		return;
	}
	healed = ports_heal_add(ports, ends);
	if (!healed)
		return;
	n_retrained = triad_past_retrained(
		ports->records.history, ends, triad_clock_wall_us(), &ago_us);
	triad_course_begin_held(&healed->course, &conf, n_taken ? n_taken : 1,
		n_retrained, ago_us, triad_clock_now_us());
}

void ports_heal_adopt(struct triad_ports *ports, uint64_t now_us)
{
	struct triad_damp_ends ours[PORTS_MAX_HELD];
	uint32_t n;

	if (now_us < ports->heal.adopt_us)
		return;
	ports->heal.adopt_us = now_us + ADOPT_US;
	n = ports_heal_copy_ours(ports, ours);
	for (uint32_t i = 0; i < n; i++)
		adopt_link(ports, &ours[i]);
}

/* One that was taken is held again: this SM's damper may not have heard that it was.  Then it is
 * adopted. */
static void hold_again(struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	uint32_t port = triad_damp_linked_port(ports->fabric, ends);

	if (port != TRIAD_FABRIC_NONE)
		(void)ports_heal_hold(ports, port);
}

/* Whether the record is of this link, and not of another one that was at its port. */
static bool is_same_link(const struct triad_ports *ports,
	const struct triad_record *record, const struct triad_damp_ends *ends)
{
	bool is_near = record->node_guid == ends->guid && record->port == ends->number;

	return !record->remote_guid ||
		record->remote_guid ==
		ports_heal_port_guid(ports, is_near ? ends->far_guid : ends->guid);
}

/* Links that are in routing again, whatever the last master came to do with them.  Returns false:
 * one that was taken may yet come to be held, and it is not 'late'. */
static bool resume_back(struct triad_ports *ports, bool late)
{
	const uint64_t now_us = triad_clock_wall_us(),
		       probation_us = ports_heal_conf(ports).probation_us;
	const struct triad_record *record;
	bool are_all_known = true;

	for (uint32_t i = 0;
		(record = triad_history_latest(ports->records.history, i)) != NULL &&
		record->at_us + TRIAD_PAST_REMEMBERED_US > now_us;
		i++) {
		bool is_recent = record->at_us + probation_us > now_us;
		struct triad_damp_ends ends;
		enum triad_past past;
		uint32_t n_taken;

		if (record->reason != TRIAD_REASON_HEAL ||
			(!is_recent && record->action != TRIAD_ACTION_TAKE) ||
			!triad_damp_ends_at(ports->fabric,
				triad_fabric_port_at(
					ports->fabric, record->node_guid, record->port),
				&ends) ||
			ports_heal_find(ports, &ends) ||
			ports_heal_find_damped(ports, &ends).is_held)
			continue;
		past = ports_heal_recall(ports, &ends, &n_taken);
		if (past == TRIAD_PAST_OUT && !late &&
			is_same_link(ports, record, &ends)) {
			hold_again(ports, &ends);
			are_all_known = false;
			continue;
		}
		if (past == TRIAD_PAST_OUT || (past == TRIAD_PAST_BACK && is_recent))
			begin_probation(ports, &ends, past, n_taken);
	}
	return are_all_known;
}

void ports_heal_resume(struct triad_ports *ports, uint64_t now_us)
{
	struct ports_heal *heal = &ports->heal;

	if (now_us < heal->resume_us)
		return;
	heal->resume_us = now_us + ADOPT_US;
	if (!heal->resume_until_us)
		heal->resume_until_us = now_us + RESUME_US;
	heal->is_resumed = resume_back(ports, now_us >= heal->resume_until_us);
}

void ports_end_heal(struct triad_ports *ports)
{
	struct ports_heal *heal = &ports->heal;

	while (heal->n)
		ports_heal_remove(ports, &heal->all[heal->n - 1]);
	heal->is_resumed = false;
	heal->resume_until_us = heal->resume_us = heal->adopt_us = 0;
	heal->calm = (struct triad_calm){0};
	heal->calm_generation = 0;
}
