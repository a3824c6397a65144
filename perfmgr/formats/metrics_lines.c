/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lines of counters, links and nodes for a port. */

#include "perfmgr/formats/metrics_families.h"

/* --- lines ------------------------------------------------------------- */

static void put_uint_label(
	struct triad_exposition *writer, const char *before, uint64_t number)
{
	triad_exposition_puts(writer, before);
	triad_exposition_uint(writer, number);
}

/* A node's name without the blanks around it. */
static void put_name_label(
	struct triad_exposition *writer, const char *before, const char *name)
{
	triad_exposition_puts(writer, before);
	triad_exposition_value(writer, name, strlen(name));
}

/* A switch's port that has no link, and had none as far as known; port 0 needs none. */
static bool is_free(
	const struct triad_metrics *metrics, const struct triad_fabric_port *port)
{
	uint64_t guid = metrics->view->fabric->nodes[port->node].guid;

	return port->number && port->remote == TRIAD_FABRIC_NONE &&
		!triad_lost_links_find(&metrics->lost, guid, port->number);
}

static void put_counter(struct triad_metrics *metrics, struct triad_exposition *writer,
	const struct triad_fabric_port *port, uint32_t index)
{
	unsigned counter = metrics->family;
	uint64_t total;

	/* Omit skipped ports: a frozen total would look idle. */
	if (triad_view_is_skipped(metrics->view, index) ||
		!triad_view_total(metrics->view, index, counter, &total) ||
		(!total && is_free(metrics, port)))
		return;
	triad_metrics_put_family_header(metrics, writer);
	triad_metrics_put_prefix(metrics, writer, port->guid, "_total");
	triad_exposition_put(writer, ",port=\"", 7);
	triad_exposition_uint(writer, port->number);
	triad_exposition_put(writer, "\"} ", 3);
	if (triad_counters[counter].unit == TRIAD_UNIT_WORDS)
		triad_exposition_octets(writer, total);
	else
		triad_exposition_uint(writer, total);
	triad_exposition_put(writer, "\n", 1);
}

static void put_rate(struct triad_metrics *metrics, struct triad_exposition *writer,
	const struct triad_fabric_port *port)
{
	uint64_t bps = metrics->family == RATE ? triad_fabric_port_bps(port)
					       : triad_fabric_port_signal_bps(port);

	if (!bps || port->remote == TRIAD_FABRIC_NONE)
		return;
	triad_metrics_put_family_header(metrics, writer);
	triad_metrics_put_prefix(metrics, writer, port->guid, "");
	if (is_of_switch(metrics)) {
		put_uint_label(writer, ",port=\"", port->number);
		triad_exposition_put(writer, "\"", 1);
	}
	triad_exposition_puts(writer, "} ");
	triad_exposition_double(writer, (double)bps / 8);
	triad_exposition_put(writer, "\n", 1);
}

/* "guid,port} value" of a family whose values are whole numbers. */
static void put_whole_value(struct triad_metrics *metrics,
	struct triad_exposition *writer, uint64_t guid, unsigned port, uint64_t value)
{
	triad_metrics_put_family_header(metrics, writer);
	triad_metrics_put_prefix(
		metrics, writer, guid, metrics->family == FLAPS ? "_total" : "");
	put_uint_label(writer, ",port=\"", port);
	triad_exposition_puts(writer, "\"} ");
	triad_exposition_uint(writer, value);
	triad_exposition_put(writer, "\n", 1);
}

static void put_up(struct triad_metrics *metrics, struct triad_exposition *writer,
	uint64_t guid, bool is_up)
{
	triad_metrics_put_family_header(metrics, writer);
	triad_metrics_put_prefix(metrics, writer, guid, "");
	triad_exposition_puts(writer, is_up ? "} 1\n" : "} 0\n");
}

static bool is_silenced(const struct triad_metrics *metrics,
	const struct triad_link_end *end, uint8_t port)
{
	return triad_silences_fit_end(
		metrics->silences, end->node_guid, end->node_name, port);
}

/* A port is silenced with either end of its link, and so is an HCA's port as a whole; a
 * switch only with itself.  'far' may be NULL. */
static void put_silenced(struct triad_metrics *metrics, struct triad_exposition *writer,
	uint64_t guid, const struct triad_link_end *near,
	const struct triad_link_end *far)
{
	bool is_port = metrics->family == PORT_SILENCED;
	bool is_link = is_port || !is_of_switch(metrics);

	if (!(!is_port && is_silenced(metrics, near, TRIAD_ALERT_NO_PORT)) &&
		!(is_link && is_silenced(metrics, near, near->port)) &&
		!(is_link && far && is_silenced(metrics, far, far->port)))
		return;
	if (is_port)
		put_whole_value(metrics, writer, guid, near->port, 1);
	else
		put_up(metrics, writer, guid, true);
}

static void put_best_rate(struct triad_metrics *metrics,
	struct triad_exposition *writer, const struct triad_fabric_port *port)
{
	const struct triad_fabric_port *ports = metrics->view->fabric->ports;
	uint64_t bps = 0;

	if (port->remote != TRIAD_FABRIC_NONE)
		bps = triad_link_rate_bps(
			triad_link_rate_best(port, &ports[port->remote]));
	if (bps)
		put_whole_value(metrics, writer, port->guid, port->number, bps / 8);
}

static void put_info(struct triad_metrics *metrics, struct triad_exposition *writer,
	uint64_t guid, uint16_t lid, const char *name)
{
	triad_metrics_put_family_header(metrics, writer);
	triad_metrics_put_prefix(metrics, writer, guid, "_info");
	put_uint_label(writer, ",lid=\"", lid);
	triad_exposition_puts(writer, "\",");
	triad_exposition_puts(writer, triad_metrics_kinds[metrics->kind].name);
	put_name_label(writer, "=\"", name);
	triad_exposition_puts(writer, "\"} 1\n");
}

/* As ibnetdiscover prints it. */
static const char *short_type(unsigned type)
{
	static const char *const names[] = {"??", "CA", "SW", "RT"};

	return names[type <= TRIAD_NODE_ROUTER ? type : 0];
}

static void put_uplink(struct triad_metrics *metrics, struct triad_exposition *writer,
	const struct triad_link_end *near, const struct triad_link_end *far)
{
	triad_metrics_put_family_header(metrics, writer);
	triad_metrics_put_prefix(metrics, writer, near->port_guid, "_info");
	put_uint_label(writer, ",port=\"", near->port);
	triad_exposition_puts(writer, "\",");
	triad_exposition_puts(writer, triad_metrics_kinds[metrics->kind].name);
	put_name_label(writer, "=\"", near->node_name);
	put_name_label(writer, "\",uplink=\"", far->node_name);
	triad_exposition_puts(writer, "\",uplink_guid=\"");
	triad_exposition_guid(writer, far->port_guid);
	put_uint_label(writer, "\",uplink_lid=\"", far->lid);
	put_uint_label(writer, "\",uplink_port=\"", far->port);
	triad_exposition_puts(writer, "\",uplink_type=\"");
	triad_exposition_puts(writer, short_type(far->node_type));
	triad_exposition_puts(writer, "\"} 1\n");
}

/* Writes what is plugged in at a port, or was when its link went down. */
static void put_uplink_of(struct triad_metrics *metrics,
	struct triad_exposition *writer, const struct triad_fabric_port *port)
{
	const struct triad_fabric *fabric = metrics->view->fabric;
	const struct triad_lost_end *lost;
	struct triad_link_end near, far;

	if (port->remote != TRIAD_FABRIC_NONE) {
		triad_link_end_describe(&near, fabric, port);
		triad_link_end_describe(&far, fabric, &fabric->ports[port->remote]);
		put_uplink(metrics, writer, &near, &far);
		return;
	}
	lost = triad_lost_links_find(
		&metrics->lost, fabric->nodes[port->node].guid, port->number);
	if (lost)
		put_uplink(metrics, writer, triad_lost_end_near(lost),
			triad_lost_end_far(lost));
}

static void put_silenced_of(struct triad_metrics *metrics,
	struct triad_exposition *writer, const struct triad_fabric_port *port)
{
	const struct triad_fabric *fabric = metrics->view->fabric;
	const struct triad_lost_end *lost;
	struct triad_link_end near, far;
	bool has_far = port->remote != TRIAD_FABRIC_NONE;

	if (!metrics->silences)
		return;
	triad_link_end_describe(&near, fabric, port);
	if (has_far)
		triad_link_end_describe(&far, fabric, &fabric->ports[port->remote]);
	lost = triad_lost_links_find(&metrics->lost, near.node_guid, near.port);
	put_silenced(metrics, writer, port->guid, &near,
		has_far        ? &far
			: lost ? triad_lost_end_far(lost)
			       : NULL);
}

static void put_flaps(struct triad_metrics *metrics, struct triad_exposition *writer,
	const struct triad_fabric_port *port)
{
	uint64_t guid = metrics->view->fabric->nodes[port->node].guid;
	const struct triad_lost_end *lost =
		triad_lost_links_find(&metrics->lost, guid, port->number);

	/* Write 0 for links that never went down: Prometheus sees an increase only from
	 * a sample before. */
	if (lost || port->remote != TRIAD_FABRIC_NONE)
		put_whole_value(metrics, writer, port->guid, port->number,
			lost ? triad_link_n_downs(lost->link) : 0);
}

/* About 'n' ports from 'port' on. */
static void put_timeout(struct triad_metrics *metrics, struct triad_exposition *writer,
	uint32_t port, uint32_t n)
{
	const struct triad_view *view = metrics->view;
	bool asked = false, silent = false;
	struct triad_engine_row row;

	for (uint32_t i = port; i < port + n; i++) {
		if (!triad_view_is_asked(view, i) || !triad_view_read(view, i, &row) ||
			!row.was_asked)
			continue;
		asked = true;
		silent |= !row.answered;
	}
	if (!asked)
		return;
	metrics->n_asked[metrics->kind]++;
	metrics->n_silent[metrics->kind] += silent;
	triad_metrics_put_family_header(metrics, writer);
	triad_metrics_put_prefix(metrics, writer, view->fabric->ports[port].guid, "");
	triad_exposition_puts(writer, ",collector=\"");
	triad_exposition_puts(writer, triad_metrics_kinds[metrics->kind].name);
	triad_exposition_puts(writer, silent ? "\"} 1\n" : "\"} 0\n");
}

void triad_metrics_put_port(
	struct triad_metrics *metrics, struct triad_exposition *writer, uint32_t index)
{
	const struct triad_fabric *fabric = metrics->view->fabric;
	const struct triad_fabric_port *port = &fabric->ports[index];
	const struct triad_fabric_node *node = &fabric->nodes[port->node];
	/* A switch is one thing, each port of an HCA another. */
	bool is_whole = node->type == TRIAD_NODE_SWITCH;
	bool is_first = !is_whole || index == node->first_port;

	/* A switch's port 0 has no link. */
	bool has_link = !is_whole || port->number;
	unsigned rank;

	if (metrics->family < TRIAD_N_COUNTERS)
		put_counter(metrics, writer, port, index);
	else if (triad_metrics_is_hardware(metrics->family, &rank))
		triad_metrics_put_hardware(metrics, writer, rank, index);
	else if (triad_metrics_detail(metrics->family))
		triad_metrics_put_detail(metrics, writer, index);
	else if (metrics->family == RATE || metrics->family == RAW_RATE)
		put_rate(metrics, writer, port);
	else if (metrics->family == BEST_RATE)
		put_best_rate(metrics, writer, port);
	else if (metrics->family == STATE && has_link)
		put_whole_value(metrics, writer, port->guid, port->number, port->state);
	else if (metrics->family == PHYS_STATE && has_link)
		put_whole_value(
			metrics, writer, port->guid, port->number, port->phys_state);
	else if (metrics->family == FLAPS)
		put_flaps(metrics, writer, port);
	else if (metrics->family == ROUTES && metrics->routes &&
		port->remote != TRIAD_FABRIC_NONE)
		put_whole_value(metrics, writer, port->guid, port->number,
			metrics->routes[index]);
	else if (metrics->family == SILENCED && is_first)
		put_silenced_of(metrics, writer, port);
	else if (metrics->family == PORT_SILENCED && has_link)
		put_silenced_of(metrics, writer, port);
	else if (metrics->family == UPLINK_INFO)
		put_uplink_of(metrics, writer, port);
	else if (metrics->family == UP && is_first)
		put_up(metrics, writer, port->guid, true);
	else if (metrics->family == INFO && is_first)
		put_info(metrics, writer, port->guid, port->lid, node->name);
	else if (metrics->family == TIMEOUT && is_first)
		put_timeout(metrics, writer, index, is_whole ? node->n_ports : 1);
}

/* The end of a link whose port left the fabric; 'is_first': of its node. */
void triad_metrics_put_gone(struct triad_metrics *metrics,
	struct triad_exposition *writer, const struct triad_lost_end *gone,
	bool is_first)
{
	const struct triad_link_end *near = triad_lost_end_near(gone);
	bool is_whole = near->node_type == TRIAD_NODE_SWITCH;
	bool is_node_gone = triad_fabric_find_node(metrics->view->fabric,
				    near->node_guid) == TRIAD_FABRIC_NONE;

	if (metrics->family == STATE)
		put_whole_value(metrics, writer, near->port_guid, near->port,
			gone->link->state == TRIAD_LINK_DOWN ? TRIAD_PORT_DOWN
							     : TRIAD_PORT_NOP);
	else if (metrics->family == FLAPS)
		put_whole_value(metrics, writer, near->port_guid, near->port,
			triad_link_n_downs(gone->link));
	else if (metrics->family == UPLINK_INFO)
		put_uplink(metrics, writer, near, triad_lost_end_far(gone));
	else if (metrics->silences &&
		(metrics->family == PORT_SILENCED ||
			(metrics->family == SILENCED && is_node_gone &&
				(is_first || !is_whole))))
		put_silenced(metrics, writer, near->port_guid, near,
			triad_lost_end_far(gone));
	else if (metrics->family == UP && is_node_gone && (is_first || !is_whole))
		put_up(metrics, writer, near->port_guid, false);
	else if (metrics->family == INFO && is_node_gone && (is_first || !is_whole))
		put_info(metrics, writer, near->port_guid, near->lid, near->node_name);
}
