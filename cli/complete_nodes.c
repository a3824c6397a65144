/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/complete_nodes.h"

#include <string.h>

#include <glib.h>

#include "cli/client.h"
#include "lib/text.h"
#include "triad/control.h"

/* Users do not wait longer for a completion. */
#define TIMEOUT_S 1

static void add_character(struct triad_nodes_scan *scan, char c)
{
	if (scan->size < sizeof(scan->string))
		scan->string[scan->size++] = c;
}

static void add_code(struct triad_nodes_scan *scan, char digit)
{
	scan->code = scan->code << 4 | (unsigned)g_ascii_xdigit_value(digit);
	if (--scan->n_hex)
		return;
	/* Triad's JSON escapes only control characters so; names have none. */
	add_character(scan, scan->code < 0x80 && scan->code ? (char)scan->code : '?');
}

static void end_string(struct triad_nodes_scan *scan)
{
	scan->is_in_string = false;
	scan->has_string = true;
	if (scan->size == sizeof(scan->string))
		scan->size = 0;
	scan->string[scan->size] = '\0';
	if (scan->is_member && scan->size && !memchr(scan->string, '\t', scan->size) &&
		triad_text_check(scan->string, scan->size) == scan->size)
		scan->found(scan->context, scan->string);
	scan->is_member = false;
}

static bool is_wanted_member(const struct triad_nodes_scan *scan)
{
	return !strcmp(scan->string, scan->members[0]) ||
		(scan->members[1] && !strcmp(scan->string, scan->members[1]));
}

static void scan_string(struct triad_nodes_scan *scan, char c)
{
	if (scan->n_hex && g_ascii_isxdigit(c)) {
		add_code(scan, c);
	} else if (scan->is_escaped) {
		scan->is_escaped = false;
		scan->n_hex = c == 'u' ? 4 : 0;
		scan->code = 0;
		if (c != 'u')
			add_character(scan, c);
	} else if (c == '\\') {
		scan->is_escaped = true;
	} else if (c == '"') {
		end_string(scan);
	} else {
		add_character(scan, c);
	}
}

void triad_nodes_scan(struct triad_nodes_scan *scan, const char *json, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (scan->is_in_string) {
			scan_string(scan, json[i]);
		} else if (json[i] == '"') {
			scan->is_in_string = true;
			scan->size = 0;
			scan->n_hex = 0;
		} else if (json[i] == ':') {
			scan->is_member = scan->has_string && is_wanted_member(scan);
			scan->has_string = false;
		} else if (!g_ascii_isspace(json[i])) {
			/* A number, null or a bracket: not a string that we look
			 * for. */
			scan->is_member = scan->has_string = false;
		}
	}
}

static int scan_frame(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	if (type == TRIAD_FRAME_OUTPUT)
		triad_nodes_scan(context, piece, size);
	return 0;
}

static void ask_for_nodes(
	const char *path, const char *command, struct triad_nodes_scan *scan)
{
	const char *const words[] = {command, "--json"};
	const struct triad_client_sink sink = {scan_frame, scan};
	const struct triad_client client = {.path = path,
		.program = "triadctl",
		.may = TRIAD_CLIENT_MAY,
		.timeout_s = TIMEOUT_S,
		.sink = &sink,
		.hides_progress = true};
	char request[TRIAD_CONTROL_REQUEST_SIZE];
	size_t size = triad_request_encode(request, sizeof(request), 2, words);

	(void)triad_client_ask(&client, request, size);
}

void triad_complete_nodes(const char *path, bool guids,
	void (*found)(void *context, const char *value), void *context)
{
	struct triad_nodes_scan scan = {
		.members = {guids ? "guid" : "name", guids ? "node_guid" : "node_name"},
		.found = found,
		.context = context};

	ask_for_nodes(path, "nodes", &scan);
}

void triad_complete_keys(const char *path,
	void (*found)(void *context, const char *value), void *context)
{
	struct triad_nodes_scan scan = {
		.members = {"key"}, .found = found, .context = context};

	ask_for_nodes(path, "get", &scan);
}
