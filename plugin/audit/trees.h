/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What OpenSM wants in multicast forwarding tables, by its groups and their trees.
 *
 * Model: for each multicast LID OpenSM has a box: the groups that share the LID, and the root of
 * the tree that it computed for the members of all.  While it computes a tree it enters its
 * ports into its own copies of switches' tables, which it then sends, block by block.  Each
 * answer overwrites the copy.  So a copy says what the switch said, and the tree what was
 * wanted.  Wanted in the row of a LID at a switch is:
 *
 *     no group has the LID   nothing
 *     ports to switches      those of the tree: to children and to the parent
 *     ports to hosts,        those of members; nothing for one member alone, for whom OpenSM
 *     and port 0             makes no tree
 *
 * Trees are kept until the next one is made [osm_mcast_mgr.c, mcast_mgr_build_spanning_tree();
 * osm_torus.c, torus_mcast_stree()].  SSSP, DFSSSP and Nue fill the copies and keep no tree, so
 * that 'root' may be an earlier engine's: of these, and of engines that are not known, it is
 * inferred from the copies, which must connect all members without a circle (audit/tree.h).  What
 * keeps to that is wanted, though it be another tree.  torus-2QoS makes a tree for one member, too;
 * its port 0 is wanted as in the copy.  OpenSM also enters ports to switches that do not forward
 * multicasts, where its trees end: they are wanted as in the copy.
 *
 * Not known is the row of a LID when a member has joined or left and OpenSM has yet to compute
 * its tree, when a link of the tree is there no more, or another, and when none can be inferred.
 *
 * A look goes through all trees once, and keeps only where a copy is not as its tree.  It
 * never follows the switch that a node of a tree names, which OpenSM may have freed: it goes by
 * links, and compares.
 *
 * Thread-safety: a look and its rows are of one thread.
 * Memory: at most TRIAD_TREES_MAX_ROWS rows; what has more is not known.  While it looks, some
 * 100 octets for each switch. */
#ifndef TRIAD_PLUGIN_AUDIT_TREES_H
#define TRIAD_PLUGIN_AUDIT_TREES_H

#include "plugin/opensm.h"

#include <stdbool.h>
#include <stdint.h>

#define TRIAD_TREES_MAX_ROWS 20000u

struct triad_trees;

/* 16 ports of a switch, a bit each, for a multicast LID. */
struct triad_trees_row {
	uint16_t wanted;
	bool is_known;
	bool has_no_group;
	bool is_copy_wrong; /* OpenSM's own copy has something else */
};

/* Looks at all trees.  Any thread.  Takes osm->lock, shared, for 2 ms at a time.  NULL: memory is
 * short, or OpenSM ends. */
struct triad_trees *triad_trees_look(struct osm_opensm *osm);
void triad_trees_free(struct triad_trees *trees); /* accepts NULL */

/* Multicast LIDs whose trees the routing engine did not keep: inferred, or not known. */
uint32_t triad_trees_n_not_kept(const struct triad_trees *trees);

/* Ports from 16 * 'position' on of the switch 'node', for a LID from 0xc000 on that its table
 * has room for.  The caller holds osm->lock. */
struct triad_trees_row triad_trees_row(const struct triad_trees *trees,
	struct osm_opensm *osm, osm_node_t *node, unsigned mlid, unsigned position);

#endif
