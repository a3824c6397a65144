/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finders: threads that find problems of the whole fabric, beside what sweeps read:
 * wrong routes, roots of congestion, slow links, hosts that harm the SA, links that are out.
 *
 * Model: the watch asks each finder for all its present findings, at the end of each
 * sweep and when the finder says that they changed.  A finding is identified by its
 * cause and key.  It keeps its place while it lasts; otherwise an alert would end and
 * another begin whenever the finder meets another example first.  Of two findings of
 * one cause in one place the first counts.  A finding that its finder no longer has is
 * over.
 *
 * Thread-safety: the owner of the alerts calls all functions; it calls finders without
 * its lock.
 * Memory: TRIAD_FINDERS_MAX_FINDINGS findings of a fixed size; more are left out. */
#ifndef TRIAD_PERFMGR_FINDERS_H
#define TRIAD_PERFMGR_FINDERS_H

#include <pthread.h>

#include "congestion/track.h"
#include "perfmgr/watch/alerts.h"

/* Slow links that are findings; and of those that are alike, how many are one each. */
#define TRIAD_SLOW_MAX_FINDINGS 32u
#define TRIAD_SLOW_MAX_ALONE 3u

/* Hosts that ask the SA for what harms OpenSM. */
#define TRIAD_REQUESTS_MAX_FINDINGS 16u

#define TRIAD_FINDERS_MAX_FINDINGS                                                     \
	(TRIAD_ALERT_N_ROUTES + TRIAD_CONGESTION_MAX_TRACKED +                         \
		TRIAD_SLOW_MAX_FINDINGS + TRIAD_REQUESTS_MAX_FINDINGS)
#define TRIAD_MAX_FINDERS 7u

/* Where finders put their findings. */
struct triad_found;

struct triad_finder {
	void (*read)(void *context, struct triad_found *found);
	void *context;
};

/* Adds a finding ('cause', and what belongs to that) at a port.  'key' is unique among
 * the finder's findings of that cause. */
void triad_found_add(struct triad_found *found, uint64_t node_guid, uint8_t port,
	uint64_t key, const struct triad_alert_finding *finding);
/* See triad_alerts_explain_begin() and _explain(); call the first one first. */
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

/* Asks all finders, and gives 'alerts' what is new and what is over.  'lock' protects
 * the alerts. */
void triad_finders_look(struct triad_finders *finders, struct triad_alerts *alerts,
	const struct triad_fabric *fabric, pthread_mutex_t *lock, uint64_t now_us);

#endif
