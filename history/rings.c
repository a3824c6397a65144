/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/rings.h"

#include <stddef.h>

#include <glib.h>

#include "triad/clock.h"

/* How far a clock may be ahead.  An image from the far future would never be old enough
 * to be removed. */
#define AHEAD_US (24 * 3600 * TRIAD_US_PER_S)
/* A segment counts as being written while its newest image is not older than this. */
#define WRITTEN_US (60 * TRIAD_US_PER_S)

struct triad_history_ring *triad_history_rings_find(
	const struct triad_history_rings *rings, uint64_t port_guid)
{
	for (unsigned i = 0; i < rings->n; i++)
		if (rings->port_guids[i] == port_guid)
			return rings->rings[i];
	return NULL;
}

void triad_history_rings_limit(
	struct triad_history_rings *rings, const struct triad_history_limits *limits)
{
	if (limits->max_octets > rings->limits.max_octets)
		for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++)
			rings->floor_us[tier] = rings->reported_floor_us[tier] = 0;
	rings->limits = *limits;
}

static bool is_half_full(const struct triad_history_rings *rings)
{
	return triad_history_rings_octets(rings) > rings->limits.max_octets / 2;
}

void triad_history_rings_receive_floor(struct triad_history_rings *rings,
	enum triad_history_tier tier, uint64_t floor_us, uint64_t now_us)
{
	if (floor_us > rings->reported_floor_us[tier] && floor_us <= now_us &&
		is_half_full(rings))
		rings->reported_floor_us[tier] = floor_us;
}

static uint64_t keep_us_of(
	const struct triad_history_rings *rings, enum triad_history_tier tier)
{
	uint64_t keep_us = triad_history_tiers[tier].keep_us;

	return keep_us && keep_us < rings->limits.keep_us ? keep_us
							  : rings->limits.keep_us;
}

static bool is_too_old(const struct triad_history_rings *rings,
	enum triad_history_tier tier, uint64_t last_us, uint64_t now_us)
{
	return last_us + keep_us_of(rings, tier) < now_us;
}

static uint64_t newest_time(const struct triad_history_segment *segment)
{
	return segment->n ? segment->entries[segment->n - 1].time_us
			  : segment->begun_us;
}

/* How much time after 'since_us' one SM's images of the tier cover.  However far the
 * clock was set, no gap between images counts for more than one in which the next is
 * expected, and no segment for more than it lasts. */
static uint64_t covered_us(const struct triad_history_rings *rings, unsigned owner,
	enum triad_history_tier tier, uint64_t since_us, uint64_t now_us)
{
	const struct triad_history_tier_state *state =
		&rings->rings[owner]->tiers[tier];
	uint64_t gap_us = triad_history_ring_gap_us(tier, &rings->limits);
	uint64_t at_us = since_us, covered = 0;

	for (uint32_t i = 0; i < state->n; i++) {
		const struct triad_history_segment *segment = &state->segments[i];
		uint64_t last_us = newest_time(segment);

		if (!segment->n || last_us <= at_us)
			continue;
		if (segment->entries[0].time_us > at_us) {
			covered += MIN(segment->entries[0].time_us - at_us, gap_us);
			at_us = segment->entries[0].time_us;
		}
		/* Unless the clock was set back within the segment. */
		if (last_us > at_us)
			covered += MIN(
				last_us - at_us, triad_history_tiers[tier].segment_us);
		at_us = last_us;
	}
	return covered + (now_us > at_us ? MIN(now_us - at_us, gap_us) : 0);
}

/* Whether the images since then say, as the clock does, that it is that long ago. */
static bool is_confirmed(const struct triad_history_rings *rings,
	enum triad_history_tier tier, uint64_t last_us, uint64_t now_us)
{
	for (unsigned owner = 0; owner < rings->n; owner++)
		if (covered_us(rings, owner, tier, last_us, now_us) >=
			keep_us_of(rings, tier))
			return true;
	return false;
}

/* Whether the name is of the future: a clock was wrong, then or now. */
static bool is_to_come(uint64_t begun_us, uint64_t now_us)
{
	return begun_us >= now_us + AHEAD_US;
}

static struct triad_history_segment *oldest_of(
	const struct triad_history_rings *rings, unsigned owner, unsigned tier)
{
	const struct triad_history_tier_state *state =
		&rings->rings[owner]->tiers[tier];

	return state->n ? state->segments : NULL;
}

/* Whether to remove the oldest segment because of a floor.  Never the one that this SM
 * is writing: if its clock was set back, all new names are lower than the old ones.  A
 * received floor only says that the sender's folder is full: it must not empty ours
 * below half. */
static bool is_below_floor(const struct triad_history_rings *rings, unsigned owner,
	unsigned tier, const struct triad_history_segment *oldest, uint64_t now_us)
{
	bool is_written = !owner &&
		triad_history_ring_is_written(rings->rings[owner], tier, oldest) &&
		newest_time(oldest) + WRITTEN_US > now_us;

	return oldest->begun_us <= rings->reported_floor_us[tier] && !is_written &&
		is_half_full(rings);
}

static bool is_past(const struct triad_history_rings *rings, unsigned owner,
	unsigned tier, const struct triad_history_segment *oldest, uint64_t now_us)
{
	uint64_t last_us = newest_time(oldest);

	return is_below_floor(rings, owner, tier, oldest, now_us) ||
		(is_too_old(rings, tier, last_us, now_us) &&
			is_confirmed(rings, tier, last_us, now_us));
}

static bool find_past(const struct triad_history_rings *rings, uint64_t now_us,
	struct triad_history_surplus *surplus)
{
	for (unsigned owner = 0; owner < rings->n; owner++)
		for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++) {
			struct triad_history_segment *oldest =
				oldest_of(rings, owner, tier);

			if (!oldest || !is_past(rings, owner, tier, oldest, now_us))
				continue;
			*surplus = (struct triad_history_surplus){owner, tier, oldest};
			return true;
		}
	return false;
}

static unsigned largest_tier(const struct triad_history_rings *rings)
{
	uint64_t octets[TRIAD_HISTORY_N_TIERS] = {0};
	unsigned largest = 0;

	for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++) {
		for (unsigned owner = 0; owner < rings->n; owner++)
			octets[tier] += rings->rings[owner]->tiers[tier].octets;
		if (octets[tier] > octets[largest])
			largest = tier;
	}
	return largest;
}

/* The first of a ring's segments to go: one of the future, or else the oldest. */
static struct triad_history_segment *first_to_go(
	const struct triad_history_rings *rings, unsigned owner, unsigned tier,
	uint64_t now_us)
{
	const struct triad_history_tier_state *state =
		&rings->rings[owner]->tiers[tier];
	uint32_t at = state->n;

	while (at && is_to_come(state->segments[at - 1].begun_us, now_us))
		at--;
	return at < state->n ? &state->segments[at] : oldest_of(rings, owner, tier);
}

static bool goes_before(uint64_t a_us, uint64_t b_us, uint64_t now_us)
{
	if (is_to_come(a_us, now_us) != is_to_come(b_us, now_us))
		return is_to_come(a_us, now_us);
	return a_us < b_us;
}

static bool find_oldest(const struct triad_history_rings *rings, unsigned tier,
	uint64_t now_us, struct triad_history_surplus *surplus)
{
	surplus->segment = NULL;
	for (unsigned owner = 0; owner < rings->n; owner++) {
		struct triad_history_segment *oldest =
			first_to_go(rings, owner, tier, now_us);

		if (oldest &&
			(!surplus->segment ||
				goes_before(oldest->begun_us,
					surplus->segment->begun_us, now_us)))
			*surplus = (struct triad_history_surplus){owner, tier, oldest};
	}
	return surplus->segment;
}

bool triad_history_rings_surplus(struct triad_history_rings *rings, uint64_t now_us,
	uint64_t more, struct triad_history_surplus *surplus)
{
	unsigned tier;

	if (find_past(rings, now_us, surplus))
		return true;
	if (triad_history_rings_octets(rings) + more <= rings->limits.max_octets)
		return false;
	tier = largest_tier(rings);
	if (!find_oldest(rings, tier, now_us, surplus))
		return false;
	/* A floor of the future would keep all copies out until then. */
	if (surplus->segment->begun_us > rings->floor_us[tier] &&
		!is_to_come(surplus->segment->begun_us, now_us))
		rings->floor_us[tier] = surplus->segment->begun_us;
	return true;
}

bool triad_history_rings_takes(const struct triad_history_rings *rings,
	enum triad_history_tier tier, uint64_t begun_us, uint64_t last_us,
	uint64_t now_us)
{
	return begun_us % TRIAD_US_PER_MS == 0 && begun_us > rings->floor_us[tier] &&
		begun_us > rings->reported_floor_us[tier] &&
		!is_to_come(begun_us, now_us) && !is_to_come(last_us, now_us) &&
		!is_too_old(rings, tier, last_us, now_us);
}

uint64_t triad_history_rings_octets(const struct triad_history_rings *rings)
{
	uint64_t octets = 0;

	for (unsigned owner = 0; owner < rings->n; owner++)
		octets += triad_history_ring_octets(rings->rings[owner]);
	return octets;
}
