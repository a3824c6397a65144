/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The plan's items that the operator has approved although a guard stops them.
 *
 * Bounds: TRIAD_OVERRIDES_MAX of them.  Thread-safety: none.  Memory: none of its own;
 * begin with zeroes. */
#ifndef TRIAD_PORTMGR_OVERRIDES_H
#define TRIAD_PORTMGR_OVERRIDES_H

#include "portmgr/plan/plan.h"

#define TRIAD_OVERRIDES_MAX 64u

struct triad_overrides {
	uint32_t n;
	struct triad_plan_override all[TRIAD_OVERRIDES_MAX]; /* the oldest first */
};

/* Adds an override for the item as it is now.  If there is no room, forgets the oldest
 * one: its port must be approved again. */
void triad_overrides_add(
	struct triad_overrides *overrides, const struct triad_plan_item *item);
/* Removes the override after the action: it is for one action only. */
void triad_overrides_remove(
	struct triad_overrides *overrides, uint64_t node_guid, uint8_t port);
/* Forgets overrides that no item of this plan uses; the plan was made with them.  An
 * override is only for the item that the operator saw, not for a later one. */
void triad_overrides_keep_used(
	struct triad_overrides *overrides, const struct triad_plan *plan);

#endif
