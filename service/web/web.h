/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The listener of [web]: a page for people, and what triadctl shows as resources for
 * programs.  Both can be read and change nothing.
 *
 *     GET /                       files of the page (files.h)
 *     GET /api/v1/openapi.json    what there is, as OpenAPI describes it (openapi.h)
 *     GET /api/v1/changes         a stream that says when to ask again (stream.h)
 *     GET /api/v1/links?at=2h     a command (command/resource.h), by who may only read
 *
 * Model: the HTTP server's thread (perfmgr/export/http.h) takes a request and makes an
 * answer of it, which a few threads write (pool.h); streams have none.  Commands that wait
 * hold up one of these threads, and nothing else; without a free one for a while, clients
 * are told to come back.
 *
 * A page of somebody else's can't use it: a request must name this host by an address,
 * "localhost" or web.names, and no answer allows other origins.  Any user of this host can
 * ask at a loopback address, as for [prometheus].
 *
 * A reload makes another server; for a moment both ask this one, from two threads.
 *
 * Thread-safety: one thread at a time calls new, configure, stop and free; any thread
 * status.  The server's thread never takes a lock that configure holds: that waits for
 * it.
 * Memory: a buffer for each answer that is being sent (pool.h), web.max_clients of them;
 * those of clients that were there when libmicrohttpd gave up (http.h) end, too. */
#ifndef TRIAD_SERVICE_WEB_WEB_H
#define TRIAD_SERVICE_WEB_WEB_H

#include "perfmgr/export/http.h"
#include "service/runner.h"
#include "service/web/stream.h"
#include "service/web/pool.h"
#include "triad/command.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_web;

/* Whom it asks; 'context' is for all. */
struct triad_web_source {
	void *context;
	/* As of struct triad_runner. */
	int (*run)(void *context, const struct triad_asker *asker, int n_words,
		const char *const *words, struct triad_output *output);
	/* Whether this process has the command. */
	bool (*has)(void *context, enum triad_command_verb verb);
	/* The numbers of changes, but for TRIAD_STREAM_CONFIGURATION.  Called by the server's
	 * thread, must not block. */
	void (*look)(void *context, uint64_t numbers[TRIAD_STREAM_N_EVENTS]);
};

struct triad_web_status {
	bool is_absent; /* this was built without it */
	struct triad_http_status http;
	struct triad_pool_status pool;
	unsigned n_streams;
};

/* Listens to nothing yet.  'source' is copied, 'log' outlives it.  NULL when memory is
 * short. */
struct triad_web *triad_web_new(
	const struct triad_web_source *source, struct triad_log *log);

/* What can't be done is logged. */
void triad_web_configure(struct triad_web *web, const struct triad_conf *conf);

/* Cuts all clients, then waits for the commands that run for them.  Accepts NULL. */
void triad_web_stop(struct triad_web *web);

/* After triad_web_stop().  Accepts NULL. */
void triad_web_free(struct triad_web *web);

struct triad_web_status triad_web_status(struct triad_web *web);

#endif
