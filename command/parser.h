/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The words of a command line, read by tables of commands (command_table.h): the
 * plugin's table, and in triadctl those of its own commands, too.
 *
 * Model: triad_parser_read_verb() takes the words of the command's name, or finds that
 * help is asked for: "help perf show", "perf show --help".  The caller then knows whose
 * command it is, and which struct its options fill; triad_parser_read_rest() reads the
 * options into that and returns the other words.  Behind "--" there are no options.
 *
 * Thread-safety: one thread.  Memory: results point into the words. */
#ifndef TRIAD_COMMAND_PARSER_H
#define TRIAD_COMMAND_PARSER_H

#include "command/command_table.h"
#include "ib/node_choice.h"

/* To begin with, what is not commented is 0. */
struct triad_parser {
	const struct triad_verb_table
		*tables; /* a command is looked for in this order */
	size_t n_tables;
	const char *const *words; /* those not read yet; given */
	int n_words;
	char *message; /* what is wrong, 'size' octets; given */
	size_t size;

	const struct triad_verb_table *table; /* that of 'verb' */
	const struct triad_verb *verb;        /* NULL: help on 'topic' is asked for */
	char topic[TRIAD_COMMAND_TOPIC_SIZE]; /* "": all commands */
};

/* Each of these returns 0; or EINVAL with a sentence in 'message' that says which word
 * is wrong, why, and what is allowed. */

int triad_parser_read_verb(struct triad_parser *parser);

/* Options go to their offsets in 'command'; '*n' other words to 'arguments', which has
 * room for as many as the verb takes. */
int triad_parser_read_rest(struct triad_parser *parser, void *command,
	const char **arguments, unsigned *n);

/* The same for a command of the plugin's table, with what else it requires. */
int triad_command_read(struct triad_parser *parser, struct triad_command *command);

/* Always EINVAL. */
int triad_parser_complain(struct triad_parser *parser, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Copies a word into 'size' octets; 'what' it is, for the sentence. */
int triad_parser_copy(struct triad_parser *parser, const char *what, char *to,
	size_t size, const char *word);

/* A node or a port, for ib/node_choice.h to find; 'what' it is, for the sentence. */
int triad_parser_read_node(struct triad_parser *parser, const char *what,
	const char *word, char node[TRIAD_NODE_TEXT_SIZE]);

/* The name of a counter; 'what' stands before it in the sentence: "--by ", or "". */
int triad_parser_read_counter(struct triad_parser *parser, const char *what,
	const char *word, unsigned *counter);

#endif
