/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Port groups: named sets of ports with settings of their own.
 *
 * Model: a group selects nodes (GUIDs or patterns of names), their ports and the node type;
 * a port must match all three.  A port is in at most one group: the last one, in the order
 * of triad.conf, that it matches.
 *
 * Thread-safety: immutable and reference-counted. */
#ifndef TRIAD_PERFMGR_GROUPS_H
#define TRIAD_PERFMGR_GROUPS_H

#include <stdint.h>

#include "triad/conf.h"
#include "triad/fabric.h"

#define TRIAD_GROUPS_MAX TRIAD_CONF_MAX_GROUPS
#define TRIAD_GROUP_NONE TRIAD_GROUPS_MAX

struct triad_groups;

/* The groups of 'conf' (NULL: none).  NULL when memory is short. */
struct triad_groups *triad_groups_new(const struct triad_conf *conf);
struct triad_groups *triad_groups_ref(struct triad_groups *groups);

/* Accepts NULL. */
void triad_groups_unref(struct triad_groups *groups);

/* True when both have the same groups. */
bool triad_groups_are_equal(const struct triad_groups *a, const struct triad_groups *b);

unsigned triad_groups_count(const struct triad_groups *groups);

/* Group 'i', as in triad.conf. */
const struct triad_conf_group *triad_groups_get(
	const struct triad_groups *groups, unsigned i);

/* The group of that name, or TRIAD_GROUP_NONE. */
unsigned triad_groups_find(const struct triad_groups *groups, const char *name);

/* Sets the group of each port of 'fabric'; leaves the entries of ports without a group
 * unchanged. */
void triad_groups_assign(const struct triad_groups *groups,
	const struct triad_fabric *fabric, uint8_t *group_of_port);

#endif
