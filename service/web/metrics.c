/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/web/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "perfmgr/export/gzip.h"
#include "perfmgr/formats/http_request.h"
#include "triad/control.h"

/* Scrapers are few, and addresses that were served come in before others. */
#define MAX_CLIENTS 16

struct triad_metrics_server {
	struct triad_web_source source;
	struct triad_log *log;
	struct triad_pool *pool;
	struct triad_http *http;
	struct triad_http_handler handler;
};

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

/* What is asked: the words of a request. */
struct question {
	char text[TRIAD_CONTROL_REQUEST_SIZE]; /* the words, a 0 behind each */
	char key[TRIAD_CONTROL_REQUEST_SIZE];  /* the same with blanks */
	size_t used;
	const char *words[TRIAD_CONTROL_MAX_WORDS];
	int n_words;
	bool is_too_long;
};

struct answer {
	struct triad_metrics_server *server;
	unsigned code;
	const char *type;
	bool is_packed;
	/* A text, unless a job has it. */
	char room[TRIAD_POOL_MESSAGES_SIZE];
	const char *text;
	struct triad_pool_job *job;
	struct triad_pool_head head;
	uint64_t size, at;
};

/* --- texts --- */

static void answer_text(
	struct answer *answer, unsigned code, const char *type, const char *text)
{
	answer->code = code;
	answer->type = type;
	answer->is_packed = false;
	answer->text = text;
	answer->size = strlen(text);
}

static void answer_refusal(struct answer *answer, unsigned code, const char *text)
{
	answer_text(answer, code, "text/plain; charset=utf-8", text);
}

/* --- questions --- */

static void add_word(struct question *question, const char *word)
{
	size_t n = strlen(word) + 1;

	if (question->n_words == TRIAD_CONTROL_MAX_WORDS ||
		question->used + n > sizeof(question->text)) {
		question->is_too_long = true;
		return;
	}
	memcpy(question->text + question->used, word, n);
	question->words[question->n_words++] = question->text + question->used;
	question->used += n;
	triad_text_append(question->key, sizeof(question->key), "%s ", word);
}

static bool add_argument(void *context, const char *name, const char *value)
{
	char word[TRIAD_CONTROL_REQUEST_SIZE] = "";

	triad_text_append(word, sizeof(word), "%s=%s", name, value);
	add_word(context, word);
	return !((struct question *)context)->is_too_long;
}

static int run_question(
	void *context, const void *resource, struct triad_output *output)
{
	const struct triad_web_source *source = context;
	const struct question *question = resource;

	return source->run(source->context, question->n_words, question->words, output);
}

static void answer_metrics(
	struct answer *answer, const struct triad_http_request *request)
{
	bool is_open =
		triad_http_format(request->accept) == TRIAD_EXPOSITION_OPENMETRICS;
	struct question *question = calloc(1, sizeof(*question));
	struct triad_pool_order order = {.run = run_question,
		.context = &answer->server->source,
		.resource = question};
	int error = question ? 0 : ENOMEM;

	if (question) {
		add_word(question, "metrics");
		add_word(question, is_open ? "openmetrics" : "text");
		request->each_argument(request, add_argument, question);
		order.key = question->key;
	}
	if (question && question->is_too_long) {
		answer_refusal(answer, 414, "Too many arguments, or too long ones.\n");
		free(question);
		return;
	}
	answer->code = 200;
	answer->type = is_open
		? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		: "text/plain; version=0.0.4; charset=utf-8";
	answer->is_packed = triad_http_takes_gzip(request->accept_encoding);
	order.gzip_level = answer->is_packed ? TRIAD_GZIP_FAST : 0;
	memcpy(order.network, request->network, sizeof(order.network));
	if (!error)
		error = triad_pool_begin(answer->server->pool, &order, &answer->job);
	if (error)
		answer_refusal(answer, 503,
			error == EBUSY ? "Too many wait for an answer: ask again.\n"
				       : "Memory is short.\n");
}

/* --- the handler --- */

static bool is_open(void *context, const char *target)
{
	(void)context;
	(void)target;
	return false;
}

static void *begin_answer(void *context, const struct triad_http_request *request)
{
	struct answer *answer = calloc(1, sizeof(*answer));

	if (!answer)
		return NULL;
	answer->server = context;
	/* A page whose own name leads here (DNS rebinding) could read the answer.  What
	 * is no browser need not say whom it asks. */
	if (!request->is_protected && request->host &&
		!triad_http_is_our_host(request->host, request->names))
		answer_refusal(answer, 421,
			"The name by which you ask is not known here: ask by the address, "
			"name it in web.names, or set prometheus.token_file\n");
	else if (triad_http_is_path(request->target, "/metrics"))
		answer_metrics(answer, request);
	else if (triad_http_is_path(request->target, "/"))
		answer_text(answer, 200, "text/html; charset=utf-8", page);
	else
		answer_refusal(answer, 404, "There is only / and /metrics.\n");
	return answer;
}

static bool is_ready(void *context, void *it)
{
	const struct answer *answer = it;

	(void)context;
	return answer->text || triad_pool_job_is_ready(answer->job);
}

/* Takes what goes before the job's text, or why there is none. */
static void take_head(struct answer *answer)
{
	struct triad_pool_head *head = &answer->head;

	triad_pool_job_head(answer->job, head);
	answer->size = head->size;
	if (head->size && head->exit_status == TRIAD_CONTROL_DONE)
		return;
	memcpy(answer->room, head->messages, sizeof(answer->room));
	answer_refusal(answer,
		head->exit_status == TRIAD_CONTROL_USAGE            ? 400
			: head->exit_status == TRIAD_POOL_NO_ANSWER ? 502
								    : 503,
		*answer->room ? answer->room : "There is no answer.\n");
}

static void give_head(void *context, void *it, struct triad_http_head *head)
{
	struct answer *answer = it;

	(void)context;
	if (!answer->text)
		take_head(answer);
	const char *const fields[][2] = {{"Content-Type", answer->type},
		{"Cache-Control", "no-store"}, {"Vary", "Accept, Accept-Encoding"},
		{"Content-Encoding", "gzip"}};
	unsigned n = answer->text ? 2 : answer->is_packed ? 4 : 3;

	*head = (struct triad_http_head){
		.code = answer->code, .size = answer->size, .n_fields = n};
	for (unsigned i = 0; i < n; i++) {
		head->fields[i].name = fields[i][0];
		head->fields[i].value = fields[i][1];
	}
}

static ssize_t give_piece(void *context, void *it, char *buffer, size_t size)
{
	struct answer *answer = it;
	ssize_t n;

	(void)context;
	if (answer->text) {
		n = (ssize_t)(size < answer->size - answer->at
				? size
				: answer->size - answer->at);
		memcpy(buffer, answer->text + answer->at, (size_t)n);
		n = n ? n : TRIAD_HTTP_END;
	} else {
		n = triad_pool_job_read(answer->job, answer->at, buffer, size);
	}
	if (n > 0)
		answer->at += (uint64_t)n;
	return n;
}

static void end_answer(void *context, void *it)
{
	struct answer *answer = it;

	(void)context;
	if (answer->job)
		triad_pool_job_leave(answer->job);
	free(answer);
}

/* --- life --- */

static void wake_server(void *context)
{
	struct triad_metrics_server *server = context;

	triad_http_wake(server->http);
}

struct triad_metrics_server *triad_metrics_server_new(
	const struct triad_web_source *source, struct triad_log *log)
{
	struct triad_metrics_server *server = calloc(1, sizeof(*server));
	struct triad_http_callbacks callbacks = {
		.section = "prometheus", .what = "counters are", .path = "metrics"};

	if (!server)
		return NULL;
	server->source = *source;
	server->log = log;
	server->handler = (struct triad_http_handler){.context = server,
		.is_open = is_open,
		.begin = begin_answer,
		.is_ready = is_ready,
		.head = give_head,
		.read = give_piece,
		.end = end_answer};
	callbacks.handler = &server->handler;
	server->pool = triad_pool_new(wake_server, server);
	server->http = triad_http_new(&callbacks, log);
	if (server->pool && server->http)
		return server;
	triad_metrics_server_free(server);
	return NULL;
}

struct triad_http *triad_metrics_server_http(struct triad_metrics_server *server)
{
	return server->http;
}

int triad_metrics_server_start(struct triad_metrics_server *server)
{
	return triad_pool_start(server->pool);
}

void triad_metrics_server_configure(
	struct triad_metrics_server *server, const struct triad_conf *conf)
{
	int error = *conf->prometheus.listen ? triad_pool_start(server->pool) : 0;

	if (error)
		triad_log_write(server->log, TRIAD_LOG_ERROR,
			"prometheus: no thread for it: %s; it listens nowhere",
			strerror(error));
	(void)(error ? triad_http_configure(server->http, NULL)
		     : triad_http_configure_listener(server->http, &conf->prometheus,
			       MAX_CLIENTS, conf->web.names));
}

void triad_metrics_server_stop(struct triad_metrics_server *server)
{
	if (!server)
		return;
	(void)triad_http_configure(server->http, NULL);
	triad_pool_stop(server->pool);
}

void triad_metrics_server_free(struct triad_metrics_server *server)
{
	if (!server)
		return;
	triad_http_free(server->http);
	triad_pool_free(server->pool);
	free(server);
}

struct triad_pool_status triad_metrics_server_pool(struct triad_metrics_server *server)
{
	return triad_pool_status(server->pool);
}

struct triad_http_status triad_metrics_server_status(
	struct triad_metrics_server *server)
{
	return triad_http_status(server->http);
}
