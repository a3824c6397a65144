/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'triadctl qos ...': what can be said of a QoS policy without an SM.
 *
 *     qos check FILE [--default-level NAME] [--json]
 *
 * Thread-safety: none. */
#ifndef TRIAD_CLI_QOS_COMMAND_H
#define TRIAD_CLI_QOS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "command/command_table.h"

enum triad_qos_verb {
	TRIAD_QOS_HELP, /* on 'topic' */
	TRIAD_QOS_CHECK,
};

struct triad_qos_command {
	unsigned verb; /* enum triad_qos_verb */
	bool json;
	const char *default_level; /* NULL: as the file says */
	char topic[64];
	const char *file;
};

struct triad_verb_table triad_qos_verbs(void);

/* Whether the words are one of these commands, or ask for help on one. */
bool triad_qos_is_meant(int n_words, const char *const *words);

/* Parses words that are meant so.  Returns 0; or EINVAL with a sentence in 'message'.
 * The result points into the words. */
int triad_qos_command_parse(int n_words, const char *const *words,
	struct triad_qos_command *command, char *message, size_t size);

/* Returns an exit status of triadctl, having told what is wrong with the policy, or
 * shown what it says. */
int triad_qos_check(const struct triad_qos_command *command);

#endif
