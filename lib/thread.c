/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/thread.h"

#include <signal.h>
#include <time.h>

#include "triad/clock.h"

#define STACK_SIZE (512 * 1024)

/* glibc has these two since 2.31.  Older versions wait by the wall clock, so too long
 * or too short when that is set meanwhile.  So does a build with the sanitizer of threads,
 * which knows only the older ones. */
#if __GLIBC_PREREQ(2, 31) && !defined(__SANITIZE_THREAD__)
#define WAIT_CLOCK CLOCK_MONOTONIC
#define WAIT_JOIN(thread, until) pthread_clockjoin_np(thread, NULL, WAIT_CLOCK, until)
#define WAIT_LOCK(mutex, until) pthread_mutex_clocklock(mutex, WAIT_CLOCK, until)
#else
#define WAIT_CLOCK CLOCK_REALTIME
#define WAIT_JOIN(thread, until) pthread_timedjoin_np(thread, NULL, until)
#define WAIT_LOCK(mutex, until) pthread_mutex_timedlock(mutex, until)
#endif

int triad_thread_start(
	pthread_t *thread, const char *name, void *(*run)(void *), void *argument)
{
	return triad_thread_start_with(thread, name, STACK_SIZE, run, argument);
}

int triad_thread_start_with(pthread_t *thread, const char *name, size_t stack_size,
	void *(*run)(void *), void *argument)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, stack_size);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(thread, &attributes, run, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (!error)
		pthread_setname_np(*thread, name);
	return error;
}

/* The time 'wait_us' from now, by the clock of the waits. */
static struct timespec end_of_wait(uint64_t wait_us)
{
	struct timespec until;

	clock_gettime(WAIT_CLOCK, &until);
	until.tv_sec += (time_t)(wait_us / TRIAD_US_PER_S);
	until.tv_nsec += (long)(wait_us % TRIAD_US_PER_S * 1000);
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	return until;
}

int triad_thread_join(pthread_t thread, uint64_t wait_us)
{
	struct timespec until = end_of_wait(wait_us);

	return WAIT_JOIN(thread, &until);
}

int triad_mutex_lock_within(pthread_mutex_t *mutex, uint64_t wait_us)
{
	struct timespec until = end_of_wait(wait_us);

	return WAIT_LOCK(mutex, &until);
}

void triad_condition_init(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

int triad_condition_wait(
	pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_us)
{
	struct timespec until = {
		.tv_sec = (time_t)(until_us / TRIAD_US_PER_S),
		.tv_nsec = (long)(until_us % TRIAD_US_PER_S * 1000),
	};

	if (until_us == UINT64_MAX)
		return pthread_cond_wait(condition, mutex);
	return pthread_cond_timedwait(condition, mutex, &until);
}
