/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "plugin/own_metrics.h"

#include "plugin/election/elector.h"
#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "plugin/qos/qos.h"
#include "plugin/qos/tables/tables.h"
#include "plugin/worker.h"
#include "service/own_metrics.h"

static void add_info(struct triad_own_metrics *list)
{
	struct triad_metric *metric = triad_own_add(
		list, TRIAD_METRIC_INFO, "triad", "Triad and what it runs in.", 1);

	triad_metric_add_label(metric, "version", PACKAGE_VERSION);
	triad_metric_add_label(metric, "opensm", TRIAD_OPENSM_VERSION);
}

static void add_topology(struct triad_own_metrics *list, struct triad_plugin *plugin)
{
	struct triad_worker_status status = triad_worker_status(plugin->worker);
	struct triad_events_counts events = triad_events_counts(plugin->events);

	triad_own_gauge(
		list, "triad_fabric_nodes", "Nodes of the fabric.", status.n_nodes);
	triad_own_gauge(
		list, "triad_fabric_links", "Links of the fabric.", status.n_links);
	triad_own_gauge(list, "triad_sm_lock_seconds",
		"How long the SM's lock was held at a time for the last copy of the "
		"fabric.",
		triad_own_seconds(status.lock_us));
	triad_own_gauge(list, "triad_sm_two_masters",
		"1 while another SM is master beside this one, for more than 10 seconds.",
		status.sm.is_raised[TRIAD_SM_TWO_MASTERS]);
	triad_own_gauge(list, "triad_sm_sweep_unended",
		"1 while a heavy sweep of this SM is not through for a minute, or three "
		"times the longest before.",
		status.sm.is_raised[TRIAD_SM_SWEEP_UNENDED]);
	triad_own_count(list, "triad_events_dropped",
		"Events of OpenSM's that were lost.", events.dropped);
}

/* OpenSM's own answers are not seen. */
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
	triad_own_count(list, "triad_path_requests",
		"Requests for paths that were taken.", server->n_received);
	triad_own_count(list, "triad_path_answers", "Of these, requests answered.",
		server->n_answered + server->n_refused);
	triad_own_count(list, "triad_path_requests_passed_on",
		"Of these, left to OpenSM.", n_fallbacks);
	triad_own_gauge(list, "triad_path_answer_p99_seconds",
		"Within this time 99 of 100 answers were sent, since the start.",
		(double)server->latency.p99_ns / 1e9);
	triad_own_count(list, "triad_qos_policy_failed_loads",
		"QoS policies that were not loaded because of mistakes.",
		status.n_failed_loads);
}

static void add_tables(struct triad_own_metrics *list, struct triad_plugin *plugin)
{
	struct triad_tables_status status =
		triad_tables_status(triad_qos_tables(plugin->qos));

	triad_own_gauge(list, "triad_qos_tables_programmed",
		"1 while a policy's QoS tables are to be in force.",
		status.state != TRIAD_TABLES_OFF &&
			status.state != TRIAD_TABLES_NO_SETUP);
	triad_own_gauge(list, "triad_qos_tables_different",
		"QoS tables of ports that are not what they should be.",
		(double)status.n_different);
	triad_own_gauge(list, "triad_qos_tables_unlike",
		"QoS tables that differed when ports were last asked.",
		(double)status.n_unlike);
	triad_own_gauge(list, "triad_qos_setup_errors",
		"Errors of the policy's qos-setup on this fabric.",
		(double)status.n_errors);
	triad_own_count(list, "triad_qos_setups_refused",
		"Setups refused because they would cut the SM off.", status.n_refused);
}

static void add_election_counts(
	struct triad_own_metrics *list, const struct triad_elector_status *status)
{
	const struct triad_election_status *election = &status->election;
	const struct triad_cluster_status *transport = &status->transport;

	triad_own_count(list, "triad_election_elections", "Elections begun.",
		election->n_elections);
	triad_own_count(list, "triad_election_leases",
		"Times that this SM got the lease.", election->n_leases);
	triad_own_count(list, "triad_election_leases_lost", "Times that it lost it.",
		election->n_leases_lost);
	triad_own_count(list, "triad_election_cedes_ignored",
		"CEDE messages that were ignored: their senders are not better.",
		election->n_ceded_ignored);
	triad_own_count(list, "triad_election_malformed",
		"Messages and datagrams that were malformed.",
		election->n_malformed + transport->n_malformed);
	triad_own_count(list, "triad_election_versions",
		"Messages and datagrams of a version that is not known here.",
		election->n_versions + transport->n_versions);
	triad_own_count(list, "triad_election_forged",
		"Datagrams whose authentication failed: another key, or an attack.",
		transport->n_forged);
	triad_own_count(list, "triad_election_replayed",
		"Datagrams that were repeated.", transport->n_replayed);
	triad_own_count(list, "triad_election_strangers",
		"Datagrams from addresses that are not configured.",
		transport->n_unknown_senders);
	triad_own_count(list, "triad_election_send_failed",
		"Messages that the cluster did not take.", transport->n_send_failed);
	triad_own_count(list, "triad_election_dropped",
		"Messages dropped because too many were waiting.", status->n_dropped);
	triad_own_count(list, "triad_election_late",
		"Times that the election ran half a lease late, or later.",
		status->n_late);
	triad_own_count(list, "triad_election_store_failed",
		"Times that the state could not be written to disk.",
		status->n_store_failed);
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
	add_election_counts(list, &status);
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
	triad_own_gauge(list, "triad_ports_guarded",
		"Items that are not done because of what they would cut off.",
		status->n_guarded);
	triad_own_gauge(list, "triad_ports_stopped",
		"1 while nothing is changed because the plan has too many changes.",
		status->may_act && status->agenda.is_stopped);
	triad_own_gauge(list, "triad_ports_failed",
		"Switch ports that were disabled as failed and not released.",
		status->n_failed);
	triad_own_gauge(list, "triad_ports_held",
		"Switch ports that are held back until they are tested.",
		status->n_held);
	triad_own_gauge(list, "triad_ports_under_test", "Switch ports whose tests run.",
		status->n_tests);
	triad_own_gauge(list, "triad_ports_plan_seconds",
		"Time that the last plan took.", triad_own_seconds(status->plan_us));
	triad_own_gauge(list, "triad_ports_sm_lock_seconds",
		"The longest that the SM's lock was held to hold ports back.",
		triad_own_seconds(status->hold_us));
}

static void add_port_counts(
	struct triad_own_metrics *list, const struct triad_ports_status *status)
{
	triad_own_count(list, "triad_ports_sets",
		"Changes of switch ports that were sent.", status->n_sets);
	triad_own_count(list, "triad_ports_sets_failed",
		"Changes that a switch refused or did not answer.",
		status->n_set_failed);
	triad_own_count(list, "triad_ports_acts_dropped",
		"Changes that were not sent because permission had ended.",
		status->n_dropped);
	triad_own_count(list, "triad_ports_messages_dropped",
		"Messages about ports dropped because too many were waiting.",
		status->n_inbox_dropped);
	triad_own_count(list, "triad_ports_messages_malformed",
		"Messages about ports that were malformed, or of another version.",
		status->replica.n_malformed + status->replica.n_versions);
	triad_own_gauge(list, "triad_ports_journal_bad_lines",
		"Lines of the journal that could not be read at the start.",
		(double)status->journal_bad);
}

static void add_port_manager(
	struct triad_own_metrics *list, struct triad_plugin *plugin)
{
	struct triad_ports_status status;

	triad_ports_status(plugin->ports, &status);
	triad_own_gauge(list, "triad_ports_enabled",
		"1 while switch ports are compared with what is expected of them.",
		status.is_enabled);
	triad_own_gauge(list, "triad_ports_enforcing",
		"1 while they are to be made so.", status.is_enforcing);
	triad_own_gauge(list, "triad_ports_may_act", "1 while this SM may do that.",
		status.may_act);
	triad_own_gauge(list, "triad_ports_trouble",
		"1 while something but permission keeps it from acting.",
		status.trouble[0] != '\0');
	triad_own_gauge(list, "triad_ports_generation",
		"Generation of the expected configuration in force; 0: none.",
		(double)status.generation);
	triad_own_gauge(list, "triad_ports_expected", "Switch ports that it has.",
		status.n_rows);
	triad_own_gauge(list, "triad_ports_mistakes",
		"Mistakes of the expected configuration that was tried last.",
		(double)status.n_mistakes);
	add_plan(list, &status);
	add_port_counts(list, &status);
}

void triad_plugin_add_metrics(void *context, struct triad_own_metrics *list)
{
	struct triad_plugin *plugin = context;

	add_info(list);
	add_topology(list, plugin);
	add_paths(list, plugin);
	add_tables(list, plugin);
	add_election(list, plugin);
	add_port_manager(list, plugin);
}
