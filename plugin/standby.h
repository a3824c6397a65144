/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The topology while this SM is standby, and counters are to be read all the same.
 *
 * What this SM discovered before it became standby is copied by the worker, as on a
 * master.  It gets old, so a thread asks the master's subnet administration for its
 * tables, and for reports of ports that come and go: when one has come, and now and
 * then without, the tables are read again.
 *
 * The thread is made when it is wanted first; it ends with the instance.
 *
 * Thread-safety: any thread, for all but new and free. */
#ifndef TRIAD_PLUGIN_STANDBY_H
#define TRIAD_PLUGIN_STANDBY_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/perf.h"
#include "triad/log.h"

struct triad_standby;

struct triad_standby_status {
	bool active;
	bool subscribed;
	uint64_t n_refreshes; /* tables read */
	uint64_t n_failed;
	uint64_t n_reports; /* of ports that came or went */
	int error;          /* of the last try; 0: none */
};

/* NULL when memory is short.  'perf' must outlive it. */
struct triad_standby *triad_standby_new(
	uint64_t port_guid, struct triad_perf *perf, struct triad_log *log);

/* Ends the thread, in a second or so.  Accepts NULL. */
void triad_standby_free(struct triad_standby *standby);

/* Whether the topology is wanted from there. */
void triad_standby_set_wanted(struct triad_standby *standby, bool wanted);

struct triad_standby_status triad_standby_status(struct triad_standby *standby);

#endif
