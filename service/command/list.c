/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/command/list.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "lib/text.h"
#include "service/command/format.h"
#include "triad/clock.h"

#define HEADING_SIZE 64
#define LONG_COLUMN 20 /* width of TRIAD_LIST_LONG in lines */

struct triad_json *triad_list_json(const struct triad_list *list)
{
	return list->report->as_json && list->phase == TRIAD_LIST_ROWS
		? &list->report->json
		: NULL;
}

/* Appends the text to both lines. */
static void append_to_lines(struct triad_list *list, const char *text)
{
	triad_text_append(list->titles, sizeof(list->titles), "%s", text);
	triad_text_append(list->row, sizeof(list->row), "%s", text);
}

bool triad_list_is_measured(const struct triad_report *report)
{
	return !report->as_json && !report->output->tables;
}

void triad_list_row(struct triad_list *list)
{
	list->n_columns = 0;
	list->titles[0] = list->row[0] = list->notes[0] = 0;
	append_to_lines(list, list->indent ? list->indent : "");
	triad_table_record_begin(&list->record, TRIAD_TABLE_ROW);
	if (triad_list_json(list))
		triad_json_object_begin(triad_list_json(list), NULL);
}

/* --- the end of a row --- */

static bool is_titled(const struct triad_list *list)
{
	for (unsigned i = 0; i < list->n_columns; i++)
		if (*list->columns[i].title)
			return true;
	return false;
}

static void send_record(struct triad_list *list, struct triad_table_record *record)
{
	triad_table_record_end(record);
	triad_output_put_table(list->report->output, record->octets, record->used);
}

/* Makes a heading of a title, in one style for all tables. */
static void make_heading(char *text, size_t size, const char *title)
{
	snprintf(text, size, "%s", title);
	for (; *text; text++)
		*text = g_ascii_toupper(*text);
}

static void send_columns(struct triad_list *list)
{
	char heading[HEADING_SIZE];
	struct triad_table_record record;

	triad_table_record_begin(&record, TRIAD_TABLE_BEGIN);
	triad_table_record_text(&record, list->indent ? list->indent : "");
	triad_table_record_octet(&record, (uint8_t)list->n_columns);
	for (unsigned i = 0; i < list->n_columns; i++) {
		triad_table_record_octet(&record, list->columns[i].flags);
		triad_table_record_text(&record, list->columns[i].name);
		make_heading(heading, sizeof(heading), list->columns[i].title);
		triad_table_record_text(&record, heading);
	}
	send_record(list, &record);
}

static void send_notes(struct triad_list *list)
{
	struct triad_table_record record;

	for (char *line = list->notes, *end; *line; line = end + 1) {
		end = line + strcspn(line, "\n");
		if (!*end)
			break;
		*end = '\0';
		triad_table_record_begin(&record, TRIAD_TABLE_NOTE);
		triad_table_record_text(&record, line);
		send_record(list, &record);
	}
}

static void send_row(struct triad_list *list)
{
	if (!list->has_titles)
		send_columns(list);
	list->has_titles = true;
	if (list->phase == TRIAD_LIST_TITLES)
		return;
	send_record(list, &list->record);
	send_notes(list);
}

static void write_row(struct triad_list *list)
{
	struct triad_output *output = list->report->output;

	if (!list->has_titles && is_titled(list))
		triad_output_printf(output, "%s%s%s\n", output->color ? "\033[1m" : "",
			list->titles, output->color ? "\033[0m" : "");
	list->has_titles = true;
	if (list->phase == TRIAD_LIST_TITLES)
		return;
	/* Remove the blanks of an empty last column. */
	g_strchomp(list->row);
	triad_output_put(output, list->row, strlen(list->row));
	triad_output_put(output, "\n", 1);
	triad_output_put(output, list->notes, strlen(list->notes));
}

void triad_list_row_end(struct triad_list *list)
{
	const struct triad_report *report = list->report;

	if (!report->as_json && list->phase != TRIAD_LIST_WIDTHS) {
		if (report->output->tables && is_titled(list))
			send_row(list);
		else
			write_row(list);
	}
	if (triad_list_json(list))
		triad_json_object_end(triad_list_json(list));
	/* Only the first row is for titles. */
	if (list->phase == TRIAD_LIST_TITLES)
		list->phase = TRIAD_LIST_ROWS;
}

/* --- cells --- */

static void measure(int *width, const char *text)
{
	int needed = triad_command_width(text);

	if (needed > *width)
		*width = needed;
}

/* Appends a cell.  Pads measured columns by characters, others by octets, like
 * printf(). */
static void append_cell(
	char *line, size_t size, int width, int measured, const char *text)
{
	if (width == TRIAD_LIST_MEASURED)
		triad_text_append(line, size, "%s%*s", text,
			measured - triad_command_width(text), "");
	else
		triad_text_append(line, size, "%*s",
			width == TRIAD_LIST_LONG ? -LONG_COLUMN : width, text);
}

static void append_title(
	struct triad_list *list, const char *title, int width, int measured)
{
	char heading[HEADING_SIZE];

	make_heading(heading, sizeof(heading), title);
	append_cell(list->titles, sizeof(list->titles), width, measured, heading);
}

static void append_colored(
	struct triad_list *list, int width, int measured, const char *text)
{
	bool is_colored = list->next.color && list->report->output->color;

	if (is_colored)
		triad_text_append(list->row, sizeof(list->row), "%s",
			triad_table_color_start(list->next.color));
	append_cell(list->row, sizeof(list->row), width, measured, text);
	if (is_colored)
		triad_text_append(list->row, sizeof(list->row), "\033[0m");
}

static uint8_t flags_of(int width, bool is_spare)
{
	bool is_long =
		!width || width == TRIAD_LIST_MEASURED || width == TRIAD_LIST_LONG;

	return (uint8_t)((width > 0 ? TRIAD_TABLE_NUMBER : 0) |
		(is_long ? TRIAD_TABLE_LONG : 0) | (is_spare ? TRIAD_TABLE_SPARE : 0));
}

static void add_cell(struct triad_list *list, const char *name, const char *title,
	int width, const char *text, const char *value)
{
	const struct triad_list_next *next = &list->next;
	int *measured = &list->widths[list->n_columns];

	list->columns[list->n_columns] = (struct triad_table_column){
		.flags = flags_of(width, next->is_spare),
		.name = name         ? name
			: next->name ? next->name
				     : "",
		.title = title,
	};
	if (list->n_columns++)
		append_to_lines(list, list->gap ? list->gap : " ");
	measure(measured, title);
	measure(measured, text);
	append_title(list, title, width, *measured);
	append_colored(list, width, *measured, text);
	triad_table_record_octet(&list->record, (uint8_t)next->color);
	triad_table_record_text(&list->record, text);
	triad_table_record_text(&list->record, value ? value : "");
}

static void put_number_cell(struct triad_list *list, const char *name,
	const char *title, int width, const char *text, const char *value)
{
	if (!title)
		return;
	if (!list->report->as_json && list->n_columns < TRIAD_LIST_MAX_COLUMNS)
		add_cell(list, name, title, width, text, value);
	list->next = (struct triad_list_next){.name = NULL};
}

static void put_cell(struct triad_list *list, const char *name, const char *title,
	int width, const char *text)
{
	put_number_cell(list, name, title, width, text, list->next.value);
}

void triad_list_uint(struct triad_list *list, const char *name, const char *title,
	int width, uint64_t value)
{
	char text[24];

	if (name && triad_list_json(list))
		triad_json_uint(triad_list_json(list), name, value);
	snprintf(text, sizeof(text), "%" PRIu64, value);
	put_number_cell(list, name, title, width, text, text);
}

void triad_list_text(struct triad_list *list, const char *name, const char *title,
	int width, const char *text)
{
	if (name && triad_list_json(list))
		triad_json_string(triad_list_json(list), name, text);
	put_cell(list, name, title, width, text ? text : "-");
}

void triad_list_node(struct triad_list *list, const char *name, const char *title,
	int width, const struct triad_fabric_node *node)
{
	if (triad_list_json(list))
		triad_json_string(
			triad_list_json(list), name, node ? node->name : NULL);
	put_cell(list, name, title, width, node ? triad_node_label(node).text : "-");
}

void triad_list_end(struct triad_list *list, bool is_far, uint64_t guid,
	const struct triad_fabric_node *node, uint8_t port)
{
	triad_list_guid(list, is_far ? "far_guid" : "node_guid", NULL, guid);
	triad_list_node(list, is_far ? "far_name" : "node_name",
		is_far ? "far end" : "switch", 16, node);
	if (port)
		triad_list_uint(list, is_far ? "far_port" : "port", "port", 4, port);
	else
		triad_list_text(list, is_far ? "far_port" : "port", "port", 4, NULL);
}

void triad_list_wall_time(
	struct triad_list *list, const char *name, const char *title, uint64_t wall_us)
{
	char text[TRIAD_CLOCK_TEXT_SIZE];

	triad_list_text(list, name, title, -20,
		wall_us ? triad_clock_format_s(wall_us, text) : NULL);
}

void triad_list_time(
	struct triad_list *list, const char *name, const char *title, uint64_t at_us)
{
	triad_list_wall_time(
		list, name, title, at_us ? triad_clock_to_wall_us(at_us) : 0);
}

void triad_list_bool(struct triad_list *list, const char *name, const char *title,
	int width, bool value)
{
	if (name && triad_list_json(list))
		triad_json_bool(triad_list_json(list), name, value);
	put_cell(list, name, title, width, value ? "yes" : "-");
}

void triad_list_guid(
	struct triad_list *list, const char *name, const char *title, uint64_t guid)
{
	char text[24];

	if (name && triad_list_json(list))
		triad_json_guid(triad_list_json(list), name, guid);
	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	put_cell(list, name, title, -18, text);
}

void triad_list_double(struct triad_list *list, const char *name, double value)
{
	if (triad_list_json(list))
		triad_json_double(triad_list_json(list), name, value);
}

void triad_list_real(struct triad_list *list, const char *name, const char *title,
	int width, double value, const char *format, ...)
{
	char text[256] = "-", digits[40] = "";
	va_list args;

	if (name)
		triad_list_double(list, name, value);
	if (isfinite(value)) {
		va_start(args, format);
		vsnprintf(text, sizeof(text), format, args);
		va_end(args);
		snprintf(digits, sizeof(digits), "%.9g", value);
	}
	put_number_cell(list, NULL, title, width, text, digits);
}

void triad_list_counter(struct triad_list *list, const char *title, int width,
	enum triad_counter_unit unit, double amount, const char *behind)
{
	char text[40], value[40] = "";

	triad_command_format_counter(text, sizeof(text), unit, amount);
	if (!isnan(amount)) {
		triad_text_append(text, sizeof(text), "%s", behind);
		snprintf(value, sizeof(value), *behind ? "%.9g" : "%.0f",
			amount * triad_command_scale(unit));
	}
	put_number_cell(list, NULL, title, width, text, value);
}

void triad_list_format(
	struct triad_list *list, const char *title, int width, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put_cell(list, NULL, title, width, text);
}

void triad_list_blank(struct triad_list *list)
{
	append_to_lines(list, " ");
}

void triad_list_note(struct triad_list *list, const char *format, ...)
{
	char line[1024];
	va_list args;

	if (list->report->as_json)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	triad_text_append(list->notes, sizeof(list->notes), "%s\n", line);
}
