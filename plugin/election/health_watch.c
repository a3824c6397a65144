/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/election/health_watch.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/task.h"
#include "triad/conf.h"

#define PATIENCE_US (TRIAD_US_PER_S / 2) /* how long to wait for the thread's end */

struct ports {
	struct triad_local_port ports[TRIAD_CONF_MAX_GUIDS];
	size_t n;
};

struct triad_health_watch {
	pthread_mutex_t lock; /* protects what follows */
	struct triad_task task;
	bool are_new, has_seen;
	struct ports ports;
	struct triad_local_health seen;
};

/* --- the thread: with 'lock' held, except during the reading --- */

static void read_health(struct triad_health_watch *watch)
{
	struct ports ports = watch->ports;
	struct triad_local_health seen;

	/* Read without the lock: a driver that hangs must not stop the election. */
	watch->are_new = false;
	pthread_mutex_unlock(&watch->lock);
	seen = triad_local_health_read(ports.ports, ports.n);
	pthread_mutex_lock(&watch->lock);
	/* The list of ports changed meanwhile: drop the reading. */
	if (watch->are_new)
		return;
	watch->ports = ports;
	watch->seen = seen;
	watch->has_seen = true;
}

static uint64_t watch_health(void *context)
{
	struct triad_health_watch *watch = context;
	uint64_t next_us = triad_clock_now_us() + TRIAD_HEALTH_READ_US;

	if (!watch->ports.n)
		return TRIAD_TASK_DONE;
	read_health(watch);
	return next_us;
}

/* --- from outside --- */

void triad_health_watch_set(
	struct triad_health_watch *watch, const uint64_t *guids, size_t n)
{
	pthread_mutex_lock(&watch->lock);
	watch->ports.n = n;
	for (size_t i = 0; i < n; i++)
		watch->ports.ports[i] = (struct triad_local_port){.guid = guids[i]};
	watch->are_new = true;
	watch->has_seen = false;
	/* Without a thread nothing is seen, which is known to who asks. */
	if (n)
		(void)triad_task_start(&watch->task);
	triad_task_wake(&watch->task);
	pthread_mutex_unlock(&watch->lock);
}

bool triad_health_watch_take(
	struct triad_health_watch *watch, struct triad_local_health *seen)
{
	bool has_seen;

	pthread_mutex_lock(&watch->lock);
	has_seen = watch->has_seen && watch->ports.n;
	if (has_seen)
		*seen = watch->seen;
	watch->has_seen = false;
	pthread_mutex_unlock(&watch->lock);
	return has_seen;
}

/* --- life --- */

static void destroy_watch(struct triad_health_watch *watch)
{
	triad_task_clear(&watch->task);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}

struct triad_health_watch *triad_health_watch_new(void)
{
	struct triad_health_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	pthread_mutex_init(&watch->lock, NULL);
	triad_task_init(
		&watch->task, &watch->lock, "triad-health", watch_health, watch);
	return watch;
}

bool triad_health_watch_free(struct triad_health_watch *watch)
{
	if (!watch)
		return true;
	if (!triad_task_stop(&watch->task, PATIENCE_US))
		return false;
	destroy_watch(watch);
	return true;
}
