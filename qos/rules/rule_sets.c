/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/rules/rule_sets.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"

#define MIN_SLOTS 64
#define MIN_POOL_WORDS 1024

/* The size, in 64-bit words, of a set with 'n' words that are not zero. */
static size_t with_header(const struct triad_rule_sets *sets, size_t n)
{
	return sets->header +
		(n * sizeof(triad_rule_word) + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

/* The size of the set at 'at', in 64-bit words. */
static size_t set_size(const struct triad_rule_sets *sets, uint32_t at)
{
	size_t n = 0;

	for (uint32_t i = 0; i < sets->n_summary; i++)
		n += (unsigned)__builtin_popcountll(
			triad_rule_sets_summary(sets, at, i));
	return with_header(sets, n);
}

static int reserve(struct triad_rule_sets *sets, size_t n)
{
	size_t wanted = sets->n_allocated ? sets->n_allocated : MIN_POOL_WORDS;
	uint64_t *grown;

	if (sets->n + n <= sets->n_allocated)
		return 0;
	if (sets->n + n > sets->max)
		return EOVERFLOW;
	while (wanted < sets->n + n)
		wanted += wanted / 2;
	if (wanted > sets->max)
		wanted = sets->max;
	grown = realloc(sets->pool, wanted * sizeof(*grown));
	if (!grown)
		return ENOMEM;
	sets->pool = grown;
	sets->n_allocated = wanted;
	return 0;
}

static void put_slot(struct triad_rule_set_slot *slots, size_t n_slots,
	struct triad_rule_set_slot slot)
{
	size_t i = slot.hash & (n_slots - 1);

	while (slots[i].at != TRIAD_RULE_SETS_FREE)
		i = (i + 1) & (n_slots - 1);
	slots[i] = slot;
}

/* Leaves half of the slots free at least. */
static int reserve_slot(struct triad_rule_sets *sets)
{
	size_t n_slots = sets->n_slots ? sets->n_slots * 2 : MIN_SLOTS;
	struct triad_rule_set_slot *slots;

	if (sets->n_sets * 2 < sets->n_slots)
		return 0;
	slots = malloc(n_slots * sizeof(*slots));
	if (!slots)
		return ENOMEM;
	for (size_t i = 0; i < n_slots; i++)
		slots[i].at = TRIAD_RULE_SETS_FREE;
	for (size_t i = 0; i < sets->n_slots; i++)
		if (sets->slots[i].at != TRIAD_RULE_SETS_FREE)
			put_slot(slots, n_slots, sets->slots[i]);
	free(sets->slots);
	sets->slots = slots;
	sets->n_slots = n_slots;
	return 0;
}

int triad_rule_sets_init(
	struct triad_rule_sets *sets, uint32_t n_rules, size_t max_octets)
{
	uint32_t n_words = (n_rules + TRIAD_RULE_WORD_BITS - 1) / TRIAD_RULE_WORD_BITS,
		 n_summary = (n_words + 63) / 64;
	triad_rule_word *nothing = calloc(n_words, sizeof(*nothing));
	uint32_t at;
	int error;

	*sets = (struct triad_rule_sets){.n_words = n_words,
		.n_summary = n_summary,
		.header = n_summary + (n_summary + 3) / 4,
		.max = max_octets / sizeof(uint64_t)};
	/* Places have 32 bits, and one value means none. */
	if (sets->max > TRIAD_RULE_SETS_FREE)
		sets->max = TRIAD_RULE_SETS_FREE;
	if (!nothing)
		return ENOMEM;
	error = triad_rule_sets_add(sets, nothing, &at);
	free(nothing);
	return error;
}

void triad_rule_sets_clear(struct triad_rule_sets *sets)
{
	free(sets->pool);
	free(sets->slots);
	*sets = (struct triad_rule_sets){0};
}

/* Writes the set behind the last one; the caller has reserved the room. */
static size_t write_set(struct triad_rule_sets *sets, const triad_rule_word *words)
{
	uint64_t *set = sets->pool + sets->n;
	triad_rule_word *kept = (triad_rule_word *)(set + sets->header);
	size_t n = 0;

	memset(set, 0, with_header(sets, sets->n_words) * sizeof(*set));
	/* For each word of the summary, store the number of words kept before it.  16
	 * bits suffice: 2^20 rules have 2^15 words. */
	for (uint32_t i = 0; i < sets->n_words; i++) {
		if (i % 64 == 0)
			set[sets->n_summary + i / 256] |= (uint64_t)n
				<< i / 64 % 4 * 16;
		if (!words[i])
			continue;
		set[i / 64] |= UINT64_C(1) << i % 64;
		kept[n++] = words[i];
	}
	return with_header(sets, n);
}

int triad_rule_sets_add(
	struct triad_rule_sets *sets, const triad_rule_word *words, uint32_t *at)
{
	struct triad_rule_set_slot slot;
	int error = reserve(sets, with_header(sets, sets->n_words));
	size_t size;

	if (!error)
		error = reserve_slot(sets);
	if (error)
		return error;
	/* Write the set first, then search for an equal one: if there is one, the next
	 * set overwrites this one. */
	size = write_set(sets, words);
	slot.hash = (uint32_t)triad_hash_words(size, sets->pool + sets->n, size);
	for (size_t i = slot.hash & (sets->n_slots - 1);
		sets->slots[i].at != TRIAD_RULE_SETS_FREE;
		i = (i + 1) & (sets->n_slots - 1)) {
		*at = sets->slots[i].at;
		if (sets->slots[i].hash == slot.hash && set_size(sets, *at) == size &&
			!memcmp(sets->pool + *at, sets->pool + sets->n,
				size * sizeof(*sets->pool)))
			return 0;
	}
	*at = slot.at = (uint32_t)sets->n;
	put_slot(sets->slots, sets->n_slots, slot);
	sets->n_sets++;
	sets->n += size;
	return 0;
}

void triad_rule_sets_join(
	const struct triad_rule_sets *sets, uint32_t at, triad_rule_word *words)
{
	const triad_rule_word *word =
		(const triad_rule_word *)(sets->pool + at + sets->header);

	for (uint32_t i = 0; i < sets->n_summary; i++)
		for (uint64_t left = triad_rule_sets_summary(sets, at, i); left;
			left &= left - 1)
			words[i * 64 + (unsigned)__builtin_ctzll(left)] |= *word++;
}

void triad_rule_sets_seal(struct triad_rule_sets *sets)
{
	uint64_t *shrunk = realloc(sets->pool, sets->n * sizeof(*shrunk));

	free(sets->slots);
	sets->slots = NULL;
	sets->n_slots = 0;
	if (!shrunk)
		return; /* it keeps its size */
	sets->pool = shrunk;
	sets->n_allocated = sets->n;
}
