/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The server's life.  triad_http_configure() completes a new server (files, socket,
 * daemon) before it touches the running one, starts its thread, and then ends the old
 * one:
 *
 *     configure    read files -> socket, or the present one -> daemon -> thread
 *     thread       poll -> accept() -> queue -> MHD_run() -> cut who took too long
 *     stop         wake -> thread: MHD_stop_daemon() closes all -> join
 *
 * We own the listening socket, and libmicrohttpd only gets connections.  So we decide
 * who may come in, and a new server can begin on the same address before the old one
 * ends.  (Also, neither the manual nor the code of libmicrohttpd says whether a daemon
 * that can't start closes the socket it was given.) */
#include "perfmgr/export/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "perfmgr/export/http_server.h"
#include "triad/diag.h"
#include "triad/socket_address.h"

#define BACKLOG 256

struct triad_http {
	struct triad_http_callbacks callbacks;
	struct triad_log *log;
	struct triad_http_counts counts;
	/* Excludes status() from configure(). */
	pthread_mutex_t lock;
	struct triad_http_server *server; /* NULL: it doesn't listen */
	char reason[256];                 /* see the status */
	struct triad_address asked, bound;
	int listen_fd; /* -1: none */
};

/* --- sockets ----------------------------------------------------------- */

static uint16_t port_of(int fd)
{
	union triad_socket_address from = {0};
	struct triad_address address;
	socklen_t size = sizeof(from);

	if (getsockname(fd, &from.any, &size))
		return 0;
	triad_address_from_socket(&from, &address);
	return address.port;
}

static int prepare(int fd, const struct triad_address *address)
{
	union triad_socket_address to;
	socklen_t size = triad_address_to_socket(address, &to);
	int on = 1, off = 0;

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* "::" is for IPv4, too.  Ignore a failing option: bind() says whether the
	 * address can be used. */
	if (address->family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	return bind(fd, &to.any, size) || listen(fd, BACKLOG) ? errno : 0;
}

/* Returns 0 or an errno with a reason. */
static int open_listener(const char *section, const struct triad_address *address,
	int *made, char *reason, size_t size)
{
	int fd = socket(address->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error = fd < 0 ? errno : prepare(fd, address);
	char text[TRIAD_ADDRESS_TEXT_SIZE];

	*made = fd;
	if (!error)
		return 0;
	if (fd >= 0)
		close(fd);
	triad_address_format(address, text);
	snprintf(reason, size,
		"can't listen on %s: %s; choose an address of this host and a port "
		"that is free for %s.listen",
		text, strerror(error), section);
	return error;
}

/* --- configuration ----------------------------------------------------- */

static bool is_same_address(
	const struct triad_address *a, const struct triad_address *b)
{
	return a->family == b->family && a->port == b->port &&
		!memcmp(a->octets, b->octets, sizeof(a->octets));
}

static bool is_same_text(const char *a, const char *b)
{
	return !a || !b ? a == b : !strcmp(a, b);
}

/* True when the server that runs listens there. */
static bool listens_on(
	const struct triad_http *http, const struct triad_address *address)
{
	return http->server &&
		(is_same_address(address, &http->asked) ||
			is_same_address(address, &http->bound));
}

/* True when both serve in the same way, whatever their address is. */
static bool is_same(
	const struct triad_http_server *a, const struct triad_http_server *b)
{
	return a->params.max_clients == b->params.max_clients &&
		!memcmp(&a->clients.times, &b->clients.times,
			sizeof(a->clients.times)) &&
		is_same_text(a->certificate, b->certificate) &&
		is_same_text(a->key, b->key) &&
		is_same_text(a->client_ca, b->client_ca) &&
		is_same_text(a->token.path, b->token.path) &&
		is_same_text(a->names, b->names);
}

/* Replaces the running server and its socket by 'server' (may be NULL) and its own. */
static void replace(struct triad_http *http, struct triad_http_server *server,
	int listen_fd, const struct triad_address *asked)
{
	struct triad_http_server *old = http->server;
	int old_fd = http->listen_fd;

	pthread_mutex_lock(&http->lock);
	http->server = server;
	http->listen_fd = listen_fd;
	http->asked = *asked;
	http->bound = *asked;
	if (listen_fd >= 0)
		http->bound.port = port_of(listen_fd);
	pthread_mutex_unlock(&http->lock);
	/* Without the lock: the old server's thread may take a while to end. */
	triad_http_server_stop(old);
	if (old_fd >= 0 && old_fd != listen_fd)
		close(old_fd);
}

static void log_listening(
	struct triad_http *http, const struct triad_http_server *server)
{
	char text[TRIAD_ADDRESS_TEXT_SIZE];

	triad_address_format(&http->bound, text);
	triad_log_write(http->log, TRIAD_LOG_INFO, "%s: %s at %s://%s/%s%s%s",
		http->callbacks.section, http->callbacks.what,
		server->certificate ? "https" : "http", text, http->callbacks.path,
		server->token.path ? ", for those who have the token" : "",
		!server->client_ca           ? ""
			: server->token.path ? " and a certificate"
					     : ", for those who have a certificate");
}

/* The present socket has the port, too, on another address: 127.0.0.1 and 0.0.0.0. */
static bool is_in_the_way(
	const struct triad_http *http, int error, const struct triad_address *asked)
{
	return error == EADDRINUSE && http->listen_fd >= 0 &&
		http->bound.port == asked->port;
}

/* Opens a socket there and starts 'server' with it. */
static int start_there(const struct triad_http *http, struct triad_http_server *server,
	int *fd, char *reason, size_t size)
{
	const struct triad_address *asked = &server->params.listen;
	int error = open_listener(http->callbacks.section, asked, fd, reason, size);
	bool was_in_the_way = is_in_the_way(http, error, asked);

	/* It stays bound, so that it can listen again. */
	if (was_in_the_way && !shutdown(http->listen_fd, SHUT_RDWR))
		error = open_listener(http->callbacks.section, asked, fd, reason, size);
	if (!error) {
		error = triad_http_server_start(server, *fd, reason, size);
		if (error)
			close(*fd);
	}
	if (error && was_in_the_way)
		(void)listen(http->listen_fd, BACKLOG);
	return error;
}

/* Starts 'server', which is complete but for its socket. */
static int start_server(struct triad_http *http, struct triad_http_server *server,
	char *reason, size_t size)
{
	const struct triad_address *asked = &server->params.listen;
	int fd = http->listen_fd;
	int error = listens_on(http, asked)
		? triad_http_server_start(server, fd, reason, size)
		: start_there(http, server, &fd, reason, size);

	if (error)
		return error;
	/* The caller owns the paths, and may free them. */
	server->params.tls_certificate_path = server->params.tls_key_path = NULL;
	server->params.tls_client_ca_path = server->params.token_path = NULL;
	replace(http, server, fd, asked);
	log_listening(http, server);
	return 0;
}

static void note_reason(struct triad_http *http, const char *reason)
{
	pthread_mutex_lock(&http->lock);
	snprintf(http->reason, sizeof(http->reason), "%s", reason);
	pthread_mutex_unlock(&http->lock);
}

static int refuse(struct triad_http *http, int error, const char *reason)
{
	bool is_known = !strcmp(http->reason, reason);

	note_reason(http, reason);
	if (!is_known)
		triad_log_write(http->log, TRIAD_LOG_ERROR, "%s: %s%s",
			http->callbacks.section, reason,
			http->server ? "; it goes on as it was" : "");
	return error;
}

int triad_http_configure(
	struct triad_http *http, const struct triad_http_params *params)
{
	static const struct triad_address nowhere;
	char reason[TRIAD_HTTP_REASON_SIZE] = "memory is short";
	struct triad_http_server *server;
	int error;

	if (!params) {
		replace(http, NULL, -1, &nowhere);
		note_reason(http, "");
		return 0;
	}
	server = triad_http_server_new(
		&http->callbacks, http->log, &http->counts, params);
	if (!server)
		return refuse(http, ENOMEM, reason);
	error = triad_http_server_read_files(server, reason, sizeof(reason));
	if (!error && listens_on(http, &params->listen) &&
		is_same(http->server, server)) {
		triad_http_server_free(server);
		note_reason(http, "");
		return 0;
	}
	if (!error)
		error = start_server(http, server, reason, sizeof(reason));
	if (!error) {
		note_reason(http, "");
		return 0;
	}
	triad_http_server_free(server);
	return refuse(http, error, reason);
}

int triad_http_configure_listener(struct triad_http *http,
	const struct triad_conf_listener *listener, unsigned max_clients,
	const char *names)
{
	struct triad_http_params params = {
		.tls_certificate_path = listener->tls_certificate,
		.tls_key_path = listener->tls_key,
		.tls_client_ca_path = listener->tls_client_ca,
		.token_path = listener->token_file,
		.names = names,
		.max_clients = max_clients,
	};
	char reason[TRIAD_DIAG_TEXT_SIZE];
	bool wanted = *listener->listen &&
		triad_address_parse(
			listener->listen, 0, &params.listen, reason, sizeof(reason));

	return triad_http_configure(http, wanted ? &params : NULL);
}

struct triad_http_status triad_http_status(const struct triad_http *http)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&http->lock;
	const struct triad_http_counts *counts = &http->counts;
	struct triad_http_status status = {
		.n_answers = atomic_load(&counts->n_answers),
		.n_bad_requests = atomic_load(&counts->n_bad_requests),
		.n_unauthorized = atomic_load(&counts->n_unauthorized),
		.n_not_found = atomic_load(&counts->n_not_found),
		.n_bad_methods = atomic_load(&counts->n_bad_methods),
		.n_no_memory = atomic_load(&counts->n_no_memory),
		.n_unchanged = atomic_load(&counts->n_unchanged),
		.n_refused = atomic_load(&counts->n_refused),
		.n_too_many = atomic_load(&counts->n_too_many),
		.n_timeouts = atomic_load(&counts->n_timeouts),
		.n_incomplete = atomic_load(&counts->n_incomplete),
		.n_broken_off = atomic_load(&counts->n_broken_off),
		.octets = atomic_load(&counts->octets),
	};

	pthread_mutex_lock(lock);
	if (http->server) {
		status.listening = true;
		status.listen = http->bound;
		status.n_clients = atomic_load(&http->server->clients.n);
		status.has_tls = http->server->certificate;
		status.has_token = http->server->token.path;
		status.has_client_ca = http->server->client_ca;
	}
	memcpy(status.reason, http->reason, sizeof(status.reason));
	pthread_mutex_unlock(lock);
	return status;
}

struct triad_http *triad_http_new(
	const struct triad_http_callbacks *callbacks, struct triad_log *log)
{
	struct triad_http *http = calloc(1, sizeof(*http));

	if (!http)
		return NULL;
	http->callbacks = *callbacks;
	http->log = log;
	http->listen_fd = -1;
	pthread_mutex_init(&http->lock, NULL);
	return http;
}

void triad_http_wake(struct triad_http *http)
{
	pthread_mutex_lock(&http->lock);
	if (http->server)
		(void)eventfd_write(http->server->wake_fd, 1);
	pthread_mutex_unlock(&http->lock);
}

void triad_http_free(struct triad_http *http)
{
	if (!http)
		return;
	(void)triad_http_configure(http, NULL);
	pthread_mutex_destroy(&http->lock);
	free(http);
}
