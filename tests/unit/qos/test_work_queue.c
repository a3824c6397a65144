/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A queue of requests, and threads that take requests from it. */
#include "plugin/qos/work_queue.h"

#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "tests/unit/run.h"

#define MAX_TAKEN 4096u

static struct triad_work_queue *queue;
static atomic_ulong news;
static sem_t may_take, taken, may_end_first;
static atomic_uint n_taken;
static atomic_uint largest;
static uintptr_t order[MAX_TAKEN];
static atomic_bool first_is_long;

static struct osm_madw *madw_of(uintptr_t number)
{
	return (struct osm_madw *)(number + 1);
}

static void note(const struct triad_work_queue_job *job)
{
	order[atomic_fetch_add(&n_taken, 1)] = (uintptr_t)job->madw - 1;
	sem_post(&taken);
}

/* Works on a job; job 0 lasts until the test lets it end. */
static void work(const struct triad_work_queue_job *job)
{
	bool is_first = job->madw == madw_of(0);

	note(job);
	if (!is_first)
		return;
	if (atomic_load(&first_is_long))
		triad_work_queue_begin_long(queue);
	sem_wait(&may_end_first);
	if (atomic_load(&first_is_long))
		triad_work_queue_end_long(queue);
}

static void *run(void *argument)
{
	struct triad_work_queue_job jobs[TRIAD_WORK_QUEUE_BATCH];
	unsigned n;

	(void)argument;
	sem_wait(&may_take);
	while (triad_work_queue_take(queue, atomic_load(&news), jobs, &n)) {
		if (n > atomic_load(&largest))
			atomic_store(&largest, n);
		for (unsigned i = 0; i < n; i++)
			work(&jobs[i]);
	}
	return NULL;
}

static void start(unsigned n_threads)
{
	queue = calloc(1, sizeof(*queue));
	ck_assert_ptr_nonnull(queue);
	ck_assert(triad_work_queue_start(queue, "test", n_threads, run, NULL, &news));
}

static void let_take(unsigned n_threads)
{
	while (n_threads--)
		sem_post(&may_take);
}

static void put(uintptr_t number, uint16_t lid)
{
	ck_assert(triad_work_queue_put(queue,
		&(struct triad_work_queue_job){.madw = madw_of(number), .lid = lid}));
}

static void wait_for(unsigned n)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 20;
	while (n--)
		ck_assert_int_eq(sem_timedwait(&taken, &until), 0);
}

/* Waits until 'n' threads sleep in the queue. */
static void wait_until_asleep(unsigned n)
{
	unsigned n_waiting;

	do {
		pthread_mutex_lock(&queue->lock);
		n_waiting = queue->n_waiting;
		pthread_mutex_unlock(&queue->lock);
	} while (n_waiting != n);
}

static void set_up(void)
{
	sem_init(&may_take, 0, 0);
	sem_init(&taken, 0, 0);
	sem_init(&may_end_first, 0, 0);
	atomic_store(&n_taken, 0);
	atomic_store(&largest, 0);
	atomic_store(&first_is_long, false);
}

static void tear_down(void)
{
	sem_post(&may_end_first);
	triad_work_queue_stop(queue);
	triad_work_queue_clear(queue);
	free(queue);
}

START_TEST(test_queue_gives_several_at_once_when_many_wait)
{
	start(1);
	for (uintptr_t i = 1; i <= 40; i++)
		put(i, 7);
	let_take(1);
	wait_for(40);
	ck_assert_uint_eq(atomic_load(&largest), TRIAD_WORK_QUEUE_BATCH);
	for (uintptr_t i = 0; i < 40; i++)
		ck_assert_uint_eq(order[i], i + 1);
}
END_TEST

/* Each of two threads takes at most half of the jobs, so both have work. */
START_TEST(test_queue_leaves_the_others_their_part)
{
	start(2);
	for (uintptr_t i = 1; i <= 10; i++)
		put(i, 7);
	let_take(1);
	wait_for(10);
	ck_assert_uint_eq(atomic_load(&largest), 6);
	let_take(1);
}
END_TEST

START_TEST(test_queue_clients_take_turns_within_what_is_given_at_once)
{
	start(1);
	for (uintptr_t i = 1; i <= 3; i++)
		put(i, 7);
	put(100, 8);
	let_take(1);
	wait_for(4);
	ck_assert_uint_eq(order[0], 1);
	ck_assert_uint_eq(order[1], 100);
}
END_TEST

/* A thread announces a long job: the other thread gets new jobs. */
START_TEST(test_queue_wakes_another_thread_during_a_long_job)
{
	atomic_store(&first_is_long, true);
	start(2);
	let_take(2);
	wait_until_asleep(2);
	put(0, 7);
	wait_for(1);
	put(1, 7);
	wait_for(1);
	ck_assert_uint_eq(order[1], 1);
}
END_TEST

/* The other thread also gets a job that came before the announcement. */
START_TEST(test_queue_wakes_another_thread_for_what_waits_when_a_long_job_begins)
{
	start(2);
	let_take(2);
	wait_until_asleep(2);
	put(0, 7);
	wait_for(1);
	put(1, 7);
	ck_assert_uint_eq(atomic_load(&n_taken), 1);
	triad_work_queue_begin_long(queue);
	wait_for(1);
	triad_work_queue_end_long(queue);
}
END_TEST

START_TEST(test_queue_wakes_another_thread_when_many_wait)
{
	start(2);
	let_take(2);
	wait_until_asleep(2);
	put(0, 7);
	wait_for(1);
	for (uintptr_t i = 1; i <= TRIAD_WORK_QUEUE_MANY; i++)
		put(i, 7);
	wait_for(TRIAD_WORK_QUEUE_MANY);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("work_queue");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_queue_gives_several_at_once_when_many_wait);
	tcase_add_test(cases, test_queue_leaves_the_others_their_part);
	tcase_add_test(
		cases, test_queue_clients_take_turns_within_what_is_given_at_once);
	tcase_add_test(cases, test_queue_wakes_another_thread_during_a_long_job);
	tcase_add_test(cases,
		test_queue_wakes_another_thread_for_what_waits_when_a_long_job_begins);
	tcase_add_test(cases, test_queue_wakes_another_thread_when_many_wait);
	return run_cases(cases);
}
