/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'routes' and 'routes check': the load and the problems of the forwarding tables. */
#include "service/command/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/command/format.h"
#include "service/command/ports.h"
#include "service/command/routes_parts.h"
#include "service/service.h"
#include "triad/clock.h"
#include "triad/control.h"

/* A link in one direction, and how far it is over the mean of its tier. */
struct busy {
	uint32_t port;
	double of_mean;
};

static const char *engine_of(const struct triad_routes_check *check)
{
	const char *engine = check->layout->fabric->sa.engine;

	return engine[0] ? engine : "unknown";
}

/* --- 'routes' --- */

static void put_tier(struct triad_list *list, const struct triad_fabric *fabric,
	const struct triad_routes_tier *tier)
{
	double mean =
		(double)tier->n_pairs / (double)(tier->n_links ? tier->n_links : 1);
	double imbalance = triad_routes_tier_imbalance(tier);
	char value[32];

	triad_list_row(list);
	triad_list_uint(list, "from", NULL, 0, tier->from);
	triad_list_uint(list, "to", NULL, 0, tier->to);
	triad_list_format(list, "LEVELS", -6, "%u-%u", tier->from, tier->to);
	triad_list_uint(list, "links", "LINKS", 6, tier->n_links);
	triad_list_uint(list, "unused", "UNUSED", 6, tier->n_unused);
	triad_list_uint(list, "pairs", NULL, 0, tier->n_pairs);
	triad_list_uint(list, "least", "LEAST", 8, tier->least);
	triad_list_real(list, "mean", "MEAN", 8, mean, "%.0f", mean);
	triad_list_uint(list, "most", "MOST", 8, tier->most);
	triad_list_double(list, "imbalance", imbalance);
	snprintf(value, sizeof(value), "%.4f", imbalance);
	list->next = (struct triad_list_next){.name = "imbalance", .value = value};
	triad_list_format(list, "IMBALANCE", 9, "%.2f", imbalance);
	triad_routes_put_port(list, "worst", "BUSIEST", fabric, tier->worst);
	triad_list_row_end(list);
}

static void put_tiers(
	struct triad_report *report, const struct triad_routes_check *check)
{
	struct triad_list list = {.report = report, .gap = "  "};

	triad_report_array(report, "tiers");
	for (uint32_t i = 0; i < check->n_tiers; i++)
		put_tier(&list, check->layout->fabric, &check->tiers[i]);
	triad_report_array_end(report);
}

static int compare_busy(const void *a, const void *b)
{
	const struct busy *one = a, *other = b;

	if (one->of_mean != other->of_mean)
		return one->of_mean > other->of_mean ? -1 : 1;
	return one->port < other->port ? -1 : one->port > other->port;
}

static double mean_of(
	const struct triad_routes_check *check, uint16_t from, uint16_t to)
{
	for (uint32_t i = 0; i < check->n_tiers; i++) {
		const struct triad_routes_tier *tier = &check->tiers[i];

		if (tier->from == from && tier->to == to && tier->n_links)
			return (double)tier->n_pairs / tier->n_links;
	}
	return 0;
}

/* Finds links between switches, the most above their tier's mean first. */
static uint32_t find_busy(const struct triad_routes_check *check, struct busy *busy)
{
	const struct triad_routes_layout *layout = check->layout;
	uint32_t n = 0;

	for (uint32_t i = 0; i < layout->fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &layout->fabric->ports[i];
		uint32_t far = port->remote, from = layout->switch_of_node[port->node];
		uint32_t to = far == TRIAD_FABRIC_NONE
			? TRIAD_FABRIC_NONE
			: layout->switch_of_node[layout->fabric->ports[far].node];
		double mean;

		if (from == TRIAD_FABRIC_NONE || to == TRIAD_FABRIC_NONE ||
			!check->pairs[i])
			continue;
		mean = mean_of(check, layout->switches[from].level,
			layout->switches[to].level);
		busy[n++] =
			(struct busy){i, mean > 0 ? (double)check->pairs[i] / mean : 0};
	}
	qsort(busy, n, sizeof(*busy), compare_busy);
	return n;
}

static void put_busy(struct triad_list *list, struct triad_service *service,
	const struct triad_routes_check *check, const struct busy *busy)
{
	const struct triad_fabric *fabric = check->layout->fabric;
	char value[32];

	snprintf(value, sizeof(value), "%.4f", busy->of_mean);
	triad_list_row(list);
	triad_routes_put_port(list, NULL, "LINK FROM", fabric, busy->port);
	triad_routes_put_port(
		list, "to", "TO", fabric, fabric->ports[busy->port].remote);
	triad_list_uint(list, "pairs", "PAIRS", 9, check->pairs[busy->port]);
	triad_list_double(list, "of_mean", busy->of_mean);
	list->next = (struct triad_list_next){.name = "of_mean", .value = value};
	triad_list_format(list, "OF MEAN", 7, "%.2f", busy->of_mean);
	triad_routes_put_use(
		list, triad_routes_use_percent(service, fabric, busy->port));
	triad_list_row_end(list);
}

static void put_busy_links(struct triad_report *report, struct triad_service *service,
	const struct triad_routes_check *check, unsigned limit)
{
	struct triad_list list = {.report = report, .gap = "  "};
	struct busy *busy =
		malloc((check->layout->fabric->n_ports + 1u) * sizeof(*busy));
	uint32_t n = busy ? find_busy(check, busy) : 0;

	triad_report_array(report, "worst_links");
	for (uint32_t i = 0; i < n && i < limit; i++)
		put_busy(&list, service, check, &busy[i]);
	triad_report_array_end(report);
	free(busy);
}

static void put_summary_json(
	struct triad_json *json, const struct triad_route_result *result)
{
	const struct triad_routes_check *check = result->check;
	char at[TRIAD_CLOCK_TEXT_SIZE];

	triad_json_string(
		json, "checked", triad_command_format_time(result->checked_us, at));
	triad_json_double(json, "took_ms", (double)result->took_us / 1000);
	triad_json_string(json, "engine", engine_of(check));
	triad_json_uint(json, "hosts", check->layout->n_hosts);
	triad_json_uint(json, "switches", check->layout->n_switches);
	triad_json_uint(json, "lids", check->layout->n_host_goals);
	triad_json_uint(json, "pairs", check->n_pairs);
	triad_json_uint(json, "arriving_pairs", check->n_arriving);
	triad_json_double(json, "mean_links",
		check->n_arriving
			? (double)check->n_links_sum / (double)check->n_arriving
			: 0);
	triad_json_uint(json, "most_links", check->most_links);
	triad_json_bool(json, "tree", check->layout->is_tree);
	triad_json_bool(json, "clean", triad_routes_check_is_clean(check));
}

static void put_summary_text(
	struct triad_output *output, const struct triad_route_result *result)
{
	const struct triad_routes_check *check = result->check;
	char ago[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format_length(triad_clock_now_us() - result->checked_us, ago);
	triad_output_printf(output,
		"Routes of %" PRIu32 " host port%s over %" PRIu32
		" switch%s by %s, checked %s ago in %.1f ms\n",
		check->layout->n_hosts, check->layout->n_hosts == 1 ? "" : "s",
		check->layout->n_switches, check->layout->n_switches == 1 ? "" : "es",
		engine_of(check), ago, (double)result->took_us / 1000);
	triad_output_printf(output,
		"  %" PRIu64 " pairs, of which %" PRIu64
		" arrive; over %.1f links on average, %u at most\n",
		check->n_pairs, check->n_arriving,
		check->n_arriving
			? (double)check->n_links_sum / (double)check->n_arriving
			: 0,
		check->most_links);
	triad_output_printf(output, "  %s\n\n",
		triad_routes_check_is_clean(check)
			? "nothing is wrong with them"
			: "something is wrong: see 'triadctl routes check'");
}

static void put_summary(struct triad_service *service,
	const struct triad_command *command, const struct triad_route_result *result,
	struct triad_output *output)
{
	struct triad_report report = {.output = output, .as_json = command->json};

	triad_report_begin(&report);
	if (command->json)
		put_summary_json(&report.json, result);
	else
		put_summary_text(output, result);
	put_tiers(&report, result->check);
	if (!command->json)
		triad_output_printf(output, "\n");
	put_busy_links(&report, service, result->check, command->limit);
	triad_report_end(&report);
}

/* Ports of a [group NAME], a bit for each of the fabric's; NULL: not enough memory. */
static uint64_t *ports_of_group(const struct triad_view *view, unsigned group)
{
	uint64_t *ports = calloc(view->fabric->n_ports / 64 + 1, sizeof(*ports));

	for (uint32_t i = 0; ports && i < view->fabric->n_ports; i++)
		if (view->group[i] == group)
			ports[i / 64] |= UINT64_C(1) << i % 64;
	return ports;
}

/* Counts the pairs within a group, which the check does not do in advance, and shows
 * them. */
static int show_group(struct triad_service *service,
	const struct triad_command *command, const struct triad_view *view,
	struct triad_output *output)
{
	unsigned group = view->groups ? triad_groups_find(view->groups, command->group)
				      : TRIAD_GROUP_NONE;
	struct triad_route_result result = {0};
	struct triad_routes_options options = {.sls.all = 1};
	uint64_t *ports, begun_us = triad_clock_now_us();
	int error;

	if (group == TRIAD_GROUP_NONE) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"routes: triad.conf has no [group %s]\n", command->group);
		return TRIAD_CONTROL_FAILED;
	}
	ports = ports_of_group(view, group);
	options.from = options.to = ports;
	error = ports ? triad_routes_check_make(view->fabric, &options, &result.check)
		      : ENOMEM;
	result.checked_us = triad_clock_now_us();
	result.took_us = result.checked_us - begun_us;
	if (error)
		triad_output_message(output, TRIAD_FRAME_MESSAGE, "routes: %s\n",
			triad_route_state_text(triad_route_state_of_error(error)));
	else
		put_summary(service, command, &result, output);
	triad_routes_check_free(result.check);
	free(ports);
	return error ? TRIAD_CONTROL_FAILED : TRIAD_CONTROL_DONE;
}

int triad_command_run_routes(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_route_result *result;
	struct triad_view *view;
	int status;

	if (command->group[0]) {
		view = triad_perf_view(service->perf);
		if (!view)
			return triad_command_no_view(service, output);
		status = show_group(service, command, view, output);
		triad_view_unref(view);
		return status;
	}
	result = triad_routes_command_result(service, "routes", output);
	if (!result)
		return TRIAD_CONTROL_FAILED;
	put_summary(service, command, result, output);
	triad_route_result_unref(result);
	return TRIAD_CONTROL_DONE;
}

/* --- 'routes check': the numbers --- */

/* Texts for the number 1, and for other numbers. */
static const char *const problem_texts[TRIAD_ROUTES_N_PROBLEMS][2] = {
	[TRIAD_ROUTES_UNREACHABLE] = {"pair of hosts that doesn't arrive",
		"pairs of hosts that don't arrive"},
	[TRIAD_ROUTES_LOOPS] = {"forwarding loop, for each LID",
		"forwarding loops, for each LID"},
	[TRIAD_ROUTES_DEAD_ENTRIES] = {"LID that a switch sends to a dead port",
		"LIDs that a switch sends to a dead port"},
	[TRIAD_ROUTES_SWITCHES] =
		{"way between the SM's port and a switch that doesn't arrive",
			"ways between the SM's port and a switch that don't arrive"},
	[TRIAD_ROUTES_LONGER] = {"pair on a path longer than the shortest",
		"pairs on a path longer than the shortest"},
	[TRIAD_ROUTES_TURNS] = {"turn of pairs from down to up",
		"turns of pairs from down to up"},
};

/* Why credit loops were not looked for; NULL: they were. */
static const char *why_no_credit(const struct triad_route_result *result)
{
	return triad_route_credit_text(result->credit);
}

static void put_numbers_json(
	struct triad_json *json, const struct triad_route_result *result)
{
	const struct triad_routes_check *check = result->check;
	const char *why_not = why_no_credit(result);

	triad_json_bool(json, "clean", triad_routes_check_is_clean(check));
	triad_json_string(json, "engine", engine_of(check));
	triad_json_uint(json, "credit_loops", check->credit.n_loops);
	triad_json_bool(json, "credit_loops_checked", !why_not);
	triad_json_string(json, "credit_loops_not_checked_because", why_not);
	triad_json_bool(
		json, "credit_loops_ruled_out_by_links", check->credit.by_links);
	for (unsigned i = 0; i < TRIAD_ROUTES_N_PROBLEMS; i++)
		triad_json_uint(
			json, triad_routes_problem_name(i), check->problems[i].n);
	triad_json_bool(json, "down_up_turns_checked", check->layout->is_tree);
	triad_json_uint(json, "multicast_loops", check->multicast.n_looping);
	triad_json_uint(json, "multicast_trees", check->multicast.n_mlids);
	triad_json_bool(json, "multicast_all_checked", !check->multicast.is_cut);
	triad_json_uint(json, "pairs", check->n_pairs);
	triad_json_array_begin(json, "sls");
	for (unsigned sl = 0; sl < 16; sl++)
		if (result->sls >> sl & 1)
			triad_json_uint(json, NULL, sl);
	triad_json_array_end(json);
}

static void put_count_line(struct triad_output *output, uint64_t n, const char *what)
{
	triad_output_printf(output, "%12" PRIu64 "  %s\n", n, what);
}

static void put_numbers_text(
	struct triad_output *output, const struct triad_route_result *result)
{
	const struct triad_routes_check *check = result->check;
	const char *why_not = why_no_credit(result);

	triad_output_printf(output, "%s wrong with routes by %s%s\n",
		triad_routes_check_is_clean(check) ? "Nothing is" : "Something is",
		engine_of(check), why_not ? ", as far as was checked" : "");
	if (why_not) {
		triad_output_printf(output, "%12s  ", "not checked");
		triad_command_put_wrapped(output, "credit loops:", 14, 14);
		triad_output_printf(output, "%14s", "");
		triad_command_put_wrapped(output, why_not, 14, 14);
	} else {
		put_count_line(output, check->credit.n_loops,
			check->credit.by_links
				? "credit loops: links alone rule them out"
				: check->credit.n_loops == 1 ? "credit loop"
							     : "credit loops");
	}
	for (unsigned i = 0; i < TRIAD_ROUTES_N_PROBLEMS; i++) {
		if (i == TRIAD_ROUTES_TURNS && !check->layout->is_tree)
			triad_output_printf(output,
				"%12s  turns from down to up: this is no tree\n",
				"not checked");
		else if (i == TRIAD_ROUTES_TURNS && check->problems[i].n &&
			!triad_routes_does_harm(check, i))
			put_count_line(output, check->problems[i].n,
				"turns from down to up, by levels that are unclear: no "
				"harm");
		else
			put_count_line(output, check->problems[i].n,
				problem_texts[i][check->problems[i].n != 1]);
	}
	triad_output_printf(output,
		"%12" PRIu32 "  of %" PRIu32 " multicast tree%s that loop%s%s\n",
		check->multicast.n_looping, check->multicast.n_mlids,
		check->multicast.n_mlids == 1 ? "" : "s",
		check->multicast.n_mlids == 1 ? "s" : "",
		check->multicast.is_cut ? ", of the first 1,024 multicast LIDs" : "");
}

/* --- the evidence --- */

static void put_step(struct triad_list *list, const struct triad_fabric *fabric,
	const struct triad_routes_step *step)
{
	triad_list_row(list);
	triad_routes_put_port(list, NULL, "FROM", fabric, step->port);
	triad_routes_put_port(
		list, "next", "TO", fabric, fabric->ports[step->port].remote);
	triad_list_uint(list, "vl", "VL", 2, step->vl);
	triad_list_uint(list, "sl", "SL", 2, step->sl);
	triad_routes_put_port(list, "source", "OF A PATH FROM", fabric, step->from);
	triad_routes_put_port(list, "destination", "TO", fabric, step->to);
	triad_list_uint(list, "lid", "LID", 5, step->lid);
	triad_list_row_end(list);
}

static void put_steps(struct triad_report *report, const struct triad_fabric *fabric,
	const struct triad_routes_loop *loop)
{
	struct triad_list list = {.report = report, .indent = "  ", .gap = "  "};

	triad_report_array(report, "steps");
	for (uint32_t i = 0; i < loop->n_steps; i++)
		put_step(&list, fabric, &loop->steps[i]);
	triad_report_array_end(report);
}

static void put_loop(struct triad_report *report, const struct triad_fabric *fabric,
	const struct triad_routes_loop *loop, unsigned number)
{
	if (report->as_json) {
		triad_json_object_begin(&report->json, NULL);
		triad_json_uint(&report->json, "channels", loop->n_channels);
		triad_json_uint(&report->json, "involved_channels", loop->n_involved);
		put_steps(report, fabric, loop);
		triad_json_object_end(&report->json);
		return;
	}
	triad_output_printf(report->output,
		"\nCredit loop %u: %" PRIu32 " channels in a circle, of %" PRIu32
		" that wait for each other\n",
		number, loop->n_channels, loop->n_involved);
	put_steps(report, fabric, loop);
	if (loop->n_steps < loop->n_channels)
		triad_output_printf(report->output, "  ... and %" PRIu32 " more\n",
			loop->n_channels - loop->n_steps);
}

void triad_routes_put_loops(struct triad_report *report,
	const struct triad_fabric *fabric, const struct triad_routes_credit *credit)
{
	triad_report_array(report, "credit_loops");
	for (uint32_t i = 0; i < credit->n_shown; i++)
		put_loop(report, fabric, &credit->loops[i], i + 1);
	triad_report_array_end(report);
	if (credit->n_shown < credit->n_loops && !report->as_json)
		triad_output_printf(report->output,
			"\n%" PRIu32 " more credit loop%s\n",
			credit->n_loops - credit->n_shown,
			credit->n_loops - credit->n_shown == 1 ? "" : "s");
}

static void put_example(struct triad_list *list, const struct triad_fabric *fabric,
	enum triad_routes_problem problem, const struct triad_routes_example *example)
{
	const char *node = example->at == TRIAD_FABRIC_NONE
		? NULL
		: fabric->nodes[example->at].name;
	bool is_longer = problem == TRIAD_ROUTES_LONGER;
	bool is_turn = problem == TRIAD_ROUTES_TURNS;

	triad_list_row(list);
	triad_routes_put_port(list, "source", "FROM", fabric, example->from);
	triad_routes_put_port(list, "destination", "TO", fabric, example->to);
	triad_list_uint(list, "lid", "LID", 5, example->lid);
	triad_list_text(list, "at_node_name", NULL, 0, node);
	triad_list_guid(
		list, "at_node_guid", NULL, node ? fabric->nodes[example->at].guid : 0);
	triad_list_uint(list, "at_port", NULL, 0, example->out);
	triad_list_uint(list, "links", NULL, 0, example->links);
	triad_list_uint(list, "shortest", NULL, 0, example->shortest);
	triad_list_text(list, "end", NULL, 0, triad_routes_end_name(example->end));
	if (is_longer)
		triad_list_format(list, "HOW", TRIAD_LIST_LONG,
			"%u links, where %u would do", example->links,
			example->shortest);
	else if (node)
		triad_list_format(list, "HOW", TRIAD_LIST_LONG, "%s by %s:%u",
			is_turn ? "up" : triad_routes_end_name(example->end),
			triad_node_label(&fabric->nodes[example->at]).text,
			example->out);
	else
		triad_list_format(list, "HOW", TRIAD_LIST_LONG, "%s",
			triad_routes_end_name(example->end));
	triad_list_row_end(list);
}

static void put_examples(struct triad_report *report,
	const struct triad_routes_check *check, enum triad_routes_problem problem)
{
	const struct triad_routes_found *found = &check->problems[problem];
	struct triad_list list = {.report = report, .indent = "  ", .gap = "  "};

	if (found->n_examples && !report->as_json)
		triad_output_printf(
			report->output, "\nSome %s\n", problem_texts[problem][1]);
	triad_report_array(report, triad_routes_problem_name(problem));
	for (uint32_t i = 0; i < found->n_examples; i++)
		put_example(&list, check->layout->fabric, problem, &found->examples[i]);
	triad_report_array_end(report);
}

static void put_hop(
	struct triad_list *list, const struct triad_fabric *fabric, uint32_t port)
{
	triad_list_row(list);
	triad_routes_put_port(list, NULL, "FROM", fabric, port);
	triad_routes_put_port(list, "to", "TO", fabric, fabric->ports[port].remote);
	triad_list_row_end(list);
}

static void put_multicast_loop(struct triad_report *report,
	const struct triad_fabric *fabric,
	const struct triad_routes_multicast_loop *loop)
{
	struct triad_list list = {.report = report, .indent = "  ", .gap = "  "};

	if (report->as_json) {
		triad_json_object_begin(&report->json, NULL);
		triad_json_uint(&report->json, "mlid", loop->mlid);
		triad_json_uint(&report->json, "hops_in_all", loop->n_hops);
	} else {
		triad_output_printf(report->output,
			"\nMulticast LID 0x%04x: %" PRIu32 " hops in a circle\n",
			loop->mlid, loop->n_hops);
	}
	triad_report_array(report, "hops");
	for (uint32_t i = 0; i < loop->n_hops && i < TRIAD_ROUTES_MAX_MULTICAST_HOPS;
		i++)
		put_hop(&list, fabric, loop->ports[i]);
	triad_report_array_end(report);
	if (report->as_json)
		triad_json_object_end(&report->json);
}

static void put_evidence(
	struct triad_report *report, const struct triad_routes_check *check)
{
	if (report->as_json)
		triad_json_object_begin(&report->json, "evidence");
	triad_routes_put_loops(report, check->layout->fabric, &check->credit);
	for (unsigned i = 0; i < TRIAD_ROUTES_N_PROBLEMS; i++)
		put_examples(report, check, i);
	triad_report_array(report, "multicast_loops");
	for (uint32_t i = 0; i < check->multicast.n_shown; i++)
		put_multicast_loop(
			report, check->layout->fabric, &check->multicast.loops[i]);
	triad_report_array_end(report);
	if (report->as_json)
		triad_json_object_end(&report->json);
}

int triad_command_run_routes_check(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_route_result *result =
		triad_routes_command_result(service, "routes check", output);
	struct triad_report report = {.output = output, .as_json = command->json};
	bool is_clean;

	if (!result)
		return TRIAD_CONTROL_UNKNOWN;
	is_clean = triad_routes_check_is_clean(result->check);
	triad_report_begin(&report);
	if (command->json)
		put_numbers_json(&report.json, result);
	else
		put_numbers_text(output, result);
	put_evidence(&report, result->check);
	triad_report_end(&report);
	triad_route_result_unref(result);
	return is_clean ? TRIAD_CONTROL_DONE : TRIAD_CONTROL_FAILED;
}
