/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What share of its paths to the top each switch keeps when links go.
 *
 * Model: the capacity rule of CorrOpt [Zhuo, Ghobadi, Mahajan, Foerster, Krishnamurthy,
 * Anderson: Understanding and Mitigating Packet Corruption in Data Center Networks,
 * SIGCOMM 2017].  A path leads up, from level to level (routes/layout.h), to a switch without
 * links up: parts of a fabric may be of different height.  Each of parallel links is a path of
 * its own.  The paths of a switch are the sum of those of the switches that it has links up to.
 * A share is the number of paths that are left divided by the number if no link were missing.
 *
 * Links that are missing (down, or out of routing) count as paths that were lost, where
 * both ends are switches of the fabric.
 *
 * Only a tree of two levels or more has shares.  Elsewhere nothing is known: NAN.
 *
 * Thread-safety: one thread.  Memory: 5 octets for each port of a switch, 28 for each
 * switch; the layout is borrowed.  Time: one pass over the links for each call. */
#ifndef TRIAD_HEAL_CAPACITY_H
#define TRIAD_HEAL_CAPACITY_H

#include "damp/links.h"
#include "routes/layout.h"

struct triad_heal_capacity;

struct triad_heal_share {
	/* The least of those that lose paths; 1: none does; NAN: not known. */
	double left;
	uint32_t sw; /* of that switch, by its number; or TRIAD_FABRIC_NONE */
	uint32_t
		n_hosts_one; /* at switches that have one path then, and have more now */
};

/* Returns 0 or ENOMEM. */
int triad_heal_capacity_new(const struct triad_routes_layout *layout,
	struct triad_heal_capacity **capacity);
void triad_heal_capacity_free(struct triad_heal_capacity *capacity); /* accepts NULL */

/* A link that is missing, or goes.  One that is not known is ignored. */
void triad_heal_capacity_remove(
	struct triad_heal_capacity *capacity, const struct triad_damp_ends *ends);

/* What would be left if this link went, too; one that is not known leaves NAN. */
struct triad_heal_share triad_heal_capacity_without(
	struct triad_heal_capacity *capacity, const struct triad_damp_ends *ends);

#endif
