/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'triadctl bundle ...': one file with what somebody needs who can't log in.
 *
 *     bundle [--anonymous] [--since TIME|LENGTH] FILE
 *     bundle check FILE [--names FILE]
 *
 * The bundle is made in triadctl, with the rights of who types it, of the answers to commands
 * and of files: nothing new runs in the SM's process.
 *
 * Thread-safety: none. */
#ifndef TRIAD_CLI_BUNDLE_COMMAND_H
#define TRIAD_CLI_BUNDLE_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "command/parser.h"

enum triad_bundle_verb {
	TRIAD_BUNDLE_CHECK,
	TRIAD_BUNDLE_MAKE,
};

struct triad_bundle_command {
	enum triad_bundle_verb verb;
	bool anonymous;
	const char *since; /* as typed; NULL: a day */
	const char *names; /* a file of originals; NULL: those of the SM */
	const char *file;
	uint64_t since_us; /* wall clock */
};

extern const struct triad_verb_table triad_bundle_verbs;

/* Reads options and words behind the command's name.  Returns 0; or EINVAL, as
 * triad_parser_read_rest(). */
int triad_bundle_command_read(
	struct triad_parser *parser, struct triad_bundle_command *command);

/* Where the SM is asked. */
struct triad_bundle_asker {
	const char *path; /* of the control socket; "": there is none */
	unsigned timeout_s;
	bool is_agent;
};

/* Both return an exit status of triadctl.  Made: TRIAD_CONTROL_FAILED, something is missing
 * that should be there, or nothing was written.  Checked: TRIAD_CONTROL_FAILED, it is damaged or an
 * original is left; TRIAD_CONTROL_UNKNOWN, that is not known. */
int triad_bundle_make(const struct triad_bundle_command *command,
	const struct triad_bundle_asker *asker);
int triad_bundle_check(const struct triad_bundle_command *command,
	const struct triad_bundle_asker *asker);

#endif
