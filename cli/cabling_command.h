/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'triadctl cabling ...': compares a cabling plan with the fabric.
 *
 *     cabling check PLAN [--fabric FILE] [--json|--csv|--html|--watch [--interval S]]
 *
 * The fabric is that of a running SM, by 'ports' and 'cables'; or a file with the output of
 * ibnetdiscover.  All is compared in triadctl, not in the SM's process.
 *
 * Thread-safety: none. */
#ifndef TRIAD_CLI_CABLING_COMMAND_H
#define TRIAD_CLI_CABLING_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cabling/compare.h"
#include "cli/screen.h"
#include "command/parser.h"

struct triad_cabling_command {
	bool json, csv, html, watch;
	unsigned interval_s; /* of a watch */
	const char *fabric;  /* NULL: that of the SM */
	const char *plan;
};

extern const struct triad_verb_table triad_cabling_verbs;

/* Reads options and words behind the command's name.  Returns 0; or EINVAL, as
 * triad_parser_read_rest(). */
int triad_cabling_command_read(
	struct triad_parser *parser, struct triad_cabling_command *command);

/* Where the SM is asked. */
struct triad_cabling_asker {
	const char *path; /* of the control socket */
	unsigned timeout_s;
	bool is_agent;
	enum triad_screen_color color; /* of a watch */
};

/* Returns an exit status of triadctl: TRIAD_CONTROL_DONE, as planned; TRIAD_CONTROL_FAILED,
 * it differs; TRIAD_CONTROL_UNKNOWN, something is not known, or a file can't be read.
 * 'asker' may be NULL where the command names a file. */
int triad_cabling_check(const struct triad_cabling_command *command,
	const struct triad_cabling_asker *asker);

/* Reads the fabric of the SM, and, if it knows them, its cables: an entry for each port of
 * the fabric.  Returns 0, a fabric with one reference and an array to be freed; or an
 * errno, having printed why. */
int triad_cabling_ask(const struct triad_cabling_asker *asker,
	struct triad_fabric **fabric, struct triad_cabling_cable **cables);

#endif
