/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/election/health_watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "triad/conf.h"
#include "triad/thread.h"

#define PATIENCE_US (TRIAD_US_PER_S / 2) /* with a thread that is to end */

struct ports {
	uint64_t guids[TRIAD_CONF_MAX_GUIDS];
	size_t n;
};

struct triad_health_watch {
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake;
	bool must_end, are_new, has_seen;
	struct ports ports;
	struct triad_local_health seen;
};

/* --- the thread: with 'lock' held, but for the look itself --- */

static void read_health(struct triad_health_watch *watch)
{
	struct ports ports = watch->ports;
	struct triad_local_health seen;

	pthread_mutex_unlock(&watch->lock);
	seen = triad_local_health_read(ports.guids, ports.n);
	pthread_mutex_lock(&watch->lock);
	if (watch->are_new)
		return;
	watch->seen = seen;
	watch->has_seen = true;
}

static void wait_for_turn(struct triad_health_watch *watch, uint64_t until_us)
{
	while (!watch->must_end && !watch->are_new)
		if (triad_condition_wait(&watch->wake, &watch->lock, until_us))
			break;
}

static void *run_thread(void *argument)
{
	struct triad_health_watch *watch = argument;

	pthread_mutex_lock(&watch->lock);
	while (!watch->must_end) {
		uint64_t next_us = triad_clock_now_us() + TRIAD_HEALTH_READ_US;

		watch->are_new = false;
		if (watch->ports.n)
			read_health(watch);
		else
			next_us = UINT64_MAX;
		wait_for_turn(watch, next_us);
	}
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

/* --- from outside --- */

void triad_health_watch_set(
	struct triad_health_watch *watch, const uint64_t *guids, size_t n)
{
	pthread_mutex_lock(&watch->lock);
	watch->ports.n = n;
	if (n)
		memcpy(watch->ports.guids, guids, n * sizeof(*guids));
	watch->are_new = true;
	watch->has_seen = false;
	pthread_cond_signal(&watch->wake);
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

static void destroy(struct triad_health_watch *watch)
{
	pthread_cond_destroy(&watch->wake);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}

struct triad_health_watch *triad_health_watch_new(void)
{
	struct triad_health_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	pthread_mutex_init(&watch->lock, NULL);
	triad_condition_init(&watch->wake);
	if (!triad_thread_start(&watch->thread, "triad-health", run_thread, watch))
		return watch;
	destroy(watch);
	return NULL;
}

bool triad_health_watch_free(struct triad_health_watch *watch)
{
	if (!watch)
		return true;
	pthread_mutex_lock(&watch->lock);
	watch->must_end = true;
	pthread_cond_signal(&watch->wake);
	pthread_mutex_unlock(&watch->lock);
	if (triad_thread_join(watch->thread, PATIENCE_US)) {
		pthread_detach(watch->thread);
		return false;
	}
	destroy(watch);
	return true;
}
