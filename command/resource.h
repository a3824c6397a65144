/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands as HTTP resources: translates a path and a query into the words of a
 * command.
 *
 *     /api/v1/perf/top?by=PortXmitData&limit=20&at=2h
 *     /api/v1/perf/history/leaf-01:3/PortXmitData?since=1d
 *
 * Model: the path's segments are the command's name and its arguments; parameters of
 * the query are its options, without dashes.  A flag has no value, or true or false.
 * The parser of typed words (parser.h) then checks the words.
 *
 * Only commands that read and that write JSON are resources.  Commands that change
 * something are not, nor are arguments that the table marks as changing something, nor
 * options of triadctl's layout.
 *
 * 'limit' and 'offset' ask for a page: 'limit' rows of each list of the answer, from
 * row 'offset' on (lib/json_page.h).  A command that has -n is asked for one row beyond
 * the page's end, which shows whether there is another page.
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
	bool waits;             /* the command waits for a disk or for switches */
	int n_words;
	const char *words[TRIAD_RESOURCE_MAX_WORDS]; /* in 'room' */
	size_t used;
	char room[TRIAD_RESOURCE_SIZE];
};

/* Whether a command is a resource. */
bool triad_resource_has(const struct triad_verb *verb);
/* How many arguments it takes as a resource. */
int triad_resource_n_arguments(const struct triad_verb *verb);
/* The name of an option's parameter; NULL: the resource lacks that option. */
const char *triad_resource_parameter(const struct triad_verb *verb, unsigned option);

/* Reads 'target', a path and perhaps a query, still escaped.  Returns 0; ENOENT (no
 * such resource), EINVAL (a bad parameter) or E2BIG, with a sentence of printable
 * characters in 'message'. */
int triad_resource_read(const char *target, struct triad_resource *resource,
	char *message, size_t size);

/* Writes 'target' for another page into 'text', fit for a header's value.  False when
 * there is no room for it. */
bool triad_resource_turn_page(
	const char *target, unsigned limit, unsigned offset, char *text, size_t size);

#endif
