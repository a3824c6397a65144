/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <libsmartcols.h>

#include "cli/table_fit.h"
#include "lib/text.h"

#define PIECE_ROWS 4096
#define GAP "  "

struct column {
	uint8_t flags;
	char *name, *title;
};

struct row {
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
	struct column columns[TRIAD_TABLE_MAX_COLUMNS];
	struct triad_table_fit fit; /* which of these are shown, how wide */
	int sort;                   /* a column's index; -1: none */
	struct row *rows;
	size_t n, room;
	bool has_begun;  /* a piece has been written */
	bool has_failed; /* nothing more is taken */
	uint64_t n_rows; /* of all tables */
	char complaint[1024];
};

/* --- columns ----------------------------------------------------------- */

/* "far end", "far-end" and "FAR_END" are one name. */
static char fold(char c)
{
	return c == ' ' || c == '-' ? '_' : g_ascii_tolower(c);
}

static bool is_name(const char *name, const char *word, size_t length)
{
	size_t i = 0;

	while (i < length && name[i] && fold(name[i]) == fold(word[i]))
		i++;
	return length && i == length && !name[i];
}

/* A title goes before a name: people see titles.  -1: there is none. */
static int find_column(
	const struct triad_tables *tables, const char *word, size_t length)
{
	for (unsigned i = 0; i < tables->n_columns; i++)
		if (is_name(tables->columns[i].title, word, length))
			return (int)i;
	for (unsigned i = 0; i < tables->n_columns; i++)
		if (is_name(tables->columns[i].name, word, length))
			return (int)i;
	return -1;
}

static int complain_column(struct triad_tables *tables, const char *option,
	const char *word, size_t length)
{
	char *text = tables->complaint;

	snprintf(text, sizeof(tables->complaint),
		"%s: no column '%.*s' in this table; it has", option,
		(int)(length < 80 ? length : 80), word);
	for (unsigned i = 0; i < tables->n_columns; i++) {
		const struct column *column = &tables->columns[i];
		char title[64];

		if (!*column->title && !*column->name)
			continue;
		snprintf(title, sizeof(title), "%s", column->title);
		for (char *c = title; *c; c++)
			*c = fold(*c);
		triad_text_append(text, sizeof(tables->complaint), "%s %s",
			text[strlen(text) - 1] == 's' && !i ? ""
				: i                         ? ","
							    : "",
			*title ? title : column->name);
		if (*title && *column->name &&
			!is_name(title, column->name, strlen(column->name)))
			triad_text_append(text, sizeof(tables->complaint), " (or %s)",
				column->name);
	}
	triad_text_clean(text);
	return EINVAL;
}

/* The columns that --columns names, in its order; without it all. */
static int choose_columns(struct triad_tables *tables)
{
	const char *word = tables->layout->columns;
	struct triad_table_fit *fit = &tables->fit;

	fit->n = 0;
	for (unsigned i = 0; !*word && i < tables->n_columns; i++)
		fit->columns[fit->n++] = (struct triad_table_fit_column){.at = i};
	while (*word) {
		size_t length = strcspn(word, ",");
		int found = find_column(tables, word, length);

		if (found < 0)
			return complain_column(tables, "--columns", word, length);
		/* Who names one again and again has seen enough of it. */
		if (fit->n < TRIAD_TABLE_MAX_COLUMNS)
			fit->columns[fit->n++] =
				(struct triad_table_fit_column){.at = (unsigned)found};
		word += length + (word[length] == ',');
	}
	for (unsigned i = 0; i < fit->n; i++) {
		struct triad_table_fit_column *shown = &fit->columns[i];
		const char *title = tables->columns[shown->at].title;

		shown->flags = tables->columns[shown->at].flags;
		shown->least = triad_screen_width(title, strlen(title));
		if (tables->layout->no_headings)
			shown->least = 1;
	}
	return 0;
}

static int choose_sort(struct triad_tables *tables)
{
	const char *word = tables->layout->sort;

	tables->sort = -1;
	word += *word == '-';
	if (!*tables->layout->sort)
		return 0;
	tables->sort = find_column(tables, word, strlen(word));
	return tables->sort < 0 ? complain_column(tables, "--sort", word, strlen(word))
				: 0;
}

static bool is_sorted(const struct triad_tables *tables)
{
	return tables->sort >= 0 || tables->layout->worst_first;
}

/* --- sorting ----------------------------------------------------------- */

static int compare_places(const struct row *a, const struct row *b)
{
	return (a->place > b->place) - (a->place < b->place);
}

/* Numbers by their values, texts as people count: "host-2" before "host-10".  What has
 * no number in a column of numbers comes last, whichever way it is sorted. */
static int compare_rows(const void *a, const void *b, bool is_descending)
{
	const struct row *x = a, *y = b;
	int order;

	if (x->is_number != y->is_number)
		return x->is_number ? -1 : 1;
	order = x->is_number ? (x->number > y->number) - (x->number < y->number)
			     : strverscmp(x->text, y->text);
	if (!order)
		return compare_places(x, y);
	return is_descending ? -order : order;
}

static int compare_ascending(const void *a, const void *b)
{
	return compare_rows(a, b, false);
}

static int compare_descending(const void *a, const void *b)
{
	return compare_rows(a, b, true);
}

/* What a row is sorted by, found once: rows are compared often. */
static void set_key(const struct triad_tables *tables, struct row *row)
{
	struct triad_table_cell cells[TRIAD_TABLE_MAX_COLUMNS];

	triad_table_row_read(row->rest, row->size, tables->n_columns, cells);
	row->text = "";
	if (tables->sort >= 0) {
		const char *value = cells[tables->sort].value;
		char *end;

		row->text = cells[tables->sort].text;
		row->number = strtold(value, &end);
		row->is_number = *value && !*end;
		return;
	}
	/* Where no column is asked for, by the worst color. */
	row->number = TRIAD_TABLE_PLAIN;
	row->is_number = true;
	for (unsigned i = 0; i < tables->n_columns; i++)
		if (cells[i].color > row->number)
			row->number = cells[i].color;
}

static void sort_rows(struct triad_tables *tables)
{
	bool is_descending = tables->sort < 0 || tables->layout->sort[0] == '-';

	if (tables->n && is_sorted(tables))
		qsort(tables->rows, tables->n, sizeof(*tables->rows),
			is_descending ? compare_descending : compare_ascending);
}

/* --- writing ----------------------------------------------------------- */

static int write_text(struct triad_tables *tables, const char *text)
{
	return triad_screen_write(tables->screen, text, strlen(text));
}

/* Notes on a terminal are broken between words, and go on as far to the right as they
 * began. */
static int write_note(struct triad_tables *tables, const char *line, size_t size)
{
	unsigned indent = (unsigned)strspn(line, " "), room = tables->screen->n_columns;
	int error = 0;

	if (!tables->screen->is_terminal || room < 2 * indent + 20)
		room = UINT_MAX;
	for (bool is_cut = true, is_first = true; is_cut && !error; is_first = false) {
		unsigned before = is_first ? 0 : indent;
		size_t n = triad_screen_fit(line, size, room - before, &is_cut);
		const char *blank = is_cut ? memrchr(line, ' ', n) : NULL;

		if (blank && blank > line + (is_first ? indent : 0))
			n = (size_t)(blank - line);
		error = triad_screen_write(
			tables->screen, "                ", before < 16 ? before : 16);
		if (!error)
			error = triad_screen_write(tables->screen, line, n);
		if (!error)
			error = write_text(tables, "\n");
		while (is_cut && n < size && line[n] == ' ')
			n++;
		line += n;
		size -= n;
	}
	return error;
}

static int write_notes(struct triad_tables *tables, const struct row *row)
{
	const char *line = row->notes ? row->notes : "";
	int error = 0;

	while (*line && !error) {
		size_t size = strcspn(line, "\n");

		error = write_note(tables, line, size);
		line += size + 1;
	}
	return error;
}

/* One line that libsmartcols made.  Blanks at its end would be dead weight. */
static int write_line(
	struct triad_tables *tables, const char *line, size_t size, bool is_heading)
{
	bool is_bold = is_heading && tables->screen->has_color;
	int error;

	while (size && line[size - 1] == ' ')
		size--;
	error = write_text(tables, is_bold ? "\033[1m" : "");
	if (!error)
		error = write_text(tables, tables->indent);
	if (!error)
		error = triad_screen_write(tables->screen, line, size);
	return error ? error : write_text(tables, is_bold ? "\033[0m\n" : "\n");
}

static bool has_headings(const struct triad_tables *tables)
{
	return !tables->has_begun && !tables->layout->no_headings;
}

/* Splits what libsmartcols made: a line for the headings, which the first piece alone
 * needs, and one for each row, between which notes go. */
static int write_lines(
	struct triad_tables *tables, const char *text, const struct row *rows, size_t n)
{
	size_t size = strcspn(text, "\n");
	int error = has_headings(tables) ? write_line(tables, text, size, true) : 0;

	for (size_t at = 0; at < n && !error; at++) {
		text += size + (text[size] == '\n');
		size = strcspn(text, "\n");
		error = write_line(tables, text, size, false);
		if (!error)
			error = write_notes(tables, &rows[at]);
	}
	return error;
}

/* --- one piece, by libsmartcols ---------------------------------------- */

/* The widths that the cells need; then what the terminal has for them. */
static void fit_columns(struct triad_tables *tables, const struct row *rows, size_t n)
{
	struct triad_table_fit *fit = &tables->fit;
	struct triad_table_cell cells[TRIAD_TABLE_MAX_COLUMNS];
	unsigned before = (unsigned)(strlen(tables->indent));

	for (unsigned i = 0; i < fit->n; i++)
		if (fit->columns[i].width < fit->columns[i].least)
			fit->columns[i].width = fit->columns[i].least;
	for (size_t k = 0; k < n; k++) {
		triad_table_row_read(
			rows[k].rest, rows[k].size, tables->n_columns, cells);
		for (unsigned i = 0; i < fit->n; i++) {
			const char *text = cells[fit->columns[i].at].text;
			unsigned width = triad_screen_width(text, strlen(text));

			if (width > fit->columns[i].width)
				fit->columns[i].width = width;
		}
	}
	if (tables->screen->is_terminal)
		triad_table_fit_into(fit, (unsigned)strlen(GAP),
			tables->screen->n_columns > before
				? tables->screen->n_columns - before
				: 1);
}

/* Where the port begins that a text ends with, as in "leaf-01:3" and "leaf-01/P3"; NULL:
 * it has none. */
static const char *find_port(const char *text)
{
	const char *end = text + strlen(text), *at = end;

	while (at > text && g_ascii_isdigit(at[-1]))
		at--;
	if (at == end || end - at > 3)
		return NULL;
	if (at - text > 2 && at[-1] == 'P' && at[-2] == '/')
		return at - 2;
	return at - text > 1 && at[-1] == ':' ? at - 1 : NULL;
}

/* Cuts a text to its column's width.  A place keeps its port: "host-00~/P1". */
static void cut_text(const char *whole, unsigned width, char *text, size_t text_size)
{
	bool is_cut;
	size_t size = triad_screen_fit(whole, strlen(whole), width, &is_cut);
	const char *port = is_cut ? find_port(whole) : NULL;

	if (port && strlen(port) + 2 < width)
		size = triad_screen_fit(
			whole, size, width - (unsigned)strlen(port) - 1, &is_cut);
	else
		port = NULL;
	snprintf(text, text_size, "%.*s%s%s", (int)size, whole, port ? "~" : "",
		port ? port : "");
}

static bool add_line(struct triad_tables *tables, struct libscols_table *table,
	const struct row *row)
{
	struct triad_table_cell cells[TRIAD_TABLE_MAX_COLUMNS];
	struct libscols_line *line = scols_table_new_line(table, NULL);
	unsigned number = 0;

	triad_table_row_read(row->rest, row->size, tables->n_columns, cells);
	for (unsigned i = 0; line && i < tables->fit.n; i++) {
		const struct triad_table_fit_column *shown = &tables->fit.columns[i];
		const struct triad_table_cell *cell = &cells[shown->at];
		char text[TRIAD_TABLE_MAX_TEXT + 1];

		if (shown->is_left_out)
			continue;
		cut_text(cell->text, shown->width, text, sizeof(text));
		if (scols_line_set_data(line, number, text))
			return false;
		/* An escape sequence, and to that libsmartcols adds its end. */
		if (cell->color && tables->screen->has_color &&
			scols_cell_set_color(scols_line_get_cell(line, number),
				triad_table_color_start(cell->color)))
			return false;
		number++;
	}
	return line;
}

/* The title, padded to the column's width: so the column is as wide as in the piece
 * before, whatever is in this one.  (A width that libsmartcols is given as a hint makes
 * it forget that of the title.) */
static bool add_column(const struct triad_tables *tables, struct libscols_table *table,
	const struct triad_table_fit_column *shown)
{
	const char *title =
		tables->layout->no_headings ? "" : tables->columns[shown->at].title;
	bool is_right = shown->flags & TRIAD_TABLE_NUMBER;
	char padded[2 * TRIAD_TABLE_MAX_TEXT + 1], cut[TRIAD_TABLE_MAX_TEXT + 1];
	bool is_cut;
	size_t size = triad_screen_fit(title, strlen(title), shown->width, &is_cut);
	int blanks = (int)(shown->width - triad_screen_width(title, size));

	snprintf(cut, sizeof(cut), "%.*s", (int)size, title);
	snprintf(padded, sizeof(padded), "%*s%s%*s", is_right ? blanks : 0, "", cut,
		is_right ? 0 : blanks, "");
	return scols_table_new_column(table, padded, 0, is_right ? SCOLS_FL_RIGHT : 0);
}

static bool fill_table(struct triad_tables *tables, struct libscols_table *table,
	const struct row *rows, size_t n)
{
	scols_table_set_column_separator(table, GAP);
	scols_table_enable_colors(table, tables->screen->has_color);
	/* What came is valid and clean; and cut already. */
	scols_table_enable_noencoding(table, 1);
	scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
	for (unsigned i = 0; i < tables->fit.n; i++) {
		const struct triad_table_fit_column *shown = &tables->fit.columns[i];

		if (!shown->is_left_out && !add_column(tables, table, shown))
			return false;
	}
	for (size_t k = 0; k < n; k++)
		if (!add_line(tables, table, &rows[k]))
			return false;
	/* libsmartcols writes no headings above nothing. */
	return n || scols_table_new_line(table, NULL);
}

static int write_piece(struct triad_tables *tables, const struct row *rows, size_t n)
{
	struct libscols_table *table;
	char *text = NULL;
	int error = ENOMEM;

	/* Without a place on the screen, rows are only counted. */
	if (triad_screen_is_full(tables->screen)) {
		triad_screen_hide(tables->screen, n);
		return 0;
	}
	if (!n && !has_headings(tables))
		return 0;
	fit_columns(tables, rows, n);
	table = scols_new_table();
	if (table && fill_table(tables, table, rows, n) &&
		!scols_print_table_to_string(table, &text))
		error = write_lines(tables, text, rows, n);
	free(text);
	scols_unref_table(table);
	return error;
}

/* --- one piece, raw ---------------------------------------------------- */

/* Of a number its value, and nothing for one that is not known. */
static const char *raw_text(
	const struct triad_table_cell *cell, const struct column *column)
{
	if (*cell->value)
		return cell->value;
	if (column->flags & TRIAD_TABLE_NUMBER && !strcmp(cell->text, "-"))
		return "";
	return cell->text;
}

static int write_raw_line(struct triad_tables *tables, const struct row *row)
{
	struct triad_table_cell cells[TRIAD_TABLE_MAX_COLUMNS];
	const struct triad_table_fit *fit = &tables->fit;
	int error = 0;

	if (row)
		triad_table_row_read(row->rest, row->size, tables->n_columns, cells);
	for (unsigned i = 0; i < fit->n && !error; i++) {
		const struct column *column = &tables->columns[fit->columns[i].at];

		if (i)
			error = write_text(tables, "\t");
		if (!error)
			error = write_text(tables,
				row ? raw_text(&cells[fit->columns[i].at], column)
				    : column->title);
	}
	return error ? error : write_text(tables, "\n");
}

static int write_raw(struct triad_tables *tables, const struct row *rows, size_t n)
{
	int error = has_headings(tables) ? write_raw_line(tables, NULL) : 0;

	for (size_t k = 0; k < n && !error; k++)
		error = write_raw_line(tables, &rows[k]);
	return error;
}

/* --- rows -------------------------------------------------------------- */

static void clear_rows(struct triad_tables *tables)
{
	for (size_t i = 0; i < tables->n; i++) {
		free(tables->rows[i].rest);
		free(tables->rows[i].notes);
	}
	tables->n = 0;
}

/* Writes the rows that are there, and forgets them. */
static int flush(struct triad_tables *tables)
{
	int error = 0;
	size_t at = 0;

	sort_rows(tables);
	do {
		size_t n = tables->n - at < PIECE_ROWS ? tables->n - at : PIECE_ROWS;

		error = (tables->layout->is_raw ? write_raw : write_piece)(
			tables, tables->rows + at, n);
		tables->has_begun = true;
		at += n;
	} while (at < tables->n && !error);
	clear_rows(tables);
	return error;
}

static int fail(struct triad_tables *tables, int error)
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
		tables->columns[i] = (struct column){.flags = columns[i].flags,
			.name = strdup(columns[i].name),
			.title = strdup(columns[i].title)};
		is_copied &= tables->columns[i].name && tables->columns[i].title;
	}
	return is_copied;
}

static int begin(void *context, const char *indent, unsigned n_columns,
	const struct triad_table_column *columns)
{
	struct triad_tables *tables = context;
	int error = triad_tables_end(tables);

	if (error)
		return error;
	tables->has_begun = false;
	if (!copy_columns(tables, indent, n_columns, columns))
		return fail(tables, ENOMEM);
	error = choose_columns(tables);
	if (!error)
		error = choose_sort(tables);
	return error ? fail(tables, error) : 0;
}

/* Makes room for one more row. */
static int grow(struct triad_tables *tables)
{
	size_t room = tables->room ? 2 * tables->room : 256;
	struct row *rows;

	if (tables->n < tables->room)
		return 0;
	if (tables->n >= TRIAD_TABLES_MAX_ROWS)
		return E2BIG;
	rows = realloc(tables->rows, room * sizeof(*rows));
	if (!rows)
		return ENOMEM;
	tables->rows = rows;
	tables->room = room;
	return 0;
}

static int take_row(void *context, const uint8_t *rest, size_t size)
{
	struct triad_tables *tables = context;
	struct row *row;
	int error = 0;

	if (tables->has_failed)
		return 0;
	/* Before this row, not after the last one, which may get notes yet. */
	if (!is_sorted(tables) && tables->n == PIECE_ROWS)
		error = flush(tables);
	if (!error)
		error = grow(tables);
	if (error)
		return fail(tables, error);
	row = &tables->rows[tables->n];
	*row = (struct row){.rest = malloc(size ? size : 1),
		.size = size,
		.place = (uint32_t)tables->n};
	if (!row->rest)
		return fail(tables, ENOMEM);
	memcpy(row->rest, rest, size);
	tables->n++;
	tables->n_rows++;
	if (is_sorted(tables))
		set_key(tables, row);
	return 0;
}

static int take_note(void *context, const char *text)
{
	struct triad_tables *tables = context;
	struct row *row = tables->n ? &tables->rows[tables->n - 1] : NULL;
	size_t used, size = strlen(text);
	char *notes;

	/* Notes are sentences, which programs don't want between rows. */
	if (!row || tables->has_failed || tables->layout->is_raw)
		return 0;
	used = row->notes ? strlen(row->notes) : 0;
	notes = realloc(row->notes, used + size + 2);
	if (!notes)
		return fail(tables, ENOMEM);
	memcpy(notes + used, text, size);
	strcpy(notes + used + size, "\n");
	row->notes = notes;
	return 0;
}

/* Says which columns are not shown; to people alone. */
static int write_left_out(struct triad_tables *tables)
{
	char text[512] = "";

	for (unsigned i = 0; i < tables->fit.n; i++)
		if (tables->fit.columns[i].is_left_out)
			triad_text_append(text, sizeof(text), "%s %s",
				text[0] ? "," : "(no room for",
				tables->columns[tables->fit.columns[i].at].title);
	if (!text[0] || tables->layout->no_headings)
		return 0;
	triad_text_append(text, sizeof(text), "; --columns chooses)\n");
	return write_text(tables, text);
}

int triad_tables_end(struct triad_tables *tables)
{
	int error = 0;

	if (!tables->n_columns)
		return 0;
	if (!tables->has_failed)
		error = flush(tables);
	if (!error && !tables->has_failed && !tables->layout->is_raw)
		error = write_left_out(tables);
	clear_table(tables);
	return error ? fail(tables, error) : 0;
}

struct triad_table_sink triad_tables_sink(struct triad_tables *tables)
{
	return (struct triad_table_sink){begin, take_row, take_note, tables};
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
