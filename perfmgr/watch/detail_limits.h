/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares details (perfmgr/details.h) with their thresholds.
 *
 * Model: a threshold is a rate of one field (ib/detail.h).  If the field has a counter
 * for each VL, SL or lane, each counter is compared.  Details are read seldom, and a
 * rate covers all the time between two readings.  So one look decides: the rate has
 * lasted, or has ended.
 *
 * A port has one finding about details: the counter that is furthest over its
 * threshold.
 *
 * Thread-safety: functions without state; see triad_details_read(). */
#ifndef TRIAD_PERFMGR_DETAIL_LIMITS_H
#define TRIAD_PERFMGR_DETAIL_LIMITS_H

#include "perfmgr/view.h"
#include "perfmgr/watch/alerts.h"

enum triad_detail_verdict {
	TRIAD_DETAIL_NOTHING_NEW,
	TRIAD_DETAIL_IS_OVER,  /* '*found' is the finding */
	TRIAD_DETAIL_IS_UNDER, /* the finding before is over */
};

/* Looks at details of 'port' read since 'since_us'.  'known': the finding there
 * before. */
enum triad_detail_verdict triad_detail_limits_look(
	const struct triad_detail_thresholds *thresholds, const struct triad_view *view,
	uint32_t port, struct triad_alert_why known, uint64_t since_us,
	struct triad_alert_finding *found);

#endif
