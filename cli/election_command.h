/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'triadctl election check': runs a command periodically, and reports to the plugin
 * whether it succeeded.
 *
 *     election check [--every S] [--timeout S] -- COMMAND [ARG...]
 *
 * It is a process of its own so that OpenSM never forks, and that a check that hangs,
 * crashes or eats memory does not harm OpenSM.  Exit status 0 is yes; any other, a
 * signal, a command that can't be run and a time-out are no.  A verdict that is not
 * repeated expires in the plugin (election.check_max_age), so this command reports
 * nothing when it ends.
 *
 * Thread-safety: none; signals of the process are blocked. */
#ifndef TRIAD_CLI_ELECTION_COMMAND_H
#define TRIAD_CLI_ELECTION_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "command/parser.h"

#define TRIAD_ELECTION_MAX_WORDS 256

struct triad_election_command {
	unsigned every_s, timeout_s;
	const char *words[TRIAD_ELECTION_MAX_WORDS + 1]; /* the command; then NULL */
};

extern const struct triad_verb_table triad_election_verbs;

/* Reads options and words behind the command's name.  Returns 0; or EINVAL, as
 * triad_parser_read_rest(). */
int triad_election_command_read(
	struct triad_parser *parser, struct triad_election_command *command);

/* Reports a verdict to the plugin; false when that failed.  Prints errors only if
 * 'is_loud'. */
struct triad_election_reporter {
	bool (*report)(void *context, bool is_yes, bool is_loud);
	void *context;
};

/* Runs until SIGINT or SIGTERM.  Returns an exit status of triadctl. */
int triad_election_check(const struct triad_election_command *command,
	const struct triad_election_reporter *reporter);

#endif
