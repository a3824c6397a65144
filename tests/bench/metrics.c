/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The text that Prometheus gets, beside the memory's own speed.
 *
 *     metrics [--ports N] [--json]
 *
 * first_us      from a generator's making to its first 32 KiB
 * text_ms       to the end of the text, in pieces of 32 KiB
 * octets        of the text
 * lines         of the text, samples but for some
 * ns_per_line   of text_ms
 * memory        octets that the generator took
 * copy_ratio    that time over the time of memcpy of as many octets, piece by piece
 *
 * Best of five rounds each, in turn.  Nothing here is asserted: machines differ. */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/formats/metrics.h"
#include "tests/sim/views.h"
#include "triad/clock.h"

#define ROUNDS 5
#define PIECE (32 * 1024)
#define PORTS_PER_SWITCH 38 /* 36 hosts, two neighbours */

struct bench {
	unsigned n_ports;
	uint64_t seed;
	struct triad_view *view;
	uint64_t first_us, text_us, copy_us;
	size_t octets, lines, memory;
};

static void die(const char *what)
{
	fprintf(stderr, "metrics: %s\n", what);
	exit(1);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static size_t count_lines(const char *text, size_t size)
{
	const char *end = text + size;
	size_t n = 0;

	while ((text = memchr(text, '\n', (size_t)(end - text)))) {
		text++;
		n++;
	}
	return n;
}

static void write_text(struct bench *bench, char *piece)
{
	struct triad_metrics_params params = {.view = bench->view};
	size_t before = mallinfo2().uordblks, size;
	uint64_t begun_us = triad_clock_now_us(), text_us;
	struct triad_metrics *metrics = triad_metrics_new(&params);

	if (!metrics)
		die("out of memory");
	bench->octets = triad_metrics_fill(metrics, piece, PIECE);
	bench->first_us = least(bench->first_us, triad_clock_now_us() - begun_us);
	while ((size = triad_metrics_fill(metrics, piece, PIECE)))
		bench->octets += size;
	text_us = triad_clock_now_us() - begun_us;
	bench->text_us = least(bench->text_us, text_us);
	bench->memory = mallinfo2().uordblks - before;
	triad_metrics_free(metrics);
}

static void count_text(struct bench *bench, char *piece)
{
	struct triad_metrics_params params = {.view = bench->view};
	struct triad_metrics *metrics = triad_metrics_new(&params);
	size_t size;

	if (!metrics)
		die("out of memory");
	while ((size = triad_metrics_fill(metrics, piece, PIECE)))
		bench->lines += count_lines(piece, size);
	triad_metrics_free(metrics);
}

static void copy_text(struct bench *bench, char *to, const char *from)
{
	uint64_t begun_us = triad_clock_now_us();

	for (size_t left = bench->octets; left; left -= left < PIECE ? left : PIECE) {
		memcpy(to, from, left < PIECE ? left : PIECE);
		/* The copy must happen. */
		__asm__ volatile("" : : "r"(to) : "memory");
	}
	bench->copy_us = least(bench->copy_us, triad_clock_now_us() - begun_us);
}

static void measure(struct bench *bench, bool as_json)
{
	static char piece[PIECE], other[PIECE];

	bench->first_us = bench->text_us = bench->copy_us = UINT64_MAX;
	for (unsigned i = 0; i < ROUNDS; i++) {
		write_text(bench, piece);
		copy_text(bench, other, piece);
	}
	count_text(bench, piece);
	printf(as_json ? "{\"ports\":%u,\"seed\":%" PRIu64 ",\"first_us\":%" PRIu64
			 ",\"text_ms\":%.1f,\"octets\":%zu,\"lines\":%zu,"
			 "\"ns_per_line\":%.1f,\"memory\":%zu,\"copy_ratio\":%.2f}\n"
		       : "%u ports (seed %" PRIu64 "): first piece after %" PRIu64
			 " us, all after %.1f ms, %zu octets in %zu lines, %.1f ns a "
			 "line, %zu octets of memory, %.2f times a copy\n",
		bench->view->fabric->n_ports, bench->seed, bench->first_us,
		(double)bench->text_us / 1000, bench->octets, bench->lines,
		(double)bench->text_us * 1000 / (double)(bench->lines + !bench->lines),
		bench->memory,
		(double)bench->text_us / (double)(bench->copy_us + !bench->copy_us));
}

int main(int argc, char **argv)
{
	struct bench bench = {.n_ports = 70000, .seed = 20260101};
	struct triad_fabric *fabric;
	struct triad_engine *engine;
	bool as_json = false;
	unsigned per_switch = PORTS_PER_SWITCH + 36;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			as_json = true;
		else if (strcmp(argv[i], "--ports") == 0 && i + 1 < argc)
			bench.n_ports = (unsigned)strtoul(argv[++i], NULL, 10);
		else
			die("usage: metrics [--ports N] [--json]");
	}
	if (!bench.n_ports || bench.n_ports > 1000000)
		die("--ports must be from 1 to 1000000");
	fabric = fabric_mixed(1 + bench.n_ports / per_switch, 36, bench.seed);
	engine = triad_engine_new();
	if (!engine)
		die("out of memory");
	bench.view = view_mixed(engine, fabric, bench.seed);
	measure(&bench, as_json);
	triad_view_unref(bench.view);
	triad_engine_free(engine);
	triad_fabric_unref(fabric);
	return 0;
}
