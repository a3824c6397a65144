/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "qos/policy/arena.h"
#include "qos/policy/policy_items.h"

#define MAX_GUESSED 4096 /* the most names to compare for a guess */

/* --- names ------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
	const struct triad_policy_name *left = a, *right = b;
	int order = triad_policy_name_compare(left->name, right->name);

	return order ? order
		     : (left->index > right->index) - (left->index < right->index);
}

static void add_name(struct triad_policy_names *names, const char *name, uint32_t index)
{
	if (name)
		names->items[names->n++] = (struct triad_policy_name){name, index};
}

/* Makes the lists of names.  Omits levels of qos-ulps, which the file can't name: their
 * 'use' is NULL. */
static bool make_names(struct triad_policy_builder *builder)
{
	struct triad_policy *policy = builder->policy;
	struct triad_policy_names *groups = &policy->group_names;
	struct triad_policy_names *levels = &policy->level_names;

	groups->items = triad_arena_take(
		policy->arena, (policy->n_groups + 1) * sizeof(*groups->items));
	levels->items = triad_arena_take(
		policy->arena, (2 * policy->n_levels + 1) * sizeof(*levels->items));
	if (!groups->items || !levels->items) {
		triad_policy_out_of_memory(builder);
		return false;
	}
	for (uint32_t i = 0; i < policy->n_groups; i++)
		if (policy->groups[i].use)
			add_name(groups, policy->groups[i].name, i);
	/* A level has two names, its name and its number, which may be the same
	 * text. */
	for (uint32_t i = 0; i < policy->n_levels; i++) {
		if (!policy->levels[i].use)
			continue;
		add_name(levels, policy->levels[i].name, i);
		if (policy->levels[i].sn != policy->levels[i].name)
			add_name(levels, policy->levels[i].sn, i);
	}
	qsort(groups->items, groups->n, sizeof(*groups->items), compare_names);
	qsort(levels->items, levels->n, sizeof(*levels->items), compare_names);
	return true;
}

static struct triad_source_location location_of(
	const struct triad_policy *policy, bool is_level, uint32_t index)
{
	return is_level ? policy->levels[index].location
			: policy->groups[index].location;
}

static void report_duplicates(struct triad_policy_builder *builder, bool is_level)
{
	const struct triad_policy *policy = builder->policy;
	const struct triad_policy_names *names =
		is_level ? &policy->level_names : &policy->group_names;

	for (uint32_t i = 1; i < names->n; i++) {
		const struct triad_policy_name *first = &names->items[i - 1];
		const struct triad_policy_name *second = &names->items[i];

		/* Equal name and number of one level are no duplicate. */
		if (first->index == second->index ||
			triad_policy_name_compare(first->name, second->name))
			continue;
		triad_policy_report(builder,
			location_of(policy, is_level, second->index),
			"%s '%.80s': the one on line %u is called so too",
			is_level ? "level" : "group", second->name,
			location_of(policy, is_level, first->index).line);
	}
}

/* --- references -------------------------------------------------------- */

static void report_unknown(struct triad_policy_builder *builder,
	struct triad_source_location location, bool is_level, const char *name)
{
	const struct triad_policy_names *names = is_level
		? &builder->policy->level_names
		: &builder->policy->group_names;
	struct triad_text_guess guess = {.word = name};
	const char *best = NULL, *what = is_level ? "level" : "group";

	if (triad_policy_is_shown(builder))
		for (uint32_t i = 0; i < names->n && i < MAX_GUESSED; i++)
			if (triad_text_guess_try(&guess, names->items[i].name))
				best = names->items[i].name;
	if (best)
		triad_policy_report(builder, location,
			"no %s is called '%.80s'; did you mean '%.80s'?", what, name,
			best);
	else
		triad_policy_report(
			builder, location, "no %s is called '%.80s'", what, name);
}

static void *element_of(
	struct triad_policy *policy, const struct triad_policy_reference *reference)
{
	switch (reference->block) {
	case TRIAD_BLOCK_SL2VL_SCOPE:
		return &policy->sl2vl[reference->index];
	case TRIAD_BLOCK_VLARB_SCOPE:
		return &policy->vlarb[reference->index];
	case TRIAD_BLOCK_RULE:
		return &policy->rules[reference->index];
	default:
		return &policy->partition_levels[reference->index];
	}
}

static void resolve_reference(struct triad_policy_builder *builder,
	const struct triad_policy_reference *reference)
{
	struct triad_policy *policy = builder->policy;
	void *member = (char *)element_of(policy, reference) + reference->offset;
	struct triad_group_list *list = member;
	uint32_t index = reference->is_level
		? triad_policy_find_level(policy, reference->name)
		: triad_policy_find_group(policy, reference->name);
	void *grown;

	if (index == TRIAD_POLICY_NONE) {
		report_unknown(builder, reference->location, reference->is_level,
			reference->name);
		return;
	}
	if (reference->is_level) {
		*(uint32_t *)member = index;
		return;
	}
	grown = triad_policy_list_room(builder, list->items, list->n, sizeof(index));
	if (!grown)
		return;
	list->items = grown;
	list->items[list->n++] = index;
}

/* --- the default level ------------------------------------------------- */

static void find_default(struct triad_policy_builder *builder)
{
	struct triad_policy *policy = builder->policy;
	const char *asked = builder->default_level;

	/* If the configuration names a level, it must exist.  Otherwise use a level
	 * named "default", one with that use (XML), or the line of qos-ulps (text). */
	policy->default_level =
		triad_policy_find_level(policy, *asked ? asked : "default");
	if (policy->default_level != TRIAD_POLICY_NONE)
		return;
	if (*asked) {
		report_unknown(
			builder, (struct triad_source_location){0, 0}, true, asked);
		return;
	}
	policy->default_level = builder->syntax == TRIAD_POLICY_XML
		? builder->use_default
		: builder->ulp_default;
	if (policy->default_level == TRIAD_POLICY_NONE)
		triad_policy_report(builder, (struct triad_source_location){0, 0},
			"there is no default level, for what no rule matches: call a "
			"level 'default'%s, or name one by qos.default_level (of 'triadctl "
			"qos check': --default-level)",
			builder->syntax == TRIAD_POLICY_XML
				? " in its <name> or <use>"
				: ", write 'default : SL' in qos-ulps");
}

/* --- all --------------------------------------------------------------- */

static void *move_items(struct triad_policy_builder *builder,
	enum triad_policy_block_kind kind, uint32_t *n)
{
	struct triad_policy_elements *elements = &builder->elements[kind];
	void *items = elements->items;

	*n = elements->n;
	*elements = (struct triad_policy_elements){0};
	return items;
}

static void move_all(struct triad_policy_builder *builder)
{
	struct triad_policy *policy = builder->policy;

	policy->groups = move_items(builder, TRIAD_BLOCK_PORT_GROUP, &policy->n_groups);
	policy->levels = move_items(builder, TRIAD_BLOCK_LEVEL, &policy->n_levels);
	policy->rules = move_items(builder, TRIAD_BLOCK_RULE, &policy->n_rules);
	policy->partition_levels = move_items(
		builder, TRIAD_BLOCK_PARTITION_LEVEL, &policy->n_partition_levels);
	policy->sl2vl = move_items(builder, TRIAD_BLOCK_SL2VL_SCOPE, &policy->n_sl2vl);
	policy->vlarb = move_items(builder, TRIAD_BLOCK_VLARB_SCOPE, &policy->n_vlarb);
}

/* Appends the rules of qos-ulps to the others, wherever they are in the file. */
static void add_ulp_rules(struct triad_policy_builder *builder)
{
	struct triad_policy *policy = builder->policy;
	const struct triad_policy_elements *ulps = &builder->elements[TRIAD_BLOCK_ULPS];
	struct triad_policy_rule *rules;

	if (!ulps->n)
		return;
	if (policy->n_rules + ulps->n > TRIAD_POLICY_MAX_RULES) {
		triad_policy_report(builder, (struct triad_source_location){0, 0},
			"too many: %u rules are allowed", TRIAD_POLICY_MAX_RULES);
		return;
	}
	rules = realloc(policy->rules, (policy->n_rules + ulps->n) * sizeof(*rules));
	if (!rules) {
		triad_policy_out_of_memory(builder);
		return;
	}
	memcpy(rules + policy->n_rules, ulps->items, ulps->n * sizeof(*rules));
	policy->rules = rules;
	policy->n_rules += ulps->n;
}

/* Sets missing descriptions to "". */
static void fill_in(struct triad_policy *policy)
{
	static char nothing[] = "";

	for (uint32_t i = 0; i < policy->n_groups; i++)
		if (!policy->groups[i].use)
			policy->groups[i].use = nothing;
	for (uint32_t i = 0; i < policy->n_levels; i++)
		if (!policy->levels[i].use)
			policy->levels[i].use = nothing;
	for (uint32_t i = 0; i < policy->n_rules; i++)
		if (!policy->rules[i].use)
			policy->rules[i].use = nothing;
}

void triad_policy_check(struct triad_policy_builder *builder)
{
	const struct triad_policy_reference *references = builder->references.items;

	/* Move the elements even of an unusable policy, so that it frees them.  The
	 * rest needs complete elements. */
	move_all(builder);
	if (builder->stopped || !make_names(builder))
		return;
	report_duplicates(builder, false);
	report_duplicates(builder, true);
	for (uint32_t i = 0; i < builder->references.n && !builder->stopped; i++)
		resolve_reference(builder, &references[i]);
	/* Append the rules of qos-ulps only now: references use indexes of rules.  Fill
	 * in 'use' last, because make_names() relies on NULL. */
	add_ulp_rules(builder);
	find_default(builder);
	fill_in(builder->policy);
}
