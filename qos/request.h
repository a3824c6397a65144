/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decodes clients' requests to the SA for PathRecord and MultiPathRecord [IBA
 * 15.2.5.16, 15.2.5.20].
 *
 * Model: both attributes have the same components at different offsets, so both become
 * one structure; 'has' tells which components the client set.  A PathRecord has at most
 * one source and one destination, by GID, LID or both; a MultiPathRecord has lists of
 * GIDs.  Values are in host byte order.
 *
 * Thread-safety: functions without state.  Memory: no allocation. */
#ifndef TRIAD_QOS_REQUEST_H
#define TRIAD_QOS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_PATH_RECORD_SIZE 64
#define TRIAD_MULTIPATH_FIXED_SIZE 24 /* before the GIDs */
#define TRIAD_MULTIPATH_MAX_GIDS 11   /* OpenSM's limit, for both lists together */

/* Status of an answer, as in a MAD's header [IBA 15.2.4.3]. */
enum triad_sa_status {
	TRIAD_SA_OK = 0,
	TRIAD_SA_UNSUPPORTED_METHOD =
		0x000c, /* the attribute does not support the method */
	TRIAD_SA_REQUEST_INVALID = 0x0200,
	TRIAD_SA_NO_RECORDS = 0x0300,
	TRIAD_SA_INVALID_GID = 0x0500,
	TRIAD_SA_INSUFFICIENT_COMPONENTS = 0x0600,
};

/* Components that the client set, as bits of 'has'. */
#define TRIAD_HAS_DGID 0x0001u
#define TRIAD_HAS_SGID 0x0002u
#define TRIAD_HAS_DLID 0x0004u
#define TRIAD_HAS_SLID 0x0008u
#define TRIAD_HAS_RAW 0x0010u
#define TRIAD_HAS_TCLASS 0x0020u
#define TRIAD_HAS_REVERSIBLE 0x0040u
#define TRIAD_HAS_N_PATHS 0x0080u
#define TRIAD_HAS_PKEY 0x0100u
#define TRIAD_HAS_QOS_CLASS 0x0200u
#define TRIAD_HAS_SL 0x0400u
#define TRIAD_HAS_MTU 0x0800u /* and its selector; the same for the two below */
#define TRIAD_HAS_RATE 0x1000u
#define TRIAD_HAS_LIFE 0x2000u
#define TRIAD_HAS_SERVICE_ID 0x4000u

struct triad_gid {
	uint64_t prefix, guid;
};

/* [IBA table 205]; the fourth is the largest MTU or rate, the smallest lifetime. */
enum triad_selector {
	TRIAD_SELECT_GREATER,
	TRIAD_SELECT_LESS,
	TRIAD_SELECT_EXACTLY,
	TRIAD_SELECT_BEST,
};

struct triad_path_request {
	unsigned has; /* TRIAD_HAS_* */
	bool multi;   /* MultiPathRecord */
	bool one;     /* SubnAdmGet: one path at most */
	uint64_t service_id;
	uint16_t dlid, slid;
	uint16_t pkey;
	uint16_t qos_class; /* 12 bits */
	uint8_t sl;
	uint8_t tclass;
	uint8_t n_paths; /* 7 bits */
	bool reversible;
	bool raw;
	uint8_t mtu_selector, mtu; /* enum triad_selector */
	uint8_t rate_selector, rate;
	uint8_t life_selector, life;
	uint8_t max_rate;                  /* the highest code that the SM supports */
	uint8_t n_sources, n_destinations; /* GIDs in 'gids', sources first */
	struct triad_gid gids[TRIAD_MULTIPATH_MAX_GIDS];
};

/* 'record' has TRIAD_PATH_RECORD_SIZE octets, 'mask' is the component mask.  'get': the
 * method is SubnAdmGet, else SubnAdmGetTable.  'max_rate' is the highest rate code that
 * the SM supports, 22 or 24.
 * Deviation: a request has a Service-ID when both of its bits in the mask are set, as
 * IBA and OpenSM want, not the first alone [qos-rfc 2].
 * Returns TRIAD_SA_OK or the status to answer with, with '*request' undefined then. */
enum triad_sa_status triad_path_request_read(const uint8_t *record, uint64_t mask,
	bool get, uint8_t max_rate, struct triad_path_request *request);

/* 'record' has 'size' octets of a MultiPathRecord; GIDs that are counted but lie past
 * its end make it invalid. */
enum triad_sa_status triad_multipath_request_read(const uint8_t *record, size_t size,
	uint64_t mask, uint8_t max_rate, struct triad_path_request *request);

/* A path in an answer. */
struct triad_path_record {
	struct triad_gid dgid, sgid;
	uint16_t dlid, slid;
	uint16_t pkey;
	uint8_t tclass;
	bool reversible;
	uint8_t sl, mtu, rate, life; /* coded */
	uint8_t preference;
	uint8_t links; /* on the path; not on the wire */
};

/* Writes TRIAD_PATH_RECORD_SIZE octets. */
void triad_path_record_write(const struct triad_path_record *path, uint8_t *record);

/* Reads them back, for clients. */
void triad_path_record_read(const uint8_t *record, struct triad_path_record *path);

#endif
