/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/perf.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/thread.h"
#include "plugin/umad.h"
#include "triad/clock.h"

/* Between two tries to open the local port. */
#define OPEN_AGAIN_US (5 * TRIAD_US_PER_S)
/* At the end, for MADs still in flight. */
#define DRAIN_US (TRIAD_US_PER_S / 2)

struct triad_perf {
	uint64_t port_guid;
	struct triad_log *log;
	struct triad_collector *collector;
	pthread_t thread;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	pthread_cond_t swept;
	bool stop;
	bool left; /* something for the thread to take up */
	bool enabled;
	bool is_master;
	bool has_fabric;
	bool sweep_asked;
	bool params_changed;
	struct triad_collector_params params;
	struct triad_fabric *fabric; /* not yet taken up */
	enum triad_perf_state state;

	/* Of the thread alone. */
	struct triad_umad *umad;
	uint64_t open_again_us;
	int open_error; /* said last */
};

static uint64_t now_us(void *context)
{
	return triad_clock_now_us();
}

static void *run(void *argument);

struct triad_perf *triad_perf_new(uint64_t port_guid, struct triad_log *log)
{
	static const struct triad_collector_clock clock = {.now_us = now_us};
	struct triad_perf *perf = calloc(1, sizeof(*perf));

	if (!perf)
		return NULL;
	perf->port_guid = port_guid;
	perf->log = log;
	perf->state = TRIAD_PERF_DISABLED;
	pthread_mutex_init(&perf->lock, NULL);
	triad_condition_init(&perf->changed);
	triad_condition_init(&perf->swept);
	perf->collector = triad_collector_new(&clock, log);
	if (perf->collector &&
		!triad_thread_start(&perf->thread, "triad-perf", run, perf))
		return perf;
	triad_collector_free(perf->collector);
	free(perf);
	return NULL;
}

void triad_perf_stop(struct triad_perf *perf)
{
	if (!perf)
		return;
	pthread_mutex_lock(&perf->lock);
	perf->stop = true;
	pthread_cond_broadcast(&perf->changed);
	pthread_cond_broadcast(&perf->swept);
	pthread_mutex_unlock(&perf->lock);
	pthread_join(perf->thread, NULL);
}

void triad_perf_free(struct triad_perf *perf)
{
	if (!perf)
		return;
	triad_fabric_unref(perf->fabric);
	triad_collector_free(perf->collector);
	pthread_cond_destroy(&perf->swept);
	pthread_cond_destroy(&perf->changed);
	pthread_mutex_destroy(&perf->lock);
	free(perf);
}

/* --- what others leave --- */

/* Called with the lock. */
static void leave(struct triad_perf *perf)
{
	perf->left = true;
	pthread_cond_signal(&perf->changed);
}

void triad_perf_configure(struct triad_perf *perf, const struct triad_conf *conf)
{
	struct triad_collector_params params = {
		.period_us = conf->perfmgr.sweep_period_s * TRIAD_US_PER_S,
		.sweep =
			{
				.window = conf->perfmgr.window,
				.node_window = conf->perfmgr.node_window,
				.retries = conf->perfmgr.retries,
				.timeout_us =
					conf->perfmgr.timeout_ms * TRIAD_US_PER_MS,
			},
	};

	pthread_mutex_lock(&perf->lock);
	perf->params = params;
	perf->params_changed = true;
	perf->enabled = conf->perfmgr.enabled;
	leave(perf);
	pthread_mutex_unlock(&perf->lock);
}

void triad_perf_set_master(struct triad_perf *perf, bool is_master)
{
	pthread_mutex_lock(&perf->lock);
	perf->is_master = is_master;
	leave(perf);
	pthread_mutex_unlock(&perf->lock);
}

void triad_perf_set_fabric(struct triad_perf *perf, struct triad_fabric *fabric)
{
	struct triad_fabric *old;

	pthread_mutex_lock(&perf->lock);
	old = perf->fabric;
	perf->fabric = triad_fabric_ref(fabric);
	perf->has_fabric = true;
	leave(perf);
	pthread_mutex_unlock(&perf->lock);
	triad_fabric_unref(old);
}

/* --- what others ask --- */

enum triad_perf_state triad_perf_state(struct triad_perf *perf)
{
	enum triad_perf_state state;

	pthread_mutex_lock(&perf->lock);
	state = perf->state;
	pthread_mutex_unlock(&perf->lock);
	return state;
}

struct triad_collector_status triad_perf_status(struct triad_perf *perf)
{
	return triad_collector_status(perf->collector);
}

struct triad_view *triad_perf_view(struct triad_perf *perf)
{
	return triad_collector_view(perf->collector);
}

uint64_t triad_perf_ask_sweep(struct triad_perf *perf)
{
	uint64_t ticket;

	pthread_mutex_lock(&perf->lock);
	ticket = triad_clock_now_us();
	perf->sweep_asked = true;
	leave(perf);
	pthread_mutex_unlock(&perf->lock);
	return ticket;
}

static bool has_swept_since(struct triad_perf *perf, uint64_t ticket)
{
	struct triad_collector_status status = triad_collector_status(perf->collector);

	return !status.sweeping && status.n_sweeps && status.started_us >= ticket;
}

int triad_perf_wait_sweep(struct triad_perf *perf, uint64_t ticket, uint64_t wait_us)
{
	uint64_t until_us = triad_clock_now_us() + wait_us;
	int result = 0;

	pthread_mutex_lock(&perf->lock);
	while (!result && !has_swept_since(perf, ticket)) {
		if (perf->stop || perf->state != TRIAD_PERF_RUNNING)
			result = ECANCELED;
		else
			result = triad_condition_wait(
				&perf->swept, &perf->lock, until_us);
	}
	pthread_mutex_unlock(&perf->lock);
	return result;
}

/* --- the thread --- */

/* Opens the local port when it is not open.  Says each new reason why it can't. */
static bool has_transport(struct triad_perf *perf)
{
	uint64_t now = triad_clock_now_us();
	int error;

	if (perf->umad)
		return true;
	if (now < perf->open_again_us)
		return false;
	error = triad_umad_open(perf->port_guid, &perf->umad);
	if (!error) {
		triad_collector_set_transport(
			perf->collector, triad_umad_transport(perf->umad));
		return true;
	}
	if (error != perf->open_error)
		triad_log_write(perf->log, TRIAD_LOG_ERROR,
			"perfmgr: port 0x%016lx can't be opened for MADs: %s; no "
			"counters are read until it can (tried each 5 s)",
			(unsigned long)perf->port_guid, strerror(error));
	perf->open_error = error;
	perf->open_again_us = now + OPEN_AGAIN_US;
	return false;
}

/* Takes up what was left.  Called with the lock. */
static enum triad_perf_state take_up(struct triad_perf *perf)
{
	perf->left = false;
	if (perf->params_changed)
		triad_collector_set_params(perf->collector, &perf->params);
	perf->params_changed = false;
	if (perf->fabric)
		triad_collector_set_fabric(perf->collector, perf->fabric);
	triad_fabric_unref(perf->fabric);
	perf->fabric = NULL;
	if (!perf->enabled)
		return TRIAD_PERF_DISABLED;
	if (!perf->is_master)
		return TRIAD_PERF_NOT_MASTER;
	if (!perf->has_fabric)
		return TRIAD_PERF_NO_FABRIC;
	if (!has_transport(perf))
		return TRIAD_PERF_NO_TRANSPORT;
	if (perf->sweep_asked)
		triad_collector_sweep_now(perf->collector);
	perf->sweep_asked = false;
	return TRIAD_PERF_RUNNING;
}

static uint64_t wake_time(const struct triad_perf *perf, uint64_t sleep_us)
{
	if (perf->state == TRIAD_PERF_NO_TRANSPORT)
		return perf->open_again_us;
	if (perf->state != TRIAD_PERF_RUNNING || sleep_us == UINT64_MAX)
		return UINT64_MAX;
	return triad_clock_now_us() + sleep_us;
}

/* One turn, or the end of sweeping.  Called without the lock; returns how long the
 * thread may sleep. */
static uint64_t turn(struct triad_perf *perf, bool was_running, bool running)
{
	if (running)
		return triad_collector_turn(perf->collector);
	if (was_running)
		triad_collector_drain(perf->collector, DRAIN_US);
	return UINT64_MAX;
}

static void *run(void *argument)
{
	struct triad_perf *perf = argument;
	bool was_running = false, running, drained;
	uint64_t sleep_us;

	pthread_mutex_lock(&perf->lock);
	while (!perf->stop) {
		perf->state = take_up(perf);
		running = perf->state == TRIAD_PERF_RUNNING;
		pthread_mutex_unlock(&perf->lock);
		sleep_us = turn(perf, was_running, running);
		was_running = running;
		pthread_mutex_lock(&perf->lock);
		pthread_cond_broadcast(&perf->swept);
		if (sleep_us && !perf->left && !perf->stop)
			triad_condition_wait(&perf->changed, &perf->lock,
				wake_time(perf, sleep_us));
	}
	pthread_mutex_unlock(&perf->lock);
	drained = triad_collector_drain(perf->collector, DRAIN_US);
	triad_collector_set_transport(perf->collector, NULL);
	triad_umad_close(perf->umad, !drained);
	perf->umad = NULL;
	return NULL;
}
