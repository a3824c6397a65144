/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The findings of one alert: how each begins, lasts and ends.
 *
 * Internal to perfmgr/watch; alerts.h says who may call when. */
#ifndef TRIAD_PERFMGR_ALERT_FINDINGS_H
#define TRIAD_PERFMGR_ALERT_FINDINGS_H

#include "perfmgr/watch/alerts.h"
#include "perfmgr/watch/bers.h"

/* The finding of a cause at an end, or NULL; valid until a finding is removed. */
struct triad_alert_finding *triad_alert_find_finding(
	struct triad_alert *alert, unsigned cause, unsigned end);

/* The index of an end (0 or 1); 2 for a port that is no end of the alert. */
unsigned triad_alert_index_of_end(
	const struct triad_alert *alert, uint64_t guid, uint8_t port);

/* The cause reached its threshold; 'now' has value and threshold.  In a full alert the
 * finding replaces the least important one, unless that is as important. */
void triad_alert_note_over(struct triad_alert *alert, unsigned cause, unsigned end,
	const struct triad_alert_finding *now, uint64_t now_us);

/* The finding fell below its clearing level.  A pending one is removed. */
void triad_alert_note_under(struct triad_alert *alert,
	struct triad_alert_finding *finding, uint64_t now_us);

/* The finding that a link's bit error rate is worse than its target, from
 * triad_bers_read(). */
struct triad_alert_finding triad_alert_finding_of_ber(
	enum triad_ber_kind kind, const struct triad_bers_rate *rate);

/* Makes the finding for a fault of a module or device. */
struct triad_alert_finding triad_alert_finding_of_hardware(
	const struct triad_hardware_finding *found);

/* How many causes are over their thresholds without a finding of their own. */
unsigned triad_alert_n_more(const struct triad_alert *alert);
/* A cause without a finding of its own fell under its threshold. */
void triad_alert_note_no_more(struct triad_alert *alert, unsigned cause, unsigned end);

/* Raises the findings that lasted long enough.  Returns how many. */
unsigned triad_alert_raise_findings(const struct triad_alerts_params *params,
	struct triad_alert *alert, uint64_t now_us);

/* Drops findings that are over, if a raised one stays: a cleared alert still shows what
 * it was.  Returns false when nothing is left: the alert ends. */
bool triad_alert_drop_over(const struct triad_alerts_params *params,
	struct triad_alert *alert, uint64_t now_us);

/* Sorts the findings by importance; the first one's end becomes the first end. */
void triad_alert_put_in_order(struct triad_alert *alert);

#endif
