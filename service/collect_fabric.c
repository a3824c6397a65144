/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Chooses the fabric to collect from, the own one or a manager's; and the part of it
 * that this process sweeps. */
#include <stdlib.h>

#include "collect/distance.h"
#include "service/collect_parts.h"
#include "service/local_port.h"
#include "triad/clock.h"

/* The least time between two parts: ownership changes node by node. */
#define PART_US TRIAD_US_PER_S
/* A manager's fabric expires after so many liveness times without a manager's
 * message. */
#define GIVEN_TOPOLOGY_LIVES 20

/* Our port's P_Keys are polled: no event reports their change. */
#define PKEYS_US (10 * TRIAD_US_PER_S)

/* --- partitions --- */

/* Whether our port's P_Keys have changed.  A table that can't be read counts as
 * unchanged. */
static bool read_own_pkeys(struct triad_collect *collect, uint64_t now_us)
{
	uint16_t pkeys[TRIAD_PKEYS_MAX];
	size_t n = triad_local_port_pkeys(collect->port_guid, pkeys, TRIAD_PKEYS_MAX);

	collect->pkeys_us = now_us;
	return n && triad_member_set_pkeys(collect->member, pkeys, (uint32_t)n);
}

/* Logs the number of nodes that are apart, once for each change. */
static void log_apart(struct triad_collect *collect)
{
	uint32_t n = triad_member_n_apart(collect->member);

	if (n && n != collect->n_apart_logged)
		triad_log_write(collect->log, TRIAD_LOG_WARNING,
			"collect: %u nodes share no partition with this port: they are left "
			"to other agents; if none can ask them either, make this port a full "
			"member of a partition that they are in (partitions.conf of OpenSM)",
			n);
	else if (!n && collect->n_apart_logged)
		triad_log_write(collect->log, TRIAD_LOG_INFO,
			"collect: all nodes share a partition with this port again");
	collect->n_apart_logged = n;
}

void triad_collect_look_at_pkeys(struct triad_collect *collect, uint64_t now_us)
{
	if (collect->fabric && now_us - collect->pkeys_us >= PKEYS_US &&
		read_own_pkeys(collect, now_us))
		triad_collect_put_fabric(collect, collect->fabric,
			triad_member_topology(collect->member));
}

/* --- the fabric --- */

void triad_collect_put_fabric(
	struct triad_collect *collect, struct triad_fabric *fabric, uint64_t hash)
{
	uint64_t now_us = triad_clock_now_us();

	if (collect->mode == TRIAD_COLLECT_AGENT)
		(void)read_own_pkeys(collect, now_us);
	if (triad_member_set_fabric(collect->member, fabric, hash, now_us)) {
		triad_log_write(collect->log, TRIAD_LOG_ERROR,
			"collect: not enough memory for the new topology; the old one "
			"stays");
		return;
	}
	triad_fabric_ref(fabric);
	triad_fabric_unref(collect->fabric);
	collect->fabric = fabric;
	collect->is_part_due = true;
	if (collect->mode == TRIAD_COLLECT_AGENT)
		log_apart(collect);
}

void triad_collect_take_topology(
	void *context, struct triad_fabric *fabric, uint64_t hash)
{
	struct triad_collect *collect = context;

	triad_fabric_ref(fabric);
	triad_fabric_unref(collect->topology);
	collect->topology = fabric;
	collect->topology_hash = hash;
	/* Our own fabric is kept, too: it is used when the manager's expires. */
	collect->topology_us = triad_clock_now_us();
	triad_collect_put_fabric(collect, fabric, hash);
}

/* The hook take_fabric().  The own fabric is in force only without a manager's one. */
bool triad_collect_take_fabric(void *context, struct triad_fabric *fabric)
{
	struct triad_collect *collect = context;

	triad_fabric_ref(fabric);
	triad_fabric_unref(collect->own_fabric);
	collect->own_fabric = fabric;
	if (!collect->member)
		return false;
	if (!collect->topology)
		triad_collect_put_fabric(collect, fabric, 0);
	return collect->mode != TRIAD_COLLECT_MANAGER;
}

static bool hears_manager(const struct triad_collect *collect, uint64_t now_us)
{
	const struct triad_peers *peers = triad_member_peers(collect->member);

	for (unsigned i = 0; i < peers->n; i++)
		if (peers->entries[i].alive.is_manager &&
			triad_member_is_received(
				collect->member, peers->entries[i].id, now_us))
			return true;
	return false;
}

bool triad_collect_is_handed(const struct triad_collect *collect, uint64_t now_us)
{
	uint64_t most_us = GIVEN_TOPOLOGY_LIVES * COLLECT_LIVENESS_US;

	return collect->topology && now_us - collect->topology_us < most_us;
}

/* Drops a manager's fabric that has expired, if there is an own one. */
void triad_collect_check_topology(struct triad_collect *collect, uint64_t now_us)
{
	if (!collect->topology)
		return;
	if (hears_manager(collect, now_us))
		collect->topology_us = now_us;
	if (triad_collect_is_handed(collect, now_us) || !collect->own_fabric)
		return;
	triad_fabric_unref(collect->topology);
	collect->topology = NULL;
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
		return; /* tried again after PART_US */
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		is_own[i] = triad_member_owns(collect->member, i);
	if (!triad_distance_part(fabric, is_own, &part)) {
		triad_collector_set_fabric(collect->collector, part);
		triad_fabric_unref(part);
		/* So new nodes need not wait for the next period. */
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
