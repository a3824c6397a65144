/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'topology': the fabric in the forms of other programs. */
#include "config.h"

#include "service/command/commands.h"

#include <inttypes.h>

#include "jobs/hostlist.h"
#include "jobs/slurm_topology.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/command/topology_parts.h"
#include "service/service.h"

/* --- as Slurm reads it --- */

static void put_topology_text(
	const struct triad_slurm_topology *topology, struct triad_output *output)
{
	triad_output_printf(output,
		"# topology.conf of Slurm (topology/tree), by Triad " PACKAGE_VERSION
		"\n# %" PRIu32 " host%s at %" PRIu32
		" switch%s; lines above are sets of switches\n",
		topology->n_hosts, topology->n_hosts == 1 ? "" : "s",
		topology->n_leaves, topology->n_leaves == 1 ? "" : "es");
	if (topology->n_again)
		triad_output_printf(output,
			"# at more than one switch, and listed at one: %" PRIu32
			" host%s\n",
			topology->n_again, topology->n_again == 1 ? "" : "s");
	if (topology->n_unnamed)
		triad_output_printf(output,
			"# left out, because their descriptions name no host (a "
			"factory's, or localhost): %" PRIu32 " port%s of hosts\n",
			topology->n_unnamed, topology->n_unnamed == 1 ? "" : "s");
	if (topology->n_roots > 1)
		triad_output_printf(output, "# %" PRIu32 " parts are not connected\n",
			topology->n_roots);
	for (uint32_t i = 0; i < topology->n; i++) {
		const struct triad_slurm_switch *line = &topology->switches[i];

		triad_output_printf(output, "SwitchName=%s %s=", line->name,
			line->hosts.n ? "Nodes" : "Switches");
		triad_command_print_hosts(
			line->hosts.n ? &line->hosts : &line->switches, output);
		triad_output_printf(output, "\n");
	}
}

/* --- JSON --- */

static void put_topology_json(
	const struct triad_slurm_topology *topology, struct triad_output *output)
{
	struct triad_json json;

	triad_json_init(&json, output);
	triad_json_object_begin(&json, NULL);
	triad_json_uint(&json, "hosts", topology->n_hosts);
	triad_json_uint(&json, "leaves", topology->n_leaves);
	triad_json_uint(&json, "parts", topology->n_roots);
	triad_json_uint(&json, "hosts_again", topology->n_again);
	triad_json_uint(&json, "hosts_unnamed", topology->n_unnamed);
	triad_json_array_begin(&json, "switches");
	for (uint32_t i = 0; i < topology->n && !output->failed; i++) {
		const struct triad_slurm_switch *line = &topology->switches[i];

		triad_json_object_begin(&json, NULL);
		triad_json_string(&json, "name", line->name);
		triad_command_json_hosts(&json, "hosts", &line->hosts);
		triad_command_json_hosts(&json, "switches", &line->switches);
		triad_json_object_end(&json);
	}
	triad_json_array_end(&json);
	triad_json_object_end(&json);
	triad_json_end(&json);
}

/* --- the command --- */

/* The whole fabric, with a reference; NULL: none yet.  First that of collect.h: an
 * agent's view has only its own nodes.  Last that of routes: all that an idle master
 * has. */
static struct triad_fabric *whole_fabric(struct triad_service *service)
{
	struct triad_fabric *fabric = triad_collect_fabric(service->collect);
	struct triad_view *view = triad_perf_view(service->perf);
	struct triad_route_result *routes = triad_route_checker_result(service->routes);

	if (!fabric && view)
		fabric = triad_fabric_ref(view->fabric);
	else if (!fabric && routes)
		fabric = triad_fabric_ref(routes->check->layout->fabric);
	triad_route_result_unref(routes);
	triad_view_unref(view);
	return fabric;
}

static int put_tree(struct triad_fabric *fabric, const struct triad_command *command,
	struct triad_output *output)
{
	struct triad_routes_layout *layout = NULL;
	struct triad_slurm_topology *topology = NULL;
	int error = triad_routes_layout_make(fabric, &layout);

	if (!error)
		error = triad_slurm_topology_make(layout, &topology);
	if (!error && command->json)
		put_topology_json(topology, output);
	else if (!error)
		put_topology_text(topology, output);
	triad_slurm_topology_free(topology);
	triad_routes_layout_free(layout);
	if (!error)
		return TRIAD_CONTROL_DONE;
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"topology: not enough memory; try again\n");
	return TRIAD_CONTROL_FAILED;
}

int triad_command_run_topology(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_fabric *fabric;
	struct triad_moment moment;
	int status = TRIAD_CONTROL_DONE;

	if (!triad_moment_open(&moment, service, command, output))
		return TRIAD_CONTROL_FAILED;
	fabric = moment.past ? triad_fabric_ref(moment.view->fabric)
			     : whole_fabric(service);
	if (!fabric)
		status = triad_command_no_view(service, output);
	else if (command->db_csv)
		triad_topology_put_db_csv(fabric, &moment, output);
	else if (command->fdbs)
		triad_topology_put_fdbs(fabric, output);
	else if (command->mcfdbs)
		triad_topology_put_mcfdbs(fabric, output);
	else
		status = put_tree(fabric, command, output);
	triad_fabric_unref(fabric);
	triad_moment_close(&moment);
	return status;
}
