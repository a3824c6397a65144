/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/gathering.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collect/distance.h"
#include "tests/random.h"
#include "triad/clock.h"

struct letter {
	struct letter *next;
	uint64_t due_us;
	enum triad_member_to to;
	uint64_t id;
	struct triad_member_sender speaker;
	unsigned group;
	size_t size;
	uint8_t octets[];
};

static void *need(void *memory)
{
	if (memory)
		return memory;
	fprintf(stderr, "gathering: out of memory\n");
	abort();
}

static uint64_t cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * TRIAD_US_PER_S + (uint64_t)now.tv_nsec / 1000;
}

/* --- the network --- */

static struct gathering_peer *peer_of(struct gathering *g, uint64_t id)
{
	for (unsigned i = 0; i < g->params.n_agents; i++)
		if (g->agents[i].id == id)
			return &g->agents[i];
	return &g->manager;
}

static struct gathering *speaking; /* whose member is being called */
static struct gathering_peer *speaker;

static void say(void *context, enum triad_member_to to, uint64_t id,
	const uint8_t *octets, size_t size)
{
	struct gathering *g = speaking;
	struct letter *letter;

	(void)context;
	if (to == TRIAD_MEMBER_TO_ALL)
		g->broadcast_octets += size;
	if (to == TRIAD_MEMBER_TO_MANAGERS)
		g->up_octets += size;
	if (random_below(&g->params.seed, 100) < g->lost_percent)
		return;
	letter = need(malloc(sizeof(*letter) + size));
	*letter = (struct letter){.due_us = g->now_us + GATHERING_DELAY_US,
		.to = to,
		.id = id,
		.speaker = {speaker->id, speaker == &g->manager},
		.group = speaker->group,
		.size = size};
	memcpy(letter->octets, octets, size);
	*g->last = letter;
	g->last = &letter->next;
}

static void speak(struct gathering *g, struct gathering_peer *peer)
{
	speaking = g;
	speaker = peer;
}

static void receive_from(
	struct gathering *g, struct gathering_peer *peer, struct letter *letter)
{
	if (!peer->member || peer->is_paused || peer->group != letter->group)
		return;
	speak(g, peer);
	triad_member_receive(peer->member, &letter->speaker, letter->octets,
		letter->size, g->now_us);
}

static void receive_as_manager(struct gathering *g, struct letter *letter)
{
	uint64_t begun_us = cpu_us();

	receive_from(g, &g->manager, letter);
	g->manager_cpu_us += cpu_us() - begun_us;
}

static void deliver(struct gathering *g, struct letter *letter)
{
	bool is_to_one = letter->to == TRIAD_MEMBER_TO_ONE;
	struct gathering_peer *one = is_to_one ? peer_of(g, letter->id) : &g->manager;

	for (unsigned i = 0;
		letter->to == TRIAD_MEMBER_TO_ALL && i < g->params.n_agents; i++)
		receive_from(g, &g->agents[i], letter);
	if (one == &g->manager)
		receive_as_manager(g, letter);
	else
		receive_from(g, one, letter);
}

static void deliver_due(struct gathering *g)
{
	while (g->first && g->first->due_us <= g->now_us) {
		struct letter *letter = g->first;

		g->first = letter->next;
		if (!g->first)
			g->last = &g->first;
		deliver(g, letter);
		free(letter);
	}
}

static void turn(struct gathering *g, struct gathering_peer *peer)
{
	if (!peer->member || peer->is_paused)
		return;
	speak(g, peer);
	triad_member_step(peer->member, g->now_us);
}

static void step(struct gathering *g)
{
	uint64_t begun_us;

	g->now_us += GATHERING_STEP_US;
	deliver_due(g);
	for (unsigned i = 0; i < g->params.n_agents; i++)
		turn(g, &g->agents[i]);
	begun_us = cpu_us();
	turn(g, &g->manager);
	g->manager_cpu_us += cpu_us() - begun_us;
}

void gathering_run(struct gathering *g, uint64_t for_us)
{
	for (uint64_t end_us = g->now_us + for_us; g->now_us < end_us;)
		step(g);
}

/* --- members --- */

static uint64_t owner_of(void *context, uint32_t node)
{
	struct gathering *g = context;

	return triad_claims_owner(triad_member_claims(g->manager.member), node, NULL);
}

static void ask_again(void *context, uint64_t agent, uint32_t number)
{
	struct gathering *g = context;

	triad_member_ask_again(g->manager.member, agent, number);
}

static void take_row(void *context, uint32_t port, uint32_t causes, uint64_t n_downs)
{
	(void)context;
	(void)port;
	(void)causes;
}

static void take_fabric(void *context, struct triad_fabric *fabric, uint64_t hash)
{
	(void)context;
	(void)fabric;
	(void)hash;
}

static void configure(
	const struct gathering *g, struct triad_member *member, uint64_t master)
{
	struct triad_member_settings settings = g->settings;

	if (master)
		snprintf(
			settings.master, sizeof(settings.master), "0x%" PRIx64, master);
	triad_member_configure(member, &settings);
}

static struct triad_member *new_member(struct gathering *g, uint64_t port_guid,
	uint64_t incarnation, bool is_manager, uint64_t master)
{
	const struct triad_member_sink sink = {.send = say, .fabric = take_fabric};
	struct triad_member_params params = {
		.id = is_manager ? ~port_guid : port_guid,
		.incarnation = incarnation,
		.port_guid = port_guid,
		.is_manager = is_manager,
		.seed = port_guid,
	};
	uint64_t hash = is_manager ? 0 : triad_member_topology(g->manager.member);
	struct triad_member *member;

	snprintf(params.name, sizeof(params.name), "%" PRIx64, port_guid);
	member =
		need(triad_member_new(&params, &sink, is_manager ? g->aggregator : NULL,
			g->params.liveness_us, g->params.backoff_us));
	configure(g, member, master);
	if (triad_member_set_fabric(member, g->params.fabric, hash, g->now_us))
		need(NULL);
	return member;
}

void gathering_start(struct gathering *g, unsigned agent)
{
	struct gathering_peer *peer = &g->agents[agent];
	const struct triad_collector_params params = {.period_us = g->params.sweep_us,
		.sweep = {.window = 64,
			.node_window = 8,
			.retries = 3,
			.timeout_us = TRIAD_US_PER_S / 10}};

	speak(g, peer);
	peer->member =
		new_member(g, peer->id, ++peer->incarnation, false, peer->master);
	peer->client = need(pma_client_new(g->pmas, random_next(&g->params.seed)));
	peer->client->now_us = g->now_us;
	peer->collector = need(triad_collector_new(&peer->client->clock, NULL, NULL));
	triad_collector_set_transport(peer->collector, &peer->client->transport);
	triad_collector_set_params(peer->collector, &params);
	peer->changes = UINT64_MAX;
	peer->is_paused = false;
}

void gathering_kill(struct gathering *g, unsigned agent)
{
	struct gathering_peer *peer = &g->agents[agent];

	triad_member_free(peer->member);
	triad_collector_free(peer->collector);
	pma_client_free(peer->client);
	triad_fabric_unref(peer->part);
	peer->member = NULL;
	peer->collector = NULL;
	peer->client = NULL;
	peer->part = NULL;
}

static uint64_t port_guid_of(const struct triad_fabric *fabric, uint32_t node)
{
	return fabric->ports[fabric->nodes[node].first_port].guid;
}

/* The n-th of the hosts, of 'of' that are spread over all of them. */
static uint64_t spread_host(const struct triad_fabric *fabric, unsigned n, unsigned of)
{
	uint32_t n_hosts = 0, wanted;

	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		n_hosts += fabric->nodes[i].type == TRIAD_NODE_CA;
	wanted = (uint32_t)((uint64_t)n * n_hosts / of);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[i].type == TRIAD_NODE_CA && !wanted--)
			return port_guid_of(fabric, i);
	abort();
}

struct gathering *gathering_new(const struct gathering_params *params)
{
	struct gathering *g = need(calloc(1, sizeof(*g)));
	const struct triad_aggregator_sink sink = {.context = g,
		.owner = owner_of,
		.ask_again = ask_again,
		.row = take_row};

	g->params = *params;
	g->now_us = 1000 * TRIAD_US_PER_S;
	g->last = &g->first;
	g->pmas = need(pmas_new(params->fabric));
	g->top = need(triad_engine_new());
	g->top_view = need(triad_view_new(g->top, params->fabric, NULL));
	if (triad_engine_adopt(g->top, params->fabric, g->now_us, g->top_view->rows))
		need(NULL);
	g->aggregator = need(triad_aggregator_new(g->top, &sink));
	triad_aggregator_adopt(g->aggregator, g->top_view);
	g->manager.id = ~spread_host(params->fabric, 0, 1);
	speak(g, &g->manager);
	g->manager.member = new_member(g, ~g->manager.id, 1, true, 0);
	for (unsigned i = 0; i < params->n_agents; i++) {
		g->agents[i].id = spread_host(params->fabric, i, params->n_agents);
		gathering_start(g, i);
	}
	return g;
}

void gathering_free(struct gathering *g)
{
	for (unsigned i = 0; i < g->params.n_agents; i++)
		if (g->agents[i].member)
			gathering_kill(g, i);
	triad_member_free(g->manager.member);
	while (g->first) {
		struct letter *letter = g->first;

		g->first = letter->next;
		free(letter);
	}
	triad_aggregator_free(g->aggregator);
	triad_view_unref(g->top_view);
	triad_engine_free(g->top);
	pmas_free(g->pmas);
	free(g);
}

void gathering_configure(struct gathering *g, uint32_t min_change_kb, uint32_t refresh)
{
	g->settings = (struct triad_member_settings){
		.reporter = {.min_change_words = (uint64_t)min_change_kb * 250,
			.refresh = refresh,
			.period_us = g->params.sweep_us},
		.sweep_ms = (uint32_t)(g->params.sweep_us / TRIAD_US_PER_MS),
	};
	for (unsigned i = 0; i < g->params.n_agents; i++)
		if (g->agents[i].member)
			configure(g, g->agents[i].member, g->agents[i].master);
	configure(g, g->manager.member, 0);
}

void gathering_set_master(struct gathering *g, unsigned agent, unsigned master)
{
	struct gathering_peer *peer = &g->agents[agent];

	peer->master = master == agent ? 0 : g->agents[master].id;
	if (peer->member)
		configure(g, peer->member, peer->master);
}

/* --- who owns what --- */

uint64_t gathering_n_refused(const struct gathering *g)
{
	uint64_t n = triad_member_counts(g->manager.member).n_refused;

	for (unsigned i = 0; i < g->params.n_agents; i++)
		if (g->agents[i].member)
			n += triad_member_counts(g->agents[i].member).n_refused;
	return n;
}

static uint32_t n_owned(const struct gathering_peer *peer)
{
	struct triad_collect_alive alive = {0};

	triad_claims_fill_alive(triad_member_claims(peer->member), &alive);
	return alive.n_nodes;
}

/* Each node has one owner, the same by its own view and by the manager's. */
static bool is_settled(struct gathering *g)
{
	struct triad_claims *claims = triad_member_claims(g->manager.member);
	uint32_t n = 0;

	for (unsigned i = 0; i < g->params.n_agents; i++)
		if (g->agents[i].member && !g->agents[i].is_paused)
			n += n_owned(&g->agents[i]);
	if (n != g->params.fabric->n_nodes || triad_claims_n_unowned(claims))
		return false;
	for (uint32_t i = 0; i < g->params.fabric->n_nodes; i++) {
		const struct gathering_peer *owner =
			peer_of(g, triad_claims_owner(claims, i, NULL));

		if (!owner->member || owner->is_paused ||
			!triad_member_owns(owner->member, i))
			return false;
	}
	return true;
}

uint64_t gathering_settle(struct gathering *g, uint64_t limit_us)
{
	uint64_t begun_us = g->now_us;

	while (!is_settled(g)) {
		if (g->now_us - begun_us > limit_us)
			return GATHERING_NEVER;
		step(g);
	}
	return g->now_us - begun_us;
}

/* --- sweeps --- */

static void take_part(struct gathering *g, struct gathering_peer *peer)
{
	uint64_t changes = triad_claims_changes(triad_member_claims(peer->member));
	bool *is_own;

	if (changes == peer->changes)
		return;
	is_own = need(calloc(g->params.fabric->n_nodes, sizeof(*is_own)));
	for (uint32_t i = 0; i < g->params.fabric->n_nodes; i++)
		is_own[i] = triad_member_owns(peer->member, i);
	triad_fabric_unref(peer->part);
	if (triad_distance_part(g->params.fabric, is_own, &peer->part))
		need(NULL);
	triad_collector_set_fabric(peer->collector, peer->part);
	peer->changes = changes;
	free(is_own);
}

static void sweep_part(struct gathering *g, struct gathering_peer *peer)
{
	struct triad_collector_status status;
	struct triad_view *view;

	take_part(g, peer);
	if (peer->client->now_us < g->now_us)
		peer->client->now_us = g->now_us;
	triad_collector_sweep_now(peer->collector);
	do {
		(void)triad_collector_step(peer->collector);
		status = triad_collector_status(peer->collector);
	} while (status.sweeping);
	/* It took as long as its clock shows: the others continue meanwhile. */
	while (g->now_us < peer->client->now_us)
		step(g);
	view = triad_collector_view(peer->collector);
	if (!view)
		return;
	speak(g, peer);
	triad_member_send_sweep(peer->member, view, NULL, status.last.n_unanswered, 0,
		peer->client->now_us);
	triad_view_unref(view);
}

void gathering_sweep(struct gathering *g)
{
	uint64_t begun_us = g->now_us;

	for (unsigned i = 0; i < g->params.n_agents; i++) {
		uint64_t at_us = g->params.sweep_us * i / g->params.n_agents;

		while (g->now_us - begun_us < at_us)
			step(g);
		if (g->agents[i].member && !g->agents[i].is_paused)
			sweep_part(g, &g->agents[i]);
	}
	while (g->now_us - begun_us < g->params.sweep_us)
		step(g);
}

void gathering_look(struct gathering *g)
{
	uint64_t begun_us = cpu_us();

	triad_aggregator_check_silence(g->aggregator, g->now_us);
	g->manager_cpu_us += cpu_us() - begun_us;
}

/* --- checks --- */

uint64_t gathering_n_read(const struct gathering *g)
{
	uint64_t n = 0, total;

	for (uint32_t i = 0; i < g->params.fabric->n_ports; i++)
		n += triad_view_total(g->top_view, i, TRIAD_PORT_XMIT_DATA, &total);
	return n;
}

static uint64_t total_of(const struct gathering *g, uint32_t port, unsigned counter)
{
	uint64_t total = 0;

	(void)triad_view_total(g->top_view, port, counter, &total);
	return total;
}

uint64_t gathering_count_wrong(const struct gathering *g, unsigned counter)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < g->params.fabric->n_ports; i++)
		n += g->params.fabric->ports[i].has_pma &&
			total_of(g, i, counter) != g->pmas->raw[i][counter];
	return n;
}

uint64_t gathering_count_over(const struct gathering *g, unsigned counter)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < g->params.fabric->n_ports; i++)
		n += total_of(g, i, counter) > g->pmas->raw[i][counter];
	return n;
}
