/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One user at OpenSM's console, with Triad in between.
 *
 * Octets from OpenSM go to the user unchanged.  The session assembles the user's input
 * into lines.  It runs a line for Triad and answers it, followed by OpenSM's prompt; it
 * passes on any other.  It passes on a line longer than its buffer in pieces: that is
 * no command of ours.
 *
 * A user who closes the input, as 'nc -N' does, still receives OpenSM's answers.
 *
 * OpenSM's loopback console serves one connection.  It asks a second one whether to end
 * the first, and its main thread waits for the answer as long as it takes.  So there is
 * never a second one: a session that has no connection runs Triad's commands, says who has
 * it, and tries again at the next line for OpenSM.
 *
 * Every user may run Triad's commands that read.  Those that change something need the
 * same role as at the control socket (service/peer.h).  OpenSM's own commands pass for
 * every user.
 *
 * Thread-safety: one thread runs a session. */
#ifndef TRIAD_PLUGIN_CONSOLE_SESSION_H
#define TRIAD_PLUGIN_CONSOLE_SESSION_H

#include "service/runner.h"

#define TRIAD_CONSOLE_WHY_SIZE 320

struct triad_console_ends {
	int user_in;    /* what the user types */
	int user_out;   /* what the user sees */
	int opensm_in;  /* where OpenSM reads; -1: to be had by 'open' */
	int opensm_out; /* what OpenSM answers; -1: straight to the user */
	int stop;       /* readable when the session must end */

	/* Connects to OpenSM, which has a place for one.  Returns a socket, or -1 with
	 * why not. */
	int (*open)(void *context, char why[TRIAD_CONSOLE_WHY_SIZE]);
	/* Closes that socket: OpenSM has noticed its end. */
	void (*close)(void *context);
	/* The user has typed something; NULL: nobody wants to know. */
	void (*typed)(void *context);
	void *context;
};

/* Returns when an end has closed, or at once when 'stop' is readable; ends that are
 * sockets must not block.  A connection that it opened is closed then. */
void triad_console_session_run(const struct triad_runner *runner,
	const struct triad_peer *user, const struct triad_console_ends *ends);

#endif
