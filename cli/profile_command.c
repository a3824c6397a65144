/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/profile_command.h"

#include <stdio.h>
#include <string.h>

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

static const struct triad_verb verbs[] = {
	{.name = "profile merge",
		.group = TRIAD_VERB_DIAGNOSE,
		.options = BIT(OUT) | BIT(CSV),
		.help = "Merges profile files of any number of collectors into one, in "
			"the order of time.",
		.arguments = "FILE...",
		.n_arguments_min = 1,
		.n_arguments_max = TRIAD_PROFILE_MAX_FILES},
	{.name = "profile report",
		.group = TRIAD_VERB_DIAGNOSE,
		.options = BIT(LIMIT) | BIT(JSON) | BIT(SVG),
		.help = "What profile files say: the busiest links, traffic over time, "
			"parallel links of unlike load, gaps.",
		.arguments = "FILE...",
		.n_arguments_min = 1,
		.n_arguments_max = TRIAD_PROFILE_MAX_FILES},
};

const struct triad_verb_table triad_profile_verbs =
	TRIAD_VERB_TABLE(verbs, options, N_OPTIONS);

int triad_profile_command_read(
	struct triad_parser *parser, struct triad_profile_command *command)
{
	memset(command, 0, offsetof(struct triad_profile_command, files));
	command->verb = (unsigned)(parser->verb - verbs);
	command->limit = DEFAULT_LIMIT;
	return triad_parser_read_rest(
		parser, command, command->files, &command->n_files);
}
