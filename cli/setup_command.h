/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'triadctl setup': has OpenSM load Triad, or no longer.
 *
 *     setup [--dry-run] [--remove] [--restart] [--conf FILE] [--triad-conf FILE]
 *           [--timeout S] [--json]
 *
 * Model: everything is looked at first; each fact becomes a check that is well, a
 * warning or a problem.  With a problem nothing is changed.  Otherwise the lines of
 * opensm.conf are edited (cli/opensm_conf.h), and the file replaced as a whole.  OpenSM
 * is restarted only when told to; then Triad is asked until it answers, or OpenSM's log
 * says why it does not.
 *
 * Thread-safety: none. */
#ifndef TRIAD_CLI_SETUP_COMMAND_H
#define TRIAD_CLI_SETUP_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "command/parser.h"

struct triad_setup_command {
	bool dry_run, remove, restart, json;
	const char *conf;       /* NULL: that of OpenSM */
	const char *triad_conf; /* NULL: as it is */
	unsigned timeout_s;
};

struct triad_verb_table triad_setup_verbs(void);

/* Reads options and words behind the command's name.  Returns 0; or EINVAL, as
 * triad_parser_read_rest(). */
int triad_setup_command_read(
	struct triad_parser *parser, struct triad_setup_command *command);

enum triad_setup_answer {
	TRIAD_SETUP_SILENT, /* with the reason */
	TRIAD_SETUP_IDLE,   /* loaded, but it can't work */
	TRIAD_SETUP_WORKS,
};

/* Whether an answer from this process counts. */
typedef bool triad_setup_accepts(const void *context, int pid);

/* Asks the plugin for its status. */
struct triad_setup_asker {
	/* 'socket' is a control socket, or the folder of several, of which some may be
	 * left over from processes that ended.  The best answer is returned. */
	enum triad_setup_answer (*ask)(void *context, const char *socket,
		triad_setup_accepts *accepts, const void *accepts_context, char *reason,
		size_t size);
	void *context;
};

/* Returns an exit status of triadctl. */
int triad_setup(const struct triad_setup_command *command,
	const struct triad_setup_asker *asker);

#endif
