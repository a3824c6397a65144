/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which images are kept, in which segments, and how to find one.
 *
 * Model: three tiers are written at the same time, and nothing is ever rewritten:
 *
 *     sweeps     every image             kept for an hour
 *     minutes    the first of a minute   kept for a day
 *     hours      the first of an hour    kept for as long as is configured
 *
 * A tier is a row of segments, each a file of images that begins with a key image
 * (history/image.h).  Segments are removed as a whole (history/rings.h).  A segment
 * ends after a time, or when it uses 1/32 of the limit.
 *
 * The index of a segment is a line for each image, with a checksum
 * (lib/checked_line.h):
 *
 *     2026-01-02T03:04:05.678000Z 0 51234 key 17 1f2e3d4c
 *
 * its time, offset, size, key or change, the sweep's number.  It can always be rebuilt
 * from the segment.
 *
 * Images are found by their own times, even if the wall clock was set meanwhile.  No name
 * is later than the wall clock was, so after the clock was set back the segment that is
 * written need not be the last by name.
 *
 * Thread-safety: none; the caller excludes others.
 * Memory: 40 octets an image, at most TRIAD_HISTORY_MAX_ENTRIES of them; checked. */
#ifndef TRIAD_HISTORY_RING_H
#define TRIAD_HISTORY_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/tier.h"

#define TRIAD_HISTORY_LINE_SIZE 160
#define TRIAD_HISTORY_MAX_ENTRIES 1000000u

struct triad_history_segment {
	uint64_t begun_us; /* its name: when it was begun, and no other's of its tier */
	uint64_t octets;   /* of its images, and of unreadable octets after them */
	uint64_t whole;    /* of the images that follow each other without a gap from
			    * its start */
	uint32_t n;
	size_t room;
	struct triad_history_entry *entries;
};

struct triad_history_tier_state {
	struct triad_history_segment *segments; /* by name */
	uint32_t n;
	uint64_t written_us; /* the name of the one begun last; 0: none */
	size_t room;
	uint64_t octets;
};

struct triad_history_limits {
	uint64_t max_octets;
	uint64_t keep_us;   /* of the hours */
	uint64_t period_us; /* of sweeps */
};

struct triad_history_ring {
	struct triad_history_tier_state tiers[TRIAD_HISTORY_N_TIERS];
	uint32_t n_entries;
};

void triad_history_ring_clear(struct triad_history_ring *ring);

/* Adds a segment, of a name that none has, as the one that is written.  NULL when memory
 * is short. */
struct triad_history_segment *triad_history_ring_begin(struct triad_history_ring *ring,
	enum triad_history_tier tier, uint64_t begun_us);
/* Adds a segment in its order among the others, or finds it if it exists.  NULL when
 * memory is short. */
struct triad_history_segment *triad_history_ring_insert(struct triad_history_ring *ring,
	enum triad_history_tier tier, uint64_t begun_us);
/* Finds a segment by its name; NULL: there is none. */
struct triad_history_segment *triad_history_ring_segment(
	const struct triad_history_ring *ring, enum triad_history_tier tier,
	uint64_t begun_us);
/* The one that is written, or else the newest by name; NULL: there is none. */
struct triad_history_segment *triad_history_ring_last(
	const struct triad_history_ring *ring, enum triad_history_tier tier);
/* Whether it is the one begun last, to which images may be added. */
bool triad_history_ring_is_written(const struct triad_history_ring *ring,
	enum triad_history_tier tier, const struct triad_history_segment *segment);

/* Adds an image to a segment of that tier.  Returns 0 or ENOMEM. */
int triad_history_ring_add(struct triad_history_ring *ring,
	enum triad_history_tier tier, struct triad_history_segment *segment,
	const struct triad_history_entry *entry);

/* Sets a segment's size in octets, unreadable ones included. */
void triad_history_ring_set_octets(struct triad_history_ring *ring,
	enum triad_history_tier tier, struct triad_history_segment *segment,
	uint64_t octets);

/* Forgets that segment of the tier. */
void triad_history_ring_remove(struct triad_history_ring *ring,
	enum triad_history_tier tier, struct triad_history_segment *segment);

/* The time of the tier's last image; 0: it has none. */
uint64_t triad_history_ring_last_us(
	const struct triad_history_ring *ring, enum triad_history_tier tier);

/* Whether the segment that is written is full, so that an image of that time begins a
 * new one. */
bool triad_history_ring_is_full(const struct triad_history_ring *ring,
	enum triad_history_tier tier, const struct triad_history_limits *limits,
	uint64_t time_us);

uint64_t triad_history_ring_octets(const struct triad_history_ring *ring);

/* The time after an image of that tier in which another one is expected. */
uint64_t triad_history_ring_gap_us(
	enum triad_history_tier tier, const struct triad_history_limits *limits);

/* --- finding --- */

enum triad_history_found {
	TRIAD_HISTORY_FOUND,
	TRIAD_HISTORY_EMPTY,     /* there are no images */
	TRIAD_HISTORY_TOO_EARLY, /* before the first image */
	TRIAD_HISTORY_GAP,       /* nothing was written then */
	TRIAD_HISTORY_TOO_LATE,  /* after the last image */
};

/* Where an image is, and the key that it belongs to. */
struct triad_history_position {
	uint64_t port_guid; /* the SM of the image; set by callers with several rings */
	enum triad_history_tier tier;
	uint64_t segment; /* its begun_us */
	struct triad_history_entry entry, key;
};

struct triad_history_answer {
	enum triad_history_found found;
	struct triad_history_position position;
	/* The image before that in its tier; 'has_before' false: none is near. */
	bool has_before;
	struct triad_history_position before;
	uint64_t first_us, last_us; /* of all images */
	/* Of a gap: the images around it. */
	uint64_t gap_from_us, gap_to_us;
};

/* Finds the image that shows the fabric at 'time_us': the latest that is not later. */
struct triad_history_answer triad_history_ring_find(
	const struct triad_history_ring *ring,
	const struct triad_history_limits *limits, uint64_t time_us);

/* Selects at most 'room' images between two times (both included), in order, spread
 * evenly over the available ones, from the finest tier at each time.  Returns their
 * number. */
uint32_t triad_history_ring_spread(const struct triad_history_ring *ring,
	uint64_t from_us, uint64_t to_us, struct triad_history_position *positions,
	uint32_t room);

/* --- lines of an index --- */

/* Writes a line, with its newline; returns its length. */
size_t triad_history_line_format(
	const struct triad_history_entry *entry, char line[TRIAD_HISTORY_LINE_SIZE]);
/* Parses 'length' octets, without a newline.  False: not such a line. */
bool triad_history_line_parse(
	const char *line, size_t length, struct triad_history_entry *entry);

#endif
