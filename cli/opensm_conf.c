/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/opensm_conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_KEY "event_plugin_name"
#define OPTIONS_KEY "event_plugin_options"
#define NO_VALUE "(null)"

/* The separators of OpenSM for words of a line and names of plugins, and ours for
 * options. */
#define KEY_ENDS " \t\n"
#define NAME_ENDS ", \t\n"
#define OPTION_ENDS " \t,;"
#define CONF_OPTION "conf="
#define BLANKS " \t\n\v\f\r"

#define MAX_LINE (TRIAD_OPENSM_CONF_LINE_SIZE - 1)

/* A line of the file; offsets are into the file. */
struct line {
	unsigned number;
	size_t at, end; /* without its newline */
	size_t next;
	size_t key, key_size;
	size_t value, value_size; /* without blanks and quotes */
	bool is_quoted;
};

static bool is_one_of(char octet, const char *octets)
{
	return octet && strchr(octets, octet);
}

/* --- reading --- */

static size_t skip(
	const char *octets, size_t at, size_t end, const char *set, bool is_in)
{
	while (at < end && is_one_of(octets[at], set) == is_in)
		at++;
	return at;
}

static void trim_value(const char *octets, struct line *line, size_t end)
{
	size_t at = skip(octets, line->key + line->key_size, end, BLANKS, true);

	while (end > at && is_one_of(octets[end - 1], BLANKS))
		end--;
	line->is_quoted = end - at >= 2 && octets[at] == octets[end - 1] &&
		is_one_of(octets[at], "\"'");
	at += line->is_quoted;
	end -= line->is_quoted;
	line->value = at;
	line->value_size = end - at;
}

/* Steps to the next line; all zeros before the first. */
static bool next_line(const char *octets, size_t size, struct line *line)
{
	size_t at = line->next, most = size - at < MAX_LINE ? size - at : MAX_LINE;
	const char *newline = memchr(octets + at, '\n', most);
	bool was_whole = !at || octets[at - 1] == '\n';
	const char *comment;
	size_t end;

	if (!most)
		return false;
	line->number += was_whole;
	line->at = at;
	line->end = newline ? (size_t)(newline - octets) : at + most;
	line->next = line->end + (newline ? 1 : 0);
	comment = memchr(octets + at, '#', line->end - at);
	end = comment ? (size_t)(comment - octets) : line->end;
	line->key = skip(octets, at, end, KEY_ENDS, true);
	line->key_size = skip(octets, line->key, end, KEY_ENDS, false) - line->key;
	trim_value(octets, line, end);
	return true;
}

static bool has_key(const char *octets, const struct line *line, const char *key)
{
	return line->key_size == strlen(key) &&
		!memcmp(octets + line->key, key, line->key_size);
}

/* Finds the last line with the key, which counts; returns how many have it. */
static unsigned find_line(
	const char *octets, size_t size, const char *key, struct line *found)
{
	unsigned n = 0;

	for (struct line line = {0}; next_line(octets, size, &line);) {
		if (!has_key(octets, &line, key))
			continue;
		*found = line;
		n++;
	}
	return n;
}

const char *triad_opensm_conf_refuse(const char *octets, size_t size)
{
	if (size > TRIAD_OPENSM_CONF_MAX_SIZE)
		return "it is larger than 1 MiB, so it is no opensm.conf";
	return size && memchr(octets, '\0', size)
		? "it is a binary file (it has an octet 0), so it is no opensm.conf"
		: NULL;
}

bool triad_opensm_conf_get(const char *octets, size_t size, const char *key,
	char value[TRIAD_OPENSM_CONF_LINE_SIZE], unsigned *n)
{
	struct line line = {0};

	*value = '\0';
	*n = find_line(octets, size, key, &line);
	if (*n)
		snprintf(value, TRIAD_OPENSM_CONF_LINE_SIZE, "%.*s",
			(int)line.value_size, octets + line.value);
	if (!strcmp(value, NO_VALUE))
		*value = '\0';
	return *value;
}

/* --- names and options --- */

/* Finds the first word of 'text' that is Triad's name; NULL: none. */
static const char *find_name(const char *text)
{
	const size_t length = strlen(TRIAD_OPENSM_PLUGIN);

	for (text += strspn(text, NAME_ENDS); *text; text += strspn(text, NAME_ENDS)) {
		size_t n = strcspn(text, NAME_ENDS);

		if (n == length && !memcmp(text, TRIAD_OPENSM_PLUGIN, n))
			return text;
		text += n;
	}
	return NULL;
}

bool triad_opensm_conf_loads(const char *names)
{
	return find_name(names);
}

/* Finds "conf=" as the plugin does: only the first one counts. */
static const char *find_option(const char *options, size_t *length)
{
	const char *at = strstr(options, CONF_OPTION);

	if (!at || (at != options && !is_one_of(at[-1], OPTION_ENDS)))
		return NULL;
	*length = strcspn(at, OPTION_ENDS);
	return at;
}

bool triad_opensm_conf_option(
	const char *options, char path[TRIAD_OPENSM_CONF_LINE_SIZE])
{
	const size_t before = strlen(CONF_OPTION);
	size_t length;
	const char *at = find_option(options, &length);

	*path = '\0';
	if (at)
		snprintf(path, TRIAD_OPENSM_CONF_LINE_SIZE, "%.*s",
			(int)(length - before), at + before);
	return at;
}

bool triad_opensm_conf_takes_path(const char *path)
{
	return *path == '/' && !strpbrk(path, OPTION_ENDS BLANKS "#\"'");
}

/* Copies 'text' without the 'length' octets at 'at' and their separators. */
static void cut(const char *text, const char *at, size_t length, const char *ends,
	char *result, size_t size)
{
	const char *after = at + length;
	size_t before = (size_t)(at - text);

	if (!before)
		after += strspn(after, ends);
	while (before && is_one_of(text[before - 1], ends))
		before--;
	snprintf(result, size, "%.*s%s", (int)before, text, after);
	if (!*result)
		snprintf(result, size, NO_VALUE);
}

/* --- changing --- */

void triad_opensm_conf_edit_clear(struct triad_opensm_conf_edit *edit)
{
	free(edit->octets);
	*edit = (struct triad_opensm_conf_edit){0};
}

static int copy_octets(
	struct triad_opensm_conf_edit *edit, const char *octets, size_t size)
{
	edit->octets = malloc(size + 1);
	if (!edit->octets)
		return ENOMEM;
	memcpy(edit->octets, octets, size);
	edit->octets[size] = '\0';
	edit->size = size;
	return 0;
}

/* Replaces a part of the text. */
static int splice(struct triad_opensm_conf_edit *edit, size_t at, size_t old_size,
	const char *text)
{
	size_t length = strlen(text), rest = edit->size - at - old_size;
	char *octets = malloc(edit->size - old_size + length + 1);

	if (!octets)
		return ENOMEM;
	memcpy(octets, edit->octets, at);
	memcpy(octets + at, text, length);
	memcpy(octets + at + length, edit->octets + at + old_size, rest + 1);
	free(edit->octets);
	edit->octets = octets;
	edit->size += length - old_size;
	return 0;
}

static void copy_line(char to[TRIAD_OPENSM_CONF_LINE_SIZE], const char *octets,
	const struct line *line)
{
	size_t end = line->end;

	if (end > line->at && octets[end - 1] == '\r')
		end--;
	snprintf(to, TRIAD_OPENSM_CONF_LINE_SIZE, "%.*s", (int)(end - line->at),
		octets + line->at);
}

/* Appends a line to the file, with the same line end as the last line. */
static int append_line(
	struct triad_opensm_conf_edit *edit, const char *key, const char *value)
{
	size_t n = edit->size;
	bool is_open = n && edit->octets[n - 1] != '\n';
	bool has_return = n > 1 && !memcmp(edit->octets + n - 2, "\r\n", 2);
	char text[2 * TRIAD_OPENSM_CONF_LINE_SIZE];
	int length = snprintf(text, sizeof(text), "%s%s %s%s", is_open ? "\n" : "", key,
		value, has_return ? "\r\n" : "\n");

	return length > MAX_LINE ? EMSGSIZE : splice(edit, n, 0, text);
}

static int replace_value(
	struct triad_opensm_conf_edit *edit, const struct line *line, const char *value)
{
	bool is_bare = !line->value_size && !line->is_quoted;
	size_t at = is_bare ? line->key + line->key_size : line->value;
	size_t length = line->end - line->at;
	char text[TRIAD_OPENSM_CONF_LINE_SIZE + 1];

	/* OpenSM splits a line that is too long: its rest would become another line. */
	if (length - line->value_size + strlen(value) + 2 > MAX_LINE ||
		(line->next == line->end && line->next != edit->size))
		return EMSGSIZE;
	snprintf(text, sizeof(text), "%s%s", is_bare ? " " : "", value);
	return splice(edit, at, line->value_size, text);
}

static int set_value(
	struct triad_opensm_conf_edit *edit, const char *key, const char *value)
{
	struct triad_opensm_conf_change *change = &edit->changes[edit->n_changes];
	struct line line = {0};
	bool is_new = !find_line(edit->octets, edit->size, key, &line);
	int error;

	*change = (struct triad_opensm_conf_change){0};
	if (!is_new)
		copy_line(change->before, edit->octets, &line);
	error = is_new ? append_line(edit, key, value)
		       : replace_value(edit, &line, value);
	if (error)
		return error;
	find_line(edit->octets, edit->size, key, &line);
	copy_line(change->after, edit->octets, &line);
	change->line = line.number;
	edit->n_changes++;
	return 0;
}

static int add_name(struct triad_opensm_conf_edit *edit)
{
	char names[TRIAD_OPENSM_CONF_LINE_SIZE];
	char more[TRIAD_OPENSM_CONF_LINE_SIZE + sizeof("," TRIAD_OPENSM_PLUGIN)];
	unsigned n;
	bool has_some =
		triad_opensm_conf_get(edit->octets, edit->size, NAME_KEY, names, &n);

	if (triad_opensm_conf_loads(names))
		return 0;
	snprintf(more, sizeof(more), "%s%s" TRIAD_OPENSM_PLUGIN, names,
		has_some ? "," : "");
	return set_value(edit, NAME_KEY, more);
}

static int add_option(struct triad_opensm_conf_edit *edit, const char *path)
{
	char options[TRIAD_OPENSM_CONF_LINE_SIZE], now[TRIAD_OPENSM_CONF_LINE_SIZE];
	char more[2 * TRIAD_OPENSM_CONF_LINE_SIZE + sizeof(CONF_OPTION " ")];
	size_t length = 0;
	const char *at;
	unsigned n;

	triad_opensm_conf_get(edit->octets, edit->size, OPTIONS_KEY, options, &n);
	if (triad_opensm_conf_option(options, now) && !strcmp(now, path))
		return 0;
	if (strlen(path) >= TRIAD_OPENSM_CONF_LINE_SIZE)
		return EMSGSIZE;
	at = find_option(options, &length);
	/* Before the options of other plugins: only the first "conf=" counts. */
	if (at)
		snprintf(more, sizeof(more), "%.*s" CONF_OPTION "%s%s",
			(int)(at - options), options, path, at + length);
	else
		snprintf(more, sizeof(more), CONF_OPTION "%s%s%s", path,
			*options ? " " : "", options);
	return set_value(edit, OPTIONS_KEY, more);
}

static int finish(struct triad_opensm_conf_edit *edit, int error)
{
	if (error)
		triad_opensm_conf_edit_clear(edit);
	return error;
}

int triad_opensm_conf_add(const char *octets, size_t size, const char *path,
	struct triad_opensm_conf_edit *edit)
{
	int error = copy_octets(edit, octets, size);

	if (!error)
		error = add_name(edit);
	if (!error && path)
		error = add_option(edit, path);
	return finish(edit, error);
}

/* --- undoing --- */

static int remove_option(struct triad_opensm_conf_edit *edit)
{
	char options[TRIAD_OPENSM_CONF_LINE_SIZE], rest[TRIAD_OPENSM_CONF_LINE_SIZE];
	size_t length;
	const char *at;
	unsigned n;

	triad_opensm_conf_get(edit->octets, edit->size, OPTIONS_KEY, options, &n);
	at = find_option(options, &length);
	if (!at)
		return 0;
	cut(options, at, length, OPTION_ENDS, rest, sizeof(rest));
	return set_value(edit, OPTIONS_KEY, rest);
}

static int remove_words(struct triad_opensm_conf_edit *edit)
{
	char names[TRIAD_OPENSM_CONF_LINE_SIZE], rest[TRIAD_OPENSM_CONF_LINE_SIZE];
	const char *at;
	unsigned n;
	int error;

	triad_opensm_conf_get(edit->octets, edit->size, NAME_KEY, names, &n);
	if (!find_name(names))
		return 0;
	while ((at = find_name(names))) {
		cut(names, at, strlen(TRIAD_OPENSM_PLUGIN), NAME_ENDS, rest,
			sizeof(rest));
		memcpy(names, rest, sizeof(names));
	}
	error = set_value(edit, NAME_KEY, names);
	/* Keep the options if another plugin is left: it may read them. */
	return error || strcmp(names, NO_VALUE) ? error : remove_option(edit);
}

/* Whether adding Triad to the old text gives this one. */
static bool is_made_of(const char *octets, size_t size, const char *old,
	size_t old_size, struct triad_opensm_conf_edit *added)
{
	char options[TRIAD_OPENSM_CONF_LINE_SIZE], path[TRIAD_OPENSM_CONF_LINE_SIZE];
	unsigned n;
	bool has_path, is_same = false;

	triad_opensm_conf_get(octets, size, OPTIONS_KEY, options, &n);
	has_path = triad_opensm_conf_option(options, path);
	for (int i = 0; i < 2 && !is_same && (i < 1 || has_path); i++) {
		triad_opensm_conf_edit_clear(added);
		if (!triad_opensm_conf_add(old, old_size, i ? path : NULL, added))
			is_same = added->n_changes && added->size == size &&
				!memcmp(added->octets, octets, size);
	}
	return is_same;
}

/* Sets the changes of 'edit' to the reverse of those of 'added'. */
static void reverse_changes(
	struct triad_opensm_conf_edit *edit, const struct triad_opensm_conf_edit *added)
{
	for (unsigned i = 0; i < added->n_changes; i++) {
		struct triad_opensm_conf_change *change = &edit->changes[i];

		*change = added->changes[i];
		memcpy(change->before, added->changes[i].after, sizeof(change->before));
		memcpy(change->after, added->changes[i].before, sizeof(change->after));
	}
	edit->n_changes = added->n_changes;
}

int triad_opensm_conf_remove(const char *octets, size_t size, const char *old,
	size_t old_size, struct triad_opensm_conf_edit *edit)
{
	struct triad_opensm_conf_edit added = {0};
	int error;

	if (old && is_made_of(octets, size, old, old_size, &added)) {
		error = copy_octets(edit, old, old_size);
		reverse_changes(edit, &added);
	} else {
		error = copy_octets(edit, octets, size);
		if (!error)
			error = remove_words(edit);
	}
	triad_opensm_conf_edit_clear(&added);
	return finish(edit, error);
}
