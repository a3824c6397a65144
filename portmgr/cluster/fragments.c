/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/cluster/fragments.h"

#include <string.h>

#include "triad/wire.h"

#define MAGIC 0x54724672u /* "TrFr" */
#define VERSION 1
#define AT_OUI 37
#define AT_MAGIC 40
#define AT_OCTETS 64

const uint8_t triad_fragment_oui[3] = {0x02, 0x54, 0x72};

unsigned triad_fragment_count(size_t size)
{
	return (unsigned)((size + TRIAD_FRAGMENT_SIZE - 1) / TRIAD_FRAGMENT_SIZE);
}

static size_t octets_in(size_t size, unsigned index)
{
	size_t left = size - (size_t)index * TRIAD_FRAGMENT_SIZE;

	return left < TRIAD_FRAGMENT_SIZE ? left : TRIAD_FRAGMENT_SIZE;
}

void triad_fragment_make(uint8_t mad[TRIAD_MAD_SIZE], uint64_t guid, uint32_t number,
	const void *datagram, size_t size, unsigned index)
{
	struct triad_wire w;

	memset(mad, 0, TRIAD_MAD_SIZE);
	triad_wire_init(&w, mad, TRIAD_MAD_SIZE);
	triad_wire_put(&w, 1, 1); /* base version */
	triad_wire_put(&w, 1, TRIAD_FRAGMENT_CLASS);
	triad_wire_put(&w, 1, 1); /* class version */
	triad_wire_put(&w, 1, TRIAD_FRAGMENT_METHOD);
	triad_wire_seek(&w, 8);
	triad_wire_put(&w, 8, number); /* transaction */
	memcpy(mad + AT_OUI, triad_fragment_oui, sizeof(triad_fragment_oui));
	triad_wire_seek(&w, AT_MAGIC);
	triad_wire_put(&w, 4, MAGIC);
	triad_wire_put(&w, 1, VERSION);
	triad_wire_put(&w, 1, index);
	triad_wire_put(&w, 2, size);
	triad_wire_put(&w, 8, guid);
	triad_wire_put(&w, 4, number);
	memcpy(mad + AT_OCTETS,
		(const uint8_t *)datagram + (size_t)index * TRIAD_FRAGMENT_SIZE,
		octets_in(size, index));
}

struct header {
	unsigned index, size;
	uint64_t guid;
	uint32_t number;
};

/* False if it is not a fragment, or has impossible values. */
static bool read_header(const uint8_t *mad, size_t size, struct header *header)
{
	struct triad_wire w;
	uint64_t magic, version;

	if (size != TRIAD_MAD_SIZE || mad[1] != TRIAD_FRAGMENT_CLASS ||
		mad[3] != TRIAD_FRAGMENT_METHOD ||
		memcmp(mad + AT_OUI, triad_fragment_oui, sizeof(triad_fragment_oui)))
		return false;
	triad_wire_init(&w, (void *)(uintptr_t)mad, size);
	triad_wire_seek(&w, AT_MAGIC);
	magic = triad_wire_get(&w, 4);
	version = triad_wire_get(&w, 1);
	header->index = (unsigned)triad_wire_get(&w, 1);
	header->size = (unsigned)triad_wire_get(&w, 2);
	header->guid = triad_wire_get(&w, 8);
	header->number = (uint32_t)triad_wire_get(&w, 4);
	return magic == MAGIC && version == VERSION && header->size &&
		header->size <= TRIAD_SEAL_MAX_SIZE &&
		header->index < triad_fragment_count(header->size);
}

uint64_t triad_fragment_sender(const uint8_t *mad, size_t size)
{
	struct header header;

	return read_header(mad, size, &header) ? header.guid : 0;
}

size_t triad_fragments_add(
	struct triad_fragments *fragments, const uint8_t mad[TRIAD_MAD_SIZE])
{
	struct header header;

	if (!read_header(mad, TRIAD_MAD_SIZE, &header))
		return 0;
	if (!fragments->n_missing || fragments->number != header.number ||
		fragments->size != header.size) {
		fragments->n_cut += fragments->n_missing > 0;
		fragments->number = header.number;
		fragments->size = (uint16_t)header.size;
		fragments->n_missing = (uint8_t)triad_fragment_count(header.size);
		memset(fragments->has, 0, sizeof(fragments->has));
	}
	if (fragments->has[header.index])
		return 0;
	fragments->has[header.index] = true;
	memcpy(fragments->octets + header.index * TRIAD_FRAGMENT_SIZE, mad + AT_OCTETS,
		octets_in(header.size, header.index));
	return --fragments->n_missing ? 0 : header.size;
}
