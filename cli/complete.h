/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Completion of triadctl's command lines in shells.
 *
 *     completion bash|zsh|fish    prints the shell's script (contrib/completion)
 *     complete -- WORD...         prints candidates for the last word; not in help,
 *                                 because only those scripts call it
 *
 * Model: the script passes the words as far as they are typed, the last one perhaps
 * empty.  The answer has a line for each candidate, some with a tab and an explanation;
 * the line ":files" stands for file names.  Candidates come from the tables of
 * commands, options, counters and keys; names and GUIDs of nodes from the plugin.  On
 * an error nothing is printed: a completion has no place for messages.
 *
 * Thread-safety: one thread. */
#ifndef TRIAD_CLI_COMPLETE_H
#define TRIAD_CLI_COMPLETE_H

#include <getopt.h>

#include "command/parser.h"

extern const struct triad_verb_table triad_completion_verbs;

/* Runs 'completion'.  Returns 0, or EINVAL with the parser's message. */
int triad_completion_print(struct triad_parser *parser);

/* The words of --color, as enum triad_screen_color; NULL-terminated. */
extern const char *const triad_color_words[];

struct triad_complete {
	const struct triad_verb_table *tables;
	size_t n_tables;
	const struct option *options; /* before the command; the last has no name */
	/* Finds the socket to ask for nodes, by the options before the command: 'argv'
	 * as in main().  False without a socket. */
	bool (*find_socket)(int argc, char **argv, char *path, size_t size);
};

/* Prints candidates for the last of the words; 'words' ends with NULL. */
void triad_complete(const struct triad_complete *complete, int n_words, char **words);

#endif
