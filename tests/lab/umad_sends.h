/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* MADs that were sent and wait: for a response, or for the ACKs of an RMPP message.
 *
 * Model: a send is found by TID, class and whether it is a response itself, and is in
 * the list of its agent.  When its timer expires, the MAD is sent again, up to
 * 'retries' times; after that the send is returned to its file as timed out.
 *
 * Invariants: no two sends of a file have the same TID, class and direction; the kernel
 * refuses the second one.
 *
 * Thread-safety: the port's lock is held.
 * Memory: sends that have ended are kept for reuse. */
#ifndef LAB_UMAD_SENDS_H
#define LAB_UMAD_SENDS_H

#include <rdma/ib_user_mad.h>

#include "tests/lab/umad_agents.h"
#include "tests/lab/umad_timers.h"
#include "tests/lab/umad_wire.h"

#define LAB_SEND_BUCKETS 16384u

struct lab_port;
struct lab_rmpp_send;

struct lab_send {
	struct lab_timer timer;
	struct lab_agent *agent;
	struct lab_send *next_in_bucket;
	struct lab_send *next, **link; /* the agent's list */
	struct ib_user_mad_hdr header; /* as the program wrote it */
	struct lab_packet packet;      /* the MAD, or the first one of the message */
	unsigned retries_left;
	struct lab_rmpp_send *rmpp; /* NULL: a single MAD */
};

struct lab_sends {
	struct lab_send *buckets[LAB_SEND_BUCKETS];
	struct lab_send *unused; /* for reuse */
};

/* Makes a send of the agent's MAD in 'packet', without setting its timer.  Returns NULL
 * when memory is short. */
struct lab_send *lab_send_new(struct lab_port *port, struct lab_agent *agent,
	const struct ib_user_mad_hdr *header, const struct lab_packet *packet);

/* Ends a send, whether its timer is idle or armed. */
void lab_send_end(struct lab_port *port, struct lab_send *send);

/* Starts to wait for the response. */
void lab_send_wait(struct lab_port *port, struct lab_send *send);

/* The send with this TID, class and direction; NULL: none.  A received MAD answers it,
 * or a new MAD would duplicate it. */
struct lab_send *lab_sends_find(
	struct lab_sends *sends, uint64_t tid, uint8_t mgmt_class, bool is_response);

/* Ends all sends of an agent. */
void lab_sends_end_agent(struct lab_port *port, struct lab_agent *agent);

#endif
