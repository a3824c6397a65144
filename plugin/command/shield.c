/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'shield', and what 'status' says of it. */
#include "plugin/command/commands.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/facts.h"
#include "plugin/instance.h"
#include "plugin/sa/shield.h"
#include "plugin/sm_state.h"
#include "service/command/list.h"
#include "service/command/report.h"
#include "triad/control.h"

/* --- status --- */

static const char *shield_state(
	struct triad_plugin *plugin, const struct triad_shield_status *status)
{
	if (status->mode == TRIAD_SHIELD_OFF)
		return "off";
	if (status->error)
		return triad_shield_explain(status->error);
	if (!status->is_installed)
		return "waiting for OpenSM's SA";
	if (strcmp(triad_sm_state(plugin->osm), "master") != 0)
		return "not the master: OpenSM's SA answers nobody here";
	return status->mode == TRIAD_SHIELD_ACT
		? "harmful requests do not reach OpenSM"
		: "harmful requests are counted, and reach OpenSM";
}

void triad_command_report_shield(
	struct triad_report *report, struct triad_plugin *plugin)
{
	struct triad_shield_status status = triad_shield_status(plugin->shield);

	triad_report_section(report, "shield", "Shield of the SA");
	triad_report_text(report, "state", "state", shield_state(plugin, &status));
	if (status.mode != TRIAD_SHIELD_OFF || report->as_json) {
		triad_report_facts(report, triad_shield_facts, &status);
		for (unsigned i = TRIAD_SHIELD_GOOD + 1; i < TRIAD_SHIELD_N_REASONS;
			i++)
			triad_report_uint(report, triad_shield_reason_name(i),
				triad_shield_reason_label(i), status.n_refused[i], "");
	}
	triad_report_section_end(report);
}

/* --- clients --- */

static const struct triad_fabric_node *find_node(
	const struct triad_view *view, uint16_t lid)
{
	uint32_t port =
		view ? triad_fabric_find_lid(view->fabric, lid) : TRIAD_FABRIC_NONE;

	return port == TRIAD_FABRIC_NONE
		? NULL
		: &view->fabric->nodes[view->fabric->ports[port].node];
}

static void put_refused(struct triad_list *list,
	const struct triad_shield_client *client, const struct triad_fabric_node *node)
{
	triad_list_row(list);
	triad_list_uint(list, "lid", "LID", 5, client->lid);
	triad_list_guid(list, "node_guid", NULL, node ? node->guid : 0);
	triad_list_blank(list);
	triad_list_node(list, "node_name", "node", 24, node);
	triad_list_uint(list, "requests", "requests", 10, client->n_requests);
	triad_list_uint(list, "refused", "refused", 10, client->n_refused);
	triad_list_blank(list);
	triad_list_text(list, "reason", "the last one", TRIAD_LIST_LONG,
		triad_shield_reason_text(client->reason));
	triad_list_row_end(list);
}

int triad_command_run_shield(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_shield_client *top = calloc(command->limit, sizeof(*top));
	struct triad_shield_status status = triad_shield_status(plugin->shield);
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_list list = {.report = &report, .phase = TRIAD_LIST_TITLES};
	struct triad_view *view;
	size_t n;

	if (!top) {
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "shield: not enough memory\n");
		return TRIAD_CONTROL_FAILED;
	}
	n = triad_shield_clients(plugin->shield, top, command->limit);
	view = triad_perf_view(plugin->service.perf);
	/* 'list' is in the phase of the titles: its first row writes only these. */
	triad_report_array(&report, NULL);
	if (n || command->json)
		put_refused(&list, &(struct triad_shield_client){0}, NULL);
	for (size_t i = 0; i < n; i++)
		put_refused(&list, &top[i], find_node(view, top[i].lid));
	triad_report_array_end(&report);
	if (!n && !command->json && status.mode == TRIAD_SHIELD_OFF)
		triad_output_printf(output,
			"the shield is off, so nobody looks at requests to the SA: "
			"'triadctl set shield.mode watch' begins\n");
	else if (!n && !command->json)
		triad_output_printf(output, "no request to the SA was harmful yet\n");
	triad_view_unref(view);
	free(top);
	return TRIAD_CONTROL_DONE;
}
