/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <stdio.h>
#include <string.h>

#include "cli/setup_parts.h"
#include "lib/text.h"
#include "triad/control.h"
#include "triad/json.h"

#define WIDTH 79
#define NAME_WIDTH 12
#define INDENT 22

static const char *const states[] = {
	[TRIAD_SETUP_OK] = "ok",
	[TRIAD_SETUP_WARNING] = "warning",
	[TRIAD_SETUP_PROBLEM] = "problem",
};

/* --- text --- */

/* Prints words, wrapped, from column 'indent' on; the first line is there already. */
static void print_words(FILE *stream, const char *text, unsigned indent)
{
	while (*text) {
		size_t n = triad_text_fit_words(text, WIDTH - indent);

		fprintf(stream, "%.*s\n", (int)n, text);
		text += n;
		text += strspn(text, " ");
		if (*text)
			fprintf(stream, "%*s", (int)indent, "");
	}
}

static void print_check(const struct triad_setup_check *check)
{
	printf("%-8s %-*s ", states[check->state], NAME_WIDTH, check->name);
	print_words(stdout, check->text, INDENT);
	if (!*check->advice)
		return;
	printf("%*s", INDENT, "");
	print_words(stdout, check->advice, INDENT);
}

/* Prints a line of a file, with '?' for characters that could drive a terminal. */
static void print_line(char sign, const char *line)
{
	char text[TRIAD_OPENSM_CONF_LINE_SIZE];

	if (!*line)
		return;
	snprintf(text, sizeof(text), "%s", line);
	for (char *tab = text; (tab = strchr(tab, '\t'));)
		*tab = ' ';
	triad_text_clean(text);
	printf("%c %s\n", sign, text);
}

/* Whether to show changes: not with a problem, which prevents them, except for
 * --dry-run. */
static bool is_shown(const struct triad_setup *setup)
{
	return setup->octets && (!setup->checks.n_problems || setup->command->dry_run);
}

static void print_changes(const struct triad_setup *setup)
{
	const struct triad_opensm_conf_edit *edit = &setup->edit;

	if (!is_shown(setup) || (setup->checks.n_problems && !edit->n_changes))
		return;
	if (!edit->n_changes) {
		printf("\n%s: nothing to change, Triad is %s\n", setup->conf,
			setup->command->remove ? "not in it" : "in it already");
		return;
	}
	printf("\n%s%s%s%s:\n", setup->target,
		setup->is_missing ? " (new, by 'opensm -c')" : "",
		setup->command->dry_run ? " would change" : "",
		!setup->command->dry_run           ? ""
			: setup->checks.n_problems ? " without the problems"
						   : ", and nothing else");
	for (unsigned i = 0; i < edit->n_changes; i++) {
		printf("@ line %u\n", edit->changes[i].line);
		print_line('-', edit->changes[i].before);
		print_line('+', edit->changes[i].after);
	}
}

void triad_setup_show_plan(const struct triad_setup *setup)
{
	if (setup->command->json)
		return;
	for (unsigned i = 0; i < setup->checks.n; i++)
		print_check(&setup->checks.checks[i]);
	print_changes(setup);
	fflush(stdout);
}

static void print_next(const struct triad_setup *setup)
{
	bool is_removed = setup->command->remove;
	char text[256];

	if (setup->has_copied)
		printf("The file as it was: %s\n", setup->copy);
	if (setup->has_old_copy)
		printf("Kept, as it was before later changes: %s\n", setup->copy);
	if (!setup->has_changed || setup->has_restarted)
		return;
	snprintf(text, sizeof(text),
		"%s %s with its next start. A restart has the SM sweep the fabric anew. "
		"When that is all right%s",
		setup->n_sms || !setup->command->conf ? "OpenSM"
						      : "An OpenSM that reads it",
		is_removed ? "leaves Triad out" : "loads Triad",
		setup->is_foreign ? ", restart it as it was started here." : ":");
	printf("\n");
	print_words(stdout, text, 0);
	printf("\n");
	if (!setup->is_foreign)
		printf("    systemctl restart %s\n",
			*setup->unit ? setup->unit
				     : "opensm        (or as it is started here)");
	if (!is_removed)
		printf("    triadctl status\n");
}

/* Prints that --restart was not needed. */
static void print_no_restart(const struct triad_setup *setup)
{
	if (!setup->command->restart || setup->command->dry_run || setup->has_restarted)
		return;
	printf("OpenSM was not restarted: %s\n",
		!setup->command->remove ? "Triad answers"
			: setup->n_sms  ? "it runs without Triad"
					: "it does not run");
}

static void print_after(FILE *stream, const char *before, const char *text)
{
	fputs(before, stream);
	print_words(stream, text, (unsigned)strlen(before));
}

/* Prints a reason; its lines behind the first one are a list. */
static void print_reason(const char *reason)
{
	char first[sizeof(((struct triad_setup *)0)->reason)];
	size_t n = strcspn(reason, "\n");

	snprintf(first, sizeof(first), "%.*s", (int)n, reason);
	print_after(stderr, "triadctl: setup: ", first);
	if (reason[n])
		fprintf(stderr, "%s\n", reason + n + 1);
}

void triad_setup_show_end(const struct triad_setup *setup, int status)
{
	if (!setup->command->json) {
		print_next(setup);
		if (status == TRIAD_CONTROL_DONE)
			print_no_restart(setup);
		if (setup->is_loaded)
			printf("Triad answers: triadctl health, triadctl status\n");
	}
	fflush(stdout);
	if (status == TRIAD_CONTROL_DONE)
		return;
	print_reason(setup->reason);
	for (unsigned i = 0; i < setup->n_lines && !setup->command->json; i++)
		fprintf(stderr, "  %s\n", setup->lines[i]);
	if (setup->advice)
		print_after(stderr, "What to do: ", setup->advice);
}

/* --- JSON --- */

static bool write_out(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	(void)context;
	(void)type;
	return fwrite(data, 1, size, stdout) == size;
}

static void put_line(struct triad_json *json, const char *name, const char *line)
{
	char text[PATH_MAX];

	snprintf(text, sizeof(text), "%s", line);
	for (char *end = text; (end = strchr(end, '\n'));)
		*end = ' ';
	triad_text_clean(text);
	triad_json_string(json, name, *text ? text : NULL);
}

static void put_checks(struct triad_json *json, const struct triad_setup *setup)
{
	triad_json_array_begin(json, "checks");
	for (unsigned i = 0; i < setup->checks.n; i++) {
		const struct triad_setup_check *check = &setup->checks.checks[i];

		triad_json_object_begin(json, NULL);
		triad_json_string(json, "name", check->name);
		triad_json_string(json, "state", states[check->state]);
		triad_json_string(json, "text", check->text);
		triad_json_string(
			json, "advice", *check->advice ? check->advice : NULL);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
}

static void put_changes(struct triad_json *json, const struct triad_setup *setup)
{
	triad_json_array_begin(json, "changes");
	for (unsigned i = 0; is_shown(setup) && i < setup->edit.n_changes; i++) {
		triad_json_object_begin(json, NULL);
		triad_json_uint(json, "line", setup->edit.changes[i].line);
		put_line(json, "before", setup->edit.changes[i].before);
		put_line(json, "after", setup->edit.changes[i].after);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
}

void triad_setup_show_json(const struct triad_setup *setup)
{
	struct triad_output output;
	struct triad_json json;

	if (!setup->command->json)
		return;
	triad_output_init(&output, write_out, NULL);
	triad_json_init(&json, &output);
	triad_json_object_begin(&json, NULL);
	put_line(&json, "conf", setup->target);
	put_line(&json, "copy", setup->has_copied ? setup->copy : "");
	put_checks(&json, setup);
	put_changes(&json, setup);
	triad_json_bool(&json, "dry_run", setup->command->dry_run);
	triad_json_bool(&json, "changed", setup->has_changed);
	triad_json_bool(&json, "restarted", setup->has_restarted);
	if (setup->was_asked)
		triad_json_bool(&json, "loaded", setup->is_loaded);
	else
		triad_json_string(&json, "loaded", NULL);
	put_line(&json, "reason", setup->reason);
	put_line(&json, "advice", setup->advice ? setup->advice : "");
	triad_json_array_begin(&json, "log");
	for (unsigned i = 0; i < setup->n_lines; i++)
		triad_json_string(&json, NULL, setup->lines[i]);
	triad_json_array_end(&json);
	triad_json_object_end(&json);
	triad_json_end(&json);
	triad_output_flush(&output);
}
