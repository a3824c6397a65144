/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What an alert is about, how bad that is, and what somebody may do about it; all by its
 * first finding.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_PERFMGR_ALERT_KIND_H
#define TRIAD_PERFMGR_ALERT_KIND_H

#include "perfmgr/watch/alerts.h"
#include "triad/severity.h"

/* What somebody may do about it: "check the cable and its plugs". */
const char *triad_alert_advice(const struct triad_alert *alert);

/* What to do about a kind of finding about routes. */
const char *triad_alert_routes_advice(enum triad_alert_routes routes);

/* What an alert is about, by its first finding, in few kinds: each tells more than those
 * before it. */
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
 * "hardware", "routes". */
const char *triad_alert_kind_name(enum triad_alert_kind kind);

/* How bad it is: what took a switch, a router or many nodes with it is critical, others
 * are warnings. */
enum triad_severity triad_alert_severity(const struct triad_alert *alert);

#endif
