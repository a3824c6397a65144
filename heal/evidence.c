/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/evidence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/detail.h"
#include "perfmgr/watch/alert_text.h"

#define NONE TRIAD_FABRIC_NONE

/* --- which findings are evidence --- */

/* Details of what a receiver could not read, and of lost updates of flow control. */
static bool is_of_link(struct triad_alert_why why)
{
	const struct triad_detail_field *field;

	if (!why.field || why.field > TRIAD_DETAIL_N_FIELDS)
		return false;
	field = &triad_detail_fields[why.field - 1];
	return field->attributes &
		(TRIAD_DETAIL_BIT(TRIAD_PMA_EXT_SPEEDS) |
			TRIAD_DETAIL_BIT(TRIAD_PMA_EXT_SPEEDS_RSFEC) |
			TRIAD_DETAIL_BIT(TRIAD_PMA_VL_XMIT_FLOW_CTL_UPDATE_ERRORS)) ||
		!strcmp(field->name, "PortLocalPhysicalErrors");
}

static bool are_many(const struct triad_alert_finding *finding)
{
	return finding->worst >= TRIAD_HEAL_MANY_TIMES &&
		(triad_alert_is_loss(finding->cause) ||
			finding->threshold.unit == TRIAD_THRESHOLD_PER_SWEEP);
}

static double times_of(double value, double limit)
{
	return value > 0 && limit > 0 ? value / limit : 0;
}

/* Sets kind, sureness and how many times; false: it is no evidence. */
static bool judge_finding(
	const struct triad_alert_finding *from, struct triad_heal_finding *finding)
{
	finding->times = times_of((double)from->value, from->threshold.value);
	switch (from->cause) {
	case TRIAD_ALERT_BER:
		finding->kind = TRIAD_HEAL_BIT_ERRORS;
		finding->is_sure = true;
		finding->times =
			times_of((double)from->ber.low, (double)from->ber.target);
		return true;
	case TRIAD_PORT_RCV_ERRORS:
		finding->kind = TRIAD_HEAL_ERRORS;
		return !from->why.field || is_of_link(from->why);
	case TRIAD_SYMBOL_ERROR_COUNTER:
	case TRIAD_LINK_ERROR_RECOVERY_COUNTER:
	case TRIAD_LOCAL_LINK_INTEGRITY_ERRORS:
	case TRIAD_EXCESSIVE_BUFFER_OVERRUN_ERRORS:
		finding->kind = TRIAD_HEAL_ERRORS;
		return true;
	case TRIAD_ALERT_DETAIL:
		finding->kind = TRIAD_HEAL_ERRORS;
		return is_of_link(from->why);
	case TRIAD_LINK_DOWNED_COUNTER:
		finding->kind = TRIAD_HEAL_FLAPS;
		finding->is_sure = are_many(from);
		return true;
	case TRIAD_ALERT_LINK_DOWN:
		finding->kind = TRIAD_HEAL_FLAPS;
		finding->is_sure = true;
		return are_many(from);
	case TRIAD_ALERT_MODULE:
		finding->kind = from->hardware.fault == TRIAD_HARDWARE_MODULE_HOT
			? TRIAD_HEAL_HOT
			: TRIAD_HEAL_DARK;
		finding->is_sure = true;
		finding->times = finding->kind == TRIAD_HEAL_HOT
			? times_of((double)from->value, (double)from->hardware.limit)
			: 0;
		return true;
	case TRIAD_ALERT_SLOW_LINK:
		finding->kind = TRIAD_HEAL_SLOW;
		finding->wanted = from->slow.expected;
		finding->is_sure = from->value <= 1;
		finding->times =
			times_of((double)triad_link_rate_bps(from->slow.expected),
				(double)triad_link_rate_bps(from->slow.rate));
		return true;
	case TRIAD_ALERT_NODE_GONE:
		finding->kind = TRIAD_HEAL_RESTARTS;
		finding->is_sure = true;
		return are_many(from);
	case TRIAD_ALERT_UNANSWERED:
		finding->kind = TRIAD_HEAL_SILENT;
		finding->is_sure = true;
		return true;
	default:
		return false;
	}
}

/* --- where --- */

/* False: the fabric does not have it now. */
static bool find_place(const struct triad_fabric *fabric,
	const struct triad_alert_end *end, struct triad_heal_finding *finding)
{
	finding->node = triad_fabric_find_node(fabric, end->node_guid);
	finding->port = triad_heal_is_of_node(finding->kind)
		? NONE
		: triad_fabric_find_port(fabric, finding->node, end->port);
	return finding->node != NONE &&
		(triad_heal_is_of_node(finding->kind) || finding->port != NONE);
}

/* Room for one more; NULL: memory is short, or there are too many. */
static struct triad_heal_finding *add_finding(struct triad_heal_evidence *evidence)
{
	if (evidence->n == TRIAD_HEAL_MAX_FINDINGS) {
		evidence->n_left_out++;
		return NULL;
	}
	if (evidence->n == evidence->room) {
		uint32_t room = evidence->room ? 2 * evidence->room : 64;
		struct triad_heal_finding *findings =
			realloc(evidence->findings, room * sizeof(*findings));

		if (!findings) {
			evidence->is_short = true;
			return NULL;
		}
		evidence->findings = findings;
		evidence->room = room;
	}
	return &evidence->findings[evidence->n++];
}

void triad_heal_evidence_add(
	struct triad_heal_evidence *evidence, const struct triad_alert *alert)
{
	for (unsigned i = 0;
		i < alert->n_findings && alert->state == TRIAD_ALERT_ACTIVE; i++) {
		const struct triad_alert_finding *from = &alert->findings[i];
		struct triad_heal_finding finding = {
			.since_us = from->since_us, .silence = alert->silence};
		struct triad_heal_finding *added;

		if (!from->raised || from->held || !judge_finding(from, &finding) ||
			!find_place(
				evidence->fabric, &alert->ends[from->end], &finding))
			continue;
		if (from->under_us && finding.kind != TRIAD_HEAL_FLAPS &&
			finding.kind != TRIAD_HEAL_RESTARTS)
			finding.is_sure = false;
		triad_alert_finding_format(
			alert, from, finding.text, sizeof(finding.text));
		added = add_finding(evidence);
		if (added)
			*added = finding;
	}
}

/* --- nodes that restart --- */

static uint32_t far_node(
	const struct triad_fabric *fabric, const struct triad_heal_finding *finding)
{
	uint32_t far = fabric->ports[finding->port].remote;

	return far == NONE ? NONE : fabric->ports[far].node;
}

static uint32_t count_linked(const struct triad_fabric *fabric, uint32_t node)
{
	const struct triad_fabric_node *at = &fabric->nodes[node];
	uint32_t n = 0;

	for (uint32_t i = 0; i < at->n_ports; i++)
		n += fabric->ports[at->first_port + i].remote != NONE;
	return n;
}

static bool may_be_restart(const struct triad_heal_finding *finding)
{
	return finding->kind == TRIAD_HEAL_FLAPS && !finding->is_sure;
}

/* Counts such links of each node, once each; the node with the most, or NONE.  'seen' is room for
 * the fabric's ports. */
static uint32_t find_restarted(
	const struct triad_heal_evidence *evidence, uint32_t *n_of_node, bool *seen)
{
	const struct triad_fabric *fabric = evidence->fabric;
	uint32_t best = NONE;

	memset(n_of_node, 0, fabric->n_nodes * sizeof(*n_of_node));
	memset(seen, 0, fabric->n_ports * sizeof(*seen));
	for (uint32_t i = 0; i < evidence->n; i++) {
		const struct triad_heal_finding *finding = &evidence->findings[i];
		uint32_t far, ends[2] = {finding->node, NONE};

		if (!may_be_restart(finding) || seen[finding->port])
			continue;
		far = fabric->ports[finding->port].remote;
		if (far != NONE)
			seen[far] = true;
		ends[1] = far_node(fabric, finding);
		for (unsigned k = 0; k < 2 && ends[k] != NONE; k++)
			if (++n_of_node[ends[k]] > (best == NONE ? 0 : n_of_node[best]))
				best = ends[k];
	}
	if (best == NONE || n_of_node[best] < 2)
		return NONE;
	return n_of_node[best] >= TRIAD_HEAL_TOGETHER ||
			n_of_node[best] == count_linked(fabric, best)
		? best
		: NONE;
}

/* Puts one finding about the node in the place of those of its links. */
static void join_flaps(
	struct triad_heal_evidence *evidence, uint32_t node, uint32_t n_links)
{
	struct triad_heal_finding joined = {
		.kind = TRIAD_HEAL_RESTARTS, .port = NONE, .node = node};
	uint32_t n = 0;
	bool is_heard = false;

	for (uint32_t i = 0; i < evidence->n; i++) {
		const struct triad_heal_finding *finding = &evidence->findings[i];

		if (!may_be_restart(finding) ||
			(finding->node != node &&
				far_node(evidence->fabric, finding) != node)) {
			evidence->findings[n++] = *finding;
			continue;
		}
		joined.silence = finding->silence;
		is_heard |= !finding->silence;
		if (!joined.since_us || finding->since_us < joined.since_us)
			joined.since_us = finding->since_us;
	}
	if (is_heard)
		joined.silence = 0;
	snprintf(joined.text, sizeof(joined.text),
		"%" PRIu32 " of its links went down lately, as when it restarts",
		n_links);
	evidence->findings[n++] = joined;
	evidence->n = n;
}

void triad_heal_evidence_end(struct triad_heal_evidence *evidence)
{
	const struct triad_fabric *fabric = evidence->fabric;
	uint32_t *n_of_node = malloc((fabric->n_nodes + 1u) * sizeof(*n_of_node));
	bool *seen = malloc((fabric->n_ports + 1u) * sizeof(*seen));
	uint32_t node;

	if (!n_of_node || !seen)
		evidence->is_short = true;
	while (n_of_node && seen &&
		(node = find_restarted(evidence, n_of_node, seen)) != NONE)
		join_flaps(evidence, node, n_of_node[node]);
	free(n_of_node);
	free(seen);
}

void triad_heal_evidence_clear(struct triad_heal_evidence *evidence)
{
	free(evidence->findings);
	*evidence = (struct triad_heal_evidence){0};
}
