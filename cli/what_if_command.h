/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'triadctl what-if', which 'triad-lab what-if' does: its table is for help and
 * completion.
 *
 * Thread-safety: none. */
#ifndef TRIAD_CLI_WHAT_IF_COMMAND_H
#define TRIAD_CLI_WHAT_IF_COMMAND_H

#include "command/command_table.h"

extern const struct triad_verb_table triad_what_if_verbs;

/* Becomes triad-lab, which asks the SM behind the control socket 'socket' (NULL: the
 * one that triadctl finds).  Returns TRIAD_UNKNOWN if that
 * fails, having printed why: 1 would be an answer. */
int triad_what_if_exec(const char *socket, const char *const *words, int n_words);

#endif
