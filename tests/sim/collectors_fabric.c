/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/collectors_parts.h"

/* A fat tree: 'pods' of 'edges' switches with 'hosts' each, all joined to as many
 * aggregations, each of them to 'edges' cores of its own. */
struct shape {
	uint32_t pods, edges, hosts;
};

static struct shape shape_of(uint32_t n_nodes)
{
	struct shape shape = {4, 2, 1};
	uint32_t n_switches;

	if (n_nodes >= 300)
		shape = (struct shape){8, 4, 1};
	if (n_nodes >= 8000)
		shape = (struct shape){48, 24, 1};
	n_switches = 2 * shape.pods * shape.edges + shape.edges * shape.edges;
	if (n_nodes > n_switches)
		shape.hosts = (n_nodes - n_switches + shape.pods * shape.edges - 1) /
			(shape.pods * shape.edges);
	return shape;
}

struct link {
	uint32_t a, b;
};

static struct link *link_all(
	const struct shape *shape, uint32_t n_hosts, uint32_t *n_links)
{
	uint32_t n_edges = shape->pods * shape->edges, n = 0;
	struct link *links = collectors_must(
		calloc(n_hosts + 2 * n_edges * shape->edges, sizeof(*links)));

	for (uint32_t i = 0; i < n_hosts; i++)
		links[n++] = (struct link){i, n_hosts + i / shape->hosts};
	for (uint32_t i = 0; i < n_edges; i++)
		for (uint32_t j = 0; j < shape->edges; j++) {
			uint32_t pod = i / shape->edges, up = i % shape->edges;

			links[n++] = (struct link){n_hosts + i,
				n_hosts + n_edges + pod * shape->edges + j};
			links[n++] = (struct link){n_hosts + n_edges + i,
				n_hosts + 2 * n_edges + up * shape->edges + j};
		}
	*n_links = n;
	return links;
}

void collectors_make_graph(struct graph *graph, uint32_t n_nodes)
{
	struct shape shape = shape_of(n_nodes);
	uint32_t n_edges = shape.pods * shape.edges, n_links, *at;
	struct link *links;

	graph->n_hosts = n_edges * shape.hosts;
	graph->n = graph->n_hosts + 2 * n_edges + shape.edges * shape.edges;
	links = link_all(&shape, graph->n_hosts, &n_links);
	graph->is_up = collectors_must(malloc(graph->n * sizeof(*graph->is_up)));
	memset(graph->is_up, true, graph->n * sizeof(*graph->is_up));
	graph->first = collectors_must(calloc(graph->n + 2, sizeof(*graph->first)));
	graph->far = collectors_must(malloc(2 * n_links * sizeof(*graph->far)));
	at = graph->first + 1; /* shifted by one while they are filled */
	for (uint32_t i = 0; i < n_links; i++) {
		at[links[i].a + 1]++;
		at[links[i].b + 1]++;
	}
	for (uint32_t i = 0; i < graph->n; i++)
		at[i + 1] += at[i];
	for (uint32_t i = 0; i < n_links; i++) {
		graph->far[at[links[i].a]++] = links[i].b;
		graph->far[at[links[i].b]++] = links[i].a;
	}
	free(links);
}

void collectors_free_graph(struct graph *graph)
{
	free(graph->is_up);
	free(graph->first);
	free(graph->far);
}

uint64_t collectors_guid(uint32_t node)
{
	return UINT64_C(0x0002c90300100000) + 16 * (uint64_t)node;
}

/* Breadth first from 'from', into 'hops' of all nodes. */
static void walk(
	const struct graph *graph, uint32_t from, uint8_t *hops, uint32_t *queue)
{
	uint32_t n = 0;

	memset(hops, TRIAD_CLAIMS_UNREACHABLE, graph->n);
	if (!graph->is_up[from])
		return;
	hops[from] = 0;
	queue[n++] = from;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = graph->first[queue[i]];
			j < graph->first[queue[i] + 1]; j++) {
			uint32_t far = graph->far[j];

			if (!graph->is_up[far] || hops[far] != TRIAD_CLAIMS_UNREACHABLE)
				continue;
			hops[far] = (uint8_t)(hops[queue[i]] + 1);
			queue[n++] = far;
		}
}

struct sight *collectors_look(struct collectors *s)
{
	const struct graph *graph = &s->graph;
	struct sight *sight = collectors_must(calloc(1, sizeof(*sight)));
	uint8_t *hops = collectors_must(malloc(graph->n));
	uint32_t *queue = collectors_must(malloc(graph->n * sizeof(*queue)));

	sight->n_refs = 1;
	sight->number = ++s->n_sights;
	sight->guids = collectors_must(malloc(graph->n * sizeof(*sight->guids)));
	sight->places = collectors_must(malloc(graph->n * sizeof(*sight->places)));
	for (uint32_t i = 0; i < graph->n; i++) {
		sight->places[i] = graph->is_up[i] ? sight->n : UINT32_MAX;
		if (graph->is_up[i])
			sight->guids[sight->n++] = collectors_guid(i);
	}
	sight->hops = collectors_must(malloc((size_t)(s->n_agents + 1) * sight->n + 1));
	for (unsigned a = 0; a < s->n_agents; a++) {
		walk(graph, s->agents[a].host, hops, queue);
		for (uint32_t i = 0; i < graph->n; i++)
			if (graph->is_up[i])
				sight->hops[(size_t)a * sight->n + sight->places[i]] =
					hops[i];
	}
	memset(sight->hops + (size_t)s->n_agents * sight->n, TRIAD_CLAIMS_UNREACHABLE,
		sight->n);
	free(hops);
	free(queue);
	return sight;
}

void collectors_unref_sight(struct sight *sight)
{
	if (!sight || --sight->n_refs)
		return;
	free(sight->guids);
	free(sight->places);
	free(sight->hops);
	free(sight);
}
