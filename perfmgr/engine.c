/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/engine.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SLAB_ROWS 1024u
#define MAX_SLABS (TRIAD_ENGINE_MAX_ROWS / SLAB_ROWS)

#define N_NARROW TRIAD_FIRST_WIDE_COUNTER
#define N_WIDE (TRIAD_N_COUNTERS - TRIAD_FIRST_WIDE_COUNTER)
#define NO_ROW UINT32_MAX

/* A row as it is kept: a million of them should fit, so what has 32 bits on the wire
 * has 32 bits here.  Only the totals are wide for all. */
struct slot {
	atomic_uint sequence; /* odd while the row is written */
	uint32_t has;
	uint64_t node_guid;
	uint64_t attribute_us[TRIAD_PMA_N_ATTRIBUTES]; /* when each was last read */
	uint64_t reset_us;
	float interval_us[TRIAD_PMA_N_ATTRIBUTES];
	uint32_t n_resets;
	uint32_t next_free; /* while nobody has the row */
	uint8_t port;
	bool answered;
	uint8_t from_extended; /* bit i: wide counter i was read from there last */
	uint64_t total[TRIAD_N_COUNTERS];
	uint32_t narrow_last[N_NARROW], narrow_change[N_NARROW];
	uint64_t wide_last[N_WIDE], wide_change[N_WIDE];
};

/* Where a port's row is. */
struct entry {
	uint64_t node_guid;
	uint32_t away_s; /* since when it is not in the fabric; 0: it is */
	uint32_t row : 24;
	uint32_t port : 8;
};

_Static_assert(TRIAD_ENGINE_MAX_ROWS <= 1u << 24, "a row's number has 24 bits");

struct triad_engine {
	_Atomic(struct slot *) slabs[MAX_SLABS];
	uint32_t n_rows;         /* rows ever given out */
	struct entry *directory; /* sorted by (node GUID, port) */
	uint32_t n_entries;
	uint32_t first_free; /* rows given back, a list; NO_ROW: none */
};

struct triad_engine *triad_engine_new(void)
{
	struct triad_engine *engine = calloc(1, sizeof(*engine));

	if (engine)
		engine->first_free = NO_ROW;
	return engine;
}

void triad_engine_free(struct triad_engine *engine)
{
	if (!engine)
		return;
	for (unsigned i = 0; i < MAX_SLABS; i++)
		free(atomic_load_explicit(&engine->slabs[i], memory_order_relaxed));
	free(engine->directory);
	free(engine);
}

static struct slot *slot_of(const struct triad_engine *engine, uint32_t row)
{
	struct slot *slab = NULL;

	if (row < TRIAD_ENGINE_MAX_ROWS)
		slab = atomic_load_explicit(
			&engine->slabs[row / SLAB_ROWS], memory_order_acquire);
	return slab ? &slab[row % SLAB_ROWS] : NULL;
}

/* --- writing: the sequence is odd in between --- */

static void write_begin(struct slot *slot)
{
	unsigned sequence = atomic_load_explicit(&slot->sequence, memory_order_relaxed);

	atomic_store_explicit(&slot->sequence, sequence + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

static void write_end(struct slot *slot)
{
	unsigned sequence = atomic_load_explicit(&slot->sequence, memory_order_relaxed);

	atomic_store_explicit(&slot->sequence, sequence + 1, memory_order_release);
}

/* --- reading --- */

static void unpack(const struct slot *slot, struct triad_engine_row *row)
{
	const uint64_t *attribute_us = slot->attribute_us;

	row->node_guid = slot->node_guid;
	row->port = slot->port;
	row->has = slot->has;
	row->answered = slot->answered;
	row->reset_us = slot->reset_us;
	row->n_resets = slot->n_resets;
	row->read_us = 0;
	for (unsigned i = 0; i < TRIAD_PMA_N_ATTRIBUTES; i++) {
		row->interval_us[i] = (uint64_t)slot->interval_us[i];
		if (attribute_us[i] > row->read_us)
			row->read_us = attribute_us[i];
	}
	memcpy(row->total, slot->total, sizeof(row->total));
	row->saturated = 0;
	for (unsigned i = 0; i < N_NARROW; i++) {
		uint64_t most = (UINT64_C(1) << triad_counters[i].bits) - 1;

		row->change[i] = slot->narrow_change[i];
		if (slot->has & 1u << i && slot->narrow_last[i] == most)
			row->saturated |= 1u << i;
	}
	memcpy(row->change + N_NARROW, slot->wide_change, sizeof(slot->wide_change));
}

bool triad_engine_read(
	const struct triad_engine *engine, uint32_t row, struct triad_engine_row *copy)
{
	struct slot *slot = slot_of(engine, row);
	unsigned before, after;

	if (!slot)
		return false;
	do {
		before = atomic_load_explicit(&slot->sequence, memory_order_acquire);
		unpack(slot, copy);
		atomic_thread_fence(memory_order_acquire);
		after = atomic_load_explicit(&slot->sequence, memory_order_relaxed);
	} while (before != after || before % 2);
	return true;
}

/* --- rows for ports --- */

static int add_slab(struct triad_engine *engine, uint32_t row)
{
	struct slot *slab = calloc(SLAB_ROWS, sizeof(*slab));

	if (!slab)
		return ENOMEM;
	atomic_store_explicit(
		&engine->slabs[row / SLAB_ROWS], slab, memory_order_release);
	return 0;
}

static int take_row(struct triad_engine *engine, uint32_t *row)
{
	if (engine->first_free != NO_ROW) {
		*row = engine->first_free;
		engine->first_free = slot_of(engine, *row)->next_free;
		return 0;
	}
	if (engine->n_rows == TRIAD_ENGINE_MAX_ROWS)
		return EOVERFLOW;
	if (!slot_of(engine, engine->n_rows) && add_slab(engine, engine->n_rows))
		return ENOMEM;
	*row = engine->n_rows++;
	return 0;
}

static void give_row(struct triad_engine *engine, uint32_t row)
{
	slot_of(engine, row)->next_free = engine->first_free;
	engine->first_free = row;
}

static void clear_row(
	struct triad_engine *engine, uint32_t row, uint64_t guid, uint8_t port)
{
	struct slot *slot = slot_of(engine, row);
	const size_t head = offsetof(struct slot, has);

	if (!slot)
		return; /* never: the row was given out */
	write_begin(slot);
	memset((char *)slot + head, 0, sizeof(*slot) - head);
	slot->node_guid = guid;
	slot->port = port;
	write_end(slot);
}

static int compare(const struct entry *entry, uint64_t guid, uint8_t port)
{
	if (entry->node_guid != guid)
		return entry->node_guid < guid ? -1 : 1;
	return (entry->port > port) - (entry->port < port);
}

/* The directory that is being made out of the old one and a fabric. */
struct merge {
	struct triad_engine *engine;
	struct entry *made;
	uint32_t n_made;
	uint32_t now_s;
	uint32_t n_taken; /* rows taken so far, to undo */
	uint32_t *taken;
};

static void keep_away(struct merge *merge, const struct entry *old)
{
	struct entry *entry = &merge->made[merge->n_made];

	*entry = *old;
	if (!entry->away_s)
		entry->away_s = merge->now_s;
	merge->n_made++;
}

static int add_present(struct merge *merge, const struct entry *old, uint64_t guid,
	uint8_t port, uint32_t *row)
{
	struct entry entry = {.node_guid = guid, .port = port};
	int error;

	if (old) {
		*row = old->row;
	} else {
		error = take_row(merge->engine, row);
		if (error)
			return error;
		merge->taken[merge->n_taken++] = *row;
		clear_row(merge->engine, *row, guid, port);
	}
	entry.row = *row & 0xffffff;
	merge->made[merge->n_made++] = entry;
	return 0;
}

/* Both the directory and the fabric's ports are sorted: one walk over the two. */
static int merge_fabric(
	struct merge *merge, const struct triad_fabric *fabric, uint32_t *rows)
{
	const struct entry *old = merge->engine->directory;
	const struct entry *end = old + merge->engine->n_entries;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];
		uint64_t guid = fabric->nodes[port->node].guid;
		bool known;
		int error;

		while (old < end && compare(old, guid, port->number) < 0)
			keep_away(merge, old++);
		known = old < end && compare(old, guid, port->number) == 0;
		error = add_present(
			merge, known ? old : NULL, guid, port->number, &rows[i]);
		if (error)
			return error;
		old += known;
	}
	while (old < end)
		keep_away(merge, old++);
	return 0;
}

/* Gives up rows that were away for too long, or all when there are too many. */
static void forget_away(struct merge *merge, uint32_t n_present)
{
	bool too_many = merge->n_made - n_present > n_present + SLAB_ROWS;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < merge->n_made; i++) {
		const struct entry *entry = &merge->made[i];

		if (entry->away_s &&
			(too_many ||
				merge->now_s - entry->away_s > TRIAD_ENGINE_KEEP_S))
			give_row(merge->engine, entry->row);
		else
			merge->made[kept++] = *entry;
	}
	merge->n_made = kept;
}

/* The directory that was made becomes the engine's, cut to its length. */
static void keep_directory(struct triad_engine *engine, const struct merge *merge)
{
	size_t size = (merge->n_made + 1) * sizeof(*merge->made);
	struct entry *cut = realloc(merge->made, size);

	free(engine->directory);
	engine->directory = cut ? cut : merge->made;
	engine->n_entries = merge->n_made;
}

int triad_engine_adopt(struct triad_engine *engine, const struct triad_fabric *fabric,
	uint64_t now_us, uint32_t *rows)
{
	size_t most = (size_t)engine->n_entries + fabric->n_ports;
	/* 0 stands for a port that is there. */
	struct merge merge = {
		.engine = engine, .now_s = (uint32_t)(now_us / 1000000) + 1};
	int error = ENOMEM;

	if (most > TRIAD_ENGINE_MAX_ROWS)
		return EOVERFLOW;
	merge.made = calloc(most + 1, sizeof(*merge.made));
	merge.taken = calloc((size_t)fabric->n_ports + 1, sizeof(*merge.taken));
	if (merge.made && merge.taken)
		error = merge_fabric(&merge, fabric, rows);
	if (error) {
		while (merge.n_taken)
			give_row(engine, merge.taken[--merge.n_taken]);
		free(merge.made);
	} else {
		forget_away(&merge, fabric->n_ports);
		keep_directory(engine, &merge);
	}
	free(merge.taken);
	return error;
}

/* --- counting --- */

/* What was counted since 'last'.  A value below it is a reset by somebody else. */
static uint64_t change_since(
	struct slot *slot, uint64_t last, uint64_t raw, uint64_t now_us)
{
	if (raw >= last)
		return raw - last;
	slot->reset_us = now_us;
	return raw;
}

static void count_narrow(
	struct slot *slot, unsigned counter, uint32_t raw, uint64_t now_us)
{
	uint32_t bit = 1u << counter;
	uint64_t change = 0;

	if (slot->has & bit)
		change = change_since(slot, slot->narrow_last[counter], raw, now_us);
	slot->total[counter] = slot->has & bit ? slot->total[counter] + change : raw;
	slot->has |= bit;
	slot->narrow_change[counter] = (uint32_t)change;
	slot->narrow_last[counter] = raw;
}

/* A counter that was in the other attribute goes on from where it stands there. */
static void count_wide(struct slot *slot, unsigned counter, bool extended, uint64_t raw,
	uint64_t now_us)
{
	uint32_t bit = 1u << counter;
	unsigned i = counter - N_NARROW;
	bool known = slot->has & bit;
	bool same = known && extended == (slot->from_extended >> i & 1);
	uint64_t change =
		same ? change_since(slot, slot->wide_last[i], raw, now_us) : 0;

	slot->total[counter] = known ? slot->total[counter] + change : raw;
	slot->has |= bit;
	slot->from_extended =
		(uint8_t)((slot->from_extended & ~(1u << i)) | (unsigned)extended << i);
	slot->wide_change[i] = change;
	slot->wide_last[i] = raw;
}

void triad_engine_update(struct triad_engine *engine, uint32_t row,
	enum triad_pma_attribute attribute, const struct triad_pma_reading *reading,
	uint64_t now_us)
{
	struct slot *slot = slot_of(engine, row);
	bool extended = attribute == TRIAD_PMA_PORT_COUNTERS_EXTENDED;
	uint64_t last_us, reset_us;

	if (!slot)
		return;
	write_begin(slot);
	last_us = slot->attribute_us[attribute];
	reset_us = slot->reset_us;
	for (unsigned i = 0; i < N_NARROW; i++)
		if (reading->has & 1u << i)
			count_narrow(slot, i, (uint32_t)reading->raw[i], now_us);
	for (unsigned i = N_NARROW; i < TRIAD_N_COUNTERS; i++)
		if (reading->has & 1u << i)
			count_wide(slot, i, extended, reading->raw[i], now_us);
	slot->n_resets += slot->reset_us != reset_us;
	slot->interval_us[attribute] = last_us ? (float)(now_us - last_us) : 0;
	slot->attribute_us[attribute] = now_us;
	write_end(slot);
}

void triad_engine_mark(struct triad_engine *engine, uint32_t row, bool answered)
{
	struct slot *slot = slot_of(engine, row);

	if (!slot || slot->answered == answered)
		return;
	write_begin(slot);
	slot->answered = answered;
	write_end(slot);
}

double triad_engine_rate(const struct triad_engine_row *row, unsigned counter)
{
	/* A counter that is in both attributes is read from the extended one where
	 * the agent has it; then that one has an interval. */
	uint64_t interval_us = row->interval_us[TRIAD_PMA_PORT_COUNTERS];

	if (triad_counters[counter].ext_offset &&
		row->interval_us[TRIAD_PMA_PORT_COUNTERS_EXTENDED])
		interval_us = row->interval_us[TRIAD_PMA_PORT_COUNTERS_EXTENDED];
	return interval_us ? (double)row->change[counter] * 1e6 / (double)interval_us
			   : NAN;
}

size_t triad_engine_octets(const struct triad_engine *engine)
{
	size_t slabs = (engine->n_rows + SLAB_ROWS - 1) / SLAB_ROWS;

	return sizeof(*engine) + slabs * SLAB_ROWS * sizeof(struct slot) +
		engine->n_entries * sizeof(struct entry);
}
