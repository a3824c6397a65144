/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The listener of [web]: a page for people, and commands as resources for programs.
 * Both are read-only.
 *
 *     GET /                       files of the page (files.h)
 *     GET /api/v1/openapi.json    the resources in OpenAPI (openapi.h)
 *     GET /api/v1/changes         a stream of events: data has changed (stream.h)
 *     GET /api/v1/links?at=2h     a command (command/resource.h), run as a reader
 *
 * Model: the HTTP server's thread (perfmgr/export/http.h) takes a request; a few
 * threads write the answer (pool.h); streams need none of these.  A command that waits
 * holds up one of these threads, and nothing else.  When no place is free, the server
 * tells clients to come back.
 *
 * Pages of other sites can't use it: a request must name this host by an address,
 * "localhost" or web.names, and no answer allows other origins.  Any user of this host
 * can ask at a loopback address, as for [prometheus].
 *
 * A reload makes another server; for a moment both call this code, from two threads.
 *
 * Thread-safety: one thread at a time calls new, configure, stop and free; any thread
 * status.  configure waits for the server's thread, which therefore takes no lock that
 * configure holds.
 * Memory: a file without a name for each answer that is being sent (pool.h),
 * web.max_clients of them. */
#ifndef TRIAD_SERVICE_WEB_WEB_H
#define TRIAD_SERVICE_WEB_WEB_H

#include "perfmgr/export/http.h"
#include "service/web/stream.h"
#include "service/web/pool.h"
#include "triad/command.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_web;

/* Callbacks of who knows the process that is asked; 'context' is for all. */
struct triad_web_source {
	void *context;
	/* Has a command answered, as for a reader; returns its exit status, or
	 * TRIAD_POOL_NO_ANSWER or TRIAD_POOL_BUSY with a message why. */
	int (*run)(void *context, int n_words, const char *const *words,
		struct triad_output *output);
	/* Whether the process asked has the command. */
	bool (*has)(void *context, enum triad_command_verb verb);
	/* Fills what has happened.  Called in the server's thread; must not block. */
	void (*look)(void *context, struct triad_stream_state *state);
};

struct triad_web_status {
	struct triad_http_status http;
	struct triad_pool_status pool;
	unsigned n_streams;
};

/* Does not listen yet.  'source' is copied, 'log' outlives it.  NULL when memory is
 * short. */
struct triad_web *triad_web_new(
	const struct triad_web_source *source, struct triad_log *log);

/* Logs what can't be put into force. */
void triad_web_configure(struct triad_web *web, const struct triad_conf *conf);

/* Disconnects all clients, then waits for the commands that run for them.  Accepts
 * NULL. */
void triad_web_stop(struct triad_web *web);

/* After triad_web_stop().  Accepts NULL. */
void triad_web_free(struct triad_web *web);

struct triad_web_status triad_web_status(struct triad_web *web);

#endif
