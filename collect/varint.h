/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Numbers in as few octets as possible, over a cursor (triad/wire.h): 7 bits an octet,
 * the lowest first, the high bit set in all but the last.
 *
 * A number that would need more than 64 bits sets 'failed'. */
#ifndef TRIAD_COLLECT_VARINT_H
#define TRIAD_COLLECT_VARINT_H

#include "triad/wire.h"

#define TRIAD_VARINT_MAX_SIZE 10

static inline void triad_varint_put(struct triad_wire *w, uint64_t value)
{
	uint8_t octets[TRIAD_VARINT_MAX_SIZE], *to;
	size_t n = 0;

	while (value > 0x7f) {
		octets[n++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	octets[n++] = (uint8_t)value;
	to = triad_wire_take(w, n);
	for (size_t i = 0; to && i < n; i++)
		to[i] = octets[i];
}

static inline uint64_t triad_varint_get(struct triad_wire *w)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t octet = triad_wire_get8(w);

		if (shift == 63 && octet > 1)
			break;
		value |= (uint64_t)(octet & 0x7f) << shift;
		if (!(octet & 0x80))
			return value;
	}
	w->failed = true;
	return 0;
}

/* Signed numbers, small ones of either sign in few octets; modulo 2^64. */
static inline void triad_varint_put_signed(struct triad_wire *w, uint64_t value)
{
	triad_varint_put(w, value << 1 ^ (value >> 63 ? UINT64_MAX : 0));
}

static inline uint64_t triad_varint_get_signed(struct triad_wire *w)
{
	uint64_t value = triad_varint_get(w);

	return value >> 1 ^ (value & 1 ? UINT64_MAX : 0);
}

#endif
