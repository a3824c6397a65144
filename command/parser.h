/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Parses the words of a command line by tables of commands (command_table.h): the
 * plugin's table, and in triadctl also those of its own commands.
 *
 * Model: triad_parser_read_verb() reads the words of the command's name, or a request
 * for help: "help perf show", "perf show --help".  The caller then knows the command's
 * table, and the struct that its options fill; triad_parser_read_rest() reads the
 * options into that struct and returns the other words.  Words behind "--" are not
 * options.
 *
 * Thread-safety: one thread.  Memory: results point into the words. */
#ifndef TRIAD_COMMAND_PARSER_H
#define TRIAD_COMMAND_PARSER_H

#include "command/command_table.h"
#include "ib/node_choice.h"

/* The caller sets the members up to 'size'; the others are 0 at first. */
struct triad_parser {
	const struct triad_verb_table *tables; /* searched in this order */
	size_t n_tables;
	const char *const *words; /* words that are not parsed yet */
	int n_words;
	char *message; /* room of 'size' octets for what is wrong */
	size_t size;

	const struct triad_verb_table *table; /* the table of 'verb' */
	const struct triad_verb *verb;        /* NULL: the user wants help on 'topic' */
	char topic[TRIAD_COMMAND_TOPIC_SIZE]; /* "": all commands */
};

/* Each of these returns 0; or EINVAL with a sentence in 'message': which word is wrong,
 * why, and what is allowed. */

int triad_parser_read_verb(struct triad_parser *parser);

/* Stores options at their offsets in 'command', and '*n' other words in 'arguments',
 * which has room for as many as the verb takes. */
int triad_parser_read_rest(struct triad_parser *parser, void *command,
	const char **arguments, unsigned *n);

/* The same for a command of the plugin's table; also checks its further rules. */
int triad_command_read(struct triad_parser *parser, struct triad_command *command);

/* Always EINVAL. */
int triad_parser_complain(struct triad_parser *parser, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Copies a word into 'size' octets; 'what' names it in the message. */
int triad_parser_copy(struct triad_parser *parser, const char *what, char *to,
	size_t size, const char *word);

/* Copies a node or a port, to be found by ib/node_choice.h; 'what' names it in the
 * message. */
int triad_parser_read_node(struct triad_parser *parser, const char *what,
	const char *word, char node[TRIAD_NODE_TEXT_SIZE]);

/* Parses the name of a counter; 'what' stands before it in the message: "--by ", or
 * "". */
int triad_parser_read_counter(struct triad_parser *parser, const char *what,
	const char *word, unsigned *counter);

#endif
