/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Explains congestion after each sweep (congestion/roots.h), in a thread of its own.
 *
 * Model: when a sweep has ended, the thread triad-congest begins; it ends when that sweep
 * is explained.  It is its own, because a check of routes may take longer than a sweep.  It
 * takes the rates of all ports from the present view and the forwarding
 * tables from the last check of routes.  Without either, or while this process reads no counters,
 * it has no result.  After a check of routes it counts anew how many pairs turn where.
 * The result is immutable and swapped whole.  The log gets a line when a root begins,
 * moves or ends, and alerts get the roots.
 *
 * Sweeps ask waiting ports for the waits of their VLs (PortVLXmitWait).  Where a port
 * counts these, roots are told apart by VL (congestion/planes.h).  These counters stop
 * at 65,535 ticks, after some microseconds.  A counter near that shows that the VL
 * waited, but not for how long: the VL then counts as having waited as long as the
 * port.
 *
 * A root that one sweep does not find is not over yet (track.h): the ports that waited
 * because of it before count as explained meanwhile.
 *
 * A root that the first sweep after a start finds may be older than that.  So the loads
 * of the sweep before are kept: where they do not say that the root was none, it is
 * there since that sweep at least.
 *
 * Thread-safety: any thread.  The lock is held for pointers and the status.
 * Memory: a result holds its routes; turns take 4 octets for each two ports of a
 * switch; the last loads 12 octets a port. */
#ifndef TRIAD_SERVICE_CONGESTION_WATCHER_H
#define TRIAD_SERVICE_CONGESTION_WATCHER_H

#include "congestion/track.h"
#include "perfmgr/watch/finders.h"
#include "service/perf.h"
#include "service/route_checker.h"

struct triad_congestion_watcher;

enum triad_congestion_state {
	TRIAD_CONGESTION_OFF,
	TRIAD_CONGESTION_NO_SWEEP,    /* no sweep has ended since counters are read */
	TRIAD_CONGESTION_NO_ROUTES,   /* routes were not checked */
	TRIAD_CONGESTION_NO_COUNTERS, /* this process does not read them */
	TRIAD_CONGESTION_NO_MEMORY,
	TRIAD_CONGESTION_KNOWN,
};

struct triad_congestion_place {
	uint64_t node_guid;
	uint8_t port;
};

struct triad_congestion_result {
	struct triad_route_result *routes; /* its layout numbers the ports */
	struct triad_congestion *found;
	uint64_t since_us[TRIAD_CONGESTION_MAX_ROOTS];   /* monotonic, of each root */
	bool since_at_least[TRIAD_CONGESTION_MAX_ROOTS]; /* it may have begun before */
	uint32_t n_by_vl; /* waiting ports whose VLs are known */
	/* Too many pairs of hosts send: who sends to whom is not estimated. */
	bool is_matrix_full;
	uint64_t swept_us; /* monotonic, when the result was ready */
	uint64_t took_us;
	uint64_t until_us; /* monotonic, end of the sweep that it explains */
	/* Roots that alerts are about: those found, and those just missed. */
	uint32_t n_tracked;
	struct triad_congestion_tracked tracked[TRIAD_CONGESTION_MAX_TRACKED];
	/* Ports that are roots, or wait because of one; those of this sweep first. */
	uint32_t n_explained, n_explained_now;
	struct triad_congestion_place *explained;
};

/* NULL when memory is short.  Both parts are borrowed. */
struct triad_congestion_watcher *triad_congestion_watcher_new(struct triad_perf *perf,
	struct triad_route_checker *routes, struct triad_log *log);
bool triad_congestion_watcher_stop(
	struct triad_congestion_watcher *watcher); /* or NULL */
void triad_congestion_watcher_free(
	struct triad_congestion_watcher *watcher); /* or NULL */

void triad_congestion_watcher_configure(
	struct triad_congestion_watcher *watcher, const struct triad_conf *conf);

/* A sweep has ended, or routes or the PerfManager's state are others: begins the thread. */
void triad_congestion_watcher_look(struct triad_congestion_watcher *watcher);

enum triad_congestion_state triad_congestion_watcher_state(
	struct triad_congestion_watcher *watcher);

/* The last result, with a reference; NULL: there is none. */
struct triad_congestion_result *triad_congestion_watcher_result(
	struct triad_congestion_watcher *watcher);
void triad_congestion_result_unref(
	struct triad_congestion_result *result); /* or NULL */

/* Adds the roots of the last result, and the ports that they explain, to 'found'. */
void triad_congestion_watcher_give(
	struct triad_congestion_watcher *watcher, struct triad_found *found);

/* Why there is no result, and what to do; NULL: there is one. */
const char *triad_congestion_state_text(enum triad_congestion_state state);

#endif
