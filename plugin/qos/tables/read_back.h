/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads tables from the devices themselves: SubnGet(SLtoVLMappingTable),
 * SubnGet(VLArbitrationTable), SubnGet(PortInfo), SubnGet(LinearForwardingTable), by LID,
 * from a descriptor of our own.
 *
 * OpenSM's copies stay unchanged.  Only a few requests are in flight at a time, to
 * leave room for sweeps.
 *
 * Thread-safety: blocks; call it from a thread that may.  Memory: the caller's.
 * Spec: IBA volume 1, 14.2.5.6, 14.2.5.8, 14.2.5.9, 14.2.5.11. */
#ifndef TRIAD_PLUGIN_QOS_TABLES_READ_BACK_H
#define TRIAD_PLUGIN_QOS_TABLES_READ_BACK_H

#include <stdbool.h>

#include "triad/fabric.h"
#include "triad/mad.h"

#define TRIAD_SMP_DATA_SIZE 64

enum triad_smp_kind {
	TRIAD_SMP_SL2VL, /* 'block' is the in-port's number */
	TRIAD_SMP_VLARB, /* 'block' is 1 to 4: low, low's second half, high, ... */
	TRIAD_SMP_PORT_INFO,
	TRIAD_SMP_LFT, /* 64 entries of a switch; 'block' is from 0 on */
};

struct triad_read_back {
	uint32_t port; /* index in the fabric's ports */
	enum triad_smp_kind kind;
	uint16_t block;
	/* Filled in: */
	int error; /* 0, ETIMEDOUT, EIO (the port refuses: 'status') or another errno */
	uint16_t status; /* of the MAD */
	uint8_t data[TRIAD_SMP_DATA_SIZE];
};

/* Called from time to time with the number of items done. */
struct triad_read_back_owner {
	bool (*goes_on)(void *context, size_t n_done); /* false: stop */
	void *context;
};

/* Requests all 'items', with 'm_key'.  Does not ask a LID again that has not answered
 * once.  Returns 0 when each item has been answered or given up, ECANCELED, or an errno
 * when it can't send at all. */
int triad_read_back(const struct triad_fabric *fabric, uint64_t m_key,
	struct triad_read_back *items, size_t n,
	const struct triad_read_back_owner *owner);

#endif
