/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'diff': what changed between two moments. */
#include "service/command/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ib/link.h"
#include "perfmgr/watch/alert_text.h"
#include "service/command/diff_parts.h"
#include "service/command/ports.h"
#include "service/service.h"
#include "triad/clock.h"
#include "triad/control.h"

uint32_t diff_put_part(struct diff *diff, const char *name, const char *title,
	uint32_t (*put)(const struct diff *diff, struct triad_list *list))
{
	struct triad_list list = {.report = &diff->report, .indent = "  ", .gap = "  "};
	uint32_t n;

	if (!diff->report.as_json)
		triad_output_printf(diff->output, "\n%s\n", title);
	triad_report_array(&diff->report, name);
	n = put(diff, &list);
	triad_report_array_end(&diff->report);
	if (!diff->report.as_json && !n)
		triad_output_printf(diff->output, "  nothing\n");
	if (!diff->report.as_json && n > diff->command->limit)
		triad_output_printf(diff->output,
			"  %" PRIu32 " in all; '-n %" PRIu32 "' shows them\n", n, n);
	return n;
}

/* Whether a row that is the 'n'th of its part has room for people. */
static bool has_room(const struct diff *diff, uint32_t n)
{
	return diff->report.as_json || n < diff->command->limit;
}

/* --- nodes --- */

static void put_node(
	struct triad_list *list, const char *what, const struct triad_fabric_node *node)
{
	triad_list_row(list);
	triad_list_text(list, "what", "WHAT", -6, what);
	triad_list_node(list, "node_name", "NODE", TRIAD_LIST_LONG, node);
	triad_list_text(list, "type", "TYPE", -6, triad_node_type_name(node->type));
	triad_list_guid(list, "node_guid", "GUID", node->guid);
	triad_list_row_end(list);
}

/* Writes the nodes of 'fabric' that 'other' lacks. */
static uint32_t put_missing(const struct diff *diff, struct triad_list *list,
	const char *what, const struct triad_fabric *fabric,
	const struct triad_fabric *other, uint32_t n)
{
	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		const struct triad_fabric_node *node = &fabric->nodes[i];

		if (triad_fabric_find_node(other, node->guid) != TRIAD_FABRIC_NONE)
			continue;
		if (has_room(diff, n))
			put_node(list, what, node);
		n++;
	}
	return n;
}

static uint32_t put_nodes(const struct diff *diff, struct triad_list *list)
{
	const struct triad_fabric *before = diff->from.view->fabric;
	const struct triad_fabric *now = diff->to.view->fabric;
	uint32_t n = put_missing(diff, list, "left", before, now, 0);

	return put_missing(diff, list, "came", now, before, n);
}

/* --- links --- */

/* Whether the other fabric has the same link; '*there' is its first end. */
static bool has_link(const struct triad_fabric *fabric, uint32_t port,
	const struct triad_fabric *other, uint32_t *there)
{
	uint32_t far =
		triad_fabric_find_same_port(other, fabric, fabric->ports[port].remote);

	*there = triad_fabric_find_same_port(other, fabric, port);
	return *there != TRIAD_FABRIC_NONE && far != TRIAD_FABRIC_NONE &&
		other->ports[*there].remote == far;
}

static void put_link(struct triad_list *list, const char *what,
	const struct triad_fabric *fabric, uint32_t port, const char *was,
	const char *is)
{
	const struct triad_fabric_port *ends[2] = {
		&fabric->ports[port], &fabric->ports[fabric->ports[port].remote]};
	triad_list_row(list);
	triad_list_text(list, "what", "WHAT", -6, what);
	triad_list_text(list, "end", "END", TRIAD_LIST_LONG,
		triad_port_label(fabric, port).text);
	triad_list_text(list, "far_end", "FAR END", TRIAD_LIST_LONG,
		triad_port_label(fabric, fabric->ports[port].remote).text);
	if (triad_list_json(list)) {
		triad_json_guid(triad_list_json(list), "node_guid",
			fabric->nodes[ends[0]->node].guid);
		triad_json_uint(triad_list_json(list), "port", ends[0]->number);
		triad_json_guid(triad_list_json(list), "far_guid",
			fabric->nodes[ends[1]->node].guid);
		triad_json_uint(triad_list_json(list), "far_port", ends[1]->number);
	}
	triad_list_text(list, "was", "WAS", -8, was);
	triad_list_text(list, "is", "IS", -8, is);
	triad_list_row_end(list);
}

static uint32_t put_lost(const struct diff *diff, struct triad_list *list)
{
	const struct triad_fabric *before = diff->from.view->fabric;
	const struct triad_fabric *now = diff->to.view->fabric;
	uint32_t n = 0, there;
	char was[16];

	for (uint32_t i = 0; i < before->n_ports; i++) {
		uint32_t far = before->ports[i].remote;

		if (far == TRIAD_FABRIC_NONE || far < i ||
			has_link(before, i, now, &there))
			continue;
		triad_link_rate_format(
			triad_link_rate_active(&before->ports[i]), was, sizeof(was));
		if (has_room(diff, n++))
			put_link(list, "went", before, i, was, NULL);
	}
	return n;
}

static uint32_t put_links(const struct diff *diff, struct triad_list *list)
{
	const struct triad_fabric *before = diff->from.view->fabric;
	const struct triad_fabric *now = diff->to.view->fabric;
	uint32_t n = put_lost(diff, list), there;
	char was[16], is[16];

	for (uint32_t i = 0; i < now->n_ports; i++) {
		uint32_t far = now->ports[i].remote;
		uint64_t bps = triad_fabric_port_bps(&now->ports[i]), old;

		if (far == TRIAD_FABRIC_NONE || far < i)
			continue;
		triad_link_rate_format(
			triad_link_rate_active(&now->ports[i]), is, sizeof(is));
		if (!has_link(now, i, before, &there)) {
			if (has_room(diff, n++))
				put_link(list, "came", now, i, NULL, is);
			continue;
		}
		old = triad_fabric_port_bps(&before->ports[there]);
		if (old == bps)
			continue;
		triad_link_rate_format(triad_link_rate_active(&before->ports[there]),
			was, sizeof(was));
		if (has_room(diff, n++))
			put_link(
				list, bps < old ? "slower" : "faster", now, i, was, is);
	}
	return n;
}

/* --- alerts --- */

/* Whether there is an active alert at the same place. */
static bool has_alert(
	const struct triad_moment *moment, const struct triad_alert *alert)
{
	struct triad_alert other;
	uint32_t cursor = 0;

	while (triad_moment_next_alert(moment, &cursor, &other))
		if (other.state == TRIAD_ALERT_ACTIVE &&
			other.ends[0].node_guid == alert->ends[0].node_guid &&
			other.ends[0].port == alert->ends[0].port)
			return true;
	return false;
}

static void put_alert(
	struct triad_list *list, const char *what, const struct triad_alert *alert)
{
	char at[TRIAD_ALERT_PLACE_SIZE], text[256] = "";

	triad_alert_place_format(alert, 0, at, sizeof(at));
	if (alert->n_findings)
		triad_alert_finding_format(
			alert, &alert->findings[0], text, sizeof(text));
	triad_list_row(list);
	triad_list_text(list, "what", "WHAT", -6, what);
	triad_list_text(list, "at", "AT", TRIAD_LIST_LONG, at);
	triad_list_text(list, "finding", "FINDING", TRIAD_LIST_LONG, text);
	triad_list_row_end(list);
}

static uint32_t put_alerts_of(const struct diff *diff, struct triad_list *list,
	const char *what, const struct triad_moment *moment,
	const struct triad_moment *other, uint32_t n)
{
	struct triad_alert alert;
	uint32_t cursor = 0;

	while (triad_moment_next_alert(moment, &cursor, &alert)) {
		if (alert.state != TRIAD_ALERT_ACTIVE || has_alert(other, &alert))
			continue;
		if (has_room(diff, n++))
			put_alert(list, what, &alert);
	}
	return n;
}

static uint32_t put_alerts(const struct diff *diff, struct triad_list *list)
{
	uint32_t n = put_alerts_of(diff, list, "raised", &diff->to, &diff->from, 0);

	return put_alerts_of(diff, list, "over", &diff->from, &diff->to, n);
}

/* --- all of it --- */

static void put_moment(struct diff *diff, const char *name, const char *label,
	const struct triad_moment *moment)
{
	char at[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format(
		moment->past ? moment->past->wall_us : triad_clock_wall_us(), at);
	triad_report_text(&diff->report, name, label, at);
}

struct tables_part {
	enum triad_history_tables tables;
	const char *name, *title, *nodes;
	/* Of JSON. */
	const char *compared, *not_known;
	uint32_t (*put)(const struct diff *diff, struct triad_list *list);
};

static const struct tables_part tables_parts[] = {
	{TRIAD_HISTORY_ROUTES, "routes", "Switches whose routes changed", "switches",
		"routes_compared", "routes_not_known", diff_put_routes},
	{TRIAD_HISTORY_QOS, "qos", "Nodes whose SL2VL or VL arbitration changed",
		"nodes", "qos_compared", "qos_not_known", diff_put_qos},
};

/* Where one moment has no tables, it is not known whether they changed. */
static void put_tables_part(struct diff *diff, const struct tables_part *part)
{
	struct diff_compared compared = diff_compare_tables(diff, part->tables);
	uint32_t n_all = compared.n + compared.n_unknown;

	if (diff->report.as_json || compared.n || !n_all)
		diff_put_part(diff, part->name, part->title, part->put);
	else
		triad_output_printf(diff->output, "\n%s\n", part->title);
	if (diff->report.as_json) {
		triad_json_uint(&diff->report.json, part->compared, compared.n);
		triad_json_uint(
			&diff->report.json, part->not_known, compared.n_unknown);
	} else if (compared.n_unknown)
		triad_output_printf(diff->output,
			"  not known of %" PRIu32 " of %" PRIu32
			" %s: one of the two times has no tables of theirs\n",
			compared.n_unknown, n_all, part->nodes);
}

#define UNKNOWN                                                                           \
	"not known: another SM counted, OpenSM was started again, or totals were set to " \
	"0\n  in between; choose a time after that"

static void put_diff(struct diff *diff)
{
	bool has_base = triad_moment_shares_base(&diff->from, &diff->to);

	triad_report_begin(&diff->report);
	put_moment(diff, "from", "from", &diff->from);
	put_moment(diff, "to", "to", &diff->to);
	triad_report_guid(&diff->report, "from_sm", "master's port, then",
		diff->from.view->fabric->sm_port_guid);
	triad_report_guid(&diff->report, "to_sm", "master's port, now",
		diff->to.view->fabric->sm_port_guid);
	diff_put_part(diff, "nodes", "Nodes", put_nodes);
	diff_put_part(diff, "links", "Links", put_links);
	for (unsigned i = 0; i < sizeof(tables_parts) / sizeof(tables_parts[0]); i++)
		put_tables_part(diff, &tables_parts[i]);
	diff_put_part(diff, "configuration", "Configuration", diff_put_conf);
	diff_put_part(diff, "alerts", "Alerts", put_alerts);
	if (!diff->report.as_json && !has_base)
		triad_output_printf(
			diff->output, "\nCounters that grew\n  %s\n", UNKNOWN);
	else
		diff_put_part(
			diff, "counters", "Counters that grew", diff_put_counters);
	if (diff->report.as_json)
		triad_json_bool(&diff->report.json, "counters_known", has_base);
	triad_report_end(&diff->report);
}

/* Refuses times in the wrong order: everything that left would be shown as new. */
static bool refuse_order(
	const struct triad_command *command, struct triad_output *output)
{
	if (triad_moment_time(command->at_us, command->at_ago_us) <=
		triad_moment_time(command->to_us, command->to_ago_us))
		return false;
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"diff: the first time is later than the second: type the earlier one "
		"first, as in 'diff 2h 1h'\n");
	return true;
}

int triad_command_run_diff(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct diff diff = {.command = command,
		.output = output,
		.report = {.output = output, .as_json = command->json},
		.to = {.service = service}};
	bool is_now = !command->to_us && !command->to_ago_us;

	if (!is_now && refuse_order(command, output))
		return TRIAD_CONTROL_USAGE;
	if (!triad_moment_open_at(&diff.from, service,
		    triad_moment_time(command->at_us, command->at_ago_us), "diff",
		    output))
		return TRIAD_CONTROL_FAILED;
	if (is_now) {
		diff.to.view = triad_perf_view(service->perf);
		if (!diff.to.view)
			(void)triad_command_no_view(service, output);
	} else {
		(void)triad_moment_open_at(&diff.to, service,
			triad_moment_time(command->to_us, command->to_ago_us), "diff",
			output);
	}
	if (diff.to.view)
		put_diff(&diff);
	triad_moment_close(&diff.from);
	if (!diff.to.view)
		return TRIAD_CONTROL_FAILED;
	triad_moment_close(&diff.to);
	return TRIAD_CONTROL_DONE;
}
