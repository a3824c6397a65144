/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads attributes from the devices themselves: SubnGet() of what the audit has kinds of
 * (audit/audit.h), by LID, from a descriptor of our own.
 *
 * OpenSM's copies stay unchanged.  Only a few requests are in flight at a time, to
 * leave room for sweeps.
 *
 * Thread-safety: blocks; call it from a thread that may.  Memory: the caller's.
 * Spec: IBA volume 1, 14.2.5. */
#ifndef TRIAD_PLUGIN_READ_BACK_H
#define TRIAD_PLUGIN_READ_BACK_H

#include <stdbool.h>

#include "audit/audit.h"
#include "triad/mad.h"

struct triad_read_back {
	uint32_t port; /* index in the fabric's ports */
	enum triad_audit_kind kind;
	uint32_t block; /* as in struct triad_audit_place */
	/* Filled in: */
	int error; /* 0, ETIMEDOUT, EIO (the port refuses: 'status') or another errno */
	uint16_t status; /* of the MAD */
	uint8_t data[TRIAD_AUDIT_OCTETS];
};

/* Called from time to time with the number of items done. */
struct triad_read_back_owner {
	bool (*goes_on)(void *context, size_t n_done); /* false: stop */
	void *context;
};

/* The attribute modifier of a block [IBA 14.2.5]; 'port' is an index. */
uint32_t triad_read_back_modifier(const struct triad_fabric *fabric, uint32_t port,
	enum triad_audit_kind kind, uint32_t block);

/* Requests all 'items', with 'm_key'.  Does not ask a LID again that has not answered
 * once.  Returns 0 when each item has been answered or given up, ECANCELED, or an errno
 * when it can't send at all. */
int triad_read_back(const struct triad_fabric *fabric, uint64_t m_key,
	struct triad_read_back *items, size_t n,
	const struct triad_read_back_owner *owner);

#endif
