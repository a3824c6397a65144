/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "service/web/openapi.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "command/resource.h"
#include "lib/text.h"
#include "service/web/schemas.h"
#include "triad/json.h"

#define PATH_SIZE 256
#define NAME_SIZE 40

/* --- parameters --- */

/* Makes the name of argument 'i' from a text like "NODE [PORT]": in lower case, and
 * different from the names before. */
static void name_argument(
	const struct triad_verb *verb, unsigned i, char name[NAME_SIZE])
{
	const char *at = verb->arguments;
	unsigned n = 0;

	for (unsigned word = 0; word < i; word++) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	for (; *at && *at != ' ' && n < NAME_SIZE - 4; at++)
		if (isalnum((unsigned char)*at))
			name[n++] = (char)tolower((unsigned char)*at);
		else if (*at == ':')
			name[n++] = '_';
	name[n] = '\0';
	if (!n || i)
		triad_text_append(name, NAME_SIZE, "%s%u", n ? "" : "argument", i + 1);
}

static void begin_parameter(
	struct triad_json *json, const char *name, bool is_path, const char *help)
{
	triad_json_object_begin(json, NULL);
	triad_json_string(json, "name", name);
	triad_json_string(json, "in", is_path ? "path" : "query");
	triad_json_bool(json, "required", is_path);
	if (help)
		triad_json_string(json, "description", help);
}

static void put_type(struct triad_json *json, const char *type)
{
	triad_json_object_begin(json, "schema");
	triad_json_string(json, "type", type);
	triad_json_object_end(json);
}

static void put_choices(struct triad_json *json, const struct triad_option *option)
{
	triad_json_object_begin(json, "schema");
	triad_json_string(json, "type", "string");
	triad_json_array_begin(json, "enum");
	for (unsigned i = 0; option->choices[i]; i++)
		triad_json_string(json, NULL, option->choices[i]);
	triad_json_array_end(json);
	triad_json_object_end(json);
}

static void put_number(struct triad_json *json, unsigned min, unsigned max)
{
	triad_json_object_begin(json, "schema");
	triad_json_string(json, "type", "integer");
	triad_json_uint(json, "minimum", min);
	triad_json_uint(json, "maximum", max);
	triad_json_object_end(json);
}

static void put_option(
	struct triad_json *json, const struct triad_option *option, const char *name)
{
	begin_parameter(json, name, false, option->help);
	if (option->kind == TRIAD_OPTION_KIND_FLAG) {
		triad_json_bool(json, "allowEmptyValue", true);
		put_type(json, "boolean");
	} else if (option->kind == TRIAD_OPTION_KIND_CHOICE) {
		put_choices(json, option);
	} else if (option->kind == TRIAD_OPTION_KIND_NUMBER && !option->unit) {
		put_number(json, option->min, option->max);
	} else {
		/* Times, numbers that may be hexadecimal, names. */
		put_type(json, "string");
	}
	triad_json_object_end(json);
}

static void put_page(struct triad_json *json)
{
	begin_parameter(json, "limit", false,
		"a page: so many rows of each list; without it as many as triadctl "
		"shows");
	put_number(json, 1, TRIAD_RESOURCE_MAX_LIMIT);
	triad_json_object_end(json);
	begin_parameter(json, "offset", false, "the page's first row; needs limit");
	put_number(json, 0, TRIAD_RESOURCE_MAX_OFFSET);
	triad_json_object_end(json);
}

static void put_parameters(
	struct triad_json *json, const struct triad_verb *verb, unsigned n_arguments)
{
	char name[NAME_SIZE];

	triad_json_array_begin(json, "parameters");
	for (unsigned i = 0; i < n_arguments; i++) {
		name_argument(verb, i, name);
		begin_parameter(json, name, true, NULL);
		put_type(json, "string");
		triad_json_object_end(json);
	}
	for (unsigned i = 0; i < TRIAD_N_OPTIONS; i++) {
		const char *parameter = triad_resource_parameter(verb, i);

		if (parameter)
			put_option(json, &triad_options[i], parameter);
	}
	put_page(json);
	triad_json_array_end(json);
}

/* --- answers --- */

static void put_content(struct triad_json *json, const char *type, const char *schema)
{
	char text[PATH_SIZE];

	snprintf(text, sizeof(text), "#/components/schemas/%s", schema);
	triad_json_object_begin(json, "content");
	triad_json_object_begin(json, type);
	triad_json_object_begin(json, "schema");
	triad_json_string(json, "$ref", text);
	triad_json_object_end(json);
	triad_json_object_end(json);
	triad_json_object_end(json);
}

static void put_field(struct triad_json *json, const char *name, const char *help)
{
	triad_json_object_begin(json, name);
	triad_json_string(json, "description", help);
	put_type(json, "string");
	triad_json_object_end(json);
}

static void put_fields(struct triad_json *json)
{
	triad_json_object_begin(json, "headers");
	put_field(json, "ETag",
		"of these octets; If-None-Match asks whether they changed");
	put_field(json, "Link", "rel=\"next\": the next page, if there is one");
	put_field(json, "Triad-Total",
		"rows of the longest list, if limit was given and "
		"all were counted");
	put_field(json, "Triad-Exit-Status", "what triadctl would exit with");
	put_field(json, "Triad-Message", "what triadctl would say besides");
	triad_json_object_end(json);
}

static void put_problem(struct triad_json *json, const char *what)
{
	triad_json_object_begin(json, "default");
	triad_json_string(json, "description", what);
	put_content(json, "application/problem+json", "problem");
	triad_json_object_end(json);
}

static void put_answers(struct triad_json *json, const char *schema)
{
	triad_json_object_begin(json, "responses");
	triad_json_object_begin(json, "200");
	triad_json_string(json, "description", "as 'triadctl --json' shows it");
	put_fields(json);
	put_content(json, "application/json", schema);
	triad_json_object_end(json);
	triad_json_object_begin(json, "304");
	triad_json_string(json, "description", "the same as If-None-Match names");
	triad_json_object_end(json);
	put_problem(json,
		"400: a parameter is wrong; 401: a token is needed; 403: a page of "
		"another site asks; 404: there is no such resource, node or port here; "
		"409: there is no answer at present, and why; 421: the host's name is not known; 502: "
		"OpenSM (or triad-agent) does not answer triadd; 503: too busy, come back");
	triad_json_object_end(json);
}

/* --- paths --- */

/* Writes one path of a command: a command with optional arguments has a path for each
 * number of them. */
static void put_operation(struct triad_json *json, const char *name, unsigned n_more)
{
	char text[PATH_SIZE] = "";

	triad_text_append(text, sizeof(text), "%s", name);
	if (n_more)
		triad_text_append(text, sizeof(text), "_%u", n_more);
	triad_json_string(json, "operationId", text);
}

static void put_path(
	struct triad_json *json, const struct triad_verb *verb, unsigned n_arguments)
{
	char name[PATH_SIZE], path[PATH_SIZE], argument[NAME_SIZE];

	snprintf(name, sizeof(name), "%s", verb->name);
	for (char *at = name; *at; at++)
		if (*at == ' ')
			*at = '_';
	snprintf(path, sizeof(path), "%s%s", TRIAD_RESOURCE_ROOT, verb->name);
	for (char *at = path; *at; at++)
		if (*at == ' ')
			*at = '/';
	for (unsigned i = 0; i < n_arguments; i++) {
		name_argument(verb, i, argument);
		triad_text_append(path, sizeof(path), "/{%s}", argument);
	}
	triad_json_object_begin(json, path);
	triad_json_object_begin(json, "get");
	put_operation(json, name, n_arguments - (unsigned)verb->n_arguments_min);
	triad_json_string(json, "summary", verb->help);
	put_parameters(json, verb, n_arguments);
	put_answers(json, name);
	triad_json_object_end(json);
	triad_json_object_end(json);
}

static void put_stream(struct triad_json *json)
{
	triad_json_object_begin(json, TRIAD_RESOURCE_ROOT "changes");
	triad_json_object_begin(json, "get");
	put_operation(json, "changes", 0);
	triad_json_string(json, "summary",
		"Server-Sent Events: sweep, alert, topology, role and configuration say "
		"that something is new, which is then asked for.");
	triad_json_array_begin(json, "parameters");
	triad_json_object_begin(json, NULL);
	triad_json_string(json, "name", "Last-Event-ID");
	triad_json_string(json, "in", "header");
	triad_json_string(json, "description",
		"the id of the event that came last: what was missed since is told first");
	put_type(json, "string");
	triad_json_object_end(json);
	triad_json_array_end(json);
	triad_json_object_begin(json, "responses");
	triad_json_object_begin(json, "200");
	triad_json_string(json, "description", "a stream that ends after ten minutes");
	triad_json_object_begin(json, "content");
	triad_json_object_begin(json, "text/event-stream");
	triad_json_object_end(json);
	triad_json_object_end(json);
	triad_json_object_end(json);
	put_problem(json,
		"401: a token is needed; 403: a page of another site asks; 421: the "
		"host's name is not known; 503: a quarter of web.max_clients listen "
		"already");
	triad_json_object_end(json);
	triad_json_object_end(json);
	triad_json_object_end(json);
}

/* Clients need a token if web.token_file names one. */
static void put_security(struct triad_json *json)
{
	triad_json_array_begin(json, "security");
	triad_json_object_begin(json, NULL);
	triad_json_object_end(json);
	triad_json_object_begin(json, NULL);
	triad_json_array_begin(json, "token");
	triad_json_array_end(json);
	triad_json_object_end(json);
	triad_json_array_end(json);
}

static void put_paths(struct triad_json *json, const struct triad_web_source *source)
{
	triad_json_object_begin(json, "paths");
	for (unsigned i = 0; i < TRIAD_N_COMMANDS; i++) {
		const struct triad_verb *verb = &triad_verbs[i];
		int most = triad_resource_n_arguments(verb);

		if (!triad_resource_has(verb) ||
			!source->has(source->context, verb->verb))
			continue;
		for (int n = verb->n_arguments_min; n <= most; n++)
			put_path(json, verb, (unsigned)n);
	}
	put_stream(json);
	triad_json_object_end(json);
}

int triad_openapi_put(
	const struct triad_web_source *source, struct triad_output *output)
{
	static const char components[] =
		",\n\"components\":{\"securitySchemes\":{\"token\":"
		"{\"type\":\"http\",\"scheme\":\"bearer\"}},\n\"schemas\":";
	struct triad_json json;

	triad_json_init(&json, output);
	triad_json_object_begin(&json, NULL);
	triad_json_string(&json, "openapi", "3.0.3");
	triad_json_object_begin(&json, "info");
	triad_json_string(&json, "title", "Triad");
	triad_json_string(&json, "version", PACKAGE_VERSION);
	triad_json_string(&json, "description",
		"What triadctl shows, read only.  The path is the command with its "
		"arguments, the query its options without dashes.  What is not known is "
		"null.  Later versions may add members: skip those that you don't know.");
	triad_json_object_end(&json);
	put_security(&json);
	put_paths(&json, source);
	/* These are JSON already. */
	triad_output_put(output, components, sizeof(components) - 1);
	triad_output_put(
		output, (const char *)triad_web_schemas, triad_web_schemas_size);
	triad_output_put(output, "}", 1);
	triad_json_object_end(&json);
	triad_json_end(&json);
	return TRIAD_CONTROL_DONE;
}
