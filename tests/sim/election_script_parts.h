/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the parts of the script language share; nobody else includes this.
 *
 *     election_script.c           files, lines, time
 *     election_script_commands.c  what is done to nodes, and what is expected of
 * them */
#ifndef TRIAD_TESTS_SIM_ELECTION_SCRIPT_PARTS_H
#define TRIAD_TESTS_SIM_ELECTION_SCRIPT_PARTS_H

#include <stdio.h>

#include "tests/sim/elections.h"

/* What a trace contains of a node; zeros: dead. */
struct look {
	enum triad_election_state state;
	uint32_t against;
	uint64_t master, term;
	uint8_t sm_priority;
	bool is_permitted;
};

struct script {
	FILE *trace;
	struct elections *elections; /* NULL: before 'nodes' */
	unsigned n_nodes, n_bare;
	uint64_t seed, last_seed;
	bool is_mistake; /* in the script itself: other seeds would fail, too */
	unsigned n_changes;
	struct look seen[ELECTIONS_MAX_NODES];
	char wrong[400];
};

/* Each returns true, or false with what is wrong in 'wrong'. */
bool script_fail(struct script *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
bool script_number(struct script *s, const char *word, uint64_t *number);
bool script_node(struct script *s, const char *word, unsigned *node);
bool script_live_node(struct script *s, const char *word, unsigned *node);
bool script_either(struct script *s, const char *word, const char *yes, const char *no,
	bool *is_yes);

double script_seconds(const struct script *s);
struct look script_look(struct script *s, unsigned node);

/* A command that takes no time. */
bool script_do(struct script *s, char **words, unsigned n_words);

#endif
