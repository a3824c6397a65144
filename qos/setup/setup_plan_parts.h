/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of a plan: setup_plan.c compares tables, setup_fits.c and setup_findings.c
 * examine scopes, setup_paths.c paths. */
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

/* Sets '*scope' to the first scope of the set from '*scope' on; false when there is
 * none. */
bool triad_scope_set_next(
	const struct triad_scope_set *set, uint32_t n_words, uint32_t *scope);

/* --- where scopes fit --- */

/* The scopes that fit a node's ports: as out-ports, if they have tables of the kind
 * (or, for a scope with only a high limit, a high limit), and as in-ports; each without
 * ('_aside') and with regard to port numbers. */
struct triad_setup_fits {
	struct triad_scope_set out_aside, out, in_aside, in;
};

bool triad_setup_has_tables(
	const struct triad_desired *desired, uint32_t port, bool is_vlarb);

/* 'only_limit': VLArb scopes with only a high limit. */
void triad_setup_fit_node(const struct triad_desired *desired, uint32_t node,
	bool is_vlarb, const struct triad_scope_set *only_limit,
	struct triad_setup_fits *fits);

/* --- parts of a plan --- */

/* SLs that packets may have, a bit for each: of partitions, of answers of the SM, of
 * the policy's levels. */
uint16_t triad_setup_sls_in_use(const struct triad_desired *desired);

/* Fills in the findings.  Returns 0 or ENOMEM. */
int triad_setup_find(
	const struct triad_desired *desired, struct triad_setup_plan *plan);

/* Fills in paths, dead places and the ports that are cut off.  Returns 0 or ENOMEM. */
int triad_setup_follow_paths(
	const struct triad_desired *desired, struct triad_setup_plan *plan);

#endif
