/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How often each client may ask.
 *
 * Model: a client that asks more often than 'per_s' on average is refused; after a pause
 * it may ask TRIAD_SHIELD_BURST_S times as many at once.  For each LID there is the time
 * when its next request would be due if they came evenly; a request is refused when that
 * is more than TRIAD_SHIELD_BURST_S ahead (the virtual scheduling algorithm of ITU-T
 * I.371, annex A).
 *
 * Thread-safety: one thread.  Memory: fixed, 0.4 MiB. */
#ifndef TRIAD_SHIELD_RATE_H
#define TRIAD_SHIELD_RATE_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAD_SHIELD_N_LIDS 0xc000u /* of unicast */
#define TRIAD_SHIELD_BURST_S 10u

/* Zeros at first. */
struct triad_shield_rate {
	uint64_t due_us[TRIAD_SHIELD_N_LIDS];
};

/* Whether a client may ask once more.  'per_s' 0: always. */
bool triad_shield_rate_take(
	struct triad_shield_rate *rate, uint16_t lid, uint32_t per_s, uint64_t now_us);

#endif
