/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/flows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

#define BACKLOG 16.0

struct packet {
	uint32_t flow, hop; /* the hop that it leaves by next */
};

/* The direction out of a port, and the buffer at its other end. */
struct link {
	double rate, tokens;
	uint64_t n_sent, n_waited;
	uint32_t turn;    /* of the buffer that was served last */
	uint64_t wants;   /* a bit for each number of an in-port with a packet for it */
	uint32_t head, n; /* of the buffer */
};

struct flows {
	const struct triad_routes_layout *layout;
	const struct triad_fabric *fabric;
	unsigned buffer, window;
	uint64_t random, n_slots;
	struct link *links;            /* for each port of the fabric */
	struct packet *packets;        /* 'buffer' for each port */
	double *drains, *drain_tokens; /* for each host */
	struct flows_flow *flows;
	double *backlog;
	uint32_t n_flows, room;
	uint32_t *host_turn, *order; /* flows in the order of their hosts */
};

static void *need(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

struct flows *flows_new(const struct triad_routes_layout *layout, unsigned buffer,
	unsigned window, uint64_t seed)
{
	struct flows *flows = need(calloc(1, sizeof(*flows)));
	uint32_t n = layout->fabric->n_ports;

	flows->layout = layout;
	flows->fabric = layout->fabric;
	flows->buffer = buffer;
	flows->window = window;
	flows->random = seed;
	flows->links = need(calloc(n, sizeof(*flows->links)));
	flows->packets = need(calloc((size_t)n * buffer, sizeof(*flows->packets)));
	flows->drains = need(calloc(layout->n_hosts, sizeof(double)));
	flows->drain_tokens = need(calloc(layout->n_hosts, sizeof(double)));
	flows->host_turn = need(calloc(layout->n_hosts, sizeof(uint32_t)));
	for (uint32_t i = 0; i < n; i++)
		flows->links[i].rate = 1;
	for (uint32_t i = 0; i < layout->n_hosts; i++)
		flows->drains[i] = 1;
	return flows;
}

void flows_free(struct flows *flows)
{
	free(flows->links);
	free(flows->packets);
	free(flows->drains);
	free(flows->drain_tokens);
	free(flows->host_turn);
	free(flows->flows);
	free(flows->backlog);
	free(flows);
}

void flows_set_rate(struct flows *flows, uint32_t port, double rate)
{
	flows->links[port].rate = rate;
}

void flows_set_drain(struct flows *flows, uint32_t host, double rate)
{
	flows->drains[host] = rate;
}

/* Hop by hop, as the tables say; routes/way.h is not asked. */
static bool find_way(const struct flows *flows, struct flows_flow *flow)
{
	const struct triad_fabric *fabric = flows->fabric;
	uint32_t port = flows->layout->hosts[flow->from].port;
	uint32_t goal = flows->layout->hosts[flow->to].port;
	uint16_t lid = fabric->ports[goal].lid;

	while (flow->n_hops < FLOWS_MAX_HOPS) {
		const struct triad_fabric_node *node;
		uint32_t far = fabric->ports[port].remote;

		flow->hops[flow->n_hops++] = port;
		if (far == goal)
			return true;
		if (far == TRIAD_FABRIC_NONE)
			return false;
		node = &fabric->nodes[fabric->ports[far].node];
		if (node->type != TRIAD_NODE_SWITCH || lid >= node->lft.n)
			return false;
		port = triad_fabric_find_port(fabric, fabric->ports[far].node,
			fabric->lft[node->lft.at + lid]);
		if (port == TRIAD_FABRIC_NONE)
			return false;
	}
	return false;
}

uint32_t flows_add(struct flows *flows, uint32_t from, uint32_t to, double rate)
{
	struct flows_flow flow = {.from = from, .to = to, .rate = rate};

	if (from == to || !find_way(flows, &flow))
		return UINT32_MAX;
	if (flows->n_flows == flows->room) {
		flows->room = flows->room ? 2 * flows->room : 64;
		flows->flows = need(
			realloc(flows->flows, flows->room * sizeof(*flows->flows)));
		flows->backlog =
			need(realloc(flows->backlog, flows->room * sizeof(double)));
	}
	flows->backlog[flows->n_flows] = 0;
	flows->flows[flows->n_flows] = flow;
	return flows->n_flows++;
}

void flows_remove_last(struct flows *flows)
{
	flows->n_flows--;
}

void flows_set_pause(struct flows *flows, uint32_t flow, bool pauses)
{
	flows->flows[flow].pauses = pauses;
	flows->backlog[flow] = pauses ? 0 : flows->backlog[flow];
}

uint32_t flows_n(const struct flows *flows)
{
	return flows->n_flows;
}

const struct flows_flow *flows_get(const struct flows *flows, uint32_t flow)
{
	return &flows->flows[flow];
}

/* --- what would be fair --- */

static double room_of(const struct flows *flows, uint32_t port)
{
	uint32_t far = flows->fabric->ports[port].remote;
	uint32_t host = flows->layout->host_of_port[far];
	double rate = flows->links[port].rate;

	return host == TRIAD_FABRIC_NONE ? rate : fmin(rate, flows->drains[host]);
}

/* Until the first of the growing flows is stopped: by its own rate, or by a full link. */
static double step_of(struct flows *flows, const double *used, const uint32_t *growing)
{
	double step = INFINITY;

	for (uint32_t i = 0; i < flows->n_flows; i++) {
		const struct flows_flow *flow = &flows->flows[i];

		if (flow->fair < 0)
			continue;
		step = fmin(step, flow->rate - flow->fair);
		for (uint32_t h = 0; h < flow->n_hops; h++)
			step = fmin(step,
				(room_of(flows, flow->hops[h]) - used[flow->hops[h]]) /
					growing[flow->hops[h]]);
	}
	return step;
}

void flows_share(struct flows *flows, double *used)
{
	uint32_t n_ports = flows->fabric->n_ports, n_left = flows->n_flows;
	uint32_t *growing = need(calloc(n_ports, sizeof(*growing)));
	bool *done = need(calloc(flows->n_flows + 1, sizeof(*done)));

	memset(used, 0, n_ports * sizeof(*used));
	for (uint32_t i = 0; i < flows->n_flows; i++) {
		flows->flows[i].fair = 0;
		flows->flows[i].bottleneck = TRIAD_FABRIC_NONE;
		for (uint32_t h = 0; h < flows->flows[i].n_hops; h++)
			growing[flows->flows[i].hops[h]]++;
	}
	while (n_left) {
		double step;

		/* Those that are done are hidden from step_of(). */
		for (uint32_t i = 0; i < flows->n_flows; i++)
			if (done[i])
				flows->flows[i].fair = -1 - flows->flows[i].fair;
		step = step_of(flows, used, growing);
		for (uint32_t i = 0; i < flows->n_flows; i++)
			if (done[i])
				flows->flows[i].fair = -1 - flows->flows[i].fair;
		for (uint32_t i = 0; i < flows->n_flows; i++) {
			struct flows_flow *flow = &flows->flows[i];

			for (uint32_t h = 0; !done[i] && h < flow->n_hops; h++)
				used[flow->hops[h]] += step;
			flow->fair += done[i] ? 0 : step;
		}
		for (uint32_t i = 0; i < flows->n_flows; i++) {
			struct flows_flow *flow = &flows->flows[i];
			bool stops = flow->fair > flow->rate - 1e-9;

			for (uint32_t h = 0; !done[i] && !stops && h < flow->n_hops;
				h++)
				if (used[flow->hops[h]] >
					room_of(flows, flow->hops[h]) - 1e-9)
					flow->bottleneck = flow->hops[h];
			stops |= flow->bottleneck != TRIAD_FABRIC_NONE;
			if (done[i] || !stops)
				continue;
			done[i] = true;
			n_left--;
			for (uint32_t h = 0; h < flow->n_hops; h++)
				growing[flow->hops[h]]--;
		}
	}
	for (uint32_t i = 0; i < n_ports; i++)
		if (used[i] > 0)
			used[i] /= room_of(flows, i);
	free(growing);
	free(done);
}

/* --- slots --- */

static struct packet *packet_at(struct flows *flows, uint32_t port, uint32_t i)
{
	return &flows->packets[(size_t)port * flows->buffer +
		(flows->links[port].head + i) % flows->buffer];
}

static struct packet packet_take(struct flows *flows, uint32_t port, uint32_t i)
{
	struct packet taken = *packet_at(flows, port, i);

	for (; i > 0; i--)
		*packet_at(flows, port, i) = *packet_at(flows, port, i - 1);
	flows->links[port].head = (flows->links[port].head + 1) % flows->buffer;
	flows->links[port].n--;
	return taken;
}

static void packet_send(struct flows *flows, uint32_t port, struct packet packet)
{
	struct link *link = &flows->links[port];

	packet.hop++;
	*packet_at(flows, port, link->n) = packet;
	link->n++;
	link->tokens--;
	link->n_sent++;
}

/* Whether the link may send now; counts it as waiting when only credits are missing. */
static bool link_may_send(const struct flows *flows, struct link *link)
{
	if (link->tokens < 1)
		return false;
	link->n_waited += link->n == flows->buffer;
	return link->n < flows->buffer;
}

static uint32_t way_out(const struct flows *flows, const struct packet *packet)
{
	return flows->flows[packet->flow].hops[packet->hop];
}

/* Says to each way out which buffers have something for it. */
static void buffers_look(struct flows *flows)
{
	for (uint32_t i = 0; i < flows->fabric->n_ports; i++)
		flows->links[i].wants = 0;
	for (uint32_t i = 0; i < flows->fabric->n_ports; i++) {
		uint32_t far = flows->fabric->ports[i].remote;
		uint32_t n = flows->links[i].n;

		if (!n || flows->layout->host_of_port[far] != TRIAD_FABRIC_NONE)
			continue;
		for (uint32_t k = 0; k < n && k < flows->window; k++)
			flows->links[way_out(flows, packet_at(flows, i, k))].wants |=
				UINT64_C(1) << flows->fabric->ports[far].number;
	}
}

static void switch_port_send(struct flows *flows, uint32_t port)
{
	struct link *link = &flows->links[port];
	const struct triad_fabric_node *node =
		&flows->fabric->nodes[flows->fabric->ports[port].node];
	uint64_t later = link->wants & ~((UINT64_C(2) << link->turn) - 1);
	uint32_t in;

	if (!link->wants || !link_may_send(flows, link))
		return;
	link->turn = (uint32_t)__builtin_ctzll(later ? later : link->wants);
	in = flows->fabric->ports[node->first_port + link->turn].remote;
	for (uint32_t k = 0; k < flows->links[in].n && k < flows->window; k++)
		if (way_out(flows, packet_at(flows, in, k)) == port) {
			packet_send(flows, port, packet_take(flows, in, k));
			return;
		}
}

static void host_send(struct flows *flows, uint32_t host, const uint32_t *first)
{
	uint32_t n = first[host + 1] - first[host];
	struct link *link = &flows->links[flows->layout->hosts[host].port];
	uint32_t chosen = UINT32_MAX;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t i =
			flows->order[first[host] + (flows->host_turn[host] + k) % n];
		double chance = (double)(random_next(&flows->random) >> 11) * 0x1p-53;

		if (flows->backlog[i] < BACKLOG && !flows->flows[i].pauses &&
			chance < flows->flows[i].rate)
			flows->backlog[i]++;
		if (chosen == UINT32_MAX && flows->backlog[i] >= 1)
			chosen = i;
	}
	flows->host_turn[host]++;
	if (chosen == UINT32_MAX || !link_may_send(flows, link))
		return;
	flows->backlog[chosen]--;
	flows->flows[chosen].n_sent++;
	packet_send(flows, flows->layout->hosts[host].port, (struct packet){chosen, 0});
}

static void host_receive(struct flows *flows, uint32_t host)
{
	uint32_t port = flows->fabric->ports[flows->layout->hosts[host].port].remote;
	double *tokens = &flows->drain_tokens[host];

	*tokens = fmin(*tokens + flows->drains[host], 1 + flows->drains[host]);
	if (*tokens < 1 || !flows->links[port].n)
		return;
	*tokens -= 1;
	flows->flows[packet_take(flows, port, 0).flow].n_received++;
}

static void slot(struct flows *flows, const uint32_t *first)
{
	uint32_t n = flows->fabric->n_ports, begin;

	for (uint32_t i = 0; i < n; i++) {
		struct link *link = &flows->links[i];

		link->tokens = fmin(link->tokens + link->rate, 1 + link->rate);
		if (link->rate >= 1)
			link->tokens = 1;
	}
	for (uint32_t i = 0; i < flows->layout->n_hosts; i++)
		host_receive(flows, i);
	buffers_look(flows);
	begin = random_below(&flows->random, n);
	for (uint32_t i = 0; i < n; i++)
		switch_port_send(flows, (begin + i) % n);
	for (uint32_t i = 0; i < flows->layout->n_hosts; i++)
		host_send(flows, i, first);
}

void flows_run(struct flows *flows, unsigned n_before, unsigned n_slots)
{
	uint32_t n_hosts = flows->layout->n_hosts;
	uint32_t *first = need(calloc(n_hosts + 2, sizeof(*first)));

	flows->order = need(calloc(flows->n_flows + 1, sizeof(*flows->order)));
	for (uint32_t i = 0; i < flows->n_flows; i++)
		first[flows->flows[i].from + 2]++;
	for (uint32_t i = 0; i < n_hosts; i++)
		first[i + 2] += first[i + 1];
	for (uint32_t i = 0; i < flows->n_flows; i++)
		flows->order[first[flows->flows[i].from + 1]++] = i;
	for (unsigned i = 0; i < n_before; i++)
		slot(flows, first);
	for (uint32_t i = 0; i < flows->fabric->n_ports; i++)
		flows->links[i].n_sent = flows->links[i].n_waited = 0;
	for (uint32_t i = 0; i < flows->n_flows; i++)
		flows->flows[i].n_sent = flows->flows[i].n_received = 0;
	for (unsigned i = 0; i < n_slots; i++)
		slot(flows, first);
	flows->n_slots = n_slots;
	free(first);
	free(flows->order);
}

double flows_wait(const struct flows *flows, uint32_t port)
{
	return (double)flows->links[port].n_waited / (double)flows->n_slots;
}

double flows_sent(const struct flows *flows, uint32_t port)
{
	return (double)flows->links[port].n_sent /
		((double)flows->n_slots * flows->links[port].rate);
}
