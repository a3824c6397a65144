/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where the agent has its topology from: the SA, or its own discovery, as [collect]
 * topology says.
 *
 * Model: the two sources run in threads of their own and give what they found.  'auto'
 * asks the SA, and discovers while that has not answered for
 * TRIAD_TOPOLOGY_PATIENCE_US; an answer of the SA's ends that, unless it does not show
 * where links lead: then the fabric is discovered, too, and what is discovered counts
 * until the SA shows all, but for links that were discovered (service/sa_source.h).
 * With 'discover' the SA is asked for reports of changes alone, if there is one.  Where
 * a manager hands the fabric down (service/collect.h), 'auto' asks nobody, and in mode
 * 'agent' first waits for one.
 *
 * Thread-safety: any thread, for all but new and free. */
#ifndef TRIAD_AGENT_TOPOLOGY_H
#define TRIAD_AGENT_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/discover.h"
#include "service/perf.h"
#include "service/sa_source.h"
#include "triad/conf.h"

#define TRIAD_TOPOLOGY_PATIENCE_US (6 * TRIAD_US_PER_S)
#define TRIAD_TOPOLOGY_HOLD_US (5 * TRIAD_US_PER_S) /* for a manager */

struct triad_topology;

enum triad_topology_from {
	TRIAD_FROM_NOWHERE,
	TRIAD_FROM_SA,
	TRIAD_FROM_DISCOVERY,
};

struct triad_topology_status {
	enum triad_topology_from from; /* the last fabric */
	uint64_t taken_us;
	uint64_t n_taken;
	uint64_t octets;
	struct triad_fabric_counts counts;
	uint32_t most_hops; /* to the farthest node */
	struct triad_discover_status discover;
};

/* NULL when memory is short. */
struct triad_topology *triad_topology_new(uint64_t port_guid, struct triad_log *log);

/* Ends the discovery; after the SA's source.  Returns false when that is stuck: what it
 * uses must stay.  Accepts NULL. */
bool triad_topology_free(struct triad_topology *topology);

/* What the SA's source is given: it calls the topology. */
struct triad_sa_source_user triad_topology_user(struct triad_topology *topology);

/* From when on there are 'perf', which fabrics go to, and 'source'; before anything is
 * wanted. */
void triad_topology_connect(struct triad_topology *topology, struct triad_perf *perf,
	struct triad_sa_source *source);

/* 'choice' is of enum triad_conf_topology; 'may_be_handed': a manager may hand it
 * down. */
void triad_topology_configure(
	struct triad_topology *topology, unsigned choice, bool may_be_handed);

/* Once a second or so; 'is_handed': a manager hands it down. */
void triad_topology_tick(
	struct triad_topology *topology, bool is_handed, uint64_t now_us);

struct triad_topology_status triad_topology_status(struct triad_topology *topology);

/* "nowhere", "sa", "discovery". */
const char *triad_topology_from_name(enum triad_topology_from from);

#endif
