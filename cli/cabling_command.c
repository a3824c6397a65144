/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/cabling_command.h"

#define AT(member) .offset = offsetof(struct triad_cabling_command, member)
#define DEFAULT_INTERVAL_S 5
#define BIT(option) (1u << OPTION_##option)

enum {
	OPTION_FABRIC,
	OPTION_JSON,
	OPTION_CSV,
	OPTION_HTML,
	OPTION_WATCH,
	OPTION_INTERVAL,
	N_OPTIONS,
};

static const struct triad_option options[N_OPTIONS] = {
	[OPTION_FABRIC] = {"--fabric", "FILE", TRIAD_OPTION_KIND_PATH, AT(fabric),
		.help = "compare it with this fabric: a file written by ibnetdiscover"},
	[OPTION_JSON] = {"--json", NULL, TRIAD_OPTION_KIND_FLAG, AT(json),
		.help = "JSON instead of text"},
	[OPTION_CSV] = {"--csv", NULL, TRIAD_OPTION_KIND_FLAG, AT(csv),
		.help = "CSV instead of text"},
	[OPTION_HTML] = {"--html", NULL, TRIAD_OPTION_KIND_FLAG, AT(html),
		.help = "a page to print, or to tick off on a phone"},
	[OPTION_WATCH] = {"--watch", NULL, TRIAD_OPTION_KIND_FLAG, AT(watch),
		.help = "tick off what is done, until all is as planned, or Ctrl-C"},
	[OPTION_INTERVAL] = {"--interval", "S", TRIAD_OPTION_KIND_NUMBER,
		AT(interval_s), .min = 1, .max = 3600, .unit = "s",
		.help = "with --watch: every S seconds, 1 to 3600 [5]"},
};

static const struct triad_verb verbs[] = {
	{.name = "cabling check",
		.group = TRIAD_VERB_DIAGNOSE,
		.options = BIT(FABRIC) | BIT(JSON) | BIT(CSV) | BIT(HTML) | BIT(WATCH) |
			BIT(INTERVAL),
		.help = "Compares a cabling plan with the fabric, and says which cables "
			"to move, swap, put in, take out or replace.  Exits with 0 (as "
			"planned), 1 (it differs) or 3 (not known).",
		.arguments = "PLAN",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
};

const struct triad_verb_table triad_cabling_verbs =
	TRIAD_VERB_TABLE(verbs, options, N_OPTIONS);

int triad_cabling_command_read(
	struct triad_parser *parser, struct triad_cabling_command *command)
{
	unsigned n;
	int error;

	*command = (struct triad_cabling_command){0};
	error = triad_parser_read_rest(parser, command, &command->plan, &n);
	if (error)
		return error;
	if (command->json + command->csv + command->html + command->watch > 1)
		return triad_parser_complain(
			parser, "--json, --csv, --html and --watch exclude each other");
	if (command->interval_s && !command->watch)
		return triad_parser_complain(parser, "--interval needs --watch");
	if (!command->interval_s)
		command->interval_s = DEFAULT_INTERVAL_S;
	return 0;
}
