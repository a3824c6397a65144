/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is to be sent to Alertmanager, or to a receiver with its API v2: [alerts] webhook.
 *
 * The PerfManager's thread puts alerts into a list (perfmgr/formats/alert_outbox.h),
 * under a lock that is held while one alert is copied.  Who sends them (triadd) fetches what
 * is due, and says what came of it; so nothing here waits for a receiver.
 *
 *     fetch      a request's body: what is due, or nothing
 *     answered   what came of the body fetched last; until then, it is on its way
 *
 * Something is fetched only while 'may_report' allows it: alerts of an SM that became a
 * standby may be over.  The receiver drops them after its timeout, unless another SM
 * sends them.
 *
 * Each reason why the URL can't be reached is logged once, until it is reached again.
 *
 * Thread-safety: any thread, for all but new, sink and free.  Memory: that of
 * alert_outbox.h, and 600 kB during a fetch. */
#ifndef TRIAD_SERVICE_WEBHOOK_H
#define TRIAD_SERVICE_WEBHOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "perfmgr/formats/alert_outbox.h"
#include "triad/conf.h"
#include "triad/log.h"
#include "triad/output.h"

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

/* Where alerts are sent: the keys of [alerts]. */
struct triad_webhook_target {
	char url[TRIAD_CONF_TEXT_SIZE];
	char ca[TRIAD_CONF_PATH_SIZE];         /* "": the system's */
	char token_file[TRIAD_CONF_PATH_SIZE]; /* "": no token */
};

/* Octets behind the texts become 0, so that memcmp() can compare targets. */
static inline void triad_webhook_target_take(
	struct triad_webhook_target *target, const struct triad_conf *conf)
{
	*target = (struct triad_webhook_target){.url = ""};
	snprintf(target->url, sizeof(target->url), "%s", conf->alerts.webhook);
	snprintf(target->ca, sizeof(target->ca), "%s", conf->alerts.webhook_ca);
	snprintf(target->token_file, sizeof(target->token_file), "%s",
		conf->alerts.webhook_token_file);
}

/* What came of a request. */
struct triad_webhook_answer {
	long status; /* of HTTP; 0: there was no answer */
	/* A number for the kind of trouble, equal for equal reasons; 0: none. */
	int trouble;
	char reason[384]; /* the trouble in words, perhaps with what to do; "": none */
};

/* 'may_report' returns whether the alerts of this process are of the present.  NULL when
 * memory is short. */
struct triad_webhook *triad_webhook_new(
	bool (*may_report)(void *context), void *context, struct triad_log *log);

/* A sink that lists alerts and passes them on to 'next', which is copied. */
struct triad_alerts_sink triad_webhook_sink(
	struct triad_webhook *webhook, const struct triad_alerts_sink *next);

void triad_webhook_configure(
	struct triad_webhook *webhook, const struct triad_conf *conf);

struct triad_webhook_status triad_webhook_status(struct triad_webhook *webhook);

/* Whether there is something to fetch. */
bool triad_webhook_is_due(struct triad_webhook *webhook);

/* Writes the body of a request if one is due.  Returns false when memory is short.  What
 * was fetched before and not answered counts as failed. */
bool triad_webhook_fetch(struct triad_webhook *webhook, struct triad_output *output);

void triad_webhook_answered(
	struct triad_webhook *webhook, const struct triad_webhook_answer *answer);

/* Accepts NULL. */
void triad_webhook_free(struct triad_webhook *webhook);

#endif
