/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/election/sm_control.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/backoff.h"
#include "lib/task.h"
#include "plugin/election/fabric_ask.h"
#include "plugin/sm_recover.h"
#include "service/umad.h"
#include "triad/clock.h"
#include "triad/thread.h"

/* How often to check whether OpenSM is as desired. */
#define TICK_US (200 * TRIAD_US_PER_MS)

/* When opensm dies on a host, its kernel clears IsSM of the port.  Wait for that: a
 * sweep before it would wait for the dead SM's answer for nearly a second. */
#define SETTLE_US (30 * TRIAD_US_PER_MS)

/* Whatever sends or sweeps is repeated after RETRY_US first, and then after twice as
 * long each time, at most MAX_RETRY_US. */
#define RETRY_US TRIAD_US_PER_S
#define MAX_RETRY_US (30 * TRIAD_US_PER_S)

/* How often a master without a majority sweeps, which takes two minutes. */
#define MAX_ALONE 8u

/* The longest time for which OpenSM ignores other SMs, and how often to check whether
 * its discovery is over. */
#define IGNORE_US (2 * TRIAD_US_PER_S)
#define IGNORE_TICK_US (10 * TRIAD_US_PER_MS)
/* How long to wait for members to report that they are standby, and how often to check.
 * Discovery would wait twice as long for a dead SM's answer. */
#define STANDBY_WAIT_US (400 * TRIAD_US_PER_MS)
#define STANDBY_TICK_US (10 * TRIAD_US_PER_MS)

struct retry {
	uint64_t again_us; /* not before; 0: at once */
	uint32_t n;        /* tries since it began */
};

struct triad_sm_control {
	struct osm_opensm *osm;
	struct triad_fabric_ask *fabric;
	struct triad_log *log;
	pthread_mutex_t lock; /* protects what follows */
	struct triad_task task;
	struct triad_sm_target target;
	int start_error; /* of the thread; logged last */
	struct triad_sm_control_status status;

	/* Used only by the thread. */
	bool has_priority; /* OpenSM has the priority 'given_priority', not its own */
	uint8_t given_priority;
	bool was_master_targeted, had_other_master, has_taken_over, has_asked;
	bool was_outranked;      /* by a master that does not elect, at the last try */
	struct triad_umad *umad; /* for traps; NULL: not yet */
	uint32_t tid;
	struct retry retry; /* of mastership */
	struct retry vain;  /* of ending a vain wait */
	struct retry alone; /* of sweeps without a majority */
	bool is_alone;      /* it was a master without a majority at the last look */
	unsigned n_alone;   /* sweeps since then */
	uint64_t standby_until_us;
	uint64_t ignore_until_us; /* we made OpenSM ignore other SMs; 0: we did not */
};

static bool may_touch(void)
{
	return !osm_exit_flag;
}

/* --- retries --- */

/* Begins anew, with a first try at 'at_us'. */
static void retry_begin(struct retry *retry, uint64_t at_us)
{
	*retry = (struct retry){.again_us = at_us};
}

/* After a try. */
static void retry_wait(struct retry *retry, uint64_t now_us)
{
	retry->n += retry->n < UINT32_MAX;
	retry->again_us = now_us + triad_backoff(retry->n, RETRY_US, MAX_RETRY_US);
}

/* --- priority --- */

/* Does not use osm_set_sm_priority(): a standby whose priority rises would send a trap
 * at once.  If the master is dead, the next sweep would wait for the answer for nearly
 * a second. */
static void put_priority(struct triad_sm_control *control, uint8_t priority)
{
	if (!may_touch())
		return;
	cl_plock_excl_acquire(&control->osm->lock);
	/* Check again: the wait for the lock may have lasted a whole sweep. */
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

/* If somebody changed the priority meanwhile, in opensm.conf or at the console, this
 * becomes OpenSM's own priority. */
static void set_priority(struct triad_sm_control *control, uint8_t priority)
{
	uint8_t present = control->osm->subn.opt.sm_priority;

	if (control->has_priority && present == priority &&
		control->given_priority == priority)
		return;
	pthread_mutex_lock(&control->lock);
	if (!control->has_priority || present != control->given_priority)
		control->status.own_priority = present;
	control->status.n_priorities++;
	pthread_mutex_unlock(&control->lock);
	control->has_priority = true;
	control->given_priority = priority;
	/* Ask at once, even if a master refused to hand over to a lower priority
	 * before. */
	if (control->was_master_targeted)
		retry_begin(&control->retry, triad_clock_now_us());
	put_priority(control, priority);
	triad_log_write(control->log, TRIAD_LOG_INFO,
		"election: the SM's priority is now %u", priority);
}

/* --- mastership --- */

static void count_under_lock(struct triad_sm_control *control, uint64_t *counter)
{
	pthread_mutex_lock(&control->lock);
	(*counter)++;
	pthread_mutex_unlock(&control->lock);
}

/* Sends the trap by our own descriptor.  OpenSM counts a trap of its own as outstanding
 * until the master represses it.  A master that has handed over or is dead does not do
 * so, and the first sweep of this SM as master would wait for nearly a second. */
static bool send_trap(struct triad_sm_control *control, uint16_t to_lid,
	const struct triad_sm_trap *trap)
{
	const struct triad_mad_address to = {.lid = to_lid};
	const struct triad_mad_transport *transport;
	uint8_t mad[TRIAD_MAD_SIZE];
	int error;

	if (!to_lid || !trap->lid)
		return false;
	if (!control->umad &&
		triad_umad_open(cl_ntoh64(control->osm->subn.sm_port_guid),
			TRIAD_MAD_CLASS_SUBNET_LID, &control->umad))
		return false;
	transport = triad_umad_transport(control->umad);
	triad_smp_encode_priority_trap(mad, trap, ++control->tid);
	error = transport->send(transport->context, &to, mad, 0);
	if (!error)
		return true;
	/* Open the port anew for the next trap. */
	triad_umad_close(control->umad, false);
	control->umad = NULL;
	return false;
}

/* Fills in a trap of this SM; returns the LID of its master, or 0.  The caller holds
 * OpenSM's lock. */
static uint16_t describe_trap(osm_sm_t *sm, struct triad_sm_trap *trap)
{
	const osm_subn_t *subn = sm->p_subn;
	const osm_port_t *own = osm_get_port_by_guid(subn, subn->sm_port_guid);
	const osm_port_t *master = osm_get_port_by_guid(subn, sm->master_sm_guid);

	*trap = (struct triad_sm_trap){.lid = 0};
	if (!own || !own->p_physp || !master || !master->p_physp)
		return 0;
	trap->lid = cl_ntoh16(osm_port_get_base_lid(own));
	trap->node_type = osm_node_get_type(own->p_node);
	trap->capabilities = cl_ntoh32(own->p_physp->port_info.capability_mask);
	return cl_ntoh16(osm_port_get_base_lid(master));
}

/* Asks the SM 'master' to hand over; 0: the one that OpenSM polls.  OpenSM polls the
 * last SM of a higher priority that it has seen, which may be a standby. */
static void ask_for_hand_over(struct triad_sm_control *control, uint64_t master)
{
	osm_sm_t *sm = &control->osm->sm;
	struct triad_fabric_peer peer;
	struct triad_sm_trap trap;
	uint16_t table_lid, lid = 0;

	if (master && triad_fabric_ask_peer(control->fabric, master, &peer) &&
		triad_fabric_verdict_is_alive(peer.verdict))
		lid = peer.lid;

	cl_plock_excl_acquire(&control->osm->lock);
	if (master && osm_get_port_by_guid(sm->p_subn, cl_hton64(master)))
		triad_osm_poke(&sm->master_sm_guid, cl_hton64(master));
	table_lid = describe_trap(sm, &trap);
	cl_plock_release(&control->osm->lock);
	if (!may_touch() || send_trap(control, lid ? lid : table_lid, &trap))
		return;
	/* Ours can't be sent: let OpenSM send its own. */
	cl_plock_excl_acquire(&control->osm->lock);
	if (may_touch())
		osm_send_trap144(sm, TRAP_144_MASK_SM_PRIORITY_CHANGE);
	cl_plock_release(&control->osm->lock);
}

static void sweep(struct triad_sm_control *control)
{
	count_under_lock(control, &control->status.n_sweeps);
	triad_sm_sweep(control->osm);
}

static bool is_higher(
	const struct triad_sm_control *control, const struct triad_fabric_peer *peer)
{
	const osm_subn_t *subn = &control->osm->subn;

	return osm_sm_is_greater_than(peer->priority, cl_hton64(peer->id),
		triad_osm_peek(&subn->opt.sm_priority), subn->sm_port_guid);
}

/* Whether there is a master of a higher priority: an SM without Triad.  Don't ask it: it
 * would sweep in vain and not hand over.  OpenSM polls it, and takes over when it dies;
 * as its own answer over the fabric is newer than OpenSM's table, this SM need not wait
 * for that. */
static bool is_outranked(struct triad_sm_control *control)
{
	struct triad_fabric_peer peer;
	uint64_t master;
	bool is_so;

	cl_plock_acquire(&control->osm->lock);
	master = cl_ntoh64(control->osm->sm.master_sm_guid);
	is_so = triad_sm_is_higher_master(control->osm, master);
	cl_plock_release(&control->osm->lock);
	if (!is_so || !triad_fabric_ask_peer(control->fabric, master, &peer))
		return is_so;
	switch (peer.verdict) {
	case TRIAD_FABRIC_MASTER:
		return is_higher(control, &peer);
	case TRIAD_FABRIC_STANDBY:
	case TRIAD_FABRIC_NO_SM:
	case TRIAD_FABRIC_SM_SILENT:
		return false;
	default:
		/* No answer: discovery, which needs no LIDs, has found it. */
		return true;
	}
}

/* The SM to ask to hand over, and whether that is of use; 0: none is known. */
static uint64_t find_master(
	struct triad_sm_control *control, const struct triad_sm_target *target)
{
	struct triad_fabric_peer peer;
	uint64_t master;

	if (target->other_master)
		return target->other_master;
	/* An SM that is cut off from the election may answer over the fabric as master:
	 * asking it at once is faster than discovering it. */
	master = triad_fabric_ask_master(control->fabric);
	if (master && triad_fabric_ask_peer(control->fabric, master, &peer) &&
		!triad_fabric_peer_elects(&peer) && is_higher(control, &peer))
		return 0;
	return master;
}

/* --- SMs that are dead for certain --- */

static bool has_id(const uint64_t *ids, uint32_t n, uint64_t id)
{
	for (uint32_t i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* The SMs that may be master, so that discovery has to ask them. */
enum others {
	NONE_LEFT,    /* none: all have reported that they are standby, or are dead */
	MEMBERS_LEFT, /* members: some, or too many, have not reported it yet */
	UNKNOWN_LEFT, /* also SMs that the election does not know */
};

static enum others find_others(struct triad_sm_control *control,
	const struct triad_sm_target *target, const struct triad_fabric_dead *dead)
{
	const cl_qmap_t *all = &control->osm->subn.sm_guid_tbl;
	enum others found = NONE_LEFT;
	const cl_map_item_t *item;

	cl_plock_acquire(&control->osm->lock);
	for (item = cl_qmap_head(all);
		found != UNKNOWN_LEFT && item != cl_qmap_end(all);
		item = cl_qmap_next(item)) {
		uint64_t id = cl_ntoh64(((const osm_remote_sm_t *)item)->smi.guid);

		if (has_id(target->standby, target->n_standby, id) ||
			has_id(dead->ids, dead->n, id))
			continue;
		found = has_id(target->members, target->n_members, id) ? MEMBERS_LEFT
								       : UNKNOWN_LEFT;
	}
	cl_plock_release(&control->osm->lock);
	if (found == NONE_LEFT && target->n_standby < target->n_standby_needed)
		found = MEMBERS_LEFT;
	return found;
}

/* Finds whether any SM but dead ones and standbys may be master.  Returns false
 * when no master is known to be dead, or discovery has to ask all SMs in any case. */
static bool look_at_the_dead(struct triad_sm_control *control,
	const struct triad_sm_target *target, struct triad_fabric_dead *dead,
	enum others *others)
{
	if (!target->is_quorate || target->other_master ||
		triad_osm_peek(&control->osm->subn.opt.ignore_other_sm))
		return false;
	triad_fabric_ask_dead(control->fabric, dead);
	if (!dead->master || has_id(target->standby, target->n_standby, dead->master))
		return false;
	*others = find_others(control, target, dead);
	return true;
}

/* Whether a take-over should wait for more members to report that they are standby. */
static bool waits_for_standbys(struct triad_sm_control *control,
	const struct triad_sm_target *target, uint64_t now_us)
{
	struct triad_fabric_dead dead;
	enum others others;

	return now_us < control->standby_until_us &&
		look_at_the_dead(control, target, &dead, &others) &&
		others == MEMBERS_LEFT;
}

/* Before a take-over: if no other SM can be master, makes OpenSM ask none. */
static void ignore_others(
	struct triad_sm_control *control, const struct triad_sm_target *target)
{
	osm_subn_opt_t *opt = &control->osm->subn.opt;
	struct triad_fabric_dead dead;
	enum others others;

	if (!look_at_the_dead(control, target, &dead, &others) || others != NONE_LEFT)
		return;
	cl_plock_excl_acquire(&control->osm->lock);
	if (may_touch() && !opt->ignore_other_sm) {
		opt->ignore_other_sm = TRUE;
		control->ignore_until_us = triad_clock_now_us() + IGNORE_US;
	}
	cl_plock_release(&control->osm->lock);
	if (!control->ignore_until_us)
		return;
	count_under_lock(control, &control->status.n_unasked);
	triad_log_write(control->log, TRIAD_LOG_INFO,
		"election: SM 0x%016" PRIx64
		" is dead: its port answers over the fabric, and it does not, nor does the "
		"election hear it: this SM takes over without asking it",
		dead.master);
}

/* Ends ignore_others().  Restores the option from opensm.conf, where it may have
 * changed meanwhile. */
static void heed_others(struct triad_sm_control *control)
{
	osm_subn_opt_t *opt = &control->osm->subn.opt;

	if (!control->ignore_until_us)
		return;
	control->ignore_until_us = 0;
	if (!may_touch())
		return;
	cl_plock_excl_acquire(&control->osm->lock);
	opt->ignore_other_sm = opt->file_opts ? opt->file_opts->ignore_other_sm : FALSE;
	cl_plock_release(&control->osm->lock);
}

static bool may_still_ignore(
	const struct triad_sm_control *control, const struct triad_sm_target *target)
{
	return target->is_set && target->is_master && !target->other_master &&
		triad_osm_peek(&control->osm->subn.sm_state) ==
		IB_SMINFO_STATE_DISCOVERING &&
		triad_clock_now_us() < control->ignore_until_us;
}

/* Alternates between asking the SM that is reported as master, which may be wrong, and
 * discovery, which finds the real master and asks it. */
static void become_master(struct triad_sm_control *control,
	const struct triad_sm_target *target, uint64_t now_us)
{
	uint64_t master;
	bool asks;

	/* An SM that discovers is about to become master, or standby, by itself. */
	if (triad_osm_peek(&control->osm->subn.sm_state) != IB_SMINFO_STATE_STANDBY)
		return;
	if (control->has_taken_over && !target->other_master && is_outranked(control)) {
		control->was_outranked = true;
		control->retry.again_us = now_us + TICK_US;
		return;
	}
	/* That master is none any more: discover at once. */
	control->has_taken_over &= !control->was_outranked;
	control->was_outranked = false;
	master = find_master(control, target);
	asks = control->has_taken_over || (master && !control->has_asked);
	if (!asks && waits_for_standbys(control, target, now_us)) {
		control->retry.again_us = now_us + STANDBY_TICK_US;
		return;
	}
	control->has_asked = asks;
	control->has_taken_over = !asks;
	if (asks) {
		ask_for_hand_over(control, master);
		retry_wait(&control->retry, now_us);
		return;
	}
	triad_log_write(control->log, TRIAD_LOG_INFO,
		"election: no live SM is master as far as is known: this one takes over at "
		"once");
	count_under_lock(control, &control->status.n_take_overs);
	ignore_others(control, target);
	/* As if polling the master had timed out: OpenSM discovers the fabric. */
	osm_sm_state_mgr_process(&control->osm->sm, OSM_SM_SIGNAL_POLLING_TIMEOUT);
	control->retry.again_us = now_us;
}

static void see_to_mastership(
	struct triad_sm_control *control, const struct triad_sm_target *target)
{
	uint64_t now_us = triad_clock_now_us();
	bool is_master =
		triad_osm_peek(&control->osm->subn.sm_state) == IB_SMINFO_STATE_MASTER;

	/* Follow a new target at once, with two exceptions.  Before this SM sweeps to
	 * yield, the other one has time to ask by a trap.  Before it takes over from a
	 * dead SM, that host's kernel has time to clear IsSM. */
	if (target->is_master != control->was_master_targeted) {
		control->was_master_targeted = target->is_master;
		control->has_taken_over = control->has_asked = false;
		control->was_outranked = false;
		retry_begin(&control->retry, now_us);
		control->standby_until_us = now_us + STANDBY_WAIT_US;
		if (!target->is_master)
			control->retry.again_us += RETRY_US;
		else if (!target->other_master)
			control->retry.again_us += SETTLE_US;
	}
	if (control->had_other_master && !target->other_master)
		control->retry.again_us = now_us; /* it will no longer hand over */
	control->had_other_master = target->other_master != 0;
	if (is_master == target->is_master || now_us < control->retry.again_us)
		return;
	if (target->is_master) {
		become_master(control, target, now_us);
		return;
	}
	/* While this SM is cut off, it knows no SM to yield to. */
	if (!target->n_members)
		return;
	sweep(control);
	retry_wait(&control->retry, now_us);
}

/* A master that was cut off from the others over the fabric, too, may not notice that it no
 * longer is: OpenSM leaves out traps that come often, and what a sweep would see at switches
 * the other master's sweep has taken away.  That one waits for this one to hand over, and
 * makes no routes to it, so nobody can tell it.  So it sweeps, less and less often. */
static void look_for_others(
	struct triad_sm_control *control, const struct triad_sm_target *target)
{
	uint64_t now_us = triad_clock_now_us();
	bool was_alone = control->is_alone;

	control->is_alone = target->is_master && !target->is_quorate &&
		triad_osm_peek(&control->osm->subn.sm_state) == IB_SMINFO_STATE_MASTER;
	if (control->is_alone && !was_alone) {
		control->n_alone = 0;
		retry_begin(&control->alone, now_us + RETRY_US);
	}
	if (!control->is_alone || control->n_alone == MAX_ALONE ||
		now_us < control->alone.again_us)
		return;
	control->n_alone++;
	sweep(control);
	retry_wait(&control->alone, now_us);
}

/* --- a hand-over that never comes --- */

static bool end_vain_wait(struct triad_sm_control *control)
{
	bool was_vain;

	/* Check without the lock first: such a wait is very rare. */
	if (!triad_osm_peek(&control->osm->sm.polling_sm_guid))
		return false;
	cl_plock_excl_acquire(&control->osm->lock);
	was_vain = may_touch() && triad_sm_end_vain_wait(control->osm);
	cl_plock_release(&control->osm->lock);
	return was_vain;
}

/* The wait may come back with the sweep that is to end it. */
static void see_to_vain_wait(struct triad_sm_control *control)
{
	uint64_t now_us = triad_clock_now_us();

	if (now_us < control->vain.again_us || !end_vain_wait(control))
		return;
	/* Nothing for long: this is another case. */
	if (now_us > control->vain.again_us + 2 * MAX_RETRY_US)
		retry_begin(&control->vain, now_us);
	retry_wait(&control->vain, now_us);
	triad_log_write(control->log, TRIAD_LOG_INFO,
		"election: this SM waited for a hand-over by a master of higher priority; "
		"it sweeps and hands over to that one");
	sweep(control);
}

/* --- the thread --- */

static void carry_out(
	struct triad_sm_control *control, const struct triad_sm_target *target)
{
	if (!may_still_ignore(control, target))
		heed_others(control);
	if (!target->is_set) {
		give_back_priority(control);
		control->was_master_targeted = false;
		return;
	}
	if (!may_touch())
		return;
	/* First the priority: all OpenSMs decide about mastership by it. */
	set_priority(control, target->priority);
	see_to_vain_wait(control);
	see_to_mastership(control, target);
	look_for_others(control, target);
}

static uint64_t follow_target(void *context)
{
	struct triad_sm_control *control = context;
	struct triad_sm_target target = control->target;
	uint64_t now_us, next_us;

	/* Release our lock: OpenSM may hold its own for a whole sweep, and callers of
	 * ours must not wait for that. */
	pthread_mutex_unlock(&control->lock);
	carry_out(control, &target);
	pthread_mutex_lock(&control->lock);
	/* All is as OpenSM alone would have it. */
	if (!target.is_set && !control->target.is_set)
		return TRIAD_TASK_DONE;
	now_us = triad_clock_now_us();
	next_us = now_us + (control->ignore_until_us ? IGNORE_TICK_US : TICK_US);
	if (control->retry.again_us > now_us && control->retry.again_us < next_us)
		next_us = control->retry.again_us;
	return next_us;
}

void triad_sm_control_set(
	struct triad_sm_control *control, const struct triad_sm_target *target)
{
	bool is_new_error;
	int error = 0;

	pthread_mutex_lock(&control->lock);
	control->target = *target;
	if (target->is_set)
		error = triad_task_start(&control->task);
	triad_task_wake(&control->task);
	is_new_error = error && error != control->start_error;
	control->start_error = error;
	pthread_mutex_unlock(&control->lock);
	if (is_new_error)
		triad_log_write(control->log, TRIAD_LOG_ERROR,
			"election: no thread that sets the SM priority: %s; tried again "
			"with each change of the election",
			strerror(error));
}

struct triad_sm_control_status triad_sm_control_status(struct triad_sm_control *control)
{
	return TRIAD_LOCKED(&control->lock, control->status);
}

struct triad_sm_control *triad_sm_control_new(
	struct osm_opensm *osm, struct triad_fabric_ask *fabric, struct triad_log *log)
{
	struct triad_sm_control *control = calloc(1, sizeof(*control));

	if (!control)
		return NULL;
	control->osm = osm;
	control->fabric = fabric;
	control->log = log;
	control->status.own_priority = osm->subn.opt.sm_priority;
	pthread_mutex_init(&control->lock, NULL);
	triad_task_init(
		&control->task, &control->lock, "triad-sm", follow_target, control);
	return control;
}

void triad_sm_control_free(struct triad_sm_control *control)
{
	if (!control)
		return;
	(void)triad_task_stop(&control->task, UINT64_MAX);
	heed_others(control);
	give_back_priority(control);
	triad_umad_close(control->umad, false);
	triad_task_clear(&control->task);
	pthread_mutex_destroy(&control->lock);
	free(control);
}
