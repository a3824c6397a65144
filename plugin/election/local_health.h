/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The health of this machine's InfiniBand ports through which an SM here reaches the
 * fabric.
 *
 * A port is good when its link is up, physically (LinkUp) and logically.  INIT and
 * ARMED count besides ACTIVE, because on a cold boot only the SM makes the port ACTIVE.
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

/* Reads the ports with these GUIDs, and notes in 'ports' where they are.  A port that
 * isn't found is not good: its driver may not be loaded, or its GUID may be
 * misspelt. */
struct triad_local_health triad_local_health_read(
	struct triad_local_port *ports, size_t n);

#endif
