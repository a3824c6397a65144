/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct triad_guard {
	const struct triad_fabric *fabric;
	const bool *is_expected;
	uint64_t *sm_guids; /* sorted */
	uint32_t n_sm_guids;
	uint32_t root;      /* a node, or TRIAD_FABRIC_NONE */
	bool *is_removed;   /* for each port: its link is taken down */
	uint32_t *distance; /* for each node, with what is removed; UINT32_MAX: lost */
	uint32_t *trial;    /* the same, for a link that is being judged */
	uint32_t *queue;
};

static bool is_switch(const struct triad_fabric *fabric, uint32_t node)
{
	return fabric->nodes[node].type == TRIAD_NODE_SWITCH;
}

static int compare_guids(const void *a, const void *b)
{
	uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

	return first < second ? -1 : first > second;
}

static bool is_sm(const struct triad_guard *guard, uint64_t guid)
{
	return guard->n_sm_guids &&
		bsearch(&guid, guard->sm_guids, guard->n_sm_guids, sizeof(guid),
			compare_guids);
}

/* --- the walk --- */

static void visit(struct triad_guard *guard, uint32_t *distance, uint32_t node,
	uint32_t hops, uint32_t *n_queued)
{
	if (distance[node] != UINT32_MAX)
		return;
	distance[node] = hops;
	guard->queue[(*n_queued)++] = node;
}

/* From the SM over all links but those removed and that of 'without'. */
static void walk(struct triad_guard *guard, uint32_t *distance, uint32_t without)
{
	const struct triad_fabric *fabric = guard->fabric;
	uint32_t n_queued = 0;

	memset(distance, 0xff, fabric->n_nodes * sizeof(*distance));
	if (guard->root == TRIAD_FABRIC_NONE)
		return;
	visit(guard, distance, guard->root, 0, &n_queued);
	for (uint32_t i = 0; i < n_queued; i++) {
		uint32_t at = guard->queue[i];
		const struct triad_fabric_node *node = &fabric->nodes[at];

		/* The SM's own port alone; other CAs pass nothing on. */
		if (!is_switch(fabric, at) && at != guard->root)
			continue;
		for (uint32_t p = node->first_port;
			p < node->first_port + node->n_ports; p++) {
			uint32_t far = fabric->ports[p].remote;

			if (far == TRIAD_FABRIC_NONE || guard->is_removed[p] ||
				p == without || far == without ||
				(!is_switch(fabric, at) && p != fabric->sm_port))
				continue;
			visit(guard, distance, fabric->ports[far].node,
				distance[at] + 1, &n_queued);
		}
	}
}

/* --- life --- */

static int allocate(struct triad_guard *guard, const uint64_t *sm_guids)
{
	size_t n_nodes = guard->fabric->n_nodes, n_ports = guard->fabric->n_ports;

	guard->sm_guids = calloc(guard->n_sm_guids + 1, sizeof(*guard->sm_guids));
	guard->is_removed = calloc(n_ports + 1, sizeof(*guard->is_removed));
	guard->distance = calloc(n_nodes + 1, sizeof(*guard->distance));
	guard->trial = calloc(n_nodes + 1, sizeof(*guard->trial));
	guard->queue = calloc(n_nodes + 1, sizeof(*guard->queue));
	if (!guard->sm_guids || !guard->is_removed || !guard->distance ||
		!guard->trial || !guard->queue)
		return ENOMEM;
	if (guard->n_sm_guids)
		memcpy(guard->sm_guids, sm_guids,
			guard->n_sm_guids * sizeof(*guard->sm_guids));
	qsort(guard->sm_guids, guard->n_sm_guids, sizeof(*guard->sm_guids),
		compare_guids);
	return 0;
}

int triad_guard_new(const struct triad_fabric *fabric, const uint64_t *sm_guids,
	uint32_t n_sm_guids, const bool *is_expected, struct triad_guard **made)
{
	struct triad_guard *guard = calloc(1, sizeof(*guard));

	if (!guard)
		return ENOMEM;
	guard->fabric = fabric;
	guard->is_expected = is_expected;
	guard->n_sm_guids = n_sm_guids;
	guard->root = fabric->sm_port == TRIAD_FABRIC_NONE
		? TRIAD_FABRIC_NONE
		: fabric->ports[fabric->sm_port].node;
	if (allocate(guard, sm_guids)) {
		triad_guard_free(guard);
		return ENOMEM;
	}
	walk(guard, guard->distance, TRIAD_FABRIC_NONE);
	*made = guard;
	return 0;
}

void triad_guard_free(struct triad_guard *guard)
{
	if (!guard)
		return;
	free(guard->sm_guids);
	free(guard->is_removed);
	free(guard->distance);
	free(guard->trial);
	free(guard->queue);
	free(guard);
}

/* --- judging --- */

/* A node that is reached now, should be, and would not be. */
static uint32_t find_lost(const struct triad_guard *guard)
{
	for (uint32_t i = 0; i < guard->fabric->n_nodes; i++)
		if (guard->distance[i] != UINT32_MAX && guard->trial[i] == UINT32_MAX &&
			guard->is_expected[i])
			return i;
	return TRIAD_FABRIC_NONE;
}

static enum triad_guard_verdict judge_way(
	const struct triad_guard *guard, uint32_t port, uint32_t far)
{
	const struct triad_fabric_port *ports = guard->fabric->ports;

	if (port == guard->fabric->sm_port || far == guard->fabric->sm_port)
		return TRIAD_GUARD_OWN_WAY;
	if (is_sm(guard, ports[far].guid) && !is_switch(guard->fabric, ports[far].node))
		return TRIAD_GUARD_SM_WAY;
	return TRIAD_GUARD_FREE;
}

enum triad_guard_verdict triad_guard_judge(
	struct triad_guard *guard, uint32_t port, uint32_t *lost)
{
	const struct triad_fabric *fabric = guard->fabric;
	uint32_t far = fabric->ports[port].remote;
	enum triad_guard_verdict verdict;

	*lost = TRIAD_FABRIC_NONE;
	if (guard->root == TRIAD_FABRIC_NONE)
		return TRIAD_GUARD_UNKNOWN;
	if (far == TRIAD_FABRIC_NONE)
		return TRIAD_GUARD_FREE;
	verdict = judge_way(guard, port, far);
	if (verdict != TRIAD_GUARD_FREE || !is_switch(fabric, fabric->ports[far].node))
		return verdict;
	walk(guard, guard->trial, port);
	*lost = find_lost(guard);
	return *lost == TRIAD_FABRIC_NONE ? TRIAD_GUARD_FREE : TRIAD_GUARD_SPLIT;
}

void triad_guard_remove(struct triad_guard *guard, uint32_t port)
{
	const struct triad_fabric *fabric = guard->fabric;
	uint32_t far = fabric->ports[port].remote;

	guard->is_removed[port] = true;
	if (far == TRIAD_FABRIC_NONE)
		return;
	guard->is_removed[far] = true;
	if (is_switch(fabric, fabric->ports[far].node))
		walk(guard, guard->distance, TRIAD_FABRIC_NONE);
}

uint32_t triad_guard_distance(const struct triad_guard *guard, uint32_t node)
{
	return guard->distance[node];
}

const char *triad_guard_word(enum triad_guard_verdict verdict)
{
	static const char *const words[] = {
		[TRIAD_GUARD_FREE] = "",
		[TRIAD_GUARD_OWN_WAY] = "own_way",
		[TRIAD_GUARD_SM_WAY] = "sm_way",
		[TRIAD_GUARD_SPLIT] = "split",
		[TRIAD_GUARD_UNKNOWN] = "unknown",
	};

	return verdict < TRIAD_GUARD_N_VERDICTS ? words[verdict] : "?";
}
