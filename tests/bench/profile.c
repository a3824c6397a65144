/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A sweep of a busy fabric into a profile, compared with the memory's speed.
 *
 *     profile [--ports N] [--file PATH] [--json]
 *
 * rows_per_s      written, every port's data changed; to PATH, or to a file in TMPDIR
 *                 that is removed
 * ns_per_row      the same
 * text_per_row    octets of a row before it is compressed
 * octets_per_row  and after
 * copy_ratio      that time over the time of memcpy of the text
 * quiet_ns        for each port of a sweep without changes
 * all             the same with all counters
 *
 * Best of five rounds each, in turn.  Nothing here is asserted: machines differ. */
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfmgr/engine.h"
#include "perfmgr/formats/profile_section.h"
#include "perfmgr/view.h"
#include "serve/profile_writer.h"
#include "tests/random.h"
#include "triad/clock.h"

#define ROUNDS 5
#define PIECE 4096u
#define PORTS_PER_SWITCH 40

struct bench {
	unsigned n_ports;
	uint64_t seed, now_us;
	struct triad_engine *engine;
	struct triad_view *view;
	struct triad_profile_section_params section;
	struct triad_profile_sections *sections;
	struct triad_profile_writer *writer;
	struct triad_profile_params params;
	unsigned n_sections;
	struct triad_pma_reading data;
	/* A piece of the text, of the size that triadd reads at a time. */
	char piece[PIECE];
	size_t n_piece;
};

struct figures {
	double ns_per_row, text_per_row, octets_per_row, quiet_ns, copy_ratio;
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "profile: %s\n", what);
	exit(1);
}

static void *need(void *memory)
{
	if (!memory)
		die("out of memory");
	return memory;
}

/* Makes pairs of switches that are linked port to port. */
static struct triad_fabric *make_fabric(unsigned n_ports)
{
	struct triad_fabric_builder *builder = need(triad_fabric_builder_new(NULL));
	struct triad_fabric *fabric;

	for (unsigned i = 0; i < n_ports; i++) {
		uint64_t node_number = i / PORTS_PER_SWITCH;
		struct triad_fabric_node node = {
			.guid = 0x248a070300000000 + node_number * 0x40,
			.type = TRIAD_NODE_SWITCH};
		struct triad_fabric_port port = {
			.number = (uint8_t)(1 + i % PORTS_PER_SWITCH),
			.width = 2,
			.speed_ext = 2,
			.has_pma = true};

		if (i % PORTS_PER_SWITCH == 0)
			triad_fabric_builder_add_node(builder, &node, "", NULL, 0);
		triad_fabric_builder_add_port(builder, &port,
			0x248a070300000000 + (node_number ^ 1) * 0x40, port.number);
	}
	if (triad_fabric_build(builder, 0x248a070300000001, &fabric))
		die("no fabric");
	triad_fabric_builder_free(builder);
	return fabric;
}

static void make_view(struct bench *bench)
{
	struct triad_fabric *fabric = make_fabric(bench->n_ports);
	uint32_t *rows = need(calloc(bench->n_ports, sizeof(*rows)));
	struct triad_groups *groups;
	struct triad_conf *conf = need(triad_conf_new(1));

	groups = need(triad_groups_new(conf));
	triad_conf_unref(conf);
	bench->engine = need(triad_engine_new());
	if (triad_engine_adopt(bench->engine, fabric, 1, rows))
		die("the engine takes no fabric of that size");
	bench->view = need(triad_view_new(bench->engine, fabric, groups));
	memcpy(bench->view->rows, rows, bench->n_ports * sizeof(*rows));
	free(rows);
	triad_groups_unref(groups);
	triad_fabric_unref(fabric);
}

/* Reads every port's counters; in a busy sweep, those of data grow by up to 10 GB. */
static void sweep(struct bench *bench, bool is_busy)
{
	bench->now_us += 10 * TRIAD_US_PER_S;
	for (unsigned i = 0; i < bench->n_ports; i++) {
		uint32_t row = bench->view->rows[i];
		struct triad_engine_row before;

		if (is_busy) {
			triad_engine_read(bench->engine, row, &before);
			for (unsigned c = TRIAD_FIRST_WIDE_COUNTER;
				c < TRIAD_N_COUNTERS; c++)
				bench->data.raw[c] = before.total[c] +
					random_next(&bench->seed) %
						UINT64_C(2500000000);
		} else {
			triad_engine_read(bench->engine, row, &before);
			memcpy(bench->data.raw, before.total, sizeof(before.total));
		}
		triad_engine_update(bench->engine, row,
			TRIAD_PMA_PORT_COUNTERS_EXTENDED, &bench->data, bench->now_us);
		triad_engine_mark(bench->engine, row, true);
	}
}

static bool write_piece(struct bench *bench)
{
	size_t size = bench->n_piece;

	bench->n_piece = 0;
	return !triad_profile_writer_take(bench->writer, bench->piece, size);
}

static bool put_line(void *context, const char *line, size_t size)
{
	struct bench *bench = context;

	if (bench->n_piece + size > sizeof(bench->piece) && !write_piece(bench))
		return false;
	memcpy(bench->piece + bench->n_piece, line, size);
	bench->n_piece += size;
	return true;
}

/* Renders and writes without the socket between them. */
static double write_ns(struct bench *bench)
{
	const struct triad_profile_sink sink = {.put = put_line, .context = bench};
	uint64_t begun_us = triad_clock_now_us(),
		 wall_us = UINT64_C(1767323045678000) + bench->now_us;
	struct triad_profile_request request;
	char head[128];

	(void)triad_profile_writer_begin(
		bench->writer, wall_us, bench->now_us, &request);
	bench->n_sections++;
	snprintf(head, sizeof(head), "= profile %" PRIu64 " 1.%u %u\n", wall_us,
		bench->n_sections, bench->n_sections);
	if (triad_profile_writer_take(bench->writer, head, strlen(head)) ||
		!triad_profile_sections_put(bench->sections, &bench->section,
			bench->view, wall_us, bench->now_us, &sink) ||
		!write_piece(bench) ||
		triad_profile_writer_end(bench->writer, true, NULL))
		die("the sweep was not written");
	return (double)(triad_clock_now_us() - begun_us) * 1000 / bench->n_ports;
}

static double copy_ns(const struct bench *bench, size_t size)
{
	char *from = need(malloc(size)), *to = need(malloc(size));
	double best = 1e18;

	memset(from, 1, size);
	memset(to, 1, size);
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t begun_us = triad_clock_now_us();
		double ns;

		memcpy(to, from, size);
		/* The compiler must not remove the copy. */
		__asm__ volatile("" : : "r"(to) : "memory");
		ns = (double)(triad_clock_now_us() - begun_us) * 1000 / bench->n_ports;
		best = ns < best ? ns : best;
	}
	free(from);
	free(to);
	return best > 0 ? best : 1e-3;
}

static struct figures measure(struct bench *bench, bool all_counters)
{
	struct figures figures = {.ns_per_row = 1e18, .quiet_ns = 1e18};
	struct triad_profile_status before, after;

	bench->section.all_counters = all_counters;
	triad_profile_writer_configure(bench->writer, &bench->params);
	for (unsigned i = 0; i < ROUNDS; i++) {
		double ns, n;

		sweep(bench, true);
		before = triad_profile_writer_status(bench->writer);
		ns = write_ns(bench);
		after = triad_profile_writer_status(bench->writer);
		n = (double)(after.n_rows - before.n_rows);
		figures.ns_per_row = ns < figures.ns_per_row ? ns : figures.ns_per_row;
		figures.text_per_row =
			(double)(after.n_text_octets - before.n_text_octets) / n;
		figures.octets_per_row = (double)(after.n_octets - before.n_octets) / n;
		sweep(bench, false);
		ns = write_ns(bench);
		figures.quiet_ns = ns < figures.quiet_ns ? ns : figures.quiet_ns;
	}
	figures.copy_ratio = figures.ns_per_row /
		copy_ns(bench, (size_t)(figures.text_per_row * bench->n_ports));
	return figures;
}

static void print_json(const struct figures *figures)
{
	printf("\"rows_per_s\":%.0f,\"ns_per_row\":%.1f,\"text_per_row\":%.1f,"
	       "\"octets_per_row\":%.1f,\"copy_ratio\":%.1f,\"quiet_ns\":%.1f",
		1e9 / figures->ns_per_row, figures->ns_per_row, figures->text_per_row,
		figures->octets_per_row, figures->copy_ratio, figures->quiet_ns);
}

static void print_text(const struct figures *figures)
{
	printf("%.0f rows a second, %.1f ns each; %.1f octets of text, %.1f "
	       "compressed; %.1f times a copy; %.1f ns a quiet port\n",
		1e9 / figures->ns_per_row, figures->ns_per_row, figures->text_per_row,
		figures->octets_per_row, figures->copy_ratio, figures->quiet_ns);
}

static void run(struct bench *bench, bool as_json)
{
	void (*print)(const struct figures *) = as_json ? print_json : print_text;
	const struct figures data = measure(bench, false), all = measure(bench, true);

	printf(as_json ? "{\"ports\":%u," : "%u ports: ", bench->n_ports);
	print(&data);
	fputs(as_json ? ",\"all\":{" : "with all counters: ", stdout);
	print(&all);
	if (as_json)
		puts("}}");
}

int main(int argc, char **argv)
{
	struct bench bench = {.n_ports = 1000000,
		.seed = 20260101,
		.now_us = 3600 * TRIAD_US_PER_S,
		.params = {.max_size_octets = UINT64_MAX / 2,
			.max_age_us = UINT64_MAX,
			.keep = 1}};
	bool as_json = false, is_own = true;

	snprintf(bench.params.path, sizeof(bench.params.path),
		"%s/triad-bench-%d.csv.zst", g_get_tmp_dir(), (int)getpid());
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json")) {
			as_json = true;
		} else if (!strcmp(argv[i], "--ports") && i + 1 < argc) {
			bench.n_ports = (unsigned)strtoul(argv[++i], NULL, 10);
		} else if (!strcmp(argv[i], "--file") && i + 1 < argc) {
			snprintf(bench.params.path, sizeof(bench.params.path), "%s",
				argv[++i]);
			is_own = false;
		} else {
			die("usage: profile [--ports N] [--file PATH] [--json]");
		}
	}
	if (!bench.n_ports || bench.n_ports > TRIAD_FABRIC_MAX_PORTS)
		die("--ports must be from 1 to 4194304");
	for (unsigned c = TRIAD_FIRST_WIDE_COUNTER; c < TRIAD_N_COUNTERS; c++)
		bench.data.has |= 1u << c;
	make_view(&bench);
	bench.writer = need(triad_profile_writer_new(NULL));
	bench.sections = need(triad_profile_sections_new(1, 1));
	run(&bench, as_json);
	triad_profile_writer_free(bench.writer);
	triad_profile_sections_free(bench.sections);
	if (is_own)
		unlink(bench.params.path);
	triad_view_unref(bench.view);
	triad_engine_free(bench.engine);
	return 0;
}
