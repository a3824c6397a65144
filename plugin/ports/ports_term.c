/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/election/elector.h"
#include "plugin/ports/ports_parts.h"

/* Members answer within a second or so, or something is wrong. */
#define SOON_US (10 * TRIAD_US_PER_S)

/* --- agreement of a majority --- */

/* A confirmation by hand counts only for the view in which the operator gave it. */
static uint32_t votes_needed(const struct triad_ports *ports)
{
	struct triad_permission permission = triad_elector_permission(ports->elector);

	return permission.by_hand_view && permission.by_hand_view == ports->view.number
		? permission.n_votes_by_hand
		: ports->view.n_votes_needed;
}

bool ports_is_agreed(const struct triad_ports *ports, uint64_t since_us)
{
	uint32_t n_needed = votes_needed(ports);

	return n_needed &&
		triad_replica_n_same(ports->records.replica, since_us) >= n_needed;
}

bool ports_is_config_agreed(const struct triad_ports *ports, uint64_t since_us)
{
	uint32_t n_needed = votes_needed(ports);

	/* Without a copy here, the replica still offers the last configuration. */
	return n_needed && !*ports->source.copy_trouble &&
		triad_replica_n_same_config(ports->records.replica, since_us) >=
		n_needed;
}

/* --- the term --- */

bool ports_is_in_charge(const struct triad_ports *ports)
{
	return ports->conf->port.enabled &&
		ports->conf->port.mode == TRIAD_PORT_ENFORCE && ports->term.is_synced &&
		ports->is_announced && ports->records.journal;
}

bool ports_is_ready(const struct triad_ports *ports)
{
	return ports_is_in_charge(ports) && !ports->records.trouble[0] &&
		!ports->sms.without_cluster;
}

void ports_note_ready(struct triad_ports *ports, uint64_t now_us)
{
	if (ports_is_ready(ports))
		ports->term.ready_us = now_us;
}

uint64_t ports_idle_term(const struct triad_ports *ports, uint64_t now_us)
{
	const struct ports_term *term = &ports->term;

	return now_us < term->since_us + SOON_US || now_us < term->ready_us + SOON_US
		? 0
		: term->number;
}

bool ports_may_act(struct triad_ports *ports)
{
	struct triad_permission permission =
		triad_elector_permission_in_term(ports->elector, ports->term.number);

	/* After a confirmation by hand, stop as soon as the view changes: returning
	 * members may have records that this SM lacks.  The election may notice them
	 * later, or in the same term. */
	return ports->term.number && !ports->sms.without_cluster &&
		permission.is_given &&
		permission.by_hand_view == ports->term.by_hand_view &&
		(!ports->term.by_hand_view ||
			ports->term.by_hand_view == ports->view.number);
}

/* Drops what was begun or approved.  It is invalid in another term, and when missing
 * members return after a confirmation by hand. */
static void end_term(struct triad_ports *ports)
{
	ports->term = (struct ports_term){.number = 0};
	triad_replica_set_term(ports->records.replica, 0, triad_clock_boot_us());
	ports->overrides.n = 0;
	ports->must_plan = true;
	triad_agenda_clear(ports->agenda);
	ports_end_tests(ports);
}

void ports_look_at_permission(struct triad_ports *ports)
{
	struct triad_permission permission = triad_elector_permission(ports->elector);
	struct ports_term *term = &ports->term;
	uint64_t newest_term, newest;

	if (term->number &&
		(!permission.is_given || permission.term != term->number ||
			permission.by_hand_view != term->by_hand_view))
		end_term(ports);
	if (!permission.is_given)
		return;
	/* Count only what members say once they have heard of this term: before, the last
	 * holder of the lease may have written records that this SM lacks. */
	if (!term->number) {
		*term = (struct ports_term){.number = permission.term,
			.by_hand_view = permission.by_hand_view,
			.since_us = triad_clock_boot_us()};
		triad_replica_set_term(
			ports->records.replica, term->number, term->since_us);
		triad_last_act_note(&ports->acts.last, term->since_us);
	}
	/* The last holder may also have enforced a newer configuration, which a
	 * majority has.  A member's vote does not say so: its election knows of a
	 * configuration only when a majority is known there to have it. */
	if (term->is_synced || !ports_is_agreed(ports, term->since_us) ||
		!ports_is_config_agreed(ports, term->since_us))
		return;
	triad_history_newest(ports->records.history, &newest_term, &newest);
	/* A record made now would be older than the known ones. */
	term->is_outlived = newest_term > term->number;
	if (term->is_outlived)
		return;
	/* If permission ended and came back in the same term, continue its numbers of
	 * records. */
	term->n_records = newest_term == term->number ? newest : 0;
	term->is_synced = true;
	ports->must_plan = true;
}
