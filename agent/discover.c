/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "agent/discover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/discovery.h"
#include "lib/task.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define AGAIN_US (5 * TRIAD_US_PER_S)
/* Pause after a partial discovery. */
#define SOON_US TRIAD_US_PER_S
#define JOIN_US TRIAD_US_PER_S

struct triad_discover {
	uint64_t port_guid;
	void (*take)(void *context, struct triad_fabric *fabric);
	void *context;
	struct triad_log *log;
	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	bool wanted;
	uint64_t due_us;
	struct triad_discover_status status;

	/* Of the thread alone. */
	bool has_taken;
	unsigned n_partial; /* in a row */
	uint32_t n_silent_logged;
	int logged_error;
};

static uint64_t discover_when_due(void *context);

/* --- life --- */

struct triad_discover *triad_discover_new(uint64_t port_guid,
	void (*take)(void *context, struct triad_fabric *fabric), void *context,
	struct triad_log *log)
{
	struct triad_discover *discover = calloc(1, sizeof(*discover));

	if (!discover)
		return NULL;
	discover->port_guid = port_guid;
	discover->take = take;
	discover->context = context;
	discover->log = log;
	pthread_mutex_init(&discover->lock, NULL);
	triad_task_init(&discover->task, &discover->lock, "triad-discover",
		discover_when_due, discover);
	return discover;
}

bool triad_discover_free(struct triad_discover *discover)
{
	if (!discover)
		return true;
	/* A thread that has not ended still uses the memory. */
	if (!triad_task_stop(&discover->task, JOIN_US))
		return false;
	triad_task_clear(&discover->task);
	pthread_mutex_destroy(&discover->lock);
	free(discover);
	return true;
}

struct triad_discover_status triad_discover_status(struct triad_discover *discover)
{
	struct triad_discover_status status;

	pthread_mutex_lock(&discover->lock);
	status = discover->status;
	status.active = discover->wanted;
	pthread_mutex_unlock(&discover->lock);
	return status;
}

/* --- discovering --- */

static void note_result(struct triad_discover *discover, int error,
	const struct triad_discovery *made, uint64_t took_us)
{
	pthread_mutex_lock(&discover->lock);
	snprintf(discover->status.why, sizeof(discover->status.why), "%s", made->why);
	discover->status.took_us = took_us;
	discover->status.n_smps = made->n_smps;
	discover->status.n_silent = made->n_silent;
	discover->status.n_done += !error;
	discover->status.n_failed += error != 0;
	pthread_mutex_unlock(&discover->lock);
	if (error && error != EAGAIN && error != discover->logged_error)
		triad_log_write(discover->log, TRIAD_LOG_ERROR,
			"topology: the fabric can't be discovered from port 0x%016" PRIx64
			": %s; "
			"what was known before stays, and it is tried each %u s",
			discover->port_guid, made->why,
			(unsigned)(AGAIN_US / TRIAD_US_PER_S));
	discover->logged_error = error;
}

static void log_silent(struct triad_discover *discover, uint32_t n_silent)
{
	if (n_silent && n_silent != discover->n_silent_logged)
		triad_log_write(discover->log, TRIAD_LOG_WARNING,
			"topology: %u ports behind links that are up don't answer SMPs; "
			"they and what is behind them are missing until they do",
			n_silent);
	discover->n_silent_logged = n_silent;
}

static bool is_discovery_over(void *context)
{
	struct triad_discover *discover = context;

	return TRIAD_LOCKED(
		&discover->lock, discover->task.must_end || !discover->wanted);
}

static void log_kept(void *context, int pid)
{
	struct triad_discover *discover = context;

	pthread_mutex_lock(&discover->lock);
	snprintf(discover->status.why, sizeof(discover->status.why),
		"process %d does not end", pid);
	pthread_mutex_unlock(&discover->lock);
	triad_log_write(discover->log, TRIAD_LOG_ERROR,
		"topology: process %d (" TRIAD_DISCOVERY_NAME
		") was killed and does not end: the kernel keeps it, as when a driver "
		"hangs (see /proc/%d/stack); what was known before stays, and nothing is "
		"discovered until it ends",
		pid, pid);
}

static int ask_process(struct triad_discover *discover, struct triad_discovery *made)
{
	const struct triad_discovery_asking asking = {
		.program = "/proc/self/exe",
		.port_guid = discover->port_guid,
		.limit_us = TRIAD_DISCOVERY_LIMIT_US,
		.is_loud = discover->log->level >= TRIAD_LOG_DEBUG,
		.is_over = is_discovery_over,
		.kept_us = TRIAD_DISCOVERY_KEPT_US,
		.is_kept = log_kept,
		.context = discover,
	};

	return triad_discovery_ask(&asking, made);
}

/* Discovers once.  Returns when to do it again. */
static uint64_t make_one(struct triad_discover *discover)
{
	uint64_t begun_us = triad_clock_now_us(), now_us;
	struct triad_discovery made;
	int error = ask_process(discover, &made);

	now_us = triad_clock_now_us();
	/* It is no longer wanted: not a failure. */
	if (error == ECANCELED)
		return now_us;
	if (!error)
		discover->n_partial = made.n_silent ? discover->n_partial + 1 : 0;
	/* A partial fabric replaces the last one only after some in a row: a silent
	 * port may answer the next time. */
	if (!error && made.n_silent && discover->has_taken &&
		discover->n_partial < TRIAD_DISCOVER_TRIES) {
		error = EAGAIN;
		snprintf(made.why, sizeof(made.why),
			"%u ports behind links that are up don't answer SMPs",
			made.n_silent);
	}
	note_result(discover, error, &made, now_us - begun_us);
	if (!error) {
		log_silent(discover, made.n_silent);
		discover->has_taken = true;
		made.fabric->taken_us = begun_us;
		made.fabric->consistent = !made.n_silent;
		discover->take(discover->context, made.fabric);
	}
	triad_fabric_unref(made.fabric);
	return now_us +
		(error == EAGAIN        ? SOON_US
				: error ? AGAIN_US
					: TRIAD_DISCOVER_PERIOD_US);
}

static uint64_t discover_when_due(void *context)
{
	struct triad_discover *discover = context;
	uint64_t due_us = discover->wanted ? discover->due_us : UINT64_MAX;

	if (triad_clock_now_us() < due_us)
		return due_us;
	/* A change that is reported from now on sets it again.  The lock is free
	 * meanwhile: a discovery may take seconds. */
	discover->due_us = UINT64_MAX;
	pthread_mutex_unlock(&discover->lock);
	due_us = make_one(discover);
	pthread_mutex_lock(&discover->lock);
	discover->due_us = triad_clock_earlier(discover->due_us, due_us);
	return discover->due_us;
}

/* --- requests --- */

void triad_discover_want(struct triad_discover *discover, bool wanted)
{
	int error = 0;

	pthread_mutex_lock(&discover->lock);
	if (wanted)
		error = triad_task_start(&discover->task);
	if (wanted && !discover->wanted)
		discover->due_us = 0;
	discover->wanted = wanted && discover->task.is_started;
	triad_task_wake(&discover->task);
	pthread_mutex_unlock(&discover->lock);
	if (error)
		triad_log_write(discover->log, TRIAD_LOG_ERROR,
			"topology: no thread to discover the fabric: %s",
			strerror(error));
}

void triad_discover_again(struct triad_discover *discover)
{
	pthread_mutex_lock(&discover->lock);
	discover->due_us = 0;
	triad_task_wake(&discover->task);
	pthread_mutex_unlock(&discover->lock);
}
