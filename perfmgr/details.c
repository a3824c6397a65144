/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/details.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sequence_lock.h"
#include "perfmgr/engine.h"

#define SLAB_ROWS 1024u
#define N_SLABS (TRIAD_ENGINE_MAX_ROWS / SLAB_ROWS)

struct slot {
	uint64_t base; /* total = base + last, modulo 2^64 */
	uint32_t last, change;
};

/* What readers look at in rows and blocks is under the row's sequence lock
 * (lib/sequence_lock.h), but for what never changes: next, attribute and n_slots.  Only the
 * engine's thread looks at reporters and what they reported. */
struct block {
	struct block *next;
	uint64_t *
		reported; /* each slot's base, as the reporter reported; NULL: all are 0 */
	uint64_t read_us, interval_us;
	uint32_t n_own_resets, n_others_resets;
	uint32_t reporter; /* 0: it was read here */
	uint8_t attribute;
	uint8_t n_slots;
	bool was_read; /* since the row belongs to its present port */
	struct slot slots[];
};

_Static_assert(
	offsetof(struct block, read_us) % 8 == 0, "so is the block, by calloc()");
_Static_assert(offsetof(struct block, slots) % 8 == 0, "so is the block, by calloc()");

struct row {
	atomic_uint sequence; /* odd while the row or one of its blocks is written */
	uint32_t zeros;       /* attributes without a block: they read as 0 */
	uint64_t zeros_us;    /* when the last of them was read */
	uint64_t node_guid;
	uint32_t zeros_reporter; /* who reported it; 0: it was read here */
	_Atomic(struct block *) first;
	uint8_t number;
} __attribute__((aligned(8)));

struct triad_details {
	_Atomic(struct row *) slabs[N_SLABS];
	size_t most_octets;
	atomic_uint any; /* attributes read of any port */
	atomic_size_t octets;
	atomic_uint_fast64_t n_dropped;
};

struct triad_details *triad_details_new(size_t most_octets)
{
	struct triad_details *details = calloc(1, sizeof(*details));

	if (details)
		details->most_octets = most_octets;
	return details;
}

static void free_slab(struct row *rows)
{
	for (unsigned i = 0; rows && i < SLAB_ROWS; i++) {
		struct block *block = atomic_load(&rows[i].first), *next;

		for (; block; block = next) {
			next = block->next;
			free(block->reported);
			free(block);
		}
	}
	free(rows);
}

void triad_details_free(struct triad_details *details)
{
	if (!details)
		return;
	for (unsigned i = 0; i < N_SLABS; i++)
		free_slab(atomic_load(&details->slabs[i]));
	free(details);
}

void triad_details_set_limit(struct triad_details *details, size_t most_octets)
{
	details->most_octets = most_octets;
}

uint32_t triad_details_any(const struct triad_details *details)
{
	return atomic_load_explicit(&details->any, memory_order_relaxed);
}

struct triad_details_counts triad_details_counts(const struct triad_details *details)
{
	return (struct triad_details_counts){
		.octets = atomic_load_explicit(&details->octets, memory_order_relaxed),
		.n_dropped =
			atomic_load_explicit(&details->n_dropped, memory_order_relaxed),
	};
}

/* --- memory --- */

/* Zeroed memory within the limit, or NULL. */
static void *allocate_counted(struct triad_details *details, size_t size)
{
	size_t taken = atomic_load_explicit(&details->octets, memory_order_relaxed);
	void *memory = NULL;

	if (size <= details->most_octets && taken <= details->most_octets - size)
		memory = calloc(1, size);
	if (memory)
		atomic_fetch_add_explicit(&details->octets, size, memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&details->n_dropped, 1, memory_order_relaxed);
	return memory;
}

static struct row *find_row(const struct triad_details *details, uint32_t row)
{
	struct row *slab;

	if (row / SLAB_ROWS >= N_SLABS)
		return NULL;
	slab = atomic_load_explicit(
		&details->slabs[row / SLAB_ROWS], memory_order_acquire);
	return slab ? &slab[row % SLAB_ROWS] : NULL;
}

static struct row *make_row(struct triad_details *details, uint32_t row)
{
	struct row *found = find_row(details, row), *slab;

	if (found || row / SLAB_ROWS >= N_SLABS)
		return found;
	slab = allocate_counted(details, SLAB_ROWS * sizeof(*slab));
	if (!slab)
		return NULL;
	atomic_store_explicit(
		&details->slabs[row / SLAB_ROWS], slab, memory_order_release);
	return &slab[row % SLAB_ROWS];
}

static struct block *find_block(
	const struct row *row, enum triad_pma_attribute attribute)
{
	struct block *block =
		atomic_load_explicit(&((struct row *)row)->first, memory_order_acquire);

	while (block && block->attribute != attribute)
		block = block->next;
	return block;
}

static struct block *make_block(struct triad_details *details, struct row *row,
	enum triad_pma_attribute attribute)
{
	unsigned n = triad_detail_n_slots(attribute);
	struct block *block =
		allocate_counted(details, sizeof(*block) + n * sizeof(block->slots[0]));

	if (!block)
		return NULL;
	block->attribute = (uint8_t)attribute;
	block->n_slots = (uint8_t)n;
	block->next = atomic_load_explicit(&row->first, memory_order_relaxed);
	atomic_store_explicit(&row->first, block, memory_order_release);
	return block;
}

/* --- writing --- */

static bool belongs_to(const struct row *row, const struct triad_details_port *port)
{
	return triad_shared_get(&row->node_guid) == port->node_guid &&
		triad_shared_get(&row->number) == port->number;
}

static void set_resets(struct block *block, uint32_t n_own, uint32_t n_others)
{
	triad_shared_set(&block->n_own_resets, n_own);
	triad_shared_set(&block->n_others_resets, n_others);
}

static void set_slot(struct slot *slot, uint64_t base, uint32_t last, uint32_t change)
{
	triad_shared_set(&slot->base, base);
	triad_shared_set(&slot->last, last);
	triad_shared_set(&slot->change, change);
}

/* Clears the row for a new port, or for its first one. */
static void begin_anew(struct row *row, const struct triad_details_port *port)
{
	struct block *block = atomic_load_explicit(&row->first, memory_order_relaxed);

	triad_shared_set(&row->node_guid, port->node_guid);
	triad_shared_set(&row->number, port->number);
	triad_shared_set(&row->zeros, 0);
	for (; block; block = block->next) {
		triad_shared_set(&block->was_read, false);
		triad_shared_set(&block->read_us, 0);
		triad_shared_set(&block->interval_us, 0);
		set_resets(block, 0, 0);
		block->reporter = 0;
		for (unsigned i = 0; i < block->n_slots; i++)
			set_slot(&block->slots[i], 0, 0, 0);
		if (block->reported)
			memset(block->reported, 0,
				block->n_slots * sizeof(*block->reported));
	}
}

static bool is_zero(const uint32_t *raw, unsigned n_slots)
{
	uint32_t any = 0;

	for (unsigned i = 0; i < n_slots; i++)
		any |= raw[i];
	return !any;
}

static void note_zeros(
	struct row *row, uint32_t bit, uint32_t reporter, uint64_t read_us)
{
	triad_shared_set(&row->zeros, row->zeros | bit);
	triad_shared_set(&row->zeros_us, read_us);
	row->zeros_reporter = reporter;
}

/* Adds a reading to a block that has one.  'goes_on': adds to the last change instead
 * of replacing it.  Returns whether a counter went back. */
static bool count_reading(
	struct block *block, const struct triad_detail_reading *reading, bool goes_on)
{
	bool went_back = false;

	for (unsigned i = 0; i < block->n_slots; i++) {
		struct slot *slot = &block->slots[i];
		uint32_t raw = reading->raw[i];
		uint32_t before = goes_on ? slot->change : 0;

		if (raw < slot->last) {
			went_back = true;
			set_slot(slot, slot->base + slot->last, raw, before + raw);
		} else {
			set_slot(slot, slot->base, raw, before + raw - slot->last);
		}
	}
	return went_back;
}

static void count_first(
	struct block *block, const struct triad_detail_reading *reading, bool was_zero)
{
	for (unsigned i = 0; i < block->n_slots; i++) {
		struct slot *slot = &block->slots[i];

		/* After a reading of 0 this is growth; a first reading is not. */
		set_slot(slot, slot->base, reading->raw[i],
			was_zero ? reading->raw[i] : 0);
	}
	triad_shared_set(&block->was_read, true);
}

/* Adds a reading that is not the first one of its block. */
static void count_on(struct block *block, const struct triad_detail_reading *reading,
	bool after_reset, uint64_t now_us)
{
	/* Our reset follows a reading at once: both are one interval. */
	bool goes_on = after_reset && block->interval_us;
	bool went_back = count_reading(block, reading, goes_on);
	uint64_t since_us = now_us > block->read_us ? now_us - block->read_us : 0;

	set_resets(block, block->n_own_resets + (went_back && after_reset),
		block->n_others_resets + (went_back && !after_reset));
	triad_shared_set(&block->interval_us,
		goes_on ? block->interval_us + since_us : since_us);
}

void triad_details_update(struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	const struct triad_detail_reading *reading, bool after_reset, uint64_t now_us)
{
	uint32_t bit = TRIAD_DETAIL_BIT(attribute);
	bool zero = is_zero(reading->raw, triad_detail_n_slots(attribute)), was_zero;
	struct row *row = make_row(details, port->row);
	struct block *block;

	if (!row)
		return;
	atomic_fetch_or_explicit(&details->any, bit, memory_order_relaxed);
	triad_sequence_write_begin(&row->sequence);
	if (!belongs_to(row, port))
		begin_anew(row, port);
	was_zero = row->zeros & bit;
	triad_shared_set(&row->zeros, row->zeros & ~bit);
	block = find_block(row, attribute);
	if (!block && !zero)
		block = make_block(details, row, attribute);
	if (block) {
		if (block->was_read)
			count_on(block, reading, after_reset, now_us);
		else
			count_first(block, reading, was_zero);
		triad_shared_set(&block->read_us, now_us);
		block->reporter = 0;
	} else if (zero) {
		note_zeros(row, bit, 0, now_us);
	}
	triad_sequence_write_end(&row->sequence);
}

/* --- reports of agents --- */

/* The base with which the slot's total continues by this report. */
static uint64_t new_base(const struct block *block,
	const struct triad_details_report *report, unsigned i, bool is_same,
	bool was_zero)
{
	const struct slot *slot = &block->slots[i];
	uint64_t reported = block->reported ? block->reported[i] : 0;

	if (is_same)
		return slot->base + (report->base[i] - reported);
	/* From another reporter: the hardware is the same, the reporter's total is
	 * not. */
	if (block->was_read)
		return report->raw[i] < slot->last ? slot->base + slot->last
						   : slot->base;
	return was_zero ? 0 : report->base[i];
}

/* Whether the report is older than the block.  A reporter's totals never go back: lower
 * ones mean that messages were reordered.  Between tellers the time decides; when that
 * is close, lower counters mean older, too. */
static bool is_stale(const struct block *block,
	const struct triad_details_report *report, bool is_same)
{
	bool went_back = false;

	for (unsigned i = 0; i < block->n_slots && block->was_read; i++) {
		uint64_t reported = is_same && block->reported ? block->reported[i] : 0;
		uint64_t now = report->raw[i], then = block->slots[i].last;

		if (is_same) {
			now += report->base[i];
			then += reported;
		}
		went_back |= (int64_t)(now - then) < 0;
	}
	if (!block->was_read || is_same)
		return went_back;
	return report->read_us < block->read_us ||
		(went_back &&
			report->read_us < block->read_us + TRIAD_DETAILS_REVALIDATE_US);
}

/* Allocates room for the reporter's bases unless all are 0.  Returns false when memory
 * is short. */
static bool allocate_bases(struct triad_details *details, struct block *block,
	const struct triad_details_report *report)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < block->n_slots; i++)
		any |= report->base[i];
	if (any && !block->reported)
		block->reported = allocate_counted(
			details, block->n_slots * sizeof(*block->reported));
	return !any || block->reported;
}

static void take_slots(struct block *block, const struct triad_details_report *report,
	bool is_same, bool was_zero)
{
	for (unsigned i = 0; i < block->n_slots; i++) {
		struct slot *slot = &block->slots[i];
		uint64_t before = slot->base + slot->last, base, grew;

		base = new_base(block, report, i, is_same, was_zero);
		grew = block->was_read || was_zero ? base + report->raw[i] - before : 0;
		set_slot(slot, base, report->raw[i],
			grew < UINT32_MAX ? (uint32_t)grew : UINT32_MAX);
		if (block->reported)
			block->reported[i] = report->base[i];
	}
}

/* Stores a report in the attribute's block. */
static bool take_block(struct triad_details *details, struct block *block,
	const struct triad_details_report *report, uint32_t reporter, bool was_zero,
	bool is_zeros_reporter)
{
	bool is_same = block->was_read ? block->reporter == reporter
				       : was_zero && is_zeros_reporter;

	if (is_stale(block, report, is_same) || !allocate_bases(details, block, report))
		return false;
	triad_shared_set(&block->interval_us,
		block->was_read && report->read_us > block->read_us
			? report->read_us - block->read_us
			: 0);
	take_slots(block, report, is_same, was_zero);
	triad_shared_set(&block->was_read, true);
	triad_shared_set(&block->read_us, report->read_us);
	block->reporter = reporter;
	set_resets(block, report->n_own_resets, report->n_others_resets);
	return true;
}

bool triad_details_take(struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	const struct triad_details_report *report, uint32_t reporter)
{
	uint32_t bit = TRIAD_DETAIL_BIT(attribute);
	unsigned n = triad_detail_n_slots(attribute);
	bool zero = is_zero(report->raw, n), was_zero, is_taken = true;
	struct row *row = make_row(details, port->row);
	struct block *block;

	if (!row)
		return false;
	for (unsigned i = 0; i < n; i++)
		zero &= !report->base[i];
	atomic_fetch_or_explicit(&details->any, bit, memory_order_relaxed);
	triad_sequence_write_begin(&row->sequence);
	if (!belongs_to(row, port))
		begin_anew(row, port);
	was_zero = row->zeros & bit;
	block = find_block(row, attribute);
	if (!block && !zero)
		block = make_block(details, row, attribute);
	if (block)
		is_taken = take_block(details, block, report, reporter, was_zero,
			row->zeros_reporter == reporter);
	else if (zero)
		note_zeros(row, bit, reporter, report->read_us);
	else
		is_taken = false;
	if (block && is_taken)
		triad_shared_set(&row->zeros, row->zeros & ~bit);
	triad_sequence_write_end(&row->sequence);
	return is_taken;
}

void triad_details_zero(
	struct triad_details *details, const struct triad_details_port *port)
{
	struct row *row = find_row(details, port->row);
	struct block *block;

	if (!row || !belongs_to(row, port))
		return;
	triad_sequence_write_begin(&row->sequence);
	block = atomic_load_explicit(&row->first, memory_order_relaxed);
	for (; block; block = block->next)
		for (unsigned i = 0; i < block->n_slots; i++)
			triad_shared_set(&block->slots[i].base,
				UINT64_C(0) - block->slots[i].last);
	triad_sequence_write_end(&row->sequence);
}

/* --- reading --- */

static void copy_block(const struct block *block, struct triad_detail_row *copy)
{
	copy->read_us = triad_shared_get(&block->read_us);
	copy->interval_us = triad_shared_get(&block->interval_us);
	copy->n_own_resets = triad_shared_get(&block->n_own_resets);
	copy->n_others_resets = triad_shared_get(&block->n_others_resets);
	for (unsigned i = 0; i < block->n_slots; i++) {
		const struct slot *slot = &block->slots[i];
		const struct triad_detail_field *field =
			triad_detail_field(block->attribute, i);
		uint32_t last = triad_shared_get(&slot->last);

		copy->total[i] = triad_shared_get(&slot->base) + last;
		copy->change[i] = triad_shared_get(&slot->change);
		if (last == triad_detail_max(field))
			copy->saturated |= UINT64_C(1) << i;
	}
}

/* One try; the caller repeats it when the row changed meanwhile. */
static bool copy_attribute(const struct row *row, const struct triad_details_port *port,
	enum triad_pma_attribute attribute, struct triad_detail_row *copy)
{
	const struct block *block = find_block(row, attribute);

	memset(copy, 0, sizeof(*copy));
	if (!belongs_to(row, port))
		return false;
	if (block && triad_shared_get(&block->was_read)) {
		copy_block(block, copy);
		return true;
	}
	copy->read_us = triad_shared_get(&row->zeros_us);
	return triad_shared_get(&row->zeros) & TRIAD_DETAIL_BIT(attribute);
}

static bool describe_attribute(const struct row *row,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	struct triad_details_report *report)
{
	const struct block *block = find_block(row, attribute);

	memset(report, 0, sizeof(*report));
	if (!belongs_to(row, port))
		return false;
	if (!block || !triad_shared_get(&block->was_read)) {
		report->read_us = triad_shared_get(&row->zeros_us);
		return triad_shared_get(&row->zeros) & TRIAD_DETAIL_BIT(attribute);
	}
	report->read_us = triad_shared_get(&block->read_us);
	report->n_own_resets = triad_shared_get(&block->n_own_resets);
	report->n_others_resets = triad_shared_get(&block->n_others_resets);
	for (unsigned i = 0; i < block->n_slots; i++) {
		report->raw[i] = triad_shared_get(&block->slots[i].last);
		report->base[i] = triad_shared_get(&block->slots[i].base);
	}
	return true;
}

static uint32_t known_of(const struct row *row, const struct triad_details_port *port)
{
	const struct block *block =
		atomic_load_explicit(&((struct row *)row)->first, memory_order_acquire);
	uint32_t known = triad_shared_get(&row->zeros);

	if (!belongs_to(row, port))
		return 0;
	for (; block; block = block->next)
		if (triad_shared_get(&block->was_read))
			known |= TRIAD_DETAIL_BIT(block->attribute);
	return known;
}

uint32_t triad_details_known(
	const struct triad_details *details, const struct triad_details_port *port)
{
	const struct row *row = find_row(details, port->row);
	uint32_t known = 0;
	unsigned before;

	if (!row)
		return 0;
	do {
		before = triad_sequence_read_begin(&row->sequence);
		known = known_of(row, port);
	} while (!triad_sequence_is_whole(&row->sequence, before));
	return known;
}

uint32_t triad_details_version(
	const struct triad_details *details, const struct triad_details_port *port)
{
	const struct row *row = find_row(details, port->row);

	/* Between two writes it is even, and 0 only before the first one. */
	return row && belongs_to(row, port) ? triad_sequence_read_begin(&row->sequence)
					    : 0;
}

bool triad_details_read(const struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	struct triad_detail_row *copy)
{
	const struct row *row = find_row(details, port->row);
	unsigned before;
	bool is_known;

	if (!row)
		return false;
	do {
		before = triad_sequence_read_begin(&row->sequence);
		is_known = copy_attribute(row, port, attribute, copy);
	} while (!triad_sequence_is_whole(&row->sequence, before));
	return is_known;
}

bool triad_details_describe(const struct triad_details *details,
	const struct triad_details_port *port, enum triad_pma_attribute attribute,
	struct triad_details_report *report)
{
	const struct row *row = find_row(details, port->row);
	unsigned before;
	bool is_known;

	if (!row)
		return false;
	do {
		before = triad_sequence_read_begin(&row->sequence);
		is_known = describe_attribute(row, port, attribute, report);
	} while (!triad_sequence_is_whole(&row->sequence, before));
	return is_known;
}
