/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/reset_log.h"

#include <stdlib.h>

#include "triad/thread.h"

struct triad_reset_log {
	pthread_mutex_t lock;
	uint64_t n;
	struct triad_reset resets[TRIAD_RESET_LOG_SIZE];
};

struct triad_reset_log *triad_reset_log_new(void)
{
	struct triad_reset_log *log = calloc(1, sizeof(*log));

	if (log)
		pthread_mutex_init(&log->lock, NULL);
	return log;
}

void triad_reset_log_free(struct triad_reset_log *log)
{
	if (!log)
		return;
	pthread_mutex_destroy(&log->lock);
	free(log);
}

void triad_reset_log_add(struct triad_reset_log *log, const struct triad_reset *reset)
{
	pthread_mutex_lock(&log->lock);
	log->resets[log->n++ % TRIAD_RESET_LOG_SIZE] = *reset;
	pthread_mutex_unlock(&log->lock);
}

uint64_t triad_reset_log_count(struct triad_reset_log *log)
{
	return TRIAD_LOCKED(&log->lock, log->n);
}

bool triad_reset_log_get(
	struct triad_reset_log *log, uint64_t n, struct triad_reset *reset)
{
	bool is_kept;

	pthread_mutex_lock(&log->lock);
	is_kept = n < log->n && log->n - n <= TRIAD_RESET_LOG_SIZE;
	if (is_kept)
		*reset = log->resets[n % TRIAD_RESET_LOG_SIZE];
	pthread_mutex_unlock(&log->lock);
	return is_kept;
}
