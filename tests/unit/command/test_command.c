/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "command/command_table.h"
#include "ib/counter.h"
#include "tests/unit/mentions.h"

static struct triad_command command;
static char message[512], help[TRIAD_COMMAND_HELP_SIZE];

/* Parses a line, split like in a shell.  Another word follows in memory; the parser
 * must not read it. */
static int parse(const char *line)
{
	const char *given[64];
	char **words = NULL;
	int error, n_words = 0;

	if (*line)
		ck_assert_msg(
			g_shell_parse_argv(line, &n_words, &words, NULL), "%s", line);
	for (int i = 0; i < n_words; i++)
		given[i] = words[i];
	given[n_words] = "beyond";
	message[0] = '\0';
	error = triad_command_parse(n_words, given, &command, message, sizeof(message));
	g_strfreev(words);
	return error;
}

#define ASSERT_PARSED(line, verb_)                                                     \
	do {                                                                           \
		ck_assert_msg(!parse(line), "%s: %s", line, message);                  \
		ck_assert_int_eq(command.verb, verb_);                                 \
	} while (0)

/* Checks that the line is refused and its message mentions these words. */
#define ASSERT_REFUSED(line, words)                                                    \
	do {                                                                           \
		ck_assert_msg(parse(line) == EINVAL, "%s", line);                      \
		assert_mentions(message, words);                                       \
	} while (0)

START_TEST(test_parse_each_command_known)
{
	ASSERT_PARSED("status", TRIAD_COMMAND_STATUS);
	ASSERT_PARSED("perf show", TRIAD_COMMAND_PERF_SHOW);
	ASSERT_PARSED("perf top", TRIAD_COMMAND_PERF_TOP);
	ASSERT_PARSED("perf sweep", TRIAD_COMMAND_PERF_SWEEP);
	ASSERT_PARSED("election --json", TRIAD_COMMAND_ELECTION);
	ASSERT_PARSED("port confirm", TRIAD_COMMAND_PORT_CONFIRM);
	ASSERT_PARSED("set log.level debug", TRIAD_COMMAND_SET);
	ASSERT_PARSED("reload", TRIAD_COMMAND_RELOAD);
	ASSERT_PARSED("help", TRIAD_COMMAND_HELP);
}
END_TEST

START_TEST(test_parse_no_options_gives_defaults)
{
	ASSERT_PARSED("perf top", TRIAD_COMMAND_PERF_TOP);
	ck_assert(!command.json && !command.color && !command.watch);
	ck_assert_str_eq(command.node, "");
	ck_assert_int_eq(command.port, -1);
	ck_assert_int_eq(command.type, TRIAD_COMMAND_TYPE_ALL);
	ck_assert_uint_eq(command.by, TRIAD_PORT_XMIT_DATA);
	ck_assert_uint_eq(command.limit, 20);
	ck_assert_uint_eq(command.interval_s, 2);
}
END_TEST

START_TEST(test_parse_all_options_stored)
{
	ASSERT_PARSED("perf show --json --node 0x2c9 --port 3 --type switch --color",
		TRIAD_COMMAND_PERF_SHOW);
	ck_assert(command.json && command.color);
	ck_assert_str_eq(command.node, "0x2c9");
	ck_assert_int_eq(command.port, 3);
	ck_assert_int_eq(command.type, TRIAD_COMMAND_TYPE_SWITCH);
	ASSERT_PARSED("perf top --by portxmitwait -n 5 --watch --interval 10",
		TRIAD_COMMAND_PERF_TOP);
	ck_assert_uint_eq(command.by, TRIAD_PORT_XMIT_WAIT);
	ck_assert_uint_eq(command.limit, 5);
	ck_assert(command.watch);
	ck_assert_uint_eq(command.interval_s, 10);
}
END_TEST

START_TEST(test_parse_value_in_same_word_taken)
{
	ASSERT_PARSED(
		"perf show --node='node 1 HCA-1' --port=0", TRIAD_COMMAND_PERF_SHOW);
	ck_assert_str_eq(command.node, "node 1 HCA-1");
	ck_assert_int_eq(command.port, 0);
	ASSERT_PARSED("perf top -n7 -n8", TRIAD_COMMAND_PERF_TOP);
	ck_assert_uint_eq(command.limit, 8);
}
END_TEST

START_TEST(test_parse_types_in_order_of_enum)
{
	ASSERT_PARSED("perf show --type all", TRIAD_COMMAND_PERF_SHOW);
	ck_assert_int_eq(command.type, TRIAD_COMMAND_TYPE_ALL);
	ASSERT_PARSED("perf show --type CA", TRIAD_COMMAND_PERF_SHOW);
	ck_assert_int_eq(command.type, TRIAD_COMMAND_TYPE_CA);
	ASSERT_PARSED("perf show --type switch", TRIAD_COMMAND_PERF_SHOW);
	ck_assert_int_eq(command.type, TRIAD_COMMAND_TYPE_SWITCH);
	ASSERT_PARSED("perf show --type router", TRIAD_COMMAND_PERF_SHOW);
	ck_assert_int_eq(command.type, TRIAD_COMMAND_TYPE_ROUTER);
}
END_TEST

START_TEST(test_parse_every_counter_known)
{
	char line[128];

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		snprintf(
			line, sizeof(line), "perf top --by %s", triad_counters[i].name);
		ASSERT_PARSED(line, TRIAD_COMMAND_PERF_TOP);
		ck_assert_uint_eq(command.by, i);
	}
}
END_TEST

START_TEST(test_parse_set_words_kept)
{
	ASSERT_PARSED("set perfmgr.sweep_period 10", TRIAD_COMMAND_SET);
	ck_assert_str_eq(command.key, "perfmgr.sweep_period");
	ck_assert_str_eq(command.value, "10");
	ASSERT_PARSED("set log.level ''", TRIAD_COMMAND_SET);
	ck_assert_str_eq(command.value, "");
	ASSERT_PARSED("set web.token a=b", TRIAD_COMMAND_SET);
	ck_assert_str_eq(command.value, "a=b");
	ASSERT_PARSED("set web.token =", TRIAD_COMMAND_SET);
	ck_assert_str_eq(command.value, "=");
}
END_TEST

START_TEST(test_parse_set_equals_sign_as_in_the_file)
{
	static const char *const lines[] = {"set perfmgr.reset = always",
		"set perfmgr.reset=always", "set perfmgr.reset= always",
		"set perfmgr.reset =always"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ASSERT_PARSED(lines[i], TRIAD_COMMAND_SET);
		ck_assert_str_eq(command.key, "perfmgr.reset");
		ck_assert_str_eq(command.value, "always");
	}
	ASSERT_PARSED("set prometheus.listen=", TRIAD_COMMAND_SET);
	ck_assert_str_eq(command.value, "");
	ASSERT_REFUSED("set perfmgr.reset = always now", "'now'");
	ASSERT_REFUSED("set perfmgr.reset=always now", "'now'");
	ASSERT_REFUSED("set perfmgr.reset always now", "'now'");
	ASSERT_REFUSED("set perfmgr.reset", "KEY");
}
END_TEST

START_TEST(test_parse_port_words_stored)
{
	ASSERT_PARSED("port priority 15", TRIAD_COMMAND_PORT_PRIORITY);
	ck_assert_uint_eq(command.priority, 15);
	ASSERT_PARSED("port blacklist", TRIAD_COMMAND_PORT_BLACKLIST);
	ck_assert_int_eq(command.change, TRIAD_COMMAND_SHOW_LIST);
	ASSERT_PARSED("port blacklist add 0x2c9", TRIAD_COMMAND_PORT_BLACKLIST);
	ck_assert_int_eq(command.change, TRIAD_COMMAND_ADD);
	ck_assert_uint_eq(command.guid, 0x2c9);
	ASSERT_PARSED("port blacklist Remove 0x2ca", TRIAD_COMMAND_PORT_BLACKLIST);
	ck_assert_int_eq(command.change, TRIAD_COMMAND_REMOVE);
	ck_assert_uint_eq(command.guid, 0x2ca);
	ASSERT_PARSED("port verdict yes", TRIAD_COMMAND_PORT_VERDICT);
	ck_assert(command.is_yes);
	ASSERT_PARSED("port verdict NO", TRIAD_COMMAND_PORT_VERDICT);
	ck_assert(!command.is_yes);
}
END_TEST

START_TEST(test_parse_clear)
{
	ASSERT_PARSED("perf clear totals --all", TRIAD_COMMAND_PERF_CLEAR);
	ck_assert_int_eq(command.clear, TRIAD_COMMAND_CLEAR_TOTALS);
	ck_assert(command.all);
	ASSERT_PARSED("perf clear --port 3 Hardware", TRIAD_COMMAND_PERF_CLEAR);
	ck_assert_int_eq(command.clear, TRIAD_COMMAND_CLEAR_HARDWARE);
	ASSERT_PARSED("perf clear totals --type ca", TRIAD_COMMAND_PERF_CLEAR);
	ASSERT_PARSED("perf clear histograms", TRIAD_COMMAND_PERF_CLEAR);
	ck_assert_int_eq(command.clear, TRIAD_COMMAND_CLEAR_HISTOGRAMS);
	ASSERT_REFUSED("perf clear", "perf clear needs totals|hardware|histograms");
	ASSERT_REFUSED("perf clear all", "perf clear all totals hardware histograms");
	ASSERT_REFUSED(
		"perf clear hardware", "perf clear needs --node --port --type --all");
	ASSERT_REFUSED("perf clear totals --all --node x",
		"perf clear --all --node --port --type");
	ASSERT_REFUSED(
		"perf clear histograms --node x", "perf clear --node --port --type");
}
END_TEST

START_TEST(test_parse_port_bad_words_refused)
{
	ASSERT_REFUSED("port priority 16", "port priority 16 whole 0 15");
	ASSERT_REFUSED("port priority", "port priority needs N");
	ASSERT_REFUSED("port blacklist drop 0x1", "port blacklist drop add remove");
	ASSERT_REFUSED("port blacklist add", "port blacklist add GUID");
	ASSERT_REFUSED("port blacklist add 0x0", "port blacklist 0x0 GUID");
	ASSERT_REFUSED("port verdict maybe", "port verdict maybe yes no");
	ASSERT_REFUSED("port verdict", "port verdict needs yes|no");
	ASSERT_REFUSED("election check", "election 'check' many");
}
END_TEST

START_TEST(test_parse_moment_read_and_refused_where_no_past_is_kept)
{
	static const struct {
		const char *line, *words;
	} refused[] = {
		{"nodes --at yesterday", "--at yesterday time"},
		{"diff soon", "TIME soon time"},
		{"alerts --at 2h --watch", "--at shows one moment"},
		{"reload --at 2h", "'--at' past"},
		{"qos explain --at 2h", "'--at' policy"},
		{"config diff --at 2h", "'get --at'"},
		{"qos plan --at 2h policy.conf", "leave the others out"},
		{"port plan --at 2h -n 5", "leave the others out"},
		{"perf resets --at 2h --node a", "leave the others out"},
		{"perf resets --at 2h --port 3", "leave the others out"},
		{"perf history leaf-01 PortXmitData", "number port"},
		{"congestion --at 2h -n 5", "leave the others out"},
		{"routes --at 2h --group a", "leave the others out"},
		{"health --plugin --at 2h", "leave the others out"},
		{"status --all --at 2h", "leave the others out"},
	};

	ASSERT_PARSED("links --at 2026-01-02T03:04:05", TRIAD_COMMAND_LINKS);
	/* The time includes the whole second. */
	ck_assert_uint_eq(command.at_us, UINT64_C(1767323045999999));
	ASSERT_PARSED("perf top --at 90m", TRIAD_COMMAND_PERF_TOP);
	ck_assert_uint_eq(command.at_us, 0);
	ck_assert_uint_eq(command.at_ago_us, UINT64_C(5400000000));
	/* Commands that read an image, with all options, and those whose answers it
	 * keeps. */
	ASSERT_PARSED("perf ber --at 2h --all --type ca", TRIAD_COMMAND_PERF_BER);
	ASSERT_PARSED("cables leaf-01 --at 2h", TRIAD_COMMAND_CABLES);
	ASSERT_PARSED("get qos --at 2h", TRIAD_COMMAND_GET);
	ASSERT_PARSED("qos plan --at 2h", TRIAD_COMMAND_QOS_PLAN);
	ASSERT_PARSED("port list --failed --at 2h -n 5", TRIAD_COMMAND_PORT_LIST);
	ASSERT_PARSED("qos tables --node a:1 --at 2h", TRIAD_COMMAND_QOS_TABLES);
	ASSERT_PARSED("agents owner a --at 2h", TRIAD_COMMAND_AGENTS_OWNER);
	ASSERT_PARSED("job --nodes a --since 3h --at 2h", TRIAD_COMMAND_JOB);
	ASSERT_PARSED("perf histogram PortXmitWait --since 3h --at 2h",
		TRIAD_COMMAND_PERF_HISTOGRAM);
	ASSERT_PARSED("diff 2h 2026-01-02", TRIAD_COMMAND_DIFF);
	ck_assert_uint_eq(command.at_ago_us, UINT64_C(7200000000));
	ck_assert_uint_eq(command.to_us, UINT64_C(1767312000999999));
	ASSERT_PARSED("perf history leaf-01:3 portxmitdata --since 2d",
		TRIAD_COMMAND_PERF_HISTORY);
	ck_assert_str_eq(command.node, "leaf-01:3");
	ck_assert_uint_eq(command.by, TRIAD_PORT_XMIT_DATA);
	for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
		ck_assert_msg(parse(refused[i].line) == EINVAL, "%s", refused[i].line);
		assert_mentions(message, refused[i].words);
	}
}
END_TEST

/* The commands that change something; users who may only read may use the others.  A
 * new command must be in one of the two lists. */
START_TEST(test_parse_commands_classed)
{
	static const char *const reads[] = {"help", "health", "status", "links",
		"perf show", "perf top", "perf resets", "perf details", "perf ber",
		"cables leaf-01:3", "devices --firmware", "perf histogram PortXmitWait",
		"perf history leaf-01:3 PortXmitData", "perf tiers --since 1d",
		"diff 2h 1h", "alerts", "history leaf-01:3 --since 2d", "agents",
		"agents owner NODE", "qos clients", "shield", "damp", "damp traps",
		"heal", "heal report --since 1d", "nodes", "ports --state free", "get",
		"routes", "routes check", "congestion", "job --nodes a",
		"topology --slurm", "routes over leaf-01:3", "routes between a b",
		"repair plan leaf-01", "repair history", "audit last -n 5", "heal plan",
		"config diff", "version", "qos explain --src a --dst b", "qos plan",
		"qos tables", "qos nodes", "election", "port blacklist", "port plan",
		"port list", "port history", "silences", "set --help"};
	static const char *const changes[] = {"perf sweep", "audit --node leaf-01",
		"audit repair 0123abcd", "audit repair --all --node leaf-01",
		"repair settle", "perf clear totals --all", "perf clear histograms",
		"alerts ack 1", "unsilence 1", "damp release leaf-01 3",
		"damp pin leaf-01:3", "heal take leaf-01:3",
		"silence NODE --for 2h --reason x", "agents drain", "agents resume",
		"qos on", "qos off", "qos plan FILE", "qos apply", "port priority 3",
		"port confirm", "port blacklist add 0x1", "port blacklist remove 0x1",
		"port verdict yes", "port release NODE 1", "port approve",
		"port approve NODE 1", "port snapshot", "set log.level debug",
		"reload"};
	bool is_listed[TRIAD_N_COMMANDS] = {false};

	for (size_t i = 0; i < G_N_ELEMENTS(reads); i++) {
		ck_assert_msg(!parse(reads[i]), "%s: %s", reads[i], message);
		ck_assert_msg(!command.changes, "%s", reads[i]);
		is_listed[command.verb] = true;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
		ck_assert_msg(!parse(changes[i]), "%s: %s", changes[i], message);
		ck_assert_msg(command.changes, "%s", changes[i]);
		is_listed[command.verb] = true;
	}
	for (size_t i = 0; i < TRIAD_N_COMMANDS; i++) {
		ck_assert_msg(
			is_listed[triad_verbs[i].verb], "%s", triad_verbs[i].name);
		ck_assert_msg(triad_verbs[i].access != TRIAD_VERB_UNCLASSED, "%s",
			triad_verbs[i].name);
	}
}
END_TEST

START_TEST(test_parse_repair_says_which)
{
	ck_assert(!parse("audit repair 0123abcd"));
	ck_assert_uint_eq(command.id, 0x0123abcd);
	ck_assert(parse("audit repair"));
	ck_assert(parse("audit repair 0123abcd --all"));
	ck_assert(parse("audit repair 0123abc"));
	ck_assert(parse("audit repair 0123abcx"));
	ck_assert(parse("audit repair -1234567"));
}
END_TEST

START_TEST(test_parse_number_limits_taken)
{
	ASSERT_PARSED("perf show --port 254", TRIAD_COMMAND_PERF_SHOW);
	ASSERT_PARSED("perf top -n 1", TRIAD_COMMAND_PERF_TOP);
	ASSERT_PARSED("perf top -n 65535", TRIAD_COMMAND_PERF_TOP);
	ASSERT_PARSED("perf top --watch --interval 1", TRIAD_COMMAND_PERF_TOP);
	ASSERT_PARSED("perf top --watch --interval 3600", TRIAD_COMMAND_PERF_TOP);
}
END_TEST

START_TEST(test_parse_since_is_a_time_or_a_length)
{
	static const struct {
		const char *text;
		uint64_t at_s, length_s;
	} cases[] = {
		{"2026-01-02", 1767312000, 0},
		{"2026-01-02T03:04", 1767323040, 0},
		{"2026-01-02T03:04Z", 1767323040, 0},
		{"2026-01-02T03:04:05", 1767323045, 0},
		{"2026-01-02T03:04:05Z", 1767323045, 0},
		{"2d", 0, 172800},
		{"3h", 0, 10800},
		{"90m", 0, 5400},
		{"30", 0, 30},
	};
	static const char *const invalid[] = {"yesterday", "0", "2026-13-01",
		"2026-01-02T", "2026-01-02T03:04:05ZZ", "-2d", "1969-01-01", "2w"};
	char line[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(line, sizeof(line), "history leaf-01/P3 --since %s",
			cases[i].text);
		ASSERT_PARSED(line, TRIAD_COMMAND_HISTORY);
		ck_assert_str_eq(command.node, "leaf-01/P3");
		ck_assert_uint_eq(command.since_us, cases[i].at_s * 1000000);
		ck_assert_uint_eq(command.since_length_us, cases[i].length_s * 1000000);
	}
	for (size_t i = 0; i < sizeof(invalid) / sizeof(*invalid); i++) {
		snprintf(line, sizeof(line), "history --since %s", invalid[i]);
		ck_assert_msg(parse(line) == EINVAL, "%s", line);
		ck_assert_ptr_nonnull(strstr(message, "2026-01-02"));
	}
}
END_TEST

START_TEST(test_parse_numbers_out_of_range_refused)
{
	ASSERT_REFUSED("perf show --port 255", "perf show --port 255 0 254");
	ASSERT_REFUSED("perf show --port=-1", "perf show --port -1 0 254");
	ASSERT_REFUSED("perf show --port=", "perf show --port  0 254");
	ASSERT_REFUSED("perf top -n 0", "perf top -n 0 1 65535");
	ASSERT_REFUSED("perf top -n 65536", "perf top -n 65536 1 65535");
	ASSERT_REFUSED("perf top --watch --interval 3601",
		"perf top --interval 3601 range 1 3600 s");
	ASSERT_REFUSED("perf top --watch --interval 0.5",
		"perf top --interval '0.5' whole 1 3600 s");
}
END_TEST

START_TEST(test_parse_bad_choices_refused)
{
	ASSERT_REFUSED(
		"perf show --type hca", "perf show --type hca ca|switch|router|all");
	ASSERT_REFUSED("perf top --by PortXmitWiat",
		"perf top --by PortXmitWiat 'PortXmitWait'");
	ASSERT_REFUSED(
		"perf top --by nothing", "perf top --by nothing 'help perf top'");
}
END_TEST

START_TEST(test_parse_bad_nodes_refused)
{
	char line[300] = "perf show --node ";

	ASSERT_REFUSED("perf show --node 0x12g", "perf show --node 0x12g GUID");
	ASSERT_REFUSED("perf show --node ''", "perf show --node  name 127 0");
	memset(line + strlen(line), 'x', 127);
	ASSERT_PARSED(line, TRIAD_COMMAND_PERF_SHOW);
	ck_assert_uint_eq(strlen(command.node), 127);
	strcat(line, "x");
	ck_assert_int_eq(parse(line), EINVAL);
	assert_mentions(message, "127 128");
}
END_TEST

START_TEST(test_parse_missing_value_reported)
{
	ASSERT_REFUSED("perf show --node", "perf show --node needs NODE");
	ASSERT_REFUSED("perf top -n", "perf top -n needs N");
	ASSERT_REFUSED("perf show --json=1", "perf show --json value");
}
END_TEST

START_TEST(test_parse_unknown_option_guessed)
{
	ASSERT_REFUSED("perf show --jsno", "perf show option '--jsno' '--json'");
	ASSERT_REFUSED("perf show --by PortXmitData",
		"perf show option '--by' --node --port --type --errors --at --watch --interval --columns --sort --no-headings --raw --json");
	ASSERT_REFUSED("perf show --jsonx", "perf show option '--jsonx' '--json'");
	ASSERT_REFUSED(
		"status -x", "status option '-x' --all --at --watch --interval --json");
	ASSERT_REFUSED("reload --json", "reload option '--json'");
	ASSERT_REFUSED("perf top -nx", "perf top option '-nx' '-n'");
}
END_TEST

START_TEST(test_parse_interval_without_watch_refused)
{
	ASSERT_REFUSED("perf top --interval 5", "perf top --interval needs --watch");
	ASSERT_PARSED("perf top --interval 5 --watch", TRIAD_COMMAND_PERF_TOP);
}
END_TEST

/* triadctl carries out these options, but both it and the server parse them. */
START_TEST(test_parse_layout_of_tables)
{
	ASSERT_PARSED("perf show --columns node,port --sort -port --no-headings --raw",
		TRIAD_COMMAND_PERF_SHOW);
	ck_assert_str_eq(command.columns, "node,port");
	ck_assert_str_eq(command.sort, "-port");
	ck_assert(command.no_headings && command.raw && !command.table);
	ck_assert(triad_command_has_layout(&command));
	ASSERT_PARSED("port list --table --color", TRIAD_COMMAND_PORT_LIST);
	ck_assert(command.table && !triad_command_has_layout(&command));
	ASSERT_REFUSED("agents --columns=", "agents --columns needs A,B");
	ASSERT_REFUSED("agents --json --sort name",
		"agents --columns --sort --no-headings --raw tables --json");
	ASSERT_REFUSED("health --raw",
		"health option '--raw' --plugin --at --watch --interval --json");
	ASSERT_REFUSED("reload --table", "reload option '--table'");
}
END_TEST

/* Every command that only reads can be watched; none that changes something can. */
START_TEST(test_parse_watch_of_all_that_read)
{
	for (size_t i = 0; i < TRIAD_N_COMMANDS; i++) {
		const struct triad_verb *verb = &triad_verbs[i];
		bool is_watched = verb->options & TRIAD_OPTION_BIT(TRIAD_OPTION_WATCH);
		bool has_answer = verb->access == TRIAD_VERB_READS &&
			verb->verb != TRIAD_COMMAND_HELP &&
			verb->verb != TRIAD_COMMAND_VERSION &&
			verb->verb != TRIAD_COMMAND_TOPOLOGY &&
			verb->verb != TRIAD_COMMAND_PORT_BLACKLIST;

		ck_assert_msg(is_watched == has_answer, "%s", verb->name);
		ck_assert_msg(!(verb->options & TRIAD_OPTIONS_OF_LAYOUT) ==
				!(verb->options & TRIAD_OPTION_BIT(TRIAD_OPTION_TABLE)),
			"%s", verb->name);
	}
}
END_TEST

START_TEST(test_parse_unknown_command_guessed)
{
	ASSERT_REFUSED("", "command 'help'");
	ASSERT_REFUSED("--json", "command 'help'");
	ASSERT_REFUSED("statsu", "unknown 'statsu' 'status'");
	ASSERT_REFUSED("perf shwo", "unknown 'perf shwo' 'perf show'");
	ASSERT_REFUSED("perf zzz --json", "unknown 'perf zzz' 'help perf'");
	ASSERT_REFUSED("'perf show' --json", "unknown 'perf show' 'perf show'");
	ASSERT_REFUSED("zzz", "unknown 'zzz' 'help'");
	/* For part of a name there are at most three guesses. */
	ASSERT_REFUSED("show", "unknown command 'show'; did you mean 'perf show'?");
	ASSERT_REFUSED("plan", "unknown 'plan' 'heal plan' 'qos plan'");
	ASSERT_REFUSED("per", "unknown 'per' 'perf show' 'perf top' 'perf sweep'");
}
END_TEST

START_TEST(test_parse_unfinished_command_lists_its_topic)
{
	ASSERT_REFUSED("perf",
		"'perf' perf show, perf top, perf sweep, perf clear, perf resets, perf details, perf ber, perf history, perf tiers, perf histogram");
	ASSERT_REFUSED("qos --json",
		"'qos' qos on, qos off, qos clients, qos explain, qos plan, qos apply, qos tables, qos nodes");
	ASSERT_REFUSED("config", "'config' config diff");
}
END_TEST

START_TEST(test_parse_nodes_get_and_others)
{
	ASSERT_PARSED("nodes --node leaf-* --type switch --json", TRIAD_COMMAND_NODES);
	ck_assert_uint_eq(command.limit, UINT_MAX);
	ASSERT_PARSED("nodes -n 100000", TRIAD_COMMAND_NODES);
	ck_assert_uint_eq(command.limit, 100000);
	ASSERT_PARSED("get", TRIAD_COMMAND_GET);
	ck_assert_str_eq(command.key, "");
	ASSERT_PARSED("get perfmgr.window --json", TRIAD_COMMAND_GET);
	ck_assert_str_eq(command.key, "perfmgr.window");
	ASSERT_REFUSED("get a b", "get 'b' many");
	ASSERT_PARSED("config diff --json", TRIAD_COMMAND_CONFIG_DIFF);
	ASSERT_PARSED("version --client 1.2", TRIAD_COMMAND_VERSION);
	ck_assert_str_eq(command.client, "1.2");
}
END_TEST

START_TEST(test_parse_port_of_a_switch)
{
	ASSERT_PARSED("port release leaf-01 3", TRIAD_COMMAND_PORT_RELEASE);
	ck_assert_str_eq(command.node, "leaf-01");
	ck_assert_int_eq(command.port, 3);
	ASSERT_PARSED("port release leaf-01:3", TRIAD_COMMAND_PORT_RELEASE);
	ck_assert_str_eq(command.node, "leaf-01:3");
	ck_assert_int_eq(command.port, -1);
	ASSERT_PARSED("port approve 0x12/P3", TRIAD_COMMAND_PORT_APPROVE);
	ASSERT_REFUSED("port release", "port release needs NODE PORT");
	ASSERT_REFUSED("port release leaf-01", "port release leaf-01 number port");
	ASSERT_REFUSED("port approve leaf-01 0", "port approve 0 1 254");
	ASSERT_REFUSED("port approve 0xy 1", "port approve NODE 0xy GUID");
}
END_TEST

START_TEST(test_parse_interval_with_a_unit)
{
	ASSERT_PARSED("alerts --watch --interval 5m", TRIAD_COMMAND_ALERTS);
	ck_assert_uint_eq(command.interval_s, 300);
	ASSERT_PARSED("alerts --watch --interval '10 s'", TRIAD_COMMAND_ALERTS);
	ck_assert_uint_eq(command.interval_s, 10);
	ASSERT_PARSED("alerts --watch --interval=3000ms", TRIAD_COMMAND_ALERTS);
	ck_assert_uint_eq(command.interval_s, 3);
	ASSERT_REFUSED("alerts --watch --interval 500ms",
		"alerts --interval '500ms' whole 1 3600 s");
	ASSERT_REFUSED(
		"alerts --watch --interval 2h", "alerts --interval 2h range 1 3600 s");
}
END_TEST

START_TEST(test_parse_silences)
{
	ASSERT_PARSED(
		"silence leaf-01:3 --for 2h --from 2026-01-31T22:00Z --reason 'new "
		"cables'",
		TRIAD_COMMAND_SILENCE);
	ck_assert_str_eq(command.node, "leaf-01:3");
	ck_assert_uint_eq(command.for_s, 7200);
	ck_assert_uint_eq(command.from_us, UINT64_C(1769896800000000));
	ck_assert_str_eq(command.reason, "new cables");
	ASSERT_PARSED("alerts ack 12 --reason=known", TRIAD_COMMAND_ALERTS_ACK);
	ck_assert_uint_eq(command.id, 12);
	ck_assert_uint_eq(command.for_s, 0);
	ASSERT_REFUSED("silence leaf-01 --reason x", "silence --for --reason");
	ASSERT_REFUSED("silence leaf-01 --for 2h", "silence --for --reason");
	ASSERT_REFUSED("silence leaf-01 --for 2h --from 22:00 --reason x",
		"silence --from 22:00 time UTC");
	ASSERT_REFUSED("silence leaf-01 --for 400d --reason x",
		"silence --for 400d range 1 31536000 s");
	ASSERT_REFUSED("alerts ack all", "alerts ack all number 'alerts'");
	ASSERT_REFUSED("unsilence 0", "unsilence 0 number 'silences'");
}
END_TEST

START_TEST(test_parse_number_of_words_checked)
{
	ASSERT_REFUSED("status all", "status 'all' many");
	ASSERT_REFUSED("set log.level", "set needs KEY VALUE");
	ASSERT_REFUSED("set a b c", "set 'c' many");
	ASSERT_REFUSED("help perf show me", "help 'me' many");
}
END_TEST

START_TEST(test_parse_set_words_too_long_refused)
{
	char line[600];

	snprintf(line, sizeof(line), "set %095d %0255d", 0, 0);
	ASSERT_PARSED(line, TRIAD_COMMAND_SET);
	snprintf(line, sizeof(line), "set %096d 1", 0);
	ASSERT_REFUSED(line, "set KEY 96 95");
	snprintf(line, sizeof(line), "set a %0256d", 0);
	ASSERT_REFUSED(line, "set VALUE 256 255");
}
END_TEST

START_TEST(test_parse_message_not_driving_terminal)
{
	const char *words[] = {"status", "\x1b[2J\nx\xff"};

	ck_assert_int_eq(
		triad_command_parse(2, words, &command, message, sizeof(message)),
		EINVAL);
	assert_mentions(message, "status '?[2J?x?' many");
}
END_TEST

START_TEST(test_parse_message_cut_to_room)
{
	const char *words[] = {"nonsense"};
	char small[8] = "#######";

	ck_assert_int_eq(triad_command_parse(1, words, &command, small, 5), EINVAL);
	ck_assert_str_eq(small, "unkn");
	ck_assert(small[5] == '#');
}
END_TEST

START_TEST(test_parse_help_topics_known)
{
	ASSERT_PARSED("help", TRIAD_COMMAND_HELP);
	ck_assert_str_eq(command.topic, "");
	ASSERT_PARSED("help perf show", TRIAD_COMMAND_HELP);
	ck_assert_str_eq(command.topic, "perf show");
	ASSERT_PARSED("help perf", TRIAD_COMMAND_HELP);
	ck_assert_str_eq(command.topic, "perf");
	ASSERT_PARSED("help help", TRIAD_COMMAND_HELP);
	ck_assert_str_eq(command.topic, "help");
	ASSERT_REFUSED("help statsu", "unknown 'statsu' 'status'");
	ASSERT_REFUSED("help xyz", "unknown 'xyz' 'help'");
}
END_TEST

START_TEST(test_parse_help_option_wins_anywhere)
{
	ASSERT_PARSED("--help", TRIAD_COMMAND_HELP);
	ck_assert_str_eq(command.topic, "");
	ASSERT_PARSED("perf -h", TRIAD_COMMAND_HELP);
	ck_assert_str_eq(command.topic, "perf");
	ASSERT_PARSED("perf top --bogus --by --help", TRIAD_COMMAND_HELP);
	ck_assert_str_eq(command.topic, "perf top");
	ASSERT_PARSED("set --help", TRIAD_COMMAND_HELP);
	ck_assert_str_eq(command.topic, "set");
	ASSERT_PARSED("status too many words -h", TRIAD_COMMAND_HELP);
	ck_assert_str_eq(command.topic, "status");
	ASSERT_REFUSED("statsu --help", "unknown 'statsu' 'status'");
}
END_TEST

static const char *const names[] = {"status", "nodes", "perf show", "perf top",
	"perf sweep", "get", "config diff", "set", "reload", "version", "help"};

#define N_NAMES (sizeof(names) / sizeof(names[0]))

START_TEST(test_help_overview_has_every_command)
{
	char line[64];

	ck_assert_int_eq(triad_command_help("", "triad", help, sizeof(help)), 0);
	for (size_t i = 0; i < N_NAMES; i++) {
		snprintf(line, sizeof(line), "\n  %s", names[i]);
		ck_assert_msg(strstr(help, line) != NULL, "%s", names[i]);
	}
	ck_assert_ptr_nonnull(strstr(help, "Usage: triad COMMAND"));
	ck_assert_ptr_null(strstr(help, "triadctl"));
	ck_assert_ptr_null(strstr(help, "--color"));
	ck_assert_int_eq(help[strlen(help) - 1], '\n');
}
END_TEST

START_TEST(test_help_one_command_alone)
{
	char line[64];

	for (size_t i = 0; i < N_NAMES; i++) {
		ck_assert_int_eq(
			triad_command_help(names[i], "triadctl", help, sizeof(help)),
			0);
		snprintf(line, sizeof(line), "Usage: triadctl %s", names[i]);
		ck_assert(!strncmp(help, line, strlen(line)));
		ck_assert_ptr_null(strstr(help + 1, "Usage"));
		ck_assert_ptr_null(strstr(help, "--color"));
		ck_assert_int_eq(help[strlen(help) - 1], '\n');
	}
}
END_TEST

static void assert_help_has(const char *topic, const char *program, const char *part)
{
	ck_assert_int_eq(triad_command_help(topic, program, help, sizeof(help)), 0);
	ck_assert_msg(strstr(help, part) != NULL, "'%s' is not in:\n%s", part, help);
}

START_TEST(test_help_text_laid_out)
{
	assert_help_has("status", "triad",
		"Usage: triad status [--all] [--at TIME] [--watch] [--interval S] "
		"[--json]\n\n");
	assert_help_has("status", "triad", "\n  --all                       ");
	assert_help_has("status", "triad", "\n  --at TIME                   ");
	assert_help_has("status", "triad", "\n                              ");
	assert_help_has("status", "triad", " history.dir\n");
	assert_help_has("status", "triad", "1 to 3600 [2]\n  --json");
	assert_help_has("set", "triadctl", "Usage: triadctl set KEY VALUE\n\n");
	assert_help_has("set", "triadctl", "'reload'");
	assert_help_has("set", "triadctl", "control.admin_group");
	assert_help_has("port blacklist", "triad", "[add|remove GUID]: for root, ");
	assert_help_has("", "triadctl", "\n  help [COMMAND]\n      ");
	assert_help_has("", "triadctl", " --watch [--interval S]");
	assert_help_has("", "triadctl", " --columns A,B,..., --sort [-]COLUMN, ");
	assert_help_has("", "triadctl", "\n'triadctl help COMMAND' ");
	assert_help_has("", "triadctl",
		"\n  perf top [--by COUNTER] [-n N] [--at TIME] [--json]\n      ");
}
END_TEST

START_TEST(test_help_group_has_all_of_it)
{
	ck_assert_int_eq(triad_command_help("perf", "triad", help, sizeof(help)), 0);
	ck_assert_ptr_nonnull(strstr(help,
		"Usage: triad perf show [--node NODE] "
		"[--port N] [--type ca|switch|router|all]\n"
		"    [--errors] [--at TIME] "
		"[--watch] [--interval S] [--columns A,B,...]\n    "
		"[--sort [-]COLUMN] [--no-headings] [--raw] [--json]\n"));
	ck_assert_ptr_nonnull(strstr(help,
		"Usage: triad perf top [--by COUNTER] [-n N] [--at TIME] "
		"[--watch] [--interval S]\n    [--columns A,B,...] "
		"[--sort [-]COLUMN] [--no-headings] [--raw] [--json]\n"));
	ck_assert_ptr_nonnull(strstr(help, "Usage: triad perf sweep [--json]\n"));
	ck_assert_ptr_null(strstr(help, "reload"));
	ck_assert_uint_lt(strlen(help), sizeof(help) - 1);
}
END_TEST

static void assert_help_fits_a_terminal(const char *topic)
{
	ck_assert_int_eq(triad_command_help(topic, "triadctl", help, sizeof(help)), 0);
	for (const char *line = help; *line; line += strcspn(line, "\n") + 1)
		ck_assert_msg(strcspn(line, "\n") <= 80, "'%s': %.*s", topic,
			(int)strcspn(line, "\n"), line);
}

START_TEST(test_help_fits_a_terminal)
{
	struct triad_verb_table table = triad_command_verbs;

	assert_help_fits_a_terminal("");
	for (size_t i = 0; i < table.n_verbs; i++)
		assert_help_fits_a_terminal(table.verbs[i].name);
}
END_TEST

START_TEST(test_help_unknown_topic_reported)
{
	ck_assert_int_eq(
		triad_command_help("per", "triad", help, sizeof(help)), ENOENT);
	ck_assert_int_eq(
		triad_command_help("perf ", "triad", help, sizeof(help)), ENOENT);
	ck_assert_int_eq(
		triad_command_help("statusx", "triad", help, sizeof(help)), ENOENT);
}
END_TEST

START_TEST(test_help_top_lists_every_counter)
{
	char line[64];

	ck_assert_int_eq(
		triad_command_help("perf top", "triad", help, sizeof(help)), 0);
	for (int i = 0; i < TRIAD_N_COUNTERS; i++) {
		snprintf(line, sizeof(line), "\n  %s\n", triad_counters[i].name);
		ck_assert_msg(strstr(help, line) != NULL, "%s", triad_counters[i].name);
	}
}
END_TEST

/* The defaults that help gives in brackets must be those of the parser. */
START_TEST(test_help_defaults_are_the_parsers)
{
	char limit[16], interval[16], by[64];

	ASSERT_PARSED("perf top", TRIAD_COMMAND_PERF_TOP);
	snprintf(limit, sizeof(limit), "65535 [%u]\n", command.limit);
	snprintf(interval, sizeof(interval), "3600 [%u]\n", command.interval_s);
	snprintf(by, sizeof(by), "[%s]\n", triad_counters[command.by].name);
	ck_assert_int_eq(
		triad_command_help("perf top", "triad", help, sizeof(help)), 0);
	ck_assert_ptr_nonnull(strstr(help, limit));
	ck_assert_ptr_nonnull(strstr(help, interval));
	ck_assert_ptr_nonnull(strstr(help, by));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("command");

	tcase_add_test(cases, test_parse_each_command_known);
	tcase_add_test(cases, test_parse_no_options_gives_defaults);
	tcase_add_test(cases, test_parse_all_options_stored);
	tcase_add_test(cases, test_parse_value_in_same_word_taken);
	tcase_add_test(cases, test_parse_types_in_order_of_enum);
	tcase_add_test(cases, test_parse_every_counter_known);
	tcase_add_test(cases, test_parse_set_words_kept);
	tcase_add_test(cases, test_parse_set_equals_sign_as_in_the_file);
	tcase_add_test(cases, test_parse_port_words_stored);
	tcase_add_test(cases, test_parse_clear);
	tcase_add_test(cases, test_parse_port_bad_words_refused);
	tcase_add_test(cases, test_parse_moment_read_and_refused_where_no_past_is_kept);
	tcase_add_test(cases, test_parse_commands_classed);
	tcase_add_test(cases, test_parse_repair_says_which);
	tcase_add_test(cases, test_parse_number_limits_taken);
	tcase_add_test(cases, test_parse_since_is_a_time_or_a_length);
	tcase_add_test(cases, test_parse_numbers_out_of_range_refused);
	tcase_add_test(cases, test_parse_bad_choices_refused);
	tcase_add_test(cases, test_parse_bad_nodes_refused);
	tcase_add_test(cases, test_parse_missing_value_reported);
	tcase_add_test(cases, test_parse_unknown_option_guessed);
	tcase_add_test(cases, test_parse_interval_without_watch_refused);
	tcase_add_test(cases, test_parse_layout_of_tables);
	tcase_add_test(cases, test_parse_watch_of_all_that_read);
	tcase_add_test(cases, test_parse_unknown_command_guessed);
	tcase_add_test(cases, test_parse_unfinished_command_lists_its_topic);
	tcase_add_test(cases, test_parse_nodes_get_and_others);
	tcase_add_test(cases, test_parse_port_of_a_switch);
	tcase_add_test(cases, test_parse_interval_with_a_unit);
	tcase_add_test(cases, test_parse_silences);
	tcase_add_test(cases, test_parse_number_of_words_checked);
	tcase_add_test(cases, test_parse_set_words_too_long_refused);
	tcase_add_test(cases, test_parse_message_not_driving_terminal);
	tcase_add_test(cases, test_parse_message_cut_to_room);
	tcase_add_test(cases, test_parse_help_topics_known);
	tcase_add_test(cases, test_parse_help_option_wins_anywhere);
	tcase_add_test(cases, test_help_overview_has_every_command);
	tcase_add_test(cases, test_help_one_command_alone);
	tcase_add_test(cases, test_help_text_laid_out);
	tcase_add_test(cases, test_help_group_has_all_of_it);
	tcase_add_test(cases, test_help_fits_a_terminal);
	tcase_add_test(cases, test_help_unknown_topic_reported);
	tcase_add_test(cases, test_help_top_lists_every_counter);
	tcase_add_test(cases, test_help_defaults_are_the_parsers);
	return run_cases(cases);
}
