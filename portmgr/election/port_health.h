/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The health of local ports, damped: a port that flaps counts as bad until it has been
 * good for long enough, so that it does not move mastership back and forth.
 *
 * Model: a change for the worse counts when it has lasted for
 * TRIAD_PORT_HEALTH_WORSE_US, a change for the better when it has lasted for
 * TRIAD_PORT_HEALTH_BETTER_US. The latter time doubles each time the health gets worse
 * again, up to TRIAD_PORT_HEALTH_MAX_US; it is reset after that time without a change
 * for the worse.  The first reading counts at once.
 *
 * The damped numbers decide which SM is the better one.  But an SM is able to hold the
 * lease as soon as a port has been good for TRIAD_PORT_HEALTH_UP_US, or for a tenth of
 * the present time for the better if that is longer: if the ports of all SMs have
 * flapped, one SM must hold it.
 *
 * Document: [election-patent, "processes the local port state change event"].
 * Thread-safety: none.  Memory: none of its own; begin with zeroes. */
#ifndef TRIAD_PORTMGR_PORT_HEALTH_H
#define TRIAD_PORTMGR_PORT_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAD_PORT_HEALTH_WORSE_US UINT64_C(300000)
#define TRIAD_PORT_HEALTH_BETTER_US UINT64_C(5000000)
#define TRIAD_PORT_HEALTH_MAX_US UINT64_C(300000000)
#define TRIAD_PORT_HEALTH_UP_US UINT64_C(1000000)

struct triad_port_health {
	bool has_looked;
	uint32_t n_ports, n_good; /* damped */
	bool is_up;               /* a port is good: the SM is able to hold the lease */
	uint32_t seen_good;       /* as read last */
	uint64_t seen_since_us;
	uint64_t seen_up_us; /* since when some are good, or none is */
	uint64_t wait_us;    /* how long better must last, at present */
	uint64_t worse_us;   /* when the health got worse last */
};

/* Adds a reading at 'now_us'; true when the damped health has changed. */
bool triad_port_health_look(struct triad_port_health *health, uint32_t n_ports,
	uint32_t n_good, uint64_t now_us);

#endif
