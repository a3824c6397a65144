/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The random numbers of tests, simulations and benchmarks: the same seed, any, gives
 * the same numbers everywhere.  Not for keys: those come from the kernel.
 *
 * SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
 * 2014); all 2^64 states are on one cycle, so that none is a bad seed. */
#ifndef TRIAD_TESTS_RANDOM_H
#define TRIAD_TESTS_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* 0 to n - 1; n is not 0. */
static inline unsigned random_below(uint64_t *state, unsigned n)
{
	return (unsigned)(random_next(state) % n);
}

#endif
