/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands as resources of HTTP: a path and a query that become the words of a command.
 *
 *     /api/v1/perf/top?by=PortXmitData&limit=20&at=2h
 *     /api/v1/perf/history/leaf-01:3/PortXmitData?since=1d
 *
 * Model: the path's segments are the command's name and its arguments; parameters of the
 * query are its options, without dashes.  A flag has no value, or true or false.  The
 * words go through the same parser as those that are typed, which has the last word.
 *
 * There are commands alone that read and have JSON.  Those that change something are not
 * there at all; nor are arguments of which the table says that they change something.
 * Options that say how an answer is laid out are triadctl's, and missing as well.
 *
 * 'limit' and 'offset' ask for a page: so many rows of each list of the answer, from that
 * row on (lib/json_page.h).  A command that has -n is asked for one row more than the
 * page's end, so that it is known whether there is another page.
 *
 * Thread-safety: functions without state.  Memory: no allocation. */
#ifndef TRIAD_COMMAND_RESOURCE_H
#define TRIAD_COMMAND_RESOURCE_H

#include "command/command_table.h"
#include "triad/control.h"

#define TRIAD_RESOURCE_ROOT "/api/v1/"
#define TRIAD_RESOURCE_SIZE 8192 /* octets of all words */
#define TRIAD_RESOURCE_MAX_WORDS TRIAD_CONTROL_MAX_WORDS
#define TRIAD_RESOURCE_MAX_LIMIT 10000
#define TRIAD_RESOURCE_MAX_OFFSET 1000000

struct triad_resource {
	const struct triad_verb *verb;
	unsigned limit, offset; /* of a page; limit 0: all */
	unsigned n_asked;       /* rows that the command is asked for at most; 0: all */
	bool waits;             /* the command does, for a disk or for switches */
	int n_words;
	const char *words[TRIAD_RESOURCE_MAX_WORDS]; /* in 'room' */
	size_t used;
	char room[TRIAD_RESOURCE_SIZE];
};

/* Whether a command is a resource. */
bool triad_resource_has(const struct triad_verb *verb);
/* How many arguments it takes as one. */
int triad_resource_n_arguments(const struct triad_verb *verb);
/* The name of an option's parameter, if the command has it as a resource; NULL: not. */
const char *triad_resource_parameter(const struct triad_verb *verb, unsigned option);

/* Reads 'target', a path and perhaps a query, still escaped.  Returns 0; ENOENT (no such
 * resource), EINVAL (a parameter) or E2BIG, with a sentence in 'message' that shows
 * nothing but printable characters. */
int triad_resource_read(const char *target, struct triad_resource *resource,
	char *message, size_t size);

/* Writes 'target' with another page into 'text', fit for a header's value.  False when it
 * has no room there. */
bool triad_resource_turn_page(
	const char *target, unsigned limit, unsigned offset, char *text, size_t size);

#endif
