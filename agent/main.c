/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

/* triad-agent: reads its command line, finds its port, waits for signals. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/umad.h>

#include "agent/agent.h"
#include "agent/discovery.h"
#include "lib/text.h"
#include "service/local_port.h"

#define NAME "triad-agent"

enum { DONE = 0, FAILED = 1, USAGE = 2 };

/* Returned by steps to go on; other values are the program's exit status. */
#define GO_ON (-1)

struct options {
	const char *conf; /* NULL: the default one, if it exists */
	const char *log;  /* NULL: standard error */
	uint64_t port_guid;
};

static const char help[] =
	"Usage: " NAME " [--conf FILE] [--port GUID] [--log FILE]\n"
	"\n"
	"Reads the counters of all ports of an InfiniBand fabric, without OpenSM.\n"
	"Stays in the foreground.  'triadctl --agent' shows what it knows.\n"
	"\n"
	"  --conf FILE  configuration file [" TRIAD_SYSCONFDIR
	"/agent.conf, if there]\n"
	"  --port GUID  the port of this host to use [the first that is ACTIVE]\n"
	"  --log FILE   file for the log [standard error]\n"
	"  --version    show the version\n"
	"  --help       show this\n"
	"\n"
	"SIGHUP makes it read the configuration again; SIGTERM and SIGINT end it.\n"
	"\n"
	"Exit status: 0 ended by a signal, 1 no port or no memory, 2 mistakes in the\n"
	"configuration or in the command line.\n";

/* --- the command line --- */

static int complain_of_usage(const char *message)
{
	fprintf(stderr, NAME ": %s\n", message);
	return USAGE;
}

static int print_text(const char *text)
{
	return fputs(text, stdout) < 0 || fflush(stdout) ? FAILED : DONE;
}

static int parse_option(struct options *options, int letter)
{
	switch (letter) {
	case 'c':
		options->conf = optarg;
		return GO_ON;
	case 'l':
		options->log = optarg;
		return GO_ON;
	case 'p':
		if (triad_text_guid(optarg, &options->port_guid))
			return GO_ON;
		return complain_of_usage(
			"--port: a GUID is 0x and 1 to 16 hexadecimal digits, "
			"not all 0");
	case 'v':
		return print_text(NAME " " PACKAGE_VERSION "\n");
	case 'h':
		return print_text(help);
	default:
		return complain_of_usage("'" NAME " --help' lists the options");
	}
}

static int parse_options(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{"conf", required_argument, NULL, 'c'},
		{"port", required_argument, NULL, 'p'},
		{"log", required_argument, NULL, 'l'},
		{"version", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	static char name[] = NAME; /* getopt_long() puts it before messages */
	int letter, status = GO_ON;

	if (argc)
		argv[0] = name;
	while (status == GO_ON &&
		(letter = getopt_long(argc, argv, "h", known, NULL)) != -1)
		status = parse_option(options, letter);
	if (status == GO_ON && optind < argc)
		return complain_of_usage(
			"it takes options alone; '" NAME " --help' lists them");
	return status;
}

/* --- the port --- */

/* Finds which port to use.  Returns GO_ON, or FAILED with a line in the log. */
static int find_own_port(uint64_t *port_guid, struct triad_log *log)
{
	char ca_name[UMAD_CA_NAME_LEN], list[512];
	uint64_t first;
	int number;

	if (umad_init() < 0)
		list[0] = '\0';
	else if (*port_guid && triad_local_port_find(*port_guid, ca_name, &number))
		return GO_ON;
	else if ((first = triad_local_port_choose(list, sizeof(list))) && !*port_guid) {
		*port_guid = first;
		return GO_ON;
	}
	if (!list[0])
		triad_log_write(log, TRIAD_LOG_ERROR,
			"this host has no InfiniBand port: is the driver loaded, and "
			"ib_umad?");
	else if (*port_guid)
		triad_log_write(log, TRIAD_LOG_ERROR,
			"this host has no port 0x%016" PRIx64 "; it has: %s",
			*port_guid, list);
	else
		triad_log_write(log, TRIAD_LOG_ERROR,
			"no InfiniBand port of this host is ACTIVE: %s; connect one to a "
			"subnet with an SM, or choose one with --port",
			list);
	return FAILED;
}

/* --- life --- */

static void wait_for_the_end(struct triad_agent *agent, const sigset_t *signals)
{
	static const struct timespec second = {.tv_sec = 1};
	int number;

	while ((number = sigtimedwait(signals, NULL, &second)) != SIGTERM &&
		number != SIGINT) {
		if (number == SIGHUP)
			triad_agent_reload(agent);
		triad_agent_tick(agent);
	}
	triad_log_write(agent->service.log, TRIAD_LOG_INFO, "%s: it ends",
		number == SIGTERM ? "SIGTERM" : "SIGINT");
}

static int run_agent(struct options *options, struct triad_agent_log *log)
{
	struct triad_agent *agent;
	sigset_t signals;
	int error, status = find_own_port(&options->port_guid, triad_agent_log(log));

	if (status != GO_ON)
		return status;
	/* Before threads are started: they inherit the mask, so that only this thread
	 * gets signals. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	error = triad_agent_new(options->port_guid, options->conf, log, &agent);
	if (error)
		return error == EINVAL ? USAGE : FAILED;
	wait_for_the_end(agent, &signals);
	/* A stuck thread still needs the log; it ends with the process. */
	if (triad_agent_free(agent))
		triad_agent_log_close(log);
	return DONE;
}

/* Whether this is the process that discovers for an agent (agent/discovery.h). */
static bool is_discovery(int argc, char **argv, uint64_t *port_guid)
{
	return argc == 2 && !strcmp(argv[0], TRIAD_DISCOVERY_NAME) &&
		triad_text_guid(argv[1], port_guid);
}

int main(int argc, char **argv)
{
	struct options options = {0};
	struct triad_agent_log *log;
	int error, status;

	if (is_discovery(argc, argv, &options.port_guid))
		return triad_discovery_reply_write(options.port_guid, STDOUT_FILENO);
	status = parse_options(&options, argc, argv);
	if (status != GO_ON)
		return status;
	signal(SIGPIPE, SIG_IGN);
	/* An ignored SIGCHLD is inherited; then waitpid() for the discovering child
	 * would fail. */
	signal(SIGCHLD, SIG_DFL);
	error = triad_agent_log_open(options.log, &log);
	if (error) {
		fprintf(stderr, NAME ": %s can't be opened: %s\n",
			options.log ? options.log : "standard error", strerror(error));
		return FAILED;
	}
	return run_agent(&options, log);
}
