/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the health of local ports again and again, in a thread of its own.
 *
 * A look reads three files of sysfs for each port, some hundred where a port has to be
 * found first, and the driver asks the HCA's firmware for the contents of several: it
 * takes longer the more MADs the HCA and the processors have to do with, and for ever
 * when the firmware hangs.  The election must not wait for that: its lease is a few
 * hundred milliseconds long.
 *
 * Model: the thread triad-health reads the ports that it was given,
 * TRIAD_HEALTH_READ_US after it began the last time, and leaves what it saw, to be
 * taken once.  Ports that change make void what was being read.
 *
 * Thread-safety: any thread; nothing waits for a look that is under way, but
 * triad_health_watch_free(), for half a second. */
#ifndef TRIAD_PLUGIN_ELECTION_HEALTH_WATCH_H
#define TRIAD_PLUGIN_ELECTION_HEALTH_WATCH_H

#include <stdbool.h>

#include "plugin/election/local_health.h"
#include "triad/clock.h"

#define TRIAD_HEALTH_READ_US (200 * TRIAD_US_PER_MS)

struct triad_health_watch;

/* Without ports.  NULL when memory or threads are short. */
struct triad_health_watch *triad_health_watch_new(void);
/* False when a look hangs: the thread is left, with the memory that it can reach. */
bool triad_health_watch_free(struct triad_health_watch *watch);

/* Whose health is read, at most TRIAD_CONF_MAX_GUIDS; none: nothing is. */
void triad_health_watch_set(
	struct triad_health_watch *watch, const uint64_t *guids, size_t n);

/* What was seen last of these ports; false when it was taken already, or isn't there
 * yet. */
bool triad_health_watch_take(
	struct triad_health_watch *watch, struct triad_local_health *seen);

#endif
