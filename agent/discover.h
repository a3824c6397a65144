/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Keeps the topology that this host discovers itself (discovery.h), without an SM.
 *
 * While discovery is wanted, a thread discovers the fabric each
 * TRIAD_DISCOVER_PERIOD_US, and when the caller reports a change.  If it fails, the
 * last fabric stays.  A partial fabric (a node didn't answer) replaces the last one
 * only after TRIAD_DISCOVER_TRIES partial ones in a row.  LIDs are those that an SM
 * assigned: a port without a LID is in the fabric, but not asked for counters.
 *
 * P_Key tables are read, too (discovery_asker.h).  As with the tables of the SA
 * (ib/sa_topology.h), ports are asked with SL 0.
 *
 * Thread-safety: any thread, for all but new and free.
 * Source: [monitoring-rfc]. */
#ifndef TRIAD_AGENT_DISCOVER_H
#define TRIAD_AGENT_DISCOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/clock.h"
#include "triad/fabric.h"
#include "triad/log.h"

#define TRIAD_DISCOVER_PERIOD_US (60 * TRIAD_US_PER_S)

#define TRIAD_DISCOVER_TRIES 3

struct triad_discover;

struct triad_discover_status {
	bool active;
	uint64_t n_done, n_failed;
	uint64_t took_us;  /* the last discovery */
	uint64_t n_smps;   /* that it needed */
	uint32_t n_silent; /* ports behind links that are up, without an answer */
	char why[96];      /* why the last one failed; "": it did not */
};

/* The thread calls 'take' with each new fabric; 'take' adds a reference to keep it.
 * NULL when memory is short. */
struct triad_discover *triad_discover_new(uint64_t port_guid,
	void (*take)(void *context, struct triad_fabric *fabric), void *context,
	struct triad_log *log);

/* Ends the thread.  Returns false when it still discovers after a second: then what it
 * uses must stay, also 'log' and 'context'.  Accepts NULL. */
bool triad_discover_free(struct triad_discover *discover);

void triad_discover_want(struct triad_discover *discover, bool wanted);

/* Reports a change: has the fabric discovered again at once. */
void triad_discover_again(struct triad_discover *discover);

struct triad_discover_status triad_discover_status(struct triad_discover *discover);

#endif
