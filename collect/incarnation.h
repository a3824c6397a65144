/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Of which start of its sender a message is.
 *
 * An incarnation is when a sender started, by its wall clock: greater is newer.  A
 * smaller one is word of a start that has ended, which was on its way, or somebody's
 * who plays it back.  But a clock may have been set back before a start: a sender that
 * was silent for long has no words on their way, so that what comes then is a new
 * start, whatever its number. */
#ifndef TRIAD_COLLECT_INCARNATION_H
#define TRIAD_COLLECT_INCARNATION_H

#include <stdint.h>

enum triad_incarnation {
	TRIAD_INCARNATION_KNOWN,
	TRIAD_INCARNATION_NEW,
	TRIAD_INCARNATION_PAST, /* not to be heard */
};

/* 'said' by who was heard last at 'heard_us' as 'known'; words are on their way for up
 * to 'past_us'. */
static inline enum triad_incarnation triad_incarnation_judge(uint64_t said,
	uint64_t known, uint64_t heard_us, uint64_t past_us, uint64_t now_us)
{
	if (said == known)
		return TRIAD_INCARNATION_KNOWN;
	return said > known || now_us - heard_us > past_us ? TRIAD_INCARNATION_NEW
							   : TRIAD_INCARNATION_PAST;
}

#endif
