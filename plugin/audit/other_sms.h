/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ports other than this SM's that have, or say that they have, an SM.
 *
 * Thread-safety: a list is of one thread.  Memory: the caller's. */
#ifndef TRIAD_PLUGIN_AUDIT_OTHER_SMS_H
#define TRIAD_PLUGIN_AUDIT_OTHER_SMS_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAD_AUDIT_MAX_SMS 16u

struct osm_opensm;

struct triad_audit_sm {
	uint64_t port_guid;
	bool is_known; /* to OpenSM; what follows is known then */
	uint8_t state, priority;
};

/* Zeros: an empty list.  What is over its room is left out. */
struct triad_audit_sms {
	uint32_t n;
	struct triad_audit_sm of[TRIAD_AUDIT_MAX_SMS];
};

/* Adds an SM unless the list has one at that port. */
void triad_audit_sms_add(struct triad_audit_sms *sms, const struct triad_audit_sm *sm);

/* Adds those that OpenSM has heard of.  Takes osm->lock, shared, for a moment; any thread. */
void triad_audit_sms_read(struct triad_audit_sms *sms, struct osm_opensm *osm);

#endif
