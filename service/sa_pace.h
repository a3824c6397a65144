/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decides when to read the SA's tables again after reports of ports that came or went.
 *
 * Model: after a calm, the tables are read TRIAD_SA_PACE_SETTLE_US after the first
 * report: a switch's ports come and go together, so one reading serves the whole burst.
 * While reports go on, intervals grow from 1 s to 10 s, so that reports can't cause
 * much load.
 *
 * Thread-safety: none.  No clock: time comes in. */
#ifndef TRIAD_SERVICE_SA_PACE_H
#define TRIAD_SERVICE_SA_PACE_H

#include <stdint.h>

#include "triad/clock.h"

#define TRIAD_SA_PACE_SETTLE_US (TRIAD_US_PER_S / 2)
#define TRIAD_SA_PACE_LEAST_US TRIAD_US_PER_S
#define TRIAD_SA_PACE_MOST_US (10 * TRIAD_US_PER_S)

/* All zeros at the beginning. */
struct triad_sa_pace {
	uint64_t interval_us; /* at least, from one reading to the next; 0: calm */
	uint64_t read_us;     /* when tables were last read for reports; 0: never */
};

/* Returns when to read the tables for a report that has just come. */
uint64_t triad_sa_pace_report(struct triad_sa_pace *pace, uint64_t now_us);

/* Notes that the tables have been read because of reports. */
void triad_sa_pace_read(struct triad_sa_pace *pace, uint64_t now_us);

#endif
