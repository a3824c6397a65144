/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What collecting by many costs: agents and a manager in one process, with a simulated
 * clock and a network that takes 5 ms and loses nothing; the members, claims, feeds and
 * the manager's engine are the real ones.  PMAs are not simulated: each agent's engine
 * is given the readings of its ports, which is the same for all that is measured here.
 *
 *     distributed [--groups N] [--agents N] [--sweeps N] [--json]
 *
 * N groups of tests/sim/many_ports.h; 1,017 are a million ports. */
#include <inttypes.h>
#include <stdbool.h>
#include <time.h>

#include "collect/member.h"
#include "collect/reach.h"
#include "tests/bench/bench.h"
#include "tests/sim/many_ports.h"

#define MAX_AGENTS 200u
#define SWEEP_US (10 * TRIAD_US_PER_S)
#define LIVENESS_US (3 * TRIAD_US_PER_S)
#define SLOT_US (LIVENESS_US / 20)
#define DELAY_US (5 * TRIAD_US_PER_MS)
#define STEP_US (25 * TRIAD_US_PER_MS)
#define LIMIT_US (120 * TRIAD_US_PER_S)
/* Words of 4 octets that a link of 100 Gb/s carries each way in a sweep. */
#define LINK_WORDS (UINT64_C(31250000000))

enum load { QUIET, BUSY };

struct letter {
	struct letter *next;
	uint64_t due_us;
	enum triad_member_to to;
	uint64_t id;
	size_t size;
	uint8_t octets[];
};

struct peer {
	uint64_t id;
	struct triad_member *member; /* NULL: dead */
	struct triad_engine *engine;
	struct triad_view *view;
	struct triad_fabric *part;
	uint32_t *whole; /* of each port of the part: its index in the fabric */
	uint64_t changes;
};

static struct triad_fabric *fabric;
static struct peer agents[MAX_AGENTS];
static unsigned n_agents = 64;
static struct triad_member *manager;
static struct triad_engine *top;
static struct triad_view *top_view;
static struct triad_merge *merge;
static uint64_t now_us = TRIAD_US_PER_S;
static struct letter *first, **last = &first;
static uint64_t broadcast_octets, up_octets, manager_cpu_us;

/* --- the network --- */

static uint64_t cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * TRIAD_US_PER_S + (uint64_t)now.tv_nsec / 1000;
}

static void say(void *context, enum triad_member_to to, uint64_t id,
	const uint8_t *octets, size_t size)
{
	struct letter *letter = need(malloc(sizeof(*letter) + size));

	(void)context;
	*letter = (struct letter){
		.due_us = now_us + DELAY_US, .to = to, .id = id, .size = size};
	memcpy(letter->octets, octets, size);
	*last = letter;
	last = &letter->next;
	if (to == TRIAD_MEMBER_TO_ALL)
		broadcast_octets += size;
	if (to == TRIAD_MEMBER_TO_MANAGERS)
		up_octets += size;
}

static void hear_as_manager(struct letter *letter)
{
	uint64_t begun_us = cpu_us();

	triad_member_hear(manager, letter->octets, letter->size, now_us);
	manager_cpu_us += cpu_us() - begun_us;
}

static void deliver(struct letter *letter)
{
	bool is_manager = letter->to == TRIAD_MEMBER_TO_MANAGERS;

	for (unsigned i = 0; !is_manager && i < n_agents; i++)
		if (agents[i].member &&
			(letter->to == TRIAD_MEMBER_TO_ALL ||
				letter->id == agents[i].id))
			triad_member_hear(
				agents[i].member, letter->octets, letter->size, now_us);
	if (is_manager || letter->to == TRIAD_MEMBER_TO_ALL ||
		letter->id == ~(MANY_PORTS_HOST_GUID(0) + 1))
		hear_as_manager(letter);
}

static void deliver_due(void)
{
	while (first && first->due_us <= now_us) {
		struct letter *letter = first;

		first = letter->next;
		if (!first)
			last = &first;
		deliver(letter);
		free(letter);
	}
}

static void step(void)
{
	uint64_t begun_us;

	now_us += STEP_US;
	deliver_due();
	for (unsigned i = 0; i < n_agents; i++)
		if (agents[i].member)
			triad_member_turn(agents[i].member, now_us);
	begun_us = cpu_us();
	triad_member_turn(manager, now_us);
	manager_cpu_us += cpu_us() - begun_us;
}

/* --- members --- */

static uint64_t owner_of(void *context, uint32_t node)
{
	(void)context;
	return triad_claims_owner(triad_member_claims(manager), node, NULL);
}

static void ask_again(void *context, uint64_t agent, uint32_t number)
{
	(void)context;
	triad_member_ask_again(manager, agent, number);
}

static void take_findings(void *context, uint32_t port, uint32_t causes)
{
	(void)context;
	(void)port;
	(void)causes;
}

static void take_fabric(void *context, struct triad_fabric *handed, uint64_t hash)
{
	(void)context;
	(void)handed;
	(void)hash;
}

static struct triad_member *new_member(uint64_t port_guid, bool is_manager)
{
	const struct triad_member_sink sink = {.send = say, .fabric = take_fabric};
	struct triad_member_params params = {
		.id = is_manager ? ~port_guid : port_guid,
		.incarnation = 1,
		.port_guid = port_guid,
		.is_manager = is_manager,
		.seed = port_guid,
	};
	struct triad_member *member;

	snprintf(params.name, sizeof(params.name), "%" PRIx64, port_guid);
	member = need(triad_member_new(
		&params, &sink, is_manager ? merge : NULL, LIVENESS_US, SLOT_US));
	/* Everybody has it already: handing it down is not what is measured. */
	if (triad_member_set_fabric(member, fabric,
		    is_manager ? 0 : triad_member_topology(manager), now_us))
		die("out of memory");
	return member;
}

static void configure(uint32_t min_change_kb, uint32_t refresh)
{
	const struct triad_member_settings settings = {
		.feed = {.min_change_words = (uint64_t)min_change_kb * 250,
			.refresh = refresh,
			.period_us = SWEEP_US},
		.sweep_ms = SWEEP_US / 1000,
	};

	for (unsigned i = 0; i < n_agents; i++)
		if (agents[i].member)
			triad_member_configure(agents[i].member, &settings);
	triad_member_configure(manager, &settings);
}

static struct triad_view *view_of(struct triad_engine *engine, struct triad_fabric *of)
{
	struct triad_view *view = need(triad_view_new(engine, of, NULL));

	if (triad_engine_adopt(engine, of, now_us, view->rows))
		die("out of memory");
	return view;
}

static void start(void)
{
	const struct triad_merge_sink sink = {
		.owner = owner_of, .ask_again = ask_again, .findings = take_findings};
	unsigned n_hosts = fabric->n_nodes / 2;

	top = need(triad_engine_new());
	top_view = view_of(top, fabric);
	merge = need(triad_merge_new(top, &sink));
	triad_merge_adopt(merge, top_view);
	manager = new_member(MANY_PORTS_HOST_GUID(0) + 1, true);
	for (unsigned i = 0; i < n_agents; i++) {
		agents[i].id = MANY_PORTS_HOST_GUID(i * (n_hosts / n_agents)) + 1;
		agents[i].member = new_member(agents[i].id, false);
		agents[i].engine = need(triad_engine_new());
	}
}

/* --- who owns what --- */

static bool is_settled(void)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < n_agents; i++) {
		struct triad_collect_alive alive = {0};

		if (!agents[i].member)
			continue;
		triad_claims_fill_alive(triad_member_claims(agents[i].member), &alive);
		n += alive.n_nodes;
	}
	return n == fabric->n_nodes &&
		!triad_claims_n_nobodys(triad_member_claims(manager));
}

/* Returns how long it took. */
static uint64_t settle(void)
{
	uint64_t begun_us = now_us;

	while (!is_settled()) {
		if (now_us - begun_us > LIMIT_US)
			die("the nodes have no owners after two minutes");
		step();
	}
	return now_us - begun_us;
}

static void map_part(struct peer *peer)
{
	peer->whole = need(
		realloc(peer->whole, (peer->part->n_ports + 1) * sizeof(*peer->whole)));
	for (uint32_t i = 0; i < peer->part->n_ports; i++) {
		const struct triad_fabric_port *port = &peer->part->ports[i];
		uint32_t node = triad_fabric_find_node(
			fabric, peer->part->nodes[port->node].guid);

		peer->whole[i] = triad_fabric_find_port(fabric, node, port->number);
	}
}

static void take_part(struct peer *peer)
{
	uint64_t changes = triad_claims_changes(triad_member_claims(peer->member));
	bool *is_own;

	if (peer->view && changes == peer->changes)
		return;
	is_own = need(calloc(fabric->n_nodes, sizeof(*is_own)));
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		is_own[i] = triad_member_owns(peer->member, i);
	triad_fabric_unref(peer->part);
	triad_view_unref(peer->view);
	if (triad_reach_part(fabric, is_own, &peer->part))
		die("out of memory");
	peer->view = view_of(peer->engine, peer->part);
	peer->changes = changes;
	map_part(peer);
	free(is_own);
}

/* --- counters --- */

static uint32_t mix(uint32_t a, uint32_t b)
{
	uint64_t product = (a * UINT64_C(0x9e3779b97f4a7c15)) ^ (b + 1);

	product *= UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(product >> 32);
}

/* What the hardware of a port says after 'k' sweeps: on a busy fabric 10 to 60 percent
 * of what its link carries, more or less from one sweep to the next; on a quiet one
 * what management takes. */
static void count(enum load load, uint32_t port, uint32_t k, uint64_t *raw)
{
	uint64_t words = 0, packets;

	if (load == BUSY)
		words = (LINK_WORDS / 1000) * (100 + mix(port, 7) % 500) * k +
			mix(port, k) % (LINK_WORDS / 50);
	words += (uint64_t)k * 144;
	packets = words / 512 + (uint64_t)k * 2;
	memset(raw, 0, TRIAD_N_COUNTERS * sizeof(*raw));
	raw[TRIAD_PORT_XMIT_DATA] = words;
	raw[TRIAD_PORT_RCV_DATA] = words + words / 16;
	raw[TRIAD_PORT_XMIT_PKTS] = packets;
	raw[TRIAD_PORT_RCV_PKTS] = packets + packets / 16;
	raw[TRIAD_PORT_UNICAST_XMIT_PKTS] = packets - k;
	raw[TRIAD_PORT_UNICAST_RCV_PKTS] = packets + packets / 16 - k;
	raw[TRIAD_PORT_MULTICAST_XMIT_PKTS] = k;
	raw[TRIAD_PORT_MULTICAST_RCV_PKTS] = k;
	if (load == BUSY)
		raw[TRIAD_PORT_XMIT_WAIT] = (uint32_t)(words >> 12);
	raw[TRIAD_SYMBOL_ERROR_COUNTER] = mix(port, 3) % 100 == 0 ? 3 : 0;
}

static void read_port(struct peer *peer, uint32_t port, enum load load, uint32_t k)
{
	struct triad_pma_reading narrow = {.has = TRIAD_NARROW_COUNTERS};
	struct triad_pma_reading wide = {
		.has = TRIAD_COLLECT_USUAL & ~TRIAD_NARROW_COUNTERS};
	uint32_t row = peer->view->rows[port];

	count(load, peer->whole[port], k, narrow.raw);
	memcpy(wide.raw, narrow.raw, sizeof(wide.raw));
	triad_engine_update(
		peer->engine, row, TRIAD_PMA_PORT_COUNTERS, &narrow, now_us);
	triad_engine_update(
		peer->engine, row, TRIAD_PMA_PORT_COUNTERS_EXTENDED, &wide, now_us);
	triad_engine_mark(peer->engine, row, true);
}

static void sweep_part(struct peer *peer, enum load load, uint32_t k)
{
	take_part(peer);
	for (uint32_t i = 0; i < peer->part->n_ports; i++)
		if (peer->part->ports[i].has_pma)
			read_port(peer, i, load, k);
	triad_member_tell_sweep(peer->member, peer->view, NULL, 0, 0, now_us);
}

/* One sweep of all agents, each in a time of its own within the period. */
static void sweep(enum load load, uint32_t k)
{
	uint64_t begun_us = now_us;

	for (unsigned i = 0; i < n_agents; i++) {
		while (now_us - begun_us < SWEEP_US * i / n_agents)
			step();
		if (agents[i].member)
			sweep_part(&agents[i], load, k);
	}
	while (now_us - begun_us < SWEEP_US)
		step();
}

/* --- what is measured --- */

struct measured {
	double up_octets;  /* a sweep */
	double raw_octets; /* a sweep, all ports and counters as they are */
	double manager_cores;
	double oldest_s;  /* of the agents' last words, at the worst moment */
	uint64_t n_wrong; /* ports whose total at the top is not the agent's */
};

static uint64_t raw_octets(void)
{
	uint64_t octets = 0;

	for (unsigned i = 0; i < n_agents; i++)
		if (agents[i].member)
			octets += triad_member_feed_counts(agents[i].member).raw_octets;
	return octets;
}

/* With everything told there is nothing that may differ. */
static uint64_t count_wrong(void)
{
	uint64_t n_wrong = 0;

	for (unsigned i = 0; i < n_agents; i++) {
		const struct peer *peer = &agents[i];

		for (uint32_t j = 0; peer->member && j < peer->part->n_ports; j++) {
			uint64_t own = 0, shown = 1;

			if (!peer->part->ports[j].has_pma)
				continue;
			triad_view_total(peer->view, j, TRIAD_PORT_XMIT_DATA, &own);
			triad_view_total(
				top_view, peer->whole[j], TRIAD_PORT_XMIT_DATA, &shown);
			n_wrong += own != shown;
		}
	}
	return n_wrong;
}

static struct measured measure(enum load load, uint32_t *k, uint32_t n_sweeps)
{
	struct measured m = {0};
	uint64_t raw_before, up_before, cpu_before;

	/* The first two tell of everything: it is new, and so is its pace. */
	for (unsigned i = 0; i < 2; i++)
		sweep(load, ++*k);
	raw_before = raw_octets();
	up_before = up_octets;
	cpu_before = manager_cpu_us;
	for (uint32_t i = 0; i < n_sweeps; i++) {
		uint64_t begun_us;

		sweep(load, ++*k);
		begun_us = cpu_us();
		triad_merge_look(merge, now_us);
		manager_cpu_us += cpu_us() - begun_us;
		if ((double)triad_merge_status(merge).oldest_us / 1e6 > m.oldest_s)
			m.oldest_s = (double)triad_merge_status(merge).oldest_us / 1e6;
	}
	m.up_octets = (double)(up_octets - up_before) / n_sweeps;
	m.raw_octets = (double)(raw_octets() - raw_before) / n_sweeps;
	m.manager_cores =
		(double)(manager_cpu_us - cpu_before) / ((double)SWEEP_US * n_sweeps);
	return m;
}

/* What the manager has: rows, offsets, claims, the fabric and who is how far. */
static double manager_mb(void)
{
	size_t octets = triad_engine_octets(top) + triad_merge_status(merge).octets +
		triad_claims_octets(triad_member_claims(manager)) +
		triad_fabric_octets(fabric) + fabric->n_ports * sizeof(uint32_t) +
		(size_t)n_agents * fabric->n_nodes;

	return (double)octets / 1e6;
}

static uint64_t let_one_die(unsigned i)
{
	triad_member_free(agents[i].member);
	agents[i].member = NULL;
	step(); /* its last words are on the way */
	return settle();
}

int main(int argc, char **argv)
{
	unsigned n_groups = 1017, n_sweeps = 6;
	struct measured quiet, busy, whole;
	uint64_t cold_us, cold_octets, death_us;
	uint32_t k = 1;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--groups") && i + 1 < argc)
			n_groups = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--agents") && i + 1 < argc)
			n_agents = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--sweeps") && i + 1 < argc)
			n_sweeps = (unsigned)atoi(argv[++i]);
		else if (strcmp(argv[i], "--json") != 0)
			die("distributed [--groups N] [--agents N] [--sweeps N] [--json]");
	}
	if (!n_agents || n_agents > MAX_AGENTS || n_groups < 386 || !n_sweeps)
		die("--agents 1 to 200, --groups 386 or more, --sweeps 1 or more");
	fabric = need(many_ports(n_groups));
	start();
	configure(1024, 60);
	cold_us = settle();
	cold_octets = broadcast_octets;
	quiet = measure(QUIET, &k, n_sweeps);
	busy = measure(BUSY, &k, n_sweeps);
	configure(0, 1);
	whole = measure(BUSY, &k, 1);
	whole.n_wrong = count_wrong();
	death_us = let_one_die(n_agents / 2);
	printf("{\"nodes\": %u, \"ports\": %u, \"agents\": %u, \"sweep_s\": %u,\n"
	       " \"cold_start_ms\": %" PRIu64
	       ", \"cold_start_broadcast_octets\": %" PRIu64 ",\n"
	       " \"death_to_owned_ms\": %" PRIu64 ", \"liveness_ms\": %u,\n"
	       " \"raw_octets_a_sweep\": %.0f,\n"
	       " \"quiet\": {\"octets_a_sweep\": %.0f, \"of_raw\": %.4f, "
	       "\"manager_cores\": %.4f, \"oldest_s\": %.1f},\n"
	       " \"busy\": {\"octets_a_sweep\": %.0f, \"of_raw\": %.4f, "
	       "\"manager_cores\": %.4f, \"oldest_s\": %.1f},\n"
	       " \"everything\": {\"octets_a_sweep\": %.0f, \"of_raw\": %.4f, "
	       "\"manager_cores\": %.4f, \"totals_wrong\": %" PRIu64 "},\n"
	       " \"manager_mb\": %.0f}\n",
		fabric->n_nodes, fabric->n_ports, n_agents,
		(unsigned)(SWEEP_US / TRIAD_US_PER_S), cold_us / TRIAD_US_PER_MS,
		cold_octets, death_us / TRIAD_US_PER_MS,
		(unsigned)(LIVENESS_US / TRIAD_US_PER_MS), quiet.raw_octets,
		quiet.up_octets, quiet.up_octets / quiet.raw_octets,
		quiet.manager_cores, quiet.oldest_s, busy.up_octets,
		busy.up_octets / busy.raw_octets, busy.manager_cores, busy.oldest_s,
		whole.up_octets, whole.up_octets / whole.raw_octets,
		whole.manager_cores, whole.n_wrong, manager_mb());
	return 0;
}
