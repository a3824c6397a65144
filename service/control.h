/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The control socket: where triadctl asks (triad/control.h has the protocol).
 *
 * Model: one thread accepts; each client has a thread of its own, so that one that
 * hangs, sends garbage or reads slowly hurts nobody.  A client must send its request
 * within TRIAD_CONTROL_REQUEST_US, and take each piece of the answer within
 * TRIAD_CONTROL_REPLY_US, or it is cut off.  At most 'max_clients' at once; the next
 * one is told so.
 *
 * The socket has mode 0600 and takes requests from root and from the user this process
 * runs as, by the kernel's word (SO_PEERCRED).  A file "SOCKET.lock" next to it is
 * locked while the socket is in use: so a socket file that a killed process left is
 * told from one that another process serves.
 *
 * Thread-safety: any thread, for all but new and free. */
#ifndef TRIAD_SERVICE_CONTROL_H
#define TRIAD_SERVICE_CONTROL_H

#include <stdint.h>

#include "service/runner.h"
#include "triad/clock.h"
#include "triad/log.h"

#define TRIAD_CONTROL_REQUEST_US (5 * TRIAD_US_PER_S)
#define TRIAD_CONTROL_REPLY_US (10 * TRIAD_US_PER_S)

struct triad_control;

struct triad_control_status {
	uint64_t n_clients; /* now */
	uint64_t n_requests;
	uint64_t n_busy;      /* turned away: too many clients */
	uint64_t n_forbidden; /* turned away: another user */
	uint64_t n_bad;       /* requests that were none */
	uint64_t n_timeouts;  /* cut off: too slow */
};

/* Listens at 'path'.  NULL, with a line in the log that says why and what to do, when
 * it can't; the process then runs without the socket. */
struct triad_control *triad_control_new(const char *path, unsigned max_clients,
	const struct triad_runner *runner, struct triad_log *log);

/* Cuts all clients off and removes the socket.  Accepts NULL. */
void triad_control_free(struct triad_control *control);

void triad_control_set_max_clients(struct triad_control *control, unsigned max_clients);
struct triad_control_status triad_control_status(struct triad_control *control);

#endif
