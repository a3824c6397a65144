/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/election/elector.h"
#include "plugin/sa/sa_copies_parts.h"
#include "plugin/sm_state.h"
#include "triad/thread.h"

/* How often to check the SM's state: it changes without an event. */
#define TICK_US (50 * TRIAD_US_PER_MS)
/* The time between two readings of the SA: LOOK_US, or LOOK_PARTS times the duration of
 * the last one if that is longer. */
#define LOOK_US (250 * TRIAD_US_PER_MS)
#define LOOK_PARTS 50u
#define RATE_OCTETS_S 1000000u
/* Over the fabric this makes some 600 MADs a second, beside those of the SM. */
#define FABRIC_RATE_OCTETS_S 100000u
#define REST_US (20 * TRIAD_US_PER_MS) /* retry after the transport refused a payload */
#define JOIN_US TRIAD_US_PER_S

_Static_assert(TRIAD_SA_PAYLOAD_SIZE <= TRIAD_INBOX_OCTETS, "room in the inbox");

/* --- input from other threads --- */

static void receive_view(void *context, const struct triad_cluster_view *view)
{
	struct triad_sa_copies *copies = context;

	(void)view;
	pthread_mutex_lock(&copies->lock);
	copies->has_view = true;
	pthread_mutex_unlock(&copies->lock);
}

static void receive_payload(
	void *context, uint64_t sender, const void *payload, size_t size)
{
	struct triad_sa_copies *copies = context;

	pthread_mutex_lock(&copies->lock);
	if (copies->is_wanted && triad_inbox_put(&copies->inbox, sender, payload, size))
		triad_task_wake(&copies->task);
	pthread_mutex_unlock(&copies->lock);
}

void triad_sa_copies_note_up(struct triad_sa_copies *copies)
{
	atomic_store(&copies->is_up, true);
}

/* --- handling input --- */

static bool take_payload(struct triad_sa_copies *copies, struct triad_payload *payload)
{
	return TRIAD_LOCKED(&copies->lock, triad_inbox_take(&copies->inbox, payload));
}

static void take_all(struct triad_sa_copies *copies)
{
	struct triad_payload payload;
	bool has_view;

	pthread_mutex_lock(&copies->lock);
	has_view = copies->has_view;
	copies->has_view = false;
	pthread_mutex_unlock(&copies->lock);
	if (has_view)
		triad_sa_copier_note_view(copies->copier);
	while (take_payload(copies, &payload)) {
		triad_release_check(&copies->release, &payload);
		triad_sa_copier_payload(
			copies->copier, payload.sender, payload.octets, payload.size);
	}
}

/* --- output --- */

static size_t make_payload(void *context, void *octets)
{
	struct triad_sa_copies *copies = context;

	return triad_sa_copier_take_payload(copies->copier, octets);
}

static int send_payload(void *context, const void *octets, size_t size)
{
	struct triad_sa_copies *copies = context;

	return triad_elector_send_spare(copies->elector, octets, size);
}

static uint64_t send_all(struct triad_sa_copies *copies, uint64_t now_us)
{
	const struct triad_outbox_ends ends = {.context = copies,
		.make = make_payload,
		.send = send_payload,
		.rest_us = REST_US};

	return triad_outbox_send(&copies->outbox, &ends, now_us);
}

/* --- the SM --- */

/* Whether the SA has the clients' records.  OpenSM empties its SA and restores it in
 * the first sweep as master; it also empties it while the SM's port is down. */
static bool works_as_master(struct triad_sa_copies *copies)
{
	const osm_subn_t *subn = &copies->osm->subn;

	if (triad_osm_peek(&subn->sm_state) != IB_SMINFO_STATE_MASTER) {
		/* SUBNET_UP counts only for the present time as master. */
		atomic_store(&copies->is_up, false);
		return false;
	}
	return atomic_load(&copies->is_up) &&
		!triad_sm_is_in_first_sweep(copies->osm) &&
		triad_osm_peek(&subn->last_sm_port_state);
}

/* Whether this SM holds the election's lease. */
static bool has_lease(struct triad_sa_copies *copies)
{
	const uint32_t against =
		TRIAD_PERMISSION_NOT_ELECTED | TRIAD_PERMISSION_EXPIRED;

	return !(triad_elector_permission(copies->elector).reasons & against);
}

static struct triad_sa_facts find_facts(struct triad_sa_copies *copies)
{
	const osm_sm_t *sm = &copies->osm->sm;
	const uint8_t state = triad_osm_peek(&copies->osm->subn.sm_state);
	struct triad_sa_facts facts = {
		.is_up = works_as_master(copies), .has_lease = has_lease(copies)};

	if (state == IB_SMINFO_STATE_STANDBY) {
		facts.sm = TRIAD_SA_SM_STANDBY;
		facts.other = cl_ntoh64(triad_osm_peek(&sm->master_sm_guid));
	} else if (state == IB_SMINFO_STATE_MASTER) {
		facts.sm = TRIAD_SA_SM_MASTER;
		facts.other = cl_ntoh64(triad_osm_peek(&sm->polling_sm_guid));
	}
	return facts;
}

static enum triad_sa_role find_role(struct triad_sa_copies *copies, uint64_t now_us)
{
	struct triad_sa_facts facts = find_facts(copies);

	return osm_exit_flag ? TRIAD_SA_RESTS
			     : triad_sa_role(&copies->past, &facts, now_us);
}

static void look_at_role(struct triad_sa_copies *copies, uint64_t now_us)
{
	struct triad_sa_facts facts = find_facts(copies);
	enum triad_sa_role role = TRIAD_SA_RESTS;
	struct triad_sa_copier_status before;

	triad_sa_copier_status(copies->copier, &before);
	if (!osm_exit_flag) {
		triad_sa_past_note(&copies->past, &facts, now_us);
		role = triad_sa_role(&copies->past, &facts, now_us);
	}
	if (role != before.role) {
		copies->has_records = false;
		copies->look_us = 0;
		copies->complete_us = now_us;
	}
	triad_sa_copier_set_role(
		copies->copier, role, role == TRIAD_SA_TAKES ? facts.other : 0);
}

static void look_at_sa(struct triad_sa_copies *copies, uint64_t now_us)
{
	struct triad_sa_snapshot *snapshot = &copies->snapshot;
	uint64_t period_us = LOOK_US;

	if (now_us < copies->look_us || find_role(copies, now_us) != TRIAD_SA_GIVES)
		return;
	/* Check the role again: if it changed, OpenSM may have emptied the SA, which
	 * must not look as if clients had withdrawn their records. */
	if (!triad_sa_snapshot_take(copies->osm, snapshot) &&
		find_role(copies, now_us) == TRIAD_SA_GIVES &&
		!triad_sa_copier_set_records(
			copies->copier, snapshot->octets, snapshot->size))
		copies->has_records = true;
	if (period_us < LOOK_PARTS * snapshot->took_us)
		period_us = LOOK_PARTS * snapshot->took_us;
	copies->look_us = now_us + period_us;
	copies->draft.hold_us = snapshot->hold_us;
	copies->draft.took_us = snapshot->took_us;
}

/* --- a step --- */

static const char *find_trouble(
	const struct triad_sa_copies *copies, const struct triad_conf *conf)
{
	if (!conf->election.enabled)
		return "SMs copy records by their election: set election.enabled to true";
	if (conf->election.cluster == TRIAD_CLUSTER_NONE)
		return "election.cluster is none: no other SM can be reached";
	if (triad_sa_restore_has_own(copies->restore))
		return "OpenSM has a file of its own to restore from: remove sa_db_file "
		       "from opensm.conf and restart it";
	return NULL;
}

static void publish_status(
	struct triad_sa_copies *copies, const struct triad_conf *conf, uint64_t now_us)
{
	struct triad_sa_copies_status *draft = &copies->draft;

	draft->is_on = conf && conf->election.replicate_sa;
	draft->trouble = draft->is_on ? find_trouble(copies, conf) : NULL;
	draft->is_given = triad_sa_restore_is_given(copies->restore);
	draft->is_current = draft->is_given && copies->copier &&
		copies->file.digest == triad_sa_copier_digest(copies->copier);
	draft->now_us = now_us;
	if (copies->copier)
		triad_sa_copier_status(copies->copier, &draft->copier);
	else
		memset(&draft->copier, 0, sizeof(draft->copier));
	/* Complete as of the master's last message: its records may have changed
	 * since. */
	if (draft->copier.role != TRIAD_SA_TAKES)
		copies->complete_us = now_us;
	else if (draft->copier.is_complete)
		copies->complete_us = draft->copier.received_us;
	draft->incomplete_us = now_us - copies->complete_us;
	pthread_mutex_lock(&copies->lock);
	draft->n_dropped = copies->inbox.n_dropped;
	copies->status = *draft;
	pthread_mutex_unlock(&copies->lock);
}

static uint32_t find_rate(const struct triad_conf *conf)
{
	return conf->election.cluster == TRIAD_CLUSTER_FABRIC ? FABRIC_RATE_OCTETS_S
							      : RATE_OCTETS_S;
}

static void start_copier(struct triad_sa_copies *copies, const struct triad_conf *conf)
{
	const struct triad_sa_copier_conf copier = {
		.id = copies->port_guid, .rate_octets_s = find_rate(conf)};

	copies->rate_octets_s = copier.rate_octets_s;
	copies->copier = triad_sa_copier_new(&copier);
	copies->complete_us = triad_clock_now_us();
	pthread_mutex_lock(&copies->lock);
	copies->is_wanted = copies->copier;
	pthread_mutex_unlock(&copies->lock);
}

static void stop_copier(struct triad_sa_copies *copies)
{
	copies_file_forget(copies);
	pthread_mutex_lock(&copies->lock);
	copies->is_wanted = false;
	triad_inbox_clear(&copies->inbox);
	pthread_mutex_unlock(&copies->lock);
	triad_sa_copier_free(copies->copier);
	copies->copier = NULL;
	copies->outbox.size = 0;
	copies->has_records = false;
	copies->past = (struct triad_sa_past){.was_master = false};
	copies->draft.error = 0;
	copies->draft.error_text[0] = '\0';
	triad_sa_snapshot_clear(&copies->snapshot);
}

static uint64_t run_copier(
	struct triad_sa_copies *copies, const struct triad_conf *conf)
{
	uint64_t now_us = triad_clock_now_us(), next_us = now_us + TICK_US;
	uint64_t again_us;

	triad_sa_copier_run(copies->copier, now_us, triad_clock_wall_us());
	look_at_role(copies, now_us);
	take_all(copies);
	look_at_sa(copies, now_us);
	again_us = send_all(copies, now_us);
	triad_sa_copier_status(copies->copier, &copies->draft.copier);
	copies_file_look(copies, now_us);
	publish_status(copies, conf, now_us);
	/* 'again_us' is when to retry a payload that waits for the transport. */
	if (again_us == UINT64_MAX)
		again_us = triad_sa_copier_next_us(copies->copier);
	return again_us < next_us ? again_us : next_us;
}

static uint64_t copy_when_due(void *context)
{
	struct triad_sa_copies *copies = context;
	const struct triad_conf *conf = triad_conf_ref(copies->conf);
	uint64_t next_us = UINT64_MAX;
	bool is_on = conf->election.replicate_sa && conf->election.enabled;

	pthread_mutex_unlock(&copies->lock);
	copies_file_name(copies, conf, is_on);
	if (copies->copier && (!is_on || copies->rate_octets_s != find_rate(conf)))
		stop_copier(copies);
	if (is_on && !copies->copier)
		start_copier(copies, conf);
	if (copies->copier)
		next_us = run_copier(copies, conf);
	else
		publish_status(copies, conf, triad_clock_now_us());
	triad_conf_unref(conf);
	pthread_mutex_lock(&copies->lock);
	return is_on ? next_us : TRIAD_TASK_DONE;
}

/* --- life --- */

struct triad_sa_copies *triad_sa_copies_new(struct osm_opensm *osm, uint64_t port_guid,
	struct triad_elector *elector, struct triad_log *log)
{
	struct triad_sa_copies *copies = calloc(1, sizeof(*copies));
	const struct triad_cluster_sink sink = {
		.context = copies, .view = receive_view, .message = receive_payload};

	if (!copies)
		return NULL;
	copies->osm = osm;
	copies->port_guid = port_guid;
	copies->elector = elector;
	copies->log = log;
	copies->release = (struct triad_release){.about = "election: records of the SA",
		.magic = TRIAD_SA_MAGIC_NUMBER,
		.version = TRIAD_SA_VERSION,
		.log = log};
	pthread_mutex_init(&copies->lock, NULL);
	triad_task_init(
		&copies->task, &copies->lock, "triad-sa-copies", copy_when_due, copies);
	copies->restore = triad_sa_restore_new(osm);
	if (copies->restore) {
		triad_elector_set_listener(elector, TRIAD_ELECTOR_SA, &sink);
		return copies;
	}
	(void)triad_sa_copies_free(copies);
	return NULL;
}

bool triad_sa_copies_free(struct triad_sa_copies *copies)
{
	if (!copies)
		return true;
	triad_elector_set_listener(copies->elector, TRIAD_ELECTOR_SA, NULL);
	/* The thread hangs.  Withdraw the file here: OpenSM no longer sweeps, and will
	 * free the option with the file's name. */
	if (!triad_task_stop(&copies->task, JOIN_US)) {
		triad_sa_restore_withdraw(copies->restore);
		return false;
	}
	triad_sa_restore_free(copies->restore);
	triad_sa_copier_free(copies->copier);
	triad_sa_snapshot_clear(&copies->snapshot);
	triad_task_clear(&copies->task);
	triad_conf_unref(copies->conf);
	pthread_mutex_destroy(&copies->lock);
	free(copies);
	return true;
}

void triad_sa_copies_configure(
	struct triad_sa_copies *copies, const struct triad_conf *conf)
{
	const struct triad_conf *old;
	int error = 0;

	pthread_mutex_lock(&copies->lock);
	old = copies->conf;
	copies->conf = triad_conf_ref(conf);
	if (conf->election.replicate_sa)
		error = triad_task_start(&copies->task);
	triad_task_wake(&copies->task);
	pthread_mutex_unlock(&copies->lock);
	triad_conf_unref(old);
	if (error)
		triad_log_write(copies->log, TRIAD_LOG_ERROR,
			"election: no thread for the SA's records: %s; they are not "
			"copied: type 'triadctl reload' to try again",
			strerror(error));
}

void triad_sa_copies_status(
	struct triad_sa_copies *copies, struct triad_sa_copies_status *status)
{
	*status = TRIAD_LOCKED(&copies->lock, copies->status);
	status->now_us = triad_clock_now_us();
}
