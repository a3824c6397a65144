/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends a body to a URL by HTTP or HTTPS and waits for the answer, by libcurl.
 *
 * Ignores the process's environment, and so uses no proxy.  Follows no redirects, and
 * always verifies a server's certificate, by the CA of the target or those of the
 * system.  Keeps one connection open between two calls.
 *
 * Thread-safety: one thread, but for triad_webhook_post_cancel(). */
#ifndef TRIAD_SERVICE_WEBHOOK_POST_H
#define TRIAD_SERVICE_WEBHOOK_POST_H

#include <stddef.h>

#include "service/webhook.h"
#include "triad/conf.h"

#define TRIAD_WEBHOOK_CONNECT_MS 5000
#define TRIAD_WEBHOOK_ANSWER_MS 15000 /* all in all */

struct triad_webhook_post;

/* NULL when memory is short. */
struct triad_webhook_post *triad_webhook_post_new(void);
/* Accepts NULL. */
void triad_webhook_post_free(struct triad_webhook_post *post);

/* Sends 'size' octets of JSON.  Takes TRIAD_WEBHOOK_ANSWER_MS at most, unless looking
 * up the host's name hangs for longer.  Reads the files each time, so that a token can
 * be replaced. */
struct triad_webhook_answer triad_webhook_post_send(struct triad_webhook_post *post,
	const struct triad_webhook_target *target, const char *body, size_t size);

/* Breaks off the present and each later call at once.  Any thread. */
void triad_webhook_post_cancel(struct triad_webhook_post *post);

#endif
