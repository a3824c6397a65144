/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/alerts.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/webhook_post.h"
#include "triad/clock.h"
#include "triad/thread.h"

/* A batch of the largest alerts has under 700 kB. */
#define BODY_SIZE (1u << 20)
#define AGAIN_US TRIAD_US_PER_S

struct triad_alert_sender {
	struct triad_link_to *link;
	struct triad_webhook_post *post;
	pthread_t thread;
	bool has_thread;
	/* Of the thread alone: */
	char body[BODY_SIZE];
	size_t used;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct triad_webhook_target target;
};

/* A sink for the body. */
static int take_body(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	struct triad_alert_sender *sender = context;

	if (type != TRIAD_FRAME_OUTPUT)
		return 0;
	if (size > sizeof(sender->body) - sender->used)
		return ECANCELED;
	memcpy(sender->body + sender->used, piece, size);
	sender->used += size;
	return 0;
}

static void tell(
	struct triad_alert_sender *sender, const struct triad_webhook_answer *answer)
{
	char status[24], trouble[16];
	const char *const words[] = {"webhook", status, trouble, answer->reason};

	snprintf(status, sizeof(status), "%ld", answer->status);
	snprintf(trouble, sizeof(trouble), "%d", answer->trouble);
	/* If it is not heard, the alerts count as failed, and are given again. */
	(void)triad_link_ask(sender->link, TRIAD_LINK_S, 4, words, NULL);
}

/* Fetches and sends once.  Returns whether it can be done again at once. */
static bool send_once(
	struct triad_alert_sender *sender, const struct triad_webhook_target *target)
{
	static const char *const words[] = {"webhook"};
	const struct triad_client_sink sink = {.take = take_body, .context = sender};
	struct triad_webhook_answer answer;

	sender->used = 0;
	if (triad_link_ask(sender->link, TRIAD_LINK_S, 1, words, &sink) != 0)
		return false;
	if (!sender->used)
		return true;
	answer = triad_webhook_post_send(
		sender->post, target, sender->body, sender->used);
	if (!atomic_load(&sender->link->is_ending))
		tell(sender, &answer);
	return true;
}

/* Waits for a target, or a moment; false when it ends. */
static bool wait_for_target(struct triad_alert_sender *sender, bool is_again,
	struct triad_webhook_target *target)
{
	uint64_t until_us = triad_clock_now_us() + (is_again ? 0 : AGAIN_US);

	pthread_mutex_lock(&sender->lock);
	while (!atomic_load(&sender->link->is_ending) &&
		(!*sender->target.url || triad_clock_now_us() < until_us))
		(void)triad_condition_wait(&sender->changed, &sender->lock,
			triad_clock_now_us() + AGAIN_US / 5);
	*target = sender->target;
	pthread_mutex_unlock(&sender->lock);
	return !atomic_load(&sender->link->is_ending);
}

static void *send_alerts(void *context)
{
	struct triad_alert_sender *sender = context;
	struct triad_webhook_target target;
	bool is_again = true;

	while (wait_for_target(sender, is_again, &target))
		is_again = send_once(sender, &target);
	return NULL;
}

/* --- life --- */

struct triad_alert_sender *triad_alert_sender_new(struct triad_link_to *link)
{
	struct triad_alert_sender *sender = calloc(1, sizeof(*sender));

	if (!sender)
		return NULL;
	sender->link = link;
	pthread_mutex_init(&sender->lock, NULL);
	triad_condition_init(&sender->changed);
	sender->post = triad_webhook_post_new();
	if (sender->post)
		sender->has_thread = !triad_thread_start(
			&sender->thread, "triadd-alerts", send_alerts, sender);
	if (sender->has_thread)
		return sender;
	triad_alert_sender_free(sender);
	return NULL;
}

void triad_alert_sender_configure(
	struct triad_alert_sender *sender, const struct triad_conf *conf)
{
	pthread_mutex_lock(&sender->lock);
	triad_webhook_target_take(&sender->target, conf);
	pthread_cond_signal(&sender->changed);
	pthread_mutex_unlock(&sender->lock);
}

void triad_alert_sender_free(struct triad_alert_sender *sender)
{
	if (!sender)
		return;
	if (sender->post)
		triad_webhook_post_cancel(sender->post);
	if (sender->has_thread)
		pthread_join(sender->thread, NULL);
	triad_webhook_post_free(sender->post);
	pthread_cond_destroy(&sender->changed);
	pthread_mutex_destroy(&sender->lock);
	free(sender);
}
