/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* DETAILS: the present detail attributes of ports (ib/detail.h), as the agent that
 * reads them has them.
 *
 * Model: a row is a port's state, as in DATA (data.h): the last hardware values of each
 * attribute and, for totals that differ from them, the difference.  So a lost message
 * costs only freshness.
 *
 * After the head (message.h), up to the end of the message:
 *
 *    u64 node GUID
 *    u8  number of rows
 *    rows:
 *       u8  port
 *       v   zeroed     when its totals were set to 0, in seconds of the sender's clock,
 *                      and 1; 0: never
 *       u32 zeros      attributes that were read and are all 0 (bit i: attribute i of enum
 *                      triad_pma_attribute)
 *       v   age        only if there are any: milliseconds since one of these was read
 *       u32 others     attributes that follow, the lowest bit first:
 *          v   age        milliseconds since it was read
 *          v   resets     by us; by others
 *          v   not zero   slots whose value is not 0 (bit i: slot i)
 *          v...           each of these
 *          v   based      slots whose total differs from the value
 *          z...           the difference of each of these
 *
 * v and z are those of data.h.  A receiver reads and ignores unknown attributes and
 * slots.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_COLLECT_DETAIL_MESSAGE_H
#define TRIAD_COLLECT_DETAIL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/message.h"
#include "perfmgr/details.h"

/* One attribute of a port. */
struct triad_detail_entry {
	uint64_t node_guid;
	uint8_t port;
	uint32_t zeroed_s;
	enum triad_pma_attribute attribute;
	uint64_t age_ms;
	struct triad_details_report report; /* messages do not have its time of
					     * reading */
};

/* All attributes of a port that are to be sent. */
struct triad_detail_entries {
	uint64_t node_guid;
	uint8_t port;
	uint32_t zeroed_s;
	unsigned n;
	uint64_t age_ms[TRIAD_PMA_N_ATTRIBUTES];
	enum triad_pma_attribute attribute[TRIAD_PMA_N_ATTRIBUTES];
	struct triad_details_report report[TRIAD_PMA_N_ATTRIBUTES];
};

/* Writes a message piece by piece. */
struct triad_detail_writer {
	struct triad_wire wire;
	size_t node_at; /* of the present node's number of rows; 0: no node yet */
	uint64_t node_guid;
	uint32_t n_rows;
};

void triad_detail_writer_begin(struct triad_detail_writer *writer,
	const struct triad_collect_head *head, uint8_t *to, size_t size);
/* 'entries' has attributes in ascending order.  Returns false, with nothing written,
 * when there is no room.  Pass rows of a node one after the other. */
bool triad_detail_writer_put(
	struct triad_detail_writer *writer, const struct triad_detail_entries *entries);

/* Reads a message, after its head. */
struct triad_detail_reader {
	struct triad_wire *wire;
	struct triad_detail_entry entry; /* what was read last */
	unsigned n_rows_left;            /* rows of the node still to come */
	uint32_t zeros, others; /* attributes of the row that are still to come */
	uint64_t zeros_age_ms;
};

void triad_detail_reader_begin(
	struct triad_detail_reader *reader, struct triad_wire *body);

enum triad_detail_next {
	TRIAD_DETAIL_ENTRY, /* 'reader->entry' has it */
	TRIAD_DETAIL_END,
	TRIAD_DETAIL_BROKEN, /* the rest is malformed */
};
enum triad_detail_next triad_detail_reader_next(struct triad_detail_reader *reader);

#endif
