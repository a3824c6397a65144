/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'triad ...' typed in OpenSM's own console.
 *
 * OpenSM has no call to add a command, so Triad puts itself between the user and the
 * console, and passes on what is not for it:
 *
 *   loopback  OpenSM's main thread accepts from the socket that osm->console.socket names.
 *             Triad keeps that socket for itself and puts a listener of its own in its
 *             place; it connects each client to OpenSM's socket.
 *   local     OpenSM reads descriptor 0.  Triad puts a pipe there, reads the real
 *             standard input itself, and passes lines on.
 *
 * Triad runs and answers lines whose first word is 'triad'; all else passes unchanged,
 * both ways.  OpenSM opens its console only after create(), without a notice: so the
 * worker calls triad_console_arm() repeatedly until the console is there.
 *
 * Every user of the host can connect to a loopback console.  Triad runs its own
 * commands with the user's role (service/peer.h).  OpenSM's commands stay as open as
 * they are without Triad, which can't guard them: any user of the host can also find
 * and connect to OpenSM's own socket.
 *
 * The console with a socket open to other hosts ("socket") is left alone, because
 * behind Triad OpenSM could not tell its clients apart.
 *
 * Thread-safety: arm from one thread, stop and free from another. */
#ifndef TRIAD_PLUGIN_CONSOLE_H
#define TRIAD_PLUGIN_CONSOLE_H

#include "service/runner.h"
#include "triad/log.h"

struct osm_opensm;
struct triad_console;

/* For the console that opensm.conf asks for.  Logs why and returns NULL when Triad
 * can't put itself before it. */
struct triad_console *triad_console_new(struct osm_opensm *osm,
	const struct triad_runner *runner, struct triad_log *log);

/* Puts Triad before a loopback console that has appeared.  Does not block. */
void triad_console_arm(struct triad_console *console);

/* Ends the sessions.  Accepts NULL. */
void triad_console_stop(struct triad_console *console);

/* After triad_console_stop().  Accepts NULL. */
void triad_console_free(struct triad_console *console);

#endif
