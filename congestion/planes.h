/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Planes: groups of SLs whose packets take the same VLs everywhere, and so the same
 * buffers.
 *
 * Model: waiting spreads from buffer to buffer, and each VL has its own buffers.  So
 * waiting stays in the plane where it begins, unless two planes share a VL somewhere:
 * there both wait.  Any pair of hosts may send in each SL that is used.  There are no
 * planes if the routing engine chooses the SL of each pair, or the SLs are not known.
 *
 * A port that counts waits of its VLs (PortVLXmitWait) waits only in the planes whose
 * VLs waited; a port without that counter waits in all planes.
 *
 * Thread-safety: made by one thread, then immutable.
 * Memory: 2 octets for each port and plane. */
#ifndef TRIAD_CONGESTION_PLANES_H
#define TRIAD_CONGESTION_PLANES_H

#include "routes/layout.h"

#define TRIAD_CONGESTION_N_VLS 15u /* of data */
#define TRIAD_CONGESTION_NO_VL 255u
#define TRIAD_CONGESTION_MAX_PLANES 16u

/* All 0: there are none. */
struct triad_congestion_planes {
	uint32_t n, n_ports;
	uint16_t *vls; /* of each port of the fabric, plane after plane: a bit each */
};

/* How long the VLs of a port waited, as shares of the time from 0 to 1. */
struct triad_congestion_vl_waits {
	uint32_t port; /* index in the fabric's ports */
	float wait[TRIAD_CONGESTION_N_VLS];
};

/* The waits by VL that are known. */
struct triad_congestion_by_vl {
	const struct triad_congestion_planes *planes;
	uint32_t n; /* ports in 'waits' */
	const struct triad_congestion_vl_waits *waits;
};

/* 'sls' has a bit for each SL that is used; 0: not known.  Returns 0 or ENOMEM. */
int triad_congestion_planes_make(struct triad_congestion_planes *planes,
	const struct triad_routes_layout *layout, uint16_t sls);
void triad_congestion_planes_clear(struct triad_congestion_planes *planes);

static inline uint16_t triad_congestion_plane_vls(
	const struct triad_congestion_planes *planes, uint32_t plane, uint32_t port)
{
	return planes->vls[(size_t)plane * planes->n_ports + port];
}

#endif
