/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'qos explain': why a request for a path gets its answer. */
#include "plugin/opensm.h"

#include "plugin/command/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plugin/instance.h"
#include "plugin/ports/hold.h"
#include "plugin/qos/osm_lookup.h"
#include "plugin/qos/qos.h"
#include "qos/explain.h"
#include "ib/rates.h"
#include "service/command/list.h"

/* What is explained, and where it is written. */
struct view {
	const struct triad_qos_snapshot *snapshot;
	const struct triad_path_request *request;
	const struct triad_explanation *explained;
	const struct triad_policy *policy; /* NULL: none */
	uint32_t held; /* the end whose port is under test; TRIAD_FABRIC_NONE: none */
	struct triad_output *output;
	struct triad_report report;
};

static const struct triad_fabric *fabric_of(const struct view *view)
{
	return view->snapshot->paths->fabric;
}

/* --- the answer in words --- */

static void print_held(const struct view *view, char *text, size_t size)
{
	const struct triad_fabric_port *port = &fabric_of(view)->ports[view->held];

	snprintf(text, size,
		"no path: %s port %u is held back until its link is tested; see 'port "
		"plan'",
		triad_node_label(&fabric_of(view)->nodes[port->node]).text,
		port->number);
}

static void print_answer(const struct view *view, char *text, size_t size)
{
	const struct triad_answer *answer = &view->explained->answer;

	if (view->held != TRIAD_FABRIC_NONE)
		print_held(view, text, size);
	else if (answer->kind == TRIAD_ANSWER_FALL_BACK)
		snprintf(text, size, "OpenSM answers (%s)",
			triad_fallback_name(answer->fallback));
	else if (answer->kind == TRIAD_ANSWER_STATUS)
		snprintf(text, size, "status 0x%04x", answer->status);
	else if (answer->n)
		snprintf(text, size, "a path");
	else if (view->explained->decision.refusal)
		snprintf(text, size, "no path: %s",
			triad_refusal_text(view->explained->decision.refusal));
	else
		snprintf(text, size,
			"no path: the ends and the source share no P_Key, "
			"or the level's path bits leave no LID");
}

static const char *rule_location(
	const struct view *view, uint32_t rule, char *text, size_t size)
{
	const struct triad_policy_rule *at = &view->policy->rules[rule];

	snprintf(text, size, "rule %u (line %u)%s%s", rule + 1, at->location.line,
		at->use && at->use[0] ? ": " : "", at->use ? at->use : "");
	return text;
}

/* --- the way, for both --- */

/* "64/96", or "-": the port does not arbitrate. */
static void put_weight(struct triad_list *list, const char *weight_name,
	const char *total_name, const char *title, struct triad_vl_weight weight)
{
	triad_list_uint(list, weight_name, NULL, 0, weight.weight);
	triad_list_uint(list, total_name, NULL, 0, weight.total);
	if (weight.total)
		triad_list_format(list, title, 9, "%u/%u", weight.weight, weight.total);
	else
		triad_list_text(list, NULL, title, 9, "-");
}

static void put_hop(struct triad_list *list, const struct view *view,
	const struct triad_walk_hop *hop)
{
	const struct triad_fabric *fabric = fabric_of(view);
	const struct triad_fabric_port *port = &fabric->ports[hop->port];
	const struct triad_fabric_node *node = &fabric->nodes[port->node];
	double rate = triad_rate_tenths(triad_rate_of_rank(hop->rank)) / 10.0;
	uint8_t vl = triad_paths_vl(
		view->snapshot->paths, hop->port, hop->in_port, view->explained->sl);
	char value[32];

	triad_list_row(list);
	triad_list_node(list, "node_name", "node", TRIAD_LIST_LONG, node);
	triad_list_guid(list, "node_guid", NULL, node->guid);
	triad_list_uint(list, "in_port", "in", 3, hop->in_port);
	triad_list_uint(list, "out_port", "out", 3, port->number);
	triad_list_uint(list, "vl", "VL", 3, vl);
	put_weight(list, "weight_high", "total_high", "high",
		triad_fabric_vl_weight(fabric, hop->port, true, vl));
	put_weight(list, "weight_low", "total_low", "low",
		triad_fabric_vl_weight(fabric, hop->port, false, vl));
	triad_list_uint(list, "mtu", "MTU", 5, triad_mtu_octets(hop->mtu));
	triad_list_double(list, "rate_gbps", rate);
	snprintf(value, sizeof(value), "%g", rate);
	list->next = (struct triad_list_next){.name = "rate_gbps", .value = value};
	triad_list_format(list, "rate", 10, "%5g Gb/s", rate);
	triad_list_text(list, NULL, "", 0, vl == 15 ? "dropped here" : "");
	triad_list_row_end(list);
}

static void put_path(struct view *view, const char *name, const char *title,
	const struct triad_walk *walk)
{
	struct triad_list list = {
		.report = &view->report, .indent = "  ", .phase = TRIAD_LIST_TITLES};

	if (!view->report.as_json)
		triad_output_printf(
			view->output, "%s, SL %u\n", title, view->explained->sl);
	triad_report_array(&view->report, name);
	put_hop(&list, view, &(struct triad_walk_hop){0});
	for (unsigned i = 0; i < walk->n_hops; i++)
		put_hop(&list, view, &walk->hops[i]);
	triad_report_array_end(&view->report);
}

/* --- its ends --- */

static void put_path_end(struct view *view, const char *name, const char *title,
	uint32_t port, uint16_t lid)
{
	const struct triad_fabric_port *at = &fabric_of(view)->ports[port];
	const char *node = fabric_of(view)->nodes[at->node].name;
	struct triad_json *json = &view->report.json;

	if (!view->report.as_json) {
		triad_output_printf(view->output,
			"%-12s %s port %u, GUID 0x%016" PRIx64 ", LID %u\n", title,
			triad_node_label(&fabric_of(view)->nodes[at->node]).text,
			at->number, at->guid, lid);
		return;
	}
	triad_json_object_begin(json, name);
	triad_json_string(json, "node_name", node);
	triad_json_guid(json, "port_guid", at->guid);
	triad_json_uint(json, "port", at->number);
	triad_json_uint(json, "lid", lid);
	triad_json_object_end(json);
}

/* --- rules --- */

static void put_rule_json(
	struct triad_json *json, const struct view *view, uint32_t rule)
{
	const struct triad_policy_rule *at = &view->policy->rules[rule];

	triad_json_uint(json, "rule", rule + 1);
	triad_json_uint(json, "line", at->location.line);
	triad_json_string(json, "use", at->use);
}

static void put_matched_json(struct view *view)
{
	struct triad_json *json = &view->report.json;

	if (view->explained->rule == TRIAD_POLICY_NONE) {
		triad_json_string(json, "matched", NULL);
		return;
	}
	triad_json_object_begin(json, "matched");
	put_rule_json(json, view, view->explained->rule);
	triad_json_object_end(json);
}

static void put_near(struct triad_list *list, const struct view *view,
	const struct triad_near_miss *near)
{
	/* A near miss fails one condition, so one bit is set. */
	const char *field = triad_class_field_name(
		(enum triad_class_field)__builtin_ctz(near->mismatch.failed));
	char text[384];

	if (!view->report.as_json) {
		triad_output_printf(view->output, "  %-10s %s; %s %s\n", "nearly",
			rule_location(view, near->rule, text, sizeof(text)), field,
			near->mismatch.missing ? "is not in the request"
					       : "does not fit");
		return;
	}
	triad_list_row(list);
	put_rule_json(triad_list_json(list), view, near->rule);
	triad_list_text(list, "condition", NULL, 0, field);
	triad_list_bool(list, "not_asked_for", NULL, 0, near->mismatch.missing);
	triad_list_row_end(list);
}

static void put_rules(struct view *view)
{
	const struct triad_explanation *explained = view->explained;
	struct triad_list list = {.report = &view->report};
	char text[384];

	if (view->report.as_json)
		put_matched_json(view);
	else if (!view->policy)
		triad_output_printf(view->output, "%-12s none\n", "Policy");
	else
		triad_output_printf(view->output, "%-12s %s\n", "Rule",
			explained->rule == TRIAD_POLICY_NONE
				? "none matches"
				: rule_location(
					  view, explained->rule, text, sizeof(text)));
	triad_report_array(&view->report, "nearly");
	for (unsigned i = 0; i < explained->n_near; i++)
		put_near(&list, view, &explained->near[i]);
	triad_report_array_end(&view->report);
	if (explained->n_more_near && !view->report.as_json)
		triad_output_printf(
			view->output, "  %-10s %u more\n", "", explained->n_more_near);
}

static void put_level(struct view *view)
{
	const struct triad_policy_level *level =
		view->policy ? &view->policy->levels[view->explained->level] : NULL;
	struct triad_json *json = &view->report.json;
	bool is_default;

	if (view->report.as_json) {
		triad_json_string(json, "level", level ? level->name : NULL);
		triad_json_uint(json, "sl", view->explained->sl);
		return;
	}
	if (!level)
		return;
	is_default = view->explained->level == view->policy->default_level;
	triad_output_printf(view->output, "%-12s %s%s", "Level", level->name,
		is_default ? " (default)" : "");
	if (level->has_sl)
		triad_output_printf(view->output, ", SL %u", level->sl);
	if (level->has_mtu_limit)
		triad_output_printf(view->output, ", MTU at most %u",
			triad_mtu_octets(level->mtu_limit));
	if (level->has_rate_limit)
		triad_output_printf(view->output, ", rate at most %g Gb/s",
			triad_rate_tenths(level->rate_limit) / 10.0);
	if (level->has_packet_life)
		triad_output_printf(
			view->output, ", packet lifetime %u", level->packet_life);
	if (level->has_tclass)
		triad_output_printf(view->output, ", TClass %u", level->tclass);
	if (level->path_bits.n)
		triad_output_printf(view->output, ", path bits");
	if (level->pkeys.n)
		triad_output_printf(view->output, ", P_Keys");
	triad_output_put(view->output, "\n", 1);
}

/* --- the answer --- */

static bool has_path(const struct view *view)
{
	return view->explained->answer.n && view->held == TRIAD_FABRIC_NONE;
}

static void put_path_json(struct view *view)
{
	const struct triad_path_record *path = &view->explained->record;
	struct triad_json *json = &view->report.json;

	if (!has_path(view)) {
		triad_json_string(json, "path", NULL);
		return;
	}
	triad_json_object_begin(json, "path");
	triad_json_uint(json, "slid", path->slid);
	triad_json_uint(json, "dlid", path->dlid);
	triad_json_uint(json, "sl", path->sl);
	triad_json_uint(json, "pkey", path->pkey);
	triad_json_uint(json, "mtu", triad_mtu_octets(path->mtu));
	triad_json_double(json, "rate_gbps", triad_rate_tenths(path->rate) / 10.0);
	triad_json_uint(json, "packet_lifetime", path->life);
	triad_json_uint(json, "tclass", path->tclass);
	triad_json_bool(json, "reversible", path->reversible);
	triad_json_object_end(json);
}

static void put_answer(struct view *view)
{
	const struct triad_path_record *path = &view->explained->record;
	char text[160];

	print_answer(view, text, sizeof(text));
	if (view->report.as_json) {
		triad_json_string(&view->report.json, "answer", text);
		put_path_json(view);
		return;
	}
	triad_output_printf(view->output, "%-12s %s\n", "Answer", text);
	if (!has_path(view))
		return;
	triad_output_printf(view->output,
		"  SLID %u, DLID %u, SL %u, P_Key 0x%04x, MTU %u, rate %g Gb/s,\n"
		"  packet lifetime %u, TClass %u, %sreversible\n",
		path->slid, path->dlid, path->sl, path->pkey,
		triad_mtu_octets(path->mtu), triad_rate_tenths(path->rate) / 10.0,
		path->life, path->tclass, path->reversible ? "" : "not ");
}

/* --- the whole --- */

static void put_all(struct view *view)
{
	const struct triad_explanation *explained = view->explained;

	triad_report_begin(&view->report);
	put_path_end(view, "source", "From", explained->source, explained->slid);
	put_path_end(
		view, "destination", "To", explained->destination, explained->dlid);
	put_rules(view);
	put_level(view);
	put_path(view, "there", "There", &explained->there);
	put_path(view, "back", "Back", &explained->back);
	put_answer(view);
	triad_report_end(&view->report);
}

static struct triad_path_request request_of(const struct triad_command *command)
{
	return (struct triad_path_request){
		.has = (command->has_service_id ? TRIAD_HAS_SERVICE_ID : 0) |
			(command->has_tclass ? TRIAD_HAS_TCLASS : 0) |
			(command->has_qos_class ? TRIAD_HAS_QOS_CLASS : 0) |
			(command->has_pkey ? TRIAD_HAS_PKEY : 0) |
			(command->has_sl ? TRIAD_HAS_SL : 0),
		.service_id = command->service_id,
		.tclass = (uint8_t)command->tclass,
		.qos_class = (uint16_t)command->qos_class,
		.pkey = (uint16_t)command->pkey,
		.sl = (uint8_t)command->sl,
	};
}

static bool find_end(const struct triad_qos_snapshot *snapshot, const char *option,
	const char *text, struct triad_output *output, uint32_t *port)
{
	char reason[960];

	*port = triad_explain_find_end(snapshot->paths, text, reason, sizeof(reason));
	if (*port == TRIAD_FABRIC_NONE)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"qos explain: %s %.40s: %s\n", option, text, reason);
	return *port != TRIAD_FABRIC_NONE;
}

/* The server, too, checks for held ports before it uses the policy
 * (plugin/qos/server_request.c). */
static uint32_t find_held(struct triad_hold *hold, const struct view *view)
{
	const uint32_t ends[] = {view->explained->source, view->explained->destination};

	for (unsigned i = 0; i < 2; i++)
		if (triad_hold_has_end(hold, 0, fabric_of(view)->ports[ends[i]].guid))
			return ends[i];
	return TRIAD_FABRIC_NONE;
}

static int explain_path(struct triad_plugin *plugin,
	const struct triad_qos_snapshot *snapshot, const struct triad_command *command,
	struct triad_output *output)
{
	struct osm_opensm *osm = plugin->osm;
	struct triad_answer_snapshot answers = {
		.paths = snapshot->paths, .classifier = snapshot->classifier};
	struct triad_path_request request = request_of(command);
	struct triad_explanation *explained = malloc(sizeof(*explained));
	struct view view = {.snapshot = snapshot,
		.request = &request,
		.explained = explained,
		.output = output,
		.report = {.output = output, .as_json = command->json}};
	uint32_t source, destination;

	if (!explained ||
		!find_end(snapshot, "--src", command->source, output, &source) ||
		!find_end(snapshot, "--dst", command->destination, output,
			&destination)) {
		free(explained);
		return TRIAD_CONTROL_FAILED;
	}
	if (snapshot->classifier)
		view.policy = triad_classifier_policy(snapshot->classifier);
	/* Ask a routing engine that chooses SLs under the SM's lock, as the slow queue
	 * does (plugin/qos/server.c). */
	if (snapshot->classifier && snapshot->paths->fabric->sa.engine_has_sl) {
		cl_plock_acquire(&osm->lock);
		answers.engine = triad_osm_lookup_engine(osm);
		triad_explain(&answers, &request, source, destination, explained);
		cl_plock_release(&osm->lock);
	} else {
		triad_explain(&answers, &request, source, destination, explained);
	}
	view.held = find_held(plugin->hold, &view);
	put_all(&view);
	free(explained);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_qos_explain(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_qos_snapshot *snapshot = triad_qos_snapshot(plugin->qos);
	int status;

	if (!snapshot) {
		enum triad_qos_state state = triad_qos_status(plugin->qos).state;

		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"qos explain: Triad answers no requests for paths: %s; %s\n",
			triad_qos_state_name(state),
			state == TRIAD_QOS_OFF
				? "'qos on' begins it, for good qos.enabled in "
				  "triad.conf"
				: "'health' says more");
		return TRIAD_CONTROL_FAILED;
	}
	status = explain_path(plugin, snapshot, command, output);
	triad_qos_snapshot_unref(snapshot);
	return status;
}
