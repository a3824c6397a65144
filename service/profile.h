/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The profile's thread: writes the counters after each sweep (profile_writer.h).
 *
 * It may wait for a disk for ever: no other thread waits for it.  It skips sweeps that
 * end while it writes; the totals of the next one include what they counted.
 *
 * The thread starts when a file is configured for the first time.
 *
 * Thread-safety: any thread, for all but new, stop and free. */
#ifndef TRIAD_SERVICE_PROFILE_H
#define TRIAD_SERVICE_PROFILE_H

#include <stdbool.h>

#include "perfmgr/export/profile_writer.h"
#include "service/perf.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_profile;

/* 'perf' must outlive it; 'port_guid' is that of the local port.  NULL when memory is
 * short. */
struct triad_profile *triad_profile_new(
	struct triad_perf *perf, uint64_t port_guid, struct triad_log *log);

/* Ends the thread, in a second at most.  Returns false when it is stuck in a write:
 * then it, and what it uses, must stay.  Accepts NULL. */
bool triad_profile_stop(struct triad_profile *profile);

/* After triad_profile_stop() returned true.  Accepts NULL. */
void triad_profile_free(struct triad_profile *profile);

/* Returns 0, or an errno when the thread can't be started. */
int triad_profile_configure(
	struct triad_profile *profile, const struct triad_conf *conf);

struct triad_profile_status triad_profile_status(struct triad_profile *profile);

#endif
