/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends alerts to the receiver of [alerts] webhook: fetches what is due (service/webhook.h
 * keeps it, in the process that finds them), posts it, and says what came of it.
 *
 * Model: a thread of its own, because a receiver, or the look-up of its name, may hang.
 *
 * Thread-safety: one thread calls new, configure and free. */
#ifndef TRIAD_SERVE_ALERTS_H
#define TRIAD_SERVE_ALERTS_H

#include "serve/link.h"
#include "triad/conf.h"

struct triad_alert_sender;

/* 'link' outlives it.  NULL when memory or threads are short. */
struct triad_alert_sender *triad_alert_sender_new(struct triad_link_to *link);

void triad_alert_sender_configure(
	struct triad_alert_sender *sender, const struct triad_conf *conf);

/* After link->is_ending was set.  Accepts NULL. */
void triad_alert_sender_free(struct triad_alert_sender *sender);

#endif
