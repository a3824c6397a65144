/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One sweep of readings through the counter engine, compared with the memory's speed.
 *
 *     engine [--ports N] [--json]
 *
 * ns_per_port     one reading of each attribute, every counter changed, the ports in a
 *                 random order (seed printed)
 * wide_ns_per_port
 *                 the same of agents with 64-bit errors: one reading of one attribute
 * large_ns_per_port
 *                 and with all errors beyond 16 bits
 * read_ns_per_port
 *                 a reader's copy of a port's row, the ports in that order
 * octets_per_port size of the engine
 * copy_ratio      that time over the time of memcpy of ports x octets_per_port
 * watch           the same for a sweep of a busy fabric and the evaluation after it:
 *                 the data counters, PortXmitWait and packets of every port change,
 *                 errors of one port in a hundred; then rates, thresholds and
 *                 histograms
 *   ns_per_port       both
 *   look_ns_per_port  the evaluation alone
 *   octets_per_port   of histograms and alerts
 *
 * Best of five rounds each, in turn.  Nothing here is asserted: machines differ. */
#include <inttypes.h>

#include "perfmgr/engine.h"
#include "perfmgr/watch/watch.h"
#include "tests/bench/bench.h"
#include "tests/random.h"
#include "tests/sim/fabrics.h"

/* The collector knows a port while it decodes the answer, so it prefetches the port
 * that many updates ahead. */
#define PORTS_AHEAD 4

/* One port in so many has changed errors. */
#define PORTS_PER_ERROR 100

struct bench {
	unsigned n_ports;
	struct triad_view *view;
	struct triad_watch *watch;
	uint64_t seed;
	struct triad_engine *engine;
	uint32_t *rows;  /* in the order of the fabric */
	uint32_t *order; /* rows, shuffled */
};

static void drop_alert(
	void *context, enum triad_alert_change change, const struct triad_alert *alert)
{
}

static void make_watch(struct bench *bench, struct triad_fabric *fabric)
{
	static const struct triad_alerts_sink sink = {.take = drop_alert};
	struct triad_groups *groups;
	struct triad_conf *conf = need(triad_conf_new(1));

	groups = need(triad_groups_new(conf));
	bench->view = need(triad_view_new(bench->engine, fabric, groups));
	memcpy(bench->view->rows, bench->rows, bench->n_ports * sizeof(*bench->rows));
	triad_groups_unref(groups);
	bench->watch = need(triad_watch_new(&sink));
	triad_watch_configure(bench->watch, conf, false, 1);
	triad_conf_unref(conf);
	if (triad_watch_adopt(bench->watch, bench->view, 1))
		die("out of memory");
}

static void shuffle(struct bench *bench)
{
	memcpy(bench->order, bench->rows, bench->n_ports * sizeof(*bench->order));
	for (unsigned i = bench->n_ports; i > 1; i--) {
		unsigned j = random_below(&bench->seed, i);
		uint32_t row = bench->order[i - 1];

		bench->order[i - 1] = bench->order[j];
		bench->order[j] = row;
	}
}

/* Returns the microseconds of one sweep; with 'all_errors' those of every port
 * change. */
static uint64_t sweep(struct bench *bench, bool all_errors, uint64_t now_us)
{
	struct triad_pma_reading errors = {0}, quiet, data = {0};
	unsigned n = 0;
	uint64_t begun_us;

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		struct triad_pma_reading *reading =
			triad_counters[i].ext_offset ? &data : &errors;

		reading->has |= 1u << i;
		reading->raw[i] = now_us / TRIAD_US_PER_S;
	}
	quiet = errors;
	for (unsigned i = 0; i < TRIAD_PORT_XMIT_WAIT; i++)
		quiet.raw[i] = 0;
	begun_us = triad_clock_now_us();
	for (unsigned i = 0; i < bench->n_ports; i++) {
		if (i + PORTS_AHEAD < bench->n_ports)
			triad_engine_prefetch(
				bench->engine, bench->order[i + PORTS_AHEAD]);
		triad_engine_update(bench->engine, bench->order[i],
			TRIAD_PMA_PORT_COUNTERS,
			all_errors || n++ % PORTS_PER_ERROR == 0 ? &errors : &quiet,
			now_us);
		triad_engine_update(bench->engine, bench->order[i],
			TRIAD_PMA_PORT_COUNTERS_EXTENDED, &data, now_us);
		triad_engine_mark(bench->engine, bench->order[i], true);
	}
	return triad_clock_now_us() - begun_us;
}

/* Returns the microseconds of one sweep of agents with 64-bit errors, which are 'errors'
 * in all ports. */
static uint64_t sweep_wide(struct bench *bench, uint64_t errors, uint64_t now_us)
{
	struct triad_pma_reading reading = {.has = (1u << TRIAD_N_COUNTERS) - 1};
	uint64_t begun_us;

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		reading.raw[i] =
			i < TRIAD_PORT_XMIT_WAIT ? errors : now_us / TRIAD_US_PER_S;
	begun_us = triad_clock_now_us();
	for (unsigned i = 0; i < bench->n_ports; i++) {
		if (i + PORTS_AHEAD < bench->n_ports)
			triad_engine_prefetch(
				bench->engine, bench->order[i + PORTS_AHEAD]);
		triad_engine_update(bench->engine, bench->order[i],
			TRIAD_PMA_PORT_COUNTERS_EXTENDED, &reading, now_us);
		triad_engine_mark(bench->engine, bench->order[i], true);
	}
	return triad_clock_now_us() - begun_us;
}

/* Returns the nanoseconds a port of such sweeps. */
static double measure_wide(struct bench *bench, uint64_t errors, uint64_t now_us)
{
	uint64_t best_us = UINT64_MAX;

	for (unsigned i = 0; i <= ROUNDS; i++, now_us += 60 * TRIAD_US_PER_S) {
		uint64_t sweep_us = sweep_wide(bench, errors * (i + 1), now_us);

		/* Of the first one errors come from another attribute. */
		if (i)
			best_us = least(best_us, sweep_us);
	}
	return (double)best_us * 1000 / bench->n_ports;
}

/* Returns the microseconds in which a reader copies all rows. */
static uint64_t read_all(struct bench *bench)
{
	uint64_t begun_us = triad_clock_now_us(), sum = 0;
	struct triad_engine_row row;

	for (unsigned i = 0; i < bench->n_ports; i++) {
		if (triad_engine_read(bench->engine, bench->order[i], &row))
			sum += row.total[0];
	}
	if (!sum)
		die("nothing was counted");
	return triad_clock_now_us() - begun_us;
}

struct watched {
	double ns_per_port, look_ns_per_port, octets_per_port;
};

/* Measures sweeps with the evaluation after each. */
static struct watched measure_watch(struct bench *bench)
{
	uint64_t now_us = 3600 * TRIAD_US_PER_S, best_us = UINT64_MAX,
		 best_look_us = UINT64_MAX;
	double per_port = 1000.0 / bench->n_ports;

	for (unsigned i = 0; i <= ROUNDS; i++, now_us += 60 * TRIAD_US_PER_S) {
		uint64_t sweep_us = sweep(bench, false, now_us), begun_us, look_us;

		begun_us = triad_clock_now_us();
		triad_watch_end_sweep(bench->watch, now_us, false, now_us);
		look_us = triad_clock_now_us() - begun_us;
		if (!i)
			continue; /* the error counters' resets */
		best_us = least(best_us, sweep_us + look_us);
		best_look_us = least(best_look_us, look_us);
	}
	return (struct watched){
		.ns_per_port = (double)best_us * per_port,
		.look_ns_per_port = (double)best_look_us * per_port,
		.octets_per_port = (double)triad_watch_status(bench->watch).octets /
			bench->n_ports,
	};
}

static void measure(struct bench *bench, bool as_json)
{
	struct watched watched;
	double wide_ns, large_ns;
	size_t octets = triad_engine_octets(bench->engine);
	char *from = need(malloc(octets)), *to = need(malloc(octets));
	uint64_t sweep_us = UINT64_MAX, copy_us = UINT64_MAX, read_us = UINT64_MAX,
		 seed = bench->seed;

	memset(from, 1, octets);
	memset(to, 1, octets);
	shuffle(bench);
	for (unsigned i = 1; i <= ROUNDS; i++) {
		sweep_us = least(sweep_us, sweep(bench, true, i * 60 * TRIAD_US_PER_S));
		copy_us = least(copy_us, copy(to, from, octets));
		read_us = least(read_us, read_all(bench));
	}
	watched = measure_watch(bench);
	wide_ns = measure_wide(bench, 100, 7200 * TRIAD_US_PER_S);
	large_ns = measure_wide(bench, 100000, 10800 * TRIAD_US_PER_S);
	printf(as_json ? "{\"ports\":%u,\"seed\":%" PRIu64 ",\"ns_per_port\":%.1f,"
			 "\"wide_ns_per_port\":%.1f,\"large_ns_per_port\":%.1f,"
			 "\"read_ns_per_port\":%.1f,\"octets_per_port\":%.1f,"
			 "\"copy_ratio\":%.2f,\"watch\":{"
			 "\"ns_per_port\":%.1f,\"look_ns_per_port\":%.1f,"
			 "\"octets_per_port\":%.1f}}\n"
		       : "%u ports (seed %" PRIu64 "): %.1f ns, with 64-bit "
			 "errors %.1f, large %.1f, to read %.1f ns, and "
			 "%.1f octets a port, %.2f times a copy\n"
			 "watched: %.1f ns, of these %.1f after the sweep; %.1f octets "
			 "more\n",
		bench->n_ports, seed, (double)sweep_us * 1000 / bench->n_ports, wide_ns,
		large_ns, (double)read_us * 1000 / bench->n_ports,
		(double)octets / bench->n_ports,
		(double)sweep_us / (double)(copy_us ? copy_us : 1), watched.ns_per_port,
		watched.look_ns_per_port, watched.octets_per_port);
	free(from);
	free(to);
}

int main(int argc, char **argv)
{
	struct bench bench = {.n_ports = 1000000, .seed = 20260101};
	struct triad_fabric *fabric;
	bool as_json = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			as_json = true;
		else if (strcmp(argv[i], "--ports") == 0 && i + 1 < argc)
			bench.n_ports = (unsigned)strtoul(argv[++i], NULL, 10);
		else
			die("usage: engine [--ports N] [--json]");
	}
	if (!bench.n_ports || bench.n_ports > TRIAD_FABRIC_MAX_PORTS)
		die("--ports must be from 1 to 4194304");
	fabric = need(fabric_of_ports(bench.n_ports));
	bench.engine = need(triad_engine_new());
	bench.rows = need(calloc(bench.n_ports, sizeof(*bench.rows)));
	bench.order = need(calloc(bench.n_ports, sizeof(*bench.order)));
	if (triad_engine_adopt(bench.engine, fabric, 1, bench.rows))
		die("the engine takes no fabric of that size");
	make_watch(&bench, fabric);
	measure(&bench, as_json);
	triad_watch_free(bench.watch);
	triad_view_unref(bench.view);
	free(bench.rows);
	free(bench.order);
	triad_engine_free(bench.engine);
	triad_fabric_unref(fabric);
	return 0;
}
