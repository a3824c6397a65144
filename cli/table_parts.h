/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the parts of 'struct triad_tables' share: table.c, which collects rows, table_order.c,
 * which chooses columns and sorts, and table_write.c. */
#ifndef TRIAD_CLI_TABLE_PARTS_H
#define TRIAD_CLI_TABLE_PARTS_H

#include "cli/table.h"
#include "cli/table_fit.h"

struct tables_column {
	uint8_t flags;
	char *name, *title;
};

struct tables_row {
	uint8_t *rest; /* of its record: triad_table_row_read() */
	size_t size;
	char *notes; /* lines, each with its end; NULL: none */
	/* What it is sorted by: */
	const char *text;
	long double number;
	bool is_number;
	uint32_t place; /* in which it came: equal ones stay in that order */
};

struct triad_tables {
	struct triad_screen *screen;
	const struct triad_layout *layout;
	/* Of the present table; 'n_columns' is 0 without one. */
	char *indent;
	unsigned n_columns;
	struct tables_column columns[TRIAD_TABLE_MAX_COLUMNS];
	struct triad_table_fit fit; /* which of these are shown, how wide */
	int sort;                   /* a column's index; -1: none */
	struct tables_row *rows;
	size_t n, room;
	bool has_begun;  /* a piece has been written */
	bool has_failed; /* nothing more is taken */
	uint64_t n_rows; /* of all tables */
	/* Of all tables: what --columns and --sort named and there was, and what else they
	 * could have named. */
	uint64_t found_columns; /* a bit for each word of --columns */
	bool has_found_sort;
	char offered[1024];
	char complaint[1280];
};

/* --- table_order.c ----------------------------------------------------- */

/* For a table that begins: which columns are shown and which one it is sorted by. */
void tables_choose(struct triad_tables *tables);

/* Whether all rows must be there before the first is written. */
bool tables_is_sorted(const struct triad_tables *tables);
/* What a row is sorted by, found once: rows are compared often. */
void tables_set_key(const struct triad_tables *tables, struct tables_row *row);
void tables_sort_rows(struct triad_tables *tables);

/* --- table_write.c ----------------------------------------------------- */

/* A piece of the table; the first one has its headings.  Returns 0 or an errno. */
int tables_write_rows(
	struct triad_tables *tables, const struct tables_row *rows, size_t n);
/* Says which columns are not shown; to people alone. */
int tables_write_left_out(struct triad_tables *tables);

#endif
