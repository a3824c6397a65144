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

/* One VL of a link, and its buffer at the other end. */
struct channel {
	uint64_t n_waited;
	uint32_t turn;    /* of the buffer that was served last */
	uint64_t wants;   /* a bit for each number of an in-port with a packet for it */
	uint32_t head, n; /* of the buffer */
};

/* The direction out of a port. */
struct link {
	double rate, tokens;
	uint64_t n_sent, n_waited;
	unsigned vl; /* that was served last */
	struct channel vls[FLOWS_N_VLS];
};

struct flows {
	const struct triad_routes_layout *layout;
	const struct triad_fabric *fabric;
	unsigned buffer, window;
	uint64_t random, n_slots, n_steps;
	struct link *links;            /* for each port of the fabric */
	struct packet *packets;        /* 'buffer' for each port and VL */
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
	flows->packets =
		need(calloc((size_t)n * FLOWS_N_VLS * buffer, sizeof(*flows->packets)));
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

/* Follows the tables hop by hop, without routes/path.h. */
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

void flows_set_vl(struct flows *flows, uint32_t flow, uint8_t vl)
{
	flows->flows[flow].vl = vl;
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

/* Grows the flows until the first one is stopped: by its own rate, or by a full link.
 * */
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

static struct packet *packet_at(
	struct flows *flows, uint32_t port, unsigned vl, uint32_t i)
{
	return &flows->packets[((size_t)port * FLOWS_N_VLS + vl) * flows->buffer +
		(flows->links[port].vls[vl].head + i) % flows->buffer];
}

static struct packet packet_take(
	struct flows *flows, uint32_t port, unsigned vl, uint32_t i)
{
	struct channel *channel = &flows->links[port].vls[vl];
	struct packet taken = *packet_at(flows, port, vl, i);

	for (; i > 0; i--)
		*packet_at(flows, port, vl, i) = *packet_at(flows, port, vl, i - 1);
	channel->head = (channel->head + 1) % flows->buffer;
	channel->n--;
	return taken;
}

static void packet_send(struct flows *flows, uint32_t port, struct packet packet)
{
	struct link *link = &flows->links[port];
	unsigned vl = flows->flows[packet.flow].vl;

	packet.hop++;
	*packet_at(flows, port, vl, link->vls[vl].n) = packet;
	link->vls[vl].n++;
	link->vl = vl;
	link->tokens--;
	link->n_sent++;
}

/* The VL to serve now, of those in 'wanted' (a bit for each), or FLOWS_N_VLS.  Counts
 * VLs that wait for credits. */
static unsigned link_choose_vl(
	const struct flows *flows, struct link *link, unsigned wanted)
{
	unsigned chosen = FLOWS_N_VLS;

	if (link->tokens < 1)
		return FLOWS_N_VLS;
	for (unsigned i = 1; i <= FLOWS_N_VLS; i++) {
		unsigned vl = (link->vl + i) % FLOWS_N_VLS;

		if (!(wanted >> vl & 1))
			continue;
		if (link->vls[vl].n == flows->buffer)
			link->vls[vl].n_waited++;
		else if (chosen == FLOWS_N_VLS)
			chosen = vl;
	}
	link->n_waited += wanted && chosen == FLOWS_N_VLS;
	return chosen;
}

static uint32_t way_out(const struct flows *flows, const struct packet *packet)
{
	return flows->flows[packet->flow].hops[packet->hop];
}

/* Notes for each output port which buffers have a packet for it. */
static void buffers_look(struct flows *flows)
{
	for (uint32_t i = 0; i < flows->fabric->n_ports; i++)
		for (unsigned vl = 0; vl < FLOWS_N_VLS; vl++)
			flows->links[i].vls[vl].wants = 0;
	for (uint32_t i = 0; i < flows->fabric->n_ports; i++) {
		uint32_t far = flows->fabric->ports[i].remote;

		if (far == TRIAD_FABRIC_NONE ||
			flows->layout->host_of_port[far] != TRIAD_FABRIC_NONE)
			continue;
		for (unsigned vl = 0; vl < FLOWS_N_VLS; vl++)
			for (uint32_t k = 0;
				k < flows->links[i].vls[vl].n && k < flows->window; k++)
				flows->links[way_out(flows, packet_at(flows, i, vl, k))]
					.vls[vl]
					.wants |= UINT64_C(1)
					<< flows->fabric->ports[far].number;
	}
}

static void switch_port_send(struct flows *flows, uint32_t port)
{
	struct link *link = &flows->links[port];
	const struct triad_fabric_node *node =
		&flows->fabric->nodes[flows->fabric->ports[port].node];
	struct channel *channel;
	unsigned wanted = 0, vl;
	uint64_t later;
	uint32_t in;

	for (vl = 0; vl < FLOWS_N_VLS; vl++)
		wanted |= link->vls[vl].wants ? 1u << vl : 0;
	vl = link_choose_vl(flows, link, wanted);
	if (vl == FLOWS_N_VLS)
		return;
	channel = &link->vls[vl];
	later = channel->wants & ~((UINT64_C(2) << channel->turn) - 1);
	channel->turn = (uint32_t)__builtin_ctzll(later ? later : channel->wants);
	in = flows->fabric->ports[node->first_port + channel->turn].remote;
	for (uint32_t k = 0; k < flows->links[in].vls[vl].n && k < flows->window; k++)
		if (way_out(flows, packet_at(flows, in, vl, k)) == port) {
			packet_send(flows, port, packet_take(flows, in, vl, k));
			return;
		}
}

static void host_send(struct flows *flows, uint32_t host, const uint32_t *first)
{
	uint32_t n = first[host + 1] - first[host];
	struct link *link = &flows->links[flows->layout->hosts[host].port];
	uint32_t chosen[FLOWS_N_VLS];
	unsigned wanted = 0, vl;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t i =
			flows->order[first[host] + (flows->host_turn[host] + k) % n];
		double chance = (double)(random_next(&flows->random) >> 11) * 0x1p-53;

		vl = flows->flows[i].vl;
		if (flows->backlog[i] < BACKLOG && !flows->flows[i].pauses &&
			chance < flows->flows[i].rate)
			flows->backlog[i]++;
		if (!(wanted >> vl & 1) && flows->backlog[i] >= 1) {
			chosen[vl] = i;
			wanted |= 1u << vl;
		}
	}
	flows->host_turn[host]++;
	vl = link_choose_vl(flows, link, wanted);
	if (vl == FLOWS_N_VLS)
		return;
	flows->backlog[chosen[vl]]--;
	flows->flows[chosen[vl]].n_sent++;
	packet_send(
		flows, flows->layout->hosts[host].port, (struct packet){chosen[vl], 0});
}

static void host_receive(struct flows *flows, uint32_t host)
{
	uint32_t port = flows->fabric->ports[flows->layout->hosts[host].port].remote;
	double *tokens = &flows->drain_tokens[host];
	unsigned vl = flows->n_steps % FLOWS_N_VLS;

	*tokens = fmin(*tokens + flows->drains[host], 1 + flows->drains[host]);
	if (!flows->links[port].vls[vl].n)
		vl = (vl + 1) % FLOWS_N_VLS;
	if (*tokens < 1 || !flows->links[port].vls[vl].n)
		return;
	*tokens -= 1;
	flows->flows[packet_take(flows, port, vl, 0).flow].n_received++;
}

static void slot(struct flows *flows, const uint32_t *first)
{
	uint32_t n = flows->fabric->n_ports, begin;

	flows->n_steps++;
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
	for (uint32_t i = 0; i < flows->fabric->n_ports; i++) {
		flows->links[i].n_sent = flows->links[i].n_waited = 0;
		for (unsigned vl = 0; vl < FLOWS_N_VLS; vl++)
			flows->links[i].vls[vl].n_waited = 0;
	}
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

double flows_vl_wait(const struct flows *flows, uint32_t port, unsigned vl)
{
	return (double)flows->links[port].vls[vl].n_waited / (double)flows->n_slots;
}
