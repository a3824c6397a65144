/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The server's state for its files: http_server.c has its thread, http_answer.c its
 * refusals, http_exchange.c what the handler answers.
 *
 * A server serves one configuration.  For another one there is another server, which
 * begins to listen on the same socket before the old one ends.  Counts continue from
 * one to the next.
 *
 * Internal to http.h, which says who may call when. */
#ifndef TRIAD_PERFMGR_EXPORT_HTTP_SERVER_H
#define TRIAD_PERFMGR_EXPORT_HTTP_SERVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "perfmgr/export/microhttpd.h"

#include "perfmgr/export/http.h"
#include "perfmgr/export/http_clients.h"
#include "perfmgr/export/http_files.h"

struct triad_http_exchange;

struct triad_http_counts {
	atomic_ulong n_answers, n_bad_requests, n_unauthorized, n_not_found,
		n_bad_methods, n_no_memory, n_unchanged, n_refused, n_too_many,
		n_timeouts, n_incomplete, n_broken_off;
	atomic_uint_fast64_t octets;
};

struct triad_http_server {
	struct triad_http_callbacks callbacks;
	struct triad_log *log;
	struct triad_log_limit complaints; /* about clients */
	struct triad_http_counts *counts;
	struct triad_http_params params; /* without its paths */
	char *certificate, *key;         /* PEM; NULL: no TLS */
	char *client_ca;                 /* PEM; NULL: clients need no certificate */
	struct triad_http_token token;
	char *names; /* of this host */
	struct triad_http_clients clients;
	struct MHD_Daemon *daemon;             /* its thread's, while that runs */
	struct triad_http_exchange *exchanges; /* all of them */
	uint64_t accept_after_us;              /* accept no client before */
	int listen_fd;                         /* the struct triad_http's */
	int epoll_fd;
	int wake_fd;
	pthread_t thread;
	atomic_bool stop;
	char last_message[256]; /* the last message of libmicrohttpd */
};

#define TRIAD_HTTP_REASON_SIZE 1024

/* 'counts' outlives it.  NULL: no memory. */
struct triad_http_server *triad_http_server_new(
	const struct triad_http_callbacks *callbacks, struct triad_log *log,
	struct triad_http_counts *counts, const struct triad_http_params *params);

/* After its thread has ended, or before it began; accepts NULL. */
void triad_http_server_free(struct triad_http_server *server);

/* Reads all files that its parameters name, so that all mistakes are reported at once.
 * Returns 0 or an errno, with the mistakes in 'text'. */
int triad_http_server_read_files(
	struct triad_http_server *server, char *text, size_t size);

/* Makes the daemon and starts the thread, which takes clients from 'listen_fd'.
 * Returns 0, or an errno with a reason. */
int triad_http_server_start(
	struct triad_http_server *server, int listen_fd, char *reason, size_t size);

/* Ends the thread and frees the server; accepts NULL. */
void triad_http_server_stop(struct triad_http_server *server);

/* Begins the answer to a request, when its header has come; for the server's thread. */
triad_http_result triad_http_answer(struct triad_http_exchange *exchange,
	struct triad_http_client *client, const char *method);

/* Adds headers that keep a browser from doing more with an answer than showing it. */
void triad_http_add_guards(struct MHD_Response *response);

/* Counts an answer. */
void triad_http_count_code(struct triad_http_counts *counts, unsigned code);

#endif
