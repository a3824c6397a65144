/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/policy.h"

bool triad_ranges_has(const struct triad_ranges *ranges, uint64_t value)
{
	uint32_t low = 0, high = ranges->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (ranges->items[middle].last < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ranges->n && ranges->items[low].first <= value;
}
