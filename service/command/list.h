/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lists: a table for people, or an array in JSON, from one description.
 *
 * Model: a function of the command's puts one row, column after column.  A column has a
 * name in JSON (NULL: people alone see it) and a title for people (NULL: JSON alone has
 * it).  The same function puts the titles, and measures columns that are as wide as
 * their widest text: the list's phase says which, and there is nothing of either in
 * JSON.
 *
 *     triad_list_row(list);
 *     triad_list_text(list, "name", "Door", TRIAD_LIST_MEASURED, door->name);
 *     triad_list_uint(list, "opened", "Times", 6, door->n_opened);
 *     triad_list_row_end(list);
 *
 * Widths are printf()'s: negative is left-aligned, 0 as wide as the text.
 *
 * Thread-safety: one thread. */
#ifndef TRIAD_SERVICE_COMMAND_LIST_H
#define TRIAD_SERVICE_COMMAND_LIST_H

#include <limits.h>

#include "service/command/report.h"

#define TRIAD_LIST_MAX_COLUMNS 16   /* for people */
#define TRIAD_LIST_MEASURED INT_MIN /* as wide as the widest text; left-aligned */

struct triad_list {
	struct triad_report *report;
	const char *indent, *gap; /* before a row, between columns; NULL: "", " " */
	bool bold;                /* titles, where there are colors */
	enum {
		TRIAD_LIST_ROWS,
		TRIAD_LIST_WIDTHS, /* rows are measured, until this is set to TITLES */
		TRIAD_LIST_TITLES, /* one row of titles, whatever its values; then ROWS */
	} phase;
	unsigned n_columns; /* of the present row, for people */
	int widths[TRIAD_LIST_MAX_COLUMNS];
};

/* The array that rows are in, 'name' in its object; nothing for people. */
void triad_list_begin(struct triad_list *list, const char *name);
void triad_list_end(struct triad_list *list);

void triad_list_row(struct triad_list *list);
void triad_list_row_end(struct triad_list *list);

void triad_list_uint(struct triad_list *list, const char *name, const char *title,
	int width, uint64_t value);

/* NULL: null, or "-". */
void triad_list_text(struct triad_list *list, const char *name, const char *title,
	int width, const char *text);

/* "yes" or "-" for people. */
void triad_list_bool(struct triad_list *list, const char *name, const char *title,
	int width, bool value);

/* 18 characters; null for 0. */
void triad_list_guid(
	struct triad_list *list, const char *name, const char *title, uint64_t guid);

/* In JSON alone. */
void triad_list_double(struct triad_list *list, const char *name, double value);

/* For people alone, at most 255 octets. */
void triad_list_format(struct triad_list *list, const char *title, int width,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* For people: one blank more before the next column. */
void triad_list_blank(struct triad_list *list);

/* True when the caller may write something behind the last column, for people; 'title'
 * is what stands over it, or NULL. */
bool triad_list_tail(struct triad_list *list, const char *title);

#endif
