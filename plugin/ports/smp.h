/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends MADs to one port and waits for the answers, one at a time: SMPs by directed
 * route, requests to a PMA, a ping.
 *
 * They do not go through OpenSM's queue of SMPs, on purpose.  There a Set could wait,
 * and the kernel would send it again even if this SM has lost permission, or the
 * process has been stopped.  Here each is sent once; before a caller sends it again, it
 * checks permission again.  They also do not count as OpenSM's SMPs, so no sweep waits
 * for them.  M_Keys are OpenSM's [IBA 14.2.4].
 *
 * Thread-safety: one thread; a call waits for the answer, at most 'timeout_ms' and 50
 * ms.  OpenSM's lock is taken, shared, by triad_smp_find_route() alone. */
#ifndef TRIAD_PLUGIN_PORTS_SMP_H
#define TRIAD_PLUGIN_PORTS_SMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/smp_mad.h"

struct osm_opensm;
struct triad_smp;

/* Descriptors are opened when they are first needed.  NULL: no memory. */
struct triad_smp *triad_smp_new(uint64_t port_guid);
/* Opens the one for directed routes now, which takes milliseconds.  Returns 0 or an errno. */
int triad_smp_open(struct triad_smp *smp);
/* Accepts NULL. */
void triad_smp_free(struct triad_smp *smp);

/* A directed route to the switch that avoids links (as triad_route_find() has them), and
 * OpenSM's M_Key for it.  Returns 0, ENOENT (OpenSM or the fabric knows no such switch),
 * EHOSTUNREACH or ENOMEM. */
int triad_smp_find_route(struct osm_opensm *osm, const struct triad_fabric *fabric,
	uint64_t node_guid, const bool *avoided, struct triad_smp_route *route);

/* Sends once and waits.  'data' has TRIAD_SMP_DATA_SIZE octets of the attribute, and
 * gets those of the answer.  Returns 0; ETIMEDOUT; EPROTO: it was answered with
 * '*status' (the MAD's); or why it could not be sent. */
int triad_smp_ask(struct triad_smp *smp, const struct triad_smp_route *route,
	const struct triad_smp_request *request, uint8_t *data, uint16_t *status);

/* One of several requests by directed route.  Filled in: 'data' has what was answered, 'error'
 * and 'status' as of triad_smp_ask(). */
struct triad_smp_item {
	const struct triad_smp_route *route;
	uint32_t modifier;
	int error;
	uint16_t status;
	_Alignas(8) uint8_t data[TRIAD_SMP_DATA_SIZE];
};

/* Whether one more may be sent. */
typedef bool triad_smp_may_send(void *context);

/* Sends all of them, some at a time, each once, and waits.  'request' has what they have in
 * common.  'may_send' is asked before each one, since answers may be long in coming, or this
 * process be stopped; the rest is not sent when it says no, and gets the error ECANCELED.  NULL:
 * all may be.  Returns 0 when each was answered, has timed out or was not to be sent, or why none
 * could be sent. */
int triad_smp_ask_all(struct triad_smp *smp, const struct triad_smp_request *request,
	struct triad_smp_item *items, size_t n, triad_smp_may_send *may_send,
	void *context);

/* Asks the PMA at 'lid'.  Returns 0, ETIMEDOUT, EPROTO or why it could not be sent. */
int triad_smp_read_counters(struct triad_smp *smp, uint16_t lid, uint8_t sl,
	uint8_t port, unsigned timeout_ms, struct triad_smp_counts *counts);

/* Sends 'n' MADs to a LID that no port has, some at a time, and waits until the kernel has given
 * each up.  Returns how many were sent. */
uint32_t triad_smp_send_data(
	struct triad_smp *smp, uint16_t lid, uint8_t sl, uint32_t n);

/* Asks the ibping server at 'lid'.  Returns 0 when it answered. */
int triad_smp_ping(
	struct triad_smp *smp, uint16_t lid, uint8_t sl, unsigned timeout_ms);

#endif
