/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The control socket, which triadctl connects to (triad/control.h has the protocol).
 *
 * Model: one thread accepts connections at two sockets, triadctl's and triadd's; it waits
 * for nothing but them, so neither waits for the other.  Each client has a thread of its own, so one
 * that hangs, sends garbage or reads slowly affects no other.  A client must send its
 * request within TRIAD_CONTROL_REQUEST_US, and take each piece of the answer within
 * TRIAD_CONTROL_REPLY_US, or it is disconnected.
 *
 * Access: users with a role may ask (service/peer.h).  The socket has mode 0600, or
 * 0666 when it is shared; then only the user's role, from the kernel's credentials,
 * decides.  The client's thread looks up the role, because the database of groups may
 * be slow.
 *
 * Limits: root and the own user have TRIAD_CONTROL_MAX_CLIENTS connections, all other users
 * together as many again, and one of those users at most half of them (but at least
 * one).  So no user can lock out root, or all other users.  When there is no room, the
 * server disconnects the oldest client that has not sent its request yet; when all
 * have, it tells the new client to try again.
 *
 * A file "SOCKET.lock" next to the socket is locked while the socket is in use: this
 * distinguishes a socket of a killed process from one that another process serves.
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

/* Each has a thread of OpenSM's process while it is answered.  People and their scripts need
 * some; those who say nothing give way. */
#define TRIAD_CONTROL_MAX_CLIENTS 16u

struct triad_control;
struct triad_control_listener;

struct triad_control_params {
	bool is_shared;  /* users besides root and the own one may have a role */
	bool is_for_one; /* of those, one may have all places */
	/* Whose members may ask, for messages. */
	const char *groups;
};

struct triad_control_status {
	uint64_t n_clients; /* now */
	uint64_t n_requests;
	uint64_t n_busy;      /* refused: too many clients */
	uint64_t n_forbidden; /* refused: a user without a role */
	uint64_t n_bad;       /* malformed requests */
	uint64_t n_timeouts;  /* disconnected: too slow */
	uint64_t n_displaced; /* disconnected without a request, to make room */
};

/* Makes the socket at 'path'; clients wait until triad_control_listen().  NULL, with a log
 * line that says why and what to do; the process then runs without the socket. */
struct triad_control *triad_control_new(const char *path,
	const struct triad_control_params *params, const struct triad_runner *runner,
	struct triad_log *log);

/* Disconnects all clients and removes the socket, when nobody listens any more.  Accepts
 * NULL. */
void triad_control_free(struct triad_control *control);

/* Starts the thread that accepts the clients of both, each of which may be NULL.  NULL when
 * both are, or, with a log line, without a thread. */
struct triad_control_listener *triad_control_listen(
	struct triad_control *one, struct triad_control *other, struct triad_log *log);
/* Ends that thread; clients that were accepted stay.  Accepts NULL. */
void triad_control_listen_no_more(struct triad_control_listener *listener);

/* Takes effect for clients that connect from now on. */
void triad_control_configure(
	struct triad_control *control, const struct triad_control_params *params);
struct triad_control_status triad_control_status(struct triad_control *control);

#endif
