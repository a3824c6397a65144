/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command/command_table.h"
#include "lib/text.h"
#include "ib/counter.h"
#include "ib/detail.h"

#define LEFT_SIZE 64
#define SYNOPSIS_SIZE 512
#define HELP_COLUMNS 80u

/* Options of so many commands that the overview leaves them out, to keep lines
 * short. */
#define COMMON                                                                         \
	(TRIAD_OPTIONS_OF_LAYOUT | TRIAD_OPTION_BIT(TRIAD_OPTION_WATCH) |              \
		TRIAD_OPTION_BIT(TRIAD_OPTION_INTERVAL))

static bool is_shown(const struct triad_verb_table *table,
	const struct triad_verb *verb, size_t option)
{
	return verb->options & TRIAD_OPTION_BIT(option) && table->options[option].help;
}

static void append_synopsis(const struct triad_verb_table *table,
	const struct triad_verb *verb, bool is_overview, char *text, size_t size)
{
	uint64_t left_out = is_overview && table->options == triad_options ? COMMON : 0;
	/* Options must come before "--". */
	bool is_last = verb->arguments && verb->arguments[0] == '-';

	triad_text_append(text, size, "%s", verb->name);
	if (verb->arguments && !is_last)
		triad_text_append(text, size, " %s", verb->arguments);
	for (size_t i = 0; i < table->n_options; i++) {
		const struct triad_option *option = &table->options[i];

		if (is_shown(table, verb, i) && !(left_out & TRIAD_OPTION_BIT(i)))
			triad_text_append(text, size, " [%s%s%s]", option->name,
				option->operand ? " " : "",
				option->operand ? option->operand : "");
	}
	if (is_last)
		triad_text_append(text, size, " %s", verb->arguments);
}

/* Appends words to a line of 'column' columns, and breaks it between words; further
 * lines begin with 'indent' blanks. */
static void append_wrapped(
	const char *words, unsigned column, unsigned indent, char *text, size_t size)
{
	while (*words) {
		size_t n = triad_text_fit_words(words, HELP_COLUMNS - column);

		triad_text_append(text, size, "%.*s\n", (int)n, words);
		words += n;
		words += *words == ' ';
		if (*words)
			triad_text_append(text, size, "%*s", (int)indent, "");
		column = indent;
	}
}

static void append_options(const struct triad_verb_table *table,
	const struct triad_verb *verb, char *text, size_t size)
{
	const char *before = "\n";
	char left[LEFT_SIZE];

	for (size_t i = 0; i < table->n_options; i++) {
		const struct triad_option *option = &table->options[i];

		if (!is_shown(table, verb, i))
			continue;
		snprintf(left, sizeof(left), "%s %s", option->name,
			option->operand ? option->operand : "");
		triad_text_append(text, size, "%s  %-28s", before, left);
		append_wrapped(option->help, 30, 30, text, size);
		before = "";
	}
}

/* Appends who may run the command, unless every reader may. */
static void append_access(const struct triad_verb *verb, char *text, size_t size)
{
	static const char who[] = "root, OpenSM's user and control.admin_group";

	if (verb->access != TRIAD_VERB_READS)
		triad_text_append(text, size, "For %s.\n", who);
	else if (verb->arguments_change)
		triad_text_append(
			text, size, "With %s: for %s.\n", verb->arguments, who);
}

static void append_verb(const struct triad_verb_table *table,
	const struct triad_verb *verb, const char *prefix, char *text, size_t size)
{
	char synopsis[SYNOPSIS_SIZE] = "";

	append_synopsis(table, verb, false, synopsis, sizeof(synopsis));
	triad_text_append(
		text, size, "%s%s ", text[0] ? "\nUsage: " : "Usage: ", prefix);
	append_wrapped(synopsis, (unsigned)(strlen("Usage: ") + strlen(prefix) + 1), 4,
		text, size);
	triad_text_append(text, size, "\n");
	append_wrapped(verb->help, 0, 0, text, size);
	if (table->options == triad_options)
		append_access(verb, text, size);
	append_options(table, verb, text, size);
	if (table->options != triad_options ||
		!(verb->options & TRIAD_OPTION_BIT(TRIAD_OPTION_BY) ||
			verb->verb == TRIAD_COMMAND_PERF_HISTOGRAM))
		return;
	/* These commands take the name of a counter. */
	triad_text_append(text, size, "\nCounters (case is ignored):\n");
	for (int i = 0; i < TRIAD_N_COUNTERS; i++)
		triad_text_append(text, size, "  %s\n", triad_counters[i].name);
	if (verb->verb != TRIAD_COMMAND_PERF_HISTOGRAM)
		return;
	triad_text_append(text, size, "\nDetails ('perf details'):\n");
	for (int i = 0; i < TRIAD_DETAIL_N_FIELDS; i++)
		triad_text_append(text, size, "  %s\n", triad_detail_fields[i].name);
}

/* Appends a synopsis and a sentence or two for each command of a group. */
static void append_group(const struct triad_verb_table *table,
	enum triad_verb_group group, char *text, size_t size)
{
	for (size_t i = 0; i < table->n_verbs; i++) {
		char synopsis[SYNOPSIS_SIZE] = "";

		if (table->verbs[i].group != group)
			continue;
		append_synopsis(
			table, &table->verbs[i], true, synopsis, sizeof(synopsis));
		triad_text_append(text, size, "  ");
		append_wrapped(synopsis, 2, 4, text, size);
		triad_text_append(text, size, "      ");
		append_wrapped(table->verbs[i].help, 6, 6, text, size);
	}
}

static void append_overview(
	const struct triad_verb_table *tables, size_t n, char *text, size_t size)
{
	static const char *const titles[TRIAD_VERB_N_GROUPS] = {
		[TRIAD_VERB_LOOK] = "Look: how the fabric is",
		[TRIAD_VERB_DIAGNOSE] = "Diagnose: why it is so",
		[TRIAD_VERB_MAINTAIN] = "Maintain: while somebody works on it",
		[TRIAD_VERB_CONFIGURE] = "Configure: Triad, and what uses the fabric",
	};

	for (unsigned group = 0; group < TRIAD_VERB_N_GROUPS; group++) {
		triad_text_append(
			text, size, "%s%s\n", group ? "\n" : "", titles[group]);
		for (size_t t = 0; t < n; t++)
			append_group(&tables[t], group, text, size);
	}
}

int triad_verb_tables_help(const struct triad_verb_table *tables, size_t n,
	const char *topic, const char *prefix, char *text, size_t size)
{
	text[0] = '\0';
	if (!*topic)
		triad_text_append(
			text, size, "Usage: %s COMMAND [OPTION...]\n\n", prefix);
	if (!*topic)
		append_overview(tables, n, text, size);
	for (size_t t = 0; *topic && t < n; t++)
		for (size_t i = 0; i < tables[t].n_verbs; i++)
			if (triad_verb_is_topic(&tables[t].verbs[i], topic))
				append_verb(&tables[t], &tables[t].verbs[i], prefix,
					text, size);
	if (!*topic)
		triad_text_append(text, size,
			"\nCommands that only read also take --watch [--interval S]. Those "
			"that show a\ntable also take --columns A,B,..., "
			"--sort [-]COLUMN, --no-headings and --raw.\n"
			"'%s help COMMAND' tells more.\n",
			prefix);
	return text[0] ? 0 : ENOENT;
}

int triad_command_help(const char *topic, const char *prefix, char *text, size_t size)
{
	return triad_verb_tables_help(
		&triad_command_verbs, 1, topic, prefix, text, size);
}
