/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/explain.h"

#include <stdio.h>
#include <string.h>

#include "ib/node_choice.h"

/* --- ends --- */

/* The end port of this node with that number (-1: the only one). */
static uint32_t end_of_node(const struct triad_paths *paths, uint32_t node, int number,
	char *reason, size_t size)
{
	const struct triad_fabric_node *at = &paths->fabric->nodes[node];
	uint32_t found = TRIAD_FABRIC_NONE;
	unsigned n = 0;

	for (uint32_t i = 0; i < at->n_ports; i++) {
		uint32_t port = at->first_port + i;

		/* Skip a port without a LID: no path begins or ends there. */
		if (!paths->ends[port].is_end || !paths->ends[port].lid ||
			(number >= 0 && paths->fabric->ports[port].number != number))
			continue;
		found = port;
		n++;
	}
	if (n == 1)
		return found;
	if (n)
		snprintf(reason, size,
			"%s has %u ports with a LID: name one as %s/P1, or by its GUID",
			at->name, n, at->name);
	else
		snprintf(reason, size, "%s has no such port with a LID", at->name);
	return TRIAD_FABRIC_NONE;
}

uint32_t triad_explain_find_end(
	const struct triad_paths *paths, const char *text, char *reason, size_t size)
{
	struct triad_node_choice choice =
		triad_node_choice_make(text, paths->fabric, 0);

	if (choice.rule == TRIAD_NODE_RULE_GUID &&
		choice.end_port != TRIAD_FABRIC_NONE &&
		!strcmp(choice.typed, choice.name))
		return choice.end_port;
	if (*text && choice.n == 1)
		return end_of_node(paths, choice.first, choice.port, reason, size);
	if (*text)
		triad_node_choice_explain(&choice, paths->fabric, reason, size);
	else
		snprintf(reason, size, "the name is empty");
	return TRIAD_FABRIC_NONE;
}

/* --- rules --- */

static unsigned n_conditions(const struct triad_policy_rule *rule)
{
	return !!rule->sources.n + !!rule->destinations.n + !!rule->service_ids.n +
		!!rule->tclasses.n + !!rule->qos_classes.n + !!rule->pkeys.n +
		!!rule->sls.n;
}

/* Lists rules before the matching one that fail exactly one condition.  Rules whose
 * other conditions hold come first.  Rules with a single condition come last: a large
 * policy has thousands of those. */
static void find_near_misses(const struct triad_answer_snapshot *snapshot,
	const struct triad_path_request *request, struct triad_explanation *explanation)
{
	const struct triad_policy *policy =
		triad_classifier_policy(snapshot->classifier);
	const struct triad_class_request asked = triad_answer_class_request(
		request, explanation->source, explanation->destination);
	uint32_t end = explanation->rule == TRIAD_POLICY_NONE ? policy->n_rules
							      : explanation->rule;

	for (unsigned alone = 0; alone < 2; alone++)
		for (uint32_t rule = 0; rule < end; rule++) {
			struct triad_class_mismatch mismatch = triad_classifier_explain(
				snapshot->classifier, &asked, rule);

			if (__builtin_popcount(mismatch.failed) != 1 ||
				(n_conditions(&policy->rules[rule]) == 1) != alone)
				continue;
			if (explanation->n_near == TRIAD_EXPLAIN_MAX_NEAR)
				explanation->n_more_near++;
			else
				explanation->near[explanation->n_near++] =
					(struct triad_near_miss){rule, mismatch};
		}
}

/* --- the whole --- */

/* The SL for which the hops' VLs are shown.  A refused path has none: takes the SL of
 * the level, the request or the partition. */
static uint8_t sl_of(const struct triad_answer_snapshot *snapshot,
	const struct triad_path_request *request,
	const struct triad_policy_level *level,
	const struct triad_explanation *explained)
{
	if (!explained->decision.refusal)
		return explained->decision.sl;
	if (level && level->has_sl)
		return level->sl;
	if (request->has & TRIAD_HAS_SL)
		return request->sl;
	return triad_paths_partition_sl(snapshot->paths,
		triad_paths_common_pkey(
			snapshot->paths, explained->source, explained->destination));
}

void triad_explain(const struct triad_answer_snapshot *snapshot,
	const struct triad_path_request *request, uint32_t source, uint32_t destination,
	struct triad_explanation *explained)
{
	const struct triad_paths *paths = snapshot->paths;
	const struct triad_fabric_port *ports = paths->fabric->ports;
	const uint64_t prefix = paths->fabric->sa.subnet_prefix;
	const struct triad_policy_level *level = NULL;
	struct triad_path_request asked = *request;
	struct triad_path_ask ask;

	memset(explained, 0, sizeof(*explained));
	explained->source = source;
	explained->destination = destination;
	explained->level = triad_answer_level(
		snapshot, request, source, destination, &explained->rule);
	if (snapshot->classifier) {
		level = &triad_classifier_policy(snapshot->classifier)
				 ->levels[explained->level];
		find_near_misses(snapshot, request, explained);
	}
	/* The level was found for the unchanged request.  Answer it with both GIDs, so
	 * that the answer is one path between these ends. */
	asked.has |= TRIAD_HAS_SGID | TRIAD_HAS_DGID;
	asked.one = true;
	asked.multi = false;
	asked.n_sources = asked.n_destinations = 1;
	asked.gids[0] = (struct triad_gid){prefix, ports[source].guid};
	asked.gids[1] = (struct triad_gid){prefix, ports[destination].guid};
	explained->answer.records = &explained->record;
	explained->answer.room = 1;
	triad_answer_path(
		snapshot, &asked, paths->ends[source].lid, &explained->answer);
	/* Show the path between the answer's LIDs.  Without an answer, the path between
	 * the base LIDs shows what is missing. */
	explained->slid = paths->ends[source].lid;
	explained->dlid = paths->ends[destination].lid;
	if (explained->answer.n) {
		explained->slid = explained->record.slid;
		explained->dlid = explained->record.dlid;
	}
	ask = (struct triad_path_ask){.paths = paths,
		.request = &asked,
		.level = level,
		.engine = snapshot->engine,
		.from = source,
		.to = destination};
	triad_path_decide(&ask, explained->slid, explained->dlid, &explained->decision);
	explained->sl = sl_of(snapshot, request, level, explained);
	triad_paths_walk(
		paths, source, destination, explained->dlid, true, &explained->there);
	triad_paths_walk(
		paths, destination, source, explained->slid, true, &explained->back);
}
