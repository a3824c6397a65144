/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/qos_command.h"

#include <stdio.h>

#define AT(member) .offset = offsetof(struct triad_qos_command, member)
#define BIT(option) (1u << OPTION_##option)

enum {
	OPTION_DEFAULT_LEVEL,
	OPTION_JSON,
	N_OPTIONS,
};

static const struct triad_option options[N_OPTIONS] = {
	[OPTION_DEFAULT_LEVEL] = {"--default-level", "NAME", TRIAD_OPTION_KIND_NAME,
		AT(default_level),
		.help = "level for requests that match no rule, instead of the file's"},
	[OPTION_JSON] = {"--json", NULL, TRIAD_OPTION_KIND_FLAG, AT(json),
		.help = "JSON instead of text"},
};

static const struct triad_verb verbs[] = {
	{.name = "qos check",
		.group = TRIAD_VERB_CONFIGURE,
		.options = BIT(DEFAULT_LEVEL) | BIT(JSON),
		.help = "Checks a QoS policy and shows its groups, levels, rules and "
			"tables.",
		.arguments = "FILE",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
};

const struct triad_verb_table triad_qos_verbs =
	TRIAD_VERB_TABLE(verbs, options, N_OPTIONS);

int triad_qos_command_read(
	struct triad_parser *parser, struct triad_qos_command *command)
{
	unsigned n;

	*command = (struct triad_qos_command){0};
	return triad_parser_read_rest(parser, command, &command->file, &n);
}
