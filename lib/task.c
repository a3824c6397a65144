/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/task.h"

#include "triad/clock.h"
#include "triad/thread.h"

void triad_task_init(struct triad_task *task, pthread_mutex_t *lock, const char *name,
	uint64_t (*step)(void *context), void *context)
{
	*task = (struct triad_task){
		.lock = lock, .name = name, .step = step, .context = context};
	triad_condition_init(&task->changed);
}

static void *run_task(void *argument)
{
	struct triad_task *task = argument;

	/* Here and not in the start, whose caller has the lock. */
	if (task->has_former)
		pthread_join(task->former, NULL);
	pthread_mutex_lock(task->lock);
	while (!task->must_end) {
		uint64_t due_us;

		task->is_woken = false;
		due_us = task->step(task->context);
		if (task->is_woken || task->must_end)
			continue;
		if (due_us == TRIAD_TASK_DONE) {
			task->is_started = false;
			task->has_ended = true;
			break;
		}
		if (triad_clock_now_us() < due_us)
			triad_condition_wait(&task->changed, task->lock, due_us);
	}
	pthread_mutex_unlock(task->lock);
	return NULL;
}

int triad_task_start(struct triad_task *task)
{
	pthread_t thread;
	int error;

	if (task->is_started || task->must_end)
		return 0;
	task->former = task->thread;
	task->has_former = task->has_ended;
	/* Before the thread runs: it may end at once. */
	task->is_started = true;
	task->has_ended = false;
	error = triad_thread_start(&thread, task->name, run_task, task);
	if (!error) {
		task->thread = thread;
	} else {
		task->is_started = false;
		task->has_ended = task->has_former;
	}
	return error;
}

void triad_task_wake(struct triad_task *task)
{
	task->is_woken = true;
	/* Broadcast: others may wait for what a step changes. */
	pthread_cond_broadcast(&task->changed);
}

bool triad_task_stop(struct triad_task *task, uint64_t wait_us)
{
	bool was_started;

	pthread_mutex_lock(task->lock);
	task->must_end = true;
	was_started = task->is_started || task->has_ended;
	task->is_started = task->has_ended = false;
	triad_task_wake(task);
	pthread_mutex_unlock(task->lock);
	if (!was_started)
		return !task->is_left;
	if (wait_us == UINT64_MAX)
		return !pthread_join(task->thread, NULL);
	if (!triad_thread_join(task->thread, wait_us))
		return true;
	pthread_detach(task->thread);
	task->is_left = true;
	return false;
}

void triad_task_clear(struct triad_task *task)
{
	pthread_cond_destroy(&task->changed);
}
