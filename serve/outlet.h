/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Serves what one process knows that reads counters (OpenSM with the plugin, or
 * triad-agent): its listeners, and the link to it.
 *
 * Model: a thread follows 'changes' of the process's socket (service/outside.h), which
 * bring the configuration, and connects again a second after it has ended: a configuration
 * stays in force meanwhile, and requests are answered by 502.  Each command has a
 * connection of its own.  A second thread reports how the listeners and the files do.
 *
 * Thread-safety: one thread calls new and free. */
#ifndef TRIAD_SERVE_OUTLET_H
#define TRIAD_SERVE_OUTLET_H

#include <stdbool.h>

#include "triad/log.h"

struct triad_outlet;

/* 'path' is the socket's; 'log' outlives it.  NULL when memory or threads are short. */
struct triad_outlet *triad_outlet_new(const char *path, struct triad_log *log);

/* Disconnects all clients.  Returns false when a thread is stuck in a write to a disk, and
 * was left: then the log must stay.  Accepts NULL. */
bool triad_outlet_free(struct triad_outlet *outlet);

#endif
