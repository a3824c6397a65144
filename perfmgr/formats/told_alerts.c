/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/told_alerts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/search.h"
#include "triad/clock.h"

#define FIRST_PAUSE_US TRIAD_US_PER_S
#define MAX_PAUSE_US (60 * TRIAD_US_PER_S)

struct entry {
	struct triad_told_alert told;
	bool is_due;      /* at once */
	bool is_on_way;   /* in the batch that is not done */
	bool has_changed; /* since its batch was made */
	uint64_t next_us; /* when it is sent again, unless it is due */
};

struct triad_told_alerts {
	bool is_on;
	uint64_t repeat_us;
	uint64_t next_us;  /* when an empty batch is due */
	uint64_t retry_us; /* nothing before that */
	uint64_t pause_us; /* the last one; 0: the last batch did not fail */
	struct entry *entries[TRIAD_TOLD_ALERTS_MAX]; /* by the alert's number */
	uint32_t n, n_over;
	struct triad_told_alerts_status counts; /* but for n_active and n_waiting */
};

struct triad_told_alerts *triad_told_alerts_new(void)
{
	return calloc(1, sizeof(struct triad_told_alerts));
}

void triad_told_alerts_free(struct triad_told_alerts *told)
{
	if (!told)
		return;
	for (uint32_t i = 0; i < told->n; i++)
		free(told->entries[i]);
	free(told);
}

/* --- entries --- */

static bool is_over(const struct entry *entry)
{
	return entry->told.ended_wall_us != 0;
}

/* The index after all entries of alerts up to number 'id'. */
static uint32_t place_behind(const struct triad_told_alerts *told, uint64_t id)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, told->n, told->entries[at]->told.alert.id <= id);
	return at;
}

/* The entry of an alert that is not over, or NULL. */
static struct entry *find_entry(const struct triad_told_alerts *told, uint64_t id)
{
	uint32_t behind = place_behind(told, id);
	struct entry *entry = behind ? told->entries[behind - 1] : NULL;

	return entry && entry->told.alert.id == id && !is_over(entry) ? entry : NULL;
}

static void remove_entry(struct triad_told_alerts *told, uint32_t at)
{
	told->n_over -= is_over(told->entries[at]);
	free(told->entries[at]);
	told->n--;
	memmove(&told->entries[at], &told->entries[at + 1],
		(told->n - at) * sizeof(told->entries[0]));
}

/* Removes entries that are over, at most 'most'.  'waiting': keeps those on their
 * way. */
static uint32_t remove_over(struct triad_told_alerts *told, uint32_t most, bool waiting)
{
	uint32_t n = 0;

	for (uint32_t i = 0; told->n_over && i < told->n && n < most;) {
		if (is_over(told->entries[i]) &&
			!(waiting && told->entries[i]->is_on_way)) {
			remove_entry(told, i);
			n++;
		} else {
			i++;
		}
	}
	return n;
}

static void mark_entry(struct entry *entry)
{
	entry->is_due = true;
	entry->has_changed = true;
}

/* Returns NULL when there is no room for it. */
static struct entry *insert_entry(struct triad_told_alerts *told, uint64_t id)
{
	struct entry *entry;
	uint32_t at;

	if (told->n == TRIAD_TOLD_ALERTS_MAX) {
		told->counts.n_dropped++;
		if (!remove_over(told, 1, true))
			return NULL;
	}
	entry = calloc(1, sizeof(*entry));
	if (!entry) {
		told->counts.n_dropped++;
		return NULL;
	}
	at = place_behind(told, id);
	memmove(&told->entries[at + 1], &told->entries[at],
		(told->n - at) * sizeof(told->entries[0]));
	told->entries[at] = entry;
	told->n++;
	return entry;
}

/* 'began_us' (monotonic): when the alert began, as the receiver sees it. */
static void add_entry(struct triad_told_alerts *told, const struct triad_alert *alert,
	uint64_t began_us, int64_t wall_offset_us)
{
	struct entry *entry = insert_entry(told, alert->id);

	if (!entry)
		return;
	entry->told = (struct triad_told_alert){
		.kind = triad_alert_kind(alert),
		.severity = triad_alert_severity(alert),
		.cause = alert->findings[0].cause,
		.n_ends = alert->n_ends,
		.ends = {alert->ends[0], alert->ends[1]},
		.began_wall_us = (uint64_t)((int64_t)began_us + wall_offset_us),
		.alert = *alert,
	};
	mark_entry(entry);
}

static void end_entry(
	struct triad_told_alerts *told, struct entry *entry, uint64_t ended_wall_us)
{
	/* After the clock was set back an alert could end before it begins, which a
	 * receiver refuses. */
	entry->told.ended_wall_us = ended_wall_us > entry->told.began_wall_us
		? ended_wall_us
		: entry->told.began_wall_us + 1;
	told->n_over++;
	mark_entry(entry);
}

/* --- what the receiver gets --- */

/* When the newest finding of an alert began. */
static uint64_t newest_since(const struct triad_alert *alert)
{
	uint64_t newest_us = alert->raised_us;

	for (unsigned i = 0; i < alert->n_findings; i++)
		if (alert->findings[i].since_us > newest_us)
			newest_us = alert->findings[i].since_us;
	return newest_us;
}

static void join_entry(struct triad_told_alerts *told, struct entry *entry,
	const struct triad_alert *alert, int64_t wall_offset_us)
{
	if (triad_severity_is_worse(
		    triad_alert_severity(alert), entry->told.severity)) {
		uint64_t now_us = newest_since(alert);

		end_entry(told, entry, (uint64_t)((int64_t)now_us + wall_offset_us));
		add_entry(told, alert, now_us, wall_offset_us);
	} else {
		entry->told.alert = *alert;
		mark_entry(entry);
	}
}

void triad_told_alerts_take(struct triad_told_alerts *told,
	enum triad_alert_change change, const struct triad_alert *alert,
	uint64_t now_us, int64_t wall_offset_us)
{
	struct entry *entry = find_entry(told, alert->id);
	bool has_ended = change == TRIAD_ALERT_ENDED;

	if (!has_ended && !alert->silence && entry) {
		join_entry(told, entry, alert, wall_offset_us);
	} else if (!has_ended && !alert->silence) {
		add_entry(told, alert,
			change == TRIAD_ALERT_UNSILENCED ? now_us : alert->raised_us,
			wall_offset_us);
	} else if (entry) {
		uint64_t ended_us = has_ended ? alert->cleared_us : now_us;

		entry->told.alert = *alert;
		end_entry(told, entry, (uint64_t)((int64_t)ended_us + wall_offset_us));
	}
	if (!told->is_on)
		remove_over(told, UINT32_MAX, false);
}

static void mark_all(struct triad_told_alerts *told)
{
	for (uint32_t i = 0; i < told->n; i++) {
		told->entries[i]->is_on_way = false;
		mark_entry(told->entries[i]);
	}
}

void triad_told_alerts_begin(struct triad_told_alerts *told, uint64_t repeat_us)
{
	told->is_on = true;
	told->repeat_us = repeat_us;
	told->next_us = 0;
	told->retry_us = 0;
	told->pause_us = 0;
	mark_all(told);
}

void triad_told_alerts_pause(struct triad_told_alerts *told)
{
	told->is_on = false;
	remove_over(told, UINT32_MAX, false);
}

size_t triad_told_alerts_batch(struct triad_told_alerts *told, uint64_t now_us,
	struct triad_told_alert *batch, size_t room)
{
	size_t n = 0;

	if (now_us < triad_told_alerts_due_us(told))
		return 0;
	for (uint32_t i = 0; i < told->n && n < room; i++) {
		struct entry *entry = told->entries[i];

		if (!entry->is_due && now_us < entry->next_us)
			continue;
		entry->is_on_way = true;
		entry->has_changed = false;
		batch[n++] = entry->told;
	}
	return n;
}

/* An entry on its way was taken or refused. */
static void settle_entry(
	struct triad_told_alerts *told, struct entry *entry, uint64_t now_us)
{
	entry->is_on_way = false;
	entry->is_due = entry->has_changed;
	entry->next_us = now_us + told->repeat_us;
}

static void note_failure(struct triad_told_alerts *told, uint64_t now_us)
{
	told->counts.n_failures++;
	told->pause_us = !told->pause_us            ? FIRST_PAUSE_US
		: told->pause_us * 2 < MAX_PAUSE_US ? told->pause_us * 2
						    : MAX_PAUSE_US;
	told->retry_us = now_us + told->pause_us;
	/* The receiver may come back without its memory. */
	mark_all(told);
}

void triad_told_alerts_done(struct triad_told_alerts *told,
	enum triad_told_outcome outcome, uint64_t now_us)
{
	uint32_t n = 0;

	if (!told->is_on)
		return;
	if (outcome == TRIAD_TOLD_FAILED) {
		note_failure(told, now_us);
		return;
	}
	told->pause_us = 0;
	told->next_us = now_us + told->repeat_us;
	for (uint32_t i = 0; i < told->n;) {
		struct entry *entry = told->entries[i];

		if (!entry->is_on_way) {
			i++;
			continue;
		}
		n++;
		settle_entry(told, entry, now_us);
		if (is_over(entry) && !entry->has_changed)
			remove_entry(told, i);
		else
			i++;
	}
	if (outcome == TRIAD_TOLD_TAKEN)
		told->counts.n_taken += n;
	else
		told->counts.n_refused += n;
}

uint64_t triad_told_alerts_due_us(const struct triad_told_alerts *told)
{
	uint64_t due_us = told->next_us;

	if (!told->is_on)
		return UINT64_MAX;
	for (uint32_t i = 0; i < told->n; i++) {
		const struct entry *entry = told->entries[i];
		uint64_t at_us = entry->is_due ? 0 : entry->next_us;

		if (at_us < due_us)
			due_us = at_us;
	}
	return due_us > told->retry_us ? due_us : told->retry_us;
}

struct triad_told_alerts_status triad_told_alerts_status(
	const struct triad_told_alerts *told)
{
	struct triad_told_alerts_status status = told->counts;

	status.n_active = told->n - told->n_over;
	for (uint32_t i = 0; i < told->n; i++)
		status.n_waiting += told->entries[i]->is_due;
	return status;
}

enum triad_told_outcome triad_told_outcome(long http_status)
{
	if (http_status >= 200 && http_status < 300)
		return TRIAD_TOLD_TAKEN;
	/* A receiver that does not understand a batch never will; Alertmanager has
	 * taken the other alerts in it. */
	if (http_status == 400 || http_status == 413 || http_status == 422)
		return TRIAD_TOLD_REFUSED;
	return TRIAD_TOLD_FAILED;
}
