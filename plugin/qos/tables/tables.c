/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/qos/tables/tables.h"

#include <inttypes.h>
#include <stdlib.h>

#include "plugin/qos/tables/hooks.h"
#include "plugin/qos/tables/tables_parts.h"
#include "plugin/sm_state.h"
#include "triad/thread.h"

const char *triad_tables_state_name(enum triad_tables_state state)
{
	static const char *const names[TRIAD_TABLES_N_STATES] = {
		[TRIAD_TABLES_OFF] = "off",
		[TRIAD_TABLES_NO_SETUP] =
			"OpenSM's: there is no policy with a qos-setup",
		[TRIAD_TABLES_NO_QOS] = ("none: OpenSM runs without QoS ('qos TRUE' in "
					 "opensm.conf begins it)"),
		[TRIAD_TABLES_WAITING] = "waiting for a sweep",
		[TRIAD_TABLES_STANDBY] = "not here: the master SM programs them",
		[TRIAD_TABLES_IN_FORCE] = "in force",
		[TRIAD_TABLES_DIFFERENT] = "some ports have others than they should",
		[TRIAD_TABLES_ENGINE] =
			"in force, as far as the routing engine lets them",
		[TRIAD_TABLES_REFUSED] =
			"refused: they would cut the SM off from hosts",
		[TRIAD_TABLES_REFUSED_LOOP] = "refused: they would close a credit loop",
		[TRIAD_TABLES_NO_MEMORY] = "not enough memory: they stay as they are",
	};

	return state < TRIAD_TABLES_N_STATES ? names[state] : "unknown";
}

struct triad_tables *triad_tables_new(
	struct osm_opensm *osm, struct triad_recorder *recorder, struct triad_log *log)
{
	struct triad_tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return NULL;
	tables->osm = osm;
	tables->recorder = recorder;
	tables->log = log;
	pthread_mutex_init(&tables->lock, NULL);
	tables->pass = triad_tables_pass_new(osm);
	tables->report = triad_tables_report_new(log);
	if (tables->pass && tables->report)
		return tables;
	triad_tables_free(tables);
	return NULL;
}

void triad_tables_free(struct triad_tables *tables)
{
	if (!tables)
		return;
	triad_tables_pass_free(tables->pass);
	triad_tables_report_free(tables->report);
	triad_policy_unref(tables->policy);
	triad_setup_unref(tables->setup);
	pthread_mutex_destroy(&tables->lock);
	free(tables);
}

/* --- status --- */

void triad_tables_report_state(struct triad_tables *tables)
{
	enum triad_tables_state state;
	bool is_news;

	pthread_mutex_lock(&tables->lock);
	state = tables->status.state;
	is_news = tables->reported != state;
	tables->reported = state;
	pthread_mutex_unlock(&tables->lock);
	if (!is_news)
		return;
	triad_log_write(tables->log,
		state == TRIAD_TABLES_NO_MEMORY || state == TRIAD_TABLES_REFUSED ||
				state == TRIAD_TABLES_REFUSED_LOOP ||
				state == TRIAD_TABLES_DIFFERENT
			? TRIAD_LOG_ERROR
			: TRIAD_LOG_INFO,
		"QoS tables: %s", triad_tables_state_name(state));
	triad_recorder_note_text(tables->recorder, TRIAD_TIMELINE_QOS, "tables: %s",
		triad_tables_state_name(state));
}

struct triad_setup *triad_tables_setup(struct triad_tables *tables)
{
	return TRIAD_LOCKED(
		&tables->lock, tables->setup ? triad_setup_ref(tables->setup) : NULL);
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

/* Clears the results of the last review. */
static void forget_review(struct triad_tables_status *status)
{
	status->n_different = status->n_dead_places = status->n_unlike = 0;
	status->n_different_ports = status->n_findings = status->n_errors = 0;
}

struct triad_tables_status triad_tables_status(struct triad_tables *tables)
{
	bool is_standby = triad_sm_is_standby(tables->osm);
	struct triad_tables_status status;

	status = TRIAD_LOCKED(&tables->lock, tables->status);
	/* Results from before this SM became standby are outdated. */
	if (status.state >= TRIAD_TABLES_WAITING &&
		status.state <= TRIAD_TABLES_ENGINE && is_standby)
		status.state = TRIAD_TABLES_STANDBY;
	if (is_standby)
		status.unlooked = NULL;
	if (is_standby || status.state == TRIAD_TABLES_NO_QOS)
		forget_review(&status);
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
	/* If memory is short, this pass leaves tables unchanged, and its end reports
	 * it. */
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
		tables->status.state = TRIAD_TABLES_NO_MEMORY;
	pthread_mutex_unlock(&tables->lock);
	triad_tables_report_state(tables);
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

	/* End a pass that no report of routing has ended. */
	end_pass(tables);
	needed = TRIAD_LOCKED(&tables->lock, tables->setup || tables->dirty);
	if (needed)
		triad_hooks_install(tables->osm, sl2vl, vlarb, tables);
	else if (tables->hooked)
		triad_hooks_remove();
	tables->hooked = needed;
}

void triad_tables_note_routed(struct triad_tables *tables)
{
	end_pass(tables);
}
