/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* MADs to one port, and their answers, one after the other: SMPs by directed route,
 * requests to a PMA, a ping.
 *
 * They do not go through OpenSM's queue of SMPs, on purpose.  There a Set could wait,
 * and the kernel would send it again for whoever has lost permission, or has been
 * stopped, meanwhile.  Here each is sent once; who wants it sent again asks for
 * permission again. Nor do they count as OpenSM's, whose sweeps wait until none of its
 * own is outstanding. M_Keys are OpenSM's [IBA 14.2.4].
 *
 * Thread-safety: one thread; a call waits for the answer, at most for 'timeout_ms'.
 * OpenSM's lock is taken, shared, by triad_smp_find_route() alone. */
#ifndef TRIAD_PLUGIN_PORTS_SMP_H
#define TRIAD_PLUGIN_PORTS_SMP_H

#include <stdbool.h>
#include <stdint.h>

#include "portmgr/plan/route.h"
#include "triad/mad.h"

#define TRIAD_SMP_DATA_SIZE 64

struct osm_opensm;
struct triad_smp;

struct triad_smp_route {
	struct triad_route way;
	uint64_t m_key;
	uint16_t lid; /* of the node there */
	uint8_t sl;
};

enum triad_smp_attribute {
	TRIAD_SMP_NODE_DESCRIPTION = 0x10,
	TRIAD_SMP_NODE_INFO = 0x11,
	TRIAD_SMP_PORT_INFO = 0x15,
};

struct triad_smp_request {
	bool is_set;
	enum triad_smp_attribute attribute;
	uint32_t modifier;
	unsigned timeout_ms;
};

/* Descriptors are opened when they are first needed.  NULL: no memory. */
struct triad_smp *triad_smp_new(uint64_t port_guid);
/* Accepts NULL. */
void triad_smp_free(struct triad_smp *smp);

/* A way to the switch that does not lead over the link of its port 'number' (0: any
 * way), and OpenSM's M_Key for it.  Returns 0, ENOENT (OpenSM or the fabric knows no
 * such switch), EHOSTUNREACH or ENOMEM. */
int triad_smp_find_route(struct osm_opensm *osm, const struct triad_fabric *fabric,
	uint64_t node_guid, uint8_t number, struct triad_smp_route *route);

/* One hop more, out of 'port'.  Returns 0 or EHOSTUNREACH (64 hops). */
int triad_smp_add_hop(struct triad_smp_route *route, uint8_t port);

/* Sends once and waits.  'data' has TRIAD_SMP_DATA_SIZE octets of the attribute, and
 * gets those of the answer.  Returns 0; ETIMEDOUT; EPROTO: it was answered with
 * '*status' (the MAD's); or why it could not be sent. */
int triad_smp_ask(struct triad_smp *smp, const struct triad_smp_route *route,
	const struct triad_smp_request *request, uint8_t *data, uint16_t *status);

/* What a port's PMA has counted, both ways. */
struct triad_smp_counts {
	uint64_t n_errors; /* of all kinds together */
	uint64_t octets;   /* sent and received; they stop at 16 GiB where the agent has
	                    * no 64-bit counters */
};

/* Asks the PMA at 'lid'.  Returns 0, ETIMEDOUT, EPROTO or why it could not be sent. */
int triad_smp_read_counters(struct triad_smp *smp, uint16_t lid, uint8_t sl,
	uint8_t port, unsigned timeout_ms, struct triad_smp_counts *counts);

/* Asks the ibping server at 'lid'.  Returns 0 when it answered. */
int triad_smp_ping(
	struct triad_smp *smp, uint16_t lid, uint8_t sl, unsigned timeout_ms);

#endif
