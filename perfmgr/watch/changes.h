/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reports what came and went between two successive fabrics.
 *
 * Model: a node left or came, a link went down or came up.  Each is reported once:
 *
 *     - a node with one link is reported with that link, which is not reported itself;
 *     - of a node with more links, each link to a node that stayed is reported, too;
 *       links to nodes that left or came with it are not;
 *     - a cable that was plugged in elsewhere is the old link down and the new one up.
 *
 * A link or node that the source of a fabric hides from this port ('n_hidden') has
 * neither left nor come: see losses.h.
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

/* 'node' and 'port' are indices in 'fabric' (borrowed for the call): the old fabric for
 * what is gone, else the new one.  'port' of a node is its only port with a link;
 * TRIAD_FABRIC_NONE when it has none or several.  'count' is by how much a counter
 * grew. */
struct triad_changes_sink {
	void (*take)(void *context, enum triad_change change,
		const struct triad_fabric *fabric, uint32_t node, uint32_t port,
		uint64_t count);
	void *context;
};

/* Returns 0, or ENOMEM before anything was reported. */
int triad_changes_report(const struct triad_fabric *old, const struct triad_fabric *new,
	const struct triad_changes_sink *sink);

#endif
