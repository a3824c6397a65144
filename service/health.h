/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The health of a service: a verdict, what is wrong, and a line for each part.
 *
 * Model: each part adds one line, and a finding for each problem that somebody should
 * solve.  The verdict is the severity of the worst finding.  What an alert reports and is
 * over, but for alerts.clear_after, is a warning at most, and comes last.  The struct keeps the worst
 * findings, at most TRIAD_HEALTH_MAX_FINDINGS, and counts the others.  A silenced alert
 * is no finding; the line of the alerts counts it.  'health', 'status', Prometheus and
 * monitoring plugins show the same.
 *
 * Thread-safety: none; the caller owns the struct.  Memory: no allocation. */
#ifndef TRIAD_SERVICE_HEALTH_H
#define TRIAD_SERVICE_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/watch/alert_text.h"
#include "triad/severity.h"

#define TRIAD_HEALTH_MAX_FINDINGS 10u
#define TRIAD_HEALTH_MAX_LINES 16u
#define TRIAD_HEALTH_PLACE_SIZE 96

enum triad_health_output {
	TRIAD_HEALTH_PROMETHEUS,
	TRIAD_HEALTH_WEB,
	TRIAD_HEALTH_PROFILE,
	TRIAD_HEALTH_ALERTS_FILE,
	TRIAD_HEALTH_WEBHOOK,
	TRIAD_HEALTH_SFLOW,
	TRIAD_HEALTH_HISTORY,
	TRIAD_HEALTH_IMAGES,
	TRIAD_HEALTH_N_OUTPUTS
};

struct triad_service;

struct triad_health_finding {
	enum triad_severity severity;
	/* Orders findings of one severity: how many nodes and links are concerned. */
	uint32_t weight;
	bool is_over;  /* it was wrong a moment ago: it comes after all that still is */
	bool is_alone; /* no other command lists it: it is kept before those */
	uint64_t since_us; /* monotonic; 0: not known */
	uint64_t alert;    /* the alert's number; 0: the finding is no alert */
	char at[TRIAD_HEALTH_PLACE_SIZE], far_end[TRIAD_HEALTH_PLACE_SIZE]; /* or "" */
	char what[256];
	char advice[256]; /* or "" */
};

struct triad_health_line {
	const char *name, *title; /* for programs, for people; constants */
	enum triad_severity severity;
	bool is_off; /* the part is not in use */
	char text[192];
};

struct triad_health {
	enum triad_severity verdict;
	uint32_t n_of[TRIAD_N_SEVERITIES]; /* findings of each */
	uint32_t n_findings; /* kept, the worst first; one place is spare */
	struct triad_health_finding findings[TRIAD_HEALTH_MAX_FINDINGS + 1];
	uint32_t n_lines;
	struct triad_health_line lines[TRIAD_HEALTH_MAX_LINES];
	/* For performance data of monitoring plugins. */
	uint32_t n_ports, n_unanswered, n_links_down, n_alerts, n_silenced;
	uint64_t
		knows_since_us; /* losses before that are not known; monotonic; 0: they are */
	uint64_t sweep_us; /* how long the last sweep took */
	/* For Prometheus: active alerts, and outputs that fail. */
	uint32_t n_alerts_of[TRIAD_ALERT_N_KINDS][TRIAD_N_SEVERITIES];
	bool is_failing[TRIAD_HEALTH_N_OUTPUTS];
};

/* Whether triad_health_add() would keep 'finding': fewer than TRIAD_HEALTH_MAX_FINDINGS
 * are as bad or worse.  If not, its texts need not be made.  Compares whether it is over,
 * severity, weight and time. */
bool triad_health_would_keep(
	const struct triad_health *health, const struct triad_health_finding *finding);

/* Adds a finding; it is copied. */
void triad_health_add(
	struct triad_health *health, const struct triad_health_finding *finding);

/* The same for trouble of a part of Triad; 'at' is the part's name. */
void triad_health_add_trouble(struct triad_health *health, enum triad_severity severity,
	const char *at, const char *what, const char *advice);

/* Adds a line; 'format' makes its text. */
void triad_health_line(struct triad_health *health, const char *name, const char *title,
	enum triad_severity severity, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* The same for a part that is off, or not needed here. */
void triad_health_line_off(struct triad_health *health, const char *name,
	const char *title, const char *why);

/* Whether alerts of this process report routes and congestion.  Then 'health' adds no
 * findings of its own about these: a user may have silenced the alert. */
bool triad_health_alerts_report(struct triad_service *service);

/* "prometheus", "web", "profile", "alerts_file", "webhook", "sflow", "history",
 * "images". */
const char *triad_health_output_name(enum triad_health_output output);

/* Looks at all parts of a service and of its owner.  'health' is filled in.  Any
 * thread. */
void triad_service_health(struct triad_service *service, struct triad_health *health);

#endif
