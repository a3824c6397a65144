/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/state_probe.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/task.h"
#include "triad/conf.h"
#include "triad/file.h"

#define PATIENCE_US (TRIAD_US_PER_S / 2)

struct triad_state_probe {
	struct triad_state_probe_params params;
	char *octets;
	struct triad_log *log;
	pthread_mutex_t lock; /* protects what follows */
	struct triad_task task;
	char path[TRIAD_CONF_PATH_SIZE];
	uint64_t since_us; /* when the try that is under way began; 0: none is */
	uint64_t again_us; /* when the next one is due */
	int error;         /* of the last one */
	char why[TRIAD_FILE_REASON_SIZE];
};

/* --- the thread --- */

static int try_to_write(const struct triad_state_probe *probe, const char *path,
	char why[TRIAD_FILE_REASON_SIZE])
{
	char beside[TRIAD_CONF_PATH_SIZE + 8];
	int error;

	snprintf(beside, sizeof(beside), "%s.probe", path);
	why[0] = '\0';
	triad_file_make_folder(beside);
	error = triad_file_check_folder(beside, why) == EPERM
		? EPERM
		: triad_file_replace(beside, probe->octets, probe->params.size, 0600);
	(void)unlink(beside);
	if (error && !why[0])
		snprintf(why, TRIAD_FILE_REASON_SIZE, "%s", strerror(error));
	return error;
}

static void report_probe(const struct triad_state_probe *probe, const char *path,
	int error, const char *why)
{
	if (error && !probe->error)
		triad_log_write(probe->log, TRIAD_LOG_ERROR,
			"%s: %s: could not be written now: %s; %s", probe->params.part,
			path, why, probe->params.consequence);
	else if (!error && probe->error)
		triad_log_write(probe->log, TRIAD_LOG_INFO,
			"%s: %s: could be written again", probe->params.part, path);
}

/* With the lock, which is released while the disk is asked. */
static uint64_t probe_state_file(void *context)
{
	struct triad_state_probe *probe = context;
	char path[TRIAD_CONF_PATH_SIZE], why[TRIAD_FILE_REASON_SIZE];
	int error;

	if (!probe->path[0])
		return TRIAD_TASK_DONE;
	strcpy(path, probe->path);
	probe->since_us = triad_clock_now_us();
	pthread_mutex_unlock(&probe->lock);
	error = try_to_write(probe, path, why);
	pthread_mutex_lock(&probe->lock);
	probe->since_us = 0;
	/* The path has changed meanwhile. */
	if (strcmp(path, probe->path) != 0)
		return triad_clock_now_us();
	report_probe(probe, path, error, why);
	probe->error = error;
	strcpy(probe->why, why);
	probe->again_us = triad_clock_now_us() + TRIAD_PROBE_US;
	return TRIAD_TASK_DONE;
}

/* --- from outside --- */

/* Begins a try.  With the lock. */
static void try_soon(struct triad_state_probe *probe)
{
	int error = triad_task_start(&probe->task);

	triad_task_wake(&probe->task);
	probe->again_us = triad_clock_now_us() + TRIAD_PROBE_US;
	if (!error)
		return;
	/* Nothing is known of the disk. */
	probe->error = error;
	strcpy(probe->why, "there is no thread to try it");
}

void triad_state_probe_set(struct triad_state_probe *probe, const char *path)
{
	pthread_mutex_lock(&probe->lock);
	if (strcmp(probe->path, path) != 0) {
		snprintf(probe->path, sizeof(probe->path), "%s", path);
		probe->error = 0;
		if (*path)
			try_soon(probe);
	}
	pthread_mutex_unlock(&probe->lock);
}

bool triad_state_probe_fails(struct triad_state_probe *probe, char *why, size_t size)
{
	bool is_hung, fails;

	pthread_mutex_lock(&probe->lock);
	if (probe->path[0] && !probe->since_us &&
		triad_clock_now_us() >= probe->again_us)
		try_soon(probe);
	is_hung = triad_disk_hung_us(probe->since_us, triad_clock_now_us());
	fails = probe->path[0] && (is_hung || probe->error);
	if (fails)
		snprintf(why, size, "%s",
			is_hung ? "the disk does not answer" : probe->why);
	pthread_mutex_unlock(&probe->lock);
	return fails;
}

/* --- life --- */

static void destroy_probe(struct triad_state_probe *probe)
{
	triad_task_clear(&probe->task);
	pthread_mutex_destroy(&probe->lock);
	free(probe->octets);
	free(probe);
}

struct triad_state_probe *triad_state_probe_new(
	const struct triad_state_probe_params *params, struct triad_log *log)
{
	struct triad_state_probe *probe = calloc(1, sizeof(*probe));

	if (!probe)
		return NULL;
	probe->params = *params;
	probe->octets = calloc(1, params->size);
	if (!probe->octets) {
		free(probe);
		return NULL;
	}
	probe->log = log;
	pthread_mutex_init(&probe->lock, NULL);
	triad_task_init(
		&probe->task, &probe->lock, "triad-probe", probe_state_file, probe);
	return probe;
}

bool triad_state_probe_free(struct triad_state_probe *probe)
{
	if (!probe)
		return true;
	if (!triad_task_stop(&probe->task, PATIENCE_US))
		return false;
	destroy_probe(probe);
	return true;
}
