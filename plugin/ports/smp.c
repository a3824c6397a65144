/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/ports/smp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/physp.h"
#include "service/umad.h"
#include "triad/clock.h"

#define QP_GSI 1
#define WINDOW 8u /* SMPs on their way; switches answer theirs one by one */

enum { DIRECTED, PERFORMANCE, PING, N_CLASSES };

struct triad_smp {
	uint64_t port_guid;
	struct triad_umad *umads[N_CLASSES];
	uint32_t tid;
};

struct triad_smp *triad_smp_new(uint64_t port_guid)
{
	struct triad_smp *smp = calloc(1, sizeof(*smp));

	if (smp)
		smp->port_guid = port_guid;
	return smp;
}

void triad_smp_free(struct triad_smp *smp)
{
	if (!smp)
		return;
	/* 'true': late answers may still arrive. */
	for (unsigned i = 0; i < N_CLASSES; i++)
		triad_umad_close(smp->umads[i], true);
	free(smp);
}

/* --- routes --- */

int triad_smp_find_route(struct osm_opensm *osm, const struct triad_fabric *fabric,
	uint64_t node_guid, const bool *avoided, struct triad_smp_route *route)
{
	uint32_t node =
		fabric ? triad_fabric_find_node(fabric, node_guid) : TRIAD_FABRIC_NONE;
	uint32_t port;

	/* Requests to the PMA use LID and SL of the switch's port 0; SMPs use the
	 * directed route. */
	memset(route, 0, sizeof(*route));
	if (node == TRIAD_FABRIC_NONE)
		return ENOENT;
	/* Only a switch has a port 0. */
	if (!triad_physp_find_m_key(osm, node_guid, 0, &route->m_key))
		return ENOENT;
	port = triad_fabric_find_port(fabric, node, 0);
	if (port != TRIAD_FABRIC_NONE) {
		route->lid = fabric->ports[port].lid;
		route->sl = fabric->ports[port].sl;
	}
	return triad_route_find(fabric, node, avoided, &route->path);
}

/* --- one MAD and its answer --- */

static int open_class(struct triad_smp *smp, unsigned class)
{
	static const int classes[N_CLASSES] = {
		[DIRECTED] = TRIAD_SMP_CLASS_DIRECTED,
		[PERFORMANCE] = TRIAD_MAD_CLASS_PERFORMANCE,
		[PING] = TRIAD_SMP_CLASS_PING,
	};

	if (smp->umads[class])
		return 0;
	if (class == PING)
		return triad_umad_open_vendor(smp->port_guid, classes[class],
			triad_smp_openib_oui, 0, &smp->umads[class]);
	return triad_umad_open(smp->port_guid, classes[class], &smp->umads[class]);
}

int triad_smp_open(struct triad_smp *smp)
{
	return open_class(smp, DIRECTED);
}

/* Waits for the answer to 'tid'; skips late answers to earlier MADs. */
static int await(const struct triad_mad_transport *transport, uint32_t tid,
	uint64_t until_us, struct triad_mad_reply *reply)
{
	for (;;) {
		uint64_t now_us = triad_clock_now_us();
		int error;

		if (now_us >= until_us)
			return ETIMEDOUT;
		error = transport->receive(
			transport->context, until_us - now_us, reply);
		if (error && error != EAGAIN)
			return error;
		if (!error && triad_smp_is_answer(reply, tid))
			return reply->status;
	}
}

static int exchange(struct triad_smp *smp, unsigned class,
	const struct triad_mad_address *to, const uint8_t *mad, unsigned timeout_ms,
	struct triad_mad_reply *reply)
{
	const struct triad_mad_transport *transport;
	int error = open_class(smp, class);

	if (error)
		return error;
	transport = triad_umad_transport(smp->umads[class]);
	error = transport->send(transport->context, to, mad, timeout_ms);
	if (error)
		return error;
	/* Wait a little longer than the kernel, which reports a missing answer; the
	 * simulator may not. */
	return await(transport, triad_pma_tid(mad, TRIAD_MAD_SIZE),
		triad_clock_now_us() + (timeout_ms + 50) * TRIAD_US_PER_MS, reply);
}

/* --- SMPs --- */

int triad_smp_ask(struct triad_smp *smp, const struct triad_smp_route *route,
	const struct triad_smp_request *request, uint8_t *data, uint16_t *status)
{
	const struct triad_mad_address to = {.lid = TRIAD_SMP_PERMISSIVE_LID};
	uint8_t mad[TRIAD_MAD_SIZE];
	struct triad_mad_reply reply;
	int error;

	*status = 0;
	triad_smp_encode(mad, route, request, data, ++smp->tid);
	error = exchange(smp, DIRECTED, &to, mad, request->timeout_ms, &reply);
	if (error)
		return error;
	return triad_smp_decode(reply.mad, data, status);
}

/* --- several SMPs --- */

struct batch {
	struct triad_smp *smp;
	struct triad_smp_item *items;
	size_t n; /* of these as many as may be sent */
	size_t n_sent, n_pending;
	uint32_t first_tid;
	uint64_t until_us; /* the time of the last one that was sent */
};

static int send_item(struct batch *batch, const struct triad_smp_request *request,
	const struct triad_mad_transport *transport)
{
	const struct triad_mad_address to = {.lid = TRIAD_SMP_PERMISSIVE_LID};
	struct triad_smp_item *item = &batch->items[batch->n_sent];
	struct triad_smp_request one = *request;
	uint8_t mad[TRIAD_MAD_SIZE];
	int error;

	one.modifier = item->modifier;
	item->error = EINPROGRESS;
	triad_smp_encode(mad, item->route, &one, item->data, ++batch->smp->tid);
	error = transport->send(transport->context, &to, mad, request->timeout_ms);
	if (error)
		return error;
	batch->n_sent++;
	batch->n_pending++;
	/* As exchange(). */
	batch->until_us =
		triad_clock_now_us() + (request->timeout_ms + 50) * TRIAD_US_PER_MS;
	return 0;
}

static void take_reply(struct batch *batch, const struct triad_mad_reply *reply)
{
	uint32_t tid = triad_pma_tid(reply->mad, TRIAD_MAD_SIZE);
	uint32_t at = tid - batch->first_tid;
	struct triad_smp_item *item = at < batch->n_sent ? &batch->items[at] : NULL;

	if (!item || item->error != EINPROGRESS || !triad_smp_is_answer(reply, tid))
		return;
	item->error = reply->status
		? reply->status
		: triad_smp_decode(reply->mad, item->data, &item->status);
	batch->n_pending--;
}

int triad_smp_ask_all(struct triad_smp *smp, const struct triad_smp_request *request,
	struct triad_smp_item *items, size_t n, triad_smp_may_send *may_send,
	void *context)
{
	struct batch batch = {
		.smp = smp, .items = items, .n = n, .first_tid = smp->tid + 1};
	int error = open_class(smp, DIRECTED);
	const struct triad_mad_transport *transport =
		error ? NULL : triad_umad_transport(smp->umads[DIRECTED]);
	struct triad_mad_reply reply;

	while (!error && (batch.n_sent < batch.n || batch.n_pending)) {
		uint64_t now_us = triad_clock_now_us();

		if (batch.n_sent < batch.n && batch.n_pending < WINDOW) {
			if (may_send && !may_send(context))
				batch.n = batch.n_sent;
			else
				error = send_item(&batch, request, transport);
			continue;
		}
		if (now_us >= batch.until_us)
			break;
		error = transport->receive(
			transport->context, batch.until_us - now_us, &reply);
		if (!error)
			take_reply(&batch, &reply);
		else if (error == EAGAIN)
			error = 0;
	}
	for (size_t i = 0; i < n; i++)
		if (i >= batch.n)
			items[i].error = ECANCELED;
		else if (i >= batch.n_sent || items[i].error == EINPROGRESS)
			items[i].error = error ? error : ETIMEDOUT;
	return batch.n_sent ? 0 : error;
}

/* --- counters --- */

static int ask_pma(struct triad_smp *smp, const struct triad_mad_address *to,
	enum triad_pma_attribute attribute, uint8_t port, unsigned timeout_ms,
	struct triad_mad_reply *reply)
{
	uint8_t mad[TRIAD_MAD_SIZE];
	uint16_t status;
	int error;

	triad_pma_encode_get(mad, attribute, port, ++smp->tid);
	error = exchange(smp, PERFORMANCE, to, mad, timeout_ms, reply);
	if (error)
		return error;
	return triad_pma_check(reply->mad, reply->size, attribute, &status) ? EPROTO
									    : 0;
}

int triad_smp_read_counters(struct triad_smp *smp, uint16_t lid, uint8_t sl,
	uint8_t port, unsigned timeout_ms, struct triad_smp_counts *counts)
{
	const struct triad_mad_address to = {
		.lid = lid, .sl = sl, .qpn = QP_GSI, .qkey = TRIAD_MAD_GSI_QKEY};
	uint32_t capabilities = TRIAD_PMA_EXTENDED_WIDTH;
	struct triad_pma_reading narrow = {0}, wide = {0};
	struct triad_mad_reply reply;
	int error =
		ask_pma(smp, &to, TRIAD_PMA_PORT_COUNTERS, port, timeout_ms, &reply);

	if (!error)
		error = triad_pma_decode_counters(reply.mad, TRIAD_PMA_PORT_COUNTERS,
			port, capabilities, &narrow);
	if (error)
		return error;
	/* A refusal is fine.  No answer is none: two readings are compared, and must be
	 * of the same attribute. */
	error = ask_pma(smp, &to, TRIAD_PMA_CLASS_PORT_INFO, port, timeout_ms, &reply);
	if (error && error != EPROTO)
		return error;
	if (!error)
		capabilities |= triad_pma_decode_capabilities(reply.mad) &
			TRIAD_PMA_WIDE_ERRORS;
	error = ask_pma(
		smp, &to, TRIAD_PMA_PORT_COUNTERS_EXTENDED, port, timeout_ms, &reply);
	if (!error)
		error = triad_pma_decode_counters(reply.mad,
			TRIAD_PMA_PORT_COUNTERS_EXTENDED, port, capabilities, &wide);
	/* An agent may lack it altogether, and not answer that. */
	if (error && error != EPROTO && capabilities & TRIAD_PMA_WIDE_ERRORS)
		return error;
	triad_smp_count(counts, &narrow, error ? NULL : &wide);
	return 0;
}

/* --- data --- */

#define DATA_WINDOW 32u
#define DATA_TIMEOUT_MS 10u

uint32_t triad_smp_send_data(
	struct triad_smp *smp, uint16_t lid, uint8_t sl, uint32_t n)
{
	const struct triad_mad_address to = {
		.lid = lid, .sl = sl, .qpn = QP_GSI, .qkey = TRIAD_MAD_GSI_QKEY};
	const struct triad_mad_transport *transport;
	uint8_t mad[TRIAD_MAD_SIZE];
	struct triad_mad_reply reply;
	uint32_t n_sent = 0, n_ended = 0;
	int error = open_class(smp, PERFORMANCE);

	if (error)
		return 0;
	transport = triad_umad_transport(smp->umads[PERFORMANCE]);
	while (!error && (n_sent < n || n_ended < n_sent)) {
		if (n_sent < n && n_sent - n_ended < DATA_WINDOW) {
			triad_pma_encode_get(
				mad, TRIAD_PMA_PORT_COUNTERS, 0, ++smp->tid);
			error = transport->send(
				transport->context, &to, mad, DATA_TIMEOUT_MS);
			n_sent += !error;
			continue;
		}
		/* A transport may lose the report, too. */
		error = transport->receive(transport->context,
			(DATA_TIMEOUT_MS + 50) * TRIAD_US_PER_MS, &reply);
		n_ended = error == EAGAIN ? n_sent : n_ended + 1;
		error = error == EAGAIN ? 0 : error;
	}
	return n_sent;
}

/* --- ping --- */

int triad_smp_ping(struct triad_smp *smp, uint16_t lid, uint8_t sl, unsigned timeout_ms)
{
	const struct triad_mad_address to = {
		.lid = lid, .sl = sl, .qpn = QP_GSI, .qkey = TRIAD_MAD_GSI_QKEY};
	uint8_t mad[TRIAD_MAD_SIZE];
	struct triad_mad_reply reply;

	triad_smp_encode_ping(mad, ++smp->tid);
	return exchange(smp, PING, &to, mad, timeout_ms, &reply);
}
