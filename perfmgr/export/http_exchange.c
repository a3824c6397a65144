/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/http_exchange.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/formats/http_request.h"
#include "triad/clock.h"

#define PIECE_SIZE (32 * 1024)
#define HOST_SIZE 256

/* --- life --- */

static void add_to_list(struct triad_http_exchange *exchange)
{
	struct triad_http_exchange **first = &exchange->server->exchanges;

	exchange->next = *first;
	exchange->at = first;
	if (exchange->next)
		exchange->next->at = &exchange->next;
	*first = exchange;
}

void *triad_http_exchange_new(
	void *server, const char *target, struct MHD_Connection *connection)
{
	size_t size = strlen(target) + 1;
	struct triad_http_exchange *exchange = malloc(sizeof(*exchange) + size);

	if (!exchange)
		return NULL;
	*exchange = (struct triad_http_exchange){
		.server = server, .connection = connection};
	memcpy(exchange->target, target, size);
	add_to_list(exchange);
	return exchange;
}

static void end_answer(struct triad_http_exchange *exchange)
{
	const struct triad_http_handler *handler = exchange->server->callbacks.handler;

	if (exchange->answer)
		handler->end(handler->context, exchange->answer);
	exchange->answer = NULL;
}

void triad_http_exchange_free(struct triad_http_exchange *exchange)
{
	if (!exchange)
		return;
	end_answer(exchange);
	*exchange->at = exchange->next;
	if (exchange->next)
		exchange->next->at = exchange->at;
	free(exchange);
}

/* --- pauses --- */

static void suspend(struct triad_http_exchange *exchange)
{
	exchange->is_suspended = exchange->client->is_waiting = true;
	MHD_suspend_connection(exchange->connection);
}

static void resume(struct triad_http_exchange *exchange)
{
	exchange->is_suspended = exchange->client->is_waiting = false;
	exchange->client->piece_us = triad_clock_now_us();
	MHD_resume_connection(exchange->connection);
}

/* Whether the client of a stream has closed it.  libmicrohttpd does not look while
 * nothing is sent.  For other answers a half-closed connection is legal.  Octets that
 * the client sent before, such as TLS's close_notify, stay unread. */
static bool is_gone(const struct triad_http_exchange *exchange)
{
	struct pollfd fd = {.fd = exchange->client->fd, .events = POLLRDHUP};

	return exchange->client->is_endless && poll(&fd, 1, 0) > 0;
}

void triad_http_exchanges_resume(struct triad_http_server *server, bool all)
{
	const struct triad_http_handler *handler = server->callbacks.handler;

	for (struct triad_http_exchange *it = server->exchanges; it; it = it->next) {
		if (!it->is_suspended)
			continue;
		it->is_gone = is_gone(it);
		/* Resume a cut connection, too: only then does libmicrohttpd see that
		 * it was cut. */
		if (all || it->client->cut || it->is_gone ||
			handler->is_ready(handler->context, it->answer))
			resume(it);
	}
}

/* --- answers --- */

static ssize_t give_piece(void *context, uint64_t at, char *buffer, size_t size)
{
	struct triad_http_exchange *exchange = context;
	struct triad_http_server *server = exchange->server;
	const struct triad_http_handler *handler = server->callbacks.handler;
	ssize_t n;

	(void)at;
	if (atomic_load(&server->stop) || exchange->client->cut || exchange->is_gone)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	exchange->client->piece_us = triad_clock_now_us();
	n = handler->read(handler->context, exchange->answer, buffer,
		size < PIECE_SIZE ? size : PIECE_SIZE);
	if (n > 0)
		atomic_fetch_add(&server->counts->octets, (uint64_t)n);
	else if (!n)
		suspend(exchange);
	else
		return n == TRIAD_HTTP_END ? (ssize_t)MHD_CONTENT_READER_END_OF_STREAM
					   : (ssize_t)MHD_CONTENT_READER_END_WITH_ERROR;
	return n;
}

static triad_http_result give_head(struct triad_http_exchange *exchange)
{
	struct triad_http_server *server = exchange->server;
	const struct triad_http_handler *handler = server->callbacks.handler;
	struct triad_http_head head = {.size = UINT64_MAX};
	struct MHD_Response *response;
	triad_http_result result;

	handler->head(handler->context, exchange->answer, &head);
	/* Without a body, read() is never called. */
	response = head.size
		? MHD_create_response_from_callback(
			  head.size == UINT64_MAX ? MHD_SIZE_UNKNOWN : head.size,
			  PIECE_SIZE, give_piece, exchange, NULL)
		: MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	if (!response)
		return MHD_NO;
	for (unsigned i = 0; i < head.n_fields; i++)
		(void)MHD_add_response_header(
			response, head.fields[i].name, head.fields[i].value);
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	triad_http_add_guards(response);
	exchange->client->is_endless = head.is_endless;
	exchange->is_answered = true;
	triad_http_count_code(server->counts, head.code);
	result = MHD_queue_response(exchange->connection, head.code, response);
	MHD_destroy_response(response);
	return result;
}

static const char *header_of(
	const struct triad_http_exchange *exchange, const char *name)
{
	return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

static bool has_body(const struct triad_http_exchange *exchange)
{
	const char *length = header_of(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return (length && strcmp(length, "0")) ||
		header_of(exchange, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

/* What is done with an argument. */
struct taking {
	bool (*take)(void *context, const char *name, const char *value);
	void *context;
};

static triad_http_result take_argument(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	const struct taking *taking = context;

	(void)kind;
	return taking->take(taking->context, name, value ? value : "") ? MHD_YES
								       : MHD_NO;
}

static void each_argument(const struct triad_http_request *request,
	bool (*take)(void *context, const char *name, const char *value), void *context)
{
	struct taking taking = {take, context};

	(void)MHD_get_connection_values(
		request->connection, MHD_GET_ARGUMENT_KIND, take_argument, &taking);
}

static void begin_answer(struct triad_http_exchange *exchange)
{
	struct triad_http_server *server = exchange->server;
	const struct triad_http_handler *handler = server->callbacks.handler;
	char room[HOST_SIZE];
	struct triad_http_request request = {
		.target = triad_http_path_of(exchange->target),
		.has_body = has_body(exchange),
		.host = triad_http_host_of(exchange->target,
			header_of(exchange, MHD_HTTP_HEADER_HOST), room, sizeof(room)),
		.accept = header_of(exchange, MHD_HTTP_HEADER_ACCEPT),
		.accept_encoding = header_of(exchange, MHD_HTTP_HEADER_ACCEPT_ENCODING),
		.if_none_match = header_of(exchange, MHD_HTTP_HEADER_IF_NONE_MATCH),
		.last_event_id = header_of(exchange, "Last-Event-ID"),
		.sec_fetch_site = header_of(exchange, "Sec-Fetch-Site"),
		.is_protected = server->token.path || server->certificate,
		.names = server->names,
		.each_argument = each_argument,
		.connection = exchange->connection,
	};

	memcpy(request.network, exchange->client->network, sizeof(request.network));
	exchange->answer = handler->begin(handler->context, &request);
}

triad_http_result triad_http_exchange_answer(struct triad_http_exchange *exchange)
{
	struct triad_http_server *server = exchange->server;
	const struct triad_http_handler *handler = server->callbacks.handler;
	bool is_first = !exchange->answer;

	if (atomic_load(&server->stop) || exchange->client->cut)
		return MHD_NO;
	if (is_first)
		begin_answer(exchange);
	if (!exchange->answer) {
		triad_http_count_code(server->counts, MHD_HTTP_SERVICE_UNAVAILABLE);
		return MHD_NO;
	}
	if (handler->is_ready(handler->context, exchange->answer))
		return give_head(exchange);
	/* libmicrohttpd can suspend a connection from the second call on. */
	if (!is_first)
		suspend(exchange);
	return MHD_YES;
}

/* --- any answer --- */

void triad_http_count_code(struct triad_http_counts *counts, unsigned code)
{
	switch (code) {
	case MHD_HTTP_OK:
		atomic_fetch_add(&counts->n_answers, 1);
		break;
	case MHD_HTTP_NOT_MODIFIED:
		atomic_fetch_add(&counts->n_unchanged, 1);
		break;
	case MHD_HTTP_BAD_REQUEST:
		atomic_fetch_add(&counts->n_bad_requests, 1);
		break;
	case MHD_HTTP_UNAUTHORIZED:
		atomic_fetch_add(&counts->n_unauthorized, 1);
		break;
	case MHD_HTTP_NOT_FOUND:
		atomic_fetch_add(&counts->n_not_found, 1);
		break;
	case MHD_HTTP_METHOD_NOT_ALLOWED:
		atomic_fetch_add(&counts->n_bad_methods, 1);
		break;
	case MHD_HTTP_SERVICE_UNAVAILABLE:
		atomic_fetch_add(&counts->n_no_memory, 1);
		break;
	default:
		atomic_fetch_add(&counts->n_refused, 1);
	}
}

void triad_http_add_guards(struct MHD_Response *response)
{
	(void)MHD_add_response_header(response, "Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; "
		"connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
		"frame-ancestors 'none'; form-action 'none'");
	(void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	(void)MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	(void)MHD_add_response_header(
		response, "Cross-Origin-Resource-Policy", "same-origin");
}
