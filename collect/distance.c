/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/distance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int triad_distance_hops(
	const struct triad_fabric *fabric, uint64_t port_guid, uint8_t *hops)
{
	uint32_t port = triad_fabric_find_alias(fabric, port_guid);
	uint32_t *links = malloc((2 * (size_t)fabric->n_nodes + 1) * sizeof(*links));

	if (!links)
		return ENOMEM;
	memset(hops, TRIAD_DISTANCE_NONE, fabric->n_nodes);
	if (port != TRIAD_FABRIC_NONE) {
		triad_fabric_hops(fabric, port, links, links + fabric->n_nodes);
		for (uint32_t i = 0; i < fabric->n_nodes; i++)
			/* A distance that does not fit in an octet counts as
			 * unreachable. */
			if (links[i] < TRIAD_DISTANCE_NONE)
				hops[i] = (uint8_t)links[i];
	}
	free(links);
	return 0;
}

/* --- parts --- */

static bool is_far_end(
	const struct triad_fabric *fabric, const bool *is_own, uint32_t port)
{
	uint32_t remote = fabric->ports[port].remote;

	return remote != TRIAD_FABRIC_NONE && is_own[fabric->ports[remote].node];
}

static void copy_port(struct triad_fabric_builder *builder,
	const struct triad_fabric *fabric, uint32_t index, bool is_own)
{
	struct triad_fabric_port port = fabric->ports[index];
	uint64_t far_guid = 0;
	uint8_t far_number = 0;

	if (port.remote != TRIAD_FABRIC_NONE) {
		const struct triad_fabric_port *far = &fabric->ports[port.remote];

		far_guid = fabric->nodes[far->node].guid;
		far_number = far->number;
	}
	/* A far end outside the part is there only to be named: don't read it. */
	port.has_pma &= is_own;
	triad_fabric_builder_add_port(builder, &port, far_guid, far_number);
	if (port.pkeys.n)
		triad_fabric_builder_add_pkeys(
			builder, fabric->pkeys + port.pkeys.at, port.pkeys.n);
}

static void copy_node(struct triad_fabric_builder *builder,
	const struct triad_fabric *fabric, uint32_t index, const bool *is_own)
{
	const struct triad_fabric_node *node = &fabric->nodes[index];
	bool is_there = is_own[index];

	for (uint32_t i = node->first_port; i < node->first_port + node->n_ports; i++)
		is_there |= is_far_end(fabric, is_own, i);
	if (!is_there)
		return;
	triad_fabric_builder_add_node(builder, node, node->name, NULL, 0);
	for (uint32_t i = node->first_port; i < node->first_port + node->n_ports; i++)
		if (is_own[index] || is_far_end(fabric, is_own, i))
			copy_port(builder, fabric, i, is_own[index]);
}

int triad_distance_part(const struct triad_fabric *fabric, const bool *is_own,
	struct triad_fabric **part)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	int error;

	if (!builder)
		return ENOMEM;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		copy_node(builder, fabric, i, is_own);
	error = triad_fabric_build(builder, fabric->sm_port_guid, part);
	triad_fabric_builder_free(builder);
	if (error)
		return error;
	/* The part is as old as the whole fabric. */
	(*part)->generation = fabric->generation;
	(*part)->taken_us = fabric->taken_us;
	return 0;
}
