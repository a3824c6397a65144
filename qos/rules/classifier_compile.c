/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Assigns each rule's bit, and compiles everything except the sets. */
#include <errno.h>
#include <stdlib.h>

#include "qos/rules/classifier_parts.h"

static bool is_port(enum triad_class_field field)
{
	return field == TRIAD_CLASS_SOURCE || field == TRIAD_CLASS_DESTINATION;
}

static bool has_condition(
	const struct triad_policy_rule *rule, enum triad_class_field field)
{
	return is_port(field) ? triad_class_groups(rule, field)->n > 0
			      : triad_class_ranges(rule, field)->n > 0;
}

/* --- where rules' bits go --- */

/* The common properties of rules that share a word. */
struct likeness {
	uint32_t fields; /* a bit for each condition */
	uint32_t source, destination;
	uint32_t rule;
	uint64_t service_id;
};

static struct likeness likeness_of(const struct triad_policy *policy, uint32_t i)
{
	const struct triad_policy_rule *rule = &policy->rules[i];
	struct likeness likeness = {.rule = i};

	for (unsigned field = 0; field < TRIAD_N_CLASS_FIELDS; field++)
		if (has_condition(rule, field))
			likeness.fields |= 1u << field;
	if (rule->sources.n)
		likeness.source = rule->sources.items[0];
	if (rule->destinations.n)
		likeness.destination = rule->destinations.items[0];
	if (rule->service_ids.n)
		likeness.service_id = rule->service_ids.items[0].first;
	return likeness;
}

static int compare_likenesses(const void *a, const void *b)
{
	const struct likeness *one = a, *other = b;

	if (one->fields != other->fields)
		return one->fields < other->fields ? -1 : 1;
	if (one->source != other->source)
		return one->source < other->source ? -1 : 1;
	if (one->destination != other->destination)
		return one->destination < other->destination ? -1 : 1;
	if (one->service_id != other->service_id)
		return one->service_id < other->service_id ? -1 : 1;
	return (one->rule > other->rule) - (one->rule < other->rule);
}

static int compare_rules(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	return (one > other) - (one < other);
}

/* Sorts the rules within each word, and words by their first rules.  Unused slots of
 * the last filled word are TRIAD_POLICY_NONE, which is greater than every rule. */
static void order_words(struct triad_classifier *classifier)
{
	for (uint32_t i = 0; i < classifier->n_words; i++)
		qsort(classifier->rules + (size_t)i * TRIAD_RULE_WORD_BITS,
			TRIAD_RULE_WORD_BITS, sizeof(*classifier->rules),
			compare_rules);
	/* Now sort whole words: compare_rules() sees the first rule of each. */
	qsort(classifier->rules, classifier->n_words,
		TRIAD_RULE_WORD_BITS * sizeof(*classifier->rules), compare_rules);
	for (uint32_t i = 0; i < classifier->n_words * TRIAD_RULE_WORD_BITS; i++)
		if (classifier->rules[i] != TRIAD_POLICY_NONE)
			classifier->slots[classifier->rules[i]] = i;
	for (uint32_t i = 0; i < classifier->n_words; i++)
		classifier->first_rules[i] =
			classifier->rules[i * TRIAD_RULE_WORD_BITS];
}

static int assign_slots(struct triad_classifier *classifier)
{
	uint32_t n = classifier->n_rules;
	struct likeness *likenesses;
	int error;

	error = triad_classifier_take(classifier, &classifier->rules,
		(size_t)classifier->n_words * TRIAD_RULE_WORD_BITS,
		sizeof(*classifier->rules));
	if (!error)
		error = triad_classifier_take(
			classifier, &classifier->slots, n, sizeof(*classifier->slots));
	if (!error)
		error = triad_classifier_take(classifier, &classifier->first_rules,
			classifier->n_words, sizeof(*classifier->first_rules));
	if (error)
		return error;
	likenesses = malloc(n * sizeof(*likenesses));
	if (!likenesses)
		return ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		likenesses[i] = likeness_of(classifier->policy, i);
	qsort(likenesses, n, sizeof(*likenesses), compare_likenesses);
	for (uint32_t i = 0; i < classifier->n_words * TRIAD_RULE_WORD_BITS; i++)
		classifier->rules[i] = i < n ? likenesses[i].rule : TRIAD_POLICY_NONE;
	free(likenesses);
	order_words(classifier);
	return 0;
}

/* --- rules without a condition --- */

static int note_wild(struct triad_classifier *classifier)
{
	unsigned n = classifier->n_fields;
	int error = triad_classifier_take(classifier, &classifier->wild,
		(size_t)classifier->n_words * n, sizeof(*classifier->wild));

	if (!error)
		error = triad_classifier_take(classifier, &classifier->wild_summary,
			(size_t)classifier->sets.n_summary * n,
			sizeof(*classifier->wild_summary));
	for (uint32_t rule = 0; !error && rule < classifier->n_rules; rule++) {
		uint32_t slot = classifier->slots[rule],
			 word = slot / TRIAD_RULE_WORD_BITS;

		for (unsigned i = 0; i < n; i++) {
			if (has_condition(&classifier->policy->rules[rule],
				    classifier->fields[i]))
				continue;
			classifier->wild[(size_t)word * n + i] |=
				(triad_rule_word)(UINT64_C(1)
					<< slot % TRIAD_RULE_WORD_BITS);
			classifier->wild_summary[(size_t)(word / 64) * n + i] |=
				UINT64_C(1) << word % 64;
		}
	}
	return error;
}

/* --- levels of partitions --- */

/* The first P_Key, from 'pkey' on, without a level; 'next' leads there. */
static uint32_t find_free(uint16_t *next, uint32_t pkey)
{
	uint32_t free_one = pkey;

	while (next[free_one] != free_one)
		free_one = next[free_one];
	/* Make all passed entries lead there directly (union-find with path
	 * compression), so that ranges that overlap many times stay cheap. */
	while (next[pkey] != free_one) {
		uint32_t following = next[pkey];

		next[pkey] = (uint16_t)free_one;
		pkey = following;
	}
	return free_one;
}

/* Gives the level to the P_Keys of the range that have none yet. */
static void give_level(
	uint16_t *levels, uint16_t *next, uint64_t first, uint64_t last, uint32_t level)
{
	if (first >= TRIAD_N_PKEYS)
		return;
	for (uint32_t pkey = find_free(next, (uint32_t)first);
		pkey < TRIAD_N_PKEYS && pkey <= last; pkey = find_free(next, pkey)) {
		levels[pkey] = (uint16_t)level;
		next[pkey] = (uint16_t)(pkey + 1);
	}
}

static void give_levels(const struct triad_policy *policy,
	const struct triad_partition_names *names, uint16_t *levels, uint16_t *next)
{
	for (uint32_t i = 0; i < policy->n_partition_levels; i++) {
		const struct triad_policy_partition_level *from =
			&policy->partition_levels[i];

		if (from->partition) {
			uint16_t pkey =
				triad_partition_names_find(names, from->partition);

			if (pkey)
				give_level(levels, next, pkey, pkey, from->level);
			continue;
		}
		for (uint32_t j = 0; j < from->pkeys.n; j++)
			give_level(levels, next, from->pkeys.items[j].first,
				from->pkeys.items[j].last, from->level);
	}
}

static int compile_partition_levels(
	struct triad_classifier *classifier, const struct triad_fabric *fabric)
{
	struct triad_partition_names names;
	uint16_t *next;
	int error;

	if (!classifier->policy->n_partition_levels)
		return 0;
	error = triad_classifier_take(classifier, &classifier->partition_levels,
		TRIAD_N_PKEYS, sizeof(*classifier->partition_levels));
	if (!error)
		error = triad_partition_names_init(
			&names, fabric->partitions, fabric->n_partitions);
	if (error)
		return error;
	next = malloc((TRIAD_N_PKEYS + 1) * sizeof(*next));
	for (uint32_t i = 0; next && i <= TRIAD_N_PKEYS; i++)
		next[i] = (uint16_t)i;
	for (uint32_t i = 0; i < TRIAD_N_PKEYS; i++)
		classifier->partition_levels[i] = TRIAD_CLASS_NO_LEVEL;
	if (next)
		give_levels(
			classifier->policy, &names, classifier->partition_levels, next);
	else
		error = ENOMEM;
	free(next);
	free(names.items);
	return error;
}

/* --- all of it --- */

static int compile_fields(
	struct triad_classifier *classifier, const struct triad_fabric *fabric)
{
	struct triad_membership membership = {0};
	int error = 0;

	for (unsigned i = 0; !error && i < classifier->n_fields; i++) {
		enum triad_class_field field = classifier->fields[i];

		if (!is_port(field)) {
			error = triad_classifier_compile_ranges(classifier, field);
			continue;
		}
		/* Sources and destinations share the membership: make it once. */
		if (!membership.fabric)
			error = triad_membership_resolve(
				&membership, classifier->policy, fabric, NULL);
		if (!error)
			error = triad_classifier_compile_ports(
				classifier, field, &membership);
	}
	triad_membership_clear(&membership);
	return error;
}

static int compile(
	struct triad_classifier *classifier, const struct triad_fabric *fabric)
{
	int error;

	classifier->n_rules = classifier->policy->n_rules;
	classifier->n_words =
		(classifier->n_rules + TRIAD_RULE_WORD_BITS - 1) / TRIAD_RULE_WORD_BITS;
	/* A policy may give levels to partitions and have no rule at all. */
	error = compile_partition_levels(classifier, fabric);
	if (error || !classifier->n_rules)
		return error;
	/* List only fields that some rule has a condition on. */
	for (unsigned field = 0; field < TRIAD_N_CLASS_FIELDS; field++) {
		bool any = false;

		for (uint32_t i = 0; !any && i < classifier->n_rules; i++)
			any = has_condition(&classifier->policy->rules[i], field);
		if (any)
			classifier->fields[classifier->n_fields++] = (uint8_t)field;
	}
	/* Assign slots before making sets, which consist of slots.  The pool needs its
	 * index only until the last set is in. */
	error = assign_slots(classifier);
	if (!error)
		error = triad_rule_sets_init(&classifier->sets, classifier->n_rules,
			TRIAD_CLASSIFIER_MAX_OCTETS);
	if (!error)
		error = note_wild(classifier);
	if (!error)
		error = compile_fields(classifier, fabric);
	if (!error)
		triad_rule_sets_seal(&classifier->sets);
	return error;
}

int triad_classifier_compile(struct triad_policy *policy,
	const struct triad_fabric *fabric, struct triad_classifier **classifier)
{
	struct triad_classifier *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return ENOMEM;
	made->octets = sizeof(*made);
	made->policy = triad_policy_ref(policy);
	error = compile(made, fabric);
	if (error)
		triad_classifier_free(made);
	else
		*classifier = made;
	return error;
}
