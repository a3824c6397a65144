/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLAB_SIZE (TRIAD_SLAB_ROWS * sizeof(struct triad_row_hot))
#define LARGE_SIZE (TRIAD_SLAB_ROWS * sizeof(struct triad_row_large))

/* Mark in a directory under construction: the row's port is not in the fabric. */
#define ABSENT (1u << 31)

_Static_assert(TRIAD_ENGINE_MAX_ROWS < ABSENT, "a row's number has 31 bits");

void triad_rows_init(struct triad_rows *rows)
{
	rows->first_free = TRIAD_NO_ROW;
}

static void free_slab(struct triad_slab *slab)
{
	if (!slab)
		return;
	free(slab->hot);
	free(slab->cold);
	if (slab->large)
		munmap(slab->large, LARGE_SIZE);
	free(slab);
}

void triad_rows_clear(struct triad_rows *rows)
{
	for (unsigned i = 0; i < sizeof(rows->slabs) / sizeof(rows->slabs[0]); i++)
		free_slab(atomic_load_explicit(&rows->slabs[i], memory_order_relaxed));
	free(rows->directory);
}

/* Zeros that take no memory until they are written, and then a small page. */
static void *map_large(void)
{
	void *large = mmap(NULL, LARGE_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (large == MAP_FAILED)
		return NULL;
	(void)madvise(large, LARGE_SIZE, MADV_NOHUGEPAGE);
	return large;
}

static int add_slab(struct triad_rows *rows, uint32_t row)
{
	struct triad_slab *slab = calloc(1, sizeof(*slab));

	if (!slab)
		return ENOMEM;
	slab->hot = aligned_alloc(SLAB_SIZE, SLAB_SIZE);
	slab->cold = calloc(TRIAD_SLAB_ROWS, sizeof(*slab->cold));
	slab->large = map_large();
	if (!slab->hot || !slab->cold || !slab->large) {
		free_slab(slab);
		return ENOMEM;
	}
	/* Ports are read in no order: with small pages each would miss the TLB. */
	(void)madvise(slab->hot, SLAB_SIZE, MADV_HUGEPAGE);
	memset(slab->hot, 0, SLAB_SIZE);
	atomic_store_explicit(
		&rows->slabs[row / TRIAD_SLAB_ROWS], slab, memory_order_release);
	return 0;
}

static int allocate_row(struct triad_rows *rows, uint32_t *row)
{
	if (rows->first_free != TRIAD_NO_ROW) {
		*row = rows->first_free;
		rows->first_free = triad_rows_cold(rows, *row)->next_free;
		return 0;
	}
	if (rows->n_rows == TRIAD_ENGINE_MAX_ROWS)
		return EOVERFLOW;
	if (!triad_rows_hot(rows, rows->n_rows) && add_slab(rows, rows->n_rows))
		return ENOMEM;
	*row = rows->n_rows++;
	return 0;
}

static void free_row(struct triad_rows *rows, uint32_t row)
{
	triad_rows_cold(rows, row)->next_free = rows->first_free;
	rows->first_free = row;
}

/* The directory that is being made out of the old one and a fabric. */
struct merge {
	struct triad_rows *rows;
	uint32_t *made; /* row numbers, perhaps with ABSENT */
	uint32_t n_made;
	uint32_t *taken; /* rows taken so far, to undo */
	uint32_t n_taken;
};

static int compare_to_row(
	const struct merge *merge, uint32_t row, uint64_t guid, uint8_t port)
{
	const struct triad_row_hot *hot = triad_rows_hot(merge->rows, row);

	return triad_port_order(hot->node_guid, hot->port, guid, port);
}

/* Whether the row was free or is new, a reader may have its number. */
static void clear(struct triad_row_hot *hot, struct triad_row_cold *cold,
	struct triad_row_large *large)
{
	triad_shared_set(&hot->has, 0);
	triad_shared_set(&cold->n_others_resets, 0);
	triad_shared_set(&cold->n_own_resets, 0);
	triad_shared_set(&hot->state, 0);
	triad_shared_set(&hot->wide_behind, 0);
	cold->absent_s = hot->asked = hot->from_extended = 0;
	for (unsigned i = 0; i < TRIAD_READ_N_PARTS; i++) {
		triad_shared_set(&hot->read_us[i], 0);
		triad_shared_set_float(&hot->interval_us[i], 0);
	}
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		triad_row_set_last(hot, large, i, 0, 0);
		triad_shared_set(&cold->base[i], 0);
	}
	triad_shared_set(&cold->others_reset_s, 0);
	triad_shared_set(&cold->own_reset_s, 0);
	triad_shared_set(&cold->zeroed_s, 0);
	cold->n_implausible_readings = 0;
}

static int add_new(struct merge *merge, uint64_t guid, uint8_t port, uint32_t *row)
{
	int error = allocate_row(merge->rows, row);
	struct triad_row_hot *hot;

	if (error)
		return error;
	merge->taken[merge->n_taken++] = *row;
	hot = triad_rows_hot(merge->rows, *row);
	if (!hot)
		return 0; /* never: the row was given out */
	triad_sequence_write_begin(&hot->sequence);
	clear(hot, triad_rows_cold(merge->rows, *row),
		triad_rows_large(merge->rows, *row));
	triad_shared_set(&hot->node_guid, guid);
	triad_shared_set(&hot->port, port);
	triad_sequence_write_end(&hot->sequence);
	return 0;
}

/* Merges directory and ports in one walk, as both are sorted.  It uses indices, because
 * the directory is NULL until there was a fabric. */
static int merge_fabric(
	struct merge *merge, const struct triad_fabric *fabric, uint32_t *row_of_port)
{
	const uint32_t *old = merge->rows->directory;
	const uint32_t n_old = merge->rows->n_entries;
	uint32_t at = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];
		uint64_t guid = fabric->nodes[port->node].guid;
		int error = 0;

		while (at < n_old &&
			compare_to_row(merge, old[at], guid, port->number) < 0)
			merge->made[merge->n_made++] = old[at++] | ABSENT;
		if (at < n_old &&
			compare_to_row(merge, old[at], guid, port->number) == 0)
			row_of_port[i] = old[at++];
		else
			error = add_new(merge, guid, port->number, &row_of_port[i]);
		if (error)
			return error;
		merge->made[merge->n_made++] = row_of_port[i];
	}
	while (at < n_old)
		merge->made[merge->n_made++] = old[at++] | ABSENT;
	return 0;
}

static void note_present(struct triad_row_hot *hot, struct triad_row_cold *cold)
{
	if (!cold->absent_s)
		return;
	cold->absent_s = 0;
	triad_sequence_write_begin(&hot->sequence);
	triad_shared_set(&hot->state, hot->state & ~TRIAD_ROW_WAS_ASKED);
	triad_sequence_write_end(&hot->sequence);
}

/* Notes which rows are absent.  Frees those absent for too long, or all absent ones
 * when there are too many. */
static void settle_absent(struct merge *merge, uint32_t n_present, uint64_t now_us)
{
	bool too_many = merge->n_made - n_present > n_present + TRIAD_SLAB_ROWS;
	uint32_t now_s = (uint32_t)(now_us / 1000000) + 1; /* 0: it is there */
	uint32_t kept = 0;

	for (uint32_t i = 0; i < merge->n_made; i++) {
		uint32_t row = merge->made[i] & ~ABSENT;
		struct triad_row_cold *cold = triad_rows_cold(merge->rows, row);

		if (!(merge->made[i] & ABSENT))
			note_present(triad_rows_hot(merge->rows, row), cold);
		else if (!cold->absent_s)
			cold->absent_s = now_s;
		if (cold->absent_s &&
			(too_many || now_s - cold->absent_s > TRIAD_ENGINE_KEEP_S))
			free_row(merge->rows, row);
		else
			merge->made[kept++] = row;
	}
	merge->n_made = kept;
}

int triad_rows_adopt(struct triad_rows *rows, const struct triad_fabric *fabric,
	uint64_t now_us, uint32_t *row_of_port)
{
	size_t most = (size_t)rows->n_entries + fabric->n_ports;
	struct merge merge = {.rows = rows};
	uint32_t *cut;
	int error = ENOMEM;

	if (most > TRIAD_ENGINE_MAX_ROWS)
		return EOVERFLOW;
	merge.made = calloc(most + 1, sizeof(*merge.made));
	merge.taken = calloc((size_t)fabric->n_ports + 1, sizeof(*merge.taken));
	if (merge.made && merge.taken)
		error = merge_fabric(&merge, fabric, row_of_port);
	if (error) {
		while (merge.n_taken)
			free_row(rows, merge.taken[--merge.n_taken]);
		free(merge.made);
	} else {
		settle_absent(&merge, fabric->n_ports, now_us);
		/* If the new directory can't be cut to its length, it stays long. */
		cut = realloc(merge.made, (merge.n_made + 1) * sizeof(*cut));
		free(rows->directory);
		rows->directory = cut ? cut : merge.made;
		rows->n_entries = merge.n_made;
	}
	free(merge.taken);
	return error;
}

/* Without large parts, of which few are ever touched. */
size_t triad_rows_octets(const struct triad_rows *rows)
{
	size_t n_slabs = (rows->n_rows + TRIAD_SLAB_ROWS - 1) / TRIAD_SLAB_ROWS;
	size_t slab = sizeof(struct triad_slab) + SLAB_SIZE +
		TRIAD_SLAB_ROWS * sizeof(struct triad_row_cold);

	return sizeof(*rows) + n_slabs * slab + rows->n_entries * sizeof(uint32_t);
}
