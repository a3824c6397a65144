/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

/* 'status': what runs, what it did, what it could not. */
#include "plugin/command/commands.h"

#include <inttypes.h>
#include <stdio.h>

#include "plugin/extended_speeds.h"
#include "plugin/facts.h"
#include "plugin/instance.h"
#include "plugin/sm_state.h"
#include "plugin/worker.h"
#include "service/command/health.h"
#include "service/command/status.h"
#include "triad/clock.h"
#include "triad/control.h"

static void report_sm(struct triad_report *report, struct triad_plugin *plugin)
{
	uint64_t up_us = triad_clock_now_us() - plugin->service.started_us;
	struct triad_worker_status worker = triad_worker_status(plugin->worker);
	char trouble[128];

	triad_sm_watch_summary(&worker.sm, trouble, sizeof(trouble));
	triad_report_section(report, "sm", "SM");
	triad_report_text(report, "state", "state", triad_sm_state(plugin->osm));
	triad_report_text(report, "trouble", "trouble",
		*trouble                  ? trouble
			: report->as_json ? NULL
					  : "none");
	triad_report_guid(report, "port_guid", "port GUID", plugin->service.port_guid);
	triad_report_text(report, "opensm", "OpenSM", TRIAD_OPENSM_VERSION);
	triad_report_text(report, "triad", "Triad", PACKAGE_VERSION);
	triad_report_uint(report, "up_s", "running for", up_us / TRIAD_US_PER_S, "s");
	triad_report_section_end(report);
}

static void report_extended_speeds(
	struct triad_report *report, struct triad_plugin *plugin)
{
	struct triad_extended_speeds_status status =
		triad_extended_speeds_status(plugin->speeds);

	triad_report_section(report, "extended_speeds", "Extended speeds for the SM");
	triad_report_text(report, "state", "state",
		!status.is_wanted ? "off"
			: status.is_installed
			? "asked for"
			: "not asked for: OpenSM can't be hooked");
	triad_report_facts(report, triad_extended_speed_facts, &status);
	triad_report_section_end(report);
}

static void report_topology(struct triad_report *report, struct triad_plugin *plugin)
{
	struct triad_worker_status status = triad_worker_status(plugin->worker);
	struct triad_events_counts events = triad_events_counts(plugin->events);

	triad_report_section(report, "topology", "Topology");
	triad_report_facts(report, triad_topology_facts, &status);
	triad_report_uint(report, "sm_sweeps", "heavy sweeps of the SM",
		events.reported[TRIAD_EVENT_SWEEP_START], "");
	triad_report_facts(report, triad_snapshot_facts, &status);
	triad_report_uint(
		report, "events_dropped", "events dropped", events.dropped, "");
	triad_report_section_end(report);
}

static int run_screen(struct triad_plugin *plugin, struct triad_output *output)
{
	char title[128];

	snprintf(title, sizeof(title),
		"Triad " PACKAGE_VERSION " in OpenSM " TRIAD_OPENSM_VERSION
		", port 0x%016" PRIx64,
		plugin->service.port_guid);
	return triad_command_put_screen(&plugin->service, title, output);
}

int triad_command_run_status(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_service *service = &plugin->service;

	if (!command->all && !command->json)
		return run_screen(plugin, output);
	triad_report_begin(&report);
	report_sm(&report, plugin);
	report_extended_speeds(&report, plugin);
	triad_command_report_shield(&report, plugin);
	triad_command_report_damp(&report, plugin);
	triad_command_report_heal(&report, plugin);
	triad_command_report_repair(&report, plugin);
	triad_service_report_engine(&report, service);
	report_topology(&report, plugin);
	triad_service_report_source(&report, service, "standby", "Topology as standby");
	triad_service_report_exports(&report, service);
	triad_command_report_qos(&report, plugin);
	triad_command_report_election(&report, plugin);
	triad_command_report_ports(&report, plugin);
	triad_service_report_process(
		&report, service, triad_worker_status(plugin->worker).octets);
	triad_report_end(&report);
	return triad_command_status_exit(service);
}
