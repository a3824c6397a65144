/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/agenda.h"

#include <errno.h>
#include <stdlib.h>

#include "triad/clock.h"

#define TRAFFIC_US (2 * TRIAD_US_PER_S) /* between two looks at a port's traffic */
#define RETRY_US (5 * TRIAD_US_PER_S)   /* the first time; doubled each time */
#define MAX_RETRY_US (600 * TRIAD_US_PER_S)

struct triad_agenda {
	struct triad_agenda_conf conf;
	struct triad_agenda_entry *entries; /* sorted by (node GUID, number) */
	uint32_t n;
	uint32_t n_done; /* Sets since the last look */
	bool was_stopped, holds_tests;
	uint64_t n_stops;
};

struct triad_agenda *triad_agenda_new(void)
{
	return calloc(1, sizeof(struct triad_agenda));
}

void triad_agenda_free(struct triad_agenda *agenda)
{
	if (!agenda)
		return;
	free(agenda->entries);
	free(agenda);
}

void triad_agenda_configure(
	struct triad_agenda *agenda, const struct triad_agenda_conf *conf)
{
	agenda->conf = *conf;
}

/* --- entries --- */

static struct triad_agenda_entry *find(
	const struct triad_agenda *agenda, uint64_t node_guid, uint8_t number)
{
	uint32_t first = 0, n = agenda->n;

	while (n) {
		uint32_t half = n / 2;
		struct triad_agenda_entry *entry = &agenda->entries[first + half];

		if (entry->node_guid == node_guid && entry->number == number)
			return entry;
		if (entry->node_guid < node_guid ||
			(entry->node_guid == node_guid && entry->number < number)) {
			first += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return NULL;
}

const struct triad_agenda_entry *triad_agenda_find(
	const struct triad_agenda *agenda, uint64_t node_guid, uint8_t number)
{
	return find(agenda, node_guid, number);
}

static bool is_open(const struct triad_plan_item *item)
{
	return item->kind != TRIAD_PLAN_NOTE && (!item->guard || item->is_overridden);
}

static bool is_gentle(const struct triad_plan_item *item)
{
	return item->kind == TRIAD_PLAN_DISABLE &&
		item->reason == TRIAD_REASON_EXPECTED && item->is_active &&
		item->remote_guid;
}

/* Where an item begins that was not there before. */
static struct triad_agenda_entry begin(const struct triad_agenda *agenda,
	const struct triad_plan_item *item, uint64_t now_us)
{
	struct triad_agenda_entry entry = {
		.node_guid = item->node_guid,
		.number = item->number,
		.kind = item->kind,
		.reason = item->reason,
		.state = TRIAD_AGENDA_DUE,
		.since_us = now_us,
		.next_us = now_us,
	};

	if (item->may_be_name && item->kind == TRIAD_PLAN_DISABLE) {
		entry.state = TRIAD_AGENDA_NAME;
		entry.next_us = now_us + agenda->conf.name_grace_us;
	} else if (is_gentle(item)) {
		entry.state = TRIAD_AGENDA_GRACE;
	}
	return entry;
}

static struct triad_agenda_entry carry_on(const struct triad_agenda *agenda,
	const struct triad_plan_item *item, uint64_t now_us)
{
	const struct triad_agenda_entry *old =
		find(agenda, item->node_guid, item->number);
	struct triad_agenda_entry entry;

	if (!old || old->kind != item->kind || old->reason != item->reason) {
		entry = begin(agenda, item, now_us);
		entry.is_approved = old && old->is_approved && old->kind == item->kind;
	} else {
		entry = *old;
		/* It was more than the name, after all. */
		if (entry.state == TRIAD_AGENDA_NAME && !item->may_be_name) {
			entry.state = TRIAD_AGENDA_DUE;
			entry.next_us = now_us;
		}
		/* Done, and yet the sweep does not show it. */
		if (entry.state == TRIAD_AGENDA_DONE)
			entry.state = TRIAD_AGENDA_AGAIN;
	}
	entry.takes_set = item->kind != TRIAD_PLAN_TEST || item->is_active;
	return entry;
}

/* --- plans --- */

static uint32_t count_open(const struct triad_agenda *agenda)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < agenda->n; i++)
		n += agenda->entries[i].takes_set && !agenda->entries[i].is_approved;
	return n;
}

static bool is_stopped(const struct triad_agenda *agenda)
{
	return count_open(agenda) > agenda->conf.max_actions;
}

int triad_agenda_look(
	struct triad_agenda *agenda, const struct triad_plan *plan, uint64_t now_us)
{
	struct triad_agenda_entry *entries =
		calloc(triad_plan_n_open(plan) + 1, sizeof(*entries));
	uint32_t n = 0;

	if (!entries)
		return ENOMEM;
	for (uint32_t i = 0; i < plan->n_items; i++)
		if (is_open(&plan->items[i]))
			entries[n++] = carry_on(agenda, &plan->items[i], now_us);
	free(agenda->entries);
	agenda->entries = entries;
	agenda->n = n;
	agenda->n_done = 0;
	agenda->n_stops += is_stopped(agenda) && !agenda->was_stopped;
	agenda->was_stopped = is_stopped(agenda);
	return 0;
}

/* --- what is next --- */

void triad_agenda_hold_tests(struct triad_agenda *agenda, bool is_full)
{
	agenda->holds_tests = is_full;
}

static bool may_act(const struct triad_agenda *agenda,
	const struct triad_agenda_entry *entry, bool stopped)
{
	if (agenda->holds_tests && entry->kind == TRIAD_PLAN_TEST)
		return false;
	if (!entry->takes_set)
		return true;
	return agenda->n_done < agenda->conf.max_actions &&
		(!stopped || entry->is_approved);
}

static enum triad_agenda_kind kind_of(const struct triad_agenda_entry *entry)
{
	switch (entry->state) {
	case TRIAD_AGENDA_GRACE:
		return entry->is_warned ? TRIAD_AGENDA_TRAFFIC : TRIAD_AGENDA_WARN;
	case TRIAD_AGENDA_DRAINING:
		return TRIAD_AGENDA_TRAFFIC;
	case TRIAD_AGENDA_DONE:
		return TRIAD_AGENDA_WAIT;
	default:
		return TRIAD_AGENDA_ACT;
	}
}

enum triad_agenda_kind triad_agenda_next(struct triad_agenda *agenda, uint64_t now_us,
	const struct triad_agenda_entry **found, uint64_t *until_us)
{
	bool stopped = is_stopped(agenda);

	*until_us = UINT64_MAX;
	for (uint32_t i = 0; i < agenda->n; i++) {
		const struct triad_agenda_entry *entry = &agenda->entries[i];
		enum triad_agenda_kind kind = kind_of(entry);

		if (kind == TRIAD_AGENDA_WAIT || !may_act(agenda, entry, stopped))
			continue;
		if (entry->next_us <= now_us) {
			*found = entry;
			return kind;
		}
		if (entry->next_us < *until_us)
			*until_us = entry->next_us;
	}
	return TRIAD_AGENDA_WAIT;
}

/* --- what came of it --- */

void triad_agenda_warned(struct triad_agenda *agenda, uint64_t node_guid,
	uint8_t number, uint64_t now_us)
{
	struct triad_agenda_entry *entry = find(agenda, node_guid, number);

	if (!entry)
		return;
	entry->is_warned = true;
	entry->since_us = now_us;
	entry->next_us = now_us + agenda->conf.grace_us;
}

void triad_agenda_traffic(struct triad_agenda *agenda, uint64_t node_guid,
	uint8_t number, uint64_t octets_per_s, uint64_t now_us)
{
	struct triad_agenda_entry *entry = find(agenda, node_guid, number);
	const struct triad_agenda_conf *conf = &agenda->conf;

	if (!entry)
		return;
	entry->traffic_bps = octets_per_s;
	if (octets_per_s == UINT64_MAX || octets_per_s <= conf->quiet_bps ||
		now_us - entry->since_us >= conf->grace_us + conf->drain_us) {
		entry->state = TRIAD_AGENDA_DUE;
		entry->next_us = now_us;
	} else {
		entry->state = TRIAD_AGENDA_DRAINING;
		entry->next_us = now_us + TRAFFIC_US;
	}
}

static uint64_t retry_us(uint32_t n_tried)
{
	uint64_t wait_us = RETRY_US;

	for (uint32_t i = 1; i < n_tried && wait_us < MAX_RETRY_US; i++)
		wait_us *= 2;
	return wait_us < MAX_RETRY_US ? wait_us : MAX_RETRY_US;
}

void triad_agenda_done(struct triad_agenda *agenda, uint64_t node_guid, uint8_t number,
	bool worked, uint64_t now_us)
{
	struct triad_agenda_entry *entry = find(agenda, node_guid, number);

	if (!entry)
		return;
	agenda->n_done += entry->takes_set;
	entry->n_tried++;
	entry->next_us = now_us + retry_us(entry->n_tried);
	entry->state = worked ? TRIAD_AGENDA_DONE : TRIAD_AGENDA_AGAIN;
}

/* --- by hand --- */

uint32_t triad_agenda_approve_all(struct triad_agenda *agenda)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < agenda->n; i++) {
		n += !agenda->entries[i].is_approved;
		agenda->entries[i].is_approved = true;
	}
	return n;
}

bool triad_agenda_approve(
	struct triad_agenda *agenda, uint64_t node_guid, uint8_t number)
{
	struct triad_agenda_entry *entry = find(agenda, node_guid, number);

	if (entry)
		entry->is_approved = true;
	return entry != NULL;
}

void triad_agenda_status(
	const struct triad_agenda *agenda, struct triad_agenda_status *status)
{
	*status = (struct triad_agenda_status){
		.n = agenda->n,
		.n_open = count_open(agenda),
		.is_stopped = is_stopped(agenda),
		.n_done = agenda->n_done,
		.n_stops = agenda->n_stops,
	};
}

const char *triad_agenda_state_name(unsigned state)
{
	static const char *const names[] = {
		"due", "name", "grace", "draining", "again", "done"};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}
