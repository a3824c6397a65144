/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of a classifier (classifier.h): classifier_compile.c and classifier_sets.c
 * make it, classifier.c reads it. */
#ifndef TRIAD_QOS_CLASSIFIER_PARTS_H
#define TRIAD_QOS_CLASSIFIER_PARTS_H

#include "qos/rules/classifier.h"
#include "qos/rules/membership.h"
#include "qos/rules/rule_sets.h"

#define TRIAD_CLASS_NO_LEVEL UINT16_MAX

/* Service IDs between two ends of ranges have the same set.  The ends are a search tree
 * in an array: the children of i are 2i and 2i + 1. */
struct triad_class_tree {
	uint64_t *ends; /* from 1 */
	uint32_t *sets; /* of the values just below each end; [0]: of values from the
			 * last end on */
	uint32_t n;
};

/* A rule's bit is at its slot, TRIAD_RULE_WORD_BITS to a word. */
struct triad_classifier {
	struct triad_policy *policy;
	size_t octets; /* without the sets */
	uint32_t n_rules, n_words;
	uint32_t *rules;       /* of each slot, or TRIAD_POLICY_NONE */
	uint32_t *slots;       /* of each rule */
	uint32_t *first_rules; /* of each word, ascending */

	/* Fields with a condition in any rule. */
	uint8_t fields[TRIAD_N_CLASS_FIELDS];
	unsigned n_fields;
	struct triad_rule_sets sets;
	/* Rules without a condition on a field: a word for each of 'fields', for each
	 * word of a set; and which of these are not zero. */
	triad_rule_word *wild;
	uint64_t *wild_summary;

	/* The set of each value.  The entry after the last is empty, and serves all
	 * larger values. */
	uint32_t *tables[TRIAD_N_CLASS_FIELDS]; /* NULL: no condition on the field */
	uint32_t table_sizes[TRIAD_N_CLASS_FIELDS];
	struct triad_class_tree service_ids;
	uint16_t *partition_levels; /* by P_Key, or NULL */
};

/* --- for compiling --- */

/* Allocates '*memory' for 'n' elements of 'size', all zero, and counts it.  Returns 0,
 * ENOMEM or EOVERFLOW. */
int triad_classifier_take(
	struct triad_classifier *classifier, void *memory, size_t n, size_t size);

/* The ranges of a rule's condition on a field that is not a port. */
const struct triad_ranges *triad_class_ranges(
	const struct triad_policy_rule *rule, enum triad_class_field field);

/* The groups of a rule's condition on a port. */
const struct triad_group_list *triad_class_groups(
	const struct triad_policy_rule *rule, enum triad_class_field field);

/* Make the sets of one field, once slots are assigned.  Return 0, ENOMEM or
 * EOVERFLOW. */
int triad_classifier_compile_ranges(
	struct triad_classifier *classifier, enum triad_class_field field);
int triad_classifier_compile_ports(struct triad_classifier *classifier,
	enum triad_class_field field, const struct triad_membership *membership);

#endif
