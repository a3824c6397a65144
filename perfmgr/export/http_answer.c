/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <stdlib.h>
#include <string.h>

#include "perfmgr/export/http_exchange.h"
#include "perfmgr/export/http_server.h"
#include "perfmgr/formats/http_request.h"
#include "triad/clock.h"

static triad_http_result queue(
	struct MHD_Connection *connection, unsigned code, struct MHD_Response *response)
{
	triad_http_result result = MHD_queue_response(connection, code, response);

	MHD_destroy_response(response);
	return result;
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool may_ask(struct triad_http_server *server, struct MHD_Connection *connection)
{
	if (!server->token.path)
		return true;
	triad_http_token_refresh(&server->token, server->log, triad_clock_now_us());
	return triad_http_has_token(
		header_of(connection, MHD_HTTP_HEADER_AUTHORIZATION),
		server->token.text);
}

static bool is_reading(const char *method)
{
	return !strcmp(method, MHD_HTTP_METHOD_GET) ||
		!strcmp(method, MHD_HTTP_METHOD_HEAD);
}

static void log_unauthorized(struct triad_http_server *server)
{
	unsigned long suppressed;

	if (triad_log_limit_pass(
		    &server->complaints, triad_clock_now_us(), &suppressed))
		triad_log_write(server->log, TRIAD_LOG_INFO,
			"%s: a client was refused: it did not show the token of %s (%lu "
			"lines like this one were left out)",
			server->callbacks.section, server->token.path, suppressed);
}

/* Answers with a problem of RFC 9457 ('json' is sent as it is) and one more header. */
static triad_http_result answer_problem(struct triad_http_exchange *exchange,
	unsigned code, const char *json, const char *header, const char *value)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(json), (void *)json, MHD_RESPMEM_PERSISTENT);

	if (!response)
		return MHD_NO;
	(void)MHD_add_response_header(
		response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/problem+json");
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	(void)MHD_add_response_header(
		response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	triad_http_add_guards(response);
	(void)MHD_add_response_header(response, header, value);
	triad_http_count_code(exchange->server->counts, code);
	exchange->is_answered = true;
	return queue(exchange->connection, code, response);
}

triad_http_result triad_http_answer(struct triad_http_exchange *exchange,
	struct triad_http_client *client, const char *method)
{
	struct triad_http_server *server = exchange->server;
	const struct triad_http_handler *handler = server->callbacks.handler;

	client->asked_us = client->piece_us = triad_clock_now_us();
	exchange->client = client;
	if (!is_reading(method))
		return answer_problem(exchange, MHD_HTTP_METHOD_NOT_ALLOWED,
			"{\"title\":\"Method Not Allowed\",\"status\":405,"
			"\"detail\":\"there is only GET and HEAD: nothing is changed "
			"here, but by triadctl\"}\n",
			MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (!handler->is_open(handler->context, triad_http_path_of(exchange->target)) &&
		!may_ask(server, exchange->connection)) {
		log_unauthorized(server);
		return answer_problem(exchange, MHD_HTTP_UNAUTHORIZED,
			"{\"title\":\"Unauthorized\",\"status\":401,"
			"\"detail\":\"a token is needed: Authorization: Bearer "
			"TOKEN\"}\n",
			MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"triad\"");
	}
	triad_http_clients_note_served(&server->clients, client, client->asked_us);
	return triad_http_exchange_answer(exchange);
}
