/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The state that the three files of the collector share:
 *
 *     collector.c           the owner's settings, what readers get, resets
 *     collector_sweep.c     a sweep from its beginning to its end
 *     collector_readings.c  callbacks of the sweep's scheduler */
#ifndef TRIAD_PERFMGR_COLLECTOR_PARTS_H
#define TRIAD_PERFMGR_COLLECTOR_PARTS_H

#include <pthread.h>

#include "perfmgr/collector.h"

struct triad_collector {
	struct triad_collector_clock clock;
	struct triad_log *log;
	struct triad_log_limit send_limit, reset_limit, max_difference,
		disbelieved_limit;
	const struct triad_mad_transport *transport;
	struct triad_collector_params params;
	struct triad_engine *engine;
	struct triad_sweep *sweep;
	struct triad_watch *watch;
	bool watch_is_behind;            /* it has not adopted 'view' yet */
	struct triad_groups *groups;     /* for the next view */
	bool groups_looked_at;           /* groups without a port are logged */
	struct triad_fabric *fabric;     /* to adopt, or NULL */
	uint16_t pkeys[TRIAD_PKEYS_MAX]; /* of our port, for 'view' */
	uint32_t n_pkeys;
	uint32_t n_apart_logged;
	bool adopt_failed; /* try again before the next sweep */
	uint64_t due_us;
	uint64_t group_due_us[TRIAD_GROUPS_MAX]; /* UINT64_MAX: no period of its own */
	uint32_t sweeping_groups; /* bit i: the sweep is of group i; 0: of all */
	bool was_cut;             /* the present sweep ended early */
	uint64_t begun_us;        /* the present or last sweep, of groups too */
	uint64_t send_errors, receive_errors, n_impossible;
	uint64_t
		errors_before; /* of count_errors(), at the end of the last full sweep */
	unsigned n_unsent;     /* failures to send, in a row */
	uint32_t n_vl_asked;   /* ports asked for waits of VLs, in this sweep */
	bool sweep_asked;

	/* Readers and the owner hold it for a few instructions. */
	pthread_mutex_t published_lock;
	struct triad_view *view;
	struct triad_collector_status status;
};

static inline uint64_t collector_now(const struct triad_collector *collector)
{
	return collector->clock.now_us(collector->clock.context);
}

/* The callbacks for the sweep's scheduler. */
struct triad_sweep_sink collector_sink(struct triad_collector *collector);

/* Makes each group that has a period of its own due one period from now. */
void collector_plan_groups(struct triad_collector *collector, uint64_t now_us);

#endif
