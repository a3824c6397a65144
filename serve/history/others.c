/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds images in the folder of a store, our own and those of other SMs. */
#include <stdlib.h>
#include <string.h>

#include "serve/history/store_parts.h"

#include "triad/thread.h"

static void load_other(const struct triad_history_owner *other,
	struct triad_frame_reader *frames, struct triad_history_ring *ring)
{
	for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++) {
		uint64_t *times;
		uint32_t n;

		(void)triad_history_list(other, tier, &times, &n);
		/* Ignores a segment that can't be read, perhaps because its SM has just
		 * removed it. */
		for (uint32_t i = 0; i < n; i++)
			(void)triad_history_load(
				other, tier, times[i], frames, ring, false);
		free(times);
	}
}

void triad_history_store_look_at_others(
	struct triad_history_store *store, struct triad_frame_reader *frames)
{
	struct triad_history_ring rings[TRIAD_HISTORY_MAX_OTHERS] = {0};
	struct triad_history_ring old[TRIAD_HISTORY_MAX_OTHERS];
	uint64_t guids[TRIAD_HISTORY_MAX_OTHERS];
	struct triad_history_params params;
	struct triad_history_owner owner;
	unsigned n, n_old;

	params = TRIAD_LOCKED(&store->lock, store->params);
	owner = (struct triad_history_owner){.dir = params.dir,
		.program = params.program,
		.port_guid = params.port_guid};
	n = params.dir[0]
		? triad_history_list_others(&owner, guids, TRIAD_HISTORY_MAX_OTHERS)
		: 0;
	for (unsigned i = 0; i < n; i++) {
		owner.port_guid = guids[i];
		load_other(&owner, frames, &rings[i]);
	}
	pthread_mutex_lock(&store->lock);
	memcpy(old, store->others, sizeof(old));
	n_old = store->n_others;
	memcpy(store->others, rings, sizeof(rings));
	memcpy(store->other_guids, guids, n * sizeof(guids[0]));
	store->n_others = n;
	pthread_mutex_unlock(&store->lock);
	for (unsigned i = 0; i < n_old; i++)
		triad_history_ring_clear(&old[i]);
}

/* Merges another SM's answer: it replaces one that found nothing, or an earlier
 * image. */
static void merge_answer(
	struct triad_history_answer *answer, const struct triad_history_answer *other)
{
	uint64_t first_us = answer->first_us, last_us = answer->last_us;
	bool is_empty = answer->found == TRIAD_HISTORY_EMPTY;

	if (other->found == TRIAD_HISTORY_EMPTY)
		return;
	if (is_empty ||
		(other->found == TRIAD_HISTORY_FOUND &&
			(answer->found != TRIAD_HISTORY_FOUND ||
				other->position.entry.time_us >
					answer->position.entry.time_us)))
		*answer = *other;
	if (is_empty)
		return;
	answer->first_us = first_us < other->first_us ? first_us : other->first_us;
	answer->last_us = last_us > other->last_us ? last_us : other->last_us;
}

/* Called with the lock. */
static struct triad_history_answer find_in(struct triad_history_store *store,
	const struct triad_history_ring *ring, uint64_t port_guid, uint64_t time_us)
{
	struct triad_history_answer answer =
		triad_history_ring_find(ring, &store->params.limits, time_us);

	answer.position.port_guid = answer.before.port_guid = port_guid;
	return answer;
}

struct triad_history_answer triad_history_store_find(
	struct triad_history_store *store, uint64_t time_us)
{
	struct triad_history_answer answer;

	pthread_mutex_lock(&store->lock);
	answer = find_in(store, &store->ring, store->params.port_guid, time_us);
	for (unsigned i = 0; i < store->n_others; i++) {
		struct triad_history_answer other = find_in(
			store, &store->others[i], store->other_guids[i], time_us);

		merge_answer(&answer, &other);
	}
	pthread_mutex_unlock(&store->lock);
	return answer;
}

static int compare_positions(const void *a, const void *b)
{
	const struct triad_history_position *x = a, *y = b;

	return (x->entry.time_us > y->entry.time_us) -
		(x->entry.time_us < y->entry.time_us);
}

/* Adds the places of one more ring.  Called with the lock. */
static uint32_t spread_over(const struct triad_history_ring *ring, uint64_t port_guid,
	uint64_t from_us, uint64_t to_us, struct triad_history_position *places,
	uint32_t room)
{
	uint32_t n = triad_history_ring_spread(ring, from_us, to_us, places, room);

	for (uint32_t i = 0; i < n; i++)
		places[i].port_guid = port_guid;
	return n;
}

uint32_t triad_history_store_spread(struct triad_history_store *store, uint64_t from_us,
	uint64_t to_us, struct triad_history_position *places, uint32_t room)
{
	struct triad_history_position *all =
		calloc((size_t)room * (TRIAD_HISTORY_MAX_OTHERS + 1), sizeof(*all));
	uint32_t n, n_given;

	if (!all)
		return 0;
	pthread_mutex_lock(&store->lock);
	n = spread_over(
		&store->ring, store->params.port_guid, from_us, to_us, all, room);
	for (unsigned i = 0; i < store->n_others; i++)
		n += spread_over(&store->others[i], store->other_guids[i], from_us,
			to_us, all + n, room);
	pthread_mutex_unlock(&store->lock);
	qsort(all, n, sizeof(*all), compare_positions);
	n_given = n < room ? n : room;
	for (uint32_t i = 0; i < n_given; i++)
		places[i] = all[n_given > 1
				? (uint32_t)((uint64_t)i * (n - 1) / (n_given - 1))
				: n - 1];
	free(all);
	return n_given;
}
