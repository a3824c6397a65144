/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests of an HTTP client.  The input consists of lines; the first letter of each is
 * the kind of the rest: 'a' Accept, 'e' Accept-Encoding, 't' Authorization, 'h' Host,
 * 'n' If-None-Match, 'q' an argument "name=value", 'r' the path and query of a
 * resource. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/resource.h"
#include "lib/text.h"
#include "perfmgr/formats/http_request.h"
#include "tests/fuzz/fuzz.h"

static void check_filter(const struct triad_metrics_filter *filter)
{
	require(filter->counters >> TRIAD_N_COUNTERS == 0, "counters");
	require((filter->types & ~14u) == 0, "types");
	require(filter->n_nodes <= TRIAD_METRICS_MAX_NODES, "nodes");
	for (unsigned i = 0; i < filter->n_nodes; i++) {
		const struct triad_metrics_node *node = &filter->nodes[i];

		require(memchr(node->pattern, 0, sizeof(node->pattern)),
			"pattern ends");
		require(!node->guid != !node->pattern[0], "GUID or pattern");
	}
}

static void check_argument(struct triad_metrics_filter *filter, char *line)
{
	struct triad_metrics_filter before = *filter;
	char reason[64] = "", *value = strchr(line, '=');

	if (value)
		*value++ = '\0';
	if (triad_http_argument(filter, line, value, reason, sizeof(reason))) {
		check_filter(filter);
		return;
	}
	require(*reason, "a refusal has a reason");
	require(triad_text_check(reason, strlen(reason)) == strlen(reason),
		"the reason can be shown");
	require(!memcmp(&before, filter, sizeof(before)),
		"what is refused does nothing");
}

static void check_resource(const char *target)
{
	struct triad_resource *resource = malloc(sizeof(*resource));
	char message[512] = "", turned[2048];
	struct triad_command command;

	require(resource, "memory");
	if (triad_resource_read(target, resource, message, sizeof(message))) {
		require(*message, "a refusal has a reason");
		require(triad_text_check(message, strlen(message)) == strlen(message),
			"the reason can be shown");
		free(resource);
		return;
	}
	require(resource->n_words <= TRIAD_RESOURCE_MAX_WORDS, "words");
	/* The parser may refuse the command.  An accepted one must change nothing and
	 * give JSON. */
	if (!triad_command_parse(resource->n_words, resource->words, &command, message,
		    sizeof(message))) {
		require(!command.changes, "it reads");
		require(command.json, "JSON");
		require(command.verb == resource->verb->verb, "the same command");
	}
	if (triad_resource_turn_page(target, 10, 20, turned, sizeof(turned))) {
		require(!strpbrk(turned, "<>\"\r\n "), "it can stand in a header");
		require(!triad_resource_read(
				turned, resource, message, sizeof(message)) ||
				strstr(message, "rows at most"),
			"another page is a resource, too");
	}
	free(resource);
}

static void check_line(struct triad_metrics_filter *filter, char *line)
{
	switch (line[0]) {
	case 'a':
		require(triad_http_format(line + 1) != TRIAD_EXPOSITION_OPENMETRICS ||
				strcasestr(line, "openmetrics-text"),
			"OpenMetrics is named");
		break;
	case 'e':
		require(!triad_http_takes_gzip(line + 1) || strcasestr(line, "gzip") ||
				strchr(line, '*'),
			"gzip is named");
		break;
	case 't':
		require(!triad_http_has_token(line + 1, "correct-horse-battery") ||
				strstr(line, "correct-horse-battery"),
			"the token is there");
		break;
	case 'h':
		require(!triad_http_is_our_host(line + 1, "sm.example") ||
				!strcasestr(line, "evil"),
			"others are not ours");
		break;
	case 'n':
		require(!triad_http_has_etag(line + 1, "\"abc\"") ||
				strstr(line, "\"abc\"") || strchr(line, '*'),
			"the ETag is there");
		break;
	case 'r':
		check_resource(line + 1);
		break;
	case 'q':
		check_argument(filter, line + 1);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct triad_metrics_filter filter = {0};

	while (size) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t n = end ? (size_t)(end - data) : size;
		/* In a block of its own, so that a sanitizer detects a read past its
		 * end. */
		char *line = malloc(n + 1);

		require(line, "memory");
		memcpy(line, data, n);
		line[n] = '\0';
		check_line(&filter, line);
		free(line);
		n += end != NULL;
		data += n;
		size -= n;
	}
	return 0;
}
