/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How this machine's InfiniBand ports are: those that an SM here sees the fabric by.
 *
 * A port is good when its link is up, physically (LinkUp) and logically (INIT, ARMED or
 * ACTIVE: on a cold boot it is the SM that makes it ACTIVE).
 *
 * Thread-safety: any thread; reads files of sysfs. */
#ifndef TRIAD_PLUGIN_ELECTION_LOCAL_HEALTH_H
#define TRIAD_PLUGIN_ELECTION_LOCAL_HEALTH_H

#include <stddef.h>
#include <stdint.h>

#include "service/local_port.h"

struct triad_local_health {
	uint32_t n_ports, n_good;
	uint64_t absent; /* a GUID that no port of this machine has; 0: none */
};

/* Of the ports with these GUIDs, and notes where they are; one that isn't there is not
 * good: its driver may be away, or its GUID misspelt. */
struct triad_local_health triad_local_health_read(
	struct triad_local_port *ports, size_t n);

#endif
