/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/kept_histograms.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/fields.h"

#define ROW_SIZE (1u + TRIAD_CONF_GROUP_NAME_SIZE + TRIAD_GATHER_PIECE_SIZE)

struct place {
	char group[TRIAD_CONF_GROUP_NAME_SIZE];
};

static const struct triad_field place_fields[] = {TRIAD_TEXT(struct place, group)};

void triad_kept_histograms_add(struct triad_kept_list *list, const char *group,
	unsigned counter, const struct triad_histogram *histogram, uint64_t n_zeros)
{
	uint8_t octets[ROW_SIZE];
	struct triad_wire wire;
	struct place place;

	snprintf(place.group, sizeof(place.group), "%s", group);
	triad_wire_init(&wire, octets, sizeof(octets));
	triad_fields_put(&wire, place_fields, 1, &place);
	triad_gather_put_piece(&wire, counter, histogram, n_zeros);
	triad_kept_list_add(list, octets, wire.at);
}

int triad_kept_histograms_find(const struct triad_kept_list *list, const char *group,
	unsigned counter, struct triad_gather_piece *piece)
{
	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t size;
		const uint8_t *octets = triad_kept_list_row(list, i, &size);
		/* It is only read. */
		struct triad_wire wire = {.start = (uint8_t *)octets, .size = size};
		struct place place;

		triad_fields_get(&wire, place_fields, 1, &place);
		if (wire.failed)
			return EPROTO;
		if (strcmp(place.group, group) != 0)
			continue;
		if (!triad_gather_get_piece(&wire, piece))
			return EPROTO;
		if (piece->counter == counter)
			return 0;
	}
	return ENOENT;
}
