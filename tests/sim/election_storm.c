/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Storms over simulated clusters: random faults, then a time without faults, then a
 * check of masters and permissions.
 *
 * Each run has a cluster of its own, made from one number.  A violation prints that
 * number, and '--run NUMBER' repeats the run alone. */
/* Row: E1, X4 */
#include <inttypes.h>
#include <stdio.h>

#include "tests/sim/elections.h"
#include "tests/sim/storms.h"
#include "triad/clock.h"

#define S TRIAD_US_PER_S
#define MS TRIAD_US_PER_MS
#define STORMS_PER_RUN 10
/* How long settling takes after the last fault: a candidate that never asks is skipped
 * after five leases, and a member that started waits for one. */
#define QUIET_US (10 * S)

struct storm {
	struct elections *elections;
	unsigned n_nodes, n_all;
	bool has_runaway;
	uint64_t generation;
};

static unsigned any_node(struct storm *storm)
{
	return (unsigned)elections_random(storm->elections, storm->n_nodes);
}

static void part_at_random(struct storm *storm)
{
	unsigned groups[ELECTIONS_MAX_NODES];
	unsigned n_groups = 1 + (unsigned)elections_random(storm->elections, 3);

	for (unsigned i = 0; i < storm->n_all; i++)
		groups[i] = (unsigned)elections_random(storm->elections, n_groups);
	elections_partition(storm->elections, groups);
}

static void kill_or_start(struct storm *storm, unsigned node)
{
	if (elections_is_alive(storm->elections, node))
		elections_kill(storm->elections, node);
	else
		elections_start(storm->elections, node);
}

static void tell(struct storm *storm, unsigned node)
{
	struct elections *s = storm->elections;
	struct triad_election *election = elections_of(s, node);
	uint64_t now_us = elections_clock(s, node);

	if (!elections_is_running(s, node))
		return;
	switch (elections_random(s, 6)) {
	case 0:
		triad_election_ports(election,
			&(struct triad_port_health){.n_ports = 2,
				.n_good = (uint32_t)elections_random(s, 3),
				.is_up = elections_random(s, 3)},
			now_us);
		break;
	case 1:
		triad_election_blacklist(election, elections_id(any_node(storm)),
			elections_random(s, 2), now_us);
		break;
	case 2:
		triad_election_prefer(
			election, (uint8_t)elections_random(s, 16), now_us);
		break;
	case 3:
		storm->generation += elections_random(s, 2);
		triad_election_config(
			election, storm->generation, storm->generation * 7, now_us);
		break;
	case 4:
		triad_election_check(election,
			elections_random(s, 2) ? TRIAD_CHECK_YES : TRIAD_CHECK_NO,
			now_us);
		break;
	case 5:
		triad_election_config(election, storm->generation,
			storm->generation * 7 + elections_random(s, 2), now_us);
		break;
	}
	elections_poke(s, node);
}

static void do_harm(struct storm *storm)
{
	struct elections *s = storm->elections;
	unsigned node = any_node(storm), other = any_node(storm);

	switch (elections_random(s, 10)) {
	case 0:
		part_at_random(storm);
		break;
	case 1:
		kill_or_start(storm, node);
		break;
	case 2:
		if (elections_is_alive(s, node))
			elections_pause(s, node, elections_is_running(s, node));
		break;
	case 3:
		elections_stop(s, node, elections_random(s, 2));
		break;
	case 4:
		if (node != other)
			elections_link(s, node, other, elections_random(s, 2));
		break;
	case 5:
		elections_loss(s, (unsigned)elections_random(s, 40));
		break;
	case 6:
		elections_delay(s, 100, 200 + elections_random(s, 60 * MS));
		break;
	case 7:
		/* Rates differ by less than a tenth. */
		elections_drift(s, node, (int)elections_random(s, 80000) - 40000);
		break;
	case 8:
		elections_fill_disk(s, node, elections_random(s, 2));
		break;
	default:
		tell(storm, node);
	}
}

/* Ends all faults; only a partition may stay, and dead nodes. */
static void calm(struct storm *storm)
{
	struct elections *s = storm->elections;
	unsigned whole[ELECTIONS_MAX_NODES] = {0};

	elections_loss(s, 0);
	elections_delay(s, 100, 2 * MS);
	for (unsigned i = 0; i < storm->n_nodes; i++) {
		for (unsigned j = 0; j < i; j++)
			elections_link(s, i, j, true);
		elections_stop(s, i, false);
		elections_fill_disk(s, i, false);
		if (elections_is_alive(s, i))
			elections_pause(s, i, false);
	}
	if (elections_random(s, 2))
		elections_partition(s, whole);
	if (elections_random(s, 2))
		for (unsigned i = 0; i < storm->n_nodes; i++)
			if (!elections_is_alive(s, i))
				elections_start(s, i);
}

/* Returns what is wrong, or NULL. */
static const char *one_storm(struct storm *storm)
{
	struct elections *s = storm->elections;
	uint64_t n_faults = 1 + elections_random(s, 20);
	const char *wrong;

	if (elections_random(s, 5) == 0) {
		elections_runaway(s, 0, true);
		storm->has_runaway = true;
	}
	for (uint64_t i = 0; i < n_faults; i++) {
		do_harm(storm);
		elections_run(s, elections_random(s, 1200 * MS));
		wrong = elections_violation(s);
		if (wrong)
			return wrong;
	}
	elections_runaway(s, 0, false);
	calm(storm);
	elections_run(s, QUIET_US);
	wrong = elections_violation(s);
	return wrong ? wrong : elections_check(s);
}

static bool one_run(uint64_t number, void *context, struct storm_totals *totals)
{
	unsigned n_nodes = 1 + (unsigned)(number / 2 % 6);
	unsigned n_bare = number % 2 ? (unsigned)(number / 12 % 3) : 0;
	enum elections_kind kind = number % 2 ? ELECTIONS_RING : ELECTIONS_PEERS;
	struct storm storm = {.n_nodes = n_nodes, .n_all = n_nodes + n_bare};
	const char *wrong = NULL;

	storm.elections = elections_new(kind, n_nodes, n_bare, number + 1);
	elections_run(storm.elections, QUIET_US);
	for (unsigned i = 0; i < STORMS_PER_RUN && !wrong; i++) {
		wrong = one_storm(&storm);
		totals->n_storms++;
	}
	totals->n_runs++;
	totals->simulated_us += elections_now_us(storm.elections);
	totals->n_events += elections_n_events(storm.elections);
	if (wrong)
		fprintf(stderr,
			"election_storm: run %" PRIu64 " (%s, %u nodes, %u bare): %s\n",
			number, kind == ELECTIONS_RING ? "ring" : "peers", n_nodes,
			n_bare, wrong);
	elections_free(storm.elections);
	return !wrong;
}

static void usage(void)
{
	puts("Usage: election_storm [--seconds N] [--seed N] [--run N] [--json]\n"
	     "\n"
	     "Storms over simulated clusters of one to six SMs, until N seconds have been\n"
	     "simulated (default 20000). Prints TAP: one test.\n"
	     "\n"
	     "  --seconds N  so many simulated seconds\n"
	     "  --seed N     the number of the first run (default 0)\n"
	     "  --run N      that run alone\n"
	     "  --json       the result as JSON\n"
	     "\n"
	     "Exit status: 0 no violations, 1 some, with the run's number, 2 usage.");
}

static bool take_option(int option, void *request)
{
	return storms_take(option, request);
}

static const struct option known_options[] = {STORMS_OPTIONS, {NULL, 0, NULL, 0}};

static const struct storms_options options = {
	.known = known_options, .usage = usage, .take = take_option};

int main(int argc, char **argv)
{
	struct storms_request request = {.seconds = 20000};
	int status;

	if (!storms_read_options(&options, argc, argv, &request, &status))
		return status;
	return storms_run(&request, one_run, NULL);
}
