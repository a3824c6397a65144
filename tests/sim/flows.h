/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Flows of packets over the forwarding tables of a fabric, with InfiniBand's credits.
 *
 * Model: time passes in slots, in one of which a link of rate 1 sends one packet.  Each
 * receiving port has a buffer for 'buffer' packets of each VL. A port sends a packet
 * only when the buffer of its VL at the other end has room: that is what credits are.
 * Packets of a buffer leave in their order; with a 'window' of more than 1 a switch may
 * take one of the first 'window' packets whose output port is free, as switches do
 * whose buffers are shared by queues for each output port.  Output ports take turns
 * among the buffers that have packets for them.  Hosts take turns among their flows,
 * take packets out of their buffer at the rate that they have, and hold back 'backlog'
 * packets of a flow at most: what would be more is not sent.
 *
 * What is counted is what ports count: packets sent (PortXmitData), and slots in which
 * a packet was there to be sent and the link was idle, for want of credits
 * (PortXmitWait).  A link that sends all the time does not wait, however much there is
 * to send.  A VL (PortVLXmitWait) waits in a slot in which it has a packet and no
 * credits, whatever other VLs send then.
 *
 * Not modelled: the time that packets and credits are on a link, weights of VLs (they
 * take turns), a VL that changes on the way, congestion control, a limit to what a
 * switch moves inside.
 *
 * None of this code is shared with congestion/, which is tested with it.  Memory: owns
 * its arrays and aborts when memory is short; the layout is borrowed. */
#ifndef TRIAD_TESTS_SIM_FLOWS_H
#define TRIAD_TESTS_SIM_FLOWS_H

#include "routes/layout.h"

#define FLOWS_MAX_HOPS 16u
#define FLOWS_N_VLS 2u

struct flows_flow {
	uint32_t from, to; /* indices in the layout's hosts */
	double rate;       /* packets each slot that shall be sent */
	bool pauses;       /* at present */
	uint8_t vl;        /* 0 until it is set */
	uint32_t n_hops;
	uint32_t hops[FLOWS_MAX_HOPS]; /* ports that it leaves by, the host's first */
	uint64_t n_sent, n_received;
	double fair;         /* flows_share() */
	uint32_t bottleneck; /* a port; TRIAD_FABRIC_NONE: it gets what it wants */
};

struct flows;

struct flows *flows_new(const struct triad_routes_layout *layout, unsigned buffer,
	unsigned window, uint64_t seed);
void flows_free(struct flows *flows);

/* Of the direction out of a port of the fabric; 1 until then. */
void flows_set_rate(struct flows *flows, uint32_t port, double rate);
/* How fast a host takes packets out of its buffer; 1 until then. */
void flows_set_drain(struct flows *flows, uint32_t host, double rate);

/* Returns its number, or UINT32_MAX when there is no path. */
uint32_t flows_add(struct flows *flows, uint32_t from, uint32_t to, double rate);
void flows_set_vl(struct flows *flows, uint32_t flow, uint8_t vl);
void flows_remove_last(struct flows *flows);
/* Stops or resumes it. */
void flows_set_pause(struct flows *flows, uint32_t flow, bool pauses);
uint32_t flows_n(const struct flows *flows);
const struct flows_flow *flows_get(const struct flows *flows, uint32_t flow);

/* What flows would get if all shared fairly (max-min: rates grow together until a link,
 * or a host that takes packets, is full; what passes that is held there, by this
 * 'bottleneck': the port that leads to it).  'used' (for each port of the fabric) gets
 * the share of its rate that is used, of one to a host, of the host's. */
void flows_share(struct flows *flows, double *used);

/* Runs 'n_slots' after 'n_before' that are not counted. */
void flows_run(struct flows *flows, unsigned n_before, unsigned n_slots);

/* Shares of the counted time, and of the link's rate. */
double flows_wait(const struct flows *flows, uint32_t port);
double flows_sent(const struct flows *flows, uint32_t port);
double flows_vl_wait(const struct flows *flows, uint32_t port, unsigned vl);

#endif
