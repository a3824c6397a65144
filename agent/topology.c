/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "agent/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/node_names.h"
#include "triad/conf.h"
#include "triad/thread.h"

struct triad_topology {
	struct triad_log *log;
	struct triad_perf *perf;
	struct triad_sa_source *source;
	struct triad_speed_reader *speeds;
	struct triad_discover *discover;

	pthread_mutex_t lock; /* of what follows */
	unsigned choice;      /* enum triad_conf_topology */
	char node_name_map[TRIAD_CONF_PATH_SIZE];
	bool has_managers_fabric;
	uint64_t hold_until_us; /* neither source is used before */
	bool is_discovering;
	bool is_partial;           /* the SA shows only a part */
	uint64_t waiting_since_us; /* for the SA; 0: it has answered */
	uint64_t generation;
	struct triad_topology_status status;

	/* Of what was logged about names. */
	pthread_mutex_t names_lock;
	struct triad_node_names names;
};

const char *triad_topology_from_name(enum triad_topology_from from)
{
	static const char *const names[] = {
		[TRIAD_FROM_NOWHERE] = "nowhere",
		[TRIAD_FROM_SA] = "sa",
		[TRIAD_FROM_DISCOVERY] = "discovery",
	};

	return names[from];
}

/* --- what comes in --- */

/* 0 when memory is short, or this port is not in the fabric. */
static uint32_t find_most_hops(const struct triad_fabric *fabric)
{
	uint32_t *hops = calloc(2 * (size_t)fabric->n_nodes + 1, sizeof(*hops));
	uint32_t most = 0;

	if (hops && fabric->sm_port != TRIAD_FABRIC_NONE) {
		triad_fabric_hops(
			fabric, fabric->sm_port, hops, hops + fabric->n_nodes);
		for (uint32_t i = 0; i < fabric->n_nodes; i++)
			if (hops[i] != TRIAD_FABRIC_NONE && hops[i] > most)
				most = hops[i];
	}
	free(hops);
	return most;
}

/* Gives the nodes of a fabric that only its source has yet the SM's names. */
static void name_nodes(struct triad_topology *topology, struct triad_fabric *fabric)
{
	char path[TRIAD_CONF_PATH_SIZE];

	pthread_mutex_lock(&topology->lock);
	snprintf(path, sizeof(path), "%s", topology->node_name_map);
	pthread_mutex_unlock(&topology->lock);
	pthread_mutex_lock(&topology->names_lock);
	triad_node_names_apply(&topology->names, path, fabric, topology->log);
	pthread_mutex_unlock(&topology->names_lock);
}

/* Passes a fabric on to the PerfManager; until then only its source refers to it. */
static void publish_fabric(struct triad_topology *topology, struct triad_fabric *fabric,
	enum triad_topology_from from)
{
	uint32_t most_hops = find_most_hops(fabric);
	struct triad_fabric_counts counts = triad_fabric_count(fabric);
	bool is_other;

	pthread_mutex_lock(&topology->lock);
	is_other = topology->status.from != from;
	fabric->generation = ++topology->generation;
	topology->status.from = from;
	topology->status.taken_us = fabric->taken_us;
	topology->status.n_taken++;
	topology->status.octets = triad_fabric_octets(fabric);
	topology->status.counts = counts;
	topology->status.most_hops = most_hops;
	pthread_mutex_unlock(&topology->lock);
	/* A discovery asks for all speeds itself. */
	if (from == TRIAD_FROM_SA)
		triad_speed_reader_lay_over(topology->speeds, fabric);
	triad_perf_set_fabric(topology->perf, fabric, TRIAD_SM_ABSENT);
	if (from == TRIAD_FROM_SA)
		triad_speed_reader_adopt(
			topology->speeds, fabric, TRIAD_SPEEDS_OF_SA_AGAIN_US);
	triad_log_write(topology->log, is_other ? TRIAD_LOG_INFO : TRIAD_LOG_VERBOSE,
		"topology: %s: %u nodes, %u switches, %u ports, %u links; %u hops at "
		"most",
		from == TRIAD_FROM_SA ? "from the SA" : "discovered", counts.n_nodes,
		counts.n_switches, counts.n_ports, counts.n_links, most_hops);
}

static bool has_failed(struct triad_topology *topology)
{
	struct triad_discover_status status = triad_discover_status(topology->discover);

	return status.active && status.why[0];
}

static void receive_from_sa(void *context, struct triad_fabric *fabric)
{
	struct triad_topology *topology = context;
	bool is_wanted, is_partial, has_other;

	pthread_mutex_lock(&topology->lock);
	is_wanted = topology->choice != TRIAD_TOPOLOGY_DISCOVER;
	is_partial = fabric->n_hidden && topology->choice == TRIAD_TOPOLOGY_AUTO;
	topology->is_partial = is_partial;
	if (is_wanted && !is_partial)
		topology->is_discovering = false;
	has_other = topology->status.n_taken;
	pthread_mutex_unlock(&topology->lock);
	/* Links that the SA hides may still exist: discover the fabric.  Until then the
	 * last fabric stays. */
	if (is_partial) {
		triad_discover_again(topology->discover);
		is_wanted = !has_other || has_failed(topology);
	}
	if (!is_wanted)
		return;
	name_nodes(topology, fabric);
	publish_fabric(topology, fabric, TRIAD_FROM_SA);
}

static void receive_discovered(void *context, struct triad_fabric *fabric)
{
	struct triad_topology *topology = context;
	bool is_wanted;

	is_wanted = TRIAD_LOCKED(&topology->lock, topology->is_discovering);
	/* Not wanted: since its begin the SA has answered, or the choice has
	 * changed. */
	if (!is_wanted)
		return;
	name_nodes(topology, fabric);
	triad_sa_source_set_known(topology->source, fabric, true);
	publish_fabric(topology, fabric, TRIAD_FROM_DISCOVERY);
}

static void note_change_report(void *context)
{
	struct triad_topology *topology = context;

	triad_discover_again(topology->discover);
}

struct triad_sa_source_user triad_topology_user(struct triad_topology *topology)
{
	return (struct triad_sa_source_user){.context = topology,
		.take = receive_from_sa,
		.received = note_change_report};
}

/* --- life --- */

struct triad_topology *triad_topology_new(uint64_t port_guid, struct triad_log *log)
{
	struct triad_topology *topology = calloc(1, sizeof(*topology));

	if (!topology)
		return NULL;
	topology->log = log;
	pthread_mutex_init(&topology->lock, NULL);
	pthread_mutex_init(&topology->names_lock, NULL);
	topology->discover =
		triad_discover_new(port_guid, receive_discovered, topology, log);
	if (topology->discover)
		return topology;
	free(topology);
	return NULL;
}

bool triad_topology_free(struct triad_topology *topology)
{
	if (!topology)
		return true;
	if (!triad_discover_free(topology->discover))
		return false;
	pthread_mutex_destroy(&topology->names_lock);
	pthread_mutex_destroy(&topology->lock);
	free(topology);
	return true;
}

void triad_topology_connect(struct triad_topology *topology, struct triad_perf *perf,
	struct triad_sa_source *source, struct triad_speed_reader *speeds)
{
	topology->perf = perf;
	topology->source = source;
	topology->speeds = speeds;
}

/* --- decisions --- */

/* Whether to use the sources at all.  Called with the lock. */
static bool asks(const struct triad_topology *topology, uint64_t now_us)
{
	return topology->choice != TRIAD_TOPOLOGY_AUTO ||
		(!topology->has_managers_fabric && now_us >= topology->hold_until_us);
}

/* Whether to discover.  Called with the lock. */
static bool decide(struct triad_topology *topology, uint64_t now_us)
{
	struct triad_sa_source_status sa = triad_sa_source_status(topology->source);

	if (!asks(topology, now_us) || (sa.n_refreshes && !sa.error))
		topology->waiting_since_us = 0;
	else if (!topology->waiting_since_us)
		topology->waiting_since_us = now_us;
	if (topology->choice != TRIAD_TOPOLOGY_AUTO)
		return topology->choice == TRIAD_TOPOLOGY_DISCOVER;
	/* Only a discovery finds what the SA hides. */
	if (topology->is_partial && asks(topology, now_us))
		return true;
	return topology->waiting_since_us &&
		now_us - topology->waiting_since_us > TRIAD_TOPOLOGY_PATIENCE_US;
}

/* What to ask of the SA.  Called with the lock. */
static enum triad_sa_source_use choose_sa_use(
	const struct triad_topology *topology, uint64_t now_us)
{
	if (!asks(topology, now_us))
		return TRIAD_SA_NOTHING;
	return topology->choice == TRIAD_TOPOLOGY_DISCOVER ? TRIAD_SA_REPORTS
							   : TRIAD_SA_TABLES;
}

void triad_topology_tick(
	struct triad_topology *topology, bool has_managers_fabric, uint64_t now_us)
{
	bool did, does, is_fallback, is_partial;
	enum triad_sa_source_use use;

	pthread_mutex_lock(&topology->lock);
	topology->has_managers_fabric = has_managers_fabric;
	did = topology->is_discovering;
	does = topology->is_discovering = decide(topology, now_us);
	is_fallback = topology->choice == TRIAD_TOPOLOGY_AUTO;
	is_partial = topology->is_partial;
	use = choose_sa_use(topology, now_us);
	pthread_mutex_unlock(&topology->lock);
	if (does && !did && is_fallback)
		triad_log_write(topology->log, TRIAD_LOG_INFO, "topology: %s",
			is_partial
				? "the SA shows only a part; the fabric is discovered "
				  "until it shows all"
				: "no SA answers; the fabric is discovered until one "
				  "does");
	triad_sa_source_want(topology->source, use);
	triad_discover_want(topology->discover, does);
}

void triad_topology_name_by(struct triad_topology *topology, const char *node_name_map)
{
	bool is_other;

	pthread_mutex_lock(&topology->lock);
	is_other = strcmp(topology->node_name_map, node_name_map) != 0;
	snprintf(topology->node_name_map, sizeof(topology->node_name_map), "%s",
		node_name_map);
	pthread_mutex_unlock(&topology->lock);
	if (is_other)
		triad_discover_again(topology->discover);
}

void triad_topology_configure(
	struct triad_topology *topology, unsigned choice, bool may_have_managers_fabric)
{
	uint64_t now_us = triad_clock_now_us();
	bool has_managers_fabric;

	pthread_mutex_lock(&topology->lock);
	topology->choice = choice;
	has_managers_fabric = topology->has_managers_fabric;
	/* Wait for a while: a manager may send the fabric. */
	if (may_have_managers_fabric && !topology->hold_until_us)
		topology->hold_until_us = now_us + TRIAD_TOPOLOGY_HOLD_US;
	else if (!may_have_managers_fabric)
		topology->hold_until_us = 0;
	pthread_mutex_unlock(&topology->lock);
	triad_topology_tick(topology, has_managers_fabric, now_us);
}

struct triad_topology_status triad_topology_status(struct triad_topology *topology)
{
	struct triad_topology_status status;

	status = TRIAD_LOCKED(&topology->lock, topology->status);
	status.discover = triad_discover_status(topology->discover);
	return status;
}
