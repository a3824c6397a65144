/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Functions for all benchmarks. */
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

static inline void *need(void *memory)
{
	if (!memory)
		die("out of memory");
	return memory;
}

static inline uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Copies octets by memcpy; returns the microseconds that takes. */
static inline uint64_t copy(void *to, const void *from, size_t size)
{
	uint64_t begun_us = triad_clock_now_us();

	memcpy(to, from, size);
	/* The compiler must not remove the copy. */
	__asm__ volatile("" : : "r"(to) : "memory");
	return triad_clock_now_us() - begun_us;
}

static inline double ratio(uint64_t a, uint64_t b)
{
	return (double)a / (double)(b ? b : 1);
}

#endif
