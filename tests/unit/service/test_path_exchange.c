/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A manager's end and an agent's end; a list of messages replaces the bus. */
#include "service/path_exchange.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/run.h"
#include "triad/clock.h"

#define AGENT 0x2001u
#define MANAGER ~UINT64_C(0x1001)
#define ROOM 8192u
#define MOST_ANSWERED 2000u
#define MOST_OF_ONE 20u
#define QUEUE_ROOM 1024u

/* --- the bus --- */

struct sent {
	enum triad_member_to to;
	uint64_t id;
	size_t size;
	uint8_t *octets;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sent sent[ROOM];
static unsigned n_sent;

void triad_bus_send(struct triad_bus *bus, enum triad_member_to to, uint64_t id,
	const uint8_t *octets, size_t size)
{
	(void)bus;
	pthread_mutex_lock(&lock);
	ck_assert_uint_lt(n_sent, ROOM);
	sent[n_sent] =
		(struct sent){.to = to, .id = id, .size = size, .octets = malloc(size)};
	memcpy(sent[n_sent++].octets, octets, size);
	pthread_mutex_unlock(&lock);
}

static unsigned count_sent(void)
{
	unsigned n;

	pthread_mutex_lock(&lock);
	n = n_sent;
	pthread_mutex_unlock(&lock);
	return n;
}

static struct sent *nth(unsigned i)
{
	ck_assert_uint_lt(i, count_sent());
	return &sent[i];
}

/* --- the SM's answers --- */

static bool answers, is_stale;
static uint64_t generation;
static unsigned n_made;

static bool have(void *context, uint64_t *is)
{
	(void)context;
	*is = generation;
	return answers;
}

static int make(
	void *context, uint64_t wanted, uint64_t guid, struct triad_path_table **table)
{
	(void)context;
	__atomic_add_fetch(&n_made, 1, __ATOMIC_SEQ_CST);
	if (is_stale || wanted != generation)
		return ESTALE;
	*table = triad_path_table_new(2);
	(*table)->guid = guid;
	(*table)->lid = 1;
	for (uint16_t i = 0; i < 2; i++)
		(*table)->rows[i] = (struct triad_path_row){
			.guid = i + 1u, .lid = (uint16_t)(i + 1), .has_path = true};
	return 0;
}

/* --- both ends --- */

static struct triad_path_exchange *manager, *agent;
static unsigned n_changed;

static void note_change(void *context)
{
	(void)context;
	n_changed++;
}

static struct triad_path_exchange *make_end(uint64_t id, bool is_manager)
{
	const struct triad_path_source source = {.now = have, .make = make};
	const struct triad_collect_head self = {.sender = id, .incarnation = 5};
	struct triad_path_exchange *end = triad_path_exchange_new(AGENT);

	ck_assert_ptr_nonnull(end);
	if (is_manager)
		triad_path_exchange_set_source(end, &source);
	else
		triad_path_exchange_set_listener(end, note_change, NULL);
	triad_path_exchange_begin(end, &self, is_manager, NULL);
	triad_path_exchange_turn(end, true);
	return end;
}

static void set_up(void)
{
	answers = true;
	generation = 7;
	manager = make_end(MANAGER, true);
	agent = make_end(AGENT, false);
}

static void tear_down(void)
{
	triad_path_exchange_free(manager);
	triad_path_exchange_free(agent);
	for (unsigned i = 0; i < n_sent; i++)
		free(sent[i].octets);
	n_sent = 0;
}

static bool give(struct triad_path_exchange *end, const struct sent *message)
{
	struct triad_collect_head head;
	struct triad_wire body;

	ck_assert_int_eq(
		triad_collect_get_head(message->octets, message->size, &head, &body),
		TRIAD_COLLECT_HEAD_GOOD);
	return triad_path_exchange_receive(end, &head, &body, triad_clock_now_us());
}

static struct triad_path_beat beat_in(const struct sent *message)
{
	struct triad_collect_head head;
	struct triad_path_beat beat;
	enum triad_path_what what;
	struct triad_wire body;

	(void)triad_collect_get_head(message->octets, message->size, &head, &body);
	ck_assert(triad_path_get_what(&body, &what));
	ck_assert_int_eq(what, TRIAD_PATH_BEAT);
	ck_assert(triad_path_get_beat(&body, &beat));
	return beat;
}

static void step(struct triad_path_exchange *end)
{
	(void)triad_path_exchange_step(end, triad_clock_now_us());
}

/* Waits until the thread triad-paths has sent 'n' messages. */
static void wait_for_sent(unsigned n)
{
	while (count_sent() < n)
		usleep(1000);
}

static enum triad_path_state look(uint32_t *n_rows)
{
	enum triad_path_state state;
	uint64_t until_us;
	struct triad_path_table *table =
		triad_path_exchange_table(agent, &state, &until_us);

	*n_rows = table ? table->n : 0;
	triad_path_table_unref(table);
	return state;
}

/* Exchanges a beat, a request, an answer and a table. */
static void be_valid(void)
{
	uint32_t n_rows;

	step(manager);
	ck_assert_int_eq(nth(0)->to, TRIAD_MEMBER_TO_ALL);
	ck_assert(give(agent, nth(0)));
	step(agent);
	ck_assert_int_eq(nth(1)->to, TRIAD_MEMBER_TO_ONE);
	ck_assert_uint_eq(nth(1)->id, MANAGER);
	ck_assert(give(manager, nth(1)));
	wait_for_sent(4);
	ck_assert_uint_eq(nth(2)->id, AGENT);
	ck_assert(give(agent, nth(2)));
	ck_assert(give(agent, nth(3)));
	ck_assert_int_eq(look(&n_rows), TRIAD_PATHS_VALID);
	ck_assert_uint_eq(n_rows, 2);
}

START_TEST(test_agent_gets_the_table_and_reports)
{
	struct triad_path_exchange_status status;
	uint32_t n_rows;

	be_valid();
	step(agent);
	ck_assert_uint_eq(n_changed, 1);
	status = triad_path_exchange_status(agent);
	ck_assert(status.is_on && status.is_valid && !status.is_manager);
	ck_assert_uint_eq(status.generation, 7);
	ck_assert_uint_eq(status.n_paths, 2);
	triad_path_exchange_turn(agent, false);
	ck_assert_uint_eq(n_changed, 2);
	ck_assert_int_ne(look(&n_rows), TRIAD_PATHS_VALID);
	status = triad_path_exchange_status(manager);
	ck_assert(status.is_manager && status.is_answering);
	ck_assert_uint_eq(status.n_wanted, 1);
}
END_TEST

START_TEST(test_end_of_the_member_ends_the_table)
{
	uint32_t n_rows;

	be_valid();
	step(agent);
	triad_path_exchange_end(agent);
	ck_assert_int_ne(look(&n_rows), TRIAD_PATHS_VALID);
	ck_assert_uint_eq(n_changed, 2);
}
END_TEST

START_TEST(test_new_generation_is_reported_before_a_beat_is_due)
{
	uint64_t now_us = triad_clock_now_us(), next_us;

	next_us = triad_path_exchange_step(manager, now_us);
	ck_assert_uint_le(next_us, now_us + 50 * TRIAD_US_PER_MS);
	(void)triad_path_exchange_step(manager, next_us);
	ck_assert_uint_eq(count_sent(), 1);
	generation = 8;
	(void)triad_path_exchange_step(manager, next_us + 1);
	ck_assert_uint_eq(count_sent(), 2);
	ck_assert_uint_eq(beat_in(nth(1)).generation, 8);
	(void)triad_path_exchange_step(manager, next_us + 1 + TRIAD_PATH_BEAT_US);
	ck_assert_uint_eq(count_sent(), 3);
}
END_TEST

START_TEST(test_sm_that_answers_no_more_reports_that_and_is_silent)
{
	uint64_t now_us = triad_clock_now_us();

	(void)triad_path_exchange_step(manager, now_us);
	if (_i)
		answers = false;
	else
		triad_path_exchange_turn(manager, false);
	for (unsigned i = 0; i < 100; i++)
		(void)triad_path_exchange_step(manager, now_us += 50 * TRIAD_US_PER_MS);
	ck_assert_uint_eq(count_sent(), 1 + 4);
	for (unsigned i = 1; i < 5; i++)
		ck_assert(!beat_in(nth(i)).has_paths);
	ck_assert(!triad_path_exchange_status(manager).is_answering);
}
END_TEST

/* The manager receives a request from 'id': for a table, or for the time alone. */
static void request(uint64_t id, bool wants_table, uint64_t now_us)
{
	const struct triad_collect_head head = {.sender = id, .incarnation = 1};
	const struct triad_path_want want = {
		.wants_table = wants_table, .echo = 9, .generation = generation};
	struct triad_collect_head found;
	struct triad_wire body;
	uint8_t octets[64];

	ck_assert_int_eq(
		triad_collect_get_head(octets,
			triad_path_put_want(&head, &want, octets, sizeof(octets)),
			&found, &body),
		TRIAD_COLLECT_HEAD_GOOD);
	ck_assert(triad_path_exchange_receive(manager, &found, &body, now_us));
}

START_TEST(test_requests_of_a_second_are_bounded)
{
	uint64_t now_us = triad_clock_now_us();
	struct triad_path_exchange_status status;

	for (unsigned i = 0; i < MOST_ANSWERED + 500; i++)
		request(0x9000 + i, false, now_us);
	ck_assert_uint_eq(count_sent(), MOST_ANSWERED);
	status = triad_path_exchange_status(manager);
	ck_assert_uint_eq(status.n_wanted, MOST_ANSWERED + 500);
	ck_assert_uint_eq(status.n_dropped, 500);
	request(0x9000, false, now_us + TRIAD_US_PER_S);
	ck_assert_uint_eq(count_sent(), MOST_ANSWERED + 1);
}
END_TEST

START_TEST(test_one_that_floods_leaves_room_for_others)
{
	uint64_t now_us = triad_clock_now_us();

	for (unsigned i = 0; i < 5000; i++)
		request(0x9000, false, now_us);
	ck_assert_uint_eq(count_sent(), MOST_OF_ONE);
	request(0x9001, false, now_us);
	ck_assert_uint_eq(count_sent(), MOST_OF_ONE + 1);
	request(0x9000, false, now_us + TRIAD_US_PER_S);
	ck_assert_uint_eq(count_sent(), MOST_OF_ONE + 2);
}
END_TEST

START_TEST(test_queue_has_each_agent_once_and_is_bounded)
{
	uint64_t now_us = triad_clock_now_us();
	struct triad_path_exchange_status status;

	/* For a table that can't be made the manager tries, and sends nothing. */
	is_stale = true;
	for (unsigned i = 0; i < MOST_OF_ONE; i++)
		request(0x9000, true, now_us);
	ck_assert_uint_le(__atomic_load_n(&n_made, __ATOMIC_SEQ_CST), MOST_OF_ONE);
	status = triad_path_exchange_status(manager);
	ck_assert_uint_eq(status.n_dropped, 0);
	ck_assert_uint_eq(status.n_tables, 0);
	triad_path_exchange_stop(manager);
	/* The thread has ended, so no requests leave the queue. */
	triad_path_exchange_turn(manager, false);
	triad_path_exchange_turn(manager, true);
	now_us += TRIAD_US_PER_S;
	for (unsigned i = 0; i < QUEUE_ROOM + 10; i++) {
		request(0x9000 + i, true, now_us);
		request(0x9000, true, now_us);
		now_us += i % 10 ? 0 : TRIAD_US_PER_S;
	}
	status = triad_path_exchange_status(manager);
	ck_assert_uint_eq(status.n_dropped, 10);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("path_exchange");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_agent_gets_the_table_and_reports);
	tcase_add_test(cases, test_end_of_the_member_ends_the_table);
	tcase_add_test(cases, test_new_generation_is_reported_before_a_beat_is_due);
	tcase_add_loop_test(
		cases, test_sm_that_answers_no_more_reports_that_and_is_silent, 0, 2);
	tcase_add_test(cases, test_requests_of_a_second_are_bounded);
	tcase_add_test(cases, test_one_that_floods_leaves_room_for_others);
	tcase_add_test(cases, test_queue_has_each_agent_once_and_is_bounded);
	return run_cases(cases);
}
