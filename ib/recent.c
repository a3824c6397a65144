/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/recent.h"

#include <string.h>

static void move_to_front(struct triad_recent *recent, unsigned slot)
{
	struct triad_fabric_slice slice = recent->slices[slot];

	memmove(recent->slices + 1, recent->slices, slot * sizeof(slice));
	recent->slices[0] = slice;
}

int triad_recent_find(struct triad_recent *recent, const uint16_t *base,
	const uint16_t *pkeys, uint32_t n)
{
	for (unsigned i = 0; i < recent->n; i++) {
		const struct triad_fabric_slice *slice = &recent->slices[i];

		if (slice->n != n ||
			memcmp(base + slice->at, pkeys, n * sizeof(*pkeys)) != 0)
			continue;
		move_to_front(recent, i);
		return (int)i;
	}
	return -1;
}

bool triad_recent_take(
	struct triad_recent *recent, unsigned slot, struct triad_fabric_slice *slice)
{
	if (slot >= recent->n)
		return false;
	move_to_front(recent, slot);
	*slice = recent->slices[0];
	return true;
}

void triad_recent_add(struct triad_recent *recent, struct triad_fabric_slice slice)
{
	if (recent->n < TRIAD_RECENT_MOST)
		recent->n++;
	recent->slices[recent->n - 1] = slice;
	move_to_front(recent, recent->n - 1);
}
