/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/descriptors.h"

#include <stdatomic.h>
#include <sys/resource.h>

#include "triad/clock.h"

#define MOST_KEPT 256u

/* Of the process, as its limit is. */
static _Atomic uint64_t n_refused, refused_us;

static uint64_t limit_now(void)
{
	struct rlimit limit;

	/* It may be changed from outside (prlimit). */
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

static uint64_t kept_of(uint64_t limit)
{
	return limit / 4 < MOST_KEPT ? limit / 4 : MOST_KEPT;
}

bool triad_descriptor_may_stay(int fd)
{
	uint64_t limit = limit_now();

	if ((uint64_t)fd < limit - kept_of(limit))
		return true;
	atomic_fetch_add(&n_refused, 1);
	atomic_store(&refused_us, triad_clock_now_us());
	return false;
}

struct triad_descriptors_status triad_descriptors_status(void)
{
	uint64_t limit = limit_now();

	return (struct triad_descriptors_status){
		.limit = limit,
		.kept = kept_of(limit),
		.n_refused = atomic_load(&n_refused),
		.refused_us = atomic_load(&refused_us),
	};
}
