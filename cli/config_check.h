/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'triadctl config check': whether a triad.conf can be used.
 *
 * Thread-safety: none. */
#ifndef TRIAD_CLI_CONFIG_CHECK_H
#define TRIAD_CLI_CONFIG_CHECK_H

#include "command/parser.h"

extern const struct triad_verb_table triad_config_verbs;

/* Reads the words behind the command's name; '*file' borrows one of them, NULL: none.
 * Returns 0; or EINVAL, as triad_parser_read_rest(). */
int triad_config_check_read(struct triad_parser *parser, const char **file);

/* Prints all mistakes of a file, with their lines, and keys that no longer do anything.
 * NULL: the file that Triad reads if OpenSM's configuration names no other.  Returns an
 * exit status of triadctl. */
int triad_config_check(const char *file);

#endif
