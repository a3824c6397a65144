/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/sa/sa_hook.h"

#include <pthread.h>

#include "plugin/bind_hook.h"

static void receive_request(
	struct osm_madw *madw, void *context, struct osm_madw *request);

/* The callback that OpenSM's vendor calls gets no pointer of ours. */
static struct triad_bind_hook hook = {
	.bind = TRIAD_BIND_SA, .receive = receive_request};
static struct {
	_Atomic(triad_sa_take *) take; /* NULL: it is not asked */
	_Atomic(void *) context;
} takers[TRIAD_SA_N_TAKERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of adding and removing */

static void receive_request(
	struct osm_madw *madw, void *context, struct osm_madw *request)
{
	/* 'request' is set when the MAD is an answer to a request of OpenSM's. */
	for (unsigned i = 0; !request && i < TRIAD_SA_N_TAKERS; i++) {
		triad_sa_take *take = atomic_load(&takers[i].take);

		if (take && take(atomic_load(&takers[i].context), madw))
			return;
	}
	atomic_load (&hook.original)(madw, context, request);
}

int triad_sa_hook_add(struct osm_opensm *osm, enum triad_sa_taker taker,
	triad_sa_take *take, void *context)
{
	int error;

	pthread_mutex_lock(&lock);
	/* Once: others read it without the lock. */
	if (!hook.osm)
		hook.osm = osm;
	/* First, so that no request of the new taker's is missed. */
	atomic_store(&takers[taker].context, context);
	atomic_store(&takers[taker].take, take);
	error = triad_bind_hook_install(&hook);
	if (error)
		atomic_store(&takers[taker].take, NULL);
	pthread_mutex_unlock(&lock);
	return error;
}

void triad_sa_hook_remove(enum triad_sa_taker taker)
{
	bool has_any = false;

	pthread_mutex_lock(&lock);
	atomic_store(&takers[taker].take, NULL);
	for (unsigned i = 0; i < TRIAD_SA_N_TAKERS; i++)
		has_any |= atomic_load(&takers[i].take) != NULL;
	if (!has_any)
		triad_bind_hook_remove(&hook);
	pthread_mutex_unlock(&lock);
}

bool triad_sa_hook_has(enum triad_sa_taker taker)
{
	return atomic_load(&takers[taker].take) && atomic_load(&hook.installed);
}

void triad_sa_hook_pass_on(struct osm_madw *madw)
{
	atomic_load (&hook.original)(madw, &hook.osm->sa.mad_ctrl, NULL);
}
