/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A sweep from its beginning to its end: its fabric, due time, queries and answers. */
#include "perfmgr/collector_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "triad/clock.h"

/* The longest wait for an answer in one step; then the owner can do other work. */
#define MAX_WAIT_US (20 * TRIAD_US_PER_MS)
/* The longest time for which ports that stopped at their maximum prolong a sweep. */
#define MAX_HOLD_US (2 * TRIAD_US_PER_S)
/* Answers taken before the window is filled again. */
#define MAX_BATCH 64

/* --- for readers --- */

static void publish_view(struct triad_collector *collector, struct triad_view *view)
{
	pthread_mutex_lock(&collector->published_lock);
	collector->view = view;
	pthread_mutex_unlock(&collector->published_lock);
}

static void publish_status(struct triad_collector *collector)
{
	struct triad_collector_status *status = &collector->status;

	pthread_mutex_lock(&collector->published_lock);
	status->period_us = collector->params.period_us;
	status->window = triad_sweep_window(collector->sweep);
	status->progress = triad_sweep_progress(collector->sweep);
	status->counts = triad_sweep_counts(collector->sweep);
	status->send_errors = collector->send_errors;
	status->receive_errors = collector->receive_errors;
	status->n_impossible = collector->n_impossible;
	status->details = triad_details_counts(triad_engine_details(collector->engine));
	pthread_mutex_unlock(&collector->published_lock);
}

/* --- a new fabric --- */

/* Logs groups without a port, once for each configuration: most likely a name is
 * misspelt. */
static void log_empty_groups(struct triad_collector *collector)
{
	const struct triad_view *view = collector->view;
	uint32_t some = 0;

	if (collector->groups_looked_at)
		return;
	collector->groups_looked_at = true;
	for (uint32_t i = 0; i < view->fabric->n_ports; i++)
		if (view->group[i] != TRIAD_GROUP_NONE)
			some |= 1u << view->group[i];
	for (unsigned i = 0; i < triad_groups_count(collector->groups); i++)
		if (!(some & 1u << i))
			triad_log_write(collector->log, TRIAD_LOG_WARNING,
				"perfmgr: no port is in [group %s]: none fits it, or "
				"those that do fit a later group as well",
				triad_groups_get(collector->groups, i)->name);
}

/* Reads our port's P_Key table again, because it may have changed since the last
 * fabric. */
static void choose_pkeys(struct triad_collector *collector, struct triad_view *view)
{
	const struct triad_mad_transport *transport = collector->transport;

	collector->n_pkeys = transport && transport->pkeys
		? (uint32_t)transport->pkeys(
			  transport->context, collector->pkeys, TRIAD_PKEYS_MAX)
		: 0;
	triad_view_choose_pkeys(view, collector->pkeys, collector->n_pkeys);
}

/* Publishes how many ports share no partition with ours, and logs each change once. */
static void log_apart(struct triad_collector *collector)
{
	struct triad_collector_status *status = &collector->status;
	uint32_t n = collector->view->partitions.n_apart;

	/* Others read the status. */
	pthread_mutex_lock(&collector->published_lock);
	status->partitions = collector->view->partitions;
	pthread_mutex_unlock(&collector->published_lock);
	if (n && n != collector->n_apart_logged)
		triad_log_write(collector->log, TRIAD_LOG_WARNING,
			"perfmgr: %" PRIu32 " ports share no partition with this port: "
			"not asked, because they would drop it; make this port a full "
			"member of a partition that they are in (partitions.conf of "
			"OpenSM)",
			n);
	else if (!n && collector->n_apart_logged)
		triad_log_write(collector->log, TRIAD_LOG_INFO,
			"perfmgr: all ports share a partition with this port again");
	collector->n_apart_logged = n;
}

/* Adopts the waiting fabric.  'reads': this port reads its counters.  Publishes the
 * view first, because triad_sweep_adopt() reports ports of the new fabric at once. */
static int adopt(struct triad_collector *collector, bool reads)
{
	struct triad_fabric *fabric = collector->fabric;
	struct triad_view *view =
		triad_view_new(collector->engine, fabric, collector->groups);
	struct triad_view *old = collector->view;
	bool was_behind = collector->watch_is_behind;
	int error;

	if (!view)
		return ENOMEM;
	if (reads)
		choose_pkeys(collector, view);
	error = triad_engine_adopt(
		collector->engine, fabric, collector_now(collector), view->rows);
	if (!error) {
		publish_view(collector, view);
		collector->watch_is_behind = true;
		error = triad_sweep_adopt(collector->sweep, fabric);
		if (error) {
			publish_view(collector, old);
			collector->watch_is_behind = was_behind;
		}
	}
	if (error) {
		triad_view_unref(view);
		return error;
	}
	triad_view_unref(old);
	triad_fabric_unref(collector->fabric);
	collector->fabric = NULL;
	log_empty_groups(collector);
	log_apart(collector);
	/* If the watch lacks memory, sweep on; the next sweep tries again. */
	collector->watch_is_behind =
		triad_watch_adopt(collector->watch, view, collector_now(collector));
	return 0;
}

/* Adopts the fabric; on failure logs it and keeps the old one. */
static void adopt_or_log(struct triad_collector *collector, bool reads)
{
	int error = adopt(collector, reads);

	collector->adopt_failed = error;
	if (error)
		triad_log_write(collector->log, TRIAD_LOG_ERROR,
			"perfmgr: the new topology can't be taken over: %s; sweeping "
			"the old one, and trying again before the next sweep",
			strerror(error));
}

void triad_collector_adopt(struct triad_collector *collector)
{
	if (collector->fabric && !collector->adopt_failed)
		adopt_or_log(collector, false);
}

/* --- when --- */

/* The first time after 'now_us' that is whole periods after the last due time. */
static uint64_t next_due(const struct triad_collector *collector, uint64_t now_us)
{
	uint64_t period_us = collector->params.period_us;
	uint64_t due_us = collector->due_us ? collector->due_us : now_us;

	/* Skip periods that have passed, so that sweeps do not pile up. */
	if (now_us >= due_us)
		due_us += ((now_us - due_us) / period_us + 1) * period_us;
	return due_us;
}

/* Groups (bit i: group i) that are due now. */
static uint32_t due_groups(const struct triad_collector *collector, uint64_t now_us)
{
	uint32_t due = 0;

	for (unsigned i = 0; i < TRIAD_GROUPS_MAX; i++)
		due |= (uint32_t)(collector->group_due_us[i] <= now_us) << i;
	return due;
}

static uint64_t next_group_due(const struct triad_collector *collector)
{
	uint64_t due_us = UINT64_MAX;

	for (unsigned i = 0; i < TRIAD_GROUPS_MAX; i++)
		due_us = triad_clock_earlier(due_us, collector->group_due_us[i]);
	return due_us;
}

/* Makes each group in the sweep that begins due again one period from now. */
static void note_groups_begun(struct triad_collector *collector, uint64_t now_us)
{
	for (unsigned i = 0; i < triad_groups_count(collector->groups); i++) {
		const struct triad_conf_group *group =
			triad_groups_get(collector->groups, i);
		bool is_in = !collector->sweeping_groups ||
			collector->sweeping_groups & 1u << i;

		if (collector->group_due_us[i] != UINT64_MAX && is_in)
			collector->group_due_us[i] =
				now_us + group->sweep_period_s * TRIAD_US_PER_S;
	}
}

/* Decides how much of each round this sweep does.  A sweep of all ports does the share
 * of the round's period that has passed since the last one; a sweep of groups does
 * none. */
static void plan_rounds(const struct triad_collector *collector,
	struct triad_sweep_params *params, uint32_t groups, uint64_t now_us)
{
	uint64_t last_us = collector->status.started_us;

	for (unsigned i = 0; i < TRIAD_N_ROUNDS; i++) {
		uint64_t period_us = collector->params.round_period_us[i];

		params->round_part[i] = 0;
		if (!groups && last_us && period_us)
			params->round_part[i] =
				fmin(1, (double)(now_us - last_us) / (double)period_us);
	}
	if (groups)
		params->round_share = 0;
}

/* --- from its beginning to its end --- */

/* Begins a sweep of 'groups', or of all ports when it is 0. */
static int begin_sweep(
	struct triad_collector *collector, uint32_t groups, uint64_t now_us)
{
	struct triad_collector_status *status = &collector->status;
	struct triad_sweep_params params = collector->params.sweep;
	int error;

	if (collector->fabric && collector->adopt_failed)
		adopt_or_log(collector, true);
	if (!collector->view)
		return ENODATA;
	if (collector->watch_is_behind)
		collector->watch_is_behind =
			triad_watch_adopt(collector->watch, collector->view, now_us);
	collector->sweeping_groups = groups;
	collector->was_cut = false;
	collector->n_vl_asked = 0;
	triad_watch_begin_sweep(collector->watch, groups);
	params.is_requested = collector->sweep_asked && !groups;
	plan_rounds(collector, &params, groups, now_us);
	params.most_hold_us = collector->params.period_us / 4 < MAX_HOLD_US
		? collector->params.period_us / 4
		: MAX_HOLD_US;
	error = triad_sweep_start(collector->sweep, &params);
	if (error)
		return error;
	collector->begun_us = now_us;
	note_groups_begun(collector, now_us);
	pthread_mutex_lock(&collector->published_lock);
	status->sweeping = true;
	if (!groups)
		status->started_us = now_us;
	status->octets = triad_engine_octets(collector->engine);
	pthread_mutex_unlock(&collector->published_lock);
	return 0;
}

static uint64_t count_errors(const struct triad_collector_status *status)
{
	return status->send_errors + status->receive_errors + status->counts.malformed +
		status->counts.unreachable;
}

static void end_full_sweep(struct triad_collector *collector, uint64_t now_us)
{
	struct triad_collector_status *status = &collector->status;
	uint64_t took_us = now_us - status->started_us;
	bool late = took_us > collector->params.period_us;

	collector->due_us = next_due(collector, now_us);
	publish_status(collector);
	pthread_mutex_lock(&collector->published_lock);
	status->sweeping = false;
	status->last_started_us = status->started_us;
	status->finished_us = status->ended_us = now_us;
	status->duration_us = took_us;
	status->last_errors = count_errors(status) - collector->errors_before;
	collector->errors_before += status->last_errors;
	status->last = status->progress;
	status->n_sweeps++;
	status->n_late += late;
	pthread_mutex_unlock(&collector->published_lock);
	triad_log_write(collector->log, late ? TRIAD_LOG_INFO : TRIAD_LOG_VERBOSE,
		"perfmgr: sweep %" PRIu64 " of %" PRIu32 " ports took %" PRIu64
		" ms%s; %" PRIu32 " unanswered",
		status->n_sweeps, status->last.n_ports, took_us / TRIAD_US_PER_MS,
		late ? ", longer than sweep_period" : "", status->last.n_unanswered);
}

void triad_collector_note_round(struct triad_collector *collector,
	const struct triad_sweep_progress *progress, uint64_t started_us)
{
	struct triad_collector_status *status = &collector->status;
	uint64_t now_us = collector_now(collector);

	pthread_mutex_lock(&collector->published_lock);
	status->period_us = collector->params.period_us;
	status->started_us = status->last_started_us = started_us;
	status->finished_us = status->ended_us = now_us;
	status->duration_us = now_us - started_us;
	status->last_errors = UINT64_MAX;
	status->progress = status->last = *progress;
	status->octets = triad_engine_octets(collector->engine);
	status->n_sweeps++;
	pthread_mutex_unlock(&collector->published_lock);
	triad_watch_end_round(collector->watch, now_us);
}

static void end_sweep(struct triad_collector *collector, uint64_t now_us)
{
	triad_watch_end_sweep(
		collector->watch, collector->begun_us, collector->was_cut, now_us);
	if (!collector->sweeping_groups) {
		end_full_sweep(collector, now_us);
		return;
	}
	publish_status(collector);
	pthread_mutex_lock(&collector->published_lock);
	collector->status.sweeping = false;
	collector->status.ended_us = now_us;
	collector->status.n_group_sweeps++;
	pthread_mutex_unlock(&collector->published_lock);
}

/* Ends a sweep because nothing can be sent.  To go on would cost a time-out for each
 * query, and make all agents look silent. */
static void cut_sweep(struct triad_collector *collector, int error)
{
	unsigned long suppressed;

	collector->was_cut = true;
	triad_sweep_cut(collector->sweep);
	if (triad_log_limit_pass(
		    &collector->send_limit, collector_now(collector), &suppressed))
		triad_log_write(collector->log, TRIAD_LOG_ERROR,
			"perfmgr: queries can't be sent: %s; the sweep is cut short, "
			"and ports that were not read are unanswered (%lu sweeps before "
			"were not logged)",
			strerror(error), suppressed);
}

/* --- queries --- */

static void send_queries(struct triad_collector *collector)
{
	const struct triad_mad_transport *transport = collector->transport;
	uint64_t timeout_us = collector->params.sweep.timeout_us;
	struct triad_sweep_query query;

	while (triad_sweep_next(collector->sweep, collector_now(collector), &query)) {
		int error = transport->send(transport->context, &query.to, query.mad,
			(unsigned)(timeout_us / TRIAD_US_PER_MS));

		if (error == EAGAIN && triad_sweep_in_flight(collector->sweep) > 1) {
			/* Room comes with the next answer. */
			triad_sweep_unsend(collector->sweep, query.tid);
			return;
		}
		collector->n_unsent = error ? collector->n_unsent + 1 : 0;
		if (!error)
			continue;
		/* The query stays in flight: it times out, and is sent again then. */
		collector->send_errors++;
		/* More failures in a row than the window has queries are the
		 * transport's fault, not an address's. */
		if (collector->n_unsent > triad_sweep_window(collector->sweep)) {
			collector->n_unsent = 0;
			cut_sweep(collector, error);
			return;
		}
	}
}

/* Returns false when the transport is broken. */
static bool receive_replies(struct triad_collector *collector)
{
	const struct triad_mad_transport *transport = collector->transport;
	uint64_t now_us = collector_now(collector);
	uint64_t deadline_us = triad_sweep_deadline(collector->sweep);
	uint64_t wait_us = deadline_us > now_us ? deadline_us - now_us : 0;
	struct triad_mad_reply reply;

	if (wait_us > MAX_WAIT_US)
		wait_us = MAX_WAIT_US;
	for (unsigned i = 0; i < MAX_BATCH; i++) {
		int error = transport->receive(transport->context, wait_us, &reply);

		if (error == EAGAIN)
			return true;
		if (error) {
			collector->receive_errors++;
			return false;
		}
		triad_sweep_reply(collector->sweep, &reply, collector_now(collector));
		/* Wait for the first answer only. */
		wait_us = 0;
	}
	return true;
}

/* --- steps --- */

/* Returns how long the owner may sleep. */
static uint64_t continue_sweep(struct triad_collector *collector)
{
	bool works;

	triad_sweep_expire(collector->sweep, collector_now(collector));
	send_queries(collector);
	works = receive_replies(collector);
	if (triad_sweep_is_done(collector->sweep))
		end_sweep(collector, collector_now(collector));
	else
		publish_status(collector);
	/* A broken transport returns at once: sleep, or the caller would spin. */
	return works ? 0 : MAX_WAIT_US;
}

/* Begins the sweep that is due, and returns 0; else returns how long until one is
 * due. */
static uint64_t begin_due_sweep(struct triad_collector *collector, uint64_t now_us)
{
	struct triad_collector_status *status = &collector->status;
	uint64_t due_us = collector->due_us, group_due_us = next_group_due(collector);
	uint32_t groups = 0;

	/* A sweep of all ports goes first: it includes the groups. */
	if (!collector->sweep_asked && now_us < due_us) {
		groups = due_groups(collector, now_us);
		if (!groups)
			return (due_us < group_due_us ? due_us : group_due_us) - now_us;
	}
	if (!groups)
		collector->due_us = next_due(collector, now_us);
	if (begin_sweep(collector, groups, now_us)) {
		/* There is no fabric yet, or no memory.  Make groups due anew: an
		 * overdue one would be tried again at once. */
		collector_plan_groups(collector, now_us);
		return collector->due_us - now_us;
	}
	if (groups)
		return 0;
	/* The first sweep has no due time, and a requested one has no delay. */
	if (due_us && !collector->sweep_asked) {
		pthread_mutex_lock(&collector->published_lock);
		status->delay_us = now_us - due_us;
		if (status->delay_us > status->delay_max_us)
			status->delay_max_us = status->delay_us;
		pthread_mutex_unlock(&collector->published_lock);
	}
	collector->sweep_asked = false;
	return 0;
}

uint64_t triad_collector_step(struct triad_collector *collector)
{
	uint64_t wait_us = 0;

	if (!collector->transport)
		return UINT64_MAX;
	if (collector->fabric && !collector->adopt_failed)
		adopt_or_log(collector, true);
	if (!collector->status.sweeping)
		wait_us = begin_due_sweep(collector, collector_now(collector));
	return wait_us ? wait_us : continue_sweep(collector);
}

bool triad_collector_drain(struct triad_collector *collector, uint64_t wait_us)
{
	const struct triad_mad_transport *transport = collector->transport;
	unsigned in_flight = triad_sweep_in_flight(collector->sweep);
	uint64_t end_us = collector_now(collector) + wait_us, now_us;
	struct triad_mad_reply reply;

	/* This forgets the queries, so they were counted before. */
	triad_sweep_abort(collector->sweep);
	/* If sweeps start again, the first one is due at once and is not late. */
	collector->due_us = 0;
	pthread_mutex_lock(&collector->published_lock);
	collector->status.sweeping = false;
	pthread_mutex_unlock(&collector->published_lock);
	while (transport && in_flight && (now_us = collector_now(collector)) < end_us) {
		int error =
			transport->receive(transport->context, end_us - now_us, &reply);

		if (!error)
			in_flight--;
		else if (error != EAGAIN)
			break;
	}
	return !in_flight;
}
