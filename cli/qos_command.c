/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/qos_command.h"

#include <stdio.h>

#include "cli/local_command.h"

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
		.help = "the level of what no rule matches, whatever the file says"},
	[OPTION_JSON] = {"--json", NULL, TRIAD_OPTION_KIND_FLAG, AT(json),
		.help = "JSON instead of text"},
};

/* 'verb' is not one of the plugin's: the row says which it is. */
static const struct triad_verb verbs[] = {
	{.name = "qos check",
		.options = BIT(DEFAULT_LEVEL) | BIT(JSON),
		.help = "Whether a QoS policy can be used, and what it says: groups, "
			"levels, rules, tables.",
		.arguments = "FILE",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
};

#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const enum triad_qos_verb verb_of_row[N_VERBS] = {TRIAD_QOS_CHECK};

static const struct triad_local_family family = {
	.word = "qos",
	.is_shared = true,
	.table = {.verbs = verbs,
		.n_verbs = N_VERBS,
		.options = options,
		.n_options = N_OPTIONS},
};

struct triad_verb_table triad_qos_verbs(void)
{
	return family.table;
}

bool triad_qos_is_meant(int n_words, const char *const *words)
{
	return triad_local_is_meant(&family, n_words, words);
}

int triad_qos_command_parse(int n_words, const char *const *words,
	struct triad_qos_command *command, char *message, size_t size)
{
	struct triad_local_operands operands;
	int error;

	*command = (struct triad_qos_command){0};
	operands = (struct triad_local_operands){.files = &command->file};
	error = triad_local_parse(
		&family, n_words, words, command, &operands, message, size);
	if (error)
		return error;
	command->verb = operands.row < 0 ? TRIAD_QOS_HELP : verb_of_row[operands.row];
	snprintf(command->topic, sizeof(command->topic), "%s", operands.topic);
	return 0;
}
