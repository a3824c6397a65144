/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reports what came and went between two copies of a fabric.
 *
 * Model: a node left or came, a link went down or came up.  Each is reported once:
 *
 *     - a node with one link is reported with that link, which is not reported separately;
 *     - of a node with more links, those to nodes that stayed are reported, too, but not
 *       those to nodes that left or came with it;
 *     - a cable that was plugged in elsewhere is the old link down and the new one up.
 *
 * Links that the source of a fabric hides from this port ('n_hidden') count as neither: see
 * losses.h.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_PERFMGR_CHANGES_H
#define TRIAD_PERFMGR_CHANGES_H

#include <stdint.h>

#include "triad/fabric.h"

enum triad_change {
	TRIAD_CHANGE_LINK_DOWN,
	TRIAD_CHANGE_LINK_UP,
	TRIAD_CHANGE_NODE_LEFT,
	TRIAD_CHANGE_NODE_CAME,
	TRIAD_CHANGE_COUNTED_DOWN, /* a port's LinkDownedCounter grew */
};

/* 'node' and 'port' are indices in 'fabric', borrowed for the call: the old fabric where
 * something is gone, else the new one.  'port' is TRIAD_FABRIC_NONE for a node that does
 * not have exactly one link.  'count' is the growth of a counter. */
struct triad_changes_sink {
	void (*take)(void *context, enum triad_change change,
		const struct triad_fabric *fabric, uint32_t node, uint32_t port,
		uint64_t count);
	void *context;
};

/* Returns 0 or ENOMEM; then nothing was reported. */
int triad_changes_tell(const struct triad_fabric *old, const struct triad_fabric *new,
	const struct triad_changes_sink *sink);

#endif
