/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/complete_nodes.h"

#include <string.h>

#include "cli/client.h"
#include "cli/json_rows.h"
#include "lib/text.h"
#include "triad/control.h"

/* Users do not wait longer for a completion. */
#define TIMEOUT_S 1

/* Which members of a list are wanted. */
struct wanted {
	struct triad_json_rows rows;
	const char *members[2]; /* their names; the second may be NULL */
	void (*found)(void *context, const char *value);
	void *context;
};

static void take_wanted(void *context, const char *name, const char *value)
{
	const struct wanted *wanted = context;
	size_t size = value ? strlen(value) : 0;
	bool is_wanted = !strcmp(name, wanted->members[0]) ||
		(wanted->members[1] && !strcmp(name, wanted->members[1]));

	if (is_wanted && size && wanted->rows.is_string && !strchr(value, '\t') &&
		triad_text_check(value, size) == size)
		wanted->found(wanted->context, value);
}

static void end_row(void *context)
{
	(void)context;
}

static int scan_frame(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	if (type == TRIAD_FRAME_OUTPUT)
		triad_json_rows_take(context, piece, size);
	return 0;
}

static void ask_for_list(const char *path, const char *command, struct wanted *wanted)
{
	const char *const words[] = {command, "--json"};
	const struct triad_client_sink sink = {scan_frame, &wanted->rows};
	const struct triad_client client = {.path = path,
		.program = "triadctl",
		.may = TRIAD_CLIENT_MAY,
		.timeout_s = TIMEOUT_S,
		.sink = &sink,
		.hides_progress = true};
	char request[TRIAD_CONTROL_REQUEST_SIZE];
	size_t size = triad_request_encode(request, sizeof(request), 2, words);

	wanted->rows = (struct triad_json_rows){
		.member = take_wanted, .end = end_row, .context = wanted};
	(void)triad_client_ask(&client, request, size);
}

void triad_complete_nodes(const char *path, bool guids,
	void (*found)(void *context, const char *value), void *context)
{
	struct wanted wanted = {
		.members = {guids ? "guid" : "name", guids ? "node_guid" : "node_name"},
		.found = found,
		.context = context};

	ask_for_list(path, "nodes", &wanted);
}

void triad_complete_keys(const char *path,
	void (*found)(void *context, const char *value), void *context)
{
	struct wanted wanted = {.members = {"key"}, .found = found, .context = context};

	ask_for_list(path, "get", &wanted);
}
