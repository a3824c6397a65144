/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables, laid out for standard output by libsmartcols.
 *
 * Model: the plugin sends columns and cells (triad/table.h).  Rows are collected, laid
 * out and written in pieces of PIECE_ROWS: a million rows would not fit into memory twice,
 * and the first should be seen before the last has come.  A column is at least as wide as
 * in the piece before, so that pieces line up unless a later one has a wider value.  Rows
 * that are to be sorted have to be kept until the table ends.
 *
 * On a terminal a table is as wide as that at most: columns with names and remarks are
 * cut first, then those that the plugin calls spare are left out, then others from the
 * right; numbers are never cut.  Elsewhere all is shown whole.
 *
 * Thread-safety: one thread.  Memory: a piece of rows; sorted, the whole table, up to
 * TRIAD_TABLES_MAX_ROWS. */
#ifndef TRIAD_CLI_TABLE_H
#define TRIAD_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/screen.h"
#include "triad/table.h"

#define TRIAD_TABLES_MAX_ROWS 4000000 /* that can be sorted */

struct triad_layout {
	/* Names or titles with commas between them; "": all.  A table that has none of
	 * them is shown whole. */
	const char *columns;
	/* One of them, with '-' in front of it or not; "": none.  A table without it stays
	 * in its own order. */
	const char *sort;
	bool no_headings;
	bool is_raw;      /* tabs between columns, values instead of texts */
	bool worst_first; /* rows in red, then yellow ones; if 'sort' is "" */
};

struct triad_tables;

/* NULL when memory is short.  'screen' and 'layout' are borrowed. */
struct triad_tables *triad_tables_new(
	struct triad_screen *screen, const struct triad_layout *layout);
void triad_tables_free(struct triad_tables *tables);

/* Where a struct triad_table_reader hands records.  Its functions return what
 * triad_tables_end() does. */
struct triad_table_sink triad_tables_sink(struct triad_tables *tables);

/* Text, another table or the answer's end comes: writes what is left of the table.
 * Returns 0; the errno of a write; or, with 'triad_tables_complaint()', ENOMEM or E2BIG
 * (too many rows to be sorted). */
int triad_tables_end(struct triad_tables *tables);

/* After the answer's end.  Returns 0; or EINVAL, with 'triad_tables_complaint()', for a
 * name in the layout that no table had. */
int triad_tables_check_names(struct triad_tables *tables);

/* What EINVAL, E2BIG and ENOMEM were about, a sentence. */
const char *triad_tables_complaint(const struct triad_tables *tables);

/* Of all tables until now. */
uint64_t triad_tables_n_rows(const struct triad_tables *tables);

#endif
