/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'triadctl port ...': works on expected configurations, without an SM.
 *
 *     port check FILE [--fabric FILE] [--json]
 *     port snapshot --from FILE [--generation N]
 *
 * A fabric is a file with the output of ibnetdiscover.  Other 'port ...' commands, and
 * 'port snapshot' without --from, run in the plugin.
 *
 * Thread-safety: none. */
#ifndef TRIAD_CLI_PORT_COMMAND_H
#define TRIAD_CLI_PORT_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/parser.h"
#include "triad/diag.h"

/* As the rows of the table. */
enum triad_port_verb {
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
	const char *file;
};

extern const struct triad_verb_table triad_port_verbs;

/* Both the plugin and triadctl have 'port snapshot'.  Claims it for triadctl if the
 * words have --from, which the plugin lacks. */
void triad_port_claim_snapshot(struct triad_parser *parser);

/* Reads options and words behind the command's name.  Returns 0; or EINVAL, as
 * triad_parser_read_rest(). */
int triad_port_command_read(
	struct triad_parser *parser, struct triad_port_command *command);

/* Each returns an exit status of triadctl, having printed what is wrong. */
int triad_port_check(const struct triad_port_command *command);
int triad_port_snapshot(const struct triad_port_command *command);

/* Prints each entry of the list on standard error, with 'before' in front. */
void triad_port_print(const struct triad_diags *diags, const char *before);

/* Reads at most 'max' + 1 octets of a file.  Returns 0 and octets to be freed, or an
 * errno, having printed why. */
int triad_port_read_file(const char *path, size_t max, char **octets, size_t *size);

/* Reads the output of ibnetdiscover.  Returns 0 and a fabric with one reference; or an
 * errno, having printed why. */
int triad_port_read_fabric(const char *path, struct triad_fabric **fabric);

#endif
