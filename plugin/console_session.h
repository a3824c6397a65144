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
 * Every user may run Triad's commands that read.  Those that change something need the
 * same role as at the control socket (service/peer.h).  OpenSM's own commands pass for
 * every user.
 *
 * Thread-safety: one thread runs a session. */
#ifndef TRIAD_PLUGIN_CONSOLE_SESSION_H
#define TRIAD_PLUGIN_CONSOLE_SESSION_H

#include "service/runner.h"

struct triad_console_ends {
	int user_in;    /* what the user types */
	int user_out;   /* what the user sees */
	int opensm_in;  /* where OpenSM reads */
	int opensm_out; /* what OpenSM answers; -1: straight to the user */
	int stop;       /* readable when the session must end */
};

/* Returns when an end has closed, or at once when 'stop' is readable; ends that are
 * sockets must not block. */
void triad_console_session_run(const struct triad_runner *runner,
	const struct triad_peer *user, const struct triad_console_ends *ends);

#endif
