/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An agent's table of paths, and whether it still equals the SM's answers.
 *
 * Model: the manager beside the master SM sends beats four times a second.  A beat
 * names the generation from which the SM answers requests for paths.  A table may be
 * used while the last beat received named its generation, and was sent less than
 * TRIAD_PATH_LIFE_US ago.  The agent's own clock bounds the age of a beat, however long
 * the beat was on its way:
 *
 *     agent    asked at t0 ----------------------------- beat counts as sent at
 *                     \                                  t0 + (S - M), or later
 *     manager          answers at M ----- beat, sent at S
 *
 * M was after t0.  So a beat with the manager's time S was sent at t0 + (S - M) or
 * later.  The bound is too early by the time that the request took.  The agent repeats
 * requests and uses the best bound; it discards old bounds, because clocks drift.  So
 * old beats, which a process that was stopped finds in its socket when it continues,
 * count as old.
 *
 * A generation belongs to one incarnation of one manager.  If two managers report
 * within TRIAD_PATH_LIFE_US that their SM answers, no table may be used, because it is
 * not known which SM is right.
 *
 * The owner calls triad_path_keeper_look() at each use, so that nothing depends on
 * timers being on time.
 *
 * Thread-safety: none; the owner has a lock.
 * Memory: one table in force and one that is being assembled; checked. */
#ifndef TRIAD_COLLECT_PATH_KEEPER_H
#define TRIAD_COLLECT_PATH_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/path_message.h"
#include "triad/clock.h"

/* Less than a second, to leave time between the look and the use of a path. */
#define TRIAD_PATH_LIFE_US (900 * TRIAD_US_PER_MS)
#define TRIAD_PATH_BEAT_US (250 * TRIAD_US_PER_MS)
#define TRIAD_PATH_MAX_MANAGERS 8u

/* What a look finds. */
enum triad_path_state {
	TRIAD_PATHS_VALID,
	TRIAD_PATHS_NO_BEATS, /* no timely beat from any manager */
	TRIAD_PATHS_NONE,     /* beats come, but no SM answers */
	TRIAD_PATHS_TWO,      /* two managers report that their SM answers */
	TRIAD_PATHS_COMING,   /* the table is of another generation, or missing */
	TRIAD_PATHS_N_STATES
};

/* In words, for people. */
const char *triad_path_state_name(enum triad_path_state state);

struct triad_path_counts {
	uint64_t n_beats;
	uint64_t n_late;    /* beats that were too old on arrival */
	uint64_t n_asked;   /* requests sent */
	uint64_t n_tables;  /* received completely */
	uint64_t n_refused; /* malformed, out of order, of another generation */
};

struct triad_path_manager {
	uint64_t id, incarnation;    /* id 0: free */
	uint64_t received_us;        /* last beat */
	struct triad_path_beat beat; /* the latest by its own time */
	/* Added to a time of the manager it gives a time of ours that is not later than
	 * that moment; modulo 2^64. */
	bool has_offset;
	uint64_t offset, offset_us; /* when 'offset' was measured */
};

struct triad_path_keeper {
	uint64_t self; /* id: the port's GUID */
	struct triad_path_manager managers[TRIAD_PATH_MAX_MANAGERS];
	struct triad_path_counts counts;
	/* The table in force, or NULL; the manager and incarnation that it is from. */
	struct triad_path_table *table;
	uint64_t table_of, table_incarnation, table_us;
	/* The table being assembled, or NULL. */
	struct triad_path_table *parts;
	uint64_t parts_of, parts_incarnation, parts_us;
	uint32_t n_parts; /* rows received */
	/* Requests. */
	uint64_t asked_us, wait_us; /* asked_us 0: not yet */
	uint64_t asked_of, asked_incarnation, asked_generation;
};

/* 'keeper' is zeros. */
void triad_path_keeper_init(struct triad_path_keeper *keeper, uint64_t self);
void triad_path_keeper_clear(struct triad_path_keeper *keeper);

/* Receives a manager's beat or piece; 'body' is after triad_path_get_what().  Returns
 * false if it is malformed. */
bool triad_path_keeper_receive(struct triad_path_keeper *keeper,
	const struct triad_collect_head *head, enum triad_path_what what,
	struct triad_wire *body, uint64_t now_us);

/* Returns true if a request is due now, with the request and the manager to send it to.
 * Sets '*next_us' to when to call again at the latest. */
bool triad_path_keeper_step(struct triad_path_keeper *keeper, uint64_t now_us,
	struct triad_path_want *want, uint64_t *manager, uint64_t *next_us);

/* Whether the table may be used at 'now_us', and until when, if no further beat
 * comes. */
enum triad_path_state triad_path_keeper_look(
	const struct triad_path_keeper *keeper, uint64_t now_us, uint64_t *until_us);

#endif
