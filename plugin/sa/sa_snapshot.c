/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/sa/sa_snapshot.h"

#include <errno.h>
#include <opensm/osm_inform.h>
#include <opensm/osm_mcm_port.h>
#include <opensm/osm_multicast.h>
#include <opensm/osm_service.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "portmgr/sa/sa_set.h"
#include "triad/clock.h"

/* Room to allocate before each piece. */
#define PIECE_OCTETS (1u << 20)
/* Twice the limit of a set, so that the set can count what exceeds it. */
#define MAX_OCTETS (2u * TRIAD_SA_SET_MAX_OCTETS)

struct reader {
	struct osm_opensm *osm;
	struct triad_sa_snapshot *snapshot;
	uint64_t begun_us; /* of this piece */
	bool is_canceled;
	/* Keys of what was read last in OpenSM's maps. */
	ib_net64_t port_guid;
	bool has_mgid, has_member;
	ib_gid_t mgid;
	ib_net64_t member;
};

/* --- records --- */

static struct triad_sa_gid gid_of(ib_gid_t gid)
{
	return (struct triad_sa_gid){
		cl_ntoh64(gid.unicast.prefix), cl_ntoh64(gid.unicast.interface_id)};
}

static bool has_room(const struct triad_sa_snapshot *snapshot)
{
	return snapshot->room - snapshot->size >= TRIAD_SA_RECORD_SIZE;
}

static void add_record(struct reader *reader, const struct triad_sa_record *record)
{
	struct triad_sa_snapshot *snapshot = reader->snapshot;

	if (has_room(snapshot))
		snapshot->size += triad_sa_record_encode(
			record, snapshot->octets + snapshot->size);
}

static void add_group(struct reader *reader, const osm_mgrp_t *from)
{
	const ib_member_rec_t *of = &from->mcmember_rec;
	const struct triad_sa_record record = {.kind = TRIAD_SA_GROUP,
		.group = {.mgid = gid_of(of->mgid),
			.port_gid = gid_of(of->port_gid),
			.qkey = cl_ntoh32(of->qkey),
			.mlid = cl_ntoh16(from->mlid),
			.mtu = of->mtu,
			.tclass = of->tclass,
			.pkey = cl_ntoh16(of->pkey),
			.rate = of->rate,
			.pkt_life = of->pkt_life,
			.sl_flow_hop = cl_ntoh32(of->sl_flow_hop),
			.scope_state = of->scope_state,
			.is_proxy = of->proxy_join,
			.is_well_known = from->well_known}};

	add_record(reader, &record);
}

static void add_member(struct reader *reader, const osm_mgrp_t *group,
	const osm_mcm_alias_guid_t *from)
{
	const osm_mcm_port_t *base = from->p_base_mcm_port;
	const struct triad_sa_record record = {.kind = TRIAD_SA_MEMBER,
		.member = {.mgid = gid_of(group->mcmember_rec.mgid),
			.port_gid = gid_of(from->port_gid),
			.scope_state = from->scope_state,
			.is_proxy = from->proxy_join,
			.is_alias = base && base->port &&
				base->port->guid != from->alias_guid}};

	add_record(reader, &record);
}

static void add_subscription(struct reader *reader, const osm_infr_t *from)
{
	const ib_inform_info_record_t *record_of = &from->inform_record;
	const ib_inform_info_t *of = &record_of->inform_info;
	const osm_mad_addr_t *to = &from->report_addr;
	const struct triad_sa_record record = {.kind = TRIAD_SA_SUBSCRIPTION,
		.subscription = {.subscriber = gid_of(record_of->subscriber_gid),
			.number = cl_ntoh16(record_of->subscriber_enum),
			.gid = gid_of(of->gid),
			.lid_begin = cl_ntoh16(of->lid_range_begin),
			.lid_end = cl_ntoh16(of->lid_range_end),
			.is_generic = of->is_generic,
			.subscribe = of->subscribe,
			.trap_type = cl_ntoh16(of->trap_type),
			.trap_number = cl_ntoh16(of->g_or_v.generic.trap_num),
			.qpn_response_time =
				cl_ntoh32(of->g_or_v.generic.qpn_resp_time_val),
			.producer = cl_ntoh32(ib_inform_info_get_prod_type(of)),
			.lid = cl_ntoh16(to->dest_lid),
			.path_bits = to->path_bits,
			.static_rate = to->static_rate,
			.qpn = cl_ntoh32(to->addr_type.gsi.remote_qp),
			.qkey = cl_ntoh32(to->addr_type.gsi.remote_qkey),
			.pkey_index = to->addr_type.gsi.pkey_ix,
			.sl = to->addr_type.gsi.service_level}};

	add_record(reader, &record);
}

/* OpenSM stores what remained of the lease at its last check ('modified_time'). */
static uint64_t lease_end_s(const osm_svcr_t *from)
{
	if (from->service_record.service_lease == 0xFFFFFFFF)
		return TRIAD_SA_FOREVER;
	return (uint64_t)from->modified_time + from->lease_period;
}

static void add_service(struct reader *reader, const osm_svcr_t *from)
{
	const ib_service_record_t *of = &from->service_record;
	struct triad_sa_record record = {.kind = TRIAD_SA_SERVICE,
		.service = {.id = cl_ntoh64(of->service_id),
			.gid = gid_of(of->service_gid),
			.pkey = cl_ntoh16(of->service_pkey),
			.lease_s = cl_ntoh32(of->service_lease),
			.ends_s = lease_end_s(from)}};
	uint8_t *data = record.service.data;

	memcpy(record.service.key, of->service_key, sizeof(record.service.key));
	memcpy(record.service.name, of->service_name, sizeof(record.service.name));
	memcpy(data, of->service_data8, 16);
	memcpy(data + 16, of->service_data16, 16);
	memcpy(data + 32, of->service_data32, 16);
	memcpy(data + 48, of->service_data64, 16);
	add_record(reader, &record);
}

/* Skips the first entry of block 0, which is the port's own GUID. */
static bool has_aliases(const struct triad_sa_guids *guids)
{
	for (unsigned i = guids->block ? 0 : 1; i < TRIAD_SA_GUIDS_PER_BLOCK; i++)
		if (guids->guids[i])
			return true;
	return false;
}

static void add_guids(struct reader *reader, const osm_port_t *port)
{
	const osm_physp_t *physp = port->p_physp;
	unsigned n_blocks = 0;

	if (physp && physp->p_guids)
		n_blocks = (physp->port_info.guid_cap + TRIAD_SA_GUIDS_PER_BLOCK - 1u) /
			TRIAD_SA_GUIDS_PER_BLOCK;
	for (unsigned block = 0; block < n_blocks; block++) {
		struct triad_sa_record record = {.kind = TRIAD_SA_GUIDS,
			.guids = {.port_guid = cl_ntoh64(port->guid),
				.block = (uint8_t)block,
				.lid = cl_ntoh16(osm_port_get_base_lid(port))}};

		for (unsigned i = 0; i < TRIAD_SA_GUIDS_PER_BLOCK; i++)
			record.guids.guids[i] = cl_ntoh64((
				*physp->p_guids)[block * TRIAD_SA_GUIDS_PER_BLOCK + i]);
		if (has_aliases(&record.guids))
			add_record(reader, &record);
	}
}

/* --- pieces; with the lock held; each returns whether there is more --- */

/* Whether to release the lock: the time is over, or the next group or port may not
 * fit. */
static bool is_piece_over(const struct reader *reader)
{
	const struct triad_sa_snapshot *snapshot = reader->snapshot;

	return snapshot->room - snapshot->size < 64 * TRIAD_SA_RECORD_SIZE ||
		triad_clock_now_us() - reader->begun_us >= TRIAD_SA_SNAPSHOT_HOLD_US;
}

static bool read_guids(struct reader *reader)
{
	cl_qmap_t *ports = &reader->osm->subn.port_guid_tbl;
	cl_map_item_t *item = reader->port_guid
		? cl_qmap_get_next(ports, reader->port_guid)
		: cl_qmap_head(ports);

	for (; item != cl_qmap_end(ports); item = cl_qmap_next(item)) {
		if (is_piece_over(reader))
			return true;
		add_guids(reader, (const osm_port_t *)item);
		reader->port_guid = cl_qmap_key(item);
	}
	return false;
}

static bool read_members(struct reader *reader, const osm_mgrp_t *group)
{
	const cl_qmap_t *members = &group->mcm_alias_port_tbl;
	cl_map_item_t *item = reader->has_member
		? cl_qmap_get_next(members, reader->member)
		: cl_qmap_head(members);

	for (; item != cl_qmap_end(members); item = cl_qmap_next(item)) {
		if (is_piece_over(reader))
			return true;
		add_member(reader, group, (const osm_mcm_alias_guid_t *)item);
		reader->has_member = true;
		reader->member = cl_qmap_key(item);
	}
	return false;
}

/* The group that is being read, if it is still there, or the next. */
static cl_fmap_item_t *find_group(const struct reader *reader)
{
	const cl_fmap_t *groups = &reader->osm->subn.mgrp_mgid_tbl;
	cl_fmap_item_t *item;

	if (!reader->has_mgid)
		return cl_fmap_head(groups);
	item = cl_fmap_get(groups, &reader->mgid);
	return item != cl_fmap_end(groups) ? item
					   : cl_fmap_get_next(groups, &reader->mgid);
}

static bool read_groups(struct reader *reader)
{
	const cl_fmap_t *groups = &reader->osm->subn.mgrp_mgid_tbl;

	for (cl_fmap_item_t *item = find_group(reader); item != cl_fmap_end(groups);
		item = cl_fmap_next(item)) {
		const osm_mgrp_t *group = (const osm_mgrp_t *)item;

		if (!reader->has_mgid ||
			memcmp(&reader->mgid, &group->mcmember_rec.mgid,
				sizeof(reader->mgid)) != 0) {
			if (is_piece_over(reader))
				return true;
			add_group(reader, group);
			reader->has_mgid = true;
			reader->mgid = group->mcmember_rec.mgid;
			reader->has_member = false;
		}
		if (read_members(reader, group))
			return true;
	}
	return false;
}

static bool read_subscriptions(struct reader *reader)
{
	const cl_qlist_t *list = &reader->osm->subn.sa_infr_list;

	for (cl_list_item_t *item = cl_qlist_head(list);
		item != cl_qlist_end(list) && has_room(reader->snapshot);
		item = cl_qlist_next(item))
		add_subscription(reader, (const osm_infr_t *)item);
	return false;
}

static bool read_services(struct reader *reader)
{
	const cl_qlist_t *list = &reader->osm->subn.sa_sr_list;

	for (cl_list_item_t *item = cl_qlist_head(list);
		item != cl_qlist_end(list) && has_room(reader->snapshot);
		item = cl_qlist_next(item))
		add_service(reader, (const osm_svcr_t *)item);
	return false;
}

/* --- all of it --- */

/* Reads all records of one kind; 'expected' is an estimate of their octets. */
static int read_kind(struct reader *reader, bool (*read_piece)(struct reader *reader),
	size_t expected)
{
	struct triad_sa_snapshot *snapshot = reader->snapshot;
	bool has_more = true;

	while (has_more) {
		size_t before = snapshot->size,
		       wanted = before + PIECE_OCTETS + expected;
		bool is_full = wanted > MAX_OCTETS;
		uint64_t held_us;

		/* Allocate while the lock is free. */
		if (!is_full &&
			triad_grow(&snapshot->octets, &snapshot->room, wanted, 1,
				PIECE_OCTETS))
			return ENOMEM;
		cl_plock_acquire(&reader->osm->lock);
		reader->begun_us = triad_clock_now_us();
		reader->is_canceled = osm_exit_flag;
		has_more = !reader->is_canceled && read_piece(reader);
		held_us = triad_clock_now_us() - reader->begun_us;
		cl_plock_release(&reader->osm->lock);
		if (held_us > snapshot->hold_us)
			snapshot->hold_us = held_us;
		/* There is no room and no more progress: leave out the rest. */
		if (is_full && snapshot->size == before)
			break;
	}
	return reader->is_canceled ? ECANCELED : 0;
}

/* An estimate: records may be added before the lock is taken, but they fit in the room
 * of a piece.  Beyond the limit the set only counts. */
static size_t expected_octets(const cl_qlist_t *list, enum triad_sa_kind kind)
{
	size_t n = cl_qlist_count(list), limit = triad_sa_set_limit(kind);

	return (n < limit ? n : limit) * TRIAD_SA_RECORD_SIZE;
}

int triad_sa_snapshot_take(struct osm_opensm *osm, struct triad_sa_snapshot *snapshot)
{
	struct reader reader = {.osm = osm, .snapshot = snapshot};
	uint64_t begun_us = triad_clock_now_us();
	int error;

	snapshot->size = 0;
	snapshot->hold_us = 0;
	error = read_kind(&reader, read_guids, 0);
	if (!error)
		error = read_kind(&reader, read_groups, 0);
	if (!error)
		error = read_kind(&reader, read_subscriptions,
			expected_octets(
				&osm->subn.sa_infr_list, TRIAD_SA_SUBSCRIPTION));
	if (!error)
		error = read_kind(&reader, read_services,
			expected_octets(&osm->subn.sa_sr_list, TRIAD_SA_SERVICE));
	snapshot->took_us = triad_clock_now_us() - begun_us;
	return error;
}

void triad_sa_snapshot_clear(struct triad_sa_snapshot *snapshot)
{
	free(snapshot->octets);
	memset(snapshot, 0, sizeof(*snapshot));
}
