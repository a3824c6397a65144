/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/sflow_sender.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "perfmgr/formats/sflow.h"
#include "triad/clock.h"
#include "triad/thread.h"

/* The bounds of the time between two calls, in which a datagram fills; the schedule
 * still catches up the longest. */
#define MIN_TICK_US (10 * TRIAD_US_PER_MS)
#define MAX_TICK_US (50 * TRIAD_US_PER_MS)
#define MAX_SLEEP_US TRIAD_US_PER_S
#define OPEN_AGAIN_US (5 * TRIAD_US_PER_S)
#define ADOPT_AGAIN_US (5 * TRIAD_US_PER_S)
/* A collector without drops for so long has recovered. */
#define WELL_US (10 * TRIAD_US_PER_S)
/* Prefetch rows so many ports ahead. */
#define PORTS_AHEAD 8

enum { IPV4_AND_UDP_OCTETS = 28, IPV6_AND_UDP_OCTETS = 48 };

struct collector {
	struct triad_sflow_collector_status status;
	bool is_open;
	int handle;
	uint64_t open_again_us;
	uint64_t failed_us;      /* the last time */
	uint64_t n_drops_before; /* before it began to fail */
	struct triad_log_limit limit;
};

struct triad_sflow_sender {
	struct triad_log *log;
	const struct triad_udp *udp;
	struct triad_sampler *sampler; /* NULL: none */

	pthread_mutex_t lock; /* of what follows */
	bool left;            /* there are parameters for the thread */
	struct triad_sflow_params left_params;
	struct triad_sflow_sender_status published;
	struct triad_sflow_indices *indices; /* NULL: none */

	/* Only for the thread that runs it. */
	struct triad_sflow_params params;
	struct collector collectors[TRIAD_SFLOW_MAX_COLLECTORS];
	struct triad_sflow_schedule *schedule; /* NULL: no collectors, or no memory */
	uint8_t *buffer;
	size_t size; /* of a datagram at most */
	uint64_t started_us;
	uint64_t adopt_again_us;
	struct triad_log_limit memory_limit;
	struct triad_sflow_header header;
	struct triad_sflow_counters datagram;
	bool begun; /* the datagram */
	uint32_t flow_sequence;
	struct triad_sflow_sender_status status;
};

struct triad_sflow_sender *triad_sflow_sender_new(struct triad_log *log,
	const struct triad_udp *udp, struct triad_sampler *sampler)
{
	struct triad_sflow_sender *sender = calloc(1, sizeof(*sender));

	if (!sender)
		return NULL;
	pthread_mutex_init(&sender->lock, NULL);
	sender->log = log;
	sender->udp = udp ? udp : &triad_udp_sockets;
	sender->sampler = sampler;
	sender->memory_limit.burst = 1;
	sender->memory_limit.period_us = 60 * TRIAD_US_PER_S;
	return sender;
}

static void close_collector(
	const struct triad_sflow_sender *sender, struct collector *collector)
{
	if (collector->is_open)
		sender->udp->close(sender->udp->context, collector->handle);
	collector->is_open = false;
}

/* --- which interface each port is --- */

void triad_sflow_indices_unref(struct triad_sflow_indices *indices)
{
	if (!indices || atomic_fetch_sub(&indices->refs, 1) != 1)
		return;
	triad_fabric_unref(indices->fabric);
	free(indices);
}

struct triad_sflow_indices *triad_sflow_sender_indices(
	struct triad_sflow_sender *sender)
{
	struct triad_sflow_indices *indices;

	pthread_mutex_lock(&sender->lock);
	indices = sender->indices;
	if (indices)
		atomic_fetch_add(&indices->refs, 1);
	pthread_mutex_unlock(&sender->lock);
	return indices;
}

static void exchange_indices(
	struct triad_sflow_sender *sender, struct triad_sflow_indices *indices)
{
	struct triad_sflow_indices *old;

	pthread_mutex_lock(&sender->lock);
	old = sender->indices;
	sender->indices = indices;
	pthread_mutex_unlock(&sender->lock);
	triad_sflow_indices_unref(old);
}

/* Publishes the indices of a new fabric.  When memory is short, there are none. */
static void publish_indices(
	struct triad_sflow_sender *sender, struct triad_fabric *fabric)
{
	struct triad_sflow_indices *indices;

	if (sender->indices && sender->indices->fabric == fabric)
		return;
	indices = malloc(sizeof(*indices) + fabric->n_ports * sizeof(uint32_t));
	if (indices) {
		atomic_init(&indices->refs, 1);
		indices->fabric = triad_fabric_ref(fabric);
		for (uint32_t i = 0; i < fabric->n_ports; i++)
			indices->if_index[i] =
				triad_sflow_schedule_if_index(sender->schedule, i);
	}
	exchange_indices(sender, indices);
}

/* Frees all but the parameters. */
static void end_agent(struct triad_sflow_sender *sender)
{
	exchange_indices(sender, NULL);
	triad_sflow_schedule_free(sender->schedule);
	free(sender->buffer);
	sender->schedule = NULL;
	sender->buffer = NULL;
	sender->header = (struct triad_sflow_header){0};
	sender->flow_sequence = 0;
	sender->status = (struct triad_sflow_sender_status){0};
}

void triad_sflow_sender_free(struct triad_sflow_sender *sender)
{
	if (!sender)
		return;
	for (unsigned i = 0; i < TRIAD_SFLOW_MAX_COLLECTORS; i++)
		close_collector(sender, &sender->collectors[i]);
	end_agent(sender);
	pthread_mutex_destroy(&sender->lock);
	free(sender);
}

/* --- what others leave --- */

static bool is_internet(const struct triad_address *address)
{
	return address->family == AF_INET || address->family == AF_INET6;
}

static bool is_valid(const struct triad_sflow_params *params)
{
	if (params->n_collectors > TRIAD_SFLOW_MAX_COLLECTORS)
		return false;
	for (unsigned i = 0; i < params->n_collectors; i++)
		if (!is_internet(&params->collectors[i]) || !params->collectors[i].port)
			return false;
	if (!params->n_collectors)
		return true;
	return params->interval_us >= TRIAD_SFLOW_MIN_INTERVAL_US &&
		params->interval_us <= TRIAD_SFLOW_MAX_INTERVAL_US &&
		params->mtu >= TRIAD_SFLOW_MIN_MTU &&
		params->mtu <= TRIAD_SFLOW_MAX_MTU &&
		(!params->has_agent || is_internet(&params->agent));
}

int triad_sflow_sender_configure(
	struct triad_sflow_sender *sender, const struct triad_sflow_params *params)
{
	if (!is_valid(params))
		return EINVAL;
	pthread_mutex_lock(&sender->lock);
	sender->left_params = *params;
	sender->left = true;
	pthread_mutex_unlock(&sender->lock);
	return 0;
}

struct triad_sflow_sender_status triad_sflow_sender_status(
	struct triad_sflow_sender *sender)
{
	return TRIAD_LOCKED(&sender->lock, sender->published);
}

static void publish_status(struct triad_sflow_sender *sender)
{
	sender->status.n_collectors = sender->params.n_collectors;
	for (unsigned i = 0; i < sender->params.n_collectors; i++)
		sender->status.collectors[i] = sender->collectors[i].status;
	sender->status.agent = sender->header.agent;
	if (sender->schedule)
		sender->status.schedule = triad_sflow_schedule_status(sender->schedule);
	/* Assembled without the lock, which readers wait for. */
	pthread_mutex_lock(&sender->lock);
	sender->published = sender->status;
	pthread_mutex_unlock(&sender->lock);
}

/* --- collectors --- */

static void note_failure(struct triad_sflow_sender *sender, struct collector *collector,
	int error, uint64_t now_us)
{
	struct triad_sflow_collector_status *status = &collector->status;
	char text[TRIAD_ADDRESS_TEXT_SIZE];
	unsigned long suppressed;

	status->last_error = error;
	collector->failed_us = now_us;
	/* Already logged when it began to fail. */
	if (status->failing)
		return;
	status->failing = true;
	collector->n_drops_before = status->n_drops;
	if (!triad_log_limit_pass(&collector->limit, now_us, &suppressed))
		return;
	triad_address_format(&status->address, text);
	triad_log_write(sender->log, TRIAD_LOG_ERROR,
		"sFlow collector %s gets no datagrams: %s; check that it runs and how "
		"it is reached",
		text, strerror(error));
}

static void note_well(struct triad_sflow_sender *sender, uint64_t now_us)
{
	for (unsigned i = 0; i < sender->params.n_collectors; i++) {
		struct collector *collector = &sender->collectors[i];
		struct triad_sflow_collector_status *status = &collector->status;
		char text[TRIAD_ADDRESS_TEXT_SIZE];

		if (!status->failing || !collector->is_open ||
			now_us < collector->failed_us + WELL_US)
			continue;
		status->failing = false;
		triad_address_format(&status->address, text);
		triad_log_write(sender->log, TRIAD_LOG_INFO,
			"sFlow collector %s gets datagrams again; %lu were lost", text,
			(unsigned long)(status->n_drops - collector->n_drops_before));
	}
}

static void open_collectors(struct triad_sflow_sender *sender, uint64_t now_us)
{
	for (unsigned i = 0; i < sender->params.n_collectors; i++) {
		struct collector *collector = &sender->collectors[i];
		struct triad_address from;
		int error;

		if (collector->is_open || now_us < collector->open_again_us)
			continue;
		error = sender->udp->open(sender->udp->context,
			&collector->status.address, &from, &collector->handle);
		if (error) {
			note_failure(sender, collector, error, now_us);
			collector->open_again_us = now_us + OPEN_AGAIN_US;
			continue;
		}
		collector->is_open = true;
		/* Without a configured address the agent has that of the first
		 * socket. */
		if (!sender->header.agent.family)
			sender->header.agent = from;
	}
}

/* --- taking up parameters --- */

/* Collectors that stay keep their socket and counts. */
static void change_collectors(
	struct triad_sflow_sender *sender, const struct triad_sflow_params *params)
{
	struct collector old[TRIAD_SFLOW_MAX_COLLECTORS];
	unsigned n_old = sender->params.n_collectors;

	memcpy(old, sender->collectors, sizeof(old));
	memset(sender->collectors, 0, sizeof(sender->collectors));
	for (unsigned i = 0; i < params->n_collectors; i++) {
		struct collector *collector = &sender->collectors[i];

		collector->status.address = params->collectors[i];
		collector->limit.burst = 1;
		collector->limit.period_us = 60 * TRIAD_US_PER_S;
		for (unsigned j = 0; j < n_old; j++)
			if (triad_address_equals(
				    &old[j].status.address, &params->collectors[i])) {
				*collector = old[j];
				old[j] = old[--n_old];
				break;
			}
	}
	for (unsigned j = 0; j < n_old; j++)
		close_collector(sender, &old[j]);
}

static void change_agent(struct triad_sflow_sender *sender,
	const struct triad_sflow_params *params, uint64_t now_us)
{
	size_t headers = IPV4_AND_UDP_OCTETS;

	if (!params->n_collectors) {
		end_agent(sender);
		return;
	}
	if (!sender->params.n_collectors)
		sender->started_us = now_us;
	if (params->has_agent)
		sender->header.agent = params->agent;
	else if (sender->params.has_agent)
		sender->header.agent = (struct triad_address){0};
	/* The next datagram may have another size. */
	free(sender->buffer);
	sender->buffer = NULL;
	/* A datagram goes to all collectors, so the longest headers count. */
	for (unsigned i = 0; i < params->n_collectors; i++)
		if (params->collectors[i].family == AF_INET6)
			headers = IPV6_AND_UDP_OCTETS;
	sender->size = params->mtu - headers;
	if (sender->schedule)
		triad_sflow_schedule_set_interval(
			sender->schedule, params->interval_us, now_us);
}

static void apply_conf(struct triad_sflow_sender *sender, uint64_t now_us)
{
	struct triad_sflow_params params;
	bool left;

	pthread_mutex_lock(&sender->lock);
	params = sender->left_params;
	left = sender->left;
	sender->left = false;
	pthread_mutex_unlock(&sender->lock);
	if (!left)
		return;
	change_collectors(sender, &params);
	change_agent(sender, &params, now_us);
	sender->params = params;
	/* The agent's address must be found again, by opening a socket: so reopen the
	 * collectors that stayed. */
	for (unsigned i = 0; !sender->header.agent.family && i < params.n_collectors;
		i++) {
		close_collector(sender, &sender->collectors[i]);
		sender->collectors[i].open_again_us = 0;
	}
}

/* --- sending --- */

/* Sends what is in the buffer to all collectors. */
static void send_buffer(struct triad_sflow_sender *sender, size_t size, uint64_t now_us)
{
	sender->status.n_datagrams++;
	for (unsigned i = 0; i < sender->params.n_collectors; i++) {
		struct collector *collector = &sender->collectors[i];
		int error = 0;

		if (collector->is_open)
			error = sender->udp->send(sender->udp->context,
				collector->handle, sender->buffer, size);
		if (error)
			note_failure(sender, collector, error, now_us);
		/* A collector that is not open loses the datagram, too. */
		if (error || !collector->is_open)
			collector->status.n_drops++;
		else
			collector->status.n_datagrams++;
	}
}

/* The header of the next datagram. */
static const struct triad_sflow_header *next_header(
	struct triad_sflow_sender *sender, uint64_t now_us)
{
	struct triad_sflow_header *header = &sender->header;

	header->sequence++;
	header->uptime_ms = (uint32_t)((now_us - sender->started_us) / TRIAD_US_PER_MS);
	header->expanded = triad_sflow_schedule_is_expanded(sender->schedule);
	return header;
}

static void flush_datagram(struct triad_sflow_sender *sender, uint64_t now_us)
{
	size_t size = sender->begun ? triad_sflow_counters_size(&sender->datagram) : 0;

	sender->begun = false;
	if (size)
		send_buffer(sender, size, now_us);
}

static void send_due(struct triad_sflow_sender *sender, const struct triad_view *view,
	uint64_t now_us)
{
	uint32_t n_ports = view->fabric->n_ports, port;

	while (triad_sflow_schedule_next(sender->schedule, now_us, &port)) {
		struct triad_engine_row row;
		struct triad_sflow_counter_sample sample = {
			.row = &row, .port = &view->fabric->ports[port]};

		/* Rows are in no order in memory. */
		if (n_ports - port > PORTS_AHEAD)
			triad_engine_prefetch(
				view->engine, view->rows[port + PORTS_AHEAD]);
		if (!triad_view_read(view, port, &row) || !row.has || !row.answered ||
			triad_view_is_skipped(view, port)) {
			sender->status.n_skipped++;
			continue;
		}
		sample.sequence = triad_sflow_schedule_count(
			sender->schedule, port, &row, &sample.if_index);
		sender->status.n_samples++;
		if (sender->begun &&
			triad_sflow_counters_add(&sender->datagram, &sample))
			continue;
		/* The datagram is full, or there was none: begin the next one. */
		flush_datagram(sender, now_us);
		triad_sflow_counters_begin(&sender->datagram, sender->buffer,
			sender->size, next_header(sender, now_us));
		/* One sample fits into any datagram. */
		sender->begun = triad_sflow_counters_add(&sender->datagram, &sample);
	}
	flush_datagram(sender, now_us);
}

/* Sends one datagram for each request: they are few, and a collector that does not know
 * their header protocol drops the rest of a datagram. */
static void send_flow(struct triad_sflow_sender *sender,
	const struct triad_sampled_request *request, uint32_t if_index, uint64_t now_us)
{
	struct triad_sampled_frame frame;
	struct triad_sflow_flows flows;
	struct triad_sflow_flow_sample sample = {
		.if_index = if_index,
		.sequence = ++sender->flow_sequence,
		.sampling_rate = triad_sampler_rate(sender->sampler),
		.sample_pool = triad_sampler_pool(sender->sampler),
		.drops = triad_sampler_drops(sender->sampler),
		.input = if_index,
	};

	triad_sampled_request_frame(request, &frame);
	triad_sampled_frame_describe(&frame, request->has_grh, &sample);
	triad_sflow_flows_begin(
		&flows, sender->buffer, sender->size, next_header(sender, now_us));
	if (!triad_sflow_flows_add(&flows, &sample))
		return;
	sender->status.n_flow_samples++;
	send_buffer(sender, triad_sflow_flows_size(&flows), now_us);
}

/* Sends sampled requests, which come in at the SM's port. */
static void send_flows(struct triad_sflow_sender *sender, const struct triad_view *view,
	uint64_t now_us)
{
	struct triad_sampled_request request;
	uint32_t port = view->fabric->sm_port;

	if (!sender->sampler || port == TRIAD_FABRIC_NONE)
		return;
	while (triad_sampler_take(sender->sampler, &request))
		send_flow(sender, &request,
			triad_sflow_schedule_if_index(sender->schedule, port), now_us);
}

/* True when the schedule has the view's fabric. */
static bool prepare_schedule(struct triad_sflow_sender *sender,
	const struct triad_view *view, uint64_t now_us)
{
	unsigned long suppressed;
	int error = ENOMEM;

	if (now_us < sender->adopt_again_us)
		return false;
	if (!sender->buffer)
		sender->buffer = malloc(sender->size);
	if (!sender->schedule)
		sender->schedule = triad_sflow_schedule_new(
			TRIAD_SFLOW_MAX_INDEX, sender->params.interval_us);
	if (sender->buffer && sender->schedule)
		error = triad_sflow_schedule_adopt(
			sender->schedule, view->fabric, now_us);
	if (!error) {
		publish_indices(sender, view->fabric);
		return true;
	}
	sender->adopt_again_us = now_us + ADOPT_AGAIN_US;
	if (triad_log_limit_pass(&sender->memory_limit, now_us, &suppressed))
		triad_log_write(sender->log, TRIAD_LOG_ERROR,
			"sFlow sends no counters of %u ports: %s; trying again every "
			"5 seconds",
			view->fabric->n_ports, strerror(error));
	return false;
}

/* How long to sleep: until a datagram is full, within bounds; longer when nothing is
 * due. */
static uint64_t sleep_of(
	const struct triad_sflow_sender *sender, uint32_t n_ports, uint64_t now_us)
{
	uint64_t due_us = triad_sflow_schedule_next_us(sender->schedule);
	uint64_t n_samples = triad_sflow_counters_room(sender->size, &sender->header);
	uint64_t tick_us =
		sender->params.interval_us * n_samples / (n_ports ? n_ports : 1);

	if (tick_us < MIN_TICK_US)
		tick_us = MIN_TICK_US;
	if (tick_us > MAX_TICK_US)
		tick_us = MAX_TICK_US;
	if (due_us < now_us + tick_us)
		return tick_us;
	return due_us < now_us + MAX_SLEEP_US ? due_us - now_us : MAX_SLEEP_US;
}

uint64_t triad_sflow_sender_run(struct triad_sflow_sender *sender,
	const struct triad_view *view, uint64_t now_us)
{
	uint64_t sleep_us = MAX_SLEEP_US;

	apply_conf(sender, now_us);
	if (!sender->params.n_collectors) {
		publish_status(sender);
		return UINT64_MAX;
	}
	open_collectors(sender, now_us);
	note_well(sender, now_us);
	if (!view || !sender->header.agent.family) {
		if (sender->schedule)
			triad_sflow_schedule_pause(sender->schedule);
	} else if (prepare_schedule(sender, view, now_us)) {
		send_due(sender, view, now_us);
		send_flows(sender, view, now_us);
		sleep_us = sleep_of(sender, view->fabric->n_ports, now_us);
	}
	publish_status(sender);
	return sleep_us;
}
