/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/heal/healer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/hash.h"
#include "lib/task.h"
#include "perfmgr/watch/finders.h"
#include "plugin/damp/damper.h"
#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "service/heal_view.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define PERIOD_US (3 * TRIAD_US_PER_S)
/* More the port manager does not heal at once. */
#define MAX_HEALED (TRIAD_PORTS_MAX_JUDGED / 2)

struct triad_healer {
	struct triad_plugin *plugin;
	pthread_mutex_t lock; /* of what follows, held for a copy */
	struct triad_task task;
	struct triad_healer_status status;
	uint32_t n_stay_out;
	uint64_t out_guid; /* the switch and the port of one of these */
	uint8_t out_number;

	/* Of the thread alone. */
	struct triad_ports_verdicts verdicts;
};

/* --- verdicts --- */

static uint64_t read_us(const struct triad_view *view, uint64_t guid, uint8_t number)
{
	uint32_t port = triad_fabric_port_at(view->fabric, guid, number);
	struct triad_engine_row row;

	return port != TRIAD_FABRIC_NONE && triad_view_read(view, port, &row) &&
			row.answered
		? row.read_us
		: 0;
}

static struct triad_ports_judged *add_judged(
	struct triad_healer *healer, const struct triad_damp_ends *ends)
{
	struct triad_ports_verdicts *verdicts = &healer->verdicts;

	for (uint32_t i = 0; i < verdicts->n; i++)
		if (triad_damp_is_same(&verdicts->links[i].ends, ends))
			return &verdicts->links[i];
	if (verdicts->n == TRIAD_PORTS_MAX_JUDGED)
		return NULL;
	verdicts->links[verdicts->n] = (struct triad_ports_judged){.ends = *ends};
	return &verdicts->links[verdicts->n++];
}

/* Those on probation first: they must find room. */
static void add_healed(struct triad_healer *healer,
	const struct triad_ports_healed healed[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (healed[i].course.state == TRIAD_COURSE_PROBATION)
			(void)add_judged(healer, &healed[i].ends);
}

/* Not a hot module, nor one without light.  A link that goes down and up is held by damping. */
static bool is_cured_by_retraining(const struct triad_heal_finding *worst)
{
	return worst->kind == TRIAD_HEAL_BIT_ERRORS ||
		worst->kind == TRIAD_HEAL_ERRORS || worst->kind == TRIAD_HEAL_SLOW;
}

static void add_bad(struct triad_healer *healer, const struct triad_heal_plan *plan)
{
	for (uint32_t i = 0; i < plan->n; i++) {
		const struct triad_heal_proposal *proposal = &plan->proposals[i];
		const struct triad_heal_finding *worst =
			&plan->findings[proposal->first];
		struct triad_damp_ends ends;
		struct triad_ports_judged *judged;

		if (!triad_damp_ends_at(plan->fabric, proposal->port, &ends) ||
			!triad_damp_is_of_switches(plan->fabric, &ends))
			continue;
		judged = add_judged(healer, &ends);
		if (!judged)
			return;
		judged->is_bad = true;
		/* Somebody who silenced it is at work there, or knows. */
		judged->may_take = proposal->why == TRIAD_HEAL_TAKE &&
			is_cured_by_retraining(worst) && !worst->silence;
		judged->since_us = worst->since_us;
		judged->wanted = worst->wanted;
		snprintf(judged->text, sizeof(judged->text), "%.*s",
			(int)sizeof(judged->text) - 1, worst->text);
	}
}

static void judge(struct triad_healer *healer, const struct triad_heal_view *view,
	const struct triad_ports_healed healed[], uint32_t n_healed)
{
	struct triad_ports_verdicts *verdicts = &healer->verdicts;

	verdicts->n = 0;
	verdicts->generation = view->view->fabric->generation;
	add_healed(healer, healed, n_healed);
	add_bad(healer, view->plan);
	for (uint32_t i = 0; i < verdicts->n; i++) {
		struct triad_ports_judged *judged = &verdicts->links[i];

		judged->read_us = triad_clock_earlier(
			read_us(view->view, judged->ends.guid, judged->ends.number),
			read_us(view->view, judged->ends.far_guid,
				judged->ends.far_number));
	}
}

/* --- the thread --- */

static void note_stay_out(struct triad_healer *healer,
	const struct triad_ports_healed healed[], uint32_t n)
{
	pthread_mutex_lock(&healer->lock);
	healer->n_stay_out = 0;
	for (uint32_t i = 0; i < n; i++)
		if (healed[i].course.state == TRIAD_COURSE_STAYS_OUT &&
			!healer->n_stay_out++) {
			/* At the near end the damper may have an alert of this cause. */
			healer->out_guid = healed[i].ends.far_guid;
			healer->out_number = healed[i].ends.far_number;
		}
	pthread_mutex_unlock(&healer->lock);
}

static void look(struct triad_healer *healer)
{
	struct triad_ports_healed healed[MAX_HEALED];
	uint32_t n_healed =
		triad_ports_healed(healer->plugin->ports, healed, MAX_HEALED);
	struct triad_healer_status status = {0};
	struct triad_heal_view view;
	uint64_t begun_us = triad_clock_now_us();
	int error = triad_heal_view_make(&view, &healer->plugin->service, 0);

	/* What was read before says nothing of the time since. */
	healer->verdicts.generation = healer->verdicts.n = 0;
	status.not_known = error
		? "there is no view of the fabric, or no memory for a plan"
		: view.no_evidence;
	if (!error && !view.no_evidence)
		judge(healer, &view, healed, n_healed);
	note_stay_out(healer, healed, n_healed);
	status.is_known = healer->verdicts.generation;
	for (uint32_t i = 0; status.is_known && i < healer->verdicts.n; i++) {
		status.n_bad += healer->verdicts.links[i].is_bad;
		status.n_take += healer->verdicts.links[i].may_take;
	}
	triad_heal_view_clear(&view);
	status.plan_us = triad_clock_now_us() - begun_us;
	triad_ports_set_verdicts(healer->plugin->ports, &healer->verdicts);
	pthread_mutex_lock(&healer->lock);
	status.mode = healer->status.mode;
	healer->status = status;
	pthread_mutex_unlock(&healer->lock);
}

static uint64_t look_when_due(void *context)
{
	struct triad_healer *healer = context;

	if (healer->status.mode == TRIAD_HEAL_OFF) {
		healer->n_stay_out = 0;
		return TRIAD_TASK_DONE;
	}
	pthread_mutex_unlock(&healer->lock);
	look(healer);
	pthread_mutex_lock(&healer->lock);
	return triad_clock_now_us() + PERIOD_US;
}

/* --- life --- */

struct triad_healer *triad_healer_new(struct triad_plugin *plugin)
{
	struct triad_healer *healer = calloc(1, sizeof(*healer));

	if (!healer)
		return NULL;
	healer->plugin = plugin;
	pthread_mutex_init(&healer->lock, NULL);
	triad_task_init(
		&healer->task, &healer->lock, "triad-heal", look_when_due, healer);
	return healer;
}

void triad_healer_stop(struct triad_healer *healer)
{
	if (healer)
		(void)triad_task_stop(&healer->task, UINT64_MAX);
}

void triad_healer_free(struct triad_healer *healer)
{
	if (!healer)
		return;
	triad_task_clear(&healer->task);
	pthread_mutex_destroy(&healer->lock);
	free(healer);
}

void triad_healer_configure(struct triad_healer *healer, const struct triad_conf *conf)
{
	int error = 0;

	pthread_mutex_lock(&healer->lock);
	healer->status.mode = conf->heal.mode;
	if (conf->heal.mode != TRIAD_HEAL_OFF)
		error = triad_task_start(&healer->task);
	healer->status.error = error;
	triad_task_wake(&healer->task);
	pthread_mutex_unlock(&healer->lock);
	if (error)
		triad_log_write(healer->plugin->service.log, TRIAD_LOG_ERROR,
			"heal: there is no thread for it; type 'triadctl reload' to try "
			"again");
}

void triad_healer_status(
	struct triad_healer *healer, struct triad_healer_status *status)
{
	struct triad_ports_status ports;

	*status = TRIAD_LOCKED(&healer->lock, healer->status);
	triad_ports_status(healer->plugin->ports, &ports);
	status->waits = ports.heal_waits;
	status->n_out = ports.n_heal_out;
	status->n_stay_out = ports.n_heal_stay_out;
	status->n_on_probation = ports.n_heal_on_probation;
}

void triad_healer_give(void *context, struct triad_found *found)
{
	struct triad_healer *healer = context;
	struct triad_alert_finding finding = {
		.cause = TRIAD_ALERT_ROUTES, .routes = TRIAD_ALERT_STAYS_OUT};
	uint64_t guid;
	uint8_t number;

	pthread_mutex_lock(&healer->lock);
	finding.value = (float)healer->n_stay_out;
	guid = healer->out_guid;
	number = healer->out_number;
	pthread_mutex_unlock(&healer->lock);
	if (finding.value > 0)
		triad_found_add(found, guid, number,
			triad_hash_word(
				triad_hash_word(TRIAD_ALERT_STAYS_OUT, guid), number),
			&finding);
}

const char *triad_healer_missing(struct triad_healer *healer)
{
	struct triad_plugin *plugin = healer->plugin;
	struct triad_ports_status ports;

	triad_ports_status(plugin->ports, &ports);
	if (!ports.is_enabled)
		return "nothing is done: port.enabled is false";
	if (!ports.is_enforcing)
		return "nothing is done: port.mode is observe";
	if (triad_damper_status(plugin->damper).mode != TRIAD_DAMP_ACT)
		return "nothing is done: damp.mode is not act, so no link can be held";
	if (!ports.may_act)
		return "nothing is done: the port manager may not act ('port plan' says why)";
	return NULL;
}
