/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The web listener's struct, for web.c (life) and answer.c (answers) only. */
#ifndef TRIAD_SERVICE_WEB_WEB_PARTS_H
#define TRIAD_SERVICE_WEB_WEB_PARTS_H

#include <pthread.h>

#include "service/web/web.h"

#define TRIAD_WEB_API "/api/"

struct triad_web {
	struct triad_web_source source;
	struct triad_log *log;
	struct triad_pool *pool;
	struct triad_http *http;
	struct triad_http_handler handler;

	pthread_mutex_t lock; /* of what follows */
	char names[TRIAD_CONF_TEXT_SIZE];
	unsigned n_streams, max_streams;
};

/* The answers; 'context' is the web. */
extern const struct triad_http_handler triad_web_handler;

#endif
