/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A day of images of a busy fabric: their cost, and the time to read one.
 *
 *     history [--ports N] [--sweeps N] [--busy PERCENT] [--modules] [--lists]
 *             [--dir DIR] [--json]
 *
 * --modules: an optical module at each port, whose readings change each 300 s
 * --lists: each port has an expected state, and one is tested in each sweep; each node
 *          has an owner; histograms of all counters, over all ports and in two groups
 *
 * octets          size of all images on the disk at the end, with a sweep each 10 s of
 *                 simulated time
 * octets_most     their largest size at any time
 * ns_per_port     to write an image, all tiers together
 * core_percent    of a core, with a sweep each 10 s
 * read_ms         to restore an image, with rates
 * series_ms       for 64 points of one port's counter
 *
 * Nothing here is asserted: machines differ. */
#include <dirent.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/kept_histograms.h"
#include "collect/kept_owners.h"
#include "lib/hash.h"
#include "perfmgr/engine.h"
#include "portmgr/plan/port_row.h"
#include "tests/unit/history/kept.h"
#include "tests/random.h"
#include "triad/clock.h"

#define PERIOD_US (10 * TRIAD_US_PER_S)
#define PORTS_PER_SWITCH 40
#define BEGIN_US (UINT64_C(1767323045) * TRIAD_US_PER_S)
#define N_READS 20u
#define N_POINTS 64u
#define N_SCOPES 3u /* all ports, and two groups */

struct bench {
	unsigned n_ports, n_sweeps, busy_percent;
	bool has_modules, has_lists;
	uint64_t seed, now_us, spent_us, most;
	struct triad_engine *engine;
	struct triad_view *view;
	struct triad_history_store *store;
	struct triad_history_answers answers;
	struct kept_reader reader;
	struct triad_history_params params;
	struct triad_pma_reading data;
	struct triad_kept_list lists[TRIAD_N_KEPT];
	struct triad_histogram histograms[N_SCOPES][TRIAD_N_COUNTERS];
	uint64_t n_zeros[N_SCOPES];
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "history: %s\n", what);
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
	char name[TRIAD_NODE_NAME_SIZE];

	for (unsigned i = 0; i < n_ports; i++) {
		uint64_t node_number = i / PORTS_PER_SWITCH;
		struct triad_fabric_node node = {
			.guid = 0x248a070300000000 + node_number * 0x40,
			.type = TRIAD_NODE_SWITCH};
		struct triad_fabric_port port = {
			.number = (uint8_t)(1 + i % PORTS_PER_SWITCH),
			.lid = (uint16_t)(1 + node_number),
			.state = TRIAD_PORT_ACTIVE,
			.width = 2,
			.speed_ext = 2,
			.has_pma = true};

		snprintf(name, sizeof(name), "switch-%04u", (unsigned)node_number);
		if (i % PORTS_PER_SWITCH == 0)
			triad_fabric_builder_add_node(builder, &node, name, NULL, 0);
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

	bench->engine = need(triad_engine_new());
	bench->view = need(triad_view_new(bench->engine, fabric, NULL));
	if (triad_engine_adopt(bench->engine, fabric, 1, bench->view->rows))
		die("the engine takes no fabric of that size");
	triad_fabric_unref(fabric);
}

/* Every port answers; the counters of busy ones grow, those of data by up to 10 GB. */
static void sweep(struct bench *bench)
{
	bench->now_us += PERIOD_US;
	for (unsigned i = 0; i < bench->n_ports; i++) {
		uint32_t row = bench->view->rows[i];
		bool is_busy = i % 100 < bench->busy_percent;
		struct triad_engine_row before;

		triad_engine_read(bench->engine, row, &before);
		for (unsigned c = TRIAD_FIRST_WIDE_COUNTER; c < TRIAD_N_COUNTERS; c++)
			bench->data.raw[c] = before.total[c] +
				(is_busy ? random_next(&bench->seed) %
							UINT64_C(2500000000)
					 : 0);
		triad_engine_update(bench->engine, row,
			TRIAD_PMA_PORT_COUNTERS_EXTENDED, &bench->data, bench->now_us);
		triad_engine_mark(bench->engine, row, true);
	}
}

/* A reading with some noise. */
static uint16_t read_noisy(uint64_t seed, unsigned base, unsigned noise)
{
	return (uint16_t)(base + triad_hash_word(TRIAD_HASH_START, seed) % noise);
}

static bool read_cable(
	void *context, uint64_t guid, uint8_t port, struct triad_cable_known *known)
{
	const struct bench *bench = context;
	uint64_t round = bench->now_us / (300 * TRIAD_US_PER_S);
	uint64_t seed = (guid + port) * 1000003 + round * 16;
	struct triad_cable *cable = &known->cable;

	if (!bench->has_modules)
		return false;
	*known = (struct triad_cable_known){
		.module = TRIAD_MODULE_KNOWN, .read_us = bench->now_us};
	cable->identifier = 0x11;
	cable->n_lanes = 4;
	cable->has_rx_power = cable->has_tx_power = cable->has_bias = true;
	strcpy(cable->vendor, "Mellanox");
	strcpy(cable->part, "MFS1S00-H020V");
	snprintf(cable->serial, sizeof(cable->serial), "MT%012" PRIX64,
		triad_hash_word(TRIAD_HASH_START, guid + port) & 0xffffffffffff);
	cable->temperature = (int16_t)read_noisy(seed, 35 * 256, 3 * 256);
	cable->voltage = read_noisy(seed + 1, 33000, 100);
	for (unsigned i = 0; i < 4; i++) {
		cable->rx[i] = read_noisy(seed + 2 + i, 8000, 200);
		cable->tx[i] = read_noisy(seed + 6 + i, 9000, 50);
		cable->bias[i] = read_noisy(seed + 10 + i, 3350, 20);
	}
	return true;
}

/* --- lists --- */

static void list_ports(struct bench *bench, unsigned number)
{
	const struct triad_fabric *fabric = bench->view->fabric;
	struct triad_kept_list *list = &bench->lists[TRIAD_KEPT_PORTS];
	struct triad_port_rows_head head = {.generation = 1};
	uint8_t octets[TRIAD_PORT_ROW_SIZE];

	triad_kept_list_begin(list);
	triad_kept_list_add(list, octets, triad_port_rows_head_put(&head, octets));
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];
		const struct triad_fabric_node *node = &fabric->nodes[port->node];
		struct triad_port_row row = {.node_guid = node->guid,
			.number = port->number,
			.state = port->state,
			.phys_state = 5,
			.is_admitted = true,
			.is_tested = i == number % fabric->n_ports};

		memcpy(row.node, node->name, sizeof(row.node));
		snprintf(row.remote, sizeof(row.remote), "host-%04u, port 1", i);
		triad_kept_list_add(list, octets, triad_port_row_put(&row, octets));
	}
}

static void list_owners(struct bench *bench)
{
	const struct triad_fabric *fabric = bench->view->fabric;
	struct triad_kept_list *list = &bench->lists[TRIAD_KEPT_OWNERS];
	struct triad_kept_agent agent = {.name = "agent", .address = "10.0.0.1"};
	struct triad_kept_owner *owners =
		need(calloc(fabric->n_nodes, sizeof(*owners)));

	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		owners[i] =
			(struct triad_kept_owner){.node_guid = fabric->nodes[i].guid,
				.id = 1 + i % 16,
				.hops = 2};
	triad_kept_list_begin(list);
	triad_kept_owners_add(list, owners, fabric->n_nodes);
	free(owners);
	for (agent.id = 1; agent.id <= 16; agent.id++)
		triad_kept_owners_add_agent(list, &agent);
}

/* Rates of up to 1 GB/s; half of the counters don't change. */
static void list_histograms(struct bench *bench)
{
	static const char *const groups[N_SCOPES] = {"", "storage", "login"};
	struct triad_kept_list *list = &bench->lists[TRIAD_KEPT_HISTOGRAMS];

	triad_kept_list_begin(list);
	for (unsigned scope = 0; scope < N_SCOPES; scope++) {
		bench->n_zeros[scope] += bench->n_ports / (1 + scope);
		for (unsigned c = 0; c < TRIAD_N_COUNTERS; c++) {
			struct triad_histogram *histogram =
				&bench->histograms[scope][c];

			for (unsigned i = 0; c % 2 && i < 1000; i++) {
				double rate = (double)(random_next(&bench->seed) %
					UINT64_C(250000000));

				(void)triad_histogram_add(histogram,
					triad_histogram_place(
						rate * TRIAD_HISTOGRAM_STEPS_PER_UNIT));
			}
			triad_kept_histograms_add(list, groups[scope], c, histogram,
				bench->n_zeros[scope]);
		}
	}
}

static const struct triad_kept_list *list_all(struct bench *bench, unsigned number)
{
	if (!bench->has_lists)
		return NULL;
	list_ports(bench, number);
	list_owners(bench);
	list_histograms(bench);
	return bench->lists;
}

static void drop_lists(struct bench *bench)
{
	for (unsigned i = 0; i < TRIAD_N_KEPT; i++)
		triad_kept_list_clear(&bench->lists[i]);
	for (unsigned scope = 0; scope < N_SCOPES; scope++)
		for (unsigned c = 0; c < TRIAD_N_COUNTERS; c++)
			triad_histogram_clear(&bench->histograms[scope][c]);
}

static void write_image(struct bench *bench, unsigned number)
{
	const struct triad_history_image image = {
		.head = {.sm = "master", .sweep = number},
		.view = bench->view,
		.since_us = bench->now_us,
		.wall_us = BEGIN_US + bench->now_us,
		.offset_us = (int64_t)BEGIN_US,
		.port_guid = 1,
		.started_us = BEGIN_US,
		.period_us = PERIOD_US,
		.sources = {.context = bench, .read_cable = read_cable},
		.lists = list_all(bench, number),
	};
	struct triad_history_status status;

	if (keep_image(bench->store, &bench->answers, &image))
		die("an image was not written");
	status = triad_history_store_status(bench->store);
	bench->spent_us += status.took_us;
	if (status.octets > bench->most)
		bench->most = status.octets;
}

static double read_ms(struct bench *bench)
{
	uint64_t begun_us = triad_clock_now_us(), span_us = bench->now_us - PERIOD_US;
	char message[TRIAD_HISTORY_MESSAGE_SIZE];

	for (unsigned i = 0; i < N_READS; i++) {
		uint64_t ago_us = random_next(&bench->seed) % span_us / 2;
		struct triad_past *past =
			triad_history_reader_read(bench->reader.reader,
				BEGIN_US + bench->now_us - ago_us, message);

		if (!past)
			die(message);
		triad_past_free(past);
	}
	return (double)(triad_clock_now_us() - begun_us) / 1000 / N_READS;
}

static double series_ms(struct bench *bench)
{
	const struct triad_fabric *fabric = bench->view->fabric;
	uint64_t begun_us = triad_clock_now_us();
	const struct triad_fabric_node *node = &fabric->nodes[fabric->n_nodes / 2];
	const struct triad_history_request request = {.node_guid = node->guid,
		.port = 1,
		.counter = TRIAD_PORT_XMIT_DATA,
		.to_us = UINT64_MAX,
		.n = N_POINTS};
	struct triad_history_point points[TRIAD_HISTORY_MAX_POINTS];
	char message[TRIAD_HISTORY_MESSAGE_SIZE];

	if (!triad_history_reader_series(
		    bench->reader.reader, &request, points, message))
		die(message);
	return (double)(triad_clock_now_us() - begun_us) / 1000;
}

static void clean(const char *path)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	char name[600];

	while (dir && (entry = readdir(dir))) {
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(name);
	}
	if (dir)
		closedir(dir);
	rmdir(path);
}

static void run(struct bench *bench, bool as_json)
{
	struct triad_history_status status;
	double ns, core;

	for (unsigned i = 1; i <= bench->n_sweeps; i++) {
		sweep(bench);
		write_image(bench, i);
	}
	status = triad_history_store_status(bench->store);
	ns = (double)bench->spent_us * 1000 / bench->n_sweeps / bench->n_ports;
	core = (double)bench->spent_us / bench->n_sweeps / (double)PERIOD_US * 100;
	printf(as_json ? "{\"ports\":%u,\"sweeps\":%u,\"busy_percent\":%u,"
			 "\"images_kept\":%" PRIu64 ",\"octets\":%" PRIu64
			 ",\"octets_most\":%" PRIu64
			 ",\"ns_per_port\":%.1f,\"core_percent\":%.2f,"
			 "\"read_ms\":%.1f,\"series_ms\":%.1f}\n"
		       : "%u ports, %u sweeps, %u %% busy: %" PRIu64
			 " images kept, %" PRIu64 " octets, %" PRIu64
			 " at most; %.1f ns a port, %.2f %% of a core; %.1f ms to read "
			 "one, %.1f ms for a series\n",
		bench->n_ports, bench->n_sweeps, bench->busy_percent, status.n_kept,
		status.octets, bench->most, ns, core, read_ms(bench), series_ms(bench));
}

static void read_options(struct bench *bench, int argc, char **argv, bool *as_json)
{
	for (int i = 1; i < argc; i++) {
		bool has_value = i + 1 < argc;

		if (!strcmp(argv[i], "--json"))
			*as_json = true;
		else if (!strcmp(argv[i], "--modules"))
			bench->has_modules = true;
		else if (!strcmp(argv[i], "--lists"))
			bench->has_lists = true;
		else if (!strcmp(argv[i], "--ports") && has_value)
			bench->n_ports = (unsigned)strtoul(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--sweeps") && has_value)
			bench->n_sweeps = (unsigned)strtoul(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--busy") && has_value)
			bench->busy_percent = (unsigned)strtoul(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--dir") && has_value)
			snprintf(bench->params.dir, sizeof(bench->params.dir), "%s",
				argv[++i]);
		else
			die("usage: history [--ports N] [--sweeps N] [--busy PERCENT] "
			    "[--modules] [--lists] [--dir DIR] [--json]");
	}
	if (!bench->n_ports || bench->n_ports > TRIAD_PAST_MAX_PORTS ||
		bench->n_sweeps < 3)
		die("--ports must be from 1 to 262144, --sweeps 3 at least");
}

int main(int argc, char **argv)
{
	struct bench bench = {.n_ports = 10000,
		.n_sweeps = 8640,
		.busy_percent = 100,
		.seed = 20260101,
		.params = {.limits = {.max_octets = UINT64_C(1) << 40,
				   .keep_us = UINT64_C(31) * 24 * 3600 * TRIAD_US_PER_S,
				   .period_us = PERIOD_US}}};
	bool as_json = false;

	read_options(&bench, argc, argv, &as_json);
	if (!bench.params.dir[0]) {
		snprintf(bench.params.dir, sizeof(bench.params.dir),
			"%s/triad-bench-XXXXXX", g_get_tmp_dir());
		if (!mkdtemp(bench.params.dir))
			die("no folder");
	}
	for (unsigned c = TRIAD_FIRST_WIDE_COUNTER; c < TRIAD_N_COUNTERS; c++)
		bench.data.has |= 1u << c;
	for (unsigned i = 0; i < N_SCOPES * TRIAD_N_COUNTERS; i++)
		triad_histogram_init(
			&bench.histograms[i / TRIAD_N_COUNTERS][i % TRIAD_N_COUNTERS],
			TRIAD_HISTOGRAM_MOST);
	make_view(&bench);
	bench.store = need(triad_history_store_new(NULL));
	strcpy(bench.params.program, "bench");
	bench.params.port_guid = 1;
	if (!kept_reader_open(&bench.reader, bench.store))
		die("not enough memory");
	triad_history_store_configure(bench.store, &bench.params);
	run(&bench, as_json);
	kept_reader_close(&bench.reader);
	triad_history_answers_clear(&bench.answers);
	triad_history_store_free(bench.store);
	clean(bench.params.dir);
	drop_lists(&bench);
	triad_view_unref(bench.view);
	triad_engine_free(bench.engine);
	return 0;
}
