/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'qos on', 'qos off', 'qos clients', and what 'status' says of QoS. */
#include "plugin/command/commands.h"

#include <stdio.h>
#include <stdlib.h>

#include "plugin/facts.h"
#include "plugin/instance.h"
#include "plugin/qos/qos.h"
#include "plugin/qos/tables/tables.h"
#include "service/command/list.h"
#include "service/command/report.h"
#include "triad/clock.h"

/* --- status --- */

static void report_policy(
	struct triad_report *report, const struct triad_qos_status *status)
{
	char at[TRIAD_CLOCK_TEXT_SIZE];

	if (status->has_policy)
		triad_clock_format(status->loaded_wall_us, at);
	triad_report_text(
		report, "policy", "policy", status->has_policy ? status->policy : NULL);
	triad_report_text(
		report, "policy_loaded", "read at", status->has_policy ? at : NULL);
	triad_report_facts(report, triad_policy_facts, status);
	triad_report_text(report, "problem", "problem", triad_qos_problem(status));
	triad_report_uint(report, "built_us", "made ready in", status->built_us, "us");
	triad_report_octets(report, "octets", "memory", status->octets);
}

static void report_answers(
	struct triad_report *report, const struct triad_qos_status *status)
{
	char name[64], label[64];

	triad_report_facts(report, triad_request_facts, status);
	for (unsigned i = TRIAD_FALLBACK_NOT + 1; i < TRIAD_N_FALLBACKS; i++) {
		snprintf(name, sizeof(name), "passed_%s", triad_fallback_name(i));
		snprintf(label, sizeof(label), "to OpenSM: %s", triad_fallback_name(i));
		triad_report_uint(
			report, name, label, status->server.n_fallbacks[i], "");
	}
	triad_report_facts(report, triad_answer_facts, status);
}

static void report_tables(
	struct triad_report *report, const struct triad_tables_status *status)
{
	triad_report_section(report, "qos_tables", "QoS tables");
	triad_report_text(
		report, "state", "state", triad_tables_state_name(status->state));
	if (status->state != TRIAD_TABLES_OFF || report->as_json) {
		triad_report_facts(report, triad_tables_facts, status);
		triad_report_text(report, "problem", "problem",
			!status->refused ? NULL
				: status->refusal == TRIAD_TABLES_CLOSES_LOOP
				? "the policy read last is refused: it would close a "
				  "credit loop; see OpenSM's log"
				: "the policy read last is refused: it would cut the SM "
				  "off; see OpenSM's log");
		triad_report_text(
			report, "unlooked", "credit loops unknown", status->unlooked);
		triad_report_facts(report, triad_pass_facts, status);
	}
	triad_report_section_end(report);
}

void triad_command_report_qos(struct triad_report *report, struct triad_plugin *plugin)
{
	struct triad_qos_status status = triad_qos_status(plugin->qos);
	struct triad_tables_status tables = triad_qos_tables_status(plugin->qos);

	triad_report_section(report, "qos", "QoS");
	triad_report_text(report, "state", "state", triad_qos_state_name(status.state));
	if (status.state != TRIAD_QOS_OFF || report->as_json) {
		report_policy(report, &status);
		report_answers(report, &status);
	}
	triad_report_section_end(report);
	report_tables(report, &tables);
}

/* --- on and off --- */

int triad_command_run_qos_switch(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	bool on = command->verb == TRIAD_COMMAND_QOS_ON;
	struct triad_diags diags;
	char text[TRIAD_DIAG_TEXT_SIZE * 2 + 64];

	if (triad_service_set(
		    &plugin->service, "qos.enabled", on ? "true" : "false", &diags)) {
		for (size_t i = 0; i < diags.n; i++) {
			triad_diags_format(&diags, i, text, sizeof(text));
			triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s\n", text);
		}
		return TRIAD_CONTROL_FAILED;
	}
	triad_output_printf(output,
		"QoS answers: %s, until the next reload or restart\n",
		on ? "on" : "off");
	return TRIAD_CONTROL_DONE;
}

/* --- clients --- */

static const struct triad_fabric_node *node_of(
	const struct triad_qos_snapshot *snapshot, uint16_t lid)
{
	uint32_t port =
		snapshot ? snapshot->paths->port_of_lid[lid] : TRIAD_FABRIC_NONE;

	return port == TRIAD_FABRIC_NONE
		? NULL
		: &snapshot->paths->fabric
			   ->nodes[snapshot->paths->fabric->ports[port].node];
}

static void put_client(struct triad_list *list, const struct triad_path_client *client,
	const struct triad_fabric_node *node)
{
	triad_list_row(list);
	triad_list_uint(list, "lid", "LID", 5, client->lid);
	triad_list_guid(list, "node_guid", NULL, node ? node->guid : 0);
	triad_list_blank(list);
	triad_list_node(list, "node_name", "node", TRIAD_LIST_LONG, node);
	triad_list_uint(list, "requests", "requests", 12, client->n_requests);
	triad_list_uint(list, "without_path", "without path", 12, client->n_refused);
	triad_list_uint(list, "not_taken", "not taken", 9, client->n_not_taken);
	triad_list_row_end(list);
}

int triad_command_run_qos_clients(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	const struct triad_clients *clients = triad_qos_clients(plugin->qos);
	struct triad_path_client *top = calloc(command->limit, sizeof(*top));
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_list list = {.report = &report, .phase = TRIAD_LIST_TITLES};
	struct triad_qos_snapshot *snapshot;
	size_t n;

	if (!clients || !top) {
		free(top);
		triad_output_message(output, TRIAD_FRAME_MESSAGE, "qos clients: %s\n",
			clients ? "not enough memory"
				: "Triad has answered nobody yet: 'qos on' begins");
		return TRIAD_CONTROL_FAILED;
	}
	n = triad_clients_top(clients, top, command->limit);
	snapshot = triad_qos_snapshot(plugin->qos);
	/* 'list' is in the phase of the titles: its first row writes only these. */
	triad_report_array(&report, NULL);
	if (n || command->json)
		put_client(&list, &(struct triad_path_client){0}, NULL);
	for (size_t i = 0; i < n; i++)
		put_client(&list, &top[i], node_of(snapshot, top[i].lid));
	triad_report_array_end(&report);
	if (!n && !command->json)
		triad_output_printf(output, "nobody has asked for a path yet\n");
	triad_qos_snapshot_unref(snapshot);
	free(top);
	return TRIAD_CONTROL_DONE;
}
