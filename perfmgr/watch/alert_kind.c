/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/alert_kind.h"

#include "congestion/roots.h"
#include "perfmgr/watch/alert_why.h"

/* --- advice --- */

static const struct triad_alert_end *first_end(const struct triad_alert *alert)
{
	return &alert->ends[alert->findings[0].end];
}

/* A switch's own management port has no cable and no far end. */
static const char *advise_at_link(const struct triad_alert *alert, const char *advice)
{
	const struct triad_alert_end *end = first_end(alert);

	if (end->node_type == TRIAD_NODE_SWITCH && !end->port)
		return "look at the switch itself: it is its own management port";
	return advice;
}

enum triad_port_condition triad_alert_condition(const struct triad_alert *alert)
{
	enum triad_port_condition condition = TRIAD_CONDITION_UNKNOWN;

	for (unsigned i = 0; i < alert->n_ends; i++)
		condition = triad_port_condition_of_link(
			condition, alert->ends[i].condition);
	return condition;
}

static const char *advise_about_node(const struct triad_alert *alert)
{
	const char *advice = triad_port_condition_advice(triad_alert_condition(alert));

	if (advice)
		return advice;
	if (first_end(alert)->node_type == TRIAD_NODE_ROUTER)
		return "check its power and its cables; paths to other subnets lead "
		       "through it";
	if (alert->n_links > 1)
		return "check its power and its cables";
	return "check its power and the cable to it";
}

static const char *advise_about_link(const struct triad_alert *alert)
{
	return triad_port_condition_link_advice(triad_alert_condition(alert));
}

const char *triad_alert_slow_link_advice(void)
{
	return "reseat the cable, then try another: lanes that failed, or a cable of a lower "
	       "grade, slow a link; 'triadctl cables' shows it";
}

#define SHOW "'triadctl routes check' shows "

const char *triad_alert_routes_advice(enum triad_alert_routes routes)
{
	static const char *const advice[TRIAD_ALERT_N_ROUTES] = {
		[TRIAD_ALERT_CREDIT_LOOPS] = SHOW
		"each, hop by hop; routing_engine lash, dfsssp or nue with "
		"'qos TRUE', or torus-2QoS, have none",
		[TRIAD_ALERT_MULTICAST_LOOPS] =
			SHOW "the switches; have OpenSM route anew: SIGHUP",
		[TRIAD_ALERT_FORWARDING_LOOPS] =
			SHOW "the switches; have OpenSM route anew: SIGHUP",
		[TRIAD_ALERT_UNREACHABLE_PAIRS] = SHOW
		"which, and where their packets end; OpenSM's log says why "
		"it routes so; a routing engine of another kind may help",
		[TRIAD_ALERT_DEAD_PORTS] =
			SHOW "the switches; have OpenSM route anew: SIGHUP",
		[TRIAD_ALERT_UNREACHABLE_SWITCHES] =
			SHOW "which; counters of such a switch can't be read from here",
		[TRIAD_ALERT_TURNS] =
			SHOW "where; give OpenSM the roots of the tree, or "
			     "routing_engine ftree or updn",
		[TRIAD_ALERT_DEVICE_TABLES] =
			"'triadctl audit' lists them, and what traffic they touch; OpenSM "
			"writes all anew when it becomes master",
		[TRIAD_ALERT_REQUESTS] =
			"find the program on that host; 'triadctl shield' "
			"says what it asks for",
		[TRIAD_ALERT_HELD_LINKS] =
			"mend the cables; 'triadctl damp' has when they return, 'damp "
			"release' gives one back at once",
		[TRIAD_ALERT_STAYS_OUT] =
			"'triadctl heal' says why, 'heal report' has their cables; one "
			"that was unplugged for half a minute is tested anew",
	};

	return routes < TRIAD_ALERT_N_ROUTES ? advice[routes] : NULL;
}

#define CURES "; restart it, give it other firmware, or leave it out by a group"

static const char *advise_about_agent(enum triad_pma_trouble_kind kind)
{
	switch (kind) {
	case TRIAD_PMA_BUSY:
		return "its PMA says that it is busy, and nothing else" CURES;
	case TRIAD_PMA_WRONG:
		return "its PMA answers another question, or for another port" CURES;
	case TRIAD_PMA_ELSEWHERE:
		return "its PMA answers from a LID that was not asked; such answers "
		       "are not believed" CURES;
	case TRIAD_PMA_REFUSES:
		return "its PMA refuses PortCounters" CURES;
	default:
		return "ask it with perfquery; if nobody gets an answer, restart it or "
		       "leave it out by a group";
	}
}

const char *triad_alert_advice(const struct triad_alert *alert)
{
	const char *advice = triad_alert_why_advice(alert->findings[0].why);

	if (advice)
		return advise_at_link(alert, advice);
	switch (alert->findings[0].cause) {
	case TRIAD_ALERT_NODE_GONE:
		return advise_about_node(alert);
	case TRIAD_ALERT_UNANSWERED:
		return advise_about_agent(alert->findings[0].trouble);
	case TRIAD_ALERT_MODULE:
	case TRIAD_ALERT_DEVICE:
		return triad_hardware_advice(alert->findings[0].hardware.fault);
	case TRIAD_ALERT_ROUTES:
		return triad_alert_routes_advice(alert->findings[0].routes);
	case TRIAD_ALERT_CONGESTION:
		return triad_congestion_advice(alert->findings[0].congestion.kind);
	case TRIAD_ALERT_LINK_DOWN:
		return advise_about_link(alert);
	case TRIAD_ALERT_SLOW_LINK:
		return triad_alert_slow_link_advice();
	case TRIAD_ALERT_BER:
	case TRIAD_LINK_DOWNED_COUNTER:
	case TRIAD_LINK_ERROR_RECOVERY_COUNTER:
	case TRIAD_LOCAL_LINK_INTEGRITY_ERRORS:
	case TRIAD_SYMBOL_ERROR_COUNTER:
	case TRIAD_PORT_RCV_ERRORS:
		return advise_at_link(alert, "check the cable and its plugs");
	case TRIAD_PORT_RCV_REMOTE_PHYSICAL_ERRORS:
		return "look for errors at links further away";
	case TRIAD_PORT_XMIT_WAIT:
	case TRIAD_PORT_XMIT_DISCARDS:
		return advise_at_link(alert,
			"look for what takes its packets too slowly behind the far "
			"end");
	case TRIAD_PORT_XMIT_CONSTRAINT_ERRORS:
	case TRIAD_PORT_RCV_CONSTRAINT_ERRORS:
		return "check partitions and P_Keys of those who send";
	default:
		return NULL;
	}
}

/* --- kind and severity --- */

enum triad_alert_kind triad_alert_kind(const struct triad_alert *alert)
{
	switch (alert->findings[0].cause) {
	case TRIAD_ALERT_UNANSWERED:
		return TRIAD_ALERT_KIND_UNANSWERED;
	case TRIAD_ALERT_LINK_DOWN:
		return TRIAD_ALERT_KIND_LINK_DOWN;
	case TRIAD_ALERT_NODE_GONE:
		return TRIAD_ALERT_KIND_NODE_GONE;
	case TRIAD_ALERT_BER:
		return TRIAD_ALERT_KIND_BER;
	case TRIAD_ALERT_DETAIL:
		return TRIAD_ALERT_KIND_DETAIL;
	case TRIAD_ALERT_MODULE:
	case TRIAD_ALERT_DEVICE:
		return TRIAD_ALERT_KIND_HARDWARE;
	case TRIAD_ALERT_ROUTES:
		return alert->findings[0].routes == TRIAD_ALERT_REQUESTS
			? TRIAD_ALERT_KIND_REQUESTS
			: TRIAD_ALERT_KIND_ROUTES;
	case TRIAD_ALERT_CONGESTION:
		return TRIAD_ALERT_KIND_CONGESTION;
	case TRIAD_ALERT_SLOW_LINK:
		return TRIAD_ALERT_KIND_SLOW_LINK;
	default:
		return TRIAD_ALERT_KIND_COUNTER;
	}
}

const char *triad_alert_kind_name(enum triad_alert_kind kind)
{
	static const char *const names[TRIAD_ALERT_N_KINDS] = {
		[TRIAD_ALERT_KIND_COUNTER] = "counter",
		[TRIAD_ALERT_KIND_SLOW_LINK] = "slow_link",
		[TRIAD_ALERT_KIND_UNANSWERED] = "unanswered",
		[TRIAD_ALERT_KIND_LINK_DOWN] = "link_down",
		[TRIAD_ALERT_KIND_NODE_GONE] = "node_gone",
		[TRIAD_ALERT_KIND_BER] = "bit_error_rate",
		[TRIAD_ALERT_KIND_DETAIL] = "detail",
		[TRIAD_ALERT_KIND_HARDWARE] = "hardware",
		[TRIAD_ALERT_KIND_ROUTES] = "routes",
		[TRIAD_ALERT_KIND_CONGESTION] = "congestion",
		[TRIAD_ALERT_KIND_REQUESTS] = "requests",
	};

	return names[kind];
}

enum triad_severity triad_alert_severity(const struct triad_alert *alert)
{
	const struct triad_alert_finding *finding = &alert->findings[0];

	/* Unreachable pairs cut traffic off, and looping packets fill the fabric. */
	if (finding->cause == TRIAD_ALERT_ROUTES)
		return finding->routes >= TRIAD_ALERT_MULTICAST_LOOPS &&
				finding->routes <= TRIAD_ALERT_UNREACHABLE_PAIRS
			? TRIAD_CRITICAL
			: TRIAD_WARNING;
	return finding->cause == TRIAD_ALERT_NODE_GONE &&
			(alert->n_nodes > 1 ||
				alert->ends[finding->end].node_type != TRIAD_NODE_CA)
		? TRIAD_CRITICAL
		: TRIAD_WARNING;
}
