/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/profile_command.h"

#include <stdio.h>
#include <string.h>

#include "cli/local_command.h"

#define AT(member) .offset = offsetof(struct triad_profile_command, member)
#define BIT(option) (1u << OPTION_##option)
#define DEFAULT_LIMIT 20

enum {
	OPTION_OUT,
	OPTION_CSV,
	OPTION_LIMIT,
	OPTION_JSON,
	OPTION_SVG,
	N_OPTIONS,
};

static const struct triad_option options[N_OPTIONS] = {
	[OPTION_OUT] = {"-o", "OUT", TRIAD_OPTION_KIND_PATH, AT(out),
		.help = "the file to write [standard output]"},
	[OPTION_CSV] = {"--csv", NULL, TRIAD_OPTION_KIND_FLAG, AT(csv),
		.help = "plain text instead of compressed frames"},
	[OPTION_LIMIT] = {"-n", "N", TRIAD_OPTION_KIND_NUMBER, AT(limit), .min = 1,
		.max = 65535, .help = "how many links to show, 1 to 65535 [20]"},
	[OPTION_JSON] = {"--json", NULL, TRIAD_OPTION_KIND_FLAG, AT(json),
		.help = "JSON instead of text"},
	[OPTION_SVG] = {"--svg", "OUT", TRIAD_OPTION_KIND_PATH, AT(svg),
		.help = "draw it, too, into this file for a browser"},
};

/* 'verb' is not one of the plugin's: the row says which it is. */
static const struct triad_verb verbs[] = {
	{.name = "profile merge",
		.options = BIT(OUT) | BIT(CSV),
		.help = "Merges profile files of any number of collectors into one, in "
			"the order of time.",
		.arguments = "FILE...",
		.n_arguments_min = 1,
		.n_arguments_max = TRIAD_PROFILE_MAX_FILES},
	{.name = "profile report",
		.options = BIT(LIMIT) | BIT(JSON) | BIT(SVG),
		.help = "What profile files say: the busiest links, traffic over time, "
			"parallel links of unlike load, gaps.",
		.arguments = "FILE...",
		.n_arguments_min = 1,
		.n_arguments_max = TRIAD_PROFILE_MAX_FILES},
};

#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const enum triad_profile_verb verb_of_row[N_VERBS] = {
	TRIAD_PROFILE_MERGE, TRIAD_PROFILE_REPORT};

static const struct triad_local_family family = {
	.word = "profile",
	.table = {.verbs = verbs,
		.n_verbs = N_VERBS,
		.options = options,
		.n_options = N_OPTIONS},
};

struct triad_verb_table triad_profile_verbs(void)
{
	return family.table;
}

bool triad_profile_is_meant(int n_words, const char *const *words)
{
	return triad_local_is_meant(&family, n_words, words);
}

int triad_profile_command_parse(int n_words, const char *const *words,
	struct triad_profile_command *command, char *message, size_t size)
{
	struct triad_local_operands operands = {.files = command->files};
	int error;

	memset(command, 0, offsetof(struct triad_profile_command, files));
	command->limit = DEFAULT_LIMIT;
	error = triad_local_parse(
		&family, n_words, words, command, &operands, message, size);
	if (error)
		return error;
	command->n_files = operands.n_files;
	command->verb =
		operands.row < 0 ? TRIAD_PROFILE_HELP : verb_of_row[operands.row];
	snprintf(command->topic, sizeof(command->topic), "%s", operands.topic);
	return 0;
}
