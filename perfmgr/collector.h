/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The PerfManager: sweeps a fabric each period and keeps its counters.
 *
 * Model: the collector connects the scheduler (sweep.h), the engine (engine.h) and a
 * transport.  Its owner's thread drives it:
 *
 *     for (;;)
 *         sleep_us = triad_collector_step(collector);
 *
 * A step begins a sweep when one is due, sends queries as the window allows, waits a
 * moment for answers and handles them.  Sweeps begin at multiples of the period after
 * the first, so that the period does not drift.  A sweep that runs into the next one's
 * time counts as late, and the beginnings that it missed are skipped.
 *
 * Port groups may be skipped, or swept more often: smaller sweeps, of those groups
 * alone, then run between the others, as far as there is time.
 *
 * At the end of a sweep, watch.h updates histograms and alerts.
 *
 * Readers see a view: the fabric that is swept and the row of each of its
 * ports.  A view is immutable; a new one is published, whole, when a fabric is
 * adopted, which may be in mid-sweep.  Rows are read through triad_engine_read().
 *
 * Thread-safety: the owner's thread calls everything, but for
 * triad_collector_view(), _status() and _watch(), which any thread may call
 * while the collector lives; the lock between them and the owner is held for the copy
 * of a pointer or of the status.
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
	/* In which each round goes over all ports, if 'sweep.round_share' allows; 0: it is
	 * not done.  What is in 'sweep.round_part' does not matter. */
	uint64_t round_period_us[TRIAD_N_ROUNDS];
	/* A port that waits for this share of the time is asked for waits of its VLs in the
	 * same sweep: as many ports as 'sweep.round_share' is of all, and a few; 0: none. */
	double vl_wait_share;
	/* Fabrics are parts of one, whose many ends are no lost links: alerts.links
	 * counts as false. */
	bool is_part;
};

struct triad_collector_clock {
	uint64_t (*now_us)(void *context); /* monotonic */
	void *context;
};

struct triad_collector_status {
	uint64_t n_sweeps;        /* finished */
	uint64_t n_late;          /* that took longer than the period */
	uint64_t n_group_sweeps;  /* finished, of groups alone; not in n_sweeps */
	uint64_t delay_us;        /* from when the last one was due to its beginning */
	uint64_t delay_max_us;    /* the longest of them */
	uint64_t started_us;      /* the present or last sweep; 0: none yet */
	uint64_t last_started_us; /* the last one that finished */
	uint64_t finished_us;
	uint64_t ended_us; /* the last one that finished, also of groups alone */
	uint64_t duration_us;
	uint64_t period_us;
	bool sweeping;
	unsigned window; /* queries that may be outstanding at present */
	struct triad_sweep_progress progress; /* of the present sweep */
	struct triad_sweep_progress last;     /* of the last one that finished */
	struct triad_sweep_counts counts;
	uint64_t send_errors;
	uint64_t receive_errors;
	uint64_t n_impossible; /* readings of more than a link can carry */
	uint64_t octets;       /* memory of the engine */
	struct triad_details_counts details;
	struct triad_partitions_counts partitions; /* of the fabric adopted last */
};

/* NULL when memory is short.  'log' (may be NULL) outlives the collector; 'clock' and
 * 'sink', which alerts go to (NULL: nowhere), are copied. */
struct triad_collector *triad_collector_new(const struct triad_collector_clock *clock,
	const struct triad_alerts_sink *sink, struct triad_log *log);
void triad_collector_free(struct triad_collector *collector);

/* NULL takes the transport away: nothing is sent or received. */
void triad_collector_set_transport(
	struct triad_collector *collector, const struct triad_mad_transport *transport);

/* Takes effect with the next sweep; a changed period from the last one's start. */
void triad_collector_set_params(
	struct triad_collector *collector, const struct triad_collector_params *params);

/* Puts into force what 'conf' says of port groups, thresholds and histograms, with the
 * parameters set last.  Returns 0 or ENOMEM; then groups are as they were. */
int triad_collector_configure(
	struct triad_collector *collector, const struct triad_conf *conf);

/* Sweeps 'fabric' from the next step on, in mid-sweep too. */
void triad_collector_set_fabric(
	struct triad_collector *collector, struct triad_fabric *fabric);

/* Takes the fabric over at once, where triad_collector_step() is not called: counters
 * are read elsewhere, and it doesn't matter what this port shares with others. */
void triad_collector_adopt(struct triad_collector *collector);

/* Counters are read elsewhere: a round of all ports, begun at 'started_us', has ended
 * with that, and counts as a sweep. */
void triad_collector_note_round(struct triad_collector *collector,
	const struct triad_sweep_progress *progress, uint64_t started_us);

/* For whoever writes rows in the place of sweeps; the owner's thread. */
struct triad_engine *triad_collector_engine(struct triad_collector *collector);

/* The next sweep begins at once, or as soon as the present one ends; it asks those too
 * that were left out because they had been silent. */
void triad_collector_sweep_now(struct triad_collector *collector);

/* Makes the totals of the chosen ports 0, and has their hardware's counters reset in
 * the next sweep, which begins at once, when that is wanted. */
void triad_collector_reset(
	struct triad_collector *collector, const struct triad_selection *selection);

/* Does what is due.  Returns how long the owner may sleep; 0 during a sweep, when
 * the turn itself waited. */
uint64_t triad_collector_step(struct triad_collector *collector);

/* Stops sweeping, and waits at most 'wait_us' for what is in flight.  Returns true
 * when nothing is any more. */
bool triad_collector_drain(struct triad_collector *collector, uint64_t wait_us);

/* The published view, referenced, or NULL before there is one. */
struct triad_view *triad_collector_view(struct triad_collector *collector);

struct triad_collector_status triad_collector_status(struct triad_collector *collector);

/* What sweeps found; its lower half may be called by any thread while the collector
 * lives. */
struct triad_watch *triad_collector_watch(struct triad_collector *collector);

#endif
