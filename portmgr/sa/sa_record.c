/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/sa/sa_record.h"

#include <string.h>

#include "lib/hash.h"
#include "triad/wire.h"

#define HEAD_SIZE 2u

/* One description of each kind serves both directions. */
struct codec {
	struct triad_wire wire;
	bool writes;
};

static uint64_t pass(struct codec *codec, size_t n, uint64_t value)
{
	if (!codec->writes)
		return triad_wire_get(&codec->wire, n);
	triad_wire_put(&codec->wire, n, value);
	return value;
}

static void pass8(struct codec *codec, uint8_t *value)
{
	*value = (uint8_t)pass(codec, 1, *value);
}

static void pass16(struct codec *codec, uint16_t *value)
{
	*value = (uint16_t)pass(codec, 2, *value);
}

static void pass32(struct codec *codec, uint32_t *value)
{
	*value = (uint32_t)pass(codec, 4, *value);
}

static void pass64(struct codec *codec, uint64_t *value)
{
	*value = pass(codec, 8, *value);
}

static void pass_bool(struct codec *codec, bool *value)
{
	*value = pass(codec, 1, *value) != 0;
}

static void pass_gid(struct codec *codec, struct triad_sa_gid *gid)
{
	pass64(codec, &gid->prefix);
	pass64(codec, &gid->guid);
}

static void pass_octets(struct codec *codec, uint8_t *octets, size_t n)
{
	uint8_t *place = triad_wire_take(&codec->wire, n);

	if (place && codec->writes)
		memcpy(place, octets, n);
	else if (place)
		memcpy(octets, place, n);
}

/* --- the kinds: the members that identify a record come first --- */

static void pass_guids(struct codec *codec, struct triad_sa_guids *guids)
{
	pass64(codec, &guids->port_guid);
	pass8(codec, &guids->block);
	pass16(codec, &guids->lid);
	for (unsigned i = 0; i < TRIAD_SA_GUIDS_PER_BLOCK; i++)
		pass64(codec, &guids->guids[i]);
}

static void pass_group(struct codec *codec, struct triad_sa_group *group)
{
	pass_gid(codec, &group->mgid);
	pass_gid(codec, &group->port_gid);
	pass32(codec, &group->qkey);
	pass16(codec, &group->mlid);
	pass8(codec, &group->mtu);
	pass8(codec, &group->tclass);
	pass16(codec, &group->pkey);
	pass8(codec, &group->rate);
	pass8(codec, &group->pkt_life);
	pass32(codec, &group->sl_flow_hop);
	pass8(codec, &group->scope_state);
	pass_bool(codec, &group->is_proxy);
	pass_bool(codec, &group->is_well_known);
}

static void pass_member(struct codec *codec, struct triad_sa_member *member)
{
	pass_gid(codec, &member->mgid);
	pass_gid(codec, &member->port_gid);
	pass8(codec, &member->scope_state);
	pass_bool(codec, &member->is_proxy);
	pass_bool(codec, &member->is_alias);
}

static void pass_subscription(
	struct codec *codec, struct triad_sa_subscription *subscription)
{
	pass_gid(codec, &subscription->subscriber);
	pass16(codec, &subscription->number);
	pass_gid(codec, &subscription->gid);
	pass16(codec, &subscription->lid_begin);
	pass16(codec, &subscription->lid_end);
	pass8(codec, &subscription->is_generic);
	pass8(codec, &subscription->subscribe);
	pass16(codec, &subscription->trap_type);
	pass16(codec, &subscription->trap_number);
	pass32(codec, &subscription->qpn_response_time);
	pass32(codec, &subscription->producer);
	pass16(codec, &subscription->lid);
	pass8(codec, &subscription->path_bits);
	pass8(codec, &subscription->static_rate);
	pass32(codec, &subscription->qpn);
	pass32(codec, &subscription->qkey);
	pass16(codec, &subscription->pkey_index);
	pass8(codec, &subscription->sl);
}

static void pass_service(struct codec *codec, struct triad_sa_service *service)
{
	pass64(codec, &service->id);
	pass_gid(codec, &service->gid);
	pass16(codec, &service->pkey);
	pass32(codec, &service->lease_s);
	pass64(codec, &service->ends_s);
	pass_octets(codec, service->key, sizeof(service->key));
	pass_octets(codec, service->name, sizeof(service->name));
	pass_octets(codec, service->data, sizeof(service->data));
}

static bool pass_record(struct codec *codec, struct triad_sa_record *record)
{
	switch (record->kind) {
	case TRIAD_SA_GUIDS:
		pass_guids(codec, &record->guids);
		break;
	case TRIAD_SA_GROUP:
		pass_group(codec, &record->group);
		break;
	case TRIAD_SA_MEMBER:
		pass_member(codec, &record->member);
		break;
	case TRIAD_SA_SUBSCRIPTION:
		pass_subscription(codec, &record->subscription);
		break;
	case TRIAD_SA_SERVICE:
		pass_service(codec, &record->service);
		break;
	case TRIAD_SA_KINDS_END:
	default:
		return false;
	}
	return !codec->wire.failed;
}

size_t triad_sa_record_encode(
	const struct triad_sa_record *record, uint8_t octets[TRIAD_SA_RECORD_SIZE])
{
	struct triad_sa_record copy = *record;
	struct codec codec = {.writes = true};

	triad_wire_init(&codec.wire, octets, TRIAD_SA_RECORD_SIZE);
	triad_wire_seek(&codec.wire, HEAD_SIZE);
	pass_record(&codec, &copy);
	octets[0] = (uint8_t)record->kind;
	octets[1] = (uint8_t)(codec.wire.at - HEAD_SIZE);
	return codec.wire.at;
}

size_t triad_sa_record_size(const uint8_t *octets, size_t size)
{
	size_t whole = size < HEAD_SIZE ? 0 : HEAD_SIZE + (size_t)octets[1];

	return whole <= size ? whole : 0;
}

bool triad_sa_record_decode(
	const uint8_t *octets, size_t size, struct triad_sa_record *record)
{
	struct codec codec = {.writes = false};

	memset(record, 0, sizeof(*record));
	if (size < HEAD_SIZE)
		return false;
	/* It is only read. */
	triad_wire_init(&codec.wire, (uint8_t *)octets, size);
	triad_wire_seek(&codec.wire, HEAD_SIZE);
	record->kind = (enum triad_sa_kind)octets[0];
	return pass_record(&codec, record);
}

/* --- hashes --- */

uint64_t triad_sa_record_key(const uint8_t *octets, size_t size)
{
	static const size_t key_sizes[TRIAD_SA_KINDS_END] = {
		[TRIAD_SA_GUIDS] = 9,
		[TRIAD_SA_GROUP] = 16,
		[TRIAD_SA_MEMBER] = 32,
		[TRIAD_SA_SERVICE] = 26,
	};
	size_t key_size = octets[0] < TRIAD_SA_KINDS_END ? key_sizes[octets[0]] : 0;
	uint64_t hash;

	/* A subscription has no key, and the key of an unknown kind is unknown: use the
	 * whole record. */
	if (!key_size || key_size > size - HEAD_SIZE)
		key_size = size - HEAD_SIZE;
	hash = triad_hash_word(TRIAD_HASH_START, octets[0]);
	return triad_hash_word(
		triad_hash_octets(hash, octets + HEAD_SIZE, key_size), 0);
}

uint64_t triad_sa_record_digest(const uint8_t *octets, size_t size)
{
	uint64_t hash = triad_hash_octets(TRIAD_HASH_START, octets, size);

	/* Mix once more.  The last octets change few bits of the hash, so in a sum two
	 * records that exchange their last octets would cancel out. */
	return triad_hash_word(triad_hash_word(hash, size), 0);
}
