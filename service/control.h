/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The control socket: where triadctl asks (triad/control.h has the protocol).
 *
 * Model: one thread accepts; each client has a thread of its own, so that one that
 * hangs, sends garbage or reads slowly hurts nobody.  A client must send its request
 * within TRIAD_CONTROL_REQUEST_US, and take each piece of the answer within
 * TRIAD_CONTROL_REPLY_US, or it is cut off.
 *
 * Who may ask: whoever has a role (service/peer.h).  The socket has mode 0600, or 0666
 * when it is shared: then the kernel's word on the user decides alone.  Roles are
 * looked up in the client's thread, because the database of groups may be slow.
 *
 * Places: root and the own user have 'max_clients', all others together as many again,
 * and one of those users at most half of them (but one).  So nobody keeps root out, and
 * nobody else all others.  Where there is no place, the oldest client that has not sent
 * its request yet gives way; when all have, the new one is told to try again.
 *
 * A file "SOCKET.lock" next to the socket is locked while it is in use: so a socket
 * file that a killed process left is told from one that another process serves.
 *
 * Thread-safety: any thread, for all but new and free. */
#ifndef TRIAD_SERVICE_CONTROL_H
#define TRIAD_SERVICE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "service/runner.h"
#include "triad/clock.h"
#include "triad/log.h"

#define TRIAD_CONTROL_REQUEST_US (5 * TRIAD_US_PER_S)
#define TRIAD_CONTROL_REPLY_US (10 * TRIAD_US_PER_S)

struct triad_control;

struct triad_control_params {
	unsigned max_clients;
	bool is_shared; /* others than root and the own user may have a role */
};

struct triad_control_status {
	uint64_t n_clients; /* now */
	uint64_t n_requests;
	uint64_t n_busy;      /* turned away: too many clients */
	uint64_t n_forbidden; /* turned away: another user */
	uint64_t n_bad;       /* requests that were none */
	uint64_t n_timeouts;  /* cut off: too slow */
	uint64_t n_displaced; /* cut off, silent: another client needed the place */
};

/* Listens at 'path'.  NULL, with a line in the log that says why and what to do, when
 * it can't; the process then runs without the socket. */
struct triad_control *triad_control_new(const char *path,
	const struct triad_control_params *params, const struct triad_runner *runner,
	struct triad_log *log);

/* Cuts all clients off and removes the socket.  Accepts NULL. */
void triad_control_free(struct triad_control *control);

/* For clients that come from now on. */
void triad_control_configure(
	struct triad_control *control, const struct triad_control_params *params);
struct triad_control_status triad_control_status(struct triad_control *control);

#endif
