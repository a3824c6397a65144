/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which start (incarnation) of its sender a message belongs to.
 *
 * An incarnation is the wall-clock time of a sender's start: greater is newer.  A
 * message with a smaller one comes from a start that has ended: it was delayed, or
 * somebody replays it. But a clock may have been set back before a start. When a sender
 * was silent for a long time, none of its messages is still on its way, so a message
 * that comes then belongs to a new start, whatever its number. */
#ifndef TRIAD_COLLECT_INCARNATION_H
#define TRIAD_COLLECT_INCARNATION_H

#include <stdint.h>

enum triad_incarnation {
	TRIAD_INCARNATION_KNOWN,
	TRIAD_INCARNATION_NEW,
	TRIAD_INCARNATION_PAST, /* to be ignored */
};

/* Judges incarnation 'sent' of a sender that was last heard at 'received_us', with
 * incarnation 'known'.  Messages are delayed by 'past_us' at most. */
static inline enum triad_incarnation triad_incarnation_judge(uint64_t sent,
	uint64_t known, uint64_t received_us, uint64_t past_us, uint64_t now_us)
{
	if (sent == known)
		return TRIAD_INCARNATION_KNOWN;
	return sent > known || now_us - received_us > past_us ? TRIAD_INCARNATION_NEW
							      : TRIAD_INCARNATION_PAST;
}

#endif
