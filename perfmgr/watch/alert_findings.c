/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/alert_findings.h"

/* Sweeps begin a little early or late: without slack a wait for several sweeps could
 * take one more. */
#define MAX_SLACK_US (UINT64_C(500) * 1000)

/* The rank of a cause: 0 is the most important. */
static unsigned rank_of(unsigned cause)
{
	static const uint8_t first[] = {TRIAD_ALERT_NODE_GONE, TRIAD_ALERT_LINK_DOWN,
		TRIAD_ALERT_UNANSWERED, TRIAD_ALERT_ROUTES, TRIAD_LINK_DOWNED_COUNTER,
		TRIAD_ALERT_SLOW_LINK, TRIAD_LINK_ERROR_RECOVERY_COUNTER,
		TRIAD_ALERT_DEVICE, TRIAD_ALERT_MODULE, TRIAD_ALERT_BER,
		TRIAD_LOCAL_LINK_INTEGRITY_ERRORS, TRIAD_SYMBOL_ERROR_COUNTER,
		TRIAD_ALERT_CONGESTION};

	for (unsigned i = 0; i < sizeof(first); i++)
		if (first[i] == cause)
			return i;
	return sizeof(first) + cause;
}

struct triad_alert_finding *triad_alert_find_finding(
	struct triad_alert *alert, unsigned cause, unsigned end)
{
	for (unsigned i = 0; i < alert->n_findings; i++)
		if (alert->findings[i].cause == cause && alert->findings[i].end == end)
			return &alert->findings[i];
	return NULL;
}

static void remove_finding(
	struct triad_alert *alert, struct triad_alert_finding *finding)
{
	*finding = alert->findings[--alert->n_findings];
}

unsigned triad_alert_index_of_end(
	const struct triad_alert *alert, uint64_t guid, uint8_t port)
{
	unsigned i = 0;

	while (i < alert->n_ends &&
		(alert->ends[i].node_guid != guid || alert->ends[i].port != port))
		i++;
	return i < alert->n_ends ? i : 2;
}

/* The place for a new finding; NULL when all there are as important or more so. */
static struct triad_alert_finding *find_room(struct triad_alert *alert, unsigned cause)
{
	struct triad_alert_finding *least = &alert->findings[0];

	if (alert->n_findings < TRIAD_ALERT_MAX_FINDINGS)
		return &alert->findings[alert->n_findings++];
	for (unsigned i = 1; i < alert->n_findings; i++)
		if (rank_of(alert->findings[i].cause) >= rank_of(least->cause))
			least = &alert->findings[i];
	if (rank_of(least->cause) <= rank_of(cause))
		return NULL;
	alert->more[least->end] |= UINT32_C(1) << least->cause;
	return least;
}

struct triad_alert_finding triad_alert_finding_of_ber(
	enum triad_ber_kind kind, const struct triad_bers_rate *rate)
{
	const struct triad_ber_estimate *estimate = &rate->estimate;

	return (struct triad_alert_finding){
		.value = (float)estimate->ber,
		.ber =
			{
				.kind = (uint8_t)kind,
				.low = (float)estimate->low,
				.high = (float)estimate->high,
				.target = (float)rate->target,
				.in_s = (float)(rate->read_us - rate->since_us) / 1e6f,
			},
	};
}

struct triad_alert_finding triad_alert_finding_of_hardware(
	const struct triad_hardware_finding *found)
{
	return (struct triad_alert_finding){
		.value = (float)found->value,
		.worst = (float)found->value,
		.hardware = {.fault = (uint8_t)found->fault,
			.index = (uint8_t)found->index,
			.limit = (float)found->limit},
	};
}

unsigned triad_alert_n_more(const struct triad_alert *alert)
{
	return (unsigned)(__builtin_popcount(alert->more[0]) +
		__builtin_popcount(alert->more[1]));
}

void triad_alert_note_no_more(struct triad_alert *alert, unsigned cause, unsigned end)
{
	if (end < 2)
		alert->more[end] &= ~(UINT32_C(1) << cause);
}

/* A port or node that is lost again was there meanwhile.  Once that is an alert, it goes
 * on from its beginning, and counts. */
static void note_loss(struct triad_alert *alert, struct triad_alert_finding *finding,
	float n_before, uint64_t now_us)
{
	if (!finding->raised)
		finding->since_us = now_us;
	else
		finding->value = n_before + 1;
	alert->lost_us = now_us;
}

void triad_alert_note_over(struct triad_alert *alert, unsigned cause, unsigned end,
	const struct triad_alert_finding *now, uint64_t now_us)
{
	struct triad_alert_finding *finding =
		triad_alert_find_finding(alert, cause, end);
	float n_before = finding ? finding->value : 0;

	if (!finding) {
		/* Another place of a lost part: it has no findings of its own. */
		if (end > 1)
			return;
		finding = find_room(alert, cause);
		if (!finding) {
			alert->more[end] |= UINT32_C(1) << cause;
			return;
		}
		triad_alert_note_no_more(alert, cause, end);
		*finding = *now;
		finding->cause = (uint8_t)cause;
		finding->end = (uint8_t)end;
		/* The finder may have known it for longer. */
		if (!now->since_us)
			finding->since_us = now_us;
	}
	finding->under_us = 0;
	finding->judged = now->judged;
	finding->value = now->value;
	if (triad_alert_is_loss(cause))
		note_loss(alert, finding, n_before, now_us);
	finding->at_least = now->at_least;
	if (now->why.field)
		finding->why = now->why;
	finding->trouble = now->trouble;
	finding->replies_from = now->replies_from;
	finding->threshold = now->threshold;
	finding->ber = now->ber;
	finding->hardware = now->hardware;
	finding->routes = now->routes;
	finding->congestion = now->congestion;
	finding->slow = now->slow;
	if (finding->value > finding->worst)
		finding->worst = finding->value;
}

void triad_alert_note_under(
	struct triad_alert *alert, struct triad_alert_finding *finding, uint64_t now_us)
{
	if (!finding->raised)
		remove_finding(alert, finding);
	else if (!finding->under_us)
		finding->under_us = now_us;
}

/* True when 'a' comes before 'b': raised findings come first, because pending ones may
 * vanish. */
static bool comes_before(
	const struct triad_alert_finding *a, const struct triad_alert_finding *b)
{
	if (a->raised != b->raised)
		return a->raised;
	return rank_of(a->cause) < rank_of(b->cause);
}

void triad_alert_put_in_order(struct triad_alert *alert)
{
	for (unsigned i = 1; i < alert->n_findings; i++) {
		struct triad_alert_finding finding = alert->findings[i];
		unsigned j = i;

		for (; j && comes_before(&finding, &alert->findings[j - 1]); j--)
			alert->findings[j] = alert->findings[j - 1];
		alert->findings[j] = finding;
	}
	/* The end with the first finding becomes the alert's first end. */
	if (alert->findings[0].end == 1) {
		struct triad_alert_end end = alert->ends[0];
		uint32_t more = alert->more[0];

		alert->ends[0] = alert->ends[1];
		alert->ends[1] = end;
		alert->more[0] = alert->more[1];
		alert->more[1] = more;
		for (unsigned i = 0; i < alert->n_findings; i++)
			alert->findings[i].end = !alert->findings[i].end;
	}
}

static bool has_lasted(uint64_t since_us, uint64_t wanted_us, uint64_t now_us)
{
	uint64_t slack_us = wanted_us / 10;

	if (slack_us > MAX_SLACK_US)
		slack_us = MAX_SLACK_US;
	return now_us - since_us + slack_us >= wanted_us;
}

/* True when a loss has lasted so long that it counts as on purpose. */
static bool is_forgotten(const struct triad_alerts_params *params,
	const struct triad_alert *alert, const struct triad_alert_finding *finding,
	uint64_t now_us)
{
	uint64_t from_us = alert->lost_us ? alert->lost_us : finding->since_us;

	return triad_alert_is_loss(finding->cause) && finding->raised &&
		!finding->under_us && now_us - from_us >= params->forget_after_us;
}

static bool is_finding_over(const struct triad_alerts_params *params,
	const struct triad_alert *alert, const struct triad_alert_finding *finding,
	uint64_t now_us)
{
	/* The alert about the root reports it instead. */
	if (finding->held)
		return finding->raised;
	return (finding->under_us &&
		       (finding->judged ||
			       has_lasted(finding->under_us, params->clear_after_us,
				       now_us))) ||
		is_forgotten(params, alert, finding, now_us);
}

unsigned triad_alert_raise_findings(const struct triad_alerts_params *params,
	struct triad_alert *alert, uint64_t now_us)
{
	unsigned n = 0;

	for (unsigned i = 0; i < alert->n_findings; i++) {
		struct triad_alert_finding *finding = &alert->findings[i];

		if (finding->raised || finding->held ||
			!(finding->judged ||
				has_lasted(finding->since_us, params->raise_after_us,
					now_us)))
			continue;
		finding->raised = true;
		n++;
	}
	return n;
}

bool triad_alert_drop_over(const struct triad_alerts_params *params,
	struct triad_alert *alert, uint64_t now_us)
{
	unsigned n_over = 0, n_raised = 0, n_held = 0, n = alert->n_findings;

	for (unsigned i = 0; i < n; i++) {
		const struct triad_alert_finding *finding = &alert->findings[i];

		n_over += is_finding_over(params, alert, finding, now_us);
		n_raised += finding->raised;
		n_held += finding->held && !finding->raised;
	}
	/* Held findings keep no alert alive: the next sweep finds them again. */
	if (n_over + n_held == n && (n_over || !n)) {
		alert->forgotten =
			n && is_forgotten(params, alert, &alert->findings[0], now_us);
		alert->explained = n && alert->findings[0].held;
		return false;
	}
	/* Keep raised findings that are over: only pending ones would be left, and an
	 * alert needs a raised one. */
	if (n_over == n_raised)
		return true;
	/* From the last on: remove_finding() moves the last one into the gap. */
	for (unsigned i = n; i-- > 0;)
		if (is_finding_over(params, alert, &alert->findings[i], now_us))
			remove_finding(alert, &alert->findings[i]);
	return true;
}
