/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Path rates and MTUs as PathRecord codes them [IBA 15.2.5.16].
 *
 * A rate's code says nothing about how fast it is: codes were given in the order in
 * which speeds came.  What compares rates compares their ranks, 0 for a code that is
 * none, then from 1 in the order of bandwidth.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_IB_RATES_H
#define TRIAD_IB_RATES_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAD_RATE_MIN 2
#define TRIAD_RATE_MAX 24 /* of OpenSM from 3.3.24 on; 22 before */
#define TRIAD_MTU_MIN 1
#define TRIAD_MTU_MAX 5

/* 'rate' may be any value; 'rank' too: what is none gives 0. */
uint8_t triad_rate_rank(uint8_t rate);
uint8_t triad_rate_of_rank(uint8_t rank);

/* In tenths of Gb/s, as the code's name says; 0 for none. */
unsigned triad_rate_tenths(uint8_t rate);

/* The highest rate that is not above 'tenths' of Gb/s; 0 when there is none. */
uint8_t triad_rate_below(uint64_t tenths);

/* The rate as a port with 'caps' (TRIAD_RATE_CAP_*) understands it: one that came after
 * what it knows becomes a lower one, as OpenSM 3.3.24 chooses it. */
uint8_t triad_rate_for(uint8_t rate, uint8_t caps);

/* The same for clients that know none that came after EDR. */
uint8_t triad_rate_original(uint8_t rate);

/* The same for clients that know no code over 'limit', as OpenSM's max_rate_enum has
 * it. */
uint8_t triad_rate_limited(uint8_t rate, uint8_t limit);

/* 256 to 4096, or 0. */
unsigned triad_mtu_octets(uint8_t mtu);

#endif
