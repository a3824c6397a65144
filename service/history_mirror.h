/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs the mirror (history/mirror/mirror.h) on the folder of a store, over a carrier that
 * others provide: the election's transport.
 *
 * Model: views and payloads that come are left in an inbox by any thread.  The thread that
 * writes images takes them, reads and writes the disk, and gives the carrier one payload
 * at a time; what the carrier does not take now is kept, and given again.
 *
 * Thread-safety: run from one thread, which waits for the disk with no lock held; the rest
 * from any thread, which waits for a copy.  set_carrier also waits for the carrier.
 * Memory: that of the mirror, and an inbox of 256 payloads. */
#ifndef TRIAD_SERVICE_HISTORY_MIRROR_H
#define TRIAD_SERVICE_HISTORY_MIRROR_H

#include "service/history_store.h"
#include "triad/clock.h"

struct triad_history_mirror;

/* How others are reached. */
struct triad_history_carrier {
	void *context;
	/* Sends a payload to all, if nothing more urgent is to be sent.  Never blocks.
	 * Returns 0, EAGAIN (not now), or ENOTCONN (elections are off, or not
	 * connected). */
	int (*send)(void *context, const void *payload, size_t size);
};

/* What lacks an SM's newest image for that long is behind. */
#define TRIAD_HISTORY_BEHIND_US (10 * 60 * TRIAD_US_PER_S)

struct triad_history_mirror_status {
	bool is_on;
	const char *trouble; /* why nothing is copied, and what to do; NULL: it is */
	uint64_t n_dropped;  /* payloads that found the inbox full */
	struct triad_mirror_status mirror;
};

/* NULL when memory is short.  'store' and 'log' outlive it. */
struct triad_history_mirror *triad_history_mirror_new(
	struct triad_history_store *store, uint64_t port_guid, struct triad_log *log);
/* Accepts NULL. */
void triad_history_mirror_free(struct triad_history_mirror *mirror);

/* NULL: there is none any more, and when this returns nobody is being called. */
void triad_history_mirror_set_carrier(struct triad_history_mirror *mirror,
	const struct triad_history_carrier *carrier);

/* What came; by any thread, which wakes the one that runs.  False: nobody wants payloads
 * at present. */
void triad_history_mirror_leave_view(
	struct triad_history_mirror *mirror, const uint64_t *members, uint32_t n);
bool triad_history_mirror_leave_payload(struct triad_history_mirror *mirror,
	uint64_t sender, const void *payload, size_t size);

/* After triad_history_store_prepare().  Returns when it is to be called again, at the
 * latest (monotonic). */
uint64_t triad_history_mirror_run(
	struct triad_history_mirror *mirror, const struct triad_conf *conf);

struct triad_history_mirror_status triad_history_mirror_status(
	struct triad_history_mirror *mirror);

#endif
