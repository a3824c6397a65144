/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/qos/unmatched.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/hash.h"
#include "lib/text.h"
#include "qos/rules/membership.h"

#define TEXT_SIZE 512

/* A hash of the report, to log it only when it changes. */
static uint64_t digest(
	const struct triad_policy *policy, const struct triad_group_report *report)
{
	uint64_t hash = triad_hash_word(TRIAD_HASH_START, (uintptr_t)policy);
	uint32_t n = report->n_misses < TRIAD_GROUP_REPORT_MAX_MISSES
		? report->n_misses
		: TRIAD_GROUP_REPORT_MAX_MISSES;

	hash = triad_hash_word(
		triad_hash_word(hash, report->n_misses), report->n_nodes);
	for (uint32_t i = 0; i < n; i++)
		hash = triad_hash_word(
			triad_hash_word(triad_hash_word(hash, report->misses[i].kind),
				report->misses[i].group),
			report->misses[i].item);
	return hash;
}

static void format_range(
	const struct triad_range *range, unsigned digits, char *text, size_t size)
{
	triad_text_append(text, size, "0x%0*" PRIx64, (int)digits, range->first);
	if (range->last != range->first)
		triad_text_append(
			text, size, "-0x%0*" PRIx64, (int)digits, range->last);
}

static void format_group_miss(const struct triad_policy *policy,
	const struct triad_group_miss *miss, char *text, size_t size)
{
	const struct triad_policy_group *group = &policy->groups[miss->group];

	triad_text_append(text, size, "port group '%s': ", group->name);
	switch (miss->kind) {
	case TRIAD_MISS_GUID:
		triad_text_append(text, size, "no port has a GUID ");
		format_range(&group->guids.items[miss->item], 16, text, size);
		break;
	case TRIAD_MISS_PORT_NAME:
		triad_text_append(text, size, "there is no port '%s/P%u'",
			group->port_names[miss->item].node,
			group->port_names[miss->item].number);
		break;
	case TRIAD_MISS_PARTITION:
		triad_text_append(text, size, "partition '%s' has no ports",
			group->partitions[miss->item]);
		break;
	default:
		triad_text_append(text, size, "no port has a P_Key ");
		format_range(&group->pkeys.items[miss->item], 4, text, size);
		break;
	}
	triad_text_append(text, size, "; one that comes will be in the group");
}

static void report_miss(struct triad_log *log, const struct triad_policy *policy,
	const struct triad_group_miss *miss)
{
	char text[TEXT_SIZE] = "";

	if (miss->kind == TRIAD_MISS_PARTITION_LEVEL)
		triad_text_append(text, sizeof(text),
			"the level of partition '%s' serves nobody: there is no such "
			"partition",
			policy->partition_levels[miss->group].partition
				? policy->partition_levels[miss->group].partition
				: "");
	else
		format_group_miss(policy, miss, text, sizeof(text));
	triad_text_clean(text);
	triad_log_write(log, TRIAD_LOG_WARNING, "%s:%u:%u: %s", policy->source,
		miss->location.line, miss->location.column, text);
}

static void report_nodes(struct triad_log *log, const struct triad_policy *policy,
	const struct triad_fabric *fabric, const struct triad_group_report *report)
{
	char text[TEXT_SIZE] = "";
	uint32_t n = report->n_nodes < TRIAD_GROUP_REPORT_MAX_NODES
		? report->n_nodes
		: TRIAD_GROUP_REPORT_MAX_NODES;

	if (!report->n_nodes || !policy->n_groups)
		return;
	for (uint32_t i = 0; i < n; i++)
		triad_text_append(text, sizeof(text), "%s%s", i ? ", " : "",
			fabric->nodes[report->nodes[i]].name);
	triad_log_write(log, TRIAD_LOG_WARNING,
		"%s: %u node(s) are in no port group: %s%s; 'triadctl qos nodes' lists "
		"them",
		policy->source, report->n_nodes, text,
		n < report->n_nodes ? ", ..." : "");
}

void triad_qos_report_unmatched(struct triad_log *log,
	const struct triad_policy *policy, const struct triad_fabric *fabric,
	uint64_t *last)
{
	struct triad_group_report report;
	struct triad_membership membership;
	uint64_t now;

	if (triad_membership_resolve(&membership, policy, fabric, &report))
		return; /* compiling the policy reports why */
	triad_membership_clear(&membership);
	now = digest(policy, &report);
	if (now == *last)
		return;
	*last = now;
	for (uint32_t i = 0; i < report.n_misses && i < TRIAD_GROUP_REPORT_MAX_MISSES;
		i++)
		report_miss(log, policy, &report.misses[i]);
	if (report.n_misses > TRIAD_GROUP_REPORT_MAX_MISSES)
		triad_log_write(log, TRIAD_LOG_WARNING,
			"%s: %u more names of what the fabric does not have",
			policy->source,
			report.n_misses - TRIAD_GROUP_REPORT_MAX_MISSES);
	report_nodes(log, policy, fabric, &report);
}
