/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/reroute/reroute_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/damp/damper.h"
#include "plugin/sm_recover.h"
#include "plugin/takers.h"
#include "plugin/trap_mad.h"
#include "triad/clock.h"

/* How often to look whether OpenSM has bound its SM. */
#define RETRY_US (TRIAD_US_PER_S / 4)
/* More losses in that time than REROUTE_N_RECENT, or than that of one link, are no matter of
 * single links, or of this. */
#define RECENT_US (60 * TRIAD_US_PER_S)
#define MAX_RECENT_OF_LINK 2u
/* In a second, of two times 40 SMPs or so; traps beyond are left to OpenSM. */
#define MAX_LOOKS 50u

/* --- in the vendor's receiving thread --- */

/* It takes none.  One for which there is no room is left to OpenSM. */
static bool note_trap(void *context, struct osm_madw *madw, struct osm_madw *request)
{
	struct triad_rerouter *rerouter = context;
	struct triad_trap_mad trap;

	(void)request;
	if (!triad_trap_read(rerouter->osm, madw, &trap) ||
		trap.kind != TRIAD_TRAP_LINK_STATE)
		return false;
	pthread_mutex_lock(&rerouter->lock);
	if (rerouter->ring.n < REROUTE_N_TRAPS && !rerouter->task.must_end) {
		rerouter->queue[triad_ring_put(&rerouter->ring, REROUTE_N_TRAPS)] =
			(struct reroute_trap){triad_clock_now_us(), trap.lid};
		triad_task_wake(&rerouter->task);
	}
	pthread_mutex_unlock(&rerouter->lock);
	return false;
}

/* --- in the thread --- */

static bool is_of(
	const struct triad_reroute_link *a, const struct triad_reroute_link *b)
{
	return (a->guid == b->guid && a->number == b->number) ||
		(a->guid == b->far_guid && a->number == b->far_number);
}

/* Counts the loss.  Returns NULL, or why it is one of too many, which are not counted. */
static const char *count_loss(const struct reroute_loss *loss, uint64_t now_us)
{
	struct triad_rerouter *rerouter = loss->rerouter;
	const struct triad_reroute_link *link = &loss->report->links[0];
	unsigned n = 0, n_of_link = 0;

	for (unsigned i = 0; i < REROUTE_N_RECENT; i++) {
		const struct reroute_recent *recent = &rerouter->recent[i];

		if (!recent->at_us || now_us >= recent->at_us + RECENT_US)
			continue;
		n++;
		n_of_link += is_of(link, &recent->link);
	}
	if (n_of_link >= MAX_RECENT_OF_LINK)
		return "its third loss in a minute; [damp] is for such links";
	if (n == REROUTE_N_RECENT)
		return "more than eight losses in a minute";
	rerouter->recent[rerouter->n_counted++ % REROUTE_N_RECENT] =
		(struct reroute_recent){now_us, *link};
	return NULL;
}

/* Whether any of the links was not yet worked on with these tables. */
static bool is_new(const struct reroute_loss *loss)
{
	const bool *handled = loss->rerouter->handled;

	for (uint32_t i = 0; i < loss->report->n_links; i++) {
		uint32_t port = loss->ports[i], far = loss->fabric->ports[port].remote;

		if (!handled[port] && !handled[far])
			return true;
	}
	return false;
}

static void note_handled(struct reroute_loss *loss)
{
	struct triad_rerouter *rerouter = loss->rerouter;

	for (uint32_t i = 0; i < loss->report->n_links; i++)
		rerouter->handled[loss->ports[i]] = true;
	pthread_mutex_lock(&rerouter->lock);
	rerouter->n_handled += loss->report->n_links;
	pthread_mutex_unlock(&rerouter->lock);
}

/* Returns false: memory is short. */
static bool begin_tables(struct reroute_loss *loss)
{
	struct triad_rerouter *rerouter = loss->rerouter;

	if (rerouter->handled && rerouter->generation == loss->result->generation)
		return true;
	free(rerouter->handled);
	rerouter->handled = calloc(loss->fabric->n_ports + 1, sizeof(bool));
	pthread_mutex_lock(&rerouter->lock);
	rerouter->generation = loss->result->generation;
	rerouter->n_handled = 0;
	pthread_mutex_unlock(&rerouter->lock);
	return rerouter->handled;
}

static const char *why_not_proven(const struct triad_routes_repair *repair)
{
	return repair->proof == TRIAD_ROUTES_MAY_CLOSE
		? "links could wait for each other in a circle"
		: NULL;
}

static void count_plan(
	struct reroute_loss *loss, const struct triad_routes_repair *repair)
{
	struct triad_reroute *report = loss->report;

	report->n_crossing = repair->n_crossing;
	report->n_lost = repair->n_lost;
	report->n_entries = repair->n_changes;
	report->n_blocks = repair->n_blocks;
	report->n_switches = repair->n_switches;
	report->n_steps = repair->n_steps;
}

static void count_groups(struct reroute_loss *loss)
{
	struct triad_reroute *report = loss->report;

	report->are_groups_known = !loss->check->multicast.is_cut;
	for (uint32_t mlid = 0; mlid < TRIAD_FABRIC_MAX_MLIDS; mlid++)
		report->n_groups += triad_routes_multicast_crosses(loss->check->layout,
			loss->ports, report->n_links,
			(uint16_t)(TRIAD_ROUTES_N_LIDS + mlid));
	report->n_groups_left = report->n_groups;
}

/* Damping tells OpenSM of what differs from OpenSM's view; of what was put there, nobody would. */
static bool is_trap_kept(const struct reroute_loss *loss)
{
	const struct triad_fabric *fabric = loss->fabric;

	for (uint32_t i = 0; i < loss->report->n_links; i++) {
		uint32_t port = loss->ports[i], far = fabric->ports[port].remote;

		if (triad_damper_looks_at(loss->rerouter->damper,
			    fabric->nodes[fabric->ports[port].node].guid) ||
			triad_damper_looks_at(loss->rerouter->damper,
				fabric->nodes[fabric->ports[far].node].guid))
			return true;
	}
	return false;
}

static void count_connected(struct triad_reroute *report,
	const struct triad_routes_repair_multicast *repair)
{
	for (uint32_t i = 0; i < repair->n_groups; i++) {
		const char *why = reroute_group_why(&repair->groups[i]);

		report->n_groups_left -= !why;
		if (!report->why_groups)
			report->why_groups = why;
	}
}

/* Whatever becomes of unicast, unless writing it has failed: of most engines nobody looks for
 * credit loops by multicast packets. */
static void work_on_groups(struct reroute_loss *loss)
{
	struct triad_reroute *report = loss->report;
	struct triad_routes_repair_multicast *repair = NULL;

	if (!report->n_groups)
		return;
	if (report->outcome == TRIAD_REROUTE_FAILED)
		report->why_groups = report->why;
	else if (triad_routes_trees_are_free(loss->fabric->sa.engine))
		report->why_groups =
			"the routing engine's trees have no credit loops with "
			"paths";
	else if (triad_routes_repair_multicast_make(
			 loss->check->layout, loss->ports, report->n_links, &repair))
		report->why_groups = REROUTE_NO_MEMORY;
	else if (atomic_load(&loss->rerouter->mode) == TRIAD_REPAIR_ACT)
		reroute_write_multicast(loss, repair);
	else if (!(report->why_groups = reroute_forbids(loss)))
		count_connected(report, repair);
	triad_routes_repair_multicast_free(repair);
}

static void work_on_paths(
	struct reroute_loss *loss, const struct triad_routes_repair *repair)
{
	struct triad_reroute *report = loss->report;

	report->why = why_not_proven(repair);
	if (!repair->n_changes) {
		report->outcome = TRIAD_REROUTE_NOTHING;
		report->why =
			repair->n_lost ? "no link is left to lead around it" : NULL;
	} else if (!report->why &&
		atomic_load(&loss->rerouter->mode) == TRIAD_REPAIR_ACT) {
		reroute_write_unicast(loss, repair);
	} else if (!report->why) {
		report->why = reroute_forbids(loss);
		if (!report->why)
			report->outcome = TRIAD_REROUTE_WOULD;
	}
	if (report->outcome == TRIAD_REROUTE_DONE && is_trap_kept(loss))
		triad_sm_sweep(loss->rerouter->osm);
}

/* What is to be done with the loss, and does it. */
static void work_on(struct reroute_loss *loss)
{
	struct triad_rerouter *rerouter = loss->rerouter;
	struct triad_reroute *report = loss->report;
	struct triad_routes_repair *repair = NULL;

	report->outcome = TRIAD_REROUTE_LEFT;
	if (triad_routes_next_sweep(loss->fabric->sa.engine) == TRIAD_ROUTES_SWEEP_OWN)
		report->why = "the routing engine has its tables from a file";
	else if (rerouter->n_handled)
		report->why = "another link was lost since the routes were checked";
	else
		report->why = count_loss(loss, triad_clock_now_us());
	if (!report->why &&
		triad_routes_repair_make(
			loss->check, loss->ports, report->n_links, &repair))
		report->why = REROUTE_NO_MEMORY;
	if (report->why) {
		report->why_groups = report->n_groups ? report->why : NULL;
		return;
	}
	count_plan(loss, repair);
	report->planned_us = triad_clock_now_us();
	work_on_paths(loss, repair);
	work_on_groups(loss);
	triad_routes_repair_free(repair);
}

/* Whether the sender is to be read: not if it was since the trap came, or if others take the
 * time. */
static bool begin_look(struct triad_rerouter *rerouter, const struct reroute_trap *trap)
{
	struct reroute_trap *last = &rerouter->looks[trap->lid % REROUTE_N_LOOKS];
	uint64_t now_us = triad_clock_now_us();

	if (last->lid == trap->lid && last->at_us >= trap->at_us)
		return false;
	if (now_us >= rerouter->second_us + TRIAD_US_PER_S) {
		rerouter->second_us = now_us;
		rerouter->n_looks = 0;
	}
	if (rerouter->n_looks == MAX_LOOKS)
		return false;
	rerouter->n_looks++;
	*last = (struct reroute_trap){now_us, trap->lid};
	return true;
}

static void handle_trap(
	struct triad_rerouter *rerouter, const struct reroute_trap *trap)
{
	struct triad_reroute report = {.trap_us = trap->at_us};
	struct reroute_loss loss = {.rerouter = rerouter,
		.smp = rerouter->smp,
		.n_discoveries = atomic_load(&rerouter->n_discoveries),
		.report = &report};
	uint32_t port, node;

	loss.result = triad_route_checker_result(rerouter->routes);
	if (!loss.result)
		return;
	loss.check = loss.result->check;
	loss.fabric = loss.check->layout->fabric;
	port = triad_fabric_find_lid(loss.fabric, trap->lid);
	node = port == TRIAD_FABRIC_NONE ? port : loss.fabric->ports[port].node;
	if (node != TRIAD_FABRIC_NONE && begin_tables(&loss) &&
		loss.fabric->nodes[node].type == TRIAD_NODE_SWITCH &&
		begin_look(rerouter, trap)) {
		const char *why = reroute_find(&loss, node);

		report.found_us = triad_clock_now_us();
		if (is_new(&loss)) {
			count_groups(&loss);
			report.outcome = TRIAD_REROUTE_LEFT;
			report.why = why;
			if (!why)
				work_on(&loss);
			note_handled(&loss);
			reroute_note(&loss);
		}
	}
	triad_route_result_unref(loss.result);
}

/* Puts the hook in or takes it away.  Returns whether to try again soon. */
static bool see_to_hook(struct triad_rerouter *rerouter)
{
	int error;

	if (atomic_load(&rerouter->mode) == TRIAD_REPAIR_OFF) {
		triad_taker_remove(TRIAD_TAKER_LOSSES);
		return false;
	}
	if (triad_taker_is_asked(TRIAD_TAKER_LOSSES))
		return false;
	error = triad_taker_add(rerouter->osm, TRIAD_TAKER_LOSSES, note_trap, rerouter);
	if (!error)
		(void)triad_smp_open(rerouter->smp);
	if (error && error != ENOTCONN && !atomic_exchange(&rerouter->error, error))
		triad_log_write(rerouter->log, TRIAD_LOG_ERROR,
			"repair: traps can't be looked at: this OpenSM is laid out "
			"otherwise than the one that Triad was built for; nothing is "
			"routed around");
	return error == ENOTCONN;
}

static uint64_t repair_when_due(void *context)
{
	struct triad_rerouter *rerouter = context;
	bool retries;

	while (rerouter->ring.n && !rerouter->task.must_end) {
		struct reroute_trap trap = rerouter->queue[triad_ring_take(
			&rerouter->ring, REROUTE_N_TRAPS)];

		pthread_mutex_unlock(&rerouter->lock);
		if (atomic_load(&rerouter->mode) != TRIAD_REPAIR_OFF)
			handle_trap(rerouter, &trap);
		pthread_mutex_lock(&rerouter->lock);
	}
	pthread_mutex_unlock(&rerouter->lock);
	retries = see_to_hook(rerouter);
	pthread_mutex_lock(&rerouter->lock);
	if (atomic_load(&rerouter->mode) == TRIAD_REPAIR_OFF && !rerouter->ring.n)
		return TRIAD_TASK_DONE;
	return retries ? triad_clock_now_us() + RETRY_US : UINT64_MAX;
}

/* --- life --- */

struct triad_rerouter *triad_rerouter_new(struct osm_opensm *osm, uint64_t port_guid,
	struct triad_damper *damper, struct triad_qos *qos,
	struct triad_elector *elector, struct triad_route_checker *routes,
	struct triad_recorder *recorder, struct triad_log *log)
{
	struct triad_rerouter *rerouter = calloc(1, sizeof(*rerouter));

	if (!rerouter)
		return NULL;
	rerouter->osm = osm;
	rerouter->damper = damper;
	rerouter->qos = qos;
	rerouter->elector = elector;
	rerouter->routes = routes;
	rerouter->recorder = recorder;
	rerouter->log = log;
	pthread_mutex_init(&rerouter->lock, NULL);
	pthread_mutex_init(&rerouter->writing, NULL);
	triad_task_init(&rerouter->task, &rerouter->lock, "triad-repair",
		repair_when_due, rerouter);
	rerouter->smp = triad_smp_new(port_guid);
	if (rerouter->smp)
		return rerouter;
	triad_rerouter_free(rerouter);
	return NULL;
}

void triad_rerouter_stop(struct triad_rerouter *rerouter)
{
	if (!rerouter)
		return;
	triad_taker_remove(TRIAD_TAKER_LOSSES);
	(void)triad_task_stop(&rerouter->task, UINT64_MAX);
}

void triad_rerouter_free(struct triad_rerouter *rerouter)
{
	if (!rerouter)
		return;
	free(rerouter->handled);
	triad_smp_free(rerouter->smp);
	triad_task_clear(&rerouter->task);
	pthread_mutex_destroy(&rerouter->lock);
	pthread_mutex_destroy(&rerouter->writing);
	free(rerouter);
}

void triad_rerouter_configure(
	struct triad_rerouter *rerouter, const struct triad_conf *conf)
{
	int error = 0;

	pthread_mutex_lock(&rerouter->lock);
	atomic_store(&rerouter->mode, (int)conf->repair.mode);
	atomic_store(&rerouter->error, 0);
	if (conf->repair.mode != TRIAD_REPAIR_OFF)
		error = triad_task_start(&rerouter->task);
	triad_task_wake(&rerouter->task);
	if (error)
		atomic_store(&rerouter->error, error);
	pthread_mutex_unlock(&rerouter->lock);
	if (error)
		triad_log_write(rerouter->log, TRIAD_LOG_ERROR,
			"repair: there is no thread for it; nothing is routed around, "
			"type 'triadctl reload' to try again");
}

void triad_rerouter_note_sweep(struct triad_rerouter *rerouter)
{
	/* OpenSM forgets it after this call. */
	atomic_store(&rerouter->has_failed,
		triad_osm_peek(&rerouter->osm->subn.subnet_initialization_error));
	atomic_store(&rerouter->is_discovering, true);
}

void triad_rerouter_note_rerouted(struct triad_rerouter *rerouter)
{
	atomic_fetch_add(&rerouter->n_discoveries, 1);
}

void triad_rerouter_note_discovered(struct triad_rerouter *rerouter)
{
	atomic_store(&rerouter->is_configuring, true);
	atomic_fetch_add(&rerouter->n_discoveries, 1);
	atomic_store(&rerouter->is_discovering, false);
}

void triad_rerouter_note_up(struct triad_rerouter *rerouter)
{
	atomic_store(&rerouter->is_configuring, false);
	atomic_store(&rerouter->is_discovering, false);
	atomic_store(&rerouter->n_waiting, 0);
}
