/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lists: a table for people, or an array in JSON, from one description.
 *
 * Model: a command writes one row after the other, column by column.  A column has a
 * name in JSON (NULL: only people see it) and a title for people (NULL: only JSON has
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
 * Widths are printf()'s: negative is left-aligned, 0 as wide as the text.  For columns
 * as wide as their widest text (TRIAD_LIST_MEASURED), the command writes all rows
 * twice: first in the phase TRIAD_LIST_WIDTHS, which measures and shows nothing.
 * triadctl computes its own widths, and derives the kind of a column from these:
 * positive is a number, which is never cut; TRIAD_LIST_MEASURED, TRIAD_LIST_LONG and 0
 * are names and remarks, which are cut where a terminal is too narrow; other negative
 * ones are short words.
 *
 * Thread-safety: one thread. */
#ifndef TRIAD_SERVICE_COMMAND_LIST_H
#define TRIAD_SERVICE_COMMAND_LIST_H

#include <limits.h>

#include "ib/counter.h"
#include "ib/node_label.h"
#include "service/command/report.h"
#include "triad/table.h"

#define TRIAD_LIST_MAX_COLUMNS TRIAD_TABLE_MAX_COLUMNS /* for people */
#define TRIAD_LIST_MEASURED INT_MIN /* as wide as the widest text; left-aligned */
#define TRIAD_LIST_LONG                                                                \
	(INT_MIN + 1) /* left-aligned; longer texts stick out in lines */

/* Attributes of the next column for people, and of no other. */
struct triad_list_next {
	const char *name;  /* of JSON's member, where the column's own is NULL */
	const char *value; /* the plain number; set by triad_list_uint() */
	bool is_spare;     /* left out first where a terminal is too narrow */
	enum triad_table_color color;
};

struct triad_list {
	struct triad_report *report;
	const char *indent, *gap; /* before a row, between columns; NULL: "", " " */
	enum {
		TRIAD_LIST_ROWS,
		TRIAD_LIST_WIDTHS,
		TRIAD_LIST_TITLES, /* one row, of which only titles are shown: for a
				    * list without rows that has titles all the same */
	} phase;
	bool has_titles; /* titles have been shown */
	int widths[TRIAD_LIST_MAX_COLUMNS];
	struct triad_list_next next;
	/* The present row, for people; drops what does not fit. */
	unsigned n_columns;
	struct triad_table_column columns[TRIAD_LIST_MAX_COLUMNS];
	char titles[512], row[1024], notes[2048];
	struct triad_table_record record; /* the cells, for a receiver of tables */
};

/* Whether the command must write all rows in the phase TRIAD_LIST_WIDTHS first.  False
 * for JSON, and where triadctl measures. */
bool triad_list_is_measured(const struct triad_report *report);

void triad_list_row(struct triad_list *list);
void triad_list_row_end(struct triad_list *list);

void triad_list_uint(struct triad_list *list, const char *name, const char *title,
	int width, uint64_t value);

/* NULL: null, or "-". */
void triad_list_text(struct triad_list *list, const char *name, const char *title,
	int width, const char *text);

/* A node of a fabric: its name in JSON, its label for people (ib/node_label.h).  NULL:
 * null, or "-". */
void triad_list_node(struct triad_list *list, const char *name, const char *title,
	int width, const struct triad_fabric_node *node);

/* The end of a link between switches: "node_guid", "node_name", "port", or for the far one
 * "far_guid", "far_name", "far_port".  'node': NULL: the fabric does not have it; 'port': 0: not
 * known. */
void triad_list_end(struct triad_list *list, bool is_far, uint64_t guid,
	const struct triad_fabric_node *node, uint8_t port);

/* A time of the wall clock, or of the monotonic one, by seconds; null for 0. */
void triad_list_wall_time(
	struct triad_list *list, const char *name, const char *title, uint64_t wall_us);
void triad_list_time(
	struct triad_list *list, const char *name, const char *title, uint64_t at_us);

/* "yes" or "-" for people. */
void triad_list_bool(struct triad_list *list, const char *name, const char *title,
	int width, bool value);

/* 18 characters; null for 0. */
void triad_list_guid(
	struct triad_list *list, const char *name, const char *title, uint64_t guid);

/* Where to write further members of a row in JSON; NULL for people, and outside a
 * row. */
struct triad_json *triad_list_json(const struct triad_list *list);

/* In JSON only. */
void triad_list_double(struct triad_list *list, const char *name, double value);

/* The same, and a column for people: the text made by 'format', sorted by the value;
 * "-" for a value that is not finite. */
void triad_list_real(struct triad_list *list, const char *name, const char *title,
	int width, double value, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* For people: a counter's amount ('behind' is "") or rate ("/s"); "-" for NAN.  Data
 * are in octets, also for sorting and raw output. */
void triad_list_counter(struct triad_list *list, const char *title, int width,
	enum triad_counter_unit unit, double amount, const char *behind);

/* For people only, at most 255 octets. */
void triad_list_format(struct triad_list *list, const char *title, int width,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* For people: one blank more before the next column. */
void triad_list_blank(struct triad_list *list);

/* For people: a line beneath the row, at most 1023 octets. */
void triad_list_note(struct triad_list *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
