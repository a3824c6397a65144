/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds nodes of a fabric by the port names of a policy.
 *
 * Model: a name is compared as a whole, or by its first two words.  Blanks separate
 * words; a key has one blank between them.  Several nodes may have the same.
 *
 * Thread-safety: filled by one thread, then immutable.
 * Memory: a list of all nodes for each of the two ways that the policy uses. */
#ifndef TRIAD_QOS_NODE_NAMES_H
#define TRIAD_QOS_NODE_NAMES_H

#include "qos/policy/policy.h"
#include "triad/fabric.h"

/* The text to compare, truncated after the longest possible node name. */
struct triad_node_key {
	char text[TRIAD_NODE_NAME_SIZE + 1];
};

/* The first function makes the key of a node's name: the name, or with 'words' its
 * first two words.  The second makes the key of a policy's name; with a third word it
 * matches no node. */
struct triad_node_key triad_node_key_of(const char *name, bool words);
struct triad_node_key triad_node_key_wanted(const char *name, bool words);

struct triad_node_name {
	uint32_t node;
	char name[TRIAD_NODE_NAME_SIZE];
};

struct triad_node_names {
	uint32_t n;
	struct triad_node_name *whole, *words; /* NULL: not used */
};

/* Returns 0 or ENOMEM; the names are to be cleared in both cases. */
int triad_node_names_init(struct triad_node_names *names,
	const struct triad_policy *policy, const struct triad_fabric *fabric);

void triad_node_names_clear(struct triad_node_names *names);

/* The first of '*n' nodes with that name, sorted by index. */
const struct triad_node_name *triad_node_names_find(
	const struct triad_node_names *names, const char *name, bool words,
	uint32_t *n);

#endif
