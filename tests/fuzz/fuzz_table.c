/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables that a plugin sends triadctl, with any octets.  Accepted records must be
 * within their limits, printable on any terminal, written as they were read, and the
 * same however the octets are cut into pieces.
 *
 * Input: the size of pieces (1 octet, 0: all at once), then records. */
#include "lib/text.h"
#include "tests/fuzz/fuzz.h"
#include "triad/table.h"

#define MOST ((size_t)256 << 10)

/* The records that were read, written again. */
struct copy {
	unsigned n_columns;
	size_t size;
	uint8_t octets[MOST];
};

static void check_text(const char *text)
{
	size_t size = strlen(text);

	require(size <= TRIAD_TABLE_MAX_TEXT, "no longer than allowed");
	require(triad_text_check(text, size) == size && !strchr(text, '\t'),
		"it may be shown");
}

static void put(struct copy *copy, struct triad_table_record *record)
{
	triad_table_record_end(record);
	require(record->used <= MOST - copy->size, "no more than came");
	memcpy(copy->octets + copy->size, record->octets, record->used);
	copy->size += record->used;
}

static int copy_begin(void *context, const char *indent, unsigned n_columns,
	const struct triad_table_column *columns)
{
	static struct triad_table_record record;
	struct copy *copy = context;

	require(n_columns && n_columns <= TRIAD_TABLE_MAX_COLUMNS, "columns");
	copy->n_columns = n_columns;
	check_text(indent);
	triad_table_record_begin(&record, TRIAD_TABLE_BEGIN);
	triad_table_record_text(&record, indent);
	triad_table_record_octet(&record, (uint8_t)n_columns);
	for (unsigned i = 0; i < n_columns; i++) {
		check_text(columns[i].name);
		check_text(columns[i].title);
		triad_table_record_octet(&record, columns[i].flags);
		triad_table_record_text(&record, columns[i].name);
		triad_table_record_text(&record, columns[i].title);
	}
	put(copy, &record);
	return 0;
}

static int copy_row(void *context, const uint8_t *rest, size_t size)
{
	static struct triad_table_record record;
	struct triad_table_cell cells[TRIAD_TABLE_MAX_COLUMNS];
	struct copy *copy = context;

	require(copy->n_columns, "a row is of a table");
	require(triad_table_row_read(rest, size, copy->n_columns, cells),
		"what is handed over can be read");
	triad_table_record_begin(&record, TRIAD_TABLE_ROW);
	for (unsigned i = 0; i < copy->n_columns; i++) {
		require(cells[i].color < TRIAD_TABLE_N_COLORS, "a color");
		check_text(cells[i].text);
		check_text(cells[i].value);
		triad_table_record_octet(&record, (uint8_t)cells[i].color);
		triad_table_record_text(&record, cells[i].text);
		triad_table_record_text(&record, cells[i].value);
	}
	put(copy, &record);
	return 0;
}

static int copy_note(void *context, const char *text)
{
	static struct triad_table_record record;
	struct copy *copy = context;

	require(copy->n_columns, "a note is of a table");
	check_text(text);
	triad_table_record_begin(&record, TRIAD_TABLE_NOTE);
	triad_table_record_text(&record, text);
	put(copy, &record);
	return 0;
}

/* Reads the octets in pieces, and copies the records.  Returns the reader's result. */
static int read_all(const uint8_t *octets, size_t size, size_t piece, struct copy *copy)
{
	static struct triad_table_reader reader;
	const struct triad_table_sink sink = {copy_begin, copy_row, copy_note, copy};
	int error = 0;

	copy->size = 0;
	copy->n_columns = 0;
	triad_table_reader_init(&reader);
	for (size_t at = 0; at < size && !error; at += piece) {
		size_t n = size - at < piece ? size - at : piece;

		error = triad_table_reader_take(&reader, octets + at, n, &sink);
	}
	require(!error || error == EPROTO, "what is wrong");
	/* If no record is incomplete, all octets were copied. */
	if (!error && !triad_table_reader_is_amid(&reader))
		require(copy->size == size, "all was read");
	return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct copy whole, pieces;
	int error;

	if (size < 2 || size > MOST)
		return 0;
	error = read_all(data + 1, size - 1, size, &whole);
	require(!memcmp(whole.octets, data + 1, whole.size), "written as it was read");
	require(read_all(data + 1, size - 1, data[0] ? data[0] : size, &pieces) ==
				error &&
			pieces.size == whole.size,
		"the same in pieces");
	return 0;
}
