/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What --columns and --sort ask for. */
#include "cli/table_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "lib/text.h"

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
		const struct tables_column *column = &tables->columns[i];
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
int tables_choose_columns(struct triad_tables *tables)
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

int tables_choose_sort(struct triad_tables *tables)
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

bool tables_is_sorted(const struct triad_tables *tables)
{
	return tables->sort >= 0 || tables->layout->worst_first;
}

/* --- sorting ----------------------------------------------------------- */

static int compare_places(const struct tables_row *a, const struct tables_row *b)
{
	return (a->place > b->place) - (a->place < b->place);
}

/* Numbers by their values, texts as people count: "host-2" before "host-10".  What has
 * no number in a column of numbers comes last, whichever way it is sorted. */
static int compare_rows(const void *a, const void *b, bool is_descending)
{
	const struct tables_row *x = a, *y = b;
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
	/* Where no column is asked for, by the worst color. */
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
