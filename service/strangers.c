/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/strangers.h"

#include <stdatomic.h>

#include "ib/mad_requests.h"

enum { AT_CLASS = 1 };

/* Of the process: MADs come to it by many descriptors, in many threads. */
static _Atomic uint64_t n_noted;
static _Atomic uint32_t last; /* LID and class */

bool triad_strangers_keep_out(struct triad_mad_requests *requests, uint8_t *mad,
	size_t size, uint16_t lid, bool has_failed)
{
	if (triad_mad_requests_take(requests, mad, size, lid, has_failed))
		return true;
	if (!has_failed) {
		last = (uint32_t)lid << 8 | (size > AT_CLASS ? mad[AT_CLASS] : 0);
		n_noted++;
	}
	return false;
}

struct triad_strangers triad_strangers(void)
{
	uint32_t who = last;

	return (struct triad_strangers){
		.n = n_noted, .lid = (uint16_t)(who >> 8), .mgmt_class = (uint8_t)who};
}
