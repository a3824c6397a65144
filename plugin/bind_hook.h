/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Takes MADs for OpenSM's SM or SA before OpenSM does.
 *
 * The bind handle of each has the functions that are called for a received MAD, and for a
 * request that failed.  The structure is private to libosmvendor, but begins with five
 * pointers: the vendor, the functions' context, the MAD pool, both functions.  Triad knows
 * the first three, so it detects and refuses another layout.  It replaces the others, and
 * later restores them.  The functions run under the vendor's lock, one at a time: the first
 * on the vendor's receiving thread, the second there, or on the thread that sends.  They must
 * be short, and must not send.
 *
 * Thread-safety: one thread at a time installs and removes; any may look at 'installed',
 * and call what is original.  OpenSM's locks: none are taken. */
#ifndef TRIAD_PLUGIN_BIND_HOOK_H
#define TRIAD_PLUGIN_BIND_HOOK_H

#include <stdatomic.h>
#include <stdbool.h>

struct osm_opensm;
struct osm_madw;

typedef void (*triad_bind_receive)(
	struct osm_madw *madw, void *context, struct osm_madw *request);
typedef void (*triad_bind_fail)(void *context, struct osm_madw *request);

enum triad_bind { TRIAD_BIND_SM, TRIAD_BIND_SA };

struct triad_bind_hook {
	struct osm_opensm *osm;
	enum triad_bind bind;
	/* Ours. */
	triad_bind_receive receive;
	triad_bind_fail fail; /* NULL: OpenSM's stays */
	/* OpenSM's; valid once installed, also after the removal.  The receiving thread may
	 * be about to call one while the hook is installed again. */
	_Atomic(triad_bind_receive) original;
	_Atomic(triad_bind_fail) original_fail;
	atomic_bool installed;
};

/* Makes the vendor call the hook's functions, with OpenSM's own context.  The caller has set
 * 'osm' to 'fail'.  Returns 0, ENOTCONN (OpenSM has not bound yet, or ends: try again) or
 * ENOTSUP (this is not the OpenSM that the plugin was built for). */
int triad_bind_hook_install(struct triad_bind_hook *hook);

/* Restores OpenSM's functions, unless OpenSM has unbound meanwhile. */
void triad_bind_hook_remove(struct triad_bind_hook *hook);

#endif
