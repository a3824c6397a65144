/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The connection to ibsim: a process is one client of its ten.
 *
 * Model: two datagram sockets, one for requests about the port (control), one for MADs.
 * ibsim is found as its own library finds it: at the abstract UNIX sockets whose names
 * begin with IBSIM_SOCKNAME, in the network namespace of the file that TRIAD_LAB_NETNS
 * names if it is set; or by UDP at IBSIM_SERVER_NAME and IBSIM_SERVER_PORT.  SIM_HOST
 * names the node; ibsim can attach a client only to the node's first port.
 *
 * Sending never blocks.  While ibsim doesn't read, up to LAB_WIRE_QUEUE packets wait in
 * a queue; further ones are dropped and counted.
 *
 * Thread-safety: all functions may be called at any time, but lab_wire_receive() and
 * lab_wire_flush() by one thread only. */
#ifndef LAB_UMAD_WIRE_H
#define LAB_UMAD_WIRE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/lab/umad_mad.h"

#define LAB_WIRE_QUEUE 4096u
#define LAB_WIRE_ANSWER_SIZE 64

/* A MAD in ibsim's packet; LIDs, QPs, status and length are in network byte order. */
struct lab_packet {
	uint32_t dlid;
	uint32_t slid; /* 0: that of the sending port */
	uint32_t dqp;
	uint32_t sqp;
	uint32_t status; /* not 0: ibsim returns the packet as undeliverable */
	uint64_t length;
	uint8_t mad[LAB_MAD_SIZE];
};

/* Requests to ibsim, by its numbers. */
enum lab_question {
	LAB_ASK_CONNECT = 1,
	LAB_ASK_DISCONNECT = 2,
	LAB_ASK_VENDOR = 4,
	LAB_ASK_NODE_INFO = 7,
	LAB_ASK_PORT_INFO = 8,
	LAB_ASK_SET_ISSM = 9,
	LAB_ASK_PKEYS = 10,
};

struct lab_wire;

/* Connects.  Returns 0 or an errno; prints an error on standard error. */
int lab_wire_open(struct lab_wire **wire);

/* Notifies the guardian whether the port has an SM; if the process is killed, the
 * guardian disconnects for it (umad_guardian.h). */
void lab_wire_notify_issm(struct lab_wire *wire, bool is_issm);

/* Disconnects from ibsim; clears IsSM before if 'is_issm'.  Waits for no answer: a
 * signal handler may call it. */
void lab_wire_disconnect(struct lab_wire *wire, bool is_issm);

/* Closes the descriptors without a message to ibsim: for a forked process. */
void lab_wire_abandon(struct lab_wire *wire);

/* Sends ibsim a request; 'data', of LAB_WIRE_ANSWER_SIZE, has its argument and gets the
 * answer.  Returns 0, ETIMEDOUT when ibsim does not answer, EACCES when it refuses. */
int lab_wire_ask(struct lab_wire *wire, enum lab_question question, void *data);

/* Sends a packet or queues it; false when it was dropped.  'must_flush': the caller
 * must wake the receiving thread, which sends the queue. */
bool lab_wire_send(
	struct lab_wire *wire, const struct lab_packet *packet, bool *must_flush);

/* Receives up to 'max' packets, without waiting; returns their number. */
unsigned lab_wire_receive(
	struct lab_wire *wire, struct lab_packet *packets, unsigned max);

/* Sends queued packets until ibsim takes no more. */
void lab_wire_flush(struct lab_wire *wire);

/* The descriptor to poll, and whether to poll for POLLOUT too. */
int lab_wire_fd(const struct lab_wire *wire);
bool lab_wire_has_queue(const struct lab_wire *wire);

/* Packets dropped so far because ibsim did not read. */
uint64_t lab_wire_dropped(const struct lab_wire *wire);

#endif
