/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/port_condition.h"

const char *const triad_port_condition_choices[TRIAD_N_CONDITIONS + 1] = {
	[TRIAD_CONDITION_UNKNOWN] = "all",
	[TRIAD_CONDITION_FREE] = "free",
	[TRIAD_CONDITION_DISABLED] = "disabled",
	[TRIAD_CONDITION_TRAINING] = "training",
	[TRIAD_CONDITION_SILENT] = "silent",
	[TRIAD_CONDITION_SLEEPING] = "sleeping",
	[TRIAD_CONDITION_POLLING] = "polling",
	[TRIAD_CONDITION_INIT] = "init",
	[TRIAD_CONDITION_ARMED] = "armed",
	[TRIAD_CONDITION_ACTIVE] = "active",
};

static const struct {
	const char *text, *advice;
} words[TRIAD_N_CONDITIONS] = {
	[TRIAD_CONDITION_DISABLED] = {"the port is disabled",
		"somebody disabled the port: ask who and why; 'ibportstate LID PORT "
		"enable' with the switch's LID enables it"},
	[TRIAD_CONDITION_TRAINING] = {"the link trains, and does not come up",
		"there is a signal, so both ends have power: check the cable and its "
		"plugs, and that both ends may run at one speed"},
	[TRIAD_CONDITION_SILENT] = {"its link is up, but nothing there answers the SM",
		"power and cable are good: look at what is there, its driver and "
		"firmware, and restart it"},
	[TRIAD_CONDITION_SLEEPING] = {"the port sleeps",
		"wake it: set its PortPhysicalState to Polling"},
};

/* Of a port without a far end. */
static enum triad_port_condition without_far_end(const struct triad_fabric *fabric,
	const struct triad_fabric_port *port, bool had_link)
{
	switch (port->phys_state) {
	case TRIAD_PHYS_SLEEP:
		return TRIAD_CONDITION_SLEEPING;
	case TRIAD_PHYS_POLLING:
		return had_link ? TRIAD_CONDITION_POLLING : TRIAD_CONDITION_FREE;
	case TRIAD_PHYS_TRAINING:
	case TRIAD_PHYS_RECOVERY:
		return TRIAD_CONDITION_TRAINING;
	case TRIAD_PHYS_LINK_UP:
		/* The SM was told not to look there. */
		if (port->is_held)
			return TRIAD_CONDITION_INIT;
		/* A source that hides links may hide this one. */
		return fabric->n_hidden ? TRIAD_CONDITION_UNKNOWN
					: TRIAD_CONDITION_SILENT;
	default:
		return TRIAD_CONDITION_UNKNOWN;
	}
}

static enum triad_port_condition of_state(unsigned state)
{
	switch (state) {
	case TRIAD_PORT_INIT:
		return TRIAD_CONDITION_INIT;
	case TRIAD_PORT_ARMED:
		return TRIAD_CONDITION_ARMED;
	case TRIAD_PORT_ACTIVE:
		return TRIAD_CONDITION_ACTIVE;
	default:
		return TRIAD_CONDITION_UNKNOWN;
	}
}

enum triad_port_condition triad_port_condition(
	const struct triad_fabric *fabric, uint32_t index, bool had_link)
{
	const struct triad_fabric_port *port = &fabric->ports[index];
	bool has_cable =
		port->number || fabric->nodes[port->node].type != TRIAD_NODE_SWITCH;

	/* Until its next sweep OpenSM shows the far end of a port that was disabled. */
	if (port->phys_state == TRIAD_PHYS_DISABLED)
		return TRIAD_CONDITION_DISABLED;
	if (has_cable && port->remote == TRIAD_FABRIC_NONE)
		return without_far_end(fabric, port, had_link);
	return of_state(port->state);
}

enum triad_port_condition triad_port_condition_at(
	const struct triad_fabric *fabric, uint64_t node_guid, uint8_t number)
{
	uint32_t port = triad_fabric_port_at(fabric, node_guid, number);

	return port == TRIAD_FABRIC_NONE ? TRIAD_CONDITION_UNKNOWN
					 : triad_port_condition(fabric, port, true);
}

enum triad_port_condition triad_port_condition_of_link(
	enum triad_port_condition one, enum triad_port_condition other)
{
	if (one <= TRIAD_CONDITION_FREE)
		return other;
	return other > TRIAD_CONDITION_FREE && other < one ? other : one;
}

const char *triad_port_condition_name(enum triad_port_condition condition)
{
	return condition ? triad_port_condition_choices[condition] : "unknown";
}

const char *triad_port_condition_text(enum triad_port_condition condition)
{
	return words[condition].text;
}

const char *triad_port_condition_advice(enum triad_port_condition condition)
{
	return words[condition].advice;
}

const char *triad_port_condition_link_advice(enum triad_port_condition condition)
{
	const char *advice = triad_port_condition_advice(condition);

	return advice ? advice : "check the cable and its plugs";
}
