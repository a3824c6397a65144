/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/profile_links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "triad/clock.h"

#define BITS_PER_WORD 32

double triad_link_mean_bps(const struct triad_link *link)
{
	return MAX(link->mean_bps[0], link->mean_bps[1]);
}

double triad_link_peak_bps(const struct triad_link *link)
{
	return MAX(link->peak_bps[0], link->peak_bps[1]);
}

/* --- links --- */

/* Sets the traffic of direction 'direction': what 'from' sent, or else what 'to'
 * received. */
static void set_direction(struct triad_link *link, unsigned direction,
	const struct triad_stats_port *from, const struct triad_stats_port *to)
{
	bool by_sender = from && from->observed_us;
	const struct triad_stats_port *port = by_sender ? from : to;
	unsigned counter = by_sender ? TRIAD_STATS_XMIT : TRIAD_STATS_RCV;

	if (!port || !port->observed_us)
		return;
	link->mean_bps[direction] = (double)port->words[counter] * BITS_PER_WORD *
		(double)TRIAD_US_PER_S / (double)port->observed_us;
	link->peak_bps[direction] = port->peak[counter] * BITS_PER_WORD;
	link->peak_us[direction] = port->peak_us[counter];
}

/* Adds the link of 'a' and 'b' (NULL: not read; then by the rows of 'a'). */
static void add_link(struct triad_links *links, const struct triad_stats_port *a,
	const struct triad_stats_port *b)
{
	struct triad_link *link = &links->links[links->n_links++];
	/* If only one end was read, that may be end B. */
	bool is_turned = a->remote_guid &&
		(a->remote_guid < a->node_guid ||
			(a->remote_guid == a->node_guid && a->remote_port < a->port));

	*link = (struct triad_link){
		.guid = {a->node_guid, a->remote_guid},
		.port = {a->port, a->remote_port},
		.mbps = a->mbps || !b ? a->mbps : b->mbps,
	};
	set_direction(link, TRIAD_LINK_THERE, a, b);
	set_direction(link, TRIAD_LINK_BACK, b, a);
	if (is_turned) {
		const struct triad_link there = *link;

		for (unsigned i = 0; i < 2; i++) {
			link->guid[i] = there.guid[!i];
			link->port[i] = there.port[!i];
			link->mean_bps[i] = there.mean_bps[!i];
			link->peak_bps[i] = there.peak_bps[!i];
			link->peak_us[i] = there.peak_us[!i];
		}
	}
}

/* Adds each link once: at the first of its ends that was read. */
static void add_links(struct triad_links *links, const struct triad_stats *stats)
{
	for (size_t i = 0; i < stats->n_ports; i++) {
		const struct triad_stats_port *port = &stats->ports[i], *far = NULL;

		if (port->remote_guid)
			far = triad_stats_find(
				stats, port->remote_guid, port->remote_port);
		/* A far end that has been plugged in elsewhere is of another link. */
		if (far &&
			(far->remote_guid != port->node_guid ||
				far->remote_port != port->port))
			far = NULL;
		if (!far || far > port)
			add_link(links, port, far);
	}
}

/* --- order --- */

static int compare_ends(const void *a, const void *b)
{
	const struct triad_link *x = a, *y = b;

	for (unsigned i = 0; i < 2; i++)
		if (x->guid[i] != y->guid[i])
			return x->guid[i] < y->guid[i] ? -1 : 1;
	if (x->port[0] != y->port[0])
		return x->port[0] - y->port[0];
	return x->port[1] - y->port[1];
}

static int compare_numbers(double a, double b, size_t i, size_t j)
{
	if (a != b)
		return a > b ? -1 : 1;
	return (i > j) - (i < j);
}

static int compare_means(const void *a, const void *b, void *links)
{
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const struct triad_link *all = links;

	return compare_numbers(
		triad_link_mean_bps(&all[i]), triad_link_mean_bps(&all[j]), i, j);
}

static int compare_peaks(const void *a, const void *b, void *links)
{
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const struct triad_link *all = links;

	return compare_numbers(
		triad_link_peak_bps(&all[i]), triad_link_peak_bps(&all[j]), i, j);
}

static void sort_links(struct triad_links *links)
{
	size_t n = links->n_links;

	qsort(links->links, n, sizeof(*links->links), compare_ends);
	for (size_t i = 0; i < n; i++)
		links->by_mean[i] = links->by_peak[i] = i;
	qsort_r(links->by_mean, n, sizeof(size_t), compare_means, links->links);
	qsort_r(links->by_peak, n, sizeof(size_t), compare_peaks, links->links);
}

/* --- bundles --- */

static int compare_bundles(const void *a, const void *b)
{
	const struct triad_bundle *x = a, *y = b;

	if (x->ratio != y->ratio)
		return x->ratio > y->ratio ? -1 : 1;
	return compare_numbers(x->max_bps, y->max_bps, x->first, y->first);
}

static void measure_direction(const struct triad_links *links,
	struct triad_bundle *bundle, unsigned direction)
{
	double sum = 0, max = 0, mean;
	size_t busiest = bundle->first;

	for (size_t i = bundle->first; i < bundle->first + bundle->n_links; i++) {
		double bps = links->links[i].mean_bps[direction];

		sum += bps;
		if (bps > max) {
			max = bps;
			busiest = i;
		}
	}
	mean = sum / bundle->n_links;
	/* The more uneven direction decides. */
	if (sum <= 0 || max / mean <= bundle->ratio)
		return;
	bundle->ratio = max / mean;
	bundle->direction = direction;
	bundle->busiest = busiest;
	bundle->mean_bps = mean;
	bundle->max_bps = max;
}

/* Finds bundles: links are sorted by ends, so those of two nodes are adjacent. */
static void add_bundles(struct triad_links *links)
{
	size_t n = links->n_links, end;

	for (size_t i = 0; i < n; i = end) {
		const struct triad_link *link = &links->links[i];
		struct triad_bundle bundle = {.first = i};

		for (end = i + 1; end < n && link->guid[1] &&
			links->links[end].guid[0] == link->guid[0] &&
			links->links[end].guid[1] == link->guid[1];
			end++)
			;
		bundle.n_links = (unsigned)(end - i);
		if (bundle.n_links < 2)
			continue;
		measure_direction(links, &bundle, TRIAD_LINK_THERE);
		measure_direction(links, &bundle, TRIAD_LINK_BACK);
		if (bundle.ratio > 0)
			links->bundles[links->n_bundles++] = bundle;
	}
	qsort(links->bundles, links->n_bundles, sizeof(*links->bundles),
		compare_bundles);
}

int triad_links_make(struct triad_links *links, const struct triad_stats *stats)
{
	size_t n = stats->n_ports + 1;

	/* Limits: each link has at least one port that was read, a bundle two links. */
	*links = (struct triad_links){
		.links = calloc(n, sizeof(*links->links)),
		.by_mean = calloc(n, sizeof(size_t)),
		.by_peak = calloc(n, sizeof(size_t)),
		.bundles = calloc(n / 2 + 1, sizeof(*links->bundles)),
	};
	if (!links->links || !links->by_mean || !links->by_peak || !links->bundles) {
		triad_links_clear(links);
		return ENOMEM;
	}
	add_links(links, stats);
	sort_links(links);
	add_bundles(links);
	return 0;
}

void triad_links_clear(struct triad_links *links)
{
	free(links->links);
	free(links->by_mean);
	free(links->by_peak);
	free(links->bundles);
	*links = (struct triad_links){0};
}
