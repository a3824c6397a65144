/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Dates of the Gregorian calendar, in UTC.
 *
 * Like gmtime_r() and timegm(), but for all times from the year 1 on; with a time_t of
 * 32 bits those end in 2038.  Seconds are since 1970.
 *
 * Thread-safety: no state. */
#ifndef TRIAD_LIB_CALENDAR_H
#define TRIAD_LIB_CALENDAR_H

#include <stdint.h>
#include <time.h>

/* Sets the date and the time of day, and clears the rest. */
void triad_calendar_from_s(int64_t wall_s, struct tm *date);

/* A day or month that does not exist carries over: the 30th of February is the 1st or
 * 2nd of March. */
int64_t triad_calendar_to_s(const struct tm *date);

#endif
