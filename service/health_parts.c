/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The health of the service's own parts. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "service/health.h"
#include "service/health_congestion.h"
#include "service/health_exports.h"
#include "service/health_links.h"
#include "service/health_routes.h"
#include "service/peer.h"
#include "service/service.h"
#include "triad/clock.h"
#include "triad/descriptors.h"

/* A sweep counts as missing when it is this many periods late. */
#define MISSING_PERIODS 3
#define SLACK_US (10 * TRIAD_US_PER_S)
/* For so long after the last one a client that was turned away is a finding. */
#define DESCRIPTORS_US (20 * TRIAD_US_PER_S)

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* --- configuration --- */

static bool add_group(struct triad_health *health, const char *key, const char *group)
{
	char what[128];

	if (triad_peer_has_group(group))
		return false;
	snprintf(what, sizeof(what), "there is no group '%.64s' on this host", group);
	triad_health_add_trouble(health, TRIAD_WARNING, key, what,
		"its members can't use the control socket: make the group, or name "
		"another one in triad.conf");
	return true;
}

static bool add_groups(struct triad_health *health, struct triad_service *service)
{
	const struct triad_conf *conf = triad_service_conf(service);
	bool lacks = add_group(health, "control.group", conf->control.group);

	lacks |= add_group(health, "control.admin_group", conf->control.admin_group);
	triad_conf_unref(conf);
	return lacks;
}

static void add_conf(struct triad_health *health, struct triad_service *service)
{
	char what[TRIAD_DIAG_TEXT_SIZE * 2 + 128];
	enum triad_conf_state state;
	struct triad_diags diags;
	char path[sizeof(service->conf_path)];
	bool lacks_group = add_groups(health, service);

	pthread_mutex_lock(&service->conf_lock);
	state = service->conf_state;
	diags = service->conf_diags;
	memcpy(path, service->conf_path, sizeof(path));
	pthread_mutex_unlock(&service->conf_lock);
	if (state == TRIAD_CONF_BROKEN) {
		snprintf(what, sizeof(what), "%zu mistake%s in %.512s, so nothing runs",
			diags.n_total, plural(diags.n_total), path);
		triad_health_add_trouble(health, TRIAD_CRITICAL, "configuration", what,
			"mend what 'triadctl status --all' shows at its end, then "
			"'triadctl reload'");
		triad_health_line(health, "configuration", "Configuration",
			TRIAD_CRITICAL, "%s", what);
	} else if (diags.n) {
		snprintf(what, sizeof(what),
			"%.512s had %zu mistake%s at the last reload, and is not in "
			"force",
			path, diags.n_total, plural(diags.n_total));
		triad_health_add_trouble(health, TRIAD_WARNING, "configuration", what,
			"'triadctl config diff' shows those that it still has; mend them, "
			"then 'triadctl reload'");
		triad_health_line(health, "configuration", "Configuration",
			TRIAD_WARNING, "%s", what);
	} else {
		triad_health_line(health, "configuration", "Configuration",
			lacks_group ? TRIAD_WARNING : TRIAD_OK, "%s",
			state == TRIAD_CONF_LOADED ? path : "defaults, without a file");
	}
}

/* --- sweeps and ports --- */

/* Reports that no sweep has ended for 'missing_us'. */
static void add_missing_sweep(struct triad_health *health,
	const struct triad_collector_status *status, uint64_t missing_us)
{
	char what[128], length[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format_length(missing_us, length);
	snprintf(what, sizeof(what), "no sweep has ended for %s", length);
	triad_health_add_trouble(health, TRIAD_CRITICAL, "sweep", what,
		status->send_errors
			? "MADs can't be sent: look at the local port and at the log"
			: "look at the log");
	triad_health_line(health, "sweep", "Sweep", TRIAD_CRITICAL, "%s", what);
}

/* 'is_round': a manager, where a period of agents' reports counts as a sweep. */
static void add_last_sweep(struct triad_health *health,
	const struct triad_collector_status *status, bool is_round, uint64_t now_us)
{
	bool is_late = !is_round && status->duration_us > status->period_us;
	uint32_t n_awaited = status->last.n_unanswered - status->last.n_left_out;
	char ago[TRIAD_CLOCK_TEXT_SIZE];

	if (is_late && n_awaited)
		triad_health_add_trouble(health, TRIAD_WARNING, "sweep",
			"the last sweep took longer than perfmgr.sweep_period, and "
			"waited for ports that did not answer",
			"mend these ('triadctl nodes' shows of which nodes) or leave "
			"them out by a group; or raise perfmgr.sweep_period");
	else if (is_late)
		triad_health_add_trouble(health, TRIAD_WARNING, "sweep",
			"the last sweep took longer than perfmgr.sweep_period",
			"raise perfmgr.sweep_period or perfmgr.window, or let agents "
			"read");
	triad_clock_format_length(now_us - status->finished_us, ago);
	triad_health_line(health, "sweep", "Sweep", is_late ? TRIAD_WARNING : TRIAD_OK,
		"%s ago, took %.2f s; every %" PRIu64 " s, %" PRIu64 " so far", ago,
		(double)status->duration_us / 1e6, status->period_us / TRIAD_US_PER_S,
		status->n_sweeps);
}

/* For the state in which counters are read.  A sweep is due only from the last change
 * of the role or the period on. */
static void add_running_sweep(
	struct triad_health *health, struct triad_service *service)
{
	struct triad_collector_status status = triad_perf_status(service->perf);
	uint64_t since_us = triad_perf_expects_since(service->perf);
	uint64_t now_us = triad_clock_now_us();
	/* A sweep that takes longer than a period delays the next one. */
	uint64_t each_us = status.duration_us > status.period_us ? status.duration_us
								 : status.period_us;

	if (status.finished_us > since_us)
		since_us = status.finished_us;
	if (now_us > since_us + MISSING_PERIODS * each_us + SLACK_US) {
		add_missing_sweep(health, &status, now_us - since_us);
	} else if (status.n_sweeps) {
		add_last_sweep(health, &status,
			triad_collect_is_manager(service->collect), now_us);
	} else {
		triad_health_add_trouble(health, TRIAD_UNKNOWN, "sweep",
			"no sweep has ended yet", "wait for the first");
		triad_health_line(health, "sweep", "Sweep", TRIAD_UNKNOWN,
			"the first is under way");
	}
	health->sweep_us = status.duration_us;
	health->n_ports = status.last.n_ports;
	health->n_unanswered = status.last.n_unanswered;
}

static void add_sweep(struct triad_health *health, struct triad_service *service)
{
	const char *trouble = triad_service_trouble(service);

	if (!trouble) {
		add_running_sweep(health, service);
		return;
	}
	triad_health_add_trouble(health,
		triad_perf_state(service->perf) == TRIAD_PERF_NO_TRANSPORT
			? TRIAD_CRITICAL
			: TRIAD_UNKNOWN,
		"sweep", "no counters are read", trouble);
	triad_health_line(health, "sweep", "Sweep", TRIAD_UNKNOWN, "%s", trouble);
}

/* --- alerts --- */

/* Puts the alert's first finding that is still there before all others.  False: all are
 * over, and the alert ends after alerts.clear_after. */
static bool put_present_first(struct triad_alert *alert)
{
	struct triad_alert_finding first;
	unsigned i = 0;

	while (i < alert->n_findings &&
		(!alert->findings[i].raised || alert->findings[i].under_us))
		i++;
	if (i == alert->n_findings)
		return false;
	first = alert->findings[i];
	alert->findings[i] = alert->findings[0];
	alert->findings[0] = first;
	return true;
}

static void describe_alert(
	struct triad_health_finding *finding, const struct triad_alert *alert)
{
	const char *advice = triad_alert_advice(alert);
	char text[200];

	triad_alert_place_format(alert, 0, finding->at, sizeof(finding->at));
	if (alert->n_ends > 1)
		triad_alert_place_format(
			alert, 1, finding->far_end, sizeof(finding->far_end));
	triad_alert_finding_format(alert, &alert->findings[0], text, sizeof(text));
	snprintf(finding->what, sizeof(finding->what), "%s", text);
	if (alert->n_findings > 1)
		snprintf(finding->what, sizeof(finding->what),
			"%s, and %u more finding%s", text, alert->n_findings - 1,
			plural(alert->n_findings - 1));
	if (finding->is_over)
		triad_text_append(
			finding->what, sizeof(finding->what), ", but not any more");
	snprintf(finding->advice, sizeof(finding->advice), "%s", advice ? advice : "");
}

static void add_alerts(struct triad_health *health, struct triad_service *service)
{
	struct triad_watch *watch = triad_perf_watch(service->perf);
	uint32_t cursor = 0, n_of[TRIAD_N_SEVERITIES] = {0};
	enum triad_severity worst = TRIAD_OK, severity;
	struct triad_health_finding finding;
	struct triad_alert alert;
	bool is_over;
	char silenced[32] = "", over[32] = "";
	uint32_t n_over = 0;

	while (triad_watch_next_alert(watch, &cursor, &alert)) {
		if (alert.state != TRIAD_ALERT_ACTIVE)
			continue;
		if (alert.silence) {
			health->n_silenced++;
			continue;
		}
		severity = triad_alert_severity(&alert);
		health->n_alerts_of[triad_alert_kind(&alert)][severity]++;
		is_over = !put_present_first(&alert);
		finding = (struct triad_health_finding){
			.severity =
				is_over ? TRIAD_WARNING : triad_alert_severity(&alert),
			.is_over = is_over,
			.weight = alert.n_nodes > alert.n_links ? alert.n_nodes
								: alert.n_links,
			.since_us = alert.findings[0].since_us,
			.alert = alert.id,
		};
		/* Make texts only of those that are kept: there may be 65,536
		 * alerts. */
		if (triad_health_would_keep(health, &finding))
			describe_alert(&finding, &alert);
		triad_health_add(health, &finding);
		n_of[finding.severity]++;
		n_over += finding.is_over;
		if (triad_severity_is_worse(finding.severity, worst))
			worst = finding.severity;
	}
	health->n_alerts = n_of[TRIAD_WARNING] + n_of[TRIAD_CRITICAL];
	if (health->n_silenced)
		snprintf(silenced, sizeof(silenced), ", %" PRIu32 " silenced",
			health->n_silenced);
	if (n_over)
		snprintf(over, sizeof(over), " (%" PRIu32 " not any more)", n_over);
	triad_health_line(health, "alerts", "Alerts", worst,
		"%" PRIu32 " critical, %" PRIu32 " warning%s%s%s; %" PRIu64
		" raised since the start",
		n_of[TRIAD_CRITICAL], n_of[TRIAD_WARNING], plural(n_of[TRIAD_WARNING]),
		over, silenced, triad_watch_status(watch).alerts.n_raised);
}

/* Reports ports that did not answer; only without alerts. */
static void add_unanswered(struct triad_health *health)
{
	uint32_t n = health->n_unanswered;
	char what[96];

	if (!n)
		return;
	snprintf(what, sizeof(what),
		"%" PRIu32 " port%s did not answer in the last sweep", n, plural(n));
	triad_health_add_trouble(health, TRIAD_WARNING, "ports", what,
		"'triadctl nodes' shows of which nodes");
}

/* Reports silences that a restart would lose or has lost. */
static void add_silences(struct triad_health *health, struct triad_service *service)
{
	struct triad_silence_keeper_status status =
		triad_silence_keeper_status(service->silences);
	char what[sizeof(status.path) + sizeof(status.trouble) + 2];

	if (!status.trouble[0])
		return;
	snprintf(what, sizeof(what), "%s: %s", status.path, status.trouble);
	triad_health_add_trouble(health, TRIAD_WARNING, "silences", what,
		"mend it, then give the silences that 'triadctl silences' lacks again");
}

static void add_watch(struct triad_health *health, struct triad_service *service)
{
	const struct triad_conf *conf = triad_service_conf(service);

	if (conf->alerts.enabled) {
		add_alerts(health, service);
	} else {
		triad_health_line_off(health, "alerts", "Alerts",
			"off: alerts.enabled is false; counters are not compared with "
			"thresholds");
		add_unanswered(health);
	}
	if (!conf->alerts.enabled || !conf->alerts.links)
		triad_links_add_findings(health, service);
	add_silences(health, service);
	triad_conf_unref(conf);
}

bool triad_health_alerts_report(struct triad_service *service)
{
	const struct triad_conf *conf = triad_service_conf(service);
	bool is_reported = conf->alerts.enabled &&
		(triad_perf_state(service->perf) == TRIAD_PERF_RUNNING ||
			triad_perf_is_idle_master(service->perf));

	triad_conf_unref(conf);
	return is_reported;
}

/* Reports the fabric, but not while this SM reads no counters: its findings are old,
 * and the SM that reads counters now reports those that are left. */
static void add_fabric(struct triad_health *health, struct triad_service *service)
{
	static const char old[] = "not looked at here";
	enum triad_perf_state state = triad_perf_state(service->perf);

	if (state == TRIAD_PERF_DISABLED || state == TRIAD_PERF_OTHER_ROLE) {
		/* Off by configuration, so not a finding. */
		triad_health_line_off(
			health, "sweep", "Sweep", triad_service_trouble(service));
		triad_health_line_off(health, "ports", "Ports", old);
		/* An idle master still has alerts about routes. */
		if (triad_perf_is_idle_master(service->perf) &&
			triad_health_alerts_report(service))
			add_alerts(health, service);
		else
			triad_health_line_off(health, "alerts", "Alerts", old);
	} else {
		add_sweep(health, service);
		triad_links_add_health(health, service);
		add_watch(health, service);
	}
}

/* --- agents --- */

static void add_manager(
	struct triad_health *health, const struct triad_collect_status *status)
{
	uint32_t n_dead = status->n_agents - status->n_alive;
	enum triad_severity severity = TRIAD_OK;
	char what[160];

	if (status->n_unowned > status->n_apart) {
		severity = TRIAD_CRITICAL;
		snprintf(what, sizeof(what), "%" PRIu32 " node%s read by no agent",
			status->n_unowned, plural(status->n_unowned));
		triad_health_add_trouble(health, severity, "agents", what,
			"start agents: 'triadctl agents' shows those that there were");
	} else if (n_dead) {
		severity = TRIAD_WARNING;
		snprintf(what, sizeof(what), "%" PRIu32 " agent%s not heard", n_dead,
			plural(n_dead));
		triad_health_add_trouble(health, severity, "agents", what,
			"'triadctl agents' shows which, and on which hosts");
	}
	if (status->n_mute) {
		severity = severity == TRIAD_OK ? TRIAD_WARNING : severity;
		snprintf(what, sizeof(what),
			"the counters of %" PRIu32 " agent%s are old", status->n_mute,
			plural(status->n_mute));
		triad_health_add_trouble(health, TRIAD_WARNING, "agents", what,
			"'triadctl agents' shows which are silent or foreign; look at "
			"'triadctl health' on their hosts");
	}
	triad_health_line(health, "agents", "Agents", severity,
		"%" PRIu32 " of %" PRIu32 " alive; %" PRIu32 " nodes, %" PRIu32
		" without an owner",
		status->n_alive, status->n_agents, status->n_nodes, status->n_unowned);
}

static void add_agent(
	struct triad_health *health, const struct triad_collect_status *status)
{
	bool is_received = status->n_managers || status->master;

	if (!is_received)
		triad_health_add_trouble(health, TRIAD_WARNING, "agents",
			"no manager is heard, so nobody shows what this agent reads",
			"look whether the plugin in the master's OpenSM has "
			"collect.mode = manager");
	triad_health_line(health, "agents", "Agents",
		is_received ? TRIAD_OK : TRIAD_WARNING,
		"this one reads %" PRIu32 " of %" PRIu32 " nodes%s; %" PRIu32
		" manager%s heard",
		status->n_owned, status->n_nodes,
		status->is_draining ? ", draining" : "", status->n_managers,
		plural(status->n_managers));
}

static void add_agents(struct triad_health *health, struct triad_service *service)
{
	struct triad_collect_status status = triad_collect_status(service->collect);
	char what[192];

	if (status.mode == TRIAD_COLLECT_LOCAL) {
		triad_health_line_off(
			health, "agents", "Agents", "none: counters are read here");
		return;
	}
	if (!status.bus.is_connected) {
		snprintf(what, sizeof(what), "not connected to a broker: %.120s",
			status.bus.reason[0] ? status.bus.reason : "not yet");
		triad_health_add_trouble(health, TRIAD_CRITICAL, "agents", what,
			status.bus.lacks_triadd
				? TRIAD_SERVED_RESTART ", and see its log"
				: "look at nats-server and collect.servers");
		triad_health_line(
			health, "agents", "Agents", TRIAD_CRITICAL, "%s", what);
	} else if (status.mode == TRIAD_COLLECT_MANAGER) {
		add_manager(health, &status);
	} else {
		add_agent(health, &status);
	}
}

/* --- devices --- */

/* Reports devices that answered before and no longer do: they are broken or refuse.
 * Devices that never answered may not support these MADs. */
static void add_fallen_silent(struct triad_health *health, uint32_t n)
{
	char what[128];

	if (!n)
		return;
	snprintf(what, sizeof(what),
		"%" PRIu32 " device%s told of %s before and do%s not answer any more",
		n, plural(n), n == 1 ? "itself" : "themselves", n == 1 ? "es" : "");
	triad_health_add_trouble(health, TRIAD_WARNING, "devices", what,
		"see 'triadctl devices'; devices.enabled set to false and true asks "
		"them again");
}

static void add_devices(struct triad_health *health, struct triad_service *service)
{
	struct triad_device_reader_status status =
		triad_device_reader_status(service->devices);
	const struct triad_devices_counts *counts = &status.counts;

	if (!status.is_enabled) {
		triad_health_line_off(health, "devices", "Devices",
			"not asked: devices.enabled is false");
	} else if (triad_collect_is_manager(service->collect)) {
		triad_health_line_off(health, "devices", "Devices",
			"agents ask those that they read");
	} else if (status.error) {
		triad_health_add_trouble(health, TRIAD_WARNING, "devices",
			"the local port can't be opened for their MADs", "see the log");
		triad_health_line(health, "devices", "Devices", TRIAD_WARNING,
			"not asked: %s", strerror(status.error));
	} else {
		add_fallen_silent(health, counts->n_fell_silent);
		triad_health_line(health, "devices", "Devices",
			counts->n_faulty || counts->n_fell_silent ? TRIAD_WARNING
								  : TRIAD_OK,
			"%" PRIu32 " of %" PRIu32 " told of themselves, %" PRIu32
			" refused something, %" PRIu32 " silent; %" PRIu32
			" cable%s, %" PRIu32 " fault%s",
			counts->n_reported, counts->n_devices, counts->n_refused,
			counts->n_silent, counts->n_cables, plural(counts->n_cables),
			counts->n_faulty, plural(counts->n_faulty));
	}
}

/* A finding while clients are turned away because the process has too few descriptors. */
static void add_descriptors(struct triad_health *health)
{
	struct triad_descriptors_status status = triad_descriptors_status();
	char what[TRIAD_HEALTH_PLACE_SIZE];

	if (!status.refused_us ||
		triad_clock_now_us() - status.refused_us > DESCRIPTORS_US)
		return;
	snprintf(what, sizeof(what),
		"clients turned away: of %" PRIu64
		" descriptors of this process, %" PRIu64 " are for its files",
		status.limit, status.kept);
	triad_health_add_trouble(health, TRIAD_WARNING, "descriptors", what,
		"raise LimitNOFILE of its systemd unit");
}

void triad_service_health(struct triad_service *service, struct triad_health *health)
{
	*health = (struct triad_health){.verdict = TRIAD_OK};
	service->owner->add_health(service->owner->context, health);
	add_fabric(health, service);
	triad_routes_add_health(health, service);
	triad_congestion_add_health(health, service);
	add_agents(health, service);
	add_devices(health, service);
	triad_exports_add_health(health, service);
	add_descriptors(health);
	add_conf(health, service);
}
