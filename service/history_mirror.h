/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs the mirror (history/mirror/mirror.h) on the folder of a store, over a carrier:
 * the election's transport.
 *
 * Model: any thread puts received views and payloads into an inbox.  The thread that
 * writes images takes them, reads and writes the disk, and gives the carrier one
 * payload at a time; a payload that the carrier refuses is offered again later.
 *
 * Thread-safety: run from one thread, which waits for the disk with no lock held; the
 * rest from any thread, under a lock held for a copy.  set_carrier also waits until no
 * call of the carrier runs.
 * Memory: that of the mirror, and an inbox of 256 payloads. */
#ifndef TRIAD_SERVICE_HISTORY_MIRROR_H
#define TRIAD_SERVICE_HISTORY_MIRROR_H

#include "service/history_store.h"
#include "triad/clock.h"

struct triad_history_mirror;

/* Sends payloads to the other SMs. */
struct triad_history_carrier {
	void *context;
	/* Sends a payload to all, unless more urgent messages wait.  Never blocks.
	 * Returns 0, EAGAIN (not now), or ENOTCONN (elections are off, or not
	 * connected). */
	int (*send)(void *context, const void *payload, size_t size);
};

/* A folder that has lacked an SM's newest image for so long is behind. */
#define TRIAD_HISTORY_BEHIND_US (10 * 60 * TRIAD_US_PER_S)

struct triad_history_mirror_status {
	bool is_on;
	/* Why nothing is copied, and what to do; NULL: no trouble. */
	const char *trouble;
	uint64_t n_dropped; /* payloads dropped because the inbox was full */
	struct triad_mirror_status mirror;
};

/* NULL when memory is short.  'store' and 'log' outlive it. */
struct triad_history_mirror *triad_history_mirror_new(
	struct triad_history_store *store, uint64_t port_guid, struct triad_log *log);
/* Accepts NULL. */
void triad_history_mirror_free(struct triad_history_mirror *mirror);

/* NULL: removes it; no call of the old one runs when this returns. */
void triad_history_mirror_set_carrier(struct triad_history_mirror *mirror,
	const struct triad_history_carrier *carrier);

/* Leave a received view or payload, from any thread; the caller then wakes the thread
 * of triad_history_mirror_run().  False: images are not copied now, the payload is
 * ignored. */
void triad_history_mirror_leave_view(
	struct triad_history_mirror *mirror, const uint64_t *members, uint32_t n);
bool triad_history_mirror_leave_payload(struct triad_history_mirror *mirror,
	uint64_t sender, const void *payload, size_t size);

/* Sends, receives and copies what is due.  After triad_history_store_prepare().
 * Returns when to call it again, at the latest (monotonic). */
uint64_t triad_history_mirror_run(
	struct triad_history_mirror *mirror, const struct triad_conf *conf);

struct triad_history_mirror_status triad_history_mirror_status(
	struct triad_history_mirror *mirror);

#endif
