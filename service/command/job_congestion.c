/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/command/job_congestion.h"

#include <math.h>

#include "service/command/routes_parts.h"
#include "service/service.h"

/* The job's part in one root. */
struct part {
	uint32_t n_roles[TRIAD_CONGESTION_N_ROLES];
	uint32_t n_waiting;  /* hosts of the job in its tree */
	double loss_bps;     /* upper limit of what their waiting costs */
	double sent, others; /* by contributors that are of the job, and not */
	bool is_to_job;      /* the root leads to one of its hosts */
};

/* Whether a port is of the job.  The root's fabric may be older than the job's: routes
 * may have been checked again since the sweep. */
static bool is_of_job(const struct triad_fabric *fabric, const uint64_t *ports,
	const struct triad_fabric *other, uint32_t port)
{
	port = triad_fabric_find_same_port(fabric, other, port);
	return port != TRIAD_FABRIC_NONE && ports[port / 64] >> port % 64 & 1;
}

static struct part part_of(const struct triad_fabric *fabric, const uint64_t *ports,
	const struct triad_fabric *found_in, const struct triad_congestion_root *root)
{
	struct part part = {.is_to_job = is_of_job(fabric, ports, found_in,
				    found_in->ports[root->port].remote)};

	for (uint32_t i = 0; i < root->n_hosts; i++) {
		const struct triad_congestion_host *host = &root->hosts[i];
		bool is_own = is_of_job(fabric, ports, found_in, host->port);
		double bps =
			(double)triad_fabric_port_bps(&found_in->ports[host->port]);

		if (host->role == TRIAD_CONGESTION_CONTRIBUTOR && host->sent > 0)
			*(is_own ? &part.sent : &part.others) +=
				(double)host->sent * bps;
		if (!is_own)
			continue;
		part.n_roles[host->role]++;
		part.n_waiting++;
		part.loss_bps += (double)host->wait * bps;
	}
	return part;
}

static void put_root(struct triad_list *list, const struct triad_fabric *fabric,
	const struct triad_congestion_root *root, const struct part *part)
{
	double sum = part->sent + part->others, share;

	triad_list_row(list);
	triad_routes_put_port(list, NULL, "ROOT", fabric, root->port);
	if (root->vl == TRIAD_CONGESTION_NO_VL)
		triad_list_text(list, "vl", "VL", 2, NULL);
	else
		triad_list_uint(list, "vl", "VL", 2, root->vl);
	triad_list_text(
		list, "kind", "KIND", -19, triad_congestion_kind_name(root->kind));
	triad_list_uint(list, "contributors", "CONTRIB", 7,
		part->n_roles[TRIAD_CONGESTION_CONTRIBUTOR]);
	triad_list_uint(
		list, "victims", "VICTIMS", 7, part->n_roles[TRIAD_CONGESTION_VICTIM]);
	triad_list_uint(list, "undecided", "EITHER", 6,
		part->n_roles[TRIAD_CONGESTION_UNDECIDED]);
	triad_list_real(list, NULL, "LOSS", 10, part->loss_bps, "%.1f Gb/s",
		part->loss_bps / 1e9);
	share = sum > 0 ? 100 * part->sent / sum : NAN;
	triad_list_real(list, NULL, "OF IT", 6, share, "%.0f%%", share);
	if (triad_list_json(list)) {
		struct triad_json *json = triad_list_json(list);

		triad_json_double(json, "loss_gbps", part->loss_bps / 1e9);
		triad_json_double(json, "share_percent", share);
		triad_json_uint(json, "root_hosts", root->n_hosts);
		triad_json_bool(json, "leads_to_job", part->is_to_job);
	}
	triad_list_row_end(list);
}

void triad_job_put_congestion(struct triad_service *service,
	struct triad_report *report, const struct triad_fabric *fabric,
	const uint64_t *ports)
{
	struct triad_congestion_result *result =
		triad_congestion_watcher_result(service->congestion);
	const struct triad_fabric *found_in =
		result ? result->routes->check->layout->fabric : NULL;
	struct triad_list list = {.report = report};
	uint32_t n = 0;

	triad_report_array(report, "congestion");
	for (uint32_t i = 0; result && i < result->found->n_roots; i++) {
		const struct triad_congestion_root *root = &result->found->roots[i];
		struct part part = part_of(fabric, ports, found_in, root);

		if (!part.n_waiting && !part.is_to_job)
			continue;
		if (!n++ && !report->as_json)
			triad_output_printf(report->output,
				"\nroots of congestion, and its hosts that wait:\n");
		put_root(&list, found_in, root, &part);
	}
	triad_report_array_end(report);
	triad_congestion_result_unref(result);
}
