/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The sFlow agent's thread: runs perfmgr/export/sflow_sender.h with the PerfManager's
 * view, while the PerfManager sweeps.
 *
 * The thread is there while there are collectors.  It waits only for its next time to send
 * and for triad_sflow_configure().
 *
 * Thread-safety: any thread, for all but new, stop and free. */
#ifndef TRIAD_SERVICE_SFLOW_H
#define TRIAD_SERVICE_SFLOW_H

#include "perfmgr/export/sflow_sender.h"
#include "service/perf.h"
#include "triad/log.h"

struct triad_sflow;

/* 'perf' and 'sampler' must outlive it.  NULL when memory is short. */
struct triad_sflow *triad_sflow_new(
	struct triad_perf *perf, struct triad_sampler *sampler, struct triad_log *log);

/* Ends the thread, at once; before triad_perf_free().  Accepts NULL. */
void triad_sflow_stop(struct triad_sflow *sflow);

/* After triad_sflow_stop().  Accepts NULL. */
void triad_sflow_free(struct triad_sflow *sflow);

/* Returns 0, EINVAL (a value is out of its range; nothing has changed), or an errno
 * when the thread can't be started. */
int triad_sflow_configure(
	struct triad_sflow *sflow, const struct triad_sflow_params *params);

/* See triad_sflow_sender_indices(). */
struct triad_sflow_indices *triad_sflow_indices(struct triad_sflow *sflow);

struct triad_sflow_sender_status triad_sflow_status(struct triad_sflow *sflow);

#endif
