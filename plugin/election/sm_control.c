/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/election/sm_control.h"

#include <stdlib.h>

#include "lib/task.h"
#include "plugin/sm_recover.h"
#include "triad/clock.h"

/* How often it is looked whether OpenSM is as it should be. */
#define TICK_US (200 * TRIAD_US_PER_MS)

/* The kernel of a host whose opensm has died takes back that its port has an SM; until
 * it has, a sweep would wait for an answer of that SM for nearly a second. */
#define SETTLE_US (30 * TRIAD_US_PER_MS)

/* A live master gets so long to hand over before it is asked again; a take-over that a
 * live master stopped is tried again after the first of these, and then less and less
 * often. */
#define RETRY_US TRIAD_US_PER_S
#define MAX_RETRY_US (30 * TRIAD_US_PER_S)

struct triad_sm_control {
	struct osm_opensm *osm;
	struct triad_log *log;
	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	struct triad_sm_wish wish;
	struct triad_sm_control_status status;

	/* Of the thread alone. */
	bool has_priority; /* ours is in force */
	uint8_t ours;
	bool was_master_wished, had_master, has_taken_over, has_asked;
	uint64_t again_us, retry_us;
};

static bool may_touch(void)
{
	return !osm_exit_flag;
}

/* --- priority --- */

/* Not by osm_set_sm_priority(): that makes a standby whose priority rises send a trap
 * at once, also to a master that is dead, and its next sweep then waits for the answer
 * for nearly a second. */
static void put_priority(struct triad_sm_control *control, uint8_t priority)
{
	if (!may_touch())
		return;
	cl_plock_excl_acquire(&control->osm->lock);
	/* It may have taken a whole sweep to get the lock. */
	if (may_touch())
		control->osm->subn.opt.sm_priority = priority;
	cl_plock_release(&control->osm->lock);
}

static void give_back_priority(struct triad_sm_control *control)
{
	uint8_t own = control->status.own_priority;

	if (!control->has_priority)
		return;
	control->has_priority = false;
	put_priority(control, own);
	triad_log_write(control->log, TRIAD_LOG_INFO,
		"election: OpenSM has its own SM priority again, %u", own);
}

/* What somebody else sets meanwhile, in opensm.conf or the console, is OpenSM's own
 * from then on. */
static void set_priority(struct triad_sm_control *control, uint8_t priority)
{
	uint8_t present = control->osm->subn.opt.sm_priority;

	if (control->has_priority && present == priority && control->ours == priority)
		return;
	pthread_mutex_lock(&control->lock);
	if (!control->has_priority || present != control->ours)
		control->status.own_priority = present;
	control->status.n_priorities++;
	pthread_mutex_unlock(&control->lock);
	control->has_priority = true;
	control->ours = priority;
	/* A master that kept mastership before a lower one is asked anew at once. */
	if (control->was_master_wished) {
		control->retry_us = RETRY_US;
		control->again_us = triad_clock_now_us();
	}
	put_priority(control, priority);
	triad_log_write(control->log, TRIAD_LOG_INFO,
		"election: the SM's priority is now %u", priority);
}

/* --- mastership --- */

static void count(struct triad_sm_control *control, uint64_t *counter)
{
	pthread_mutex_lock(&control->lock);
	(*counter)++;
	pthread_mutex_unlock(&control->lock);
}

static void wait_longer(struct triad_sm_control *control, uint64_t now_us)
{
	control->again_us = now_us + control->retry_us;
	control->retry_us *= 2;
	if (control->retry_us > MAX_RETRY_US)
		control->retry_us = MAX_RETRY_US;
}

/* OpenSM polls, and would tell, the last SM with a higher priority that it has seen,
 * which may be a standby; 'master', if not 0, is who really is master. */
static void ask_for_hand_over(struct triad_sm_control *control, uint64_t master)
{
	osm_sm_t *sm = &control->osm->sm;

	count(control, &control->status.n_asked);
	cl_plock_excl_acquire(&control->osm->lock);
	if (master && osm_get_port_by_guid(sm->p_subn, cl_hton64(master)))
		sm->master_sm_guid = cl_hton64(master);
	if (may_touch())
		osm_send_trap144(sm, TRAP_144_MASK_SM_PRIORITY_CHANGE);
	cl_plock_release(&control->osm->lock);
}

static void sweep(struct triad_sm_control *control)
{
	count(control, &control->status.n_sweeps);
	triad_sm_sweep(control->osm);
}

/* Whether discovery has found a master of a higher priority: an SM without Triad.  It
 * won't hand over, and would sweep for nothing each time that it is asked; OpenSM polls
 * it, and takes over when it dies. */
static bool is_outranked(struct triad_sm_control *control)
{
	osm_sm_t *sm = &control->osm->sm;
	const osm_remote_sm_t *other;
	cl_qmap_t *all = &sm->p_subn->sm_guid_tbl;
	bool is_so;

	cl_plock_acquire(&control->osm->lock);
	other = (const osm_remote_sm_t *)cl_qmap_get(all, sm->master_sm_guid);
	is_so = other != (const osm_remote_sm_t *)cl_qmap_end(all) &&
		ib_sminfo_get_state(&other->smi) == IB_SMINFO_STATE_MASTER &&
		triad_sm_is_higher(control->osm, cl_ntoh64(sm->master_sm_guid));
	cl_plock_release(&control->osm->lock);
	return is_so;
}

/* Alternates: asks the SM that says it is master, which may be mistaken; then
 * discovers, which shows whether there is a master, and asks that one. */
static void become_master(struct triad_sm_control *control,
	const struct triad_sm_wish *wish, uint64_t now_us)
{
	bool asks = control->has_taken_over || (wish->master && !control->has_asked);

	/* An SM that discovers is about to become master, or standby, by itself. */
	if (control->osm->subn.sm_state != IB_SMINFO_STATE_STANDBY)
		return;
	if (control->has_taken_over && !wish->master && is_outranked(control)) {
		control->again_us = now_us + MAX_RETRY_US;
		return;
	}
	control->has_asked = asks;
	control->has_taken_over = !asks;
	if (asks) {
		ask_for_hand_over(control, wish->master);
		wait_longer(control, now_us);
		return;
	}
	triad_log_write(control->log, TRIAD_LOG_INFO,
		"election: no live SM is master as far as is known: this one takes over at "
		"once");
	count(control, &control->status.n_take_overs);
	/* As if polling the master had timed out: OpenSM discovers the fabric. */
	osm_sm_state_mgr_process(&control->osm->sm, OSM_SM_SIGNAL_POLLING_TIMEOUT);
	control->again_us = now_us;
}

static void see_to_mastership(
	struct triad_sm_control *control, const struct triad_sm_wish *wish)
{
	uint64_t now_us = triad_clock_now_us();
	bool is_master = control->osm->subn.sm_state == IB_SMINFO_STATE_MASTER;

	/* Another wish begins at once.  Before this SM sweeps to yield, the other one
	 * gets time to ask by a trap; and before it takes over a dead SM's place, the
	 * kernel there gets time to say that its port no longer has an SM. */
	if (wish->is_master != control->was_master_wished) {
		control->was_master_wished = wish->is_master;
		control->has_taken_over = control->has_asked = false;
		control->retry_us = RETRY_US;
		control->again_us = now_us;
		if (!wish->is_master)
			control->again_us += RETRY_US;
		else if (!wish->master)
			control->again_us += SETTLE_US;
	}
	if (control->had_master && !wish->master)
		control->again_us = now_us; /* it won't hand over any more */
	control->had_master = wish->master != 0;
	if (is_master == wish->is_master || now_us < control->again_us)
		return;
	if (wish->is_master) {
		become_master(control, wish, now_us);
		return;
	}
	sweep(control);
	wait_longer(control, now_us);
}

/* --- a hand-over that never comes --- */

static bool end_vain_wait(struct triad_sm_control *control)
{
	bool was_vain;

	/* First without the lock: there is nearly never such a wait. */
	if (!control->osm->sm.polling_sm_guid)
		return false;
	cl_plock_excl_acquire(&control->osm->lock);
	was_vain = may_touch() && triad_sm_end_vain_wait(control->osm);
	cl_plock_release(&control->osm->lock);
	return was_vain;
}

/* --- the thread --- */

static void carry_out(
	struct triad_sm_control *control, const struct triad_sm_wish *wish)
{
	if (!wish->is_set) {
		give_back_priority(control);
		control->was_master_wished = false;
		return;
	}
	if (!may_touch())
		return;
	/* First the priority, by which OpenSM and the rest decide who comes first. */
	set_priority(control, wish->priority);
	if (end_vain_wait(control)) {
		triad_log_write(control->log, TRIAD_LOG_INFO,
			"election: this SM waited for a hand-over by a master of higher "
			"priority; it sweeps and hands over to that one");
		sweep(control);
	}
	see_to_mastership(control, wish);
}

static uint64_t task_step(void *context)
{
	struct triad_sm_control *control = context;
	struct triad_sm_wish wish = control->wish;
	uint64_t now_us, next_us;

	/* OpenSM may keep its lock for a whole sweep: those who wish don't wait for
	 * it. */
	pthread_mutex_unlock(&control->lock);
	carry_out(control, &wish);
	pthread_mutex_lock(&control->lock);
	now_us = triad_clock_now_us();
	next_us = now_us + TICK_US;
	if (control->again_us > now_us && control->again_us < next_us)
		next_us = control->again_us;
	return next_us;
}

void triad_sm_control_wish(
	struct triad_sm_control *control, const struct triad_sm_wish *wish)
{
	pthread_mutex_lock(&control->lock);
	control->wish = *wish;
	triad_task_wake(&control->task);
	pthread_mutex_unlock(&control->lock);
}

struct triad_sm_control_status triad_sm_control_status(struct triad_sm_control *control)
{
	struct triad_sm_control_status status;

	pthread_mutex_lock(&control->lock);
	status = control->status;
	pthread_mutex_unlock(&control->lock);
	return status;
}

struct triad_sm_control *triad_sm_control_new(
	struct osm_opensm *osm, struct triad_log *log)
{
	struct triad_sm_control *control = calloc(1, sizeof(*control));

	if (!control)
		return NULL;
	control->osm = osm;
	control->log = log;
	control->status.own_priority = osm->subn.opt.sm_priority;
	pthread_mutex_init(&control->lock, NULL);
	triad_task_init(&control->task, &control->lock, "triad-sm", task_step, control);
	if (!triad_task_start(&control->task))
		return control;
	triad_task_clear(&control->task);
	pthread_mutex_destroy(&control->lock);
	free(control);
	return NULL;
}

void triad_sm_control_free(struct triad_sm_control *control)
{
	if (!control)
		return;
	(void)triad_task_stop(&control->task, UINT64_MAX);
	give_back_priority(control);
	triad_task_clear(&control->task);
	pthread_mutex_destroy(&control->lock);
	free(control);
}
