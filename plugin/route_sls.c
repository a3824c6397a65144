/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/route_sls.h"

#include <errno.h>
#include <unistd.h>

#include "plugin/instance.h"
#include "plugin/qos/qos.h"
#include "plugin/snapshot.h"
#include "plugin/worker.h"
#include "qos/policy/policy.h"
#include "routes/lanes.h"
#include "triad/clock.h"

#define QUESTIONS 64 /* queries between two readings of the clock */
#define PAUSE_US 100 /* without OpenSM's lock, between two pieces */

/* State of the queries. */
struct asking {
	struct osm_opensm *osm;
	const struct triad_routes_layout *layout;
	uint16_t *sls;
	uint16_t hints; /* a bit for each SL that partitions use */
	uint32_t goal, host;
	bool draws;       /* the engine does, at random */
	uint32_t n_again; /* how often to ask again for a pair, to compare */
	/* SLs that it gave; those of pairs that it is asked for, 0: all. */
	uint16_t seen, wanted;
	struct triad_routes_lanes lanes;
};

uint16_t triad_route_sls_of_policy(void *context)
{
	struct triad_plugin *plugin = context;
	struct triad_qos_status status = triad_qos_status(plugin->qos);
	struct triad_policy *policy = triad_qos_policy(plugin->qos);
	uint16_t sls = 0;

	if (policy && status.state == TRIAD_QOS_ANSWERING)
		for (uint32_t i = 0; i < policy->n_levels; i++)
			sls |= triad_policy_sl_of_level(policy, i);
	triad_policy_unref(policy);
	return sls;
}

static bool is_through(const struct asking *asking)
{
	return asking->goal == asking->layout->n_goals;
}

static void continue_asking(struct asking *asking)
{
	if (++asking->host < asking->layout->n_hosts)
		return;
	asking->host = 0;
	asking->goal++;
}

/* The caller of this and of those below holds OpenSM's lock. */
static uint8_t ask_once(const struct osm_routing_engine *engine, uint8_t hint,
	uint16_t slid, uint16_t dlid)
{
	return engine->path_sl(
		       engine->context, hint, cl_hton16(slid), cl_hton16(dlid)) &
		0xf;
}

static uint16_t ask_for_pair(struct asking *asking,
	const struct osm_routing_engine *engine, uint16_t slid, uint16_t dlid)
{
	uint16_t sls = 0;

	for (uint8_t hint = 0; hint < 16; hint++) {
		uint8_t first;

		if (!(asking->hints >> hint & 1))
			continue;
		first = ask_once(engine, hint, slid, dlid);
		sls |= (uint16_t)(1u << first);
		for (uint32_t i = 0; i < asking->n_again; i++)
			triad_routes_lanes_add(&asking->lanes, first,
				ask_once(engine, hint, slid, dlid));
	}
	return sls;
}

static void ask_for_sls(struct asking *asking, const struct osm_routing_engine *engine)
{
	const struct triad_routes_layout *layout = asking->layout;
	const struct triad_routes_goal *goal = &layout->goals[asking->goal];
	const struct triad_routes_host *host = &layout->hosts[asking->host];
	uint16_t *sls =
		&asking->sls[(size_t)asking->goal * layout->n_switches + host->sw];
	uint16_t slid = layout->fabric->ports[host->port].lid;

	if (goal->host == TRIAD_FABRIC_NONE || goal->host == asking->host ||
		(asking->wanted && !(*sls & asking->wanted)))
		return;
	*sls |= ask_for_pair(asking, engine, slid, goal->lid);
	asking->seen |= *sls;
}

/* Asks for TRIAD_SNAPSHOT_HOLD_US at most.  Returns 0, EAGAIN (not done) or
 * ECANCELED. */
static int ask_some(struct asking *asking)
{
	struct osm_opensm *osm = asking->osm;
	const struct osm_routing_engine *engine;
	uint64_t until_us;
	int error = 0;

	cl_plock_acquire(&osm->lock);
	until_us = triad_clock_now_us() + TRIAD_SNAPSHOT_HOLD_US;
	do {
		/* OpenSM frees its routing engines, without a lock, some steps after
		 * it has raised this flag. */
		engine = osm->routing_engine_used;
		if (osm_exit_flag)
			error = ECANCELED;
		else if (!engine || !engine->path_sl)
			error = EAGAIN;
		else
			asking->draws = engine->type == OSM_ROUTING_ENGINE_TYPE_DFSSSP;
		for (unsigned i = 0; !error && i < QUESTIONS && !is_through(asking);
			i += 1 + asking->n_again) {
			ask_for_sls(asking, engine);
			continue_asking(asking);
		}
	} while (!error && !is_through(asking) && triad_clock_now_us() < until_us);
	cl_plock_release(&osm->lock);
	return error;
}

static int ask_all(struct asking *asking, bool (*is_over)(void *context), void *context)
{
	int error = 0;

	while (!error && !is_through(asking)) {
		error = ask_some(asking);
		if (!error && is_over(context))
			error = ECANCELED;
		/* Gives waiting threads a chance to take the lock. */
		usleep(PAUSE_US);
	}
	return error;
}

static int find_some_lanes(struct asking *asking, uint32_t n_again,
	bool (*is_over)(void *context), void *context)
{
	int error;

	asking->goal = asking->host = 0;
	asking->n_again = n_again;
	error = ask_all(asking, is_over, context);
	asking->wanted = triad_routes_lanes_close(&asking->lanes, asking->seen);
	return error;
}

/* Adds what the engine may draw instead of what it drew.  One comparison for each pair makes
 * the lanes known, but for those of few pairs. */
static int find_lanes(
	struct asking *asking, bool (*is_over)(void *context), void *context)
{
	size_t n = (size_t)asking->layout->n_goals * asking->layout->n_switches;
	int error = find_some_lanes(asking, 1, is_over, context);

	if (!error && asking->wanted)
		error = find_some_lanes(
			asking, TRIAD_ROUTES_LANE_DRAWS, is_over, context);
	if (!error && asking->wanted)
		error = EAGAIN;
	for (size_t i = 0; !error && i < n; i++)
		asking->sls[i] = triad_routes_lanes_of(&asking->lanes, asking->sls[i]);
	return error;
}

int triad_route_sls_ask_engine(struct osm_opensm *osm,
	const struct triad_routes_layout *layout, uint16_t *sls,
	bool (*is_over)(void *context), void *context)
{
	struct asking asking = {.osm = osm,
		.layout = layout,
		.sls = sls,
		.hints = triad_routes_sls_of(layout->fabric)};
	uint64_t n = (uint64_t)layout->n_host_goals * layout->n_hosts *
		(unsigned)__builtin_popcount(asking.hints);
	int error;

	if (n > TRIAD_ROUTE_SLS_MAX)
		return E2BIG;
	error = ask_all(&asking, is_over, context);
	if (!error && asking.draws)
		error = find_lanes(&asking, is_over, context);
	return error;
}

/* --- for the check of routes --- */

struct present {
	struct triad_plugin *plugin;
	uint64_t generation;
	bool (*is_stopped)(void *);
	void *stop_context;
	bool was_stopped;
};

/* True when the check is to stop, and after a new sweep: the engine's answers no longer
 * fit the fabric's tables then. */
static bool is_past(void *context)
{
	struct present *present = context;

	present->was_stopped = present->is_stopped(present->stop_context);
	return present->was_stopped || !present->plugin->worker ||
		!triad_worker_is_current(present->plugin->worker, present->generation);
}

int triad_route_sls_ask(void *context, const struct triad_routes_layout *layout,
	uint16_t *sls, bool (*is_stopped)(void *), void *stop_context)
{
	struct triad_plugin *plugin = context;
	struct present present = {.plugin = plugin,
		.generation = layout->fabric->generation,
		.is_stopped = is_stopped,
		.stop_context = stop_context};
	int error =
		triad_route_sls_ask_engine(plugin->osm, layout, sls, is_past, &present);

	return error == ECANCELED && !present.was_stopped ? EAGAIN : error;
}

uint16_t triad_route_sls_between(
	void *context, uint16_t slid, uint16_t dlid, uint8_t hint)
{
	struct osm_opensm *osm = ((struct triad_plugin *)context)->osm;
	const struct osm_routing_engine *engine;
	struct asking asking = {.hints = (uint16_t)(1u << hint)};
	uint16_t sls = 0;

	if (pthread_rwlock_tryrdlock(&osm->lock.lock))
		return 0;
	engine = osm->routing_engine_used;
	if (!osm_exit_flag && engine && engine->path_sl) {
		if (engine->type == OSM_ROUTING_ENGINE_TYPE_DFSSSP)
			asking.n_again = TRIAD_ROUTES_LANE_DRAWS;
		sls = ask_for_pair(&asking, engine, slid, dlid);
	}
	pthread_rwlock_unlock(&osm->lock.lock);
	(void)triad_routes_lanes_close(&asking.lanes, sls);
	return triad_routes_lanes_of(&asking.lanes, sls);
}
