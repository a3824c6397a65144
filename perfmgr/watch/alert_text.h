/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes alerts as text and as JSON, the same for all outputs.
 *
 * Times in alerts are monotonic; 'wall_offset_us', the wall clock minus the monotonic
 * one at the time of writing, makes them wall times.  All times in one text use one
 * offset, so setting the clock does not change the distances between them.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_PERFMGR_ALERT_TEXT_H
#define TRIAD_PERFMGR_ALERT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "perfmgr/watch/alert_kind.h"
#include "triad/json.h"

#define TRIAD_ALERT_TEXT_SIZE 1024

/* "leaf-01 (0x0002c9...) port 3", or only the node. */
void triad_alert_end_format(const struct triad_alert_end *end, char *text, size_t size);

/* The location: the link with its two ends; or a node that is gone, and where it
 * was. */
void triad_alert_location_format(
	const struct triad_alert *alert, char *text, size_t size);

#define TRIAD_ALERT_PLACE_SIZE 96

/* Sets how many digits the labels of its nodes have in 'fabric' (NULL: none). */
void triad_alert_label(struct triad_alert *alert, const struct triad_fabric *fabric);

/* The place of an end in short: "leaf-01:3", or only the node. */
void triad_alert_place_format(
	const struct triad_alert *alert, unsigned end, char *text, size_t size);

/* One finding: "LinkDownedCounter 2/sweep (threshold 1/sweep)". */
void triad_alert_finding_format(const struct triad_alert *alert,
	const struct triad_alert_finding *finding, char *text, size_t size);

/* All findings: "SymbolErrorCounter 60/sweep (threshold 10/sweep); at the far end:
 * ...". */
void triad_alert_findings_format(
	const struct triad_alert *alert, char *text, size_t size);

/* Causes over their thresholds without a finding of their own; "" for none. */
void triad_alert_more_format(const struct triad_alert *alert, char *text, size_t size);

/* What the SM reported about the alert; "" for nothing. */
void triad_alert_sm_format(const struct triad_alert *alert, int64_t wall_offset_us,
	char *text, size_t size);

/* One line: object, what, why, since when. */
void triad_alert_format(enum triad_alert_change change, const struct triad_alert *alert,
	int64_t wall_offset_us, char *text, size_t size);

/* One object; 'name' as triad_json_object_begin() has it.  'event' ("raised", ...) may
 * be NULL. */
void triad_alert_json(struct triad_json *json, const char *name, const char *event,
	const struct triad_alert *alert, int64_t wall_offset_us);

/* "raised", "joined", "cleared", "silenced", "unsilenced" */
const char *triad_alert_change_name(enum triad_alert_change change);

#endif
