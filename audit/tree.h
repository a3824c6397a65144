/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether links between switches make a multicast tree that connects all members.
 *
 * Model: a switch's row has ports to other switches.  A link that both ends' rows have is
 * mutual, one that a single end has is not.  A tree has no circle, reaches each switch that has
 * members, and all its links are mutual.  When one switch has its row otherwise than it should,
 * its links with this error are the ones that are not mutual: they are too many if the others
 * make a tree, and lacking at the other end if all together make one.
 *
 * Thread-safety: a function without state.  Memory: the caller's. */
#ifndef TRIAD_AUDIT_TREE_H
#define TRIAD_AUDIT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct triad_tree_switch {
	bool has_members;
	bool is_reached; /* of use for triad_tree_judge() alone, as is the next one */
	uint32_t root;
};

/* Listed once, though it be mutual. */
struct triad_tree_link {
	uint32_t from, to; /* switches */
	bool is_mutual;
};

enum triad_tree {
	TRIAD_TREE_NONE,
	TRIAD_TREE_OF_MUTUAL_LINKS,
	TRIAD_TREE_OF_ALL_LINKS,
};

/* The smallest set of links that makes one.  None at all make one of at most one switch. */
enum triad_tree triad_tree_judge(const struct triad_tree_link *links, size_t n_links,
	struct triad_tree_switch *switches, size_t n_switches);

#endif
