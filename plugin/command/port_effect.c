/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/command/port_effect.h"

#include <inttypes.h>
#include <stdlib.h>

#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "routes/without.h"
#include "service/command/routes_parts.h"

#define FACTOR 2 /* show a link whose number of pairs grows by this factor */
#define MAX_LINKS 10u

/* One direction of a link, named by the port that sends. */
struct gain {
	uint32_t port;
	double factor;
};

/* True for a link that the plan takes down: it is disabled, or tested while it carries
 * traffic. */
static bool takes_down(const struct triad_port_row *row)
{
	bool is_stopped = row->guard && !row->is_overridden;

	return row->has_item && !is_stopped && row->state != TRIAD_PORT_DOWN &&
		(row->kind == TRIAD_PLAN_DISABLE ||
			(row->kind == TRIAD_PLAN_TEST &&
				row->state == TRIAD_PORT_ACTIVE));
}

/* The plan's ports in 'fabric'; the caller frees them.  NULL: none, or no memory. */
static uint32_t *find_ports(
	struct triad_plugin *plugin, const struct triad_fabric *fabric, uint32_t *n)
{
	struct triad_port_row *rows = NULL;
	uint32_t n_rows = 0, n_all, *ports = NULL;

	*n = 0;
	if (triad_ports_rows(plugin->ports, TRIAD_PORTS_PLAN, 0, -1, UINT32_MAX, &rows,
		    &n_rows, &n_all))
		return NULL;
	ports = calloc(n_rows + 1u, sizeof(*ports));
	for (uint32_t i = 0; ports && i < n_rows; i++) {
		uint32_t port =
			triad_fabric_port_at(fabric, rows[i].node_guid, rows[i].number);

		if (takes_down(&rows[i]) && port != TRIAD_FABRIC_NONE)
			ports[(*n)++] = port;
	}
	free(rows);
	return ports;
}

static int compare_gains(const void *a, const void *b)
{
	const struct gain *one = a, *other = b;

	return one->factor > other->factor ? -1 : one->factor < other->factor;
}

static uint32_t find_gains(const struct triad_routes_check *check,
	const struct triad_routes_without *without, struct gain *gains)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < check->layout->fabric->n_ports; i++)
		if (check->pairs[i] && without->pairs[i] >= FACTOR * check->pairs[i])
			gains[n++] = (struct gain){
				i, (double)without->pairs[i] / (double)check->pairs[i]};
	qsort(gains, n, sizeof(*gains), compare_gains);
	return n;
}

static void put_gains(struct triad_report *report,
	const struct triad_routes_check *check,
	const struct triad_routes_without *without)
{
	const struct triad_fabric *fabric = check->layout->fabric;
	struct triad_list list = {.report = report, .indent = "  ", .gap = "  "};
	struct gain *gains = malloc((fabric->n_ports + 1u) * sizeof(*gains));
	uint32_t n = gains ? find_gains(check, without, gains) : 0;

	triad_report_array(report, "links_that_gain");
	for (uint32_t i = 0; i < n && i < MAX_LINKS; i++) {
		uint32_t port = gains[i].port;

		triad_list_row(&list);
		triad_routes_put_port(&list, NULL, "LINK FROM", fabric, port);
		triad_routes_put_port(
			&list, "to", "TO", fabric, fabric->ports[port].remote);
		triad_list_uint(&list, "pairs", "PAIRS", 9, check->pairs[port]);
		triad_list_uint(&list, "pairs_then", "THEN", 9, without->pairs[port]);
		triad_list_row_end(&list);
	}
	triad_report_array_end(report);
	if (n > MAX_LINKS && !report->as_json)
		triad_output_printf(
			report->output, "  ... and %" PRIu32 " more\n", n - MAX_LINKS);
	free(gains);
}

static void put_lost(struct triad_report *report, const struct triad_fabric *fabric,
	const struct triad_routes_without *without)
{
	struct triad_list list = {.report = report, .indent = "  "};

	triad_report_array(report, "hosts_without_path");
	for (uint32_t i = 0; i < without->n_hosts_lost && i < TRIAD_ROUTES_MAX_LOST;
		i++) {
		triad_list_row(&list);
		triad_routes_put_port(
			&list, NULL, "WITHOUT A PATH", fabric, without->hosts_lost[i]);
		triad_list_row_end(&list);
	}
	triad_report_array_end(report);
}

static void put_effect(struct triad_report *report,
	const struct triad_routes_check *check,
	const struct triad_routes_without *without)
{
	if (report->as_json) {
		triad_json_object_begin(&report->json, "routes");
		triad_json_uint(&report->json, "pairs_moved", without->n_moved);
		triad_json_uint(&report->json, "pairs_lost", without->n_lost);
		triad_json_uint(&report->json, "hosts_lost", without->n_hosts_lost);
	} else {
		triad_output_printf(report->output,
			"\non routes, as an estimate: %" PRIu64
			" pairs take other paths, %" PRIu64
			" have none any more, nor have %" PRIu32 " host%s\n",
			without->n_moved, without->n_lost, without->n_hosts_lost,
			without->n_hosts_lost == 1 ? "" : "s");
	}
	put_lost(report, check->layout->fabric, without);
	put_gains(report, check, without);
	if (report->as_json)
		triad_json_object_end(&report->json);
}

void triad_port_effect_put(struct triad_plugin *plugin, struct triad_report *report)
{
	struct triad_route_result *result =
		triad_route_checker_result(plugin->service.routes);
	struct triad_routes_without *without = NULL;
	uint32_t n = 0, *ports = NULL;

	if (result)
		ports = find_ports(plugin, result->check->layout->fabric, &n);
	if (n && !triad_routes_without_make(result->check, ports, n, &without))
		put_effect(report, result->check, without);
	triad_routes_without_free(without);
	free(ports);
	triad_route_result_unref(result);
}
