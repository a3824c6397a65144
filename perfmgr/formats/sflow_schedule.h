/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Schedules counter samples: which port gives one when, and as which interface.
 *
 * Pace: each interval is a round over the ports of the fabric, in order and at even
 * distances, so that a port is sampled at the same moment of each round.  A late caller
 * gets the ports that have become due, but not more than those of TRIAD_SFLOW_CATCH_UP_US.
 * Any further delay postpones the whole round ("slipped"), so that a pause causes no burst
 * and skips no port.
 *
 * With a new fabric the round continues at the port that would have been next.  New ports
 * before it wait for the next round.
 *
 * Interfaces: each (node GUID, port number) has an ifIndex, from 1 on in the order in which
 * ports were seen, and a sequence number for its samples.  A port that left keeps both for
 * a day, or until more ports are away than present, as the engine keeps its row.  An index
 * is reused only when all higher ones, up to the last, have been used.
 *
 * The sequence number begins again at 1 when counters do not go on from the last sample
 * [sFlow v5 5, counters_sample]: when totals were set to 0, when the port has other
 * counters than before (within a session a counter is always there or never), or when their
 * sum decreased because the engine had dropped the row.
 *
 * Time: monotonic; one that goes back makes nothing due.
 * Thread-safety: none.
 * Memory: 24 octets a port of the fabric, which is referenced, and 40 for each one away;
 * twice that while a fabric is adopted. */
#ifndef TRIAD_PERFMGR_SFLOW_SCHEDULE_H
#define TRIAD_PERFMGR_SFLOW_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/engine.h"
#include "triad/fabric.h"

#define TRIAD_SFLOW_CATCH_UP_US UINT64_C(100000)

struct triad_sflow_schedule;

struct triad_sflow_schedule_status {
	uint64_t n_rounds;        /* ended */
	uint64_t round_us;        /* how long the last one took; 0: none ended */
	uint64_t worst_jitter_us; /* the greatest |round - interval|, without pauses */
	uint64_t slipped_us;      /* in total */
	uint32_t n_ports;
	uint32_t n_away;
	size_t octets;
};

/* 'last_index' is TRIAD_SFLOW_MAX_INDEX except in tests; 'interval_us' from 1 to 2^40.
 * NULL when memory is short. */
struct triad_sflow_schedule *triad_sflow_schedule_new(
	uint32_t last_index, uint64_t interval_us);

/* Accepts NULL. */
void triad_sflow_schedule_free(struct triad_sflow_schedule *schedule);

/* Changes the pace; the round continues at its port. */
void triad_sflow_schedule_set_interval(
	struct triad_sflow_schedule *schedule, uint64_t interval_us, uint64_t now_us);

/* Sets the fabric whose ports are sampled; no effect if it is the same.  Returns 0, ENOMEM
 * or EOVERFLOW (no index is left); then nothing changed. */
int triad_sflow_schedule_adopt(struct triad_sflow_schedule *schedule,
	struct triad_fabric *fabric, uint64_t now_us);

/* Announces a long pause, so that the round is not measured. */
void triad_sflow_schedule_pause(struct triad_sflow_schedule *schedule);

/* True when a port is due: '*port' is its index in the fabric. */
bool triad_sflow_schedule_next(
	struct triad_sflow_schedule *schedule, uint64_t now_us, uint32_t *port);

/* When the next one is; UINT64_MAX when there are no ports. */
uint64_t triad_sflow_schedule_next_us(const struct triad_sflow_schedule *schedule);

/* Counts a sample of 'port' with the totals in 'row'.  Returns its sequence number;
 * '*if_index' is the port's. */
uint32_t triad_sflow_schedule_count(struct triad_sflow_schedule *schedule,
	uint32_t port, const struct triad_engine_row *row, uint32_t *if_index);

/* The interface that 'port' is. */
uint32_t triad_sflow_schedule_if_index(
	const struct triad_sflow_schedule *schedule, uint32_t port);

/* True when an index over TRIAD_SFLOW_MAX_COMPACT_INDEX was ever used. */
bool triad_sflow_schedule_is_expanded(const struct triad_sflow_schedule *schedule);

struct triad_sflow_schedule_status triad_sflow_schedule_status(
	const struct triad_sflow_schedule *schedule);

#endif
