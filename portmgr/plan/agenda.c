/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/agenda.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/backoff.h"
#include "lib/search.h"

#include "triad/clock.h"

#define TRAFFIC_US (2 * TRIAD_US_PER_S) /* between two readings of a port's traffic */
#define RETRY_US (5 * TRIAD_US_PER_S)   /* first pause after a failure; then doubled */
#define MAX_RETRY_US (600 * TRIAD_US_PER_S)

struct triad_agenda {
	struct triad_agenda_conf conf;
	struct triad_agenda_entry *entries; /* sorted by (node GUID, number) */
	uint32_t n;
	uint32_t n_open; /* entries that need a Set and were not approved */
	/* The entries before 'first' have nothing to do until 'soon_us'. */
	uint32_t first;
	uint64_t soon_us;
	uint64_t fabric; /* of the last plan */
	uint32_t n_done; /* Sets since the first plan of the last sweep */
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

/* Makes find_next() check all entries again. */
static void begin_anew(struct triad_agenda *agenda)
{
	agenda->first = 0;
	agenda->soon_us = UINT64_MAX;
}

void triad_agenda_configure(
	struct triad_agenda *agenda, const struct triad_agenda_conf *conf)
{
	agenda->conf = *conf;
	begin_anew(agenda);
}

/* --- entries --- */

static struct triad_agenda_entry *find_agenda_entry(
	const struct triad_agenda *agenda, uint64_t node_guid, uint8_t number)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, agenda->n,
		triad_port_order(agenda->entries[at].node_guid,
			agenda->entries[at].number, node_guid, number) < 0);
	if (at < agenda->n && agenda->entries[at].node_guid == node_guid &&
		agenda->entries[at].number == number)
		return &agenda->entries[at];
	return NULL;
}

const struct triad_agenda_entry *triad_agenda_find(
	const struct triad_agenda *agenda, uint64_t node_guid, uint8_t number)
{
	return find_agenda_entry(agenda, node_guid, number);
}

static bool is_gentle(const struct triad_plan_item *item)
{
	return item->kind == TRIAD_PLAN_DISABLE &&
		item->reason == TRIAD_REASON_EXPECTED && item->is_active;
}

/* The first state of a new item's entry. */
static struct triad_agenda_entry begin_entry(const struct triad_agenda *agenda,
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

	/* Wait for the name of a component that may still be starting.  For a port that
	 * is phased out, warn at once. */
	if (item->may_be_name && item->kind == TRIAD_PLAN_DISABLE) {
		entry.state = TRIAD_AGENDA_NAME;
		entry.next_us = now_us + agenda->conf.name_grace_us;
	} else if (is_gentle(item)) {
		entry.state = TRIAD_AGENDA_GRACE;
	}
	return entry;
}

/* Whether the port's entry must restart, because the item is another one.  A new
 * component at the far end gets its own time for its name. */
static bool is_another(
	const struct triad_agenda_entry *old, const struct triad_plan_item *item)
{
	return old->kind != item->kind || old->reason != item->reason ||
		(item->may_be_name &&
			(!old->may_be_name || old->remote_guid != item->remote_guid));
}

static void set_due(struct triad_agenda_entry *entry, uint64_t now_us)
{
	entry->state = TRIAD_AGENDA_DUE;
	entry->next_us = now_us;
}

/* Updates an entry: the item may have changed while it waited. */
static void continue_item(struct triad_agenda_entry *entry,
	const struct triad_plan_item *item, uint64_t now_us)
{
	switch (entry->state) {
	case TRIAD_AGENDA_NAME:
		if (!item->may_be_name) /* more than the name is wrong */
			set_due(entry, now_us);
		break;
	case TRIAD_AGENDA_GRACE:
	case TRIAD_AGENDA_DRAINING:
		if (!is_gentle(item))
			set_due(entry, now_us);
		break;
	default:
		/* The sweep does not show the action as done: try again. */
		if (entry->state == TRIAD_AGENDA_DONE)
			entry->state = TRIAD_AGENDA_AGAIN;
		if (!is_gentle(item) || entry->is_warned)
			break;
		/* The link has started to carry traffic: phase it out from now on.
		 * After a failure, keep the pause before the next attempt. */
		entry->state = TRIAD_AGENDA_GRACE;
		if (!entry->n_tried)
			entry->next_us = now_us;
	}
}

static struct triad_agenda_entry carry_on(const struct triad_agenda *agenda,
	const struct triad_plan_item *item, uint64_t now_us)
{
	const struct triad_agenda_entry *old =
		find_agenda_entry(agenda, item->node_guid, item->number);
	struct triad_agenda_entry entry;

	/* An approval is for the action at the port: keep it if only the reason
	 * changed. */
	if (!old || is_another(old, item)) {
		entry = begin_entry(agenda, item, now_us);
		entry.is_approved = old && old->is_approved && old->kind == item->kind;
	} else {
		entry = *old;
		continue_item(&entry, item, now_us);
	}
	/* A test needs a Set only to take down an active link. */
	entry.takes_set = item->kind != TRIAD_PLAN_TEST || item->is_active;
	entry.may_be_name = item->may_be_name;
	entry.remote_guid = item->remote_guid;
	return entry;
}

/* --- plans --- */

static bool counts_as_open(const struct triad_agenda_entry *entry)
{
	return entry->takes_set && !entry->is_approved;
}

static bool has_too_many_open(const struct triad_agenda *agenda)
{
	return agenda->n_open > agenda->conf.max_actions;
}

void triad_agenda_clear(struct triad_agenda *agenda)
{
	agenda->n = 0;
	agenda->n_open = 0;
	agenda->was_stopped = false;
	begin_anew(agenda);
}

int triad_agenda_look(
	struct triad_agenda *agenda, const struct triad_plan *plan, uint64_t now_us)
{
	struct triad_agenda_entry *entries =
		calloc(triad_plan_n_open(plan) + 1, sizeof(*entries));
	uint32_t n = 0, n_open = 0;

	if (!entries)
		return ENOMEM;
	for (uint32_t i = 0; i < plan->n_items; i++) {
		if (!triad_plan_is_open(&plan->items[i]))
			continue;
		entries[n] = carry_on(agenda, &plan->items[i], now_us);
		n_open += counts_as_open(&entries[n++]);
	}
	free(agenda->entries);
	agenda->entries = entries;
	agenda->n = n;
	agenda->n_open = n_open;
	/* Count actions until a plan of another sweep: a plan of the same sweep can't
	 * show them as done. */
	if (plan->fabric != agenda->fabric)
		agenda->n_done = 0;
	agenda->fabric = plan->fabric;
	begin_anew(agenda);
	/* Count how often it stops, not how many plans find it stopped. */
	agenda->n_stops += has_too_many_open(agenda) && !agenda->was_stopped;
	agenda->was_stopped = has_too_many_open(agenda);
	return 0;
}

/* --- the next thing to do --- */

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

static enum triad_agenda_kind action_kind_of(const struct triad_agenda_entry *entry)
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

/* The next entry that is due, or NULL. 'first' skips the entries with nothing to do
 * until 'soon_us', so that further calls need not check them. */
static const struct triad_agenda_entry *find_next(
	struct triad_agenda *agenda, uint64_t now_us)
{
	bool stopped = has_too_many_open(agenda);

	for (; agenda->first < agenda->n; agenda->first++) {
		const struct triad_agenda_entry *entry =
			&agenda->entries[agenda->first];

		if (action_kind_of(entry) == TRIAD_AGENDA_WAIT ||
			!may_act(agenda, entry, stopped))
			continue;
		if (entry->next_us <= now_us)
			return entry;
		agenda->soon_us = triad_clock_earlier(agenda->soon_us, entry->next_us);
	}
	return NULL;
}

enum triad_agenda_kind triad_agenda_next(struct triad_agenda *agenda, uint64_t now_us,
	const struct triad_agenda_entry **found, uint64_t *until_us)
{
	const struct triad_agenda_entry *entry;

	if (agenda->soon_us <= now_us)
		begin_anew(agenda);
	entry = find_next(agenda, now_us);
	*until_us = entry ? now_us : agenda->soon_us;
	if (!entry)
		return TRIAD_AGENDA_WAIT;
	*found = entry;
	return action_kind_of(entry);
}

/* --- results --- */

/* Sets the entry's time.  Also lowers 'soon_us', as 'first' may have passed this
 * entry. */
static void wait_until(
	struct triad_agenda *agenda, struct triad_agenda_entry *entry, uint64_t next_us)
{
	entry->next_us = next_us;
	agenda->soon_us = triad_clock_earlier(agenda->soon_us, next_us);
}

void triad_agenda_warned(struct triad_agenda *agenda, uint64_t node_guid,
	uint8_t number, uint64_t now_us)
{
	struct triad_agenda_entry *entry = find_agenda_entry(agenda, node_guid, number);

	if (!entry || action_kind_of(entry) != TRIAD_AGENDA_WARN)
		return;
	entry->is_warned = true;
	entry->since_us = now_us;
	wait_until(agenda, entry, now_us + agenda->conf.grace_us);
}

void triad_agenda_traffic(struct triad_agenda *agenda, uint64_t node_guid,
	uint8_t number, uint64_t octets_per_s, uint64_t now_us)
{
	struct triad_agenda_entry *entry = find_agenda_entry(agenda, node_guid, number);
	const struct triad_agenda_conf *conf = &agenda->conf;
	uint64_t end_us;

	if (!entry || action_kind_of(entry) != TRIAD_AGENDA_TRAFFIC)
		return;
	entry->traffic_bps = octets_per_s;
	end_us = entry->since_us + conf->grace_us + conf->drain_us;
	/* Stop waiting after a time, even if the traffic stays high. */
	if (octets_per_s == UINT64_MAX || octets_per_s <= conf->quiet_bps ||
		now_us >= end_us) {
		entry->state = TRIAD_AGENDA_DUE;
		wait_until(agenda, entry, now_us);
	} else {
		entry->state = TRIAD_AGENDA_DRAINING;
		wait_until(agenda, entry,
			end_us < now_us + TRAFFIC_US ? end_us : now_us + TRAFFIC_US);
	}
}

void triad_agenda_done(struct triad_agenda *agenda, uint64_t node_guid, uint8_t number,
	bool worked, bool is_sent, uint64_t now_us)
{
	struct triad_agenda_entry *entry = find_agenda_entry(agenda, node_guid, number);
	uint64_t pause_us;

	/* Count only what was sent: nothing else causes a sweep, which resets the
	 * count.  Otherwise attempts that a full disk ended would use up the actions
	 * for ever. */
	agenda->n_done += is_sent;
	if (!entry)
		return;
	entry->n_tried++;
	entry->state = worked ? TRIAD_AGENDA_DONE : TRIAD_AGENDA_AGAIN;
	/* Double the pause for each attempt: a switch that refuses or is silent will
	 * probably do so again. */
	pause_us = triad_backoff(entry->n_tried, RETRY_US, MAX_RETRY_US);
	/* After a success, wait for the next sweep to show it. */
	entry->next_us = now_us + pause_us;
	if (!worked)
		wait_until(agenda, entry, entry->next_us);
}

/* --- by hand --- */

uint32_t triad_agenda_approve_all(struct triad_agenda *agenda)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < agenda->n; i++) {
		n += !agenda->entries[i].is_approved;
		agenda->entries[i].is_approved = true;
	}
	agenda->n_open = 0;
	begin_anew(agenda);
	return n;
}

bool triad_agenda_approve(
	struct triad_agenda *agenda, uint64_t node_guid, uint8_t number)
{
	struct triad_agenda_entry *entry = find_agenda_entry(agenda, node_guid, number);

	if (!entry)
		return false;
	agenda->n_open -= counts_as_open(entry);
	entry->is_approved = true;
	begin_anew(agenda);
	return true;
}

void triad_agenda_status(
	const struct triad_agenda *agenda, struct triad_agenda_status *status)
{
	*status = (struct triad_agenda_status){
		.n = agenda->n,
		.n_open = agenda->n_open,
		.is_stopped = has_too_many_open(agenda),
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
