/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Chooses the source of the agent's topology, by [collect] topology: the SA, or the
 * agent's own discovery.
 *
 * Model: the two sources run in threads of their own and pass on the fabrics that they
 * find.
 *
 *     auto        asks the SA.  When the SA has not answered for
 *                 TRIAD_TOPOLOGY_PATIENCE_US, also discovers, until it answers.  When the
 *                 SA hides where links lead, also discovers, and uses the discovered
 *                 fabric until the SA's, completed by discovered links
 *                 (service/sa_source.h), shows all.  While a manager sends the fabric
 *                 (service/collect.h), uses neither source; in mode 'agent' first waits
 *                 for a manager.
 *     discover    discovers, and asks the SA, if there is one, only for reports of changes
 *
 * Thread-safety: any thread, for all but new and free. */
#ifndef TRIAD_AGENT_TOPOLOGY_H
#define TRIAD_AGENT_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/discover.h"
#include "service/perf.h"
#include "service/sa_source.h"
#include "service/speeds.h"
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
	enum triad_topology_from from; /* source of the last fabric */
	uint64_t taken_us;
	uint64_t n_taken;
	uint64_t octets;
	struct triad_fabric_counts counts;
	uint32_t most_hops; /* to the farthest node */
	struct triad_discover_status discover;
};

/* NULL when memory is short. */
struct triad_topology *triad_topology_new(uint64_t port_guid, struct triad_log *log);

/* Ends the discovery; after the end of the SA's source.  Returns false when the
 * discovery is stuck: then what it uses must stay.  Accepts NULL. */
bool triad_topology_free(struct triad_topology *topology);

/* The callbacks for the SA's source. */
struct triad_sa_source_user triad_topology_user(struct triad_topology *topology);

/* Sets 'perf', which receives the fabrics, the SA's 'source', and 'speeds', which asks for
 * those that the source of a fabric does not know; before triad_topology_configure(). */
void triad_topology_connect(struct triad_topology *topology, struct triad_perf *perf,
	struct triad_sa_source *source, struct triad_speed_reader *speeds);

/* Sets the path of OpenSM's node name map, by which fabrics to come are named; "": none. */
void triad_topology_name_by(struct triad_topology *topology, const char *node_name_map);

/* 'choice' is of enum triad_conf_topology; 'may_have_managers_fabric': a manager may
 * send the fabric. */
void triad_topology_configure(struct triad_topology *topology, unsigned choice,
	bool may_have_managers_fabric);

/* To be called once a second or so; 'has_managers_fabric': a manager sends the
 * fabric. */
void triad_topology_tick(
	struct triad_topology *topology, bool has_managers_fabric, uint64_t now_us);

struct triad_topology_status triad_topology_status(struct triad_topology *topology);

/* "nowhere", "sa", "discovery". */
const char *triad_topology_from_name(enum triad_topology_from from);

#endif
