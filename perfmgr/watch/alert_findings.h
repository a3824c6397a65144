/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The findings of one alert: they begin, last and end.
 *
 * Internal to perfmgr/watch; alerts.h says who may call when. */
#ifndef TRIAD_PERFMGR_ALERT_FINDINGS_H
#define TRIAD_PERFMGR_ALERT_FINDINGS_H

#include "perfmgr/watch/alerts.h"
#include "perfmgr/watch/bers.h"

/* NULL when there is none; valid until one is taken away. */
struct triad_alert_finding *triad_alert_find_finding(
	struct triad_alert *alert, unsigned cause, unsigned end);

/* The index of an end; 2 for a port that is not one of the two that are named. */
unsigned triad_alert_index_of_end(
	const struct triad_alert *alert, uint64_t guid, uint8_t port);

/* The cause is at or over its threshold; 'now' has value and threshold.  If the alert is
 * full, the finding replaces the least significant one, if that is less significant. */
void triad_alert_note_over(struct triad_alert *alert, unsigned cause, unsigned end,
	const struct triad_alert_finding *now, uint64_t now_us);

/* The finding is below its clearing level.  If it is pending, it is removed. */
void triad_alert_note_under(struct triad_alert *alert,
	struct triad_alert_finding *finding, uint64_t now_us);

/* Makes the finding for a link that is worse than its target, from triad_bers_read(). */
struct triad_alert_finding triad_alert_finding_of_ber(
	enum triad_ber_kind kind, const struct triad_bers_rate *rate);

/* Makes the finding for a fault of a module or device. */
struct triad_alert_finding triad_alert_finding_of_hardware(
	const struct triad_hardware_finding *found);

/* The number of causes over their thresholds without a finding of their own. */
unsigned triad_alert_n_more(const struct triad_alert *alert);
/* A cause without a finding of its own is under its threshold again. */
void triad_alert_note_no_more(struct triad_alert *alert, unsigned cause, unsigned end);

/* Raises the findings that lasted long enough.  Returns how many. */
unsigned triad_alert_raise_findings(const struct triad_alerts_params *params,
	struct triad_alert *alert, uint64_t now_us);

/* Drops findings that are over, but keeps one that was raised: a cleared alert still shows
 * its cause.  Returns false when no finding is left. */
bool triad_alert_drop_over(const struct triad_alerts_params *params,
	struct triad_alert *alert, uint64_t now_us);

/* Sorts findings by significance, and puts the end of the first one first. */
void triad_alert_put_in_order(struct triad_alert *alert);

#endif
