/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'congestion': roots, the ports that wait because of them, and the hosts that send. */
#include "service/command/commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "service/command/format.h"
#include "service/command/list.h"
#include "service/command/ports.h"
#include "service/command/routes_parts.h"
#include "service/service.h"
#include "triad/clock.h"

struct shown {
	const struct triad_congestion_result *result;
	const struct triad_fabric *fabric;
	unsigned limit; /* of ports and hosts of one root */
};

/* --- for people --- */

static void put_root_row(struct triad_list *list, const struct shown *shown, uint32_t i)
{
	const struct triad_congestion_root *root = &shown->result->found->roots[i];
	char ago[TRIAD_CLOCK_TEXT_SIZE], since[TRIAD_CLOCK_TEXT_SIZE + 2];

	triad_list_row(list);
	triad_routes_put_port(list, NULL, "ROOT", shown->fabric, root->port);
	triad_list_text(
		list, NULL, "KIND", -19, triad_congestion_kind_name(root->kind));
	if (root->vl == TRIAD_CONGESTION_NO_VL)
		triad_list_text(list, NULL, "VL", 2, "-");
	else
		triad_list_uint(list, NULL, "VL", 2, root->vl);
	triad_list_real(list, NULL, "LOSS", 10, root->loss_bps, "%.1f Gb/s",
		root->loss_bps / 1e9);
	triad_list_uint(list, NULL, "WAITING", 7, root->n_waiting);
	triad_list_uint(list, NULL, "HOSTS", 5, root->n_hosts);
	triad_clock_format_length(
		triad_clock_now_us() - shown->result->since_us[i], ago);
	snprintf(since, sizeof(since), "%s%s",
		shown->result->since_at_least[i] ? ">=" : "", ago);
	triad_list_text(list, NULL, "SINCE", -8, since);
	triad_list_row_end(list);
}

static void put_hosts(struct triad_output *output, const struct shown *shown,
	const struct triad_congestion_root *root, enum triad_congestion_role role)
{
	static const char *const titles[] = {
		[TRIAD_CONGESTION_CONTRIBUTOR] = "contributors",
		[TRIAD_CONGESTION_VICTIM] = "victims",
		[TRIAD_CONGESTION_UNDECIDED] = "contributors or victims"};
	char text[TRIAD_PORT_LABEL_SIZE];
	unsigned n = 0;

	for (uint32_t i = 0; i < root->n_hosts; i++) {
		const struct triad_congestion_host *host = &root->hosts[i];

		if (host->role != role || n++ >= shown->limit)
			continue;
		if (n == 1)
			triad_output_printf(output, "  %s: %" PRIu32 "\n", titles[role],
				root->n_roles[role]);
		triad_output_printf(output,
			"    %-28s sends %5.1f %%, waits %s%5.1f %%",
			triad_routes_format_port(
				shown->fabric, host->port, text, sizeof(text)),
			100 * (double)host->sent, host->at_least ? ">=" : "",
			100 * (double)host->wait);
		if (!isnan(host->share))
			triad_output_printf(output, ", %3.0f %% of it here",
				100 * (double)host->share);
		triad_output_printf(output, "\n");
	}
	if (n > shown->limit)
		triad_output_printf(output, "    and %u more\n", n - shown->limit);
}

static void put_details(
	struct triad_output *output, const struct shown *shown, uint32_t i)
{
	const struct triad_congestion_root *root = &shown->result->found->roots[i];
	char text[TRIAD_PORT_LABEL_SIZE], vl[16] = "", wait[16] = "? %";

	if (root->vl != TRIAD_CONGESTION_NO_VL)
		snprintf(vl, sizeof(vl), " on VL%u", root->vl);
	if (!isnan(root->wait))
		snprintf(wait, sizeof(wait), "%s%.1f %%", root->at_least ? ">=" : "",
			100 * (double)root->wait);
	triad_output_printf(output,
		"\n%s to %s: %s%s\n  it sends %.1f %% of its rate and waits %s of the "
		"time\n",
		triad_routes_format_port(shown->fabric, root->port, text, sizeof(text)),
		triad_node_label(
			&shown->fabric->nodes
				 [shown->fabric->ports[shown->fabric->ports[root->port]
							       .remote]
						 .node])
			.text,
		triad_congestion_kind_name(root->kind), vl, 100 * (double)root->sent,
		wait);
	triad_output_printf(output, "  ");
	triad_command_put_wrapped(output, triad_congestion_advice(root->kind), 2, 2);
	for (unsigned role = 0; role < TRIAD_CONGESTION_N_ROLES; role++)
		put_hosts(output, shown, root, role);
}

static void put_unknown(
	struct triad_output *output, const struct triad_congestion *found)
{
	uint32_t n = found->n_links - found->n_known;

	if (n)
		triad_output_printf(output,
			"  not known of %" PRIu32 " of %" PRIu32
			" ports with a link%s\n",
			n, found->n_links,
			found->n_open ? "" : ": their PortXmitWait was not read");
	if (found->n_open)
		triad_output_printf(output,
			"  %" PRIu32 " of these: only a lower bound below the limit is "
			"known, as\n  PortXmitWait stopped at its maximum\n",
			found->n_open);
}

static void put_congestion_text(struct triad_report *report, const struct shown *shown)
{
	const struct triad_congestion *found = shown->result->found;
	struct triad_list list = {.report = report};
	char ago[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format_length(triad_clock_now_us() - shown->result->swept_us, ago);
	triad_output_printf(report->output,
		"%" PRIu32 " root%s of congestion, %" PRIu32
		" port%s wait%s, by the sweep %s ago\n",
		found->n_roots + found->n_more,
		found->n_roots + found->n_more == 1 ? "" : "s", found->n_waiting,
		found->n_waiting == 1 ? "" : "s", found->n_waiting == 1 ? "s" : "",
		ago);
	put_unknown(report->output, found);
	if (found->n_unexplained)
		triad_output_printf(report->output,
			"  %" PRIu32 " of them because of none that was found\n",
			found->n_unexplained);
	if (shown->result->is_matrix_full)
		triad_output_printf(report->output,
			"  who sends to whom is not estimated, because more than %u "
			"pairs of\n  hosts may send: more hosts are undecided\n",
			TRIAD_CONGESTION_MAX_PAIRS);
	if (!found->n_roots)
		return;
	if (!shown->result->n_by_vl)
		triad_output_printf(report->output,
			"  not told apart by VL: no port that waits has counters of "
			"VLs, or they\n  were not read yet\n");
	triad_output_printf(report->output, "\n");
	for (uint32_t i = 0; i < found->n_roots; i++)
		put_root_row(&list, shown, i);
	for (uint32_t i = 0; i < found->n_roots && i < shown->limit; i++)
		put_details(report->output, shown, i);
}

/* --- for programs --- */

static void put_port_json(
	struct triad_json *json, const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *at = &fabric->ports[port];

	triad_json_string(json, "node_name", fabric->nodes[at->node].name);
	triad_json_guid(json, "node_guid", fabric->nodes[at->node].guid);
	triad_json_uint(json, "port", at->number);
}

static void put_host_json(struct triad_json *json, const struct triad_fabric *fabric,
	const struct triad_congestion_host *host)
{
	triad_json_object_begin(json, NULL);
	put_port_json(json, fabric, host->port);
	triad_json_string(json, "role", triad_congestion_role_name(host->role));
	triad_json_double(json, "sent_percent", 100 * (double)host->sent);
	triad_json_double(json, "wait_percent", 100 * (double)host->wait);
	triad_json_bool(json, "wait_at_least", host->at_least);
	triad_json_double(json, "share_percent", 100 * (double)host->share);
	triad_json_object_end(json);
}

static void put_root_json(
	struct triad_json *json, const struct shown *shown, uint32_t number)
{
	const struct triad_congestion_root *root = &shown->result->found->roots[number];
	char at[TRIAD_CLOCK_TEXT_SIZE];

	triad_json_object_begin(json, NULL);
	put_port_json(json, shown->fabric, root->port);
	if (root->vl == TRIAD_CONGESTION_NO_VL)
		triad_json_string(json, "vl", NULL);
	else
		triad_json_uint(json, "vl", root->vl);
	triad_json_string(json, "kind", triad_congestion_kind_name(root->kind));
	triad_json_double(json, "loss_gbps", root->loss_bps / 1e9);
	triad_json_double(json, "sent_percent", 100 * (double)root->sent);
	triad_json_double(json, "wait_percent", 100 * (double)root->wait);
	triad_json_bool(json, "wait_at_least", root->at_least);
	triad_json_string(json, "since",
		triad_command_format_time(shown->result->since_us[number], at));
	triad_json_bool(json, "since_at_least", shown->result->since_at_least[number]);
	triad_json_string(json, "advice", triad_congestion_advice(root->kind));
	triad_json_uint(json, "waiting_ports", root->n_waiting);
	triad_json_uint(
		json, "contributors", root->n_roles[TRIAD_CONGESTION_CONTRIBUTOR]);
	triad_json_uint(json, "victims", root->n_roles[TRIAD_CONGESTION_VICTIM]);
	triad_json_uint(json, "undecided", root->n_roles[TRIAD_CONGESTION_UNDECIDED]);
	triad_json_array_begin(json, "waiting");
	for (uint32_t i = 0; i < root->n_waiting && i < shown->limit; i++) {
		triad_json_object_begin(json, NULL);
		put_port_json(json, shown->fabric, root->waiting[i]);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
	triad_json_array_begin(json, "hosts");
	for (uint32_t i = 0; i < root->n_hosts && i < shown->limit; i++)
		put_host_json(json, shown->fabric, &root->hosts[i]);
	triad_json_array_end(json);
	triad_json_object_end(json);
}

static void put_congestion_json(struct triad_report *report, const struct shown *shown)
{
	const struct triad_congestion *found = shown->result->found;
	struct triad_json *json = &report->json;
	char at[TRIAD_CLOCK_TEXT_SIZE];

	triad_json_string(
		json, "swept", triad_command_format_time(shown->result->swept_us, at));
	triad_json_double(json, "took_ms", (double)shown->result->took_us / 1000);
	if (found->n_known)
		triad_json_uint(json, "waiting_ports", found->n_waiting);
	else
		triad_json_string(json, "waiting_ports", NULL);
	triad_json_uint(json, "known_ports", found->n_known);
	triad_json_uint(json, "lower_bound_ports", found->n_open);
	triad_json_uint(json, "linked_ports", found->n_links);
	triad_json_uint(json, "unexplained_ports", found->n_unexplained);
	triad_json_uint(json, "more_roots", found->n_more);
	triad_json_uint(json, "waiting_ports_by_vl", shown->result->n_by_vl);
	triad_json_bool(json, "too_many_pairs", shown->result->is_matrix_full);
	triad_json_array_begin(json, "roots");
	for (uint32_t i = 0; i < found->n_roots; i++)
		put_root_json(json, shown, i);
	triad_json_array_end(json);
}

static const char *why_not(struct triad_service *service)
{
	enum triad_congestion_state state =
		triad_congestion_watcher_state(service->congestion);
	const char *why = triad_congestion_state_text(state);

	if (state == TRIAD_CONGESTION_NO_ROUTES && !service->owner->sm)
		return "an agent has no routes, which it is explained by: ask on the host "
		       "of the SM that is master; with collect.mode = manager its Triad "
		       "explains what agents read";
	if (state == TRIAD_CONGESTION_NO_COUNTERS &&
		triad_perf_state(service->perf) == TRIAD_PERF_DISABLED)
		return "counters are not read here, which it is seen by: 'set "
		       "perfmgr.enabled true' begins it";
	return why ? why : "try again";
}

int triad_command_run_congestion(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_congestion_result *result =
		triad_congestion_watcher_result(service->congestion);
	struct triad_report report = {.output = output, .as_json = command->json};
	struct shown shown = {.result = result, .limit = command->limit};

	if (!result) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE, "congestion: %s\n",
			why_not(service));
		return TRIAD_CONTROL_FAILED;
	}
	shown.fabric = result->routes->check->layout->fabric;
	triad_report_begin(&report);
	if (command->json)
		put_congestion_json(&report, &shown);
	else
		put_congestion_text(&report, &shown);
	triad_report_end(&report);
	triad_congestion_result_unref(result);
	return TRIAD_CONTROL_DONE;
}
