/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Times in the user's zone.
 *
 * Model: Triad writes times in UTC, "2026-01-02T03:04:05Z", with or without milliseconds.  In
 * text for a person each becomes "2026-01-02T04:04:05+01:00", which options take, too.  Text
 * comes in pieces, so octets that may begin a time are held until it is known.
 *
 * Thread-safety: none.  Memory: none. */
#ifndef TRIAD_CLI_LOCAL_TIME_H
#define TRIAD_CLI_LOCAL_TIME_H

#include <stddef.h>

#define TRIAD_LOCAL_TIME_HELD 24 /* "2026-01-02T03:04:05.678Z" */

/* All zeros at first. */
struct triad_local_time {
	char held[TRIAD_LOCAL_TIME_HELD];
	size_t n;
};

/* At most so many octets come of 'size' octets, and of what is held. */
#define TRIAD_LOCAL_TIME_ROOM(size) ((size) + (size) / 4 + TRIAD_LOCAL_TIME_HELD + 8)

/* Takes a piece of text.  Writes what is known to 'out', which has that room; returns how many
 * octets. */
size_t triad_local_time_take(
	struct triad_local_time *times, const char *text, size_t size, char *out);

/* After the last piece: writes what is still held. */
size_t triad_local_time_end(struct triad_local_time *times, char *out);

#endif
