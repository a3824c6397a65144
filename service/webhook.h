/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends alerts to Alertmanager, or to a receiver with its API v2: [alerts] webhook.
 *
 * The PerfManager's thread puts alerts into a list (perfmgr/formats/alert_outbox.h),
 * under a lock that is held while one alert is copied.  A thread of its own, started
 * with the first URL, sends what is due (webhook_post.h); no other thread waits for it.
 *
 * The thread sends only while 'may_report' allows it: alerts of an SM that became a
 * standby may be over.  The receiver drops them after its timeout, unless another SM
 * sends them.
 *
 * Each reason why the URL can't be reached is logged once, until it is reached again.
 *
 * Thread-safety: any thread, for all but new, sink, stop and free.  Memory: that of
 * alert_outbox.h, and 600 kB with the thread. */
#ifndef TRIAD_SERVICE_WEBHOOK_H
#define TRIAD_SERVICE_WEBHOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/formats/alert_outbox.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_webhook;

struct triad_webhook_status {
	struct triad_alert_outbox_status reported;
	bool is_on;      /* a URL is configured */
	bool is_failing; /* the last attempt failed */
	bool is_idle;    /* on, but this process must not send */
	char url[TRIAD_CONF_TEXT_SIZE];
	char reason[384];  /* why the last attempt failed; "": it did not */
	uint64_t taken_us; /* last success, monotonic; 0: never */
};

/* 'may_report' returns whether the alerts of this process are of the present; the
 * thread calls it, until triad_webhook_stop().  NULL when memory is short. */
struct triad_webhook *triad_webhook_new(
	bool (*may_report)(void *context), void *context, struct triad_log *log);

/* A sink that lists alerts and passes them on to 'next', which is copied. */
struct triad_alerts_sink triad_webhook_sink(
	struct triad_webhook *webhook, const struct triad_alerts_sink *next);

/* Starts the thread with the first URL; logs when it can't. */
void triad_webhook_configure(
	struct triad_webhook *webhook, const struct triad_conf *conf);

struct triad_webhook_status triad_webhook_status(struct triad_webhook *webhook);

/* Ends the thread, in a second at most.  Returns false when the thread is stuck, in a
 * look-up of a name or at a disk: then 'webhook' and its log must stay.
 * Accepts NULL. */
bool triad_webhook_stop(struct triad_webhook *webhook);

/* After triad_webhook_stop() returned true.  Accepts NULL. */
void triad_webhook_free(struct triad_webhook *webhook);

#endif
