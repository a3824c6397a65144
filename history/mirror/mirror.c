/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/mirror/mirror.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "history/mirror/parts.h"
#include "lib/hash.h"

/* The time between two STATEs of a member: without changes, and the shortest. */
#define INTERVAL_US (2 * TRIAD_US_PER_S)
#define GAP_US (200 * TRIAD_US_PER_MS)
/* How often to check for changes; a check walks over all segments. */
#define LOOK_US (100 * TRIAD_US_PER_MS)
/* At once, 1/BURST_PARTS of the octets of a second may be sent. */
#define BURST_PARTS 50u

struct triad_mirror *triad_mirror_new(
	const struct triad_mirror_conf *conf, const struct triad_mirror_store *store)
{
	struct triad_mirror *mirror = calloc(1, sizeof(*mirror));

	if (!mirror)
		return NULL;
	mirror->conf = *conf;
	mirror->store = *store;
	return mirror;
}

void triad_mirror_free(struct triad_mirror *mirror)
{
	if (!mirror)
		return;
	mirror_pull_end(mirror);
	free(mirror);
}

/* --- our state --- */

uint64_t mirror_digest(
	const struct triad_mirror *mirror, uint64_t owner, enum triad_history_tier tier)
{
	const struct triad_history_ring *ring =
		triad_history_rings_find(mirror->store.rings, owner);
	uint64_t digest = 0;

	for (uint32_t i = 0; ring && i < ring->tiers[tier].n; i++) {
		const struct triad_history_segment *segment =
			&ring->tiers[tier].segments[i];

		if (segment->whole)
			digest += triad_hash_word(
				triad_hash_word(TRIAD_HASH_START, segment->begun_us),
				segment->whole);
	}
	return digest;
}

static uint64_t newest_of(const struct triad_history_ring *ring)
{
	uint64_t newest_us = 0;

	for (unsigned tier = 0; ring && tier < TRIAD_HISTORY_N_TIERS; tier++) {
		uint64_t last_us = triad_history_ring_last_us(ring, tier);

		if (last_us > newest_us)
			newest_us = last_us;
	}
	return newest_us;
}

static struct triad_mirror_state own_state(const struct triad_mirror *mirror)
{
	const struct triad_history_rings *rings = mirror->store.rings;
	struct triad_mirror_state state = {
		.max_octets = rings->limits.max_octets, .n = rings->n};

	for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++)
		state.floor_us[tier] =
			rings->floor_us[tier] > rings->reported_floor_us[tier]
			? rings->floor_us[tier]
			: rings->reported_floor_us[tier];
	for (unsigned i = 0; i < rings->n; i++) {
		struct triad_mirror_owned *owned = &state.owned[i];

		owned->port_guid = rings->port_guids[i];
		owned->octets = triad_history_ring_octets(rings->rings[i]);
		owned->newest_us = newest_of(rings->rings[i]);
		for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++)
			owned->digests[tier] =
				mirror_digest(mirror, owned->port_guid, tier);
	}
	return state;
}

const struct triad_mirror_owned *mirror_find_owned(
	const struct triad_mirror_state *state, uint64_t owner)
{
	for (uint32_t i = 0; i < state->n; i++)
		if (state->owned[i].port_guid == owner)
			return &state->owned[i];
	return NULL;
}

/* --- members --- */

struct mirror_member *mirror_find_member(struct triad_mirror *mirror, uint64_t id)
{
	for (uint32_t i = 0; i < mirror->n_members; i++)
		if (mirror->members[i].id == id)
			return &mirror->members[i];
	return NULL;
}

void triad_mirror_view(struct triad_mirror *mirror, const uint64_t *members, uint32_t n)
{
	struct mirror_member *kept = calloc(TRIAD_MIRROR_MAX_MEMBERS, sizeof(*kept));
	uint32_t n_kept = 0;

	/* If memory is short, keep the old members; those that left do not answer. */
	if (!kept)
		return;
	for (uint32_t i = 0; i < n && n_kept < TRIAD_MIRROR_MAX_MEMBERS; i++) {
		const struct mirror_member *known =
			mirror_find_member(mirror, members[i]);

		if (!members[i] || members[i] == mirror->conf.id)
			continue;
		kept[n_kept++] =
			known ? *known : (struct mirror_member){.id = members[i]};
	}
	memcpy(mirror->members, kept, n_kept * sizeof(*kept));
	mirror->n_members = n_kept;
	free(kept);
	if (mirror->pull.is_on && !mirror_find_member(mirror, mirror->pull.from))
		mirror_pull_end(mirror);
	mirror->state_us = 0;
}

/* Notes since when the member's newest image has been missing here. */
static void look_behind(struct triad_mirror *mirror, struct mirror_member *member)
{
	const struct triad_mirror_owned *owned =
		mirror_find_owned(&member->state, member->id);
	uint64_t here_us =
		newest_of(triad_history_rings_find(mirror->store.rings, member->id));

	if (!owned || owned->newest_us <= here_us)
		member->behind_since_us = 0;
	else if (!member->behind_since_us)
		member->behind_since_us = mirror->now_us;
}

static void receive_state(struct triad_mirror *mirror, struct mirror_member *member,
	const struct triad_mirror_state *state)
{
	struct triad_history_rings *rings = mirror->store.rings;
	bool is_same_list = member->state.n == state->n;

	/* 'settled' and 'shunned_us' are indexed by position in the list. */
	for (uint32_t i = 0; is_same_list && i < state->n; i++)
		is_same_list =
			member->state.owned[i].port_guid == state->owned[i].port_guid;
	if (!is_same_list) {
		memset(member->settled, 0, sizeof(member->settled));
		memset(member->shunned_us, 0, sizeof(member->shunned_us));
	}
	member->state = *state;
	member->has_state = true;
	for (unsigned tier = 0; state->max_octets == rings->limits.max_octets &&
		tier < TRIAD_HISTORY_N_TIERS;
		tier++)
		triad_history_rings_receive_floor(
			rings, tier, state->floor_us[tier], mirror->wall_us);
	look_behind(mirror, member);
}

/* --- in --- */

void triad_mirror_payload(
	struct triad_mirror *mirror, uint64_t sender, const void *payload, size_t size)
{
	struct mirror_member *member = mirror_find_member(mirror, sender);
	struct triad_mirror_message message;
	int error;

	if (sender == mirror->conf.id)
		return;
	error = triad_mirror_message_decode(&message, payload, size);
	if (error == EPROTONOSUPPORT)
		mirror->status.n_versions++;
	else if (error)
		mirror->status.n_malformed++;
	if (error || !member)
		return;
	switch (message.kind) {
	case TRIAD_MIRROR_STATE:
		receive_state(mirror, member, &message.state);
		break;
	case TRIAD_MIRROR_LIST:
		if (sender == mirror->pull.from)
			mirror_pull_list(mirror, &message);
		break;
	case TRIAD_MIRROR_PIECE:
		if (sender == mirror->pull.from)
			mirror_pull_piece(mirror, &message);
		break;
	case TRIAD_MIRROR_ASK_LIST:
	case TRIAD_MIRROR_ASK:
		mirror_serve_ask(mirror, sender, &message);
		break;
	}
}

static uint64_t max_tokens(const struct triad_mirror *mirror)
{
	uint64_t most = mirror->conf.rate_octets_s / BURST_PARTS;

	return most > TRIAD_MIRROR_PAYLOAD_SIZE ? most : TRIAD_MIRROR_PAYLOAD_SIZE;
}

static void fill_tokens(struct triad_mirror *mirror)
{
	uint64_t passed_us = mirror->now_us - mirror->filled_us;
	uint64_t more = passed_us > TRIAD_US_PER_S
		? mirror->conf.rate_octets_s
		: passed_us * mirror->conf.rate_octets_s / TRIAD_US_PER_S;

	if (!more)
		return;
	mirror->filled_us = mirror->now_us;
	mirror->tokens += more;
	if (mirror->tokens > max_tokens(mirror))
		mirror->tokens = max_tokens(mirror);
}

void triad_mirror_run(struct triad_mirror *mirror, uint64_t now_us, uint64_t wall_us)
{
	uint64_t hash;
	struct triad_mirror_state state;

	mirror->now_us = now_us;
	mirror->wall_us = wall_us;
	fill_tokens(mirror);
	for (uint32_t i = 0; i < mirror->n_members; i++)
		look_behind(mirror, &mirror->members[i]);
	mirror_pull_run(mirror);
	if (now_us >= mirror->state_us || now_us < mirror->look_us)
		return;
	mirror->look_us = now_us + LOOK_US;
	/* Send a changed STATE at once. */
	state = own_state(mirror);
	hash = triad_hash_octets(TRIAD_HASH_START, &state, sizeof(state));
	if (hash != mirror->sent_hash)
		mirror->state_us = now_us;
}

/* --- out --- */

uint64_t triad_mirror_next_us(const struct triad_mirror *mirror)
{
	uint64_t next_us = mirror_pull_next_us(mirror);

	if (!mirror->n_members)
		return MIRROR_NEVER;
	next_us = triad_clock_earlier(next_us, mirror->state_us);
	if (mirror->n_jobs)
		next_us = mirror->now_us;
	/* Wait until the rate allows another payload. */
	if (next_us <= mirror->now_us)
		next_us = mirror->now_us +
			(mirror->tokens < TRIAD_MIRROR_PAYLOAD_SIZE &&
						mirror->conf.rate_octets_s
					? (TRIAD_MIRROR_PAYLOAD_SIZE - mirror->tokens) *
							TRIAD_US_PER_S /
							mirror->conf.rate_octets_s +
						1
					: 0);
	return next_us;
}

static size_t take_state(struct triad_mirror *mirror, uint8_t *payload)
{
	struct triad_mirror_message message = {.kind = TRIAD_MIRROR_STATE};

	if (mirror->now_us < mirror->state_us)
		return 0;
	message.state = own_state(mirror);
	mirror->sent_hash = triad_hash_octets(
		TRIAD_HASH_START, &message.state, sizeof(message.state));
	mirror->look_us = mirror->now_us + GAP_US;
	mirror->state_us = mirror->now_us + INTERVAL_US;
	return triad_mirror_message_encode(&message, payload);
}

size_t triad_mirror_take_payload(
	struct triad_mirror *mirror, uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE])
{
	size_t size;

	if (mirror->tokens < TRIAD_MIRROR_PAYLOAD_SIZE || !mirror->n_members)
		return 0;
	size = take_state(mirror, payload);
	if (!size)
		size = mirror_pull_take(mirror, payload);
	if (!size)
		size = mirror_serve_take(mirror, payload);
	mirror->tokens -= size;
	mirror->status.n_given_octets += size;
	return size;
}

/* --- status --- */

/* Estimates, from sums, how much the member has that we lack. */
static uint64_t lacking_of(
	const struct triad_mirror *mirror, const struct mirror_member *member)
{
	uint64_t lacking = 0;

	for (uint32_t i = 0; i < member->state.n; i++) {
		const struct triad_mirror_owned *owned = &member->state.owned[i];
		const struct triad_history_ring *ring =
			triad_history_rings_find(mirror->store.rings, owned->port_guid);
		uint64_t here = ring ? triad_history_ring_octets(ring) : 0;

		if (owned->octets > here)
			lacking += owned->octets - here;
	}
	return lacking;
}

static void note_behind(const struct triad_mirror *mirror,
	const struct mirror_member *member, struct triad_mirror_status *status)
{
	const struct triad_mirror_owned *owned =
		mirror_find_owned(&member->state, member->id);
	uint64_t here_us =
		newest_of(triad_history_rings_find(mirror->store.rings, member->id));
	uint64_t for_us = mirror->now_us - member->behind_since_us;

	if (!owned || !member->behind_since_us || for_us < status->behind_for_us)
		return;
	status->behind_of = member->id;
	status->behind_for_us = for_us;
	status->behind_us = here_us ? owned->newest_us - here_us : for_us;
}

void triad_mirror_status(
	const struct triad_mirror *mirror, struct triad_mirror_status *status)
{
	*status = mirror->status;
	for (uint32_t i = 0; i < mirror->n_members; i++) {
		const struct mirror_member *member = &mirror->members[i];
		uint64_t lacking = lacking_of(mirror, member);

		status->n_members += member->has_state;
		if (lacking > status->lacking_octets)
			status->lacking_octets = lacking;
		note_behind(mirror, member, status);
	}
}
