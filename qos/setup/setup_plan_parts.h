/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the files of a plan share: setup_plan.c compares tables, setup_fits.c and
 * setup_findings.c look at scopes, setup_paths.c at paths. */
#ifndef TRIAD_QOS_SETUP_PLAN_PARTS_H
#define TRIAD_QOS_SETUP_PLAN_PARTS_H

#include <string.h>

#include "qos/setup/setup_parts.h"
#include "qos/setup/setup_plan.h"
#include "qos/setup/desired.h"

/* --- sets of scopes of one kind --- */

struct triad_scope_set {
	uint64_t words[TRIAD_SETUP_MAX_WORDS];
};

static inline void triad_scope_set_clear(struct triad_scope_set *set, uint32_t n_words)
{
	memset(set->words, 0, n_words * sizeof(set->words[0]));
}

static inline void triad_scope_set_add(struct triad_scope_set *set, uint32_t scope)
{
	set->words[scope / 64] |= UINT64_C(1) << scope % 64;
}

static inline bool triad_scope_set_has(
	const struct triad_scope_set *set, uint32_t scope)
{
	return set->words[scope / 64] >> scope % 64 & 1;
}

/* Moves '*scope' to the next one that is not before it; false when there is none. */
bool triad_scope_set_next(
	const struct triad_scope_set *set, uint32_t n_words, uint32_t *scope);

/* --- where scopes fit --- */

/* The scopes that a node's ports fit: as out-ports, if they have tables of the kind (or
 * for a scope that says no more, a high limit), and as in-ports; numbers aside, and
 * with them. */
struct triad_setup_fits {
	struct triad_scope_set out_aside, out, in_aside, in;
};

bool triad_setup_has_tables(
	const struct triad_desired *desired, uint32_t port, bool is_vlarb);

/* 'only_limit': VLArb scopes that say a high limit alone. */
void triad_setup_fit_node(const struct triad_desired *desired, uint32_t node,
	bool is_vlarb, const struct triad_scope_set *only_limit,
	struct triad_setup_fits *fits);

/* --- parts of a plan --- */

/* SLs that packets may have: of partitions, of what is asked of the SM, of the policy's
 * levels; a bit for each. */
uint16_t triad_setup_sls_in_use(const struct triad_desired *desired);

/* Fills in the findings.  Returns 0 or ENOMEM. */
int triad_setup_find(
	const struct triad_desired *desired, struct triad_setup_plan *plan);

/* Fills in paths, dead places and who is cut off.  Returns 0 or ENOMEM. */
int triad_setup_follow_paths(
	const struct triad_desired *desired, struct triad_setup_plan *plan);

#endif
