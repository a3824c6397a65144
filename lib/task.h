/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A thread that does its work in steps, and sleeps between them.
 *
 * Model: the thread calls the step at once, and then whenever it is due or somebody
 * wakes the task.  The step begins and ends with the owner's lock held; it releases the
 * lock while it works.  It returns when it is due again (monotonic; UINT64_MAX: when
 * woken).  A wake during a step makes the next one follow at once.  A step may also
 * come early for no reason, so it must check for itself what there is to do.
 *
 * A step that has nothing more to do returns TRIAD_TASK_DONE: unless the task was woken
 * meanwhile, the thread ends, and the next start begins another.  So whoever leaves work
 * for such a task starts and wakes it.
 *
 *     static uint64_t write_report_when_due(void *context)
 *     {
 *             struct writer *writer = context;
 *             struct report report = writer->report;
 *
 *             pthread_mutex_unlock(&writer->lock);
 *             write_report(&report);
 *             pthread_mutex_lock(&writer->lock);
 *             return triad_clock_now_us() + PERIOD_US;
 *     }
 *
 * For a thread that waits for descriptors, or that empties a queue before it ends, use
 * triad/thread.h alone.
 *
 * Thread-safety: any thread may call; each function says whether with the owner's lock.
 * Only the owner stops a task.
 * Memory: the owner's.  A thread that does not end is left, and may still use the task,
 * the lock and the context: they must stay. */
#ifndef TRIAD_LIB_TASK_H
#define TRIAD_LIB_TASK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define TRIAD_TASK_DONE (UINT64_MAX - 1)

struct triad_task {
	pthread_mutex_t *lock; /* the owner's */
	const char *name;
	uint64_t (*step)(void *context);
	void *context;

	/* With the lock: */
	pthread_t thread, former;
	pthread_cond_t changed;
	bool is_started, is_woken;
	bool has_ended;  /* 'thread' was done, and is to be joined */
	bool has_former; /* 'former' was, too; 'thread' joins it */
	bool must_end;   /* long steps check it */
	bool is_left;    /* its thread did not end in time, and was left running */
};

/* 'name' has at most 15 characters; it and 'lock' are borrowed. */
void triad_task_init(struct triad_task *task, pthread_mutex_t *lock, const char *name,
	uint64_t (*step)(void *context), void *context);

/* Starts a thread, unless there is one or the task was stopped.  With the lock, or before
 * anybody else knows the task.  Returns 0 or an errno. */
int triad_task_start(struct triad_task *task);

/* With the lock. */
void triad_task_wake(struct triad_task *task);

/* Ends the thread after its present step, and waits for 'wait_us' at most (UINT64_MAX:
 * as long as it takes).  Without the lock.  Returns false when the thread still runs.
 * True, at once, for a task that was not started or has ended. */
bool triad_task_stop(struct triad_task *task, uint64_t wait_us);

/* Without a thread: before the start, or after a stop that returned true. */
void triad_task_clear(struct triad_task *task);

#endif
