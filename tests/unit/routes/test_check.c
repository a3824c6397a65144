/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares the check of random fabrics' routes with a walk of each pair, and checks
 * fabrics whose credit loops are known. */
#include "routes/check.h"
#include "routes/path.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "tests/random.h"
#include "tests/sim/fat_tree.h"
#include "tests/sim/routed.h"
#include "tests/unit/run.h"

#define N_FABRICS 500
#define N_VLS 15
#define N_CHANNELS (ROUTED_SWITCHES * ROUTED_PORTS * N_VLS)

/* libcheck makes a system call for each assertion, even if it holds; these are too
 * many. */
#define MUST(holds, ...)                                                               \
	do {                                                                           \
		if (!(holds))                                                          \
			ck_abort_msg("seed %lu: " __VA_ARGS__);                        \
	} while (0)

static unsigned long seed;
static struct routed routed;
static struct triad_fabric *fabric;
static struct triad_routes_layout *layout; /* for cases about levels */
static struct triad_routes_check *check;
static struct triad_routes_options options;

static void end(void)
{
	triad_routes_check_free(check);
	triad_fabric_unref(fabric);
	check = NULL;
	fabric = NULL;
}

static void begin(void)
{
	options = (struct triad_routes_options){.sls = {.all = 1}};
}

static void make_check(void)
{
	end();
	fabric = routed_fabric(&routed);
	ck_assert_int_eq(triad_routes_check_make(fabric, &options, &check), 0);
}

static uint32_t switch_port(unsigned sw, unsigned number)
{
	return triad_fabric_find_port(
		fabric, triad_fabric_find_node(fabric, 0x1000 + 16 * sw), number);
}

static uint32_t host_port(unsigned host)
{
	return triad_fabric_find_port(
		fabric, triad_fabric_find_node(fabric, 0x100000 + 16 * host), 1);
}

/* --- the oracle of counts --- */

struct expected {
	unsigned levels[ROUTED_SWITCHES];
	bool is_tree;
	uint64_t pairs, ends[ROUTED_N_ENDS], links_sum;
	unsigned most_links;
	uint64_t problems[TRIAD_ROUTES_N_PROBLEMS];
	uint64_t of_port[ROUTED_SWITCHES][ROUTED_PORTS], of_host[ROUTED_HOSTS];
};

static bool is_live_host(unsigned host)
{
	return !routed.far[routed.host_switch[host]][routed.host_port[host]].is_down;
}

static bool is_in(const uint64_t *set, uint32_t port)
{
	return !set || set[port / 64] >> port % 64 & 1;
}

static void expect_pair(
	struct expected *expected, unsigned from, unsigned to, unsigned lid)
{
	unsigned begin = routed.host_switch[from];
	struct routed_walk walk =
		routed_walk(&routed, begin, routed.host_port[from], lid);

	expected->pairs++;
	if (walk.end != ROUTED_ARRIVES) {
		expected->ends[walk.end]++;
		expected->problems[TRIAD_ROUTES_UNREACHABLE]++;
		return;
	}
	expected->links_sum += walk.n + 1;
	if (walk.n + 1 > expected->most_links)
		expected->most_links = walk.n + 1;
	if (walk.n - 1 > routed_distance(&routed, begin, routed.host_switch[to]))
		expected->problems[TRIAD_ROUTES_LONGER]++;
	expected->of_host[from]++;
	for (unsigned i = 0; i < walk.n; i++)
		expected->of_port[walk.sw[i]][walk.out[i]]++;
	for (unsigned i = 1; i + 1 < walk.n && expected->is_tree; i++)
		if (expected->levels[walk.sw[i - 1]] > expected->levels[walk.sw[i]] &&
			expected->levels[walk.sw[i + 1]] > expected->levels[walk.sw[i]])
			expected->problems[TRIAD_ROUTES_TURNS]++;
}

/* Counts switches that can't be reached from the SM, at host 0, or that can't reach
 * it. */
static void expect_switches(struct expected *expected)
{
	for (unsigned sw = 0; sw < routed.n_switches; sw++) {
		struct routed_walk there = routed_walk(&routed, routed.host_switch[0],
			routed.host_port[0], routed_switch_lid(sw));

		if (!routed.n_hosts || !is_live_host(0))
			return;
		expected->problems[TRIAD_ROUTES_SWITCHES] +=
			is_in(options.to, switch_port(sw, 0)) &&
			there.end != ROUTED_ARRIVES;
		for (unsigned i = 0; i < 1u << routed.lmc; i++)
			expected->problems[TRIAD_ROUTES_SWITCHES] +=
				is_in(options.to, host_port(0)) &&
				routed_walk(&routed, sw, 0, routed_host_lid(0) + i)
						.end != ROUTED_ARRIVES;
	}
}

/* Counts entries that lead to a dead port, and circles; a circle counts at its lowest
 * switch. */
static void expect_of_lid(struct expected *expected, unsigned lid)
{
	for (unsigned sw = 0; sw < routed.n_switches; sw++) {
		struct routed_walk walk = routed_walk(&routed, sw, 0, lid);
		bool is_lowest = false;

		expected->problems[TRIAD_ROUTES_DEAD_ENTRIES] +=
			walk.end == ROUTED_DEAD_PORT && walk.n == 1;
		for (unsigned i = 1; i < walk.n && walk.end == ROUTED_CIRCLES; i++) {
			if (walk.sw[i] < sw)
				break;
			if (walk.sw[i] == sw) {
				is_lowest = true;
				break;
			}
		}
		expected->problems[TRIAD_ROUTES_LOOPS] += is_lowest;
	}
}

static void expect(struct expected *expected)
{
	memset(expected, 0, sizeof(*expected));
	routed_levels(&routed, expected->levels);
	expected->is_tree = routed_is_tree(&routed, expected->levels);
	expect_switches(expected);
	for (unsigned sw = 0; sw < routed.n_switches; sw++)
		if (is_in(options.to, switch_port(sw, 0)))
			expect_of_lid(expected, routed_switch_lid(sw));
	for (unsigned to = 0; to < routed.n_hosts; to++)
		for (unsigned i = 0; i < 1u << routed.lmc; i++) {
			unsigned lid = routed_host_lid(to) + i;

			if (!is_live_host(to) || !is_in(options.to, host_port(to)))
				continue;
			expect_of_lid(expected, lid);
			for (unsigned from = 0; from < routed.n_hosts; from++)
				if (from != to && is_live_host(from) &&
					is_in(options.from, host_port(from)))
					expect_pair(expected, from, to, lid);
		}
}

static void compare_tiers(const struct expected *expected)
{
	uint64_t in_tiers = 0, in_ports = 0;

	for (unsigned i = 0; i < check->n_tiers; i++) {
		const struct triad_routes_tier *tier = &check->tiers[i];

		in_tiers += tier->n_pairs;
		MUST(check->pairs[tier->worst] == tier->most, "the worst of tier %u",
			seed, i);
	}
	for (unsigned host = 0; host < routed.n_hosts; host++) {
		MUST(check->pairs[host_port(host)] == expected->of_host[host],
			"host %u: %" PRIu64 " pairs", seed, host,
			check->pairs[host_port(host)]);
		in_ports += expected->of_host[host];
	}
	for (unsigned sw = 0; sw < routed.n_switches; sw++)
		for (unsigned p = 1; p < ROUTED_PORTS; p++) {
			MUST(check->pairs[switch_port(sw, p)] ==
					expected->of_port[sw][p],
				"switch %u, port %u: %" PRIu64 " pairs, not %" PRIu64,
				seed, sw, p, check->pairs[switch_port(sw, p)],
				expected->of_port[sw][p]);
			in_ports += expected->of_port[sw][p];
		}
	MUST(in_tiers == in_ports, "%" PRIu64 " in tiers, %" PRIu64 " in ports", seed,
		in_tiers, in_ports);
}

static void compare_counts(void)
{
	struct expected expected;

	expect(&expected);
	MUST(check->n_pairs == expected.pairs, "%" PRIu64 " pairs", seed,
		check->n_pairs);
	MUST(check->n_arriving ==
			expected.pairs - expected.problems[TRIAD_ROUTES_UNREACHABLE],
		"%" PRIu64 " arrive", seed, check->n_arriving);
	for (unsigned i = 1; i < ROUTED_N_ENDS; i++)
		MUST(check->n_unreachable[i] == expected.ends[i], "end %u: %" PRIu64,
			seed, i, check->n_unreachable[i]);
	for (unsigned i = 0; i < TRIAD_ROUTES_N_PROBLEMS; i++)
		MUST(check->problems[i].n == expected.problems[i],
			"%s: %" PRIu64 ", not %" PRIu64, seed,
			triad_routes_problem_name(i), check->problems[i].n,
			expected.problems[i]);
	MUST(check->n_links_sum == expected.links_sum, "links %" PRIu64, seed,
		check->n_links_sum);
	MUST(check->most_links == expected.most_links, "most links %u", seed,
		check->most_links);
	compare_tiers(&expected);
}

/* --- the oracle of credit loops --- */

static uint8_t reach[N_CHANNELS][N_CHANNELS]; /* through one or more dependencies */
static uint8_t depends[N_CHANNELS][N_CHANNELS];
static uint8_t links_reach[ROUTED_SWITCHES * ROUTED_PORTS]
			  [ROUTED_SWITCHES * ROUTED_PORTS];
static uint16_t *sl_of; /* or NULL: options.sls.all */

static unsigned channel(unsigned sw, unsigned out, unsigned vl)
{
	return (sw * ROUTED_PORTS + out) * N_VLS + vl;
}

static unsigned vl_at(const struct routed_walk *walk, unsigned i, unsigned sl)
{
	return routed.qos ? routed.vl[walk->sw[i]][walk->in[i]][walk->out[i]][sl] : 0;
}

static void depend_on_way(const struct routed_walk *walk, unsigned sl)
{
	/* The last port leads to the host. */
	for (unsigned i = 0; i + 2 < walk->n; i++) {
		unsigned vl = vl_at(walk, i, sl), next = vl_at(walk, i + 1, sl);

		if (vl == 15 || next == 15)
			return;
		depends[channel(walk->sw[i], walk->out[i], vl)]
		       [channel(walk->sw[i + 1], walk->out[i + 1], next)] = 1;
	}
}

static uint32_t goal_of_lid(unsigned lid)
{
	for (uint32_t i = 0; i < check->layout->n_goals; i++)
		if (check->layout->goals[i].lid == lid)
			return i;
	return 0;
}

static uint16_t sls_of(unsigned from, unsigned lid)
{
	return sl_of
		? sl_of[goal_of_lid(lid) * routed.n_switches + routed.host_switch[from]]
		: options.sls.all;
}

static void depend_on_pair(unsigned from, unsigned lid)
{
	struct routed_walk walk = routed_walk(
		&routed, routed.host_switch[from], routed.host_port[from], lid);
	uint16_t sls = sls_of(from, lid);

	if (walk.end != ROUTED_ARRIVES)
		return;
	for (unsigned i = 0; i + 2 < walk.n; i++)
		links_reach[walk.sw[i] * ROUTED_PORTS + walk.out[i]]
			   [walk.sw[i + 1] * ROUTED_PORTS + walk.out[i + 1]] = 1;
	for (unsigned sl = 0; sl < 16; sl++)
		if (sls >> sl & 1)
			depend_on_way(&walk, sl);
}

static void depend_on_all(void)
{
	memset(depends, 0, sizeof(depends));
	memset(links_reach, 0, sizeof(links_reach));
	for (unsigned to = 0; to < routed.n_hosts; to++)
		for (unsigned from = 0; from < routed.n_hosts; from++)
			for (unsigned i = 0; i < 1u << routed.lmc; i++)
				if (from != to && is_live_host(from) &&
					is_live_host(to))
					depend_on_pair(from, routed_host_lid(to) + i);
}

/* Leaves out channels on which none depends, or that depend on none; these are most. */
static unsigned in_use(unsigned *used)
{
	unsigned n = 0;

	for (unsigned i = 0; i < N_CHANNELS; i++) {
		bool out = memchr(depends[i], 1, N_CHANNELS), in = false;

		for (unsigned j = 0; out && j < N_CHANNELS && !in; j++)
			in = depends[j][i];
		if (in && out)
			used[n++] = i;
	}
	return n;
}

static bool links_have_circle(void)
{
	const unsigned n = routed.n_switches * ROUTED_PORTS;
	bool any = false;

	for (unsigned k = 0; k < n; k++)
		for (unsigned i = 0; i < n; i++)
			for (unsigned j = 0; links_reach[i][k] && j < n; j++)
				links_reach[i][j] |= links_reach[k][j];
	for (unsigned i = 0; i < n; i++)
		any |= links_reach[i][i];
	return any;
}

static unsigned shortest[N_CHANNELS][N_CHANNELS];

/* Floyd's algorithm: all distances between channels in use, and which reach which. */
static void find_distances(const unsigned *used, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < n; j++)
			shortest[i][j] = depends[used[i]][used[j]] ? 1 : 10000;
	for (unsigned k = 0; k < n; k++)
		for (unsigned i = 0; i < n; i++)
			for (unsigned j = 0; j < n; j++)
				if (shortest[i][k] + shortest[k][j] < shortest[i][j])
					shortest[i][j] =
						shortest[i][k] + shortest[k][j];
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < n; j++)
			reach[i][j] = shortest[i][j] < 10000;
}

/* Returns the number of sets of channels that depend on each other; '*least' is the
 * length of the shortest circle. */
static unsigned count_loops(const unsigned *used, unsigned n, unsigned *least)
{
	unsigned n_loops = 0;

	find_distances(used, n);
	*least = 10000;
	for (unsigned i = 0; i < n; i++) {
		bool is_first = reach[i][i];

		for (unsigned j = 0; j < i; j++)
			is_first &= !(reach[i][j] && reach[j][i]);
		n_loops += is_first;
		if (shortest[i][i] < *least)
			*least = shortest[i][i];
	}
	return n_loops;
}

static unsigned switch_of(uint32_t port)
{
	return (unsigned)(fabric->ports[port].guid - 0x1000) / 16;
}

/* Checks that the step has a path which makes the next channel depend on this one. */
static void check_step(
	const struct triad_routes_step *step, const struct triad_routes_step *next)
{
	unsigned from, sw = switch_of(step->port),
		       out = fabric->ports[step->port].number;
	unsigned next_sw = switch_of(next->port);
	unsigned next_out = fabric->ports[next->port].number;
	struct routed_walk walk;
	bool is_in_flight = false;

	MUST(depends[channel(sw, out, step->vl)][channel(next_sw, next_out, next->vl)],
		"a step that no path takes", seed);
	MUST(step->from != TRIAD_FABRIC_NONE, "a step without a path", seed);
	from = (unsigned)(fabric->ports[step->from].guid - 0x100001) / 16;
	MUST(sls_of(from, step->lid) >> step->sl & 1, "SL %u", seed, step->sl);
	walk = routed_walk(
		&routed, routed.host_switch[from], routed.host_port[from], step->lid);
	MUST(walk.end == ROUTED_ARRIVES, "the path of a step does not arrive", seed);
	for (unsigned i = 0; i + 2 < walk.n; i++)
		is_in_flight |= walk.sw[i] == sw && walk.out[i] == out &&
			walk.sw[i + 1] == next_sw && walk.out[i + 1] == next_out &&
			vl_at(&walk, i, step->sl) == step->vl &&
			vl_at(&walk, i + 1, step->sl) == next->vl;
	MUST(is_in_flight, "the path of a step goes elsewhere", seed);
}

static void compare_credit(void)
{
	static unsigned used[N_CHANNELS];
	const struct triad_routes_credit *credit = &check->credit;
	unsigned n, n_loops, least, least_shown = 10000;

	depend_on_all();
	n = in_use(used);
	n_loops = count_loops(used, n, &least);
	MUST(credit->by_links == !links_have_circle(), "by links", seed);
	MUST(credit->n_loops == n_loops, "%u credit loops, not %u", seed,
		credit->n_loops, n_loops);
	MUST((credit->state == TRIAD_ROUTES_CREDIT_LOOPS) == (n_loops > 0), "state %u",
		seed, credit->state);
	for (unsigned i = 0; i < credit->n_shown; i++) {
		const struct triad_routes_loop *loop = &credit->loops[i];

		if (loop->n_channels < least_shown)
			least_shown = loop->n_channels;
		for (unsigned j = 0; j < loop->n_steps; j++)
			check_step(&loop->steps[j],
				&loop->steps[(j + 1) % loop->n_channels]);
	}
	if (credit->n_shown == credit->n_loops)
		MUST(least_shown == least, "a circle of %u, not %u", seed, least_shown,
			least);
}

/* Checks that the walk of each pair listed for a link passes it, and counts the
 * pairs. */
struct crossing {
	uint32_t port;
	uint64_t n;
};

static bool take_crossing(void *context, uint32_t from, uint32_t to, uint16_t lid)
{
	struct crossing *crossing = context;
	struct triad_routes_path route;
	unsigned host = (unsigned)(fabric->ports[from].guid - 0x100001) / 16;
	struct routed_walk walk = routed_walk(
		&routed, routed.host_switch[host], routed.host_port[host], lid);
	bool passes = false;

	triad_routes_path_find(check->layout, from, to, lid, 0, &route);
	MUST(route.end == TRIAD_ROUTES_ARRIVES && walk.end == ROUTED_ARRIVES,
		"over a link to nowhere", seed);
	MUST(route.n_hops == walk.n + 1, "%u hops, not %u", seed, route.n_hops,
		walk.n + 1);
	for (unsigned i = 0; i < route.n_hops; i++) {
		passes |= route.hops[i].port == crossing->port;
		if (!i)
			continue;
		MUST(route.hops[i].port ==
					switch_port(walk.sw[i - 1], walk.out[i - 1]) &&
				route.hops[i].in_port == walk.in[i - 1] &&
				route.hops[i].vl == vl_at(&walk, i - 1, 0),
			"hop %u", seed, i);
	}
	MUST(passes, "a pair that does not pass the link", seed);
	crossing->n++;
	return true;
}

START_TEST(test_over_lists_the_pairs_that_were_counted)
{
	for (unsigned i = 0; i < N_FABRICS / 4; i++) {
		uint64_t state = seed = (unsigned long)time(NULL) * 100000 + i;

		routed_random(&routed, &state);
		make_check();
		for (uint32_t port = 0; port < fabric->n_ports; port++) {
			struct crossing crossing = {.port = port};

			/* Check only some ports, as a walk of each pair is slow. */
			if (random_below(&state, 4))
				continue;
			ck_assert_int_eq(triad_routes_over(check->layout, port,
						 take_crossing, &crossing),
				0);
			MUST(crossing.n == check->pairs[port],
				"%" PRIu64 " pairs, not %" PRIu64, seed, crossing.n,
				check->pairs[port]);
		}
	}
}
END_TEST

static uint64_t *random_ports(uint64_t *state)
{
	uint64_t *set = calloc(fabric->n_ports / 64 + 1, sizeof(*set));

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		set[i / 64] |= (uint64_t)random_below(state, 2) << i % 64;
	return set;
}

/* Row: N7 */
START_TEST(test_check_random_fabrics_equals_walks)
{
	unsigned n_loops = 0, n_turns = 0;

	for (unsigned i = 0; i < N_FABRICS; i++) {
		uint64_t state = seed = (unsigned long)time(NULL) * 100000 + i;

		routed_random(&routed, &state);
		options.sls.all = (uint16_t)(random_below(&state, 7) + 1);
		make_check();
		compare_counts();
		compare_credit();
		n_loops += check->credit.n_loops;
		n_turns += check->problems[TRIAD_ROUTES_TURNS].n > 0;
	}
	/* The random fabrics had enough loops and turns. */
	ck_assert_uint_gt(n_loops, N_FABRICS / 50);
	ck_assert_uint_gt(n_turns, N_FABRICS / 50);
}
END_TEST

START_TEST(test_check_sls_of_engine_equals_walks)
{
	unsigned n_loops = 0;

	/* Loops are rare if each path has one of three SLs, so go on until there is
	 * one. */
	for (unsigned i = 0; i < N_FABRICS / 4 || (!n_loops && i < 10 * N_FABRICS);
		i++) {
		uint64_t state = seed = (unsigned long)time(NULL) * 100000 + i;
		size_t n;

		routed_random(&routed, &state);
		make_check();
		n = (size_t)check->layout->n_goals * routed.n_switches + 1;
		sl_of = calloc(n, sizeof(*sl_of));
		for (size_t j = 0; j < n; j++)
			sl_of[j] = (uint16_t)(1u << random_below(&state, 3));
		options.sls = (struct triad_routes_sls){.of = sl_of};
		ck_assert_int_eq(triad_routes_check_credit(
					 check->layout, &options, &check->credit),
			0);
		compare_credit();
		n_loops += check->credit.n_loops;
		free(sl_of);
		sl_of = NULL;
		options.sls = (struct triad_routes_sls){.all = 1};
	}
	ck_assert_uint_gt(n_loops, 0);
}
END_TEST

START_TEST(test_check_groups_counts_their_pairs)
{
	for (unsigned i = 0; i < N_FABRICS / 4; i++) {
		uint64_t state = seed = (unsigned long)time(NULL) * 100000 + i, *from,
			 *to;

		routed_random(&routed, &state);
		options.from = options.to = NULL;
		make_check();
		options.from = from = random_ports(&state);
		options.to = to = random_ports(&state);
		make_check();
		compare_counts();
		free(from);
		free(to);
	}
}
END_TEST

/* --- known fabrics --- */

static void make_ring(unsigned n)
{
	uint64_t state = 1;

	routed_init(&routed, n);
	for (unsigned i = 0; i < n; i++)
		routed_link(&routed, i, (i + 1) % n);
	for (unsigned i = 0; i < n; i++)
		routed_add_host(&routed, i);
	routed_route(&routed, &state);
}

START_TEST(test_credit_ring_with_one_vl_loops_both_ways)
{
	make_ring(5);
	make_check();
	ck_assert_int_eq(check->credit.state, TRIAD_ROUTES_CREDIT_LOOPS);
	ck_assert_uint_eq(check->credit.n_loops, 2);
	ck_assert_uint_eq(check->credit.loops[0].n_channels, 5);
	ck_assert_uint_eq(check->credit.loops[1].n_channels, 5);
	ck_assert(!triad_routes_check_is_clean(check));
	ck_assert(!check->layout->is_tree);
}
END_TEST

/* A dateline: packets that cross between switches 4 and 0, in either direction,
 * continue on VL1. */
START_TEST(test_credit_ring_with_dateline_is_clean)
{
	make_ring(5);
	routed.qos = true;
	for (unsigned sw = 0; sw < 5; sw++)
		for (unsigned in = 0; in < ROUTED_PORTS; in++)
			for (unsigned out = 0; out < ROUTED_PORTS; out++)
				memset(routed.vl[sw][in][out], 0, 16);
	/* Ports 1 and 2 of each switch lead along the ring; at switch 0 port 1 leads to
	 * switch 1, port 2 to switch 4. */
	for (unsigned out = 1; out < ROUTED_PORTS; out++) {
		memset(routed.vl[0][2][out], 1, 16);
		for (unsigned in = 1; in < 3; in++)
			if (routed.far[4][in].to == 0)
				memset(routed.vl[4][in][out], 1, 16);
	}
	make_check();
	ck_assert(!check->credit.by_links);
	ck_assert_int_eq(check->credit.state, TRIAD_ROUTES_CREDIT_CLEAN);
	ck_assert(triad_routes_check_is_clean(check));
}
END_TEST

START_TEST(test_credit_sls_unknown_is_not_checked)
{
	options.sls.all = 0;
	make_ring(5);
	make_check();
	ck_assert_int_eq(check->credit.state, TRIAD_ROUTES_CREDIT_NO_SLS);
	ck_assert(triad_routes_check_is_clean(check));
}
END_TEST

START_TEST(test_check_fat_tree_is_clean_and_even)
{
	fabric = fat_tree(8);
	options.sls.all = 0; /* not needed: even without SLs links form no circle */
	ck_assert_int_eq(triad_routes_check_make(fabric, &options, &check), 0);
	ck_assert(triad_routes_check_is_clean(check));
	ck_assert_uint_eq(check->problems[TRIAD_ROUTES_LONGER].n, 0);
	ck_assert(check->credit.by_links);
	ck_assert(check->layout->is_tree);
	ck_assert_uint_eq(check->n_pairs, 128 * 127);
	ck_assert_uint_eq(check->most_links, 6);
	/* The tiers between levels 0-1, 1-0, 1-2, 2-1, 2-3, 3-2. */
	ck_assert_uint_eq(check->n_tiers, 6);
	for (unsigned i = 0; i < check->n_tiers; i++)
		ck_assert_double_lt(triad_routes_tier_imbalance(&check->tiers[i]), 1.2);
}
END_TEST

/* Leaves 0 to 3, each with a host, and spines 4 to 6.  Leaves 0 and 1 reach host 3
 * through spines 4 and 5, which route it down to leaf 2, and leaf 2 routes it up
 * again. */
START_TEST(test_check_detour_over_leaf_is_turn_of_each_pair)
{
	const unsigned lid = routed_host_lid(3);
	uint64_t state = 1;

	routed_init(&routed, 7);
	for (unsigned leaf = 0; leaf < 4; leaf++)
		for (unsigned spine = 4; spine < 7; spine++)
			routed_link(&routed, leaf, spine);
	for (unsigned leaf = 0; leaf < 4; leaf++)
		routed_add_host(&routed, leaf);
	routed_route(&routed, &state);
	routed.lft[0][lid] = 1;
	routed.lft[1][lid] = 2;
	routed.lft[4][lid] = routed.lft[5][lid] = 1 + 2;
	routed.lft[2][lid] = 3;
	make_check();
	ck_assert_uint_eq(check->problems[TRIAD_ROUTES_TURNS].n, 2);
	ck_assert_uint_eq(check->problems[TRIAD_ROUTES_LONGER].n, 2);
	ck_assert_uint_eq(check->problems[TRIAD_ROUTES_TURNS].n_examples, 1);
	ck_assert_uint_eq(
		check->problems[TRIAD_ROUTES_TURNS].examples[0].from, host_port(0));
	ck_assert_uint_eq(check->problems[TRIAD_ROUTES_TURNS].examples[0].at,
		fabric->ports[switch_port(2, 0)].node);
	compare_counts();
	/* The levels are a guess: without longer paths and loops, turns do no harm. */
	ck_assert_int_eq(check->credit.state, TRIAD_ROUTES_CREDIT_CLEAN);
	ck_assert(triad_routes_does_harm(check, TRIAD_ROUTES_TURNS));
	ck_assert(!triad_routes_check_is_clean(check));
	check->problems[TRIAD_ROUTES_LONGER].n = 0;
	ck_assert(!triad_routes_does_harm(check, TRIAD_ROUTES_TURNS));
	ck_assert(triad_routes_check_is_clean(check));
	check->credit.state = TRIAD_ROUTES_CREDIT_NO_SLS;
	ck_assert(triad_routes_does_harm(check, TRIAD_ROUTES_TURNS));
}
END_TEST

START_TEST(test_check_without_tables_is_reported)
{
	make_ring(3);
	fabric = routed_fabric(&routed);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		fabric->nodes[i].lft.n = 0;
	ck_assert_int_eq(triad_routes_check_make(fabric, &options, &check), ENODATA);
	ck_assert_ptr_null(check);
}
END_TEST

static bool stop(void *context)
{
	(void)context;
	return true;
}

START_TEST(test_check_stopped_is_canceled)
{
	make_ring(3);
	fabric = routed_fabric(&routed);
	options.is_stopped = stop;
	ck_assert_int_eq(triad_routes_check_make(fabric, &options, &check), ECANCELED);
}
END_TEST

START_TEST(test_hash_of_changed_tables_differs)
{
	uint64_t before;

	make_ring(3);
	fabric = routed_fabric(&routed);
	before = triad_routes_hash(fabric);
	ck_assert(triad_routes_hash(fabric) == before);
	fabric->lft[fabric->nodes[0].lft.at + routed_host_lid(2)] ^= 1;
	ck_assert(triad_routes_hash(fabric) != before);
	fabric->lft[fabric->nodes[0].lft.at + routed_host_lid(2)] ^= 1;
	fabric->ports[switch_port(1, 1)].state = TRIAD_PORT_DOWN;
	ck_assert(triad_routes_hash(fabric) != before);
}
END_TEST

/* --- levels --- */

/* Four leaves with three hosts each, three spines. */
static void make_two_levels(void)
{
	routed_init(&routed, 7);
	for (unsigned leaf = 0; leaf < 4; leaf++) {
		for (unsigned spine = 4; spine < 7; spine++)
			routed_link(&routed, leaf, spine);
		for (unsigned i = 0; i < 3; i++)
			routed_add_host(&routed, leaf);
	}
}

static void make_levels(void)
{
	fabric = routed_fabric(&routed);
	ck_assert_int_eq(triad_routes_layout_make(fabric, &layout), 0);
}

static unsigned level_of(unsigned sw)
{
	uint32_t node = triad_fabric_find_node(fabric, 0x1000 + 16 * (uint64_t)sw);

	return layout->switches[layout->switch_of_node[node]].level;
}

static void drop_levels(void)
{
	triad_routes_layout_free(layout);
	triad_fabric_unref(fabric);
	layout = NULL;
	fabric = NULL;
}

/* Row: N9 */
START_TEST(test_storage_at_a_spine_leaves_it_a_spine)
{
	make_two_levels();
	routed_add_host(&routed, 4);
	make_levels();
	ck_assert_uint_eq(level_of(4), 2);
	ck_assert_uint_eq(level_of(5), 2);
	ck_assert_uint_eq(level_of(0), 1);
	ck_assert(layout->is_tree);
	ck_assert_uint_eq(layout->n_levels, 2);
	drop_levels();
}
END_TEST

/* A core switch with storage attached is still a core.  As a leaf it would shift the
 * levels of pods. */
START_TEST(test_storage_at_a_core_leaves_it_a_core)
{
	routed_init(&routed, 12);
	for (unsigned pod = 0; pod < 2; pod++)
		for (unsigned a = 0; a < 2; a++) {
			unsigned above = 4 + 2 * pod + a;

			for (unsigned leaf = 0; leaf < 2; leaf++)
				routed_link(&routed, 2 * pod + leaf, above);
			for (unsigned core = 0; core < 2; core++)
				routed_link(&routed, above, 8 + 2 * a + core);
			for (unsigned i = 0; i < 3; i++)
				routed_add_host(&routed, 2 * pod + a);
		}
	routed_add_host(&routed, 8);
	make_levels();
	ck_assert_uint_eq(level_of(8), 3);
	ck_assert_uint_eq(level_of(9), 3);
	ck_assert_uint_eq(level_of(4), 2);
	ck_assert(layout->is_tree);
	drop_levels();
}
END_TEST

/* A switch with as many hosts as a leaf is a leaf; a leaf with few hosts isn't a
 * spine. */
START_TEST(test_switch_with_many_hosts_or_in_a_leafs_position_is_a_leaf)
{
	make_two_levels();
	for (unsigned i = 0; i < 3; i++)
		routed_add_host(&routed, 4);
	make_levels();
	ck_assert_uint_eq(level_of(4), 1);
	ck_assert(!layout->is_tree);
	drop_levels();
	make_two_levels();
	routed.n_hosts -= 2; /* leaf 3 keeps one of its hosts */
	for (unsigned p = 5; p < 7; p++)
		routed.far[3][p].kind = ROUTED_NOTHING;
	make_levels();
	ck_assert_uint_eq(level_of(3), 1);
	ck_assert(layout->is_tree);
	drop_levels();
}
END_TEST

/* --- trees as they are built --- */

/* Two levels: racks half full or empty, cables double, hosts at one spine. */
static void make_rough_tree(uint64_t *state, unsigned *n_leaves)
{
	unsigned n_spines = 2 + random_below(state, 2);

	*n_leaves = 3 + random_below(state, 4);
	routed_init(&routed, *n_leaves + n_spines);
	for (unsigned leaf = 0; leaf < *n_leaves; leaf++) {
		unsigned n_hosts = random_below(state, 4);

		for (unsigned spine = 0; spine < n_spines; spine++)
			routed_link(&routed, leaf, *n_leaves + spine);
		if (random_below(state, 8) == 0)
			routed_link(&routed, leaf, *n_leaves);
		for (unsigned i = 0; i < n_hosts; i++)
			routed_add_host(&routed, leaf);
	}
	if (random_below(state, 3) == 0)
		routed_add_host(&routed, *n_leaves + n_spines - 1);
	routed_route(&routed, state);
}

static uint8_t port_to(unsigned from, unsigned to)
{
	for (unsigned port = 1; port < ROUTED_PORTS; port++)
		if (routed.far[from][port].kind == ROUTED_SWITCH &&
			routed.far[from][port].to == to)
			return (uint8_t)port;
	ck_abort_msg("no link from %u to %u", from, to);
}

/* The first leaf with a host that is none of the others; ROUTED_NONE: there is none. */
static unsigned other_leaf(unsigned n_leaves, unsigned one, unsigned other)
{
	for (unsigned host = 0; host < routed.n_hosts; host++)
		if (routed.host_switch[host] < n_leaves &&
			routed.host_switch[host] != one &&
			routed.host_switch[host] != other)
			return routed.host_switch[host];
	return ROUTED_NONE;
}

static unsigned level_in_check(unsigned sw)
{
	uint32_t node = triad_fabric_find_node(fabric, 0x1000 + 16 * (uint64_t)sw);

	return check->layout->switches[check->layout->switch_of_node[node]].level;
}

static bool is_clean(void)
{
	make_check();
	return triad_routes_check_is_clean(check);
}

/* Row: N9 */
START_TEST(test_trees_as_they_are_built_are_clean_until_a_path_turns)
{
	unsigned n_turned = 0;

	for (unsigned long first = 1; first <= 400; first++) {
		uint64_t state = first;
		unsigned n_leaves, to, from, over, last;

		make_rough_tree(&state, &n_leaves);
		if (routed.n_hosts < 2)
			continue;
		last = routed.n_hosts - 1;
		ck_assert_msg(is_clean(), "seed %lu", first);
		to = routed.host_switch[last];
		from = other_leaf(n_leaves, to, to);
		over = other_leaf(n_leaves, to, from);
		if (to >= n_leaves || from == ROUTED_NONE || over == ROUTED_NONE)
			continue;
		/* Up to one spine, down to a third leaf, and up to the other one. */
		routed.lft[from][routed_host_lid(last)] = port_to(from, n_leaves);
		routed.lft[n_leaves][routed_host_lid(last)] = port_to(n_leaves, over);
		routed.lft[over][routed_host_lid(last)] = port_to(over, n_leaves + 1);
		/* A leaf with few hosts where another has none looks like a core. */
		if (is_clean())
			ck_assert_msg(level_in_check(over) == 3 &&
					check->problems[TRIAD_ROUTES_LONGER].n,
				"seed %lu, with a turn", first);
		else
			n_turned++;
	}
	ck_assert_uint_gt(n_turned, 100);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("check");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_storage_at_a_spine_leaves_it_a_spine);
	tcase_add_test(cases, test_storage_at_a_core_leaves_it_a_core);
	tcase_add_test(
		cases, test_switch_with_many_hosts_or_in_a_leafs_position_is_a_leaf);
	tcase_add_test(
		cases, test_trees_as_they_are_built_are_clean_until_a_path_turns);
	tcase_add_test(cases, test_check_random_fabrics_equals_walks);
	tcase_add_test(cases, test_check_sls_of_engine_equals_walks);
	tcase_add_test(cases, test_over_lists_the_pairs_that_were_counted);
	tcase_add_test(cases, test_check_groups_counts_their_pairs);
	tcase_add_test(cases, test_credit_ring_with_one_vl_loops_both_ways);
	tcase_add_test(cases, test_credit_ring_with_dateline_is_clean);
	tcase_add_test(cases, test_credit_sls_unknown_is_not_checked);
	tcase_add_test(cases, test_check_fat_tree_is_clean_and_even);
	tcase_add_test(cases, test_check_detour_over_leaf_is_turn_of_each_pair);
	tcase_add_test(cases, test_check_without_tables_is_reported);
	tcase_add_test(cases, test_check_stopped_is_canceled);
	tcase_add_test(cases, test_hash_of_changed_tables_differs);
	return run_cases(cases);
}
