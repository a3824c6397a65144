/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The cost of distributed collecting: agents read a million ports and report to their
 * manager, in one process (tests/sim/gathering.h: members, collectors and the manager's
 * engine are the real ones; PMAs, network and clock are simulated).
 *
 *     distributed [--groups N] [--agents N] [--sweeps N] [--json]
 *
 * N groups of tests/sim/many_ports.h; 1,017 are a million ports. */
#include <inttypes.h>

#include "tests/bench/bench.h"
#include "tests/sim/gathering.h"
#include "tests/sim/many_ports.h"

#define SWEEP_US (10 * TRIAD_US_PER_S)
#define LIVENESS_US (3 * TRIAD_US_PER_S)
#define SLOT_US (LIVENESS_US / 20)
#define LIMIT_US (120 * TRIAD_US_PER_S)
/* Words of 4 octets that a link of 100 Gb/s carries in each direction in a sweep. */
#define LINK_WORDS (UINT64_C(31250000000))

enum load { QUIET, BUSY };

struct measured {
	double up_octets;  /* per sweep */
	double raw_octets; /* per sweep, all ports and counters as they are */
	double manager_cores;
	double oldest_s; /* the greatest age of an agent's last message */
};

/* --- counters --- */

static uint32_t mix(uint32_t a, uint32_t b)
{
	uint64_t product = (a * UINT64_C(0x9e3779b97f4a7c15)) ^ (b + 1);

	product *= UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(product >> 32);
}

/* The hardware counters of a port after 'k' sweeps: on a busy fabric 10 to 60 percent
 * of what its link carries, varying from sweep to sweep; on a quiet one the management
 * traffic. */
static void count(enum load load, uint32_t port, uint32_t k, uint64_t *raw)
{
	uint64_t words = (uint64_t)k * 144, packets;

	if (load == BUSY)
		words += (LINK_WORDS / 1000) * (100 + mix(port, 7) % 500) * k +
			mix(port, k) % (LINK_WORDS / 50);
	packets = words / 512 + (uint64_t)k * 2;
	raw[TRIAD_PORT_XMIT_DATA] = words;
	raw[TRIAD_PORT_RCV_DATA] = words + words / 16;
	raw[TRIAD_PORT_XMIT_PKTS] = packets;
	raw[TRIAD_PORT_RCV_PKTS] = packets + packets / 16;
	raw[TRIAD_PORT_UNICAST_XMIT_PKTS] = packets - k;
	raw[TRIAD_PORT_UNICAST_RCV_PKTS] = packets + packets / 16 - k;
	raw[TRIAD_PORT_MULTICAST_XMIT_PKTS] = k;
	raw[TRIAD_PORT_MULTICAST_RCV_PKTS] = k;
	raw[TRIAD_PORT_XMIT_WAIT] =
		load == BUSY ? (uint32_t)(words >> 12) : k * (mix(port, 9) % 5000);
	raw[TRIAD_SYMBOL_ERROR_COUNTER] = mix(port, 3) % 100 == 0 ? 3 : 0;
}

static void sweep(struct gathering *g, enum load load, uint32_t k)
{
	for (uint32_t i = 0; i < g->params.fabric->n_ports; i++)
		if (g->params.fabric->ports[i].has_pma)
			count(load, i, k, g->pmas->raw[i]);
	gathering_sweep(g);
	gathering_look(g);
}

/* --- measuring --- */

static uint64_t raw_octets(const struct gathering *g)
{
	uint64_t octets = 0;

	for (unsigned i = 0; i < g->params.n_agents; i++)
		octets += triad_member_reporter_counts(g->agents[i].member).raw_octets;
	return octets;
}

static double most(double a, double b)
{
	return a > b ? a : b;
}

static struct measured measure(
	struct gathering *g, enum load load, uint32_t *k, uint32_t n_sweeps)
{
	struct measured m = {0};
	uint64_t raw_before, up_before, cpu_before;

	/* The first two sweeps report all counters: they are new, and so are their
	 * rates. */
	for (unsigned i = 0; i < 2; i++)
		sweep(g, load, ++*k);
	raw_before = raw_octets(g);
	up_before = g->up_octets;
	cpu_before = g->manager_cpu_us;
	for (uint32_t i = 0; i < n_sweeps; i++) {
		sweep(g, load, ++*k);
		m.oldest_s = most(m.oldest_s,
			(double)triad_aggregator_status(g->aggregator).oldest_us / 1e6);
	}
	m.up_octets = (double)(g->up_octets - up_before) / n_sweeps;
	m.raw_octets = (double)(raw_octets(g) - raw_before) / n_sweeps;
	m.manager_cores = (double)(g->manager_cpu_us - cpu_before) /
		((double)SWEEP_US * n_sweeps);
	return m;
}

static uint64_t count_wrong(const struct gathering *g)
{
	return gathering_count_wrong(g, TRIAD_PORT_XMIT_DATA) +
		gathering_count_wrong(g, TRIAD_PORT_RCV_PKTS) +
		gathering_count_wrong(g, TRIAD_SYMBOL_ERROR_COUNTER);
}

/* The manager's memory: rows, offsets, claims, the fabric and the agents' progress. */
static double manager_mb(const struct gathering *g)
{
	const struct triad_fabric *fabric = g->params.fabric;
	size_t octets = triad_engine_octets(g->top) +
		triad_aggregator_status(g->aggregator).octets +
		triad_claims_octets(triad_member_claims(g->manager.member)) +
		triad_fabric_octets(fabric) + fabric->n_ports * sizeof(uint32_t) +
		(size_t)g->params.n_agents * fabric->n_nodes;

	return (double)octets / 1e6;
}

static uint64_t settle(struct gathering *g)
{
	uint64_t us = gathering_settle(g, LIMIT_US);

	if (us == GATHERING_NEVER)
		die("the nodes have no owners after two minutes");
	return us;
}

/* --- output --- */

static void print_measured(const char *name, const struct measured *m)
{
	printf(" \"%s\": {\"octets_a_sweep\": %.0f, \"of_raw\": %.4f, "
	       "\"manager_cores\": %.4f, \"oldest_s\": %.1f},\n",
		name, m->up_octets, m->up_octets / m->raw_octets, m->manager_cores,
		m->oldest_s);
}

static void run(struct gathering *g, uint32_t n_sweeps)
{
	const struct triad_fabric *fabric = g->params.fabric;
	struct measured quiet, busy, everything;
	uint64_t cold_us, cold_octets, death_us, n_wrong;
	uint32_t k = 0;

	gathering_configure(g, 1024, 60);
	cold_us = settle(g);
	cold_octets = g->broadcast_octets;
	gathering_sweep(g); /* zeros: totals count from here */
	quiet = measure(g, QUIET, &k, n_sweeps);
	busy = measure(g, BUSY, &k, n_sweeps);
	gathering_configure(g, 0, 1);
	everything = measure(g, BUSY, &k, 1);
	/* All counters were reported, so none may differ. */
	n_wrong = count_wrong(g);
	gathering_kill(g, g->params.n_agents / 2);
	death_us = settle(g);
	printf("{\"nodes\": %u, \"ports\": %u, \"agents\": %u, \"sweep_s\": %u,\n"
	       " \"cold_start_ms\": %" PRIu64
	       ", \"cold_start_broadcast_octets\": %" PRIu64 ",\n"
	       " \"death_to_owned_ms\": %" PRIu64 ", \"liveness_ms\": %u,\n"
	       " \"raw_octets_a_sweep\": %.0f,\n",
		fabric->n_nodes, fabric->n_ports, g->params.n_agents,
		(unsigned)(SWEEP_US / TRIAD_US_PER_S), cold_us / TRIAD_US_PER_MS,
		cold_octets, death_us / TRIAD_US_PER_MS,
		(unsigned)(LIVENESS_US / TRIAD_US_PER_MS), quiet.raw_octets);
	print_measured("quiet", &quiet);
	print_measured("busy", &busy);
	print_measured("everything", &everything);
	printf(" \"totals_wrong\": %" PRIu64 ", \"manager_mb\": %.0f}\n", n_wrong,
		manager_mb(g));
}

int main(int argc, char **argv)
{
	unsigned n_groups = 1017, n_sweeps = 3;
	struct gathering_params params = {.n_agents = 64,
		.liveness_us = LIVENESS_US,
		.backoff_us = SLOT_US,
		.sweep_us = SWEEP_US,
		.seed = 1};
	struct gathering *g;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--groups") && i + 1 < argc)
			n_groups = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--agents") && i + 1 < argc)
			params.n_agents = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--sweeps") && i + 1 < argc)
			n_sweeps = (unsigned)atoi(argv[++i]);
		else if (strcmp(argv[i], "--json") != 0)
			die("distributed [--groups N] [--agents N] [--sweeps N] [--json]");
	}
	if (!params.n_agents || params.n_agents > GATHERING_MAX_AGENTS ||
		n_groups < 386 || !n_sweeps)
		die("--agents 1 to 200, --groups 386 or more, --sweeps 1 or more");
	params.fabric = need(many_ports(n_groups));
	g = gathering_new(&params);
	run(g, n_sweeps);
	gathering_free(g);
	triad_fabric_unref(params.fabric);
	return 0;
}
