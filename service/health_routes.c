/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/health_routes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/watch/alert_text.h"
#include "service/health.h"
#include "service/own_metrics.h"
#include "service/service.h"
#include "triad/clock.h"

/* For Prometheus: trees have six or so. */
#define MAX_TIERS 16u

/* Severity, alert and texts of each problem. */
static const struct {
	enum triad_severity severity;
	enum triad_alert_routes routes;
	/* Texts behind the number 1, and other numbers; NULL: it does no harm. */
	const char *one, *what;
} problems[TRIAD_ROUTES_N_PROBLEMS] = {
	[TRIAD_ROUTES_UNREACHABLE] = {TRIAD_CRITICAL, TRIAD_ALERT_UNREACHABLE_PAIRS,
		"pair of hosts can't reach each other",
		"pairs of hosts can't reach each other"},
	[TRIAD_ROUTES_LOOPS] = {TRIAD_CRITICAL, TRIAD_ALERT_FORWARDING_LOOPS,
		"forwarding loop, for each LID", "forwarding loops, for each LID"},
	[TRIAD_ROUTES_DEAD_ENTRIES] = {TRIAD_WARNING, TRIAD_ALERT_DEAD_PORTS,
		"LID that a switch sends to a dead port",
		"LIDs that a switch sends to a dead port"},
	[TRIAD_ROUTES_SWITCHES] = {TRIAD_WARNING, TRIAD_ALERT_UNREACHABLE_SWITCHES,
		"way between the SM's port and a switch that leads nowhere",
		"ways between the SM's port and a switch that lead nowhere"},
	[TRIAD_ROUTES_TURNS] = {TRIAD_WARNING, TRIAD_ALERT_TURNS,
		"turn of pairs from down to up in a tree: credit loops are near",
		"turns of pairs from down to up in a tree: credit loops are near"},
};

/* 'is_reported': alerts report it, so it is no finding of its own. */
static void add_route_trouble(struct triad_health *health, enum triad_severity severity,
	enum triad_alert_routes routes, const char *what, bool is_reported,
	enum triad_severity *worst)
{
	if (!is_reported)
		triad_health_add_trouble(health, severity, "routes", what,
			triad_alert_routes_advice(routes));
	if (triad_severity_is_worse(severity, *worst))
		*worst = severity;
}

static enum triad_severity add_findings(struct triad_health *health,
	const struct triad_routes_check *check, bool is_reported)
{
	enum triad_severity worst = TRIAD_OK;
	char what[256];

	if (check->credit.n_loops) {
		snprintf(what, sizeof(what),
			"%" PRIu32 " credit loop%s: traffic may stand still for ever",
			check->credit.n_loops, check->credit.n_loops == 1 ? "" : "s");
		add_route_trouble(health, TRIAD_WARNING, TRIAD_ALERT_CREDIT_LOOPS, what,
			is_reported, &worst);
	}
	if (check->multicast.n_looping) {
		snprintf(what, sizeof(what),
			"%" PRIu32 " multicast tree%s with a loop: packets are copied "
			"again and again",
			check->multicast.n_looping,
			check->multicast.n_looping == 1 ? "" : "s");
		add_route_trouble(health, TRIAD_CRITICAL, TRIAD_ALERT_MULTICAST_LOOPS,
			what, is_reported, &worst);
	}
	for (unsigned i = 0; i < TRIAD_ROUTES_N_PROBLEMS; i++) {
		if (!triad_routes_does_harm(check, i))
			continue;
		snprintf(what, sizeof(what), "%" PRIu64 " %s", check->problems[i].n,
			check->problems[i].n == 1 ? problems[i].one : problems[i].what);
		add_route_trouble(health, problems[i].severity, problems[i].routes,
			what, is_reported, &worst);
	}
	return worst;
}

void triad_routes_add_health(struct triad_health *health, struct triad_service *service)
{
	struct triad_route_status status = triad_route_checker_status(service->routes);
	struct triad_route_result *result = triad_route_checker_result(service->routes);
	const struct triad_routes_check *check;
	enum triad_severity severity;

	if (!result) {
		/* A process without an SM is not expected to know routes. */
		triad_health_line_off(health, "routes", "Routes",
			status.state == TRIAD_ROUTE_OFF ? "off"
				: !service->owner->sm   ? "known to the SM's plugin"
				: status.state == TRIAD_ROUTE_NO_SWITCHES
				? "no switch: there is nothing to check"
				: status.state == TRIAD_ROUTE_NO_MEMORY
				? "not enough memory"
				: "none checked yet");
		return;
	}
	check = result->check;
	severity = add_findings(health, check, triad_health_alerts_report(service));
	triad_health_line(health, "routes", "Routes", severity,
		"%" PRIu64 " of %" PRIu64 " pairs arrive, credit loops: %s; by %s",
		check->n_arriving, check->n_pairs,
		result->credit                  ? "not checked"
			: check->credit.n_loops ? "yes"
						: "none",
		check->layout->fabric->sa.engine[0] ? check->layout->fabric->sa.engine
						    : "the SM");
	triad_route_result_unref(result);
}

/* --- for Prometheus --- */

static void add_finding(struct triad_own_metrics *list, const char *kind, uint64_t n)
{
	struct triad_metric *metric = triad_own_add(list, TRIAD_METRIC_GAUGE,
		"triad_routes_findings",
		"What is wrong with the forwarding tables, as triadctl routes check says.",
		(double)n);

	triad_metric_add_label(metric, "kind", kind);
}

static void add_tiers(struct triad_own_metrics *list, const char *name,
	const char *help, const struct triad_routes_check *check,
	double (*value)(const struct triad_routes_tier *tier))
{
	for (uint32_t i = 0; i < check->n_tiers && i < MAX_TIERS; i++) {
		const struct triad_routes_tier *tier = &check->tiers[i];
		struct triad_metric *metric;
		char level[8];

		/* Skip hosts' own links: routing can't choose there. */
		if (!tier->from || !tier->to)
			continue;
		metric = triad_own_add(
			list, TRIAD_METRIC_GAUGE, name, help, value(tier));
		snprintf(level, sizeof(level), "%u", tier->from);
		triad_metric_add_label(metric, "from", level);
		snprintf(level, sizeof(level), "%u", tier->to);
		triad_metric_add_label(metric, "to", level);
	}
}

static double most_of(const struct triad_routes_tier *tier)
{
	return (double)tier->most;
}

void triad_routes_add_metrics(
	struct triad_own_metrics *list, struct triad_service *service)
{
	struct triad_route_status status = triad_route_checker_status(service->routes);
	struct triad_route_result *result = triad_route_checker_result(service->routes);

	if (status.state == TRIAD_ROUTE_OFF || !service->owner->sm) {
		triad_route_result_unref(result);
		return;
	}
	triad_own_count(
		list, "triad_routes_checks", "Checks of routes.", status.n_checks);
	triad_own_count(list, "triad_routes_unchanged",
		"Topologies with the tables of the one before, not checked again.",
		status.n_unchanged);
	if (!result)
		return;
	triad_own_gauge(list, "triad_routes_check_seconds",
		"Time that the last check of routes took.",
		triad_own_seconds(result->took_us));
	triad_own_gauge(list, "triad_routes_pairs", "Pairs of hosts with a path.",
		(double)result->check->n_arriving);
	triad_own_gauge(list, "triad_routes_credit_loops_checked",
		"1 when it is known whether there are credit loops.", !result->credit);
	add_finding(list, "credit_loops", result->check->credit.n_loops);
	add_finding(list, "multicast_loops", result->check->multicast.n_looping);
	for (unsigned i = 0; i < TRIAD_ROUTES_N_PROBLEMS; i++)
		add_finding(list, triad_routes_problem_name(i),
			result->check->problems[i].n);
	add_tiers(list, "triad_routes_imbalance",
		"Pairs of the busiest link of a tier, by the mean of all.",
		result->check, triad_routes_tier_imbalance);
	add_tiers(list, "triad_routes_most_pairs",
		"Pairs that cross the busiest link of a tier.", result->check, most_of);
	triad_route_result_unref(result);
}

uint64_t *triad_routes_copy_pairs(
	struct triad_service *service, const struct triad_fabric *fabric)
{
	struct triad_route_result *result = triad_route_checker_result(service->routes);
	size_t size = fabric->n_ports * sizeof(uint64_t);
	uint64_t *pairs = NULL;

	/* Port indices are valid only for the same fabric. */
	if (result && result->check->layout->fabric == fabric)
		pairs = malloc(size ? size : 1);
	if (pairs)
		memcpy(pairs, result->check->pairs, size);
	triad_route_result_unref(result);
	return pairs;
}

/* --- for alerts --- */

/* Adds a finding of 'kind', with 'port' as an example. */
static void add_found(struct triad_found *found, const struct triad_fabric *fabric,
	enum triad_alert_routes kind, uint32_t port, uint64_t n)
{
	const struct triad_alert_finding finding = {.cause = TRIAD_ALERT_ROUTES,
		.value = (float)n,
		.routes = (uint8_t)kind};

	if (n && port != TRIAD_FABRIC_NONE)
		triad_found_add(found, fabric->nodes[fabric->ports[port].node].guid,
			fabric->ports[port].number, kind, &finding);
}

/* Adds a problem at the port of its first example: the port by which a switch forwards,
 * or that of the host whose packets don't arrive. */
static void give_problem(struct triad_found *found,
	const struct triad_routes_check *check, enum triad_routes_problem problem)
{
	const struct triad_routes_found *at = &check->problems[problem];
	const struct triad_routes_example *example = &at->examples[0];
	const struct triad_fabric *fabric = check->layout->fabric;
	uint32_t port = fabric->sm_port;

	if (!at->n_examples || !triad_routes_does_harm(check, problem))
		return;
	if (problem != TRIAD_ROUTES_SWITCHES)
		port = example->at == TRIAD_FABRIC_NONE
			? example->from
			: triad_fabric_find_port(fabric, example->at, example->out);
	add_found(found, fabric, problems[problem].routes, port, at->n);
}

void triad_routes_give(void *context, struct triad_found *found)
{
	static const enum triad_routes_problem order[] = {TRIAD_ROUTES_LOOPS,
		TRIAD_ROUTES_UNREACHABLE, TRIAD_ROUTES_DEAD_ENTRIES,
		TRIAD_ROUTES_SWITCHES, TRIAD_ROUTES_TURNS};
	struct triad_service *service = context;
	struct triad_route_result *result = triad_route_checker_result(service->routes);
	const struct triad_routes_check *check = result ? result->check : NULL;

	if (!check)
		return;
	if (check->credit.n_shown)
		add_found(found, check->layout->fabric, TRIAD_ALERT_CREDIT_LOOPS,
			check->credit.loops[0].steps[0].port, check->credit.n_loops);
	if (check->multicast.n_shown)
		add_found(found, check->layout->fabric, TRIAD_ALERT_MULTICAST_LOOPS,
			check->multicast.loops[0].ports[0], check->multicast.n_looping);
	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		give_problem(found, check, order[i]);
	triad_route_result_unref(result);
}
