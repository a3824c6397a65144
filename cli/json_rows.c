/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/json_rows.h"

#include <string.h>

#include <glib.h>

#define ROW_DEPTH 2

static void add_character(struct triad_json_rows *rows, char c)
{
	if (rows->size < sizeof(rows->text) - 1)
		rows->text[rows->size++] = c;
	else
		rows->is_too_long = true;
}

static void add_code_digit(struct triad_json_rows *rows, char digit)
{
	rows->code = rows->code << 4 | (unsigned)g_ascii_xdigit_value(digit);
	if (--rows->n_hex)
		return;
	/* Triad's JSON escapes only control characters so; names have none. */
	add_character(rows, rows->code < 0x80 && rows->code ? (char)rows->code : '?');
}

static void take_string(struct triad_json_rows *rows, char c)
{
	if (rows->n_hex && g_ascii_isxdigit(c)) {
		add_code_digit(rows, c);
	} else if (rows->is_escaped) {
		rows->is_escaped = false;
		rows->n_hex = c == 'u' ? 4 : 0;
		rows->code = 0;
		if (c != 'u')
			add_character(rows, c);
	} else if (c == '\\') {
		rows->is_escaped = true;
	} else if (c == '"') {
		rows->is_in_string = false;
	} else {
		add_character(rows, c);
	}
}

static void begin_text(struct triad_json_rows *rows, bool is_string)
{
	rows->size = 0;
	rows->is_string = is_string;
	rows->is_in_string = is_string;
	rows->is_too_long = false;
	rows->is_escaped = false;
	rows->n_hex = 0;
}

/* After a colon: what has come is a name. */
static void end_name(struct triad_json_rows *rows)
{
	rows->text[rows->size] = '\0';
	rows->is_value = rows->is_string && !rows->is_too_long;
	strcpy(rows->name, rows->text);
	begin_text(rows, false);
}

/* After a comma or a bracket: what has come is a value, if a name came before. */
static void end_value(struct triad_json_rows *rows)
{
	bool is_null;

	rows->text[rows->size] = '\0';
	is_null = !rows->is_string && !strcmp(rows->text, "null");
	if ((rows->at_any_depth ? rows->is_value || rows->is_string
				: rows->is_value && rows->depth == ROW_DEPTH) &&
		!rows->is_too_long && (rows->is_string || rows->size))
		rows->member(rows->context, rows->name, is_null ? NULL : rows->text);
	rows->is_value = false;
	begin_text(rows, false);
}

static void close_bracket(struct triad_json_rows *rows, char c)
{
	end_value(rows);
	if (c == '}' && rows->depth == ROW_DEPTH && rows->end)
		rows->end(rows->context);
	rows->depth -= rows->depth > 0;
}

void triad_json_rows_take(struct triad_json_rows *rows, const char *json, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char c = json[i];

		if (rows->is_in_string) {
			take_string(rows, c);
		} else if (c == '"') {
			begin_text(rows, true);
		} else if (c == '[' || c == '{') {
			rows->is_value = false;
			rows->depth++;
		} else if (c == ']' || c == '}') {
			close_bracket(rows, c);
		} else if (c == ':') {
			end_name(rows);
		} else if (c == ',') {
			end_value(rows);
		} else if (!g_ascii_isspace(c)) {
			add_character(rows, c);
		}
	}
}
