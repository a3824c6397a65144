/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/ring.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/checked_line.h"
#include "lib/grow.h"
#include "lib/search.h"
#include "triad/clock.h"

#define MINUTE_US (60 * TRIAD_US_PER_S)
/* A segment uses at most 1/SEGMENTS of the limit. */
#define SEGMENTS 32

/* --- segments --- */

void triad_history_ring_clear(struct triad_history_ring *ring)
{
	for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++) {
		while (ring->tiers[tier].n)
			triad_history_ring_remove(
				ring, tier, ring->tiers[tier].segments);
		free(ring->tiers[tier].segments);
	}
	*ring = (struct triad_history_ring){0};
}

/* The index of the segment of that name, or where it would be inserted. */
static uint32_t index_of_segment(
	const struct triad_history_tier_state *state, uint64_t begun_us)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, state->n, state->segments[at].begun_us < begun_us);
	return at;
}

struct triad_history_segment *triad_history_ring_segment(
	const struct triad_history_ring *ring, enum triad_history_tier tier,
	uint64_t begun_us)
{
	const struct triad_history_tier_state *state = &ring->tiers[tier];
	uint32_t at = index_of_segment(state, begun_us);

	return at < state->n && state->segments[at].begun_us == begun_us
		? &state->segments[at]
		: NULL;
}

struct triad_history_segment *triad_history_ring_insert(struct triad_history_ring *ring,
	enum triad_history_tier tier, uint64_t begun_us)
{
	struct triad_history_tier_state *state = &ring->tiers[tier];
	struct triad_history_segment *segment =
		triad_history_ring_segment(ring, tier, begun_us);
	uint32_t at = index_of_segment(state, begun_us);

	if (segment)
		return segment;
	if (triad_grow(&state->segments, &state->room, state->n + 1,
		    sizeof(*state->segments), 16))
		return NULL;
	segment = &state->segments[at];
	memmove(segment + 1, segment, (state->n++ - at) * sizeof(*segment));
	*segment = (struct triad_history_segment){.begun_us = begun_us};
	return segment;
}

struct triad_history_segment *triad_history_ring_begin(struct triad_history_ring *ring,
	enum triad_history_tier tier, uint64_t begun_us)
{
	struct triad_history_segment *segment =
		triad_history_ring_insert(ring, tier, begun_us);

	if (segment)
		ring->tiers[tier].written_us = begun_us;
	return segment;
}

struct triad_history_segment *triad_history_ring_last(
	const struct triad_history_ring *ring, enum triad_history_tier tier)
{
	const struct triad_history_tier_state *state = &ring->tiers[tier];
	struct triad_history_segment *written =
		triad_history_ring_segment(ring, tier, state->written_us);

	if (written)
		return written;
	return state->n ? &state->segments[state->n - 1] : NULL;
}

bool triad_history_ring_is_written(const struct triad_history_ring *ring,
	enum triad_history_tier tier, const struct triad_history_segment *segment)
{
	return segment->begun_us == ring->tiers[tier].written_us;
}

int triad_history_ring_add(struct triad_history_ring *ring,
	enum triad_history_tier tier, struct triad_history_segment *segment,
	const struct triad_history_entry *entry)
{
	if (ring->n_entries == TRIAD_HISTORY_MAX_ENTRIES ||
		triad_grow(&segment->entries, &segment->room, segment->n + 1,
			sizeof(*entry), 16))
		return ENOMEM;
	segment->entries[segment->n++] = *entry;
	ring->n_entries++;
	segment->octets += entry->size;
	if (entry->offset == segment->whole)
		segment->whole += entry->size;
	ring->tiers[tier].octets += entry->size;
	return 0;
}

void triad_history_ring_set_octets(struct triad_history_ring *ring,
	enum triad_history_tier tier, struct triad_history_segment *segment,
	uint64_t octets)
{
	ring->tiers[tier].octets += octets - segment->octets;
	segment->octets = octets;
}

void triad_history_ring_remove(struct triad_history_ring *ring,
	enum triad_history_tier tier, struct triad_history_segment *segment)
{
	struct triad_history_tier_state *state = &ring->tiers[tier];
	size_t n_behind = (size_t)(state->segments + state->n - (segment + 1));

	ring->n_entries -= segment->n;
	state->octets -= segment->octets;
	free(segment->entries);
	state->n--;
	memmove(segment, segment + 1, n_behind * sizeof(*segment));
}

/* --- contents --- */

static const struct triad_history_entry *last_entry(
	const struct triad_history_ring *ring, enum triad_history_tier tier)
{
	const struct triad_history_tier_state *state = &ring->tiers[tier];
	const struct triad_history_segment *last = triad_history_ring_last(ring, tier);

	if (last && last->n)
		return &last->entries[last->n - 1];
	for (uint32_t i = state->n; i; i--) {
		const struct triad_history_segment *segment = &state->segments[i - 1];

		if (segment->n)
			return &segment->entries[segment->n - 1];
	}
	return NULL;
}

uint64_t triad_history_ring_last_us(
	const struct triad_history_ring *ring, enum triad_history_tier tier)
{
	const struct triad_history_entry *last = last_entry(ring, tier);

	return last ? last->time_us : 0;
}

bool triad_history_ring_is_full(const struct triad_history_ring *ring,
	enum triad_history_tier tier, const struct triad_history_limits *limits,
	uint64_t time_us)
{
	const struct triad_history_segment *last = triad_history_ring_last(ring, tier);
	uint64_t first_us;

	if (!last)
		return true;
	/* Use the first entry, not the segment's name: that one may be free, and later. */
	first_us = last->n ? last->entries[0].time_us : last->begun_us;
	return last->octets > limits->max_octets / SEGMENTS || time_us < first_us ||
		time_us - first_us >= triad_history_tiers[tier].segment_us;
}

uint64_t triad_history_ring_octets(const struct triad_history_ring *ring)
{
	uint64_t octets = 0;

	for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++)
		octets += ring->tiers[tier].octets;
	return octets;
}

/* --- finding --- */

/* The position of an image, by indexes. */
struct at {
	unsigned tier;
	uint32_t segment, entry;
};

static const struct triad_history_entry *entry_at(
	const struct triad_history_ring *ring, struct at at)
{
	return &ring->tiers[at.tier].segments[at.segment].entries[at.entry];
}

static struct triad_history_position position_of(
	const struct triad_history_ring *ring, struct at at)
{
	const struct triad_history_segment *segment =
		&ring->tiers[at.tier].segments[at.segment];
	struct triad_history_position position = {.tier = at.tier,
		.segment = segment->begun_us,
		.entry = segment->entries[at.entry]};
	uint32_t key = at.entry;

	while (key && !segment->entries[key].is_key)
		key--;
	position.key = segment->entries[key];
	return position;
}

uint64_t triad_history_ring_gap_us(
	enum triad_history_tier tier, const struct triad_history_limits *limits)
{
	uint64_t slack_us = 3 * limits->period_us;

	return triad_history_tiers[tier].spacing_us +
		(slack_us > MINUTE_US ? slack_us : MINUTE_US);
}

/* Calls 'see' for each image, in the order of tiers and of writing. */
static void for_each_image(const struct triad_history_ring *ring,
	void (*see)(void *context, const struct triad_history_ring *ring, struct at at),
	void *context)
{
	struct at at;

	for (at.tier = 0; at.tier < TRIAD_HISTORY_N_TIERS; at.tier++)
		for (at.segment = 0; at.segment < ring->tiers[at.tier].n; at.segment++)
			for (at.entry = 0;
				at.entry < ring->tiers[at.tier].segments[at.segment].n;
				at.entry++)
				see(context, ring, at);
}

struct search {
	uint64_t time_us;
	struct at best;
	bool has_best;
	uint64_t first_us, last_us;
	uint64_t next_us; /* the first later than searched for */
};

static void consider_image(
	void *context, const struct triad_history_ring *ring, struct at at)
{
	struct search *search = context;
	uint64_t time_us = entry_at(ring, at)->time_us;

	if (time_us < search->first_us)
		search->first_us = time_us;
	if (time_us > search->last_us)
		search->last_us = time_us;
	if (time_us > search->time_us) {
		search->next_us = triad_clock_earlier(search->next_us, time_us);
		return;
	}
	/* Of equal times prefer the finest tier: its image before is nearest. */
	if (search->has_best && time_us < entry_at(ring, search->best)->time_us)
		return;
	if (search->has_best && time_us == entry_at(ring, search->best)->time_us &&
		at.tier > search->best.tier)
		return;
	search->best = at;
	search->has_best = true;
}

static bool step_back(const struct triad_history_ring *ring, struct at *at)
{
	const struct triad_history_tier_state *state = &ring->tiers[at->tier];

	while (!at->entry) {
		if (!at->segment)
			return false;
		at->segment--;
		at->entry = state->segments[at->segment].n;
	}
	at->entry--;
	return true;
}

static void find_before(const struct triad_history_ring *ring,
	const struct triad_history_limits *limits, struct at at,
	struct triad_history_answer *answer)
{
	uint64_t time_us = entry_at(ring, at)->time_us, before_us;

	if (!step_back(ring, &at))
		return;
	before_us = entry_at(ring, at)->time_us;
	if (before_us >= time_us ||
		time_us - before_us > triad_history_ring_gap_us(at.tier, limits))
		return;
	answer->has_before = true;
	answer->before = position_of(ring, at);
}

struct triad_history_answer triad_history_ring_find(
	const struct triad_history_ring *ring,
	const struct triad_history_limits *limits, uint64_t time_us)
{
	struct search search = {
		.time_us = time_us, .first_us = UINT64_MAX, .next_us = UINT64_MAX};
	struct triad_history_answer answer = {.found = TRIAD_HISTORY_EMPTY};
	uint64_t behind_us;

	for_each_image(ring, consider_image, &search);
	if (search.first_us == UINT64_MAX)
		return answer;
	answer.first_us = search.first_us;
	answer.last_us = search.last_us;
	answer.found = TRIAD_HISTORY_TOO_EARLY;
	if (!search.has_best)
		return answer;
	answer.position = position_of(ring, search.best);
	find_before(ring, limits, search.best, &answer);
	behind_us = time_us - answer.position.entry.time_us;
	answer.found = TRIAD_HISTORY_FOUND;
	if (behind_us <= triad_history_ring_gap_us(search.best.tier, limits))
		return answer;
	answer.gap_from_us = answer.position.entry.time_us;
	answer.gap_to_us = search.next_us;
	answer.found = search.next_us == UINT64_MAX ? TRIAD_HISTORY_TOO_LATE
						    : TRIAD_HISTORY_GAP;
	return answer;
}

/* --- images of a time --- */

struct spread {
	uint64_t from_us, to_us;
	struct at *all; /* NULL: only count */
	uint32_t n;
};

static void collect(void *context, const struct triad_history_ring *ring, struct at at)
{
	struct spread *spread = context;
	uint64_t time_us = entry_at(ring, at)->time_us;

	if (time_us < spread->from_us || time_us > spread->to_us)
		return;
	if (spread->all)
		spread->all[spread->n] = at;
	spread->n++;
}

static int compare_times(const void *a, const void *b, void *context)
{
	const struct at *x = a, *y = b;
	uint64_t x_us = entry_at(context, *x)->time_us;
	uint64_t y_us = entry_at(context, *y)->time_us;

	if (x_us != y_us)
		return x_us < y_us ? -1 : 1;
	return (x->tier > y->tier) - (x->tier < y->tier);
}

/* Keeps one of several images of one time: an image may be in several tiers. */
static uint32_t drop_copies(
	const struct triad_history_ring *ring, struct at *all, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!kept ||
			entry_at(ring, all[kept - 1])->time_us !=
				entry_at(ring, all[i])->time_us)
			all[kept++] = all[i];
	return kept;
}

uint32_t triad_history_ring_spread(const struct triad_history_ring *ring,
	uint64_t from_us, uint64_t to_us, struct triad_history_position *positions,
	uint32_t room)
{
	struct spread spread = {.from_us = from_us, .to_us = to_us};
	uint32_t n, n_given;

	for_each_image(ring, collect, &spread);
	spread.all = malloc((spread.n + 1) * sizeof(*spread.all));
	if (!spread.all || !room || !spread.n) {
		free(spread.all);
		return 0;
	}
	spread.n = 0;
	for_each_image(ring, collect, &spread);
	qsort_r(spread.all, spread.n, sizeof(*spread.all), compare_times,
		(void *)(uintptr_t)ring);
	n = drop_copies(ring, spread.all, spread.n);
	n_given = n < room ? n : room;
	/* Spread evenly, with the first and the last one. */
	for (uint32_t i = 0; i < n_given; i++) {
		uint32_t at = n_given > 1
			? (uint32_t)((uint64_t)i * (n - 1) / (n_given - 1))
			: n - 1;

		positions[i] = position_of(ring, spread.all[at]);
	}
	free(spread.all);
	return n_given;
}

/* --- lines of an index --- */

size_t triad_history_line_format(
	const struct triad_history_entry *entry, char line[TRIAD_HISTORY_LINE_SIZE])
{
	char moment[TRIAD_CHECKED_LINE_TIME_SIZE];
	size_t length;

	triad_checked_line_time(entry->time_us, moment);
	length = (size_t)snprintf(line, TRIAD_HISTORY_LINE_SIZE,
		"%s %" PRIu64 " %" PRIu64 " %s %" PRIu64, moment, entry->offset,
		entry->size, entry->is_key ? "key" : "change", entry->sweep);
	length = triad_checked_line_end(line, length);
	line[length++] = '\n';
	return length;
}

bool triad_history_line_parse(
	const char *line, size_t length, struct triad_history_entry *entry)
{
	char copy[TRIAD_HISTORY_LINE_SIZE];
	char moment[TRIAD_CHECKED_LINE_TIME_SIZE], kind[8];

	if (length >= sizeof(copy) || !triad_checked_line_is_whole(line, length))
		return false;
	memcpy(copy, line, length);
	copy[length] = '\0';
	*entry = (struct triad_history_entry){0};
	if (sscanf(copy, "%27s %" SCNu64 " %" SCNu64 " %7s %" SCNu64, moment,
		    &entry->offset, &entry->size, kind, &entry->sweep) != 5)
		return false;
	entry->is_key = !strcmp(kind, "key");
	return entry->size && triad_checked_line_parse_time(moment, &entry->time_us);
}
