/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The PerfManager's thread: runs a collector (perfmgr/collector.h) on a umad
 * descriptor of its own.
 *
 * It sweeps while it is enabled, this SM is what [perfmgr] role says and there is a
 * fabric, taken since it became that: LIDs may have changed under another one.  What
 * others want of it (a configuration, a fabric, a sweep) is left for it under a lock
 * that is held for a few instructions; it takes that up between two turns, within 20
 * ms.
 *
 * Thread-safety: any thread, for all but new and free. */
#ifndef TRIAD_SERVICE_PERF_H
#define TRIAD_SERVICE_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/collector.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_perf;

/* What the SM of this process is in its subnet. */
enum triad_sm {
	TRIAD_SM_OTHER,
	TRIAD_SM_ABSENT, /* there is none here: [perfmgr] role doesn't matter */
	TRIAD_SM_MASTER,
	TRIAD_SM_STANDBY,
};

/* Where this is one of many that read, collect.h decides by these what is read here.
 * The PerfManager's thread calls them, without a lock. */
struct triad_perf_hooks {
	void *context;
	/* A configuration is taken up.  Returns whether fabrics are parts of one from
	 * now on; see struct triad_collector_params. */
	bool (*configure)(void *context, const struct triad_conf *conf);
	/* A fabric has come.  Returns true when somebody else gives the collector what
	 * is to be swept. */
	bool (*take_fabric)(void *context, struct triad_fabric *fabric);
	/* Totals are to become 0.  Returns true when that is done. */
	bool (*reset)(void *context, const struct triad_selection *selection);
	/* Called again and again; 'wanted': counters are to be read, by whomever, once
	 * there is a fabric.  Says whether the collector is to sweep, and whether it
	 * was given a fabric that nobody else knew; returns until when the thread may
	 * sleep. */
	uint64_t (*turn)(void *context, bool wanted, bool *reads, bool *has_fabric);
};

enum triad_perf_state {
	TRIAD_PERF_RUNNING,
	TRIAD_PERF_DISABLED,     /* [perfmgr] enabled = false */
	TRIAD_PERF_OTHER_ROLE,   /* this SM is not what [perfmgr] role says */
	TRIAD_PERF_NO_FABRIC,    /* the SM has not brought up a subnet yet */
	TRIAD_PERF_NO_TRANSPORT, /* the local port can't be opened */
};

/* Starts the thread, which calls 'alerts' (see watch.h).  NULL when memory or threads
 * are short. */
struct triad_perf *triad_perf_new(uint64_t port_guid,
	const struct triad_alerts_sink *alerts, struct triad_log *log);

/* Copied.  Before the first configuration. */
void triad_perf_set_hooks(
	struct triad_perf *perf, const struct triad_perf_hooks *hooks);
/* The hook turn() is called soon. */
void triad_perf_wake(struct triad_perf *perf);
/* For hooks alone. */
struct triad_collector *triad_perf_collector(struct triad_perf *perf);

/* Ends the thread, in about half a second at most; what was read stays readable.
 * Accepts NULL. */
void triad_perf_stop(struct triad_perf *perf);

/* After triad_perf_stop().  Accepts NULL. */
void triad_perf_free(struct triad_perf *perf);

/* Adds a reference to 'conf' until the thread has taken it up. */
void triad_perf_configure(struct triad_perf *perf, const struct triad_conf *conf);
void triad_perf_set_sm(struct triad_perf *perf, enum triad_sm sm);

/* 'fabric' is one seen by this SM as 'sm'; nothing happens when it is something else by
 * now. */
void triad_perf_set_fabric(
	struct triad_perf *perf, struct triad_fabric *fabric, enum triad_sm sm);

/* Whether counters are to be read while this SM is 'sm'. */
bool triad_perf_wants(struct triad_perf *perf, enum triad_sm sm);

/* Whether this is the master and another SM reads counters, by perfmgr.role: alerts are
 * those about routes alone. */
bool triad_perf_is_idle_master(struct triad_perf *perf);
/* What finders of the watch find may have changed: it looks soon, without a sweep. */
void triad_perf_note_findings(struct triad_perf *perf);
/* What was said last of this SM. */
enum triad_sm triad_perf_sm(struct triad_perf *perf);

enum triad_perf_state triad_perf_state(struct triad_perf *perf);
/* Since when sweeps are expected (monotonic): counters have been read from then on, with
 * the present period.  Now, while they are not. */
uint64_t triad_perf_expects_since(struct triad_perf *perf);
/* Since when counters are read (monotonic), with whatever period.  Now, while they are not. */
uint64_t triad_perf_reads_since(struct triad_perf *perf);
struct triad_collector_status triad_perf_status(struct triad_perf *perf);

/* What sweeps found; its lower half is for any thread. */
struct triad_watch *triad_perf_watch(struct triad_perf *perf);

/* See triad_collector_view(); NULL too for a master that never read counters. */
struct triad_view *triad_perf_view(struct triad_perf *perf);

/* Resets of counters in hardware; lives as long as 'perf'. */
struct triad_reset_log *triad_perf_resets(struct triad_perf *perf);

/* Asks for a sweep and returns its ticket, for triad_perf_wait_sweep(). */
uint64_t triad_perf_ask_sweep(struct triad_perf *perf);

/* Waits until a sweep begun after the ticket was given has ended, 'wait_us' at most.
 * Returns 0, ETIMEDOUT or ECANCELED (the thread ends, or sweeps no more).  A sweep that
 * was cut short has not ended. */
int triad_perf_wait_sweep(struct triad_perf *perf, uint64_t ticket, uint64_t wait_us);

/* Makes the totals of the ports in 'selection' (which is taken over) 0, and begins a
 * sweep that resets their hardware when that is wanted: '*ticket' is for
 * triad_perf_wait_sweep().  Waits until the totals are 0, for some 20 ms.  Returns 0,
 * EBUSY (another one is just being made) or ECANCELED (the thread ends). */
int triad_perf_reset(
	struct triad_perf *perf, struct triad_selection *selection, uint64_t *ticket);

#endif
