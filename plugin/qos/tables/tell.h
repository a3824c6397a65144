/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the log says of QoS tables: each finding once, however many sweeps find it
 * again.
 *
 * Thread-safety: one thread.  Memory: some 64 KiB; past TRIAD_TELL_MAX findings that
 * were told, more are counted only. */
#ifndef TRIAD_PLUGIN_QOS_TABLES_TELL_H
#define TRIAD_PLUGIN_QOS_TABLES_TELL_H

#include "qos/setup/setup_plan.h"
#include "triad/log.h"

#define TRIAD_TELL_MAX 4096
#define TRIAD_TELL_LINES 20 /* at a time */

struct triad_tell;

struct triad_tell *triad_tell_new(struct triad_log *log);
void triad_tell_free(struct triad_tell *tell); /* accepts NULL */

/* Another policy: all of it is news again. */
void triad_tell_forget(struct triad_tell *tell);

/* Findings, and SLs that have no VL on some path. */
void triad_tell_findings(struct triad_tell *tell, const struct triad_setup_plan *plan,
	const struct triad_policy *policy, const struct triad_fabric *fabric);

/* Tables that are not what they should be, although they were sent. */
void triad_tell_different(struct triad_tell *tell, const struct triad_setup_plan *plan,
	const struct triad_fabric *fabric);

/* Why the setup is refused. */
void triad_tell_cut_off(struct triad_tell *tell, const struct triad_setup_plan *plan,
	const struct triad_policy *policy, const struct triad_fabric *fabric);

#endif
