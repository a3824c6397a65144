/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Says in the log what a policy names and the fabric lacks, and nodes that are in no
 * group [qos-rfc 9 3.1]: once, and again when that changes.
 *
 * What is absent is no mistake: a port joins its groups when it comes. */
#ifndef TRIAD_PLUGIN_QOS_UNMATCHED_H
#define TRIAD_PLUGIN_QOS_UNMATCHED_H

#include "qos/policy/policy.h"
#include "triad/fabric.h"
#include "triad/log.h"

/* 'last' is what was said last; 0 to begin with. */
void triad_qos_report_unmatched(struct triad_log *log,
	const struct triad_policy *policy, const struct triad_fabric *fabric,
	uint64_t *last);

#endif
