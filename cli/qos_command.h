/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'triadctl qos ...': checks a QoS policy without an SM.
 *
 *     qos check FILE [--default-level NAME] [--json]
 *
 * Thread-safety: none. */
#ifndef TRIAD_CLI_QOS_COMMAND_H
#define TRIAD_CLI_QOS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "command/parser.h"

struct triad_qos_command {
	bool json;
	const char *default_level; /* NULL: as the file says */
	const char *file;
};

extern const struct triad_verb_table triad_qos_verbs;

/* Reads options and words behind the command's name.  Returns 0; or EINVAL, as
 * triad_parser_read_rest(). */
int triad_qos_command_read(
	struct triad_parser *parser, struct triad_qos_command *command);

/* Returns an exit status of triadctl, having printed what is wrong with the policy, or
 * shown its content. */
int triad_qos_check(const struct triad_qos_command *command);

#endif
