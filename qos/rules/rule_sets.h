/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sets of rules; equal sets are stored once.
 *
 * Model: a set has one bit for each rule, 32 to a word.  Most words of most sets are
 * zero and are not kept: a set is a summary, with one bit for each word that is not
 * zero, then the number of such words before each word of the summary, then those
 * words.  So a small set is one or two cache lines, and the summaries of several sets
 * say which words are worth reading.  Equal sets have the same offset: adding an
 * existing set returns its offset.
 *
 * Invariants: the empty set is at TRIAD_RULE_SET_EMPTY.
 *
 * Thread-safety: filled by one thread; then read by any.
 * Memory: one pool, capped when it is made; triad_rule_sets_seal() frees the index of
 * what is in it. */
#ifndef TRIAD_QOS_RULE_SETS_H
#define TRIAD_QOS_RULE_SETS_H

#include <stddef.h>
#include <stdint.h>

#define TRIAD_RULE_SET_EMPTY 0

/* Rules in a word. */
#define TRIAD_RULE_WORD_BITS 32
typedef uint32_t triad_rule_word;

struct triad_rule_set_slot {
	uint32_t hash;
	uint32_t at; /* in 'pool', or TRIAD_RULE_SETS_FREE */
};

#define TRIAD_RULE_SETS_FREE UINT32_MAX

struct triad_rule_sets {
	uint32_t n_words;   /* of a full set */
	uint32_t n_summary; /* 64-bit words of its summary */
	uint32_t header;    /* 64-bit words of summary and counts */
	uint64_t *pool;
	size_t n, n_allocated, max; /* 64-bit words */
	struct triad_rule_set_slot *slots;
	size_t n_slots; /* a power of 2 */
	size_t n_sets;
};

/* For sets of 'n_rules' (not 0, at most 2^20), in at most 'max_octets'.  Returns 0,
 * ENOMEM or EOVERFLOW. */
int triad_rule_sets_init(
	struct triad_rule_sets *sets, uint32_t n_rules, size_t max_octets);

/* Accepts sets that are all zero. */
void triad_rule_sets_clear(struct triad_rule_sets *sets);

/* Sets '*at' to the offset of the set with these 'n_words' words.  Returns 0, ENOMEM or
 * EOVERFLOW. */
int triad_rule_sets_add(
	struct triad_rule_sets *sets, const triad_rule_word *words, uint32_t *at);

/* Adds the rules of the set at 'at' to 'words'. */
void triad_rule_sets_join(
	const struct triad_rule_sets *sets, uint32_t at, triad_rule_word *words);

/* Frees what only adding needs. */
void triad_rule_sets_seal(struct triad_rule_sets *sets);

/* Word 'i' of the summary of the set at 'at'. */
static inline uint64_t triad_rule_sets_summary(
	const struct triad_rule_sets *sets, uint32_t at, uint32_t i)
{
	return sets->pool[at + i];
}

/* Word 'i' of the set at 'at'. */
static inline triad_rule_word triad_rule_sets_word(
	const struct triad_rule_sets *sets, uint32_t at, uint32_t i)
{
	const uint64_t *set = sets->pool + at;
	uint64_t summary = set[i / 64], bit = UINT64_C(1) << i % 64;
	unsigned before;

	if (!(summary & bit))
		return 0;
	before = set[sets->n_summary + i / 256] >> i / 64 % 4 * 16 & 0xffff;
	return ((const triad_rule_word *)(set + sets->header))[before +
		(unsigned)__builtin_popcountll(summary & (bit - 1))];
}

#endif
