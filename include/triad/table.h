/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The format of tables between the plugin and triadctl.
 *
 * Only triadctl knows the terminal.  So the plugin sends columns and cells, and
 * triadctl lays them out, sorts them and chooses columns.
 *
 * Model: the TABLE frames of an answer (triad/control.h) hold one stream of records; a
 * record may begin in one frame and end in the next.  A record is its kind (1 octet),
 * the size of the rest (2 octets, big-endian), and the rest:
 *
 *     'T'  a table begins: its indent (text), the number of columns (1 octet), and for
 *          each its flags (1 octet), JSON's name and the title (texts)
 *     'R'  a row: for each column a color (1 octet), what people see and, of a number,
 *          its value in digits, or "" (texts)
 *     'N'  a note: a text that stands in lines of its own beneath the row before it
 *
 * A text ends with a 0 octet.  A table has rows and notes until another one begins, or
 * until text (an OUTPUT frame) or the end of the answer comes.
 *
 * Invariants of what is read: at least one and at most TRIAD_TABLE_MAX_COLUMNS columns;
 * a row has as many cells; no text is longer than TRIAD_TABLE_MAX_TEXT, and all are
 * valid UTF-8 without control characters.
 *
 * Thread-safety: none.
 * Memory: no allocation; what a callback gets is borrowed for the call. */
#ifndef TRIAD_TABLE_H
#define TRIAD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_TABLE_MAX_COLUMNS 16
#define TRIAD_TABLE_MAX_TEXT 1000 /* octets; longer ones are cut by the sender */

#define TRIAD_TABLE_RECORD_HEADER_SIZE 3

/* The largest record: a row of the longest texts and values. */
#define TRIAD_TABLE_RECORD_SIZE                                                        \
	(TRIAD_TABLE_RECORD_HEADER_SIZE +                                              \
		TRIAD_TABLE_MAX_COLUMNS * (2 * (TRIAD_TABLE_MAX_TEXT + 1) + 1))

enum triad_table_kind {
	TRIAD_TABLE_BEGIN = 'T',
	TRIAD_TABLE_ROW = 'R',
	TRIAD_TABLE_NOTE = 'N',
};

/* Flags of a column. */
enum {
	TRIAD_TABLE_NUMBER = 1, /* right-aligned, never cut */
	TRIAD_TABLE_LONG = 2,   /* a name, a remark: it may be cut */
	TRIAD_TABLE_SPARE = 4,  /* omitted first when there is no room for all */
};

/* A higher color is worse. */
enum triad_table_color {
	TRIAD_TABLE_PLAIN,
	TRIAD_TABLE_YELLOW,
	TRIAD_TABLE_RED,
	TRIAD_TABLE_N_COLORS,
};

/* Escape sequence that begins it; "" for PLAIN. */
const char *triad_table_color_start(enum triad_table_color color);

/* --- the sender --- */

/* A record under construction.  What does not fit is omitted. */
struct triad_table_record {
	size_t used;
	uint8_t octets[TRIAD_TABLE_RECORD_SIZE];
};

void triad_table_record_begin(
	struct triad_table_record *record, enum triad_table_kind kind);
void triad_table_record_octet(struct triad_table_record *record, uint8_t octet);
void triad_table_record_text(struct triad_table_record *record, const char *text);

/* Completes the record: 'octets' has 'used' octets to send. */
void triad_table_record_end(struct triad_table_record *record);

/* --- the receiver --- */

struct triad_table_column {
	uint8_t flags;
	const char *name; /* of JSON's member, or "" */
	const char *title;
};

struct triad_table_cell {
	enum triad_table_color color;
	const char *text;
	const char *value; /* "": not a number, or not known */
};

/* The record of a row, without its header: 'size' octets of 'rest'.  Reads the cells of
 * 'n_columns' columns; they point into 'rest'.  False when it isn't a row. */
bool triad_table_row_read(const uint8_t *rest, size_t size, unsigned n_columns,
	struct triad_table_cell *cells);

/* Each returns 0, or an errno that ends the reading. */
struct triad_table_sink {
	int (*begin)(void *context, const char *indent, unsigned n_columns,
		const struct triad_table_column *columns);
	/* triad_table_row_read() has been true for it. */
	int (*row)(void *context, const uint8_t *rest, size_t size);
	int (*note)(void *context, const char *text);
	void *context;
};

struct triad_table_reader {
	unsigned n_columns; /* of the table being read; 0: none yet */
	struct triad_table_record record;
};

/* Call it before each answer. */
void triad_table_reader_init(struct triad_table_reader *reader);

/* Reads what has come.  Returns 0; EPROTO for what isn't a table; or what a function of
 * 'sink' returned. */
int triad_table_reader_take(struct triad_table_reader *reader, const void *octets,
	size_t size, const struct triad_table_sink *sink);

/* Whether a record has come only in part. */
bool triad_table_reader_is_amid(const struct triad_table_reader *reader);

#endif
