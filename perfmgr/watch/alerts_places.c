/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <string.h>

#include "perfmgr/watch/alerts_parts.h"

/* --- ends and the view's ports --- */

struct triad_alert_end triad_alerts_end_of_node(
	const struct triad_fabric *fabric, uint32_t index)
{
	const struct triad_fabric_node *node = &fabric->nodes[index];
	struct triad_alert_end end = {
		.node_guid = node->guid,
		.lid = node->n_ports ? fabric->ports[node->first_port].lid : 0,
		.node_type = node->type,
		.port = TRIAD_ALERT_NO_PORT,
		.label_digits = node->mark_digits,
	};

	memcpy(end.node_name, node->name, sizeof(end.node_name));
	return end;
}

struct triad_alert_end triad_alerts_end_of(
	const struct triad_fabric *fabric, uint32_t port)
{
	struct triad_alert_end end =
		triad_alerts_end_of_node(fabric, fabric->ports[port].node);

	end.lid = fabric->ports[port].lid;
	end.port = fabric->ports[port].number;
	return end;
}

uint32_t triad_alert_end_ports(const struct triad_fabric *fabric,
	const struct triad_alert_end *end, uint32_t *n)
{
	const struct triad_fabric_node *node =
		triad_fabric_node_by_guid(fabric, end->node_guid);
	uint32_t port;

	if (node && end->port == TRIAD_ALERT_NO_PORT) {
		*n = node->n_ports;
		return node->first_port;
	}
	port = triad_fabric_port_at(fabric, end->node_guid, end->port);
	*n = port != TRIAD_FABRIC_NONE;
	return port;
}

/* The index of the end's port; of a node, of its first port; or TRIAD_FABRIC_NONE. */
uint32_t triad_alerts_find_port(
	const struct triad_fabric *fabric, const struct triad_alert_end *end)
{
	uint32_t n;

	return triad_alert_end_ports(fabric, end, &n);
}

/* --- alerts at their places --- */

void triad_alerts_flag(void *context, uint64_t guid, uint8_t port)
{
	struct triad_alerts *alerts = context;
	struct triad_alert_end end = {.node_guid = guid, .port = port};
	uint32_t at = triad_alerts_find_port(alerts->view->fabric, &end);

	if (at != TRIAD_FABRIC_NONE && port != TRIAD_ALERT_NO_PORT)
		alerts->flagged[at] = true;
}

void triad_alerts_place(struct triad_alerts *alerts, struct triad_alert_entry *entry,
	const struct triad_alert_end *end)
{
	if (triad_alert_store_place(alerts->store, entry, end->node_guid, end->port))
		triad_alerts_flag(alerts, end->node_guid, end->port);
}

struct triad_alert_entry *triad_alerts_find_at(
	const struct triad_alerts *alerts, const struct triad_alert_end *end)
{
	return triad_alert_store_find(alerts->store, end->node_guid, end->port);
}

/* Adds an alert about the ends; NULL when there are too many. */
struct triad_alert_entry *triad_alerts_add(
	struct triad_alerts *alerts, const struct triad_alert_end *ends, unsigned n)
{
	struct triad_alert_entry *entry = triad_alert_store_add(alerts->store);

	if (!entry) {
		alerts->counts.n_not_kept++;
		return NULL;
	}
	entry->alert.n_ends = (uint8_t)n;
	for (unsigned i = 0; i < n; i++) {
		entry->alert.ends[i] = ends[i];
		triad_alerts_place(alerts, entry, &ends[i]);
	}
	return entry;
}

/* Adds an alert about a port that has none.  Without a place it could not be found
 * again, and each sweep would add one more. */
static struct triad_alert_entry *add_placed_alert(
	struct triad_alerts *alerts, const struct triad_alert_end *ends, unsigned n)
{
	struct triad_alert_entry *entry = triad_alerts_add(alerts, ends, n);

	if (!entry || triad_alerts_find_at(alerts, &ends[0]) == entry)
		return entry;
	triad_alert_store_remove(alerts->store, entry);
	alerts->counts.n_not_kept++;
	return NULL;
}

/* The alert of the link at 'port', made when there is none. */
struct triad_alert_entry *triad_alerts_need(struct triad_alerts *alerts, uint32_t port)
{
	const struct triad_fabric *fabric = alerts->view->fabric;
	struct triad_alert_end ends[2] = {triad_alerts_end_of(fabric, port)};
	uint32_t remote = fabric->ports[port].remote;
	struct triad_alert_entry *entry = triad_alerts_find_at(alerts, &ends[0]);

	if (entry || remote == TRIAD_FABRIC_NONE)
		return entry ? entry : add_placed_alert(alerts, ends, 1);
	ends[1] = triad_alerts_end_of(fabric, remote);
	entry = triad_alerts_find_at(alerts, &ends[1]);
	/* The far end's alert is about an earlier link of that port. */
	if (entry && entry->alert.n_ends == 2)
		return add_placed_alert(alerts, ends, 1);
	if (!entry)
		return add_placed_alert(alerts, ends, 2);
	entry->alert.ends[1] = ends[0];
	entry->alert.n_ends = 2;
	triad_alerts_place(alerts, entry, &ends[0]);
	return entry;
}

/* --- places in the view --- */

/* True when sweeps ask the end's port, or for a node any of its ports. */
bool triad_alerts_is_end_asked(
	const struct triad_view *view, const struct triad_alert_end *end)
{
	uint32_t n, port = triad_alert_end_ports(view->fabric, end, &n);

	for (uint32_t i = 0; i < n; i++)
		if (triad_view_is_asked(view, port + i))
			return true;
	return false;
}

const struct triad_limits *triad_alerts_limits_of(
	const struct triad_alerts *alerts, uint32_t port)
{
	const struct triad_view *view = alerts->view;
	unsigned type = view->fabric->nodes[view->fabric->ports[port].node].type;

	if (type >= TRIAD_LIMITS_N_TYPES)
		type = 0;
	return &alerts->limits.rows[type][view->group[port]];
}
