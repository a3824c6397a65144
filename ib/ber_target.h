/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Kinds of bit error rates (BER) of a link, and the default target of each.
 *
 * Thread-safety: constant data, functions without state. */
#ifndef TRIAD_IB_BER_TARGET_H
#define TRIAD_IB_BER_TARGET_H

#include "ib/link.h"

enum triad_ber_kind {
	TRIAD_BER_RAW,       /* before FEC: corrected errors */
	TRIAD_BER_EFFECTIVE, /* after FEC: blocks not corrected */
	TRIAD_BER_SYMBOL,    /* after FEC and retransmission by the link */
	TRIAD_BER_N_KINDS
};

/* "raw", "effective", "symbol" */
const char *triad_ber_kind_name(enum triad_ber_kind kind);

/* The kind with that name; TRIAD_BER_N_KINDS: there is none. */
enum triad_ber_kind triad_ber_kind_find(const char *name);

/* The BER that a link of that speed should not exceed, by default; 0 for
 * TRIAD_SPEED_ANY. */
double triad_ber_target(enum triad_link_speed speed, enum triad_ber_kind kind);

/* The targets of all speeds; 0: not judged. */
struct triad_ber_targets {
	double of[TRIAD_N_SPEEDS][TRIAD_BER_N_KINDS];
};

#endif
