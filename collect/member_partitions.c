/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nodes that can't be read because they share no partition with the reader: those that
 * an agent leaves to others, and those that no agent can read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/member_parts.h"

/* --- agents --- */

bool triad_member_set_pkeys(
	struct triad_member *member, const uint16_t *pkeys, uint32_t n)
{
	bool is_other = n != member->n_pkeys ||
		memcmp(pkeys, member->pkeys, n * sizeof(*pkeys)) != 0;

	memcpy(member->pkeys, pkeys, n * sizeof(*pkeys));
	member->n_pkeys = n;
	return is_other;
}

int triad_member_exclude_apart(const struct triad_member *member,
	const struct triad_fabric *fabric, uint8_t *hops, uint32_t *n_apart)
{
	bool *apart = malloc(fabric->n_nodes + 1);

	if (!apart)
		return ENOMEM;
	memset(apart, true, fabric->n_nodes);
	*n_apart = triad_partitions_retain_apart(
		fabric, member->pkeys, member->n_pkeys, apart);
	/* Treat these nodes as unreachable, so that this agent does not claim them. */
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (apart[i])
			hops[i] = TRIAD_CLAIMS_UNREACHABLE;
	free(apart);
	return 0;
}

uint32_t triad_member_n_apart(const struct triad_member *member)
{
	return member->n_apart;
}

/* --- managers --- */

/* The different P_Key tables of live agents; most agents have the same one. */
struct tables {
	const struct triad_fabric *fabric;
	unsigned n;
	struct triad_fabric_slice slices[TRIAD_CLAIMS_MAX_AGENTS];
};

static void add_table(struct tables *tables, struct triad_fabric_slice added)
{
	const uint16_t *pkeys = tables->fabric->pkeys;

	for (unsigned i = 0; i < tables->n; i++)
		if (tables->slices[i].n == added.n &&
			!memcmp(pkeys + tables->slices[i].at, pkeys + added.at,
				added.n * sizeof(*pkeys)))
			return;
	tables->slices[tables->n++] = added;
}

/* Returns false when there is no agent, or when the table of one is unknown: that agent
 * may reach any node. */
static bool gather_tables(const struct triad_member *member, struct tables *tables)
{
	const struct triad_fabric *fabric = member->fabric;
	struct triad_claims_agent agent;

	*tables = (struct tables){.fabric = fabric};
	for (unsigned i = 0; triad_claims_agent(member->claims, i, &agent); i++) {
		uint32_t port = triad_fabric_find_alias(fabric, agent.id);

		if (agent.state == TRIAD_CLAIMS_DEAD)
			continue;
		if (port == TRIAD_FABRIC_NONE || !fabric->ports[port].pkeys.n)
			return false;
		add_table(tables, fabric->ports[port].pkeys);
	}
	return tables->n;
}

uint32_t triad_member_n_apart_from_all(const struct triad_member *member)
{
	const struct triad_fabric *fabric = member->fabric;
	struct tables tables;
	uint32_t n = 0;
	bool *nodes;

	if (!fabric || !gather_tables(member, &tables))
		return 0;
	nodes = malloc(fabric->n_nodes + 1);
	for (uint32_t i = 0; nodes && i < fabric->n_nodes; i++) {
		nodes[i] = triad_claims_owner(member->claims, i, NULL) ==
			TRIAD_CLAIMS_NO_AGENT;
		n += nodes[i];
	}
	/* For each table, remove the nodes that share a partition with it. */
	for (unsigned i = 0; nodes && n && i < tables.n; i++)
		n = triad_partitions_retain_apart(fabric,
			fabric->pkeys + tables.slices[i].at, tables.slices[i].n, nodes);
	free(nodes);
	return n;
}
