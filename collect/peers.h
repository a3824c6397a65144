/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who there is: the last ALIVE of each agent and manager.
 *
 * At most TRIAD_PEERS_MAX; when there are more, those heard last take the place of
 * those heard the longest ago.  Thread-safety: none. */
#ifndef TRIAD_COLLECT_PEERS_H
#define TRIAD_COLLECT_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/message.h"

#define TRIAD_PEERS_MAX 256u

struct triad_peers_entry {
	uint64_t id, incarnation;
	uint64_t heard_us;
	struct triad_collect_alive alive;
	uint64_t
		former_master; /* that it named before, until 'left_us'; 0: a manager */
	uint64_t left_us;      /* 0: it named no other */
};

struct triad_peers {
	unsigned n;
	struct triad_peers_entry entries[TRIAD_PEERS_MAX]; /* in the order they came */
};

/* Returns false for words of an incarnation that has ended, and when there is no room.
 * Who was not heard for 'past_us' has ended, whatever its clock says, and gives its
 * place to others. */
bool triad_peers_receive(struct triad_peers *peers,
	const struct triad_collect_head *head, const struct triad_collect_alive *alive,
	uint64_t past_us, uint64_t now_us);

/* NULL when nothing is known. */
const struct triad_peers_entry *triad_peers_find(
	const struct triad_peers *peers, uint64_t id);

/* The same by name or GUID (0x...), of those heard since 'since_us'. */
const struct triad_peers_entry *triad_peers_find_name(
	const struct triad_peers *peers, const char *name, uint64_t since_us);

#endif
