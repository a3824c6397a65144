/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "command/command_table.h"
#include "lib/text.h"
#include "ib/counter.h"

#define NAME_SIZE 64

static const struct triad_command defaults = {
	.port = -1,
	.type = TRIAD_COMMAND_TYPE_ALL,
	.by = TRIAD_PORT_XMIT_DATA,
	.limit = 20,
};

#define DEFAULT_INTERVAL_S 2

static bool is_any_topic(const char *topic)
{
	for (size_t i = 0; i < TRIAD_N_VERBS; i++)
		if (triad_verb_is_topic(&triad_verbs[i], topic))
			return true;
	return false;
}

struct parser {
	const char *const *words; /* those not read yet */
	int n_words;
	const struct triad_verb *verb; /* NULL: not known yet */
	struct triad_command *command;
	char *message; /* what is wrong, 'size' octets */
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

/* The first two words, or what there is of them before an option. */
static void join_words(int n_words, const char *const *words, char *text, size_t size)
{
	text[0] = '\0';
	for (int i = 0; i < 2 && i < n_words && words[i][0] != '-'; i++)
		triad_text_append(text, size, "%s%s", i ? " " : "", words[i]);
}

static int complain_unknown(struct parser *parser, const char *words)
{
	struct triad_text_guess guess = {.word = words};
	char group[NAME_SIZE], known[512] = "";
	const char *best = NULL;
	size_t i;

	snprintf(group, sizeof(group), "%.*s", (int)strcspn(words, " "), words);
	for (i = 0; i < TRIAD_N_VERBS; i++) {
		if (triad_text_guess_try(&guess, triad_verbs[i].name))
			best = triad_verbs[i].name;
		if (triad_verb_is_topic(&triad_verbs[i], group) || !is_any_topic(group))
			triad_text_append(known, sizeof(known), "%s%s",
				known[0] ? ", " : "", triad_verbs[i].name);
	}
	if (!*words)
		return complain(parser, "a command is missing; known are %s", known);
	if (best)
		return complain(parser, "unknown command '%.80s'; did you mean '%s'?",
			words, best);
	return complain(parser, "unknown command '%.80s'; known are %s", words, known);
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

static const struct triad_verb *find_verb(int n_words, const char *const *words)
{
	for (size_t i = 0; i < TRIAD_N_VERBS; i++)
		if (is_called(&triad_verbs[i], n_words, words))
			return &triad_verbs[i];
	return NULL;
}

/* Takes the words of the command's name. */
static int parse_verb(struct parser *parser)
{
	const struct triad_verb *verb = find_verb(parser->n_words, parser->words);
	char words[NAME_SIZE];

	if (!verb) {
		join_words(parser->n_words, parser->words, words, sizeof(words));
		return complain_unknown(parser, words);
	}
	parser->verb = verb;
	parser->words += n_words_of(verb);
	parser->n_words -= n_words_of(verb);
	parser->command->verb = verb->verb;
	return 0;
}

/* What stands in 'word' after the option's name, often nothing; NULL when it is
 * another option. */
static const char *match_option(const struct triad_option *option, const char *word)
{
	size_t n = strlen(option->name);
	bool is_long = option->name[1] == '-';

	if (strncmp(word, option->name, n))
		return NULL;
	word += n;
	if (*word && (is_long ? *word != '=' : !g_ascii_isdigit(*word)))
		return NULL;
	return word;
}

static int complain_option(struct parser *parser, const char *word)
{
	struct triad_text_guess guess = {.word = word};
	const char *best = NULL, *separator = "; it has ";
	char known[256] = "";
	size_t i;

	for (i = 0; i < TRIAD_N_OPTIONS; i++) {
		if (!(parser->verb->options & TRIAD_OPTION_BIT(i)) ||
			!triad_options[i].help)
			continue;
		if (triad_text_guess_try(&guess, triad_options[i].name))
			best = triad_options[i].name;
		triad_text_append(
			known, sizeof(known), "%s%s", separator, triad_options[i].name);
		separator = ", ";
	}
	if (best)
		return complain(
			parser, "no option '%.80s'; did you mean '%s'?", word, best);
	return complain(parser, "no option '%.80s'%s", word, known);
}

static int set_number(struct parser *parser, const struct triad_option *option,
	const char *value, unsigned *member)
{
	unsigned number;

	if (!triad_text_number(value, &number) || number < option->min ||
		number > option->max)
		return complain(parser, "%s %.80s: allowed are whole numbers, %u to %u",
			option->name, value, option->min, option->max);
	*member = number;
	return 0;
}

static int set_choice(struct parser *parser, const struct triad_option *option,
	const char *value, unsigned *member)
{
	for (unsigned i = 0; option->choices[i]; i++) {
		if (!g_ascii_strcasecmp(value, option->choices[i])) {
			*member = i;
			return 0;
		}
	}
	return complain(parser, "%s %.80s: allowed are %s", option->name, value,
		option->operand);
}

static int set_node(struct parser *parser, const char *value)
{
	struct triad_command *command = parser->command;
	uint64_t guid;

	if (!g_ascii_strncasecmp(value, "0x", 2) && !triad_text_guid(value, &guid))
		return complain(parser,
			"--node %.80s: a GUID is 0x and 1 to 16 hexadecimal digits, "
			"not all 0",
			value);
	if (!*value || strlen(value) >= sizeof(command->node))
		return complain(parser,
			"--node: a name has 1 to %zu octets, this one %zu",
			sizeof(command->node) - 1, strlen(value));
	strcpy(command->node, value);
	return 0;
}

static int set_end(struct parser *parser, const struct triad_option *option,
	const char *value, char *member)
{
	const size_t room = sizeof(parser->command->source);

	if (!*value || strlen(value) >= room)
		return complain(parser, "%s: allowed are 1 to %zu octets, not %zu",
			option->name, room - 1, strlen(value));
	strcpy(member, value);
	return 0;
}

static int set_value(struct parser *parser, const struct triad_option *option,
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
		return complain(parser,
			"%s %.80s: allowed are numbers from 0 to %" PRIu64
			", decimal or as 0x...",
			option->name, value, option->max_value);
	*member = number;
	*(bool *)((char *)parser->command + option->present) = true;
	return 0;
}

/* 'what' the user wrote before it: "--by ", or nothing. */
static int set_counter(struct parser *parser, const char *what, const char *value)
{
	struct triad_text_guess guess = {.word = value};
	int counter = triad_counter_find(value);
	const char *best = NULL;

	if (counter >= 0) {
		parser->command->by = (unsigned)counter;
		return 0;
	}
	for (int i = 0; i < TRIAD_N_COUNTERS; i++)
		if (triad_text_guess_try(&guess, triad_counters[i].name))
			best = triad_counters[i].name;
	if (best)
		return complain(parser, "%s%.80s: no such counter; did you mean '%s'?",
			what, value, best);
	return complain(parser, "%s%.80s: no such counter; 'help %s' lists them", what,
		value, parser->verb->name);
}

static int copy_argument(struct parser *parser, const char *what, char *to, size_t size,
	const char *word)
{
	if (strlen(word) >= size)
		return complain(parser, "%s has %zu octets; allowed are %zu", what,
			strlen(word), size - 1);
	strcpy(to, word);
	return 0;
}

static int set_option(
	struct parser *parser, const struct triad_option *option, const char *value)
{
	void *member = (char *)parser->command + option->offset;

	switch (option->kind) {
	case TRIAD_OPTION_KIND_FLAG:
		*(bool *)member = true;
		return 0;
	case TRIAD_OPTION_KIND_NUMBER:
		return set_number(parser, option, value, member);
	case TRIAD_OPTION_KIND_CHOICE:
		return set_choice(parser, option, value, member);
	case TRIAD_OPTION_KIND_NODE:
		return set_node(parser, value);
	case TRIAD_OPTION_KIND_END:
		return set_end(parser, option, value, member);
	case TRIAD_OPTION_KIND_VALUE:
		return set_value(parser, option, value, member);
	case TRIAD_OPTION_KIND_COUNTER:
		return set_counter(parser, "--by ", value);
	case TRIAD_OPTION_KIND_GROUP:
		return copy_argument(parser, "--group", parser->command->group,
			sizeof(parser->command->group), value);
	case TRIAD_OPTION_KIND_PATH:
	case TRIAD_OPTION_KIND_NAME:
		break;
	}
	return EINVAL;
}

static const char *next_word(struct parser *parser)
{
	if (!parser->n_words)
		return NULL;
	parser->n_words--;
	return *parser->words++;
}

static int parse_option(struct parser *parser, const char *word)
{
	const struct triad_option *option;
	const char *value = NULL;
	size_t i;

	for (i = 0; i < TRIAD_N_OPTIONS && !value; i++)
		if (parser->verb->options & TRIAD_OPTION_BIT(i))
			value = match_option(&triad_options[i], word);
	if (!value)
		return complain_option(parser, word);
	option = &triad_options[i - 1];
	if (!option->operand && *value)
		return complain(parser, "%s takes no value", option->name);
	if (*value == '=')
		value++;
	else if (option->operand && !*value)
		value = next_word(parser);
	if (!value)
		return complain(
			parser, "%s needs a value: %s", option->name, option->operand);
	return set_option(parser, option, value);
}

/* Options and other words in any order. */
static int parse_rest(struct parser *parser, const char **arguments, int *n_arguments)
{
	const char *word;
	int error;

	while ((word = next_word(parser))) {
		if (word[0] == '-' && word[1]) {
			error = parse_option(parser, word);
			if (error)
				return error;
		} else if (*n_arguments < parser->verb->n_arguments_max) {
			arguments[(*n_arguments)++] = word;
		} else {
			return complain(parser, "'%.80s' is one word too many", word);
		}
	}
	return 0;
}

static int take_topic(struct parser *parser, int n_words, const char *const *words)
{
	struct triad_command *command = parser->command;
	const struct triad_verb *verb = find_verb(n_words, words);
	char topic[sizeof(command->topic)];

	join_words(n_words, words, topic, sizeof(topic));
	if (verb)
		snprintf(topic, sizeof(topic), "%s", verb->name);
	if (*topic && !is_any_topic(topic)) {
		parser->verb = NULL;
		return complain_unknown(parser, topic);
	}
	*command = defaults;
	command->verb = TRIAD_COMMAND_HELP;
	strcpy(command->topic, topic);
	return 0;
}

static int take_histogram(struct parser *parser, const char *counter)
{
	const struct triad_command *command = parser->command;

	if (command->port >= 0 && !command->node[0])
		return complain(parser, "--port needs --node");
	if (command->group[0] && command->node[0])
		return complain(parser, "--group and --node exclude each other");
	return set_counter(parser, "", counter);
}

static int take_clear(struct parser *parser, const char *what)
{
	static const char *const words[] = {
		[TRIAD_COMMAND_CLEAR_TOTALS] = "totals",
		[TRIAD_COMMAND_CLEAR_HARDWARE] = "hardware",
		[TRIAD_COMMAND_CLEAR_HISTOGRAMS] = "histograms",
	};
	struct triad_command *command = parser->command;
	bool is_some = command->node[0] || command->port >= 0 ||
		command->type != TRIAD_COMMAND_TYPE_ALL;
	unsigned i = 0;

	while (i < 3 && g_ascii_strcasecmp(what, words[i]))
		i++;
	if (i == 3)
		return complain(parser,
			"%.80s: allowed are totals, hardware and histograms", what);
	command->clear = i;
	if (i == TRIAD_COMMAND_CLEAR_HISTOGRAMS)
		return is_some ? complain(parser,
					 "histograms begin anew all at once: without "
					 "--node, --port and --type")
			       : 0;
	if (command->all && is_some)
		return complain(parser,
			"--all is every port: without --node, --port and --type");
	if (!command->all && !is_some)
		return complain(parser,
			"it needs the ports: --node, --port, --type, or --all for "
			"every one");
	return 0;
}

static int take_arguments(
	struct parser *parser, const char *const *arguments, int n_arguments)
{
	struct triad_command *command = parser->command;
	int error;

	if (n_arguments < parser->verb->n_arguments_min)
		return complain(parser, "it needs %s", parser->verb->arguments);
	command->changes |= parser->verb->access != TRIAD_VERB_READS ||
		(parser->verb->arguments_change && n_arguments);
	if (command->interval_s && !command->watch)
		return complain(parser, "--interval needs --watch");
	if (!command->interval_s)
		command->interval_s = DEFAULT_INTERVAL_S;
	if (command->verb == TRIAD_COMMAND_HELP)
		return take_topic(parser, n_arguments, arguments);
	if (command->verb == TRIAD_COMMAND_QOS_EXPLAIN &&
		(!command->source[0] || !command->destination[0]))
		return complain(parser, "it needs --src and --dst");
	if (command->verb == TRIAD_COMMAND_PERF_HISTOGRAM)
		return take_histogram(parser, arguments[0]);
	if (command->verb == TRIAD_COMMAND_PERF_CLEAR)
		return take_clear(parser, arguments[0]);
	if (command->verb == TRIAD_COMMAND_AGENTS_OWNER)
		return copy_argument(parser, "NODE", command->node,
			sizeof(command->node), arguments[0]);
	if (command->verb == TRIAD_COMMAND_QOS_PLAN && n_arguments)
		return copy_argument(parser, "FILE", command->file,
			sizeof(command->file), arguments[0]);
	if (command->verb != TRIAD_COMMAND_SET)
		return triad_command_take_port(parser->verb, arguments, n_arguments,
			command, parser->message, parser->size);
	error = copy_argument(
		parser, "KEY", command->key, sizeof(command->key), arguments[0]);
	if (!error)
		error = copy_argument(parser, "VALUE", command->value,
			sizeof(command->value), arguments[1]);
	return error;
}

static bool wants_help(int n_words, const char *const *words)
{
	for (int i = 0; i < n_words; i++)
		if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h"))
			return true;
	return false;
}

int triad_command_parse(int n_words, const char *const *words,
	struct triad_command *command, char *message, size_t size)
{
	struct parser parser = {
		.words = words,
		.n_words = n_words,
		.command = command,
		.message = message,
		.size = size,
	};
	const char *arguments[2];
	int error, n_arguments = 0;

	*command = defaults;
	if (wants_help(n_words, words))
		return take_topic(&parser, n_words, words);
	error = parse_verb(&parser);
	if (!error)
		error = parse_rest(&parser, arguments, &n_arguments);
	if (!error)
		error = take_arguments(&parser, arguments, n_arguments);
	return error;
}
