/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <stdio.h>

#include "plugin/ports/ports_heal_parts.h"

/* The link of the port that is healed, or held for that, with any mode; with 'or_kept', also one
 * that somebody then had kept out.  False: there is none. */
static bool find_of_port(struct triad_ports *ports, uint64_t node_guid, uint8_t number,
	bool or_kept, struct triad_damp_ends *ends)
{
	struct triad_damp_link links[PORTS_MAX_HELD];
	uint32_t n_taken;
	size_t n;

	for (uint32_t i = 0; i < ports->heal.n; i++) {
		*ends = ports->heal.all[i].ends;
		if (triad_damp_has_end(ends, node_guid, number))
			return true;
	}
	ports_begin_wait(ports);
	n = triad_damper_links(ports->heal.damper, links, PORTS_MAX_HELD);
	ports_end_wait(ports);
	for (size_t i = 0; i < n; i++) {
		*ends = links[i].ends;
		if (links[i].is_held && triad_damp_has_end(ends, node_guid, number))
			return links[i].is_by_heal ||
				(or_kept &&
					ports_heal_recall(ports, ends, &n_taken) ==
						TRIAD_PAST_KEPT_OUT);
	}
	return false;
}

static void forget_healed(struct triad_ports *ports, const struct triad_damp_ends *ends)
{
	struct ports_healed *healed = ports_heal_find(ports, ends);

	if (healed)
		ports_heal_remove(ports, healed);
}

enum triad_ports_answer ports_release_healed(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number, bool or_kept)
{
	struct triad_damp_ends ends;

	if (!find_of_port(ports, node_guid, number, or_kept, &ends))
		return TRIAD_PORTS_NOTHING;
	if (!ports_heal_give_back(ports, &ends, TRIAD_ACTION_RETURN,
		    TRIAD_REASON_BY_HAND, "released by hand"))
		return TRIAD_PORTS_NOT_WRITTEN;
	forget_healed(ports, &ends);
	return TRIAD_PORTS_OK;
}

/* Why a person may not have the link taken; NULL: it may be. */
static const char *refusal_to_take(
	struct triad_ports *ports, uint32_t port, const struct triad_damp_ends *ends)
{
	const char *why = NULL;

	if (ports->conf->heal.mode != TRIAD_HEAL_ACT)
		return "heal.mode is not act";
	if (!ports->heal.is_resumed)
		return "it is not known yet what the last master took: try again in a "
		       "moment";
	if (!triad_damp_is_of_switches(ports->fabric, ends))
		return "it is not between switches";
	if (ports_heal_find(ports, ends))
		return "'heal' lists it already";
	if (ports_heal_find_damped(ports, ends).is_held)
		return "it is held already: 'damp' has it";
	if (ports->heal.n == PORTS_MAX_HEALED)
		return "so many are out, or on probation, that there is no room";
	if (!triad_last_act_is_seen(&ports->acts.last, ports->fabric)) {
		(void)ports_wait_for_view(ports, triad_clock_boot_us());
		return "OpenSM sweeps to show what was done last: try again in a moment";
	}
	ports_begin_wait(ports);
	(void)triad_damper_would_pin(ports->heal.damper, ports->fabric, port, &why);
	ports_end_wait(ports);
	return why;
}

enum triad_ports_answer ports_take_by_hand(struct triad_ports *ports,
	uint64_t node_guid, uint8_t number, char why[TRIAD_PORTS_TEXT_SIZE])
{
	struct triad_ports_judged judged = {.text = "taken by hand"};
	const char *refusal = "OpenSM has no link there now";
	uint32_t port = ports->fabric
		? triad_fabric_port_at(ports->fabric, node_guid, number)
		: TRIAD_FABRIC_NONE;

	if (ports->fabric && triad_damp_ends_at(ports->fabric, port, &judged.ends))
		refusal = refusal_to_take(ports, port, &judged.ends);
	snprintf(why, TRIAD_PORTS_TEXT_SIZE, "%s", refusal ? refusal : "");
	if (refusal)
		return TRIAD_PORTS_NOTHING;
	return ports_heal_begin(ports, &judged) ? TRIAD_PORTS_OK
						: TRIAD_PORTS_NOT_WRITTEN;
}

enum triad_ports_answer ports_keep_out(
	struct triad_ports *ports, uint64_t node_guid, uint8_t number)
{
	struct triad_damp_ends ends;

	if (!find_of_port(ports, node_guid, number, false, &ends))
		return TRIAD_PORTS_NOTHING;
	if (!ports_heal_leave_out(ports, &ends))
		return TRIAD_PORTS_NOT_WRITTEN;
	forget_healed(ports, &ends);
	return TRIAD_PORTS_OK;
}
