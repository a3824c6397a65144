/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The alerts that a receiver, such as Alertmanager, must still get.
 *
 * Model: the receiver forgets an alert that is not sent again and again, and may lose
 * all when it restarts.  So this is no queue of events but a list of alerts.  Each
 * active alert is sent at once and then every 'repeat_us'; an alert's end is sent until
 * the receiver has taken it.  After a failure everything is sent again, so the receiver
 * is right once it answers, whatever it missed or lost.
 *
 *     triad_alert_outbox_add(outbox, change, alert, now, offset)   from the sink
 *     n = triad_alert_outbox_batch(outbox, now, batch, room)      what is due
 *     triad_alert_outbox_done(outbox, outcome, now)               its result
 *     triad_alert_outbox_due_us(outbox)                           when to call again
 *
 * The receiver identifies alerts by their labels.  So labels are made of values (kind,
 * severity, ends, when it began) as they were when the alert was raised.  Only when the
 * severity gets worse, the alert is reported as over, and a new one begins.
 *
 * A silenced alert is over for the receiver; when its silence ends, it begins anew.
 *
 * When no alert is due, an empty batch is due every 'repeat_us': it shows that the
 * receiver can't be reached before there is an alert.
 *
 * After a failure nothing is sent for 1 s; this doubles with each further failure, up
 * to 60 s.
 *
 * Invariants: at most TRIAD_ALERT_OUTBOX_MAX alerts; a new one replaces the oldest that
 * is over.  Alerts without room are counted.
 * Thread-safety: none.
 * Memory: some 900 octets for each alert; checked. */
#ifndef TRIAD_PERFMGR_FORMATS_ALERT_OUTBOX_H
#define TRIAD_PERFMGR_FORMATS_ALERT_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/watch/alert_text.h"
#include "perfmgr/watch/alerts.h"

#define TRIAD_ALERT_OUTBOX_MAX 4096u

struct triad_outgoing_alert {
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

enum triad_outbox_outcome {
	TRIAD_OUTBOX_ACCEPTED,
	TRIAD_OUTBOX_REFUSED, /* sending the same again is useless */
	TRIAD_OUTBOX_FAILED,
};

struct triad_alert_outbox_status {
	uint32_t n_active, n_waiting; /* active ones; those due at once */
	uint64_t n_taken;             /* alerts taken, each time */
	uint64_t n_refused;           /* alerts refused, each time */
	uint64_t n_failures;          /* batches that failed */
	uint64_t n_dropped;           /* alerts lost for want of room or memory */
};

struct triad_alert_outbox;

/* NULL when memory is short.  There is no receiver at first. */
struct triad_alert_outbox *triad_alert_outbox_new(void);
/* Accepts NULL. */
void triad_alert_outbox_free(struct triad_alert_outbox *outbox);

/* Starts sending, everything at once.  Also for another receiver: the batch on its way
 * to the last one does not count. */
void triad_alert_outbox_begin(struct triad_alert_outbox *outbox, uint64_t repeat_us);

/* Stops sending: forgets ended alerts, keeps active ones. */
void triad_alert_outbox_stop(struct triad_alert_outbox *outbox);

/* As triad_alerts_sink.take(); 'wall_offset_us' is the wall clock minus the monotonic
 * one. */
void triad_alert_outbox_add(struct triad_alert_outbox *outbox,
	enum triad_alert_change change, const struct triad_alert *alert,
	uint64_t now_us, int64_t wall_offset_us);

/* Copies up to 'room' alerts that are due, in the order in which they were raised.
 * They are on their way until triad_alert_outbox_done(). */
size_t triad_alert_outbox_batch(struct triad_alert_outbox *outbox, uint64_t now_us,
	struct triad_outgoing_alert *batch, size_t room);

/* Passes the result of the last batch, which may have been empty. */
void triad_alert_outbox_done(struct triad_alert_outbox *outbox,
	enum triad_outbox_outcome outcome, uint64_t now_us);

/* When a batch is due; UINT64_MAX without a receiver. */
uint64_t triad_alert_outbox_due_us(const struct triad_alert_outbox *outbox);

struct triad_alert_outbox_status triad_alert_outbox_status(
	const struct triad_alert_outbox *outbox);

/* What an HTTP status means for a batch. */
enum triad_outbox_outcome triad_outbox_outcome(long http_status);

#endif
