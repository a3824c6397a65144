/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "command/parser.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "ib/counter.h"
#include "lib/quantity.h"
#include "lib/text.h"
#include "triad/clock.h"

#define NAME_SIZE 64

int triad_parser_complain(struct triad_parser *parser, const char *format, ...)
{
	const struct triad_verb *verb = parser->verb;
	va_list args;

	snprintf(parser->message, parser->size, "%s%s", verb ? verb->name : "",
		verb ? ": " : "");
	va_start(args, format);
	triad_text_vappend(parser->message, parser->size, format, args);
	va_end(args);
	/* It quotes words, which may have control characters. */
	triad_text_clean(parser->message);
	return EINVAL;
}

/* --- the command's name --- */

static bool is_any_topic(const struct triad_parser *parser, const char *topic)
{
	for (size_t t = 0; t < parser->n_tables; t++)
		for (size_t i = 0; i < parser->tables[t].n_verbs; i++)
			if (triad_verb_is_topic(&parser->tables[t].verbs[i], topic))
				return true;
	return false;
}

/* Joins the first two words, or those before an option. */
static void join_words(int n_words, const char *const *words, char *text, size_t size)
{
	text[0] = '\0';
	for (int i = 0; i < 2 && i < n_words && words[i][0] != '-'; i++)
		triad_text_append(text, size, "%s%s", i ? " " : "", words[i]);
}

/* False if an earlier table has the same name ("port snapshot"). */
static bool is_first_of_name(
	const struct triad_parser *parser, const struct triad_verb *verb)
{
	for (size_t t = 0; t < parser->n_tables; t++)
		for (size_t i = 0; i < parser->tables[t].n_verbs; i++)
			if (!strcmp(parser->tables[t].verbs[i].name, verb->name))
				return &parser->tables[t].verbs[i] == verb;
	return false;
}

/* Finds commands whose names are like these words. */
static struct triad_text_nearest guess_verbs(
	const struct triad_parser *parser, const char *words)
{
	struct triad_text_nearest nearest = {.word = words};

	for (size_t t = 0; t < parser->n_tables; t++)
		for (size_t i = 0; i < parser->tables[t].n_verbs; i++)
			triad_text_nearest_try(
				&nearest, parser->tables[t].verbs[i].name);
	return nearest;
}

/* Complains of a word like 'perf', which is not a command by itself. */
static int complain_unfinished(struct triad_parser *parser, const char *topic)
{
	char known[1024] = "";

	for (size_t t = 0; t < parser->n_tables; t++)
		for (size_t i = 0; i < parser->tables[t].n_verbs; i++) {
			const struct triad_verb *verb = &parser->tables[t].verbs[i];

			if (triad_verb_is_topic(verb, topic) &&
				is_first_of_name(parser, verb))
				triad_text_append(known, sizeof(known), "%s%s",
					known[0] ? ", " : "", verb->name);
		}
	return triad_parser_complain(
		parser, "'%s' is the beginning of %s", topic, known);
}

static int complain_unknown(struct triad_parser *parser, const char *words)
{
	struct triad_text_nearest nearest = guess_verbs(parser, words);
	char topic[NAME_SIZE], names[3 * TRIAD_TEXT_NEAREST_SIZE + 16] = "";
	bool is_topic;

	if (!*words)
		return triad_parser_complain(
			parser, "a command is missing; 'help' lists them");
	snprintf(topic, sizeof(topic), "%.*s", (int)strcspn(words, " "), words);
	is_topic = is_any_topic(parser, topic);
	if (is_topic && !strcmp(topic, words))
		return complain_unfinished(parser, topic);
	triad_text_nearest_append(&nearest, names, sizeof(names));
	if (nearest.n)
		return triad_parser_complain(parser,
			"unknown command '%.80s'; did you mean %s?", words, names);
	return triad_parser_complain(parser,
		"unknown command '%.80s'; 'help%s%s' lists %s", words,
		is_topic ? " " : "", is_topic ? topic : "",
		is_topic ? "those of that name" : "all");
}

static int n_words_of(const struct triad_verb *verb)
{
	return strchr(verb->name, ' ') ? 2 : 1;
}

static bool is_called(
	const struct triad_verb *verb, int n_words, const char *const *words)
{
	size_t first = strcspn(verb->name, " ");

	if (n_words < n_words_of(verb) || strlen(words[0]) != first ||
		strncmp(words[0], verb->name, first))
		return false;
	return !verb->name[first] || !strcmp(words[1], verb->name + first + 1);
}

/* Finds the command with the longest name: the first word by itself may be a command,
 * too ("agents"), even one of another table ("election check"). */
static const struct triad_verb *find_verb(const struct triad_parser *parser,
	int n_words, const char *const *words, const struct triad_verb_table **table)
{
	const struct triad_verb *found = NULL;

	for (size_t t = 0; t < parser->n_tables; t++)
		for (size_t i = 0; i < parser->tables[t].n_verbs; i++) {
			const struct triad_verb *verb = &parser->tables[t].verbs[i];

			if (!is_called(verb, n_words, words) ||
				(found && n_words_of(found) >= n_words_of(verb)))
				continue;
			found = verb;
			*table = &parser->tables[t];
		}
	return found;
}

static int read_topic(
	struct triad_parser *parser, int n_words, const char *const *words)
{
	const struct triad_verb_table *table;
	const struct triad_verb *verb = find_verb(parser, n_words, words, &table);
	char topic[sizeof(parser->topic)];

	join_words(n_words, words, topic, sizeof(topic));
	if (verb)
		snprintf(topic, sizeof(topic), "%s", verb->name);
	parser->verb = NULL;
	if (*topic && !is_any_topic(parser, topic))
		return complain_unknown(parser, topic);
	strcpy(parser->topic, topic);
	return 0;
}

/* Whether there is a --help, which must come before "--". */
static bool asks_for_help(int n_words, const char *const *words)
{
	for (int i = 0; i < n_words && strcmp(words[i], "--") != 0; i++)
		if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h"))
			return true;
	return false;
}

int triad_parser_read_verb(struct triad_parser *parser)
{
	const char *topic[2];
	char words[NAME_SIZE];
	unsigned n_topic;
	int error;

	/* Before all else: the rest of the words may be wrong. */
	if (asks_for_help(parser->n_words, parser->words))
		return read_topic(parser, parser->n_words, parser->words);
	parser->verb =
		find_verb(parser, parser->n_words, parser->words, &parser->table);
	if (!parser->verb) {
		join_words(parser->n_words, parser->words, words, sizeof(words));
		return complain_unknown(parser, words);
	}
	parser->words += n_words_of(parser->verb);
	parser->n_words -= n_words_of(parser->verb);
	if (parser->verb->verb != TRIAD_COMMAND_HELP ||
		parser->table->options != triad_options)
		return 0;
	error = triad_parser_read_rest(
		parser, &(struct triad_command){.port = -1}, topic, &n_topic);
	return error ? error : read_topic(parser, (int)n_topic, topic);
}

/* --- options --- */

/* The text after the option's name in 'word', often ""; NULL: another option.  A number
 * may follow a short option directly: "-n3". */
static const char *match_option(const struct triad_option *option, const char *word)
{
	size_t n = strlen(option->name);
	bool is_long = option->name[1] == '-';

	if (strncmp(word, option->name, n))
		return NULL;
	word += n;
	if (is_long ? *word && *word != '='
		    : option->kind == TRIAD_OPTION_KIND_NUMBER && *word &&
				!g_ascii_isdigit(*word))
		return NULL;
	return word;
}

static int complain_option(struct triad_parser *parser, const char *word)
{
	struct triad_text_guess guess = {.word = word};
	const char *best = NULL, *separator = "; it has ";
	char known[256] = "";

	for (size_t i = 0; i < parser->table->n_options; i++) {
		const struct triad_option *option = &parser->table->options[i];

		if (option->absent && !strcmp(option->name, word))
			return triad_parser_complain(parser, "no option '%s': %s", word,
				parser->verb->no_past ? parser->verb->no_past
						      : option->absent);
		if (!(parser->verb->options & TRIAD_OPTION_BIT(i)) || !option->help)
			continue;
		if (triad_text_guess_try(&guess, option->name))
			best = option->name;
		triad_text_append(
			known, sizeof(known), "%s%s", separator, option->name);
		separator = ", ";
	}
	if (best)
		return triad_parser_complain(
			parser, "no option '%.80s'; did you mean '%s'?", word, best);
	return triad_parser_complain(parser, "no option '%.80s'%s", word, known);
}

static int set_quantity(struct triad_parser *parser, const struct triad_option *option,
	const char *value, unsigned *member)
{
	unsigned number = 0;
	char reason[160];
	enum triad_quantity refusal =
		triad_quantity_parse(value, option->unit, &number);

	if (!refusal && (number < option->min || number > option->max))
		refusal = TRIAD_QUANTITY_TOO_LARGE;
	if (!refusal) {
		*member = number;
		return 0;
	}
	triad_quantity_explain(refusal, value, option->unit, reason, sizeof(reason));
	return triad_parser_complain(parser, "%s: %s; allowed are %u to %u %s",
		option->name, reason, option->min, option->max, option->unit);
}

static int set_number(struct triad_parser *parser, const struct triad_option *option,
	const char *value, unsigned *member)
{
	unsigned number;

	if (option->unit)
		return set_quantity(parser, option, value, member);
	if (!triad_text_number(value, &number) || number < option->min ||
		number > option->max)
		return triad_parser_complain(parser,
			"%s %.80s: allowed are whole numbers, %u to %u", option->name,
			value, option->min, option->max);
	*member = number;
	return 0;
}

static int set_choice(struct triad_parser *parser, const struct triad_option *option,
	const char *value, unsigned *member)
{
	char allowed[128] = "";

	for (unsigned i = 0; option->choices[i]; i++) {
		if (!g_ascii_strcasecmp(value, option->choices[i])) {
			*member = i;
			return 0;
		}
	}
	/* Where they are too many for a line of help. */
	for (unsigned i = 0; !strchr(option->operand, '|') && option->choices[i]; i++)
		triad_text_append(allowed, sizeof(allowed), "%s%s", i ? "|" : "",
			option->choices[i]);
	return triad_parser_complain(parser, "%s %.80s: allowed are %s", option->name,
		value, *allowed ? allowed : option->operand);
}

static int set_value(struct triad_parser *parser, const struct triad_option *option,
	const char *value, uint64_t *member)
{
	bool is_hex = !g_ascii_strncasecmp(value, "0x", 2);
	const char *digits = value + (is_hex ? 2 : 0);
	uint64_t number = 0;
	bool fits = *digits;

	for (; fits && *digits; digits++) {
		int digit = is_hex ? g_ascii_xdigit_value(*digits)
				   : g_ascii_digit_value(*digits);
		unsigned base = is_hex ? 16 : 10;

		fits = digit >= 0 &&
			number <= (option->max_value - (unsigned)digit) / base;
		number = number * base + (unsigned)digit;
	}
	if (!fits)
		return triad_parser_complain(parser,
			"%s %.80s: allowed are numbers from 0 to %" PRIu64
			", decimal or as 0x...",
			option->name, value, option->max_value);
	*member = number;
	return 0;
}

int triad_parser_read_counter(struct triad_parser *parser, const char *what,
	const char *word, unsigned *counter)
{
	struct triad_text_guess guess = {.word = word};
	int found = triad_counter_find(word);
	const char *best = NULL;

	if (found >= 0) {
		*counter = (unsigned)found;
		return 0;
	}
	for (int i = 0; i < TRIAD_N_COUNTERS; i++)
		if (triad_text_guess_try(&guess, triad_counters[i].name))
			best = triad_counters[i].name;
	if (best)
		return triad_parser_complain(parser,
			"%s%.80s: no such counter; did you mean '%s'?", what, word,
			best);
	return triad_parser_complain(parser,
		"%s%.80s: no such counter; 'help %s' lists them", what, word,
		parser->verb->name);
}

int triad_parser_read_node(struct triad_parser *parser, const char *what,
	const char *word, char node[TRIAD_NODE_TEXT_SIZE])
{
	char reason[128];

	if (!triad_node_text_check(word, reason, sizeof(reason)))
		return triad_parser_complain(
			parser, "%s %.80s: %s", what, word, reason);
	strcpy(node, word);
	return 0;
}

int triad_parser_copy(struct triad_parser *parser, const char *what, char *to,
	size_t size, const char *word)
{
	if (strlen(word) >= size)
		return triad_parser_complain(parser,
			"%s has %zu octets; allowed are %zu", what, strlen(word),
			size - 1);
	strcpy(to, word);
	return 0;
}

static int set_option(struct triad_parser *parser, const struct triad_option *option,
	const char *value, void *command)
{
	void *member = (char *)command + option->offset;

	switch (option->kind) {
	case TRIAD_OPTION_KIND_FLAG:
		*(bool *)member = true;
		return 0;
	case TRIAD_OPTION_KIND_NUMBER:
		return set_number(parser, option, value, member);
	case TRIAD_OPTION_KIND_CHOICE:
		return set_choice(parser, option, value, member);
	case TRIAD_OPTION_KIND_NODE:
		return triad_parser_read_node(parser, option->name, value, member);
	case TRIAD_OPTION_KIND_VALUE:
		*(bool *)((char *)command + option->present) = true;
		return set_value(parser, option, value, member);
	case TRIAD_OPTION_KIND_COUNTER:
		if (option->present)
			*(bool *)((char *)command + option->present) = true;
		return triad_parser_read_counter(parser, "--by ", value, member);
	case TRIAD_OPTION_KIND_TEXT:
		if (!*value)
			return triad_parser_complain(parser, "%s needs a value: %s",
				option->name, option->operand);
		return triad_parser_copy(
			parser, option->name, member, option->size, value);
	case TRIAD_OPTION_KIND_TIME:
		if (!triad_clock_parse(value, member))
			return triad_parser_complain(parser,
				"%s %.80s: a time is written 2026-01-31T22:00 (UTC), or "
				"with an offset from it, 2026-01-31T23:00+01:00",
				option->name, value);
		return 0;
	case TRIAD_OPTION_KIND_PATH:
	case TRIAD_OPTION_KIND_NAME:
		if (!*value)
			return triad_parser_complain(parser, "%s: %s name is empty",
				option->name,
				option->kind == TRIAD_OPTION_KIND_PATH ? "a file's"
								       : "the");
		*(const char **)member = value;
		return 0;
	}
	return EINVAL;
}

static const char *next_word(struct triad_parser *parser)
{
	if (!parser->n_words)
		return NULL;
	parser->n_words--;
	return *parser->words++;
}

static int read_option(struct triad_parser *parser, const char *word, void *command)
{
	const struct triad_option *option;
	const char *value = NULL;
	size_t i;

	for (i = 0; i < parser->table->n_options && !value; i++)
		if (parser->verb->options & TRIAD_OPTION_BIT(i))
			value = match_option(&parser->table->options[i], word);
	if (!value)
		return complain_option(parser, word);
	option = &parser->table->options[i - 1];
	if (!option->operand && *value)
		return triad_parser_complain(parser, "%s takes no value", option->name);
	if (*value == '=')
		value++;
	else if (option->operand && !*value)
		value = next_word(parser);
	if (!value)
		return triad_parser_complain(
			parser, "%s needs a value: %s", option->name, option->operand);
	return set_option(parser, option, value, command);
}

static int complain_too_many(struct triad_parser *parser, const char *word)
{
	int max = parser->verb->n_arguments_max;
	char words[NAME_SIZE];

	/* A mistyped subcommand, as "election chekc", whose first word is a command. */
	snprintf(words, sizeof(words), "%s %.40s", parser->verb->name, word);
	if (n_words_of(parser->verb) == 1 && !max && guess_verbs(parser, words).n) {
		parser->verb = NULL;
		return complain_unknown(parser, words);
	}
	if (parser->verb->arguments && strstr(parser->verb->arguments, "..."))
		return triad_parser_complain(parser, "%s: allowed are %d at one time",
			parser->verb->arguments, max);
	return triad_parser_complain(parser, "'%.80s' is one word too many", word);
}

int triad_parser_read_rest(
	struct triad_parser *parser, void *command, const char **arguments, unsigned *n)
{
	const struct triad_verb *verb = parser->verb;
	bool has_options = true;
	const char *word;

	*n = 0;
	while ((word = next_word(parser))) {
		int error = 0;

		if (has_options && !strcmp(word, "--"))
			has_options = false;
		else if (has_options && word[0] == '-' && word[1])
			error = read_option(parser, word, command);
		else if (*n < (unsigned)verb->n_arguments_max)
			arguments[(*n)++] = word;
		else
			error = complain_too_many(parser, word);
		if (error)
			return error;
	}
	if (*n < (unsigned)verb->n_arguments_min)
		return triad_parser_complain(parser, "it needs %s", verb->arguments);
	return 0;
}
