/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/routed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

/* --- making --- */

void routed_init(struct routed *routed, unsigned n)
{
	memset(routed, 0, sizeof(*routed));
	memset(routed->lft, 255, sizeof(routed->lft));
	routed->n_switches = n;
}

static unsigned free_port(const struct routed *routed, unsigned sw)
{
	for (unsigned p = 1; p < ROUTED_PORTS; p++)
		if (routed->far[sw][p].kind == ROUTED_NOTHING)
			return p;
	return 0;
}

void routed_link(struct routed *routed, unsigned a, unsigned b)
{
	unsigned p = free_port(routed, a), q = free_port(routed, b);

	if (!p || !q || a == b)
		return;
	routed->far[a][p] =
		(struct routed_far){.kind = ROUTED_SWITCH, .to = b, .port = q};
	routed->far[b][q] =
		(struct routed_far){.kind = ROUTED_SWITCH, .to = a, .port = p};
}

unsigned routed_add_host(struct routed *routed, unsigned sw)
{
	unsigned p = free_port(routed, sw), host = routed->n_hosts;

	if (!p || host == ROUTED_HOSTS)
		return host;
	routed->n_hosts++;
	routed->far[sw][p] =
		(struct routed_far){.kind = ROUTED_HOST, .to = host, .port = 1};
	routed->host_switch[host] = sw;
	routed->host_port[host] = p;
	return host;
}

static bool is_live(const struct routed *routed, unsigned sw, unsigned port)
{
	const struct routed_far *far = &routed->far[sw][port];

	if (far->kind == ROUTED_NOTHING || far->is_down)
		return false;
	return far->kind == ROUTED_HOST || !routed->far[far->to][far->port].is_down;
}

static void route_lid(struct routed *routed, unsigned lid, unsigned goal,
	unsigned last_port, uint64_t *seed)
{
	for (unsigned sw = 0; sw < routed->n_switches; sw++) {
		unsigned n = 0, distance = routed_distance(routed, sw, goal);

		routed->lft[sw][lid] = sw == goal ? (uint8_t)last_port : 255;
		for (unsigned p = 1; p < ROUTED_PORTS && sw != goal; p++) {
			const struct routed_far *far = &routed->far[sw][p];

			if (!is_live(routed, sw, p) || far->kind != ROUTED_SWITCH ||
				distance == ROUTED_NONE ||
				routed_distance(routed, far->to, goal) + 1 != distance)
				continue;
			if (!random_below(seed, ++n))
				routed->lft[sw][lid] = (uint8_t)p;
		}
	}
}

void routed_route(struct routed *routed, uint64_t *seed)
{
	for (unsigned sw = 0; sw < routed->n_switches; sw++)
		route_lid(routed, routed_switch_lid(sw), sw, 0, seed);
	for (unsigned host = 0; host < routed->n_hosts; host++)
		for (unsigned i = 0; i < 1u << routed->lmc; i++)
			route_lid(routed, routed_host_lid(host) + i,
				routed->host_switch[host], routed->host_port[host],
				seed);
}

static void spoil_tables(struct routed *routed, uint64_t *seed)
{
	static const unsigned one_in[] = {3, 10, 50, 100000};
	unsigned rate = one_in[random_below(seed, 4)];

	for (unsigned sw = 0; sw < routed->n_switches; sw++)
		for (unsigned lid = 0; lid < ROUTED_LIDS; lid++)
			if (!random_below(seed, rate))
				routed->lft[sw][lid] = random_below(seed, 8)
					? (uint8_t)random_below(seed, ROUTED_PORTS + 2)
					: 255;
}

/* Most map the SL to itself; some depend on the in-port, some drop the packet. */
static void fill_vls(struct routed *routed, uint64_t *seed)
{
	unsigned kind = random_below(seed, 3), n_vls = 1 + random_below(seed, 3);

	routed->qos = kind > 0;
	for (unsigned sw = 0; sw < routed->n_switches && routed->qos; sw++)
		for (unsigned in = 0; in < ROUTED_PORTS; in++)
			for (unsigned out = 0; out < ROUTED_PORTS; out++)
				for (unsigned sl = 0; sl < 16; sl++)
					routed->vl[sw][in][out][sl] = (uint8_t)(kind ==
								1
							? sl % n_vls
							: random_below(seed, 20)
							? random_below(seed, n_vls)
							: 15);
}

void routed_random(struct routed *routed, uint64_t *seed)
{
	unsigned n = 1 + random_below(seed, ROUTED_SWITCHES);
	unsigned n_links = random_below(seed, 4 * n + 1);
	unsigned n_hosts = random_below(seed, ROUTED_HOSTS);
	unsigned n_spines = 2 + random_below(seed, 3);

	routed_init(routed, n);
	routed->lmc = random_below(seed, 3);
	/* A ring, a tree of two levels, or anything. */
	switch (random_below(seed, 3)) {
	case 0:
		for (unsigned i = 0; i < n && n > 2; i++)
			routed_link(routed, i, (i + 1) % n);
		break;
	case 1:
		/* Hosts are at the first ones. */
		for (unsigned i = 0; i + n_spines < n; i++)
			for (unsigned spine = n - n_spines; spine < n; spine++)
				routed_link(routed, i, spine);
		break;
	default:
		for (unsigned i = 0; i < n_links; i++)
			routed_link(
				routed, random_below(seed, n), random_below(seed, n));
	}
	for (unsigned i = 0; i < n_hosts; i++)
		routed_add_host(
			routed, random_below(seed, n > n_spines ? n - n_spines : n));
	if (!random_below(seed, 4))
		routed_add_host(routed, random_below(seed, n));
	for (unsigned sw = 0; sw < n; sw++)
		for (unsigned p = 1; p < ROUTED_PORTS; p++)
			routed->far[sw][p].is_down = !random_below(seed, 60);
	routed_route(routed, seed);
	spoil_tables(routed, seed);
	fill_vls(routed, seed);
}

/* --- the fabric --- */

static uint64_t switch_guid(unsigned sw)
{
	return 0x1000 + 16 * (uint64_t)sw;
}

static uint64_t host_guid(unsigned host)
{
	return 0x100000 + 16 * (uint64_t)host;
}

static struct triad_sl2vl row_of(const uint8_t *vl)
{
	struct triad_sl2vl row;

	for (unsigned i = 0; i < 8; i++)
		row.vl[i] = (uint8_t)(vl[2 * i] << 4 | vl[2 * i + 1]);
	return row;
}

static void add_switch(
	const struct routed *routed, struct triad_fabric_builder *builder, unsigned sw)
{
	struct triad_fabric_node node = {
		.guid = switch_guid(sw), .type = TRIAD_NODE_SWITCH};
	char name[32];

	snprintf(name, sizeof(name), "switch-%u", sw);
	triad_fabric_builder_add_node(
		builder, &node, name, routed->lft[sw], ROUTED_LIDS);
	for (unsigned p = 0; p < ROUTED_PORTS; p++) {
		const struct routed_far *far = &routed->far[sw][p];
		struct triad_fabric_port port = {.guid = node.guid,
			.lid = (uint16_t)routed_switch_lid(sw),
			.number = (uint8_t)p,
			.state = far->is_down ? TRIAD_PORT_DOWN : TRIAD_PORT_ACTIVE};
		uint64_t guid = far->kind == ROUTED_SWITCH ? switch_guid(far->to)
			: far->kind == ROUTED_HOST         ? host_guid(far->to)
							   : 0;

		triad_fabric_builder_add_port(builder, &port, guid, (uint8_t)far->port);
		for (unsigned in = 0; in < ROUTED_PORTS && routed->qos; in++) {
			struct triad_sl2vl row = row_of(routed->vl[sw][in][p]);

			triad_fabric_builder_add_sl2vl(builder, &row);
		}
	}
}

static void add_host(const struct routed *routed, struct triad_fabric_builder *builder,
	unsigned host)
{
	struct triad_fabric_node node = {
		.guid = host_guid(host), .type = TRIAD_NODE_CA};
	struct triad_fabric_port port = {.guid = node.guid + 1,
		.lid = (uint16_t)routed_host_lid(host),
		.lmc = (uint8_t)routed->lmc,
		.number = 1,
		.state = TRIAD_PORT_ACTIVE};
	char name[32];

	snprintf(name, sizeof(name), "host-%u", host);
	triad_fabric_builder_add_node(builder, &node, name, NULL, 0);
	triad_fabric_builder_add_port(builder, &port,
		switch_guid(routed->host_switch[host]),
		(uint8_t)routed->host_port[host]);
}

struct triad_fabric *routed_fabric(const struct routed *routed)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *fabric = NULL;

	for (unsigned i = 0; i < routed->n_switches; i++)
		add_switch(routed, builder, i);
	for (unsigned i = 0; i < routed->n_hosts; i++)
		add_host(routed, builder, i);
	if (triad_fabric_build(builder, host_guid(0) + 1, &fabric))
		abort();
	triad_fabric_builder_free(builder);
	fabric->sa.qos = routed->qos;
	return fabric;
}

/* --- the oracle --- */

struct routed_walk routed_walk(
	const struct routed *routed, unsigned sw, unsigned in_port, unsigned lid)
{
	struct routed_walk walk = {.end = ROUTED_CIRCLES};

	/* More switches than there are: a loop. */
	while (walk.n < routed->n_switches + 1) {
		unsigned out = routed->lft[sw][lid];
		const struct routed_far *far;

		walk.sw[walk.n] = sw;
		walk.in[walk.n] = in_port;
		walk.out[walk.n++] = out;
		if (out == 255) {
			walk.end = ROUTED_NO_ROUTE;
			return walk;
		}
		if (out == 0) {
			walk.end = lid == routed_switch_lid(sw) ? ROUTED_ARRIVES
								: ROUTED_ELSEWHERE;
			return walk;
		}
		if (out >= ROUTED_PORTS || !is_live(routed, sw, out)) {
			walk.end = ROUTED_DEAD_PORT;
			return walk;
		}
		far = &routed->far[sw][out];
		if (far->kind == ROUTED_HOST) {
			unsigned first = routed_host_lid(far->to);

			walk.end = lid >= first && lid < first + (1u << routed->lmc)
				? ROUTED_ARRIVES
				: ROUTED_ELSEWHERE;
			return walk;
		}
		sw = far->to;
		in_port = far->port;
	}
	return walk;
}

static unsigned distance_within(
	const struct routed *routed, unsigned from, unsigned to, bool *seen)
{
	unsigned distances[ROUTED_SWITCHES], queue[ROUTED_SWITCHES], n = 0;

	memset(seen, 0, ROUTED_SWITCHES);
	seen[from] = true;
	distances[from] = 0;
	queue[n++] = from;
	for (unsigned i = 0; i < n; i++) {
		if (queue[i] == to)
			return distances[to];
		for (unsigned p = 1; p < ROUTED_PORTS; p++) {
			unsigned next = routed->far[queue[i]][p].to;

			if (!is_live(routed, queue[i], p) ||
				routed->far[queue[i]][p].kind != ROUTED_SWITCH ||
				seen[next])
				continue;
			seen[next] = true;
			distances[next] = distances[queue[i]] + 1;
			queue[n++] = next;
		}
	}
	return ROUTED_NONE;
}

unsigned routed_distance(const struct routed *routed, unsigned from, unsigned to)
{
	bool seen[ROUTED_SWITCHES];

	return distance_within(routed, from, to, seen);
}

static bool has_hosts(const struct routed *routed, unsigned sw)
{
	for (unsigned p = 1; p < ROUTED_PORTS; p++)
		if (routed->far[sw][p].kind == ROUTED_HOST && is_live(routed, sw, p))
			return true;
	return false;
}

static unsigned n_hosts_of(const struct routed *routed, unsigned sw)
{
	unsigned n = 0;

	for (unsigned p = 1; p < ROUTED_PORTS; p++)
		n += is_live(routed, sw, p) && routed->far[sw][p].kind == ROUTED_HOST;
	return n;
}

/* The input from which levels are found: links between each two switches, and hosts of
 * each. */
struct levels {
	unsigned n, distances[ROUTED_SWITCHES][ROUTED_SWITCHES];
	unsigned n_hosts[ROUTED_SWITCHES], n_all, n_with;
	unsigned first[ROUTED_SWITCHES]; /* where each with hosts has level 1 */
};

static unsigned level_among(
	const struct levels *levels, unsigned sw, const bool *is_leaf)
{
	unsigned level = 0;

	for (unsigned i = 0; i < levels->n; i++) {
		unsigned distance = levels->distances[sw][i];

		if (is_leaf[i] && distance != ROUTED_NONE &&
			(!level || distance + 1 < level))
			level = distance + 1;
	}
	return level;
}

static void measure(const struct routed *routed, struct levels *levels, bool *is_leaf)
{
	*levels = (struct levels){.n = routed->n_switches};
	for (unsigned i = 0; i < levels->n; i++) {
		levels->n_hosts[i] = n_hosts_of(routed, i);
		levels->n_all += levels->n_hosts[i];
		levels->n_with += levels->n_hosts[i] > 0;
		is_leaf[i] = levels->n_hosts[i] > 0;
		for (unsigned k = 0; k < levels->n; k++)
			levels->distances[i][k] = routed_distance(routed, i, k);
	}
	for (unsigned i = 0; i < levels->n; i++)
		levels->first[i] = level_among(levels, i, is_leaf);
}

/* Whether a switch has all neighbours that 'like', which has no hosts, has below. */
static bool is_like(const struct levels *levels, unsigned sw, unsigned like)
{
	unsigned n = 0;

	if (levels->n_hosts[like])
		return false;
	for (unsigned i = 0; i < levels->n; i++)
		if (levels->distances[like][i] == 1 &&
			levels->first[i] < levels->first[like]) {
			if (levels->distances[sw][i] != 1)
				return false;
			n++;
		}
	return n >= 2;
}

void routed_levels(const struct routed *routed, unsigned found[ROUTED_SWITCHES])
{
	bool is_leaf[ROUTED_SWITCHES];
	struct levels levels;

	measure(routed, &levels, is_leaf);
	for (unsigned i = 0; i < levels.n; i++)
		for (unsigned k = 0; k < levels.n; k++)
			if (2 * levels.n_hosts[i] * levels.n_with <= levels.n_all &&
				is_like(&levels, i, k))
				is_leaf[i] = false;
	for (unsigned i = 0; i < levels.n; i++)
		found[i] = level_among(&levels, i, is_leaf);
}

bool routed_is_tree(const struct routed *routed, const unsigned levels[ROUTED_SWITCHES])
{
	bool any = false;

	for (unsigned sw = 0; sw < routed->n_switches; sw++) {
		unsigned level = levels[sw];

		any |= has_hosts(routed, sw);
		if (!level)
			return false;
		for (unsigned p = 1; p < ROUTED_PORTS; p++)
			if (is_live(routed, sw, p) &&
				routed->far[sw][p].kind == ROUTED_SWITCH &&
				levels[routed->far[sw][p].to] == level)
				return false;
	}
	return any;
}
