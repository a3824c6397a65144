/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/bundle_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "triad/fabric.h"

/* --- answers --- */

static bool ends_with(const char *text, const char *end)
{
	return g_str_has_suffix(text, end);
}

/* The hosts of URLs, and those before the number of a port. */
static void add_hosts(struct triad_anonym *anonym, const char *value)
{
	g_auto(GStrv) items = g_strsplit_set(value, " ,;", 0);

	for (char **item = items; *item; item++) {
		char *scheme = strstr(*item, "://"), *host = *item, *at;
		size_t n;

		if (scheme)
			host = scheme + 3;
		at = strrchr(host, '@');
		if (at)
			host = at + 1;
		n = strcspn(host, ":/?#");
		if (!scheme && !at &&
			!(host[n] == ':' && isdigit((unsigned char)host[n + 1])))
			continue;
		host[n] = '\0';
		triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, host);
	}
}

static bool is_letters(const char *text)
{
	while (isalpha((unsigned char)*text))
		text++;
	return !*text;
}

static void take_answer_member(void *context, const char *name, const char *value)
{
	struct triad_bundle_names *names = context;
	struct triad_anonym *anonym = names->anonym;
	uint64_t guid;

	triad_anonym_add_common(anonym, name);
	if (!value || !names->rows.is_string)
		return;
	if (!strncmp(value, "0x", 2)) {
		guid = strlen(value) == 18 ? strtoull(value, NULL, 16) : 0;
		triad_anonym_add_guid(anonym, guid);
	} else if (ends_with(name, "serial")) {
		triad_anonym_add_name(anonym, TRIAD_ANONYM_SERIAL, value);
	} else if (!strcmp(name, "by") || ends_with(name, "user")) {
		triad_anonym_add_name(anonym, TRIAD_ANONYM_USER, value);
	} else if (!strcmp(name, "name") || ends_with(name, "node_name") ||
		!strcmp(name, "far_name") || !strcmp(name, "remote_name") ||
		!strcmp(name, "most_name") || ends_with(name, "hosts") ||
		!strcmp(name, "agent")) {
		triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, value);
	} else if (!strcmp(name, "key")) {
		triad_anonym_add_common(anonym, value);
	} else if (!strcmp(name, "value") || !strcmp(name, "url") ||
		ends_with(name, "address") || !strcmp(name, "peers")) {
		add_hosts(anonym, value);
	} else if (is_letters(value)) {
		triad_anonym_add_common(anonym, value);
	}
}

/* --- lines --- */

/* "\"leaf, 1\",36,2,0x...,0x...,...": the name has each quote twice. */
static void take_node_line(struct triad_anonym *anonym, char *line)
{
	static const enum triad_anonym_kind kinds[] = {
		[TRIAD_NODE_SWITCH] = TRIAD_ANONYM_SWITCH,
		[TRIAD_NODE_ROUTER] = TRIAD_ANONYM_ROUTER,
	};
	char *to = line, *from = line + 1;
	unsigned type = 0;

	while (*from && (*from != '"' || from[1] == '"')) {
		from += *from == '"';
		*to++ = *from++;
	}
	if (sscanf(from, "\",%*u,%u,", &type) != 1)
		return;
	*to = '\0';
	triad_anonym_add_name(anonym,
		type < G_N_ELEMENTS(kinds) ? kinds[type] : TRIAD_ANONYM_HOST, line);
}

static void take_csv_line(struct triad_bundle_names *names, char *line)
{
	uint64_t node = 0, port = 0;
	const char *guids = strstr(line, ",0x");

	if (!strncmp(line, "START_", 6))
		names->is_in_nodes = !strcmp(line, "START_NODES");
	if (*line == '"' && names->is_in_nodes)
		(void)(guids &&
			sscanf(guids, ",0x%" SCNx64 ",0x%" SCNx64, &node, &port));
	else
		(void)sscanf(line, "0x%" SCNx64 ",0x%" SCNx64, &node, &port);
	triad_anonym_add_guid(names->anonym, node);
	triad_anonym_add_guid(names->anonym, port);
	if (*line == '"' && names->is_in_nodes)
		take_node_line(names->anonym, line);
}

/* "0x0002c90300000001 \"leaf-01\"" */
static void take_map_line(struct triad_anonym *anonym, char *line)
{
	char *name = strchr(line, '"'), *end = name ? strchr(name + 1, '"') : NULL;

	if (!end)
		return;
	*end = '\0';
	triad_anonym_add_guid(anonym, strtoull(line, NULL, 16));
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, name + 1);
}

static void take_line(struct triad_bundle_names *names)
{
	char *line = names->line->str;

	if (names->form == TRIAD_BUNDLE_FORM_DB_CSV) {
		take_csv_line(names, line);
	} else if (names->form == TRIAD_BUNDLE_FORM_CONF) {
		line[strcspn(line, " \t=]")] = '\0';
		triad_anonym_add_common(names->anonym, line);
	} else {
		take_map_line(names->anonym, line);
	}
	g_string_truncate(names->line, 0);
}

void triad_bundle_names_begin(struct triad_bundle_names *names,
	struct triad_anonym *anonym, enum triad_bundle_form form)
{
	*names = (struct triad_bundle_names){.anonym = anonym,
		.form = form,
		.rows = {.member = take_answer_member,
			.context = names,
			.at_any_depth = true},
		.line = g_string_new(NULL)};
}

void triad_bundle_names_take(
	struct triad_bundle_names *names, const char *piece, size_t size)
{
	if (names->form == TRIAD_BUNDLE_FORM_JSON)
		triad_json_rows_take(&names->rows, piece, size);
	for (size_t i = 0; names->form != TRIAD_BUNDLE_FORM_JSON &&
		names->form != TRIAD_BUNDLE_FORM_OTHER && i < size;
		i++) {
		if (piece[i] == '\n')
			take_line(names);
		else if (names->line->len < 4096)
			g_string_append_c(names->line, piece[i]);
	}
}

void triad_bundle_names_end(struct triad_bundle_names *names)
{
	if (names->line->len)
		take_line(names);
	g_string_free(names->line, TRUE);
	names->line = NULL;
}

/* Domains in which this host looks for names. */
static void add_domains(struct triad_anonym *anonym)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (!g_file_get_contents("/etc/resolv.conf", &text, NULL, NULL))
		return;
	lines = g_strsplit(text, "\n", 0);
	for (char **line = lines; *line; line++)
		if (g_str_has_prefix(*line, "search ") ||
			g_str_has_prefix(*line, "domain "))
			triad_anonym_add_name(
				anonym, TRIAD_ANONYM_HOST, *line + strlen("search "));
}

void triad_bundle_names_of_host(struct triad_anonym *anonym)
{
	static const char *const variables[] = {"USER", "LOGNAME", "SUDO_USER"};
	char host[256] = "";

	if (!gethostname(host, sizeof(host) - 1))
		triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, host);
	add_domains(anonym);
	for (size_t i = 0; i < G_N_ELEMENTS(variables); i++)
		if (getenv(variables[i]))
			triad_anonym_add_name(
				anonym, TRIAD_ANONYM_USER, getenv(variables[i]));
}
