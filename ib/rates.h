/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Path rates and MTUs as PathRecord codes them [IBA 15.2.5.16].
 *
 * The order of codes is not that of speeds: codes were assigned as speeds appeared.  So
 * compare the ranks of rates: 0 for no valid code, then from 1 on in the order of
 * bandwidth.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_IB_RATES_H
#define TRIAD_IB_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "ib/link.h"

#define TRIAD_RATE_MIN 2
#define TRIAD_RATE_MAX 24 /* of OpenSM from 3.3.24 on; 22 before */
#define TRIAD_MTU_MIN 1
#define TRIAD_MTU_MAX 5

/* Convert between codes and ranks; invalid values give 0. */
uint8_t triad_rate_rank(uint8_t rate);
uint8_t triad_rate_of_rank(uint8_t rank);

/* The rate in tenths of Gb/s, as in its name; 0 for no rate. */
unsigned triad_rate_tenths(uint8_t rate);

/* The highest rate that is not above 'tenths' of Gb/s; 0 when there is none. */
uint8_t triad_rate_below(uint64_t tenths);

/* The rate of a link; 0 when its width or speed is not known. */
uint8_t triad_rate_of_link(struct triad_link_rate link);

/* The rate for a port with 'caps' (TRIAD_RATE_CAP_*): a rate that the port does not
 * know becomes a lower one, as OpenSM 3.3.24 chooses it. */
uint8_t triad_rate_for(uint8_t rate, uint8_t caps);

/* The same for clients that know no rate after EDR. */
uint8_t triad_rate_original(uint8_t rate);

/* The same for clients that know no code over 'limit', as with OpenSM's
 * max_rate_enum. */
uint8_t triad_rate_limited(uint8_t rate, uint8_t limit);

/* 256 to 4096, or 0. */
unsigned triad_mtu_octets(uint8_t mtu);

#endif
