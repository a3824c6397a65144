/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Alerts sent to Alertmanager, or to what speaks its API v2: [alerts] webhook.
 *
 * The PerfManager's thread leaves alerts in a list (perfmgr/formats/told_alerts.h),
 * which takes a lock for the time of copying one alert.  A thread of its own, made with the
 * first URL, sends what is due (webhook_post.h); nobody waits for it.
 *
 * Alerts are told while this process reads counters, and kept to itself otherwise: what
 * an SM that became a standby knew may be over.  The receiver forgets them by its
 * timeout, unless another SM tells of them.
 *
 * Each reason why the URL can't be reached is logged once, until it was reached again.
 *
 * Thread-safety: any thread, for all but new, sink, stop and free.  Memory: that of
 * told_alerts.h, and 600 kB with the thread. */
#ifndef TRIAD_SERVICE_WEBHOOK_H
#define TRIAD_SERVICE_WEBHOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/formats/told_alerts.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_webhook;

struct triad_webhook_status {
	struct triad_told_alerts_status told;
	bool is_on;      /* a URL is configured */
	bool is_failing; /* the last attempt failed */
	bool is_idle;    /* counters are not read here, so nothing is told */
	char url[TRIAD_CONF_TEXT_SIZE];
	char reason[384]; /* why it fails; "": it does not */
	uint64_t
		taken_us; /* when the receiver took something last, monotonic; 0: never */
};

/* 'may_tell' says whether this process reads counters; it is called by the thread,
 * until triad_webhook_stop().  NULL when memory is short. */
struct triad_webhook *triad_webhook_new(
	bool (*may_tell)(void *context), void *context, struct triad_log *log);

/* The sink for alerts: notes them and passes them on to 'next', which is copied. */
struct triad_alerts_sink triad_webhook_sink(
	struct triad_webhook *webhook, const struct triad_alerts_sink *next);

/* Starts the thread when there is a URL for the first time; when it can't, that is
 * logged. */
void triad_webhook_configure(
	struct triad_webhook *webhook, const struct triad_conf *conf);

struct triad_webhook_status triad_webhook_status(struct triad_webhook *webhook);

/* Ends the thread, in a second at most, whatever it waits for.  Returns false when it
 * is stuck, in a look-up of a name or on a disk: then 'webhook' and its log must stay.
 * Accepts NULL. */
bool triad_webhook_stop(struct triad_webhook *webhook);

/* After triad_webhook_stop() returned true.  Accepts NULL. */
void triad_webhook_free(struct triad_webhook *webhook);

#endif
