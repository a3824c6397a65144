/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the process that discovers says first: how it went, and how large the fabric is
 * that follows, packed as in collect/topology_message.h.  Both ends are the same
 * program, so numbers are as the machine has them; a process that goes wrong may say
 * anything.
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
	uint32_t n_silent, size, packed_size;
	uint32_t unused;
};

/* What is to be said of a discovery that ended with 'error' (0, an errno). */
struct triad_discovery_reply triad_discovery_reply_make(int error,
	const struct triad_discovery *made, const struct triad_topology_packed *packed);

/* Takes it into '*made' and '*packed', whose octets follow.  Returns 0, the error of
 * the discovery, or EPROTO: it makes no sense. */
int triad_discovery_reply_read(const struct triad_discovery_reply *reply,
	struct triad_discovery *made, struct triad_topology_packed *packed);

#endif
