/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One sweep of readings through the counter engine, beside the memory's own speed.
 *
 *     engine [--ports N] [--json]
 *
 * ns_per_port     one reading of each attribute, every counter changed, the ports in a
 *                 random order (seed printed)
 * octets_per_port what the engine takes
 * copy_ratio      that time over the time of memcpy of ports x octets_per_port
 *
 * Best of five rounds each, in turn.  Nothing here is asserted: machines differ. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/engine.h"
#include "triad/clock.h"

#define ROUNDS 5
#define PORTS_PER_SWITCH 40
/* The collector knows a port while its answer is decoded: so long before the update. */
#define PORTS_AHEAD 4

struct bench {
	unsigned n_ports;
	uint64_t seed;
	struct triad_engine *engine;
	uint32_t *rows;  /* in the order of the fabric */
	uint32_t *order; /* rows, shuffled */
};

static void die(const char *what)
{
	fprintf(stderr, "engine: %s\n", what);
	exit(1);
}

static void *need(void *memory)
{
	if (!memory)
		die("out of memory");
	return memory;
}

static uint64_t dice(struct bench *bench)
{
	bench->seed ^= bench->seed << 13;
	bench->seed ^= bench->seed >> 7;
	bench->seed ^= bench->seed << 17;
	return bench->seed;
}

static struct triad_fabric *make_fabric(unsigned n_ports)
{
	struct triad_fabric_builder *builder = need(triad_fabric_builder_new(NULL));
	struct triad_fabric *fabric;

	for (unsigned i = 0; i < n_ports; i++) {
		struct triad_fabric_node node = {.guid = 1 + i / PORTS_PER_SWITCH};
		struct triad_fabric_port port = {
			.number = (uint8_t)(1 + i % PORTS_PER_SWITCH), .has_pma = true};

		if (i % PORTS_PER_SWITCH == 0)
			triad_fabric_builder_add_node(builder, &node, "", NULL, 0);
		triad_fabric_builder_add_port(builder, &port, 0, 0);
	}
	if (triad_fabric_build(builder, 0, &fabric))
		die("no fabric");
	triad_fabric_builder_free(builder);
	return fabric;
}

static void shuffle(struct bench *bench)
{
	memcpy(bench->order, bench->rows, bench->n_ports * sizeof(*bench->order));
	for (unsigned i = bench->n_ports; i > 1; i--) {
		unsigned j = (unsigned)(dice(bench) % i);
		uint32_t row = bench->order[i - 1];

		bench->order[i - 1] = bench->order[j];
		bench->order[j] = row;
	}
}

/* Microseconds for one sweep. */
static uint64_t sweep(struct bench *bench, uint64_t now_us)
{
	struct triad_pma_reading errors = {0}, data = {0};
	uint64_t begun_us;

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		struct triad_pma_reading *reading =
			triad_counters[i].ext_offset ? &data : &errors;

		reading->has |= 1u << i;
		reading->raw[i] = now_us / TRIAD_US_PER_S;
	}
	begun_us = triad_clock_now_us();
	for (unsigned i = 0; i < bench->n_ports; i++) {
		if (i + PORTS_AHEAD < bench->n_ports)
			triad_engine_prefetch(
				bench->engine, bench->order[i + PORTS_AHEAD]);
		triad_engine_update(bench->engine, bench->order[i],
			TRIAD_PMA_PORT_COUNTERS, &errors, now_us);
		triad_engine_update(bench->engine, bench->order[i],
			TRIAD_PMA_PORT_COUNTERS_EXTENDED, &data, now_us);
		triad_engine_mark(bench->engine, bench->order[i], true);
	}
	return triad_clock_now_us() - begun_us;
}

static uint64_t copy(void *to, const void *from, size_t size)
{
	uint64_t begun_us = triad_clock_now_us();

	memcpy(to, from, size);
	/* The copy must happen. */
	__asm__ volatile("" : : "r"(to) : "memory");
	return triad_clock_now_us() - begun_us;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void measure(struct bench *bench, bool as_json)
{
	size_t octets = triad_engine_octets(bench->engine);
	char *from = need(malloc(octets)), *to = need(malloc(octets));
	uint64_t sweep_us = UINT64_MAX, copy_us = UINT64_MAX, seed = bench->seed;

	memset(from, 1, octets);
	memset(to, 1, octets);
	shuffle(bench);
	for (unsigned i = 1; i <= ROUNDS; i++) {
		sweep_us = least(sweep_us, sweep(bench, i * 60 * TRIAD_US_PER_S));
		copy_us = least(copy_us, copy(to, from, octets));
	}
	printf(as_json ? "{\"ports\":%u,\"seed\":%" PRIu64 ",\"ns_per_port\":%.1f,"
			 "\"octets_per_port\":%.1f,\"copy_ratio\":%.2f}\n"
		       : "%u ports (seed %" PRIu64 "): %.1f ns and %.1f octets a port, "
			 "%.2f times a copy\n",
		bench->n_ports, seed, (double)sweep_us * 1000 / bench->n_ports,
		(double)octets / bench->n_ports,
		(double)sweep_us / (double)(copy_us ? copy_us : 1));
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
	fabric = make_fabric(bench.n_ports);
	bench.engine = need(triad_engine_new());
	bench.rows = need(calloc(bench.n_ports, sizeof(*bench.rows)));
	bench.order = need(calloc(bench.n_ports, sizeof(*bench.order)));
	if (triad_engine_adopt(bench.engine, fabric, 1, bench.rows))
		die("the engine takes no fabric of that size");
	measure(&bench, as_json);
	free(bench.rows);
	free(bench.order);
	triad_engine_free(bench.engine);
	triad_fabric_unref(fabric);
	return 0;
}
