/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How often congestion/ names the right roots, and tells victims from contributors, in
 * scenarios of which all is known.
 *
 * Each trial: a fat tree of 128 hosts (routed as tests/sim/fat_tree.h says), one
 * scenario at random places with random rates, and other traffic, run with credits
 * (flows.h).  A root is true when a fair share (flows_share()) is held there; scenarios
 * are thrown away in which that is anywhere else than the scenario means, or a link is
 * nearly full without being one, before any of congestion/ is asked.
 *
 *     slow       a host takes 10 to 60 % of its link's rate
 *     incast     2 to 16 hosts send to one, more than its link carries
 *     weak       a link between switches, or to a host, has half its width
 *     routing    a switch sends all that goes up by one port
 *     two        two of these
 *     none       other traffic alone
 *
 * With several sweeps, the last one is judged, in which all flows send.  In those
 * before, each flow pauses or not, by chance, for the whole sweep: as an assumption,
 * what jobs do in phases that are longer than a sweep.
 *
 * With --vls 2, each part of a scenario, and each flow of the other traffic, has one of
 * two VLs by chance, and roots are true on the VLs of which flows are held there.  With
 * --blind the same runs are judged without counters of VLs: then a root counts as found
 * when its port is, and hosts of another VL are victims of nobody.
 *
 * By seed 1, of victims 94 % are named and 0.5 % are called contributors, of
 * contributors 96 % are named and 2 % are called victims, when flows pause in half of
 * 20 sweeps (120 trials); 81, 10, 81 and 9 % when they pause in a fifth of 40 (60
 * trials); without pauses victims are undecided.
 *
 * By VL (--vls 2, 120 trials, seed 1): of 150 roots, each on its VL, 90 % are found,
 * and one is false; of those missed most are where little is held up on that VL.
 * Blind, of the 120 ports 98 % are, none false; but hosts that only use another VL are
 * in their trees: 115 victims are named or undecided, not 88 (of two roots at once 61,
 * not 34).  Counters that stop at once (--full), as those of hardware do, cost next to
 * nothing: 89 victims, the same roots.
 *
 * Of hosts, each is counted for each true root that was named and in whose tree it is:
 * one that sends over the root is a contributor; one that does not, and waits, a
 * victim. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "congestion/roots.h"
#include "ib/link.h"
#include "tests/random.h"
#include "tests/sim/fat_tree.h"
#include "tests/sim/flows.h"
#include "tests/sim/storms.h"

#define RADIX 8u
#define MAX_ROOTS 2u
#define FULLEST 0.9 /* of links that are no roots */

enum scenario { SLOW, INCAST, WEAK, ROUTING, TWO, NONE, N_SCENARIOS };

static const char *const scenario_names[] = {
	"slow", "incast", "weak", "routing", "two", "none"};

struct counts {
	uint64_t n, n_true, n_found, n_false, n_kind, n_unexplained;
	/* By what they are, and what they are called. */
	uint64_t hosts[2][TRIAD_CONGESTION_N_ROLES];
};

struct sim {
	uint64_t seed, n_trials, window, wait_percent, busy_percent, n_slots;
	uint64_t n_sweeps, pause_percent, n_vls;
	bool is_json, is_verbose, is_blind, is_full;
	struct counts counts[N_SCENARIOS];
	uint64_t n_thrown_away;
};

struct trial {
	uint64_t random;
	unsigned n_vls;
	bool is_blind;
	enum scenario scenario;
	struct triad_fabric *fabric;
	struct triad_routes_layout *layout;
	struct flows *flows;
	double *used;
	uint32_t n_roots;
	uint32_t roots[MAX_ROOTS];
	uint8_t kinds[MAX_ROOTS];
	uint8_t vls[MAX_ROOTS]; /* those on which flows are held there, a bit each */
	struct triad_congestion_planes planes;
	struct triad_congestion_vl_waits *vl_waits;
	struct triad_congestion_turns *turns;
	struct triad_congestion_load *loads;
	struct triad_congestion_matrix matrix;
};

static double between(struct trial *trial, double least, double most)
{
	return least +
		(most - least) * (double)(random_next(&trial->random) >> 11) * 0x1p-53;
}

static uint8_t any_vl(struct trial *trial)
{
	return (uint8_t)(trial->n_vls > 1 ? random_below(&trial->random, trial->n_vls)
					  : 0);
}

static uint32_t any_host(struct trial *trial)
{
	return random_below(&trial->random, trial->layout->n_hosts);
}

/* The switch's port that leads to a host. */
static uint32_t port_to(const struct trial *trial, uint32_t host)
{
	return trial->fabric->ports[trial->layout->hosts[host].port].remote;
}

static void add_root(
	struct trial *trial, uint32_t port, enum triad_congestion_kind kind)
{
	trial->roots[trial->n_roots] = port;
	trial->kinds[trial->n_roots++] = (uint8_t)kind;
}

/* --- scenarios; false: this one came out as none --- */

static bool add_senders(
	struct trial *trial, uint32_t to, unsigned least, unsigned most, double wanted)
{
	unsigned n = least + random_below(&trial->random, most - least + 1);
	uint8_t vl = any_vl(trial);
	double sum = 0;

	for (unsigned i = 0; i < n; i++) {
		double rate = between(trial, 0.2, 1);
		uint32_t flow = flows_add(trial->flows, any_host(trial), to, rate);

		if (flow == UINT32_MAX)
			continue;
		flows_set_vl(trial->flows, flow, vl);
		sum += rate;
	}
	return sum > wanted;
}

static bool begin_slow(struct trial *trial)
{
	uint32_t host = any_host(trial);
	double drain = between(trial, 0.1, 0.6);

	flows_set_drain(trial->flows, host, drain);
	add_root(trial, port_to(trial, host), TRIAD_CONGESTION_SLOW_HOST);
	return add_senders(trial, host, 1, 8, drain + 0.3);
}

static bool begin_incast(struct trial *trial)
{
	uint32_t host = any_host(trial);

	add_root(trial, port_to(trial, host), TRIAD_CONGESTION_INCAST);
	return add_senders(trial, host, 2, 16, 1.3);
}

static bool crosses(const struct flows_flow *flow, uint32_t port)
{
	for (uint32_t i = 0; i < flow->n_hops; i++)
		if (flow->hops[i] == port)
			return true;
	return false;
}

static bool add_flows_over(
	struct trial *trial, uint32_t port, double least, double most, double wanted)
{
	uint8_t vl = any_vl(trial);
	double sum = 0;

	for (unsigned i = 0; i < 20000 && sum < wanted; i++) {
		double rate = between(trial, least, most);
		uint32_t flow =
			flows_add(trial->flows, any_host(trial), any_host(trial), rate);

		if (flow == UINT32_MAX)
			continue;
		flows_set_vl(trial->flows, flow, vl);
		if (crosses(flows_get(trial->flows, flow), port))
			sum += rate;
		else
			flows_remove_last(trial->flows);
	}
	return sum >= wanted;
}

static bool begin_weak(struct trial *trial)
{
	struct triad_fabric *fabric = trial->fabric;
	uint32_t port = random_below(&trial->random, fabric->n_ports), far;

	while (fabric->ports[port].number == 0 ||
		fabric->nodes[fabric->ports[port].node].type != TRIAD_NODE_SWITCH)
		port = random_below(&trial->random, fabric->n_ports);
	far = fabric->ports[port].remote;
	fabric->ports[port].width = fabric->ports[far].width =
		triad_link_width_find("2x");
	flows_set_rate(trial->flows, port, 0.5);
	flows_set_rate(trial->flows, far, 0.5);
	add_root(trial, port, TRIAD_CONGESTION_WEAK_LINK);
	return add_flows_over(trial, port, 0.15, 0.6, 0.7 + between(trial, 0, 0.5));
}

/* Before the layout's users look: the table itself is changed. */
static bool begin_routing(struct trial *trial)
{
	struct triad_fabric *fabric = trial->fabric;
	uint32_t host = any_host(trial);
	uint32_t node = fabric->ports[port_to(trial, host)].node;
	const struct triad_fabric_slice *lft = &fabric->nodes[node].lft;
	uint8_t chosen =
		(uint8_t)(RADIX / 2 + 1 + random_below(&trial->random, RADIX / 2));
	uint32_t port = triad_fabric_find_port(fabric, node, chosen);

	if (flows_n(trial->flows))
		return false; /* their ways are found already */
	for (uint32_t lid = 1; lid < lft->n; lid++)
		if (fabric->lft[lft->at + lid] > RADIX / 2 &&
			fabric->lft[lft->at + lid] <= RADIX)
			fabric->lft[lft->at + lid] = chosen;
	add_root(trial, port, TRIAD_CONGESTION_IMBALANCE);
	return add_flows_over(trial, port, 0.2, 0.9, 1.3 + between(trial, 0, 1));
}

static bool scenario_begin(struct trial *trial, enum scenario scenario)
{
	switch (scenario) {
	case SLOW:
		return begin_slow(trial);
	case INCAST:
		return begin_incast(trial);
	case WEAK:
		return begin_weak(trial);
	case ROUTING:
		return begin_routing(trial);
	case TWO:
		return scenario_begin(trial, random_below(&trial->random, 4)) &&
			scenario_begin(trial, random_below(&trial->random, 3));
	default:
		return true;
	}
}

/* --- what is true --- */

static bool is_true_root(const struct trial *trial, uint32_t port)
{
	for (uint32_t i = 0; i < trial->n_roots; i++)
		if (trial->roots[i] == port)
			return true;
	return false;
}

/* Whether all that crosses a port crosses the same root after it: what goes to one host
 * fills the links from where its ways meet. */
static bool leads_to_root(const struct trial *trial, uint32_t port)
{
	for (uint32_t i = 0; i < trial->n_roots; i++) {
		bool is_so = true;

		for (uint32_t k = 0; k < flows_n(trial->flows); k++) {
			const struct flows_flow *flow = flows_get(trial->flows, k);

			if (crosses(flow, port) && !crosses(flow, trial->roots[i]))
				is_so = false;
		}
		if (is_so)
			return true;
	}
	return false;
}

/* Whether flows are held at all roots, and there alone. */
static bool is_as_meant(struct trial *trial)
{
	double missing[MAX_ROOTS] = {0};

	flows_share(trial->flows, trial->used);
	memset(trial->vls, 0, sizeof(trial->vls));
	for (uint32_t i = 0; i < flows_n(trial->flows); i++) {
		const struct flows_flow *flow = flows_get(trial->flows, i);

		if (flow->bottleneck == TRIAD_FABRIC_NONE)
			continue;
		if (!is_true_root(trial, flow->bottleneck))
			return false;
		missing[flow->bottleneck == trial->roots[0] ? 0 : 1] +=
			flow->rate - flow->fair;
		trial->vls[flow->bottleneck == trial->roots[0] ? 0 : 1] |=
			(uint8_t)(1u << flow->vl);
	}
	for (uint32_t i = 0; i < trial->n_roots; i++)
		if (missing[i] < 0.2)
			return false;
	for (uint32_t i = 0; i < trial->fabric->n_ports; i++)
		if (trial->used[i] > FULLEST && !is_true_root(trial, i) &&
			!leads_to_root(trial, i) &&
			trial->layout->host_of_port[i] == TRIAD_FABRIC_NONE)
			return false;
	return true;
}

static void add_background(struct trial *trial)
{
	unsigned n = 20 + random_below(&trial->random, 80);

	for (unsigned i = 0; i < n; i++) {
		/* Now and then one that nearly fills its links by itself. */
		double rate = random_below(&trial->random, 20)
			? between(trial, 0.05, 0.4)
			: 0.88;
		uint32_t flow =
			flows_add(trial->flows, any_host(trial), any_host(trial), rate);

		if (flow == UINT32_MAX)
			continue;
		flows_set_vl(trial->flows, flow, any_vl(trial));
		if (!is_as_meant(trial))
			flows_remove_last(trial->flows);
	}
}

/* --- a trial --- */

/* SL 1 takes VL1 everywhere. */
static void give_tables(struct triad_fabric *fabric)
{
	uint32_t n_rows = 0;

	fabric->sa.qos = true;
	free(fabric->sl2vl);
	fabric->sl2vl =
		calloc((size_t)fabric->n_ports * (RADIX + 1), sizeof(*fabric->sl2vl));
	if (!fabric->sl2vl)
		abort();
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		fabric->ports[i].sl2vl =
			(struct triad_fabric_slice){.at = n_rows, .n = RADIX + 1};
		for (unsigned k = 0; k <= RADIX; k++)
			fabric->sl2vl[n_rows++].vl[0] = 0x01;
	}
}

static void set_widths(struct triad_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		struct triad_fabric_port *port = &fabric->ports[i];

		port->width = triad_link_width_find("4x");
		port->width_supported = (uint8_t)(triad_link_width_find("4x") |
			triad_link_width_find("2x"));
		port->speed = 4;
		port->speed_ext = 2;
	}
}

static void trial_end(struct trial *trial)
{
	flows_free(trial->flows);
	free(trial->used);
	triad_routes_layout_free(trial->layout);
	triad_fabric_unref(trial->fabric);
}

static bool trial_begin(const struct sim *sim, struct trial *trial)
{
	static const unsigned buffers[] = {8, 16, 32, 64};

	trial->n_roots = 0;
	trial->fabric = fat_tree(RADIX);
	set_widths(trial->fabric);
	give_tables(trial->fabric);
	if (triad_routes_layout_make(trial->fabric, &trial->layout))
		abort();
	trial->flows =
		flows_new(trial->layout, buffers[random_below(&trial->random, 4)],
			(unsigned)sim->window, random_next(&trial->random));
	trial->used = calloc(trial->fabric->n_ports, sizeof(double));
	if (!trial->used)
		abort();
	if (!scenario_begin(trial, trial->scenario) || !is_as_meant(trial))
		return false;
	add_background(trial);
	return is_as_meant(trial);
}

/* On any VL of 'vls', a bit each. */
static bool sends_over(
	const struct trial *trial, uint32_t host_port, uint32_t root, unsigned vls)
{
	uint32_t host = trial->layout->host_of_port[host_port];

	for (uint32_t i = 0; i < flows_n(trial->flows); i++) {
		const struct flows_flow *flow = flows_get(trial->flows, i);

		if (flow->from == host && crosses(flow, root) && vls >> flow->vl & 1)
			return true;
	}
	return false;
}

/* The VLs on which a root that was found is: all where VLs are not known. */
static unsigned vls_of(
	const struct trial *trial, const struct triad_congestion_root *root)
{
	return trial->n_vls == 1 || trial->is_blind ||
			root->vl == TRIAD_CONGESTION_NO_VL
		? (1u << FLOWS_N_VLS) - 1
		: 1u << root->vl;
}

static void count_root(struct counts *counts, const struct trial *trial,
	const struct triad_congestion_root *root)
{
	unsigned vls = vls_of(trial, root);

	for (uint32_t i = 0; i < trial->n_roots; i++) {
		if (trial->roots[i] != root->port || !(trial->vls[i] & vls))
			continue;
		counts->n_found++;
		counts->n_kind += trial->kinds[i] == root->kind;
		for (uint32_t k = 0; k < root->n_hosts; k++)
			counts->hosts[!sends_over(trial, root->hosts[k].port,
				root->port, vls & trial->vls[i])]
				     [root->hosts[k].role]++;
		return;
	}
	counts->n_false++;
}

static const char *port_name(const struct trial *trial, uint32_t port)
{
	static char text[2][96];
	static unsigned next;
	const struct triad_fabric_port *at = &trial->fabric->ports[port];

	next = !next;
	snprintf(text[next], sizeof(text[next]), "%s:%u",
		trial->fabric->nodes[at->node].name, at->number);
	return text[next];
}

static void tell(const struct trial *trial, const struct triad_congestion *found,
	uint64_t number)
{
	for (uint32_t i = 0; i < trial->n_roots; i++) {
		uint32_t at = 0;

		while (at < found->n_roots && found->roots[at].port != trial->roots[i])
			at++;
		if (at == found->n_roots)
			fprintf(stderr,
				"%" PRIu64 " %s: missed %s, sent %.2f, wait %.2f\n",
				number, scenario_names[trial->scenario],
				port_name(trial, trial->roots[i]),
				flows_sent(trial->flows, trial->roots[i]),
				flows_wait(trial->flows, trial->roots[i]));
	}
	for (uint32_t i = 0; i < found->n_roots; i++) {
		uint32_t port = found->roots[i].port;

		if (!is_true_root(trial, port))
			fprintf(stderr,
				"%" PRIu64 " %s: false %s, sent %.2f, wait %.2f, fair "
				"%.2f, %u wait; true is %s\n",
				number, scenario_names[trial->scenario],
				port_name(trial, port), flows_sent(trial->flows, port),
				flows_wait(trial->flows, port), trial->used[port],
				found->roots[i].n_waiting,
				trial->n_roots ? port_name(trial, trial->roots[0])
					       : "-");
	}
}

/* As service/congestion_watcher.h has it of a counter that stands at its maximum. */
static float vl_wait(
	const struct sim *sim, const struct trial *trial, uint32_t port, unsigned vl)
{
	float wait = (float)flows_vl_wait(trial->flows, port, vl);
	float all = trial->loads[port].wait;

	if (!sim->is_full || wait <= 0)
		return wait;
	return trial->loads[port].sent >= (float)sim->busy_percent / 100
		? fmaxf(all, (float)sim->wait_percent / 100)
		: all;
}

/* One more sweep; in the last one all flows send. */
static void trial_sweep(const struct sim *sim, struct trial *trial, bool is_last)
{
	for (uint32_t i = 0; sim->pause_percent && i < flows_n(trial->flows); i++)
		flows_set_pause(trial->flows, i,
			!is_last &&
				random_below(&trial->random, 100) < sim->pause_percent);
	flows_run(trial->flows, (unsigned)sim->n_slots / 2, (unsigned)sim->n_slots);
	for (uint32_t i = 0; i < trial->fabric->n_ports; i++)
		trial->loads[i] = (struct triad_congestion_load){
			.wait = (float)flows_wait(trial->flows, i),
			.sent = (float)flows_sent(trial->flows, i)};
	for (uint32_t i = 0; i < trial->fabric->n_ports; i++) {
		trial->vl_waits[i].port = i;
		for (unsigned vl = 0; vl < FLOWS_N_VLS; vl++)
			trial->vl_waits[i].wait[vl] = vl_wait(sim, trial, i, vl);
	}
	if (triad_congestion_matrix_learn(&trial->matrix, trial->turns, trial->loads))
		abort();
}

static void trial_judge(struct sim *sim, struct trial *trial, uint64_t number)
{
	struct counts *counts = &sim->counts[trial->scenario];
	struct triad_congestion_limits limits = {
		(float)sim->wait_percent / 100, (float)sim->busy_percent / 100};
	struct triad_congestion_by_vl by_vl = {.planes = &trial->planes,
		.n = trial->n_vls > 1 && !trial->is_blind ? trial->fabric->n_ports : 0,
		.waits = trial->vl_waits};
	struct triad_congestion *found;

	if (triad_congestion_find(trial->turns, trial->loads, &limits, &by_vl,
		    &trial->matrix, &found))
		abort();
	counts->n++;
	for (uint32_t i = 0; i < trial->n_roots; i++)
		counts->n_true +=
			by_vl.n ? (unsigned)__builtin_popcount(trial->vls[i]) : 1;
	counts->n_unexplained += found->n_unexplained;
	for (uint32_t i = 0; i < found->n_roots; i++)
		count_root(counts, trial, &found->roots[i]);
	if (sim->is_verbose)
		tell(trial, found, number);
	triad_congestion_free(found);
}

static void trial_run(struct sim *sim, uint64_t number)
{
	struct trial trial = {.random = sim->seed * 1000003 + number,
		.n_vls = (unsigned)sim->n_vls,
		.is_blind = sim->is_blind,
		.scenario = number % N_SCENARIOS};

	while (!trial_begin(sim, &trial)) {
		sim->n_thrown_away++;
		trial_end(&trial);
	}
	trial.loads = calloc(trial.fabric->n_ports, sizeof(*trial.loads));
	trial.vl_waits = calloc(trial.fabric->n_ports, sizeof(*trial.vl_waits));
	if (!trial.loads || !trial.vl_waits ||
		triad_congestion_planes_make(&trial.planes, trial.layout,
			(uint16_t)((1u << sim->n_vls) - 1)) ||
		triad_congestion_turns_make(trial.layout, NULL, NULL, &trial.turns))
		abort();
	for (uint64_t i = 0; i < sim->n_sweeps; i++)
		trial_sweep(sim, &trial, i + 1 == sim->n_sweeps);
	trial_judge(sim, &trial, number);
	triad_congestion_matrix_clear(&trial.matrix);
	triad_congestion_turns_free(trial.turns);
	triad_congestion_planes_clear(&trial.planes);
	free(trial.vl_waits);
	free(trial.loads);
	trial_end(&trial);
}

/* --- results --- */

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : NAN;
}

static void add_counts(struct counts *sum, const struct counts *counts)
{
	sum->n += counts->n;
	sum->n_true += counts->n_true;
	sum->n_found += counts->n_found;
	sum->n_false += counts->n_false;
	sum->n_kind += counts->n_kind;
	sum->n_unexplained += counts->n_unexplained;
	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < TRIAD_CONGESTION_N_ROLES; k++)
			sum->hosts[i][k] += counts->hosts[i][k];
}

static void print_json(const char *name, const struct counts *counts)
{
	printf("{\"scenario\":\"%s\",\"trials\":%" PRIu64 ",\"roots\":%" PRIu64
	       ",\"found\":%" PRIu64 ",\"false\":%" PRIu64 ",\"kind_right\":%" PRIu64
	       ",\"unexplained_waits\":%" PRIu64,
		name, counts->n, counts->n_true, counts->n_found, counts->n_false,
		counts->n_kind, counts->n_unexplained);
	for (unsigned i = 0; i < 2; i++)
		printf(",\"%s\":{\"contributor\":%" PRIu64 ",\"victim\":%" PRIu64
		       ",\"undecided\":%" PRIu64 "}",
			i ? "victims" : "contributors", counts->hosts[i][0],
			counts->hosts[i][1], counts->hosts[i][2]);
	printf("}");
}

static void print_line(const char *name, const struct counts *counts)
{
	uint64_t n[2] = {0};

	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < TRIAD_CONGESTION_N_ROLES; k++)
			n[i] += counts->hosts[i][k];
	printf("%-8s %6" PRIu64 " %6" PRIu64 " %6.1f %6" PRIu64 " %6.1f %6" PRIu64
	       " %6.1f %6.1f %6" PRIu64 " %6.1f %6.1f\n",
		name, counts->n, counts->n_true,
		percent(counts->n_found, counts->n_true), counts->n_false,
		percent(counts->n_kind, counts->n_found), n[1],
		percent(counts->hosts[1][TRIAD_CONGESTION_VICTIM], n[1]),
		percent(counts->hosts[1][TRIAD_CONGESTION_CONTRIBUTOR], n[1]), n[0],
		percent(counts->hosts[0][TRIAD_CONGESTION_CONTRIBUTOR], n[0]),
		percent(counts->hosts[0][TRIAD_CONGESTION_VICTIM], n[0]));
}

static void print_all(const struct sim *sim)
{
	struct counts all = {0};

	for (unsigned i = 0; i < N_SCENARIOS; i++)
		add_counts(&all, &sim->counts[i]);
	if (!sim->is_json) {
		puts("scenario trials  roots found%  false  kind% victim right% wrong% "
		     "contrb right% wrong%");
		for (unsigned i = 0; i < N_SCENARIOS; i++)
			print_line(scenario_names[i], &sim->counts[i]);
		print_line("all", &all);
		return;
	}
	printf("{\"seed\":%" PRIu64 ",\"window\":%" PRIu64 ",\"thrown_away\":%" PRIu64
	       ",\"scenarios\":[\n",
		sim->seed, sim->window, sim->n_thrown_away);
	for (unsigned i = 0; i < N_SCENARIOS; i++) {
		print_json(scenario_names[i], &sim->counts[i]);
		puts(i + 1 < N_SCENARIOS ? "," : "],\n\"all\":");
	}
	print_json("all", &all);
	puts("}");
}

/* --- command line --- */

static void usage(void)
{
	puts("Usage: congestion_trials [--trials N] [--seed N] [--window N] [--json]\n"
	     "\n"
	     "Counts how often roots of congestion are named, and victims told apart.\n"
	     "\n"
	     "  --trials N   (default 500)\n"
	     "  --seed N     of the random numbers (default 1)\n"
	     "  --slots N    of time that is counted, after half as many (default 4000)\n"
	     "  --sweeps N   of which the last is judged (default 1)\n"
	     "  --pauses N   percent of the sweeps before, in which a flow pauses\n"
	     "               (default 0)\n"
	     "  --window N   packets at the head of a buffer that may be the next to\n"
	     "               leave (default 1: in their order)\n"
	     "  --wait N     percent of the time from which on a port waits (default 10)\n"
	     "  --busy N     percent of the rate from which on it is busy (default 90)\n"
	     "  --vls N      1 or 2, by chance (default 1)\n"
	     "  --full       counters of VLs stop at once, and say only which waited\n"
	     "  --blind      ports don't count waits of VLs\n"
	     "  --verbose    say what was wrong\n"
	     "  --json");
}

static bool take_option(int option, void *wish)
{
	struct sim *sim = wish;

	switch (option) {
	case 't':
		return storms_read_number(optarg, &sim->n_trials) && sim->n_trials;
	case 's':
		return storms_read_number(optarg, &sim->seed);
	case 'n':
		return storms_read_number(optarg, &sim->n_slots) && sim->n_slots;
	case 'w':
		return storms_read_number(optarg, &sim->window) && sim->window;
	case 'p':
		return storms_read_number(optarg, &sim->wait_percent);
	case 'b':
		return storms_read_number(optarg, &sim->busy_percent);
	case 'i':
		return storms_read_number(optarg, &sim->n_sweeps) && sim->n_sweeps;
	case 'a':
		return storms_read_number(optarg, &sim->pause_percent);
	case 'l':
		return storms_read_number(optarg, &sim->n_vls) && sim->n_vls &&
			sim->n_vls <= FLOWS_N_VLS;
	case 'f':
		return sim->is_full = true;
	case 'd':
		return sim->is_blind = true;
	case 'v':
		return sim->is_verbose = true;
	case 'j':
		return sim->is_json = true;
	}
	return false;
}

static const struct option known[] = {
	{"trials", required_argument, NULL, 't'},
	{"seed", required_argument, NULL, 's'},
	{"slots", required_argument, NULL, 'n'},
	{"window", required_argument, NULL, 'w'},
	{"wait", required_argument, NULL, 'p'},
	{"busy", required_argument, NULL, 'b'},
	{"sweeps", required_argument, NULL, 'i'},
	{"pauses", required_argument, NULL, 'a'},
	{"vls", required_argument, NULL, 'l'},
	{"full", no_argument, NULL, 'f'},
	{"blind", no_argument, NULL, 'd'},
	{"verbose", no_argument, NULL, 'v'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

int main(int argc, char **argv)
{
	const struct storms_options options = {known, usage, take_option};
	struct sim sim = {.seed = 1,
		.n_trials = 500,
		.window = 1,
		.wait_percent = 10,
		.busy_percent = 90,
		.n_slots = 4000,
		.n_sweeps = 1,
		.n_vls = 1};
	int status;

	if (!storms_read_options(&options, argc, argv, &sim, &status))
		return status;
	for (uint64_t i = 0; i < sim.n_trials; i++)
		trial_run(&sim, i);
	print_all(&sim);
	return 0;
}
