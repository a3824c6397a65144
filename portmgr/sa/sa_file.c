/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/sa/sa_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "triad/clock.h"
#include "triad/wire.h"

#define BUFFER_SIZE 65536u
#define MAX_S (UINT64_C(1) << 40)
#define MAX_LINE 1000u /* OpenSM reads 1,022 octets */

#define GID "0x%016" PRIx64 ":0x%016" PRIx64

/* A group or a member, for sorting. */
struct entry {
	struct triad_sa_gid mgid, port_gid;
	bool is_other; /* not IPoIB's broadcast group */
	bool is_member, is_alias;
	const uint8_t *octets;
};

struct writer {
	const struct triad_sa_file_conf *conf;
	char *buffer;
	size_t size;
	int error;
	uint32_t n_left_out;
	struct entry *entries;
	size_t n_entries;
	struct triad_sa_gid mgid; /* of the group that was written last */
	bool has_group;
};

/* --- lines --- */

static void flush_buffer(struct writer *writer)
{
	if (!writer->error && writer->size)
		writer->error = writer->conf->write(
			writer->conf->context, writer->buffer, writer->size);
	writer->size = 0;
}

static void put_file_line(struct writer *writer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put_file_line(struct writer *writer, const char *format, ...)
{
	va_list args;
	int n;

	if (writer->size + MAX_LINE > BUFFER_SIZE)
		flush_buffer(writer);
	va_start(args, format);
	n = vsnprintf(writer->buffer + writer->size, MAX_LINE, format, args);
	va_end(args);
	/* Lines are shorter, as names have 63 octets at most; omit one that is not. */
	if (n > 0 && (unsigned)n < MAX_LINE)
		writer->size += (size_t)n;
	else
		writer->n_left_out++;
}

/* The octets of a field that OpenSM writes as two numbers of 64 bits. */
static uint64_t word_of(const uint8_t *octets, unsigned i)
{
	return triad_wire_bits(octets, 64 * i, 64);
}

/* --- the kinds --- */

static void put_guids(struct writer *writer, const struct triad_sa_guids *guids)
{
	const uint64_t *all = guids->guids;

	if (writer->conf->has_room &&
		!writer->conf->has_room(writer->conf->context, guids)) {
		writer->n_left_out++;
		return;
	}
	put_file_line(writer,
		"GUIDInfo Record: base_guid=0x%016" PRIx64 " lid=0x%04x block_num=0x%x"
		" guid0=0x%016" PRIx64 " guid1=0x%016" PRIx64 " guid2=0x%016" PRIx64
		" guid3=0x%016" PRIx64 " guid4=0x%016" PRIx64 " guid5=0x%016" PRIx64
		" guid6=0x%016" PRIx64 " guid7=0x%016" PRIx64 "\n",
		guids->port_guid, guids->lid, guids->block, all[0], all[1], all[2],
		all[3], all[4], all[5], all[6], all[7]);
}

static void put_group(struct writer *writer, const struct triad_sa_group *group)
{
	writer->mgid = group->mgid;
	writer->has_group = true;
	put_file_line(writer,
		"MC Group 0x%04x %s: mgid=" GID " port_gid=" GID
		" qkey=0x%08x mlid=0x%04x mtu=0x%02x tclass=0x%02x pkey=0x%04x"
		" rate=0x%02x pkt_life=0x%02x sl_flow_hop=0x%08x scope_state=0x%02x"
		" proxy_join=0x%x\n",
		group->mlid, group->is_well_known ? "(well known)" : "",
		group->mgid.prefix, group->mgid.guid, group->port_gid.prefix,
		group->port_gid.guid, group->qkey, group->mlid, group->mtu,
		group->tclass, group->pkey, group->rate, group->pkt_life,
		group->sl_flow_hop, group->scope_state, group->is_proxy);
}

static void put_member(struct writer *writer, const struct triad_sa_member *member)
{
	/* Its group was not written: OpenSM would add it to the group before. */
	if (!writer->has_group || writer->mgid.prefix != member->mgid.prefix ||
		writer->mgid.guid != member->mgid.guid) {
		writer->n_left_out++;
		return;
	}
	put_file_line(writer,
		"mcm_port: port_gid=" GID " scope_state=0x%02x proxy_join=0x%x\n",
		member->port_gid.prefix, member->port_gid.guid, member->scope_state,
		member->is_proxy);
}

static void put_subscription(
	struct writer *writer, const struct triad_sa_subscription *of)
{
	put_file_line(writer,
		"InformInfo Record: subscriber_gid=" GID " subscriber_enum=0x%x"
		" InformInfo: gid=" GID " lid_range_begin=0x%x lid_range_end=0x%x"
		" is_generic=0x%x subscribe=0x%x trap_type=0x%x trap_num=0x%x"
		" qpn_resp_time_val=0x%x node_type=0x%06x"
		" rep_addr: lid=0x%04x path_bits=0x%02x static_rate=0x%02x"
		" remote_qp=0x%08x remote_qkey=0x%08x pkey_ix=0x%04x sl=0x%02x\n",
		of->subscriber.prefix, of->subscriber.guid, of->number, of->gid.prefix,
		of->gid.guid, of->lid_begin, of->lid_end, of->is_generic, of->subscribe,
		of->trap_type, of->trap_number, of->qpn_response_time,
		of->producer & 0xffffff, of->lid, of->path_bits, of->static_rate,
		of->qpn, of->qkey, of->pkey_index, of->sl);
}

/* A quote that the name does not contain, so that OpenSM finds its end; 0: there is
 * none. */
static char choose_quote(const char *name)
{
	if (strlen(name) == TRIAD_SA_NAME_SIZE || strpbrk(name, "\n\r"))
		return 0;
	if (!strchr(name, '\''))
		return '\'';
	return strchr(name, '"') ? 0 : '"';
}

/* What remains of a lease at 'now_s' of this machine; 0: it is over. */
static uint32_t lease_left_s(
	const struct writer *writer, const struct triad_sa_service *service)
{
	int64_t ahead_s = writer->conf->ahead_us / (int64_t)TRIAD_US_PER_S;
	int64_t left_s;

	if (service->ends_s == TRIAD_SA_FOREVER)
		return UINT32_MAX;
	/* Limit impossible times, so that the subtraction can't wrap. */
	left_s = (int64_t)(service->ends_s < MAX_S ? service->ends_s : MAX_S) -
		(int64_t)writer->conf->now_s - ahead_s;
	if (left_s <= 0)
		return 0;
	return left_s < UINT32_MAX ? (uint32_t)left_s : UINT32_MAX - 1;
}

static void put_service(struct writer *writer, const struct triad_sa_service *service)
{
	char name[TRIAD_SA_NAME_SIZE + 1] = "", quote;
	uint32_t left_s = lease_left_s(writer, service);
	const uint8_t *data = service->data;

	memcpy(name, service->name, sizeof(service->name));
	quote = choose_quote(name);
	if (!quote)
		writer->n_left_out++;
	if (!quote || !left_s)
		return;
	put_file_line(writer,
		"Service Record: id=0x%016" PRIx64 " gid=" GID " pkey=0x%x lease=0x%x"
		" key=" GID " name=%c%s%c data8=" GID " data16=" GID " data32=" GID
		" data64=" GID " modified_time=0x%x lease_period=0x%x\n",
		service->id, service->gid.prefix, service->gid.guid, service->pkey,
		service->lease_s, word_of(service->key, 0), word_of(service->key, 1),
		quote, name, quote, word_of(data, 0), word_of(data, 1),
		word_of(data, 2), word_of(data, 3), word_of(data, 4), word_of(data, 5),
		word_of(data, 6), word_of(data, 7), (uint32_t)writer->conf->now_s,
		left_s);
}

static void put_record(struct writer *writer, const struct triad_sa_record *record)
{
	if (record->kind == TRIAD_SA_GUIDS)
		put_guids(writer, &record->guids);
	else if (record->kind == TRIAD_SA_GROUP)
		put_group(writer, &record->group);
	else if (record->kind == TRIAD_SA_MEMBER)
		put_member(writer, &record->member);
	else if (record->kind == TRIAD_SA_SUBSCRIPTION)
		put_subscription(writer, &record->subscription);
	else
		put_service(writer, &record->service);
}

/* --- their order --- */

static int compare_words(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *one = a, *other = b;
	int order = one->is_other - other->is_other;

	if (!order)
		order = compare_words(one->mgid.prefix, other->mgid.prefix);
	if (!order)
		order = compare_words(one->mgid.guid, other->mgid.guid);
	if (!order)
		order = one->is_member - other->is_member;
	if (!order)
		order = one->is_alias - other->is_alias;
	if (!order)
		order = compare_words(one->port_gid.prefix, other->port_gid.prefix);
	return order ? order : compare_words(one->port_gid.guid, other->port_gid.guid);
}

/* IPoIB's broadcast group of any scope and P_Key [RFC 4391 4]. */
static bool is_broadcast(const struct triad_sa_gid *mgid)
{
	return (mgid->prefix >> 32 & 0xff00ffff) == 0xff00401b &&
		mgid->guid == 0xffffffff;
}

static void add_entry(struct writer *writer, const struct triad_sa_record *record,
	const uint8_t *octets)
{
	struct entry *entry = &writer->entries[writer->n_entries++];
	bool is_member = record->kind == TRIAD_SA_MEMBER;

	*entry = (struct entry){
		.mgid = is_member ? record->member.mgid : record->group.mgid,
		.is_member = is_member,
		.is_alias = is_member && record->member.is_alias,
		.octets = octets};
	if (is_member)
		entry->port_gid = record->member.port_gid;
	entry->is_other = !is_broadcast(&entry->mgid);
}

/* Handles one record.  Each pass over all records writes one 'kind'; kind 0 collects
 * groups and members. */
static void handle_record(
	struct writer *writer, unsigned kind, const uint8_t *octets, size_t size)
{
	struct triad_sa_record record;
	bool is_of_groups = octets[0] == TRIAD_SA_GROUP || octets[0] == TRIAD_SA_MEMBER;

	if (kind ? octets[0] != kind : !is_of_groups)
		return;
	if (!triad_sa_record_decode(octets, size, &record))
		writer->n_left_out++;
	else if (kind)
		put_record(writer, &record);
	else
		add_entry(writer, &record, octets);
}

static void pass_over(
	struct writer *writer, const struct triad_sa_set *set, unsigned kind)
{
	for (unsigned i = 0; i < TRIAD_SA_SET_N_BUCKETS && !writer->error; i++) {
		struct triad_sa_bucket bucket = triad_sa_set_bucket(set, i);
		size_t at = 0, n;

		for (; at < bucket.size; at += n) {
			n = triad_sa_record_size(bucket.octets + at, bucket.size - at);
			if (!n)
				break;
			handle_record(writer, kind, bucket.octets + at, n);
		}
	}
}

static void put_groups(struct writer *writer, const struct triad_sa_set *set)
{
	struct triad_sa_record record;

	pass_over(writer, set, 0);
	qsort(writer->entries, writer->n_entries, sizeof(*writer->entries),
		compare_entries);
	for (size_t i = 0; i < writer->n_entries && !writer->error; i++) {
		const uint8_t *octets = writer->entries[i].octets;

		if (triad_sa_record_decode(octets,
			    triad_sa_record_size(octets, TRIAD_SA_RECORD_SIZE),
			    &record))
			put_record(writer, &record);
	}
}

int triad_sa_file_write(const struct triad_sa_set *set,
	const struct triad_sa_file_conf *conf, uint32_t *n_left_out)
{
	struct triad_sa_counts counts = triad_sa_set_counts(set);
	size_t n = (size_t)counts.n[TRIAD_SA_GROUP] + counts.n[TRIAD_SA_MEMBER];
	struct writer writer = {.conf = conf,
		.buffer = malloc(BUFFER_SIZE),
		.entries = malloc((n + 1) * sizeof(struct entry))};

	if (!writer.buffer || !writer.entries) {
		writer.error = ENOMEM;
	} else {
		put_file_line(&writer,
			"# What the SA of the last master had; made by Triad.\n");
		pass_over(&writer, set, TRIAD_SA_GUIDS);
		put_groups(&writer, set);
		pass_over(&writer, set, TRIAD_SA_SUBSCRIPTION);
		pass_over(&writer, set, TRIAD_SA_SERVICE);
		flush_buffer(&writer);
	}
	*n_left_out = writer.n_left_out;
	free(writer.entries);
	free(writer.buffer);
	return writer.error;
}
