/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/audit/auditor.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/grow.h"
#include "lib/task.h"
#include "perfmgr/watch/finders.h"
#include "plugin/audit/repair.h"
#include "plugin/audit/trees.h"
#include "plugin/audit/wishes.h"
#include "plugin/election/elector.h"
#include "plugin/instance.h"
#include "plugin/ports/smp.h"
#include "plugin/qos/qos.h"
#include "plugin/qos/tables/tables.h"
#include "plugin/read_back.h"
#include "plugin/sm_state.h"
#include "plugin/worker.h"
#include "service/perf.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define BATCH 256u
/* Of the thread: SMPs at once. */
#define SLOW_BATCH 16u
/* How often to look whether this SM is master. */
#define NOT_MASTER_US (5 * TRIAD_US_PER_S)
#define AGAIN_US (60 * TRIAD_US_PER_S)
#define N_CONFIRM 5u
/* How long to wait for the end of a sweep. */
#define QUIET_US (30 * TRIAD_US_PER_S)
#define LOOK_US (100 * TRIAD_US_PER_MS)
/* PortInfo:CapabilityMask.IsSM [IBA 14.2.5.6] */
#define AT_IS_SM 23
#define IS_SM 0x02

struct triad_auditor {
	struct triad_plugin *plugin;
	atomic_flag
		is_running; /* one at a time: each sends as many SMPs as one should */
	atomic_uint n_by_hand; /* who waits, so that the thread stops */
	/* Which time as master this is, or the next one; from 1. */
	atomic_ullong mastership;
	pthread_mutex_t lock; /* protects what follows */
	struct triad_task task;
	unsigned share_percent;
	uint64_t due_us; /* the thread's next audit */
	bool is_at_it;   /* the thread is */
	struct triad_audit_status status;
	/* What the last audit of all devices found, and the mastership in which it began. */
	struct triad_audit_difference *known;
	size_t n_known;
	uint64_t known_in; /* 0: none */
};

struct run {
	struct triad_auditor *auditor;
	struct triad_plugin *plugin;
	const struct triad_audit_request *request;
	struct triad_audit_result *result;
	struct triad_fabric *fabric; /* borrowed */
	struct triad_setup *setup;
	struct triad_desired desired;
	bool has_desired;
	struct triad_trees *trees;
	struct triad_audit_extent extent;
	size_t n; /* in the batch */
	struct triad_wish wishes[BATCH];
	struct triad_read_back items[BATCH];
	uint64_t silent[65536 / 64]; /* a bit for each LID */
	uint64_t n_done, n_all;      /* blocks that were looked at, read or not */
	uint64_t begun_us, next_us;  /* when the next batch may be sent */
	bool is_again;               /* the second reading */
	uint64_t n_changes;          /* when it began */
	uint64_t mastership;         /* when it began */
};

/* --- reading --- */

static bool goes_on(const struct run *run)
{
	return !osm_exit_flag &&
		run->request->goes_on(run->request->context, run->n_done, run->n_all);
}

static bool goes_on_reading(void *context, size_t n_done)
{
	(void)n_done;
	return goes_on(context);
}

/* Returns whether to go on. */
static bool sleep_until(const struct run *run, uint64_t until_us)
{
	uint64_t now_us;

	while (goes_on(run) && (now_us = triad_clock_now_us()) < until_us)
		usleep((useconds_t)(until_us - now_us < LOOK_US ? until_us - now_us
								: LOOK_US));
	return goes_on(run);
}

static void add_difference(
	void *context, const struct triad_audit_difference *difference)
{
	struct triad_audit_result *result = ((struct run *)context)->result;

	if (result->n == TRIAD_AUDIT_MAX ||
		triad_grow(&result->differences, &result->room, result->n + 1,
			sizeof(*difference), 64)) {
		result->is_short = true;
		return;
	}
	result->differences[result->n] = *difference;
	result->differences[result->n++].since_us = triad_clock_now_us();
}

static bool is_silent(const struct run *run, uint16_t lid)
{
	return run->silent[lid / 64] >> lid % 64 & 1;
}

static void note_unread(struct run *run, const struct triad_wish *wish, int error)
{
	uint16_t lid = run->fabric->ports[wish->port].lid;
	struct triad_audit_result *result = run->result;

	result->n_unread++;
	if (error != ETIMEDOUT || is_silent(run, lid))
		return;
	run->silent[lid / 64] |= UINT64_C(1) << lid % 64;
	if (result->n_silent < TRIAD_AUDIT_MAX_NAMED)
		result->silent[result->n_silent] = wish->place.node_guid;
	result->n_silent++;
}

static void take_answer(struct run *run, size_t i)
{
	const struct triad_read_back *item = &run->items[i];
	const struct triad_wish *wish = &run->wishes[i];

	if (!wish->is_known) {
		run->result->n_undecided++;
		return;
	}
	if (item->error) {
		note_unread(run, wish, item->error);
		return;
	}
	run->result->n_read++;
	if (!run->is_again)
		run->result->n_not_taken += wish->n_not_taken;
	if (!run->is_again && item->kind == TRIAD_AUDIT_PORT_INFO &&
		item->data[AT_IS_SM] & IS_SM &&
		triad_fabric_is_end_port(run->fabric, item->port) &&
		run->fabric->ports[item->port].guid != run->fabric->sm_port_guid)
		triad_audit_sms_add(&run->result->sms,
			&(struct triad_audit_sm){
				.port_guid = run->fabric->ports[item->port].guid});
	triad_audit_compare(&wish->place, &wish->wish, item->data, add_difference, run);
}

/* When the batch may be sent, which takes up so much of the rate and of the time to take. */
static bool wait_for_turn(struct run *run)
{
	uint64_t now_us = triad_clock_now_us(), until_us = run->next_us;

	if (!run->is_again && run->n_all && run->request->spread_us) {
		double part = (double)run->n_done / (double)run->n_all;
		uint64_t at_us = run->begun_us +
			(uint64_t)(part * (double)run->request->spread_us);

		until_us = at_us > until_us ? at_us : until_us;
	}
	if (until_us > now_us && !sleep_until(run, until_us))
		return false;
	run->next_us = triad_clock_now_us() +
		run->n * TRIAD_US_PER_S / run->request->smps_per_s;
	return true;
}

/* Of the batch's blocks, keeps those in which something is wanted, and counts others. */
static void keep_wanted(struct run *run)
{
	struct triad_audit_result *result = run->result;
	size_t n = 0;

	for (size_t i = 0; i < run->n; i++) {
		const struct triad_wish *wish = &run->wishes[i];

		result->n_undecided += !wish->is_known;
		result->n_trees_undecided += wish->n_undecided;
		if (!run->is_again)
			result->n_left[wish->place.kind] += wish->is_left;
		if (!wish->is_known || !triad_audit_wants(&wish->wish))
			continue;
		if (is_silent(run, run->fabric->ports[wish->port].lid)) {
			result->n_unread++;
			continue;
		}
		run->items[n] = (struct triad_read_back){.port = wish->port,
			.kind = wish->place.kind,
			.block = wish->place.block};
		run->wishes[n++] = *wish;
	}
	run->n = n;
}

static struct triad_wish_source wish_source(const struct run *run)
{
	return (struct triad_wish_source){.osm = run->plugin->osm,
		.fabric = run->fabric,
		.desired = run->has_desired ? &run->desired : NULL,
		.trees = run->trees};
}

/* Reads the batch, and adds what differs from what is wanted afterwards. */
static int read_batch(struct run *run)
{
	const struct triad_read_back_owner owner = {goes_on_reading, run};
	const struct triad_wish_source source = wish_source(run);
	int error;

	if (!triad_wishes_read(&source, run->wishes, run->n))
		return ECANCELED;
	run->n_done += run->n;
	keep_wanted(run);
	if (!run->n)
		return 0;
	if (!wait_for_turn(run))
		return ECANCELED;
	error = triad_read_back(run->fabric,
		cl_ntoh64(run->plugin->osm->subn.opt.m_key), run->items, run->n,
		&owner);
	if (!error && !triad_wishes_read(&source, run->wishes, run->n))
		error = ECANCELED;
	for (size_t i = 0; i < run->n && !error; i++)
		take_answer(run, i);
	run->n = 0;
	return error;
}

static int add_block(
	struct run *run, uint32_t port, const struct triad_audit_place *place)
{
	run->wishes[run->n++] = (struct triad_wish){.port = port, .place = *place};
	return run->n >= run->request->batch ? read_batch(run) : 0;
}

static bool is_chosen(const struct run *run, uint32_t port)
{
	return !run->request->choice ||
		triad_node_choice_has_port(run->request->choice, run->fabric, port);
}

static int read_port(struct run *run, uint32_t port)
{
	const struct triad_fabric *fabric = run->fabric;
	int error = 0;

	for (unsigned kind = 0; kind < TRIAD_AUDIT_N_KINDS && !error; kind++) {
		uint32_t n = triad_audit_n_blocks(fabric, port, kind, &run->extent);

		for (uint32_t i = 0; i < n && !error; i++)
			error = add_block(run, port,
				&(struct triad_audit_place){
					.node_guid =
						fabric->nodes[fabric->ports[port].node]
							.guid,
					.block = triad_audit_block(
						fabric, port, kind, i),
					.port = fabric->ports[port].number,
					.kind = (uint8_t)kind});
	}
	return error;
}

static void count_blocks(struct run *run, uint32_t port)
{
	unsigned n[TRIAD_AUDIT_N_KINDS];

	for (unsigned kind = 0; kind < TRIAD_AUDIT_N_KINDS; kind++) {
		n[kind] = triad_audit_n_blocks(run->fabric, port, kind, &run->extent);
		run->n_all += n[kind];
	}
	run->result->n_ports += n[TRIAD_AUDIT_PORT_INFO];
	run->result->n_down += !n[TRIAD_AUDIT_PORT_INFO];
}

static int look_at_trees(struct run *run)
{
	triad_trees_free(run->trees);
	run->trees = triad_trees_look(run->plugin->osm);
	if (!run->trees)
		return osm_exit_flag ? ECANCELED : ENOMEM;
	run->result->n_trees_not_kept = triad_trees_n_not_kept(run->trees);
	return 0;
}

static int read_all(struct run *run)
{
	const struct triad_fabric *fabric = run->fabric;
	int error = look_at_trees(run);

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (is_chosen(run, i))
			count_blocks(run, i);
	for (uint32_t i = 0; i < fabric->n_ports && !error; i++)
		if (is_chosen(run, i))
			error = read_port(run, i);
	return error ? error : read_batch(run);
}

/* --- the fabric --- */

static void drop_fabric(struct run *run)
{
	if (run->has_desired)
		triad_desired_clear(&run->desired);
	run->has_desired = false;
	triad_setup_unref(run->setup);
	run->setup = NULL;
}

/* QoS tables that Triad and OpenSM agree on: no pass is to come that changes them. */
static const char *find_desired(struct run *run)
{
	struct triad_tables *tables = triad_qos_tables(run->plugin->qos);

	run->result->has_unknown_qos = false;
	if (!run->fabric->sa.qos)
		return "OpenSM runs without QoS";
	if (run->fabric->qos.engine_has_tables)
		return "the routing engine decides on them";
	run->result->has_unknown_qos = true;
	if (triad_qos_tables_status(run->plugin->qos).state == TRIAD_TABLES_WAITING)
		return "a sweep is to write them";
	run->setup = triad_tables_setup(tables);
	run->has_desired =
		!triad_desired_resolve(&run->desired, run->setup, run->fabric);
	run->result->has_unknown_qos = !run->has_desired;
	return run->has_desired ? NULL : "not enough memory";
}

/* Takes over the reference. */
static void use_fabric(struct run *run, struct triad_fabric *fabric)
{
	drop_fabric(run);
	triad_fabric_unref(run->result->fabric);
	run->result->fabric = run->fabric = fabric;
	run->result->no_qos = find_desired(run);
}

/* --- confirming --- */

/* What says that OpenSM has begun to change tables. */
static uint64_t count_changes(struct triad_plugin *plugin)
{
	struct triad_events_counts counts = triad_events_counts(plugin->events);

	return counts.reported[TRIAD_EVENT_SWEEP_START] +
		counts.reported[TRIAD_EVENT_ROUTING_DONE] +
		counts.reported[TRIAD_EVENT_REROUTED] +
		counts.reported[TRIAD_EVENT_STATE_CHANGE];
}

/* Waits until the worker has seen, after '*n_changes' were counted, that OpenSM does not
 * sweep and waits for no answer.  False: it does so on and on, or nobody waits. */
static bool wait_for_quiet(const struct run *run, uint64_t *n_changes)
{
	uint64_t end_us = triad_clock_now_us() + QUIET_US;

	while (goes_on(run) && triad_clock_now_us() < end_us) {
		uint64_t counted_us = triad_clock_now_us(),
			 n = count_changes(run->plugin);
		struct triad_sm_sight sight;

		do {
			usleep(LOOK_US);
			sight = triad_worker_status(run->plugin->worker).sm.last;
		} while (goes_on(run) && sight.now_us < counted_us &&
			triad_clock_now_us() < end_us);
		*n_changes = n;
		if (sight.now_us >= counted_us && !sight.is_sweeping &&
			!sight.n_outstanding)
			return true;
	}
	return false;
}

static int compare_differences(const void *a, const void *b)
{
	return triad_audit_order(a, b);
}

/* A change of a link's state that OpenSM has not seen is only one after its next light
 * sweep. */
static bool wait_for_light_sweep(
	const struct run *run, const struct triad_audit_difference *old, size_t n)
{
	uint64_t wait_us =
		run->plugin->osm->subn.opt.sweep_interval * TRIAD_US_PER_S * 3 / 2 +
		TRIAD_US_PER_S;

	for (size_t i = 0; i < n; i++)
		if (old[i].place.kind == TRIAD_AUDIT_SWITCH_INFO &&
			old[i].field == TRIAD_AUDIT_STATE_CHANGE)
			return sleep_until(run, old[i].since_us + wait_us);
	return true;
}

/* Reads the places of 'old' again. */
static int read_again(
	struct run *run, const struct triad_audit_difference *old, size_t n)
{
	int error = look_at_trees(run);

	run->result->n = 0;
	for (size_t i = 0; i < n && !error; i++) {
		const struct triad_audit_place *place = &old[i].place;
		uint32_t port = triad_fabric_port_at(
			run->fabric, place->node_guid, place->port);

		if (port == TRIAD_FABRIC_NONE ||
			(i && !triad_audit_place_order(&old[i - 1].place, place)))
			continue;
		error = add_block(run, port, place);
	}
	if (!error)
		error = read_batch(run);
	qsort(run->result->differences, run->result->n,
		sizeof(*run->result->differences), compare_differences);
	return error;
}

/* Returns 0; EAGAIN: sweeps came between each time; or another errno. */
static int confirm(struct run *run)
{
	struct triad_audit_result *result = run->result;
	size_t n = result->n;
	struct triad_audit_difference *old = malloc((n + 1) * sizeof(*old));
	int error = old ? EAGAIN : ENOMEM;

	for (size_t i = 0; old && i < n; i++)
		old[i] = result->differences[i];
	if (old && !wait_for_light_sweep(run, old, n))
		error = ECANCELED;
	for (unsigned i = 0; n && i < N_CONFIRM && error == EAGAIN; i++) {
		struct triad_fabric *fabric;

		if (!wait_for_quiet(run, &run->n_changes))
			break;
		fabric = triad_qos_fabric(run->plugin->qos);
		if (!fabric)
			break;
		use_fabric(run, fabric);
		error = read_again(run, old, n);
		if (error)
			break;
		if (count_changes(run->plugin) != run->n_changes) {
			result->n = n;
			memcpy(result->differences, old, n * sizeof(*old));
			error = EAGAIN;
			continue;
		}
		if (triad_audit_keep_both(result->differences, &result->n, old, n))
			error = EAGAIN;
		n = result->n;
		memcpy(old, result->differences, n * sizeof(*old));
	}
	free(old);
	return error;
}

/* --- repairing --- */

const char *triad_auditor_forbids(struct triad_auditor *auditor)
{
	if (!triad_auditor_status(auditor).may_repair)
		return "audit.repair is false";
	if (triad_osm_peek(&auditor->plugin->osm->subn.sm_state) !=
		IB_SMINFO_STATE_MASTER)
		return "this SM is not the master";
	return triad_elector_forbids(auditor->plugin->elector);
}

static const char *why_no_repair(void *context)
{
	struct run *run = context;
	const char *why = triad_auditor_forbids(run->auditor);

	if (!why && count_changes(run->plugin) != run->n_changes)
		why = "a sweep began after the second reading";
	if (!why && !goes_on(run))
		why = "nobody waits for it";
	return why;
}

static bool wait_to_repair(void *context)
{
	struct run *run = context;

	return wait_for_quiet(run, &run->n_changes);
}

static int repair_chosen(struct run *run)
{
	const struct triad_wish_source source = wish_source(run);
	const struct triad_repair repair = {.plugin = run->plugin,
		.source = &source,
		.asked = run->request->repair,
		.why_not = why_no_repair,
		.settle = wait_to_repair,
		.context = run};

	return triad_repair_chosen(&repair, run->result->differences, &run->result->n);
}

/* --- what the last one found --- */

void triad_auditor_note_sweep(struct triad_auditor *auditor)
{
	const osm_subn_t *subn = &auditor->plugin->osm->subn;

	/* An SM becomes master in a sweep that begins before, or, after a handover, just
	 * before a first sweep as master. */
	if (triad_osm_peek(&subn->sm_state) != IB_SMINFO_STATE_MASTER ||
		triad_osm_peek(&subn->first_time_master_sweep))
		atomic_fetch_add(&auditor->mastership, 1);
}

/* With the lock: whether what is known was found in the present time as master.  What
 * another master wants is not known. */
static bool known_holds(struct triad_auditor *auditor)
{
	const struct osm_opensm *osm = auditor->plugin->osm;

	return triad_osm_peek(&osm->subn.sm_state) == IB_SMINFO_STATE_MASTER &&
		!triad_sm_is_in_first_sweep(osm) &&
		auditor->known_in == atomic_load(&auditor->mastership);
}

/* With the lock. */
static void count_known(struct triad_auditor *auditor)
{
	struct triad_audit_status *status = &auditor->status;

	memset(status->n_of, 0, sizeof(status->n_of));
	status->n = auditor->n_known;
	for (size_t i = 0; i < auditor->n_known; i++) {
		const struct triad_audit_difference *known = &auditor->known[i];

		if (!i || known->since_us < status->oldest.since_us)
			status->oldest = *known;
		status->n_of[known->place.kind]++;
	}
}

/* With the lock.  Takes over 'known'. */
static void set_known(
	struct triad_auditor *auditor, struct triad_audit_difference *known, size_t n)
{
	free(auditor->known);
	auditor->known = known;
	auditor->n_known = n;
	count_known(auditor);
}

/* Of all devices. */
static void note_done(struct run *run, struct triad_audit_difference *known)
{
	const struct triad_audit_result *result = run->result;
	struct triad_audit_status *status = &run->auditor->status;

	set_known(run->auditor, known, result->n);
	run->auditor->known_in = run->mastership;
	status->n_done++;
	status->ended_us = triad_clock_now_us();
	status->took_us = status->ended_us - run->begun_us;
	status->n_read = result->n_read;
	status->n_unread =
		result->n_unread + result->n_undecided + result->n_trees_undecided;
	status->n_silent = result->n_silent;
	status->is_partial = result->is_short || result->has_unknown_qos;
	snprintf(status->by, sizeof(status->by), "%s", run->request->by);
}

/* What was found is as old as it was then. */
static void note_known(struct run *run)
{
	struct triad_auditor *auditor = run->auditor;
	struct triad_audit_result *result = run->result;
	size_t size = result->n * sizeof(*result->differences);
	struct triad_audit_difference *known = malloc(size + 1);

	pthread_mutex_lock(&auditor->lock);
	if (auditor->known_in == run->mastership)
		triad_audit_keep_since(result->differences, result->n, auditor->known,
			auditor->n_known);
	if (!run->request->choice && known) {
		if (size)
			memcpy(known, result->differences, size);
		note_done(run, known);
		known = NULL;
	}
	pthread_mutex_unlock(&auditor->lock);
	free(known);
	triad_perf_note_findings(run->plugin->service.perf);
}

/* Asks devices that do not answer at their LIDs by directed route. */
static void look_for_silent(struct run *run)
{
	struct triad_audit_result *result = run->result;
	const struct triad_wish_source source = wish_source(run);
	struct triad_smp *smp =
		result->n_silent ? triad_smp_new(run->fabric->sm_port_guid) : NULL;

	for (uint32_t i = 0; smp && i < result->n_silent && i < TRIAD_AUDIT_MAX_NAMED &&
		goes_on(run);
		i++) {
		const struct triad_fabric_node *node =
			triad_fabric_node_by_guid(run->fabric, result->silent[i]);

		result->is_there[i] =
			node && triad_repair_is_there(&source, smp, node->first_port);
	}
	triad_smp_free(smp);
}

static int run_audit(struct run *run)
{
	struct triad_audit_result *result = run->result;
	int error;

	use_fabric(run, triad_fabric_ref(run->request->fabric));
	triad_audit_sms_read(&result->sms, run->plugin->osm);
	run->extent = triad_wishes_extent(run->plugin->osm);
	error = read_all(run);
	if (!error && result->n) {
		uint64_t n_read = result->n_read;

		qsort(result->differences, result->n, sizeof(*result->differences),
			compare_differences);
		run->is_again = true;
		error = confirm(run);
		result->n_read = n_read;
		if (!error && run->request->repair)
			error = repair_chosen(run);
	}
	if (!error)
		look_for_silent(run);
	if (!error)
		note_known(run);
	result->took_us = triad_clock_now_us() - run->begun_us;
	drop_fabric(run);
	triad_trees_free(run->trees);
	return error;
}

/* The caller has taken the flag, which this clears. */
static int run_alone(struct triad_auditor *auditor,
	const struct triad_audit_request *request, struct triad_audit_result *result)
{
	struct run *run = calloc(1, sizeof(*run));
	int error;

	if (run) {
		run->auditor = auditor;
		run->plugin = auditor->plugin;
		run->request = request;
		run->result = result;
		run->begun_us = triad_clock_now_us();
		run->mastership = atomic_load(&auditor->mastership);
	}
	error = run ? run_audit(run) : ENOMEM;
	free(run);
	atomic_flag_clear(&auditor->is_running);
	return error;
}

static bool is_at_it(struct triad_auditor *auditor)
{
	return TRIAD_LOCKED(&auditor->lock, auditor->is_at_it);
}

int triad_auditor_run(struct triad_auditor *auditor,
	const struct triad_audit_request *request, struct triad_audit_result *result)
{
	int error = EBUSY;

	*result = (struct triad_audit_result){0};
	atomic_fetch_add(&auditor->n_by_hand, 1);
	while (is_at_it(auditor) && !osm_exit_flag)
		usleep(LOOK_US / 10);
	if (!atomic_flag_test_and_set(&auditor->is_running))
		error = run_alone(auditor, request, result);
	atomic_fetch_sub(&auditor->n_by_hand, 1);
	return error;
}

void triad_audit_result_clear(struct triad_audit_result *result)
{
	free(result->differences);
	triad_fabric_unref(result->fabric);
	*result = (struct triad_audit_result){0};
}

/* --- the thread --- */

static bool thread_goes_on(void *context, uint64_t n_done, uint64_t n_all)
{
	struct triad_auditor *auditor = context;
	bool goes_on;

	(void)n_done;
	(void)n_all;
	goes_on = TRIAD_LOCKED(
		&auditor->lock, !auditor->task.must_end && auditor->status.period_s);
	return goes_on && !atomic_load(&auditor->n_by_hand);
}

/* An alert says no longer what was found in an earlier time as master. */
static void drop_old(struct triad_auditor *auditor)
{
	bool has_old;

	pthread_mutex_lock(&auditor->lock);
	has_old = auditor->n_known && !known_holds(auditor);
	if (has_old)
		set_known(auditor, NULL, 0);
	pthread_mutex_unlock(&auditor->lock);
	if (has_old)
		triad_perf_note_findings(auditor->plugin->service.perf);
}

/* Without the lock.  Returns as triad_auditor_run(). */
static int audit_slowly(struct triad_auditor *auditor, struct triad_fabric *fabric,
	unsigned period_s, unsigned share_percent)
{
	const struct triad_audit_request request = {.fabric = fabric,
		.smps_per_s = TRIAD_AUDIT_SMPS_PER_S * share_percent / 100,
		.batch = SLOW_BATCH,
		/* The rest is for the second reading. */
		.spread_us = period_s * TRIAD_US_PER_S * 9 / 10,
		.goes_on = thread_goes_on,
		.context = auditor,
		.by = "audit.period"};
	struct triad_audit_result result = {0};
	int error = ECANCELED;

	if (!atomic_load(&auditor->n_by_hand) &&
		!atomic_flag_test_and_set(&auditor->is_running))
		error = run_alone(auditor, &request, &result);
	triad_audit_result_clear(&result);
	return error;
}

/* With the lock: when the next one is due, after one that began at 'begun_us'. */
static uint64_t find_due(struct triad_auditor *auditor, uint64_t begun_us, int error)
{
	uint64_t now_us = triad_clock_now_us();

	if (!error)
		return begun_us + auditor->status.period_s * TRIAD_US_PER_S;
	if (error == ECANCELED)
		return now_us + TRIAD_US_PER_S;
	if (error == ENODEV)
		return now_us + NOT_MASTER_US;
	auditor->status.n_failed++;
	return now_us + AGAIN_US;
}

static uint64_t audit_when_due(void *context)
{
	struct triad_auditor *auditor = context;
	uint64_t begun_us = triad_clock_now_us(), look_us = begun_us + NOT_MASTER_US;
	unsigned period_s = auditor->status.period_s, share = auditor->share_percent;
	bool is_due = begun_us >= auditor->due_us;
	struct triad_fabric *fabric;
	int error = ENODEV;

	if (!period_s)
		return TRIAD_TASK_DONE;
	auditor->is_at_it = is_due;
	pthread_mutex_unlock(&auditor->lock);
	drop_old(auditor);
	fabric = triad_qos_fabric(auditor->plugin->qos);
	if (fabric && is_due)
		error = audit_slowly(auditor, fabric, period_s, share);
	triad_fabric_unref(fabric);
	pthread_mutex_lock(&auditor->lock);
	auditor->is_at_it = false;
	if (is_due)
		auditor->due_us = find_due(auditor, begun_us, error);
	/* It may be no master by then. */
	return auditor->due_us < look_us ? auditor->due_us : look_us;
}

void triad_auditor_configure(
	struct triad_auditor *auditor, const struct triad_conf *conf)
{
	int error = 0;

	pthread_mutex_lock(&auditor->lock);
	if (auditor->status.period_s != conf->audit.period_s)
		auditor->due_us = 0;
	auditor->status.period_s = conf->audit.period_s;
	auditor->status.may_repair = conf->audit.repair;
	auditor->share_percent = conf->audit.share_percent;
	if (conf->audit.period_s)
		error = triad_task_start(&auditor->task);
	triad_task_wake(&auditor->task);
	pthread_mutex_unlock(&auditor->lock);
	triad_perf_note_findings(auditor->plugin->service.perf);
	if (error)
		triad_log_write(auditor->plugin->service.log, TRIAD_LOG_ERROR,
			"audit: devices are not looked at each %u s: %s; 'triadctl "
			"reload' tries again",
			conf->audit.period_s, strerror(error));
}

/* With the lock. */
static struct triad_audit_status find_status(struct triad_auditor *auditor)
{
	struct triad_audit_status status = auditor->status;

	if (known_holds(auditor))
		return status;
	return (struct triad_audit_status){.period_s = status.period_s,
		.may_repair = status.may_repair,
		.n_done = status.n_done,
		.n_failed = status.n_failed};
}

struct triad_audit_status triad_auditor_status(struct triad_auditor *auditor)
{
	return TRIAD_LOCKED(&auditor->lock, find_status(auditor));
}

int triad_auditor_last(struct triad_auditor *auditor, size_t max,
	struct triad_audit_status *status, struct triad_audit_difference **differences)
{
	size_t n;

	pthread_mutex_lock(&auditor->lock);
	*status = find_status(auditor);
	n = status->n < max ? status->n : max;
	*differences = malloc((n + 1) * sizeof(**differences));
	if (*differences && n)
		memcpy(*differences, auditor->known, n * sizeof(**differences));
	pthread_mutex_unlock(&auditor->lock);
	return *differences ? 0 : ENOMEM;
}

void triad_auditor_give(void *auditor, struct triad_found *found)
{
	struct triad_audit_status status = triad_auditor_status(auditor);
	const struct triad_alert_finding finding = {.cause = TRIAD_ALERT_ROUTES,
		.value = (float)status.n,
		.routes = TRIAD_ALERT_DEVICE_TABLES};

	/* Without a period nobody looks whether it lasts. */
	if (status.period_s && status.n)
		triad_found_add(found, status.oldest.place.node_guid,
			status.oldest.place.port, TRIAD_ALERT_DEVICE_TABLES, &finding);
}

struct triad_auditor *triad_auditor_new(struct triad_plugin *plugin)
{
	struct triad_auditor *auditor = calloc(1, sizeof(*auditor));

	if (!auditor)
		return NULL;
	auditor->plugin = plugin;
	atomic_flag_clear(&auditor->is_running);
	atomic_init(&auditor->mastership, 1);
	pthread_mutex_init(&auditor->lock, NULL);
	triad_task_init(
		&auditor->task, &auditor->lock, "triad-audit", audit_when_due, auditor);
	return auditor;
}

void triad_auditor_stop(struct triad_auditor *auditor)
{
	if (auditor)
		(void)triad_task_stop(&auditor->task, UINT64_MAX);
}

void triad_auditor_free(struct triad_auditor *auditor)
{
	if (!auditor)
		return;
	triad_task_clear(&auditor->task);
	pthread_mutex_destroy(&auditor->lock);
	free(auditor->known);
	free(auditor);
}
