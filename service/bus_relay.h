/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The bus (collect/nats/bus.h) of the plugin in OpenSM: triadd is connected to the broker,
 * and messages go through its socket.  So OpenSM's process has no connection to the network,
 * and none of the library's threads.
 *
 * Model: a queue of a bounded size each way, and the state of the connection as triadd last
 * told it.  Two requests of triadd's move messages (collect/nats/record.h), one
 * of each kind at a time:
 *
 *     bus-out   what is to be sent, without an end; what to be connected to comes first,
 *               and again when it has changed, and every TRIAD_BUS_BEAT_US
 *     bus-in    what was received follows, and every TRIAD_BUS_BEAT_US the state; its end
 *               is that of bus-out, too
 *
 * Without triadd, or when it says nothing for TRIAD_BUS_SILENT_US, there is no connection;
 * then messages to be sent are dropped, because they would be outdated later.
 *
 * Thread-safety: any thread, except for new and free.  'wake' is called from the thread of
 * bus-in.
 * Memory: TRIAD_BUS_MAX_OCTETS each way, and some 256 KiB while triadd is there. */
#ifndef TRIAD_SERVICE_BUS_RELAY_H
#define TRIAD_SERVICE_BUS_RELAY_H

#include <stdatomic.h>

#include "collect/nats/bus.h"
#include "service/runner.h"
#include "triad/clock.h"

#define TRIAD_BUS_OUT "bus-out"
#define TRIAD_BUS_IN "bus-in"
#define TRIAD_BUS_BEAT_US (2 * TRIAD_US_PER_S)
#define TRIAD_BUS_SILENT_US (10 * TRIAD_US_PER_S)

/* Runs a request of triadd's, 'verb', until triadd goes or '*is_ending'.  Returns an exit
 * status. */
int triad_bus_relay_run(struct triad_bus *bus, const char *verb,
	const struct triad_asker *asker, const atomic_bool *is_ending,
	struct triad_output *output);

#endif
