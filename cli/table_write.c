/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes rows to the screen: by libsmartcols, or raw. */
#include "cli/table_parts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <libsmartcols.h>

#include "lib/text.h"

#define GAP "  "
#define GUID_DIGITS 16u

/* --- writing ----------------------------------------------------------- */

static int write_text(struct triad_tables *tables, const char *text)
{
	return triad_screen_write(tables->screen, text, strlen(text));
}

/* Writes a note; on a terminal breaks it between words, with the same indent for
 * further lines. */
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

static int write_notes(struct triad_tables *tables, const struct tables_row *row)
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

/* Writes a line of libsmartcols without the blanks at its end. */
static int write_table_line(
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

/* Writes the lines of libsmartcols: the headings, only for the first piece; then each
 * row, followed by its notes. */
static int write_lines(struct triad_tables *tables, const char *text,
	const struct tables_row *rows, size_t n)
{
	size_t size = strcspn(text, "\n");
	int error =
		has_headings(tables) ? write_table_line(tables, text, size, true) : 0;

	for (size_t at = 0; at < n && !error; at++) {
		text += size + (text[size] == '\n');
		size = strcspn(text, "\n");
		error = write_table_line(tables, text, size, false);
		if (!error)
			error = write_notes(tables, &rows[at]);
	}
	return error;
}

/* --- one piece, by libsmartcols ---------------------------------------- */

/* Whether a text is a GUID, in the place of a missing name.  GUIDs, like numbers, are
 * never cut. */
static bool is_guid(const char *text)
{
	return !strncmp(text, "0x", 2) &&
		strspn(text + 2, "0123456789abcdef") == GUID_DIGITS;
}

/* Widens columns to their cells, then fits them into the terminal. */
static void fit_columns(
	struct triad_tables *tables, const struct tables_row *rows, size_t n)
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
			if (width > fit->columns[i].least && is_guid(text))
				fit->columns[i].least = width;
		}
	}
	if (tables->screen->is_terminal)
		triad_table_fit_into(fit, (unsigned)strlen(GAP),
			tables->screen->n_columns > before
				? tables->screen->n_columns - before
				: 1);
}

/* The end of a text that is the number of a port, as in "leaf-01:3" and "leaf-01/P3"; or
 * the text's end. */
static const char *find_port_suffix(const char *text)
{
	const char *end = text + strlen(text), *at = end;

	while (at > text && g_ascii_isdigit(at[-1]))
		at--;
	if (at == end || end - at > 3)
		return end;
	if (at - text > 2 && at[-1] == 'P' && at[-2] == '/')
		return at - 2;
	return at - text > 1 && at[-1] == ':' ? at - 1 : end;
}

/* The end of a text without which it would not tell nodes and ports apart: digits of a
 * GUID, as in "Quantum-2#09a500", and a port.  NULL: none. */
static const char *find_end(const char *text)
{
	const char *port = find_port_suffix(text), *at = port;

	while (at > text && g_ascii_isxdigit(at[-1]))
		at--;
	if (at > text && at[-1] == '#' && (port - at == 6 || port - at == 16))
		return at - 1;
	return *port ? port : NULL;
}

/* Cuts a text to its column's width, but not its end: "host-00~:1",
 * "Quantum~#09a500:1". */
static void cut_text(const char *whole, unsigned width, char *text, size_t text_size)
{
	bool is_cut;
	size_t size = triad_screen_fit(whole, strlen(whole), width, &is_cut);
	const char *end = is_cut ? find_end(whole) : NULL;

	if (end && strlen(end) + 1 < width)
		size = triad_screen_fit(
			whole, size, width - (unsigned)strlen(end) - 1, &is_cut);
	else
		end = NULL;
	snprintf(text, text_size, "%.*s%s%s", (int)size, whole, end ? "~" : "",
		end ? end : "");
}

static bool add_line(struct triad_tables *tables, struct libscols_table *table,
	const struct tables_row *row)
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
		/* Only the sequence that begins the color; libsmartcols ends it. */
		if (cell->color && tables->screen->has_color &&
			scols_cell_set_color(scols_line_get_cell(line, number),
				triad_table_color_start(cell->color)))
			return false;
		number++;
	}
	return line;
}

/* Adds a column, with its title padded to the width: so it is as wide as in the last
 * piece, whatever this one has.  (With a width hint, libsmartcols ignores the title's
 * width.) */
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
	const struct tables_row *rows, size_t n)
{
	scols_table_set_column_separator(table, GAP);
	scols_table_enable_colors(table, tables->screen->has_color);
	/* Texts are valid UTF-8, without control characters, and cut already. */
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
	/* libsmartcols writes no headings without a row. */
	return n || scols_table_new_line(table, NULL);
}

static int write_piece(
	struct triad_tables *tables, const struct tables_row *rows, size_t n)
{
	struct libscols_table *table;
	char *text = NULL;
	int error = ENOMEM;

	/* When the screen is full, rows are only counted. */
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

/* A cell's raw text: a number's value, "" if it is not known. */
static const char *raw_text(
	const struct triad_table_cell *cell, const struct tables_column *column)
{
	if (*cell->value)
		return cell->value;
	if (column->flags & TRIAD_TABLE_NUMBER && !strcmp(cell->text, "-"))
		return "";
	return cell->text;
}

static int write_raw_line(struct triad_tables *tables, const struct tables_row *row)
{
	struct triad_table_cell cells[TRIAD_TABLE_MAX_COLUMNS];
	const struct triad_table_fit *fit = &tables->fit;
	int error = 0;

	if (row)
		triad_table_row_read(row->rest, row->size, tables->n_columns, cells);
	for (unsigned i = 0; i < fit->n && !error; i++) {
		const struct tables_column *column =
			&tables->columns[fit->columns[i].at];

		if (i)
			error = write_text(tables, "\t");
		if (!error)
			error = write_text(tables,
				row ? raw_text(&cells[fit->columns[i].at], column)
				    : column->title);
	}
	return error ? error : write_text(tables, "\n");
}

static int write_raw(
	struct triad_tables *tables, const struct tables_row *rows, size_t n)
{
	int error = has_headings(tables) ? write_raw_line(tables, NULL) : 0;

	for (size_t k = 0; k < n && !error; k++)
		error = write_raw_line(tables, &rows[k]);
	return error;
}

int tables_write_rows(
	struct triad_tables *tables, const struct tables_row *rows, size_t n)
{
	int error = tables->layout->is_raw ? write_raw(tables, rows, n)
					   : write_piece(tables, rows, n);

	tables->has_begun = true;
	return error;
}

/* Writes which columns have no room, unless headings are off. */
int tables_write_left_out(struct triad_tables *tables)
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
