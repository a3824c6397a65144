/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/member.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/member_parts.h"
#include "collect/distance.h"
#include "triad/clock.h"

/* How often to send ALIVE in a liveness time, so that one may get lost. */
#define ALIVES 4

/* --- callbacks of the claims --- */

static void send_owner(void *context, uint64_t to,
	const struct triad_collect_owner *owner,
	const struct triad_collect_claim *claims)
{
	struct triad_member *member = context;
	struct triad_collect_head head = triad_member_head(member, TRIAD_COLLECT_OWNER);
	struct triad_collect_owner sent = *owner;

	memcpy(sent.address, member->params.address, sizeof(sent.address));
	sent.port = member->params.port;
	triad_member_send_to(member, to,
		triad_collect_put_owner(
			&head, &sent, claims, member->octets, sizeof(member->octets)));
}

static void ask_list(void *context, uint64_t to)
{
	static const struct triad_collect_who_owns list = {.wants_list = true};
	struct triad_member *member = context;
	struct triad_collect_head head =
		triad_member_head(member, TRIAD_COLLECT_WHO_OWNS);

	triad_member_send_to(member, to,
		triad_collect_put_who_owns(
			&head, &list, NULL, member->octets, sizeof(member->octets)));
}

static void send_alive(struct triad_member *member, uint64_t now_us)
{
	struct triad_collect_head head = triad_member_head(member, TRIAD_COLLECT_ALIVE);
	struct triad_collect_alive alive;

	member->master = triad_member_master(member, now_us);
	alive = (struct triad_collect_alive){
		.port = member->params.port,
		.is_manager = member->params.is_manager,
		.n_ports = member->n_ports,
		.master = member->master,
		.topology = member->hash,
		.sweep_ms = member->settings.sweep_ms,
		.lag_ms = member->lag_ms,
		.n_data = triad_reporter_number(member->reporter),
	};

	memcpy(alive.name, member->params.name, sizeof(alive.name));
	memcpy(alive.address, member->params.address, sizeof(alive.address));
	triad_claims_fill_alive(member->claims, &alive);
	triad_member_send_to(member, TRIAD_CLAIMS_NO_AGENT,
		triad_collect_put_alive(
			&head, &alive, member->octets, sizeof(member->octets)));
	/* Add this member to the peers, among which masters and names are looked up. */
	triad_peers_receive(
		&member->peers, &head, &alive, triad_member_past_us(member), now_us);
	member->alive_us = now_us;
}

/* --- life --- */

static void ask_nodes(void *context, const uint64_t *guids, uint32_t n)
{
	const struct triad_collect_who_owns who = {.n = n};
	struct triad_member *member = context;
	struct triad_collect_head head =
		triad_member_head(member, TRIAD_COLLECT_WHO_OWNS);

	triad_member_send_to(member, TRIAD_CLAIMS_NO_AGENT,
		triad_collect_put_who_owns(
			&head, &who, guids, member->octets, sizeof(member->octets)));
}

/* The real distance of an agent from a node; computed once for each agent and
 * fabric. */
static uint8_t true_hops(void *context, uint64_t agent, uint32_t node)
{
	struct triad_member *member = context;
	uint8_t *hops;
	unsigned i = 0;

	while (i < member->n_distances && member->distance_of[i] != agent)
		i++;
	if (i < member->n_distances)
		return member->distances[i][node];
	hops = malloc(member->fabric->n_nodes + 1);
	if (!hops || triad_distance_hops(member->fabric, agent, hops)) {
		free(hops);
		return 0; /* unknown: accept any claim */
	}
	/* If all entries are used, replace the oldest one. */
	if (member->n_distances < TRIAD_CLAIMS_MAX_AGENTS) {
		i = member->n_distances++;
	} else {
		i = member->oldest_distances++ % TRIAD_CLAIMS_MAX_AGENTS;
		free(member->distances[i]);
	}
	member->distances[i] = hops;
	member->distance_of[i] = agent;
	return hops[node];
}

static void forget_distances(struct triad_member *member)
{
	for (unsigned i = 0; i < member->n_distances; i++)
		free(member->distances[i]);
	member->n_distances = member->oldest_distances = 0;
}

struct triad_member *triad_member_new(const struct triad_member_params *params,
	const struct triad_member_sink *sink, struct triad_aggregator *aggregator,
	uint64_t liveness_us, uint64_t backoff_us)
{
	struct triad_member *member = calloc(1, sizeof(*member));
	const struct triad_claims_sink claims_sink = {.context = member,
		.send_owner = send_owner,
		.ask_list = ask_list,
		.ask_nodes = ask_nodes};
	const struct triad_claims_params claims_params = {
		.self = params->is_manager ? 0 : params->id,
		.incarnation = params->incarnation,
		.liveness_us = liveness_us,
		.backoff_us = backoff_us,
		.max_nodes = params->max_nodes,
		.seed = params->seed,
		.true_hops = true_hops,
		.context = member,
	};

	if (!member)
		return NULL;
	member->params = *params;
	member->sink = *sink;
	member->aggregator = aggregator;
	member->liveness_us = liveness_us;
	member->claims = triad_claims_new(&claims_params, &claims_sink);
	member->reporter = triad_reporter_new();
	member->detail_reporter = triad_detail_reporter_new();
	member->pieces = triad_topology_pieces_new();
	if (member->claims && member->reporter && member->detail_reporter &&
		member->pieces)
		return member;
	triad_member_free(member);
	return NULL;
}

void triad_member_free(struct triad_member *member)
{
	if (!member)
		return;
	for (unsigned i = 0; i < TRIAD_MEMBER_MAX_GATHERS; i++)
		if (member->gathers[i].is_used)
			triad_gather_clear(&member->gathers[i].gather);
	forget_distances(member);
	triad_claims_free(member->claims);
	triad_reporter_free(member->reporter);
	triad_detail_reporter_free(member->detail_reporter);
	triad_topology_pieces_free(member->pieces);
	triad_topology_octets_free(&member->encoded);
	triad_fabric_unref(member->fabric);
	free(member);
}

void triad_member_configure(
	struct triad_member *member, const struct triad_member_settings *settings)
{
	member->settings = *settings;
	triad_reporter_configure(member->reporter, &settings->reporter);
}

static uint64_t *guids_of(const struct triad_fabric *fabric)
{
	uint64_t *guids = malloc((fabric->n_nodes + 1) * sizeof(*guids));

	for (uint32_t i = 0; guids && i < fabric->n_nodes; i++)
		guids[i] = fabric->nodes[i].guid;
	return guids;
}

int triad_member_set_fabric(struct triad_member *member, struct triad_fabric *fabric,
	uint64_t hash, uint64_t now_us)
{
	uint64_t *guids = guids_of(fabric);
	uint8_t *hops = malloc(fabric->n_nodes + 1);
	struct triad_fabric *old = member->fabric;
	uint32_t n_apart = 0;
	int error = ENOMEM;

	if (guids && hops)
		error = triad_distance_hops(fabric, member->params.port_guid, hops);
	/* An agent can't read nodes that share no partition with it. */
	if (!error && !member->params.is_manager)
		error = triad_member_exclude_apart(member, fabric, hops, &n_apart);
	if (!error) {
		/* The claims call true_hops(), which needs the new fabric. */
		member->fabric = triad_fabric_ref(fabric);
		forget_distances(member);
		error = triad_claims_set_nodes(
			member->claims, guids, hops, fabric->n_nodes, now_us);
		triad_fabric_unref(error ? member->fabric : old);
		if (error) {
			member->fabric = old;
			forget_distances(member);
		}
	}
	free(guids);
	free(hops);
	if (error)
		return error;
	member->hash = hash;
	member->n_apart = n_apart;
	if (member->params.is_manager)
		triad_member_encode(member);
	return 0;
}

/* --- steps --- */

uint64_t triad_member_step(struct triad_member *member, uint64_t now_us)
{
	uint64_t every_us = member->liveness_us / ALIVES, next_us;

	/* Nothing can be sent.  Answer local requests for histograms with what has been
	 * received. */
	if (member->is_cut_off)
		return triad_member_step_gathers(member, now_us);
	next_us =
		member->fabric ? triad_claims_step(member->claims, now_us) : UINT64_MAX;
	/* Announce a new master at once: reports may be refused until it is known. */
	if (!member->alive_us || now_us - member->alive_us >= every_us ||
		triad_member_master(member, now_us) != member->master)
		send_alive(member, now_us);
	next_us = triad_clock_earlier(next_us, member->alive_us + every_us);
	next_us =
		triad_clock_earlier(next_us, triad_member_step_gathers(member, now_us));
	return triad_clock_earlier(next_us, triad_member_step_topology(member, now_us));
}

void triad_member_cut_off(struct triad_member *member, bool is_cut_off, uint64_t now_us)
{
	if (member->is_cut_off && !is_cut_off)
		member->alive_us = 0; /* send ALIVE at once */
	triad_claims_set_suspended(member->claims, is_cut_off, now_us);
	member->is_cut_off = is_cut_off;
}

void triad_member_drain(struct triad_member *member, bool drain, uint64_t now_us)
{
	triad_claims_drain(member->claims, drain, now_us);
	member->alive_us = 0; /* send ALIVE at once */
}

void triad_member_leave(struct triad_member *member, uint64_t now_us)
{
	triad_claims_leave(member->claims, now_us);
}

/* --- agents --- */

void triad_member_send_sweep(struct triad_member *member, struct triad_view *view,
	const uint32_t *findings, uint32_t n_silent, uint32_t lag_ms, uint64_t now_us)
{
	struct triad_collect_head head = triad_member_head(member, TRIAD_COLLECT_DATA);
	size_t size;

	member->lag_ms = lag_ms;
	triad_reporter_begin(member->reporter, view, findings, n_silent, now_us);
	member->n_ports = triad_reporter_n_ports(member->reporter);
	/* Send each message before the next one overwrites the buffer. */
	while ((size = triad_reporter_next(
			member->reporter, &head, now_us, member->octets)))
		triad_member_send_up(member, member->octets, size);
	head = triad_member_head(member, TRIAD_COLLECT_DETAILS);
	triad_detail_reporter_begin(
		member->detail_reporter, view, member->settings.reporter.refresh);
	while ((size = triad_detail_reporter_next(
			member->detail_reporter, &head, now_us, member->octets)))
		triad_member_send_up(member, member->octets, size);
}

void triad_member_send_trap(struct triad_member *member,
	const struct triad_collect_trap *trap, uint64_t now_us)
{
	struct triad_collect_head head = triad_member_head(member, TRIAD_COLLECT_TRAP);

	member->counts.n_traps++;
	triad_member_send_up(member, member->octets,
		triad_collect_put_trap(
			&head, trap, member->octets, sizeof(member->octets)));
}

bool triad_member_owns(const struct triad_member *member, uint32_t node)
{
	return triad_claims_is_own(member->claims, node, member->params.id);
}

/* Adds the id unless it is there; returns the number of ids. */
static unsigned note_peer(uint64_t id, uint64_t *ids, unsigned n, unsigned most)
{
	for (unsigned i = 0; i < n && i < most; i++)
		if (ids[i] == id)
			return n;
	if (n < most)
		ids[n] = id;
	return n + 1;
}

unsigned triad_member_neighbours(
	const struct triad_member *member, uint64_t *ids, unsigned most)
{
	const struct triad_fabric *fabric = member->fabric;
	unsigned n = 0;

	for (uint32_t i = 0; fabric && i < fabric->n_ports; i++) {
		uint32_t remote = fabric->ports[i].remote;
		uint64_t owner;

		if (remote == TRIAD_FABRIC_NONE ||
			!triad_member_owns(member, fabric->ports[i].node))
			continue;
		owner = triad_claims_owner(
			member->claims, fabric->ports[remote].node, NULL);
		if (owner != TRIAD_CLAIMS_NO_AGENT && owner != member->params.id)
			n = note_peer(owner, ids, n, most);
	}
	return n;
}

/* --- state --- */

struct triad_claims *triad_member_claims(struct triad_member *member)
{
	return member->claims;
}

const struct triad_peers *triad_member_peers(const struct triad_member *member)
{
	return &member->peers;
}

uint64_t triad_member_topology(const struct triad_member *member)
{
	return member->hash;
}

struct triad_member_counts triad_member_counts(const struct triad_member *member)
{
	return member->counts;
}

struct triad_reporter_counts triad_member_reporter_counts(
	const struct triad_member *member)
{
	return triad_reporter_counts(member->reporter);
}
