/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/ports/smp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/sweep/pma.h"
#include "service/umad.h"
#include "triad/clock.h"
#include "triad/wire.h"

#define CLASS_DIRECTED 0x81
#define CLASS_PING 0x32 /* of OpenIB's vendor classes, as infiniband-diags has it */
#define PERMISSIVE_LID 0xffff
#define QP_GSI 1
/* In an SMP [IBA 14.2.1.2]. */
enum {
	AT_STATUS = 4,
	AT_M_KEY = 24,
	AT_DR_SLID = 32,
	AT_DR_DLID = 34,
	AT_DATA = 64,
	AT_PATH = 128
};
#define DIRECTION_BIT 0x8000 /* of the status of an SMP by directed route */
/* In a MAD of a vendor's class with an OUI [IBA 16.5]. */
#define AT_OUI 37

enum { DIRECTED, PERFORMANCE, PING, N_CLASSES };

static const uint8_t openib_oui[3] = {0x00, 0x14, 0x05};

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
	/* An answer that came too late may still be on its way. */
	for (unsigned i = 0; i < N_CLASSES; i++)
		triad_umad_close(smp->umads[i], true);
	free(smp);
}

/* --- routes --- */

/* As OpenSM's link manager does: what a switch has at its port 0. */
static int read_m_key(struct osm_opensm *osm, uint64_t node_guid, uint64_t *m_key)
{
	osm_node_t *node;
	osm_physp_t *physp = NULL;

	cl_plock_acquire(&osm->lock);
	node = osm_get_node_by_guid(&osm->subn, cl_hton64(node_guid));
	if (node && node->sw)
		physp = osm_node_get_physp_ptr(node, 0);
	if (physp)
		*m_key = cl_ntoh64(ib_port_info_get_m_key(&physp->port_info));
	cl_plock_release(&osm->lock);
	return physp ? 0 : ENOENT;
}

int triad_smp_find_route(struct osm_opensm *osm, const struct triad_fabric *fabric,
	uint64_t node_guid, uint8_t number, struct triad_smp_route *route)
{
	uint32_t node =
		fabric ? triad_fabric_find_node(fabric, node_guid) : TRIAD_FABRIC_NONE;
	uint32_t port;
	int error;

	memset(route, 0, sizeof(*route));
	if (node == TRIAD_FABRIC_NONE)
		return ENOENT;
	error = read_m_key(osm, node_guid, &route->m_key);
	if (error)
		return error;
	port = triad_fabric_find_port(fabric, node, 0);
	if (port != TRIAD_FABRIC_NONE) {
		route->lid = fabric->ports[port].lid;
		route->sl = fabric->ports[port].sl;
	}
	port = number ? triad_fabric_find_port(fabric, node, number)
		      : TRIAD_FABRIC_NONE;
	return triad_route_find(fabric, node, port, &route->way);
}

int triad_smp_add_hop(struct triad_smp_route *route, uint8_t port)
{
	if (route->way.n_hops >= TRIAD_ROUTE_MAX_HOPS)
		return EHOSTUNREACH;
	route->way.ports[++route->way.n_hops] = port;
	return 0;
}

/* --- one MAD and its answer --- */

static int open_class(struct triad_smp *smp, unsigned class)
{
	static const int classes[N_CLASSES] = {
		[DIRECTED] = CLASS_DIRECTED,
		[PERFORMANCE] = TRIAD_MAD_CLASS_PERFORMANCE,
		[PING] = CLASS_PING,
	};

	if (smp->umads[class])
		return 0;
	if (class == PING)
		return triad_umad_open_vendor(
			smp->port_guid, classes[class], openib_oui, &smp->umads[class]);
	return triad_umad_open(smp->port_guid, classes[class], &smp->umads[class]);
}

static bool is_answer(const struct triad_mad_reply *reply, uint32_t tid)
{
	return reply->size == TRIAD_MAD_SIZE &&
		triad_pma_tid(reply->mad, reply->size) == tid;
}

/* Answers to what was given up before are passed over. */
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
		if (!error && is_answer(reply, tid))
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
	/* The kernel says by itself when there is no answer; the simulator may not. */
	return await(transport, triad_pma_tid(mad, TRIAD_MAD_SIZE),
		triad_clock_now_us() + (timeout_ms + 50) * TRIAD_US_PER_MS, reply);
}

/* --- SMPs --- */

static void encode(uint8_t mad[TRIAD_MAD_SIZE], const struct triad_smp_route *route,
	const struct triad_smp_request *request, const uint8_t *data, uint32_t tid)
{
	struct triad_wire w;

	memset(mad, 0, TRIAD_MAD_SIZE);
	triad_wire_init(&w, mad, TRIAD_MAD_SIZE);
	triad_wire_put(&w, 1, 1);
	triad_wire_put(&w, 1, CLASS_DIRECTED);
	triad_wire_put(&w, 1, 1);
	triad_wire_put(
		&w, 1, request->is_set ? TRIAD_MAD_METHOD_SET : TRIAD_MAD_METHOD_GET);
	triad_wire_put(&w, 2, 0);
	triad_wire_put(&w, 1, 0);
	triad_wire_put(&w, 1, route->way.n_hops);
	triad_wire_put(&w, 8, tid);
	triad_wire_put(&w, 2, (uint16_t)request->attribute);
	triad_wire_put(&w, 2, 0);
	triad_wire_put(&w, 4, request->modifier);
	triad_wire_put(&w, 8, route->m_key);
	triad_wire_put(&w, 2, PERMISSIVE_LID);
	triad_wire_put(&w, 2, PERMISSIVE_LID);
	memcpy(mad + AT_DATA, data, TRIAD_SMP_DATA_SIZE);
	memcpy(mad + AT_PATH, route->way.ports, (size_t)route->way.n_hops + 1);
}

int triad_smp_ask(struct triad_smp *smp, const struct triad_smp_route *route,
	const struct triad_smp_request *request, uint8_t *data, uint16_t *status)
{
	const struct triad_mad_address to = {.lid = PERMISSIVE_LID};
	uint8_t mad[TRIAD_MAD_SIZE];
	struct triad_mad_reply reply;
	struct triad_wire w;
	int error;

	*status = 0;
	encode(mad, route, request, data, ++smp->tid);
	error = exchange(smp, DIRECTED, &to, mad, request->timeout_ms, &reply);
	if (error)
		return error;
	triad_wire_init(&w, reply.mad, reply.size);
	triad_wire_seek(&w, AT_STATUS);
	*status = triad_wire_get16(&w) & (uint16_t)~DIRECTION_BIT;
	memcpy(data, reply.mad + AT_DATA, TRIAD_SMP_DATA_SIZE);
	return *status ? EPROTO : 0;
}

/* --- counters --- */

/* What a bad link counts; not what a busy or closed one does. */
static const uint32_t link_errors = 1u << TRIAD_SYMBOL_ERROR_COUNTER |
	1u << TRIAD_LINK_ERROR_RECOVERY_COUNTER | 1u << TRIAD_LINK_DOWNED_COUNTER |
	1u << TRIAD_PORT_RCV_ERRORS | 1u << TRIAD_PORT_RCV_REMOTE_PHYSICAL_ERRORS |
	1u << TRIAD_LOCAL_LINK_INTEGRITY_ERRORS |
	1u << TRIAD_EXCESSIVE_BUFFER_OVERRUN_ERRORS;

static int read_attribute(struct triad_smp *smp, const struct triad_mad_address *to,
	enum triad_pma_attribute attribute, uint8_t port, unsigned timeout_ms,
	struct triad_pma_reading *reading)
{
	uint8_t mad[TRIAD_MAD_SIZE];
	struct triad_mad_reply reply;
	uint16_t status;
	int error;

	triad_pma_encode_get(mad, attribute, port, ++smp->tid);
	error = exchange(smp, PERFORMANCE, to, mad, timeout_ms, &reply);
	if (error)
		return error;
	if (triad_pma_check(reply.mad, reply.size, attribute, &status))
		return EPROTO;
	return triad_pma_decode_counters(
		reply.mad, attribute, port, TRIAD_PMA_EXTENDED_WIDTH, reading);
}

static uint64_t octets_of(const struct triad_pma_reading *reading, bool is_narrow)
{
	static const unsigned counters[] = {TRIAD_PORT_XMIT_DATA, TRIAD_PORT_RCV_DATA};
	uint64_t octets = 0;

	for (unsigned i = 0; i < 2; i++) {
		uint64_t words = reading->raw[counters[i]];

		/* It has stopped: nobody knows how much there was since. */
		if (is_narrow && words >= triad_counter_max(counters[i]))
			return UINT64_MAX;
		octets += words * 4;
	}
	return octets;
}

int triad_smp_read_counters(struct triad_smp *smp, uint16_t lid, uint8_t sl,
	uint8_t port, unsigned timeout_ms, struct triad_smp_counts *counts)
{
	const struct triad_mad_address to = {
		.lid = lid, .sl = sl, .qpn = QP_GSI, .qkey = TRIAD_MAD_GSI_QKEY};
	struct triad_pma_reading reading = {0}, wide = {0};
	int error = read_attribute(
		smp, &to, TRIAD_PMA_PORT_COUNTERS, port, timeout_ms, &reading);

	if (error)
		return error;
	counts->n_errors = 0;
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++)
		if (link_errors >> i & 1)
			counts->n_errors += reading.raw[i];
	/* An agent without the wide ones refuses, or does not answer. */
	error = read_attribute(
		smp, &to, TRIAD_PMA_PORT_COUNTERS_EXTENDED, port, timeout_ms, &wide);
	counts->octets = octets_of(error ? &reading : &wide, error != 0);
	return 0;
}

/* --- ping --- */

int triad_smp_ping(struct triad_smp *smp, uint16_t lid, uint8_t sl, unsigned timeout_ms)
{
	const struct triad_mad_address to = {
		.lid = lid, .sl = sl, .qpn = QP_GSI, .qkey = TRIAD_MAD_GSI_QKEY};
	uint8_t mad[TRIAD_MAD_SIZE] = {0};
	struct triad_mad_reply reply;
	struct triad_wire w;

	triad_wire_init(&w, mad, TRIAD_MAD_SIZE);
	triad_wire_put(&w, 1, 1);
	triad_wire_put(&w, 1, CLASS_PING);
	triad_wire_put(&w, 1, 1);
	triad_wire_put(&w, 1, TRIAD_MAD_METHOD_GET);
	triad_wire_put(&w, 4, 0);
	triad_wire_put(&w, 8, ++smp->tid);
	memcpy(mad + AT_OUI, openib_oui, sizeof(openib_oui));
	return exchange(smp, PING, &to, mad, timeout_ms, &reply);
}
