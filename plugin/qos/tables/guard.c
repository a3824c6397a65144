/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/qos/tables/guard.h"

#include <errno.h>
#include <stdlib.h>

#include "plugin/route_sls.h"

/* Whether the tables would cut hosts off from the SM; reports it. */
static bool cuts_off(
	const struct triad_tables_guard *guard, struct triad_tables_report *report)
{
	struct triad_setup_plan *plan;
	bool cuts;

	if (triad_setup_plan_make(guard->setup, guard->fabric, &plan))
		return false;
	cuts = plan->n_cut_off;
	if (cuts)
		triad_tables_report_cut_off(
			report, plan, triad_setup_policy(guard->setup), guard->fabric);
	triad_setup_plan_free(plan);
	return cuts;
}

static bool has_swept(void *context)
{
	const struct triad_tables_guard *guard = context;

	return guard->sweeps && atomic_load(guard->sweeps) != guard->n_sweeps;
}

static int ask_engine(
	void *context, const struct triad_routes_layout *layout, uint16_t *sls)
{
	const struct triad_tables_guard *guard = context;

	return triad_route_sls_ask_engine(guard->osm, layout, sls, has_swept, context);
}

int triad_tables_guard_credit(const struct triad_tables_guard *guard,
	enum triad_setup_credit_state *state, struct triad_routes_credit *credit)
{
	struct triad_tables_guard copy = *guard;
	const struct triad_setup_credit_engine engine = {
		.ask = ask_engine, .context = &copy};

	return triad_setup_credit_find(
		guard->setup, guard->fabric, &engine, state, credit);
}

static bool closes_loop(const struct triad_tables_guard *guard,
	struct triad_tables_report *report, const char **unlooked)
{
	struct triad_routes_credit *credit = malloc(sizeof(*credit));
	enum triad_setup_credit_state state = TRIAD_SETUP_CREDIT_UNKNOWN;
	int error = credit ? triad_tables_guard_credit(guard, &state, credit) : ENOMEM;
	bool closes = !error && state == TRIAD_SETUP_CREDIT_CLOSES;

	*unlooked = triad_setup_credit_why_unknown(error, state, credit);
	/* Don't report this reason: the tables' state (TRIAD_TABLES_ENGINE) shows
	 * it. */
	if (guard->fabric->qos.engine_has_tables)
		*unlooked = NULL;
	if (closes)
		triad_tables_report_loop(report, credit,
			triad_setup_policy(guard->setup), guard->fabric);
	free(credit);
	return closes;
}

enum triad_tables_refusal triad_tables_guard_look(
	const struct triad_tables_guard *guard, struct triad_tables_report *report,
	const char **unlooked)
{
	*unlooked = NULL;
	if (!guard->setup || !guard->fabric || !guard->fabric->sa.qos)
		return TRIAD_TABLES_PASSES;
	return cuts_off(guard, report)                 ? TRIAD_TABLES_CUTS_OFF
		: closes_loop(guard, report, unlooked) ? TRIAD_TABLES_CLOSES_LOOP
						       : TRIAD_TABLES_PASSES;
}
