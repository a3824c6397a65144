/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The PerfManager: sweeps a fabric each period and keeps its counters.
 *
 * Model: the collector connects the scheduler (sweep.h), the engine (engine.h) and a
 * transport.  The owner's thread drives it:
 *
 *     for (;;)
 *         sleep_us = triad_collector_step(collector);
 *
 * A step begins a sweep when one is due, sends queries as the window allows, waits a
 * moment for answers and handles them.  Sweeps begin at multiples of the period after
 * the first, so that the period does not drift.  A sweep that takes longer than the
 * period counts as late, and the starts that it missed are skipped.
 *
 * A port group may be skipped, or swept more often than the rest.  A sweep of that
 * group alone then runs between two sweeps of all ports, if there is time.
 *
 * At the end of a sweep, watch.h updates histograms and alerts.
 *
 * Readers see a view: the present fabric and the row of each of its ports.  A view is
 * immutable; adopting a fabric, which may happen in mid-sweep, publishes a new one.
 * Rows are read through triad_engine_read().
 *
 * Thread-safety: any thread may call triad_collector_view(), _status() and _watch()
 * while the collector lives; the owner's thread alone calls the rest.  A lock protects
 * the view's pointer and the status, and is held only to copy them.
 * Memory: the collector owns its engine; views are reference-counted, and a reader
 * must give its view back before the collector is freed. */
#ifndef TRIAD_PERFMGR_COLLECTOR_H
#define TRIAD_PERFMGR_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/details.h"
#include "perfmgr/engine.h"
#include "perfmgr/sweep/sweep.h"
#include "perfmgr/view.h"
#include "perfmgr/watch/watch.h"
#include "triad/conf.h"
#include "triad/fabric.h"
#include "triad/log.h"
#include "triad/mad.h"

struct triad_collector;

struct triad_collector_params {
	struct triad_sweep_params sweep;
	uint64_t period_us;
	/* The time in which each round asks all ports, if 'sweep.round_share' allows;
	 * 0: no such round.  The collector computes 'sweep.round_part' itself. */
	uint64_t round_period_us[TRIAD_N_ROUNDS];
	/* A port whose PortXmitWait takes this share of its link's time is also asked
	 * for the waits of its VLs in the same sweep; 0: none is.  At most
	 * 'sweep.round_share' of all ports, and 64 more. */
	double vl_wait_share;
	/* Each fabric is a part of a larger one, so a port without a far end is no lost
	 * link: alerts.links counts as false. */
	bool is_part;
};

struct triad_collector_clock {
	uint64_t (*now_us)(void *context); /* monotonic */
	void *context;
};

struct triad_collector_status {
	uint64_t n_sweeps;        /* finished */
	uint64_t n_late;          /* took longer than the period */
	uint64_t n_group_sweeps;  /* finished, of groups; not in n_sweeps */
	uint64_t delay_us;        /* how late the last one began */
	uint64_t delay_max_us;    /* the longest of them */
	uint64_t started_us;      /* the present or last sweep; 0: none yet */
	uint64_t last_started_us; /* the last one that finished */
	uint64_t finished_us;
	uint64_t ended_us; /* end of the last one, also of groups */
	uint64_t duration_us;
	uint64_t period_us;
	bool sweeping;
	unsigned window; /* the present limit of outstanding queries */
	struct triad_sweep_progress progress; /* of the present sweep */
	struct triad_sweep_progress last;     /* of the last one that finished */
	struct triad_sweep_counts counts;
	/* From the end of the sweep before the last until its end: queries that could
	 * not be sent, and answers that were not what was asked for.  UINT64_MAX: others
	 * read the counters. */
	uint64_t last_errors;
	uint64_t send_errors;
	uint64_t receive_errors;
	uint64_t n_impossible; /* readings that exceed what a link can carry */
	uint64_t octets;       /* memory of the engine */
	struct triad_details_counts details;
	struct triad_partitions_counts partitions; /* of the last adopted fabric */
};

/* NULL when memory is short.  'log' (may be NULL) outlives the collector.  Copies
 * 'clock', and 'sink', which receives alerts (NULL: none does). */
struct triad_collector *triad_collector_new(const struct triad_collector_clock *clock,
	const struct triad_alerts_sink *sink, struct triad_log *log);
void triad_collector_free(struct triad_collector *collector);

/* NULL removes the transport: the collector then sends and receives nothing. */
void triad_collector_set_transport(
	struct triad_collector *collector, const struct triad_mad_transport *transport);

/* Takes effect with the next sweep.  A changed period counts from the start of the last
 * one. */
void triad_collector_set_params(
	struct triad_collector *collector, const struct triad_collector_params *params);

/* Applies the port groups, thresholds and histograms of 'conf'; 'is_part' is that of
 * the parameters set last.  Returns 0, or ENOMEM with the groups unchanged. */
int triad_collector_configure(
	struct triad_collector *collector, const struct triad_conf *conf);

/* Sweeps 'fabric' from the next step on, in mid-sweep too. */
void triad_collector_set_fabric(
	struct triad_collector *collector, struct triad_fabric *fabric);

/* Adopts the fabric at once, for an owner that does not call triad_collector_step()
 * because other processes read the counters.  Chooses no P_Keys, since this port asks
 * nothing. */
void triad_collector_adopt(struct triad_collector *collector);

/* Other processes read the counters: their round over all ports, begun at 'started_us',
 * has ended with 'progress'.  It counts as a sweep. */
void triad_collector_note_round(struct triad_collector *collector,
	const struct triad_sweep_progress *progress, uint64_t started_us);

/* For code that writes rows instead of sweeps, in the owner's thread. */
struct triad_engine *triad_collector_engine(struct triad_collector *collector);

/* The next sweep begins at once, or as soon as the present one ends.  It also asks the
 * agents that sweeps leave out because they were silent. */
void triad_collector_sweep_now(struct triad_collector *collector);

/* Sets the totals of the chosen ports to 0.  With 'selection->hardware', a sweep begins
 * at once and also resets their counters in hardware. */
void triad_collector_reset(
	struct triad_collector *collector, const struct triad_selection *selection);

/* Does what is due.  Returns how long the owner may sleep; 0 during a sweep, because
 * the step itself waits for answers. */
uint64_t triad_collector_step(struct triad_collector *collector);

/* Stops sweeping, and waits at most 'wait_us' for answers to queries in flight.
 * Returns true when none is left in flight. */
bool triad_collector_drain(struct triad_collector *collector, uint64_t wait_us);

/* The published view, referenced, or NULL before there is one. */
struct triad_view *triad_collector_view(struct triad_collector *collector);

struct triad_collector_status triad_collector_status(struct triad_collector *collector);

/* What sweeps found.  Any thread may call the functions below "reading" in watch.h
 * while the collector lives. */
struct triad_watch *triad_collector_watch(struct triad_collector *collector);

#endif
