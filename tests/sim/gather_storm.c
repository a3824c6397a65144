/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Storms over simulated agents that read simulated PMAs and report to one manager:
 * agents die, start, pause, are cut off and get other masters, nodes fail, messages and
 * MADs are lost, while counters count.  No total at the manager ever exceeds what the
 * hardware counted.  Without faults afterwards, all totals equal what it counted, and
 * nothing is refused, though masters change.
 *
 * Each run has agents of its own, made from one number.  A violation prints that
 * number, and '--run NUMBER' repeats the run alone. */
/* Row: M1, M4 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "tests/random.h"
#include "tests/sim/fat_tree.h"
#include "tests/sim/gathering.h"
#include "tests/sim/many_ports.h"
#include "tests/sim/storms.h"
#include "triad/clock.h"

#define LIVENESS_US (3 * TRIAD_US_PER_S)
#define BACKOFF_US (50 * TRIAD_US_PER_MS)
#define SWEEP_US (10 * TRIAD_US_PER_S)
#define DIAMETER 6 /* of a fat tree */
/* A lost message is noticed within two liveness times; then claim rounds follow. */
#define SETTLE_US (2 * LIVENESS_US + 2 * (DIAMETER + 2) * BACKOFF_US)
#define MAX_AGENTS 16u
#define STORMS_PER_RUN 4
#define MAX_SWEEPS 6
#define QUIET_SWEEPS 5
#define LOST_PERCENT 30
#define LOST_MADS_PERCENT 5

static const unsigned watched[] = {
	TRIAD_PORT_XMIT_DATA, TRIAD_PORT_XMIT_PKTS, TRIAD_PORT_XMIT_WAIT};
#define N_WATCHED (sizeof(watched) / sizeof(*watched))

struct request {
	uint64_t seed, n_runs, n_agents, mtbf_s;
	bool is_million;
};

struct storm {
	struct gathering *gathering;
	uint64_t seed, run, mtbf_s;
	unsigned n_events, n_wrong;
};

static uint64_t dice(struct storm *storm, uint64_t below)
{
	return random_next(&storm->seed) % below;
}

static void violate(struct storm *storm, const char *what, uint64_t n)
{
	printf("# run %" PRIu64 ": %s: %" PRIu64 "\n", storm->run, what, n);
	storm->n_wrong++;
}

/* --- what happens --- */

/* Half of the ports carry packets, and half of the ports, the same or others, wait. */
static void count(struct storm *storm)
{
	struct pmas *pmas = storm->gathering->pmas;

	for (uint32_t i = 0; i < pmas->fabric->n_ports; i++) {
		uint64_t n_packets = dice(storm, 2) * dice(storm, 100000);

		pmas->raw[i][TRIAD_PORT_XMIT_DATA] += n_packets * 64;
		pmas->raw[i][TRIAD_PORT_XMIT_PKTS] += n_packets;
		pmas->raw[i][TRIAD_PORT_XMIT_WAIT] +=
			dice(storm, 2) * dice(storm, 1000);
	}
}

static void kill_or_start(struct storm *storm, unsigned agent)
{
	if (storm->gathering->agents[agent].member)
		gathering_kill(storm->gathering, agent);
	else
		gathering_start(storm->gathering, agent);
}

static void part(struct storm *storm, unsigned n_groups)
{
	struct gathering *g = storm->gathering;

	for (unsigned i = 0; i < g->params.n_agents; i++)
		g->agents[i].group = (unsigned)dice(storm, n_groups);
	g->manager.group = (unsigned)dice(storm, n_groups);
}

static void lose_mads(struct storm *storm, unsigned percent)
{
	struct gathering *g = storm->gathering;

	for (unsigned i = 0; i < g->params.n_agents; i++)
		if (g->agents[i].client)
			g->agents[i].client->lost_percent = percent;
}

/* PMAs fail, and answer again after about a sweep. */
static void fail_nodes(struct storm *storm)
{
	struct pmas *pmas = storm->gathering->pmas;

	for (uint32_t i = 0; i < pmas->fabric->n_nodes; i++)
		pmas->is_dead[i] =
			dice(storm, storm->mtbf_s) < SWEEP_US / TRIAD_US_PER_S;
}

static void mend_nodes(struct storm *storm)
{
	for (uint32_t i = 0; i < storm->gathering->pmas->fabric->n_nodes; i++)
		storm->gathering->pmas->is_dead[i] = false;
}

/* It may be one that reports to this one. */
static void change_master(struct storm *storm)
{
	struct gathering *g = storm->gathering;
	unsigned agent = (unsigned)dice(storm, g->params.n_agents);

	gathering_set_master(g, agent, (unsigned)dice(storm, g->params.n_agents));
}

static void harm(struct storm *storm)
{
	struct gathering *g = storm->gathering;
	unsigned agent = (unsigned)dice(storm, g->params.n_agents);

	storm->n_events++;
	switch (dice(storm, 6)) {
	case 0:
		kill_or_start(storm, agent);
		break;
	case 1:
		g->agents[agent].is_paused = !g->agents[agent].is_paused;
		break;
	case 2:
		part(storm, 1 + (unsigned)dice(storm, 3));
		break;
	case 3:
		g->lost_percent = (unsigned)dice(storm, LOST_PERCENT);
		break;
	case 4:
		lose_mads(storm, (unsigned)dice(storm, LOST_MADS_PERCENT));
		break;
	case 5:
		change_master(storm);
		break;
	}
}

/* All agents are there again except one that stays dead, if there is another. */
static void calm(struct storm *storm)
{
	struct gathering *g = storm->gathering;
	unsigned away = (unsigned)dice(storm, g->params.n_agents);

	part(storm, 1);
	g->lost_percent = 0;
	for (unsigned i = 0; i < g->params.n_agents; i++) {
		g->agents[i].is_paused = false;
		if (!g->agents[i].member && (i != away || g->params.n_agents == 1))
			gathering_start(g, i);
	}
	lose_mads(storm, 0);
	mend_nodes(storm);
}

/* --- what must hold --- */

static void expect_none_over(struct storm *storm)
{
	for (unsigned j = 0; j < N_WATCHED; j++) {
		uint64_t n = gathering_count_over(storm->gathering, watched[j]);

		if (n)
			violate(storm, "totals above what was counted", n);
	}
}

static void expect_all_right(struct storm *storm)
{
	for (unsigned j = 0; j < N_WATCHED; j++) {
		uint64_t n = gathering_count_wrong(storm->gathering, watched[j]);

		if (n)
			violate(storm, "totals that are not what was counted", n);
	}
}

static void one_sweep(struct storm *storm)
{
	count(storm);
	gathering_sweep(storm->gathering);
	expect_none_over(storm);
}

/* Agents' present readings may date from before the storm's end, and nodes that were
 * silent in all of its sweeps are left out of some. */
static void settle(struct storm *storm)
{
	uint64_t us = gathering_settle(storm->gathering, SETTLE_US);

	if (us == GATHERING_NEVER)
		violate(storm, "not settled after us", SETTLE_US);
	one_sweep(storm);
	for (unsigned i = 0; i < QUIET_SWEEPS; i++)
		gathering_sweep(storm->gathering);
	expect_all_right(storm);
	if (!gathering_n_read(storm->gathering))
		violate(storm, "ports that were read", 0);
}

/* Before, in and after sweeps. */
static void hand_over(struct storm *storm)
{
	uint64_t before = gathering_n_refused(storm->gathering), n;

	for (unsigned i = 0; i < MAX_SWEEPS; i++) {
		change_master(storm);
		gathering_run(storm->gathering, dice(storm, LIVENESS_US / 2));
		change_master(storm);
		one_sweep(storm);
	}
	n = gathering_n_refused(storm->gathering) - before;
	if (n)
		violate(storm, "refused while masters changed", n);
	expect_all_right(storm);
}

static void one_storm(struct storm *storm)
{
	for (uint64_t n = 1 + dice(storm, MAX_SWEEPS); n; n--) {
		for (uint64_t i = dice(storm, 4); i; i--) {
			harm(storm);
			gathering_run(storm->gathering, dice(storm, LIVENESS_US));
		}
		fail_nodes(storm);
		one_sweep(storm);
	}
	calm(storm);
	settle(storm);
	hand_over(storm);
}

static void one_run(
	uint64_t run, const struct request *request, struct storm_totals *totals)
{
	struct storm storm = {.run = run, .mtbf_s = request->mtbf_s, .seed = run};
	struct triad_fabric *fabric = fat_tree(4 + 2 * (unsigned)dice(&storm, 3));
	uint64_t begun_us;
	struct gathering_params params = {.fabric = fabric,
		.n_agents = 1 + (unsigned)dice(&storm, 8),
		.liveness_us = LIVENESS_US,
		.backoff_us = BACKOFF_US,
		.sweep_us = SWEEP_US,
		.seed = random_next(&storm.seed)};

	if (request->n_agents)
		params.n_agents = (unsigned)request->n_agents;
	storm.gathering = gathering_new(&params);
	begun_us = storm.gathering->now_us;
	/* No refresh: it would correct what was never reported otherwise. */
	gathering_configure(storm.gathering, 0, 0);
	(void)gathering_settle(storm.gathering, SETTLE_US);
	gathering_sweep(storm.gathering); /* zeros, from which totals count */
	settle(&storm);
	for (unsigned i = 0; i < STORMS_PER_RUN && !storm.n_wrong; i++) {
		one_storm(&storm);
		totals->n_storms++;
	}
	totals->n_runs++;
	totals->n_events += storm.n_events;
	totals->n_wrong += storm.n_wrong;
	totals->simulated_us += storm.gathering->now_us - begun_us;
	gathering_free(storm.gathering);
	triad_fabric_unref(fabric);
}

/* --- a million ports --- */

static void print_octets(const char *what, struct gathering *g, uint64_t before)
{
	printf("\"%s_octets\": %" PRIu64 ", ", what, g->up_octets - before);
}

/* 64 agents among 48,816 nodes start, sweep, and one dies.  Returns how many totals are
 * not what was counted. */
static uint64_t measure_million(uint64_t seed)
{
	struct triad_fabric *fabric = many_ports(1017);
	struct gathering_params params = {.fabric = fabric,
		.n_agents = 64,
		.liveness_us = LIVENESS_US,
		.backoff_us = BACKOFF_US,
		.sweep_us = SWEEP_US,
		.seed = seed + 1};
	struct storm storm = {.seed = seed + 1, .gathering = gathering_new(&params)};
	struct gathering *g = storm.gathering;
	uint64_t cold_us, death_us, up, n_wrong = 0;

	gathering_configure(g, 0, 0);
	cold_us = gathering_settle(g, 4 * SETTLE_US);
	gathering_sweep(g);
	count(&storm);
	up = g->up_octets;
	gathering_sweep(g);
	gathering_kill(g, 32);
	death_us = gathering_settle(g, 4 * SETTLE_US);
	printf("{\"nodes\": %" PRIu32 ", \"ports\": %" PRIu32 ", \"agents\": 64, ",
		fabric->n_nodes, fabric->n_ports);
	print_octets("told", g, up);
	count(&storm);
	gathering_sweep(g);
	gathering_sweep(g);
	for (unsigned j = 0; j < N_WATCHED; j++)
		n_wrong += gathering_count_wrong(g, watched[j]);
	printf("\"cold_start_us\": %" PRIu64 ", \"death_us\": %" PRIu64
	       ", \"read\": %" PRIu64 ", \"wrong\": %" PRIu64 "}\n",
		cold_us, death_us, gathering_n_read(g), n_wrong);
	gathering_free(g);
	triad_fabric_unref(fabric);
	return n_wrong;
}

/* --- the program --- */

static void usage(void)
{
	puts("Usage: gather_storm [--runs N] [--seed N] [--run N] [--agents N]\n"
	     "                    [--mtbf SECONDS] [--million]\n"
	     "\n"
	     "Storms over 1 to 8 simulated agents that read the simulated ports of a fat\n"
	     "tree, and their manager. Prints TAP: one test.\n"
	     "\n"
	     "  --runs N        so many runs (default 12), of up to 4 storms\n"
	     "  --seed N        the number of the first run (default 0)\n"
	     "  --run N         that run alone\n"
	     "  --agents N      so many agents in each run (at most 16)\n"
	     "  --mtbf SECONDS  of each node's PMA (default 600)\n"
	     "  --million       no storms: 64 agents read a million ports, one dies; as "
	     "JSON\n"
	     "\n"
	     "Exit status: 0 no violations, 1 some, with the run's number, 2 usage.");
}

static bool take_option(int option, void *context)
{
	struct request *request = context;

	switch (option) {
	case 'n':
		return storms_read_number(optarg, &request->n_runs);
	case 'r':
		request->n_runs = 1;
		return storms_read_number(optarg, &request->seed);
	case 's':
		return storms_read_number(optarg, &request->seed);
	case 'a':
		return storms_read_number(optarg, &request->n_agents) &&
			request->n_agents && request->n_agents <= MAX_AGENTS;
	case 'f':
		return storms_read_number(optarg, &request->mtbf_s) && request->mtbf_s;
	case 'm':
		request->is_million = true;
		return true;
	}
	return false;
}

static const struct option known_options[] = {{"runs", required_argument, NULL, 'n'},
	{"seed", required_argument, NULL, 's'}, {"run", required_argument, NULL, 'r'},
	{"agents", required_argument, NULL, 'a'},
	{"mtbf", required_argument, NULL, 'f'}, {"million", no_argument, NULL, 'm'},
	{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

static const struct storms_options options = {
	.known = known_options, .usage = usage, .take = take_option};

int main(int argc, char **argv)
{
	struct request request = {.n_runs = 12, .mtbf_s = 600};
	struct storm_totals totals = {.n_runs = 0};
	int status;

	if (!storms_read_options(&options, argc, argv, &request, &status))
		return status;
	if (request.is_million)
		return measure_million(request.seed) ? 1 : 0;
	for (uint64_t i = 0; i < request.n_runs; i++)
		one_run(request.seed + i, &request, &totals);
	storms_report(&totals, request.seed, false);
	return totals.n_wrong ? 1 : 0;
}
