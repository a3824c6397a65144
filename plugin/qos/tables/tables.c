/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/qos/tables/tables.h"

#include <inttypes.h>
#include <opensm/osm_sm.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/qos/tables/hooks.h"
#include "plugin/qos/tables/tell.h"
#include "triad/clock.h"

/* Sweeps that are asked for in a row. */
#define MAX_ASKED 4

struct triad_tables {
	struct osm_opensm *osm;
	struct triad_log *log;

	/* triad-qos alone. */
	struct triad_tell *tell;
	struct triad_policy *policy; /* whose setup was offered last */
	bool offered, offered_wanted, offered_guarded;
	uint64_t reviewed; /* generation of the last fabric */

	/* The SM's thread alone. */
	struct triad_tables_pass *pass;
	bool in_pass;
	bool hooked;

	pthread_mutex_t lock; /* of what follows */
	struct triad_setup *setup;
	bool wanted;
	bool refused;
	bool dirty;     /* there may be tables in the fabric that are not OpenSM's */
	uint64_t offer; /* counts what was put into force */
	uint64_t begun_offer, passed_offer; /* of the pass that runs; of the last one */
	/* When a sweep was asked for last: of what, which differences, how many passes
	 * there had been. */
	uint64_t asked_offer, asked_hash, n_passes_asked;
	unsigned n_asked; /* in a row */
	struct triad_tables_status status;
};

const char *triad_tables_state_name(enum triad_tables_state state)
{
	static const char *const names[TRIAD_TABLES_N_STATES] = {
		[TRIAD_TABLES_OFF] = "off",
		[TRIAD_TABLES_NO_SETUP] =
			"OpenSM's: there is no policy with a qos-setup",
		[TRIAD_TABLES_NO_QOS] = "none: OpenSM runs without QoS ('qos TRUE' in "
					"opensm.conf begins it)",
		[TRIAD_TABLES_WAITING] = "waiting for a sweep",
		[TRIAD_TABLES_IN_FORCE] = "in force",
		[TRIAD_TABLES_DIFFERENT] = "some ports have others than they should",
		[TRIAD_TABLES_ENGINE] =
			"in force, as far as the routing engine lets them",
		[TRIAD_TABLES_REFUSED] =
			"refused: they would cut the SM off from hosts",
		[TRIAD_TABLES_NO_MEMORY] = "not enough memory: OpenSM's",
	};

	return state < TRIAD_TABLES_N_STATES ? names[state] : "unknown";
}

struct triad_tables *triad_tables_new(struct osm_opensm *osm, struct triad_log *log)
{
	struct triad_tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return NULL;
	tables->osm = osm;
	tables->log = log;
	pthread_mutex_init(&tables->lock, NULL);
	tables->pass = triad_tables_pass_new(osm);
	tables->tell = triad_tell_new(log);
	if (tables->pass && tables->tell)
		return tables;
	triad_tables_free(tables);
	return NULL;
}

void triad_tables_free(struct triad_tables *tables)
{
	if (!tables)
		return;
	triad_tables_pass_free(tables->pass);
	triad_tell_free(tables->tell);
	triad_policy_unref(tables->policy);
	triad_setup_unref(tables->setup);
	pthread_mutex_destroy(&tables->lock);
	free(tables);
}

/* --- offers --- */

/* The caller holds the lock. */
static void set_state(struct triad_tables *tables, enum triad_tables_state state)
{
	if (tables->status.state == state)
		return;
	tables->status.state = state;
	triad_log_write(tables->log,
		state == TRIAD_TABLES_NO_MEMORY || state == TRIAD_TABLES_REFUSED ||
				state == TRIAD_TABLES_DIFFERENT
			? TRIAD_LOG_ERROR
			: TRIAD_LOG_INFO,
		"QoS tables: %s", triad_tables_state_name(state));
}

static enum triad_tables_state state_without_review(const struct triad_tables *tables)
{
	if (tables->refused && !tables->setup)
		return TRIAD_TABLES_REFUSED;
	if (tables->setup || tables->dirty)
		return TRIAD_TABLES_WAITING;
	return tables->wanted ? TRIAD_TABLES_NO_SETUP : TRIAD_TABLES_OFF;
}

/* Takes over the reference to 'setup'. */
static void put_into_force(struct triad_tables *tables, struct triad_setup *setup,
	bool wanted, bool refused)
{
	struct triad_setup *old;

	pthread_mutex_lock(&tables->lock);
	old = tables->setup;
	tables->setup = setup;
	tables->wanted = wanted;
	tables->refused = refused;
	tables->dirty |= setup || old;
	tables->offer++;
	tables->n_asked = 0;
	set_state(tables, state_without_review(tables));
	pthread_mutex_unlock(&tables->lock);
	triad_setup_unref(old);
	triad_tell_forget(tables->tell);
}

/* True when hosts would be out of the SM's reach; says so. */
static bool cuts_off(struct triad_tables *tables, struct triad_setup *setup,
	const struct triad_fabric *fabric)
{
	struct triad_setup_plan *plan;
	bool cuts;

	if (!setup || !fabric || triad_setup_plan_make(setup, fabric, &plan))
		return false;
	cuts = plan->n_cut_off;
	if (cuts)
		triad_tell_cut_off(
			tables->tell, plan, triad_setup_policy(setup), fabric);
	triad_setup_plan_free(plan);
	return cuts;
}

static void refuse(struct triad_tables *tables, bool wanted)
{
	pthread_mutex_lock(&tables->lock);
	tables->status.n_refused++;
	tables->refused = true;
	tables->wanted = wanted;
	set_state(tables, state_without_review(tables));
	pthread_mutex_unlock(&tables->lock);
}

/* 0 and the setup that is wished for, which may be none; or an errno. */
static int compile(struct triad_tables *tables, const struct triad_tables_wish *wish,
	struct triad_setup **setup)
{
	*setup = NULL;
	if (!wish->policy || !triad_setup_is_wanted(wish->policy))
		return 0;
	if (wish->wanted)
		return triad_setup_compile(wish->policy, setup);
	triad_log_write(tables->log, TRIAD_LOG_INFO,
		"%s: its qos-setup is not programmed: qos.tables_enabled is off",
		wish->policy->source);
	return 0;
}

static void offer(struct triad_tables *tables, const struct triad_tables_wish *wish)
{
	struct triad_setup *setup;
	int error = compile(tables, wish, &setup);

	if (error) {
		triad_log_write(tables->log, TRIAD_LOG_ERROR,
			"%s: its qos-setup can't be put into force: %s; the tables "
			"stay as they are",
			wish->policy->source, strerror(error));
	} else if (wish->guarded && cuts_off(tables, setup, wish->settled)) {
		refuse(tables, wish->wanted);
		triad_setup_unref(setup);
	} else {
		put_into_force(tables, setup, wish->wanted, false);
	}
	triad_policy_unref(tables->policy);
	tables->policy = wish->policy ? triad_policy_ref(wish->policy) : NULL;
	tables->offered_wanted = wish->wanted;
	tables->offered_guarded = wish->guarded;
	tables->offered = true;
}

struct triad_setup *triad_tables_setup(struct triad_tables *tables)
{
	struct triad_setup *setup;

	pthread_mutex_lock(&tables->lock);
	setup = tables->setup ? triad_setup_ref(tables->setup) : NULL;
	pthread_mutex_unlock(&tables->lock);
	return setup;
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

static uint64_t n_different(const struct triad_setup_plan *plan)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < TRIAD_SETUP_N_TABLES; i++)
		n += plan->n_changed[i];
	return n;
}

/* What is to be done about tables that differ.  A pass with what is in force now must
 * have been made before it can be said that it did not help; the same differences are
 * worth one more, and others, in a row, a few. */
enum verdict { FINE, ASK, WAIT, LOST };

static enum verdict judge(const struct triad_tables *tables,
	const struct triad_fabric *fabric, const struct triad_setup_plan *plan)
{
	bool is_passed = tables->passed_offer == tables->offer;

	/* What the engine makes of them is not known here. */
	if (fabric->qos.engine_has_tables ? is_passed : !tables->status.n_different)
		return FINE;
	if (!is_passed)
		return tables->asked_offer == tables->offer ? WAIT : ASK;
	if (tables->n_passes_asked == tables->status.n_passes)
		return WAIT;
	return plan->hash == tables->asked_hash || tables->n_asked == MAX_ASKED ? LOST
										: ASK;
}

static void note_asked(struct triad_tables *tables, const struct triad_setup_plan *plan)
{
	/* The differences of tables that were never sent are no differences yet. */
	tables->asked_hash = tables->passed_offer == tables->offer ? plan->hash : 0;
	tables->asked_offer = tables->offer;
	tables->n_passes_asked = tables->status.n_passes;
	tables->n_asked++;
	tables->status.n_sweeps_asked++;
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
	status->n_different = knows ? n_different(plan) : 0;
	status->n_different_ports = knows ? plan->n_changed_ports : 0;
	status->n_findings = plan->n_findings_total;
	status->n_errors = plan->n_errors;
	status->n_dead_places = plan->n_dead_places;
	verdict = judge(tables, fabric, plan);
	if (verdict == ASK)
		note_asked(tables, plan);
	else if (verdict == FINE)
		tables->n_asked = 0;
	tables->dirty = tables->setup || status->n_different;
	set_state(tables,
		verdict == ASK || verdict == WAIT
			? TRIAD_TABLES_WAITING
			: state_by_review(tables, fabric, plan));
	pthread_mutex_unlock(&tables->lock);
	return verdict;
}

bool triad_tables_ask_for_sweep(struct triad_tables *tables)
{
	struct osm_opensm *osm = tables->osm;

	if (osm_exit_flag || osm->subn.sm_state != IB_SMINFO_STATE_MASTER)
		return false;
	osm->subn.force_heavy_sweep = TRUE;
	osm_opensm_sweep(osm);
	return true;
}

static void review(struct triad_tables *tables, struct triad_setup *setup,
	const struct triad_fabric *fabric)
{
	uint64_t begun_us = triad_clock_now_us();
	struct triad_setup_plan *plan;
	enum verdict verdict;

	if (triad_setup_plan_make(setup, fabric, &plan)) {
		pthread_mutex_lock(&tables->lock);
		set_state(tables, TRIAD_TABLES_NO_MEMORY);
		pthread_mutex_unlock(&tables->lock);
		return;
	}
	if (setup)
		triad_tell_findings(
			tables->tell, plan, triad_setup_policy(setup), fabric);
	verdict = note_review(tables, fabric, plan, triad_clock_now_us() - begun_us);
	if (verdict == ASK)
		(void)triad_tables_ask_for_sweep(tables);
	else if (verdict == LOST)
		triad_tell_different(tables->tell, plan, fabric);
	triad_setup_plan_free(plan);
}

static bool is_anything(struct triad_tables *tables, bool qos)
{
	bool anything;

	pthread_mutex_lock(&tables->lock);
	anything = tables->setup || tables->dirty;
	if (anything && !qos)
		set_state(tables, TRIAD_TABLES_NO_QOS);
	pthread_mutex_unlock(&tables->lock);
	return anything && qos;
}

static void review_in_force(
	struct triad_tables *tables, const struct triad_tables_wish *wish)
{
	struct triad_setup *setup;

	if (!is_anything(tables, wish->settled->sa.qos))
		return;
	setup = triad_tables_setup(tables);
	/* At the SM's start there was nothing to try it on. */
	if (wish->guarded && cuts_off(tables, setup, wish->settled)) {
		triad_setup_unref(setup);
		setup = NULL;
		put_into_force(tables, NULL, wish->wanted, true);
		refuse(tables, wish->wanted);
	}
	review(tables, setup, wish->settled);
	triad_setup_unref(setup);
}

void triad_tables_see_to(
	struct triad_tables *tables, const struct triad_tables_wish *wish)
{
	bool is_other = !tables->offered || tables->policy != wish->policy ||
		tables->offered_wanted != wish->wanted ||
		tables->offered_guarded != wish->guarded;

	if (is_other)
		offer(tables, wish);
	if (!wish->settled ||
		(!is_other && wish->settled->generation == tables->reviewed))
		return;
	tables->reviewed = wish->settled->generation;
	review_in_force(tables, wish);
}

void triad_tables_note_read_back(struct triad_tables *tables, uint64_t n_unlike)
{
	pthread_mutex_lock(&tables->lock);
	tables->status.n_unlike = n_unlike;
	pthread_mutex_unlock(&tables->lock);
	if (n_unlike)
		triad_log_write(tables->log, TRIAD_LOG_ERROR,
			"QoS tables: of those that were read back, %" PRIu64
			" are not what they should be; 'triadctl qos tables' shows "
			"which",
			n_unlike);
}

struct triad_tables_status triad_tables_status(struct triad_tables *tables)
{
	struct triad_tables_status status;

	pthread_mutex_lock(&tables->lock);
	status = tables->status;
	pthread_mutex_unlock(&tables->lock);
	return status;
}

/* --- passes --- */

static void begin_pass(struct triad_tables *tables)
{
	struct triad_setup *setup;

	pthread_mutex_lock(&tables->lock);
	setup = tables->setup ? triad_setup_ref(tables->setup) : NULL;
	tables->begun_offer = tables->offer;
	pthread_mutex_unlock(&tables->lock);
	/* Without memory this pass leaves OpenSM its own tables; the review tells. */
	(void)triad_tables_pass_begin(tables->pass, setup);
	tables->in_pass = true;
	triad_setup_unref(setup);
}

static void sl2vl(void *context, osm_physp_t *port, uint8_t in, uint8_t out,
	ib_slvl_table_t *table)
{
	struct triad_tables *tables = context;

	if (!tables->in_pass)
		begin_pass(tables);
	triad_tables_pass_sl2vl(tables->pass, port, in, out, table);
}

static void vlarb(void *context, osm_physp_t *port, uint8_t number,
	ib_vl_arb_table_t *block, unsigned length, unsigned index)
{
	struct triad_tables *tables = context;

	if (!tables->in_pass)
		begin_pass(tables);
	triad_tables_pass_vlarb(tables->pass, port, number, block, length, index);
}

static void note_pass(
	struct triad_tables *tables, const struct triad_tables_pass_counts *counts)
{
	pthread_mutex_lock(&tables->lock);
	tables->status.n_passes++;
	tables->passed_offer = tables->begun_offer;
	tables->status.last = *counts;
	if (counts->error)
		set_state(tables, TRIAD_TABLES_NO_MEMORY);
	pthread_mutex_unlock(&tables->lock);
	if (counts->n_differing + counts->n_smps)
		triad_log_write(tables->log, TRIAD_LOG_INFO,
			"QoS tables: %" PRIu64 " are being sent",
			counts->n_differing + counts->n_smps);
}

static void end_pass(struct triad_tables *tables)
{
	struct triad_tables_pass_counts counts;

	if (!tables->in_pass)
		return;
	tables->in_pass = false;
	counts = triad_tables_pass_end(tables->pass);
	note_pass(tables, &counts);
}

void triad_tables_note_sweep(struct triad_tables *tables)
{
	bool needed;

	end_pass(tables);
	pthread_mutex_lock(&tables->lock);
	needed = tables->setup || tables->dirty;
	pthread_mutex_unlock(&tables->lock);
	if (needed)
		triad_hooks_install(tables->osm, sl2vl, vlarb, tables);
	else if (tables->hooked)
		triad_hooks_remove(tables->osm);
	tables->hooked = needed;
}

void triad_tables_note_routed(struct triad_tables *tables)
{
	end_pass(tables);
}
