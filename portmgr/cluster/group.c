/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/cluster/group.h"

static size_t known(const struct triad_group *group)
{
	return group->n < TRIAD_CLUSTER_MAX_MEMBERS ? group->n
						    : TRIAD_CLUSTER_MAX_MEMBERS;
}

void triad_group_begin(struct triad_group *group)
{
	group->n = 0;
}

void triad_group_add(struct triad_group *group, const struct triad_group *before,
	uint32_t node, uint32_t pid)
{
	const struct triad_group_member *was =
		triad_group_find((struct triad_group *)before, node, pid);

	if (group->n < TRIAD_CLUSTER_MAX_MEMBERS)
		group->members[group->n] =
			(struct triad_group_member){node, pid, was ? was->id : 0};
	group->n++;
}

struct triad_group_member *triad_group_find(
	struct triad_group *group, uint32_t node, uint32_t pid)
{
	for (size_t i = 0; i < known(group); i++)
		if (group->members[i].node == node && group->members[i].pid == pid)
			return &group->members[i];
	return NULL;
}

bool triad_group_name(
	struct triad_group *group, uint32_t node, uint32_t pid, uint64_t id)
{
	struct triad_group_member *member = triad_group_find(group, node, pid);

	if (member)
		member->id = id;
	return member != NULL;
}

bool triad_group_has_other(const struct triad_group *group,
	const struct triad_group_member *but, uint64_t id)
{
	for (size_t i = 0; i < known(group); i++)
		if (&group->members[i] != but && group->members[i].id == id)
			return true;
	return false;
}

size_t triad_group_ids(
	const struct triad_group *group, uint64_t ids[TRIAD_CLUSTER_MAX_MEMBERS])
{
	for (size_t i = 0; i < known(group); i++)
		ids[i] = group->members[i].id;
	return known(group);
}
