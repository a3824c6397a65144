/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/setup_command.h"

#include "cli/script.h"

#define BIT(option) (1u << OPTION_##option)
#define SCRIPT TRIAD_LIBEXECDIR "/setup"

enum {
	OPTION_DRY_RUN,
	OPTION_REMOVE,
	OPTION_RESTART,
	OPTION_CONF,
	OPTION_TRIAD_CONF,
	OPTION_TIMEOUT,
	N_OPTIONS,
};

/* The script parses them, so they have no place in memory. */
static const struct triad_option options[N_OPTIONS] = {
	[OPTION_DRY_RUN] = {"--dry-run", NULL, TRIAD_OPTION_KIND_FLAG,
		.help = "check everything, show what would change, change nothing"},
	[OPTION_REMOVE] = {"--remove", NULL, TRIAD_OPTION_KIND_FLAG,
		.help = "undo it: OpenSM no longer loads Triad"},
	[OPTION_RESTART] = {"--restart", NULL, TRIAD_OPTION_KIND_FLAG,
		.help = "restart OpenSM's service, then wait until Triad answers; the "
			"SM sweeps the fabric anew"},
	[OPTION_CONF] = {"--conf", "FILE", TRIAD_OPTION_KIND_PATH,
		.help = "OpenSM's configuration [the one that OpenSM reads]"},
	[OPTION_TRIAD_CONF] = {"--triad-conf", "FILE", TRIAD_OPTION_KIND_PATH,
		.help = "configuration for Triad to read"},
	[OPTION_TIMEOUT] = {"--timeout", "S", TRIAD_OPTION_KIND_NUMBER,
		.help = "with --restart: how long to wait for Triad's answer, 1 to "
			"3600 [60]"},
};

static const struct triad_verb verbs[] = {
	{.name = "setup",
		.group = TRIAD_VERB_CONFIGURE,
		.options = BIT(DRY_RUN) | BIT(REMOVE) | BIT(RESTART) | BIT(CONF) |
			BIT(TRIAD_CONF) | BIT(TIMEOUT),
		.help = "Makes OpenSM load Triad: checks that it can, and adds Triad "
			"to opensm.conf.  Restarts OpenSM only with --restart."},
};

const struct triad_verb_table triad_setup_verbs =
	TRIAD_VERB_TABLE(verbs, options, N_OPTIONS);

int triad_setup_exec(const char *const *words, int n_words)
{
	return triad_script_exec("setup", "TRIAD_SETUP", SCRIPT, "", words, n_words);
}
