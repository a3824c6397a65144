/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An HTTP server: counters for Prometheus, or the answers of a handler (http_handler.h).
 *
 * Model: one thread runs libmicrohttpd and nothing else, so all clients together use at
 * most one core.  GET /metrics takes the view of that moment and writes it (metrics.h) in
 * pieces, as fast as the client reads, perhaps packed by gzip and in TLS. GET / is a page
 * for people.  HTTP requests change nothing.
 *
 *     a request    one for each connection, which is closed after the answer
 *     clients      'max_clients' at one time, half of them (rounded up) from one address;
 *                  further connections are closed at once, and counted
 *     a token      sent as "Authorization: Bearer"; read again when its file changes
 *     time         10 s for a client to ask, 30 s for each piece, 5 min for all of it
 *     memory       64 KiB for each connection, where the request's header must fit in,
 *                  and some 100 KiB more while it is answered
 *
 * Nobody waits for a client: a slow reader keeps a view, but no lock.
 *
 * libmicrohttpd calls abort() when it detects an internal error, which would end the SM. A
 * hook ends the thread instead: its memory is lost, a line is logged, and the next
 * triad_http_configure() starts a new server.  The hook is global for the process
 * (http_guard.h).
 *
 * Thread-safety: one thread at a time calls new, configure and free; any thread status.
 * The server's thread calls the callbacks, at most several times a second for each client;
 * they must not block, and may only call triad_http_status().
 * Memory: all views are released when triad_http_free(), or a triad_http_configure() that
 * stops the server, returns; the engine must exist until then.  Source: Prometheus
 * exposition formats; RFC 9110. */
#ifndef TRIAD_PERFMGR_EXPORT_HTTP_H
#define TRIAD_PERFMGR_EXPORT_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/export/http_handler.h"
#include "perfmgr/formats/metrics.h"
#include "perfmgr/view.h"
#include "triad/conf.h"
#include "triad/lists.h"
#include "triad/log.h"

#define TRIAD_HTTP_MAX_OWN 256
#define TRIAD_HTTP_MIN_TOKEN 16

struct triad_http;

struct triad_http_callbacks {
	/* The section of triad.conf, for messages. */
	const char *section;
	/* Answers all requests; then the members below are not used.  NULL: /metrics. */
	const struct triad_http_handler *handler;
	/* The view to show, referenced; NULL: none, then only the metrics of own(). */
	struct triad_view *(*view)(void *context);
	/* Links that went down, '*n' of them, to be freed; see triad_watch_copy_links().  May
	 * be NULL. */
	struct triad_link *(*links)(void *context, uint32_t *n);
	/* The present silences, to be freed; NULL: none.  May be NULL. */
	struct triad_silences *(*silences)(void *context);
	/* Source of information about devices and cables; NULL: none.  May be NULL. */
	const struct triad_metrics_hardware *(*hardware)(void *context);
	/* See struct triad_metrics_params.  May be NULL. */
	uint64_t *(*routes)(void *context, const struct triad_fabric *fabric);
	/* Fills 'room' with at most 'n' metrics and returns how many.  May be NULL. */
	size_t (*own)(void *context, struct triad_metric *room, size_t n);
	void *context;
};

struct triad_http_params {
	struct triad_address listen;      /* port 0: one that is free */
	const char *tls_certificate_path; /* PEM; with the key, or both NULL or "" */
	const char *tls_key_path;
	/* PEM: authorities that certify clients; NULL or "": clients need no
	 * certificate. */
	const char *tls_client_ca_path;
	const char *token_path; /* the token is its first line; NULL or "": no token
				 * required */
	unsigned max_clients;
	unsigned request_ms, piece_ms, answer_ms; /* 0: as above */
};

struct triad_http_status {
	bool listening;
	bool has_tls, has_token, has_client_ca; /* what it requires of clients */
	char reason[256]; /* why the last configuration failed; "": it did not */
	bool failed;      /* libmicrohttpd gave up */
	struct triad_address listen; /* with the port it has */
	unsigned n_clients;
	/* since triad_http_new() */
	uint64_t n_answers;      /* 200 */
	uint64_t n_bad_requests; /* 400: arguments not understood */
	uint64_t n_unauthorized; /* 401: without the token */
	uint64_t n_not_found;    /* 404 */
	uint64_t n_bad_methods;  /* 405 */
	uint64_t n_no_memory;    /* 503: no memory, or too busy */
	uint64_t n_unchanged;    /* 304 */
	uint64_t n_refused;      /* other codes: 406, 409, 413, 421 */
	uint64_t n_too_many;     /* connections closed because there were too many */
	uint64_t n_timeouts;     /* connections cut because they took too long */
	uint64_t n_incomplete;   /* connections without a complete request */
	uint64_t n_broken_off;   /* answers that the client did not read completely */
	uint64_t octets;         /* of answers' bodies, packed if they were */
};

/* Does not listen yet.  'callbacks' is copied, 'log' (may be NULL) outlives it.  NULL when
 * memory is short. */
struct triad_http *triad_http_new(
	const struct triad_http_callbacks *callbacks, struct triad_log *log);

/* Listens with 'params', or stops (NULL).  Reads certificate and key again; if anything
 * changed, existing connections are cut.  Returns 0, or an errno that a line in the log
 * explains; then it continues as before.  Takes as long as reading four files. */
int triad_http_configure(
	struct triad_http *http, const struct triad_http_params *params);
/* The same, from a section of triad.conf, which was checked. */
int triad_http_configure_listener(
	struct triad_http *http, const struct triad_conf_listener *listener);

struct triad_http_status triad_http_status(const struct triad_http *http);

/* Tells the server that an answer of the handler may be ready.  Any thread, without a lock
 * that the handler's functions take. */
void triad_http_wake(struct triad_http *http);

/* Cuts all connections, whatever clients do; within a few milliseconds.  Accepts NULL. */
void triad_http_free(struct triad_http *http);

#endif
