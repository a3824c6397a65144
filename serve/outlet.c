/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "serve/outlet.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "command/command_table.h"
#include "lib/line_cutter.h"
#include "lib/text.h"
#include "serve/alerts.h"
#include "serve/broker.h"
#include "serve/history/keeper.h"
#include "serve/link.h"
#include "serve/profile.h"
#include "serve/slurm.h"
#include "service/outside.h"
#include "service/served.h"
#include "service/web/metrics.h"
#include "service/web/web.h"
#include "triad/clock.h"
#include "triad/diag.h"
#include "triad/thread.h"

#define AGAIN_US TRIAD_US_PER_S
#define MEND_US (10 * TRIAD_US_PER_S)
/* How soon a change of what is reported is told. */
#define LOOK_US TRIAD_US_PER_S
#define CONF_SIZE 65536 /* some paths may be as long as they can */
#define LINE_SIZE 8192

struct triad_outlet {
	struct triad_link_to link;
	struct triad_log *log;
	struct triad_metrics_server *metrics;
	struct triad_web *web;
	struct triad_alert_sender *alerts;
	struct triad_keeper *keeper;
	struct triad_profile_keeper *profile;
	struct triad_broker *broker;
	struct triad_slurm *slurm;
	pthread_t follower, reporter;
	bool is_following, is_reporting;

	/* Of the follower alone: */
	struct triad_line_cutter cutter;
	char line[LINE_SIZE];
	char program[32];                  /* "OpenSM" */
	char conf[CONF_SIZE];              /* the lines of a configuration */
	char why[512];                     /* there is no link; the log has this */
	bool has_begun;                    /* 'changes' was answered, the last time */
	const struct triad_conf *in_force; /* NULL: none yet */
	uint64_t tried_us;                 /* to put it into force */

	char no_room
		[TRIAD_POOL_TROUBLE_SIZE]; /* of the reporter alone: the log has it */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	bool must_report;
	uint64_t port_guid, configured;
	struct triad_stream_state state;
	bool commands[TRIAD_N_COMMANDS]; /* that the process has */
};

/* --- commands --- */

/* Where the answer to a command goes. */
static int pass_on(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	struct triad_output *output = context;

	if (type == TRIAD_FRAME_MESSAGE)
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "%.*s", (int)size, piece);
	else if (type == TRIAD_FRAME_OUTPUT)
		triad_output_put(output, piece, size);
	return output->failed ? ECANCELED : 0;
}

/* The 'run' of struct triad_web_source. */
static int run(void *context, int n_words, const char *const *words,
	struct triad_output *output)
{
	const struct triad_client_sink sink = {.take = pass_on, .context = output};
	struct triad_outlet *outlet = context;
	const char *asked[TRIAD_CONTROL_MAX_WORDS + 1];
	char hosts[sizeof(((struct triad_command *)NULL)->hosts)];
	int status;

	n_words = triad_slurm_replace(
		outlet->slurm, n_words, words, hosts, sizeof(hosts), asked, output);
	if (n_words <= 0)
		return n_words ? TRIAD_POOL_BUSY : TRIAD_CONTROL_FAILED;
	status = triad_link_ask(
		&outlet->link, TRIAD_LINK_COMMAND_S, n_words, asked, &sink);
	output->lacks_object = status == TRIAD_CONTROL_NO_OBJECT;
	if (output->lacks_object)
		return TRIAD_CONTROL_FAILED;
	return status < 0 ? TRIAD_POOL_NO_ANSWER : status;
}

static bool has(void *context, enum triad_command_verb verb)
{
	struct triad_outlet *outlet = context;

	return TRIAD_LOCKED(&outlet->lock, outlet->commands[verb]);
}

static void look(void *context, struct triad_stream_state *state)
{
	struct triad_outlet *outlet = context;

	*state = TRIAD_LOCKED(&outlet->lock, outlet->state);
}

/* --- changes --- */

static void take_commands(struct triad_outlet *outlet, char *names)
{
	bool commands[TRIAD_N_COMMANDS] = {false};
	char *rest = names;

	for (char *name; (name = strtok_r(rest, ",", &rest));)
		for (unsigned i = 0; i < TRIAD_N_COMMANDS; i++) {
			const struct triad_verb *verb = &triad_verbs[i];

			if (verb->name && !strcmp(verb->name, name))
				commands[verb->verb] = true;
		}
	pthread_mutex_lock(&outlet->lock);
	memcpy(outlet->commands, commands, sizeof(commands));
	pthread_mutex_unlock(&outlet->lock);
}

static void take_numbers(struct triad_outlet *outlet, const char *text)
{
	uint64_t numbers[TRIAD_STREAM_N_EVENTS] = {0};
	char *end = (char *)text;
	bool has_swept, has_other_role;

	for (unsigned i = 0; i < TRIAD_STREAM_CONFIGURATION; i++)
		numbers[i] = strtoull(end, &end, 10);
	pthread_mutex_lock(&outlet->lock);
	numbers[TRIAD_STREAM_CONFIGURATION] = outlet->configured;
	has_swept = numbers[TRIAD_STREAM_SWEEP] !=
		outlet->state.numbers[TRIAD_STREAM_SWEEP];
	has_other_role =
		numbers[TRIAD_STREAM_ROLE] != outlet->state.numbers[TRIAD_STREAM_ROLE];
	memcpy(outlet->state.numbers, numbers, sizeof(numbers));
	pthread_mutex_unlock(&outlet->lock);
	if (has_swept)
		triad_profile_keeper_sweep(outlet->profile);
	if (has_swept || has_other_role)
		triad_keeper_note_sweep(outlet->keeper);
}

static void configure_all(struct triad_outlet *outlet)
{
	outlet->tried_us = triad_clock_now_us();
	triad_metrics_server_configure(outlet->metrics, outlet->in_force);
	triad_web_configure(outlet->web, outlet->in_force);
	triad_alert_sender_configure(outlet->alerts, outlet->in_force);
	triad_keeper_configure(
		outlet->keeper, outlet->in_force, outlet->program, outlet->port_guid);
	triad_profile_keeper_configure(outlet->profile, outlet->in_force);
	triad_slurm_configure(outlet->slurm, outlet->in_force->web.squeue);
	/* A manager is a plugin; it alone leaves the connection to triadd. */
	triad_broker_enable(outlet->broker,
		outlet->in_force->collect.mode == TRIAD_COLLECT_MANAGER);
}

/* Tries again what could not be put into force: an address that another had, a file that
 * was not there yet. */
static void mend(struct triad_outlet *outlet)
{
	if (outlet->in_force && triad_clock_now_us() >= outlet->tried_us + MEND_US &&
		(*triad_metrics_server_status(outlet->metrics).reason ||
			*triad_web_status(outlet->web).http.reason))
		configure_all(outlet);
}

/* What triadd does has changed. */
static void report_soon(void *context)
{
	struct triad_outlet *outlet = context;

	pthread_mutex_lock(&outlet->lock);
	outlet->must_report = true;
	pthread_cond_broadcast(&outlet->changed);
	pthread_mutex_unlock(&outlet->lock);
}

/* Puts the collected lines into force. */
static void put_in_force(struct triad_outlet *outlet, uint64_t number)
{
	struct triad_conf *conf = triad_conf_new(outlet->port_guid);
	char text[TRIAD_DIAG_TEXT_SIZE * 2 + 64];
	struct triad_diags diags;

	triad_diags_init(&diags, "changes");
	/* A process of a later release may have keys that this one lacks. */
	if (conf)
		(void)triad_conf_parse(outlet->conf, strlen(outlet->conf),
			outlet->port_guid, conf, &diags);
	for (size_t i = 0; i < diags.n; i++) {
		triad_diags_format(&diags, i, text, sizeof(text));
		triad_log_write(outlet->log, TRIAD_LOG_WARNING, "%s", text);
	}
	/* Who does not tell that section keeps its images itself. */
	if (conf && !strstr(outlet->conf, "[history]"))
		conf->history.dir[0] = '\0';
	outlet->conf[0] = '\0';
	if (!conf)
		return;
	triad_conf_unref(outlet->in_force);
	outlet->in_force = conf;
	configure_all(outlet);
	pthread_mutex_lock(&outlet->lock);
	outlet->configured = outlet->state.numbers[TRIAD_STREAM_CONFIGURATION] = number;
	pthread_mutex_unlock(&outlet->lock);
	report_soon(outlet);
}

/* If the line begins with the word, what follows that. */
static char *after(char *line, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(line, word, length) && line[length] == ' ' ? line + length + 1
								   : NULL;
}

static void take_line(struct triad_outlet *outlet, char *line)
{
	char *rest;

	if ((rest = after(line, "conf")))
		triad_text_append(outlet->conf, sizeof(outlet->conf), "%s\n", rest);
	else if ((rest = after(line, "configured")))
		put_in_force(outlet, strtoull(rest, NULL, 10));
	else if ((rest = after(line, "numbers"))) {
		take_numbers(outlet, rest);
		mend(outlet);
	} else if ((rest = after(line, "commands")))
		take_commands(outlet, rest);
	else if ((rest = after(line, "past")))
		triad_keeper_take_job(outlet->keeper, rest);
	else if ((rest = after(line, "payload")))
		triad_keeper_take_payload(outlet->keeper, rest);
	else if ((rest = after(line, "members")))
		triad_keeper_take_members(outlet->keeper, rest);
	else if ((rest = after(line, "program")))
		snprintf(outlet->program, sizeof(outlet->program), "%.31s", rest);
	else if ((rest = after(line, "port")))
		outlet->port_guid = strtoull(rest, NULL, 16);
	else if ((rest = after(line, "version")))
		triad_log_write(outlet->log, TRIAD_LOG_INFO, "%s: serves for Triad %s",
			outlet->link.path, rest);
	if ((rest = after(line, "start"))) {
		outlet->has_begun = true;
		pthread_mutex_lock(&outlet->lock);
		outlet->state.process = strtoull(rest, NULL, 10);
		/* Of this process nothing is in force yet. */
		outlet->configured = 0;
		pthread_mutex_unlock(&outlet->lock);
	}
}

static bool take_piece_of_line(void *context, const char *line, size_t length)
{
	char text[LINE_SIZE + 1];

	/* Longer lines are nothing that is known here. */
	snprintf(text, sizeof(text), "%.*s", (int)length, line);
	take_line(context, text);
	return true;
}

/* A sink of 'changes'. */
static int take_changes(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	struct triad_outlet *outlet = context;

	if (type == TRIAD_FRAME_MESSAGE)
		snprintf(outlet->why, sizeof(outlet->why), "%.*s",
			(int)strcspn(piece, "\n"), piece);
	else
		(void)triad_line_cutter_put(&outlet->cutter, piece, size);
	return 0;
}

/* Waits; false when the outlet ends. */
static bool wait_a_moment(struct triad_outlet *outlet, uint64_t length_us)
{
	uint64_t until_us = triad_clock_now_us() + length_us;

	pthread_mutex_lock(&outlet->lock);
	while (!atomic_load(&outlet->link.is_ending) && triad_clock_now_us() < until_us)
		(void)triad_condition_wait(&outlet->changed, &outlet->lock, until_us);
	pthread_mutex_unlock(&outlet->lock);
	return !atomic_load(&outlet->link.is_ending);
}

/* What the process knows can't be asked for; clients of streams are told. */
static void note_end(struct triad_outlet *outlet)
{
	pthread_mutex_lock(&outlet->lock);
	outlet->state.numbers[TRIAD_STREAM_ROLE] = 0;
	pthread_mutex_unlock(&outlet->lock);
}

/* Whether triadctl's socket, beside ours, is served. */
static bool answers_triadctl(const struct triad_outlet *outlet)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = outlet->link.path;
	size_t length = strlen(path), n = strlen(TRIAD_OUTSIDE_ENDING);
	bool answers = false;
	int fd;

	if (length <= n || strcmp(path + length - n, TRIAD_OUTSIDE_ENDING) != 0)
		return false;
	snprintf(address.sun_path, sizeof(address.sun_path), "%.*s.sock",
		(int)(length - n), path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0) {
		answers = !connect(fd, (struct sockaddr *)&address, sizeof(address));
		close(fd);
	}
	return answers;
}

/* A plugin of an earlier release serves by itself: its addresses are left to it, once it
 * has been seen twice without a socket for us, which others open right after the other. */
static void give_way(struct triad_outlet *outlet, unsigned n_times)
{
	if (n_times != 2)
		return;
	triad_log_write(outlet->log, TRIAD_LOG_WARNING,
		"%s: OpenSM runs with a Triad plugin of an earlier release, which serves by "
		"itself: nothing is served here; install triadd and the plugin of one "
		"release, and restart OpenSM",
		outlet->link.path);
	outlet->conf[0] = '\0';
	put_in_force(outlet, 0);
}

static void *follow(void *context)
{
	static const char *const words[] = {"changes"};
	struct triad_outlet *outlet = context;
	const struct triad_client_sink sink = {.take = take_changes, .context = outlet};
	char said[sizeof(outlet->why)] = "";
	unsigned n_without = 0;

	do {
		outlet->cutter.used = 0;
		outlet->conf[0] = outlet->why[0] = '\0';
		outlet->has_begun = false;
		(void)triad_link_ask(&outlet->link, TRIAD_LINK_S, 1, words, &sink);
		note_end(outlet);
		if (!atomic_load(&outlet->link.is_ending) && strcmp(said, outlet->why))
			triad_log_write(outlet->log, TRIAD_LOG_WARNING,
				"%s; it is tried again each second", outlet->why);
		memcpy(said, outlet->why, sizeof(said));
		n_without = !outlet->has_begun && answers_triadctl(outlet)
			? n_without + 1
			: 0;
		give_way(outlet, n_without);
	} while (wait_a_moment(outlet, AGAIN_US));
	return NULL;
}

/* --- reports --- */

/* Logs once that answers have no room, and once that they have it again. */
static void log_room(struct triad_outlet *outlet, const char *trouble)
{
	if (*trouble && !*outlet->no_room)
		triad_log_write(outlet->log, TRIAD_LOG_ERROR,
			"%s; clients are told so until there is", trouble);
	else if (!*trouble && *outlet->no_room)
		triad_log_write(
			outlet->log, TRIAD_LOG_INFO, "there is room for answers again");
	snprintf(outlet->no_room, sizeof(outlet->no_room), "%s", trouble);
}

/* Writes how the listeners do; false while there is nothing to be told. */
static bool put_report(struct triad_outlet *outlet, char *text, size_t size)
{
	struct triad_served served = {
		.version = PACKAGE_VERSION,
		.prometheus = triad_metrics_server_status(outlet->metrics),
		.web = triad_web_status(outlet->web),
		.images = triad_keeper_status(outlet->keeper),
		.copies = triad_keeper_copies(outlet->keeper),
		.profile = triad_profile_keeper_status(outlet->profile),
	};
	const struct triad_pool_status pool =
		triad_metrics_server_pool(outlet->metrics);

	memcpy(served.metrics_trouble, pool.trouble, sizeof(pool.trouble));
	log_room(outlet, *pool.trouble ? pool.trouble : served.web.pool.trouble);
	pthread_mutex_lock(&outlet->lock);
	served.start = outlet->state.process;
	served.configured = outlet->configured;
	pthread_mutex_unlock(&outlet->lock);
	triad_served_put(&served, text, size);
	return served.configured;
}

static void wait_for_look(struct triad_outlet *outlet)
{
	uint64_t until_us = triad_clock_now_us() + LOOK_US;

	pthread_mutex_lock(&outlet->lock);
	while (!outlet->must_report && !atomic_load(&outlet->link.is_ending) &&
		triad_clock_now_us() < until_us)
		(void)triad_condition_wait(&outlet->changed, &outlet->lock, until_us);
	outlet->must_report = false;
	pthread_mutex_unlock(&outlet->lock);
}

static void send_report(struct triad_outlet *outlet, const char *text)
{
	static const char *const words[] = {"report"};
	struct triad_link_upload upload;

	if (!triad_link_upload_open(&outlet->link, &upload, 1, words) &&
		!triad_link_upload_put(&upload, text, strlen(text), true))
		(void)triad_link_upload_end(&upload);
	triad_link_upload_close(&upload);
}

static void *report_again(void *context)
{
	struct triad_outlet *outlet = context;
	char text[TRIAD_SERVED_TEXT_SIZE], told[sizeof(text)] = "";
	uint64_t told_us = 0;

	while (!atomic_load(&outlet->link.is_ending)) {
		bool is_known = put_report(outlet, text, sizeof(text));
		uint64_t now_us = triad_clock_now_us();

		/* Ignore an error: the follower notices what is wrong. */
		if (is_known &&
			(strcmp(text, told) != 0 ||
				now_us >= told_us + TRIAD_SERVED_REPORT_US)) {
			send_report(outlet, text);
			memcpy(told, text, sizeof(told));
			told_us = now_us;
		}
		wait_for_look(outlet);
	}
	return NULL;
}

/* --- life --- */

struct triad_outlet *triad_outlet_new(const char *path, struct triad_log *log)
{
	struct triad_outlet *outlet = calloc(1, sizeof(*outlet));
	struct triad_web_source source = {.run = run, .has = has, .look = look};

	if (!outlet)
		return NULL;
	snprintf(outlet->link.path, sizeof(outlet->link.path), "%s", path);
	outlet->log = log;
	outlet->cutter = (struct triad_line_cutter){.take = take_piece_of_line,
		.context = outlet,
		.buffer = outlet->line,
		.room = sizeof(outlet->line)};
	pthread_mutex_init(&outlet->lock, NULL);
	triad_condition_init(&outlet->changed);
	source.context = outlet;
	outlet->metrics = triad_metrics_server_new(&source, log);
	outlet->web = triad_web_new(&source, log);
	outlet->alerts = triad_alert_sender_new(&outlet->link);
	outlet->keeper = triad_keeper_new(&outlet->link, log, report_soon, outlet);
	outlet->profile = triad_profile_keeper_new(&outlet->link, log);
	outlet->broker = triad_broker_new(&outlet->link, log);
	outlet->slurm = triad_slurm_new(&outlet->link.is_ending);
	if (outlet->metrics && outlet->web && outlet->alerts && outlet->keeper &&
		outlet->profile && outlet->broker && outlet->slurm) {
		outlet->is_following = !triad_thread_start(
			&outlet->follower, "triadd-follow", follow, outlet);
		outlet->is_reporting = !triad_thread_start(
			&outlet->reporter, "triadd-report", report_again, outlet);
	}
	if (outlet->is_following && outlet->is_reporting)
		return outlet;
	(void)triad_outlet_free(outlet);
	return NULL;
}

bool triad_outlet_free(struct triad_outlet *outlet)
{
	bool has_ended;

	if (!outlet)
		return true;
	pthread_mutex_lock(&outlet->lock);
	atomic_store(&outlet->link.is_ending, true);
	pthread_cond_broadcast(&outlet->changed);
	pthread_mutex_unlock(&outlet->lock);
	if (outlet->is_following)
		pthread_join(outlet->follower, NULL);
	if (outlet->is_reporting)
		pthread_join(outlet->reporter, NULL);
	triad_alert_sender_free(outlet->alerts);
	triad_broker_free(outlet->broker);
	has_ended = triad_keeper_free(outlet->keeper);
	has_ended &= triad_profile_keeper_free(outlet->profile);
	triad_metrics_server_stop(outlet->metrics);
	triad_web_stop(outlet->web);
	triad_metrics_server_free(outlet->metrics);
	triad_web_free(outlet->web);
	triad_slurm_free(outlet->slurm);
	triad_conf_unref(outlet->in_force);
	pthread_cond_destroy(&outlet->changed);
	pthread_mutex_destroy(&outlet->lock);
	/* A thread that is stuck in a write may still use the link. */
	if (has_ended)
		free(outlet);
	return has_ended;
}
