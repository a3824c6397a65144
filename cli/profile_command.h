/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'triadctl profile ...': commands that triadctl runs itself, on files.  The plugin and
 * OpenSM's console don't have them; help lists them after the plugin's, from a table of
 * the same kind.
 *
 *     profile merge  FILE... [-o OUT] [--csv]
 *     profile report FILE... [-n N] [--json] [--svg OUT]
 *
 * Thread-safety: none. */
#ifndef TRIAD_CLI_PROFILE_COMMAND_H
#define TRIAD_CLI_PROFILE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "command/parser.h"

#define TRIAD_PROFILE_MAX_FILES 1024

/* As the rows of the table. */
enum triad_profile_verb {
	TRIAD_PROFILE_MERGE,
	TRIAD_PROFILE_REPORT,
};

struct triad_profile_command {
	unsigned verb; /* enum triad_profile_verb */
	bool csv, json;
	const char *out; /* NULL: standard output */
	const char *svg; /* NULL: none */
	unsigned limit;
	unsigned n_files;
	const char *files[TRIAD_PROFILE_MAX_FILES];
};

extern const struct triad_verb_table triad_profile_verbs;

/* Reads options and words behind the command's name.  Returns 0; or EINVAL, as
 * triad_parser_read_rest(). */
int triad_profile_command_read(
	struct triad_parser *parser, struct triad_profile_command *command);

/* Both return an exit status of triadctl, having printed what went wrong. */
int triad_profile_merge(const struct triad_profile_command *command);
int triad_profile_report(const struct triad_profile_command *command);

#endif
