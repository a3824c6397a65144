/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/task.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/run.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define NAME "test-task"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the variables below */
static pthread_cond_t stepped;
static unsigned n_steps;
static uint64_t next_us; /* the result of a step */
static bool hangs;       /* true: a step hangs */
static bool is_in_step;
static char seen_name[16];
static sigset_t seen_signals;

static struct triad_task task;

static uint64_t step(void *context)
{
	ck_assert_ptr_eq(context, &task);
	ck_assert_int_ne(pthread_mutex_trylock(&lock), 0);
	n_steps++;
	is_in_step = true;
	pthread_getname_np(pthread_self(), seen_name, sizeof(seen_name));
	pthread_sigmask(SIG_SETMASK, NULL, &seen_signals);
	pthread_cond_broadcast(&stepped);
	while (hangs)
		pthread_cond_wait(&stepped, &lock);
	/* Every step must release the lock for a moment, so that others get it. */
	pthread_mutex_unlock(&lock);
	sched_yield();
	pthread_mutex_lock(&lock);
	is_in_step = false;
	return next_us;
}

static void make(void)
{
	triad_condition_init(&stepped);
	n_steps = 0;
	next_us = UINT64_MAX;
	hangs = false;
	triad_task_init(&task, &lock, NAME, step, &task);
}

/* Waits until 'n' steps have begun; the caller holds the lock. */
static void await_steps(unsigned n)
{
	while (n_steps < n)
		pthread_cond_wait(&stepped, &lock);
}

static void set_hangs(bool value)
{
	pthread_mutex_lock(&lock);
	hangs = value;
	pthread_cond_broadcast(&stepped);
	pthread_mutex_unlock(&lock);
}

START_TEST(test_task_started_steps_once_with_signals_blocked)
{
	make();
	ck_assert_int_eq(triad_task_start(&task), 0);
	pthread_mutex_lock(&lock);
	await_steps(1);
	pthread_mutex_unlock(&lock);
	ck_assert(triad_task_stop(&task, UINT64_MAX));
	ck_assert_uint_eq(n_steps, 1);
	ck_assert(sigismember(&seen_signals, SIGTERM));
	triad_task_clear(&task);
}
END_TEST

START_TEST(test_task_asleep_steps_once_when_woken)
{
	make();
	ck_assert_int_eq(triad_task_start(&task), 0);
	pthread_mutex_lock(&lock);
	for (unsigned i = 1; i <= 20; i++) {
		await_steps(i);
		triad_task_wake(&task);
	}
	await_steps(21);
	pthread_mutex_unlock(&lock);
	usleep(20000);
	ck_assert(triad_task_stop(&task, UINT64_MAX));
	ck_assert_uint_eq(n_steps, 21);
	ck_assert_str_eq(seen_name, NAME);
	triad_task_clear(&task);
}
END_TEST

/* The wake comes while the thread isn't waiting for it. */
START_TEST(test_task_woken_during_a_step_steps_again)
{
	make();
	hangs = true;
	ck_assert_int_eq(triad_task_start(&task), 0);
	pthread_mutex_lock(&lock);
	await_steps(1);
	triad_task_wake(&task);
	hangs = false;
	pthread_cond_broadcast(&stepped);
	await_steps(2);
	pthread_mutex_unlock(&lock);
	ck_assert(triad_task_stop(&task, UINT64_MAX));
	triad_task_clear(&task);
}
END_TEST

START_TEST(test_task_that_is_due_steps_in_time)
{
	make();
	next_us = 0;
	ck_assert_int_eq(triad_task_start(&task), 0);
	pthread_mutex_lock(&lock);
	await_steps(3);
	next_us = triad_clock_now_us() + 10 * TRIAD_US_PER_MS;
	n_steps = 0;
	await_steps(1);
	ck_assert_uint_ge(triad_clock_now_us(), next_us);
	pthread_mutex_unlock(&lock);
	ck_assert(triad_task_stop(&task, UINT64_MAX));
	triad_task_clear(&task);
}
END_TEST

START_TEST(test_task_never_started_stops_and_starts_no_more)
{
	make();
	ck_assert(triad_task_stop(&task, UINT64_MAX));
	ck_assert_int_eq(triad_task_start(&task), 0);
	ck_assert(!task.is_started);
	ck_assert(triad_task_stop(&task, UINT64_MAX));
	ck_assert_uint_eq(n_steps, 0);
	triad_task_clear(&task);
}
END_TEST

START_TEST(test_task_started_twice_has_one_thread)
{
	pthread_t thread;

	make();
	ck_assert_int_eq(triad_task_start(&task), 0);
	pthread_mutex_lock(&lock);
	thread = task.thread;
	ck_assert_int_eq(triad_task_start(&task), 0);
	ck_assert(pthread_equal(thread, task.thread));
	pthread_mutex_unlock(&lock);
	ck_assert(triad_task_stop(&task, UINT64_MAX));
	ck_assert(triad_task_stop(&task, UINT64_MAX));
	triad_task_clear(&task);
}
END_TEST

START_TEST(test_task_that_hangs_is_left)
{
	make();
	hangs = true;
	ck_assert_int_eq(triad_task_start(&task), 0);
	pthread_mutex_lock(&lock);
	await_steps(1);
	pthread_mutex_unlock(&lock);
	ck_assert(!triad_task_stop(&task, TRIAD_US_PER_MS));
	/* The thread still runs, however often the task is stopped. */
	ck_assert(!triad_task_stop(&task, TRIAD_US_PER_MS));
	ck_assert(task.must_end);
	set_hangs(false);
	pthread_mutex_lock(&lock);
	while (is_in_step)
		triad_condition_wait(
			&stepped, &lock, triad_clock_now_us() + TRIAD_US_PER_MS);
	ck_assert_uint_eq(n_steps, 1);
	pthread_mutex_unlock(&lock);
}
END_TEST

/* Waits until the task's thread has nothing to do any more; the caller holds the lock. */
static void await_end(void)
{
	while (task.is_started)
		triad_condition_wait(
			&stepped, &lock, triad_clock_now_us() + TRIAD_US_PER_MS);
}

START_TEST(test_task_that_is_done_has_no_thread_until_the_next_start)
{
	make();
	next_us = TRIAD_TASK_DONE;
	pthread_mutex_lock(&lock);
	for (unsigned i = 1; i <= 20; i++) {
		ck_assert_int_eq(triad_task_start(&task), 0);
		triad_task_wake(&task);
		await_steps(i);
		await_end();
		ck_assert_uint_eq(n_steps, i);
	}
	/* A wake alone begins none. */
	triad_task_wake(&task);
	ck_assert(!task.is_started);
	pthread_mutex_unlock(&lock);
	ck_assert(triad_task_stop(&task, TRIAD_US_PER_S));
	/* Joined, and once. */
	ck_assert(triad_task_stop(&task, UINT64_MAX));
	ck_assert_int_eq(triad_task_start(&task), 0);
	ck_assert_uint_eq(n_steps, 20);
	triad_task_clear(&task);
}
END_TEST

START_TEST(test_task_woken_in_its_last_step_goes_on)
{
	pthread_t thread;

	make();
	next_us = TRIAD_TASK_DONE;
	hangs = true;
	ck_assert_int_eq(triad_task_start(&task), 0);
	thread = task.thread;
	pthread_mutex_lock(&lock);
	await_steps(1);
	ck_assert_int_eq(triad_task_start(&task), 0);
	triad_task_wake(&task);
	hangs = false;
	pthread_cond_broadcast(&stepped);
	await_steps(2);
	ck_assert(pthread_equal(thread, task.thread));
	await_end();
	pthread_mutex_unlock(&lock);
	ck_assert(triad_task_stop(&task, UINT64_MAX));
	triad_task_clear(&task);
}
END_TEST

/* --- locks --- */

static void *lock_shortly(void *mutex)
{
	if (triad_mutex_lock_within(mutex, TRIAD_US_PER_MS))
		return mutex;
	pthread_mutex_unlock(mutex);
	return NULL;
}

START_TEST(test_mutex_is_waited_for_no_longer)
{
	/* Two waits of 0.7 s cross the end of a second, whatever the present fraction
	 * of a second is. */
	const uint64_t waits_us[] = {
		0, 1, 700 * TRIAD_US_PER_MS, 700 * TRIAD_US_PER_MS};
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	uint64_t began_us;
	pthread_t thread;
	void *refused;

	ck_assert_int_eq(triad_mutex_lock_within(&mutex, 0), 0);
	ck_assert_int_eq(triad_thread_start(&thread, NAME, lock_shortly, &mutex), 0);
	ck_assert_int_eq(pthread_join(thread, &refused), 0);
	ck_assert_ptr_nonnull(refused);
	for (size_t i = 0; i < sizeof(waits_us) / sizeof(waits_us[0]); i++) {
		began_us = triad_clock_now_us();
		ck_assert_int_eq(
			triad_mutex_lock_within(&mutex, waits_us[i]), ETIMEDOUT);
		ck_assert_uint_ge(triad_clock_now_us() + 1, began_us + waits_us[i]);
	}
	pthread_mutex_unlock(&mutex);
	ck_assert_int_eq(triad_mutex_lock_within(&mutex, 0), 0);
	pthread_mutex_unlock(&mutex);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("task");

	tcase_add_test(cases, test_task_started_steps_once_with_signals_blocked);
	tcase_add_test(cases, test_task_asleep_steps_once_when_woken);
	tcase_add_test(cases, test_task_woken_during_a_step_steps_again);
	tcase_add_test(cases, test_task_that_is_due_steps_in_time);
	tcase_add_test(cases, test_task_never_started_stops_and_starts_no_more);
	tcase_add_test(cases, test_task_started_twice_has_one_thread);
	tcase_add_test(cases, test_task_that_hangs_is_left);
	tcase_add_test(
		cases, test_task_that_is_done_has_no_thread_until_the_next_start);
	tcase_add_test(cases, test_task_woken_in_its_last_step_goes_on);
	tcase_add_test(cases, test_mutex_is_waited_for_no_longer);
	return run_cases(cases);
}
