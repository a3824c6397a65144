/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/health_routes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/health.h"
#include "service/own_metrics.h"
#include "service/service.h"
#include "triad/clock.h"

/* For Prometheus: trees have six or so. */
#define MAX_TIERS 16u

#define SHOW "'triadctl routes check' shows "

/* What a problem is to people, and what to do. */
static const struct {
	enum triad_severity severity;
	const char *what; /* behind the number; "(s)" is for those that are one */
	const char *advice;
} problems[TRIAD_ROUTES_N_PROBLEMS] = {
	[TRIAD_ROUTES_UNREACHABLE] = {TRIAD_CRITICAL,
		"pair(s) of hosts can't reach each other",
		SHOW "which, and where their packets end; OpenSM's log says why it "
		     "routes so; a routing engine of another kind may help"},
	[TRIAD_ROUTES_LOOPS] = {TRIAD_CRITICAL, "forwarding loop(s), for each LID",
		SHOW "the switches; have OpenSM route anew: SIGHUP"},
	[TRIAD_ROUTES_DEAD_ENTRIES] = {TRIAD_WARNING,
		"LID(s) that a switch sends to a dead port",
		SHOW "the switches; have OpenSM route anew: SIGHUP"},
	[TRIAD_ROUTES_SWITCHES] = {TRIAD_WARNING,
		"way(s) between the SM's port and a switch that lead nowhere",
		SHOW "which; counters of such a switch can't be read from here"},
	[TRIAD_ROUTES_TURNS] = {TRIAD_WARNING,
		"turn(s) of pairs from down to up in a tree: credit loops are near",
		SHOW "where; give OpenSM the roots of the tree, or routing_engine "
		     "ftree or updn"},
};

static bool is_finding(const struct triad_routes_check *check, unsigned problem)
{
	return problems[problem].what && check->problems[problem].n;
}

static enum triad_severity add_findings(
	struct triad_health *health, const struct triad_routes_check *check)
{
	enum triad_severity worst = TRIAD_OK;
	char what[256];

	if (check->credit.n_loops) {
		snprintf(what, sizeof(what),
			"%" PRIu32 " credit loop(s): traffic may stand still for ever",
			check->credit.n_loops);
		triad_health_add_trouble(health, TRIAD_WARNING, "routes", what,
			SHOW
			"each, hop by hop; routing_engine lash, dfsssp or nue with "
			"'qos TRUE', or torus-2QoS, have none");
		worst = TRIAD_WARNING;
	}
	if (check->multicast.n_looping) {
		snprintf(what, sizeof(what),
			"%" PRIu32 " multicast tree(s) with a loop: packets are copied "
			"again and again",
			check->multicast.n_looping);
		triad_health_add_trouble(health, TRIAD_CRITICAL, "routes", what,
			SHOW "the switches; have OpenSM route anew: SIGHUP");
		worst = TRIAD_CRITICAL;
	}
	for (unsigned i = 0; i < TRIAD_ROUTES_N_PROBLEMS; i++) {
		if (!is_finding(check, i))
			continue;
		snprintf(what, sizeof(what), "%" PRIu64 " %s", check->problems[i].n,
			problems[i].what);
		triad_health_add_trouble(health, problems[i].severity, "routes", what,
			problems[i].advice);
		if (triad_severity_is_worse(problems[i].severity, worst))
			worst = problems[i].severity;
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
		/* Where no SM is, nobody expects routes. */
		triad_health_line_off(health, "routes", "Routes",
			status.state == TRIAD_ROUTE_OFF ? "off"
				: !service->owner->sm   ? "known to the SM's plugin"
				: status.state == TRIAD_ROUTE_NO_MEMORY
				? "not enough memory"
				: "none checked yet");
		return;
	}
	check = result->check;
	severity = add_findings(health, check);
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

		/* Of a host's own link there is no choice. */
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

	/* Ports have the same indices in the same fabric alone. */
	if (result && result->check->layout->fabric == fabric)
		pairs = malloc(size ? size : 1);
	if (pairs)
		memcpy(pairs, result->check->pairs, size);
	triad_route_result_unref(result);
	return pairs;
}
