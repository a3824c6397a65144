/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The words of commands that triadctl carries out itself, on files: no SM is asked, so
 * the plugin and OpenSM's console don't know them.  Each family, as 'profile ...', has
 * a table of the same kind as the plugin's; help lists them behind those.
 *
 * Thread-safety: functions without state.  Memory: results point into the words. */
#ifndef TRIAD_CLI_LOCAL_COMMAND_H
#define TRIAD_CLI_LOCAL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "command/command_table.h"

struct triad_local_family {
	const char *word; /* the first of each command's two */
	bool is_shared;   /* the plugin has commands that begin so, too */
	struct triad_verb_table table;
};

/* What is no option. */
struct triad_local_operands {
	int row; /* of the table; -1: help on 'topic' is asked for */
	char topic[64];
	const char **files; /* room for the verb's 'n_arguments_max' */
	unsigned n_files;
};

/* Whether the words are a command of the family, or ask for help on one; of a shared
 * family also what looks like a slip for one. */
bool triad_local_is_meant(
	const struct triad_local_family *family, int n_words, const char *const *words);

/* Parses words that are meant so.  Options are put into 'command', at their offsets;
 * the caller has set their defaults, and 'operands->files'.  Returns 0; or EINVAL with
 * a sentence in 'message'. */
int triad_local_parse(const struct triad_local_family *family, int n_words,
	const char *const *words, void *command, struct triad_local_operands *operands,
	char *message, size_t size);

#endif
