/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A bounded cursor over octets on the wire, big-endian, with a sticky error.
 *
 * Reads past the end give 0 and writes past it do nothing; either sets 'failed'.  Check
 * that once, after the last access.
 *
 *     struct triad_wire w;
 *     triad_wire_init(&w, buffer, size);
 *     a = triad_wire_get16(&w);
 *     triad_wire_seek(&w, 64);
 *     b = triad_wire_get32(&w);
 *     if (w.failed) ...
 *
 * Thread-safety: none.  Memory: the buffer is borrowed. */
#ifndef TRIAD_WIRE_H
#define TRIAD_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct triad_wire {
	uint8_t *start;
	size_t size;
	size_t at; /* octets from 'start' */
	bool failed;
};

static inline void triad_wire_init(struct triad_wire *w, void *start, size_t size)
{
	*w = (struct triad_wire){.start = start, .size = size};
}

static inline void triad_wire_seek(struct triad_wire *w, size_t at)
{
	if (at > w->size)
		w->failed = true;
	else
		w->at = at;
}

/* The next 'n' octets, or NULL. */
static inline uint8_t *triad_wire_take(struct triad_wire *w, size_t n)
{
	uint8_t *here = w->start + w->at;

	if (w->failed || n > w->size - w->at) {
		w->failed = true;
		return NULL;
	}
	w->at += n;
	return here;
}

/* The next 'n' octets (at most 8) as a number. */
static inline uint64_t triad_wire_get(struct triad_wire *w, size_t n)
{
	const uint8_t *p = triad_wire_take(w, n);
	uint64_t value = 0;

	for (size_t i = 0; p && i < n; i++)
		value = value << 8 | p[i];
	return value;
}

static inline void triad_wire_put(struct triad_wire *w, size_t n, uint64_t value)
{
	uint8_t *p = triad_wire_take(w, n);

	for (size_t i = n; p && i > 0; i--) {
		p[i - 1] = (uint8_t)value;
		value >>= 8;
	}
}

/* 'octets' may be NULL if 'n' is 0. */
static inline void triad_wire_put_octets(
	struct triad_wire *w, const void *octets, size_t n)
{
	uint8_t *here = triad_wire_take(w, n);

	if (here && n)
		memcpy(here, octets, n);
}

static inline uint8_t triad_wire_get8(struct triad_wire *w)
{
	return (uint8_t)triad_wire_get(w, 1);
}

static inline uint16_t triad_wire_get16(struct triad_wire *w)
{
	return (uint16_t)triad_wire_get(w, 2);
}

static inline uint32_t triad_wire_get32(struct triad_wire *w)
{
	return (uint32_t)triad_wire_get(w, 4);
}

static inline uint64_t triad_wire_get64(struct triad_wire *w)
{
	return triad_wire_get(w, 8);
}

/* 'bits' bits (1-64) that begin 'bit_offset' bits into 'octets', most significant
 * bit first, as IBA's attribute tables number them.  The field may not cross more
 * than 8 octets; the caller has checked that it lies inside. */
static inline uint64_t triad_wire_bits(
	const uint8_t *octets, unsigned bit_offset, unsigned bits)
{
	unsigned first = bit_offset / 8, last = (bit_offset + bits - 1) / 8;
	uint64_t value = 0;

	for (unsigned i = first; i <= last; i++)
		value = value << 8 | octets[i];
	value >>= 7 - (bit_offset + bits - 1) % 8;
	return bits == 64 ? value : value & ((1ULL << bits) - 1);
}

/* The same for 'n' octets (1-8) from 'octets + at' on. */
static inline uint64_t triad_wire_number(const uint8_t *octets, unsigned at, unsigned n)
{
	return triad_wire_bits(octets, 8 * at, 8 * n);
}

#endif
