/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The owner of each node, as a list of rows that images keep (history/kept.h,
 * lib/kept_list.h).
 *
 *     u8 1   an agent: u64 id, text name, text address, u16 port, u8 state, u32 nodes
 *     u8 2   some nodes, in the order of their GUIDs: u64 GUID, u64 owner (0: nobody),
 *            u8 hops; TRIAD_KEPT_OWNERS_PIECE of them at most
 *
 * An owner may have no row of its own: a dead agent is forgotten after a while.
 *
 * Thread-safety: functions without state.  Memory: the list's. */
#ifndef TRIAD_COLLECT_KEPT_OWNERS_H
#define TRIAD_COLLECT_KEPT_OWNERS_H

#include "collect/message.h"
#include "lib/kept_list.h"

#define TRIAD_KEPT_OWNERS_PIECE 64u

struct triad_kept_agent {
	uint64_t id;
	char name[TRIAD_COLLECT_NAME_SIZE];
	char address[TRIAD_COLLECT_NAME_SIZE];
	uint16_t port;
	uint8_t state;
	uint32_t n_nodes;
};

struct triad_kept_owner {
	uint64_t node_guid, id; /* id 0: no owner */
	uint8_t hops;
};

void triad_kept_owners_add_agent(
	struct triad_kept_list *list, const struct triad_kept_agent *agent);
/* Adds 'n' nodes, in order, in as many rows as needed. */
void triad_kept_owners_add(struct triad_kept_list *list,
	const struct triad_kept_owner *owners, uint32_t n);

/* Find the owner of a node, and an agent by its id.  Return 0, ENOENT (none) or EPROTO
 * (not such a list). */
int triad_kept_owners_find(const struct triad_kept_list *list, uint64_t node_guid,
	struct triad_kept_owner *owner);
int triad_kept_owners_find_agent(const struct triad_kept_list *list, uint64_t id,
	struct triad_kept_agent *agent);

#endif
