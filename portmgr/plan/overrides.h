/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which stopped items of the plan the operator has approved.
 *
 * Bounds: TRIAD_OVERRIDES_MAX of them.  Thread-safety: none.  Memory: none of its own; begin
 * with zeroes. */
#ifndef TRIAD_PORTMGR_OVERRIDES_H
#define TRIAD_PORTMGR_OVERRIDES_H

#include "portmgr/plan/plan.h"

#define TRIAD_OVERRIDES_MAX 64u

struct triad_overrides {
	uint32_t n;
	struct triad_plan_override all[TRIAD_OVERRIDES_MAX]; /* the oldest first */
};

/* For the item as it is.  Where there is no room the oldest one is forgotten: its port has
 * to be approved again. */
void triad_overrides_add(
	struct triad_overrides *overrides, const struct triad_plan_item *item);
/* One override is for one action. */
void triad_overrides_remove(
	struct triad_overrides *overrides, uint64_t node_guid, uint8_t port);
/* Forgets those that no item of this plan, which was made with them, makes use of: an
 * override is for the item that was seen, not for one that comes later. */
void triad_overrides_keep_used(
	struct triad_overrides *overrides, const struct triad_plan *plan);

#endif
