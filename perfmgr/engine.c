/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/engine.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SLAB_ROWS 1024u
#define MAX_SLABS (TRIAD_ENGINE_MAX_ROWS / SLAB_ROWS)

struct slot {
	atomic_uint sequence; /* odd while the row is written */
	struct triad_engine_row row;
	uint64_t last[TRIAD_N_COUNTERS];
	uint8_t attribute[TRIAD_N_COUNTERS]; /* that 'last' was read from */
	uint64_t attribute_us[TRIAD_PMA_N_ATTRIBUTES];
};

/* Where a port's row is. */
struct entry {
	uint64_t node_guid;
	uint64_t away_us; /* since when it is not in the fabric; 0: it is */
	uint32_t row;
	uint8_t port;
};

struct triad_engine {
	_Atomic(struct slot *) slabs[MAX_SLABS];
	uint32_t n_rows;         /* rows ever given out */
	struct entry *directory; /* sorted by (node GUID, port) */
	uint32_t n_entries;
	uint32_t *free_rows;
	uint32_t n_free;
	uint32_t free_room;
};

struct triad_engine *triad_engine_new(void)
{
	return calloc(1, sizeof(struct triad_engine));
}

void triad_engine_free(struct triad_engine *engine)
{
	if (!engine)
		return;
	for (unsigned i = 0; i < MAX_SLABS; i++)
		free(atomic_load_explicit(&engine->slabs[i], memory_order_relaxed));
	free(engine->directory);
	free(engine->free_rows);
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

static struct triad_engine_row *write_begin(struct slot *slot)
{
	unsigned sequence = atomic_load_explicit(&slot->sequence, memory_order_relaxed);

	atomic_store_explicit(&slot->sequence, sequence + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	return &slot->row;
}

static void write_end(struct slot *slot)
{
	unsigned sequence = atomic_load_explicit(&slot->sequence, memory_order_relaxed);

	atomic_store_explicit(&slot->sequence, sequence + 1, memory_order_release);
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
		memcpy(copy, &slot->row, sizeof(*copy));
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
	if (engine->n_free) {
		*row = engine->free_rows[--engine->n_free];
		return 0;
	}
	if (engine->n_rows == TRIAD_ENGINE_MAX_ROWS)
		return EOVERFLOW;
	if (!slot_of(engine, engine->n_rows) && add_slab(engine, engine->n_rows))
		return ENOMEM;
	*row = engine->n_rows++;
	return 0;
}

/* There is always room: triad_engine_adopt() has made it. */
static void give_row(struct triad_engine *engine, uint32_t row)
{
	engine->free_rows[engine->n_free++] = row;
}

static void clear_row(
	struct triad_engine *engine, uint32_t row, uint64_t guid, uint8_t port)
{
	struct slot *slot = slot_of(engine, row);
	struct triad_engine_row *written = write_begin(slot);

	*written = (struct triad_engine_row){.node_guid = guid, .port = port};
	write_end(slot);
	memset(slot->last, 0, sizeof(slot->last));
	memset(slot->attribute_us, 0, sizeof(slot->attribute_us));
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
	uint64_t now_us;
	uint32_t n_taken; /* rows taken so far, to undo */
	uint32_t *taken;
};

static void keep_away(struct merge *merge, const struct entry *old)
{
	struct entry *entry = &merge->made[merge->n_made];

	*entry = *old;
	if (!entry->away_us)
		entry->away_us = merge->now_us;
	merge->n_made++;
}

static int add_present(struct merge *merge, const struct entry *old, uint64_t guid,
	uint8_t port, uint32_t *row)
{
	struct entry *entry = &merge->made[merge->n_made];
	int error = 0;

	if (old) {
		*entry = *old;
		entry->away_us = 0;
	} else {
		*entry = (struct entry){.node_guid = guid, .port = port};
		error = take_row(merge->engine, &entry->row);
		if (error)
			return error;
		merge->taken[merge->n_taken++] = entry->row;
		clear_row(merge->engine, entry->row, guid, port);
	}
	merge->n_made++;
	*row = entry->row;
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

		if (entry->away_us &&
			(too_many ||
				merge->now_us - entry->away_us > TRIAD_ENGINE_KEEP_US))
			give_row(merge->engine, entry->row);
		else
			merge->made[kept++] = *entry;
	}
	merge->n_made = kept;
}

static int reserve_free_rows(struct triad_engine *engine, uint32_t room)
{
	uint32_t *rows;

	if (room <= engine->free_room)
		return 0;
	rows = realloc(engine->free_rows, room * sizeof(*rows));
	if (!rows)
		return ENOMEM;
	engine->free_rows = rows;
	engine->free_room = room;
	return 0;
}

int triad_engine_adopt(struct triad_engine *engine, const struct triad_fabric *fabric,
	uint64_t now_us, uint32_t *rows)
{
	size_t most = (size_t)engine->n_entries + fabric->n_ports;
	struct merge merge = {.engine = engine, .now_us = now_us};
	int error = ENOMEM;

	if (most > TRIAD_ENGINE_MAX_ROWS)
		return EOVERFLOW;
	merge.made = calloc(most + 1, sizeof(*merge.made));
	merge.taken = calloc((size_t)fabric->n_ports + 1, sizeof(*merge.taken));
	if (merge.made && merge.taken &&
		!reserve_free_rows(engine, engine->n_rows + fabric->n_ports + 1))
		error = merge_fabric(&merge, fabric, rows);
	if (error) {
		while (merge.n_taken)
			give_row(engine, merge.taken[--merge.n_taken]);
		free(merge.made);
	} else {
		forget_away(&merge, fabric->n_ports);
		free(engine->directory);
		engine->directory = merge.made;
		engine->n_entries = merge.n_made;
	}
	free(merge.taken);
	return error;
}

/* --- counting --- */

static void count(struct slot *slot, unsigned counter,
	enum triad_pma_attribute attribute, uint64_t raw, uint64_t now_us)
{
	struct triad_engine_row *row = &slot->row;
	uint32_t bit = 1u << counter;
	uint64_t change;

	if (!(row->has & bit)) {
		row->has |= bit;
		row->total[counter] = raw;
		change = 0;
	} else if (slot->attribute[counter] != attribute) {
		change = 0;
	} else if (raw >= slot->last[counter]) {
		change = raw - slot->last[counter];
	} else {
		change = raw;
		row->reset_us = now_us;
	}
	row->total[counter] += change;
	row->change[counter] = change;
	slot->last[counter] = raw;
	slot->attribute[counter] = (uint8_t)attribute;
}

void triad_engine_update(struct triad_engine *engine, uint32_t row,
	enum triad_pma_attribute attribute, const struct triad_pma_reading *reading,
	uint64_t now_us)
{
	struct slot *slot = slot_of(engine, row);
	struct triad_engine_row *written;
	uint64_t last_us, reset_us;

	if (!slot)
		return;
	last_us = slot->attribute_us[attribute];
	written = write_begin(slot);
	reset_us = written->reset_us;
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (reading->has & 1u << i)
			count(slot, i, attribute, reading->raw[i], now_us);
	written->n_resets += written->reset_us != reset_us;
	written->interval_us[attribute] = last_us ? now_us - last_us : 0;
	written->read_us = now_us;
	write_end(slot);
	slot->attribute_us[attribute] = now_us;
}

void triad_engine_mark(struct triad_engine *engine, uint32_t row, bool answered)
{
	struct slot *slot = slot_of(engine, row);

	if (!slot)
		return;
	write_begin(slot)->answered = answered;
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
			   : 0;
}

size_t triad_engine_octets(const struct triad_engine *engine)
{
	size_t slabs = (engine->n_rows + SLAB_ROWS - 1) / SLAB_ROWS;

	return sizeof(*engine) + slabs * SLAB_ROWS * sizeof(struct slot) +
		engine->n_entries * sizeof(struct entry) +
		engine->free_room * sizeof(uint32_t);
}
