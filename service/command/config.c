/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'get' and 'config diff': the configuration in force. */
#include "service/command/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "service/command/list.h"
#include "service/command/moment.h"
#include "service/service.h"
#include "triad/lists.h"

/* With the key's unit. */
#define SHOWN_SIZE (TRIAD_CONF_VALUE_SIZE + 16)

static const char *format_value(
	const struct triad_conf_key *key, const char *value, char text[SHOWN_SIZE])
{
	snprintf(text, SHOWN_SIZE, "%s%s%s", *value ? value : "\"\"",
		key->unit[0] && *value ? " " : "", key->unit);
	return text;
}

static const char *origin_name(enum triad_conf_origin origin)
{
	static const char *const names[] = {
		[TRIAD_CONF_FROM_DEFAULT] = "default",
		[TRIAD_CONF_FROM_FILE] = "file",
		[TRIAD_CONF_FROM_SET] = "set",
	};

	return names[origin];
}

/* The default of a key, in the form of triad_conf_next().  The default configuration
 * lacks the keys of configured groups and scopes. */
static const char *default_of(const struct triad_conf *defaults,
	const struct triad_conf_entry *entry, struct triad_conf_entry *found)
{
	if (triad_conf_get(defaults, entry->name, found, NULL, 0))
		return found->value;
	return entry->key->per == TRIAD_CONF_PER_SCOPE ? "inherit"
						       : entry->key->default_text;
}

/* --- get --- */

/* The present values, or those of a past, whose image has only values that differed
 * from the default. */
struct values {
	const struct triad_conf *conf, *defaults;
	const struct triad_past *past; /* NULL: now */
	uint32_t next;                 /* index of next_past_key() in the past's keys */
};

static bool is_in_section(const struct triad_conf_entry *entry, const char *section)
{
	size_t n = strlen(section);

	return !strncmp(entry->name, section, n) && entry->name[n] == '.';
}

static const struct triad_past_key *find_past_key(
	const struct triad_past *past, const char *name)
{
	for (uint32_t i = 0; i < past->n_keys; i++)
		if (!strcmp(past->keys[i].name, name))
			return &past->keys[i];
	return NULL;
}

static void take_past_value(
	const struct triad_past_key *key, struct triad_conf_entry *entry)
{
	entry->origin = TRIAD_CONF_FROM_FILE;
	memcpy(entry->value, key->value, sizeof(entry->value));
}

/* Steps to the next key of a group, or threshold, that the defaults lack.  Its row in
 * the table is known only if the present configuration has that key. */
static bool next_past_key(struct values *values, struct triad_conf_entry *entry)
{
	const struct triad_past *past = values->past;
	struct triad_conf_entry found;

	while (values->next < past->n_keys) {
		const struct triad_past_key *key = &past->keys[values->next++];

		if (triad_conf_get(values->defaults, key->name, &found, NULL, 0))
			continue;
		*entry = (struct triad_conf_entry){0};
		if (triad_conf_get(values->conf, key->name, &found, NULL, 0))
			entry->key = found.key;
		memcpy(entry->name, key->name, sizeof(entry->name));
		take_past_value(key, entry);
		return true;
	}
	return false;
}

static bool next_value(struct values *values, struct triad_conf_entry *entry)
{
	const struct triad_past_key *key;

	if (!values->past)
		return triad_conf_next(values->conf, entry);
	if (values->next || !triad_conf_next(values->defaults, entry))
		return next_past_key(values, entry);
	key = find_past_key(values->past, entry->name);
	if (key)
		take_past_value(key, entry);
	return true;
}

static void put_conf_value(struct triad_list *list, const struct values *values,
	const struct triad_conf_entry *entry)
{
	const struct triad_conf_key *key = entry->key;
	/* Images do not keep whether the file or 'set' gave the value. */
	const char *from = values->past && entry->origin != TRIAD_CONF_FROM_DEFAULT
		? "changed"
		: origin_name(entry->origin);
	struct triad_conf_entry found;
	char text[SHOWN_SIZE];

	triad_list_row(list);
	triad_list_text(list, "key", "KEY", TRIAD_LIST_MEASURED, entry->name);
	triad_list_text(list, "from", "FROM", -7, from);
	triad_list_text(list, "value", NULL, 0, entry->value);
	triad_list_text(list, "unit", NULL, 0, key && key->unit[0] ? key->unit : NULL);
	triad_list_text(list, "default", NULL, 0,
		key ? default_of(values->defaults, entry, &found) : NULL);
	triad_list_text(list, NULL, "VALUE", 0,
		key ? format_value(key, entry->value, text) : entry->value);
	triad_list_row_end(list);
}

/* Writes the key, or those of the section, or all.  Returns how many. */
static unsigned put_values(
	struct triad_list *list, struct values values, const char *wanted)
{
	unsigned n = 0;

	for (struct triad_conf_entry entry = {0}; next_value(&values, &entry);) {
		if (*wanted && strcmp(wanted, entry.name) != 0 &&
			!is_in_section(&entry, wanted))
			continue;
		put_conf_value(list, &values, &entry);
		n++;
	}
	return n;
}

static int complain_key(
	const struct triad_conf *conf, const char *key, struct triad_output *output)
{
	struct triad_text_nearest nearest = {.word = key};
	char near[3 * TRIAD_TEXT_NEAREST_SIZE + 16] = "";

	for (struct triad_conf_entry entry = {0}; triad_conf_next(conf, &entry);)
		triad_text_nearest_try(&nearest, entry.name);
	for (struct triad_conf_entry entry = {0}; triad_conf_next(conf, &entry);)
		triad_text_nearest_try(&nearest, entry.key->section);
	triad_text_nearest_append(&nearest, near, sizeof(near));
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"get: no key and no section is called '%s'; %s%s%s'get' lists all\n",
		key, nearest.n ? "did you mean " : "", near, nearest.n ? "? " : "");
	return TRIAD_CONTROL_FAILED;
}

/* Writes that parts are idle because the file has mistakes, if they are. */
static void put_broken(struct triad_service *service, struct triad_output *output)
{
	if (triad_service_conf_state(service) == TRIAD_CONF_BROKEN)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"the configuration has mistakes ('config diff' shows them), so "
			"nothing but [log] and [control] of this is in force\n");
}

static int show_keys(const struct values *values, const struct triad_command *command,
	struct triad_output *output)
{
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_list list = {
		.report = &report, .gap = "  ", .phase = TRIAD_LIST_WIDTHS};
	struct triad_conf_entry entry;
	/* Found by name: put_values() lists no inherited thresholds. */
	bool is_key = !values->past &&
		triad_conf_get(values->conf, command->key, &entry, NULL, 0);

	for (unsigned i = 0; i < 2; i++) {
		unsigned n = 1;

		if (i)
			triad_report_array(&report, NULL);
		if (is_key)
			put_conf_value(&list, values, &entry);
		else
			n = put_values(&list, *values, command->key);
		if (!n)
			return complain_key(values->conf, command->key, output);
		list.phase = TRIAD_LIST_ROWS;
	}
	triad_report_array_end(&report);
	return TRIAD_CONTROL_DONE;
}

static int get_past(struct triad_service *service, struct values *values,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_past *past = triad_moment_outputs(service, command, output);
	int status;

	if (!past)
		return TRIAD_CONTROL_FAILED;
	values->past = past;
	status = show_keys(values, command, output);
	triad_past_free(past);
	return status;
}

int triad_command_run_get(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct values values = {.conf = triad_service_conf(service),
		.defaults = triad_service_defaults(service)};
	int status = TRIAD_CONTROL_FAILED;

	if (values.defaults && command->at[0]) {
		status = get_past(service, &values, command, output);
	} else if (values.defaults) {
		put_broken(service, output);
		(void)triad_commands_put_refused(service, command->key, output);
		status = show_keys(&values, command, output);
	} else {
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "get: not enough memory\n");
	}
	triad_conf_unref(values.defaults);
	triad_conf_unref(values.conf);
	return status;
}

/* --- config diff --- */

struct diff {
	const struct triad_conf *in_force, *file, *defaults;
	bool has_file, is_broken, was_broken;
	bool is_unread; /* the file can't be read or trusted: its values are not known */
	const char *program;
	struct triad_report report;
	struct triad_list list;
	unsigned n;
};

/* Why a key is in force with another value than the file has. */
static const char *why_of(
	const struct diff *diff, const struct triad_conf_entry *entry, bool in_force)
{
	if (in_force && entry->origin == TRIAD_CONF_FROM_SET)
		return "set";
	return entry->key->at_run_time ? "edited" : "restart";
}

static void format_why(const struct diff *diff, const struct triad_conf_key *key,
	const char *why, const char *file, char *line, size_t size)
{
	char text[SHOWN_SIZE];

	if (file)
		format_value(key, file, text);
	snprintf(line, size, "%s%s has %s%s",
		strcmp(why, "set") ? "" : "'set' changed it; ",
		diff->has_file ? "the file" : "the default",
		file ? text : "no such group",
		diff->is_broken                   ? ""
			: !strcmp(why, "edited")  ? "; 'reload' takes it"
			: !strcmp(why, "restart") ? "; a restart takes it"
						  : "");
}

static void put_setting(struct triad_list *list, const char *name, const char *value)
{
	char text[TRIAD_CONF_NAME_SIZE + SHOWN_SIZE + sizeof(" = ")];

	snprintf(text, sizeof(text), "%s = %s", name, value);
	triad_list_text(list, NULL, "", 0, text);
}

/* Writes one key that differs; 'entry' is from the configuration in force, or from the
 * file if the former lacks the key. */
static void put_difference(
	struct diff *diff, const struct triad_conf_entry *entry, bool in_force)
{
	struct triad_list *list = &diff->list;
	struct triad_conf_entry other, found;
	const char *why = why_of(diff, entry, in_force), *present, *file;
	char text[SHOWN_SIZE], line[SHOWN_SIZE + 64];

	present = in_force ? entry->value
		: triad_conf_get(diff->in_force, entry->name, &other, NULL, 0)
		? other.value
		: NULL;
	file = !in_force ? entry->value
		: triad_conf_get(diff->file, entry->name, &other, NULL, 0) ? other.value
									   : NULL;
	diff->n++;
	triad_list_row(list);
	triad_list_text(list, "key", NULL, 0, entry->name);
	triad_list_text(list, "in_force", NULL, 0, present);
	triad_list_text(list, "file", NULL, 0, file);
	triad_list_text(
		list, "default", NULL, 0, default_of(diff->defaults, entry, &found));
	triad_list_text(list, "why", NULL, 0, why);
	put_setting(list, entry->name,
		present ? format_value(entry->key, present, text) : "(not there)");
	format_why(diff, entry->key, why, file, line, sizeof(line));
	triad_list_note(list, "      %s", line);
	triad_list_row_end(list);
}

static void begin_list(struct diff *diff, const char *name)
{
	diff->list = (struct triad_list){.report = &diff->report, .indent = "  "};
	diff->n = 0;
	triad_report_array(&diff->report, name);
}

static void put_title(struct diff *diff, const char *title)
{
	if (!diff->report.as_json && !diff->n)
		triad_output_printf(diff->report.output, "%s\n", title);
}

/* Whether the file's value of a key is known: in a file with mistakes it may be one
 * that could not be parsed. */
static bool is_known_value(
	const struct diff *diff, const struct triad_conf_entry *entry)
{
	struct triad_conf_entry of_file;

	if (diff->is_unread)
		return false;
	return !diff->is_broken || entry->origin == TRIAD_CONF_FROM_DEFAULT ||
		(triad_conf_get(diff->file, entry->name, &of_file, NULL, 0) &&
			of_file.origin != TRIAD_CONF_FROM_DEFAULT);
}

static void put_differences(struct diff *diff)
{
	static const char title[] = "Not in force as the file has it:";
	struct triad_conf_entry other;

	begin_list(diff, "differences");
	for (struct triad_conf_entry entry = {0};
		triad_conf_next(diff->in_force, &entry);) {
		if (!is_known_value(diff, &entry) ||
			triad_conf_is_alike(diff->in_force, diff->file, entry.name))
			continue;
		put_title(diff, title);
		put_difference(diff, &entry, true);
	}
	/* Keys that only the file has: those of new groups, and thresholds that are
	 * inherited now. */
	for (struct triad_conf_entry entry = {0};
		triad_conf_next(diff->file, &entry);) {
		bool has_it =
			triad_conf_get(diff->in_force, entry.name, &other, NULL, 0);

		if (diff->is_unread || (has_it && strcmp(other.value, "inherit") != 0))
			continue;
		if (triad_conf_is_alike(diff->in_force, diff->file, entry.name))
			continue;
		put_title(diff, title);
		put_difference(diff, &entry, false);
	}
	triad_report_array_end(&diff->report);
}

/* Writes the keys in force whose value is not the default. */
static void put_changed(struct diff *diff)
{
	struct triad_list *list = &diff->list;
	struct triad_conf_entry found;
	char text[SHOWN_SIZE];

	begin_list(diff, "not_default");
	for (struct triad_conf_entry entry = {0};
		triad_conf_next(diff->in_force, &entry);) {
		const char *shown = default_of(diff->defaults, &entry, &found);

		if (!strcmp(shown, entry.value) ||
			(diff->was_broken &&
				!triad_service_keeps_when_idle(entry.name)))
			continue;
		put_title(diff, "In force, other than the default:");
		diff->n++;
		triad_list_row(list);
		triad_list_text(list, "key", NULL, 0, entry.name);
		triad_list_text(list, "in_force", NULL, 0, entry.value);
		triad_list_text(list, "default", NULL, 0, shown);
		triad_list_text(list, "from", NULL, 0, origin_name(entry.origin));
		put_setting(
			list, entry.name, format_value(entry.key, entry.value, text));
		triad_list_note(list, "      %s; the default is %s",
			entry.origin == TRIAD_CONF_FROM_SET ? "by 'set'"
							    : "of the file",
			format_value(entry.key, shown, text));
		triad_list_row_end(list);
	}
	triad_report_array_end(&diff->report);
}

/* Writes the mistakes.  They quote lines of the file, so passwords are masked: readers
 * must not see them. */
static void put_mistakes(struct diff *diff, const struct triad_diags *diags)
{
	char text[TRIAD_DIAG_TEXT_SIZE * 2 + 64], shown[sizeof(text)];

	triad_report_array(&diff->report, "mistakes");
	for (size_t i = 0; i < diags->n; i++) {
		triad_diags_format(diags, i, text, sizeof(text));
		triad_servers_mask(text, shown, sizeof(shown));
		if (diff->report.as_json)
			triad_json_string(&diff->report.json, NULL, shown);
		else
			triad_output_printf(diff->report.output, "%s\n", shown);
	}
	triad_report_array_end(&diff->report);
}

static void put_diff_head(const struct diff *diff, const char *path, bool is_same)
{
	struct triad_output *output = diff->report.output;

	if (diff->is_unread)
		triad_output_printf(output,
			"%s can't be read, so it is not known what it has: 'reload' would "
			"take nothing of it\n",
			path);
	else if (diff->is_broken)
		triad_output_printf(output,
			"%s has mistakes: 'reload' would take nothing of it; what it has "
			"for keys with mistakes is not known\n",
			path);
	else if (diff->was_broken)
		triad_output_printf(output,
			"%s had mistakes when %s started, so it is not in force; it has "
			"none now: 'reload' takes it\n",
			path, diff->program);
	else if (!diff->has_file)
		triad_output_printf(output, "there is no file: %s\n",
			is_same ? "every key has its default"
				: "'set' changed some keys");
	else if (is_same)
		triad_output_printf(output, "%s is in force as it stands\n", path);
	else
		triad_output_printf(output, "%s is not in force as it stands\n", path);
}

static bool is_same_conf(const struct diff *diff)
{
	for (struct triad_conf_entry entry = {0};
		triad_conf_next(diff->in_force, &entry);)
		if (!triad_conf_is_alike(diff->in_force, diff->file, entry.name))
			return false;
	for (struct triad_conf_entry entry = {0}; triad_conf_next(diff->file, &entry);)
		if (!triad_conf_is_alike(diff->in_force, diff->file, entry.name))
			return false;
	return !diff->is_broken && !diff->was_broken;
}

int triad_command_run_config_diff(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	const struct triad_conf *in_force = triad_service_conf(service);
	const struct triad_conf *defaults = triad_service_defaults(service);
	struct diff diff = {.in_force = in_force,
		.defaults = defaults,
		.program = service->owner->program,
		.was_broken = triad_service_conf_state(service) == TRIAD_CONF_BROKEN,
		.report = {.output = output, .as_json = command->json}};
	struct triad_diags diags;
	struct triad_conf *file = NULL;
	int error = triad_service_read_file(service, &file, &diags);
	bool same = false;

	if (!file || !defaults) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"config diff: not enough memory\n");
	} else {
		diff.file = file;
		diff.has_file = error != ENODATA;
		diff.is_broken = error && diff.has_file;
		diff.is_unread = diff.is_broken && error != EINVAL;
		same = is_same_conf(&diff);
		triad_report_begin(&diff.report);
		if (!command->json)
			put_diff_head(&diff, diags.source, same);
		else
			triad_json_string(&diff.report.json, "file",
				diff.has_file ? diags.source : NULL);
		if (command->json)
			triad_json_bool(&diff.report.json, "in_force", same);
		if (diff.is_broken || command->json)
			put_mistakes(&diff, &diags);
		put_differences(&diff);
		put_changed(&diff);
		triad_report_end(&diff.report);
	}
	triad_conf_unref(file);
	triad_conf_unref(defaults);
	triad_conf_unref(in_force);
	return same         ? TRIAD_CONTROL_DONE
		: diff.file ? TRIAD_CONTROL_TO_DO
			    : TRIAD_CONTROL_FAILED;
}
