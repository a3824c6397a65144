/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Storms over simulated collectors: random faults, then a time without faults, then a
 * check that each node has the right owner; then one planned change and another check.
 *
 * Each run has a fabric of its own, made from one number.  A violation prints that
 * number, and '--run NUMBER' repeats the run alone. */
/* Row: M1, M4, M15, M17 */
#include <inttypes.h>
#include <stdio.h>

#include "tests/sim/collectors.h"
#include "tests/sim/storms.h"
#include "triad/clock.h"

#define S TRIAD_US_PER_S
#define MS TRIAD_US_PER_MS
#define STORMS_PER_RUN 8
#define MAX_AGENTS 250u
/* A lost message is noticed within two liveness times; then claim rounds follow. */
#define SETTLE_US                                                                      \
	(2 * COLLECTORS_LIVENESS_US +                                                  \
		2 * (COLLECTORS_DIAMETER + 2) * COLLECTORS_BACKOFF_US)

struct request {
	struct storms_request storms;
	uint64_t n_agents, n_nodes;
	bool is_measure;
};

struct storm {
	struct collectors *collectors;
	unsigned n_agents;
};

/* --- harm --- */

static void part_at_random(struct storm *storm)
{
	unsigned groups[MAX_AGENTS + 1];
	unsigned n_groups = 1 +
		(unsigned)collectors_random(storm->collectors, COLLECTORS_MAX_GROUPS);

	for (unsigned i = 0; i <= storm->n_agents; i++)
		groups[i] = (unsigned)collectors_random(storm->collectors, n_groups);
	collectors_partition(storm->collectors, groups);
}

static void part_nobody(struct storm *storm)
{
	const unsigned whole[MAX_AGENTS + 1] = {0};

	collectors_partition(storm->collectors, whole);
}

static void kill_or_start(struct storm *storm, unsigned agent)
{
	if (collectors_is_alive(storm->collectors, agent))
		collectors_kill(storm->collectors, agent);
	else
		collectors_start(storm->collectors, agent);
}

/* Half of the time a node between agents and the rest. */
static void hurt_node(struct storm *storm)
{
	struct collectors *s = storm->collectors;
	uint32_t n = collectors_n_nodes(s);
	uint32_t node = (uint32_t)collectors_random(s, n);

	if (collectors_random(s, 2))
		node = n - 1 - (uint32_t)collectors_random(s, n / 4);
	collectors_node(s, node, collectors_random(s, 2));
}

static void do_harm(struct storm *storm)
{
	struct collectors *s = storm->collectors;
	unsigned agent = (unsigned)collectors_random(s, storm->n_agents);

	switch (collectors_random(s, 10)) {
	case 0:
		part_at_random(storm);
		break;
	case 1:
	case 2:
		kill_or_start(storm, agent);
		break;
	case 3:
		collectors_pause(s, agent, collectors_is_running(s, agent));
		break;
	case 4:
		collectors_drain(s, agent, collectors_random(s, 2));
		break;
	case 5:
		collectors_loss(s, (unsigned)collectors_random(s, 40));
		break;
	case 6:
		collectors_delay(s, 100, 200 + collectors_random(s, 400 * MS),
			collectors_random(s, 2));
		break;
	case 7:
		collectors_doubles(s, (unsigned)collectors_random(s, 30));
		break;
	case 8:
		collectors_mtbf(s,
			collectors_random(s, 2) * (1 + collectors_random(s, 4)) * S *
				collectors_n_nodes(s));
		break;
	default:
		hurt_node(storm);
	}
}

/* No message is lost and no agent is paused.  A partition may stay, and so may dead and
 * draining agents and nodes that are down. */
static void calm(struct storm *storm)
{
	struct collectors *s = storm->collectors;

	collectors_loss(s, 0);
	collectors_doubles(s, 0);
	collectors_delay(s, 100, 5 * MS, false);
	collectors_mtbf(s, 0);
	for (unsigned i = 0; i < storm->n_agents; i++)
		collectors_pause(s, i, false);
	if (collectors_random(s, 4))
		part_nobody(storm);
	if (collectors_random(s, 2))
		for (unsigned i = 0; i < storm->n_agents; i++)
			collectors_start(s, i);
	if (collectors_random(s, 2))
		for (unsigned i = 0; i < storm->n_agents; i++)
			collectors_drain(s, i, false);
	if (collectors_random(s, 2))
		for (uint32_t i = 0; i < collectors_n_nodes(s); i++)
			collectors_node(s, i, true);
}

/* One change that is no fault. */
static void stir(struct storm *storm)
{
	struct collectors *s = storm->collectors;
	unsigned agent = (unsigned)collectors_random(s, storm->n_agents);

	switch (collectors_random(s, 6)) {
	case 0:
		kill_or_start(storm, agent);
		break;
	case 1:
		collectors_leave(s, agent);
		break;
	case 2:
		collectors_drain(s, agent, collectors_random(s, 2));
		break;
	case 3:
		collectors_pause(s, agent, true);
		collectors_run(s, collectors_random(s, 3 * COLLECTORS_LIVENESS_US));
		collectors_pause(s, agent, false);
		break;
	case 4:
		hurt_node(storm);
		break;
	default:
		part_nobody(storm);
	}
}

static const char *settle(struct storm *storm)
{
	struct collectors *s = storm->collectors;
	const char *wrong;

	collectors_run(s, SETTLE_US);
	wrong = collectors_check(s, true);
	/* One agent may be taking a node from another at this moment, to balance loads.
	 * */
	for (unsigned i = 0; i < 3 && wrong; i++) {
		collectors_run(s, 10 * MS);
		wrong = collectors_check(s, true);
	}
	if (collectors_violation(s))
		wrong = collectors_violation(s);
	if (wrong)
		collectors_describe(s);
	return wrong;
}

/* When all agree, nobody asks WHO_OWNS.  The only messages then are claims of agents
 * that take nodes to balance loads, twice in a liveness time. */
static const char *stay_quiet(struct storm *storm)
{
	struct collectors *s = storm->collectors;
	struct collectors_traffic before = collectors_traffic(s), after;

	collectors_run(s, COLLECTORS_LIVENESS_US);
	after = collectors_traffic(s);
	if (after.n_to_all == before.n_to_all && after.n_to_one != before.n_to_one)
		return "somebody asks, though all agree";
	if (after.n_to_all - before.n_to_all > 3 * storm->n_agents)
		return "much is said, though all agree";
	return NULL;
}

/* Returns what is wrong, or NULL. */
static const char *one_storm(struct storm *storm)
{
	struct collectors *s = storm->collectors;
	uint64_t n_faults = 1 + collectors_random(s, 16);
	const char *wrong;

	collectors_watch(s, false);
	for (uint64_t i = 0; i < n_faults; i++) {
		do_harm(storm);
		collectors_run(s, collectors_random(s, 3 * S));
	}
	calm(storm);
	collectors_run(s, 1 * S); /* late messages have arrived */
	collectors_watch(s, true);
	wrong = settle(storm);
	if (wrong)
		return wrong;
	stir(storm);
	wrong = settle(storm);
	return wrong ? wrong : stay_quiet(storm);
}

static bool one_run(uint64_t number, void *context, struct storm_totals *totals)
{
	const struct request *request = context;
	unsigned n_agents = request->n_agents ? (unsigned)request->n_agents
					      : 1 + (unsigned)(number % 12);
	uint32_t n_nodes = request->n_nodes ? (uint32_t)request->n_nodes
					    : 36 + (uint32_t)(number * 61 % 450);
	struct storm storm = {.n_agents = n_agents,
		.collectors = collectors_new(n_agents, n_nodes, number + 1)};
	const char *wrong;

	for (unsigned i = 0; i < n_agents; i++)
		collectors_start(storm.collectors, i);
	collectors_watch(storm.collectors, true);
	wrong = settle(&storm);
	for (unsigned i = 0; i < STORMS_PER_RUN && !wrong; i++) {
		wrong = one_storm(&storm);
		totals->n_storms++;
	}
	totals->n_runs++;
	totals->simulated_us += collectors_now_us(storm.collectors);
	totals->n_events += collectors_n_events(storm.collectors);
	if (wrong)
		fprintf(stderr,
			"claims_storm: run %" PRIu64 " (%u agents, %" PRIu32
			" nodes): %s\n",
			number, n_agents, collectors_n_nodes(storm.collectors), wrong);
	collectors_free(storm.collectors);
	return !wrong;
}

/* --- how long it takes --- */

struct settling {
	/* When all nodes have owners; when loads are even; 0: never. */
	uint64_t owned_us, even_us;
	struct collectors_traffic traffic;
};

static struct settling measure(struct collectors *s, uint64_t start_us)
{
	struct collectors_traffic before = collectors_traffic(s);
	struct settling settling = {.owned_us = 0};

	while (!settling.even_us && collectors_now_us(s) - start_us < 60 * S) {
		collectors_run(s, 50 * MS);
		if (!settling.owned_us && !collectors_check(s, false))
			settling.owned_us = collectors_now_us(s) - start_us;
		if (settling.owned_us && !collectors_check(s, true))
			settling.even_us = collectors_now_us(s) - start_us;
	}
	settling.traffic = collectors_traffic(s);
	settling.traffic.octets_to_all -= before.octets_to_all;
	settling.traffic.octets_to_one -= before.octets_to_one;
	settling.traffic.n_to_all -= before.n_to_all;
	settling.traffic.n_to_one -= before.n_to_one;
	return settling;
}

static void print_settling(
	const char *what, const struct settling *settling, bool is_last)
{
	printf("\"%s\": {\"owned_ms\": %" PRIu64 ", \"even_ms\": %" PRIu64
	       ", \"messages_to_all\": %" PRIu64 ", \"octets_to_all\": %" PRIu64
	       ", \"messages_to_one\": %" PRIu64 ", \"octets_to_one\": %" PRIu64 "}%s",
		what, settling->owned_us / MS, settling->even_us / MS,
		settling->traffic.n_to_all, settling->traffic.octets_to_all,
		settling->traffic.n_to_one, settling->traffic.octets_to_one,
		is_last ? "}\n" : ", ");
}

static bool is_within(const struct settling *settling, uint64_t us)
{
	return settling->owned_us && settling->owned_us <= us;
}

/* All start at almost the same time; then one dies and starts again. */
static bool measure_all(const struct request *request)
{
	unsigned n_agents = request->n_agents ? (unsigned)request->n_agents : 64;
	struct collectors *s = collectors_new(n_agents,
		request->n_nodes ? (uint32_t)request->n_nodes : 48000,
		request->storms.seed + 1);
	struct settling cold, death, start;

	for (unsigned i = 0; i < n_agents; i++)
		collectors_start(s, i);
	cold = measure(s, collectors_now_us(s));
	collectors_run(s, COLLECTORS_LIVENESS_US);
	collectors_kill(s, n_agents / 2);
	death = measure(s, collectors_now_us(s));
	collectors_run(s, COLLECTORS_LIVENESS_US);
	collectors_start(s, n_agents / 2);
	start = measure(s, collectors_now_us(s));
	printf("{\"agents\": %u, \"nodes\": %" PRIu32 ", \"seed\": %" PRIu64 ", ",
		n_agents, collectors_n_nodes(s), request->storms.seed);
	print_settling("cold_start", &cold, false);
	print_settling("death", &death, false);
	print_settling("start", &start, true);
	collectors_free(s);
	return is_within(&cold, 2 * COLLECTORS_LIVENESS_US) &&
		is_within(&death, 2 * COLLECTORS_LIVENESS_US) &&
		is_within(&start, 2 * COLLECTORS_LIVENESS_US);
}

/* --- the program --- */

static void usage(void)
{
	puts("Usage: claims_storm [--seconds N] [--seed N] [--run N] [--agents N]\n"
	     "                    [--nodes N] [--json] [--measure]\n"
	     "\n"
	     "Storms over simulated fabrics that 1 to 12 agents share, until N seconds have\n"
	     "been simulated (default 20000). Prints TAP: one test.\n"
	     "\n"
	     "  --seconds N  so many simulated seconds\n"
	     "  --seed N     the number of the first run (default 0)\n"
	     "  --run N      that run alone\n"
	     "  --agents N   so many agents in each run (at most 250)\n"
	     "  --nodes N    about so many nodes\n"
	     "  --json       the result as JSON\n"
	     "  --measure    no storms: how long it takes until all is owned, and what is\n"
	     "               said for it, as 64 agents start among 48,000 nodes, as one\n"
	     "               dies and as it starts again; as JSON\n"
	     "\n"
	     "Exit status: 0 no violations, 1 some, with the run's number, 2 usage.");
}

static bool take_option(int option, void *context)
{
	struct request *request = context;

	switch (option) {
	case 'a':
		return storms_read_number(optarg, &request->n_agents) &&
			request->n_agents && request->n_agents <= MAX_AGENTS;
	case 'N':
		return storms_read_number(optarg, &request->n_nodes) &&
			request->n_nodes && request->n_nodes <= 100000;
	case 'm':
		request->is_measure = true;
		return true;
	}
	return storms_take(option, &request->storms);
}

static const struct option known_options[] = {STORMS_OPTIONS,
	{"agents", required_argument, NULL, 'a'},
	{"nodes", required_argument, NULL, 'N'}, {"measure", no_argument, NULL, 'm'},
	{NULL, 0, NULL, 0}};

static const struct storms_options options = {
	.known = known_options, .usage = usage, .take = take_option};

int main(int argc, char **argv)
{
	struct request request = {.storms.seconds = 20000};
	int status;

	if (!storms_read_options(&options, argc, argv, &request, &status))
		return status;
	if (request.is_measure)
		return measure_all(&request) ? 0 : 1;
	return storms_run(&request.storms, one_run, &request);
}
