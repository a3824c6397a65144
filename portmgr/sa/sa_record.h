/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The records that clients registered with the SA, which an SM that becomes master
 * lacks.
 *
 *     GUIDS          a block of alias GUIDs of a port [IBA 15.2.5.18 GUIDInfoRecord]
 *     GROUP          a multicast group, by its MGID, with its MLID
 *     MEMBER         a port in a group [IBA 15.2.5.17 MCMemberRecord]
 *     SUBSCRIPTION   which subscriber gets which traps [IBA 15.2.5.12 InformInfoRecord]
 *     SERVICE        a service at a port [IBA 15.2.5.14 ServiceRecord]
 *
 * Octets: the kind, the number of octets after it, and the members of its structure in
 * order, big-endian.  A reader ignores octets after the members that it knows, and
 * unknown kinds.
 *
 * The end of a lease is a time of the wall clock of the SM that has the record.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_PORTMGR_SA_RECORD_H
#define TRIAD_PORTMGR_SA_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_SA_RECORD_SIZE 257u /* octets, at most */
#define TRIAD_SA_GUIDS_PER_BLOCK 8u
#define TRIAD_SA_NAME_SIZE 64u
#define TRIAD_SA_FOREVER UINT64_MAX

enum triad_sa_kind {
	TRIAD_SA_GUIDS = 1,
	TRIAD_SA_GROUP,
	TRIAD_SA_MEMBER,
	TRIAD_SA_SUBSCRIPTION,
	TRIAD_SA_SERVICE,
	TRIAD_SA_KINDS_END
};

struct triad_sa_gid {
	uint64_t prefix, guid;
};

struct triad_sa_guids {
	uint64_t port_guid;
	uint8_t block;
	uint16_t lid;
	uint64_t guids[TRIAD_SA_GUIDS_PER_BLOCK];
};

struct triad_sa_group {
	struct triad_sa_gid mgid, port_gid;
	uint32_t qkey;
	uint16_t mlid;
	uint8_t mtu, tclass;
	uint16_t pkey;
	uint8_t rate, pkt_life;
	uint32_t sl_flow_hop;
	uint8_t scope_state;
	bool is_proxy, is_well_known;
};

struct triad_sa_member {
	struct triad_sa_gid mgid, port_gid;
	uint8_t scope_state;
	bool is_proxy;
	bool is_alias; /* the GID is not made from the port's own GUID */
};

struct triad_sa_subscription {
	struct triad_sa_gid subscriber;
	uint16_t number; /* SubscriberEnum */
	struct triad_sa_gid gid;
	uint16_t lid_begin, lid_end;
	uint8_t is_generic, subscribe;
	uint16_t trap_type, trap_number;
	uint32_t qpn_response_time, producer;
	/* Where reports go. */
	uint16_t lid;
	uint8_t path_bits, static_rate;
	uint32_t qpn, qkey;
	uint16_t pkey_index;
	uint8_t sl;
};

struct triad_sa_service {
	uint64_t id;
	struct triad_sa_gid gid;
	uint16_t pkey;
	uint32_t lease_s; /* as the client requested */
	uint64_t ends_s;  /* since 1970; TRIAD_SA_FOREVER */
	uint8_t key[16];
	uint8_t name[TRIAD_SA_NAME_SIZE];
	uint8_t data[64]; /* ServiceData8, 16, 32 and 64 */
};

struct triad_sa_record {
	enum triad_sa_kind kind;
	union {
		struct triad_sa_guids guids;
		struct triad_sa_group group;
		struct triad_sa_member member;
		struct triad_sa_subscription subscription;
		struct triad_sa_service service;
	};
};

/* Returns the octets written. */
size_t triad_sa_record_encode(
	const struct triad_sa_record *record, uint8_t octets[TRIAD_SA_RECORD_SIZE]);

/* The size of the record at the beginning of 'octets'; 0: there is none, or it is
 * incomplete. */
size_t triad_sa_record_size(const uint8_t *octets, size_t size);

/* Reads a record, of triad_sa_record_size() octets.  False, and 'record' undefined, if
 * it is too short for its kind, or its kind is unknown. */
bool triad_sa_record_decode(
	const uint8_t *octets, size_t size, struct triad_sa_record *record);

/* A hash of what identifies a record among those of its kind; it does not depend on the
 * rest. */
uint64_t triad_sa_record_key(const uint8_t *octets, size_t size);

/* A hash of the whole record.  Sums of such hashes serve to compare sets of records. */
uint64_t triad_sa_record_digest(const uint8_t *octets, size_t size);

#endif
