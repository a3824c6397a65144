/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Port groups: named sets of ports, which the configuration treats differently.
 *
 * Model: a group names nodes or ports (GUIDs, or patterns of node names), port numbers
 * and a node type; a port must fit all three.  A port is in one group at most: the last
 * one, in the order of triad.conf, that it fits.
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

/* The groups of 'conf' (NULL: none).  Returns NULL when memory is short. */
struct triad_groups *triad_groups_new(const struct triad_conf *conf);
struct triad_groups *triad_groups_ref(struct triad_groups *groups);

/* Accepts NULL. */
void triad_groups_unref(struct triad_groups *groups);

/* True when both have the same groups in the same order. */
bool triad_groups_are_equal(const struct triad_groups *a, const struct triad_groups *b);

unsigned triad_groups_count(const struct triad_groups *groups);

/* The configuration of group 'i'. */
const struct triad_conf_group *triad_groups_get(
	const struct triad_groups *groups, unsigned i);

/* The group of that name, or TRIAD_GROUP_NONE. */
unsigned triad_groups_find(const struct triad_groups *groups, const char *name);

/* Sets the element of 'group_of_port' of each port of 'fabric' that is in a group;
 * leaves the others unchanged. */
void triad_groups_assign(const struct triad_groups *groups,
	const struct triad_fabric *fabric, uint8_t *group_of_port);

#endif
