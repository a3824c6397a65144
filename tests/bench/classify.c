/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests for paths, compared with a policy of many rules.
 *
 *     classify [--rules N] [--ports N] [--json]
 *
 * A policy of N rules of all sorts and 1,000 groups, a fabric of N end ports, and
 * requests between any two of them.  Some requests match early, some late, most none.
 *
 * match_ns      one request on average, best of five rounds
 * linear_ns     the same without compiling: one rule after the other, with the groups
 *               of each port known beforehand; 2,000 requests
 * compile_ms    best of three
 * octets        size of the compiled policy
 * none, rule    of 1,000 requests how many match no rule; the mean index of the rule
 *               that the others match
 *
 * The groups are racks, and some partitions and lists of names and of hosts.  Other
 * policies are measured, too:
 *
 * scattered     every group has 200 hosts from anywhere, so no two ports are alike
 * worst         all words have to be read: each field matches in four rules of five,
 *               all fields together in none
 *
 * Nothing here is asserted: machines differ. */
#include <inttypes.h>

#include "qos/rules/classifier.h"
#include "qos/rules/membership.h"
#include "tests/bench/bench.h"
#include "tests/random.h"
#include "tests/sim/fabrics.h"
#include "tests/sim/policies.h"

#define N_GROUPS 1000
#define N_PARTITIONS 200
#define SERVICE_IDS (UINT64_C(4) << 16)
#define N_REQUESTS (1u << 20)
#define N_LINEAR 2000
#define COMPILE_ROUNDS 3
#define PORTS_OF_GROUP 200 /* of a scattered group */
#define RACKS_OF_GROUP 4
#define NODES_OF_RACK 40

struct bench {
	uint64_t seed;
	unsigned n_rules;
	unsigned n_ends; /* approximately */
	struct triad_fabric *fabric;
	uint32_t *ends; /* end ports */
	uint32_t n;
	struct triad_class_request *requests;
};

struct figures {
	double match_ns, compile_ms, none, rule;
	size_t octets;
	uint64_t sum; /* so that the compiler removes no match */
};

static uint64_t random_of(struct bench *bench, uint64_t end)
{
	return random_next(&bench->seed) % end;
}

/* --- a policy of all sorts --- */

static void add_hosts(struct bench *bench, struct triad_policy_group *group)
{
	for (unsigned i = 0; i < PORTS_OF_GROUP; i++) {
		uint64_t guid = FABRIC_PARTITIONED_GUID(
			random_of(bench, bench->fabric->n_nodes));

		policy_add_range(&group->guids, guid, guid + 2);
	}
}

static void add_racks(struct bench *bench, struct triad_policy_group *group)
{
	for (unsigned i = 0; i < RACKS_OF_GROUP; i++) {
		uint64_t first =
			random_of(bench, bench->fabric->n_nodes / NODES_OF_RACK) *
			NODES_OF_RACK;

		policy_add_range(&group->guids, FABRIC_PARTITIONED_GUID(first),
			FABRIC_PARTITIONED_GUID(first + NODES_OF_RACK) - 1);
	}
}

static void add_names(struct bench *bench, struct triad_policy_group *group)
{
	for (unsigned i = 0; i < PORTS_OF_GROUP / 10; i++) {
		uint64_t node = random_of(bench, bench->fabric->n_nodes);

		policy_add_port_name(group, bench->fabric->nodes[node].name, 1, false);
	}
}

static void fill_group(
	struct bench *bench, struct triad_policy_group *group, bool is_scattered)
{
	uint64_t sort = random_of(bench, 20);
	char name[32];

	if (is_scattered || sort == 0) {
		add_hosts(bench, group);
	} else if (sort == 1) {
		add_names(bench, group);
	} else if (sort < 4) {
		snprintf(name, sizeof(name), "part-%u",
			(unsigned)random_of(bench, N_PARTITIONS));
		policy_add_partition(group, name);
	} else {
		add_racks(bench, group);
	}
}

/* Adds up to 'width' values, beginning with a random one below 'end'. */
static void add_range(
	struct bench *bench, struct triad_ranges *ranges, uint64_t end, uint64_t width)
{
	uint64_t first = random_of(bench, end);

	policy_add_range(ranges, first, first + random_of(bench, width));
}

static void fill_rule(struct bench *bench, struct triad_policy_rule *rule)
{
	/* Most rules have groups, some at both ends. */
	if (random_of(bench, 10) < 7)
		for (uint64_t n = 1 + random_of(bench, 3); n; n--)
			policy_add_group(
				&rule->sources, (uint32_t)random_of(bench, N_GROUPS));
	if (random_of(bench, 10) < 7)
		for (uint64_t n = 1 + random_of(bench, 3); n; n--)
			policy_add_group(&rule->destinations,
				(uint32_t)random_of(bench, N_GROUPS));
	if (random_of(bench, 10) < 5)
		add_range(bench, &rule->service_ids, SERVICE_IDS, 2000);
	if (random_of(bench, 10) < 2)
		add_range(bench, &rule->tclasses, 256, 100);
	if (random_of(bench, 10) < 2)
		add_range(bench, &rule->pkeys, N_PARTITIONS, N_PARTITIONS / 2);
	if (random_of(bench, 10) < 1)
		add_range(bench, &rule->qos_classes, 4096, 2000);
	if (random_of(bench, 20) < 1)
		add_range(bench, &rule->sls, 16, 8);
	/* A rule that matches nearly every request would hide all that follow. */
	if (rule->sources.n && rule->destinations.n)
		return;
	if (!rule->service_ids.n)
		add_range(bench, &rule->service_ids, SERVICE_IDS, 20);
	if (!rule->tclasses.n)
		add_range(bench, &rule->tclasses, 256, 16);
	if (!rule->sources.n && !rule->destinations.n)
		add_range(bench, &rule->pkeys, N_PARTITIONS, 2);
}

static struct triad_policy *mixed_policy(struct bench *bench, bool is_scattered)
{
	struct triad_policy *policy = policy_sized(N_GROUPS, 16, bench->n_rules, 0);

	for (unsigned i = 0; i < N_GROUPS; i++)
		fill_group(bench, &policy->groups[i], is_scattered);
	for (unsigned i = 0; i < bench->n_rules; i++)
		fill_rule(bench, &policy->rules[i]);
	return policy;
}

/* In each rule, one field does not match. */
static struct triad_policy *hard_policy(struct bench *bench)
{
	struct triad_policy *policy = policy_sized(2, 16, bench->n_rules, 0);

	policy->groups[0].node_types = 0xff;
	policy_add_range(&policy->groups[1].guids, 1, 1);
	for (unsigned i = 0; i < bench->n_rules; i++) {
		struct triad_policy_rule *rule = &policy->rules[i];
		unsigned lacks = (unsigned)random_of(bench, 5);

		policy_add_group(&rule->sources, lacks == 0);
		policy_add_group(&rule->destinations, lacks == 1);
		policy_add_range(&rule->service_ids, lacks == 2 ? UINT64_MAX : 0,
			lacks == 2 ? UINT64_MAX : UINT32_MAX);
		policy_add_range(
			&rule->tclasses, lacks == 3 ? 255 : 0, lacks == 3 ? 255 : 254);
		policy_add_range(&rule->pkeys, lacks == 4 ? 0x7ffe : 0,
			lacks == 4 ? 0x7ffe : 0x7ffd);
	}
	return policy;
}

/* --- requests --- */

static void make_requests(struct bench *bench)
{
	bench->requests = need(calloc(N_REQUESTS, sizeof(*bench->requests)));
	for (unsigned i = 0; i < N_REQUESTS; i++)
		bench->requests[i] = (struct triad_class_request){
			.source = bench->ends[random_of(bench, bench->n)],
			.destination = bench->ends[random_of(bench, bench->n)],
			.has_service_id = random_of(bench, 10) > 0,
			.has_tclass = random_of(bench, 2),
			.has_pkey = random_of(bench, 10) > 0,
			.has_qos_class = random_of(bench, 4) == 0,
			.has_sl = random_of(bench, 4) == 0,
			.service_id = random_of(bench, SERVICE_IDS),
			.tclass = (uint8_t)random_of(bench, 255),
			.qos_class = (uint16_t)random_of(bench, 4096),
			.pkey = (uint16_t)(0x8000 |
				(1 + random_of(bench, N_PARTITIONS))),
			.sl = (uint8_t)random_of(bench, 16),
		};
}

static void list_ends(struct bench *bench)
{
	bench->ends = need(calloc(bench->fabric->n_ports, sizeof(*bench->ends)));
	for (uint32_t i = 0; i < bench->fabric->n_ports; i++)
		if (triad_fabric_is_end_port(bench->fabric, i))
			bench->ends[bench->n++] = i;
}

/* --- measuring --- */

static struct triad_classifier *compile(
	struct bench *bench, struct triad_policy *policy, struct figures *figures)
{
	struct triad_classifier *classifier = NULL;
	uint64_t best_us = UINT64_MAX;

	for (unsigned i = 0; i < COMPILE_ROUNDS; i++) {
		uint64_t begun_us = triad_clock_now_us();

		triad_classifier_free(classifier);
		if (triad_classifier_compile(policy, bench->fabric, &classifier))
			die("the policy is not compiled");
		best_us = least(best_us, triad_clock_now_us() - begun_us);
	}
	figures->compile_ms = (double)best_us / 1000;
	figures->octets = triad_classifier_octets(classifier);
	return classifier;
}

static struct figures measure(struct bench *bench, struct triad_policy *policy)
{
	struct figures figures = {0};
	struct triad_classifier *classifier = compile(bench, policy, &figures);
	uint64_t best_us = UINT64_MAX, n_none = 0, rules = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t begun_us = triad_clock_now_us();

		for (unsigned j = 0; j < N_REQUESTS; j++)
			figures.sum +=
				triad_classifier_match(classifier, &bench->requests[j]);
		best_us = least(best_us, triad_clock_now_us() - begun_us);
	}
	for (unsigned i = 0; i < N_REQUESTS; i++) {
		uint32_t rule = triad_classifier_match(classifier, &bench->requests[i]);

		if (rule == TRIAD_POLICY_NONE)
			n_none++;
		else
			rules += rule;
	}
	figures.match_ns = (double)best_us * 1000 / N_REQUESTS;
	figures.none = (double)n_none * 1000 / N_REQUESTS;
	figures.rule = ratio(rules, N_REQUESTS - n_none);
	triad_classifier_free(classifier);
	return figures;
}

/* --- without compiling --- */

static bool is_in(const struct triad_group_list *list, const uint64_t *groups)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (groups[list->items[i] / 64] >> list->items[i] % 64 & 1)
			return true;
	return !list->n;
}

static bool holds(const struct triad_ranges *ranges, bool has, uint64_t value)
{
	for (uint32_t i = 0; has && i < ranges->n; i++)
		if (ranges->items[i].first <= value && value <= ranges->items[i].last)
			return true;
	return !ranges->n;
}

static uint32_t match_linear(const struct triad_policy *policy,
	const struct triad_class_request *request, const uint64_t *sources,
	const uint64_t *destinations)
{
	for (uint32_t i = 0; i < policy->n_rules; i++) {
		const struct triad_policy_rule *rule = &policy->rules[i];

		if (is_in(&rule->sources, sources) &&
			is_in(&rule->destinations, destinations) &&
			holds(&rule->service_ids, request->has_service_id,
				request->service_id) &&
			holds(&rule->tclasses, request->has_tclass, request->tclass) &&
			holds(&rule->qos_classes, request->has_qos_class,
				request->qos_class) &&
			holds(&rule->pkeys, request->has_pkey,
				request->pkey & 0x7fff) &&
			holds(&rule->sls, request->has_sl, request->sl))
			return i;
	}
	return TRIAD_POLICY_NONE;
}

static void note_groups(
	const struct triad_membership *membership, uint32_t port, uint64_t *bits)
{
	uint32_t groups[N_GROUPS];
	uint32_t n = triad_membership_groups(membership, port, groups, N_GROUPS);

	for (uint32_t i = 0; i < n; i++)
		bits[groups[i] / 64] |= UINT64_C(1) << groups[i] % 64;
}

#define GROUP_WORDS (N_GROUPS / 64 + 1)

/* Exits when the compiled policy gives another answer. */
static double measure_linear(struct bench *bench, struct triad_policy *policy)
{
	uint64_t(*groups)[2][GROUP_WORDS] = need(calloc(N_LINEAR, sizeof(*groups)));
	uint32_t *answers = need(calloc(N_LINEAR, sizeof(*answers)));
	struct triad_classifier *classifier;
	struct triad_membership membership;
	uint64_t begun_us, took_us;

	if (triad_classifier_compile(policy, bench->fabric, &classifier) ||
		triad_membership_resolve(&membership, policy, bench->fabric, NULL))
		die("out of memory");
	for (unsigned i = 0; i < N_LINEAR; i++) {
		note_groups(&membership, bench->requests[i].source, groups[i][0]);
		note_groups(&membership, bench->requests[i].destination, groups[i][1]);
	}
	begun_us = triad_clock_now_us();
	for (unsigned i = 0; i < N_LINEAR; i++)
		answers[i] = match_linear(
			policy, &bench->requests[i], groups[i][0], groups[i][1]);
	took_us = triad_clock_now_us() - begun_us;
	for (unsigned i = 0; i < N_LINEAR; i++)
		if (answers[i] !=
			triad_classifier_match(classifier, &bench->requests[i]))
			die("answers differ");
	triad_membership_clear(&membership);
	triad_classifier_free(classifier);
	free(groups);
	free(answers);
	return (double)took_us * 1000 / N_LINEAR;
}

static void print_figures(const struct figures *figures, const char *what, bool as_json)
{
	printf(as_json ? ",\"%s\":{\"match_ns\":%.1f,\"compile_ms\":%.1f,"
			 "\"octets\":%zu}"
		       : "%s: %.1f ns a request, compiled in %.1f ms, %zu octets\n",
		what, figures->match_ns, figures->compile_ms, figures->octets);
}

static void run(struct bench *bench, bool as_json)
{
	uint64_t seed = bench->seed;
	struct triad_policy *policy = mixed_policy(bench, false);
	struct figures mixed = measure(bench, policy), other;

	printf(as_json ? "{\"rules\":%u,\"ports\":%u,\"seed\":%" PRIu64
			 ",\"match_ns\":%.1f,\"linear_ns\":%.1f,\"compile_ms\":%.1f,"
			 "\"octets\":%zu,\"none\":%.1f,\"rule\":%.1f"
		       : "%u rules, %u end ports (seed %" PRIu64
			 "): %.1f ns a request, %.1f without compiling; compiled in "
			 "%.1f ms, %zu octets\n"
			 "of 1,000 requests %.1f match none, others rule %.1f on "
			 "average\n",
		bench->n_rules, bench->n, seed, mixed.match_ns,
		measure_linear(bench, policy), mixed.compile_ms, mixed.octets,
		mixed.none, mixed.rule);
	policy_free(policy);
	policy = mixed_policy(bench, true);
	other = measure(bench, policy);
	print_figures(&other, "scattered", as_json);
	policy_free(policy);
	policy = hard_policy(bench);
	other = measure(bench, policy);
	print_figures(&other, "worst", as_json);
	policy_free(policy);
	if (as_json)
		printf("}\n");
}

int main(int argc, char **argv)
{
	struct bench bench = {.n_rules = 10000, .n_ends = 48000, .seed = 20260101};
	bool as_json = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			as_json = true;
		else if (strcmp(argv[i], "--rules") == 0 && i + 1 < argc)
			bench.n_rules = (unsigned)strtoul(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--ports") == 0 && i + 1 < argc)
			bench.n_ends = (unsigned)strtoul(argv[++i], NULL, 10);
		else
			die("usage: classify [--rules N] [--ports N] [--json]");
	}
	if (!bench.n_rules || bench.n_rules > TRIAD_POLICY_MAX_RULES)
		die("--rules must be from 1 to 65536");
	if (bench.n_ends < NODES_OF_RACK || bench.n_ends > 100000)
		die("--ports must be from 40 to 100000");
	bench.fabric = fabric_partitioned(bench.n_ends, N_PARTITIONS, bench.seed);
	list_ends(&bench);
	make_requests(&bench);
	run(&bench, as_json);
	free(bench.ends);
	free(bench.requests);
	triad_fabric_unref(bench.fabric);
	return 0;
}
