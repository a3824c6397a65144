/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/web/web.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "service/web/web_parts.h"
#include "triad/thread.h"

/* Only one in so many clients may have a stream: a stream keeps its place for
 * minutes. */
#define CLIENTS_PER_STREAM 4

/* --- life --- */

static void wake_server(void *context)
{
	struct triad_web *web = context;

	triad_http_wake(web->http);
}

struct triad_web *triad_web_new(
	const struct triad_web_source *source, struct triad_log *log)
{
	struct triad_web *web = calloc(1, sizeof(*web));
	struct triad_http_callbacks callbacks = {
		.section = "web", .what = "the page and /api/v1 are", .path = ""};

	if (!web)
		return NULL;
	web->handler = triad_web_handler;
	web->handler.context = web;
	callbacks.handler = &web->handler;
	web->source = *source;
	web->log = log;
	pthread_mutex_init(&web->lock, NULL);
	web->pool = triad_pool_new(wake_server, web);
	web->http = triad_http_new(&callbacks, log);
	if (web->pool && web->http)
		return web;
	triad_web_free(web);
	return NULL;
}

void triad_web_stop(struct triad_web *web)
{
	if (!web)
		return;
	/* First the clients: then running commands have no readers and end soon. */
	(void)triad_http_configure(web->http, NULL);
	triad_pool_stop(web->pool);
}

void triad_web_free(struct triad_web *web)
{
	if (!web)
		return;
	triad_http_free(web->http);
	triad_pool_free(web->pool);
	pthread_mutex_destroy(&web->lock);
	free(web);
}

/* --- configuration --- */

static void take_conf(struct triad_web *web, const struct triad_conf *conf)
{
	unsigned n = conf->web.max_clients / CLIENTS_PER_STREAM;

	pthread_mutex_lock(&web->lock);
	memcpy(web->names, conf->web.names, sizeof(web->names));
	web->max_streams = n ? n : 1;
	pthread_mutex_unlock(&web->lock);
}

void triad_web_configure(struct triad_web *web, const struct triad_conf *conf)
{
	bool wanted = conf->web.http.listen[0];
	int error;

	take_conf(web, conf);
	error = wanted ? triad_pool_start(web->pool) : 0;
	if (error)
		triad_log_write(web->log, TRIAD_LOG_ERROR,
			"web: no thread for it: %s; it listens nowhere, type 'triadctl "
			"reload' to try again",
			strerror(error));
	(void)(error ? triad_http_configure(web->http, NULL)
		     : triad_http_configure_listener(web->http, &conf->web.http,
			       conf->web.max_clients, NULL));
}

struct triad_web_status triad_web_status(struct triad_web *web)
{
	struct triad_web_status status = {.http = triad_http_status(web->http),
		.pool = triad_pool_status(web->pool)};

	status.n_streams = TRIAD_LOCKED(&web->lock, web->n_streams);
	return status;
}
