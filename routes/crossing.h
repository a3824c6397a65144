/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What an entry of a forwarding table matters for.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_ROUTES_CROSSING_H
#define TRIAD_ROUTES_CROSSING_H

#include "routes/layout.h"

/* From how many other hosts' ports the SM's route to the LID leaves by this switch. */
uint32_t triad_routes_n_crossing(
	const struct triad_routes_layout *layout, uint32_t node, uint16_t lid);

#endif
