/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/what_if_command.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/script.h"
#include "triad/severity.h"

#define BIT(option) (1u << OPTION_##option)

enum {
	OPTION_REMOVE_LINK,
	OPTION_REMOVE_SWITCH,
	OPTION_REMOVE,
	OPTION_ADD,
	OPTION_ROUTING_ENGINE,
	OPTION_PARTITIONS,
	OPTION_POLICY,
	OPTION_UPGRADE_ORDER,
	OPTION_KEEP,
	OPTION_CHECK,
	OPTION_BUNDLE,
	OPTION_NET,
	OPTION_OPENSM_CONF,
	OPTION_SM,
	OPTION_JSON,
	N_OPTIONS,
};

/* The script parses them, so they have no place in memory. */
static const struct triad_option options[N_OPTIONS] = {
	[OPTION_REMOVE_LINK] = {"--remove-link", "NODE:PORT", TRIAD_OPTION_KIND_NAME,
		.help = "without this link; this and the next three may be given "
			"several times"},
	[OPTION_REMOVE_SWITCH] = {"--remove-switch", "NODE", TRIAD_OPTION_KIND_NODE,
		.help = "without this switch"},
	[OPTION_REMOVE] = {"--remove", "NAMES", TRIAD_OPTION_KIND_NODE,
		.help = "without the nodes whose names begin so, as those of a rack, or "
			"match a pattern with * and ?"},
	[OPTION_ADD] = {"--add", "PLAN", TRIAD_OPTION_KIND_PATH,
		.help = "with the cables of this plan, and nodes that are new there; its "
			"form is one of those of 'cabling check'"},
	[OPTION_ROUTING_ENGINE] = {"--routing-engine", "ENGINES",
		TRIAD_OPTION_KIND_NAME,
		.help = "with these, as opensm.conf names them"},
	[OPTION_PARTITIONS] = {"--partitions", "FILE", TRIAD_OPTION_KIND_PATH,
		.help = "with this partitions.conf"},
	[OPTION_POLICY] = {"--policy", "FILE", TRIAD_OPTION_KIND_PATH,
		.help = "with this QoS policy"},
	[OPTION_UPGRADE_ORDER] = {"--upgrade-order", NULL, TRIAD_OPTION_KIND_FLAG,
		.help = "which switches can be restarted together, and in which order, "
			"so that no pair of hosts that has another way is lost; "
			"switches may follow [all]"},
	[OPTION_KEEP] = {"--keep", "FRACTION", TRIAD_OPTION_KIND_NAME,
		.help = "with --upgrade-order: this part of the links between two "
			"levels stays [0.5]"},
	[OPTION_CHECK] = {"--check", "N", TRIAD_OPTION_KIND_NUMBER,
		.help = "with --upgrade-order: have OpenSM compute the N largest steps "
			"[8]"},
	[OPTION_BUNDLE] = {"--bundle", "FILE", TRIAD_OPTION_KIND_PATH,
		.help = "of the fabric in this bundle, not of the one here"},
	[OPTION_NET] = {"--net", "FILE", TRIAD_OPTION_KIND_PATH,
		.help = "of the fabric in this file of ibnetdiscover's or ibdiagnet's"},
	[OPTION_OPENSM_CONF] = {"--opensm-conf", "FILE", TRIAD_OPTION_KIND_PATH,
		.help = "OpenSM's configuration [the one that the SM was started with, "
			"or the bundle's]"},
	[OPTION_SM] = {"--sm", "NODE", TRIAD_OPTION_KIND_NODE,
		.help = "the SM is here [where it is]"},
	[OPTION_JSON] = {"--json", NULL, TRIAD_OPTION_KIND_FLAG,
		.help = "JSON instead of text"},
};

static const struct triad_verb verbs[] = {
	{.name = "what-if",
		.group = TRIAD_VERB_DIAGNOSE,
		.options = BIT(REMOVE_LINK) | BIT(REMOVE_SWITCH) | BIT(REMOVE) |
			BIT(ADD) | BIT(ROUTING_ENGINE) | BIT(PARTITIONS) | BIT(POLICY) |
			BIT(UPGRADE_ORDER) | BIT(KEEP) | BIT(CHECK) | BIT(BUNDLE) |
			BIT(NET) | BIT(OPENSM_CONF) | BIT(SM) | BIT(JSON),
		.help = "Computes what OpenSM would do if the fabric were changed, on a "
			"copy; the fabric and its SM are only read.  Exits with 0 "
			"(nothing is lost), 1 (hosts or pairs are, or there are more "
			"loops), 2 (usage) or 3 (it can't be computed, or not all of "
			"it)."},
};

const struct triad_verb_table triad_what_if_verbs =
	TRIAD_VERB_TABLE(verbs, options, N_OPTIONS);

int triad_what_if_exec(const char *socket, const char *const *words, int n_words)
{
	const char **all = calloc((size_t)n_words + 1, sizeof(*all));

	if (!all || (socket && setenv("TRIAD_SOCKET", socket, true))) {
		fprintf(stderr, "triadctl: what-if: %s\n", strerror(ENOMEM));
	} else {
		all[0] = "what-if";
		memcpy(all + 1, words, (size_t)n_words * sizeof(*all));
		(void)triad_script_exec("what-if", "TRIAD_LAB_PROGRAM",
			TRIAD_BINDIR "/triad-lab", ": install the package triad-lab",
			all, n_words + 1);
	}
	free(all);
	return TRIAD_UNKNOWN;
}
