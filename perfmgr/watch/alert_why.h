/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Why an error counter grew, from the details that explain it (ib/detail.h).
 *
 * Model: the cause is the detail that grew most in the interval in which the counter
 * grew.  Among details read for the first time, it is the one with the greatest total.
 *
 * Thread-safety: functions without state; see triad_details_read().
 * Spec: IBA volume 1, 16.1.4 PortRcvErrorDetails, PortXmitDiscardDetails. */
#ifndef TRIAD_PERFMGR_ALERT_WHY_H
#define TRIAD_PERFMGR_ALERT_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/view.h"

struct triad_alert_why {
	uint8_t field;    /* its index in triad_detail_fields, plus 1; 0: not known */
	bool is_only_one; /* none of the others grew */
	uint8_t element;  /* VL, SL or lane of a detail over its threshold */
};

/* Why 'counter' of 'port' grew in the last 'interval_us'. */
struct triad_alert_why triad_alert_find_why(const struct triad_view *view,
	uint32_t port, unsigned counter, double interval_us, uint64_t now_us);

/* The detail's name; NULL when it is not known. */
const char *triad_alert_why_name(struct triad_alert_why why);

/* Advice; NULL when there is none. */
const char *triad_alert_why_advice(struct triad_alert_why why);

#endif
