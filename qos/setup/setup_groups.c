/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds which groups the scopes use and for what, and which ports are in them, as far
 * as the policy alone defines that: all except partitions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/search.h"

#include "qos/setup/setup_parts.h"

/* --- uses of groups --- */

/* One use: a port in the policy's group gets that bit in its record. */
struct use {
	uint32_t group, bit;
};

struct uses {
	struct use *items;
	size_t n;
};

static size_t count_uses(const struct triad_policy_scope *scope)
{
	return (size_t)scope->groups.n + scope->across.n + scope->across_to.n +
		scope->across_from.n;
}

static void add_list(
	struct uses *uses, const struct triad_group_list *list, uint32_t bit)
{
	for (uint32_t i = 0; i < list->n; i++)
		uses->items[uses->n++] = (struct use){list->items[i], bit};
}

static void add_scope(struct uses *uses, const struct triad_setup_kind *kind,
	const struct triad_policy_scope *scope, uint32_t i)
{
	add_list(uses, &scope->groups, kind->own * 64 + i);
	add_list(uses, &scope->across, kind->linked * 64 + i);
	add_list(uses, &scope->across_to, kind->linked * 64 + i);
	add_list(uses, &scope->across_from, kind->linked_from * 64 + i);
}

static int compare_uses(const void *a, const void *b)
{
	const struct use *one = a, *other = b;

	return (one->group > other->group) - (one->group < other->group);
}

static int collect_uses(const struct triad_setup *setup, struct uses *uses)
{
	const struct triad_policy *policy = setup->policy;
	size_t n = 0;

	for (uint32_t i = 0; i < policy->n_sl2vl; i++)
		n += count_uses(&policy->sl2vl[i].scope);
	for (uint32_t i = 0; i < policy->n_vlarb; i++)
		n += count_uses(&policy->vlarb[i].scope);
	/* Limit scopes times groups: the file sizes both. */
	if (n > TRIAD_SETUP_MAX_USES)
		return EOVERFLOW;
	uses->items = malloc((n + 1) * sizeof(*uses->items));
	if (!uses->items)
		return ENOMEM;
	for (uint32_t i = 0; i < policy->n_sl2vl; i++)
		add_scope(uses, &setup->sl2vl, &policy->sl2vl[i].scope, i);
	for (uint32_t i = 0; i < policy->n_vlarb; i++)
		add_scope(uses, &setup->vlarb, &policy->vlarb[i].scope, i);
	qsort(uses->items, uses->n, sizeof(*uses->items), compare_uses);
	return 0;
}

/* Numbers the used groups anew, ascending.  'uses' is sorted by group. */
static int number_groups(struct triad_setup *setup, const struct uses *uses)
{
	setup->groups = malloc((uses->n + 1) * sizeof(*setup->groups));
	setup->uses_at = malloc((uses->n + 1) * sizeof(*setup->uses_at));
	setup->uses = malloc((uses->n + 1) * sizeof(*setup->uses));
	if (!setup->groups || !setup->uses_at || !setup->uses)
		return ENOMEM;
	for (uint32_t i = 0; i < uses->n; i++) {
		const struct use *use = &uses->items[i];

		if (!i || use->group != use[-1].group) {
			setup->uses_at[setup->n_groups] = i;
			setup->groups[setup->n_groups++] = use->group;
		}
		setup->uses[i] = use->bit;
	}
	setup->uses_at[setup->n_groups] = (uint32_t)uses->n;
	return 0;
}

static void lay_out(struct triad_setup *setup)
{
	struct triad_setup_kind *kinds[] = {&setup->sl2vl, &setup->vlarb};
	uint32_t at = 0;

	for (unsigned i = 0; i < 2; i++) {
		kinds[i]->own = at;
		kinds[i]->linked = at + kinds[i]->n_words;
		kinds[i]->linked_from = at + 2 * kinds[i]->n_words;
		at += 3 * kinds[i]->n_words;
	}
	setup->groups_word = at;
}

static int find_uses(struct triad_setup *setup)
{
	struct uses uses = {0};
	int error;

	lay_out(setup);
	error = collect_uses(setup, &uses);
	if (!error)
		error = number_groups(setup, &uses);
	free(uses.items);
	/* At least one word, so that pointers to it are valid. */
	setup->group_words = setup->n_groups / 64 + 1;
	setup->record_words = setup->groups_word + setup->group_words;
	return error;
}

/* --- who is in them --- */

static int add_types(struct triad_setup *setup)
{
	size_t n_words = setup->group_words;

	setup->by_type =
		calloc((TRIAD_SETUP_N_TYPES + 1) * n_words, sizeof(*setup->by_type));
	if (!setup->by_type)
		return ENOMEM;
	for (uint32_t i = 0; i < setup->n_groups; i++) {
		const struct triad_policy_group *group = triad_setup_group(setup, i);

		for (unsigned type = 1; type < TRIAD_SETUP_N_TYPES; type++)
			if (group->node_types & 1u << type)
				triad_setup_set_bit(
					setup->by_type, type * n_words * 64 + i);
		if (group->self)
			triad_setup_set_bit(
				setup->by_type, TRIAD_SETUP_N_TYPES * n_words * 64 + i);
		setup->n_partitions += group->n_partitions;
	}
	return 0;
}

static int add_guids(struct triad_setup *setup)
{
	struct triad_segment_span *spans;
	size_t n = 0;
	int error;

	for (uint32_t i = 0; i < setup->n_groups; i++)
		n += triad_setup_group(setup, i)->guids.n;
	if (n > TRIAD_SEGMENTS_MAX_SPANS)
		return EOVERFLOW;
	spans = malloc((n + 1) * sizeof(*spans));
	if (!spans)
		return ENOMEM;
	n = 0;
	for (uint32_t i = 0; i < setup->n_groups; i++) {
		const struct triad_ranges *guids = &triad_setup_group(setup, i)->guids;

		for (uint32_t j = 0; j < guids->n; j++)
			spans[n++] = (struct triad_segment_span){
				guids->items[j].first, guids->items[j].last, i};
	}
	error = triad_segments_make(&setup->guids, spans, n, setup->n_groups);
	free(spans);
	return error;
}

/* Compiles the P_Keys once, to fail now if they are too many: triad_scopes_new() can't
 * return an error. */
static int check_pkeys(const struct triad_setup *setup)
{
	uint16_t *none = calloc(setup->n_partitions + 1, sizeof(*none));
	struct triad_segments segments;
	int error = none ? triad_setup_make_pkeys(setup, none, &segments) : ENOMEM;

	if (!error)
		triad_segments_clear(&segments);
	free(none);
	return error;
}

/* --- names --- */

static int compare_keys(const void *a, const void *b)
{
	const struct triad_setup_name *one = a, *other = b;

	return strcmp(one->key.text, other->key.text);
}

static int copy_names(struct triad_setup *setup)
{
	size_t n[2] = {0, 0};

	for (uint32_t i = 0; i < setup->n_groups; i++) {
		const struct triad_policy_group *group = triad_setup_group(setup, i);

		for (uint32_t j = 0; j < group->n_port_names; j++)
			n[group->port_names[j].words]++;
	}
	for (unsigned words = 0; words < 2; words++) {
		if (n[words] > TRIAD_SETUP_MAX_NAMES)
			return EOVERFLOW;
		setup->names[words].items =
			malloc((n[words] + 1) * sizeof(*setup->names[words].items));
		if (!setup->names[words].items)
			return ENOMEM;
	}
	return 0;
}

static int add_names(struct triad_setup *setup)
{
	int error = copy_names(setup);

	if (error)
		return error;
	for (uint32_t i = 0; i < setup->n_groups; i++) {
		const struct triad_policy_group *group = triad_setup_group(setup, i);

		for (uint32_t j = 0; j < group->n_port_names; j++) {
			const struct triad_port_name *name = &group->port_names[j];
			struct triad_setup_names *to = &setup->names[name->words];

			to->items[to->n++] = (struct triad_setup_name){
				.key = triad_node_key_wanted(name->node, name->words),
				.number = name->number,
				.group = i};
		}
	}
	for (unsigned words = 0; words < 2; words++)
		qsort(setup->names[words].items, setup->names[words].n,
			sizeof(*setup->names[words].items), compare_keys);
	return 0;
}

const struct triad_setup_name *triad_setup_names_find(
	const struct triad_setup_names *names, const struct triad_node_key *key,
	uint32_t *n)
{
	uint32_t at, end;

	TRIAD_SEARCH(at, 0, names->n, strcmp(names->items[at].key.text, key->text) < 0);
	for (end = at; end < names->n; end++)
		if (strcmp(names->items[end].key.text, key->text) != 0)
			break;
	*n = end - at;
	return names->items + at;
}

int triad_setup_compile_groups(struct triad_setup *setup)
{
	int error = find_uses(setup);

	if (!error)
		error = add_types(setup);
	if (!error)
		error = add_guids(setup);
	if (!error)
		error = check_pkeys(setup);
	if (!error)
		error = add_names(setup);
	return error;
}
