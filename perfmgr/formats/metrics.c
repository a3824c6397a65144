/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "perfmgr/formats/metrics_parts.h"
#include "perfmgr/groups.h"

/* --- steps ------------------------------------------------------------- */

static bool is_wanted_node(const struct triad_metrics *metrics, uint32_t node)
{
	return metrics->view->fabric->nodes[node].type ==
		triad_metrics_kinds[metrics->kind].type &&
		(!metrics->wanted || metrics->wanted[node / 8] >> node % 8 & 1);
}

/* The first port from 'port' on whose node passes the filter, or n_ports. */
static uint32_t next_wanted(const struct triad_metrics *metrics, uint32_t port)
{
	const struct triad_fabric *fabric = metrics->view->fabric;

	while (port < fabric->n_ports &&
		!is_wanted_node(metrics, fabric->ports[port].node)) {
		const struct triad_fabric_node *node =
			&fabric->nodes[fabric->ports[port].node];

		port = node->first_port + node->n_ports;
	}
	return port;
}

/* True for a detail field that was read of no port: skip all ports at once. */
static bool is_unread_detail(const struct triad_metrics *metrics, unsigned family)
{
	const struct triad_detail_field *field = triad_metrics_detail(family);

	return field &&
		!(field->attributes &
			triad_details_any(triad_engine_details(metrics->view->engine)));
}

static bool is_unknown_hardware(const struct triad_metrics *metrics, unsigned family)
{
	unsigned rank;

	return !metrics->hardware.read && triad_metrics_is_hardware(family, &rank);
}

/* Goes to the next family, from 'family' on, that the filter takes; the end after the
 * last. */
static void go_to_family(struct triad_metrics *metrics, unsigned family)
{
	uint32_t counters = metrics->filter.counters;

	/* A filter of counters takes only families of counters. */
	while (family < triad_metrics_n_families &&
		((counters &&
			 (family >= TRIAD_N_COUNTERS || !(counters >> family & 1))) ||
			is_unread_detail(metrics, family) ||
			is_unknown_hardware(metrics, family)))
		family++;
	if (family == triad_metrics_n_families &&
		metrics->kind + 1 < TRIAD_METRICS_N_KINDS) {
		metrics->kind++;
		go_to_family(metrics, 0);
		return;
	}
	metrics->family = family;
	if (family < triad_metrics_n_families)
		triad_metrics_begin_family(metrics);
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
	triad_metrics_put_port(metrics, writer, port);
}

static bool is_gone_wanted(
	const struct triad_metrics *metrics, const struct triad_link_end *end)
{
	const struct triad_metrics_filter *filter = &metrics->filter;

	if (end->node_type != triad_metrics_kinds[metrics->kind].type ||
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

/* Writes, in each family, ports that left, after those that are there. */
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
		triad_metrics_put_gone(metrics, writer, gone, is_first);
	metrics->gone++;
}

static void step_totals(struct triad_metrics *metrics, struct triad_exposition *writer)
{
	metrics->stage = END;
	metrics->has_header = false;
	snprintf(metrics->name, TRIAD_METRICS_NAME_SIZE,
		"infiniband_exporter_collect_timeouts");
	for (unsigned i = 0; i < TRIAD_METRICS_N_KINDS; i++) {
		if (!metrics->n_asked[i])
			continue;
		triad_metrics_put_header(metrics, writer, TRIAD_METRIC_GAUGE,
			"Switches, ports of HCAs or of routers that did not answer.");
		triad_exposition_puts(writer, metrics->name);
		triad_exposition_puts(writer, "{collector=\"");
		triad_exposition_puts(writer, triad_metrics_kinds[i].name);
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
	triad_exposition_puts(writer,
		metric->part ? metric->part : triad_exposition_suffix(metric->type));
	if (*metric->labels) {
		triad_exposition_put(writer, "{", 1);
		triad_exposition_puts(writer, metric->labels);
		triad_exposition_put(writer, "}", 1);
	}
	triad_exposition_put(writer, " ", 1);
	/* An info has its content in labels. */
	triad_exposition_double(
		writer, metric->type == TRIAD_METRIC_INFO ? 1 : metric->value);
	triad_exposition_put(writer, "\n", 1);
	metrics->next_own++;
}

static void write_step(struct triad_metrics *metrics, struct triad_exposition *writer)
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
		write_step(metrics, &writer);
	while (metrics->stage != DONE &&
		writer.end - writer.at >= TRIAD_METRICS_STEP_SIZE);
	return (size_t)(writer.at - to);
}

size_t triad_metrics_fill(struct triad_metrics *metrics, char *buffer, size_t size)
{
	size_t used = 0, n;

	while (used < size) {
		n = metrics->pending_size - metrics->pending_at;
		if (n) {
			/* First the text of a step that did not fit into the last
			 * buffer. */
			n = n < size - used ? n : size - used;
			memcpy(buffer + used, metrics->pending + metrics->pending_at,
				n);
			metrics->pending_at += n;
			used += n;
		} else if (metrics->stage == DONE) {
			break;
		} else if (size - used >= TRIAD_METRICS_STEP_SIZE) {
			used += write_steps(metrics, buffer + used, size - used);
		} else {
			/* A step may need more room than is left: write it here
			 * first. */
			metrics->pending_at = 0;
			metrics->pending_size = write_steps(
				metrics, metrics->pending, TRIAD_METRICS_STEP_SIZE);
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

	if (!metrics) {
		free(params->routes);
		return NULL;
	}
	metrics->routes = params->routes;
	if (params->silences) {
		metrics->silences = malloc(sizeof(*metrics->silences));
		if (metrics->silences)
			*metrics->silences = *params->silences;
	}
	metrics->format = params->format;
	metrics->filter = params->filter;
	if (params->hardware)
		metrics->hardware = *params->hardware;
	metrics->n_own = params->n_own;
	if (params->view)
		metrics->view = triad_view_ref(params->view);
	/* The caller's array need not outlive the call. */
	metrics->own = calloc(metrics->n_own + 1, sizeof(*metrics->own));
	if (metrics->own && metrics->n_own)
		memcpy(metrics->own, params->own,
			metrics->n_own * sizeof(*metrics->own));
	if (!metrics->own || (params->silences && !metrics->silences) ||
		!choose_nodes(metrics) ||
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
	free(metrics->silences);
	free(metrics->routes);
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
