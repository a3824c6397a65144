/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The explanation of congestion in a large fabric, as after each sweep.
 *
 *     congestion [--radix N] [--quick] [--json]
 *
 * A fat tree of three levels of switches with N ports (36: 11,664 hosts and 1,620
 * switches), with 64 slow hosts, to each of which 200 others send: all ports on the
 * paths wait. --quick: N is 8 and 8 others send, one round.
 *
 * turns_ms        once for each change of the forwarding tables
 * find_ms         for each sweep; the best of five
 * roots           found
 * waiting         ports that wait
 *
 * Nothing here is asserted: machines differ. */
#include <inttypes.h>

#include "congestion/roots.h"
#include "routes/path.h"
#include "tests/bench/bench.h"
#include "tests/random.h"
#include "tests/sim/fat_tree.h"

#define N_SLOW 64u

struct figures {
	uint64_t turns_us, find_us;
	uint32_t n_roots, n_waiting;
};

static void add_waits(const struct triad_routes_layout *layout, uint32_t from,
	uint32_t to, struct triad_congestion_load *loads)
{
	uint32_t port = layout->hosts[to].port;
	struct triad_routes_path path;

	triad_routes_path_find(layout, layout->hosts[from].port, port,
		layout->fabric->ports[port].lid, 0, &path);
	for (uint32_t i = 0; i < path.n_hops; i++)
		loads[path.hops[i].port] =
			(struct triad_congestion_load){.wait = 0.5f, .sent = 0.5f};
}

static struct triad_congestion_load *make_loads(
	const struct triad_routes_layout *layout, unsigned n_senders)
{
	struct triad_congestion_load *loads =
		need(calloc(layout->fabric->n_ports, sizeof(*loads)));
	uint64_t seed = 1;

	for (uint32_t i = 0; i < layout->fabric->n_ports; i++)
		loads[i].sent = 0.3f;
	for (unsigned i = 0; i < N_SLOW; i++) {
		uint32_t to = random_below(&seed, layout->n_hosts);

		for (unsigned k = 0; k < n_senders; k++) {
			uint32_t from = random_below(&seed, layout->n_hosts);

			if (from != to)
				add_waits(layout, from, to, loads);
		}
	}
	return loads;
}

static struct figures run(unsigned radix, unsigned n_senders, unsigned n_rounds)
{
	static const struct triad_congestion_limits limits = {0.1f, 0.9f};
	struct triad_fabric *fabric = fat_tree(radix);
	struct triad_routes_layout *layout = NULL;
	struct triad_congestion_turns *turns = NULL;
	struct triad_congestion_load *loads;
	struct figures figures = {.find_us = UINT64_MAX};
	uint64_t begun_us;

	if (triad_routes_layout_make(fabric, &layout))
		die("out of memory");
	loads = make_loads(layout, n_senders);
	begun_us = triad_clock_now_us();
	if (triad_congestion_turns_make(layout, NULL, NULL, &turns))
		die("out of memory");
	figures.turns_us = triad_clock_now_us() - begun_us;
	for (unsigned i = 0; i < n_rounds; i++) {
		struct triad_congestion *found = NULL;

		begun_us = triad_clock_now_us();
		if (triad_congestion_find(turns, loads, &limits, NULL, NULL, &found))
			die("out of memory");
		figures.find_us =
			least(figures.find_us, triad_clock_now_us() - begun_us);
		figures.n_roots = found->n_roots;
		figures.n_waiting = found->n_waiting;
		triad_congestion_free(found);
	}
	triad_congestion_turns_free(turns);
	free(loads);
	triad_routes_layout_free(layout);
	triad_fabric_unref(fabric);
	return figures;
}

int main(int argc, char **argv)
{
	unsigned radix = 36, n_senders = 200, n_rounds = ROUNDS;
	bool as_json = false;
	struct figures figures;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			as_json = true;
		else if (strcmp(argv[i], "--quick") == 0)
			radix = 8, n_senders = 8, n_rounds = 1;
		else if (strcmp(argv[i], "--radix") == 0 && i + 1 < argc)
			radix = (unsigned)strtoul(argv[++i], NULL, 10);
		else
			die("usage: congestion [--radix N] [--quick] [--json]");
	}
	if (radix < 2 || radix > 48 || radix % 2)
		die("--radix must be even, from 2 to 48");
	figures = run(radix, n_senders, n_rounds);
	printf(as_json ? "{\"turns_ms\":%.1f,\"find_ms\":%.1f,\"roots\":%" PRIu32
			 ",\"waiting\":%" PRIu32 "}\n"
		       : "turns %.1f ms, each sweep %.1f ms; %" PRIu32
			 " roots, %" PRIu32 " ports wait\n",
		(double)figures.turns_us / 1000, (double)figures.find_us / 1000,
		figures.n_roots, figures.n_waiting);
	return 0;
}
