/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/search.h"

#include "qos/rules/membership.h"

/* Sorts names that differ only in case together. */
static int compare_partition_names(const void *a, const void *b)
{
	const struct triad_partition_name *one = a, *other = b;
	int order = strcasecmp(one->name, other->name);

	if (!order)
		order = strcmp(one->name, other->name);
	if (!order)
		order = (one->pkey > other->pkey) - (one->pkey < other->pkey);
	return order;
}

int triad_partition_names_init(struct triad_partition_names *names,
	const struct triad_fabric_partition *partitions, uint32_t n)
{
	*names = (struct triad_partition_names){
		.items = malloc(((size_t)n + 1) * sizeof(*names->items))};
	if (!names->items)
		return ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (partitions[i].name[0])
			names->items[names->n++] = (struct triad_partition_name){
				.name = partitions[i].name,
				.pkey = partitions[i].pkey,
			};
	qsort(names->items, names->n, sizeof(*names->items), compare_partition_names);
	return 0;
}

/* The first of the names that equal 'name' except for case. */
static uint32_t find_first(const struct triad_partition_names *names, const char *name)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, names->n, strcasecmp(names->items[at].name, name) < 0);
	return at;
}

uint16_t triad_partition_names_find(
	const struct triad_partition_names *names, const char *name)
{
	uint16_t pkey = 0;

	for (uint32_t i = find_first(names, name);
		i < names->n && !strcasecmp(names->items[i].name, name); i++) {
		const struct triad_partition_name *at = &names->items[i];

		/* Prefer the exact name; among names in other case, the lowest
		 * P_Key. */
		if (!strcmp(at->name, name))
			return at->pkey;
		if (!pkey || at->pkey < pkey)
			pkey = at->pkey;
	}
	return pkey;
}
