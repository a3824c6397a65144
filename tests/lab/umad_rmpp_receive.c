/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <stdlib.h>

#include "tests/lab/umad_port.h"
#include "tests/lab/umad_rmpp.h"

/* A message that is not complete after this time is aborted. */
#define MESSAGE_TIMEOUT_US 40000000u

/* How long the ACK of the last segment can be repeated. */
#define LINGER_US 10000000u

#define MAX_MESSAGE_SIZE (256u << 20)

/* A message being received. */
struct lab_reassembly {
	struct lab_timer timer;
	struct lab_reassembly *next_in_bucket;
	struct lab_reassembly *next, **link; /* the agent's list */
	struct lab_agent *agent;
	struct lab_packet first; /* headers and source of the first packet */
	struct lab_message *message;
	size_t room; /* in the message */
	uint32_t n_contiguous, n_acknowledged;
	uint32_t window_end;
	uint64_t ahead; /* a bit for each segment after the contiguous ones */
	uint32_t n_segments, last_length; /* 0: not known yet */
	bool is_complete;
};

void lab_rmpp_answer(struct lab_port *port, const struct lab_packet *packet,
	uint8_t type, enum lab_rmpp_status status, uint32_t segment, uint32_t length)
{
	size_t header_size = lab_class_data_offset(lab_mad_class(packet->mad));
	struct lab_packet answer = {.dlid = packet->slid,
		.dqp = packet->sqp,
		.sqp = packet->dqp,
		.length = packet->length};

	memcpy(answer.mad, packet->mad, header_size);
	answer.mad[3] ^= LAB_METHOD_RESPONSE;
	answer.mad[27] = (uint8_t)status;
	lab_rmpp_set(answer.mad, type, LAB_RMPP_ACTIVE, segment, length);
	lab_port_transmit(port, &answer);
}

static void acknowledge(struct lab_port *port, struct lab_reassembly *it)
{
	it->n_acknowledged = it->n_contiguous;
	lab_rmpp_answer(
		port, &it->first, LAB_RMPP_ACK, 0, it->n_contiguous, it->window_end);
}

/* Complete messages stay for LINGER_US, so there are tens of thousands after as many
 * requests. */
static struct lab_reassembly **bucket_of(
	struct lab_port *port, const struct lab_packet *packet)
{
	uint64_t hash = lab_mad_tid(packet->mad) * 0x9e3779b97f4a7c15u;

	return &port->reassemblies[hash >> 50];
}

static void free_reassembly(struct lab_port *port, struct lab_reassembly *it)
{
	struct lab_reassembly **bucket = bucket_of(port, &it->first);

	while (*bucket != it)
		bucket = &(*bucket)->next_in_bucket;
	*bucket = it->next_in_bucket;
	*it->link = it->next;
	if (it->next)
		it->next->link = it->link;
	lab_timer_stop(&port->timers, &it->timer);
	free(it->message);
	free(it);
}

static void expired(void *context, struct lab_timer *timer)
{
	struct lab_reassembly *it = (struct lab_reassembly *)timer;

	if (!it->is_complete)
		lab_rmpp_answer(
			context, &it->first, LAB_RMPP_ABORT, LAB_RMPP_TOO_LONG, 0, 0);
	free_reassembly(context, it);
}

static bool is_same_message(const struct lab_packet *a, const struct lab_packet *b)
{
	return a->slid == b->slid && a->sqp == b->sqp &&
		lab_mad_tid(a->mad) == lab_mad_tid(b->mad) && a->mad[1] == b->mad[1] &&
		a->mad[2] == b->mad[2] && a->mad[3] == b->mad[3];
}

static struct lab_reassembly *find(struct lab_port *port, const struct lab_agent *agent,
	const struct lab_packet *packet)
{
	struct lab_reassembly *it = *bucket_of(port, packet);

	while (it && (it->agent != agent || !is_same_message(&it->first, packet)))
		it = it->next_in_bucket;
	return it;
}

static struct lab_reassembly *begin(
	struct lab_port *port, struct lab_agent *agent, const struct lab_packet *packet)
{
	struct lab_reassembly *it = calloc(1, sizeof(*it));
	struct lab_reassembly **bucket = bucket_of(port, packet);

	if (!it)
		return NULL;
	it->timer.expired = expired;
	it->agent = agent;
	it->first = *packet;
	it->window_end = 1;
	it->next_in_bucket = *bucket;
	*bucket = it;
	it->next = agent->reassemblies;
	it->link = &agent->reassemblies;
	if (it->next)
		it->next->link = &it->next;
	agent->reassemblies = it;
	lab_port_set_timer(port, &it->timer, MESSAGE_TIMEOUT_US);
	return it;
}

/* --- segments --- */

static bool make_room(struct lab_reassembly *it, size_t size)
{
	struct lab_message *message;

	if (size <= it->room)
		return true;
	if (size > MAX_MESSAGE_SIZE)
		return false;
	size += it->room + 4096;
	message = realloc(it->message, sizeof(*message) + size);
	if (!message)
		return false;
	it->message = message;
	it->room = size;
	return true;
}

/* Stores a segment at its position; false: memory is short or the message too long. */
static bool store(struct lab_reassembly *it, const uint8_t *mad)
{
	size_t header_size = lab_class_data_offset(lab_mad_class(mad));
	size_t data_size = LAB_MAD_SIZE - header_size;
	uint32_t number = lab_rmpp_segment(mad);
	size_t begin = header_size + (number - 1) * data_size;

	if (!make_room(it, begin + data_size))
		return false;
	if (number == 1)
		memcpy(it->message->octets, mad, header_size);
	memcpy(it->message->octets + begin, mad + header_size, data_size);
	if (lab_rmpp_flags(mad) & LAB_RMPP_LAST) {
		it->n_segments = number;
		it->last_length = lab_rmpp_length(mad);
	}
	it->ahead |= 1ull << (number - it->n_contiguous - 1);
	for (; it->ahead & 1; it->ahead >>= 1)
		it->n_contiguous++;
	return true;
}

/* The size of the whole message, from the payload length of its last segment. */
static size_t message_size(const struct lab_reassembly *it)
{
	size_t header_size = lab_class_data_offset(lab_mad_class(it->first.mad));
	size_t whole = LAB_MAD_SIZE - LAB_RMPP_HEADER_SIZE;
	size_t pad = it->last_length <= whole ? whole - it->last_length : 0;

	return header_size + it->n_segments * (LAB_MAD_SIZE - header_size) - pad;
}

static void complete(struct lab_port *port, struct lab_reassembly *it)
{
	struct lab_message *message = it->message;
	struct lab_packet packet = it->first;
	struct lab_agent *agent = it->agent;

	it->is_complete = true;
	it->message = NULL;
	acknowledge(port, it);
	lab_port_set_timer(port, &it->timer, LINGER_US);
	message->size = message_size(it);
	lab_port_hand_over(port, agent, &packet, 0, message);
}

static void take_segment(struct lab_port *port, struct lab_reassembly *it,
	const struct lab_packet *packet)
{
	uint32_t number = lab_rmpp_segment(packet->mad);

	if (!number || number > it->window_end)
		return;
	if (it->is_complete || number <= it->n_acknowledged) {
		/* The sender has missed the ACK. */
		acknowledge(port, it);
		return;
	}
	if (number <= it->n_contiguous ||
		(it->ahead >> (number - it->n_contiguous - 1) & 1))
		return;
	if (!store(it, packet->mad)) {
		lab_rmpp_answer(
			port, packet, LAB_RMPP_STOP, LAB_RMPP_NO_RESOURCES, 0, 0);
		free_reassembly(port, it);
		return;
	}
	if (it->n_segments && it->n_contiguous == it->n_segments) {
		complete(port, it);
	} else if (it->n_contiguous == it->window_end) {
		it->window_end += LAB_RMPP_WINDOW;
		acknowledge(port, it);
	}
}

static void take_data(
	struct lab_port *port, struct lab_agent *agent, const struct lab_packet *packet)
{
	struct lab_reassembly *it = find(port, agent, packet);
	bool is_first = lab_rmpp_segment(packet->mad) == 1;

	if (packet->mad[27])
		lab_rmpp_answer(
			port, packet, LAB_RMPP_ABORT, LAB_RMPP_BAD_STATUS, 0, 0);
	else if (is_first != !!(lab_rmpp_flags(packet->mad) & LAB_RMPP_FIRST))
		lab_rmpp_answer(
			port, packet, LAB_RMPP_ABORT, LAB_RMPP_BAD_SEGMENT, 0, 0);
	else {
		if (!it && is_first)
			it = begin(port, agent, packet);
		if (it)
			take_segment(port, it, packet);
	}
}

void lab_rmpp_take(
	struct lab_port *port, struct lab_agent *agent, const struct lab_packet *packet)
{
	enum lab_rmpp_status status = LAB_RMPP_BAD_TYPE;
	uint8_t type = packet->mad[25];

	if (packet->mad[24] != 1)
		status = LAB_RMPP_BAD_VERSION;
	else if (type == LAB_RMPP_DATA)
		return take_data(port, agent, packet);
	else if (type == LAB_RMPP_ACK)
		return lab_rmpp_take_ack(port, agent, packet);
	else if (type == LAB_RMPP_STOP || type == LAB_RMPP_ABORT)
		return lab_rmpp_take_end(port, agent, packet);
	lab_rmpp_take_end(port, agent, packet);
	lab_rmpp_answer(port, packet, LAB_RMPP_ABORT, status, 0, 0);
}

void lab_rmpp_end_agent(struct lab_port *port, struct lab_agent *agent)
{
	while (agent->reassemblies)
		free_reassembly(port, agent->reassemblies);
}
