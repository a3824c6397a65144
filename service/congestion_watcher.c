/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/congestion_watcher.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "congestion/track.h"
#include "lib/task.h"
#include "service/congestion_loads.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define STOP_US (2 * TRIAD_US_PER_S)

/* What 'struct triad_congestion_result' really is. */
struct counted {
	struct triad_congestion_result result;
	atomic_uint refs;
};

struct triad_congestion_watcher {
	struct triad_perf *perf;
	struct triad_route_checker *routes;
	struct triad_log *log;

	/* Of the thread alone: */
	uint64_t ended_us;                 /* of the last sweep that was explained */
	struct triad_route_result *turned; /* routes of 'turns'; NULL: none */
	struct triad_congestion_turns *turns;
	struct triad_congestion_planes planes; /* of the same routes */
	struct triad_congestion_matrix matrix; /* of the same layout */
	bool is_matrix_logged;                 /* logged: the matrix is not known */
	struct triad_congestion_track track;
	struct triad_congestion_load *last_loads; /* of the sweep before; NULL: none */
	struct triad_route_result *last_routes;   /* whose fabric numbers their ports */
	const struct triad_fabric
		*log_fabric; /* for log_root(), during a track's call */
	enum triad_congestion_state looked_state;

	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	bool enabled;
	bool is_begun; /* just enabled: explain the last sweep anew */
	struct triad_congestion_limits limits;
	enum triad_congestion_state state;
	struct triad_congestion_result *result;
};

static uint64_t watch_congestion(void *context);

/* --- results --- */

void triad_congestion_result_unref(struct triad_congestion_result *result)
{
	if (!result || atomic_fetch_sub(&((struct counted *)result)->refs, 1) != 1)
		return;
	triad_congestion_free(result->found);
	free(result->explained);
	triad_route_result_unref(result->routes);
	free(result);
}

struct triad_congestion_result *triad_congestion_watcher_result(
	struct triad_congestion_watcher *watcher)
{
	struct triad_congestion_result *result;

	pthread_mutex_lock(&watcher->lock);
	result = watcher->result;
	if (result)
		atomic_fetch_add(&((struct counted *)result)->refs, 1);
	pthread_mutex_unlock(&watcher->lock);
	return result;
}

/* With the lock. */
static void publish_result(struct triad_congestion_watcher *watcher,
	struct triad_congestion_result *result, enum triad_congestion_state state)
{
	triad_congestion_result_unref(watcher->result);
	watcher->result = result;
	watcher->state = state;
}

/* --- the loads of the sweep before --- */

/* Keeps 'loads', of the ports of 'routes', in the place of those before; NULL: none. */
static void keep_loads(struct triad_congestion_watcher *watcher,
	struct triad_congestion_load *loads, struct triad_route_result *routes)
{
	free(watcher->last_loads);
	triad_route_result_unref(watcher->last_routes);
	watcher->last_loads = loads;
	watcher->last_routes = loads ? triad_route_result_ref(routes) : NULL;
}

/* Whether the sweep before knew if the port waited, and what it sent. */
static bool was_known(const struct triad_congestion_watcher *watcher,
	const struct triad_fabric *fabric, uint32_t port,
	const struct triad_congestion_limits *limits)
{
	const struct triad_congestion_load *load;

	if (!watcher->last_loads)
		return false;
	port = triad_fabric_find_same_port(
		watcher->last_routes->check->layout->fabric, fabric, port);
	if (port == TRIAD_FABRIC_NONE)
		return false;
	load = &watcher->last_loads[port];
	return !isnan(load->wait) && !isnan(load->sent) &&
		!triad_congestion_load_is_open(load, limits);
}

/* A root shows by its own port, and by the port next to it that waits. */
static void compare_with_last(const struct triad_congestion_watcher *watcher,
	const struct triad_fabric *fabric, struct triad_congestion *found,
	const struct triad_congestion_limits *limits)
{
	for (uint32_t i = 0; i < found->n_roots; i++) {
		struct triad_congestion_root *root = &found->roots[i];

		root->may_be_older = !was_known(watcher, fabric, root->port, limits) ||
			(root->n_waiting &&
				!was_known(watcher, fabric, root->waiting[0], limits));
	}
}

/* --- life --- */

struct triad_congestion_watcher *triad_congestion_watcher_new(struct triad_perf *perf,
	struct triad_route_checker *routes, struct triad_log *log)
{
	struct triad_congestion_watcher *watcher = calloc(1, sizeof(*watcher));

	if (!watcher)
		return NULL;
	watcher->perf = perf;
	watcher->routes = routes;
	watcher->log = log;
	pthread_mutex_init(&watcher->lock, NULL);
	triad_task_init(&watcher->task, &watcher->lock, "triad-congest",
		watch_congestion, watcher);
	return watcher;
}

bool triad_congestion_watcher_stop(struct triad_congestion_watcher *watcher)
{
	return !watcher || triad_task_stop(&watcher->task, STOP_US);
}

void triad_congestion_watcher_free(struct triad_congestion_watcher *watcher)
{
	if (!watcher)
		return;
	triad_congestion_result_unref(watcher->result);
	triad_congestion_matrix_clear(&watcher->matrix);
	triad_congestion_turns_free(watcher->turns);
	triad_congestion_planes_clear(&watcher->planes);
	triad_route_result_unref(watcher->turned);
	keep_loads(watcher, NULL, NULL);
	triad_task_clear(&watcher->task);
	pthread_mutex_destroy(&watcher->lock);
	free(watcher);
}

/* With the lock.  Also when this was set off: then what is known ends. */
static void look_soon(struct triad_congestion_watcher *watcher)
{
	if (triad_task_start(&watcher->task))
		publish_result(watcher, NULL,
			watcher->enabled ? TRIAD_CONGESTION_NO_MEMORY
					 : TRIAD_CONGESTION_OFF);
	triad_task_wake(&watcher->task);
}

void triad_congestion_watcher_configure(
	struct triad_congestion_watcher *watcher, const struct triad_conf *conf)
{
	bool was_enabled;

	pthread_mutex_lock(&watcher->lock);
	watcher->limits = (struct triad_congestion_limits){
		.wait = TRIAD_CONGESTION_WAIT, .busy = TRIAD_CONGESTION_BUSY};
	if (watcher->enabled != conf->congestion.enabled)
		publish_result(watcher, NULL,
			conf->congestion.enabled ? TRIAD_CONGESTION_NO_SWEEP
						 : TRIAD_CONGESTION_OFF);
	watcher->is_begun |= !watcher->enabled && conf->congestion.enabled;
	was_enabled = watcher->enabled;
	watcher->enabled = conf->congestion.enabled;
	if (watcher->enabled || was_enabled)
		look_soon(watcher);
	pthread_mutex_unlock(&watcher->lock);
}

void triad_congestion_watcher_look(struct triad_congestion_watcher *watcher)
{
	pthread_mutex_lock(&watcher->lock);
	if (watcher->enabled)
		look_soon(watcher);
	pthread_mutex_unlock(&watcher->lock);
}

enum triad_congestion_state triad_congestion_watcher_state(
	struct triad_congestion_watcher *watcher)
{
	return TRIAD_LOCKED(&watcher->lock, watcher->state);
}

const char *triad_congestion_state_text(enum triad_congestion_state state)
{
	switch (state) {
	case TRIAD_CONGESTION_OFF:
		return "congestion is not looked for: 'set congestion.enabled true' "
		       "begins it";
	case TRIAD_CONGESTION_NO_SWEEP:
		return "no sweep has ended since counters are read here: 'triadctl perf "
		       "sweep' makes one";
	case TRIAD_CONGESTION_NO_ROUTES:
		return "no routes are known here, which it is explained by: ask on the "
		       "host of the SM that is master; routes.enabled must be true";
	case TRIAD_CONGESTION_NO_COUNTERS:
		return "counters are not read here, which it is seen by: ask on the host "
		       "of the SM that is master, with perfmgr.role = master or any";
	case TRIAD_CONGESTION_NO_MEMORY:
		return "not enough memory to explain congestion; it is tried again after "
		       "the next sweep";
	case TRIAD_CONGESTION_KNOWN:
		break;
	}
	return NULL;
}

/* --- explaining a sweep --- */

static bool must_stop_watching(void *context)
{
	struct triad_congestion_watcher *watcher = context;

	return TRIAD_LOCKED(
		&watcher->lock, watcher->task.must_end || !watcher->enabled);
}

/* Counts turns again when 'routes' are new.  Keeps the learnt matrix if the forwarding
 * tables are the same as before. */
static int count_turns(
	struct triad_congestion_watcher *watcher, struct triad_route_result *routes)
{
	int error;

	if (watcher->turned == routes)
		return 0;
	if (!watcher->turned || watcher->turned->hash != routes->hash)
		triad_congestion_matrix_clear(&watcher->matrix);
	triad_congestion_turns_free(watcher->turns);
	triad_congestion_planes_clear(&watcher->planes);
	triad_route_result_unref(watcher->turned);
	watcher->turned = NULL;
	error = triad_congestion_turns_make(
		routes->check->layout, must_stop_watching, watcher, &watcher->turns);
	if (!error)
		error = triad_congestion_planes_make(
			&watcher->planes, routes->check->layout, routes->sls);
	if (!error)
		watcher->turned = triad_route_result_ref(routes);
	else
		triad_congestion_matrix_clear(&watcher->matrix);
	return error;
}

/* Updates the matrix; without it more hosts are undecided, but no root is lost.
 * Returns 0 or an errno why it is not known. */
static int learn(struct triad_congestion_watcher *watcher,
	const struct triad_congestion_load *loads)
{
	int error =
		triad_congestion_matrix_learn(&watcher->matrix, watcher->turns, loads);

	if (error && !watcher->is_matrix_logged)
		triad_log_write(watcher->log, TRIAD_LOG_INFO,
			"congestion: who sends to whom is not estimated: %s; more hosts "
			"are undecided between contributor and victim",
			error == E2BIG ? "too many hosts send at once"
				       : strerror(error));
	watcher->is_matrix_logged = error;
	return error;
}

static int explain_congestion(struct triad_congestion_watcher *watcher,
	const struct triad_view *view, struct triad_route_result *routes,
	const struct triad_congestion_limits *limits,
	struct triad_congestion_result **result)
{
	const struct triad_fabric *fabric = routes->check->layout->fabric;
	uint64_t begun_us = triad_clock_now_us();
	struct counted *counted = calloc(1, sizeof(*counted));
	struct triad_congestion_load *loads = triad_congestion_loads_of(view, fabric);
	struct triad_congestion_by_vl by_vl = {0};
	int error = counted && loads ? count_turns(watcher, routes) : ENOMEM;

	if (!error)
		error = triad_congestion_read_by_vl(
			view, fabric, loads, &watcher->planes, limits, &by_vl);
	if (!error) {
		counted->result.n_by_vl = by_vl.n;
		counted->result.is_matrix_full = learn(watcher, loads) == E2BIG;
		error = triad_congestion_find(watcher->turns, loads, limits, &by_vl,
			&watcher->matrix, &counted->result.found);
	}
	free((void *)by_vl.waits);
	if (error) {
		free(loads);
		free(counted);
		return error;
	}
	compare_with_last(watcher, fabric, counted->result.found, limits);
	keep_loads(watcher, loads, routes);
	atomic_init(&counted->refs, 1);
	counted->result.routes = triad_route_result_ref(routes);
	counted->result.swept_us = triad_clock_now_us();
	counted->result.took_us = counted->result.swept_us - begun_us;
	*result = &counted->result;
	return 0;
}

/* --- for alerts --- */

static void add_explained(struct triad_congestion_result *result,
	const struct triad_fabric *fabric, bool *is_in, uint32_t port)
{
	if (is_in[port])
		return;
	is_in[port] = true;
	result->explained[result->n_explained++] = (struct triad_congestion_place){
		.node_guid = fabric->nodes[fabric->ports[port].node].guid,
		.port = fabric->ports[port].number};
}

/* Returns 0 or ENOMEM. */
static int fill_explained(struct triad_congestion_watcher *watcher,
	struct triad_congestion_result *result, bool is_missed)
{
	const struct triad_fabric *fabric = result->routes->check->layout->fabric;
	const struct triad_congestion *found = result->found;
	struct triad_congestion_result *last =
		is_missed ? triad_congestion_watcher_result(watcher) : NULL;
	uint32_t n_last = last ? last->n_explained_now : 0;
	size_t room = (size_t)found->n_waiting + found->n_roots + n_last + 1;
	bool *is_in = calloc(fabric->n_ports + 1u, sizeof(*is_in));

	result->explained = calloc(room, sizeof(*result->explained));
	if (!is_in || !result->explained) {
		free(is_in);
		triad_congestion_result_unref(last);
		return ENOMEM;
	}
	for (uint32_t i = 0; i < found->n_roots; i++) {
		const struct triad_congestion_root *root = &found->roots[i];

		add_explained(result, fabric, is_in, root->port);
		for (uint32_t k = 0; k < root->n_waiting; k++)
			add_explained(result, fabric, is_in, root->waiting[k]);
	}
	free(is_in);
	result->n_explained_now = result->n_explained;
	for (uint32_t i = 0; i < n_last; i++)
		result->explained[result->n_explained++] = last->explained[i];
	triad_congestion_result_unref(last);
	return 0;
}

static uint64_t key_of(const struct triad_congestion_tracked *root)
{
	/* The VL at the begin: when the VL becomes known later, the root is the
	 * same. */
	return root->node_guid ^ (uint64_t)root->port << 56 ^
		(uint64_t)root->begun_vl << 48;
}

void triad_congestion_watcher_give(
	struct triad_congestion_watcher *watcher, struct triad_found *found)
{
	struct triad_congestion_result *result =
		triad_congestion_watcher_result(watcher);

	if (!result)
		return;
	triad_found_explain_until(found, result->until_us);
	for (uint32_t i = 0; i < result->n_tracked; i++) {
		const struct triad_congestion_tracked *root = &result->tracked[i];
		const struct triad_alert_finding finding = {
			.cause = TRIAD_ALERT_CONGESTION,
			.value = (float)root->n_waiting,
			.since_us = root->since_us,
			.congestion = {root->kind, root->vl, (float)root->loss_bps}};

		triad_found_add(
			found, root->node_guid, root->port, key_of(root), &finding);
	}
	for (uint32_t i = 0; i < result->n_explained; i++)
		triad_found_explain(found, result->explained[i].node_guid,
			result->explained[i].port);
	triad_congestion_result_unref(result);
}

/* --- the thread --- */

static const char *name_of(
	const struct triad_congestion_watcher *watcher, uint64_t guid)
{
	const struct triad_fabric_node *node =
		triad_fabric_node_by_guid(watcher->log_fabric, guid);

	return node ? node->name : "a node that is gone";
}

static void log_root(void *context, enum triad_congestion_change change,
	const struct triad_congestion_tracked *root)
{
	struct triad_congestion_watcher *watcher = context;
	char what[256] = "is over", vl[16] = "";

	if (root->vl != TRIAD_CONGESTION_NO_VL)
		snprintf(vl, sizeof(vl), " VL%u", root->vl);
	if (change == TRIAD_CONGESTION_BEGUN)
		snprintf(what, sizeof(what),
			"holds up others; 'triadctl congestion' shows whom, and what to "
			"do");
	if (change == TRIAD_CONGESTION_MOVED)
		snprintf(what, sizeof(what),
			"holds up those that waited for %s (0x%016" PRIx64
			") port %u before: it has moved",
			name_of(watcher, root->from_guid), root->from_guid,
			root->from_port);
	triad_log_write(watcher->log,
		change == TRIAD_CONGESTION_ENDED ? TRIAD_LOG_INFO : TRIAD_LOG_WARNING,
		"congestion: %s at %s (0x%016" PRIx64 ") port %u%s %s",
		triad_congestion_kind_name(root->kind),
		name_of(watcher, root->node_guid), root->node_guid, root->port, vl,
		what);
}

/* Adds a result to the track, and the tracked roots to the result.  NULL: nothing is
 * known.  Returns 0 or ENOMEM. */
static int track_roots(struct triad_congestion_watcher *watcher,
	struct triad_congestion_result *result)
{
	const struct triad_fabric *fabric =
		result ? result->routes->check->layout->fabric : NULL;
	struct triad_congestion_track *track = &watcher->track;
	bool is_missed = false;

	watcher->log_fabric = fabric ? fabric
		: watcher->turned    ? watcher->turned->check->layout->fabric
				     : NULL;
	triad_congestion_track_add(track, fabric, result ? result->found : NULL,
		triad_clock_now_us(), log_root, watcher);
	watcher->log_fabric = NULL;
	if (!result) {
		keep_loads(watcher, NULL, NULL);
		return 0;
	}
	for (uint32_t i = 0; i < result->found->n_roots; i++) {
		const struct triad_fabric_port *port =
			&fabric->ports[result->found->roots[i].port];
		const struct triad_congestion_tracked *root =
			triad_congestion_track_find(track,
				fabric->nodes[port->node].guid, port->number,
				result->found->roots[i].vl);

		result->since_us[i] = root ? root->since_us : result->swept_us;
		result->since_at_least[i] = !root || root->since_at_least;
	}
	result->n_tracked = track->n;
	for (uint32_t i = 0; i < track->n; i++) {
		result->tracked[i] = track->roots[i];
		is_missed |= track->roots[i].n_missed > 0;
	}
	return fill_explained(watcher, result, is_missed);
}

static enum triad_congestion_state congestion_state_of(
	const struct triad_congestion_watcher *watcher, bool has_swept,
	const struct triad_route_result *routes)
{
	switch (triad_perf_state(watcher->perf)) {
	case TRIAD_PERF_DISABLED:
	case TRIAD_PERF_OTHER_ROLE:
		return TRIAD_CONGESTION_NO_COUNTERS;
	default:
		return !routes      ? TRIAD_CONGESTION_NO_ROUTES
			: has_swept ? TRIAD_CONGESTION_KNOWN
				    : TRIAD_CONGESTION_NO_SWEEP;
	}
}

/* Explains the sweep that ended at 'ended_us', unless it has been explained.  Without
 * the lock. */
static void explain_sweep(struct triad_congestion_watcher *watcher,
	const struct triad_congestion_limits *limits, uint64_t ended_us)
{
	struct triad_view *view = triad_perf_view(watcher->perf);
	struct triad_route_result *routes = triad_route_checker_result(watcher->routes);
	struct triad_congestion_result *result = NULL;
	enum triad_congestion_state state =
		congestion_state_of(watcher, view && ended_us, routes);
	bool is_new = state != watcher->looked_state || ended_us != watcher->ended_us;
	int error = 0;

	/* In other states the next look tries again. */
	if (is_new && state == TRIAD_CONGESTION_KNOWN)
		error = explain_congestion(watcher, view, routes, limits, &result);
	if (result)
		result->until_us = ended_us;
	if (is_new && error != ECANCELED)
		error = track_roots(watcher, result);
	triad_route_result_unref(routes);
	triad_view_unref(view);
	if (!is_new || error == ECANCELED)
		return;
	watcher->looked_state = state;
	watcher->ended_us = ended_us;
	if (error) {
		triad_congestion_result_unref(result);
		result = NULL;
		state = TRIAD_CONGESTION_NO_MEMORY;
	}
	pthread_mutex_lock(&watcher->lock);
	if (watcher->enabled)
		publish_result(watcher, result, state);
	else
		triad_congestion_result_unref(result);
	pthread_mutex_unlock(&watcher->lock);
	triad_perf_note_findings(watcher->perf);
}

/* Ends all roots when the watcher is disabled. */
static void end_all_roots(struct triad_congestion_watcher *watcher)
{
	(void)track_roots(watcher, NULL);
	watcher->looked_state = TRIAD_CONGESTION_OFF;
	triad_perf_note_findings(watcher->perf);
}

/* The end of the last sweep; 0: none has ended since this process reads counters. */
static uint64_t last_ended_us(const struct triad_congestion_watcher *watcher)
{
	uint64_t ended_us = triad_perf_status(watcher->perf).ended_us;

	return ended_us < triad_perf_reads_since(watcher->perf) ? 0 : ended_us;
}

static uint64_t watch_congestion(void *context)
{
	struct triad_congestion_watcher *watcher = context;
	struct triad_congestion_limits limits = watcher->limits;
	bool is_enabled = watcher->enabled;

	if (watcher->is_begun)
		watcher->looked_state = TRIAD_CONGESTION_OFF;
	watcher->is_begun = false;
	pthread_mutex_unlock(&watcher->lock);
	if (is_enabled)
		explain_sweep(watcher, &limits, last_ended_us(watcher));
	else
		end_all_roots(watcher);
	pthread_mutex_lock(&watcher->lock);
	return TRIAD_TASK_DONE;
}
