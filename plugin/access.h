/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How an instance can be asked: its control socket and OpenSM's console, both of which
 * run its commands. */
#ifndef TRIAD_PLUGIN_ACCESS_H
#define TRIAD_PLUGIN_ACCESS_H

struct triad_plugin;

/* Opens what the configuration asks for; from then on commands may change it.  What
 * can't be opened is said in the log and left out. */
void triad_access_start(struct triad_plugin *plugin);

/* Ends reading, so that nobody waits for it, and cuts everybody off; the worker may
 * still look at the console. */
void triad_access_stop(struct triad_plugin *plugin);

#endif
