/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'perf histogram': the distribution of a counter's rates over ports and sweeps; of a
 * detail's over ports. */
#include "service/command/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/kept_histograms.h"
#include "ib/detail.h"
#include "perfmgr/watch/detail_histogram.h"
#include "perfmgr/watch/watch.h"
#include "service/command/format.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/service.h"
#include "triad/json.h"

#define BAR_WIDTH 37
/* Bars that fit on a screen; JSON has all buckets. */
#define MAX_BARS 24

struct shown_histogram {
	const char *scope; /* "all", "group", "node", "port" */
	char where[TRIAD_NODE_NAME_SIZE + 64];
	unsigned counter; /* from TRIAD_N_COUNTERS on: a field of details */
	const struct triad_detail_field *field;
	struct triad_histogram histogram;
	uint64_t n_zeros, n_values;
	bool is_gathered; /* from agents: */
	uint32_t n_agents, n_asked;
	uint64_t until_us; /* time of the image that has it; 0: the present */
	char since[TRIAD_CLOCK_TEXT_SIZE]; /* beginning of the counts; "": all */
};

static const double shares[] = {0.5, 0.9, 0.99};
static const char *const share_names[] = {"median", "90 %", "99 %"};
static const char *const share_keys[] = {"p50", "p90", "p99"};
#define N_SHARES (sizeof(shares) / sizeof(shares[0]))

/* --- whose --- */

static int complain_of_value(const char *why, const char *what, const char *advice,
	struct triad_output *output)
{
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"perf histogram: %s '%s'; %s\n", why, what, advice);
	return TRIAD_CONTROL_FAILED;
}

static int choose_node(const struct triad_view *view,
	const struct triad_command *command, struct triad_histograms_scope *scope,
	struct shown_histogram *shown, struct triad_output *output)
{
	struct triad_node_choice choice;
	uint32_t node;

	if (!triad_command_choose(
		    command, view->fabric, "perf histogram", &choice, output))
		return TRIAD_CONTROL_FAILED;
	if (choice.n != 1)
		return triad_command_print_choice(
			"perf histogram", &choice, view->fabric, output);
	node = choice.first;
	scope->of = TRIAD_HISTOGRAMS_OF_NODE;
	scope->node_guid = view->fabric->nodes[node].guid;
	shown->scope = "node";
	snprintf(shown->where, sizeof(shown->where), "%s (0x%016" PRIx64 ")",
		view->fabric->nodes[node].name, scope->node_guid);
	if (choice.port < 0)
		return 0;
	scope->of = TRIAD_HISTOGRAMS_OF_PORT;
	scope->port = (unsigned)choice.port;
	shown->scope = "port";
	snprintf(shown->where + strlen(shown->where),
		sizeof(shown->where) - strlen(shown->where), " port %u", scope->port);
	return 0;
}

static int choose_scope(const struct triad_view *view,
	const struct triad_command *command, struct triad_histograms_scope *scope,
	struct shown_histogram *shown, struct triad_output *output)
{
	*scope = (struct triad_histograms_scope){.of = TRIAD_HISTOGRAMS_OF_ALL};
	shown->scope = "all";
	strcpy(shown->where, "all ports");
	if (command->node[0])
		return choose_node(view, command, scope, shown, output);
	if (!command->group[0])
		return 0;
	scope->of = TRIAD_HISTOGRAMS_OF_GROUP;
	scope->group = triad_groups_find(view->groups, command->group);
	if (scope->group == TRIAD_GROUP_NONE)
		return complain_of_value("there is no group", command->group,
			"groups are sections [group NAME] of triad.conf", output);
	shown->scope = "group";
	snprintf(shown->where, sizeof(shown->where), "group %s", command->group);
	return 0;
}

/* --- showing --- */

/* Steps as a rate per second. */
static double rate_of(double steps)
{
	return steps / TRIAD_HISTOGRAM_STEPS_PER_UNIT;
}

static const char *name_of(const struct shown_histogram *shown)
{
	return shown->field ? shown->field->name : triad_counters[shown->counter].name;
}

static enum triad_counter_unit unit_of(const struct shown_histogram *shown)
{
	return shown->field ? shown->field->unit : triad_counters[shown->counter].unit;
}

static void format_rate(
	char *text, size_t size, const struct shown_histogram *shown, double steps)
{
	triad_command_format_counter(text, size, unit_of(shown), rate_of(steps));
	snprintf(text + strlen(text), size - strlen(text), "/s");
}

static void put_bar(
	const char *label, uint64_t count, uint64_t most, struct triad_output *output)
{
	static const char bar[BAR_WIDTH + 1] = "#####################################";
	int length = (int)ceil((double)count * BAR_WIDTH / (double)most);

	triad_output_printf(
		output, "  %-26s %12" PRIu64 "  %.*s\n", label, count, length, bar);
}

static void put_buckets(const struct shown_histogram *shown,
	const struct triad_histogram *drawn, struct triad_output *output)
{
	/* The longest bar is for the fullest bucket; 1 if there is nothing. */
	uint64_t most = shown->n_zeros ? shown->n_zeros : 1;
	char low[32], high[32], label[80];

	for (unsigned i = 0; i < drawn->n; i++)
		if (drawn->counts[i] > most)
			most = drawn->counts[i];
	put_bar("0/s", shown->n_zeros, most, output);
	for (unsigned i = 0; i < drawn->n; i++) {
		struct triad_histogram_bucket bucket = triad_histogram_bucket(drawn, i);

		format_rate(low, sizeof(low), shown, bucket.low);
		format_rate(high, sizeof(high), shown, bucket.high);
		snprintf(label, sizeof(label), "%s to %s", low, high);
		put_bar(label, bucket.count, most, output);
	}
}

/* Draws the buckets, joined so that they fit on a screen; without memory draws all. */
static void put_bars(const struct shown_histogram *shown, struct triad_output *output)
{
	const struct triad_histogram *drawn = &shown->histogram;
	struct triad_histogram few;

	triad_histogram_init(&few, MAX_BARS);
	if (triad_histogram_merge(&few, drawn))
		drawn = &few;
	put_buckets(shown, drawn, output);
	triad_histogram_clear(&few);
}

/* What a sample is. */
static const char *samples_of(const struct shown_histogram *shown)
{
	static const char *const parts[] = {
		[TRIAD_PART_PORT] = "each port that was read twice",
		[TRIAD_PART_VL] = "each VL of a port that was read twice",
		[TRIAD_PART_SL] = "each SL of a port that was read twice",
		[TRIAD_PART_LANE] = "each lane of a port that was read twice",
	};

	return shown->field ? parts[shown->field->part] : "each port and sweep";
}

static void put_histogram_text(
	const struct shown_histogram *shown, struct triad_output *output)
{
	const char *separator = "";
	char text[32];

	triad_output_printf(output,
		"%s per second, %s: %" PRIu64 " samples, one for %s\n", name_of(shown),
		shown->where, shown->n_values + shown->n_zeros, samples_of(shown));
	if (shown->since[0])
		triad_output_printf(output, "since %s\n", shown->since);
	if (shown->is_gathered)
		triad_output_printf(output, "from %u of %u agents\n", shown->n_agents,
			shown->n_asked);
	put_bars(shown, output);
	if (!shown->n_values && !shown->n_zeros)
		return;
	for (unsigned i = 0; i < N_SHARES; i++) {
		format_rate(text, sizeof(text), shown,
			triad_histogram_quantile(
				&shown->histogram, shown->n_zeros, shares[i]));
		triad_output_printf(output, "%s%s %s", separator, share_names[i], text);
		separator = ", ";
	}
	triad_output_printf(output, " (each to %.3g %%)\n",
		100 * triad_histogram_error(&shown->histogram));
}

static void put_histogram_json(
	const struct shown_histogram *shown, struct triad_output *output)
{
	static const char *const units[] = {
		[TRIAD_UNIT_EVENTS] = "events/s",
		[TRIAD_UNIT_WORDS] = "words/s",
		[TRIAD_UNIT_PACKETS] = "packets/s",
		[TRIAD_UNIT_TICKS] = "ticks/s",
	};
	struct triad_json json;

	triad_json_init(&json, output);
	triad_json_object_begin(&json, NULL);
	triad_json_string(&json, "counter", name_of(shown));
	triad_json_string(&json, "unit", units[unit_of(shown)]);
	triad_json_string(&json, "scope", shown->scope);
	triad_json_string(&json, "where", shown->where);
	triad_json_uint(&json, "samples", shown->n_values + shown->n_zeros);
	triad_json_uint(&json, "zeros", shown->n_zeros);
	triad_json_string(&json, "since", shown->since[0] ? shown->since : NULL);
	if (shown->is_gathered) {
		triad_json_uint(&json, "agents", shown->n_agents);
		triad_json_uint(&json, "agents_asked", shown->n_asked);
	}
	triad_json_double(
		&json, "relative_error", triad_histogram_error(&shown->histogram));
	for (unsigned i = 0; i < N_SHARES; i++)
		triad_json_double(&json, share_keys[i],
			rate_of(triad_histogram_quantile(
				&shown->histogram, shown->n_zeros, shares[i])));
	triad_json_array_begin(&json, "buckets");
	for (unsigned i = 0; i < shown->histogram.n; i++) {
		struct triad_histogram_bucket bucket =
			triad_histogram_bucket(&shown->histogram, i);

		triad_json_object_begin(&json, NULL);
		triad_json_double(&json, "low", rate_of(bucket.low));
		triad_json_double(&json, "high", rate_of(bucket.high));
		triad_json_uint(&json, "count", bucket.count);
		triad_json_object_end(&json);
	}
	triad_json_array_end(&json);
	triad_json_object_end(&json);
	triad_json_end(&json);
}

static int print_why(
	int error, const struct shown_histogram *shown, struct triad_output *output)
{
	if (error == ENODATA)
		return complain_of_value("ports have no histogram of", name_of(shown),
			"perfmgr.histogram_counters in triad.conf says of which they "
			"have; nodes have one of each counter",
			output);
	if (error == ENOENT)
		return complain_of_value("there is no port with counters at",
			shown->where, "'perf show --node' lists a node's ports",
			output);
	if (error == ENOMEM)
		return complain_of_value(
			"not enough memory for", shown->where, "try again", output);
	return complain_of_value("no agent was asked for", shown->where,
		"somebody else is asking, or this ends: try again", output);
}

/* --- of the past --- */

static int refuse_histogram(const char *why, struct triad_output *output)
{
	triad_output_message(output, TRIAD_FRAME_MESSAGE, "perf histogram: %s\n", why);
	return TRIAD_CONTROL_FAILED;
}

/* Refuses scopes of which images have no histograms. */
static int check_scope(const struct triad_command *command,
	const struct shown_histogram *shown, struct triad_output *output)
{
	if (shown->field)
		return refuse_histogram(
			"images have no histograms of details: 'perf details "
			"--at' has those of ports with errors",
			output);
	if (command->node[0])
		return refuse_histogram(
			"images have histograms of all ports and of groups, and "
			"none of a node or port: leave the node out",
			output);
	return 0;
}

/* Finds the histogram of a past moment.  Returns the command's status, having written
 * why. */
static int find_kept(const struct triad_kept_list *list,
	const struct triad_command *command, struct triad_gather_piece *piece,
	struct triad_output *output)
{
	int error =
		triad_kept_histograms_find(list, command->group, command->by, piece);

	if (error == EPROTO)
		return triad_moment_refuse_row(command, output);
	/* Images have no histograms without samples. */
	if (error && command->group[0])
		return refuse_histogram(
			"there was no such group then, or nothing was counted in "
			"it yet",
			output);
	if (error)
		*piece = (struct triad_gather_piece){.counter = command->by};
	return TRIAD_CONTROL_DONE;
}

static int copy_piece(struct shown_histogram *shown,
	const struct triad_gather_piece *piece, struct triad_output *output)
{
	triad_histogram_init(&shown->histogram, TRIAD_HISTOGRAM_MOST);
	if (!triad_histogram_merge(&shown->histogram, &piece->histogram))
		return refuse_histogram("not enough memory; try again", output);
	shown->n_zeros = piece->n_zeros;
	return TRIAD_CONTROL_DONE;
}

/* Subtracts the counts of before --since from the histogram of the end. */
static int take_earlier_away(struct triad_service *service,
	const struct triad_command *command, struct shown_histogram *shown,
	struct triad_output *output)
{
	struct triad_command since = *command;
	struct triad_gather_piece *piece = malloc(sizeof(*piece));
	const struct triad_kept_list *list = NULL;
	struct triad_moment moment = {.service = service};
	int status = TRIAD_CONTROL_FAILED;

	since.at_us = command->since_us;
	since.at_ago_us = command->since_length_us;
	if (piece)
		list = triad_moment_open_list(
			&moment, service, &since, TRIAD_KEPT_HISTOGRAMS, output);
	if (list)
		status = find_kept(list, command, piece, output);
	if (!status && shown->until_us && moment.past->wall_us >= shown->until_us)
		status = refuse_histogram(
			"no image lies between --since and --at: --since must "
			"be the earlier one",
			output);
	if (!status &&
		(piece->n_zeros > shown->n_zeros ||
			!triad_histogram_subtract(
				&shown->histogram, &piece->histogram)))
		status = refuse_histogram(
			"histograms began anew after that: Triad was started, "
			"or they were cleared; 'history' says when",
			output);
	if (!status) {
		shown->n_zeros -= piece->n_zeros;
		triad_clock_format_s(moment.past->wall_us, shown->since);
	}
	triad_moment_close(&moment);
	free(piece);
	return status;
}

/* --- the command --- */

/* Shows the histogram of the end, less the counts of before --since; clears it. */
static int show_histogram(struct triad_service *service,
	const struct triad_command *command, struct shown_histogram *shown,
	struct triad_output *output)
{
	int status = command->since[0]
		? take_earlier_away(service, command, shown, output)
		: TRIAD_CONTROL_DONE;

	shown->n_values = triad_histogram_count(&shown->histogram);
	if (!status && command->json)
		put_histogram_json(shown, output);
	else if (!status)
		put_histogram_text(shown, output);
	triad_histogram_clear(&shown->histogram);
	return status;
}

static int show_past(struct triad_service *service, const struct triad_command *command,
	struct shown_histogram *shown, struct triad_output *output)
{
	struct triad_gather_piece *piece = malloc(sizeof(*piece));
	const struct triad_kept_list *list = NULL;
	struct triad_moment moment = {.service = service};
	int status = TRIAD_CONTROL_FAILED;

	shown->scope = command->group[0] ? "group" : "all";
	if (command->group[0])
		snprintf(
			shown->where, sizeof(shown->where), "group %s", command->group);
	else
		strcpy(shown->where, "all ports");
	if (piece)
		list = triad_moment_open_list(
			&moment, service, command, TRIAD_KEPT_HISTOGRAMS, output);
	if (list)
		status = find_kept(list, command, piece, output);
	if (!status)
		status = copy_piece(shown, piece, output);
	if (list)
		shown->until_us = moment.past->wall_us;
	free(piece);
	triad_moment_close(&moment);
	return status ? status : show_histogram(service, command, shown, output);
}

static int show_chosen(struct triad_service *service, const struct triad_view *view,
	const struct triad_command *command, struct shown_histogram *shown,
	struct triad_output *output)
{
	struct triad_histograms_scope scope;
	int error;

	if (choose_scope(view, command, &scope, shown, output))
		return TRIAD_CONTROL_FAILED;
	/* A manager reads no counters: its agents have their histograms. */
	shown->is_gathered =
		!shown->field && triad_collect_is_manager(service->collect);
	if (shown->field)
		error = triad_detail_histogram(view, &scope,
			shown->counter - TRIAD_N_COUNTERS, &shown->histogram,
			&shown->n_zeros);
	else if (shown->is_gathered)
		error = triad_collect_histogram(service->collect, &scope,
			command->group, shown->counter, &shown->histogram,
			&shown->n_zeros, &shown->n_agents, &shown->n_asked);
	else
		error = triad_watch_histogram(triad_perf_watch(service->perf), &scope,
			shown->counter, &shown->histogram, &shown->n_zeros);
	return error ? print_why(error, shown, output)
		     : show_histogram(service, command, shown, output);
}

int triad_command_run_perf_histogram(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct shown_histogram shown = {.counter = command->by};
	struct triad_view *view;
	int status;

	if (shown.counter >= TRIAD_N_COUNTERS)
		shown.field = &triad_detail_fields[shown.counter - TRIAD_N_COUNTERS];
	if ((command->at[0] || command->since[0]) &&
		check_scope(command, &shown, output))
		return TRIAD_CONTROL_FAILED;
	if (command->at[0])
		return show_past(service, command, &shown, output);
	view = triad_perf_view(service->perf);
	if (!view)
		return triad_command_no_view(service, output);
	status = show_chosen(service, view, command, &shown, output);
	triad_view_unref(view);
	return status;
}

/* --- kept --- */

/* Keeps the histograms of a scope; 'group' is the group's name. */
static int keep_scope(struct triad_service *service, struct triad_kept_list *list,
	const struct triad_histograms_scope *scope, const char *group)
{
	struct triad_histogram histogram;
	uint64_t n_zeros;
	int error = 0;

	for (unsigned i = 0; i < TRIAD_N_COUNTERS && !error; i++) {
		error = triad_watch_histogram(triad_perf_watch(service->perf), scope, i,
			&histogram, &n_zeros);
		if (error)
			break;
		if (n_zeros || triad_histogram_count(&histogram))
			triad_kept_histograms_add(list, group, i, &histogram, n_zeros);
		triad_histogram_clear(&histogram);
	}
	return error;
}

void triad_command_keep_histograms(struct triad_service *service,
	const struct triad_view *view, struct triad_kept_list *list)
{
	struct triad_histograms_scope scope = {.of = TRIAD_HISTOGRAMS_OF_ALL};
	int error;

	if (triad_collect_is_manager(service->collect)) {
		triad_kept_list_refuse(list,
			"a manager's histograms are those of its agents, whose images "
			"have them: ask on their hosts, 'triadctl --agent'");
		return;
	}
	triad_kept_list_begin(list);
	error = keep_scope(service, list, &scope, "");
	scope.of = TRIAD_HISTOGRAMS_OF_GROUP;
	for (unsigned i = 0;
		view->groups && i < triad_groups_count(view->groups) && !error; i++) {
		scope.group = i;
		error = keep_scope(
			service, list, &scope, triad_groups_get(view->groups, i)->name);
	}
	/* ENOENT: the groups are just changing; the next image has the new ones. */
	if (error == ENOMEM)
		triad_kept_list_refuse(list, "not enough memory");
}
