/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "cli/other_version.h"

#include <stdio.h>
#include <string.h>

#define KEY "\"version\""
#define VERSION_SIZE 32

struct answer {
	char text[1024];
	size_t length;
};

static int keep_answer(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	struct answer *answer = context;

	if (type == TRIAD_FRAME_OUTPUT &&
		size < sizeof(answer->text) - answer->length) {
		memcpy(answer->text + answer->length, piece, size);
		answer->length += size;
	}
	return 0;
}

/* Finds the version in the JSON of 'version'; "": none. */
static void find_version(const char *json, char version[VERSION_SIZE])
{
	const char *at = strstr(json, KEY);

	*version = '\0';
	if (at)
		(void)sscanf(at + strlen(KEY), " : \"%31[0-9A-Za-z.+~-]\"", version);
}

bool triad_other_version_explain(
	const struct triad_client *client, char *text, size_t size)
{
	static const char *const words[] = {"version", "--json"};
	struct answer answer = {.length = 0};
	const struct triad_client_sink sink = {keep_answer, &answer};
	struct triad_client quiet = *client;
	char request[64], version[VERSION_SIZE];

	quiet.sink = &sink;
	quiet.hides_progress = true;
	if (triad_client_ask(&quiet, request,
		    triad_request_encode(request, sizeof(request), 2, words)))
		return false;
	find_version(answer.text, version);
	if (!*version || !strcmp(version, PACKAGE_VERSION))
		return false;
	snprintf(text, size,
		"this triadctl is of release " PACKAGE_VERSION
		", and %s runs release %s, which may not have this: install the same "
		"release, and restart what runs",
		client->is_agent ? "triad-agent" : "the plugin", version);
	return true;
}
