/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Random policies and fabrics: compares the compiled scopes with a check of every group
 * of every scope by the rules in setup.h. */
#include "tests/unit/qos/setup_fixture.h"

#include <time.h>

#include "qos/rules/membership.h"
#include "tests/random.h"
#include "tests/sim/plans.h"
#include "tests/sim/setups.h"
#include "triad/lists.h"

#define N_FABRICS 600
#define N_POLICIES 12 /* for each fabric */

static unsigned seed;
static uint64_t state; /* of the random numbers; begins with the seed */
static struct plan *plan;
static struct triad_fabric *fabric;
static bool *members; /* by group and port of the fabric */

static void set_up(void)
{
	seed = (unsigned)time(NULL);
	state = seed;
}

static void drop_fabric(void)
{
	triad_fabric_unref(fabric);
	fabric = NULL;
	plan_free(plan);
	plan = NULL;
}

static void tear_down(void)
{
	drop_setup();
	drop_fabric();
	free(members);
	members = NULL;
}

/* libcheck makes a system call for each assertion, even if it holds; these are too
 * many. */
#define MUST(holds, ...)                                                               \
	do {                                                                           \
		if (!(holds))                                                          \
			ck_abort_msg("seed %u: " __VA_ARGS__);                         \
	} while (0)

static unsigned dice(unsigned sides)
{
	return random_below(&state, sides);
}

/* --- the fabric --- */

static const char *const partition_names[] = {
	"part", "Part", "PART", "other", "Other", "third", NULL};

static void make_fabric(void)
{
	static const uint16_t pkeys[] = {1, 2, 0x100, 0x101, 0x200, 0x7fff};

	drop_fabric();
	plan = plan_random_tree(random_below(&state, 1u << 30));
	for (unsigned i = 0; i < plan->n_nodes; i++) {
		struct plan_node *node = &plan->nodes[i];

		setup_random_name(node->name, sizeof(node->name), &state);
		if (node->node.type == TRIAD_NODE_CA && !dice(8))
			node->node.type = TRIAD_NODE_ROUTER;
	}
	for (unsigned i = 0; i < 6; i++)
		if (dice(3))
			plan_add_partition(plan, pkeys[i], 0,
				dice(7) ? partition_names[dice(6)] : "");
	fabric = plan_build(plan);
	fabric->sm_port = dice(fabric->n_ports);
	if (fabric->nodes[fabric->ports[fabric->sm_port].node].type ==
		TRIAD_NODE_SWITCH)
		fabric->sm_port =
			fabric->nodes[fabric->ports[fabric->sm_port].node].first_port;
}

/* The end port that a port belongs to: itself, or its switch's port 0. */
static uint32_t end_port_of(uint32_t port)
{
	return triad_fabric_is_end_port(fabric, port)
		? port
		: fabric->nodes[fabric->ports[port].node].first_port;
}

/* --- the policy --- */

static void use_random_policy(unsigned n_groups, unsigned n_scopes)
{
	char *groups = setup_random_groups(fabric, n_groups, partition_names, &state);
	char *sl2vl = setup_random_sl2vl(n_groups, dice(n_scopes), &state);
	char *vlarb = setup_random_vlarb(n_groups, dice(n_scopes), &state);

	use(groups, sl2vl, vlarb);
	free(groups);
	free(sl2vl);
	free(vlarb);
}

/* --- groups, simple implementation --- */

static bool naive_has(const struct triad_ranges *ranges, uint64_t value)
{
	for (uint32_t i = 0; i < ranges->n; i++)
		if (ranges->items[i].first <= value && value <= ranges->items[i].last)
			return true;
	return false;
}

static bool naive_is_named(uint32_t port, const struct triad_port_name *name)
{
	const struct triad_fabric_node *node = &fabric->nodes[fabric->ports[port].node];
	char first[80] = "", second[80] = "", words[170];

	sscanf(node->name, "%79s %79s", first, second);
	snprintf(words, sizeof(words), "%s%s%s", first, second[0] ? " " : "", second);
	if (strcmp(name->words ? words : node->name, name->node) != 0)
		return false;
	return name->number == fabric->ports[port].number ||
		(node->type == TRIAD_NODE_SWITCH && name->number == 0);
}

/* Finds a partition by name among the first 'n'. */
static unsigned naive_partition(const char *name, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(fabric->partitions[i].name, name))
			return fabric->partitions[i].pkey;
	for (uint32_t i = 0; i < n; i++)
		if (!strcasecmp(fabric->partitions[i].name, name))
			return fabric->partitions[i].pkey;
	return 0;
}

static bool naive_has_pkey(
	const struct triad_policy_group *group, unsigned pkey, uint32_t n_partitions)
{
	if (!pkey)
		return false;
	for (uint32_t i = 0; i < group->n_partitions; i++)
		if (naive_partition(group->partitions[i], n_partitions) == pkey)
			return true;
	return naive_has(&group->pkeys, pkey);
}

static bool naive_is_member(
	const struct triad_policy_group *group, uint32_t port, uint32_t n_partitions)
{
	uint32_t end = end_port_of(port);
	const struct triad_fabric_port *at = &fabric->ports[end];

	if (naive_has(&group->guids, at->guid) ||
		group->node_types >> fabric->nodes[at->node].type & 1 ||
		(group->self && end == fabric->sm_port))
		return true;
	for (uint32_t i = 0; i < group->n_port_names; i++)
		if (naive_is_named(port, &group->port_names[i]))
			return true;
	for (uint32_t i = 0; i < at->pkeys.n; i++)
		if (naive_has_pkey(group, fabric->pkeys[at->pkeys.at + i] & 0x7fff,
			    n_partitions))
			return true;
	return false;
}

static void find_members(uint32_t n_partitions)
{
	free(members);
	members = calloc((size_t)policy->n_groups * fabric->n_ports + 1, 1);
	for (uint32_t i = 0; i < policy->n_groups; i++)
		for (uint32_t port = 0; port < fabric->n_ports; port++)
			members[(size_t)i * fabric->n_ports + port] =
				naive_is_member(&policy->groups[i], port, n_partitions);
}

static bool naive_in_any(const struct triad_group_list *list, uint32_t port)
{
	for (uint32_t i = 0; port != TRIAD_FABRIC_NONE && i < list->n; i++)
		if (members[(size_t)list->items[i] * fabric->n_ports + port])
			return true;
	return false;
}

/* --- scopes, simple implementation --- */

static bool naive_takes_out(const struct triad_policy_scope *scope, uint32_t out)
{
	const struct triad_fabric_port *port = &fabric->ports[out];

	if (!scope->to_any && !triad_ports_has(scope->to, port->number))
		return false;
	if (!scope->groups.n && !scope->across.n && !scope->across_to.n)
		return true;
	return naive_in_any(&scope->groups, out) ||
		naive_in_any(&scope->across, port->remote) ||
		naive_in_any(&scope->across_to, port->remote);
}

static bool naive_takes_in(const struct triad_policy_scope *scope, uint32_t in)
{
	if (in == TRIAD_FABRIC_NONE)
		return !scope->across_from.n;
	if (!scope->from_any && !triad_ports_has(scope->from, fabric->ports[in].number))
		return false;
	return !scope->across_from.n ||
		naive_in_any(&scope->across_from, fabric->ports[in].remote);
}

/* 'in' is TRIAD_FABRIC_NONE at a CA or router. */
static uint16_t naive_sl2vl(uint32_t in, uint32_t out)
{
	uint16_t last = TRIAD_SCOPE_NONE;

	for (uint32_t i = 0; i < policy->n_sl2vl; i++)
		if (naive_takes_out(&policy->sl2vl[i].scope, out) &&
			naive_takes_in(&policy->sl2vl[i].scope, in))
			last = (uint16_t)i;
	return last;
}

static uint16_t naive_vlarb(uint32_t out)
{
	uint16_t last = TRIAD_SCOPE_NONE;

	for (uint32_t i = 0; i < policy->n_vlarb; i++)
		if (naive_takes_out(&policy->vlarb[i].scope, out))
			last = (uint16_t)i;
	return last;
}

/* --- comparisons --- */

static uint32_t class_of(uint32_t port)
{
	struct triad_scopes_port is = {.number = fabric->ports[port].number};
	uint32_t end = end_port_of(port);

	if (port == TRIAD_FABRIC_NONE)
		return TRIAD_SCOPES_NO_CLASS;
	is.guid = fabric->ports[end].guid;
	is.node_name = fabric->nodes[fabric->ports[port].node].name;
	is.node_type = fabric->nodes[fabric->ports[port].node].type;
	is.is_self = end == fabric->sm_port;
	is.pkeys = triad_membership_pkeys(fabric, end, &is.n_pkeys);
	return triad_scopes_class(scopes, &is);
}

static struct triad_scopes_end end_of(uint32_t port)
{
	uint32_t remote = fabric->ports[port].remote;

	return (struct triad_scopes_end){.own = class_of(port),
		.remote = remote == TRIAD_FABRIC_NONE ? TRIAD_SCOPES_NO_CLASS
						      : class_of(remote),
		.number = fabric->ports[port].number};
}

static void check_vlarb(uint16_t scope)
{
	const struct triad_policy_vlarb *wanted = &policy->vlarb[scope];
	uint8_t code = (uint8_t)dice(8), cap = (uint8_t)dice(16);
	bool high = dice(2);
	unsigned n = high ? wanted->n_high : wanted->n_low;
	struct triad_vlarb_entry entries[16];

	if (!triad_setup_vlarb(setup, scope, high, code, cap, entries)) {
		MUST(!(high ? wanted->has_high : wanted->has_low) || n > cap,
			"scope %u has no table", seed, scope);
		return;
	}
	MUST((high ? wanted->has_high : wanted->has_low) && n <= cap,
		"scope %u has a table", seed, scope);
	for (unsigned i = 0; i < cap; i++) {
		struct triad_vlarb_entry must = high ? wanted->high[i] : wanted->low[i];

		if (i >= n || must.vl >= triad_vls_n(code))
			must.weight = 0;
		MUST(entries[i].weight == must.weight &&
				(!must.weight || entries[i].vl == must.vl),
			"scope %u has %u:%u", seed, scope, entries[i].vl,
			entries[i].weight);
	}
}

static void check_table(uint16_t scope)
{
	uint8_t code = (uint8_t)dice(8);
	const struct triad_sl2vl *table = triad_setup_sl2vl(setup, scope, code);

	for (unsigned sl = 0; table && sl < 16; sl++) {
		unsigned is = table->vl[sl / 2] >> (sl % 2 ? 0 : 4) & 15;
		unsigned must = policy->sl2vl[scope].vl[sl];

		MUST(is == (must < triad_vls_n(code) ? must : 15),
			"SL %u of scope %u has VL %u", seed, sl, scope, is);
	}
	MUST((table != NULL) == (scope != TRIAD_SCOPE_NONE), "scope %u", seed, scope);
}

static void check_switch(const struct triad_fabric_node *node)
{
	struct triad_scopes_end ports[TRIAD_SCOPES_MAX_PORTS];
	struct triad_scopes_switch kinds;
	uint16_t row[TRIAD_SCOPES_MAX_PORTS];

	for (uint32_t i = 0; i < node->n_ports; i++)
		ports[i] = end_of(node->first_port + i);
	triad_scopes_sort_ports(scopes, ports, node->n_ports, &kinds);
	for (uint32_t out = 0; out < node->n_ports; out++) {
		triad_scopes_sl2vl_row(scopes, ports, &kinds, &ports[out], row);
		for (uint32_t in = 0; in < node->n_ports; in++) {
			uint16_t must = naive_sl2vl(
				node->first_port + in, node->first_port + out);
			uint16_t is = row[kinds.kind[in]];

			MUST(is == must, "'%s' from %u to %u: scope %u, not %u", seed,
				node->name, ports[in].number, ports[out].number, is,
				must);
		}
		check_table(row[0]);
	}
}

static void check_port(uint32_t port)
{
	struct triad_scopes_end end = end_of(port);
	uint16_t is = triad_scopes_vlarb(scopes, &end), must = naive_vlarb(port);
	const struct triad_fabric_node *node = &fabric->nodes[fabric->ports[port].node];

	MUST(is == must, "'%s' port %u: VLArb scope %u, not %u", seed, node->name,
		end.number, is, must);
	if (is != TRIAD_SCOPE_NONE)
		check_vlarb(is);
	if (node->type == TRIAD_NODE_SWITCH)
		return;
	is = triad_scopes_endport_sl2vl(scopes, &end);
	must = naive_sl2vl(TRIAD_FABRIC_NONE, port);
	MUST(is == must, "'%s' port %u: SL2VL scope %u, not %u", seed, node->name,
		end.number, is, must);
}

static void check_all(uint32_t n_partitions)
{
	find_members(n_partitions);
	ck_assert_int_eq(
		triad_scopes_set_partitions(scopes, fabric->partitions, n_partitions),
		0);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[i].type == TRIAD_NODE_SWITCH)
			check_switch(&fabric->nodes[i]);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		check_port(i);
	ck_assert_int_eq(triad_scopes_error(scopes), 0);
}

static void check_policy(unsigned n_groups, unsigned n_scopes)
{
	use_random_policy(n_groups, n_scopes);
	check_all(fabric->n_partitions);
	/* Sometimes compare again with fewer partitions. */
	if (!dice(4))
		check_all(dice(fabric->n_partitions + 1));
}

/* Row: Q7 */
START_TEST(test_scopes_of_random_policies_as_naive)
{
	for (unsigned i = 0; i < N_FABRICS; i++) {
		make_fabric();
		for (unsigned j = 0; j < N_POLICIES; j++)
			check_policy(1 + dice(8), 8);
	}
}
END_TEST

/* The sets are larger than one word, and larger than two. */
START_TEST(test_scopes_of_large_random_policies_as_naive)
{
	for (unsigned i = 0; i < 40; i++) {
		make_fabric();
		check_policy(50 + dice(100), 200);
	}
}
END_TEST

/* Gives each group a scope for the port number that equals the group's index. */
static void use_groups(unsigned n)
{
	char *groups = setup_random_groups(fabric, n, partition_names, &state);
	GString *vlarbs = g_string_new("");

	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(
			vlarbs, VLARB("<group>g%u</group><to>%u</to>"), i, i);
	use(groups, "", vlarbs->str);
	free(groups);
	g_string_free(vlarbs, TRUE);
}

/* Names of switches' ports: scopes give them another meaning than membership does. */
static bool may_differ(uint32_t port, unsigned group)
{
	return fabric->nodes[fabric->ports[port].node].type == TRIAD_NODE_SWITCH &&
		policy->groups[group].n_port_names;
}

static void check_groups(const struct triad_membership *membership, uint32_t port)
{
	struct triad_scopes_end end = {.own = class_of(port)};
	uint32_t groups[64], n, next = 0;

	n = triad_membership_groups(membership, port, groups, 64);
	for (unsigned i = 0; i < policy->n_groups; i++) {
		bool must = next < n && groups[next] == i;

		end.number = (uint8_t)i;
		next += must;
		if (!may_differ(port, i))
			MUST((triad_scopes_vlarb(scopes, &end) == i) == must,
				"group %u, port %u", seed, i, port);
	}
}

START_TEST(test_groups_of_end_ports_as_membership)
{
	struct triad_membership membership;

	for (unsigned i = 0; i < 100; i++) {
		make_fabric();
		use_groups(64);
		ck_assert_int_eq(
			triad_membership_resolve(&membership, policy, fabric, NULL), 0);
		ck_assert_int_eq(triad_scopes_set_partitions(scopes, fabric->partitions,
					 fabric->n_partitions),
			0);
		for (uint32_t port = 0; port < fabric->n_ports; port++)
			if (triad_fabric_is_end_port(fabric, port))
				check_groups(&membership, port);
		triad_membership_clear(&membership);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("scopes_random");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_scopes_of_random_policies_as_naive);
	tcase_add_test(cases, test_scopes_of_large_random_policies_as_naive);
	tcase_add_test(cases, test_groups_of_end_ports_as_membership);
	return run_cases(cases);
}
