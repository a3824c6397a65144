/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counts replies that answer nothing this process asked (ib/mad_requests.h): somebody made
 * them up, or an agent replies in a wrong way.  They are never used.
 *
 * Thread-safety: any thread, without a lock. */
#ifndef TRIAD_SERVICE_STRANGERS_H
#define TRIAD_SERVICE_STRANGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct triad_mad_requests;

struct triad_strangers {
	uint64_t n;
	/* Of the last one: its sender, its management class. */
	uint16_t lid;
	uint8_t mgmt_class;
};

/* Takes the request that a received MAD ends.  'has_failed': it is our own request, which
 * got no reply.  Returns false for what is to be dropped: it answers no request, and was
 * counted if it is a reply. */
bool triad_strangers_keep_out(struct triad_mad_requests *requests, uint8_t *mad,
	size_t size, uint16_t lid, bool has_failed);

/* Those of this process, of all its ports. */
struct triad_strangers triad_strangers(void);

#endif
