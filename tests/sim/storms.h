/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Shared by programs that run storms: their command line, what they count, and how they
 * report it. */
#ifndef TRIAD_TESTS_SIM_STORMS_H
#define TRIAD_TESTS_SIM_STORMS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

struct storm_totals {
	uint64_t simulated_us, n_runs, n_storms, n_events;
	unsigned n_wrong;
};

/* Prints one line of TAP with its plan, or an object of JSON; 'seed' is the first
 * run's. */
void storms_report(const struct storm_totals *totals, uint64_t seed, bool is_json);

/* Reads all of 'text', decimal, octal (0) or hexadecimal (0x). */
bool storms_read_number(const char *text, uint64_t *number);

/* The options of a program; '--help', which is 'h', among them. */
struct storms_options {
	const struct option *known;
	void (*usage)(void);
	/* Takes one option, whose value is in optarg; returns false if the value is
	 * wrong. */
	bool (*take)(int option, void *request);
};

/* Reads the command line into 'request'.  Returns whether to go on; '*status' is the exit
 * status if not. */
bool storms_read_options(const struct storms_options *options, int argc, char **argv,
	void *request, int *status);

/* The options of programs that run for a simulated time. */
struct storms_request {
	uint64_t seconds, seed; /* of simulated time; the first run's */
	bool is_one, is_json;
};

#define STORMS_OPTIONS                                                                 \
	{"seconds", required_argument, NULL, 'n'},                                     \
		{"seed", required_argument, NULL, 's'},                                \
		{"run", required_argument, NULL, 'r'},                                 \
		{"json", no_argument, NULL, 'j'},                                      \
	{                                                                              \
		"help", no_argument, NULL, 'h'                                         \
	}

/* Takes one of these options; returns false if it is another one, or its value is
 * wrong. */
bool storms_take(int option, struct storms_request *request);

/* Runs until all is simulated or 5 runs went wrong, and reports.  'one_run' adds to the
 * totals and returns whether all was right.  Returns the exit status. */
int storms_run(const struct storms_request *request,
	bool (*one_run)(uint64_t number, void *context, struct storm_totals *totals),
	void *context);

#endif
