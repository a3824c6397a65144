/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lists: a table for people, or an array in JSON, from one description.
 *
 * Model: a function of the command's puts one row, column after column.  A column has a
 * name in JSON (NULL: people alone see it) and a title for people (NULL: JSON alone has
 * it).  Titles stand above the first row, in upper case, unless all are "".
 *
 * A receiver that lays tables out itself (triadctl; triad/table.h) gets columns and
 * cells; others, as OpenSM's console, get lines.  A list without titles is lines for
 * both.
 *
 *     triad_report_array(report, "doors");
 *     for (each door) {
 *             triad_list_row(list);
 *             triad_list_text(list, "name", "Door", -12, door->name);
 *             triad_list_uint(list, "opened", "Times", 6, door->n_opened);
 *             triad_list_row_end(list);
 *     }
 *     triad_report_array_end(report);
 *
 * Widths are printf()'s: negative is left-aligned, 0 as wide as the text.  Columns that
 * are as wide as their widest text are measured before: all rows are put twice, in the
 * phase TRIAD_LIST_WIDTHS first, in which nothing is shown.  triadctl has its own
 * widths, and takes from these what a column is: positive is a number, which is never
 * cut; TRIAD_LIST_MEASURED, TRIAD_LIST_LONG and 0 are names and remarks, which are cut
 * where a terminal is too narrow; other negative ones are short words.
 *
 * Thread-safety: one thread. */
#ifndef TRIAD_SERVICE_COMMAND_LIST_H
#define TRIAD_SERVICE_COMMAND_LIST_H

#include <limits.h>

#include "ib/counter.h"
#include "service/command/report.h"
#include "triad/table.h"

#define TRIAD_LIST_MAX_COLUMNS TRIAD_TABLE_MAX_COLUMNS /* for people */
#define TRIAD_LIST_MEASURED INT_MIN /* as wide as the widest text; left-aligned */
#define TRIAD_LIST_LONG                                                                \
	(INT_MIN + 1) /* left-aligned; longer texts stick out in lines */

/* What else there is to say of the next column for people; of that one alone. */
struct triad_list_next {
	const char *name;  /* of JSON's member, where the column's own is NULL */
	const char *value; /* the number, in digits alone; set by triad_list_uint() */
	bool is_spare;     /* left out first where a terminal is too narrow */
	enum triad_table_color color;
};

struct triad_list {
	struct triad_report *report;
	const char *indent, *gap; /* before a row, between columns; NULL: "", " " */
	enum {
		TRIAD_LIST_ROWS,
		TRIAD_LIST_WIDTHS,
		TRIAD_LIST_TITLES, /* one row, of which titles alone are shown: for a
				    * list that has them without any row, too */
	} phase;
	bool has_titles; /* they have been shown */
	int widths[TRIAD_LIST_MAX_COLUMNS];
	struct triad_list_next next;
	/* Of the present row, for people; what does not fit is left out. */
	unsigned n_columns;
	struct triad_table_column columns[TRIAD_LIST_MAX_COLUMNS];
	char titles[512], row[1024], notes[2048];
	struct triad_table_record record; /* the cells, for a receiver of tables */
};

/* Whether all rows are to be put in the phase TRIAD_LIST_WIDTHS first: not for JSON, nor
 * where triadctl measures by itself. */
bool triad_list_is_measured(const struct triad_report *report);

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

/* Where a row's further members in JSON go; NULL for people, and when no row is put. */
struct triad_json *triad_list_json(const struct triad_list *list);

/* In JSON alone. */
void triad_list_double(struct triad_list *list, const char *name, double value);

/* The same, and a column: what people read as 'format' says, with the value to sort by; "-"
 * for what is not finite. */
void triad_list_real(struct triad_list *list, const char *name, const char *title,
	int width, double value, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* For people: a counter's amount, or a rate of it with "/s" for 'behind', which is "" else;
 * "-" for NAN.  Data are sorted by, and raw, in octets as they are shown. */
void triad_list_counter(struct triad_list *list, const char *title, int width,
	enum triad_counter_unit unit, double amount, const char *behind);

/* For people alone, at most 255 octets. */
void triad_list_format(struct triad_list *list, const char *title, int width,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* For people: one blank more before the next column. */
void triad_list_blank(struct triad_list *list);

/* For people: a line beneath the row, at most 1023 octets. */
void triad_list_note(struct triad_list *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
