/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/alert_outbox.h"

#include <stdlib.h>
#include <string.h>

#include "lib/backoff.h"
#include "lib/search.h"
#include "triad/clock.h"

#define FIRST_BACKOFF_US TRIAD_US_PER_S
#define MAX_BACKOFF_US (60 * TRIAD_US_PER_S)

struct entry {
	struct triad_outgoing_alert outgoing;
	bool is_due;       /* at once */
	bool is_in_flight; /* in the batch that is not done */
	bool has_changed;  /* since its batch was made */
	uint64_t next_us;  /* when it is sent again, unless it is due */
};

struct triad_alert_outbox {
	bool is_on;
	uint64_t repeat_us;
	uint64_t next_us;                              /* when an empty batch is due */
	uint64_t retry_us;                             /* nothing before that */
	uint32_t n_failed;                             /* batches in a row */
	struct entry *entries[TRIAD_ALERT_OUTBOX_MAX]; /* by the alert's number */
	uint32_t n, n_over;
	struct triad_alert_outbox_status counts; /* but for n_active and n_waiting */
};

struct triad_alert_outbox *triad_alert_outbox_new(void)
{
	return calloc(1, sizeof(struct triad_alert_outbox));
}

void triad_alert_outbox_free(struct triad_alert_outbox *outbox)
{
	if (!outbox)
		return;
	for (uint32_t i = 0; i < outbox->n; i++)
		free(outbox->entries[i]);
	free(outbox);
}

/* --- entries --- */

static bool is_alert_over(const struct entry *entry)
{
	return entry->outgoing.ended_wall_us != 0;
}

/* The index behind all entries of alerts up to number 'id'. */
static uint32_t index_behind(const struct triad_alert_outbox *outbox, uint64_t id)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, outbox->n, outbox->entries[at]->outgoing.alert.id <= id);
	return at;
}

/* The entry of an alert that is not over, or NULL. */
static struct entry *find_open_entry(
	const struct triad_alert_outbox *outbox, uint64_t id)
{
	uint32_t behind = index_behind(outbox, id);
	struct entry *entry = behind ? outbox->entries[behind - 1] : NULL;

	return entry && entry->outgoing.alert.id == id && !is_alert_over(entry) ? entry
										: NULL;
}

static void remove_entry(struct triad_alert_outbox *outbox, uint32_t at)
{
	outbox->n_over -= is_alert_over(outbox->entries[at]);
	free(outbox->entries[at]);
	outbox->n--;
	memmove(&outbox->entries[at], &outbox->entries[at + 1],
		(outbox->n - at) * sizeof(outbox->entries[0]));
}

/* Removes what is over; 'most' at most, and nothing that is on its way if 'keep_in_flight'. */
static uint32_t remove_over(
	struct triad_alert_outbox *outbox, uint32_t most, bool keep_in_flight)
{
	uint32_t n = 0;

	for (uint32_t i = 0; outbox->n_over && i < outbox->n && n < most;) {
		if (is_alert_over(outbox->entries[i]) &&
			!(keep_in_flight && outbox->entries[i]->is_in_flight)) {
			remove_entry(outbox, i);
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
static struct entry *insert_entry(struct triad_alert_outbox *outbox, uint64_t id)
{
	struct entry *entry;
	uint32_t at;

	if (outbox->n == TRIAD_ALERT_OUTBOX_MAX) {
		outbox->counts.n_dropped++;
		if (!remove_over(outbox, 1, true))
			return NULL;
	}
	entry = calloc(1, sizeof(*entry));
	if (!entry) {
		outbox->counts.n_dropped++;
		return NULL;
	}
	at = index_behind(outbox, id);
	memmove(&outbox->entries[at + 1], &outbox->entries[at],
		(outbox->n - at) * sizeof(outbox->entries[0]));
	outbox->entries[at] = entry;
	outbox->n++;
	return entry;
}

/* 'began_us': when what the receiver takes for one alert began; monotonic. */
static void add_entry(struct triad_alert_outbox *outbox,
	const struct triad_alert *alert, uint64_t began_us, int64_t wall_offset_us)
{
	struct entry *entry = insert_entry(outbox, alert->id);

	if (!entry)
		return;
	entry->outgoing = (struct triad_outgoing_alert){
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
	struct triad_alert_outbox *outbox, struct entry *entry, uint64_t ended_wall_us)
{
	/* The clock may have been set back, and a receiver refuses what ends before it
	 * begins. */
	entry->outgoing.ended_wall_us = ended_wall_us > entry->outgoing.began_wall_us
		? ended_wall_us
		: entry->outgoing.began_wall_us + 1;
	outbox->n_over++;
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

static void join_entry(struct triad_alert_outbox *outbox, struct entry *entry,
	const struct triad_alert *alert, int64_t wall_offset_us)
{
	if (triad_severity_is_worse(
		    triad_alert_severity(alert), entry->outgoing.severity)) {
		uint64_t now_us = newest_since(alert);

		end_entry(outbox, entry, (uint64_t)((int64_t)now_us + wall_offset_us));
		add_entry(outbox, alert, now_us, wall_offset_us);
	} else {
		entry->outgoing.alert = *alert;
		mark_entry(entry);
	}
}

void triad_alert_outbox_add(struct triad_alert_outbox *outbox,
	enum triad_alert_change change, const struct triad_alert *alert,
	uint64_t now_us, int64_t wall_offset_us)
{
	struct entry *entry = find_open_entry(outbox, alert->id);
	bool has_ended = change == TRIAD_ALERT_ENDED;

	if (!has_ended && !alert->silence && entry) {
		join_entry(outbox, entry, alert, wall_offset_us);
	} else if (!has_ended && !alert->silence) {
		add_entry(outbox, alert,
			change == TRIAD_ALERT_UNSILENCED ? now_us : alert->raised_us,
			wall_offset_us);
	} else if (entry) {
		uint64_t ended_us = has_ended ? alert->cleared_us : now_us;

		entry->outgoing.alert = *alert;
		end_entry(
			outbox, entry, (uint64_t)((int64_t)ended_us + wall_offset_us));
	}
	if (!outbox->is_on)
		remove_over(outbox, UINT32_MAX, false);
}

static void mark_all(struct triad_alert_outbox *outbox)
{
	for (uint32_t i = 0; i < outbox->n; i++) {
		outbox->entries[i]->is_in_flight = false;
		mark_entry(outbox->entries[i]);
	}
}

void triad_alert_outbox_begin(struct triad_alert_outbox *outbox, uint64_t repeat_us)
{
	outbox->is_on = true;
	outbox->repeat_us = repeat_us;
	outbox->next_us = 0;
	outbox->retry_us = 0;
	outbox->n_failed = 0;
	mark_all(outbox);
}

void triad_alert_outbox_stop(struct triad_alert_outbox *outbox)
{
	outbox->is_on = false;
	remove_over(outbox, UINT32_MAX, false);
}

size_t triad_alert_outbox_batch(struct triad_alert_outbox *outbox, uint64_t now_us,
	struct triad_outgoing_alert *batch, size_t room)
{
	size_t n = 0;

	if (now_us < triad_alert_outbox_due_us(outbox))
		return 0;
	for (uint32_t i = 0; i < outbox->n && n < room; i++) {
		struct entry *entry = outbox->entries[i];

		if (!entry->is_due && now_us < entry->next_us)
			continue;
		entry->is_in_flight = true;
		entry->has_changed = false;
		batch[n++] = entry->outgoing;
	}
	return n;
}

/* An entry on its way was taken or refused. */
static void settle_entry(
	struct triad_alert_outbox *outbox, struct entry *entry, uint64_t now_us)
{
	entry->is_in_flight = false;
	entry->is_due = entry->has_changed;
	entry->next_us = now_us + outbox->repeat_us;
}

static void note_failure(struct triad_alert_outbox *outbox, uint64_t now_us)
{
	outbox->counts.n_failures++;
	outbox->n_failed += outbox->n_failed < UINT32_MAX;
	outbox->retry_us = now_us +
		triad_backoff(outbox->n_failed, FIRST_BACKOFF_US, MAX_BACKOFF_US);
	/* The receiver may come back without what it knew. */
	mark_all(outbox);
}

void triad_alert_outbox_done(struct triad_alert_outbox *outbox,
	enum triad_outbox_outcome outcome, uint64_t now_us)
{
	uint32_t n = 0;

	if (!outbox->is_on)
		return;
	if (outcome == TRIAD_OUTBOX_FAILED) {
		note_failure(outbox, now_us);
		return;
	}
	outbox->n_failed = 0;
	outbox->next_us = now_us + outbox->repeat_us;
	for (uint32_t i = 0; i < outbox->n;) {
		struct entry *entry = outbox->entries[i];

		if (!entry->is_in_flight) {
			i++;
			continue;
		}
		n++;
		settle_entry(outbox, entry, now_us);
		if (is_alert_over(entry) && !entry->has_changed)
			remove_entry(outbox, i);
		else
			i++;
	}
	if (outcome == TRIAD_OUTBOX_ACCEPTED)
		outbox->counts.n_taken += n;
	else
		outbox->counts.n_refused += n;
}

uint64_t triad_alert_outbox_due_us(const struct triad_alert_outbox *outbox)
{
	uint64_t due_us = outbox->next_us;

	if (!outbox->is_on)
		return UINT64_MAX;
	for (uint32_t i = 0; i < outbox->n; i++) {
		const struct entry *entry = outbox->entries[i];
		uint64_t at_us = entry->is_due ? 0 : entry->next_us;

		due_us = triad_clock_earlier(due_us, at_us);
	}
	return due_us > outbox->retry_us ? due_us : outbox->retry_us;
}

struct triad_alert_outbox_status triad_alert_outbox_status(
	const struct triad_alert_outbox *outbox)
{
	struct triad_alert_outbox_status status = outbox->counts;

	status.n_active = outbox->n - outbox->n_over;
	for (uint32_t i = 0; i < outbox->n; i++)
		status.n_waiting += outbox->entries[i]->is_due;
	return status;
}

enum triad_outbox_outcome triad_outbox_outcome(long http_status)
{
	if (http_status >= 200 && http_status < 300)
		return TRIAD_OUTBOX_ACCEPTED;
	/* A receiver that does not understand a batch never will; Alertmanager has
	 * taken the other alerts in it. */
	if (http_status == 400 || http_status == 413 || http_status == 422)
		return TRIAD_OUTBOX_REFUSED;
	return TRIAD_OUTBOX_FAILED;
}
