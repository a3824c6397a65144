/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is known of bad links now, and the plan of it (heal/plan.h): from alerts, the last check
 * of routes, links that are down or held, and [heal].
 *
 * Thread-safety: any thread, each with a view of its own.  Memory: the view owns all that it
 * points to.  Time: that of the plan. */
#ifndef TRIAD_SERVICE_HEAL_VIEW_H
#define TRIAD_SERVICE_HEAL_VIEW_H

#include "heal/evidence.h"
#include "heal/plan.h"
#include "perfmgr/view.h"

#define TRIAD_HEAL_MAX_SMS 32u

struct triad_route_result;
struct triad_service;

struct triad_heal_view {
	struct triad_view *view;           /* of the counters */
	struct triad_route_result *routes; /* NULL: not of the present fabric */
	const char *no_routes;             /* why; or NULL */
	const char *no_evidence;           /* why counters say nothing; or NULL */
	struct triad_heal_evidence evidence;
	struct triad_heal_out *out;
	uint32_t n_out, n_taken; /* links that carry nothing; of these, that are held */
	uint64_t sm_guids[TRIAD_HEAL_MAX_SMS];
	struct triad_heal_input input;
	struct triad_heal_plan *plan;
};

/* Returns 0; EAGAIN: counters have no view of a fabric yet; or ENOMEM.  The view is to be
 * cleared in any case.  'max_counted': of heal/plan.h. */
int triad_heal_view_make(struct triad_heal_view *view, struct triad_service *service,
	uint32_t max_counted);
void triad_heal_view_clear(struct triad_heal_view *view);

#endif
