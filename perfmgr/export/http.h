/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An HTTP server: the answers of a handler (http_handler.h), as fast as clients read,
 * perhaps in TLS.
 *
 * Model: one thread runs libmicrohttpd and does nothing else, so all clients together
 * take one core at most.  HTTP changes nothing here.
 *
 *     a request    one for each connection, which is closed after the answer
 *     clients      'max_clients' at one time, half of them (rounded up) from one
 *                  network; others wait for a place as long as a request may take,
 *                  then are closed and counted (http_clients.h)
 *     a token      shown as "Authorization: Bearer"; read anew when its file changes
 *     time         10 s for a client to ask, 30 s for each piece, 5 min for all of it
 *     memory       64 KiB for each connection, where the request's header must fit in,
 *                  and some 100 KiB more while it is answered
 *
 * Nothing waits for a client.
 *
 * libmicrohttpd ends the process when it finds itself broken; triadd is started again
 * then, and the SM notices nothing.
 *
 * Thread-safety: one thread at a time calls new, configure and free; any thread calls
 * status.  The server's thread calls the callbacks, several times a second at most for
 * each client; they must not block, and must not call back but for the status.
 * Memory: views are given back by the end of triad_http_free() and of a
 * triad_http_configure() that stops it; so the engine must outlive them.
 * Source: Prometheus exposition formats; RFC 9110. */
#ifndef TRIAD_PERFMGR_EXPORT_HTTP_H
#define TRIAD_PERFMGR_EXPORT_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/export/http_handler.h"
#include "triad/conf.h"
#include "triad/lists.h"
#include "triad/log.h"

#define TRIAD_HTTP_MIN_TOKEN 16

struct triad_http;

struct triad_http_callbacks {
	const char *section; /* of triad.conf, for messages */
	const char *what;    /* it serves, for messages: "counters are" */
	const char *path;    /* where that is: "metrics" */
	/* Of all requests; outlives the server. */
	const struct triad_http_handler *handler;
};

struct triad_http_params {
	struct triad_address listen;      /* port 0: one that is free */
	const char *tls_certificate_path; /* PEM; with the key, or both NULL or "" */
	const char *tls_key_path;
	/* PEM of authorities for clients' certificates; NULL or "": clients need
	 * none. */
	const char *tls_client_ca_path;
	const char *token_path; /* the token is its first line; NULL or "": no token is
	                         * needed */
	/* Names of this host, as of triad_host_names_check(), by which clients may ask
	 * for /metrics, where neither a token nor TLS keeps out a page of somebody
	 * else's; NULL: none.  Its own and addresses are always right. */
	const char *names;
	unsigned max_clients;
	unsigned request_ms, piece_ms, answer_ms; /* 0: as above */
};

struct triad_http_status {
	bool listening;
	bool has_tls, has_token, has_client_ca; /* what clients must have */
	char reason[256]; /* why the last configuration failed; "": it did not */
	struct triad_address listen; /* with the real port */
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

/* Makes a server that does not listen yet.  Copies 'callbacks'; 'log' (may be NULL)
 * outlives it.  NULL when memory is short. */
struct triad_http *triad_http_new(
	const struct triad_http_callbacks *callbacks, struct triad_log *log);

/* Listens as in 'params', or stops (NULL).  Reads certificate and key again.  Does
 * nothing when nothing changed, else cuts connections.  Returns 0; or an errno, which a
 * line in the log explains, unless the last one did, and the server goes on as before.
 * Takes as long as reading four files. */
int triad_http_configure(
	struct triad_http *http, const struct triad_http_params *params);
/* The same with a checked section of triad.conf. */
int triad_http_configure_listener(struct triad_http *http,
	const struct triad_conf_listener *listener, unsigned max_clients,
	const char *names);

struct triad_http_status triad_http_status(const struct triad_http *http);

/* An answer of the handler may be ready.  Any thread, not holding a lock that the
 * handler's functions take. */
void triad_http_wake(struct triad_http *http);

/* Cuts all connections, within a few milliseconds.  Accepts NULL. */
void triad_http_free(struct triad_http *http);

#endif
