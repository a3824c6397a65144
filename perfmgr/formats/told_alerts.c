/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/told_alerts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/search.h"
#include "triad/clock.h"

#define FIRST_PAUSE_US TRIAD_US_PER_S
#define MAX_PAUSE_US (60 * TRIAD_US_PER_S)

struct entry {
	struct triad_told_alert reported;
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

void triad_told_alerts_free(struct triad_told_alerts *reported)
{
	if (!reported)
		return;
	for (uint32_t i = 0; i < reported->n; i++)
		free(reported->entries[i]);
	free(reported);
}

/* --- entries --- */

static bool is_over(const struct entry *entry)
{
	return entry->reported.ended_wall_us != 0;
}

/* The place behind all entries of alerts up to number 'id'. */
static uint32_t place_behind(const struct triad_told_alerts *reported, uint64_t id)
{
	uint32_t at;

	TRIAD_SEARCH(
		at, 0, reported->n, reported->entries[at]->reported.alert.id <= id);
	return at;
}

/* The entry of an alert that is not over, or NULL. */
static struct entry *find_entry(const struct triad_told_alerts *reported, uint64_t id)
{
	uint32_t behind = place_behind(reported, id);
	struct entry *entry = behind ? reported->entries[behind - 1] : NULL;

	return entry && entry->reported.alert.id == id && !is_over(entry) ? entry
									  : NULL;
}

static void remove_entry(struct triad_told_alerts *reported, uint32_t at)
{
	reported->n_over -= is_over(reported->entries[at]);
	free(reported->entries[at]);
	reported->n--;
	memmove(&reported->entries[at], &reported->entries[at + 1],
		(reported->n - at) * sizeof(reported->entries[0]));
}

/* Removes what is over; 'most' at most, and nothing that is on its way if 'waiting'. */
static uint32_t remove_over(
	struct triad_told_alerts *reported, uint32_t most, bool waiting)
{
	uint32_t n = 0;

	for (uint32_t i = 0; reported->n_over && i < reported->n && n < most;) {
		if (is_over(reported->entries[i]) &&
			!(waiting && reported->entries[i]->is_on_way)) {
			remove_entry(reported, i);
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
static struct entry *insert_entry(struct triad_told_alerts *reported, uint64_t id)
{
	struct entry *entry;
	uint32_t at;

	if (reported->n == TRIAD_TOLD_ALERTS_MAX) {
		reported->counts.n_dropped++;
		if (!remove_over(reported, 1, true))
			return NULL;
	}
	entry = calloc(1, sizeof(*entry));
	if (!entry) {
		reported->counts.n_dropped++;
		return NULL;
	}
	at = place_behind(reported, id);
	memmove(&reported->entries[at + 1], &reported->entries[at],
		(reported->n - at) * sizeof(reported->entries[0]));
	reported->entries[at] = entry;
	reported->n++;
	return entry;
}

/* 'began_us': when what the receiver takes for one alert began; monotonic. */
static void add_entry(struct triad_told_alerts *reported,
	const struct triad_alert *alert, uint64_t began_us, int64_t wall_offset_us)
{
	struct entry *entry = insert_entry(reported, alert->id);

	if (!entry)
		return;
	entry->reported = (struct triad_told_alert){
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
	struct triad_told_alerts *reported, struct entry *entry, uint64_t ended_wall_us)
{
	/* The clock may have been set back, and a receiver refuses what ends before it
	 * begins. */
	entry->reported.ended_wall_us = ended_wall_us > entry->reported.began_wall_us
		? ended_wall_us
		: entry->reported.began_wall_us + 1;
	reported->n_over++;
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

static void join_entry(struct triad_told_alerts *reported, struct entry *entry,
	const struct triad_alert *alert, int64_t wall_offset_us)
{
	if (triad_severity_is_worse(
		    triad_alert_severity(alert), entry->reported.severity)) {
		uint64_t now_us = newest_since(alert);

		end_entry(
			reported, entry, (uint64_t)((int64_t)now_us + wall_offset_us));
		add_entry(reported, alert, now_us, wall_offset_us);
	} else {
		entry->reported.alert = *alert;
		mark_entry(entry);
	}
}

void triad_told_alerts_take(struct triad_told_alerts *reported,
	enum triad_alert_change change, const struct triad_alert *alert,
	uint64_t now_us, int64_t wall_offset_us)
{
	struct entry *entry = find_entry(reported, alert->id);
	bool has_ended = change == TRIAD_ALERT_ENDED;

	if (!has_ended && !alert->silence && entry) {
		join_entry(reported, entry, alert, wall_offset_us);
	} else if (!has_ended && !alert->silence) {
		add_entry(reported, alert,
			change == TRIAD_ALERT_UNSILENCED ? now_us : alert->raised_us,
			wall_offset_us);
	} else if (entry) {
		uint64_t ended_us = has_ended ? alert->cleared_us : now_us;

		entry->reported.alert = *alert;
		end_entry(reported, entry,
			(uint64_t)((int64_t)ended_us + wall_offset_us));
	}
	if (!reported->is_on)
		remove_over(reported, UINT32_MAX, false);
}

static void mark_all(struct triad_told_alerts *reported)
{
	for (uint32_t i = 0; i < reported->n; i++) {
		reported->entries[i]->is_on_way = false;
		mark_entry(reported->entries[i]);
	}
}

void triad_told_alerts_begin(struct triad_told_alerts *reported, uint64_t repeat_us)
{
	reported->is_on = true;
	reported->repeat_us = repeat_us;
	reported->next_us = 0;
	reported->retry_us = 0;
	reported->pause_us = 0;
	mark_all(reported);
}

void triad_told_alerts_pause(struct triad_told_alerts *reported)
{
	reported->is_on = false;
	remove_over(reported, UINT32_MAX, false);
}

size_t triad_told_alerts_batch(struct triad_told_alerts *reported, uint64_t now_us,
	struct triad_told_alert *batch, size_t room)
{
	size_t n = 0;

	if (now_us < triad_told_alerts_due_us(reported))
		return 0;
	for (uint32_t i = 0; i < reported->n && n < room; i++) {
		struct entry *entry = reported->entries[i];

		if (!entry->is_due && now_us < entry->next_us)
			continue;
		entry->is_on_way = true;
		entry->has_changed = false;
		batch[n++] = entry->reported;
	}
	return n;
}

/* An entry on its way was taken or refused. */
static void settle_entry(
	struct triad_told_alerts *reported, struct entry *entry, uint64_t now_us)
{
	entry->is_on_way = false;
	entry->is_due = entry->has_changed;
	entry->next_us = now_us + reported->repeat_us;
}

static void note_failure(struct triad_told_alerts *reported, uint64_t now_us)
{
	reported->counts.n_failures++;
	reported->pause_us = !reported->pause_us        ? FIRST_PAUSE_US
		: reported->pause_us * 2 < MAX_PAUSE_US ? reported->pause_us * 2
							: MAX_PAUSE_US;
	reported->retry_us = now_us + reported->pause_us;
	/* The receiver may come back without what it knew. */
	mark_all(reported);
}

void triad_told_alerts_done(struct triad_told_alerts *reported,
	enum triad_told_outcome outcome, uint64_t now_us)
{
	uint32_t n = 0;

	if (!reported->is_on)
		return;
	if (outcome == TRIAD_TOLD_FAILED) {
		note_failure(reported, now_us);
		return;
	}
	reported->pause_us = 0;
	reported->next_us = now_us + reported->repeat_us;
	for (uint32_t i = 0; i < reported->n;) {
		struct entry *entry = reported->entries[i];

		if (!entry->is_on_way) {
			i++;
			continue;
		}
		n++;
		settle_entry(reported, entry, now_us);
		if (is_over(entry) && !entry->has_changed)
			remove_entry(reported, i);
		else
			i++;
	}
	if (outcome == TRIAD_TOLD_TAKEN)
		reported->counts.n_taken += n;
	else
		reported->counts.n_refused += n;
}

uint64_t triad_told_alerts_due_us(const struct triad_told_alerts *reported)
{
	uint64_t due_us = reported->next_us;

	if (!reported->is_on)
		return UINT64_MAX;
	for (uint32_t i = 0; i < reported->n; i++) {
		const struct entry *entry = reported->entries[i];
		uint64_t at_us = entry->is_due ? 0 : entry->next_us;

		if (at_us < due_us)
			due_us = at_us;
	}
	return due_us > reported->retry_us ? due_us : reported->retry_us;
}

struct triad_told_alerts_status triad_told_alerts_status(
	const struct triad_told_alerts *reported)
{
	struct triad_told_alerts_status status = reported->counts;

	status.n_active = reported->n - reported->n_over;
	for (uint32_t i = 0; i < reported->n; i++)
		status.n_waiting += reported->entries[i]->is_due;
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
