/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/health_links.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/node_label.h"
#include "ib/port_condition.h"
#include "ib/slow_links.h"
#include "lib/text.h"
#include "perfmgr/watch/alert_kind.h"
#include "service/health.h"
#include "service/service.h"

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void format_port(
	char *text, size_t size, const struct triad_fabric *fabric, uint32_t port)
{
	snprintf(text, size, "%s", triad_port_label(fabric, port).text);
}

static void format_end(char *text, size_t size, const struct triad_fabric *fabric,
	const struct triad_link_end *end)
{
	snprintf(text, size, "%s",
		triad_port_label_of(fabric, end->node_guid, end->node_name, end->port)
			.text);
}

/* Links that are down and not silenced. */
static uint32_t count_links_to_report(
	struct triad_watch *watch, const struct triad_watch_status *status)
{
	struct triad_link link;
	uint32_t cursor = 0, n = 0;

	if (!status->n_silences)
		return status->links.n_down;
	while (triad_watch_next_link(watch, &cursor, &link))
		n += link.state == TRIAD_LINK_DOWN &&
			!triad_watch_is_link_silenced(watch, &link);
	return n;
}

/* Whether the port is one that is up but silent, and that no alert is about: it was so
 * before anybody looked. */
static bool is_silent(
	struct triad_watch *watch, const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *at = &fabric->ports[port];
	struct triad_link link = {0};

	if (triad_port_condition(fabric, port, false) != TRIAD_CONDITION_SILENT ||
		triad_watch_find_link(
			watch, fabric->nodes[at->node].guid, at->number, &link))
		return false;
	triad_link_end_describe(&link.ends[0], fabric, at);
	return !triad_watch_is_link_silenced(watch, &link);
}

static void add_silent_ports(struct triad_health *health, struct triad_watch *watch,
	const struct triad_fabric *fabric)
{
	struct triad_health_finding finding = {.severity = TRIAD_WARNING};

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (is_silent(watch, fabric, i) && !finding.weight++)
			format_port(finding.at, sizeof(finding.at), fabric, i);
	if (!finding.weight)
		return;
	snprintf(finding.what, sizeof(finding.what), "%s",
		triad_port_condition_text(TRIAD_CONDITION_SILENT));
	if (finding.weight > 1)
		triad_text_append(finding.what, sizeof(finding.what),
			"; %" PRIu32 " such ports: 'triadctl ports --state silent'",
			finding.weight);
	snprintf(finding.advice, sizeof(finding.advice), "%s",
		triad_port_condition_advice(TRIAD_CONDITION_SILENT));
	triad_health_add(health, &finding);
}

/* Whether a node description is as hosts set it: the host's name, and that of its device,
 * which no other device of the host has.  What a device has before, from its factory, is of
 * more words, or ends in a word. */
static bool names_host_and_device(const char *name)
{
	const char *device = strchr(name, ' ');
	size_t length;

	if (!device || device == name)
		return false;
	device += strspn(device, " ");
	length = strlen(device);
	return length && !strchr(device, ' ') &&
		isdigit((unsigned char)device[length - 1]);
}

static void add_hosts_of_one_name(
	struct triad_health *health, const struct triad_fabric *fabric)
{
	struct triad_health_finding finding = {
		.severity = TRIAD_WARNING, .is_alone = true};

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		const struct triad_fabric_node *node = &fabric->nodes[i];

		/* Nodes of one name have marks. */
		if (node->type != TRIAD_NODE_CA || !node->mark_digits ||
			!names_host_and_device(node->name))
			continue;
		if (!finding.weight++)
			snprintf(finding.at, sizeof(finding.at), "%s",
				triad_node_label(node).text);
		else if (finding.weight == 2)
			snprintf(finding.far_end, sizeof(finding.far_end), "%s",
				triad_node_label(node).text);
	}
	if (!finding.weight)
		return;
	snprintf(finding.what, sizeof(finding.what),
		"hosts of one name: %" PRIu32 " adapters have the node description of "
		"another",
		finding.weight);
	snprintf(finding.advice, sizeof(finding.advice),
		"give each host a name of its own: what names one of these means all "
		"('triadctl nodes' lists them with a # and digits of their GUIDs)");
	triad_health_add(health, &finding);
}

/* Where all links are below what their ends can, the fabric is meant so: that is not said. */
static void describe_slow_links(
	const struct triad_slow_counts *slow, char *text, size_t size)
{
	text[0] = '\0';
	if (slow->n_faults)
		triad_text_append(text, size, ", %" PRIu32 " slow", slow->n_faults);
	if (slow->n_by_end)
		triad_text_append(
			text, size, ", %" PRIu32 " with a slow end", slow->n_by_end);
}

void triad_links_add_health(struct triad_health *health, struct triad_service *service)
{
	struct triad_watch *watch = triad_perf_watch(service->perf);
	const struct triad_watch_status status = triad_watch_status(watch);
	uint32_t n_down = status.links.n_down, n_read;
	struct triad_view *view = triad_perf_view(service->perf);
	struct triad_fabric_counts counts;
	enum triad_severity severity = TRIAD_OK;
	char slow[80];

	health->n_links_down = n_down;
	health->knows_since_us = status.knows_since_us;
	if (!view) {
		triad_health_line_off(health, "ports", "Ports", "none known yet");
		return;
	}
	counts = triad_fabric_count(view->fabric);
	n_read = health->n_ports - health->n_unanswered;
	describe_slow_links(&status.slow, slow, sizeof(slow));
	add_silent_ports(health, watch, view->fabric);
	add_hosts_of_one_name(health, view->fabric);
	triad_view_unref(view);
	if (count_links_to_report(watch, &status) || health->n_unanswered)
		severity = TRIAD_WARNING;
	triad_health_line(health, "ports", "Ports", severity,
		"%" PRIu32 " link%s up, %" PRIu32 " down that %s up%s; %" PRIu32
		" port%s read, %" PRIu32 " unanswered",
		counts.n_links, plural(counts.n_links), n_down,
		n_down == 1 ? "was" : "were", slow, n_read, plural(n_read),
		health->n_unanswered);
}

/* --- without alerts --- */

static enum triad_port_condition condition_of(
	const struct triad_fabric *fabric, const struct triad_link *link)
{
	return triad_port_condition_of_link(
		triad_port_condition_at(
			fabric, link->ends[0].node_guid, link->ends[0].port),
		triad_port_condition_at(
			fabric, link->ends[1].node_guid, link->ends[1].port));
}

static void add_links_down(struct triad_health *health, struct triad_watch *watch,
	const struct triad_fabric *fabric)
{
	struct triad_link link;
	uint32_t cursor = 0;

	while (triad_watch_next_link(watch, &cursor, &link)) {
		enum triad_port_condition condition = condition_of(fabric, &link);
		const char *text = triad_port_condition_text(condition);
		struct triad_health_finding finding = {.severity = TRIAD_WARNING,
			.weight = 1,
			.since_us = link.down_us};

		if (link.state != TRIAD_LINK_DOWN ||
			triad_watch_is_link_silenced(watch, &link))
			continue;
		snprintf(finding.what, sizeof(finding.what), "link down%s%s",
			text ? ": " : "", text ? text : "");
		snprintf(finding.advice, sizeof(finding.advice), "%s",
			triad_port_condition_link_advice(condition));
		format_end(finding.at, sizeof(finding.at), fabric, &link.ends[0]);
		format_end(finding.far_end, sizeof(finding.far_end), fabric,
			&link.ends[1]);
		triad_health_add(health, &finding);
	}
}

/* One finding, which counts all and has the slowest. */
static void add_slow_links(
	struct triad_health *health, const struct triad_fabric *fabric)
{
	struct triad_slow_links *slow = triad_slow_links_find(fabric);
	uint32_t n = slow ? slow->n - slow->n_notes : 0;
	struct triad_health_finding finding = {.severity = TRIAD_WARNING, .weight = n};

	if (n) {
		const struct triad_slow_link *worst = &slow->links[0];

		format_port(finding.at, sizeof(finding.at), fabric, worst->port);
		format_port(finding.far_end, sizeof(finding.far_end), fabric,
			fabric->ports[worst->port].remote);
		triad_slow_link_append(worst->rate, worst->expected, worst->kind, 1,
			finding.what, sizeof(finding.what));
		if (n > 1)
			triad_text_append(finding.what, sizeof(finding.what),
				"; 'triadctl links --slow' has all %" PRIu32, n);
		snprintf(finding.advice, sizeof(finding.advice), "%s",
			triad_alert_slow_link_advice());
		triad_health_add(health, &finding);
	}
	free(slow);
}

void triad_links_add_findings(
	struct triad_health *health, struct triad_service *service)
{
	struct triad_view *view = triad_perf_view(service->perf);

	if (!view)
		return;
	add_links_down(health, triad_perf_watch(service->perf), view->fabric);
	add_slow_links(health, view->fabric);
	triad_view_unref(view);
}
