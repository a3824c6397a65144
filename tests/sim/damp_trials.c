/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How often damping holds links that are good, and how many bounces of bad ones it lets through.
 *
 * Good links go down by themselves, a Poisson process, and when somebody works at them: some
 * bounces, half a minute to two minutes apart.  In production 0.057 % of the links to hosts fail in a
 * month, which is 0.007 a year [Qian et al., Alibaba HPN, SIGCOMM 2024]; how often good ones only
 * bounce is published nowhere, so rates up to one a week are tried.  Bad links go down at an even pace
 * for a day, until they are mended. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "damp/links.h"
#include "tests/random.h"
#include "tests/sim/storms.h"

#define YEAR_S (365.25 * 86400)
#define DAY_S 86400.0
#define N_LINKS_OF_NODE 36

struct sim {
	uint64_t link_years, seed, random;
	struct triad_damp_links *links;
	uint64_t now_us;
	/* Of the link at hand: */
	struct triad_damp_ends ends;
	uint64_t n_bounces, n_passed, n_holds;
	double held_s;
};

struct good {
	double bounces_a_year, works_a_year;
};

static const struct good goods[] = {{0.007, 0}, {1, 0}, {12, 0}, {52, 0}, {0.007, 0.1},
	{1, 0.1}, {12, 0.1}, {12, 1}};
static const double paces_s[] = {0.8, 10, 60, 300, 900, 3600};

static double random_unit(struct sim *sim)
{
	return ((double)(random_next(&sim->random) >> 11) + 0.5) / 9007199254740992.0;
}

/* Infinite if it never happens. */
static double random_wait_s(struct sim *sim, double a_year)
{
	return a_year > 0 ? -log(random_unit(sim)) * YEAR_S / a_year : INFINITY;
}

/* A held link that is quiet for long enough returns before the time. */
static void let_go(struct sim *sim, struct triad_damp_link *link, uint64_t until_us)
{
	uint64_t returns_us =
		link && link->is_held ? triad_damp_link_returns_us(link) : UINT64_MAX;

	if (returns_us > until_us)
		return;
	sim->held_s += (double)(returns_us - link->held_us) / TRIAD_US_PER_S;
	triad_damp_link_release(link, false, returns_us);
}

/* The link goes down, and comes up again soon. */
static void bounce(struct sim *sim, uint64_t at_us)
{
	struct triad_damp_link *link =
		triad_damp_links_find(sim->links, &sim->ends, false);

	let_go(sim, link, at_us);
	sim->n_bounces++;
	sim->n_passed += !link || !link->is_held;
	triad_damp_links_bounce(
		sim->links, &sim->ends, N_LINKS_OF_NODE, N_LINKS_OF_NODE, at_us);
	sim->now_us = at_us + TRIAD_DAMP_TOGETHER_US;
	(void)triad_damp_links_settle(sim->links, sim->now_us);
	link = triad_damp_links_next_over(sim->links, sim->now_us);
	if (link) {
		triad_damp_link_hold(sim->links, link, sim->now_us);
		sim->n_holds++;
	}
	link = triad_damp_links_find(sim->links, &sim->ends, false);
	if (link && link->is_held)
		triad_damp_link_set_up(link, true, sim->now_us);
}

/* The next link begins when the last one is forgotten. */
static void begin_link(struct sim *sim)
{
	struct triad_damp_link *link =
		triad_damp_links_find(sim->links, &sim->ends, false);

	sim->now_us += (uint64_t)(4 * DAY_S * TRIAD_US_PER_S);
	let_go(sim, link, sim->now_us);
	(void)triad_damp_links_settle(sim->links, sim->now_us);
	sim->ends = triad_damp_ends_of(sim->ends.guid + 1, 1, UINT64_MAX, 1);
}

static uint64_t us_of(double s)
{
	return (uint64_t)(s * TRIAD_US_PER_S);
}

static void live(struct sim *sim, const struct good *good, double years)
{
	uint64_t begun_us = sim->now_us;
	double end_s = years * YEAR_S,
	       bounce_s = random_wait_s(sim, good->bounces_a_year),
	       work_s = random_wait_s(sim, good->works_a_year);

	while (fmin(bounce_s, work_s) < end_s) {
		double at_s = fmin(bounce_s, work_s);

		/* What happens at the same time is one bounce. */
		if (begun_us + us_of(at_s) > sim->now_us)
			bounce(sim, begun_us + us_of(at_s));
		if (at_s == bounce_s)
			bounce_s += random_wait_s(sim, good->bounces_a_year);
		else if (random_unit(sim) < 0.5)
			work_s += 30 + 90 * random_unit(sim);
		else
			work_s += random_wait_s(sim, good->works_a_year);
	}
}

static void run_good(struct sim *sim, const struct good *good, bool is_last)
{
	const double years = 10;

	sim->n_bounces = sim->n_passed = sim->n_holds = 0;
	sim->held_s = 0;
	for (double done = 0; done < (double)sim->link_years; done += years) {
		begin_link(sim);
		live(sim, good, years);
	}
	begin_link(sim);
	printf("{\"bounces_per_year\": %g, \"works_per_year\": %g, \"bounces\": %" PRIu64
	       ", \"held\": %" PRIu64 ", \"held_per_10000_link_years\": %.3g, "
	       "\"held_hours\": %.3g}%s\n",
		good->bounces_a_year, good->works_a_year, sim->n_bounces, sim->n_holds,
		(double)sim->n_holds / (double)sim->link_years * 10000,
		sim->n_holds ? sim->held_s / 3600 / (double)sim->n_holds : 0,
		is_last ? "" : ",");
}

static void run_bad(struct sim *sim, double pace_s, bool is_last)
{
	sim->n_bounces = sim->n_passed = sim->n_holds = 0;
	begin_link(sim);
	for (double at_s = 0; at_s < DAY_S; at_s += pace_s)
		bounce(sim, sim->now_us - TRIAD_DAMP_TOGETHER_US + us_of(pace_s));
	printf("{\"pace_s\": %g, \"bounces\": %" PRIu64 ", \"let_through\": %" PRIu64
	       ", \"held\": %" PRIu64 "}%s\n",
		pace_s, sim->n_bounces, sim->n_passed, sim->n_holds,
		is_last ? "" : ",");
}

static void run(struct sim *sim)
{
	const size_t n_goods = sizeof(goods) / sizeof(goods[0]),
		     n_paces = sizeof(paces_s) / sizeof(paces_s[0]);

	printf("{\"seed\": %" PRIu64 ", \"link_years\": %" PRIu64 ",\n\"good\": [\n",
		sim->seed, sim->link_years);
	for (size_t i = 0; i < n_goods; i++)
		run_good(sim, &goods[i], i + 1 == n_goods);
	printf("],\n\"flapping_for_a_day\": [\n");
	for (size_t i = 0; i < n_paces; i++)
		run_bad(sim, paces_s[i], i + 1 == n_paces);
	puts("]}");
}

/* --- command line --- */

static void usage(void)
{
	puts("Usage: damp_trials [--link-years N] [--seed N]\n"
	     "\n"
	     "Prints JSON: how often damping holds good links, and how many bounces of bad\n"
	     "ones it lets through.\n"
	     "\n"
	     "  --link-years N  of good links of each kind (default 100,000)\n"
	     "  --seed N        of the random numbers (default 1)");
}

static bool take_option(int option, void *wish)
{
	struct sim *sim = wish;

	switch (option) {
	case 'y':
		return storms_read_number(optarg, &sim->link_years) && sim->link_years;
	case 's':
		return storms_read_number(optarg, &sim->seed);
	}
	return false;
}

static const struct option known[] = {
	{"link-years", required_argument, NULL, 'y'},
	{"seed", required_argument, NULL, 's'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

int main(int argc, char **argv)
{
	static const struct storms_options options = {known, usage, take_option};
	struct sim sim = {.link_years = 100000, .seed = 1};
	int status;

	if (!storms_read_options(&options, argc, argv, &sim, &status))
		return status;
	sim.random = sim.seed;
	sim.links = triad_damp_links_new();
	if (!sim.links)
		return 1;
	run(&sim);
	triad_damp_links_free(sim.links);
	return 0;
}
