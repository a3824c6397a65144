/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counts replies that answer nothing this process asked (ib/mad_requests.h): somebody made
 * them up, or an agent replies in a wrong way.  They are never used.
 *
 * Thread-safety: any thread, without a lock. */
#ifndef TRIAD_SERVICE_STRANGERS_H
#define TRIAD_SERVICE_STRANGERS_H

#include <stdint.h>

struct triad_strangers {
	uint64_t n;
	/* Of the last one: its sender, its management class. */
	uint16_t lid;
	uint8_t mgmt_class;
};

void triad_strangers_note(uint16_t lid, uint8_t mgmt_class);

/* Those of this process, of all its ports. */
struct triad_strangers triad_strangers(void);

#endif
