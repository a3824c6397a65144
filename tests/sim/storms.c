/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/storms.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "triad/clock.h"

#define MAX_WRONG 5u

void storms_report(const struct storm_totals *totals, uint64_t seed, bool is_json)
{
	if (!is_json)
		printf("1..1\n%s 1 - storms from seed ",
			totals->n_wrong ? "not ok" : "ok");
	printf(is_json ? "{\"seed\": %" PRIu64 ", \"runs\": %" PRIu64
			 ", \"storms\": %" PRIu64 ", \"simulated_s\": %" PRIu64
			 ", \"events\": %" PRIu64 ", \"violations\": %u}\n"
		       : "%" PRIu64 ": %" PRIu64 " runs, %" PRIu64 " storms, %" PRIu64
			 " simulated seconds, %" PRIu64 " events, %u violations\n",
		seed, totals->n_runs, totals->n_storms,
		totals->simulated_us / TRIAD_US_PER_S, totals->n_events,
		totals->n_wrong);
}

bool storms_read_number(const char *text, uint64_t *number)
{
	char *end;

	*number = strtoull(text, &end, 0);
	return *text && !*end;
}

bool storms_read_options(const struct storms_options *options, int argc, char **argv,
	void *request, int *status)
{
	int option;

	while ((option = getopt_long(argc, argv, "h", options->known, NULL)) != -1) {
		*status = option == 'h' ? 0 : 2;
		if (option == 'h')
			options->usage();
		if (option == 'h' || option == '?' || !options->take(option, request))
			return false;
	}
	*status = 2;
	return optind == argc;
}

bool storms_take(int option, struct storms_request *request)
{
	switch (option) {
	case 'n':
		return storms_read_number(optarg, &request->seconds);
	case 'r':
		request->is_one = true;
		return storms_read_number(optarg, &request->seed);
	case 's':
		return storms_read_number(optarg, &request->seed);
	case 'j':
		request->is_json = true;
		return true;
	}
	return false;
}

int storms_run(const struct storms_request *request,
	bool (*one_run)(uint64_t number, void *context, struct storm_totals *totals),
	void *context)
{
	struct storm_totals totals = {.n_runs = 0};

	do {
		totals.n_wrong +=
			!one_run(request->seed + totals.n_runs, context, &totals);
	} while (!request->is_one && totals.n_wrong < MAX_WRONG &&
		totals.simulated_us < request->seconds * TRIAD_US_PER_S);
	storms_report(&totals, request->seed, request->is_json);
	return totals.n_wrong ? 1 : 0;
}
