/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Findings of other processes and finders.  These have waited as long as the thresholds
 * demand, so the alerts raise and end their findings at once. */
#include "perfmgr/watch/alerts_parts.h"

/* The alert in which 'cause' is a finding of 'port', and '*index', its end there. */
static struct triad_alert_entry *find_alert_of_cause(struct triad_alerts *alerts,
	uint32_t port, unsigned cause, bool is_needed, unsigned *index)
{
	const struct triad_fabric *fabric = alerts->view->fabric;
	bool is_node = cause == TRIAD_ALERT_UNANSWERED || cause == TRIAD_ALERT_DEVICE;
	const struct triad_alert_end end = is_node
		? triad_alerts_end_of_node(fabric, fabric->ports[port].node)
		: triad_alerts_end_of(fabric, port);
	struct triad_alert_entry *entry = triad_alerts_find_at(alerts, &end);

	if (!entry && is_needed)
		entry = is_node ? triad_alerts_add(alerts, &end, 1)
				: triad_alerts_need(alerts, port);
	*index = entry
		? triad_alert_index_of_end(&entry->alert, end.node_guid, end.port)
		: 2;
	return entry;
}

static void note_over(struct triad_alerts *alerts, uint32_t port, unsigned cause,
	const struct triad_alert_finding *found, uint64_t now_us)
{
	unsigned index;
	struct triad_alert_entry *entry =
		find_alert_of_cause(alerts, port, cause, true, &index);
	struct triad_alert_finding judged = *found;

	if (!entry)
		return;
	judged.judged = true;
	triad_alert_note_over(&entry->alert, cause, index, &judged, now_us);
}

static void note_under(
	struct triad_alerts *alerts, uint32_t port, unsigned cause, uint64_t now_us)
{
	unsigned index;
	struct triad_alert_entry *entry =
		find_alert_of_cause(alerts, port, cause, false, &index);
	struct triad_alert_finding *finding =
		entry ? triad_alert_find_finding(&entry->alert, cause, index) : NULL;

	if (entry && !finding)
		triad_alert_note_no_more(&entry->alert, cause, index);
	if (!finding)
		return;
	finding->judged = true;
	triad_alert_note_under(&entry->alert, finding, now_us);
}

void triad_alerts_take(struct triad_alerts *alerts, uint32_t port, unsigned cause,
	const struct triad_alert_finding *found, uint64_t now_us)
{
	if (!alerts->view || !alerts->params.enabled ||
		!((TRIAD_ALERT_TAKEN | TRIAD_ALERT_OF_OTHERS) & 1u << cause) ||
		!triad_view_is_asked(alerts->view, port))
		return;
	if (found)
		note_over(alerts, port, cause, found, now_us);
	/* Most ports have no alert: skip the search for them. */
	else if (cause != TRIAD_ALERT_MODULE || alerts->flagged[port])
		note_under(alerts, port, cause, now_us);
}

struct triad_alert_why triad_alerts_detail(struct triad_alerts *alerts, uint32_t port)
{
	struct triad_alert_entry *entry = NULL;
	struct triad_alert_finding *finding = NULL;
	unsigned index;

	if (alerts->view && alerts->flagged[port])
		entry = find_alert_of_cause(
			alerts, port, TRIAD_ALERT_DETAIL, false, &index);
	if (entry)
		finding = triad_alert_find_finding(
			&entry->alert, TRIAD_ALERT_DETAIL, index);
	return finding ? finding->why : (struct triad_alert_why){0};
}

/* Bit i: cause i is a finding there that is not under its threshold. */
static uint32_t known_causes(struct triad_alerts *alerts, uint32_t port)
{
	uint32_t known = 0;

	for (uint32_t left = TRIAD_ALERT_TAKEN; left; left &= left - 1) {
		unsigned cause = (unsigned)__builtin_ctz(left), index;
		struct triad_alert_entry *entry =
			find_alert_of_cause(alerts, port, cause, false, &index);
		struct triad_alert_finding *finding = entry
			? triad_alert_find_finding(&entry->alert, cause, index)
			: NULL;

		known |= (uint32_t)(finding && !finding->under_us) << cause;
	}
	return known;
}

/* True when neither the port nor its node has an alert, as most. */
static bool has_nothing(const struct triad_alerts *alerts, uint32_t port)
{
	const struct triad_fabric *fabric = alerts->view->fabric;
	const struct triad_alert_end end =
		triad_alerts_end_of_node(fabric, fabric->ports[port].node);

	return !alerts->flagged[port] && !triad_alerts_find_at(alerts, &end);
}

void triad_alerts_match(
	struct triad_alerts *alerts, uint32_t port, uint32_t causes, uint64_t now_us)
{
	const struct triad_limits *limits;
	uint32_t known, differ;

	if (!alerts->view || (!causes && has_nothing(alerts, port)))
		return;
	limits = triad_alerts_limits_of(alerts, port);
	known = known_causes(alerts, port);
	differ = known ^ (causes & TRIAD_ALERT_TAKEN);
	for (; differ; differ &= differ - 1) {
		unsigned cause = (unsigned)__builtin_ctz(differ);
		struct triad_alert_finding found = {
			.value = cause == TRIAD_ALERT_UNANSWERED};

		/* The report has no values: assume the threshold. */
		if (cause < TRIAD_N_COUNTERS) {
			found.threshold = limits->of[cause];
			found.value = (float)limits->of[cause].value;
			found.at_least = true;
		}
		triad_alerts_take(alerts, port, cause,
			causes & 1u << cause ? &found : NULL, now_us);
	}
}
