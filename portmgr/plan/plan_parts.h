/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of the plan:
 *
 *     plan.c         the items
 *     plan_desired.c  which nodes are expected to be up
 *     plan_text.c    an item in words
 *
 * Thread-safety: as the plan. */
#ifndef TRIAD_PORTMGR_PLAN_PARTS_H
#define TRIAD_PORTMGR_PLAN_PARTS_H

#include "portmgr/plan/plan.h"

/* Finds the nodes that are expected to be up.  'is_wanted' has an entry for each node
 * of the fabric, all false at first.  Returns 0 or ENOMEM. */
int triad_plan_find_desired(const struct triad_plan_input *input, bool *is_wanted);

#endif
