/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of a compiled setup (setup.h): setup.c and setup_groups.c make it;
 * scopes.c, scopes_classes.c and scopes_pkeys.c read it.
 *
 * Only the groups that scopes name matter; they are renumbered from 0.  A class has one
 * record of 64-bit words: for each kind of scope, the sets of scopes that have one of
 * its groups as 'group', as 'across' or 'across-to', and as 'across-from'; then the set
 * of its groups.  So a few operations on words, 64 scopes at a time, find the scopes
 * that fit a pair of ports. */
#ifndef TRIAD_QOS_SETUP_PARTS_H
#define TRIAD_QOS_SETUP_PARTS_H

#include <stdatomic.h>

#include "qos/rules/node_names.h"
#include "qos/setup/segments.h"
#include "qos/setup/setup.h"

#define TRIAD_SETUP_MAX_NAMES TRIAD_POLICY_MAX_ITEMS
#define TRIAD_SETUP_MAX_USES (1u << 22) /* of groups by scopes */
#define TRIAD_SETUP_MAX_WORDS (TRIAD_POLICY_MAX_SCOPES / 64)
#define TRIAD_SETUP_N_NUMBERS 256 /* of ports */
#define TRIAD_SETUP_N_VL_CODES 6  /* of numbers of data VLs */
#define TRIAD_SETUP_N_TYPES 4     /* enum triad_node_type; 0: others */

/* The scopes of one kind of table; all sets have 'n_words' words. */
struct triad_setup_kind {
	uint32_t n, n_words;
	/* The offsets of these sets in a class's record. */
	uint32_t own, linked, linked_from;
	uint64_t *any_out;   /* scopes that take any out-port */
	uint64_t *any_in;    /* scopes without 'across-from' */
	uint64_t *to, *from; /* a set for each number of a port */
};

/* A port that a group names. */
struct triad_setup_name {
	struct triad_node_key key;
	uint8_t number;
	uint32_t group;
};

/* Sorted by key. */
struct triad_setup_names {
	struct triad_setup_name *items;
	uint32_t n;
};

struct triad_setup {
	atomic_uint refs;
	struct triad_policy *policy;
	struct triad_setup_kind sl2vl, vlarb;
	struct triad_sl2vl (*tables)[TRIAD_SETUP_N_VL_CODES]; /* of SL2VL scopes */

	uint32_t n_groups;
	uint32_t *groups;    /* each one's index in the policy */
	size_t n_partitions; /* names of partitions in all groups */
	/* The size of a record in words; the size of its set of groups, and that set's
	 * offset. */
	uint32_t record_words, group_words, groups_word;
	/* Group i sets the bits of a record from uses[uses_at[i]] to before
	 * uses[uses_at[i + 1]]. */
	uint32_t *uses_at, *uses;
	uint64_t *by_type; /* a set of groups for each type, and one more: SELF */
	struct triad_segments guids;
	struct triad_setup_names names[2]; /* whole ones; first two words */
};

static inline const struct triad_policy_group *triad_setup_group(
	const struct triad_setup *setup, uint32_t i)
{
	return &setup->policy->groups[setup->groups[i]];
}

static inline void triad_setup_set_bit(uint64_t *words, size_t bit)
{
	words[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* The groups of ports of nodes of that type, or of the SM's own port. */
static inline const uint64_t *triad_setup_of_type(
	const struct triad_setup *setup, unsigned type)
{
	return setup->by_type +
		(size_t)(type < TRIAD_SETUP_N_TYPES ? type : 0) * setup->group_words;
}

static inline const uint64_t *triad_setup_of_self(const struct triad_setup *setup)
{
	return setup->by_type + (size_t)TRIAD_SETUP_N_TYPES * setup->group_words;
}

/* The names with that key; '*n' of them. */
const struct triad_setup_name *triad_setup_names_find(
	const struct triad_setup_names *names, const struct triad_node_key *key,
	uint32_t *n);

/* Compiles the groups, after the kinds of scopes.  Returns 0, ENOMEM or EOVERFLOW. */
int triad_setup_compile_groups(struct triad_setup *setup);

/* Makes the segments of P_Keys.  'partitions' has the P_Keys of the partitions that
 * groups name, in the groups' order; 0: no such partition.  Returns 0, ENOMEM or
 * EOVERFLOW. */
int triad_setup_make_pkeys(const struct triad_setup *setup, const uint16_t *partitions,
	struct triad_segments *segments);

/* --- classes --- */

#define TRIAD_SCOPES_MAX_OCTETS ((size_t)1 << 28) /* of all classes */
#define TRIAD_SCOPES_KEPT_PKEYS 128

struct triad_scopes {
	struct triad_setup *setup;
	int error;
	uint16_t *partitions; /* P_Keys of the groups' partitions, in their order */
	struct triad_segments pkeys;

	uint64_t *records; /* by class */
	uint32_t n_classes, n_allocated;
	uint32_t *slots;  /* classes, by the hash of their groups */
	uint32_t n_slots; /* a power of 2 */
	uint64_t *groups; /* of the present port */

	/* Caches of the last results: neighbours often have the same P_Keys, and the
	 * ports of a switch the same name. */
	struct {
		bool is_known;
		uint32_t n;
		uint16_t pkeys[TRIAD_SCOPES_KEPT_PKEYS];
		uint64_t *groups;
	} last_pkeys;
	struct {
		struct triad_node_key key; /* the whole name's */
		const struct triad_setup_name *names[2];
		uint32_t n[2];
	} last_name;
};

/* For 'scopes' that is all zeros except its setup.  Returns 0, ENOMEM or EOVERFLOW. */
int triad_scopes_make_classes(struct triad_scopes *scopes);
void triad_scopes_clear_classes(struct triad_scopes *scopes);
void triad_scopes_forget_classes(struct triad_scopes *scopes); /* except NO_CLASS */

/* Sets the partitions; '*has_changed' is whether that changes any group, true the first
 * time.  Returns 0; or ENOMEM or EOVERFLOW, and nothing changed. */
int triad_scopes_use_partitions(struct triad_scopes *scopes,
	const struct triad_fabric_partition *partitions, uint32_t n, bool *has_changed);

/* A class's record; that of NO_CLASS if the class does not exist. */
static inline const uint64_t *triad_scopes_record(
	const struct triad_scopes *scopes, uint32_t class)
{
	return scopes->records +
		(size_t)(class < scopes->n_classes ? class : TRIAD_SCOPES_NO_CLASS) *
		scopes->setup->record_words;
}

#endif
