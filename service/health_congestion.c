/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/health_congestion.h"

#include <inttypes.h>
#include <stdio.h>

#include "ib/node_label.h"
#include "service/health.h"
#include "service/own_metrics.h"
#include "service/service.h"

#define MAX_TROUBLES 4u /* roots that are findings of their own */
#define MAX_METRICS 16u

static void add_trouble(struct triad_health *health, const struct triad_fabric *fabric,
	const struct triad_congestion_root *root)
{
	char what[256], vl[16] = "";

	if (root->vl != TRIAD_CONGESTION_NO_VL)
		snprintf(vl, sizeof(vl), " VL%u", root->vl);
	snprintf(what, sizeof(what),
		"congestion: %s at %s%s, %" PRIu32 " port%s wait%s, %.1f Gb/s lost",
		triad_congestion_kind_name(root->kind),
		triad_port_label(fabric, root->port).text, vl, root->n_waiting,
		root->n_waiting == 1 ? "" : "s", root->n_waiting == 1 ? "s" : "",
		root->loss_bps / 1e9);
	triad_health_add_trouble(health, TRIAD_WARNING, "congestion", what,
		"'triadctl congestion' shows whom it holds up, and what to do");
}

void triad_congestion_add_health(
	struct triad_health *health, struct triad_service *service)
{
	struct triad_congestion_result *result =
		triad_congestion_watcher_result(service->congestion);
	const struct triad_congestion *found;
	char unknown[64] = "";
	bool is_reported;
	uint32_t n;

	if (!result) {
		triad_health_line_off(health, "congestion", "Congestion",
			triad_congestion_watcher_state(service->congestion) ==
					TRIAD_CONGESTION_OFF
				? "off"
				: "not known yet");
		return;
	}
	found = result->found;
	n = found->n_roots + found->n_more;
	if (found->n_known < found->n_links)
		snprintf(unknown, sizeof(unknown),
			"; not known of %" PRIu32 " of %" PRIu32 " ports",
			found->n_links - found->n_known, found->n_links);
	is_reported = triad_health_alerts_report(service);
	for (uint32_t i = 0; !is_reported && i < found->n_roots && i < MAX_TROUBLES;
		i++)
		add_trouble(health, result->routes->check->layout->fabric,
			&found->roots[i]);
	triad_health_line(health, "congestion", "Congestion",
		n ? TRIAD_WARNING : TRIAD_OK,
		"%" PRIu32 " root%s, %" PRIu32 " port%s wait%s%s", n, n == 1 ? "" : "s",
		found->n_waiting, found->n_waiting == 1 ? "" : "s",
		found->n_waiting == 1 ? "s" : "", unknown);
	triad_congestion_result_unref(result);
}

/* --- for alerts --- */

void triad_congestion_give(void *context, struct triad_found *found)
{
	struct triad_service *service = context;

	triad_congestion_watcher_give(service->congestion, found);
}

/* --- for Prometheus --- */

/* Chooses the 'n' roots with the greatest loss, in this order. */
static unsigned choose_roots(const struct triad_congestion_result *result,
	const struct triad_congestion_tracked **chosen, unsigned n)
{
	unsigned n_chosen = 0;

	for (uint32_t i = 0; i < result->n_tracked; i++) {
		const struct triad_congestion_tracked *root = &result->tracked[i];
		unsigned at = n_chosen < n ? n_chosen++ : n;

		for (; at > 0 && chosen[at - 1]->loss_bps < root->loss_bps; at--)
			if (at < n)
				chosen[at] = chosen[at - 1];
		if (at < n)
			chosen[at] = root;
	}
	return n_chosen;
}

static void add_loss(struct triad_own_metrics *list, const struct triad_fabric *fabric,
	const struct triad_congestion_tracked *root)
{
	uint32_t port = triad_fabric_port_at(fabric, root->node_guid, root->port);
	struct triad_metric *metric;
	char text[24];

	if (port == TRIAD_FABRIC_NONE)
		return; /* the port has left; its root is missed for the first time */
	metric = triad_own_add(list, TRIAD_METRIC_GAUGE,
		"triad_congestion_loss_bits_per_second",
		"What waiting cost at most because of a root, of those that cost most; of "
		"one that the last sweep missed, before.",
		root->loss_bps);
	/* The port's GUID, as in the metrics of ports. */
	snprintf(text, sizeof(text), "0x%016" PRIx64, fabric->ports[port].guid);
	triad_metric_add_label(metric, "guid", text);
	snprintf(text, sizeof(text), "%u", root->port);
	triad_metric_add_label(metric, "port", text);
	snprintf(text, sizeof(text), "%u", root->vl);
	triad_metric_add_label(
		metric, "vl", root->vl == TRIAD_CONGESTION_NO_VL ? "" : text);
	triad_metric_add_label(metric, "kind", triad_congestion_kind_name(root->kind));
}

void triad_congestion_add_metrics(
	struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_congestion_result *result =
		triad_congestion_watcher_result(service->congestion);
	const struct triad_congestion_tracked *chosen[MAX_METRICS];
	unsigned n_chosen;

	if (!result)
		return;
	triad_own_gauge(list, "triad_congestion_roots",
		"Ports where congestion begins, by the last sweep.",
		(double)result->found->n_roots + result->found->n_more);
	if (result->found->n_known)
		triad_own_gauge(list, "triad_congestion_waiting_ports",
			"Ports that wait, by the last sweep.",
			(double)result->found->n_waiting);
	triad_own_gauge(list, "triad_congestion_known_ports",
		"Ports with a link of which it is known whether they wait.",
		(double)result->found->n_known);
	triad_own_gauge(list, "triad_congestion_lower_bound_ports",
		"Ports with a link of whose wait only a lower bound below the limit is "
		"known: it is not known whether they wait.",
		(double)result->found->n_open);
	/* The same roots as in alerts: a root stays when one sweep misses it. */
	n_chosen = choose_roots(result, chosen, MAX_METRICS);
	for (unsigned i = 0; i < n_chosen; i++)
		add_loss(list, result->routes->check->layout->fabric, chosen[i]);
	triad_congestion_result_unref(result);
}
