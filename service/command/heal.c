/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'heal plan': links that statistics call bad, what it costs to be without them, what to do. */
#include "heal/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "lib/text.h"
#include "service/command/commands.h"
#include "service/command/format.h"
#include "service/command/ports.h"
#include "service/command/routes_parts.h"
#include "service/heal_view.h"
#include "triad/clock.h"
#include "triad/control.h"

#define VERB "heal plan"
#define MAX_COUNTED 8u /* a third of a second each in a fabric of 5,000 nodes */

struct heal {
	const struct triad_command *command;
	struct triad_output *output;
	struct triad_heal_view *view;
	const struct triad_heal_plan *plan; /* of the view */
	struct triad_report report;
};

/* --- a proposal --- */

static void put_time(struct triad_json *json, const char *name, uint64_t at_us)
{
	char text[TRIAD_CLOCK_TEXT_SIZE];

	triad_json_string(json, name, triad_command_format_time(at_us, text));
}

static void put_evidence_json(const struct heal *heal, struct triad_json *json,
	const struct triad_heal_proposal *proposal)
{
	triad_json_array_begin(json, "evidence");
	for (uint32_t i = 0; i < proposal->n; i++) {
		const struct triad_heal_finding *finding =
			&heal->plan->findings[proposal->first + i];

		triad_json_object_begin(json, NULL);
		triad_json_string(json, "kind", triad_heal_kind_name(finding->kind));
		triad_json_bool(json, "sure", finding->is_sure);
		triad_json_bool(json, "far_end", finding->port != proposal->port);
		triad_json_string(json, "text", finding->text);
		put_time(json, "since", finding->since_us);
		if (finding->silence)
			triad_json_uint(json, "silence", finding->silence);
		else
			triad_json_string(json, "silence", NULL);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
}

static void put_known(
	struct triad_json *json, const char *name, bool is_known, uint64_t value)
{
	if (is_known)
		triad_json_uint(json, name, value);
	else
		triad_json_string(json, name, NULL);
}

static void put_end(struct triad_json *json, const char *name,
	const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *at;

	if (port == TRIAD_FABRIC_NONE) {
		triad_json_string(json, name, NULL);
		return;
	}
	at = &fabric->ports[port];
	triad_json_object_begin(json, name);
	triad_json_string(json, "node_name", fabric->nodes[at->node].name);
	triad_json_guid(json, "node_guid", fabric->nodes[at->node].guid);
	triad_json_uint(json, "port", at->number);
	triad_json_object_end(json);
}

static void put_cost_json(const struct heal *heal, struct triad_json *json,
	const struct triad_heal_proposal *proposal)
{
	const struct triad_heal_cost *cost = &proposal->cost;
	bool has_share = !isnan(cost->share);

	triad_json_object_begin(json, "cost");
	put_known(json, "moved_pairs", cost->is_known, cost->n_moved);
	put_known(json, "lost_pairs", cost->is_known, cost->n_lost);
	put_end(json, "worst_link", heal->plan->fabric, cost->worst);
	put_known(json, "worst_link_pairs", cost->worst != TRIAD_FABRIC_NONE,
		cost->worst_pairs);
	put_known(json, "worst_link_pairs_before", cost->worst != TRIAD_FABRIC_NONE,
		cost->worst_before);
	triad_json_double(json, "share_of_paths_left", cost->share);
	triad_json_string(json, "share_of_switch",
		cost->at_node == TRIAD_FABRIC_NONE
			? NULL
			: heal->plan->fabric->nodes[cost->at_node].name);
	put_known(json, "hosts_with_one_path", has_share, cost->n_hosts_one);
	triad_json_object_end(json);
}

static void put_proposal_json(const struct heal *heal, struct triad_json *json,
	const struct triad_heal_proposal *proposal)
{
	triad_json_array_begin(json, "levels");
	for (unsigned i = 0; i < 2; i++)
		if (proposal->port != TRIAD_FABRIC_NONE)
			put_known(json, NULL,
				proposal->tier[i] != TRIAD_ROUTES_NO_LEVEL,
				proposal->tier[i]);
	triad_json_array_end(json);
	triad_json_bool(json, "take", proposal->why == TRIAD_HEAL_TAKE);
	triad_json_string(json, "only_proposed_because",
		proposal->why == TRIAD_HEAL_TAKE ? NULL
						 : triad_heal_why_name(proposal->why));
	triad_json_array_begin(json, "remedies");
	for (unsigned i = 0; i < TRIAD_HEAL_N_REMEDIES; i++)
		if (proposal->remedies >> i & 1)
			triad_json_string(json, NULL, triad_heal_remedy_name(i));
	triad_json_array_end(json);
	put_cost_json(heal, json, proposal);
	put_evidence_json(heal, json, proposal);
}

static void put_evidence_notes(const struct heal *heal, struct triad_list *list,
	const struct triad_heal_proposal *proposal)
{
	char since[TRIAD_CLOCK_TEXT_SIZE];

	for (uint32_t i = 0; i < proposal->n; i++) {
		const struct triad_heal_finding *finding =
			&heal->plan->findings[proposal->first + i];

		triad_list_note(list, "    %s%s",
			proposal->port != TRIAD_FABRIC_NONE &&
					finding->port != proposal->port
				? "far end: "
				: "",
			finding->text);
		triad_list_note(list, "      since %s%s%s",
			triad_command_format_time(finding->since_us, since),
			finding->is_sure ? "" : ", not sure",
			finding->silence ? ", silenced" : "");
	}
}

static void put_cost_notes(const struct heal *heal, struct triad_list *list,
	const struct triad_heal_proposal *proposal)
{
	const struct triad_fabric *fabric = heal->plan->fabric;
	const struct triad_heal_cost *cost = &proposal->cost;
	char text[TRIAD_PORT_LABEL_SIZE];

	if (cost->n_lost)
		triad_list_note(list, "    %" PRIu64 " pairs of hosts would be lost",
			cost->n_lost);
	if (cost->worst != TRIAD_FABRIC_NONE)
		triad_list_note(list,
			"    %s would have %" PRIu64 " pairs, %" PRIu64 " before",
			triad_routes_format_port(
				fabric, cost->worst, text, sizeof(text)),
			cost->worst_pairs, cost->worst_before);
	if (cost->at_node != TRIAD_FABRIC_NONE)
		triad_list_note(list, "    %s would keep %.0f %% of its paths up",
			triad_node_label(&fabric->nodes[cost->at_node]).text,
			100 * cost->share);
	if (cost->n_hosts_one)
		triad_list_note(list, "    %" PRIu32 " host%s would have one path up",
			cost->n_hosts_one, cost->n_hosts_one == 1 ? "" : "s");
}

static void put_remedies_note(
	struct triad_list *list, const struct triad_heal_proposal *proposal)
{
	char text[128] = "";

	for (unsigned i = 0; i < TRIAD_HEAL_N_REMEDIES; i++)
		if (proposal->remedies >> i & 1)
			triad_text_append(text, sizeof(text), "%s%s",
				text[0] ? "; " : "", triad_heal_remedy_text(i));
	if (text[0])
		triad_list_note(list, "    in this order: %s", text);
	if (triad_heal_why_text(proposal->why))
		triad_list_note(list, "    only proposed: %s",
			triad_heal_why_text(proposal->why));
}

static void format_levels(
	const struct triad_heal_proposal *proposal, char *text, size_t size)
{
	if (proposal->tier[0] == TRIAD_ROUTES_NO_LEVEL ||
		proposal->tier[1] == TRIAD_ROUTES_NO_LEVEL)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%u-%u", proposal->tier[0], proposal->tier[1]);
}

static void put_places(const struct heal *heal, struct triad_list *list,
	const struct triad_heal_proposal *proposal)
{
	const struct triad_fabric *fabric = heal->plan->fabric;

	if (proposal->port != TRIAD_FABRIC_NONE) {
		triad_routes_put_port(list, NULL, "AT", fabric, proposal->port);
	} else {
		triad_list_text(
			list, "node_name", NULL, 0, fabric->nodes[proposal->node].name);
		triad_list_guid(
			list, "node_guid", NULL, fabric->nodes[proposal->node].guid);
		triad_list_text(list, "port", NULL, 0, NULL);
		triad_list_text(list, NULL, "AT", TRIAD_LIST_LONG,
			triad_node_label(&fabric->nodes[proposal->node]).text);
	}
	triad_routes_put_port(list, "far", "FAR END", fabric, proposal->far);
}

static void put_proposal(const struct heal *heal, struct triad_list *list,
	const struct triad_heal_proposal *proposal)
{
	const struct triad_heal_cost *cost = &proposal->cost;
	struct triad_json *json;
	char levels[16];

	triad_list_row(list);
	put_places(heal, list, proposal);
	triad_list_text(list, "kind", "WHAT", -10,
		triad_heal_kind_name(heal->plan->findings[proposal->first].kind));
	format_levels(proposal, levels, sizeof(levels));
	triad_list_text(list, NULL, "TIER", -4, levels);
	triad_list_real(list, NULL, "MOVED", 8,
		cost->is_known ? (double)cost->n_moved : NAN, "%.0f",
		(double)cost->n_moved);
	triad_list_text(list, NULL, "PLAN", -7,
		proposal->why == TRIAD_HEAL_TAKE ? "take" : "propose");
	json = triad_list_json(list);
	if (json)
		put_proposal_json(heal, json, proposal);
	put_evidence_notes(heal, list, proposal);
	put_cost_notes(heal, list, proposal);
	put_remedies_note(list, proposal);
	triad_list_row_end(list);
}

/* --- all of them --- */

static void put_head_json(struct heal *heal)
{
	struct triad_json *json = &heal->report.json;

	triad_json_bool(json, "evidence_known", !heal->view->no_evidence);
	triad_json_string(json, "evidence_not_known_because", heal->view->no_evidence);
	triad_json_bool(json, "routes_known", !heal->view->no_routes);
	triad_json_string(json, "routes_not_known_because", heal->view->no_routes);
	triad_json_uint(json, "max_out", heal->view->input.max_out);
	triad_json_double(json, "min_capacity", heal->view->input.min_capacity);
	triad_json_uint(json, "links_out", heal->view->n_taken);
	triad_json_uint(json, "links_to_take", heal->plan->n_take);
	triad_json_uint(json, "findings_left_out", heal->view->evidence.n_left_out);
}

static void put_head_text(struct heal *heal)
{
	const struct triad_heal_plan *plan = heal->plan;
	uint32_t n_links = 0;

	for (uint32_t i = 0; i < plan->n; i++)
		n_links += plan->proposals[i].port != TRIAD_FABRIC_NONE;
	triad_output_printf(heal->output,
		"%" PRIu32 " bad link%s, of which %" PRIu32
		" could be taken out of routing; %" PRIu32 " bad node%s\n",
		n_links, n_links == 1 ? "" : "s", plan->n_take, plan->n - n_links,
		plan->n - n_links == 1 ? "" : "s");
	if (heal->view->n_taken)
		triad_output_printf(heal->output,
			"%" PRIu32 " link%s out of routing already ('damp')\n",
			heal->view->n_taken,
			heal->view->n_taken == 1 ? " is" : "s are");
	if (heal->view->evidence.n_left_out)
		triad_output_printf(heal->output,
			"%" PRIu32
			" findings of alerts more were too many to be looked "
			"at\n",
			heal->view->evidence.n_left_out);
	if (heal->view->no_routes)
		triad_output_message(heal->output, TRIAD_FRAME_MESSAGE,
			VERB ": costs are not known, as routes are not: %s\n",
			heal->view->no_routes);
}

static int put_plan(struct heal *heal)
{
	const struct triad_heal_plan *plan = heal->plan;
	struct triad_list list = {.report = &heal->report, .gap = "  "};
	uint32_t n = plan->n < heal->command->limit ? plan->n : heal->command->limit;

	if (heal->view->no_evidence)
		triad_output_message(heal->output, TRIAD_FRAME_MESSAGE,
			VERB ": not known: %s\n", heal->view->no_evidence);
	triad_report_begin(&heal->report);
	if (heal->report.as_json)
		put_head_json(heal);
	else if (plan->n)
		put_head_text(heal);
	else if (!heal->view->no_evidence)
		triad_output_printf(heal->output, "no link is bad\n");
	triad_report_array(&heal->report, "proposals");
	for (uint32_t i = 0; i < n; i++)
		put_proposal(heal, &list, &plan->proposals[i]);
	triad_report_array_end(&heal->report);
	triad_report_end(&heal->report);
	if (!heal->report.as_json)
		triad_command_put_left_out(heal->output, plan->n - n, plan->n, "more");
	if (plan->n)
		return TRIAD_CONTROL_FAILED;
	return heal->view->no_evidence ? TRIAD_CONTROL_UNKNOWN : TRIAD_CONTROL_DONE;
}

int triad_command_run_heal_plan(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_heal_view view;
	struct heal heal = {.command = command,
		.output = output,
		.view = &view,
		.report = {.output = output, .as_json = command->json}};
	int status = TRIAD_CONTROL_UNKNOWN,
	    error = triad_heal_view_make(&view, service, MAX_COUNTED);

	heal.plan = view.plan;
	if (!error)
		status = put_plan(&heal);
	else if (error == EAGAIN)
		(void)triad_command_no_view(service, output);
	else
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			VERB ": not enough memory; try again\n");
	triad_heal_view_clear(&view);
	return status;
}
