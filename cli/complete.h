/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Completion of triadctl's command lines in shells.
 *
 *     completion bash|zsh|fish    prints the shell's script (contrib/completion)
 *     complete -- WORD...         what the last word can become; not in help, as only
 *                                 those scripts type it
 *
 * Model: the script hands over the words as far as they are typed, the last one perhaps
 * empty.  An answer is a line for each candidate, with a tab and an explanation behind
 * some; the line ":files" means the names of files.  All of them are from the tables of
 * commands, options, counters and keys; names and GUIDs of nodes from the plugin.  Where
 * something is not known, nothing is printed: a completion has no place for messages.
 *
 * Thread-safety: one thread. */
#ifndef TRIAD_CLI_COMPLETE_H
#define TRIAD_CLI_COMPLETE_H

#include <getopt.h>

#include "command/parser.h"

struct triad_verb_table triad_completion_verbs(void);

/* Runs 'completion'.  Returns 0, or EINVAL with the parser's message. */
int triad_completion_print(struct triad_parser *parser);

/* The words of --color, as enum triad_screen_color; NULL-terminated. */
extern const char *const triad_color_words[];

struct triad_complete {
	const struct triad_verb_table *tables;
	size_t n_tables;
	const struct option *options; /* before the command; the last has no name */
	/* The socket to ask for nodes, by the options before the command: 'argv' as for
	 * main().  False without one. */
	bool (*find_socket)(int argc, char **argv, char *path, size_t size);
};

/* Prints what the last of the words can become; 'words' ends with NULL. */
void triad_complete(const struct triad_complete *complete, int n_words, char **words);

#endif
