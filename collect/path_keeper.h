/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An agent's table of paths, and whether it is what the SM answers now.
 *
 * Model: the master's manager says in beats, four times a second, what its SM answers
 * requests for paths from: a generation.  A table may be used as long as the last beat that
 * is known named its generation, and was sent less than TRIAD_PATH_LIFE_US ago.  The age of
 * a beat is bounded by this agent's own clock, however long the beat was on its way:
 *
 *     agent    asked at t0 ----------------------------- beat counts as sent at
 *                     \                                  t0 + (S - M), or later
 *     manager          answers at M ----- beat, sent at S
 *
 * M was after t0.  So a beat that names the manager's time S was sent at t0 + (S - M) or
 * later.  The bound is worse than the truth by the time that the request took; requests are
 * repeated, the best bound counts, and an old one goes, because clocks drift.  A process
 * that was stopped finds old beats in its socket when it goes on: they count as old.
 *
 * A generation belongs to one incarnation of one manager.  While two managers say within
 * TRIAD_PATH_LIFE_US that they answer, nobody knows which SM is right, and no table may be
 * used.
 *
 * The owner looks at each use (triad_path_keeper_look()): nothing here depends on a timer
 * that runs in time.
 *
 * Thread-safety: none; the owner has a lock.
 * Memory: one table in force and one that is being assembled; checked. */
#ifndef TRIAD_COLLECT_PATH_KEEPER_H
#define TRIAD_COLLECT_PATH_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/path_message.h"
#include "triad/clock.h"

/* Less than a second, for what lies between a look and the use of what was seen. */
#define TRIAD_PATH_LIFE_US (900 * TRIAD_US_PER_MS)
#define TRIAD_PATH_BEAT_US (250 * TRIAD_US_PER_MS)
#define TRIAD_PATH_MAX_MANAGERS 8u

/* What a look finds. */
enum triad_path_state {
	TRIAD_PATHS_VALID,
	TRIAD_PATHS_NO_BEATS, /* from any manager that answers, in time */
	TRIAD_PATHS_NONE,     /* the managers that are heard answer nothing */
	TRIAD_PATHS_TWO,      /* managers say that they answer */
	TRIAD_PATHS_COMING,   /* the table is of another generation, or missing */
	TRIAD_PATHS_N_STATES
};

/* In words, for people. */
const char *triad_path_state_name(enum triad_path_state state);

struct triad_path_counts {
	uint64_t n_beats;
	uint64_t n_late;    /* beats that were too old when they came */
	uint64_t n_asked;   /* requests sent */
	uint64_t n_tables;  /* that came whole */
	uint64_t n_refused; /* malformed, out of order, of another generation */
};

struct triad_path_manager {
	uint64_t id, incarnation;    /* id 0: free */
	uint64_t heard_us;           /* a beat, last */
	struct triad_path_beat beat; /* the latest by its own time */
	/* Adds up with a time of the manager's to one of ours that is not later than the
	 * same moment; modulo 2^64. */
	bool has_offset;
	uint64_t offset, offset_us; /* since when it is known */
};

struct triad_path_keeper {
	uint64_t self; /* id: the port's GUID */
	struct triad_path_manager managers[TRIAD_PATH_MAX_MANAGERS];
	struct triad_path_counts counts;
	/* NULL: none; whose it is. */
	struct triad_path_table *table;
	uint64_t table_of, table_incarnation, table_us;
	/* Being assembled; NULL: nothing. */
	struct triad_path_table *parts;
	uint64_t parts_of, parts_incarnation, parts_us;
	uint32_t n_parts; /* rows that are there */
	/* Requests. */
	uint64_t asked_us, wait_us; /* asked_us 0: not yet */
	uint64_t asked_of, asked_incarnation, asked_generation;
};

/* 'keeper' is zeros. */
void triad_path_keeper_init(struct triad_path_keeper *keeper, uint64_t self);
void triad_path_keeper_clear(struct triad_path_keeper *keeper);

/* A beat or a piece, behind triad_path_get_what(), that a manager sent.  Returns false for
 * what is malformed. */
bool triad_path_keeper_receive(struct triad_path_keeper *keeper,
	const struct triad_collect_head *head, enum triad_path_what what,
	struct triad_wire *body, uint64_t now_us);

/* What is to be asked now: true, with the request and the manager that it goes to.
 * '*next_us' becomes when to call again at the latest. */
bool triad_path_keeper_step(struct triad_path_keeper *keeper, uint64_t now_us,
	struct triad_path_want *want, uint64_t *manager, uint64_t *next_us);

/* Whether the table may be used at 'now_us', and until when, if nothing else comes. */
enum triad_path_state triad_path_keeper_look(
	const struct triad_path_keeper *keeper, uint64_t now_us, uint64_t *until_us);

#endif
