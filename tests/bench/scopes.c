/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finding the scopes of a policy that apply in a large fabric, as one pass of the SM
 * does.
 *
 *     scopes [--hosts N] [--json]
 *
 * N hosts below switches with 36 ports, in three stages.  For each of two policies:
 *
 * compile_ms    compiling the policy's scopes
 * host_ns       the class of a host's port
 * port_ns       the class of a switch's port
 * sort_ns       sorting the in-ports of a switch into kinds, per port
 * row_ns        the SL2VL scopes of one out-port
 * pass_ms       all of these and the VLArb scopes, of the whole fabric, once
 * kinds         of in-ports of a switch, on average
 * classes       of all ports
 *
 * few           six groups of all sorts, eight scopes
 * many          300 groups of GUIDs and names, as many scopes
 *
 * Nothing here is asserted: machines differ. */
#include "qos/setup/setup.h"
#include "tests/bench/bench.h"
#include "tests/sim/policies.h"

#define N_PORTS 37 /* of a switch, with port 0 */
#define HOSTS_OF_SWITCH 18
#define SWITCHES_OF_LEAVES 5 / 2 /* leaves, as many above them, half as many on top */
#define N_MANY 300
#define SWITCH_GUID(i) (UINT64_C(0x200000000) + 16 * (uint64_t)(i))
#define HOST_GUID(i) (UINT64_C(0x100000000) + 16 * (uint64_t)(i))

struct bench {
	unsigned n_hosts, n_switches, n_leaves;
	char (*names)[32]; /* of hosts, then of switches */
	struct triad_scopes_end *ends;
	uint32_t *hosts; /* their classes */
};

struct figures {
	double compile_ms, host_ns, port_ns, sort_ns, row_ns, pass_ms, kinds;
	unsigned n_classes;
};

static const uint16_t pkeys[32] = {0xffff, 0x8001, 0x8002};

/* --- policies --- */

static struct triad_policy *policy_of(unsigned n_groups, unsigned n_sl2vl)
{
	struct triad_policy *policy = policy_sized(n_groups, 1, 0, 0);

	policy->n_sl2vl = n_sl2vl;
	policy->sl2vl = need(calloc(n_sl2vl, sizeof(*policy->sl2vl)));
	policy->n_vlarb = 2;
	policy->vlarb = need(calloc(2, sizeof(*policy->vlarb)));
	for (unsigned i = 0; i < n_sl2vl; i++)
		policy->sl2vl[i].scope.from_any = policy->sl2vl[i].scope.to_any = true;
	for (unsigned i = 0; i < 2; i++)
		policy->vlarb[i].scope.to_any = true;
	policy_add_group(&policy->vlarb[0].scope.groups, 0);
	policy_add_group(&policy->vlarb[1].scope.across, 1);
	return policy;
}

static void free_policy(struct triad_policy *policy)
{
	for (uint32_t i = 0; i < policy->n_sl2vl; i++) {
		free(policy->sl2vl[i].scope.groups.items);
		free(policy->sl2vl[i].scope.across_to.items);
		free(policy->sl2vl[i].scope.across_from.items);
	}
	free(policy->vlarb[0].scope.groups.items);
	free(policy->vlarb[1].scope.across.items);
	policy_free(policy);
}

static struct triad_policy *few(const struct bench *bench)
{
	struct triad_policy *policy = policy_of(6, 6);

	policy->groups[0].node_types = 1u << TRIAD_NODE_SWITCH;
	for (unsigned i = 0; i < bench->n_hosts; i += 50)
		policy_add_range(
			&policy->groups[1].guids, HOST_GUID(i), HOST_GUID(i) + 1);
	for (unsigned i = 0; i < bench->n_hosts; i += 500)
		policy_add_port_name(&policy->groups[2], bench->names[i], 1, false);
	policy_add_range(&policy->groups[3].pkeys, 2, 2);
	policy->groups[4].node_types = 1u << TRIAD_NODE_ROUTER;
	policy->groups[5].self = true;
	policy_add_group(&policy->sl2vl[0].scope.groups, 0);
	policy_add_group(&policy->sl2vl[1].scope.across_to, 1);
	policy_add_group(&policy->sl2vl[2].scope.across_from, 1);
	for (unsigned i = 3; i < 6; i++)
		policy_add_group(&policy->sl2vl[i].scope.groups, i - 1);
	return policy;
}

static struct triad_policy *many(const struct bench *bench)
{
	struct triad_policy *policy = policy_of(N_MANY, N_MANY);

	for (unsigned i = 0; i < bench->n_hosts; i++) {
		struct triad_policy_group *group = &policy->groups[i * 7 % N_MANY];

		if (i % 4 == 0)
			policy_add_port_name(group, bench->names[i], 1, false);
		else
			policy_add_range(&group->guids, HOST_GUID(i), HOST_GUID(i) + 1);
	}
	for (unsigned i = 0; i < N_MANY; i++) {
		struct triad_policy_scope *scope = &policy->sl2vl[i].scope;

		policy_add_group(i % 2 ? &scope->across_to : &scope->across_from, i);
	}
	return policy;
}

/* --- the fabric --- */

static void make_fabric(struct bench *bench)
{
	unsigned n_nodes;

	bench->n_leaves = (bench->n_hosts + HOSTS_OF_SWITCH - 1) / HOSTS_OF_SWITCH;
	bench->n_switches = bench->n_leaves * SWITCHES_OF_LEAVES;
	n_nodes = bench->n_hosts + bench->n_switches;
	bench->names = need(calloc(n_nodes, sizeof(*bench->names)));
	for (unsigned i = 0; i < n_nodes; i++)
		snprintf(bench->names[i], sizeof(bench->names[i]),
			i < bench->n_hosts ? "node%05u HCA-1" : "switch%05u", i);
	bench->ends =
		need(calloc((size_t)bench->n_switches * N_PORTS, sizeof(*bench->ends)));
	bench->hosts = need(calloc(bench->n_hosts, sizeof(*bench->hosts)));
}

static void find_hosts(const struct bench *bench, struct triad_scopes *scopes)
{
	for (unsigned i = 0; i < bench->n_hosts; i++) {
		struct triad_scopes_port port = {.guid = HOST_GUID(i) + 1,
			.node_name = bench->names[i],
			.pkeys = pkeys,
			.n_pkeys = 32,
			.node_type = TRIAD_NODE_CA,
			.number = 1,
			.is_self = !i};

		bench->hosts[i] = triad_scopes_class(scopes, &port);
	}
}

static void find_ports(const struct bench *bench, struct triad_scopes *scopes)
{
	for (unsigned i = 0; i < bench->n_switches; i++)
		for (unsigned number = 0; number < N_PORTS; number++) {
			struct triad_scopes_port port = {.guid = SWITCH_GUID(i),
				.node_name = bench->names[bench->n_hosts + i],
				.pkeys = pkeys,
				.n_pkeys = 32,
				.node_type = TRIAD_NODE_SWITCH,
				.number = (uint8_t)number};

			bench->ends[i * N_PORTS + number] = (struct triad_scopes_end){
				.own = triad_scopes_class(scopes, &port),
				.number = (uint8_t)number};
		}
}

/* Hosts are at the first ports of leaves; the far ends of the others are switch
 * ports. */
static void link_ports(const struct bench *bench)
{
	for (unsigned i = 0; i < bench->n_switches * N_PORTS; i++) {
		unsigned number = i % N_PORTS, leaf = i / N_PORTS;
		unsigned host = leaf * HOSTS_OF_SWITCH + number - 1;

		if (!number)
			continue;
		bench->ends[i].remote = bench->ends[i].own;
		if (leaf < bench->n_leaves && number <= HOSTS_OF_SWITCH)
			bench->ends[i].remote = host < bench->n_hosts
				? bench->hosts[host]
				: TRIAD_SCOPES_NO_CLASS;
	}
}

/* --- measuring --- */

struct times {
	uint64_t hosts_us, ports_us, sort_us, rows_us, vlarb_us, n_kinds, sum;
};

static void find_scopes(
	const struct bench *bench, struct triad_scopes *scopes, struct times *times)
{
	struct triad_scopes_switch *kinds =
		need(calloc(bench->n_switches, sizeof(*kinds)));
	uint64_t begun_us = triad_clock_now_us();
	uint16_t row[N_PORTS];

	for (unsigned i = 0; i < bench->n_switches; i++)
		triad_scopes_sort_ports(
			scopes, bench->ends + i * N_PORTS, N_PORTS, &kinds[i]);
	times->sort_us = triad_clock_now_us() - begun_us;
	begun_us = triad_clock_now_us();
	for (unsigned i = 0; i < bench->n_switches * N_PORTS; i++) {
		triad_scopes_sl2vl_row(scopes, bench->ends + i / N_PORTS * N_PORTS,
			&kinds[i / N_PORTS], &bench->ends[i], row);
		times->sum += row[0];
	}
	times->rows_us = triad_clock_now_us() - begun_us;
	begun_us = triad_clock_now_us();
	for (unsigned i = 0; i < bench->n_switches * N_PORTS; i++)
		times->sum += triad_scopes_vlarb(scopes, &bench->ends[i]);
	times->vlarb_us = triad_clock_now_us() - begun_us;
	for (unsigned i = 0; i < bench->n_switches; i++)
		times->n_kinds += kinds[i].n_kinds;
	free(kinds);
}

static struct times pass(const struct bench *bench, struct triad_scopes *scopes)
{
	struct times times = {0};
	uint64_t begun_us = triad_clock_now_us();

	find_hosts(bench, scopes);
	times.hosts_us = triad_clock_now_us() - begun_us;
	begun_us = triad_clock_now_us();
	find_ports(bench, scopes);
	times.ports_us = triad_clock_now_us() - begun_us;
	link_ports(bench);
	find_scopes(bench, scopes, &times);
	return times;
}

static unsigned count_classes(const struct bench *bench)
{
	uint32_t last = 0;

	for (unsigned i = 0; i < bench->n_hosts; i++)
		if (bench->hosts[i] > last)
			last = bench->hosts[i];
	for (unsigned i = 0; i < bench->n_switches * N_PORTS; i++)
		if (bench->ends[i].own > last)
			last = bench->ends[i].own;
	return last + 1;
}

static struct figures measure(const struct bench *bench, struct triad_policy *policy)
{
	uint64_t begun_us = triad_clock_now_us(), compile_us;
	double n_ports = bench->n_switches * N_PORTS;
	struct times best = {.hosts_us = UINT64_MAX,
		.ports_us = UINT64_MAX,
		.sort_us = UINT64_MAX,
		.rows_us = UINT64_MAX,
		.vlarb_us = UINT64_MAX};
	struct triad_setup *setup;
	struct figures figures;

	if (triad_setup_compile(policy, &setup))
		die("the policy is not compiled");
	compile_us = triad_clock_now_us() - begun_us;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct triad_scopes *scopes = need(triad_scopes_new(setup));
		struct times times = pass(bench, scopes);

		best.hosts_us = least(best.hosts_us, times.hosts_us);
		best.ports_us = least(best.ports_us, times.ports_us);
		best.sort_us = least(best.sort_us, times.sort_us);
		best.rows_us = least(best.rows_us, times.rows_us);
		best.vlarb_us = least(best.vlarb_us, times.vlarb_us);
		best.n_kinds = times.n_kinds;
		triad_scopes_free(scopes);
	}
	triad_setup_unref(setup);
	figures = (struct figures){
		.compile_ms = (double)compile_us / 1e3,
		.host_ns = (double)best.hosts_us * 1e3 / bench->n_hosts,
		.port_ns = (double)best.ports_us * 1e3 / n_ports,
		.sort_ns = (double)best.sort_us * 1e3 / n_ports,
		.row_ns = (double)best.rows_us * 1e3 / n_ports,
		.pass_ms = (double)(best.hosts_us + best.ports_us + best.sort_us +
				   best.rows_us + best.vlarb_us) /
			1e3,
		.kinds = ratio(best.n_kinds, bench->n_switches),
		.n_classes = count_classes(bench),
	};
	return figures;
}

static void print_figures(const char *what, const struct figures *is, bool as_json)
{
	printf(as_json ? ",\"%s\":{\"compile_ms\":%.3f,\"host_ns\":%.1f,"
			 "\"port_ns\":%.1f,\"sort_ns\":%.1f,\"row_ns\":%.1f,"
			 "\"pass_ms\":%.3f,\"kinds\":%.1f,\"classes\":%u}"
		       : "%s: compiled in %.2f ms; class of a host %.1f ns, of a "
			 "switch's port %.1f ns; sorting %.1f ns a port; a row %.1f "
			 "ns; the pass %.2f ms; %.1f kinds a switch, %u classes\n",
		what, is->compile_ms, is->host_ns, is->port_ns, is->sort_ns, is->row_ns,
		is->pass_ms, is->kinds, is->n_classes);
}

static void run(const struct bench *bench, bool as_json)
{
	struct triad_policy *policies[] = {few(bench), many(bench)};
	const char *names[] = {"few", "many"};

	printf(as_json ? "{\"hosts\":%u,\"switches\":%u" : "%u hosts, %u switches\n",
		bench->n_hosts, bench->n_switches);
	for (unsigned i = 0; i < 2; i++) {
		struct figures figures = measure(bench, policies[i]);

		print_figures(names[i], &figures, as_json);
		free_policy(policies[i]);
	}
	if (as_json)
		printf("}\n");
}

int main(int argc, char **argv)
{
	struct bench bench = {.n_hosts = 11664};
	bool as_json = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			as_json = true;
		else if (strcmp(argv[i], "--hosts") == 0 && i + 1 < argc)
			bench.n_hosts = (unsigned)strtoul(argv[++i], NULL, 10);
		else
			die("usage: scopes [--hosts N] [--json]");
	}
	if (bench.n_hosts < 1000 || bench.n_hosts > 50000)
		die("--hosts must be from 1000 to 50000");
	make_fabric(&bench);
	run(&bench, as_json);
	free(bench.names);
	free(bench.ends);
	free(bench.hosts);
	return 0;
}
