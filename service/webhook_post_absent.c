/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Replaces webhook_post.c in a build without libcurl. */
#include <stdio.h>
#include <stdlib.h>

#include "service/webhook_post.h"

struct triad_webhook_post {
	char nothing;
};

struct triad_webhook_post *triad_webhook_post_new(void)
{
	return calloc(1, sizeof(struct triad_webhook_post));
}

void triad_webhook_post_free(struct triad_webhook_post *post)
{
	free(post);
}

struct triad_webhook_answer triad_webhook_post_send(struct triad_webhook_post *post,
	const struct triad_webhook_target *target, const char *body, size_t size)
{
	struct triad_webhook_answer answer = {.trouble = 1};

	(void)post;
	(void)target;
	(void)body;
	(void)size;
	snprintf(answer.reason, sizeof(answer.reason),
		"Triad was built without libcurl: install libcurl4-gnutls-dev and build "
		"again");
	return answer;
}

void triad_webhook_post_cancel(struct triad_webhook_post *post)
{
	(void)post;
}
