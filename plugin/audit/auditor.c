/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/audit/auditor.h"

#include <errno.h>
#include <opensm/osm_remote_sm.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/grow.h"
#include "plugin/audit/wishes.h"
#include "plugin/instance.h"
#include "plugin/qos/qos.h"
#include "plugin/qos/tables/tables.h"
#include "plugin/read_back.h"
#include "plugin/worker.h"
#include "triad/clock.h"

#define BATCH 256u
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
		is_running;   /* one at a time: each sends as many SMPs as one should */
	pthread_mutex_t lock; /* of what follows: what the last whole audit found */
	struct triad_audit_difference *known;
	size_t n_known;
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
	struct triad_audit_extent extent;
	size_t n; /* in the batch */
	struct triad_wish wishes[BATCH];
	struct triad_read_back items[BATCH];
	uint64_t silent[65536 / 64]; /* a bit for each LID */
	uint64_t n_done, n_all;      /* blocks that were looked at, read or not */
	uint64_t begun_us, next_us;  /* when the next batch may be sent */
	bool is_again;               /* the second reading */
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

static void note_sm(struct run *run, const struct triad_audit_sm *sm)
{
	struct triad_audit_result *result = run->result;

	if (run->is_again || sm->port_guid == run->fabric->sm_port_guid)
		return;
	for (uint32_t i = 0; i < result->n_sms; i++)
		if (result->sms[i].port_guid == sm->port_guid)
			return;
	if (result->n_sms < TRIAD_AUDIT_MAX_NAMED)
		result->sms[result->n_sms++] = *sm;
}

static void take_answer(struct run *run, size_t i)
{
	const struct triad_read_back *item = &run->items[i];
	const struct triad_wish *wish = &run->wishes[i];

	if (item->error || !wish->is_known) {
		note_unread(run, wish, item->error);
		return;
	}
	run->result->n_read++;
	if (!run->is_again)
		run->result->n_not_taken += wish->n_not_taken;
	if (item->kind == TRIAD_AUDIT_PORT_INFO && item->data[AT_IS_SM] & IS_SM &&
		triad_fabric_is_end_port(run->fabric, item->port))
		note_sm(run,
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

/* Of the batch's blocks, keeps those in which something is wanted. */
static void keep_wanted(struct run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < run->n; i++) {
		const struct triad_wish *wish = &run->wishes[i];

		if (!wish->is_known || !triad_audit_wants(&wish->wish))
			continue;
		if (is_silent(run, run->fabric->ports[wish->port].lid)) {
			run->result->n_unread++;
			continue;
		}
		run->items[n] = (struct triad_read_back){.port = wish->port,
			.kind = wish->place.kind,
			.block = wish->place.block};
		run->wishes[n++] = *wish;
	}
	run->n = n;
}

/* Reads the batch, and adds what differs from what is wanted afterwards. */
static int read_batch(struct run *run)
{
	const struct triad_read_back_owner owner = {goes_on_reading, run};
	const struct triad_wish_source source = {.osm = run->plugin->osm,
		.fabric = run->fabric,
		.desired = run->has_desired ? &run->desired : NULL};
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

static int read_all(struct run *run)
{
	const struct triad_fabric *fabric = run->fabric;
	int error = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		for (unsigned kind = 0; is_chosen(run, i) && kind < TRIAD_AUDIT_N_KINDS;
			kind++)
			run->n_all +=
				triad_audit_n_blocks(fabric, i, kind, &run->extent);
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

	if (!run->fabric->sa.qos)
		return "OpenSM runs without QoS";
	if (run->fabric->qos.engine_has_tables)
		return "the routing engine decides on them";
	if (triad_tables_status(tables).state == TRIAD_TABLES_WAITING)
		return "a sweep is to write them";
	run->setup = triad_tables_setup(tables);
	run->has_desired =
		!triad_desired_resolve(&run->desired, run->setup, run->fabric);
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
	int error = 0;

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

/* Keeps what both readings have.  Returns whether OpenSM has changed its mind about some:
 * these are for another reading. */
static bool keep_confirmed(struct triad_audit_result *result,
	struct triad_audit_difference *old, size_t *n)
{
	size_t n_kept = 0, at = 0;
	bool has_changed = false;

	for (size_t i = 0; i < result->n; i++) {
		struct triad_audit_difference *now = &result->differences[i];

		while (at < *n && triad_audit_order(&old[at], now) < 0)
			at++;
		if (at == *n || triad_audit_order(&old[at], now))
			continue;
		has_changed |= old[at].wanted != now->wanted;
		now->since_us = old[at].since_us;
		result->differences[n_kept++] = *now;
	}
	result->n = n_kept;
	memcpy(old, result->differences, n_kept * sizeof(*old));
	*n = n_kept;
	return has_changed;
}

/* Returns 0; EAGAIN: sweeps came between each time; or another errno. */
static int confirm(struct run *run)
{
	struct triad_audit_result *result = run->result;
	size_t n = result->n;
	struct triad_audit_difference *old = malloc((n + 1) * sizeof(*old));
	uint64_t n_changes;
	int error = old ? EAGAIN : ENOMEM;

	for (size_t i = 0; old && i < n; i++)
		old[i] = result->differences[i];
	if (old && !wait_for_light_sweep(run, old, n))
		error = ECANCELED;
	for (unsigned i = 0; n && i < N_CONFIRM && error == EAGAIN; i++) {
		struct triad_fabric *fabric;

		if (!wait_for_quiet(run, &n_changes))
			break;
		fabric = triad_qos_fabric(run->plugin->qos);
		if (!fabric)
			break;
		use_fabric(run, fabric);
		error = read_again(run, old, n);
		if (error)
			break;
		if (count_changes(run->plugin) != n_changes) {
			result->n = n;
			memcpy(result->differences, old, n * sizeof(*old));
			error = EAGAIN;
		} else if (keep_confirmed(result, old, &n) && n) {
			error = EAGAIN;
		}
	}
	free(old);
	return error;
}

/* --- all --- */

static void list_sms(struct run *run)
{
	struct osm_opensm *osm = run->plugin->osm;
	cl_qmap_t *all = &osm->subn.sm_guid_tbl;

	cl_plock_acquire(&osm->lock);
	for (cl_map_item_t *item = cl_qmap_head(all);
		!osm_exit_flag && item != cl_qmap_end(all); item = cl_qmap_next(item)) {
		const ib_sm_info_t *info = &((const osm_remote_sm_t *)item)->smi;

		note_sm(run,
			&(struct triad_audit_sm){.port_guid = cl_ntoh64(info->guid),
				.is_known = true,
				.state = ib_sminfo_get_state(info),
				.priority = ib_sminfo_get_priority(info)});
	}
	cl_plock_release(&osm->lock);
}

/* What was found is as old as it was then. */
static void note_known(struct run *run)
{
	struct triad_auditor *auditor = run->auditor;
	struct triad_audit_result *result = run->result;
	size_t size = result->n * sizeof(*result->differences);
	struct triad_audit_difference *known = malloc(size + 1), *old;

	if (known && size)
		memcpy(known, result->differences, size);
	pthread_mutex_lock(&auditor->lock);
	triad_audit_keep_since(
		result->differences, result->n, auditor->known, auditor->n_known);
	old = known;
	if (!run->request->choice && known) {
		if (size)
			memcpy(known, result->differences, size);
		old = auditor->known;
		auditor->known = known;
		auditor->n_known = result->n;
	}
	pthread_mutex_unlock(&auditor->lock);
	free(old);
}

static int run_audit(struct run *run)
{
	struct triad_audit_result *result = run->result;
	int error;

	use_fabric(run, triad_fabric_ref(run->request->fabric));
	list_sms(run);
	run->extent = triad_wishes_extent(run->plugin->osm);
	error = read_all(run);
	if (!error && result->n) {
		uint64_t n_read = result->n_read;

		qsort(result->differences, result->n, sizeof(*result->differences),
			compare_differences);
		run->is_again = true;
		error = confirm(run);
		result->n_read = n_read;
	}
	if (!error)
		note_known(run);
	result->took_us = triad_clock_now_us() - run->begun_us;
	drop_fabric(run);
	return error;
}

int triad_auditor_run(struct triad_auditor *auditor,
	const struct triad_audit_request *request, struct triad_audit_result *result)
{
	struct run *run;
	int error;

	*result = (struct triad_audit_result){0};
	if (atomic_flag_test_and_set(&auditor->is_running))
		return EBUSY;
	run = calloc(1, sizeof(*run));
	if (run) {
		run->auditor = auditor;
		run->plugin = auditor->plugin;
		run->request = request;
		run->result = result;
		run->begun_us = triad_clock_now_us();
	}
	error = run ? run_audit(run) : ENOMEM;
	free(run);
	atomic_flag_clear(&auditor->is_running);
	return error;
}

void triad_audit_result_clear(struct triad_audit_result *result)
{
	free(result->differences);
	triad_fabric_unref(result->fabric);
	*result = (struct triad_audit_result){0};
}

struct triad_auditor *triad_auditor_new(struct triad_plugin *plugin)
{
	struct triad_auditor *auditor = calloc(1, sizeof(*auditor));

	if (!auditor)
		return NULL;
	auditor->plugin = plugin;
	atomic_flag_clear(&auditor->is_running);
	pthread_mutex_init(&auditor->lock, NULL);
	return auditor;
}

void triad_auditor_free(struct triad_auditor *auditor)
{
	if (!auditor)
		return;
	pthread_mutex_destroy(&auditor->lock);
	free(auditor->known);
	free(auditor);
}
