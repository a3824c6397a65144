/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/webhook.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfmgr/formats/alertmanager.h"
#include "triad/clock.h"
#include "triad/lists.h"

#define BATCH 64u
#define BODY_SIZE (2 + BATCH * TRIAD_ALERTMANAGER_ALERT_SIZE)
#define MAX_LOGGED 16u
/* How often an active alert is sent again: as Prometheus does, and several times within
 * Alertmanager's resolve_timeout of 5 minutes. */
#define REPEAT_US (60 * TRIAD_US_PER_S)

struct triad_webhook {
	struct triad_log *log;
	bool (*may_report)(void *context);
	void *context;
	struct triad_alerts_sink next_sink;

	pthread_mutex_t lock; /* of what follows */
	struct triad_alert_outbox *reported;
	struct triad_webhook_target target;
	struct triad_alertmanager_sender identity;
	bool is_on_way;    /* what was fetched, to the present target */
	bool is_reporting; /* may_report() was true */
	struct triad_webhook_status status;
	/* Troubles that were logged since the last success. */
	int logged[MAX_LOGGED];
	unsigned n_logged;
};

/* --- life --- */

struct triad_webhook *triad_webhook_new(
	bool (*may_report)(void *context), void *context, struct triad_log *log)
{
	struct triad_webhook *webhook = calloc(1, sizeof(*webhook));

	if (!webhook)
		return NULL;
	webhook->reported = triad_alert_outbox_new();
	if (!webhook->reported) {
		free(webhook);
		return NULL;
	}
	webhook->log = log;
	webhook->may_report = may_report;
	webhook->context = context;
	pthread_mutex_init(&webhook->lock, NULL);
	return webhook;
}

void triad_webhook_free(struct triad_webhook *webhook)
{
	if (!webhook)
		return;
	triad_alert_outbox_free(webhook->reported);
	pthread_mutex_destroy(&webhook->lock);
	free(webhook);
}

/* --- the sink --- */

static void take_change(
	void *context, enum triad_alert_change change, const struct triad_alert *alert)
{
	struct triad_webhook *webhook = context;
	uint64_t now_us = triad_clock_now_us();
	int64_t wall_offset_us = triad_clock_wall_offset_us();

	pthread_mutex_lock(&webhook->lock);
	triad_alert_outbox_add(
		webhook->reported, change, alert, now_us, wall_offset_us);
	pthread_mutex_unlock(&webhook->lock);
	webhook->next_sink.take(webhook->next_sink.context, change, alert);
}

static void note_done(void *context)
{
	struct triad_webhook *webhook = context;

	if (webhook->next_sink.done)
		webhook->next_sink.done(webhook->next_sink.context);
}

struct triad_alerts_sink triad_webhook_sink(
	struct triad_webhook *webhook, const struct triad_alerts_sink *next)
{
	webhook->next_sink = *next;
	return (struct triad_alerts_sink){
		.context = webhook, .take = take_change, .done = note_done};
}

/* --- configuration --- */

/* Describes this process for the receiver, with a link to /metrics if that is on. */
static struct triad_alertmanager_sender make_identity(const struct triad_conf *conf)
{
	struct triad_alertmanager_sender identity = {0};
	struct triad_address address;
	char reason[TRIAD_DIAG_TEXT_SIZE];

	if (gethostname(identity.host, sizeof(identity.host) - 1))
		identity.host[0] = '\0';
	if (identity.host[0] && conf->prometheus.listen[0] &&
		triad_address_parse(
			conf->prometheus.listen, 0, &address, reason, sizeof(reason)) &&
		address.port)
		snprintf(identity.url, sizeof(identity.url), "%s://%s:%u/metrics",
			conf->prometheus.tls_certificate[0] ? "https" : "http",
			identity.host, address.port);
	return identity;
}

static void take_target(
	struct triad_webhook *webhook, const struct triad_webhook_target *target)
{
	bool is_other = strcmp(target->url, webhook->target.url);

	webhook->target = *target;
	webhook->is_on_way = false;
	webhook->n_logged = 0;
	webhook->status.is_on = target->url[0];
	memcpy(webhook->status.url, target->url, sizeof(target->url));
	webhook->status.is_failing = false;
	webhook->status.reason[0] = '\0';
	if (is_other) {
		/* A new receiver need not know ended alerts; the next fetch begins
		 * again. */
		webhook->is_reporting = false;
		triad_alert_outbox_stop(webhook->reported);
	} else if (webhook->is_reporting) {
		triad_alert_outbox_begin(webhook->reported, REPEAT_US);
	}
}

void triad_webhook_configure(
	struct triad_webhook *webhook, const struct triad_conf *conf)
{
	struct triad_webhook_target target;
	struct triad_alertmanager_sender identity = make_identity(conf);
	bool is_new;

	triad_webhook_target_take(&target, conf);
	pthread_mutex_lock(&webhook->lock);
	is_new = memcmp(&target, &webhook->target, sizeof(target)) != 0;
	webhook->identity = identity;
	/* After a failure a reload tries at once, even with the same target: files that
	 * it names may have changed. */
	if (is_new || webhook->status.is_failing)
		take_target(webhook, &target);
	pthread_mutex_unlock(&webhook->lock);
}

struct triad_webhook_status triad_webhook_status(struct triad_webhook *webhook)
{
	bool may_report = webhook->may_report(webhook->context);
	struct triad_webhook_status status;

	pthread_mutex_lock(&webhook->lock);
	status = webhook->status;
	status.reported = triad_alert_outbox_status(webhook->reported);
	status.is_idle = status.is_on && !may_report;
	/* Nothing is sent, so nothing fails. */
	status.is_failing &= may_report;
	pthread_mutex_unlock(&webhook->lock);
	return status;
}

/* --- sending --- */

/* With the lock.  Returns whether this trouble has not been logged yet. */
static bool note_trouble(struct triad_webhook *webhook, int trouble)
{
	for (unsigned i = 0; i < webhook->n_logged; i++)
		if (webhook->logged[i] == trouble)
			return false;
	if (webhook->n_logged < MAX_LOGGED)
		webhook->logged[webhook->n_logged++] = trouble;
	return true;
}

/* With the lock, which is released meanwhile: logging may take long. */
static void report_answer(
	struct triad_webhook *webhook, const struct triad_webhook_answer *answer)
{
	bool was_failing = webhook->status.is_failing;
	bool is_news = answer->trouble && note_trouble(webhook, answer->trouble);
	char url[TRIAD_CONF_TEXT_SIZE];

	memcpy(url, webhook->target.url, sizeof(url));
	webhook->status.is_failing = answer->trouble;
	snprintf(webhook->status.reason, sizeof(webhook->status.reason), "%s",
		answer->reason);
	if (!answer->trouble) {
		webhook->status.taken_us = triad_clock_now_us();
		webhook->n_logged = 0;
	}
	pthread_mutex_unlock(&webhook->lock);
	if (is_news)
		triad_log_write(webhook->log, TRIAD_LOG_ERROR,
			"alerts.webhook: %s: %s; alerts are in the log and in 'triadctl "
			"alerts', and are sent when it takes them again",
			url, answer->reason);
	else if (was_failing && !answer->trouble)
		triad_log_write(webhook->log, TRIAD_LOG_INFO,
			"alerts.webhook: %s takes alerts again", url);
	pthread_mutex_lock(&webhook->lock);
}

/* With the lock: begins or stops sending. */
static void set_reporting(struct triad_webhook *webhook, bool may_report)
{
	if (may_report && !webhook->is_reporting && webhook->status.is_on)
		triad_alert_outbox_begin(webhook->reported, REPEAT_US);
	else if (!may_report && webhook->is_reporting)
		triad_alert_outbox_stop(webhook->reported);
	webhook->is_reporting = may_report && webhook->status.is_on;
}

bool triad_webhook_is_due(struct triad_webhook *webhook)
{
	bool may_report = webhook->may_report(webhook->context), is_due;

	pthread_mutex_lock(&webhook->lock);
	set_reporting(webhook, may_report);
	is_due = triad_alert_outbox_due_us(webhook->reported) <= triad_clock_now_us();
	pthread_mutex_unlock(&webhook->lock);
	return is_due;
}

struct batch {
	struct triad_outgoing_alert alerts[BATCH];
	char body[BODY_SIZE];
};

/* Takes what is due; false: nothing is. */
static bool take_batch(struct triad_webhook *webhook, struct batch *batch, size_t *n,
	struct triad_alertmanager_sender *identity)
{
	bool may_report = webhook->may_report(webhook->context), is_due;
	uint64_t now_us = triad_clock_now_us();

	pthread_mutex_lock(&webhook->lock);
	if (webhook->is_on_way)
		triad_alert_outbox_done(webhook->reported, TRIAD_OUTBOX_FAILED, now_us);
	set_reporting(webhook, may_report);
	is_due = triad_alert_outbox_due_us(webhook->reported) <= now_us;
	if (is_due)
		*n = triad_alert_outbox_batch(
			webhook->reported, now_us, batch->alerts, BATCH);
	webhook->is_on_way = is_due;
	*identity = webhook->identity;
	pthread_mutex_unlock(&webhook->lock);
	return is_due;
}

bool triad_webhook_fetch(struct triad_webhook *webhook, struct triad_output *output)
{
	struct batch *batch = malloc(sizeof(*batch));
	struct triad_alertmanager_sender identity;
	size_t n = 0;

	if (!batch)
		return false;
	if (take_batch(webhook, batch, &n, &identity))
		triad_output_put(output, batch->body,
			triad_alertmanager_body(
				batch->alerts, n, &identity, batch->body));
	free(batch);
	return true;
}

void triad_webhook_answered(
	struct triad_webhook *webhook, const struct triad_webhook_answer *answer)
{
	pthread_mutex_lock(&webhook->lock);
	/* Ignore the result of an old target. */
	if (webhook->is_on_way) {
		webhook->is_on_way = false;
		triad_alert_outbox_done(webhook->reported,
			triad_outbox_outcome(answer->status), triad_clock_now_us());
		report_answer(webhook, answer);
	}
	pthread_mutex_unlock(&webhook->lock);
}
