/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Bit error rates of all links, judged after each sweep (ber.h): raw, effective and of
 * symbols, at each port, for what it receives.
 *
 * Model: SymbolErrorCounter gives the symbol rate in each sweep.  Forward error
 * correction gives the other two, when PortExtendedSpeedsCounters were read: corrected
 * symbols or blocks give the raw rate, uncorrected blocks the effective one.  A link
 * without these counters has the symbol rate only.
 *
 * The history of a port begins anew when the link goes down, changes its rate, or gets
 * another far end.  A port without an error so far has no test of its own, only the
 * time at which its history began.
 *
 * Tests are set such that all ports and kinds together give no more than 'false_alarms'
 * false alarms a year, on average.
 *
 * Thread-safety: none; the caller excludes readers from writers.
 * Memory: 112 octets a port, and 96 for each of its kinds that had errors; readings
 * that find no room are counted. */
#ifndef TRIAD_PERFMGR_BERS_H
#define TRIAD_PERFMGR_BERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/view.h"
#include "perfmgr/watch/ber.h"

struct triad_bers_params {
	bool enabled; /* false forgets all */
	double false_alarms;
	struct triad_ber_targets targets;
};

/* One kind at one port. */
struct triad_bers_rate {
	bool is_known; /* it was read twice or more, and has a target */
	enum triad_ber_verdict verdict;
	double target;
	struct triad_ber_estimate estimate; /* with 95 % confidence */
	double remaining_s;                 /* see triad_ber_remaining_s() */
	uint64_t since_us;                  /* for a link that is worse */
	uint64_t read_us;
};

/* False for a link without errors: it is good, or will be. */
static inline bool triad_bers_is_notable(const struct triad_bers_rate *rate)
{
	return rate->is_known &&
		(rate->verdict == TRIAD_BER_WORSE ||
			(rate->verdict == TRIAD_BER_UNDECIDED &&
				rate->estimate.errors));
}

enum triad_bers_change {
	TRIAD_BERS_NOTHING,
	TRIAD_BERS_WORSE, /* it is worse, now or still */
	TRIAD_BERS_OVER,  /* it was worse, and is no longer */
};

struct triad_bers;

/* NULL when memory is short. */
struct triad_bers *triad_bers_new(void);
void triad_bers_free(struct triad_bers *bers);

void triad_bers_configure(
	struct triad_bers *bers, const struct triad_bers_params *params);

/* Looks at the ports of 'view' (referenced until the next one) from now on.  Returns 0,
 * or ENOMEM and keeps the last view. */
int triad_bers_adopt(struct triad_bers *bers, struct triad_view *view);

/* Judges what a sweep read of 'port' (index in the view's fabric); 'changes' is NULL
 * when it read no counter.  Of a worse link, '*kind' is the most important worse
 * kind. */
enum triad_bers_change triad_bers_look(struct triad_bers *bers, uint32_t port,
	const struct triad_engine_changes *changes, uint64_t now_us,
	enum triad_ber_kind *kind);

/* Copies the rates of a port of 'view', which may be older than the view adopted
 * last. */
void triad_bers_read(const struct triad_bers *bers, const struct triad_view *view,
	uint32_t port, struct triad_bers_rate rates[TRIAD_BER_N_KINDS]);

size_t triad_bers_octets(const struct triad_bers *bers);
/* Readings dropped because memory was short. */
uint64_t triad_bers_dropped(const struct triad_bers *bers);

#endif
