/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'triadctl setup', which the script cli/setup does: its table is for help and
 * completion.
 *
 * Thread-safety: none. */
#ifndef TRIAD_CLI_SETUP_COMMAND_H
#define TRIAD_CLI_SETUP_COMMAND_H

#include "command/command_table.h"

extern const struct triad_verb_table triad_setup_verbs;

/* Becomes the script, with these words, which end with NULL.  Returns only if that fails:
 * an exit status of triadctl, having printed why. */
int triad_setup_exec(const char *const *words, int n_words);

#endif
