/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "congestion/planes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "routes/credit.h"

#define DATA_VLS ((1u << TRIAD_CONGESTION_N_VLS) - 1)

/* The VLs on which packets of an SL leave by 'port', over all in-ports. */
static uint16_t vls_of(
	const struct triad_routes_layout *layout, uint32_t port, uint8_t sl)
{
	const struct triad_fabric *fabric = layout->fabric;
	uint32_t sw = layout->switch_of_node[fabric->ports[port].node];
	uint16_t vls = 0;

	if (sw == TRIAD_FABRIC_NONE)
		return (uint16_t)(1u << triad_routes_fabric_vl(fabric, port, 0, sl) &
			DATA_VLS);
	for (uint32_t in = 1; in < layout->switches[sw].n_links; in++) {
		uint32_t link = layout->switches[sw].first_link + in;

		if (layout->links[link].kind != TRIAD_ROUTES_DEAD &&
			in != fabric->ports[port].number)
			vls |= (uint16_t)(1u
				<< triad_routes_fabric_vl(fabric, port, in, sl));
	}
	return vls & DATA_VLS;
}

/* Whether the last plane has the same VLs as an earlier one. */
static bool is_known_plane(const struct triad_congestion_planes *planes)
{
	const uint16_t *last = planes->vls + (size_t)planes->n * planes->n_ports;

	for (uint32_t i = 0; i < planes->n; i++)
		if (!memcmp(planes->vls + (size_t)i * planes->n_ports, last,
			    planes->n_ports * sizeof(*last)))
			return true;
	return false;
}

int triad_congestion_planes_make(struct triad_congestion_planes *planes,
	const struct triad_routes_layout *layout, uint16_t sls)
{
	uint32_t n_ports = layout->fabric->n_ports;
	uint32_t n_sls = (uint32_t)__builtin_popcount(sls);

	*planes = (struct triad_congestion_planes){.n_ports = n_ports};
	if (!sls)
		return 0;
	planes->vls = calloc((size_t)n_sls * n_ports + 1, sizeof(*planes->vls));
	if (!planes->vls)
		return ENOMEM;
	for (uint8_t sl = 0; sl < 16; sl++) {
		uint16_t *vls = planes->vls + (size_t)planes->n * n_ports;

		if (!(sls >> sl & 1))
			continue;
		for (uint32_t i = 0; i < n_ports; i++)
			vls[i] = vls_of(layout, i, sl);
		planes->n += !is_known_plane(planes);
	}
	return 0;
}

void triad_congestion_planes_clear(struct triad_congestion_planes *planes)
{
	free(planes->vls);
	*planes = (struct triad_congestion_planes){0};
}
