/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Bit error rates of all links, judged after each sweep: raw, effective and of symbols,
 * at each port, which counts what it receives (ber.h).
 *
 * Model: SymbolErrorCounter gives the rate of symbols, in each sweep; forward error
 * correction gives the other two, when PortExtendedSpeedsCounters were read: corrected
 * symbols or blocks the raw one, blocks not corrected the effective one.  A link
 * without these has the rate of symbols alone.
 *
 * What is known begins anew when the link goes down, changes its rate, or gets another
 * far end.  A port that never had an error has no test of its own, only the time since
 * when that is known.
 *
 * Tests are such that among all ports and kinds no more than 'false_alarms' a year are
 * false, on average.
 *
 * Thread-safety: none; the caller excludes readers from writers.  Memory: 112 octets a
 * port, and 96 for each of its kinds that had errors; what finds no room is counted. */
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
	bool is_known; /* it was read twice, and has a target */
	enum triad_ber_verdict verdict;
	double target;
	struct triad_ber_estimate estimate; /* with 95 % confidence */
	double remaining_s;                 /* see triad_ber_remaining_s() */
	uint64_t since_us;                  /* of a link that is worse */
	uint64_t read_us;
};

/* A link without errors is good, or will be: who wants to see that says so. */
static inline bool triad_bers_is_notable(const struct triad_bers_rate *rate)
{
	return rate->is_known &&
		(rate->verdict == TRIAD_BER_WORSE ||
			(rate->verdict == TRIAD_BER_UNDECIDED &&
				rate->estimate.errors));
}

enum triad_bers_change {
	TRIAD_BERS_NOTHING,
	TRIAD_BERS_WORSE, /* it is, still or now */
	TRIAD_BERS_OVER,  /* it was, and is no longer */
};

struct triad_bers;

/* NULL when memory is short. */
struct triad_bers *triad_bers_new(void);
void triad_bers_free(struct triad_bers *bers);

void triad_bers_configure(
	struct triad_bers *bers, const struct triad_bers_params *params);

/* Ports of 'view' (referenced until the next one) are looked at from now on.  Returns 0
 * or ENOMEM; then the last one goes on. */
int triad_bers_adopt(struct triad_bers *bers, struct triad_view *view);

/* What a sweep read of 'port' (index in the view's fabric); 'changes' is NULL when it
 * was no counter.  Of a link that is worse, '*kind' is the one that says most. */
enum triad_bers_change triad_bers_look(struct triad_bers *bers, uint32_t port,
	const struct triad_engine_changes *changes, uint64_t now_us,
	enum triad_ber_kind *kind);

/* What is known of a port of 'view', which may be older than the one adopted last. */
void triad_bers_read(const struct triad_bers *bers, const struct triad_view *view,
	uint32_t port, struct triad_bers_rate rates[TRIAD_BER_N_KINDS]);

size_t triad_bers_octets(const struct triad_bers *bers);
/* Readings that found no memory. */
uint64_t triad_bers_dropped(const struct triad_bers *bers);

#endif
