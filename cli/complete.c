/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/complete.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "cli/client.h"
#include "cli/complete_nodes.h"
#include "cli/completion_scripts.h"
#include "ib/counter.h"
#include "ib/detail.h"
#include "lib/text.h"
#include "triad/conf.h"

#define TOKEN_SIZE 64
#define PATH_SIZE 4096

const char *const triad_color_words[] = {"auto", "always", "never", NULL};

/* --- completion SHELL --- */

static const struct triad_verb verbs[] = {
	{.name = "completion",
		.group = TRIAD_VERB_CONFIGURE,
		.help = "Prints the script for a shell's completion of commands, "
			"options and names of nodes.",
		.arguments = "bash|zsh|fish",
		.n_arguments_min = 1,
		.n_arguments_max = 1},
};

const struct triad_verb_table triad_completion_verbs = TRIAD_VERB_TABLE(verbs, NULL, 0);

int triad_completion_print(struct triad_parser *parser)
{
	static const struct {
		const char *shell, *script;
	} scripts[] = {
		{"bash", bash_script},
		{"zsh", zsh_script},
		{"fish", fish_script},
	};
	const char *shell;
	unsigned n;
	int error = triad_parser_read_rest(parser, NULL, &shell, &n);

	if (error)
		return error;
	for (unsigned i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		if (strcmp(shell, scripts[i].shell) != 0)
			continue;
		fputs(scripts[i].script, stdout);
		return 0;
	}
	return triad_parser_complain(
		parser, "%.80s: allowed are bash, zsh and fish", shell);
}

/* --- candidates --- */

struct completion {
	const struct triad_complete *by;
	int n_words;
	char **words;
	const char *word;   /* the last word, or the value behind its '=' */
	const char *before; /* the "--option=" before that value, or "" */
	int before_size;
	int n_global; /* words before the command */
};

static bool begins_with(const char *text, const char *word)
{
	return !g_ascii_strncasecmp(text, word, strlen(word));
}

/* Prints a candidate.  'help' may be NULL; some shells show it. */
static void offer(
	const struct completion *completion, const char *text, const char *help)
{
	if (!begins_with(text, completion->word))
		return;
	printf("%.*s%s%s%s\n", completion->before_size, completion->before, text,
		help ? "\t" : "", help ? help : "");
}

static void offer_all(const struct completion *completion, const char *const *texts)
{
	for (; *texts; texts++)
		offer(completion, *texts, NULL);
}

static void offer_counters(const struct completion *completion)
{
	for (int i = 0; i < TRIAD_N_COUNTERS; i++)
		offer(completion, triad_counters[i].name, NULL);
}

static void offer_found(void *context, const char *name)
{
	offer(context, name, NULL);
}

/* Finds the socket to ask, by the options before the command; false: none. */
static bool find_socket(const struct completion *completion, char path[PATH_SIZE])
{
	char *argv[TRIAD_CONTROL_MAX_WORDS + 2] = {(char *)"triadctl"};

	if (completion->n_global > TRIAD_CONTROL_MAX_WORDS)
		return false;
	memcpy(argv + 1, completion->words,
		(size_t)completion->n_global * sizeof(*argv));
	return completion->by->find_socket(
		completion->n_global + 1, argv, path, PATH_SIZE);
}

/* Finds the key of a name that contains the name of a group or scope: such a key exists
 * once for each of these. */
static const struct triad_conf_key *find_named_key(const char *name)
{
	const char *first = strchr(name, '.'), *last = strrchr(name, '.');
	size_t n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	for (size_t i = 0; first && last > first && i < n; i++)
		if (keys[i].per != TRIAD_CONF_ONCE &&
			strlen(keys[i].section) == (size_t)(first - name) &&
			!strncmp(keys[i].section, name, (size_t)(first - name)) &&
			!strcmp(keys[i].name, last + 1))
			return &keys[i];
	return NULL;
}

static void offer_named_key(void *context, const char *name)
{
	const struct triad_conf_key *key = find_named_key(name);

	if (key)
		offer(context, name, key->help);
}

static void offer_keys(struct completion *completion)
{
	char name[TRIAD_CONF_NAME_SIZE], path[PATH_SIZE];
	size_t n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	for (size_t i = 0; i < n; i++) {
		if (keys[i].per == TRIAD_CONF_PER_GROUP)
			continue;
		snprintf(name, sizeof(name), "%s.%s", keys[i].section, keys[i].name);
		offer(completion, name, keys[i].help);
	}
	/* Keys of groups and scopes contain a name that the plugin knows. */
	if (find_socket(completion, path))
		triad_complete_keys(path, offer_named_key, completion);
}

/* Offers values of the key in the word before. */
static void offer_values(const struct completion *completion)
{
	static const char *const bools[] = {"true", "false", NULL};
	const char *key = completion->words[completion->n_words - 2];
	char name[TRIAD_CONF_NAME_SIZE];
	size_t n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s.%s", keys[i].section, keys[i].name);
		if (strcmp(name, key) != 0 && find_named_key(key) != &keys[i])
			continue;
		if (keys[i].type == TRIAD_CONF_BOOL)
			offer_all(completion, bools);
		if (keys[i].type == TRIAD_CONF_CHOICE)
			offer_all(completion, keys[i].choices);
	}
}

static void offer_nodes(struct completion *completion)
{
	char path[PATH_SIZE];

	if (find_socket(completion, path))
		triad_complete_nodes(path, !strncmp(completion->word, "0x", 2),
			offer_found, completion);
}

/* --- the value of an option --- */

static void offer_option_values(
	struct completion *completion, const struct triad_option *option)
{
	switch (option->kind) {
	case TRIAD_OPTION_KIND_CHOICE:
		offer_all(completion, option->choices);
		break;
	case TRIAD_OPTION_KIND_COUNTER:
		offer_counters(completion);
		break;
	case TRIAD_OPTION_KIND_NODE:
		offer_nodes(completion);
		break;
	case TRIAD_OPTION_KIND_PATH:
		printf(":files\n");
		break;
	default:
		break;
	}
}

/* Finds the command's option of 'word', up to a '='; NULL: none. */
static const struct triad_option *find_option(const struct triad_verb_table *table,
	const struct triad_verb *verb, const char *word)
{
	size_t n = strcspn(word, "=");

	for (size_t i = 0; i < table->n_options; i++)
		if (verb->options & TRIAD_OPTION_BIT(i) &&
			strlen(table->options[i].name) == n &&
			!strncmp(table->options[i].name, word, n))
			return &table->options[i];
	return NULL;
}

/* --- words that are no options --- */

static bool offer_verbs(const struct completion *completion, const char *first);

/* Offers argument 'at', by the table's text: "KEY VALUE", "[add|remove GUID]",
 * "FILE...". */
static void offer_argument(
	struct completion *completion, const char *arguments, unsigned at)
{
	char token[TOKEN_SIZE];

	while (at && arguments[strcspn(arguments, " ")]) {
		arguments += strcspn(arguments, " ") + 1;
		at--;
	}
	/* Only these arguments have several words; a command's name may have two. */
	if (at && !strstr(arguments, "...") && strcmp(arguments, "[COMMAND]") != 0)
		return;
	arguments += *arguments == '[';
	snprintf(token, sizeof(token), "%.*s", (int)strcspn(arguments, " ]."),
		arguments);
	if (!strcmp(token, "NODE")) {
		offer_nodes(completion);
	} else if (!strcmp(token, "COUNTER")) {
		/* Only 'perf histogram' has this argument. */
		offer_counters(completion);
		for (int i = 0; i < TRIAD_DETAIL_N_FIELDS; i++)
			offer(completion, triad_detail_fields[i].name, NULL);
	} else if (!strcmp(token, "KEY")) {
		offer_keys(completion);
	} else if (!strcmp(token, "VALUE")) {
		offer_values(completion);
	} else if (!strcmp(token, "FILE")) {
		printf(":files\n");
	} else if (!strcmp(token, "COMMAND")) {
		(void)offer_verbs(completion,
			at ? completion->words[completion->n_words - 2] : NULL);
	} else if (strchr(token, '|')) {
		char *rest = NULL;

		for (char *word = strtok_r(token, "|", &rest); word;
			word = strtok_r(NULL, "|", &rest))
			offer(completion, word, NULL);
	}
}

/* --- commands --- */

static bool is_first_word(const struct triad_verb *verb, const char *word)
{
	size_t n = strcspn(verb->name, " ");

	return strlen(word) == n && !strncmp(verb->name, word, n);
}

/* Offers the first words of commands, each once; or the second words behind 'first'.
 * Returns whether there are any. */
static bool offer_verbs(const struct completion *completion, const char *first)
{
	const struct triad_complete *by = completion->by;
	/* 'seen': words offered so far; several tables have commands of one group. */
	char word[TOKEN_SIZE], known[TOKEN_SIZE + 2], seen[2048] = " ";
	bool is_any = false;

	for (size_t t = 0; t < by->n_tables; t++)
		for (size_t i = 0; i < by->tables[t].n_verbs; i++) {
			const struct triad_verb *verb = &by->tables[t].verbs[i];
			const char *second = strchr(verb->name, ' ');

			if (first && (!second || !is_first_word(verb, first)))
				continue;
			snprintf(word, sizeof(word), "%.*s",
				first ? TOKEN_SIZE - 1 : (int)strcspn(verb->name, " "),
				first ? second + 1 : verb->name);
			is_any = true;
			snprintf(known, sizeof(known), " %s ", word);
			if (strstr(seen, known))
				continue;
			triad_text_append(seen, sizeof(seen), "%s ", word);
			offer(completion, word, first || !second ? verb->help : NULL);
		}
	return is_any;
}

/* Finds the command with the longest name at 'words'; its name has '*n' words. */
static const struct triad_verb *find_verb(const struct triad_complete *by, int n_words,
	char **words, const struct triad_verb_table **table, int *n)
{
	const struct triad_verb *found = NULL;

	*n = 0;
	*table = NULL;
	for (size_t t = 0; t < by->n_tables; t++)
		for (size_t i = 0; i < by->tables[t].n_verbs; i++) {
			const struct triad_verb *verb = &by->tables[t].verbs[i];
			const char *second = strchr(verb->name, ' ');
			int length = second ? 2 : 1;

			if (length <= *n || n_words < length ||
				!is_first_word(verb, words[0]) ||
				(second && strcmp(second + 1, words[1]) != 0))
				continue;
			found = verb;
			*table = &by->tables[t];
			*n = length;
		}
	return found;
}

static void complete_verb(struct completion *completion,
	const struct triad_verb_table *table, const struct triad_verb *verb, int at)
{
	int last = completion->n_words - 1;
	const struct triad_option *option = NULL;
	const char *word = completion->words[last], *value;
	unsigned n_arguments = 0;

	for (; at < last; at++) {
		option = completion->words[at][0] == '-'
			? find_option(table, verb, completion->words[at])
			: NULL;
		if (option && (!option->operand || strchr(completion->words[at], '=')))
			option = NULL;
		else if (option && at + 1 < last)
			at++, option = NULL;
		else if (!option && completion->words[at][0] != '-')
			n_arguments++;
	}
	if (option) {
		offer_option_values(completion, option);
		return;
	}
	value = word[0] == '-' ? strchr(word, '=') : NULL;
	if (value && (option = find_option(table, verb, word))) {
		completion->before = word;
		completion->before_size = (int)(value + 1 - word);
		completion->word = value + 1;
		offer_option_values(completion, option);
		return;
	}
	if (verb->arguments && n_arguments < (unsigned)verb->n_arguments_max &&
		word[0] != '-')
		offer_argument(completion, verb->arguments, n_arguments);
	/* Offer options if the user has begun one, or if nothing else can follow. */
	if (word[0] != '-' && (word[0] || verb->arguments))
		return;
	for (size_t i = 0; i < table->n_options; i++)
		if (verb->options & TRIAD_OPTION_BIT(i) && table->options[i].help)
			offer(completion, table->options[i].name,
				table->options[i].help);
}

/* --- before the command --- */

/* Skips the options before the command.  Returns true, having completed the last word,
 * if that belongs to them. */
static bool complete_global(struct completion *completion)
{
	const struct option *option;
	int at = 0, last = completion->n_words - 1;
	char name[TOKEN_SIZE];

	for (; at < last && completion->words[at][0] == '-'; at++) {
		const char *word = completion->words[at];

		for (option = completion->by->options; option->name; option++)
			if (!strncmp(word, "--", 2) && !strcmp(word + 2, option->name))
				break;
		if (!option->name || option->has_arg != required_argument)
			continue;
		if (++at < last)
			continue;
		if (!strcmp(option->name, "color"))
			offer_all(completion, triad_color_words);
		if (!strcmp(option->name, "socket"))
			printf(":files\n");
		return true;
	}
	completion->n_global = at;
	if (at < last || completion->word[0] != '-')
		return false;
	for (option = completion->by->options; option->name; option++) {
		snprintf(name, sizeof(name), "--%s", option->name);
		offer(completion, name, NULL);
	}
	return true;
}

void triad_complete(const struct triad_complete *complete, int n_words, char **words)
{
	struct completion completion = {.by = complete,
		.n_words = n_words,
		.words = words,
		.word = n_words ? words[n_words - 1] : "",
		.before = ""};
	const struct triad_verb_table *table;
	const struct triad_verb *verb;
	int at, n_name;

	if (!n_words || complete_global(&completion))
		return;
	at = completion.n_global;
	if (at == n_words - 1) {
		(void)offer_verbs(&completion, NULL);
		return;
	}
	/* After a minus the user wants an option of "agents", not a subcommand. */
	if (at == n_words - 2 && completion.word[0] != '-' &&
		offer_verbs(&completion, words[at]))
		return;
	/* The last word is not part of the name yet: "agents" may become "agents
	 * owner". */
	verb = find_verb(complete, n_words - 1 - at, words + at, &table, &n_name);
	if (verb)
		complete_verb(&completion, table, verb, at + n_name);
}
