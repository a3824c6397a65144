/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/extended_speeds.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ib/smp_mad.h"
#include "plugin/sm_recover.h"
#include "plugin/sm_state.h"
#include "plugin/takers.h"
#include "plugin/withheld.h"
#include "triad/clock.h"

/* What a request is, in a member of its context that OpenSM reads only when a Set has
 * failed.  OpenSM has TRUE or FALSE there. */
enum {
	MARK_SECOND = 0x54720200, /* with bit 31 */
	MARK_LAST = 0x54720300,   /* as OpenSM asked */
	MARK_MASK = ~0xff,
};

struct triad_extended_speeds {
	struct osm_opensm *osm;
	struct triad_log *log;
	/* Of the vendor's callbacks, which its lock has run one at a time.  Made before the
	 * hook is first installed. */
	struct triad_withheld *withheld;
	atomic_ulong n_asked, n_unanswered;

	pthread_mutex_t lock; /* of what follows, and of installing */
	bool is_wanted;
	int logged_error;
};

/* --- the vendor's threads, under its lock --- */

static bool is_port_info(const osm_madw_t *madw)
{
	const ib_smp_t *smp = osm_madw_get_smp_ptr(madw);

	return madw->mad_size >= MAD_BLOCK_SIZE &&
		smp->mgmt_class == IB_MCLASS_SUBN_DIR &&
		smp->attr_id == IB_MAD_ATTR_PORT_INFO;
}

/* Takes our mark from the request's context, so that OpenSM finds its own value there. */
static int take_mark(osm_madw_t *request)
{
	osm_pi_context_t *context = osm_madw_get_pi_context_ptr(request);
	int mark = context->active_transition & MARK_MASK;

	if (mark != MARK_SECOND && mark != MARK_LAST)
		return 0;
	context->active_transition &= ~MARK_MASK;
	return mark;
}

static struct triad_withheld_end withheld_end_of(const osm_madw_t *request, int mark)
{
	const ib_smp_t *smp = osm_madw_get_smp_ptr(request);
	uint32_t modifier = cl_ntoh32(smp->attr_mod);

	return (struct triad_withheld_end){
		.node_guid = cl_ntoh64(request->context.pi_context.node_guid),
		.number = (uint8_t)modifier,
		.has_bit = modifier & TRIAD_SMP_EXTENDED_SPEEDS,
		.is_second = mark == MARK_SECOND,
		.is_last = mark == MARK_LAST,
	};
}

static uint32_t now_s(void)
{
	return (uint32_t)(triad_clock_now_us() / TRIAD_US_PER_S);
}

/* Gets what 'request' was about, by OpenSM's queue.  Returns whether OpenSM took it. */
static bool ask_port_again(struct triad_extended_speeds *speeds,
	const osm_madw_t *request, enum triad_withheld_step step, ib_net64_t m_key)
{
	const ib_smp_t *smp = osm_madw_get_smp_ptr(request);
	osm_madw_context_t context = request->context;
	uint32_t modifier = cl_ntoh32(smp->attr_mod) & ~TRIAD_SMP_EXTENDED_SPEEDS;
	int mark = MARK_LAST;
	osm_dr_path_t path;

	if (smp->hop_count >= IB_SUBNET_PATH_HOPS_MAX)
		return false;
	if (step == TRIAD_WITHHELD_ASK) {
		modifier |= TRIAD_SMP_EXTENDED_SPEEDS;
		mark = MARK_SECOND;
	}
	context.pi_context.active_transition =
		mark | (context.pi_context.active_transition & ~MARK_MASK);
	osm_dr_path_init(&path, smp->hop_count, smp->initial_path);
	return !osm_req_get(&speeds->osm->sm, &path, IB_MAD_ATTR_PORT_INFO,
		cl_hton32(modifier), FALSE, m_key, 0, request->fail_msg, &context);
}

/* Changes a count as cl_atomic_inc() does; other threads of ours peek at these. */
static void add_to_count(atomic32_t *count, int32_t n)
{
	cl_spinlock_acquire(&cl_atomic_spinlock);
	triad_osm_poke(count, triad_osm_peek(count) + n);
	cl_spinlock_release(&cl_atomic_spinlock);
}

/* As osm_stats_dec_qp0_outstanding(). */
static void end_outstanding(osm_stats_t *stats)
{
	int32_t n_left;

	pthread_mutex_lock(&stats->mutex);
	n_left = triad_osm_peek(&stats->qp0_mads_outstanding) - 1;
	triad_osm_poke(&stats->qp0_mads_outstanding, n_left);
	if (!n_left)
		pthread_cond_signal(&stats->cond);
	pthread_mutex_unlock(&stats->mutex);
}

/* Ends a request that another one took the place of, as OpenSM does. */
static void retire(struct osm_opensm *osm, osm_madw_t *request, osm_madw_t *answer)
{
	add_to_count(&osm->stats.qp0_mads_outstanding_on_wire, -1);
	osm_vl15_poll(&osm->vl15);
	osm_mad_pool_put(&osm->mad_pool, request);
	if (answer) {
		add_to_count(&osm->stats.qp0_mads_rcvd, 1);
		osm_mad_pool_put(&osm->mad_pool, answer);
	}
	end_outstanding(&osm->stats);
}

/* Asks again where that is to be done.  Returns whether OpenSM is to know nothing of this
 * end. */
static bool take_end(struct triad_extended_speeds *speeds, osm_madw_t *request,
	osm_madw_t *answer, const struct triad_withheld_end *end)
{
	enum triad_withheld_step step =
		triad_withheld_take(speeds->withheld, end, now_s());
	const ib_smp_t *smp = osm_madw_get_smp_ptr(request);
	ib_net64_t m_key = smp->m_key;

	if (end->is_second && step == TRIAD_WITHHELD_PLAIN)
		atomic_fetch_add(&speeds->n_unanswered, 1);
	if (step == TRIAD_WITHHELD_PASS)
		return false;
	/* A Set may have changed it. */
	if (smp->method == IB_MAD_METHOD_SET)
		m_key = ((const ib_port_info_t *)end->info)->m_key;
	if (!ask_port_again(speeds, request, step, m_key))
		return false;
	if (step == TRIAD_WITHHELD_ASK)
		atomic_fetch_add(&speeds->n_asked, 1);
	retire(speeds->osm, request, answer);
	return true;
}

static bool take_port_answer(
	struct triad_extended_speeds *speeds, osm_madw_t *request, osm_madw_t *answer)
{
	const ib_smp_t *smp = osm_madw_get_smp_ptr(answer);
	struct triad_withheld_end end = withheld_end_of(request, take_mark(request));

	end.status = cl_ntoh16(ib_smp_get_status(smp));
	end.info = smp->data;
	return take_end(speeds, request, answer, &end);
}

static bool take_received(
	struct triad_extended_speeds *speeds, osm_madw_t *request, osm_madw_t *answer)
{
	return is_port_info(answer) && is_port_info(request) &&
		!request->context.pi_context.light_sweep &&
		osm_madw_get_smp_ptr(answer)->method == IB_MAD_METHOD_GET_RESP &&
		take_port_answer(speeds, request, answer);
}

static bool take_lost(struct triad_extended_speeds *speeds, osm_madw_t *request)
{
	struct triad_withheld_end end;

	if (!is_port_info(request))
		return false;
	end = withheld_end_of(request, take_mark(request));
	return take_end(speeds, request, NULL, &end);
}

static bool take_answer(
	void *context, struct osm_madw *answer, struct osm_madw *request)
{
	struct triad_extended_speeds *speeds = context;

	if (osm_exit_flag)
		return false;
	return answer ? take_received(speeds, request, answer)
		      : take_lost(speeds, request);
}

/* --- installing; with the lock --- */

static void install(struct triad_extended_speeds *speeds)
{
	int error;

	if (!speeds->withheld)
		speeds->withheld = triad_withheld_new();
	error = speeds->withheld
		? triad_taker_add(speeds->osm, TRIAD_TAKER_SPEEDS, take_answer, speeds)
		: ENOMEM;
	if (error && error != ENOTCONN && error != speeds->logged_error)
		triad_log_write(speeds->log, TRIAD_LOG_ERROR,
			"sm.extended_speeds: what the SM receives can't be looked at: %s; "
			"OpenSM takes links for what they say unasked",
			error == ENOTSUP
				? "this is not the OpenSM that Triad was built for"
				: strerror(error));
	speeds->logged_error = error;
}

void triad_extended_speeds_configure(
	struct triad_extended_speeds *speeds, const struct triad_conf *conf)
{
	bool is_changed;

	pthread_mutex_lock(&speeds->lock);
	is_changed = speeds->is_wanted != conf->sm.extended_speeds;
	speeds->is_wanted = conf->sm.extended_speeds;
	if (is_changed && speeds->is_wanted)
		install(speeds);
	else if (is_changed)
		triad_taker_remove(TRIAD_TAKER_SPEEDS);
	pthread_mutex_unlock(&speeds->lock);
	if (is_changed && !osm_exit_flag &&
		strcmp(triad_sm_state(speeds->osm), "master") == 0)
		triad_sm_sweep(speeds->osm);
}

void triad_extended_speeds_note_sweep(struct triad_extended_speeds *speeds)
{
	/* Who has the lock is installing or removing. */
	if (pthread_mutex_trylock(&speeds->lock))
		return;
	if (speeds->is_wanted && speeds->withheld)
		install(speeds);
	pthread_mutex_unlock(&speeds->lock);
}

/* --- life --- */

struct triad_extended_speeds *triad_extended_speeds_new(
	struct osm_opensm *osm, struct triad_log *log)
{
	struct triad_extended_speeds *speeds = calloc(1, sizeof(*speeds));

	if (!speeds)
		return NULL;
	speeds->osm = osm;
	speeds->log = log;
	pthread_mutex_init(&speeds->lock, NULL);
	return speeds;
}

void triad_extended_speeds_stop(struct triad_extended_speeds *speeds)
{
	if (!speeds)
		return;
	pthread_mutex_lock(&speeds->lock);
	speeds->is_wanted = false;
	triad_taker_remove(TRIAD_TAKER_SPEEDS);
	pthread_mutex_unlock(&speeds->lock);
}

void triad_extended_speeds_free(struct triad_extended_speeds *speeds)
{
	if (!speeds)
		return;
	triad_withheld_free(speeds->withheld);
	pthread_mutex_destroy(&speeds->lock);
	free(speeds);
}

struct triad_extended_speeds_status triad_extended_speeds_status(
	struct triad_extended_speeds *speeds)
{
	struct triad_extended_speeds_status status = {
		.n_asked = atomic_load(&speeds->n_asked),
		.n_unanswered = atomic_load(&speeds->n_unanswered),
	};

	pthread_mutex_lock(&speeds->lock);
	status.is_wanted = speeds->is_wanted;
	status.is_installed = triad_taker_is_asked(TRIAD_TAKER_SPEEDS);
	pthread_mutex_unlock(&speeds->lock);
	return status;
}
