/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/data.h"

#include <string.h>

#include "collect/varint.h"

#define MAX_ROWS_OF_NODE 255u

/* Counters that are written as the difference from what other counters predict. */
struct derived {
	unsigned counter, whole, part; /* counter = whole - part, mostly */
};
static const struct derived derived[] = {
	{TRIAD_PORT_UNICAST_XMIT_PKTS, TRIAD_PORT_XMIT_PKTS,
		TRIAD_PORT_MULTICAST_XMIT_PKTS},
	{TRIAD_PORT_UNICAST_RCV_PKTS, TRIAD_PORT_RCV_PKTS,
		TRIAD_PORT_MULTICAST_RCV_PKTS},
};
#define N_DERIVED (sizeof(derived) / sizeof(derived[0]))

/* The derived counters in 'has' whose both other counters are there, too. */
static uint32_t derived_of(uint32_t has)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < N_DERIVED; i++) {
		uint32_t need = 1u << derived[i].counter | 1u << derived[i].whole |
			1u << derived[i].part;

		if ((has & need) == need)
			mask |= 1u << derived[i].counter;
	}
	return mask;
}

/* --- writing --- */

bool triad_collect_data_begin(struct triad_collect_data_writer *writer,
	const struct triad_collect_head *head, const struct triad_collect_data *data,
	uint8_t *to, size_t size)
{
	struct triad_wire *w = &writer->wire;

	*writer = (struct triad_collect_data_writer){0};
	triad_wire_init(w, to, size);
	triad_collect_put_head(w, head);
	triad_wire_put(w, 4, data->number);
	triad_wire_put(w, 8, data->clock_us);
	triad_wire_put(w, 4, data->n_sweeps);
	triad_wire_put(w, 4, data->n_ports);
	triad_wire_put(w, 4, data->n_silent);
	triad_wire_put(w, 4, data->again_from);
	triad_wire_put(w, 4, data->again_since);
	return !w->failed;
}

static uint8_t flags_of(const struct triad_collect_row *row, uint32_t based)
{
	unsigned flags = row->answered ? TRIAD_COLLECT_ROW_ANSWERED : 0;

	if (row->has != TRIAD_COLLECT_USUAL)
		flags |= TRIAD_COLLECT_ROW_HAS;
	if (based)
		flags |= TRIAD_COLLECT_ROW_BASES;
	if (row->findings)
		flags |= TRIAD_COLLECT_ROW_FINDINGS;
	if (row->n_others_resets || row->n_own_resets)
		flags |= TRIAD_COLLECT_ROW_RESETS;
	if (row->has_wide_errors)
		flags |= TRIAD_COLLECT_ROW_WIDE;
	return (uint8_t)flags;
}

static void put_counters(struct triad_wire *w, const struct triad_collect_row *row)
{
	uint32_t mask = derived_of(row->has), not_zero = mask;

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (row->has & 1u << i && !(mask & 1u << i) && row->raw[i])
			not_zero |= 1u << i;
	/* A derived counter that equals its prediction takes no octet. */
	for (unsigned i = 0; i < N_DERIVED; i++) {
		const struct derived *d = &derived[i];

		if (row->raw[d->counter] == row->raw[d->whole] - row->raw[d->part])
			not_zero &= ~(mask & 1u << d->counter);
	}
	triad_wire_put(w, 3, not_zero);
	for (uint32_t left = not_zero & ~mask; left; left &= left - 1)
		triad_varint_put(w, row->raw[__builtin_ctz(left)]);
	for (unsigned i = 0; i < N_DERIVED; i++) {
		const struct derived *d = &derived[i];

		if (not_zero & mask & 1u << d->counter)
			triad_varint_put_signed(w,
				row->raw[d->counter] -
					(row->raw[d->whole] - row->raw[d->part]));
	}
}

static void put_counter_row(struct triad_wire *w, const struct triad_collect_row *row)
{
	uint32_t based = 0;
	uint8_t flags;

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		based |= (uint32_t)(row->has & 1u << i && row->base[i]) << i;
	flags = flags_of(row, based);
	triad_wire_put(w, 1, row->port);
	triad_wire_put(w, 1, flags);
	triad_varint_put(w, row->age_ms);
	triad_varint_put(w, row->zeroed_s);
	if (flags & TRIAD_COLLECT_ROW_HAS)
		triad_wire_put(w, 3, row->has);
	put_counters(w, row);
	if (based)
		triad_wire_put(w, 3, based);
	for (uint32_t left = based; left; left &= left - 1)
		triad_varint_put_signed(w, row->base[__builtin_ctz(left)]);
	if (flags & TRIAD_COLLECT_ROW_FINDINGS)
		triad_wire_put(w, 4, row->findings);
	if (flags & TRIAD_COLLECT_ROW_RESETS) {
		triad_varint_put(w, row->n_others_resets);
		triad_varint_put(w, row->n_own_resets);
	}
}

bool triad_collect_data_put(
	struct triad_collect_data_writer *writer, const struct triad_collect_row *row)
{
	const struct triad_collect_data_writer before = *writer;
	struct triad_wire *w = &writer->wire;

	if (!writer->node_at || writer->node_guid != row->node_guid ||
		w->start[writer->node_at] == MAX_ROWS_OF_NODE) {
		triad_wire_put(w, 8, row->node_guid);
		/* The number of rows; grows with each row that fits. */
		writer->node_at = w->at;
		writer->node_guid = row->node_guid;
		triad_wire_put(w, 1, 0);
	}
	put_counter_row(w, row);
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

bool triad_collect_data_open(struct triad_collect_data_reader *reader,
	struct triad_wire *body, struct triad_collect_data *data)
{
	*reader = (struct triad_collect_data_reader){.wire = body};
	data->number = triad_wire_get32(body);
	data->clock_us = triad_wire_get64(body);
	data->n_sweeps = triad_wire_get32(body);
	data->n_ports = triad_wire_get32(body);
	data->n_silent = triad_wire_get32(body);
	data->again_from = triad_wire_get32(body);
	data->again_since = triad_wire_get32(body);
	return !body->failed;
}

static uint32_t get_set(struct triad_wire *w, uint32_t allowed)
{
	uint32_t set = (uint32_t)triad_wire_get(w, 3);

	/* Unknown bits are an error: if they were skipped, the rest would be
	 * misread. */
	w->failed |= (set & ~allowed) != 0;
	return set & allowed;
}

static uint32_t get_small(struct triad_wire *w)
{
	uint64_t value = triad_varint_get(w);

	w->failed |= value > UINT32_MAX;
	return (uint32_t)value;
}

static void get_counters(struct triad_wire *w, struct triad_collect_row *row)
{
	uint32_t mask = derived_of(row->has), not_zero = get_set(w, row->has);

	for (uint32_t left = not_zero & ~mask; left; left &= left - 1)
		row->raw[__builtin_ctz(left)] = triad_varint_get(w);
	/* Last the derived counters: they need the others. */
	for (unsigned i = 0; i < N_DERIVED; i++) {
		const struct derived *d = &derived[i];

		if (!(mask & 1u << d->counter))
			continue;
		row->raw[d->counter] = row->raw[d->whole] - row->raw[d->part];
		if (not_zero & 1u << d->counter)
			row->raw[d->counter] += triad_varint_get_signed(w);
	}
}

static void get_row(struct triad_wire *w, struct triad_collect_row *row)
{
	uint8_t flags;
	uint32_t based;

	row->port = triad_wire_get8(w);
	flags = triad_wire_get8(w);
	row->answered = flags & TRIAD_COLLECT_ROW_ANSWERED;
	row->has_wide_errors = flags & TRIAD_COLLECT_ROW_WIDE;
	row->age_ms = get_small(w);
	row->zeroed_s = get_small(w);
	row->has = flags & TRIAD_COLLECT_ROW_HAS ? get_set(w, TRIAD_COLLECT_USUAL)
						 : TRIAD_COLLECT_USUAL;
	get_counters(w, row);
	based = flags & TRIAD_COLLECT_ROW_BASES ? get_set(w, row->has) : 0;
	for (uint32_t left = based; left; left &= left - 1)
		row->base[__builtin_ctz(left)] = triad_varint_get_signed(w);
	if (flags & TRIAD_COLLECT_ROW_FINDINGS)
		row->findings = triad_wire_get32(w);
	if (flags & TRIAD_COLLECT_ROW_RESETS) {
		row->n_others_resets = get_small(w);
		row->n_own_resets = get_small(w);
	}
}

enum triad_collect_next triad_collect_data_next(
	struct triad_collect_data_reader *reader, struct triad_collect_row *row)
{
	struct triad_wire *w = reader->wire;

	/* A node may have no rows. */
	while (!reader->left && !w->failed && w->at < w->size) {
		reader->node_guid = triad_wire_get64(w);
		reader->left = triad_wire_get8(w);
	}
	if (!w->failed && !reader->left)
		return TRIAD_COLLECT_END;
	*row = (struct triad_collect_row){.node_guid = reader->node_guid};
	get_row(w, row);
	if (w->failed)
		return TRIAD_COLLECT_BROKEN;
	reader->left--;
	return TRIAD_COLLECT_ROW;
}
