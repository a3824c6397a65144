/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/command.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <glib.h>

#include "command/parser.h"
#include "ib/counter.h"
#include "ib/detail.h"
#include "lib/quantity.h"
#include "lib/text.h"
#include "triad/clock.h"
#include "triad/fabric.h"

static const struct triad_command defaults = {
	.port = -1,
	.type = TRIAD_COMMAND_TYPE_ALL,
	.by = TRIAD_PORT_XMIT_DATA,
	.limit = 20,
};

#define DEFAULT_INTERVAL_S 2
#define MAX_PRIORITY 15

/* The arguments of a command, for rules that the table can't express. */
struct arguments {
	struct triad_parser *parser;
	struct triad_command *command;
	const char *words[4]; /* NULL: not there */
	unsigned n;
};

static int read_clear(const struct arguments *arguments)
{
	static const char *const words[] = {
		[TRIAD_COMMAND_CLEAR_TOTALS] = "totals",
		[TRIAD_COMMAND_CLEAR_HARDWARE] = "hardware",
		[TRIAD_COMMAND_CLEAR_HISTOGRAMS] = "histograms",
	};
	struct triad_parser *parser = arguments->parser;
	struct triad_command *command = arguments->command;
	bool is_some = command->node[0] || command->port >= 0 ||
		command->type != TRIAD_COMMAND_TYPE_ALL;
	unsigned i = 0;

	while (i < 3 && g_ascii_strcasecmp(arguments->words[0], words[i]))
		i++;
	if (i == 3)
		return triad_parser_complain(parser,
			"%.80s: allowed are totals, hardware and histograms",
			arguments->words[0]);
	command->clear = i;
	if (i == TRIAD_COMMAND_CLEAR_HISTOGRAMS)
		return is_some ? triad_parser_complain(parser,
					 "histograms begin anew all at once: without "
					 "--node, --port and --type")
			       : 0;
	if (command->all && is_some)
		return triad_parser_complain(parser,
			"--all is every port: without --node, --port and --type");
	/* Require --all: otherwise a forgotten option would clear every port. */
	if (!command->all && !is_some)
		return triad_parser_complain(parser,
			"it needs the ports: --node, --port, --type, or --all for "
			"every one");
	return 0;
}

static int read_setting(const struct arguments *arguments)
{
	struct triad_command *command = arguments->command;
	const char *const *words = arguments->words;
	const char *equals = strchr(words[0], '=');
	const char *value = equals ? equals + 1 : words[1];
	char key[sizeof(command->key)];
	unsigned n_expected = equals ? 1 : 2;
	int error;

	/* As in triad.conf: "KEY = VALUE", also without blanks. */
	if (equals && !*value && words[1]) {
		value = words[1];
		n_expected = 2;
	} else if (!equals && words[1] && words[1][0] == '=' &&
		(words[1][1] || words[2])) {
		value = words[1][1] ? words[1] + 1 : words[2];
		n_expected = words[1][1] ? 2 : 3;
	}
	if (!value || arguments->n < n_expected)
		return triad_parser_complain(arguments->parser, "it needs KEY VALUE");
	if (arguments->n > n_expected)
		return triad_parser_complain(arguments->parser,
			"'%.80s' is one word too many: a value with blanks stands "
			"between quotes",
			words[n_expected]);
	snprintf(key, sizeof(key), "%.*s", (int)strcspn(words[0], "="), words[0]);
	error = triad_parser_copy(arguments->parser, "KEY", command->key,
		sizeof(command->key), equals ? key : words[0]);
	return error ? error
		     : triad_parser_copy(arguments->parser, "VALUE", command->value,
			       sizeof(command->value), value);
}

static int read_priority(const struct arguments *arguments)
{
	unsigned number;

	if (!triad_text_number(arguments->words[0], &number) || number > MAX_PRIORITY)
		return triad_parser_complain(arguments->parser,
			"%.80s: allowed are whole numbers, 0 to %u",
			arguments->words[0], MAX_PRIORITY);
	arguments->command->priority = number;
	return 0;
}

static int read_blacklist(const struct arguments *arguments)
{
	const char *word = arguments->words[0], *guid = arguments->words[1];
	struct triad_command *command = arguments->command;

	if (!word)
		return 0;
	if (!g_ascii_strcasecmp(word, "add"))
		command->change = TRIAD_COMMAND_ADD;
	else if (!g_ascii_strcasecmp(word, "remove"))
		command->change = TRIAD_COMMAND_REMOVE;
	else
		return triad_parser_complain(
			arguments->parser, "%.80s: allowed are add and remove", word);
	if (!guid)
		return triad_parser_complain(
			arguments->parser, "%s needs the GUID of an SM's port", word);
	if (!triad_text_guid(guid, &command->guid))
		return triad_parser_complain(arguments->parser,
			"%.80s: a GUID is 0x and 1 to 16 hexadecimal digits, not all 0",
			guid);
	return 0;
}

static int read_verdict(const struct arguments *arguments)
{
	const char *word = arguments->words[0];

	arguments->command->is_yes = !g_ascii_strcasecmp(word, "yes");
	if (!arguments->command->is_yes && g_ascii_strcasecmp(word, "no") != 0)
		return triad_parser_complain(
			arguments->parser, "%.80s: allowed are yes and no", word);
	return 0;
}

/* Of a difference: eight hexadecimal digits. */
static int read_repair(const struct arguments *arguments)
{
	struct triad_command *command = arguments->command;
	char *end;

	if (command->all == (arguments->words[0] != NULL))
		return triad_parser_complain(arguments->parser,
			"say which: an ID, as 'audit' shows it, or --all");
	if (command->all)
		return 0;
	command->id = (unsigned)strtoul(arguments->words[0], &end, 16);
	if (strlen(arguments->words[0]) != 8 || *end)
		return triad_parser_complain(arguments->parser,
			"%.80s: allowed is an ID, as 'audit' shows it",
			arguments->words[0]);
	return 0;
}

/* Reads the number of an alert or a silence. */
static int read_id(const struct arguments *arguments)
{
	unsigned number;

	if (!triad_text_number(arguments->words[0], &number) || !number)
		return triad_parser_complain(arguments->parser,
			"%.80s: allowed is a number, as '%s' shows it",
			arguments->words[0],
			arguments->command->verb == TRIAD_COMMAND_ALERTS_ACK
				? "alerts"
				: "silences");
	arguments->command->id = number;
	return 0;
}

static int read_silence(const struct arguments *arguments)
{
	struct triad_command *command = arguments->command;
	struct triad_parser *parser = arguments->parser;

	/* Require a time and a reason: otherwise silences stay and are forgotten. */
	if (!command->for_s || !command->reason[0])
		return triad_parser_complain(parser,
			"it needs --for and --reason: --for 2h --reason 'new line cards'");
	return triad_parser_read_node(
		parser, "NODE", arguments->words[0], command->node);
}

static int read_switch_port(const struct arguments *arguments)
{
	const char *node = arguments->words[0], *port = arguments->words[1];
	struct triad_parser *parser = arguments->parser;
	struct triad_command *command = arguments->command;
	unsigned number;
	int error;

	if (!node)
		return 0;
	error = triad_parser_read_node(parser, "NODE", node, command->node);
	if (error)
		return error;
	/* The node may have it, as in 'leaf-01:3'. */
	if (!port && triad_node_text_has_port(node))
		return 0;
	if (!port)
		return triad_parser_complain(
			parser, "%.80s needs the number of a port", node);
	if (!triad_text_number(port, &number) || !number ||
		number > TRIAD_FABRIC_MAX_PORT_NUMBER)
		return triad_parser_complain(parser,
			"%.80s: a switch has ports from 1 to %u", port,
			TRIAD_FABRIC_MAX_PORT_NUMBER);
	command->port = (int)number;
	return 0;
}

/* Reads the first word, if there is one, as a node. */
static int read_node_word(const struct arguments *arguments)
{
	return arguments->n ? triad_parser_read_node(arguments->parser, "NODE",
				      arguments->words[0], arguments->command->node)
			    : 0;
}

static int read_switch_or_port(const struct arguments *arguments)
{
	return arguments->words[0] && arguments->words[1] ? read_switch_port(arguments)
							  : read_node_word(arguments);
}

static int read_ends(const struct arguments *arguments)
{
	struct triad_command *command = arguments->command;
	int error = triad_parser_read_node(
		arguments->parser, "NODE", arguments->words[0], command->source);

	return error ? error
		     : triad_parser_read_node(arguments->parser, "NODE",
			       arguments->words[1], command->destination);
}

/* Reads a time, or a length of time before now, and sets one of the two.  'what' is the
 * option or argument, for messages.  A time includes all of its second. */
static int read_moment(struct triad_parser *parser, const char *what, const char *text,
	uint64_t *at_us, uint64_t *ago_us)
{
	unsigned length_s;

	if (!text[0])
		return 0;
	if (triad_clock_parse(text, at_us))
		return 0;
	if (triad_quantity_parse(text, "s", &length_s) || !length_s)
		return triad_parser_complain(parser,
			"%s %.40s: allowed are a time, 2026-01-02 or 2026-01-02T03:04 "
			"(UTC), and a length of time before now, 2d, 3h, 90m or 30s",
			what, text);
	*ago_us = length_s * TRIAD_US_PER_S;
	return 0;
}

/* The end of the second that was typed. */
static uint64_t end_of_second(uint64_t at_us)
{
	return at_us ? at_us + TRIAD_US_PER_S - 1 : 0;
}

/* Whether an option selects a part of the answer. */
static bool has_choice(
	const struct triad_parser *parser, const struct triad_command *command)
{
	return command->limit != triad_verb_default(parser->verb).limit ||
		command->node[0] || command->port != defaults.port ||
		command->type != defaults.type || command->group[0] || command->all ||
		command->plugin;
}

static int read_at(const struct arguments *arguments)
{
	struct triad_command *command = arguments->command;
	struct triad_parser *parser = arguments->parser;
	bool is_kept = triad_verb_is_kept(parser->verb);
	int error = read_moment(
		parser, "--at", command->at, &command->at_us, &command->at_ago_us);

	command->at_us = end_of_second(command->at_us);
	if (command->at[0] && command->watch)
		return triad_parser_complain(
			parser, "--at shows one moment: without --watch");
	if (command->at[0] && is_kept && (arguments->n || has_choice(parser, command)))
		return triad_parser_complain(parser,
			"--at shows what it answered then, which was with no other word: "
			"leave the others out, but for --json and those of tables");
	return error;
}

static int read_since(const struct arguments *arguments)
{
	struct triad_command *command = arguments->command;

	return read_moment(arguments->parser, "--since", command->since,
		&command->since_us, &command->since_length_us);
}

static int read_histogram(const struct arguments *arguments)
{
	struct triad_command *command = arguments->command;
	int field = triad_detail_field_find(arguments->words[0]);
	int error = read_since(arguments);

	if (error)
		return error;
	if (command->port >= 0 && !command->node[0])
		return triad_parser_complain(arguments->parser, "--port needs --node");
	if (command->group[0] && command->node[0])
		return triad_parser_complain(
			arguments->parser, "--group and --node exclude each other");
	if (field >= 0) {
		command->by = TRIAD_N_COUNTERS + (unsigned)field;
		return 0;
	}
	return triad_parser_read_counter(
		arguments->parser, "", arguments->words[0], &command->by);
}

static int read_history(const struct arguments *arguments)
{
	int error = read_since(arguments);

	if (error || !arguments->n)
		return error;
	return triad_parser_read_node(arguments->parser, "NODE", arguments->words[0],
		arguments->command->node);
}

static int read_perf_history(const struct arguments *arguments)
{
	struct triad_command *command = arguments->command;
	struct triad_parser *parser = arguments->parser;
	int error = read_since(arguments);

	if (!error)
		error = triad_parser_read_node(
			parser, "NODE:PORT", arguments->words[0], command->node);
	if (!error && !triad_node_text_has_port(arguments->words[0]))
		error = triad_parser_complain(parser,
			"%.80s needs the number of a port: NODE:3",
			arguments->words[0]);
	return error ? error
		     : triad_parser_read_counter(
			       parser, "", arguments->words[1], &command->by);
}

static int read_diff(const struct arguments *arguments)
{
	struct triad_command *command = arguments->command;
	struct triad_parser *parser = arguments->parser;
	int error = read_moment(parser, "TIME", arguments->words[0], &command->at_us,
		&command->at_ago_us);

	command->at_us = end_of_second(command->at_us);
	if (!error && arguments->n > 1)
		error = read_moment(parser, "TIME", arguments->words[1],
			&command->to_us, &command->to_ago_us);
	command->to_us = end_of_second(command->to_us);
	return error;
}

static int read_ends_by_options(const struct arguments *arguments)
{
	const struct triad_command *command = arguments->command;

	return command->source[0] && command->destination[0]
		? 0
		: triad_parser_complain(arguments->parser, "it needs --src and --dst");
}

static int read_job(const struct arguments *arguments)
{
	const struct triad_command *command = arguments->command;

	return !command->hosts[0] == !command->slurm_job[0]
		? triad_parser_complain(
			  arguments->parser, "it needs --nodes or --slurm, one of them")
		: read_since(arguments);
}

static int read_topology(const struct arguments *arguments)
{
	const struct triad_command *command = arguments->command;
	int n_of_ibdiagnet = command->db_csv + command->fdbs + command->mcfdbs;

	/* A resource of HTTP is always JSON, also with 'slurm'. */
	if (n_of_ibdiagnet + (command->slurm || command->json) != 1)
		return triad_parser_complain(arguments->parser,
			"it needs --slurm, --json, --db-csv, --fdbs or --mcfdbs, one of "
			"them: the form in which it is written");
	if (command->at[0] && (command->fdbs || command->mcfdbs))
		return triad_parser_complain(arguments->parser,
			"images keep no forwarding tables: --fdbs and --mcfdbs go "
			"without --at");
	return 0;
}

static int read_file_word(const struct arguments *arguments)
{
	struct triad_command *command = arguments->command;

	return arguments->n
		? triad_parser_copy(arguments->parser, "FILE", command->file,
			  sizeof(command->file), arguments->words[0])
		: 0;
}

static int read_key(const struct arguments *arguments)
{
	struct triad_command *command = arguments->command;

	return arguments->n ? triad_parser_copy(arguments->parser, "KEY", command->key,
				      sizeof(command->key), arguments->words[0])
			    : 0;
}

/* NULL: the table has all rules. */
static int (*const readers[TRIAD_N_COMMANDS])(const struct arguments *arguments) = {
	[TRIAD_COMMAND_ROUTES_OVER] = read_switch_port,
	[TRIAD_COMMAND_ROUTES_BETWEEN] = read_ends,
	[TRIAD_COMMAND_REPAIR_PLAN] = read_switch_or_port,
	[TRIAD_COMMAND_JOB] = read_job,
	[TRIAD_COMMAND_HEAL_REPORT] = read_since,
	[TRIAD_COMMAND_TOPOLOGY] = read_topology,
	[TRIAD_COMMAND_PERF_CLEAR] = read_clear,
	[TRIAD_COMMAND_PERF_HISTOGRAM] = read_histogram,
	[TRIAD_COMMAND_PERF_HISTORY] = read_perf_history,
	[TRIAD_COMMAND_PERF_TIERS] = read_since,
	[TRIAD_COMMAND_CABLES] = read_node_word,
	[TRIAD_COMMAND_DEVICES] = read_node_word,
	[TRIAD_COMMAND_DIFF] = read_diff,
	[TRIAD_COMMAND_ALERTS_ACK] = read_id,
	[TRIAD_COMMAND_SILENCE] = read_silence,
	[TRIAD_COMMAND_UNSILENCE] = read_id,
	[TRIAD_COMMAND_HISTORY] = read_history,
	[TRIAD_COMMAND_AGENTS_OWNER] = read_node_word,
	[TRIAD_COMMAND_AUDIT_REPAIR] = read_repair,
	[TRIAD_COMMAND_QOS_EXPLAIN] = read_ends_by_options,
	[TRIAD_COMMAND_QOS_PLAN] = read_file_word,
	[TRIAD_COMMAND_PORT_PRIORITY] = read_priority,
	[TRIAD_COMMAND_PORT_BLACKLIST] = read_blacklist,
	[TRIAD_COMMAND_PORT_VERDICT] = read_verdict,
	[TRIAD_COMMAND_DAMP_RELEASE] = read_switch_port,
	[TRIAD_COMMAND_DAMP_PIN] = read_switch_port,
	[TRIAD_COMMAND_HEAL_TAKE] = read_switch_port,
	[TRIAD_COMMAND_PORT_RELEASE] = read_switch_port,
	[TRIAD_COMMAND_PORT_APPROVE] = read_switch_port,
	[TRIAD_COMMAND_GET] = read_key,
	[TRIAD_COMMAND_SET] = read_setting,
};

bool triad_command_has_layout(const struct triad_command *command)
{
	return command->columns[0] || command->sort[0] || command->no_headings ||
		command->raw;
}

struct triad_command triad_verb_default(const struct triad_verb *verb)
{
	struct triad_command command = defaults;

	command.verb = verb->verb;
	if (verb->options & TRIAD_OPTION_BIT(TRIAD_OPTION_LIMIT_ALL))
		command.limit = UINT_MAX;
	return command;
}

int triad_command_read(struct triad_parser *parser, struct triad_command *command)
{
	struct arguments arguments = {.parser = parser, .command = command};
	int error;

	*command = triad_verb_default(parser->verb);
	error = triad_parser_read_rest(parser, command, arguments.words, &arguments.n);
	if (error)
		return error;
	/* By this the server refuses readers' changes.  "port blacklist" without
	 * arguments only lists; with arguments it changes something. */
	command->changes = parser->verb->access != TRIAD_VERB_READS ||
		(parser->verb->arguments_change && arguments.n);
	if (command->interval_s && !command->watch)
		return triad_parser_complain(parser, "--interval needs --watch");
	if (command->json && triad_command_has_layout(command))
		return triad_parser_complain(parser,
			"--columns, --sort, --no-headings and --raw are for tables: "
			"leave out --json, or them");
	if (!command->interval_s)
		command->interval_s = DEFAULT_INTERVAL_S;
	error = read_at(&arguments);
	if (error || !readers[command->verb])
		return error;
	return readers[command->verb](&arguments);
}

int triad_command_parse(int n_words, const char *const *words,
	struct triad_command *command, char *message, size_t size)
{
	struct triad_parser parser = {
		.tables = &triad_command_verbs,
		.n_tables = 1,
		.words = words,
		.n_words = n_words,
		.message = message,
		.size = size,
	};
	int error = triad_parser_read_verb(&parser);

	if (error || parser.verb)
		return error ? error : triad_command_read(&parser, command);
	*command = defaults;
	command->verb = TRIAD_COMMAND_HELP;
	strcpy(command->topic, parser.topic);
	return 0;
}
