/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which fabric is collected from, one's own or one handed down; and which part of it is
 * swept here. */
#include <stdlib.h>

#include "collect/reach.h"
#include "service/collect_parts.h"
#include "triad/clock.h"

/* Between two parts: ownership changes node by node. */
#define PART_US TRIAD_US_PER_S
/* A fabric that was handed down is given up when its manager is not heard for so many
 * liveness times. */
#define HANDOUT_LIVES 20

/* --- the fabric --- */

void triad_collect_put_fabric(
	struct triad_collect *collect, struct triad_fabric *fabric, uint64_t hash)
{
	if (triad_member_set_fabric(
		    collect->member, fabric, hash, triad_clock_now_us())) {
		triad_log_write(collect->log, TRIAD_LOG_ERROR,
			"collect: not enough memory for the new topology; the old one "
			"stays");
		return;
	}
	triad_fabric_ref(fabric);
	triad_fabric_unref(collect->fabric);
	collect->fabric = fabric;
	collect->is_part_due = true;
}

void triad_collect_take_handout(
	void *context, struct triad_fabric *fabric, uint64_t hash)
{
	struct triad_collect *collect = context;

	if (collect->conf.collect.topology != TRIAD_TOPOLOGY_AUTO)
		return;
	triad_fabric_ref(fabric);
	triad_fabric_unref(collect->handout);
	collect->handout = fabric;
	collect->handout_hash = hash;
	collect->handout_us = triad_clock_now_us();
	triad_collect_put_fabric(collect, fabric, hash);
}

/* What this process knows of the fabric counts while no manager hands one down. */
bool triad_collect_take_fabric(void *context, struct triad_fabric *fabric)
{
	struct triad_collect *collect = context;

	triad_fabric_ref(fabric);
	triad_fabric_unref(collect->own_fabric);
	collect->own_fabric = fabric;
	if (!collect->member)
		return false;
	if (!collect->handout)
		triad_collect_put_fabric(collect, fabric, 0);
	return collect->mode != TRIAD_COLLECT_MANAGER;
}

static bool hears_manager(const struct triad_collect *collect, uint64_t now_us)
{
	const struct triad_roster *roster = triad_member_roster(collect->member);

	for (unsigned i = 0; i < roster->n; i++)
		if (roster->entries[i].alive.is_manager &&
			triad_member_hears(
				collect->member, roster->entries[i].id, now_us))
			return true;
	return false;
}

bool triad_collect_is_handed(const struct triad_collect *collect, uint64_t now_us)
{
	uint64_t most_us =
		HANDOUT_LIVES * collect->conf.collect.liveness_ms * TRIAD_US_PER_MS;

	return collect->handout && now_us - collect->handout_us < most_us;
}

/* A fabric that nobody hands down any more is given up, when there is one of our own.
 */
void triad_collect_look_at_handout(struct triad_collect *collect, uint64_t now_us)
{
	if (!collect->handout)
		return;
	if (hears_manager(collect, now_us))
		collect->handout_us = now_us;
	if (triad_collect_is_handed(collect, now_us) || !collect->own_fabric)
		return;
	triad_fabric_unref(collect->handout);
	collect->handout = NULL;
	triad_collect_put_fabric(collect, collect->own_fabric, 0);
}

/* --- the part that is swept here --- */

static void make_part(struct triad_collect *collect, uint64_t now_us)
{
	const struct triad_fabric *fabric = collect->fabric;
	bool *is_own = calloc(fabric->n_nodes + 1, sizeof(*is_own));
	struct triad_fabric *part;

	collect->part_us = now_us;
	if (!is_own)
		return;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		is_own[i] = triad_member_owns(collect->member, i);
	if (!triad_reach_part(fabric, is_own, &part)) {
		triad_collector_set_fabric(collect->collector, part);
		triad_fabric_unref(part);
		/* What is new is not to wait for a period. */
		triad_collector_sweep_now(collect->collector);
		collect->is_part_due = false;
		collect->n_changes =
			triad_claims_changes(triad_member_claims(collect->member));
	}
	free(is_own);
}

/* Returns when the next part is due, if one is. */
uint64_t triad_collect_look_at_part(struct triad_collect *collect, uint64_t now_us)
{
	uint64_t n_changes;

	if (!collect->fabric)
		return UINT64_MAX;
	n_changes = triad_claims_changes(triad_member_claims(collect->member));
	if (!collect->is_part_due && n_changes == collect->n_changes)
		return UINT64_MAX;
	if (collect->part_us && now_us - collect->part_us < PART_US)
		return collect->part_us + PART_US;
	make_part(collect, now_us);
	return UINT64_MAX;
}
