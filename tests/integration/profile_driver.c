/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Drives what renders the sections of profiles as the PerfManager does, and what writes
 * them as triadd does, on a fabric of its own: leaves with hosts, spines, and two links from
 * each leaf to each spine.
 *
 *     profile_driver [--sm GUID] [--seed N] [--leaves N] [--hosts N]
 *
 * Reads commands from standard input, one a line, and answers each with a line:
 *
 *     conf FILE COUNTERS MAX_SIZE MAX_AGE_S KEEP MIN_CHANGE
 *                  configures the writer; '-' is no file; sizes in octets
 *     time MS      sets the wall clock, in milliseconds since 1970
 *     busy PERCENT percentage of the ports that send in each sweep
 *     sweep N MS   N sweeps, each MS after the one before; answers with the writer's
 *                  last errno
 *     part         the next sweep reads every third port alone, a port group's
 *     silent       in the next sweep every other port answers; of the rest, half
 *                  answer one query of two
 *     zero         all totals become 0
 *     cut N        the next section ends after N lines
 *     miss N       N sweeps end without being asked for
 *     restart      as if the process that reads counters had begun anew
 *     status       the writer's status, as JSON
 *
 * The writer's log goes to standard error. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/engine.h"
#include "perfmgr/formats/profile_section.h"
#include "perfmgr/view.h"
#include "serve/profile_writer.h"
#include "triad/clock.h"

#define N_SPINES 2
#define N_PARALLEL 2
#define N_UPLINKS (N_SPINES * N_PARALLEL)

struct driver {
	uint64_t sm_guid;
	unsigned seed, n_leaves, n_hosts, busy_percent;
	struct triad_fabric *fabric;
	struct triad_groups *groups;
	struct triad_engine *engine;
	struct triad_view *view;
	struct triad_profile_section_params section;
	struct triad_profile_sections *sections;
	struct triad_profile_writer *writer;
	char key[48]; /* of the last section */
	uint64_t n_answers, n_sweeps, process, max_lines;
	struct triad_log log;
	uint64_t *words; /* of each port: sent, received */
	uint64_t now_us, wall_us;
	bool is_part, is_silent;
};

static void die(const char *what)
{
	fprintf(stderr, "profile_driver: %s\n", what);
	exit(1);
}

static void write_log(void *context, enum triad_log_level level, const char *line)
{
	(void)context;
	fprintf(stderr, "%u %s\n", level, line);
}

/* --- the fabric --- */

static void add_port(struct triad_fabric_builder *builder, uint64_t guid,
	unsigned number, uint64_t far_guid, unsigned far_number)
{
	struct triad_fabric_port port = {.guid = guid,
		.lid = 1,
		.number = (uint8_t)number,
		.state = TRIAD_PORT_ACTIVE,
		.width = 2,
		.speed = 4,
		.has_pma = true};

	triad_fabric_builder_add_port(builder, &port, far_guid, (uint8_t)far_number);
}

static uint64_t leaf_guid(unsigned leaf)
{
	return 0x200 + leaf;
}

static uint64_t spine_guid(unsigned spine)
{
	return 0x100 + spine;
}

static uint64_t host_guid(unsigned leaf, unsigned host)
{
	return 0x10000 + leaf * 256 + host;
}

static void add_leaf(const struct driver *driver, struct triad_fabric_builder *builder,
	unsigned leaf)
{
	struct triad_fabric_node node = {
		.guid = leaf_guid(leaf), .type = TRIAD_NODE_SWITCH};
	unsigned n_hosts = driver->n_hosts;

	triad_fabric_builder_add_node(builder, &node, "leaf", NULL, 0);
	for (unsigned i = 1; i <= n_hosts; i++)
		add_port(builder, node.guid, i, host_guid(leaf, i), 1);
	for (unsigned i = 0; i < N_UPLINKS; i++)
		add_port(builder, node.guid, n_hosts + 1 + i,
			spine_guid(i / N_PARALLEL),
			1 + leaf * N_PARALLEL + i % N_PARALLEL);
	for (unsigned i = 1; i <= n_hosts; i++) {
		struct triad_fabric_node host = {
			.guid = host_guid(leaf, i), .type = TRIAD_NODE_CA};

		triad_fabric_builder_add_node(builder, &host, "host", NULL, 0);
		add_port(builder, host.guid, 1, leaf_guid(leaf), i);
	}
}

static void make_fabric(struct driver *driver)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);

	for (unsigned spine = 0; builder && spine < N_SPINES; spine++) {
		struct triad_fabric_node node = {
			.guid = spine_guid(spine), .type = TRIAD_NODE_SWITCH};

		triad_fabric_builder_add_node(builder, &node, "spine", NULL, 0);
		for (unsigned i = 0; i < driver->n_leaves * N_PARALLEL; i++)
			add_port(builder, node.guid, 1 + i, leaf_guid(i / N_PARALLEL),
				driver->n_hosts + 1 + spine * N_PARALLEL +
					i % N_PARALLEL);
	}
	for (unsigned leaf = 0; builder && leaf < driver->n_leaves; leaf++)
		add_leaf(driver, builder, leaf);
	if (!builder || triad_fabric_build(builder, driver->sm_guid, &driver->fabric))
		die("no fabric");
	triad_fabric_builder_free(builder);
}

/* Every third port is in a group, for sweeps of that group alone. */
static void make_view(struct driver *driver)
{
	uint32_t n = driver->fabric->n_ports;
	uint32_t *rows = calloc(n, sizeof(*rows));
	struct triad_conf *conf = triad_conf_new(1);

	if (!conf)
		die("out of memory");
	conf->n_groups = 1;
	conf->groups[0] = (struct triad_conf_group){.name = "thirds"};
	driver->groups = triad_groups_new(conf);
	triad_conf_unref(conf);
	driver->engine = triad_engine_new();
	driver->words = calloc(2 * (size_t)n, sizeof(*driver->words));
	if (!rows || !driver->groups || !driver->engine || !driver->words ||
		triad_engine_adopt(driver->engine, driver->fabric, 1, rows))
		die("out of memory");
	driver->view = triad_view_new(driver->engine, driver->fabric, driver->groups);
	if (!driver->view)
		die("out of memory");
	memcpy(driver->view->rows, rows, n * sizeof(*rows));
	for (uint32_t i = 0; i < n; i++)
		driver->view->group[i] = i % 3 ? TRIAD_GROUP_NONE : 0;
	free(rows);
}

/* --- sweeps --- */

/* 'in_part': the port answered PortCounters alone. */
static void read_port(struct driver *driver, uint32_t i, bool in_part)
{
	struct triad_pma_reading data = {0}, errors = {0};

	for (unsigned c = 0; c < TRIAD_N_COUNTERS; c++) {
		struct triad_pma_reading *reading =
			triad_counters[c].ext_offset ? &data : &errors;

		reading->has |= 1u << c;
	}
	data.raw[TRIAD_PORT_XMIT_DATA] = driver->words[2 * i];
	data.raw[TRIAD_PORT_RCV_DATA] = driver->words[2 * i + 1];
	triad_engine_update(driver->engine, driver->view->rows[i],
		TRIAD_PMA_PORT_COUNTERS, &errors, driver->now_us);
	if (in_part)
		return;
	triad_engine_update(driver->engine, driver->view->rows[i],
		TRIAD_PMA_PORT_COUNTERS_EXTENDED, &data, driver->now_us);
}

/* The far end of a port receives what the port sends. */
static void send(struct driver *driver, uint64_t step_us)
{
	for (uint32_t i = 0; i < driver->fabric->n_ports; i++) {
		uint32_t far = driver->fabric->ports[i].remote;
		/* At most 1,000 words of 32 bits a microsecond, less than a link's 40
		 * Gb/s. */
		uint64_t n = (uint64_t)rand_r(&driver->seed) % (step_us * 1000 + 1);

		if ((unsigned)rand_r(&driver->seed) % 100 >= driver->busy_percent)
			continue;
		driver->words[2 * i] += n;
		if (far != TRIAD_FABRIC_NONE)
			driver->words[2 * far + 1] += n;
	}
}

/* Plays service/profile.c. */
static bool put_line(void *context, const char *line, size_t size)
{
	struct driver *driver = context;

	return driver->max_lines-- &&
		!triad_profile_writer_take(driver->writer, line, size);
}

static int write_section(struct driver *driver, uint64_t begun_us)
{
	const struct triad_profile_sink sink = {.put = put_line, .context = driver};
	uint64_t wall_us = driver->wall_us / TRIAD_US_PER_MS * TRIAD_US_PER_MS;
	struct triad_profile_request request;
	bool is_whole = true;
	char head[128];

	if (!triad_profile_writer_begin(
		    driver->writer, driver->wall_us, begun_us, &request))
		return 0;
	if (strtoull(request.after, NULL, 10) != wall_us) {
		if (strcmp(request.key, driver->key) != 0)
			triad_profile_sections_forget(driver->sections);
		snprintf(driver->key, sizeof(driver->key), "%" PRIu64 ".%" PRIu64,
			driver->process, ++driver->n_answers);
		snprintf(head, sizeof(head), "= profile %" PRIu64 " %s %" PRIu64 "\n",
			wall_us, driver->key, driver->n_sweeps);
		is_whole = !triad_profile_writer_take(
				   driver->writer, head, strlen(head)) &&
			triad_profile_sections_put(driver->sections, &driver->section,
				driver->view, wall_us, begun_us, &sink);
	}
	driver->max_lines = UINT64_MAX;
	return triad_profile_writer_end(driver->writer, is_whole, "it was cut");
}

static void restart(struct driver *driver)
{
	triad_profile_sections_free(driver->sections);
	driver->process += TRIAD_US_PER_S;
	driver->sections = triad_profile_sections_new(driver->sm_guid, driver->process);
	if (!driver->sections)
		die("out of memory");
	driver->n_answers = driver->n_sweeps = 0;
}

static int sweep(struct driver *driver, uint64_t step_ms)
{
	uint64_t step_us = step_ms * TRIAD_US_PER_MS, begun_us;

	driver->now_us += step_us;
	driver->wall_us += step_us;
	begun_us = driver->now_us;
	send(driver, step_us);
	driver->now_us += 100; /* answers arrive later */
	for (uint32_t i = 0; i < driver->fabric->n_ports; i++) {
		bool is_asked = !driver->is_part || i % 3 == 0;
		bool answers = !driver->is_silent || i % 2 == 0;

		if (is_asked && (answers || i % 4 == 1))
			read_port(driver, i, !answers);
		if (is_asked)
			triad_engine_mark(
				driver->engine, driver->view->rows[i], answers);
	}
	driver->is_part = driver->is_silent = false;
	driver->n_sweeps++;
	return write_section(driver, begun_us);
}

/* --- commands --- */

static void configure(struct driver *driver, char *words)
{
	struct triad_profile_params params = {0};
	char path[TRIAD_CONF_PATH_SIZE], counters[8];
	uint64_t max_age_s;

	if (sscanf(words, "%107s %7s %" SCNu64 " %" SCNu64 " %u %" SCNu64, path,
		    counters, &params.max_size_octets, &max_age_s, &params.keep,
		    &driver->section.min_change_octets) != 6)
		die("conf FILE COUNTERS MAX_SIZE MAX_AGE_S KEEP MIN_CHANGE");
	params.max_age_us = max_age_s * TRIAD_US_PER_S;
	driver->section.all_counters = !strcmp(counters, "all");
	if (strcmp(path, "-") != 0)
		strcpy(params.path, path);
	triad_profile_writer_configure(driver->writer, &params);
	puts("done");
}

static void show_status(struct driver *driver)
{
	struct triad_profile_status status =
		triad_profile_writer_status(driver->writer);

	printf("{\"frames\":%" PRIu64 ",\"rows\":%" PRIu64 ",\"octets\":%" PRIu64
	       ",\"text_octets\":%" PRIu64 ",\"files\":%" PRIu64 ",\"dropped\":%" PRIu64
	       ",\"skipped\":%" PRIu64 ",\"file_octets\":%" PRIu64
	       ",\"error\":%d,\"reason\":\"%s\"}\n",
		status.n_frames, status.n_rows, status.n_octets, status.n_text_octets,
		status.n_files, status.n_dropped, status.n_skipped, status.file_octets,
		status.error, status.reason);
}

static void carry_out(struct driver *driver, char *line)
{
	uint64_t number, step_ms;
	int error = 0;

	line[strcspn(line, "\n")] = '\0';
	if (!strncmp(line, "conf ", 5)) {
		configure(driver, line + 5);
	} else if (sscanf(line, "time %" SCNu64, &number) == 1) {
		driver->wall_us = number * TRIAD_US_PER_MS;
		puts("done");
	} else if (sscanf(line, "busy %u", &driver->busy_percent) == 1) {
		puts("done");
	} else if (sscanf(line, "sweep %" SCNu64 " %" SCNu64, &number, &step_ms) == 2) {
		while (number--)
			error = sweep(driver, step_ms);
		printf("%d\n", error);
	} else if (sscanf(line, "cut %" SCNu64, &driver->max_lines) == 1) {
		puts("done");
	} else if (sscanf(line, "miss %" SCNu64, &number) == 1) {
		driver->n_sweeps += number;
		puts("done");
	} else if (!strcmp(line, "restart")) {
		restart(driver);
		puts("done");
	} else if (!strcmp(line, "part") || !strcmp(line, "silent")) {
		*(line[0] == 'p' ? &driver->is_part : &driver->is_silent) = true;
		puts("done");
	} else if (!strcmp(line, "zero")) {
		for (uint32_t i = 0; i < driver->fabric->n_ports; i++)
			triad_engine_zero(
				driver->engine, driver->view->rows[i], driver->now_us);
		puts("done");
	} else if (!strcmp(line, "status")) {
		show_status(driver);
	} else {
		die("unknown command");
	}
	fflush(stdout);
}

static void take_option(struct driver *driver, const char *name, const char *value)
{
	uint64_t number = strtoull(value, NULL, 0);

	if (!strcmp(name, "--sm"))
		driver->sm_guid = number;
	else if (!strcmp(name, "--seed"))
		driver->seed = (unsigned)number;
	else if (!strcmp(name, "--leaves"))
		driver->n_leaves = (unsigned)number;
	else if (!strcmp(name, "--hosts"))
		driver->n_hosts = (unsigned)number;
	else
		die("unknown option");
}

int main(int argc, char **argv)
{
	struct driver driver = {.sm_guid = 0x10002,
		.seed = 1,
		.n_leaves = 4,
		.n_hosts = 10,
		.busy_percent = 50,
		.max_lines = UINT64_MAX,
		.now_us = 1000 * TRIAD_US_PER_S,
		.wall_us = UINT64_C(1767323045678000),
		.log = {.write = write_log, .level = TRIAD_LOG_INFO}};
	char line[512];

	for (int i = 1; i + 1 < argc; i += 2)
		take_option(&driver, argv[i], argv[i + 1]);
	make_fabric(&driver);
	make_view(&driver);
	driver.process = triad_clock_wall_us();
	restart(&driver);
	driver.writer = triad_profile_writer_new(&driver.log);
	if (!driver.writer)
		die("out of memory");
	while (fgets(line, sizeof(line), stdin))
		carry_out(&driver, line);
	triad_profile_writer_free(driver.writer);
	triad_profile_sections_free(driver.sections);
	triad_view_unref(driver.view);
	triad_groups_unref(driver.groups);
	triad_engine_free(driver.engine);
	triad_fabric_unref(driver.fabric);
	free(driver.words);
	return 0;
}
