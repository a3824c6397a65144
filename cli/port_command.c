/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/port_command.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

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
		.help = "compare it with this fabric: a file written by ibnetdiscover"},
	[OPTION_FROM] = {"--from", "FILE", TRIAD_OPTION_KIND_PATH, AT(from),
		.help = "the fabric: a file written by ibnetdiscover"},
	[OPTION_GENERATION] = {"--generation", "N", TRIAD_OPTION_KIND_NAME,
		AT(generation_text), .help = "the generation to write [1]"},
	[OPTION_JSON] = {"--json", NULL, TRIAD_OPTION_KIND_FLAG, AT(json),
		.help = "JSON instead of text"},
};

static const struct triad_verb verbs[] = {
	{.name = "port check",
		.group = TRIAD_VERB_CONFIGURE,
		.options = BIT(FABRIC) | BIT(JSON),
		.help = "Checks an expected configuration of switch ports, and "
			"whether it fits a fabric.",
		.arguments = "FILE",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
	{.name = "port snapshot",
		.group = TRIAD_VERB_CONFIGURE,
		.options = BIT(FROM) | BIT(GENERATION),
		.help = "Prints an expected configuration that describes a fabric as "
			"it is."},
};

const struct triad_verb_table triad_port_verbs =
	TRIAD_VERB_TABLE(verbs, options, N_OPTIONS);

static bool has_option(const struct triad_parser *parser, const char *name)
{
	size_t n = strlen(name);

	for (int i = 0; i < parser->n_words; i++)
		if (!strncmp(parser->words[i], name, n) &&
			(!parser->words[i][n] || parser->words[i][n] == '='))
			return true;
	return false;
}

void triad_port_claim_snapshot(struct triad_parser *parser)
{
	const struct triad_verb *snapshot = &verbs[TRIAD_PORT_SNAPSHOT];

	if (strcmp(parser->verb->name, snapshot->name) != 0 ||
		!has_option(parser, options[OPTION_FROM].name))
		return;
	/* With --from it is triadctl's: the plugin's command of that name lacks it. */
	parser->verb = snapshot;
	for (size_t i = 0; i < parser->n_tables; i++)
		if (parser->tables[i].verbs == verbs)
			parser->table = &parser->tables[i];
}

static int read_generation(
	struct triad_parser *parser, struct triad_port_command *command)
{
	const char *text = command->generation_text;
	guint64 value = 1;

	if (text &&
		!g_ascii_string_to_unsigned(
			text, 10, 1, TRIAD_EXPECTED_MAX_GENERATION, &value, NULL))
		return triad_parser_complain(parser,
			"--generation %.80s: allowed are whole numbers, 1 to "
			"9223372036854775808",
			text);
	command->generation = value;
	return 0;
}

int triad_port_command_read(
	struct triad_parser *parser, struct triad_port_command *command)
{
	unsigned n;
	int error;

	*command =
		(struct triad_port_command){.verb = (unsigned)(parser->verb - verbs)};
	error = triad_parser_read_rest(parser, command, &command->file, &n);
	return error ? error : read_generation(parser, command);
}
