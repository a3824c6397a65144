/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/path_exchange.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/task.h"
#include "triad/clock.h"

/* How often a manager reads the SM's generation. */
#define LOOK_US (50 * TRIAD_US_PER_MS)
/* Beats without paths that a manager sends when the SM stops answering; then none. */
#define N_LAST_BEATS 4u
/* Limit for answered requests in a second. */
#define MOST_ANSWERED 2000u
/* The same for one agent, or for those that share a slot: so none uses up the limit. */
#define MOST_OF_ONE 20u
#define N_SLOTS 1024u
#define QUEUE_ROOM 1024u /* agents that wait for a table */
/* For each microsecond that a table takes, triad-paths rests for so many. */
#define REST_PART 3u
/* Octets of tables in a microsecond, at most: the bus also carries counters. */
#define OCTETS_PER_US 32u

struct triad_path_exchange {
	uint64_t port_guid;
	struct triad_path_source source; /* now NULL: none */
	void (*changed)(void *context);
	void *changed_context;

	pthread_mutex_t lock; /* of what follows */
	bool is_on;
	bool is_begun, is_manager;
	struct triad_collect_head self;
	struct triad_bus *bus;

	/* An agent's. */
	struct triad_path_keeper keeper;
	bool was_valid;
	uint64_t was_generation; /* of the table that was valid */
	uint64_t since_us;

	/* A manager's. */
	struct triad_task task;
	uint64_t queue[QUEUE_ROOM]; /* ids of agents */
	unsigned n_queued;
	uint64_t rest_us; /* no table until then */
	uint64_t looked_us, beat_us;
	/* Found by the last look; 'is_news': no beat to all has had it yet. */
	bool has_paths, is_news;
	uint64_t generation;
	unsigned n_last;       /* beats without paths still to send */
	uint64_t second_us;    /* when the present second began */
	unsigned n_answered;   /* requests answered in it */
	uint8_t n_of[N_SLOTS]; /* of these, by a hash of the agent */
	uint64_t n_beats, n_wanted, n_tables, n_dropped;
	uint8_t octets[TRIAD_PATH_MESSAGE_SIZE]; /* of triad-paths alone */
};

/* --- a manager: tables, in triad-paths --- */

static uint64_t send_pieces(struct triad_path_exchange *exchange,
	const struct triad_collect_head *self, struct triad_bus *bus, uint64_t agent,
	const struct triad_path_table *table)
{
	uint64_t n_octets = 0;
	uint32_t first = 0, n;

	do {
		size_t size = triad_path_put_piece(self, table, first, &n,
			exchange->octets, sizeof(exchange->octets));

		triad_bus_send(bus, TRIAD_MEMBER_TO_ONE, agent, exchange->octets, size);
		n_octets += size;
		first += n;
	} while (first < table->n);
	return n_octets;
}

/* Makes and sends a table.  Returns how long triad-paths rests after that; '*is_made':
 * a table was sent. */
static uint64_t serve(struct triad_path_exchange *exchange,
	const struct triad_collect_head *self, struct triad_bus *bus, uint64_t agent,
	bool *is_made)
{
	const struct triad_path_source *source = &exchange->source;
	uint64_t begun_us = triad_clock_now_us(), generation, rest_us, octets_us = 0;
	struct triad_path_table *table = NULL;

	*is_made = false;
	if (source->now(source->context, &generation) &&
		!source->make(source->context, generation, agent, &table)) {
		*is_made = true;
		table->generation = generation;
		octets_us =
			send_pieces(exchange, self, bus, agent, table) / OCTETS_PER_US;
		triad_path_table_unref(table);
	}
	rest_us = (triad_clock_now_us() - begun_us) * REST_PART;
	return octets_us > rest_us ? octets_us : rest_us;
}

static uint64_t task_step(void *context)
{
	struct triad_path_exchange *exchange = context;
	struct triad_collect_head self = exchange->self;
	struct triad_bus *bus = exchange->bus;
	uint64_t agent, rest_us;
	bool is_made;

	if (!exchange->n_queued || !exchange->is_begun)
		return UINT64_MAX;
	if (triad_clock_now_us() < exchange->rest_us)
		return exchange->rest_us;
	agent = exchange->queue[0];
	exchange->n_queued--;
	for (unsigned i = 0; i < exchange->n_queued; i++)
		exchange->queue[i] = exchange->queue[i + 1];
	pthread_mutex_unlock(&exchange->lock);
	rest_us = serve(exchange, &self, bus, agent, &is_made);
	pthread_mutex_lock(&exchange->lock);
	exchange->n_tables += is_made;
	exchange->rest_us = triad_clock_now_us() + rest_us;
	return exchange->rest_us;
}

/* With the lock. */
static void enqueue(struct triad_path_exchange *exchange, uint64_t agent)
{
	for (unsigned i = 0; i < exchange->n_queued; i++)
		if (exchange->queue[i] == agent)
			return;
	if (exchange->n_queued == QUEUE_ROOM || triad_task_start(&exchange->task)) {
		exchange->n_dropped++;
		return;
	}
	exchange->queue[exchange->n_queued++] = agent;
	triad_task_wake(&exchange->task);
}

/* --- a manager: beats --- */

static void send_beat(struct triad_path_exchange *exchange, enum triad_member_to to,
	uint64_t agent, uint64_t echo, uint64_t now_us)
{
	const struct triad_path_beat beat = {.has_paths = exchange->has_paths,
		.time_us = now_us,
		.generation = exchange->generation,
		.echo = echo};
	uint8_t octets[64];
	size_t size =
		triad_path_put_beat(&exchange->self, &beat, octets, sizeof(octets));

	triad_bus_send(exchange->bus, to, agent, octets, size);
	exchange->n_beats++;
}

/* Reads from which generation the SM answers at this moment. */
static void look_at_source(struct triad_path_exchange *exchange)
{
	const struct triad_path_source *source = &exchange->source;
	uint64_t generation = 0;
	bool has_paths = exchange->is_on && source->now &&
		source->now(source->context, &generation);

	if (has_paths != exchange->has_paths ||
		(has_paths && generation != exchange->generation))
		exchange->is_news = true;
	if (exchange->has_paths && !has_paths)
		exchange->n_last = N_LAST_BEATS;
	exchange->has_paths = has_paths;
	exchange->generation = has_paths ? generation : 0;
}

static uint64_t step_manager(struct triad_path_exchange *exchange, uint64_t now_us)
{
	look_at_source(exchange);
	if (!exchange->has_paths && !exchange->n_last)
		return exchange->is_on ? now_us + LOOK_US : UINT64_MAX;
	if (exchange->is_news || now_us - exchange->beat_us >= TRIAD_PATH_BEAT_US) {
		/* The beat's time must be from before the look: a later one would claim
		 * that the generation is newer than it is. */
		send_beat(exchange, TRIAD_MEMBER_TO_ALL, 0, 0, now_us);
		exchange->beat_us = now_us;
		exchange->is_news = false;
		exchange->n_last -= !exchange->has_paths;
	}
	return now_us + LOOK_US;
}

static bool may_answer(
	struct triad_path_exchange *exchange, uint64_t agent, uint64_t now_us)
{
	uint8_t *n_of_it =
		&exchange->n_of[triad_hash_word(TRIAD_HASH_START, agent) % N_SLOTS];

	if (now_us - exchange->second_us >= TRIAD_US_PER_S) {
		exchange->second_us = now_us;
		exchange->n_answered = 0;
		memset(exchange->n_of, 0, sizeof(exchange->n_of));
	}
	if (exchange->n_answered == MOST_ANSWERED || *n_of_it == MOST_OF_ONE)
		return false;
	exchange->n_answered++;
	++*n_of_it;
	return true;
}

static bool receive_want(struct triad_path_exchange *exchange, uint64_t agent,
	struct triad_wire *body, uint64_t now_us)
{
	struct triad_path_want want;

	if (!triad_path_get_want(body, &want))
		return false;
	exchange->n_wanted++;
	if (!exchange->is_on || !may_answer(exchange, agent, now_us)) {
		exchange->n_dropped++;
		return true;
	}
	now_us = triad_clock_now_us();
	look_at_source(exchange);
	send_beat(exchange, TRIAD_MEMBER_TO_ONE, agent, want.echo, now_us);
	if (want.wants_table && exchange->has_paths &&
		want.generation == exchange->generation)
		enqueue(exchange, agent);
	return true;
}

/* --- an agent --- */

/* Whether the table, or whether it is valid, has changed since the last call. */
static bool has_changed(struct triad_path_exchange *exchange, uint64_t now_us)
{
	uint64_t until_us, generation;
	bool is_valid = triad_path_keeper_look(&exchange->keeper, now_us, &until_us) ==
		TRIAD_PATHS_VALID;

	generation = is_valid ? exchange->keeper.table_us : 0;
	if (is_valid == exchange->was_valid && generation == exchange->was_generation)
		return false;
	if (is_valid != exchange->was_valid)
		exchange->since_us = now_us;
	exchange->was_valid = is_valid;
	exchange->was_generation = generation;
	return true;
}

static uint64_t step_agent(struct triad_path_exchange *exchange, uint64_t now_us)
{
	struct triad_path_want want;
	uint8_t octets[64];
	uint64_t manager, next_us;
	size_t size;

	if (triad_path_keeper_step(
		    &exchange->keeper, now_us, &want, &manager, &next_us)) {
		size = triad_path_put_want(
			&exchange->self, &want, octets, sizeof(octets));
		triad_bus_send(
			exchange->bus, TRIAD_MEMBER_TO_ONE, manager, octets, size);
	}
	return next_us;
}

/* --- both --- */

uint64_t triad_path_exchange_step(struct triad_path_exchange *exchange, uint64_t now_us)
{
	uint64_t next_us = UINT64_MAX;
	bool is_other = false;

	pthread_mutex_lock(&exchange->lock);
	if (exchange->is_begun && exchange->is_manager) {
		next_us = step_manager(exchange, now_us);
	} else if (exchange->is_begun && exchange->is_on) {
		next_us = step_agent(exchange, now_us);
		is_other = has_changed(exchange, now_us);
	}
	pthread_mutex_unlock(&exchange->lock);
	if (is_other && exchange->changed)
		exchange->changed(exchange->changed_context);
	return next_us;
}

bool triad_path_exchange_receive(struct triad_path_exchange *exchange,
	const struct triad_collect_head *head, struct triad_wire *body, uint64_t now_us)
{
	enum triad_path_what what;
	bool good = triad_path_get_what(body, &what);

	if (!good)
		return false;
	pthread_mutex_lock(&exchange->lock);
	/* A manager ignores beats: those of other managers are for agents. */
	if (exchange->is_begun && exchange->is_manager && what == TRIAD_PATH_WANT)
		good = receive_want(exchange, head->sender, body, now_us);
	else if (exchange->is_begun && !exchange->is_manager && exchange->is_on &&
		what != TRIAD_PATH_WANT)
		good = triad_path_keeper_receive(
			&exchange->keeper, head, what, body, now_us);
	pthread_mutex_unlock(&exchange->lock);
	return good;
}

static void forget(struct triad_path_exchange *exchange)
{
	uint64_t now_us = triad_clock_now_us();
	bool is_other;

	pthread_mutex_lock(&exchange->lock);
	triad_path_keeper_clear(&exchange->keeper);
	triad_path_keeper_init(&exchange->keeper, exchange->port_guid);
	exchange->n_queued = 0;
	is_other = has_changed(exchange, now_us);
	pthread_mutex_unlock(&exchange->lock);
	if (is_other && exchange->changed)
		exchange->changed(exchange->changed_context);
}

void triad_path_exchange_begin(struct triad_path_exchange *exchange,
	const struct triad_collect_head *self, bool is_manager, struct triad_bus *bus)
{
	pthread_mutex_lock(&exchange->lock);
	exchange->self = *self;
	exchange->is_manager = is_manager;
	exchange->bus = bus;
	exchange->is_begun = true;
	exchange->has_paths = false;
	exchange->n_last = 0;
	exchange->since_us = triad_clock_now_us();
	pthread_mutex_unlock(&exchange->lock);
}

void triad_path_exchange_end(struct triad_path_exchange *exchange)
{
	pthread_mutex_lock(&exchange->lock);
	exchange->is_begun = false;
	pthread_mutex_unlock(&exchange->lock);
	forget(exchange);
}

void triad_path_exchange_turn(struct triad_path_exchange *exchange, bool is_on)
{
	bool was_on;

	pthread_mutex_lock(&exchange->lock);
	was_on = exchange->is_on;
	exchange->is_on = is_on;
	if (is_on && !was_on)
		exchange->since_us = triad_clock_now_us();
	pthread_mutex_unlock(&exchange->lock);
	if (was_on && !is_on)
		forget(exchange);
}

/* --- any thread --- */

struct triad_path_table *triad_path_exchange_table(struct triad_path_exchange *exchange,
	enum triad_path_state *state, uint64_t *until_us)
{
	struct triad_path_table *table = NULL;

	pthread_mutex_lock(&exchange->lock);
	*state = triad_path_keeper_look(
		&exchange->keeper, triad_clock_now_us(), until_us);
	if (*state == TRIAD_PATHS_VALID)
		table = triad_path_table_ref(exchange->keeper.table);
	pthread_mutex_unlock(&exchange->lock);
	return table;
}

struct triad_path_exchange_status triad_path_exchange_status(
	struct triad_path_exchange *exchange)
{
	struct triad_path_exchange_status status;
	const struct triad_path_table *table;
	uint64_t until_us;

	pthread_mutex_lock(&exchange->lock);
	table = exchange->keeper.table;
	status = (struct triad_path_exchange_status){
		.is_on = exchange->is_on && exchange->is_begun,
		.is_manager = exchange->is_manager,
		.state = triad_path_keeper_look(
			&exchange->keeper, triad_clock_now_us(), &until_us),
		.since_us = exchange->since_us,
		.table_us = exchange->keeper.table_us,
		.n_rows = table ? table->n : 0,
		.n_paths = table ? table->n_paths : 0,
		.counts = exchange->keeper.counts,
		.is_answering = exchange->has_paths,
		.n_beats = exchange->n_beats,
		.n_wanted = exchange->n_wanted,
		.n_tables = exchange->n_tables,
		.n_dropped = exchange->n_dropped,
	};
	status.is_valid = status.state == TRIAD_PATHS_VALID;
	/* The table has expired since the last step. */
	if (status.is_valid != exchange->was_valid)
		status.since_us = triad_clock_now_us();
	status.generation = exchange->is_manager ? exchange->generation
		: table                          ? table->generation
						 : 0;
	pthread_mutex_unlock(&exchange->lock);
	return status;
}

/* --- life --- */

struct triad_path_exchange *triad_path_exchange_new(uint64_t port_guid)
{
	struct triad_path_exchange *exchange = calloc(1, sizeof(*exchange));

	if (!exchange)
		return NULL;
	exchange->port_guid = port_guid;
	pthread_mutex_init(&exchange->lock, NULL);
	triad_task_init(
		&exchange->task, &exchange->lock, "triad-paths", task_step, exchange);
	triad_path_keeper_init(&exchange->keeper, port_guid);
	return exchange;
}

void triad_path_exchange_set_source(
	struct triad_path_exchange *exchange, const struct triad_path_source *source)
{
	exchange->source = *source;
}

void triad_path_exchange_set_listener(struct triad_path_exchange *exchange,
	void (*changed)(void *context), void *context)
{
	exchange->changed = changed;
	exchange->changed_context = context;
}

void triad_path_exchange_stop(struct triad_path_exchange *exchange)
{
	/* The thread waits for nothing, so it ends. */
	(void)triad_task_stop(&exchange->task, UINT64_MAX);
}

void triad_path_exchange_free(struct triad_path_exchange *exchange)
{
	if (!exchange)
		return;
	triad_path_exchange_stop(exchange);
	triad_task_clear(&exchange->task);
	triad_path_keeper_clear(&exchange->keeper);
	pthread_mutex_destroy(&exchange->lock);
	free(exchange);
}
