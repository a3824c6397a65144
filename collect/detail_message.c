/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/detail_message.h"

#include <string.h>

#include "collect/varint.h"

#define MAX_ROWS_OF_NODE 255u

_Static_assert(TRIAD_PMA_N_ATTRIBUTES <= 32, "four octets hold a set of attributes");
_Static_assert(TRIAD_DETAIL_MOST_SLOTS <= 64, "a number holds a set of slots");

/* --- writing --- */

void triad_detail_writer_begin(struct triad_detail_writer *writer,
	const struct triad_collect_head *head, uint8_t *to, size_t size)
{
	*writer = (struct triad_detail_writer){0};
	triad_wire_init(&writer->wire, to, size);
	triad_collect_put_head(&writer->wire, head);
}

static void put_attribute(struct triad_wire *w,
	const struct triad_details_report *report, uint64_t age_ms)
{
	uint64_t not_zero = 0, based = 0;

	for (unsigned i = 0; i < TRIAD_DETAIL_MOST_SLOTS; i++) {
		not_zero |= (uint64_t)(report->raw[i] != 0) << i;
		based |= (uint64_t)(report->base[i] != 0) << i;
	}
	triad_varint_put(w, age_ms);
	triad_varint_put(w, report->n_own_resets);
	triad_varint_put(w, report->n_others_resets);
	triad_varint_put(w, not_zero);
	for (uint64_t left = not_zero; left; left &= left - 1)
		triad_varint_put(w, report->raw[__builtin_ctzll(left)]);
	triad_varint_put(w, based);
	for (uint64_t left = based; left; left &= left - 1)
		triad_varint_put_signed(w, report->base[__builtin_ctzll(left)]);
}

static void put_detail_row(
	struct triad_wire *w, const struct triad_detail_entries *entries)
{
	uint32_t zeros = 0, others = 0;
	uint64_t zeros_age_ms = 0;

	for (unsigned i = 0; i < entries->n; i++) {
		if (!triad_details_is_zero(&entries->report[i])) {
			others |= TRIAD_DETAIL_BIT(entries->attribute[i]);
			continue;
		}
		zeros |= TRIAD_DETAIL_BIT(entries->attribute[i]);
		zeros_age_ms = entries->age_ms[i];
	}
	triad_wire_put(w, 1, entries->port);
	triad_varint_put(w, entries->zeroed_s);
	triad_wire_put(w, 4, zeros);
	if (zeros)
		triad_varint_put(w, zeros_age_ms);
	triad_wire_put(w, 4, others);
	for (unsigned i = 0; i < entries->n; i++)
		if (others & TRIAD_DETAIL_BIT(entries->attribute[i]))
			put_attribute(w, &entries->report[i], entries->age_ms[i]);
}

bool triad_detail_writer_put(
	struct triad_detail_writer *writer, const struct triad_detail_entries *entries)
{
	const struct triad_detail_writer before = *writer;
	struct triad_wire *w = &writer->wire;

	if (!writer->node_at || writer->node_guid != entries->node_guid ||
		w->start[writer->node_at] == MAX_ROWS_OF_NODE) {
		triad_wire_put(w, 8, entries->node_guid);
		/* The number of rows; grows with each row that fits. */
		writer->node_at = w->at;
		writer->node_guid = entries->node_guid;
		triad_wire_put(w, 1, 0);
	}
	put_detail_row(w, entries);
	/* The row does not fit: restore the message. */
	if (w->failed) {
		*writer = before;
		return false;
	}
	w->start[writer->node_at]++;
	writer->n_rows++;
	return true;
}

/* --- reading --- */

void triad_detail_reader_begin(
	struct triad_detail_reader *reader, struct triad_wire *body)
{
	memset(reader, 0, sizeof(*reader));
	reader->wire = body;
}

/* Reads the slots; drops those that this version does not know. */
static void get_slots(struct triad_wire *w, uint32_t *raw)
{
	for (uint64_t left = triad_varint_get(w); left && !w->failed;
		left &= left - 1) {
		unsigned slot = (unsigned)__builtin_ctzll(left);
		uint64_t value = triad_varint_get(w);

		if (value > UINT32_MAX)
			w->failed = true;
		else if (slot < TRIAD_DETAIL_MOST_SLOTS)
			raw[slot] = (uint32_t)value;
	}
}

static void get_bases(struct triad_wire *w, uint64_t *base)
{
	for (uint64_t left = triad_varint_get(w); left && !w->failed;
		left &= left - 1) {
		unsigned slot = (unsigned)__builtin_ctzll(left);
		uint64_t value = triad_varint_get_signed(w);

		if (slot < TRIAD_DETAIL_MOST_SLOTS)
			base[slot] = value;
	}
}

static void get_attribute(struct triad_wire *w, struct triad_detail_entry *entry)
{
	entry->age_ms = triad_varint_get(w);
	entry->report.n_own_resets = (uint32_t)triad_varint_get(w);
	entry->report.n_others_resets = (uint32_t)triad_varint_get(w);
	get_slots(w, entry->report.raw);
	get_bases(w, entry->report.base);
}

/* Begins the next row, and the next node if the last one has no more rows. */
static void get_row(struct triad_detail_reader *reader)
{
	struct triad_wire *w = reader->wire;

	if (!reader->n_rows_left) {
		reader->entry.node_guid = triad_wire_get64(w);
		reader->n_rows_left = triad_wire_get8(w);
		/* Writers never write a node without rows. */
		if (!reader->n_rows_left)
			w->failed = true;
	}
	reader->n_rows_left--;
	reader->entry.port = triad_wire_get8(w);
	reader->entry.zeroed_s = (uint32_t)triad_varint_get(w);
	reader->zeros = triad_wire_get32(w);
	reader->zeros_age_ms = reader->zeros ? triad_varint_get(w) : 0;
	reader->others = triad_wire_get32(w);
}

/* Whether the entry has only slots of its attribute, with values in their range. */
static bool is_possible(const struct triad_detail_entry *entry)
{
	unsigned n = triad_detail_n_slots(entry->attribute);

	for (unsigned i = 0; i < TRIAD_DETAIL_MOST_SLOTS; i++) {
		const struct triad_detail_field *field =
			i < n ? triad_detail_field(entry->attribute, i) : NULL;

		if (entry->report.raw[i] > (field ? triad_detail_max(field) : 0))
			return false;
	}
	return true;
}

/* Reads the row's next attribute; false when there is none, or the row is broken. */
static bool get_entry(struct triad_detail_reader *reader)
{
	struct triad_detail_entry *entry = &reader->entry;
	uint32_t *from = reader->zeros ? &reader->zeros : &reader->others;
	unsigned attribute;

	if (!*from)
		return false;
	attribute = (unsigned)__builtin_ctz(*from);
	memset(&entry->report, 0, sizeof(entry->report));
	if (reader->zeros)
		entry->age_ms = reader->zeros_age_ms;
	else
		get_attribute(reader->wire, entry);
	*from &= *from - 1;
	entry->attribute = (enum triad_pma_attribute)attribute;
	return true;
}

enum triad_detail_next triad_detail_reader_next(struct triad_detail_reader *reader)
{
	struct triad_wire *w = reader->wire;

	while (!w->failed) {
		if (get_entry(reader)) {
			if (w->failed)
				break;
			if (!triad_detail_attribute(reader->entry.attribute))
				continue; /* an attribute of a later version of Triad */
			return is_possible(&reader->entry) ? TRIAD_DETAIL_ENTRY
							   : TRIAD_DETAIL_BROKEN;
		}
		if (!reader->n_rows_left && w->at == w->size)
			return TRIAD_DETAIL_END;
		get_row(reader);
	}
	return TRIAD_DETAIL_BROKEN;
}
