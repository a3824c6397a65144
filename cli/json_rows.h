/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads a list that Triad wrote as JSON, piece by piece: an array of objects, the rows.
 *
 * Model: calls 'member' with each member of a row that is a string, a number, true, false or
 * null, and 'end' after each row.  Members of a row that are arrays or objects are skipped.
 * It does not check the JSON: of a malformed one it may find wrong values, or none.
 *
 * Thread-safety: none.  Memory: a name and a value; no allocation, however long the list. */
#ifndef TRIAD_CLI_JSON_ROWS_H
#define TRIAD_CLI_JSON_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#define TRIAD_JSON_ROWS_SIZE 256 /* longer names and values are skipped */

/* The caller sets the first four members; the others are 0 at first. */
struct triad_json_rows {
	/* 'value' is without quotes; NULL for null. */
	void (*member)(void *context, const char *name, const char *value);
	void (*end)(void *context); /* NULL: nothing is called */
	void *context;
	/* Of any JSON: calls 'member' also with those of objects within others, and with the
	 * strings of an array, by the array's name. */
	bool at_any_depth;

	unsigned depth; /* open brackets: 2 in a row */
	bool is_in_string, is_escaped, is_too_long;
	bool is_value;  /* a name and its colon have come */
	bool is_string; /* 'text' was in quotes; while 'member' runs, its value was */
	unsigned n_hex; /* digits to come of \uXXXX */
	unsigned code;
	size_t size;
	char name[TRIAD_JSON_ROWS_SIZE], text[TRIAD_JSON_ROWS_SIZE];
};

void triad_json_rows_take(struct triad_json_rows *rows, const char *json, size_t size);

#endif
