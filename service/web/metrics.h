/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The listener of [prometheus]: GET /metrics, and / with a page for people that says so.
 *
 * Model: the text is made where the counters are, and comes as the answer to the words
 *
 *     metrics text|openmetrics [NAME=VALUE ...]
 *
 * of which the arguments are those of the URL's query (perfmgr/formats/http_request.h).
 * All who ask the same within a second share one answer (pool.h), and it is packed once.
 *
 * Thread-safety: one thread at a time calls new, configure, stop and free; any thread
 * status.
 * Source: Prometheus exposition formats; RFC 9110. */
#ifndef TRIAD_SERVICE_WEB_METRICS_H
#define TRIAD_SERVICE_WEB_METRICS_H

#include "perfmgr/export/http.h"
#include "service/web/pool.h"
#include "service/web/web.h"

struct triad_metrics_server;

/* Does not listen yet.  Of 'source' only run() is called; it is copied, 'log' outlives it.
 * NULL when memory is short. */
struct triad_metrics_server *triad_metrics_server_new(
	const struct triad_web_source *source, struct triad_log *log);

/* Logs what can't be put into force. */
void triad_metrics_server_configure(
	struct triad_metrics_server *server, const struct triad_conf *conf);

/* Its HTTP server, for who has other parameters than a triad.conf.  They are in force
 * after triad_metrics_server_start(), which returns 0 or an errno. */
struct triad_http *triad_metrics_server_http(struct triad_metrics_server *server);
int triad_metrics_server_start(struct triad_metrics_server *server);

/* Disconnects all clients, then waits for what runs for them.  Accepts NULL. */
void triad_metrics_server_stop(struct triad_metrics_server *server);

/* After triad_metrics_server_stop().  Accepts NULL. */
void triad_metrics_server_free(struct triad_metrics_server *server);

struct triad_http_status triad_metrics_server_status(
	struct triad_metrics_server *server);
struct triad_pool_status triad_metrics_server_pool(struct triad_metrics_server *server);

#endif
