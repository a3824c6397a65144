/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A fabric whose counters the test sets, images of it, and as the oracle a copy of the
 * contents of each image. */
#ifndef TRIAD_TESTS_UNIT_HISTORY_FIXTURE_H
#define TRIAD_TESTS_UNIT_HISTORY_FIXTURE_H

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "history/image.h"
#include "tests/random.h"
#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

#define S TRIAD_US_PER_S
#define MAX_PORTS 64u
#define GUID UINT64_C(0x1234)
/* The time of the first image: 2026-01-02T03:04:05Z. */
#define BEGIN_US (UINT64_C(1767323045) * S)

/* The expected contents of an image for a port. */
struct copy {
	bool was_read;
	uint32_t full; /* bit i: counter i is at its maximum */
	enum triad_history_quiet quiet;
	uint64_t total[TRIAD_N_COUNTERS];
};

struct copied {
	uint64_t wall_us;
	uint32_t n_ports;
	struct copy ports[MAX_PORTS];
};

struct world {
	uint64_t seed, now_us; /* monotonic; the wall clock is BEGIN_US later */
	struct triad_fabric *fabric;
	struct triad_engine *engine;
	struct triad_view *view;
	struct copy ports[MAX_PORTS]; /* by index in the present fabric */
	uint64_t n_images;
	uint64_t zeroed_us;                 /* when totals were set to 0; wall clock */
	struct triad_history_output output; /* a command's, for the next image */
	struct triad_history_sources sources;
};

/* Adopts a fabric; ports keep their totals. */
static inline void world_adopt(struct world *world, struct triad_fabric *fabric)
{
	triad_view_unref(world->view);
	triad_fabric_unref(world->fabric);
	world->fabric = fabric;
	ck_assert_uint_le(fabric->n_ports, MAX_PORTS);
	world->view = triad_view_new(world->engine, fabric, NULL);
	ck_assert_ptr_nonnull(world->view);
	ck_assert_int_eq(triad_engine_adopt(world->engine, fabric, world->now_us,
				 world->view->rows),
		0);
}

static inline void world_begin(struct world *world, uint64_t seed)
{
	*world = (struct world){.seed = seed, .now_us = 3600 * S};
	world->engine = triad_engine_new();
	world_adopt(world, fabric_row(2, 4));
}

static inline void world_end(struct world *world)
{
	triad_view_unref(world->view);
	triad_fabric_unref(world->fabric);
	triad_engine_free(world->engine);
	triad_history_output_clear(&world->output);
}

static inline void world_report(struct world *world, uint32_t port)
{
	struct copy *copy = &world->ports[port];
	struct triad_engine_report report = {.read_us = world->now_us,
		.has = (1u << TRIAD_N_COUNTERS) - 1,
		.answered = true};

	memcpy(report.base, copy->total, sizeof(report.base));
	for (unsigned c = 0; c < TRIAD_N_COUNTERS; c++)
		if (copy->full & 1u << c) {
			report.raw[c] = triad_counter_max(c);
			report.base[c] -= report.raw[c];
		}
	triad_engine_take(world->engine, world->view->rows[port], &report);
	copy->was_read = true;
}

/* A sweep: some ports count, some don't, one in sixteen is silent. */
static inline void world_sweep(struct world *world, uint64_t after_us)
{
	world->now_us += after_us;
	for (uint32_t i = 0; i < world->fabric->n_ports; i++) {
		struct copy *copy = &world->ports[i];
		bool is_busy = random_below(&world->seed, 3) != 0;

		if (!world->fabric->ports[i].has_pma)
			continue;
		copy->quiet = TRIAD_HISTORY_READ;
		if (!random_below(&world->seed, 16)) {
			copy->quiet = TRIAD_HISTORY_UNANSWERED;
			triad_engine_mark(world->engine, world->view->rows[i], false);
			continue;
		}
		for (unsigned c = 0; is_busy && c < TRIAD_N_COUNTERS; c++)
			if (!random_below(&world->seed, 2))
				copy->total[c] += random_below(&world->seed, 1000);
		world_report(world, i);
	}
}

static inline struct copied world_copy(const struct world *world)
{
	struct copied copied = {
		.wall_us = BEGIN_US + world->now_us, .n_ports = world->fabric->n_ports};

	memcpy(copied.ports, world->ports, sizeof(copied.ports));
	return copied;
}

static inline struct triad_history_image world_image(struct world *world)
{
	return (struct triad_history_image){
		.head = {.sm = "master",
			.sweep = ++world->n_images,
			.generation = 1,
			.zeroed_us = world->zeroed_us,
			.alerts = {.n_raised = world->n_images}},
		.view = world->view,
		.since_us = world->now_us,
		.wall_us = BEGIN_US + world->now_us,
		.offset_us = (int64_t)BEGIN_US,
		.port_guid = GUID,
		.started_us = BEGIN_US,
		.period_us = 10 * S,
		.outputs = &world->output,
		.n_outputs = world->output.size || world->output.is_left_out,
		.sources = world->sources,
	};
}

#endif
