/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'triadctl setup': configures OpenSM to load Triad, or not to load it.
 *
 *     setup [--dry-run] [--remove] [--restart] [--conf FILE] [--triad-conf FILE]
 *           [--timeout S] [--json]
 *
 * Model: setup first examines everything; each fact becomes a check: well, a warning or
 * a problem.  After a problem it changes nothing.  Otherwise it edits lines of
 * opensm.conf (cli/opensm_conf.h), and replaces the file as a whole.  It restarts
 * OpenSM only with
 * --restart; then it asks Triad until Triad answers, or OpenSM's log shows why it does
 * not.
 *
 * Thread-safety: none. */
#ifndef TRIAD_CLI_SETUP_COMMAND_H
#define TRIAD_CLI_SETUP_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "command/parser.h"

struct triad_setup_command {
	bool dry_run, remove, restart, json;
	const char *conf;       /* opensm.conf; NULL: find it */
	const char *triad_conf; /* NULL: leave it as it is */
	unsigned timeout_s;
};

struct triad_verb_table triad_setup_verbs(void);

/* Reads options and words behind the command's name.  Returns 0; or EINVAL, as
 * triad_parser_read_rest(). */
int triad_setup_command_read(
	struct triad_parser *parser, struct triad_setup_command *command);

enum triad_setup_answer {
	TRIAD_SETUP_SILENT, /* no answer, with the reason */
	TRIAD_SETUP_IDLE,   /* it answers, but without success: it can't work */
	TRIAD_SETUP_WORKS,
};

/* Whether an answer from this process counts. */
typedef bool triad_setup_accepts(const void *context, int pid);

/* Asks the plugin for its status. */
struct triad_setup_asker {
	/* 'socket' is a control socket, or a folder of sockets, where some may be left
	 * over from processes that ended.  Returns the best answer. */
	enum triad_setup_answer (*ask)(void *context, const char *socket,
		triad_setup_accepts *accepts, const void *accepts_context, char *reason,
		size_t size);
	void *context;
};

/* Returns an exit status of triadctl. */
int triad_setup(const struct triad_setup_command *command,
	const struct triad_setup_asker *asker);

#endif
