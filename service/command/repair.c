/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'repair plan': what would be written if a link, or all links of a switch, went. */
#include "routes/repair.h"
#include "routes/repair_multicast.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ib/node_choice.h"
#include "service/command/commands.h"
#include "service/command/ports.h"
#include "service/command/routes_parts.h"
#include "service/service.h"
#include "triad/control.h"

#define VERB "repair plan"
#define MAX_PORTS 256

struct repair_plan {
	const struct triad_routes_check *check;
	const struct triad_routes_repair *repair;
	const struct triad_routes_repair_multicast *multicast;
	/* That go: of a switch all with a link. */
	uint32_t ports[MAX_PORTS], n_ports;
	bool is_switch;        /* of which all links go */
	uint32_t *port_of_lid; /* TRIAD_ROUTES_N_LIDS of them */
	struct triad_report report;
};

/* --- what goes --- */

static void add_linked_port(struct repair_plan *plan, uint32_t port)
{
	if (plan->check->layout->fabric->ports[port].remote != TRIAD_FABRIC_NONE &&
		plan->n_ports < MAX_PORTS)
		plan->ports[plan->n_ports++] = port;
}

/* False, having written why: what was typed is neither a link nor a switch. */
static bool choose_links(struct repair_plan *plan, const struct triad_command *command,
	struct triad_output *output)
{
	const struct triad_fabric *fabric = plan->check->layout->fabric;
	const struct triad_fabric_node *node;
	struct triad_node_choice choice;
	uint32_t port;

	if (!triad_command_choose(command, fabric, VERB, &choice, output))
		return false;
	if (choice.n != 1) {
		(void)triad_command_print_choice(VERB, &choice, fabric, output);
		return false;
	}
	if (triad_command_lacks_port(VERB, fabric, &choice, output))
		return false;
	node = &fabric->nodes[choice.first];
	if (choice.port >= 0) {
		port = triad_fabric_find_port(
			fabric, choice.first, (unsigned)choice.port);
		if (choice.port)
			add_linked_port(plan, port);
	} else if (node->type == TRIAD_NODE_SWITCH) {
		plan->is_switch = true;
		for (port = 0; port < node->n_ports; port++)
			add_linked_port(plan, node->first_port + port);
	} else if (choice.end_port != TRIAD_FABRIC_NONE) {
		add_linked_port(plan, choice.end_port);
	}
	if (!plan->n_ports)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			VERB
			": '%s' is neither a switch nor a port with a link: name a "
			"switch, or one end of a link, as leaf-01:3; 'links "
			"--node' lists them\n",
			command->node);
	return plan->n_ports > 0;
}

/* --- whether anything is known --- */

/* False, having written why, when tables and links are not of one time. */
static bool are_of_one_time(struct triad_service *service,
	const struct triad_route_result *result, struct triad_output *output)
{
	struct triad_view *view = triad_perf_view(service->perf);
	bool is_old = view && view->fabric->generation > result->generation &&
		triad_routes_hash(view->fabric) != result->hash;

	triad_view_unref(view);
	if (is_old)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			VERB
			": links or forwarding tables have changed since routes "
			"were checked, so nothing is planned from them; try again\n");
	return !is_old;
}

static bool are_tables_known(
	const struct triad_routes_layout *layout, struct triad_output *output)
{
	uint32_t n = 0, first = 0;

	for (uint32_t i = layout->n_switches; i-- > 0;)
		if (!layout->fabric->nodes[layout->switches[i].node].lft.n) {
			n++;
			first = layout->switches[i].node;
		}
	if (n)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			VERB ": the SM has no forwarding table of %s%s, so nothing is "
			     "planned; see OpenSM's log\n",
			triad_node_label(&layout->fabric->nodes[first]).text,
			n > 1 ? " and of other switches" : "");
	return !n;
}

/* --- what is said --- */

static const struct {
	const char *name, *text;
} next_sweeps[] = {
	[TRIAD_ROUTES_SWEEP_UNKNOWN] = {NULL,
		"what it does with them at its next sweep is not known"},
	[TRIAD_ROUTES_SWEEP_KEEPS] = {"keeps_shortest",
		"keeps those of a shortest way at its next sweep"},
	[TRIAD_ROUTES_SWEEP_AFRESH] = {"computes_afresh",
		"computes all tables afresh at its next sweep"},
	[TRIAD_ROUTES_SWEEP_OWN] = {"writes_its_own",
		"writes its own tables at each sweep"},
};

static const struct {
	const char *name, *text;
} proofs[] = {
	[TRIAD_ROUTES_NO_CIRCLE] = {"no_circle",
		"no credit loop can come of it: that is proven"},
	[TRIAD_ROUTES_NONE_ADDED] = {"none_added",
		"no credit loop can come of it: that is proven, though links wait for "
		"each other in circles now, and will"},
	[TRIAD_ROUTES_MAY_CLOSE] = {"may_close", NULL},
};

static const char *engine_name(const struct repair_plan *plan)
{
	const char *engine = plan->check->layout->fabric->sa.engine;

	return engine[0] ? engine : NULL;
}

static enum triad_routes_next_sweep next_sweep(const struct repair_plan *plan)
{
	return triad_routes_next_sweep(plan->check->layout->fabric->sa.engine);
}

/* Why it is left to OpenSM's sweep; NULL: it is not, or there is nothing to do. */
static const char *why_left(const struct repair_plan *plan)
{
	if (!plan->repair->n_changes)
		return NULL;
	if (next_sweep(plan) == TRIAD_ROUTES_SWEEP_OWN)
		return "the routing engine has its tables from a file, over any link";
	return plan->repair->proof == TRIAD_ROUTES_MAY_CLOSE
		? "a credit loop could come of it, as the links in the circle may wait "
		  "for each other then"
		: NULL;
}

static void fill_lids(struct repair_plan *plan)
{
	const struct triad_routes_layout *layout = plan->check->layout;

	memset(plan->port_of_lid, 0xff,
		TRIAD_ROUTES_N_LIDS * sizeof(*plan->port_of_lid));
	for (uint32_t i = 0; i < layout->n_goals; i++)
		plan->port_of_lid[layout->goals[i].lid] = layout->goals[i].port;
}

static void put_links(struct repair_plan *plan)
{
	const struct triad_fabric *fabric = plan->check->layout->fabric;
	struct triad_list list = {.report = &plan->report, .gap = "  "};

	triad_json_array_begin(&plan->report.json, "links");
	for (uint32_t i = 0; i < plan->n_ports; i++) {
		triad_list_row(&list);
		triad_routes_put_port(&list, NULL, NULL, fabric, plan->ports[i]);
		triad_routes_put_port(&list, "to", NULL, fabric,
			fabric->ports[plan->ports[i]].remote);
		triad_list_row_end(&list);
	}
	triad_json_array_end(&plan->report.json);
}

/* The links of one that the repair may close. */
static void put_circle(struct repair_plan *plan)
{
	const struct triad_routes_circle *circle = &plan->repair->circle;
	const struct triad_fabric *fabric = plan->check->layout->fabric;
	struct triad_list list = {.report = &plan->report, .indent = "  ", .gap = "  "};

	if (!plan->report.as_json)
		triad_output_printf(plan->report.output,
			"  a circle of %" PRIu32 " links%s:\n", circle->n_links,
			circle->n_shown < circle->n_links ? ", of which the first"
							  : "");
	triad_report_array(&plan->report, "circle");
	for (uint32_t i = 0; i < circle->n_shown; i++) {
		triad_list_row(&list);
		triad_routes_put_port(&list, NULL, "FROM", fabric, circle->ports[i]);
		triad_routes_put_port(&list, "to", "TO", fabric,
			fabric->ports[circle->ports[i]].remote);
		triad_list_row_end(&list);
	}
	triad_report_array_end(&plan->report);
}

/* --- multicast groups --- */

static const struct {
	const char *name, *text;
} group_states[] = {
	[TRIAD_ROUTES_GROUP_CONNECTED] = {"connected", NULL},
	[TRIAD_ROUTES_GROUP_CUT] = {"cut", "members have no way to the others"},
	[TRIAD_ROUTES_GROUP_ASYMMETRIC] = {"asymmetric",
		"left alone: the tables of a link's two ends differ"},
	[TRIAD_ROUTES_GROUP_LOOPS] = {"loops", "left alone: its tree has a loop"},
};

static void put_groups_json(struct repair_plan *plan)
{
	const struct triad_routes_repair_multicast *multicast = plan->multicast;
	struct triad_json *json = &plan->report.json;

	triad_json_array_begin(json, "multicast_groups");
	for (uint32_t i = 0; i < multicast->n_groups; i++) {
		const struct triad_routes_group_repair *group = &multicast->groups[i];

		triad_json_object_begin(json, NULL);
		triad_json_uint(json, "mlid", group->mlid);
		triad_json_string(json, "state", group_states[group->state].name);
		triad_json_uint(json, "members", group->n_members);
		if (group->state <= TRIAD_ROUTES_GROUP_CUT)
			triad_json_uint(json, "members_cut", group->n_cut);
		else
			triad_json_string(json, "members_cut", NULL);
		triad_json_uint(json, "entries", group->n_changes);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
	triad_json_bool(json, "multicast_all_known", !plan->check->multicast.is_cut);
	triad_json_uint(json, "multicast_entries", multicast->n_changes);
}

/* How many there are, and each that is not whole then. */
static void put_groups_text(struct repair_plan *plan)
{
	const struct triad_routes_repair_multicast *multicast = plan->multicast;
	struct triad_output *output = plan->report.output;
	uint32_t n_whole = 0;

	for (uint32_t i = 0; i < multicast->n_groups; i++)
		n_whole += multicast->groups[i].state == TRIAD_ROUTES_GROUP_CONNECTED;
	triad_output_printf(output,
		"  %s%" PRIu32 " multicast group%s cross%s there; %" PRIu32
		" entr%s would connect %" PRIu32 " of them again\n",
		plan->check->multicast.is_cut ? "at least " : "", multicast->n_groups,
		multicast->n_groups == 1 ? "" : "s",
		multicast->n_groups == 1 ? "es" : "", multicast->n_changes,
		multicast->n_changes == 1 ? "y" : "ies", n_whole);
	for (uint32_t i = 0; i < multicast->n_groups; i++) {
		const struct triad_routes_group_repair *group = &multicast->groups[i];

		if (group->state == TRIAD_ROUTES_GROUP_CUT)
			triad_output_printf(output,
				"    group 0x%04x: %" PRIu32 " of %" PRIu32 " %s\n",
				group->mlid, group->n_cut, group->n_members,
				group_states[group->state].text);
		else if (group->state != TRIAD_ROUTES_GROUP_CONNECTED)
			triad_output_printf(output, "    group 0x%04x: %s\n",
				group->mlid, group_states[group->state].text);
	}
}

static void put_plan_json(struct repair_plan *plan)
{
	const struct triad_routes_repair *repair = plan->repair;
	struct triad_json *json = &plan->report.json;

	put_links(plan);
	triad_json_uint(json, "crossing_pairs", repair->n_crossing);
	triad_json_uint(json, "lost_pairs", repair->n_lost);
	triad_json_uint(json, "entries", repair->n_changes);
	triad_json_uint(json, "blocks", repair->n_blocks);
	triad_json_uint(json, "steps", repair->n_steps);
	triad_json_uint(json, "switches", plan->repair->n_switches);
	triad_json_bool(json, "proven", repair->proof != TRIAD_ROUTES_MAY_CLOSE);
	triad_json_string(json, "credit_loops", proofs[repair->proof].name);
	put_circle(plan);
	triad_json_bool(json, "may_be_written", repair->n_changes && !why_left(plan));
	triad_json_string(json, "left_to_opensm_because", why_left(plan));
	triad_json_string(json, "engine", engine_name(plan));
	triad_json_string(json, "at_next_sweep", next_sweeps[next_sweep(plan)].name);
	put_groups_json(plan);
}

static void put_title(struct repair_plan *plan)
{
	const struct triad_fabric *fabric = plan->check->layout->fabric;
	const struct triad_fabric_port *port = &fabric->ports[plan->ports[0]];
	char from[TRIAD_PORT_LABEL_SIZE], to[TRIAD_PORT_LABEL_SIZE];

	triad_routes_format_port(fabric, plan->ports[0], from, sizeof(from));
	triad_routes_format_port(fabric, port->remote, to, sizeof(to));
	if (plan->is_switch)
		triad_output_printf(plan->report.output,
			"Without %s, which has %" PRIu32 " link%s\n",
			triad_node_label(&fabric->nodes[port->node]).text,
			plan->n_ports, plan->n_ports == 1 ? "" : "s");
	else
		triad_output_printf(plan->report.output,
			"Without the link from %s to %s\n", from, to);
}

static void put_plan_text(struct repair_plan *plan)
{
	const struct triad_routes_repair *repair = plan->repair;
	struct triad_output *output = plan->report.output;
	const char *engine = engine_name(plan), *why = why_left(plan);

	put_title(plan);
	triad_output_printf(output,
		"  %" PRIu64 " pairs of hosts lose their path, of which %" PRIu64
		" have no other way\n",
		repair->n_crossing, repair->n_lost);
	if (repair->n_changes)
		triad_output_printf(output,
			"  %" PRIu32 " entr%s would lead the others around it: %" PRIu32
			" block%s at %" PRIu32 " switch%s, in %" PRIu32 " step%s\n",
			repair->n_changes, repair->n_changes == 1 ? "y" : "ies",
			repair->n_blocks, repair->n_blocks == 1 ? "" : "s",
			plan->repair->n_switches,
			plan->repair->n_switches == 1 ? "" : "es", repair->n_steps,
			repair->n_steps == 1 ? "" : "s");
	else
		triad_output_printf(output, "  no entry would be written\n");
	if (repair->n_changes && proofs[repair->proof].text)
		triad_output_printf(output, "  %s\n", proofs[repair->proof].text);
	if (why)
		triad_output_printf(output, "  left to OpenSM's sweep: %s\n", why);
	if (repair->circle.n_links)
		put_circle(plan);
	triad_output_printf(output, "  the routing engine, %s, %s\n",
		engine ? engine : "which is not known",
		next_sweeps[next_sweep(plan)].text);
	put_groups_text(plan);
}

/* --- the entries --- */

static void put_entry(struct triad_list *list, const struct repair_plan *plan,
	const struct triad_routes_change *change)
{
	const struct triad_routes_layout *layout = plan->check->layout;
	const struct triad_fabric *fabric = layout->fabric;
	const struct triad_fabric_node *node =
		&fabric->nodes[layout->switches[change->sw].node];
	uint32_t to = plan->port_of_lid[change->lid];

	triad_list_row(list);
	triad_list_uint(list, "step", "STEP", 4, change->step + 1u);
	triad_list_node(list, "node_name", "SWITCH", TRIAD_LIST_LONG, node);
	triad_list_guid(list, "node_guid", NULL, node->guid);
	triad_list_uint(list, "lid", "LID", 5, change->lid);
	triad_routes_put_port(list, "destination", "OF", fabric, to);
	triad_list_uint(list, "from_port", "FROM", 4, change->from);
	triad_list_uint(list, "to_port", "TO", 4, change->out);
	triad_list_row_end(list);
}

static void put_entries(struct repair_plan *plan, unsigned limit)
{
	struct triad_list list = {.report = &plan->report, .indent = "  ", .gap = "  "};

	if (!plan->report.as_json && plan->repair->n_changes)
		triad_output_printf(plan->report.output, "\n");
	triad_report_array(&plan->report, "changes");
	for (uint32_t i = 0; i < plan->repair->n_changes && i < limit; i++)
		put_entry(&list, plan, &plan->repair->changes[i]);
	triad_report_array_end(&plan->report);
}

static void show_plan(struct repair_plan *plan, const struct triad_command *command)
{
	fill_lids(plan);
	triad_report_begin(&plan->report);
	if (command->json)
		put_plan_json(plan);
	else
		put_plan_text(plan);
	/* Without a number people get none: there may be thousands. */
	if (command->json || command->limit != UINT_MAX)
		put_entries(plan, command->limit);
	triad_report_end(&plan->report);
}

static int make_plan(struct repair_plan *plan, const struct triad_command *command,
	struct triad_output *output)
{
	struct triad_routes_repair *repair = NULL;
	struct triad_routes_repair_multicast *multicast = NULL;
	int error;

	plan->port_of_lid = malloc(TRIAD_ROUTES_N_LIDS * sizeof(*plan->port_of_lid));
	error = plan->port_of_lid ? triad_routes_repair_make(plan->check, plan->ports,
					    plan->n_ports, &repair)
				  : ENOMEM;
	if (!error)
		error = triad_routes_repair_multicast_make(
			plan->check->layout, plan->ports, plan->n_ports, &multicast);
	plan->repair = repair;
	plan->multicast = multicast;
	if (!error)
		show_plan(plan, command);
	else
		triad_output_message(output, TRIAD_FRAME_MESSAGE, VERB ": %s\n",
			error == EOVERFLOW
				? "too many entries would be written: that is "
				  "left to OpenSM's sweep"
				: "not enough memory; try again");
	triad_routes_repair_free(repair);
	triad_routes_repair_multicast_free(multicast);
	free(plan->port_of_lid);
	return error ? TRIAD_CONTROL_FAILED : TRIAD_CONTROL_DONE;
}

int triad_command_run_repair_plan(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_route_result *result =
		triad_routes_command_result(service, VERB, output);
	struct repair_plan plan = {
		.report = {.output = output, .as_json = command->json},
	};
	int status = TRIAD_CONTROL_FAILED;

	if (!result)
		return TRIAD_CONTROL_FAILED;
	plan.check = result->check;
	if (are_of_one_time(service, result, output) &&
		are_tables_known(result->check->layout, output) &&
		choose_links(&plan, command, output))
		status = make_plan(&plan, command, output);
	triad_route_result_unref(result);
	return status;
}
