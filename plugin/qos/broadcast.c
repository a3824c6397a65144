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

#include "qos/rates.h"
#include "qos/rules/membership.h"

/* What packets to the group are sent with. */
struct traits {
	uint8_t sl, mtu, rate, tclass; /* MTU and rate coded as in PathRecord */
};

struct group {
	ib_gid_t mgid;
	uint16_t pkey;         /* without the membership bit */
	struct traits made;    /* as OpenSM made it */
	struct traits given;   /* what we put there */
	uint32_t level;        /* of the policy; or TRIAD_POLICY_NONE */
	bool is_there, is_new; /* is_new: not told yet */
};

struct triad_broadcast {
	struct osm_opensm *osm;
	struct triad_log *log;
	pthread_mutex_t lock; /* of what follows */
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

/* Selectors stay: "exactly". */
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

static int read_partitions(
	const struct osm_opensm *osm, struct triad_fabric_partition **list, uint32_t *n)
{
	const cl_qmap_t *from = &osm->subn.prtn_pkey_tbl;

	*n = 0;
	*list = calloc(cl_qmap_count(from) + 1, sizeof(**list));
	if (!*list)
		return ENOMEM;
	for (const cl_map_item_t *item = cl_qmap_head(from); item != cl_qmap_end(from);
		item = cl_qmap_next(item)) {
		const osm_prtn_t *partition = (const osm_prtn_t *)item;
		struct triad_fabric_partition *to = &(*list)[(*n)++];

		to->pkey = cl_ntoh16(partition->pkey) & 0x7fff;
		memcpy(to->name, partition->name, sizeof(to->name) - 1);
	}
	return 0;
}

/* The first that names the partition, by its name or its P_Key; as for paths. */
static uint32_t level_of(const struct triad_policy *policy,
	const struct triad_partition_names *names, uint16_t pkey)
{
	for (uint32_t i = 0; policy && i < policy->n_partition_levels; i++) {
		const struct triad_policy_partition_level *at =
			&policy->partition_levels[i];
		bool is_it = at->partition
			? triad_partition_names_find(names, at->partition) == pkey
			: triad_ranges_has(&at->pkeys, pkey);

		if (is_it)
			return at->level;
	}
	return TRIAD_POLICY_NONE;
}

static struct traits wish(
	const struct triad_broadcast *groups, const struct group *group)
{
	struct traits traits = group->made;
	const struct triad_policy_level *level;

	if (group->level == TRIAD_POLICY_NONE)
		return traits;
	level = &groups->policy->levels[group->level];
	if (level->has_sl)
		traits.sl = level->sl;
	if (level->has_mtu_limit)
		traits.mtu = level->mtu_limit;
	if (level->has_rate_limit)
		traits.rate = level->rate_limit;
	if (level->has_tclass)
		traits.tclass = level->tclass;
	return traits;
}

/* --- all groups --- */

static struct group *place_of(struct triad_broadcast *groups, const osm_mgrp_t *mgrp)
{
	struct traits traits = read_traits(mgrp);
	struct group *grown;

	for (uint32_t i = 0; i < groups->n; i++)
		if (!memcmp(&groups->groups[i].mgid, &mgrp->mcmember_rec.mgid,
			    sizeof(ib_gid_t)))
			return &groups->groups[i];
	if (groups->n == TRIAD_BROADCAST_MAX)
		return NULL;
	grown = realloc(groups->groups, (groups->n + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	groups->groups = grown;
	grown[groups->n] = (struct group){.mgid = mgrp->mcmember_rec.mgid,
		.made = traits,
		.given = traits,
		.level = TRIAD_POLICY_NONE};
	return &grown[groups->n++];
}

static void apply_to(struct triad_broadcast *groups,
	const struct triad_partition_names *names, osm_mgrp_t *mgrp)
{
	struct group *group = place_of(groups, mgrp);
	struct traits now = read_traits(mgrp), wanted;

	if (!group)
		return;
	group->is_there = true;
	/* OpenSM made it anew. */
	if (!are_same(&now, &group->given))
		group->made = now;
	group->pkey = cl_ntoh16(mgrp->mcmember_rec.pkey) & 0x7fff;
	group->level = level_of(groups->policy, names, group->pkey);
	wanted = wish(groups, group);
	group->given = wanted;
	if (are_same(&now, &wanted))
		return;
	write_traits(mgrp, &wanted);
	group->is_new = true;
}

static void drop_gone(struct triad_broadcast *groups)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < groups->n; i++)
		if (groups->groups[i].is_there)
			groups->groups[n++] = groups->groups[i];
	groups->n = n;
}

/* The caller holds both locks. */
static void apply_to_all(struct triad_broadcast *groups)
{
	cl_fmap_t *from = &groups->osm->subn.mgrp_mgid_tbl;
	struct triad_fabric_partition *partitions;
	struct triad_partition_names names;
	uint32_t n;

	if (read_partitions(groups->osm, &partitions, &n))
		return;
	if (!triad_partition_names_init(&names, partitions, n)) {
		for (uint32_t i = 0; i < groups->n; i++)
			groups->groups[i].is_there = false;
		for (cl_fmap_item_t *item = cl_fmap_head(from);
			item != cl_fmap_end(from); item = cl_fmap_next(item))
			if (is_broadcast((osm_mgrp_t *)item))
				apply_to(groups, &names, (osm_mgrp_t *)item);
		drop_gone(groups);
		free(names.items);
	}
	free(partitions);
}

/* --- the log --- */

static void tell(struct triad_broadcast *groups, const struct group *group)
{
	const struct traits *given = &group->given, *made = &group->made;

	if (group->level == TRIAD_POLICY_NONE)
		triad_log_write(groups->log, TRIAD_LOG_INFO,
			"partition 0x%04x: its broadcast group is as OpenSM made it "
			"again: SL %u, MTU %u, %g Gb/s, TClass %u",
			group->pkey, made->sl, triad_mtu_octets(made->mtu),
			triad_rate_tenths(made->rate) / 10.0, made->tclass);
	else
		triad_log_write(groups->log, TRIAD_LOG_WARNING,
			"partition 0x%04x: its broadcast group gets SL %u, MTU %u, %g "
			"Gb/s, TClass %u by the level '%s' of %s, which wins over "
			"OpenSM's SL %u, MTU %u, %g Gb/s, TClass %u (partitions.conf); "
			"members learn of it when they join again",
			group->pkey, given->sl, triad_mtu_octets(given->mtu),
			triad_rate_tenths(given->rate) / 10.0, given->tclass,
			groups->policy->levels[group->level].name,
			groups->policy->source, made->sl, triad_mtu_octets(made->mtu),
			triad_rate_tenths(made->rate) / 10.0, made->tclass);
}

static void apply(struct triad_broadcast *groups)
{
	/* Nothing was ever changed, and nothing is to be. */
	if (!groups->policy && !groups->n)
		return;
	cl_plock_excl_acquire(&groups->osm->lock);
	if (!osm_exit_flag)
		apply_to_all(groups);
	cl_plock_release(&groups->osm->lock);
	for (uint32_t i = 0; i < groups->n; i++) {
		if (groups->groups[i].is_new)
			tell(groups, &groups->groups[i]);
		groups->groups[i].is_new = false;
	}
	if (!groups->policy)
		groups->n = 0;
}

void triad_broadcast_apply(struct triad_broadcast *groups)
{
	pthread_mutex_lock(&groups->lock);
	apply(groups);
	pthread_mutex_unlock(&groups->lock);
}

void triad_broadcast_set_policy(
	struct triad_broadcast *groups, struct triad_policy *policy)
{
	pthread_mutex_lock(&groups->lock);
	if (policy != groups->policy) {
		triad_policy_unref(groups->policy);
		groups->policy = policy ? triad_policy_ref(policy) : NULL;
		apply(groups);
	}
	pthread_mutex_unlock(&groups->lock);
}
