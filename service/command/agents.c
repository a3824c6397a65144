/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'agents', 'agents owner', 'agents drain', 'agents resume'; and the section of
 * 'status' about collecting together. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/command/commands.h"
#include "service/command/list.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/command/status.h"
#include "service/facts.h"
#include "service/service.h"
#include "triad/control.h"
#include "triad/json.h"

/* Why there are no agents to show: this process is in mode local, or the PerfManager's
 * thread has not put the configuration into force yet. */
static const char *why_local(struct triad_service *service)
{
	const struct triad_conf *conf = triad_service_conf(service);
	bool is_local = conf->collect.mode == TRIAD_COLLECT_LOCAL;

	triad_conf_unref(conf);
	return is_local
		? "this one reads all counters by itself: [collect] mode in its "
		  "configuration makes it one of many"
		: "it is only about to read counters together with others: ask "
		  "again; if it lasts, the log says why";
}

static int fail_agents_command(const struct triad_command *command, const char *why,
	struct triad_output *output)
{
	static const char *const names[] = {
		[TRIAD_COMMAND_AGENTS] = "agents",
		[TRIAD_COMMAND_AGENTS_OWNER] = "agents owner",
		[TRIAD_COMMAND_AGENTS_DRAIN] = "agents drain",
		[TRIAD_COMMAND_AGENTS_RESUME] = "agents resume",
	};

	triad_output_message(
		output, TRIAD_FRAME_MESSAGE, "%s: %s\n", names[command->verb], why);
	return TRIAD_CONTROL_FAILED;
}

/* --- agents --- */

#define ADDRESS_SIZE (TRIAD_COLLECT_NAME_SIZE + 8)

static void format_address(
	const struct triad_collect_agent *agent, char text[ADDRESS_SIZE])
{
	snprintf(text, ADDRESS_SIZE, agent->port ? "%s:%u" : "%s", agent->address,
		agent->port);
}

static const struct triad_collect_agent *find_agent(
	const struct triad_collect_agent *agents, unsigned n, uint64_t id)
{
	for (unsigned i = 0; i < n; i++)
		if (agents[i].id == id)
			return &agents[i];
	return NULL;
}

/* The agent's name; "?" while it is not known. */
static const char *name_of(
	const struct triad_collect_agent *agents, unsigned n, uint64_t id)
{
	const struct triad_collect_agent *agent = find_agent(agents, n, id);

	return agent && agent->name[0] ? agent->name : "?";
}

/* The receiver of its reports, for people. */
static const char *reports_to(const struct triad_collect_status *status,
	const struct triad_collect_agent *agent,
	const struct triad_collect_agent *agents, unsigned n)
{
	if (agent->state == TRIAD_AGENT_DEAD)
		return "-";
	if (!agent->master && !status->n_managers)
		return "nobody: no manager";
	return agent->master ? name_of(agents, n, agent->master) : "manager";
}

static void put_agent(struct triad_list *list, const struct triad_collect_agent *agent,
	const char *master)
{
	char address[ADDRESS_SIZE], octets[32];

	format_address(agent, address);
	triad_list_row(list);
	triad_list_text(list, "name", NULL, 0, agent->name);
	list->next.name = "name";
	triad_list_text(list, NULL, "Agent", TRIAD_LIST_MEASURED,
		agent->name[0] ? agent->name : "?");
	triad_list_guid(list, "guid", NULL, agent->id);
	triad_list_text(list, "address", NULL, 0, address);
	list->next.color = agent->state == TRIAD_AGENT_DEAD ? TRIAD_TABLE_RED
		: agent->state == TRIAD_AGENT_ALIVE         ? TRIAD_TABLE_PLAIN
							    : TRIAD_TABLE_YELLOW;
	triad_list_text(list, "state", "State", -8,
		triad_collect_agent_state_name(agent->state));
	triad_list_bool(list, "self", NULL, 0, agent->is_self);
	triad_list_uint(list, "nodes_owned", "Nodes", 6, agent->n_nodes);
	triad_list_uint(list, "ports", "Ports", 7, agent->n_ports);
	triad_list_uint(list, "ports_unanswered", NULL, 0, agent->n_silent);
	triad_list_uint(list, "lag_ms", "Lag ms", 7, agent->lag_ms);
	triad_list_double(list, "octets_per_s", agent->octets_per_s);
	snprintf(octets, sizeof(octets), "%.0f", agent->octets_per_s);
	list->next = (struct triad_list_next){
		.name = "octets_per_s", .value = octets, .is_spare = true};
	triad_list_text(list, NULL, "Octets/s", 8, octets);
	list->next.name = "address";
	triad_list_text(list, NULL, "Address", TRIAD_LIST_MEASURED, address);
	triad_list_blank(list);
	list->next.name = "master";
	triad_list_text(list, NULL, "Reports to", 0, master);
	if (agent->master)
		triad_list_guid(list, "master", NULL, agent->master);
	triad_list_row_end(list);
}

static void put_agents(struct triad_list *list,
	const struct triad_collect_status *status,
	const struct triad_collect_agent *agents, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		put_agent(list, &agents[i], reports_to(status, &agents[i], agents, n));
}

static void put_counts(
	const struct triad_collect_status *status, struct triad_output *output)
{
	triad_output_printf(output, "%u nodes, %u without an owner", status->n_nodes,
		status->n_unowned);
	if (!status->n_alive)
		triad_output_printf(output, ": no agent is alive");
	if (status->n_apart)
		triad_output_printf(output, "; %u in no partition of %s",
			status->n_apart,
			status->mode == TRIAD_COLLECT_MANAGER ? "any agent"
							      : "this one");
	if (status->mode == TRIAD_COLLECT_MANAGER)
		triad_output_printf(output, "; not seen: %u with %u ports",
			status->aggregator.n_nodes_unseen,
			status->aggregator.n_ports_unseen);
	triad_output_printf(output, "\n");
}

static int run_agents(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_collect_status status = triad_collect_status(service->collect);
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_list list = {.report = &report, .phase = TRIAD_LIST_WIDTHS};
	struct triad_json *json = &report.json;
	struct triad_collect_agent *agents;
	unsigned n;

	if (status.mode == TRIAD_COLLECT_LOCAL)
		return fail_agents_command(command, why_local(service), output);
	/* First the widths of columns are measured, then titles and rows are
	 * written. */
	agents = triad_collect_agents(service->collect, &n);
	put_agents(&list, &status, agents, n);
	list.phase = TRIAD_LIST_TITLES;
	put_agent(&list, &(struct triad_collect_agent){0}, "");
	triad_report_begin(&report);
	if (command->json) {
		triad_json_uint(json, "nodes", status.n_nodes);
		triad_json_uint(json, "nodes_without_owner", status.n_unowned);
		triad_json_uint(json, "nodes_apart", status.n_apart);
		triad_json_uint(
			json, "nodes_not_seen", status.aggregator.n_nodes_unseen);
		triad_json_uint(
			json, "ports_not_seen", status.aggregator.n_ports_unseen);
	}
	triad_report_array(&report, "agents");
	put_agents(&list, &status, agents, n);
	triad_report_array_end(&report);
	triad_report_end(&report);
	if (!command->json)
		put_counts(&status, output);
	free(agents);
	return TRIAD_CONTROL_DONE;
}

/* --- agents owner --- */

/* A node and the agent that reads it. */
struct owned {
	uint64_t guid;
	char node[TRIAD_NODE_NAME_SIZE];
	uint64_t owner; /* id; 0: none */
	uint8_t hops;
	bool has_agent;
	struct triad_collect_agent agent;
};

static void put_owner(const struct owned *owned, const struct triad_command *command,
	struct triad_output *output)
{
	const struct triad_collect_agent *agent = &owned->agent;
	const char *name = owned->has_agent && agent->name[0] ? agent->name : "?";
	char address[ADDRESS_SIZE] = "";
	struct triad_json json;

	if (owned->has_agent)
		format_address(agent, address);

	if (command->json) {
		triad_json_init(&json, output);
		triad_json_object_begin(&json, NULL);
		triad_json_guid(&json, "node_guid", owned->guid);
		triad_json_string(&json, "node", owned->node);
		if (owned->owner) {
			triad_json_string(&json, "agent", name);
			triad_json_guid(&json, "agent_guid", owned->owner);
			triad_json_uint(&json, "hops", owned->hops);
		}
		if (owned->owner && owned->has_agent) {
			triad_json_string(&json, "address", address);
			triad_json_string(&json, "state",
				triad_collect_agent_state_name(agent->state));
			triad_json_uint(&json, "nodes_owned", agent->n_nodes);
		}
		triad_json_object_end(&json);
		triad_json_end(&json);
	} else if (owned->owner) {
		triad_output_printf(output,
			"%s (0x%016" PRIx64 ") is read by %s (0x%016" PRIx64
			"), %u hops away\n",
			owned->node, owned->guid, name, owned->owner, owned->hops);
		if (owned->has_agent)
			triad_output_printf(output, "    at %s, %s, owns %u nodes\n",
				*address ? address : "?",
				triad_collect_agent_state_name(agent->state),
				agent->n_nodes);
	} else {
		triad_output_printf(output, "%s (0x%016" PRIx64 ") is read by nobody\n",
			owned->node, owned->guid);
	}
}

/* False, having written why, when the name does not match exactly one node. */
static bool find_owned_node(const struct triad_fabric *fabric,
	const struct triad_command *command, struct owned *owned,
	struct triad_output *output)
{
	struct triad_node_choice choice =
		triad_node_choice_make(command->node, fabric, 0);

	if (choice.n != 1) {
		(void)triad_command_print_choice(
			"agents owner", &choice, fabric, output);
		return false;
	}
	owned->guid = fabric->nodes[choice.first].guid;
	memcpy(owned->node, fabric->nodes[choice.first].name, sizeof(owned->node));
	return true;
}

static const char *why_not(struct triad_service *service, int error)
{
	switch (error) {
	case ENODATA:
		return why_local(service);
	case ENOENT:
		return "the node has just left the fabric";
	case ECANCELED:
		return "it ends";
	}
	return "no answer; try again";
}

static void find_agent_of(struct triad_service *service, struct owned *owned)
{
	unsigned n;
	struct triad_collect_agent *agents = triad_collect_agents(service->collect, &n);
	const struct triad_collect_agent *agent = find_agent(agents, n, owned->owner);

	owned->has_agent = agent;
	if (agent)
		owned->agent = *agent;
	free(agents);
}

static int run_owner(struct triad_service *service, const struct triad_command *command,
	struct triad_output *output)
{
	struct triad_fabric *fabric = triad_collect_fabric(service->collect);
	struct owned owned = {.guid = 0};
	bool is_found;
	int error;

	if (!fabric)
		return fail_agents_command(command, why_local(service), output);
	/* From here on use the GUID: the next call may see another fabric. */
	is_found = find_owned_node(fabric, command, &owned, output);
	triad_fabric_unref(fabric);
	if (!is_found)
		return TRIAD_CONTROL_FAILED;
	error = triad_collect_owner_of(
		service->collect, owned.guid, &owned.owner, &owned.hops);
	if (error)
		return fail_agents_command(command, why_not(service, error), output);
	find_agent_of(service, &owned);
	put_owner(&owned, command, output);
	return TRIAD_CONTROL_DONE;
}

/* --- agents owner, of the past --- */

static int find_kept_owner(const struct triad_kept_list *list, struct owned *owned)
{
	struct triad_kept_owner owner;
	struct triad_kept_agent agent;
	int error = triad_kept_owners_find(list, owned->guid, &owner);

	if (error)
		return error;
	owned->owner = owner.id;
	owned->hops = owner.hops;
	error = triad_kept_owners_find_agent(list, owner.id, &agent);
	if (error)
		return error == ENOENT ? 0 : error;
	owned->has_agent = true;
	owned->agent = (struct triad_collect_agent){.id = agent.id,
		.port = agent.port,
		.state = agent.state,
		.n_nodes = agent.n_nodes};
	memcpy(owned->agent.name, agent.name, sizeof(agent.name));
	memcpy(owned->agent.address, agent.address, sizeof(agent.address));
	return 0;
}

static int show_past_owner(const struct triad_moment *moment,
	const struct triad_command *command, const struct triad_kept_list *list,
	struct triad_output *output)
{
	struct owned owned = {.guid = 0};
	int error;

	if (!find_owned_node(moment->view->fabric, command, &owned, output))
		return TRIAD_CONTROL_FAILED;
	error = find_kept_owner(list, &owned);
	if (error == ENOENT)
		return fail_agents_command(
			command, "nobody was to read that node then", output);
	if (error)
		return triad_moment_refuse_row(command, output);
	put_owner(&owned, command, output);
	return TRIAD_CONTROL_DONE;
}

static int run_past_owner(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_moment moment;
	const struct triad_kept_list *list = triad_moment_open_list(
		&moment, service, command, TRIAD_KEPT_OWNERS, output);
	int status = list ? show_past_owner(&moment, command, list, output)
			  : TRIAD_CONTROL_FAILED;

	triad_moment_close(&moment);
	return status;
}

static void keep_agents(struct triad_service *service, struct triad_kept_list *list)
{
	unsigned n;
	struct triad_collect_agent *agents = triad_collect_agents(service->collect, &n);

	for (unsigned i = 0; i < n; i++) {
		struct triad_kept_agent agent = {.id = agents[i].id,
			.port = agents[i].port,
			.state = (uint8_t)agents[i].state,
			.n_nodes = agents[i].n_nodes};

		memcpy(agent.name, agents[i].name, sizeof(agent.name));
		memcpy(agent.address, agents[i].address, sizeof(agent.address));
		triad_kept_owners_add_agent(list, &agent);
	}
	free(agents);
}

void triad_command_keep_owners(
	struct triad_service *service, struct triad_kept_list *list)
{
	struct triad_kept_owner *owners;
	uint32_t n;
	int error = triad_collect_list_owners(service->collect, &owners, &n);

	if (error) {
		triad_kept_list_refuse(list, why_not(service, error));
	} else {
		triad_kept_list_begin(list);
		triad_kept_owners_add(list, owners, n);
		/* At the end, so that agents that come and go do not shift other
		 * rows. */
		keep_agents(service, list);
	}
	free(owners);
}

/* --- agents drain, agents resume --- */

static int run_drain(struct triad_service *service, const struct triad_command *command,
	struct triad_output *output)
{
	bool drain = command->verb == TRIAD_COMMAND_AGENTS_DRAIN;
	int error;

	if (service->owner->may_manage)
		return fail_agents_command(command,
			"this is for an agent: ask on its host, 'triadctl --agent'",
			output);
	error = triad_collect_drain(service->collect, drain);
	if (error)
		return fail_agents_command(command, why_not(service, error), output);
	triad_output_printf(output, "%s\n",
		drain ? "this agent gives its nodes away; 'agents' shows how many are left"
		      : "this agent reads nodes again");
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_agents(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	switch (command->verb) {
	case TRIAD_COMMAND_AGENTS:
		return run_agents(service, command, output);
	case TRIAD_COMMAND_AGENTS_OWNER:
		return command->at[0] ? run_past_owner(service, command, output)
				      : run_owner(service, command, output);
	default:
		return run_drain(service, command, output);
	}
}

/* --- status --- */

static void report_claims(
	struct triad_report *report, const struct triad_collect_status *status)
{
	triad_report_facts(report, triad_member_facts, status);
	triad_report_uint(report, "nodes_apart",
		status->mode == TRIAD_COLLECT_MANAGER
			? "of these, in no partition of any agent"
			: "nodes without a partition in common with this one",
		status->n_apart, "");
	triad_report_facts(report, triad_message_facts, status);
	if (status->counts.n_refused || report->as_json)
		triad_report_guid(report, "refused_speaker", "the last one's",
			status->counts.refused);
	triad_report_uint(report, "other_version", "of another version",
		status->counts.n_other_version, "");
}

void triad_service_report_collect(
	struct triad_report *report, struct triad_service *service)
{
	static const char *const modes[] = {"local", "manager", "agent"};
	struct triad_collect_status status = triad_collect_status(service->collect);
	const struct triad_bus_status *bus = &status.bus;

	if (status.mode == TRIAD_COLLECT_LOCAL && !report->as_json)
		return;
	triad_report_section(report, "collect", "Collecting together");
	triad_report_text(report, "mode", "mode", modes[status.mode]);
	if (status.mode != TRIAD_COLLECT_LOCAL) {
		triad_report_text(report, "broker", "broker",
			bus->is_connected ? bus->server : NULL);
		triad_report_text(report, "not_connected", "not connected",
			bus->is_connected        ? NULL
				: bus->reason[0] ? bus->reason
						 : "not yet");
		triad_report_facts(report, triad_bus_facts, &status);
		report_claims(report, &status);
	}
	if (status.mode == TRIAD_COLLECT_AGENT) {
		triad_report_uint(report, "owned", "nodes owned", status.n_owned, "");
		triad_report_text(report, "draining", "draining",
			status.is_draining ? "yes" : "no");
		triad_report_text(report, "topology", "topology",
			status.has_given_topology ? "handed down by a manager"
						  : "its own");
		triad_report_facts(report, triad_agent_facts, &status);
	}
	if (status.mode == TRIAD_COLLECT_MANAGER)
		triad_report_facts(report, triad_manager_facts, &status);
	triad_report_section_end(report);
}
