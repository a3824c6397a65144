/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Alerts as JSON for Alertmanager's API v2: the body of POST /api/v2/alerts.
 *
 * Labels identify an alert, so their values do not change while it lasts; annotations
 * say what is wrong now.  Labels without a value are omitted, as Alertmanager does.
 *
 * Thread-safety: functions without state.  Memory: no allocation.
 * Source: api/v2/openapi.yaml of Alertmanager. */
#ifndef TRIAD_PERFMGR_FORMATS_ALERTMANAGER_H
#define TRIAD_PERFMGR_FORMATS_ALERTMANAGER_H

#include <stddef.h>

#include "perfmgr/formats/alert_outbox.h"

/* More octets than any alert needs. */
#define TRIAD_ALERTMANAGER_ALERT_SIZE 8192u
#define TRIAD_ALERTMANAGER_HOST_SIZE 256

/* The sender, for labels and links. */
struct triad_alertmanager_sender {
	char host[TRIAD_ALERTMANAGER_HOST_SIZE];
	/* A page with more about alerts; "": there is none. */
	char url[TRIAD_ALERTMANAGER_HOST_SIZE + 32];
};

/* Writes 'n' alerts into 'body', which has room for 2 + n *
 * TRIAD_ALERTMANAGER_ALERT_SIZE octets.  Returns its length. */
size_t triad_alertmanager_body(const struct triad_outgoing_alert *alerts, size_t n,
	const struct triad_alertmanager_sender *sender, char *body);

#endif
