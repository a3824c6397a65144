/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/local_time.h"
#include "cli/table_parts.h"
#include "lib/grow.h"

#define PIECE_ROWS 4096

/* --- rows -------------------------------------------------------------- */

static void clear_rows(struct triad_tables *tables)
{
	for (size_t i = 0; i < tables->n; i++) {
		free(tables->rows[i].rest);
		free(tables->rows[i].notes);
	}
	tables->n = 0;
}

/* Sorts, if needed, writes and frees the rows collected so far. */
static int flush_rows(struct triad_tables *tables)
{
	int error = 0;
	size_t at = 0;

	tables_sort_rows(tables);
	do {
		size_t n = tables->n - at < PIECE_ROWS ? tables->n - at : PIECE_ROWS;

		error = tables_write_rows(tables, tables->rows + at, n);
		at += n;
	} while (at < tables->n && !error);
	clear_rows(tables);
	return error;
}

static int note_table_error(struct triad_tables *tables, int error)
{
	tables->has_failed = true;
	if (error == ENOMEM)
		snprintf(tables->complaint, sizeof(tables->complaint),
			"not enough memory for the table");
	else if (error == E2BIG)
		snprintf(tables->complaint, sizeof(tables->complaint),
			"more than %d rows can't be sorted: choose some by the "
			"command's options",
			TRIAD_TABLES_MAX_ROWS);
	return error;
}

static void clear_table(struct triad_tables *tables)
{
	clear_rows(tables);
	for (unsigned i = 0; i < tables->n_columns; i++) {
		free(tables->columns[i].name);
		free(tables->columns[i].title);
	}
	tables->n_columns = 0;
	free(tables->indent);
	tables->indent = NULL;
}

static bool copy_columns(struct triad_tables *tables, const char *indent, unsigned n,
	const struct triad_table_column *columns)
{
	bool is_copied;

	tables->indent = strdup(indent);
	is_copied = tables->indent;
	tables->n_columns = n;
	for (unsigned i = 0; i < n; i++) {
		tables->columns[i] = (struct tables_column){.flags = columns[i].flags,
			.name = strdup(columns[i].name),
			.title = strdup(columns[i].title)};
		is_copied &= tables->columns[i].name && tables->columns[i].title;
	}
	return is_copied;
}

static int begin_table(void *context, const char *indent, unsigned n_columns,
	const struct triad_table_column *columns)
{
	struct triad_tables *tables = context;
	int error = triad_tables_end(tables);

	if (error)
		return error;
	tables->has_begun = false;
	if (!copy_columns(tables, indent, n_columns, columns))
		return note_table_error(tables, ENOMEM);
	tables_choose(tables);
	return 0;
}

static bool has_local_times(const struct triad_tables *tables)
{
	return tables->screen->is_terminal && !tables->layout->is_raw;
}

/* Copies the rest of a record; NULL when memory is short.  Its colors can't be part of a
 * time, so that local times are put in as into one text. */
static uint8_t *copy_row(
	const struct triad_tables *tables, const uint8_t *rest, size_t *size)
{
	struct triad_table_cell cells[TRIAD_TABLE_MAX_COLUMNS];
	struct triad_local_time times = {0};
	uint8_t *copy = malloc(TRIAD_LOCAL_TIME_ROOM(*size));
	size_t n;

	if (!copy)
		return NULL;
	if (has_local_times(tables)) {
		n = triad_local_time_take(
			&times, (const char *)rest, *size, (char *)copy);
		n += triad_local_time_end(&times, (char *)copy + n);
		/* A text may have become too long. */
		if (triad_table_row_read(copy, n, tables->n_columns, cells)) {
			*size = n;
			return copy;
		}
	}
	memcpy(copy, rest, *size);
	return copy;
}

static int take_row(void *context, const uint8_t *rest, size_t size)
{
	struct triad_tables *tables = context;
	struct tables_row *row;
	int error = 0;

	if (tables->has_failed)
		return 0;
	/* Not before the next row comes: the last row may still get notes. */
	if (!tables_is_sorted(tables) && tables->n == PIECE_ROWS)
		error = flush_rows(tables);
	if (!error)
		error = tables->n >= TRIAD_TABLES_MAX_ROWS
			? E2BIG
			: triad_grow(&tables->rows, &tables->room, tables->n + 1,
				  sizeof(*tables->rows), 256);
	if (error)
		return note_table_error(tables, error);
	row = &tables->rows[tables->n];
	*row = (struct tables_row){
		.rest = copy_row(tables, rest, &size), .place = (uint32_t)tables->n};
	if (!row->rest)
		return note_table_error(tables, ENOMEM);
	row->size = size;
	tables->n++;
	tables->n_rows++;
	if (tables_is_sorted(tables))
		tables_set_key(tables, row);
	return 0;
}

static int take_note(void *context, const char *text)
{
	struct triad_tables *tables = context;
	struct tables_row *row = tables->n ? &tables->rows[tables->n - 1] : NULL;
	struct triad_local_time times = {0};
	size_t used, size = strlen(text);
	char *notes;

	/* No notes in raw output: programs want no sentences between rows. */
	if (!row || tables->has_failed || tables->layout->is_raw)
		return 0;
	used = row->notes ? strlen(row->notes) : 0;
	notes = realloc(row->notes, used + TRIAD_LOCAL_TIME_ROOM(size) + 2);
	if (!notes)
		return note_table_error(tables, ENOMEM);
	row->notes = notes;
	if (has_local_times(tables)) {
		used += triad_local_time_take(&times, text, size, notes + used);
		used += triad_local_time_end(&times, notes + used);
	} else {
		memcpy(notes + used, text, size);
		used += size;
	}
	strcpy(notes + used, "\n");
	return 0;
}

int triad_tables_end(struct triad_tables *tables)
{
	int error = 0;

	if (!tables->n_columns)
		return 0;
	if (!tables->has_failed)
		error = flush_rows(tables);
	if (!error && !tables->has_failed && !tables->layout->is_raw)
		error = tables_write_left_out(tables);
	clear_table(tables);
	return error ? note_table_error(tables, error) : 0;
}

struct triad_table_sink triad_tables_sink(struct triad_tables *tables)
{
	return (struct triad_table_sink){begin_table, take_row, take_note, tables};
}

const char *triad_tables_complaint(const struct triad_tables *tables)
{
	return tables->complaint;
}

uint64_t triad_tables_n_rows(const struct triad_tables *tables)
{
	return tables->n_rows;
}

struct triad_tables *triad_tables_new(
	struct triad_screen *screen, const struct triad_layout *layout)
{
	struct triad_tables *tables = calloc(1, sizeof(*tables));

	if (tables) {
		tables->screen = screen;
		tables->layout = layout;
	}
	return tables;
}

void triad_tables_free(struct triad_tables *tables)
{
	if (!tables)
		return;
	clear_table(tables);
	free(tables->rows);
	free(tables);
}
