/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Findings about the whole fabric from threads of their own, besides those of sweeps:
 * problems of routes, and roots of congestion.
 *
 * Model: each source is a finder.  It is asked for all its present findings at the end of
 * each sweep, and when it has reported a change.  A finding is identified by its cause and
 * key.  It keeps its first place; otherwise an alert would end and another begin whenever
 * another example of the same problem comes first.  Of two findings of one cause in one
 * place the first counts.  A finding that a finder no longer reports ends.
 *
 * Thread-safety: the owner of the alerts calls all; it calls the finders without holding
 * its lock.
 * Memory: TRIAD_FINDERS_MAX_FINDINGS findings of a fixed size; more are left out. */
#ifndef TRIAD_PERFMGR_FINDERS_H
#define TRIAD_PERFMGR_FINDERS_H

#include <pthread.h>

#include "congestion/track.h"
#include "perfmgr/watch/alerts.h"

#define TRIAD_FINDERS_MAX_FINDINGS (TRIAD_ALERT_N_ROUTES + TRIAD_CONGESTION_MAX_TRACKED)
#define TRIAD_MAX_FINDERS 2u

/* The list that finders add to. */
struct triad_found;

struct triad_finder {
	void (*read)(void *context, struct triad_found *found);
	void *context;
};

/* Adds a finding ('cause', and the members for it) at a port.  'key' is unique among those
 * of its cause. */
void triad_found_add(struct triad_found *found, uint64_t node_guid, uint8_t port,
	uint64_t key, const struct triad_alert_finding *finding);
/* See triad_alerts_explain_begin() and _explain(); the first comes first. */
void triad_found_explain_until(struct triad_found *found, uint64_t until_us);
void triad_found_explain(struct triad_found *found, uint64_t node_guid, uint8_t port);

/* --- for the watch --- */

struct triad_placed_finding {
	uint64_t node_guid, key;
	uint8_t port;
	struct triad_alert_finding finding;
};

struct triad_placed_list {
	uint32_t n;
	struct triad_placed_finding findings[TRIAD_FINDERS_MAX_FINDINGS];
};

struct triad_finders {
	uint32_t n_finders;
	struct triad_finder finders[TRIAD_MAX_FINDERS];
	struct triad_placed_list known, now;
};

/* Asks all finders, and passes new and ended findings to 'alerts'.  'lock' guards the
 * alerts. */
void triad_finders_look(struct triad_finders *finders, struct triad_alerts *alerts,
	const struct triad_fabric *fabric, pthread_mutex_t *lock, uint64_t now_us);

#endif
