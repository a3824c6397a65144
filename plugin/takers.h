/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What looks at MADs for OpenSM's SM and SA before OpenSM does (plugin/bind_hook.h): each
 * taker in its turn, then OpenSM.
 *
 * Takers run on the vendor's threads, under its lock, or on the thread of one that passes a
 * MAD on: they must be short, and must not send.  A bind's hook is there while it has a taker.
 *
 * Thread-safety: any thread.  A taker that is removed may still be running: free what it
 * needs after OpenSM unbound its SM and SA only. */
#ifndef TRIAD_PLUGIN_TAKERS_H
#define TRIAD_PLUGIN_TAKERS_H

#include <stdbool.h>

struct osm_opensm;
struct osm_madw;

/* In the order in which they are asked. */
enum triad_taker {
	/* Requests to the SA. */
	TRIAD_TAKER_SHIELD, /* what OpenSM must not get */
	TRIAD_TAKER_PATHS,
	TRIAD_TAKER_RATE, /* what comes too often */
	/* To the SM. */
	TRIAD_TAKER_LOSSES, /* takes none */
	TRIAD_TAKER_TRAPS,
	/* Answers to what the SM asked, and their absence. */
	TRIAD_TAKER_HELD, /* of ports whose link is held */
	TRIAD_TAKER_SPEEDS,
	TRIAD_N_TAKERS
};

/* Looks at a MAD.  'request' is what OpenSM asked, if it is an answer to that: takers of
 * answers alone get such.  'madw' is NULL if that came to nothing.  True: the taker has
 * taken both, answers, passes on or gives back to OpenSM's pool. */
typedef bool triad_take(void *context, struct osm_madw *madw, struct osm_madw *request);

/* Begins to ask a taker; again: nothing changes.  One OpenSM a process.  Returns as
 * triad_bind_hook_install(). */
int triad_taker_add(struct osm_opensm *osm, enum triad_taker taker, triad_take *take,
	void *context);
void triad_taker_remove(enum triad_taker taker);
bool triad_taker_is_asked(enum triad_taker taker);

/* Passes on a MAD that a taker took: to the takers behind it, then to OpenSM, as if it had
 * just come. */
void triad_taker_pass_on(enum triad_taker taker, struct osm_madw *madw);

#endif
