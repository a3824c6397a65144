/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/partitions.h"

#include <string.h>

/* Keeps the last table and its index, because most ports have the table of the one
 * before. */
struct choosing {
	const struct triad_fabric *fabric;
	const uint16_t *ours;
	uint32_t n_ours;
	uint16_t by_default; /* the index for unknown tables */
	struct triad_fabric_slice last;
	uint16_t last_index;
};

static uint16_t choose_pkey_index(
	struct choosing *choosing, struct triad_fabric_slice theirs)
{
	const uint16_t *all = choosing->fabric->pkeys, *pkeys;
	int index;

	if (!choosing->n_ours || !theirs.n)
		return choosing->by_default;
	pkeys = all + theirs.at;
	if (theirs.n == choosing->last.n &&
		memcmp(pkeys, all + choosing->last.at, theirs.n * sizeof(*pkeys)) == 0)
		return choosing->last_index;
	index = triad_pkey_match(choosing->ours, choosing->n_ours, pkeys, theirs.n);
	choosing->last = theirs;
	choosing->last_index = index < 0 ? TRIAD_PKEY_NONE : (uint16_t)index;
	return choosing->last_index;
}

/* The table of the port that answers for 'port' of 'node'. */
static struct triad_fabric_slice table_of(const struct triad_fabric *fabric,
	const struct triad_fabric_node *node, uint32_t port)
{
	const struct triad_fabric_port *first = &fabric->ports[node->first_port];

	if (node->type != TRIAD_NODE_SWITCH)
		return fabric->ports[port].pkeys;
	return first->number ? (struct triad_fabric_slice){0} : first->pkeys;
}

static struct choosing begin_choosing(
	const struct triad_fabric *fabric, const uint16_t *ours, uint32_t n_ours)
{
	struct choosing choosing = {.fabric = fabric, .ours = ours, .n_ours = n_ours};

	/* Without a default P_Key, or without a table, use index 0: the default P_Key
	 * is there unless somebody moved it. */
	for (uint32_t i = 0; i < n_ours; i++)
		if ((ours[i] & 0x7fff) == 0x7fff) {
			choosing.by_default = (uint16_t)i;
			break;
		}
	return choosing;
}

struct triad_partitions_counts triad_partitions_choose(
	const struct triad_fabric *fabric, const uint16_t *ours, uint32_t n_ours,
	uint16_t *indexes)
{
	struct triad_partitions_counts counts = {0};
	struct choosing choosing = begin_choosing(fabric, ours, n_ours);

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];
		struct triad_fabric_slice theirs =
			table_of(fabric, &fabric->nodes[port->node], i);

		indexes[i] = choose_pkey_index(&choosing, theirs);
		counts.n_apart += port->has_pma && indexes[i] == TRIAD_PKEY_NONE;
		counts.n_guessed += port->has_pma && !theirs.n;
	}
	return counts;
}

static bool is_apart(struct choosing *choosing, const struct triad_fabric_node *node)
{
	const struct triad_fabric *fabric = choosing->fabric;
	bool counts = false;

	for (uint32_t i = node->first_port; i < node->first_port + node->n_ports; i++) {
		if (!fabric->ports[i].has_pma)
			continue;
		if (choose_pkey_index(choosing, table_of(fabric, node, i)) !=
			TRIAD_PKEY_NONE)
			return false;
		counts = true;
	}
	return counts;
}

uint32_t triad_partitions_retain_apart(const struct triad_fabric *fabric,
	const uint16_t *ours, uint32_t n_ours, bool *nodes)
{
	struct choosing choosing = begin_choosing(fabric, ours, n_ours);
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		nodes[i] = nodes[i] && is_apart(&choosing, &fabric->nodes[i]);
		n += nodes[i];
	}
	return n;
}
