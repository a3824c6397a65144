/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Opens and closes the ways to ask an instance: its control socket and OpenSM's
 * console. Both run its commands. */
#ifndef TRIAD_PLUGIN_ACCESS_H
#define TRIAD_PLUGIN_ACCESS_H

struct triad_plugin;

/* Opens what the configuration asks for; from then on commands may change the instance.
 * Logs what can't be opened, and goes on without it. */
void triad_access_start(struct triad_plugin *plugin);

/* Stops the PerfManager's readings, so that no command waits for one, and disconnects
 * all clients; the worker may still look at the console. */
void triad_access_stop(struct triad_plugin *plugin);

#endif
