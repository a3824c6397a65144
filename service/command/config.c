/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'get' and 'config diff': what is in force of triad.conf. */
#include "service/command/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "service/command/list.h"
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

/* The default as triad_conf_next() has values.  A group's and a scope's keys may be of
 * none that the defaults have. */
static const char *default_of(const struct triad_conf *standard,
	const struct triad_conf_entry *entry, struct triad_conf_entry *found)
{
	if (triad_conf_get(standard, entry->name, found, NULL, 0))
		return found->value;
	return entry->key->per == TRIAD_CONF_PER_SCOPE ? "inherit"
						       : entry->key->standard;
}

/* --- get --- */

static bool is_in_section(const struct triad_conf_entry *entry, const char *section)
{
	size_t n = strlen(section);

	return !strncmp(entry->name, section, n) && entry->name[n] == '.';
}

static void put_value(struct triad_list *list, const struct triad_conf *standard,
	const struct triad_conf_entry *entry)
{
	struct triad_conf_entry found;
	char text[SHOWN_SIZE];

	triad_list_row(list);
	triad_list_text(list, "key", "KEY", TRIAD_LIST_MEASURED, entry->name);
	triad_list_text(list, "from", "FROM", -7, origin_name(entry->origin));
	triad_list_text(list, "value", NULL, 0, entry->value);
	triad_list_text(
		list, "unit", NULL, 0, entry->key->unit[0] ? entry->key->unit : NULL);
	triad_list_text(list, "default", NULL, 0, default_of(standard, entry, &found));
	triad_list_text(
		list, NULL, "VALUE", 0, format_value(entry->key, entry->value, text));
	triad_list_row_end(list);
}

/* Keys of the section, or all.  Returns how many there are. */
static unsigned put_values(struct triad_list *list, const struct triad_conf *conf,
	const struct triad_conf *standard, const char *section)
{
	unsigned n = 0;

	for (struct triad_conf_entry entry = {0}; triad_conf_next(conf, &entry);) {
		if (*section && !is_in_section(&entry, section))
			continue;
		put_value(list, standard, &entry);
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

/* Says so when parts are idle because of a file with mistakes. */
static void put_broken(struct triad_service *service, struct triad_output *output)
{
	if (triad_service_conf_state(service) == TRIAD_CONF_BROKEN)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"the configuration has mistakes ('config diff' shows them), so "
			"nothing but [log] and [control] of this is in force\n");
}

static int get(const struct triad_conf *conf, const struct triad_conf *standard,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_list list = {
		.report = &report, .gap = "  ", .phase = TRIAD_LIST_WIDTHS};
	struct triad_conf_entry entry;
	bool is_key = triad_conf_get(conf, command->key, &entry, NULL, 0);

	for (unsigned i = 0; i < 2; i++) {
		unsigned n = 1;

		if (i)
			triad_report_array(&report, NULL);
		if (is_key)
			put_value(&list, standard, &entry);
		else
			n = put_values(&list, conf, standard, command->key);
		if (!n)
			return complain_key(conf, command->key, output);
		list.phase = TRIAD_LIST_ROWS;
	}
	triad_report_array_end(&report);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_get(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	const struct triad_conf *conf = triad_service_conf(service);
	const struct triad_conf *standard = triad_service_standard(service);
	int status = TRIAD_CONTROL_FAILED;

	if (standard) {
		put_broken(service, output);
		status = get(conf, standard, command, output);
	} else {
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "get: not enough memory\n");
	}
	triad_conf_unref(standard);
	triad_conf_unref(conf);
	return status;
}

/* --- config diff --- */

struct diff {
	const struct triad_conf *in_force, *file, *standard;
	bool has_file, is_broken, was_broken;
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

/* One key that differs; 'entry' is of what is in force, or, where that has no such key,
 * of the file. */
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
		list, "default", NULL, 0, default_of(diff->standard, entry, &found));
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

static void put_differences(struct diff *diff)
{
	static const char title[] = "Not in force as the file has it:";
	struct triad_conf_entry other;

	begin_list(diff, "differences");
	for (struct triad_conf_entry entry = {0};
		triad_conf_next(diff->in_force, &entry);) {
		if (triad_conf_is_alike(diff->in_force, diff->file, entry.name))
			continue;
		put_title(diff, title);
		put_difference(diff, &entry, true);
	}
	/* What the file alone has: keys of new groups, thresholds that aren't
	 * inherited any more. */
	for (struct triad_conf_entry entry = {0};
		triad_conf_next(diff->file, &entry);) {
		bool is_known =
			triad_conf_get(diff->in_force, entry.name, &other, NULL, 0);

		if (is_known && strcmp(other.value, "inherit") != 0)
			continue;
		if (triad_conf_is_alike(diff->in_force, diff->file, entry.name))
			continue;
		put_title(diff, title);
		put_difference(diff, &entry, false);
	}
	triad_report_array_end(&diff->report);
}

/* Keys in force with another value than the default. */
static void put_changed(struct diff *diff)
{
	struct triad_list *list = &diff->list;
	struct triad_conf_entry found;
	char text[SHOWN_SIZE];

	begin_list(diff, "not_default");
	for (struct triad_conf_entry entry = {0};
		triad_conf_next(diff->in_force, &entry);) {
		const char *standard = default_of(diff->standard, &entry, &found);

		if (!strcmp(standard, entry.value))
			continue;
		put_title(diff, "In force, other than the default:");
		diff->n++;
		triad_list_row(list);
		triad_list_text(list, "key", NULL, 0, entry.name);
		triad_list_text(list, "in_force", NULL, 0, entry.value);
		triad_list_text(list, "default", NULL, 0, standard);
		triad_list_text(list, "from", NULL, 0, origin_name(entry.origin));
		put_setting(
			list, entry.name, format_value(entry.key, entry.value, text));
		triad_list_note(list, "      %s; the default is %s",
			entry.origin == TRIAD_CONF_FROM_SET ? "by 'set'"
							    : "of the file",
			format_value(entry.key, standard, text));
		triad_list_row_end(list);
	}
	triad_report_array_end(&diff->report);
}

/* Lines of the file are quoted in it: users who may only read see no password. */
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

static void put_head(const struct diff *diff, const char *path, bool is_same)
{
	struct triad_output *output = diff->report.output;

	if (diff->is_broken)
		triad_output_printf(output,
			"%s has mistakes: 'reload' would take nothing of it\n", path);
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

static bool is_same(const struct diff *diff)
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
	const struct triad_conf *standard = triad_service_standard(service);
	struct diff diff = {.in_force = in_force,
		.standard = standard,
		.program = service->owner->program,
		.was_broken = triad_service_conf_state(service) == TRIAD_CONF_BROKEN,
		.report = {.output = output, .as_json = command->json}};
	struct triad_diags diags;
	struct triad_conf *file = NULL;
	int error = triad_service_read_file(service, &file, &diags);
	bool same = false;

	if (!file || !standard) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"config diff: not enough memory\n");
	} else {
		diff.file = file;
		diff.has_file = error != ENODATA;
		diff.is_broken = error && diff.has_file;
		same = is_same(&diff);
		triad_report_begin(&diff.report);
		if (!command->json)
			put_head(&diff, diags.source, same);
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
	triad_conf_unref(standard);
	triad_conf_unref(in_force);
	return same         ? TRIAD_CONTROL_DONE
		: diff.file ? TRIAD_CONTROL_TO_DO
			    : TRIAD_CONTROL_FAILED;
}
