/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'ports': each port with its state in one word, and what is or was at its far end. */
#include "service/command/commands.h"

#include "ib/link.h"
#include "ib/port_condition.h"
#include "service/command/format.h"
#include "service/command/list.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/service.h"

struct ports {
	struct triad_moment moment;
	const struct triad_command *command;
	const struct triad_fabric *fabric;
	struct triad_node_choice choice;
	struct triad_list list;
	uint32_t n_left_out;
};

/* The data to show of a port. */
struct shown {
	const struct triad_fabric_port *port;
	const struct triad_fabric_node *node;
	enum triad_port_condition condition;
	bool has_history;
	struct triad_link history;
	/* What is at its far end, or was; 0: nothing that is known. */
	uint64_t far_guid;
	const char *far_name;
	uint8_t far_port;
};

static void read_port(const struct ports *ports, uint32_t index, struct shown *shown)
{
	const struct triad_fabric *fabric = ports->fabric;
	const struct triad_fabric_port *port = &fabric->ports[index];

	*shown = (struct shown){.port = port, .node = &fabric->nodes[port->node]};
	shown->has_history = triad_moment_find_link(
		&ports->moment, shown->node->guid, port->number, &shown->history);
	shown->condition = triad_port_condition(fabric, index, shown->has_history);
	if (port->remote != TRIAD_FABRIC_NONE) {
		const struct triad_fabric_port *far = &fabric->ports[port->remote];

		shown->far_guid = fabric->nodes[far->node].guid;
		shown->far_name = fabric->nodes[far->node].name;
		shown->far_port = far->number;
	} else if (shown->has_history) {
		const struct triad_link_end *ends = shown->history.ends;
		bool is_first = ends[0].node_guid == shown->node->guid &&
			ends[0].port == port->number;
		const struct triad_link_end *far = &ends[is_first];

		shown->far_guid = far->node_guid;
		shown->far_name = far->node_name;
		shown->far_port = far->port;
	}
}

/* Port 0 of a switch has no cable. */
static bool is_chosen_port(
	const struct ports *ports, uint32_t index, struct shown *shown)
{
	const struct triad_fabric_port *port = &ports->fabric->ports[index];

	if (!triad_node_choice_has_port(&ports->choice, ports->fabric, index) ||
		(!port->number &&
			ports->fabric->nodes[port->node].type == TRIAD_NODE_SWITCH))
		return false;
	read_port(ports, index, shown);
	return !ports->command->state || ports->command->state == shown->condition;
}

static enum triad_table_color color_of(enum triad_port_condition condition)
{
	if (condition == TRIAD_CONDITION_SILENT ||
		condition == TRIAD_CONDITION_POLLING ||
		condition == TRIAD_CONDITION_TRAINING)
		return TRIAD_TABLE_RED;
	return condition == TRIAD_CONDITION_FREE || condition == TRIAD_CONDITION_ACTIVE
		? TRIAD_TABLE_PLAIN
		: TRIAD_TABLE_YELLOW;
}

static void put_far_end(struct triad_list *list, const struct triad_fabric *fabric,
	const struct shown *shown)
{
	bool is_past = shown->port->remote == TRIAD_FABRIC_NONE;

	triad_list_guid(list, "far_guid", NULL, shown->far_guid);
	triad_list_text(list, "far_name", NULL, 0, shown->far_name);
	if (triad_list_json(list) && shown->far_guid)
		triad_json_uint(triad_list_json(list), "far_port", shown->far_port);
	else
		triad_list_text(list, "far_port", NULL, 0, NULL);
	triad_list_bool(list, "far_end_is_past", NULL, 0, shown->far_guid && is_past);
	list->next = (struct triad_list_next){.name = "far_end"};
	if (shown->far_guid)
		triad_list_format(list, "FAR END", TRIAD_LIST_MEASURED, "%s%s",
			is_past ? "was " : "",
			triad_port_label_of(fabric, shown->far_guid, shown->far_name,
				shown->far_port)
				.text);
	else
		triad_list_text(list, NULL, "FAR END", TRIAD_LIST_MEASURED, "-");
}

static void put_port_state(struct ports *ports, const struct shown *shown)
{
	struct triad_list *list = &ports->list;
	struct triad_link_rate rate = triad_link_rate_active(shown->port);
	bool has_rate = shown->condition >= TRIAD_CONDITION_INIT;
	char text[16], at[TRIAD_CLOCK_TEXT_SIZE];

	triad_link_rate_format(rate, text, sizeof(text));
	triad_list_row(list);
	triad_list_guid(list, "node_guid", NULL, shown->node->guid);
	triad_list_node(list, "node_name", "NODE", TRIAD_LIST_MEASURED, shown->node);
	triad_list_text(
		list, "node_type", NULL, 0, triad_node_type_name(shown->node->type));
	triad_list_uint(list, "port", "PORT", 4, shown->port->number);
	triad_list_uint(list, "lid", NULL, 0, shown->port->lid);
	triad_list_guid(list, "port_guid", NULL, shown->port->guid);
	list->next.color = color_of(shown->condition);
	triad_list_text(list, "state", "STATE", -8,
		triad_port_condition_name(shown->condition));
	triad_list_text(list, "rate", "RATE", -7, has_rate ? text : NULL);
	put_far_end(list, ports->fabric, shown);
	triad_list_text(list, "last_down", NULL, 0,
		shown->has_history
			? triad_command_format_time(
				  triad_link_last_down_us(&shown->history), at)
			: NULL);
	triad_list_row_end(list);
}

/* Writes the ports and returns how many. */
static uint32_t put_ports(struct ports *ports)
{
	const struct triad_output *output = ports->list.report->output;
	struct shown shown;
	uint32_t n = 0;

	ports->n_left_out = 0;
	for (uint32_t i = 0; i < ports->fabric->n_ports && !output->failed; i++) {
		if (!is_chosen_port(ports, i, &shown))
			continue;
		if (n == ports->command->limit) {
			ports->n_left_out++;
			continue;
		}
		put_port_state(ports, &shown);
		n++;
	}
	return n;
}

static int show_ports(struct ports *ports, struct triad_output *output)
{
	struct triad_report report = {
		.output = output, .as_json = ports->command->json};
	uint32_t n;

	ports->list = (struct triad_list){
		.report = &report, .gap = "  ", .phase = TRIAD_LIST_WIDTHS};
	if (triad_list_is_measured(&report))
		put_ports(ports);
	ports->list.phase = TRIAD_LIST_ROWS;
	triad_report_array(&report, NULL);
	n = put_ports(ports);
	triad_report_array_end(&report);
	if (ports->command->json)
		return TRIAD_CONTROL_DONE;
	triad_command_put_left_out(
		output, ports->n_left_out, n + ports->n_left_out, "more");
	if (!n)
		triad_output_printf(output, "no port is like that\n");
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_ports(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct ports ports = {.command = command};
	int status = TRIAD_CONTROL_FAILED;

	if (!triad_moment_open(&ports.moment, service, command, output))
		return TRIAD_CONTROL_FAILED;
	if (!ports.moment.view)
		return triad_command_no_view(service, output);
	ports.fabric = ports.moment.view->fabric;
	if (triad_command_choose_there(
		    command, ports.fabric, "ports", &ports.choice, output) &&
		!triad_command_lacks_port("ports", ports.fabric, &ports.choice, output))
		status = show_ports(&ports, output);
	triad_moment_close(&ports.moment);
	return status;
}
