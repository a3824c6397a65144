/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <stdlib.h>

#include "tests/lab/umad_port.h"
#include "tests/lab/umad_rmpp.h"

/* How long to wait for an ACK, unless the MAD's own timeout is shorter. */
#define ACK_TIMEOUT_MS 2000u

struct lab_rmpp_send {
	uint32_t n_segments;
	uint32_t n_sent, n_acknowledged;
	uint32_t window_end;
	size_t header_size; /* of each segment */
	size_t size;        /* of the data */
	uint8_t data[];
};

static void set_ack_timer(struct lab_port *port, struct lab_send *send)
{
	uint32_t timeout_ms = send->header.timeout_ms;

	if (!timeout_ms || timeout_ms > ACK_TIMEOUT_MS)
		timeout_ms = ACK_TIMEOUT_MS;
	lab_port_set_timer(port, &send->timer, (uint64_t)timeout_ms * 1000);
}

static void send_segment(struct lab_port *port, struct lab_send *send, uint32_t number)
{
	struct lab_rmpp_send *rmpp = send->rmpp;
	struct lab_packet packet = send->packet;
	size_t room = LAB_MAD_SIZE - rmpp->header_size;
	size_t begin = (number - 1) * room;
	size_t size = rmpp->size - begin < room ? rmpp->size - begin : room;
	/* The payload length counts from the end of the RMPP header. */
	size_t extra = rmpp->header_size - LAB_RMPP_HEADER_SIZE;
	uint8_t flags = LAB_RMPP_ACTIVE;
	size_t length = 0;

	if (number == 1) {
		flags |= LAB_RMPP_FIRST;
		length = rmpp->size + rmpp->n_segments * extra;
	}
	if (number == rmpp->n_segments) {
		flags |= LAB_RMPP_LAST;
		length = size + extra;
	}
	memcpy(packet.mad + rmpp->header_size, rmpp->data + begin, size);
	memset(packet.mad + rmpp->header_size + size, 0, room - size);
	lab_rmpp_set(packet.mad, LAB_RMPP_DATA, flags, number, (uint32_t)length);
	lab_port_transmit(port, &packet);
}

static void send_window(struct lab_port *port, struct lab_send *send)
{
	struct lab_rmpp_send *rmpp = send->rmpp;

	while (rmpp->n_sent < rmpp->window_end && rmpp->n_sent < rmpp->n_segments)
		send_segment(port, send, ++rmpp->n_sent);
	set_ack_timer(port, send);
}

int lab_rmpp_send_begin(struct lab_port *port, struct lab_send *send,
	const uint8_t *message, size_t size)
{
	size_t header_size = lab_class_data_offset(lab_mad_class(message));
	size_t room = LAB_MAD_SIZE - header_size;
	size_t data_size = size - header_size;
	struct lab_rmpp_send *rmpp = malloc(sizeof(*rmpp) + data_size);

	if (!rmpp)
		return ENOMEM;
	*rmpp = (struct lab_rmpp_send){.header_size = header_size, .size = data_size};
	rmpp->n_segments = (uint32_t)((data_size + room - 1) / room);
	/* A message without data has one segment, too. */
	if (!rmpp->n_segments)
		rmpp->n_segments = 1;
	rmpp->window_end = 1;
	memcpy(rmpp->data, message + header_size, data_size);
	send->rmpp = rmpp;
	send_window(port, send);
	return 0;
}

bool lab_rmpp_send_again(struct lab_port *port, struct lab_send *send)
{
	struct lab_rmpp_send *rmpp = send->rmpp;

	/* All segments are acknowledged and no response arrived: only the program may
	 * send the request again. */
	if (!send->retries_left || rmpp->n_acknowledged == rmpp->n_segments)
		return false;
	send->retries_left--;
	port->counters.resent++;
	rmpp->n_sent = rmpp->n_acknowledged;
	send_window(port, send);
	return true;
}

void lab_rmpp_send_free(struct lab_rmpp_send *rmpp)
{
	free(rmpp);
}

/* --- packets from the receiver --- */

/* The message that the receiver's ACK, ABORT or STOP belongs to. */
static struct lab_send *find_message(
	struct lab_port *port, struct lab_agent *agent, const struct lab_packet *packet)
{
	const uint8_t *mad = packet->mad;
	/* The receiver inverts the method's response bit. */
	struct lab_send *send = lab_sends_find(&port->sends, lab_mad_tid(mad),
		lab_mad_class(mad), !lab_mad_is_response(mad));

	if (!send || !send->rmpp || send->agent != agent)
		return NULL;
	return send->packet.dlid == packet->slid ? send : NULL;
}

/* Ends a message that is not completely acknowledged, without a notice to its
 * program. */
static void abort_message(struct lab_port *port, struct lab_send *send)
{
	if (send && send->rmpp->n_acknowledged < send->rmpp->n_segments)
		lab_send_end(port, send);
}

static void refuse(struct lab_port *port, struct lab_send *send,
	const struct lab_packet *packet, enum lab_rmpp_status status)
{
	abort_message(port, send);
	lab_rmpp_answer(port, packet, LAB_RMPP_ABORT, status, 0, 0);
}

/* The receiver has the last segment. */
static void finish(
	struct lab_port *port, struct lab_send *send, const struct lab_packet *ack)
{
	if (!send->header.timeout_ms) {
		lab_send_end(port, send);
		return;
	}
	lab_send_wait(port, send);
	/* Permits the peer to send its own message, with a window of one segment. */
	lab_rmpp_answer(port, ack, LAB_RMPP_ACK, 0, 0, 1);
}

static void advance(struct lab_port *port, struct lab_send *send,
	const struct lab_packet *ack, uint32_t segment, uint32_t window_end)
{
	struct lab_rmpp_send *rmpp = send->rmpp;

	/* An older ACK contains nothing new. */
	if (window_end < rmpp->window_end || segment < rmpp->n_acknowledged)
		return;
	if (segment > rmpp->n_acknowledged) {
		rmpp->n_acknowledged = segment;
		send->retries_left = send->header.retries;
	}
	rmpp->window_end = window_end;
	if (rmpp->n_acknowledged == rmpp->n_segments)
		finish(port, send, ack);
	else
		send_window(port, send);
}

void lab_rmpp_take_ack(
	struct lab_port *port, struct lab_agent *agent, const struct lab_packet *ack)
{
	struct lab_send *send = find_message(port, agent, ack);
	uint32_t segment = lab_rmpp_segment(ack->mad);
	uint32_t window_end = lab_rmpp_length(ack->mad);

	if (ack->mad[27])
		refuse(port, send, ack, LAB_RMPP_BAD_STATUS);
	else if (window_end < segment)
		refuse(port, send, ack, LAB_RMPP_WINDOW_TOO_SMALL);
	else if (!send)
		return;
	else if (send->rmpp->n_acknowledged == send->rmpp->n_segments)
		lab_rmpp_answer(port, ack, LAB_RMPP_ACK, 0, 0, 1);
	else if (segment > send->rmpp->n_segments || segment > send->rmpp->window_end)
		refuse(port, send, ack, LAB_RMPP_SEGMENT_TOO_BIG);
	else
		advance(port, send, ack, segment, window_end);
}

void lab_rmpp_take_end(
	struct lab_port *port, struct lab_agent *agent, const struct lab_packet *end)
{
	abort_message(port, find_message(port, agent, end));
}
