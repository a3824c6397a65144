/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "damp/ports.h"

#include <string.h>

/* PortInfo:PortState [IBA 14.2.5.6]. */
enum { PORT_DOWN = 1, PORT_INIT = 2, PORT_ARMED = 3, PORT_ACTIVE = 4 };

enum triad_damp_state triad_damp_state_of(uint8_t port_state)
{
	switch (port_state) {
	case PORT_DOWN:
		return TRIAD_DAMP_DOWN;
	case PORT_INIT:
	case PORT_ARMED:
		return TRIAD_DAMP_INIT;
	case PORT_ACTIVE:
		return TRIAD_DAMP_ACTIVE;
	default:
		return TRIAD_DAMP_UNKNOWN;
	}
}

/* What OpenSM has learnt or done since the last reading. */
static void take_over(struct triad_damp_switch *of,
	const struct triad_damp_reading *reading, unsigned port)
{
	if (of->seen[port] == TRIAD_DAMP_UNKNOWN ||
		(of->n_sweeps != reading->n_sweeps && !reading->is_held[port] &&
			reading->has[port] == TRIAD_DAMP_ACTIVE))
		of->seen[port] = reading->has[port];
}

static bool has_bounced(uint8_t seen, uint8_t found)
{
	return (found == TRIAD_DAMP_DOWN && seen > TRIAD_DAMP_DOWN) ||
		(found == TRIAD_DAMP_INIT && seen == TRIAD_DAMP_ACTIVE);
}

static bool must_tell(const struct triad_damp_switch *of,
	const struct triad_damp_reading *reading, unsigned port)
{
	uint8_t found = reading->found[port];

	if (reading->is_held[port] || found == TRIAD_DAMP_UNKNOWN)
		return false;
	if (reading->is_sweeping)
		return found != of->seen[port];
	if (found == reading->has[port])
		return false;
	return found != of->told[port] || found != of->seen[port] ||
		reading->n_sweeps - of->told_n_sweeps < 2;
}

void triad_damp_compare(struct triad_damp_switch *of,
	const struct triad_damp_reading *reading, struct triad_damp_moves *moves)
{
	bool is_new = false;

	memset(moves, 0, sizeof(*moves));
	for (unsigned i = 1; i <= reading->n_ports; i++) {
		uint8_t found = reading->found[i];

		take_over(of, reading, i);
		if (has_bounced(of->seen[i], found))
			moves->bounced[moves->n_bounced++] = (uint8_t)i;
		if (must_tell(of, reading, i)) {
			moves->must_tell = true;
			is_new |= found != of->told[i] || found != of->seen[i];
			of->told[i] = found;
		}
		moves->has_other |= !reading->is_held[i] && found != of->seen[i];
		if (found != TRIAD_DAMP_UNKNOWN)
			of->seen[i] = found;
	}
	of->n_sweeps = reading->n_sweeps;
	if (is_new)
		of->told_n_sweeps = reading->n_sweeps;
}
