/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "plugin/own_metrics.h"

#include <stdio.h>
#include <string.h>

#include "plugin/audit/auditor.h"
#include "plugin/election/elector.h"
#include "plugin/extended_speeds.h"
#include "plugin/damp/damper.h"
#include "plugin/heal/healer.h"
#include "plugin/reroute/rerouter.h"
#include "plugin/facts.h"
#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "plugin/qos/qos.h"
#include "plugin/qos/tables/tables.h"
#include "plugin/sa/sa_copies.h"
#include "plugin/sa/shield.h"
#include "plugin/sm_state.h"
#include "plugin/worker.h"
#include "service/own_metrics.h"

static void add_sm(struct triad_own_metrics *list, struct triad_plugin *plugin)
{
	triad_own_gauge(list, "triad_sm_is_master",
		"1 while the SM that Triad runs in is the master.",
		!strcmp(triad_sm_state(plugin->osm), "master"));
}

static void add_topology(struct triad_own_metrics *list, struct triad_plugin *plugin)
{
	struct triad_worker_status status = triad_worker_status(plugin->worker);
	struct triad_events_counts events = triad_events_counts(plugin->events);
	struct triad_extended_speeds_status speeds =
		triad_extended_speeds_status(plugin->speeds);

	triad_own_gauge(list, "triad_sm_errors",
		"Kinds of things that OpenSM was told and could not do: files, routing "
		"engines, GUIDs that are not unique.",
		triad_sm_errors_count(&status.errors) +
			triad_worker_has_other_engine(&status));
	triad_own_facts(list, triad_topology_facts, &status);
	triad_own_facts(list, triad_snapshot_facts, &status);
	triad_own_facts(list, triad_extended_speed_facts, &speeds);
	triad_own_count(list, "triad_events_dropped",
		"Events of OpenSM's that were lost.", events.dropped);
}

static void add_shield(struct triad_own_metrics *list, struct triad_plugin *plugin)
{
	struct triad_shield_status status = triad_shield_status(plugin->shield);

	triad_own_gauge(list, "triad_shield_mode",
		"0: off, 1: harmful requests to the SA are counted, 2: they do not reach "
		"OpenSM.",
		status.mode);
	triad_own_facts(list, triad_shield_facts, &status);
	for (unsigned i = TRIAD_SHIELD_GOOD + 1; i < TRIAD_SHIELD_N_REASONS; i++) {
		struct triad_metric *metric = triad_own_add(list, TRIAD_METRIC_COUNTER,
			"triad_shield_refused",
			"Requests to the SA that were refused, by the reason; with "
			"shield.mode watch, those that would have been.",
			(double)status.n_refused[i]);

		triad_metric_add_label(metric, "reason", triad_shield_reason_name(i));
	}
}

static void add_damper(struct triad_own_metrics *list, struct triad_plugin *plugin)
{
	struct triad_damper_status status = triad_damper_status(plugin->damper);

	triad_own_gauge(list, "triad_damp_mode",
		"0: off, 1: links that go down again and again are found, 2: they are held.",
		status.mode);
	triad_own_facts(list, triad_damp_facts, &status);
}

static void add_rerouter(struct triad_own_metrics *list, struct triad_plugin *plugin)
{
	struct triad_rerouter_status status = triad_rerouter_status(plugin->rerouter);

	triad_own_gauge(list, "triad_repair_mode",
		"0: off, 1: what would be written is said, 2: lost links are routed around.",
		status.mode);
	triad_own_facts(list, triad_repair_facts, &status);
}

static void add_healer(struct triad_own_metrics *list, struct triad_plugin *plugin)
{
	struct triad_healer_status status;

	triad_healer_status(plugin->healer, &status);
	triad_own_gauge(list, "triad_heal_mode",
		"0: off, 1: bad links are proposed, 2: they are taken out of routing, tested "
		"and returned.",
		status.mode);
	triad_own_facts(list, triad_heal_facts, &status);
	if (status.is_known)
		triad_own_facts(list, triad_heal_plan_facts, &status);
}

static void add_audit(struct triad_own_metrics *list, struct triad_plugin *plugin)
{
	struct triad_audit_status status = triad_auditor_status(plugin->auditor);

	triad_own_count(list, "triad_audits", "Audits of all devices that were done.",
		status.n_done);
	/* What no audit has looked at is not known. */
	if (!status.ended_us)
		return;
	for (unsigned i = 0; i < TRIAD_AUDIT_N_KINDS; i++) {
		struct triad_metric *metric = triad_own_add(list, TRIAD_METRIC_GAUGE,
			"triad_audit_differences",
			"Settings and entries of devices that are not as OpenSM wants them, "
			"by the table, in the last audit.",
			(double)status.n_of[i]);

		triad_metric_add_label(metric, "table", triad_audit_kind_name(i));
	}
	triad_own_gauge(list, "triad_audit_unread_blocks",
		"Blocks that the last audit could not read.", (double)status.n_unread);
	triad_own_gauge(list, "triad_audit_duration_seconds",
		"How long the last audit took.", triad_own_seconds(status.took_us));
}

static void add_part(
	struct triad_own_metrics *list, const char *part, const char *end, double value)
{
	struct triad_metric *metric = triad_own_add(list, TRIAD_METRIC_HISTOGRAM,
		"triad_path_answer_duration_seconds",
		"Time from a request for a path to its answer, where OpenSM's routing "
		"engine was not asked.",
		value);

	metric->part = part;
	if (end)
		triad_metric_add_label(metric, "le", end);
}

static void add_answer_times(
	struct triad_own_metrics *list, const struct triad_latency_summary *latency)
{
	char end[32];

	for (unsigned i = 0; i < TRIAD_LATENCY_N_ENDS; i++) {
		snprintf(end, sizeof(end), "%g", (double)triad_latency_end_ns(i) / 1e9);
		add_part(list, "_bucket", end, (double)latency->n_below[i]);
	}
	add_part(list, "_bucket", "+Inf", (double)latency->n);
	add_part(list, "_sum", NULL, (double)latency->sum_ns / 1e9);
	add_part(list, "_count", NULL, (double)latency->n);
}

/* Counts the requests that Triad takes; OpenSM answers the others alone. */
static void add_paths(struct triad_own_metrics *list, struct triad_plugin *plugin)
{
	struct triad_qos_status status = triad_qos_status(plugin->qos);
	const struct triad_qos_server_status *server = &status.server;
	uint64_t n_fallbacks = server->n_overflowed;

	for (unsigned i = 0; i < TRIAD_N_FALLBACKS; i++)
		n_fallbacks += server->n_fallbacks[i];
	triad_own_gauge(list, "triad_qos_answering",
		"1 while requests for paths are answered.",
		status.state == TRIAD_QOS_ANSWERING);
	triad_own_facts(list, triad_policy_facts, &status);
	triad_own_facts(list, triad_request_facts, &status);
	triad_own_facts(list, triad_answer_facts, &status);
	triad_own_count(list, "triad_path_requests_passed_on",
		"Of these, left to OpenSM.", n_fallbacks);
	add_answer_times(list, &server->latency);
}

static void add_tables(struct triad_own_metrics *list, struct triad_plugin *plugin)
{
	struct triad_tables_status status = triad_qos_tables_status(plugin->qos);

	triad_own_gauge(list, "triad_qos_tables_enabled",
		"1 while a policy's QoS tables are to be in force.",
		status.state != TRIAD_TABLES_OFF &&
			status.state != TRIAD_TABLES_NO_SETUP);
	triad_own_facts(list, triad_tables_facts, &status);
}

static void add_election(struct triad_own_metrics *list, struct triad_plugin *plugin)
{
	struct triad_elector_status status;

	triad_elector_status(plugin->elector, &status);
	triad_own_gauge(
		list, "triad_election_enabled", "1 while SMs elect.", status.is_on);
	triad_own_gauge(list, "triad_election_state",
		"0: elections are off, 1: ELECTING, 2: STANDBY, 3: MASTER.",
		status.is_on ? status.election.state : 0);
	triad_own_gauge(list, "triad_election_is_master",
		"1 while this SM is the master, by the election.",
		status.is_on && status.election.state == TRIAD_ELECTION_MASTER);
	triad_own_gauge(list, "triad_election_may_enforce",
		"1 while this SM may change the state of ports.",
		status.permission.is_given);
	triad_own_gauge(list, "triad_election_term",
		"The term of the lease, or the highest known.",
		(double)status.election.term);
	triad_own_gauge(list, "triad_election_quorate",
		"1 while more than half of the cluster is on this side.",
		status.is_on && status.election.view.is_quorate);
	triad_own_gauge(list, "triad_election_members",
		"Members on this side, with this one.", status.election.view.n_members);
	triad_own_facts(list, triad_elector_facts, &status);
	triad_own_facts(list, triad_transport_facts, &status);
}

static void add_sa_copies(struct triad_own_metrics *list, struct triad_plugin *plugin)
{
	struct triad_sa_copies_status status;

	triad_sa_copies_status(plugin->sa_copies, &status);
	if (!status.is_on)
		return;
	triad_own_gauge(list, "triad_sa_copy_complete",
		"1 while a standby's copy of the SA's records is complete; also on the "
		"master.",
		status.copier.is_complete || status.copier.role == TRIAD_SA_GIVES);
	triad_own_gauge(list, "triad_sa_copy_given",
		"1 while OpenSM would restore its SA as master.", status.is_given);
	triad_own_facts(list, triad_sa_record_facts, &status);
	triad_own_facts(list, triad_sa_copy_facts, &status);
}

static void add_plan(
	struct triad_own_metrics *list, const struct triad_ports_status *status)
{
	for (unsigned i = 0; i < TRIAD_PLAN_N_KINDS; i++) {
		struct triad_metric *metric = triad_own_add(list, TRIAD_METRIC_GAUGE,
			"triad_ports_items",
			"Items of the plan for switch ports, by what is to be done.",
			status->n_of_kind[i]);

		triad_metric_add_label(metric, "kind", triad_plan_kind_name(i));
	}
	triad_own_gauge(list, "triad_port_manager_stopped",
		"1 while nothing is changed because the plan has too many changes.",
		status->may_act && status->agenda.is_stopped);
}

static void add_port_manager(
	struct triad_own_metrics *list, struct triad_plugin *plugin)
{
	struct triad_ports_status status;

	triad_ports_status(plugin->ports, &status);
	triad_own_gauge(list, "triad_port_manager_enabled",
		"1 while switch ports are compared with what is expected of them.",
		status.is_enabled);
	triad_own_gauge(list, "triad_port_manager_enforcing",
		"1 while they are to be made so.", status.is_enforcing);
	triad_own_gauge(list, "triad_port_manager_may_act",
		"1 while this SM may do that.", status.may_act);
	triad_own_gauge(list, "triad_port_manager_in_trouble",
		"1 while something but permission keeps it from acting.",
		status.trouble[0] != '\0');
	triad_own_facts(list, triad_ports_facts, &status);
	add_plan(list, &status);
}

void triad_plugin_add_metrics(void *context, struct triad_own_metrics *list)
{
	struct triad_plugin *plugin = context;
	struct triad_metric *metric = triad_own_add(
		list, TRIAD_METRIC_INFO, "triad", "Triad and what it runs in.", 1);

	triad_metric_add_label(metric, "version", PACKAGE_VERSION);
	triad_metric_add_label(metric, "opensm", TRIAD_OPENSM_VERSION);
	add_sm(list, plugin);
	add_topology(list, plugin);
	add_shield(list, plugin);
	add_damper(list, plugin);
	add_rerouter(list, plugin);
	add_healer(list, plugin);
	add_audit(list, plugin);
	add_paths(list, plugin);
	add_tables(list, plugin);
	add_election(list, plugin);
	add_sa_copies(list, plugin);
	add_port_manager(list, plugin);
}
