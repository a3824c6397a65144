/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The head of the discovering child's reply: the result, and the size of the fabric
 * that follows, as in collect/topology_message.h.  Both ends are the same
 * program, so numbers are in host byte order.  The reader still checks all: a broken
 * child may write anything.
 *
 * Thread-safety: no state. */
#ifndef TRIAD_AGENT_DISCOVERY_REPLY_H
#define TRIAD_AGENT_DISCOVERY_REPLY_H

#include "agent/discovery.h"
#include "collect/topology_message.h"

struct triad_discovery_reply {
	uint32_t magic;
	int32_t error;
	uint64_t n_smps, hash;
	uint32_t n_silent, size;
};

/* Makes the head for a discovery that ended with 'error' (0 or an errno). */
struct triad_discovery_reply triad_discovery_reply_make(int error,
	const struct triad_discovery *made, const struct triad_topology_octets *octets);

/* Checks a head and copies it to '*made' and '*octets'; the octets follow in the pipe.
 * Returns 0, the error of the discovery, or EPROTO (the head makes no sense). */
int triad_discovery_reply_read(const struct triad_discovery_reply *reply,
	struct triad_discovery *made, struct triad_topology_octets *octets);

#endif
