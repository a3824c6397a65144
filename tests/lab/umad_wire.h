/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The connection to ibsim: one for a process, as one client of its ten.
 *
 * Model: two datagram sockets, one for questions about the port (control), one for
 * MADs. ibsim is found as its own library finds it: at the abstract UNIX sockets that
 * begin with IBSIM_SOCKNAME, in the network namespace that the file TRIAD_LAB_NETNS
 * stands for if that is set, or by UDP at IBSIM_SERVER_NAME and IBSIM_SERVER_PORT.
 * SIM_HOST names the node to be on; ibsim knows no way to name another port of it than
 * the first.
 *
 * Sending never blocks.  While ibsim does not read, packets wait in a queue of
 * LAB_WIRE_QUEUE; what is beyond is dropped and counted.
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

/* A MAD on its way, as ibsim lays it out; LIDs, QPs, status and length are in network
 * order. */
struct lab_packet {
	uint32_t dlid;
	uint32_t slid; /* 0: of the port it is sent from */
	uint32_t dqp;
	uint32_t sqp;
	uint32_t status; /* not 0: ibsim could not deliver it, here it is back */
	uint64_t length;
	uint8_t mad[LAB_MAD_SIZE];
};

/* What ibsim can be asked, by its numbers. */
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

/* Connects.  Returns 0 or an errno, after having said on standard error what is
 * wrong. */
int lab_wire_open(struct lab_wire **wire);

/* Says whether the port has an SM now, for the case that the process is killed: then a
 * guardian says goodbye for it (umad_guardian.h). */
void lab_wire_tell_issm(struct lab_wire *wire, bool is_issm);

/* Tells ibsim that this client is gone, and that its port has no SM if 'is_issm'. Waits
 * for no answer: a signal handler may call it. */
void lab_wire_say_goodbye(struct lab_wire *wire, bool is_issm);

/* Closes the descriptors, without a word to ibsim: for a process that was forked. */
void lab_wire_abandon(struct lab_wire *wire);

/* Asks ibsim; 'data', of LAB_WIRE_ANSWER_SIZE, has the question's argument and gets the
 * answer.  Returns 0, ETIMEDOUT when ibsim does not answer, EACCES when it refuses. */
int lab_wire_ask(struct lab_wire *wire, enum lab_question question, void *data);

/* Sends, or queues; false when the packet was dropped.  'must_flush' says that the
 * receiving thread is to be woken, to send what is queued. */
bool lab_wire_send(
	struct lab_wire *wire, const struct lab_packet *packet, bool *must_flush);

/* Takes up to 'max' packets, without waiting; returns their number. */
unsigned lab_wire_receive(
	struct lab_wire *wire, struct lab_packet *packets, unsigned max);

/* Sends from the queue what ibsim takes now. */
void lab_wire_flush(struct lab_wire *wire);

/* What to poll, and whether for POLLOUT too. */
int lab_wire_fd(const struct lab_wire *wire);
bool lab_wire_has_queue(const struct lab_wire *wire);

/* Packets dropped so far because ibsim did not read. */
uint64_t lab_wire_dropped(const struct lab_wire *wire);

#endif
