/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Carries out --columns and --sort. */
#include "cli/table_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "lib/text.h"

/* --- columns ----------------------------------------------------------- */

/* Makes "far end", "far-end" and "FAR_END" the same name. */
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

/* Words from the 64th on share the last bit. */
static uint64_t place_bit(unsigned place)
{
	return UINT64_C(1) << (place < 63 ? place : 63);
}

/* Finds a column by title, then by JSON name: users see titles.  -1: none. */
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

/* Writes a column's names as users type them: "far_end (or remote_name)"; "" if it has
 * none. */
static void describe_column(
	const struct tables_column *column, char *text, size_t text_size)
{
	char title[TRIAD_TABLE_MAX_TEXT + 1];

	snprintf(title, sizeof(title), "%s", column->title);
	for (char *c = title; *c; c++)
		*c = fold(*c);
	snprintf(text, text_size, "%s", *title ? title : column->name);
	if (*title && *column->name &&
		!is_name(title, column->name, strlen(column->name)))
		triad_text_append(text, text_size, " (or %s)", column->name);
}

static bool is_offered(const struct triad_tables *tables, const char *column)
{
	size_t length = strlen(column);
	const char *at = tables->offered;

	while ((at = strstr(at, column))) {
		bool is_begin = at == tables->offered || at[-1] == ' ';

		if (is_begin && (!at[length] || at[length] == ','))
			return true;
		at += length;
	}
	return false;
}

/* Remembers the names of columns, for an error at the answer's end. */
static void remember_names(struct triad_tables *tables)
{
	char text[2 * TRIAD_TABLE_MAX_TEXT + 8];

	for (unsigned i = 0; i < tables->n_columns; i++) {
		describe_column(&tables->columns[i], text, sizeof(text));
		if (*text && !is_offered(tables, text))
			triad_text_append(tables->offered, sizeof(tables->offered),
				"%s%s", tables->offered[0] ? ", " : "", text);
	}
}

static void choose_column(struct triad_table_fit *fit, unsigned at)
{
	/* Repeated names could exceed the limit. */
	if (fit->n < TRIAD_TABLE_MAX_COLUMNS)
		fit->columns[fit->n++] = (struct triad_table_fit_column){.at = at};
}

/* Chooses the columns of --columns, in its order; all, if it names none of this table:
 * then it means another table of the answer. */
static void choose_columns(struct triad_tables *tables)
{
	const char *word = tables->layout->columns;
	struct triad_table_fit *fit = &tables->fit;

	fit->n = 0;
	for (unsigned place = 0; *word; place++) {
		size_t length = strcspn(word, ",");
		int found = find_column(tables, word, length);

		if (found >= 0) {
			choose_column(fit, (unsigned)found);
			tables->found_columns |= place_bit(place);
		}
		word += length + (word[length] == ',');
	}
	for (unsigned i = 0; !fit->n && i < tables->n_columns; i++)
		fit->columns[i] = (struct triad_table_fit_column){.at = i};
	if (!fit->n)
		fit->n = tables->n_columns;
}

static void measure_columns(struct triad_tables *tables)
{
	for (unsigned i = 0; i < tables->fit.n; i++) {
		struct triad_table_fit_column *shown = &tables->fit.columns[i];
		const char *title = tables->columns[shown->at].title;

		shown->flags = tables->columns[shown->at].flags;
		shown->least = triad_screen_width(title, strlen(title));
		if (tables->layout->no_headings)
			shown->least = 1;
	}
}

/* The name in --sort, without '-'. */
static const char *sort_word(const struct triad_tables *tables)
{
	const char *word = tables->layout->sort;

	return word + (*word == '-');
}

static void choose_sort(struct triad_tables *tables)
{
	const char *word = sort_word(tables);

	tables->sort = find_column(tables, word, strlen(word));
	tables->has_found_sort |= tables->sort >= 0;
}

void tables_choose(struct triad_tables *tables)
{
	choose_columns(tables);
	measure_columns(tables);
	choose_sort(tables);
	if (*tables->layout->columns || *tables->layout->sort)
		remember_names(tables);
}

static int complain_column(struct triad_tables *tables, const char *option,
	const char *word, size_t length)
{
	snprintf(tables->complaint, sizeof(tables->complaint),
		"%s: no column '%.*s' in this answer; it has %s", option,
		(int)(length < 80 ? length : 80), word, tables->offered);
	triad_text_clean(tables->complaint);
	return EINVAL;
}

int triad_tables_check_names(struct triad_tables *tables)
{
	const char *word = tables->layout->columns, *sort = sort_word(tables);

	/* Do not complain of an answer without tables. */
	if (!tables->offered[0])
		return 0;
	for (unsigned place = 0; *word; place++) {
		size_t length = strcspn(word, ",");

		if (!(tables->found_columns & place_bit(place)))
			return complain_column(tables, "--columns", word, length);
		word += length + (word[length] == ',');
	}
	if (*tables->layout->sort && !tables->has_found_sort)
		return complain_column(tables, "--sort", sort, strlen(sort));
	return 0;
}

bool tables_is_sorted(const struct triad_tables *tables)
{
	return tables->sort >= 0 ||
		(tables->layout->worst_first && !*tables->layout->sort);
}

/* --- sorting ----------------------------------------------------------- */

static int compare_places(const struct tables_row *a, const struct tables_row *b)
{
	return (a->place > b->place) - (a->place < b->place);
}

static bool has_none(const struct tables_row *row)
{
	return !row->is_number && (!*row->text || !strcmp(row->text, "-"));
}

/* Compares numbers by value, texts with numbers in them as people count: "host-2"
 * before "host-10".  Empty values, and texts among numbers, come last in both
 * directions. */
static int compare_rows(const void *a, const void *b, bool is_descending)
{
	const struct tables_row *x = a, *y = b;
	int order;

	if (x->is_number != y->is_number)
		return x->is_number ? -1 : 1;
	if (has_none(x) != has_none(y))
		return has_none(x) ? 1 : -1;
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

/* Computes a row's sort key once, because rows are compared often. */
void tables_set_key(const struct triad_tables *tables, struct tables_row *row)
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
	/* Without --sort, the key is the worst color of the row. */
	row->number = TRIAD_TABLE_PLAIN;
	row->is_number = true;
	for (unsigned i = 0; i < tables->n_columns; i++)
		if (cells[i].color > row->number)
			row->number = cells[i].color;
}

void tables_sort_rows(struct triad_tables *tables)
{
	bool is_descending = tables->sort < 0 || tables->layout->sort[0] == '-';

	if (tables->n && tables_is_sorted(tables))
		qsort(tables->rows, tables->n, sizeof(*tables->rows),
			is_descending ? compare_descending : compare_ascending);
}
