/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ways around lost links of a large fabric.
 *
 *     repair [--levels 2|3] [--radix N] [--net FILE] [--links N] [--switches N]
 *         [--minhop] [--quick] [--json]
 *
 * A fat tree of three levels of switches with N ports (36: 11,664 hosts and 1,620
 * switches) or two (648 hosts), or a fabric as ibnetdiscover writes it; paths are the
 * shortest that go up, then down in a tree, spread evenly.  --minhop: the shortest, which
 * may turn; not of three levels.  Links between switches are lost one by one, then all
 * links of a switch.  --quick: radix 8, 10 links, 2 switches.
 *
 * links, switches: of each kind
 *   median_ms, p99_ms, worst_ms   to find the ways around one
 *   octets                        by which the process grew at most for one
 *   entries, blocks, steps        to be written, the mean; 'most_steps'
 *   proven                        part that adds no credit loop
 *   lost                          part of the crossing pairs without another way
 *
 * Nothing here is asserted: machines differ. */
#include <glib.h>
#include <inttypes.h>
#include <malloc.h>

#include "portmgr/expected/netdiscover.h"
#include "routes/repair.h"
#include "tests/bench/bench.h"
#include "tests/random.h"
#include "tests/sim/fat_tree.h"

struct figures {
	uint32_t n, n_proven;
	uint64_t *us;
	uint64_t octets, n_entries, n_blocks, n_steps, n_crossing, n_lost;
	uint32_t most_steps;
};

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

static uint64_t reset_peak(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");

	malloc_trim(0);
	if (file) {
		fputs("5", file);
		fclose(file);
	}
	return peak_octets();
}

/* --- fabrics --- */

static struct triad_fabric *read_net(const char *path)
{
	struct triad_fabric *fabric = NULL;
	struct triad_diags diags;
	gchar *octets;
	gsize size;

	if (!g_file_get_contents(path, &octets, &size, NULL))
		die("can't read the file");
	triad_diags_init(&diags, path);
	if (triad_netdiscover_parse(octets, size, &diags, &fabric))
		die("the file is no fabric");
	g_free(octets);
	return fabric;
}

static void add_port(struct triad_fabric_builder *builder, uint64_t guid,
	unsigned number, uint64_t far_guid, unsigned far_number)
{
	struct triad_fabric_port port = {.guid = guid + number,
		.number = (uint8_t)number,
		.state = TRIAD_PORT_ACTIVE,
		.phys_state = TRIAD_PHYS_LINK_UP};

	triad_fabric_builder_add_port(builder, &port, far_guid, (uint8_t)far_number);
}

#define LEAF(i) (0x1000 * (UINT64_C(1) + (i)))
#define SPINE(i) (0x1000000 * (UINT64_C(1) + (i)))
#define HOST(i) (0x1000000000 * (UINT64_C(1) + (i)))

/* 'radix' leaves, each with as many hosts as spines. */
static struct triad_fabric *tree_of_two_levels(unsigned radix)
{
	struct triad_fabric_builder *builder = need(triad_fabric_builder_new(NULL));
	struct triad_fabric_node node = {.type = TRIAD_NODE_SWITCH};
	struct triad_fabric *fabric = NULL;
	unsigned half = radix / 2;

	for (unsigned i = 0; i < radix + half; i++) {
		node.guid = i < radix ? LEAF(i) : SPINE(i - radix);
		triad_fabric_builder_add_node(builder, &node, "switch", NULL, 0);
		add_port(builder, node.guid, 0, 0, 0);
		for (unsigned p = 0; p < radix; p++) {
			if (i >= radix)
				add_port(builder, node.guid, p + 1, LEAF(p),
					half + 1 + i - radix);
			else if (p < half)
				add_port(builder, node.guid, p + 1, HOST(i * half + p),
					1);
			else
				add_port(builder, node.guid, p + 1, SPINE(p - half),
					i + 1);
		}
	}
	node.type = TRIAD_NODE_CA;
	for (unsigned i = 0; i < radix * half; i++) {
		node.guid = HOST(i);
		triad_fabric_builder_add_node(builder, &node, "host", NULL, 0);
		add_port(builder, node.guid, 1, LEAF(i / half), i % half + 1);
	}
	if (triad_fabric_build(builder, 0, &fabric))
		die("no fabric");
	triad_fabric_builder_free(builder);
	return fabric;
}

/* Gives LIDs to all end ports, switches first. */
static uint32_t give_lids(struct triad_fabric *fabric)
{
	uint32_t lid = 0;

	for (unsigned round = 0; round < 2; round++)
		for (uint32_t i = 0; i < fabric->n_ports; i++) {
			struct triad_fabric_port *port = &fabric->ports[i];
			bool is_switch =
				fabric->nodes[port->node].type == TRIAD_NODE_SWITCH;

			if (is_switch == !!round)
				continue;
			lid += is_switch ? port->number == 0
					 : port->remote != TRIAD_FABRIC_NONE;
			port->lid = is_switch || port->remote != TRIAD_FABRIC_NONE
				? (uint16_t)lid
				: 0;
			port->lmc = 0;
		}
	if (lid >= TRIAD_ROUTES_N_LIDS)
		die("too many nodes");
	return lid;
}

static bool goes_down(
	const struct triad_routes_layout *layout, uint32_t sw, uint32_t to)
{
	return layout->switches[to].level < layout->switches[sw].level;
}

/* Links to the goal's switch from each; in a tree by going up, then down. */
static void find_distances(const struct triad_routes_layout *layout, uint32_t goal_sw,
	uint16_t *distances, uint64_t *words)
{
	uint32_t n = layout->n_switches;

	if (!layout->is_tree) {
		triad_routes_distances(layout, goal_sw, 1, distances, words);
		return;
	}
	memset(distances, 0xff, n * sizeof(*distances));
	distances[goal_sw] = 0;
	for (unsigned round = 0; round < 2u * layout->n_levels; round++) {
		bool is_up = round >= layout->n_levels;
		unsigned level =
			is_up ? 2u * layout->n_levels - round - 1u : round + 1u;

		for (uint32_t sw = 0; sw < n; sw++) {
			const struct triad_routes_switch *at = &layout->switches[sw];

			if (at->level != level || distances[sw] != UINT16_MAX)
				continue;
			for (unsigned p = 0; p < at->n_links; p++) {
				const struct triad_routes_link *link =
					&layout->links[at->first_link + p];

				if (link->kind == TRIAD_ROUTES_TO_SWITCH &&
					goes_down(layout, sw, link->to) != is_up &&
					distances[link->to] < distances[sw])
					distances[sw] =
						(uint16_t)(distances[link->to] + 1);
			}
		}
	}
}

static bool leads(const struct triad_routes_layout *layout,
	const struct triad_routes_goal *goal, const uint16_t *distances, uint32_t sw,
	const struct triad_routes_link *link, bool may_go_up)
{
	if (sw == goal->sw)
		return triad_routes_arrives(goal, link, sw);
	return link->kind == TRIAD_ROUTES_TO_SWITCH &&
		distances[link->to] < distances[sw] &&
		(may_go_up || goes_down(layout, sw, link->to));
}

/* By the link that the fewest goals use. */
static void choose_entry(const struct triad_routes_layout *layout,
	const struct triad_routes_goal *goal, const uint16_t *distances, uint32_t sw,
	uint32_t *uses)
{
	const struct triad_routes_switch *at = &layout->switches[sw];
	struct triad_fabric *fabric = layout->fabric;
	uint8_t *entry = &fabric->lft[fabric->nodes[at->node].lft.at + goal->lid];

	for (unsigned way = 0; way < 2 && *entry == 255; way++) {
		uint32_t best = UINT32_MAX;

		for (unsigned p = 0; p < at->n_links; p++)
			if (leads(layout, goal, distances, sw,
				    &layout->links[at->first_link + p],
				    way || !layout->is_tree) &&
				uses[at->first_link + p] < best) {
				best = uses[at->first_link + p];
				*entry = (uint8_t)p;
			}
	}
	if (*entry != 255)
		uses[at->first_link + *entry]++;
}

static void route(struct triad_fabric *fabric, bool by_minhop)
{
	uint32_t n_lids = give_lids(fabric) + 1, n_tables = 0;
	struct triad_routes_layout *layout;
	uint16_t *distances;
	uint64_t *words;
	uint32_t *uses;

	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[i].type == TRIAD_NODE_SWITCH)
			fabric->nodes[i].lft = (struct triad_fabric_slice){
				n_lids, (size_t)n_tables++ * n_lids};
	free(fabric->lft);
	fabric->lft = need(malloc((size_t)n_tables * n_lids + 1));
	memset(fabric->lft, 255, (size_t)n_tables * n_lids);
	if (triad_routes_layout_make(fabric, &layout))
		die("out of memory");
	layout->is_tree = layout->is_tree && !by_minhop;
	distances = need(malloc(layout->n_switches * sizeof(*distances)));
	words = need(malloc(3u * layout->n_switches * sizeof(*words)));
	uses = need(calloc(layout->n_links, sizeof(*uses)));
	for (uint32_t sw = 0; sw < layout->n_switches; sw++) {
		const struct triad_routes_switch *at = &layout->switches[sw];

		find_distances(layout, sw, distances, words);
		for (uint32_t i = 0; i < at->n_goals; i++)
			for (uint32_t from = 0; from < layout->n_switches; from++)
				choose_entry(layout, &layout->goals[at->first_goal + i],
					distances, from, uses);
	}
	fabric->sm_port = layout->n_hosts ? layout->hosts[0].port : TRIAD_FABRIC_NONE;
	triad_routes_layout_free(layout);
	free(distances);
	free(words);
	free(uses);
}

/* --- measuring --- */

static void measure(const struct triad_routes_check *check, const uint32_t *ports,
	uint32_t n, struct figures *figures)
{
	struct triad_routes_repair *repair = NULL;
	uint64_t before = reset_peak(), begun_us = triad_clock_now_us(), octets;

	if (triad_routes_repair_make(check, ports, n, &repair))
		die("no ways were found");
	figures->us[figures->n++] = triad_clock_now_us() - begun_us;
	octets = peak_octets() - before;
	figures->octets = octets > figures->octets ? octets : figures->octets;
	figures->n_entries += repair->n_changes;
	figures->n_blocks += repair->n_blocks;
	figures->n_steps += repair->n_steps;
	if (repair->n_steps > figures->most_steps)
		figures->most_steps = repair->n_steps;
	figures->n_crossing += repair->n_crossing;
	figures->n_lost += repair->n_lost;
	figures->n_proven += repair->proof != TRIAD_ROUTES_MAY_CLOSE;
	triad_routes_repair_free(repair);
}

/* A random switch, and its ports that lead to switches. */
static uint32_t choose_ports(
	const struct triad_routes_layout *layout, uint64_t *seed, uint32_t *ports)
{
	const struct triad_routes_switch *sw =
		&layout->switches[random_below(seed, layout->n_switches)];
	uint32_t n = 0;

	for (unsigned p = 1; p < sw->n_links; p++)
		if (layout->links[sw->first_link + p].kind == TRIAD_ROUTES_TO_SWITCH)
			ports[n++] =
				triad_fabric_find_port(layout->fabric, sw->node, p);
	return n;
}

static struct figures measure_all(
	const struct triad_routes_check *check, uint32_t n_rounds, bool whole_switches)
{
	struct figures figures = {.us = need(calloc(n_rounds + 1u, sizeof(uint64_t)))};
	uint64_t seed = 1;

	while (figures.n < n_rounds) {
		uint32_t ports[256], n = choose_ports(check->layout, &seed, ports);

		if (!n)
			continue;
		if (!whole_switches) {
			ports[0] = ports[random_below(&seed, n)];
			n = 1;
		}
		measure(check, ports, n, &figures);
	}
	return figures;
}

static int compare_us(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return *one < *other ? -1 : *one > *other;
}

static void put(const char *name, const struct figures *figures, bool as_json)
{
	uint32_t n = figures->n;

	qsort(figures->us, n, sizeof(*figures->us), compare_us);
	printf(as_json ? ",\"%s\":{\"n\":%u,\"median_ms\":%.2f,\"p99_ms\":%.2f,"
			 "\"worst_ms\":%.2f,\"octets\":%" PRIu64
			 ",\"entries\":%.1f,\"blocks\":%.1f,\"steps\":%.1f,"
			 "\"most_steps\":%u,\"proven\":%.3f,\"lost\":%.3f}"
		       : "\n%s: %u, median %.2f ms, p99 %.2f ms, worst %.2f ms; "
			 "%" PRIu64
			 " octets; %.1f entries, %.1f blocks, %.1f steps, %u "
			 "at most; part proven %.3f, lost %.3f",
		name, n, (double)figures->us[n / 2] / 1000,
		(double)figures->us[(n * 99 - 1) / 100] / 1000,
		(double)figures->us[n - 1] / 1000, figures->octets,
		ratio(figures->n_entries, n), ratio(figures->n_blocks, n),
		ratio(figures->n_steps, n), figures->most_steps,
		ratio(figures->n_proven, n),
		ratio(figures->n_lost, figures->n_crossing));
	free(figures->us);
}

static void run(struct triad_fabric *fabric, uint32_t n_links, uint32_t n_switches,
	bool as_json)
{
	static const struct triad_routes_options options = {.sls = {.all = 1}};
	struct triad_routes_check *check = NULL;
	struct figures links, switches;

	if (triad_routes_check_make(fabric, &options, &check))
		die("the check failed");
	links = measure_all(check, n_links, false);
	switches = measure_all(check, n_switches, true);
	printf(as_json ? "{\"hosts\":%u,\"switches_all\":%u,\"tree\":%s,\"by_links\":%s"
		       : "%u hosts, %u switches, tree: %s, links without a circle: %s",
		check->layout->n_hosts, check->layout->n_switches,
		check->layout->is_tree ? "true" : "false",
		check->credit.by_links ? "true" : "false");
	put("links", &links, as_json);
	put("switches", &switches, as_json);
	puts(as_json ? "}" : "");
	triad_routes_check_free(check);
}

int main(int argc, char **argv)
{
	unsigned levels = 3, radix = 36, n_links = 100, n_switches = 10;
	struct triad_fabric *fabric;
	const char *net = NULL;
	bool as_json = false, by_minhop = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			as_json = true;
		else if (strcmp(argv[i], "--levels") == 0 && i + 1 < argc)
			levels = (unsigned)strtoul(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--minhop") == 0)
			by_minhop = true;
		else if (strcmp(argv[i], "--quick") == 0)
			radix = 8, n_links = 10, n_switches = 2;
		else if (strcmp(argv[i], "--radix") == 0 && i + 1 < argc)
			radix = (unsigned)strtoul(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--net") == 0 && i + 1 < argc)
			net = argv[++i];
		else if (strcmp(argv[i], "--links") == 0 && i + 1 < argc)
			n_links = (unsigned)strtoul(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--switches") == 0 && i + 1 < argc)
			n_switches = (unsigned)strtoul(argv[++i], NULL, 10);
		else
			die("usage: repair [--levels 2|3] [--radix N] [--net FILE] "
			    "[--links N] [--switches N] [--minhop] [--quick] [--json]");
	}
	if (radix < 2 || radix > 56 || radix % 2 || !n_links || !n_switches)
		die("--radix must be even, from 2 to 56, and the others above 0");
	fabric = net          ? read_net(net)
		: levels == 2 ? tree_of_two_levels(radix)
			      : fat_tree(radix);
	if (net || levels == 2)
		route(fabric, by_minhop);
	run(fabric, n_links, n_switches, as_json);
	triad_fabric_unref(fabric);
	return 0;
}
