/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/heal_view.h"

#include <errno.h>
#include <stdlib.h>

#include "perfmgr/watch/watch.h"
#include "service/health.h"
#include "service/perf.h"
#include "service/route_checker.h"
#include "service/service.h"
#include "triad/conf.h"

#define MAX_JUDGED 64u

/* Routes of the fabric that alerts are of. */
static void find_routes(struct triad_heal_view *heal, struct triad_service *service)
{
	struct triad_route_status status = triad_route_checker_status(service->routes);

	heal->routes = triad_route_checker_result(service->routes);
	heal->no_routes = triad_route_state_text(status.state);
	if (!heal->routes) {
		heal->no_routes =
			heal->no_routes ? heal->no_routes : "they are being checked";
	} else if (triad_routes_hash(heal->view->fabric) != heal->routes->hash) {
		heal->no_routes = "links or forwarding tables have changed since they "
				  "were checked: try again";
		triad_route_result_unref(heal->routes);
		heal->routes = NULL;
	} else {
		heal->no_routes = NULL;
	}
}

static void find_evidence(struct triad_heal_view *heal, struct triad_service *service)
{
	struct triad_watch *watch = triad_perf_watch(service->perf);
	struct triad_alert alert;
	uint32_t cursor = 0;

	heal->evidence.fabric = heal->input.fabric;
	while (triad_watch_next_alert(watch, &cursor, &alert))
		triad_heal_evidence_add(&heal->evidence, &alert);
	triad_heal_evidence_end(&heal->evidence);
	heal->no_evidence = triad_service_trouble(service);
	if (!heal->no_evidence && !triad_health_alerts_report(service))
		heal->no_evidence =
			"no alerts are looked for: 'set alerts.enabled true' begins it";
	if (!heal->no_evidence && !triad_perf_status(service->perf).finished_us)
		heal->no_evidence = "no sweep has ended yet";
}

static void add_out(
	struct triad_heal_view *heal, const struct triad_damp_ends *ends, bool is_taken)
{
	heal->out[heal->n_out++] = (struct triad_heal_out){*ends, is_taken};
	heal->n_taken += is_taken;
}

/* Links that are held, and those that are down.  False: memory is short. */
static bool find_out(struct triad_heal_view *heal, struct triad_service *service)
{
	const struct triad_service_owner *owner = service->owner;
	struct triad_held_link held[TRIAD_MAX_HELD_LINKS];
	size_t n_held = owner->copy_held
		? owner->copy_held(owner->context, held, TRIAD_MAX_HELD_LINKS)
		: 0;
	struct triad_watch *watch = triad_perf_watch(service->perf);
	uint32_t n = 0;
	struct triad_link *links = triad_watch_copy_links(watch, &n);
	struct triad_damp_ends ends;

	heal->out = malloc((n_held + n + 1) * sizeof(*heal->out));
	for (size_t i = 0; i < n_held && heal->out; i++) {
		ends = triad_damp_ends_of(held[i].node_guids[0], held[i].ports[0],
			held[i].node_guids[1], held[i].ports[1]);
		add_out(heal, &ends, true);
	}
	for (uint32_t i = 0; i < n && links && heal->out; i++) {
		if (links[i].state == TRIAD_LINK_UP)
			continue;
		ends = triad_damp_ends_of(links[i].ends[0].node_guid,
			links[i].ends[0].port, links[i].ends[1].node_guid,
			links[i].ends[1].port);
		add_out(heal, &ends, false);
	}
	free(links);
	return links && heal->out;
}

static void find_limits(struct triad_heal_view *heal, struct triad_service *service)
{
	const struct triad_conf *conf = triad_service_conf(service);

	heal->input.max_out = conf->heal.max_out;
	heal->input.min_capacity = conf->heal.min_capacity / 100.0;
	heal->input.max_judged = MAX_JUDGED;
	triad_conf_unref(conf);
}

int triad_heal_view_make(struct triad_heal_view *heal, struct triad_service *service,
	uint32_t max_counted)
{
	const struct triad_service_owner *owner = service->owner;
	struct triad_heal_input *input = &heal->input;

	*heal = (struct triad_heal_view){.view = triad_perf_view(service->perf)};
	if (!heal->view)
		return EAGAIN;
	find_routes(heal, service);
	input->fabric =
		heal->routes ? heal->routes->check->layout->fabric : heal->view->fabric;
	input->check = heal->routes ? heal->routes->check : NULL;
	find_evidence(heal, service);
	if (heal->evidence.is_short || !find_out(heal, service))
		return ENOMEM;
	find_limits(heal, service);
	input->max_counted = max_counted;
	input->findings = heal->evidence.findings;
	input->n_findings = heal->evidence.n;
	input->out = heal->out;
	input->n_out = heal->n_out;
	input->sm_guids = heal->sm_guids;
	if (owner->copy_sms)
		input->n_sm_guids = (uint32_t)owner->copy_sms(
			owner->context, heal->sm_guids, TRIAD_HEAL_MAX_SMS);
	return triad_heal_plan_make(input, &heal->plan);
}

void triad_heal_view_clear(struct triad_heal_view *heal)
{
	triad_heal_plan_free(heal->plan);
	triad_heal_evidence_clear(&heal->evidence);
	free(heal->out);
	triad_route_result_unref(heal->routes);
	triad_view_unref(heal->view);
}
