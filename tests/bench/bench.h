/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What benchmarks share. */
#ifndef TRIAD_TESTS_BENCH_BENCH_H
#define TRIAD_TESTS_BENCH_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "triad/clock.h"

#define ROUNDS 5

static inline void die(const char *what)
{
	fprintf(stderr, "benchmark: %s\n", what);
	exit(1);
}

static inline void *need(void *history)
{
	if (!history)
		die("out of memory");
	return history;
}

static inline uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Microseconds that memcpy takes for as many octets. */
static inline uint64_t copy(void *to, const void *from, size_t size)
{
	uint64_t begun_us = triad_clock_now_us();

	memcpy(to, from, size);
	/* The copy must happen. */
	__asm__ volatile("" : : "r"(to) : "memory");
	return triad_clock_now_us() - begun_us;
}

static inline double ratio(uint64_t a, uint64_t b)
{
	return (double)a / (double)(b ? b : 1);
}

#endif
