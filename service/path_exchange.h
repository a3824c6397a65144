/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Distributes the paths that the SM answers with from a manager to agents
 * (collect.paths).
 *
 * Model: a manager whose SM answers requests for paths sends beats with the generation
 * of its answers, and makes tables for agents that ask for theirs.  An agent keeps the
 * table of its own port, and knows whether it is valid (collect/path_keeper.h).  The
 * owner's source (struct triad_path_source) makes the tables; a manager without one
 * sends nothing.
 *
 *     PerfManager's thread                         triad-paths, a manager's
 *     step: source.now() ---> BEAT to all
 *     WANT from an agent ---> BEAT to it
 *                        ---> queue -------------> source.make() ---> PIECEs to it
 *
 * Limits keep the cost for the SM low: the queue has each agent once; after each table,
 * triad-paths rests for three times the time that the table took; the manager answers a
 * limited number of requests a second, and few of one agent, and drops and counts
 * others.
 *
 * Thread-safety: any thread, for all but new and free; begin, end, receive and step are
 * for the PerfManager's thread.  'lock' is held for a look, or for the rows of one
 * message.
 * Memory: a manager's table that is being sent; an agent's as path_keeper.h says. */
#ifndef TRIAD_SERVICE_PATH_EXCHANGE_H
#define TRIAD_SERVICE_PATH_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/nats/bus.h"
#include "collect/path_keeper.h"

struct triad_path_exchange;

/* The paths that the SM of this process answers with. */
struct triad_path_source {
	void *context;
	/* Whether the SM answers requests for paths at this moment, and the generation
	 * that it answers from.  Called 20 times a second: never blocks. */
	bool (*now)(void *context, uint64_t *generation);
	/* Makes the table of the port with that GUID, with one reference.  Returns 0,
	 * ENOENT (no such port), ESTALE (before or after, the SM answers from another
	 * generation) or ENOMEM. */
	int (*make)(void *context, uint64_t generation, uint64_t guid,
		struct triad_path_table **table);
};

struct triad_path_exchange_status {
	bool is_on;      /* collect.paths, in a mode that has an exchange */
	bool is_manager; /* else an agent */
	/* An agent's. */
	enum triad_path_state state;
	bool is_valid;
	uint64_t generation; /* an agent's table's, a manager's beat's; 0: none */
	uint64_t since_us;   /* when is_valid changed last */
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
/* 'changed' is called in the PerfManager's thread, without a lock, when the table, or
 * whether it is valid, has changed.  Set it before the first configuration, or after
 * that thread has ended. */
void triad_path_exchange_set_listener(struct triad_path_exchange *exchange,
	void (*changed)(void *context), void *context);
/* Stops making tables; then the source may end. */
void triad_path_exchange_stop(struct triad_path_exchange *exchange);
/* After the PerfManager's thread has ended.  Accepts NULL. */
void triad_path_exchange_free(struct triad_path_exchange *exchange);

/* A member has begun; 'self' is the head of its messages.  'bus' must live until
 * triad_path_exchange_free(). */
void triad_path_exchange_begin(struct triad_path_exchange *exchange,
	const struct triad_collect_head *self, bool is_manager, struct triad_bus *bus);
void triad_path_exchange_end(struct triad_path_exchange *exchange);
/* Switches the exchange on or off: collect.paths. */
void triad_path_exchange_turn(struct triad_path_exchange *exchange, bool is_on);
/* Takes a message; 'body' is what follows its head.  False: malformed. */
bool triad_path_exchange_receive(struct triad_path_exchange *exchange,
	const struct triad_collect_head *head, struct triad_wire *body,
	uint64_t now_us);
/* Returns when to call it again at the latest. */
uint64_t triad_path_exchange_step(
	struct triad_path_exchange *exchange, uint64_t now_us);

/* --- any thread --- */

/* An agent's table, if it is valid at this moment, with a reference; it expires at
 * '*until_us' (monotonic) if no beat comes.  NULL: '*state' says why. */
struct triad_path_table *triad_path_exchange_table(struct triad_path_exchange *exchange,
	enum triad_path_state *state, uint64_t *until_us);

struct triad_path_exchange_status triad_path_exchange_status(
	struct triad_path_exchange *exchange);

#endif
