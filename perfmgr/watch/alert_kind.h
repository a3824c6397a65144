/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The kind and the severity of an alert, and advice; all follow from its first finding.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_PERFMGR_ALERT_KIND_H
#define TRIAD_PERFMGR_ALERT_KIND_H

#include "ib/port_condition.h"
#include "perfmgr/watch/alerts.h"
#include "triad/severity.h"

/* Advice for the administrator: "check the cable and its plugs"; NULL: there is
 * none. */
const char *triad_alert_advice(const struct triad_alert *alert);

/* The condition of the port that a lost link or node was at, which both ends of the alert
 * tell; TRIAD_CONDITION_UNKNOWN: no port is left, or the alert is about no loss. */
enum triad_port_condition triad_alert_condition(const struct triad_alert *alert);

/* What to do about a slow link. */
const char *triad_alert_slow_link_advice(void);

/* Advice about a kind of finding about routes. */
const char *triad_alert_routes_advice(enum triad_alert_routes routes);

/* Kinds of alerts, by their first finding.  A higher one is worse: an acknowledgement
 * ends when its alert gets a higher kind. */
enum triad_alert_kind {
	TRIAD_ALERT_KIND_COUNTER,
	TRIAD_ALERT_KIND_SLOW_LINK,
	TRIAD_ALERT_KIND_UNANSWERED,
	TRIAD_ALERT_KIND_LINK_DOWN,
	TRIAD_ALERT_KIND_NODE_GONE,
	TRIAD_ALERT_KIND_BER,
	TRIAD_ALERT_KIND_DETAIL,
	TRIAD_ALERT_KIND_HARDWARE,
	TRIAD_ALERT_KIND_ROUTES,
	TRIAD_ALERT_KIND_CONGESTION,
	TRIAD_ALERT_KIND_REQUESTS,
	TRIAD_ALERT_N_KINDS
};

enum triad_alert_kind triad_alert_kind(const struct triad_alert *alert);
/* "counter", "slow_link", "unanswered", "link_down", "node_gone", "bit_error_rate", "detail",
 * "hardware", "routes", "congestion", "requests". */
const char *triad_alert_kind_name(enum triad_alert_kind kind);

/* Critical: a switch, a router or several nodes are gone; multicast or forwarding
 * loops; unreachable pairs.  All others are warnings. */
enum triad_severity triad_alert_severity(const struct triad_alert *alert);

#endif
