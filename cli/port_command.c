/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/port_command.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "cli/local_command.h"
#include "portmgr/expected/expected.h"

#define AT(member) .offset = offsetof(struct triad_port_command, member)
#define BIT(option) (1u << OPTION_##option)

enum {
	OPTION_FABRIC,
	OPTION_FROM,
	OPTION_GENERATION,
	OPTION_JSON,
	N_OPTIONS,
};

static const struct triad_option options[N_OPTIONS] = {
	[OPTION_FABRIC] = {"--fabric", "FILE", TRIAD_OPTION_KIND_PATH, AT(fabric),
		.help = "lay it over this fabric: what ibnetdiscover printed"},
	[OPTION_FROM] = {"--from", "FILE", TRIAD_OPTION_KIND_PATH, AT(from),
		.help = "the fabric: what ibnetdiscover printed"},
	[OPTION_GENERATION] = {"--generation", "N", TRIAD_OPTION_KIND_NAME,
		AT(generation_text), .help = "the generation to be written [1]"},
	[OPTION_JSON] = {"--json", NULL, TRIAD_OPTION_KIND_FLAG, AT(json),
		.help = "JSON instead of text"},
};

/* 'verb' is not one of the plugin's: the row says which it is. */
static const struct triad_verb verbs[] = {
	{.name = "port check",
		.options = BIT(FABRIC) | BIT(JSON),
		.help = "Whether an expected configuration of switch ports can be "
			"used, and whether it fits a fabric.",
		.arguments = "FILE",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "port snapshot",
		.options = BIT(FROM) | BIT(GENERATION),
		.help = "Writes the expected configuration of a fabric as it is."},
};

#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const enum triad_port_verb verb_of_row[N_VERBS] = {
	TRIAD_PORT_CHECK, TRIAD_PORT_SNAPSHOT};

static const struct triad_local_family family = {
	.word = "port",
	.is_shared = true,
	.table = {.verbs = verbs,
		.n_verbs = N_VERBS,
		.options = options,
		.n_options = N_OPTIONS},
};

struct triad_verb_table triad_port_verbs(void)
{
	return family.table;
}

static bool begins(const char *word, const char *with)
{
	return !strncmp(word, with, strlen(with));
}

/* 'port snapshot' of the SM's own fabric is the plugin's. */
static bool is_of_sm(int n_words, const char *const *words)
{
	if (n_words < 2 || strcmp(words[0], "port") || strcmp(words[1], "snapshot"))
		return false;
	for (int i = 2; i < n_words; i++)
		if (!strcmp(words[i], "--from") || begins(words[i], "--from=") ||
			!strcmp(words[i], "--help") || !strcmp(words[i], "-h"))
			return false;
	return true;
}

bool triad_port_is_meant(int n_words, const char *const *words)
{
	return !is_of_sm(n_words, words) &&
		triad_local_is_meant(&family, n_words, words);
}

static int read_generation(
	struct triad_port_command *command, char *message, size_t size)
{
	const char *text = command->generation_text;
	guint64 value = 1;

	if (text &&
		!g_ascii_string_to_unsigned(
			text, 10, 1, TRIAD_EXPECTED_MAX_GENERATION, &value, NULL)) {
		snprintf(message, size,
			"port snapshot: --generation %.80s: allowed are whole numbers, "
			"1 to 9223372036854775808",
			text);
		return EINVAL;
	}
	command->generation = value;
	return 0;
}

int triad_port_command_parse(int n_words, const char *const *words,
	struct triad_port_command *command, char *message, size_t size)
{
	struct triad_local_operands operands;
	int error;

	*command = (struct triad_port_command){0};
	operands = (struct triad_local_operands){.files = &command->file};
	error = triad_local_parse(
		&family, n_words, words, command, &operands, message, size);
	if (!error)
		error = read_generation(command, message, size);
	if (error)
		return error;
	command->verb = operands.row < 0 ? TRIAD_PORT_HELP : verb_of_row[operands.row];
	snprintf(command->topic, sizeof(command->topic), "%s", operands.topic);
	return 0;
}
