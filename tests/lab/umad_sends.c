/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/umad_sends.h"

#include <stdlib.h>

#include "tests/lab/umad_port.h"
#include "tests/lab/umad_rmpp.h"

static struct lab_send **bucket_of(
	struct lab_sends *sends, uint64_t tid, uint8_t mgmt_class)
{
	uint64_t hash = (tid + mgmt_class) * 0x9e3779b97f4a7c15u;

	return &sends->buckets[hash >> 50];
}

/* Sends are reused, because a flood would spend its time in malloc(). */
static struct lab_send *allocate(struct lab_sends *sends)
{
	struct lab_send *send = sends->unused;

	if (send)
		sends->unused = send->next;
	else
		send = malloc(sizeof(*send));
	return send;
}

/* The program is notified only after the last try. */
static void expired(void *context, struct lab_timer *timer)
{
	struct lab_port *port = context;
	struct lab_send *send = (struct lab_send *)timer;

	if (send->retries_left && !send->rmpp) {
		struct lab_packet again = send->packet;

		send->retries_left--;
		port->counters.resent++;
		lab_send_wait(port, send);
		lab_port_transmit(port, &again);
		return;
	}
	if (send->rmpp && lab_rmpp_send_again(port, send))
		return;
	lab_port_time_out(port, send);
	lab_send_end(port, send);
}

struct lab_send *lab_send_new(struct lab_port *port, struct lab_agent *agent,
	const struct ib_user_mad_hdr *header, const struct lab_packet *packet)
{
	struct lab_send *send = allocate(&port->sends);
	struct lab_send **bucket;

	if (!send)
		return NULL;
	send->timer = (struct lab_timer){.expired = expired};
	send->agent = agent;
	send->header = *header;
	send->packet = *packet;
	send->retries_left = header->retries;
	send->rmpp = NULL;
	bucket = bucket_of(
		&port->sends, lab_mad_tid(packet->mad), lab_mad_class(packet->mad));
	send->next_in_bucket = *bucket;
	*bucket = send;
	send->next = agent->sends;
	send->link = &agent->sends;
	if (send->next)
		send->next->link = &send->next;
	agent->sends = send;
	return send;
}

void lab_send_end(struct lab_port *port, struct lab_send *send)
{
	struct lab_send **bucket = bucket_of(&port->sends,
		lab_mad_tid(send->packet.mad), lab_mad_class(send->packet.mad));

	while (*bucket != send)
		bucket = &(*bucket)->next_in_bucket;
	*bucket = send->next_in_bucket;
	*send->link = send->next;
	if (send->next)
		send->next->link = send->link;
	lab_timer_stop(&port->timers, &send->timer);
	lab_rmpp_send_free(send->rmpp);
	send->next = port->sends.unused;
	port->sends.unused = send;
}

void lab_send_wait(struct lab_port *port, struct lab_send *send)
{
	lab_port_set_timer(
		port, &send->timer, (uint64_t)send->header.timeout_ms * 1000);
}

struct lab_send *lab_sends_find(
	struct lab_sends *sends, uint64_t tid, uint8_t mgmt_class, bool is_response)
{
	struct lab_send *send = *bucket_of(sends, tid, mgmt_class);

	while (send &&
		(lab_mad_tid(send->packet.mad) != tid ||
			lab_mad_class(send->packet.mad) != mgmt_class ||
			lab_mad_is_response(send->packet.mad) != is_response))
		send = send->next_in_bucket;
	return send;
}

void lab_sends_end_agent(struct lab_port *port, struct lab_agent *agent)
{
	while (agent->sends)
		lab_send_end(port, agent->sends);
}
