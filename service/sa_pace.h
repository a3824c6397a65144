/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When the SA's tables are read again, after reports of ports that came or went.
 *
 * Model: the first report after a calm is answered soon, with all of its burst, because
 * a switch's ports come and go together.  While reports go on, the tables are read at
 * growing intervals, from 1 s to 10 s, so that senders of reports can't cause load.
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
	uint64_t read_us;     /* when reports were answered last; 0: never */
};

/* A report has come: returns when the tables are due for it. */
uint64_t triad_sa_pace_report(struct triad_sa_pace *pace, uint64_t now_us);

/* The tables have been read, because of reports. */
void triad_sa_pace_read(struct triad_sa_pace *pace, uint64_t now_us);

#endif
