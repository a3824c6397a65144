/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the health of local ports periodically, in a thread of its own.
 *
 * A reading needs three files of sysfs for each port, or some hundred if the port must
 * be found first.  For several of them the driver asks the HCA's firmware.  So a
 * reading takes longer when the HCA and the processors handle many MADs, and never ends
 * when the firmware hangs.  The election must not wait for that: its lease is a few
 * hundred milliseconds long.
 *
 * Model: the thread triad-health reads the ports that the owner set, every
 * TRIAD_HEALTH_READ_US, and leaves the result, which can be taken once.  A change of
 * the set discards the reading that is under way.
 *
 * Thread-safety: any thread; only triad_health_watch_free() waits for a reading that is
 * under way, for half a second. */
#ifndef TRIAD_PLUGIN_ELECTION_HEALTH_WATCH_H
#define TRIAD_PLUGIN_ELECTION_HEALTH_WATCH_H

#include <stdbool.h>

#include "plugin/election/local_health.h"
#include "triad/clock.h"

#define TRIAD_HEALTH_READ_US (200 * TRIAD_US_PER_MS)

struct triad_health_watch;

/* Without ports.  NULL when memory or threads are short. */
struct triad_health_watch *triad_health_watch_new(void);
/* Returns false when a reading hangs: then it leaves the thread and the memory that the
 * thread can reach. */
bool triad_health_watch_free(struct triad_health_watch *watch);

/* Sets the ports to read, at most TRIAD_CONF_MAX_GUIDS; 'n' may be 0. */
void triad_health_watch_set(
	struct triad_health_watch *watch, const uint64_t *guids, size_t n);

/* Takes the last reading of these ports.  Returns false if there is no new one. */
bool triad_health_watch_take(
	struct triad_health_watch *watch, struct triad_local_health *seen);

#endif
