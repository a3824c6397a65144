/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* DATA: the present counters of ports, as the agent that reads them has them.
 *
 * Model: a row is a port's state: the last hardware values and, for totals that differ
 * from them, the difference total - value ('base': 0 until the hardware or the total is
 * reset; modulo 2^64).  So a lost row costs only freshness, and an agent that takes a
 * port over can continue from the hardware's values.
 *
 * After the head (message.h):
 *
 *    20  u32 number     of this sender's DATA, from 1 on
 *    24  u64 clock      the sender's monotonic clock, microseconds, as it was sent
 *    32  u32 n_sweep    sweeps that the sender ended
 *    36  u32 n_ports    with counters, that it owns
 *    40  u32 n_silent   of these, the ports that did not answer in its last sweep
 *    44  u32 again      the DATA from this number on were requested again, and their rows
 *                       have been sent again
 *    48  u32 since      from this number on; both 0: never
 *    52  nodes, up to the end of the message:
 *        u64 node GUID
 *        u8  number of rows
 *        rows:
 *           u8  port
 *           u8  flags      below
 *           v   age        milliseconds from when it was read to 'clock'
 *           v   zeroed     when its totals were set to 0, in seconds of the sender's
 *                          clock, and 1; 0: never
 *           u24 has        only with HAS: counters that it has (bit i: counter i);
 *                          otherwise TRIAD_COLLECT_USUAL
 *           u24 not zero   of these, counters whose value is not 0
 *           v...           the value of each of these; see below
 *           u24 based      only with BASES: counters whose total differs from the value
 *           z...           the base of each of these
 *           u32 findings   only with FINDINGS: the raised causes (enum triad_alert_cause),
 *                          as bits
 *           v   resets     only with RESETS: resets by others; resets by us
 *
 * v: 7 bits an octet, the lowest first, the high bit set in all but the last; at most
 * 10 octets.  z: v, of a signed number (2n for n >= 0, else -2n - 1).
 *
 * PortUnicastXmitPkts and PortUnicastRcvPkts usually equal PortXmitPkts and PortRcvPkts
 * minus multicast.  So if a row has both of those, the unicast counters are sent as the
 * difference from that, as z.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_COLLECT_DATA_H
#define TRIAD_COLLECT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/message.h"
#include "ib/counter.h"

/* Flags of a row. */
enum {
	TRIAD_COLLECT_ROW_ANSWERED = 1 << 0, /* it answered the last request */
	TRIAD_COLLECT_ROW_HAS = 1 << 1,
	TRIAD_COLLECT_ROW_BASES = 1 << 2,
	TRIAD_COLLECT_ROW_FINDINGS = 1 << 3,
	TRIAD_COLLECT_ROW_RESETS = 1 << 4,
	/* Errors and PortXmitWait have 64 bits.  Their values are still those that
	 * PortCounters can have; the bases have the rest.  So a value at that maximum
	 * has not stopped there. */
	TRIAD_COLLECT_ROW_WIDE = 1 << 5,
};

/* The counters of an agent with 64-bit counters: all. */
#define TRIAD_COLLECT_USUAL ((1u << TRIAD_N_COUNTERS) - 1)

_Static_assert(TRIAD_N_COUNTERS <= 24, "three octets hold a set of them");

struct triad_collect_data {
	uint32_t number;
	uint64_t clock_us;
	uint32_t n_sweeps;
	uint32_t n_ports;
	uint32_t n_silent;
	uint32_t again_from, again_since;
};

struct triad_collect_row {
	uint64_t node_guid;
	uint8_t port;
	bool answered;
	bool has_wide_errors;
	uint32_t age_ms;
	uint32_t zeroed_s; /* 0: never */
	uint32_t has;
	uint32_t findings;
	uint32_t n_others_resets, n_own_resets;
	uint64_t raw[TRIAD_N_COUNTERS];
	uint64_t base[TRIAD_N_COUNTERS];
};

/* The most octets of a row with its node. */
#define TRIAD_COLLECT_MAX_ROW_SIZE                                                     \
	(9 + 2 + 10 + 10 + 4 * 3 + 20 + 20 * TRIAD_N_COUNTERS)

/* Writes a message piece by piece. */
struct triad_collect_data_writer {
	struct triad_wire wire;
	size_t node_at; /* of the present node's number of rows; 0: no node yet */
	uint64_t node_guid;
	uint32_t n_rows;
};

/* False when 'size' is too small for the beginning of a message. */
bool triad_collect_data_begin(struct triad_collect_data_writer *writer,
	const struct triad_collect_head *head, const struct triad_collect_data *data,
	uint8_t *to, size_t size);
/* Returns false, with nothing written, when there is no room.  Pass rows of a node one
 * after the other. */
bool triad_collect_data_put(
	struct triad_collect_data_writer *writer, const struct triad_collect_row *row);
/* Octets of the message. */
static inline size_t triad_collect_data_end(
	const struct triad_collect_data_writer *writer)
{
	return writer->wire.at;
}

/* Reads a message, after its head. */
struct triad_collect_data_reader {
	struct triad_wire *wire;
	uint64_t node_guid;
	unsigned left; /* rows of the node */
};
bool triad_collect_data_open(struct triad_collect_data_reader *reader,
	struct triad_wire *body, struct triad_collect_data *data);
enum triad_collect_next {
	TRIAD_COLLECT_ROW,
	TRIAD_COLLECT_END,
	TRIAD_COLLECT_BROKEN, /* the rest is malformed */
};
enum triad_collect_next triad_collect_data_next(
	struct triad_collect_data_reader *reader, struct triad_collect_row *row);

#endif
