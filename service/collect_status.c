/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a member publishes of itself and of the agents that it knows. */
#include <stdlib.h>
#include <string.h>

#include "service/collect_parts.h"
#include "triad/clock.h"

const char *triad_collect_agent_state_name(enum triad_collect_agent_state state)
{
	static const char *const names[] = {
		[TRIAD_AGENT_ALIVE] = "alive",
		[TRIAD_AGENT_DRAINING] = "draining",
		[TRIAD_AGENT_SILENT] = "silent",
		[TRIAD_AGENT_FOREIGN] = "foreign",
		[TRIAD_AGENT_DEAD] = "dead",
	};

	/* An image of a later release may have further states. */
	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

static enum triad_collect_agent_state agent_state_of(
	const struct triad_claims_agent *agent,
	const struct triad_aggregator_agent *reported, bool is_manager)
{
	if (agent->state == TRIAD_CLAIMS_DEAD)
		return TRIAD_AGENT_DEAD;
	/* This manager knows less than half of the ports that it reports: it reads
	 * another fabric. */
	if (is_manager && reported->n_unknown > reported->n_ports / 2)
		return TRIAD_AGENT_FOREIGN;
	/* It owns nodes, and reports nothing of them. */
	if (is_manager && agent->n_nodes && (!reported->id || reported->is_silent))
		return TRIAD_AGENT_SILENT;
	return agent->state == TRIAD_CLAIMS_DRAINING ? TRIAD_AGENT_DRAINING
						     : TRIAD_AGENT_ALIVE;
}

static void describe_agent(const struct triad_collect *collect,
	const struct triad_claims_agent *agent, struct triad_collect_agent *shown,
	uint64_t now_us)
{
	const struct triad_peers_entry *entry =
		triad_peers_find(triad_member_peers(collect->member), agent->id);
	bool is_manager = collect->mode == TRIAD_COLLECT_MANAGER;
	struct triad_aggregator_agent reported = {0};

	if (is_manager)
		triad_aggregator_agent(collect->aggregator, agent->id, &reported);
	*shown = (struct triad_collect_agent){
		.id = agent->id,
		.is_self = !is_manager && agent->id == collect->port_guid,
		.state = agent_state_of(agent, &reported, is_manager),
		.n_nodes = agent->n_nodes,
		.received_us = agent->received_us,
		.n_silent = reported.n_silent,
		.octets_per_s = reported.octets_per_s,
	};
	if (entry) {
		memcpy(shown->name, entry->alive.name, sizeof(shown->name));
		memcpy(shown->address, entry->alive.address, sizeof(shown->address));
		shown->port = entry->alive.port;
		shown->n_ports = entry->alive.n_ports;
		shown->master = entry->alive.master;
		shown->lag_ms = entry->alive.lag_ms;
	}
	if (reported.received_us)
		shown->lag_ms = (now_us - reported.received_us) / TRIAD_US_PER_MS;
	/* A dead agent reads and reports nothing: these are from when it was alive. */
	if (shown->state == TRIAD_AGENT_DEAD) {
		shown->n_ports = shown->n_silent = 0;
		shown->octets_per_s = 0;
		shown->master = 0;
	}
}

static int compare_agent_names(const void *a, const void *b)
{
	const struct triad_collect_agent *one = a, *other = b;
	int order = strcmp(one->name, other->name);

	return order ? order : (one->id > other->id) - (one->id < other->id);
}

static unsigned describe_all(const struct triad_collect *collect,
	struct triad_collect_agent *agents, uint64_t now_us)
{
	struct triad_claims *claims = triad_member_claims(collect->member);
	struct triad_claims_agent agent;
	unsigned n = 0;

	for (unsigned i = 0;
		n < TRIAD_CLAIMS_MAX_AGENTS && triad_claims_agent(claims, i, &agent);
		i++)
		describe_agent(collect, &agent, &agents[n++], now_us);
	qsort(agents, n, sizeof(*agents), compare_agent_names);
	return n;
}

static uint32_t count_managers(const struct triad_collect *collect, uint64_t now_us)
{
	const struct triad_peers *peers = triad_member_peers(collect->member);
	uint32_t n = 0;

	for (unsigned i = 0; i < peers->n; i++)
		n += peers->entries[i].alive.is_manager &&
			triad_member_is_received(
				collect->member, peers->entries[i].id, now_us);
	return n;
}

static void fill_status(const struct triad_collect *collect,
	struct triad_collect_status *status, uint64_t now_us)
{
	struct triad_claims *claims = triad_member_claims(collect->member);
	struct triad_collect_alive alive = {0};

	triad_claims_fill_alive(claims, &alive);
	*status = (struct triad_collect_status){
		.mode = collect->mode,
		.id = collect->mode == TRIAD_COLLECT_MANAGER ? ~collect->port_guid
							     : collect->port_guid,
		.bus = triad_bus_status(collect->bus),
		.counts = triad_member_counts(collect->member),
		.claims = triad_claims_counts(claims),
		.reporter = triad_member_reporter_counts(collect->member),
		.n_managers = count_managers(collect, now_us),
		.n_nodes = collect->fabric ? collect->fabric->n_nodes : 0,
		.n_owned = alive.n_nodes,
		.n_unowned = triad_claims_n_unowned(claims),
		.n_apart = collect->mode == TRIAD_COLLECT_MANAGER
			? collect->n_apart
			: triad_member_n_apart(collect->member),
		.master = triad_member_master(collect->member, now_us),
		.is_draining = alive.is_draining,
		.has_given_topology = triad_collect_is_handed(collect, now_us),
	};
	if (collect->aggregator)
		status->aggregator = triad_aggregator_status(collect->aggregator);
	status->n_peers = triad_member_neighbours(collect->member, status->peers,
		sizeof(status->peers) / sizeof(status->peers[0]));
}

void triad_collect_publish(struct triad_collect *collect, uint64_t now_us)
{
	struct triad_collect_agent *agents =
		calloc(TRIAD_CLAIMS_MAX_AGENTS, sizeof(*agents));
	struct triad_collect_status status;
	struct triad_fabric *old;
	unsigned n = agents ? describe_all(collect, agents, now_us) : 0;

	fill_status(collect, &status, now_us);
	for (unsigned i = 0; i < n; i++) {
		status.n_alive += agents[i].state != TRIAD_AGENT_DEAD;
		status.n_mute += agents[i].state == TRIAD_AGENT_SILENT ||
			agents[i].state == TRIAD_AGENT_FOREIGN;
	}
	status.n_agents = n;
	if (!status.n_alive)
		status.n_unowned = status.n_nodes;
	/* Made without the lock and swapped in whole, so that readers hardly wait. */
	pthread_mutex_lock(&collect->lock);
	free(collect->agents);
	old = collect->shown_fabric;
	collect->shown_fabric =
		collect->fabric ? triad_fabric_ref(collect->fabric) : NULL;
	collect->agents = agents;
	collect->n_agents = n;
	collect->status = status;
	pthread_mutex_unlock(&collect->lock);
	triad_fabric_unref(old);
}
