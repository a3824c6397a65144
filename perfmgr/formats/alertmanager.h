/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Alerts as JSON for Alertmanager's API v2: the body of POST /api/v2/alerts.
 *
 * Labels identify the alert, so their values do not change while it lasts; annotations
 * describe the present problem.  Labels without a value are left out, as in Alertmanager.
 *
 * Thread-safety: functions without state.  Memory: no allocation.
 * Source: api/v2/openapi.yaml of Alertmanager. */
#ifndef TRIAD_PERFMGR_FORMATS_ALERTMANAGER_H
#define TRIAD_PERFMGR_FORMATS_ALERTMANAGER_H

#include <stddef.h>

#include "perfmgr/formats/told_alerts.h"

/* More octets than any alert needs. */
#define TRIAD_ALERTMANAGER_ALERT_SIZE 8192u
#define TRIAD_ALERTMANAGER_HOST_SIZE 256

/* The sender of the alerts. */
struct triad_alertmanager_sender {
	char host[TRIAD_ALERTMANAGER_HOST_SIZE];
	/* URL with more information; "": none. */
	char url[TRIAD_ALERTMANAGER_HOST_SIZE + 32];
};

/* Writes 'n' alerts into 'body', which has room for 2 + n *
 * TRIAD_ALERTMANAGER_ALERT_SIZE octets.  Returns its length. */
size_t triad_alertmanager_body(const struct triad_told_alert *alerts, size_t n,
	const struct triad_alertmanager_sender *sender, char *body);

#endif
