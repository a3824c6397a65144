/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/election_command.h"

#include <stdio.h>

#include "cli/local_command.h"

#define AT(member) .offset = offsetof(struct triad_election_command, member)
#define BIT(option) (1u << OPTION_##option)

#define STANDARD_EVERY_S 5
#define STANDARD_TIMEOUT_S 10

enum {
	OPTION_EVERY,
	OPTION_TIMEOUT,
	N_OPTIONS,
};

static const struct triad_option options[N_OPTIONS] = {
	[OPTION_EVERY] = {"--every", "S", TRIAD_OPTION_KIND_NUMBER, AT(every_s),
		.min = 1, .max = 3600,
		.help = "from one start of the command to the next, 1 to 3600 [5]"},
	[OPTION_TIMEOUT] = {"--timeout", "S", TRIAD_OPTION_KIND_NUMBER, AT(timeout_s),
		.min = 1, .max = 3600,
		.help = "how long it may take, 1 to 3600 [10]; then it is ended, and "
			"the answer is no"},
};

static const struct triad_verb verbs[] = {
	{.name = "election check",
		.options = BIT(EVERY) | BIT(TIMEOUT),
		.help = "Runs a command of yours again and again, until Ctrl-C: while "
			"it exits with 0, this SM may enforce "
			"(election.check_required).",
		.arguments = "-- COMMAND [ARG...]",
		.n_arguments_min = 1,
		.n_arguments_max = TRIAD_ELECTION_MAX_WORDS},
};

#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const struct triad_local_family family = {
	.word = "election",
	.is_shared = true,
	.table = {.verbs = verbs,
		.n_verbs = N_VERBS,
		.options = options,
		.n_options = N_OPTIONS},
};

struct triad_verb_table triad_election_verbs(void)
{
	return family.table;
}

bool triad_election_is_meant(int n_words, const char *const *words)
{
	return triad_local_is_meant(&family, n_words, words);
}

int triad_election_command_parse(int n_words, const char *const *words,
	struct triad_election_command *command, char *message, size_t size)
{
	struct triad_local_operands operands = {.files = command->words};
	int error;

	command->every_s = STANDARD_EVERY_S;
	command->timeout_s = STANDARD_TIMEOUT_S;
	error = triad_local_parse(
		&family, n_words, words, command, &operands, message, size);
	if (error)
		return error;
	command->words[operands.n_files] = NULL;
	command->verb = operands.row < 0 ? TRIAD_ELECTION_HELP : TRIAD_ELECTION_CHECK;
	snprintf(command->topic, sizeof(command->topic), "%s", operands.topic);
	return 0;
}
