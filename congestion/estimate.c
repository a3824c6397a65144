/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "congestion/estimate.h"

#include <errno.h>
#include <stdlib.h>

#include "congestion/roots.h"

#define N_ROUNDS 10u

int triad_congestion_estimate_init(struct triad_congestion_estimate *estimate,
	const struct triad_routes_layout *layout)
{
	size_t most = 1;

	for (uint32_t i = 0; i < layout->n_switches; i++)
		if (layout->switches[i].n_links > most)
			most = layout->switches[i].n_links;
	*estimate = (struct triad_congestion_estimate){.sw = TRIAD_FABRIC_NONE,
		.bps = calloc(most * most, sizeof(*estimate->bps)),
		.in = calloc(most, sizeof(*estimate->in)),
		.out = calloc(most, sizeof(*estimate->out))};
	return estimate->bps && estimate->in && estimate->out ? 0 : ENOMEM;
}

void triad_congestion_estimate_clear(struct triad_congestion_estimate *estimate)
{
	free(estimate->bps);
	free(estimate->in);
	free(estimate->out);
}

double triad_congestion_link_bps(const struct triad_fabric *fabric, uint32_t port)
{
	uint64_t bps = triad_fabric_port_bps(&fabric->ports[port]);

	return bps ? (double)bps : 1;
}

double triad_congestion_sent_bps(const struct triad_fabric *fabric,
	const struct triad_congestion_load *loads, uint32_t port)
{
	return loads[port].sent > 0
		? (double)loads[port].sent * triad_congestion_link_bps(fabric, port)
		: 0;
}

static double *cell(
	const struct triad_congestion_estimate *estimate, uint32_t in, uint32_t out)
{
	return &estimate->bps[(size_t)in * estimate->n_links + out];
}

static void scale(struct triad_congestion_estimate *estimate, bool is_out)
{
	const double *wanted = is_out ? estimate->out : estimate->in;

	for (uint32_t i = 0; i < estimate->n_links; i++) {
		double sum = 0, factor;

		for (uint32_t k = 0; k < estimate->n_links; k++)
			sum += is_out ? *cell(estimate, k, i) : *cell(estimate, i, k);
		factor = sum > 0 ? wanted[i] / sum : 0;
		for (uint32_t k = 0; k < estimate->n_links; k++)
			*(is_out ? cell(estimate, k, i) : cell(estimate, i, k)) *=
				factor;
	}
}

void triad_congestion_estimate_make(struct triad_congestion_estimate *estimate,
	const struct triad_congestion_turns *turns,
	const struct triad_congestion_load *loads, uint32_t sw)
{
	const struct triad_routes_switch *at = &turns->layout->switches[sw];
	const struct triad_fabric *fabric = turns->layout->fabric;

	if (estimate->sw == sw)
		return;
	estimate->sw = sw;
	estimate->n_links = at->n_links;
	for (uint32_t i = 0; i < at->n_links; i++) {
		uint32_t out = turns->ports[at->first_link + i];
		uint32_t in = turns->from[at->first_link + i];

		estimate->out[i] = out == TRIAD_FABRIC_NONE
			? 0
			: triad_congestion_sent_bps(fabric, loads, out);
		estimate->in[i] = in == TRIAD_FABRIC_NONE
			? 0
			: triad_congestion_sent_bps(fabric, loads, in);
	}
	for (uint32_t in = 0; in < at->n_links; in++)
		for (uint32_t out = 0; out < at->n_links; out++)
			*cell(estimate, in, out) =
				triad_congestion_turn(turns, sw, in, out);
	for (unsigned i = 0; i < N_ROUNDS; i++) {
		scale(estimate, false);
		scale(estimate, true);
	}
}

double triad_congestion_share_of_in(
	const struct triad_congestion_estimate *estimate, uint32_t in, uint32_t out)
{
	double sum = 0;

	for (uint32_t k = 0; k < estimate->n_links; k++)
		sum += *cell(estimate, in, k);
	return sum > 0 ? *cell(estimate, in, out) / sum : 0;
}

double triad_congestion_share_of_out(
	const struct triad_congestion_estimate *estimate, uint32_t in, uint32_t out)
{
	double sum = 0;

	for (uint32_t k = 0; k < estimate->n_links; k++)
		sum += *cell(estimate, k, out);
	return sum > 0 ? *cell(estimate, in, out) / sum : 0;
}
