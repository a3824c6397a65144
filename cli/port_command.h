/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'triadctl port ...': expected configurations without an SM.
 *
 *     port check FILE [--fabric FILE] [--json]
 *     port snapshot --from FILE [--generation N]
 *
 * A fabric is a file with what ibnetdiscover printed.  Other commands that begin so are
 * the plugin's, and so is 'port snapshot' without --from.
 *
 * Thread-safety: none. */
#ifndef TRIAD_CLI_PORT_COMMAND_H
#define TRIAD_CLI_PORT_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/command_table.h"
#include "triad/diag.h"

enum triad_port_verb {
	TRIAD_PORT_HELP, /* on 'topic' */
	TRIAD_PORT_CHECK,
	TRIAD_PORT_SNAPSHOT,
};

struct triad_fabric;

struct triad_port_command {
	unsigned verb; /* enum triad_port_verb */
	bool json;
	const char *fabric;          /* NULL: none */
	const char *from;            /* of a snapshot */
	const char *generation_text; /* NULL: 1 */
	uint64_t generation;
	char topic[64];
	const char *file;
};

struct triad_verb_table triad_port_verbs(void);

/* Whether the words are one of these commands, or ask for help on one. */
bool triad_port_is_meant(int n_words, const char *const *words);

/* Parses words that are meant so.  Returns 0; or EINVAL with a sentence in 'message'.
 * The result points into the words. */
int triad_port_command_parse(int n_words, const char *const *words,
	struct triad_port_command *command, char *message, size_t size);

/* Each returns an exit status of triadctl, having told what is wrong. */
int triad_port_check(const struct triad_port_command *command);
int triad_port_snapshot(const struct triad_port_command *command);

/* Tells what is in the list on standard error, each behind 'before'. */
void triad_port_print(const struct triad_diags *diags, const char *before);

/* Reads a file, or as much of it as 'max' octets and one more.  Returns 0 and octets to
 * be freed; or an errno, told. */
int triad_port_read_file(const char *path, size_t max, char **octets, size_t *size);

/* Reads what ibnetdiscover printed.  Returns 0 and a fabric with one reference; or an
 * errno, told. */
int triad_port_read_fabric(const char *path, struct triad_fabric **fabric);

/* What was printed may still be in a buffer; returns an exit status. */
int triad_port_finish_output(void);

#endif
