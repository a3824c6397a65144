/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/umad_port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/lab/umad_rmpp.h"

#define MAX_BATCH 64u

/* A packet that a fault delays. */
struct delayed {
	struct lab_timer timer;
	struct lab_packet packet;
	size_t size;
	enum lab_direction direction;
};

uint64_t lab_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/* --- timers --- */

void lab_port_wake(struct lab_port *port)
{
	const uint64_t one = 1;

	/* Calls the kernel: this library replaces write(). */
	(void)!syscall(SYS_write, port->wake_fd, &one, sizeof(one));
}

void lab_port_set_timer(
	struct lab_port *port, struct lab_timer *timer, uint64_t after_us)
{
	uint64_t at_us = lab_now_us() + after_us;

	/* When memory is short, the timer never expires. */
	if (lab_timer_set(&port->timers, timer, at_us) || at_us >= port->wake_at_us)
		return;
	port->wake_at_us = at_us;
	lab_port_wake(port);
}

/* Sets the time of the thread's next check of the timers.  An earlier time is kept even
 * if no timer is due then, so that a program that sends and receives one MAD after the
 * other need not wake the thread for each. */
static void choose_wake_time(struct lab_port *port, uint64_t now_us)
{
	uint64_t next_us = lab_timers_next_us(&port->timers);

	if (next_us < port->wake_at_us || port->wake_at_us <= now_us)
		port->wake_at_us = next_us;
}

/* --- out --- */

static void put_on_wire(struct lab_port *port, const struct lab_packet *packet)
{
	bool must_flush = false;

	lab_wire_send(port->wire, packet, &must_flush);
	if (must_flush)
		lab_port_wake(port);
}

static void dispatch(struct lab_port *port, struct lab_packet *packet, size_t size);

static void delay_is_over(void *context, struct lab_timer *timer)
{
	struct delayed *delayed = (struct delayed *)timer;

	if (delayed->direction == LAB_OUT)
		put_on_wire(context, &delayed->packet);
	else
		dispatch(context, &delayed->packet, delayed->size);
	free(delayed);
}

/* Loses or delays the packet if the verdict demands it; else returns false. */
static bool is_held_back(struct lab_port *port, const struct lab_packet *packet,
	const struct lab_verdict *verdict, enum lab_direction direction)
{
	struct delayed *delayed;

	if (!verdict->delay_us)
		return verdict->n_copies == 0;
	for (unsigned i = 0; i < verdict->n_copies; i++) {
		delayed = malloc(sizeof(*delayed));
		if (!delayed)
			break;
		*delayed = (struct delayed){.timer = {.expired = delay_is_over},
			.packet = *packet,
			.size = verdict->size,
			.direction = direction};
		lab_port_set_timer(port, &delayed->timer, verdict->delay_us);
	}
	return true;
}

void lab_port_transmit(struct lab_port *port, struct lab_packet *packet)
{
	struct lab_verdict verdict = {.n_copies = 1};

	if (lab_faults_update(&port->faults, lab_now_us()))
		verdict = lab_faults_judge(&port->faults, packet, LAB_OUT);
	port->counters.faults += verdict.is_harmed;
	if (is_held_back(port, packet, &verdict, LAB_OUT))
		return;
	for (unsigned i = 0; i < verdict.n_copies; i++)
		put_on_wire(port, packet);
}

/* --- in --- */

static struct lab_message *new_message(const uint8_t *mad, size_t size)
{
	struct lab_message *message = malloc(sizeof(*message) + size);

	if (message) {
		message->size = size;
		memcpy(message->octets, mad, size);
	}
	return message;
}

/* NULL, which means that memory is short, counts as unread, too. */
static void queue_message(
	struct lab_port *port, struct lab_agent *agent, struct lab_message *message)
{
	if (!message || !lab_file_put(agent->file, message))
		port->counters.unread++;
}

/* Ends the request that the response answers; false: no request waits for it. */
static bool end_request(struct lab_port *port, const uint8_t *response)
{
	struct lab_send *request = lab_sends_find(
		&port->sends, lab_mad_tid(response), lab_mad_class(response), false);

	if (request)
		lab_send_end(port, request);
	else
		port->counters.late++;
	return request != NULL;
}

void lab_port_hand_over(struct lab_port *port, struct lab_agent *agent,
	const struct lab_packet *packet, size_t size, struct lab_message *message)
{
	if (lab_mad_is_response(packet->mad) && !end_request(port, packet->mad)) {
		free(message);
		return;
	}
	if (!message)
		message = new_message(packet->mad, size);
	if (message)
		message->header = (struct ib_user_mad_hdr){.id = agent->id,
			.length = (uint32_t)(lab_file_header_size(agent->file) +
				message->size),
			.qpn = packet->sqp,
			.lid = (uint16_t)packet->slid};
	queue_message(port, agent, message);
}

void lab_port_time_out(struct lab_port *port, const struct lab_send *send)
{
	struct lab_message *message =
		new_message(send->packet.mad, LAB_MAD_HEADER_SIZE);

	port->counters.timed_out++;
	if (message) {
		message->header = send->header;
		message->header.status = ETIMEDOUT;
	}
	queue_message(port, send->agent, message);
}

static void dispatch(struct lab_port *port, struct lab_packet *packet, size_t size)
{
	uint8_t *mad = packet->mad;
	struct lab_agent *agent;

	/* ibsim has written its client's number into the highest 16 bits.  In a request
	 * it stays, because it leads the response back. */
	if (lab_mad_is_response(mad))
		lab_mad_set_tid(mad, lab_mad_tid(mad) & 0xffffffffffff);
	agent = mad[0] == 1 ? lab_agents_find(&port->agents, mad) : NULL;
	if (!agent)
		port->counters.unclaimed++;
	else if (agent->rmpp_version && lab_class_has_rmpp(lab_mad_class(mad)) &&
		(lab_rmpp_flags(mad) & LAB_RMPP_ACTIVE))
		lab_rmpp_take(port, agent, packet);
	else
		lab_port_hand_over(port, agent, packet, size, NULL);
}

static void take(struct lab_port *port, struct lab_packet *packet, uint64_t now_us)
{
	struct lab_verdict verdict = {.n_copies = 1, .size = LAB_MAD_SIZE};

	/* A fabric drops a MAD that it can't deliver, without a notice. */
	if (packet->status) {
		port->counters.bounced++;
		return;
	}
	port->counters.received++;
	if (lab_faults_update(&port->faults, now_us))
		verdict = lab_faults_judge(&port->faults, packet, LAB_IN);
	port->counters.faults += verdict.is_harmed;
	if (is_held_back(port, packet, &verdict, LAB_IN))
		return;
	for (unsigned i = 0; i < verdict.n_copies; i++) {
		struct lab_packet copy = *packet;

		dispatch(port, &copy, verdict.size);
	}
}

/* --- the thread --- */

static void wait_for_work(struct lab_port *port, uint64_t wake_at_us)
{
	short events = lab_wire_has_queue(port->wire) ? POLLIN | POLLOUT : POLLIN;
	struct pollfd polled[] = {{.fd = lab_wire_fd(port->wire), .events = events},
		{.fd = port->wake_fd, .events = POLLIN}};
	struct timespec wait = {.tv_sec = 3600};
	uint64_t now_us = lab_now_us(), count;

	if (wake_at_us != LAB_NEVER) {
		uint64_t wait_us = wake_at_us > now_us ? wake_at_us - now_us : 0;

		wait.tv_sec = (time_t)(wait_us / 1000000u);
		wait.tv_nsec = (long)(wait_us % 1000000u) * 1000;
	}
	if (ppoll(polled, 2, &wait, NULL) > 0 && polled[1].revents)
		(void)!syscall(SYS_read, port->wake_fd, &count, sizeof(count));
}

/* Processes the packets and the timers that are due.  Returns the time of the next
 * check. */
static uint64_t work(struct lab_port *port, struct lab_packet *packets, unsigned n)
{
	uint64_t now_us = lab_now_us(), wake_at_us;

	pthread_mutex_lock(&port->lock);
	for (unsigned i = 0; i < n; i++)
		take(port, &packets[i], now_us);
	while (lab_timers_run_one(&port->timers, port, now_us))
		continue;
	choose_wake_time(port, now_us);
	wake_at_us = port->wake_at_us;
	pthread_mutex_unlock(&port->lock);
	return wake_at_us;
}

static void *run(void *context)
{
	static struct lab_packet packets[MAX_BATCH];
	struct lab_port *port = context;

	for (;;) {
		unsigned n = lab_wire_receive(port->wire, packets, MAX_BATCH);
		uint64_t wake_at_us = work(port, packets, n);

		lab_wire_flush(port->wire);
		if (n < MAX_BATCH)
			wait_for_work(port, wake_at_us);
	}
	return NULL;
}

/* --- opening --- */

static int start_thread(struct lab_port *port)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	/* The thread must not run the program's signal handlers. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attributes, run, port);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}

int lab_port_open(struct lab_port **opened)
{
	struct lab_port *port = calloc(1, sizeof(*port));
	int error;

	if (!port)
		return ENOMEM;
	pthread_mutex_init(&port->lock, NULL);
	port->wake_at_us = LAB_NEVER;
	port->faults.path = getenv("TRIAD_LAB_FAULTS");
	port->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	error = port->wake_fd < 0 ? errno : lab_wire_open(&port->wire);
	if (error) {
		free(port);
		return error;
	}
	error = start_thread(port);
	if (!error)
		*opened = port;
	return error;
}

int lab_port_format_counters(struct lab_port *port, char *text, size_t size)
{
	const struct lab_counters *it = &port->counters;
	int length;

	pthread_mutex_lock(&port->lock);
	length = snprintf(text, size,
		"sent %" PRIu64 "\nreceived %" PRIu64 "\nresent %" PRIu64
		"\ntimed_out %" PRIu64 "\nbounced %" PRIu64 "\nunclaimed %" PRIu64
		"\nlate %" PRIu64 "\nunread %" PRIu64 "\nunsent %" PRIu64
		"\nfaults %" PRIu64 "\n",
		it->sent, it->received, it->resent, it->timed_out, it->bounced,
		it->unclaimed, it->late, it->unread, lab_wire_dropped(port->wire),
		it->faults);
	pthread_mutex_unlock(&port->lock);
	return length;
}
