/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

/* The agent's own 'status', health and metrics. */
#include "agent/agent.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "service/command/health.h"
#include "service/command/status.h"
#include "service/health.h"
#include "service/own_metrics.h"
#include "triad/clock.h"
#include "triad/control.h"

/* --- status --- */

static void report_agent(struct triad_report *report, const struct triad_agent *agent)
{
	uint64_t up_us = triad_clock_now_us() - agent->service.started_us;

	triad_report_section(report, "agent", "triad-agent");
	triad_report_guid(report, "port_guid", "port GUID", agent->service.port_guid);
	triad_report_text(report, "triad", "Triad", PACKAGE_VERSION);
	triad_report_uint(report, "up_s", "running for", up_us / TRIAD_US_PER_S, "s");
	triad_report_section_end(report);
}

/* Fills 'status' from the fabric of a manager, if there is one: the topology does not
 * know it. */
static bool describe_given(
	struct triad_service *service, struct triad_topology_status *status)
{
	struct triad_fabric *fabric = NULL;

	if (triad_collect_status(service->collect).has_given_topology)
		fabric = triad_collect_fabric(service->collect);
	if (!fabric)
		return false;
	status->counts = triad_fabric_count(fabric);
	triad_fabric_unref(fabric);
	status->n_taken = 0;
	status->most_hops = 0;
	return true;
}

static void report_topology(struct triad_report *report,
	const struct triad_topology_status *status, bool is_handed)
{
	uint64_t ago_us = triad_clock_now_us() - status->taken_us;
	char at[TRIAD_CLOCK_TEXT_SIZE];

	if (status->n_taken)
		triad_clock_format(triad_clock_wall_us() - ago_us, at);
	triad_report_section(report, "topology", "Topology");
	triad_report_text(report, "from", "from",
		is_handed ? "manager" : triad_topology_from_name(status->from));
	triad_report_text(report, "taken", "as of", status->n_taken ? at : NULL);
	triad_report_uint(report, "nodes", "nodes", status->counts.n_nodes, "");
	triad_report_uint(
		report, "switches", "switches", status->counts.n_switches, "");
	triad_report_uint(report, "ports", "ports", status->counts.n_ports, "");
	triad_report_uint(report, "links", "links", status->counts.n_links, "");
	triad_report_uint(report, "hops", "farthest node", status->most_hops, "hops");
	triad_report_section_end(report);
}

static void report_discovery(
	struct triad_report *report, const struct triad_discover_status *status)
{
	/* JSON always has the section, so that programs can rely on it. */
	if (!status->active && !report->as_json)
		return;
	triad_report_section(report, "discovery", "Discovery");
	triad_report_text(
		report, "state", "state", status->active ? "needed" : "not needed");
	triad_report_uint(report, "discoveries", "discoveries", status->n_done, "");
	triad_report_uint(report, "failed", "failed", status->n_failed, "");
	triad_report_uint(
		report, "silent", "ports without answers", status->n_silent, "");
	triad_report_uint(report, "smps", "SMPs of the last", status->n_smps, "");
	triad_report_uint(report, "took_ms", "the last took",
		status->took_us / TRIAD_US_PER_MS, "ms");
	triad_report_text(
		report, "error", "last error", status->why[0] ? status->why : NULL);
	triad_report_section_end(report);
}

static int run_screen(struct triad_agent *agent, struct triad_output *output)
{
	char title[128];

	snprintf(title, sizeof(title),
		"triad-agent " PACKAGE_VERSION ", port 0x%016" PRIx64,
		agent->service.port_guid);
	return triad_command_put_screen(&agent->service, title, output);
}

static int run_status(struct triad_agent *agent, const struct triad_command *command,
	struct triad_output *output)
{
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_topology_status topology = triad_topology_status(agent->topology);
	struct triad_service *service = &agent->service;
	bool is_handed = describe_given(service, &topology);

	triad_report_begin(&report);
	report_agent(&report, agent);
	triad_service_report_engine(&report, service);
	report_topology(&report, &topology, is_handed);
	triad_service_report_source(&report, service, "sa", "Subnet administration");
	report_discovery(&report, &topology.discover);
	triad_service_report_exports(&report, service);
	triad_service_report_process(&report, service, topology.octets);
	triad_report_end(&report);
	return triad_command_status_exit(service);
}

int triad_agent_run(void *context, const char *prefix,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_agent *agent = context;

	if (command->verb == TRIAD_COMMAND_STATUS && !command->all && !command->json)
		return run_screen(agent, output);
	if (command->verb == TRIAD_COMMAND_STATUS)
		return run_status(agent, command, output);
	return triad_service_run(&agent->service, prefix, command, output);
}

/* --- health --- */

void triad_agent_add_health(void *context, struct triad_health *health)
{
	struct triad_agent *agent = context;
	struct triad_topology_status topology = triad_topology_status(agent->topology);
	uint64_t up_us = triad_clock_now_us() - agent->service.started_us;
	bool is_given = describe_given(&agent->service, &topology);
	const char *from =
		is_given ? "manager" : triad_topology_from_name(topology.from);
	char up[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format_length(up_us, up);
	triad_health_line(health, "agent", "triad-agent", TRIAD_OK, "up %s", up);
	if (topology.discover.active && topology.discover.why[0]) {
		triad_health_add_trouble(health, TRIAD_WARNING, "topology",
			topology.discover.why, "look at the local port and at the log");
		triad_health_line(health, "topology", "Topology", TRIAD_WARNING,
			"from %s; the last discovery failed", from);
		return;
	}
	triad_health_line(health, "topology", "Topology",
		topology.counts.n_nodes ? TRIAD_OK : TRIAD_UNKNOWN,
		"from %s: %" PRIu32 " nodes, %" PRIu32 " links", from,
		topology.counts.n_nodes, topology.counts.n_links);
}

/* --- metrics --- */

void triad_agent_add_metrics(void *context, struct triad_own_metrics *list)
{
	struct triad_agent *agent = context;
	struct triad_topology_status topology = triad_topology_status(agent->topology);
	struct triad_metric *info = triad_own_add(
		list, TRIAD_METRIC_INFO, "triad", "Triad and what it runs in.", 1);

	(void)describe_given(&agent->service, &topology);
	triad_metric_add_label(info, "version", PACKAGE_VERSION);
	triad_metric_add_label(info, "program", "triad-agent");
	triad_own_gauge(list, "triad_fabric_nodes", "Nodes of the fabric.",
		topology.counts.n_nodes);
	triad_own_gauge(list, "triad_fabric_links", "Links of the fabric.",
		topology.counts.n_links);
	triad_own_gauge(list, "triad_topology_discovering",
		"1 while the fabric is discovered and not asked of the SA.",
		topology.discover.active);
	triad_own_count(list, "triad_discoveries", "Discoveries of the fabric.",
		topology.discover.n_done);
	triad_own_count(list, "triad_discoveries_failed",
		"Discoveries that found nothing.", topology.discover.n_failed);
}
