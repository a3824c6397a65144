/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The SLs that a routing engine may give a path, when it draws them at random.
 *
 * Model: OpenSM's DFSSSP puts each pair of LIDs into a lane, a run of consecutive SLs, and
 * answers each question for the pair with one of them at random (osm_ucast_dfsssp.c,
 * get_dfsssp_sl()).  So two answers for one pair belong to one lane, and what lies between
 * them, too.  A lane is known once two answers were compared in it often enough: with 64
 * comparisons, one of two SLs alone stays unseen with a probability below 2^-64.
 *
 * Thread-safety: none.  Memory: no allocation. */
#ifndef TRIAD_ROUTES_LANES_H
#define TRIAD_ROUTES_LANES_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAD_ROUTES_LANE_DRAWS 64u

/* All zero at first. */
struct triad_routes_lanes {
	uint16_t of[16];      /* SLs in the lane of this one, a bit each */
	uint32_t n_draws[16]; /* comparisons with this one as the first */
};

/* Two answers, 0 to 15, for one pair. */
void triad_routes_lanes_add(
	struct triad_routes_lanes *lanes, uint8_t first, uint8_t second);

/* Makes lanes of the comparisons; more may follow.  Returns which of 'sls' (a bit each) are in
 * lanes that are not known yet. */
uint16_t triad_routes_lanes_close(struct triad_routes_lanes *lanes, uint16_t sls);

/* All SLs of the lanes of 'sls'.  After triad_routes_lanes_close(). */
uint16_t triad_routes_lanes_of(const struct triad_routes_lanes *lanes, uint16_t sls);

#endif
