/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/takers.h"

#include <pthread.h>

#include "plugin/bind_hook.h"

static void receive_of_sm(
	struct osm_madw *madw, void *context, struct osm_madw *request);
static void lose_of_sm(void *context, struct osm_madw *request);
static void receive_of_sa(
	struct osm_madw *madw, void *context, struct osm_madw *request);

/* The callbacks that OpenSM's vendor calls get no pointer of ours. */
static struct triad_bind_hook hooks[] = {
	[TRIAD_BIND_SM] = {.bind = TRIAD_BIND_SM,
		.receive = receive_of_sm,
		.fail = lose_of_sm},
	[TRIAD_BIND_SA] = {.bind = TRIAD_BIND_SA, .receive = receive_of_sa},
};
static struct {
	_Atomic(triad_take *) take; /* NULL: it is not asked */
	_Atomic(void *) context;
} takers[TRIAD_N_TAKERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of adding and removing */

static enum triad_bind bind_of(enum triad_taker taker)
{
	return taker < TRIAD_TAKER_LOSSES ? TRIAD_BIND_SA : TRIAD_BIND_SM;
}

static bool takes_answers(enum triad_taker taker)
{
	return taker >= TRIAD_TAKER_HELD;
}

/* Asks the takers from 'first' on. */
static bool is_taken(enum triad_bind bind, unsigned first, struct osm_madw *madw,
	struct osm_madw *request)
{
	for (unsigned i = first; i < TRIAD_N_TAKERS; i++) {
		triad_take *take = bind_of(i) == bind && takes_answers(i) == !!request
			? atomic_load(&takers[i].take)
			: NULL;

		if (take && take(atomic_load(&takers[i].context), madw, request))
			return true;
	}
	return false;
}

static void receive_of_sm(
	struct osm_madw *madw, void *context, struct osm_madw *request)
{
	if (!is_taken(TRIAD_BIND_SM, 0, madw, request))
		atomic_load (&hooks[TRIAD_BIND_SM].original)(madw, context, request);
}

static void lose_of_sm(void *context, struct osm_madw *request)
{
	if (!is_taken(TRIAD_BIND_SM, 0, NULL, request))
		atomic_load (&hooks[TRIAD_BIND_SM].original_fail)(context, request);
}

static void receive_of_sa(
	struct osm_madw *madw, void *context, struct osm_madw *request)
{
	if (!is_taken(TRIAD_BIND_SA, 0, madw, request))
		atomic_load (&hooks[TRIAD_BIND_SA].original)(madw, context, request);
}

int triad_taker_add(
	struct osm_opensm *osm, enum triad_taker taker, triad_take *take, void *context)
{
	struct triad_bind_hook *hook = &hooks[bind_of(taker)];
	int error;

	pthread_mutex_lock(&lock);
	/* Once: others read it without the lock. */
	if (!hook->osm)
		hook->osm = osm;
	/* First, so that no MAD of the new taker's is missed. */
	atomic_store(&takers[taker].context, context);
	atomic_store(&takers[taker].take, take);
	error = triad_bind_hook_install(hook);
	if (error)
		atomic_store(&takers[taker].take, NULL);
	pthread_mutex_unlock(&lock);
	return error;
}

void triad_taker_remove(enum triad_taker taker)
{
	bool has_any = false;

	pthread_mutex_lock(&lock);
	atomic_store(&takers[taker].take, NULL);
	for (unsigned i = 0; i < TRIAD_N_TAKERS; i++)
		has_any |= bind_of(i) == bind_of(taker) &&
			atomic_load(&takers[i].take) != NULL;
	if (!has_any)
		triad_bind_hook_remove(&hooks[bind_of(taker)]);
	pthread_mutex_unlock(&lock);
}

bool triad_taker_is_asked(enum triad_taker taker)
{
	return atomic_load(&takers[taker].take) &&
		atomic_load(&hooks[bind_of(taker)].installed);
}

void triad_taker_pass_on(enum triad_taker taker, struct osm_madw *madw)
{
	struct triad_bind_hook *hook = &hooks[bind_of(taker)];
	void *context = bind_of(taker) == TRIAD_BIND_SM
		? (void *)&hook->osm->sm.mad_ctrl
		: (void *)&hook->osm->sa.mad_ctrl;

	if (!is_taken(bind_of(taker), taker + 1u, madw, NULL))
		atomic_load (&hook->original)(madw, context, NULL);
}
