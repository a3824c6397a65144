/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/qos/broadcast.h"

#include <errno.h>
#include <inttypes.h>
#include <opensm/osm_multicast.h>
#include <opensm/osm_partition.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/qos/partitions.h"
#include "ib/rates.h"
#include "qos/rules/membership.h"

/* A group's parameters for packets. */
struct traits {
	uint8_t sl, mtu, rate, tclass; /* MTU and rate coded as in PathRecord */
};

struct group {
	ib_gid_t mgid;
	uint16_t pkey;       /* without the membership bit */
	struct traits made;  /* as OpenSM made it */
	struct traits given; /* the values that we wrote */
	uint32_t level;      /* of the policy; or TRIAD_POLICY_NONE */
	bool is_held;        /* left unchanged until its members have left */
	bool is_new;         /* not logged yet */
};

struct triad_broadcast {
	struct osm_opensm *osm;
	struct triad_log *log;
	pthread_mutex_t lock; /* protects what follows */
	struct triad_policy *policy;
	struct group *groups;
	uint32_t n;
};

struct triad_broadcast *triad_broadcast_new(
	struct osm_opensm *osm, struct triad_log *log)
{
	struct triad_broadcast *groups = calloc(1, sizeof(*groups));

	if (!groups)
		return NULL;
	groups->osm = osm;
	groups->log = log;
	pthread_mutex_init(&groups->lock, NULL);
	return groups;
}

void triad_broadcast_free(struct triad_broadcast *groups)
{
	if (!groups)
		return;
	triad_policy_unref(groups->policy);
	free(groups->groups);
	pthread_mutex_destroy(&groups->lock);
	free(groups);
}

/* --- OpenSM's records --- */

static struct traits read_traits(const osm_mgrp_t *mgrp)
{
	const ib_member_rec_t *record = &mgrp->mcmember_rec;
	uint8_t sl;

	ib_member_get_sl_flow_hop(record->sl_flow_hop, &sl, NULL, NULL);
	return (struct traits){.sl = sl,
		.mtu = record->mtu & 0x3f,
		.rate = record->rate & 0x3f,
		.tclass = record->tclass};
}

/* Keeps the selectors, which are "exactly". */
static void write_traits(osm_mgrp_t *mgrp, const struct traits *traits)
{
	ib_member_rec_t *record = &mgrp->mcmember_rec;
	uint32_t flow;
	uint8_t hops;

	ib_member_get_sl_flow_hop(record->sl_flow_hop, NULL, &flow, &hops);
	record->sl_flow_hop = ib_member_set_sl_flow_hop(traits->sl, flow, hops);
	record->mtu = (uint8_t)((record->mtu & 0xc0) | traits->mtu);
	record->rate = (uint8_t)((record->rate & 0xc0) | traits->rate);
	record->tclass = traits->tclass;
}

static bool are_same(const struct traits *a, const struct traits *b)
{
	return a->sl == b->sl && a->mtu == b->mtu && a->rate == b->rate &&
		a->tclass == b->tclass;
}

/* The IPv4 broadcast group that partitions.conf made: ff1?:401b:P_Key::ffff:ffff
 * [RFC 4391, 4]. */
static bool is_broadcast(const osm_mgrp_t *mgrp)
{
	const uint8_t *mgid = mgrp->mcmember_rec.mgid.raw;

	return mgrp->well_known && mgid[0] == 0xff && mgid[2] == 0x40 &&
		mgid[3] == 0x1b && mgid[12] == 0xff && mgid[13] == 0xff &&
		mgid[14] == 0xff && mgid[15] == 0xff;
}

/* --- levels --- */

/* The policy's levels of partitions.  'pkeys' has the P_Key of each level that names
 * its partition; 0: there is no such partition. */
struct levels {
	const struct triad_policy *policy; /* NULL: none */
	uint16_t *pkeys;
};

static int find_levels(const struct osm_opensm *osm, const struct triad_policy *policy,
	struct levels *levels)
{
	uint32_t n = 0, n_levels = policy ? policy->n_partition_levels : 0;
	struct triad_fabric_partition *partitions;
	struct triad_partition_names names = {0};
	int error = triad_partitions_read(osm, &partitions, &n);

	*levels = (struct levels){.policy = policy};
	if (error)
		return error;
	levels->pkeys = calloc(n_levels + 1, sizeof(*levels->pkeys));
	error = triad_partition_names_init(&names, partitions, n);
	if (!levels->pkeys)
		error = ENOMEM;
	for (uint32_t i = 0; !error && i < n_levels; i++)
		if (policy->partition_levels[i].partition)
			levels->pkeys[i] = triad_partition_names_find(
				&names, policy->partition_levels[i].partition);
	free(names.items);
	free(partitions);
	return error;
}

/* The first level that names the partition, by name or P_Key, as for paths. */
static uint32_t level_of(const struct levels *levels, uint16_t pkey)
{
	const struct triad_policy *policy = levels->policy;

	for (uint32_t i = 0; policy && i < policy->n_partition_levels; i++) {
		const struct triad_policy_partition_level *at =
			&policy->partition_levels[i];

		if (at->partition ? levels->pkeys[i] == pkey
				  : triad_ranges_has(&at->pkeys, pkey))
			return at->level;
	}
	return TRIAD_POLICY_NONE;
}

/* --- capabilities of members --- */

/* Finds the capabilities that all CA and router ports of a set share.  Looks ports up
 * by GUID, because OpenSM's pointers in the set may be stale. */
static void look_at_members(
	const struct osm_opensm *osm, const cl_map_t *members, struct traits *can)
{
	for (cl_map_iterator_t i = cl_map_head(members); i != cl_map_end(members);
		i = cl_map_next(i)) {
		const osm_port_t *port =
			osm_get_port_by_guid(&osm->subn, cl_map_key(i));
		const ib_port_info_t *info;
		uint8_t rate;

		if (!port || port->p_node->sw)
			continue;
		info = &port->p_physp->port_info;
		rate = ib_port_info_compute_rate(
			info, info->capability_mask & IB_PORT_CAP_HAS_EXT_SPEEDS);
		if (ib_port_info_get_mtu_cap(info) < can->mtu)
			can->mtu = ib_port_info_get_mtu_cap(info);
		if (triad_rate_rank(rate) < triad_rate_rank(can->rate))
			can->rate = rate;
	}
}

/* OpenSM lets no port join a group whose MTU or rate the port can't do.  So limits a
 * raise to what all members of the partition can; a level may lower both freely. */
static void fit_to_members(
	const struct osm_opensm *osm, const struct group *group, struct traits *wanted)
{
	struct traits can = *wanted;
	const cl_qmap_t *partitions = &osm->subn.prtn_pkey_tbl;
	const osm_prtn_t *partition =
		(const osm_prtn_t *)cl_qmap_get(partitions, cl_hton16(group->pkey));
	const struct traits *made = &group->made;

	if (wanted->mtu <= made->mtu &&
		triad_rate_rank(wanted->rate) <= triad_rate_rank(made->rate))
		return;
	if ((const cl_map_item_t *)partition != cl_qmap_end(partitions)) {
		look_at_members(osm, &partition->full_guid_tbl, &can);
		look_at_members(osm, &partition->part_guid_tbl, &can);
	}
	if (wanted->mtu > made->mtu)
		wanted->mtu = can.mtu > made->mtu ? can.mtu : made->mtu;
	if (triad_rate_rank(wanted->rate) > triad_rate_rank(made->rate))
		wanted->rate = triad_rate_rank(can.rate) > triad_rate_rank(made->rate)
			? can.rate
			: made->rate;
}

static struct traits desired_traits(const struct triad_broadcast *groups,
	const struct levels *levels, const struct group *group)
{
	struct traits traits = group->made;
	const struct triad_policy_level *level;

	if (group->level == TRIAD_POLICY_NONE)
		return traits;
	level = &levels->policy->levels[group->level];
	if (level->has_sl)
		traits.sl = level->sl;
	if (level->has_mtu_limit)
		traits.mtu = level->mtu_limit;
	if (level->has_rate_limit)
		traits.rate = level->rate_limit;
	if (level->has_tclass)
		traits.tclass = level->tclass;
	fit_to_members(groups->osm, group, &traits);
	return traits;
}

/* --- all groups --- */

/* Finds the old group of 'mgrp', or begins a new one.  Both lists are sorted by MGID,
 * as OpenSM's map is; '*at' walks through the old one. */
static struct group start_from(
	const struct triad_broadcast *groups, const osm_mgrp_t *mgrp, uint32_t *at)
{
	const ib_gid_t *mgid = &mgrp->mcmember_rec.mgid;
	struct traits now = read_traits(mgrp);
	struct group group = {.mgid = *mgid, .made = now, .given = now};

	while (*at < groups->n &&
		memcmp(&groups->groups[*at].mgid, mgid, sizeof(*mgid)) < 0)
		++*at;
	if (*at < groups->n && !memcmp(&groups->groups[*at].mgid, mgid, sizeof(*mgid)))
		group = groups->groups[*at];
	/* Other values than ours: OpenSM has created the group again. */
	if (!are_same(&now, &group.given))
		group.made = group.given = now;
	return group;
}

/* Members got SL, MTU and rate when they joined and would not learn new ones.  So
 * leaves a group unchanged until its members have left. */
static void apply_to(struct triad_broadcast *groups, const struct levels *levels,
	osm_mgrp_t *mgrp, struct group *group)
{
	struct traits wanted;
	bool was_held = group->is_held;

	group->pkey = cl_ntoh16(mgrp->mcmember_rec.pkey) & 0x7fff;
	group->level = level_of(levels, group->pkey);
	wanted = desired_traits(groups, levels, group);
	group->is_held = !are_same(&group->given, &wanted) && mgrp->full_members;
	group->is_new = group->is_held ? !was_held : !are_same(&group->given, &wanted);
	if (group->is_held)
		return;
	group->given = wanted;
	write_traits(mgrp, &wanted);
}

static uint32_t count_groups(const struct osm_opensm *osm)
{
	const cl_fmap_t *from = &osm->subn.mgrp_mgid_tbl;
	uint32_t n = 0;

	for (const cl_fmap_item_t *item = cl_fmap_head(from); item != cl_fmap_end(from);
		item = cl_fmap_next(item))
		n += is_broadcast((const osm_mgrp_t *)item);
	return n < TRIAD_BROADCAST_MAX ? n : TRIAD_BROADCAST_MAX;
}

/* The caller holds both locks.  Changes nothing when memory is short. */
static void apply_to_all(struct triad_broadcast *groups)
{
	cl_fmap_t *from = &groups->osm->subn.mgrp_mgid_tbl;
	uint32_t n = 0, at = 0, room = count_groups(groups->osm);
	struct group *found = calloc(room + 1, sizeof(*found));
	struct levels levels;

	if (!found || find_levels(groups->osm, groups->policy, &levels)) {
		free(found);
		return;
	}
	for (cl_fmap_item_t *item = cl_fmap_head(from);
		item != cl_fmap_end(from) && n < room; item = cl_fmap_next(item)) {
		osm_mgrp_t *mgrp = (osm_mgrp_t *)item;

		if (!is_broadcast(mgrp))
			continue;
		found[n] = start_from(groups, mgrp, &at);
		apply_to(groups, &levels, mgrp, &found[n++]);
	}
	free(levels.pkeys);
	free(groups->groups);
	groups->groups = found;
	groups->n = n;
}

/* --- the log --- */

static void log_group(struct triad_broadcast *groups, const struct group *group)
{
	const struct traits *given = &group->given, *made = &group->made;

	if (group->is_held)
		triad_log_write(groups->log, TRIAD_LOG_WARNING,
			"partition 0x%04x: its broadcast group stays as it is as long as "
			"it has members, who would not learn of another SL, MTU, rate or "
			"TClass: it changes when all have left, or with the next start "
			"of OpenSM",
			group->pkey);
	else if (group->level == TRIAD_POLICY_NONE)
		triad_log_write(groups->log, TRIAD_LOG_INFO,
			"partition 0x%04x: its broadcast group is as OpenSM made it "
			"again: SL %u, MTU %u, %g Gb/s, TClass %u",
			group->pkey, made->sl, triad_mtu_octets(made->mtu),
			triad_rate_tenths(made->rate) / 10.0, made->tclass);
	else
		triad_log_write(groups->log, TRIAD_LOG_WARNING,
			"partition 0x%04x: its broadcast group gets SL %u, MTU %u, %g "
			"Gb/s, TClass %u by the level '%s' of %s, which wins over "
			"OpenSM's SL %u, MTU %u, %g Gb/s, TClass %u (partitions.conf)",
			group->pkey, given->sl, triad_mtu_octets(given->mtu),
			triad_rate_tenths(given->rate) / 10.0, given->tclass,
			groups->policy->levels[group->level].name,
			groups->policy->source, made->sl, triad_mtu_octets(made->mtu),
			triad_rate_tenths(made->rate) / 10.0, made->tclass);
}

static void apply(struct triad_broadcast *groups)
{
	bool is_changed = false;

	/* There is no policy, and no group that one has changed. */
	if (!groups->policy && !groups->n)
		return;
	cl_plock_excl_acquire(&groups->osm->lock);
	if (!osm_exit_flag)
		apply_to_all(groups);
	cl_plock_release(&groups->osm->lock);
	/* Write the log without OpenSM's lock: a log may be slow. */
	for (uint32_t i = 0; i < groups->n; i++) {
		struct group *group = &groups->groups[i];

		if (group->is_new)
			log_group(groups, group);
		group->is_new = false;
		is_changed |= !are_same(&group->made, &group->given);
	}
	/* Without a policy, forget the groups once all are as OpenSM made them. */
	if (!groups->policy && !is_changed)
		groups->n = 0;
}

void triad_broadcast_apply(struct triad_broadcast *groups)
{
	/* The SM's thread calls this and must not wait.  If the lock is taken, the
	 * thread that has it does the same. */
	if (pthread_mutex_trylock(&groups->lock))
		return;
	apply(groups);
	pthread_mutex_unlock(&groups->lock);
}

void triad_broadcast_forget(struct triad_broadcast *groups)
{
	pthread_mutex_lock(&groups->lock);
	groups->n = 0;
	pthread_mutex_unlock(&groups->lock);
}

void triad_broadcast_set_policy(
	struct triad_broadcast *groups, struct triad_policy *policy)
{
	pthread_mutex_lock(&groups->lock);
	if (policy != groups->policy) {
		triad_policy_unref(groups->policy);
		groups->policy = policy ? triad_policy_ref(policy) : NULL;
	}
	apply(groups);
	pthread_mutex_unlock(&groups->lock);
}
