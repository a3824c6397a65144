/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the groups of each P_Key's members, with the present partitions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "qos/rules/membership.h"
#include "qos/setup/setup_parts.h"

struct spans {
	struct triad_segment_span *items;
	size_t n;
};

static void add_span(struct spans *spans, uint64_t first, uint64_t last, uint32_t group)
{
	/* An entry 0 of a port's table is an empty one. */
	if (!first)
		first = 1;
	if (last >= TRIAD_N_PKEYS)
		last = TRIAD_N_PKEYS - 1;
	if (first <= last)
		spans->items[spans->n++] =
			(struct triad_segment_span){first, last, group};
}

static void add_spans(const struct triad_setup *setup, const uint16_t *partitions,
	struct spans *spans)
{
	for (uint32_t i = 0; i < setup->n_groups; i++) {
		const struct triad_policy_group *group = triad_setup_group(setup, i);

		for (uint32_t j = 0; j < group->n_partitions; j++, partitions++)
			add_span(spans, *partitions, *partitions, i);
		for (uint32_t j = 0; j < group->pkeys.n; j++)
			add_span(spans, group->pkeys.items[j].first,
				group->pkeys.items[j].last, i);
	}
}

int triad_setup_make_pkeys(const struct triad_setup *setup, const uint16_t *partitions,
	struct triad_segments *segments)
{
	size_t n = setup->n_partitions;
	struct spans spans = {0};
	int error;

	for (uint32_t i = 0; i < setup->n_groups; i++)
		n += triad_setup_group(setup, i)->pkeys.n;
	if (n > TRIAD_SEGMENTS_MAX_SPANS)
		return EOVERFLOW;
	spans.items = malloc((n + 1) * sizeof(*spans.items));
	if (!spans.items)
		return ENOMEM;
	add_spans(setup, partitions, &spans);
	error = triad_segments_make(segments, spans.items, spans.n, setup->n_groups);
	free(spans.items);
	return error;
}

static int look_up_pkeys(const struct triad_setup *setup,
	const struct triad_fabric_partition *partitions, uint32_t n, uint16_t *pkeys)
{
	struct triad_partition_names names;

	if (triad_partition_names_init(&names, partitions, n))
		return ENOMEM;
	for (uint32_t i = 0; i < setup->n_groups; i++) {
		const struct triad_policy_group *group = triad_setup_group(setup, i);

		for (uint32_t j = 0; j < group->n_partitions; j++)
			*pkeys++ = 0x7fff &
				triad_partition_names_find(
					&names, group->partitions[j]);
	}
	free(names.items);
	return 0;
}

/* Takes over 'pkeys' if it succeeds. */
static int replace(struct triad_scopes *scopes, uint16_t *pkeys)
{
	struct triad_segments segments;
	int error = triad_setup_make_pkeys(scopes->setup, pkeys, &segments);

	if (error)
		return error;
	triad_segments_clear(&scopes->pkeys);
	free(scopes->partitions);
	scopes->pkeys = segments;
	scopes->partitions = pkeys;
	scopes->last_pkeys.is_known = false;
	return 0;
}

int triad_scopes_use_partitions(struct triad_scopes *scopes,
	const struct triad_fabric_partition *partitions, uint32_t n, bool *has_changed)
{
	size_t n_named = scopes->setup->n_partitions;
	uint16_t *pkeys;
	int error = 0;

	*has_changed = false;
	/* If no group names a partition, partitions matter only the first time. */
	if (scopes->partitions && !n_named)
		return 0;
	pkeys = calloc(n_named + 1, sizeof(*pkeys));
	if (!pkeys)
		return ENOMEM;
	if (n_named)
		error = look_up_pkeys(scopes->setup, partitions, n, pkeys);
	*has_changed = !error &&
		(!scopes->partitions ||
			memcmp(scopes->partitions, pkeys, n_named * sizeof(*pkeys)));
	if (*has_changed)
		error = replace(scopes, pkeys);
	if (error || !*has_changed)
		free(pkeys);
	return error;
}
