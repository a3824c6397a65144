/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Alerts and links of an image, as comment lines of a profile.
 *
 *     # triad-alert HEX        an alert and its ends
 *     # triad-finding HEX      one of its findings; those of an alert follow it
 *     # triad-link HEX         a link that went down
 *
 * The hexadecimal digits are the fields of a table (lib/fields.h).  What a later
 * version adds after them is ignored.
 *
 * Times in memory are monotonic, those in lines are of the wall clock: 'offset_us'
 * added to the former gives the latter.
 *
 * Thread-safety: functions without state.  Memory: none is allocated. */
#ifndef TRIAD_HISTORY_RECORD_H
#define TRIAD_HISTORY_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/watch/alerts.h"
#include "perfmgr/watch/links.h"

/* The most digits in a line. */
#define TRIAD_HISTORY_DIGITS 960u

/* Shifts a time to another clock; a missing time stays 0. */
static inline void triad_history_shift(uint64_t *at_us, int64_t offset_us)
{
	if (*at_us)
		*at_us += (uint64_t)offset_us;
}

/* Writes octets as digits; returns how many digits. */
size_t triad_history_put_hex(char *to, const uint8_t *octets, size_t n);
/* Reads 'n' digits; false: other characters, or an odd number. */
bool triad_history_get_hex(const char *from, size_t n, uint8_t *octets);

/* Write a line with its newline, of less than TRIAD_PROFILE_LINE_SIZE octets; return
 * its length. */
size_t triad_history_put_alert(
	char *to, const struct triad_alert *alert, int64_t offset_us);
size_t triad_history_put_finding(
	char *to, const struct triad_alert_finding *finding, int64_t offset_us);
size_t triad_history_put_link(
	char *to, const struct triad_link *link, int64_t offset_us);

/* Read the digits of a line.  False if they are malformed; then the structure is
 * undefined.  An alert has no findings yet.  The caller checks which end a finding
 * belongs to. */
bool triad_history_get_alert(
	const char *from, size_t n, struct triad_alert *alert, int64_t offset_us);
bool triad_history_get_finding(const char *from, size_t n,
	struct triad_alert_finding *finding, int64_t offset_us);
bool triad_history_get_link(
	const char *from, size_t n, struct triad_link *link, int64_t offset_us);

#endif
