/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/election/local_health.h"

#include "triad/fabric.h"

static bool is_good(struct triad_local_port *port, bool *is_there)
{
	unsigned long phys_state, state;

	/* triad_local_port_locate() finds the port that the SM sends from. */
	*is_there = triad_local_port_locate(port) &&
		triad_local_port_read(port, "phys_state", &phys_state) &&
		triad_local_port_read(port, "state", &state);
	/* INIT is enough: at its start the SM has not made the port ACTIVE yet. */
	return *is_there && phys_state == TRIAD_PHYS_LINK_UP && state > TRIAD_PORT_DOWN;
}

struct triad_local_health triad_local_health_read(
	struct triad_local_port *ports, size_t n)
{
	struct triad_local_health health = {.n_ports = (uint32_t)n};

	for (size_t i = 0; i < n; i++) {
		bool is_there;

		health.n_good += is_good(&ports[i], &is_there);
		if (!is_there)
			health.absent = ports[i].guid;
	}
	return health;
}
