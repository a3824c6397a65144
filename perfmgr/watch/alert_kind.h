/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The kind and the severity of an alert, and advice; all follow from its first finding.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_PERFMGR_ALERT_KIND_H
#define TRIAD_PERFMGR_ALERT_KIND_H

#include "perfmgr/watch/alerts.h"
#include "triad/severity.h"

/* Advice for the administrator: "check the cable and its plugs"; NULL: there is
 * none. */
const char *triad_alert_advice(const struct triad_alert *alert);

/* Advice about a kind of finding about routes. */
const char *triad_alert_routes_advice(enum triad_alert_routes routes);

/* Kinds of alerts, by their first finding.  A higher one is worse: an acknowledgement
 * ends when its alert gets a higher kind. */
enum triad_alert_kind {
	TRIAD_ALERT_KIND_COUNTER,
	TRIAD_ALERT_KIND_UNANSWERED,
	TRIAD_ALERT_KIND_LINK_DOWN,
	TRIAD_ALERT_KIND_NODE_GONE,
	TRIAD_ALERT_KIND_BER,
	TRIAD_ALERT_KIND_DETAIL,
	TRIAD_ALERT_KIND_HARDWARE,
	TRIAD_ALERT_KIND_ROUTES,
	TRIAD_ALERT_KIND_CONGESTION,
	TRIAD_ALERT_N_KINDS
};

enum triad_alert_kind triad_alert_kind(const struct triad_alert *alert);
/* "counter", "unanswered", "link_down", "node_gone", "bit_error_rate", "detail",
 * "hardware", "routes", "congestion". */
const char *triad_alert_kind_name(enum triad_alert_kind kind);

/* Critical: a switch, a router or several nodes are gone; multicast or forwarding
 * loops; unreachable pairs.  All others are warnings. */
enum triad_severity triad_alert_severity(const struct triad_alert *alert);

#endif
