/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/path_table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "triad/fabric.h"

#define DEFAULT_PARTITION 0x7fffu
#define PARTITION_MASK 0x7fffu

/* The length of a line with its end; ibacm reads 127 octets of a line. */
#define LINE_SIZE 96u
#define HEAD_SIZE 512u

/* The real allocation: a table with its reference count. */
struct counted {
	atomic_uint refs;
	struct triad_path_table table;
};

static struct counted *counted_of(struct triad_path_table *table)
{
	return (struct counted *)((char *)table - offsetof(struct counted, table));
}

struct triad_path_table *triad_path_table_new(uint32_t n)
{
	struct counted *counted;

	if (n > TRIAD_PATH_TABLE_MAX_ROWS)
		return NULL;
	counted = calloc(1, sizeof(*counted) + n * sizeof(struct triad_path_row));
	if (!counted)
		return NULL;
	atomic_init(&counted->refs, 1);
	counted->table.n = n;
	return &counted->table;
}

struct triad_path_table *triad_path_table_ref(struct triad_path_table *table)
{
	atomic_fetch_add_explicit(&counted_of(table)->refs, 1, memory_order_relaxed);
	return table;
}

void triad_path_table_unref(struct triad_path_table *table)
{
	if (table && atomic_fetch_sub(&counted_of(table)->refs, 1) == 1)
		free(counted_of(table));
}

const struct triad_path_row *triad_path_table_find(
	const struct triad_path_table *table, uint16_t lid)
{
	uint32_t low = 0, high = table->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table->rows[middle].lid < lid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < table->n && table->rows[low].lid == lid ? &table->rows[low] : NULL;
}

/* --- ibacm's file --- */

/* By which a file is known as one of ours. */
#define FIRST_WORDS "# Paths from port 0x"
#define LAST_WORDS ", kept by triad-agent.  "

size_t triad_path_table_text_size(uint32_t n)
{
	/* A line for the port and one for the path. */
	return HEAD_SIZE + 2 * (size_t)LINE_SIZE * n;
}

struct text {
	char *to;
	size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void add_line(
	struct text *text, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(
		text->to + text->length, text->size - text->length, format, arguments);
	va_end(arguments);
	if (n > 0 && (size_t)n < text->size - text->length)
		text->length += (size_t)n;
}

static bool is_base(const struct triad_path_table *table, uint32_t i)
{
	return !i || table->rows[i - 1].guid != table->rows[i].guid;
}

static void add_port(struct text *text, const struct triad_path_row *row)
{
	static const char *const types[] = {
		[TRIAD_NODE_CA] = "Channel Adapter",
		[TRIAD_NODE_SWITCH] = "Switch",
		[TRIAD_NODE_ROUTER] = "Router",
	};

	if (row->type && row->type < sizeof(types) / sizeof(types[0]))
		add_line(text, "%s 0x%016" PRIx64 ", base LID %u, LMC %u, port %u\n",
			types[row->type], row->guid, row->lid, row->lmc, row->number);
}

static bool is_written(const struct triad_path_table *table, uint32_t i)
{
	const struct triad_path_row *row = &table->rows[i];

	return row->has_path && is_base(table, i) &&
		(row->pkey & PARTITION_MASK) == DEFAULT_PARTITION;
}

/* ibacm reads the paths after its own port's line up to the next port's line: so that
 * port comes last. */
size_t triad_path_table_write(const struct triad_path_table *table, char *text,
	size_t size, uint32_t *n_written)
{
	const struct triad_path_row *own = triad_path_table_find(table, table->lid);
	struct text into = {.to = text, .size = size};

	*n_written = 0;
	text[0] = '\0';
	add_line(&into,
		FIRST_WORDS "%016" PRIx64 LAST_WORDS
			    "It removes this file\n# when they may have changed.\n",
		table->guid);
	for (uint32_t i = 0; i < table->n; i++)
		if (is_base(table, i) && table->rows[i].guid != table->guid)
			add_port(&into, &table->rows[i]);
	if (own)
		add_port(&into, own);
	add_line(&into, "# LID : SL : MTU : RATE\n");
	for (uint32_t i = 0; own && i < table->n; i++) {
		const struct triad_path_row *row = &table->rows[i];

		if (!is_written(table, i))
			continue;
		add_line(&into, "0x%04X : %u : %u : %u\n", row->lid, row->sl, row->mtu,
			row->rate);
		++*n_written;
	}
	return into.length;
}

bool triad_path_table_is_text(const char *text, size_t size)
{
	const size_t n_first = sizeof(FIRST_WORDS) - 1, n_last = sizeof(LAST_WORDS) - 1;
	const size_t n_guid = 16;

	return size >= n_first + n_guid + n_last &&
		!memcmp(text, FIRST_WORDS, n_first) &&
		!memcmp(text + n_first + n_guid, LAST_WORDS, n_last);
}
