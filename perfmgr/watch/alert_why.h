/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds why an error counter grew, from the details that explain it (ib/detail.h).
 *
 * Model: the cause is the detail that grew most in the interval in which the counter grew;
 * among details that were read for the first time, the greatest.
 *
 * Thread-safety: functions without state; see triad_details_read().
 * Spec: IBA volume 1, 16.1.4 PortRcvErrorDetails, PortXmitDiscardDetails. */
#ifndef TRIAD_PERFMGR_ALERT_WHY_H
#define TRIAD_PERFMGR_ALERT_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/view.h"

struct triad_alert_why {
	uint8_t field;    /* its index in triad_detail_fields plus 1; 0: not known */
	bool is_only_one; /* no other detail grew */
	uint8_t element;  /* for a detail over its own threshold: the VL, SL or lane */
};

/* Explains 'counter' of 'port', which grew in the last 'interval_us'. */
struct triad_alert_why triad_alert_find_why(const struct triad_view *view,
	uint32_t port, unsigned counter, double interval_us, uint64_t now_us);

/* NULL when it is not known. */
const char *triad_alert_why_name(struct triad_alert_why why);

/* Advice to the administrator; NULL when the cause is not known. */
const char *triad_alert_why_advice(struct triad_alert_why why);

#endif
