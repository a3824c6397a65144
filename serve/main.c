/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

/* triadd: reads its command line, finds the socket to ask, waits for signals. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/log.h"
#include "cli/find.h"
#include "lib/text.h"
#include "service/outside.h"
#include "serve/outlet.h"

#define NAME "triadd"

enum { DONE = 0, FAILED = 1, USAGE = 2 };

/* Returned by steps to go on; other values are the program's exit status. */
#define GO_ON (-1)

struct options {
	const char *socket; /* NULL: the one that is there */
	const char *log;    /* NULL: standard error */
	uint64_t port_guid; /* 0: not chosen */
	bool is_agent;
};

static const char help[] =
	"Usage: " NAME " [--agent] [--port-guid GUID | --socket PATH] [--log FILE]\n"
	"\n"
	"Serves what the Triad plugin in OpenSM (or triad-agent) knows: metrics for\n"
	"Prometheus, the web page and the REST interface.  Sends alerts to Alertmanager,\n"
	"and keeps profile files and images of the fabric.  [prometheus], [web], [alerts],\n"
	"[profile] and [history] in triad.conf configure it.  It needs no root rights and\n"
	"no access to the fabric, and changes nothing there.\n"
	"\n"
	"  --agent           ask triad-agent instead of the plugin in OpenSM\n"
	"  --port-guid GUID  ask the one on this port, if several run\n"
	"  --socket PATH     the socket to ask ['PORT-GUID.triadd' in\n"
	"                    " TRIAD_RUNSTATEDIR "]\n"
	"  --log FILE        file for the log [standard error]\n"
	"  --version         show the version\n"
	"  --help            show this\n"
	"\n"
	"SIGTERM and SIGINT end triadd.\n"
	"\n"
	"Exit status: 0 ended by a signal, 1 no memory, 2 mistake in the command line.\n";

/* --- the command line --- */

static int complain(const char *message)
{
	fprintf(stderr, NAME ": %s\n", message);
	return USAGE;
}

static int show(const char *text)
{
	return fputs(text, stdout) < 0 || fflush(stdout) ? FAILED : DONE;
}

static int parse_option(struct options *options, int letter)
{
	switch (letter) {
	case 'a':
		options->is_agent = true;
		return GO_ON;
	case 's':
		options->socket = optarg;
		return GO_ON;
	case 'l':
		options->log = optarg;
		return GO_ON;
	case 'p':
		if (triad_text_guid(optarg, &options->port_guid))
			return GO_ON;
		return complain("--port-guid: a GUID is 0x and 1 to 16 hexadecimal "
				"digits, not all 0");
	case 'v':
		return show(NAME " " PACKAGE_VERSION "\n");
	case 'h':
		return show(help);
	default:
		return complain("'" NAME " --help' lists the options");
	}
}

static int parse_options(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{"agent", no_argument, NULL, 'a'},
		{"socket", required_argument, NULL, 's'},
		{"port-guid", required_argument, NULL, 'p'},
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
		return complain("it takes options alone; '" NAME " --help' lists them");
	if (status == GO_ON && options->socket && options->port_guid)
		return complain("--socket and --port-guid: choose one");
	return status;
}

/* --- life --- */

/* The socket to ask; false, with a message, when there is none yet, or several. */
static bool find_socket(const struct options *options, char *path, size_t size,
	char *message, size_t message_size)
{
	if (options->socket)
		snprintf(path, size, "%s", options->socket);
	else if (options->port_guid)
		snprintf(path, size, "%s/%s0x%016" PRIx64 TRIAD_OUTSIDE_ENDING,
			TRIAD_RUNSTATEDIR,
			options->is_agent ? TRIAD_SOCKET_OF_AGENT : "",
			options->port_guid);
	else
		return !triad_socket_find(TRIAD_RUNSTATEDIR, TRIAD_OUTSIDE_ENDING,
			options->is_agent, path, size, message, message_size);
	return true;
}

/* Waits a second for a signal; true when one asks for the end. */
static bool is_told_to_end(const sigset_t *signals, struct triad_log *log)
{
	static const struct timespec second = {.tv_sec = 1};
	int number = sigtimedwait(signals, NULL, &second);

	if (number != SIGTERM && number != SIGINT)
		return false;
	triad_log_write(log, TRIAD_LOG_INFO, "%s: it ends",
		number == SIGTERM ? "SIGTERM" : "SIGINT");
	return true;
}

/* '*is_log_free': no thread was left that may still use the log. */
static int serve(
	const struct options *options, struct triad_log *log, bool *is_log_free)
{
	char path[108], message[2048] = "", said[sizeof(message)] = "";
	struct triad_outlet *outlet = NULL;
	sigset_t signals;

	/* Before threads are started: they inherit the mask, so that only this thread
	 * gets signals. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	do {
		if (outlet)
			continue;
		if (find_socket(
			    options, path, sizeof(path), message, sizeof(message))) {
			outlet = triad_outlet_new(path, log);
			if (!outlet) {
				triad_log_write(log, TRIAD_LOG_ERROR,
					"memory or threads are short");
				return FAILED;
			}
		} else if (strcmp(said, message)) {
			triad_log_write(log, TRIAD_LOG_WARNING,
				"%s; a plugin of an earlier release, which serves by "
				"itself, has no such socket until OpenSM is restarted",
				message);
			memcpy(said, message, sizeof(said));
		}
	} while (!is_told_to_end(&signals, log));
	*is_log_free = triad_outlet_free(outlet);
	return DONE;
}

int main(int argc, char **argv)
{
	struct options options = {0};
	struct triad_agent_log *log;
	bool is_log_free = true;
	int error, status;

	status = parse_options(&options, argc, argv);
	if (status != GO_ON)
		return status;
	signal(SIGPIPE, SIG_IGN);
	/* An ignored one is inherited; then squeue's status could not be had. */
	signal(SIGCHLD, SIG_DFL);
	error = triad_agent_log_open(options.log, &log);
	if (error) {
		fprintf(stderr, NAME ": %s can't be opened: %s\n",
			options.log ? options.log : "standard error", strerror(error));
		return FAILED;
	}
	status = serve(&options, triad_agent_log(log), &is_log_free);
	if (is_log_free)
		triad_agent_log_close(log);
	return status;
}
