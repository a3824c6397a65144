/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fixture of tests of the collector: a row of four switches with ten hosts each,
 * simulated agents, and a clock that advances when the collector's owner would
 * sleep. */
#ifndef TRIAD_TESTS_UNIT_PERFMGR_FIXTURE_H
#define TRIAD_TESTS_UNIT_PERFMGR_FIXTURE_H

#include <time.h>

#include "perfmgr/collector.h"
#include "tests/sim/agents.h"
#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"

#define S UINT64_C(1000000)
#define MS UINT64_C(1000)

static struct triad_fabric *fabric;
static struct agents *agents;
static struct triad_collector *collector;
static struct triad_collector_params params;
static unsigned seed;

/* The sink for alerts.  A test that needs alerts sets it before set_up(). */
static const struct triad_alerts_sink *fixture_sink;

static inline void set_up(void)
{
	seed = (unsigned)time(NULL);
	fabric = fabric_row(4, 10);
	agents = agents_new(fabric, seed);
	collector = triad_collector_new(&agents->clock, fixture_sink, NULL);
	params = (struct triad_collector_params){
		.period_us = 10 * S,
		.sweep = {.mode = TRIAD_SWEEP_FULL,
			.window = 16,
			.node_window = 4,
			.retries = 2,
			.timeout_us = 100 * MS},
	};
	triad_collector_set_params(collector, &params);
	triad_collector_set_transport(collector, &agents->transport);
	triad_collector_set_fabric(collector, fabric);
}

static inline void tear_down(void)
{
	triad_collector_free(collector);
	agents_free(agents);
	triad_fabric_unref(fabric);
}

/* Runs the collector until 'n' sweeps have ended; the clock advances when the owner
 * would sleep. */
static inline struct triad_collector_status sweep(unsigned n)
{
	struct triad_collector_status status = triad_collector_status(collector);
	uint64_t goal = status.n_sweeps + n;

	for (unsigned turns = 0; status.n_sweeps < goal; turns++) {
		agents->now_us += triad_collector_step(collector);
		status = triad_collector_status(collector);
		ck_assert_msg(turns < 1000000, "seed %u: the sweep never ends", seed);
	}
	return status;
}

static inline unsigned n_ports_with_pma(void)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		n += fabric->ports[i].has_pma;
	return n;
}

static inline uint32_t find_port(uint64_t guid, unsigned number)
{
	return triad_fabric_find_port(
		fabric, triad_fabric_find_node(fabric, guid), number);
}

static inline struct triad_engine_row read_port(uint32_t port)
{
	struct triad_view *view = triad_collector_view(collector);
	struct triad_engine_row row;

	ck_assert_ptr_nonnull(view);
	ck_assert(triad_engine_read(view->engine, view->rows[port], &row));
	triad_view_unref(view);
	return row;
}

static inline void set_all_counters(uint64_t base)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		for (unsigned c = 0; c < TRIAD_N_COUNTERS; c++)
			agents->raw[i][c] =
				triad_counters[c].bits && !triad_counters[c].ext_offset
				? (base + i + c) % 15
				: base + i * 1000 + c;
}

static inline void check_totals(void)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		struct triad_engine_row row;

		if (!fabric->ports[i].has_pma)
			continue;
		row = read_port(i);
		ck_assert(row.answered);
		for (unsigned c = 0; c < TRIAD_N_COUNTERS; c++)
			if (c != TRIAD_QP1_DROPPED)
				ck_assert_uint_eq(row.total[c], agents->raw[i][c]);
		ck_assert(!(row.has & 1u << TRIAD_QP1_DROPPED));
	}
}

static inline void set_mode(enum triad_sweep_mode mode)
{
	params.sweep.mode = mode;
	triad_collector_set_params(collector, &params);
}

static inline void change_fabric(struct triad_fabric *other)
{
	triad_fabric_unref(fabric);
	fabric = other;
	agents_move_to(agents, fabric);
	triad_collector_set_fabric(collector, fabric);
}

static inline void reset_port(uint32_t port, bool hardware)
{
	struct triad_view *view = triad_collector_view(collector);
	struct triad_selection *selection = triad_selection_new(view);

	selection->chosen[port] = 1;
	selection->hardware = hardware;
	triad_collector_reset(collector, selection);
	triad_selection_free(selection);
	triad_view_unref(view);
}

#endif
