/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Paths that the SM answers, between a manager and agents (collect.paths).
 *
 * Model: a manager whose SM answers requests for paths says in beats what it answers from,
 * and makes tables for agents that lack theirs.  An agent keeps the table of its own port,
 * and whether it is valid (collect/path_keeper.h).  The owner's source
 * (struct triad_path_source) knows the answers; without a source nothing is said.
 *
 *     PerfManager's thread                         triad-paths, a manager's
 *     step: source.now() ---> BEAT to all
 *     WANT from an agent ---> BEAT to it
 *                        ---> queue -------------> source.make() ---> PIECEs to it
 *
 * What agents ask for costs the SM little: the queue has each agent once, a table waits
 * until the one before has had three times the time that it took, and so many requests in a
 * second are answered, few of one agent; others are dropped and counted.
 *
 * Thread-safety: any thread, for all but new and free; begin, end, receive and step are for
 * the PerfManager's thread.  'lock' is held for a look, or for the rows of one message.
 * Memory: a manager's table that is being sent; an agent's as path_keeper.h says. */
#ifndef TRIAD_SERVICE_PATH_EXCHANGE_H
#define TRIAD_SERVICE_PATH_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/nats/bus.h"
#include "collect/path_keeper.h"

struct triad_path_exchange;

/* What the SM of this process answers. */
struct triad_path_source {
	void *context;
	/* Whether it answers requests for paths at this moment, and what from.  Called 20
	 * times a second: never blocks. */
	bool (*now)(void *context, uint64_t *generation);
	/* The table of the port with that GUID, with one reference, if 'generation' is what
	 * is answered from before and after it is made.  Returns 0, ENOENT (no such port),
	 * ESTALE or ENOMEM. */
	int (*make)(void *context, uint64_t generation, uint64_t guid,
		struct triad_path_table **table);
};

struct triad_path_exchange_status {
	bool is_on;      /* collect.paths, in a mode that has an exchange */
	bool is_manager; /* else an agent */
	/* An agent's. */
	enum triad_path_state state;
	bool is_valid;
	uint64_t generation; /* of the table, or what a manager says; 0: none */
	uint64_t since_us;   /* valid or not */
	uint64_t table_us;   /* when the table came; 0: never */
	uint32_t n_rows, n_paths;
	struct triad_path_counts counts;
	/* A manager's. */
	bool is_answering;
	uint64_t n_beats, n_wanted, n_tables, n_dropped;
};

/* NULL: memory is short. */
struct triad_path_exchange *triad_path_exchange_new(uint64_t port_guid);
/* Copied; before the first configuration. */
void triad_path_exchange_set_source(
	struct triad_path_exchange *exchange, const struct triad_path_source *source);
/* 'changed' is called in the PerfManager's thread, without a lock, when the table or
 * whether it is valid is another; before the first configuration, or after that thread has ended. */
void triad_path_exchange_set_listener(struct triad_path_exchange *exchange,
	void (*changed)(void *context), void *context);
/* No more tables are made: the source may end. */
void triad_path_exchange_stop(struct triad_path_exchange *exchange);
/* After the PerfManager's thread has ended.  Accepts NULL. */
void triad_path_exchange_free(struct triad_path_exchange *exchange);

/* A member begins, with this head on its messages; 'bus' outlives the exchange's end. */
void triad_path_exchange_begin(struct triad_path_exchange *exchange,
	const struct triad_collect_head *self, bool is_manager, struct triad_bus *bus);
void triad_path_exchange_end(struct triad_path_exchange *exchange);
/* collect.paths. */
void triad_path_exchange_turn(struct triad_path_exchange *exchange, bool is_on);
/* 'body' is behind the head; false: malformed. */
bool triad_path_exchange_receive(struct triad_path_exchange *exchange,
	const struct triad_collect_head *head, struct triad_wire *body,
	uint64_t now_us);
/* Returns when to call it again at the latest. */
uint64_t triad_path_exchange_step(
	struct triad_path_exchange *exchange, uint64_t now_us);

/* --- any thread --- */

/* An agent's table, if it is valid at this moment, with a reference; '*until_us'
 * (monotonic) is when that ends if no beat comes.  NULL: '*state' says why. */
struct triad_path_table *triad_path_exchange_table(struct triad_path_exchange *exchange,
	enum triad_path_state *state, uint64_t *until_us);

struct triad_path_exchange_status triad_path_exchange_status(
	struct triad_path_exchange *exchange);

#endif
