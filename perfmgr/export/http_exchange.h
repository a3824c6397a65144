/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One request and its answer by a handler (http_handler.h), as libmicrohttpd sees them.
 *
 * Model: while the handler has nothing to send, the connection is suspended.  Only the
 * server's thread calls libmicrohttpd; threads that make answers only wake it.
 *
 * Thread-safety: the server's thread alone.
 * Memory: freed at the end of the request, which libmicrohttpd reports. */
#ifndef TRIAD_PERFMGR_EXPORT_HTTP_EXCHANGE_H
#define TRIAD_PERFMGR_EXPORT_HTTP_EXCHANGE_H

#include "perfmgr/export/http_server.h"

struct triad_http_exchange {
	struct triad_http_server *server;
	struct MHD_Connection *connection;
	struct triad_http_client *client; /* NULL: no request yet */
	bool is_answered;                 /* a response was queued */
	bool is_suspended;
	bool is_gone;                           /* the client has closed its stream */
	void *answer;                           /* the handler's; NULL: none */
	struct triad_http_exchange *next, **at; /* in the server's list */
	char target[];
};

/* For the server's MHD_OPTION_URI_LOG_CALLBACK; NULL when memory is short. */
void *triad_http_exchange_new(
	void *server, const char *target, struct MHD_Connection *connection);
/* Ends the handler's answer.  Accepts NULL. */
void triad_http_exchange_free(struct triad_http_exchange *exchange);

/* Begins an answer, or continues it when it is ready; called again after a pause. */
triad_http_result triad_http_exchange_answer(struct triad_http_exchange *exchange);

/* Resumes suspended exchanges that are ready, or all of them when 'all'. */
void triad_http_exchanges_resume(struct triad_http_server *server, bool all);

#endif
