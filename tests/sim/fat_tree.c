/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/fat_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_VLARB 8

enum level { HOST, EDGE, AGGREGATION, CORE };

/* A node: a pod's 'n'-th, or of all cores; a host is the 'host'-th of edge 'n'. */
struct position {
	enum level level;
	unsigned pod, n, host;
};

struct tree {
	unsigned radix, half;
	unsigned n_lids;
	uint8_t *lft;
	struct triad_qos_defaults defaults;
	struct triad_fabric_builder *builder;
};

static unsigned n_in_level(const struct tree *tree, enum level level)
{
	return level == CORE    ? tree->half * tree->half
		: level == HOST ? tree->radix * tree->half * tree->half
				: tree->radix * tree->half;
}

static unsigned index_of(const struct tree *tree, const struct position *position)
{
	if (position->level == CORE)
		return position->n;
	if (position->level == HOST)
		return (position->pod * tree->half + position->n) * tree->half +
			position->host;
	return position->pod * tree->half + position->n;
}

static struct position position_of(
	const struct tree *tree, enum level level, unsigned index)
{
	unsigned half = tree->half;

	if (level == CORE)
		return (struct position){.level = CORE, .n = index};
	if (level == HOST)
		return (struct position){
			HOST, index / (half * half), index / half % half, index % half};
	return (struct position){level, index / half, index % half, 0};
}

/* Edges, aggregations, cores, hosts. */
static unsigned lid_of(const struct tree *tree, const struct position *position)
{
	unsigned lid = 1 + index_of(tree, position);

	if (position->level == AGGREGATION || position->level == CORE ||
		position->level == HOST)
		lid += n_in_level(tree, EDGE);
	if (position->level == CORE || position->level == HOST)
		lid += n_in_level(tree, AGGREGATION);
	if (position->level == HOST)
		lid += n_in_level(tree, CORE);
	return lid;
}

static struct position position_of_lid(const struct tree *tree, unsigned lid)
{
	static const enum level levels[] = {EDGE, AGGREGATION, CORE, HOST};
	unsigned i = 0;

	lid--;
	while (lid >= n_in_level(tree, levels[i]))
		lid -= n_in_level(tree, levels[i++]);
	return position_of(tree, levels[i], lid);
}

static uint64_t guid_of(const struct tree *tree, const struct position *position)
{
	return position->level == HOST ? FAT_TREE_HOST_GUID(index_of(tree, position))
				       : 0x1000 + 16 * (uint64_t)lid_of(tree, position);
}

/* --- routes --- */

static unsigned down(unsigned n)
{
	return 1 + n;
}

static unsigned up(const struct tree *tree, unsigned n)
{
	return 1 + tree->half + n;
}

/* To hosts and edges: down where they are below, else up; to an aggregation or a core
 * by the aggregation of the same number, for which others go down to an edge. */
static unsigned from_edge(const struct tree *tree, const struct position *at,
	const struct position *to, unsigned lid)
{
	bool here = at->pod == to->pod && at->n == to->n;

	if (to->level == EDGE && here)
		return 0;
	if (to->level == HOST && here)
		return down(to->host);
	if (to->level == AGGREGATION)
		return up(tree, to->n);
	if (to->level == CORE)
		return up(tree, to->n / tree->half);
	return up(tree, lid % tree->half);
}

static unsigned from_aggregation(const struct tree *tree, const struct position *at,
	const struct position *to, unsigned lid)
{
	unsigned other = lid / tree->half % tree->half;

	if (to->level == CORE)
		return to->n / tree->half == at->n ? up(tree, to->n % tree->half)
						   : down(other);
	if (to->pod != at->pod)
		return up(tree, other);
	if (to->level == AGGREGATION)
		return to->n == at->n ? 0 : down(other);
	return down(to->n);
}

static unsigned from_core(const struct tree *tree, const struct position *at,
	const struct position *to, unsigned lid)
{
	if (to->level == CORE)
		return to->n == at->n ? 0 : 1 + lid % tree->radix;
	return 1 + to->pod;
}

static void route(struct tree *tree, const struct position *at)
{
	tree->lft[0] = 255;
	for (unsigned lid = 1; lid < tree->n_lids; lid++) {
		struct position to = position_of_lid(tree, lid);

		tree->lft[lid] =
			(uint8_t)(at->level == EDGE ? from_edge(tree, at, &to, lid)
					: at->level == AGGREGATION
					? from_aggregation(tree, at, &to, lid)
					: from_core(tree, at, &to, lid));
	}
}

/* What is at the other end of port 'number', and its number there. */
static struct position neighbour(const struct tree *tree, const struct position *at,
	unsigned number, unsigned *far_number)
{
	unsigned half = tree->half, n = (number - 1) % half;
	bool is_up = number > half;

	switch (at->level) {
	case HOST:
		*far_number = down(at->host);
		return (struct position){EDGE, at->pod, at->n, 0};
	case EDGE:
		*far_number = is_up ? down(at->n) : 1;
		return is_up ? (struct position){AGGREGATION, at->pod, n, 0}
			     : (struct position){HOST, at->pod, at->n, n};
	case AGGREGATION:
		*far_number = is_up ? 1 + at->pod : up(tree, at->n);
		return is_up ? (struct position){.level = CORE, .n = at->n * half + n}
			     : (struct position){EDGE, at->pod, n, 0};
	default:
		*far_number = up(tree, at->n % half);
		return (struct position){AGGREGATION, number - 1, at->n / half, 0};
	}
}

/* --- building --- */

static void fill_defaults(struct tree *tree)
{
	struct triad_qos_defaults *defaults = &tree->defaults;

	/* VLs 0 to 14, and 7, of which a port with 8 VLs has the lowest 3 bits. */
	for (unsigned i = 0; i < 8; i++)
		defaults->sl2vl.vl[i] = (uint8_t)(i < 7 ? i << 5 | (2 * i + 1) : 0xe7);
	for (unsigned i = 0; i < 15; i++) {
		defaults->high[i] = (struct triad_vlarb_entry){(uint8_t)i, i ? 0 : 4};
		defaults->low[i] = (struct triad_vlarb_entry){(uint8_t)i, i ? 4 : 0};
	}
}

static void add_port(struct tree *tree, const struct position *at, unsigned number)
{
	bool is_switch = at->level != HOST;
	struct triad_fabric_port port = {
		.guid = guid_of(tree, at) + !is_switch,
		.lid = (uint16_t)lid_of(tree, at),
		.number = (uint8_t)number,
		.state = TRIAD_PORT_ACTIVE,
		.has_pma = number > 0,
		.has_sl2vl = true,
		.vl_cap = 4,
		.op_vls = 4,
		.vlarb_high_cap = N_VLARB,
		.vlarb_low_cap = N_VLARB,
	};
	struct triad_sl2vl row = tree->defaults.sl2vl;
	static const uint16_t pkey = 0xffff;
	struct position far;
	unsigned far_number = 0;

	for (unsigned i = 0; i < 8; i++)
		row.vl[i] &= 0x77;
	if (number)
		far = neighbour(tree, at, number, &far_number);
	triad_fabric_builder_add_port(tree->builder, &port,
		number ? guid_of(tree, &far) : 0, (uint8_t)far_number);
	triad_fabric_builder_add_pkeys(tree->builder, &pkey, 1);
	for (unsigned in = 0; in < (is_switch ? tree->radix + 1 : 1); in++)
		triad_fabric_builder_add_sl2vl(tree->builder, &row);
	triad_fabric_builder_add_vlarb(tree->builder, tree->defaults.low, N_VLARB);
	triad_fabric_builder_add_vlarb(tree->builder, tree->defaults.high, N_VLARB);
}

static void add_node(struct tree *tree, const struct position *at)
{
	bool is_switch = at->level != HOST;
	struct triad_fabric_node node = {.guid = guid_of(tree, at),
		.type = is_switch ? TRIAD_NODE_SWITCH : TRIAD_NODE_CA,
		.enhanced_port0 = is_switch};
	char name[48];

	if (at->level == HOST || at->level == CORE)
		snprintf(name, sizeof(name), "%s-%u",
			at->level == CORE ? "core" : "host", index_of(tree, at));
	else
		snprintf(name, sizeof(name), "%s-%u-%u",
			at->level == EDGE ? "edge" : "aggregation", at->pod, at->n);
	if (is_switch)
		route(tree, at);
	triad_fabric_builder_add_node(
		tree->builder, &node, name, is_switch ? tree->lft : NULL, tree->n_lids);
	for (unsigned i = is_switch ? 0 : 1; i <= (is_switch ? tree->radix : 1); i++)
		add_port(tree, at, i);
}

struct triad_fabric *fat_tree(unsigned radix)
{
	struct tree tree = {.radix = radix,
		.half = radix / 2,
		.builder = triad_fabric_builder_new(NULL)};
	struct triad_fabric *fabric = NULL;
	struct position last;

	last = position_of(&tree, HOST, n_in_level(&tree, HOST) - 1);
	tree.n_lids = lid_of(&tree, &last) + 1;
	tree.lft = malloc(tree.n_lids);
	if (!tree.lft || tree.n_lids > 0xc000)
		abort();
	fill_defaults(&tree);
	for (enum level level = HOST; level <= CORE; level++)
		for (unsigned i = 0; i < n_in_level(&tree, level); i++) {
			struct position at = position_of(&tree, level, i);

			add_node(&tree, &at);
		}
	if (triad_fabric_build(tree.builder, FAT_TREE_HOST_GUID(0) + 1, &fabric))
		abort();
	triad_fabric_builder_free(tree.builder);
	free(tree.lft);
	fabric->sa.qos = true;
	for (unsigned kind = 0; kind < TRIAD_QOS_N_PORT_KINDS; kind++)
		fabric->qos.defaults[kind] = tree.defaults;
	return fabric;
}
