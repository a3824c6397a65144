/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "plugin/own_metrics.h"

#include "plugin/election/elector.h"
#include "plugin/exports.h"
#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "plugin/qos/qos.h"
#include "plugin/qos/tables/tables.h"
#include "plugin/worker.h"
#include "triad/clock.h"

/* Metrics as they are written one after the other. */
struct list {
	struct triad_metric *room;
	size_t n, most;
};

static struct triad_metric *add(struct list *list, enum triad_metric_type type,
	const char *name, const char *help, double value)
{
	static struct triad_metric nowhere; /* what has no room is lost */
	struct triad_metric *metric =
		list->n < list->most ? &list->room[list->n++] : &nowhere;

	*metric = (struct triad_metric){
		.name = name, .help = help, .type = type, .value = value};
	return metric;
}

static void count(struct list *list, const char *name, const char *help, uint64_t value)
{
	add(list, TRIAD_METRIC_COUNTER, name, help, (double)value);
}

static void gauge(struct list *list, const char *name, const char *help, double value)
{
	add(list, TRIAD_METRIC_GAUGE, name, help, value);
}

static double seconds(uint64_t us)
{
	return (double)us / (double)TRIAD_US_PER_S;
}

static void add_sweeps(struct list *list, struct triad_plugin *plugin)
{
	struct triad_collector_status status = triad_perf_status(plugin->perf);
	uint64_t ago_us = triad_clock_now_us() - status.finished_us;

	gauge(list, "triad_perfmgr_running", "1 while counters are read.",
		triad_perf_state(plugin->perf) == TRIAD_PERF_RUNNING);
	count(list, "triad_sweeps", "Sweeps of all ports that ended.", status.n_sweeps);
	count(list, "triad_sweeps_late", "Of these, longer than the period.",
		status.n_late);
	count(list, "triad_group_sweeps", "Sweeps of port groups that ended.",
		status.n_group_sweeps);
	gauge(list, "triad_sweep_duration_seconds", "Time that the last sweep took.",
		seconds(status.duration_us));
	gauge(list, "triad_sweep_period_seconds",
		"Time from one sweep to the next, as configured.",
		seconds(status.period_us));
	gauge(list, "triad_sweep_delay_seconds",
		"How late the last sweep began after its time.",
		seconds(status.delay_us));
	if (status.n_sweeps)
		gauge(list, "triad_sweep_finished_timestamp_seconds",
			"When the last sweep ended.",
			seconds(triad_clock_wall_us() - ago_us));
	gauge(list, "triad_ports", "Ports that the last sweep asked.",
		status.last.n_ports);
	gauge(list, "triad_ports_unanswered", "Of these, ports that did not answer.",
		status.last.n_unanswered);
}

static void add_mads(struct list *list, struct triad_plugin *plugin)
{
	struct triad_collector_status status = triad_perf_status(plugin->perf);
	const struct triad_sweep_counts *counts = &status.counts;

	count(list, "triad_mads_sent", "Questions sent to agents.", counts->sent);
	count(list, "triad_mads_received", "Answers to them.", counts->received);
	count(list, "triad_mads_timeouts", "Questions not answered in time.",
		counts->timeouts);
	count(list, "triad_mads_retries", "Questions asked again.", counts->retries);
	count(list, "triad_mads_late", "Answers that nobody waited for any more.",
		counts->late);
	count(list, "triad_mads_malformed", "Answers that made no sense.",
		counts->malformed);
	count(list, "triad_mads_refused", "Answers with an error.", counts->refused);
	count(list, "triad_hardware_resets", "Ports whose counters were reset.",
		counts->resets);
}

static void add_alerts(struct list *list, struct triad_plugin *plugin)
{
	struct triad_watch_status status =
		triad_watch_status(triad_perf_watch(plugin->perf));

	gauge(list, "triad_alerts_active", "Alerts at present.",
		status.alerts.n_active);
	count(list, "triad_alerts_raised", "Alerts so far.", status.alerts.n_raised);
	count(list, "triad_alerts_cleared", "Of these, alerts that are over.",
		status.alerts.n_cleared);
}

static void add_topology(struct list *list, struct triad_plugin *plugin)
{
	struct triad_worker_status status = triad_worker_status(plugin->worker);
	struct triad_events_counts events = triad_events_counts(plugin->events);

	gauge(list, "triad_fabric_nodes", "Nodes of the fabric.", status.n_nodes);
	gauge(list, "triad_fabric_links", "Links of the fabric.", status.n_links);
	gauge(list, "triad_sm_lock_seconds",
		"How long the SM's lock was held at a time for the last copy of the "
		"fabric.",
		seconds(status.lock_us));
	count(list, "triad_events_dropped", "Events of OpenSM's that were lost.",
		events.dropped);
}

static void add_answer(struct list *list, const char *code, uint64_t n)
{
	struct triad_metric *metric = add(list, TRIAD_METRIC_COUNTER,
		"triad_http_answers", "Answers to those who asked by HTTP.", (double)n);

	triad_metric_add_label(metric, "code", code);
}

static void add_http(struct list *list, struct triad_plugin *plugin)
{
	struct triad_http_status status = triad_exports_http_status(plugin->exports);

	add_answer(list, "200", status.n_answers);
	add_answer(list, "400", status.n_bad_requests);
	add_answer(list, "401", status.n_unauthorized);
	add_answer(list, "404", status.n_not_found);
	add_answer(list, "405", status.n_bad_methods);
	add_answer(list, "503", status.n_no_memory);
	count(list, "triad_http_connections_refused",
		"Connections closed because there were too many.", status.n_too_many);
	count(list, "triad_http_timeouts",
		"Connections cut because they took too long.", status.n_timeouts);
}

static void add_sflow(struct list *list, struct triad_plugin *plugin)
{
	struct triad_sflow_sender_status status =
		triad_exports_sflow_status(plugin->exports);
	uint64_t n_drops = 0;

	for (unsigned i = 0; i < status.n_collectors; i++)
		n_drops += status.collectors[i].n_drops;
	count(list, "triad_sflow_samples", "Samples sent to sFlow's collectors.",
		status.n_samples);
	count(list, "triad_sflow_datagrams_dropped",
		"Datagrams that did not leave, for any collector.", n_drops);
}

/* OpenSM's own answers are not seen. */
static void add_paths(struct list *list, struct triad_plugin *plugin)
{
	struct triad_qos_status status = triad_qos_status(plugin->qos);
	const struct triad_qos_server_status *server = &status.server;
	uint64_t n_passed = server->n_overflowed;

	for (unsigned i = 0; i < TRIAD_N_PASSES; i++)
		n_passed += server->n_passed[i];
	gauge(list, "triad_qos_answering", "1 while requests for paths are answered.",
		status.state == TRIAD_QOS_ANSWERING);
	count(list, "triad_path_requests", "Requests for paths that were taken.",
		server->n_received);
	count(list, "triad_path_answers", "Of these, requests answered.",
		server->n_answered + server->n_refused);
	count(list, "triad_path_requests_passed_on", "Of these, left to OpenSM.",
		n_passed);
	gauge(list, "triad_path_answer_p99_seconds",
		"Within this time 99 of 100 answers were sent, since the start.",
		(double)server->latency.p99_ns / 1e9);
	count(list, "triad_qos_policy_failed_loads",
		"QoS policies that were not loaded because of mistakes.",
		status.n_failed_loads);
}

static void add_tables(struct list *list, struct triad_plugin *plugin)
{
	struct triad_tables_status status =
		triad_tables_status(triad_qos_tables(plugin->qos));

	gauge(list, "triad_qos_tables_programmed",
		"1 while a policy's QoS tables are to be in force.",
		status.state != TRIAD_TABLES_OFF &&
			status.state != TRIAD_TABLES_NO_SETUP);
	gauge(list, "triad_qos_tables_different",
		"QoS tables of ports that are not what they should be.",
		(double)status.n_different);
	gauge(list, "triad_qos_tables_unlike",
		"QoS tables that ports answered otherwise, when asked last.",
		(double)status.n_unlike);
	gauge(list, "triad_qos_setup_errors",
		"Errors of the policy's qos-setup on this fabric.",
		(double)status.n_errors);
	count(list, "triad_qos_setups_refused",
		"Setups refused because they would cut the SM off.", status.n_refused);
}

static void add_election_counts(
	struct list *list, const struct triad_elector_status *status)
{
	const struct triad_election_status *election = &status->election;
	const struct triad_cluster_status *transport = &status->transport;

	count(list, "triad_election_elections", "Elections begun.",
		election->n_elections);
	count(list, "triad_election_leases", "Times that this SM got the lease.",
		election->n_leases);
	count(list, "triad_election_leases_lost", "Times that it lost it.",
		election->n_leases_lost);
	count(list, "triad_election_cedes_ignored",
		"CEDE messages that were not heeded: their senders are not better.",
		election->n_ceded_ignored);
	count(list, "triad_election_malformed",
		"Messages and datagrams that made no sense.",
		election->n_malformed + transport->n_malformed);
	count(list, "triad_election_versions",
		"Messages and datagrams of a version that is not known here.",
		election->n_versions + transport->n_versions);
	count(list, "triad_election_forged",
		"Datagrams whose authentication failed: another key, or an attack.",
		transport->n_forged);
	count(list, "triad_election_replayed", "Datagrams that had come before.",
		transport->n_replayed);
	count(list, "triad_election_strangers",
		"Datagrams from addresses that are no peer's.", transport->n_strangers);
	count(list, "triad_election_send_failed",
		"Messages that the cluster did not take.", transport->n_send_failed);
	count(list, "triad_election_dropped",
		"Messages dropped because too many were waiting.", status->n_dropped);
	count(list, "triad_election_store_failed",
		"Times that the state could not be written to disk.",
		status->n_store_failed);
}

static void add_election(struct list *list, struct triad_plugin *plugin)
{
	struct triad_elector_status status;

	triad_elector_status(plugin->elector, &status);
	gauge(list, "triad_election_enabled", "1 while SMs elect.", status.is_on);
	gauge(list, "triad_election_state",
		"0: elections are off, 1: ELECTING, 2: STANDBY, 3: MASTER.",
		status.is_on ? status.election.state : 0);
	gauge(list, "triad_election_is_master",
		"1 while this SM is the master, by the election.",
		status.is_on && status.election.state == TRIAD_ELECTION_MASTER);
	gauge(list, "triad_election_may_enforce",
		"1 while this SM may change the state of ports.",
		status.permission.is_given);
	gauge(list, "triad_election_term",
		"The term of the lease, or the highest known.",
		(double)status.election.term);
	gauge(list, "triad_election_quorate",
		"1 while more than half of the cluster is on this side.",
		status.is_on && status.election.view.is_quorate);
	gauge(list, "triad_election_members", "Members on this side, with this one.",
		status.election.view.n_members);
	add_election_counts(list, &status);
}

static void add_plan(struct list *list, const struct triad_ports_status *status)
{
	for (unsigned i = 0; i < TRIAD_PLAN_N_KINDS; i++) {
		struct triad_metric *metric = add(list, TRIAD_METRIC_GAUGE,
			"triad_ports_items",
			"Items of the plan for switch ports, by what is to be done.",
			status->n_of_kind[i]);

		triad_metric_add_label(metric, "kind", triad_plan_kind_name(i));
	}
	gauge(list, "triad_ports_guarded",
		"Items that are not done because of what they would cut off.",
		status->n_guarded);
	gauge(list, "triad_ports_stopped",
		"1 while nothing is changed because the plan has too many changes.",
		status->may_act && status->agenda.is_stopped);
	gauge(list, "triad_ports_failed",
		"Switch ports that were disabled as failed and not released.",
		status->n_failed);
	gauge(list, "triad_ports_held",
		"Switch ports that are held back until they are tested.",
		status->n_held);
	gauge(list, "triad_ports_under_test", "Switch ports whose tests run.",
		status->n_tests);
	gauge(list, "triad_ports_plan_seconds", "Time that the last plan took.",
		seconds(status->plan_us));
	gauge(list, "triad_ports_sm_lock_seconds",
		"The longest that the SM's lock was held to hold ports back.",
		seconds(status->hold_us));
}

static void add_port_counts(struct list *list, const struct triad_ports_status *status)
{
	count(list, "triad_ports_sets", "Changes of switch ports that were sent.",
		status->n_sets);
	count(list, "triad_ports_sets_failed",
		"Changes that a switch refused or did not answer.",
		status->n_set_failed);
	count(list, "triad_ports_acts_dropped",
		"Changes that were not sent because permission had ended.",
		status->n_dropped);
	count(list, "triad_ports_messages_dropped",
		"Messages about ports dropped because too many were waiting.",
		status->n_inbox_dropped);
	count(list, "triad_ports_messages_malformed",
		"Messages about ports that made no sense, or of another version.",
		status->share.n_malformed + status->share.n_versions);
	gauge(list, "triad_ports_journal_bad_lines",
		"Lines of the journal that could not be read at the start.",
		(double)status->journal_bad);
}

static void add_port_manager(struct list *list, struct triad_plugin *plugin)
{
	struct triad_ports_status status;

	triad_ports_status(plugin->ports, &status);
	gauge(list, "triad_ports_enabled",
		"1 while switch ports are compared with what is expected of them.",
		status.is_enabled);
	gauge(list, "triad_ports_enforcing", "1 while they are to be made so.",
		status.is_enforcing);
	gauge(list, "triad_ports_may_act", "1 while this SM may do that.",
		status.may_act);
	gauge(list, "triad_ports_trouble",
		"1 while something but permission keeps it from acting.",
		status.trouble[0] != '\0');
	gauge(list, "triad_ports_generation",
		"Generation of the expected configuration in force; 0: none.",
		(double)status.generation);
	gauge(list, "triad_ports_expected", "Switch ports that it has.", status.n_rows);
	gauge(list, "triad_ports_mistakes",
		"Mistakes of the expected configuration that was tried last.",
		(double)status.n_mistakes);
	add_plan(list, &status);
	add_port_counts(list, &status);
}

static void add_info(struct list *list)
{
	struct triad_metric *metric =
		add(list, TRIAD_METRIC_INFO, "triad", "Triad and what it runs in.", 1);

	triad_metric_add_label(metric, "version", PACKAGE_VERSION);
	triad_metric_add_label(metric, "opensm", TRIAD_OPENSM_VERSION);
}

/* infiniband_exporter tells how long each of its collectors took: here all are one
 * sweep. */
static void add_collectors(struct list *list, struct triad_plugin *plugin)
{
	static const char *const names[] = {"switch", "hca"};
	struct triad_collector_status status = triad_perf_status(plugin->perf);

	for (unsigned i = 0; i < 2; i++) {
		struct triad_metric *metric = add(list, TRIAD_METRIC_GAUGE,
			"infiniband_exporter_collector_duration_seconds",
			"Time that the last sweep took.", seconds(status.duration_us));

		triad_metric_add_label(metric, "collector", names[i]);
	}
}

size_t triad_own_metrics(
	struct triad_plugin *plugin, struct triad_metric *room, size_t n)
{
	struct list list = {.room = room, .most = n};

	add_info(&list);
	add_sweeps(&list, plugin);
	add_mads(&list, plugin);
	add_alerts(&list, plugin);
	add_topology(&list, plugin);
	add_http(&list, plugin);
	add_sflow(&list, plugin);
	add_paths(&list, plugin);
	add_tables(&list, plugin);
	add_election(&list, plugin);
	add_port_manager(&list, plugin);
	add_collectors(&list, plugin);
	return list.n;
}
