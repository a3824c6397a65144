/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Schedules counter samples of ports, and numbers ports as interfaces.
 *
 * Pace: each interval, one round goes over the ports of the fabric in their order, at
 * even distances, so that a port is sampled at the same moment of each round.  A late
 * caller gets the ports that became due in the last TRIAD_SFLOW_CATCH_UP_US.  A longer
 * delay moves the whole round back ("slipped"), so that a pause makes no burst and no
 * port is left out.
 *
 * In a new fabric the round goes on at the port that would have been next.  Ports
 * before it in the order wait for the next round.
 *
 * Interfaces: each (node GUID, port number) has an ifIndex, from 1 on in the order in
 * which ports were seen, and a sequence number for its samples.  A port that left keeps
 * both for a day, as the engine keeps its row; but all are dropped when ports away
 * outnumber those present by more than 8,192.  An index is reused only when all higher
 * ones, up to the last, have been given out.
 *
 * The sequence number begins again at 1 when counters do not go on from the last sample
 * [sFlow v5 5, counters_sample]: when totals were zeroed, when the port has other
 * counters than before (those of a session are always there or never), or when their
 * sum went back, because the engine had to free the row.
 *
 * Time: monotonic; one that goes back makes nothing due.
 * Thread-safety: none.
 * Memory: 24 octets a port of the fabric, which is referenced, and 40 for each one
 * away; twice that while a fabric is adopted. */
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
	uint64_t round_us;        /* duration of the last one; 0: none ended */
	uint64_t worst_jitter_us; /* the greatest |round - interval|, pauses left out */
	uint64_t slipped_us;      /* all in all */
	uint32_t n_ports;
	uint32_t n_absent;
	size_t octets;
};

/* 'last_index' is TRIAD_SFLOW_MAX_INDEX except in tests; 'interval_us' is from 1 to
 * 2^40.  NULL when memory is short. */
struct triad_sflow_schedule *triad_sflow_schedule_new(
	uint32_t last_index, uint64_t interval_us);

/* Accepts NULL. */
void triad_sflow_schedule_free(struct triad_sflow_schedule *schedule);

/* Changes the pace; the round goes on at its port. */
void triad_sflow_schedule_set_interval(
	struct triad_sflow_schedule *schedule, uint64_t interval_us, uint64_t now_us);

/* Samples the ports of 'fabric' from now on; does nothing when it is the present one.
 * Returns 0, or ENOMEM or EOVERFLOW (no index is left) with nothing changed. */
int triad_sflow_schedule_adopt(struct triad_sflow_schedule *schedule,
	struct triad_fabric *fabric, uint64_t now_us);

/* The caller pauses for long: don't measure this round. */
void triad_sflow_schedule_pause(struct triad_sflow_schedule *schedule);

/* True when a port is due: '*port' is its index in the fabric. */
bool triad_sflow_schedule_next(
	struct triad_sflow_schedule *schedule, uint64_t now_us, uint32_t *port);

/* When the next port is due; UINT64_MAX when there are no ports. */
uint64_t triad_sflow_schedule_next_us(const struct triad_sflow_schedule *schedule);

/* Counts a sample of 'port' with the totals in 'row'.  Returns its sequence number;
 * '*if_index' is the port's. */
uint32_t triad_sflow_schedule_count(struct triad_sflow_schedule *schedule,
	uint32_t port, const struct triad_engine_row *row, uint32_t *if_index);

/* The ifIndex of 'port'. */
uint32_t triad_sflow_schedule_if_index(
	const struct triad_sflow_schedule *schedule, uint32_t port);

/* True when an index over TRIAD_SFLOW_MAX_COMPACT_INDEX was ever used. */
bool triad_sflow_schedule_is_expanded(const struct triad_sflow_schedule *schedule);

struct triad_sflow_schedule_status triad_sflow_schedule_status(
	const struct triad_sflow_schedule *schedule);

#endif
