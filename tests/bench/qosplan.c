/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The plan of QoS tables for a large fabric.
 *
 *     qosplan [--radix N] [--json]
 *
 * A fat tree of three levels of switches with N ports (36: 11,664 hosts and 1,620
 * switches), and a policy with a few groups and scopes.
 *
 * ports, tables   compared
 * scopes          of the policy
 * plan_ms         the best of five
 * changes, smps   of the plan; and its dead places, ends cut off, findings
 *
 * nothing         all tables are as they should be
 * little          100 of them are not
 * all             none is
 * dropped         no switch maps the SL that all use to a data VL
 *
 * Nothing here is asserted: machines differ. */
#include <inttypes.h>

#include "qos/setup/setup_plan.h"
#include "tests/bench/bench.h"
#include "tests/sim/fat_tree.h"

struct figures {
	double plan_ms;
	uint32_t ports;
	uint64_t tables, changes, smps, dead_places;
	uint32_t cut_off, findings;
};

#define GROUPS                                                                         \
	"qos-ulps\ndefault: 1\nend-qos-ulps\nport-groups\n"                            \
	"port-group\nname: hosts\nnode-type: CA\nend-port-group\n"                     \
	"port-group\nname: switches\nnode-type: SWITCH\nend-port-group\n"              \
	"port-group\nname: storage\n"                                                  \
	"port-guid: 0x1000000-0x10000ff,0x1001000-0x10010ff,0x1002000-0x10020ff\n"     \
	"end-port-group\n"                                                             \
	"port-group\nname: one\nport-name: host-7/P1\nend-port-group\n"                \
	"end-port-groups\n"
#define SL2VL(what, table)                                                             \
	"sl2vl-scope\n" what "\nsl2vl-table: " table "\nend-sl2vl-scope\n"

static const char policy_text[] = GROUPS "qos-setup\nsl2vl-tables\n" SL2VL(
	"group: switches", "0,1,2,3,4,5,6,7,7,7,7,7,7,7,7,7") SL2VL("group: hosts",
	"0,1,2,3,4,5,6,7,7,7,7,7,7,7,7,7") SL2VL("across-to: storage",
	"0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1") SL2VL("group: switches\nacross-from: storage",
	"0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2") SL2VL("group: switches\nfrom: 1\nto: 2",
	"0,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3") SL2VL("group: one",
	"0,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3") "end-sl2vl-tables\nvlarb-tables\n"
					   "vlarb-scope\ngroup: hosts\nvlarb-high: 0:64,1:128\nvlarb-low: 2:64,3:64\n"
					   "vl-high-limit: 10\nend-vlarb-scope\n"
					   "vlarb-scope\nacross: storage\nvlarb-high: 0:255,1:127\nvl-high-limit: 20\n"
					   "end-vlarb-scope\n"
					   "end-vlarb-tables\nend-qos-setup\n";

static const char dropping_text[] =
	GROUPS "qos-setup\nsl2vl-tables\n" SL2VL("group: switches",
		"0,15,2,3,4,5,6,7,7,7,7,7,7,7,7,7") "end-sl2vl-tables\nend-qos-setup\n";

static struct triad_setup *compile(const char *text)
{
	static struct triad_diags diags;
	struct triad_policy *policy = NULL;
	struct triad_setup *setup = NULL;

	if (triad_policy_parse(text, strlen(text), "policy", NULL, &policy, &diags))
		die("the policy is wrong");
	if (triad_setup_compile(policy, &setup))
		die("the policy is not compiled");
	triad_policy_unref(policy);
	return setup;
}

static struct triad_setup_plan *make(
	struct triad_setup *setup, const struct triad_fabric *fabric)
{
	struct triad_setup_plan *plan = NULL;

	if (triad_setup_plan_make(setup, fabric, &plan))
		die("no plan is made");
	return plan;
}

static struct figures measure(
	struct triad_setup *setup, const struct triad_fabric *fabric)
{
	struct figures figures = {0};
	uint64_t best_us = UINT64_MAX;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t begun_us = triad_clock_now_us();
		struct triad_setup_plan *plan = make(setup, fabric);

		best_us = least(best_us, triad_clock_now_us() - begun_us);
		figures.ports = plan->n_ports;
		figures.tables = plan->n_tables;
		figures.changes = 0;
		for (unsigned table = 0; table < TRIAD_SETUP_N_TABLES; table++)
			figures.changes += plan->n_changed[table];
		figures.smps = plan->n_smps;
		figures.dead_places = plan->n_dead_places;
		figures.cut_off = plan->n_cut_off;
		figures.findings = plan->n_findings_total;
		triad_setup_plan_free(plan);
	}
	figures.plan_ms = (double)best_us / 1000;
	return figures;
}

static void apply(struct triad_fabric *fabric, const struct triad_setup_change *change)
{
	struct triad_fabric_port *port = &fabric->ports[change->port];
	size_t at = port->vlarb.at;

	switch (change->table) {
	case TRIAD_SETUP_SL2VL:
		for (unsigned in = change->in_first; in <= change->in_last; in++)
			fabric->sl2vl[port->sl2vl.at + in] = change->to.sl2vl;
		break;
	case TRIAD_SETUP_VLARB_HIGH:
		at += port->vlarb_low_cap; /* fall through */
	case TRIAD_SETUP_VLARB_LOW:
		memcpy(&fabric->vlarb[at], change->to.vlarb,
			change->n * sizeof(change->to.vlarb[0]));
		break;
	default:
		port->high_limit = change->to.high_limit;
	}
}

/* A plan may list only a part of the changes, so plans follow until one is empty. */
static void program(struct triad_setup *setup, struct triad_fabric *fabric)
{
	uint32_t n;

	do {
		struct triad_setup_plan *plan = make(setup, fabric);

		n = plan->n_changes;
		for (uint32_t i = 0; i < n; i++)
			apply(fabric, &plan->changes[i]);
		triad_setup_plan_free(plan);
	} while (n);
}

/* Changes the tables of one port in 'one_in'. */
static void spoil(struct triad_fabric *fabric, uint32_t one_in)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		struct triad_fabric_port *port = &fabric->ports[i];

		if (i % one_in)
			continue;
		for (uint32_t in = 0; in < port->sl2vl.n; in++)
			fabric->sl2vl[port->sl2vl.at + in].vl[7] ^= 1;
		for (uint32_t n = 0; n < port->vlarb.n; n++)
			fabric->vlarb[port->vlarb.at + n].weight ^= 1;
		port->high_limit ^= 1;
	}
}

static void print_figures(const char *what, const struct figures *figures, bool as_json)
{
	printf(as_json ? ",\"%s\":{\"plan_ms\":%.1f,\"changes\":%" PRIu64
			 ",\"smps\":%" PRIu64 ",\"dead_places\":%" PRIu64
			 ",\"cut_off\":%" PRIu32 ",\"findings\":%" PRIu32 "}"
		       : "%s: %.1f ms, %" PRIu64 " changes, %" PRIu64 " SMPs, %" PRIu64
			 " dead places, %" PRIu32 " ends cut off, %" PRIu32
			 " findings\n",
		what, figures->plan_ms, figures->changes, figures->smps,
		figures->dead_places, figures->cut_off, figures->findings);
}

static void run(unsigned radix, bool as_json)
{
	struct triad_fabric *fabric = fat_tree(radix);
	struct triad_setup *setup = compile(policy_text);
	struct triad_setup *dropping = compile(dropping_text);
	const struct triad_policy *policy = triad_setup_policy(setup);
	struct figures figures;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].sl = 1;
	program(setup, fabric);
	figures = measure(setup, fabric);
	printf(as_json ? "{\"ports\":%" PRIu32 ",\"tables\":%" PRIu64
			 ",\"scopes\":%" PRIu32
		       : "%" PRIu32 " ports, %" PRIu64 " tables, %" PRIu32 " scopes\n",
		figures.ports, figures.tables, policy->n_sl2vl + policy->n_vlarb);
	print_figures("nothing", &figures, as_json);
	spoil(fabric, fabric->n_ports / 100 + 1);
	figures = measure(setup, fabric);
	print_figures("little", &figures, as_json);
	program(setup, fabric);
	figures = measure(dropping, fabric);
	print_figures("dropped", &figures, as_json);
	spoil(fabric, 1);
	figures = measure(setup, fabric);
	print_figures("all", &figures, as_json);
	if (as_json)
		printf("}\n");
	triad_setup_unref(setup);
	triad_setup_unref(dropping);
	triad_fabric_unref(fabric);
}

int main(int argc, char **argv)
{
	unsigned radix = 36;
	bool as_json = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			as_json = true;
		else if (strcmp(argv[i], "--radix") == 0 && i + 1 < argc)
			radix = (unsigned)strtoul(argv[++i], NULL, 10);
		else
			die("usage: qosplan [--radix N] [--json]");
	}
	if (radix < 2 || radix > 48 || radix % 2)
		die("--radix must be even, from 2 to 48");
	run(radix, as_json);
	return 0;
}
