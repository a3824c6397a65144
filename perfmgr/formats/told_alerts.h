/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a receiver of alerts, such as Alertmanager, is still to be told.
 *
 * Model: the receiver forgets an alert that it does not hear of again and again, and
 * may lose all when it restarts.  So this is no queue of events but a list of alerts
 * with what is to be told of each: every active one at once and then each 'repeat_us',
 * the end of one until the receiver has taken it.  After a failure all is told again,
 * so whatever the receiver missed or lost, it is right once it answers.
 *
 *     triad_told_alerts_take(told, change, alert, wall_offset)   from the alerts' sink
 *     n = triad_told_alerts_batch(told, now, batch, room)        what is due
 *     triad_told_alerts_done(told, outcome, now)                 what became of it
 *     triad_told_alerts_due_us(told)                             when to come again
 *
 * A receiver takes alerts for the same when their labels are.  What labels are made of
 * (kind, severity, ends, when it began) stays as it was when the alert was raised; only
 * when the severity gets worse, the receiver is told that this alert is over, and of a
 * new one.
 *
 * A silenced alert is over for the receiver; one that is not silenced any more begins
 * anew.
 *
 * With nothing to tell an empty batch is due each 'repeat_us', so that a receiver that
 * can't be reached is noticed before there is an alert.
 *
 * Failures are followed by a pause of 1 s, which doubles up to 60 s.
 *
 * Invariants: at most TRIAD_TOLD_ALERTS_MAX alerts; the oldest that is over gives way
 * to a new one.  What there was no room for is counted.
 * Thread-safety: none.  Memory: some 900 octets for each alert; checked. */
#ifndef TRIAD_PERFMGR_FORMATS_TOLD_ALERTS_H
#define TRIAD_PERFMGR_FORMATS_TOLD_ALERTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/watch/alert_text.h"
#include "perfmgr/watch/alerts.h"

#define TRIAD_TOLD_ALERTS_MAX 4096u

struct triad_told_alert {
	/* As it was raised: */
	enum triad_alert_kind kind;
	enum triad_severity severity;
	uint8_t cause; /* enum triad_alert_cause */
	uint8_t n_ends;
	struct triad_alert_end ends[2];
	uint64_t began_wall_us;
	/* As it is: */
	uint64_t ended_wall_us; /* 0: it is active */
	struct triad_alert alert;
};

enum triad_told_outcome {
	TRIAD_TOLD_TAKEN,
	TRIAD_TOLD_REFUSED, /* it is no use to send the same again */
	TRIAD_TOLD_FAILED,
};

struct triad_told_alerts_status {
	uint32_t n_active, n_waiting; /* known; to be told at the next chance */
	uint64_t n_taken;             /* alerts, each time that they were taken */
	uint64_t n_refused;           /* the same */
	uint64_t n_failures;          /* batches that failed */
	uint64_t n_dropped;           /* alerts that there was no room or memory for */
};

struct triad_told_alerts;

/* NULL when memory is short.  Nobody is to be told at first. */
struct triad_told_alerts *triad_told_alerts_new(void);
/* Accepts NULL. */
void triad_told_alerts_free(struct triad_told_alerts *told);

/* Somebody is to be told from now on: everything, at once.  For another receiver, too;
 * what is on its way to the last one does not count. */
void triad_told_alerts_begin(struct triad_told_alerts *told, uint64_t repeat_us);

/* Nobody is to be told: what is over is forgotten, what is active is remembered. */
void triad_told_alerts_pause(struct triad_told_alerts *told);

/* As triad_alerts_sink.take(); 'wall_offset_us' is the wall clock minus the monotonic
 * one. */
void triad_told_alerts_take(struct triad_told_alerts *told,
	enum triad_alert_change change, const struct triad_alert *alert,
	uint64_t now_us, int64_t wall_offset_us);

/* Copies up to 'room' alerts that are due, in the order in which they were raised.
 * They are on their way until triad_told_alerts_done(). */
size_t triad_told_alerts_batch(struct triad_told_alerts *told, uint64_t now_us,
	struct triad_told_alert *batch, size_t room);

/* What became of the last batch, which may have been empty. */
void triad_told_alerts_done(struct triad_told_alerts *told,
	enum triad_told_outcome outcome, uint64_t now_us);

/* When a batch is due; UINT64_MAX while nobody is to be told. */
uint64_t triad_told_alerts_due_us(const struct triad_told_alerts *told);

struct triad_told_alerts_status triad_told_alerts_status(
	const struct triad_told_alerts *told);

/* What an HTTP status says of a batch. */
enum triad_told_outcome triad_told_outcome(long http_status);

#endif
