/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/rules/classifier.h"

#include <stdlib.h>

#include "qos/rules/classifier_parts.h"

#define LINE_OCTETS 64
#define PREFETCH_LINES 6
#define AHEAD_OCTETS (8 * sizeof(uint64_t)) /* three steps down the tree */

/* A long search mostly counts bits.  Not every x86-64 has an instruction for that, so
 * this compiles the function twice, and the dynamic linker chooses one.  It does so
 * before the sanitizer of threads is ready for what it makes of the choice. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) &&                \
	!defined(__POPCNT__) && !defined(__SANITIZE_THREAD__)
#define WITH_POPCNT __attribute__((target_clones("popcnt", "default")))
#else
#define WITH_POPCNT
#endif

/* --- life --- */

void triad_classifier_free(struct triad_classifier *classifier)
{
	if (!classifier)
		return;
	triad_policy_unref(classifier->policy);
	triad_rule_sets_clear(&classifier->sets);
	for (unsigned i = 0; i < TRIAD_N_CLASS_FIELDS; i++)
		free(classifier->tables[i]);
	free(classifier->service_ids.ends);
	free(classifier->service_ids.sets);
	free(classifier->rules);
	free(classifier->slots);
	free(classifier->first_rules);
	free(classifier->wild);
	free(classifier->wild_summary);
	free(classifier->partition_levels);
	free(classifier);
}

const struct triad_policy *triad_classifier_policy(
	const struct triad_classifier *classifier)
{
	return classifier->policy;
}

size_t triad_classifier_octets(const struct triad_classifier *classifier)
{
	return classifier->octets +
		classifier->sets.n_allocated * sizeof(*classifier->sets.pool);
}

/* --- the set of a field --- */

#define NO_VALUE UINT32_MAX

/* A request's value in each field, or NO_VALUE.  For the service ID, 0 only means that
 * the request has one. */
struct values {
	uint32_t of[TRIAD_N_CLASS_FIELDS];
};

static struct values values_of(const struct triad_class_request *request)
{
	return (struct values){
		.of = {
			[TRIAD_CLASS_SOURCE] = request->source,
			[TRIAD_CLASS_DESTINATION] = request->destination,
			[TRIAD_CLASS_SERVICE_ID] =
				request->has_service_id ? 0 : NO_VALUE,
			[TRIAD_CLASS_TCLASS] =
				request->has_tclass ? request->tclass : NO_VALUE,
			[TRIAD_CLASS_QOS_CLASS] =
				request->has_qos_class ? request->qos_class : NO_VALUE,
			[TRIAD_CLASS_PKEY] =
				request->has_pkey ? request->pkey & 0x7fff : NO_VALUE,
			[TRIAD_CLASS_SL] = request->has_sl ? request->sl : NO_VALUE,
		}};
}

_Static_assert(TRIAD_FABRIC_NONE == NO_VALUE, "an end that is not known has no value");

static uint32_t look_up_service_id(const struct triad_class_tree *tree, uint64_t value)
{
	uint32_t i = 1;

	while (i <= tree->n) {
		/* Prefetch where the search will be in three steps; past the end of the
		 * tree a prefetch does nothing. */
		__builtin_prefetch((const char *)tree->ends + i * AHEAD_OCTETS);
		i = 2 * i + (tree->ends[i] <= value);
	}
	/* Go back to where the search last went left: the first end above the value. */
	return tree->sets[i >> __builtin_ffs((int)~i)];
}

static uint32_t set_of(const struct triad_classifier *classifier,
	const struct triad_class_request *request, const struct values *values,
	enum triad_class_field field)
{
	uint32_t value = values->of[field], size = classifier->table_sizes[field];

	if (field == TRIAD_CLASS_SERVICE_ID)
		return value == NO_VALUE ? TRIAD_RULE_SET_EMPTY
					 : look_up_service_id(&classifier->service_ids,
						   request->service_id);
	return classifier->tables[field][value < size ? value : size];
}

/* --- use --- */

/* The rules of word 'word' that are in the sets of all fields. */
static inline __attribute__((always_inline)) triad_rule_word rules_in_all(
	const struct triad_classifier *classifier, const uint32_t *sets, uint32_t word)
{
	const triad_rule_word *wild =
		classifier->wild + (size_t)word * classifier->n_fields;
	triad_rule_word rules = (triad_rule_word)UINT64_MAX;

	for (unsigned i = 0; rules && i < classifier->n_fields; i++)
		rules &= wild[i] |
			triad_rule_sets_word(&classifier->sets, sets[i], word);
	return rules;
}

/* Which of 64 words, from word 64 * 'i' on, have rules in the set of each field. */
static uint64_t words_in_all(
	const struct triad_classifier *classifier, const uint32_t *sets, uint32_t i)
{
	const uint64_t *wild =
		classifier->wild_summary + (size_t)i * classifier->n_fields;
	uint64_t words = UINT64_MAX;

	for (unsigned field = 0; field < classifier->n_fields; field++)
		words &= wild[field] |
			triad_rule_sets_summary(&classifier->sets, sets[field], i);
	return words;
}

/* Prefetches a whole set at once.  Sets of ports are many and rarely in the cache;
 * without this each part would be waited for in turn. */
static void prefetch(const struct triad_rule_sets *sets, uint32_t at)
{
	const char *line = (const char *)(sets->pool + at);

	for (unsigned i = 0; i < PREFETCH_LINES; i++)
		__builtin_prefetch(line + i * LINE_OCTETS);
}

WITH_POPCNT uint32_t triad_classifier_match(const struct triad_classifier *classifier,
	const struct triad_class_request *request)
{
	uint32_t sets[TRIAD_N_CLASS_FIELDS], best = TRIAD_POLICY_NONE;
	struct values values = values_of(request);

	if (!classifier->n_fields) /* no rule has a condition */
		return classifier->n_rules ? 0 : TRIAD_POLICY_NONE;
	/* First find the sets of all fields, so that their prefetches overlap. */
	for (unsigned i = 0; i < classifier->n_fields; i++) {
		sets[i] = set_of(classifier, request, &values, classifier->fields[i]);
		if (classifier->fields[i] <= TRIAD_CLASS_SERVICE_ID)
			prefetch(&classifier->sets, sets[i]);
	}
	for (uint32_t i = 0; i < classifier->sets.n_summary; i++) {
		uint64_t left = words_in_all(classifier, sets, i);

		for (; left; left &= left - 1) {
			uint32_t word = i * 64 + (unsigned)__builtin_ctzll(left), rule;
			triad_rule_word rules;

			/* Words are sorted by their first rule, so nothing better
			 * follows. */
			if (classifier->first_rules[word] >= best)
				return best;
			rules = rules_in_all(classifier, sets, word);
			if (!rules)
				continue;
			/* Within a word rules keep their order, so the lowest bit is
			 * the first rule. */
			rule = classifier->rules[word * TRIAD_RULE_WORD_BITS +
				(unsigned)__builtin_ctzll(rules)];
			if (rule < best)
				best = rule;
		}
	}
	return best;
}

uint32_t triad_classifier_level(const struct triad_classifier *classifier,
	const struct triad_class_request *request, uint16_t path_pkey, uint32_t *rule)
{
	const struct triad_policy *policy = classifier->policy;
	uint32_t match = triad_classifier_match(classifier, request);

	if (rule)
		*rule = match;
	if (match != TRIAD_POLICY_NONE)
		return policy->rules[match].level;
	/* No rule matched: the partition's level, else the default. */
	path_pkey &= 0x7fff;
	if (path_pkey && classifier->partition_levels &&
		classifier->partition_levels[path_pkey] != TRIAD_CLASS_NO_LEVEL)
		return classifier->partition_levels[path_pkey];
	return policy->default_level;
}

struct triad_class_mismatch triad_classifier_explain(
	const struct triad_classifier *classifier,
	const struct triad_class_request *request, uint32_t rule)
{
	struct triad_class_mismatch mismatch = {0};
	struct values values = values_of(request);
	uint32_t word = classifier->slots[rule] / TRIAD_RULE_WORD_BITS;
	triad_rule_word bit = (triad_rule_word)(UINT64_C(1)
		<< classifier->slots[rule] % TRIAD_RULE_WORD_BITS);

	for (unsigned i = 0; i < classifier->n_fields; i++) {
		enum triad_class_field field = classifier->fields[i];
		uint32_t set = set_of(classifier, request, &values, field);
		triad_rule_word rules =
			triad_rule_sets_word(&classifier->sets, set, word) |
			classifier->wild[(size_t)word * classifier->n_fields + i];

		if (rules & bit)
			continue;
		mismatch.failed |= (uint8_t)(1u << field);
		if (values.of[field] == NO_VALUE)
			mismatch.missing |= (uint8_t)(1u << field);
	}
	return mismatch;
}

const char *triad_class_field_name(enum triad_class_field field)
{
	static const char *const names[] = {
		[TRIAD_CLASS_SOURCE] = "source",
		[TRIAD_CLASS_DESTINATION] = "destination",
		[TRIAD_CLASS_SERVICE_ID] = "service-id",
		[TRIAD_CLASS_TCLASS] = "tclass",
		[TRIAD_CLASS_QOS_CLASS] = "qos-class",
		[TRIAD_CLASS_PKEY] = "pkey",
		[TRIAD_CLASS_SL] = "sl",
	};

	return field < TRIAD_N_CLASS_FIELDS ? names[field] : "?";
}
