/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/command/list.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "service/command/format.h"

/* Where a row's values go; NULL: it is not for JSON, or no row. */
static struct triad_json *json_of(const struct triad_list *list)
{
	return list->report->as_json && list->phase == TRIAD_LIST_ROWS
		? &list->report->json
		: NULL;
}

static bool is_shown(const struct triad_list *list)
{
	return !list->report->as_json && list->phase != TRIAD_LIST_WIDTHS;
}

static void put_text(struct triad_list *list, const char *text)
{
	if (is_shown(list))
		triad_output_printf(list->report->output, "%s", text);
}

void triad_list_begin(struct triad_list *list, const char *name)
{
	if (list->report->as_json)
		triad_json_array_begin(&list->report->json, name);
}

void triad_list_end(struct triad_list *list)
{
	if (list->report->as_json)
		triad_json_array_end(&list->report->json);
}

static bool is_bold(const struct triad_list *list)
{
	return list->bold && list->phase == TRIAD_LIST_TITLES &&
		list->report->output->color;
}

void triad_list_row(struct triad_list *list)
{
	list->n_columns = 0;
	if (json_of(list))
		triad_json_object_begin(json_of(list), NULL);
	put_text(list, is_bold(list) ? "\033[1m" : "");
	put_text(list, list->indent ? list->indent : "");
}

void triad_list_row_end(struct triad_list *list)
{
	if (json_of(list))
		triad_json_object_end(json_of(list));
	put_text(list, is_bold(list) ? "\033[0m\n" : "\n");
	if (list->phase == TRIAD_LIST_TITLES)
		list->phase = TRIAD_LIST_ROWS;
}

/* A measured column has characters, others have octets, as printf() counts. */
static void put_cell(
	struct triad_list *list, const char *title, int width, const char *text)
{
	int *measured = &list->widths[list->n_columns];
	int needed;

	if (!title || list->report->as_json ||
		list->n_columns == TRIAD_LIST_MAX_COLUMNS)
		return;
	if (list->n_columns++)
		put_text(list, list->gap ? list->gap : " ");
	if (list->phase == TRIAD_LIST_TITLES)
		text = title;
	needed = triad_command_width(text);
	if (needed > *measured && list->phase != TRIAD_LIST_ROWS)
		*measured = needed;
	if (!is_shown(list))
		return;
	if (width == TRIAD_LIST_MEASURED)
		triad_output_printf(
			list->report->output, "%s%*s", text, *measured - needed, "");
	else
		triad_output_printf(list->report->output, "%*s", width, text);
}

void triad_list_uint(struct triad_list *list, const char *name, const char *title,
	int width, uint64_t value)
{
	if (name && json_of(list))
		triad_json_uint(json_of(list), name, value);
	triad_list_format(list, title, width, "%" PRIu64, value);
}

void triad_list_text(struct triad_list *list, const char *name, const char *title,
	int width, const char *text)
{
	if (name && json_of(list))
		triad_json_string(json_of(list), name, text);
	put_cell(list, title, width, text ? text : "-");
}

void triad_list_bool(struct triad_list *list, const char *name, const char *title,
	int width, bool value)
{
	if (name && json_of(list))
		triad_json_bool(json_of(list), name, value);
	put_cell(list, title, width, value ? "yes" : "-");
}

void triad_list_guid(
	struct triad_list *list, const char *name, const char *title, uint64_t guid)
{
	if (name && json_of(list))
		triad_json_guid(json_of(list), name, guid);
	triad_list_format(list, title, -18, "0x%016" PRIx64, guid);
}

void triad_list_double(struct triad_list *list, const char *name, double value)
{
	if (json_of(list))
		triad_json_double(json_of(list), name, value);
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
	put_text(list, " ");
}

bool triad_list_tail(struct triad_list *list, const char *title)
{
	if (title && list->phase == TRIAD_LIST_TITLES)
		put_cell(list, title, 0, title);
	return is_shown(list) && list->phase == TRIAD_LIST_ROWS;
}
