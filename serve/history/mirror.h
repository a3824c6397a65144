/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs the mirror (history/mirror/mirror.h) on the folder of a store, over a carrier:
 * the election's transport.
 *
 * Model: any thread puts received views and payloads into an inbox.  The thread that
 * writes images takes them, reads and writes the disk, and gives the carrier one
 * payload at a time; a payload that the carrier refuses is offered again later.
 *
 * Thread-safety: run from one thread, which waits for the disk with no lock held; the
 * rest from any thread, under a lock held for a copy.
 * Memory: that of the mirror, and an inbox of 256 payloads. */
#ifndef TRIAD_SERVE_HISTORY_MIRROR_H
#define TRIAD_SERVE_HISTORY_MIRROR_H

#include "serve/history/store.h"
#include "triad/clock.h"

struct triad_history_mirror;

/* Sends payloads to the other SMs. */
struct triad_history_carrier {
	void *context;
	/* Sends a payload to all, unless more urgent messages wait.  Never blocks.
	 * Returns 0, EAGAIN (not now), or another errno: it is lost. */
	int (*send)(void *context, const void *payload, size_t size);
};

/* NULL when memory is short.  'store', 'log' and what the carrier needs outlive it. */
struct triad_history_mirror *triad_history_mirror_new(struct triad_history_store *store,
	const struct triad_history_carrier *carrier, struct triad_log *log);
/* Accepts NULL. */
void triad_history_mirror_free(struct triad_history_mirror *mirror);

/* Leave a received view or payload, from any thread; the caller then wakes the thread
 * of triad_history_mirror_run().  False: images are not copied now, the payload is
 * ignored. */
void triad_history_mirror_leave_view(
	struct triad_history_mirror *mirror, const uint64_t *members, uint32_t n);
bool triad_history_mirror_leave_payload(struct triad_history_mirror *mirror,
	uint64_t sender, const void *payload, size_t size);

/* Sends, receives and copies what is due, for the SM at 'port_guid'; 0: this is an agent,
 * which copies nothing.  After triad_history_store_prepare().  Returns when to call it
 * again, at the latest (monotonic). */
uint64_t triad_history_mirror_run(struct triad_history_mirror *mirror,
	const struct triad_conf *conf, uint64_t port_guid);

struct triad_history_mirror_status triad_history_mirror_status(
	struct triad_history_mirror *mirror);

#endif
