/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/setup_command.h"

#include <stdio.h>

#include "cli/opensm_conf.h"

#define AT(member) .offset = offsetof(struct triad_setup_command, member)
#define BIT(option) (1u << OPTION_##option)

#define DEFAULT_TIMEOUT_S 60

enum {
	OPTION_DRY_RUN,
	OPTION_REMOVE,
	OPTION_RESTART,
	OPTION_CONF,
	OPTION_TRIAD_CONF,
	OPTION_TIMEOUT,
	OPTION_JSON,
	N_OPTIONS,
};

static const struct triad_option options[N_OPTIONS] = {
	[OPTION_DRY_RUN] = {"--dry-run", NULL, TRIAD_OPTION_KIND_FLAG, AT(dry_run),
		.help = "check everything, show what would change, change nothing"},
	[OPTION_REMOVE] = {"--remove", NULL, TRIAD_OPTION_KIND_FLAG, AT(remove),
		.help = "undo it: OpenSM shall no longer load Triad"},
	[OPTION_RESTART] = {"--restart", NULL, TRIAD_OPTION_KIND_FLAG, AT(restart),
		.help = "restart OpenSM's service, then wait until Triad answers; the "
			"SM sweeps the fabric anew"},
	[OPTION_CONF] = {"--conf", "FILE", TRIAD_OPTION_KIND_PATH, AT(conf),
		.help = "OpenSM's configuration [the one that OpenSM reads]"},
	[OPTION_TRIAD_CONF] = {"--triad-conf", "FILE", TRIAD_OPTION_KIND_PATH,
		AT(triad_conf), .help = "have Triad read this configuration"},
	[OPTION_TIMEOUT] = {"--timeout", "S", TRIAD_OPTION_KIND_NUMBER, AT(timeout_s),
		.min = 1, .max = 3600, .unit = "s",
		.help = "with --restart: how long Triad may take to answer, 1 to 3600 "
			"[60]"},
	[OPTION_JSON] = {"--json", NULL, TRIAD_OPTION_KIND_FLAG, AT(json),
		.help = "JSON instead of text"},
};

static const struct triad_verb verbs[] = {
	{.name = "setup",
		.group = TRIAD_VERB_CONFIGURE,
		.options = BIT(DRY_RUN) | BIT(REMOVE) | BIT(RESTART) | BIT(CONF) |
			BIT(TRIAD_CONF) | BIT(TIMEOUT) | BIT(JSON),
		.help = "Has OpenSM load Triad: checks that it can, and adds Triad to "
			"opensm.conf.  OpenSM is restarted only with --restart."},
};

struct triad_verb_table triad_setup_verbs(void)
{
	return (struct triad_verb_table){
		.verbs = verbs,
		.n_verbs = sizeof(verbs) / sizeof(verbs[0]),
		.options = options,
		.n_options = N_OPTIONS,
	};
}

int triad_setup_command_read(
	struct triad_parser *parser, struct triad_setup_command *command)
{
	const char *none[1];
	unsigned n;
	int error;

	*command = (struct triad_setup_command){.timeout_s = DEFAULT_TIMEOUT_S};
	error = triad_parser_read_rest(parser, command, none, &n);
	if (error)
		return error;
	if (command->remove && command->triad_conf)
		return triad_parser_complain(
			parser, "--remove and --triad-conf exclude each other");
	if (command->triad_conf && !triad_opensm_conf_takes_path(command->triad_conf))
		return triad_parser_complain(parser,
			"--triad-conf: a path from / on, without blanks, quotes, "
			"commas, semicolons and '#': OpenSM's options can't have them");
	return 0;
}
