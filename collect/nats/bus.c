/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/nats/bus.h"

#include <errno.h>
#include <inttypes.h>
#include <nats/nats.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/nats/queue.h"
#include "collect/nats/repack.h"
#include "triad/clock.h"
#include "triad/file.h"
#include "triad/lists.h"
#include "triad/thread.h"

/* The time to try all servers while none answers; each gets MIN_CONNECT_MS at least. */
#define CONNECT_MS 3000
#define MIN_CONNECT_MS 500
#define RECONNECT_MS 500
/* If the first connection failed, or the library gave up (a password refused twice),
 * start again after this time and read the files again. */
#define ANEW_US (2 * TRIAD_US_PER_S)
#define RECONNECT_JITTER_MS 500
#define PING_MS 5000
/* A broker that accepts nothing for this time counts as gone. */
#define WRITE_MS 1000
#define MAX_PINGS_OUT 2
/* How often the thread checks its configuration. */
#define LOOK_US (TRIAD_US_PER_S / 4)
#define FLUSH_MS 500
#define CLOSE_MS 2000
#define SUBJECT_SIZE 96
#define SPEAKER_SIZE 32
#define ID_DIGITS 16
#define AGENT "agent"
#define MANAGER "manager"
/* The library's buffer while it reconnects: small, because no message is to be kept. */
#define RECONNECT_OCTETS 1024
#define STACK_SIZE ((size_t)1 << 20)
#define N_SUBSCRIPTIONS 3

struct triad_bus {
	struct triad_log *log;
	void (*wake)(void *context);
	void *wake_context;
	struct triad_bus_queue in, out;

	pthread_mutex_t lock; /* protects what follows */
	bool has_thread, stop, is_changed;
	struct triad_bus_params wanted;
	struct triad_bus_status status;
	pthread_t thread;
	natsConnection *current; /* the connection whose events count; or
					  * NULL */
	char logged_reason[TRIAD_CONF_TEXT_SIZE]; /* the reason that was logged last */

	/* Used only by the thread. */
	struct triad_bus_params params;
	natsConnection *connection;
	natsSubscription *subscriptions[N_SUBSCRIPTIONS];
	uint64_t tried_us; /* when it last started to connect */
	struct triad_repack packing;
	uint8_t octets[TRIAD_COLLECT_MAX_SIZE]; /* that are packed */
	bool is_left; /* threads of the library did not end and may still call */

	/* Used only by the owner, which takes messages. */
	struct triad_repack unpacking;
	struct triad_bus_envelope unpacked; /* of what is given out */
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
	bus->packing.packs = true;
	triad_bus_queue_init(&bus->in);
	triad_bus_queue_init(&bus->out);
	pthread_mutex_init(&bus->lock, NULL);
	return bus;
}

/* --- what the library calls, from threads of its own --- */

static void wake_owner(struct triad_bus *bus)
{
	bool stop;

	stop = TRIAD_LOCKED(&bus->lock, bus->stop);
	/* The owner may be gone when the bus stops. */
	if (!stop)
		bus->wake(bus->wake_context);
}

static void note_connected(struct triad_bus *bus, bool is_connected, const char *reason)
{
	pthread_mutex_lock(&bus->lock);
	bus->status.n_connects += is_connected && !bus->status.is_connected;
	bus->status.is_connected = is_connected;
	snprintf(bus->status.reason, sizeof(bus->status.reason), "%s", reason);
	if (is_connected)
		bus->logged_reason[0] = '\0';
	pthread_mutex_unlock(&bus->lock);
}

/* Notes that there is no connection; logs each reason once, until there is one. */
static void note_not_connected(struct triad_bus *bus, const char *text)
{
	char reason[TRIAD_CONF_TEXT_SIZE];
	bool is_new;

	triad_servers_mask(text, reason, sizeof(reason));
	note_connected(bus, false, reason);
	pthread_mutex_lock(&bus->lock);
	is_new = strcmp(bus->logged_reason, reason) != 0;
	snprintf(bus->logged_reason, sizeof(bus->logged_reason), "%s", reason);
	pthread_mutex_unlock(&bus->lock);
	if (is_new)
		triad_log_write(bus->log, TRIAD_LOG_WARNING,
			"collect: no connection to the broker: %s; %s, and it is tried "
			"again and again (see [collect] servers)",
			reason,
			bus->params.is_manager ? "nothing comes from agents"
					       : "counters are read all the same");
}

/* Whether the connection's events count.  Not those of one closed on purpose, which
 * still flushes its queue. */
static bool is_current(struct triad_bus *bus, const natsConnection *connection)
{
	return TRIAD_LOCKED(&bus->lock, bus->current == connection && !bus->stop);
}

static void set_current(struct triad_bus *bus, natsConnection *connection)
{
	pthread_mutex_lock(&bus->lock);
	bus->current = connection;
	pthread_mutex_unlock(&bus->lock);
}

static void note_server(struct triad_bus *bus, natsConnection *connection)
{
	char url[TRIAD_CONF_TEXT_SIZE] = "";
	const char *host;

	if (natsConnection_GetConnectedUrl(connection, url, sizeof(url)) != NATS_OK)
		return;
	host = strrchr(url, '@'); /* the part before it is secret */
	pthread_mutex_lock(&bus->lock);
	snprintf(bus->status.server, sizeof(bus->status.server), "%s",
		host ? host + 1 : url);
	pthread_mutex_unlock(&bus->lock);
}

/* Whether there is a broker that this process shows nothing by which to know it. */
static bool is_anonymous(const struct triad_bus_params *params)
{
	char item[TRIAD_CONF_TEXT_SIZE];

	if (params->credentials[0] || params->tls_certificate[0])
		return false;
	for (const char *at = params->servers;
		triad_list_next(&at, item, sizeof(item));)
		if (!strchr(item, '@'))
			return true;
	return false;
}

static void on_connected(natsConnection *connection, void *context)
{
	struct triad_bus *bus = context;

	if (!is_current(bus, connection))
		return;
	note_server(bus, connection);
	note_connected(bus, true, "");
	triad_log_write(bus->log, TRIAD_LOG_INFO, "collect: connected to the broker");
	if (is_anonymous(&bus->params))
		triad_log_write(bus->log, TRIAD_LOG_WARNING,
			"collect: the broker asks nobody who he is: whoever reaches it can "
			"say what an agent or the manager says; give it users, and put "
			"USER:PASSWORD@ into collect.servers, or set collect.credentials");
	wake_owner(bus);
}

static void on_disconnected(natsConnection *connection, void *context)
{
	struct triad_bus *bus = context;
	const char *text = NULL;

	if (!is_current(bus, connection))
		return;
	(void)natsConnection_GetLastError(connection, &text);
	note_not_connected(bus, text && *text ? text : "the connection ended");
}

static void on_error(natsConnection *connection, natsSubscription *subscription,
	natsStatus error, void *context)
{
	struct triad_bus *bus = context;

	(void)connection;
	(void)subscription;
	/* The library dropped a message that we took too slowly.  Other errors show as
	 * a lost connection. */
	if (error != NATS_SLOW_CONSUMER)
		return;
	pthread_mutex_lock(&bus->lock);
	bus->status.n_receive_dropped++;
	pthread_mutex_unlock(&bus->lock);
}

/* Reads the sender of a message from its subject (see the header).  False: the subject
 * is not one of ours. */
static bool read_speaker(const struct triad_bus *bus, const char *subject,
	struct triad_member_sender *speaker)
{
	size_t skip = strlen("triad..") + strlen(bus->params.fabric);
	const char *id;
	char *end;

	if (strlen(subject) < skip)
		return false;
	subject += skip;
	speaker->is_manager = !strncmp(subject, MANAGER ".", strlen(MANAGER "."));
	if (!speaker->is_manager && strncmp(subject, AGENT ".", strlen(AGENT ".")) != 0)
		return false;
	id = strchr(subject, '.') + 1;
	speaker->id = strtoull(id, &end, 16);
	return end == id + ID_DIGITS && *end == '.';
}

static void on_message(natsConnection *connection, natsSubscription *subscription,
	natsMsg *message, void *context)
{
	struct triad_bus *bus = context;
	int size = natsMsg_GetDataLength(message);
	bool fits = size > 0 && (unsigned)size <= TRIAD_COLLECT_MAX_SIZE;
	struct triad_member_sender speaker;

	(void)connection;
	(void)subscription;
	/* This is a thread of the library: only queue the message for the owner. */
	pthread_mutex_lock(&bus->lock);
	bus->status.n_received++;
	bus->status.n_oversize += !fits;
	pthread_mutex_unlock(&bus->lock);
	if (fits && read_speaker(bus, natsMsg_GetSubject(message), &speaker))
		triad_bus_queue_put(&bus->in,
			&(struct triad_bus_envelope){
				.id = speaker.id, .is_manager = speaker.is_manager},
			(const uint8_t *)natsMsg_GetData(message), (size_t)size);
	natsMsg_Destroy(message);
	wake_owner(bus);
}

/* --- connecting --- */

/* 'speaker' is "*.*", or the sender. */
static void write_subject(const char *fabric, const char *speaker,
	enum triad_member_to to, uint64_t id, char subject[SUBJECT_SIZE])
{
	int n = snprintf(subject, SUBJECT_SIZE, "triad.%s.%s.", fabric, speaker);

	if (n < 0 || n >= SUBJECT_SIZE)
		return;
	switch (to) {
	case TRIAD_MEMBER_TO_ALL:
		snprintf(subject + n, (size_t)(SUBJECT_SIZE - n), "all");
		break;
	case TRIAD_MEMBER_TO_ONE:
		snprintf(subject + n, (size_t)(SUBJECT_SIZE - n), "to.%016" PRIx64, id);
		break;
	case TRIAD_MEMBER_TO_MANAGERS:
		snprintf(subject + n, (size_t)(SUBJECT_SIZE - n), "managers");
		break;
	}
}

static natsStatus set_servers(natsOptions *options, const char *servers)
{
	char copy[TRIAD_CONF_TEXT_SIZE], *rest = copy;
	const char *urls[TRIAD_MAX_SERVERS], *url;
	int n = 0;

	snprintf(copy, sizeof(copy), "%s", servers);
	while (n < TRIAD_MAX_SERVERS && (url = strtok_r(rest, "; ", &rest)))
		urls[n++] = url;
	/* The library applies the time-out to each server in turn. */
	natsOptions_SetTimeout(options,
		n * MIN_CONNECT_MS > CONNECT_MS ? MIN_CONNECT_MS : CONNECT_MS / n);
	return natsOptions_SetServers(options, urls, n);
}

static natsStatus set_tls(natsOptions *options, const struct triad_bus_params *params)
{
	natsStatus status = NATS_OK;

	if (params->tls_ca[0]) {
		status = natsOptions_SetSecure(options, true);
		if (status == NATS_OK)
			status = natsOptions_LoadCATrustedCertificates(
				options, params->tls_ca);
	}
	if (status == NATS_OK && params->tls_certificate[0])
		status = natsOptions_LoadCertificatesChain(
			options, params->tls_certificate, params->tls_key);
	return status;
}

static natsStatus set_options(natsOptions *options, struct triad_bus *bus)
{
	const struct triad_bus_params *params = &bus->params;
	natsStatus status = set_servers(options, params->servers);

	if (status == NATS_OK)
		status = set_tls(options, params);
	if (status == NATS_OK && params->credentials[0])
		status = natsOptions_SetUserCredentialsFromFiles(
			options, params->credentials, NULL);
	natsOptions_SetName(options, params->name);
	natsOptions_SetNoEcho(options, true);
	natsOptions_SetMaxReconnect(options, -1);
	natsOptions_SetReconnectWait(options, RECONNECT_MS);
	natsOptions_SetReconnectJitter(
		options, RECONNECT_JITTER_MS, RECONNECT_JITTER_MS);
	natsOptions_SetReconnectBufSize(options, RECONNECT_OCTETS);
	natsOptions_SetWriteDeadline(options, WRITE_MS);
	natsOptions_SetPingInterval(options, PING_MS);
	natsOptions_SetMaxPingsOut(options, MAX_PINGS_OUT);
	natsOptions_SetDisconnectedCB(options, on_disconnected, bus);
	natsOptions_SetReconnectedCB(options, on_connected, bus);
	natsOptions_SetErrorHandler(options, on_error, bus);
	return status;
}

static natsStatus subscribe(struct triad_bus *bus)
{
	static const enum triad_member_to to[N_SUBSCRIPTIONS] = {
		TRIAD_MEMBER_TO_ALL, TRIAD_MEMBER_TO_ONE, TRIAD_MEMBER_TO_MANAGERS};
	unsigned n = bus->params.is_manager ? N_SUBSCRIPTIONS : N_SUBSCRIPTIONS - 1;
	natsStatus status = NATS_OK;
	char subject[SUBJECT_SIZE];

	for (unsigned i = 0; i < n && status == NATS_OK; i++) {
		write_subject(
			bus->params.fabric, "*.*", to[i], bus->params.id, subject);
		status = natsConnection_Subscribe(&bus->subscriptions[i],
			bus->connection, subject, on_message, bus);
		if (status == NATS_OK)
			status = natsSubscription_SetPendingLimits(
				bus->subscriptions[i], TRIAD_BUS_MAX_MESSAGES,
				(int)(TRIAD_BUS_MAX_OCTETS / 2));
	}
	return status;
}

static void disconnect(struct triad_bus *bus)
{
	/* Ignore the connection's callbacks from here on. */
	set_current(bus, NULL);
	if (bus->connection &&
		natsConnection_Status(bus->connection) == NATS_CONN_STATUS_CONNECTED)
		(void)natsConnection_FlushTimeout(bus->connection, FLUSH_MS);
	for (unsigned i = 0; i < N_SUBSCRIPTIONS; i++) {
		natsSubscription_Destroy(bus->subscriptions[i]);
		bus->subscriptions[i] = NULL;
	}
	natsConnection_Destroy(bus->connection);
	bus->connection = NULL;
}

/* Writes why the last call of this thread failed.  Removes from the library's text its
 * source file at the beginning, and an unknown cause at the end. */
static void write_reason(natsStatus status, char reason[TRIAD_CONF_TEXT_SIZE])
{
	natsStatus last;
	const char *more = nats_GetLastError(&last), *end;

	if (last == NATS_OK || !more)
		more = "";
	if (*more == '(' && strstr(more, "): "))
		more = strstr(more, "): ") + strlen("): ");
	if (!strcmp(more, natsStatus_GetText(status)))
		more = "";
	end = strstr(more, ": (null)");
	snprintf(reason, TRIAD_CONF_TEXT_SIZE, "%s%s%.*s", natsStatus_GetText(status),
		*more ? ": " : "", end ? (int)(end - more) : 160, more);
}

static natsStatus open_connection(struct triad_bus *bus)
{
	natsOptions *options = NULL;
	natsStatus status = natsOptions_Create(&options);

	if (status == NATS_OK)
		status = set_options(options, bus);
	if (status == NATS_OK)
		status = natsConnection_Connect(&bus->connection, options);
	natsOptions_Destroy(options);
	return status;
}

/* A user who can change these files can impersonate this collector, or its brokers. */
static bool are_files_trusted(struct triad_bus *bus)
{
	const struct triad_bus_params *params = &bus->params;
	const char *const paths[] = {params->tls_ca, params->tls_certificate,
		params->tls_key, params->credentials};
	char why[TRIAD_FILE_REASON_SIZE], reason[TRIAD_CONF_TEXT_SIZE];

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (!*paths[i] ||
			triad_file_check_trusted(paths[i], false, why) != EPERM)
			continue;
		snprintf(reason, sizeof(reason), "%s: %.*s", paths[i],
			(int)(sizeof(reason) - TRIAD_CONF_PATH_SIZE - 2), why);
		note_not_connected(bus, reason);
		return false;
	}
	return true;
}

static void connect_to(struct triad_bus *bus)
{
	char reason[TRIAD_CONF_TEXT_SIZE];
	natsStatus status;

	bus->tried_us = triad_clock_now_us();
	if (!are_files_trusted(bus))
		return;
	status = open_connection(bus);
	/* Try again with another nonce: libnats 3.4 can't send a signature that begins
	 * with a 0 octet (one in 256), and the broker refuses the connection. */
	if (status == NATS_CONNECTION_AUTH_FAILED && bus->params.credentials[0])
		status = open_connection(bus);
	/* Do this before subscribing, so that the library's callbacks count. */
	set_current(bus, bus->connection);
	if (status == NATS_OK)
		status = subscribe(bus);
	if (status == NATS_OK) {
		on_connected(bus->connection, bus);
		/* The connection may have ended before it was current: its callback was
		 * ignored then. */
		if (natsConnection_Status(bus->connection) !=
			NATS_CONN_STATUS_CONNECTED)
			on_disconnected(bus->connection, bus);
		return;
	}
	write_reason(status, reason);
	disconnect(bus);
	note_not_connected(bus, reason);
}

/* --- the thread --- */

static void publish(struct triad_bus *bus, const struct triad_bus_envelope *envelope,
	const uint8_t *octets, size_t size)
{
	char subject[SUBJECT_SIZE], speaker[SPEAKER_SIZE];
	natsStatus status = NATS_CONNECTION_DISCONNECTED;

	if (bus->connection &&
		natsConnection_Status(bus->connection) == NATS_CONN_STATUS_CONNECTED) {
		snprintf(speaker, sizeof(speaker), "%s.%016" PRIx64,
			bus->params.is_manager ? MANAGER : AGENT, bus->params.id);
		write_subject(bus->params.fabric, speaker, envelope->to, envelope->id,
			subject);
		status = natsConnection_Publish(
			bus->connection, subject, octets, (int)size);
	}
	pthread_mutex_lock(&bus->lock);
	bus->status.n_sent += status == NATS_OK;
	bus->status.n_send_dropped += status != NATS_OK;
	pthread_mutex_unlock(&bus->lock);
}

static void send_letter(struct triad_bus *bus, struct triad_bus_letter *letter)
{
	uint64_t n_lost = bus->packing.n_lost;
	size_t size;

	if (!triad_repack_put(&bus->packing, 0, letter->octets, letter->size)) {
		publish(bus, &letter->envelope, letter->octets, letter->size);
		return;
	}
	while ((size = triad_repack_next(&bus->packing, bus->octets)))
		publish(bus, &letter->envelope, bus->octets, size);
	pthread_mutex_lock(&bus->lock);
	bus->status.n_send_dropped += bus->packing.n_lost - n_lost;
	pthread_mutex_unlock(&bus->lock);
}

static void send_all(struct triad_bus *bus, struct triad_bus_letter *letter)
{
	for (; letter; letter = triad_bus_queue_take(&bus->out, 0)) {
		send_letter(bus, letter);
		free(letter);
	}
}

static bool is_given_up(const struct triad_bus *bus)
{
	return (!bus->connection || natsConnection_IsClosed(bus->connection)) &&
		triad_clock_now_us() - bus->tried_us >= ANEW_US;
}

/* Applies the last configuration.  Returns false at the end. */
static bool apply_conf(struct triad_bus *bus)
{
	struct triad_bus_params wanted;
	bool is_changed, is_wanted, stop;

	pthread_mutex_lock(&bus->lock);
	is_changed = bus->is_changed;
	is_wanted = bus->status.is_wanted;
	stop = bus->stop;
	bus->is_changed = false;
	wanted = bus->wanted;
	pthread_mutex_unlock(&bus->lock);
	/* Send the owner's last messages. */
	if (stop)
		send_all(bus, triad_bus_queue_take(&bus->out, 0));
	if (is_changed || stop) {
		disconnect(bus);
		note_connected(bus, false, "");
	}
	/* Change the parameters only now: the library's threads read them while there
	 * is a connection. */
	if (is_changed)
		bus->params = wanted;
	if (!stop && is_wanted && (is_changed || is_given_up(bus))) {
		disconnect(bus);
		connect_to(bus);
	}
	return !stop;
}

/* Corrects the status: the library's callbacks may come too early or in another
 * order. */
static void look_at_connection(struct triad_bus *bus)
{
	bool is_connected;

	if (!bus->connection)
		return;
	is_connected =
		natsConnection_Status(bus->connection) == NATS_CONN_STATUS_CONNECTED;
	if (is_connected == triad_bus_status(bus).is_connected)
		return;
	if (is_connected)
		on_connected(bus->connection, bus);
	else
		on_disconnected(bus->connection, bus);
}

static void *run_bus(void *argument)
{
	struct triad_bus *bus = argument;

	while (apply_conf(bus)) {
		look_at_connection(bus);
		send_all(bus,
			triad_bus_queue_take(
				&bus->out, triad_clock_now_us() + LOOK_US));
	}
	bus->is_left = nats_CloseAndWait(CLOSE_MS) != NATS_OK;
	return NULL;
}

/* --- use --- */

int triad_bus_configure(struct triad_bus *bus, const struct triad_bus_params *params)
{
	struct triad_bus_params wanted = {0};
	int error = 0;

	if (params)
		wanted = *params;
	pthread_mutex_lock(&bus->lock);
	if (params && !bus->has_thread) {
		error = triad_thread_start_with(
			&bus->thread, "triad-bus", STACK_SIZE, run_bus, bus);
		bus->has_thread = !error;
	}
	bus->is_changed |= memcmp(&wanted, &bus->wanted, sizeof(wanted)) != 0;
	bus->wanted = wanted;
	bus->status.is_wanted = params;
	pthread_mutex_unlock(&bus->lock);
	return error;
}

void triad_bus_free(struct triad_bus *bus)
{
	if (!bus)
		return;
	pthread_mutex_lock(&bus->lock);
	bus->stop = true;
	pthread_mutex_unlock(&bus->lock);
	triad_bus_queue_stop(&bus->out, true);
	if (bus->has_thread)
		pthread_join(bus->thread, NULL);
	/* Leave the memory to threads of the library, which may still call. */
	if (bus->is_left)
		return;
	triad_bus_queue_clear(&bus->in);
	triad_bus_queue_clear(&bus->out);
	triad_repack_clear(&bus->packing);
	triad_repack_clear(&bus->unpacking);
	pthread_mutex_destroy(&bus->lock);
	free(bus);
}

void triad_bus_send(struct triad_bus *bus, enum triad_member_to to, uint64_t id,
	const uint8_t *octets, size_t size)
{
	bool is_connected;

	pthread_mutex_lock(&bus->lock);
	is_connected = bus->status.is_connected;
	bus->status.n_send_dropped += !is_connected;
	pthread_mutex_unlock(&bus->lock);
	/* Keep no message without a connection: it would be outdated when it is
	 * sent. */
	if (is_connected)
		triad_bus_queue_put(&bus->out,
			&(struct triad_bus_envelope){.to = to, .id = id}, octets, size);
}

/* The next message of a fabric that was unpacked; NULL: there is none, or no memory. */
static struct triad_bus_letter *take_unpacked(struct triad_bus *bus)
{
	struct triad_bus_letter *letter = NULL;

	if (bus->unpacking.whole.octets)
		letter = malloc(sizeof(*letter) + TRIAD_COLLECT_MAX_SIZE);
	if (!letter)
		return NULL;
	letter->envelope = bus->unpacked;
	letter->size = triad_repack_next(&bus->unpacking, letter->octets);
	if (letter->size)
		return letter;
	free(letter);
	return NULL;
}

/* Whether a letter was taken to be unpacked with others. */
static bool unpack(struct triad_bus *bus, struct triad_bus_letter *letter)
{
	uint64_t n_lost = bus->unpacking.n_lost;
	bool is_taken = triad_repack_put(
		&bus->unpacking, letter->envelope.id, letter->octets, letter->size);

	if (is_taken)
		bus->unpacked = letter->envelope;
	if (n_lost != bus->unpacking.n_lost) {
		pthread_mutex_lock(&bus->lock);
		bus->status.n_receive_dropped += bus->unpacking.n_lost - n_lost;
		pthread_mutex_unlock(&bus->lock);
	}
	return is_taken;
}

bool triad_bus_take(struct triad_bus *bus, struct triad_bus_message *message)
{
	struct triad_bus_letter *letter = take_unpacked(bus);

	while (!letter && (letter = triad_bus_queue_take(&bus->in, 0)))
		if (unpack(bus, letter)) {
			free(letter);
			letter = take_unpacked(bus);
		}
	if (letter)
		triad_bus_letter_open(letter, message);
	return letter;
}

struct triad_bus_status triad_bus_status(struct triad_bus *bus)
{
	struct triad_bus_status status;

	status = TRIAD_LOCKED(&bus->lock, bus->status);
	status.n_send_dropped += triad_bus_queue_dropped(&bus->out);
	status.n_receive_dropped += triad_bus_queue_dropped(&bus->in);
	return status;
}
