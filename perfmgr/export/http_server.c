/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One server: its daemon of libmicrohttpd, its thread, its clients. */
#include "perfmgr/export/http_server.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/text.h"
#include "perfmgr/export/http_exchange.h"
#include "perfmgr/export/http_tls.h"
#include "triad/clock.h"
#include "triad/descriptors.h"
#include "triad/socket_address.h"
#include "triad/thread.h"

#define CONNECTION_MEMORY (64u * 1024)
#define ACCEPT_BURST 64
#define LOOK_MS 500  /* between looks for clients that took too long */
#define QUEUE_MS 100 /* between looks for a place, while clients wait */
#define REQUEST_MS 10000
#define PIECE_MS 30000
#define ANSWER_MS 300000

/* --- what the daemon calls, in the server's thread --------------------- */

static void log_message(void *context, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
static void log_message(void *context, const char *format, va_list args)
{
	struct triad_http_server *server = context;

	vsnprintf(server->last_message, sizeof(server->last_message), format, args);
	server->last_message[strcspn(server->last_message, "\n")] = '\0';
	triad_log_write(server->log, TRIAD_LOG_DEBUG, "%s: %s",
		server->callbacks.section, server->last_message);
}

static void note_start(struct triad_http_server *server,
	struct MHD_Connection *connection, void **socket_context)
{
	const struct sockaddr *address = NULL;
	const union MHD_ConnectionInfo *info;
	int fd = -1;

	/* From libmicrohttpd 1.0 on, each call overwrites the result of the one
	 * before. */
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	if (info)
		address = info->client_addr;
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (info)
		fd = info->connect_fd;
	*socket_context = address && fd >= 0
		? triad_http_clients_add(
			  &server->clients, address, fd, triad_clock_now_us())
		: NULL;
}

static void note_connection(void *context, struct MHD_Connection *connection,
	void **socket_context, enum MHD_ConnectionNotificationCode code)
{
	struct triad_http_server *server = context;
	struct triad_http_client *client = *socket_context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		if (server->client_ca)
			triad_http_demand_certificate(connection);
		note_start(server, connection, socket_context);
	} else if (client) {
		/* It went before it sent a request. */
		if (!client->asked_us && !client->cut)
			atomic_fetch_add(&server->counts->n_incomplete, 1);
		triad_http_clients_remove(&server->clients, client);
		*socket_context = NULL;
	}
}

static void note_end(void *context, struct MHD_Connection *connection,
	void **request_context, enum MHD_RequestTerminationCode code)
{
	struct triad_http_server *server = context;
	struct triad_http_exchange *exchange = *request_context;

	(void)connection;
	/* An exchange begins with the first line; a client whose header never came was
	 * counted as incomplete.  A stream ends when the client does. */
	if (exchange && code != MHD_REQUEST_TERMINATED_COMPLETED_OK &&
		exchange->client && !exchange->client->is_endless)
		atomic_fetch_add(&server->counts->n_broken_off, 1);
	triad_http_exchange_free(exchange);
	*request_context = NULL;
}

/* Begins a request or goes on with it; its context is an exchange from the first line
 * on. */
static triad_http_result go_on(void *context, struct MHD_Connection *connection,
	const char *url, const char *method, const char *version,
	const char *upload_data, size_t *upload_size, void **request_context)
{
	struct triad_http_exchange *exchange = *request_context;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	(void)context;
	(void)url;
	(void)version;
	(void)upload_data;
	if (!exchange || !info || !info->socket_context)
		return MHD_NO;
	if (exchange->is_answered) {
		*upload_size = 0;
		return MHD_YES;
	}
	return exchange->client
		? triad_http_exchange_answer(exchange)
		: triad_http_answer(exchange, info->socket_context, method);
}

/* --- the daemon -------------------------------------------------------- */

static void start_daemon(struct triad_http_server *server)
{
	unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG |
		MHD_ALLOW_SUSPEND_RESUME | (server->certificate ? MHD_USE_TLS : 0u);
	struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, server->certificate},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, server->key},
		{MHD_OPTION_HTTPS_PRIORITIES, 0,
			(void *)"NORMAL:-RSA:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
		{server->client_ca ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0,
			server->client_ca},
		{MHD_OPTION_END, 0, NULL},
	};

	/* Keep below the daemon's own limit: it would drop clients uncounted. */
	server->daemon = MHD_start_daemon(flags, 0, NULL, NULL, go_on, server,
		MHD_OPTION_EXTERNAL_LOGGER, log_message, server,
		MHD_OPTION_CONNECTION_LIMIT,
		server->clients.max + (unsigned)TRIAD_HTTP_CUT_ROOM,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_NOTIFY_CONNECTION, note_connection, server,
		MHD_OPTION_NOTIFY_COMPLETED, note_end, server,
		MHD_OPTION_URI_LOG_CALLBACK, triad_http_exchange_new, server,
		MHD_OPTION_ARRAY, server->certificate ? tls : tls + 4, MHD_OPTION_END);
}

static void stop_daemon(struct triad_http_server *server)
{
	/* The daemon refuses to end while connections are suspended. */
	triad_http_exchanges_resume(server, true);
	MHD_stop_daemon(server->daemon);
}

/* --- clients that come ------------------------------------------------- */

static void turn_away(struct triad_http_server *server, int fd)
{
	unsigned long suppressed;

	close(fd);
	atomic_fetch_add(&server->counts->n_too_many, 1);
	if (triad_log_limit_pass(
		    &server->complaints, triad_clock_now_us(), &suppressed))
		triad_log_write(server->log, TRIAD_LOG_INFO,
			"%s: a client was turned away: %u are connected, %u may "
			"be, half of them from one address, and %u wait; "
			"the limit of descriptors decides, too (%lu lines like this "
			"one were left out)",
			server->callbacks.section, atomic_load(&server->clients.n),
			server->clients.max, server->clients.n_waiting, suppressed);
}

/* Puts a new client into the queue.  False when there is none, or none can be accepted
 * now. */
static bool accept_one(struct triad_http_server *server, uint64_t now_us)
{
	union triad_socket_address from = {0};
	socklen_t size = sizeof(from);
	int fd = accept4(
		server->listen_fd, &from.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		/* That client has gone; there may be more. */
		if (errno == ECONNABORTED || errno == EINTR)
			return true;
		/* Without descriptors the client stays in the backlog, and poll() would
		 * return at once: pause. */
		if (errno != EAGAIN)
			server->accept_after_us = now_us + LOOK_MS * TRIAD_US_PER_MS;
		return false;
	}
	if (triad_descriptor_may_stay(fd))
		fd = triad_http_clients_wait(
			&server->clients, fd, &from.any, size, now_us);
	if (fd >= 0)
		turn_away(server, fd);
	return true;
}

/* Gives places to clients that wait. */
static void let_in(struct triad_http_server *server, uint64_t now_us)
{
	struct triad_http_waiting next;
	int fd;

	while (triad_http_clients_next(&server->clients, now_us, &next))
		/* It closes the descriptor when it fails. */
		(void)MHD_add_connection(server->daemon, next.fd,
			(struct sockaddr *)&next.address, next.size);
	while ((fd = triad_http_clients_expired(&server->clients, now_us)) >= 0)
		turn_away(server, fd);
}

static void accept_some(struct triad_http_server *server)
{
	uint64_t now_us = triad_clock_now_us();

	for (unsigned i = 0; i < ACCEPT_BURST; i++) {
		if (now_us < server->accept_after_us || !accept_one(server, now_us))
			break;
		let_in(server, now_us);
	}
	let_in(server, now_us);
}

/* --- the thread -------------------------------------------------------- */

static void serve_once(struct triad_http_server *server)
{
	bool accepts = triad_clock_now_us() >= server->accept_after_us;
	unsigned wait_ms = server->clients.n_waiting ? QUEUE_MS : LOOK_MS;
	MHD_UNSIGNED_LONG_LONG timeout;
	eventfd_t woken;
	struct pollfd fds[] = {
		{.fd = server->epoll_fd, .events = POLLIN},
		{.fd = server->wake_fd, .events = POLLIN},
		{.fd = accepts ? server->listen_fd : -1, .events = POLLIN},
	};

	if (MHD_get_timeout(server->daemon, &timeout) != MHD_NO && timeout < wait_ms)
		wait_ms = (unsigned)timeout;
	/* Ignore a failure: the calls below see for themselves what there is. */
	(void)poll(fds, 3, (int)wait_ms);
	(void)eventfd_read(server->wake_fd, &woken);
	triad_http_exchanges_resume(server, false);
	accept_some(server);
	(void)MHD_run(server->daemon);
}

static void *run_thread(void *context)
{
	struct triad_http_server *server = context;
	uint64_t looked_us = 0, now_us;
	unsigned n;

	while (!atomic_load(&server->stop)) {
		serve_once(server);
		now_us = triad_clock_now_us();
		if (now_us < looked_us + LOOK_MS * TRIAD_US_PER_MS)
			continue;
		looked_us = now_us;
		n = triad_http_clients_cut(&server->clients, now_us);
		atomic_fetch_add(&server->counts->n_timeouts, n);
	}
	stop_daemon(server);
	return NULL;
}

/* --- life -------------------------------------------------------------- */

static bool is_given(const char *path)
{
	return path && *path;
}

static struct triad_http_times times_of(const struct triad_http_params *params)
{
	return (struct triad_http_times){
		.request_us = TRIAD_US_PER_MS *
			(params->request_ms ? params->request_ms : REQUEST_MS),
		.piece_us = TRIAD_US_PER_MS *
			(params->piece_ms ? params->piece_ms : PIECE_MS),
		.answer_us = TRIAD_US_PER_MS *
			(params->answer_ms ? params->answer_ms : ANSWER_MS),
	};
}

void triad_http_server_free(struct triad_http_server *server)
{
	if (!server)
		return;
	triad_http_forget(server->certificate);
	triad_http_forget(server->key);
	triad_http_forget(server->client_ca);
	triad_http_token_clear(&server->token);
	free(server->names);
	triad_http_clients_clear(&server->clients);
	if (server->wake_fd >= 0)
		close(server->wake_fd);
	free(server);
}

void triad_http_server_stop(struct triad_http_server *server)
{
	if (!server)
		return;
	atomic_store(&server->stop, true);
	(void)eventfd_write(server->wake_fd, 1);
	pthread_join(server->thread, NULL);
	triad_http_server_free(server);
}

/* Those that are configured, and the host's own; NULL when memory is short. */
static char *list_names(const char *names)
{
	char own[256] = "", *list;

	if (gethostname(own, sizeof(own) - 1))
		own[0] = '\0';
	if (asprintf(&list, "%s%s%s", names ? names : "", names && *names ? ";" : "",
		    own) < 0)
		return NULL;
	return list;
}

struct triad_http_server *triad_http_server_new(
	const struct triad_http_callbacks *callbacks, struct triad_log *log,
	struct triad_http_counts *counts, const struct triad_http_params *params)
{
	struct triad_http_server *server = calloc(1, sizeof(*server));
	struct triad_http_times times = times_of(params);

	if (!server)
		return NULL;
	server->callbacks = *callbacks;
	server->log = log;
	server->counts = counts;
	server->complaints =
		(struct triad_log_limit){.burst = 3, .period_us = 60 * TRIAD_US_PER_S};
	server->params = *params;
	server->params.names = NULL;
	server->names = list_names(params->names);
	server->listen_fd = -1;
	server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->wake_fd < 0 || !server->names ||
		!triad_http_clients_init(
			&server->clients, params->max_clients, &times)) {
		triad_http_server_free(server);
		return NULL;
	}
	return server;
}

/* The mistakes in the server's files. */
struct mistakes {
	const char *section;
	int error; /* of the first */
	char *text;
	size_t size;
};

static void add_mistake(struct mistakes *mistakes, int error, const char *reason)
{
	if (!error)
		return;
	triad_text_append(mistakes->text, mistakes->size, "%s%s",
		mistakes->error ? "; " : "", reason);
	if (!mistakes->error)
		mistakes->error = error;
}

static void read_pem(struct mistakes *mistakes, const char *path, char **text,
	struct triad_log *secret_log)
{
	char reason[TRIAD_HTTP_REASON_SIZE] = "";
	struct stat about;
	int error = triad_http_read_file(
		path, TRIAD_HTTP_PEM_MAX_SIZE, text, &about, reason, sizeof(reason));

	if (!error && secret_log)
		triad_http_warn_if_open(mistakes->section, path, &about, secret_log);
	add_mistake(mistakes, error, reason);
}

static void read_client_ca(struct triad_http_server *server, struct mistakes *mistakes)
{
	const char *path = server->params.tls_client_ca_path;
	char reason[TRIAD_HTTP_REASON_SIZE] = "";

	if (!is_given(path))
		return;
	read_pem(mistakes, path, &server->client_ca, NULL);
	if (server->client_ca)
		add_mistake(mistakes,
			triad_http_check_authorities(
				server->client_ca, path, reason, sizeof(reason)),
			reason);
}

int triad_http_server_read_files(
	struct triad_http_server *server, char *text, size_t size)
{
	const struct triad_http_params *params = &server->params;
	struct mistakes mistakes = {
		.section = server->callbacks.section, .text = text, .size = size};
	char reason[TRIAD_HTTP_REASON_SIZE] = "";

	text[0] = '\0';
	if (is_given(params->tls_certificate_path)) {
		read_pem(&mistakes, params->tls_certificate_path, &server->certificate,
			NULL);
		read_pem(&mistakes, params->tls_key_path, &server->key, server->log);
		read_client_ca(server, &mistakes);
	}
	if (is_given(params->token_path))
		add_mistake(&mistakes,
			triad_http_token_load(&server->token, mistakes.section,
				params->token_path, server->log, reason,
				sizeof(reason)),
			reason);
	return mistakes.error;
}

int triad_http_server_start(
	struct triad_http_server *server, int listen_fd, char *reason, size_t size)
{
	const union MHD_DaemonInfo *info;
	int error;

	server->listen_fd = listen_fd;
	start_daemon(server);
	if (!server->daemon) {
		snprintf(reason, size, "the server can't start: %s%s",
			*server->last_message ? server->last_message
					      : "no reason given",
			server->certificate
				? "; look at tls_certificate and tls_key, which must "
				  "be PEM and fit together"
				: "");
		return EINVAL;
	}
	info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	server->epoll_fd = info ? info->epoll_fd : -1;
	error = triad_thread_start(&server->thread, "triad-http", run_thread, server);
	if (error) {
		snprintf(reason, size, "no thread for the server: %s", strerror(error));
		stop_daemon(server);
	}
	return error;
}
