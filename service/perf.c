/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/perf.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "congestion/roots.h"
#include "history/past.h"
#include "lib/task.h"
#include "service/umad.h"
#include "triad/clock.h"
#include "triad/thread.h"

/* Between two tries to open the local port. */
#define OPEN_AGAIN_US (5 * TRIAD_US_PER_S)
/* At the end, for MADs still in flight. */
#define DRAIN_US (TRIAD_US_PER_S / 2)

struct triad_perf {
	uint64_t port_guid;
	struct triad_log *log;
	struct triad_collector *collector;

	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	pthread_cond_t swept;
	bool stop;
	bool enabled;
	unsigned role; /* enum triad_conf_role */
	enum triad_sm sm;
	bool has_fabric, has_hooks_fabric;
	bool sweep_asked, findings_due;
	bool closed;                   /* the local port can't be opened */
	const struct triad_conf *conf; /* new for the thread, or NULL */
	struct triad_fabric *fabric;   /* the same */
	struct triad_past *past;       /* the same */
	bool is_restoring;             /* 'past' is not in the watch yet */
	struct triad_selection *reset;
	struct triad_perf_hooks new_hooks; /* functions NULL: none */
	void (*changed)(void *context);    /* NULL: none */
	void *changed_context;
	uint64_t n_resets; /* done */
	uint64_t last_reset_us;
	uint64_t period_s;                    /* perfmgr.sweep_period */
	uint64_t reads_us;                    /* see triad_perf_reads_since() */
	uint64_t expects_us;                  /* see triad_perf_expects_since() */
	enum triad_perf_state reported_state; /* at the last broadcast of 'swept' */

	/* Of the thread alone. */
	struct triad_perf_hooks hooks;
	struct triad_umad *umad;
	bool was_wanted, was_idle, was_ours;
	uint64_t open_again_us;
	int open_error;      /* logged last */
	uint64_t n_reported; /* sweeps at the last broadcast of 'swept' */
};

static uint64_t now_us(void *context)
{
	return triad_clock_now_us();
}

static uint64_t run_perf_manager(void *context);

struct triad_perf *triad_perf_new(uint64_t port_guid,
	const struct triad_alerts_sink *alerts, struct triad_log *log)
{
	static const struct triad_collector_clock clock = {.now_us = now_us};
	struct triad_perf *perf = calloc(1, sizeof(*perf));

	if (!perf)
		return NULL;
	perf->port_guid = port_guid;
	perf->log = log;
	pthread_mutex_init(&perf->lock, NULL);
	triad_task_init(&perf->task, &perf->lock, "triad-perf", run_perf_manager, perf);
	triad_condition_init(&perf->swept);
	perf->collector = triad_collector_new(&clock, alerts, log);
	if (perf->collector && !triad_task_start(&perf->task))
		return perf;
	triad_collector_free(perf->collector);
	free(perf);
	return NULL;
}

void triad_perf_set_hooks(struct triad_perf *perf, const struct triad_perf_hooks *hooks)
{
	pthread_mutex_lock(&perf->lock);
	perf->new_hooks = *hooks;
	pthread_mutex_unlock(&perf->lock);
}

void triad_perf_set_listener(
	struct triad_perf *perf, void (*changed)(void *context), void *context)
{
	pthread_mutex_lock(&perf->lock);
	perf->changed = changed;
	perf->changed_context = context;
	pthread_mutex_unlock(&perf->lock);
}

struct triad_collector *triad_perf_collector(struct triad_perf *perf)
{
	return perf->collector;
}

void triad_perf_stop(struct triad_perf *perf)
{
	bool drained;

	if (!perf)
		return;
	/* Release waiting callers before the thread has ended. */
	pthread_mutex_lock(&perf->lock);
	perf->stop = true;
	pthread_cond_broadcast(&perf->swept);
	pthread_mutex_unlock(&perf->lock);
	(void)triad_task_stop(&perf->task, UINT64_MAX);
	/* After the thread's end, so that no new MADs are sent meanwhile. */
	drained = triad_collector_drain(perf->collector, DRAIN_US);
	triad_collector_set_transport(perf->collector, NULL);
	triad_umad_close(perf->umad, !drained);
	perf->umad = NULL;
}

void triad_perf_free(struct triad_perf *perf)
{
	if (!perf)
		return;
	triad_conf_unref(perf->conf);
	triad_fabric_unref(perf->fabric);
	triad_past_free(perf->past);
	triad_selection_free(perf->reset);
	triad_collector_free(perf->collector);
	pthread_cond_destroy(&perf->swept);
	triad_task_clear(&perf->task);
	pthread_mutex_destroy(&perf->lock);
	free(perf);
}

/* --- requests to the thread --- */

void triad_perf_wake(struct triad_perf *perf)
{
	pthread_mutex_lock(&perf->lock);
	triad_task_wake(&perf->task);
	pthread_mutex_unlock(&perf->lock);
}

void triad_perf_configure(struct triad_perf *perf, const struct triad_conf *conf)
{
	const struct triad_conf *old;

	pthread_mutex_lock(&perf->lock);
	old = perf->conf;
	perf->conf = triad_conf_ref(conf);
	if (perf->period_s != conf->perfmgr.sweep_period_s)
		perf->expects_us = triad_clock_now_us();
	perf->period_s = conf->perfmgr.sweep_period_s;
	perf->enabled = conf->perfmgr.enabled;
	perf->role = conf->perfmgr.role;
	triad_task_wake(&perf->task);
	pthread_mutex_unlock(&perf->lock);
	triad_conf_unref(old);
}

/* Leaves 'fabric' (NULL: none) for the thread; returns one that the thread has not
 * taken yet.  Called with the lock. */
static struct triad_fabric *exchange_fabric(
	struct triad_perf *perf, struct triad_fabric *fabric)
{
	struct triad_fabric *old = perf->fabric;

	perf->fabric = fabric;
	perf->has_fabric = fabric;
	return old;
}

void triad_perf_set_sm(struct triad_perf *perf, enum triad_sm sm)
{
	struct triad_fabric *old = NULL;

	/* A fabric of the old role must not be swept in the new one: LIDs may have
	 * changed. */
	pthread_mutex_lock(&perf->lock);
	if (perf->sm != sm)
		old = exchange_fabric(perf, NULL);
	perf->sm = sm;
	triad_task_wake(&perf->task);
	pthread_mutex_unlock(&perf->lock);
	triad_fabric_unref(old);
}

void triad_perf_set_fabric(
	struct triad_perf *perf, struct triad_fabric *fabric, enum triad_sm sm)
{
	struct triad_fabric *old = NULL;

	pthread_mutex_lock(&perf->lock);
	if (perf->sm == sm) {
		old = exchange_fabric(perf, triad_fabric_ref(fabric));
		triad_task_wake(&perf->task);
	}
	pthread_mutex_unlock(&perf->lock);
	triad_fabric_unref(old);
}

/* --- state for other threads --- */

/* Called with the lock. */
static bool wants(const struct triad_perf *perf, enum triad_sm sm)
{
	if (sm == TRIAD_SM_ABSENT)
		return true;
	switch (perf->role) {
	case TRIAD_ROLE_MASTER:
		return sm == TRIAD_SM_MASTER;
	case TRIAD_ROLE_STANDBY:
		return sm == TRIAD_SM_STANDBY;
	default:
		return sm != TRIAD_SM_OTHER;
	}
}

bool triad_perf_wants(struct triad_perf *perf, enum triad_sm sm)
{
	return TRIAD_LOCKED(&perf->lock, perf->enabled && wants(perf, sm));
}

enum triad_sm triad_perf_sm(struct triad_perf *perf)
{
	return TRIAD_LOCKED(&perf->lock, perf->sm);
}

/* Called with the lock. */
static enum triad_perf_state perf_state_of(const struct triad_perf *perf)
{
	if (!perf->enabled)
		return TRIAD_PERF_DISABLED;
	if (!wants(perf, perf->sm))
		return TRIAD_PERF_OTHER_ROLE;
	if (!perf->has_fabric && !perf->has_hooks_fabric)
		return TRIAD_PERF_NO_FABRIC;
	return perf->closed ? TRIAD_PERF_NO_TRANSPORT : TRIAD_PERF_RUNNING;
}

enum triad_perf_state triad_perf_state(struct triad_perf *perf)
{
	return TRIAD_LOCKED(&perf->lock, perf_state_of(perf));
}

/* A master that reads no counters still knows the routes.  Called with the lock. */
static bool is_idle_master(const struct triad_perf *perf)
{
	return perf->sm == TRIAD_SM_MASTER &&
		perf_state_of(perf) == TRIAD_PERF_OTHER_ROLE;
}

bool triad_perf_is_idle_master(struct triad_perf *perf)
{
	return TRIAD_LOCKED(&perf->lock, is_idle_master(perf));
}

void triad_perf_note_findings(struct triad_perf *perf)
{
	pthread_mutex_lock(&perf->lock);
	perf->findings_due = true;
	triad_task_wake(&perf->task);
	pthread_mutex_unlock(&perf->lock);
}

/* Whether counters are read: by the thread's last step and by now, as it may not know
 * of a change yet.  With 'lock' held. */
static bool is_reading(struct triad_perf *perf)
{
	return perf->reported_state == TRIAD_PERF_RUNNING &&
		perf_state_of(perf) == TRIAD_PERF_RUNNING;
}

/* Returns '*since_us' while counters are read, else the present time. */
static uint64_t while_running(struct triad_perf *perf, const uint64_t *since_us)
{
	uint64_t us;

	pthread_mutex_lock(&perf->lock);
	us = *since_us;
	if (!is_reading(perf))
		us = triad_clock_now_us();
	pthread_mutex_unlock(&perf->lock);
	return us;
}

uint64_t triad_perf_expects_since(struct triad_perf *perf)
{
	return while_running(perf, &perf->expects_us);
}

uint64_t triad_perf_reads_since(struct triad_perf *perf)
{
	return while_running(perf, &perf->reads_us);
}

uint64_t triad_perf_zeroed_us(struct triad_perf *perf)
{
	return TRIAD_LOCKED(&perf->lock, perf->last_reset_us);
}

void triad_perf_restore(struct triad_perf *perf, struct triad_past *past)
{
	pthread_mutex_lock(&perf->lock);
	triad_past_free(perf->past);
	perf->past = past;
	perf->is_restoring = true;
	triad_task_wake(&perf->task);
	pthread_mutex_unlock(&perf->lock);
}

bool triad_perf_is_restoring(struct triad_perf *perf)
{
	return TRIAD_LOCKED(&perf->lock, perf->is_restoring);
}

struct triad_collector_status triad_perf_status(struct triad_perf *perf)
{
	return triad_collector_status(perf->collector);
}

struct triad_watch *triad_perf_watch(struct triad_perf *perf)
{
	return triad_collector_watch(perf->collector);
}

struct triad_reset_log *triad_perf_resets(struct triad_perf *perf)
{
	return triad_engine_resets(triad_collector_engine(perf->collector));
}

struct triad_view *triad_perf_view(struct triad_perf *perf)
{
	/* An idle master that never read has its view only for alerts about routes. */
	if (triad_perf_is_idle_master(perf) && !triad_perf_status(perf).n_sweeps)
		return NULL;
	return triad_collector_view(perf->collector);
}

uint64_t triad_perf_ask_sweep(struct triad_perf *perf)
{
	uint64_t ticket;

	pthread_mutex_lock(&perf->lock);
	ticket = triad_clock_now_us();
	perf->sweep_asked = true;
	triad_task_wake(&perf->task);
	pthread_mutex_unlock(&perf->lock);
	return ticket;
}

static bool has_swept_since(struct triad_perf *perf, uint64_t ticket)
{
	struct triad_collector_status status = triad_collector_status(perf->collector);

	/* Not its end: the next sweep may have begun before this thread woke. */
	return status.last_started_us >= ticket;
}

int triad_perf_wait_sweep(struct triad_perf *perf, uint64_t ticket, uint64_t wait_us)
{
	uint64_t until_us = triad_clock_now_us() + wait_us;
	int result = 0;

	pthread_mutex_lock(&perf->lock);
	while (!result && !has_swept_since(perf, ticket)) {
		if (perf->stop || perf_state_of(perf) != TRIAD_PERF_RUNNING)
			result = ECANCELED;
		else
			result = triad_condition_wait(
				&perf->swept, &perf->lock, until_us);
	}
	pthread_mutex_unlock(&perf->lock);
	return result;
}

int triad_perf_reset(
	struct triad_perf *perf, struct triad_selection *selection, uint64_t *ticket)
{
	uint64_t number;
	int error = 0;

	pthread_mutex_lock(&perf->lock);
	if (perf->reset || perf->stop) {
		error = perf->stop ? ECANCELED : EBUSY;
		pthread_mutex_unlock(&perf->lock);
		triad_selection_free(selection);
		return error;
	}
	number = perf->n_resets + 1;
	perf->reset = selection;
	triad_task_wake(&perf->task);
	/* No time-out: the thread takes it up within 20 ms, or ends. */
	while (perf->n_resets < number && !perf->stop)
		pthread_cond_wait(&perf->swept, &perf->lock);
	if (perf->n_resets < number)
		error = ECANCELED;
	*ticket = perf->last_reset_us;
	pthread_mutex_unlock(&perf->lock);
	return error;
}

/* --- the thread --- */

/* Requests that the thread has taken under the lock. */
struct work {
	bool wanted;  /* to sweep now */
	bool is_ours; /* enabled, and in the role that reads, with a fabric or not */
	bool is_idle; /* see triad_perf_is_idle_master() */
	bool sweep_asked, findings_due;
	const struct triad_conf *conf;
	struct triad_fabric *fabric;
	struct triad_past *past;
	struct triad_selection *reset;
	uint64_t reset_us;
};

/* Called with the lock. */
static struct work take_over_work(struct triad_perf *perf)
{
	enum triad_perf_state state = perf_state_of(perf);
	struct work work = {
		.wanted =
			state == TRIAD_PERF_RUNNING || state == TRIAD_PERF_NO_TRANSPORT,
		.is_ours =
			state != TRIAD_PERF_DISABLED && state != TRIAD_PERF_OTHER_ROLE,
		.is_idle = is_idle_master(perf),
		.conf = perf->conf,
		.fabric = perf->fabric,
		.past = perf->past,
		.reset = perf->reset,
	};

	perf->hooks = perf->new_hooks;
	/* A request for a sweep stays until a sweep is possible. */
	work.sweep_asked = work.wanted && perf->sweep_asked;
	perf->sweep_asked &= !work.wanted;
	work.findings_due = perf->findings_due;
	perf->findings_due = false;
	perf->conf = NULL;
	perf->fabric = NULL;
	perf->past = NULL;
	return work;
}

/* Details of an error are read when a sweep finds the error; these rounds find errors
 * from before. */
#define ERROR_DETAILS_PERIOD_S 3600

/* Queries that may be under way to one node: enough for the time that a MAD travels, few
 * enough for agents that keep only some MADs until they answer them. */
#define NODE_WINDOW 8

/* Octets for details, at most, as all is in OpenSM's process: 2 KiB, the most that a port
 * needs, of 128 Ki ports. */
#define DETAIL_MEMORY ((size_t)256 << 20)

static struct triad_collector_params params_of(const struct triad_conf *conf)
{
	unsigned share_percent = conf->perfmgr.detail_share_percent;

	return (struct triad_collector_params){
		.period_us = conf->perfmgr.sweep_period_s * TRIAD_US_PER_S,
		.vl_wait_share = conf->congestion.enabled && conf->perfmgr.vl_period_s
			? TRIAD_CONGESTION_WAIT
			: 0,
		.round_period_us =
			{
				[TRIAD_ROUND_ERRORS] =
					ERROR_DETAILS_PERIOD_S * TRIAD_US_PER_S,
				[TRIAD_ROUND_FEC] =
					conf->perfmgr.fec_period_s * TRIAD_US_PER_S,
				[TRIAD_ROUND_VL] =
					conf->perfmgr.vl_period_s * TRIAD_US_PER_S,
			},
		.sweep =
			{
				.mode = conf->perfmgr.mode,
				.reset_near_full =
					conf->perfmgr.reset == TRIAD_RESET_NEAR_FULL,
				.window = conf->perfmgr.window,
				.node_window = NODE_WINDOW,
				.retries = conf->perfmgr.retries,
				.timeout_us =
					conf->perfmgr.timeout_ms * TRIAD_US_PER_MS,
				.round_share = share_percent / 100.0,
				.waits_apart = share_percent > 0,
				/* Follow a port before it counts as waiting. */
				.wait_matters = TRIAD_CONGESTION_WAIT / 2,
			},
	};
}

static void adopt_conf(struct triad_perf *perf, const struct triad_conf *conf)
{
	struct triad_collector_params params = params_of(conf);

	params.is_part = perf->hooks.configure &&
		perf->hooks.configure(perf->hooks.context, conf);
	triad_collector_set_params(perf->collector, &params);
	triad_details_set_limit(
		triad_engine_details(triad_collector_engine(perf->collector)),
		DETAIL_MEMORY);
	if (triad_collector_configure(perf->collector, conf))
		triad_log_write(perf->log, TRIAD_LOG_ERROR,
			"perfmgr: not enough memory for the port groups of triad.conf; "
			"those before stay in force until it is loaded again");
}

static void adopt_work(struct triad_perf *perf, struct work *work)
{
	if (work->conf)
		adopt_conf(perf, work->conf);
	triad_conf_unref(work->conf);
	if (work->fabric &&
		!(perf->hooks.take_fabric &&
			perf->hooks.take_fabric(perf->hooks.context, work->fabric)))
		triad_collector_set_fabric(perf->collector, work->fabric);
	triad_fabric_unref(work->fabric);
	if (work->reset) {
		work->reset_us = triad_clock_now_us();
		if (!perf->hooks.reset ||
			!perf->hooks.reset(perf->hooks.context, work->reset))
			triad_collector_reset(perf->collector, work->reset);
	}
	if (work->sweep_asked)
		triad_collector_sweep_now(perf->collector);
}

/* Opens the local port when it is not open and it is time to try. */
static bool has_transport(struct triad_perf *perf)
{
	uint64_t now = triad_clock_now_us();
	int error;

	if (perf->umad)
		return true;
	if (now < perf->open_again_us)
		return false;
	error = triad_umad_open(
		perf->port_guid, TRIAD_MAD_CLASS_PERFORMANCE, &perf->umad);
	if (!error)
		triad_collector_set_transport(
			perf->collector, triad_umad_transport(perf->umad));
	perf->open_again_us = now + OPEN_AGAIN_US;
	/* For triad_perf_state(). */
	pthread_mutex_lock(&perf->lock);
	perf->closed = error;
	pthread_mutex_unlock(&perf->lock);
	if (error && error != perf->open_error)
		triad_log_write(perf->log, TRIAD_LOG_ERROR,
			"perfmgr: port 0x%016" PRIx64
			" can't be opened for MADs: %s; no "
			"counters are read until it can (tried each 5 s)",
			perf->port_guid, strerror(error));
	perf->open_error = error;
	return !error;
}

/* One step of the collector, or the end of sweeping.  Called without the lock; returns
 * until when the thread may sleep. */
static uint64_t run_step(struct triad_perf *perf, bool wanted)
{
	bool was_wanted = perf->was_wanted;
	uint64_t sleep_us;

	perf->was_wanted = wanted;
	if (!wanted) {
		if (was_wanted)
			triad_collector_drain(perf->collector, DRAIN_US);
		return UINT64_MAX;
	}
	if (!has_transport(perf))
		return perf->open_again_us;
	sleep_us = triad_collector_step(perf->collector);
	return sleep_us == UINT64_MAX ? sleep_us : triad_clock_now_us() + sleep_us;
}

/* Called with the lock. */
static void end_reset(struct triad_perf *perf, const struct work *work)
{
	if (!work->reset)
		return;
	triad_selection_free(work->reset);
	perf->reset = NULL;
	perf->last_reset_us = work->reset_us;
	perf->n_resets++;
}

/* Calls the listener.  Called with the lock, which is released meanwhile. */
static void call_listener(struct triad_perf *perf)
{
	void (*changed)(void *context) = perf->changed;
	void *context = perf->changed_context;

	if (!changed)
		return;
	pthread_mutex_unlock(&perf->lock);
	changed(context);
	pthread_mutex_lock(&perf->lock);
}

/* Wakes waiting callers, but only when something has changed for them: there are
 * thousands of steps in a second.  Called with the lock. */
static void wake_waiters(struct triad_perf *perf, bool reset_made)
{
	struct triad_collector_status status = triad_collector_status(perf->collector);
	uint64_t n_sweeps = status.n_sweeps + status.n_group_sweeps;
	enum triad_perf_state state = perf_state_of(perf);

	if (n_sweeps == perf->n_reported && state == perf->reported_state &&
		!reset_made)
		return;
	if (state == TRIAD_PERF_RUNNING && state != perf->reported_state)
		perf->expects_us = triad_clock_now_us();
	perf->n_reported = n_sweeps;
	perf->reported_state = state;
	pthread_cond_broadcast(&perf->swept);
	call_listener(perf);
}

/* Calls the hook step(), which decides whether to sweep.  Returns until when the thread
 * may sleep. */
static uint64_t run_hooks(struct triad_perf *perf, struct work *work)
{
	bool reads = true, has_fabric = false;
	uint64_t until_us;

	if (!perf->hooks.step)
		return UINT64_MAX;
	until_us = perf->hooks.step(
		perf->hooks.context, work->is_ours, &reads, &has_fabric);
	pthread_mutex_lock(&perf->lock);
	perf->has_hooks_fabric = has_fabric;
	pthread_mutex_unlock(&perf->lock);
	/* Without sweeps no step of the collector adopts a new fabric, so do it
	 * here. */
	if (work->wanted && !reads)
		triad_collector_adopt(perf->collector);
	work->wanted &= reads;
	return until_us;
}

/* Has the watch read its finders (routes, congestion).  Not while this process neither
 * sweeps nor is an idle master: their results may be old then. */
static void look_at_finders(struct triad_perf *perf, const struct work *work)
{
	struct triad_watch *watch = triad_collector_watch(perf->collector);

	if (!work->wanted && !work->is_idle)
		return;
	if (work->is_idle)
		triad_collector_adopt(perf->collector);
	if (work->is_idle != perf->was_idle)
		triad_watch_set_idle(watch, work->is_idle, triad_clock_now_us());
	else if (work->findings_due)
		triad_watch_look_at_finders(watch, triad_clock_now_us());
	perf->was_idle = work->is_idle;
}

/* Tells the watch when this process begins to read counters: growth from before is old,
 * because the process that read them then has reported it. */
static void look_at_gap(struct triad_perf *perf, const struct work *work)
{
	if (work->is_ours && !perf->was_ours)
		triad_watch_look_from(
			triad_collector_watch(perf->collector), triad_clock_now_us());
	perf->was_ours = work->is_ours;
}

/* After the configuration, which decides what is an alert. */
static void restore(struct triad_perf *perf, struct triad_past *past)
{
	if (!past)
		return;
	if (triad_watch_restore(triad_collector_watch(perf->collector), past->view,
		    past->alerts, past->n_alerts, past->links, past->n_links,
		    triad_clock_now_us()))
		triad_log_write(perf->log, TRIAD_LOG_ERROR,
			"perfmgr: not enough memory for what was wrong before: alerts "
			"and links that went down then may be missing");
	triad_past_free(past);
}

static uint64_t run_perf_manager(void *context)
{
	struct triad_perf *perf = context;
	struct work work = take_over_work(perf);
	uint64_t hooks_us, until_us;

	/* Before the sweep that may begin, and end, in this step. */
	if (!is_reading(perf))
		perf->reads_us = triad_clock_now_us();
	/* First the requests of other threads, then the hooks, which may decide not to
	 * sweep, then the sweep. */
	pthread_mutex_unlock(&perf->lock);
	adopt_work(perf, &work);
	restore(perf, work.past);
	look_at_gap(perf, &work);
	look_at_finders(perf, &work);
	hooks_us = run_hooks(perf, &work);
	until_us = run_step(perf, work.wanted);
	pthread_mutex_lock(&perf->lock);
	end_reset(perf, &work);
	perf->is_restoring = perf->past;
	wake_waiters(perf, work.reset);
	return hooks_us < until_us ? hooks_us : until_us;
}
