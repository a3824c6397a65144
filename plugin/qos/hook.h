/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Takes MADs for the SA before OpenSM queues them.
 *
 * The bind handle of OpenSM's SA has the function that is called for each received MAD.
 * The structure is private to libosmvendor, but begins with four pointers: the vendor,
 * the function's context, the MAD pool, the function.  Triad knows the first three, so
 * it detects and refuses another layout.  It replaces the fourth, and later restores
 * it.  The function runs on the vendor's receiving thread, under the vendor's lock: it
 * must be short, and must not send.
 *
 * Thread-safety: one thread installs and removes; any may look at 'installed', and call
 * 'original'.  OpenSM's locks: none are taken. */
#ifndef TRIAD_PLUGIN_QOS_HOOK_H
#define TRIAD_PLUGIN_QOS_HOOK_H

#include <stdatomic.h>
#include <stdbool.h>

struct osm_opensm;
struct osm_madw;
struct triad_log;

typedef void (*triad_sa_hook_receive)(
	struct osm_madw *madw, void *context, struct osm_madw *request);

struct triad_sa_hook {
	struct osm_opensm *osm;
	/* OpenSM's function; valid once installed, also after the removal.  The receiving
	 * thread may be about to call it while the hook is installed again. */
	_Atomic(triad_sa_hook_receive) original;
	atomic_bool installed;
};

/* Makes the vendor call 'receive' for each MAD, with OpenSM's own context.  Returns 0,
 * ENOTCONN (OpenSM has not bound its SA yet: try again) or ENOTSUP (this is not the
 * OpenSM that the plugin was built for). */
int triad_sa_hook_install(struct triad_sa_hook *hook, struct osm_opensm *osm,
	triad_sa_hook_receive receive);

/* Restores OpenSM's function, unless OpenSM has unbound meanwhile. */
void triad_sa_hook_remove(struct triad_sa_hook *hook, triad_sa_hook_receive receive);

#endif
