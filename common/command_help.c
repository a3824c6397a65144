/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/command.h"

#include <errno.h>
#include <stdio.h>

#include "common/command_table.h"
#include "common/text.h"
#include "perfmgr/counter.h"

#define LEFT_SIZE 64

static void append_synopsis(const struct triad_verb *verb, char *text, size_t size)
{
	triad_text_append(text, size, "%s", verb->name);
	if (verb->arguments)
		triad_text_append(text, size, " %s", verb->arguments);
	for (size_t i = 0; i < TRIAD_N_OPTIONS; i++)
		if ((verb->options & TRIAD_OPTION_BIT(i)) && triad_options[i].help)
			triad_text_append(text, size, " [%s%s%s]",
				triad_options[i].name,
				triad_options[i].operand ? " " : "",
				triad_options[i].operand ? triad_options[i].operand
							 : "");
}

static void append_options(const struct triad_verb *verb, char *text, size_t size)
{
	char left[LEFT_SIZE];

	for (size_t i = 0; i < TRIAD_N_OPTIONS; i++) {
		const struct triad_option *option = &triad_options[i];

		if (!(verb->options & TRIAD_OPTION_BIT(i)) || !option->help)
			continue;
		snprintf(left, sizeof(left), "%s %s", option->name,
			option->operand ? option->operand : "");
		triad_text_append(text, size, "  %-28s%s\n", left, option->help);
	}
}

static void append_counters(char *text, size_t size)
{
	triad_text_append(text, size, "\nCounters (case is ignored):\n");
	for (int i = 0; i < TRIAD_N_COUNTERS; i++)
		triad_text_append(text, size, "  %s\n", triad_counters[i].name);
}

static void append_verb(
	const struct triad_verb *verb, const char *prefix, char *text, size_t size)
{
	triad_text_append(
		text, size, "%s%s ", text[0] ? "\nUsage: " : "Usage: ", prefix);
	append_synopsis(verb, text, size);
	triad_text_append(text, size, "\n\n%s\n", verb->help);
	if (verb->options & ~TRIAD_OPTION_BIT(TRIAD_OPTION_COLOR))
		triad_text_append(text, size, "\n");
	append_options(verb, text, size);
	if (verb->options & TRIAD_OPTION_BIT(TRIAD_OPTION_BY) ||
		verb->verb == TRIAD_COMMAND_PERF_HISTOGRAM)
		append_counters(text, size);
}

static void append_overview(const char *prefix, char *text, size_t size)
{
	triad_text_append(text, size, "Usage: %s COMMAND [OPTION...]\n\n", prefix);
	for (size_t i = 0; i < TRIAD_N_VERBS; i++) {
		triad_text_append(text, size, "  ");
		append_synopsis(&triad_verbs[i], text, size);
		triad_text_append(text, size, "\n      %s\n", triad_verbs[i].help);
	}
	triad_text_append(text, size, "\n'%s help COMMAND' tells more.\n", prefix);
}

int triad_command_help(const char *topic, const char *prefix, char *text, size_t size)
{
	text[0] = '\0';
	if (!*topic)
		append_overview(prefix, text, size);
	else
		for (size_t i = 0; i < TRIAD_N_VERBS; i++)
			if (triad_verb_is_topic(&triad_verbs[i], topic))
				append_verb(&triad_verbs[i], prefix, text, size);
	return text[0] ? 0 : ENOENT;
}
