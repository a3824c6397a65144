/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The HTTP server with a simulated fabric, for tests.
 *
 *     http_server [SWITCHES [HOSTS]]     hosts of each switch
 *
 * Reads commands from standard input, one a line, and answers each with a line of JSON.
 * Log lines go to standard error.
 *
 *     configure [listen=ADDRESS:PORT] [certificate=PATH] [key=PATH] [token=PATH]
 *               [client_ca=PATH] [max=N] [request_ms=N] [piece_ms=N] [answer_ms=N]
 *     off        stops listening
 *     running B  1: there is a view; 0: there is none, as without a fabric
 *     status
 *     free       ends the server and prints how long that took */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "perfmgr/export/http.h"
#include "perfmgr/formats/http_request.h"
#include "service/web/metrics.h"
#include "tests/sim/views.h"
#include "triad/clock.h"

#define MAX_WORDS 16

struct lab {
	struct triad_view *view; /* one reference */
	struct triad_metrics_server *server;
	struct triad_http *http; /* its */
	atomic_bool running;
};

static void die(const char *what)
{
	fprintf(stderr, "http_server: %s\n", what);
	exit(1);
}

static void write_log(void *context, enum triad_log_level level, const char *line)
{
	(void)context;
	fprintf(stderr, "%d %s\n", level, line);
}

/* --- callbacks of the server --- */

static const struct triad_metric constants[] = {
	{"triad", "Triad itself.", TRIAD_METRIC_INFO, 1,
		"version=\"0.1.0\",opensm=\"3.3.23\"", NULL},
	{"triad_perfmgr_running", "1 while counters are read.", TRIAD_METRIC_GAUGE, 1,
		"", NULL},
	{"triad_sweeps", "Sweeps that ended.", TRIAD_METRIC_COUNTER, 12, "", NULL},
	{"triad_sweeps_late", "Sweeps longer than the period.", TRIAD_METRIC_COUNTER, 1,
		"", NULL},
	{"triad_sweep_duration_seconds", "Time that the last sweep took.",
		TRIAD_METRIC_GAUGE, 0.25, "", NULL},
	{"triad_sweep_period_seconds", "Time between two sweeps.", TRIAD_METRIC_GAUGE,
		60, "", NULL},
	{"triad_sweep_finished_timestamp_seconds", "When the last sweep ended.",
		TRIAD_METRIC_GAUGE, 1767225600.5, "", NULL},
	{"triad_routes_findings", "What is wrong with the forwarding tables.",
		TRIAD_METRIC_GAUGE, 0, "kind=\"credit_loops\"", NULL},
	{"triad_qos_tables_different",
		"QoS tables of ports that are not what they should be.",
		TRIAD_METRIC_GAUGE, 0, "", NULL},
	{"triad_election_enabled", "1 while SMs elect.", TRIAD_METRIC_GAUGE, 1, "",
		NULL},
	{"triad_election_may_enforce", "1 while this SM may.", TRIAD_METRIC_GAUGE, 1,
		"", NULL},
	{"triad_election_sms_cut_off", "SMs that are not heard.", TRIAD_METRIC_GAUGE, 0,
		"", NULL},
	{"triad_election_datagrams_forged", "Datagrams of another key.",
		TRIAD_METRIC_COUNTER, 0, "", NULL},
	{"triad_port_manager_enabled", "1 while ports are compared.",
		TRIAD_METRIC_GAUGE, 1, "", NULL},
	{"triad_port_manager_enforcing", "1 while they are changed.",
		TRIAD_METRIC_GAUGE, 1, "", NULL},
	{"triad_port_manager_may_act", "1 while this SM may.", TRIAD_METRIC_GAUGE, 1,
		"", NULL},
	{"triad_port_manager_in_trouble", "1 while it can't.", TRIAD_METRIC_GAUGE, 0,
		"", NULL},
	{"triad_ports_mistakes", "Mistakes of the file.", TRIAD_METRIC_GAUGE, 0, "",
		NULL},
	{"triad_ports_guarded", "Items that guards stop.", TRIAD_METRIC_GAUGE, 0, "",
		NULL},
	{"triad_port_manager_stopped", "1 while there are too many.",
		TRIAD_METRIC_GAUGE, 0, "", NULL},
	{"triad_images_behind_for_seconds", "Images lack.", TRIAD_METRIC_GAUGE, 0, "",
		NULL},
	{"triad_broker_connected", "A broker.", TRIAD_METRIC_GAUGE, 1, "", NULL},
	{"triad_agents_nodes_not_seen", "Nodes.", TRIAD_METRIC_GAUGE, 0, "", NULL},
	{"triad_ports_failed", "Ports that failed.", TRIAD_METRIC_GAUGE, 0, "", NULL},
	{"triad_ports_sets_failed", "Changes refused.", TRIAD_METRIC_COUNTER, 0, "",
		NULL},
	{"triad_ports", "Ports that are asked.", TRIAD_METRIC_GAUGE, 70000, "", NULL},
	{"triad_ports_unanswered", "Of them, ports that did not answer.",
		TRIAD_METRIC_GAUGE, 3, "", NULL},
	{"triad_mads_sent", "Questions sent.", TRIAD_METRIC_COUNTER, 123456789, "",
		NULL},
	{"triad_mads_timeouts", "Questions without an answer.", TRIAD_METRIC_COUNTER, 7,
		"", NULL},
	{"triad_health", "The verdict.", TRIAD_METRIC_GAUGE, 0, "", NULL},
	{"triad_health_findings", "Findings.", TRIAD_METRIC_GAUGE, 0,
		"severity=\"WARNING\"", NULL},
	{"triad_alerts", "Alerts.", TRIAD_METRIC_GAUGE, 0,
		"kind=\"counter\",severity=\"WARNING\"", NULL},
	{"triad_configuration_broken", "Nothing runs.", TRIAD_METRIC_GAUGE, 0, "",
		NULL},
	{"triad_configuration_mistakes", "Mistakes.", TRIAD_METRIC_GAUGE, 0, "", NULL},
	{"triad_output_failing", "It fails.", TRIAD_METRIC_GAUGE, 0,
		"output=\"profile\"", NULL},
	{"triad_sm_is_master", "It is.", TRIAD_METRIC_GAUGE, 1, "", NULL},
	{"triad_sm_two_masters", "Another is, too.", TRIAD_METRIC_GAUGE, 0, "", NULL},
	{"triad_sm_sweep_unended", "It goes on.", TRIAD_METRIC_GAUGE, 0, "", NULL},
	{"triad_sm_no_answers", "None comes.", TRIAD_METRIC_GAUGE, 0, "", NULL},
	{"triad_sm_sweeps_often", "They do not end.", TRIAD_METRIC_GAUGE, 0, "", NULL},
	{"triad_sm_errors", "What it was told.", TRIAD_METRIC_GAUGE, 0, "", NULL},
	{"triad_events_dropped", "Events of OpenSM's that were lost.",
		TRIAD_METRIC_COUNTER, 0, "", NULL},
	{"triad_images_written", "Images.", TRIAD_METRIC_COUNTER, 12, "", NULL},
	{"triad_images_dropped", "Those not written.", TRIAD_METRIC_COUNTER, 0, "",
		NULL},
	{"triad_images_left_out", "What was too much.", TRIAD_METRIC_GAUGE, 0, "",
		NULL},
	{"triad_images_bytes", "Octets of images.", TRIAD_METRIC_GAUGE, 123456, "",
		NULL},
	{"triad_images_write_seconds", "How long one took.", TRIAD_METRIC_GAUGE, 0.125,
		"", NULL},
	{"triad_alerts_active", "Alerts at present.", TRIAD_METRIC_GAUGE, 2, "", NULL},
	{"triad_alerts_raised", "Alerts so far.", TRIAD_METRIC_COUNTER, 5, "", NULL},
	{"infiniband_exporter_collector_duration_seconds",
		"Time that the last sweep took.", TRIAD_METRIC_GAUGE, 0.25,
		"collector=\"switch\"", NULL},
	{"infiniband_exporter_collector_duration_seconds",
		"Time that the last sweep took.", TRIAD_METRIC_GAUGE, 0.25,
		"collector=\"hca\"", NULL},
};

static struct triad_metric *add_count(struct triad_metric *metric, const char *name,
	const char *label, const char *value, uint64_t n)
{
	*metric = (struct triad_metric){.name = name,
		.help = "What clients got.",
		.type = TRIAD_METRIC_COUNTER,
		.value = (double)n};
	if (label)
		triad_metric_add_label(metric, label, value);
	return metric + 1;
}

static size_t put_own(struct lab *lab, struct triad_metric *room)
{
	struct triad_http_status status = triad_http_status(lab->http);
	struct triad_metric *at = room + sizeof(constants) / sizeof(constants[0]);

	memcpy(room, constants, sizeof(constants));
	at = add_count(at, "triad_http_answers", "code", "200", status.n_answers);
	at = add_count(at, "triad_http_answers", "code", "401", status.n_unauthorized);
	at = add_count(
		at, "triad_http_connections_refused", NULL, NULL, status.n_too_many);
	return (size_t)(at - room);
}

/* What 'metrics' answers; all nodes are silenced. */
static int run(void *context, int n_words, const char *const *words,
	struct triad_output *output)
{
	struct lab *lab = context;
	struct triad_metric own[256];
	struct triad_silences silences = {0};
	const struct triad_silence all = {.choice = {.port = -1}};
	struct triad_metrics_params params = {.own = own,
		.silences = &silences,
		.format = strcmp(words[1], "openmetrics") == 0
			? TRIAD_EXPOSITION_OPENMETRICS
			: TRIAD_EXPOSITION_TEXT};
	struct triad_metrics *metrics;
	char piece[8192], name[32], reason[256];
	size_t n;

	for (int i = 2; i < n_words; i++) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(words[i], "="),
			words[i]);
		if (!triad_http_argument(&params.filter, name,
			    strchr(words[i], '=') + 1, reason, sizeof(reason))) {
			triad_output_message(
				output, TRIAD_FRAME_MESSAGE, "%s\n", reason);
			return TRIAD_CONTROL_USAGE;
		}
	}
	triad_silences_add(&silences, &all);
	params.n_own = put_own(lab, own);
	params.view = atomic_load(&lab->running) ? triad_view_ref(lab->view) : NULL;
	metrics = triad_metrics_new(&params);
	triad_view_unref(params.view);
	while (metrics && !output->failed &&
		(n = triad_metrics_fill(metrics, piece, sizeof(piece))))
		triad_output_put(output, piece, n);
	triad_metrics_free(metrics);
	return metrics ? TRIAD_CONTROL_DONE : TRIAD_CONTROL_FAILED;
}

/* --- commands --- */

static void set_number(
	unsigned *number, const char *name, const char *word, const char *value)
{
	size_t n = strlen(name);

	if (!strncmp(word, name, n) && word[n] == '=')
		*number = (unsigned)strtoul(value, NULL, 10);
}

static void take_word(struct triad_http_params *params, const char *word)
{
	const char *value = strchr(word, '=');
	char reason[256];

	if (!value)
		die("configure NAME=VALUE...");
	value++;
	if (!strncmp(word, "listen=", 7) &&
		!triad_address_parse(
			value, 9315, &params->listen, reason, sizeof(reason)))
		die(reason);
	if (!strncmp(word, "certificate=", 12))
		params->tls_certificate_path = value;
	if (!strncmp(word, "key=", 4))
		params->tls_key_path = value;
	if (!strncmp(word, "client_ca=", 10))
		params->tls_client_ca_path = value;
	if (!strncmp(word, "token=", 6))
		params->token_path = value;
	set_number(&params->max_clients, "max", word, value);
	set_number(&params->request_ms, "request_ms", word, value);
	set_number(&params->piece_ms, "piece_ms", word, value);
	set_number(&params->answer_ms, "answer_ms", word, value);
}

static void configure(struct lab *lab, char *words)
{
	struct triad_http_params params = {
		.listen = {.family = 2, .octets = {127, 0, 0, 1}}, .max_clients = 16};
	char *rest = words;
	int error;

	for (char *word; (word = strtok_r(rest, " ", &rest));)
		take_word(&params, word);
	error = triad_http_configure(lab->http, &params);
	printf("{\"error\":%d,\"port\":%u}\n", error,
		triad_http_status(lab->http).listen.port);
}

static void show_status(struct lab *lab)
{
	struct triad_http_status status = triad_http_status(lab->http);

	printf("{\"listening\":%d,\"clients\":%u,\"answers\":%" PRIu64
	       ",\"bad_requests\":%" PRIu64 ",\"unauthorized\":%" PRIu64
	       ",\"not_found\":%" PRIu64 ",\"bad_methods\":%" PRIu64
	       ",\"too_many\":%" PRIu64 ",\"timeouts\":%" PRIu64
	       ",\"incomplete\":%" PRIu64 ",\"broken_off\":%" PRIu64
	       ",\"octets\":%" PRIu64 "}\n",
		status.listening, status.n_clients, status.n_answers,
		status.n_bad_requests, status.n_unauthorized, status.n_not_found,
		status.n_bad_methods, status.n_too_many, status.n_timeouts,
		status.n_incomplete, status.n_broken_off, status.octets);
}

static void end(struct lab *lab)
{
	uint64_t begun_us = triad_clock_now_us();

	triad_metrics_server_stop(lab->server);
	triad_metrics_server_free(lab->server);
	lab->server = NULL;
	printf("{\"ms\":%" PRIu64 "}\n",
		(triad_clock_now_us() - begun_us) / TRIAD_US_PER_MS);
}

static void obey(struct lab *lab, char *line)
{
	line[strcspn(line, "\n")] = '\0';
	if (!strncmp(line, "configure", 9))
		configure(lab, line + 9);
	else if (!strcmp(line, "off"))
		printf("{\"error\":%d}\n", triad_http_configure(lab->http, NULL));
	else if (!strncmp(line, "running ", 8))
		printf("{\"running\":%d}\n", lab->running = line[8] == '1');
	else if (!strcmp(line, "status"))
		show_status(lab);
	else if (!strcmp(line, "free"))
		end(lab);
	else
		die("no such command");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned n_switches = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
	unsigned n_hosts = argc > 2 ? (unsigned)atoi(argv[2]) : 10;
	struct triad_fabric *fabric = fabric_mixed(n_switches, n_hosts, 0, 20260101);
	struct triad_engine *engine = triad_engine_new();
	struct triad_log log = {.write = write_log, .level = TRIAD_LOG_DEBUG};
	struct lab lab = {.running = true};
	const struct triad_web_source source = {.run = run, .context = &lab};
	char line[2048];

	if (!engine)
		die("out of memory");
	lab.view = view_mixed(engine, fabric, 20260101);
	lab.server = triad_metrics_server_new(&source, &log);
	if (!lab.server || triad_metrics_server_start(lab.server))
		die("out of memory");
	lab.http = triad_metrics_server_http(lab.server);
	while (fgets(line, sizeof(line), stdin) && lab.server)
		obey(&lab, line);
	triad_metrics_server_stop(lab.server);
	triad_metrics_server_free(lab.server);
	triad_view_unref(lab.view);
	triad_engine_free(engine);
	triad_fabric_unref(fabric);
	return 0;
}
