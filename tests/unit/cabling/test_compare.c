/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Comparisons of cabling: items are carried out on a model of the ports, which refuses what
 * a technician could not do. */
#include "cabling/describe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ib/link.h"
#include "tests/random.h"
#include "tests/unit/mentions.h"
#include "tests/unit/scarce_memory.h"

#define GUID UINT64_C(0x1000)
#define MAX_NODES 64
#define MAX_PORTS 16
#define ALL (MAX_NODES * MAX_PORTS)
#define FREE UINT32_MAX

/* Ports of a model: node * MAX_PORTS + number - 1. */
struct model {
	unsigned n_nodes, n_ports[MAX_NODES];
	uint32_t far[ALL];
	uint8_t phys_state[ALL]; /* of a port without a far end; 0: it polls */
	char names[MAX_NODES][TRIAD_NODE_NAME_SIZE];
	bool is_host[MAX_NODES];
	bool is_lost[MAX_NODES]; /* the fabric does not have it */
};

static struct model model, planned;
static struct triad_cabling_plan *plan;
static struct triad_fabric *fabric;
static struct triad_cabling_result *result;
static struct triad_diags diags;
static uint64_t seed;

static void set_up(void)
{
	model = (struct model){0};
	memset(model.far, 0xff, sizeof(model.far));
	plan = triad_cabling_plan_new();
	plan->judges_all = true;
	triad_diags_init(&diags, "plan");
}

static void clear_result(void)
{
	triad_fabric_unref(fabric);
	triad_cabling_result_free(result);
	fabric = NULL;
	result = NULL;
}

static void tear_down(void)
{
	clear_result();
	triad_cabling_plan_free(plan);
}

/* --- the model --------------------------------------------------------- */

static unsigned add_node(const char *name, unsigned n_ports, bool is_host)
{
	unsigned node = model.n_nodes++;

	snprintf(model.names[node], sizeof(model.names[node]), "%s", name);
	model.n_ports[node] = n_ports;
	model.is_host[node] = is_host;
	return node;
}

static uint32_t at(unsigned node, unsigned number)
{
	return node * MAX_PORTS + number - 1;
}

static void connect(uint32_t a, uint32_t b)
{
	ck_assert_uint_eq(model.far[a], FREE);
	ck_assert_uint_eq(model.far[b], FREE);
	model.far[a] = b;
	model.far[b] = a;
}

static void disconnect(uint32_t port)
{
	ck_assert_uint_ne(model.far[port], FREE);
	model.far[model.far[port]] = FREE;
	model.far[port] = FREE;
}

static void move_end(uint32_t from, uint32_t to)
{
	uint32_t other = model.far[from];

	disconnect(from);
	connect(to, other);
}

static void swap_ends(uint32_t a, uint32_t b)
{
	uint32_t far_a = model.far[a], far_b = model.far[b];

	disconnect(a);
	disconnect(b);
	connect(a, far_b);
	connect(b, far_a);
}

static void add_model_port(
	struct triad_fabric_builder *builder, unsigned node, unsigned number)
{
	uint32_t far = model.far[at(node, number)];
	uint8_t phys = model.phys_state[at(node, number)];
	bool is_up = far != FREE && !model.is_lost[far / MAX_PORTS];
	struct triad_fabric_port port = {.number = (uint8_t)number,
		.guid = GUID + node,
		.state = is_up || phys == TRIAD_PHYS_LINK_UP ? TRIAD_PORT_ACTIVE
							     : TRIAD_PORT_DOWN,
		.phys_state = is_up ? TRIAD_PHYS_LINK_UP
			: phys      ? phys
				    : TRIAD_PHYS_POLLING,
		.width = 2,
		.speed = 4,
		.speed_ext = 2};

	if (is_up || !model.is_host[node])
		triad_fabric_builder_add_port(builder, &port,
			is_up ? GUID + far / MAX_PORTS : 0,
			(uint8_t)(is_up ? far % MAX_PORTS + 1 : 0));
}

static void build_fabric(void)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);

	for (unsigned i = 0; i < model.n_nodes; i++) {
		struct triad_fabric_node node = {.guid = GUID + i,
			.type = model.is_host[i] ? TRIAD_NODE_CA : TRIAD_NODE_SWITCH};

		if (model.is_lost[i])
			continue;
		triad_fabric_builder_add_node(builder, &node, model.names[i], NULL, 0);
		for (unsigned port = 1; port <= model.n_ports[i]; port++)
			add_model_port(builder, i, port);
	}
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
	triad_fabric_builder_free(builder);
}

/* --- the plan ---------------------------------------------------------- */

static struct triad_cabling_end end_by_guid(uint32_t port)
{
	return (struct triad_cabling_end){
		GUID + port / MAX_PORTS, 0, (uint8_t)(port % MAX_PORTS + 1)};
}

static struct triad_cabling_end end_by_name(uint32_t port)
{
	return (struct triad_cabling_end){0,
		triad_cabling_plan_keep(plan, model.names[port / MAX_PORTS]),
		(uint8_t)(port % MAX_PORTS + 1)};
}

static struct triad_cabling_link *plan_link(uint32_t a, uint32_t b)
{
	struct triad_cabling_link link = {
		.ends = {end_by_name(a), end_by_guid(b)}, .line = plan->n_links + 1};

	triad_cabling_plan_add_link(plan, &link);
	return &plan->links[plan->n_links - 1];
}

/* Plans what the model has; half of the links from both ends. */
static void plan_model(void)
{
	planned = model;
	plan->n_links = 0;
	plan->text_size = 1;
	for (uint32_t i = 0; i < ALL; i++)
		if (model.far[i] != FREE &&
			(i < model.far[i] || random_below(&seed, 2)))
			plan_link(i, model.far[i]);
}

/* --- carrying out ------------------------------------------------------ */

static int compare(void)
{
	clear_result();
	build_fabric();
	return triad_cabling_compare(plan, fabric, NULL, &diags, &result);
}

static uint32_t port_at(struct triad_cabling_port port)
{
	return (uint32_t)(fabric->nodes[port.node].guid - GUID) * MAX_PORTS +
		port.number - 1;
}

static void carry_out_ring(const struct triad_cabling_item *item)
{
	const struct triad_cabling_port *steps = &result->steps[item->first_step];
	uint32_t held = model.far[port_at(steps[0])];

	ck_assert_uint_gt(item->n_steps, 2);
	disconnect(port_at(steps[0]));
	for (uint32_t i = 1; i < item->n_steps; i++)
		move_end(port_at(steps[i]), port_at(steps[i - 1]));
	connect(port_at(steps[item->n_steps - 1]), held);
}

static void carry_out(const struct triad_cabling_item *item)
{
	uint32_t ports[4] = {0};

	for (unsigned i = 0; i < item->n_ports; i++)
		ports[i] = port_at(item->ports[i]);
	switch (item->kind) {
	case TRIAD_CABLING_MOVE:
		ck_assert_uint_eq(model.far[ports[0]], ports[2]);
		move_end(ports[0], ports[1]);
		break;
	case TRIAD_CABLING_SWAP:
		ck_assert_uint_eq(model.far[ports[0]], ports[2]);
		ck_assert_uint_eq(model.far[ports[1]], ports[3]);
		swap_ends(ports[0], ports[1]);
		break;
	case TRIAD_CABLING_RING:
		carry_out_ring(item);
		break;
	case TRIAD_CABLING_PUT:
		connect(ports[0], ports[1]);
		break;
	case TRIAD_CABLING_TAKE_OUT:
		ck_assert_uint_eq(model.far[ports[0]], ports[1]);
		disconnect(ports[0]);
		break;
	default:
		ck_abort_msg("an item of kind %s", triad_cabling_kind_name(item->kind));
	}
}

/* How many single moves, swaps, puts and take-outs the items are. */
static unsigned carry_out_all(void)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < result->n_items; i++) {
		const struct triad_cabling_item *item = &result->items[i];

		carry_out(item);
		n += item->kind == TRIAD_CABLING_RING ? item->n_steps - 1 : 1;
	}
	ck_assert(!memcmp(model.far, planned.far, sizeof(model.far)));
	return n;
}

/* --- against all shortest lists ---------------------------------------- */

#define N_SMALL 6
#define MAX_MATCHINGS 76

static uint32_t matchings[MAX_MATCHINGS][N_SMALL];
static unsigned n_matchings, distances[MAX_MATCHINGS];

static unsigned find_matching(const uint32_t *far)
{
	unsigned i = 0;

	while (memcmp(matchings[i], far, sizeof(matchings[i])) != 0)
		i++;
	return i;
}

static void list_matchings(uint32_t *far, unsigned from)
{
	while (from < N_SMALL && far[from] != FREE)
		from++;
	if (from == N_SMALL) {
		memcpy(matchings[n_matchings++], far, sizeof(matchings[0]));
		return;
	}
	far[from] = from; /* it stays free */
	for (unsigned i = from + 1; i < N_SMALL; i++)
		if (far[i] == FREE) {
			far[from] = i;
			far[i] = from;
			list_matchings(far, from + 1);
			far[i] = FREE;
			far[from] = from;
		}
	list_matchings(far, from + 1);
	far[from] = FREE;
}

static void reach(const uint32_t *far, unsigned distance, unsigned *queue, unsigned *n)
{
	unsigned found = find_matching(far);

	if (distances[found] != UINT32_MAX)
		return;
	distances[found] = distance;
	queue[(*n)++] = found;
}

/* All that one move, swap, put or take-out makes of a matching: two ports exchange what
 * is in them, or a pair is joined or parted. */
static void reach_from(unsigned from, unsigned *queue, unsigned *n)
{
	for (unsigned a = 0; a < N_SMALL; a++)
		for (unsigned b = a + 1; b < N_SMALL; b++) {
			uint32_t far[N_SMALL];
			uint32_t far_a = matchings[from][a], far_b = matchings[from][b];

			memcpy(far, matchings[from], sizeof(far));
			if (far_a == b || (far_a == a && far_b == b)) {
				far[a] = far_a == b ? a : b;
				far[b] = far_a == b ? b : a;
			} else {
				far[a] = far_b == b ? a : far_b;
				far[b] = far_a == a ? b : far_a;
				far[far[a]] = a;
				far[far[b]] = b;
			}
			reach(far, distances[from] + 1, queue, n);
		}
}

static void find_distances(unsigned from)
{
	unsigned queue[MAX_MATCHINGS], n = 0;

	memset(distances, 0xff, sizeof(distances));
	reach(matchings[from], 0, queue, &n);
	for (unsigned i = 0; i < n; i++)
		reach_from(queue[i], queue, &n);
	ck_assert_uint_eq(n, n_matchings);
}

static void take_matching(unsigned matching)
{
	for (unsigned i = 0; i < N_SMALL; i++)
		model.far[i] =
			matchings[matching][i] == i ? FREE : matchings[matching][i];
}

START_TEST(test_compare_all_small_fabrics_gives_shortest_lists)
{
	uint32_t far[N_SMALL];

	memset(far, 0xff, sizeof(far));
	list_matchings(far, 0);
	ck_assert_uint_eq(n_matchings, MAX_MATCHINGS);
	add_node("switch", N_SMALL, false);
	for (unsigned to = 0; to < n_matchings; to++) {
		take_matching(to);
		plan_model();
		find_distances(to);
		for (unsigned from = 0; from < n_matchings; from++) {
			take_matching(from);
			/* An empty plan has no node: all is outside. */
			if (!plan->n_links)
				continue;
			ck_assert_int_eq(compare(), 0);
			ck_assert_uint_eq(carry_out_all(), distances[from]);
		}
	}
}
END_TEST

/* --- random trees ------------------------------------------------------ */

static uint32_t random_port(void)
{
	unsigned node = random_below(&seed, model.n_nodes);

	return at(node, 1 + random_below(&seed, model.n_ports[node]));
}

/* A random port that is free, or that is not; FREE if none was found. */
static uint32_t find_port(bool is_free)
{
	for (unsigned i = 0; i < 200; i++) {
		uint32_t port = random_port();

		if ((model.far[port] == FREE) == is_free)
			return port;
	}
	return FREE;
}

/* A tree of switches, with hosts, and some more cables. */
static void build_tree(void)
{
	unsigned n_switches = 2 + random_below(&seed, 10);
	unsigned n_more = random_below(&seed, 20);
	char name[32];

	for (unsigned i = 0; i < n_switches; i++) {
		snprintf(name, sizeof(name), "switch-%u", i);
		add_node(name, 4 + random_below(&seed, MAX_PORTS - 3), false);
		if (i)
			connect(at(i, 1), at((i - 1) / 2, 2 + (i - 1) % 2));
	}
	/* Each has a cable: the plan would not have a node without one. */
	for (unsigned i = 0; i < 20; i++) {
		uint32_t a = find_port(true);

		snprintf(name, sizeof(name), "host-%u HCA-1", i);
		if (a != FREE)
			connect(a,
				at(add_node(name, 1 + random_below(&seed, 2), true),
					1));
	}
	for (unsigned i = 0; i < n_more; i++) {
		uint32_t a = find_port(true), b = find_port(true);

		if (a != FREE && b != FREE && a != b)
			connect(a, b);
	}
}

/* One fault; false if the ports that it needs were not found. */
static bool miscable(void)
{
	uint32_t a = find_port(false), b = find_port(random_below(&seed, 2));

	switch (random_below(&seed, 4)) {
	case 0:
		if (a == FREE || b == FREE || a == b || model.far[a] == b)
			return false;
		if (model.far[b] == FREE)
			move_end(a, b);
		else
			swap_ends(a, b);
		return true;
	case 1:
		if (a == FREE)
			return false;
		disconnect(a);
		return true;
	case 2:
		a = find_port(true);
		if (a == FREE || b == FREE || a == b || model.far[b] != FREE)
			return false;
		connect(a, b);
		return true;
	default: /* crossed, and once more */
		if (a == FREE || b == FREE || a == b || model.far[a] == b ||
			model.far[b] == FREE)
			return false;
		swap_ends(a, b);
		return true;
	}
}

static void run_tree(uint64_t run)
{
	unsigned n_faults = 0, n_tries;

	seed = run;
	build_tree();
	plan_model();
	n_tries = random_below(&seed, 12);
	for (unsigned i = 0; i < n_tries; i++)
		n_faults += miscable();
	ck_assert_msg(!compare(), "run %" PRIu64, run);
	ck_assert_uint_eq(result->n_items, result->n_deviations);
	ck_assert_msg(
		carry_out_all() <= n_faults, "run %" PRIu64 ": more than faults", run);
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 0);
	ck_assert_uint_eq(result->n_right, result->n_planned);
}

START_TEST(test_compare_random_trees_are_mended_by_no_more_items_than_faults)
{
	for (uint64_t run = 1; run <= 5000; run++) {
		run_tree(run);
		tear_down();
		set_up();
	}
}
END_TEST

/* --- one at a time ----------------------------------------------------- */

static void expect(uint32_t i, enum triad_cabling_kind kind, uint32_t n)
{
	ck_assert_uint_lt(i, result->n_items);
	ck_assert_str_eq(triad_cabling_kind_name(result->items[i].kind),
		triad_cabling_kind_name(kind));
	ck_assert_uint_eq(result->items[i].n, n);
}

static void build_pair(void)
{
	add_node("leaf", 8, false);
	add_node("spine", 8, false);
	for (unsigned port = 1; port <= 4; port++)
		connect(at(0, port), at(1, port));
	plan_model();
}

START_TEST(test_compare_crossed_cables_gives_one_swap)
{
	build_pair();
	swap_ends(at(0, 1), at(0, 2));
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_SWAP, 2);
	ck_assert_uint_eq(
		result->items[0].ports[0].node, result->items[0].ports[1].node);
}
END_TEST

START_TEST(test_compare_node_that_is_lost_gives_one_item)
{
	build_pair();
	plan->n_links = 0;
	for (unsigned port = 1; port <= 4; port++) {
		plan_link(at(0, port), at(1, port));
		/* The same from the other end. */
		plan_link(at(1, port), at(0, port))->ends[0] = end_by_guid(at(1, port));
	}
	model.is_lost[1] = true;
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_NODE_ABSENT, 4);
	ck_assert_uint_eq(result->n_deviations, 0);
	/* Where its first cable is planned. */
	ck_assert_uint_eq(result->items[0].n_ports, 1);
	ck_assert_uint_eq(port_at(result->items[0].ports[0]), at(0, 1));
	ck_assert_uint_eq(result->items[0].link, 0);
}
END_TEST

/* A host may have another name than planned, for a while: nothing is to be taken out. */
START_TEST(test_compare_node_of_another_name_is_not_extra)
{
	add_node("leaf", 4, false);
	add_node("host-1", 1, true);
	plan_link(at(0, 1), at(1, 1))->ends[1] = end_by_name(at(1, 1));
	snprintf(model.names[1], sizeof(model.names[1]), "localhost");
	connect(at(0, 1), at(1, 1));
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_NODE_ABSENT, 1);
}
END_TEST

START_TEST(test_compare_name_of_several_nodes_is_not_guessed)
{
	add_node("leaf", 4, false);
	add_node("Quantum", 4, false);
	add_node("Quantum", 4, false);
	for (unsigned port = 1; port <= 2; port++)
		plan_link(at(0, port), at(1, port))->ends[1] = end_by_name(at(1, port));
	connect(at(0, 1), at(1, 1));
	connect(at(0, 2), at(2, 2));
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_NAME_SHARED, 2);
	/* The end of the GUID says which one. */
	snprintf(model.names[3], sizeof(model.names[3]), "Quantum#001001");
	plan->links[0].ends[1].name = triad_cabling_plan_keep(plan, model.names[3]);
	plan->links[1].ends[1].name = plan->links[0].ends[1].name;
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_MOVE, 1);
}
END_TEST

/* Of two hosts of one name, one is gone. */
START_TEST(test_compare_guid_that_is_gone_is_not_taken_by_name)
{
	add_node("leaf", 4, false);
	add_node("factory", 1, true);
	add_node("factory", 1, true);
	for (unsigned i = 1; i <= 2; i++) {
		struct triad_cabling_link *link = plan_link(at(0, i), at(i, 1));

		link->ends[1].name = triad_cabling_plan_keep(plan, "factory");
		connect(at(0, i), at(i, 1));
	}
	model.is_lost[1] = true;
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_NODE_ABSENT, 1);
	ck_assert_uint_eq(result->n_right, 1);
}
END_TEST

START_TEST(test_compare_port_that_was_not_read_is_unknown)
{
	static const uint8_t states[] = {TRIAD_PHYS_DISABLED, TRIAD_PHYS_LINK_UP,
		TRIAD_PHYS_TRAINING, TRIAD_PHYS_SLEEP};

	build_pair();
	disconnect(at(0, 1));
	for (unsigned i = 0; i < sizeof(states); i++) {
		model.phys_state[at(1, 1)] = states[i];
		ck_assert_int_eq(compare(), 0);
		ck_assert_uint_eq(result->n_items, 1);
		expect(0, TRIAD_CABLING_PORT_UNKNOWN, 1);
		ck_assert_uint_eq(result->n_right, 3);
	}
	model.phys_state[at(1, 1)] = 0;
	ck_assert_int_eq(compare(), 0);
	expect(0, TRIAD_CABLING_PUT, 1);
}
END_TEST

START_TEST(test_compare_port_that_switch_lacks_is_absent)
{
	build_pair();
	plan_link(at(0, 9), at(1, 6));
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_PORT_ABSENT, 1);
}
END_TEST

START_TEST(test_compare_other_rate_is_to_be_replaced)
{
	build_pair();
	for (uint32_t i = 0; i < plan->n_links; i++)
		plan->links[i].speed = TRIAD_SPEED_EDR;
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_right, 4);
	for (uint32_t i = 0; i < plan->n_links; i++)
		plan->links[i].speed = TRIAD_SPEED_HDR;
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_right, 0);
	ck_assert_uint_eq(result->n_deviations, 4);
	expect(0, TRIAD_CABLING_REPLACE, 1);
	ck_assert_uint_eq(result->items[0].what, TRIAD_CABLING_RATE);
}
END_TEST

START_TEST(test_compare_length_that_was_not_read_is_unknown)
{
	static struct triad_cabling_cable cables[2 * 8];

	build_pair();
	for (uint32_t i = 0; i < plan->n_links; i++)
		plan->links[i].length_dm = 30;
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_LENGTH_UNKNOWN, 4);
	ck_assert_uint_eq(result->n_deviations, 0);
	for (unsigned i = 0; i < 16; i++)
		cables[i] = (struct triad_cabling_cable){true, i == 8 ? 50 : 30};
	cables[0].length_dm = 0; /* the other end tells of it */
	triad_cabling_result_free(result);
	ck_assert_int_eq(
		triad_cabling_compare(plan, fabric, cables, &diags, &result), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_REPLACE, 1);
	ck_assert_uint_eq(result->items[0].what, TRIAD_CABLING_LENGTH);
}
END_TEST

START_TEST(test_compare_contradictions_have_lines)
{
	build_pair();
	plan_link(at(0, 1), at(1, 7))->line = 77;
	plan_link(at(0, 7), at(0, 7))->line = 88;
	plan_link(at(0, 6), at(1, 2))->line = 99;
	ck_assert_int_eq(compare(), EINVAL);
	ck_assert_uint_eq(diags.n, 3);
	ck_assert_uint_eq(diags.entries[0].line, 77);
	ck_assert_uint_eq(diags.entries[1].line, 88);
	ck_assert_uint_eq(diags.entries[2].line, 99);
	assert_mentions(diags.entries[0].text, "leaf:1");
}
END_TEST

START_TEST(test_compare_silence_of_a_part_of_a_plan_is_no_extra)
{
	struct triad_cabling_port_plan port = {.is_free = true};

	build_pair();
	connect(at(0, 8), at(1, 8));
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	expect(0, TRIAD_CABLING_TAKE_OUT, 1);
	plan->judges_all = false;
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 0);
	port.end = end_by_name(at(1, 8));
	triad_cabling_plan_add_port(plan, &port);
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 1);
	plan->judges_all = true;
	plan->ports[0].is_free = false; /* any far end will do */
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 0);
}
END_TEST

START_TEST(test_compare_nodes_outside_of_the_plan_are_counted)
{
	build_pair();
	add_node("new", 4, false);
	connect(at(2, 1), at(2, 2));
	ck_assert_int_eq(compare(), 0);
	ck_assert_uint_eq(result->n_items, 0);
	ck_assert_uint_eq(result->n_outside, 1);
}
END_TEST

/* With and without each allocation. */
START_TEST(test_compare_short_of_memory_says_so)
{
	int error = ENOMEM;
	unsigned n = 0;

	build_pair();
	plan_link(at(0, 7), at(1, 7))->ends[0].port = 77;
	plan_link(at(0, 8), at(1, 8))->ends[0].guid = 0xabc;
	swap_ends(at(0, 1), at(0, 2));
	swap_ends(at(0, 3), at(0, 4));
	swap_ends(at(0, 2), at(0, 3));
	build_fabric();
	while (error) {
		refuse(++n);
		error = triad_cabling_compare(plan, fabric, NULL, &diags, &result);
		ck_assert_int_eq(error, refused() ? ENOMEM : 0);
	}
	ck_assert_uint_gt(n, 10);
	expect(0, TRIAD_CABLING_RING, 4);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("compare");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_compare_all_small_fabrics_gives_shortest_lists);
	tcase_add_test(cases,
		test_compare_random_trees_are_mended_by_no_more_items_than_faults);
	tcase_add_test(cases, test_compare_crossed_cables_gives_one_swap);
	tcase_add_test(cases, test_compare_node_that_is_lost_gives_one_item);
	tcase_add_test(cases, test_compare_node_of_another_name_is_not_extra);
	tcase_add_test(cases, test_compare_name_of_several_nodes_is_not_guessed);
	tcase_add_test(cases, test_compare_guid_that_is_gone_is_not_taken_by_name);
	tcase_add_test(cases, test_compare_port_that_was_not_read_is_unknown);
	tcase_add_test(cases, test_compare_port_that_switch_lacks_is_absent);
	tcase_add_test(cases, test_compare_other_rate_is_to_be_replaced);
	tcase_add_test(cases, test_compare_length_that_was_not_read_is_unknown);
	tcase_add_test(cases, test_compare_contradictions_have_lines);
	tcase_add_test(cases, test_compare_silence_of_a_part_of_a_plan_is_no_extra);
	tcase_add_test(cases, test_compare_nodes_outside_of_the_plan_are_counted);
	tcase_add_test(cases, test_compare_short_of_memory_says_so);
	return run_cases(cases);
}
