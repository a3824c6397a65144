/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the plugin in OpenSM and triadd, which is connected to the broker for it, say to
 * each other: records in two streams of octets, one each way.
 *
 * Model: a record is a header of 16 octets and what follows, in numbers big-endian:
 *
 *     octet 0       kind
 *     octet 1       detail
 *     octets 2-3    0
 *     octets 4-7    how many octets follow: 1 at least
 *     octets 8-15   id
 *
 *     MESSAGE   of 'collect': the octets.  To triadd, detail and id say to whom (enum
 *               triad_member_to); from triadd, who sent it, and detail 1: a manager
 *     STATE     from triadd: how the connection is; its numbers are what has been added
 *               since the record before in this stream
 *     PARAMS    to triadd: what to be connected to; detail 0: to nothing
 *
 * Thread-safety: none.  Memory: a reader has some 256 KiB, for the largest message. */
#ifndef TRIAD_COLLECT_NATS_RECORD_H
#define TRIAD_COLLECT_NATS_RECORD_H

#include "collect/message.h"
#include "collect/nats/bus.h"

#define TRIAD_BUS_HEADER_SIZE 16u
#define TRIAD_BUS_FIELDS_SIZE 1536u /* of STATE and PARAMS, at most */

enum triad_bus_record_kind {
	TRIAD_BUS_MESSAGE = 'M',
	TRIAD_BUS_STATE = 'S',
	TRIAD_BUS_PARAMS = 'P',
};

struct triad_bus_record {
	uint8_t kind, detail;
	uint64_t id;
	uint32_t size;
	uint8_t *octets;
};

void triad_bus_record_put_header(
	const struct triad_bus_record *record, uint8_t header[TRIAD_BUS_HEADER_SIZE]);

/* Write what follows the header of a STATE and a PARAMS; they return its size. */
size_t triad_bus_record_put_state(
	const struct triad_bus_status *status, uint8_t octets[TRIAD_BUS_FIELDS_SIZE]);
size_t triad_bus_record_put_params(
	const struct triad_bus_params *params, uint8_t octets[TRIAD_BUS_FIELDS_SIZE]);
/* Read them.  False: malformed.  The texts have no control characters. */
bool triad_bus_record_get_state(
	const struct triad_bus_record *record, struct triad_bus_status *status);
bool triad_bus_record_get_params(
	const struct triad_bus_record *record, struct triad_bus_params *params);

/* Puts records together from pieces of a stream. */
struct triad_bus_reader {
	/* Is given each record; its octets are the reader's. */
	void (*take)(void *context, const struct triad_bus_record *record);
	void *context;
	struct triad_bus_record record; /* being read */
	size_t used;
	uint8_t octets[TRIAD_BUS_HEADER_SIZE + TRIAD_COLLECT_MAX_SIZE];
};

/* Reads a piece.  Returns 0, or EPROTO: a malformed header, and where the next record
 * begins is not known; begin anew with 'used' 0 and another stream. */
int triad_bus_reader_put(
	struct triad_bus_reader *reader, const void *octets, size_t size);

#endif
