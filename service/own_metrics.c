/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/own_metrics.h"

#include "service/service.h"
#include "triad/clock.h"

struct triad_metric *triad_own_add(struct triad_own_metrics *list,
	enum triad_metric_type type, const char *name, const char *help, double value)
{
	static struct triad_metric nowhere; /* what has no room is lost */
	struct triad_metric *metric =
		list->n < list->most ? &list->room[list->n++] : &nowhere;

	*metric = (struct triad_metric){
		.name = name, .help = help, .type = type, .value = value};
	return metric;
}

void triad_own_count(struct triad_own_metrics *list, const char *name, const char *help,
	uint64_t value)
{
	triad_own_add(list, TRIAD_METRIC_COUNTER, name, help, (double)value);
}

void triad_own_gauge(struct triad_own_metrics *list, const char *name, const char *help,
	double value)
{
	triad_own_add(list, TRIAD_METRIC_GAUGE, name, help, value);
}

double triad_own_seconds(uint64_t us)
{
	return (double)us / (double)TRIAD_US_PER_S;
}

static void add_sweeps(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_collector_status status = triad_perf_status(service->perf);
	uint64_t ago_us = triad_clock_now_us() - status.finished_us;

	triad_own_gauge(list, "triad_perfmgr_running", "1 while counters are read.",
		triad_perf_state(service->perf) == TRIAD_PERF_RUNNING);
	triad_own_count(list, "triad_sweeps", "Sweeps of all ports that ended.",
		status.n_sweeps);
	triad_own_count(list, "triad_sweeps_late", "Of these, longer than the period.",
		status.n_late);
	triad_own_count(list, "triad_group_sweeps", "Sweeps of port groups that ended.",
		status.n_group_sweeps);
	triad_own_gauge(list, "triad_sweep_duration_seconds",
		"Time that the last sweep took.",
		triad_own_seconds(status.duration_us));
	triad_own_gauge(list, "triad_sweep_period_seconds",
		"Time from one sweep to the next, as configured.",
		triad_own_seconds(status.period_us));
	triad_own_gauge(list, "triad_sweep_delay_seconds",
		"How late the last sweep began after its time.",
		triad_own_seconds(status.delay_us));
	if (status.n_sweeps)
		triad_own_gauge(list, "triad_sweep_finished_timestamp_seconds",
			"When the last sweep ended.",
			triad_own_seconds(triad_clock_wall_us() - ago_us));
	triad_own_gauge(list, "triad_ports", "Ports that the last sweep asked.",
		status.last.n_ports);
	triad_own_gauge(list, "triad_ports_unanswered",
		"Of these, ports that did not answer.", status.last.n_unanswered);
	triad_own_gauge(list, "triad_ports_without_partition",
		"Ports not asked, because they share no partition with this one.",
		status.partitions.n_apart);
}

static void add_source(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_sa_source_status status = triad_sa_source_status(service->source);

	if (status.active)
		triad_own_gauge(list, "triad_topology_hidden_links",
			"Links that are up, to what the SA does not show this port and "
			"this host did not find.",
			status.n_hidden - status.n_lent);
}

static void add_mads(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_collector_status status = triad_perf_status(service->perf);
	const struct triad_sweep_counts *counts = &status.counts;

	triad_own_count(
		list, "triad_mads_sent", "Questions sent to agents.", counts->sent);
	triad_own_count(
		list, "triad_mads_received", "Answers to them.", counts->received);
	triad_own_count(list, "triad_mads_timeouts", "Questions not answered in time.",
		counts->timeouts);
	triad_own_count(
		list, "triad_mads_retries", "Questions asked again.", counts->retries);
	triad_own_count(list, "triad_mads_late",
		"Answers that nobody waited for any more.", counts->late);
	triad_own_count(list, "triad_mads_malformed", "Answers that made no sense.",
		counts->malformed);
	triad_own_count(
		list, "triad_mads_refused", "Answers with an error.", counts->refused);
	triad_own_count(list, "triad_impossible_readings",
		"Readings by which a link carried more than it can.",
		status.n_impossible);
	triad_own_count(list, "triad_hardware_resets",
		"Ports whose counters were reset.", counts->resets);
}

static void add_sa(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_sa_source_status status = triad_sa_source_status(service->source);

	triad_own_count(list, "triad_sa_refreshes",
		"Times that the topology was read from the SA.", status.n_refreshes);
	triad_own_count(list, "triad_sa_reports",
		"Reports of the SM: ports that came or went.", status.n_reports);
	triad_own_count(list, "triad_sa_reports_not_from_sm",
		"Reports that others sent; they are ignored.",
		status.n_unknown_senders);
}

static void add_alerts(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_watch_status status =
		triad_watch_status(triad_perf_watch(service->perf));

	triad_own_gauge(list, "triad_alerts_active", "Alerts at present.",
		status.alerts.n_active);
	triad_own_count(
		list, "triad_alerts_raised", "Alerts so far.", status.alerts.n_raised);
	triad_own_count(list, "triad_alerts_cleared", "Of these, alerts that are over.",
		status.alerts.n_cleared);
}

static void add_answer(struct triad_own_metrics *list, const char *code, uint64_t n)
{
	struct triad_metric *metric = triad_own_add(list, TRIAD_METRIC_COUNTER,
		"triad_http_answers", "Answers to those who asked by HTTP.", (double)n);

	triad_metric_add_label(metric, "code", code);
}

static void add_http(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_http_status status = triad_exports_http_status(service->exports);

	add_answer(list, "200", status.n_answers);
	add_answer(list, "400", status.n_bad_requests);
	add_answer(list, "401", status.n_unauthorized);
	add_answer(list, "404", status.n_not_found);
	add_answer(list, "405", status.n_bad_methods);
	add_answer(list, "503", status.n_no_memory);
	triad_own_count(list, "triad_http_connections_refused",
		"Connections closed because there were too many.", status.n_too_many);
	triad_own_count(list, "triad_http_timeouts",
		"Connections cut because they took too long.", status.n_timeouts);
}

static void add_sflow(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_sflow_sender_status status =
		triad_exports_sflow_status(service->exports);
	uint64_t n_drops = 0;

	for (unsigned i = 0; i < status.n_collectors; i++)
		n_drops += status.collectors[i].n_drops;
	triad_own_count(list, "triad_sflow_samples",
		"Samples sent to sFlow's collectors.", status.n_samples);
	triad_own_count(list, "triad_sflow_datagrams_dropped",
		"Datagrams that did not leave, for any collector.", n_drops);
}

/* infiniband_exporter tells how long each of its collectors took: here all are one
 * sweep. */
static void add_collectors(
	struct triad_own_metrics *list, struct triad_service *service)
{
	static const char *const names[] = {"switch", "hca"};
	struct triad_collector_status status = triad_perf_status(service->perf);

	for (unsigned i = 0; i < 2; i++) {
		struct triad_metric *metric = triad_own_add(list, TRIAD_METRIC_GAUGE,
			"infiniband_exporter_collector_duration_seconds",
			"Time that the last sweep took.",
			triad_own_seconds(status.duration_us));

		triad_metric_add_label(metric, "collector", names[i]);
	}
}

static void add_collect(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_collect_status status = triad_collect_status(service->collect);

	if (status.mode == TRIAD_COLLECT_LOCAL)
		return;
	triad_own_gauge(list, "triad_broker_connected",
		"1 while there is a connection to a broker.", status.bus.is_connected);
	triad_own_gauge(
		list, "triad_agents_alive", "Agents that are heard.", status.n_alive);
	triad_own_gauge(list, "triad_agents_nodes_without_owner",
		"Nodes that no agent owns.", status.n_unowned);
	triad_own_count(list, "triad_agents_messages_received",
		"Messages from the broker.", status.bus.n_received);
	triad_own_count(list, "triad_agents_messages_sent", "Messages to the broker.",
		status.bus.n_sent);
	triad_own_count(list, "triad_agents_messages_dropped",
		"Messages that found no connection or no room.",
		status.bus.n_send_dropped + status.bus.n_receive_dropped);
	triad_own_count(list, "triad_agents_claims_refused", "Claims that can't be.",
		status.claims.n_refused);
	if (status.mode == TRIAD_COLLECT_AGENT) {
		triad_own_gauge(list, "triad_agent_nodes_owned",
			"Nodes that this agent reads.", status.n_owned);
		triad_own_count(list, "triad_agent_octets_told",
			"Octets of counters told up the tree.",
			status.reporter.n_octets);
		return;
	}
	triad_own_gauge(list, "triad_agents_nodes_not_seen",
		"Nodes whose counters nobody tells.", status.aggregator.n_nodes_unseen);
	triad_own_gauge(list, "triad_agents_ports_not_seen", "Ports of these.",
		status.aggregator.n_ports_unseen);
	triad_own_gauge(list, "triad_agents_oldest_data_seconds",
		"Age of the last word of the agent that is the furthest behind.",
		triad_own_seconds(status.aggregator.oldest_us));
	triad_own_count(list, "triad_agents_rows", "Ports told of by agents.",
		status.aggregator.n_rows);
	triad_own_count(list, "triad_agents_data_missing",
		"Messages of agents that did not come.", status.aggregator.n_missing);
}

size_t triad_own_metrics(
	struct triad_service *service, struct triad_metric *room, size_t n)
{
	struct triad_own_metrics list = {.room = room, .most = n};

	service->owner->add_metrics(service->owner->context, &list);
	add_sweeps(&list, service);
	add_source(&list, service);
	add_mads(&list, service);
	add_sa(&list, service);
	add_alerts(&list, service);
	add_collect(&list, service);
	add_http(&list, service);
	add_sflow(&list, service);
	add_collectors(&list, service);
	return list.n;
}
