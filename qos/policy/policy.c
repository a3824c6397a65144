/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/policy/policy.h"

#include <stdlib.h>

#include "lib/search.h"
#include "qos/policy/arena.h"

struct triad_policy *triad_policy_ref(struct triad_policy *policy)
{
	__atomic_add_fetch(&policy->n_references, 1, __ATOMIC_RELAXED);
	return policy;
}

void triad_policy_unref(struct triad_policy *policy)
{
	if (!policy ||
		__atomic_sub_fetch(&policy->n_references, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	free(policy->groups);
	free(policy->levels);
	free(policy->rules);
	free(policy->partition_levels);
	free(policy->sl2vl);
	free(policy->vlarb);
	triad_arena_free(policy->arena);
	free(policy);
}

bool triad_ranges_has(const struct triad_ranges *ranges, uint64_t value)
{
	uint32_t at;

	/* Ranges are sorted and don't overlap: only the first one that ends at or after
	 * 'value' can contain it. */
	TRIAD_SEARCH(at, 0, ranges->n, ranges->items[at].last < value);
	return at < ranges->n && ranges->items[at].first <= value;
}

/* --- names ------------------------------------------------------------- */

/* The next octet that comparisons use, in lower case; 0 at the end. */
static unsigned char next_letter(const char **name)
{
	unsigned char letter;

	while (**name == ' ' || **name == '\t')
		(*name)++;
	letter = (unsigned char)**name;
	if (letter)
		(*name)++;
	return letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter;
}

int triad_policy_name_compare(const char *a, const char *b)
{
	unsigned char left, right;

	do {
		left = next_letter(&a);
		right = next_letter(&b);
	} while (left && left == right);
	return (left > right) - (left < right);
}

static uint32_t find_name(const struct triad_policy_names *names, const char *name)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, names->n,
		triad_policy_name_compare(names->items[at].name, name) < 0);
	return at < names->n && !triad_policy_name_compare(names->items[at].name, name)
		? names->items[at].index
		: TRIAD_POLICY_NONE;
}

uint32_t triad_policy_find_group(const struct triad_policy *policy, const char *name)
{
	return find_name(&policy->group_names, name);
}

uint32_t triad_policy_find_level(const struct triad_policy *policy, const char *name)
{
	return find_name(&policy->level_names, name);
}
