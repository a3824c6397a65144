/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* RMPP: messages of more than one MAD, for agents that registered with its version.
 *
 * Model: the sender cuts a message into segments and sends as many as the receiver's
 * window allows, at first one.  The receiver acknowledges the first segment, then each
 * window that is complete, then the last segment.  When no ACK arrives in time, the
 * sender continues after the last acknowledged segment; each progress permits as many
 * such retries as the MAD's 'retries'.  ABORT and STOP end the sending of a message,
 * without a notice to the program.  A reassembly ends when its time is over.
 *
 * Thread-safety: the port's lock is held.
 * Source: IBA volume 1, 13.6; window and times as in the kernel's ib_mad. */
#ifndef LAB_UMAD_RMPP_H
#define LAB_UMAD_RMPP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lab_agent;
struct lab_packet;
struct lab_port;
struct lab_rmpp_send;
struct lab_send;

#define LAB_RMPP_WINDOW 64u
#define LAB_REASSEMBLY_BUCKETS 16384u

/* RMPPStatus: why a message ended. */
enum lab_rmpp_status {
	LAB_RMPP_NO_RESOURCES = 1,
	LAB_RMPP_TOO_LONG = 118,
	LAB_RMPP_BAD_SEGMENT = 120,
	LAB_RMPP_BAD_TYPE = 121,
	LAB_RMPP_WINDOW_TOO_SMALL = 122,
	LAB_RMPP_SEGMENT_TOO_BIG = 123,
	LAB_RMPP_BAD_STATUS = 124,
	LAB_RMPP_BAD_VERSION = 125,
};

/* --- sending --- */

/* Starts to send a message of 'size' octets, headers included; 'send' has its first
 * headers.  Returns 0 or ENOMEM. */
int lab_rmpp_send_begin(struct lab_port *port, struct lab_send *send,
	const uint8_t *message, size_t size);

/* To be called when no ACK arrived in time.  Returns false when the send is over. */
bool lab_rmpp_send_again(struct lab_port *port, struct lab_send *send);

void lab_rmpp_send_free(struct lab_rmpp_send *rmpp);

/* Process an ACK, or an ABORT or STOP, that arrived. */
void lab_rmpp_take_ack(
	struct lab_port *port, struct lab_agent *agent, const struct lab_packet *ack);
void lab_rmpp_take_end(
	struct lab_port *port, struct lab_agent *agent, const struct lab_packet *end);

/* --- receiving --- */

/* Processes an RMPP packet that arrived for the agent.  Delivers messages that are
 * complete. */
void lab_rmpp_take(struct lab_port *port, struct lab_agent *agent,
	const struct lab_packet *packet);

/* Answers a packet with an RMPP packet that has the same headers, to the packet's
 * source. */
void lab_rmpp_answer(struct lab_port *port, const struct lab_packet *packet,
	uint8_t type, enum lab_rmpp_status status, uint32_t segment, uint32_t length);

/* Frees the messages that the agent is receiving. */
void lab_rmpp_end_agent(struct lab_port *port, struct lab_agent *agent);

#endif
