/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/bundle_command.h"

#include "lib/quantity.h"
#include "triad/clock.h"

#define AT(member) .offset = offsetof(struct triad_bundle_command, member)
#define BIT(option) (1u << OPTION_##option)
#define DEFAULT_SINCE "1d"

enum {
	OPTION_ANONYMOUS,
	OPTION_SINCE,
	OPTION_NAMES,
	N_OPTIONS,
};

static const struct triad_option options[N_OPTIONS] = {
	[OPTION_ANONYMOUS] = {"--anonymous", NULL, TRIAD_OPTION_KIND_FLAG,
		AT(anonymous),
		.help = "replace names, GUIDs, serial numbers and addresses by made-up "
			"ones"},
	[OPTION_SINCE] = {"--since", "TIME", TRIAD_OPTION_KIND_NAME, AT(since),
		.help = "logs and images since this time: 2026-01-02T03:04 (UTC), or 2d, "
			"3h ago [1d]"},
	[OPTION_NAMES] = {"--names", "FILE", TRIAD_OPTION_KIND_PATH, AT(names),
		.help = "look for these, a line each, instead of what the SM knows"},
};

static const struct triad_verb verbs[] = {
	[TRIAD_BUNDLE_CHECK] = {.name = "bundle check",
		.group = TRIAD_VERB_MAINTAIN,
		.options = BIT(NAMES),
		.help = "Lists what a bundle has, and verifies it; of an anonymous one, "
			"that no original is left.  Exits with 1 if one is, or if it is "
			"damaged.",
		.arguments = "FILE",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	[TRIAD_BUNDLE_MAKE] = {.name = "bundle",
		.group = TRIAD_VERB_MAINTAIN,
		.options = BIT(ANONYMOUS) | BIT(SINCE),
		.help = "Writes one file for somebody who can't log in: topology, "
			"tables, counters, all answers, configurations, logs, images.  "
			"Without keys and passwords.",
		.arguments = "FILE",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
};

const struct triad_verb_table triad_bundle_verbs =
	TRIAD_VERB_TABLE(verbs, options, N_OPTIONS);

int triad_bundle_command_read(
	struct triad_parser *parser, struct triad_bundle_command *command)
{
	const char *since;
	unsigned n, length_s;
	int error;

	*command = (struct triad_bundle_command){.verb = parser->verb - verbs};
	error = triad_parser_read_rest(parser, command, &command->file, &n);
	since = command->since ? command->since : DEFAULT_SINCE;
	if (error || triad_clock_parse(since, &command->since_us))
		return error;
	if (triad_quantity_parse(since, "s", &length_s) || !length_s)
		return triad_parser_complain(parser,
			"--since %.40s: allowed are a time, 2026-01-02 or "
			"2026-01-02T03:04 (UTC), and a length of time before now, 2d, "
			"3h, 90m or 30s",
			since);
	command->since_us = triad_clock_wall_us() - length_s * TRIAD_US_PER_S;
	return 0;
}
