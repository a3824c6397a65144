/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agents and managers that exist: the last ALIVE of each.
 *
 * It holds TRIAD_PEERS_MAX of them; a new one replaces the one that has been silent
 * longest.
 *
 * Thread-safety: none. */
#ifndef TRIAD_COLLECT_PEERS_H
#define TRIAD_COLLECT_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/message.h"

#define TRIAD_PEERS_MAX 256u

struct triad_peers_entry {
	uint64_t id, incarnation;
	uint64_t received_us;
	struct triad_collect_alive alive;
	uint64_t former_master; /* its master before, until 'left_us'; 0: a manager */
	uint64_t left_us;       /* 0: it had no other master */
};

struct triad_peers {
	unsigned n;
	struct triad_peers_entry entries[TRIAD_PEERS_MAX]; /* in the order they came */
};

/* Records an ALIVE. Returns false when its incarnation has ended, or when there is no
 * room.  A sender that was silent for 'past_us' has ended, whatever its clock says; its
 * entry is reused. */
bool triad_peers_receive(struct triad_peers *peers,
	const struct triad_collect_head *head, const struct triad_collect_alive *alive,
	uint64_t past_us, uint64_t now_us);

/* NULL: not known. */
const struct triad_peers_entry *triad_peers_find(
	const struct triad_peers *peers, uint64_t id);

/* The same by name or GUID (0x...), among those whose last message is not before
 * 'since_us'. */
const struct triad_peers_entry *triad_peers_find_name(
	const struct triad_peers *peers, const char *name, uint64_t since_us);

#endif
