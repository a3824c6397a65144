/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Made-up SA records, and lists of them. */
#ifndef TRIAD_TESTS_UNIT_PORTMGR_SA_RECORDS_H
#define TRIAD_TESTS_UNIT_PORTMGR_SA_RECORDS_H

#include "portmgr/sa/sa_record.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/run.h"

#define MGID_PREFIX UINT64_C(0xff12601bffff0000)
#define PORT_PREFIX UINT64_C(0xfe80000000000000)

struct list {
	uint8_t *octets;
	size_t size, room;
};

static inline void add(struct list *list, const struct triad_sa_record *record)
{
	if (list->room < list->size + TRIAD_SA_RECORD_SIZE) {
		list->room = 2 * list->room + 65536;
		list->octets = realloc(list->octets, list->room);
		ck_assert_ptr_nonnull(list->octets);
	}
	list->size += triad_sa_record_encode(record, list->octets + list->size);
}

static inline void clear(struct list *list)
{
	free(list->octets);
	*list = (struct list){0};
}

static inline struct triad_sa_record a_group(uint64_t number)
{
	return (struct triad_sa_record){.kind = TRIAD_SA_GROUP,
		.group = {.mgid = {MGID_PREFIX, number},
			.port_gid = {PORT_PREFIX, 1},
			.qkey = 0xb1b,
			.mlid = (uint16_t)(0xc000 + number),
			.mtu = 0x84,
			.tclass = 3,
			.pkey = 0xffff,
			.rate = 0x83,
			.pkt_life = 0x92,
			.sl_flow_hop = 0x10000200,
			.scope_state = 0x21}};
}

static inline struct triad_sa_record a_member(uint64_t number, uint64_t port)
{
	return (struct triad_sa_record){.kind = TRIAD_SA_MEMBER,
		.member = {.mgid = {MGID_PREFIX, number},
			.port_gid = {PORT_PREFIX, port},
			.scope_state = 0x21}};
}

static inline struct triad_sa_record a_subscription(uint64_t port, uint16_t trap)
{
	return (struct triad_sa_record){.kind = TRIAD_SA_SUBSCRIPTION,
		.subscription = {.subscriber = {PORT_PREFIX, port},
			.lid_begin = 0xffff,
			.is_generic = 1,
			.subscribe = 1,
			.trap_type = 0xffff,
			.trap_number = trap,
			.qpn_response_time = 0x112,
			.producer = 4,
			.lid = (uint16_t)port,
			.qpn = 1,
			.qkey = 0x80010000}};
}

static inline struct triad_sa_record a_service(uint64_t id, const char *name)
{
	struct triad_sa_record record = {.kind = TRIAD_SA_SERVICE,
		.service = {.id = id,
			.gid = {PORT_PREFIX, 7},
			.pkey = 0xffff,
			.lease_s = UINT32_MAX,
			.ends_s = TRIAD_SA_FOREVER}};

	memcpy(record.service.name, name, strlen(name));
	for (unsigned i = 0; i < sizeof(record.service.data); i++)
		record.service.data[i] = (uint8_t)i;
	for (unsigned i = 0; i < sizeof(record.service.key); i++)
		record.service.key[i] = (uint8_t)(0xf0 + i);
	return record;
}

static inline struct triad_sa_record some_guids(uint64_t port, uint8_t block)
{
	return (struct triad_sa_record){.kind = TRIAD_SA_GUIDS,
		.guids = {.port_guid = port,
			.block = block,
			.lid = 9,
			.guids = {port, 0xa1, 0, 0xa3}}};
}

#endif
