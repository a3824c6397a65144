/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The web listener with simulated commands, for tests of how clients affect it.
 *
 * Reads commands from standard input, one a line, and answers each with a line of JSON.
 * Log lines go to standard error.
 *
 *     set KEY=VALUE...   these keys of [web], and the others' defaults
 *     rows N             'nodes' answers with N rows
 *     hold B             1: 'health' waits until it is 0
 *     sweep              another sweep has ended
 *     status
 *     free               ends the listener and prints how long that took */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/text.h"
#include "service/web/web.h"
#include "triad/clock.h"
#include "triad/conf.h"
#include "triad/diag.h"
#include "triad/json.h"

struct lab {
	struct triad_web *web;
	struct triad_log log;
	atomic_uint n_rows, n_running, n_sweeps, n_configured;
	atomic_bool holds;
};

static void die(const char *what)
{
	fprintf(stderr, "web_server: %s\n", what);
	exit(1);
}

static void write_log(void *context, enum triad_log_level level, const char *line)
{
	(void)context;
	fprintf(stderr, "%d %s\n", level, line);
}

/* --- callbacks of the listener --- */

static int put_rows(struct lab *lab, struct triad_output *output)
{
	unsigned n = atomic_load(&lab->n_rows);
	struct triad_json json;

	triad_json_init(&json, output);
	triad_json_array_begin(&json, NULL);
	for (unsigned i = 0; i < n && !output->failed; i++) {
		triad_json_object_begin(&json, NULL);
		triad_json_uint(&json, "row", i);
		triad_json_string(&json, "name", "a name of some length");
		triad_json_object_end(&json);
	}
	triad_json_array_end(&json);
	triad_json_end(&json);
	triad_output_flush(output);
	return TRIAD_CONTROL_DONE;
}

static int run(void *context, int n_words, const char *const *words,
	struct triad_output *output)
{
	struct lab *lab = context;
	int status = TRIAD_CONTROL_DONE;

	atomic_fetch_add(&lab->n_running, 1);
	if (n_words && !strcmp(words[0], "nodes")) {
		status = put_rows(lab, output);
	} else {
		while (atomic_load(&lab->holds))
			usleep(1000);
		triad_output_put(output, "{}\n", 3);
		triad_output_flush(output);
	}
	atomic_fetch_sub(&lab->n_running, 1);
	return status;
}

static bool has(void *context, enum triad_command_verb verb)
{
	(void)context;
	return verb == TRIAD_COMMAND_NODES || verb == TRIAD_COMMAND_HEALTH;
}

static void look(void *context, struct triad_stream_state *state)
{
	struct lab *lab = context;

	state->process = 1;
	state->numbers[TRIAD_STREAM_CONFIGURATION] = lab->n_configured;
	state->numbers[TRIAD_STREAM_SWEEP] = atomic_load(&lab->n_sweeps);
}

/* --- commands --- */

static void set_keys(struct lab *lab, char *words)
{
	struct triad_conf *conf = triad_conf_new(1);
	struct triad_diags diags;
	char text[2048] = "[web]\n", *rest = words;

	for (char *word; (word = strtok_r(rest, " ", &rest));)
		triad_text_append(text, sizeof(text), "%s\n", word);
	triad_diags_init(&diags, "set");
	if (!conf || triad_conf_parse(text, strlen(text), 1, conf, &diags))
		die(diags.entries[0].text);
	triad_web_configure(lab->web, conf);
	lab->n_configured++;
	triad_conf_unref(conf);
	printf("{\"port\":%u}\n", triad_web_status(lab->web).http.listen.port);
}

static void show_status(struct lab *lab)
{
	struct triad_web_status status = triad_web_status(lab->web);

	printf("{\"listening\":%d,\"clients\":%u,\"answers\":%" PRIu64
	       ",\"unchanged\":%" PRIu64 ",\"too_many\":%" PRIu64
	       ",\"timeouts\":%" PRIu64 ",\"broken_off\":%" PRIu64
	       ",\"octets\":%" PRIu64 ",\"running\":%u,\"waiting\":%u,\"busy\":%" PRIu64
	       ",\"lost\":%" PRIu64 ",\"streams\":%u,\"commands\":%u,\"reason\":%d}\n",
		status.http.listening, status.http.n_clients, status.http.n_answers,
		status.http.n_unchanged, status.http.n_too_many, status.http.n_timeouts,
		status.http.n_broken_off, status.http.octets, status.pool.n_running,
		status.pool.n_waiting, status.pool.n_busy, status.pool.n_lost,
		status.n_streams, atomic_load(&lab->n_running),
		status.http.reason[0] != '\0');
}

static void end(struct lab *lab)
{
	uint64_t begun_us = triad_clock_now_us();

	triad_web_stop(lab->web);
	triad_web_free(lab->web);
	lab->web = NULL;
	printf("{\"ms\":%" PRIu64 "}\n",
		(triad_clock_now_us() - begun_us) / TRIAD_US_PER_MS);
}

static void obey(struct lab *lab, char *line)
{
	line[strcspn(line, "\n")] = '\0';
	if (!strncmp(line, "set ", 4))
		set_keys(lab, line + 4);
	else if (!strncmp(line, "rows ", 5))
		printf("{\"rows\":%u}\n",
			lab->n_rows = (unsigned)strtoul(line + 5, NULL, 10));
	else if (!strncmp(line, "hold ", 5))
		printf("{\"hold\":%d}\n", lab->holds = line[5] == '1');
	else if (!strcmp(line, "sweep"))
		printf("{\"sweeps\":%u}\n", ++lab->n_sweeps);
	else if (!strcmp(line, "status"))
		show_status(lab);
	else if (!strcmp(line, "free"))
		end(lab);
	else
		die("no such command");
	fflush(stdout);
}

int main(void)
{
	struct lab lab = {.log = {.write = write_log, .level = TRIAD_LOG_DEBUG}};
	const struct triad_web_source source = {
		.context = &lab, .run = run, .has = has, .look = look};
	char line[2048];

	lab.web = triad_web_new(&source, &lab.log);
	if (!lab.web)
		die("out of memory");
	while (lab.web && fgets(line, sizeof(line), stdin))
		obey(&lab, line);
	triad_web_stop(lab.web);
	triad_web_free(lab.web);
	return 0;
}
