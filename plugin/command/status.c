/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

/* 'status': what runs, what it did, what it could not. */
#include "plugin/command/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/control.h"
#include "plugin/instance.h"
#include "plugin/sm_state.h"
#include "plugin/standby.h"
#include "plugin/worker.h"
#include "triad/clock.h"
#include "triad/json.h"

/* One list of facts, shown as a table or as JSON. */
struct report {
	struct triad_output *output;
	struct triad_json json;
	bool as_json;
};

static void section(struct report *report, const char *name, const char *title)
{
	if (report->as_json)
		triad_json_object_begin(&report->json, name);
	else
		triad_output_printf(report->output, "%s%s%s\n",
			report->output->color ? "\033[1m" : "", title,
			report->output->color ? "\033[0m" : "");
}

static void section_end(struct report *report)
{
	if (report->as_json)
		triad_json_object_end(&report->json);
}

static void fact(struct report *report, const char *name, const char *label,
	uint64_t value, const char *unit)
{
	if (report->as_json)
		triad_json_uint(&report->json, name, value);
	else
		triad_output_printf(report->output, "  %-22s %" PRIu64 "%s%s\n", label,
			value, unit[0] ? " " : "", unit);
}

static void fact_text(
	struct report *report, const char *name, const char *label, const char *value)
{
	if (report->as_json)
		triad_json_string(&report->json, name, value);
	else
		triad_output_printf(
			report->output, "  %-22s %s\n", label, value ? value : "-");
}

static void fact_octets(
	struct report *report, const char *name, const char *label, uint64_t octets)
{
	if (report->as_json)
		triad_json_uint(&report->json, name, octets);
	else
		triad_output_printf(report->output, "  %-22s %.1f MB\n", label,
			(double)octets / 1e6);
}

static void fact_guid(
	struct report *report, const char *name, const char *label, uint64_t guid)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	fact_text(report, name, label, text);
}

static void report_sm(struct report *report, struct triad_plugin *plugin)
{
	uint64_t up_us = triad_clock_now_us() - plugin->started_us;

	section(report, "sm", "SM");
	fact_text(report, "state", "state", triad_sm_state(plugin->osm));
	fact_guid(report, "port_guid", "port GUID", plugin->port_guid);
	fact_text(report, "opensm", "OpenSM", TRIAD_OPENSM_VERSION);
	fact_text(report, "triad", "Triad", PACKAGE_VERSION);
	fact(report, "up_s", "running for", up_us / TRIAD_US_PER_S, "s");
	section_end(report);
}

static void report_value_json(
	struct triad_json *json, const struct triad_conf_entry *entry)
{
	switch (entry->key->type) {
	case TRIAD_CONF_BOOL:
		triad_json_bool(json, entry->name, !strcmp(entry->value, "true"));
		break;
	case TRIAD_CONF_UINT:
		triad_json_uint(json, entry->name, strtoul(entry->value, NULL, 10));
		break;
	default:
		triad_json_string(json, entry->name, entry->value);
		break;
	}
}

static void report_values(struct report *report, const struct triad_conf *conf)
{
	if (report->as_json)
		triad_json_object_begin(&report->json, "values");
	for (struct triad_conf_entry entry = {0}; triad_conf_next(conf, &entry);) {
		const char *unit = entry.key->unit;

		if (report->as_json)
			report_value_json(&report->json, &entry);
		else
			triad_output_printf(report->output, "  %-22s %s%s%s\n",
				entry.name, entry.value, unit[0] ? " " : "", unit);
	}
	if (report->as_json)
		triad_json_object_end(&report->json);
}

static void report_mistakes(struct report *report, const struct triad_diags *diags)
{
	char text[TRIAD_DIAG_TEXT_SIZE * 2 + 64];

	if (report->as_json)
		triad_json_array_begin(&report->json, "mistakes");
	for (size_t i = 0; i < diags->n; i++) {
		triad_diags_format(diags, i, text, sizeof(text));
		fact_text(report, NULL, "mistake", text);
	}
	if (report->as_json)
		triad_json_array_end(&report->json);
}

static void report_conf(struct report *report, struct triad_plugin *plugin)
{
	static const char *const states[] = {
		[TRIAD_CONF_STANDARD] = "defaults",
		[TRIAD_CONF_LOADED] = "loaded",
		[TRIAD_CONF_BROKEN] = "broken",
	};
	struct triad_conf conf;
	struct triad_diags diags;
	enum triad_conf_state state;

	pthread_mutex_lock(&plugin->conf_lock);
	conf = plugin->conf;
	state = plugin->conf_state;
	diags = plugin->conf_diags;
	pthread_mutex_unlock(&plugin->conf_lock);
	section(report, "configuration", "Configuration");
	fact_text(report, "file", "file",
		plugin->conf_path[0] ? plugin->conf_path : NULL);
	fact_text(report, "state", "state", states[state]);
	if (diags.n && state != TRIAD_CONF_BROKEN)
		fact_text(report, "last_reload", "last reload",
			"failed: the file, as it is now, is not in force");
	report_values(report, &conf);
	report_mistakes(report, &diags);
	section_end(report);
}

static void report_topology(struct report *report, struct triad_plugin *plugin)
{
	struct triad_worker_status status = triad_worker_status(plugin->worker);
	struct triad_events_counts events = triad_events_counts(plugin->events);

	section(report, "topology", "Topology");
	fact(report, "nodes", "nodes", status.n_nodes, "");
	fact(report, "switches", "switches", status.n_switches, "");
	fact(report, "ports", "ports", status.n_ports, "");
	fact(report, "links", "links", status.n_links, "");
	fact(report, "sm_sweeps", "heavy sweeps of the SM",
		events.reported[TRIAD_EVENT_SWEEP_START], "");
	fact(report, "snapshots", "snapshots", status.n_snapshots, "");
	fact(report, "snapshots_discarded", "snapshots discarded", status.n_discarded,
		"");
	fact(report, "snapshots_failed", "snapshots failed", status.n_failed, "");
	fact(report, "sm_lock_us", "SM's lock held", status.lock_us, "us at most");
	fact(report, "events_dropped", "events dropped", events.dropped, "");
	section_end(report);
}

static void report_last_sweep(
	struct report *report, const struct triad_collector_status *status)
{
	char at[TRIAD_CLOCK_TEXT_SIZE];
	uint64_t ago_us = triad_clock_now_us() - status->finished_us;

	if (status->n_sweeps)
		triad_clock_format(triad_clock_wall_us() - ago_us, at);
	fact(report, "sweeps", "sweeps", status->n_sweeps, "");
	fact(report, "sweeps_late", "sweeps late", status->n_late, "");
	fact(report, "group_sweeps", "sweeps of groups", status->n_group_sweeps, "");
	fact(report, "period_jitter_us", "last sweep begun late by", status->delay_us,
		"us");
	fact(report, "period_jitter_max_us", "at most", status->delay_max_us, "us");
	fact_text(report, "last_sweep", "last sweep", status->n_sweeps ? at : NULL);
	fact(report, "last_sweep_ms", "last sweep took",
		status->duration_us / TRIAD_US_PER_MS, "ms");
	fact(report, "ports", "ports", status->last.n_ports, "");
	fact(report, "ports_answered", "ports answered", status->last.n_answered, "");
	fact(report, "ports_unanswered", "ports unanswered", status->last.n_unanswered,
		"");
	fact(report, "ports_left_out", "of these, silent for long and not asked",
		status->last.n_left_out, "");
}

static void report_watch(struct report *report, struct triad_plugin *plugin)
{
	struct triad_watch_status status =
		triad_watch_status(triad_perf_watch(plugin->perf));
	struct triad_alert_log_status log = triad_alert_log_status(plugin->alert_log);

	section(report, "alerts", "Alerts");
	fact(report, "active", "active", status.alerts.n_active, "");
	fact(report, "raised", "raised", status.alerts.n_raised, "");
	fact(report, "cleared", "cleared", status.alerts.n_cleared, "");
	fact(report, "not_kept", "too many to be kept", status.alerts.n_not_kept, "");
	fact(report, "summarised", "logged as a sum", log.n_summarised, "");
	fact(report, "file_lines", "lines in the file", log.n_file_lines, "");
	fact(report, "file_dropped", "lines not written", log.n_file_dropped, "");
	fact_text(report, "file_error", "last try to write",
		log.file_error ? strerror(log.file_error) : NULL);
	fact(report, "look_us", "last look at a sweep", status.walk_us, "us");
	fact(report, "samples_dropped", "samples of histograms lost",
		status.samples_dropped, "");
	section_end(report);
}

static void report_mads(
	struct report *report, const struct triad_collector_status *status)
{
	const struct triad_sweep_counts *counts = &status->counts;

	fact(report, "window", "queries outstanding at most", status->window, "");
	fact(report, "mads_sent", "MADs sent", counts->sent, "");
	fact(report, "mads_received", "MADs received", counts->received, "");
	fact(report, "timeouts", "time-outs", counts->timeouts, "");
	fact(report, "retries", "retries", counts->retries, "");
	fact(report, "mads_late", "MADs too late", counts->late, "");
	fact(report, "mads_malformed", "MADs malformed", counts->malformed, "");
	fact(report, "mads_refused", "MADs refused", counts->refused, "");
	fact(report, "redirected", "MADs redirected", counts->redirected, "");
	fact(report, "unreachable", "redirected to where we can't send",
		counts->unreachable, "");
	fact(report, "hardware_resets", "hardware resets", counts->resets, "");
	fact(report, "hardware_resets_failed", "hardware resets failed",
		counts->resets_failed, "");
	fact(report, "send_errors", "send errors", status->send_errors, "");
	fact(report, "receive_errors", "receive errors", status->receive_errors, "");
}

static void report_perfmgr(struct report *report, struct triad_plugin *plugin)
{
	struct triad_collector_status status = triad_perf_status(plugin->perf);
	const char *trouble = triad_commands_perf_trouble(plugin);

	section(report, "perfmgr", "PerfManager");
	fact_text(report, "state", "state",
		trouble                   ? "idle"
			: status.sweeping ? "sweeping"
					  : "waiting");
	if (trouble || report->as_json)
		fact_text(report, "trouble", "why", trouble);
	report_last_sweep(report, &status);
	report_mads(report, &status);
	section_end(report);
}

/* How many ports each port group has: one that fits none is a mistake of somebody's. */
static void report_groups(struct report *report, struct triad_plugin *plugin)
{
	struct triad_view *view = triad_perf_view(plugin->perf);
	uint32_t n_ports[TRIAD_GROUPS_MAX + 1] = {0};
	unsigned n = view && view->groups ? triad_groups_count(view->groups) : 0;

	for (uint32_t i = 0; n && i < view->fabric->n_ports; i++)
		n_ports[view->group[i]] += view->fabric->ports[i].has_pma;
	if (n || report->as_json)
		section(report, "groups", "Port groups");
	for (unsigned i = 0; i < n; i++) {
		const struct triad_conf_group *group =
			triad_groups_get(view->groups, i);

		fact(report, group->name, group->name, n_ports[i],
			group->skip ? "ports, left out" : "ports");
	}
	if (n || report->as_json)
		section_end(report);
	triad_view_unref(view);
}

static void report_collectors(
	struct report *report, const struct triad_sflow_sender_status *status)
{
	char address[TRIAD_ADDRESS_TEXT_SIZE], text[256];

	if (report->as_json)
		triad_json_array_begin(&report->json, "collectors");
	for (unsigned i = 0; i < status->n_collectors; i++) {
		const struct triad_sflow_collector_status *collector =
			&status->collectors[i];

		triad_address_format(&collector->address, address);
		snprintf(text, sizeof(text),
			"%s: %" PRIu64 " datagrams, %" PRIu64 " lost%s%s", address,
			collector->n_datagrams, collector->n_drops,
			collector->last_error ? "; last error: " : "",
			collector->last_error ? strerror(collector->last_error) : "");
		if (!report->as_json) {
			fact_text(report, NULL, "collector", text);
			continue;
		}
		triad_json_object_begin(&report->json, NULL);
		triad_json_string(&report->json, "address", address);
		triad_json_uint(&report->json, "datagrams", collector->n_datagrams);
		triad_json_uint(&report->json, "drops", collector->n_drops);
		triad_json_string(&report->json, "last_error",
			collector->last_error ? strerror(collector->last_error) : NULL);
		triad_json_bool(&report->json, "failing", collector->failing);
		triad_json_object_end(&report->json);
	}
	if (report->as_json)
		triad_json_array_end(&report->json);
}

static void report_sflow(struct report *report, struct triad_plugin *plugin)
{
	struct triad_sflow_sender_status status =
		triad_exports_sflow_status(plugin->exports);

	section(report, "sflow", "sFlow");
	fact(report, "datagrams", "datagrams", status.n_datagrams, "");
	fact(report, "samples", "samples", status.n_samples, "");
	fact(report, "skipped", "ports with nothing to say", status.n_skipped, "");
	report_collectors(report, &status);
	section_end(report);
}

static void report_http(struct report *report, struct triad_plugin *plugin)
{
	struct triad_http_status status = triad_exports_http_status(plugin->exports);
	char address[TRIAD_ADDRESS_TEXT_SIZE];

	section(report, "prometheus", "Prometheus");
	if (status.listening)
		triad_address_format(&status.listen, address);
	fact_text(report, "listen", "listens at", status.listening ? address : NULL);
	fact_text(report, "error", "not in force",
		status.reason[0] ? status.reason : NULL);
	fact_text(report, "protocol", "protocol", status.has_tls ? "https" : "http");
	fact_text(report, "token", "token",
		status.has_token ? "needed" : "not asked for");
	fact(report, "clients", "clients now", status.n_clients, "");
	fact(report, "answers", "answers", status.n_answers, "");
	fact(report, "octets", "octets sent", status.octets, "");
	fact(report, "bad_requests", "refused: not understood",
		status.n_bad_requests + status.n_not_found + status.n_bad_methods, "");
	fact(report, "unauthorized", "refused: no token", status.n_unauthorized, "");
	fact(report, "too_many", "refused: too many", status.n_too_many, "");
	fact(report, "timeouts", "cut: too slow", status.n_timeouts, "");
	fact(report, "broken_off", "broken off by the client", status.n_broken_off, "");
	section_end(report);
}

static void report_profile(struct report *report, struct triad_plugin *plugin)
{
	struct triad_profile_status status =
		triad_exports_profile_status(plugin->exports);

	section(report, "profile", "Profile file");
	fact(report, "frames", "sweeps written", status.n_frames, "");
	fact(report, "rows", "rows", status.n_rows, "");
	fact_octets(report, "file_octets", "the file has", status.file_octets);
	fact(report, "files", "files begun", status.n_files, "");
	fact(report, "dropped", "sweeps not written", status.n_dropped, "");
	fact_text(report, "error", "last try to write",
		status.error ? status.reason : NULL);
	section_end(report);
}

static void report_standby(struct report *report, struct triad_plugin *plugin)
{
	struct triad_standby_status status = triad_standby_status(plugin->standby);

	if (!status.active && !report->as_json)
		return;
	section(report, "standby", "Topology as standby");
	fact_text(report, "state", "state",
		!status.active              ? "not needed"
			: status.subscribed ? "reports subscribed"
					    : "without reports");
	fact(report, "refreshes", "read from the SA", status.n_refreshes, "");
	fact(report, "failed", "failed", status.n_failed, "");
	fact(report, "reports", "reports of ports", status.n_reports, "");
	fact_text(report, "error", "last error",
		status.error ? strerror(status.error) : NULL);
	section_end(report);
}

static void report_control(struct report *report, struct triad_plugin *plugin)
{
	struct triad_control_status status = {0};

	if (plugin->control)
		status = triad_control_status(plugin->control);
	section(report, "control", "Control socket");
	fact(report, "clients", "clients now", status.n_clients, "");
	fact(report, "requests", "requests", status.n_requests, "");
	fact(report, "refused", "refused: too many", status.n_busy, "");
	fact(report, "forbidden", "refused: not allowed", status.n_forbidden, "");
	fact(report, "bad_requests", "refused: garbage", status.n_bad, "");
	fact(report, "timeouts", "cut: too slow", status.n_timeouts, "");
	section_end(report);
}

static uint64_t resident_octets(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (file && fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void report_memory(struct report *report, struct triad_plugin *plugin)
{
	section(report, "memory", "Memory");
	fact_octets(report, "counters_octets", "counters",
		triad_perf_status(plugin->perf).octets);
	fact_octets(report, "watch_octets", "histograms and alerts",
		triad_watch_status(triad_perf_watch(plugin->perf)).octets);
	fact_octets(report, "topology_octets", "topology",
		triad_worker_status(plugin->worker).octets);
	fact_octets(report, "process_octets", "OpenSM with Triad", resident_octets());
	section_end(report);
}

int triad_command_run_status(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct report report = {.output = output, .as_json = command->json};

	triad_json_init(&report.json, output);
	if (report.as_json)
		triad_json_object_begin(&report.json, NULL);
	report_sm(&report, plugin);
	report_perfmgr(&report, plugin);
	report_groups(&report, plugin);
	report_watch(&report, plugin);
	report_topology(&report, plugin);
	report_standby(&report, plugin);
	report_http(&report, plugin);
	report_profile(&report, plugin);
	report_sflow(&report, plugin);
	report_control(&report, plugin);
	report_memory(&report, plugin);
	report_conf(&report, plugin);
	if (report.as_json) {
		triad_json_object_end(&report.json);
		triad_json_end(&report.json);
	}
	return TRIAD_CONTROL_DONE;
}
