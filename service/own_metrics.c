/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/own_metrics.h"

#include "service/facts.h"
#include "service/health.h"
#include "service/health_congestion.h"
#include "service/health_routes.h"
#include "service/outside.h"
#include "service/service.h"
#include "service/strangers.h"
#include "triad/clock.h"

struct triad_metric *triad_own_add(struct triad_own_metrics *list,
	enum triad_metric_type type, const char *name, const char *help, double value)
{
	struct triad_metric *metric =
		list->n < list->most ? &list->room[list->n++] : &list->nowhere;

	list->n_dropped += metric == &list->nowhere;

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

void triad_own_facts(struct triad_own_metrics *list, const struct triad_fact *facts,
	const void *status)
{
	for (; facts->member.kind != TRIAD_FACT_END; facts++) {
		const struct triad_fact_metric *metric = &facts->metric;
		struct triad_metric *added;
		double value;

		if (!metric->name)
			continue;
		value = triad_fact_value(facts, status);
		if (facts->member.kind == TRIAD_FACT_WHEN && !(value > 0))
			continue;
		added = triad_own_add(
			list, metric->type, metric->name, metric->help, value);
		if (metric->label)
			triad_metric_add_label(added, metric->label, metric->value);
	}
}

static void add_sweeps(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_collector_status status = triad_perf_status(service->perf);
	struct triad_strangers strangers = triad_strangers();

	bool is_running = triad_perf_state(service->perf) == TRIAD_PERF_RUNNING;

	triad_own_gauge(list, "triad_perfmgr_running", "1 while counters are read.",
		is_running);
	/* The last sweep of an SM that no longer reads counters is old. */
	if (!is_running)
		status.last = (struct triad_sweep_progress){0};
	triad_own_facts(list, triad_sweep_facts, &status);
	triad_own_facts(list, triad_mad_facts, &status);
	triad_own_facts(list, triad_stranger_facts, &strangers);
}

static void add_source(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_sa_source_status status = triad_sa_source_status(service->source);

	if (status.active)
		triad_own_gauge(list, "triad_topology_hidden_links",
			"Links that are up, to what the SA does not show this port and "
			"this host did not find.",
			status.n_hidden - status.n_discovered);
	triad_own_facts(list, triad_sa_facts, &status);
}

static void add_alerts(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_watch_status status =
		triad_watch_status(triad_perf_watch(service->perf));

	struct triad_webhook_status webhook = triad_webhook_status(service->webhook);

	/* As for triad_alerts: alerts of an SM that no longer reads counters are
	 * old. */
	if (!triad_health_alerts_report(service))
		status.alerts.n_active = status.alerts.n_silenced =
			status.alerts.n_explained = 0;
	triad_own_facts(list, triad_watch_facts, &status);
	if (webhook.is_on)
		triad_own_facts(list, triad_webhook_facts, &webhook);
}

static void add_devices(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_device_reader_status status =
		triad_device_reader_status(service->devices);

	if (status.is_enabled)
		triad_own_facts(list, triad_device_facts, &status);
}

static void add_speeds(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_speeds_counts counts = triad_speed_reader_counts(service->speeds);

	if (counts.n_ports || counts.n_questions)
		triad_own_facts(list, triad_speed_facts, &counts);
}

static void add_history(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_recorder_status status = triad_recorder_status(service->recorder);

	if (status.is_on)
		triad_own_facts(list, triad_history_facts, &status);
}

static void add_images(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_served served = triad_service_served(service);

	/* What it does not say is not known. */
	if (!served.is_current)
		return;
	if (served.images.is_on)
		triad_own_facts(list, triad_image_facts, &served.images);
	if (served.copies.is_on)
		triad_own_facts(list, triad_copy_facts, &served.copies);
}

static struct triad_metric *add_labelled(struct triad_own_metrics *list,
	const char *name, const char *help, double value, const char *label,
	const char *label_value)
{
	struct triad_metric *metric =
		triad_own_add(list, TRIAD_METRIC_GAUGE, name, help, value);

	triad_metric_add_label(metric, label, label_value);
	return metric;
}

/* The verdict of 'triadctl health', and its reasons. */
static void add_health(struct triad_own_metrics *list, struct triad_service *service)
{
	static const enum triad_severity severities[] = {TRIAD_WARNING, TRIAD_CRITICAL};
	struct triad_health health;

	triad_service_health(service, &health);
	triad_own_gauge(list, "triad_health",
		"0: OK, 1: WARNING, 2: CRITICAL, 3: UNKNOWN, as triadctl health says.",
		health.verdict);
	for (unsigned i = TRIAD_WARNING; i < TRIAD_N_SEVERITIES; i++)
		add_labelled(list, "triad_health_findings",
			"Findings of triadctl health.", health.n_of[i], "severity",
			triad_severity_name((enum triad_severity)i));
	for (unsigned i = 0; i < TRIAD_ALERT_N_KINDS * 2; i++) {
		enum triad_severity severity = severities[i % 2];
		struct triad_metric *metric = add_labelled(list, "triad_alerts",
			"Alerts at present that are not silenced, by what is wrong.",
			health.n_alerts_of[i / 2][severity], "kind",
			triad_alert_kind_name((enum triad_alert_kind)(i / 2)));

		triad_metric_add_label(
			metric, "severity", triad_severity_name(severity));
	}
	for (unsigned i = 0; i < TRIAD_HEALTH_N_OUTPUTS; i++)
		add_labelled(list, "triad_output_failing",
			"1 while an output can't be written or served.",
			health.is_failing[i], "output",
			triad_health_output_name((enum triad_health_output)i));
}

static void add_conf(struct triad_own_metrics *list, struct triad_service *service)
{
	size_t n_mistakes;
	bool is_broken;

	pthread_mutex_lock(&service->conf_lock);
	is_broken = service->conf_state == TRIAD_CONF_BROKEN;
	n_mistakes = service->conf_diags.n_total;
	pthread_mutex_unlock(&service->conf_lock);
	triad_own_gauge(list, "triad_configuration_broken",
		"1 while nothing runs because triad.conf had mistakes at the start.",
		is_broken);
	triad_own_gauge(list, "triad_configuration_mistakes",
		"Mistakes of triad.conf when it was read last.", (double)n_mistakes);
}

static void add_http(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_served served = triad_service_served(service);

	/* What it does not say is not known. */
	if (!served.is_current)
		return;
	triad_own_facts(list, triad_http_facts, &served.prometheus);
	triad_own_facts(list, triad_web_facts, &served.web);
	triad_own_facts(list, triad_profile_facts, &served.profile);
}

static void add_sflow(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_sflow_sender_status status =
		triad_exports_sflow_status(service->exports);
	uint64_t n_drops = 0;

	for (unsigned i = 0; i < status.n_collectors; i++)
		n_drops += status.collectors[i].n_drops;
	triad_own_facts(list, triad_sflow_facts, &status);
	triad_own_count(list, "triad_sflow_datagrams_dropped",
		"Datagrams that did not leave, for any collector.", n_drops);
}

/* Dashboards of infiniband_exporter show the duration of each of its collectors.  Here
 * one sweep does the work of all. */
static void add_collectors(
	struct triad_own_metrics *list, struct triad_service *service)
{
	static const char *const names[] = {"switch", "hca"};
	struct triad_collector_status status = triad_perf_status(service->perf);

	const struct {
		const char *name, *help;
		bool is_known;
		double value;
	} facts[] = {
		{"infiniband_exporter_collector_duration_seconds",
			"Time that the last sweep took.", true,
			triad_own_seconds(status.duration_us)},
		{"infiniband_exporter_collect_errors",
			"Queries of the last sweep that could not be sent, and answers "
			"that were not what was asked for.",
			status.finished_us && status.last_errors != UINT64_MAX,
			(double)status.last_errors},
		{"infiniband_exporter_last_execution",
			"When the last sweep ended, in seconds since 1970.",
			status.finished_us != 0,
			triad_own_seconds((uint64_t)((int64_t)status.finished_us +
				triad_clock_wall_offset_us()))},
	};

	for (unsigned i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		for (unsigned name = 0; name < 2 && facts[i].is_known; name++)
			triad_metric_add_label(
				triad_own_add(list, TRIAD_METRIC_GAUGE, facts[i].name,
					facts[i].help, facts[i].value),
				"collector", names[name]);
}

static void add_collect(struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_collect_status status = triad_collect_status(service->collect);

	if (status.mode == TRIAD_COLLECT_LOCAL)
		return;
	triad_own_facts(list, triad_collect_metrics, &status);
	triad_own_facts(list,
		status.mode == TRIAD_COLLECT_AGENT ? triad_agent_facts
						   : triad_manager_facts,
		&status);
}

size_t triad_own_metrics(
	struct triad_service *service, struct triad_metric *room, size_t n)
{
	/* The last place is for the metric that counts those without room. */
	struct triad_own_metrics list = {.room = room, .most = n ? n - 1 : 0};

	service->owner->add_metrics(service->owner->context, &list);
	add_sweeps(&list, service);
	add_source(&list, service);
	add_alerts(&list, service);
	add_history(&list, service);
	add_images(&list, service);
	add_devices(&list, service);
	add_speeds(&list, service);
	add_health(&list, service);
	triad_routes_add_metrics(&list, service);
	triad_congestion_add_metrics(&list, service);
	add_conf(&list, service);
	add_collect(&list, service);
	add_http(&list, service);
	add_sflow(&list, service);
	add_collectors(&list, service);
	list.most = n;
	triad_own_gauge(&list, "triad_own_metrics_dropped",
		"Metrics of this kind for which there was no room.",
		(double)list.n_dropped);
	return list.n;
}
