/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Threads for OpenSM's process.
 *
 * They block every signal, so that OpenSM's handlers run where OpenSM expects them.
 * They have a small stack, and a name that ps and gdb show. */
#ifndef TRIAD_THREAD_H
#define TRIAD_THREAD_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* 'name' has at most 15 characters.  Returns 0 or an errno. */
int triad_thread_start(
	pthread_t *thread, const char *name, void *(*run)(void *), void *argument);

/* The same, for a library that puts more on the stack than the 512 KiB that ours
 * get. */
int triad_thread_start_with(pthread_t *thread, const char *name, size_t stack_size,
	void *(*run)(void *), void *argument);

/* Joins the thread, waiting for 'wait_us' at most.  Returns 0, or ETIMEDOUT: the thread
 * still runs, and the memory it uses must stay. */
int triad_thread_join(pthread_t thread, uint64_t wait_us);

/* Locks, waiting for 'wait_us' at most.  Returns 0, or ETIMEDOUT: it is not locked. */
int triad_mutex_lock_within(pthread_mutex_t *mutex, uint64_t wait_us);

/* The value of an expression while the mutex is locked for it. */
#define TRIAD_LOCKED(mutex, ...)                                                       \
	({                                                                             \
		pthread_mutex_lock(mutex);                                             \
		__auto_type locked_value = (__VA_ARGS__);                              \
		pthread_mutex_unlock(mutex);                                           \
		locked_value;                                                          \
	})

/* A condition variable on the monotonic clock. */
void triad_condition_init(pthread_cond_t *condition);

/* Waits until signalled or 'until_us' (monotonic; UINT64_MAX: for ever).  Returns 0
 * or ETIMEDOUT. */
int triad_condition_wait(
	pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_us);

#endif
