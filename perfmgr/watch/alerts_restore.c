/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What was known before this process looked. */
#include <errno.h>
#include <string.h>

#include "perfmgr/watch/alerts_parts.h"
#include "triad/clock.h"

/* Causes (bits) that sweeps and fabrics bring, and end. */
#define RESTORED                                                                       \
	(((2u << TRIAD_ALERT_UNANSWERED) - 1) | 1u << TRIAD_ALERT_LINK_DOWN |          \
		1u << TRIAD_ALERT_NODE_GONE | 1u << TRIAD_ALERT_DETAIL)

static void keep_findings(struct triad_alert *alert, uint64_t now_us)
{
	unsigned n = alert->n_findings;

	alert->n_findings = 0;
	for (unsigned i = 0; i < n; i++) {
		struct triad_alert_finding finding = alert->findings[i];

		if (!finding.raised || finding.cause >= TRIAD_ALERT_N_CAUSES ||
			!(RESTORED >> finding.cause & 1))
			continue;
		finding.since_us = triad_clock_not_to_come(finding.since_us, now_us);
		finding.under_us = 0;
		finding.judged = false;
		finding.held = false;
		alert->findings[alert->n_findings++] = finding;
	}
}

/* 'given': the last number that alerts have here already. */
static void restore_alert(struct triad_alerts *alerts, const struct triad_alert *known,
	uint64_t given, uint64_t now_us)
{
	struct triad_alert alert = *known;
	struct triad_alert_entry *entry;

	keep_findings(&alert, now_us);
	if (alert.state != TRIAD_ALERT_ACTIVE || !alert.n_findings || !alert.n_ends)
		return;
	/* What was found here since then counts. */
	for (unsigned i = 0; i < alert.n_ends; i++)
		if (triad_alerts_find_at(alerts, &alert.ends[i]))
			return;
	entry = triad_alerts_add(alerts, alert.ends, alert.n_ends);
	if (!entry)
		return;
	alert.raised_us = triad_clock_not_to_come(alert.raised_us, now_us);
	alert.silence = 0;
	memset(alert.more, 0, sizeof(alert.more));
	entry->alert = alert;
	triad_alert_put_in_order(&entry->alert);
	/* No two alerts have one number. */
	if (alert.id <= given)
		entry->alert.id = ++alerts->last_id;
	alerts->counts.n_active++;
	triad_alerts_look_for_silence(alerts, &entry->alert);
	triad_alerts_report(alerts, TRIAD_ALERT_RESTORED, &entry->alert);
}

int triad_alerts_restore(struct triad_alerts *alerts, struct triad_view *past,
	const struct triad_alert *known, uint32_t n, uint64_t now_us)
{
	struct triad_view *present = alerts->view;
	uint64_t given = alerts->last_id;
	int error;

	if (!alerts->params.enabled || alerts->is_idle)
		return 0;
	/* Without a view before it, 'past' shows no losses. */
	alerts->view = NULL;
	error = triad_alerts_adopt(alerts, past, now_us);
	if (error) {
		alerts->view = present;
		return error;
	}
	for (uint32_t i = 0; i < n; i++)
		if (known[i].id > alerts->last_id)
			alerts->last_id = known[i].id;
	for (uint32_t i = 0; i < n; i++)
		restore_alert(alerts, &known[i], given, now_us);
	triad_alerts_report_done(alerts);
	if (present)
		error = triad_alerts_adopt(alerts, present, now_us);
	triad_view_unref(present);
	return error;
}
