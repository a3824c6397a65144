/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends a command to the plugin or an agent, once or periodically, and shows the
 * answers: text as it comes, tables fitted to the terminal (cli/table.h).
 *
 * Thread-safety: one thread.  Errors go to standard error. */
#ifndef TRIAD_CLI_ASK_H
#define TRIAD_CLI_ASK_H

#include "cli/screen.h"
#include "triad/command.h"

struct triad_ask {
	const char *path; /* of the control socket */
	bool is_agent;
	unsigned timeout_s;
	enum triad_screen_color color;
	int no_answer; /* the exit status when there is no answer */
};

/* 'words' are the typed words of 'command'.  Returns an exit status of triadctl. */
int triad_ask(const struct triad_ask *ask, const struct triad_command *command,
	int n_words, char **words);

#endif
