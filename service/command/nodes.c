/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'nodes': the nodes of the fabric; asked for by name, also those that left it. */
#include "service/command/commands.h"

#include <stdio.h>
#include <stdlib.h>

#include "ib/port_condition.h"
#include "lib/grow.h"
#include "service/command/format.h"
#include "service/command/list.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/service.h"

/* The data to show of a node. */
struct shown_node {
	const struct triad_fabric_node *node;
	uint16_t lid;
	uint32_t n_ports, n_up;                  /* external ports */
	uint32_t n_asked, n_answered, n_skipped; /* ports that have counters */
};

/* A node that left the fabric, by the link that it lost last. */
struct gone_node {
	struct triad_link_end end, near;
	uint64_t last_us; /* monotonic: when it was found to be gone */
};

struct nodes {
	const struct triad_view *view;
	const struct triad_command *command;
	struct triad_node_choice choice;
	const uint64_t *owners; /* of each node of the fabric; NULL: we read all */
	const struct triad_collect_agent *agents;
	unsigned n_agents;
	/* Nodes that left, by GUID. */
	struct gone_node *gone;
	uint32_t n_gone;
	size_t gone_room;
	struct triad_list list;
	uint32_t n_left_out;
};

static void read_shown_node(
	struct shown_node *shown, const struct triad_view *view, uint32_t at)
{
	const struct triad_fabric *fabric = view->fabric;
	const struct triad_fabric_node *node = &fabric->nodes[at];

	*shown = (struct shown_node){.node = node};
	for (uint32_t i = node->first_port; i < node->first_port + node->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];
		struct triad_shown_port counted;

		if (!shown->lid)
			shown->lid = port->lid;
		if (port->number) {
			shown->n_ports++;
			shown->n_up += port->state > TRIAD_PORT_DOWN;
		}
		if (!port->has_pma)
			continue;
		triad_shown_port_read(&counted, view, i);
		shown->n_skipped += counted.skipped;
		shown->n_asked += counted.row.was_asked;
		shown->n_answered += counted.row.answered;
	}
}

/* The node's state by its answers.  A CA's ports answer even when they are down. */
static const char *node_state_of(const struct shown_node *shown)
{
	if (!shown->n_asked)
		return shown->n_skipped ? "skipped" : "not asked";
	if (!shown->n_answered)
		return "unanswered";
	return shown->n_answered < shown->n_asked ? "in part" : "answers";
}

/* The agent that reads the node; NULL: none. */
static const char *agent_of(const struct nodes *nodes, uint32_t node)
{
	uint64_t owner = nodes->owners[node];

	for (unsigned i = 0; owner && i < nodes->n_agents; i++)
		if (nodes->agents[i].id == owner)
			return nodes->agents[i].name;
	return owner ? "?" : NULL;
}

static void put_node(struct nodes *nodes, uint32_t at)
{
	struct triad_list *list = &nodes->list;
	struct shown_node shown;

	read_shown_node(&shown, nodes->view, at);
	triad_list_row(list);
	triad_list_node(list, "name", "NODE", TRIAD_LIST_MEASURED, shown.node);
	triad_list_text(
		list, "type", "TYPE", -6, triad_node_type_name(shown.node->type));
	triad_list_guid(list, "guid", "GUID", shown.node->guid);
	triad_list_uint(list, "lid", "LID", 5, shown.lid);
	triad_list_uint(list, "ports_up", "UP", 3, shown.n_up);
	triad_list_uint(list, "ports", "OF", 3, shown.n_ports);
	triad_list_uint(list, "ports_asked", NULL, 0, shown.n_asked);
	triad_list_uint(list, "ports_answered", NULL, 0, shown.n_answered);
	if (nodes->owners)
		triad_list_text(list, "agent", "AGENT", TRIAD_LIST_MEASURED,
			agent_of(nodes, at));
	triad_list_text(list, "last_seen", NULL, 0, NULL);
	triad_list_text(list, "last_at", NULL, 0, NULL);
	triad_list_text(list, "port_state", NULL, 0, NULL);
	triad_list_text(list, "state", "STATE", 0, node_state_of(&shown));
	triad_list_row_end(list);
}

/* --- nodes that left --- */

static int compare_gone(const void *a, const void *b)
{
	const struct gone_node *x = a, *y = b;

	if (x->end.node_guid != y->end.node_guid)
		return x->end.node_guid < y->end.node_guid ? -1 : 1;
	return (x->last_us < y->last_us) - (x->last_us > y->last_us);
}

static bool is_gone(const struct nodes *nodes, const struct triad_link_end *end)
{
	return triad_fabric_find_node(nodes->view->fabric, end->node_guid) ==
		TRIAD_FABRIC_NONE &&
		(!nodes->choice.type || end->node_type == nodes->choice.type) &&
		triad_node_choice_has(&nodes->choice, end->node_name, end->node_guid);
}

/* Finds those that the choice names.  Returns false when memory is short. */
static bool find_gone(struct nodes *nodes, const struct triad_moment *moment)
{
	struct triad_link link;
	uint32_t cursor = 0, n = 0;

	if (nodes->choice.rule == TRIAD_NODE_RULE_ALL)
		return true;
	while (triad_moment_next_link(moment, &cursor, &link))
		for (unsigned i = 0; i < 2 && link.state != TRIAD_LINK_UP; i++) {
			if (!is_gone(nodes, &link.ends[i]))
				continue;
			if (triad_grow(&nodes->gone, &nodes->gone_room, n + 1,
				    sizeof(*nodes->gone), 64))
				return false;
			nodes->gone[n++] = (struct gone_node){
				link.ends[i], link.ends[!i], link.down_us};
		}
	if (n)
		qsort(nodes->gone, n, sizeof(*nodes->gone), compare_gone);
	for (uint32_t i = 0; i < n; i++)
		if (!i ||
			nodes->gone[i].end.node_guid !=
				nodes->gone[nodes->n_gone - 1].end.node_guid)
			nodes->gone[nodes->n_gone++] = nodes->gone[i];
	return true;
}

static void put_gone(struct nodes *nodes, const struct gone_node *gone)
{
	const struct triad_fabric *fabric = nodes->view->fabric;
	enum triad_port_condition now =
		triad_port_condition_at(fabric, gone->near.node_guid, gone->near.port);
	const char *condition = now ? triad_port_condition_name(now) : NULL;
	struct triad_list *list = &nodes->list;
	struct triad_port_label place = triad_port_label_of(
		fabric, gone->near.node_guid, gone->near.node_name, gone->near.port);
	char at[TRIAD_CLOCK_TEXT_SIZE];

	triad_command_format_time(gone->last_us, at);
	triad_list_row(list);
	triad_list_text(list, "name", NULL, 0, gone->end.node_name);
	list->next = (struct triad_list_next){.name = "name"};
	triad_list_text(list, NULL, "NODE", TRIAD_LIST_MEASURED,
		triad_node_label_of(fabric, gone->end.node_guid, gone->end.node_name)
			.text);
	triad_list_text(
		list, "type", "TYPE", -6, triad_node_type_name(gone->end.node_type));
	triad_list_guid(list, "guid", "GUID", gone->end.node_guid);
	triad_list_uint(list, "lid", "LID", 5, gone->end.lid);
	triad_list_uint(list, "ports_up", "UP", 3, 0);
	triad_list_text(list, "ports", "OF", 3, NULL);
	triad_list_uint(list, "ports_asked", NULL, 0, 0);
	triad_list_uint(list, "ports_answered", NULL, 0, 0);
	if (nodes->owners)
		triad_list_text(list, "agent", "AGENT", TRIAD_LIST_MEASURED, NULL);
	triad_list_text(list, "last_seen", NULL, 0, at);
	triad_list_text(list, "last_at", NULL, 0, place.text);
	triad_list_text(list, "port_state", NULL, 0, condition);
	list->next =
		(struct triad_list_next){.name = "state", .color = TRIAD_TABLE_RED};
	if (triad_list_json(list))
		triad_list_text(list, "state", NULL, 0, "left");
	else
		triad_list_format(list, "STATE", 0, "left %.19sZ; was at %s%s%s", at,
			place.text, condition ? ", now " : "",
			condition ? condition : "");
	triad_list_row_end(list);
}

static bool is_chosen_node(const struct nodes *nodes, uint32_t at)
{
	const struct triad_fabric_node *node = &nodes->view->fabric->nodes[at];

	return (!nodes->choice.type || node->type == nodes->choice.type) &&
		triad_node_choice_has(&nodes->choice, node->name, node->guid);
}

/* Writes the nodes and returns how many. */
static uint32_t put_nodes(struct nodes *nodes)
{
	const struct triad_output *output = nodes->list.report->output;
	uint32_t n = 0;

	nodes->n_left_out = 0;
	for (uint32_t i = 0; i < nodes->view->fabric->n_nodes && !output->failed; i++) {
		if (!is_chosen_node(nodes, i))
			continue;
		if (n == nodes->command->limit) {
			nodes->n_left_out++;
			continue;
		}
		put_node(nodes, i);
		n++;
	}
	for (uint32_t i = 0; i < nodes->n_gone && !output->failed; i++) {
		if (n == nodes->command->limit) {
			nodes->n_left_out++;
			continue;
		}
		put_gone(nodes, &nodes->gone[i]);
		n++;
	}
	return n;
}

static int show_nodes(struct nodes *nodes, struct triad_output *output)
{
	struct triad_report report = {
		.output = output, .as_json = nodes->command->json};
	uint32_t n;

	nodes->list = (struct triad_list){
		.report = &report, .gap = "  ", .phase = TRIAD_LIST_WIDTHS};
	if (triad_list_is_measured(&report))
		put_nodes(nodes);
	nodes->list.phase = TRIAD_LIST_ROWS;
	triad_report_array(&report, NULL);
	n = put_nodes(nodes);
	triad_report_array_end(&report);
	if (!nodes->command->json)
		triad_command_put_left_out(
			output, nodes->n_left_out, n + nodes->n_left_out, "more");
	if (n)
		return TRIAD_CONTROL_DONE;
	if (nodes->choice.rule != TRIAD_NODE_RULE_ALL)
		return triad_command_print_choice(
			"nodes", &nodes->choice, nodes->view->fabric, output);
	if (!nodes->command->json)
		triad_output_printf(output, "the fabric has no node of that type\n");
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_nodes(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct nodes nodes = {.command = command};
	struct triad_collect_agent *agents;
	struct triad_moment moment;
	const struct triad_view *view;
	uint64_t *owners;
	int status = TRIAD_CONTROL_FAILED;

	if (!triad_moment_open(&moment, service, command, output))
		return TRIAD_CONTROL_FAILED;
	view = moment.view;
	if (!view)
		return triad_command_no_view(service, output);
	/* Images do not keep which agent read a node. */
	agents = command->at[0]
		? NULL
		: triad_collect_agents(service->collect, &nodes.n_agents);
	owners = command->at[0] ? NULL
				: triad_collect_owners(service->collect, view->fabric);
	nodes.view = view;
	nodes.agents = agents;
	nodes.owners = owners;
	if (!triad_command_choose(
		    command, view->fabric, "nodes", &nodes.choice, output))
		;
	else if (!find_gone(&nodes, &moment))
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"nodes: not enough memory to list them; try again\n");
	else if (nodes.choice.rule != TRIAD_NODE_RULE_ALL && !nodes.choice.n &&
		!nodes.n_gone)
		(void)triad_command_print_choice(
			"nodes", &nodes.choice, view->fabric, output);
	else
		status = show_nodes(&nodes, output);
	free(nodes.gone);
	free(owners);
	free(agents);
	triad_moment_close(&moment);
	return status;
}
