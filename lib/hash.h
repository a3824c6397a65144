/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Hashes: fast ones for tables and for comparing, which do not resist somebody who
 * makes two inputs collide; triad_hash_sha256() does.
 *
 * All give the same on each machine, so they may be sent.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_LIB_HASH_H
#define TRIAD_LIB_HASH_H

#include <stddef.h>
#include <stdint.h>

#define TRIAD_HASH_START UINT64_C(0xcbf29ce484222325)

/* FNV-1a, a step for each octet.  To hash several pieces, begin each with the hash of
 * those before, and the first with TRIAD_HASH_START. */
static inline uint64_t triad_hash_octets(uint64_t hash, const void *octets, size_t n)
{
	const uint8_t *at = octets;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Hashes a word of 64 bits in one step; any seed.  The shift mixes the upper half of
 * the product into the lower one, from which tables take the slot. */
static inline uint64_t triad_hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static inline uint64_t triad_hash_words(uint64_t hash, const uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = triad_hash_word(hash, words[i]);
	return hash;
}

/* Mixes all bits of a word into all others, as splitmix64 does at its end. */
static inline uint64_t triad_hash_mix(uint64_t word)
{
	word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
	return word ^ word >> 31;
}

/* The first 64 bits of SHA-256, the first octet as the highest. */
uint64_t triad_hash_sha256(const void *octets, size_t n);

#endif
