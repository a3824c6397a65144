/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/local_command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"

struct parser {
	const char *const *words; /* those not read yet */
	int n_words;
	const struct triad_local_family *family;
	const struct triad_verb *verb; /* NULL: not known yet */
	void *command;
	struct triad_local_operands *operands;
	char *message;
	size_t size;
};

static int complain(struct parser *parser, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int complain(struct parser *parser, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	triad_verb_complain(parser->verb, parser->message, parser->size, format, args);
	va_end(args);
	return EINVAL;
}

static const char *second_word(const struct triad_verb *verb)
{
	return strchr(verb->name, ' ') + 1;
}

static bool is_near(const struct triad_verb_table *table, const char *word)
{
	struct triad_text_guess guess = {.word = word};

	for (size_t i = 0; i < table->n_verbs; i++)
		if (triad_text_guess_try(&guess, second_word(&table->verbs[i])))
			return true;
	return false;
}

bool triad_local_is_meant(
	const struct triad_local_family *family, int n_words, const char *const *words)
{
	int first = n_words && !strcmp(words[0], "help");

	if (n_words <= first || strcmp(words[first], family->word) != 0)
		return false;
	return !family->is_shared ||
		(n_words > first + 1 && is_near(&family->table, words[first + 1]));
}

/* All second words, between commas. */
static void list_verbs(const struct triad_verb_table *table, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < table->n_verbs; i++)
		triad_text_append(text, size, "%s%s", i ? ", " : "",
			second_word(&table->verbs[i]));
}

/* The word behind the family's. */
static int parse_verb(struct parser *parser)
{
	const struct triad_verb_table *table = &parser->family->table;
	struct triad_text_guess guess = {.word = *parser->words};
	const char *best = NULL;
	char known[128];

	for (size_t i = 0; i < table->n_verbs; i++) {
		if (!strcmp(*parser->words, second_word(&table->verbs[i]))) {
			parser->verb = &table->verbs[i];
			parser->operands->row = (int)i;
			parser->words++;
			parser->n_words--;
			return 0;
		}
		if (triad_text_guess_try(&guess, second_word(&table->verbs[i])))
			best = table->verbs[i].name;
	}
	if (best)
		return complain(parser,
			"unknown command '%s %.80s'; did you mean '%s'?",
			parser->family->word, *parser->words, best);
	list_verbs(table, known, sizeof(known));
	return complain(parser, "unknown command '%s %.80s'; '%s' has %s",
		parser->family->word, *parser->words, parser->family->word, known);
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
	} else if (option->kind != TRIAD_OPTION_KIND_NUMBER) {
		if (!*value)
			return complain(parser, "%s: %s name is empty", option->name,
				option->kind == TRIAD_OPTION_KIND_PATH ? "a file's"
								       : "the");
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
	const struct triad_verb_table *table = &parser->family->table;
	const char *separator = "";
	char known[128] = "";

	for (size_t i = 0; i < table->n_options; i++) {
		if (!(parser->verb->options & 1u << i))
			continue;
		triad_text_append(known, sizeof(known), "%s%s", separator,
			table->options[i].name);
		separator = ", ";
	}
	return complain(parser, "no option '%.80s'; it has %s", word, known);
}

static int parse_option(struct parser *parser, const char *word)
{
	const struct triad_verb_table *table = &parser->family->table;
	const struct triad_option *option;
	const char *value = NULL;
	size_t i;

	for (i = 0; i < table->n_options && !value; i++)
		if (parser->verb->options & 1u << i)
			value = match(&table->options[i], word);
	if (!value)
		return complain_option(parser, word);
	option = &table->options[i - 1];
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
	struct triad_local_operands *operands = parser->operands;
	unsigned max = (unsigned)parser->verb->n_arguments_max;
	bool files_alone = false;

	while (parser->n_words) {
		const char *word = *parser->words++;
		int error = 0;

		parser->n_words--;
		if (!files_alone && !strcmp(word, "--"))
			files_alone = true;
		else if (!files_alone && word[0] == '-' && word[1])
			error = parse_option(parser, word);
		else if (operands->n_files < max)
			operands->files[operands->n_files++] = word;
		else if (!max)
			error = complain(parser, "'%.80s' is one word too many", word);
		else
			error = complain(parser, "allowed %s %u file%s at one time",
				max == 1 ? "is" : "are", max, max == 1 ? "" : "s");
		if (error)
			return error;
	}
	return operands->n_files || !parser->verb->n_arguments_min
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
	struct triad_local_operands *operands = parser->operands;
	int error = 0;

	if (*word != '-')
		error = parse_verb(parser);
	operands->row = -1;
	snprintf(operands->topic, sizeof(operands->topic), "%s",
		parser->verb ? parser->verb->name : parser->family->word);
	return error;
}

int triad_local_parse(const struct triad_local_family *family, int n_words,
	const char *const *words, void *command, struct triad_local_operands *operands,
	char *message, size_t size)
{
	int first = strcmp(words[0], family->word) ? 2 : 1; /* "help profile" */
	struct parser parser = {
		.words = words + first,
		.n_words = n_words - first,
		.family = family,
		.command = command,
		.operands = operands,
		.message = message,
		.size = size,
	};
	char known[128];
	int error;

	operands->n_files = 0;
	if (first == 2 || wants_help(n_words, words))
		return take_topic(&parser);
	if (!parser.n_words) {
		list_verbs(&family->table, known, sizeof(known));
		return complain(&parser, "%s: it needs %s%s", family->word,
			family->table.n_verbs > 1 ? "one of " : "", known);
	}
	error = parse_verb(&parser);
	return error ? error : parse_rest(&parser);
}
