/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/profile_command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

#define AT(member) .offset = offsetof(struct triad_profile_command, member)
#define BIT(option) (1u << OPTION_##option)
#define DEFAULT_LIMIT 20

enum {
	OPTION_OUT,
	OPTION_CSV,
	OPTION_LIMIT,
	OPTION_JSON,
	OPTION_SVG,
	N_OPTIONS,
};

static const struct triad_option options[N_OPTIONS] = {
	[OPTION_OUT] = {"-o", "OUT", TRIAD_OPTION_KIND_PATH, AT(out),
		.help = "the file to write [standard output]"},
	[OPTION_CSV] = {"--csv", NULL, TRIAD_OPTION_KIND_FLAG, AT(csv),
		.help = "plain text instead of compressed frames"},
	[OPTION_LIMIT] = {"-n", "N", TRIAD_OPTION_KIND_NUMBER, AT(limit), .min = 1,
		.max = 65535, .help = "how many links to show, 1 to 65535 [20]"},
	[OPTION_JSON] = {"--json", NULL, TRIAD_OPTION_KIND_FLAG, AT(json),
		.help = "JSON instead of text"},
	[OPTION_SVG] = {"--svg", "OUT", TRIAD_OPTION_KIND_PATH, AT(svg),
		.help = "draw it, too, into this file for a browser"},
};

/* 'verb' is not one of the plugin's: parse_verb() goes by the row. */
static const struct triad_verb verbs[] = {
	{.name = "profile merge",
		.options = BIT(OUT) | BIT(CSV),
		.help = "Merges profile files of any number of collectors into one, in "
			"the order of time.",
		.arguments = "FILE...",
		.n_arguments_min = 1,
		.n_arguments_max = TRIAD_PROFILE_MAX_FILES},
	{.name = "profile report",
		.options = BIT(LIMIT) | BIT(JSON) | BIT(SVG),
		.help = "What profile files say: the busiest links, traffic over time, "
			"parallel links of unlike load, gaps.",
		.arguments = "FILE...",
		.n_arguments_min = 1,
		.n_arguments_max = TRIAD_PROFILE_MAX_FILES},
};

#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const enum triad_profile_verb verb_of_row[N_VERBS] = {
	TRIAD_PROFILE_MERGE, TRIAD_PROFILE_REPORT};

struct triad_verb_table triad_profile_verbs(void)
{
	return (struct triad_verb_table){
		.verbs = verbs,
		.n_verbs = N_VERBS,
		.options = options,
		.n_options = N_OPTIONS,
	};
}

bool triad_profile_is_meant(int n_words, const char *const *words)
{
	int first = n_words && !strcmp(words[0], "help");

	return n_words > first && !strcmp(words[first], "profile");
}

struct parser {
	const char *const *words; /* those not read yet */
	int n_words;
	const struct triad_verb *verb; /* NULL: not known yet */
	struct triad_profile_command *command;
	char *message;
	size_t size;
};

static int complain(struct parser *parser, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int complain(struct parser *parser, const char *format, ...)
{
	va_list args;

	snprintf(parser->message, parser->size, "%s%s",
		parser->verb ? parser->verb->name : "", parser->verb ? ": " : "");
	va_start(args, format);
	triad_text_vappend(parser->message, parser->size, format, args);
	va_end(args);
	triad_text_clean(parser->message);
	return EINVAL;
}

static const char *second_word(const struct triad_verb *verb)
{
	return strchr(verb->name, ' ') + 1;
}

/* The word behind "profile". */
static int parse_verb(struct parser *parser)
{
	struct triad_text_guess guess = {.word = *parser->words};
	const char *best = NULL;

	for (size_t i = 0; i < N_VERBS; i++) {
		if (!strcmp(*parser->words, second_word(&verbs[i]))) {
			parser->verb = &verbs[i];
			parser->command->verb = verb_of_row[i];
			parser->words++;
			parser->n_words--;
			return 0;
		}
		if (triad_text_guess_try(&guess, second_word(&verbs[i])))
			best = verbs[i].name;
	}
	if (best)
		return complain(parser,
			"unknown command 'profile %.80s'; did you mean '%s'?",
			*parser->words, best);
	return complain(parser, "unknown command 'profile %.80s'; known are %s and %s",
		*parser->words, verbs[0].name, verbs[1].name);
}

/* What stands in 'word' behind the option's name; NULL: it is another option. */
static const char *match(const struct triad_option *option, const char *word)
{
	size_t n = strlen(option->name);
	bool is_long = option->name[1] == '-';

	if (strncmp(word, option->name, n) || (is_long && word[n] && word[n] != '='))
		return NULL;
	return word + n;
}

static int set_option(
	struct parser *parser, const struct triad_option *option, const char *value)
{
	void *member = (char *)parser->command + option->offset;
	unsigned number;

	if (option->kind == TRIAD_OPTION_KIND_FLAG) {
		*(bool *)member = true;
	} else if (option->kind == TRIAD_OPTION_KIND_PATH) {
		if (!*value)
			return complain(
				parser, "%s: a file's name is empty", option->name);
		*(const char **)member = value;
	} else {
		if (!triad_text_number(value, &number) || number < option->min ||
			number > option->max)
			return complain(parser,
				"%s %.80s: allowed are whole numbers, %u to %u",
				option->name, value, option->min, option->max);
		*(unsigned *)member = number;
	}
	return 0;
}

static int complain_option(struct parser *parser, const char *word)
{
	const char *separator = "";
	char known[128] = "";

	for (size_t i = 0; i < N_OPTIONS; i++) {
		if (!(parser->verb->options & 1u << i))
			continue;
		triad_text_append(
			known, sizeof(known), "%s%s", separator, options[i].name);
		separator = ", ";
	}
	return complain(parser, "no option '%.80s'; it has %s", word, known);
}

static int parse_option(struct parser *parser, const char *word)
{
	const struct triad_option *option;
	const char *value = NULL;
	size_t i;

	for (i = 0; i < N_OPTIONS && !value; i++)
		if (parser->verb->options & 1u << i)
			value = match(&options[i], word);
	if (!value)
		return complain_option(parser, word);
	option = &options[i - 1];
	if (!option->operand && *value)
		return complain(parser, "%s takes no value", option->name);
	if (*value == '=')
		return set_option(parser, option, value + 1);
	if (*value || !option->operand)
		return set_option(parser, option, value);
	if (!parser->n_words)
		return complain(
			parser, "%s needs a value: %s", option->name, option->operand);
	parser->n_words--;
	return set_option(parser, option, *parser->words++);
}

/* Behind "--" all words are files. */
static int parse_rest(struct parser *parser)
{
	struct triad_profile_command *command = parser->command;
	bool files_alone = false;

	while (parser->n_words) {
		const char *word = *parser->words++;
		int error = 0;

		parser->n_words--;
		if (!files_alone && !strcmp(word, "--"))
			files_alone = true;
		else if (!files_alone && word[0] == '-' && word[1])
			error = parse_option(parser, word);
		else if (command->n_files < TRIAD_PROFILE_MAX_FILES)
			command->files[command->n_files++] = word;
		else
			error = complain(parser, "allowed are %d files at one time",
				TRIAD_PROFILE_MAX_FILES);
		if (error)
			return error;
	}
	return command->n_files
		? 0
		: complain(parser, "it needs %s", parser->verb->arguments);
}

static bool wants_help(int n_words, const char *const *words)
{
	for (int i = 0; i < n_words && strcmp(words[i], "--") != 0; i++)
		if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h"))
			return true;
	return false;
}

static int take_topic(struct parser *parser)
{
	const char *word = parser->n_words ? *parser->words : "-";
	struct triad_profile_command *command = parser->command;
	int error = 0;

	if (*word != '-')
		error = parse_verb(parser);
	command->verb = TRIAD_PROFILE_HELP;
	snprintf(command->topic, sizeof(command->topic), "%s",
		parser->verb ? parser->verb->name : "profile");
	return error;
}

int triad_profile_command_parse(int n_words, const char *const *words,
	struct triad_profile_command *command, char *message, size_t size)
{
	int first = strcmp(words[0], "profile") ? 2 : 1; /* "help profile" */
	struct parser parser = {
		.words = words + first,
		.n_words = n_words - first,
		.command = command,
		.message = message,
		.size = size,
	};
	int error;

	memset(command, 0, offsetof(struct triad_profile_command, files));
	command->limit = DEFAULT_LIMIT;
	if (first == 2 || wants_help(n_words, words))
		return take_topic(&parser);
	if (!parser.n_words)
		return complain(&parser, "profile: it needs one of merge, report");
	error = parse_verb(&parser);
	return error ? error : parse_rest(&parser);
}
