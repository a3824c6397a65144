/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/storms.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "triad/clock.h"

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
