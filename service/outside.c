/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "service/outside.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command_table.h"
#include "history/record.h"
#include "lib/line_cutter.h"
#include "lib/text.h"
#include "perfmgr/formats/http_request.h"
#include "service/service.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define GROUP "triadd"
#define LOOK_MS 50
#define WAIT_MS 20
#define ALERTS_MS 100
/* How often a client hears something, so that it notices a process that hangs. */
#define BEAT_US (5 * TRIAD_US_PER_S)

/* How long what follows a request may take. */
#define UPLOAD_US (5 * TRIAD_US_PER_S)
/* Payloads come at intervals; triadd closes the connection when it ends. */
#define COPIES_US (3600 * TRIAD_US_PER_S)
#define COPIES_AGAIN_MS 5

/* How long a change may take to be in force there and reported. */
#define CHANGE_US (2 * TRIAD_US_PER_S)

/* Waits a moment; false: who asked has gone, and takes no answer any more. */
static bool wait_with(const struct triad_asker *asker, unsigned wait_ms)
{
	if (asker->wait)
		return asker->wait(asker, wait_ms);
	(void)poll(NULL, 0, (int)wait_ms);
	return true;
}

/* --- metrics --- */

static int run_metrics(struct triad_service *service, const struct triad_asker *asker,
	int n_words, const char *const *words, struct triad_output *output)
{
	struct triad_metrics_filter filter = {0};
	enum triad_exposition_format format =
		n_words > 1 && strcmp(words[1], "openmetrics") == 0
		? TRIAD_EXPOSITION_OPENMETRICS
		: TRIAD_EXPOSITION_TEXT;
	char name[32], reason[256];

	(void)asker;
	for (int i = 2; i < n_words; i++) {
		const char *value = strchr(words[i], '=');

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(words[i], "="),
			words[i]);
		if (!triad_http_argument(&filter, name, value ? value + 1 : "", reason,
			    sizeof(reason))) {
			triad_output_message(
				output, TRIAD_FRAME_MESSAGE, "%s\n", reason);
			return TRIAD_CONTROL_USAGE;
		}
	}
	if (!triad_exports_put_metrics(service->exports, format, &filter, output)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE, "memory is short\n");
		return TRIAD_CONTROL_FAILED;
	}
	return TRIAD_CONTROL_DONE;
}

/* --- changes --- */

static void read_numbers(
	struct triad_service *service, uint64_t numbers[TRIAD_STREAM_N_EVENTS])
{
	struct triad_collector_status status = triad_perf_status(service->perf);
	struct triad_watch_status watch =
		triad_watch_status(triad_perf_watch(service->perf));
	struct triad_view *view = triad_perf_view(service->perf);

	numbers[TRIAD_STREAM_SWEEP] = status.n_sweeps + status.n_group_sweeps;
	numbers[TRIAD_STREAM_ALERT] =
		watch.alerts.n_raised + watch.alerts.n_cleared + watch.silences_version;
	numbers[TRIAD_STREAM_TOPOLOGY] = view ? view->fabric->generation : 0;
	numbers[TRIAD_STREAM_ROLE] = (uint64_t)triad_perf_sm(service->perf) * 16 +
		triad_perf_state(service->perf);
	triad_view_unref(view);
}

static void put_commands(struct triad_service *service, struct triad_output *output)
{
	const char *separator = " ";

	triad_output_printf(output, "commands");
	for (unsigned i = 0; i < TRIAD_N_COMMANDS; i++) {
		const struct triad_verb *verb = triad_verb_of(i);

		if (!verb || !verb->name || !triad_service_has(service, i))
			continue;
		triad_output_printf(output, "%s%s", separator, verb->name);
		separator = ",";
	}
	triad_output_printf(output, "\n");
}

/* Writes what triadd needs of a configuration, as in a file. */
static void put_conf(const struct triad_conf *conf, struct triad_output *output)
{
	static const struct {
		const char *section, *keys; /* those that begin so */
	} needed[] = {{"prometheus", ""}, {"web", ""}, {"alerts", "webhook"},
		{"perfmgr", "sweep_period"}, {"collect", "mode"}, {"history", ""},
		{"election", "enabled"}, {"election", "cluster"}, {"profile", ""}};

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		if (!i || strcmp(needed[i].section, needed[i - 1].section) != 0)
			triad_output_printf(output, "conf [%s]\n", needed[i].section);
		for (struct triad_conf_entry entry = {0};
			triad_conf_next(conf, &entry);)
			if (!strcmp(entry.key->section, needed[i].section) &&
				!strncmp(entry.key->name, needed[i].keys,
					strlen(needed[i].keys)))
				triad_output_printf(output, "conf %s = %s\n",
					entry.key->name, entry.value);
	}
}

/* What a client has been told. */
struct told {
	uint64_t n_configured;
	uint64_t numbers[TRIAD_STREAM_N_EVENTS];
	uint64_t at_us;
	uint64_t job;      /* about the past */
	uint64_t listener; /* of service/image_bus.h */
};

/* What is new about images. */
static void tell_of_images(
	struct triad_service *service, struct told *told, struct triad_output *output)
{
	char line[TRIAD_HISTORY_JOB_SIZE], digits[2 * TRIAD_INBOX_OCTETS + 1];
	uint64_t members[TRIAD_MIRROR_MAX_MEMBERS];
	struct triad_payload payload;
	uint32_t n;

	told->job = triad_history_reader_wanted(service->past, told->job, line);
	triad_output_put(output, line, strlen(line));
	if (triad_image_bus_take_view(
		    service->image_bus, told->listener, members, &n)) {
		triad_output_printf(output, "members");
		for (uint32_t i = 0; i < n; i++)
			triad_output_printf(output, " 0x%016" PRIx64, members[i]);
		triad_output_printf(output, "\n");
	}
	while (!output->failed &&
		triad_image_bus_take_payload(
			service->image_bus, told->listener, &payload)) {
		digits[triad_history_put_hex(digits, payload.octets, payload.size)] =
			'\0';
		triad_output_printf(
			output, "payload 0x%016" PRIx64 " ", payload.sender);
		triad_output_put(output, digits, strlen(digits));
		triad_output_printf(output, "\n");
	}
}

static void tell(
	struct triad_service *service, struct told *told, struct triad_output *output)
{
	uint64_t numbers[TRIAD_STREAM_N_EVENTS] = {0}, now_us = triad_clock_now_us();
	uint64_t n_configured;
	const struct triad_conf *conf = triad_service_in_force(service, &n_configured);

	if (conf && n_configured != told->n_configured) {
		put_conf(conf, output);
		triad_output_printf(output, "configured %" PRIu64 "\n", n_configured);
		told->n_configured = n_configured;
	}
	triad_conf_unref(conf);
	read_numbers(service, numbers);
	if (memcmp(numbers, told->numbers, sizeof(numbers)) == 0 && told->at_us &&
		now_us < told->at_us + BEAT_US)
		return;
	triad_output_printf(output,
		"numbers %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		numbers[TRIAD_STREAM_SWEEP], numbers[TRIAD_STREAM_ALERT],
		numbers[TRIAD_STREAM_TOPOLOGY], numbers[TRIAD_STREAM_ROLE]);
	memcpy(told->numbers, numbers, sizeof(numbers));
	told->at_us = now_us;
}

static void note_follower(struct triad_service *service, bool is_there)
{
	atomic_store(is_there ? &service->joined_us : &service->left_us,
		triad_clock_now_us());
	atomic_fetch_add(&service->n_followers, is_there ? 1 : -1u);
	triad_history_reader_joined(service->past, is_there);
}

static int run_changes(struct triad_service *service, const struct triad_asker *asker,
	int n_words, const char *const *words, struct triad_output *output)
{
	struct told told = {0};

	(void)n_words;
	(void)words;
	triad_output_printf(output,
		"start %" PRIu64 "\nversion " PACKAGE_VERSION "\nport 0x%016" PRIx64
		"\nprogram %s\n",
		service->start, service->port_guid, service->owner->program);
	put_commands(service, output);
	note_follower(service, true);
	told.listener = triad_image_bus_join(service->image_bus);
	/* The control socket disconnects its clients when the process ends. */
	do {
		tell(service, &told, output);
		tell_of_images(service, &told, output);
		triad_output_flush(output);
	} while (!output->failed && !atomic_load(&service->is_closing) &&
		wait_with(asker, LOOK_MS));
	triad_image_bus_leave(service->image_bus, told.listener);
	note_follower(service, false);
	return TRIAD_CONTROL_DONE;
}

/* --- reports --- */

/* Receives what follows the words, one frame at a time; false: that was all, or '*error'
 * says why no more comes. */
static bool receive_frame(const struct triad_asker *asker,
	char octets[TRIAD_UPLOAD_SIZE], size_t *size, uint64_t wait_us, int *error)
{
	*error = asker->receive
		? asker->receive(asker, octets, size, triad_clock_now_us() + wait_us)
		: EPROTO;
	return !*error && *size;
}

static int run_report(struct triad_service *service, const struct triad_asker *asker,
	int n_words, const char *const *words, struct triad_output *output)
{
	char text[TRIAD_UPLOAD_SIZE + 1];
	struct triad_served served;
	size_t size;
	int error;

	(void)n_words;
	(void)words;
	(void)output;
	if (!receive_frame(asker, text, &size, UPLOAD_US, &error))
		return TRIAD_CONTROL_FAILED;
	text[size] = '\0';
	triad_served_take(text, &served);
	/* One that followed a process before this one reports until it follows this. */
	if (served.start != service->start)
		return TRIAD_CONTROL_FAILED;
	served.at_us = triad_clock_now_us();
	pthread_mutex_lock(&service->served_lock);
	service->served = served;
	pthread_mutex_unlock(&service->served_lock);
	return TRIAD_CONTROL_DONE;
}

struct triad_served triad_service_served(struct triad_service *service)
{
	uint64_t since_us, now_us = triad_clock_now_us();
	struct triad_served served;

	served = TRIAD_LOCKED(&service->served_lock, service->served);
	since_us = served.is_known ? served.at_us : service->started_us;
	served.is_connected = atomic_load(&service->n_followers);
	served.is_silent = now_us >= since_us + TRIAD_SERVED_SILENT_US ||
		(served.is_known && !served.is_connected &&
			now_us >=
				atomic_load(&service->left_us) + TRIAD_SERVED_GONE_US);
	served.is_current = served.is_known && served.is_connected &&
		!served.is_silent && served.at_us >= atomic_load(&service->joined_us);
	/* What it did then is not known to be so now. */
	if (!served.is_current) {
		served.prometheus.listening = served.web.http.listening = false;
		served.metrics_trouble[0] = served.web.pool.trouble[0] = '\0';
		served.profile.file_octets = 0;
	}
	return served;
}

bool triad_service_wait_served(struct triad_service *service)
{
	uint64_t until_us = triad_clock_now_us() + CHANGE_US, n_configured = 0;
	const struct triad_conf *conf = triad_service_in_force(service, &n_configured);
	bool is_wanted = conf &&
		(*conf->prometheus.listen || *conf->web.http.listen ||
			*conf->profile.file);

	triad_conf_unref(conf);
	while (!atomic_load(&service->is_closing)) {
		struct triad_served served = triad_service_served(service);

		if (served.configured >= n_configured)
			return true;
		if (!atomic_load(&service->n_followers) ||
			triad_clock_now_us() >= until_us)
			break;
		(void)poll(NULL, 0, WAIT_MS);
	}
	return !is_wanted;
}

/* --- alerts --- */

static int run_webhook(struct triad_service *service, const struct triad_asker *asker,
	int n_words, const char *const *words, struct triad_output *output)
{
	struct triad_webhook_answer answer = {0};
	uint64_t until_us = triad_clock_now_us() + BEAT_US;

	if (n_words == 4) {
		answer.status = strtol(words[1], NULL, 10);
		answer.trouble = (int)strtol(words[2], NULL, 10);
		snprintf(answer.reason, sizeof(answer.reason), "%s", words[3]);
		triad_text_clean(answer.reason);
		triad_webhook_answered(service->webhook, &answer);
		return TRIAD_CONTROL_DONE;
	}
	while (!triad_webhook_is_due(service->webhook)) {
		if (atomic_load(&service->is_closing) ||
			triad_clock_now_us() >= until_us ||
			!wait_with(asker, ALERTS_MS))
			return TRIAD_CONTROL_DONE;
	}
	if (triad_webhook_fetch(service->webhook, output))
		return TRIAD_CONTROL_DONE;
	triad_output_message(output, TRIAD_FRAME_MESSAGE, "memory is short\n");
	return TRIAD_CONTROL_FAILED;
}

/* --- images --- */

static int run_image(struct triad_service *service, const struct triad_asker *asker,
	int n_words, const char *const *words, struct triad_output *output)
{
	struct triad_history_question question;
	const struct triad_conf *conf;
	uint64_t n_configured;
	int error;

	(void)asker;
	if (n_words != 1 + TRIAD_HISTORY_QUESTION_WORDS) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"image: not a question of this release\n");
		return TRIAD_CONTROL_USAGE;
	}
	triad_history_question_read(words + 1, &question);
	conf = triad_service_in_force(service, &n_configured);
	/* Without a folder no image is wanted, so no commands are run for one. */
	error = conf && conf->history.dir[0]
		? triad_images_answer(service->images, conf, &question, output)
		: 0;
	triad_conf_unref(conf);
	if (!error)
		return TRIAD_CONTROL_DONE;
	triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s\n",
		error == EAGAIN          ? "what was known before is being taken over"
			: error == EBUSY ? "another program is being given one"
					 : strerror(error));
	/* To be asked again. */
	return error == EAGAIN || error == EBUSY ? TRIAD_CONTROL_TO_DO
						 : TRIAD_CONTROL_FAILED;
}

static int run_answer(struct triad_service *service, const struct triad_asker *asker,
	int n_words, const char *const *words, struct triad_output *output)
{
	uint64_t number = n_words == 2 ? strtoull(words[1], NULL, 10) : 0;
	char octets[TRIAD_UPLOAD_SIZE];
	size_t size;
	int error;

	(void)output;
	/* Nobody waits any more. */
	if (!triad_history_reader_begin(service->past, number))
		return TRIAD_CONTROL_FAILED;
	while (receive_frame(asker, octets, &size, TRIAD_HISTORY_WAIT_US, &error) &&
		triad_history_reader_take(service->past, octets, size))
		;
	triad_history_reader_end(service->past, !error);
	return TRIAD_CONTROL_DONE;
}

static bool take_event(void *context, const char *line, size_t length)
{
	struct triad_service *service = context;
	struct triad_timeline_event event;

	if (!triad_timeline_event_parse(line, length, &event))
		triad_recorder_take_copied(service->recorder, &event);
	return true;
}

static int run_events(struct triad_service *service, const struct triad_asker *asker,
	int n_words, const char *const *words, struct triad_output *output)
{
	char octets[TRIAD_UPLOAD_SIZE], line[TRIAD_PROFILE_LINE_SIZE];
	struct triad_line_cutter cutter = {.take = take_event,
		.context = service,
		.buffer = line,
		.room = sizeof(line)};
	size_t size;
	int error;

	(void)n_words;
	(void)words;
	(void)output;
	while (receive_frame(asker, octets, &size, UPLOAD_US, &error))
		(void)triad_line_cutter_put(&cutter, octets, size);
	return error ? TRIAD_CONTROL_FAILED : TRIAD_CONTROL_DONE;
}

/* Passes payloads on as fast as the carrier takes them: meanwhile those behind wait in the
 * socket. */
static int run_copies(struct triad_service *service, const struct triad_asker *asker,
	int n_words, const char *const *words, struct triad_output *output)
{
	char octets[TRIAD_UPLOAD_SIZE];
	size_t size;
	int error;

	(void)n_words;
	(void)words;
	(void)output;
	while (receive_frame(asker, octets, &size, COPIES_US, &error))
		while (size <= TRIAD_MIRROR_PAYLOAD_SIZE &&
			!atomic_load(&service->is_closing) &&
			triad_image_bus_send(service->image_bus, octets, size) ==
				EAGAIN &&
			wait_with(asker, COPIES_AGAIN_MS))
			;
	return error ? TRIAD_CONTROL_FAILED : TRIAD_CONTROL_DONE;
}

/* --- the profile --- */

static int run_profile(struct triad_service *service, const struct triad_asker *asker,
	int n_words, const char *const *words, struct triad_output *output)
{
	(void)asker;
	return triad_profile_answer(triad_exports_profile(service->exports),
		service->start, n_words, words, output);
}

/* --- the broker --- */

static int run_bus(struct triad_service *service, const struct triad_asker *asker,
	int n_words, const char *const *words, struct triad_output *output)
{
	(void)n_words;
	if (service->owner->run_bus)
		return service->owner->run_bus(triad_collect_bus(service->collect),
			words[0], asker, &service->is_closing, output);
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"%s: this process is connected to the broker itself\n", words[0]);
	return TRIAD_CONTROL_USAGE;
}

/* --- all --- */

static enum triad_role find_role(void *context, const struct triad_peer *peer)
{
	(void)context;
	return triad_peer_is_own(peer) ? TRIAD_ROLE_READER
				       : triad_peer_role(peer, GROUP, "");
}

static int run(struct triad_service *service, const struct triad_asker *asker,
	int n_words, const char *const *words, struct triad_output *output)
{
	static const struct {
		const char *name;
		int (*run)(struct triad_service *service,
			const struct triad_asker *asker, int n_words,
			const char *const *words, struct triad_output *output);
	} verbs[] = {{"metrics", run_metrics}, {"changes", run_changes},
		{"report", run_report}, {"webhook", run_webhook}, {"image", run_image},
		{"answer", run_answer}, {"events", run_events}, {"copies", run_copies},
		{"profile", run_profile}, {"bus-out", run_bus}, {"bus-in", run_bus}};
	const struct triad_asker reader = {.prefix = asker->prefix,
		.role = TRIAD_ROLE_READER,
		.name = "a client of triadd"};
	int status;

	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (n_words && !strcmp(words[0], verbs[i].name))
			return verbs[i].run(service, asker, n_words, words, output);
	status = triad_service_ask(service, &reader, n_words, words, output);
	return status == TRIAD_CONTROL_FAILED && output->lacks_object
		? TRIAD_CONTROL_NO_OBJECT
		: status;
}

static int ask(void *context, const struct triad_asker *asker, int n_words,
	const char *const *words, struct triad_output *output)
{
	int status = run(context, asker, n_words, words, output);

	triad_output_flush(output);
	return status;
}

struct triad_control *triad_outside_open(
	struct triad_service *service, const struct triad_conf *conf)
{
	static const char ending[] = ".sock";
	const struct triad_runner runner = {
		.context = service, .role = find_role, .run = ask};
	const struct triad_control_params params = {
		.is_shared = true, .is_for_one = true, .groups = "group " GROUP};
	const char *socket = conf->control.socket;
	size_t length = strlen(socket);
	char path[sizeof(conf->control.socket) + sizeof(TRIAD_OUTSIDE_ENDING)];

	if (length > strlen(ending) &&
		!strcmp(socket + length - strlen(ending), ending))
		length -= strlen(ending);
	snprintf(path, sizeof(path), "%.*s" TRIAD_OUTSIDE_ENDING, (int)length, socket);
	return triad_control_new(path, &params, &runner, service->log);
}
