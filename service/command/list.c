/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/command/list.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "service/command/format.h"

struct triad_json *triad_list_json(const struct triad_list *list)
{
	return list->report->as_json && list->phase == TRIAD_LIST_ROWS
		? &list->report->json
		: NULL;
}

/* Appends the text to both lines. */
static void append(struct triad_list *list, const char *text)
{
	triad_text_append(list->titles, sizeof(list->titles), "%s", text);
	triad_text_append(list->row, sizeof(list->row), "%s", text);
}

void triad_list_row(struct triad_list *list)
{
	list->n_columns = 0;
	list->titles[0] = list->row[0] = 0;
	append(list, list->indent ? list->indent : "");
	if (triad_list_json(list))
		triad_json_object_begin(triad_list_json(list), NULL);
}

/* Writes the titles, once, and what of the row is not written yet.  Returns false where
 * no row is written for people. */
static bool show(struct triad_list *list)
{
	struct triad_output *output = list->report->output;
	bool is_bold = list->bold && output->color;

	if (list->report->as_json || list->phase == TRIAD_LIST_WIDTHS)
		return false;
	if (!list->has_titles && list->titles[strspn(list->titles, " ")])
		triad_output_printf(output, "%s%s%s\n", is_bold ? "\033[1m" : "",
			list->titles, is_bold ? "\033[0m" : "");
	list->has_titles = true;
	if (list->phase == TRIAD_LIST_TITLES)
		return false;
	triad_output_put(output, list->row, strlen(list->row));
	list->row[0] = 0;
	return true;
}

void triad_list_row_end(struct triad_list *list)
{
	if (show(list))
		triad_output_put(list->report->output, "\n", 1);
	if (triad_list_json(list))
		triad_json_object_end(triad_list_json(list));
	/* The row of titles was the first and only one of its kind. */
	if (list->phase == TRIAD_LIST_TITLES)
		list->phase = TRIAD_LIST_ROWS;
}

static void measure(int *width, const char *text)
{
	int needed = triad_command_width(text);

	if (needed > *width)
		*width = needed;
}

/* Measured columns are padded by characters, others by octets, as printf() does. */
static void append_cell(
	char *line, size_t size, int width, int measured, const char *text)
{
	if (width == TRIAD_LIST_MEASURED)
		triad_text_append(line, size, "%s%*s", text,
			measured - triad_command_width(text), "");
	else
		triad_text_append(line, size, "%*s", width, text);
}

static void put_cell(
	struct triad_list *list, const char *title, int width, const char *text)
{
	int *measured = &list->widths[list->n_columns];

	if (!title || list->report->as_json ||
		list->n_columns == TRIAD_LIST_MAX_COLUMNS)
		return;
	if (list->n_columns++)
		append(list, list->gap ? list->gap : " ");
	measure(measured, title);
	measure(measured, text);
	append_cell(list->titles, sizeof(list->titles), width, *measured, title);
	append_cell(list->row, sizeof(list->row), width, *measured, text);
}

void triad_list_uint(struct triad_list *list, const char *name, const char *title,
	int width, uint64_t value)
{
	if (name && triad_list_json(list))
		triad_json_uint(triad_list_json(list), name, value);
	triad_list_format(list, title, width, "%" PRIu64, value);
}

void triad_list_text(struct triad_list *list, const char *name, const char *title,
	int width, const char *text)
{
	if (name && triad_list_json(list))
		triad_json_string(triad_list_json(list), name, text);
	put_cell(list, title, width, text ? text : "-");
}

void triad_list_bool(struct triad_list *list, const char *name, const char *title,
	int width, bool value)
{
	if (name && triad_list_json(list))
		triad_json_bool(triad_list_json(list), name, value);
	put_cell(list, title, width, value ? "yes" : "-");
}

void triad_list_guid(
	struct triad_list *list, const char *name, const char *title, uint64_t guid)
{
	if (name && triad_list_json(list))
		triad_json_guid(triad_list_json(list), name, guid);
	triad_list_format(list, title, -18, "0x%016" PRIx64, guid);
}

void triad_list_double(struct triad_list *list, const char *name, double value)
{
	if (triad_list_json(list))
		triad_json_double(triad_list_json(list), name, value);
}

void triad_list_format(
	struct triad_list *list, const char *title, int width, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put_cell(list, title, width, text);
}

void triad_list_blank(struct triad_list *list)
{
	append(list, " ");
}

bool triad_list_tail(struct triad_list *list, const char *title)
{
	if (title)
		triad_text_append(list->titles, sizeof(list->titles), "%s%s",
			list->gap ? list->gap : " ", title);
	return show(list);
}
