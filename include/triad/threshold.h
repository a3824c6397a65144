/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The change of a counter from which on there is an alert.
 *
 * Model: a value and its unit, written as one word:
 *
 *     10/sweep  the counter grew by as much from one sweep to the next
 *     0.5/s     it grew as fast as that, on average over that time
 *     25%       of the link's bandwidth; for PortXmitData, PortRcvData and
 *               PortXmitWait, whose units are times on the link: a tick of
 *               PortXmitWait is taken for the time in which 4 octets are sent
 *     off       never
 *     inherit   the threshold of the next more general scope
 *
 * Invariants: a value is above 0 and at most 1e15, a percentage at most 100; with 'off'
 * and 'inherit' it is 0.  A threshold is reached when the change is as large as the
 * value.  Zeroed memory is 'inherit'.
 *
 * Thread-safety: functions without state.
 * Memory: plain values. */
#ifndef TRIAD_THRESHOLD_H
#define TRIAD_THRESHOLD_H

#include <stdbool.h>
#include <stddef.h>

#define TRIAD_THRESHOLD_MAX 1e15
#define TRIAD_THRESHOLD_TEXT_SIZE 48

enum triad_threshold_unit {
	TRIAD_THRESHOLD_INHERIT,
	TRIAD_THRESHOLD_OFF,
	TRIAD_THRESHOLD_PER_SWEEP,
	TRIAD_THRESHOLD_PER_S,
	TRIAD_THRESHOLD_PERCENT,
};

struct triad_threshold {
	double value;
	unsigned char unit; /* enum triad_threshold_unit */
};

/* Reads a threshold for 'counter' (enum triad_counter), 'inherit' included.  Words
 * ignore case; blanks may stand before the unit.  On false '*threshold' is untouched
 * and 'reason' says what is wrong and what is allowed. */
bool triad_threshold_parse(const char *text, unsigned counter,
	struct triad_threshold *threshold, char *reason, size_t size);

/* Writes it as triad_threshold_parse() reads it, to the same value;
 * TRIAD_THRESHOLD_TEXT_SIZE octets hold any. */
void triad_threshold_format(
	const struct triad_threshold *threshold, char *text, size_t size);

#endif
