/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* QoS policies in both syntaxes: an accepted one must keep the invariants of policy.h,
 * a refused one must have a reason that can be printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/rates.h"
#include "qos/policy/policy.h"
#include "tests/fuzz/fuzz.h"

static void check_diags(const struct triad_diags *diags, bool failed)
{
	char text[2 * TRIAD_DIAG_TEXT_SIZE + 32];

	require(failed == (diags->n_total > 0), "an error has a diagnostic");
	require(diags->n <= TRIAD_DIAG_MAX && diags->n <= diags->n_total,
		"list bounded");
	for (size_t i = 0; i < diags->n; i++) {
		triad_diags_format(diags, i, text, sizeof(text));
		require(!strpbrk(text, "\n\r\033"), "no control character shown");
	}
}

static void check_ranges(const struct triad_ranges *ranges, uint64_t min, uint64_t max)
{
	for (uint32_t i = 0; i < ranges->n; i++) {
		const struct triad_range *range = &ranges->items[i];

		require(range->first <= range->last, "range in order");
		require(range->first >= min && range->last <= max, "range in bounds");
		require(!i || range[-1].last + 1 < range->first, "ranges apart");
	}
}

static void check_list(
	const struct triad_policy *policy, const struct triad_group_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		require(list->items[i] < policy->n_groups, "group in range");
}

static void check_groups(const struct triad_policy *policy)
{
	for (uint32_t i = 0; i < policy->n_groups; i++) {
		const struct triad_policy_group *group = &policy->groups[i];

		require(group->name && group->name[0] && group->use, "group named");
		check_ranges(&group->guids, 0, UINT64_MAX);
		check_ranges(&group->pkeys, 1, 0x7fff);
		for (uint32_t j = 0; j < group->n_port_names; j++)
			require(group->port_names[j].node[0], "node named");
		for (uint32_t j = 0; j < group->n_partitions; j++)
			require(group->partitions[j][0], "partition named");
	}
}

static void check_levels(const struct triad_policy *policy)
{
	require(policy->default_level < policy->n_levels, "a default level");
	for (uint32_t i = 0; i < policy->n_levels; i++) {
		const struct triad_policy_level *level = &policy->levels[i];

		require(level->name && level->name[0] && level->use, "level named");
		require(level->has_sl && level->sl < 16, "SL");
		require(!level->has_mtu_limit ||
				(level->mtu_limit >= 1 && level->mtu_limit <= 5),
			"MTU");
		require(!level->has_rate_limit ||
				(level->rate_limit >= 2 &&
					level->rate_limit <= TRIAD_RATE_MAX),
			"rate");
		require(level->packet_life < 64, "packet life");
		check_ranges(&level->path_bits, 0, 127);
		check_ranges(&level->pkeys, 1, 0x7fff);
	}
	for (uint32_t i = 0; i < policy->n_partition_levels; i++) {
		const struct triad_policy_partition_level *of =
			&policy->partition_levels[i];

		require(of->level < policy->n_levels, "level in range");
		require(of->partition || of->pkeys.n, "a partition");
		check_ranges(&of->pkeys, 1, 0x7fff);
	}
}

static void check_rules(const struct triad_policy *policy)
{
	for (uint32_t i = 0; i < policy->n_rules; i++) {
		const struct triad_policy_rule *rule = &policy->rules[i];

		require(rule->level < policy->n_levels, "level in range");
		require(rule->use, "rule described");
		check_list(policy, &rule->sources);
		check_list(policy, &rule->destinations);
		check_ranges(&rule->service_ids, 0, UINT64_MAX);
		check_ranges(&rule->tclasses, 0, 255);
		check_ranges(&rule->qos_classes, 0, 4095);
		check_ranges(&rule->pkeys, 1, 0x7fff);
		check_ranges(&rule->sls, 0, 15);
	}
}

static void check_scope(
	const struct triad_policy *policy, const struct triad_policy_scope *scope)
{
	check_list(policy, &scope->groups);
	check_list(policy, &scope->across);
	check_list(policy, &scope->across_from);
	check_list(policy, &scope->across_to);
	require(scope->groups.n || scope->across.n || scope->across_from.n ||
			scope->across_to.n,
		"a group");
	require(!(scope->from[31] & 0x80) && !(scope->to[31] & 0x80), "no port 255");
}

static void check_tables(const struct triad_policy *policy)
{
	for (uint32_t i = 0; i < policy->n_sl2vl; i++) {
		check_scope(policy, &policy->sl2vl[i].scope);
		for (unsigned sl = 0; sl < TRIAD_POLICY_N_VLS; sl++)
			require(policy->sl2vl[i].vl[sl] < 16, "VL");
	}
	for (uint32_t i = 0; i < policy->n_vlarb; i++) {
		const struct triad_policy_vlarb *table = &policy->vlarb[i];

		check_scope(policy, &table->scope);
		require(table->has_high || table->has_low || table->has_high_limit,
			"a table");
		require(table->n_high <= TRIAD_POLICY_MAX_VLARB &&
				table->n_low <= TRIAD_POLICY_MAX_VLARB,
			"entries bounded");
		for (unsigned j = 0; j < table->n_high; j++)
			require(table->high[j].vl < 15, "VL arbitrated");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct triad_diags diags;
	struct triad_policy *policy;
	int error = triad_policy_parse(
		(const char *)data, size, "policy", NULL, &policy, &diags);

	check_diags(&diags, error);
	if (error)
		return 0;
	check_groups(policy);
	check_levels(policy);
	check_rules(policy);
	check_tables(policy);
	triad_policy_unref(policy);
	return 0;
}
