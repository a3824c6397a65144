/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of the reader of an expected configuration:
 *
 *     expected.c        lines, the generation, the columns' names, the cap of ports
 *     expected_row.c    a port's row from its fields, and the texts that it keeps
 *     expected_index.c  the row of a node's port, by hashing
 *     expected_pairs.c  rows about the two ends of one link
 *
 * Each of them adds mistakes and continues; only lack of memory ends the reading.
 *
 * Thread-safety: none.  Memory: the reader borrows the octets and the list of mistakes,
 * and owns the rest until it is done. */
#ifndef TRIAD_PORTMGR_EXPECTED_PARTS_H
#define TRIAD_PORTMGR_EXPECTED_PARTS_H

#include "lib/csv_line.h"
#include "portmgr/expected/expected.h"

enum triad_expected_column {
	TRIAD_COLUMN_NODE,
	TRIAD_COLUMN_PORT,
	TRIAD_COLUMN_STATE,
	TRIAD_COLUMN_REMOTE,
	TRIAD_COLUMN_WIDTH,
	TRIAD_COLUMN_SPEED,
	TRIAD_COLUMN_CHECK,
	TRIAD_COLUMN_COMMENT,
	TRIAD_N_COLUMNS
};

/* The value of a field with a mistake: later checks skip it. */
#define TRIAD_EXPECTED_BROKEN UINT8_MAX

/* Elements of an array that grows, at first. */
#define TRIAD_EXPECTED_FIRST_ROOM 64

struct triad_expected_reader {
	struct triad_diags *diags;
	struct triad_expected *expected;
	size_t ports_room, text_room;
	uint32_t *slots; /* of the index: a row number plus 1; 0: free */
	size_t n_slots;
	uint32_t generation_line; /* 0: not yet */
	uint32_t names_line;      /* with the names of the columns; 0: not yet */
	int error;
};

/* Reads a port's row.  False: the row does not identify a port. */
bool triad_expected_row_read(struct triad_expected_reader *reader,
	const struct triad_csv_line *line, struct triad_expected_port *row);

/* Stores a text; returns its offset, 0 for "" and when memory is short. */
uint32_t triad_expected_keep(struct triad_expected_reader *reader, const char *text);

/* The row of a node's port, by GUID or, where that is 0, by name; UINT32_MAX: none. */
uint32_t triad_expected_index_find(const struct triad_expected_reader *reader,
	uint64_t node_guid, const char *node_name, uint8_t port);
/* Adds row 'at', which must not be in the index yet.  Returns 0 or ENOMEM. */
int triad_expected_index_add(struct triad_expected_reader *reader, uint32_t at);

/* A row's port, and what is known of its node; 0 and NULL: not known. */
struct triad_expected_end {
	const struct triad_expected_port *row;
	uint64_t node_guid, port_guid;
	const char *name;
	uint32_t vendor_id;
};

/* Whether the row of 'near', whose remote names the port of 'far', contradicts the row
 * of 'far'; 'why' then gets a sentence. */
bool triad_expected_ends_contradict(const struct triad_expected *expected,
	const struct triad_expected_end *near, const struct triad_expected_end *far,
	char *why, size_t size);

/* Checks rows against each other, by the names and GUIDs in them, without a fabric. */
void triad_expected_pairs_check(const struct triad_expected_reader *reader);

/* Whether a pattern matches only itself: it has no '*' and no '?'. */
bool triad_expected_is_plain(const char *pattern);

#endif
