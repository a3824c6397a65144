/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Evaluates what a sweep found: histograms, alerts, links, bit error rates.
 *
 * Model: when a sweep has ended, one walk over the ports it read adds a sample to the
 * histograms (histograms.h), compares changes with thresholds (alerts.h), counts which
 * links went down (links.h) and judges bit error rates (bers.h).  The walk follows the
 * engine's rows, so it costs a third of looking at each answer as it comes; and the
 * sweep does not wait for it.
 *
 * Thread-safety: the collector's owner calls the functions above "reading"; any thread
 * may call those below.  A lock between them is held for TRIAD_WATCH_SLICE ports at a
 * time; or for TRIAD_WATCH_ALERT_SLICE alerts that are reported or compared with
 * silences, which takes some milliseconds with TRIAD_SILENCES_MAX silences.  The owner,
 * and a thread that changes silences, calls the alerts' sink with the lock held: the
 * sink must neither block nor call back.
 * Memory: that of histograms.h, alerts.h, links.h and silences.h. */
#ifndef TRIAD_PERFMGR_WATCH_H
#define TRIAD_PERFMGR_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/watch/alerts.h"
#include "perfmgr/watch/bers.h"
#include "perfmgr/watch/changes.h"
#include "perfmgr/watch/histograms.h"
#include "perfmgr/watch/links.h"
#include "perfmgr/watch/finders.h"
#include "perfmgr/watch/silences.h"
#include "perfmgr/watch/slow_finder.h"
#include "perfmgr/view.h"
#include "triad/conf.h"

#define TRIAD_WATCH_SLICE 512u
/* Each of these alerts is compared with all silences. */
#define TRIAD_WATCH_ALERT_SLICE 64u

struct triad_watch;

/* NULL when memory is short.  'sink' is copied. */
struct triad_watch *triad_watch_new(const struct triad_alerts_sink *sink);
void triad_watch_free(struct triad_watch *watch);

/* Sets the sink (copied) for changes of the topology, and for ports that counted that
 * their link went down.  It is called like the alerts' sink, but by triad_watch_adopt()
 * without the lock.  Call this before the first configuration. */
void triad_watch_set_changes(
	struct triad_watch *watch, const struct triad_changes_sink *sink);

/* Adds a finder (copied), which is asked at the end of each sweep.  Call this before
 * the first configuration. */
void triad_watch_add_finder(
	struct triad_watch *watch, const struct triad_finder *finder);

/* 'is_part': each view is a part of a larger fabric, so alerts.links counts as
 * false. */
void triad_watch_configure(struct triad_watch *watch, const struct triad_conf *conf,
	bool is_part, uint64_t now_us);

/* Counters are read here again, from now on.  Alerts ignore what grew before, because
 * others have reported it. */
void triad_watch_look_from(struct triad_watch *watch, uint64_t now_us);

/* Looks at the ports of 'view' from now on.  Returns 0 or ENOMEM; after ENOMEM nothing
 * is evaluated until a later call returns 0. */
int triad_watch_adopt(
	struct triad_watch *watch, struct triad_view *view, uint64_t now_us);

/* Goes on from what was known before: see triad_alerts_restore() and
 * triad_links_restore().  Changes since then are reported with the next view.  Does nothing if
 * views are parts. */
int triad_watch_restore(struct triad_watch *watch, struct triad_view *past,
	const struct triad_alert *alerts, uint32_t n_alerts,
	const struct triad_link *links, uint32_t n_links, uint64_t now_us);

/* Asks the finders again: their findings may have changed. */
void triad_watch_look_at_finders(struct triad_watch *watch, uint64_t now_us);

/* Other processes read the counters, or this one does again; see
 * triad_alerts_set_idle(). */
void triad_watch_set_idle(struct triad_watch *watch, bool is_idle, uint64_t now_us);

/* See triad_alerts_begin_sweep(). */
void triad_watch_begin_sweep(struct triad_watch *watch, bool is_part);

/* The port (index in the fabric of the view adopted last) did not answer in the
 * sweep. */
void triad_watch_miss(struct triad_watch *watch, uint32_t port, uint64_t now_us);

/* Why an agent's ports are unanswered, if any are; 'port' is one of them. */
void triad_watch_note_trouble(
	struct triad_watch *watch, uint32_t port, struct triad_pma_trouble trouble);

/* Looks at what was read since 'since_us', when the sweep began.  'cut': the sweep
 * ended because nothing could be sent, so missed ports are not silent. */
void triad_watch_end_sweep(
	struct triad_watch *watch, uint64_t since_us, bool cut, uint64_t now_us);

/* Findings of other processes, instead of sweeps; see triad_alerts_take() and _match().
 * 'port' is an index in the fabric of the view adopted last. */
void triad_watch_take(struct triad_watch *watch, uint32_t port, unsigned cause,
	const struct triad_alert_finding *found, uint64_t now_us);
void triad_watch_match(
	struct triad_watch *watch, uint32_t port, uint32_t causes, uint64_t now_us);
void triad_watch_settle(struct triad_watch *watch, uint64_t now_us);
/* The port's LinkDownedCounter grew by 'n'. */
void triad_watch_count_downs(
	struct triad_watch *watch, uint32_t port, uint64_t n, uint64_t now_us);
/* A round that other processes read has ended. */
void triad_watch_end_round(struct triad_watch *watch, uint64_t now_us);

/* --- reading, and other functions for any thread --- */

/* See triad_alerts_note_sm(). */
void triad_watch_note_sm(struct triad_watch *watch, uint16_t trap, uint16_t lid,
	uint8_t port, uint64_t now_us);

/* See triad_histograms_get(). */
int triad_watch_histogram(struct triad_watch *watch,
	const struct triad_histograms_scope *scope, unsigned counter,
	struct triad_histogram *copy, uint64_t *n_zeros);

/* Forgets all samples of the histograms. */
void triad_watch_clear_histograms(struct triad_watch *watch);

/* --- silences (silences.h); any thread; times are those of the wall clock --- */

/* Adds a copy.  Returns its number; 0 when there are too many, or another silence has
 * it.  Before it returns, this thread calls the alerts' sink. */
uint32_t triad_watch_silence(struct triad_watch *watch,
	const struct triad_silence *silence, uint64_t wall_us);

/* Ends a silence, copies it to 'ended', and calls the sink.  Returns false when there
 * is none. */
bool triad_watch_end_silence(struct triad_watch *watch, uint32_t id, uint64_t wall_us,
	struct triad_silence *ended);

/* Replaces all silences by a copy of those of a file. */
void triad_watch_adopt_silences(struct triad_watch *watch,
	const struct triad_silences *silences, uint64_t wall_us);

/* Begins and ends silences that are due, and calls the sink.  Returns when the next one
 * is due; UINT64_MAX: there is none.  '*version' is the same while nothing changes. */
uint64_t triad_watch_advance_silences(
	struct triad_watch *watch, uint64_t wall_us, uint64_t *version);

/* Whether alerts about an end of the link would be silenced. */
bool triad_watch_is_link_silenced(
	struct triad_watch *watch, const struct triad_link *link);

/* Copies all of them.  Returns the version. */
uint64_t triad_watch_copy_silences(
	struct triad_watch *watch, struct triad_silences *copy);

/* See triad_alerts_next(). */
bool triad_watch_next_alert(
	struct triad_watch *watch, uint32_t *cursor, struct triad_alert *copy);

/* See triad_links_next() and _find(). */
bool triad_watch_next_link(
	struct triad_watch *watch, uint32_t *cursor, struct triad_link *copy);
bool triad_watch_find_link(struct triad_watch *watch, uint64_t node_guid, uint8_t port,
	struct triad_link *copy);
/* A callback that knows faults of hardware: 'number' is a port's, or 0 for the device.
 * The owner calls it in each sweep, with the lock held. */
struct triad_watch_hardware {
	bool (*judge)(void *context, uint64_t node_guid, uint8_t number,
		struct triad_hardware_finding *finding);
	void *context;
};
/* Copied; before the first sweep. */
void triad_watch_set_hardware(
	struct triad_watch *watch, const struct triad_watch_hardware *hardware);

/* See triad_alerts_set_intent(); the intent is called with the lock held, when a fabric
 * is adopted.  Set it before the first one. */
void triad_watch_set_intent(
	struct triad_watch *watch, const struct triad_alerts_intent *intent);

/* See triad_bers_read(). */
void triad_watch_read_bers(struct triad_watch *watch, const struct triad_view *view,
	uint32_t port, struct triad_bers_rate rates[TRIAD_BER_N_KINDS]);
/* Copies all records ('*n' of them), for the caller to free; NULL when memory is short.
 * Copies in slices, between which records may come or go. */
struct triad_link *triad_watch_copy_links(struct triad_watch *watch, uint32_t *n);

struct triad_watch_status {
	struct triad_alerts_counts alerts;
	struct triad_links_counts links;
	struct triad_slow_counts slow; /* of the fabric looked at last */
	uint32_t n_silences;
	uint64_t silences_version;
	/* Losses from before that are not known: this process began to look then, and knew of
	 * nothing before (triad_watch_restore()); 0: they are. */
	uint64_t knows_since_us;
	uint64_t samples_dropped; /* of histograms, for want of memory */
	uint64_t bers_dropped;    /* readings, for want of memory */
	uint64_t walk_us;         /* duration of the last walk */
	size_t octets;
};

struct triad_watch_status triad_watch_status(struct triad_watch *watch);

#endif
