/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Takes MADs for the SA before OpenSM queues them.
 *
 * What OpenSM bound its SA with holds the function that gets each MAD received.  It is
 * private to libosmvendor, but begins with four pointers: the vendor, the function's
 * context, the MAD pool, the function.  The first three are known, so that a layout
 * that differs is noticed and refused; the fourth is swapped, and swapped back to give
 * OpenSM all that it had.  The function runs on the vendor's receiving thread, under
 * the vendor's lock: it must be short, and must not send.
 *
 * Thread-safety: one thread installs and removes.  OpenSM's locks: none are taken. */
#ifndef TRIAD_PLUGIN_QOS_HOOK_H
#define TRIAD_PLUGIN_QOS_HOOK_H

#include <stdbool.h>

struct osm_opensm;
struct osm_madw;
struct triad_log;

struct triad_sa_hook {
	struct osm_opensm *osm;
	/* What OpenSM had; valid once installed, and it stays valid when removed. */
	void (*original)(
		struct osm_madw *madw, void *context, struct osm_madw *request);
	bool installed;
};

/* Has 'receive' called for each MAD, with OpenSM's own context.  Returns 0, ENOTCONN
 * (OpenSM has not bound its SA yet: try again) or ENOTSUP (it is not the OpenSM that
 * this was built for). */
int triad_sa_hook_install(struct triad_sa_hook *hook, struct osm_opensm *osm,
	void (*receive)(
		struct osm_madw *madw, void *context, struct osm_madw *request));

/* Gives it back, unless OpenSM has unbound meanwhile. */
void triad_sa_hook_remove(struct triad_sa_hook *hook,
	void (*receive)(
		struct osm_madw *madw, void *context, struct osm_madw *request));

#endif
