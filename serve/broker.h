/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Is connected to the broker (collect/nats/bus.h) for the plugin in OpenSM, whose bus is
 * service/bus_relay.h.
 *
 * Model: a thread follows 'bus-out', which says what to be connected to and what to send;
 * another one passes on what was received, by 'bus-in', and how the connection is.  Each
 * begins its request again a second after it has ended.  When the plugin can't be asked, the
 * connection is ended; what comes until then is dropped and counted.
 *
 * Thread-safety: any thread, for all but new and free.
 * Memory: that of bus.h, from the first time on that it is enabled. */
#ifndef TRIAD_SERVE_BROKER_H
#define TRIAD_SERVE_BROKER_H

#include "serve/link.h"
#include "triad/log.h"

struct triad_broker;

/* 'link' and 'log' outlive it.  NULL when memory is short. */
struct triad_broker *triad_broker_new(
	struct triad_link_to *link, struct triad_log *log);
/* After link->is_ending is true.  Takes as long as triad_bus_free(), and five seconds if
 * the plugin hangs.  Accepts NULL. */
void triad_broker_free(struct triad_broker *broker);

/* Whether the plugin collects by a broker. */
void triad_broker_enable(struct triad_broker *broker, bool is_on);

#endif
