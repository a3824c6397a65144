/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What OpenSM wants in devices (audit/audit.h), by what it goes by itself: options,
 * partitions, multicast groups, computed tables, capabilities.  Where its copy of a device
 * is overwritten by the device's answers, it is not looked at, with two exceptions.  Of
 * multicast trees that a routing engine does not keep, the copies are all that there is
 * (trees.h).  And devices need not take each setting of PortInfo that lets packets pass all
 * the same: one that the last answer to OpenSM lacks is no wish, and is counted; OpenSM writes
 * it again in each heavy sweep, in vain.
 *
 *     PortInfo    options; LIDs given; MTU and VLs by what both ends can do, as its link
 *                 manager does; enforcement of partitions by part_enforce
 *     SwitchInfo  the highest LID of the routing, packet_life_time, no change pending; the
 *                 highest multicast LID, where the switch knows such a top
 *     LFT         'new_lft'
 *     MFT         its trees and groups' members (trees.h).  Where no group has a LID, nothing,
 *                 in all of the table: OpenSM leaves what an earlier SM wrote into blocks that
 *                 it does not use itself
 *     P_Keys      'new_blocks', which its partition manager made of the partitions; at
 *                 ports of switches what it makes of those of the port behind it
 *     SL2VL,      as Triad's QoS tables want them, or OpenSM's own defaults
 *     VLArb
 *     GUIDInfo    aliases asked for of the SA
 *
 * Thread-safety: any thread.  Takes osm->lock, shared, for 2 ms at a time. */
#ifndef TRIAD_PLUGIN_AUDIT_WISHES_H
#define TRIAD_PLUGIN_AUDIT_WISHES_H

#include "audit/audit.h"
#include "qos/setup/desired.h"

struct osm_opensm;
struct triad_trees;

struct triad_wish {
	uint32_t port; /* in the fabric */
	struct triad_audit_place place;
	/* Filled in: */
	bool is_known; /* OpenSM has that port, with that LID, and has decided */
	bool is_left;  /* the device has such a block, in which OpenSM wants nothing */
	struct triad_audit_wish wish;
	/* Settings that are wanted and that the device does not take, as its answers to
	 * OpenSM say: not in the wish. */
	uint8_t n_not_taken;
	/* MFT: LIDs whose tree is not known: not in the wish. */
	uint8_t n_undecided;
};

struct triad_wish_source {
	struct osm_opensm *osm;
	const struct triad_fabric *fabric;
	const struct triad_desired *desired; /* NULL: no QoS tables are wanted */
	const struct triad_trees *trees;     /* NULL: none of kind MFT is asked for */
};

struct triad_audit_extent triad_wishes_extent(struct osm_opensm *osm);

/* Returns false when OpenSM ends. */
bool triad_wishes_read(
	const struct triad_wish_source *source, struct triad_wish *wishes, size_t n);

#endif
