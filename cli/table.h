/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lays out tables for standard output, by libsmartcols.
 *
 * Model: the plugin sends columns and cells (triad/table.h).  Rows are collected, laid
 * out and written in pieces of PIECE_ROWS: a million rows would not fit into memory
 * twice, and users should see the first rows before the last have come.  A column is at
 * least as wide as in the piece before, so that pieces line up unless a later one has a
 * wider value.  Rows to be sorted are kept until the table ends.
 *
 * On a terminal a table is no wider than the terminal: table_fit.h cuts names and
 * remarks, and leaves out columns; numbers are never cut.  Elsewhere all is shown
 * whole.
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
	/* Columns to show: names or titles with commas between them; "": all.  A table
	 * that has none of them is shown whole. */
	const char *columns;
	/* The column to sort by, with '-' in front for the reverse order; "": none.  A
	 * table without that column stays in its own order. */
	const char *sort;
	bool no_headings;
	bool is_raw;      /* tabs between columns, values instead of texts */
	bool worst_first; /* red rows first, then yellow ones; if 'sort' is "" */
};

struct triad_tables;

/* NULL when memory is short.  'screen' and 'layout' are borrowed. */
struct triad_tables *triad_tables_new(
	struct triad_screen *screen, const struct triad_layout *layout);
void triad_tables_free(struct triad_tables *tables);

/* The sink for a struct triad_table_reader.  Its functions return the values of
 * triad_tables_end(). */
struct triad_table_sink triad_tables_sink(struct triad_tables *tables);

/* Writes the rest of the table, before text, another table or the answer's end.
 * Returns 0; the errno of a write; or, with 'triad_tables_complaint()', ENOMEM or E2BIG
 * (too many rows to be sorted). */
int triad_tables_end(struct triad_tables *tables);

/* After the answer's end.  Returns 0; or EINVAL, with 'triad_tables_complaint()', for a
 * name in the layout that no table had. */
int triad_tables_check_names(struct triad_tables *tables);

/* A sentence that explains EINVAL, E2BIG or ENOMEM. */
const char *triad_tables_complaint(const struct triad_tables *tables);

/* The rows of all tables so far. */
uint64_t triad_tables_n_rows(const struct triad_tables *tables);

#endif
