/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'perf tiers': what flowed between the levels of the fabric, over time. */
#include "service/command/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/command/list.h"
#include "service/command/moment.h"
#include "service/service.h"
#include "triad/control.h"

#define N_IMAGES 49u /* a day by half hours */
#define DEFAULT_US (3600 * TRIAD_US_PER_S)
#define BITS_PER_WORD 32.0

/* In bits a second; NAN: of no link is it known. */
static double rate_of(const struct triad_history_sum *sum, uint64_t words)
{
	return sum->n_known ? (double)words * BITS_PER_WORD * TRIAD_US_PER_S /
			(double)(sum->time_us - sum->before_us)
			    : NAN;
}

static void put_sum(struct triad_list *list, const struct triad_history_sum *sum)
{
	double up = rate_of(sum, sum->up), down = rate_of(sum, sum->down);

	triad_list_row(list);
	triad_list_wall_time(list, "since", NULL, sum->before_us);
	triad_list_wall_time(list, "time", "UNTIL", sum->time_us);
	triad_list_format(list, "BETWEEN", -7, "%u-%u", sum->low, sum->high);
	if (triad_list_json(list)) {
		triad_json_uint(triad_list_json(list), "low", sum->low);
		triad_json_uint(triad_list_json(list), "high", sum->high);
	}
	triad_list_uint(list, "links", "LINKS", 6, sum->n_links);
	triad_list_uint(list, "known_links", "KNOWN", 6, sum->n_known);
	triad_list_real(list, "up_bps", "UP", 12, up, "%.2f Gb/s", up / 1e9);
	triad_list_real(list, "down_bps", "DOWN", 12, down, "%.2f Gb/s", down / 1e9);
	triad_list_row_end(list);
}

static void put_sums(const struct triad_command *command,
	const struct triad_history_sum *sums, uint32_t n, struct triad_output *output)
{
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_list list = {.report = &report};

	triad_report_array(&report, NULL);
	for (uint32_t i = 0; i < n; i++)
		put_sum(&list, &sums[i]);
	triad_report_array_end(&report);
}

int triad_command_run_perf_tiers(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_history_request request = {.n = N_IMAGES,
		.to_us = triad_moment_time(command->at_us, command->at_ago_us)};
	char message[TRIAD_HISTORY_MESSAGE_SIZE] = "no images of the fabric are kept: "
						   "name a folder in history.dir";
	struct triad_history_sum *sums = calloc(TRIAD_HISTORY_MAX_SUMS, sizeof(*sums));
	uint32_t n = 0;

	request.from_us = triad_moment_since(command, request.to_us - DEFAULT_US);
	if (sums && triad_service_keeps_images(service))
		n = triad_history_reader_levels(service->past, &request, sums, message);
	if (n)
		put_sums(command, sums, n, output);
	else
		triad_output_message(output, TRIAD_FRAME_MESSAGE, "perf tiers: %s\n",
			!sums              ? "not enough memory; try again"
				: *message ? message
					   : "there are no two images of that time");
	free(sums);
	return n ? TRIAD_CONTROL_DONE : TRIAD_CONTROL_FAILED;
}
