/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The benchmark's part for Prometheus; see export.c. */
#include <inttypes.h>

#include "perfmgr/formats/metrics.h"
#include "tests/bench/bench.h"
#include "tests/bench/export.h"
#include "tests/heap.h"
#include "tests/sim/views.h"

#define PIECE (32 * 1024)
/* For more ports a subnet has no LIDs if each switch has 36 hosts.  Switches are large
 * then, and most of their ports have no link. */
#define MOST_OF_SMALL_SWITCHES 90000

struct bench {
	uint64_t seed;
	struct triad_view *view;
	uint64_t first_us, text_us, copy_us;
	size_t octets, lines, memory;
};

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
	size_t before = heap_in_use(), size;
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
	bench->memory = heap_in_use() - before;
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
		/* The compiler must not remove the copy. */
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
	printf(as_json ? "\"metrics\":{\"ports\":%u,\"seed\":%" PRIu64
			 ",\"first_us\":%" PRIu64
			 ",\"text_ms\":%.1f,\"octets\":%zu,\"lines\":%zu,"
			 "\"ns_per_line\":%.1f,\"memory\":%zu,\"copy_ratio\":%.2f}"
		       : "Prometheus, %u ports (seed %" PRIu64
			 "): first piece after %" PRIu64
			 " us, all after %.1f ms, %zu octets in %zu lines, %.1f ns a "
			 "line, %zu octets of memory, %.2f times a copy\n",
		bench->view->fabric->n_ports, bench->seed, bench->first_us,
		(double)bench->text_us / 1000, bench->octets, bench->lines,
		ratio(bench->text_us * 1000, bench->lines), bench->memory,
		ratio(bench->text_us, bench->copy_us));
}

void bench_metrics(unsigned n_ports, bool as_json)
{
	struct bench bench = {.seed = 20260101};
	bool is_large = n_ports > MOST_OF_SMALL_SWITCHES;
	unsigned n_hosts = is_large ? 8 : 36, n_spare = is_large ? 170 : 0;
	/* Each switch has two neighbours. */
	unsigned per_switch = n_hosts + 2 + n_spare + n_hosts;
	struct triad_fabric *fabric =
		fabric_mixed(1 + n_ports / per_switch, n_hosts, n_spare, bench.seed);
	struct triad_engine *engine = need(triad_engine_new());

	bench.view = view_mixed(engine, fabric, bench.seed);
	measure(&bench, as_json);
	triad_view_unref(bench.view);
	triad_engine_free(engine);
	triad_fabric_unref(fabric);
}
