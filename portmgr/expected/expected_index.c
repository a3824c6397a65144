/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "portmgr/expected/expected_parts.h"

#define MIN_SLOTS 256

/* Mixes the GUID before it adds the port.  GUIDs are often consecutive, and a plain sum
 * of (GUID, port + 1) would equal that of (GUID + 1, port). */
static uint64_t hash_row(uint64_t node_guid, const char *node_name, uint8_t port)
{
	uint64_t hash = node_guid
		? triad_hash_word(TRIAD_HASH_START, node_guid)
		: triad_hash_octets(TRIAD_HASH_START, node_name, strlen(node_name));

	return triad_hash_word(hash, port);
}

static bool is_row(const struct triad_expected *expected, uint32_t at,
	uint64_t node_guid, const char *node_name, uint8_t port)
{
	const struct triad_expected_port *row = &expected->ports[at];

	return row->port == port && row->node_guid == node_guid &&
		(node_guid ||
			!strcmp(triad_expected_text(expected, row->node_name),
				node_name));
}

/* The row's slot, or the free one for it.  The search ends because half of the slots
 * are free. */
static uint32_t *slot_of(const struct triad_expected_reader *reader, uint64_t node_guid,
	const char *node_name, uint8_t port)
{
	size_t at = hash_row(node_guid, node_name, port) & (reader->n_slots - 1);

	while (reader->slots[at] &&
		!is_row(reader->expected, reader->slots[at] - 1, node_guid, node_name,
			port))
		at = (at + 1) & (reader->n_slots - 1);
	return &reader->slots[at];
}

uint32_t triad_expected_index_find(const struct triad_expected_reader *reader,
	uint64_t node_guid, const char *node_name, uint8_t port)
{
	if (!reader->n_slots)
		return UINT32_MAX;
	/* A free slot has 0, and 0 - 1 is UINT32_MAX. */
	return *slot_of(reader, node_guid, node_name, port) - 1;
}

static void insert_row(struct triad_expected_reader *reader, uint32_t at)
{
	const struct triad_expected_port *row = &reader->expected->ports[at];

	*slot_of(reader, row->node_guid,
		triad_expected_text(reader->expected, row->node_name), row->port) =
		at + 1;
}

int triad_expected_index_add(struct triad_expected_reader *reader, uint32_t at)
{
	size_t n = reader->n_slots ? 2 * reader->n_slots : MIN_SLOTS;
	uint32_t *slots;

	if (2 * ((size_t)at + 1) <= reader->n_slots) {
		insert_row(reader, at);
		return 0;
	}
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return ENOMEM;
	free(reader->slots);
	reader->slots = slots;
	reader->n_slots = n;
	for (uint32_t i = 0; i <= at; i++)
		insert_row(reader, i);
	return 0;
}
