/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One user at OpenSM's console, with Triad in between.
 *
 * Octets from OpenSM go to the user as they are.  What the user types is put together
 * to lines: one for Triad is run and answered, with OpenSM's prompt behind it; any
 * other is passed on.  A line longer than a buffer is passed on in pieces: it is no
 * command of ours.
 *
 * A user who ends his input, as 'nc -N' does, still gets what OpenSM answers.
 *
 * Every user may read; what changes something is for who may change at the control
 * socket, too (service/peer.h).  OpenSM's own commands go through whoever types them.
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
