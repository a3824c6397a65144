/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/lost_links.h"

#include <stdlib.h>
#include <string.h>

#include "lib/search.h"

static int compare_to_end(uint64_t guid, uint8_t port, const struct triad_link_end *end)
{
	return triad_port_order(guid, port, end->node_guid, end->port);
}

static int compare_ends(const void *a, const void *b)
{
	const struct triad_link_end *near = triad_lost_end_near(a);

	return compare_to_end(near->node_guid, near->port, triad_lost_end_near(b));
}

static bool is_in(const struct triad_fabric *fabric, const struct triad_link_end *end)
{
	return triad_fabric_port_at(fabric, end->node_guid, end->port) !=
		TRIAD_FABRIC_NONE;
}

bool triad_lost_links_init(struct triad_lost_links *lost,
	const struct triad_link *links, uint32_t n, const struct triad_fabric *fabric)
{
	*lost = (struct triad_lost_links){
		.links = calloc(n + 1, sizeof(*lost->links)),
		.ends = calloc(2 * (size_t)n + 1, sizeof(*lost->ends)),
		.gone = calloc(2 * (size_t)n + 1, sizeof(*lost->gone)),
	};
	if (!lost->links || !lost->ends || !lost->gone) {
		triad_lost_links_clear(lost);
		return false;
	}
	if (n)
		memcpy(lost->links, links, n * sizeof(*links));
	for (uint32_t i = 0; i < 2 * n; i++)
		lost->ends[lost->n_ends++] =
			(struct triad_lost_end){&lost->links[i / 2], i % 2};
	qsort(lost->ends, lost->n_ends, sizeof(*lost->ends), compare_ends);
	for (uint32_t i = 0; fabric && i < lost->n_ends; i++)
		if (!is_in(fabric, triad_lost_end_near(&lost->ends[i])))
			lost->gone[lost->n_gone++] = lost->ends[i];
	return true;
}

void triad_lost_links_clear(struct triad_lost_links *lost)
{
	free(lost->links);
	free(lost->ends);
	free(lost->gone);
	*lost = (struct triad_lost_links){0};
}

const struct triad_lost_end *triad_lost_links_find(
	const struct triad_lost_links *lost, uint64_t node_guid, uint8_t port)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, lost->n_ends,
		compare_to_end(node_guid, port, triad_lost_end_near(&lost->ends[at])) >
			0);
	return at < lost->n_ends &&
			!compare_to_end(
				node_guid, port, triad_lost_end_near(&lost->ends[at]))
		? &lost->ends[at]
		: NULL;
}
