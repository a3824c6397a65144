/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/alerts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/watch/alert_text.h"
#include "perfmgr/watch/alerts_parts.h"

/* --- life --- */

struct triad_alerts *triad_alerts_new(
	const struct triad_alerts_sink *sink, struct triad_silences *silences)
{
	struct triad_alerts *alerts = calloc(1, sizeof(*alerts));

	if (!alerts)
		return NULL;
	alerts->sink = *sink;
	alerts->silences = silences;
	alerts->explained_until_us = UINT64_MAX; /* roots are not searched for */
	alerts->store = triad_alert_store_new();
	if (alerts->store)
		return alerts;
	free(alerts);
	return NULL;
}

void triad_alerts_set_intent(
	struct triad_alerts *alerts, const struct triad_alerts_intent *intent)
{
	alerts->intent = *intent;
}

void triad_alerts_free(struct triad_alerts *alerts)
{
	if (!alerts)
		return;
	triad_alert_store_free(alerts->store);
	triad_view_unref(alerts->view);
	free(alerts->flagged);
	free(alerts->explained);
	free(alerts->words_per_us);
	free(alerts->nodes);
	free(alerts);
}

/* --- readings of sweeps --- */

/* True when PortXmitWait stopped at its maximum, as it does after seconds on fast links:
 * then a value below a threshold says nothing. */
static bool is_open(const struct triad_engine_changes *changes, unsigned counter)
{
	return counter == TRIAD_PORT_XMIT_WAIT && changes->full & 1u << counter;
}

static void look_for_new(struct triad_alerts *alerts, uint32_t port,
	const struct triad_engine_changes *changes, uint64_t now_us)
{
	const struct triad_fabric *fabric = alerts->view->fabric;
	const struct triad_limits *limits = triad_alerts_limits_of(alerts, port);
	uint64_t guid = fabric->nodes[fabric->ports[port].node].guid;

	for (uint32_t left = changes->changed & limits->watched; left;
		left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);
		double value = triad_limits_measure(
			&limits->of[i], changes, i, (double)alerts->words_per_us[port]);
		struct triad_alert_finding found = {
			.value = (float)value,
			.at_least = changes->full & 1u << i,
			.threshold = limits->of[i],
		};
		struct triad_alert_entry *entry;

		if (isnan(value) || value < limits->of[i].value)
			continue;
		found.why = triad_alert_find_why(alerts->view, port, i,
			(double)changes->interval_us[triad_engine_part(changes, i)],
			now_us);
		entry = triad_alerts_need(alerts, port);
		if (entry)
			triad_alert_note_over(&entry->alert, i,
				triad_alert_index_of_end(&entry->alert, guid,
					fabric->ports[port].number),
				&found, now_us);
	}
}

/* Updates the findings that the port already has. */
static void look_at_known(struct triad_alerts *alerts, uint32_t port,
	const struct triad_engine_changes *changes, uint64_t now_us)
{
	const struct triad_fabric *fabric = alerts->view->fabric;
	const struct triad_limits *limits = triad_alerts_limits_of(alerts, port);
	const struct triad_alert_end end = triad_alerts_end_of(fabric, port);
	struct triad_alert_entry *entry = triad_alerts_find_at(alerts, &end);
	struct triad_alert *alert = entry ? &entry->alert : NULL;
	unsigned index =
		alert ? triad_alert_index_of_end(alert, end.node_guid, end.port) : 2;

	if (index < 2)
		alert->more[index] &= ~changes->fresh;
	/* Go from the last one: triad_alert_note_under() may move the last one into a
	 * gap. */
	for (unsigned i = alert ? alert->n_findings : 0; i-- > 0;) {
		struct triad_alert_finding *finding = &alert->findings[i];
		unsigned cause = finding->cause;
		double value, least;

		if (finding->end != index || cause >= TRIAD_N_COUNTERS ||
			!(changes->fresh & 1u << cause))
			continue;
		value = triad_limits_measure(&limits->of[cause], changes, cause,
			(double)alerts->words_per_us[port]);
		/* A raised finding ends only well below its threshold, so that it does
		 * not flap. */
		least = (finding->raised ? alerts->params.clear_below : 1) *
			limits->of[cause].value;
		finding->value = isnan(value) ? 0 : (float)value;
		finding->at_least = changes->full & 1u << cause;
		finding->judged = false; /* a sweep judges it now */
		/* What is not known leaves a raised finding as it was, and raises none. */
		if (value < least && finding->raised && is_open(changes, cause))
			continue;
		if (isnan(value) || value < least)
			triad_alert_note_under(alert, finding, now_us);
		else
			finding->under_us = 0;
	}
}

void triad_alerts_look(struct triad_alerts *alerts, uint32_t port,
	const struct triad_engine_changes *changes, uint64_t now_us)
{
	alerts->nodes[alerts->view->fabric->ports[port].node].asked = true;
	/* A new view may skip a port that was read. */
	if (!alerts->params.enabled || !triad_view_is_asked(alerts->view, port))
		return;
	if (alerts->flagged[port])
		look_at_known(alerts, port, changes, now_us);
	if (changes->changed & triad_alerts_limits_of(alerts, port)->watched)
		look_for_new(alerts, port, changes, now_us);
}

void triad_alerts_miss(struct triad_alerts *alerts, uint32_t port, uint64_t now_us)
{
	struct triad_alerts_node *node =
		&alerts->nodes[alerts->view->fabric->ports[port].node];

	node->asked = true;
	if (node->n_missed < UINT16_MAX)
		node->n_missed++;
}

void triad_alerts_note_trouble(
	struct triad_alerts *alerts, uint32_t port, struct triad_pma_trouble trouble)
{
	alerts->nodes[alerts->view->fabric->ports[port].node].trouble = trouble;
}

static unsigned index_of_node(
	const struct triad_alert *alert, const struct triad_alert_end *node)
{
	return triad_alert_index_of_end(alert, node->node_guid, TRIAD_ALERT_NO_PORT);
}

static void judge_silence(struct triad_alerts *alerts, uint32_t index, uint64_t now_us)
{
	const struct triad_fabric *fabric = alerts->view->fabric;
	struct triad_alerts_node *node = &alerts->nodes[index];
	const struct triad_alert_end end = triad_alerts_end_of_node(fabric, index);
	struct triad_alert_entry *entry = triad_alerts_find_at(alerts, &end);
	struct triad_alert_finding found = {.value = node->n_missed,
					   .trouble = node->trouble.kind & 7u,
					   .replies_from = node->trouble.lid},
				   *known;

	if (!node->n_missed || !alerts->params.unanswered_sweeps ||
		!triad_alerts_is_end_asked(alerts->view, &end)) {
		node->silent = 0;
		known = entry ? triad_alert_find_finding(&entry->alert,
					TRIAD_ALERT_UNANSWERED,
					index_of_node(&entry->alert, &end))
			      : NULL;
		if (known)
			triad_alert_note_under(&entry->alert, known, now_us);
		return;
	}
	if (node->silent < UINT16_MAX)
		node->silent++;
	if (node->silent < alerts->params.unanswered_sweeps)
		return;
	if (!entry)
		entry = triad_alerts_add(alerts, &end, 1);
	if (entry)
		triad_alert_note_over(&entry->alert, TRIAD_ALERT_UNANSWERED,
			index_of_node(&entry->alert, &end), &found, now_us);
}

void triad_alerts_begin_sweep(struct triad_alerts *alerts, bool is_part)
{
	alerts->is_part = is_part;
	for (uint32_t i = 0; alerts->view && i < alerts->view->fabric->n_nodes; i++) {
		alerts->nodes[i].asked = false;
		alerts->nodes[i].n_missed = 0;
	}
}

/* --- coming out --- */

void triad_alerts_report(struct triad_alerts *alerts, enum triad_alert_change change,
	const struct triad_alert *alert)
{
	alerts->reported = true;
	alerts->sink.take(alerts->sink.context, change, alert);
}

void triad_alerts_report_done(struct triad_alerts *alerts)
{
	if (alerts->reported && alerts->sink.done)
		alerts->sink.done(alerts->sink.context);
	alerts->reported = false;
}

bool triad_alerts_look_for_silence(
	struct triad_alerts *alerts, struct triad_alert *alert)
{
	const struct triad_silence *silence =
		triad_silences_find(alerts->silences, alert);
	bool was_silenced = alert->silence;

	alert->silence = silence ? silence->id : 0;
	alert->silenced_until_us = silence ? silence->until_us : 0;
	if (was_silenced == !!silence)
		return false;
	if (silence)
		alerts->counts.n_silenced++;
	else
		alerts->counts.n_silenced--;
	return true;
}

static void silence_alert(struct triad_alerts *alerts, struct triad_alert *alert)
{
	if (triad_alerts_look_for_silence(alerts, alert))
		triad_alerts_report(alerts,
			alert->silence ? TRIAD_ALERT_SILENCED : TRIAD_ALERT_UNSILENCED,
			alert);
}

static void raise_alert(
	struct triad_alerts *alerts, struct triad_alert *alert, uint64_t now_us)
{
	alert->id = ++alerts->last_id;
	alert->state = TRIAD_ALERT_ACTIVE;
	alert->raised_us = now_us;
	triad_sm_notes_correlate(&alerts->sm_notes, alert);
	alerts->counts.n_active++;
	alerts->counts.n_raised++;
	triad_silences_note(alerts->silences, alert);
	triad_alerts_look_for_silence(alerts, alert);
	triad_alerts_report(alerts, TRIAD_ALERT_RAISED, alert);
}

/* Clears the flags of a removed alert's ends.  A port that is a place of another alert
 * stays flagged. */
static void unflag(struct triad_alerts *alerts, const struct triad_alert *alert)
{
	for (unsigned i = 0; i < alert->n_ends; i++) {
		uint32_t port =
			triad_alerts_find_port(alerts->view->fabric, &alert->ends[i]);

		if (port != TRIAD_FABRIC_NONE &&
			alert->ends[i].port != TRIAD_ALERT_NO_PORT &&
			!triad_alerts_find_at(alerts, &alert->ends[i]))
			alerts->flagged[port] = false;
	}
}

static void end_alert(
	struct triad_alerts *alerts, struct triad_alert_entry *entry, uint64_t now_us)
{
	struct triad_alert *alert = &entry->alert;

	if (alert->state == TRIAD_ALERT_ACTIVE) {
		alert->state = TRIAD_ALERT_CLEARED;
		alert->cleared_us = now_us;
		alerts->cleared[alerts->counts.n_cleared % TRIAD_ALERTS_MAX_CLEARED] =
			*alert;
		alerts->counts.n_cleared++;
		alerts->counts.n_active--;
		alerts->counts.n_silenced -= alert->silence != 0;
		triad_silences_note(alerts->silences, alert);
		triad_alerts_report(alerts, TRIAD_ALERT_ENDED, alert);
	}
	triad_alert_store_remove(alerts->store, entry);
	if (alerts->view)
		unflag(alerts, alert);
}

/* Raises findings that have lasted, and drops those that are over. */
static void settle_findings(
	struct triad_alerts *alerts, struct triad_alert_entry *entry, uint64_t now_us)
{
	struct triad_alert *alert = &entry->alert;
	bool is_new = alert->state == TRIAD_ALERT_PENDING;
	unsigned n = alert->n_findings, n_raised;

	triad_alerts_hold(alerts, alert);
	n_raised = triad_alert_raise_findings(&alerts->params, alert, now_us);
	if (!triad_alert_drop_over(&alerts->params, alert, now_us)) {
		end_alert(alerts, entry, now_us);
		return;
	}
	if (n_raised || alert->n_findings != n)
		triad_alert_put_in_order(alert);
	if (n_raised && is_new) {
		raise_alert(alerts, alert, now_us);
	} else if (n_raised) {
		triad_silences_note(alerts->silences, alert);
		silence_alert(alerts, alert);
		triad_alerts_report(alerts, TRIAD_ALERT_JOINED, alert);
	}
}

bool triad_alerts_settle(
	struct triad_alerts *alerts, uint64_t now_us, uint32_t *cursor, uint32_t most)
{
	struct triad_alert_entry *entry = NULL;

	if (!*cursor)
		alerts->n_held = 0;
	for (uint32_t i = 0; i < most; i++) {
		entry = triad_alert_store_next(alerts->store, cursor);
		if (!entry)
			break;
		settle_findings(alerts, entry, now_us);
	}
	if (!entry) {
		alerts->counts.n_explained = alerts->n_held;
		triad_alerts_report_done(alerts);
	}
	return entry;
}

bool triad_alerts_silence(struct triad_alerts *alerts, uint32_t *cursor, uint32_t most)
{
	struct triad_alert_entry *entry = NULL;

	for (uint32_t i = 0; i < most; i++) {
		entry = triad_alert_store_next(alerts->store, cursor);
		if (!entry)
			break;
		if (entry->alert.state == TRIAD_ALERT_ACTIVE)
			silence_alert(alerts, &entry->alert);
	}
	if (!entry)
		triad_alerts_report_done(alerts);
	return entry;
}

void triad_alerts_end_sweep(struct triad_alerts *alerts, bool cut, uint64_t now_us)
{
	triad_alerts_note_sweep(alerts, now_us);
	if (!alerts->view || !alerts->params.enabled)
		return;
	for (uint32_t i = 0; !cut && i < alerts->view->fabric->n_nodes; i++) {
		const struct triad_alerts_node *node = &alerts->nodes[i];

		/* Most nodes answer, as before: skip them.  A node that answered in a
		 * sweep of some ports may still be silent at others. */
		if (node->asked &&
			(node->n_missed || (node->silent && !alerts->is_part)))
			judge_silence(alerts, i, now_us);
	}
}

/* --- configuration --- */

void triad_alerts_configure(struct triad_alerts *alerts,
	const struct triad_alerts_params *params, const struct triad_conf *conf,
	uint64_t now_us)
{
	struct triad_alert_entry *entry;
	uint32_t cursor = 0;

	alerts->params = *params;
	triad_limits_fill(&alerts->limits, conf);
	if (params->enabled) {
		if (alerts->view)
			triad_alerts_look_at_entries(alerts, now_us);
		return;
	}
	/* No sweep would end them any longer. */
	while ((entry = triad_alert_store_next(alerts->store, &cursor)))
		end_alert(alerts, entry, now_us);
	alerts->counts.n_explained = 0;
	triad_alerts_report_done(alerts);
}

/* --- reports of the SM --- */

void triad_alerts_note_sm(struct triad_alerts *alerts, uint16_t trap, uint16_t lid,
	uint8_t port, uint64_t now_us)
{
	const struct triad_sm_note note = {
		.at_us = now_us, .trap = trap, .lid = lid, .port = port};

	triad_sm_notes_add(&alerts->sm_notes, &note);
}

/* --- reading --- */

struct triad_alerts_counts triad_alerts_counts(const struct triad_alerts *alerts)
{
	return alerts->counts;
}

static bool copy_next(
	const struct triad_alerts *alerts, uint32_t *cursor, struct triad_alert *copy)
{
	uint64_t n_cleared = alerts->counts.n_cleared;

	/* The cursor covers the entries first, then the cleared alerts. */
	while (*cursor < TRIAD_ALERTS_MAX) {
		const struct triad_alert_entry *entry =
			triad_alert_store_next(alerts->store, cursor);

		if (!entry) {
			*cursor = TRIAD_ALERTS_MAX;
			break;
		}
		if (entry->alert.state == TRIAD_ALERT_ACTIVE) {
			*copy = entry->alert;
			return true;
		}
	}
	if (n_cleared > TRIAD_ALERTS_MAX_CLEARED)
		n_cleared = TRIAD_ALERTS_MAX_CLEARED;
	if (*cursor - TRIAD_ALERTS_MAX >= n_cleared)
		return false;
	*copy = alerts->cleared[(*cursor)++ - TRIAD_ALERTS_MAX];
	return true;
}

bool triad_alerts_next(
	const struct triad_alerts *alerts, uint32_t *cursor, struct triad_alert *copy)
{
	if (!copy_next(alerts, cursor, copy))
		return false;
	triad_alert_label(copy, alerts->view ? alerts->view->fabric : NULL);
	return true;
}

size_t triad_alerts_octets(const struct triad_alerts *alerts)
{
	size_t octets = sizeof(*alerts) + triad_alert_store_octets(alerts->store);

	if (alerts->view)
		octets += alerts->view->fabric->n_nodes *
				sizeof(struct triad_alerts_node) +
			alerts->view->fabric->n_ports *
				(2 * sizeof(bool) + sizeof(float));
	return octets;
}
