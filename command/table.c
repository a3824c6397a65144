/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/table.h"

#include <errno.h>
#include <string.h>

#include "lib/text.h"
#include "triad/wire.h"

const char *triad_table_color_start(enum triad_table_color color)
{
	static const char *const starts[TRIAD_TABLE_N_COLORS] = {
		[TRIAD_TABLE_PLAIN] = "",
		[TRIAD_TABLE_YELLOW] = "\033[33m",
		[TRIAD_TABLE_RED] = "\033[31m",
	};

	return starts[color];
}

/* --- the sender --- */

void triad_table_record_begin(
	struct triad_table_record *record, enum triad_table_kind kind)
{
	record->used = 0;
	triad_table_record_octet(record, (uint8_t)kind);
	/* Room for the size, which is known at the end. */
	triad_table_record_octet(record, 0);
	triad_table_record_octet(record, 0);
}

void triad_table_record_octet(struct triad_table_record *record, uint8_t octet)
{
	if (record->used < sizeof(record->octets))
		record->octets[record->used++] = octet;
}

void triad_table_record_text(struct triad_table_record *record, const char *text)
{
	size_t room = sizeof(record->octets) - record->used;
	size_t size = strlen(text);
	char *to = (char *)record->octets + record->used;

	if (!room)
		return;
	if (size > TRIAD_TABLE_MAX_TEXT || size >= room) {
		size = room - 1 < TRIAD_TABLE_MAX_TEXT ? room - 1
						       : TRIAD_TABLE_MAX_TEXT;
		/* Do not cut within a character. */
		while (size && (text[size] & 0xc0) == 0x80)
			size--;
	}
	memcpy(to, text, size);
	to[size] = '\0';
	/* Remove control characters and line ends: a receiver refuses these. */
	triad_text_clean(to);
	for (size_t i = 0; i < size; i++)
		if (to[i] == '\t')
			to[i] = ' ';
	record->used += size + 1;
}

void triad_table_record_end(struct triad_table_record *record)
{
	size_t rest = record->used - TRIAD_TABLE_RECORD_HEADER_SIZE;

	record->octets[1] = (uint8_t)(rest >> 8);
	record->octets[2] = (uint8_t)rest;
}

/* --- the receiver --- */

void triad_table_reader_init(struct triad_table_reader *reader)
{
	reader->n_columns = 0;
	reader->record.used = 0;
}

bool triad_table_reader_is_amid(const struct triad_table_reader *reader)
{
	return reader->record.used;
}

/* Reads the text at the cursor; fails if it is malformed or not printable. */
static const char *get_text(struct triad_wire *wire)
{
	const char *text = (const char *)wire->start + wire->at;
	size_t size = strnlen(text, wire->size - wire->at);

	if (size > TRIAD_TABLE_MAX_TEXT || memchr(text, '\t', size) ||
		triad_text_check(text, size) < size) {
		wire->failed = true;
		return "";
	}
	return triad_wire_take(wire, size + 1) ? text : "";
}

static bool is_read(const struct triad_wire *wire)
{
	return !wire->failed && wire->at == wire->size;
}

bool triad_table_row_read(const uint8_t *rest, size_t size, unsigned n_columns,
	struct triad_table_cell *cells)
{
	struct triad_wire wire;

	triad_wire_init(&wire, (void *)rest, size);
	for (unsigned i = 0; i < n_columns; i++) {
		uint8_t color = triad_wire_get8(&wire);

		if (color >= TRIAD_TABLE_N_COLORS)
			return false;
		cells[i].color = color;
		cells[i].text = get_text(&wire);
		cells[i].value = get_text(&wire);
	}
	return is_read(&wire);
}

static int read_begin(struct triad_table_reader *reader, struct triad_wire *wire,
	const struct triad_table_sink *sink)
{
	struct triad_table_column columns[TRIAD_TABLE_MAX_COLUMNS];
	const char *indent = get_text(wire);
	unsigned n = triad_wire_get8(wire);

	if (!n || n > TRIAD_TABLE_MAX_COLUMNS)
		return EPROTO;
	for (unsigned i = 0; i < n; i++) {
		columns[i].flags = triad_wire_get8(wire);
		columns[i].name = get_text(wire);
		columns[i].title = get_text(wire);
	}
	if (!is_read(wire))
		return EPROTO;
	reader->n_columns = n;
	return sink->begin(sink->context, indent, n, columns);
}

static int read_record(
	struct triad_table_reader *reader, const struct triad_table_sink *sink)
{
	struct triad_table_cell cells[TRIAD_TABLE_MAX_COLUMNS];
	uint8_t *rest = reader->record.octets + TRIAD_TABLE_RECORD_HEADER_SIZE;
	size_t size = reader->record.used - TRIAD_TABLE_RECORD_HEADER_SIZE;
	struct triad_wire wire;
	const char *text;

	triad_wire_init(&wire, rest, size);
	if (reader->record.octets[0] == TRIAD_TABLE_BEGIN)
		return read_begin(reader, &wire, sink);
	if (!reader->n_columns)
		return EPROTO;
	if (reader->record.octets[0] == TRIAD_TABLE_ROW)
		return triad_table_row_read(rest, size, reader->n_columns, cells)
			? sink->row(sink->context, rest, size)
			: EPROTO;
	text = get_text(&wire);
	return is_read(&wire) ? sink->note(sink->context, text) : EPROTO;
}

/* How many octets the record needs, as far as that is known; 0: malformed. */
static size_t wanted_octets(const struct triad_table_record *record)
{
	size_t size = TRIAD_TABLE_RECORD_HEADER_SIZE;

	if (record->used < TRIAD_TABLE_RECORD_HEADER_SIZE)
		return size;
	if (!record->octets[0] || !strchr("TRN", record->octets[0]))
		return 0;
	size += (size_t)record->octets[1] << 8 | record->octets[2];
	return size <= sizeof(record->octets) ? size : 0;
}

int triad_table_reader_take(struct triad_table_reader *reader, const void *octets,
	size_t size, const struct triad_table_sink *sink)
{
	struct triad_table_record *record = &reader->record;
	const uint8_t *from = octets;
	int error = 0;

	while (size && !error) {
		size_t wanted = wanted_octets(record), n;

		if (!wanted)
			return EPROTO;
		n = wanted - record->used < size ? wanted - record->used : size;
		memcpy(record->octets + record->used, from, n);
		record->used += n;
		from += n;
		size -= n;
		wanted = wanted_octets(record);
		/* Reading it refuses a record that has only a header. */
		if (wanted &&
			(record->used < wanted ||
				record->used < TRIAD_TABLE_RECORD_HEADER_SIZE))
			continue;
		error = wanted ? read_record(reader, sink) : EPROTO;
		record->used = 0;
	}
	return error;
}
