/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares the compiled classifier with one that tries each rule in turn, and the
 * membership of ports with a check of every group. */
#include "qos/rules/classifier.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "qos/rules/membership.h"
#include "tests/sim/fabrics.h"
#include "tests/sim/policies.h"
#include "tests/unit/run.h"

#define N_PARTITIONS 30
#define ALL_FIELDS ((1u << TRIAD_N_CLASS_FIELDS) - 1)

static unsigned seed;
static struct triad_fabric *fabric;

static void set_up(void)
{
	seed = (unsigned)time(NULL);
	srand(seed);
	fabric = fabric_partitioned(400, N_PARTITIONS, seed + 1);
}

static void tear_down(void)
{
	triad_fabric_unref(fabric);
}

static unsigned dice(unsigned sides)
{
	return (unsigned)rand() % sides;
}

/* --- the simple implementation --- */

static bool naive_has(const struct triad_ranges *ranges, uint64_t value)
{
	for (uint32_t i = 0; i < ranges->n; i++)
		if (ranges->items[i].first <= value && value <= ranges->items[i].last)
			return true;
	return false;
}

static bool naive_has_pkey(uint32_t port, unsigned pkey)
{
	const struct triad_fabric_port *at = &fabric->ports[port];

	for (uint32_t i = 0; i < at->pkeys.n; i++)
		if ((fabric->pkeys[at->pkeys.at + i] & 0x7fffu) == pkey)
			return pkey != 0;
	return false;
}

static unsigned naive_partition(const char *name)
{
	for (uint32_t i = 0; i < fabric->n_partitions; i++)
		if (!strcmp(fabric->partitions[i].name, name))
			return fabric->partitions[i].pkey;
	for (uint32_t i = 0; i < fabric->n_partitions; i++)
		if (!strcasecmp(fabric->partitions[i].name, name))
			return fabric->partitions[i].pkey;
	return 0;
}

static bool naive_is_named(uint32_t port, const struct triad_port_name *name)
{
	uint32_t node = fabric->ports[port].node;
	char first[80] = "", second[80] = "", words[170];
	bool is_switch = fabric->nodes[node].type == TRIAD_NODE_SWITCH;

	sscanf(fabric->nodes[node].name, "%79s %79s", first, second);
	snprintf(words, sizeof(words), "%s%s%s", first, second[0] ? " " : "", second);
	if (strcmp(name->words ? words : fabric->nodes[node].name, name->node) != 0)
		return false;
	return is_switch ? triad_fabric_find_port(fabric, node, name->number) !=
			TRIAD_FABRIC_NONE
			 : fabric->ports[port].number == name->number;
}

static bool naive_is_member(const struct triad_policy_group *group, uint32_t port)
{
	const struct triad_fabric_port *at = &fabric->ports[port];

	if (naive_has(&group->guids, at->guid) ||
		group->node_types >> fabric->nodes[at->node].type & 1 ||
		(group->self && port == fabric->sm_port))
		return true;
	for (uint32_t i = 0; i < group->n_port_names; i++)
		if (naive_is_named(port, &group->port_names[i]))
			return true;
	for (uint32_t i = 0; i < group->n_partitions; i++)
		if (naive_has_pkey(port, naive_partition(group->partitions[i])))
			return true;
	for (uint32_t i = 0; i < at->pkeys.n; i++) {
		unsigned pkey = fabric->pkeys[at->pkeys.at + i] & 0x7fffu;

		if (pkey && naive_has(&group->pkeys, pkey))
			return true;
	}
	return false;
}

/* Whether each group has each port, by brute force: groups times ports. */
static bool *naive_members(const struct triad_policy *policy)
{
	bool *members = calloc((size_t)policy->n_groups * fabric->n_ports + 1, 1);

	for (uint32_t i = 0; i < policy->n_groups; i++)
		for (uint32_t port = 0; port < fabric->n_ports; port++)
			members[(size_t)i * fabric->n_ports + port] =
				triad_fabric_is_end_port(fabric, port) &&
				naive_is_member(&policy->groups[i], port);
	return members;
}

static bool naive_in_list(
	const struct triad_group_list *list, const bool *members, uint32_t port)
{
	for (uint32_t i = 0; port != TRIAD_FABRIC_NONE && i < list->n; i++)
		if (members[(size_t)list->items[i] * fabric->n_ports + port])
			return true;
	return false;
}

static void naive_note(struct triad_class_mismatch *mismatch,
	enum triad_class_field field, bool is_asked, bool is_known, bool holds)
{
	if (!is_asked || (is_known && holds))
		return;
	mismatch->failed |= (uint8_t)(1u << field);
	if (!is_known)
		mismatch->missing |= (uint8_t)(1u << field);
}

static struct triad_class_mismatch naive_explain(const struct triad_policy_rule *rule,
	const struct triad_class_request *request, const bool *members)
{
	struct triad_class_mismatch it = {0};

	naive_note(&it, TRIAD_CLASS_SOURCE, rule->sources.n,
		request->source != TRIAD_FABRIC_NONE,
		naive_in_list(&rule->sources, members, request->source));
	naive_note(&it, TRIAD_CLASS_DESTINATION, rule->destinations.n,
		request->destination != TRIAD_FABRIC_NONE,
		naive_in_list(&rule->destinations, members, request->destination));
	naive_note(&it, TRIAD_CLASS_SERVICE_ID, rule->service_ids.n,
		request->has_service_id,
		naive_has(&rule->service_ids, request->service_id));
	naive_note(&it, TRIAD_CLASS_TCLASS, rule->tclasses.n, request->has_tclass,
		naive_has(&rule->tclasses, request->tclass));
	naive_note(&it, TRIAD_CLASS_QOS_CLASS, rule->qos_classes.n,
		request->has_qos_class,
		naive_has(&rule->qos_classes, request->qos_class));
	naive_note(&it, TRIAD_CLASS_PKEY, rule->pkeys.n, request->has_pkey,
		naive_has(&rule->pkeys, request->pkey & 0x7fff));
	naive_note(&it, TRIAD_CLASS_SL, rule->sls.n, request->has_sl,
		naive_has(&rule->sls, request->sl));
	return it;
}

static uint32_t naive_match(const struct triad_policy *policy,
	const struct triad_class_request *request, const bool *members)
{
	for (uint32_t i = 0; i < policy->n_rules; i++)
		if (!naive_explain(&policy->rules[i], request, members).failed)
			return i;
	return TRIAD_POLICY_NONE;
}

static uint32_t naive_level(
	const struct triad_policy *policy, uint32_t rule, uint16_t path_pkey)
{
	if (rule != TRIAD_POLICY_NONE)
		return policy->rules[rule].level;
	path_pkey &= 0x7fff;
	for (uint32_t i = 0; path_pkey && i < policy->n_partition_levels; i++) {
		const struct triad_policy_partition_level *level =
			&policy->partition_levels[i];

		if (level->partition ? naive_partition(level->partition) == path_pkey
				     : naive_has(&level->pkeys, path_pkey))
			return level->level;
	}
	return policy->default_level;
}

/* --- random policies and requests --- */

static void random_name(char *name, size_t size)
{
	const char *of = fabric->nodes[dice(fabric->n_nodes)].name;
	char first[80] = "", second[80] = "";

	sscanf(of, "%79s %79s", first, second);
	switch (dice(4)) {
	case 0:
		snprintf(name, size, "%s", first);
		break;
	case 1:
	case 2:
		snprintf(name, size, "%s%s%s", first, second[0] ? " " : "", second);
		break;
	default:
		snprintf(name, size, "%s", of);
	}
}

static void add_guids(struct triad_ranges *guids)
{
	for (unsigned n = dice(8); n; n--) {
		uint64_t first = FABRIC_PARTITIONED_GUID(dice(fabric->n_nodes + 4));
		uint64_t more = dice(3) ? dice(4) : dice(16 * 300);

		policy_add_range(guids, first + dice(3), first + 3 + more);
	}
	if (!dice(30))
		policy_add_range(guids, 0, FABRIC_PARTITIONED_GUID(30));
	if (!dice(30))
		policy_add_range(guids, FABRIC_PARTITIONED_GUID(380), UINT64_MAX);
}

static void fill_group(struct triad_policy_group *group)
{
	char name[200];

	if (dice(3))
		add_guids(&group->guids);
	for (unsigned n = dice(3) ? 0 : dice(10); n; n--) {
		random_name(name, sizeof(name));
		policy_add_port_name(group, name, dice(4), dice(2));
	}
	for (unsigned n = dice(4) ? 0 : dice(3); n; n--) {
		snprintf(name, sizeof(name), dice(2) ? "part-%u" : "PART-%u",
			dice(N_PARTITIONS + 2));
		policy_add_partition(group, name);
	}
	if (!dice(6)) {
		unsigned first = dice(N_PARTITIONS + 2);

		policy_add_range(&group->pkeys, first, first + dice(3));
	}
	if (!dice(30))
		policy_add_range(&group->pkeys, 0x7fff, 0x7fff);
	if (!dice(10))
		group->node_types = (uint8_t)(1u << (1 + dice(3)));
	group->self = !dice(10);
}

/* A random id near the ends of ranges; these are near each other. */
static uint64_t random_service_id(void)
{
	switch (dice(8)) {
	case 0:
		return dice(4);
	case 1:
		return UINT64_MAX - dice(4);
	case 2:
		return (uint64_t)rand() << 33 ^ (uint64_t)rand() << 16;
	default:
		return UINT64_C(0x1000000) + dice(500);
	}
}

static void add_ranges(struct triad_ranges *ranges, unsigned values)
{
	for (unsigned n = 1 + dice(3); n; n--) {
		unsigned first = dice(values), last = first + dice(values / 4 + 1);

		policy_add_range(ranges, first, last < values ? last : values - 1);
	}
}

/* Adds a condition on each field in 'fields', with a probability of 1 / 'sparse'. */
static void fill_rule(struct triad_policy_rule *rule, unsigned n_groups,
	unsigned fields, unsigned sparse)
{
	for (unsigned field = 0; field < TRIAD_N_CLASS_FIELDS; field++)
		if (dice(sparse))
			fields &= ~(1u << field);
	for (unsigned n = 1 + dice(4); n_groups && n; n--) {
		if (fields & 1u << TRIAD_CLASS_SOURCE)
			policy_add_group(&rule->sources, dice(n_groups));
		if (fields & 1u << TRIAD_CLASS_DESTINATION)
			policy_add_group(&rule->destinations, dice(n_groups));
	}
	for (unsigned n = fields & 1u << TRIAD_CLASS_SERVICE_ID ? 1 + dice(3) : 0; n;
		n--) {
		uint64_t a = random_service_id(), b = random_service_id();

		policy_add_range(&rule->service_ids, a < b ? a : b, a < b ? b : a);
	}
	if (fields & 1u << TRIAD_CLASS_TCLASS)
		add_ranges(&rule->tclasses, 256);
	if (fields & 1u << TRIAD_CLASS_QOS_CLASS)
		add_ranges(&rule->qos_classes, 4096);
	if (fields & 1u << TRIAD_CLASS_PKEY)
		add_ranges(&rule->pkeys, dice(4) ? N_PARTITIONS : TRIAD_N_PKEYS);
	if (fields & 1u << TRIAD_CLASS_SL)
		add_ranges(&rule->sls, 16);
}

static struct triad_policy *random_policy(unsigned n_groups, unsigned n_rules,
	unsigned n_partition_levels, unsigned fields, unsigned sparse)
{
	struct triad_policy *policy =
		policy_sized(n_groups, 7, n_rules, n_partition_levels);

	policy->default_level = dice(7);
	for (unsigned i = 0; i < n_groups; i++)
		fill_group(&policy->groups[i]);
	for (unsigned i = 0; i < n_rules; i++)
		fill_rule(&policy->rules[i], n_groups, fields, sparse);
	for (unsigned i = 0; i < n_partition_levels; i++) {
		struct triad_policy_partition_level *level =
			&policy->partition_levels[i];
		char name[32];

		level->level = dice(7);
		if (dice(2)) {
			add_ranges(
				&level->pkeys, dice(3) ? N_PARTITIONS : TRIAD_N_PKEYS);
			continue;
		}
		snprintf(name, sizeof(name), "Part-%u", dice(N_PARTITIONS * 2));
		level->partition = strdup(name);
	}
	return policy;
}

static uint32_t random_end(void)
{
	uint32_t port;

	if (!dice(10))
		return TRIAD_FABRIC_NONE;
	do
		port = dice(fabric->n_ports);
	while (!triad_fabric_is_end_port(fabric, port));
	return port;
}

static struct triad_class_request random_request(void)
{
	return (struct triad_class_request){
		.source = random_end(),
		.destination = random_end(),
		.has_service_id = dice(8),
		.has_tclass = dice(8),
		.has_qos_class = dice(8),
		.has_pkey = dice(8),
		.has_sl = dice(8),
		.service_id = random_service_id(),
		.tclass = (uint8_t)dice(256),
		.qos_class = (uint16_t)(dice(8) ? dice(4096) : dice(65536)),
		.pkey = (uint16_t)(dice(2) << 15 |
			dice(dice(4) ? N_PARTITIONS : TRIAD_N_PKEYS)),
		.sl = (uint8_t)(dice(8) ? dice(16) : dice(256)),
	};
}

/* --- comparisons --- */

static void check_request(const struct triad_classifier *classifier,
	const struct triad_policy *policy, const bool *members)
{
	struct triad_class_request request = random_request();
	uint32_t expected = naive_match(policy, &request, members), rule;
	uint16_t pkey = (uint16_t)(dice(2) << 15 |
		dice(dice(2) ? N_PARTITIONS : TRIAD_N_PKEYS));
	uint32_t level = triad_classifier_level(classifier, &request, pkey, &rule);

	ck_assert_msg(triad_classifier_match(classifier, &request) == expected &&
			rule == expected,
		"seed %u: rule %u instead of %u", seed, rule, expected);
	ck_assert_msg(level == naive_level(policy, expected, pkey),
		"seed %u: another level for P_Key %#x", seed, pkey);
	for (unsigned i = 0; i < 4 && policy->n_rules; i++) {
		struct triad_class_mismatch is, must;

		/* Also explain the rule that matches. */
		rule = i || expected == TRIAD_POLICY_NONE ? dice(policy->n_rules)
							  : expected;
		is = triad_classifier_explain(classifier, &request, rule);
		must = naive_explain(&policy->rules[rule], &request, members);
		ck_assert_msg(is.failed == must.failed && is.missing == must.missing,
			"seed %u: rule %u fails for %#x, %#x missing, not %#x, %#x",
			seed, rule, is.failed, is.missing, must.failed, must.missing);
	}
}

static void check_policy(struct triad_policy *policy, unsigned n_requests)
{
	struct triad_classifier *classifier;
	bool *members = naive_members(policy);

	ck_assert_int_eq(triad_classifier_compile(policy, fabric, &classifier), 0);
	ck_assert_uint_eq(policy->n_references, 2);
	for (unsigned i = 0; i < n_requests; i++)
		check_request(classifier, policy, members);
	triad_classifier_free(classifier);
	ck_assert_uint_eq(policy->n_references, 1);
	free(members);
	policy_free(policy);
}

/* Row: Q4 */
START_TEST(test_match_random_policies_as_naive)
{
	for (unsigned i = 0; i < 150; i++)
		check_policy(random_policy(dice(40), dice(400), dice(6), ALL_FIELDS,
				     1 + dice(6)),
			300);
}
END_TEST

/* Row: Q4 */
START_TEST(test_match_each_combination_of_fields_as_naive)
{
	for (unsigned fields = 0; fields <= ALL_FIELDS; fields++)
		check_policy(
			random_policy(1 + dice(10), 1 + dice(200), 0, fields, 2), 100);
}
END_TEST

START_TEST(test_match_many_rules_as_naive)
{
	static const unsigned counts[] = {1, 2, 63, 64, 65, 2048, 2049, 4097, 10000};

	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		check_policy(random_policy(200, counts[i], 3, ALL_FIELDS, 2), 300);
}
END_TEST

/* In every word of the sets, each field's condition holds for some rule, but no rule
 * has all of its conditions met. */
START_TEST(test_match_nothing_in_common_as_naive)
{
	struct triad_policy *policy = policy_sized(2, 1, 5000, 0);

	policy->groups[0].node_types = 0xff;
	policy_add_range(&policy->groups[1].guids, 1, 1);
	for (uint32_t i = 0; i < policy->n_rules; i++) {
		struct triad_policy_rule *rule = &policy->rules[i];
		unsigned lacks = i == 4321 ? 5 : dice(5);

		policy_add_group(&rule->sources, lacks == 0);
		policy_add_group(&rule->destinations, lacks == 1);
		policy_add_range(
			&rule->tclasses, lacks == 2 ? 255 : 0, lacks == 2 ? 255 : 254);
		policy_add_range(&rule->sls, lacks == 3 ? 15 : 0, lacks == 3 ? 15 : 14);
		policy_add_range(
			&rule->service_ids, lacks == 4, lacks == 4 ? 0x1000000 : 0);
	}
	check_policy(policy, 300);
}
END_TEST

/* Row: Q5 */
START_TEST(test_match_empty_policy_gives_default_level)
{
	struct triad_class_request request = {.source = 0, .destination = 0};
	struct triad_policy *policy = policy_sized(0, 3, 0, 0);
	struct triad_classifier *classifier;
	uint32_t rule = 5;

	policy->default_level = 2;
	ck_assert_int_eq(triad_classifier_compile(policy, fabric, &classifier), 0);
	triad_policy_unref(policy);
	ck_assert_ptr_eq(triad_classifier_policy(classifier), policy);
	ck_assert_uint_eq(
		triad_classifier_match(classifier, &request), TRIAD_POLICY_NONE);
	ck_assert_uint_eq(
		triad_classifier_level(classifier, &request, 0xffff, &rule), 2);
	ck_assert_uint_eq(rule, TRIAD_POLICY_NONE);
	ck_assert_uint_eq(triad_classifier_level(classifier, &request, 0, NULL), 2);
	ck_assert_uint_gt(triad_classifier_octets(classifier), 0);
	triad_classifier_free(classifier);
	triad_classifier_free(NULL);
}
END_TEST

static uint32_t match_service_id(struct triad_classifier *classifier, uint64_t value)
{
	struct triad_class_request request = {.source = TRIAD_FABRIC_NONE,
		.destination = TRIAD_FABRIC_NONE,
		.has_service_id = true,
		.service_id = value};

	return triad_classifier_match(classifier, &request);
}

/* Row: Q4 */
START_TEST(test_service_id_ends_of_ranges_included)
{
	struct triad_policy *policy = policy_sized(0, 1, 4, 0);
	struct triad_classifier *classifier;
	static const struct {
		uint64_t value;
		uint32_t rule;
	} cases[] = {
		{0, 0},
		{1, TRIAD_POLICY_NONE},
		{9, TRIAD_POLICY_NONE},
		{10, 1},
		{19, 1},
		{20, 2},
		{29, 2},
		{30, TRIAD_POLICY_NONE},
		{UINT64_MAX - 1, TRIAD_POLICY_NONE},
		{UINT64_MAX, 3},
	};

	policy_add_range(&policy->rules[0].service_ids, 0, 0);
	policy_add_range(&policy->rules[1].service_ids, 10, 19);
	policy_add_range(&policy->rules[2].service_ids, 20, 29);
	policy_add_range(&policy->rules[3].service_ids, UINT64_MAX, UINT64_MAX);
	ck_assert_int_eq(triad_classifier_compile(policy, fabric, &classifier), 0);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(
			match_service_id(classifier, cases[i].value) == cases[i].rule,
			"case %u", i);
	triad_classifier_free(classifier);
	policy_free(policy);
}
END_TEST

START_TEST(test_pkey_membership_bit_ignored)
{
	struct triad_policy *policy = policy_sized(0, 3, 1, 1);
	struct triad_classifier *classifier;
	struct triad_class_request request = {.source = 0, .has_pkey = true};

	policy->rules[0].level = 1;
	policy_add_range(&policy->rules[0].pkeys, 0x1234, 0x1234);
	policy_add_range(&policy->partition_levels[0].pkeys, 0x4321, 0x7fff);
	policy->partition_levels[0].level = 2;
	ck_assert_int_eq(triad_classifier_compile(policy, fabric, &classifier), 0);
	request.pkey = 0x1234;
	ck_assert_uint_eq(triad_classifier_match(classifier, &request), 0);
	request.pkey = 0x9234;
	ck_assert_uint_eq(triad_classifier_match(classifier, &request), 0);
	request.pkey = 0x9235;
	ck_assert_uint_eq(
		triad_classifier_match(classifier, &request), TRIAD_POLICY_NONE);
	ck_assert_uint_eq(
		triad_classifier_level(classifier, &request, 0x4321, NULL), 2);
	ck_assert_uint_eq(
		triad_classifier_level(classifier, &request, 0xffff, NULL), 2);
	ck_assert_uint_eq(
		triad_classifier_level(classifier, &request, 0x4320, NULL), 0);
	triad_classifier_free(classifier);
	policy_free(policy);
}
END_TEST

START_TEST(test_port_beyond_the_fabric_in_no_group)
{
	struct triad_policy *policy = policy_sized(1, 1, 1, 0);
	struct triad_classifier *classifier;
	struct triad_class_request request = {.source = fabric->n_ports};
	struct triad_class_mismatch mismatch;

	policy->groups[0].node_types = 0xff;
	policy_add_group(&policy->rules[0].sources, 0);
	ck_assert_int_eq(triad_classifier_compile(policy, fabric, &classifier), 0);
	ck_assert_uint_eq(
		triad_classifier_match(classifier, &request), TRIAD_POLICY_NONE);
	mismatch = triad_classifier_explain(classifier, &request, 0);
	ck_assert_uint_eq(mismatch.failed, 1u << TRIAD_CLASS_SOURCE);
	ck_assert_uint_eq(mismatch.missing, 0);
	ck_assert_str_eq(triad_class_field_name(TRIAD_CLASS_SERVICE_ID), "service-id");
	triad_classifier_free(classifier);
	policy_free(policy);
}
END_TEST

/* The maximal numbers of groups and rules, with every port in each group. */
START_TEST(test_compile_greatest_policy_is_bounded)
{
	struct triad_policy *policy =
		policy_sized(TRIAD_POLICY_MAX_GROUPS, 1, TRIAD_POLICY_MAX_RULES, 0);
	struct triad_classifier *classifier = NULL;
	struct triad_class_request request = {.source = fabric->sm_port};

	for (uint32_t i = 0; i < TRIAD_POLICY_MAX_GROUPS; i++) {
		policy->groups[i].node_types = 0xff;
		policy_add_range(&policy->groups[i].pkeys, 1, 0x7fff);
		policy_add_group(&policy->rules[i].sources, i);
		policy_add_range(
			&policy->rules[i].service_ids, i * 10, i * 10 + 100000);
	}
	ck_assert_int_eq(triad_classifier_compile(policy, fabric, &classifier), 0);
	request.has_service_id = true;
	request.service_id = 655350;
	ck_assert_uint_eq(
		triad_classifier_match(classifier, &request), (655350 - 100000) / 10);
	triad_classifier_free(classifier);
	policy_free(policy);
}
END_TEST

START_TEST(test_compile_too_large_refused)
{
	struct triad_policy *policy = policy_sized(0, 1, TRIAD_POLICY_MAX_RULES, 0);
	struct triad_classifier *classifier = NULL;

	/* This makes 131,072 sets, most of which contain half of the rules. */
	for (uint32_t i = 0; i < policy->n_rules; i++)
		policy_add_range(
			&policy->rules[i].service_ids, i, i + TRIAD_POLICY_MAX_RULES);
	ck_assert_int_eq(
		triad_classifier_compile(policy, fabric, &classifier), EOVERFLOW);
	ck_assert_ptr_null(classifier);
	ck_assert_uint_eq(policy->n_references, 1);
	policy_free(policy);
}
END_TEST

/* --- groups --- */

/* Row: Q1 */
START_TEST(test_groups_of_ports_as_naive)
{
	for (unsigned round = 0; round < 20; round++) {
		struct triad_policy *policy = random_policy(dice(80), 0, 0, 0, 1);
		bool *members = naive_members(policy);
		struct triad_membership membership;
		uint32_t groups[80], n, at;

		ck_assert_int_eq(
			triad_membership_resolve(&membership, policy, fabric, NULL), 0);
		for (uint32_t port = 0; port < fabric->n_ports; port++) {
			if (!triad_fabric_is_end_port(fabric, port))
				continue;
			n = triad_membership_groups(&membership, port, groups, 80);
			at = 0;
			for (uint32_t i = 0; i < policy->n_groups; i++)
				if (members[(size_t)i * fabric->n_ports + port])
					ck_assert_msg(at < n && groups[at++] == i,
						"seed %u: port %u, group %u", seed,
						port, i);
			ck_assert_uint_eq(at, n);
			ck_assert_uint_eq(
				triad_membership_groups(&membership, port, groups, 1),
				n);
		}
		triad_membership_clear(&membership);
		free(members);
		policy_free(policy);
	}
}
END_TEST

START_TEST(test_groups_port_name_words_compared)
{
	struct triad_policy *policy = policy_sized(7, 1, 0, 0);
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric_node node = {.guid = 1, .type = TRIAD_NODE_CA};
	struct triad_fabric_port port = {.guid = 2, .number = 1};
	struct triad_membership membership;
	struct triad_fabric *named;
	char long_name[TRIAD_POLICY_MAX_NAME + 1] = "vs1 HCA-1";
	uint32_t groups[7];

	memset(long_name + strlen(long_name), 'x',
		sizeof(long_name) - 1 - strlen(long_name));
	triad_fabric_builder_add_node(builder, &node, " vs1   HCA-1 mlx5_0", NULL, 0);
	triad_fabric_builder_add_port(builder, &port, 0, 0);
	ck_assert_int_eq(triad_fabric_build(builder, 0, &named), 0);
	triad_fabric_builder_free(builder);
	policy_add_port_name(&policy->groups[0], "vs1 HCA-1", 1, true);
	policy_add_port_name(&policy->groups[1], " vs1   HCA-1 mlx5_0", 1, false);
	policy_add_port_name(&policy->groups[2], "vs1 HCA-1", 1, false);
	policy_add_port_name(&policy->groups[3], "vs1", 1, true);
	policy_add_port_name(&policy->groups[4], "vs1 HCA-1 mlx5_0", 1, true);
	policy_add_port_name(&policy->groups[5], "vs1 HCA-1", 2, true);
	policy_add_port_name(&policy->groups[6], long_name, 1, true);
	ck_assert_int_eq(triad_membership_resolve(&membership, policy, named, NULL), 0);
	ck_assert_uint_eq(triad_membership_groups(&membership, 0, groups, 7), 2);
	ck_assert_uint_eq(groups[0], 0);
	ck_assert_uint_eq(groups[1], 1);
	triad_membership_clear(&membership);
	triad_fabric_unref(named);
	policy_free(policy);
}
END_TEST

static void check_miss(const struct triad_group_report *report, uint32_t i,
	enum triad_group_miss_kind kind, uint32_t group, uint32_t item)
{
	ck_assert_uint_eq(report->misses[i].kind, kind);
	ck_assert_uint_eq(report->misses[i].group, group);
	ck_assert_uint_eq(report->misses[i].item, item);
	if (kind != TRIAD_MISS_PARTITION_LEVEL)
		ck_assert_uint_eq(report->misses[i].location.line, group + 1);
}

START_TEST(test_report_absent_names_are_reported)
{
	struct triad_policy *policy = policy_sized(3, 1, 0, 2);
	struct triad_membership membership;
	struct triad_group_report report;

	policy_add_range(&policy->groups[0].guids, FABRIC_PARTITIONED_GUID(1) + 1,
		FABRIC_PARTITIONED_GUID(1) + 1);
	policy_add_range(&policy->groups[0].guids, 5, 9);
	policy_add_port_name(&policy->groups[1], fabric->nodes[5].name, 1, false);
	policy_add_port_name(&policy->groups[1], fabric->nodes[5].name, 7, false);
	policy_add_port_name(&policy->groups[1], "nobody", 1, true);
	policy_add_partition(&policy->groups[2], "nowhere");
	policy_add_range(&policy->groups[2].pkeys, 0x7000, 0x7ffe);
	policy->partition_levels[0].partition = strdup("PART-3");
	policy->partition_levels[1].partition = strdup("nowhere");
	ck_assert_int_eq(
		triad_membership_resolve(&membership, policy, fabric, &report), 0);
	ck_assert_uint_eq(report.n_misses, 6);
	check_miss(&report, 0, TRIAD_MISS_GUID, 0, 0);
	check_miss(&report, 1, TRIAD_MISS_PORT_NAME, 1, 1);
	check_miss(&report, 2, TRIAD_MISS_PORT_NAME, 1, 2);
	check_miss(&report, 3, TRIAD_MISS_PARTITION, 2, 0);
	check_miss(&report, 4, TRIAD_MISS_PKEY, 2, 0);
	check_miss(&report, 5, TRIAD_MISS_PARTITION_LEVEL, 1, 0);
	triad_membership_clear(&membership);
	policy_free(policy);
}
END_TEST

START_TEST(test_report_partition_without_ports_is_reported)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_policy *policy = policy_sized(1, 1, 0, 1);
	struct triad_membership membership;
	struct triad_group_report report;
	struct triad_fabric *empty;

	triad_fabric_builder_add_partition(builder, 9, 0, "Storage");
	ck_assert_int_eq(triad_fabric_build(builder, 0, &empty), 0);
	triad_fabric_builder_free(builder);
	policy_add_partition(&policy->groups[0], "Storage");
	policy->partition_levels[0].partition = strdup("Storage");
	ck_assert_int_eq(
		triad_membership_resolve(&membership, policy, empty, &report), 0);
	ck_assert_uint_eq(report.n_misses, 1);
	check_miss(&report, 0, TRIAD_MISS_PARTITION, 0, 0);
	triad_membership_clear(&membership);
	triad_fabric_unref(empty);
	policy_free(policy);
}
END_TEST

START_TEST(test_report_more_than_fit_are_counted)
{
	struct triad_policy *policy = policy_sized(100, 1, 0, 0);
	struct triad_membership membership;
	struct triad_group_report report;

	for (unsigned i = 0; i < 100; i++)
		policy_add_range(&policy->groups[i].guids, i, i);
	ck_assert_int_eq(
		triad_membership_resolve(&membership, policy, fabric, &report), 0);
	ck_assert_uint_eq(report.n_misses, 100);
	check_miss(&report, 31, TRIAD_MISS_GUID, 31, 0);
	ck_assert_uint_eq(report.n_nodes, fabric->n_nodes);
	ck_assert_uint_eq(report.nodes[7], 7);
	triad_membership_clear(&membership);
	policy_free(policy);
}
END_TEST

START_TEST(test_report_nodes_in_no_group_as_naive)
{
	for (unsigned round = 0; round < 30; round++) {
		struct triad_policy *policy = random_policy(dice(3), 0, 0, 0, 1);
		bool *members = naive_members(policy);
		struct triad_membership membership;
		struct triad_group_report report;
		uint32_t n = 0;

		ck_assert_int_eq(
			triad_membership_resolve(&membership, policy, fabric, &report),
			0);
		for (uint32_t node = 0; node < fabric->n_nodes; node++) {
			const struct triad_fabric_node *at = &fabric->nodes[node];
			bool any = false;

			for (uint32_t i = 0; i < policy->n_groups; i++)
				for (uint32_t p = 0; p < at->n_ports; p++)
					any |= members[(size_t)i * fabric->n_ports +
						at->first_port + p];
			if (any)
				continue;
			if (n < TRIAD_GROUP_REPORT_MAX_NODES)
				ck_assert_uint_eq(report.nodes[n], node);
			n++;
		}
		ck_assert_msg(report.n_nodes == n, "seed %u: %u nodes, not %u", seed,
			report.n_nodes, n);
		triad_membership_clear(&membership);
		free(members);
		policy_free(policy);
	}
}
END_TEST

/* An exact name is preferred to one that differs in case; that is better than none. */
START_TEST(test_partition_names_case_only_when_there_is_no_other)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_partition_names names;
	struct triad_fabric *named;

	triad_fabric_builder_add_partition(builder, 9, 0, "Storage");
	triad_fabric_builder_add_partition(builder, 5, 0, "storage");
	triad_fabric_builder_add_partition(builder, 7, 0, "STORAGE");
	triad_fabric_builder_add_partition(builder, 3, 0, "");
	ck_assert_int_eq(triad_fabric_build(builder, 0, &named), 0);
	triad_fabric_builder_free(builder);
	ck_assert_int_eq(triad_partition_names_init(
				 &names, named->partitions, named->n_partitions),
		0);
	ck_assert_uint_eq(triad_partition_names_find(&names, "STORAGE"), 7);
	ck_assert_uint_eq(triad_partition_names_find(&names, "Storage"), 9);
	ck_assert_uint_eq(triad_partition_names_find(&names, "sTORAGE"), 5);
	ck_assert_uint_eq(triad_partition_names_find(&names, "storag"), 0);
	ck_assert_uint_eq(triad_partition_names_find(&names, ""), 0);
	free(names.items);
	triad_fabric_unref(named);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("classifier");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_match_random_policies_as_naive);
	tcase_add_test(cases, test_match_each_combination_of_fields_as_naive);
	tcase_add_test(cases, test_match_many_rules_as_naive);
	tcase_add_test(cases, test_match_nothing_in_common_as_naive);
	tcase_add_test(cases, test_match_empty_policy_gives_default_level);
	tcase_add_test(cases, test_service_id_ends_of_ranges_included);
	tcase_add_test(cases, test_pkey_membership_bit_ignored);
	tcase_add_test(cases, test_port_beyond_the_fabric_in_no_group);
	tcase_add_test(cases, test_compile_greatest_policy_is_bounded);
	tcase_add_test(cases, test_compile_too_large_refused);
	tcase_add_test(cases, test_groups_of_ports_as_naive);
	tcase_add_test(cases, test_groups_port_name_words_compared);
	tcase_add_test(cases, test_report_absent_names_are_reported);
	tcase_add_test(cases, test_report_partition_without_ports_is_reported);
	tcase_add_test(cases, test_report_more_than_fit_are_counted);
	tcase_add_test(cases, test_report_nodes_in_no_group_as_naive);
	tcase_add_test(cases, test_partition_names_case_only_when_there_is_no_other);
	return run_cases(cases);
}
