/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A check of all routes of a large fabric.
 *
 *     routes [--radix N] [--quick] [--json]
 *
 * A fat tree of three levels of switches with N ports (36: 11,664 hosts and 1,620
 * switches; 56: 47,824 nodes). --quick: N is 8, one round.
 *
 * hash_ms         to detect that tables are the same as before
 * check_ms        the whole check of correct tables; the best of five
 * wrong_ms        of tables of which one entry in a thousand is wrong
 * wrong_pairs, loops   found in these
 * octets          by which the process grew at most, for one check with its result
 * pairs           counted
 *
 * Nothing here is asserted: machines differ. */
#include <inttypes.h>
#include <malloc.h>

#include "routes/check.h"
#include "tests/bench/bench.h"
#include "tests/random.h"
#include "tests/sim/fat_tree.h"

static const struct triad_routes_options options = {.sls = {.all = 1}};

struct figures {
	uint64_t hash_us, check_us, wrong_us, credit_us, octets, pairs;
	uint64_t n_wrong;
	uint32_t n_loops;
};

/* The process's peak memory since reset_peak(). */
static uint64_t peak_octets(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		(void)sscanf(line, "VmHWM: %lu", &kib);
	if (file)
		fclose(file);
	return (uint64_t)kib * 1024;
}

static void reset_peak(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");

	malloc_trim(0);
	if (!file)
		return;
	fputs("5", file);
	fclose(file);
}

static struct triad_routes_check *make(struct triad_fabric *fabric)
{
	struct triad_routes_check *check = NULL;

	if (triad_routes_check_make(fabric, &options, &check))
		die("the check failed");
	return check;
}

static uint64_t measure(struct triad_fabric *fabric, unsigned n_rounds)
{
	uint64_t best_us = UINT64_MAX;

	for (unsigned i = 0; i < n_rounds; i++) {
		uint64_t begun_us = triad_clock_now_us();

		triad_routes_check_free(make(fabric));
		best_us = least(best_us, triad_clock_now_us() - begun_us);
	}
	return best_us;
}

/* Routes one LID in 'one_in' of each switch to a random port. */
static void spoil(struct triad_fabric *fabric, unsigned one_in, unsigned radix)
{
	uint64_t seed = 1;

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		const struct triad_fabric_slice *lft = &fabric->nodes[i].lft;

		for (uint32_t lid = 1; lid < lft->n; lid++)
			if (!random_below(&seed, one_in))
				fabric->lft[lft->at + lid] =
					(uint8_t)(1 + random_below(&seed, radix));
	}
}

static struct figures run(unsigned radix, unsigned n_rounds)
{
	struct triad_fabric *fabric = fat_tree(radix);
	struct figures figures = {0};
	struct triad_routes_check *check;
	uint64_t before, begun_us;

	reset_peak();
	before = peak_octets();
	check = make(fabric);
	figures.octets = peak_octets() - before;
	figures.pairs = check->n_arriving;
	if (!triad_routes_check_is_clean(check) || !check->credit.by_links)
		die("the tables should be right");
	triad_routes_check_free(check);
	begun_us = triad_clock_now_us();
	(void)triad_routes_hash(fabric);
	figures.hash_us = triad_clock_now_us() - begun_us;
	figures.check_us = measure(fabric, n_rounds);
	spoil(fabric, 1000, radix);
	check = make(fabric);
	figures.n_wrong = check->problems[TRIAD_ROUTES_UNREACHABLE].n;
	figures.n_loops = check->credit.n_loops;
	triad_routes_check_free(check);
	figures.wrong_us = measure(fabric, 1);
	triad_fabric_unref(fabric);
	return figures;
}

int main(int argc, char **argv)
{
	unsigned radix = 36, n_rounds = ROUNDS;
	bool as_json = false;
	struct figures figures;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			as_json = true;
		else if (strcmp(argv[i], "--quick") == 0)
			radix = 8, n_rounds = 1;
		else if (strcmp(argv[i], "--radix") == 0 && i + 1 < argc)
			radix = (unsigned)strtoul(argv[++i], NULL, 10);
		else
			die("usage: routes [--radix N] [--quick] [--json]");
	}
	if (radix < 2 || radix > 56 || radix % 2)
		die("--radix must be even, from 2 to 56");
	figures = run(radix, n_rounds);
	printf(as_json ? "{\"hash_ms\":%.1f,\"check_ms\":%.1f,\"wrong_ms\":%.1f,"
			 "\"octets\":%" PRIu64 ",\"pairs\":%" PRIu64
			 ",\"wrong_pairs\":%" PRIu64 ",\"loops\":%" PRIu32 "}\n"
		       : "hash %.1f ms, check %.1f ms, of wrong tables %.1f ms; %" PRIu64
			 " octets, %" PRIu64 " pairs, %" PRIu64 " wrong, %" PRIu32
			 " credit loops\n",
		(double)figures.hash_us / 1000, (double)figures.check_us / 1000,
		(double)figures.wrong_us / 1000, figures.octets, figures.pairs,
		figures.n_wrong, figures.n_loops);
	return 0;
}
