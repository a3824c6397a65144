/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The thresholds of ports' counters, ready to be compared with changes.
 *
 * Model: each node type and group has a row of thresholds.  A threshold of the group
 * comes before that of the type, and that before the one for all ports.
 *
 * A counter reaches its threshold when its change is as large, in the threshold's unit:
 * events in the interval, events per second, or a share of what the link can carry.
 * PortXmitWait counts ticks in which data waited.  IBA leaves the length of a tick to
 * the device; here it is the time in which the link sends 4 octets, a word of the data
 * counters.  If a device has shorter ticks, the share is too high; it is capped at 100
 * %.
 *
 * Thread-safety: filled by one thread, then constant. */
#ifndef TRIAD_PERFMGR_LIMITS_H
#define TRIAD_PERFMGR_LIMITS_H

#include <stdint.h>

#include "perfmgr/engine.h"
#include "perfmgr/groups.h"
#include "triad/conf.h"

#define TRIAD_LIMITS_N_TYPES 4 /* 0 and enum triad_node_type */

struct triad_limits {
	uint32_t watched; /* bit i: counter i has a threshold */
	struct triad_threshold of[TRIAD_N_COUNTERS];
};

struct triad_limits_table {
	struct triad_limits rows[TRIAD_LIMITS_N_TYPES][TRIAD_GROUPS_MAX + 1];
};

void triad_limits_fill(struct triad_limits_table *table, const struct triad_conf *conf);

/* The counter's change in the threshold's unit; NAN when the link's rate is needed but
 * not known.  'words_per_us': what the link can carry, 0: not known. */
double triad_limits_measure(const struct triad_threshold *threshold,
	const struct triad_engine_changes *changes, unsigned counter,
	double words_per_us);

#endif
