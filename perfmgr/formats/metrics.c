/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/metrics.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "perfmgr/formats/lost_links.h"
#include "perfmgr/groups.h"

/* The most that one step writes: a header and a line with two node names, each octet of
 * them escaped, or with labels of the caller's. */
#define STEP_SIZE 2048
#define NAME_SIZE 96

/* --- what there is ----------------------------------------------------- */

static const struct kind {
	enum triad_node_type type;
	const char *name;
} kinds[] = {
	{TRIAD_NODE_SWITCH, "switch"},
	{TRIAD_NODE_CA, "hca"},
	{TRIAD_NODE_ROUTER, "router"},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Of each kind: a family for each counter, then these. */
enum {
	RATE = TRIAD_N_COUNTERS,
	RAW_RATE,
	BEST_RATE,
	STATE,
	PHYS_STATE,
	FLAPS,
	UP,
	INFO,
	UPLINK_INFO,
	TIMEOUT,
	N_FAMILIES
};

static const struct family {
	enum triad_metric_type type;
	const char *name;    /* behind "infiniband_hca_" */
	const char *help[2]; /* before and behind the kind */
} families[N_FAMILIES] = {
	[RATE] = {TRIAD_METRIC_GAUGE, "rate_bytes_per_second",
		{"Data that the link of a ", " port carries each way."}},
	[RAW_RATE] = {TRIAD_METRIC_GAUGE, "raw_rate_bytes_per_second",
		{"Data and coding that the link of a ", " port carries each way."}},
	[BEST_RATE] = {TRIAD_METRIC_GAUGE, "port_best_rate_bytes_per_second",
		{"Data that both ends of the link of a ", " port could carry."}},
	[STATE] = {TRIAD_METRIC_GAUGE, "port_state",
		{"1 down, 2 init, 3 armed, 4 active; 0: not known, of a ", " port."}},
	[PHYS_STATE] = {TRIAD_METRIC_GAUGE, "port_physical_state",
		{"1 sleep, 2 polling, 3 disabled, 4 training, 5 link up, 6 recovery, of a ",
			" port."}},
	[FLAPS] = {TRIAD_METRIC_COUNTER, "port_flaps",
		{"Times that the link of a ", " port went down, as far as was seen."}},
	[UP] = {TRIAD_METRIC_GAUGE, "up",
		{"1 while the ", " is in the fabric, 0 after it left."}},
	[INFO] = {TRIAD_METRIC_INFO, "", {"Name and LID of a ", "."}},
	[UPLINK_INFO] = {TRIAD_METRIC_INFO, "uplink",
		{"What a ", " port is connected to."}},
	[TIMEOUT] = {TRIAD_METRIC_GAUGE, "collect_timeout",
		{"1 when a port of the ", " did not answer when it was last asked."}},
};

/* Where the text is. */
enum stage { OWN, PORTS, GONE_PORTS, TOTALS, END, DONE };

struct triad_metrics {
	enum triad_exposition_format format;
	struct triad_view *view;
	struct triad_metrics_filter filter;
	struct triad_lost_links lost;
	uint8_t *wanted; /* bit for each node of the fabric; NULL: all */
	struct triad_metric *own;
	size_t n_own;
	/* where it stands */
	enum stage stage;
	size_t next_own;
	unsigned kind, family;
	uint32_t port, gone;  /* of the fabric; of 'lost' */
	bool has_header;      /* of the family */
	char name[NAME_SIZE]; /* of the family */
	uint64_t guid;        /* that 'prefix' has, when it has a length */
	char prefix[2 * NAME_SIZE];
	size_t prefix_length;
	uint32_t n_asked[N_KINDS],
		n_silent[N_KINDS]; /* samples of TIMEOUT, those at 1 */
	/* what was written and has not been handed over */
	size_t pending_at, pending_size;
	char pending[STEP_SIZE];
};

/* --- lines ------------------------------------------------------------- */

static void put_header(struct triad_metrics *metrics, struct triad_exposition *writer,
	enum triad_metric_type type, const char *help)
{
	if (metrics->has_header)
		return;
	metrics->has_header = true;
	triad_exposition_header(writer, metrics->format, type, metrics->name, help);
}

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
	size_t length;

	name += strspn(name, " ");
	length = strlen(name);

	while (length && name[length - 1] == ' ')
		length--;
	triad_exposition_puts(writer, before);
	triad_exposition_value(writer, name, length);
}

static void put_header_of_family(
	struct triad_metrics *metrics, struct triad_exposition *writer)
{
	static const char *const units[] = {
		[TRIAD_UNIT_EVENTS] = "",
		[TRIAD_UNIT_WORDS] = ", in octets",
		[TRIAD_UNIT_PACKETS] = "",
		[TRIAD_UNIT_TICKS] = ", in ticks of the port",
	};
	const char *kind = kinds[metrics->kind].name;
	const struct triad_counter_info *counter;
	char help[160];

	if (metrics->has_header)
		return;
	if (metrics->family < TRIAD_N_COUNTERS) {
		counter = &triad_counters[metrics->family];
		snprintf(help, sizeof(help), "%s of a %s port%s.", counter->name, kind,
			units[counter->unit]);
		put_header(metrics, writer, TRIAD_METRIC_COUNTER, help);
	} else {
		snprintf(help, sizeof(help), "%s%s%s",
			families[metrics->family].help[0], kind,
			families[metrics->family].help[1]);
		put_header(metrics, writer, families[metrics->family].type, help);
	}
}

/* --- families ---------------------------------------------------------- */

static bool is_of_switch(const struct triad_metrics *metrics)
{
	return kinds[metrics->kind].type == TRIAD_NODE_SWITCH;
}

/* The name, and all of a line that does not depend on the port. */
static void begin_family(struct triad_metrics *metrics)
{
	const char *kind = kinds[metrics->kind].name;
	unsigned family = metrics->family;

	metrics->port = metrics->gone = 0;
	metrics->has_header = false;
	metrics->prefix_length = 0;
	if (family < TRIAD_N_COUNTERS)
		snprintf(metrics->name, NAME_SIZE, "infiniband_%s_port_%s", kind,
			triad_counters[family].metric);
	else if (is_of_switch(metrics) && (family == RATE || family == RAW_RATE))
		snprintf(metrics->name, NAME_SIZE, "infiniband_%s_port_%s", kind,
			families[family].name);
	else
		snprintf(metrics->name, NAME_SIZE, "infiniband_%s%s%s", kind,
			*families[family].name ? "_" : "", families[family].name);
}

/* Name, '{guid="0x..."': the same for all ports of a switch. */
static void put_prefix(struct triad_metrics *metrics, struct triad_exposition *writer,
	uint64_t guid, const char *suffix)
{
	if (!metrics->prefix_length || metrics->guid != guid) {
		struct triad_exposition prefix = {.at = metrics->prefix,
			.end = metrics->prefix + sizeof(metrics->prefix)};

		triad_exposition_puts(&prefix, metrics->name);
		triad_exposition_puts(&prefix, suffix);
		triad_exposition_puts(&prefix, "{guid=\"");
		triad_exposition_guid(&prefix, guid);
		triad_exposition_put(&prefix, "\"", 1);
		metrics->prefix_length = (size_t)(prefix.at - metrics->prefix);
		metrics->guid = guid;
	}
	triad_exposition_put(writer, metrics->prefix, metrics->prefix_length);
}

static void put_counter(struct triad_metrics *metrics, struct triad_exposition *writer,
	const struct triad_fabric_port *port, uint32_t index)
{
	unsigned counter = metrics->family;
	uint64_t total;

	/* Omit skipped ports: a frozen total would look idle. */
	if (triad_view_is_skipped(metrics->view, index) ||
		!triad_view_total(metrics->view, index, counter, &total))
		return;
	put_header_of_family(metrics, writer);
	put_prefix(metrics, writer, port->guid, "_total");
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
	put_header_of_family(metrics, writer);
	put_prefix(metrics, writer, port->guid, "");
	if (is_of_switch(metrics)) {
		put_uint_label(writer, ",port=\"", port->number);
		triad_exposition_put(writer, "\"", 1);
	}
	triad_exposition_puts(writer, "} ");
	triad_exposition_double(writer, (double)bps / 8);
	triad_exposition_put(writer, "\n", 1);
}

/* "guid,port} value" of a family whose values are whole numbers. */
static void put_value(struct triad_metrics *metrics, struct triad_exposition *writer,
	uint64_t guid, unsigned port, uint64_t value)
{
	put_header_of_family(metrics, writer);
	put_prefix(metrics, writer, guid, metrics->family == FLAPS ? "_total" : "");
	put_uint_label(writer, ",port=\"", port);
	triad_exposition_puts(writer, "\"} ");
	triad_exposition_uint(writer, value);
	triad_exposition_put(writer, "\n", 1);
}

static void put_up(struct triad_metrics *metrics, struct triad_exposition *writer,
	uint64_t guid, bool is_up)
{
	put_header_of_family(metrics, writer);
	put_prefix(metrics, writer, guid, "");
	triad_exposition_puts(writer, is_up ? "} 1\n" : "} 0\n");
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
		put_value(metrics, writer, port->guid, port->number, bps / 8);
}

static void put_info(struct triad_metrics *metrics, struct triad_exposition *writer,
	uint64_t guid, uint16_t lid, const char *name)
{
	put_header_of_family(metrics, writer);
	put_prefix(metrics, writer, guid, "_info");
	put_uint_label(writer, ",lid=\"", lid);
	triad_exposition_puts(writer, "\",");
	triad_exposition_puts(writer, kinds[metrics->kind].name);
	put_name_label(writer, "=\"", name);
	triad_exposition_puts(writer, "\"} 1\n");
}

/* As ibnetdiscover has it. */
static const char *short_type(unsigned type)
{
	static const char *const names[] = {"??", "CA", "SW", "RT"};

	return names[type <= TRIAD_NODE_ROUTER ? type : 0];
}

static void put_uplink(struct triad_metrics *metrics, struct triad_exposition *writer,
	const struct triad_link_end *near, const struct triad_link_end *far)
{
	put_header_of_family(metrics, writer);
	put_prefix(metrics, writer, near->port_guid, "_info");
	put_uint_label(writer, ",port=\"", near->port);
	triad_exposition_puts(writer, "\",");
	triad_exposition_puts(writer, kinds[metrics->kind].name);
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

/* What is plugged in at a port, or was when its link went down. */
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

static void put_flaps(struct triad_metrics *metrics, struct triad_exposition *writer,
	const struct triad_fabric_port *port)
{
	uint64_t guid = metrics->view->fabric->nodes[port->node].guid;
	const struct triad_lost_end *lost =
		triad_lost_links_find(&metrics->lost, guid, port->number);

	/* A counter must be there before it counts: so it is 0 for each link. */
	if (lost || port->remote != TRIAD_FABRIC_NONE)
		put_value(metrics, writer, port->guid, port->number,
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
		if (!triad_view_is_asked(view, i))
			continue;
		asked = true;
		silent |= !triad_view_read(view, i, &row) || !row.answered;
	}
	if (!asked)
		return;
	metrics->n_asked[metrics->kind]++;
	metrics->n_silent[metrics->kind] += silent;
	put_header_of_family(metrics, writer);
	put_prefix(metrics, writer, view->fabric->ports[port].guid, "");
	triad_exposition_puts(writer, ",collector=\"");
	triad_exposition_puts(writer, kinds[metrics->kind].name);
	triad_exposition_puts(writer, silent ? "\"} 1\n" : "\"} 0\n");
}

/* --- steps ------------------------------------------------------------- */

static void put_port(
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

	if (metrics->family < TRIAD_N_COUNTERS)
		put_counter(metrics, writer, port, index);
	else if (metrics->family == RATE || metrics->family == RAW_RATE)
		put_rate(metrics, writer, port);
	else if (metrics->family == BEST_RATE)
		put_best_rate(metrics, writer, port);
	else if (metrics->family == STATE && has_link)
		put_value(metrics, writer, port->guid, port->number, port->state);
	else if (metrics->family == PHYS_STATE && has_link)
		put_value(metrics, writer, port->guid, port->number, port->phys_state);
	else if (metrics->family == FLAPS)
		put_flaps(metrics, writer, port);
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
static void put_gone(struct triad_metrics *metrics, struct triad_exposition *writer,
	const struct triad_lost_end *gone, bool is_first)
{
	const struct triad_link_end *near = triad_lost_end_near(gone);
	bool is_whole = near->node_type == TRIAD_NODE_SWITCH;
	bool is_node_gone = triad_fabric_find_node(metrics->view->fabric,
				    near->node_guid) == TRIAD_FABRIC_NONE;

	if (metrics->family == STATE)
		put_value(metrics, writer, near->port_guid, near->port,
			gone->link->state == TRIAD_LINK_DOWN ? TRIAD_PORT_DOWN
							     : TRIAD_PORT_NOP);
	else if (metrics->family == FLAPS)
		put_value(metrics, writer, near->port_guid, near->port,
			triad_link_n_downs(gone->link));
	else if (metrics->family == UPLINK_INFO)
		put_uplink(metrics, writer, near, triad_lost_end_far(gone));
	else if (metrics->family == UP && is_node_gone && (is_first || !is_whole))
		put_up(metrics, writer, near->port_guid, false);
	else if (metrics->family == INFO && is_node_gone && (is_first || !is_whole))
		put_info(metrics, writer, near->port_guid, near->lid, near->node_name);
}

static bool is_wanted(const struct triad_metrics *metrics, uint32_t node)
{
	return metrics->view->fabric->nodes[node].type == kinds[metrics->kind].type &&
		(!metrics->wanted || metrics->wanted[node / 8] >> node % 8 & 1);
}

/* The first port from 'port' on whose node is wanted, or n_ports. */
static uint32_t next_wanted(const struct triad_metrics *metrics, uint32_t port)
{
	const struct triad_fabric *fabric = metrics->view->fabric;

	while (port < fabric->n_ports &&
		!is_wanted(metrics, fabric->ports[port].node)) {
		const struct triad_fabric_node *node =
			&fabric->nodes[fabric->ports[port].node];

		port = node->first_port + node->n_ports;
	}
	return port;
}

/* The next family, from 'family' on, that the filter wants; the end after the last. */
static void go_to_family(struct triad_metrics *metrics, unsigned family)
{
	uint32_t counters = metrics->filter.counters;

	/* A filter of counters leaves out the families that are none. */
	while (family < N_FAMILIES && counters &&
		(family >= TRIAD_N_COUNTERS || !(counters >> family & 1)))
		family++;
	if (family == N_FAMILIES && metrics->kind + 1 < N_KINDS) {
		metrics->kind++;
		go_to_family(metrics, 0);
		return;
	}
	metrics->family = family;
	if (family < N_FAMILIES)
		begin_family(metrics);
	else
		metrics->stage = TOTALS;
}

static void step_ports(struct triad_metrics *metrics, struct triad_exposition *writer)
{
	uint32_t port = next_wanted(metrics, metrics->port);

	if (port == metrics->view->fabric->n_ports) {
		metrics->stage = GONE_PORTS;
		return;
	}
	metrics->port = port + 1;
	put_port(metrics, writer, port);
}

static bool is_gone_wanted(
	const struct triad_metrics *metrics, const struct triad_link_end *end)
{
	const struct triad_metrics_filter *filter = &metrics->filter;

	if (end->node_type != kinds[metrics->kind].type ||
		(filter->types && !(filter->types >> end->node_type & 1)))
		return false;
	for (unsigned i = 0; i < filter->n_nodes; i++) {
		const struct triad_metrics_node *item = &filter->nodes[i];

		if (item->is_switch && end->node_type != TRIAD_NODE_SWITCH)
			continue;
		if (item->guid ? item->guid == end->node_guid ||
					item->guid == end->port_guid
			       : !fnmatch(item->pattern, end->node_name, 0))
			return true;
	}
	return !filter->n_nodes;
}

/* Behind the ports that are there, in each family, those that are not any more. */
static void step_gone(struct triad_metrics *metrics, struct triad_exposition *writer)
{
	const struct triad_lost_end *gone = &metrics->lost.gone[metrics->gone];
	const struct triad_link_end *near;
	bool is_first;

	if (metrics->gone == metrics->lost.n_gone) {
		metrics->stage = PORTS;
		go_to_family(metrics, metrics->family + 1);
		return;
	}
	near = triad_lost_end_near(gone);
	is_first = !metrics->gone ||
		triad_lost_end_near(gone - 1)->node_guid != near->node_guid;
	if (is_gone_wanted(metrics, near))
		put_gone(metrics, writer, gone, is_first);
	metrics->gone++;
}

static void step_totals(struct triad_metrics *metrics, struct triad_exposition *writer)
{
	metrics->stage = END;
	metrics->has_header = false;
	snprintf(metrics->name, NAME_SIZE, "infiniband_exporter_collect_timeouts");
	for (unsigned i = 0; i < N_KINDS; i++) {
		if (!metrics->n_asked[i])
			continue;
		put_header(metrics, writer, TRIAD_METRIC_GAUGE,
			"Switches, ports of HCAs or of routers that did not answer.");
		triad_exposition_puts(writer, metrics->name);
		triad_exposition_puts(writer, "{collector=\"");
		triad_exposition_puts(writer, kinds[i].name);
		triad_exposition_puts(writer, "\"} ");
		triad_exposition_uint(writer, metrics->n_silent[i]);
		triad_exposition_put(writer, "\n", 1);
	}
}

static void step_own(struct triad_metrics *metrics, struct triad_exposition *writer)
{
	const struct triad_metric *metric = &metrics->own[metrics->next_own];

	if (metrics->next_own == metrics->n_own) {
		/* Before there is a fabric, there are own metrics only. */
		metrics->stage = metrics->view ? PORTS : END;
		if (metrics->view)
			go_to_family(metrics, 0);
		return;
	}
	/* The metrics of one family stand together: the header is before the first. */
	if (!metrics->next_own || strcmp(metric[-1].name, metric->name))
		triad_exposition_header(writer, metrics->format, metric->type,
			metric->name, metric->help);
	triad_exposition_puts(writer, metric->name);
	triad_exposition_puts(writer, triad_exposition_suffix(metric->type));
	if (*metric->labels) {
		triad_exposition_put(writer, "{", 1);
		triad_exposition_puts(writer, metric->labels);
		triad_exposition_put(writer, "}", 1);
	}
	triad_exposition_put(writer, " ", 1);
	/* What an info says is in its labels. */
	triad_exposition_double(
		writer, metric->type == TRIAD_METRIC_INFO ? 1 : metric->value);
	triad_exposition_put(writer, "\n", 1);
	metrics->next_own++;
}

static void step(struct triad_metrics *metrics, struct triad_exposition *writer)
{
	switch (metrics->stage) {
	case OWN:
		step_own(metrics, writer);
		break;
	case PORTS:
		step_ports(metrics, writer);
		break;
	case GONE_PORTS:
		step_gone(metrics, writer);
		break;
	case TOTALS:
		step_totals(metrics, writer);
		break;
	case END:
		if (metrics->format == TRIAD_EXPOSITION_OPENMETRICS)
			triad_exposition_puts(writer, "# EOF\n");
		metrics->stage = DONE;
		break;
	case DONE:
		break;
	}
}

/* Steps until less than a step's room is left in 'to', or nothing is left to write. */
static size_t write_steps(struct triad_metrics *metrics, char *to, size_t size)
{
	struct triad_exposition writer = {.at = to, .end = to + size};

	do
		step(metrics, &writer);
	while (metrics->stage != DONE && writer.end - writer.at >= STEP_SIZE);
	return (size_t)(writer.at - to);
}

size_t triad_metrics_fill(struct triad_metrics *metrics, char *buffer, size_t size)
{
	size_t used = 0, n;

	while (used < size) {
		n = metrics->pending_size - metrics->pending_at;
		if (n) {
			/* First what a step wrote that did not fit into the last
			 * buffer. */
			n = n < size - used ? n : size - used;
			memcpy(buffer + used, metrics->pending + metrics->pending_at,
				n);
			metrics->pending_at += n;
			used += n;
		} else if (metrics->stage == DONE) {
			break;
		} else if (size - used >= STEP_SIZE) {
			used += write_steps(metrics, buffer + used, size - used);
		} else {
			/* A step may need more room than is left, so it is written here
			 * first. */
			metrics->pending_at = 0;
			metrics->pending_size =
				write_steps(metrics, metrics->pending, STEP_SIZE);
		}
	}
	return used;
}

/* --- life -------------------------------------------------------------- */

static bool has_guid(const struct triad_fabric *fabric,
	const struct triad_fabric_node *node, uint64_t guid)
{
	if (node->guid == guid)
		return true;
	for (uint32_t i = 0; i < node->n_ports; i++)
		if (fabric->ports[node->first_port + i].guid == guid)
			return true;
	return false;
}

static bool fits(const struct triad_metrics_filter *filter,
	const struct triad_fabric *fabric, const struct triad_fabric_node *node)
{
	if (filter->types && !(filter->types >> node->type & 1))
		return false;
	for (unsigned i = 0; i < filter->n_nodes; i++) {
		const struct triad_metrics_node *item = &filter->nodes[i];

		if (item->is_switch && node->type != TRIAD_NODE_SWITCH)
			continue;
		if (item->guid ? has_guid(fabric, node, item->guid)
			       : !fnmatch(item->pattern, node->name, 0))
			return true;
	}
	return !filter->n_nodes;
}

/* Names are compared once, not for each family. */
static bool choose_nodes(struct triad_metrics *metrics)
{
	const struct triad_fabric *fabric;

	if (!metrics->view || (!metrics->filter.types && !metrics->filter.n_nodes))
		return true;
	fabric = metrics->view->fabric;
	metrics->wanted = calloc(fabric->n_nodes / 8 + 1, 1);
	if (!metrics->wanted)
		return false;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (fits(&metrics->filter, fabric, &fabric->nodes[i]))
			metrics->wanted[i / 8] |= (uint8_t)(1u << i % 8);
	return true;
}

struct triad_metrics *triad_metrics_new(const struct triad_metrics_params *params)
{
	struct triad_metrics *metrics = calloc(1, sizeof(*metrics));

	if (!metrics)
		return NULL;
	metrics->format = params->format;
	metrics->filter = params->filter;
	metrics->n_own = params->n_own;
	if (params->view)
		metrics->view = triad_view_ref(params->view);
	/* The caller's array need not outlive the call. */
	metrics->own = calloc(metrics->n_own + 1, sizeof(*metrics->own));
	if (metrics->own && metrics->n_own)
		memcpy(metrics->own, params->own,
			metrics->n_own * sizeof(*metrics->own));
	if (!metrics->own || !choose_nodes(metrics) ||
		!triad_lost_links_init(&metrics->lost, params->links, params->n_links,
			params->view ? params->view->fabric : NULL)) {
		triad_metrics_free(metrics);
		return NULL;
	}
	return metrics;
}

void triad_metrics_free(struct triad_metrics *metrics)
{
	if (!metrics)
		return;
	triad_view_unref(metrics->view);
	triad_lost_links_clear(&metrics->lost);
	free(metrics->wanted);
	free(metrics->own);
	free(metrics);
}

void triad_metric_add_label(
	struct triad_metric *metric, const char *name, const char *value)
{
	size_t length = strlen(metric->labels);
	struct triad_exposition writer = {.at = metric->labels + length,
		.end = metric->labels + sizeof(metric->labels) - 1};

	if (length)
		triad_exposition_put(&writer, ",", 1);
	triad_exposition_puts(&writer, name);
	triad_exposition_puts(&writer, "=\"");
	triad_exposition_value(&writer, value, strlen(value));
	triad_exposition_put(&writer, "\"", 1);
	/* A label that does not fit is left out as a whole. */
	metric->labels[writer.cut ? length : (size_t)(writer.at - metric->labels)] =
		'\0';
}
