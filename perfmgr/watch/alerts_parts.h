/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The state that the files of alerts.h share; nothing else includes this.
 *
 *     alerts.c          sweeps, and what is reported to the sink
 *     alerts_places.c   the ends of links and nodes, and the alert of each
 *     alerts_adopt.c    a new fabric
 *     alerts_take.c     findings of other processes and of finders
 *     alerts_restore.c  what was known before
 *     alerts_explain.c  waiting that roots of congestion explain */
#ifndef TRIAD_PERFMGR_ALERTS_PARTS_H
#define TRIAD_PERFMGR_ALERTS_PARTS_H

#include "perfmgr/watch/alert_findings.h"
#include "perfmgr/watch/alert_store.h"
#include "perfmgr/watch/limits.h"
#include "perfmgr/watch/silences.h"
#include "perfmgr/watch/sm_notes.h"

struct triad_alerts_node {
	uint16_t silent;                  /* sweeps in a row with an unanswered port */
	uint16_t n_missed;                /* unanswered ports in this sweep */
	bool asked;                       /* in this sweep */
	struct triad_pma_trouble trouble; /* the last that its agent had */
};

struct triad_alerts {
	struct triad_alerts_sink sink;
	struct triad_alerts_params params;
	struct triad_alerts_intent intent;
	struct triad_limits_table limits;
	struct triad_alert_store *store;
	struct triad_view *view;
	bool *flagged;       /* for each port of the view: it has an alert */
	bool *explained;     /* for each port: a root explains its waiting */
	float *words_per_us; /* for each port: what its link can carry */
	struct triad_alerts_node *nodes; /* for each node of the view */
	struct triad_sm_notes sm_notes;
	struct triad_silences *silences;
	struct triad_alert cleared[TRIAD_ALERTS_MAX_CLEARED];
	uint64_t last_id;
	bool reported; /* the sink was called, in the present call */
	bool is_part;  /* the present sweep is not of all ports */
	bool is_idle;  /* see triad_alerts_set_idle() */
	uint64_t explained_until_us;
	uint64_t swept_us[3]; /* ends of the last three sweeps, the newest first */
	uint32_t n_held;      /* explained so far, in settle() */
	struct triad_alerts_counts counts;
};

struct triad_alert_end triad_alerts_end_of(
	const struct triad_fabric *fabric, uint32_t port);
struct triad_alert_end triad_alerts_end_of_node(
	const struct triad_fabric *fabric, uint32_t index);

/* The index of an end's port in the fabric (of a node: its first port), or
 * TRIAD_FABRIC_NONE. */
uint32_t triad_alerts_find_port(
	const struct triad_fabric *fabric, const struct triad_alert_end *end);

/* Notes that the port has an alert; 'context' is the alerts. */
void triad_alerts_flag(void *context, uint64_t guid, uint8_t port);

void triad_alerts_place(struct triad_alerts *alerts, struct triad_alert_entry *entry,
	const struct triad_alert_end *end);
struct triad_alert_entry *triad_alerts_find_at(
	const struct triad_alerts *alerts, const struct triad_alert_end *end);

/* Adds an alert about the ends; NULL when there are too many. */
struct triad_alert_entry *triad_alerts_add(
	struct triad_alerts *alerts, const struct triad_alert_end *ends, unsigned n);

/* The alert of the link at 'port'; made when there is none. */
struct triad_alert_entry *triad_alerts_need(struct triad_alerts *alerts, uint32_t port);

/* True when sweeps ask the end's port; of a node, any of its ports. */
bool triad_alerts_is_end_asked(
	const struct triad_view *view, const struct triad_alert_end *end);

const struct triad_limits *triad_alerts_limits_of(
	const struct triad_alerts *alerts, uint32_t port);

/* Sets the silence of an active alert.  Returns whether it became silenced, or no longer
 * is. */
bool triad_alerts_look_for_silence(
	struct triad_alerts *alerts, struct triad_alert *alert);
void triad_alerts_report(struct triad_alerts *alerts, enum triad_alert_change change,
	const struct triad_alert *alert);
/* Calls the sink's done(), if triad_alerts_report() was called. */
void triad_alerts_report_done(struct triad_alerts *alerts);

/* Decides which findings of the alert are held back, and counts those that are
 * explained. */
void triad_alerts_hold(struct triad_alerts *alerts, struct triad_alert *alert);

/* Ends the findings of all alerts that the present fabric or configuration makes
 * obsolete. */
void triad_alerts_look_at_entries(struct triad_alerts *alerts, uint64_t now_us);

#endif
