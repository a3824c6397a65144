/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'perf history': how fast a counter of a port grew, drawn as a curve. */
#include "service/command/commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ib/node_label.h"
#include "service/command/format.h"
#include "service/command/moment.h"
#include "service/command/ports.h"
#include "service/service.h"
#include "triad/control.h"
#include "triad/json.h"

#define N_POINTS 65u /* one more than there are columns */
#define HEIGHT 10u
#define DEFAULT_US (3600 * TRIAD_US_PER_S)

struct curve {
	const struct triad_command *command;
	char where[TRIAD_PORT_LABEL_SIZE];
	uint64_t node_guid;
	uint8_t port;
	uint32_t n;
	struct triad_history_point points[TRIAD_HISTORY_MAX_POINTS];
	/* From the point before to each point; NAN: not known, as for the first. */
	double rate[N_POINTS];
	double most, sum;
	uint64_t most_us, sum_us; /* time of 'most'; length of the known intervals */
	uint32_t n_unknown;       /* of the others */
};

/* --- what is drawn --- */

/* Finds the port in the fabric at the end of the time. */
static bool find_curve_port(struct triad_service *service,
	const struct triad_command *command, struct curve *curve,
	struct triad_output *output)
{
	struct triad_view *view = triad_moment_view(service, command, output);
	struct triad_node_choice choice;
	const struct triad_fabric_node *node;

	if (!view)
		return false;
	if (!triad_command_choose(
		    command, view->fabric, "perf history", &choice, output)) {
		triad_view_unref(view);
		return false;
	}
	if (choice.n != 1 || choice.port < 0) {
		(void)triad_command_print_choice(
			"perf history", &choice, view->fabric, output);
		triad_view_unref(view);
		return false;
	}
	if (triad_command_lacks_port("perf history", view->fabric, &choice, output)) {
		triad_view_unref(view);
		return false;
	}
	node = &view->fabric->nodes[choice.first];
	curve->node_guid = node->guid;
	curve->port = (uint8_t)choice.port;
	snprintf(curve->where, sizeof(curve->where), "%s",
		triad_port_label_of(view->fabric, node->guid, node->name, curve->port)
			.text);
	triad_view_unref(view);
	return true;
}

/* Computes the rates.  A total that went back began anew, as when its port came back. */
static void find_rates(struct curve *curve)
{
	curve->most = NAN;
	curve->rate[0] = NAN;
	for (uint32_t i = 1; i < curve->n; i++) {
		const struct triad_history_point *now = &curve->points[i];
		const struct triad_history_point *before = &curve->points[i - 1];
		double grown = (double)(now->total - before->total);

		curve->rate[i] = NAN;
		curve->n_unknown++;
		if (!triad_totals_are_of_one(
			    &before->base, before->time_us, &now->base) ||
			!now->is_known || !before->is_known ||
			now->total < before->total || now->time_us <= before->time_us)
			continue;
		curve->n_unknown--;
		curve->rate[i] = grown * (double)TRIAD_US_PER_S /
			(double)(now->time_us - before->time_us);
		curve->sum += grown;
		curve->sum_us += now->time_us - before->time_us;
		if (!(curve->rate[i] <= curve->most)) {
			curve->most = curve->rate[i];
			curve->most_us = now->time_us;
		}
	}
}

/* --- showing --- */

static void format_amount(
	const struct curve *curve, char *text, size_t size, double amount)
{
	triad_command_format_counter(
		text, size, triad_counters[curve->command->by].unit, amount);
}

/* Writes one line of the drawing.  The height of a column is its rate; a dot in the
 * lowest line means not known. */
static void put_drawing_line(
	const struct curve *curve, unsigned line, struct triad_output *output)
{
	char text[40] = "", columns[N_POINTS + 1];
	unsigned n = 0;

	if (line == HEIGHT)
		format_amount(curve, text, sizeof(text), curve->most);
	if (line == HEIGHT / 2)
		format_amount(curve, text, sizeof(text), curve->most / 2);
	for (uint32_t i = 1; i < curve->n; i++) {
		double height =
			curve->most > 0 ? curve->rate[i] / curve->most * HEIGHT : 0;

		columns[n++] = isnan(curve->rate[i]) ? (line == 1 ? '.' : ' ')
						     : (height > line - 1 ? '#' : ' ');
	}
	while (n && columns[n - 1] == ' ')
		n--;
	columns[n] = '\0';
	triad_output_printf(output, "%10s |%s\n", text, columns);
}

static void put_axis(const struct curve *curve, struct triad_output *output)
{
	char first[TRIAD_CLOCK_TEXT_SIZE], last[TRIAD_CLOCK_TEXT_SIZE];
	int width = (int)curve->n - 1, room;

	triad_clock_format_s(curve->points[0].time_us, first);
	triad_clock_format_s(curve->points[curve->n - 1].time_us, last);
	triad_output_printf(output, "%10s +", "0");
	for (int i = 0; i < width; i++)
		triad_output_printf(output, "-");
	room = width - (int)strlen(first);
	triad_output_printf(output, "\n%12s%s%*s\n", "", first,
		room > (int)strlen(last) + 1 ? room : (int)strlen(last) + 2, last);
}

static void put_curve_text(const struct curve *curve, struct triad_output *output)
{
	char most[40], mean[40], sum[40], at[TRIAD_CLOCK_TEXT_SIZE];

	triad_output_printf(output, "%s of %s, a second\n\n",
		triad_counters[curve->command->by].name, curve->where);
	if (!curve->sum_us) {
		triad_output_printf(output,
			"no growth is known between any two of the images there (%" PRIu32
			"): the port was not read, or the counter was at its maximum or "
			"began anew\n",
			curve->n);
		return;
	}
	for (unsigned line = HEIGHT; line; line--)
		put_drawing_line(curve, line, output);
	put_axis(curve, output);
	format_amount(curve, most, sizeof(most), curve->most);
	format_amount(curve, sum, sizeof(sum), curve->sum);
	format_amount(curve, mean, sizeof(mean),
		curve->sum * (double)TRIAD_US_PER_S / (double)curve->sum_us);
	triad_output_printf(output,
		"\nmost %s/s, until %s; %s/s on the whole; %s in all\n", most,
		triad_clock_format_s(curve->most_us, at), mean, sum);
	if (curve->n_unknown)
		triad_output_printf(output,
			"its growth is not known between %" PRIu32 " of these %" PRIu32
			" images and the one before: these numbers are without it\n",
			curve->n_unknown, curve->n);
}

static void put_curve_json(const struct curve *curve, struct triad_output *output)
{
	char at[TRIAD_CLOCK_TEXT_SIZE];
	struct triad_json json;

	triad_json_init(&json, output);
	triad_json_object_begin(&json, NULL);
	triad_json_guid(&json, "node_guid", curve->node_guid);
	triad_json_uint(&json, "port", curve->port);
	triad_json_string(&json, "counter", triad_counters[curve->command->by].name);
	triad_json_array_begin(&json, "points");
	for (uint32_t i = 0; i < curve->n; i++) {
		const struct triad_history_point *point = &curve->points[i];

		triad_clock_format(point->time_us, at);
		triad_json_object_begin(&json, NULL);
		triad_json_string(&json, "time", at);
		if (point->is_known)
			triad_json_uint(&json, "total", point->total);
		else
			triad_json_string(&json, "total", NULL);
		triad_json_double(&json, "per_second", curve->rate[i]);
		triad_json_object_end(&json);
	}
	triad_json_array_end(&json);
	triad_json_object_end(&json);
	triad_json_end(&json);
}

int triad_command_run_perf_history(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct curve curve = {.command = command};
	struct triad_history_request request;
	uint64_t to_us;
	char message[TRIAD_HISTORY_MESSAGE_SIZE];

	if (!triad_service_keeps_images(service)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"perf history: no images of the fabric are kept: name a folder "
			"in history.dir\n");
		return TRIAD_CONTROL_FAILED;
	}
	if (!find_curve_port(service, command, &curve, output))
		return TRIAD_CONTROL_FAILED;
	to_us = triad_moment_time(command->at_us, command->at_ago_us);
	request = (struct triad_history_request){.node_guid = curve.node_guid,
		.port = curve.port,
		.counter = command->by,
		.from_us = triad_moment_since(command, to_us - DEFAULT_US),
		.to_us = to_us,
		.n = N_POINTS};
	curve.n = triad_history_reader_series(
		service->past, &request, curve.points, message);
	if (!curve.n) {
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "perf history: %s\n", message);
		return TRIAD_CONTROL_FAILED;
	}
	find_rates(&curve);
	if (command->json)
		put_curve_json(&curve, output);
	else
		put_curve_text(&curve, output);
	return TRIAD_CONTROL_DONE;
}
