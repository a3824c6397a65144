/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "command/resource.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "lib/text.h"

#define BIT(option) TRIAD_OPTION_BIT(TRIAD_OPTION_##option)
/* Options that triadctl handles, or adds itself. */
#define NOT_OFFERED                                                                    \
	(TRIAD_OPTIONS_OF_LAYOUT | BIT(WATCH) | BIT(INTERVAL) | BIT(JSON) |            \
		BIT(COLOR) | BIT(CLIENT) | BIT(TABLE) | BIT(PLUGIN) | BIT(DB_CSV) |    \
		BIT(FDBS) | BIT(MCFDBS))
#define LIMITS (BIT(LIMIT) | BIT(LIMIT_ALL))
/* Options that make a command read images from a disk, or have Slurm asked. */
#define WAITING (BIT(AT) | BIT(AT_KEPT) | BIT(SINCE) | BIT(SLURM_JOB))

#define NAME_SIZE 64
#define VALUE_SIZE 2200 /* 'job' has a list of hosts */

struct reading {
	struct triad_resource *resource;
	char *message;
	size_t size;
	uint64_t seen; /* options of the query so far */
	bool has_limit, has_offset;
};

static int complain_of_resource(const struct reading *reading, int error,
	const char *format, ...) __attribute__((format(printf, 3, 4)));
static int complain_of_resource(
	const struct reading *reading, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reading->message, reading->size, format, args);
	va_end(args);
	triad_text_clean(reading->message);
	return error;
}

/* --- what there is --- */

bool triad_resource_has(const struct triad_verb *verb)
{
	return verb->access == TRIAD_VERB_READS && (verb->options & BIT(JSON));
}

int triad_resource_n_arguments(const struct triad_verb *verb)
{
	return verb->arguments_change ? 0 : verb->n_arguments_max;
}

const char *triad_resource_parameter(const struct triad_verb *verb, unsigned option)
{
	const char *name = triad_options[option].name;

	if (!(verb->options & ~NOT_OFFERED & TRIAD_OPTION_BIT(option)))
		return NULL;
	/* -n is 'limit', which every resource has. */
	if (LIMITS & TRIAD_OPTION_BIT(option))
		return NULL;
	return name + strspn(name, "-");
}

/* --- words --- */

/* Copies 'text' and returns the copy; NULL: there is no room. */
static const char *copy_text(struct triad_resource *resource, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = resource->room + resource->used;

	if (size > sizeof(resource->room) - resource->used)
		return NULL;
	memcpy(copy, text, size);
	resource->used += size;
	return copy;
}

static int add_word(struct reading *reading, const char *text)
{
	struct triad_resource *resource = reading->resource;
	const char *copy = NULL;

	if (resource->n_words < TRIAD_RESOURCE_MAX_WORDS)
		copy = copy_text(resource, text);
	if (!copy)
		return complain_of_resource(reading, E2BIG,
			"it is too long: there is room for %d words of %d octets",
			TRIAD_RESOURCE_MAX_WORDS, TRIAD_RESOURCE_SIZE);
	resource->words[resource->n_words++] = copy;
	return 0;
}

static int hex_of(char c)
{
	return g_ascii_isxdigit(c) ? g_ascii_xdigit_value(c) : -1;
}

/* Decodes %XX, and with 'is_query' + as a blank, in 'length' octets of 'text' into
 * 'decoded'.  False when the result is not UTF-8, has control characters or does not
 * fit. */
static bool decode_part(
	const char *text, size_t length, bool is_query, char *decoded, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i++) {
		char c = text[i];

		if (n + 1 >= size)
			return false;
		if (c == '%') {
			int high = i + 2 < length ? hex_of(text[i + 1]) : -1;
			int low = i + 2 < length ? hex_of(text[i + 2]) : -1;

			if (high < 0 || low < 0)
				return false;
			c = (char)(high << 4 | low);
			i += 2;
		} else if (c == '+' && is_query) {
			c = ' ';
		}
		/* A 0 would end the word early. */
		if (!c)
			return false;
		decoded[n++] = c;
	}
	decoded[n] = '\0';
	return triad_text_check(decoded, n) == n;
}

/* --- the path --- */

/* Finds the command of the first 'n' segments; NULL: there is none. */
static const struct triad_verb *find_verb(char (*segments)[VALUE_SIZE], unsigned n)
{
	char name[2 * NAME_SIZE];

	if (strlen(segments[0]) >= NAME_SIZE ||
		(n > 1 && strlen(segments[1]) >= NAME_SIZE))
		return NULL;
	snprintf(name, sizeof(name), "%.63s%s%.63s", segments[0], n > 1 ? " " : "",
		n > 1 ? segments[1] : "");
	/* A segment with a blank would match a name of two words. */
	if (strchr(segments[0], ' ') || (n > 1 && strchr(segments[1], ' ')))
		return NULL;
	for (size_t i = 0; i < TRIAD_N_COMMANDS; i++)
		if (!strcmp(triad_verbs[i].name, name))
			return triad_resource_has(&triad_verbs[i]) ? &triad_verbs[i]
								   : NULL;
	return NULL;
}

#define MAX_SEGMENTS 4 /* a name of two words and two arguments */

static int read_path(struct reading *reading, const char *path, size_t length,
	char (*segments)[VALUE_SIZE], unsigned *n_name, unsigned *n)
{
	const char *end = path + length;

	for (*n = 0; path <= end; (*n)++) {
		const char *slash = memchr(path, '/', (size_t)(end - path));
		size_t size = (size_t)((slash ? slash : end) - path);

		if (*n == MAX_SEGMENTS ||
			!decode_part(path, size, false, segments[*n], VALUE_SIZE) ||
			!segments[*n][0])
			return complain_of_resource(reading, ENOENT,
				"there is no such resource: %sopenapi.json lists all",
				TRIAD_RESOURCE_ROOT);
		path += size + 1;
	}
	for (*n_name = *n < 2 ? *n : 2; *n_name; (*n_name)--) {
		reading->resource->verb = find_verb(segments, *n_name);
		if (reading->resource->verb)
			return 0;
	}
	return complain_of_resource(reading, ENOENT,
		"there is no such resource: %sopenapi.json lists all; what changes "
		"something is asked of triadctl alone",
		TRIAD_RESOURCE_ROOT);
}

static int check_arguments(const struct reading *reading, unsigned n)
{
	const struct triad_verb *verb = reading->resource->verb;
	int most = triad_resource_n_arguments(verb);

	if ((int)n > most)
		return complain_of_resource(reading, ENOENT,
			"'%s' has %d segment%s behind its name at most, and here are %u",
			verb->name, most, most == 1 ? "" : "s", n);
	if ((int)n < verb->n_arguments_min)
		return complain_of_resource(reading, ENOENT,
			"'%s' needs %s behind its name, as segments of the path",
			verb->name, verb->arguments);
	return 0;
}

/* --- the query --- */

static int complain_unknown(const struct reading *reading, const char *name)
{
	const struct triad_verb *verb = reading->resource->verb;
	char known[512] = "";

	for (unsigned i = 0; i < TRIAD_N_OPTIONS; i++) {
		const char *parameter = triad_resource_parameter(verb, i);

		if (parameter)
			triad_text_append(known, sizeof(known), "%s, ", parameter);
	}
	if (!strcmp(name, "at") && verb->no_past)
		return complain_of_resource(reading, EINVAL,
			"'%s' has no parameter 'at': %s", verb->name, verb->no_past);
	return complain_of_resource(reading, EINVAL,
		"'%s' has no parameter '%.40s'; it has %slimit and offset", verb->name,
		name, known);
}

static int read_flag(struct reading *reading, unsigned option, const char *value)
{
	if (!*value || !strcmp(value, "true"))
		return add_word(reading, triad_options[option].name);
	if (!strcmp(value, "false"))
		return 0;
	return complain_of_resource(reading, EINVAL,
		"%s: allowed are true and false, not '%.40s'",
		triad_options[option].name + 2, value);
}

static int read_option(struct reading *reading, unsigned option, const char *value)
{
	char word[NAME_SIZE + VALUE_SIZE];

	if (reading->seen & TRIAD_OPTION_BIT(option))
		return complain_of_resource(reading, EINVAL, "%s is there twice",
			triad_options[option].name + 2);
	reading->seen |= TRIAD_OPTION_BIT(option);
	if (triad_options[option].kind == TRIAD_OPTION_KIND_FLAG)
		return read_flag(reading, option, value);
	snprintf(word, sizeof(word), "%s=%s", triad_options[option].name, value);
	return add_word(reading, word);
}

static int read_page(struct reading *reading, const char *name, const char *value)
{
	struct triad_resource *resource = reading->resource;
	bool is_limit = !strcmp(name, "limit");
	bool *is_there = is_limit ? &reading->has_limit : &reading->has_offset;
	unsigned *number = is_limit ? &resource->limit : &resource->offset;
	unsigned least = is_limit ? 1 : 0;
	unsigned most = is_limit ? TRIAD_RESOURCE_MAX_LIMIT : TRIAD_RESOURCE_MAX_OFFSET;

	if (*is_there)
		return complain_of_resource(reading, EINVAL, "%s is there twice", name);
	*is_there = true;
	if (!triad_text_number(value, number) || *number < least || *number > most)
		return complain_of_resource(reading, EINVAL,
			"%s=%.40s: allowed are whole numbers, %u to %u", name, value,
			least, most);
	return 0;
}

static int read_parameter(struct reading *reading, const char *text, size_t length)
{
	const char *equals = memchr(text, '=', length);
	size_t n = equals ? (size_t)(equals - text) : length;
	char name[NAME_SIZE], value[VALUE_SIZE] = "";

	if (!decode_part(text, n, true, name, sizeof(name)) ||
		(equals &&
			!decode_part(equals + 1, length - n - 1, true, value,
				sizeof(value))))
		return complain_of_resource(reading, EINVAL,
			"a parameter of the query is too long, no UTF-8, or has control "
			"characters");
	if (!strcmp(name, "limit") || !strcmp(name, "offset"))
		return read_page(reading, name, value);
	for (unsigned i = 0; i < TRIAD_N_OPTIONS; i++) {
		const char *parameter =
			triad_resource_parameter(reading->resource->verb, i);

		if (parameter && !strcmp(parameter, name))
			return read_option(reading, i, value);
	}
	return complain_unknown(reading, name);
}

static int read_query(struct reading *reading, const char *query)
{
	int error = 0;

	while (*query && !error) {
		size_t length = strcspn(query, "&");

		if (length)
			error = read_parameter(reading, query, length);
		query += length + (query[length] == '&');
	}
	return error;
}

/* Adds the number of rows that the command is asked for. */
static int add_limit(struct reading *reading)
{
	struct triad_resource *resource = reading->resource;
	uint64_t has = resource->verb->options & LIMITS;
	unsigned option =
		has & BIT(LIMIT) ? TRIAD_OPTION_LIMIT : TRIAD_OPTION_LIMIT_ALL;
	unsigned most = triad_options[option].max;
	char word[32];

	if (reading->has_offset && !reading->has_limit)
		return complain_of_resource(reading, EINVAL, "offset needs limit");
	if (!has || !resource->limit)
		return 0;
	if (resource->offset + resource->limit > most)
		return complain_of_resource(reading, EINVAL,
			"offset and limit: '%s' has %u rows at most",
			resource->verb->name, most);
	resource->n_asked = resource->offset + resource->limit + 1;
	if (resource->n_asked > most)
		resource->n_asked = most;
	snprintf(word, sizeof(word), "-n%u", resource->n_asked);
	return add_word(reading, word);
}

/* --- other pages --- */

/* Copies characters that a URI may have; others as %XX. */
static void append_escaped(char *text, size_t size, const char *from, size_t length)
{
	for (size_t i = 0; i < length; i++)
		triad_text_append(text, size,
			g_ascii_isalnum(from[i]) ||
					strchr("-._~:/?[]@!$&'()*+,;=%", from[i])
				? "%c"
				: "%%%02X",
			(unsigned char)from[i]);
}

static bool is_of_page(const char *parameter, size_t length)
{
	const char *equals = memchr(parameter, '=', length);
	char name[NAME_SIZE];

	return decode_part(parameter, equals ? (size_t)(equals - parameter) : length,
		       true, name, sizeof(name)) &&
		(!strcmp(name, "limit") || !strcmp(name, "offset"));
}

bool triad_resource_turn_page(
	const char *target, unsigned limit, unsigned offset, char *text, size_t size)
{
	size_t path = strcspn(target, "?");
	const char *query = target[path] ? target + path + 1 : "";

	text[0] = '\0';
	append_escaped(text, size, target, path);
	triad_text_append(text, size, "?");
	while (*query) {
		size_t length = strcspn(query, "&");

		if (length && !is_of_page(query, length)) {
			append_escaped(text, size, query, length);
			triad_text_append(text, size, "&");
		}
		query += length + (query[length] == '&');
	}
	triad_text_append(text, size, "limit=%u&offset=%u", limit, offset);
	return strlen(text) + 1 < size;
}

/* --- all of it --- */

static int add_name(struct reading *reading)
{
	const char *name = reading->resource->verb->name;
	size_t first = strcspn(name, " ");
	char word[NAME_SIZE];
	int error;

	snprintf(word, sizeof(word), "%.*s", (int)first, name);
	error = add_word(reading, word);
	return error || !name[first] ? error : add_word(reading, name + first + 1);
}

int triad_resource_read(
	const char *target, struct triad_resource *resource, char *message, size_t size)
{
	struct reading reading = {
		.resource = resource, .message = message, .size = size};
	size_t root = strlen(TRIAD_RESOURCE_ROOT), length = strcspn(target, "?");
	char segments[MAX_SEGMENTS][VALUE_SIZE];
	unsigned n_name = 0, n = 0;
	int error;

	memset(resource, 0, offsetof(struct triad_resource, room));
	if (length <= root || strncmp(target, TRIAD_RESOURCE_ROOT, root) != 0)
		return complain_of_resource(&reading, ENOENT, "resources begin with %s",
			TRIAD_RESOURCE_ROOT);
	error = read_path(
		&reading, target + root, length - root, segments, &n_name, &n);
	if (!error)
		error = check_arguments(&reading, n - n_name);
	if (!error)
		error = add_name(&reading);
	if (!error)
		error = add_word(&reading, "--json");
	if (!error && target[length])
		error = read_query(&reading, target + length + 1);
	resource->waits = !error && (resource->verb->waits || reading.seen & WAITING);
	if (!error)
		error = add_limit(&reading);
	/* So arguments can't be taken for options. */
	if (!error && n > n_name)
		error = add_word(&reading, "--");
	for (unsigned i = n_name; i < n && !error; i++)
		error = add_word(&reading, segments[i]);
	return error;
}
