/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A sequence lock: one thread writes, any number read, and nobody waits for a reader.
 *
 * Model: a counter is odd while the writer changes what it protects.  A reader notes the
 * counter, copies, and copies again if the counter was odd or is another one after that:
 *
 *     do {
 *         before = triad_sequence_read_begin(&row->sequence);
 *         copy->has = triad_shared_get(&row->has);
 *     } while (!triad_sequence_is_whole(&row->sequence, before));
 *
 * A copy that will be thrown away still reads what is being written.  So what both sides
 * touch is written by triad_shared_set() and read by triad_shared_get(), which are relaxed
 * atomic accesses: the compiler may then neither split, repeat nor invent them, and
 * processors need no other instruction for them than for plain ones.  The fences order
 * them against the counter.  The writer is alone, and reads what it wrote plainly.
 *
 * A structure aligns its values of 64 bits to 8 octets: processors of 32 bits would
 * otherwise not access them atomically.
 *
 * Thread-safety: as above; writing belongs to one thread at a time.
 * Source: Boehm, Can Seqlocks Get Along With Programming Language Memory Models?, 2012. */
#ifndef TRIAD_SEQUENCE_LOCK_H
#define TRIAD_SEQUENCE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>

/* Integers and pointers; 'place' is a pointer, whose type decides the size. */
#define triad_shared_get(place) __atomic_load_n((place), __ATOMIC_RELAXED)
#define triad_shared_set(place, value)                                                 \
	__atomic_store_n((place), (__typeof__(*(place)))(value), __ATOMIC_RELAXED)

static inline float triad_shared_get_float(const float *place)
{
	float value;

	__atomic_load(place, &value, __ATOMIC_RELAXED);
	return value;
}

static inline void triad_shared_set_float(float *place, float value)
{
	__atomic_store(place, &value, __ATOMIC_RELAXED);
}

/* Readers whose copies fall between this and triad_sequence_write_end() try again. */
static inline void triad_sequence_write_begin(atomic_uint *sequence)
{
	unsigned before = atomic_load_explicit(sequence, memory_order_relaxed);

	atomic_store_explicit(sequence, before + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

static inline void triad_sequence_write_end(atomic_uint *sequence)
{
	unsigned before = atomic_load_explicit(sequence, memory_order_relaxed);

	atomic_store_explicit(sequence, before + 1, memory_order_release);
}

/* The counter before a copy. */
static inline unsigned triad_sequence_read_begin(const atomic_uint *sequence)
{
	return atomic_load_explicit(sequence, memory_order_acquire);
}

/* Whether nothing was written since triad_sequence_read_begin() returned 'before'. */
static inline bool triad_sequence_is_whole(const atomic_uint *sequence, unsigned before)
{
	atomic_thread_fence(memory_order_acquire);
	return before % 2 == 0 &&
		atomic_load_explicit(sequence, memory_order_relaxed) == before;
}

#endif
