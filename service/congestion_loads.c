/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/congestion_loads.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Sweeps reset a 16-bit counter from here on. */
#define NEAR_FULL (3u << 14)

/* NAN stays NAN. */
static float share_of(double rate, double most)
{
	return (float)(rate > most ? 1 : rate / most);
}

/* A port's load in its last interval; NAN: not known. */
static struct triad_congestion_load load_of(const struct triad_view *view,
	uint32_t port, const struct triad_fabric_port *at)
{
	struct triad_congestion_load load = {.wait = NAN, .sent = NAN};
	/* A word of the data counters, and a tick of PortXmitWait, is 4 octets. */
	double words_per_s = (double)triad_fabric_port_bps(at) / 32;
	struct triad_engine_row row;

	if (port == TRIAD_FABRIC_NONE || words_per_s <= 0 ||
		!triad_view_is_asked(view, port) ||
		!triad_view_read(view, port, &row) || !row.answered)
		return load;
	load.wait =
		share_of(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT), words_per_s);
	load.at_least = triad_engine_rate_is_least(&row, TRIAD_PORT_XMIT_WAIT);
	load.sent =
		share_of(triad_engine_rate(&row, TRIAD_PORT_XMIT_DATA), words_per_s);
	return load;
}

struct triad_congestion_load *triad_congestion_loads_of(
	const struct triad_view *view, const struct triad_fabric *fabric)
{
	struct triad_congestion_load *loads =
		calloc(fabric->n_ports + 1u, sizeof(*loads));

	for (uint32_t i = 0; loads && i < fabric->n_ports; i++)
		loads[i] = load_of(view,
			triad_fabric_find_same_port(view->fabric, fabric, i),
			&fabric->ports[i]);
	return loads;
}

/* --- waits by VL --- */

/* Reads the waits of a port's VLs in its last interval.  False: they were not read in
 * it, or do not show which VLs waited. */
static bool read_vl_waits(
	const struct triad_view *view, uint32_t port, struct triad_detail_row *waits)
{
	const struct triad_details_port of = triad_view_details_port(view, port);
	uint64_t sum = 0, most_age_us;
	struct triad_engine_row row;

	if (!triad_details_read(triad_engine_details(view->engine), &of,
		    TRIAD_PMA_VL_XMIT_WAIT, waits) ||
		!waits->interval_us || !triad_view_read(view, port, &row))
		return false;
	most_age_us = row.interval_us[TRIAD_PMA_PORT_COUNTERS];
	if (waits->read_us + most_age_us < row.read_us)
		return false;
	for (unsigned vl = 0; vl < TRIAD_CONGESTION_N_VLS; vl++) {
		/* At its maximum since an earlier reading: it can't count. */
		if (waits->saturated >> vl & 1 && !waits->change[vl])
			return false;
		sum += waits->change[vl];
	}
	return sum > 0;
}

/* Divides a port's waiting among its VLs. */
static void share_wait(const struct triad_detail_row *row,
	const struct triad_congestion_load *load,
	const struct triad_congestion_limits *limits,
	struct triad_congestion_vl_waits *waits)
{
	bool is_busy = load->sent >= limits->busy;
	/* While some VLs keep the link busy, the port as a whole waits little. */
	float longest = is_busy ? fmaxf(load->wait, limits->wait) : load->wait;
	uint64_t sum = 0;

	for (unsigned vl = 0; vl < TRIAD_CONGESTION_N_VLS; vl++)
		sum += row->change[vl];
	for (unsigned vl = 0; vl < TRIAD_CONGESTION_N_VLS; vl++)
		waits->wait[vl] = row->change[vl] >= NEAR_FULL
			? longest
			: load->wait * (float)row->change[vl] / (float)sum;
}

int triad_congestion_read_by_vl(const struct triad_view *view,
	const struct triad_fabric *fabric, const struct triad_congestion_load *loads,
	const struct triad_congestion_planes *planes,
	const struct triad_congestion_limits *limits,
	struct triad_congestion_by_vl *by_vl)
{
	struct triad_congestion_vl_waits *waits;
	uint32_t n_waiting = 0;

	*by_vl = (struct triad_congestion_by_vl){.planes = planes};
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		n_waiting += triad_congestion_load_waits(&loads[i], limits);
	waits = calloc(n_waiting + 1u, sizeof(*waits));
	if (!waits)
		return ENOMEM;
	for (uint32_t i = 0; planes->n && i < fabric->n_ports; i++) {
		struct triad_detail_row row;

		if (!triad_congestion_load_waits(&loads[i], limits) ||
			!read_vl_waits(view,
				triad_fabric_find_same_port(view->fabric, fabric, i),
				&row))
			continue;
		waits[by_vl->n].port = i;
		share_wait(&row, &loads[i], limits, &waits[by_vl->n++]);
	}
	by_vl->waits = waits;
	return 0;
}
