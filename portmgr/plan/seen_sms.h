/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The other SMs that were seen within a day, and the text that keeps them over a restart.
 *
 * The rule: the way to an SM is guarded (guard.h) while OpenSM, the cluster or the
 * configuration knows it, and for a day after that, whether the SM lives or not: its host
 * may be repaired, or updated.  It counts when this SM saw the other one last, or when
 * the other one wrote its last record (portmgr/history/record.h), whichever is later.
 *
 * The text has a line for each SM: its port GUID, when it was seen last by the wall
 * clock, and a checksum (lib/checked_line.h).  A time that is still to come counts as
 * now, so a clock that was set back makes the day longer, never shorter.  The text is
 * to be written when an SM came or is forgotten, and once an hour.
 *
 * Thread-safety: none.  Memory: no allocation.  'now_us' is triad_clock_boot_us(),
 * 'wall_us' triad_clock_wall_us() at the same moment. */
#ifndef TRIAD_PORTMGR_SEEN_SMS_H
#define TRIAD_PORTMGR_SEEN_SMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triad/clock.h"

#define TRIAD_SEEN_SMS_MAX 64u
#define TRIAD_SEEN_SMS_FOR_US ((int64_t)24 * 3600 * (int64_t)TRIAD_US_PER_S)
#define TRIAD_SEEN_SMS_VERSION 1u
#define TRIAD_SEEN_SMS_SIZE 4096 /* of a text, with its 0 */

struct triad_seen_sms {
	uint32_t n;
	uint64_t guids[TRIAD_SEEN_SMS_MAX]; /* of their ports */
	/* When each was seen last, in the time of 'now_us'; negative: before this host
	 * was started. */
	int64_t at_us[TRIAD_SEEN_SMS_MAX];
};

/* When that was in the time of 'now_us'. */
int64_t triad_seen_sms_time(uint64_t at_wall_us, uint64_t now_us, uint64_t wall_us);

bool triad_seen_sms_has(const struct triad_seen_sms *sms, uint64_t guid);
/* Adds an SM that was seen within a day, or notes that it was seen later than before.
 * The first ones stay when there is no room. */
void triad_seen_sms_add(
	struct triad_seen_sms *sms, uint64_t guid, int64_t at_us, uint64_t now_us);

/* Whether the text of 'written' is so old that it must be written anew. */
bool triad_seen_sms_must_write(
	const struct triad_seen_sms *sms, const struct triad_seen_sms *written);
/* Writes the text, with a 0 behind it, and returns its length. */
size_t triad_seen_sms_format(const struct triad_seen_sms *sms, uint64_t now_us,
	uint64_t wall_us, char text[TRIAD_SEEN_SMS_SIZE]);
/* Returns 0, EINVAL (lines were left out that can't be read), or EPROTONOSUPPORT: it is
 * of a later Triad, and nothing was read. */
int triad_seen_sms_parse(const char *text, size_t size, uint64_t now_us,
	uint64_t wall_us, struct triad_seen_sms *sms);
/* Version of such a text; 0: it is none. */
unsigned triad_seen_sms_version(const char *text, size_t size);

#endif
