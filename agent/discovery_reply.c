/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "agent/discovery_reply.h"

#include <errno.h>

#define MAGIC 0x54444953u

struct triad_discovery_reply triad_discovery_reply_make(int error,
	const struct triad_discovery *made, const struct triad_topology_octets *octets)
{
	return (struct triad_discovery_reply){.magic = MAGIC,
		.error = error,
		.n_smps = made->n_smps,
		.hash = octets->hash,
		.n_silent = made->n_silent,
		.size = octets->size};
}

int triad_discovery_reply_read(const struct triad_discovery_reply *reply,
	struct triad_discovery *made, struct triad_topology_octets *octets)
{
	/* Check the sizes before they are allocated, even from our own program. */
	if (reply->magic != MAGIC || reply->error < 0 ||
		reply->size > TRIAD_TOPOLOGY_MAX_SIZE)
		return EPROTO;
	made->n_smps = reply->n_smps;
	made->n_silent = reply->n_silent;
	*octets = (struct triad_topology_octets){
		.hash = reply->hash, .size = reply->size, .n_octets = reply->size};
	return reply->error;
}
