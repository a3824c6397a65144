/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/read_back.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ib/mad_get.h"
#include "service/umad.h"
#include "triad/clock.h"

#define MAX_IN_FLIGHT 16
#define TIMEOUT_MS 500
#define N_TRIES 3
#define WAIT_US 50000
/* How long to wait if the transport loses a request without a report. */
#define LOST_US (2 * TIMEOUT_MS * UINT64_C(1000))

/* Offsets in a MAD [IBA 14.2.1.1]. */
enum { AT_STATUS = 4, AT_TID = 8, AT_DATA = 64 };
struct slot {
	size_t item;
	unsigned tries;
	uint32_t tid; /* 0: free */
	uint64_t sent_us;
};

struct reader {
	const struct triad_mad_transport *transport;
	const struct triad_fabric *fabric;
	uint64_t m_key;
	struct triad_read_back *items;
	size_t n, next;
	unsigned n_in_flight;
	uint32_t last_tid;
	uint64_t silent[65536 / 64]; /* a bit for each LID that did not answer */
	struct slot slots[MAX_IN_FLIGHT];
};

uint32_t triad_read_back_modifier(const struct triad_fabric *fabric, uint32_t port,
	enum triad_audit_kind kind, uint32_t block)
{
	bool is_switch =
		fabric->nodes[fabric->ports[port].node].type == TRIAD_NODE_SWITCH;
	uint32_t number = is_switch ? fabric->ports[port].number : 0;

	switch (kind) {
	case TRIAD_AUDIT_PORT_INFO:
		return number;
	case TRIAD_AUDIT_SL2VL:
		return number | (is_switch ? block << 8 : 0);
	case TRIAD_AUDIT_VLARB:
		return number | block << 16;
	case TRIAD_AUDIT_PKEYS:
		return number << 16 | block;
	default:
		return block;
	}
}

static void encode(const struct reader *reader, const struct triad_read_back *item,
	uint32_t tid, uint8_t mad[TRIAD_MAD_SIZE])
{
	struct triad_wire w;

	triad_mad_begin_get(&w, mad, TRIAD_MAD_CLASS_SUBNET_LID, tid);
	triad_wire_put(&w, 2, triad_audit_attribute(item->kind));
	triad_wire_put(&w, 2, 0);
	triad_wire_put(&w, 4,
		triad_read_back_modifier(
			reader->fabric, item->port, item->kind, item->block));
	triad_wire_put(&w, 8, reader->m_key);
}

static void end_read(struct reader *reader, struct slot *slot, int error)
{
	reader->items[slot->item].error = error;
	slot->tid = 0;
	reader->n_in_flight--;
}

/* False when the transport is full. */
static bool send_slot(struct reader *reader, struct slot *slot)
{
	const struct triad_read_back *item = &reader->items[slot->item];
	struct triad_mad_address to = {.lid = reader->fabric->ports[item->port].lid};
	uint8_t mad[TRIAD_MAD_SIZE];
	int error;

	slot->tid = ++reader->last_tid;
	slot->sent_us = triad_clock_now_us();
	encode(reader, item, slot->tid, mad);
	error = reader->transport->send(
		reader->transport->context, &to, mad, TIMEOUT_MS);
	if (error && error != EAGAIN)
		end_read(reader, slot, error);
	else if (!error)
		slot->tries++;
	return error != EAGAIN;
}

static uint16_t lid_of(const struct reader *reader, size_t item)
{
	return reader->fabric->ports[reader->items[item].port].lid;
}

static bool is_silent(const struct reader *reader, uint16_t lid)
{
	return reader->silent[lid / 64] >> lid % 64 & 1;
}

static void send_more(struct reader *reader)
{
	for (unsigned i = 0; i < MAX_IN_FLIGHT; i++) {
		struct slot *slot = &reader->slots[i];

		/* Skip the other tables of a port that did not answer once: each would
		 * wait for all tries. */
		while (reader->next < reader->n &&
			is_silent(reader, lid_of(reader, reader->next)))
			reader->next++;
		if (reader->next == reader->n)
			return;
		if (slot->tid)
			continue;
		*slot = (struct slot){.item = reader->next};
		reader->n_in_flight++;
		/* The transport is full: send the item in a later round. */
		if (!send_slot(reader, slot)) {
			slot->tid = 0;
			reader->n_in_flight--;
			return;
		}
		reader->next++;
	}
}

static void give_up_or_try(struct reader *reader, struct slot *slot, int error)
{
	uint16_t lid = lid_of(reader, slot->item);

	if (!is_silent(reader, lid) && slot->tries < N_TRIES && send_slot(reader, slot))
		return;
	if (slot->tries >= N_TRIES)
		reader->silent[lid / 64] |= UINT64_C(1) << lid % 64;
	end_read(reader, slot, error);
}

static void handle_reply(struct reader *reader, const struct triad_mad_reply *reply)
{
	struct triad_read_back *item;
	struct slot *slot = NULL;
	uint32_t tid = 0;

	/* No slot has the TID of a late answer to an earlier try. */
	if (reply->size >= TRIAD_MAD_SIZE)
		tid = (uint32_t)triad_wire_number(reply->mad, AT_TID + 4, 4);
	for (unsigned i = 0; tid && !slot && i < MAX_IN_FLIGHT; i++)
		if (reader->slots[i].tid == tid)
			slot = &reader->slots[i];
	if (!slot)
		return;
	item = &reader->items[slot->item];
	if (reply->status) {
		give_up_or_try(reader, slot, reply->status);
		return;
	}
	item->status = (uint16_t)triad_wire_number(reply->mad, AT_STATUS, 2);
	memcpy(item->data, reply->mad + AT_DATA, sizeof(item->data));
	end_read(reader, slot, item->status ? EIO : 0);
}

static void look_for_lost(struct reader *reader)
{
	uint64_t now_us = triad_clock_now_us();

	for (unsigned i = 0; i < MAX_IN_FLIGHT; i++) {
		struct slot *slot = &reader->slots[i];

		if (slot->tid && now_us - slot->sent_us > LOST_US)
			give_up_or_try(reader, slot, ETIMEDOUT);
	}
}

static int read_blocks(struct reader *reader, const struct triad_read_back_owner *owner)
{
	struct triad_mad_reply reply;

	while (reader->next < reader->n || reader->n_in_flight) {
		int error;

		if (!owner->goes_on(owner->context, reader->next))
			return ECANCELED;
		send_more(reader);
		error = reader->transport->receive(
			reader->transport->context, WAIT_US, &reply);
		if (error && error != EAGAIN)
			return error;
		if (!error)
			handle_reply(reader, &reply);
		look_for_lost(reader);
	}
	return 0;
}

int triad_read_back(const struct triad_fabric *fabric, uint64_t m_key,
	struct triad_read_back *items, size_t n,
	const struct triad_read_back_owner *owner)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	struct triad_umad *umad;
	int error;

	if (!reader)
		return ENOMEM;
	error = triad_umad_open(
		fabric->sm_port_guid, TRIAD_MAD_CLASS_SUBNET_LID, &umad);
	if (error) {
		free(reader);
		return error;
	}
	reader->fabric = fabric;
	reader->m_key = m_key;
	reader->items = items;
	reader->n = n;
	for (size_t i = 0; i < n; i++)
		items[i].error = ETIMEDOUT; /* remains for items that are never sent */
	reader->transport = triad_umad_transport(umad);
	error = read_blocks(reader, owner);
	triad_umad_close(umad, reader->n_in_flight);
	free(reader);
	return error;
}
