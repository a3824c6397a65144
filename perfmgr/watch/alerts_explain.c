/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Waiting that roots of congestion explain: each root is one alert, however many ports
 * wait because of it. */
#include <string.h>

#include "perfmgr/watch/alerts_parts.h"

void triad_alerts_note_sweep(struct triad_alerts *alerts, uint64_t now_us)
{
	alerts->swept_us[2] = alerts->swept_us[1];
	alerts->swept_us[1] = alerts->swept_us[0];
	alerts->swept_us[0] = now_us;
}

void triad_alerts_explain_begin(struct triad_alerts *alerts, uint64_t until_us)
{
	alerts->explained_until_us = until_us;
	if (alerts->view)
		memset(alerts->explained, 0, alerts->view->fabric->n_ports);
}

void triad_alerts_explain(struct triad_alerts *alerts, uint64_t node_guid, uint8_t port)
{
	const struct triad_alert_end end = {.node_guid = node_guid, .port = port};
	uint32_t at = alerts->view ? triad_alerts_find_port(alerts->view->fabric, &end)
				   : TRIAD_FABRIC_NONE;

	if (at != TRIAD_FABRIC_NONE)
		alerts->explained[at] = true;
}

/* The thread that looks for roots may be late: after a pause of the process it may miss
 * a sweep.  If it stops, it must not hide waiting ports for ever.  So its result counts
 * until the third sweep after it. */
static bool is_explained(
	const struct triad_alerts *alerts, const struct triad_alert_end *end)
{
	uint32_t port = triad_alerts_find_port(alerts->view->fabric, end);

	return port != TRIAD_FABRIC_NONE && alerts->explained[port] &&
		alerts->explained_until_us >= alerts->swept_us[2];
}

/* True for a new finding whose sweep's roots are not known yet.  It waits for them one
 * more sweep at most. */
static bool may_be_explained(
	const struct triad_alerts *alerts, const struct triad_alert_finding *finding)
{
	return !finding->raised && finding->since_us > alerts->explained_until_us &&
		finding->since_us >= alerts->swept_us[1];
}

void triad_alerts_hold(struct triad_alerts *alerts, struct triad_alert *alert)
{
	for (unsigned i = 0; alerts->view && i < alert->n_findings; i++) {
		struct triad_alert_finding *finding = &alert->findings[i];
		bool explained = finding->cause == TRIAD_PORT_XMIT_WAIT &&
			is_explained(alerts, &alert->ends[finding->end]);

		alerts->n_held += explained;
		finding->held = finding->cause == TRIAD_PORT_XMIT_WAIT &&
			(explained || may_be_explained(alerts, finding));
	}
}
