/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/finders.h"

struct triad_found {
	struct triad_placed_list *list;
	struct triad_alerts *alerts;
};

void triad_found_add(struct triad_found *found, uint64_t node_guid, uint8_t port,
	uint64_t key, const struct triad_alert_finding *finding)
{
	struct triad_placed_list *list = found->list;

	if (list->n < TRIAD_FINDERS_MAX_FINDINGS)
		list->findings[list->n++] =
			(struct triad_placed_finding){.node_guid = node_guid,
				.key = key,
				.port = port,
				.finding = *finding};
}

/* No lock: no reader sees what these two change. */
void triad_found_explain_until(struct triad_found *found, uint64_t until_us)
{
	triad_alerts_explain_begin(found->alerts, until_us);
}

void triad_found_explain(struct triad_found *found, uint64_t node_guid, uint8_t port)
{
	triad_alerts_explain(found->alerts, node_guid, port);
}

static uint32_t port_of(
	const struct triad_fabric *fabric, const struct triad_placed_finding *finding)
{
	return triad_fabric_port_at(fabric, finding->node_guid, finding->port);
}

static bool are_in_one_place(const struct triad_placed_finding *one,
	const struct triad_placed_finding *other)
{
	return one->finding.cause == other->finding.cause &&
		one->node_guid == other->node_guid && one->port == other->port;
}

static void keep_place(const struct triad_finders *finders,
	const struct triad_fabric *fabric, struct triad_placed_finding *finding)
{
	for (uint32_t i = 0; i < finders->known.n; i++) {
		const struct triad_placed_finding *known = &finders->known.findings[i];

		if (known->key != finding->key ||
			known->finding.cause != finding->finding.cause ||
			port_of(fabric, known) == TRIAD_FABRIC_NONE)
			continue;
		finding->node_guid = known->node_guid;
		finding->port = known->port;
	}
}

/* Keeps the findings that are in the fabric, and the first one of each place. */
static void place_all(struct triad_finders *finders, const struct triad_fabric *fabric)
{
	struct triad_placed_list *now = &finders->now;
	uint32_t n = now->n;

	now->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct triad_placed_finding finding = now->findings[i];
		bool is_first = true;

		keep_place(finders, fabric, &finding);
		for (uint32_t k = 0; k < now->n; k++)
			is_first &= !are_in_one_place(&finding, &now->findings[k]);
		if (is_first && port_of(fabric, &finding) != TRIAD_FABRIC_NONE)
			now->findings[now->n++] = finding;
	}
}

void triad_finders_look(struct triad_finders *finders, struct triad_alerts *alerts,
	const struct triad_fabric *fabric, pthread_mutex_t *lock, uint64_t now_us)
{
	struct triad_found found = {.list = &finders->now, .alerts = alerts};

	finders->now.n = 0;
	triad_alerts_explain_begin(alerts, UINT64_MAX);
	for (uint32_t i = 0; i < finders->n_finders; i++)
		finders->finders[i].read(finders->finders[i].context, &found);
	place_all(finders, fabric);
	pthread_mutex_lock(lock);
	for (uint32_t i = 0; i < finders->known.n; i++) {
		const struct triad_placed_finding *known = &finders->known.findings[i];
		uint32_t port = port_of(fabric, known);
		/* A port that left: triad_alerts_adopt() has ended its findings. */
		bool is_there = port == TRIAD_FABRIC_NONE;

		for (uint32_t k = 0; k < finders->now.n; k++)
			is_there |= are_in_one_place(known, &finders->now.findings[k]);
		if (!is_there)
			triad_alerts_take(
				alerts, port, known->finding.cause, NULL, now_us);
	}
	for (uint32_t i = 0; i < finders->now.n; i++) {
		const struct triad_placed_finding *is = &finders->now.findings[i];

		triad_alerts_take(alerts, port_of(fabric, is), is->finding.cause,
			&is->finding, now_us);
	}
	pthread_mutex_unlock(lock);
	finders->known = finders->now;
}
