/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/resource.h"
#include "lib/text.h"
#include "perfmgr/export/gzip.h"
#include "perfmgr/formats/http_request.h"
#include "service/web/files.h"
#include "service/web/openapi.h"
#include "service/web/web_parts.h"
#include "triad/clock.h"
#include "triad/json.h"

#define JSON "application/json"
#define PROBLEM "application/problem+json"
#define ETAGS_SIZE 512
#define TEXT_SIZE 2048

enum kind {
	KIND_OCTETS, /* in memory: a file, or a problem */
	KIND_JOB,
	KIND_STREAM,
};

/* The answer to one request. */
struct answer {
	struct triad_web *web;
	enum kind kind;
	unsigned code;
	const char *type;
	bool is_packed;
	bool is_command; /* else the OpenAPI description */
	bool may_retry;  /* the client may come back soon */
	uint8_t network[TRIAD_HTTP_NETWORK_SIZE];
	char if_none_match[ETAGS_SIZE];
	/* Of octets: */
	char text[TEXT_SIZE]; /* room for a problem */
	size_t used;          /* of it */
	const char *octets, *etag;
	size_t size;
	size_t at; /* sent; of a job's document, too */
	/* Of a job: */
	struct triad_pool_job *job;
	struct triad_pool_head head;
	unsigned limit, offset; /* of its page; limit 0: all */
	char *target, *link;
	char message[TRIAD_POOL_MESSAGES_SIZE], total[24], status[12];
	struct triad_stream stream;
};

/* A request to the pool. */
struct question {
	bool is_description;
	struct triad_resource resource;
	char key[TRIAD_RESOURCE_SIZE]; /* its words; "": too many for it */
};

/* --- problems --- */

static const char *title_of(unsigned code)
{
	switch (code) {
	case 400:
		return "Bad Request";
	case 403:
		return "Forbidden";
	case 404:
		return "Not Found";
	case 409:
		return "Conflict";
	case 413:
		return "Content Too Large";
	case 414:
		return "URI Too Long";
	case 421:
		return "Misdirected Request";
	case 502:
		return "Bad Gateway";
	default:
		return "Service Unavailable";
	}
}

static bool keep_text(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	struct answer *answer = context;

	(void)type;
	if (size > sizeof(answer->text) - answer->used)
		return false;
	memcpy(answer->text + answer->used, data, size);
	answer->used += size;
	return true;
}

/* Makes the answer a problem document [RFC 9457]. */
static void answer_problem(struct answer *answer, unsigned code, const char *detail)
{
	struct triad_output output;
	struct triad_json json;

	answer->kind = KIND_OCTETS;
	answer->code = code;
	answer->type = PROBLEM;
	answer->is_packed = false;
	answer->may_retry = code == 503;
	answer->used = answer->at = 0;
	triad_output_init(&output, keep_text, answer);
	triad_json_init(&json, &output);
	triad_json_object_begin(&json, NULL);
	triad_json_string(&json, "title", title_of(code));
	triad_json_uint(&json, "status", code);
	triad_json_string(&json, "detail", detail);
	triad_json_object_end(&json);
	triad_json_end(&json);
	triad_output_flush(&output);
	answer->octets = answer->text;
	answer->size = answer->used;
	answer->etag = NULL;
}

/* --- the page's files --- */

static const struct triad_web_file *find_file(const char *target)
{
	size_t length = strcspn(target, "?");
	const char *name = length == 1 ? "index.html" : target + 1;
	size_t n = length == 1 ? strlen(name) : length - 1;

	if (*target != '/')
		return NULL;
	for (const struct triad_web_file *file = triad_web_files; file->name; file++)
		if (strlen(file->name) == n && !memcmp(file->name, name, n))
			return file;
	return NULL;
}

/* Answers with a file, which is in memory: no thread is needed. */
static void answer_file(
	struct answer *answer, const struct triad_web_file *file, bool takes_gzip)
{
	const struct triad_web_form *form = takes_gzip ? &file->packed : &file->plain;

	answer->kind = KIND_OCTETS;
	answer->type = file->type;
	answer->is_packed = takes_gzip;
	answer->octets = (const char *)form->octets;
	answer->size = form->size;
	answer->etag = form->etag;
	answer->code =
		triad_http_has_etag(answer->if_none_match, form->etag) ? 304 : 200;
}

/* --- jobs --- */

/* The 'run' of struct triad_pool_order: called in a thread of the pool. */
static int run_question(
	void *context, const void *resource, struct triad_output *output)
{
	const struct triad_web_source *source = context;
	const struct question *question = resource;

	if (question->is_description)
		return triad_openapi_put(source, output);
	return source->run(source->context, question->resource.n_words,
		question->resource.words, output);
}

static void fill_key(struct question *question)
{
	const struct triad_resource *resource = &question->resource;
	size_t n = 0;

	for (int i = 0; i < resource->n_words; i++)
		n += strlen(resource->words[i]) + 1;
	for (int i = 0; i < resource->n_words && n < sizeof(question->key); i++)
		triad_text_append(question->key, sizeof(question->key), "%s\n",
			resource->words[i]);
}

/* Has the pool write the answer; takes over 'question'.  Pages that hear of the same change
 * ask for the same at one time. */
static void answer_question(
	struct answer *answer, struct question *question, bool takes_gzip)
{
	struct triad_pool_order order = {
		.run = run_question,
		.context = &answer->web->source,
		.resource = question,
		.is_fresh = true,
		.limit = question->resource.limit,
		.offset = question->resource.offset,
		.n_asked = question->resource.n_asked,
		.gzip_level = takes_gzip ? TRIAD_GZIP_DEFAULT : 0,
		.waits = question->resource.waits,
	};
	int error;

	fill_key(question);
	order.key = *question->key ? question->key : NULL;
	answer->kind = KIND_JOB;
	answer->is_packed = takes_gzip;
	answer->limit = question->resource.limit;
	answer->offset = question->resource.offset;
	answer->type = JSON;
	memcpy(order.network, answer->network, sizeof(order.network));
	error = triad_pool_begin(answer->web->pool, &order, &answer->job);
	if (error)
		answer_problem(answer, 503,
			error == EBUSY
				? "too many wait for an answer, or too many of this "
				  "client's address, or too many read images: ask "
				  "again in some seconds"
				: "memory is short, or the process ends: ask again in "
				  "some seconds");
}

/* --- what is asked for --- */

static void answer_resource(
	struct answer *answer, struct question *question, bool takes_gzip)
{
	const struct triad_web_source *source = &answer->web->source;
	char message[512];
	int error = triad_resource_read(
		answer->target, &question->resource, message, sizeof(message));

	if (!error && !source->has(source->context, question->resource.verb->verb)) {
		error = ENOENT;
		snprintf(message, sizeof(message),
			"'%s' is not answered by the process that triadd asks",
			question->resource.verb->name);
	}
	if (!error) {
		answer->is_command = true;
		answer_question(answer, question, takes_gzip);
		return;
	}
	free(question);
	answer_problem(answer,
		error == EINVAL          ? 400
			: error == E2BIG ? 414
					 : 404,
		message);
}

static void read_state(struct triad_web *web, struct triad_stream_state *state)
{
	*state = (struct triad_stream_state){0};
	web->source.look(web->source.context, state);
}

static void answer_stream(struct answer *answer, const char *last_event_id)
{
	struct triad_web *web = answer->web;
	struct triad_stream_state now;
	bool has_room;

	pthread_mutex_lock(&web->lock);
	has_room = web->n_streams < web->max_streams;
	web->n_streams += has_room;
	pthread_mutex_unlock(&web->lock);
	if (!has_room) {
		answer_problem(answer, 503,
			"as many listen as may, a quarter of web.max_clients: poll "
			"instead, or come back");
		return;
	}
	answer->kind = KIND_STREAM;
	answer->code = 200;
	answer->type = "text/event-stream";
	read_state(web, &now);
	triad_stream_begin(&answer->stream, last_event_id, &now, triad_clock_now_us());
}

static void answer_target(
	struct answer *answer, const struct triad_http_request *request)
{
	bool takes_gzip = triad_http_takes_gzip(request->accept_encoding);
	const struct triad_web_file *file = find_file(answer->target);
	struct question *question;

	if (file) {
		answer_file(answer, file, takes_gzip);
		return;
	}
	if (triad_http_is_path(answer->target, TRIAD_RESOURCE_ROOT "changes")) {
		answer_stream(answer, request->last_event_id);
		return;
	}
	question = calloc(1, sizeof(*question));
	if (!question) {
		answer_problem(
			answer, 503, "memory is short: ask again in some seconds");
		return;
	}
	question->is_description =
		triad_http_is_path(answer->target, TRIAD_RESOURCE_ROOT "openapi.json");
	if (question->is_description) {
		answer_question(answer, question, takes_gzip);
		return;
	}
	answer_resource(answer, question, takes_gzip);
}

static bool is_our_host(struct triad_web *web, const char *host)
{
	char names[TRIAD_CONF_TEXT_SIZE];

	pthread_mutex_lock(&web->lock);
	memcpy(names, web->names, sizeof(names));
	pthread_mutex_unlock(&web->lock);
	return triad_http_is_our_host(host, names);
}

static void end_answer(void *context, void *it)
{
	struct triad_web *web = context;
	struct answer *answer = it;

	if (answer->job)
		triad_pool_job_leave(answer->job);
	if (answer->kind == KIND_STREAM) {
		pthread_mutex_lock(&web->lock);
		web->n_streams--;
		pthread_mutex_unlock(&web->lock);
	}
	free(answer->target);
	free(answer->link);
	free(answer);
}

/* Whether the request comes from a page of another site, in a browser of somebody who
 * may ask here.  That page could not read the answer, but some commands send MADs.
 * Only browsers send this header. */
static bool is_of_another_site(const struct triad_http_request *request)
{
	const char *site = request->sec_fetch_site;

	return !strncmp(request->target, TRIAD_WEB_API, strlen(TRIAD_WEB_API)) &&
		site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
}

static void *begin_answer(void *context, const struct triad_http_request *request)
{
	struct triad_web *web = context;
	struct answer *answer = calloc(1, sizeof(*answer));

	if (!answer)
		return NULL;
	answer->web = web;
	memcpy(answer->network, request->network, sizeof(answer->network));
	answer->target = strdup(request->target);
	if (!answer->target) {
		free(answer);
		return NULL;
	}
	if (request->if_none_match)
		snprintf(answer->if_none_match, sizeof(answer->if_none_match), "%s",
			request->if_none_match);
	if (!is_our_host(web, request->host))
		answer_problem(answer, 421,
			"the name by which you ask is not known here: ask by the "
			"address, or name it in web.names");
	else if (is_of_another_site(request))
		answer_problem(answer, 403,
			"a page of another site asks: what Triad knows is for its own "
			"page, and for programs");
	else if (request->has_body)
		answer_problem(answer, 413, "a request has no body here");
	else
		answer_target(answer, request);
	return answer;
}

/* --- heads --- */

static bool is_open(void *context, const char *target)
{
	(void)context;
	/* The page's files are public; the page itself asks the user for the token. */
	return strncmp(target, TRIAD_WEB_API, strlen(TRIAD_WEB_API)) != 0;
}

static bool is_ready(void *context, void *it)
{
	struct triad_web *web = context;
	struct answer *answer = it;
	struct triad_stream_state now;

	if (answer->kind == KIND_JOB)
		return triad_pool_job_is_ready(answer->job);
	if (answer->kind == KIND_OCTETS)
		return true;
	read_state(web, &now);
	return triad_stream_look(&answer->stream, &now, triad_clock_now_us());
}

static void add_field(struct triad_http_head *head, const char *name, const char *value)
{
	if (head->n_fields == TRIAD_HTTP_MAX_FIELDS || !value || !*value)
		return;
	head->fields[head->n_fields].name = name;
	head->fields[head->n_fields++].value = value;
}

/* Makes a command's messages fit for a header's value. */
static void flatten(char *text)
{
	size_t n = strlen(text);

	while (n && text[n - 1] == '\n')
		text[--n] = '\0';
	for (char *at = text; *at; at++)
		if (*at == '\n')
			*at = ' ';
		else if ((unsigned char)*at >= 0x80)
			*at = '?';
	triad_text_clean(text);
}

/* Makes a problem of a command's messages when it has written no document. */
static void take_failure(struct answer *answer)
{
	struct triad_pool_head *head = &answer->head;
	size_t n = strlen(head->messages);

	while (n && head->messages[n - 1] == '\n')
		head->messages[--n] = '\0';
	answer_problem(answer,
		head->exit_status == TRIAD_POOL_NO_ANSWER          ? 502
			: head->exit_status == TRIAD_POOL_NO_ROOM  ? 503
			: head->exit_status == TRIAD_POOL_BUSY     ? 503
			: head->exit_status == TRIAD_CONTROL_USAGE ? 400
			: head->lacks_object                       ? 404
								   : 409,
		n ? head->messages : "it ends without an answer");
}

static void take_page(struct answer *answer)
{
	const struct triad_pool_head *head = &answer->head;
	/* Escaping may make three octets of one. */
	size_t size = 3 * strlen(answer->target) + TEXT_SIZE;
	char *next = head->has_more ? malloc(size) : NULL;

	if (head->has_total)
		snprintf(answer->total, sizeof(answer->total), "%" PRIu64, head->total);
	/* Without memory the answer has no link. */
	if (next &&
		triad_resource_turn_page(answer->target, answer->limit,
			answer->offset + answer->limit, next, size) &&
		asprintf(&answer->link, "<%s>; rel=\"next\"", next) < 0)
		answer->link = NULL;
	free(next);
}

/* Fills the answer's header fields from a job whose head is known. */
static void take_head(struct answer *answer)
{
	struct triad_pool_head *head = &answer->head;

	triad_pool_job_head(answer->job, head);
	answer->code = 200;
	if (!head->size) {
		take_failure(answer);
		return;
	}
	answer->etag = head->etag;
	if (triad_http_has_etag(answer->if_none_match, head->etag))
		answer->code = 304;
	take_page(answer);
	if (answer->is_command)
		snprintf(answer->status, sizeof(answer->status), "%d",
			head->exit_status);
	memcpy(answer->message, head->messages, sizeof(answer->message));
	flatten(answer->message);
}

static uint64_t size_of(const struct answer *answer)
{
	if (answer->code == 304)
		return 0;
	if (answer->kind == KIND_OCTETS)
		return answer->size;
	return answer->kind == KIND_JOB ? answer->head.size : UINT64_MAX;
}

static void give_head(void *context, void *it, struct triad_http_head *head)
{
	struct answer *answer = it;

	(void)context;
	if (answer->kind == KIND_JOB)
		take_head(answer);
	*head = (struct triad_http_head){.code = answer->code,
		.size = size_of(answer),
		.is_endless = answer->kind == KIND_STREAM};
	add_field(head, "Content-Type", answer->type);
	add_field(head, "Content-Encoding", answer->is_packed ? "gzip" : NULL);
	add_field(head, "Vary", "Accept-Encoding");
	add_field(head, "ETag", answer->etag);
	/* "private, no-cache": only the client may keep it, and must check it each
	 * time. */
	add_field(
		head, "Cache-Control", answer->etag ? "private, no-cache" : "no-store");
	add_field(head, "Link", answer->link);
	add_field(head, "Triad-Total", answer->total);
	add_field(head, "Triad-Exit-Status", answer->status);
	add_field(head, "Triad-Message", answer->message);
	add_field(head, "Retry-After", answer->may_retry ? "2" : NULL);
}

static ssize_t read_job(struct answer *answer, char *buffer, size_t size)
{
	ssize_t n = triad_pool_job_read(answer->job, answer->at, buffer, size);

	if (n > 0)
		answer->at += (size_t)n;
	return n;
}

static ssize_t read_answer(void *context, void *it, char *buffer, size_t size)
{
	struct answer *answer = it;
	size_t n;

	(void)context;
	if (answer->kind == KIND_JOB)
		return read_job(answer, buffer, size);
	if (answer->kind == KIND_STREAM) {
		n = triad_stream_take(&answer->stream, buffer, size);
		return n ? (ssize_t)n
			: triad_stream_has_ended(&answer->stream, triad_clock_now_us())
			? TRIAD_HTTP_END
			: 0;
	}
	n = answer->size - answer->at;
	n = n < size ? n : size;
	memcpy(buffer, answer->octets + answer->at, n);
	answer->at += n;
	return n ? (ssize_t)n : TRIAD_HTTP_END;
}

const struct triad_http_handler triad_web_handler = {
	.is_open = is_open,
	.begin = begin_answer,
	.is_ready = is_ready,
	.head = give_head,
	.read = read_answer,
	.end = end_answer,
};
