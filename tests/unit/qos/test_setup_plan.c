/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares changes, counts and SMPs of a plan with a simple implementation. */
#include "tests/unit/qos/plan_fixture.h"

/* --- changes, simple implementation --- */

struct naive_plan {
	uint64_t n_tables, n_changed[TRIAD_SETUP_N_TABLES], n_smps;
	uint32_t n_ports, n_changed_ports;
	uint32_t n_changes;
};

static bool equal_sl2vl(const struct triad_sl2vl *a, const struct triad_sl2vl *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static const struct triad_setup_change *next_change(struct naive_plan *slow)
{
	ck_assert_uint_lt(slow->n_changes, plan->n_changes);
	return &plan->changes[slow->n_changes++];
}

struct table {
	uint16_t scope;
	struct triad_sl2vl from, to;
};

static struct table read_table(uint32_t port, unsigned in)
{
	struct table table = {.from = naive_sl2vl_now(&naive, port, in)};

	table.scope = naive_sl2vl(&naive, port, in, &table.to);
	return table;
}

static bool changes(const struct table *table)
{
	return !equal_sl2vl(&table->from, &table->to);
}

static bool equal_tables(const struct table *a, const struct table *b)
{
	return a->scope == b->scope && equal_sl2vl(&a->from, &b->from) &&
		equal_sl2vl(&a->to, &b->to);
}

/* Checks the tables of one out-port: each run of equal changes is the next change of
 * the list. */
static unsigned check_sl2vl(struct naive_plan *slow, uint32_t port)
{
	unsigned n = naive_n_sl2vl(&naive, port), n_changed = 0;

	for (unsigned in = 0; in < n; in++) {
		struct table first = read_table(port, in), next = first;
		const struct triad_setup_change *change;
		unsigned last = in;

		if (!changes(&first))
			continue;
		while (last + 1 < n &&
			(next = read_table(port, last + 1),
				equal_tables(&first, &next)))
			last++;
		change = next_change(slow);
		ck_assert_int_eq(change->table, TRIAD_SETUP_SL2VL);
		ck_assert_uint_eq(change->port, port);
		ck_assert_uint_eq(change->in_first, in);
		ck_assert_uint_eq(change->in_last, last);
		ck_assert_uint_eq(change->scope, first.scope);
		ck_assert_mem_eq(&change->from.sl2vl, &first.from, 8);
		ck_assert_mem_eq(&change->to.sl2vl, &first.to, 8);
		n_changed += last - in + 1;
		in = last;
	}
	slow->n_tables += n;
	slow->n_changed[TRIAD_SETUP_SL2VL] += n_changed;
	return n_changed;
}

static unsigned check_vlarb(struct naive_plan *slow, uint32_t port, bool high)
{
	struct triad_vlarb_entry from[TRIAD_VLARB_MAX], to[TRIAD_VLARB_MAX];
	enum triad_setup_table table =
		high ? TRIAD_SETUP_VLARB_HIGH : TRIAD_SETUP_VLARB_LOW;
	int n = naive_n_vlarb(&naive, port, high);
	const struct triad_setup_change *change;
	bool blocks[2] = {false, false};
	uint16_t scope;

	if (n <= 0)
		return 0;
	slow->n_tables++;
	scope = naive_vlarb(&naive, port, high, to);
	naive_vlarb_now(&naive, port, high, from);
	for (int i = 0; i < n; i++)
		blocks[i / 32] |=
			from[i].vl != to[i].vl || from[i].weight != to[i].weight;
	if (!blocks[0] && !blocks[1])
		return 0;
	slow->n_smps += blocks[0] + blocks[1];
	slow->n_changed[table]++;
	change = next_change(slow);
	ck_assert_int_eq(change->table, table);
	ck_assert_uint_eq(change->port, port);
	ck_assert_uint_eq(change->scope, scope);
	ck_assert_uint_eq(change->n, n);
	ck_assert_mem_eq(change->from.vlarb, from, 2 * (size_t)n);
	ck_assert_mem_eq(change->to.vlarb, to, 2 * (size_t)n);
	return 1;
}

static unsigned check_limit(struct naive_plan *slow, uint32_t port)
{
	uint8_t from = fabric->ports[port].high_limit, to;
	const struct triad_setup_change *change;
	uint16_t scope;

	if (!naive_has_limit(&naive, port))
		return 0;
	scope = naive_high_limit(&naive, port, &to);
	if (from == to)
		return 0;
	slow->n_changed[TRIAD_SETUP_HIGH_LIMIT]++;
	slow->n_smps++;
	change = next_change(slow);
	ck_assert_int_eq(change->table, TRIAD_SETUP_HIGH_LIMIT);
	ck_assert_uint_eq(change->port, port);
	ck_assert_uint_eq(change->scope, scope);
	ck_assert_uint_eq(change->from.high_limit, from);
	ck_assert_uint_eq(change->to.high_limit, to);
	return 1;
}

/* --- SMPs, simple implementation --- */

static bool is_alike(uint32_t port)
{
	struct table first = read_table(port, 0);

	for (unsigned in = 1; in < naive_n_sl2vl(&naive, port); in++) {
		struct table other = read_table(port, in);

		if (!equal_sl2vl(&first.to, &other.to))
			return false;
	}
	return true;
}

static unsigned n_changed_at(uint32_t port)
{
	unsigned n = 0;

	for (unsigned in = 0; in < naive_n_sl2vl(&naive, port); in++) {
		struct table table = read_table(port, in);

		n += changes(&table);
	}
	return n;
}

static bool is_whole(const struct triad_fabric_node *node)
{
	struct table first, other;
	bool any = false;

	for (uint32_t i = node->first_port; i < node->first_port + node->n_ports; i++) {
		if (!naive_n_sl2vl(&naive, i))
			continue;
		other = read_table(i, 0);
		if (!any)
			first = other;
		any = true;
		if (!is_alike(i) || !equal_sl2vl(&first.to, &other.to))
			return false;
	}
	return any;
}

static uint64_t count_smps(const struct triad_fabric_node *node)
{
	bool is_optimized = node->optimized_sl2vl && node->type == TRIAD_NODE_SWITCH &&
		fabric->qos.optimized && !fabric->qos.engine_has_tables;
	unsigned n_all = node->enhanced_port0 ? 1 : 2;
	uint64_t n = 0;

	for (uint32_t i = node->first_port; i < node->first_port + node->n_ports; i++) {
		unsigned n_changed = n_changed_at(i);

		n += is_optimized && n_changed && is_alike(i) ? n_all : n_changed;
	}
	return n && is_optimized && is_whole(node) ? n_all : n;
}

static void check_plan(void)
{
	struct naive_plan slow = {0};

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		unsigned n = check_sl2vl(&slow, i);

		n += check_vlarb(&slow, i, false);
		n += check_vlarb(&slow, i, true);
		n += check_limit(&slow, i);
		slow.n_changed_ports += n > 0;
		slow.n_ports += naive_is_looked_at(&naive, i);
	}
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		slow.n_smps += count_smps(&fabric->nodes[i]);
	ck_assert_uint_eq(plan->n_tables, slow.n_tables);
	ck_assert_mem_eq(plan->n_changed, slow.n_changed, sizeof(slow.n_changed));
	ck_assert_uint_eq(plan->n_smps, slow.n_smps);
	ck_assert_uint_eq(plan->n_ports, slow.n_ports);
	ck_assert_uint_eq(plan->n_changed_ports, slow.n_changed_ports);
	ck_assert_uint_eq(plan->n_changes, slow.n_changes);
	ck_assert_uint_eq(plan->n_changes_total, slow.n_changes);
}

/* Row: X3 */
START_TEST(test_plan_random_is_as_slow_one)
{
	uint64_t n_by_scope = 0, n_by_default = 0;

	printf("# seed %u\n", seed);
	for (unsigned i = 0; i < 60; i++) {
		make_by_chance(seed + i);
		check_plan();
		for (uint32_t c = 0; c < plan->n_changes; c++)
			if (plan->changes[c].scope == TRIAD_SCOPE_NONE)
				n_by_default++;
			else
				n_by_scope++;
	}
	ck_assert_uint_gt(n_by_scope, 0);
	ck_assert_uint_gt(n_by_default, 0);
	drop_all();
}
END_TEST

/* --- OpenSM's defaults --- */

START_TEST(test_plan_without_setup_where_defaults_are_nothing)
{
	for (unsigned i = 0; i < 20; i++) {
		srand(seed + i);
		sketch_by_chance(seed + i, true);
		make(NULL);
		ck_assert_uint_gt(plan->n_tables, 0);
		ck_assert_uint_eq(plan->n_changes, 0);
		ck_assert_uint_eq(plan->n_smps, 0);
		ck_assert_uint_eq(plan->n_changed_ports, 0);
		ck_assert_uint_eq(plan->n_findings, 0);
		ck_assert_uint_eq(plan->n_cut_off, 0);
	}
	drop_all();
}
END_TEST

START_TEST(test_plan_without_rows_takes_zeros)
{
	struct plan_port *port;

	sketch_two_switches();
	port = plan_port(sketch, 3, 1);
	port->n_sl2vl = port->n_vlarb = 0;
	make(NULL);
	ck_assert_uint_eq(plan->n_changes, 3);
	for (unsigned i = 0; i < 8; i++)
		ck_assert_uint_eq(plan->changes[0].from.sl2vl.vl[i], 0);
	ck_assert_uint_eq(plan->changes[0].to.sl2vl.vl[0], 0x01);
	ck_assert_uint_eq(plan->changes[1].from.vlarb[1].weight, 0);
	ck_assert_uint_eq(plan->changes[1].to.vlarb[1].weight, 4);
	drop_all();
}
END_TEST

START_TEST(test_plan_vls_of_default_cut_by_mask)
{
	sketch_two_switches();
	/* The port has 4 data VLs instead of 8, so SL 14 is mapped to VL 14 & 3.  The
	 * other end of the link gets as many VLs. */
	plan_port(sketch, 3, 1)->port.vl_cap = 3;
	make(NULL);
	ck_assert_uint_eq(plan->n_changed_ports, 2);
	ck_assert_uint_eq(naive_vl(&plan->changes[0].to.sl2vl, 14), 2);
	ck_assert_uint_eq(naive_vl(&plan->changes[0].from.sl2vl, 14), 6);
	drop_all();
}
END_TEST

START_TEST(test_vls_of_active_port_are_those_that_its_device_keeps)
{
	struct plan_port *port;
	uint32_t i;

	sketch_two_switches();
	port = plan_port(sketch, 2, 1);
	port->port.op_vls = 3;
	make(NULL);
	i = port_of(2, 1);
	/* The SM requests all VLs of the other end, and its device accepts them. */
	ck_assert_uint_eq(triad_fabric_op_vls(fabric, i), 3);
	ck_assert_uint_eq(triad_fabric_op_vls(fabric, port_of(0, 1)), 4);
	ck_assert_uint_eq(plan->n_changed_ports, 1);
	ck_assert_uint_eq(plan->changes[0].port, i);
	ck_assert_uint_eq(naive_vl(&plan->changes[0].to.sl2vl, 14), 2);
	/* The value before the SM sets OperationalVLs has no meaning. */
	fabric->ports[i].state = TRIAD_PORT_ARMED;
	ck_assert_uint_eq(triad_fabric_op_vls(fabric, i), 4);
	fabric->ports[i].state = TRIAD_PORT_ACTIVE;
	fabric->ports[i].op_vls = 0;
	ck_assert_uint_eq(triad_fabric_op_vls(fabric, i), 4);
	fabric->ports[i].op_vls = 5;
	ck_assert_uint_eq(triad_fabric_op_vls(fabric, i), 4);
	fabric->ports[i].op_vls = 3;
	fabric->qos.max_op_vls = 2;
	ck_assert_uint_eq(triad_fabric_op_vls(fabric, i), 2);
	fabric->ports[i].op_vls = 1;
	ck_assert_uint_eq(triad_fabric_op_vls(fabric, i), 1);
	drop_all();
}
END_TEST

#define LIMIT_7(group)                                                                 \
	VLARB("vlarb-scope\ngroup: " group "\nvl-high-limit: 7\nend-vlarb-scope\n")

START_TEST(test_limit_of_port_without_known_remote_is_no_change)
{
	sketch_two_switches();
	plan_port(sketch, 0, 3)->port.state = TRIAD_PORT_INIT;
	make(LIMIT_7("switches"));
	/* The 4 linked ports and port 0 of each switch. */
	ck_assert_uint_eq(plan->n_changed[TRIAD_SETUP_HIGH_LIMIT], 10);
	ck_assert_uint_eq(plan->n_smps, 10);
	for (uint32_t i = 0; i < plan->n_changes; i++)
		ck_assert_uint_ne(plan->changes[i].port, port_of(0, 3));
	drop_all();
}
END_TEST

START_TEST(test_limit_of_port_without_arbitration_tables_is_no_change)
{
	sketch_two_switches();
	plan_port(sketch, 2, 1)->port.vlarb_low_cap = 0;
	make(LIMIT_7("host2"));
	ck_assert_uint_eq(plan->n_changed[TRIAD_SETUP_HIGH_LIMIT], 1);
	plan_port(sketch, 2, 1)->port.vlarb_low_cap = 8;
	plan_port(sketch, 2, 1)->port.vlarb_high_cap = 0;
	make(LIMIT_7("host2"));
	ck_assert_uint_eq(plan->n_changed[TRIAD_SETUP_HIGH_LIMIT], 1);
	plan_port(sketch, 2, 1)->port.vlarb_low_cap = 0;
	make(LIMIT_7("host2"));
	ck_assert_uint_eq(plan->n_changes, 0);
	drop_all();
}
END_TEST

START_TEST(test_port0_from_itself_has_its_own_default)
{
	sketch_two_switches();
	sketch->qos.defaults[TRIAD_QOS_PORT_SWITCH0].sl2vl.vl[0] = 0x33;
	make(NULL);
	ck_assert_uint_eq(plan->n_changes, 2);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(plan->changes[i].port, port_of(i, 0));
		ck_assert_uint_eq(plan->changes[i].in_first, 0);
		ck_assert_uint_eq(plan->changes[i].in_last, 0);
	}
	sketch->nodes[1].node.enhanced_port0 = false;
	make(NULL);
	ck_assert_uint_eq(plan->n_changes, 1);
	drop_all();
}
END_TEST

/* --- lists and SMPs --- */

START_TEST(test_tables_alike_of_inports_in_a_row_are_one_change)
{
	sketch_two_switches();
	make(SL2VL("sl2vl-scope\ngroup: one\nfrom: 1-3,5\n" TABLE(
		"1,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7")));
	ck_assert_uint_eq(plan->n_changed[TRIAD_SETUP_SL2VL], 4);
	ck_assert_uint_eq(plan->n_changes, 2);
	ck_assert_uint_eq(plan->changes[0].port, port_of(0, 1));
	ck_assert_uint_eq(plan->changes[0].in_first, 1);
	ck_assert_uint_eq(plan->changes[0].in_last, 3);
	ck_assert_uint_eq(plan->changes[0].scope, 0);
	ck_assert_uint_eq(plan->changes[1].in_first, 5);
	ck_assert_uint_eq(plan->changes[1].in_last, 5);
	drop_all();
}
END_TEST

#define ALL_TO_0 TABLE("0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0")

START_TEST(test_smps_of_optimized_switch_are_few)
{
	sketch_two_switches();
	/* 5 out-ports that are up times 7 in-ports, at each of two switches. */
	make(SL2VL("sl2vl-scope\ngroup: switches\n" ALL_TO_0));
	ck_assert_uint_eq(plan->n_changed[TRIAD_SETUP_SL2VL], 70);
	ck_assert_uint_eq(plan->n_smps, 70);
	sketch->nodes[0].node.optimized_sl2vl = true;
	make(SL2VL("sl2vl-scope\ngroup: switches\n" ALL_TO_0));
	ck_assert_uint_eq(plan->n_smps, 70);
	sketch->qos.optimized = true;
	make(SL2VL("sl2vl-scope\ngroup: switches\n" ALL_TO_0));
	ck_assert_uint_eq(plan->n_smps, 1 + 35);
	make(SL2VL("sl2vl-scope\ngroup: switches\nto: 1,2\n" ALL_TO_0));
	ck_assert_uint_eq(plan->n_smps, 2 + 14);
	make(SL2VL("sl2vl-scope\ngroup: switches\nto: 1\nfrom: 1,2\n" ALL_TO_0));
	ck_assert_uint_eq(plan->n_smps, 2 + 2);
	/* One table is already set: OpenSM sends it with the others. */
	memset(&plan_port(sketch, 0, 2)->sl2vl[3], 0, 8);
	make(SL2VL("sl2vl-scope\ngroup: switches\n" ALL_TO_0));
	ck_assert_uint_eq(plan->n_smps, 1 + 35);
	/* A base port 0 has no tables, so its in-port needs a separate SMP. */
	sketch->nodes[0].node.enhanced_port0 = false;
	make(SL2VL("sl2vl-scope\ngroup: switches\n" ALL_TO_0));
	ck_assert_uint_eq(plan->n_smps, 2 + 35);
	/* The table that is already set returns to OpenSM's default. */
	make(SL2VL("sl2vl-scope\ngroup: switches\nto: 1\n" ALL_TO_0));
	ck_assert_uint_eq(plan->n_smps, 2 + 2 + 7);
	sketch->nodes[0].node.enhanced_port0 = true;
	sketch->qos.engine_has_tables = true;
	make(SL2VL("sl2vl-scope\ngroup: switches\n" ALL_TO_0));
	ck_assert_uint_eq(plan->n_smps, 69);
	drop_all();
}
END_TEST

START_TEST(test_smps_of_vlarb_are_for_blocks_that_differ)
{
	sketch_two_switches();
	plan_use_qos(sketch, 4, 64);
	make(VLARB("vlarb-scope\ngroup: host2\nvlarb-high: 0:4,1:0,2:0,3:0,4:0,5:0,6:0,"
		   "7:0,0:1\nvl-high-limit: 7\nend-vlarb-scope\n"));
	/* In OpenSM's default the entry of VL 8 is 8 & 7 = VL 0; further entries
	 * follow, all in block 1. */
	ck_assert_uint_eq(plan->n_changed[TRIAD_SETUP_VLARB_HIGH], 1);
	ck_assert_uint_eq(plan->n_changed[TRIAD_SETUP_VLARB_LOW], 0);
	ck_assert_uint_eq(plan->n_changed[TRIAD_SETUP_HIGH_LIMIT], 1);
	ck_assert_uint_eq(plan->n_smps, 2);
	plan_port(sketch, 2, 1)->vlarb[64 + 40].weight = 1;
	make(VLARB("vlarb-scope\ngroup: host2\nvlarb-high: 0:4,1:0,2:0,3:0,4:0,5:0,6:0,"
		   "7:0,0:1\nvl-high-limit: 7\nend-vlarb-scope\n"));
	ck_assert_uint_eq(plan->n_smps, 3);
	drop_all();
}
END_TEST

START_TEST(test_vlarb_cap_of_two_whole_blocks_is_one)
{
	ck_assert_uint_eq(triad_vlarb_cap(0), 0);
	ck_assert_uint_eq(triad_vlarb_cap(8), 8);
	ck_assert_uint_eq(triad_vlarb_cap(32), 32);
	ck_assert_uint_eq(triad_vlarb_cap(33), 33);
	ck_assert_uint_eq(triad_vlarb_cap(63), 63);
	ck_assert_uint_eq(triad_vlarb_cap(64), 32);
	ck_assert_uint_eq(triad_vlarb_cap(65), 32);
	ck_assert_uint_eq(triad_vlarb_cap(255), 32);
}
END_TEST

/* --- hash --- */

static uint64_t hash_with(const char *text)
{
	make(text);
	return plan->hash;
}

START_TEST(test_hash_equal_plans_have_equal_ones)
{
	const char *text = SL2VL("sl2vl-scope\ngroup: one\n" ALL_TO_0);
	uint64_t hash, none;

	sketch_two_switches();
	hash = hash_with(text);
	none = hash_with(NULL);
	ck_assert_uint_eq(hash_with(text), hash);
	ck_assert_uint_ne(hash, none);
	ck_assert_uint_ne(
		hash_with(SL2VL("sl2vl-scope\ngroup: host2\n" ALL_TO_0)), hash);
	ck_assert_uint_ne(hash_with(SL2VL("sl2vl-scope\ngroup: one\n" TABLE(
				  "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1"))),
		hash);
	ck_assert_uint_ne(
		hash_with(SL2VL("sl2vl-scope\ngroup: one\nfrom: 1-6\n" ALL_TO_0)),
		hash);
	/* The hash includes the present tables. */
	plan_port(sketch, 0, 1)->sl2vl[4].vl[7] ^= 0x80;
	ck_assert_uint_ne(hash_with(text), hash);
	plan_port(sketch, 0, 1)->sl2vl[4].vl[7] ^= 0x80;
	plan_port(sketch, 3, 1)->port.high_limit = 1;
	ck_assert_uint_ne(hash_with(NULL), none);
	plan_port(sketch, 3, 1)->port.high_limit = 0;
	plan_port(sketch, 3, 1)->vlarb[7].weight ^= 0x80;
	ck_assert_uint_ne(hash_with(NULL), none);
	drop_all();
}
END_TEST

START_TEST(test_hash_differs_by_what_is_there)
{
	uint64_t hash;

	sketch_two_switches();
	plan_port(sketch, 3, 1)->port.high_limit = 1;
	hash = hash_with(NULL);
	plan_port(sketch, 3, 1)->port.high_limit = 2;
	ck_assert_uint_ne(hash_with(NULL), hash);
	plan_port(sketch, 3, 1)->port.high_limit = 0;
	plan_port(sketch, 3, 1)->vlarb[7].weight = 1;
	hash = hash_with(NULL);
	plan_port(sketch, 3, 1)->vlarb[7].weight = 2;
	ck_assert_uint_ne(hash_with(NULL), hash);
	hash = hash_with(SL2VL("sl2vl-scope\ngroup: one\nfrom: 1-5\n" ALL_TO_0));
	ck_assert_uint_ne(
		hash_with(SL2VL("sl2vl-scope\ngroup: one\nfrom: 1-6\n" ALL_TO_0)),
		hash);
	drop_all();
}
END_TEST

/* Differences in the highest bit of two words must not cancel each other. */
START_TEST(test_hash_two_changes_differ_from_other_two)
{
	uint64_t hash;

	sketch_two_switches();
	plan_port(sketch, 3, 1)->sl2vl[0].vl[7] ^= 0x10;
	plan_port(sketch, 4, 1)->sl2vl[0].vl[7] ^= 0x10;
	hash = hash_with(NULL);
	plan_port(sketch, 3, 1)->sl2vl[0].vl[7] ^= 0x80;
	plan_port(sketch, 4, 1)->sl2vl[0].vl[7] ^= 0x80;
	ck_assert_uint_ne(hash_with(NULL), hash);
	drop_all();
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("setup plan");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_plan_random_is_as_slow_one);
	tcase_add_test(cases, test_plan_without_setup_where_defaults_are_nothing);
	tcase_add_test(cases, test_plan_without_rows_takes_zeros);
	tcase_add_test(cases, test_plan_vls_of_default_cut_by_mask);
	tcase_add_test(cases, test_vls_of_active_port_are_those_that_its_device_keeps);
	tcase_add_test(cases, test_limit_of_port_without_known_remote_is_no_change);
	tcase_add_test(
		cases, test_limit_of_port_without_arbitration_tables_is_no_change);
	tcase_add_test(cases, test_port0_from_itself_has_its_own_default);
	tcase_add_test(cases, test_tables_alike_of_inports_in_a_row_are_one_change);
	tcase_add_test(cases, test_smps_of_optimized_switch_are_few);
	tcase_add_test(cases, test_smps_of_vlarb_are_for_blocks_that_differ);
	tcase_add_test(cases, test_vlarb_cap_of_two_whole_blocks_is_one);
	tcase_add_test(cases, test_hash_equal_plans_have_equal_ones);
	tcase_add_test(cases, test_hash_differs_by_what_is_there);
	tcase_add_test(cases, test_hash_two_changes_differ_from_other_two);
	return run_cases(cases);
}
