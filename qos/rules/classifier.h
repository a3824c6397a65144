/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the rule of a policy that a request for a path matches [qos-rfc 3, 9 3.2.1].
 *
 * Model: the first rule whose conditions all hold wins.  A condition that a rule lacks
 * always holds; a condition on a field that the request lacks does not hold.  The level
 * is the rule's; if no rule matches, that of the path's partition, else the default.
 *
 * Each field of a request gives a set of rules: those whose condition on that field
 * holds.  The answer is the first rule in all the sets.  For that
 * - the set of every possible value is made when the policy is compiled: a table for small
 *   fields, a search tree over the ends of ranges for service IDs, and for each port one
 *   set as a source and one as a destination (membership.h, rule_sets.h);
 * - a field without conditions in any rule is skipped;
 * - rules that have no condition on a field are kept apart from the sets, once for the
 *   field;
 * - slots are not in the order of rules: rules with conditions on the same fields and
 *   groups share words, so that few words are nonzero in all sets.  Within a word rules
 *   keep their order, and words are sorted by their first rule.  The search stops when the
 *   best rule so far comes before all remaining words.
 *
 * So a search costs the summaries' AND and a few words.  For the worst policy it reads
 * all words (rules / 32 for each field); none costs more.
 *
 * Invariants: a classifier is for one fabric: it does not know later ports, and a
 * request's indices are those of that fabric's ports.
 *
 * Thread-safety: immutable; any thread may read it until it is freed.
 * Memory: at most TRIAD_CLASSIFIER_MAX_OCTETS for sets, and as much for all else, which
 * needs far less.  It refuses with EOVERFLOW a policy that needs more, or whose groups
 * take more than TRIAD_CLASSIFIER_MAX_WORK steps to follow.  It keeps a reference to
 * the policy, but not to the fabric. */
#ifndef TRIAD_QOS_CLASSIFIER_H
#define TRIAD_QOS_CLASSIFIER_H

#include "qos/policy/policy.h"
#include "triad/fabric.h"

#define TRIAD_CLASSIFIER_MAX_OCTETS ((size_t)512 << 20)
#define TRIAD_CLASSIFIER_MAX_WORK ((uint64_t)1 << 32)

enum triad_class_field {
	TRIAD_CLASS_SOURCE,
	TRIAD_CLASS_DESTINATION,
	TRIAD_CLASS_SERVICE_ID,
	TRIAD_CLASS_TCLASS,
	TRIAD_CLASS_QOS_CLASS,
	TRIAD_CLASS_PKEY,
	TRIAD_CLASS_SL,
	TRIAD_N_CLASS_FIELDS,
};

struct triad_classifier;

struct triad_class_request {
	/* Indices of end ports in the fabric's ports, or TRIAD_FABRIC_NONE: not
	 * known. */
	uint32_t source, destination;
	/* The other fields that the request has. */
	bool has_service_id, has_tclass, has_qos_class, has_pkey, has_sl;
	uint8_t tclass;
	uint8_t sl;
	uint16_t qos_class;
	uint16_t pkey; /* the membership bit is ignored */
	uint64_t service_id;
};

/* A bit 1 << field for each condition of a rule that does not hold. */
struct triad_class_mismatch {
	uint8_t failed;
	uint8_t missing; /* of these, conditions whose field the request lacks */
};

/* Compiles 'policy' for 'fabric' into a classifier.  Returns 0,
 * ENOMEM or EOVERFLOW. Takes time and temporary memory in proportion to rules, ranges
 * and ports; call it in a thread that may take long. */
int triad_classifier_compile(struct triad_policy *policy,
	const struct triad_fabric *fabric, struct triad_classifier **classifier);

/* Accepts NULL. */
void triad_classifier_free(struct triad_classifier *classifier);

/* Borrowed while the classifier exists. */
const struct triad_policy *triad_classifier_policy(
	const struct triad_classifier *classifier);

/* Octets that it uses, without the policy. */
size_t triad_classifier_octets(const struct triad_classifier *classifier);

/* Index of the first rule that matches, or TRIAD_POLICY_NONE.  Never allocates or
 * blocks. */
uint32_t triad_classifier_match(const struct triad_classifier *classifier,
	const struct triad_class_request *request);

/* Index of the level that applies: the matching rule's; else that of the partition of
 * 'path_pkey' (membership bit ignored; 0: none), by the first of the policy's partition
 * levels that fits; else the default.  '*rule' (may be NULL) is the rule or
 * TRIAD_POLICY_NONE.  Never allocates or blocks. */
uint32_t triad_classifier_level(const struct triad_classifier *classifier,
	const struct triad_class_request *request, uint16_t path_pkey, uint32_t *rule);

/* Why the rule with index 'rule' (one of the policy's) does not match; all zero when it
 * does. */
struct triad_class_mismatch triad_classifier_explain(
	const struct triad_classifier *classifier,
	const struct triad_class_request *request, uint32_t rule);

/* "source", "destination", "service-id", ... */
const char *triad_class_field_name(enum triad_class_field field);

#endif
