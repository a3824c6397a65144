/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/damp/damper_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "plugin/election/elector.h"
#include "plugin/ports/ports.h"
#include "plugin/sm_recover.h"
#include "plugin/sm_state.h"
#include "perfmgr/watch/finders.h"
#include "plugin/takers.h"
#include "plugin/trap_mad.h"
#include "portmgr/plan/guard.h"
#include "triad/clock.h"

/* How often to look whether OpenSM has bound its SM. */
#define RETRY_US (TRIAD_US_PER_S / 4)
/* A switch is not read more often. */
#define APART_US (50 * TRIAD_US_PER_MS)
/* How often switches with held links are asked whether anything changed, if no trap says so. */
#define POLL_US TRIAD_US_PER_S

/* How often standbys are told, and how soon after a round that could not be sent. */
#define TELL_US (2 * TRIAD_US_PER_S)
#define TELL_AGAIN_US (100 * TRIAD_US_PER_MS)

#define TRAP_IS_OF_PORT(kind) ((kind) >= 129 && (kind) <= 131)

/* --- in the vendor's receiving thread --- */

static bool put_trap(struct triad_damper *damper, const struct damper_trap *trap)
{
	bool fits;

	pthread_mutex_lock(&damper->lock);
	fits = damper->ring.n < DAMPER_N_TRAPS && !damper->task.must_end;
	if (fits) {
		damper->queue[triad_ring_put(&damper->ring, DAMPER_N_TRAPS)] = *trap;
		triad_task_wake(&damper->task);
	}
	pthread_mutex_unlock(&damper->lock);
	return fits;
}

static bool has_held(struct triad_damper *damper, uint16_t lid)
{
	return lid < DAMPER_N_LIDS &&
		atomic_load(&damper->held_lids[lid / (8 * sizeof(unsigned long))]) &
		1ul << lid % (8 * sizeof(unsigned long));
}

/* A trap that is kept goes to the thread; OpenSM gets it if there is no room. */
static bool keep_trap(
	struct triad_damper *damper, osm_madw_t *madw, uint16_t lid, bool is_other)
{
	return put_trap(damper,
		&(struct damper_trap){.madw = madw, .lid = lid, .is_other = is_other});
}

static bool take_other(
	struct triad_damper *damper, osm_madw_t *madw, uint16_t lid, uint16_t kind)
{
	bool is_kept;

	/* OpenSM counts these to find a port that babbles. */
	if (TRAP_IS_OF_PORT(kind) && damper->osm->subn.opt.babbling_port_policy)
		return false;
	pthread_mutex_lock(&damper->lock);
	is_kept = triad_traps_take(&damper->traps, lid, kind, triad_clock_now_us());
	pthread_mutex_unlock(&damper->lock);
	return is_kept && damper_acts(damper) && keep_trap(damper, madw, lid, true);
}

static bool take_link(struct triad_damper *damper, osm_madw_t *madw, uint16_t lid)
{
	damper_count(&damper->n_traps);
	if (damper_acts(damper) && has_held(damper, lid))
		return keep_trap(damper, madw, lid, false);
	(void)put_trap(damper, &(struct damper_trap){.lid = lid});
	return false;
}

static bool take_trap(void *context, struct osm_madw *madw, struct osm_madw *request)
{
	struct triad_damper *damper = context;
	struct triad_trap_mad trap;

	(void)request;
	if (!triad_trap_read(damper->osm, madw, &trap))
		return false;
	if (trap.kind == TRIAD_TRAP_LINK_STATE)
		return take_link(damper, madw, trap.lid);
	return triad_traps_are_damped(trap.kind) &&
		take_other(damper, madw, trap.lid, trap.kind);
}

bool triad_damper_looks_at(struct triad_damper *damper, uint64_t guid)
{
	bool has_one = false;

	pthread_mutex_lock(&damper->held_lock);
	for (uint32_t i = 0; i < damper->n_held && !has_one; i++)
		has_one = damper->held[i].guid == guid ||
			damper->held[i].far_guid == guid;
	pthread_mutex_unlock(&damper->held_lock);
	return has_one;
}

static void show_port(struct triad_damper *damper, ib_smp_t *smp, osm_madw_t *request)
{
	const osm_pi_context_t *of = osm_madw_get_pi_context_ptr(request);

	if (!of->set_method &&
		triad_damper_holds(damper, cl_ntoh64(of->node_guid),
			(uint8_t)cl_ntoh32(smp->attr_mod)))
		ib_port_info_set_port_state((ib_port_info_t *)smp->data, IB_LINK_DOWN);
}

/* In a light sweep, whose question is whether any port changed: we look at such a switch, and
 * tell. */
static void show_switch(struct triad_damper *damper, ib_smp_t *smp, osm_madw_t *request)
{
	const osm_si_context_t *of = osm_madw_get_si_context_ptr(request);

	if (of->light_sweep && !of->set_method && !ib_smp_get_status(smp) &&
		triad_damper_looks_at(damper, cl_ntoh64(of->node_guid)))
		ib_switch_info_clear_state_change((ib_switch_info_t *)smp->data);
}

/* Has OpenSM see held links as down, and no change at their switches. */
static bool show_held(void *context, struct osm_madw *answer, struct osm_madw *request)
{
	ib_smp_t *smp = answer ? osm_madw_get_smp_ptr(answer) : NULL;

	if (!smp || answer->mad_size < MAD_BLOCK_SIZE ||
		smp->method != IB_MAD_METHOD_GET_RESP ||
		smp->attr_id != osm_madw_get_smp_ptr(request)->attr_id)
		return false;
	if (smp->attr_id == IB_MAD_ATTR_PORT_INFO)
		show_port(context, smp, request);
	else if (smp->attr_id == IB_MAD_ATTR_SWITCH_INFO)
		show_switch(context, smp, request);
	return false;
}

/* --- in the thread, without locks --- */

void damper_repress(struct triad_damper *damper, osm_madw_t *madw)
{
	struct osm_opensm *osm = damper->osm;
	ib_smp_t *smp = osm_madw_get_smp_ptr(madw);
	uint8_t payload[IB_SMP_DATA_SIZE];
	osm_physp_t *physp;

	memcpy(payload, smp->data, sizeof(payload));
	if (!madw->mad_addr.addr_type.smi.source_lid)
		madw->mad_addr.addr_type.smi.source_lid = osm->subn.sm_base_lid;
	cl_plock_acquire(&osm->lock);
	physp = osm_get_physp_by_mad_addr(&osm->log, &osm->subn, &madw->mad_addr);
	if (physp)
		smp->m_key = ib_port_info_get_m_key(&physp->port_info);
	(void)osm_resp_send(&osm->sm, madw, 0, payload);
	cl_plock_release(&osm->lock);
	osm_mad_pool_put(&osm->mad_pool, madw);
	damper_count(&damper->n_kept);
}

/* Has the switch looked at as soon as may be. */
static void make_due(struct damper_switch *of)
{
	uint64_t now_us = triad_clock_now_us(),
		 due_us = of->looked_us + APART_US > now_us && of->looked_us
		? of->looked_us + APART_US
		: now_us;

	if (due_us < of->due_us)
		of->due_us = due_us;
}

static struct damper_switch *find_sender(struct triad_damper *damper, uint16_t lid)
{
	const struct triad_fabric *fabric = damper->fabric;
	uint32_t port = fabric ? triad_fabric_find_lid(fabric, lid) : TRIAD_FABRIC_NONE;
	const struct triad_fabric_node *node;

	if (port == TRIAD_FABRIC_NONE)
		return NULL;
	node = &fabric->nodes[fabric->ports[port].node];
	return node->type == TRIAD_NODE_SWITCH
		? damper_find_switch(damper, node->guid, true)
		: NULL;
}

static void handle_trap(struct triad_damper *damper, const struct damper_trap *trap)
{
	struct damper_switch *of;

	if (trap->is_other) {
		damper_repress(damper, trap->madw);
		return;
	}
	of = find_sender(damper, trap->lid);
	if (of)
		make_due(of);
	if (!trap->madw)
		return;
	if (!of)
		triad_taker_pass_on(TRIAD_TAKER_TRAPS, trap->madw);
	else if (of->n_kept < DAMPER_MAX_KEPT)
		of->kept[of->n_kept++] = trap->madw;
	else
		damper_repress(damper, trap->madw); /* the look is for all of them */
}

/* Switches at which a look came in mid-sweep are looked at when it is through. */
static void note_ended(struct triad_damper *damper)
{
	unsigned n_ended = atomic_load(&damper->n_ended);

	if (n_ended == damper->n_ended_seen)
		return;
	damper->n_ended_seen = n_ended;
	for (uint32_t i = 0; i < damper->n_switches; i++)
		if (damper->switches[i]->has_held)
			make_due(damper->switches[i]);
}

static void poll_held(struct triad_damper *damper, uint64_t now_us)
{
	if (now_us < damper->polled_us + POLL_US)
		return;
	damper->polled_us = now_us;
	for (uint32_t i = 0; i < damper->n_switches; i++) {
		struct damper_switch *of = damper->switches[i];

		if (of->has_held && of->due_us == UINT64_MAX &&
			now_us >= of->looked_us + POLL_US &&
			damper_has_changed(damper, of))
			make_due(of);
	}
}

static void look_where_due(struct triad_damper *damper)
{
	for (uint32_t i = 0; i < damper->n_switches && !osm_exit_flag; i++)
		if (damper->switches[i]->due_us <= triad_clock_now_us())
			damper_look(damper, damper->switches[i]);
}

/* When the next look or question is due. */
static uint64_t next_look(const struct triad_damper *damper)
{
	uint64_t next_us = UINT64_MAX;

	for (uint32_t i = 0; i < damper->n_switches; i++) {
		const struct damper_switch *of = damper->switches[i];

		if (of->due_us < next_us)
			next_us = of->due_us;
		if (of->has_held && damper->polled_us + POLL_US < next_us)
			next_us = damper->polled_us + POLL_US;
	}
	return next_us;
}

/* If nobody is to look, OpenSM gets the traps that were to wait for that. */
static void pass_kept_on(struct triad_damper *damper)
{
	for (uint32_t i = 0; i < damper->n_switches; i++) {
		struct damper_switch *of = damper->switches[i];

		while (of->n_kept)
			triad_taker_pass_on(TRIAD_TAKER_TRAPS, of->kept[--of->n_kept]);
	}
}

static void take_fabric(struct triad_damper *damper)
{
	triad_fabric_unref(damper->fabric);
	damper->fabric = triad_ports_fabric(damper->ports);
}

/* Returns when to come again. */
static uint64_t review(struct triad_damper *damper)
{
	uint64_t now_us = triad_clock_now_us(), next_us, returns_us;
	bool must_sweep;

	pthread_mutex_lock(&damper->links_lock);
	next_us = triad_damp_links_settle(damper->links, now_us);
	must_sweep = damper_review(damper, now_us);
	/* Only the master knows for how long a link has been up. */
	for (size_t i = 0;
		damper_is_master(damper) && i < triad_damp_links_n(damper->links);
		i++) {
		returns_us = triad_damp_link_returns_us(
			triad_damp_links_at(damper->links, i));
		if (returns_us < next_us)
			next_us = returns_us;
	}
	pthread_mutex_unlock(&damper->links_lock);
	if (must_sweep && damper_is_master(damper))
		triad_sm_sweep(damper->osm);
	return next_us;
}

/* --- other SMs --- */

/* In the transport's thread, which must not wait. */
static void take_told(void *context, uint64_t sender, const void *octets, size_t size)
{
	struct triad_damper *damper = context;
	struct damper_told *told;

	(void)sender;
	if (damper_is_master(damper) || !damper_acts(damper) ||
		size > TRIAD_DAMP_COPY_SIZE)
		return;
	pthread_mutex_lock(&damper->lock);
	if (damper->told_ring.n < DAMPER_N_TOLD) {
		told = &damper->told[triad_ring_put(&damper->told_ring, DAMPER_N_TOLD)];
		told->size = size;
		memcpy(told->octets, octets, size);
		triad_task_wake(&damper->task);
	}
	pthread_mutex_unlock(&damper->lock);
}

/* Takes the master's list over, unless this SM has become the master meanwhile. */
static void hold_as_told(struct triad_damper *damper)
{
	struct damper_told told;
	bool has_any = true;

	while (has_any) {
		pthread_mutex_lock(&damper->lock);
		has_any = damper->told_ring.n;
		if (has_any)
			told = damper->told[triad_ring_take(
				&damper->told_ring, DAMPER_N_TOLD)];
		pthread_mutex_unlock(&damper->lock);
		if (!has_any || damper_is_master(damper))
			continue;
		pthread_mutex_lock(&damper->links_lock);
		(void)triad_damp_copy_take(&damper->copy, damper->links, told.octets,
			told.size, triad_clock_now_us());
		pthread_mutex_unlock(&damper->links_lock);
		damper->knows_before = true;
	}
}

/* Sends the whole list.  False: not all of it could be sent. */
static bool tell_standbys(struct triad_damper *damper)
{
	uint8_t octets[TRIAD_DAMP_COPY_SIZE];
	unsigned piece = 0;
	size_t size;
	int error = 0;

	damper->round++;
	pthread_mutex_lock(&damper->links_lock);
	while (!error &&
		(size = triad_damp_copy_write(damper->links, damper->round, piece++,
			 triad_clock_now_us(), octets)))
		error = triad_elector_send_spare(damper->elector, octets, size);
	pthread_mutex_unlock(&damper->links_lock);
	/* Without elections there is nobody. */
	return !error || error == ENOTCONN;
}

/* Returns when to come again. */
static uint64_t tell_if_due(struct triad_damper *damper)
{
	uint64_t now_us = triad_clock_now_us();

	if (!damper_is_master(damper) || !damper_acts(damper))
		return UINT64_MAX;
	if (now_us >= damper->tells_us)
		damper->tells_us =
			now_us + (tell_standbys(damper) ? TELL_US : TELL_AGAIN_US);
	return damper->tells_us;
}

/* --- a step of the thread --- */

static uint64_t earlier(uint64_t a_us, uint64_t b_us)
{
	return a_us < b_us ? a_us : b_us;
}

static uint64_t work(struct triad_damper *damper)
{
	uint64_t next_us;
	bool looks;

	hold_as_told(damper);
	take_fabric(damper);
	looks = damper->fabric && damper_is_master(damper);
	if (!damper_acts(damper) || !damper_is_master(damper))
		pass_kept_on(damper);
	if (looks && damper_acts(damper) && !damper->knows_before) {
		pthread_mutex_lock(&damper->links_lock);
		damper->knows_before = damper_hold_as_before(damper);
		pthread_mutex_unlock(&damper->links_lock);
	}
	if (looks) {
		note_ended(damper);
		poll_held(damper, triad_clock_now_us());
		look_where_due(damper);
	}
	next_us = earlier(review(damper), tell_if_due(damper));
	if (looks)
		return earlier(next_us, next_look(damper));
	/* Until this SM is the master and has a fabric: nobody says so. */
	return earlier(next_us, triad_clock_now_us() + TRIAD_US_PER_S);
}

static void remove_hook(void)
{
	triad_taker_remove(TRIAD_TAKER_TRAPS);
	triad_taker_remove(TRIAD_TAKER_HELD);
}

/* Puts the hook in or takes it away.  Returns whether to try again soon. */
static bool see_to_hook(struct triad_damper *damper)
{
	int error;

	if (atomic_load(&damper->mode) == TRIAD_DAMP_OFF) {
		remove_hook();
		return false;
	}
	if (triad_taker_is_asked(TRIAD_TAKER_TRAPS))
		return false;
	error = triad_taker_add(damper->osm, TRIAD_TAKER_HELD, show_held, damper);
	if (!error)
		error = triad_taker_add(
			damper->osm, TRIAD_TAKER_TRAPS, take_trap, damper);
	if (error && error != ENOTCONN && !atomic_exchange(&damper->error, error))
		triad_log_write(damper->log, TRIAD_LOG_ERROR,
			"damp: traps can't be looked at: %s; OpenSM gets them all",
			triad_damper_explain(error));
	return error == ENOTCONN;
}

static uint64_t damp_when_due(void *context)
{
	struct triad_damper *damper = context;
	uint64_t next_us;
	bool retries;

	while (damper->ring.n && !damper->task.must_end) {
		struct damper_trap trap =
			damper->queue[triad_ring_take(&damper->ring, DAMPER_N_TRAPS)];

		pthread_mutex_unlock(&damper->lock);
		if (!damper->fabric)
			take_fabric(damper);
		handle_trap(damper, &trap);
		pthread_mutex_lock(&damper->lock);
	}
	pthread_mutex_unlock(&damper->lock);
	retries = see_to_hook(damper);
	next_us = work(damper);
	pthread_mutex_lock(&damper->lock);
	if (atomic_load(&damper->mode) == TRIAD_DAMP_OFF && !damper->ring.n)
		return TRIAD_TASK_DONE;
	return retries ? triad_clock_now_us() + RETRY_US : next_us;
}

/* --- life --- */

struct triad_damper *triad_damper_new(struct osm_opensm *osm, uint64_t port_guid,
	struct triad_ports *ports, struct triad_elector *elector,
	struct triad_recorder *recorder, struct triad_log *log)
{
	struct triad_damper *damper = calloc(1, sizeof(*damper));

	if (!damper)
		return NULL;
	damper->osm = osm;
	damper->ports = ports;
	damper->elector = elector;
	damper->recorder = recorder;
	damper->log = log;
	pthread_mutex_init(&damper->lock, NULL);
	pthread_mutex_init(&damper->links_lock, NULL);
	pthread_mutex_init(&damper->held_lock, NULL);
	triad_task_init(
		&damper->task, &damper->lock, "triad-damp", damp_when_due, damper);
	damper->smp = triad_smp_new(port_guid);
	damper->links = triad_damp_links_new();
	if (damper->smp && damper->links) {
		triad_elector_set_listener(elector, TRIAD_ELECTOR_DAMP,
			&(struct triad_cluster_sink){
				.context = damper, .message = take_told});
		return damper;
	}
	triad_damper_free(damper);
	return NULL;
}

static void give_back(struct triad_damper *damper, osm_madw_t *madw)
{
	if (madw)
		osm_mad_pool_put(&damper->osm->mad_pool, madw);
}

void triad_damper_stop(struct triad_damper *damper)
{
	if (!damper)
		return;
	triad_elector_set_listener(damper->elector, TRIAD_ELECTOR_DAMP, NULL);
	remove_hook();
	(void)triad_task_stop(&damper->task, UINT64_MAX);
	pthread_mutex_lock(&damper->lock);
	while (damper->ring.n)
		give_back(damper,
			damper->queue[triad_ring_take(&damper->ring, DAMPER_N_TRAPS)]
				.madw);
	pthread_mutex_unlock(&damper->lock);
	for (uint32_t i = 0; i < damper->n_switches; i++)
		while (damper->switches[i]->n_kept)
			give_back(damper,
				damper->switches[i]
					->kept[--damper->switches[i]->n_kept]);
	triad_fabric_unref(damper->fabric);
	damper->fabric = NULL;
}

void triad_damper_free(struct triad_damper *damper)
{
	if (!damper)
		return;
	for (uint32_t i = 0; i < damper->n_switches; i++)
		free(damper->switches[i]);
	triad_damp_links_free(damper->links);
	triad_smp_free(damper->smp);
	triad_task_clear(&damper->task);
	pthread_mutex_destroy(&damper->held_lock);
	pthread_mutex_destroy(&damper->links_lock);
	pthread_mutex_destroy(&damper->lock);
	free(damper);
}

void triad_damper_configure(struct triad_damper *damper, const struct triad_conf *conf)
{
	int error = 0;

	pthread_mutex_lock(&damper->links_lock);
	triad_damp_links_set_half_life(
		damper->links, conf->damp.half_life * TRIAD_US_PER_S);
	pthread_mutex_unlock(&damper->links_lock);
	pthread_mutex_lock(&damper->lock);
	atomic_store(&damper->mode, conf->damp.mode);
	atomic_store(&damper->hosts, conf->damp.hosts);
	atomic_store(&damper->error, 0);
	if (conf->damp.mode != TRIAD_DAMP_OFF)
		error = triad_task_start(&damper->task);
	triad_task_wake(&damper->task);
	if (error)
		atomic_store(&damper->error, error);
	pthread_mutex_unlock(&damper->lock);
	if (error)
		triad_log_write(damper->log, TRIAD_LOG_ERROR,
			"damp: traps can't be looked at: %s; OpenSM gets them all, type "
			"'triadctl reload' to try again",
			triad_damper_explain(error));
}

void triad_damper_note_sweep(struct triad_damper *damper)
{
	atomic_fetch_add(&damper->n_started, 1);
}

void triad_damper_note_up(struct triad_damper *damper)
{
	atomic_store(&damper->n_ended, atomic_load(&damper->n_started));
}

/* --- what is known --- */

const char *triad_damper_explain(int error)
{
	return error == ENOTSUP
		? "this OpenSM is laid out otherwise than the one that Triad "
		  "was built for"
		: "there is no thread for it";
}

struct triad_damper_status triad_damper_status(struct triad_damper *damper)
{
	struct triad_damper_status status = {
		.mode = (enum triad_damp_mode)atomic_load(&damper->mode),
		.is_installed = triad_taker_is_asked(TRIAD_TAKER_TRAPS),
		.n_traps = atomic_load(&damper->n_traps),
		.n_kept = atomic_load(&damper->n_kept),
		.n_told = atomic_load(&damper->n_told),
		.n_looks = atomic_load(&damper->n_looks),
		.n_smps = atomic_load(&damper->n_smps),
		.n_bounces = atomic_load(&damper->n_bounces),
	};

	status.error = status.is_installed ? 0 : atomic_load(&damper->error);
	pthread_mutex_lock(&damper->lock);
	status.n_other = damper->traps.n_heard;
	status.n_other_kept = damper->traps.n_kept;
	pthread_mutex_unlock(&damper->lock);
	pthread_mutex_lock(&damper->links_lock);
	status.n_known = triad_damp_links_n(damper->links);
	status.n_together = triad_damp_links_n_together(damper->links);
	for (size_t i = 0; i < status.n_known; i++)
		status.n_held += triad_damp_links_at(damper->links, i)->is_held;
	pthread_mutex_unlock(&damper->links_lock);
	return status;
}

static bool is_worse(const struct triad_damp_link *a, const struct triad_damp_link *b)
{
	return a->is_held != b->is_held ? a->is_held : a->penalty > b->penalty;
}

size_t triad_damper_links(
	struct triad_damper *damper, struct triad_damp_link *links, size_t room)
{
	uint64_t now_us = triad_clock_now_us();
	size_t n = 0, at;

	pthread_mutex_lock(&damper->links_lock);
	for (size_t i = 0; i < triad_damp_links_n(damper->links); i++) {
		struct triad_damp_link link = *triad_damp_links_at(damper->links, i);

		link.penalty = triad_damp_link_penalty(damper->links, &link, now_us);
		if (n == room && !is_worse(&link, &links[n - 1]))
			continue;
		at = n < room ? n++ : n - 1;
		for (; at && is_worse(&link, &links[at - 1]); at--)
			links[at] = links[at - 1];
		links[at] = link;
	}
	pthread_mutex_unlock(&damper->links_lock);
	return n;
}

static int compare_senders(const void *a, const void *b)
{
	const struct triad_trap_sender *first = a, *second = b;

	return (first->n_heard < second->n_heard) - (first->n_heard > second->n_heard);
}

size_t triad_damper_senders(
	struct triad_damper *damper, struct triad_trap_sender senders[TRIAD_TRAPS_N])
{
	size_t n = 0;

	pthread_mutex_lock(&damper->lock);
	for (size_t i = 0; i < TRIAD_TRAPS_N; i++)
		if (damper->traps.senders[i].heard_us)
			senders[n++] = damper->traps.senders[i];
	pthread_mutex_unlock(&damper->lock);
	qsort(senders, n, sizeof(*senders), compare_senders);
	return n;
}

bool triad_damper_holds(struct triad_damper *damper, uint64_t node_guid, uint8_t number)
{
	bool holds = false;

	pthread_mutex_lock(&damper->held_lock);
	for (uint32_t i = 0; i < damper->n_held && !holds; i++)
		holds = triad_damp_has_end(&damper->held[i], node_guid, number);
	pthread_mutex_unlock(&damper->held_lock);
	return holds;
}

size_t triad_damper_held(
	struct triad_damper *damper, struct triad_damp_ends *held, size_t room)
{
	size_t n;

	pthread_mutex_lock(&damper->held_lock);
	n = damper->n_held < room ? damper->n_held : room;
	memcpy(held, damper->held, n * sizeof(*held));
	pthread_mutex_unlock(&damper->held_lock);
	return n;
}

/* The one that was named last, as long as it is held; else the worst. */
static bool find_named(struct triad_damper *damper, struct triad_damp_link *named)
{
	if (triad_damper_find(damper, &damper->named, named) && named->is_held)
		return true;
	if (!triad_damper_links(damper, named, 1) || !named->is_held)
		return false;
	damper->named = named->ends;
	return true;
}

/* The end of a link that the fabric has: a host with its link down has left. */
void triad_damper_give(void *context, struct triad_found *found)
{
	struct triad_damper *damper = context;
	struct triad_alert_finding finding = {
		.cause = TRIAD_ALERT_ROUTES, .routes = TRIAD_ALERT_HELD_LINKS};
	struct triad_damp_link link;
	struct triad_fabric *fabric;
	bool is_far;

	if (!damper_acts(damper) || !damper_is_master(damper))
		return;
	finding.value = (float)triad_damper_status(damper).n_held;
	if (finding.value == 0 || !find_named(damper, &link))
		return;
	fabric = triad_ports_fabric(damper->ports);
	is_far = fabric &&
		triad_fabric_find_node(fabric, link.ends.guid) == TRIAD_FABRIC_NONE;
	triad_fabric_unref(fabric);
	/* Another link is another finding. */
	triad_found_add(found, is_far ? link.ends.far_guid : link.ends.guid,
		is_far ? link.ends.far_number : link.ends.number,
		triad_hash_word(triad_hash_word(TRIAD_ALERT_HELD_LINKS, link.ends.guid),
			link.ends.number),
		&finding);
}

bool triad_damper_find(struct triad_damper *damper, const struct triad_damp_ends *ends,
	struct triad_damp_link *link)
{
	const struct triad_damp_link *known;

	pthread_mutex_lock(&damper->links_lock);
	known = triad_damp_links_find(damper->links, ends, false);
	if (known)
		*link = *known;
	pthread_mutex_unlock(&damper->links_lock);
	return known;
}

/* --- by hand, or by the port manager --- */

static void wake(struct triad_damper *damper)
{
	pthread_mutex_lock(&damper->lock);
	triad_task_wake(&damper->task);
	pthread_mutex_unlock(&damper->lock);
}

int triad_damper_release(struct triad_damper *damper, uint64_t node_guid,
	uint8_t number, const char *what)
{
	struct triad_fabric *fabric = triad_ports_fabric(damper->ports);
	int error = ENOENT;

	pthread_mutex_lock(&damper->links_lock);
	for (size_t i = 0; i < triad_damp_links_n(damper->links); i++) {
		struct triad_damp_link *link = triad_damp_links_at(damper->links, i);

		if (!triad_damp_has_end(&link->ends, node_guid, number))
			continue;
		error = 0;
		if (link->is_held)
			damper_note(damper, fabric, &link->ends, DAMPER_NOT_HELD, what);
		triad_damp_link_release(link, true, triad_clock_now_us());
	}
	pthread_mutex_unlock(&damper->links_lock);
	triad_fabric_unref(fabric);
	wake(damper);
	return error;
}

void triad_damper_release_healed(struct triad_damper *damper,
	const struct triad_damp_ends *ends, const char *what)
{
	struct triad_fabric *fabric = triad_ports_fabric(damper->ports);
	struct triad_damp_link *link;

	pthread_mutex_lock(&damper->links_lock);
	link = triad_damp_links_find(damper->links, ends, false);
	if (link && link->is_held && link->is_by_heal) {
		damper_note(damper, fabric, &link->ends, DAMPER_NOT_HELD, what);
		triad_damp_link_release(link, true, triad_clock_now_us());
	}
	pthread_mutex_unlock(&damper->links_lock);
	triad_fabric_unref(fabric);
	wake(damper);
}

bool triad_damper_acts(const struct triad_damper *damper)
{
	return damper_acts(damper);
}

/* With links_lock: why it may not be pinned; NULL: it may. */
static const char *refusal_to_pin(struct triad_damper *damper,
	const struct triad_fabric *fabric, const struct triad_damp_ends *ends)
{
	struct triad_guard *guard;
	const char *why;

	if (!damper_acts(damper))
		return "damp.mode is not act";
	guard = damper_make_guard(damper, fabric);
	why = damper_refusal(damper, fabric, guard, ends);
	triad_guard_free(guard);
	return why;
}

static int pin(struct triad_damper *damper, const struct triad_fabric *fabric,
	const struct triad_damp_ends *ends, bool by_heal, const char *what,
	const char **why)
{
	struct triad_damp_link *link;

	*why = refusal_to_pin(damper, fabric, ends);
	if (*why)
		return EBUSY;
	link = triad_damp_links_find(damper->links, ends, true);
	if (!link)
		return ENOMEM;
	triad_damp_link_hold(damper->links, link, triad_clock_now_us());
	link->is_host = damper_is_of_host(fabric, ends);
	link->is_pinned = true;
	link->is_by_heal = by_heal;
	damper_note(damper, fabric, ends,
		by_heal ? DAMPER_PINNED_BY_HEAL : DAMPER_PINNED, what);
	return 0;
}

/* With links_lock: the link that is held at the port, which the fabric does not have. */
static struct triad_damp_link *find_held_at(
	struct triad_damper *damper, uint64_t node_guid, uint8_t number)
{
	for (size_t i = 0; i < triad_damp_links_n(damper->links); i++) {
		struct triad_damp_link *link = triad_damp_links_at(damper->links, i);

		if (link->is_held && triad_damp_has_end(&link->ends, node_guid, number))
			return link;
	}
	return NULL;
}

int triad_damper_pin(struct triad_damper *damper, const struct triad_fabric *fabric,
	uint32_t port, bool by_heal, const char *what, const char **why)
{
	const struct triad_fabric_port *near = &fabric->ports[port];
	struct triad_damp_link *link;
	struct triad_damp_ends ends;
	int error = ENOENT;

	pthread_mutex_lock(&damper->links_lock);
	link = find_held_at(damper, fabric->nodes[near->node].guid, near->number);
	if (link) {
		link->is_pinned = true;
		link->is_by_heal = by_heal;
		damper_note(damper, fabric, &link->ends,
			by_heal ? DAMPER_PINNED_BY_HEAL : DAMPER_PINNED, what);
		error = 0;
	} else if (triad_damp_ends_at(fabric, port, &ends)) {
		error = pin(damper, fabric, &ends, by_heal, what, why);
	}
	pthread_mutex_unlock(&damper->links_lock);
	wake(damper);
	return error;
}

int triad_damper_would_pin(struct triad_damper *damper,
	const struct triad_fabric *fabric, uint32_t port, const char **why)
{
	struct triad_damp_ends ends;

	if (!triad_damp_ends_at(fabric, port, &ends))
		return ENOENT;
	pthread_mutex_lock(&damper->links_lock);
	*why = refusal_to_pin(damper, fabric, &ends);
	pthread_mutex_unlock(&damper->links_lock);
	return *why ? EBUSY : 0;
}
