/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the groups that have a value (a GUID, a P_Key), where groups are ranges of
 * values.
 *
 * Model: the ends of all ranges divide the values into segments; all values of a
 * segment are in the same groups.  A binary search finds a value's segment.
 *
 * Invariants: the first segment starts at 0, so every value is in one.
 *
 * Thread-safety: made by one thread, then immutable.
 * Memory: at most TRIAD_SEGMENTS_MAX_SPANS and _MAX_LISTED: ranges that overlap a lot
 * are listed in many segments. */
#ifndef TRIAD_QOS_SETUP_SEGMENTS_H
#define TRIAD_QOS_SETUP_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

#define TRIAD_SEGMENTS_MAX_SPANS (1u << 21)
#define TRIAD_SEGMENTS_MAX_LISTED (1u << 22) /* groups in all segments together */

/* Both ends included. */
struct triad_segment_span {
	uint64_t first, last;
	uint32_t group;
};

struct triad_segments {
	uint32_t n;
	uint64_t *starts;
	/* Segment i has the groups from at[i] to before at[i + 1], in no order. */
	uint32_t *at;
	uint32_t *groups;
};

/* Makes segments of 'n' spans, in any order; group numbers are less than 'n_groups'.
 * Returns 0, ENOMEM or EOVERFLOW; on error there is nothing to clear. */
int triad_segments_make(struct triad_segments *segments,
	const struct triad_segment_span *spans, size_t n, uint32_t n_groups);

/* Accepts a structure that is all zeros. */
void triad_segments_clear(struct triad_segments *segments);

/* The segment of 'value'. */
static inline uint32_t triad_segments_find(
	const struct triad_segments *segments, uint64_t value)
{
	const uint64_t *starts = segments->starts;
	uint32_t n = segments->n;

	/* The half can't be predicted, so this avoids a branch. */
	while (n > 1) {
		uint32_t half = n / 2;

		starts += starts[half] <= value ? half : 0;
		n -= half;
	}
	return (uint32_t)(starts - segments->starts);
}

/* Adds the groups of that segment to 'set', which has a bit for each. */
static inline void triad_segments_add(
	const struct triad_segments *segments, uint32_t segment, uint64_t *set)
{
	for (uint32_t i = segments->at[segment]; i < segments->at[segment + 1]; i++)
		set[segments->groups[i] / 64] |= UINT64_C(1)
			<< segments->groups[i] % 64;
}

#endif
