/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Members of a process group: which (node, process) is which SM.
 *
 * Thread-safety: none.  Pure. */
#ifndef TRIAD_PORTMGR_GROUP_H
#define TRIAD_PORTMGR_GROUP_H

#include "portmgr/cluster/cluster.h"

struct triad_group_member {
	uint32_t node, pid;
	uint64_t id; /* 0: not said yet */
};

struct triad_group {
	struct triad_group_member members[TRIAD_CLUSTER_MAX_MEMBERS];
	size_t n; /* may be more than there is room for; the rest is not known */
};

/* Begins a list anew. */
void triad_group_begin(struct triad_group *group);

/* The id is kept of one that was in 'before'. */
void triad_group_add(struct triad_group *group, const struct triad_group *before,
	uint32_t node, uint32_t pid);

/* NULL: there is none. */
struct triad_group_member *triad_group_find(
	struct triad_group *group, uint32_t node, uint32_t pid);

/* False: it isn't in the group. */
bool triad_group_name(
	struct triad_group *group, uint32_t node, uint32_t pid, uint64_t id);

/* Whether one other than 'but' has the id. */
bool triad_group_has_other(const struct triad_group *group,
	const struct triad_group_member *but, uint64_t id);

/* Of those that there is room for; returns how many. */
size_t triad_group_ids(
	const struct triad_group *group, uint64_t ids[TRIAD_CLUSTER_MAX_MEMBERS]);

#endif
