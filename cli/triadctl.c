/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* triadctl: parses the command, finds the plugin, asks it, shows its answer. */
#include "config.h"

#include <getopt.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/bundle_command.h"
#include "cli/cabling_command.h"
#include "cli/client.h"
#include "cli/complete.h"
#include "cli/config_check.h"
#include "cli/election_command.h"
#include "cli/find.h"
#include "cli/port_command.h"
#include "cli/profile_command.h"
#include "cli/qos_command.h"
#include "cli/screen.h"
#include "cli/setup_command.h"
#include "cli/slurm_job.h"
#include "cli/what_if_command.h"
#include "command/versions.h"
#include "lib/quantity.h"
#include "lib/text.h"
#include "triad/command.h"
#include "triad/control.h"
#include "triad/output.h"
#include "triad/severity.h"

#define DEFAULT_TIMEOUT_S 30
#define MAX_TIMEOUT_S 3600

#define SLURM_S 30 /* squeue waits long for a controller that is busy */

/* Short: a stuck plugin must not stop the external check. */
#define VERDICT_TIMEOUT_S 2

/* The tables of commands: the plugin's, then those that triadctl runs itself. */
enum {
	PLUGIN,
	BUNDLE,
	CABLING,
	CONFIG,
	ELECTION,
	PORT,
	PROFILE,
	QOS,
	SETUP,
	WHAT_IF,
	COMPLETION,
	N_TABLES
};

/* Returned by steps to go on; other values are the program's exit status. */
#define GO_ON (-1)

struct options {
	const char *socket; /* NULL: search for it */
	uint64_t port_guid; /* 0: not given */
	bool is_agent;      /* asks triad-agent, not OpenSM */
	unsigned timeout_s;
	enum triad_screen_color color;
};

static const char before_command[] =
	"\n"
	"Before the command:\n"
	"  --socket PATH       the control socket to ask (or TRIAD_SOCKET in the\n"
	"                      environment)\n"
	"  --port-guid GUID    ask the OpenSM on this port, if several run\n"
	"  --agent             ask triad-agent instead of the plugin in OpenSM\n"
	"  --timeout S         give up after S seconds without an answer [30]\n"
	"  --color WHEN        always, never, or auto: on a terminal, unless NO_COLOR\n"
	"                      is set [auto]\n"
	"  --version           show the version\n"
	"  --help              show this\n";

/* --- the command line -------------------------------------------------- */

static int complain_of_usage(const char *message)
{
	fprintf(stderr, "triadctl: %s\n", message);
	return TRIAD_CONTROL_USAGE;
}

/* The same for 'health': for monitoring, an exit status of 2 would be CRITICAL. */
static int complain_unknown(const char *message)
{
	(void)complain_of_usage(message);
	return TRIAD_UNKNOWN;
}

static void list_tables(struct triad_verb_table tables[N_TABLES])
{
	tables[PLUGIN] = triad_command_verbs;
	tables[BUNDLE] = triad_bundle_verbs;
	tables[CABLING] = triad_cabling_verbs;
	tables[CONFIG] = triad_config_verbs;
	tables[ELECTION] = triad_election_verbs;
	tables[PORT] = triad_port_verbs;
	tables[PROFILE] = triad_profile_verbs;
	tables[QOS] = triad_qos_verbs;
	tables[SETUP] = triad_setup_verbs;
	tables[WHAT_IF] = triad_what_if_verbs;
	tables[COMPLETION] = triad_completion_verbs;
}

static int show_help(const char *topic)
{
	struct triad_verb_table tables[N_TABLES];
	char text[TRIAD_COMMAND_HELP_SIZE];

	list_tables(tables);
	if (triad_verb_tables_help(
		    tables, N_TABLES, topic, "triadctl", text, sizeof(text)))
		return complain_of_usage("no help on that");
	fputs(text, stdout);
	if (!*topic)
		fputs(before_command, stdout);
	return triad_screen_finish();
}

static int parse_color(struct options *options, const char *word)
{
	for (unsigned i = 0; triad_color_words[i]; i++) {
		if (strcmp(word, triad_color_words[i]) != 0)
			continue;
		options->color = i;
		return GO_ON;
	}
	return complain_of_usage("--color: allowed are auto, always and never");
}

static int parse_option(struct options *options, int letter)
{
	switch (letter) {
	case 'c':
		return parse_color(options, optarg);
	case 's':
		options->socket = optarg;
		return GO_ON;
	case 'g':
		if (triad_text_guid(optarg, &options->port_guid))
			return GO_ON;
		return complain_of_usage(
			"--port-guid: a GUID is 0x and 1 to 16 hexadecimal "
			"digits, not all 0");
	case 'a':
		options->is_agent = true;
		return GO_ON;
	case 't':
		if (!triad_quantity_parse(optarg, "s", &options->timeout_s) &&
			options->timeout_s && options->timeout_s <= MAX_TIMEOUT_S)
			return GO_ON;
		return complain_of_usage(
			"--timeout: allowed are whole seconds, 1 to 3600");
	case 'v':
		puts("triadctl " PACKAGE_VERSION);
		return triad_screen_finish();
	case 'h':
		return show_help("");
	default:
		return complain_of_usage("'triadctl --help' lists the options");
	}
}

/* Options before the command. */
static const struct option known_options[] = {
	{"socket", required_argument, NULL, 's'},
	{"port-guid", required_argument, NULL, 'g'},
	{"agent", no_argument, NULL, 'a'},
	{"timeout", required_argument, NULL, 't'},
	{"color", required_argument, NULL, 'c'},
	{"version", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* Reads the options before the command; leaves 'optind' at its first word. */
static int parse_options(struct options *options, int argc, char **argv)
{
	static char name[] = "triadctl"; /* getopt_long() puts it before messages */
	int letter, status = GO_ON;

	if (argc)
		argv[0] = name;
	while (status == GO_ON &&
		(letter = getopt_long(argc, argv, "+h", known_options, NULL)) != -1)
		status = parse_option(options, letter);
	if (status == GO_ON && options->socket && options->port_guid)
		return complain_of_usage("--socket and --port-guid exclude each other");
	return status;
}

/* For 'set KEY -' reads the value from standard input: a password must not be a word,
 * which the list of processes shows. */
static int read_value(int n_words, char **words)
{
	/* Static, because it becomes one of main()'s words. */
	static char value[TRIAD_CONTROL_REQUEST_SIZE];
	size_t length;

	if (n_words < 3 || n_words > 4 || strcmp(words[0], "set") != 0 ||
		strcmp(words[n_words - 1], "-") != 0 ||
		(n_words == 4 && strcmp(words[2], "=") != 0))
		return GO_ON;
	if (!fgets(value, sizeof(value), stdin))
		return complain_of_usage(
			"set: standard input has no line to take as the value");
	length = strcspn(value, "\n");
	if (!value[length] && !feof(stdin))
		return complain_of_usage("set: the value is too long");
	value[length] = '\0';
	words[n_words - 1] = value;
	return GO_ON;
}

/* --- the socket -------------------------------------------------------- */

/* Finds the socket: by the command line, else the environment, which names an OpenSM,
 * else by a search. */
static int find_socket_or_print(const struct options *options, char *path, size_t size,
	char *message, size_t message_size)
{
	const char *set = options->is_agent ? NULL : getenv("TRIAD_SOCKET");
	const char *named = options->socket ? options->socket : set;

	if (options->port_guid)
		snprintf(path, size, "%s/%s0x%016" PRIx64 ".sock", TRIAD_RUNSTATEDIR,
			options->is_agent ? TRIAD_SOCKET_OF_AGENT : "",
			options->port_guid);
	else if (named && *named)
		snprintf(path, size, "%s", named);
	else if (triad_socket_find(TRIAD_RUNSTATEDIR, ".sock", options->is_agent, path,
			 size, message, message_size))
		return TRIAD_CONTROL_FAILED;
	return GO_ON;
}

static int find_socket(const struct options *options, char *path, size_t size)
{
	char message[2048];
	int status =
		find_socket_or_print(options, path, size, message, sizeof(message));

	if (status != GO_ON)
		complain_of_usage(message);
	return status;
}

/* --- the plugin's commands --------------------------------------------- */

static int run_command(const struct options *options,
	const struct triad_command *command, int n_words, char **words)
{
	char path[4096];
	const struct triad_ask ask = {.path = path,
		.is_agent = options->is_agent,
		.timeout_s = options->timeout_s,
		.color = options->color,
		.no_answer = triad_verb_no_answer(triad_verb_of(command->verb))};

	return find_socket(options, path, sizeof(path)) == GO_ON
		? triad_ask(&ask, command, n_words, words)
		: ask.no_answer;
}

/* Runs 'health'.  Messages go to standard output: the first line of a monitoring plugin
 * there must say why it knows nothing. */
static int run_monitoring(const struct options *options,
	const struct triad_command *command, int n_words, char **words)
{
	int messages = memfd_create("messages", MFD_CLOEXEC), status;
	int errors = dup(STDERR_FILENO);
	char text[1024];
	ssize_t n;

	if (messages < 0 || errors < 0 || dup2(messages, STDERR_FILENO) < 0)
		return complain_unknown("no file descriptors are left");
	status = run_command(options, command, n_words, words);
	fflush(stderr);
	n = pread(messages, text, sizeof(text) - 1, 0);
	dup2(errors, STDERR_FILENO);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (status == TRIAD_UNKNOWN && *text)
		printf("TRIAD UNKNOWN - %s\n", text);
	close(errors);
	close(messages);
	return status;
}

/* --- version --- */

/* Runs 'version'.  The answer has both versions.  Without an answer, as before OpenSM
 * is started, prints ours; that is not a failure. */
static int run_version(const struct options *options,
	const struct triad_command *command, int n_words, char **words)
{
	static char option[] = "--client=" PACKAGE_VERSION;
	const struct triad_versions ours = {.client = PACKAGE_VERSION};
	char *asked[TRIAD_CONTROL_MAX_WORDS + 1];
	struct triad_output output;

	if (n_words >= TRIAD_CONTROL_MAX_WORDS)
		return complain_of_usage("the command is too long");
	memcpy(asked, words, (size_t)n_words * sizeof(*asked));
	asked[n_words] = option;
	if (run_command(options, command, n_words + 1, asked) == TRIAD_CONTROL_DONE)
		return TRIAD_CONTROL_DONE;
	triad_output_init(&output, triad_screen_write_frame, NULL);
	triad_versions_put(&ours, command->json, &output);
	triad_output_flush(&output);
	return triad_screen_finish();
}

/* --- jobs --- */

/* Asks Slurm here for the job's hosts, and sends these to the plugin. */
static int run_slurm_job(const struct options *options, struct triad_command *command,
	int n_words, char **words)
{
	const struct triad_slurm_asking asking = {.limit_s = SLURM_S};
	const char *asked[TRIAD_CONTROL_MAX_WORDS + 1];
	struct triad_slurm_job job = {0};

	if (n_words >= TRIAD_CONTROL_MAX_WORDS)
		return complain_of_usage("the command is too long");
	if (!triad_slurm_job_is_set(command->slurm_job))
		return complain_of_usage(
			"--slurm needs a job's number, 1 to 4294967295 without zeros "
			"before it, or a set, as squeue takes it: 12,13_4,15_[1-3],16+1");
	memcpy(job.id, command->slurm_job, sizeof(job.id));
	if (!triad_slurm_job_ask(&asking, &job)) {
		complain_of_usage(job.why);
		return TRIAD_CONTROL_FAILED;
	}
	if (job.is_over)
		fprintf(stderr,
			"triadctl: job %s is over (%s): these were its hosts, which "
			"other jobs may use now\n",
			job.id, job.state);
	memcpy(command->hosts, job.hosts, sizeof(command->hosts));
	n_words = triad_slurm_job_words(
		n_words, (const char *const *)words, command->hosts, asked);
	return run_command(options, command, n_words, (char **)asked);
}

/* --- commands that need no plugin --- */

static int run_profile(const struct options *options, struct triad_parser *parser)
{
	struct triad_profile_command command;

	(void)options;
	if (triad_profile_command_read(parser, &command))
		return complain_of_usage(parser->message);
	return command.verb == TRIAD_PROFILE_MERGE ? triad_profile_merge(&command)
						   : triad_profile_report(&command);
}

static int run_bundle(const struct options *options, struct triad_parser *parser)
{
	struct triad_bundle_command command;
	char path[4096] = "", message[2048];
	const struct triad_bundle_asker asker = {.path = path,
		.timeout_s = options->timeout_s,
		.is_agent = options->is_agent};

	if (triad_bundle_command_read(parser, &command))
		return complain_of_usage(parser->message);
	/* Files can be had without an SM, too, and a bundle be looked at far from one. */
	if (find_socket_or_print(
		    options, path, sizeof(path), message, sizeof(message)) != GO_ON)
		path[0] = '\0';
	if (command.verb == TRIAD_BUNDLE_CHECK)
		return triad_bundle_check(&command, &asker);
	if (!*path)
		complain_of_usage(message);
	return triad_bundle_make(&command, &asker);
}

static int run_cabling(const struct options *options, struct triad_parser *parser)
{
	struct triad_cabling_command command;
	char path[4096];
	const struct triad_cabling_asker asker = {.path = path,
		.timeout_s = options->timeout_s,
		.is_agent = options->is_agent,
		.color = options->color};

	if (triad_cabling_command_read(parser, &command))
		return complain_of_usage(parser->message);
	if (!command.fabric && find_socket(options, path, sizeof(path)) != GO_ON)
		return TRIAD_CONTROL_UNKNOWN;
	return triad_cabling_check(&command, &asker);
}

static int run_qos(const struct options *options, struct triad_parser *parser)
{
	struct triad_qos_command command;

	(void)options;
	if (triad_qos_command_read(parser, &command))
		return complain_of_usage(parser->message);
	return triad_qos_check(&command);
}

static int run_port(const struct options *options, struct triad_parser *parser)
{
	struct triad_port_command command;

	(void)options;
	if (triad_port_command_read(parser, &command))
		return complain_of_usage(parser->message);
	return command.verb == TRIAD_PORT_CHECK ? triad_port_check(&command)
						: triad_port_snapshot(&command);
}

/* Shows only the errors of the answer to a reported verdict. */
static int show_verdict_errors(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	const bool *is_loud = context;

	if (*is_loud && type == TRIAD_FRAME_MESSAGE)
		fwrite(piece, 1, size, stderr);
	return 0;
}

/* Reports a verdict.  Searches for the socket each time: OpenSM may restart. */
static bool report_verdict(void *context, bool is_yes, bool is_loud)
{
	const char *const words[] = {"port", "verdict", is_yes ? "yes" : "no"};
	const struct options *options = context;
	char path[4096], message[2048], request[TRIAD_CONTROL_REQUEST_SIZE];
	size_t size = triad_request_encode(request, sizeof(request), 3, words);
	const struct triad_client_sink sink = {show_verdict_errors, &is_loud};
	const struct triad_client client = {.path = path,
		.program = "triadctl",
		.may = TRIAD_CLIENT_MAY,
		.timeout_s = VERDICT_TIMEOUT_S,
		.sink = &sink,
		.hides_progress = true};
	int status = find_socket_or_print(
		options, path, sizeof(path), message, sizeof(message));

	if (status == GO_ON)
		return !triad_client_ask(&client, request, size);
	if (is_loud)
		complain_of_usage(message);
	return false;
}

static int run_election(const struct options *options, struct triad_parser *parser)
{
	const struct triad_election_reporter reporter = {
		.report = report_verdict, .context = (void *)options};
	struct triad_election_command command;

	if (triad_election_command_read(parser, &command))
		return complain_of_usage(parser->message);
	return triad_election_check(&command, &reporter);
}

/* --- config, setup, what-if --- */

static int run_config(const struct options *options, struct triad_parser *parser)
{
	const char *file;
	int status;

	(void)options;
	if (triad_config_check_read(parser, &file))
		return complain_of_usage(parser->message);
	status = triad_config_check(file);
	return status == TRIAD_CONTROL_DONE ? triad_screen_finish() : status;
}

static int run_setup(const struct options *options, struct triad_parser *parser)
{
	(void)options;
	return triad_setup_exec(parser->words, parser->n_words);
}

static int run_what_if(const struct options *options, struct triad_parser *parser)
{
	char path[4096], message[2048];
	/* Without one, a bundle or file may be asked about. */
	bool is_found = find_socket_or_print(options, path, sizeof(path), message,
				sizeof(message)) == GO_ON;

	return triad_what_if_exec(
		is_found ? path : NULL, parser->words, parser->n_words);
}

/* --- completion --- */

static int run_completion(const struct options *options, struct triad_parser *parser)
{
	(void)options;
	return triad_completion_print(parser) ? complain_of_usage(parser->message)
					      : triad_screen_finish();
}

/* Finds the socket to ask for nodes, by the options in the line to complete. */
static bool find_node_socket(int argc, char **argv, char *path, size_t size)
{
	struct options options = {.timeout_s = 1};
	char message[2048];
	int letter;

	/* A completion must not print errors. */
	opterr = 0;
	optind = 0;
	while ((letter = getopt_long(argc, argv, "+h", known_options, NULL)) != -1) {
		if (letter == 's')
			options.socket = optarg;
		else if (letter == 'a')
			options.is_agent = true;
		else if (letter == 'g' && !triad_text_guid(optarg, &options.port_guid))
			return false;
	}
	return find_socket_or_print(&options, path, size, message, sizeof(message)) ==
		GO_ON;
}

static int complete_words(int n_words, char **words)
{
	struct triad_verb_table tables[N_TABLES];
	const struct triad_complete complete = {.tables = tables,
		.n_tables = N_TABLES,
		.options = known_options,
		.find_socket = find_node_socket};

	list_tables(tables);
	triad_complete(&complete, n_words, words);
	return triad_screen_finish();
}

/* --- any command --- */

static int (*const run_local[N_TABLES])(
	const struct options *options, struct triad_parser *parser) = {
	[BUNDLE] = run_bundle,
	[CABLING] = run_cabling,
	[CONFIG] = run_config,
	[ELECTION] = run_election,
	[PORT] = run_port,
	[PROFILE] = run_profile,
	[QOS] = run_qos,
	[SETUP] = run_setup,
	[WHAT_IF] = run_what_if,
	[COMPLETION] = run_completion,
};

/* Prints the parser's message, for 'health' as unknown.  By the first word: the parser
 * may have dropped the command. */
static int complain_about(const char *first_word, const char *message)
{
	return strcmp(first_word, "health") ? complain_of_usage(message)
					    : complain_unknown(message);
}

static int run_words(const struct options *options, int n_words, char **words)
{
	struct triad_verb_table tables[N_TABLES];
	char message[2048];
	struct triad_command command;
	struct triad_parser parser = {
		.tables = tables,
		.n_tables = N_TABLES,
		.words = (const char *const *)words,
		.n_words = n_words,
		.message = message,
		.size = sizeof(message),
	};
	int status = read_value(n_words, words);

	if (status != GO_ON)
		return status;
	/* The command of the shells' scripts (cli/complete.h). */
	if (n_words > 1 && !strcmp(words[0], "complete") && !strcmp(words[1], "--"))
		return complete_words(n_words - 2, words + 2);
	list_tables(tables);
	if (triad_parser_read_verb(&parser))
		return complain_about(words[0], message);
	if (!parser.verb)
		return show_help(parser.topic);
	/* Both triadctl and the plugin have a command 'port snapshot'. */
	triad_port_claim_snapshot(&parser);
	if (parser.table != &tables[PLUGIN])
		return run_local[parser.table - tables](options, &parser);
	if (triad_command_read(&parser, &command))
		return complain_about(words[0], message);
	if (command.verb == TRIAD_COMMAND_VERSION)
		return run_version(options, &command, n_words, words);
	if (command.verb == TRIAD_COMMAND_JOB && command.slurm_job[0])
		return run_slurm_job(options, &command, n_words, words);
	return command.plugin ? run_monitoring(options, &command, n_words, words)
			      : run_command(options, &command, n_words, words);
}

int main(int argc, char **argv)
{
	struct options options = {.timeout_s = DEFAULT_TIMEOUT_S};
	int status;

	/* Names of nodes are UTF-8 in any user's language; their widths must be right,
	 * and they are written unchanged. */
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		setlocale(LC_CTYPE, "");
	/* A closed output then shows as an error of write(). */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL); /* an ignored one is inherited */
	status = parse_options(&options, argc, argv);
	/* A wrong option may stand before the command. */
	for (int i = optind; status == TRIAD_CONTROL_USAGE && i < argc; i++)
		if (!strcmp(argv[i], "health"))
			status = TRIAD_UNKNOWN;
	if (status != GO_ON)
		return status;
	if (optind == argc)
		return complain_of_usage(
			"a command is missing; 'triadctl --help' lists them");
	return run_words(&options, argc - optind, argv + optind);
}
