/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/collector_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "triad/clock.h"
#include "triad/thread.h"

/* --- life --- */

void collector_plan_groups(struct triad_collector *collector, uint64_t now_us)
{
	for (unsigned i = 0; i < TRIAD_GROUPS_MAX; i++) {
		const struct triad_conf_group *group =
			i < triad_groups_count(collector->groups)
			? triad_groups_get(collector->groups, i)
			: NULL;

		collector->group_due_us[i] =
			group && group->sweep_period_s && !group->skip
			? now_us + group->sweep_period_s * TRIAD_US_PER_S
			: UINT64_MAX;
	}
}

static void drop_alert(
	void *context, enum triad_alert_change change, const struct triad_alert *alert)
{
}

struct triad_collector *triad_collector_new(const struct triad_collector_clock *clock,
	const struct triad_alerts_sink *alerts_sink, struct triad_log *log)
{
	static const struct triad_alerts_sink nowhere = {.take = drop_alert};
	struct triad_collector *collector = calloc(1, sizeof(*collector));
	struct triad_sweep_sink sink;

	if (!collector)
		return NULL;
	collector->clock = *clock;
	collector->log = log;
	collector->send_limit =
		(struct triad_log_limit){.burst = 1, .period_us = 60 * TRIAD_US_PER_S};
	collector->reset_limit =
		(struct triad_log_limit){.burst = 10, .period_us = 60 * TRIAD_US_PER_S};
	collector->max_difference = collector->disbelieved_limit =
		(struct triad_log_limit){.burst = 10, .period_us = 60 * TRIAD_US_PER_S};
	pthread_mutex_init(&collector->published_lock, NULL);
	collector->engine = triad_engine_new();
	sink = collector_sink(collector);
	collector->sweep = triad_sweep_new(&sink);
	collector->watch = triad_watch_new(alerts_sink ? alerts_sink : &nowhere);
	collector->groups = triad_groups_new(NULL);
	if (!collector->engine || !collector->sweep || !collector->watch ||
		!collector->groups) {
		triad_collector_free(collector);
		return NULL;
	}
	collector_plan_groups(collector, 0);
	return collector;
}

void triad_collector_free(struct triad_collector *collector)
{
	if (!collector)
		return;
	triad_watch_free(collector->watch);
	triad_view_unref(collector->view);
	triad_groups_unref(collector->groups);
	triad_sweep_free(collector->sweep);
	triad_engine_free(collector->engine);
	triad_fabric_unref(collector->fabric);
	pthread_mutex_destroy(&collector->published_lock);
	free(collector);
}

/* --- for the owner --- */

void triad_collector_set_transport(
	struct triad_collector *collector, const struct triad_mad_transport *transport)
{
	collector->transport = transport;
}

void triad_collector_set_params(
	struct triad_collector *collector, const struct triad_collector_params *params)
{
	uint64_t started_us = collector->status.started_us;

	/* The due time comes from the old period.  Without one (after a pause) a sweep
	 * is due at once anyway. */
	if (collector->due_us && started_us &&
		params->period_us != collector->params.period_us)
		collector->due_us = started_us + params->period_us;
	collector->params = *params;
	/* Publish it now: readers compare the age of the last sweep with it. */
	pthread_mutex_lock(&collector->published_lock);
	collector->status.period_us = params->period_us;
	pthread_mutex_unlock(&collector->published_lock);
}

int triad_collector_configure(
	struct triad_collector *collector, const struct triad_conf *conf)
{
	struct triad_groups *groups = triad_groups_new(conf);

	triad_watch_configure(collector->watch, conf, collector->params.is_part,
		collector_now(collector));
	if (!groups)
		return ENOMEM;
	/* Keep the object if the groups are equal, so that the view and its histograms
	 * continue. */
	if (triad_groups_are_equal(groups, collector->groups)) {
		triad_groups_unref(groups);
		return 0;
	}
	triad_groups_unref(collector->groups);
	collector->groups = groups;
	collector->groups_looked_at = false;
	collector_plan_groups(collector, collector_now(collector));
	/* The view says which port is in which group, so the present fabric is adopted
	 * again.  A fabric that waits gets the new groups anyway. */
	if (collector->view && !collector->fabric)
		triad_collector_set_fabric(collector, collector->view->fabric);
	return 0;
}

void triad_collector_set_fabric(
	struct triad_collector *collector, struct triad_fabric *fabric)
{
	triad_fabric_unref(collector->fabric);
	collector->fabric = triad_fabric_ref(fabric);
	collector->adopt_failed = false;
}

void triad_collector_sweep_now(struct triad_collector *collector)
{
	collector->sweep_asked = true;
}

/* --- for readers --- */

struct triad_view *triad_collector_view(struct triad_collector *collector)
{
	struct triad_view *view = NULL;

	pthread_mutex_lock(&collector->published_lock);
	if (collector->view)
		view = triad_view_ref(collector->view);
	pthread_mutex_unlock(&collector->published_lock);
	return view;
}

struct triad_collector_status triad_collector_status(struct triad_collector *collector)
{
	return TRIAD_LOCKED(&collector->published_lock, collector->status);
}

struct triad_engine *triad_collector_engine(struct triad_collector *collector)
{
	return collector->engine;
}

struct triad_watch *triad_collector_watch(struct triad_collector *collector)
{
	return collector->watch;
}

/* --- resets --- */

void triad_collector_reset(
	struct triad_collector *collector, const struct triad_selection *selection)
{
	const struct triad_view *view = selection->view;
	uint64_t now_us = collector_now(collector);
	struct triad_engine_row row;

	for (uint32_t i = 0; i < view->fabric->n_ports; i++) {
		uint32_t at;

		if (!selection->chosen[i])
			continue;
		/* The row may have gone to another port since the view was made. */
		if (triad_view_read(view, i, &row))
			triad_engine_zero(collector->engine, view->rows[i], now_us);
		/* The fabric swept now may lack the port, or there may be none. */
		if (!selection->hardware || !collector->view)
			continue;
		at = triad_fabric_find_same_port(
			collector->view->fabric, view->fabric, i);
		if (at != TRIAD_FABRIC_NONE)
			triad_sweep_want_reset(collector->sweep, at);
	}
	/* The resets are sent in a sweep. */
	collector->sweep_asked |= selection->hardware;
}
