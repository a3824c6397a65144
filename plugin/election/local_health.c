/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/election/local_health.h"

#include "service/local_port.h"

#define PHYS_LINK_UP 5
#define STATE_DOWN 1

static bool is_good(uint64_t guid, bool *is_there)
{
	char ca_name[UMAD_CA_NAME_LEN];
	umad_port_t port;
	bool good;
	int number;

	/* The one that the SM sends from, which is looked for in fewer files. */
	*is_there = triad_local_port_find_for_smps(guid, ca_name, &number) &&
		!umad_get_port(ca_name, number, &port);
	if (!*is_there)
		return false;
	/* The SM may not have made the port ACTIVE yet, as at its start: INIT is
	 * enough. */
	good = port.phys_state == PHYS_LINK_UP && port.state > STATE_DOWN;
	umad_release_port(&port);
	return good;
}

struct triad_local_health triad_local_health_read(const uint64_t *guids, size_t n)
{
	struct triad_local_health health = {.n_ports = (uint32_t)n};

	for (size_t i = 0; i < n; i++) {
		bool is_there;

		health.n_good += is_good(guids[i], &is_there);
		if (!is_there)
			health.absent = guids[i];
	}
	return health;
}
