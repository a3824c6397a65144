/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/command/status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/command/commands.h"
#include "service/command/list.h"
#include "service/facts.h"
#include "service/health_exports.h"
#include "service/outside.h"
#include "service/service.h"
#include "service/strangers.h"
#include "triad/clock.h"
#include "triad/json.h"

/* --- the PerfManager --- */

static void report_watch(struct triad_report *report, struct triad_service *service)
{
	struct triad_watch_status status =
		triad_watch_status(triad_perf_watch(service->perf));
	struct triad_alert_log_status log = triad_alert_log_status(service->alert_log);

	triad_report_section(report, "alerts", "Alerts");
	triad_report_facts(report, triad_watch_facts, &status);
	triad_report_facts(report, triad_alert_log_facts, &log);
	triad_report_facts(report, triad_look_facts, &status);
	triad_report_section_end(report);
}

static void report_webhook(struct triad_report *report, struct triad_service *service)
{
	struct triad_webhook_status status = triad_webhook_status(service->webhook);

	triad_report_section(report, "webhook", "Webhook of alerts");
	triad_report_text(report, "url", "sends to", status.is_on ? status.url : NULL);
	triad_report_text(report, "state", "state",
		!status.is_on               ? "off"
			: status.is_idle    ? "nothing sent: counters are not read here"
			: status.is_failing ? "failing"
					    : "sending");
	triad_report_text(report, "error", "last attempt",
		status.reason[0] ? status.reason : NULL);
	triad_report_facts(report, triad_webhook_facts, &status);
	triad_report_section_end(report);
}

static void report_history(struct triad_report *report, struct triad_service *service)
{
	struct triad_recorder_status status = triad_recorder_status(service->recorder);

	triad_report_section(report, "history", "History");
	triad_report_text(report, "state", "state",
		!status.is_on               ? "off"
			: !status.path[0]   ? "in memory alone"
			: status.is_reading ? "its file is not read yet"
			: status.error || status.hung_us
			? "failing: its file can't be written"
			: "written");
	triad_report_text(report, "file", "file", status.path[0] ? status.path : NULL);
	triad_report_text(report, "error", "last attempt",
		status.reason[0] ? status.reason : NULL);
	triad_report_facts(report, triad_history_facts, &status);
	triad_report_section_end(report);
}

static void report_devices(struct triad_report *report, struct triad_service *service)
{
	struct triad_device_reader_status status =
		triad_device_reader_status(service->devices);

	triad_report_section(report, "devices", "Devices and cables");
	triad_report_text(report, "state", "state",
		!status.is_enabled           ? "off"
			: status.error       ? "the local port can't be opened"
			: !status.is_reading ? "not asked here"
					     : "asked");
	triad_report_facts(report, triad_device_facts, &status);
	triad_report_section_end(report);
}

static void report_speeds(struct triad_report *report, struct triad_service *service)
{
	struct triad_speeds_counts counts = triad_speed_reader_counts(service->speeds);

	triad_report_section(report, "speeds", "Speeds that the SM does not know");
	triad_report_facts(report, triad_speed_facts, &counts);
	triad_report_section_end(report);
}

static void report_perfmgr(struct triad_report *report, struct triad_service *service)
{
	struct triad_collector_status status = triad_perf_status(service->perf);
	struct triad_strangers strangers = triad_strangers();
	const char *trouble = triad_service_trouble(service);
	bool is_manager =
		triad_collect_status(service->collect).mode == TRIAD_COLLECT_MANAGER;

	triad_report_section(report, "perfmgr", "PerfManager");
	triad_report_text(report, "state", "state",
		trouble                   ? "idle"
			: is_manager      ? "agents read"
			: status.sweeping ? "sweeping"
					  : "waiting");
	if (trouble || report->as_json)
		triad_report_text(report, "trouble", "why", trouble);
	triad_report_facts(report, triad_sweep_facts, &status);
	triad_report_facts(report, triad_mad_facts, &status);
	triad_report_facts(report, triad_stranger_facts, &strangers);
	triad_report_section_end(report);
}

/* Reports the number of ports of each port group: a group without ports is probably a
 * mistake. */
static void report_groups(struct triad_report *report, struct triad_service *service)
{
	struct triad_view *view = triad_perf_view(service->perf);
	uint32_t n_ports[TRIAD_GROUPS_MAX + 1] = {0};
	unsigned n = view && view->groups ? triad_groups_count(view->groups) : 0;

	for (uint32_t i = 0; n && i < view->fabric->n_ports; i++)
		n_ports[view->group[i]] += view->fabric->ports[i].has_pma;
	if (n || report->as_json)
		triad_report_section(report, "groups", "Port groups");
	for (unsigned i = 0; i < n; i++) {
		const struct triad_conf_group *group =
			triad_groups_get(view->groups, i);

		triad_report_uint(report, group->name, group->name, n_ports[i],
			group->skip ? "ports, left out" : "ports");
	}
	if (n || report->as_json)
		triad_report_section_end(report);
	triad_view_unref(view);
}

void triad_service_report_engine(
	struct triad_report *report, struct triad_service *service)
{
	report_perfmgr(report, service);
	triad_service_report_collect(report, service);
	report_groups(report, service);
	report_watch(report, service);
	report_webhook(report, service);
	report_history(report, service);
	report_devices(report, service);
	report_speeds(report, service);
}

/* --- where the topology is from --- */

void triad_service_report_source(struct triad_report *report,
	struct triad_service *service, const char *name, const char *title)
{
	struct triad_sa_source_status status = triad_sa_source_status(service->source);

	if (!status.active && !report->as_json)
		return;
	triad_report_section(report, name, title);
	triad_report_text(report, "state", "state",
		!status.active              ? "not needed"
			: status.subscribed ? "reports subscribed"
					    : "without reports");
	triad_report_facts(report, triad_sa_facts, &status);
	triad_report_text(report, "pkeys_error", "P_Keys not given",
		!status.pkeys_error                    ? NULL
			: status.pkeys_error == ENOKEY ? "not asked for, without a key"
			: status.pkeys_error == EACCES ? "refused"
						       : strerror(status.pkeys_error));
	triad_report_text(report, "error", "last error",
		status.error ? strerror(status.error) : NULL);
	triad_report_section_end(report);
}

/* --- ways out --- */

static void report_collector(
	struct triad_list *list, const struct triad_sflow_collector_status *collector)
{
	const char *error =
		collector->last_error ? strerror(collector->last_error) : NULL;
	char address[TRIAD_ADDRESS_TEXT_SIZE];

	triad_address_format(&collector->address, address);
	triad_list_row(list);
	triad_list_text(list, "address", NULL, 0, address);
	triad_list_uint(list, "datagrams", NULL, 0, collector->n_datagrams);
	triad_list_uint(list, "drops", NULL, 0, collector->n_drops);
	triad_list_text(list, "last_error", NULL, 0, error);
	triad_list_bool(list, "failing", NULL, 0, collector->failing);
	triad_list_text(list, NULL, "", -22, "collector");
	triad_list_format(list, "", 0,
		"%s: %" PRIu64 " datagrams, %" PRIu64 " lost%s%s", address,
		collector->n_datagrams, collector->n_drops,
		error ? "; last error: " : "", error ? error : "");
	triad_list_row_end(list);
}

static void report_sflow(struct triad_report *report, struct triad_service *service)
{
	struct triad_sflow_sender_status status =
		triad_exports_sflow_status(service->exports);
	struct triad_list list = {.report = report, .indent = "  "};

	triad_report_section(report, "sflow", "sFlow");
	triad_report_facts(report, triad_sflow_facts, &status);
	triad_report_array(report, "collectors");
	for (unsigned i = 0; i < status.n_collectors; i++)
		report_collector(&list, &status.collectors[i]);
	triad_report_array_end(report);
	triad_report_section_end(report);
}

/* What is not known now is left out, or null. */
static void report_listener(struct triad_report *report,
	const struct triad_served *served, const struct triad_http_status *status,
	const struct triad_fact *facts, const void *counted)
{
	char address[TRIAD_ADDRESS_TEXT_SIZE];

	if (status->listening)
		triad_address_format(&status->listen, address);
	triad_report_text(
		report, "listen", "listens at", status->listening ? address : NULL);
	triad_report_text(report, "error", "not in force",
		status->reason[0] ? status->reason : NULL);
	triad_report_text(report, "protocol", "protocol",
		!served->is_current       ? NULL
			: status->has_tls ? "https"
					  : "http");
	triad_report_text(report, "token", "token",
		!served->is_current         ? NULL
			: status->has_token ? "needed"
					    : "not asked for");
	triad_report_text(report, "client_certificate", "client's certificate",
		!served->is_current             ? NULL
			: status->has_client_ca ? "needed"
						: "not asked for");
	/* No zeros of what is not known, where a person reads them. */
	if (served->is_known || report->as_json)
		triad_report_facts(report, facts, counted);
}

static void report_control_facts(
	struct triad_report *report, struct triad_control *control)
{
	struct triad_control_status status = {0};

	if (control)
		status = triad_control_status(control);
	triad_report_facts(report, triad_control_facts, &status);
}

static void report_served(struct triad_report *report, struct triad_service *service)
{
	struct triad_served served = triad_service_served(service);

	triad_report_section(report, "triadd", "triadd");
	triad_report_text(
		report, "version", "version", served.is_known ? served.version : NULL);
	if (served.is_known)
		triad_report_uint(report, "report_age", "last report",
			(triad_clock_now_us() - served.at_us) / TRIAD_US_PER_S,
			"s ago");
	else
		triad_report_text(report, "report_age", "last report", NULL);
	report_control_facts(report, service->outside);
	triad_report_section_end(report);
	triad_report_section(report, "prometheus", "Prometheus");
	report_listener(report, &served, &served.prometheus, triad_http_facts,
		&served.prometheus);
	triad_report_section_end(report);
	triad_report_section(report, "web", "Page and REST");
	report_listener(
		report, &served, &served.web.http, triad_web_facts, &served.web);
	triad_report_section_end(report);
}

static void report_profile(struct triad_report *report, struct triad_service *service)
{
	struct triad_served served = triad_service_served(service);

	triad_report_section(report, "profile", "Profile file");
	triad_report_text(report, "state", "state",
		triad_exports_profile_state(service, &served));
	triad_report_facts(report, triad_profile_facts, &served.profile);
	triad_report_text(report, "error", "last attempt to write",
		*served.profile.reason ? served.profile.reason : NULL);
	triad_report_section_end(report);
}

/* Why what is reported is not known to be so now; NULL: it is. */
static const char *why_old(
	const struct triad_served *served, char text[TRIAD_SERVED_SILENCE_SIZE + 16])
{
	static const char begin[] = "not known: ";

	if (!served->is_silent)
		return NULL;
	strcpy(text, begin);
	triad_served_explain_silence(served, text + sizeof(begin) - 1);
	return text;
}

static void report_images(struct triad_report *report, struct triad_service *service)
{
	const struct triad_served served = triad_service_served(service);
	const struct triad_history_status *status = &served.images;
	const struct triad_conf *conf = triad_service_conf(service);
	bool is_on = triad_service_keeps_images(service);
	char text[TRIAD_CLOCK_TEXT_SIZE], dir[TRIAD_CONF_PATH_SIZE];
	char old[TRIAD_SERVED_SILENCE_SIZE + 16];

	memcpy(dir, conf->history.dir, sizeof(dir));
	triad_conf_unref(conf);
	if (!is_on && !report->as_json)
		return;
	triad_report_section(report, "images", "Images of the fabric");
	triad_report_text(report, "dir", "folder", is_on ? dir : "");
	/* No zeros of what is not known, where a person reads them. */
	if (status->is_read || report->as_json)
		triad_report_facts(report, triad_image_facts, status);
	triad_clock_format(status->first_us, text);
	triad_report_text(
		report, "first", "the first one", status->first_us ? text : NULL);
	triad_clock_format(status->last_us, text);
	triad_report_text(
		report, "last", "the last one", status->last_us ? text : NULL);
	triad_report_text(report, "error", "last attempt to write",
		!is_on                     ? NULL
			: served.is_silent ? why_old(&served, old)
			: !served.is_known
			? "not known: triadd has not been heard of yet"
			: !status->is_read ? "not known: triadd reads the folder first"
			: status->error    ? status->reason
					   : NULL);
	triad_report_section_end(report);
}

static void report_copies(struct triad_report *report, struct triad_service *service)
{
	const struct triad_served served = triad_service_served(service);
	const struct triad_history_mirror_status *status = &served.copies;
	char guid[24], old[TRIAD_SERVED_SILENCE_SIZE + 16];

	if (!status->is_on && !report->as_json)
		return;
	triad_report_section(report, "copies", "Images copied between SMs");
	triad_report_facts(report, triad_copy_facts, status);
	snprintf(guid, sizeof(guid), "0x%016" PRIx64, status->mirror.behind_of);
	triad_report_text(report, "behind_of", "behind SM",
		status->mirror.behind_of ? guid : NULL);
	triad_report_text(report, "trouble", "trouble",
		status->is_on && served.is_silent ? why_old(&served, old)
			: status->trouble[0]      ? status->trouble
						  : NULL);
	triad_report_text(report, "error", "last attempt to write",
		status->mirror.error ? strerror(status->mirror.error) : NULL);
	triad_report_section_end(report);
}

void triad_service_report_exports(
	struct triad_report *report, struct triad_service *service)
{
	report_served(report, service);
	report_profile(report, service);
	report_images(report, service);
	report_copies(report, service);
	report_sflow(report, service);
}

/* --- the process --- */

static void report_control(struct triad_report *report, struct triad_service *service)
{
	triad_report_section(report, "control", "Control socket");
	report_control_facts(report, service->control);
	triad_report_section_end(report);
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

static void report_memory(struct triad_report *report, struct triad_service *service,
	uint64_t topology_octets)
{
	triad_report_section(report, "memory", "Memory");
	triad_report_octets(report, "counters_octets", "counters",
		triad_perf_status(service->perf).octets);
	triad_report_octets(report, "watch_octets", "histograms and alerts",
		triad_watch_status(triad_perf_watch(service->perf)).octets);
	triad_report_octets(report, "topology_octets", "topology", topology_octets);
	triad_report_octets(
		report, "process_octets", "the whole process", resident_octets());
	triad_report_section_end(report);
}

static void report_value_json(
	struct triad_json *json, const struct triad_conf_entry *entry)
{
	switch (entry->key->type) {
	case TRIAD_CONF_BOOL:
		triad_json_bool(json, entry->name, !strcmp(entry->value, "true"));
		break;
	case TRIAD_CONF_UINT:
		triad_json_uint(json, entry->name, strtoull(entry->value, NULL, 10));
		break;
	default:
		triad_json_string(json, entry->name, entry->value);
		break;
	}
}

static void report_values(struct triad_report *report, const struct triad_conf *conf)
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

static void report_mistakes(
	struct triad_report *report, const struct triad_diags *diags)
{
	char text[TRIAD_DIAG_TEXT_SIZE * 2 + 64];

	triad_report_array(report, "mistakes");
	for (size_t i = 0; i < diags->n; i++) {
		triad_diags_format(diags, i, text, sizeof(text));
		triad_report_text(report, NULL, "mistake", text);
	}
	triad_report_array_end(report);
}

static void report_conf(struct triad_report *report, struct triad_service *service)
{
	static const char *const states[] = {
		[TRIAD_CONF_DEFAULT] = "defaults",
		[TRIAD_CONF_LOADED] = "loaded",
		[TRIAD_CONF_BROKEN] = "broken",
	};
	const struct triad_conf *conf;
	struct triad_diags diags;
	enum triad_conf_state state;

	pthread_mutex_lock(&service->conf_lock);
	conf = triad_conf_ref(service->conf);
	state = service->conf_state;
	diags = service->conf_diags;
	pthread_mutex_unlock(&service->conf_lock);
	triad_report_section(report, "configuration", "Configuration");
	triad_report_text(report, "file", "file",
		service->conf_path[0] ? service->conf_path : NULL);
	triad_report_text(report, "state", "state", states[state]);
	if (diags.n && state != TRIAD_CONF_BROKEN)
		triad_report_text(report, "last_reload", "last reload",
			"failed: the file, as it is now, is not in force");
	report_values(report, conf);
	report_mistakes(report, &diags);
	triad_report_section_end(report);
	triad_conf_unref(conf);
}

void triad_service_report_process(struct triad_report *report,
	struct triad_service *service, uint64_t topology_octets)
{
	report_control(report, service);
	report_memory(report, service, topology_octets);
	report_conf(report, service);
}
