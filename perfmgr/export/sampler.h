/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Picks one of N requests at random, and keeps those picked until they are sent
 * [sFlow v5 4.2].
 *
 * The decision costs two atomic instructions.  A picked request goes into a ring, or is
 * counted as dropped when the ring is full.
 *
 * Thread-safety: any threads pick and put; one takes.
 * Memory: fixed, about 43 KiB. */
#ifndef TRIAD_PERFMGR_EXPORT_SAMPLER_H
#define TRIAD_PERFMGR_EXPORT_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/formats/sampled_request.h"

#define TRIAD_SAMPLER_ROOM 128

struct triad_sampler;

/* NULL when memory is short. */
struct triad_sampler *triad_sampler_new(uint64_t seed);
void triad_sampler_free(struct triad_sampler *sampler); /* accepts NULL */

/* One of 'rate' from now on; 0: none. */
void triad_sampler_set_rate(struct triad_sampler *sampler, uint32_t rate);
uint32_t triad_sampler_rate(const struct triad_sampler *sampler);

/* Counts a request; true when it is picked: then put it. */
bool triad_sampler_pick(struct triad_sampler *sampler);
void triad_sampler_put(
	struct triad_sampler *sampler, const struct triad_sampled_request *request);

/* Takes the oldest picked request; false when there is none. */
bool triad_sampler_take(
	struct triad_sampler *sampler, struct triad_sampled_request *request);

/* How many requests were counted, and how many picked ones found no room. */
uint32_t triad_sampler_pool(const struct triad_sampler *sampler);
uint32_t triad_sampler_drops(const struct triad_sampler *sampler);

#endif
