/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The port: the work of the kernel's MAD layer between open files and the wire.
 *
 * Model: one port, with files, agents on them, requests in flight, RMPP messages,
 * timers and faults, under one lock; and one thread, which receives packets in batches
 * and runs the timers.  A program's write() sends from its own thread.
 *
 *     program -- write() --> post --> faults --> wire
 *     program <-- read() --- file <-- dispatch <-- faults <-- wire
 *
 * Thread-safety: the caller of a function that "needs the lock" holds it; the others
 * take it.
 * Source: the kernel's ib_mad, ib_umad. */
#ifndef LAB_UMAD_PORT_H
#define LAB_UMAD_PORT_H

#include <pthread.h>

#include "tests/lab/umad_agents.h"
#include "tests/lab/umad_faults.h"
#include "tests/lab/umad_files.h"
#include "tests/lab/umad_rmpp.h"
#include "tests/lab/umad_sends.h"
#include "tests/lab/umad_timers.h"
#include "tests/lab/umad_wire.h"

/* Counts of MADs; lab_port_format_counters() writes them with their names. */
struct lab_counters {
	uint64_t sent, received, resent, timed_out;
	uint64_t bounced;   /* returned by ibsim as undeliverable */
	uint64_t unclaimed; /* MADs for which no agent is registered */
	uint64_t late;      /* responses for which no request waits any more */
	uint64_t unread;    /* dropped, as the program does not read */
	uint64_t faults;
};

struct lab_port {
	pthread_mutex_t lock;
	struct lab_wire *wire;
	struct lab_timers timers;
	struct lab_agents agents;
	struct lab_sends sends;
	struct lab_reassembly *reassemblies[LAB_REASSEMBLY_BUCKETS]; /* by TID */
	struct lab_faults faults;
	struct lab_counters counters;

	uint64_t wake_at_us; /* when the thread checks the timers next */
	int wake_fd;
	_Atomic bool has_issm; /* issm0 is open */
	_Atomic bool is_dead;  /* disconnected, or inherited by a forked process */
};

/* Connects to ibsim and starts the thread.  Returns 0 or an errno. */
int lab_port_open(struct lab_port **port);

/* Microseconds, monotonic. */
uint64_t lab_now_us(void);

/* Sends a packet, subject to the faults.  Needs the lock. */
void lab_port_transmit(struct lab_port *port, struct lab_packet *packet);

/* Delivers a message to an agent's file: 'message', which it takes, or a copy of the
 * MAD in 'packet', cut to 'size'.  A response ends its request.  Needs the lock. */
void lab_port_hand_over(struct lab_port *port, struct lab_agent *agent,
	const struct lab_packet *packet, size_t size, struct lab_message *message);

/* Returns a request to its program as timed out.  Needs the lock. */
void lab_port_time_out(struct lab_port *port, const struct lab_send *send);

/* Sets a timer, and makes the thread wake up in time.  Needs the lock. */
void lab_port_set_timer(
	struct lab_port *port, struct lab_timer *timer, uint64_t after_us);

/* Wakes the thread. */
void lab_port_wake(struct lab_port *port);

/* Writes the counters, a line "name value" each; returns the length. */
int lab_port_format_counters(struct lab_port *port, char *text, size_t size);

#endif
