/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The parts of 'struct triad_collector': collector.c serves its owner and its readers;
 * collector_sweep.c runs a sweep from beginning to end; collector_readings.c handles the
 * scheduler's reports. */
#ifndef TRIAD_PERFMGR_COLLECTOR_PARTS_H
#define TRIAD_PERFMGR_COLLECTOR_PARTS_H

#include <pthread.h>

#include "perfmgr/collector.h"

struct triad_collector {
	struct triad_collector_clock clock;
	struct triad_log *log;
	struct triad_log_limit send_limit, reset_limit, max_difference;
	const struct triad_mad_transport *transport;
	struct triad_collector_params params;
	struct triad_engine *engine;
	struct triad_sweep *sweep;
	struct triad_watch *watch;
	bool watch_is_behind;            /* it has not adopted the view yet */
	struct triad_groups *groups;     /* for the next view */
	bool groups_looked_at;           /* checked for groups without a port */
	struct triad_fabric *fabric;     /* to adopt, or NULL */
	uint16_t pkeys[TRIAD_PKEYS_MAX]; /* of our port, as used for the view */
	uint32_t n_pkeys;
	uint32_t n_apart_logged;
	bool adopt_failed; /* try again before the next sweep */
	uint64_t due_us;
	uint64_t group_due_us[TRIAD_GROUPS_MAX]; /* UINT64_MAX: with all others */
	uint32_t sweeping_groups; /* bit i: the sweep is of group i; 0: of all */
	bool was_cut;             /* the present sweep */
	uint64_t begun_us;        /* start of the present or last sweep, of any kind */
	uint64_t send_errors, receive_errors, n_impossible;
	unsigned n_unsent;   /* queries in a row */
	uint32_t n_vl_asked; /* waiting ports asked for their VLs in the present
			      * sweep */
	bool sweep_asked;

	/* Held for a few instructions, by readers and the owner alike. */
	pthread_mutex_t published_lock;
	struct triad_view *view;
	struct triad_collector_status status;
};

static inline uint64_t collector_now(const struct triad_collector *collector)
{
	return collector->clock.now_us(collector->clock.context);
}

/* The sink for the scheduler's reports. */
struct triad_sweep_sink collector_sink(struct triad_collector *collector);

/* Computes when each group with a period of its own is due. */
void collector_plan_groups(struct triad_collector *collector, uint64_t now_us);

#endif
