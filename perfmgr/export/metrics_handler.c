/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/metrics_handler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/export/gzip.h"
#include "perfmgr/formats/http_request.h"

#define PIECE_SIZE (32 * 1024)

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

struct answer {
	unsigned code;
	const char *type;
	/* A short text, unless there are metrics. */
	char reason[256];
	const char *text;
	size_t size, at;
	struct triad_metrics *metrics;
	bool is_packed, all_taken, all_packed;
	z_stream packer;
	char piece[PIECE_SIZE]; /* for the packer */
};

static void answer_text(
	struct answer *answer, unsigned code, const char *type, const char *text)
{
	answer->code = code;
	answer->type = type;
	answer->text = text;
	answer->size = strlen(text);
}

static void refuse(struct answer *answer, unsigned code, const char *text)
{
	answer_text(answer, code, "text/plain; charset=utf-8", text);
}

/* --- metrics --- */

/* Triad's own, and the view of this moment. */
static struct triad_metrics *begin_metrics(const struct triad_metrics_source *source,
	enum triad_exposition_format format, const struct triad_metrics_filter *filter)
{
	struct triad_metric *own = calloc(TRIAD_METRICS_MAX_OWN, sizeof(*own));
	struct triad_metrics_params params = {
		.format = format, .filter = *filter, .own = own};
	struct triad_silences *silences = NULL;
	struct triad_link *links = NULL;
	struct triad_metrics *metrics;

	if (!own)
		return NULL;
	if (source->own)
		params.n_own = source->own(source->context, own, TRIAD_METRICS_MAX_OWN);
	params.view = source->view(source->context);
	if (source->links)
		params.links = links = source->links(source->context, &params.n_links);
	if (source->hardware)
		params.hardware = source->hardware(source->context);
	if (source->silences)
		params.silences = silences = source->silences(source->context);
	if (source->routes && params.view)
		params.routes = source->routes(source->context, params.view->fabric);
	metrics = triad_metrics_new(&params);
	free(silences);
	free(links);
	triad_view_unref(params.view);
	free(own);
	return metrics;
}

/* Returns the number of octets in 'buffer', or TRIAD_HTTP_BROKEN when zlib failed. */
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
			return TRIAD_HTTP_BROKEN;
		answer->all_packed = result == Z_STREAM_END;
	}
	return (ssize_t)(size - packer->avail_out);
}

/* --- what is asked --- */

struct arguments {
	struct triad_metrics_filter filter;
	bool are_wrong;
	char *reason; /* of the first that is */
	size_t size;
};

static bool add_argument(void *context, const char *name, const char *value)
{
	struct arguments *arguments = context;

	arguments->are_wrong = !triad_http_argument(
		&arguments->filter, name, value, arguments->reason, arguments->size);
	return !arguments->are_wrong;
}

static void answer_metrics(struct answer *answer,
	const struct triad_metrics_source *source,
	const struct triad_http_request *request)
{
	enum triad_exposition_format format = triad_http_format(request->accept);
	/* Leaves room for the end of the line. */
	struct arguments arguments = {
		.reason = answer->reason, .size = sizeof(answer->reason) - 1};

	request->each_argument(request, add_argument, &arguments);
	if (arguments.are_wrong) {
		strcat(answer->reason, "\n");
		refuse(answer, 400, answer->reason);
		return;
	}
	answer->code = 200;
	answer->type = format == TRIAD_EXPOSITION_OPENMETRICS
		? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		: "text/plain; version=0.0.4; charset=utf-8";
	if (triad_http_takes_gzip(request->accept_encoding))
		answer->is_packed = triad_gzip_begin(&answer->packer, TRIAD_GZIP_FAST);
	answer->metrics = begin_metrics(source, format, &arguments.filter);
	if (!answer->metrics)
		refuse(answer, 503, "Memory is short.\n");
}

static bool is_path(const char *target, const char *path)
{
	size_t length = strlen(path);

	return !strncmp(target, path, length) &&
		(!target[length] || target[length] == '?');
}

/* --- the handler --- */

static bool is_open(void *context, const char *target)
{
	(void)context;
	(void)target;
	return false;
}

static void *begin(void *context, const struct triad_http_request *request)
{
	struct answer *answer = calloc(1, sizeof(*answer));

	if (!answer)
		return NULL;
	/* A page whose own name leads here (DNS rebinding) could read the answer.  What
	 * is no browser need not say whom it asks. */
	if (!request->is_protected && request->host &&
		!triad_http_is_our_host(request->host, request->names))
		refuse(answer, 421,
			"The name by which you ask is not known here: ask by the address, "
			"name it in web.names, or set prometheus.token_file\n");
	else if (is_path(request->target, "/metrics"))
		answer_metrics(answer, context, request);
	else if (is_path(request->target, "/"))
		answer_text(answer, 200, "text/html; charset=utf-8", page);
	else
		refuse(answer, 404, "There is only / and /metrics.\n");
	return answer;
}

static bool is_ready(void *context, void *it)
{
	(void)context;
	(void)it;
	return true;
}

static void give_head(void *context, void *it, struct triad_http_head *head)
{
	const struct answer *answer = it;
	const char *fields[][2] = {{"Content-Type", answer->type},
		{"Cache-Control", "no-store"}, {"Vary", "Accept, Accept-Encoding"},
		{"Content-Encoding", "gzip"}};
	unsigned n = !answer->metrics ? 2 : answer->is_packed ? 4 : 3;

	(void)context;
	*head = (struct triad_http_head){.code = answer->code,
		.size = answer->metrics ? UINT64_MAX : answer->size,
		.n_fields = n};
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
	size = size < PIECE_SIZE ? size : PIECE_SIZE;
	if (!answer->metrics) {
		n = (ssize_t)(size < answer->size - answer->at
				? size
				: answer->size - answer->at);
		memcpy(buffer, answer->text + answer->at, (size_t)n);
		answer->at += (size_t)n;
	} else if (answer->is_packed) {
		n = pack(answer, buffer, size);
	} else {
		n = (ssize_t)triad_metrics_fill(answer->metrics, buffer, size);
	}
	return n ? n : TRIAD_HTTP_END;
}

static void end(void *context, void *it)
{
	struct answer *answer = it;

	(void)context;
	if (answer->is_packed)
		deflateEnd(&answer->packer);
	triad_metrics_free(answer->metrics);
	free(answer);
}

struct triad_http_handler triad_metrics_handler(
	const struct triad_metrics_source *source)
{
	return (struct triad_http_handler){.context = (void *)source,
		.is_open = is_open,
		.begin = begin,
		.is_ready = is_ready,
		.head = give_head,
		.read = give_piece,
		.end = end};
}
