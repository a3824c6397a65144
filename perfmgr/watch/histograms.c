/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/histograms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/search.h"

/* Buckets of a histogram of a node or port. */
#define FEW 16
#define PORTS_PER_CHUNK 8192u
#define N_CHUNKS (TRIAD_ENGINE_MAX_ROWS / PORTS_PER_CHUNK)

/* How often each counter was sampled.  Nearly all ports of a set sample the same
 * counters, so this counts how often each mask of counters came, for two masks. */
struct tally {
	uint32_t mask[2];
	uint64_t n[2];
	uint64_t rest[TRIAD_N_COUNTERS]; /* samples of masks that were replaced */
};

struct set {
	struct tally samples;
	struct triad_histogram of[TRIAD_N_COUNTERS];
};

struct node {
	uint64_t guid;
	bool present;
	struct set set;
};

/* One for each row of the engine. */
struct port {
	uint64_t guid;
	uint8_t number;
	uint32_t n_samples[TRIAD_HISTOGRAMS_PORT_COUNTERS];
	struct triad_histogram of[TRIAD_HISTOGRAMS_PORT_COUNTERS];
};

struct triad_histograms {
	struct triad_view *view;
	struct set all;
	struct set *groups[TRIAD_GROUPS_MAX]; /* NULL: no sample yet */
	const struct triad_groups *grouped_by;
	struct node **nodes; /* sorted by GUID */
	uint32_t n_nodes;
	struct node **of_fabric; /* for each node of the view's fabric */
	struct port *chunks[N_CHUNKS];
	uint32_t port_counters;
	uint64_t dropped;
	size_t n_counts; /* allocated in all */
	size_t n_chunks;
};

/* --- samples --- */

static void count_sample(struct tally *tally, uint32_t mask)
{
	unsigned k = tally->n[1] < tally->n[0];

	for (unsigned i = 0; i < 2; i++) {
		if (tally->mask[i] == mask) {
			tally->n[i]++;
			return;
		}
	}
	/* Replace the rarer mask. */
	for (uint32_t left = tally->mask[k]; left; left &= left - 1)
		tally->rest[__builtin_ctz(left)] += tally->n[k];
	tally->mask[k] = mask;
	tally->n[k] = 1;
}

/* --- sets --- */

static void init_set(struct set *set, unsigned most)
{
	memset(set, 0, sizeof(*set));
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		triad_histogram_init(&set->of[i], most);
}

static void clear(struct triad_histograms *histograms, struct triad_histogram *of)
{
	histograms->n_counts -= of->room;
	triad_histogram_clear(of);
}

static void clear_set(struct triad_histograms *histograms, struct set *set)
{
	memset(&set->samples, 0, sizeof(set->samples));
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		clear(histograms, &set->of[i]);
}

static void free_node(struct triad_histograms *histograms, struct node *node)
{
	clear_set(histograms, &node->set);
	free(node);
}

static void clear_port(struct triad_histograms *histograms, struct port *port)
{
	for (unsigned i = 0; i < TRIAD_HISTOGRAMS_PORT_COUNTERS; i++) {
		clear(histograms, &port->of[i]);
		port->n_samples[i] = 0;
	}
}

static void clear_ports(struct triad_histograms *histograms)
{
	for (unsigned c = 0; c < N_CHUNKS; c++)
		for (unsigned i = 0; histograms->chunks[c] && i < PORTS_PER_CHUNK; i++)
			clear_port(histograms, &histograms->chunks[c][i]);
}

static void clear_groups(struct triad_histograms *histograms)
{
	for (unsigned i = 0; i < TRIAD_GROUPS_MAX; i++) {
		if (histograms->groups[i])
			clear_set(histograms, histograms->groups[i]);
		free(histograms->groups[i]);
		histograms->groups[i] = NULL;
	}
}

/* --- life --- */

struct triad_histograms *triad_histograms_new(void)
{
	struct triad_histograms *histograms = calloc(1, sizeof(*histograms));

	if (histograms)
		init_set(&histograms->all, TRIAD_HISTOGRAM_MOST);
	return histograms;
}

void triad_histograms_free(struct triad_histograms *histograms)
{
	if (!histograms)
		return;
	triad_histograms_clear(histograms);
	for (uint32_t i = 0; i < histograms->n_nodes; i++)
		free_node(histograms, histograms->nodes[i]);
	for (unsigned i = 0; i < N_CHUNKS; i++)
		free(histograms->chunks[i]);
	free(histograms->nodes);
	free(histograms->of_fabric);
	triad_view_unref(histograms->view);
	free(histograms);
}

void triad_histograms_clear(struct triad_histograms *histograms)
{
	clear_set(histograms, &histograms->all);
	clear_groups(histograms);
	for (uint32_t i = 0; i < histograms->n_nodes; i++)
		clear_set(histograms, &histograms->nodes[i]->set);
	clear_ports(histograms);
}

void triad_histograms_set_port_counters(
	struct triad_histograms *histograms, uint32_t counters)
{
	if (histograms->port_counters != counters)
		clear_ports(histograms);
	histograms->port_counters = counters;
}

/* --- a new fabric --- */

static struct port *port_of(const struct triad_histograms *histograms, uint32_t row)
{
	struct port *chunk = histograms->chunks[row / PORTS_PER_CHUNK];

	return chunk ? &chunk[row % PORTS_PER_CHUNK] : NULL;
}

static bool make_chunk(struct triad_histograms *histograms, uint32_t row)
{
	struct port **chunk = &histograms->chunks[row / PORTS_PER_CHUNK];

	if (*chunk)
		return true;
	*chunk = calloc(PORTS_PER_CHUNK, sizeof(**chunk));
	if (!*chunk)
		return false;
	histograms->n_chunks++;
	for (unsigned i = 0; i < PORTS_PER_CHUNK; i++)
		for (unsigned c = 0; c < TRIAD_HISTOGRAMS_PORT_COUNTERS; c++)
			triad_histogram_init(&(*chunk)[i].of[c], FEW);
	return true;
}

static bool make_chunks(
	struct triad_histograms *histograms, const struct triad_view *view)
{
	for (uint32_t i = 0; i < view->fabric->n_ports; i++)
		if (!make_chunk(histograms, view->rows[i]))
			return false;
	return true;
}

/* Clears the histograms of rows that went to another port. */
static void name_ports(
	struct triad_histograms *histograms, const struct triad_view *view)
{
	const struct triad_fabric *fabric = view->fabric;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		struct port *port = port_of(histograms, view->rows[i]);
		uint64_t guid = fabric->nodes[fabric->ports[i].node].guid;

		if (port->guid == guid && port->number == fabric->ports[i].number)
			continue;
		clear_port(histograms, port);
		port->guid = guid;
		port->number = fabric->ports[i].number;
	}
}

/* The merged list: nodes of the fabric, and nodes that are away. */
struct merge {
	struct node **nodes;
	uint32_t n;
	struct node **of_fabric;
	uint32_t n_made; /* of these, new ones */
};

static struct node *make_node(struct merge *merge, uint64_t guid)
{
	struct node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->guid = guid;
	init_set(&node->set, FEW);
	merge->n_made++;
	return node;
}

/* Both are sorted by GUID: one walk over the two. */
static bool merge_nodes(const struct triad_histograms *histograms,
	const struct triad_fabric *fabric, struct merge *merge)
{
	struct node **old = histograms->nodes, **end = old + histograms->n_nodes;

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		uint64_t guid = fabric->nodes[i].guid;
		struct node *node;

		while (old < end && (*old)->guid < guid)
			merge->nodes[merge->n++] = *old++;
		node = old < end && (*old)->guid == guid ? *old++
							 : make_node(merge, guid);
		if (!node)
			return false;
		merge->nodes[merge->n++] = node;
		merge->of_fabric[i] = node;
	}
	while (old < end)
		merge->nodes[merge->n++] = *old++;
	return true;
}

static void undo_merge(struct triad_histograms *histograms, struct merge *merge)
{
	struct node **old = histograms->nodes, **end = old + histograms->n_nodes;

	/* Free only nodes made for this merge: the histograms still have the others. */
	for (uint32_t i = 0; merge->n_made && i < merge->n; i++) {
		while (old < end && (*old)->guid < merge->nodes[i]->guid)
			old++;
		if (old == end || *old != merge->nodes[i])
			free_node(histograms, merge->nodes[i]);
	}
	free(merge->nodes);
	free(merge->of_fabric);
}

/* Drops the nodes that are away when they outnumber those present. */
static void settle_away(struct triad_histograms *histograms, struct merge *merge,
	const struct triad_fabric *fabric)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < merge->n; i++)
		merge->nodes[i]->present = false;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		merge->of_fabric[i]->present = true;
	if (merge->n - fabric->n_nodes <= fabric->n_nodes)
		return;
	for (uint32_t i = 0; i < merge->n; i++) {
		if (merge->nodes[i]->present)
			merge->nodes[kept++] = merge->nodes[i];
		else
			free_node(histograms, merge->nodes[i]);
	}
	merge->n = kept;
}

int triad_histograms_adopt(struct triad_histograms *histograms, struct triad_view *view)
{
	const struct triad_fabric *fabric = view->fabric;
	size_t most = (size_t)histograms->n_nodes + fabric->n_nodes + 1;
	struct merge merge = {0};

	merge.nodes = calloc(most, sizeof(struct node *));
	merge.of_fabric = calloc(fabric->n_nodes + 1, sizeof(struct node *));
	if (!merge.nodes || !merge.of_fabric || !make_chunks(histograms, view) ||
		!merge_nodes(histograms, fabric, &merge)) {
		undo_merge(histograms, &merge);
		return ENOMEM;
	}
	settle_away(histograms, &merge, fabric);
	free(histograms->nodes);
	free(histograms->of_fabric);
	histograms->nodes = merge.nodes;
	histograms->n_nodes = merge.n;
	histograms->of_fabric = merge.of_fabric;
	name_ports(histograms, view);
	if (histograms->grouped_by != view->groups)
		clear_groups(histograms);
	histograms->grouped_by = view->groups;
	triad_view_unref(histograms->view);
	histograms->view = triad_view_ref(view);
	return 0;
}

/* --- adding --- */

static struct set *set_of_group(struct triad_histograms *histograms, uint32_t port)
{
	unsigned group = histograms->view->group[port];
	struct set **set = &histograms->groups[group];

	if (group == TRIAD_GROUP_NONE)
		return NULL;
	if (!*set) {
		*set = malloc(sizeof(**set));
		if (*set)
			init_set(*set, TRIAD_HISTOGRAM_MOST);
	}
	return *set;
}

/* Adds a value whose bucket is new.  That is rare, so it stays out of add_at_place(). */
static __attribute__((noinline)) void add_bucket(
	struct triad_histograms *histograms, struct triad_histogram *to, unsigned place)
{
	unsigned room = to->room;

	if (!triad_histogram_add(to, place))
		histograms->dropped++;
	histograms->n_counts += to->room - room;
}

static inline void add_at_place(
	struct triad_histograms *histograms, struct triad_histogram *to, unsigned place)
{
	if (triad_histogram_has(to, place))
		(void)triad_histogram_add(to, place);
	else
		add_bucket(histograms, to, place);
}

static void add_port_changes(struct triad_histograms *histograms, struct port *port,
	const struct triad_engine_changes *changes, const uint8_t *places)
{
	unsigned k = 0;

	for (uint32_t left = histograms->port_counters; left; left &= left - 1, k++) {
		unsigned i = (unsigned)__builtin_ctz(left);

		if (!(changes->fresh & 1u << i))
			continue;
		port->n_samples[k]++;
		if (changes->changed & 1u << i)
			add_at_place(histograms, &port->of[k], places[i]);
	}
}

void triad_histograms_add(struct triad_histograms *histograms, uint32_t port,
	const struct triad_engine_changes *changes)
{
	const struct triad_view *view = histograms->view;
	struct set *all = &histograms->all, *group = set_of_group(histograms, port);
	struct set *node = &histograms->of_fabric[view->fabric->ports[port].node]->set;
	double factor[TRIAD_READ_N_PARTS];
	uint8_t places[TRIAD_N_COUNTERS];

	if (!changes->fresh)
		return;
	for (unsigned a = 0; a < TRIAD_READ_N_PARTS; a++)
		factor[a] = triad_histogram_factor((double)changes->interval_us[a]);
	count_sample(&all->samples, changes->fresh);
	count_sample(&node->samples, changes->fresh);
	if (group)
		count_sample(&group->samples, changes->fresh);
	for (uint32_t left = changes->changed; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);
		double steps = (double)(int64_t)changes->change[i] *
			factor[triad_engine_part(changes, i)];

		places[i] = (uint8_t)triad_histogram_place(steps);
		add_at_place(histograms, &all->of[i], places[i]);
		add_at_place(histograms, &node->of[i], places[i]);
		if (group)
			add_at_place(histograms, &group->of[i], places[i]);
	}
	add_port_changes(
		histograms, port_of(histograms, view->rows[port]), changes, places);
}

/* --- asking --- */

static const struct node *find_node_by_guid(
	const struct triad_histograms *histograms, uint64_t guid)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, histograms->n_nodes, histograms->nodes[at]->guid < guid);
	return at < histograms->n_nodes && histograms->nodes[at]->guid == guid
		? histograms->nodes[at]
		: NULL;
}

static int copy_set(const struct set *set, unsigned counter,
	struct triad_histogram *copy, uint64_t *n_zeros)
{
	const struct triad_histogram *of = &set->of[counter];
	uint64_t n_samples = set->samples.rest[counter];

	for (unsigned k = 0; k < 2; k++)
		if (set->samples.mask[k] & 1u << counter)
			n_samples += set->samples.n[k];
	/* Samples without a change are in no bucket. */
	*n_zeros = n_samples - triad_histogram_count(of);
	return triad_histogram_merge(copy, of) ? 0 : ENOMEM;
}

static int copy_port(const struct triad_histograms *histograms,
	const struct triad_histograms_scope *scope, unsigned counter,
	struct triad_histogram *copy, uint64_t *n_zeros)
{
	const struct triad_fabric *fabric =
		histograms->view ? histograms->view->fabric : NULL;
	uint32_t below = histograms->port_counters & ((1u << counter) - 1);
	/* A port keeps only some counters, in the order of their numbers. */
	unsigned k = (unsigned)__builtin_popcount(below);
	uint32_t at = TRIAD_FABRIC_NONE;
	const struct port *port;

	if (fabric)
		at = triad_fabric_port_at(fabric, scope->node_guid, scope->port);
	if (at == TRIAD_FABRIC_NONE)
		return ENOENT;
	if (!(histograms->port_counters & 1u << counter))
		return ENODATA;
	port = port_of(histograms, histograms->view->rows[at]);
	*n_zeros = port->n_samples[k] - triad_histogram_count(&port->of[k]);
	return triad_histogram_merge(copy, &port->of[k]) ? 0 : ENOMEM;
}

int triad_histograms_get(const struct triad_histograms *histograms,
	const struct triad_histograms_scope *scope, unsigned counter,
	struct triad_histogram *copy, uint64_t *n_zeros)
{
	const struct node *node;

	triad_histogram_init(copy, TRIAD_HISTOGRAM_MOST);
	*n_zeros = 0;
	switch (scope->of) {
	case TRIAD_HISTOGRAMS_OF_ALL:
		return copy_set(&histograms->all, counter, copy, n_zeros);
	case TRIAD_HISTOGRAMS_OF_GROUP:
		if (scope->group >= TRIAD_GROUPS_MAX)
			return ENOENT;
		/* Without a sample yet, the copy is empty. */
		if (!histograms->groups[scope->group])
			return 0;
		return copy_set(
			histograms->groups[scope->group], counter, copy, n_zeros);
	case TRIAD_HISTOGRAMS_OF_NODE:
		node = find_node_by_guid(histograms, scope->node_guid);
		return node ? copy_set(&node->set, counter, copy, n_zeros) : ENOENT;
	case TRIAD_HISTOGRAMS_OF_PORT:
		return copy_port(histograms, scope, counter, copy, n_zeros);
	}
	return ENOENT;
}

uint64_t triad_histograms_dropped(const struct triad_histograms *histograms)
{
	return histograms->dropped;
}

size_t triad_histograms_octets(const struct triad_histograms *histograms)
{
	uint32_t n_fabric = histograms->view ? histograms->view->fabric->n_nodes : 0;

	return sizeof(*histograms) +
		histograms->n_nodes * (sizeof(struct node) + sizeof(struct node *)) +
		n_fabric * sizeof(struct node *) +
		histograms->n_chunks * PORTS_PER_CHUNK * sizeof(struct port) +
		histograms->n_counts * sizeof(uint64_t);
}
