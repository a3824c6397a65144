/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "plugin/election/elector_parts.h"
#include "portmgr/election/stored.h"
#include "triad/clock.h"
#include "triad/thread.h"

/* How often to check the SM's state: it changes without an event. */
#define TICK_US (20 * TRIAD_US_PER_MS)
/* How long to wait for a reading of local ports.  It takes milliseconds, or some
 * hundreds on an overloaded machine; if the driver hangs, its ports count as bad. */
#define BLIND_US (5 * TRIAD_US_PER_S)
/* Report a step that is later than 1/LATE_PARTS of the lease: little time is left
 * then. */
#define LATE_PARTS 2u

/* --- input from other threads --- */

/* Only sets a flag, so that OpenSM's thread need not wait; ours checks it each
 * TICK_US. */
void triad_elector_note_up(struct triad_elector *elector)
{
	atomic_store(&elector->is_up, true);
}

/* --- a step --- */

static bool take_payload(struct triad_elector *elector, struct triad_payload *payload,
	struct triad_cluster_view *view)
{
	bool has_one;

	pthread_mutex_lock(&elector->inbox_lock);
	has_one = triad_inbox_take(&elector->inbox, payload);
	if (has_one && !payload->size)
		*view = elector->view;
	pthread_mutex_unlock(&elector->inbox_lock);
	return has_one;
}

static void handle_inbox(struct triad_elector *elector)
{
	struct triad_cluster_view view;
	struct triad_payload payload;
	bool has_late_view;

	while (elector->election && take_payload(elector, &payload, &view)) {
		uint64_t now_us = triad_clock_boot_us();

		if (!payload.size) {
			triad_election_view(elector->election, &view, now_us);
		} else {
			triad_release_check(&elector->release, &payload);
			triad_election_payload(elector->election, payload.sender,
				payload.octets, payload.size, now_us);
		}
		elector_act(elector);
	}
	/* receive_view() keeps a view beside a full queue.  Take it once the queue is
	 * empty. */
	pthread_mutex_lock(&elector->inbox_lock);
	has_late_view =
		elector->election && elector->has_view && !elector->inbox.ring.n;
	if (has_late_view)
		view = elector->view;
	elector->has_view &= !has_late_view;
	pthread_mutex_unlock(&elector->inbox_lock);
	if (has_late_view) {
		triad_election_view(elector->election, &view, triad_clock_boot_us());
		elector_act(elector);
	}
}

static void report_not_found(struct triad_elector *elector, uint64_t absent)
{
	if (absent == elector->absent_port)
		return;
	elector->absent_port = absent;
	if (absent)
		triad_log_write(elector->log, TRIAD_LOG_WARNING,
			"election: election.ports: this machine has no port 0x%016" PRIx64
			": it counts as a bad one; 'ibstat -p' lists its ports' GUIDs",
			absent);
	else
		triad_log_write(elector->log, TRIAD_LOG_INFO,
			"election: election.ports: all of them are there");
}

static void report_blind(struct triad_elector *elector, bool is_blind)
{
	if (is_blind == elector->is_blind)
		return;
	elector->is_blind = is_blind;
	if (is_blind)
		triad_log_write(elector->log, TRIAD_LOG_ERROR,
			"election: local ports: reading their state under "
			"/sys/class/infiniband has taken more than %" PRIu64
			" s: they count as bad, so that another SM is preferred; look "
			"in the kernel's log whether the HCA hangs",
			BLIND_US / TRIAD_US_PER_S);
	else
		triad_log_write(elector->log, TRIAD_LOG_INFO,
			"election: local ports: their state can be read again");
}

static void look_at_ports(struct triad_elector *elector, uint64_t now_us)
{
	struct triad_local_health seen = {.n_ports = (uint32_t)elector->n_ports};
	bool has_seen = triad_health_watch_take(elector->watch, &seen);

	if (has_seen) {
		elector->health_us = now_us;
		report_not_found(elector, seen.absent);
	} else if (now_us - elector->health_us < BLIND_US) {
		return;
	}
	/* Either a reading is there, or it is overdue: then 'seen' has no good port. */
	report_blind(elector, !has_seen);
	if (triad_port_health_look(&elector->health, seen.n_ports, seen.n_good, now_us))
		triad_election_ports(elector->election, &elector->health, now_us);
}

/* Reports when this thread ran late: the SM may lose the lease, and the operator has to
 * know why. */
static void note_lateness(struct triad_elector *elector, uint64_t now_us)
{
	uint64_t late_us = now_us > elector->due_us ? now_us - elector->due_us : 0;
	uint32_t lease_ms = elector->conf->election.lease_ms;
	unsigned long suppressed;

	if (!elector->due_us)
		return;
	/* The thread that reads the ports' state stood still, too. */
	elector->health_us += late_us;
	if (late_us < lease_ms * TRIAD_US_PER_MS / LATE_PARTS)
		return;
	elector->n_late++;
	if (late_us > elector->longest_late_us)
		elector->longest_late_us = late_us;
	if (triad_log_limit_pass(
		    &elector->late_limit, triad_clock_now_us(), &suppressed))
		triad_log_write(elector->log, TRIAD_LOG_WARNING,
			"election: this SM's election ran %" PRIu64
			" ms late, of a lease of %" PRIu32
			" ms (%lu more times since the last such line): opensm was "
			"stopped, or waits for a processor or the disk; permission "
			"to enforce ends meanwhile: give it more of them, or raise "
			"election.lease on all members",
			late_us / TRIAD_US_PER_MS, lease_ms, suppressed);
}

/* Returns when to look again. */
static uint64_t run_step(struct triad_elector *elector)
{
	uint64_t now_us = triad_clock_boot_us();
	uint64_t next_us = now_us + TICK_US;
	enum triad_check check;
	bool is_master;

	if (!elector->election) {
		elector_clear_inbox(
			elector); /* a transport that is ending may fill it */
		elector->due_us = 0;
		return now_us + TRIAD_US_PER_S;
	}
	/* First the received messages in order, then the other inputs, then time. */
	note_lateness(elector, now_us);
	handle_inbox(elector);
	if (!elector->election)
		return now_us;
	/* SUBNET_UP counts only for the present time as master. */
	is_master =
		triad_osm_peek(&elector->osm->subn.sm_state) == IB_SMINFO_STATE_MASTER;
	if (!is_master)
		atomic_store(&elector->is_up, false);
	triad_election_sm(elector->election, is_master, atomic_load(&elector->is_up),
		triad_clock_boot_us());
	look_at_ports(elector, now_us);
	elector_look_at_fabric(elector);
	check = elector_find_check(elector, now_us);
	if (check != elector->check)
		triad_election_check(elector->election, check, now_us);
	elector->check = check;
	triad_election_run(elector->election, triad_clock_boot_us());
	elector_act(elector);
	if (elector->election && triad_election_next_us(elector->election) < next_us)
		next_us = triad_election_next_us(elector->election);
	elector->due_us = next_us > now_us ? next_us : now_us;
	return next_us;
}

/* --- the thread --- */

static uint64_t run_election(void *context)
{
	struct triad_elector *elector = context;
	uint64_t next_us;

	pthread_mutex_unlock(&elector->inbox_lock);
	pthread_mutex_lock(&elector->lock);
	/* OpenSM ends.  Resign, so that the others need not wait out the keep-alive
	 * time. */
	if (osm_exit_flag && !elector->has_resigned) {
		elector->has_resigned = true;
		if (elector->election) {
			triad_election_resign(elector->election, triad_clock_boot_us());
			elector_act(elector);
		}
	}
	next_us = run_step(elector);
	elector_publish_and_unlock(elector);
	pthread_mutex_lock(&elector->inbox_lock);
	return triad_clock_from_boot_us(next_us);
}

/* --- life --- */

/* Requires that no thread uses the elector any more. */
static void destroy_elector(struct triad_elector *elector)
{
	triad_conf_unref(elector->conf);
	triad_sm_control_free(elector->sm);
	triad_line_file_close(&elector->trace);
	triad_task_clear(&elector->task);
	pthread_mutex_destroy(&elector->conf_lock);
	pthread_mutex_destroy(&elector->listener_lock);
	pthread_mutex_destroy(&elector->facts_lock);
	pthread_mutex_destroy(&elector->lock);
	pthread_mutex_destroy(&elector->inbox_lock);
	free(elector);
}

struct triad_elector *triad_elector_new(
	struct osm_opensm *osm, uint64_t port_guid, struct triad_log *log)
{
	static const struct triad_state_probe_params probed = {
		.part = "election",
		.consequence =
			"this SM can give no vote, nor enforce in a new term, until it "
			"can: see election.state_dir",
		.size = TRIAD_ELECTION_STORED_SIZE,
	};
	struct triad_elector *elector = calloc(1, sizeof(*elector));
	struct triad_fabric_ask *fabric;

	if (!elector)
		return NULL;
	elector->osm = osm;
	elector->id = port_guid;
	elector->log = log;
	triad_line_file_init(&elector->trace);
	pthread_mutex_init(&elector->inbox_lock, NULL);
	pthread_mutex_init(&elector->lock, NULL);
	pthread_mutex_init(&elector->facts_lock, NULL);
	pthread_mutex_init(&elector->conf_lock, NULL);
	pthread_mutex_init(&elector->listener_lock, NULL);
	triad_task_init(&elector->task, &elector->inbox_lock, "triad-election",
		run_election, elector);
	elector->status = (struct triad_elector_status){
		.cluster = "none", .id = port_guid, .check_age_us = UINT64_MAX};
	elector->late_limit.burst = 1;
	elector->late_limit.period_us = 60 * TRIAD_US_PER_S;
	elector->release = (struct triad_release){.about = "election",
		.magic = TRIAD_ELECTION_MAGIC,
		.version = TRIAD_ELECTION_VERSION,
		.log = log};
	elector->conf = triad_conf_new(port_guid);
	fabric = triad_fabric_ask_new(osm, port_guid, log);
	elector->fabric = fabric;
	if (fabric)
		elector->sm = triad_sm_control_new(osm, fabric, log);
	elector->watch = triad_health_watch_new();
	elector->probe = triad_state_probe_new(&probed, log);
	if (elector->conf && elector->sm && elector->watch && elector->probe)
		return elector;
	/* These can't hang: they have read and asked nothing yet. */
	(void)triad_health_watch_free(elector->watch);
	(void)triad_state_probe_free(elector->probe);
	destroy_elector(elector);
	(void)triad_fabric_ask_free(fabric);
	return NULL;
}

bool triad_elector_free(struct triad_elector *elector)
{
	struct triad_fabric_ask *fabric;
	bool has_ended;

	if (!elector)
		return true;
	has_ended = elector_stop(elector);
	has_ended &= triad_task_stop(&elector->task, ELECTOR_PATIENCE_US) &&
		!elector->has_left;
	/* A thread that hangs may still call triad-sm, so its memory stays. triad-sm
	 * does nothing while OpenSM exits. */
	if (!has_ended)
		return false;
	has_ended = triad_health_watch_free(elector->watch);
	has_ended &= triad_state_probe_free(elector->probe);
	fabric =
		elector->fabric; /* free it last: triad-sm, which ends below, uses it */
	destroy_elector(elector);
	return triad_fabric_ask_free(fabric) && has_ended;
}
