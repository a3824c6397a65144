/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/strangers.h"

#include <stdatomic.h>

/* Of the process: MADs come to it by many descriptors, in many threads. */
static _Atomic uint64_t n_noted;
static _Atomic uint32_t last; /* LID and class */

void triad_strangers_note(uint16_t lid, uint8_t mgmt_class)
{
	last = (uint32_t)lid << 8 | mgmt_class;
	n_noted++;
}

struct triad_strangers triad_strangers(void)
{
	uint32_t who = last;

	return (struct triad_strangers){
		.n = n_noted, .lid = (uint16_t)(who >> 8), .mgmt_class = (uint8_t)who};
}
