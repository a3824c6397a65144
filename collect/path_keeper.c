/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/path_keeper.h"

#include <string.h>

#include "collect/incarnation.h"

/* The longest time that a beat of an earlier incarnation may be under way. */
#define PAST_US (10 * TRIAD_US_PER_S)
/* When to measure an offset again, and when to discard it: clocks that differ by 0.01 %
 * drift by 12 ms until then. */
#define OFFSET_AGAIN_US (30 * TRIAD_US_PER_S)
#define OFFSET_LIFE_US (120 * TRIAD_US_PER_S)
/* If a beat is later than now by more than this, one of both clocks was stopped. */
#define FUTURE_US (20 * TRIAD_US_PER_MS)
/* The wait before a request is repeated; it grows each time. */
#define FIRST_WAIT_US (300 * TRIAD_US_PER_MS)
#define MOST_WAIT_US (4 * TRIAD_US_PER_S)
/* The longest wait between two pieces of a table. */
#define PIECE_WAIT_US TRIAD_US_PER_S

const char *triad_path_state_name(enum triad_path_state state)
{
	static const char *const names[TRIAD_PATHS_N_STATES] = {
		[TRIAD_PATHS_VALID] = "valid",
		[TRIAD_PATHS_NO_BEATS] = "no SM says in time what it answers",
		[TRIAD_PATHS_NONE] = "the SM answers nothing for agents now",
		[TRIAD_PATHS_TWO] = "two SMs say that they answer",
		[TRIAD_PATHS_COMING] = "the new paths are on their way",
	};

	return state < TRIAD_PATHS_N_STATES ? names[state] : "unknown";
}

void triad_path_keeper_init(struct triad_path_keeper *keeper, uint64_t self)
{
	keeper->self = self;
	keeper->wait_us = FIRST_WAIT_US;
}

static void drop_parts(struct triad_path_keeper *keeper)
{
	triad_path_table_unref(keeper->parts);
	keeper->parts = NULL;
	keeper->n_parts = 0;
}

void triad_path_keeper_clear(struct triad_path_keeper *keeper)
{
	drop_parts(keeper);
	triad_path_table_unref(keeper->table);
	memset(keeper, 0, sizeof(*keeper));
}

/* --- managers --- */

static struct triad_path_manager *find_manager(
	struct triad_path_keeper *keeper, uint64_t id)
{
	for (unsigned i = 0; i < TRIAD_PATH_MAX_MANAGERS; i++)
		if (keeper->managers[i].id == id)
			return &keeper->managers[i];
	return NULL;
}

/* A free entry, or that of the manager that has been silent longest. */
static struct triad_path_manager *find_slot(struct triad_path_keeper *keeper)
{
	struct triad_path_manager *oldest = &keeper->managers[0];

	for (unsigned i = 0; i < TRIAD_PATH_MAX_MANAGERS; i++)
		if (keeper->managers[i].received_us < oldest->received_us)
			oldest = &keeper->managers[i];
	return oldest;
}

/* The beat's manager; makes an entry for a new one.  NULL for an earlier
 * incarnation. */
static struct triad_path_manager *manager_of(struct triad_path_keeper *keeper,
	const struct triad_collect_head *head, uint64_t now_us)
{
	struct triad_path_manager *manager = find_manager(keeper, head->sender);
	enum triad_incarnation is = TRIAD_INCARNATION_NEW;

	if (manager)
		is = triad_incarnation_judge(head->incarnation, manager->incarnation,
			manager->received_us, PAST_US, now_us);
	else
		manager = find_slot(keeper);
	if (is == TRIAD_INCARNATION_PAST)
		return NULL;
	if (is == TRIAD_INCARNATION_NEW)
		*manager = (struct triad_path_manager){
			.id = head->sender, .incarnation = head->incarnation};
	return manager;
}

/* Whether time 'a' is later than 'b', of one clock. */
static bool is_later(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) > 0;
}

/* The earliest time, by our clock, at which the latest beat was sent. */
static uint64_t sent_us(const struct triad_path_manager *manager)
{
	return manager->beat.time_us + manager->offset;
}

static bool has_offset(const struct triad_path_manager *manager, uint64_t now_us)
{
	return manager->has_offset && now_us - manager->offset_us < OFFSET_LIFE_US;
}

/* Learns the clocks' offset from an answer: the manager sent it at 'beat->time_us' of
 * its clock; we sent the request at 'beat->echo' of ours. */
static void learn_offset(struct triad_path_manager *manager,
	const struct triad_path_beat *beat, uint64_t now_us)
{
	uint64_t offset = beat->echo - beat->time_us;

	/* Ignore an impossible echo, or one too old. */
	if (beat->echo > now_us || now_us - beat->echo > PAST_US)
		return;
	if (manager->has_offset && !is_later(offset, manager->offset) &&
		now_us - manager->offset_us < OFFSET_AGAIN_US)
		return;
	manager->has_offset = true;
	manager->offset = offset;
	manager->offset_us = now_us;
}

static bool receive_beat(struct triad_path_keeper *keeper,
	const struct triad_collect_head *head, struct triad_wire *body, uint64_t now_us)
{
	struct triad_path_manager *manager;
	struct triad_path_beat beat;

	if (!triad_path_get_beat(body, &beat))
		return false;
	manager = manager_of(keeper, head, now_us);
	if (!manager)
		return true;
	keeper->counts.n_beats++;
	if (beat.echo)
		learn_offset(manager, &beat, now_us);
	/* Of two sent at the same time, the one received later counts. */
	if (!manager->received_us || !is_later(manager->beat.time_us, beat.time_us))
		manager->beat = beat;
	manager->received_us = now_us;
	if (!manager->has_offset)
		return true;
	if (is_later(sent_us(manager), now_us + FUTURE_US))
		manager->has_offset = false;
	else if (now_us - sent_us(manager) >= TRIAD_PATH_LIFE_US)
		keeper->counts.n_late++;
	return true;
}

/* --- the table --- */

/* Whether the last request was for that generation of the manager's incarnation. */
static bool has_asked(const struct triad_path_keeper *keeper,
	const struct triad_path_manager *manager, uint64_t generation)
{
	return keeper->asked_us && keeper->asked_of == manager->id &&
		keeper->asked_incarnation == manager->incarnation &&
		keeper->asked_generation == generation;
}

static bool begin_parts(struct triad_path_keeper *keeper,
	const struct triad_collect_head *head, const struct triad_path_piece *piece)
{
	drop_parts(keeper);
	keeper->parts = triad_path_table_new(piece->n_rows);
	if (!keeper->parts)
		return false;
	keeper->parts->guid = keeper->self;
	keeper->parts->generation = piece->generation;
	keeper->parts->lid = piece->lid;
	keeper->parts->lmc = piece->lmc;
	keeper->parts_of = head->sender;
	keeper->parts_incarnation = head->incarnation;
	return true;
}

/* Whether the piece continues the rows received so far. */
static bool is_next(const struct triad_path_keeper *keeper,
	const struct triad_collect_head *head, const struct triad_path_piece *piece)
{
	const struct triad_path_table *parts = keeper->parts;

	return parts && keeper->parts_of == head->sender &&
		keeper->parts_incarnation == head->incarnation &&
		parts->generation == piece->generation && parts->n == piece->n_rows &&
		parts->lid == piece->lid && parts->lmc == piece->lmc &&
		keeper->n_parts == piece->first;
}

static bool add_rows(struct triad_path_keeper *keeper,
	const struct triad_path_piece *piece, struct triad_wire *body)
{
	struct triad_path_table *parts = keeper->parts;

	for (uint32_t i = 0; i < piece->n; i++) {
		struct triad_path_row *row = &parts->rows[keeper->n_parts];

		if (!triad_path_get_row(body, piece, row) ||
			(keeper->n_parts && row->lid <= row[-1].lid))
			return false;
		parts->n_paths += row->has_path;
		keeper->n_parts++;
	}
	return true;
}

static void complete(struct triad_path_keeper *keeper, uint64_t now_us)
{
	triad_path_table_unref(keeper->table);
	keeper->table = keeper->parts;
	keeper->table_of = keeper->parts_of;
	keeper->table_incarnation = keeper->parts_incarnation;
	keeper->table_us = now_us;
	keeper->parts = NULL;
	keeper->n_parts = 0;
	keeper->counts.n_tables++;
}

static bool receive_piece(struct triad_path_keeper *keeper,
	const struct triad_collect_head *head, struct triad_wire *body, uint64_t now_us)
{
	const struct triad_path_manager *manager = find_manager(keeper, head->sender);
	struct triad_path_piece piece;

	if (!triad_path_get_piece(body, &piece))
		return false;
	/* Ignore a piece that was not requested. */
	if (!manager || manager->incarnation != head->incarnation ||
		!has_asked(keeper, manager, piece.generation)) {
		keeper->counts.n_refused++;
		return true;
	}
	if (!is_next(keeper, head, &piece) &&
		(piece.first || !begin_parts(keeper, head, &piece))) {
		keeper->counts.n_refused++;
		drop_parts(keeper);
		return true;
	}
	if (!add_rows(keeper, &piece, body)) {
		drop_parts(keeper);
		return false;
	}
	keeper->parts_us = now_us;
	if (keeper->n_parts == keeper->parts->n)
		complete(keeper, now_us);
	return true;
}

bool triad_path_keeper_receive(struct triad_path_keeper *keeper,
	const struct triad_collect_head *head, enum triad_path_what what,
	struct triad_wire *body, uint64_t now_us)
{
	bool good = what == TRIAD_PATH_BEAT ? receive_beat(keeper, head, body, now_us)
					    : receive_piece(keeper, head, body, now_us);

	keeper->counts.n_refused += !good;
	return good;
}

/* --- validity --- */

static bool is_received(const struct triad_path_manager *manager, uint64_t now_us)
{
	return manager->id && manager->received_us &&
		now_us - manager->received_us < TRIAD_PATH_LIFE_US;
}

/* The manager that answers.  NULL if there is none, or more than one: see '*state'. */
static const struct triad_path_manager *find_answering(
	const struct triad_path_keeper *keeper, uint64_t now_us,
	enum triad_path_state *state)
{
	const struct triad_path_manager *found = NULL;

	*state = TRIAD_PATHS_NO_BEATS;
	for (unsigned i = 0; i < TRIAD_PATH_MAX_MANAGERS; i++) {
		const struct triad_path_manager *manager = &keeper->managers[i];

		if (!is_received(manager, now_us))
			continue;
		if (!manager->beat.has_paths) {
			if (!found)
				*state = TRIAD_PATHS_NONE;
			continue;
		}
		if (found) {
			*state = TRIAD_PATHS_TWO;
			return NULL;
		}
		found = manager;
		*state = TRIAD_PATHS_VALID;
	}
	return found;
}

static bool is_of(const struct triad_path_keeper *keeper,
	const struct triad_path_manager *manager)
{
	return keeper->table && keeper->table_of == manager->id &&
		keeper->table_incarnation == manager->incarnation &&
		keeper->table->generation == manager->beat.generation;
}

enum triad_path_state triad_path_keeper_look(
	const struct triad_path_keeper *keeper, uint64_t now_us, uint64_t *until_us)
{
	enum triad_path_state state;
	const struct triad_path_manager *manager =
		find_answering(keeper, now_us, &state);

	*until_us = 0;
	if (!manager)
		return state;
	if (!has_offset(manager, now_us))
		return TRIAD_PATHS_NO_BEATS;
	/* Compare modulo 2^64: a beat may be some milliseconds in the future. */
	if (!is_later(sent_us(manager) + TRIAD_PATH_LIFE_US, now_us))
		return TRIAD_PATHS_NO_BEATS;
	if (!is_of(keeper, manager))
		return TRIAD_PATHS_COMING;
	*until_us = sent_us(manager) + TRIAD_PATH_LIFE_US;
	return TRIAD_PATHS_VALID;
}

/* --- requests --- */

static bool wants_offset(const struct triad_path_manager *manager, uint64_t now_us)
{
	return !manager->has_offset || now_us - manager->offset_us >= OFFSET_AGAIN_US ||
		!is_later(sent_us(manager) + TRIAD_PATH_LIFE_US, now_us);
}

bool triad_path_keeper_step(struct triad_path_keeper *keeper, uint64_t now_us,
	struct triad_path_want *want, uint64_t *id, uint64_t *next_us)
{
	enum triad_path_state state;
	const struct triad_path_manager *manager =
		find_answering(keeper, now_us, &state);
	bool wants_table, is_coming, is_repeated;

	/* Without a manager no time is needed: a beat wakes the owner. */
	*next_us = UINT64_MAX;
	if (!manager)
		return false;
	is_coming = keeper->parts && keeper->parts_of == manager->id &&
		keeper->parts_incarnation == manager->incarnation &&
		keeper->parts->generation == manager->beat.generation &&
		now_us - keeper->parts_us < PIECE_WAIT_US;
	wants_table = !is_of(keeper, manager) && !is_coming;
	if (!wants_table && !wants_offset(manager, now_us)) {
		keeper->wait_us = FIRST_WAIT_US;
		return false;
	}
	is_repeated = has_asked(keeper, manager, manager->beat.generation);
	/* Request something new at once. */
	if (!is_repeated)
		keeper->wait_us = FIRST_WAIT_US;
	else if (now_us - keeper->asked_us < keeper->wait_us) {
		*next_us = keeper->asked_us + keeper->wait_us;
		return false;
	}
	*want = (struct triad_path_want){.wants_table = wants_table,
		.echo = now_us,
		.generation = manager->beat.generation};
	*id = manager->id;
	if (is_repeated && keeper->wait_us < MOST_WAIT_US)
		keeper->wait_us *= 2;
	keeper->asked_of = manager->id;
	keeper->asked_incarnation = manager->incarnation;
	keeper->asked_generation = manager->beat.generation;
	keeper->asked_us = now_us;
	keeper->counts.n_asked++;
	*next_us = now_us + keeper->wait_us;
	return true;
}
