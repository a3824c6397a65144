/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests for images.
 *
 *     choose     a member that has another digest of a tier
 *     list       a page of its segments, the newest first; then the next page
 *     image      of each segment those after its end here, one after the other
 *
 * After each image it checks whether something else should be copied first now, so that
 * new images come before old ones. */
#include "history/mirror/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"

#define ANSWER_US TRIAD_US_PER_S       /* how long to wait for an answer */
#define LATE_US (50 * TRIAD_US_PER_MS) /* the same, for a piece that others overtook */
#define MAX_TRIES 5u
/* Give up an image that takes longer, and a list with more pages than the segments that
 * we copy need. */
#define MAX_IMAGE_US (600 * TRIAD_US_PER_S)
#define MAX_PAGES (TRIAD_HISTORY_MAX_COPIES / TRIAD_MIRROR_LIST_ROOM + 1)
#define SHUN_US (10 * TRIAD_US_PER_S)     /* don't ask a member that did not answer */
#define SHUN_BAD_US (60 * TRIAD_US_PER_S) /* the same if its image was invalid */
/* The pause after the disk failed; doubled each time. */
#define PAUSE_US (5 * TRIAD_US_PER_S)
#define MAX_PAUSE_US (60 * TRIAD_US_PER_S)

/* --- choosing what to copy --- */

static void end_fetch(struct mirror_fetch *fetch)
{
	triad_pieces_end(&fetch->pieces);
	*fetch = (struct mirror_fetch){0};
}

void mirror_pull_end(struct triad_mirror *mirror)
{
	end_fetch(&mirror->pull.fetch);
	mirror->pull = (struct mirror_pull){0};
}

/* The index of that SM's entry in a member's STATE; -1: none. */
static int owned_index(const struct mirror_member *member, uint64_t owner)
{
	const struct triad_mirror_owned *owned =
		member ? mirror_find_owned(&member->state, owner) : NULL;

	return owned ? (int)(owned - member->state.owned) : -1;
}

static void ask_now(struct mirror_pull *pull)
{
	pull->is_due = true;
	pull->n_tries = 0;
}

/* --- choosing --- */

static uint64_t pair_of(const struct triad_mirror *mirror,
	const struct triad_mirror_owned *owned, enum triad_history_tier tier)
{
	uint64_t own = mirror_digest(mirror, owned->port_guid, tier);
	uint64_t pair = triad_hash_word(
		triad_hash_word(TRIAD_HASH_START, owned->digests[tier]), own);

	return owned->digests[tier] == own || !owned->digests[tier] ? 0 : pair | 1;
}

/* Whether the owner is a member: only the owner is asked for its images then. */
static bool is_of_a_member(struct triad_mirror *mirror, uint64_t owner)
{
	const struct mirror_member *member = mirror_find_member(mirror, owner);

	return member && member->has_state;
}

/* Whether to ask the member for these images.  For our own images only if the member
 * has more: otherwise it just lacks the newest one. */
static bool may_ask(struct triad_mirror *mirror, const struct mirror_member *member,
	const struct triad_mirror_owned *owned)
{
	const struct triad_history_ring *ring =
		triad_history_rings_find(mirror->store.rings, owned->port_guid);

	if (owned->port_guid == member->id)
		return true;
	if (owned->port_guid == mirror->conf.id)
		return !ring || owned->octets > triad_history_ring_octets(ring);
	return !is_of_a_member(mirror, owned->port_guid);
}

struct choice {
	uint64_t from, owner, digest;
	enum triad_history_tier tier;
};

static bool choose_of(struct triad_mirror *mirror, const struct mirror_member *member,
	enum triad_history_tier tier, bool is_own, struct choice *choice)
{
	for (uint32_t i = 0; i < member->state.n; i++) {
		const struct triad_mirror_owned *owned = &member->state.owned[i];
		uint64_t pair;

		if ((owned->port_guid == member->id) != is_own ||
			mirror->now_us < member->shunned_us[i][tier] ||
			!may_ask(mirror, member, owned))
			continue;
		pair = pair_of(mirror, owned, tier);
		if (!pair || pair == member->settled[i][tier])
			continue;
		*choice = (struct choice){.from = member->id,
			.owner = owned->port_guid,
			.digest = owned->digests[tier],
			.tier = tier};
		return true;
	}
	return false;
}

static bool choose_in_turn(struct triad_mirror *mirror, enum triad_history_tier tier,
	bool is_own, struct choice *choice)
{
	for (uint32_t i = 0; i < mirror->n_members; i++) {
		const struct mirror_member *member =
			&mirror->members[(mirror->turn + i) % mirror->n_members];

		if (mirror->now_us >= member->rest_us &&
			choose_of(mirror, member, tier, is_own, choice))
			return true;
	}
	return false;
}

/* Chooses what to copy first: the finest tier, and in it images of present members. */
static bool choose_image(struct triad_mirror *mirror, struct choice *choice)
{
	for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++)
		if (choose_in_turn(mirror, tier, true, choice) ||
			choose_in_turn(mirror, tier, false, choice))
			return true;
	return false;
}

static void begin_pull(struct triad_mirror *mirror)
{
	struct choice choice;

	if (!choose_image(mirror, &choice)) {
		/* Nothing is missing, so the image that could not be written is not
		 * either. */
		mirror->status.error = 0;
		return;
	}
	mirror->pull = (struct mirror_pull){.is_on = true,
		.from = choice.from,
		.owner = choice.owner,
		.tier = choice.tier,
		.digest = choice.digest,
		.before_us = UINT64_MAX,
		.came_us = mirror->now_us};
	ask_now(&mirror->pull);
}

/* Whether something else should be copied first now, or the list has changed. */
static bool is_overtaken(struct triad_mirror *mirror)
{
	const struct mirror_pull *pull = &mirror->pull;
	struct choice choice;

	return choose_image(mirror, &choice) &&
		(choice.from != pull->from || choice.owner != pull->owner ||
			choice.tier != pull->tier || choice.digest != pull->digest);
}

/* --- segments --- */

static void begin_fetch(struct triad_mirror *mirror, uint64_t begun_us, uint64_t offset)
{
	struct mirror_pull *pull = &mirror->pull;

	end_fetch(&pull->fetch);
	pull->fetch.is_on = true;
	pull->fetch.image = (struct triad_mirror_image){.owner = pull->owner,
		.tier = pull->tier,
		.begun_us = begun_us,
		.offset = offset};
	ask_now(pull);
}

/* Begins to copy the segment; false: there is nothing to copy. */
static bool copy_segment(
	struct triad_mirror *mirror, const struct triad_mirror_listed *listed)
{
	const struct triad_history_rings *rings = mirror->store.rings;
	struct mirror_pull *pull = &mirror->pull;
	const struct triad_history_ring *ring =
		triad_history_rings_find(rings, pull->owner);
	const struct triad_history_segment *segment = ring
		? triad_history_ring_segment(ring, pull->tier, listed->begun_us)
		: NULL;
	uint64_t offset = segment ? segment->octets : 0;

	/* Never append to a segment with unreadable octets. */
	if (offset >= listed->octets || (segment && segment->whole != segment->octets))
		return false;
	if (!triad_history_rings_takes(rings, pull->tier, listed->begun_us,
		    listed->last_us, mirror->wall_us))
		return false;
	begin_fetch(mirror, listed->begun_us, offset);
	return true;
}

/* Continues with the next member.  Does not ask this one for as long as it took since
 * its last image, so that others are copied meanwhile. */
static void pass_on(struct triad_mirror *mirror, struct mirror_member *member)
{
	if (member) {
		member->rest_us = 2 * mirror->now_us - mirror->pull.came_us;
		mirror->turn = (uint32_t)(member - mirror->members) + 1;
	}
	mirror_pull_end(mirror);
}

static void note_settled_pair(struct triad_mirror *mirror)
{
	struct mirror_pull *pull = &mirror->pull;
	struct mirror_member *member = mirror_find_member(mirror, pull->from);
	int i = owned_index(member, pull->owner);

	/* Only if the digest is the same: otherwise the member's list has changed. */
	if (i >= 0 && member->state.owned[i].digests[pull->tier] == pull->digest)
		member->settled[i][pull->tier] =
			pair_of(mirror, &member->state.owned[i], pull->tier);
	pass_on(mirror, member);
}

/* Continues with the page, and then with the next one. */
static void continue_pull(struct triad_mirror *mirror)
{
	struct mirror_pull *pull = &mirror->pull;

	for (; pull->at < pull->list.n; pull->at++)
		if (copy_segment(mirror, &pull->list.listed[pull->at]))
			return;
	if (pull->list.is_last || ++pull->n_pages == MAX_PAGES) {
		note_settled_pair(mirror);
		return;
	}
	pull->before_us = pull->list.listed[pull->list.n - 1].begun_us;
	pull->has_page = false;
	ask_now(pull);
}

void mirror_pull_list(
	struct triad_mirror *mirror, const struct triad_mirror_message *message)
{
	struct mirror_pull *pull = &mirror->pull;

	if (!pull->is_on || pull->has_page || message->owner != pull->owner ||
		message->tier != pull->tier || message->before_us != pull->before_us)
		return;
	pull->list = message->list;
	pull->has_page = true;
	pull->is_due = false;
	pull->at = 0;
	continue_pull(mirror);
}

/* --- an image --- */

static void shun(struct triad_mirror *mirror, uint64_t for_us)
{
	struct mirror_pull *pull = &mirror->pull;
	struct mirror_member *member = mirror_find_member(mirror, pull->from);
	int i = owned_index(member, pull->owner);

	if (i >= 0)
		member->shunned_us[i][pull->tier] = mirror->now_us + for_us;
	pass_on(mirror, member);
}

static void pause_pull(struct triad_mirror *mirror)
{
	uint64_t for_us = mirror->pause_for_us ? 2 * mirror->pause_for_us : PAUSE_US;

	mirror->pause_for_us = for_us < MAX_PAUSE_US ? for_us : MAX_PAUSE_US;
	mirror->pause_us = mirror->now_us + mirror->pause_for_us;
	mirror_pull_end(mirror);
}

static void keep_image(struct triad_mirror *mirror)
{
	struct mirror_pull *pull = &mirror->pull;
	struct mirror_fetch *fetch = &pull->fetch;
	int error = mirror->store.add(
		mirror->store.context, &fetch->image, fetch->pieces.octets);

	if (!error) {
		mirror->status.n_copied++;
		mirror->status.n_copied_octets += fetch->image.size;
		mirror->status.error = 0;
		mirror->pause_for_us = 0;
		pull->came_us = mirror->now_us;
	}
	end_fetch(fetch);
	switch (error) {
	case 0:
		if (is_overtaken(mirror))
			mirror_pull_end(mirror);
		else
			continue_pull(mirror);
		break;
	case EPROTO:
		mirror->status.n_bad++;
		shun(mirror, SHUN_BAD_US);
		break;
	case EBUSY:
	case ENOBUFS:
		pull->at++;
		continue_pull(mirror);
		break;
	default:
		mirror->status.n_failed++;
		mirror->status.error = error;
		pause_pull(mirror);
		break;
	}
}

static bool is_of_fetch(
	const struct triad_mirror *mirror, const struct triad_mirror_message *message)
{
	const struct mirror_fetch *fetch = &mirror->pull.fetch;

	return fetch->is_on && message->image.owner == fetch->image.owner &&
		message->image.tier == fetch->image.tier &&
		message->image.begun_us == fetch->image.begun_us &&
		message->image.offset == fetch->image.offset &&
		(!fetch->image.size || fetch->image.size == message->image.size);
}

void mirror_pull_piece(
	struct triad_mirror *mirror, const struct triad_mirror_message *message)
{
	struct mirror_pull *pull = &mirror->pull;
	struct mirror_fetch *fetch = &pull->fetch;
	struct triad_pieces *pieces = &fetch->pieces;

	if (!is_of_fetch(mirror, message))
		return;
	if (!fetch->image.size &&
		!triad_pieces_begin(
			pieces, message->image.size, TRIAD_MIRROR_PIECE_SIZE)) {
		pause_pull(mirror);
		return;
	}
	fetch->image.size = message->image.size;
	if (!triad_pieces_put(pieces, message->piece, message->octets))
		return;
	pull->n_tries = 0;
	pull->ask_us = mirror->now_us + ANSWER_US;
	if (pieces->n_have == pieces->n)
		keep_image(mirror);
	else if (pieces->missing >= fetch->end)
		pull->is_due = true;
	else if (message->piece + 1 >= fetch->end || message->piece + 1 == pieces->n)
		pull->ask_us = mirror->now_us + LATE_US;
}

/* --- time and questions --- */

void mirror_pull_run(struct triad_mirror *mirror)
{
	struct mirror_pull *pull = &mirror->pull;

	if (!pull->is_on && mirror->now_us >= mirror->pause_us)
		begin_pull(mirror);
	if (pull->is_on && mirror->now_us - pull->came_us >= MAX_IMAGE_US)
		shun(mirror, SHUN_US);
	if (!pull->is_on || pull->is_due || mirror->now_us < pull->ask_us)
		return;
	if (pull->n_tries >= MAX_TRIES)
		shun(mirror, SHUN_US);
	else
		pull->is_due = true;
}

uint64_t mirror_pull_next_us(const struct triad_mirror *mirror)
{
	if (!mirror->pull.is_on)
		return MIRROR_NEVER;
	return mirror->pull.is_due ? mirror->now_us : mirror->pull.ask_us;
}

size_t mirror_pull_take(
	struct triad_mirror *mirror, uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE])
{
	struct mirror_pull *pull = &mirror->pull;
	struct mirror_fetch *fetch = &pull->fetch;
	struct triad_mirror_message message = {.kind = TRIAD_MIRROR_ASK_LIST,
		.tier = pull->tier,
		.to = pull->from,
		.owner = pull->owner,
		.before_us = pull->before_us};

	if (!pull->is_on || !pull->is_due)
		return 0;
	pull->is_due = false;
	pull->n_tries++;
	pull->ask_us = mirror->now_us + ANSWER_US;
	if (fetch->is_on) {
		message.kind = TRIAD_MIRROR_ASK;
		message.image = fetch->image;
		message.piece = (uint32_t)fetch->pieces.missing;
		message.n_pieces = TRIAD_MIRROR_WINDOW;
		fetch->end = message.piece + TRIAD_MIRROR_WINDOW;
	}
	return triad_mirror_message_encode(&message, payload);
}
