/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Logs what a policy names but the fabric lacks, and nodes that are in no group
 * [qos-rfc 9 3.1]: once, and again when that changes.
 *
 * An absent port is not a mistake: it joins its groups when it appears. */
#ifndef TRIAD_PLUGIN_QOS_UNMATCHED_H
#define TRIAD_PLUGIN_QOS_UNMATCHED_H

#include "qos/policy/policy.h"
#include "triad/fabric.h"
#include "triad/log.h"

/* '*last' is a hash of what was logged last; 0 at first. */
void triad_qos_report_unmatched(struct triad_log *log,
	const struct triad_policy *policy, const struct triad_fabric *fabric,
	uint64_t *last);

#endif
