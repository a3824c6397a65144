/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Puts offered setups into force, and checks them. */
#include "plugin/opensm.h"

#include <opensm/osm_sm.h>
#include <string.h>

#include "plugin/qos/tables/guard.h"
#include "plugin/qos/tables/tables_parts.h"
#include "plugin/sm_recover.h"
#include "triad/clock.h"

/* The most sweeps to ask for in a row. */
#define MAX_ASKED 4

/* --- offers --- */

/* The state while there is no review to base it on.  The caller holds the lock. */
static enum triad_tables_state state_without_review(const struct triad_tables *tables)
{
	if (tables->status.refused && !tables->setup)
		return tables->status.refusal == TRIAD_TABLES_CLOSES_LOOP
			? TRIAD_TABLES_REFUSED_LOOP
			: TRIAD_TABLES_REFUSED;
	if (tables->setup || tables->dirty)
		return TRIAD_TABLES_WAITING;
	return tables->is_enabled ? TRIAD_TABLES_NO_SETUP : TRIAD_TABLES_OFF;
}

/* Takes over the reference to 'setup'. */
static void put_into_force(
	struct triad_tables *tables, struct triad_setup *setup, bool is_enabled)
{
	struct triad_setup *old;

	pthread_mutex_lock(&tables->lock);
	old = tables->setup;
	tables->setup = setup;
	tables->is_enabled = is_enabled;
	tables->status.refused = false;
	tables->status.refusal = TRIAD_TABLES_PASSES;
	tables->dirty |= setup || old;
	tables->offer++;
	tables->n_asked = 0;
	tables->status.state = state_without_review(tables);
	pthread_mutex_unlock(&tables->lock);
	triad_tables_report_state(tables);
	triad_setup_unref(old);
}

/* Notes the refusal of an offered setup; the one in force stays. */
static void note_refusal(
	struct triad_tables *tables, enum triad_tables_refusal refusal, bool is_enabled)
{
	pthread_mutex_lock(&tables->lock);
	tables->status.n_refused += !tables->status.refused;
	tables->status.refused = true;
	tables->status.refusal = refusal;
	tables->is_enabled = is_enabled;
	if (!tables->setup)
		tables->status.state = state_without_review(tables);
	pthread_mutex_unlock(&tables->lock);
	triad_tables_report_state(tables);
}

/* Notes why the guard could not check the setup in force; NULL: it could. */
static void note_unlooked(struct triad_tables *tables, const char *unlooked)
{
	bool is_new;

	pthread_mutex_lock(&tables->lock);
	is_new = unlooked && !tables->status.unlooked;
	tables->status.unlooked = unlooked;
	pthread_mutex_unlock(&tables->lock);
	if (is_new)
		triad_log_write(tables->log, TRIAD_LOG_WARNING,
			"QoS tables: whether they close a credit loop is not known: "
			"%s; it is looked again after the next sweep",
			unlooked);
}

static enum triad_tables_refusal run_guard(struct triad_tables *tables,
	struct triad_setup *setup, const struct triad_tables_goal *goal,
	const char **unlooked)
{
	const struct triad_tables_guard guard = {.osm = tables->osm,
		.setup = setup,
		.fabric = goal->fabric,
		.sweeps = goal->sweeps,
		.n_sweeps = goal->n_sweeps};

	*unlooked = NULL;
	return goal->guarded ? triad_tables_guard_look(&guard, tables->report, unlooked)
			     : TRIAD_TABLES_PASSES;
}

/* Returns 0 and the setup to put into force (NULL: none), or an errno. */
static int compile(struct triad_tables *tables, const struct triad_tables_goal *goal,
	struct triad_setup **setup)
{
	*setup = NULL;
	if (!goal->policy || !triad_setup_has_scopes(goal->policy))
		return 0;
	if (goal->is_enabled)
		return triad_setup_compile(goal->policy, setup);
	triad_log_write(tables->log, TRIAD_LOG_INFO,
		"%s: its qos-setup is not programmed: qos.tables_enabled is off",
		goal->policy->source);
	return 0;
}

static void offer(struct triad_tables *tables, const struct triad_tables_goal *goal)
{
	struct triad_setup *setup;
	const char *unlooked = NULL;
	int error = compile(tables, goal, &setup);
	enum triad_tables_refusal refusal =
		error ? TRIAD_TABLES_PASSES : run_guard(tables, setup, goal, &unlooked);

	if (error) {
		triad_log_write(tables->log, TRIAD_LOG_ERROR,
			"%s: its qos-setup can't be put into force: %s; the tables "
			"stay as they are",
			goal->policy->source, strerror(error));
	} else if (refusal) {
		triad_setup_unref(setup);
		note_refusal(tables, refusal, goal->is_enabled);
	} else {
		tables->tested = goal->fabric || !goal->guarded;
		put_into_force(tables, setup, goal->is_enabled);
		note_unlooked(tables, unlooked);
	}
}

/* --- reviews --- */

static enum triad_tables_state state_by_review(const struct triad_tables *tables,
	const struct triad_fabric *fabric, const struct triad_setup_plan *plan)
{
	if (!tables->setup)
		return state_without_review(tables);
	if (fabric->qos.engine_has_tables)
		return TRIAD_TABLES_ENGINE;
	return plan->n_changes_total ? TRIAD_TABLES_DIFFERENT : TRIAD_TABLES_IN_FORCE;
}

/* What to do about tables that differ: ask OpenSM for a sweep, wait for one, or report
 * them as lost: a pass with the present setup did not help.  Ask once for the same
 * differences, at most MAX_ASKED times in a row for others; never while OpenSM has
 * trouble, because it sweeps by itself then. */
enum verdict { FINE, ASK, WAIT, LOST };

static enum verdict judge_plan(const struct triad_tables *tables,
	const struct triad_fabric *fabric, const struct triad_setup_plan *plan)
{
	const osm_subn_t *subn = &tables->osm->subn;
	bool is_passed = tables->passed_offer == tables->offer;
	bool may_ask = !subn->subnet_initialization_error && !subn->need_update;

	/* An engine that replaces tables does so in a way unknown here: don't
	 * compare. */
	if (fabric->qos.engine_has_tables ? is_passed : !tables->status.n_different)
		return FINE;
	if (!is_passed)
		return may_ask && tables->asked_offer != tables->offer ? ASK : WAIT;
	if (tables->n_passes_asked == tables->status.n_passes)
		return WAIT;
	if (plan->hash == tables->asked_hash || tables->n_asked == MAX_ASKED)
		return LOST;
	return may_ask ? ASK : LOST;
}

static enum verdict note_review(struct triad_tables *tables,
	const struct triad_fabric *fabric, const struct triad_setup_plan *plan,
	uint64_t took_us)
{
	bool knows = !fabric->qos.engine_has_tables;
	struct triad_tables_status *status = &tables->status;
	enum verdict verdict;

	pthread_mutex_lock(&tables->lock);
	status->review_us = took_us;
	status->n_different = knows ? triad_setup_plan_n_changed(plan) : 0;
	status->n_different_ports = knows ? plan->n_changed_ports : 0;
	status->n_findings = plan->n_findings_total;
	status->n_errors = plan->n_errors;
	status->n_dead_places = plan->n_dead_places;
	verdict = judge_plan(tables, fabric, plan);
	if (verdict == ASK) {
		/* Before the first pass with this setup, all tables differ.  That shows
		 * nothing about what a pass can't change: store no hash. */
		tables->asked_hash =
			tables->passed_offer == tables->offer ? plan->hash : 0;
		tables->asked_offer = tables->offer;
		tables->n_passes_asked = tables->status.n_passes;
		tables->n_asked++;
		tables->status.n_sweeps_asked++;
	} else if (verdict == FINE) {
		tables->n_asked = 0;
	}
	/* Without a setup, remove the hooks once all ports have OpenSM's tables. */
	tables->dirty = tables->setup || verdict != FINE;
	status->state = verdict == ASK || verdict == WAIT
		? TRIAD_TABLES_WAITING
		: state_by_review(tables, fabric, plan);
	pthread_mutex_unlock(&tables->lock);
	triad_tables_report_state(tables);
	return verdict;
}

/* Compares the fabric's tables with the setup in force, or with OpenSM's tables. */
static void review(struct triad_tables *tables, const struct triad_tables_goal *goal)
{
	struct triad_setup *setup = triad_tables_setup(tables);
	uint64_t begun_us = triad_clock_now_us();
	struct triad_setup_plan *plan;
	enum verdict verdict;

	if (triad_setup_plan_make(setup, goal->fabric, &plan)) {
		pthread_mutex_lock(&tables->lock);
		tables->status.state = TRIAD_TABLES_NO_MEMORY;
		pthread_mutex_unlock(&tables->lock);
		triad_tables_report_state(tables);
		triad_setup_unref(setup);
		return;
	}
	if (setup)
		triad_tables_report_findings(
			tables->report, plan, triad_setup_policy(setup), goal->fabric);
	verdict = note_review(
		tables, goal->fabric, plan, triad_clock_now_us() - begun_us);
	/* Don't ask if a sweep began meanwhile: it makes a pass. */
	if (verdict == ASK && atomic_load(goal->sweeps) == goal->n_sweeps)
		(void)triad_sm_sweep_as_master(tables->osm);
	else if (verdict == LOST)
		triad_tables_report_different(tables->report, plan, goal->fabric);
	triad_setup_plan_free(plan);
	triad_setup_unref(setup);
}

static bool needs_review(struct triad_tables *tables, bool qos)
{
	bool has_tables;

	pthread_mutex_lock(&tables->lock);
	has_tables = tables->setup || tables->dirty;
	if (has_tables && !qos)
		tables->status.state = TRIAD_TABLES_NO_QOS;
	pthread_mutex_unlock(&tables->lock);
	triad_tables_report_state(tables);
	return has_tables && qos;
}

/* If there was no fabric when a setup was offered, as at the SM's start, the guard
 * checks it on the first one.  A setup that has passed once is never withdrawn: a new
 * port must not change all others. */
static void test_first(
	struct triad_tables *tables, const struct triad_tables_goal *goal)
{
	struct triad_setup *setup = triad_tables_setup(tables);
	bool is_first = !tables->tested;
	enum triad_tables_refusal refusal = TRIAD_TABLES_PASSES;
	const char *unlooked = NULL;

	if (setup && (is_first || triad_tables_status(tables).unlooked)) {
		refusal = run_guard(tables, setup, goal, &unlooked);
		note_unlooked(tables, unlooked);
	}
	/* After the first check, keep it in any case; the check of routes raises an
	 * alert. */
	if (refusal && is_first) {
		put_into_force(tables, NULL, goal->is_enabled);
		note_refusal(tables, refusal, goal->is_enabled);
	}
	tables->tested = true;
	triad_setup_unref(setup);
}

void triad_tables_see_to(
	struct triad_tables *tables, const struct triad_tables_goal *goal)
{
	bool is_new = goal->fabric && goal->is_settled &&
		goal->fabric->generation != tables->reviewed;
	bool is_new_goal = !tables->offered || tables->policy != goal->policy ||
		tables->offered_enabled != goal->is_enabled ||
		tables->offered_guarded != goal->guarded;

	/* A refused setup may be acceptable in another fabric. */
	if (is_new_goal || (is_new && triad_tables_status(tables).refused)) {
		/* Log the findings anew for another policy. */
		if (tables->policy != goal->policy)
			triad_tables_report_forget(tables->report);
		triad_policy_unref(tables->policy);
		tables->policy = goal->policy ? triad_policy_ref(goal->policy) : NULL;
		tables->offered_enabled = goal->is_enabled;
		tables->offered_guarded = goal->guarded;
		tables->offered = true;
		offer(tables, goal);
	}
	pthread_mutex_lock(&tables->lock);
	tables->status.n_loads = goal->n_loads;
	pthread_mutex_unlock(&tables->lock);
	if (!goal->fabric || !goal->is_settled || (!is_new_goal && !is_new))
		return;
	tables->reviewed = goal->fabric->generation;
	test_first(tables, goal);
	if (needs_review(tables, goal->fabric->sa.qos))
		review(tables, goal);
}
