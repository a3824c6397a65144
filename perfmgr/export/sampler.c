/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/sampler.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "lib/hash.h"
#include "lib/ring.h"

struct triad_sampler {
	atomic_uint rate;
	atomic_uint pool, drops;
	atomic_int skip;      /* requests before the next one is picked */
	pthread_mutex_t lock; /* of what follows */
	uint64_t state;
	struct triad_ring ring; /* of the queue */
	struct triad_sampled_request queue[TRIAD_SAMPLER_ROOM];
};

struct triad_sampler *triad_sampler_new(uint64_t seed)
{
	struct triad_sampler *sampler = calloc(1, sizeof(*sampler));

	if (!sampler)
		return NULL;
	pthread_mutex_init(&sampler->lock, NULL);
	sampler->state = seed;
	return sampler;
}

void triad_sampler_free(struct triad_sampler *sampler)
{
	if (!sampler)
		return;
	pthread_mutex_destroy(&sampler->lock);
	free(sampler);
}

/* Draws how many requests to skip before the next pick: evenly distributed, 'rate' - 1
 * on average [sFlow v5 4.2.1]. */
static void draw(struct triad_sampler *sampler, uint32_t rate)
{
	uint64_t z;

	pthread_mutex_lock(&sampler->lock);
	/* splitmix64. */
	z = triad_hash_mix(sampler->state += UINT64_C(0x9e3779b97f4a7c15));
	atomic_store(&sampler->skip, (int)(z % (2 * (uint64_t)rate - 1)));
	pthread_mutex_unlock(&sampler->lock);
}

void triad_sampler_set_rate(struct triad_sampler *sampler, uint32_t rate)
{
	if (atomic_exchange(&sampler->rate, rate) != rate && rate)
		draw(sampler, rate);
}

uint32_t triad_sampler_rate(const struct triad_sampler *sampler)
{
	return atomic_load(&sampler->rate);
}

bool triad_sampler_pick(struct triad_sampler *sampler)
{
	uint32_t rate = atomic_load_explicit(&sampler->rate, memory_order_relaxed);

	if (!rate)
		return false;
	atomic_fetch_add_explicit(&sampler->pool, 1, memory_order_relaxed);
	/* Exactly one caller sees 0; those that come before it has drawn see less. */
	if (atomic_fetch_sub(&sampler->skip, 1) != 0)
		return false;
	draw(sampler, rate);
	return true;
}

void triad_sampler_put(
	struct triad_sampler *sampler, const struct triad_sampled_request *request)
{
	bool fits;

	pthread_mutex_lock(&sampler->lock);
	fits = sampler->ring.n < TRIAD_SAMPLER_ROOM;
	if (fits)
		sampler->queue[triad_ring_put(&sampler->ring, TRIAD_SAMPLER_ROOM)] =
			*request;
	pthread_mutex_unlock(&sampler->lock);
	/* Samples carry the number of drops. */
	if (!fits)
		atomic_fetch_add(&sampler->drops, 1);
}

bool triad_sampler_take(
	struct triad_sampler *sampler, struct triad_sampled_request *request)
{
	bool taken;

	pthread_mutex_lock(&sampler->lock);
	taken = sampler->ring.n;
	if (taken)
		*request = sampler->queue[triad_ring_take(
			&sampler->ring, TRIAD_SAMPLER_ROOM)];
	pthread_mutex_unlock(&sampler->lock);
	return taken;
}

uint32_t triad_sampler_pool(const struct triad_sampler *sampler)
{
	return atomic_load(&sampler->pool);
}

uint32_t triad_sampler_drops(const struct triad_sampler *sampler)
{
	return atomic_load(&sampler->drops);
}
