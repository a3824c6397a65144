/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The topology as this host discovers it (discovery.h), without any SM.
 *
 * A thread discovers when it is wanted, again each TRIAD_DISCOVER_PERIOD_US, and as
 * soon as somebody says that something changed.  What can't be discovered changes
 * nothing; what was discovered in part, because a node didn't answer, is believed only
 * when it is so TRIAD_DISCOVER_TRIES times in a row.  LIDs are as an SM assigned them:
 * a port without one is known, but not asked.
 *
 * P_Key tables are read, too (discovery_pkeys.h).  As with the tables of the SA
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
	uint64_t took_us;  /* the last one */
	uint64_t n_smps;   /* that it needed */
	uint32_t n_silent; /* ports it missed, behind links that are up */
	char why[96];      /* the last try failed; "": it did not */
};

/* 'take' is called from the thread with what was discovered; it takes a reference if
 * that is to stay.  NULL when memory is short. */
struct triad_discover *triad_discover_new(uint64_t port_guid,
	void (*take)(void *context, struct triad_fabric *fabric), void *context,
	struct triad_log *log);

/* Ends the thread.  Returns false when it still discovers after a second: it then keeps
 * what it uses, 'log' and 'context' among it, which must stay.  Accepts NULL. */
bool triad_discover_free(struct triad_discover *discover);

void triad_discover_want(struct triad_discover *discover, bool wanted);

/* Something changed: again, soon. */
void triad_discover_again(struct triad_discover *discover);

struct triad_discover_status triad_discover_status(struct triad_discover *discover);

#endif
