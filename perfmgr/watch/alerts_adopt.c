/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A new fabric: what was lost, what is back, what is no longer asked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/watch/alerts_parts.h"
#include "perfmgr/watch/losses.h"

struct adoption {
	struct triad_alerts *alerts;
	const struct triad_fabric *old;
	const uint32_t *new_port; /* for each port of 'old' */
	uint64_t now_us;
};

/* --- losses that are meant --- */

static bool was_taken_down(const struct adoption *adoption, uint32_t old_port)
{
	const struct triad_alerts_intent *intent = &adoption->alerts->intent;
	const struct triad_fabric_port *port = &adoption->old->ports[old_port];
	uint32_t now = adoption->new_port[old_port];

	return intent->took_down(intent->context, adoption->old->nodes[port->node].guid,
		port->number,
		now != TRIAD_FABRIC_NONE &&
			adoption->alerts->view->fabric->ports[now].phys_state ==
				TRIAD_PHYS_DISABLED);
}

/* True when each of its links was taken down on purpose, at either end. */
static bool is_meant(const struct adoption *adoption, const struct triad_loss *loss)
{
	if (!adoption->alerts->intent.took_down)
		return false;
	for (uint32_t i = 0; i < loss->n_links; i++)
		if (!was_taken_down(adoption, loss->ends[i]) &&
			!was_taken_down(
				adoption, adoption->old->ports[loss->ends[i]].remote))
			return false;
	return loss->n_links;
}

/* --- losses --- */

/* The alert of a loss; made when there is none.  ends[0] is what was lost.  An alert
 * that has ends[0] only as a place, or the near end with another far end, is about an
 * earlier loss. */
static struct triad_alert_entry *need_alert_of_loss(
	struct triad_alerts *alerts, const struct triad_alert_end *ends, unsigned n)
{
	struct triad_alert_entry *entry = NULL;

	for (unsigned i = 0; i < n; i++) {
		entry = triad_alerts_find_at(alerts, &ends[i]);
		if (entry &&
			triad_alert_index_of_end(
				&entry->alert, ends[0].node_guid, ends[0].port) < 2)
			return entry;
	}
	/* 'entry' is the near end's alert, if that has one. */
	if (n == 1 || !entry || entry->alert.n_ends == 2)
		return triad_alerts_add(alerts, ends, n);
	entry->alert.ends[1] = ends[0];
	entry->alert.n_ends = 2;
	triad_alerts_place(alerts, entry, &ends[0]);
	return entry;
}

/* A silent node has often died: its loss joins the alert about its silence.  Returns
 * NULL when there is none. */
static struct triad_alert_entry *find_alert_of_silence(struct triad_alerts *alerts,
	const struct triad_alert_end *node, const struct triad_alert_end *near)
{
	struct triad_alert_entry *entry = triad_alerts_find_at(alerts, node);

	if (!entry || triad_alerts_find_at(alerts, near))
		return NULL;
	if (entry->alert.n_ends == 1) {
		entry->alert.ends[1] = *near;
		entry->alert.n_ends = 2;
	}
	return entry;
}

/* Notes the conditions of the ports that an alert about a loss is at. */
static void note_conditions(
	const struct triad_alerts *alerts, struct triad_alert *alert)
{
	bool is_loss = false;

	for (unsigned i = 0; i < alert->n_findings; i++)
		is_loss |= triad_alert_is_loss(alert->findings[i].cause);
	for (unsigned i = 0; i < alert->n_ends; i++) {
		struct triad_alert_end *end = &alert->ends[i];

		end->condition = is_loss && end->port != TRIAD_ALERT_NO_PORT
			? triad_port_condition_at(
				  alerts->view->fabric, end->node_guid, end->port)
			: TRIAD_CONDITION_UNKNOWN;
	}
}

/* Notes how many nodes and links are gone.  A single link down later does not overwrite
 * that. */
static void note_size(struct triad_alert *alert, const struct triad_loss *loss)
{
	if (alert->n_nodes && !loss->nodes_gone)
		return;
	alert->n_nodes = loss->nodes_gone ? loss->n_nodes : 0;
	alert->n_links = loss->n_links;
}

/* Makes the alert of a loss, at the ends of its first link.  The other links' ports
 * become its places, so that findings there join it. */
static void adopt_loss(void *context, const struct triad_loss *loss)
{
	const struct adoption *adoption = context;
	struct triad_alerts *alerts = adoption->alerts;
	struct triad_alert_finding found = {.value = 1};
	bool is_alone = loss->near == TRIAD_FABRIC_NONE;
	struct triad_alert_end ends[2];
	struct triad_alert_entry *entry = NULL;

	if (is_meant(adoption, loss))
		return;
	ends[0] = triad_alerts_end_of_node(
		adoption->old, adoption->old->ports[loss->far].node);
	if (!is_alone)
		ends[1] = triad_alerts_end_of(adoption->old, loss->near);
	if (!is_alone && loss->nodes_gone)
		entry = find_alert_of_silence(alerts, &ends[0], &ends[1]);
	if (!is_alone && !entry)
		ends[0] = triad_alerts_end_of(adoption->old, loss->far);
	if (!entry)
		entry = need_alert_of_loss(alerts, ends, is_alone ? 1 : 2);
	if (!entry)
		return;
	note_size(&entry->alert, loss);
	triad_alert_note_over(&entry->alert,
		loss->nodes_gone ? TRIAD_ALERT_NODE_GONE : TRIAD_ALERT_LINK_DOWN,
		triad_alert_index_of_end(
			&entry->alert, ends[0].node_guid, ends[0].port),
		&found, adoption->now_us);
	for (uint32_t i = 0; i < loss->n_links; i++) {
		ends[1] = triad_alerts_end_of(adoption->old, loss->ends[i]);
		triad_alerts_place(alerts, entry, &ends[1]);
	}
	note_conditions(alerts, &entry->alert);
}

/* Copies the state of nodes that stayed. */
static void inherit_nodes(const struct triad_alerts *alerts,
	const struct triad_fabric *fabric, struct triad_alerts_node *nodes)
{
	const struct triad_fabric *old = alerts->view->fabric;
	uint32_t j = 0;

	/* Both are sorted by GUID: one walk over the two. */
	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		while (j < old->n_nodes && old->nodes[j].guid < fabric->nodes[i].guid)
			j++;
		if (j < old->n_nodes && old->nodes[j].guid == fabric->nodes[i].guid)
			nodes[i] = alerts->nodes[j];
	}
}

/* True when the lost node or link is there again. */
static bool is_back(const struct triad_fabric *fabric, const struct triad_alert *alert,
	const struct triad_alert_finding *finding)
{
	uint32_t port = triad_alerts_find_port(fabric, &alert->ends[finding->end]);

	if (finding->cause == TRIAD_ALERT_NODE_GONE)
		return port != TRIAD_FABRIC_NONE;
	return port != TRIAD_FABRIC_NONE &&
		fabric->ports[port].remote != TRIAD_FABRIC_NONE;
}

/* Ends the findings of an alert that the present fabric or configuration makes
 * obsolete. */
static void look_at_entry(
	struct triad_alerts *alerts, struct triad_alert *alert, uint64_t now_us)
{
	const struct triad_view *view = alerts->view;

	for (unsigned i = alert->n_findings; i-- > 0;) {
		struct triad_alert_finding *finding = &alert->findings[i];
		const struct triad_alert_end *end = &alert->ends[finding->end];
		bool is_loss = triad_alert_is_loss(finding->cause);

		if (alerts->is_idle && !(TRIAD_ALERT_OF_OTHERS >> finding->cause & 1)) {
			finding->judged = true; /* no sweep would end it */
			triad_alert_note_under(alert, finding, now_us);
			continue;
		}
		/* A port that left or is skipped is not read, so its findings are over.
		 * Its loss is another finding. */
		if (is_loss ? !alerts->params.links ||
					is_back(view->fabric, alert, finding)
			    : !triad_alerts_is_end_asked(view, end))
			triad_alert_note_under(alert, finding, now_us);
		else if (is_loss)
			finding->under_us = 0;
	}
	note_conditions(alerts, alert);
	for (unsigned i = 0; i < alert->n_ends; i++)
		if (alert->more[i] &&
			(alerts->is_idle ||
				!triad_alerts_is_end_asked(view, &alert->ends[i])))
			alert->more[i] = 0;
}

void triad_alerts_look_at_entries(struct triad_alerts *alerts, uint64_t now_us)
{
	struct triad_alert_entry *entry;
	uint32_t cursor = 0;

	while ((entry = triad_alert_store_next(alerts->store, &cursor)))
		look_at_entry(alerts, &entry->alert, now_us);
}

void triad_alerts_set_idle(struct triad_alerts *alerts, bool is_idle, uint64_t now_us)
{
	alerts->is_idle = is_idle;
	if (alerts->view)
		triad_alerts_look_at_entries(alerts, now_us);
}

static int find_losses(struct triad_alerts *alerts, struct triad_view *old,
	uint32_t *new_port, uint64_t now_us)
{
	struct adoption adoption = {.alerts = alerts,
		.old = old->fabric,
		.new_port = new_port,
		.now_us = now_us};

	if (!alerts->params.enabled || !alerts->params.links || alerts->is_idle)
		return 0;
	triad_losses_match_ports(old->fabric, alerts->view->fabric, new_port);
	return triad_losses_find(
		old->fabric, alerts->view->fabric, new_port, adopt_loss, &adoption);
}

/* Keeps what roots of congestion explain, until roots are searched again. */
static void inherit_explained(const struct triad_alerts *alerts,
	const struct triad_fabric *fabric, bool *explained)
{
	const struct triad_fabric *old = alerts->view->fabric;

	for (uint32_t i = 0; i < old->n_ports; i++) {
		uint32_t port = alerts->explained[i]
			? triad_fabric_find_same_port(fabric, old, i)
			: TRIAD_FABRIC_NONE;

		if (port != TRIAD_FABRIC_NONE)
			explained[port] = true;
	}
}

int triad_alerts_adopt(
	struct triad_alerts *alerts, struct triad_view *view, uint64_t now_us)
{
	const struct triad_fabric *fabric = view->fabric;
	struct triad_view *old = alerts->view;
	struct triad_alerts_node *nodes = calloc(fabric->n_nodes + 1, sizeof(*nodes));
	bool *flagged = calloc(fabric->n_ports + 1, sizeof(*flagged));
	bool *explained = calloc(fabric->n_ports + 1, sizeof(*explained));
	float *words_per_us = calloc(fabric->n_ports + 1, sizeof(*words_per_us));
	uint32_t n_old = old ? old->fabric->n_ports : 0;
	uint32_t *new_port = calloc(n_old + 1, sizeof(*new_port));

	if (!nodes || !flagged || !explained || !words_per_us || !new_port) {
		free(nodes);
		free(flagged);
		free(explained);
		free(words_per_us);
		free(new_port);
		return ENOMEM;
	}
	if (old) {
		inherit_nodes(alerts, fabric, nodes);
		inherit_explained(alerts, fabric, explained);
	}
	free(alerts->nodes);
	free(alerts->flagged);
	free(alerts->explained);
	free(alerts->words_per_us);
	alerts->nodes = nodes;
	alerts->flagged = flagged;
	alerts->explained = explained;
	alerts->words_per_us = words_per_us;
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		words_per_us[i] =
			(float)triad_fabric_port_words_per_us(&fabric->ports[i]);
	alerts->view = triad_view_ref(view);
	/* Flags are indexed by port, and the new fabric has other indices. */
	triad_alert_store_each_place(alerts->store, triad_alerts_flag, alerts);
	triad_alerts_look_at_entries(alerts, now_us);
	if (old)
		/* Without memory a loss raises no alert; LinkDownedCounter still
		 * may. */
		(void)find_losses(alerts, old, new_port, now_us);
	triad_view_unref(old);
	free(new_port);
	return 0;
}
