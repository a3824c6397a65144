/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The PerfManager's thread: runs a collector (perfmgr/collector.h) on a umad
 * descriptor of its own.
 *
 * It sweeps while [perfmgr] enabled is true, this SM has the role that [perfmgr] role
 * names, and there is a fabric that was taken in that role: another master may have
 * changed the LIDs of an older one.  Other threads leave requests (a configuration, a
 * fabric, a sweep) under a lock that is held for a few instructions; the thread takes
 * them up between two steps, within 20 ms.
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
struct triad_past;

/* The role of this process's SM in its subnet. */
enum triad_sm {
	TRIAD_SM_OTHER,
	TRIAD_SM_ABSENT, /* this process has no SM: [perfmgr] role doesn't matter */
	TRIAD_SM_MASTER,
	TRIAD_SM_STANDBY,
};

/* Hooks that service/collect.c implements: when several processes read counters
 * together, they decide what this one reads.  The PerfManager's thread calls them,
 * without a lock. */
struct triad_perf_hooks {
	void *context;
	/* Takes a new configuration.  Returns whether the collector's fabrics are parts
	 * of a whole one from now on; see struct triad_collector_params. */
	bool (*configure)(void *context, const struct triad_conf *conf);
	/* Takes a new fabric.  Returns true when the hooks themselves give the
	 * collector the fabric to sweep. */
	bool (*take_fabric)(void *context, struct triad_fabric *fabric);
	/* Sets totals to 0.  Returns false when the collector is to do that. */
	bool (*reset)(void *context, const struct triad_selection *selection);
	/* Called in each step.  'wanted': enabled, and in the role that reads counters.
	 * Sets '*reads': the collector is to sweep; '*has_fabric': the hooks have a
	 * fabric from a manager.  Returns until when the thread may sleep. */
	uint64_t (*step)(void *context, bool wanted, bool *reads, bool *has_fabric);
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
/* Has the thread call 'changed', without a lock, when a sweep has ended or the state is
 * another one. */
void triad_perf_set_listener(
	struct triad_perf *perf, void (*changed)(void *context), void *context);
/* Has the thread call the hook step() soon. */
void triad_perf_wake(struct triad_perf *perf);
/* For the hooks alone. */
struct triad_collector *triad_perf_collector(struct triad_perf *perf);

/* Ends the thread, in about half a second at most; totals stay readable.
 * Accepts NULL. */
void triad_perf_stop(struct triad_perf *perf);

/* After triad_perf_stop().  Accepts NULL. */
void triad_perf_free(struct triad_perf *perf);

/* Adds a reference to 'conf' until the thread has taken it up. */
void triad_perf_configure(struct triad_perf *perf, const struct triad_conf *conf);
void triad_perf_set_sm(struct triad_perf *perf, enum triad_sm sm);

/* 'fabric' was taken while this SM was 'sm'; ignored when its role has changed
 * since. */
void triad_perf_set_fabric(
	struct triad_perf *perf, struct triad_fabric *fabric, enum triad_sm sm);

/* Whether this process reads counters while its SM is 'sm'. */
bool triad_perf_wants(struct triad_perf *perf, enum triad_sm sm);

/* Whether this SM is the master, but perfmgr.role has a standby read the counters: then
 * its alerts are about routes only. */
bool triad_perf_is_idle_master(struct triad_perf *perf);
/* Results of the watch's finders may have changed: has it read them soon, without
 * waiting for a sweep. */
void triad_perf_note_findings(struct triad_perf *perf);
/* The role that triad_perf_set_sm() set last. */
enum triad_sm triad_perf_sm(struct triad_perf *perf);

enum triad_perf_state triad_perf_state(struct triad_perf *perf);
/* Since when (monotonic) counters are read with the present period: a sweep is overdue
 * only some time after that.  The present time while none are read. */
uint64_t triad_perf_expects_since(struct triad_perf *perf);
/* Since when (monotonic) counters are read, whatever the period was.  The present time
 * while none are read. */
uint64_t triad_perf_reads_since(struct triad_perf *perf);
struct triad_collector_status triad_perf_status(struct triad_perf *perf);

/* When totals of any port were set to 0 last, monotonic; 0: never. */
uint64_t triad_perf_zeroed_us(struct triad_perf *perf);

/* Has the thread go on from what was known at a past moment, which it frees: see
 * triad_watch_restore().  One that was left before, and not taken up yet, is freed. */
void triad_perf_restore(struct triad_perf *perf, struct triad_past *past);
/* Whether the thread has not taken it up yet. */
bool triad_perf_is_restoring(struct triad_perf *perf);

/* What sweeps found; the lower half of watch.h is for any thread. */
struct triad_watch *triad_perf_watch(struct triad_perf *perf);

/* See triad_collector_view(); also NULL for an idle master that never read counters. */
struct triad_view *triad_perf_view(struct triad_perf *perf);

/* Resets of counters in hardware; lives as long as 'perf'. */
struct triad_reset_log *triad_perf_resets(struct triad_perf *perf);

/* Asks for a sweep and returns its ticket, for triad_perf_wait_sweep(). */
uint64_t triad_perf_ask_sweep(struct triad_perf *perf);

/* Waits, 'wait_us' at most, for the end of a sweep that began after the ticket was
 * given.  A sweep that was cut short does not count.  Returns 0, ETIMEDOUT or ECANCELED
 * (the thread ends, or stops sweeping). */
int triad_perf_wait_sweep(struct triad_perf *perf, uint64_t ticket, uint64_t wait_us);

/* Takes over 'selection' and sets the totals of its ports to 0; begins a sweep that
 * also resets their hardware counters, if 'selection' says so.  '*ticket' is for
 * triad_perf_wait_sweep().  Waits some 20 ms, until the totals are 0.  Returns 0, EBUSY
 * (another reset is under way) or ECANCELED (the thread ends). */
int triad_perf_reset(
	struct triad_perf *perf, struct triad_selection *selection, uint64_t *ticket);

#endif
