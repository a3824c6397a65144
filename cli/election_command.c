/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/election_command.h"

#include <stdio.h>

#define AT(member) .offset = offsetof(struct triad_election_command, member)
#define BIT(option) (1u << OPTION_##option)

#define DEFAULT_EVERY_S 5
#define DEFAULT_TIMEOUT_S 10

enum {
	OPTION_EVERY,
	OPTION_TIMEOUT,
	N_OPTIONS,
};

static const struct triad_option options[N_OPTIONS] = {
	[OPTION_EVERY] = {"--every", "S", TRIAD_OPTION_KIND_NUMBER, AT(every_s),
		.min = 1, .max = 3600, .unit = "s",
		.help = "time from one start of the command to the next, 1 to 3600 "
			"[5]"},
	[OPTION_TIMEOUT] = {"--timeout", "S", TRIAD_OPTION_KIND_NUMBER, AT(timeout_s),
		.min = 1, .max = 3600, .unit = "s",
		.help = "time limit of the command, 1 to 3600 [10]; then it is "
			"ended, and the answer is no"},
};

static const struct triad_verb verbs[] = {
	{.name = "election check",
		.group = TRIAD_VERB_MAINTAIN,
		.options = BIT(EVERY) | BIT(TIMEOUT),
		.help = "Runs your command again and again, until Ctrl-C.  With "
			"election.check_required, this SM may enforce only while the "
			"command exits with 0.",
		.arguments = "-- COMMAND [ARG...]",
		.n_arguments_min = 1,
		.n_arguments_max = TRIAD_ELECTION_MAX_WORDS},
};

const struct triad_verb_table triad_election_verbs =
	TRIAD_VERB_TABLE(verbs, options, N_OPTIONS);

int triad_election_command_read(
	struct triad_parser *parser, struct triad_election_command *command)
{
	unsigned n;
	int error;

	command->every_s = DEFAULT_EVERY_S;
	command->timeout_s = DEFAULT_TIMEOUT_S;
	error = triad_parser_read_rest(parser, command, command->words, &n);
	command->words[n] = NULL;
	return error;
}
