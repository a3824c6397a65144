/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Passes findings, traps, histograms and resets of totals between the member and the
 * PerfManager. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "service/collect_parts.h"
#include "triad/clock.h"

/* --- agents: what sweeps found --- */

static void mark_alert(const struct triad_fabric *fabric,
	const struct triad_alert *alert, uint32_t *findings)
{
	for (unsigned i = 0; i < alert->n_findings; i++) {
		const struct triad_alert_finding *finding = &alert->findings[i];
		uint32_t n,
			port = triad_alert_end_ports(
				fabric, &alert->ends[finding->end], &n);

		if (!finding->raised || !(TRIAD_ALERT_TAKEN & 1u << finding->cause))
			continue;
		for (uint32_t j = 0; j < n; j++)
			findings[port + j] |= 1u << finding->cause;
	}
}

void triad_collect_report_sweep(
	struct triad_collect *collect, const struct triad_collector_status *status)
{
	struct triad_view *view = triad_collector_view(collect->collector);
	struct triad_watch *watch = triad_collector_watch(collect->collector);
	uint64_t lag_us = status->delay_us + status->duration_us;
	struct triad_alert alert;
	uint32_t *findings;

	if (!view)
		return;
	/* The raised causes of each port of the view.  Without memory the counters are
	 * reported without findings. */
	findings = calloc(view->fabric->n_ports + 1, sizeof(*findings));
	for (uint32_t at = 0; findings && triad_watch_next_alert(watch, &at, &alert);)
		if (alert.state == TRIAD_ALERT_ACTIVE)
			mark_alert(view->fabric, &alert, findings);
	triad_member_send_sweep(collect->member, view, findings,
		status->last.n_unanswered, (uint32_t)(lag_us / TRIAD_US_PER_MS),
		triad_clock_now_us());
	free(findings);
	triad_view_unref(view);
}

/* --- agents: alerts as they come --- */

static void report_finding(struct triad_collect *collect,
	const struct triad_alert *alert, const struct triad_alert_finding *finding,
	bool is_raised)
{
	const struct triad_alert_end *end = &alert->ends[finding->end];
	const struct triad_collect_trap trap = {
		.wall_us = triad_clock_wall_us(),
		.node_guid = end->node_guid,
		.port = end->port,
		.cause = finding->cause,
		.is_raised = is_raised,
		.is_at_least = finding->at_least,
		.value = finding->value,
		.threshold = (float)finding->threshold.value,
		.threshold_unit = finding->threshold.unit,
		.why_field = finding->why.field,
		.why_is_only_one = finding->why.is_only_one,
		.why_element = finding->why.element,
		.ber_kind = finding->ber.kind,
		.ber_low = finding->ber.low,
		.ber_high = finding->ber.high,
		.ber_target = finding->ber.target,
		.ber_in_s = finding->ber.in_s,
		.hardware_fault = finding->hardware.fault,
		.hardware_index = finding->hardware.index,
		.hardware_limit = finding->hardware.limit,
	};

	if (TRIAD_ALERT_TAKEN & 1u << finding->cause)
		triad_member_send_trap(collect->member, &trap, triad_clock_now_us());
}

static void forward_alert(
	void *context, enum triad_alert_change change, const struct triad_alert *alert)
{
	struct triad_collect *collect = context;

	/* The agent's own log has it, too. */
	collect->next_sink.take(collect->next_sink.context, change, alert);
	/* Silences belong to the manager; and these calls may come from any thread. */
	if (change == TRIAD_ALERT_SILENCED || change == TRIAD_ALERT_UNSILENCED)
		return;
	if (!collect->member || collect->mode != TRIAD_COLLECT_AGENT)
		return;
	for (unsigned i = 0; i < alert->n_findings; i++)
		if (alert->findings[i].raised)
			report_finding(collect, alert, &alert->findings[i],
				change != TRIAD_ALERT_ENDED);
}

static void end_alerts(void *context)
{
	struct triad_collect *collect = context;

	if (collect->next_sink.done)
		collect->next_sink.done(collect->next_sink.context);
}

struct triad_alerts_sink triad_collect_sink(
	struct triad_collect *collect, const struct triad_alerts_sink *next)
{
	collect->next_sink = *next;
	return (struct triad_alerts_sink){
		.take = forward_alert, .done = end_alerts, .context = collect};
}

/* --- agents: what is asked of them --- */

/* A group's number by its name; false when there is no such group. */
static bool find_group(struct triad_collect *collect, const char *name, unsigned *group)
{
	struct triad_view *view = triad_collector_view(collect->collector);
	bool found;

	if (!view)
		return false;
	*group = triad_groups_find(view->groups, name);
	found = *group != TRIAD_GROUP_NONE;
	triad_view_unref(view);
	return found;
}

int triad_collect_give_histogram(void *context,
	const struct triad_gather_request *request, unsigned counter,
	struct triad_histogram *copy, uint64_t *n_zeros)
{
	struct triad_collect *collect = context;
	struct triad_histograms_scope scope = request->scope;

	/* Each agent numbers groups by its own configuration, so look up the name. */
	if (scope.of == TRIAD_HISTOGRAMS_OF_GROUP &&
		!find_group(collect, request->group, &scope.group))
		return ENOENT;
	return triad_watch_histogram(triad_collector_watch(collect->collector), &scope,
		counter, copy, n_zeros);
}

static void clear_totals(struct triad_collect *collect, struct triad_view *view,
	const struct triad_collect_clear *clear)
{
	struct triad_selection *selection = triad_selection_new(view);

	if (!selection)
		return;
	selection->hardware = clear->hardware;
	/* A GUID of 0 means all nodes. */
	for (uint32_t i = 0; i < view->fabric->n_ports; i++) {
		const struct triad_fabric_port *at = &view->fabric->ports[i];
		uint64_t guid = view->fabric->nodes[at->node].guid;

		selection->chosen[i] = triad_view_is_asked(view, i) &&
			(!clear->node_guid || clear->node_guid == guid) &&
			(clear->port == TRIAD_ALERT_NO_PORT ||
				clear->port == at->number);
	}
	triad_collector_reset(collect->collector, selection);
	triad_selection_free(selection);
}

void triad_collect_do_clear(void *context, const struct triad_collect_clear *clear)
{
	struct triad_collect *collect = context;
	struct triad_view *view = triad_collector_view(collect->collector);

	if (clear->histograms)
		triad_watch_clear_histograms(triad_collector_watch(collect->collector));
	if (view && (clear->totals || clear->hardware))
		clear_totals(collect, view, clear);
	triad_view_unref(view);
}

/* --- managers --- */

void triad_collect_take_trap(void *context, const struct triad_collect_trap *trap)
{
	struct triad_collect *collect = context;
	const struct triad_fabric *fabric =
		collect->view ? collect->view->fabric : NULL;
	const struct triad_alert_end end = {
		.node_guid = trap->node_guid, .port = trap->port};
	const struct triad_alert_finding found = {
		.value = trap->value,
		.at_least = trap->is_at_least,
		.threshold = {.value = (double)trap->threshold,
			.unit = trap->threshold_unit},
		.why = {.field = trap->why_field,
			.is_only_one = trap->why_is_only_one,
			.element = trap->why_element},
		.ber = {.kind = trap->ber_kind,
			.low = trap->ber_low,
			.high = trap->ber_high,
			.target = trap->ber_target,
			.in_s = trap->ber_in_s},
		.hardware = {.fault = trap->hardware_fault,
			.index = trap->hardware_index,
			.limit = trap->hardware_limit},
	};
	uint32_t n = 0, port = fabric ? triad_alert_end_ports(fabric, &end, &n) : 0;

	/* This manager does not know the port, or not yet. */
	if (!n)
		return;
	triad_watch_take(triad_collector_watch(collect->collector), port, trap->cause,
		trap->is_raised ? &found : NULL, triad_clock_now_us());
	collect->is_alert_due = true;
}

void triad_collect_take_row(
	void *context, uint32_t port, uint32_t causes, uint64_t n_downs)
{
	struct triad_collect *collect = context;
	struct triad_watch *watch = triad_collector_watch(collect->collector);
	uint64_t now_us = triad_clock_now_us();

	triad_watch_match(watch, port, causes, now_us);
	if (n_downs)
		triad_watch_count_downs(watch, port, n_downs, now_us);
	collect->is_alert_due = true;
}

static void send_clear(struct triad_collect *collect, uint64_t node_guid, uint8_t port)
{
	const struct triad_collect_clear clear = {
		.request = triad_clock_wall_us() + ++collect->n_requests,
		.node_guid = node_guid,
		.port = port,
		.hardware = true,
	};

	triad_member_clear(collect->member, &clear, triad_clock_now_us());
}

/* Has the ports of a node reset, by one request if all are selected. */
static void reset_node(struct triad_collect *collect,
	const struct triad_selection *selection, const struct triad_fabric_node *node)
{
	uint32_t end = node->first_port + node->n_ports, n_chosen = 0, n_asked = 0;

	for (uint32_t i = node->first_port; i < end; i++) {
		n_chosen += selection->chosen[i];
		n_asked += triad_view_is_asked(selection->view, i);
	}
	if (n_chosen && n_chosen == n_asked) {
		send_clear(collect, node->guid, TRIAD_ALERT_NO_PORT);
		return;
	}
	for (uint32_t i = node->first_port; i < end; i++)
		if (selection->chosen[i])
			send_clear(collect, node->guid,
				selection->view->fabric->ports[i].number);
}

/* Has agents reset the hardware that they read: by one request if all ports are
 * selected, else by one for each node or port. */
static void reset_hardware(
	struct triad_collect *collect, const struct triad_selection *selection)
{
	const struct triad_view *view = selection->view;
	uint32_t n_chosen = 0, n_asked = 0;

	for (uint32_t i = 0; i < view->fabric->n_ports; i++) {
		n_chosen += selection->chosen[i];
		n_asked += triad_view_is_asked(view, i);
	}
	if (n_chosen == n_asked) {
		send_clear(collect, 0, TRIAD_ALERT_NO_PORT);
		return;
	}
	for (uint32_t i = 0; i < view->fabric->n_nodes; i++)
		reset_node(collect, selection, &view->fabric->nodes[i]);
}

void triad_collect_reset_all(
	struct triad_collect *collect, const struct triad_selection *selection)
{
	const struct triad_view *view = selection->view;
	struct triad_engine_row row;

	for (uint32_t i = 0; i < view->fabric->n_ports; i++)
		if (selection->chosen[i] && triad_view_read(view, i, &row))
			triad_aggregator_clear_totals(collect->aggregator,
				view->rows[i], triad_clock_now_us());
	if (selection->hardware)
		reset_hardware(collect, selection);
}
