/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'triad ...' typed in OpenSM's own console.
 *
 * OpenSM has no call to add a command, so Triad stands before the console and lets
 * through what is not for it:
 *
 *   loopback  OpenSM's main thread accepts from the socket that osm->console.socket
 *             names.  Triad keeps that socket for itself and puts a listener of its
 *             own in its place; each client it accepts is connected to that one.
 *   local     OpenSM reads descriptor 0.  Triad puts a pipe there, reads the real
 *             standard input itself, and passes lines on.
 *
 * Lines whose first word is 'triad' are run here and answered; all else goes through
 * unchanged, both ways.  OpenSM's console opens only after create(), and nothing tells
 * when: triad_console_arm() is called again and again until it is there.
 *
 * Every user of the host can connect to a loopback console.  Triad's own commands are
 * run with the role of who typed them (service/peer.h); OpenSM's are as open as they
 * are without Triad, and can't be guarded from here: OpenSM accepts from the listener
 * in the place of its own, too, which any user of the host can find.
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

/* For the console that opensm.conf asks for.  NULL when there is none that Triad can
 * stand before, said in the log. */
struct triad_console *triad_console_new(struct osm_opensm *osm,
	const struct triad_runner *runner, struct triad_log *log);

/* Puts Triad before a loopback console that has appeared.  Does not block. */
void triad_console_arm(struct triad_console *console);

/* Ends the sessions.  Accepts NULL. */
void triad_console_stop(struct triad_console *console);

/* After triad_console_stop().  Accepts NULL. */
void triad_console_free(struct triad_console *console);

#endif
