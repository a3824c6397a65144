/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <stdlib.h>
#include <string.h>

#include "perfmgr/export/gzip.h"
#include "perfmgr/export/http_exchange.h"
#include "perfmgr/export/http_server.h"
#include "perfmgr/formats/http_request.h"
#include "triad/clock.h"

#define PIECE_SIZE (32 * 1024)
#define HOST_SIZE 256
#define HTTP_MISDIRECTED 421 /* older libmicrohttpds have no name for it */

static const char page[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Triad</title></head>\n"
	"<body><h1>Triad</h1>\n"
	"<p>Counters of every InfiniBand port, for Prometheus: "
	"<a href=\"/metrics\">/metrics</a>.</p>\n"
	"<p>Some of them, each argument as often as you like:</p>\n"
	"<ul><li><code>/metrics?node=PATTERN</code>, a node's name or its GUID</li>\n"
	"<li><code>/metrics?switch=PATTERN</code>, the same for switches</li>\n"
	"<li><code>/metrics?type=ca</code>, <code>switch</code>, "
	"<code>router</code></li>\n"
	"<li><code>/metrics?counter=PortXmitData</code></li></ul>\n"
	"</body></html>\n";

/* --- short answers ----------------------------------------------------- */

static void add_headers(struct MHD_Response *response, const char *type)
{
	/* When memory is short, the answer goes without the header. */
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	(void)MHD_add_response_header(
		response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	(void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
}

static triad_http_result queue(
	struct MHD_Connection *connection, unsigned code, struct MHD_Response *response)
{
	triad_http_result result = MHD_queue_response(connection, code, response);

	MHD_destroy_response(response);
	return result;
}

/* 'header' (may be NULL) is one more, with 'value'. */
static triad_http_result answer_text(struct MHD_Connection *connection, unsigned code,
	const char *text, const char *header, const char *value)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);

	if (!response)
		return MHD_NO;
	add_headers(response, "text/plain; charset=utf-8");
	if (header)
		(void)MHD_add_response_header(response, header, value);
	return queue(connection, code, response);
}

static triad_http_result show_page(struct MHD_Connection *connection)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		sizeof(page) - 1, (void *)page, MHD_RESPMEM_PERSISTENT);

	if (!response)
		return MHD_NO;
	add_headers(response, "text/html; charset=utf-8");
	return queue(connection, MHD_HTTP_OK, response);
}

/* --- metrics ----------------------------------------------------------- */

struct answer {
	struct triad_http_server *server;
	struct triad_http_client *client; /* while the daemon asks for more */
	struct triad_metrics *metrics;
	bool is_packed, all_taken, all_packed;
	z_stream packer;
	char piece[PIECE_SIZE]; /* for the packer */
};

static void answer_free(void *context)
{
	struct answer *answer = context;

	if (!answer)
		return;
	if (answer->is_packed)
		deflateEnd(&answer->packer);
	triad_metrics_free(answer->metrics);
	free(answer);
}

/* Returns the number of octets in 'buffer'; 0 at the end, -1 when zlib failed. */
static ssize_t pack(struct answer *answer, char *buffer, size_t size)
{
	z_stream *packer = &answer->packer;
	int result = Z_OK;

	packer->next_out = (Bytef *)buffer;
	packer->avail_out = (uInt)size;
	while (packer->avail_out && !answer->all_packed) {
		/* Take no more text before zlib has used the last piece. */
		if (!packer->avail_in && !answer->all_taken) {
			packer->next_in = (Bytef *)answer->piece;
			packer->avail_in = (uInt)triad_metrics_fill(
				answer->metrics, answer->piece, PIECE_SIZE);
			answer->all_taken = !packer->avail_in;
		}
		result = deflate(packer, answer->all_taken ? Z_FINISH : Z_NO_FLUSH);
		if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
			return -1;
		answer->all_packed = result == Z_STREAM_END;
	}
	return (ssize_t)(size - packer->avail_out);
}

static ssize_t give_piece(void *context, uint64_t at, char *buffer, size_t size)
{
	struct answer *answer = context;
	ssize_t n;

	(void)at;
	answer->client->piece_us = triad_clock_now_us();
	size = size < PIECE_SIZE ? size : PIECE_SIZE;
	if (answer->is_packed)
		n = pack(answer, buffer, size);
	else
		n = (ssize_t)triad_metrics_fill(answer->metrics, buffer, size);
	if (n < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	atomic_fetch_add(&answer->server->counts->octets, (uint64_t)n);
	return n ? n : (ssize_t)MHD_CONTENT_READER_END_OF_STREAM;
}

static bool begin_packing(struct answer *answer)
{
	answer->is_packed = triad_gzip_begin(&answer->packer, TRIAD_GZIP_FAST);
	return answer->is_packed;
}

/* Begins the metrics: Triad's own, and the view of this moment. */
static struct triad_metrics *begin_metrics(struct triad_http_server *server,
	enum triad_exposition_format format, const struct triad_metrics_filter *filter)
{
	const struct triad_http_callbacks *callbacks = &server->callbacks;
	struct triad_metric *own = calloc(TRIAD_HTTP_MAX_OWN, sizeof(*own));
	struct triad_metrics_params params = {
		.format = format, .filter = *filter, .own = own};
	struct triad_silences *silences = NULL;
	struct triad_link *links = NULL;
	struct triad_metrics *metrics;

	if (!own)
		return NULL;
	if (callbacks->own)
		params.n_own =
			callbacks->own(callbacks->context, own, TRIAD_HTTP_MAX_OWN);
	params.view = callbacks->view(callbacks->context);
	if (callbacks->links)
		params.links = links =
			callbacks->links(callbacks->context, &params.n_links);
	if (callbacks->hardware)
		params.hardware = callbacks->hardware(callbacks->context);
	if (callbacks->silences)
		params.silences = silences = callbacks->silences(callbacks->context);
	if (callbacks->routes && params.view)
		params.routes =
			callbacks->routes(callbacks->context, params.view->fabric);
	metrics = triad_metrics_new(&params);
	free(silences);
	free(links);
	triad_view_unref(params.view);
	free(own);
	return metrics;
}

static struct answer *answer_new(struct triad_http_server *server,
	struct triad_http_client *client, enum triad_exposition_format format,
	bool is_packed, const struct triad_metrics_filter *filter)
{
	struct answer *answer = calloc(1, sizeof(*answer));

	if (!answer)
		return NULL;
	answer->server = server;
	answer->client = client;
	answer->metrics = begin_metrics(server, format, filter);
	if (answer->metrics && (!is_packed || begin_packing(answer)))
		return answer;
	answer_free(answer);
	return NULL;
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static triad_http_result show_metrics(struct triad_http_server *server,
	struct MHD_Connection *connection, struct triad_http_client *client,
	const struct triad_metrics_filter *filter)
{
	enum triad_exposition_format format =
		triad_http_format(header_of(connection, MHD_HTTP_HEADER_ACCEPT));
	bool is_packed = triad_http_takes_gzip(
		header_of(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING));
	struct answer *answer = answer_new(server, client, format, is_packed, filter);
	struct MHD_Response *response;

	if (!answer) {
		atomic_fetch_add(&server->counts->n_no_memory, 1);
		return answer_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			"Memory is short.\n", NULL, NULL);
	}
	response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, PIECE_SIZE, give_piece, answer, answer_free);
	if (!response) {
		answer_free(answer);
		return MHD_NO;
	}
	add_headers(response,
		format == TRIAD_EXPOSITION_OPENMETRICS
			? "application/openmetrics-text; version=1.0.0; charset=utf-8"
			: "text/plain; version=0.0.4; charset=utf-8");
	(void)MHD_add_response_header(
		response, MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding");
	if (is_packed)
		(void)MHD_add_response_header(
			response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	atomic_fetch_add(&server->counts->n_answers, 1);
	return queue(connection, MHD_HTTP_OK, response);
}

/* --- what is asked ----------------------------------------------------- */

struct arguments {
	struct triad_metrics_filter filter;
	bool are_wrong;
	char reason[256]; /* of the first that is */
};

static triad_http_result add_argument(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct arguments *arguments = context;

	(void)kind;
	arguments->are_wrong = !triad_http_argument(&arguments->filter, name, value,
		arguments->reason, sizeof(arguments->reason) - 1);
	return arguments->are_wrong ? MHD_NO : MHD_YES;
}

static triad_http_result answer_metrics(struct triad_http_server *server,
	struct MHD_Connection *connection, struct triad_http_client *client)
{
	struct arguments arguments = {0};

	(void)MHD_get_connection_values(
		connection, MHD_GET_ARGUMENT_KIND, add_argument, &arguments);
	if (!arguments.are_wrong)
		return show_metrics(server, connection, client, &arguments.filter);
	atomic_fetch_add(&server->counts->n_bad_requests, 1);
	/* add_argument() has left room for it. */
	strcat(arguments.reason, "\n");
	return answer_text(
		connection, MHD_HTTP_BAD_REQUEST, arguments.reason, NULL, NULL);
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

/* Whether the request names this host.  A page whose own name leads here (DNS rebinding)
 * could read the answer; it has no token, and no certificate of its name.  What is no
 * browser need not say whom it asks. */
static bool is_for_us(const struct triad_http_server *server,
	struct MHD_Connection *connection, const char *target)
{
	char room[HOST_SIZE];
	const char *host = triad_http_host_of(target,
		header_of(connection, MHD_HTTP_HEADER_HOST), room, sizeof(room));

	return server->token.path || server->certificate || !host ||
		triad_http_is_our_host(host, server->names);
}

/* --- who may ask ------------------------------------------------------- */

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

triad_http_result triad_http_answer(struct triad_http_server *server,
	struct MHD_Connection *connection, struct triad_http_client *client,
	const char *url, const char *method)
{
	const char *target = url;

	url = triad_http_path_of(target);
	client->asked_us = client->piece_us = triad_clock_now_us();
	if (!is_reading(method)) {
		triad_http_count_code(server->counts, MHD_HTTP_METHOD_NOT_ALLOWED);
		return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			"There is only GET and HEAD.\n", MHD_HTTP_HEADER_ALLOW,
			"GET, HEAD");
	}
	if (!may_ask(server, connection)) {
		triad_http_count_code(server->counts, MHD_HTTP_UNAUTHORIZED);
		log_unauthorized(server);
		return answer_text(connection, MHD_HTTP_UNAUTHORIZED,
			"A token is needed: Authorization: Bearer TOKEN\n",
			MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"triad\"");
	}
	if (!is_for_us(server, connection, target)) {
		atomic_fetch_add(&server->counts->n_bad_requests, 1);
		return answer_text(connection, HTTP_MISDIRECTED,
			"The name by which you ask is not known here: ask by the address, "
			"name it in web.names, or set prometheus.token_file\n",
			NULL, NULL);
	}
	triad_http_clients_note_served(&server->clients, client, client->asked_us);
	if (!strcmp(url, "/metrics"))
		return answer_metrics(server, connection, client);
	if (!strcmp(url, "/"))
		return show_page(connection);
	triad_http_count_code(server->counts, MHD_HTTP_NOT_FOUND);
	return answer_text(connection, MHD_HTTP_NOT_FOUND,
		"There is only / and /metrics.\n", NULL, NULL);
}

/* --- by a handler --------------------------------------------------------- */

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

triad_http_result triad_http_answer_by_handler(struct triad_http_exchange *exchange,
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
