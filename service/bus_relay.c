/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/bus_relay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/nats/queue.h"
#include "collect/nats/record.h"
#include "triad/thread.h"

/* How often it is asked whether to end. */
#define LOOK_US (TRIAD_US_PER_S / 4)
/* How long triadd may take to come before the log says that it is lacking. */
#define ABSENT_US (15 * TRIAD_US_PER_S)
#define ABSENT "triadd has not been heard of, which is connected to it"

struct triad_bus {
	struct triad_log *log;
	void (*wake)(void *context);
	void *wake_context;
	struct triad_bus_queue in, out;

	pthread_mutex_t lock; /* of what follows */
	struct triad_bus_params wanted;
	uint64_t n_wanted, wanted_us; /* how often it has changed, and when last */
	struct triad_bus_status status;
	char logged_reason[TRIAD_CONF_TEXT_SIZE]; /* the reason that was logged last */
	bool has_out, has_in;                     /* these requests are being run */
	uint64_t n_gone;                          /* how often 'bus-in' has ended */
};

struct triad_bus *triad_bus_new(
	void (*wake)(void *context), void *context, struct triad_log *log)
{
	struct triad_bus *bus = calloc(1, sizeof(*bus));

	if (!bus)
		return NULL;
	bus->wake = wake;
	bus->wake_context = context;
	bus->log = log;
	bus->status.lacks_triadd = true;
	snprintf(bus->status.reason, sizeof(bus->status.reason), ABSENT);
	triad_bus_queue_init(&bus->in);
	triad_bus_queue_init(&bus->out);
	pthread_mutex_init(&bus->lock, NULL);
	return bus;
}

void triad_bus_free(struct triad_bus *bus)
{
	if (!bus)
		return;
	triad_bus_queue_clear(&bus->in);
	triad_bus_queue_clear(&bus->out);
	pthread_mutex_destroy(&bus->lock);
	free(bus);
}

/* --- the state --- */

/* Logs a new reason for which there is no connection, once. */
static void log_reason(struct triad_bus *bus, const char *reason)
{
	bool is_new;

	pthread_mutex_lock(&bus->lock);
	is_new = bus->status.is_wanted && *reason &&
		strcmp(bus->logged_reason, reason) != 0;
	if (is_new)
		snprintf(bus->logged_reason, sizeof(bus->logged_reason), "%s", reason);
	pthread_mutex_unlock(&bus->lock);
	if (is_new)
		triad_log_write(bus->log, TRIAD_LOG_WARNING,
			"collect: no connection to the broker: %s; nothing comes from "
			"agents, and triadd tries again and again (see its log, and "
			"[collect] servers)",
			reason);
}

/* Drops what would be outdated when it is sent. */
static void drop_letters(struct triad_bus *bus)
{
	struct triad_bus_letter *letter;
	uint64_t n = 0;

	for (; (letter = triad_bus_queue_take(&bus->out, 0)); n++)
		free(letter);
	pthread_mutex_lock(&bus->lock);
	bus->status.n_send_dropped += n;
	pthread_mutex_unlock(&bus->lock);
}

static void add_numbers(
	struct triad_bus_status *status, const struct triad_bus_status *news)
{
	status->n_connects += news->n_connects;
	status->n_sent += news->n_sent;
	status->n_received += news->n_received;
	status->n_send_dropped += news->n_send_dropped;
	status->n_receive_dropped += news->n_receive_dropped;
	status->n_oversize += news->n_oversize;
}

/* Takes over a state, whose numbers are to be added. */
static void note_state(struct triad_bus *bus, const struct triad_bus_status *news)
{
	bool is_other;

	pthread_mutex_lock(&bus->lock);
	is_other = bus->status.is_connected != news->is_connected;
	bus->status.is_connected = news->is_connected;
	bus->status.lacks_triadd = news->lacks_triadd;
	if (news->server[0])
		memcpy(bus->status.server, news->server, sizeof(news->server));
	memcpy(bus->status.reason, news->reason, sizeof(news->reason));
	if (news->is_connected)
		bus->logged_reason[0] = '\0';
	add_numbers(&bus->status, news);
	pthread_mutex_unlock(&bus->lock);
	if (is_other && news->is_connected)
		triad_log_write(bus->log, TRIAD_LOG_INFO,
			"collect: connected to the broker, by triadd");
	log_reason(bus, news->reason);
	if (!is_other)
		return;
	if (!news->is_connected)
		drop_letters(bus);
	bus->wake(bus->wake_context);
}

struct triad_bus_status triad_bus_status(struct triad_bus *bus)
{
	struct triad_bus_status status;
	uint64_t wanted_us;

	pthread_mutex_lock(&bus->lock);
	status = bus->status;
	wanted_us = bus->wanted_us;
	pthread_mutex_unlock(&bus->lock);
	if (status.lacks_triadd && triad_clock_now_us() >= wanted_us + ABSENT_US)
		log_reason(bus, status.reason);
	status.n_send_dropped += triad_bus_queue_dropped(&bus->out);
	status.n_receive_dropped += triad_bus_queue_dropped(&bus->in);
	return status;
}

/* --- triadd's requests --- */

/* Says, first, again and when it is other than 'n_told', what to be connected to. */
static void put_params(struct triad_bus *bus, uint64_t *n_told, uint64_t *told_us,
	struct triad_output *output)
{
	uint8_t octets[TRIAD_BUS_HEADER_SIZE + TRIAD_BUS_FIELDS_SIZE];
	uint64_t now_us = triad_clock_now_us(), n_wanted;
	struct triad_bus_record record = {.kind = TRIAD_BUS_PARAMS};
	struct triad_bus_params params;

	pthread_mutex_lock(&bus->lock);
	n_wanted = bus->n_wanted;
	record.detail = bus->status.is_wanted;
	params = bus->wanted;
	pthread_mutex_unlock(&bus->lock);
	if (*told_us && *n_told == n_wanted && now_us < *told_us + TRIAD_BUS_BEAT_US)
		return;
	*n_told = n_wanted;
	*told_us = now_us;
	record.size = (uint32_t)triad_bus_record_put_params(
		&params, octets + TRIAD_BUS_HEADER_SIZE);
	triad_bus_record_put_header(&record, octets);
	triad_output_put(
		output, (const char *)octets, TRIAD_BUS_HEADER_SIZE + record.size);
}

static void put_letter(
	const struct triad_bus_letter *letter, struct triad_output *output)
{
	const struct triad_bus_record record = {.kind = TRIAD_BUS_MESSAGE,
		.detail = letter->envelope.to,
		.id = letter->envelope.id,
		.size = (uint32_t)letter->size};
	uint8_t header[TRIAD_BUS_HEADER_SIZE];

	triad_bus_record_put_header(&record, header);
	triad_output_put(output, (const char *)header, sizeof(header));
	triad_output_put(output, (const char *)letter->octets, letter->size);
}

static uint64_t count_gone(struct triad_bus *bus)
{
	return TRIAD_LOCKED(&bus->lock, bus->n_gone);
}

/* Ends with the triadd that asked: what is given later would not arrive, or too late. */
static void give_out(struct triad_bus *bus, const atomic_bool *is_ending,
	struct triad_output *output)
{
	uint64_t n_told = 0, told_us = 0, n_gone = count_gone(bus);
	struct triad_bus_letter *letter;

	drop_letters(bus);
	while (!output->failed && !atomic_load(is_ending) &&
		count_gone(bus) == n_gone) {
		put_params(bus, &n_told, &told_us, output);
		letter = triad_bus_queue_take(&bus->out, 0);
		if (!letter) {
			triad_output_flush(output);
			letter = triad_bus_queue_take(
				&bus->out, triad_clock_now_us() + LOOK_US);
		}
		if (letter)
			put_letter(letter, output);
		free(letter);
	}
}

static bool is_wanted(struct triad_bus *bus)
{
	return TRIAD_LOCKED(&bus->lock, bus->status.is_wanted);
}

static void take_record(void *context, const struct triad_bus_record *record)
{
	struct triad_bus *bus = context;
	struct triad_bus_status news = {0};

	if (record->kind == TRIAD_BUS_MESSAGE && record->detail <= 1) {
		if (!is_wanted(bus))
			return;
		(void)triad_bus_queue_put(&bus->in,
			&(struct triad_bus_envelope){
				.id = record->id, .is_manager = record->detail},
			record->octets, record->size);
		bus->wake(bus->wake_context);
		return;
	}
	if (record->kind == TRIAD_BUS_STATE &&
		triad_bus_record_get_state(record, &news)) {
		note_state(bus, &news);
		return;
	}
	pthread_mutex_lock(&bus->lock);
	bus->status.n_oversize++;
	pthread_mutex_unlock(&bus->lock);
}

/* Returns 0 when triadd has ended it, or an errno. */
static int take_in(struct triad_bus *bus, const struct triad_asker *asker,
	const atomic_bool *is_ending)
{
	struct triad_bus_reader *reader;
	char octets[TRIAD_UPLOAD_SIZE];
	size_t size = 1;
	int error = 0;

	if (!asker->receive)
		return EPROTO;
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return ENOMEM;
	reader->take = take_record;
	reader->context = bus;
	while (!error && size && !atomic_load(is_ending)) {
		error = asker->receive(asker, octets, &size,
			triad_clock_now_us() + TRIAD_BUS_SILENT_US);
		if (!error)
			error = triad_bus_reader_put(reader, octets, size);
	}
	free(reader);
	return error;
}

/* Notes that triadd's state is not known any more. */
static void note_gone(struct triad_bus *bus, int error)
{
	struct triad_bus_status news = {.lacks_triadd = true};

	news.n_oversize = error == EPROTO;
	if (error == ETIMEDOUT)
		snprintf(news.reason, sizeof(news.reason), ABSENT " for it, for %u s",
			(unsigned)(TRIAD_BUS_SILENT_US / TRIAD_US_PER_S));
	else if (error == ENOMEM || error == EPROTO)
		snprintf(news.reason, sizeof(news.reason),
			"what triadd says can't be read: %s",
			error == ENOMEM ? strerror(error) : "it is malformed");
	else
		snprintf(news.reason, sizeof(news.reason),
			"triadd has ended, which was connected to it");
	note_state(bus, &news);
	pthread_mutex_lock(&bus->lock);
	bus->n_gone++;
	pthread_mutex_unlock(&bus->lock);
}

/* Begins ('begins') or ends a request of a kind; false: one is being run. */
static bool mark(struct triad_bus *bus, bool *is_run, bool begins)
{
	bool can;

	pthread_mutex_lock(&bus->lock);
	can = *is_run != begins;
	*is_run = begins;
	pthread_mutex_unlock(&bus->lock);
	return can;
}

int triad_bus_relay_run(struct triad_bus *bus, const char *verb,
	const struct triad_asker *asker, const atomic_bool *is_ending,
	struct triad_output *output)
{
	bool is_out = !strcmp(verb, TRIAD_BUS_OUT);
	bool *is_run = is_out ? &bus->has_out : &bus->has_in;
	int error = 0;

	if (!mark(bus, is_run, true)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: another triadd is connected to the broker for this process, "
			"or was a moment ago; one is enough\n",
			verb);
		return TRIAD_CONTROL_FAILED;
	}
	if (is_out)
		give_out(bus, is_ending, output);
	else
		error = take_in(bus, asker, is_ending);
	/* Before another request may bring a newer state. */
	if (!is_out)
		note_gone(bus, error);
	(void)mark(bus, is_run, false);
	return error ? TRIAD_CONTROL_FAILED : TRIAD_CONTROL_DONE;
}

/* --- use --- */

int triad_bus_configure(struct triad_bus *bus, const struct triad_bus_params *params)
{
	struct triad_bus_params wanted = {0};

	if (params)
		wanted = *params;
	pthread_mutex_lock(&bus->lock);
	if (memcmp(&wanted, &bus->wanted, sizeof(wanted)) != 0 ||
		bus->status.is_wanted != (params != NULL)) {
		bus->n_wanted++;
		bus->wanted_us = triad_clock_now_us();
	}
	bus->wanted = wanted;
	bus->status.is_wanted = params;
	pthread_mutex_unlock(&bus->lock);
	return 0;
}

void triad_bus_send(struct triad_bus *bus, enum triad_member_to to, uint64_t id,
	const uint8_t *octets, size_t size)
{
	bool is_connected;

	pthread_mutex_lock(&bus->lock);
	is_connected = bus->status.is_connected;
	bus->status.n_send_dropped += !is_connected;
	pthread_mutex_unlock(&bus->lock);
	if (is_connected)
		triad_bus_queue_put(&bus->out,
			&(struct triad_bus_envelope){.to = to, .id = id}, octets, size);
}

bool triad_bus_take(struct triad_bus *bus, struct triad_bus_message *message)
{
	struct triad_bus_letter *letter = triad_bus_queue_take(&bus->in, 0);

	if (letter)
		triad_bus_letter_open(letter, message);
	return letter;
}
