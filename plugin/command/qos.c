/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'qos on', 'qos off', 'qos clients', and what 'status' says of QoS. */
#include "plugin/command/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plugin/instance.h"
#include "plugin/qos/qos.h"
#include "plugin/qos/tables/tables.h"
#include "service/command/report.h"
#include "triad/clock.h"

/* --- status --- */

static const char *problem_of(const struct triad_qos_status *status)
{
	if (status->has_failed)
		return "the file read last has mistakes and is not in force; OpenSM's "
		       "log has them, and 'triadctl qos check FILE' shows them";
	if (status->is_refused)
		return "the policy read last is refused, rules and tables: it would "
		       "cut the SM off; 'triadctl qos plan' shows from whom";
	if (status->is_edited)
		return "the file was changed since it was read: 'triadctl qos apply' "
		       "or the SM's next heavy sweep reads it again";
	return NULL;
}

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
	triad_report_uint(report, "rules", "rules", status->n_rules, "");
	triad_report_uint(report, "levels", "levels", status->n_levels, "");
	triad_report_uint(report, "groups", "port groups", status->n_groups, "");
	triad_report_uint(report, "loads", "times read", status->n_loads, "");
	triad_report_uint(
		report, "failed_loads", "with mistakes", status->n_failed_loads, "");
	triad_report_text(report, "problem", "problem", problem_of(status));
	triad_report_uint(report, "built_us", "made ready in", status->built_us, "us");
	triad_report_octets(report, "octets", "memory", status->octets);
}

static void report_answers(
	struct triad_report *report, const struct triad_qos_server_status *server)
{
	char name[64], label[64];

	triad_report_uint(report, "received", "requests taken", server->n_received, "");
	triad_report_uint(report, "answered", "answered", server->n_answered, "");
	triad_report_uint(
		report, "refused", "answered with a status", server->n_refused, "");
	for (unsigned i = TRIAD_FALLBACK_NOT + 1; i < TRIAD_N_FALLBACKS; i++) {
		snprintf(name, sizeof(name), "passed_%s", triad_fallback_name(i));
		snprintf(label, sizeof(label), "to OpenSM: %s", triad_fallback_name(i));
		triad_report_uint(report, name, label, server->n_fallbacks[i], "");
	}
	triad_report_uint(report, "overflowed", "not taken: too many waiting",
		server->n_overflowed, "");
	triad_report_uint(report, "under_lock", "answered under the SM's lock",
		server->n_slow, "");
	triad_report_uint(report, "class_port_infos", "asked for capabilities",
		server->n_class_port_infos, "");
	triad_report_uint(report, "p50_ns", "an answer takes", server->latency.p50_ns,
		"ns (half)");
	triad_report_uint(
		report, "p99_ns", "", server->latency.p99_ns, "ns (99 of 100)");
	triad_report_uint(report, "max_ns", "", server->latency.max_ns, "ns (all)");
}

static void report_tables(
	struct triad_report *report, const struct triad_tables_status *status)
{
	triad_report_section(report, "qos_tables", "QoS tables");
	triad_report_text(
		report, "state", "state", triad_tables_state_name(status->state));
	if (status->state != TRIAD_TABLES_OFF || report->as_json) {
		triad_report_uint(report, "different", "not what they should be",
			status->n_different, "");
		triad_report_uint(report, "different_ports", "of ports",
			status->n_different_ports, "");
		triad_report_uint(report, "unlike", "different when read back",
			status->n_unlike, "");
		triad_report_uint(report, "errors", "errors of the policy here",
			status->n_errors, "");
		triad_report_uint(report, "findings", "findings, errors included",
			status->n_findings, "");
		triad_report_uint(report, "dead_places", "SLs without a VL on a route",
			status->n_dead_places, "");
		triad_report_uint(
			report, "refused", "policies refused", status->n_refused, "");
		triad_report_text(report, "problem", "problem",
			status->refused ? "the policy read last is refused: it would "
					  "cut the SM off; see OpenSM's log"
					: NULL);
		triad_report_uint(report, "passes", "QoS passes", status->n_passes, "");
		triad_report_uint(report, "sent", "sent in the last one",
			status->last.n_differing + status->last.n_smps, "");
		triad_report_uint(report, "overridden", "decided by the routing engine",
			status->last.n_overridden, "");
		triad_report_uint(report, "sweeps_asked", "sweeps asked for",
			status->n_sweeps_asked, "");
		triad_report_uint(report, "review_us", "checking all takes",
			status->review_us, "us");
	}
	triad_report_section_end(report);
}

void triad_command_report_qos(struct triad_report *report, struct triad_plugin *plugin)
{
	struct triad_qos_status status = triad_qos_status(plugin->qos);
	struct triad_tables_status tables =
		triad_tables_status(triad_qos_tables(plugin->qos));

	triad_report_section(report, "qos", "QoS");
	triad_report_text(report, "state", "state", triad_qos_state_name(status.state));
	if (status.state != TRIAD_QOS_OFF || report->as_json) {
		report_policy(report, &status);
		report_answers(report, &status.server);
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

static void put_client(struct triad_report *report,
	const struct triad_path_client *client, const struct triad_fabric_node *node)
{
	if (!report->as_json) {
		triad_output_printf(report->output,
			"%5u  %-32s %12" PRIu64 " %12" PRIu64 "\n", client->lid,
			node ? node->name : "-", client->n_requests, client->n_refused);
		return;
	}
	triad_json_object_begin(&report->json, NULL);
	triad_json_uint(&report->json, "lid", client->lid);
	triad_json_guid(&report->json, "node_guid", node ? node->guid : 0);
	triad_json_string(&report->json, "node_name", node ? node->name : NULL);
	triad_json_uint(&report->json, "requests", client->n_requests);
	triad_json_uint(&report->json, "without_path", client->n_refused);
	triad_json_object_end(&report->json);
}

int triad_command_run_qos_clients(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	const struct triad_clients *clients = triad_qos_clients(plugin->qos);
	struct triad_path_client *top = calloc(command->limit, sizeof(*top));
	struct triad_report report = {.output = output, .as_json = command->json};
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
	triad_json_init(&report.json, output);
	if (report.as_json)
		triad_json_array_begin(&report.json, NULL);
	else
		triad_output_printf(output, "%5s  %-32s %12s %12s\n", "LID", "node",
			"requests", "without path");
	for (size_t i = 0; i < n; i++)
		put_client(&report, &top[i], node_of(snapshot, top[i].lid));
	if (report.as_json) {
		triad_json_array_end(&report.json);
		triad_json_end(&report.json);
	}
	triad_qos_snapshot_unref(snapshot);
	free(top);
	return TRIAD_CONTROL_DONE;
}
