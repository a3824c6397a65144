/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The struct that the files of table.h share: table.c collects rows, table_order.c
 * chooses columns and sorts, table_write.c writes. */
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
	/* The sort key: */
	const char *text;
	long double number;
	bool is_number;
	uint32_t place; /* original position: equal rows stay in that order */
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
	bool has_failed; /* further rows are refused */
	uint64_t n_rows; /* of all tables */
	/* Of all tables: which names of --columns and --sort exist, and which names
	 * they could have used. */
	uint64_t found_columns; /* a bit for each word of --columns */
	bool has_found_sort;
	char offered[1024];
	char complaint[1280];
};

/* --- table_order.c ----------------------------------------------------- */

/* Chooses, for a new table, the columns to show and the one to sort by. */
void tables_choose(struct triad_tables *tables);

/* Whether the table is sorted: then all rows must have come before the first is
 * written. */
bool tables_is_sorted(const struct triad_tables *tables);
/* Computes a row's sort key once, because rows are compared often. */
void tables_set_key(const struct triad_tables *tables, struct tables_row *row);
void tables_sort_rows(struct triad_tables *tables);

/* --- table_write.c ----------------------------------------------------- */

/* Writes a piece of the table, with the headings before the first.  Returns 0 or an
 * errno. */
int tables_write_rows(
	struct triad_tables *tables, const struct tables_row *rows, size_t n);
/* Writes which columns have no room, unless headings are off. */
int tables_write_left_out(struct triad_tables *tables);

#endif
