/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/policies.h"

#include <stdlib.h>
#include <string.h>

static void *need(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

struct triad_policy *policy_sized(uint32_t n_groups, uint32_t n_levels,
	uint32_t n_rules, uint32_t n_partition_levels)
{
	struct triad_policy *policy = need(calloc(1, sizeof(*policy)));

	policy->n_references = 1;
	policy->n_groups = n_groups;
	policy->groups = need(calloc(n_groups + 1, sizeof(*policy->groups)));
	policy->n_levels = n_levels;
	policy->levels = need(calloc(n_levels + 1, sizeof(*policy->levels)));
	policy->n_rules = n_rules;
	policy->rules = need(calloc(n_rules + 1, sizeof(*policy->rules)));
	for (uint32_t i = 0; i < n_rules; i++)
		policy->rules[i].level = i % n_levels;
	policy->n_partition_levels = n_partition_levels;
	policy->partition_levels =
		need(calloc(n_partition_levels + 1, sizeof(*policy->partition_levels)));
	for (uint32_t i = 0; i < n_groups; i++)
		policy->groups[i].location.line = i + 1;
	return policy;
}

static void free_group(struct triad_policy_group *group)
{
	free(group->guids.items);
	free(group->pkeys.items);
	for (uint32_t i = 0; i < group->n_port_names; i++)
		free(group->port_names[i].node);
	free(group->port_names);
	for (uint32_t i = 0; i < group->n_partitions; i++)
		free(group->partitions[i]);
	free(group->partitions);
}

static void free_rule(struct triad_policy_rule *rule)
{
	free(rule->sources.items);
	free(rule->destinations.items);
	free(rule->service_ids.items);
	free(rule->tclasses.items);
	free(rule->qos_classes.items);
	free(rule->pkeys.items);
	free(rule->sls.items);
}

void policy_free(struct triad_policy *policy)
{
	if (policy->n_references != 1)
		abort();
	for (uint32_t i = 0; i < policy->n_groups; i++)
		free_group(&policy->groups[i]);
	for (uint32_t i = 0; i < policy->n_rules; i++)
		free_rule(&policy->rules[i]);
	for (uint32_t i = 0; i < policy->n_partition_levels; i++) {
		free(policy->partition_levels[i].partition);
		free(policy->partition_levels[i].pkeys.items);
	}
	triad_policy_unref(policy);
}

static bool touch(const struct triad_range *a, const struct triad_range *b)
{
	return a->last == UINT64_MAX || a->last + 1 >= b->first;
}

void policy_add_range(struct triad_ranges *ranges, uint64_t first, uint64_t last)
{
	struct triad_range *items;
	uint32_t i = ranges->n, kept = 0;

	ranges->items = items =
		need(realloc(ranges->items, (ranges->n + 1) * sizeof(*items)));
	for (; i && items[i - 1].first > first; i--)
		items[i] = items[i - 1];
	items[i] = (struct triad_range){.first = first, .last = last};
	ranges->n++;
	for (i = 1; i < ranges->n; i++) {
		if (!touch(&items[kept], &items[i]))
			items[++kept] = items[i];
		else if (items[i].last > items[kept].last)
			items[kept].last = items[i].last;
	}
	ranges->n = kept + 1;
}

void policy_add_group(struct triad_group_list *list, uint32_t group)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->items[i] == group)
			return;
	list->items = need(realloc(list->items, (list->n + 1) * sizeof(*list->items)));
	list->items[list->n++] = group;
}

void policy_add_partition(struct triad_policy_group *group, const char *name)
{
	group->partitions = need(realloc(group->partitions,
		(group->n_partitions + 1) * sizeof(*group->partitions)));
	group->partitions[group->n_partitions++] = need(strdup(name));
}

void policy_add_port_name(
	struct triad_policy_group *group, const char *node, unsigned number, bool words)
{
	group->port_names = need(realloc(group->port_names,
		(group->n_port_names + 1) * sizeof(*group->port_names)));
	group->port_names[group->n_port_names++] = (struct triad_port_name){
		.node = need(strdup(node)), .number = (uint8_t)number, .words = words};
}
