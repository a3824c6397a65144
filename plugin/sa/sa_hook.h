/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What looks at requests to the SA before OpenSM does (plugin/bind_hook.h): each taker in
 * its turn, then OpenSM.
 *
 * Takers run on the vendor's receiving thread, under its lock, one MAD at a time: they must
 * be short, and must not send.  The hook is there while there is a taker.
 *
 * Thread-safety: any thread.  A taker that is removed may still be running: free what it
 * needs after OpenSM unbound its SA only. */
#ifndef TRIAD_PLUGIN_SA_SA_HOOK_H
#define TRIAD_PLUGIN_SA_SA_HOOK_H

#include <stdbool.h>

struct osm_opensm;
struct osm_madw;

/* In the order in which they are asked. */
enum triad_sa_taker {
	TRIAD_SA_TAKER_SHIELD, /* what OpenSM must not get */
	TRIAD_SA_TAKER_PATHS,
	TRIAD_SA_TAKER_RATE, /* what comes too often */
	TRIAD_SA_N_TAKERS
};

/* Looks at a request.  True: it has taken the MAD, which it answers, passes on or gives
 * back to OpenSM's pool. */
typedef bool triad_sa_take(void *context, struct osm_madw *madw);

/* Begins to ask a taker; again: nothing changes.  One OpenSM a process.  Returns as
 * triad_bind_hook_install(). */
int triad_sa_hook_add(struct osm_opensm *osm, enum triad_sa_taker taker,
	triad_sa_take *take, void *context);
void triad_sa_hook_remove(enum triad_sa_taker taker);
bool triad_sa_hook_has(enum triad_sa_taker taker);

/* Passes a MAD that was taken to OpenSM, as if it had just come. */
void triad_sa_hook_pass_on(struct osm_madw *madw);

#endif
